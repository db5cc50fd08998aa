/*
 * arena.c - blocks of memory that are freed together. It owns the blocks and
 * nothing that the caller puts into them.
 */
#include "config.h"

#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

enum { BLOCK_FIRST = 4 << 10, BLOCK_MAX = 1 << 20 };

struct arena_block {
	struct arena_block *next;
	size_t size, used; /* of data */
	_Alignas(max_align_t) char data[];
};

static struct arena_block *block_new(size_t size)
{
	struct arena_block *b;

	if (size > SIZE_MAX - sizeof(*b))
		die("out of memory (%zu bytes)", size);
	b = xmalloc(sizeof(*b) + size);
	b->next = NULL;
	b->size = size;
	b->used = 0;
	return b;
}

/* Blocks double, so that an arena of n bytes has O(log n) of them until they are large. */
static struct arena_block *block_for(struct arena *a, size_t n)
{
	size_t size = a->head ? a->head->size * 2 : BLOCK_FIRST;
	struct arena_block *b;

	if (size > BLOCK_MAX)
		size = BLOCK_MAX;
	if (a->head && n > size / 4) {
		/* Behind the head: what is left of the head stays in use. */
		b = block_new(n);
		b->next = a->head->next;
		a->head->next = b;
		return b;
	}
	b = block_new(n > size ? n : size);
	b->next = a->head;
	a->head = b;
	return b;
}

void *arena_alloc(struct arena *a, size_t n)
{
	const size_t align = _Alignof(max_align_t);
	struct arena_block *b = a->head;
	void *p;

	if (n > SIZE_MAX - align)
		die("out of memory (%zu bytes)", n);
	n = n ? (n + align - 1) / align * align : align;
	if (!b || b->size - b->used < n)
		b = block_for(a, n);
	p = b->data + b->used;
	b->used += n;
	a->used += n;
	return p;
}

void *arena_zalloc(struct arena *a, size_t n)
{
	return memset(arena_alloc(a, n), 0, n);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *copy = arena_alloc(a, n + 1);

	if (n)
		memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

struct str arena_keep(struct arena *a, struct str s)
{
	return (struct str){ arena_strndup(a, s.n ? s.p : "", s.n), s.n };
}

struct str arena_take(struct arena *a, struct buf *b)
{
	struct str s = arena_keep(a, buf_str(b));

	buf_release(b);
	return s;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;
	char *s;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		die("cannot format a text");
	s = arena_alloc(a, (size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}

static void free_chain(struct arena_block *b)
{
	while (b) {
		struct arena_block *next = b->next;

		free(b);
		b = next;
	}
}

void arena_reset(struct arena *a)
{
	if (a->head) {
		free_chain(a->head->next);
		a->head->next = NULL;
		a->head->used = 0;
	}
	a->used = 0;
}

void arena_free(struct arena *a)
{
	free_chain(a->head);
	a->head = NULL;
	a->used = 0;
}
