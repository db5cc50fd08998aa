/*
 * view.c - the fold as of a round: which versions are live, in the order of
 * their ids, and the relations by their ends.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* ---- the order of words ---- */

struct worded {
	struct str s;
	uint32_t word;
};

static int by_bytes(const void *a, const void *b)
{
	return str_order(((const struct worded *)a)->s, ((const struct worded *)b)->s);
}

const struct flow_order *flow_order_of(const struct flow_conversation *c)
{
	struct flow_order *order = c->order;
	struct worded *v;

	if (order->n == c->names.n)
		return order;
	free(order->at);
	free(order->rank);
	order->n = c->names.n;
	order->at = xcalloc(order->n, sizeof(*order->at));
	order->rank = xcalloc(order->n, sizeof(*order->rank));
	v = xcalloc(order->n, sizeof(*v));
	for (uint32_t i = 0; i < order->n; i++)
		v[i] = (struct worded){ c->names.v[i], i };
	qsort(v, order->n, sizeof(*v), by_bytes);
	for (uint32_t i = 0; i < order->n; i++) {
		order->at[i] = v[i].word;
		order->rank[v[i].word] = i;
	}
	free(v);
	return order;
}

void flow_order_free(struct flow_order **op)
{
	struct flow_order *order = *op;

	if (!order)
		return;
	free(order->at);
	free(order->rank);
	free(order);
	*op = NULL;
}

/* ---- views ---- */

/* What a relation is sorted by: the ranks of its end and of its id. */
struct keyed {
	uint64_t key;
	uint32_t version;
};

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* The newest version of an id that the first `rounds` rounds have. */
static uint32_t live_version(
	const struct flow_conversation *c, enum flow_map map, uint32_t id, uint32_t rounds)
{
	uint32_t at = id < c->newest_cap && c->newest[map][id] ? c->newest[map][id] - 1 : FLOW_NONE;

	while (at != FLOW_NONE && c->versions[at].round >= rounds)
		at = c->versions[at].older;
	return at == FLOW_NONE || c->versions[at].is_tombstone ? FLOW_NONE : at;
}

static void make_map(struct flow_view *view, enum flow_map map)
{
	const struct flow_conversation *c = view->c;
	const struct flow_order *order = flow_order_of(c);
	uint32_t n = 0;

	view->live[map] = xcalloc(order->n, sizeof(uint32_t));
	for (size_t i = 0; i < order->n; i++) {
		uint32_t at = live_version(c, map, order->at[i], view->rounds);

		if (at != FLOW_NONE)
			view->live[map][n++] = at;
	}
	view->n[map] = n;
}

static uint32_t *by_end(const struct flow_view *view, bool to)
{
	const struct flow_conversation *c = view->c;
	const uint32_t *rank = flow_order_of(c)->rank;
	uint32_t n = view->n[FLOW_RELATIONS], *list = xcalloc((size_t)n + 1, sizeof(*list));
	struct keyed *v = xcalloc((size_t)n + 1, sizeof(*v));

	for (uint32_t i = 0; i < n; i++) {
		const struct flow_version *r = &c->versions[view->live[FLOW_RELATIONS][i]];

		v[i].key = (uint64_t)rank[to ? r->b : r->a] << 32 | rank[r->id];
		v[i].version = view->live[FLOW_RELATIONS][i];
	}
	if (n)
		qsort(v, n, sizeof(*v), by_key);
	for (uint32_t i = 0; i < n; i++)
		list[i] = v[i].version;
	free(v);
	return list;
}

void flow_view_make(struct flow_view *view, const struct flow_conversation *c, uint32_t rounds)
{
	*view = (struct flow_view){ .c = c, .rounds = rounds < c->folded ? rounds : c->folded };
	for (int i = 0; i < FLOW_MAPS; i++)
		make_map(view, (enum flow_map)i);
	view->from = by_end(view, false);
	view->to = by_end(view, true);
}

void flow_view_release(struct flow_view *view)
{
	for (int i = 0; i < FLOW_MAPS; i++)
		free(view->live[i]);
	free(view->from);
	free(view->to);
	*view = (struct flow_view){ 0 };
}

uint32_t flow_view_find(const struct flow_view *view, enum flow_map map, struct str id)
{
	uint32_t word = flow_names_find(&view->c->names, id);

	return word == FLOW_NONE ? FLOW_NONE : live_version(view->c, map, word, view->rounds);
}

/* The first of the sorted relations whose end is not before the word, or, `behind`, is behind it. */
static uint32_t bound(const struct flow_view *view, bool to, uint32_t word, bool behind)
{
	const struct flow_conversation *c = view->c;
	const uint32_t *rank = flow_order_of(c)->rank;
	const uint32_t *list = to ? view->to : view->from;
	uint32_t low = 0, high = view->n[FLOW_RELATIONS];

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct flow_version *r = &c->versions[list[mid]];
		uint32_t end = to ? r->b : r->a;

		if (rank[end] < rank[word] || (behind && end == word))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const uint32_t *flow_relations_at(const struct flow_view *view, uint32_t id, bool to, uint32_t *n)
{
	uint32_t first = bound(view, to, id, false);

	*n = bound(view, to, id, true) - first;
	return (to ? view->to : view->from) + first;
}
