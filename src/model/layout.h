/*
 * layout.h - the rows of a tree drawing.
 *
 * Rows are the entries in preorder, children in file order. A run of entries
 * without a fork is a segment and stays at one indent; every child of a fork
 * starts a segment one indent deeper. Memory: 8 bytes an entry and 32 a
 * segment. Building is O(n); everything else is O(1) or O(log segments), but
 * for folding and kind filters, which rebuild the list of shown rows.
 *
 * "Row" is a number in the preorder, "line" what is shown after folding and
 * filtering.
 */
#ifndef BOUGH_MODEL_LAYOUT_H
#define BOUGH_MODEL_LAYOUT_H

#include "model/session.h"

struct segment {
	uint32_t first_row, nrows; /* its own run of rows */
	uint32_t end_row;          /* behind the last row of everything below it */
	uint32_t parent;           /* segment, or ENTRY_NONE for a root's */
	uint32_t jump;             /* a segment further up: any level is found in O(log) steps */
	uint32_t depth;            /* entries above its first one on its branch */
	uint32_t indent;
	bool is_last;              /* the last child of its fork (or last root) */
	bool on_tip;               /* part of it is on the tip's branch */
};

enum { SHOW_ALL, SHOW_TALK, SHOW_PROMPTS, SHOW_TOOLS, SHOW_PROBLEMS, SHOW_COUNT };

struct layout {
	const struct session *s;
	uint32_t n;                /* rows */
	uint32_t *entry_of;        /* row -> entry */
	uint32_t *row_of;          /* entry -> row */
	struct segment *segs;
	uint32_t nsegs;
	uint32_t tip_row, tip_seg;

	uint32_t *folded;          /* sorted rows whose descendants are hidden */
	size_t nfolded, folded_cap;
	int show;                  /* SHOW_* */
	bool hide_past;            /* of the inherited entries only the last is shown */
	unsigned version;          /* grows when folding or filtering changes the lines */
	uint32_t *shown;           /* line -> row when folded or filtered; NULL: identity */
	uint32_t nlines;
};

void layout_init(struct layout *l);
void layout_release(struct layout *l);
/* From the linked session; keeps folds (by entry) and the filter. */
void layout_build(struct layout *l, const struct session *s);
void layout_set_tip(struct layout *l); /* after the session's tip moved; O(segments on the path) */

uint32_t layout_lines(const struct layout *l);
uint32_t layout_entry(const struct layout *l, uint32_t line);
/* The line of an entry; when it is hidden, of the nearest shown row above it. ENTRY_NONE without lines. */
uint32_t layout_line(const struct layout *l, uint32_t entry);
const struct segment *layout_segment(const struct layout *l, uint32_t row); /* O(log) */
bool layout_on_tip(const struct layout *l, uint32_t row);

bool layout_is_folded(const struct layout *l, uint32_t row);
uint32_t layout_hidden(const struct layout *l, uint32_t row);  /* rows below it when folded */
uint32_t layout_below(const struct layout *l, uint32_t row);   /* descendants */
void layout_fold(struct layout *l, uint32_t row, bool fold);
void layout_fold_all(struct layout *l, bool fold); /* every child of a fork off the tip's branch */
void layout_unfold_to(struct layout *l, uint32_t entry); /* so that it is shown */
void layout_set_show(struct layout *l, int show);
void layout_hide_past(struct layout *l, bool hide);
/* Inherited entries that this row stands for, beside its own; 0: they are shown, or it is none. */
uint32_t layout_past(const struct layout *l, uint32_t row);

/* Movements: a row, or ENTRY_NONE when there is none. */
uint32_t layout_next_fork(const struct layout *l, uint32_t row, int dir);   /* { } */
uint32_t layout_sibling(const struct layout *l, uint32_t row, int dir);     /* J K: at this indent */
uint32_t layout_next_branch(const struct layout *l, uint32_t row, int dir); /* [ ]: next leaf's branch */

/*
 * The drawing left of a row, one code a level from `from_indent` on, at most
 * `max` levels, outermost first: ' ' nothing, '|' a line passes, '+' a branch
 * starts and more follow, '`' the last branch starts. Returns their number.
 */
size_t layout_prefix(const struct layout *l, uint32_t row, uint32_t from_indent, char *out, size_t max);
/*
 * The same for a place that takes at most `levels` (3 or more) of them. Of a
 * deeper row the levels between are left out: a '#' stands for them, where the
 * caller writes the row's indent, so that depths can still be told apart and
 * the outer lines go on from row to row.
 */
size_t layout_outline(const struct layout *l, uint32_t row, uint32_t levels, char *out);

/* ---- branches ---- */

struct branch {
	uint32_t leaf;
	uint32_t length;     /* entries from the root */
	uint32_t fork;       /* entry where it leaves the tip's branch; ENTRY_NONE: another root, or it is the tip's */
	uint32_t first;      /* first entry behind the fork */
	int64_t last_time;
	bool is_tip;
};
/* All leaves, file order; xmalloc'd, yours. O(segments). */
struct branch *layout_branches(const struct layout *l, size_t *n);

#endif
