/*
 * conversation.c - the fold of a conversation as of a round, for screens: the
 * outline, relations and unresolved references, each with what the round did
 * to it. That is found by holding the fold as of the round against the one
 * before; what was withdrawn is taken from there. What nodes say is
 * conversation-node.c, rounds and checks are conversation-checks.c.
 */
#include "config.h"

#include "store/conversation-internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/xalloc.h"
#include "store/internal.h"

bool store_is_conversation(const char *path)
{
	const struct format *fmt = format_detect(path, NULL);

	return fmt && strcmp(fmt->name, "flow") == 0;
}

bool store_is_conversation_folder(const char *path)
{
	char *whole = realpath(path, NULL), *above = whole ? path_dir(whole) : NULL;
	bool is = above && strcmp(path_base(above), "_conversations") == 0 &&
		  store_is_conversation(whole);

	free(above);
	free(whole);
	return is;
}

bool work_is_conversation(const struct work *w)
{
	return strcmp(w->fmt->name, "flow") == 0;
}

void work_each_folder(
	struct work *w, void (*fn)(void *arg, const char *path), void *arg)
{
	char *rounds = path_join(w->s->path, "rounds");

	fn(arg, w->s->path); /* the folder of rounds may come later */
	fn(arg, rounds);
	free(rounds);
	if (w->is_loaded)
		flow_landed_folders(flow_of_session(w->s), fn, arg);
}

/* ---- holding two folds against each other ---- */

/* A version and what the round did to it. */
struct marked {
	uint32_t version;
	char mark;
};

static int order_of_ids(const struct flow_conversation *f, uint32_t x, uint32_t y)
{
	struct str a = flow_word(f, flow_version(f, x)->id),
		   b = flow_word(f, flow_version(f, y)->id);
	size_t n = a.n < b.n ? a.n : b.n;
	int order = flow_version(f, x)->id == flow_version(f, y)->id ? 0
		    : n                                              ? memcmp(a.p, b.p, n)
								     : 0;

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

static bool is_open(const struct flow_conversation *f, uint32_t version)
{
	return str_eqs(flow_word(f, flow_version(f, version)->b), "open");
}

/* Both lists of a map stand in the order of their ids. */
static struct marked *compare(struct conversation *c, enum flow_map map, uint32_t *n)
{
	const struct flow_view *now = &c->view, *old = &c->before;
	struct marked *v = xcalloc((size_t)now->n[map] + old->n[map] + 1, sizeof(*v));
	uint32_t i = 0, k = 0;

	*n = 0;
	while (i < now->n[map] || k < old->n[map]) {
		int order = i == now->n[map] ? 1 : k == old->n[map] ? -1 :
			now->live[map][i] == old->live[map][k] ? 0 :
			order_of_ids(c->f, now->live[map][i], old->live[map][k]);

		if (order > 0) {
			v[(*n)++] = (struct marked){ old->live[map][k++], '-' };
			c->sums.withdrawn++;
			continue;
		}
		v[*n] = (struct marked){ now->live[map][i], ' ' };
		if (map == FLOW_UNRESOLVED && !is_open(c->f, now->live[map][i]) &&
			(order < 0 || (now->live[map][i] != old->live[map][k] &&
					      is_open(c->f, old->live[map][k])))) {
			v[*n].mark = '=';
			c->sums.resolved++;
		} else if (order < 0) {
			v[*n].mark = '+';
			c->sums.added++;
		} else if (now->live[map][i] != old->live[map][k]) {
			v[*n].mark = '~';
			c->sums.revised++;
		}
		(*n)++;
		i++;
		k += order == 0;
	}
	return v;
}

static void make_relations(struct conversation *c)
{
	struct marked *v = compare(c, FLOW_RELATIONS, &c->nrelations);

	c->relations = xcalloc((size_t)c->nrelations + 1, sizeof(*c->relations));
	for (uint32_t i = 0; i < c->nrelations; i++) {
		const struct flow_version *r = flow_version(c->f, v[i].version);

		c->relations[i] = (struct conversation_relation){ v[i].version, r->id, r->kind,
			r->a, r->b, r->c, v[i].mark };
	}
	free(v);
}

static void make_unresolved(struct conversation *c)
{
	struct marked *v = compare(c, FLOW_UNRESOLVED, &c->nunresolved);

	c->unresolved = xcalloc((size_t)c->nunresolved + 1, sizeof(*c->unresolved));
	for (uint32_t i = 0; i < c->nunresolved; i++) {
		const struct flow_version *u = flow_version(c->f, v[i].version);

		c->unresolved[i] = (struct conversation_open){ v[i].version, u->id, u->b, u->kind,
			u->a, v[i].mark };
		c->sums.open += v[i].mark != '-' && is_open(c->f, v[i].version);
	}
	free(v);
}

static size_t last_word(const struct flow_view *view)
{
	size_t last = 0;

	for (uint32_t i = 0; i < view->n[FLOW_NODES]; i++) {
		uint32_t id = flow_version(view->c, view->live[FLOW_NODES][i])->id;

		last = id > last ? id : last;
	}
	return last;
}

/* The outline over the nodes of both folds; lines get their marks and their ends. */
static void make_lines(struct conversation *c)
{
	struct flow_view both = c->view;
	uint32_t n, *versions;
	struct marked *v = compare(c, FLOW_NODES, &n);
	char *marks;

	versions = xcalloc((size_t)n + 1, sizeof(*versions));
	for (uint32_t i = 0; i < n; i++)
		versions[i] = v[i].version;
	both.live[FLOW_NODES] = versions;
	both.n[FLOW_NODES] = n;
	flow_outline_make_whole(&c->outline, &both);
	c->nwords = last_word(&both) + 1;
	marks = xcalloc(c->nwords, 1);
	for (uint32_t i = 0; i < n; i++)
		marks[flow_version(c->f, v[i].version)->id] = v[i].mark;
	c->lines = xcalloc((size_t)c->outline.n + 1, sizeof(*c->lines));
	c->line_of = xcalloc(c->nwords, sizeof(*c->line_of));
	for (uint32_t i = 0; i < c->outline.n; i++) {
		const struct flow_line *l = &c->outline.v[i];
		const struct flow_version *node = flow_version(c->f, l->version);

		c->lines[i] = (struct conversation_line){ l->version, node->id, node->kind,
			l->depth, l->parent, i + 1, marks[node->id] };
		c->line_of[node->id] = i + 1;
	}
	for (uint32_t i = c->outline.n; i-- > 0;) {
		uint32_t parent = c->lines[i].parent;

		if (parent != FLOW_NONE && c->lines[parent].end < c->lines[i].end)
			c->lines[parent].end = c->lines[i].end;
	}
	free(marks);
	free(versions);
	free(v);
}

static void drop_shown(struct conversation *c)
{
	conversation_rows_release(c);
	flow_outline_release(&c->outline);
	free(c->lines);
	free(c->line_of);
	free(c->relations);
	free(c->unresolved);
	c->lines = NULL;
	c->line_of = NULL;
	c->relations = NULL;
	c->unresolved = NULL;
	c->cards = (struct card_list){ 0 };
	c->has_cards = false;
	arena_free(&c->card_arena);
}

/* A step to a neighbour needs one new fold, not two. */
static void make_views(struct conversation *c, uint32_t round)
{
	struct flow_view none = { 0 };

	if (c->is_made && round == c->round + 1) {
		flow_view_release(&c->before);
		c->before = c->view;
		c->view = none;
		flow_view_make(&c->view, c->f, round);
	} else if (c->is_made && round + 1 == c->round) {
		flow_view_release(&c->view);
		c->view = c->before;
		c->before = none;
		flow_view_make(&c->before, c->f, round ? round - 1 : 0);
	} else {
		if (c->is_made) {
			flow_view_release(&c->view);
			flow_view_release(&c->before);
		}
		flow_view_make(&c->view, c->f, round);
		flow_view_make(&c->before, c->f, round ? round - 1 : 0);
	}
	c->is_made = true;
	c->round = round;
}

void conversation_show(struct conversation *c, uint32_t rounds)
{
	if (rounds > flow_folded(c->f))
		rounds = flow_folded(c->f);
	if (c->is_made && rounds == c->round)
		return;
	drop_shown(c);
	make_views(c, rounds);
	c->sums = (struct conversation_sums){ .nodes = c->view.n[FLOW_NODES],
		.relations = c->view.n[FLOW_RELATIONS], .unresolved = c->view.n[FLOW_UNRESOLVED] };
	make_lines(c);
	make_relations(c);
	make_unresolved(c);
}

struct conversation *conversation_new(struct work *w)
{
	struct conversation *c;

	if (!work_is_conversation(w) || !w->is_loaded)
		return NULL;
	c = xcalloc(1, sizeof(*c));
	c->f = flow_of_session(w->s);
	c->s = w->s;
	flow_landed_note(c->f);
	conversation_list_rounds(c);
	conversation_show(c, flow_folded(c->f));
	return c;
}

/* Called also when the session behind it is gone: nothing of it is looked at. */
void conversation_free(struct conversation **cp)
{
	struct conversation *c = *cp;

	if (!c)
		return;
	drop_shown(c);
	if (c->is_made) {
		flow_view_release(&c->view);
		flow_view_release(&c->before);
	}
	conversation_checks_release(c);
	free(c);
	*cp = NULL;
}

/* ---- asking ---- */

uint32_t conversation_folded(const struct conversation *c)
{
	return flow_folded(c->f);
}

uint32_t conversation_round(const struct conversation *c)
{
	return c->round;
}

struct str conversation_title(const struct conversation *c)
{
	size_t n;
	const struct flow_round *rounds = flow_rounds(c->f, &n);
	struct str title = c->round ? rounds[c->round - 1].h.title_s : (struct str){ "", 0 };

	return title.n ? title : str_of(flow_id(c->f));
}

void conversation_sums(const struct conversation *c, struct conversation_sums *out)
{
	*out = c->sums;
}

const struct conversation_line *conversation_lines(const struct conversation *c, uint32_t *n)
{
	*n = c->outline.n;
	return c->lines;
}

uint32_t conversation_line_of(const struct conversation *c, uint32_t id)
{
	return id < c->nwords && c->line_of[id] ? c->line_of[id] - 1 : CONVERSATION_NONE;
}

struct str conversation_word(const struct conversation *c, uint32_t word)
{
	return flow_word(c->f, word);
}

uint32_t conversation_find_word(const struct conversation *c, struct str s)
{
	return flow_find_word(c->f, s);
}

const struct conversation_relation *conversation_relations(
	const struct conversation *c, uint32_t *n)
{
	*n = c->nrelations;
	return c->relations;
}

const struct conversation_open *conversation_unresolved(const struct conversation *c, uint32_t *n)
{
	*n = c->nunresolved;
	return c->unresolved;
}

/* ---- cards ---- */

const struct card_list *conversation_cards(struct conversation *c)
{
	if (!c->has_cards)
		flow_cards(c->f, &c->view, &c->outline, &c->card_arena, &c->cards);
	c->has_cards = true;
	return &c->cards;
}

void conversation_card_fill(struct conversation *c, size_t i)
{
	if (!c->cards.v[i].is_filled)
		flow_card(c->f, &c->view, &c->cards.v[i], &c->card_arena);
}
