/* Markdown pages: dumps by construct and width, what must not vanish, what must not hurt. */
#include "config.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/page-check.h"

static struct buf out;

static const char *draw(int width, bool wrap, bool ascii, const char *s, size_t n)
{
	char *copy = exact_copy(s, n);
	const char *fault;
	struct page p;

	page_init(&p, width, wrap, ascii);
	page_markdown(&p, copy, n);
	free(copy);
	fault = page_fault(&p);
	assert_string_equal(fault ? fault : "", "");
	page_dump(&p, &out);
	page_release(&p);
	return out.p;
}

static const char *md(const char *s)
{
	return draw(40, true, false, s, strlen(s));
}

static const char *narrow(int width, const char *s)
{
	return draw(width, true, true, s, strlen(s));
}

static void test_headings(void **state)
{
	assert_string_equal(md("# One\ntext\n\nTwo\n---\n### Three *x*\n###### Six\n"),
		"{he One}\n{ru ━━━}\n\ntext\n\n{he Two}\n{ru ───}\n\n{di ### }{he Three }{em x}\n\n"
		"{di ###### }{he Six}\n");
	assert_string_equal(narrow(4, "# One **two**"), "{he One}\\\n{he two}\n{ru ===}\n");
	assert_string_equal(md("#\n"), "\n");
}

static void test_inlines(void **state)
{
	assert_string_equal(
		md("*a* __b__ ~~c~~ `d  e` ***f***"), "{em a} {st b} {sk c} {co d  e} {st f}\n");
	assert_string_equal(md("a <b>c</b> &amp; \\*d"), "a {di <b>}c{di </b>} & *d\n");
	assert_string_equal(md("line\nline  \nline"), "line\nline\nline\n");
}

static void test_links(void **state)
{
	assert_string_equal(md("[a](http://b.c \"t\") [](d) [e]()"),
		"{li a}{di  (http://b.c \"t\")} {di (d)} {li e}{di  ()}\n");
	assert_string_equal(md("<http://b.c> <x@b.c> [http://b.c](http://b.c)"),
		"{li http://b.c} {li x@b.c} {li http://b.c}\n");
	assert_string_equal(md("![alt *x*](i.png)"), "{di [image: }alt {em x}{di ] (i.png)}\n");
	assert_string_equal(md("(see https://a.b/c_(d).) www.x.y, http:// xhttp://a"),
		"(see {li https://a.b/c_(d)}.) {li www.x.y},\\\nhttp:// xhttp://a\n");
}

static void test_lists(void **state)
{
	assert_string_equal(
		md("- a\n  - b\n    - c\n- d\n"), "{ru • }a\n{ru   ◦ }b\n{ru     ▪ }c\n{ru • }d\n");
	assert_string_equal(
		md("9. a\n10. b\n\n    c\n"), "{ru  9. }a\n\n{ru 10. }b\n\n{ru     }c\n");
	/* Numbers as they were written, not as they would be counted. */
	assert_string_equal(md("1) a\n7) b\n1) c\n"), "{ru 1) }a\n{ru 7) }b\n{ru 1) }c\n");
	assert_string_equal(md("- [x] a\n- [ ] b\n"), "{ru [x] }a\n{ru [ ] }b\n");
	assert_string_equal(md("-\n- a\n- - b\n"), "{ru • }\n{ru • }a\n{ru • ◦ }b\n");
	assert_string_equal(md("- ```\n  x\n  ```\n"), "{ru • ▏ }{co x}\n");
	assert_string_equal(narrow(12, "1. one two three\n"), "{ru 1. }one two\\\n{ru    }three\n");
	assert_string_equal(
		narrow(40, "* a\n  * b\n    * c\n"), "{ru * }a\n{ru   - }b\n{ru     + }c\n");
}

static void test_quotes(void **state)
{
	assert_string_equal(md("> a\n>\n> b\n> > c\n\nd"),
		"{ru ▌ }{qu a}\n{ru ▌}\n{ru ▌ }{qu b}\n{ru ▌}\n{ru ▌ ▌ }{qu c}\n\nd\n");
	assert_string_equal(narrow(8, "> one two"), "{ru > }{qu one}\\\n{ru > }{qu two}\n");
	assert_string_equal(md("a\n\n>\n"), "a\n\n{ru ▌ }\n");
	assert_string_equal(md("> - a\n> - b"), "{ru ▌ • }{qu a}\n{ru ▌ • }{qu b}\n");
}

static void test_code(void **state)
{
	assert_string_equal(md("a\n```c\nint x;\n\n\ty();\n```\nb"),
		"a\n\n{di c}\n{ru ▏ }{kw int}{co  x;}\n{ru ▏ }\n{ru ▏ }{co         y();}\n\nb\n");
	assert_string_equal(md("```{.python title=\"a\"}\nNone\n```"),
		"{di {.python title=\"a\"}}\n{ru ▏ }{kw None}\n");
	assert_string_equal(md("    int x;"), "{ru ▏ }{co int x;}\n");
	assert_string_equal(md("```\n```"), "{ru ▏ }\n");
	assert_string_equal(md("```diff\n-a\n+b\n"), "{di diff}\n{ru ▏ }{-d -a}\n{ru ▏ }{+a +b}\n");
	assert_string_equal(md("<div>\n*a*\n</div>"), "{kw <div>}\n*a*\n{kw </div>}\n");
}

static void test_rule(void **state)
{
	assert_string_equal(narrow(5, "a\n\n***\n\n> ---"), "a\n\n{ru -----}\n\n{ru > }{ru ---}\n");
}

/* ---------------------------------------------------------------- tables */

static const char table[] = "| name | size | what it *is* |\n|:-----|-----:|:---:|\n"
			    "| a | 12 | nothing |\n| `long one` | 1204 | the cap is reached |\n";

static void test_table_wide(void **state)
{
	assert_string_equal(draw(80, true, false, table, sizeof(table) - 1),
		"{st name}    {ru  │ }{st size}{ru  │ }    {st what it }{em is}\n"
		"{ru ─────────┼──────┼───────────────────}\n"
		"a       {ru  │ }  12{ru  │ }     nothing\n"
		"{co long one}{ru  │ }1204{ru  │ }the cap is reached\n");
}

static void test_table_narrow(void **state)
{
	assert_string_equal(narrow(30, table),
		"{st name}    {ru  | }{st size}{ru  | } {st what it }{em is}\n"
		"{ru ---------+------+-------------}\n"
		"a       {ru  | }  12{ru  | }  nothing\n"
		"{ru ---------+------+-------------}\n"
		"{co long one}{ru  | }1204{ru  | } the cap is\n"
		"        {ru  | }    {ru  | }  reached\n");
}

static void test_table_stacked(void **state)
{
	assert_string_equal(narrow(10, table),
		"{st name}{ru : }a\n{st size}{ru : }12\n"
		"{st what it}\\\n{em is}{ru :}\\\nnothing\n{ru ---}\n"
		"{st name}{ru : }{co long}\\\n{co one}\n{st size}{ru : }1204\n"
		"{st what it}\\\n{em is}{ru : }the\\\ncap is\\\nreached\n");
	assert_string_equal(narrow(1, "|a|b|\n|-|-|\n|1||\n|2|3|\n"),
		"{st a}\\\n{ru :}\\\n1\n{ru -}\n{st a}\\\n{ru :}\\\n2\n{st b}\\\n{ru :}\\\n3\n");
	assert_string_equal(narrow(3, "|a|b|\n|-|-|\n"), "{st a}\n{st b}\n");
}

static void test_table_places(void **state)
{
	assert_string_equal(narrow(40, "- x\n\n  |a|b|\n  |-|-|\n  |1|\n"),
		"{ru * }x\n\n{ru   }{st a}{ru  | }{st b}\n{ru   }{ru --+--}\n{ru   }1{ru  | }\n");
	assert_string_equal(narrow(40, "> |漢字|b|\n> |-|-|\n> |1|e\xCC\x81|\n"),
		"{ru > }{st 漢字}{ru  | }{st b}\n{ru > }{ru -----+--}\n"
		"{ru > }{qu 1}   {ru  | }{qu e\xCC\x81}\n");
	/* One very wide cluster: no column can be narrower, so there are none. */
	assert_string_equal(narrow(12, "|👩‍👩‍👧‍👦|b|\n|-|-|\n|1|2|\n"),
		"{st 👩‍👩‍👧‍👦}{ru  | }{st b}\n{ru ---------+--}\n1       {ru  | }2\n");
	assert_non_null(strstr(
		narrow(9, "|👩‍👩‍👧‍👦|b|\n|-|-|\n|1|2|\n"), "{st b}{ru : }2"));
}

static void test_no_wrap(void **state)
{
	static const char s[] = "a long line\n\n|a|long cell|\n|-|-|\n|1|2|\n";

	assert_string_equal(draw(5, false, true, s, sizeof(s) - 1),
		"a long line\n\n{st a}{ru  | }{st long cell}\n{ru --+----------}\n1{ru  | }2\n");
}

/* ---------------------------------------------------------------- nothing vanishes */

static void test_definitions(void **state)
{
	assert_string_equal(md("[//]: # (hidden)\n[a]: http://b.c \"t\"\n\n[x][a]\n"),
		"[//]: # (hidden)\n[a]: http://b.c \"t\"\n\n[x][a]\n");
	assert_string_equal(md("> [a]: b"), "{ru ▌ }{qu [a]: b}\n");
	assert_string_equal(md("[long\nlabel]: x\ny"), "[long\nlabel]: x\ny\n");
	assert_string_equal(md("text\n[a]: b"), "text\n[a]: b\n");
	assert_string_equal(md("[a\\]: b]: c\n[d]"), "[a\\]: b]: c\n[d]\n");
	assert_string_equal(md("[link](x) and\n[x] y"), "{li link}{di  (x)} and\n[x] y\n");
}

static void test_surplus(void **state)
{
	assert_string_equal(narrow(40, "|a|b|\n|-|-|\n|1|2|\n|1|2| 3 |4|\n5|6|7\n1|2|\n"),
		"{st a}{ru  | }{st b}\n{ru --+--}\n1{ru  | }2\n1{ru  | }2\n5{ru  | }6\n1{ru  | }2\n"
		"{di [row 2 goes on: }3 |4{di ]}\n{di [row 3 goes on: }7{di ]}\n");
	assert_string_equal(narrow(40, "> |a|\n> |-|\n> |1\\|2|3|\n"),
		"{ru > }{st a}\n{ru > }{ru ---}\n{ru > }{qu 1|2}\n"
		"{ru > }{di [row 1 goes on: }3{di ]}\n");
}

static void test_bytes(void **state)
{
	assert_string_equal(draw(40, true, false, "a\0b\x1B[1m", 7), "a\xEF\xBF\xBD"
								     "b{ct ^[}[1m\n");
	assert_string_equal(
		md("a\xFF*b*\xC2\r\nc\r\n"), "a{ct \xEF\xBF\xBD}{em b}{ct \xEF\xBF\xBD}\nc\n");
	assert_string_equal(md("&#x202e;x"), "{ct <202E>}x\n");
	assert_string_equal(md("`\x1B]0;x\a`"), "{ct ^[}{co ]0;x}{ct ^G}\n");
	assert_string_equal(draw(40, true, false, "", 0), "");
}

/* ---------------------------------------------------------------- what would cost too much */

static char *repeat(const char *unit, size_t size, size_t *n)
{
	size_t len = strlen(unit);
	char *s = malloc(size + len);

	for (*n = 0; *n + len <= size; *n += len)
		memcpy(s + *n, unit, len);
	return s;
}

static void test_deep(void **state)
{
	size_t n;
	char *s = repeat(">", 10000, &n);

	assert_non_null(strstr(draw(80, true, false, s, n), "nested over 100 deep"));
	assert_non_null(strstr(draw(40, true, false, s, 100), "{ru "));
	free(s);
	s = repeat("- ", 20000, &n);
	draw(40, true, false, s, n);
	free(s);
	/* A long dashed line is no list. */
	s = repeat("-", 300, &n);
	assert_null(strstr(draw(80, true, false, s, n), "nested"));
	free(s);
}

/* Nesting that grows from line to line. */
static void test_stairs(void **state)
{
	struct buf b = { 0 };

	for (int i = 0; i < 200; i++)
		buf_printf(&b, "%*s1. x\n", i * 3, "");
	assert_non_null(strstr(draw(60, true, false, b.p, b.n), "x\n"));
	draw(1, true, false, b.p, b.n);
	buf_clear(&b);
	for (int i = 0; i < 99; i++) {
		for (int k = 0; k <= i; k++)
			buf_addc(&b, '>');
		buf_adds(&b, " ---\n\n");
	}
	draw(20, true, false, b.p, b.n);
	buf_release(&b);
}

static void test_table_bombs(void **state)
{
	struct buf b = { 0 };

	/* 4,000 columns filled up in 4,000 short rows would be 16 million cells. */
	for (int i = 0; i < 4000; i++)
		buf_adds(&b, "|a");
	buf_adds(&b, "\n");
	for (int i = 0; i < 4000; i++)
		buf_adds(&b, "|-");
	for (int i = 0; i < 4000; i++)
		buf_adds(&b, "\na");
	assert_non_null(strstr(draw(60, true, false, b.p, b.n), "|a|a|"));
	buf_clear(&b);
	for (int i = 0; i < 200; i++)
		buf_adds(&b, "|a");
	buf_adds(&b, "\n");
	for (int i = 0; i < 200; i++)
		buf_adds(&b, "|-");
	assert_non_null(strstr(draw(60, true, false, b.p, b.n), "|a|a|"));
	buf_clear(&b);
	for (int i = 0; i < 100; i++)
		buf_adds(&b, "|a");
	buf_adds(&b, "\n");
	for (int i = 0; i < 100; i++)
		buf_adds(&b, "|-");
	for (int i = 0; i < 500; i++)
		buf_adds(&b, "\na");
	draw(60, true, false, b.p, b.n);
	draw(1, true, false, b.p, b.n);
	draw(400, true, false, b.p, b.n);
	for (int i = 0; i < 1000; i++)
		buf_adds(&b, "\na");
	assert_non_null(strstr(draw(60, true, false, b.p, b.n), "|a|a|"));
	buf_release(&b);
}

static void test_limit(void **state)
{
	size_t n;
	char *s = repeat("*abc*\n", 600000, &n);
	const char *text = draw(80, true, false, s, n),
		   *note = strstr(text, "over 512 KB of Markdown");

	assert_non_null(note);
	assert_non_null(strstr(text, "{em abc}"));
	assert_non_null(strstr(note, "\n*abc*\n"));
	assert_null(strstr(note, "{em"));
	free(s);
}

static void test_units(void **state)
{
	static const char *const units[] = { ">", "> ", "- ", "* x", "1. ", "[", "![", "[a](", "[]",
		"*a", "*a_b ", "a~", "`", "`a``", "<", "<a ", "<!--", "&", "\\", "www.a",
		"http://a)", "))", "a@", "ftp://a.b<", "|", "|-|\n", "a|b\n-|-\n", "[a]: b\n",
		"[a\n", "\n", "-\n", ">\n", "```\n", "#", "\t", "(", "\"" };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t n;
		char *s = repeat(units[i], 30000, &n);

		draw(30, true, false, s, n);
		free(s);
	}
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void test_random(void **state)
{
	static const char *const pieces[] = { "# ", "- ", "1. ", "> ", "    ", "  ", "\n", "\n",
		"\n\n", "*", "**", "~~", "`", "```\n", "```c\n", "|", "|-|-|\n", "| a | b |\n", "[",
		"](", ")", "]:", "<b>", "<!-- ", "---\n", "===\n", "word ", "longer text ", "漢字",
		"e\xCC\x81", "\xFF", "\x1B[1m", "\xE2\x80\xAE", "\t", "[ ] ", "[x] ", "http://a.b/",
		"&#8203;", "\r\n", "👩‍👩‍👧‍👦", "\\" };
	uint64_t seed = 4711;
	char s[1000];

	for (int round = 0; round < 3000; round++) {
		size_t n = 0;

		while (n + 32 < sizeof(s) && next_random(&seed) % 120) {
			const char *piece =
				pieces[next_random(&seed) % (sizeof(pieces) / sizeof(pieces[0]))];

			memcpy(s + n, piece, strlen(piece));
			n += strlen(piece);
		}
		draw(1 + (int)(next_random(&seed) % 50), true, round % 2, s, n);
	}
}

/* Every word of a text is on the page, whatever marks stand around it. */
static void test_words_stay(void **state)
{
	static const char *const marks[] = { " ", "\n", "\n\n", " *", "* ", "\n- ", "\n> ", "\n# ",
		" [", "](u) ", "\n\n    ", "\n```\n", " `", "` ", " | ", "\n|-|-|\n", "\n1. ",
		" <b> ", "\n[d]: ", "\n\n[e]: ", "~~", "\n| ", " |\n" };
	uint64_t seed = 99;
	struct buf b = { 0 };

	for (int round = 0; round < 2000; round++) {
		const char *at;
		int words = 5 + (int)(next_random(&seed) % 30);

		buf_clear(&b);
		for (int i = 0; i < words; i++) {
			buf_printf(&b, "w%dq", i);
			buf_adds(
				&b, marks[next_random(&seed) % (sizeof(marks) / sizeof(marks[0]))]);
		}
		at = draw(60, true, false, b.p, b.n);
		for (int i = 0; i < words; i++) {
			char word[16];

			snprintf(word, sizeof(word), "w%dq", i);
			if (!strstr(at, word))
				fail_msg("%s is lost from:\n%s\nin:\n%s", word, b.p, at);
		}
	}
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headings),
		cmocka_unit_test(test_inlines),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_table_wide),
		cmocka_unit_test(test_table_narrow),
		cmocka_unit_test(test_table_stacked),
		cmocka_unit_test(test_table_places),
		cmocka_unit_test(test_no_wrap),
		cmocka_unit_test(test_definitions),
		cmocka_unit_test(test_surplus),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_stairs),
		cmocka_unit_test(test_table_bombs),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_words_stay),
	};
	int failed;

	setlocale(LC_ALL, "");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	buf_release(&out);
	return failed;
}
