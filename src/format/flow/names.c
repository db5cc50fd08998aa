/*
 * names.c - strings to small numbers: ids, kinds and the other words of a
 * conversation are kept once. The hash has a random key, so that a file can
 * not choose ids that collide.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"

enum { FIRST_SLOTS = 256 };

/* A name's place and some bits of its hash, so that a probe rarely looks at the bytes. */
struct flow_slot {
	uint32_t name; /* + 1; 0: free */
	uint32_t tag;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static uint64_t load(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* Up to 7 bytes. */
static uint64_t load_short(const char *p, size_t n)
{
	uint64_t word = 0;

	for (size_t i = 0; i < n; i++)
		word = word << 8 | (unsigned char)p[i];
	return word;
}

static uint64_t hash(const struct flow_names *names, struct str s)
{
	uint64_t h = names->seed ^ s.n, key = names->seed | 1;
	size_t i = 0;

	if (s.n < sizeof(h))
		return mix(h ^ load_short(s.p, s.n) ^ 0x9E3779B97F4A7C15u, key);
	for (; s.n - i > sizeof(h); i += sizeof(h))
		h = mix(h ^ load(s.p + i), key);
	/* the last eight bytes, which may have been seen in part */
	return mix(h ^ load(s.p + s.n - sizeof(h)) ^ 0x9E3779B97F4A7C15u, key);
}

static struct flow_slot *find_slot(const struct flow_names *names, struct str s, uint64_t h)
{
	size_t i = h & (names->nslots - 1);
	uint32_t tag = (uint32_t)(h >> 32);

	while (names->slot[i].name &&
		(names->slot[i].tag != tag || !str_eq(names->v[names->slot[i].name - 1], s)))
		i = (i + 1) & (names->nslots - 1);
	return &names->slot[i];
}

static void grow(struct flow_names *names)
{
	free(names->slot);
	names->nslots = names->nslots ? names->nslots * 2 : FIRST_SLOTS;
	names->slot = xcalloc(names->nslots, sizeof(*names->slot));
	for (size_t k = 0; k < names->n; k++) {
		uint64_t h = hash(names, names->v[k]);
		size_t i = h & (names->nslots - 1);

		while (names->slot[i].name) /* none is there twice */
			i = (i + 1) & (names->nslots - 1);
		names->slot[i] = (struct flow_slot){ (uint32_t)k + 1, (uint32_t)(h >> 32) };
	}
}

void flow_names_init(struct flow_names *names)
{
	*names = (struct flow_names){ 0 };
	random_bytes(&names->seed, sizeof(names->seed));
	flow_names_add(names, (struct str){ "", 0 }, NULL);
}

void flow_names_release(struct flow_names *names)
{
	arena_free(&names->arena);
	free(names->v);
	free(names->slot);
	*names = (struct flow_names){ 0 };
}

void flow_names_clear(struct flow_names *names)
{
	arena_reset(&names->arena);
	memset(names->slot, 0, names->nslots * sizeof(*names->slot));
	names->n = 0;
	flow_names_add(names, (struct str){ "", 0 }, NULL);
}

uint32_t flow_names_add(struct flow_names *names, struct str s, bool *is_new)
{
	uint64_t h = hash(names, s);
	struct flow_slot *slot;

	if (names->n * 4 >= names->nslots * 3)
		grow(names);
	slot = find_slot(names, s, h);
	if (is_new)
		*is_new = !slot->name;
	if (slot->name)
		return slot->name - 1;
	if (names->n >= FLOW_NONE - 1)
		die("a conversation of over four thousand million names");
	names->v = xgrow(names->v, &names->cap, names->n + 1, sizeof(*names->v));
	names->v[names->n] = arena_keep(&names->arena, s);
	*slot = (struct flow_slot){ (uint32_t)++names->n, (uint32_t)(h >> 32) };
	return slot->name - 1;
}

uint32_t flow_names_find(const struct flow_names *names, struct str s)
{
	const struct flow_slot *slot = find_slot(names, s, hash(names, s));

	return slot->name ? slot->name - 1 : FLOW_NONE;
}
