/*
 * content.c - what a node says as the parts of a page: its text, the input and
 * result of a tool, then its attributes.
 */
#include "config.h"

#include "format/flow/internal.h"

#include "base/utf8.h"
#include "model/content.h"

static void add_part(struct content *out, struct arena *a, enum part_kind kind, struct str name,
	struct str text, size_t limit)
{
	struct part *part = content_add(out, a, kind);

	part->name = name;
	part->whole = text.n;
	part->more = text.n > limit;
	part->text =
		(struct str){ text.p ? text.p : "", part->more ? utf8_cut(text.p, limit) : text.n };
	out->more = out->more || part->more;
}

static void add_attrs(struct content *out, struct arena *a, struct str attrs, size_t limit)
{
	struct str key, value;
	struct json_iter it;

	json_iter_init(&it, attrs);
	while (it.is_object && json_iter_next(&it, &key, &value))
		add_part(out, a, PART_META, flow_decoded(key, a),
			json_type_of(value) == JSON_STRING ? flow_decoded(value, a) : value, limit);
}

static enum part_kind text_kind(const struct flow_node *n)
{
	if (str_eqs(n->said.part_kind, "reasoning"))
		return PART_REASONING;
	if (str_eqs(n->said.part_kind, "data"))
		return PART_JSON;
	return str_starts(n->kind, "message.") || str_eqs(n->kind, "agent.output") ? PART_TEXT
										   : PART_PLAIN;
}

static void add_said(struct content *out, struct arena *a, const struct flow_node *n, size_t limit)
{
	if (n->missing)
		add_part(out, a, PART_NOTE, str_of(NULL), str_of(n->missing), limit);
	if (str_eqs(n->kind, "tool") || str_eqs(n->kind, "agent.call")) {
		add_part(out, a, PART_CALL, n->name, n->said.text, limit);
		if (n->has_result) {
			add_part(out, a, PART_RESULT, n->name, n->result.text, limit);
			out->v[out->n - 1].failed = n->has_failed && n->failed;
		}
	} else if (n->said.text.n) {
		add_part(out, a, text_kind(n), str_of(NULL), n->said.text, limit);
	} else if (n->said.state.n && !str_eqs(n->said.state, "available")) {
		add_part(out, a, PART_NOTE, str_of(NULL), n->said.state, limit);
	}
}

void flow_node_content(
	const struct flow_node *n, bool whole, size_t limit, struct arena *a, struct content *out)
{
	out->role = arena_strndup(a, n->kind.p, n->kind.n);
	add_said(out, a, n, limit);
	flow_observed_content(n, limit, a, out);
	if (whole && n->time.n)
		add_part(out, a, PART_META, str_of("time"), n->time, limit);
	if (whole && n->model.n)
		add_part(out, a, PART_META, str_of("model"), n->model, limit);
	if (whole && n->stream.n)
		add_part(out, a, PART_META, str_of("stream"), n->stream, limit);
	add_attrs(out, a, n->attrs, limit);
}
