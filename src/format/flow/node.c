/*
 * node.c - what a node says: its fields from the round, and text, time, tokens
 * and results from the landed records that its refs name. All of it is read
 * when it is asked for; a record that is not there is said to be missing.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <string.h>

const char *const flow_usage_names[FLOW_USAGES] = { "in", "out", "cache_read", "cache_write" };

enum { REFS_MAX = 256, FLAGS_MAX = 64, BODIES_MAX = 64 };

static bool is_there(struct str raw)
{
	enum json_type type = json_type_of(raw);

	return type != JSON_NONE && type != JSON_NULL;
}

/* A string member, decoded; p NULL when there is none. */
static struct str member(struct str object, const char *key, struct arena *a)
{
	struct str raw = json_get(object, key);

	return json_type_of(raw) == JSON_STRING ? flow_decoded(raw, a) : (struct str){ NULL, 0 };
}

/* What is not there is missing; what is there and can not be had was not read. */
static void note_missing(struct flow_node *n, const struct err *err, struct arena *a)
{
	n->is_unread |= err->code != ERR_NOTFOUND;
	if (!n->missing)
		n->missing = arena_strdup(a, err->text);
}

/* A record into the arena; p NULL when it can not be had, n (if it is not NULL) says why. */
static struct str record_of(
	struct flow_conversation *c, struct flow_place place, struct arena *a, struct flow_node *n)
{
	struct buf line = { 0 };
	struct err err = { 0 };
	struct str s = { NULL, 0 };

	if (flow_record(c, place.seq, place.row, &line, &err) == 0)
		s = arena_keep(a, buf_str(&line));
	else if (n)
		note_missing(n, &err, a);
	buf_release(&line);
	return s;
}

/* ---- parts ---- */

static struct str part_of_kind(struct str record, const char *kind)
{
	struct str key, part;
	struct json_iter it;

	json_iter_init(&it, json_get(record, "parts"));
	while (json_iter_next(&it, &key, &part))
		if (json_string_eq(json_get(part, "k"), kind))
			return part;
	return (struct str){ NULL, 0 };
}

/* What a ref names: the part of its block; else the first text, else the first part. */
static struct str part_of(struct str record, struct flow_place place)
{
	struct str part;

	if (place.has_block)
		return flow_part_at(record, (uint64_t)place.block);
	part = part_of_kind(record, "text");
	return part.p ? part : flow_part_at(record, 0);
}

/* The text parts of a record, a line each; p NULL when it has none. */
static struct str joined_texts(struct str record, struct arena *a)
{
	struct buf text = { 0 };
	struct str key, part, all = { NULL, 0 };
	struct json_iter it;
	bool any = false;

	json_iter_init(&it, json_get(record, "parts"));
	while (json_iter_next(&it, &key, &part)) {
		if (!json_string_eq(json_get(part, "k"), "text"))
			continue;
		if (any)
			buf_addc(&text, '\n');
		any = true;
		flow_text(json_get(part, "text"), &text);
	}
	if (any)
		all = arena_keep(a, buf_str(&text));
	buf_release(&text);
	return all;
}

/* The prompt of a message typed while the agent worked: a string, or a list of {text}. */
static struct str queued_prompt(struct str data, struct arena *a)
{
	struct str inner = json_get(data, "attachment"), prompt, key, item, all = { NULL, 0 };
	struct buf text = { 0 };
	struct json_iter it;

	if (json_type_of(inner) == JSON_OBJECT)
		data = inner;
	if (json_type_of(data) != JSON_OBJECT ||
		!json_string_eq(json_get(data, "type"), "queued_command"))
		return all;
	prompt = json_get(data, "prompt");
	if (json_type_of(prompt) == JSON_STRING)
		return flow_decoded(prompt, a);
	json_iter_init(&it, prompt);
	while (!it.is_object && json_iter_next(&it, &key, &item)) {
		if (text.n)
			buf_addc(&text, '\n');
		flow_text(json_get(item, "text"), &text);
	}
	if (text.n)
		all = arena_keep(a, buf_str(&text));
	buf_release(&text);
	return all;
}

static struct str part_text(struct str record, struct str part, struct arena *a)
{
	struct str kind = json_get(part, "k"), data = json_get(part, "data"), text;

	if (json_string_eq(kind, "unknown"))
		return (struct str){ NULL, 0 }; /* its text is a reason, its data are bytes */
	if (json_string_eq(kind, "data")) {
		text = joined_texts(record, a);
		if (!text.p)
			text = queued_prompt(data, a);
		if (text.p)
			return text;
	}
	text = member(part, "text", a);
	if (text.n == 0 && is_there(data))
		return data;
	return text;
}

static void say_part(struct str record, struct str part, struct arena *a, struct flow_said *said)
{
	if (!part.p)
		return;
	said->text = part_text(record, part, a);
	said->state = member(part, "state", a);
	said->media = member(part, "media", a);
	said->part_kind = member(part, "k", a);
	said->has_bytes = json_uint64(json_get(part, "bytes"), &said->bytes);
}

/* ---- tools ---- */

static bool is_tool(struct str kind)
{
	return str_eqs(kind, "tool") || str_eqs(kind, "agent.call");
}

static void take_result(
	struct str record, struct flow_place place, struct arena *a, struct flow_node *n)
{
	struct str part =
		place.has_block ? flow_part_at(record, (uint64_t)place.block) : part_of_kind(record, "result");
	struct flow_said said = { 0 };
	struct str failed = json_get(part, "failed");

	if (!part.p)
		return;
	if (!n->has_failed &&
		(json_type_of(failed) == JSON_TRUE || json_type_of(failed) == JSON_FALSE)) {
		n->has_failed = true;
		n->failed = json_type_of(failed) == JSON_TRUE;
	}
	said.text = member(part, "text", a);
	if (said.text.n == 0 && is_there(json_get(part, "data")))
		said.text = json_get(part, "data");
	said.state = member(part, "state", a);
	said.media = member(part, "media", a);
	said.part_kind = member(part, "k", a);
	said.has_bytes = json_uint64(json_get(part, "bytes"), &said.bytes);
	if (said.text.n || !n->has_result)
		n->result = said;
	n->has_result = true;
}

/* Behind the request stand the refs to what came back; the first that says something counts. */
static void find_result(
	struct flow_conversation *c, struct str refs, struct arena *a, struct flow_node *n)
{
	struct str key, item;
	struct json_iter it;

	n->results = arena_zalloc(a, REFS_MAX * sizeof(*n->results));
	json_iter_init(&it, refs);
	for (int i = 0; i < REFS_MAX && json_iter_next(&it, &key, &item); i++) {
		struct flow_place place;
		struct str record;

		if (i == 0 || !flow_ref(item, &place))
			continue;
		n->results[n->nresults++] = place;
		if (n->result.text.n)
			continue;
		record = record_of(c, place, a, NULL);
		if (record.p)
			take_result(record, place, a, n);
	}
}

/* ---- calls of the model ---- */

static void take_usage(struct flow_conversation *c, struct arena *a, struct flow_node *n)
{
	struct flow_place place;
	struct str record, usage;

	if (!flow_ref(json_get(n->attrs, "usage_at"), &place) || !place.is_set)
		return;
	record = record_of(c, place, a, NULL);
	usage = json_get(record, "usage");
	n->model = member(record, "model", a);
	n->has_usage = json_type_of(usage) == JSON_OBJECT;
	for (int i = 0; i < FLOW_USAGES; i++)
		json_int64(json_get(usage, flow_usage_names[i]), &n->usage[i]);
}

static void take_bodies(struct flow_conversation *c, struct arena *a, struct flow_node *n)
{
	struct str key, item;
	struct json_iter it;

	json_iter_init(&it, json_get(n->attrs, "provider_bodies"));
	n->bodies = arena_zalloc(a, BODIES_MAX * sizeof(*n->bodies));
	while (!it.is_object && n->nbodies < BODIES_MAX && json_iter_next(&it, &key, &item)) {
		struct flow_body *body = &n->bodies[n->nbodies++];
		struct flow_place place;

		flow_ref(json_get(item, "ref"), &place);
		flow_body_rebuild(c, place, a, body);
		body->is_request = json_string_eq(json_get(item, "role"), "request");
	}
}

/* ---- a node ---- */

static bool has_text(struct str kind)
{
	static const char *const without[] = { "session", "stream", "epoch", "segment", "talk",
		"run", "history.change", "llm.call" };

	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		if (str_eqs(kind, without[i]))
			return false;
	return true;
}

static void take_flags(struct str record, struct arena *a, struct flow_node *n)
{
	struct str key, item;
	struct json_iter it;

	json_iter_init(&it, json_get(record, "flags"));
	n->flags = arena_zalloc(a, FLAGS_MAX * sizeof(*n->flags));
	while (!it.is_object && n->nflags < FLAGS_MAX && json_iter_next(&it, &key, &item))
		if (json_type_of(item) == JSON_STRING)
			n->flags[n->nflags++] = flow_decoded(item, a);
}

static void take_record(struct flow_conversation *c, struct arena *a, struct flow_node *n)
{
	struct str record = record_of(c, n->place, a, n), part;

	if (!record.p)
		return;
	n->time = member(record, "time", a);
	n->from = member(record, "from", a);
	take_flags(record, a, n);
	if (!has_text(n->kind))
		return;
	part = part_of(record, n->place);
	if (!part.p)
		n->missing = "missing: the record has no such part";
	say_part(record, part, a, &n->said);
	if (is_tool(n->kind)) {
		n->name = member(part, "name", a);
		n->call_id = member(part, "id", a);
	}
}

int flow_node_read(struct flow_conversation *c, uint32_t version, bool bodies, struct arena *a,
	struct flow_node *out, struct err *err)
{
	const struct flow_version *v = flow_version(c, version);
	struct flow_line_scan s = { .keys = flow_keys };
	struct buf raw = { 0 };
	struct str line, name;
	int rc = flow_raw(c, version, &raw, err);

	*out = (struct flow_node){ .id = flow_word(c, v->id), .kind = flow_word(c, v->kind),
		.parent = flow_word(c, v->a), .stream = flow_word(c, v->b), .place = v->place };
	line = arena_keep(a, buf_str(&raw));
	buf_release(&raw);
	if (rc < 0)
		return rc;
	s.p = line.p;
	if (json_scan_lenient(line.p, line.n, flow_keys, KEY_COUNT, &s.sc) != JSON_OK)
		return err_set(err, ERR_CHANGED, "a round of %s is not what it was", flow_id(c));
	out->attrs = flow_field(&s, KEY_ATTRS);
	if (v->place.is_set)
		take_record(c, a, out);
	if (is_tool(out->kind)) {
		find_result(c, flow_field(&s, KEY_REFS), a, out);
		name = member(out->attrs, "name", a);
		if (out->name.n == 0)
			out->name = name;
	}
	if (str_eqs(out->kind, "llm.call")) {
		take_usage(c, a, out);
		if (bodies)
			take_bodies(c, a, out);
	}
	return rc;
}
