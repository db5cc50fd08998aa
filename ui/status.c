/*
 * status.c - composes the last line of the screen.
 */
#include "config.h"

#include "ui/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "ui/bar.h"
#include "ui/internal.h"
#include "ui/view.h"

#define BAR_COLS 20
#define MESSAGE_ROWS 3

__attribute__((format(printf, 3, 0))) static void say(struct ui *ui, bool is_error, const char *fmt,
	va_list ap)
{
	vsnprintf(ui->status.text, sizeof(ui->status.text), fmt, ap);
	path_forget_cwd(ui->status.text);
	ui->status.is_error = is_error;
	ui->dirty = true;
}

void ui_say(struct ui *ui, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(ui, false, fmt, ap);
	va_end(ap);
}

void ui_error(struct ui *ui, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(ui, true, fmt, ap);
	va_end(ap);
}

void status_clear(struct ui *ui)
{
	ui->status.text[0] = '\0';
	ui->status.is_error = false;
}

bool status_wants_line(const struct ui *ui)
{
	return ui->prompt.is_open || ui->status.text[0];
}

/* ---- a message, wrapped where the line is too short for it ---- */

static struct str message_part(const struct ui *ui, int part)
{
	const char *p = ui->status.text;
	int cols = ui->screen.cols - 2;

	for (; part > 0 && *p; part--) {
		p += row_words(p, strlen(p), cols);
		p += strspn(p, " \n");
	}
	return (struct str){ p, strlen(p) };
}

int status_rows(const struct ui *ui)
{
	int n = 1;

	if (ui->prompt.is_open || ui->screen.rows < 2 + MESSAGE_ROWS)
		return 1;
	while (n < MESSAGE_ROWS && message_part(ui, n).n > 0)
		n++;
	return n;
}

/* The running search or the view's own job. */
static const char *job(const struct view *v, uint64_t *done, uint64_t *all)
{
	*done = *all = 0;
	if (v->search.is_running) {
		*all = view_count(v);
		*done = *all - v->search.left;
		return "searching";
	}
	if (!v->busy || v->stopped || !v->ops->progress)
		return NULL;
	return v->ops->progress(v, done, all);
}

static void add_progress(struct bar *b, const char *what, uint64_t done, uint64_t all)
{
	struct rowbuf *field;
	int full;

	if (all == 0) {
		bar_say(bar_left(b, 3), ROLE_STATUS, "%s", what);
		return;
	}
	if (done > all)
		done = all;
	full = (int)((double)done / (double)all * BAR_COLS);
	bar_say(bar_left(b, 3), ROLE_STATUS, "%s %d %%", what,
		(int)((double)done / (double)all * 100));
	field = bar_left(b, 9);
	for (int i = 0; i < BAR_COLS && row_left(field) > 0; i++)
		row_glyph(field, ROLE_PROGRESS, i < full ? GLYPH_FULL : GLYPH_EMPTY);
}

/* The keys that matter here, in the order of the tables; the way to all others goes last. */
static void add_hints(struct view *v, const struct command_table *t, size_t map, int rank,
	struct bar *b)
{
	struct buf keys = { 0 };

	for (size_t i = 0; i < t->n; i++) {
		const struct command *c = &t->v[i];
		struct rowbuf *field;

		if (!c->hint || (c->when && v->ops->state && (c->when & ~v->ops->state(v))))
			continue;
		buf_clear(&keys);
		keymap_keys(v->ui->keys, map, c, 1, &keys);
		if (keys.n == 0)
			continue;
		field = bar_left(b, strcmp(c->name, "help") == 0 ? 3 : rank + (int)i);
		if (keys.n > 2 && keys.p[0] == '<') /* <Enter> reads better as Enter */
			row_text(field, ROLE_KEY, keys.p + 1, keys.n - 2);
		else
			row_text(field, ROLE_KEY, keys.p, keys.n);
		row_spaces(field, ROLE_STATUS, 1);
		row_str(field, ROLE_STATUS, c->hint);
	}
	buf_release(&keys);
}

static void add_left(struct view *v, struct bar *b, int part)
{
	const struct status *s = &v->ui->status;
	struct str message = message_part(v->ui, part);
	size_t map = command_map_of(v->ops);
	uint64_t done, all;
	const char *what = job(v, &done, &all);

	if (what)
		add_progress(b, what, done, all);
	if (s->text[0]) { /* whole, if everything else has to go */
		row_text(bar_left(b, 0), s->is_error ? ROLE_ERROR : ROLE_STATUS, message.p,
			message.n);
		bar_elastic(b, b->width);
		return;
	}
	if (v->ops->warning && v->ops->warning(v) && *v->ops->warning(v)) {
		bar_say(bar_left(b, 0), ROLE_ERROR, "%s", v->ops->warning(v));
		bar_elastic(b, b->width);
		return;
	}
	add_hints(v, v->ops->commands, map, 10, b);
	add_hints(v, &generic_commands, map, 10 + (int)v->ops->commands->n, b);
}

/* Keys typed so far of a sequence, and where the cursor is. */
static void add_right(struct view *v, struct bar *b)
{
	struct key_seq seq;
	struct buf keys = { 0 };
	size_t lines = v->pager.page.nlines;

	if (v->ui->npending > 0) {
		seq.n = v->ui->npending;
		memcpy(seq.key, v->ui->pending, sizeof(seq.key));
		key_seq_name(&seq, &keys);
		bar_say(bar_right(b, 1), ROLE_KEY, "%s...", keys.n ? keys.p : "");
		buf_release(&keys);
	}
	search_position(v, b);
	if (v->pane_focus)
		bar_say(bar_right(b, 2), ROLE_STATUS, "line %zu/%zu%s", v->pager.top + 1,
			v->pager.is_built && lines > 0 ? lines : 1,
			v->pager.is_built && v->pager.page.more ? "+" : "");
	else if (v->ops->position)
		v->ops->position(v, b);
	else if (view_count(v) > 0)
		bar_say(bar_right(b, 2), ROLE_STATUS, "%zu/%zu", v->cursor + 1, view_count(v));
}

void status_draw(struct view *v, struct rowbuf *rb, int y, int part)
{
	struct str message;
	struct bar b;

	if (v->ui->prompt.is_open) {
		prompt_draw(v->ui, rb, y);
		row_pad(rb, ROLE_STATUS);
		return;
	}
	bar_begin(&b, rb);
	if (part + 1 < status_rows(v->ui)) {
		message = message_part(v->ui, part);
		row_text(bar_left(&b, 0), v->ui->status.is_error ? ROLE_ERROR : ROLE_STATUS,
			message.p, row_words(message.p, message.n, v->ui->screen.cols - 2));
		bar_elastic(&b, b.width);
		bar_draw(&b, ROLE_STATUS, rb);
		return;
	}
	add_left(v, &b, part);
	add_right(v, &b);
	bar_draw(&b, ROLE_STATUS, rb);
}
