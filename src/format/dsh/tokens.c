/*
 * tokens.c - what model calls took: of one call, its step, its turn, and the
 * session. A fork carries copies of its parent's calls; they count there.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <inttypes.h>

enum { REACH = 1 << 16, CALLS_MAX = 512 };

static void add(uint64_t *sum, struct str raw)
{
	uint64_t n;

	if (num_count(raw, &n))
		*sum += n;
}

void tokens_add(struct dsh_tokens *t, struct str usage)
{
	static const char *const names[] = { "inputTokens", "outputTokens", "cacheReadTokens",
		"cacheWriteTokens", "reasoningTokens" };
	struct str v[5];

	if (json_type_of(usage) != JSON_OBJECT)
		return;
	json_pick(usage, names, 5, v);
	t->calls++;
	add(&t->in, v[0]);
	add(&t->out, v[1]);
	add(&t->read, v[2]);
	add(&t->written, v[3]);
	add(&t->thought, v[4]);
}

struct str tokens_of(struct dsh_rec *r)
{
	if (r->state != REC_EVENT || r->is_quick)
		return (struct str){ NULL, 0 };
	if (r->type == T_ASSISTANT)
		return rec_message(r)->usage;
	if (r->type == T_COMPACTION_SUMMARY)
		return json_get(rec_field(r, K_DATA), "usage");
	return (struct str){ NULL, 0 };
}

uint64_t tokens_sum(const struct dsh_tokens *t)
{
	return t->in + t->out + t->read + t->written;
}

void tokens_put(const struct dsh_tokens *t, struct buf *out)
{
	buf_printf(out, "%" PRIu64 " in, %" PRIu64 " out", t->in, t->out);
	if (t->thought)
		buf_printf(out, " (%" PRIu64 " of it thinking)", t->thought);
	if (t->read)
		buf_printf(out, ", %" PRIu64 " from the cache", t->read);
	if (t->written)
		buf_printf(out, ", %" PRIu64 " into the cache", t->written);
	if (t->calls != 1)
		buf_printf(out, ", %" PRIu64 " calls", t->calls);
}

void tokens_put_json(const struct dsh_tokens *t, struct buf *out)
{
	buf_printf(out, "{\"calls\":%" PRIu64 ",\"inputTokens\":%" PRIu64 ",\"outputTokens\":%" PRIu64
		",\"cacheReadTokens\":%" PRIu64 ",\"cacheWriteTokens\":%" PRIu64
		",\"reasoningTokens\":%" PRIu64 "}",
		t->calls, t->in, t->out, t->read, t->written, t->thought);
}

/* The items of the turn that item i stands in: [*first, *end). */
static void turn_of(const struct dsh_src *src, uint32_t i, uint32_t *first, uint32_t *end)
{
	uint32_t at = i;

	while (at > 0 && src->items[at].type != T_TURN_START && i - at < REACH)
		at--;
	*first = at;
	for (at = i + 1; at < src->n && src->items[at].type != T_TURN_START &&
		src->items[at].type != T_TURN_END && at - i < REACH;)
		at++;
	*end = at;
}

void tokens_around(struct session *s, uint32_t i, struct dsh_tokens *step, struct dsh_tokens *turn)
{
	struct dsh_src *src = s->src;
	struct dsh_rec r = { 0 };
	uint32_t first, end, left = CALLS_MAX, step_first = 0, step_end = UINT32_MAX;

	*step = *turn = (struct dsh_tokens){ 0 };
	turn_of(src, i, &first, &end);
	for (uint32_t at = first; at < end; at++)
		if (src->items[at].type == T_STEP_START) {
			if (at <= i)
				step_first = at;
			else if (step_end == UINT32_MAX)
				step_end = at;
		}
	for (uint32_t at = first; at < end && left; at++) {
		struct str usage;

		if (src->items[at].type != T_ASSISTANT && src->items[at].type != T_COMPACTION_SUMMARY)
			continue;
		left--;
		if (item_rec(s, at, &r, NULL) < 0)
			break;
		usage = tokens_of(&r);
		tokens_add(turn, usage);
		if (at >= step_first && at < step_end)
			tokens_add(step, usage);
	}
	rec_release(&r);
}
