/*
 * fold.c - rounds to entities. A round is applied whole when it reads and
 * follows the one before; each of its entities becomes a version. The fold as
 * of any round is then the newest version of each id that is not younger.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* ---- applying a round ---- */

static uint32_t word(struct flow_conversation *c, const struct flow_entity *e, int key)
{
	struct str s = flow_string(e->scan, key, e->a);
	uint32_t *last = &c->last_word[key];

	if (!str_eq(c->names.v[*last], s))
		*last = flow_names_add(&c->names, s, NULL);
	return *last;
}

/* The call that a card names, in its attrs. */
static uint32_t card_call(struct flow_conversation *c, const struct flow_entity *e)
{
	struct str call = json_get(flow_field(e->scan, KEY_ATTRS), "call");

	return flow_names_add(&c->names, flow_decoded(call, e->a), NULL);
}

/* Until the round is known to be good, a version is one that no id leads to. */
static void take_entity(void *arg, const struct flow_entity *e)
{
	struct flow_conversation *c = arg;
	struct flow_version *v;

	if (c->nversions >= FLOW_NONE - 1)
		die("a conversation of over four thousand million versions");
	c->versions = xgrow(c->versions, &c->versions_cap, c->nversions + 1, sizeof(*c->versions));
	v = &c->versions[c->nversions++];
	*v = (struct flow_version){ .off = e->off, .len = e->len, .older = (uint32_t)e->map,
		.place = e->place, .is_tombstone = e->is_tombstone };
	v->id = flow_names_add(&c->names, e->id, NULL);
	switch (e->map) {
	case FLOW_NODES:
		v->kind = word(c, e, KEY_KIND);
		v->a = word(c, e, KEY_PARENT);
		v->b = word(c, e, KEY_STREAM);
		if (str_eqs(flow_word(c, v->kind), "history.change"))
			v->c = card_call(c, e);
		break;
	case FLOW_RELATIONS:
		v->kind = word(c, e, KEY_TYPE);
		v->a = word(c, e, KEY_FROM);
		v->b = word(c, e, KEY_TO);
		v->c = word(c, e, KEY_QUALITY);
		break;
	default:
		v->kind = word(c, e, KEY_KIND);
		v->a = word(c, e, KEY_REF);
		v->b = word(c, e, KEY_STATE);
		break;
	}
}

static void grow_newest(struct flow_conversation *c)
{
	size_t cap = c->newest_cap;

	if (c->names.n <= cap)
		return;
	for (int i = 0; i < FLOW_MAPS; i++) {
		size_t now = cap;

		c->newest[i] = xgrow(c->newest[i], &now, c->names.n, sizeof(uint32_t));
		memset(c->newest[i] + cap, 0, (now - cap) * sizeof(uint32_t));
		c->newest_cap = now;
	}
}

static bool is_open(const struct flow_conversation *c, const struct flow_version *v)
{
	return str_eqs(flow_word(c, v->b), "open");
}

static void count_change(struct flow_conversation *c, struct flow_round *r, enum flow_map map,
	const struct flow_version *v, const struct flow_version *before)
{
	if (before && before->is_tombstone)
		before = NULL;
	if (v->is_tombstone)
		r->withdrawn[map] += before != NULL;
	else if (map == FLOW_UNRESOLVED && !is_open(c, v) && (!before || is_open(c, before)))
		r->resolved++;
	else if (before)
		r->revised[map]++;
	else
		r->added[map]++;
}

static void apply(struct flow_conversation *c, struct flow_round *r, size_t first)
{
	grow_newest(c);
	for (size_t i = first; i < c->nversions; i++) {
		struct flow_version *v = &c->versions[i];
		enum flow_map map = (enum flow_map)v->older;
		uint32_t *newest = &c->newest[map][v->id];

		v->round = c->folded;
		v->older = *newest ? *newest - 1 : FLOW_NONE;
		count_change(c, r, map, v, *newest ? &c->versions[*newest - 1] : NULL);
		*newest = (uint32_t)i + 1;
	}
	r->state = FLOW_FOLDED;
	c->folded++;
}

/* ---- does it follow? ---- */

static void does_not_follow(struct flow_fault *f, const char *code, const char *what,
	const char *is, const char *should)
{
	flow_fault_set(f, code, 1, 0, "its %s is \"%s\", not \"%s\"", what, is, should);
}

void flow_follow(const char *id, const struct flow_header *first, const struct flow_header *last,
	const struct flow_header *h, struct flow_fault *f)
{
	if (h->round != (last ? last->round : 0) + 1)
		flow_fault_set(f, "fold-round", 1, 0, "it is round %" PRIu64 ", not %" PRIu64,
			h->round, (last ? last->round : 0) + 1);
	else if (last && strcmp(h->previous, last->digest) != 0)
		does_not_follow(f, "fold-previous", "round before", h->previous, last->digest);
	else if (!str_eqs(h->conversation_s, id))
		does_not_follow(f, "fold-conversation", "conversation", h->conversation, id);
	else if (last && !str_eq(h->session_s, first->session_s))
		does_not_follow(f, "fold-session", "session", h->session, first->session);
	else if (last && strcmp(h->parser, first->parser) != 0)
		does_not_follow(f, "fold-parser", "parser", h->parser, first->parser);
	else if (last && strcmp(h->policy, first->policy) != 0)
		does_not_follow(f, "fold-policy", "policy", h->policy, first->policy);
}

static void stop(struct flow_conversation *c, uint64_t round)
{
	c->is_done = true;
	c->fault_round = round;
	for (size_t i = c->folded; i < c->nrounds; i++)
		if (c->rounds[i].state == FLOW_WAITS)
			c->rounds[i].state = FLOW_NOT_FOLDED;
}

void flow_fold_next(struct flow_conversation *c)
{
	uint64_t want = c->folded + 1;
	size_t first = c->nversions;
	struct flow_round *r;
	struct err err = { 0 };
	char *path;

	if (c->folded == c->nrounds) { /* there may be none at all */
		c->is_done = true;
		return;
	}
	r = &c->rounds[c->folded];
	if (r->number > want) {
		flow_fault_set(
			&c->fault, "fold-missing", 0, 0, "round %" PRIu64 " is missing", want);
		stop(c, want);
		return;
	}
	path = flow_round_path(c, r);
	if (flow_round_read(path, &c->scratch, &c->arena, &r->h, take_entity, c, &r->fault, &err) <
		0)
		flow_fault_set(&r->fault, "unreadable", 0, 0, "%s", err.text);
	free(path);
	if (!r->fault.code)
		flow_follow(c->id, &c->rounds[0].h, flow_head(c), &r->h, &r->fault);
	if (!r->fault.code) {
		apply(c, r, first);
		c->is_done = c->folded == c->nrounds;
		return;
	}
	c->nversions = first;
	r->state = FLOW_BAD;
	c->fault = r->fault;
	stop(c, r->number);
}

/* ---- lines of versions ---- */

static int reader_of(
	struct flow_conversation *c, uint32_t round, struct log_reader **out, struct err *err)
{
	unsigned i;
	char *path;
	int rc;

	for (i = 0; i < READERS; i++)
		if (c->readers[i].r && c->readers[i].round == round) {
			*out = c->readers[i].r;
			return 0;
		}
	i = c->next_reader++ % READERS;
	log_reader_close(&c->readers[i].r);
	path = flow_round_path(c, &c->rounds[round]);
	rc = log_reader_open(&c->readers[i].r, path, err);
	free(path);
	c->readers[i].round = round;
	*out = c->readers[i].r;
	return rc;
}

int flow_raw(struct flow_conversation *c, uint32_t version, struct buf *out, struct err *err)
{
	const struct flow_version *v = &c->versions[version];
	struct log_reader *r;
	size_t got = 0;
	int rc = reader_of(c, v->round, &r, err);

	if (rc < 0)
		return rc;
	buf_reserve(out, v->len);
	rc = log_pread(r, v->off, out->p + out->n, v->len, &got, err);
	if (rc == 0 && got < v->len)
		rc = err_set(err, ERR_CHANGED, "round %s is shorter than it was",
			c->rounds[v->round].name);
	if (rc == 0)
		out->n += got;
	return rc;
}
