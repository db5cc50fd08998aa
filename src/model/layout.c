/*
 * layout.c - building the rows and segments of a tree drawing, and which rows
 * are shown: folds and filters. Movements and the drawing left of a row are in
 * layout-ask.c, the list of branches in branches.c.
 */
#include "config.h"

#include "model/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/layout-internal.h"

void layout_init(struct layout *l)
{
	*l = (struct layout){ .tip_row = ENTRY_NONE, .tip_seg = ENTRY_NONE };
}

void layout_release(struct layout *l)
{
	free(l->entry_of);
	free(l->row_of);
	free(l->segs);
	free(l->folded);
	free(l->shown);
	layout_init(l);
}

/* ---- what is shown ---- */

static bool passes(const struct entry *e, int show)
{
	switch (show) {
	case SHOW_TALK:
		return e->kind == KIND_USER || e->kind == KIND_ASSISTANT || e->kind == KIND_SUMMARY;
	case SHOW_PROMPTS:
		return e->kind == KIND_USER;
	case SHOW_TOOLS:
		return e->kind == KIND_TOOL_CALL || e->kind == KIND_TOOL_RESULT ||
			(e->flags & ENTRY_HAS_CALLS);
	case SHOW_PROBLEMS:
		return e->kind == KIND_UNKNOWN || (e->flags & (ENTRY_ORPHAN | ENTRY_CYCLE | ENTRY_FAILED |
			ENTRY_DAMAGED | ENTRY_DERIVED));
	default:
		return true;
	}
}

/* An inherited entry with another one behind it: the last stands for all. */
static bool is_past(const struct layout *l, uint32_t entry)
{
	const struct entry *e = &l->s->entries[entry];

	return l->hide_past && (e->flags & ENTRY_INHERITED) && entry + 1 < l->s->n &&
	       (e[1].flags & ENTRY_INHERITED);
}

/* The list of shown rows; none is kept when every row is shown. */
static void show_rows(struct layout *l)
{
	size_t fold = 0;
	uint32_t row = 0, before = l->nlines;

	if (!l->nfolded && l->show == SHOW_ALL && !l->hide_past) {
		free(l->shown);
		l->shown = NULL;
		l->nlines = l->n;
		l->version += l->nlines != before;
		return;
	}
	l->shown = xrealloc(l->shown, l->n ? l->n : 1, sizeof(*l->shown));
	l->nlines = 0;
	while (row < l->n) {
		uint32_t entry = l->entry_of[row];

		if (passes(&l->s->entries[entry], l->show) && !is_past(l, entry))
			l->shown[l->nlines++] = row;
		while (fold < l->nfolded && l->folded[fold] < row)
			fold++;
		if (fold < l->nfolded && l->folded[fold] == row)
			row += layout_below(l, row);
		row++;
	}
	l->version += l->nlines != before;
}

uint32_t layout_lines(const struct layout *l)
{
	return l->nlines;
}

uint32_t layout_entry(const struct layout *l, uint32_t line)
{
	if (line >= l->nlines)
		return ENTRY_NONE;
	return l->entry_of[l->shown ? l->shown[line] : line];
}

uint32_t layout_line_at(const struct layout *l, uint32_t row)
{
	uint32_t lo = 0, hi = l->nlines;

	if (!l->shown)
		return row < l->n ? row : ENTRY_NONE;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (l->shown[mid] <= row)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : ENTRY_NONE;
}

bool layout_is_shown(const struct layout *l, uint32_t row)
{
	uint32_t line = layout_line_at(l, row);

	return line != ENTRY_NONE && (!l->shown || l->shown[line] == row);
}

uint32_t layout_line(const struct layout *l, uint32_t entry)
{
	uint32_t line;

	if (!l->nlines || entry >= l->n)
		return ENTRY_NONE;
	line = layout_line_at(l, l->row_of[entry]);
	return line == ENTRY_NONE ? 0 : line;
}

/* ---- building ---- */

/*
 * The builder walks in preorder. Only the first entry of a segment can have
 * siblings, so going back up is a step a segment, not one an entry.
 */
struct builder {
	struct layout *l;
	const struct entry *e;
	size_t segs_cap;
	uint32_t row;
	uint32_t seg; /* the one being filled */
};

/* Skip pointers as in a random-access list: a jump is as long as the two before it together. */
static uint32_t jump_from(const struct segment *segs, uint32_t parent)
{
	uint32_t one, two;

	if (parent == ENTRY_NONE)
		return ENTRY_NONE;
	one = segs[parent].jump;
	two = one == ENTRY_NONE ? ENTRY_NONE : segs[one].jump;
	if (two != ENTRY_NONE &&
		segs[parent].indent - segs[one].indent == segs[one].indent - segs[two].indent)
		return two;
	return parent;
}

static void begin_segment(struct builder *b, uint32_t entry, uint32_t parent)
{
	struct layout *l = b->l;
	struct segment *seg;
	const struct segment *up;

	l->segs = xgrow(l->segs, &b->segs_cap, (size_t)l->nsegs + 1, sizeof(*l->segs));
	seg = &l->segs[l->nsegs];
	up = parent == ENTRY_NONE ? NULL : &l->segs[parent];
	*seg = (struct segment){ .first_row = b->row,
		.parent = parent,
		.jump = jump_from(l->segs, parent),
		.depth = up ? up->depth + up->nrows : 0,
		.indent = up ? up->indent + 1 : 0,
		.is_last = b->e[entry].next_sibling == ENTRY_NONE };
	b->seg = l->nsegs++;
}

/* A run of entries without a fork; returns the last one. */
static uint32_t fill_segment(struct builder *b, uint32_t entry)
{
	struct layout *l = b->l;

	for (;;) {
		uint32_t child = b->e[entry].first_child;

		l->entry_of[b->row] = entry;
		l->row_of[entry] = b->row++;
		l->segs[b->seg].nrows++;
		if (child == ENTRY_NONE || b->e[child].next_sibling != ENTRY_NONE)
			return entry;
		entry = child;
	}
}

/* Closes finished segments upwards; the next entry that begins one, or ENTRY_NONE. */
static uint32_t next_start(struct builder *b, uint32_t *parent)
{
	while (b->seg != ENTRY_NONE) {
		struct segment *seg = &b->l->segs[b->seg];
		uint32_t next = b->e[b->l->entry_of[seg->first_row]].next_sibling;

		seg->end_row = b->row;
		*parent = seg->parent;
		if (next != ENTRY_NONE)
			return next;
		b->seg = seg->parent;
	}
	return ENTRY_NONE;
}

static void build_rows(struct layout *l)
{
	struct builder b = { .l = l, .e = l->s->entries, .seg = ENTRY_NONE };
	uint32_t start = l->s->linked ? l->s->roots_first : ENTRY_NONE, parent = ENTRY_NONE;

	while (start != ENTRY_NONE) {
		uint32_t last, child;

		begin_segment(&b, start, parent);
		last = fill_segment(&b, start);
		child = b.e[last].first_child;
		if (child != ENTRY_NONE) {
			parent = b.seg;
			start = child;
		} else {
			start = next_start(&b, &parent);
		}
	}
	l->n = b.row;
	if (l->nsegs) /* seldom built: give back what doubling took too much */
		l->segs = xrealloc(l->segs, l->nsegs, sizeof(*l->segs));
}

static void set_path(struct layout *l, uint32_t seg, bool on)
{
	for (; seg != ENTRY_NONE; seg = l->segs[seg].parent)
		l->segs[seg].on_tip = on;
}

void layout_set_tip(struct layout *l)
{
	uint32_t tip = l->s ? l->s->tip : ENTRY_NONE;

	set_path(l, l->tip_seg, false);
	l->tip_row = l->tip_seg = ENTRY_NONE;
	if (tip == ENTRY_NONE || tip >= l->n)
		return;
	l->tip_row = l->row_of[tip];
	l->tip_seg = layout_seg_of(l, l->tip_row);
	set_path(l, l->tip_seg, true);
}

static int compare_rows(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void layout_build(struct layout *l, const struct session *s)
{
	size_t kept = 0;

	if (l->s != s)
		l->nfolded = 0;
	for (size_t i = 0; i < l->nfolded; i++)
		l->folded[i] = l->entry_of[l->folded[i]];
	l->s = s;
	free(l->segs);
	l->segs = NULL;
	l->nsegs = 0;
	l->entry_of = xrealloc(l->entry_of, s->linked ? s->linked : 1, sizeof(*l->entry_of));
	l->row_of = xrealloc(l->row_of, s->linked ? s->linked : 1, sizeof(*l->row_of));
	build_rows(l);
	l->tip_seg = ENTRY_NONE;
	layout_set_tip(l);
	for (size_t i = 0; i < l->nfolded; i++)
		if (l->folded[i] < l->n)
			l->folded[kept++] = l->row_of[l->folded[i]];
	l->nfolded = kept;
	if (kept > 1)
		qsort(l->folded, kept, sizeof(*l->folded), compare_rows);
	show_rows(l);
}

/* ---- folds ---- */

/* Place of the row among the folded ones, or where it would be. */
static size_t fold_place(const struct layout *l, uint32_t row)
{
	size_t lo = 0, hi = l->nfolded;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->folded[mid] < row)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool layout_is_folded(const struct layout *l, uint32_t row)
{
	size_t at = fold_place(l, row);

	return at < l->nfolded && l->folded[at] == row;
}

uint32_t layout_below(const struct layout *l, uint32_t row)
{
	return layout_segment(l, row)->end_row - row - 1;
}

uint32_t layout_hidden(const struct layout *l, uint32_t row)
{
	return layout_is_folded(l, row) ? layout_below(l, row) : 0;
}

void layout_fold(struct layout *l, uint32_t row, bool fold)
{
	size_t at;

	if (row >= l->n || fold == layout_is_folded(l, row) || (fold && !layout_below(l, row)))
		return;
	at = fold_place(l, row);
	if (fold) {
		l->folded = xgrow(l->folded, &l->folded_cap, l->nfolded + 1, sizeof(*l->folded));
		memmove(&l->folded[at + 1], &l->folded[at], (l->nfolded - at) * sizeof(*l->folded));
		l->folded[at] = row;
		l->nfolded++;
	} else {
		l->nfolded--;
		memmove(&l->folded[at], &l->folded[at + 1], (l->nfolded - at) * sizeof(*l->folded));
	}
	show_rows(l);
}

/* Roots beside the tip's count as children of a fork above them all. */
void layout_fold_all(struct layout *l, bool fold)
{
	l->nfolded = 0;
	l->version++;
	for (uint32_t i = 0; fold && i < l->nsegs; i++) {
		const struct segment *seg = &l->segs[i];

		if (seg->on_tip || seg->end_row - seg->first_row < 2)
			continue;
		l->folded = xgrow(l->folded, &l->folded_cap, l->nfolded + 1, sizeof(*l->folded));
		l->folded[l->nfolded++] = seg->first_row;
	}
	show_rows(l);
}

void layout_unfold_to(struct layout *l, uint32_t entry)
{
	size_t kept = 0;
	uint32_t row;

	if (entry >= l->n)
		return;
	row = l->row_of[entry];
	for (size_t i = 0; i < l->nfolded; i++) {
		uint32_t at = l->folded[i];

		if (row <= at || row - at > layout_below(l, at))
			l->folded[kept++] = at;
	}
	l->nfolded = kept;
	if (!passes(&l->s->entries[entry], l->show))
		l->show = SHOW_ALL;
	if (is_past(l, entry))
		l->hide_past = false;
	show_rows(l);
}

void layout_hide_past(struct layout *l, bool hide)
{
	l->hide_past = hide;
	show_rows(l);
}

uint32_t layout_past(const struct layout *l, uint32_t row)
{
	uint32_t entry = l->entry_of[row], n = 0;

	if (!l->hide_past || !(l->s->entries[entry].flags & ENTRY_INHERITED))
		return 0;
	while (entry > n && (l->s->entries[entry - n - 1].flags & ENTRY_INHERITED))
		n++;
	return n;
}

void layout_set_show(struct layout *l, int show)
{
	l->show = show >= 0 && show < SHOW_COUNT ? show : SHOW_ALL;
	l->version++; /* as many lines may be other ones */
	show_rows(l);
}
