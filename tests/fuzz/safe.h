/*
 * safe.h - the promise of base/text.h, written a second time for the tests.
 */
#ifndef BOUGH_TESTS_SAFE_H
#define BOUGH_TESTS_SAFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"

static inline bool is_forbidden(uint32_t cp, bool one_line)
{
	if (cp == '\n' || cp == '\t')
		return one_line;
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0xad || cp == 0x61c || cp == 0x200b ||
		cp == 0x200e || cp == 0x200f || (cp >= 0x2028 && cp <= 0x202e) ||
		(cp >= 0x2066 && cp <= 0x2069) || cp == 0xfeff || (cp >= 0xe0000 && cp <= 0xe007f);
}

static inline void check_safe(const char *p, size_t n, bool one_line)
{
	for (size_t at = 0; at < n;) {
		uint32_t cp;

		at += utf8_decode(p + at, n - at, &cp);
		HOLDS(cp != UTF8_BAD);
		HOLDS(!is_forbidden(cp, one_line));
	}
}

#endif
