/*
 * draw.c - from cells to curses: colour pairs, runs of one style, changed rows
 * only, the text cursor. The one file that paints.
 */
#include "config.h"

#include "ui/draw.h"

#include <curses.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"
#include "base/xalloc.h"

void draw_init(struct draw *d, const struct theme *theme, bool ascii, bool utf8)
{
	memset(d, 0, sizeof(*d));
	d->ascii = ascii;
	d->utf8 = utf8;
	d->cursor_y = d->cursor_x = -1;
	draw_set_theme(d, theme);
}

void draw_release(struct draw *d)
{
	for (int i = 0; i < d->nalloc; i++) {
		row_release(&d->front[i]);
		row_release(&d->back[i]);
	}
	free(d->front);
	free(d->back);
	memset(d, 0, sizeof(*d));
}

void draw_set_theme(struct draw *d, const struct theme *theme)
{
	d->theme = theme;
	d->npairs = 0;
	d->all = true;
}

void draw_all(struct draw *d)
{
	d->all = true;
}

void draw_begin(struct draw *d, int rows, int cols)
{
	if (rows > d->nalloc) {
		d->front = xrealloc(d->front, (size_t)rows, sizeof(*d->front));
		d->back = xrealloc(d->back, (size_t)rows, sizeof(*d->back));
		memset(d->front + d->nalloc, 0, (size_t)(rows - d->nalloc) * sizeof(*d->front));
		memset(d->back + d->nalloc, 0, (size_t)(rows - d->nalloc) * sizeof(*d->back));
		d->nalloc = rows;
	}
	if (rows != d->rows || cols != d->cols)
		d->all = true;
	d->rows = rows;
	d->cols = cols;
	d->cursor_y = d->cursor_x = -1;
}

struct rowbuf *draw_row(struct draw *d, int y)
{
	row_start(&d->back[y], d->cols, d->ascii);
	return &d->back[y];
}

void draw_cursor(struct draw *d, int y, int x)
{
	d->cursor_y = y;
	d->cursor_x = x;
}

static short pair_for(struct draw *d, short fg, short bg)
{
	if ((fg < 0 && bg < 0) || d->theme->depth == THEME_MONO)
		return 0;
	for (short i = 0; i < d->npairs; i++) {
		if (d->pair[i].fg == fg && d->pair[i].bg == bg)
			return (short)(i + 1);
	}
	if (d->npairs + 1 >= COLOR_PAIRS || d->npairs == (short)(sizeof(d->pair) / sizeof(*d->pair)) - 1)
		return 0;
	if (init_pair((short)(d->npairs + 1), fg, bg) == ERR)
		return 0;
	d->pair[d->npairs].fg = fg;
	d->pair[d->npairs].bg = bg;
	return ++d->npairs;
}

static attr_t curses_attrs(unsigned attrs)
{
	attr_t a = A_NORMAL;

	if (attrs & STYLE_BOLD)
		a |= A_BOLD;
	if (attrs & STYLE_DIM)
		a |= A_DIM;
	if (attrs & STYLE_ITALIC)
		a |= A_ITALIC;
	if (attrs & STYLE_UNDERLINE)
		a |= A_UNDERLINE;
	if (attrs & STYLE_REVERSE)
		a |= A_REVERSE;
	return a;
}

/* The bytes of a run of cells as wide characters; without a UTF-8 locale only ASCII can be shown. */
static size_t to_wide(const struct draw *d, const char *p, size_t n, wchar_t *out, size_t max)
{
	size_t len = 0;
	uint32_t cp;

	while (n > 0 && len < max) {
		size_t used = utf8_decode(p, n, &cp);
		if (cp == UTF8_BAD)
			cp = '?';
		out[len++] = d->utf8 || cp < 0x80 ? (wchar_t)cp : L'?';
		p += used;
		n -= used;
	}
	return len;
}

static void paint_run(struct draw *d, const struct rowbuf *rb, int y, int from, int to)
{
	const struct cell *c = &rb->cells[from];
	struct style s = theme_style(d->theme, (enum role)c->role, (enum under)c->under);
	wchar_t wide[1024];
	int x = from;

	attr_set(curses_attrs(s.attrs), pair_for(d, s.fg, s.bg), NULL);
	while (x < to) {
		size_t len = 0;
		int start = x;
		/* every cluster is placed by its own column, so that a width the terminal library
		 * sees in another way can not shift what follows */
		while (x < to && len + 64 < sizeof(wide) / sizeof(*wide)) {
			len += to_wide(d, rb->text.p + rb->cells[x].off, rb->cells[x].n, wide + len,
				sizeof(wide) / sizeof(*wide) - len);
			x++;
			if (x < to && rb->cells[x - 1].width != 1)
				break;
		}
		while (x < to && rb->cells[x].width == 0)
			x++;
		mvaddnwstr(y, start, wide, (int)len);
	}
}

static void paint_row(struct draw *d, const struct rowbuf *rb, int y)
{
	int from = 0;

	for (int x = 1; x <= rb->n; x++) {
		if (x < rb->n && rb->cells[x].role == rb->cells[from].role &&
		    rb->cells[x].under == rb->cells[from].under)
			continue;
		paint_run(d, rb, y, from, x);
		from = x;
	}
	if (rb->n < d->cols) {
		attr_set(A_NORMAL, 0, NULL);
		move(y, rb->n);
		clrtoeol();
	}
}

void draw_end(struct draw *d)
{
	if (d->all)
		erase();
	for (int y = 0; y < d->rows; y++) {
		if (!d->all && row_equal(&d->front[y], &d->back[y]))
			continue;
		paint_row(d, &d->back[y], y);
		struct rowbuf old = d->front[y];
		d->front[y] = d->back[y];
		d->back[y] = old;
	}
	d->all = false;
	if (d->cursor_y >= 0) {
		curs_set(1);
		move(d->cursor_y, d->cursor_x);
	} else {
		curs_set(0);
	}
	wnoutrefresh(stdscr);
	doupdate();
}

void draw_save_text(const struct draw *d, struct buf *out)
{
	for (int y = 0; y < d->rows; y++) {
		size_t start = out->n;
		row_bytes(&d->front[y], 0, d->front[y].n, out, NULL);
		while (out->n > start && out->p[out->n - 1] == ' ')
			out->n--;
		buf_addc(out, '\n');
	}
}

/* One printable letter a role: '.' for normal text, then letters and digits in the order of the enum. */
static char role_letter(enum role role)
{
	static const char letters[] =
		".ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

	return letters[role];
}

void draw_save_roles(const struct draw *d, struct buf *out)
{
	static const char bar[] = { [UNDER_NONE] = ' ', [UNDER_CURSOR] = '>', [UNDER_IDLE] = ')',
		[UNDER_TITLE] = ' ', [UNDER_STATUS] = ' ' };
	bool used[ROLE_COUNT] = { false };

	for (int y = 0; y < d->rows; y++) {
		const struct rowbuf *rb = &d->front[y];
		enum under under = UNDER_NONE;
		for (int x = 0; x < rb->n; x++) {
			if (rb->cells[x].under != UNDER_NONE)
				under = (enum under)rb->cells[x].under;
		}
		buf_addc(out, bar[under]);
		for (int x = 0; x < rb->n; x++) {
			used[rb->cells[x].role] = true;
			buf_addc(out, role_letter((enum role)rb->cells[x].role));
		}
		buf_addc(out, '\n');
	}
	for (int i = 0; i < ROLE_COUNT; i++) {
		if (used[i])
			buf_printf(out, "%c %s\n", role_letter((enum role)i), role_name((enum role)i));
	}
}
