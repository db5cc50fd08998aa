/* Hostile text: what it becomes, what may never come out, and that widths and cuts agree. */
#include "config.h"

#include <limits.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>
#include <utf8proc.h>

#include "base/text.h"
#include "base/utf8.h"

static struct buf out;

static const char *safe(const char *p, size_t n, unsigned flags)
{
	buf_clear(&out);
	text_safe(&out, p, n, flags);
	return out.p;
}

static const char *safes(const char *s)
{
	return safe(s, strlen(s), 0);
}

static const char *line(const char *s)
{
	return safe(s, strlen(s), TEXT_ONE_LINE);
}

static void test_plain(void **state)
{
	assert_string_equal(safes(""), "");
	assert_string_equal(safes("plain text ~!"), "plain text ~!");
	assert_string_equal(safes("caf\xC3\xA9"), "caf\xC3\xA9");
	assert_string_equal(safes("cafe\xCC\x81"), "cafe\xCC\x81");
	assert_string_equal(safes("\xE6\xBC\xA2\xE5\xAD\x97"), "\xE6\xBC\xA2\xE5\xAD\x97");
	assert_string_equal(safes("a\tb\nc"), "a\tb\nc");
	assert_string_equal(safes("a\r\nb"), "a\nb");
}

static void test_controls(void **state)
{
	assert_string_equal(safes("\x1B[31m"), "^[[31m");
	assert_string_equal(safes("a\rb"), "a^Mb");
	assert_string_equal(safes("a\r\r\nb"), "a^M\nb");
	assert_string_equal(safes("\a\b\v\f\x7F"), "^G^H^K^L^?");
	assert_string_equal(safe("a\0b", 3, 0), "a^@b");
	assert_string_equal(safes("\xC2\x9B"), "<9B>");
	assert_string_equal(safes("\xC2\x80"), "<80>");
	assert_string_equal(safes("\xE2\x80\xA8\xE2\x80\xA9"), "<2028><2029>");
	assert_string_equal(safes("\x9B"), "\xEF\xBF\xBD");
	assert_string_equal(safes("a\xE2\x82z\xFF"), "a\xEF\xBF\xBDz\xEF\xBF\xBD");
}

static void test_invisible(void **state)
{
	static const uint32_t shown[] = { 0xAD, 0x61C, 0x115F, 0x1160, 0x17B4, 0x180E, 0x200B,
		0x200E, 0x200F, 0x202A, 0x202E, 0x2060, 0x2064, 0x2066, 0x2069, 0x206F, 0x3164,
		0xFDD0, 0xFDEF, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFB, 0xFFFE, 0xFFFF, 0x1D173, 0x1FFFE,
		0xE0001, 0xE0020, 0xE007F, 0x10FFFF };
	size_t i;

	for (i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		char in[16] = "a", want[32];
		size_t n = 1 + utf8_encode(shown[i], in + 1);

		in[n++] = 'b';
		snprintf(want, sizeof(want), "a<%02X>b", shown[i]);
		assert_string_equal(safe(in, n, 0), want);
		/* A mark behind it has no base. */
		n--;
		memcpy(in + n, "\xCC\x81", 2);
		snprintf(want, sizeof(want), "a<%02X><301>", shown[i]);
		assert_string_equal(safe(in, n + 2, 0), want);
	}
}

/* Joiners and selectors stay where they join something visible, and only there. */
static void test_joiners(void **state)
{
	const char *coder = "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB";
	const char *heart = "\xE2\x9D\xA4\xEF\xB8\x8F";
	const char *han = "\xE8\xBE\xBB\xF3\xA0\x84\x80"; /* with an ideographic selector */

	assert_string_equal(safes(coder), coder);
	assert_string_equal(safes(heart), heart);
	assert_string_equal(safes(han), han);
	assert_string_equal(safes("\xE2\x80\x8D"), "<200D>");
	assert_string_equal(safes("\n\xE2\x80\x8D"), "\n<200D>");
	assert_string_equal(safes(" \xE2\x80\x8D"), " <200D>");
	assert_string_equal(safes("\xEF\xB8\x8F"), "<FE0F>");
	assert_string_equal(safes(" \xEF\xB8\x8F"), " <FE0F>");
	assert_string_equal(safes("\xF3\xA0\x84\x80"), "<E0100>");
	assert_string_equal(safes("\x1B\xCC\x81"), "^[<301>");
	assert_string_equal(safes("\xE2\x80\x8C"), "<200C>");
}

static void test_mark_flood(void **state)
{
	struct buf in = { 0 };
	struct text_cluster c;
	int i;

	buf_adds(&in, "e");
	for (i = 0; i < 10000; i++)
		buf_adds(&in, "\xCC\x81");
	text_next(in.p, in.n, &c);
	assert_int_equal(c.src_n, in.n);
	assert_int_equal(c.width, 1);
	assert_int_equal(c.n, 1 + 4 * 2);
	assert_memory_equal(c.bytes, in.p, c.n);
	buf_addc(&in, 'x');
	assert_string_equal(safe(in.p, in.n, 0), "e\xCC\x81\xCC\x81\xCC\x81\xCC\x81x");
	buf_release(&in);
}

/* A cluster without end is shown whole, in pieces that fit. */
static void test_long_cluster(void **state)
{
	struct buf in = { 0 };
	struct text_cluster c;
	int i;

	for (i = 0; i < 500; i++)
		buf_adds(&in, "\xE1\x84\x80"); /* Hangul leading consonants join without limit */
	text_next(in.p, in.n, &c);
	assert_int_equal(c.n, 48);
	assert_int_equal(c.src_n, 48);
	safe(in.p, in.n, 0);
	assert_int_equal(out.n, in.n);
	assert_memory_equal(out.p, in.p, in.n);
	buf_release(&in);
}

static void test_one_line(void **state)
{
	assert_string_equal(line("a\n\n\t b"), "a b");
	assert_string_equal(line("\ta\r\n"), " a ");
	assert_string_equal(line("a  b"), "a b");
	assert_string_equal(line("a\r"), "a^M");
	assert_string_equal(line("a \xCC\x81"), "a \xCC\x81");
	assert_string_equal(line("a  \xCC\x81"), "a  \xCC\x81");
}

static void test_clusters(void **state)
{
	struct text_cluster c;

	text_next("ab", 2, &c);
	assert_int_equal(c.kind, TEXT_PLAIN);
	assert_int_equal(c.src_n, 1);
	text_next("\r\nx", 3, &c);
	assert_int_equal(c.kind, TEXT_NEWLINE);
	assert_int_equal(c.src_n, 2);
	assert_int_equal(c.width, 0);
	text_next("\t\t", 2, &c);
	assert_int_equal(c.kind, TEXT_TAB);
	assert_int_equal(c.src_n, 1);
	text_next("\x1B[", 2, &c);
	assert_int_equal(c.kind, TEXT_CONTROL);
	assert_int_equal(c.width, 2);
	text_next("\xFFq", 2, &c);
	assert_int_equal(c.kind, TEXT_CONTROL);
	assert_int_equal(c.src_n, 1);
	assert_int_equal(c.width, 1);
	text_next("\xE6\xBC\xA2z", 4, &c);
	assert_int_equal(c.kind, TEXT_PLAIN);
	assert_int_equal(c.src_n, 3);
	assert_int_equal(c.width, 2);
}

static void test_width(void **state)
{
	assert_int_equal(text_width("", 0), 0);
	assert_int_equal(text_width("abc", 3), 3);
	assert_int_equal(text_width("a\n b", 4), 3);
	assert_int_equal(text_width("\xE6\xBC\xA2x", 4), 3);
	assert_int_equal(text_width("e\xCC\x81", 3), 1);
	assert_int_equal(text_width("\x1B", 1), 2);
	assert_int_equal(text_width("\xE2\x80\xAE", 3), 6);
	/* ncurses advances by code points: two columns each. */
	assert_int_equal(text_width("\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB", 11), 4);
}

static void check_fit(const char *s, int cols, size_t want, int want_used, bool want_cut)
{
	bool cut;
	int used;

	assert_int_equal(text_fit(s, strlen(s), cols, &used, &cut), want);
	assert_int_equal(used, want_used);
	assert_int_equal(cut, want_cut);
}

static void test_fit(void **state)
{
	check_fit("", 5, 0, 0, false);
	check_fit("abc", 0, 0, 0, true);
	check_fit("abc", -1, 0, 0, true);
	check_fit("abc", 2, 2, 2, true);
	check_fit("abc", 3, 3, 3, false);
	check_fit("abc\n", 9, 3, 3, false);
	check_fit("abc\r\n", 9, 3, 3, false);
	check_fit("abc\nd", 9, 3, 3, true);
	check_fit("abc\n\n", 9, 3, 3, true);
	check_fit("a  \nb", 9, 3, 2, true);
	check_fit("a \t b", 9, 5, 3, false);
	check_fit("a \t b", 2, 4, 2, true);
	check_fit("a   ", 1, 1, 1, true);
	check_fit("\xE6\xBC\xA2\xE5\xAD\x97", 3, 3, 2, true);
	check_fit("\xE6\xBC\xA2", 1, 0, 0, true);
	check_fit("e\xCC\x81x", 1, 3, 1, true);
	check_fit("\x1B[m", 1, 0, 0, true);
	check_fit("\x1B[m", 3, 2, 3, true);
	text_fit("abc", 3, 2, NULL, NULL);
}

/* What fits decides the cost: far behind it there may be anything, even nothing readable. */
static void test_fit_looks_at_what_fits(void **state)
{
	char *huge = malloc(64 << 20);
	uint32_t i;
	bool cut;
	int used;

	assert_non_null(huge);
	memset(huge, 'x', 64 << 20);
	/* A million calls over the whole would take hours. */
	for (i = 0; i < 1000000; i++)
		assert_int_equal(text_fit(huge, 64 << 20, 3, &used, &cut), 3);
	free(huge);
}

static void test_array(void **state)
{
	char a[8];

	assert_int_equal(text_safe_array(a, sizeof(a), "", 0), 0);
	assert_string_equal(a, "");
	assert_int_equal(text_safe_array(a, sizeof(a), "abcdefghij", 10), 7);
	assert_string_equal(a, "abcdefg");
	assert_int_equal(text_safe_array(a, sizeof(a), "abc\x1B\n\xE6\xBC\xA2", 8), 6);
	assert_string_equal(a, "abc^[ ");
	assert_int_equal(text_safe_array(a, sizeof(a), "abcdee\xCC\x81", 8), 5);
	assert_string_equal(a, "abcde");
	assert_int_equal(text_safe_array(a, 1, "abc", 3), 0);
	assert_string_equal(a, "");
}

/* Every code point by itself: safe, of some width, and named when it is a format character. */
static void test_every_code_point(void **state)
{
	uint32_t cp;

	for (cp = 0; cp <= 0x10FFFF; cp++) {
		utf8proc_category_t cat = utf8proc_category((utf8proc_int32_t)cp);
		struct text_cluster c;
		char in[4];
		size_t n;
		bool named;

		if ((cp >= 0xD800 && cp <= 0xDFFF) || cp == '\t' || cp == '\n')
			continue;
		n = utf8_encode(cp, in);
		text_next(in, n, &c);
		named = c.kind == TEXT_CONTROL;
		if (c.src_n != n || c.width <= 0)
			fail_msg("U+%04X takes %zu bytes, %d columns", cp, c.src_n, c.width);
		if (!named && (c.n != n || memcmp(c.bytes, in, n) != 0))
			fail_msg("U+%04X is changed", cp);
		if (!named && wcwidth((wchar_t)cp) != c.width)
			fail_msg("U+%04X: %d columns", cp, c.width);
		if (!named && (cat == UTF8PROC_CATEGORY_CC || cat == UTF8PROC_CATEGORY_ZL ||
				      cat == UTF8PROC_CATEGORY_ZP || cat == UTF8PROC_CATEGORY_CF)) {
			/* The format characters that have a shape of their own. */
			bool visible = (cp >= 0x600 && cp <= 0x605) || cp == 0x6DD || cp == 0x70F ||
				       cp == 0x890 || cp == 0x891 || cp == 0x8E2 || cp == 0x110BD ||
				       cp == 0x110CD;

			if (!visible)
				fail_msg("U+%04X passes", cp);
		}
	}
}

/* ---- properties, over random and mutated text ---- */

static uint64_t seed;

static uint32_t rnd(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) % below);
}

static const char *const pieces[] = { "plain words ", "caf\xC3\xA9", "e\xCC\x81\xCC\x82",
	"\xE6\xBC\xA2\xE5\xAD\x97", "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",
	"\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA", "\xE2\x9D\xA4\xEF\xB8\x8F", "\x1B[2J", "\r\n", "\t",
	"  ", "\n", "\xE2\x80\xAE", "\xE2\x80\x8B", "\xEF\xBB\xBF", "\xCC\x81\xCC\x81\xCC\x81",
	"\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8", "\xE0\xA4\x95\xE0\xA5\x8D\xE0\xA4\xB7",
	"\xD8\x80\xD9\xA1", "\xF3\xA0\x81\xA7", "\xED\xA0\x80", "\xC2\x9B", "\xE2\x80\x8D",
	"\xF0\x9F\x8F\xBD", "\xE0\xB4\x8E", "\xE1\x85\x9F" };

static void generate(struct buf *in)
{
	uint32_t parts = 1 + rnd(12), i, cp;
	char bytes[4];

	buf_clear(in);
	while (parts--) {
		switch (rnd(4)) {
		case 0:
			buf_addc(in, (char)rnd(256));
			break;
		case 1:
			cp = rnd(rnd(2) ? 0x3000 : 0x110000);
			if (cp < 0xD800 || cp > 0xDFFF)
				buf_add(in, bytes, utf8_encode(cp, bytes));
			break;
		default:
			buf_adds(in, pieces[rnd(sizeof(pieces) / sizeof(pieces[0]))]);
			break;
		}
	}
	for (i = rnd(3); i && in->n; i--)
		in->p[rnd((uint32_t)in->n)] ^= (char)(1 << rnd(8));
}

/* Written apart from the table of text.c, from the header's list. */
static bool may_come_out(uint32_t cp)
{
	if (cp == UTF8_BAD || cp < 0x20 || (cp >= 0x7F && cp <= 0x9F))
		return false;
	if (cp == 0x2028 || cp == 0x2029 || cp == 0x61C || cp == 0x200E || cp == 0x200F)
		return false;
	if ((cp >= 0x202A && cp <= 0x202E) || (cp >= 0x2060 && cp <= 0x206F))
		return false;
	if (cp == 0xFEFF || cp == 0xAD || cp == 0x200B || cp == 0x180E)
		return false;
	if (cp == 0x115F || cp == 0x1160 || cp == 0x3164 || cp == 0xFFA0)
		return false;
	if ((cp >= 0xFFF9 && cp <= 0xFFFB) || (cp >= 0xE0000 && cp <= 0xE007F))
		return false;
	return (cp & 0xFFFE) != 0xFFFE && !(cp >= 0xFDD0 && cp <= 0xFDEF);
}

/* Nothing forbidden in p[0..n), and the sum of what ncurses would advance. */
static int check_clean(const char *p, size_t n, bool one_line)
{
	int width = 0, marks = 0;
	size_t i = 0;

	while (i < n) {
		uint32_t cp;
		int w;

		i += utf8_decode(p + i, n - i, &cp);
		if (!one_line && (cp == '\n' || cp == '\t')) {
			marks = MB_LEN_MAX; /* no base */
			continue;
		}
		w = may_come_out(cp) ? wcwidth((wchar_t)cp) : -1;
		if (w < 0)
			fail_msg("U+%04X came out", cp);
		marks = w ? 0 : marks + 1;
		if (marks > 4)
			fail_msg("mark %d on one base, or none", marks);
		width += w;
	}
	return width;
}

static void check_cut(const char *p, size_t n, int width)
{
	int cols = (int)rnd((uint32_t)width + 2), used;
	size_t fits, line_n = 0, i;
	struct text_cluster c;
	bool cut;

	fits = text_fit(p, n, cols, &used, &cut);
	assert_true(used >= 0 && used <= cols);
	assert_int_equal(text_width(p, fits), used);
	if (!cut && fits == n)
		assert_int_equal(used, width);
	/* The cut is at a boundary of the walk, and the walk reaches it before any newline. */
	for (i = 0; i < fits; i += c.src_n) {
		text_next(p + i, n - i, &c);
		assert_int_not_equal(c.kind, TEXT_NEWLINE);
	}
	assert_int_equal(i, fits);
	while (line_n < n) {
		text_next(p + line_n, n - line_n, &c);
		if (c.kind == TEXT_NEWLINE)
			break;
		line_n += c.src_n;
	}
	assert_int_equal(text_fit(p, n, INT_MAX, &used, &cut), line_n);
}

static void check_text(const struct buf *in)
{
	struct buf again = { 0 };
	int width;

	safe(in->p, in->n, 0);
	check_clean(out.p, out.n, false);
	text_safe(&again, out.p, out.n, 0);
	assert_int_equal(again.n, out.n);
	assert_memory_equal(again.p, out.p, out.n);

	safe(in->p, in->n, TEXT_ONE_LINE);
	width = check_clean(out.p, out.n, true);
	assert_int_equal(text_width(in->p, in->n), width);
	buf_clear(&again);
	text_safe(&again, out.p, out.n, TEXT_ONE_LINE);
	assert_string_equal(again.p, out.p);
	check_cut(in->p, in->n, width);
	buf_release(&again);
}

static uint64_t round_seed;

static int tell_seed(void **state)
{
	if (round_seed)
		print_message("repeat with SEED=%llu\n", (unsigned long long)round_seed);
	return 0;
}

static void test_properties(void **state)
{
	const char *given = getenv("SEED");
	struct buf in = { 0 };
	int round;

	for (round = 0; round < 100000; round++) {
		round_seed = given ? strtoull(given, NULL, 10) : 1000 + (uint64_t)round;
		seed = round_seed;
		rnd(2);
		generate(&in);
		if (in.n)
			check_text(&in);
	}
	round_seed = 0;
	buf_release(&in);
}

/* Pipes and tests run under "C" too: the widths come from utf8proc then. */
static void test_c_locale(void **state)
{
	setlocale(LC_ALL, "C");
	assert_int_equal(text_width("caf\xC3\xA9", 5), 4);
	assert_int_equal(text_width("\xE6\xBC\xA2", 3), 2);
	assert_int_equal(text_width("e\xCC\x81", 3), 1);
	assert_string_equal(safes("caf\xC3\xA9\xE2\x80\xAE"), "caf\xC3\xA9<202E>");
	assert_string_equal(safes("\xCC\x81"), "<301>");
	assert_string_equal(safes("\xCD\xB8"), "<378>"); /* unassigned */
	setlocale(LC_ALL, "C.UTF-8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_controls),
		cmocka_unit_test(test_invisible),
		cmocka_unit_test(test_joiners),
		cmocka_unit_test(test_mark_flood),
		cmocka_unit_test(test_long_cluster),
		cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_clusters),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_fit_looks_at_what_fits),
		cmocka_unit_test(test_array),
		cmocka_unit_test(test_every_code_point),
		cmocka_unit_test_teardown(test_properties, tell_seed),
		cmocka_unit_test(test_c_locale),
	};
	int failed;

	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	buf_release(&out);
	return failed;
}
