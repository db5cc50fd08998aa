/*
 * tree-check.c - checks of a loaded tree session that need no expected answer.
 */
#include "config.h"

#include "tests/lib/tree-check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* These take bytes away; the other kinds are about an entry that is there. */
static bool takes_bytes(const struct problem *p)
{
	return strcmp(p->kind, "torn-tail") == 0 || strcmp(p->kind, "bad-json") == 0 ||
		strcmp(p->kind, "bad-entry") == 0 || strcmp(p->kind, "duplicate-id") == 0;
}

static bool cover(char *map, size_t n, uint64_t off, uint64_t len)
{
	if (off > n || len > n - off)
		return false;
	for (uint64_t i = off; i < off + len; i++) {
		if (map[i])
			return false;
		map[i] = 1;
	}
	return true;
}

static bool is_between(const char *p, size_t i, size_t n)
{
	if (i < 3 && n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
		return true;
	return p[i] == ' ' || p[i] == '\t' || p[i] == '\r' || p[i] == '\n';
}

static const char *check_ends(const struct session *s, size_t n)
{
	const struct problem *torn = NULL;

	for (size_t i = 0; i < s->problems.n; i++)
		if (strcmp(s->problems.v[i].kind, "torn-tail") == 0)
			torn = &s->problems.v[i];
	if (s->size != n)
		return "the size is not that of the file";
	if ((torn != NULL) != s->is_torn)
		return "is_torn without a torn tail, or the other way round";
	if (s->committed != (torn ? torn->offset : n))
		return "committed is not where the torn tail begins";
	return NULL;
}

const char *tree_check_bytes(const struct session *s, const char *p, size_t n)
{
	char *map = xcalloc(n + 1, 1);
	const char *wrong = check_ends(s, n);

	for (uint32_t i = 0; i < s->n && !wrong; i++)
		if (!cover(map, n, s->entries[i].off, s->entries[i].len))
			wrong = "two entries hold one byte, or one is outside of the file";
	for (size_t i = 0; i < s->problems.n && !wrong; i++) {
		const struct problem *pr = &s->problems.v[i];

		if (takes_bytes(pr) && !cover(map, n, pr->offset, pr->length))
			wrong = "a problem takes bytes that are an entry's or another's";
	}
	for (size_t i = 0; i < n && !wrong && !s->problems.more; i++)
		if (!map[i] && !is_between(p, i, n))
			wrong = "a byte is in no entry and no problem";
	free(map);
	return wrong;
}

static const char *check_chain(const struct session *s, uint32_t parent, uint32_t first, uint32_t *n)
{
	uint32_t before = ENTRY_NONE;

	for (uint32_t i = first; i != ENTRY_NONE; i = s->entries[i].next_sibling, (*n)++) {
		if (i >= s->n)
			return "a link leads out of the entries";
		if (s->entries[i].parent != parent)
			return "a child has another parent";
		if (before != ENTRY_NONE && i <= before)
			return "children are not in file order";
		before = i;
	}
	return NULL;
}

static const char *check_reach(const struct session *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t steps = 0;

		for (uint32_t at = i; at != ENTRY_NONE; at = s->entries[at].parent)
			if (steps++ > s->n)
				return "parents lead in a circle";
	}
	return NULL;
}

const char *tree_check_links(struct session *s)
{
	uint32_t roots = 0, all = 0, leaves = 0, forks = 0;
	const char *wrong = check_chain(s, ENTRY_NONE, s->roots_first, &roots);
	struct buf id = { 0 };

	all = roots;
	for (uint32_t i = 0; i < s->n && !wrong; i++) {
		uint32_t before = all;

		wrong = check_chain(s, i, s->entries[i].first_child, &all);
		leaves += all == before;
		forks += all > before + 1;
		buf_clear(&id);
		if (!wrong && s->ops->id(s, i, &id, NULL) < 0)
			wrong = "an id can not be read";
		else if (!wrong && session_find(s, (struct str){ id.p, id.n }) != i)
			wrong = "an entry is not found by its id";
	}
	buf_release(&id);
	if (!wrong && (all != s->n || roots != s->nroots || leaves != s->nleaves || forks != s->nforks))
		wrong = "the counts are not those of the links";
	if (!wrong && s->n < 2000)
		wrong = check_reach(s);
	return wrong;
}

static void dump_entry(struct session *s, uint32_t i, struct buf *out)
{
	const struct entry *e = &s->entries[i];

	buf_printf(out, "%u: %" PRIu64 "+%u line %" PRIu64 " parent %d child %d next %d kind %d "
		"flags %x spare %u time %" PRId64 " id ", i, e->off, e->len, session_line(s, i),
		(int)e->parent, (int)e->first_child, (int)e->next_sibling, e->kind,
		e->flags & ~ENTRY_NEW, e->spare, e->time);
	s->ops->id(s, i, out, NULL);
	buf_addc(out, '\n');
}

void tree_check_dump(struct session *s, struct buf *out)
{
	for (uint32_t i = 0; i < s->n; i++)
		dump_entry(s, i, out);
	buf_printf(out, "roots %d (%u) leaves %u forks %u tip %d rule %d last %d\n",
		(int)s->roots_first, s->nroots, s->nleaves, s->nforks, (int)s->tip, s->tip_rule,
		(int)s->last_entry);
	buf_printf(out, "size %" PRIu64 " committed %" PRIu64 " torn %d complete %d times %" PRId64
		" %" PRId64 "\n", s->size, s->committed, s->is_torn, s->is_complete, s->first_time,
		s->last_time);
	for (size_t i = 0; i < s->problems.n; i++) {
		const struct problem *p = &s->problems.v[i];

		buf_printf(out, "%s line %" PRIu64 " %" PRIu64 "+%" PRIu64 " entry %d: %s\n", p->kind,
			p->line, p->offset, p->length, (int)p->entry, p->message);
	}
	buf_printf(out, "more %" PRIu64 "\n", s->problems.more);
}
