/*
 * write.c - compact JSON text. The caller keeps the commas and brackets right;
 * what a string needs is done here.
 */
#include "config.h"

#include "json/write.h"

#include "base/utf8.h"
#include "json/bytes.h"

/* The escape of an ASCII byte, "" for one that needs none. */
static const char *escape_of(unsigned char c, char unicode[8])
{
	static const char hex[] = "0123456789abcdef";

	switch (c) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\b':
		return "\\b";
	case '\t':
		return "\\t";
	case '\n':
		return "\\n";
	case '\f':
		return "\\f";
	case '\r':
		return "\\r";
	default:
		if (c >= 0x20)
			return "";
		memcpy(unicode, "\\u00", 4);
		unicode[4] = hex[c >> 4];
		unicode[5] = hex[c & 15];
		unicode[6] = '\0';
		return unicode;
	}
}

/* Length of what stands at p for itself: ASCII without escapes, and valid sequences. */
static size_t plain_run(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n) {
		unsigned char c = (unsigned char)p[i];
		uint32_t cp;
		size_t len;

		if (n - i >= 8 && !bytes_special(bytes_load(p + i))) {
			i += 8;
			continue;
		}
		if (c < 0x80) {
			if (c < 0x20 || c == '"' || c == '\\')
				return i;
			i++;
			continue;
		}
		len = utf8_decode(p + i, n - i, &cp);
		if (cp == UTF8_BAD)
			return i;
		i += len;
	}
	return n;
}

void json_put_inside(struct buf *out, struct str s)
{
	size_t i = 0;

	while (i < s.n) {
		size_t run = plain_run(s.p + i, s.n - i);
		char unicode[8];
		uint32_t cp;

		buf_add(out, s.p + i, run);
		i += run;
		if (i == s.n)
			break;
		if ((unsigned char)s.p[i] < 0x80) {
			buf_adds(out, escape_of((unsigned char)s.p[i], unicode));
			i++;
		} else {
			buf_adds(out, "\xEF\xBF\xBD");
			i += utf8_decode(s.p + i, s.n - i, &cp);
		}
	}
}

void json_put_string(struct buf *out, struct str s)
{
	buf_reserve(out, s.n + 2);
	buf_addc(out, '"');
	json_put_inside(out, s);
	buf_addc(out, '"');
}

void json_put_cstr(struct buf *out, const char *s)
{
	json_put_string(out, str_of(s));
}

void json_put_int(struct buf *out, int64_t v)
{
	buf_printf(out, "%lld", (long long)v);
}

void json_put_key(struct buf *out, const char *key)
{
	if (out->n && out->p[out->n - 1] != '{')
		buf_addc(out, ',');
	buf_addc(out, '"');
	buf_adds(out, key);
	buf_adds(out, "\":");
}
