/*
 * view.c - the fold as of a round: which versions are live, in the order of
 * their ids, and the relations by their ends.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* Sorting compares words of the conversation; qsort_r is not everywhere. */
struct keyed {
	const struct str *key, *then;
	uint32_t version;
};

static int by_bytes(const struct str *a, const struct str *b)
{
	return str_order(*a, *b);
}

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	int order = by_bytes(x->key, y->key);

	return order || !x->then ? order : by_bytes(x->then, y->then);
}

/* The newest version of an id that the first `rounds` rounds have. */
static uint32_t live_version(const struct flow_conversation *c, enum flow_map map, uint32_t id, uint32_t rounds)
{
	uint32_t at = id < c->newest_cap && c->newest[map][id] ? c->newest[map][id] - 1 : FLOW_NONE;

	while (at != FLOW_NONE && c->versions[at].round >= rounds)
		at = c->versions[at].older;
	return at == FLOW_NONE || c->versions[at].is_tombstone ? FLOW_NONE : at;
}

static uint32_t *sorted(struct keyed *v, uint32_t n)
{
	uint32_t *list = xcalloc(n ? n : 1, sizeof(*list));

	if (n)
		qsort(v, n, sizeof(*v), by_key);
	for (uint32_t i = 0; i < n; i++)
		list[i] = v[i].version;
	return list;
}

static void make_map(struct flow_view *view, enum flow_map map, struct keyed *v)
{
	const struct flow_conversation *c = view->c;
	uint32_t n = 0;

	for (uint32_t id = 0; id < c->names.n; id++) {
		uint32_t at = live_version(c, map, id, view->rounds);

		if (at != FLOW_NONE)
			v[n++] = (struct keyed){ .key = &c->names.v[id], .version = at };
	}
	view->live[map] = sorted(v, n);
	view->n[map] = n;
}

static uint32_t *by_end(const struct flow_view *view, bool to, struct keyed *v)
{
	const struct flow_conversation *c = view->c;

	for (uint32_t i = 0; i < view->n[FLOW_RELATIONS]; i++) {
		const struct flow_version *r = &c->versions[view->live[FLOW_RELATIONS][i]];

		v[i] = (struct keyed){ .key = &c->names.v[to ? r->b : r->a], .then = &c->names.v[r->id],
			.version = view->live[FLOW_RELATIONS][i] };
	}
	return sorted(v, view->n[FLOW_RELATIONS]);
}

void flow_view_make(struct flow_view *view, const struct flow_conversation *c, uint32_t rounds)
{
	struct keyed *v = xcalloc(c->names.n, sizeof(*v));

	*view = (struct flow_view){ .c = c, .rounds = rounds < c->folded ? rounds : c->folded };
	for (int i = 0; i < FLOW_MAPS; i++)
		make_map(view, (enum flow_map)i, v);
	/* there is a name for each relation, so that v holds them all */
	view->from = by_end(view, false, v);
	view->to = by_end(view, true, v);
	free(v);
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

/* The first of the sorted relations whose end is not before (or, with `behind`, is behind) the key. */
static uint32_t bound(const struct flow_view *view, bool to, const struct str *key, bool behind)
{
	const struct flow_conversation *c = view->c;
	const uint32_t *list = to ? view->to : view->from;
	uint32_t low = 0, high = view->n[FLOW_RELATIONS];

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct flow_version *r = &c->versions[list[mid]];
		int order = by_bytes(&c->names.v[to ? r->b : r->a], key);

		if (order < 0 || (behind && order == 0))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const uint32_t *flow_relations_at(const struct flow_view *view, uint32_t id, bool to, uint32_t *n)
{
	const struct str *key = &view->c->names.v[id];
	uint32_t first = bound(view, to, key, false);

	*n = bound(view, to, key, true) - first;
	return (to ? view->to : view->from) + first;
}
