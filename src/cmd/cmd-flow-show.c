/*
 * cmd-flow-show.c - `bough show --json` of a conversation and of one node.
 */
#include "config.h"

#include "cmd/cmd-flow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* ---- a conversation ---- */

/* How often each word stands at one place of the live versions of a map. */
static json_doc *json_tally(const struct flow_view *view, enum flow_map map,
	uint32_t (*word)(const struct flow_version *))
{
	json_doc *o = json_doc_object();
	uint32_t last = 0, *counts;

	for (uint32_t i = 0; i < view->n[map]; i++) {
		uint32_t w = word(flow_version(view->c, view->live[map][i]));

		last = w > last ? w : last;
	}
	counts = xcalloc((size_t)last + 1, sizeof(*counts));
	for (uint32_t i = 0; i < view->n[map]; i++)
		counts[word(flow_version(view->c, view->live[map][i]))]++;
	for (uint32_t i = 0; i <= last; i++)
		if (counts[i])
			json_doc_set_str(o, flow_word(view->c, i), json_doc_uint(counts[i]));
	free(counts);
	return o;
}

static uint32_t word_kind(const struct flow_version *v)
{
	return v->kind;
}

static uint32_t word_state(const struct flow_version *v)
{
	return v->b;
}

static uint32_t word_quality(const struct flow_version *v)
{
	return v->c;
}

static json_doc *json_problems(const struct flow_conversation *f)
{
	json_doc *list = json_doc_list(), *o;
	uint64_t round;
	const struct flow_fault *fault = flow_problem(f, &round);

	if (fault) {
		o = json_flow_fault(fault);
		json_doc_set(o, "round", json_doc_uint(round));
		json_doc_set(o, "rule", json_cstr(fault->code));
		json_doc_add(list, o);
	}
	return list;
}

static json_doc *json_state(const struct flow_conversation *f)
{
	static const char *const keys[] = { "head", "head_digest", "through_seq" };
	json_doc *o = json_doc_object();

	if (!flow_has_state(f)) {
		json_doc_free(&o);
		return json_doc_null();
	}
	for (int i = 0; i < 3; i++)
		if (flow_state_value(f, keys[i]))
			json_doc_set(o, keys[i], json_cstr(flow_state_value(f, keys[i])));
	return o;
}

static void set_head(json_doc *o, const struct flow_header *h)
{
	json_doc_set(o, "head_round", json_doc_uint(h ? h->round : 0));
	json_doc_set(o, "head_digest", json_cstr(h ? h->digest : ""));
	json_doc_set(o, "input_digest", json_cstr(h ? h->input_digest : ""));
	json_doc_set(o, "through_seq", json_doc_uint(h ? h->through_seq : 0));
	json_doc_set(o, "session", json_doc_string(h ? h->session_s : str_of("")));
	if (!h)
		return;
	json_doc_set(o, "title", json_doc_string(h->title_s));
	json_doc_set(o, "header_counts", json_flow_counts(h));
}

static void set_fold(struct cmd *c, struct flow_conversation *f, json_doc *o)
{
	struct flow_outline outline;
	struct flow_view view;
	char hex[65] = "";

	flow_view_make(&view, f, flow_folded(f));
	json_doc_set(o, "nodes", json_doc_uint(view.n[FLOW_NODES]));
	json_doc_set(o, "relations", json_doc_uint(view.n[FLOW_RELATIONS]));
	json_doc_set(o, "unresolved", json_doc_uint(view.n[FLOW_UNRESOLVED]));
	json_doc_set(o, "kinds", json_tally(&view, FLOW_NODES, word_kind));
	json_doc_set(o, "relation_types", json_tally(&view, FLOW_RELATIONS, word_kind));
	json_doc_set(o, "qualities", json_tally(&view, FLOW_RELATIONS, word_quality));
	json_doc_set(o, "unresolved_states", json_tally(&view, FLOW_UNRESOLVED, word_state));
	flow_canonical_sha256(f, &view, hex, &c->err);
	json_doc_set(o, "fold_sha256", json_cstr(hex));
	flow_outline_make(&outline, &view);
	flow_outline_sha256(f, &outline, hex);
	json_doc_set(o, "outline_sha256", json_cstr(hex));
	json_doc_set(o, "outline_nodes", json_doc_uint(outline.n));
	flow_outline_release(&outline);
	flow_view_release(&view);
}

struct lists {
	json_doc *chain, *landed;
	bool is_unread;
};

static void add_finding(void *arg, const struct flow_finding *found)
{
	struct lists *lists = arg;
	json_doc *o;

	if (found->kind == FLOW_REMARK || found->is_stop) /* that stands among the problems */
		return;
	lists->is_unread |= found->kind == FLOW_UNREADABLE;
	o = json_doc_object();
	json_doc_set(o, "code", json_cstr(found->code));
	json_doc_set(o, "message", json_cstr(found->message));
	if (found->seq)
		json_doc_set(o, "seq", json_doc_uint(found->seq));
	if (found->check) {
		json_doc_set(o, "check", json_doc_int(found->check));
		json_doc_set(
			o, "round", found->round ? json_doc_uint(found->round) : json_doc_null());
	}
	json_doc_add(found->check ? lists->chain : lists->landed, o);
}

int cmd_flow_show(struct cmd *c)
{
	struct flow_conversation *f = flow_of_session(c->s);
	json_doc *o = json_doc_object(), *reservations = json_doc_list();
	int status = cmd_flow_reading(f);
	size_t n;

	for (size_t i = 0; i < flow_nreservations(f); i++)
		json_doc_add(reservations, json_cstr(flow_reservation(f, i)));
	flow_rounds(f, &n);
	json_doc_set(o, "id", json_cstr(flow_id(f)));
	json_doc_set(o, "format", json_cstr("flow"));
	json_doc_set(o, "path", json_cstr(flow_path(f)));
	json_doc_set(o, "rounds_on_disk", json_doc_uint(n));
	json_doc_set(o, "reservations", reservations);
	json_doc_set(o, "problems", json_problems(f));
	json_doc_set(o, "state", json_state(f));
	json_doc_set(o, "state_agrees", json_doc_bool(flow_state_agrees(f)));
	set_head(o, flow_head(f));
	set_fold(c, f, o);
	if (c->opt[OPT_VERIFY]) {
		struct lists lists = { json_doc_list(), json_doc_list(), false };

		flow_verify(f, add_finding, &lists);
		json_doc_set(o, "verify", lists.chain);
		json_doc_set(o, "landed_problems", lists.landed);
		if (lists.is_unread && status == STATUS_DONE)
			status = cmd_flow_unread(c);
	}
	return json_print(c, o, status);
}

/* ---- a node ---- */

static void set_text(json_doc *o, const char *key, struct str s)
{
	if (s.n)
		json_doc_set(o, key, json_doc_string(s));
}

static void set_said(json_doc *o, const struct flow_said *said, const char *text, const char *state,
	const char *bytes)
{
	if (said->text.p)
		json_doc_set(o, text, json_doc_string(said->text));
	set_text(o, state, said->state);
	if (said->has_bytes)
		json_doc_set(o, bytes, json_doc_uint(said->bytes));
}

static void add_line(void *arg, struct str line)
{
	json_doc_add(arg, json_doc_string(line));
}

static json_doc *json_body(const struct flow_body *b)
{
	json_doc *o = json_doc_object(), *lines = json_doc_list();

	if (!b->bytes.p) {
		json_doc_set(o, "why", json_cstr(b->why));
		json_doc_free(&lines);
		return o;
	}
	json_doc_set(o, "bytes", json_doc_uint(b->bytes.n));
	json_doc_set(o, "sha256", json_cstr(b->sha256));
	if (flow_body_messages(b, add_line, lines)) {
		json_doc_set(o, b->is_request ? "messages" : "content", lines);
	} else {
		json_doc_free(&lines);
		json_doc_set(o, "text", json_doc_string(b->bytes));
	}
	return o;
}

static json_doc *json_attrs(struct cmd *c, struct str raw)
{
	struct buf text = { 0 };
	json_doc *doc;

	if (!raw.p)
		return json_doc_null();
	flow_put_canonical(&text, raw);
	doc = json_doc_parse((struct str){ text.p, text.n }, false, &c->err);
	buf_release(&text);
	return doc ? doc : json_doc_null();
}

static json_doc *json_relations(const struct flow_view *view, uint32_t id, bool to)
{
	json_doc *list = json_doc_list();
	uint32_t n;
	const uint32_t *at = flow_relations_at(view, id, to, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct flow_version *r = flow_version(view->c, at[i]);
		json_doc *o = json_doc_object();

		json_doc_set(o, "id", json_doc_string(flow_word(view->c, r->id)));
		json_doc_set(o, "type", json_doc_string(flow_word(view->c, r->kind)));
		json_doc_set(o, to ? "from" : "to",
			json_doc_string(flow_word(view->c, to ? r->a : r->b)));
		json_doc_set(o, "quality", json_doc_string(flow_word(view->c, r->c)));
		json_doc_add(list, o);
	}
	return list;
}

static void set_record(json_doc *o, const struct flow_node *n)
{
	json_doc *usage = json_doc_object(), *flags = json_doc_list();

	set_text(o, "time", n->time);
	set_text(o, "from", n->from);
	set_text(o, "model", n->model);
	set_text(o, "name", n->name);
	for (size_t i = 0; i < n->nflags; i++)
		json_doc_add(flags, json_doc_string(n->flags[i]));
	for (int i = 0; i < FLOW_USAGES; i++)
		if (n->usage[i])
			json_doc_set(usage, flow_usage_names[i], json_doc_int(n->usage[i]));
	if (n->nflags)
		json_doc_set(o, "flags", flags);
	else
		json_doc_free(&flags);
	if (n->has_usage)
		json_doc_set(o, "usage", usage);
	else
		json_doc_free(&usage);
}

static json_doc *json_files(const struct flow_observed *seen)
{
	json_doc *list = json_doc_list();

	for (size_t i = 0; i < seen->nfiles; i++) {
		const struct flow_file_change *f = &seen->files[i];
		json_doc *o = json_doc_object();

		set_text(o, "path", f->path);
		set_text(o, "operation", f->operation);
		set_text(o, "diff", f->diff);
		set_text(o, "diff_state", f->state);
		set_text(o, "attribution", f->attribution);
		if (f->has_lines) {
			json_doc_set(o, "additions", json_doc_int(f->additions));
			json_doc_set(o, "deletions", json_doc_int(f->deletions));
		}
		json_doc_add(list, o);
	}
	return list;
}

static json_doc *json_seen(const struct flow_observed *seen)
{
	json_doc *o = json_doc_object();

	json_doc_set(o, "seq", json_doc_uint(seen->place.seq));
	json_doc_set(o, "row", json_doc_uint(seen->place.row));
	set_text(o, "id", seen->id);
	set_text(o, "by", seen->by);
	set_text(o, "where", seen->where);
	set_text(o, "time", seen->time);
	set_text(o, "outcome", seen->outcome);
	set_text(o, "coverage", seen->coverage);
	set_text(o, "server", seen->server);
	set_text(o, "protocol", seen->protocol);
	if (seen->has_duration)
		json_doc_set(o, "duration_ms", json_doc_int(seen->duration_ms));
	if (!seen->is_execution)
		json_doc_set(o, "files", json_files(seen));
	return o;
}

static void set_observed(json_doc *o, const struct flow_node *n, bool executions, const char *key)
{
	json_doc *list = json_doc_list();

	for (size_t i = 0; i < n->nobserved; i++)
		if (n->observed[i].is_execution == executions)
			json_doc_add(list, json_seen(&n->observed[i]));
	if (json_doc_count(list))
		json_doc_set(o, key, list);
	else
		json_doc_free(&list);
}

static json_doc *json_node(
	struct cmd *c, const struct flow_view *view, uint32_t version, const struct flow_node *n)
{
	uint32_t id = flow_version(view->c, version)->id;
	json_doc *o = json_doc_object(), *bodies = json_doc_object();

	json_doc_set(o, "id", json_doc_string(n->id));
	json_doc_set(o, "kind", json_doc_string(n->kind));
	json_doc_set(o, "parent", json_doc_string(n->parent));
	json_doc_set(o, "stream", json_doc_string(n->stream));
	json_doc_set(o, "attrs", json_attrs(c, n->attrs));
	json_doc_set(o, "relations_from", json_relations(view, id, false));
	json_doc_set(o, "relations_to", json_relations(view, id, true));
	if (n->missing)
		json_doc_set(o, "missing", json_cstr(n->missing));
	set_record(o, n);
	set_said(o, &n->said, "text", "state", "bytes");
	if (n->has_result)
		set_said(o, &n->result, "result", "result_state", "result_bytes");
	if (n->has_failed)
		json_doc_set(o, "failed", json_doc_bool(n->failed));
	set_observed(o, n, false, "changes");
	set_observed(o, n, true, "executions");
	for (size_t i = 0; i < n->nbodies; i++)
		json_doc_set(bodies, n->bodies[i].is_request ? "request" : "response",
			json_body(&n->bodies[i]));
	if (n->nbodies)
		json_doc_set(o, "bodies", bodies);
	else
		json_doc_free(&bodies);
	return o;
}

int cmd_flow_show_node(struct cmd *c)
{
	struct flow_conversation *f = flow_of_session(c->s);
	struct arena a = { 0 };
	struct flow_view view;
	struct flow_node n;
	uint32_t version, entry;
	int status = STATUS_DONE;

	flow_view_make(&view, f, flow_folded(f));
	version = flow_view_find(&view, FLOW_NODES, str_of(c->args[1]));
	if (version == FLOW_NONE) { /* the forms that entries have, a prefix among them */
		status = cmd_entry(c, c->args[1], &entry);
		if (status == STATUS_DONE)
			version = flow_version_of(c->s, entry);
	}
	if (status == STATUS_DONE && flow_node_read(f, version, true, &a, &n, &c->err) < 0)
		status = cmd_fail(c);
	if (status == STATUS_DONE) {
		flow_node_observed(f, &a, &n);
		if (n.is_unread)
			status = cmd_flow_unread(c);
		status = json_print(c, json_node(c, &view, version, &n), status);
	}
	flow_view_release(&view);
	arena_free(&a);
	return status;
}
