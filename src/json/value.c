/*
 * value.c - typed values out of raw JSON. It trusts the scanner for the syntax
 * but stays inside its slice whatever the bytes are.
 */
#include "config.h"

#include "json/value.h"

#include <string.h>

#include "base/utf8.h"
#include "json/bytes.h"

const uint8_t json_types[256] = {
	['n'] = JSON_NULL,
	['f'] = JSON_FALSE,
	['t'] = JSON_TRUE,
	['"'] = JSON_STRING,
	['{'] = JSON_OBJECT,
	['['] = JSON_LIST,
	['-'] = JSON_NUMBER,
	['0'] = JSON_NUMBER,
	['1'] = JSON_NUMBER,
	['2'] = JSON_NUMBER,
	['3'] = JSON_NUMBER,
	['4'] = JSON_NUMBER,
	['5'] = JSON_NUMBER,
	['6'] = JSON_NUMBER,
	['7'] = JSON_NUMBER,
	['8'] = JSON_NUMBER,
	['9'] = JSON_NUMBER,
};

/* ---- strings ---- */

/* The code unit of "\uXXXX" at p, or -1. */
static int32_t unit(const char *p, size_t n)
{
	int32_t v = 0;
	size_t i;

	if (n < 6 || p[0] != '\\' || p[1] != 'u')
		return -1;
	for (i = 2; i < 6; i++) {
		int digit = bytes_hex(p[i]);

		if (digit < 0)
			return -1;
		v = v << 4 | digit;
	}
	return v;
}

/* Whether p[0..n) could become "\uXXXX" with more bytes. */
static bool unit_begins(const char *p, size_t n)
{
	return n < 6 && (n < 1 || p[0] == '\\') && (n < 2 || p[1] == 'u');
}

static size_t unicode_escape(const char *p, size_t n, uint32_t *cp)
{
	int32_t high = unit(p, n), low;

	if (high < 0) {
		if (unit_begins(p, n))
			return 0;
		*cp = 0xFFFD;
		return 2;
	}
	*cp = (uint32_t)high;
	if (high < 0xD800 || high > 0xDFFF)
		return 6;
	*cp = 0xFFFD;
	if (high >= 0xDC00)
		return 6;
	low = unit(p + 6, n - 6);
	if (low < 0 && unit_begins(p + 6, n - 6))
		return 0;
	if (low < 0xDC00 || low > 0xDFFF)
		return 6;
	*cp = 0x10000 + ((uint32_t)(high - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
	return 12;
}

size_t json_escape(const char *p, size_t n, uint32_t *cp)
{
	static const char letters[] = "bfnrt", means[] = "\b\f\n\r\t";
	const char *letter;

	if (n < 2)
		return 0;
	if (p[1] == 'u')
		return unicode_escape(p, n, cp);
	letter = p[1] ? strchr(letters, p[1]) : NULL;
	if (letter)
		*cp = (unsigned char)means[letter - letters];
	else if (p[1] == '"' || p[1] == '\\' || p[1] == '/')
		*cp = (unsigned char)p[1];
	else
		*cp = 0xFFFD;
	return 2;
}

size_t json_string_more(struct str raw, struct buf *out, size_t limit)
{
	size_t i = 0, start = out->n;

	while (i < raw.n) {
		size_t left = limit - (out->n - start), most = raw.n - i, run, len;
		char bytes[4];
		uint32_t cp;

		if (raw.p[i] == '"')
			return i + 1;
		if (left == 0)
			return i;
		if (raw.p[i] == '\\') {
			len = json_escape(raw.p + i, raw.n - i, &cp);
			if (len == 0)
				return i;
			run = utf8_encode(cp, bytes);
			if (run > left)
				return i;
			buf_add(out, bytes, run);
			i += len;
			continue;
		}
		if (most > left)
			most = left;
		run = bytes_quote_or_backslash(raw.p + i, most);
		len = run == most ? utf8_cut(raw.p + i, run) : run;
		buf_add(out, raw.p + i, len);
		i += len;
		if (len < run)
			return i;
	}
	return i;
}

size_t json_string(struct str raw, struct buf *out, size_t limit)
{
	if (raw.n == 0 || raw.p[0] != '"')
		return 0;
	return 1 + json_string_more((struct str){ raw.p + 1, raw.n - 1 }, out, limit);
}

/* The rest of a string that holds an escape; raw[i] is a backslash. */
static bool escaped_eq(struct str raw, size_t i, const char *s)
{
	size_t n = strlen(s);

	while (i < raw.n && raw.p[i] != '"') {
		char bytes[4];
		size_t len = 1, run = 1;
		uint32_t cp;

		bytes[0] = raw.p[i];
		if (raw.p[i] == '\\') {
			len = json_escape(raw.p + i, raw.n - i, &cp);
			if (len == 0)
				return false;
			run = utf8_encode(cp, bytes);
		}
		if (run > n || memcmp(s, bytes, run) != 0)
			return false;
		s += run;
		n -= run;
		i += len;
	}
	return n == 0 && i + 1 == raw.n;
}

bool json_string_eq(struct str raw, const char *s)
{
	size_t i = 1;

	if (raw.n < 2 || raw.p[0] != '"')
		return false;
	/* Nearly all are written without escapes, and most differ at once. */
	for (; i < raw.n && raw.p[i] != '"'; i++, s++) {
		if (raw.p[i] == '\\')
			return escaped_eq(raw, i, s);
		if (raw.p[i] != *s || *s == '\0')
			return false;
	}
	return *s == '\0' && i + 1 == raw.n;
}

/* ---- numbers ---- */

enum { SAFE_DIGITS = 19 }; /* so many can not overflow */

static bool magnitude(const char *p, size_t n, uint64_t *out)
{
	uint64_t v = 0;
	size_t i;

	if (n == 0 || (n > 1 && p[0] == '0'))
		return false;
	if (n <= SAFE_DIGITS) {
		for (i = 0; i < n; i++) {
			unsigned digit = (unsigned char)p[i] - '0';

			if (digit > 9)
				return false;
			v = v * 10 + digit;
		}
		*out = v;
		return true;
	}
	for (i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9' || __builtin_mul_overflow(v, 10u, &v) ||
			__builtin_add_overflow(v, (uint64_t)(p[i] - '0'), &v))
			return false;
	}
	*out = v;
	return true;
}

bool json_uint64(struct str raw, uint64_t *out)
{
	uint64_t v;
	bool minus = raw.n && raw.p[0] == '-';

	if (!raw.n || !magnitude(raw.p + minus, raw.n - minus, &v) || (minus && v))
		return false;
	*out = v;
	return true;
}

bool json_int64(struct str raw, int64_t *out)
{
	uint64_t v;
	bool minus = raw.n && raw.p[0] == '-';

	if (!raw.n || !magnitude(raw.p + minus, raw.n - minus, &v) ||
		v > (uint64_t)INT64_MAX + minus)
		return false;
	*out = minus ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

/* ---- members and items ---- */

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && bytes_is_space(*p))
		p++;
	return p;
}

enum { NEAR_QUOTE = 16 }; /* bytes looked at before memchr() is worth its call */

/* Is the quote at q, in the string that begins behind `start`, one with a backslash before it? */
static bool is_escaped(const char *start, const char *q)
{
	const char *p = q;

	while (p > start && p[-1] == '\\')
		p--;
	return (q - p) & 1;
}

/* Behind the string whose opening quote is at p; NULL when it does not end. */
static const char *skip_string(const char *p, const char *end)
{
	const char *start = ++p, *near = end - p > NEAR_QUOTE ? p + NEAR_QUOTE : end;

	while (p < near && *p != '"' && *p != '\\')
		p++;
	if (p < near && *p == '"')
		return p + 1;
	while (p < end && (p = memchr(p, '"', (size_t)(end - p))) != NULL) {
		if (!is_escaped(start, p))
			return p + 1;
		p++;
	}
	return NULL;
}

/* Bytes that mean something outside strings, to whoever looks for the end of a value. */
enum { PLAIN, QUOTE, OPEN, CLOSE, BREAK };
static const uint8_t meaning[256] = { ['"'] = QUOTE,
	['{'] = OPEN,
	['['] = OPEN,
	['}'] = CLOSE,
	[']'] = CLOSE,
	[','] = BREAK,
	[' '] = BREAK,
	['\t'] = BREAK,
	['\n'] = BREAK,
	['\r'] = BREAK };

/* Behind the value at p; brackets are counted, not matched: the scanner has matched them. */
static const char *skip_value(const char *p, const char *end)
{
	const char *start = p;
	size_t depth = 0;

	for (;;) {
		while (p < end && meaning[(unsigned char)*p] == PLAIN)
			p++;
		if (p == end)
			return depth == 0 && p > start ? p : NULL;
		switch (meaning[(unsigned char)*p]) {
		case QUOTE:
			p = skip_string(p, end);
			if (!p || depth == 0)
				return p;
			continue;
		case OPEN:
			depth++;
			break;
		case CLOSE:
			if (depth == 0)
				return p > start ? p : NULL;
			if (--depth == 0)
				return p + 1;
			break;
		default:
			if (depth == 0)
				return p > start ? p : NULL;
			break;
		}
		p++;
	}
}

void json_iter_init(struct json_iter *it, struct str raw)
{
	const char *p, *end;

	*it = (struct json_iter){ .p = raw.p, .end = raw.p };
	if (raw.n == 0)
		return;
	end = raw.p + raw.n;
	p = skip_space(raw.p, end);
	it->p = it->end = end;
	if (p == end || (*p != '{' && *p != '['))
		return;
	it->is_object = *p == '{';
	it->p = p + 1;
}

/* The key at it->p and the colon behind it. */
static bool next_key(struct json_iter *it, struct str *key)
{
	const char *p = it->p, *key_end;

	if (p == it->end || *p != '"')
		return false;
	key_end = skip_string(p, it->end);
	if (!key_end)
		return false;
	*key = (struct str){ p, (size_t)(key_end - p) };
	p = skip_space(key_end, it->end);
	if (p == it->end || *p != ':')
		return false;
	it->p = skip_space(p + 1, it->end);
	return true;
}

bool json_iter_next(struct json_iter *it, struct str *key, struct str *value)
{
	const char *value_end;

	*key = *value = (struct str){ NULL, 0 };
	if (it->bad || it->p == it->end)
		return false;
	it->p = skip_space(it->p, it->end);
	if (it->p < it->end && *it->p == (it->is_object ? '}' : ']')) {
		it->p = it->end;
		return false;
	}
	if (it->started) {
		if (it->p == it->end || *it->p != ',')
			goto bad;
		it->p = skip_space(it->p + 1, it->end);
	}
	it->started = true;
	if (it->is_object && !next_key(it, key))
		goto bad;
	value_end = skip_value(it->p, it->end);
	if (!value_end)
		goto bad;
	*value = (struct str){ it->p, (size_t)(value_end - it->p) };
	it->p = value_end;
	return true;
bad:
	it->bad = true;
	*key = (struct str){ NULL, 0 };
	return false;
}

void json_pick(struct str object, const char *const *keys, size_t nkeys, struct str *out)
{
	struct str name, value;
	struct json_iter it;

	for (size_t i = 0; i < nkeys; i++)
		out[i] = (struct str){ NULL, 0 };
	json_iter_init(&it, object);
	while (json_iter_next(&it, &name, &value))
		for (size_t i = 0; it.is_object && i < nkeys; i++)
			if (json_string_eq(name, keys[i]))
				out[i] = value;
}

struct str json_get(struct str object, const char *key)
{
	struct str found = { NULL, 0 }, name, value;
	struct json_iter it;

	json_iter_init(&it, object);
	while (json_iter_next(&it, &name, &value))
		if (it.is_object && json_string_eq(name, key))
			found = value;
	return found;
}
