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

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static uint64_t hash(const struct flow_names *names, struct str s)
{
	uint64_t h = names->seed ^ s.n;
	uint64_t word;

	while (s.n >= sizeof(word)) {
		memcpy(&word, s.p, sizeof(word));
		h = mix(h ^ word, names->seed | 1);
		s.p += sizeof(word);
		s.n -= sizeof(word);
	}
	word = 0;
	if (s.n)
		memcpy(&word, s.p, s.n);
	return mix(h ^ word ^ 0x9E3779B97F4A7C15u, names->seed | 1);
}

static size_t find_slot(const struct flow_names *names, struct str s)
{
	size_t i = hash(names, s) & (names->nslots - 1);

	while (names->slot[i] && !str_eq(names->v[names->slot[i] - 1], s))
		i = (i + 1) & (names->nslots - 1);
	return i;
}

static void grow(struct flow_names *names)
{
	free(names->slot);
	names->nslots = names->nslots ? names->nslots * 2 : FIRST_SLOTS;
	names->slot = xcalloc(names->nslots, sizeof(*names->slot));
	for (size_t i = 0; i < names->n; i++)
		names->slot[find_slot(names, names->v[i])] = (uint32_t)i + 1;
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

uint32_t flow_names_add(struct flow_names *names, struct str s, bool *is_new)
{
	size_t slot;

	if (names->n * 4 >= names->nslots * 3)
		grow(names);
	slot = find_slot(names, s);
	if (is_new)
		*is_new = !names->slot[slot];
	if (names->slot[slot])
		return names->slot[slot] - 1;
	if (names->n >= FLOW_NONE - 1)
		die("a conversation of over four thousand million names");
	names->v = xgrow(names->v, &names->cap, names->n + 1, sizeof(*names->v));
	names->v[names->n] = (struct str){ arena_strndup(&names->arena, s.n ? s.p : "", s.n), s.n };
	names->slot[slot] = (uint32_t)++names->n;
	return names->slot[slot] - 1;
}

uint32_t flow_names_find(const struct flow_names *names, struct str s)
{
	size_t slot = find_slot(names, s);

	return names->slot[slot] ? names->slot[slot] - 1 : FLOW_NONE;
}
