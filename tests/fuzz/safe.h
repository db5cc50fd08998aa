/*
 * safe.h - the promise of base/text.h, written a second time on purpose: the
 * tests hold the code to it.
 */
#ifndef BOUGH_TESTS_SAFE_H
#define BOUGH_TESTS_SAFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"

static inline bool is_in(uint32_t cp, uint32_t first, uint32_t last)
{
	return cp >= first && cp <= last;
}

static inline bool may_come_out(uint32_t cp)
{
	return cp != UTF8_BAD && cp >= 0x20 && !is_in(cp, 0x7F, 0x9F) && cp != 0xAD &&
	       cp != 0x61C && cp != 0x180E && cp != 0x200B && !is_in(cp, 0x200E, 0x200F) &&
	       !is_in(cp, 0x2028, 0x202E) && !is_in(cp, 0x2060, 0x206F) && cp != 0x3164 &&
	       cp != 0xFFA0 && !is_in(cp, 0x115F, 0x1160) && cp != 0xFEFF &&
	       !is_in(cp, 0xFFF9, 0xFFFB) && !is_in(cp, 0xFDD0, 0xFDEF) &&
	       (cp & 0xFFFE) != 0xFFFE && !is_in(cp, 0xE0000, 0xE007F);
}

/* Nothing in the text can steer a terminal. */
static inline void check_safe(const char *p, size_t n)
{
	for (size_t at = 0; at < n;) {
		uint32_t cp;

		at += utf8_decode(p + at, n - at, &cp);
		HOLDS(may_come_out(cp));
	}
}

#endif
