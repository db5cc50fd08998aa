/*
 * scan-safe.c - does standard input hold a byte that could steer a terminal?
 *
 * Allowed are newline, tab, and valid UTF-8 without control, bidi, invisible
 * and tag characters. It decodes by itself, so that a mistake in src/base can
 * not hide behind itself. Exit status 1 with the place of the first bad one.
 */
#include "config.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static bool is_bad(uint32_t cp)
{
	return (cp < 0x20 && cp != '\n' && cp != '\t') || (cp >= 0x7F && cp <= 0x9F) || cp == 0xAD ||
		cp == 0x061C || cp == 0x180E || cp == 0x200B || cp == 0x200E || cp == 0x200F ||
		(cp >= 0x2028 && cp <= 0x202E) || (cp >= 0x2060 && cp <= 0x206F) || cp == 0xFEFF ||
		(cp >= 0xFFF9 && cp <= 0xFFFB) || (cp >= 0xE0000 && cp <= 0xE007F);
}

static int fail(const char *what, unsigned long at, uint32_t cp)
{
	printf("%s at byte %lu: U+%04X\n", what, at, (unsigned)cp);
	return 1;
}

int main(void)
{
	unsigned long at = 0, start = 0;
	uint32_t cp = 0, least = 0;
	int c, more = 0;

	for (; (c = getchar()) != EOF; at++) {
		if (more > 0) {
			if ((c & 0xC0) != 0x80)
				return fail("a cut sequence", start, cp);
			cp = cp << 6 | (c & 0x3F);
			if (--more > 0)
				continue;
			if (cp < least || (cp >= 0xD800 && cp <= 0xDFFF) || cp > 0x10FFFF)
				return fail("not UTF-8", start, cp);
		} else {
			start = at;
			cp = (uint32_t)c;
			more = c < 0x80 ? 0 : c >= 0xC2 && c < 0xE0 ? 1 : (c & 0xF0) == 0xE0 ? 2
				: c >= 0xF0 && c < 0xF5 ? 3 : -1;
			if (more < 0)
				return fail("not UTF-8", start, cp);
			if (more > 0) {
				least = more == 1 ? 0x80 : more == 2 ? 0x800 : 0x10000;
				cp = (uint32_t)c & (0x3F >> more);
				continue;
			}
		}
		if (is_bad(cp))
			return fail("a character that steers", start, cp);
	}
	return more > 0 ? fail("a cut sequence", start, cp) : 0;
}
