/*
 * read.c - items that were scanned before, read again: their records, and the
 * events in them as the log says them.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <inttypes.h>
#include <string.h>

enum { LEGACY_STEPS = 64 };

static int item_bytes(struct session *s, uint32_t i, struct buf *out, struct err *err)
{
	struct dsh_src *src = s->src;
	const struct dsh_item *item = &src->items[i];

	buf_clear(out);
	if (!(item->flags & ITEM_RECOVERED))
		return text_read(&src->text, item->off, item->len, out, err);
	buf_add(out, src->recovered.p + (item->off - src->recovered_at), item->len);
	return 0;
}

/* ---- older shapes ---- */

static void put_made_id(struct session *s, uint64_t seq, struct buf *out)
{
	const struct buf *id = &((struct dsh_src *)s->src)->header.id;

	buf_adds(out, "\"legacy-message:");
	if (id->n > 2)
		buf_add(out, id->p + 1, id->n - 2);
	buf_printf(out, ":%" PRIu64 "\"", seq);
}

/* The id of the message that a replacement starts at, which may be of an older shape itself. */
static void replaced_id(struct session *s, uint64_t start, struct buf *out)
{
	struct dsh_src *src = s->src;
	struct buf text = { 0 };
	struct dsh_rec r = { 0 };

	for (int i = 0; i < LEGACY_STEPS && start != UINT64_MAX; i++) {
		uint32_t item = scan_item_of_seq(src, start);
		struct str id;

		if (item == NO_ITEM || item_bytes(s, item, &text, NULL) < 0)
			break;
		rec_parse(&r, text.p, strcspn(text.p, "\n"));
		id = json_get(json_get(rec_field(&r, K_DATA), "message"), "id");
		if (id.n) {
			buf_addstr(out, id);
			break;
		}
		if (surface_start(&r) == UINT64_MAX || surface_start(&r) >= start) {
			put_made_id(s, start, out);
			break;
		}
		start = surface_start(&r);
	}
	buf_release(&text);
	rec_release(&r);
}

static bool may_be_older(enum dsh_type t)
{
	return event_is_surface(t) || t == T_TURN_START || t == T_TURN_END || t == T_STEERING ||
	       t == T_REQUEST_HEADER || t == T_RETIRED;
}

const char *rec_upgrade(struct session *s, struct dsh_rec *r)
{
	struct dsh_src *src = s->src;
	struct str id = { src->header.id.p, src->header.id.n };
	struct buf fresh = { 0 }, replaced = { 0 };
	const char *why = NULL;

	if (r->state != REC_EVENT || !may_be_older(r->type))
		return NULL;
	if (event_is_surface(r->type) && rec_message(r)->id.n)
		return NULL; /* a message of today */
	if (r->type == T_TOOL_RESULT && surface_start(r) != UINT64_MAX &&
		!json_get(rec_field(r, K_DATA), "message").n)
		replaced_id(s, surface_start(r), &replaced);
	if (upgrade_event(r, id, (struct str){ replaced.p, replaced.n }, &fresh, &why) > 0)
		rec_replace(r, &fresh);
	buf_release(&fresh);
	buf_release(&replaced);
	return why;
}

/* As it is stored. */
static int stored_next(struct session *s, uint32_t i, size_t *pos, struct dsh_rec *r, struct err *err)
{
	struct dsh_src *src = s->src;
	const char *p, *nl;
	size_t n;
	int rc;

	if (i >= src->n)
		return err_set(err, ERR_NOTFOUND, "no such event");
	if (*pos == 0) {
		rc = item_bytes(s, i, &src->line, err);
		if (rc < 0)
			return rc;
	} else if (*pos >= src->line.n) {
		return 0;
	}
	p = src->line.p + *pos;
	nl = src->items[i].flags & ITEM_RUN ? memchr(p, '\n', src->line.n - *pos) : NULL;
	n = nl ? (size_t)(nl - p) : src->line.n - *pos;
	*pos += n + 1;
	rec_parse(r, p, n);
	if (r->state == REC_BAD || r->state == REC_VALUE)
		return err_set(err, ERR_CHANGED, "the log is not what it was when it was read");
	return 1;
}

int item_next(struct session *s, uint32_t i, size_t *pos, struct dsh_rec *r, struct err *err)
{
	int rc = stored_next(s, i, pos, r, err);

	if (rc == 1)
		rec_upgrade(s, r);
	return rc;
}

int item_rec(struct session *s, uint32_t i, struct dsh_rec *r, struct err *err)
{
	size_t pos = 0;
	int rc = item_next(s, i, &pos, r, err);

	return rc < 0 ? rc : 0;
}

/* ---- events ---- */

struct job {
	struct buf *out;
	uint64_t seq, from;
};

static bool put_packed(void *arg, uint32_t k, struct str event)
{
	struct job *j = arg;

	if (j->seq + k >= j->from) {
		buf_addstr(j->out, event);
		buf_addc(j->out, '\n');
	}
	return true;
}

/* The object with its ranges written out. */
static void put_expanded(const struct dsh_rec *r, struct buf *out)
{
	struct str object = rec_object(r), sources = rec_field(r, K_SOURCES);
	struct buf whole = { 0 };
	size_t before = (size_t)(sources.p - object.p);

	buf_add(&whole, object.p, before);
	ranges_expand(sources, &whole);
	buf_add(&whole, sources.p + sources.n, object.n - before - sources.n);
	json_put_compact(out, (struct str){ whole.p, whole.n });
	buf_release(&whole);
}

static void put_events(const struct dsh_rec *r, uint64_t seq, uint64_t from, struct buf *out)
{
	if (r->state == REC_PACKED) {
		struct job j = { out, r->seq, from };

		pack_each(r, put_packed, &j);
		return;
	}
	if (seq < from)
		return;
	if (r->sources.has_pairs)
		put_expanded(r, out);
	else
		json_put_compact(out, rec_object(r));
	buf_addc(out, '\n');
}

int item_events(struct session *s, uint32_t i, uint64_t from, struct buf *out, struct err *err)
{
	struct dsh_src *src = s->src;
	struct dsh_rec r = { 0 };
	uint64_t seq = i < src->n ? src->items[i].seq : 0;
	size_t pos = 0;
	int rc;

	while ((rc = item_next(s, i, &pos, &r, err)) == 1)
		put_events(&r, seq++, from, out);
	rec_release(&r);
	return rc;
}

int item_stored_events(struct session *s, uint32_t i, struct buf *out, struct err *err)
{
	struct dsh_rec r = { 0 };
	size_t pos = 0;
	int rc;

	while ((rc = stored_next(s, i, &pos, &r, err)) == 1)
		put_events(&r, 0, 0, out);
	rec_release(&r);
	return rc;
}

/* ---- entries ---- */

int entry_rec(struct session *s, uint32_t entry, struct dsh_rec *r, struct err *err)
{
	struct dsh_src *src = s->src;
	const struct entry *e;

	if (entry >= s->n)
		return err_set(err, ERR_NOTFOUND, "no such entry");
	e = &s->entries[entry];
	if (e->spare == SPARE_CLOSER) {
		rec_parse(r, src->closers.p + e->off, e->len);
		return 0;
	}
	return item_rec(s, scan_item_of(src, e->off), r, err);
}
