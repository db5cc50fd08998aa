/*
 * session.c - filling a session: entries, metadata, labels, and taking back
 * entries that turned out to be none. Links are made in session-link.c,
 * questions are answered in session-ask.c, ids are found in ids.c.
 */
#include "config.h"

#include "model/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "model/internal.h"

enum { RESERVE_MAX = 4 << 20 }; /* entries; a guess shall not ask for more */

struct session *session_new(const char *format, const char *id, const char *path)
{
	struct session *s = xcalloc(1, sizeof(*s));

	s->format = format;
	s->id = arena_strdup(&s->arena, id);
	s->path = arena_strdup(&s->arena, path);
	s->roots_first = s->tip = s->last_entry = ENTRY_NONE;
	s->first_time = s->last_time = INT64_MIN;
	random_bytes(s->key, sizeof(s->key));
	return s;
}

void session_free(struct session **sp)
{
	struct session *s = *sp;

	if (!s)
		return;
	if (s->ops && s->ops->free)
		s->ops->free(s);
	free(s->entries);
	free(s->hash);
	free(s->unlinked);
	free(s->runs);
	free(s->meta);
	free(s->labels);
	buf_release(&s->last_id);
	problem_release(&s->problems);
	arena_free(&s->arena);
	free(s);
	*sp = NULL;
}

/* ---- entries ---- */

/* Hashes can be equal by chance; only the bytes tell. An id that can not be read counts as equal. */
static bool id_is(struct session *s, uint32_t entry, struct str id)
{
	struct buf have = { 0 };
	bool same = true;

	if (s->ops && s->ops->id && s->ops->id(s, entry, &have, NULL) == 0)
		same = str_eq((struct str){ have.p, have.n }, id);
	buf_release(&have);
	return same;
}

uint32_t session_find(struct session *s, struct str id)
{
	uint64_t hash = session_hash(s, id.p, id.n);
	size_t pos = 0;
	uint32_t entry;

	while ((entry = ids_next(s, hash, &pos)) != ENTRY_NONE)
		if (id_is(s, entry, id))
			return entry;
	return ENTRY_NONE;
}

void session_unlinked_add(struct session *s, uint32_t entry, uint64_t hash)
{
	s->unlinked = xgrow(s->unlinked, &s->unlinked_cap, s->nunlinked + 1, sizeof(*s->unlinked));
	s->unlinked[s->nunlinked++] = (struct unlinked){ .hash = hash, .entry = entry };
}

/* Lines count up with the entries but for blank and bad ones: only the jumps are kept. */
static void note_line(struct session *s, uint32_t entry, uint64_t line)
{
	const struct line_run *run = s->nruns ? &s->runs[s->nruns - 1] : NULL;

	if (!line || (run && run->line + (entry - run->entry) == line))
		return;
	s->runs = xgrow(s->runs, &s->runs_cap, s->nruns + 1, sizeof(*s->runs));
	s->runs[s->nruns++] = (struct line_run){ .line = line, .entry = entry };
}

static void note_time(struct session *s, int64_t time)
{
	if (time == INT64_MIN)
		return;
	if (s->first_time == INT64_MIN || time < s->first_time)
		s->first_time = time;
	if (s->last_time == INT64_MIN || time > s->last_time)
		s->last_time = time;
}

/*
 * Nearly always the parent is the entry before, whose id is at hand. Others
 * are found by their hash alone: with 64 keyed bits a wrong one is out of
 * reach, and reading the file for each fork would cost more than the load.
 */
static uint32_t find_parent(struct session *s, struct str parent, uint64_t *hash)
{
	size_t pos = 0;

	if (s->n && parent.n == s->last_id.n && memcmp(parent.p, s->last_id.p, parent.n) == 0)
		return s->n - 1;
	*hash = session_hash(s, parent.p, parent.n);
	return ids_next(s, *hash, &pos);
}

static bool id_fits(const struct entry_in *in)
{
	return !(in->flags & ENTRY_ID_SLOW) && in->id.n <= UINT8_MAX && in->id_off <= UINT16_MAX;
}

static struct entry *room_for_entry(struct session *s)
{
	size_t before = s->cap;

	s->entries = xgrow(s->entries, &s->cap, (size_t)s->n + 1, sizeof(*s->entries));
	if (s->cap != before)
		memory_large_pages(s->entries, s->cap * sizeof(*s->entries));
	return &s->entries[s->n];
}

void session_reserve(struct session *s, size_t n)
{
	if (n <= s->cap || n > RESERVE_MAX)
		return;
	s->entries = xrealloc(s->entries, n, sizeof(*s->entries));
	s->cap = n;
	memory_large_pages(s->entries, s->cap * sizeof(*s->entries));
}

uint64_t session_expect(const struct session *s, struct str id)
{
	uint64_t hash = session_hash(s, id.p, id.n);

	ids_prefetch(s, hash);
	return hash;
}

uint32_t session_add(struct session *s, const struct entry_in *in)
{
	uint64_t parent_hash = 0;
	uint32_t entry = s->n;
	struct entry *e;

	if (s->n >= SESSION_MAX_ENTRIES)
		return ENTRY_NONE;
	e = room_for_entry(s);
	*e = (struct entry){ .off = in->off,
		.len = in->len,
		.idhash = in->idhash ? in->idhash : session_hash(s, in->id.p, in->id.n),
		.time = in->time,
		.parent = ENTRY_NONE,
		.first_child = ENTRY_NONE,
		.next_sibling = ENTRY_NONE,
		.kind = (uint8_t)in->kind,
		.flags = (uint16_t)in->flags,
		.spare = in->spare };
	for (size_t pos = 0;;) {
		uint32_t same = ids_next(s, e->idhash, &pos);

		if (same == ENTRY_NONE)
			break;
		if (id_is(s, same, in->id))
			return ENTRY_NONE;
	}
	if (id_fits(in)) {
		e->id_off = (uint16_t)in->id_off;
		e->id_len = (uint8_t)in->id.n;
	} else {
		e->flags |= ENTRY_ID_SLOW;
	}
	if (in->parent.p) {
		e->parent = find_parent(s, in->parent, &parent_hash);
		if (e->parent == ENTRY_NONE) {
			e->flags |= ENTRY_PENDING;
			session_unlinked_add(s, entry, parent_hash);
		}
	}
	ids_insert(s, entry);
	s->n++;
	buf_clear(&s->last_id);
	buf_addstr(&s->last_id, in->id);
	if (!(in->flags & (ENTRY_KIN | ENTRY_PROPOSED)))
		s->last_entry = entry;
	note_line(s, entry, in->line);
	note_time(s, in->time);
	return entry;
}

void session_reopen(struct session *s)
{
	s->is_complete = false;
}

void session_mark(const struct session *s, uint64_t offset, struct session_mark *m)
{
	*m = (struct session_mark){ .n = s->n,
		.first_time = s->first_time,
		.last_time = s->last_time,
		.offset = offset,
		.problems_more = s->problems.more };
}

/* Entries that stay forget parents that go; they wait for them again by the hash. */
static void unlink_children(struct session *s, uint32_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nunlinked; i++)
		if (s->unlinked[i].entry < n)
			s->unlinked[kept++] = s->unlinked[i];
	s->nunlinked = kept;
	if (!s->has_forward)
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct entry *e = &s->entries[i];

		if (e->parent == ENTRY_NONE || e->parent < n)
			continue;
		session_unlinked_add(s, i, s->entries[e->parent].idhash);
		e->parent = ENTRY_NONE;
		e->flags |= ENTRY_PENDING;
	}
}

static void drop_labels(struct session *s, uint32_t n)
{
	while (s->nlabels && s->labels[s->nlabels - 1].entry >= n)
		s->nlabels--;
}

void session_rewind(struct session *s, const struct session_mark *m)
{
	unlink_children(s, m->n);
	drop_labels(s, m->n);
	while (s->n > m->n) {
		ids_remove(s, s->n - 1);
		s->n--;
	}
	while (s->nruns && s->runs[s->nruns - 1].entry >= m->n)
		s->nruns--;
	buf_clear(&s->last_id);
	s->linked = 0;
	s->roots_first = ENTRY_NONE;
	s->last_entry = session_own(s) ? session_own(s) - 1 : ENTRY_NONE;
	if (s->tip != ENTRY_NONE && s->tip >= m->n)
		s->tip = s->last_entry;
	s->first_time = m->first_time;
	s->last_time = m->last_time;
	problem_drop_from(&s->problems, m->offset);
	s->problems.more = m->problems_more;
	s->link_more = 0;
}

/* ---- metadata and labels ---- */

void session_set_meta(struct session *s, const char *key, struct str value)
{
	struct str copy = { arena_strndup(&s->arena, value.p ? value.p : "", value.n), value.n };

	for (size_t i = 0; i < s->nmeta; i++) {
		if (strcmp(s->meta[i].key, key) == 0) {
			s->meta[i].value = copy;
			return;
		}
	}
	s->meta = xgrow(s->meta, &s->meta_cap, s->nmeta + 1, sizeof(*s->meta));
	s->meta[s->nmeta++] = (struct meta){ .key = arena_strdup(&s->arena, key), .value = copy };
}

void session_clear_meta(struct session *s)
{
	s->nmeta = 0;
}

const struct str *session_meta(const struct session *s, const char *key)
{
	for (size_t i = 0; i < s->nmeta; i++)
		if (strcmp(s->meta[i].key, key) == 0)
			return &s->meta[i].value;
	return NULL;
}

/* The place of the entry's label in the list, or where it would be put: sorted by entry. */
static size_t label_place(const struct session *s, uint32_t entry)
{
	size_t lo = 0, hi = s->nlabels;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->labels[mid].entry < entry)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct label *session_label(const struct session *s, uint32_t entry)
{
	size_t at = label_place(s, entry);

	return at < s->nlabels && s->labels[at].entry == entry ? &s->labels[at] : NULL;
}

static void label_remove(struct session *s, size_t at)
{
	s->entries[s->labels[at].entry].flags &= (uint16_t)~ENTRY_LABELLED;
	memmove(&s->labels[at], &s->labels[at + 1], (s->nlabels - at - 1) * sizeof(*s->labels));
	s->nlabels--;
}

void session_set_label(struct session *s, uint32_t entry, struct str text, int64_t at)
{
	size_t place = label_place(s, entry);
	bool is_there = place < s->nlabels && s->labels[place].entry == entry;

	if (entry >= s->n)
		return;
	if (!text.n) {
		if (is_there)
			label_remove(s, place);
		return;
	}
	if (!is_there) {
		s->labels = xgrow(s->labels, &s->labels_cap, s->nlabels + 1, sizeof(*s->labels));
		memmove(&s->labels[place + 1], &s->labels[place],
			(s->nlabels - place) * sizeof(*s->labels));
		s->nlabels++;
	}
	s->labels[place] = (struct label){ .entry = entry,
		.text = { arena_strndup(&s->arena, text.p, text.n), text.n },
		.at = at };
	s->entries[entry].flags |= ENTRY_LABELLED;
}
