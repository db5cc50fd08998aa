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

struct help_line {
	const struct command *command; /* NULL: a heading, a sign, or an empty line */
	const struct view_mark *mark;
	const char *heading;
};

struct help {
	size_t map;              /* of the screen that is explained */
	struct help_line *lines;
	size_t n, cap;
	int keys_width;
};

static void add(struct help *h, struct help_line line)
{
	h->lines = xgrow(h->lines, &h->cap, h->n + 1, sizeof(*h->lines));
	h->lines[h->n++] = line;
}

static void widen(struct help *h, const char *p, size_t n)
{
	int width = text_width(p, n);

	if (width > h->keys_width)
		h->keys_width = width;
}

static void add_table(struct view *v, struct help *h, size_t map)
{
	const struct command_table *t = command_map(map);
	const char *group = "";
	struct buf keys = { 0 };

	for (size_t i = 0; i < t->n; i++) {
		const struct command *c = &t->v[i];

		if (map == 0 && h->map != 0 && command_find(h->map, c->name, strlen(c->name)) != c)
			continue; /* the screen has its own */
		if (strcmp(group, c->group) != 0) {
			if (h->n > 0)
				add(h, (struct help_line){ 0 });
			add(h, (struct help_line){ .heading = c->group });
		}
		group = c->group;
		add(h, (struct help_line){ .command = c });
		buf_clear(&keys);
		keymap_keys(v->ui->keys, h->map, c, 0, &keys);
		widen(h, keys.n ? keys.p : "", keys.n);
	}
	buf_release(&keys);
}

static void add_marks(struct help *h, const struct view_mark *marks)
{
	if (!marks)
		return;
	if (h->n > 0)
		add(h, (struct help_line){ 0 });
	add(h, (struct help_line){ .heading = "Signs" });
	for (; marks->sign; marks++) {
		add(h, (struct help_line){ .mark = marks });
		widen(h, marks->sign, strlen(marks->sign));
	}
}

static int help_open(struct view *v, const void *arg, struct err *err)
{
	const struct view *from = arg;
	struct help *h = v->priv;

	h->map = command_map_of(from->ops);
	if (h->map > 0)
		add_table(v, h, h->map);
	add_marks(h, from->ops->marks);
	add_table(v, h, 0);
	return 0;
}

static void help_close(struct view *v)
{
	free(((struct help *)v->priv)->lines);
}

static size_t help_count(const struct view *v)
{
	return ((const struct help *)v->priv)->n;
}

static void draw_mark(const struct help *h, const struct view_mark *m, struct rowbuf *out)
{
	bool is_narrow = row_left(out) < h->keys_width + 25;

	row_spaces(out, ROLE_NORMAL, 1);
	if (m->is_glyph)
		row_glyph(out, ROLE_KEY, m->glyph);
	if (is_narrow)
		row_str(out, ROLE_KEY, m->sign);
	else
		row_field(out, ROLE_KEY, m->sign, strlen(m->sign),
			h->keys_width + 2 - m->is_glyph);
	row_spaces(out, ROLE_NORMAL, is_narrow);
	row_str(out, ROLE_NORMAL, m->says);
}

static void help_row(struct view *v, size_t line, struct rowbuf *out)
{
	const struct help *h = v->priv;
	const struct command *c = h->lines[line].command;
	struct buf keys = { 0 };

	if (h->lines[line].mark) {
		draw_mark(h, h->lines[line].mark, out);
		return;
	}
	if (!c) {
		row_str(out, ROLE_HEADING, h->lines[line].heading);
		return;
	}
	keymap_keys(v->ui->keys, h->map, c, 0, &keys);
	row_spaces(out, ROLE_NORMAL, 1);
	if (row_left(out) < h->keys_width + 24) { /* narrow: no columns */
		row_text(out, ROLE_KEY, keys.n ? keys.p : "", keys.n);
		row_spaces(out, ROLE_NORMAL, 1);
	} else {
		row_field(out, ROLE_KEY, keys.n ? keys.p : "", keys.n, h->keys_width + 2);
		row_field(out, ROLE_ID, c->name, strlen(c->name), 18);
	}
	row_str(out, ROLE_NORMAL, c->help);
	if (c->arg) {
		row_lit(out, ROLE_DIM, "  :");
		row_str(out, ROLE_DIM, c->name);
		row_spaces(out, ROLE_DIM, 1);
		row_str(out, ROLE_DIM, c->arg);
	}
	buf_release(&keys);
}

static void help_header(struct view *v, struct rowbuf *out)
{
	const struct help *h = v->priv;

	row_lit(out, ROLE_TITLE, " Help: the keys of this screen");
	row_printf(out, ROLE_TITLE, " (%s)", h->map ? command_map_name(h->map) : "all screens");
}

static uint64_t help_id(const struct view *v, size_t line)
{
	return line;
}

static size_t help_line_of(const struct view *v, uint64_t id)
{
	return (size_t)id;
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
	.count = help_count,
	.draw_row = help_row,
	.draw_header = help_header,
	.line_id = help_id,
	.line_of = help_line_of,
};
