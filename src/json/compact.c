/*
 * compact.c - JSON written again the way JSON.stringify does: members in the
 * order of a JavaScript object, numbers and strings in their shortest form.
 * No recursion; the depth is the scanner's.
 */
#include "config.h"

#include "json/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "json/bytes.h"
#include "json/value.h"

enum { FEW_MEMBERS = 16, PLAIN_DIGITS = 15 };

/* ---- numbers ---- */

/* An integer that stands for itself: no sign of zero, no more digits than a double keeps. */
static bool is_plain_integer(struct str raw)
{
	size_t i = raw.n && raw.p[0] == '-';

	if (raw.n - i == 0 || raw.n - i > PLAIN_DIGITS || (i && raw.p[1] == '0'))
		return false;
	for (; i < raw.n; i++)
		if (raw.p[i] < '0' || raw.p[i] > '9')
			return false;
	return true;
}

/* The fewest digits that read back as v: "d" or "d.ddd", and the exponent. */
static int shortest(double v, char digits[24], int *exponent)
{
	char text[40];
	int n = 0;

	for (int precision = 0; precision <= 16; precision++) {
		snprintf(text, sizeof(text), "%.*e", precision, v);
		if (strtod(text, NULL) == v)
			break;
	}
	for (const char *p = text; *p != 'e'; p++)
		if (*p >= '0' && *p <= '9')
			digits[n++] = *p;
	while (n > 1 && digits[n - 1] == '0')
		n--;
	*exponent = atoi(strchr(text, 'e') + 1);
	return n;
}

static void put_zeros(struct buf *out, int n)
{
	while (n-- > 0)
		buf_addc(out, '0');
}

static void put_double(struct buf *out, double v)
{
	char d[24];
	int exponent, n = shortest(v, d, &exponent);

	if (exponent >= 21 || exponent < -6) {
		buf_addc(out, d[0]);
		if (n > 1)
			buf_addc(out, '.');
		buf_add(out, d + 1, (size_t)n - 1);
		buf_printf(out, "e%c%d", exponent < 0 ? '-' : '+', abs(exponent));
	} else if (exponent < 0) {
		buf_adds(out, "0.");
		put_zeros(out, -exponent - 1);
		buf_add(out, d, (size_t)n);
	} else if (n <= exponent + 1) {
		buf_add(out, d, (size_t)n);
		put_zeros(out, exponent + 1 - n);
	} else {
		buf_add(out, d, (size_t)exponent + 1);
		buf_addc(out, '.');
		buf_add(out, d + exponent + 1, (size_t)(n - exponent - 1));
	}
}

void json_put_number(struct buf *out, struct str raw)
{
	char *text;
	double v;

	if (is_plain_integer(raw)) {
		buf_addstr(out, raw);
		return;
	}
	text = xstrndup(raw.p, raw.n);
	v = strtod(text, NULL);
	free(text);
	if (isinf(v) || isnan(v)) {
		buf_adds(out, "null");
	} else if (v == 0) {
		buf_addc(out, '0');
	} else {
		if (v < 0)
			buf_addc(out, '-');
		put_double(out, fabs(v));
	}
}

/* ---- strings ---- */

static bool is_surrogate(const char *p, size_t n, unsigned *unit)
{
	unsigned v = 0;

	if (n < 6 || p[0] != '\\' || p[1] != 'u')
		return false;
	for (size_t i = 2; i < 6; i++)
		v = v << 4 | (unsigned)(bytes_hex(p[i]) & 15);
	*unit = v;
	return v >= 0xD800 && v <= 0xDFFF;
}

/* One escape; its length. */
static size_t put_escape(struct buf *out, const char *p, size_t n)
{
	uint32_t cp = 0xFFFD;
	size_t len = json_escape(p, n, &cp);
	unsigned unit;
	char bytes[8];

	if (len == 0) /* not in checked text */
		return n;
	if (len == 6 && is_surrogate(p, n, &unit)) {
		buf_printf(out, "\\u%04x", unit);
		return len;
	}
	if (cp < 0x80) {
		bytes[0] = (char)cp;
		json_put_inside(out, (struct str){ bytes, 1 });
	} else {
		buf_add(out, bytes, utf8_encode(cp, bytes));
	}
	return len;
}

void json_put_requoted(struct buf *out, struct str raw)
{
	size_t i = 1, end = raw.n ? raw.n - 1 : 0;

	if (!memchr(raw.p, '\\', raw.n)) {
		buf_addstr(out, raw);
		return;
	}
	buf_addc(out, '"');
	while (i < end) {
		size_t run = bytes_quote_or_backslash(raw.p + i, end - i);

		buf_add(out, raw.p + i, run);
		i += run;
		if (i < end)
			i += put_escape(out, raw.p + i, raw.n - i); /* the quote ends a lone surrogate */
	}
	buf_addc(out, '"');
}

/* ---- members ---- */

struct member {
	struct str key; /* as it is written out */
	struct str value;
	uint32_t index; /* of an array; UINT32_MAX: none */
	size_t place;
};

struct level {
	size_t first, at, end;  /* members of an object, in the stack of members */
	struct json_iter items; /* of a list */
	bool is_object, has_items;
};

struct writer {
	struct member *members;
	size_t n, cap;
	struct level *levels;
	size_t depth, levels_cap;
	struct arena arena; /* keys that had to be rewritten */
	struct buf key;
};

static uint32_t array_index(struct str key)
{
	uint64_t v = 0;

	if (key.n < 3 || key.n > 12 || (key.p[1] == '0' && key.n > 3))
		return UINT32_MAX;
	for (size_t i = 1; i + 1 < key.n; i++) {
		if (key.p[i] < '0' || key.p[i] > '9')
			return UINT32_MAX;
		v = v * 10 + (uint64_t)(key.p[i] - '0');
	}
	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

static int by_key(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;
	size_t n = a->key.n < b->key.n ? a->key.n : b->key.n;
	int order = memcmp(a->key.p, b->key.p, n);

	if (!order)
		order = (a->key.n > b->key.n) - (a->key.n < b->key.n);
	return order ? order : (a->place > b->place) - (a->place < b->place);
}

static int by_order(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;

	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

/* Of members with one key the first stays, with the value of the last. v is in the order of keys. */
static size_t merge_sorted(struct member *v, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (kept && str_eq(v[kept - 1].key, v[i].key))
			v[kept - 1].value = v[i].value;
		else
			v[kept++] = v[i];
	}
	return kept;
}

/* Is anything repeated or out of the order of a JavaScript object? */
static bool is_odd(const struct member *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (v[i].index != UINT32_MAX)
			return true;
		for (size_t k = 0; k < i && n <= FEW_MEMBERS; k++)
			if (str_eq(v[k].key, v[i].key))
				return true;
	}
	return n > FEW_MEMBERS;
}

static struct str written_key(struct writer *w, struct str key)
{
	if (!memchr(key.p, '\\', key.n))
		return key;
	buf_clear(&w->key);
	json_put_requoted(&w->key, key);
	return arena_keep(&w->arena, buf_str(&w->key));
}

static void collect(struct writer *w, struct level *l, struct str raw)
{
	struct json_iter it;
	struct str key, value;
	struct member *v;
	size_t n;

	json_iter_init(&it, raw);
	while (json_iter_next(&it, &key, &value)) {
		w->members = xgrow(w->members, &w->cap, w->n + 1, sizeof(*w->members));
		v = &w->members[w->n];
		*v = (struct member){ .key = written_key(w, key), .value = value, .place = w->n++ };
		v->index = array_index(v->key);
	}
	n = w->n - l->first;
	v = n ? w->members + l->first : NULL;
	if (n && is_odd(v, n)) {
		qsort(v, n, sizeof(*v), by_key);
		n = merge_sorted(v, n);
		qsort(v, n, sizeof(*v), by_order);
	}
	l->end = w->n = l->first + n;
}

static void open_level(struct writer *w, struct buf *out, struct str raw)
{
	struct level *l;

	w->levels = xgrow(w->levels, &w->levels_cap, w->depth + 1, sizeof(*w->levels));
	l = &w->levels[w->depth++];
	*l = (struct level){ .first = w->n, .at = w->n, .end = w->n, .is_object = raw.p[0] == '{' };
	buf_addc(out, raw.p[0]);
	if (l->is_object)
		collect(w, l, raw);
	else
		json_iter_init(&l->items, raw);
}

static void put_value(struct writer *w, struct buf *out, struct str raw)
{
	switch (json_type_of(raw)) {
	case JSON_OBJECT:
	case JSON_LIST:
		open_level(w, out, raw);
		break;
	case JSON_STRING:
		json_put_requoted(out, raw);
		break;
	case JSON_NUMBER:
		json_put_number(out, raw);
		break;
	default:
		buf_addstr(out, raw);
		break;
	}
}

/* The next value of the innermost object or list; false at its end. */
static bool next_value(struct writer *w, struct buf *out, struct str *value)
{
	struct level *l = &w->levels[w->depth - 1];
	struct str none;

	if (l->is_object) {
		if (l->at == l->end)
			return false;
		if (l->at > l->first)
			buf_addc(out, ',');
		buf_addstr(out, w->members[l->at].key);
		buf_addc(out, ':');
		*value = w->members[l->at++].value;
		return true;
	}
	if (!json_iter_next(&l->items, &none, value))
		return false;
	if (l->has_items)
		buf_addc(out, ',');
	l->has_items = true;
	return true;
}

static void close_level(struct writer *w, struct buf *out)
{
	const struct level *l = &w->levels[--w->depth];

	buf_addc(out, l->is_object ? '}' : ']');
	w->n = l->first;
}

static struct str trim(struct str raw)
{
	while (raw.n && bytes_is_space(raw.p[0])) {
		raw.p++;
		raw.n--;
	}
	while (raw.n && bytes_is_space(raw.p[raw.n - 1]))
		raw.n--;
	return raw;
}

void json_put_compact(struct buf *out, struct str raw)
{
	struct writer w = { 0 };
	struct str value;

	put_value(&w, out, trim(raw));
	while (w.depth) {
		if (next_value(&w, out, &value))
			put_value(&w, out, value);
		else
			close_level(&w, out);
	}
	free(w.members);
	free(w.levels);
	buf_release(&w.key);
	arena_free(&w.arena);
}
