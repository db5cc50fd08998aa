/*
 * status.c - composes the last line of the screen.
 */
#include "config.h"

#include "ui/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/internal.h"
#include "ui/view.h"

#define BAR_COLS 20

__attribute__((format(printf, 3, 0))) static void say(struct ui *ui, bool is_error, const char *fmt,
	va_list ap)
{
	vsnprintf(ui->status.text, sizeof(ui->status.text), fmt, ap);
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

static void draw_progress(struct rowbuf *rb, const char *what, uint64_t done, uint64_t all)
{
	row_spaces(rb, ROLE_STATUS, 1);
	row_str(rb, ROLE_STATUS, what);
	if (all > 0) {
		int full;
		if (done > all)
			done = all;
		full = (int)((double)done / (double)all * BAR_COLS);
		row_printf(rb, ROLE_STATUS, " %d %% ", (int)((double)done / (double)all * 100));
		for (int i = 0; i < BAR_COLS && row_left(rb) > 0; i++)
			row_glyph(rb, ROLE_PROGRESS, i < full ? GLYPH_FULL : GLYPH_EMPTY);
	}
	row_spaces(rb, ROLE_STATUS, 2);
}

static void draw_hints_of(struct view *v, const struct command_table *t, size_t map,
	struct rowbuf *rb)
{
	struct buf keys = { 0 };

	for (size_t i = 0; i < t->n && row_left(rb) > 0; i++) {
		const struct command *c = &t->v[i];
		if (!c->hint || (c->when && v->ops->state && (c->when & ~v->ops->state(v))))
			continue;
		buf_clear(&keys);
		keymap_keys(v->ui->keys, map, c, 1, &keys);
		if (keys.n == 0)
			continue;
		int need = text_width(keys.p, keys.n) + 1 + (int)strlen(c->hint);
		if (rb->n + need + 1 > rb->clip)
			break; /* no halves */
		const char *p = keys.p;
		size_t n = keys.n;
		if (n > 2 && p[0] == '<') { /* <Enter> reads better as Enter */
			p++;
			n -= 2;
		}
		row_spaces(rb, ROLE_STATUS, 1);
		row_text(rb, ROLE_KEY, p, n);
		row_spaces(rb, ROLE_STATUS, 1);
		row_str(rb, ROLE_STATUS, c->hint);
		row_spaces(rb, ROLE_STATUS, 1);
	}
	buf_release(&keys);
}

static void draw_left(struct view *v, struct rowbuf *rb)
{
	const struct status *s = &v->ui->status;
	size_t map = command_map_of(v->ops);
	uint64_t done, all;
	const char *what = job(v, &done, &all);

	if (what)
		draw_progress(rb, what, done, all);
	if (s->text[0]) {
		enum role role = s->is_error ? ROLE_ERROR : ROLE_STATUS;
		row_spaces(rb, role, 1);
		row_printf(rb, role, "%s", s->text);
		row_spaces(rb, role, 1);
		return;
	}
	if (v->ops->warning && v->ops->warning(v) && *v->ops->warning(v)) {
		row_spaces(rb, ROLE_ERROR, 1);
		row_str(rb, ROLE_ERROR, v->ops->warning(v));
		row_spaces(rb, ROLE_ERROR, 1);
		return;
	}
	draw_hints_of(v, v->ops->commands, map, rb);
	draw_hints_of(v, &generic_commands, map, rb);
}

/* Keys typed so far of a sequence, and where the cursor is. */
static void right_text(struct view *v, struct buf *out)
{
	struct key_seq seq;

	if (v->ui->npending > 0) {
		seq.n = v->ui->npending;
		memcpy(seq.key, v->ui->pending, sizeof(seq.key));
		key_seq_name(&seq, out);
		buf_adds(out, "...  ");
	}
	if (v->ops->position)
		v->ops->position(v, out);
	else if (view_count(v) > 0)
		buf_printf(out, "%zu/%zu", v->cursor + 1, view_count(v));
	buf_addc(out, ' ');
}

void status_draw(struct view *v, struct rowbuf *rb, int y)
{
	struct buf text = { 0 };
	struct rowbuf right = { 0 };
	int clip = rb->clip;

	if (v->ui->prompt.is_open) {
		prompt_draw(v->ui, rb, y);
		row_pad(rb, ROLE_STATUS);
		return;
	}
	right_text(v, &text);
	row_start(&right, clip / 2, rb->ascii);
	row_printf(&right, ROLE_STATUS, " %s", text.p);
	row_clip(rb, clip - right.n);
	draw_left(v, rb);
	row_pad(rb, ROLE_STATUS);
	row_clip(rb, clip);
	row_append(rb, &right);
	row_release(&right);
	buf_release(&text);
}
