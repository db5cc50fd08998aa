/*
 * view.c - the stack of views and what they share: where list and pane lie,
 * the cursor and its scrolling, keeping the cursor by identity, and painting
 * one frame. It knows nothing of what the lines mean.
 */
#include "config.h"

#include "ui/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "store/conversation.h"
#include "ui/draw.h"
#include "ui/internal.h"
#include "ui/status.h"

struct view *view_push(struct ui *ui, const struct view_ops *ops, const void *arg)
{
	struct view *v = xcalloc(1, sizeof(*v));
	struct err err = { 0 };

	v->ops = ops;
	v->ui = ui;
	v->below = ui->top;
	v->priv = xcalloc(1, ops->private_size ? ops->private_size : 1);
	if (ops->open && ops->open(v, arg, &err) < 0) {
		ui_error(ui, "%s", err.text);
		if (ops->close)
			ops->close(v);
		free(v->priv);
		free(v);
		return NULL;
	}
	ui->top = v;
	view_relayout(v);
	ui_watch_again(ui);
	return v;
}

const struct view_ops *view_for_session(const char *path)
{
	return store_is_conversation(path) ? &view_conversation : &view_session;
}

static void view_free(struct view *v)
{
	if (v->ops->close)
		v->ops->close(v);
	pager_release(&v->pager);
	search_release(&v->search);
	free(v->priv);
	free(v);
}

void view_drop_below(struct view *v)
{
	struct view *dropped = v->below;

	v->below = dropped->below;
	view_free(dropped);
}

void view_pop(struct ui *ui)
{
	struct view *v = ui->top;

	ui->top = v->below;
	view_free(v);
	if (ui->top)
		ui_watch_again(ui);
}

size_t view_count(const struct view *v)
{
	return v->ops->count(v);
}

unsigned view_version(const struct view *v)
{
	return v->relaid + (v->ops->version ? v->ops->version(v) : 0);
}

/* Rows of the list on the screen as it is now, at least 1. */
static size_t list_height(const struct view *v)
{
	struct view_rects r;

	view_rects(v, v->ui->screen.cols, v->ui->screen.rows, &r);
	return r.list.h > 0 ? (size_t)r.list.h : 1;
}

static size_t last_top(const struct view *v)
{
	size_t n = view_count(v), height = list_height(v);

	return n > height ? n - height : 0;
}

void view_set_cursor(struct view *v, size_t line)
{
	size_t n = view_count(v), height = list_height(v), last = last_top(v);

	v->cursor = n == 0 ? 0 : line >= n ? n - 1 : line;
	if (v->cursor + height < v->top || v->cursor >= v->top + 2 * height)
		v->top = v->cursor > height / 2 ? v->cursor - height / 2 : 0; /* far: with surroundings */
	else if (v->cursor < v->top)
		v->top = v->cursor;
	else if (v->cursor - v->top >= height)
		v->top = v->cursor - height + 1;
	if (v->top > last)
		v->top = last;
}

void view_move(struct view *v, long by)
{
	size_t line = v->cursor;

	v->moved = true;
	if (by < 0)
		line = line > (size_t)-by ? line - (size_t)-by : 0;
	else
		line += (size_t)by;
	view_set_cursor(v, line);
}

void view_page(struct view *v, long by)
{
	size_t top = v->top;

	if (by < 0)
		top = top > (size_t)-by ? top - (size_t)-by : 0;
	else
		top = top + (size_t)by > last_top(v) ? last_top(v) : top + (size_t)by;
	v->top = top;
	view_move(v, by);
}

void view_relayout(struct view *v)
{
	size_t offset = v->cursor - v->top, n = view_count(v), line = LINE_NONE;
	uint64_t id = v->cursor < n && v->ops->line_id ? v->ops->line_id(v, v->cursor) : 0;
	bool had = v->cursor < n;

	v->relaid++;
	if (v->ops->layout)
		v->ops->layout(v);
	if (!v->moved) {
		line = v->ops->home ? v->ops->home(v) : 0;
		offset = line < list_height(v) ? line : list_height(v) / 2;
	} else if (had && v->ops->line_of) {
		line = v->ops->line_of(v, id);
	}
	if (line == LINE_NONE)
		line = v->cursor;
	/* the cursor keeps its place on the screen, whatever came or went above it */
	v->top = line > offset ? line - offset : 0;
	if (v->top > last_top(v))
		v->top = last_top(v);
	view_set_cursor(v, line);
}

void view_refresh(struct view *v)
{
	if (v->ops->is_stale && v->ops->is_stale(v)) {
		view_relayout(v);
		pager_stale(&v->pager);
		v->ui->dirty = true;
	}
}

bool view_has_pane(const struct view *v)
{
	return v->ops->pane != PANE_NONE && !v->pane_hidden;
}

static void pane_right(struct view_rects *r, int body_y, int body_h, int cols)
{
	int left = cols < 140 ? cols * 3 / 5 : cols / 2;

	r->list = (struct rect){ 0, body_y, left, body_h };
	r->border = (struct rect){ left, body_y, 2, body_h };
	r->pane = (struct rect){ left + 2, body_y, cols - left - 2, body_h };
}

static void pane_below(struct view_rects *r, int body_y, int body_h, int cols, int percent)
{
	int h = body_h * percent / 100;

	if (h < 3)
		h = 3;
	r->list = (struct rect){ 0, body_y, cols, body_h - h - 1 };
	r->border = (struct rect){ 0, body_y + body_h - h - 1, cols, 1 };
	r->pane = (struct rect){ 0, body_y + body_h - h, cols, h };
}

/* Which place the pane gets on this screen. */
static enum pane_place pane_place(const struct view *v, int body_h, int cols)
{
	if (!view_has_pane(v))
		return PANE_NONE;
	if (v->ops->pane == PANE_RIGHT && cols >= 80 && body_h >= 3)
		return PANE_RIGHT;
	if (cols >= 40 && body_h >= 8)
		return PANE_BELOW;
	return PANE_ALONE;
}

void view_rects(const struct view *v, int cols, int rows, struct view_rects *r)
{
	int y = 0, h = rows;

	memset(r, 0, sizeof(*r));
	r->header = r->heading = r->foot = r->status = -1;
	if (rows >= 3) {
		r->header = 0;
		y = 1;
		h--;
	}
	if (rows >= 2 || status_wants_line(v->ui)) {
		r->status = rows - 1;
		h--;
	}
	if (v->ops->draw_heading && h >= 4) {
		r->heading = y++;
		h--;
	}
	if (v->ops->draw_foot && h >= 6) {
		r->foot = y + h - 1;
		h--;
	}
	r->list = (struct rect){ 0, y, cols, h };
	switch (pane_place(v, h, cols)) {
	case PANE_RIGHT:
		pane_right(r, y, h, cols);
		break;
	case PANE_BELOW:
		pane_below(r, y, h, cols, v->ops->pane == PANE_RIGHT ? 50 : v->ops->pane_percent);
		break;
	case PANE_ALONE:
		if (v->pane_focus) {
			r->pane = r->list;
			r->list = (struct rect){ 0 };
		}
		break;
	case PANE_NONE:
		break;
	}
}

struct pager *view_pager(struct view *v)
{
	struct view_rects r;
	size_t n = view_count(v);

	view_rects(v, v->ui->screen.cols, v->ui->screen.rows, &r);
	v->pager.height = r.pane.h;
	if (r.pane.w > 0 && r.pane.h > 0 && v->ops->fill_pane) {
		uint64_t id = v->cursor < n ? v->ops->line_id(v, v->cursor) : UINT64_MAX;
		pager_need(&v->pager, v, id, r.pane.w, v->ui->wrap, v->ui->draw.ascii);
	}
	return &v->pager;
}

static bool inside(const struct rect *r, int y)
{
	return r->w > 0 && y >= r->y && y < r->y + r->h;
}

static void draw_list_row(struct view *v, const struct rect *r, int y, struct rowbuf *rb)
{
	size_t line = v->top + (size_t)(y - r->y);
	bool is_cursor = line == v->cursor;

	row_clip(rb, r->x + r->w);
	if (line < view_count(v)) {
		if (r->w > 1) {
			if (is_cursor)
				row_glyph(rb, ROLE_TIP, GLYPH_CURSOR);
			else
				row_spaces(rb, ROLE_NORMAL, 1);
		}
		v->ops->draw_row(v, line, rb);
		row_pad(rb, ROLE_NORMAL);
		search_highlight(&v->search, rb, r->x, rb->n);
		if (is_cursor)
			row_set_under(rb, r->x, rb->n, v->pane_focus ? UNDER_IDLE : UNDER_CURSOR);
	}
	if (y == r->y && view_count(v) == 0 && v->ops->empty)
		row_printf(rb, ROLE_DIM, "  %s", v->ops->empty(v));
	row_pad(rb, ROLE_NORMAL);
}

static void draw_border(const struct view *v, const struct rect *r, struct rowbuf *rb)
{
	enum role role = v->pane_focus ? ROLE_TIP : ROLE_BORDER;

	row_clip(rb, r->x + r->w);
	if (r->h > 1 || r->w == 2) {
		row_glyph(rb, role, GLYPH_VERTICAL);
		row_pad(rb, ROLE_NORMAL);
		return;
	}
	while (row_left(rb) > 0)
		row_glyph(rb, role, GLYPH_HORIZONTAL);
}

static void draw_pane_row(struct view *v, const struct rect *r, int y, struct rowbuf *rb)
{
	row_clip(rb, r->x + r->w);
	pager_draw_row(&v->pager, v->pager.top + (size_t)(y - r->y), rb);
	row_pad(rb, ROLE_NORMAL);
	search_highlight(&v->search, rb, r->x, rb->n);
}

void view_draw(struct view *v, struct draw *d)
{
	struct screen *s = &v->ui->screen;
	struct view_rects r;
	int message; /* the first row of it */

	view_rects(v, s->cols, s->rows, &r);
	message = r.status - status_rows(v->ui) + 1;
	v->height = r.list.h;
	view_set_cursor(v, v->cursor);
	view_pager(v);
	draw_begin(d, s->rows, s->cols);
	for (int y = 0; y < s->rows; y++) {
		struct rowbuf *rb = draw_row(d, y);
		if (r.status >= 0 && y >= message && y <= r.status) {
			status_draw(v, rb, y, y - message);
			row_set_under(rb, 0, rb->n, UNDER_STATUS);
		} else if (y == r.header) {
			v->ops->draw_header(v, rb);
			row_pad(rb, ROLE_TITLE);
			row_set_under(rb, 0, rb->n, UNDER_TITLE);
		} else if (y == r.heading) {
			v->ops->draw_heading(v, rb);
			row_pad(rb, ROLE_NORMAL);
		} else if (y == r.foot) {
			v->ops->draw_foot(v, rb);
			row_pad(rb, ROLE_NORMAL);
		} else {
			if (inside(&r.list, y))
				draw_list_row(v, &r.list, y, rb);
			if (inside(&r.border, y))
				draw_border(v, &r.border, rb);
			if (inside(&r.pane, y))
				draw_pane_row(v, &r.pane, y, rb);
		}
	}
	draw_end(d);
}

static bool hits(const struct rect *r, int y, int x)
{
	return inside(r, y) && x >= r->x && x < r->x + r->w;
}

enum effect view_click(struct view *v, int y, int x, int wheel)
{
	struct view_rects r;

	view_rects(v, v->ui->screen.cols, v->ui->screen.rows, &r);
	if (hits(&r.pane, y, x)) {
		if (wheel)
			pager_scroll(view_pager(v), v, 3 * wheel);
		else
			v->pane_focus = true;
	} else if (hits(&r.list, y, x)) {
		size_t line = v->top + (size_t)(y - r.list.y);
		if (wheel) {
			view_page(v, 3 * wheel);
		} else {
			v->pane_focus = false;
			v->moved = true;
			if (line < view_count(v))
				view_set_cursor(v, line);
		}
	}
	return FX_REDRAW;
}
