/*
 * ids.c - the keyed hash of entry ids and the table that finds an entry by it.
 *
 * The table is open addressing with linear probing. A slot is 32 bits: the
 * entry's index in the low bits (as many as the table's size needs) and bits
 * of the hash in the rest, so that a probe seldom has to look at an entry that
 * is another one. Ids themselves are not kept; who needs certainty reads them
 * from the file. The key is random, so nobody can choose ids that collide.
 */
#include "config.h"

#include "model/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define SLOT_FREE 0xFFFFFFFFu /* never an index: the table is at most three quarters full */

enum { HASH_BITS_MIN = 6 };

static uint64_t rotl(uint64_t v, int by)
{
	return v << by | v >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] = rotl(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] = rotl(v[2], 32);
}

/* SipHash with one round a word and three at the end. */
uint64_t session_hash(const struct session *s, const void *id, size_t n)
{
	const unsigned char *p = id;
	uint64_t v[4] = { s->key[0] ^ UINT64_C(0x736f6d6570736575), s->key[1] ^ UINT64_C(0x646f72616e646f6d),
		s->key[0] ^ UINT64_C(0x6c7967656e657261), s->key[1] ^ UINT64_C(0x7465646279746573) };
	uint64_t last = (uint64_t)n << 56, word;
	size_t i;

	for (i = 0; i + 8 <= n; i += 8) {
		memcpy(&word, p + i, 8);
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	for (int shift = 0; i < n; i++, shift += 8)
		last |= (uint64_t)p[i] << shift;
	v[3] ^= last;
	sip_round(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (int k = 0; k < 3; k++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint32_t slot_tag(const struct session *s, uint64_t hash)
{
	return (uint32_t)((hash >> 32 >> s->hash_bits) << s->hash_bits);
}

static void table_put(struct session *s, uint32_t entry)
{
	uint64_t hash = s->entries[entry].idhash;
	size_t mask = s->hash_cap - 1, pos = hash & mask;

	while (s->hash[pos] != SLOT_FREE)
		pos = (pos + 1) & mask;
	s->hash[pos] = slot_tag(s, hash) | entry;
}

static void table_grow(struct session *s)
{
	s->hash_bits = s->hash_bits ? s->hash_bits + 1 : HASH_BITS_MIN;
	s->hash_cap = (size_t)1 << s->hash_bits;
	/* The old slots are not needed: entries are put in again in the order they came. */
	free(s->hash);
	s->hash = xmalloc(s->hash_cap * sizeof(*s->hash));
	memory_large_pages(s->hash, s->hash_cap * sizeof(*s->hash));
	memset(s->hash, 0xff, s->hash_cap * sizeof(*s->hash));
	for (uint32_t i = 0; i < s->n; i++)
		table_put(s, i);
}

uint32_t ids_next(const struct session *s, uint64_t hash, size_t *pos)
{
	size_t mask = s->hash_cap - 1;
	uint32_t index_mask = (uint32_t)mask, tag = slot_tag(s, hash);

	if (!s->hash_cap)
		return ENTRY_NONE;
	for (;;) {
		uint32_t slot = s->hash[(hash + *pos) & mask];

		if (slot == SLOT_FREE)
			return ENTRY_NONE;
		(*pos)++;
		if ((slot & ~index_mask) == tag && s->entries[slot & index_mask].idhash == hash)
			return slot & index_mask;
	}
}

void ids_prefetch(const struct session *s, uint64_t hash)
{
	if (s->hash_cap)
		__builtin_prefetch(&s->hash[hash & (s->hash_cap - 1)], 1);
}

/* Called before s->n counts the entry. */
void ids_insert(struct session *s, uint32_t entry)
{
	if (entry + (uint64_t)1 > s->hash_cap / 4 * 3)
		table_grow(s);
	table_put(s, entry);
}

/*
 * Taking back the newest entry puts the table exactly where it was: slots are
 * filled in the order of the entries, also when the table grows, so no later
 * entry can have been pushed on by this one.
 */
void ids_remove(struct session *s, uint32_t entry)
{
	uint64_t hash = s->entries[entry].idhash;
	size_t mask = s->hash_cap - 1, pos = hash & mask;
	uint32_t slot = slot_tag(s, hash) | entry;

	while (s->hash[pos] != slot)
		pos = (pos + 1) & mask;
	s->hash[pos] = SLOT_FREE;
}
