/*
 * upgrade.c - events in the shapes of earlier writers of version 0, brought
 * into the present one in memory. Nothing is ever written back this way by
 * reading.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <inttypes.h>
#include <string.h>

/* The event with other data (and perhaps another type), its members in their places. */
static void rebuild(
	const struct dsh_rec *r, const char *type, const struct buf *data, struct buf *out)
{
	struct json_iter it;
	struct str key, value;

	buf_addc(out, '{');
	json_iter_init(&it, rec_object(r));
	while (json_iter_next(&it, &key, &value)) {
		if (out->p[out->n - 1] != '{')
			buf_addc(out, ',');
		buf_addstr(out, key);
		buf_addc(out, ':');
		if (json_string_eq(key, "data"))
			buf_add(out, data->p, data->n);
		else if (type && json_string_eq(key, "type"))
			json_put_cstr(out, type);
		else
			buf_addstr(out, value);
	}
	buf_addc(out, '}');
}

static void put(struct buf *out, const char *key, struct str raw)
{
	if (!raw.n)
		return;
	json_put_key(out, key);
	buf_addstr(out, raw);
}

static size_t count_members(struct str object)
{
	struct json_iter it;
	struct str key, value;
	size_t n = 0;

	json_iter_init(&it, object);
	while (json_iter_next(&it, &key, &value))
		n++;
	return n;
}

static void put_made_id(struct buf *out, struct str session, uint64_t seq)
{
	buf_adds(out, "\"id\":\"legacy-message:");
	if (session.n > 2)
		buf_add(out, session.p + 1, session.n - 2);
	buf_printf(out, ":%" PRIu64 "\"", seq);
}

/* The members of `data` but those named, each behind a comma where one is due. */
static void put_others(struct buf *out, struct str data, const char *const *without)
{
	struct json_iter it;
	struct str key, value;

	json_iter_init(&it, data);
	while (json_iter_next(&it, &key, &value)) {
		bool skip = false;

		for (size_t i = 0; without[i]; i++)
			skip = skip || json_string_eq(key, without[i]);
		if (skip)
			continue;
		if (out->p[out->n - 1] != '{')
			buf_addc(out, ',');
		buf_addstr(out, key);
		buf_addc(out, ':');
		buf_addstr(out, value);
	}
}

static bool turn_start(struct str data, struct buf *out)
{
	static const char *const without[] = { "trigger", NULL };
	struct str trigger = json_get(data, "trigger");

	if (count_members(data) != 2 || !json_get(data, "turn").n || count_members(trigger) != 1 ||
		!json_get(trigger, "kind").n)
		return false;
	buf_addc(out, '{');
	put_others(out, data, without);
	buf_addc(out, '}');
	return true;
}

/* A reason of today, or false. */
static bool turn_reason(struct str reason, struct buf *out)
{
	struct str kind = json_get(reason, "kind"), message = json_get(reason, "message");
	struct str failure = json_get(reason, "failure");

	if (json_string_eq(kind, "aborted") && !json_get(reason, "reason").n) {
		buf_adds(out, "{\"kind\":\"aborted\",\"reason\":{\"kind\":\"legacy\"}}");
	} else if (json_string_eq(kind, "disposed")) {
		buf_adds(out, "{\"kind\":\"aborted\",\"reason\":{\"kind\":\"disposed\"}}");
	} else if (json_string_eq(kind, "error") && json_get(reason, "step").n && failure.n) {
		buf_adds(out, "{\"kind\":\"error\",\"error\":");
		buf_addstr(out, failure);
		buf_addc(out, '}');
	} else if (json_string_eq(kind, "error") && json_get(reason, "step").n && message.n) {
		struct str code = json_get(reason, "code");

		buf_adds(out, "{\"kind\":\"error\",\"error\":{\"message\":");
		buf_addstr(out, message);
		buf_adds(out, ",\"code\":");
		buf_addstr(out, code.n ? code : str_of("\"UNKNOWN\""));
		buf_adds(out, "}}");
	} else {
		return false;
	}
	return true;
}

static bool turn_end(struct str data, struct buf *out)
{
	struct buf reason = { 0 };
	struct json_iter it;
	struct str key, value;
	bool changed = turn_reason(json_get(data, "reason"), &reason);

	if (changed) {
		buf_addc(out, '{');
		json_iter_init(&it, data);
		while (json_iter_next(&it, &key, &value)) {
			if (out->p[out->n - 1] != '{')
				buf_addc(out, ',');
			buf_addstr(out, key);
			buf_addc(out, ':');
			if (json_string_eq(key, "reason"))
				buf_add(out, reason.p, reason.n);
			else
				buf_addstr(out, value);
		}
		buf_addc(out, '}');
	}
	buf_release(&reason);
	return changed;
}

static bool user_message(
	const struct dsh_rec *r, struct str data, struct str session, struct buf *out)
{
	static const char *const without[] = { "id", "role", NULL };

	if (json_get(data, "id").n || json_get(data, "role").n || !json_get(data, "content").n ||
		!json_get(data, "source").n)
		return false;
	buf_addc(out, '{');
	put_others(out, data, without);
	buf_addc(out, ',');
	put_made_id(out, session, r->seq);
	buf_adds(out, ",\"role\":\"user\"}");
	return true;
}

static bool steering(const struct dsh_rec *r, struct str data, struct str session, struct buf *out)
{
	struct str message = json_get(data, "message");

	if (message.n) {
		buf_addstr(out, message);
		return true;
	}
	if (!json_get(data, "content").n || !json_get(data, "source").n)
		return false;
	buf_addc(out, '{');
	put(out, "content", json_get(data, "content"));
	put(out, "source", json_get(data, "source"));
	buf_addc(out, ',');
	put_made_id(out, session, r->seq);
	buf_adds(out, ",\"role\":\"user\"}");
	return true;
}

/* Puts `message` where content and provenance were, behind turn and step. */
static bool assistant(const struct dsh_rec *r, struct str data, struct str session, struct buf *out)
{
	static const char *const without[] = { "turn", "step", "content", "provenance", NULL };
	static const char *const none[] = { "kind", NULL };
	struct str content = json_get(data, "content"), from = json_get(data, "provenance");

	if (json_get(data, "message").n || !content.n || !from.n)
		return false;
	buf_addc(out, '{');
	put(out, "turn", json_get(data, "turn"));
	put(out, "step", json_get(data, "step"));
	buf_adds(out, ",\"message\":{");
	put_made_id(out, session, r->seq);
	buf_adds(out, ",\"role\":\"assistant\",\"content\":");
	buf_addstr(out, content);
	buf_adds(out, ",\"source\":{");
	put_others(out, from, none);
	json_put_key(out, "kind");
	buf_adds(out, "\"model\"}}");
	put_others(out, data, without);
	buf_addc(out, '}');
	return true;
}

static bool tool_result(const struct dsh_rec *r, struct str data, struct str session,
	struct str replaced, struct buf *out)
{
	static const char *const without[] = { "turn", "step", "callId", "content", "isError",
		NULL };
	struct str call = json_get(data, "callId"), content = json_get(data, "content");

	if (json_get(data, "message").n || !call.n || !content.n)
		return false;
	buf_addc(out, '{');
	put(out, "turn", json_get(data, "turn"));
	put(out, "step", json_get(data, "step"));
	buf_adds(out, ",\"message\":{");
	if (replaced.n)
		put(out, "id", replaced);
	else
		put_made_id(out, session, r->seq);
	buf_adds(out, ",\"role\":\"user\",\"content\":[{\"type\":\"tool-result\",\"toolCallId\":");
	buf_addstr(out, call);
	buf_adds(out, ",\"content\":");
	buf_addstr(out, content);
	put(out, "isError", json_get(data, "isError"));
	buf_adds(out, "}],\"source\":{\"kind\":\"tool\",\"callId\":");
	buf_addstr(out, call);
	buf_adds(out, "}}");
	put_others(out, data, without);
	buf_addc(out, '}');
	return true;
}

int upgrade_event(const struct dsh_rec *r, struct str session, struct str replaced, struct buf *out,
	const char **why)
{
	struct str data = rec_field(r, K_DATA);
	struct buf fresh = { 0 };
	const char *type = NULL;
	bool changed = false;

	if (r->type == T_RETIRED) {
		*why = "a retired type of event";
		return -1;
	}
	if (r->type == T_REQUEST_HEADER && json_string_eq(json_get(data, "reason"), "fallback")) {
		*why = "a request header with the retired reason \"fallback\"";
		return -1;
	}
	if (json_type_of(data) != JSON_OBJECT)
		return 0;
	switch (r->type) {
	case T_TURN_START:
		changed = turn_start(data, &fresh);
		break;
	case T_TURN_END:
		changed = turn_end(data, &fresh);
		break;
	case T_STEERING:
		type = "user/message";
		changed = steering(r, data, session, &fresh);
		break;
	case T_USER:
		changed = user_message(r, data, session, &fresh);
		break;
	case T_ASSISTANT:
		changed = assistant(r, data, session, &fresh);
		break;
	case T_TOOL_RESULT:
		changed = tool_result(r, data, session, replaced, &fresh);
		break;
	default:
		break;
	}
	if (changed)
		rebuild(r, type, &fresh, out);
	buf_release(&fresh);
	return changed;
}
