/*
 * pretty.c - JSON laid out for reading, streamed from the raw bytes: no values
 * are built, and nothing is kept of what is open but how much.
 */
#include "config.h"

#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "json/bytes.h"
#include "json/value.h"

struct printer {
	struct buf *out;
	size_t left; /* of the limit */
	size_t depth, indent;
	bool full;
};

static void put(struct printer *pr, const char *p, size_t n)
{
	if (pr->full)
		return;
	if (n > pr->left) {
		n = utf8_cut(p, pr->left);
		pr->full = true;
	}
	buf_add(pr->out, p, n);
	pr->left -= n;
}

static void put_line(struct printer *pr)
{
	static const char spaces[] = "                                ";
	size_t n;

	put(pr, "\n", 1);
	if (__builtin_mul_overflow(pr->depth, pr->indent, &n))
		n = SIZE_MAX;
	while (n && !pr->full) {
		size_t some = n < sizeof(spaces) - 1 ? n : sizeof(spaces) - 1;

		put(pr, spaces, some);
		n -= some;
	}
}

/* Decoded when it stands for a printable character beyond ASCII, as written otherwise. */
static const char *put_escape(struct printer *pr, const char *p, const char *end)
{
	struct text_cluster c;
	char bytes[4];
	uint32_t cp;
	size_t len = json_escape(p, (size_t)(end - p), &cp), n;

	if (len == 0) {
		put(pr, p, (size_t)(end - p));
		return end;
	}
	/* U+FFFD stands for what could not be decoded, too. */
	if (cp >= 0x80 && cp != 0xFFFD) {
		n = utf8_encode(cp, bytes);
		text_next(bytes, n, &c);
		if (c.kind == TEXT_PLAIN) {
			put(pr, bytes, n);
			return p + len;
		}
	}
	put(pr, p, len);
	return p + len;
}

/* The string at p, its quotes included; the place behind it. */
static const char *put_string(struct printer *pr, const char *p, const char *end)
{
	size_t run;

	put(pr, "\"", 1);
	p++;
	while (p < end && !pr->full) {
		size_t most = (size_t)(end - p);

		if (most > pr->left)
			most = pr->left + 1; /* one more shows that it did not fit */
		run = bytes_quote_or_backslash(p, most);
		put(pr, p, run);
		p += run;
		if (run == most)
			continue;
		if (*p == '"') {
			put(pr, p, 1);
			return p + 1;
		}
		p = put_escape(pr, p, end);
	}
	return p;
}

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && bytes_is_space(*p))
		p++;
	return p;
}

static const char *put_open(struct printer *pr, const char *p, const char *end)
{
	const char *next = skip_space(p + 1, end);

	put(pr, p, 1);
	if (next < end && *next == (*p == '{' ? '}' : ']')) {
		put(pr, next, 1);
		return next + 1;
	}
	pr->depth++;
	if (next < end)
		put_line(pr);
	return next;
}

/* One token at p that is no white space; the place behind it. */
static const char *put_token(struct printer *pr, const char *p, const char *end)
{
	switch (*p) {
	case '"':
		return put_string(pr, p, end);
	case '{':
	case '[':
		return put_open(pr, p, end);
	case '}':
	case ']':
		if (pr->depth)
			pr->depth--;
		put_line(pr);
		put(pr, p, 1);
		break;
	case ',':
		put(pr, p, 1);
		if (skip_space(p + 1, end) < end)
			put_line(pr);
		break;
	case ':':
		put(pr, ": ", 2);
		break;
	default:
		put(pr, p, 1);
		break;
	}
	return p + 1;
}

/* Whether raw is one JSON value, or the beginning of one. */
static bool is_json(struct str raw, size_t limit)
{
	size_t n = raw.n;
	struct json_scan scan;

	/* A look at about as much as will be shown; the printer itself takes any bytes. */
	if (limit < n / 8)
		n = limit * 8;
	switch (json_scan_value(raw.p, n, &scan)) {
	case JSON_OK:
		return skip_space(raw.p + scan.end, raw.p + n) == raw.p + n;
	case JSON_SHORT:
		return true;
	default:
		return false;
	}
}

bool json_pretty(struct buf *out, struct str raw, int indent, size_t limit)
{
	struct printer pr = {
		.out = out, .left = limit, .indent = indent > 0 ? (size_t)indent : 0
	};
	const char *p = raw.p, *end;

	if (raw.n == 0)
		return true;
	end = raw.p + raw.n;
	if (!is_json(raw, limit)) {
		put(&pr, raw.p, raw.n);
		return !pr.full;
	}
	while (!pr.full && (p = skip_space(p, end)) < end)
		p = put_token(&pr, p, end);
	return !pr.full;
}
