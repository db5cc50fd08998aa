/*
 * internal.h - what the files of src/model share; nobody else includes it.
 */
#ifndef BOUGH_MODEL_INTERNAL_H
#define BOUGH_MODEL_INTERNAL_H

#include "model/session.h"

/* An entry that names a parent which it is not linked to. */
struct unlinked {
	uint64_t hash;  /* of the parent's id */
	uint32_t entry;
};

/* From `entry` on, entries stand on consecutive lines beginning at `line`. */
struct line_run {
	uint64_t line;
	uint32_t entry;
};

/* ---- ids.c: the table of ids ---- */

/* Walks the entries whose idhash is `hash`, oldest first: start with *pos = 0; ENTRY_NONE at the end. */
uint32_t ids_next(const struct session *s, uint64_t hash, size_t *pos);
void ids_insert(struct session *s, uint32_t entry);
/* Only the entry that was inserted last may be removed. */
void ids_remove(struct session *s, uint32_t entry);

void ids_prefetch(const struct session *s, uint64_t hash);

/* ---- memory.c ---- */

/* Asks the system for large pages where a table has grown to some megabytes: far fewer faults. */
void memory_large_pages(void *p, size_t n);

/* ---- session.c ---- */

void session_unlinked_add(struct session *s, uint32_t entry, uint64_t hash);

/* The first of a chain of children that is more than a repair's proposal, of which each has one. */
static inline uint32_t child_from(const struct session *s, uint32_t child)
{
	if (child != ENTRY_NONE && (s->entries[child].flags & ENTRY_PROPOSED))
		child = s->entries[child].next_sibling;
	return child;
}

#endif
