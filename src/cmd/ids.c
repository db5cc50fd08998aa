/*
 * ids.c - short ids: for each of many ids the shortest beginning that no other
 * one shares, so that what a person reads can be typed back.
 */
#include "config.h"

#include "cmd/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"

struct sorted {
	struct str s;
	size_t index;
};

static int by_bytes(const void *pa, const void *pb)
{
	const struct str a = ((const struct sorted *)pa)->s, b = ((const struct sorted *)pb)->s;
	int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

static size_t shared(struct str a, struct str b)
{
	size_t n = 0;

	while (n < a.n && n < b.n && a.p[n] == b.p[n])
		n++;
	return n;
}

static uint32_t needed(struct str s, size_t common, size_t whole)
{
	size_t n = common + 1 > SHORT_ID ? common + 1 : SHORT_ID;

	if (s.n <= whole || n >= s.n)
		return (uint32_t)s.n;
	while (n < s.n && utf8_cut(s.p, n) != n) /* not inside a character */
		n++;
	return (uint32_t)n;
}

void ids_lengths(const struct str *v, size_t n, size_t whole, uint32_t *len)
{
	struct sorted *sorted = xcalloc(n ? n : 1, sizeof(*sorted));
	size_t before = 0;

	for (size_t i = 0; i < n; i++)
		sorted[i] = (struct sorted){ v[i], i };
	qsort(sorted, n, sizeof(*sorted), by_bytes);
	for (size_t i = 0; i < n; i++) {
		size_t after = i + 1 < n ? shared(sorted[i].s, sorted[i + 1].s) : 0;

		len[sorted[i].index] =
			needed(sorted[i].s, before > after ? before : after, whole);
		before = after;
	}
	free(sorted);
}

int ids_init(struct cmd *c, struct short_ids *ids)
{
	uint32_t n = c->s->n;
	struct str *v = xcalloc(n ? n : 1, sizeof(*v));
	struct buf all = { 0 };
	size_t *end = xcalloc(n ? n : 1, sizeof(*end));

	ids->len = xcalloc(n ? n : 1, sizeof(*ids->len));
	for (uint32_t i = 0; i < n; i++) {
		buf_addstr(&all, cmd_id(c, i));
		end[i] = all.n;
	}
	for (uint32_t i = 0; i < n; i++) { /* only now all.p stays where it is */
		size_t from = i ? end[i - 1] : 0;

		v[i] = (struct str){ all.p + from, end[i] - from };
	}
	ids_lengths(v, n, SHORT_ID, ids->len);
	free(v);
	free(end);
	buf_release(&all);
	return c->err.code ? cmd_fail(c) : STATUS_DONE;
}

void ids_release(struct short_ids *ids)
{
	free(ids->len);
	ids->len = NULL;
}

struct str ids_short(struct cmd *c, const struct short_ids *ids, uint32_t entry)
{
	struct str id = cmd_id(c, entry);

	return (struct str){ id.p, id.n < ids->len[entry] ? id.n : ids->len[entry] };
}
