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

void scan_refuse(struct session *s, const char *kind, const struct scan_place *at, uint32_t entry,
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

uint32_t scan_add_entry(struct session *s, struct entry_in *in, const struct dsh_item *item)
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
	struct session *s, struct dsh_rec *r, const struct dsh_item *item, const struct scan_place *at)
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
	return scan_add_entry(s, &in, item);
}

/* An answer that never became a message: its chunks are an entry. */
void scan_add_stream(struct session *s)
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
	scan_add_entry(s, &in, item);
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
	const struct scan_place *at, uint32_t *entry)
{
	struct dsh_src *src = s->src;
	uint64_t start = UINT64_MAX;
	const char *why = NULL;

	if (r->type == T_ASSISTANT)
		src->stream = NO_ITEM;
	else
		scan_add_stream(s);
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
		scan_refuse(s, "invalid", at, *entry, why);
}

static void take_type(struct session *s, const struct dsh_rec *r, const struct scan_place *at)
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
		scan_add_stream(s);
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
			scan_refuse(s, "unsupported", at, ENTRY_NONE,
				"an event of a type that is not known and not marked as ignorable");
		break;
	default:
		break;
	}
}

/* One more line of a run of chunks: the item before grows. */
static bool joins_run(struct dsh_src *src, const struct dsh_rec *r, const struct scan_place *at)
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

static void accept(struct session *s, struct dsh_rec *r, const struct scan_place *at, bool is_odd)
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
		scan_refuse(s, "invalid", at, ENTRY_NONE, why);
	src->items[src->n - 1].type = (uint8_t)r->type;
	take_type(s, r, at);
	if (event_is_surface(r->type) && json_type_of(rec_field(r, K_DATA)) == JSON_OBJECT)
		take_surface(s, r, &src->items[src->n - 1], at, &entry);
	if (!why && (why = event_check(r)) != NULL)
		scan_refuse(s, "invalid", at, entry, why);
	if (is_odd)
		return;
	tokens_add(r->seq < src->seed ? &src->past : &src->own, tokens_of(r));
	balance_event(&src->balance, r);
	src->next_seq = r->seq + r->count;
}

/* ---- lines ---- */

static void set_issue(
	struct dsh_src *src, const struct scan_place *at, const char *why, const struct dsh_rec *r)
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
	struct session *s, struct dsh_rec *r, const struct scan_place *at, bool is_first)
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
static bool take_misfit(struct session *s, struct dsh_rec *r, const struct scan_place *at)
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

bool scan_take_line(struct session *s, const char *p, size_t n, const struct scan_place *at)
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
	struct scan_place at = { .number = 1,
		.len = line->n > UINT32_MAX ? UINT32_MAX : (uint32_t)line->n };

	src->has_header = true;
	src->good = line->n + line->ended;
	src->good_line = 1;
	header_parse(h, line->p, line->n);
	if (src->text.zstd) {
		size_t n;
		const struct log_frame *v = log_frames_index(src->text.zstd, &n);

		if (n == 0 || v[0].text_len != line->n + 1)
			scan_refuse(s, "bad-header", &at, ENTRY_NONE,
				"the first frame is not exactly the header line");
	}
	if (h->why)
		scan_refuse(s, h->kind, &at, ENTRY_NONE, h->why);
}

/* Text without its newline: nothing yet in a raw log, corruption behind whole frames. */
static void take_rest(struct session *s, const struct log_line *line)
{
	struct dsh_src *src = s->src;
	struct scan_place at = { .off = line->off,
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
	struct scan_place at = { .off = line->off, .number = line->number, .len = (uint32_t)line->n };

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
	else if (scan_take_line(s, line->p, line->n, &at))
		go_back(src);
}

static void note_work(struct session *s)
{
	const struct dsh_src *src = s->src;

	s->work = text_work(&src->text) + FORMAT_LINE_WORK * src->lines;
}

static bool is_enough(struct session *s, uint64_t deadline)
{
	note_work(s);
	return (s->work_stop && s->work >= s->work_stop) || clock_mono_us() >= deadline;
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
		if (is_enough(s, deadline))
			break;
	}
	if (rc == 1)
		s->size = text_place(&src->text, line.off + line.n);
	note_work(s);
	return rc == LOG_PAUSED ? 1 : rc;
}
