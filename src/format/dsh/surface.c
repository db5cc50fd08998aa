/*
 * surface.c - what the model sees: the list of surface events as appends and
 * replacements leave it.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define NO_NODE UINT32_MAX

void surface_release(struct surface *sf)
{
	free(sf->v);
	*sf = (struct surface){ .first = NO_NODE, .last = NO_NODE };
}

/* Nodes were added in the order of their seqs. */
static uint32_t find(const struct surface *sf, uint64_t seq)
{
	size_t lo = 0, hi = sf->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (sf->v[mid].seq < seq)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < sf->n && sf->v[lo].seq == seq && !sf->v[lo].is_gone)
		return (uint32_t)lo;
	return NO_NODE;
}

static uint32_t add_node(struct surface *sf, const struct dsh_rec *r)
{
	sf->v = xgrow(sf->v, &sf->cap, sf->n + 1, sizeof(*sf->v));
	sf->v[sf->n] = (struct surface_node){ .seq = (uint32_t)r->seq,
		.prev = NO_NODE,
		.next = NO_NODE,
		.is_tool = r->type == T_TOOL_RESULT };
	return (uint32_t)sf->n++;
}

static void link_behind(struct surface *sf, uint32_t node, uint32_t prev)
{
	uint32_t next = prev == NO_NODE ? sf->first : sf->v[prev].next;

	sf->v[node].prev = prev;
	sf->v[node].next = next;
	if (prev == NO_NODE)
		sf->first = node;
	else
		sf->v[prev].next = node;
	if (next == NO_NODE)
		sf->last = node;
	else
		sf->v[next].prev = node;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t *read_sources(struct str list, size_t *n)
{
	struct buf plain = { 0 };
	struct json_iter it;
	struct str none, value;
	uint64_t *v = NULL, a;
	size_t cap = 0;

	*n = 0;
	if (json_type_of(list) == JSON_LIST)
		ranges_expand(list, &plain);
	json_iter_init(&it, (struct str){ plain.p, plain.n });
	while (json_iter_next(&it, &none, &value))
		if (num_count(value, &a)) {
			v = xgrow(v, &cap, *n + 1, sizeof(*v));
			v[(*n)++] = a;
		}
	if (*n)
		qsort(v, *n, sizeof(*v), by_value);
	buf_release(&plain);
	return v;
}

/* The nodes from a to b, in the order of the surface; NULL when all may go. */
static const char *check_range(const struct surface *sf, const struct dsh_rec *r, uint32_t a,
	uint32_t b, uint32_t *removed)
{
	size_t n;
	uint64_t *sources = read_sources(rec_field(r, K_SOURCES), &n);
	const char *why = NULL;
	uint32_t at = a;

	*removed = 0;
	for (; !why; at = sf->v[at].next) {
		uint64_t seq;

		if (at == NO_NODE) {
			why = "a replacement ends before it starts";
			break;
		}
		seq = sf->v[at].seq;
		(*removed)++;
		if (!n || !bsearch(&seq, sources, n, sizeof(*sources), by_value))
			why = "sourceEventSeqs must include every node that is replaced";
		if (at == b)
			break;
	}
	if (!why && r->type == T_TOOL_RESULT && (a != b || !sf->v[a].is_tool))
		why = "a tool result may replace only one tool result";
	free(sources);
	return why;
}

uint64_t surface_start(const struct dsh_rec *r)
{
	struct str op = rec_field(r, K_OP);
	uint64_t seq;

	if (json_type_of(op) != JSON_OBJECT || !num_count(json_get(op, "start"), &seq))
		return UINT64_MAX;
	return seq;
}

static const char *replace(struct surface *sf, const struct dsh_rec *r, uint64_t start)
{
	uint64_t end = UINT64_MAX;
	uint32_t a, b, node, prev;
	const char *why;

	num_count(json_get(rec_field(r, K_OP), "end"), &end);
	a = find(sf, start);
	b = find(sf, end);
	if (a == NO_NODE || b == NO_NODE)
		return "a replacement names an event that is not on the surface";
	why = check_range(sf, r, a, b, &sf->removed);
	if (why)
		return why;
	prev = sf->v[a].prev;
	for (uint32_t at = a;; at = sf->v[at].next) {
		sf->v[at].is_gone = true;
		if (at == b)
			break;
	}
	if (prev == NO_NODE)
		sf->first = sf->v[b].next;
	else
		sf->v[prev].next = sf->v[b].next;
	if (sf->v[b].next == NO_NODE)
		sf->last = prev;
	else
		sf->v[sf->v[b].next].prev = prev;
	node = add_node(sf, r);
	link_behind(sf, node, prev);
	return NULL;
}

const char *surface_apply(struct surface *sf, const struct dsh_rec *r, uint64_t *start)
{
	const char *why = NULL;

	*start = surface_start(r);
	sf->removed = 0;
	if (sf->n == 0)
		sf->first = sf->last = NO_NODE;
	if (*start != UINT64_MAX && !sf->is_broken) {
		why = replace(sf, r, *start);
		if (!why)
			return NULL;
		sf->is_broken = true;
	}
	if (*start == UINT64_MAX || why)
		link_behind(sf, add_node(sf, r), sf->last);
	return why;
}
