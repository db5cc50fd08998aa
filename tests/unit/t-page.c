/* Pages: wrapping, indents, tabs, hostile bytes, what an entry says. */
#include "config.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "tests/lib/page-check.h"

static struct buf out;

static const char *dump(struct page *p)
{
	const char *fault = page_fault(p);

	assert_string_equal(fault ? fault : "", "");
	page_dump(p, &out);
	page_release(p);
	return out.p;
}

static const char *par(int width, const char *first, const char *rest, const char *s, size_t n)
{
	char *copy = exact_copy(s, n);
	struct page p;

	page_init(&p, width, true, false);
	page_begin_par(&p, first, rest, ROLE_NORMAL);
	page_text(&p, ROLE_NORMAL, copy, n);
	free(copy);
	page_end_par(&p);
	return dump(&p);
}

static const char *text(int width, const char *s)
{
	return par(width, "", "", s, strlen(s));
}

/* ---------------------------------------------------------------- wrapping */

static void test_words(void **state)
{
	assert_string_equal(text(11, "hello brave new world"), "hello brave\\\nnew world\n");
	assert_string_equal(text(10, "hello brave new world"), "hello\\\nbrave new\\\nworld\n");
	assert_string_equal(text(5, "hello"), "hello\n");
	assert_string_equal(text(5, "hello   "), "hello\n");
	assert_string_equal(text(5, "hello   x"), "hello\\\nx\n");
	assert_string_equal(text(80, "a  b"), "a  b\n");
	assert_string_equal(text(4, "abcdefghij"), "abcd\\\nefgh\\\nij\n");
	assert_string_equal(text(5, "a bcdefghij"), "a bcd\\\nefghi\\\nj\n");
	assert_string_equal(text(5, "ab cdefg"), "ab\\\ncdefg\n");
	assert_string_equal(text(1, "ab c"), "a\\\nb\\\nc\n");
	assert_string_equal(text(80, ""), "\n");
	assert_string_equal(text(0, "ab"), "a\\\nb\n");
}

static void test_newlines(void **state)
{
	assert_string_equal(text(80, "a\nb"), "a\nb\n");
	assert_string_equal(text(80, "a\n"), "a\n");
	assert_string_equal(text(80, "a\n\n"), "a\n\n");
	assert_string_equal(text(80, "\na"), "\na\n");
	assert_string_equal(text(80, "a\r\nb\r\n"), "a\nb\n");
	assert_string_equal(text(80, "a\rb\r"), "a{ct ^M}b{ct ^M}\n");
	assert_string_equal(text(5, "hello\nx"), "hello\nx\n");
	assert_string_equal(text(5, "hello \n\n x"), "hello\n\n x\n");
}

/* Text in pieces is the same as text at once: words, line ends, roles. */
static void test_pieces(void **state)
{
	struct page p;

	page_init(&p, 8, true, false);
	page_begin_par(&p, "", "", ROLE_NORMAL);
	page_puts(&p, ROLE_NORMAL, "ab cd");
	page_puts(&p, ROLE_STRONG, "efg");
	page_puts(&p, ROLE_NORMAL, "h i\r");
	page_puts(&p, ROLE_NORMAL, "\nj\r");
	page_puts(&p, ROLE_NORMAL, "k");
	page_end_par(&p);
	assert_string_equal(dump(&p), "ab\\\ncd{st efg}h i\nj{ct ^M}k\n");
}

static void test_indents(void **state)
{
	assert_string_equal(
		par(10, "* ", "  ", "one two three four", 18), "* one two\\\n  three\\\n  four\n");
	assert_string_equal(par(10, "", "    ", "abcdefghijkl", 12), "abcdefghij\\\n    kl\n");
	assert_string_equal(par(10, "", "    ", "a bcdefghi", 10), "a bcdefghi\n");
	assert_string_equal(
		par(10, "", "    ", "aa bcdefghij", 12), "aa\\\n    bcdefg\\\n    hij\n");
	/* The left end of an indent goes where it takes more than half. */
	assert_string_equal(par(6, "abc> ", "abc> ", "xyzuvw", 6), "c> xyz\\\nc> uvw\n");
	assert_string_equal(par(1, "* ", "  ", "ab", 2), "a\\\nb\n");
	assert_string_equal(par(20, "* ", "  ", "", 0), "* \n");
	/* What begins with spaces goes on below itself. */
	assert_string_equal(text(12, "    one two three"), "    one two\\\n    three\n");
	assert_string_equal(text(6, "     abc"), "     a\\\n   bc\n");
}

static void test_tabs(void **state)
{
	assert_string_equal(text(80, "\ta\tb"), "        a       b\n");
	assert_string_equal(text(80, "1234567\t8"), "1234567 8\n");
	assert_string_equal(text(80, "12345678\t9"), "12345678        9\n");
	assert_string_equal(text(80, "x\n\ty"), "x\n        y\n");
	assert_string_equal(par(80, "> ", "> ", "\ta", 2), ">         a\n");
	assert_string_equal(text(80, "漢\ta"), "漢      a\n");
}

static void test_wide(void **state)
{
	assert_string_equal(text(5, "漢字漢字"), "漢字\\\n漢字\n");
	assert_string_equal(text(1, "漢字"), "漢\\\n字\n");
	assert_string_equal(text(6, "ab漢字cd"), "ab漢字\\\ncd\n");
	/* A mark that closes does not begin a line. */
	assert_string_equal(text(4, "漢字。"), "漢\\\n字。\n");
	assert_string_equal(text(4, "漢字,a"), "漢\\\n字,a\n");
	assert_string_equal(text(4, "😀😀 a"), "😀😀\\\na\n");
	assert_string_equal(text(3, "e\xCC\x81xe\xCC\x81y"), "e\xCC\x81xe\xCC\x81\\\ny\n");
	/* A cluster that is wider than its room takes the whole line. */
	assert_string_equal(par(2, "> ", "> ", "漢a", 4), "漢\\\n a\n");
}

static void test_no_wrap(void **state)
{
	struct page p;

	page_init(&p, 4, false, false);
	page_line(&p, ROLE_NORMAL, "", "hello brave new\nworld", 21);
	assert_string_equal(dump(&p), "hello brave new\nworld\n");
}

static void test_lines(void **state)
{
	struct page p;

	page_init(&p, 4, true, true);
	page_blank(&p);
	page_line(&p, ROLE_DIM, "  ", "ab", 2);
	page_blank(&p);
	page_blank(&p);
	page_rule(&p);
	page_text(&p, ROLE_NORMAL, "x", 1);
	page_line(&p, ROLE_NORMAL, "", "y", 1);
	assert_string_equal(dump(&p), "{di   }{di ab}\n\n{ru ----}\nx\ny\n");
	page_init(&p, 3, true, false);
	page_rule(&p);
	page_clear(&p);
	page_rule(&p);
	assert_string_equal(dump(&p), "{ru ───}\n");
}

/* ---------------------------------------------------------------- hostile bytes */

static void test_hostile(void **state)
{
	assert_string_equal(text(80, "a\x1B[31mb"), "a{ct ^[}[31mb\n");
	assert_string_equal(text(80, "\x1B]0;t\a"), "{ct ^[}]0;t{ct ^G}\n");
	assert_string_equal(text(80, "a\xE2\x80\xAE"
				     "b"),
		"a{ct <202E>}b\n");
	assert_string_equal(text(80, "a\xFF"
				     "b\xC2"),
		"a{ct \xEF\xBF\xBD}b{ct \xEF\xBF\xBD}\n");
	assert_string_equal(par(80, "", "", "a\0b", 3), "a{ct ^@}b\n");
	assert_string_equal(text(3, "\xE2\x80\xAE"), "{ct <20}\\\n{ct 2E>}\n");
	assert_string_equal(text(80, "%s%n"), "%s%n\n");
}

/* Long and degenerate input: linear in time, and as long as it has to be. */
static void test_large(void **state)
{
	size_t n = 1 << 20;
	char *s = malloc(n);
	struct page p;

	memset(s, 'x', n);
	page_init(&p, 64, true, false);
	page_line(&p, ROLE_NORMAL, "", s, n);
	assert_int_equal(p.nlines, n / 64);
	page_clear(&p);
	memset(s, '\t', n);
	page_line(&p, ROLE_NORMAL, "", s, n);
	assert_int_equal(p.nlines, 1);
	page_clear(&p);
	memset(s, '\n', n);
	page_line(&p, ROLE_NORMAL, "", s, n);
	assert_int_equal(p.nlines, n);
	page_clear(&p);
	s[0] = 'e';
	for (size_t i = 1; i < 20001; i += 2)
		memcpy(s + i, "\xCC\x81", 2);
	page_line(&p, ROLE_NORMAL, "", s, 20001);
	assert_int_equal(p.nlines, 1);
	assert_true(p.text.n < 128);
	assert_null(page_fault(&p));
	page_release(&p);
	free(s);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static size_t random_text(uint64_t *seed, char *s, size_t size)
{
	static const char *const pieces[] = { "word", "a", " ", "  ", "\n", "\t", "\r\n", "漢",
		"字。", "😀", "e\xCC\x81", "\xCC\x81", "\xFF", "\x1B[0m", "\xE2\x80\xAE",
		"\xE2\x80\x8D", "👩‍🚀", "🇩🇪", "averyveryverylongword", "-", "\xC2\x9B", "각",
		"ก็", "\r", "\xF3\xA0\x80\xA0" };
	size_t n = 0;

	while (n + 32 < size && next_random(seed) % 150) {
		const char *piece =
			pieces[next_random(seed) % (sizeof(pieces) / sizeof(pieces[0]))];

		memcpy(s + n, piece, strlen(piece));
		n += strlen(piece);
	}
	return n;
}

/* Whatever comes in: lines fit, bytes are safe, and all that is visible is there, in order. */
static void test_random(void **state)
{
	struct buf want = { 0 }, got = { 0 };
	uint64_t seed = 77;
	char s[600];

	for (int round = 0; round < 4000; round++) {
		size_t n = random_text(&seed, s, sizeof(s)), kept = 0;
		int width = 1 + (int)(next_random(&seed) % 30);
		const char *fault;
		struct page p;

		page_init(&p, width, next_random(&seed) % 8, false);
		page_begin_par(&p, "", next_random(&seed) % 2 ? "    " : "", ROLE_NORMAL);
		p.hang = (int)(next_random(&seed) % 2) * 2;
		page_text(&p, ROLE_NORMAL, s, n);
		page_end_par(&p);
		fault = page_fault(&p);
		assert_string_equal(fault ? fault : "", "");
		page_visible(&p, &got);
		buf_clear(&want);
		text_safe(&want, s, n, 0);
		for (size_t i = 0; i < want.n; i++)
			if (!strchr(" \t\n", want.p[i]))
				want.p[kept++] = want.p[i];
		want.n = kept;
		buf_add(&want, NULL, 0);
		assert_string_equal(want.n ? want.p : "", got.p);
		page_release(&p);
	}
	buf_release(&want);
	buf_release(&got);
}

/* ---------------------------------------------------------------- entries */

#define STR(s)                   \
	{                        \
		s, sizeof(s) - 1 \
	}

static const char *content(int width, const struct part *v, size_t n)
{
	struct content c = { .n = n };
	struct page p;

	c.v = calloc(n + 1, sizeof(*v));
	for (size_t i = 0; i < n; i++) {
		c.v[i] = v[i];
		c.v[i].text.p = exact_copy(v[i].text.p, v[i].text.n);
	}
	page_init(&p, width, true, true);
	page_content(&p, &c);
	for (size_t i = 0; i < n; i++)
		free((char *)c.v[i].text.p);
	free(c.v);
	return dump(&p);
}

static void test_talk(void **state)
{
	static const struct part v[] = {
		{ .kind = PART_META, .name = STR("model"), .text = STR("x-1") },
		{ .kind = PART_REASONING, .text = STR("Hm.\nSo *be* it.\n") },
		{ .kind = PART_TEXT, .text = STR("It is **done**.") },
		{ .kind = PART_PLAIN, .text = STR("It is **done**.\n") },
		{ .kind = PART_NOTE, .text = STR("kept as a record") },
		{ .kind = PART_IMAGE, .name = STR("image/png"), .text = STR("12.3K") },
		{ .kind = PART_META,
			.name = STR("replay"),
			.text = STR("false, as it was written") },
	};

	assert_string_equal(content(24, v, 7),
		"{he thinking}\n{di Hm.}\n{di So *be* it.}\n"
		"\nIt is {st done}.\n\nIt is **done**.\n\n"
		"{ev kept as a record}\n\n{ev [image image/png 12.3K]}\n"
		"\n{ru ------------------------}\n"
		"{di model}   x-1\n{di replay}  false, as it was\\\n        written\n");
}

static void test_tool(void **state)
{
	static const struct part v[] = {
		{ .kind = PART_CALL,
			.name = STR("run"),
			.ref = STR("t_1"),
			.text = STR("{\"a\":1}") },
		{ .kind = PART_RESULT,
			.ref = STR("t_1"),
			.failed = true,
			.text = STR("\x1B[1;31mError\x1B[0m: \x1B[2Jno\n\n") },
		{ .kind = PART_CALL, .name = STR("say"), .text = STR("not JSON") },
		{ .kind = PART_RESULT, .text = STR("") },
		{ .kind = PART_RESULT, .name = STR("diff"), .text = STR("@@ -1 +1 @@\n-a\n+b\n") },
		{ .kind = PART_JSON, .text = STR("[]") },
	};

	assert_string_equal(content(60, v, 6),
		"{to tool} {st run}{di   t_1}\n{ru   }{co {}\n"
		"{ru   }{co   }{jk \"a\"}{co : }{jn 1}\n{ru   }{co }}\n\n"
		"{da failed}{di   t_1}\nError: {ct ^[}[2Jno\n{di (2 colour codes hidden)}\n\n"
		"{to tool} {st say}\n  not JSON\n\n{to result}\n{di (empty)}\n\n"
		"{to result} {st diff}\n{@h @@ -1 +1 @@}\n{-d -a}\n{+a +b}\n\n{co []}\n");
}

static void test_more(void **state)
{
	static const struct part v[] = {
		{ .kind = PART_RESULT, .text = STR("abc\n"), .more = true, .whole = 12349 },
		{ .kind = PART_TEXT, .text = STR("abc"), .more = true },
	};
	struct content c = { .v = (struct part *)v, .n = 2 };
	struct page p;

	page_init(&p, 60, true, true);
	page_content(&p, &c);
	assert_true(p.more);
	assert_int_equal(p.lines[0].part, 0);
	assert_int_equal(p.lines[4].part, 1);
	assert_string_equal(dump(&p),
		"{to result}\nabc\n{di ... 12,345 more bytes: scroll on to load them}\n\nabc\n"
		"{di ... more: scroll on to load it}\n");
}

static void test_empty(void **state)
{
	static const struct part v[] = { { .kind = PART_TEXT, .text = STR(" \n") },
		{ .kind = PART_REASONING } };
	static const struct part meta[] = {
		{ .kind = PART_META, .name = STR("a"), .text = STR("b") }
	};

	assert_string_equal(content(60, NULL, 0), "{di (empty)}\n");
	assert_string_equal(content(60, v, 2), "{di (empty)}\n\n{he thinking}\n{di (empty)}\n");
	assert_string_equal(content(60, meta, 1), "{di a}  b\n");
	assert_string_equal(content(1, meta, 1), "{di a}\\\nb\n");
}

static void test_sgr(void **state)
{
	static const struct part v[] = {
		{ .kind = PART_PLAIN, .text = STR("\x1B[38;2;1:2;3mred\x1B[m \x1B[31 \x1B[3") },
		{ .kind = PART_PLAIN, .text = STR("\x1B[0m") },
		{ .kind = PART_TEXT, .text = STR("\x1B[0mx") },
	};

	assert_string_equal(content(60, v, 3),
		"red {ct ^[}[31 {ct ^[}[3\n{di (2 colour codes hidden)}\n"
		"\n{di (1 colour code hidden)}\n\n"
		"{ct ^[}[0mx\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_newlines),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_indents),
		cmocka_unit_test(test_tabs),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_no_wrap),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_talk),
		cmocka_unit_test(test_tool),
		cmocka_unit_test(test_more),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_sgr),
	};
	int failed;

	setlocale(LC_ALL, "");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	buf_release(&out);
	return failed;
}
