/*
 * layout-ask.c - where a row stands: its segment, the lines drawn left of it,
 * and the rows that the movements lead to. Nothing here changes a layout.
 */
#include "config.h"

#include "model/layout.h"

#include "model/layout-internal.h"

uint32_t layout_seg_of(const struct layout *l, uint32_t row)
{
	uint32_t lo = 0, hi = l->nsegs;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (l->segs[mid].first_row <= row)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

const struct segment *layout_segment(const struct layout *l, uint32_t row)
{
	return &l->segs[layout_seg_of(l, row)];
}

bool layout_on_tip(const struct layout *l, uint32_t row)
{
	uint32_t seg = layout_seg_of(l, row);

	return l->segs[seg].on_tip && (seg != l->tip_seg || row <= l->tip_row);
}

/* ---- the drawing ---- */

/* The segment at this indent that the given one is, or hangs under. */
static uint32_t segment_at(const struct layout *l, uint32_t seg, uint32_t indent)
{
	while (l->segs[seg].indent > indent) {
		uint32_t jump = l->segs[seg].jump;

		seg = l->segs[jump].indent >= indent ? jump : l->segs[seg].parent;
	}
	return seg;
}

/* Code i belongs to the segment at indent i + 1: roots have nothing left of them. */
size_t layout_prefix(const struct layout *l, uint32_t row, uint32_t from_indent, char *out, size_t max)
{
	uint32_t own = layout_seg_of(l, row), indent = l->segs[own].indent, seg;
	size_t n = 0;

	if (from_indent < indent)
		n = indent - from_indent < max ? indent - from_indent : max;
	if (!n)
		return 0;
	seg = segment_at(l, own, from_indent + (uint32_t)n);
	for (size_t i = n; i-- > 0; seg = l->segs[seg].parent) {
		const struct segment *at = &l->segs[seg];

		if (seg == own && row == at->first_row)
			out[i] = at->is_last ? '`' : '+';
		else
			out[i] = at->is_last ? ' ' : '|';
	}
	return n;
}

size_t layout_outline(const struct layout *l, uint32_t row, uint32_t levels, char *out)
{
	uint32_t indent = layout_segment(l, row)->indent;

	if (indent <= levels)
		return layout_prefix(l, row, 0, out, levels);
	layout_prefix(l, row, 0, out, levels - 2);
	out[levels - 2] = '#';
	layout_prefix(l, row, indent - 1, &out[levels - 1], 1);
	return levels;
}

/* ---- movements ---- */

uint32_t layout_next_fork(const struct layout *l, uint32_t row, int dir)
{
	uint32_t seg, last;

	if (row >= l->n)
		return ENTRY_NONE;
	seg = layout_seg_of(l, row);
	if (dir > 0 && row == segment_last_row(&l->segs[seg]))
		seg++;
	else if (dir < 0)
		seg--;
	for (; seg < l->nsegs; seg += dir > 0 ? 1 : -1) {
		if (segment_is_leaf(&l->segs[seg]))
			continue;
		last = segment_last_row(&l->segs[seg]);
		if (layout_is_shown(l, last))
			return last;
	}
	return ENTRY_NONE;
}

/* The row after (or before) `row` at its indent, without leaving the fork it hangs under. */
static uint32_t step_at_indent(const struct layout *l, uint32_t *seg, uint32_t row, int dir)
{
	const struct segment *own = &l->segs[*seg];
	uint32_t next;

	if (dir > 0) {
		if (row < segment_last_row(own))
			return row + 1;
		if (own->is_last || own->end_row >= l->n)
			return ENTRY_NONE;
		*seg = layout_seg_of(l, own->end_row);
		return own->end_row;
	}
	if (row > own->first_row)
		return row - 1;
	if (*seg == 0 || *seg - 1 == own->parent)
		return ENTRY_NONE;
	next = segment_at(l, *seg - 1, own->indent);
	*seg = next;
	return segment_last_row(&l->segs[next]);
}

uint32_t layout_sibling(const struct layout *l, uint32_t row, int dir)
{
	uint32_t seg;

	if (row >= l->n)
		return ENTRY_NONE;
	seg = layout_seg_of(l, row);
	while ((row = step_at_indent(l, &seg, row, dir)) != ENTRY_NONE)
		if (layout_is_shown(l, row))
			return row;
	return ENTRY_NONE;
}

/*
 * A branch begins where the segment of its leaf does. Where that is hidden,
 * the row that hides it stands for it.
 */
uint32_t layout_next_branch(const struct layout *l, uint32_t row, int dir)
{
	uint32_t seg;

	if (row >= l->n)
		return ENTRY_NONE;
	seg = layout_seg_of(l, row);
	for (seg += dir > 0 ? 1 : -1; seg < l->nsegs; seg += dir > 0 ? 1 : -1) {
		uint32_t line, at;

		if (!segment_is_leaf(&l->segs[seg]))
			continue;
		line = layout_line_at(l, l->segs[seg].first_row);
		if (line == ENTRY_NONE)
			continue;
		at = l->shown ? l->shown[line] : line;
		if (dir > 0 ? at > row : at < row)
			return at;
	}
	return ENTRY_NONE;
}
