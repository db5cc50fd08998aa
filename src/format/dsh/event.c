/*
 * event.c - the vocabulary of version 0, and what an event must look like
 * beyond being JSON with the right seq: envelope, surface members, messages.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define TYPE(name, type, leads)                     \
	{                                           \
		name, sizeof(name) - 1, type, leads \
	}

const struct dsh_type_row dsh_types[] = {
	/* the frequent ones first */
	TYPE("assistant/chunk", T_CHUNK, true),
	TYPE("turn/start", T_TURN_START, true),
	TYPE("step/start", T_STEP_START, true),
	TYPE("user/message", T_USER, false),
	TYPE("request/header", T_REQUEST_HEADER, true),
	TYPE("request/context", T_REQUEST_CONTEXT, true),
	TYPE("assistant/message", T_ASSISTANT, false),
	TYPE("tool/call", T_TOOL_CALL, false),
	TYPE("tool/result", T_TOOL_RESULT, false),
	TYPE("step/end", T_STEP_END, false),
	TYPE("turn/end", T_TURN_END, false),
	TYPE("session/end-seed", T_END_SEED, false),
	TYPE("todo/write", T_TODO, false),
	TYPE("session/title", T_TITLE, false),
	TYPE("session/title-llm-request", T_OTHER, false),
	TYPE("compaction/start", T_COMPACTION_START, true),
	TYPE("compaction/summary", T_COMPACTION_SUMMARY, true),
	TYPE("compaction/end", T_COMPACTION_END, false),
	TYPE("compaction/prune", T_PRUNE, true),
	TYPE("subagent/descriptor", T_DESCRIPTOR, false),
	TYPE("agent-preset/selected", T_OTHER, false),
	TYPE("agent/inbox/spliced", T_OTHER, false),
	TYPE("approval/asked", T_OTHER, false),
	TYPE("approval/decided", T_OTHER, false),
	TYPE("approval/policy", T_OTHER, false),
	TYPE("sandbox/mode", T_OTHER, false),
	TYPE("permission/preset", T_OTHER, false),
	TYPE("plan/mode", T_OTHER, false),
	TYPE("command/run", T_OTHER, false),
	TYPE("command/done", T_OTHER, false),
	TYPE("feedback/record", T_OTHER, false),
	TYPE("goal/change", T_OTHER, false),
	TYPE("hook/invoked", T_OTHER, false),
	TYPE("hook/result", T_OTHER, false),
	TYPE("llm/retry", T_OTHER, true),
	TYPE("llm/retry-started", T_OTHER, true),
	TYPE("schedule/change", T_OTHER, false),
	TYPE("team/member", T_OTHER, false),
	TYPE("team/task", T_OTHER, false),
	TYPE("team/message/queued", T_OTHER, false),
	TYPE("team/message/delivered", T_OTHER, false),
	TYPE("tool/code-dispatch-start", T_OTHER, false),
	TYPE("tool/code-dispatch", T_OTHER, false),
	TYPE("tool-workflow/run-start", T_OTHER, false),
	TYPE("tool-workflow/agent-start", T_OTHER, false),
	TYPE("tool-workflow/agent-end", T_OTHER, false),
	TYPE("tool-workflow/run-end", T_OTHER, false),
	TYPE("web/deepseek-search-llm-request", T_OTHER, false),
	/* of later writers of version 0 */
	TYPE("model/selection", T_OTHER, false),
	TYPE("session-log-deepseek/delivery-accepted", T_OTHER, false),
	TYPE("subagent/model-selection-policy", T_OTHER, false),
	/* of earlier ones: upgraded, or refused */
	TYPE("steering/message", T_STEERING, false),
	TYPE("request/header-delta", T_RETIRED, true),
	TYPE("mode/set", T_RETIRED, false),
	{ NULL, 0, T_UNKNOWN, false },
};

bool event_leads(unsigned type)
{
	for (const struct dsh_type_row *row = dsh_types; row->name; row++)
		if (row->type == type)
			return row->leads;
	return false;
}

bool event_is_surface(enum dsh_type t)
{
	return t == T_USER || t == T_ASSISTANT || t == T_TOOL_RESULT;
}

bool event_is_ignorable(const struct dsh_rec *r)
{
	return json_type_of(rec_field(r, K_IGNORABLE)) == JSON_TRUE;
}

/* ---- the envelope ---- */

static bool is_envelope_key(struct str key)
{
	static const char *const names[] = { "type", "seq", "time", "data", "sourceEventSeqs",
		"surfaceOp", "ignorable" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (json_string_eq(key, names[i]))
			return true;
	return false;
}

static const char *check_envelope(const struct dsh_rec *r)
{
	struct json_iter it;
	struct str key, value;
	int64_t time;

	if (json_type_of(rec_field(r, K_TYPE)) != JSON_STRING)
		return "the event has no type";
	if (!num_safe(rec_field(r, K_TIME), &time))
		return "the event has no good time";
	if (!rec_field(r, K_DATA).n)
		return "the event has no data";
	if (rec_field(r, K_IGNORABLE).n && !event_is_ignorable(r))
		return "\"ignorable\" is not true";
	if (rec_has_only_found(r) && !rec_field(r, K_SEQ0).n && !rec_field(r, K_TIME0).n)
		return NULL;
	json_iter_init(&it, rec_object(r));
	while (json_iter_next(&it, &key, &value))
		if (!is_envelope_key(key))
			return "the event has a foreign member";
	return NULL;
}

/* ---- surface members ---- */

static const char *check_op(struct str op)
{
	struct json_iter it;
	struct str key, value;
	uint64_t seq;
	int seen = 0;

	if (json_string_eq(op, "append"))
		return NULL;
	if (json_type_of(op) != JSON_OBJECT)
		return "surfaceOp is neither \"append\" nor a replacement";
	json_iter_init(&it, op);
	while (json_iter_next(&it, &key, &value)) {
		if (json_string_eq(key, "op") && json_string_eq(value, "replace"))
			seen |= 1;
		else if (json_string_eq(key, "start") && num_count(value, &seq))
			seen |= 2;
		else if (json_string_eq(key, "end") && num_count(value, &seq))
			seen |= 4;
		else
			return "surfaceOp is no replacement";
	}
	return seen == 7 ? NULL : "surfaceOp is no replacement";
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool has_twins(struct str list)
{
	uint64_t *v = NULL, a;
	size_t n = 0, cap = 0;
	struct json_iter it;
	struct str none, value;
	bool found = false;

	json_iter_init(&it, list);
	while (json_iter_next(&it, &none, &value))
		if (num_count(value, &a)) {
			v = xgrow(v, &cap, n + 1, sizeof(*v));
			v[n++] = a;
		}
	if (n)
		qsort(v, n, sizeof(*v), by_value);
	for (size_t i = 1; i < n && !found; i++)
		found = v[i] == v[i - 1];
	free(v);
	return found;
}

static const char *check_sources(const struct dsh_rec *r)
{
	const struct dsh_sources *list = &r->sources;

	if (!r->has_sources)
		return "sourceEventSeqs is no list";
	if (list->is_empty)
		return r->type == T_ASSISTANT ? NULL : "sourceEventSeqs is empty";
	if (list->max >= r->seq)
		return "sourceEventSeqs names an event that is not before this one";
	return !list->is_rising && has_twins(rec_field(r, K_SOURCES))
		       ? "sourceEventSeqs names an event twice"
		       : NULL;
}

static const char *check_surface(const struct dsh_rec *r)
{
	struct str op = rec_field(r, K_OP), sources = rec_field(r, K_SOURCES);

	if (!event_is_surface(r->type))
		return op.n || sources.n ? "the event may not be on the surface" : NULL;
	if (!op.n)
		return "the event must be on the surface and has no surfaceOp";
	if (sources.n) {
		const char *why = check_sources(r);

		if (why)
			return why;
	}
	return check_op(op);
}

/* ---- messages ---- */

static bool is_text(struct str raw)
{
	return json_type_of(raw) == JSON_STRING && raw.n > 2;
}

static bool is_same_text(struct str x, struct str y)
{
	struct buf a = { 0 }, b = { 0 };
	bool same = str_eq(x, y);

	if (!same) { /* escapes may differ */
		json_put_requoted(&a, x);
		json_put_requoted(&b, y);
		same = str_eq((struct str){ a.p, a.n }, (struct str){ b.p, b.n });
	}
	buf_release(&a);
	buf_release(&b);
	return same;
}

static const char *check_result(const struct dsh_message *m)
{
	if (!json_string_eq(m->kind, "tool"))
		return "a tool result from another source";
	if (!json_string_eq(m->type, "tool-result") || json_type_of(m->inner) != JSON_LIST)
		return "a tool result without its one block";
	if (m->nblocks > 1)
		return "a tool result with more than one block";
	if (json_type_of(m->tool_call) != JSON_STRING || json_type_of(m->call) != JSON_STRING)
		return "a tool result without a call id";
	return is_same_text(m->tool_call, m->call) ? NULL : "a tool result whose call ids differ";
}

static const char *check_message(struct dsh_rec *r)
{
	const struct dsh_message *m = rec_message(r);

	if (!is_text(m->id))
		return "the event lacks an identified message";
	if (json_type_of(m->content) != JSON_LIST || json_type_of(m->kind) != JSON_STRING)
		return "the message has no content or no source";
	if (!json_string_eq(m->role, r->type == T_ASSISTANT ? "assistant" : "user"))
		return "the message has another role";
	if (r->type == T_ASSISTANT)
		return json_string_eq(m->kind, "model") && is_text(m->provider) && is_text(m->model)
			       ? NULL
			       : "the answer does not name its model";
	return r->type == T_TOOL_RESULT ? check_result(m) : NULL;
}

const char *event_check(struct dsh_rec *r)
{
	const char *why = NULL;

	if (r->state == REC_PACKED || r->is_quick)
		return NULL;
	if (r->type == T_RETIRED)
		return "a retired type of event";
	if (event_is_surface(r->type))
		why = check_message(r);
	if (!why)
		why = check_envelope(r);
	if (!why && r->type == T_REQUEST_HEADER) {
		struct str config = json_get(json_get(rec_field(r, K_DATA), "header"), "config");

		if (!is_text(json_get(config, "provider")) || !is_text(json_get(config, "model")))
			why = "a request header without provider and model";
	}
	return why ? why : check_surface(r);
}
