/*
 * doc-text.c - what is done to the text of a document around jansson: damage
 * is found and placed, what jansson would refuse is put into words it takes,
 * and its dumps are made safe for terminals without changing their meaning.
 */
#include "config.h"

#include "json/doc-text.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "json/bytes.h"
#include "json/scan.h"
#include "json/value.h"

/*
 * Numbers that jansson can not keep travel as strings that begin with a mark;
 * a string or key that begins with it by itself gets a second one. In jansson's
 * dumps a control character is an escape, so the mark is, too.
 */
#define MARK_ESCAPE "\\u0001"
enum { MARK_ESCAPE_LENGTH = sizeof(MARK_ESCAPE) - 1 };

/* ---- before jansson reads ---- */

void doc_blank_comments(struct str text, struct buf *out)
{
	size_t i = 0;

	buf_add(out, text.p, text.n);
	while (i < out->n) {
		char *line = out->p + i, *end = memchr(line, '\n', out->n - i);
		size_t n = end ? (size_t)(end - line) : out->n - i;

		i += n + 1;
		if (n && line[strspn(line, " \t")] == '#')
			memset(line, ' ', n);
	}
}

static int damage(struct err *err, struct str text, size_t at, const char *reason)
{
	size_t line = 1, column = 1, i;

	for (i = 0; i < at; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c == '\n') {
			line++;
			column = 1;
		} else if (c >> 6 != 2) {
			column++;
		}
	}
	if (err && !err->code)
		err->offset = at;
	return err_set(err, ERR_CORRUPT, "line %zu, column %zu: %s", line, column, reason);
}

static size_t skip_space(struct str text, size_t i)
{
	while (i < text.n && bytes_is_space(text.p[i]))
		i++;
	return i;
}

int doc_check(struct str text, struct err *err)
{
	struct json_scan scan;
	size_t end;

	switch (json_scan_value(text.p, text.n, &scan)) {
	case JSON_OK:
		end = skip_space(text, scan.end);
		return end == text.n ? 0 : damage(err, text, end, "expected the end");
	case JSON_END:
		return damage(err, text, text.n, "there is no JSON value");
	default:
		return damage(err, text, scan.error_at, scan.reason);
	}
}

/* Behind the closing quote of the string at i. */
static size_t string_end(struct str text, size_t i)
{
	i++;
	for (;;) {
		i += bytes_quote_or_backslash(text.p + i, text.n - i);
		if (text.p[i] == '"')
			return i + 1;
		i += 2; /* the backslash and what it escapes */
	}
}

static bool begins_with_mark(struct str text, size_t i)
{
	return text.n - i >= MARK_ESCAPE_LENGTH &&
	       memcmp(text.p + i, MARK_ESCAPE, MARK_ESCAPE_LENGTH) == 0;
}

/* The string at i; the place behind it. */
static size_t tame_string(struct str text, size_t i, struct buf *out)
{
	size_t end = string_end(text, i), done = i, next = skip_space(text, end), len;
	bool key = next < text.n && text.p[next] == ':';

	if (begins_with_mark(text, i + 1)) {
		buf_adds(out, "\"" MARK_ESCAPE);
		done = i + 1;
	}
	for (;;) {
		uint32_t cp;

		i += bytes_quote_or_backslash(text.p + i + 1, end - i - 1) + 1;
		if (text.p[i] == '"')
			break;
		len = json_escape(text.p + i, end - i, &cp);
		/* U+FFFD is a lone surrogate, or itself. */
		if (cp == 0xFFFD || (cp == 0 && key)) {
			buf_add(out, text.p + done, i - done);
			buf_adds(out, "\\ufffd");
			done = i + len;
		}
		i += len - 1;
	}
	buf_add(out, text.p + done, end - done);
	return end;
}

/* What jansson would write as it stands: an integer of 64 bits, and not -0. */
static bool keeps_its_text(struct str raw)
{
	int64_t value;

	for (size_t i = raw.p[0] == '-'; i < raw.n; i++)
		if (raw.p[i] < '0' || raw.p[i] > '9')
			return false;
	return json_int64(raw, &value) && (raw.p[0] != '-' || value != 0);
}

static size_t tame_number(struct str text, size_t i, struct buf *out)
{
	struct str raw = { text.p + i, 0 };

	while (i + raw.n < text.n && raw.p[raw.n] && strchr("+-.0123456789eE", raw.p[raw.n]))
		raw.n++;
	if (keeps_its_text(raw)) {
		buf_addstr(out, raw);
	} else {
		buf_adds(out, "\"" MARK_ESCAPE);
		buf_addstr(out, raw);
		buf_addc(out, '"');
	}
	return i + raw.n;
}

void doc_tame(struct str text, struct buf *out)
{
	size_t i = 0;

	buf_reserve(out, text.n);
	while (i < text.n) {
		char c = text.p[i];

		if (c == '"') {
			i = tame_string(text, i, out);
		} else if (c == '-' || (c >= '0' && c <= '9')) {
			i = tame_number(text, i, out);
		} else {
			buf_addc(out, c);
			i++;
		}
	}
}

void doc_keep_string(struct str s, struct buf *out)
{
	size_t i = 0;
	uint32_t cp;

	if (s.n && s.p[0] == DOC_MARK)
		buf_addc(out, DOC_MARK);
	while (i < s.n) {
		size_t run = utf8_valid_prefix(s.p + i, s.n - i);

		buf_add(out, s.p + i, run);
		i += run;
		if (i < s.n) {
			buf_adds(out, "\xEF\xBF\xBD");
			i += utf8_decode(s.p + i, s.n - i, &cp);
		}
	}
}

bool doc_take_string(struct str *kept)
{
	if (kept->n == 0 || kept->p[0] != DOC_MARK)
		return true;
	kept->p++;
	kept->n--;
	return kept->n > 0 && kept->p[0] == DOC_MARK;
}

/* ---- after jansson wrote ---- */

void doc_unmark(struct str dump, struct buf *out)
{
	size_t i = 0, done = 0;

	buf_reserve(out, dump.n);
	while (i < dump.n) {
		const char *quote = memchr(dump.p + i, '"', dump.n - i);
		size_t end;

		if (!quote)
			break;
		i = (size_t)(quote - dump.p);
		end = string_end(dump, i);
		if (begins_with_mark(dump, i + 1)) {
			size_t from = i + 1 + MARK_ESCAPE_LENGTH;
			bool is_string = begins_with_mark(dump, from);

			buf_add(out, dump.p + done, i + is_string - done);
			buf_add(out, dump.p + from, end - from - !is_string);
			done = end;
		}
		i = end;
	}
	buf_add(out, dump.p + done, dump.n - done);
}

/* ASCII by itself; in a dump the only control among it is the newline between members. */
static size_t ascii_run(const char *p, size_t n)
{
	size_t i = 0;

	while (n - i >= 8 && !(bytes_load(p + i) & BYTES_HIGHS) &&
		!bytes_zero(bytes_load(p + i) ^ BYTES_ONES * 0x7F))
		i += 8;
	while (i < n && (unsigned char)p[i] < 0x7F)
		i++;
	/* What stands before a mark is its base. */
	return i && i < n && (unsigned char)p[i] >= 0x80 ? i - 1 : i;
}

/* All of p[0..n) but printable ASCII, as escapes. */
static void escape_all(const char *p, size_t n, struct buf *out)
{
	size_t i = 0;

	while (i < n) {
		uint32_t cp;

		i += utf8_decode(p + i, n - i, &cp);
		if (cp < 0x7F)
			buf_addc(out, (char)cp);
		else if (cp < 0x10000)
			buf_printf(out, "\\u%04x", (unsigned)cp);
		else
			buf_printf(out, "\\u%04x\\u%04x",
				(unsigned)(0xD800 + ((cp - 0x10000) >> 10)),
				(unsigned)(0xDC00 + (cp & 0x3FF)));
	}
}

void doc_escape(struct str dump, struct buf *out)
{
	struct text_cluster c;
	size_t i = 0, run;

	buf_reserve(out, dump.n);
	while (i < dump.n) {
		run = ascii_run(dump.p + i, dump.n - i);
		buf_add(out, dump.p + i, run);
		i += run;
		if (i == dump.n)
			break;
		text_next(dump.p + i, dump.n - i, &c);
		if (c.kind == TEXT_CONTROL || (c.kind == TEXT_PLAIN && c.n < c.src_n))
			escape_all(dump.p + i, c.src_n, out);
		else
			buf_add(out, dump.p + i, c.src_n);
		i += c.src_n;
	}
	buf_add(out, NULL, 0);
}
