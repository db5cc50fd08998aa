/*
 * outline.c - the nodes of a view as a tree in display order. Never by time;
 * never by recursion. Nodes whose parents form a cycle are reached from no
 * root and are left out.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

struct item {
	const struct flow_version *v;
	struct flow_place place; /* of it, so that sorting does not run about in memory */
	uint32_t id;             /* rank, for the order: a card goes by the call that it names */
	uint32_t own;            /* rank of its own id */
	uint32_t version;
	uint32_t parent;         /* its place in the view, or FLOW_NONE */
	bool is_card;
};

static int order_of(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_place(const struct flow_place *a, const struct flow_place *b)
{
	int order = (int)b->is_set - (int)a->is_set;

	if (!order)
		order = order_of(a->seq, b->seq);
	if (!order)
		order = order_of(a->row, b->row);
	if (!order)
		order = (int)a->has_block - (int)b->has_block;
	return order ? order : (a->block > b->block) - (a->block < b->block);
}

static int by_display(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = order_of(x->parent, y->parent);

	if (!order)
		order = by_place(&x->place, &y->place);
	if (!order)
		order = order_of(x->id, y->id);
	if (!order)
		order = (int)y->is_card - (int)x->is_card;
	return order ? order : order_of(x->own, y->own);
}

/* By parent and place, with llm.calls only. */
static int by_call(const void *a, const void *b)
{
	const struct flow_version *x = *(const struct flow_version *const *)a;
	const struct flow_version *y = *(const struct flow_version *const *)b;
	int order = order_of(x->a, y->a);

	return order ? order : by_place(&x->place, &y->place);
}

/* Cards that name no call: the call with the same parent and the same place. */
static void name_cards(const struct flow_view *view, struct item *v, uint32_t n)
{
	const struct flow_conversation *c = view->c;
	const struct flow_version **calls = xcalloc(n ? n : 1, sizeof(*calls));
	uint32_t ncalls = 0;

	for (uint32_t i = 0; i < n; i++)
		if (str_eqs(flow_word(c, v[i].v->kind), "llm.call"))
			calls[ncalls++] = v[i].v;
	if (ncalls)
		qsort(calls, ncalls, sizeof(*calls), by_call);
	for (uint32_t i = 0; i < n; i++) {
		const struct flow_version *const *found = NULL;

		if (v[i].is_card && v[i].v->c == 0 && ncalls)
			found = bsearch(&v[i].v, calls, ncalls, sizeof(*calls), by_call);
		if (found)
			v[i].id = flow_order_of(c)->rank[(*found)->id];
	}
	free(calls);
}

static struct item *make_items(const struct flow_view *view)
{
	const struct flow_conversation *c = view->c;
	const uint32_t *rank = flow_order_of(c)->rank;
	uint32_t n = view->n[FLOW_NODES];
	struct item *v = xcalloc(n ? n : 1, sizeof(*v));
	uint32_t *place =
		xcalloc(c->names.n, sizeof(*place)); /* by id: its place in the view + 1 */
	uint32_t card = flow_names_find(&c->names, str_of("history.change"));
	bool has_unnamed = false;

	for (uint32_t i = 0; i < n; i++)
		place[c->versions[view->live[FLOW_NODES][i]].id] = i + 1;
	for (uint32_t i = 0; i < n; i++) {
		struct item *it = &v[i];

		it->version = view->live[FLOW_NODES][i];
		it->v = &c->versions[it->version];
		it->place = it->v->place;
		it->own = rank[it->v->id];
		it->is_card = it->v->kind == card;
		it->id = it->is_card && it->v->c ? rank[it->v->c] : it->own;
		it->parent = place[it->v->a] ? place[it->v->a] - 1 : FLOW_NONE;
		has_unnamed = has_unnamed || (it->is_card && !it->v->c);
	}
	free(place);
	if (has_unnamed)
		name_cards(view, v, n);
	return v;
}

/* Children of one parent stand side by side in `v`; first[i] is where those of place i begin. */
struct walk {
	struct item *v;
	uint32_t n;
	uint32_t *first;
	uint32_t *place; /* of item i in the view */
	uint32_t *next;  /* stack: the next item at each depth */
};

static void prepare(struct walk *w, const struct flow_view *view)
{
	const struct flow_conversation *c = view->c;
	uint32_t *at = xcalloc(c->names.n, sizeof(*at));

	w->first = xcalloc((size_t)w->n + 1, sizeof(*w->first));
	w->place = xcalloc((size_t)w->n + 1, sizeof(*w->place));
	w->next = xcalloc((size_t)w->n + 1, sizeof(*w->next));
	for (uint32_t i = 0; i < w->n; i++) {
		at[c->versions[view->live[FLOW_NODES][i]].id] = i;
		w->first[i] = FLOW_NONE;
	}
	for (uint32_t i = w->n; i-- > 0;) {
		w->place[i] = at[w->v[i].v->id];
		if (w->v[i].parent != FLOW_NONE)
			w->first[w->v[i].parent] = i;
	}
	free(at);
}

void flow_outline_make(struct flow_outline *o, const struct flow_view *view)
{
	struct walk w = { .v = make_items(view), .n = view->n[FLOW_NODES] };
	uint32_t root = 0, depth = 0, *line_at;

	*o = (struct flow_outline){ .v = xcalloc(w.n ? w.n : 1, sizeof(*o->v)) };
	if (w.n)
		qsort(w.v, w.n, sizeof(*w.v), by_display);
	prepare(&w, view);
	line_at = xcalloc((size_t)w.n + 1, sizeof(*line_at)); /* the open line of each depth */
	while (root < w.n && w.v[root].parent != FLOW_NONE)
		root++;
	w.next[0] = root;
	for (;;) {
		uint32_t i = w.next[depth];
		uint32_t parent = depth ? w.place[w.next[depth - 1] - 1] : FLOW_NONE;

		if (i >= w.n || w.v[i].parent != parent) {
			if (depth-- == 0)
				break;
			continue;
		}
		w.next[depth]++;
		o->v[o->n] = (struct flow_line){ w.v[i].version, depth,
			depth ? line_at[depth - 1] : FLOW_NONE };
		line_at[depth] = o->n++;
		if (w.first[w.place[i]] != FLOW_NONE)
			w.next[++depth] = w.first[w.place[i]];
	}
	free(line_at);
	free(w.first);
	free(w.place);
	free(w.next);
	free(w.v);
}

void flow_outline_release(struct flow_outline *o)
{
	free(o->v);
	*o = (struct flow_outline){ 0 };
}

void flow_outline_sha256(
	const struct flow_conversation *c, const struct flow_outline *o, char hex[65])
{
	struct buf line = { 0 };
	struct flow_sha sha;

	flow_sha_begin(&sha);
	for (uint32_t i = 0; i < o->n; i++) {
		buf_clear(&line);
		buf_printf(&line, "%u ", o->v[i].depth);
		buf_addstr(&line, flow_word(c, c->versions[o->v[i].version].id));
		buf_addc(&line, '\n');
		flow_sha_add(&sha, line.p, line.n);
	}
	flow_sha_end(&sha, hex);
	buf_release(&line);
}
