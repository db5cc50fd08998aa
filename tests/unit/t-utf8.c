/* Strict UTF-8: every code point, every kind of bad sequence, cuts. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

static void test_round_trip(void **state)
{
	uint32_t cp, got;
	char bytes[4];

	for (cp = 0; cp <= 0x10FFFF; cp++) {
		size_t n, want = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;

		if (cp >= 0xD800 && cp <= 0xDFFF)
			continue;
		n = utf8_encode(cp, bytes);
		if (n != want || utf8_decode(bytes, n, &got) != n || got != cp)
			fail_msg("U+%04X", cp);
		/* Any cut of it is one bad run, and is where the text may be cut. */
		while (--n) {
			if (utf8_decode(bytes, n, &got) != n || got != UTF8_BAD)
				fail_msg("U+%04X cut to %zu", cp, n);
			if (utf8_cut(bytes, n) != 0)
				fail_msg("U+%04X may be cut at %zu", cp, n);
		}
	}
}

struct bad {
	const char *bytes;
	size_t runs[5]; /* lengths of the bad runs, 0 ends */
};

/* The runs are those of the Unicode standard, "U+FFFD substitution of maximal subparts". */
static const struct bad bads[] = {
	{ "\x80", { 1 } },
	{ "\xBF", { 1 } },
	{ "\xC0\x80", { 1, 1 } },
	{ "\xC1\xBF", { 1, 1 } },
	{ "\xC2", { 1 } },
	{ "\xE0\x80\x80", { 1, 1, 1 } },
	{ "\xE0\x9F\xBF", { 1, 1, 1 } },
	{ "\xE0\xA0", { 2 } },
	{ "\xE1\x80\xE2", { 2, 1 } },
	{ "\xED\xA0\x80", { 1, 1, 1 } },
	{ "\xED\xBF\xBF", { 1, 1, 1 } },
	{ "\xF0\x80\x80\x80", { 1, 1, 1, 1 } },
	{ "\xF0\x8F\xBF\xBF", { 1, 1, 1, 1 } },
	{ "\xF0\x90\x80", { 3 } },
	{ "\xF1\x80\xC2", { 2, 1 } },
	{ "\xF4\x90\x80\x80", { 1, 1, 1, 1 } },
	{ "\xF5\x80", { 1, 1 } },
	{ "\xFE\xFF", { 1, 1 } },
};

static void test_bad_runs(void **state)
{
	size_t i, r;

	for (i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		const char *p = bads[i].bytes, *end = p + strlen(p);
		uint32_t cp;

		assert_int_equal(utf8_valid_prefix(p, strlen(p)), 0);
		for (r = 0; p < end; r++) {
			size_t n = utf8_decode(p, (size_t)(end - p), &cp);

			assert_int_equal(cp, UTF8_BAD);
			assert_int_equal(n, bads[i].runs[r]);
			p += n;
		}
		assert_int_equal(bads[i].runs[r], 0);
	}
}

static void test_valid_prefix(void **state)
{
	char text[64];
	size_t at;

	assert_int_equal(utf8_valid_prefix("", 0), 0);
	assert_int_equal(utf8_valid_prefix("caf\xC3\xA9 \xF0\x9F\x98\x80", 10), 10);
	for (at = 0; at < sizeof(text); at++) {
		memset(text, 'a', sizeof(text));
		text[at] = '\xFF';
		assert_int_equal(utf8_valid_prefix(text, sizeof(text)), at);
	}
}

static void test_cut(void **state)
{
	assert_int_equal(utf8_cut("", 0), 0);
	assert_int_equal(utf8_cut("ab", 2), 2);
	assert_int_equal(utf8_cut("a\xC3\xA9", 3), 3);
	assert_int_equal(utf8_cut("a\xC3", 2), 1);
	assert_int_equal(utf8_cut("a\xE2\x82", 3), 1);
	assert_int_equal(utf8_cut("a\xF0\x9F\x98", 4), 1);
	/* What is bad anyway may be cut anywhere. */
	assert_int_equal(utf8_cut("a\x80\x80", 3), 3);
	assert_int_equal(utf8_cut("\x80\x80\x80\x80", 4), 4);
	assert_int_equal(utf8_cut("a\xE0\x80", 3), 3);
	assert_int_equal(utf8_cut("a\xFF", 2), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_bad_runs),
		cmocka_unit_test(test_valid_prefix),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
