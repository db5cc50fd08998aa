/*
 * talks.c - the talks of a view as a list: when each began, what was asked,
 * what was answered last, and how much was done for it. What is said is read
 * from the landed records.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

enum { INJECTIONS = 3 };

/* Lines of the outline, plus one; 0: none. */
struct found {
	uint32_t asked, reply, injected[INJECTIONS];
	uint32_t ninjected;
};

struct gather {
	struct flow_conversation *c;
	const struct flow_outline *o;
	struct flow_talk *v;
	struct found *found;
	uint32_t *talk_of;       /* by line: its talk + 1, or 0 */
	size_t n;
};

static bool is_structure(struct str kind)
{
	static const char *const kinds[] = { "session", "stream", "epoch", "segment", "talk",
		"run" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (str_eqs(kind, kinds[i]))
			return true;
	return false;
}

static void take_line(struct gather *g, uint32_t line, uint32_t talk, struct str kind)
{
	struct flow_talk *t = &g->v[talk];
	struct found *f = &g->found[talk];

	if (str_eqs(kind, "run"))
		t->runs++;
	t->steps += !is_structure(kind);
	t->tools += str_eqs(kind, "tool") || str_eqs(kind, "agent.call");
	if (str_eqs(kind, "message.external") && !f->asked)
		f->asked = line + 1;
	if (str_eqs(kind, "message.assistant") || str_eqs(kind, "agent.output"))
		f->reply = line + 1;
	if (str_eqs(kind, "context.injection") && f->ninjected < INJECTIONS)
		f->injected[f->ninjected++] = line + 1;
}

/* A node belongs to the nearest talk above it. */
static void walk(struct gather *g)
{
	for (uint32_t i = 0; i < g->o->n; i++) {
		const struct flow_line *line = &g->o->v[i];
		struct str kind = flow_word(g->c, flow_version(g->c, line->version)->kind);
		uint32_t above = line->parent == FLOW_NONE ? 0 : g->talk_of[line->parent];

		if (str_eqs(kind, "talk")) {
			g->v[g->n] = (struct flow_talk){ .version = line->version, .line = i };
			g->talk_of[i] = (uint32_t)++g->n;
			continue;
		}
		g->talk_of[i] = above;
		if (above)
			take_line(g, i, above - 1, kind);
	}
}

/* What the node of a line says; "" where it has no text, or n->missing tells why not. */
static struct str text_of(struct gather *g, uint32_t line, struct arena *a, struct flow_node *n)
{
	struct err err = { 0 };

	if (flow_node_read(g->c, g->o->v[line].version, false, a, n, &err) < 0) {
		n->missing = arena_strdup(a, err.text);
		n->is_unread = true;
	}
	return n->missing || !n->said.text.p ? str_of(NULL) : n->said.text;
}

static struct str label_of(
	struct gather *g, const struct found *f, struct arena *a, struct flow_node *n)
{
	struct str text;

	if (f->asked)
		return text_of(g, f->asked - 1, a, n);
	for (uint32_t i = 0; i < f->ninjected; i++) {
		text = text_of(g, f->injected[i] - 1, a, n);
		if (text.n && !str_starts(text, "{\"type\":\"deferred_tools_delta\""))
			return text;
	}
	return str_of(NULL);
}

/* Keeps why a text is not there. */
static const char *keep_reason(struct flow_talk *t, const struct flow_node *n, struct arena *a)
{
	t->is_unread |= n->is_unread;
	return n->missing ? arena_strdup(a, n->missing) : NULL;
}

static void read_talk(struct gather *g, size_t i, struct arena *a)
{
	struct flow_talk *t = &g->v[i];
	const struct flow_version *v = flow_version(g->c, t->version);
	struct arena scratch = { 0 };
	struct flow_node n = { .missing = NULL };

	t->id = flow_word(g->c, v->id);
	t->stream = flow_word(g->c, v->b);
	t->label = arena_keep(a, label_of(g, &g->found[i], &scratch, &n));
	t->no_label = t->label.n ? NULL : keep_reason(t, &n, a);
	if (g->found[i].reply) {
		t->reply = arena_keep(a, text_of(g, g->found[i].reply - 1, &scratch, &n));
		t->no_reply = keep_reason(t, &n, a);
	}
	text_of(g, t->line, &scratch, &n);
	t->is_unread |= n.is_unread;
	t->at = arena_keep(a, n.time);
	t->is_timed = flow_time(t->at, &t->ms);
	t->place = v->place;
	arena_free(&scratch);
}

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_time(const void *a, const void *b)
{
	const struct flow_talk *x = a, *y = b;

	if (x->is_timed != y->is_timed)
		return x->is_timed ? -1 : 1;
	if (x->is_timed && x->ms != y->ms)
		return x->ms < y->ms ? -1 : 1;
	if (x->place.seq != y->place.seq)
		return order(x->place.seq, y->place.seq);
	if (x->place.row != y->place.row)
		return order(x->place.row, y->place.row);
	return str_order(x->id, y->id);
}

void flow_talks(struct flow_conversation *c, const struct flow_outline *o, struct arena *a,
	struct flow_talk **out, size_t *n)
{
	struct gather g = { .c = c, .o = o };
	size_t max = 0;

	for (uint32_t i = 0; i < o->n; i++)
		max += str_eqs(flow_word(c, flow_version(c, o->v[i].version)->kind), "talk");
	g.v = arena_zalloc(a, (max + 1) * sizeof(*g.v));
	g.found = xcalloc(max + 1, sizeof(*g.found));
	g.talk_of = xcalloc((size_t)o->n + 1, sizeof(*g.talk_of));
	walk(&g);
	for (size_t i = 0; i < g.n; i++)
		read_talk(&g, i, a);
	if (g.n)
		qsort(g.v, g.n, sizeof(*g.v), by_time);
	free(g.found);
	free(g.talk_of);
	*out = g.v;
	*n = g.n;
}
