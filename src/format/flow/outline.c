/*
 * outline.c - the nodes of a view as a tree in display order. Never by time;
 * never by recursion. Nodes whose parents form a cycle are reached from no
 * root: they are left out, or stand behind all others, below one of the cycle.
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

static int by_order(const struct item *x, const struct item *y)
{
	int order = by_place(&x->place, &y->place);

	if (!order)
		order = order_of(x->id, y->id);
	if (!order)
		order = (int)y->is_card - (int)x->is_card;
	return order ? order : order_of(x->own, y->own);
}

static int by_display(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = order_of(x->parent, y->parent);

	return order ? order : by_order(x, y);
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
	uint32_t *line_at; /* stack: the open line of each depth */
	bool *is_out;    /* by item: it has its line */
};

static void prepare(struct walk *w, const struct flow_view *view)
{
	const struct flow_conversation *c = view->c;
	uint32_t *at = xcalloc(c->names.n, sizeof(*at));

	w->first = xcalloc((size_t)w->n + 1, sizeof(*w->first));
	w->place = xcalloc((size_t)w->n + 1, sizeof(*w->place));
	w->next = xcalloc((size_t)w->n + 2, sizeof(*w->next));
	w->line_at = xcalloc((size_t)w->n + 2, sizeof(*w->line_at));
	w->is_out = xcalloc((size_t)w->n + 1, sizeof(*w->is_out));
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

static void add_line(struct walk *w, struct flow_outline *o, uint32_t i, uint32_t depth)
{
	o->v[o->n] = (struct flow_line){ w->v[i].version, depth,
		depth ? w->line_at[depth - 1] : FLOW_NONE };
	w->is_out[i] = true;
	w->line_at[depth] = o->n++;
}

/* What is below item `top`; in a cycle that is also above it, and is not gone into again. */
static void add_tree(struct walk *w, struct flow_outline *o, uint32_t top)
{
	uint32_t depth = 1;

	add_line(w, o, top, 0);
	w->next[0] = top + 1;
	w->next[1] = w->first[w->place[top]];
	while (depth > 0) {
		uint32_t i = w->next[depth], parent = w->place[w->next[depth - 1] - 1];

		if (i >= w->n || w->v[i].parent != parent) {
			depth--;
			continue;
		}
		w->next[depth]++;
		if (w->is_out[i])
			continue;
		add_line(w, o, i, depth);
		if (w->first[w->place[i]] != FLOW_NONE)
			w->next[++depth] = w->first[w->place[i]];
	}
}

static void walk_begin(struct walk *w, const struct flow_view *view)
{
	*w = (struct walk){ .v = make_items(view), .n = view->n[FLOW_NODES] };
	if (w->n)
		qsort(w->v, w->n, sizeof(*w->v), by_display);
	prepare(w, view);
}

static void walk_end(struct walk *w)
{
	free(w->line_at);
	free(w->is_out);
	free(w->first);
	free(w->place);
	free(w->next);
	free(w->v);
}

static void add_roots(struct walk *w, struct flow_outline *o)
{
	uint32_t root = w->n;

	while (root > 0 && w->v[root - 1].parent == FLOW_NONE)
		root--;
	for (; root < w->n; root++)
		add_tree(w, o, root);
}

void flow_outline_make(struct flow_outline *o, const struct flow_view *view)
{
	struct walk w;

	walk_begin(&w, view);
	*o = (struct flow_outline){ .v = xcalloc(w.n ? w.n : 1, sizeof(*o->v)) };
	add_roots(&w, o);
	walk_end(&w);
}

/* Of a cycle the item that the order puts first; `i` leads into it, going up. */
static uint32_t top_of_cycle(
	const struct walk *w, const uint32_t *item_at, bool *is_passed, uint32_t i)
{
	uint32_t top, at;

	for (; !is_passed[i]; i = item_at[w->v[i].parent])
		is_passed[i] = true;
	top = i;
	for (at = item_at[w->v[i].parent]; at != i; at = item_at[w->v[at].parent])
		if (by_order(&w->v[at], &w->v[top]) < 0)
			top = at;
	return top;
}

void flow_outline_make_whole(struct flow_outline *o, const struct flow_view *view)
{
	struct walk w;
	uint32_t *item_at;
	bool *is_passed;

	walk_begin(&w, view);
	*o = (struct flow_outline){ .v = xcalloc(w.n ? w.n : 1, sizeof(*o->v)) };
	add_roots(&w, o);
	item_at = xcalloc((size_t)w.n + 1, sizeof(*item_at));
	is_passed = xcalloc((size_t)w.n + 1, sizeof(*is_passed));
	for (uint32_t i = 0; o->n < w.n && i < w.n; i++)
		item_at[w.place[i]] = i;
	for (uint32_t i = 0; o->n < w.n && i < w.n; i++)
		if (!w.is_out[i])
			add_tree(&w, o, top_of_cycle(&w, item_at, is_passed, i));
	free(item_at);
	free(is_passed);
	walk_end(&w);
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
