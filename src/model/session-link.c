/*
 * session-link.c - from parent references to a tree: children in file order,
 * roots, counts; parents that are not there, and circles.
 *
 * Everything is a loop over the entries; nothing recurses, however deep or
 * wide the tree. The list of unlinked entries makes it repeatable: an entry
 * whose link could not be made, or was cut, is tried again at every call.
 */
#include "config.h"

#include "model/internal.h"

enum { UNLINKED_FLAGS = ENTRY_PENDING | ENTRY_ORPHAN | ENTRY_CYCLE };

static void find_parents(struct session *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nunlinked; i++) {
		struct unlinked *u = &s->unlinked[i];
		struct entry *e = &s->entries[u->entry];
		size_t pos = 0;

		e->flags &= (uint16_t)~UNLINKED_FLAGS;
		e->parent = ids_next(s, u->hash, &pos);
		if (e->parent == ENTRY_NONE) {
			e->flags |= ENTRY_PENDING;
			s->unlinked[kept++] = *u;
		} else if (e->parent >= u->entry) {
			s->has_forward = true;
		}
	}
	s->nunlinked = kept;
}

/* `on` stands on a circle: cut it at the entry that comes first in the file. */
static void cut_circle(struct session *s, uint32_t on)
{
	uint32_t first = on;

	for (uint32_t i = s->entries[on].parent; i != on; i = s->entries[i].parent)
		if (i < first)
			first = i;
	session_unlinked_add(s, first, s->entries[s->entries[first].parent].idhash);
	s->entries[first].parent = ENTRY_NONE;
	s->entries[first].flags |= ENTRY_CYCLE;
}

/*
 * From each entry walk up until the root or an entry that some walk has seen.
 * Meeting a trace of the same walk is a circle. next_sibling is free for the
 * traces: the links are made afterwards.
 */
static void cut_circles(struct session *s)
{
	struct entry *e = s->entries;

	for (uint32_t i = 0; i < s->n; i++)
		e[i].next_sibling = ENTRY_NONE;
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t at = i;

		while (at != ENTRY_NONE && e[at].next_sibling == ENTRY_NONE) {
			e[at].next_sibling = i;
			at = e[at].parent;
		}
		if (at != ENTRY_NONE && e[at].next_sibling == i)
			cut_circle(s, at);
	}
}

/* Last to first, each put in front of its siblings: they end in file order. */
static void make_links(struct session *s)
{
	struct entry *e = s->entries;

	s->roots_first = ENTRY_NONE;
	s->nroots = s->nforks = 0;
	s->nleaves = s->n;
	for (uint32_t i = 0; i < s->n; i++)
		e[i].first_child = ENTRY_NONE;
	for (uint32_t i = s->n; i-- > 0;) {
		uint32_t parent = e[i].parent, sibling;
		uint32_t *first = parent == ENTRY_NONE ? &s->roots_first : &e[parent].first_child;

		e[i].next_sibling = *first;
		sibling = child_from(s, *first);
		*first = i;
		if (e[i].flags & ENTRY_PROPOSED)
			s->nleaves--;
		else if (parent == ENTRY_NONE)
			s->nroots++;
		else if (sibling == ENTRY_NONE)
			s->nleaves--;
		else if (child_from(s, e[sibling].next_sibling) == ENTRY_NONE)
			s->nforks++;
	}
	s->linked = s->n;
}

static void report(struct session *s)
{
	uint64_t before = s->problems.more;

	for (size_t i = 0; i < s->nunlinked; i++) {
		uint32_t at = s->unlinked[i].entry;
		struct entry *e = &s->entries[at];

		if (e->flags & ENTRY_CYCLE) {
			problem_add(&s->problems, &s->arena, "cycle", session_line(s, at), e->off, e->len, at,
				"following its parents comes back to this entry; its link is cut here");
			continue;
		}
		e->flags = (uint16_t)((e->flags & ~ENTRY_PENDING) | ENTRY_ORPHAN);
		problem_add(&s->problems, &s->arena, "orphan", session_line(s, at), e->off, e->len, at,
			"its parent is not in the file; it is shown as a root");
	}
	s->link_more = s->problems.more - before;
}

void session_link(struct session *s, bool final)
{
	s->problems.more -= s->link_more;
	s->link_more = 0;
	if (s->nunlinked) {
		problem_drop(&s->problems, "orphan");
		problem_drop(&s->problems, "cycle");
		find_parents(s);
	}
	if (s->has_forward)
		cut_circles(s);
	make_links(s);
	if (final)
		report(s);
	if (s->tip_rule != TIP_CHECKOUT) {
		s->tip = s->last_entry;
		s->tip_rule = s->tip == ENTRY_NONE ? TIP_NONE : TIP_LAST_ENTRY;
	}
}
