/*
 * cell.h - one row of the screen as safe cells.
 *
 * Everything that is drawn becomes cells here: hostile bytes pass through
 * base/text.h, so a cell never holds a byte that can steer a terminal. A cell
 * has a role (ui/role.h); colours are the theme's business.
 *
 * Calling sequence: row_start for a screen row, then row_clip for each piece
 * (a pane), row_* to add cells up to the clip, row_pad to its end.
 * Columns are counted from 0; a cluster of several columns is one cell with
 * its width, followed by cells of width 0.
 */
#ifndef BOUGH_UI_CELL_H
#define BOUGH_UI_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "ui/role.h"

enum under { /* a bar that lies below the cells' own roles */
	UNDER_NONE,
	UNDER_CURSOR,
	UNDER_IDLE,   /* the cursor of a pane that has not the keys */
	UNDER_TITLE,
	UNDER_STATUS
};

struct cell {
	uint32_t off;  /* of its bytes in the row's text */
	uint8_t n;     /* bytes; 0 in the second column of a wide cluster */
	uint8_t width; /* columns; 0 there */
	uint8_t role;
	uint8_t under; /* enum under */
};

struct rowbuf {
	struct buf text;    /* safe bytes */
	struct cell *cells; /* one a column */
	size_t cap;
	int n;              /* columns filled */
	int clip;           /* column behind the last one that may be filled */
	int width;          /* of the whole row */
	bool ascii;         /* glyphs in ASCII */
};

enum glyph {
	GLYPH_ON,       /* an entry on the tip's branch */
	GLYPH_OFF,      /* an entry off it */
	GLYPH_TIP,
	GLYPH_PASS,     /* a line passes: two columns, as the next three */
	GLYPH_FORK,     /* a branch starts and more follow */
	GLYPH_LAST,     /* the last branch starts */
	GLYPH_NOTHING,
	GLYPH_VERTICAL, /* one column, between panes */
	GLYPH_HORIZONTAL,
	GLYPH_FULL,     /* progress bar */
	GLYPH_EMPTY,
	GLYPH_CURSOR,   /* left of the row under the cursor */
	GLYPH_OPEN,     /* a group that is unfolded */
	GLYPH_SHUT,
	GLYPH_COUNT
};

void row_release(struct rowbuf *rb);
void row_start(struct rowbuf *rb, int width, bool ascii);
void row_clip(struct rowbuf *rb, int end); /* clamped to the width */
static inline int row_left(const struct rowbuf *rb)
{
	return rb->clip - rb->n;
}

/* Hostile bytes on one line: white space runs become one space. Cut with '~' at the clip. */
void row_text(struct rowbuf *rb, enum role role, const char *p, size_t n);
void row_str(struct rowbuf *rb, enum role role, const char *s); /* the same for a C string; NULL is "" */
/* The same in exactly `cols` columns: cut with '~' or padded. */
void row_field(struct rowbuf *rb, enum role role, const char *p, size_t n, int cols);
/* The same at the right edge of `cols` columns. */
void row_field_right(struct rowbuf *rb, enum role role, const char *p, size_t n, int cols);
/*
 * Text that is laid out already (a page's span): spaces are kept. The first
 * `skip` columns are left out and taken off *skip.
 */
void row_span(struct rowbuf *rb, enum role role, const char *p, size_t n, int *skip);
/* Spaces are kept here too. */
void row_printf(struct rowbuf *rb, enum role role, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* How many bytes of a text go on one row: whole words, at least one character. */
size_t row_words(const char *p, size_t n, int cols);
void row_append(struct rowbuf *rb, const struct rowbuf *from); /* cells of a row made apart */
/* Only string literals. */
#define row_lit(rb, role, literal) row_printf((rb), (role), "%s", "" literal "")
void row_spaces(struct rowbuf *rb, enum role role, int cols);
void row_glyph(struct rowbuf *rb, enum role role, enum glyph g);
const char *glyph_bytes(enum glyph g, bool ascii);
void row_pad(struct rowbuf *rb, enum role role); /* to the clip */
/* Put a literal '~' into the last column before the clip: something goes on there. */
void row_mark_cut(struct rowbuf *rb, enum role role);

/* Change cells that are there: columns [from, to). */
void row_set_role(struct rowbuf *rb, int from, int to, enum role role);
void row_set_under(struct rowbuf *rb, int from, int to, enum under under);
bool row_equal(const struct rowbuf *a, const struct rowbuf *b);
/* The bytes of columns [from, to) as one string; `cols` (may be NULL) gets the column of each byte. */
void row_bytes(const struct rowbuf *rb, int from, int to, struct buf *out, uint32_t **cols);

#endif
