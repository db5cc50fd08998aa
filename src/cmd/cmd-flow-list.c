/*
 * cmd-flow-list.c - `bough rounds`, `relations`, `unresolved` and `cards`: the
 * lists that a conversation is made of.
 */
#include "config.h"

#include "cmd/cmd-flow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json/value.h"

/* ---- rounds ---- */

static uint32_t sum(const uint32_t v[FLOW_MAPS])
{
	return v[FLOW_NODES] + v[FLOW_RELATIONS] + v[FLOW_UNRESOLVED];
}

static const char *state_name(enum flow_state state)
{
	static const char *const names[] = { "waits", "folded", "bad", "not folded" };

	return names[state];
}

json_doc *json_flow_fault(const struct flow_fault *f)
{
	json_doc *o = json_doc_object();

	json_doc_set(o, "code", json_cstr(f->code));
	json_doc_set(o, "line", json_doc_uint(f->line));
	json_doc_set(o, "offset", json_doc_uint(f->off));
	json_doc_set(o, "message", json_cstr(f->text));
	return o;
}

json_doc *json_flow_counts(const struct flow_header *h)
{
	json_doc *o = json_doc_object();

	for (int i = 0; i < FLOW_COUNTS; i++)
		json_doc_set(o, flow_count_names[i],
			h->has_count[i] ? json_doc_int(h->count[i]) : json_doc_null());
	return o;
}

static json_doc *json_round(const struct flow_round *r)
{
	bool is_folded = r->state == FLOW_FOLDED;
	json_doc *o = json_doc_object(), *problems = json_doc_list();

	if (r->fault.code)
		json_doc_add(problems, json_flow_fault(&r->fault));
	json_doc_set(o, "round", json_doc_uint(r->number));
	json_doc_set(o, "file", json_cstr(r->name));
	json_doc_set(o, "state", json_cstr(state_name(r->state)));
	json_doc_set(o, "problems", problems);
	json_doc_set(o, "digest", json_cstr(is_folded ? r->h.digest : NULL));
	json_doc_set(o, "previous", json_cstr(is_folded ? r->h.previous : NULL));
	json_doc_set(o, "input_digest", json_cstr(is_folded ? r->h.input_digest : NULL));
	json_doc_set(o, "from_seq", is_folded ? json_doc_uint(r->h.from_seq) : json_doc_null());
	json_doc_set(
		o, "through_seq", is_folded ? json_doc_uint(r->h.through_seq) : json_doc_null());
	json_doc_set(o, "counts", is_folded ? json_flow_counts(&r->h) : json_doc_null());
	json_doc_set(o, "added", json_doc_uint(sum(r->added)));
	json_doc_set(o, "revised", json_doc_uint(sum(r->revised)));
	json_doc_set(o, "resolved", json_doc_uint(r->resolved));
	json_doc_set(o, "withdrawn", json_doc_uint(sum(r->withdrawn)));
	return o;
}

static void print_round(struct cmd *c, const struct flow_round *r)
{
	struct out *o = &c->out;

	out_printf(o, "%6" PRIu64 "  ", r->number);
	if (r->state == FLOW_FOLDED) {
		if (r->h.through_seq < r->h.from_seq)
			out_puts(o, "no sequence");
		else
			out_printf(o, "seq %" PRIu64 "-%" PRIu64, r->h.from_seq, r->h.through_seq);
		out_printf(o, "  +%u added, %u revised, %u resolved, -%u withdrawn  ",
			sum(r->added), sum(r->revised), r->resolved, sum(r->withdrawn));
		out_words_in(o, STYLE_ID, (struct str){ r->h.digest, 12 });
	} else {
		out_style(o, STYLE_DAMAGE);
		out_puts(o, state_name(r->state));
		out_style(o, STYLE_NONE);
		if (r->fault.code)
			out_printf(o, ": %s: ", r->fault.code);
		if (r->fault.code && r->fault.line)
			out_printf(o, "line %" PRIu64 ", offset %" PRIu64 ": ", r->fault.line,
				r->fault.off);
		out_words(o, str_of(r->fault.text));
	}
	out_puts(o, "\n");
}

/* Those up to a number; the names are in the order of theirs. */
static void print_reservations(
	struct cmd *c, const struct flow_conversation *f, size_t *next, uint64_t number)
{
	for (; *next < flow_nreservations(f); (*next)++) {
		const char *name = flow_reservation(f, *next);
		uint64_t reserved = strtoull(name + 1, NULL, 10);

		if (reserved > number)
			return;
		out_printf(&c->out, "%6" PRIu64 "  reserved: ", reserved);
		out_words(&c->out, str_of(name));
		out_puts(&c->out, "\n");
	}
}

int cmd_rounds(struct cmd *c)
{
	struct flow_conversation *f;
	const struct flow_round *rounds;
	struct json_list list = { 0 };
	size_t n, reserved = 0;
	int status = cmd_flow_open(c, &f);

	if (status != STATUS_DONE)
		return status;
	status = cmd_flow_status(f);
	rounds = flow_rounds(f, &n);
	if (c->json)
		json_list_begin(&list);
	for (size_t i = 0; i < n && out_is_alive(&c->out); i++) {
		if (c->json) {
			json_list_add(c, &list, json_round(&rounds[i]));
			continue;
		}
		print_reservations(c, f, &reserved, rounds[i].number);
		print_round(c, &rounds[i]);
	}
	if (!c->json)
		print_reservations(c, f, &reserved, UINT64_MAX);
	return c->json ? json_list_end(c, &list, status) : status;
}

/* ---- a row of `list` ---- */

static void set_header(json_doc *o, const struct flow_header *h)
{
	json_doc *meta = json_doc_object();
	int64_t ms;

	json_doc_set(meta, "title", json_doc_string(h->title_s));
	json_doc_set(meta, "session", json_doc_string(h->session_s));
	json_doc_set(o, "meta", meta);
	json_doc_set(o, "head_round", json_doc_uint(h->round));
	json_doc_set(o, "through_seq", json_doc_uint(h->through_seq));
	json_doc_set(o, "header_counts", json_flow_counts(h));
	json_doc_set(o, "entries",
		h->has_count[FLOW_STEPS] ? json_doc_int(h->count[FLOW_STEPS]) : json_doc_null());
	json_doc_set(o, "created",
		flow_time(str_of(h->session_from_time), &ms) ? json_doc_int(ms) : json_doc_null());
	json_doc_set(o, "active",
		flow_time(str_of(h->session_through_time), &ms) ? json_doc_int(ms)
								: json_doc_null());
}

json_doc *json_flow_row(struct cmd *c, const struct session_row *row, struct buf *title)
{
	json_doc *o = json_doc_object(), *problems = json_doc_list();
	struct flow_header h;
	struct flow_fault fault;
	struct arena a = { 0 };
	size_t nrounds;
	int rc = flow_newest_header(row->path, &a, &h, &fault, &nrounds, &c->err);

	json_doc_set(o, "id", json_cstr(row->id));
	json_doc_set(o, "format", json_cstr("flow"));
	json_doc_set(o, "path", json_cstr(row->path));
	json_doc_set(o, "size", json_doc_uint(row->size));
	json_doc_set(o, "rounds_on_disk", json_doc_uint(nrounds));
	if (rc < 0)
		json_doc_set(o, "error", json_cstr(c->err.text));
	else if (fault.code)
		json_doc_add(problems, json_flow_fault(&fault));
	if (rc == 0 && nrounds) {
		set_header(o, &h);
		buf_addstr(title, h.title_s);
	}
	json_doc_set(o, "problems", problems);
	c->err = (struct err){ 0 };
	arena_free(&a);
	return o;
}

/* ---- entities ---- */

/* The entity as its canonical text has it. */
static json_doc *json_entity(
	struct cmd *c, struct flow_conversation *f, enum flow_map map, uint32_t version)
{
	struct buf text = { 0 };
	json_doc *doc = NULL;

	if (flow_put_entity(f, map, version, &text, &c->err) == 0)
		doc = json_doc_parse((struct str){ text.p, text.n }, false, &c->err);
	buf_release(&text);
	return doc;
}

static void words(struct cmd *c, enum out_style style, const struct flow_conversation *f,
	uint32_t word, const char *behind)
{
	struct str s = flow_word(f, word);

	out_words_in(&c->out, style, s.n ? s : str_of("-"));
	out_puts(&c->out, behind);
}

/* A string of an entity's canonical text, when it is there. */
static void print_text(struct cmd *c, struct str entity, const char *key, const char *before)
{
	struct buf text = { 0 };

	flow_text(json_get(entity, key), &text);
	if (text.n) {
		out_puts(&c->out, before);
		out_words(&c->out, buf_str(&text));
	}
	buf_release(&text);
}

static void print_evidence(struct cmd *c, struct str entity)
{
	struct buf refs = { 0 };

	if (flow_put_refs(&refs, json_get(entity, "evidence"), SIZE_MAX)) {
		out_puts(&c->out, "  at ");
		out_words_in(&c->out, STYLE_DIM, buf_str(&refs));
	}
	buf_release(&refs);
}

static void print_entity(
	struct cmd *c, struct flow_conversation *f, enum flow_map map, uint32_t version)
{
	const struct flow_version *v = flow_version(f, version);
	struct buf text = { 0 };
	struct str entity;

	if (flow_put_entity(f, map, version, &text, &c->err) < 0) {
		buf_release(&text);
		return;
	}
	entity = buf_str(&text);
	switch (map) {
	case FLOW_NODES: /* a card */
		words(c, STYLE_ID, f, v->id, "  before ");
		words(c, STYLE_ID, f, v->c, "");
		break;
	case FLOW_RELATIONS:
		words(c, STYLE_HEAD, f, v->kind, "  ");
		words(c, STYLE_ID, f, v->a, " -> ");
		words(c, STYLE_ID, f, v->b, "  ");
		words(c, STYLE_DIM, f, v->c, "");
		print_text(c, entity, "via", "  via ");
		print_evidence(c, entity);
		break;
	default:
		words(c, STYLE_HEAD, f, v->b, "  ");
		words(c, STYLE_NONE, f, v->kind, "  ");
		words(c, STYLE_ID, f, v->a, "");
		print_text(c, entity, "reason", "  ");
		break;
	}
	out_puts(&c->out, "\n");
	buf_release(&text);
}

static int list_map(struct cmd *c, enum flow_map map, const char *kind)
{
	struct flow_conversation *f;
	struct json_list list = { 0 };
	struct flow_view view;
	int status = cmd_flow_open(c, &f);

	if (status != STATUS_DONE)
		return status;
	status = cmd_flow_status(f);
	flow_view_make(&view, f, flow_folded(f));
	if (c->json)
		json_list_begin(&list);
	for (uint32_t i = 0; i < view.n[map] && !c->err.code && out_is_alive(&c->out); i++) {
		const struct flow_version *v = flow_version(f, view.live[map][i]);
		json_doc *doc;

		if (kind && !str_eqs(flow_word(f, v->kind), kind))
			continue;
		if (!c->json)
			print_entity(c, f, map, view.live[map][i]);
		else if ((doc = json_entity(c, f, map, view.live[map][i])) != NULL)
			json_list_add(c, &list, doc);
	}
	flow_view_release(&view);
	if (c->json)
		return json_list_end(c, &list, status);
	return c->err.code ? cmd_fail(c) : status;
}

int cmd_relations(struct cmd *c)
{
	return list_map(c, FLOW_RELATIONS, NULL);
}

int cmd_unresolved(struct cmd *c)
{
	return list_map(c, FLOW_UNRESOLVED, NULL);
}

int cmd_cards(struct cmd *c)
{
	return list_map(c, FLOW_NODES, "history.change");
}
