/*
 * view-help.c - the keys of the screen that help was asked from, made from
 * the tables that bind them and the key map as it is now, and the signs that
 * its rows carry.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "ui/internal.h"
#include "ui/view.h"

#define NAME_COLS 18
#define TEXT_COLS 24 /* at least, beside the keys and names */

struct help_line {
	const struct command *command; /* NULL: a heading, a sign, or an empty line */
	const struct view_mark *mark;
	const char *heading;
	size_t off, n, nhelp; /* its words in `text`; behind nhelp: what its ":command" takes */
};

/* A row of the screen: a part of a line's words. */
struct help_row {
	size_t line, off, n;
	bool is_first;
};

struct help {
	size_t map;              /* of the screen that is explained */
	struct help_line *lines;
	size_t n, cap;
	struct help_row *rows;
	size_t nrows, rows_cap;
	struct buf text;
	int keys_width;
	int cols;                /* of the screen that the rows were made for */
};

static void add(struct help *h, struct help_line line)
{
	h->lines = xgrow(h->lines, &h->cap, h->n + 1, sizeof(*h->lines));
	h->lines[h->n++] = line;
}

static struct help_line words_of(struct help *h, const struct command *c)
{
	struct help_line line = { .command = c, .off = h->text.n };

	buf_adds(&h->text, c->help);
	line.nhelp = h->text.n - line.off;
	if (c->arg)
		buf_printf(&h->text, "  :%s %s", c->name, c->arg);
	line.n = h->text.n - line.off;
	return line;
}

static void widen(struct help *h, const char *p, size_t n)
{
	int width = text_width(p, n);

	if (width > h->keys_width)
		h->keys_width = width;
}

static void add_marks(struct help *h, const struct view_mark *marks)
{
	if (!marks)
		return;
	if (h->n > 0)
		add(h, (struct help_line){ 0 });
	add(h, (struct help_line){ .heading = "Signs" });
	for (; marks->sign; marks++) {
		size_t n = strlen(marks->says);

		add(h, (struct help_line){ .mark = marks, .off = h->text.n, .n = n, .nhelp = n });
		buf_adds(&h->text, marks->says);
		widen(h, marks->sign, strlen(marks->sign));
	}
}

/* `lacks`: what needs that is left out. */
static void add_table(struct view *v, struct help *h, size_t map, unsigned lacks)
{
	const struct command_table *t = command_map(map);
	const char *group = "";
	struct buf keys = { 0 };

	for (size_t i = 0; i < t->n; i++) {
		const struct command *c = &t->v[i];

		if (map == 0 && h->map != 0 && command_find(h->map, c->name, strlen(c->name)) != c)
			continue; /* the screen has its own */
		if (c->when & lacks)
			continue;
		if (strcmp(group, c->group) != 0) {
			if (h->n > 0)
				add(h, (struct help_line){ 0 });
			add(h, (struct help_line){ .heading = c->group });
		}
		group = c->group;
		add(h, words_of(h, c));
		buf_clear(&keys);
		keymap_keys(v->ui->keys, h->map, c, 0, &keys);
		widen(h, keys.n ? keys.p : "", keys.n);
	}
	buf_release(&keys);
}

static int help_open(struct view *v, const void *arg, struct err *err)
{
	const struct view *from = arg;
	struct help *h = v->priv;

	h->map = command_map_of(from->ops);
	if (h->map > 0)
		add_table(v, h, h->map, from->ops->lacks ? from->ops->lacks(from) : 0);
	add_marks(h, from->ops->marks);
	add_table(v, h, 0, 0);
	return 0;
}

static void help_close(struct view *v)
{
	struct help *h = v->priv;

	free(h->lines);
	free(h->rows);
	buf_release(&h->text);
}

/* ---- rows ---- */

enum { KEYS_ABOVE, KEYS_LEFT, KEYS_AND_NAMES };

/* How a row of this width is divided; *cols gets the columns of the words. A sign has no name. */
static int shape(const struct help *h, const struct help_line *l, int width, int *cols)
{
	int left = h->keys_width + 3;

	if (!l->mark && width >= left + NAME_COLS + TEXT_COLS) {
		*cols = width - left - NAME_COLS;
		return KEYS_AND_NAMES;
	}
	if (width >= left + TEXT_COLS - 6) {
		*cols = width - left;
		return KEYS_LEFT;
	}
	*cols = width - 3;
	return KEYS_ABOVE;
}

static void add_row(struct help *h, struct help_row row)
{
	h->rows = xgrow(h->rows, &h->rows_cap, h->nrows + 1, sizeof(*h->rows));
	h->rows[h->nrows++] = row;
}

static void help_layout(struct view *v)
{
	struct help *h = v->priv;
	int cols, how;

	h->cols = v->ui->screen.cols;
	h->nrows = 0;
	for (size_t i = 0; i < h->n; i++) {
		const struct help_line *l = &h->lines[i];
		size_t at = l->off, end = l->off + l->n;
		bool is_first = true;

		how = shape(h, l, h->cols - 1, &cols);
		if ((!l->command && !l->mark) || how == KEYS_ABOVE) {
			add_row(h, (struct help_row){ .line = i, .is_first = true });
			is_first = false;
		}
		while (at < end) {
			/* two spaces stand before what a ":command" takes, text_fit counts one */
			int room = cols - (at < l->off + l->nhelp && l->nhelp < l->n);
			size_t n = row_words(h->text.p + at, end - at, room);

			add_row(h, (struct help_row){ i, at, n, is_first });
			is_first = false;
			for (at += n; at < end && h->text.p[at] == ' '; at++)
				;
		}
	}
}

static bool help_stale(const struct view *v)
{
	return ((const struct help *)v->priv)->cols != v->ui->screen.cols;
}

static size_t help_count(const struct view *v)
{
	return ((const struct help *)v->priv)->nrows;
}

static void draw_sign(const struct view_mark *m, int cols, struct rowbuf *out)
{
	if (m->is_glyph)
		row_glyph(out, ROLE_KEY, m->glyph);
	if (cols > 0)
		row_field(out, ROLE_KEY, m->sign, strlen(m->sign), cols - m->is_glyph);
	else
		row_str(out, ROLE_KEY, m->sign);
}

static void draw_keys(struct view *v, const struct help_line *l, int cols, struct rowbuf *out)
{
	const struct help *h = v->priv;
	const struct command *c = l->command;
	struct buf keys = { 0 };

	if (l->mark) {
		draw_sign(l->mark, cols, out);
		return;
	}
	keymap_keys(v->ui->keys, h->map, c, 0, &keys);
	if (cols > 0)
		row_field(out, ROLE_KEY, keys.n ? keys.p : "", keys.n, cols);
	else if (keys.n > 0)
		row_text(out, ROLE_KEY, keys.p, keys.n);
	else /* a row without keys says how it is run */
		row_printf(out, ROLE_ID, ":%s", c->name);
	buf_release(&keys);
}

static void help_row(struct view *v, size_t line, struct rowbuf *out)
{
	const struct help *h = v->priv;
	const struct help_row *r = &h->rows[line];
	const struct help_line *l = &h->lines[r->line];
	size_t help_end = l->off + l->nhelp, end = r->off + r->n, from;
	int cols, how = shape(h, l, h->cols - 1, &cols);

	if (!l->command && !l->mark) {
		row_str(out, ROLE_HEADING, l->heading);
		return;
	}
	row_spaces(out, ROLE_NORMAL, 1);
	if (how == KEYS_ABOVE && r->is_first) {
		draw_keys(v, l, 0, out);
		return;
	}
	if (how == KEYS_ABOVE)
		row_spaces(out, ROLE_NORMAL, 2);
	else if (r->is_first)
		draw_keys(v, l, h->keys_width + 2, out);
	else
		row_spaces(out, ROLE_NORMAL, h->keys_width + 2);
	if (how == KEYS_AND_NAMES)
		row_field(out, ROLE_ID, l->command->name,
			r->is_first ? strlen(l->command->name) : 0, NAME_COLS);
	from = r->off < help_end ? help_end < end ? help_end : end : r->off;
	row_printf(out, ROLE_NORMAL, "%.*s", (int)(from - r->off), h->text.p + r->off);
	row_printf(out, ROLE_DIM, "%.*s", (int)(end - from), h->text.p + from);
}

/* The whole of a command on its first row: a phrase may stand on two. */
static void help_search_text(struct view *v, size_t line, struct buf *out)
{
	const struct help *h = v->priv;
	const struct help_row *r = &h->rows[line];
	const struct help_line *l = &h->lines[r->line];

	if (!r->is_first || (!l->command && !l->mark && !l->heading))
		return;
	if (l->heading) {
		buf_adds(out, l->heading);
		return;
	}
	if (l->command)
		keymap_keys(v->ui->keys, h->map, l->command, 0, out);
	buf_printf(out, " %s ", l->mark ? l->mark->sign : l->command->name);
	buf_add(out, h->text.p + l->off, l->n);
}

static void help_header(struct view *v, struct rowbuf *out)
{
	const struct help *h = v->priv;
	struct bar b;

	bar_begin(&b, out);
	bar_say(bar_left(&b, 0), ROLE_TITLE, "Help: the keys of this screen (%s)",
		h->map ? command_map_name(h->map) : "all screens");
	bar_elastic(&b, 8);
	bar_draw(&b, ROLE_TITLE, out);
}

/* The command and which of its rows: of another width the rows are others. */
static uint64_t help_id(const struct view *v, size_t line)
{
	const struct help *h = v->priv;
	size_t first = line;

	while (!h->rows[first].is_first)
		first--;
	return (uint64_t)h->rows[line].line << 32 | (line - first);
}

static size_t help_line_of(const struct view *v, uint64_t id)
{
	const struct help *h = v->priv;
	size_t part = id & 0xFFFFFFFFu, found = LINE_NONE;

	for (size_t i = 0; i < h->nrows; i++) {
		if (h->rows[i].line == id >> 32 && (h->rows[i].is_first || part > 0)) {
			part -= !h->rows[i].is_first;
			found = i;
		}
	}
	return found;
}

static enum effect run_close(struct view *v, const char *arg)
{
	return FX_CLOSE;
}

static const struct command table[] = {
	{ .name = "help", .keys = "?, <F1>, <Enter>", .group = "Help", .hint = "close",
	  .help = "Close the help", .run = run_close },
};

static const struct command_table help_commands = COMMAND_TABLE(table);

const struct view_ops view_help = {
	.name = "help",
	.private_size = sizeof(struct help),
	.commands = &help_commands,
	.open = help_open,
	.close = help_close,
	.layout = help_layout,
	.is_stale = help_stale,
	.count = help_count,
	.draw_row = help_row,
	.draw_header = help_header,
	.line_id = help_id,
	.line_of = help_line_of,
	.search_text = help_search_text,
};
