/*
 * bar.h - one line of fields: headers, the status line, a group's row.
 *
 * Fields are never cut into each other. What does not fit is left out whole,
 * the highest rank first; one field may be elastic, which is cut with '~' and
 * stays when it is the last.
 *
 * Calling sequence: bar_begin, then for each field bar_left or bar_right and
 * row_* on what they return (or bar_say), bar_draw, which also releases it.
 */
#ifndef BOUGH_UI_BAR_H
#define BOUGH_UI_BAR_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/cell.h"

#define BAR_GAP 2 /* columns between two fields */

struct bar_field {
	struct rowbuf cells;
	int rank;      /* what goes first when there is no room */
	bool is_right;
	bool is_elastic;
	bool is_out;
	int least;     /* an elastic one keeps so many columns as long as others can go */
	bool is_short; /* stands for the one before it once that one is out */
};

struct bar {
	struct bar_field *v;
	size_t n, cap;
	int width;
	int margin;    /* columns at both ends; 1 */
	bool ascii;
};

void bar_begin(struct bar *b, const struct rowbuf *out);
/* A field in its place from the left, or at the right end. Borrowed until the next one. */
struct rowbuf *bar_left(struct bar *b, int rank);
struct rowbuf *bar_right(struct bar *b, int rank);
/* What is formatted in is made safe; runs of spaces become one. */
void bar_say(struct rowbuf *field, enum role role, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* About the field that was added last; it is filled by then. */
void bar_elastic(struct bar *b, int least);
void bar_shorter(struct bar *b);
/* Into out, from out->n to its clip. */
void bar_draw(struct bar *b, enum role role, struct rowbuf *out);

#endif
