/*
 * repack.c - events to stored records, as the format's own writer makes them:
 * runs of chunks become packed rows, lists of sources keep the dialect of the
 * log. Knows one batch; which events are in it is its caller's business.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

enum { RUN_MIN = 3 }; /* a shorter run is written as plain events */

/* A chunk that may be packed; slices of the event's compact text. */
struct chunk {
	char kind; /* 't', 'r' or 'c' */
	uint64_t seq;
	int64_t time;
	struct str turn, step, index, id, name, text;
};

void dsh_repack_init(struct dsh_repack *rp, struct buf *out, bool has_ranges)
{
	*rp = (struct dsh_repack){ .out = out, .has_ranges = has_ranges };
}

void dsh_repack_release(struct dsh_repack *rp)
{
	buf_release(&rp->plain);
	buf_release(&rp->head);
	buf_release(&rp->gaps);
	buf_release(&rp->texts);
	rec_release(&rp->rec);
	*rp = (struct dsh_repack){ 0 };
}

/* ---- may it be packed? ---- */

static bool read_delta(struct str chunk, struct chunk *c)
{
	struct str type = json_get(chunk, "type"), key, value;
	const char *text_key = "text";
	struct json_iter it;
	int members = 0;

	if (json_string_eq(type, "text-delta"))
		c->kind = 't';
	else if (json_string_eq(type, "reasoning-delta"))
		c->kind = 'r';
	else if (json_string_eq(type, "tool-call-delta"))
		c->kind = 'c';
	else
		return false;
	if (c->kind == 'c')
		text_key = "argumentsDelta";
	json_iter_init(&it, chunk);
	while (json_iter_next(&it, &key, &value))
		members++;
	c->index = json_get(chunk, "index");
	c->text = json_get(chunk, text_key);
	if (c->kind == 'c') {
		c->id = json_get(chunk, "id");
		c->name = json_get(chunk, "name");
	}
	if (json_type_of(c->index) != JSON_NUMBER || json_type_of(c->text) != JSON_STRING)
		return false;
	if (c->kind != 'c')
		return members == 3;
	if (json_type_of(c->id) != JSON_STRING)
		return false;
	return c->name.n ? members == 5 && json_type_of(c->name) == JSON_STRING : members == 4;
}

static bool has_exactly(struct str object, int want)
{
	struct json_iter it;
	struct str key, value;
	int n = 0;

	json_iter_init(&it, object);
	while (json_iter_next(&it, &key, &value))
		n++;
	return n == want;
}

/* Members are counted, and those that must be there are asked for: then there is no other. */
static bool read_chunk(const struct dsh_rec *r, struct chunk *c)
{
	struct str data = rec_field(r, K_DATA), chunk;

	*c = (struct chunk){ 0 };
	if (r->state != REC_EVENT || r->type != T_CHUNK || !r->has_seq ||
		!num_safe(rec_field(r, K_TIME), &c->time) || !has_exactly(rec_object(r), 4) ||
		json_type_of(data) != JSON_OBJECT || !has_exactly(data, 3))
		return false;
	c->seq = r->seq;
	c->turn = json_get(data, "turn");
	c->step = json_get(data, "step");
	chunk = json_get(data, "chunk");
	return json_type_of(c->turn) == JSON_NUMBER && json_type_of(c->step) == JSON_NUMBER &&
	       json_type_of(chunk) == JSON_OBJECT && read_delta(chunk, c);
}

/* ---- runs ---- */

/* What all members of a run share, in the order of a row; `name` by its presence too. */
static void put_head(struct buf *out, const struct chunk *c)
{
	buf_addc(out, c->kind);
	buf_adds(out, "\"turn\":");
	buf_addstr(out, c->turn);
	buf_adds(out, ",\"step\":");
	buf_addstr(out, c->step);
	buf_adds(out, ",\"index\":");
	buf_addstr(out, c->index);
	buf_addc(out, '\n');
	if (c->kind == 'c') {
		buf_adds(out, ",\"id\":");
		buf_addstr(out, c->id);
	}
	if (c->name.n) {
		buf_adds(out, ",\"name\":");
		buf_addstr(out, c->name);
	}
}

static void put_row(struct dsh_repack *rp)
{
	const char *shared = rp->head.p + 1, *cut = strchr(shared, '\n');
	char kind = rp->head.p[0];

	buf_printf(rp->out, "{\"type\":\"%s-chunks\",\"seq0\":%llu,\"time0\":%lld,\"data\":{",
		kind == 't'   ? "text"
		: kind == 'r' ? "reasoning"
			      : "tool-call",
		(unsigned long long)rp->seq0, (long long)rp->time0);
	buf_add(rp->out, shared, (size_t)(cut - shared));
	buf_adds(rp->out, ",\"dt\":[");
	buf_add(rp->out, rp->gaps.p, rp->gaps.n);
	buf_addc(rp->out, ']');
	buf_adds(rp->out, cut + 1);
	buf_adds(rp->out, kind == 'c' ? ",\"args\":[" : ",\"texts\":[");
	buf_add(rp->out, rp->texts.p, rp->texts.n);
	buf_adds(rp->out, "]}}\n");
}

void dsh_repack_end(struct dsh_repack *rp)
{
	if (rp->run >= RUN_MIN)
		put_row(rp);
	else if (rp->run)
		buf_add(rp->out, rp->plain.p, rp->plain.n);
	rp->run = 0;
}

static void begin_run(struct dsh_repack *rp, const struct chunk *c)
{
	buf_clear(&rp->plain);
	buf_clear(&rp->gaps);
	buf_clear(&rp->texts);
	buf_clear(&rp->head);
	put_head(&rp->head, c);
	rp->seq0 = c->seq;
	rp->time0 = c->time;
}

static bool goes_on(struct dsh_repack *rp, const struct chunk *c)
{
	int64_t gap = c->time - rp->time; /* two safe integers: no overflow */
	struct buf head = { 0 };
	bool same;

	if (!rp->run || c->seq != rp->seq0 + rp->run || gap < -DSH_SAFE_MAX || gap > DSH_SAFE_MAX)
		return false;
	put_head(&head, c);
	same = str_eq((struct str){ head.p, head.n }, (struct str){ rp->head.p, rp->head.n });
	buf_release(&head);
	return same;
}

static void add_to_run(struct dsh_repack *rp, const struct chunk *c, struct str event)
{
	if (!goes_on(rp, c)) {
		dsh_repack_end(rp);
		begin_run(rp, c);
	} else {
		if (rp->gaps.n)
			buf_addc(&rp->gaps, ',');
		json_put_int(&rp->gaps, c->time - rp->time);
	}
	if (rp->texts.n)
		buf_addc(&rp->texts, ',');
	buf_addstr(&rp->texts, c->text);
	rp->time = c->time;
	if (++rp->run < RUN_MIN) {
		buf_addstr(&rp->plain, event);
		buf_addc(&rp->plain, '\n');
	}
}

/* ---- sources ---- */

/* Runs of three and more as pairs, if the list rises; false leaves it as it is. */
static bool put_ranges(struct buf *out, struct str list)
{
	struct json_iter it;
	struct str none, value;
	uint64_t *v = NULL, a;
	size_t n = 0, cap = 0;
	bool rises = true;

	json_iter_init(&it, list);
	while (rises && json_iter_next(&it, &none, &value)) {
		rises = num_count(value, &a) && (n == 0 || a > v[n - 1]);
		v = xgrow(v, &cap, n + 1, sizeof(*v));
		v[n++] = a;
	}
	if (rises)
		buf_addc(out, '[');
	for (size_t i = 0, k; rises && i < n; i = k) {
		for (k = i + 1; k < n && v[k] == v[k - 1] + 1; k++)
			;
		if (i)
			buf_addc(out, ',');
		if (k - i >= 3) {
			buf_printf(out, "[%llu,%llu]", (unsigned long long)v[i],
				(unsigned long long)v[k - 1]);
			continue;
		}
		k = i + 1; /* a pair of neighbours is two entries */
		buf_printf(out, "%llu", (unsigned long long)v[i]);
	}
	if (rises)
		buf_addc(out, ']');
	free(v);
	return rises;
}

static void put_plain(struct dsh_repack *rp, const struct dsh_rec *r, struct str event)
{
	struct str sources = rec_field(r, K_SOURCES);
	struct buf list = { 0 };

	if (rp->has_ranges && json_type_of(sources) == JSON_LIST && put_ranges(&list, sources)) {
		buf_add(rp->out, event.p, (size_t)(sources.p - event.p));
		buf_add(rp->out, list.p, list.n);
		event.n -= (size_t)(sources.p + sources.n - event.p);
		event.p = sources.p + sources.n;
	}
	buf_addstr(rp->out, event);
	buf_addc(rp->out, '\n');
	buf_release(&list);
}

void dsh_repack_event(struct dsh_repack *rp, struct str event)
{
	struct chunk c;

	rec_parse(&rp->rec, event.p, event.n);
	if (read_chunk(&rp->rec, &c)) {
		add_to_run(rp, &c, event);
		return;
	}
	dsh_repack_end(rp);
	put_plain(rp, &rp->rec, event);
}
