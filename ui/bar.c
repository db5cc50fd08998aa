/*
 * bar.c - which fields of a line fit, and where they stand. What they say is
 * the caller's business.
 */
#include "config.h"

#include "ui/bar.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void bar_begin(struct bar *b, const struct rowbuf *out)
{
	memset(b, 0, sizeof(*b));
	b->width = row_left(out) > 0 ? row_left(out) : 0;
	b->margin = 1;
	b->ascii = out->ascii;
}

static struct rowbuf *add(struct bar *b, int rank, bool is_right)
{
	struct bar_field *f;

	b->v = xgrow(b->v, &b->cap, b->n + 1, sizeof(*b->v));
	f = &b->v[b->n++];
	memset(f, 0, sizeof(*f));
	f->rank = rank;
	f->is_right = is_right;
	row_start(&f->cells, b->width, b->ascii);
	return &f->cells;
}

struct rowbuf *bar_left(struct bar *b, int rank)
{
	return add(b, rank, false);
}

struct rowbuf *bar_right(struct bar *b, int rank)
{
	return add(b, rank, true);
}

void bar_say(struct rowbuf *field, enum role role, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	row_str(field, role, text);
}

void bar_elastic(struct bar *b, int least)
{
	struct bar_field *f = &b->v[b->n - 1];

	f->is_elastic = true;
	f->least = f->cells.n < least ? f->cells.n : least;
}

void bar_shorter(struct bar *b)
{
	b->v[b->n - 1].is_short = b->v[b->n - 1].is_out = true;
}

/* Columns of all that is in, an elastic field with its least. */
static int needed(const struct bar *b)
{
	int cols = 2 * b->margin, shown = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct bar_field *f = &b->v[i];

		if (f->is_out || f->cells.n == 0)
			continue;
		cols += (shown++ ? BAR_GAP : 0) + (f->is_elastic ? f->least : f->cells.n);
	}
	return cols;
}

/* Take out the field of the highest rank, of equals the last; an elastic one alone stays. */
static bool drop_one(struct bar *b)
{
	struct bar_field *out = NULL;
	size_t in = 0;

	for (size_t i = 0; i < b->n; i++) {
		struct bar_field *f = &b->v[i];

		in += !f->is_out && f->cells.n > 0;
		if (!f->is_out && f->cells.n > 0 && (!out || f->rank >= out->rank))
			out = f;
	}
	if (!out || (in == 1 && out->is_elastic))
		return false;
	out->is_out = true;
	if (out + 1 < b->v + b->n && out[1].is_short)
		out[1].is_out = false;
	return true;
}

static void draw_side(const struct bar *b, bool is_right, int spare, enum role role,
	struct rowbuf *out)
{
	bool any = false;

	for (size_t i = 0; i < b->n; i++) {
		const struct bar_field *f = &b->v[i];
		int clip = out->clip;

		if (f->is_out || f->is_right != is_right || f->cells.n == 0)
			continue;
		row_spaces(out, role, any ? BAR_GAP : 0);
		any = true;
		if (f->is_elastic && f->least + spare < f->cells.n)
			row_clip(out, out->n + (f->least + spare > 0 ? f->least + spare : 0));
		row_append(out, &f->cells);
		row_clip(out, clip);
	}
}

static int side_cols(const struct bar *b, bool is_right)
{
	int cols = 0;

	for (size_t i = 0; i < b->n; i++) {
		if (!b->v[i].is_out && b->v[i].is_right == is_right && b->v[i].cells.n > 0)
			cols += b->v[i].cells.n + (cols ? BAR_GAP : 0);
	}
	return cols;
}

void bar_draw(struct bar *b, enum role role, struct rowbuf *out)
{
	int spare, right, clip = out->clip;

	while (needed(b) > b->width && drop_one(b))
		;
	spare = b->width - needed(b);
	right = side_cols(b, true);
	row_spaces(out, role, b->margin);
	row_clip(out, clip - b->margin);
	draw_side(b, false, spare, role, out);
	if (right > 0) {
		row_clip(out, clip - b->margin - right);
		row_pad(out, role);
		row_clip(out, clip - b->margin);
		draw_side(b, true, spare, role, out);
	}
	row_clip(out, clip);
	row_pad(out, role);
	for (size_t i = 0; i < b->n; i++)
		row_release(&b->v[i].cells);
	free(b->v);
	memset(b, 0, sizeof(*b));
}
