/* Colours of code, patches and JSON: dumps by language, what is broken, nothing lost. */
#include "config.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "tests/lib/page-check.h"
#include "ui/page-lang.h"

static struct buf out;

static const char *code_at(int width, const char *lang, const char *s, size_t n)
{
	char *copy = exact_copy(s, n);
	struct page p;

	page_init(&p, width, true, false);
	page_code(&p, str_of(lang), copy, n, "");
	free(copy);
	assert_string_equal(page_fault(&p) ? page_fault(&p) : "", "");
	page_dump(&p, &out);
	page_release(&p);
	return out.p;
}

static const char *code(const char *lang, const char *s)
{
	return code_at(80, lang, s, strlen(s));
}

static const char *json(const char *s)
{
	char *copy = exact_copy(s, strlen(s));
	struct page p;

	page_init(&p, 60, true, false);
	page_json(&p, copy, strlen(s), "");
	free(copy);
	assert_string_equal(page_fault(&p) ? page_fault(&p) : "", "");
	page_dump(&p, &out);
	page_release(&p);
	return out.p;
}

/* ---------------------------------------------------------------- languages */

static void test_c(void **state)
{
	assert_string_equal(code("c", "#include <a.h>\nint f(void) { return 0x1F; } // end\n"),
		"{kw #include}{co  }{cs <a.h>}\n"
		"{kw int}{co  f(}{kw void}{co ) { }{kw return}{co  }{cn 0x1F}{co ; } }{cc // end}\n");
	assert_string_equal(code("C++", "a /* b\nc */ d"), "{co a }{cc /* b}\n{cc c */}{co  d}\n");
	assert_string_equal(code("h", "s = \"a\\\"b\" + 'c';"),
		"{co s = }{cs \"a\\\"b\"}{co  + }{cs 'c'}{co ;}\n");
	assert_string_equal(code("c", "x = \"open\nint"), "{co x = }{cs \"open}\n{kw int}\n");
	assert_string_equal(code("c", "\"a\\\nint"), "{cs \"a\\}\n{kw int}\n");
	assert_string_equal(code("c", "/* open"), "{cc /* open}\n");
	assert_string_equal(
		code("c", "  # define X 1.5e-3f"), "{co   }{kw # define}{co  X }{cn 1.5e-3f}\n");
	assert_string_equal(code("c", "internal int3 a1"), "{co internal int3 a1}\n");
	assert_string_equal(
		code("c", "#include <open\nx"), "{kw #include}{co  }{cs <open}\n{co x}\n");
}

static void test_python(void **state)
{
	assert_string_equal(code("python", "def f(a): # why\n    return None"),
		"{kw def}{co  f(a): }{cc # why}\n{co     }{kw return}{co  }{kw None}\n");
	assert_string_equal(code("py", "x = \"\"\"a\n'b'\"\"\" + 'c'"),
		"{co x = }{cs \"\"\"a}\n{cs 'b'\"\"\"}{co  + }{cs 'c'}\n");
}

static void test_js(void **state)
{
	assert_string_equal(code("ts", "const s = `a\n${b}`; // c"),
		"{kw const}{co  s = }{cs `a}\n{cs ${b}`}{co ; }{cc // c}\n");
	assert_string_equal(code("javascript", "let it's"), "{kw let}{co  it}{cs 's}\n");
}

static void test_go_rust_java(void **state)
{
	assert_string_equal(code("go", "func f() error { return nil }"),
		"{kw func}{co  f() }{kw error}{co  { }{kw return}{co  }{kw nil}{co  }}\n");
	assert_string_equal(code("rust", "fn f<'a>(x: &'a str) -> char { '\\n' }"),
		"{kw fn}{co  f<'a>(x: &'a }{kw str}{co ) -> }{kw char}{co  { }{cs '\\n'}{co  }}\n");
	assert_string_equal(code("rs", "'x' 'a 'é'"), "{cs 'x'}{co  'a }{cs 'é'}\n");
	assert_string_equal(code("java", "public final int x = 1_000L;"),
		"{kw public}{co  }{kw final}{co  }{kw int}{co  x = }{cn 1_000L}{co ;}\n");
}

static void test_sh(void **state)
{
	assert_string_equal(code("bash", "for f in $X ${Y}; do echo \"$f\" a#b; done # c"),
		"{kw for}{co  f }{kw in}{co  }{cn $X}{co  }{cn ${Y}}{co ; }{kw do}{co  }{kw echo}{co  }"
		"{cs \"$f\"}{co  a#b; }{kw done}{co  }{cc # c}\n");
}

static void test_yaml_toml(void **state)
{
	assert_string_equal(
		code("yaml", "# top\n- name: \"x\"\n  on-push.a: true\n  url: http://a#b"),
		"{cc # top}\n{co - }{jk name}{co : }{cs \"x\"}\n"
		"{co   }{jk on-push.a}{co : }{kw true}\n"
		"{co   }{jk url}{co : http://a#b}\n");
	assert_string_equal(code("toml", "[a]\nkey = 12"), "{co [a]}\n{jk key}{co  = }{cn 12}\n");
}

static void test_sql(void **state)
{
	assert_string_equal(code("SQL", "SELECT a From t -- why\nwhere b = 'x'"),
		"{kw SELECT}{co  a }{kw From}{co  t }{cc -- why}\n{kw where}{co  b = }{cs 'x'}\n");
}

static void test_markup(void **state)
{
	assert_string_equal(code("html", "<a href=\"x>y\">t</a><!-- c\nd --> 1 < 2"),
		"{kw <a}{co  href=}{cs \"x>y\"}{kw >}t{kw </a>}{cc <!-- c}\n{cc d -->} 1 < 2\n");
	assert_string_equal(code("xml", "<a <b"), "{kw <a}{co  }{kw <b}\n");
}

static void test_unknown(void **state)
{
	assert_string_equal(code("brainf", "int \"x\" // y"), "{co int \"x\" // y}\n");
	assert_string_equal(code("", "int"), "{co int}\n");
	assert_string_equal(code("c h", "int"), "{co int}\n");
	assert_null(lang_find((struct str){ NULL, 0 }));
}

static void test_table(void **state)
{
	size_t n;
	const struct lang *v = lang_table(&n);

	for (size_t i = 0; i < n; i++) {
		assert_true(v[i].names[0] == ' ' && v[i].names[strlen(v[i].names) - 1] == ' ');
		for (size_t k = 1; k < v[i].nwords; k++) {
			bool nocase = v[i].flags & LANG_NOCASE;
			int order = nocase ? strcasecmp(v[i].words[k - 1], v[i].words[k])
					   : strcmp(v[i].words[k - 1], v[i].words[k]);

			assert_true(order < 0);
		}
		for (size_t k = 0; k < v[i].nwords; k++)
			assert_true(lang_is_keyword(&v[i], v[i].words[k], strlen(v[i].words[k])));
		if (v[i].nwords)
			assert_false(lang_is_keyword(&v[i], "zzz", 3));
	}
}

/* A wrapped line goes in two columns more than it began. */
static void test_hang(void **state)
{
	assert_string_equal(code_at(20, "", "\tif (something) call();\nx", 25),
		"{co         if}\\\n          {co (something}\\\n"
		"          {co ) call();}\n{co x}\n");
	assert_string_equal(code_at(12, "", "  abcdefghijklmnopqrst", 22),
		"{co   abcdefghij}\\\n    {co klmnopqr}\\\n    {co st}\n");
}

/* ---------------------------------------------------------------- patches */

static void test_diff(void **state)
{
	static const char patch[] = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n"
				    "@@ -1,3 +1,3 @@ f()\n same\n--- gone\n+++ came\n last\n"
				    "- not of the hunk\n";

	assert_true(text_is_diff(patch, sizeof(patch) - 1));
	assert_string_equal(code("diff", patch),
		"{ff diff --git a/x b/x}\n{ff index 1..2 100644}\n{ff --- a/x}\n{ff +++ b/x}\n"
		"{@h @@ -1,3 +1,3 @@ f()}\n{co  same}\n{-d --- gone}\n{+a +++ came}\n{co  last}\n"
		"{-d - not of the hunk}\n");
	assert_string_equal(code("patch", "-a\n+b\n c"), "{-d -a}\n{+a +b}\n{co  c}\n");
	assert_string_equal(code("diff", "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"),
		"{@h @@ -1 +1 @@}\n{-d -a}\n{+a +b}\n{di \\ No newline at end of file}\n");
	assert_string_equal(code("diff", "@@ -1,9 +1,9 @@\n a\nodd\n-b"),
		"{@h @@ -1,9 +1,9 @@}\n{co  a}\n{co odd}\n{-d -b}\n");
}

/* Outside of a fence only what a header announces is taken for a patch. */
static void test_diff_strict(void **state)
{
	static const char patch[] = "- list\n@@ -1 +1,2 @@\n-a\n--- b\n- list\n+ list\n";
	struct page p;

	page_init(&p, 40, true, false);
	page_diff_text(&p, patch, sizeof(patch) - 1, false);
	page_end_par(&p);
	page_dump(&p, &out);
	page_release(&p);
	assert_string_equal(out.p,
		"{co - list}\n{@h @@ -1 +1,2 @@}\n{-d -a}\n{ff --- b}\n{co - list}\n{co + list}\n");
}

static void test_is_diff(void **state)
{
	static const char *const yes[] = { "text\n--- a\n+++ b\n", "@@ -0,0 +1 @@\n+x",
		"*** Begin Patch\n", "commit 1\n\ndiff --git a/a b/a" };
	static const char *const no[] = { "", "- a\n+ b\n", "--- a\nx\n+++ b\n", "@@ here",
		"a @@ -1 +1 @@" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		assert_true(text_is_diff(yes[i], strlen(yes[i])));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_false(text_is_diff(no[i], strlen(no[i])));
}

/* ---------------------------------------------------------------- JSON */

static void test_json_colours(void **state)
{
	assert_string_equal(
		code("json", "{ \"a\" : [1, -2.5e3],\n  \"b\":\"x\\\"y\", \"c\": null }"),
		"{co { }{jk \"a\"}{co  : [}{jn 1}{co , }{jn -2.5e3}{co ],}\n"
		"{co   }{jk \"b\"}{co :}{js \"x\\\"y\"}{co , }{jk \"c\"}{co : }{kw null}{co  }}\n");
}

static void test_json_indent(void **state)
{
	assert_string_equal(json("{\"a\":1,\"b\":[true,{}],\"c\":[ ]}"),
		"{co {}\n{co   }{jk \"a\"}{co : }{jn 1}{co ,}\n"
		"{co   }{jk \"b\"}{co : [}\n{co     }{kw true}{co ,}\n"
		"{co     {}}\n{co   ],}\n{co   }{jk \"c\"}{co : []}\n{co }}\n");
	assert_string_equal(json("\"x\""), "{js \"x\"}\n");
	assert_string_equal(json("{}{}"), "{co {}}\n{co {}}\n");
	assert_string_equal(json(""), "\n");
}

static void test_json_strings(void **state)
{
	assert_string_equal(json("{\"k\\n\":\"a\\nb\\n\"}"),
		"{co {}\n{co   }{jk \"k\\n\"}{co : }{js \"a}{di \\n}\n"
		"{co     }{js b}{di \\n}{js \"}\n{co }}\n");
	assert_string_equal(json("\"caf\\u00e9 \\ud83d\\ude00 \\u202e \\ud800 \\u0041 \\u00\""),
		"{js \"café 😀 \\u202e \\ud800 \\u0041 \\u00\"}\n");
	assert_string_equal(json("\"\\ud83d\\ude0"), "{js \"\\ud83d\\ude0}\n");
	assert_string_equal(json("\"\\u0301\\\\n\""), "{js \"\\u0301\\\\n\"}\n");
}

static void test_json_broken(void **state)
{
	assert_string_equal(json("{\"a\": [1, \"cut he"),
		"{co {}\n{co   }{jk \"a\"}{co : [}\n"
		"{co     }{jn 1}{co ,}\n{co     }{js \"cut he}\n");
	assert_string_equal(
		json("}] hello 'w' {x"), "{co }}\n{co ]}\n{co hello 'w' {}\n{co   x}\n");
	assert_string_equal(json("\"a\\"), "{js \"a\\}\n");
	assert_string_equal(
		json("[1 2,,]"), "{co [}\n{co   }{jn 1}{co  }{jn 2}{co ,}\n{co   ,}\n{co ]}\n");
}

/* ---------------------------------------------------------------- nothing is lost */

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Pieces that open and close what tokenizers know, and hostile bytes, in random order. */
static size_t random_text(uint64_t *seed, char *s, size_t size)
{
	static const char *const pieces[] = { "\"", "'", "`", "/*", "*/", "//", "#", "<!--", "-->",
		"<a ", ">", "\\", "\n", " ", "\t", "{", "}", "[", "]", ":", ",", "0x", "1e-", "int",
		"\\n", "\\u00e9", "@@ -1,2 +3 @@", "+", "-", "--- a\n", "$x", "${", "\"\"\"", "é",
		"漢", "e\xCC\x81", "\xF0\x9F\x98\x80", "\xFF", "\x1B[31m", "\xE2\x80\xAE", "\r\n",
		"word", "  ", "\xCC\x81" };
	size_t n = 0;

	while (n + 16 < size) {
		const char *piece =
			pieces[next_random(seed) % (sizeof(pieces) / sizeof(pieces[0]))];

		memcpy(s + n, piece, strlen(piece));
		n += strlen(piece);
		if (next_random(seed) % 200 == 0)
			break;
	}
	return n;
}

/* Visible bytes of plain text, cut where the tokenizer cut it: control forms differ only there. */
static void visible_ascii(struct buf *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		if (b->p[i] > 0x20 && b->p[i] < 0x7F)
			b->p[n++] = b->p[i];
	b->n = n;
	buf_add(b, NULL, 0);
}

static void drop_marks(char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] >= 0x80 || s[i] == 0x1B)
			s[i] = 'u';
}

static void test_random(void **state)
{
	static const char *const langs[] = { "c", "python", "js", "go", "rust", "java", "sh",
		"yaml", "sql", "html", "diff", "json", "" };
	uint64_t seed = 20240607;
	struct buf want = { 0 }, got = { 0 };
	char text[400];

	for (int round = 0; round < 3000; round++) {
		size_t n = random_text(&seed, text, sizeof(text));
		int width = 1 + (int)(next_random(&seed) % 40);
		struct page plain, p;

		for (int pass = 0; pass < 2; pass++) {
			page_init(&p, width, true, false);
			page_code(&p, str_of(langs[round % 13]), text, n, "");
			assert_string_equal(page_fault(&p) ? page_fault(&p) : "", "");
			/* With plain ASCII the visible characters are exactly those of the text. */
			if (pass) {
				page_init(&plain, width, true, false);
				page_line(&plain, ROLE_NORMAL, "", text, n);
				page_visible(&plain, &want);
				page_visible(&p, &got);
				assert_string_equal(want.p, got.p);
				page_clear(&p);
				page_json(&p, text, n, "");
				page_visible(&p, &got);
				visible_ascii(&got);
				visible_ascii(&want);
				if (!memmem(text, n, "\\u", 2))
					assert_string_equal(want.p, got.p);
				page_release(&plain);
			}
			page_clear(&p);
			page_json(&p, text, n, "  ");
			assert_string_equal(page_fault(&p) ? page_fault(&p) : "", "");
			page_release(&p);
			drop_marks(text, n);
		}
	}
	buf_release(&want);
	buf_release(&got);
}

/* What never ends must not cost more than what does. */
static void test_no_end(void **state)
{
	static const char *const units[] = { "/*", "\"", "'", "`", "<", "<a ", "<!-", "\"\"\"", "[",
		"{\"", "\\", "#", "0", "$", "${", "-", "@@ -1 +1 @@\n" };
	size_t size = 200000;
	char *s = malloc(size);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		static const char *const langs[] = { "c", "python", "js", "rust", "html", "diff",
			"json", "sh" };
		size_t len = strlen(units[i]), n = 0;

		for (; n + len <= size; n += len)
			memcpy(s + n, units[i], len);
		for (size_t k = 0; k < sizeof(langs) / sizeof(langs[0]); k++)
			code_at(40, langs[k], s, n);
	}
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_c),
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_js),
		cmocka_unit_test(test_go_rust_java),
		cmocka_unit_test(test_sh),
		cmocka_unit_test(test_yaml_toml),
		cmocka_unit_test(test_sql),
		cmocka_unit_test(test_markup),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_hang),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_diff_strict),
		cmocka_unit_test(test_is_diff),
		cmocka_unit_test(test_json_colours),
		cmocka_unit_test(test_json_indent),
		cmocka_unit_test(test_json_strings),
		cmocka_unit_test(test_json_broken),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_no_end),
	};
	int failed;

	setlocale(LC_ALL, "");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	buf_release(&out);
	return failed;
}
