/*
 * event.c - the vocabulary of version 0, and what an event must look like
 * beyond being JSON with the right seq: envelope, surface members, messages.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

const struct dsh_type_row dsh_types[] = {
	/* the frequent ones first */
	{ "assistant/chunk", T_CHUNK, true },
	{ "turn/start", T_TURN_START, true },
	{ "step/start", T_STEP_START, true },
	{ "user/message", T_USER, false },
	{ "request/header", T_REQUEST_HEADER, true },
	{ "request/context", T_REQUEST_CONTEXT, true },
	{ "assistant/message", T_ASSISTANT, false },
	{ "tool/call", T_TOOL_CALL, false },
	{ "tool/result", T_TOOL_RESULT, false },
	{ "step/end", T_STEP_END, false },
	{ "turn/end", T_TURN_END, false },
	{ "session/end-seed", T_END_SEED, false },
	{ "todo/write", T_TODO, false },
	{ "session/title", T_TITLE, false },
	{ "session/title-llm-request", T_OTHER, false },
	{ "compaction/start", T_COMPACTION_START, true },
	{ "compaction/summary", T_COMPACTION_SUMMARY, true },
	{ "compaction/end", T_COMPACTION_END, false },
	{ "compaction/prune", T_PRUNE, true },
	{ "subagent/descriptor", T_OTHER, false },
	{ "agent-preset/selected", T_OTHER, false },
	{ "agent/inbox/spliced", T_OTHER, false },
	{ "approval/asked", T_OTHER, false },
	{ "approval/decided", T_OTHER, false },
	{ "approval/policy", T_OTHER, false },
	{ "sandbox/mode", T_OTHER, false },
	{ "permission/preset", T_OTHER, false },
	{ "plan/mode", T_OTHER, false },
	{ "command/run", T_OTHER, false },
	{ "command/done", T_OTHER, false },
	{ "feedback/record", T_OTHER, false },
	{ "goal/change", T_OTHER, false },
	{ "hook/invoked", T_OTHER, false },
	{ "hook/result", T_OTHER, false },
	{ "llm/retry", T_OTHER, true },
	{ "llm/retry-started", T_OTHER, true },
	{ "schedule/change", T_OTHER, false },
	{ "team/member", T_OTHER, false },
	{ "team/task", T_OTHER, false },
	{ "team/message/queued", T_OTHER, false },
	{ "team/message/delivered", T_OTHER, false },
	{ "tool/code-dispatch-start", T_OTHER, false },
	{ "tool/code-dispatch", T_OTHER, false },
	{ "tool-workflow/run-start", T_OTHER, false },
	{ "tool-workflow/agent-start", T_OTHER, false },
	{ "tool-workflow/agent-end", T_OTHER, false },
	{ "tool-workflow/run-end", T_OTHER, false },
	{ "web/deepseek-search-llm-request", T_OTHER, false },
	/* of later writers of version 0 */
	{ "model/selection", T_OTHER, false },
	{ "session-log-deepseek/delivery-accepted", T_OTHER, false },
	{ "subagent/model-selection-policy", T_OTHER, false },
	/* of earlier ones: upgraded, or refused */
	{ "steering/message", T_STEERING, false },
	{ "request/header-delta", T_RETIRED, true },
	{ "mode/set", T_RETIRED, false },
	{ NULL, T_UNKNOWN, false },
};

bool event_is_surface(enum dsh_type t)
{
	return t == T_USER || t == T_ASSISTANT || t == T_TOOL_RESULT;
}

bool event_is_ignorable(const struct dsh_rec *r)
{
	return json_type_of(rec_field(r, K_IGNORABLE)) == JSON_TRUE;
}

/* ---- the envelope ---- */

/* The members that were found fill a compact object to the last byte: then there is no other. */
static bool has_only_found(const struct dsh_rec *r)
{
	static const uint8_t key_length[K_COUNT] = { 4, 3, 4, 4, 15, 9, 9, 4, 5 };
	size_t n = 1;

	for (int i = 0; i < K_COUNT; i++)
		if (r->sc.field[i].type != JSON_NONE)
			n += key_length[i] + 4u + r->sc.field[i].len;
	return n == r->sc.end - r->sc.start;
}

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
	if (has_only_found(r) && !rec_field(r, K_SEQ0).n && !rec_field(r, K_TIME0).n)
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

/* Ranges are known to rise, so their ends tell all. */
static const char *check_sources(const struct dsh_rec *r, struct str list)
{
	bool is_rising = true, is_first = true;
	uint64_t a, last = 0;
	struct json_iter it, pair;
	struct str none, value, end;

	if (json_type_of(list) != JSON_LIST)
		return "sourceEventSeqs is no list";
	json_iter_init(&it, list);
	while (json_iter_next(&it, &none, &value)) {
		end = value;
		json_iter_init(&pair, value);
		while (json_iter_next(&pair, &none, &value))
			end = value;
		if (!num_count(end, &a) || a >= r->seq)
			return "sourceEventSeqs names an event that is not before this one";
		is_rising = is_rising && (is_first || a > last);
		is_first = false;
		last = a;
	}
	if (is_first && r->type != T_ASSISTANT)
		return "sourceEventSeqs is empty";
	return !is_rising && has_twins(list) ? "sourceEventSeqs names an event twice" : NULL;
}

static const char *check_surface(const struct dsh_rec *r)
{
	struct str op = rec_field(r, K_OP), sources = rec_field(r, K_SOURCES);

	if (!event_is_surface(r->type))
		return op.n || sources.n ? "the event may not be on the surface" : NULL;
	if (!op.n)
		return "the event must be on the surface and has no surfaceOp";
	if (sources.n) {
		const char *why = check_sources(r, sources);

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

static const char *check_result(struct str message)
{
	struct str content = json_get(message, "content"), block, none, id, call;
	struct json_iter it;
	struct buf a = { 0 }, b = { 0 };
	bool same;

	json_iter_init(&it, content);
	if (!json_iter_next(&it, &none, &block) ||
		!json_string_eq(json_get(block, "type"), "tool-result") ||
		json_type_of(json_get(block, "content")) != JSON_LIST)
		return "a tool result without its one block";
	id = json_get(block, "toolCallId");
	if (json_iter_next(&it, &none, &block))
		return "a tool result with more than one block";
	call = json_get(json_get(message, "source"), "callId");
	if (json_type_of(id) != JSON_STRING || json_type_of(call) != JSON_STRING)
		return "a tool result without a call id";
	json_put_requoted(&a, id);
	json_put_requoted(&b, call);
	same = str_eq((struct str){ a.p, a.n }, (struct str){ b.p, b.n });
	buf_release(&a);
	buf_release(&b);
	return same ? NULL : "a tool result whose call ids differ";
}

static const char *check_message(const struct dsh_rec *r)
{
	struct str data = rec_field(r, K_DATA);
	struct str message = r->type == T_USER ? data : json_get(data, "message");
	struct str role = json_get(message, "role"), source = json_get(message, "source");
	struct str kind = json_get(source, "kind");

	if (!is_text(json_get(message, "id")))
		return "the event lacks an identified message";
	if (json_type_of(json_get(message, "content")) != JSON_LIST ||
		json_type_of(kind) != JSON_STRING)
		return "the message has no content or no source";
	if (!json_string_eq(role, r->type == T_ASSISTANT ? "assistant" : "user"))
		return "the message has another role";
	if (r->type == T_ASSISTANT)
		return json_string_eq(kind, "model") && is_text(json_get(source, "provider")) &&
				       is_text(json_get(source, "model"))
			       ? NULL
			       : "the answer does not name its model";
	if (r->type == T_TOOL_RESULT)
		return json_string_eq(kind, "tool") ? check_result(message)
						    : "a tool result from another source";
	return NULL;
}

const char *event_check(const struct dsh_rec *r)
{
	const char *why = NULL;

	if (r->state == REC_PACKED)
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
