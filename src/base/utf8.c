/*
 * utf8.c - strict UTF-8, one code point at a time, with a fast way over ASCII.
 */
#include "config.h"

#include "base/utf8.h"

#include <string.h>

/* Length of the sequence that a lead byte promises, and the range of the byte behind it. */
static unsigned lead(unsigned char b, unsigned char *lo, unsigned char *hi)
{
	*lo = 0x80;
	*hi = 0xBF;
	if (b < 0xC2 || b > 0xF4)
		return 0;
	if (b < 0xE0)
		return 2;
	if (b < 0xF0) {
		if (b == 0xE0)
			*lo = 0xA0; /* overlong */
		else if (b == 0xED)
			*hi = 0x9F; /* surrogates */
		return 3;
	}
	if (b == 0xF0)
		*lo = 0x90; /* overlong */
	else if (b == 0xF4)
		*hi = 0x8F; /* over U+10FFFF */
	return 4;
}

size_t utf8_decode(const char *p, size_t n, uint32_t *cp)
{
	const unsigned char *s = (const unsigned char *)p;
	unsigned char lo, hi;
	unsigned len, i;
	uint32_t c;

	if (s[0] < 0x80) {
		*cp = s[0];
		return 1;
	}
	*cp = UTF8_BAD;
	len = lead(s[0], &lo, &hi);
	if (len == 0)
		return 1;
	c = s[0] & (0xFFu >> (len + 1));
	for (i = 1; i < len; i++) {
		if (i == n || s[i] < lo || s[i] > hi)
			return i;
		c = c << 6 | (s[i] & 0x3Fu);
		lo = 0x80;
		hi = 0xBF;
	}
	*cp = c;
	return len;
}

size_t utf8_encode(uint32_t cp, char out[4])
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xC0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3F));
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (char)(0xE0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 0x3F));
		out[2] = (char)(0x80 | (cp & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | cp >> 18);
	out[1] = (char)(0x80 | (cp >> 12 & 0x3F));
	out[2] = (char)(0x80 | (cp >> 6 & 0x3F));
	out[3] = (char)(0x80 | (cp & 0x3F));
	return 4;
}

size_t utf8_valid_prefix(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n) {
		uint64_t word;
		uint32_t cp;
		size_t len;

		if (n - i >= sizeof(word)) {
			memcpy(&word, p + i, sizeof(word));
			if (!(word & 0x8080808080808080u)) {
				i += sizeof(word);
				continue;
			}
		} else if (n >= sizeof(word)) {
			/* the last word, which has been seen in part */
			memcpy(&word, p + n - sizeof(word), sizeof(word));
			if (!(word & 0x8080808080808080u))
				return n;
		}
		len = utf8_decode(p + i, n - i, &cp);
		if (cp == UTF8_BAD)
			return i;
		i += len;
	}
	return n;
}

size_t utf8_cut(const char *p, size_t n)
{
	size_t back;

	for (back = 1; back <= 3 && back <= n; back++) {
		unsigned char lo, hi, b = (unsigned char)p[n - back];
		uint32_t cp;

		if (b < 0x80)
			return n;
		if (lead(b, &lo, &hi) == 0)
			continue;
		/* Promised more than there is, and what is there is right so far. */
		if (utf8_decode(p + n - back, back, &cp) == back && cp == UTF8_BAD)
			return n - back;
		return n;
	}
	return n;
}
