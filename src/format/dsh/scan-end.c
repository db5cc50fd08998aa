/*
 * scan-end.c - what is known only at the end of a log: how it ends (whole,
 * torn, damaged), the events of a torn frame, what a repair would add, and the
 * title, tokens and times of the session.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <inttypes.h>
#include <string.h>

static void scan_recovered(struct session *s, struct buf *text)
{
	struct dsh_src *src = s->src;
	uint64_t number = src->lines;
	size_t pos = 0;
	const char *nl;

	src->recovered = *text;
	*text = (struct buf){ 0 };
	while (!src->issue.is_set && pos < src->recovered.n &&
		(nl = memchr(src->recovered.p + pos, '\n', src->recovered.n - pos))) {
		size_t n = (size_t)(nl - src->recovered.p) - pos;
		struct scan_place at = { .off = src->recovered_at + pos,
			.number = ++number,
			.len = (uint32_t)n,
			.is_recovered = true };
		uint64_t before = src->next_seq;

		scan_take_line(s, src->recovered.p + pos, n, &at);
		src->nrecovered += (uint32_t)(src->next_seq - before);
		pos += n + 1;
	}
}

static void finish_zstd(struct session *s)
{
	struct dsh_src *src = s->src;
	struct log_frames_end end;
	struct buf text = { 0 };

	log_frames_end(src->text.zstd, &end);
	s->committed = end.committed;
	s->size = log_frames_id(src->text.zstd)->size;
	if (end.state == FRAMES_CORRUPT) {
		struct scan_place at = { .off = end.text };

		src->lenient = true;
		src->is_only_end_bad = !src->refusal;
		if (!src->refusal)
			src->refusal = "a frame of the log is damaged";
		dsh_problem(s, at.off ? "corrupt" : "bad-header", 0, end.off, end.length,
			ENTRY_NONE, "the frame at byte %" PRIu64 " is damaged: %s", end.off,
			end.reason);
	}
	if (end.state != FRAMES_TORN)
		return;
	s->is_torn = true;
	src->torn_start = end.off;
	src->recovered_at = end.text;
	if (src->has_header && !src->lenient &&
		log_frames_recover(src->text.zstd, &text, NULL) == 0 && text.n)
		scan_recovered(s, &text);
	buf_release(&text);
	dsh_problem(s, "torn-tail", 0, end.off, end.length, ENTRY_NONE,
		"%" PRIu64 " bytes of an unfinished frame; %" PRIu32
		" events of it can be recovered",
		end.length, src->nrecovered);
}

static void finish_raw(struct session *s)
{
	struct dsh_src *src = s->src;
	uint64_t size = text_id(&src->text)->size;

	s->size = size;
	s->committed = src->good;
	if (src->lenient) {
		s->committed = size;
		return;
	}
	s->is_torn = src->has_header && src->good < size;
	if (!s->is_torn)
		return;
	src->torn_start = src->good;
	dsh_problem(s, "torn-tail", src->good_line + 1, src->good, size - src->good, ENTRY_NONE,
		src->issue.is_set ? "%" PRIu64
				    " bytes behind the last good line; a repair cuts them"
				  : "%" PRIu64 " bytes of a line without its newline",
		size - src->good);
}

static void add_closers(struct session *s)
{
	struct dsh_src *src = s->src;
	uint64_t seq = src->next_seq;
	size_t pos = 0;

	buf_clear(&src->closers);
	src->nclosers = 0;
	if (src->lenient)
		return;
	src->nclosers = balance_closers(&src->balance, seq, &src->closers);
	while (pos < src->closers.n) {
		const char *nl = memchr(src->closers.p + pos, '\n', src->closers.n - pos);
		size_t n = (size_t)(nl - src->closers.p) - pos;
		struct dsh_item item = { .off = pos, .len = (uint32_t)n, .seq = (uint32_t)seq++ };
		struct entry_in in = { .off = pos,
			.len = (uint32_t)n,
			.time = INT64_MIN,
			.spare = SPARE_CLOSER,
			.kind = KIND_TOOL_RESULT,
			.flags = ENTRY_DERIVED | ENTRY_PROPOSED | ENTRY_FAILED };
		struct dsh_rec r = { 0 };

		rec_parse(&r, src->closers.p + pos, n);
		num_safe(rec_field(&r, K_TIME), &in.time);
		if (r.type != T_TOOL_RESULT) {
			in.kind = KIND_EVENT;
			in.flags = ENTRY_DERIVED | ENTRY_PROPOSED;
		}
		scan_add_entry(s, &in, &item);
		rec_release(&r);
		pos += n + 1;
	}
}

static void set_title(struct session *s)
{
	struct dsh_src *src = s->src;
	struct dsh_rec r = { 0 };
	struct buf title = { 0 };
	/* An agent is called by its label; a title that it has inherited is its parent's. */
	bool is_own = src->title != NO_ITEM && src->items[src->title].seq >= src->seed;
	uint32_t label = is_own ? NO_ITEM : src->label;

	if (src->title != NO_ITEM && item_rec(s, src->title, &r, NULL) == 0) {
		json_string(json_get(rec_field(&r, K_DATA), "title"), &title, SIZE_MAX);
		session_set_meta(s, "title", (struct str){ title.p ? title.p : "", title.n });
	}
	buf_clear(&title);
	if (label != NO_ITEM && item_rec(s, label, &r, NULL) == 0)
		json_string(json_get(rec_field(&r, K_DATA), "label"), &title, SIZE_MAX);
	if (title.n)
		session_set_meta(s, "label", (struct str){ title.p, title.n });
	buf_release(&title);
	rec_release(&r);
}

static void set_tokens(struct session *s)
{
	struct dsh_src *src = s->src;
	struct buf text = { 0 };

	s->tokens = tokens_sum(&src->own);
	if (!src->own.calls)
		return;
	tokens_put(&src->own, &text);
	session_set_meta(s, "tokens", (struct str){ text.p, text.n });
	buf_release(&text);
}

/* A log without entries has times all the same. */
static void set_times(struct session *s)
{
	struct dsh_src *src = s->src;
	const struct str *created = session_meta(s, "createdAt");

	if (!created || !num_safe(*created, &s->first_time))
		return;
	s->last_time = src->next_seq && !src->balance.is_odd_time ? src->balance.time : s->first_time;
}

void scan_finish(struct session *s)
{
	struct dsh_src *src = s->src;
	uint64_t whole = src->good;
	uint32_t stream;

	if (!src->has_header) {
		struct scan_place at = { .number = 1 };

		scan_refuse(s, "bad-header", &at, ENTRY_NONE, "the file holds no whole header line");
	}
	if (src->text.zstd) {
		struct log_frames_end end;

		log_frames_end(src->text.zstd, &end);
		whole = end.committed;
	}
	session_mark(s, whole, &src->tail);
	memcpy(src->tail_id, src->last_id, sizeof(src->tail_id));
	stream = src->stream;
	if (src->text.zstd)
		finish_zstd(s);
	else
		finish_raw(s);
	scan_add_stream(s);
	src->stream = stream;
	add_closers(s);
	set_title(s);
	set_tokens(s);
	if (s->last_time == INT64_MIN)
		set_times(s);
}
