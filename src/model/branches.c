/*
 * branches.c - the list of branches: every leaf, how long the way to it is and
 * where it leaves the branch of the tip.
 */
#include "config.h"

#include "model/layout.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "model/layout-internal.h"

struct leave {
	uint32_t fork, first;
};

/* Where the branch through this segment leaves the tip's; its parent's answer is known. */
static struct leave find_leave(const struct layout *l, const struct leave *of, uint32_t seg)
{
	const struct segment *own = &l->segs[seg], *up;
	uint32_t last;

	if (own->on_tip) {
		if (seg != l->tip_seg || l->tip_row == segment_last_row(own))
			return (struct leave){ ENTRY_NONE, ENTRY_NONE };
		return (struct leave){ l->entry_of[l->tip_row], l->entry_of[l->tip_row + 1] };
	}
	if (own->parent == ENTRY_NONE)
		return (struct leave){ ENTRY_NONE, l->entry_of[own->first_row] };
	up = &l->segs[own->parent];
	if (!up->on_tip || of[own->parent].fork != ENTRY_NONE)
		return of[own->parent];
	last = segment_last_row(up);
	return (struct leave){ l->entry_of[last], l->entry_of[own->first_row] };
}

/* A branch ends with what is in the file, not with what a repair would add to it. */
static bool is_proposed(const struct layout *l, uint32_t entry)
{
	return l->s->entries[entry].flags & ENTRY_PROPOSED;
}

static int by_leaf(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	return x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

struct branch *layout_branches(const struct layout *l, size_t *n)
{
	struct leave *leave = xmalloc((l->nsegs ? l->nsegs : 1) * sizeof(*leave));
	struct branch *v = NULL;
	size_t cap = 0;

	*n = 0;
	for (uint32_t i = 0; i < l->nsegs; i++) {
		const struct segment *seg = &l->segs[i];
		uint32_t leaf, length = seg->depth + seg->nrows;

		leave[i] = find_leave(l, leave, i);
		if (!segment_is_leaf(seg))
			continue;
		leaf = l->entry_of[segment_last_row(seg)];
		for (; leaf != ENTRY_NONE && is_proposed(l, leaf); length--)
			leaf = l->s->entries[leaf].parent;
		if (leaf == ENTRY_NONE) /* there is nothing but a proposal */
			continue;
		if (leaf == l->s->tip) /* only a proposal follows */
			leave[i] = (struct leave){ ENTRY_NONE, ENTRY_NONE };
		v = xgrow(v, &cap, *n + 1, sizeof(*v));
		v[(*n)++] = (struct branch){ .leaf = leaf,
			.length = length,
			.fork = leave[i].fork,
			.first = leave[i].first,
			.last_time = l->s->entries[leaf].time,
			.is_tip = leaf == l->s->tip };
	}
	free(leave);
	if (*n > 1)
		qsort(v, *n, sizeof(*v), by_leaf);
	return v;
}
