/*
 * layout-internal.h - what the files of the layout share; nobody else
 * includes it.
 */
#ifndef BOUGH_MODEL_LAYOUT_INTERNAL_H
#define BOUGH_MODEL_LAYOUT_INTERNAL_H

#include "model/layout.h"

/* Number of the segment that holds the row, O(log). */
uint32_t layout_seg_of(const struct layout *l, uint32_t row);
/* The last line whose row is at or above `row`; ENTRY_NONE when there is none. */
uint32_t layout_line_at(const struct layout *l, uint32_t row);
bool layout_is_shown(const struct layout *l, uint32_t row);

static inline uint32_t segment_last_row(const struct segment *seg)
{
	return seg->first_row + seg->nrows - 1;
}

static inline bool segment_is_leaf(const struct segment *seg)
{
	return seg->first_row + seg->nrows == seg->end_row;
}

#endif
