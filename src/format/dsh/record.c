/*
 * record.c - one stored line: is it an event, a packed row, some other JSON or
 * none, and where its members stand. As read by JSON.parse behind a lossy
 * decoder: bad UTF-8 becomes U+FFFD and is no error.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"

static const char *const keys[K_COUNT] = { "type", "seq", "time", "data", "sourceEventSeqs",
	"surfaceOp", "ignorable", "seq0", "time0" };

/* ---- numbers ---- */

static bool slow_number(struct str raw, double *v)
{
	char text[64];

	if (json_type_of(raw) != JSON_NUMBER || raw.n >= sizeof(text))
		return false;
	memcpy(text, raw.p, raw.n);
	text[raw.n] = '\0';
	*v = strtod(text, NULL);
	return isfinite(*v) && floor(*v) == *v && fabs(*v) <= (double)DSH_SAFE_MAX;
}

bool num_safe(struct str raw, int64_t *out)
{
	double v;

	if (json_int64(raw, out) && *out >= -DSH_SAFE_MAX && *out <= DSH_SAFE_MAX)
		return true;
	if (!slow_number(raw, &v))
		return false;
	*out = (int64_t)v;
	return true;
}

bool num_count(struct str raw, uint64_t *out)
{
	int64_t v;

	if (raw.n == 0 || raw.p[0] == '-' || !num_safe(raw, &v))
		return false;
	*out = (uint64_t)v;
	return true;
}

/* ---- lines ---- */

struct str rec_object(const struct dsh_rec *r)
{
	return (struct str){ r->p + r->sc.start, r->sc.end - r->sc.start };
}

static void make_lossy(struct buf *out, const char *p, size_t n)
{
	buf_clear(out);
	buf_reserve(out, n + n / 8);
	while (n) {
		size_t good = utf8_valid_prefix(p, n);
		uint32_t cp;

		buf_add(out, p, good);
		p += good;
		n -= good;
		if (n) {
			size_t bad = utf8_decode(p, n, &cp);

			buf_adds(out, "\xEF\xBF\xBD");
			p += bad;
			n -= bad;
		}
	}
}

/* The text is an object, a value of another type, or no JSON. */
static void scan(struct dsh_rec *r, const char *p, size_t n)
{
	enum json_status status = json_scan(p, n, keys, K_COUNT, &r->sc);

	r->p = p;
	r->state = REC_BAD;
	if (status == JSON_OK) {
		if (json_is_blank(p + r->sc.end, n - r->sc.end))
			r->state = REC_EVENT;
		else
			r->why = "more follows the object";
		return;
	}
	r->why = status == JSON_END ? "the line is blank"
		 : r->sc.reason     ? r->sc.reason
				    : "it ends early";
	if (json_scan_value(p, n, &r->sc) == JSON_OK && json_is_blank(p + r->sc.end, n - r->sc.end))
		r->state = REC_VALUE;
}

static void read_type(struct dsh_rec *r)
{
	struct str type = rec_field(r, K_TYPE);
	const struct dsh_type_row *row;

	r->row = NULL;
	r->type = T_UNKNOWN;
	for (row = dsh_types; type.n && row->name; row++)
		if (r->sc.field[K_TYPE].escaped
				? json_string_eq(type, row->name)
				: type.n == row->length + 2u &&
					  !memcmp(type.p + 1, row->name, row->length)) {
			r->row = row;
			r->type = (enum dsh_type)row->type;
			return;
		}
}

static bool is_packed_type(const struct dsh_rec *r)
{
	struct str type = rec_field(r, K_TYPE);

	if (type.n > 9 && memcmp(type.p + type.n - 8, "-chunks\"", 8) != 0 &&
		!r->sc.field[K_TYPE].escaped)
		return false;
	return json_string_eq(type, "text-chunks") || json_string_eq(type, "reasoning-chunks") ||
	       json_string_eq(type, "tool-call-chunks");
}

bool rec_has_only_found(const struct dsh_rec *r)
{
	static const uint8_t key_length[K_COUNT] = { 4, 3, 4, 4, 15, 9, 9, 4, 5 };
	size_t n = 1;

	for (int i = 0; i < K_COUNT; i++)
		if (r->sc.field[i].type != JSON_NONE)
			n += key_length[i] + 4u + r->sc.field[i].len;
	return n == r->sc.end - r->sc.start;
}

/* ---- messages ---- */

static void read_blocks(struct dsh_message *m)
{
	static const char *const names[] = { "type", "toolCallId", "content", "isError" };
	struct json_iter it;
	struct str none, block, v[4];

	if (json_type_of(m->content) != JSON_LIST)
		return;
	json_iter_init(&it, m->content);
	while (json_iter_next(&it, &none, &block)) {
		json_pick(block, names, m->nblocks == 0 ? 4 : 1, v);
		m->has_call = m->has_call || json_string_eq(v[0], "tool-call");
		if (m->nblocks++ > 0)
			continue;
		m->type = v[0];
		m->tool_call = v[1];
		m->inner = v[2];
		m->is_error = v[3];
	}
}

const struct dsh_message *rec_message(struct dsh_rec *r)
{
	static const char *const beside[] = { "message", "step", "error", "usage" };
	static const char *const names[] = { "id", "role", "content", "source" };
	static const char *const sources[] = { "kind", "provider", "model", "callId" };
	struct str data = rec_field(r, K_DATA), step = { NULL, 0 }, error = { NULL, 0 },
		   usage = { NULL, 0 }, v[4];
	struct dsh_message *m = &r->message;

	if (r->has_message)
		return m;
	r->has_message = true;
	if (r->type != T_USER) {
		json_pick(data, beside, 4, v);
		data = v[0];
		step = v[1];
		error = v[2];
		usage = v[3];
	}
	json_pick(data, names, 4, v);
	*m = (struct dsh_message){ .step = step,
		.error = error,
		.usage = usage,
		.id = v[0],
		.role = v[1],
		.content = v[2],
		.source = v[3] };
	json_pick(m->source, sources, 4, v);
	m->kind = v[0];
	m->provider = v[1];
	m->model = v[2];
	m->call = v[3];
	read_blocks(m);
	return m;
}

static void read_event(struct dsh_rec *r)
{
	struct str sources = rec_field(r, K_SOURCES);

	if (r->sc.field[K_SEQ0].type != JSON_NONE && is_packed_type(r)) {
		r->why = pack_check(r);
		r->state = r->why ? REC_BAD : REC_PACKED;
		r->has_seq = !r->why;
		r->type = T_CHUNK;
		return;
	}
	read_type(r);
	if (!r->row && is_packed_type(r)) {
		r->why = "a packed row without a good seq0 and time0";
		r->state = REC_BAD;
		return;
	}
	r->count = 1;
	r->has_seq = num_count(rec_field(r, K_SEQ), &r->seq);
	if (json_type_of(sources) != JSON_LIST)
		return;
	r->has_sources = true;
	r->why = ranges_check(sources, r->has_seq, r->seq, &r->sources);
	if (r->why)
		r->state = REC_BAD;
}

void rec_parse(struct dsh_rec *r, const char *p, size_t n)
{
	r->row = NULL;
	r->type = T_UNKNOWN;
	r->has_seq = r->is_lossy = r->has_sources = r->has_message = r->is_quick = false;
	r->sources = (struct dsh_sources){ 0 };
	r->count = 0;
	r->why = NULL;
	if (n > UINT32_MAX - 1) {
		r->state = REC_BAD;
		r->why = "the line is too long";
		return;
	}
	scan(r, p, n);
	if (r->state == REC_BAD && utf8_valid_prefix(p, n) < n) {
		make_lossy(&r->own, p, n);
		r->is_lossy = true;
		scan(r, r->own.p, r->own.n);
	}
	if (r->state == REC_EVENT)
		read_event(r);
}

void rec_parse_quick(struct dsh_rec *r, const char *p, size_t n)
{
	if (!quick_parse(r, p, n))
		rec_parse(r, p, n);
}

void rec_replace(struct dsh_rec *r, struct buf *text)
{
	struct buf old = r->own;

	r->own = *text;
	*text = (struct buf){ 0 };
	buf_release(&old);
	rec_parse(r, r->own.p, r->own.n);
}

void rec_release(struct dsh_rec *r)
{
	buf_release(&r->own);
}
