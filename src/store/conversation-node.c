/*
 * conversation-node.c - what one node of a conversation says: the words of its
 * row, and everything for its page, with its relations at both ends. All of it
 * is read when it is asked for.
 */
#include "config.h"

#include "store/conversation-internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "json/value.h"

enum { LABEL_LINES = 64, INJECTIONS = 3, EVIDENCE_MAX = 64 };

static struct str cut(struct str s, size_t limit)
{
	return (struct str){ s.p ? s.p : "", s.n > limit ? utf8_cut(s.p, limit) : s.n };
}

static struct str decoded(struct str raw, struct arena *a)
{
	struct buf text = { 0 };

	flow_text(raw, &text);
	return arena_take(a, &text);
}

/* A member of an object: a string decoded, another value as it stands; n 0: none. */
static struct str member(struct str object, const char *key, struct arena *a)
{
	struct str raw = json_get(object, key);
	enum json_type type = json_type_of(raw);

	if (type == JSON_NONE || type == JSON_NULL)
		return (struct str){ "", 0 };
	return type == JSON_STRING ? decoded(raw, a) : raw;
}

static const char *evidence_of(struct str relation, struct arena *a)
{
	struct buf text = { 0 };

	flow_put_refs(&text, json_get(relation, "evidence"), EVIDENCE_MAX);
	return arena_take(a, &text).p;
}

/* A relation as its round has it; n 0 when it can not be read. */
static struct str raw_of(struct conversation *c, uint32_t version, struct arena *a)
{
	struct buf raw = { 0 };

	if (flow_raw(c->f, version, &raw, NULL) < 0)
		buf_clear(&raw);
	return arena_take(a, &raw);
}

struct str conversation_relation_via(struct conversation *c, uint32_t version, struct arena *a)
{
	return member(raw_of(c, version, a), "via", a);
}

const char *conversation_relation_evidence(
	struct conversation *c, uint32_t version, struct arena *a)
{
	return evidence_of(raw_of(c, version, a), a);
}

struct str conversation_reason(struct conversation *c, uint32_t version, struct arena *a)
{
	return member(raw_of(c, version, a), "reason", a);
}

/* ---- a row ---- */

static bool is_kind(const struct conversation *c, uint32_t line, const char *kind)
{
	return str_eqs(flow_word(c->f, c->lines[line].kind), kind);
}

/* An id without the word for its kind, as people say it. */
static struct str short_of(struct str id, const char *prefix)
{
	size_t n = strlen(prefix);

	return str_starts(id, prefix) && id.n > n ? (struct str){ id.p + n, id.n - n } : id;
}

static struct str said_by(struct conversation *c, uint32_t line, struct arena *a)
{
	struct flow_node n;
	struct err err = { 0 };

	if (flow_node_read(c->f, c->lines[line].version, false, a, &n, &err) < 0)
		return (struct str){ "", 0 };
	return n.missing ? str_of(n.missing) : n.said.text;
}

/* What a talk is about: what its person said, else what was put into it. */
static struct str talk_label(struct conversation *c, uint32_t line, struct arena *a)
{
	uint32_t end = c->lines[line].end, injections = 0;
	struct str injected = { "", 0 };

	if (end - line > LABEL_LINES)
		end = line + LABEL_LINES;
	for (uint32_t i = line + 1; i < end; i++) {
		if (is_kind(c, i, "message.external"))
			return said_by(c, i, a);
		if (!injected.n && is_kind(c, i, "context.injection") &&
			injections++ < INJECTIONS) {
			injected = said_by(c, i, a);
			if (str_starts(injected, "{\"type\":\"deferred_tools_delta\""))
				injected.n = 0;
		}
	}
	return injected;
}

static void add_tokens(const struct flow_node *n, struct buf *out)
{
	if (n->has_usage)
		buf_printf(out, "%" PRId64 " in %" PRId64 " out  ", n->usage[FLOW_IN],
			n->usage[FLOW_OUT]);
	buf_addstr(out, n->model);
}

static struct str first_of(struct str x, struct str y)
{
	return x.n ? x : y;
}

/* Rows of nodes that say nothing themselves: what their attributes tell. */
static bool about_node(struct conversation *c, uint32_t line, const struct flow_node *n,
	struct arena *a, struct conversation_row *out)
{
	struct buf text = { 0 };

	if (is_kind(c, line, "llm.call")) {
		out->name = short_of(n->id, "call/");
		add_tokens(n, &text);
		if (!out->note.n && str_eqs(member(n->attrs, "history", a), "changed"))
			out->note = str_of("history changed");
	} else if (is_kind(c, line, "talk")) {
		struct str label = talk_label(c, line, a);

		out->is_said = label.n > 0;
		buf_addstr(&text, first_of(label, short_of(n->id, "talk/")));
	} else if (is_kind(c, line, "run")) {
		buf_addstr(&text, first_of(member(n->attrs, "trigger", a), n->id));
	} else if (is_kind(c, line, "stream")) {
		out->name = short_of(n->id, "stream/");
		if (!str_eq(out->name, member(n->attrs, "role", a)))
			buf_addstr(&text, member(n->attrs, "role", a));
		buf_adds(&text, "  ");
		buf_addstr(&text, member(n->attrs, "label", a));
	} else if (is_kind(c, line, "epoch")) {
		buf_addstr(&text, short_of(n->id, "epoch/"));
		buf_adds(&text, "  ");
		if (!str_eqs(member(n->attrs, "reset", a), "none"))
			buf_addstr(&text, member(n->attrs, "reset", a));
	} else if (is_kind(c, line, "segment")) {
		buf_addstr(&text, short_of(n->id, "segment/"));
		buf_adds(&text, "  ");
		buf_addstr(&text, member(n->attrs, "state", a));
	} else if (is_kind(c, line, "session")) {
		buf_addstr(&text, first_of(member(n->attrs, "title", a), n->id));
	} else if (is_kind(c, line, "history.change")) {
		buf_adds(&text, "after ");
		buf_addstr(&text, first_of(member(n->attrs, "from", a), n->id));
	} else {
		return false;
	}
	out->text = arena_take(a, &text);
	return true;
}

/* Arguments of a tool without their brackets; of other nodes the text as it is. */
static struct str arguments_of(const struct flow_node *n, size_t limit, struct arena *a)
{
	struct str key, value, first = { "", 0 };
	struct json_iter it;
	struct buf text = { 0 };
	size_t count = 0;

	json_iter_init(&it, n->said.text);
	if (!it.is_object || !(str_eqs(n->kind, "tool") || str_eqs(n->kind, "agent.call")))
		return n->said.text;
	while (text.n < limit && json_iter_next(&it, &key, &value)) {
		if (json_type_of(value) == JSON_STRING)
			value = decoded(value, a);
		if (count++ == 0)
			first = value;
		buf_printf(&text, "%s", count > 1 ? "  " : "");
		buf_addstr(&text, decoded(key, a));
		buf_adds(&text, ": ");
		buf_addstr(&text, value);
	}
	if (count == 1) {
		buf_release(&text);
		return first;
	}
	return arena_take(a, &text);
}

static struct str started(struct conversation *c, uint32_t id)
{
	uint32_t n;
	const uint32_t *v = flow_relations_at(&c->view, id, false, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct flow_version *r = flow_version(c->f, v[i]);

		if (str_eqs(flow_word(c->f, r->kind), "starts"))
			return short_of(flow_word(c->f, r->b), "stream/");
	}
	return (struct str){ "", 0 };
}

/* A root that has a parent is the top of a cycle: how many nodes are in that. */
static struct str cycle_note(struct conversation *c, uint32_t line, struct arena *a)
{
	const struct flow_version *top = flow_version(c->f, c->lines[line].version), *v = top;
	struct buf text = { 0 };
	uint32_t n = 0, at = line;

	if (c->lines[line].depth > 0 || conversation_line_of(c, top->a) == CONVERSATION_NONE)
		return (struct str){ "", 0 };
	do {
		at = conversation_line_of(c, v->a);
		v = flow_version(c->f, c->lines[at].version);
		n++;
	} while (at != line);
	buf_printf(&text, "in a cycle: %u node%s", n, plural(n, "", "s"));
	return arena_take(a, &text);
}

static void make_row(struct conversation *c, uint32_t line, size_t limit, struct arena *a,
	struct conversation_row *out)
{
	struct flow_node n;
	struct err err = { 0 };

	*out = (struct conversation_row){ .text = { "", 0 }, .note = cycle_note(c, line, a) };
	if (flow_node_read(c->f, c->lines[line].version, false, a, &n, &err) < 0) {
		out->text = str_of(arena_strdup(a, err.text));
		out->is_missing = true;
		return;
	}
	out->name = n.name;
	out->to = started(c, c->lines[line].id);
	out->is_failed = n.has_failed && n.failed;
	if (!about_node(c, line, &n, a, out)) {
		out->is_said = n.said.text.n > 0;
		out->text = first_of(arguments_of(&n, limit, a), first_of(n.said.state, n.id));
		out->is_missing = n.missing != NULL;
	}
	if (n.missing && is_kind(c, line, "llm.call"))
		out->is_missing = true;
	if (out->is_missing)
		out->text = str_of(n.missing);
	out->text = cut(out->text, limit);
}

void conversation_rows_release(struct conversation *c)
{
	for (size_t i = 0; c->kept && i < KEPT_ROWS; i++)
		arena_free(&c->kept[i].arena);
	free(c->kept);
	c->kept = NULL;
}

static void copy_row(struct arena *a, const struct conversation_row *row, struct conversation_row *out)
{
	*out = *row;
	out->name = arena_keep(a, row->name);
	out->text = arena_keep(a, row->text);
	out->to = arena_keep(a, row->to);
	out->note = arena_keep(a, row->note);
}

/*
 * A row may cost reading a text of megabytes, and a frame asks for all that are
 * on the screen: short ones are kept. What is missing may still come.
 */
void conversation_row(struct conversation *c, uint32_t line, size_t limit, struct arena *a,
	struct conversation_row *out)
{
	struct kept_row *k;

	if (!c->kept)
		c->kept = xcalloc(KEPT_ROWS, sizeof(*c->kept));
	k = &c->kept[line % KEPT_ROWS];
	if (k->limit == limit && k->line == line) {
		copy_row(a, &k->row, out);
		return;
	}
	make_row(c, line, limit, a, out);
	if (limit > KEPT_ROW_BYTES || out->is_missing)
		return;
	arena_free(&k->arena);
	copy_row(&k->arena, out, &k->row);
	k->line = line;
	k->limit = limit;
}

/* ---- a page ---- */

static void add_ends(struct conversation *c, uint32_t id, bool to, struct arena *a,
	struct conversation_node *out)
{
	uint32_t n;
	const uint32_t *v = flow_relations_at(&c->view, id, to, &n);
	struct conversation_end *ends = arena_alloc(a, (out->nends + n + 1) * sizeof(*ends));

	if (out->nends)
		memcpy(ends, out->ends, out->nends * sizeof(*ends));
	out->ends = ends;
	for (uint32_t i = 0; i < n; i++) {
		const struct flow_version *r = flow_version(c->f, v[i]);
		struct str line = raw_of(c, v[i], a);

		out->ends[out->nends++] = (struct conversation_end){ !to, to ? r->a : r->b,
			flow_word(c->f, r->kind), flow_word(c->f, r->c), member(line, "via", a),
			evidence_of(line, a) };
	}
}

struct taking {
	struct card_history *h;
	struct arena *a;
	size_t limit;
};

static void take_message(void *arg, struct str line)
{
	struct taking *t = arg;
	const char *colon = memchr(line.p, ':', line.n);
	size_t n = colon ? (size_t)(colon - line.p) : 0, skip = colon ? n + 2 : 0;

	card_say(t->h, t->a, (struct str){ line.p, n },
		cut((struct str){ line.p + skip, line.n - skip }, t->limit), CARD_NONE);
}

static void add_bodies(
	const struct flow_node *n, size_t limit, struct arena *a, struct conversation_node *out)
{
	out->bodies = arena_zalloc(a, (n->nbodies + 1) * sizeof(*out->bodies));
	for (size_t i = 0; i < n->nbodies; i++) {
		const struct flow_body *b = &n->bodies[i];
		struct conversation_body *to = &out->bodies[out->nbodies++];
		struct taking t = { &to->messages, a, limit };

		to->is_request = b->is_request;
		to->seq = b->place.seq;
		to->row = b->place.row;
		to->bytes = b->bytes.n;
		to->why = b->bytes.p ? NULL : b->why ? b->why : "it does not rebuild";
		if (!b->bytes.p)
			continue;
		to->has_messages = flow_body_messages(b, take_message, &t);
		if (!to->has_messages)
			to->raw = cut(b->bytes, limit);
	}
}

static uint32_t card_before(struct conversation *c, struct str call)
{
	const struct card_list *cards = conversation_cards(c);

	for (size_t i = 0; i < cards->n; i++)
		if (str_eq(cards->v[i].at, call) || str_eq(cards->v[i].id, call))
			return (uint32_t)i;
	return CONVERSATION_NONE;
}

static void say_place(const struct flow_place *p, char out[80])
{
	out[0] = '\0';
	if (p->is_set && p->has_block)
		snprintf(out, 80, "sequence %" PRIu64 ", record %" PRIu64 ", part %" PRId64, p->seq,
			p->row, p->block);
	else if (p->is_set)
		snprintf(out, 80, "sequence %" PRIu64 ", record %" PRIu64, p->seq, p->row);
}

static struct str join_flags(const struct flow_node *n, struct arena *a)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < n->nflags; i++) {
		if (i)
			buf_addc(&text, ' ');
		buf_addstr(&text, n->flags[i]);
	}
	return arena_take(a, &text);
}

int conversation_node(struct conversation *c, uint32_t line, size_t limit, struct arena *a,
	struct conversation_node *out, struct err *err)
{
	const struct conversation_line *l = &c->lines[line];
	const struct flow_version *v = flow_version(c->f, l->version);
	struct flow_node n;
	size_t nrounds;
	int rc = flow_node_read(c->f, l->version, true, a, &n, err);

	*out = (struct conversation_node){ .id = flow_word(c->f, l->id),
		.kind = flow_word(c->f, l->kind),
		.time = INT64_MIN,
		.card = CONVERSATION_NONE };
	if (rc < 0)
		return rc;
	out->stream = n.stream;
	out->parent = n.parent;
	out->name = n.name;
	out->from = n.from;
	out->model = n.model;
	out->missing = n.missing;
	out->is_unread = n.is_unread;
	out->flags = join_flags(&n, a);
	out->revision = flow_rounds(c->f, &nrounds)[v->round].h.round;
	say_place(&v->place, out->place);
	if (n.time.n)
		flow_time(n.time, &out->time);
	out->has_tokens = n.has_usage;
	for (int i = 0; i < CONVERSATION_TOKENS; i++) {
		out->tokens[i] = n.usage[i];
		out->token_names[i] = flow_usage_names[i];
	}
	out->history_changed = str_eqs(member(n.attrs, "history", a), "changed");
	if (out->history_changed || str_eqs(n.kind, "history.change"))
		out->card = card_before(c, out->id);
	add_ends(c, l->id, false, a, out);
	add_ends(c, l->id, true, a, out);
	add_bodies(&n, limit, a, out);
	flow_node_observed(c->f, a, &n);
	flow_node_content(&n, false, limit, a, &out->content);
	out->content.role = arena_strndup(a, out->kind.p, out->kind.n);
	return 0;
}
