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

struct str rec_field(const struct dsh_rec *r, int key)
{
	if (r->sc.field[key].type == JSON_NONE)
		return (struct str){ NULL, 0 };
	return json_raw(r->p, &r->sc.field[key]);
}

struct str rec_object(const struct dsh_rec *r)
{
	return (struct str){ r->p + r->sc.start, r->sc.end - r->sc.start };
}

static bool is_blank(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r' && p[i] != '\n')
			return false;
	return true;
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
		if (is_blank(p + r->sc.end, n - r->sc.end))
			r->state = REC_EVENT;
		else
			r->why = "more follows the object";
		return;
	}
	r->why = status == JSON_END ? "the line is blank"
		 : r->sc.reason     ? r->sc.reason
				    : "it ends early";
	if (json_scan_value(p, n, &r->sc) == JSON_OK && is_blank(p + r->sc.end, n - r->sc.end))
		r->state = REC_VALUE;
}

static void read_type(struct dsh_rec *r)
{
	struct str type = rec_field(r, K_TYPE);
	const struct dsh_type_row *row;

	r->row = NULL;
	r->type = T_UNKNOWN;
	for (row = dsh_types; type.n && row->name; row++) {
		size_t n = strlen(row->name);

		if (r->sc.field[K_TYPE].escaped
				? json_string_eq(type, row->name)
				: type.n == n + 2 && !memcmp(type.p + 1, row->name, n)) {
			r->row = row;
			r->type = (enum dsh_type)row->type;
			return;
		}
	}
}

static bool is_packed_type(const struct dsh_rec *r)
{
	struct str type = rec_field(r, K_TYPE);

	return type.n > 8 &&
	       (json_string_eq(type, "text-chunks") || json_string_eq(type, "reasoning-chunks") ||
		       json_string_eq(type, "tool-call-chunks"));
}

static void read_event(struct dsh_rec *r)
{
	struct str sources = rec_field(r, K_SOURCES);

	read_type(r);
	r->count = 1;
	r->has_seq = num_count(rec_field(r, K_SEQ), &r->seq);
	if (!r->row && is_packed_type(r)) {
		r->why = pack_check(r, &r->seq, &r->count);
		r->state = r->why ? REC_BAD : REC_PACKED;
		r->has_seq = !r->why;
		r->type = T_CHUNK;
		return;
	}
	if (json_type_of(sources) != JSON_LIST)
		return;
	r->why = ranges_check(sources, r->has_seq, r->seq, &r->has_ranges);
	if (r->why)
		r->state = REC_BAD;
}

void rec_parse(struct dsh_rec *r, const char *p, size_t n)
{
	r->row = NULL;
	r->type = T_UNKNOWN;
	r->has_seq = r->is_lossy = r->has_ranges = false;
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
