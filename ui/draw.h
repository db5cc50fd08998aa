/*
 * draw.h - paints rows of cells on the curses screen.
 *
 * Calling sequence a frame: draw_begin, draw_row for each screen row (fill it
 * with row_*), draw_end. Only rows that differ from the last frame reach
 * curses; draw_all makes the next frame whole.
 */
#ifndef BOUGH_UI_DRAW_H
#define BOUGH_UI_DRAW_H

#include <stdbool.h>

#include "ui/cell.h"
#include "ui/theme.h"

struct draw {
	const struct theme *theme;
	struct rowbuf *front; /* what the screen shows */
	struct rowbuf *back;  /* the frame under construction */
	int rows, cols;
	int nalloc;
	bool all;             /* paint every row */
	bool ascii, utf8;
	int cursor_y, cursor_x; /* -1: hidden */
	short npairs;
	struct { short fg, bg; } pair[256];
};

void draw_init(struct draw *d, const struct theme *theme, bool ascii, bool utf8);
void draw_release(struct draw *d);
void draw_set_theme(struct draw *d, const struct theme *theme);
void draw_all(struct draw *d);
void draw_begin(struct draw *d, int rows, int cols);
struct rowbuf *draw_row(struct draw *d, int y); /* begun, clip at the width */
void draw_cursor(struct draw *d, int y, int x);
void draw_end(struct draw *d);
/* The screen as text, and as one letter a cell for its role with a legend below. */
void draw_save_text(const struct draw *d, struct buf *out);
void draw_save_roles(const struct draw *d, struct buf *out);

#endif
