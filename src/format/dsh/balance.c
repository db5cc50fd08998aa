/*
 * balance.c - which turn, step and calls are open, and the events that close
 * them: what a repair adds to a log that was cut off.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

static const char text_unknown[] =
	"The call was started and its result was lost. Nobody knows whether it took effect: check "
	"first, and do not repeat blindly what has side effects.";
static const char text_not_started[] =
	"The call was asked for and never started. It may be run again if it is still needed.";

static void clear_calls(struct balance *b)
{
	for (size_t i = 0; i < b->n; i++) {
		free(b->v[i].id);
		free(b->v[i].step);
	}
	b->n = 0;
}

void balance_release(struct balance *b)
{
	clear_calls(b);
	free(b->v);
	buf_release(&b->turn);
	buf_release(&b->step);
	buf_release(&b->odd_time);
}

static char *canonical(struct str raw)
{
	struct buf text = { 0 };

	json_put_compact(&text, raw);
	return buf_take(&text);
}

static void set_number(struct buf *to, struct str raw)
{
	buf_clear(to);
	if (raw.n)
		json_put_compact(to, raw);
}

static struct balance_call *find(struct balance *b, const char *id)
{
	for (size_t i = 0; i < b->n; i++)
		if (strcmp(b->v[i].id, id) == 0)
			return &b->v[i];
	return NULL;
}

static void add_call(struct balance *b, struct str id, struct str step)
{
	char *text = canonical(id);
	struct balance_call *call = find(b, text);

	if (call) {
		free(text);
		free(call->step);
	} else {
		b->v = xgrow(b->v, &b->cap, b->n + 1, sizeof(*b->v));
		call = &b->v[b->n++];
		call->id = text;
	}
	call->step = canonical(step);
	call->seq = UINT64_MAX;
}

static void add_calls(struct balance *b, struct str content, struct str step)
{
	struct str none, block;
	struct json_iter it;

	json_iter_init(&it, content);
	while (json_iter_next(&it, &none, &block)) {
		struct str id;

		if (!json_string_eq(json_get(block, "type"), "tool-call"))
			continue;
		id = json_get(block, "id");
		if (json_type_of(id) == JSON_STRING && step.n)
			add_call(b, id, step);
	}
}

static void start_call(struct balance *b, struct str id, uint64_t seq)
{
	struct balance_call *call;
	char *text;

	if (json_type_of(id) != JSON_STRING)
		return;
	text = canonical(id);
	call = find(b, text);
	if (call)
		call->seq = seq;
	free(text);
}

static void end_call(struct balance *b, struct str id)
{
	struct balance_call *call;
	char *text;

	if (json_type_of(id) != JSON_STRING || b->n == 0)
		return;
	text = canonical(id);
	call = find(b, text);
	free(text);
	if (!call)
		return;
	free(call->id);
	free(call->step);
	memmove(call, call + 1, (size_t)(b->v + b->n - (call + 1)) * sizeof(*call));
	b->n--;
}

static void note_time(struct balance *b, const struct dsh_rec *r)
{
	struct str raw;

	b->is_odd_time = false;
	if (r->state == REC_PACKED || r->is_quick) {
		b->time = r->last_time;
		return;
	}
	raw = rec_field(r, K_TIME);
	if (!num_safe(raw, &b->time)) {
		b->is_odd_time = raw.n > 0;
		b->time = 0;
		set_number(&b->odd_time, raw);
	}
}

void balance_event(struct balance *b, struct dsh_rec *r)
{
	struct str data;

	note_time(b, r);
	if (r->type == T_CHUNK)
		return;
	data = rec_field(r, K_DATA);

	switch (r->type) {
	case T_TURN_START:
		b->in_turn = true;
		set_number(&b->turn, json_get(data, "turn"));
		b->in_step = false;
		clear_calls(b);
		break;
	case T_TURN_END:
		b->in_turn = b->in_step = false;
		clear_calls(b);
		break;
	case T_STEP_START:
		b->in_step = true;
		set_number(&b->step, json_get(data, "step"));
		break;
	case T_STEP_END:
		b->in_step = false;
		clear_calls(b);
		break;
	case T_ASSISTANT:
		if (rec_message(r)->has_call)
			add_calls(b, r->message.content, r->message.step);
		break;
	case T_TOOL_CALL:
		start_call(b, json_get(data, "callId"), r->seq);
		break;
	case T_TOOL_RESULT:
		end_call(b, rec_message(r)->call);
		break;
	default:
		break;
	}
}

/* ---- closers ---- */

static void begin(struct buf *out, const char *type, uint64_t seq, const struct balance *b)
{
	buf_printf(out, "{\"type\":\"%s\",\"seq\":%llu,\"time\":", type, (unsigned long long)seq);
	if (b->is_odd_time)
		buf_add(out, b->odd_time.p, b->odd_time.n);
	else
		json_put_int(out, b->time);
	buf_printf(out, ",\"data\":{\"turn\":%s", b->turn.n ? b->turn.p : "null");
}

static void close_call(
	struct buf *out, const struct balance *b, const struct balance_call *call, uint64_t seq)
{
	bool is_started = call->seq != UINT64_MAX;

	begin(out, "tool/result", seq, b);
	buf_printf(out, ",\"step\":%s,\"message\":{\"id\":\"interrupted-tool-result-%.*s-%llu\"",
		call->step, (int)strlen(call->id) - 2, call->id + 1, (unsigned long long)seq);
	buf_printf(
		out, ",\"role\":\"user\",\"source\":{\"kind\":\"tool\",\"callId\":%s}", call->id);
	buf_printf(out,
		",\"content\":[{\"type\":\"tool-result\",\"toolCallId\":%s,\"isError\":true,"
		"\"content\":[{\"type\":\"text\",\"text\":",
		call->id);
	json_put_cstr(out, is_started ? text_unknown : text_not_started);
	buf_printf(out,
		"}]}]},\"error\":{\"name\":\"%s\",\"code\":\"%s\"}},\"surfaceOp\":\"append\"",
		is_started ? "ToolOutcomeUnknownError" : "ToolNotStartedError",
		is_started ? "TOOL_OUTCOME_UNKNOWN" : "TOOL_NOT_STARTED");
	if (is_started)
		buf_printf(out, ",\"sourceEventSeqs\":[%llu]", (unsigned long long)call->seq);
	buf_adds(out, "}\n");
}

size_t balance_closers(const struct balance *b, uint64_t seq, struct buf *out)
{
	size_t n = 0;

	if (!b->in_turn)
		return 0;
	for (; n < b->n; n++)
		close_call(out, b, &b->v[n], seq + n);
	if (b->in_step) {
		begin(out, "step/end", seq + n++, b);
		buf_printf(out, ",\"step\":%s}}\n", b->step.n ? b->step.p : "null");
	}
	begin(out, "turn/end", seq + n++, b);
	buf_adds(out, ",\"reason\":{\"kind\":\"interrupted\"}}}\n");
	return n;
}
