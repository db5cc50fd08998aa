/*
 * cell.c - builds rows of safe cells from hostile text, literals and glyphs.
 * It knows widths and cuts; it knows neither colours nor the terminal.
 */
#include "config.h"

#include "ui/cell.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"

static const struct {
	const char *unicode, *ascii;
} glyphs[GLYPH_COUNT] = {
	[GLYPH_ON] = { "\u25cf", "*" },
	[GLYPH_OFF] = { "\u25cb", "o" },
	[GLYPH_TIP] = { "\u25c6", "@" },
	[GLYPH_PASS] = { "\u2502 ", "| " },
	[GLYPH_FORK] = { "\u251c\u2500", "+-" },
	[GLYPH_LAST] = { "\u2570\u2500", "`-" },
	[GLYPH_NOTHING] = { "  ", "  " },
	[GLYPH_VERTICAL] = { "\u2502", "|" },
	[GLYPH_HORIZONTAL] = { "\u2500", "-" },
	[GLYPH_FULL] = { "\u2588", "#" },
	[GLYPH_EMPTY] = { "\u2591", "." },
	[GLYPH_CURSOR] = { "\u25b8", ">" },
	[GLYPH_OPEN] = { "\u25be", "-" },
	[GLYPH_SHUT] = { "\u25b8", "+" },
};

void row_release(struct rowbuf *rb)
{
	buf_release(&rb->text);
	free(rb->cells);
	memset(rb, 0, sizeof(*rb));
}

void row_start(struct rowbuf *rb, int width, bool ascii)
{
	if (width < 0)
		width = 0;
	rb->cells = xgrow(rb->cells, &rb->cap, (size_t)width + 1, sizeof(*rb->cells));
	buf_clear(&rb->text);
	rb->n = 0;
	rb->width = rb->clip = width;
	rb->ascii = ascii;
}

void row_clip(struct rowbuf *rb, int end)
{
	rb->clip = end < rb->width ? end : rb->width;
	if (rb->clip < rb->n)
		rb->clip = rb->n;
}

/* One cluster of `width` columns; the caller has checked that it fits. */
static void put(struct rowbuf *rb, enum role role, const char *p, size_t n, int width)
{
	for (int i = 0; i < width; i++) {
		rb->cells[rb->n + i] = (struct cell){
			.off = (uint32_t)rb->text.n,
			.n = i == 0 ? (uint8_t)n : 0,
			.width = i == 0 ? (uint8_t)width : 0,
			.role = role,
		};
	}
	buf_add(&rb->text, p, n);
	rb->n += width;
}

/* Break a wide cluster whose columns are partly overwritten, so that no half of it is left. */
static void split_wide(struct rowbuf *rb, int col)
{
	int head = col;

	while (head > 0 && rb->cells[head].width == 0)
		head--;
	int width = rb->cells[head].width;
	if (width < 2)
		return;
	for (int i = 0; i < width && head + i < rb->n; i++) {
		rb->cells[head + i].off = (uint32_t)rb->text.n;
		rb->cells[head + i].n = rb->cells[head + i].width = 1;
		buf_addc(&rb->text, ' ');
	}
}

void row_mark_cut(struct rowbuf *rb, enum role role)
{
	if (rb->clip <= 0)
		return;
	while (rb->n < rb->clip)
		put(rb, role, " ", 1, 1);
	int col = rb->clip - 1;
	split_wide(rb, col);
	rb->cells[col] = (struct cell){
		.off = (uint32_t)rb->text.n, .n = 1, .width = 1, .role = role,
		.under = rb->cells[col].under,
	};
	buf_addc(&rb->text, '~');
}

static void put_spaces(struct rowbuf *rb, enum role role, int cols)
{
	while (cols-- > 0 && rb->n < rb->clip)
		put(rb, role, " ", 1, 1);
}

static bool is_white(const struct text_cluster *c)
{
	return c->kind == TEXT_TAB || c->kind == TEXT_NEWLINE ||
		(c->kind == TEXT_PLAIN && c->n == 1 && c->bytes[0] == ' ');
}

void row_text(struct rowbuf *rb, enum role role, const char *p, size_t n)
{
	bool after_white = false;
	struct text_cluster c;

	while (n > 0) {
		text_next(p, n, &c);
		p += c.src_n;
		n -= c.src_n;
		if (is_white(&c)) {
			if (after_white)
				continue;
			after_white = true;
			c.kind = TEXT_PLAIN;
			c.bytes[0] = ' ';
			c.n = 1;
			c.width = 1;
			if (rb->n >= rb->clip)
				continue; /* a lost space is no cut */
		} else {
			after_white = false;
		}
		if (c.width == 0)
			continue;
		if (rb->n + c.width > rb->clip) {
			row_mark_cut(rb, role);
			return;
		}
		put(rb, c.kind == TEXT_CONTROL ? ROLE_CONTROL : role, c.bytes, c.n, c.width);
	}
}

void row_str(struct rowbuf *rb, enum role role, const char *s)
{
	if (s)
		row_text(rb, role, s, strlen(s));
}

void row_field(struct rowbuf *rb, enum role role, const char *p, size_t n, int cols)
{
	int clip = rb->clip;

	if (cols <= 0)
		return;
	if (rb->n + cols < clip)
		rb->clip = rb->n + cols;
	row_text(rb, role, p, n);
	row_pad(rb, role);
	rb->clip = clip;
}

void row_field_right(struct rowbuf *rb, enum role role, const char *p, size_t n, int cols)
{
	int width = text_width(p, n);

	if (width < cols) {
		put_spaces(rb, role, cols - width);
		cols = width;
	}
	row_field(rb, role, p, n, cols);
}

size_t row_words(const char *p, size_t n, int cols)
{
	bool cut;
	size_t fits = text_fit(p, n, cols, NULL, &cut), at = fits;
	struct text_cluster c;

	if (!cut)
		return n;
	if (fits > 0 && p[fits] == '\n')
		return fits;
	while (at > 0 && p[at] != ' ')
		at--;
	if (at > 0)
		return at;
	if (fits == 0) {
		text_next(p, n, &c);
		fits = c.src_n;
	}
	return fits;
}

void row_span(struct rowbuf *rb, enum role role, const char *p, size_t n, int *skip)
{
	struct text_cluster c;

	while (n > 0) {
		text_next(p, n, &c);
		p += c.src_n;
		n -= c.src_n;
		if (c.kind == TEXT_TAB || c.kind == TEXT_NEWLINE) {
			c.bytes[0] = ' ';
			c.n = 1;
			c.width = 1;
		}
		if (*skip >= c.width) {
			*skip -= c.width;
			continue;
		}
		if (*skip > 0) { /* the left edge goes through a wide cluster */
			put_spaces(rb, role, c.width - *skip);
			*skip = 0;
			continue;
		}
		if (rb->n + c.width > rb->clip) {
			row_mark_cut(rb, role);
			return;
		}
		put(rb, c.kind == TEXT_CONTROL ? ROLE_CONTROL : role, c.bytes, c.n, c.width);
	}
}

void row_printf(struct rowbuf *rb, enum role role, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int none = 0;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	row_span(rb, role, text, strlen(text), &none);
}

void row_append(struct rowbuf *rb, const struct rowbuf *from)
{
	for (int i = 0; i < from->n; i += from->cells[i].width) {
		const struct cell *c = &from->cells[i];
		if (rb->n + c->width > rb->clip) {
			row_mark_cut(rb, (enum role)c->role);
			return;
		}
		put(rb, (enum role)c->role, from->text.p + c->off, c->n, c->width);
	}
}

void row_spaces(struct rowbuf *rb, enum role role, int cols)
{
	put_spaces(rb, role, cols);
}

const char *glyph_bytes(enum glyph g, bool ascii)
{
	return ascii ? glyphs[g].ascii : glyphs[g].unicode;
}

void row_glyph(struct rowbuf *rb, enum role role, enum glyph g)
{
	const char *s = glyph_bytes(g, rb->ascii);
	int none = 0;

	row_span(rb, role, s, strlen(s), &none);
}

void row_pad(struct rowbuf *rb, enum role role)
{
	put_spaces(rb, role, rb->clip - rb->n);
}

static int clamp(const struct rowbuf *rb, int col)
{
	return col < 0 ? 0 : col > rb->n ? rb->n : col;
}

void row_set_role(struct rowbuf *rb, int from, int to, enum role role)
{
	for (int i = clamp(rb, from); i < clamp(rb, to); i++)
		rb->cells[i].role = role;
}

void row_set_under(struct rowbuf *rb, int from, int to, enum under under)
{
	for (int i = clamp(rb, from); i < clamp(rb, to); i++)
		rb->cells[i].under = under;
}

bool row_equal(const struct rowbuf *a, const struct rowbuf *b)
{
	return a->n == b->n && a->text.n == b->text.n &&
		(a->n == 0 || memcmp(a->cells, b->cells, (size_t)a->n * sizeof(*a->cells)) == 0) &&
		(a->text.n == 0 || memcmp(a->text.p, b->text.p, a->text.n) == 0);
}

void row_bytes(const struct rowbuf *rb, int from, int to, struct buf *out, uint32_t **cols)
{
	size_t cap = 0, start = out->n;

	if (cols)
		*cols = NULL;
	for (int i = clamp(rb, from); i < clamp(rb, to); i++) {
		const struct cell *c = &rb->cells[i];
		if (cols) {
			*cols = xgrow(*cols, &cap, out->n - start + c->n + 1, sizeof(**cols));
			for (size_t k = 0; k < c->n; k++)
				(*cols)[out->n - start + k] = (uint32_t)i;
			(*cols)[out->n - start + c->n] = (uint32_t)i + (c->width ? c->width : 1);
		}
		if (c->n > 0)
			buf_add(out, rb->text.p + c->off, c->n);
	}
}
