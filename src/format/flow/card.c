/*
 * card.c - the history.change nodes of a conversation as cards: which call,
 * which call before it, what the rounds say of the reply, and the messages of
 * both requests, which are rebuilt only when a card is shown.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <inttypes.h>
#include <string.h>

#include "model/session.h"

/* A string attribute, decoded; n 0: there is none. */
static struct str attr(struct str attrs, const char *key, struct arena *a)
{
	struct str raw = json_get(attrs, key);

	return json_type_of(raw) == JSON_STRING ? flow_decoded(raw, a) : (struct str){ "", 0 };
}

static struct str attrs_of(struct flow_conversation *c, uint32_t version, struct arena *a)
{
	struct flow_line_scan s = { .keys = flow_keys };
	struct buf raw = { 0 };
	struct str attrs = { NULL, 0 };

	if (version != FLOW_NONE && flow_raw(c, version, &raw, NULL) == 0) {
		s.p = arena_strndup(a, raw.p, raw.n);
		if (json_scan_lenient(s.p, raw.n, flow_keys, KEY_COUNT, &s.sc) == JSON_OK)
			attrs = flow_field(&s, KEY_ATTRS);
	}
	buf_release(&raw);
	return attrs;
}

static void add_attrs(struct card *card, struct arena *a, struct str attrs, const char *only)
{
	struct str key, value;
	struct json_iter it;

	json_iter_init(&it, attrs);
	while (it.is_object && json_iter_next(&it, &key, &value)) {
		struct str word = flow_decoded(key, a);

		if (!only || str_starts(word, only))
			card_add_attr(card, a, word,
				json_type_of(value) == JSON_STRING ? flow_decoded(value, a)
								   : value);
	}
}

static bool same_place(const struct flow_place *x, const struct flow_place *y)
{
	return x->is_set && y->is_set && x->seq == y->seq && x->row == y->row;
}

/* The call that a card stands before: the one it names, else the one at its place. */
static uint32_t call_of(const struct flow_view *view, const struct flow_version *card)
{
	const struct flow_conversation *c = view->c;
	uint32_t llm = flow_find_word(c, str_of("llm.call"));

	if (card->c)
		return flow_view_find(view, FLOW_NODES, flow_word(c, card->c));
	for (uint32_t i = 0; i < view->n[FLOW_NODES]; i++) {
		const struct flow_version *v = flow_version(c, view->live[FLOW_NODES][i]);

		if (v->kind == llm && v->a == card->a && same_place(&v->place, &card->place))
			return view->live[FLOW_NODES][i];
	}
	return FLOW_NONE;
}

static enum card_answer answer(struct str s)
{
	return str_eqs(s, "yes") ? CARD_YES : str_eqs(s, "no") ? CARD_NO : CARD_UNKNOWN;
}

static void add_head(struct flow_conversation *c, const struct flow_view *view, uint32_t version,
	struct arena *a, struct card_list *out)
{
	const struct flow_version *v = flow_version(c, version);
	struct card *card = card_add(out, a, CARD_HISTORY);
	uint32_t call = call_of(view, v);
	struct str own = attrs_of(c, version, a), theirs = attrs_of(c, call, a);

	card->own = version;
	card->id = flow_word(c, v->id);
	card->at = call != FLOW_NONE ? flow_word(c, flow_version(c, call)->id) : flow_word(c, v->c);
	card->from = attr(theirs, "history_from", a);
	if (card->from.n == 0)
		card->from = attr(own, "from", a);
	card->reply = attr(theirs, "history_reply", a);
	card->reply_reason = attr(theirs, "history_reply_reason", a);
	card->system_changed = answer(attr(theirs, "system_changed", a));
	add_attrs(card, a, own, NULL);
	add_attrs(card, a, theirs, "history");
	add_attrs(card, a, theirs, "system_changed");
}

void flow_cards(struct flow_conversation *c, const struct flow_view *view,
	const struct flow_outline *outline, struct arena *a, struct card_list *out)
{
	uint32_t kind = flow_find_word(c, str_of("history.change"));

	for (uint32_t i = 0; i < outline->n; i++)
		if (flow_version(c, outline->v[i].version)->kind == kind)
			add_head(c, view, outline->v[i].version, a, out);
}

/* ---- the messages ---- */

struct taking {
	struct card_history *h;
	struct arena *a;
};

/* "role: text" */
static void take_message(void *arg, struct str line)
{
	struct taking *t = arg;
	const char *colon = memchr(line.p, ':', line.n);
	size_t n = colon ? (size_t)(colon - line.p) : 0, skip = colon ? n + 2 : 0;

	card_say(t->h, t->a, (struct str){ line.p, n },
		(struct str){ line.p + skip, line.n - skip }, ENTRY_NONE);
}

/* The message list of a call's request; false: it can not be had, and the card says why. */
static bool history_of(struct flow_conversation *c, const struct flow_view *view, struct str id,
	struct card *card, struct arena *a, struct card_history *h)
{
	struct taking t = { h, a };
	uint32_t version = flow_view_find(view, FLOW_NODES, id);
	const struct flow_body *request = NULL;
	struct err err = { 0 };
	struct flow_node n;

	if (version == FLOW_NONE) {
		if (id.n)
			card_add_missing(card, a, "%.*s is not in the fold", (int)id.n, id.p);
		else
			card_add_missing(card, a, "no call is named");
		return false;
	}
	if (flow_node_read(c, version, true, a, &n, &err) < 0) {
		card_add_missing(card, a, "%.*s: %s", (int)id.n, id.p, err.text);
		return false;
	}
	for (size_t i = 0; i < n.nbodies && !request; i++)
		if (n.bodies[i].is_request)
			request = &n.bodies[i];
	if (!request)
		card_add_missing(card, a, "%.*s: no request body was captured", (int)id.n, id.p);
	else if (!request->bytes.p && str_starts(str_of(request->why), "missing"))
		card_add_missing(card, a,
			"%.*s: its request body is missing: record %" PRIu64
			" of sequence %" PRIu64,
			(int)id.n, id.p, request->place.row, request->place.seq);
	else if (!request->bytes.p)
		card_add_missing(card, a,
			"%.*s: its request body, record %" PRIu64 " of sequence %" PRIu64 ": %s",
			(int)id.n, id.p, request->place.row, request->place.seq, request->why);
	else if (!flow_body_messages(request, take_message, &t))
		card_add_missing(card, a, "%.*s: its request body holds no list of messages",
			(int)id.n, id.p);
	else
		return true;
	return false;
}

int flow_card(struct flow_conversation *c, const struct flow_view *view, struct card *card,
	struct arena *a)
{
	struct card_history before = { 0 }, after = { 0 };
	bool has_before = history_of(c, view, card->from, card, a, &before);
	bool has_after = history_of(c, view, card->at, card, a, &after);

	if (has_before && has_after)
		card_diff(card, a, &before, &after);
	card->is_filled = true;
	return 0;
}
