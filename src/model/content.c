/*
 * content.c - the list of parts that an entry is shown as. What the parts hold
 * is decoded by the formats.
 */
#include "config.h"

#include "model/content.h"

#include <string.h>

#include "model/session.h"

struct part *content_add(struct content *c, struct arena *a, enum part_kind kind)
{
	struct part *part;

	if (c->n == c->cap) {
		size_t cap = c->cap ? c->cap * 2 : 8;
		struct part *v = arena_alloc(a, cap * sizeof(*v));

		if (c->n)
			memcpy(v, c->v, c->n * sizeof(*v));
		c->v = v;
		c->cap = cap;
	}
	part = &c->v[c->n++];
	*part = (struct part){ .kind = kind, .entry = ENTRY_NONE };
	return part;
}
