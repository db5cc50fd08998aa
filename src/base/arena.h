/*
 * arena.h - memory that is freed together.
 *
 * One arena a loaded session, one scratch arena a loop turn. Blocks are
 * aligned for any type. Nothing in a longer-lived arena may point into a
 * shorter-lived one. A zeroed struct arena is an empty arena.
 */
#ifndef BOUGH_BASE_ARENA_H
#define BOUGH_BASE_ARENA_H

#include <stddef.h>

#include "base/buf.h"

struct arena_block;
struct arena {
	struct arena_block *head;
	size_t used;  /* bytes handed out */
};

void *arena_alloc(struct arena *a, size_t n);  /* not cleared */
void *arena_zalloc(struct arena *a, size_t n);
char *arena_strndup(struct arena *a, const char *s, size_t n); /* adds a NUL */
char *arena_strdup(struct arena *a, const char *s);
/* A copy with a NUL behind it; p is never NULL. */
struct str arena_keep(struct arena *a, struct str s);
struct str arena_take(struct arena *a, struct buf *b); /* the same of what is in b, which is released */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_reset(struct arena *a); /* frees all but the newest block */
void arena_free(struct arena *a);

#define arena_new(a, type) ((type *)arena_zalloc((a), sizeof(type)))

#endif
