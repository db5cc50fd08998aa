/*
 * scan.c - lines to items and entries: the scan of section 7.1, and for a log
 * that it would refuse, what can be read all the same.
 *
 * A bad line in a raw log is either the beginning of a torn tail or corruption,
 * and only what follows tells. So the scan looks on for a turn's end; when one
 * comes, it goes back to the line and takes the rest leniently.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"

enum { CLOCK_LINES = 256, CLOCK_BYTES = 1 << 20, RUN_BYTES = 16 << 10 };

/* A line, and where it stands. */
struct place {
	uint64_t off, number;
	uint32_t len;
	bool is_recovered;
};

/* ---- items ---- */

uint32_t scan_item_of(const struct dsh_src *src, uint64_t off)
{
	uint32_t lo = 0, hi = src->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (src->items[mid].off < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < src->n && src->items[lo].off == off ? lo : NO_ITEM;
}

/* Items behind corruption need not rise; those before it do, and they come first. */
uint32_t scan_item_of_seq(const struct dsh_src *src, uint64_t seq)
{
	uint32_t lo = 0, hi = src->n;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (src->items[mid].seq <= seq)
			lo = mid;
		else
			hi = mid;
	}
	if (lo < src->n && src->items[lo].seq <= seq &&
		seq - src->items[lo].seq < src->items[lo].count)
		return lo;
	return NO_ITEM;
}

static void refuse(struct session *s, const char *kind, const struct place *at, uint32_t entry,
	const char *why)
{
	struct dsh_src *src = s->src;

	if (!src->refusal)
		src->refusal = why;
	dsh_problem(s, kind, at->number, text_place(&src->text, at->off),
		src->text.zstd ? 0 : at->len, entry, "%s", why);
}

/* ---- entries ---- */

static enum entry_kind kind_of_source(struct str kind)
{
	if (json_string_eq(kind, "user"))
		return KIND_USER;
	if (json_string_eq(kind, "plugin") || json_string_eq(kind, "agent-instructions") ||
		json_string_eq(kind, "skill-catalog"))
		return KIND_SYSTEM;
	return KIND_EVENT;
}

static void fill_kind(struct dsh_rec *r, struct entry_in *in)
{
	const struct dsh_message *m = rec_message(r);

	if (r->type == T_USER)
		in->kind = kind_of_source(m->kind);
	else
		in->kind = r->type == T_ASSISTANT ? KIND_ASSISTANT : KIND_TOOL_RESULT;
	if (r->type == T_ASSISTANT && m->has_call)
		in->flags |= ENTRY_HAS_CALLS;
	if (r->type == T_TOOL_RESULT &&
		(json_type_of(m->is_error) == JSON_TRUE || json_type_of(m->error) == JSON_OBJECT))
		in->flags |= ENTRY_FAILED;
	if (json_type_of(rec_field(r, K_OP)) == JSON_OBJECT) {
		in->kind = KIND_SUMMARY;
		in->flags &= ~(unsigned)(ENTRY_FAILED | ENTRY_HAS_CALLS);
	}
}

/* Adds an entry under the newest one. */
static uint32_t add_entry(struct session *s, struct entry_in *in, const struct dsh_item *item)
{
	struct dsh_src *src = s->src;
	char id[48];
	uint32_t entry;

	if (item->seq < src->seed)
		in->flags |= ENTRY_INHERITED;
	if (item->flags & ITEM_ODD)
		snprintf(id, sizeof(id), "%" PRIu32 ":%" PRIu64, item->seq, item->off);
	else
		snprintf(id, sizeof(id), "%" PRIu32, item->seq);
	in->id = str_of(id);
	in->flags |= ENTRY_ID_SLOW;
	if (s->n)
		in->parent = str_of(src->last_id);
	entry = session_add(s, in);
	if (entry != ENTRY_NONE)
		memcpy(src->last_id, id, sizeof(id));
	return entry;
}

static uint32_t add_surface_entry(
	struct session *s, struct dsh_rec *r, const struct dsh_item *item, const struct place *at)
{
	struct dsh_src *src = s->src;
	struct entry_in in = { .off = at->off,
		.line = at->is_recovered ? 0 : at->number,
		.len = at->len,
		.time = INT64_MIN,
		.spare = SPARE_RECORD };

	num_safe(rec_field(r, K_TIME), &in.time);
	fill_kind(r, &in);
	if (at->is_recovered)
		in.flags |= ENTRY_DERIVED;
	if (src->lenient)
		in.flags |= ENTRY_DAMAGED;
	return add_entry(s, &in, item);
}

/* An answer that never became a message: its chunks are an entry. */
static void add_stream(struct session *s)
{
	struct dsh_src *src = s->src;
	struct dsh_item *item;
	struct dsh_rec r = { 0 };
	struct entry_in in = { .kind = KIND_ASSISTANT,
		.flags = ENTRY_UNSENT,
		.time = INT64_MIN,
		.spare = SPARE_CHUNKS };

	if (src->stream == NO_ITEM)
		return;
	item = &src->items[src->stream];
	in.off = item->off;
	in.len = item->len;
	if (item_rec(s, src->stream, &r, NULL) == 0)
		num_safe(rec_field(&r, r.state == REC_PACKED ? K_TIME0 : K_TIME), &in.time);
	if (item->flags & ITEM_RECOVERED)
		in.flags |= ENTRY_DERIVED;
	add_entry(s, &in, item);
	rec_release(&r);
	src->stream = NO_ITEM;
}

/* ---- what an accepted event does ---- */

static void put_without_content(struct buf *out, struct str message)
{
	struct json_iter it, blocks, members;
	struct str key, value, none, block;

	json_iter_init(&it, message);
	while (json_iter_next(&it, &key, &value)) {
		if (!json_string_eq(key, "content")) {
			json_put_requoted(out, key);
			json_put_compact(out, value);
			continue;
		}
		json_iter_init(&blocks, value);
		while (json_iter_next(&blocks, &none, &block)) {
			json_iter_init(&members, block);
			while (json_iter_next(&members, &key, &value))
				if (!json_string_eq(key, "content")) {
					json_put_requoted(out, key);
					json_put_compact(out, value);
				}
		}
	}
}

/* A replacing tool result says the same as the one it replaces, but for its content. */
static bool is_same_result(struct session *s, const struct dsh_rec *r, uint64_t start)
{
	struct dsh_src *src = s->src;
	uint32_t item = scan_item_of_seq(src, start);
	struct buf a = { 0 }, b = { 0 };
	struct dsh_rec old = { 0 };
	bool same = false;

	if (item != NO_ITEM && item_rec(s, item, &old, NULL) == 0) {
		put_without_content(&a, json_get(rec_field(&old, K_DATA), "message"));
		put_without_content(&b, json_get(rec_field(r, K_DATA), "message"));
		same = str_eq((struct str){ a.p, a.n }, (struct str){ b.p, b.n });
	}
	rec_release(&old);
	buf_release(&a);
	buf_release(&b);
	return same;
}

static void take_surface(struct session *s, struct dsh_rec *r, struct dsh_item *item,
	const struct place *at, uint32_t *entry)
{
	struct dsh_src *src = s->src;
	uint64_t start = UINT64_MAX;
	const char *why = NULL;

	if (r->type == T_ASSISTANT)
		src->stream = NO_ITEM;
	else
		add_stream(s);
	if (surface_start(r) != UINT64_MAX)
		item->flags |= ITEM_REPLACES;
	*entry = add_surface_entry(s, r, item, at);
	if (item->flags & ITEM_ODD)
		return;
	why = surface_apply(&src->surface, r, &start);
	item->spare =
		src->surface.removed < UINT16_MAX ? (uint16_t)src->surface.removed : UINT16_MAX;
	if (!why && start != UINT64_MAX && r->type == T_TOOL_RESULT && !is_same_result(s, r, start))
		why = "a replacing tool result differs in more than its content";
	if (why)
		refuse(s, "invalid", at, *entry, why);
}

static void take_type(struct session *s, const struct dsh_rec *r, const struct place *at)
{
	struct dsh_src *src = s->src;

	switch (r->type) {
	case T_CHUNK:
		if (src->stream == NO_ITEM)
			src->stream = src->n - 1;
		break;
	case T_TURN_START:
	case T_TURN_END:
	case T_STEP_START:
	case T_STEP_END:
		add_stream(s);
		break;
	case T_TITLE:
		src->title = src->n - 1;
		break;
	case T_DESCRIPTOR:
		if (r->seq >= src->seed)
			src->label = src->n - 1;
		break;
	case T_UNKNOWN:
		if (event_is_ignorable(r) || json_type_of(rec_field(r, K_TYPE)) != JSON_STRING)
			break;
		if (!src->unknown++)
			refuse(s, "unsupported", at, ENTRY_NONE,
				"an event of a type that is not known and not marked as ignorable");
		break;
	default:
		break;
	}
}

/* One more line of a run of chunks: the item before grows. */
static bool joins_run(struct dsh_src *src, const struct dsh_rec *r, const struct place *at)
{
	struct dsh_item *last = src->n ? &src->items[src->n - 1] : NULL;

	if (!r->is_quick || r->state != REC_EVENT || !last || last->type != T_CHUNK ||
		(last->flags & ~ITEM_RUN) || src->lenient || at->is_recovered ||
		last->off + last->len + 1 != at->off || last->len > RUN_BYTES ||
		src->stream == NO_ITEM)
		return false;
	last->len += 1 + at->len;
	last->count++;
	last->flags |= ITEM_RUN;
	return true;
}

static void accept(struct session *s, struct dsh_rec *r, const struct place *at, bool is_odd)
{
	struct dsh_src *src = s->src;
	struct dsh_item *item;
	uint32_t entry = ENTRY_NONE;
	const char *why;

	if (src->n == NO_ITEM - 1 || r->seq > UINT32_MAX - r->count)
		return;
	if (!is_odd && joins_run(src, r, at)) {
		balance_event(&src->balance, r);
		src->next_seq = r->seq + 1;
		return;
	}
	src->items = xgrow(src->items, &src->cap, (size_t)src->n + 1, sizeof(*src->items));
	item = &src->items[src->n];
	*item = (struct dsh_item){ .off = at->off,
		.len = at->len,
		.seq = (uint32_t)r->seq,
		.count = r->count,
		.type = (uint8_t)r->type };
	item->flags = (uint8_t)((r->state == REC_PACKED ? ITEM_PACKED : 0) |
				(is_odd ? ITEM_ODD : 0) | (at->is_recovered ? ITEM_RECOVERED : 0));
	src->n++;
	src->has_ranges = src->has_ranges || r->sources.has_pairs;
	why = rec_upgrade(s, r);
	if (why)
		refuse(s, "invalid", at, ENTRY_NONE, why);
	src->items[src->n - 1].type = (uint8_t)r->type;
	take_type(s, r, at);
	if (event_is_surface(r->type) && json_type_of(rec_field(r, K_DATA)) == JSON_OBJECT)
		take_surface(s, r, &src->items[src->n - 1], at, &entry);
	if (!why && (why = event_check(r)) != NULL)
		refuse(s, "invalid", at, entry, why);
	if (is_odd)
		return;
	tokens_add(r->seq < src->seed ? &src->past : &src->own, tokens_of(r));
	balance_event(&src->balance, r);
	src->next_seq = r->seq + r->count;
}

/* ---- lines ---- */

static void set_issue(
	struct dsh_src *src, const struct place *at, const char *why, const struct dsh_rec *r)
{
	if (src->issue.is_set)
		return;
	src->issue.is_set = true;
	src->issue.off = at->off;
	src->issue.number = at->number;
	src->issue.why = why;
	src->issue.want = src->next_seq;
	src->issue.has_got = r && r->has_seq;
	src->issue.got = r ? r->seq : 0;
}

static void report_corrupt(struct session *s, uint64_t length)
{
	struct dsh_src *src = s->src;
	uint64_t off = text_place(&src->text, src->issue.off);
	struct buf why = { 0 };

	if (src->issue.why)
		buf_printf(&why, "%s", src->issue.why);
	else if (src->issue.has_got)
		buf_printf(&why, "seq %" PRIu64 " stands where %" PRIu64 " must", src->issue.got,
			src->issue.want);
	else
		buf_printf(&why, "no seq stands where %" PRIu64 " must", src->issue.want);
	dsh_problem(s, "corrupt", src->issue.number, off, length, ENTRY_NONE,
		"line %" PRIu64 ": %s", src->issue.number, why.p);
	if (!src->refusal)
		src->refusal = "a line in the committed part of the log is damaged";
	buf_release(&why);
	src->lenient = true;
}

/* Behind corruption: everything that says something. */
static void take_leniently(
	struct session *s, struct dsh_rec *r, const struct place *at, bool is_first)
{
	struct dsh_src *src = s->src;
	uint64_t off = text_place(&src->text, at->off), len = src->text.zstd ? 0 : at->len;

	if (r->state == REC_BAD || r->state == REC_VALUE) {
		if (!is_first)
			dsh_problem(s, "corrupt", at->number, off, len, ENTRY_NONE,
				"line %" PRIu64 ": %s", at->number,
				r->why ? r->why : "JSON, but no event");
		return;
	}
	if (r->has_seq && r->seq >= src->next_seq) {
		if (r->seq > src->next_seq && !is_first)
			dsh_problem(s, "corrupt", at->number, off, len, ENTRY_NONE,
				"line %" PRIu64 ": seq %" PRIu64 " stands where %" PRIu64 " must",
				at->number, r->seq, src->next_seq);
		accept(s, r, at, false);
		return;
	}
	if (!is_first)
		dsh_problem(s, "corrupt", at->number, off, len, ENTRY_NONE,
			"line %" PRIu64 ": its seq was there before", at->number);
	if (!r->has_seq)
		r->seq = src->next_seq;
	accept(s, r, at, true);
}

static bool fits(const struct dsh_src *src, const struct dsh_rec *r)
{
	return (r->state == REC_EVENT || r->state == REC_PACKED) && r->has_seq &&
	       r->seq == src->next_seq;
}

static bool has_turn_end(const struct dsh_rec *r)
{
	return r->state == REC_EVENT && r->type == T_TURN_END;
}

/* A line that does not fit: what is it? True when the scan must go back to the issue. */
static bool take_misfit(struct session *s, struct dsh_rec *r, const struct place *at)
{
	struct dsh_src *src = s->src;
	bool is_bad = r->state == REC_BAD;

	if (src->text.zstd && !at->is_recovered) { /* whole frames are never cut */
		set_issue(src, at, is_bad ? r->why : NULL, r);
		report_corrupt(s, 0);
		take_leniently(s, r, at, true);
		return false;
	}
	set_issue(src, at, is_bad ? r->why : NULL, r);
	if (!has_turn_end(r))
		return false;
	report_corrupt(s, at->off + at->len - src->issue.off);
	return true;
}

/* True when the scan must go back to src->issue. */
static bool take_line(struct session *s, const char *p, size_t n, const struct place *at)
{
	struct dsh_src *src = s->src;
	struct dsh_rec *r = &src->rec;

	rec_parse_quick(r, p, n);
	if (src->lenient) {
		take_leniently(s, r, at, src->issue.is_set && at->number == src->issue.number);
		return false;
	}
	if (src->issue.is_set || !fits(src, r))
		return take_misfit(s, r, at);
	accept(s, r, at, false);
	src->good = at->off + n + 1;
	src->good_line = at->number;
	return false;
}

static void take_header(struct session *s, const struct log_line *line)
{
	struct dsh_src *src = s->src;
	struct dsh_header *h = &src->header;
	struct place at = { .number = 1,
		.len = line->n > UINT32_MAX ? UINT32_MAX : (uint32_t)line->n };

	src->has_header = true;
	src->good = line->n + line->ended;
	src->good_line = 1;
	header_parse(h, line->p, line->n);
	if (src->text.zstd) {
		size_t n;
		const struct log_frame *v = log_frames_index(src->text.zstd, &n);

		if (n == 0 || v[0].text_len != line->n + 1)
			refuse(s, "bad-header", &at, ENTRY_NONE,
				"the first frame is not exactly the header line");
	}
	if (h->why)
		refuse(s, h->kind, &at, ENTRY_NONE, h->why);
}

/* Text without its newline: nothing yet in a raw log, corruption behind whole frames. */
static void take_rest(struct session *s, const struct log_line *line)
{
	struct dsh_src *src = s->src;
	struct place at = { .off = line->off,
		.number = line->number,
		.len = line->n > UINT32_MAX ? UINT32_MAX : (uint32_t)line->n };

	if (!src->text.zstd)
		return;
	if (!src->lenient) {
		set_issue(src, &at, "the last record of a complete frame has no newline", NULL);
		report_corrupt(s, 0);
	}
	rec_parse(&src->rec, line->p, line->n);
	take_leniently(s, &src->rec, &at, true);
}

static void go_back(struct dsh_src *src)
{
	log_seek_line(src->text.raw, src->issue.off, src->issue.number);
}

void scan_line(struct session *s, const struct log_line *line, bool after_damage)
{
	struct dsh_src *src = s->src;
	struct place at = { .off = line->off, .number = line->number, .len = (uint32_t)line->n };

	if (line->too_long) {
		dsh_problem(s, "corrupt", line->number, text_place(&src->text, line->off), 0,
			ENTRY_NONE, "line %" PRIu64 ": longer than is read", line->number);
		src->lenient = true;
		return;
	}
	if (after_damage)
		src->lenient = true;
	if (!src->has_header && line->number == 1 && line->ended)
		take_header(s, line);
	else if (!line->ended)
		take_rest(s, line);
	else if (take_line(s, line->p, line->n, &at))
		go_back(src);
}

int scan_lines(struct session *s, uint64_t deadline, struct err *err)
{
	struct dsh_src *src = s->src;
	size_t lines = 0, bytes = 0;
	struct log_line line;
	bool after_damage;
	int rc;

	while ((rc = text_next_line(&src->text, &line, &after_damage, err)) == 1) {
		scan_line(s, &line, after_damage);
		src->lines = line.number;
		bytes += line.n;
		if (++lines % CLOCK_LINES && bytes < CLOCK_BYTES)
			continue;
		bytes = 0;
		if (clock_mono_us() >= deadline)
			break;
	}
	if (rc == 1)
		s->size = text_place(&src->text, line.off + line.n);
	return rc;
}

/* ---- the end ---- */

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
		struct place at = { .off = src->recovered_at + pos,
			.number = ++number,
			.len = (uint32_t)n,
			.is_recovered = true };
		uint64_t before = src->next_seq;

		take_line(s, src->recovered.p + pos, n, &at);
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
		struct place at = { .off = end.text };

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
		add_entry(s, &in, &item);
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
		struct place at = { .number = 1 };

		refuse(s, "bad-header", &at, ENTRY_NONE, "the file holds no whole header line");
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
	add_stream(s);
	src->stream = stream;
	add_closers(s);
	set_title(s);
	set_tokens(s);
	if (s->last_time == INT64_MIN)
		set_times(s);
}
