/*
 * ops.c - a loaded session's ids, records and bytes; the keys that its --json
 * document has beside the common ones; its events as lines; and what writers
 * ask for.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <inttypes.h>
#include <string.h>

enum { PIECE = 64 << 10 };

void item_id(const struct dsh_item *item, struct buf *out)
{
	buf_printf(out, "%" PRIu32, item->seq);
	if (item->flags & ITEM_ODD)
		buf_printf(out, ":%" PRIu64, item->off);
}

int dsh_op_id(struct session *s, uint32_t entry, struct buf *out, struct err *err)
{
	struct dsh_src *src = s->src;
	const struct entry *e;
	const struct dsh_item *item;
	uint32_t i;

	if (entry >= s->n)
		return err_set(err, ERR_NOTFOUND, "no such entry");
	e = &s->entries[entry];
	if (e->spare == SPARE_KIN) {
		buf_printf(out, "@%s", kin_of(s, entry)->id);
		return 0;
	}
	if (e->spare == SPARE_CLOSER) {
		struct dsh_rec r = { 0 };

		rec_parse(&r, src->closers.p + e->off, e->len);
		buf_printf(out, "%" PRIu64, r.seq);
		rec_release(&r);
		return 0;
	}
	i = scan_item_of(src, e->off);
	if (i == NO_ITEM)
		return err_set(err, ERR_NOTFOUND, "no such event");
	item = &src->items[i];
	item_id(item, out);
	return 0;
}

int dsh_op_record(struct session *s, uint32_t entry, struct buf *out, struct err *err)
{
	struct dsh_src *src = s->src;
	const struct entry *e;
	uint32_t i;

	if (entry >= s->n)
		return err_set(err, ERR_NOTFOUND, "no such entry");
	e = &s->entries[entry];
	if (e->spare == SPARE_KIN)
		return err_set(err, ERR_UNSUPPORTED, "another session, which has records of its own");
	if (e->spare == SPARE_CLOSER) {
		buf_add(out, src->closers.p + e->off, e->len);
		return 0;
	}
	i = scan_item_of(src, e->off);
	if (i != NO_ITEM && (src->items[i].flags & ITEM_RECOVERED)) {
		buf_add(out, src->recovered.p + (e->off - src->recovered_at), e->len);
		return 0;
	}
	return text_read(&src->text, e->off, e->len, out, err);
}

int dsh_op_peek(struct session *s, uint64_t off, void *p, size_t n, size_t *got, struct err *err)
{
	struct dsh_src *src = s->src;

	return src->text.zstd ? log_frames_peek(src->text.zstd, off, p, n, got, err)
			      : log_pread(src->text.raw, off, p, n, got, err);
}

/* ---- details ---- */

static void tell(session_detail_fn *fn, void *arg, const char *key, struct buf *json)
{
	fn(key, (struct str){ json->p, json->n }, arg);
	buf_clear(json);
}

static void put_surface(const struct dsh_src *src, struct buf *out)
{
	const struct surface *sf = &src->surface;
	const char *p = src->closers.p, *end = p ? p + src->closers.n : p;

	buf_addc(out, '[');
	for (uint32_t at = sf->n ? sf->first : UINT32_MAX; at != UINT32_MAX; at = sf->v[at].next)
		buf_printf(out, "%s%" PRIu32, out->n > 1 ? "," : "", sf->v[at].seq);
	for (size_t i = 0; i < src->nclosers; i++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		struct dsh_rec r = { 0 };

		rec_parse(&r, p, (size_t)(nl - p));
		if (event_is_surface(r.type))
			buf_printf(out, "%s%" PRIu64, out->n > 1 ? "," : "", r.seq);
		rec_release(&r);
		p = nl + 1;
	}
	buf_addc(out, ']');
}

static void put_closers(const struct dsh_src *src, struct buf *out)
{
	buf_addc(out, '[');
	for (size_t i = 0; i + 1 < src->closers.n; i++)
		buf_addc(out, src->closers.p[i] == '\n' ? ',' : src->closers.p[i]);
	buf_addc(out, ']');
}

int dsh_op_details(struct session *s, session_detail_fn *fn, void *arg, struct err *err)
{
	struct dsh_src *src = s->src;
	const struct str *title = session_meta(s, "title");
	uint64_t events = src->next_seq + src->nclosers;
	struct buf json = { 0 };

	(void)err;
	buf_printf(&json, "%" PRIu64, events);
	tell(fn, arg, "events", &json);
	if (events)
		buf_printf(&json, "%" PRIu64, events - 1);
	else
		buf_adds(&json, "null");
	tell(fn, arg, "last_seq", &json);
	put_surface(src, &json);
	tell(fn, arg, "surface", &json);
	if (title)
		json_put_string(&json, *title);
	else
		buf_adds(&json, "null");
	tell(fn, arg, "title", &json);
	if (src->header.is_read)
		buf_add(&json, src->header.text.p, src->header.text.n);
	else
		buf_adds(&json, "null");
	tell(fn, arg, "header", &json);
	put_closers(src, &json);
	tell(fn, arg, "closers", &json);
	tokens_put_json(&src->own, &json);
	tell(fn, arg, "usage", &json);
	tokens_put_json(&src->past, &json);
	tell(fn, arg, "inherited_usage", &json);
	buf_printf(&json, "%" PRIu32, src->nrecovered);
	tell(fn, arg, "recovered", &json);
	if (src->torn_start != UINT64_MAX)
		buf_printf(&json, "%" PRIu64, src->torn_start);
	else
		buf_adds(&json, "null");
	tell(fn, arg, "torn_start", &json);
	buf_release(&json);
	return 0;
}

/* ---- events as lines ---- */

/* Gives on what has been collected; false when the reader has enough. */
static bool give(struct buf *lines, size_t least, session_text_fn *fn, void *arg)
{
	bool more = true;

	if (lines->n > least) {
		more = fn((struct str){ lines->p, lines->n }, arg);
		buf_clear(lines);
	}
	return more;
}

static int give_stored(struct session *s, session_text_fn *fn, void *arg, struct err *err)
{
	struct dsh_text text;
	struct log_line line;
	struct buf lines = { 0 };
	bool after_damage, more = true;
	int rc = text_open(&text, s->path, err);

	if (rc < 0)
		return rc;
	while (more && (rc = text_next_line(&text, &line, &after_damage, err)) == 1) {
		if (line.too_long)
			continue;
		buf_add(&lines, line.p, line.n);
		if (line.ended)
			buf_addc(&lines, '\n');
		more = give(&lines, PIECE, fn, arg);
	}
	if (rc >= 0 && more)
		give(&lines, 0, fn, arg);
	buf_release(&lines);
	text_close(&text);
	return rc < 0 ? rc : 0;
}

int dsh_op_events(struct session *s, unsigned flags, uint64_t from, session_text_fn *fn, void *arg,
	struct err *err)
{
	struct dsh_src *src = s->src;
	struct buf lines = { 0 };
	bool more = true;
	int rc = 0;

	if (flags & EVENTS_STORED)
		return give_stored(s, fn, arg, err);
	for (uint32_t i = 0; rc == 0 && more && i < src->n; i++) {
		const struct dsh_item *item = &src->items[i];

		if ((uint64_t)item->seq + item->count <= from)
			continue;
		rc = item_events(s, i, from, &lines, err);
		more = give(&lines, PIECE, fn, arg);
	}
	if (rc == 0 && more && (flags & EVENTS_BALANCED)) {
		uint64_t seq = src->next_seq;
		const char *p = src->closers.p;

		for (size_t k = 0; k < src->nclosers; k++, seq++) {
			const char *nl =
				memchr(p, '\n', src->closers.n - (size_t)(p - src->closers.p));

			if (seq >= from)
				buf_add(&lines, p, (size_t)(nl + 1 - p));
			p = nl + 1;
		}
	}
	if (rc == 0 && more)
		give(&lines, 0, fn, arg);
	buf_release(&lines);
	return rc;
}

/* ---- for writers ---- */

struct str dsh_closers(const struct session *s, size_t *n)
{
	const struct dsh_src *src = s->src;

	*n = src->nclosers;
	return (struct str){ src->closers.p ? src->closers.p : "", src->closers.n };
}

struct str dsh_open_turn(const struct session *s)
{
	const struct dsh_src *src = s->src;
	struct str turn = buf_str(&src->balance.turn);
	uint64_t n;

	return src->nclosers && num_count(turn, &n) ? turn : (struct str){ "", 0 };
}

bool dsh_is_zstd(const struct session *s)
{
	const struct dsh_src *src = s->src;

	return src->text.zstd != NULL;
}

const char *dsh_refusal(const struct session *s)
{
	const struct dsh_src *src = s->src;

	return src->refusal;
}

uint64_t dsh_count(const struct session *s)
{
	const struct dsh_src *src = s->src;

	return src->next_seq;
}
