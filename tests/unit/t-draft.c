/*
 * t-draft.c - drafts for the editor: what the notes look like, and that all but
 * they comes back.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/draft.h"

static void test_make(void **state)
{
	struct buf out = { 0 }, notes = { 0 }, back = { 0 };

	(void)state;
	draft_make(&out, str_of("# mine\ntwo"), str_of("below \033[1m\nlast"), &notes);
	assert_string_equal(out.p, "# mine\ntwo\n#: below ^[[1m\n#: last\n");
	assert_string_equal(notes.p, "#: below ^[[1m\n#: last\n");
	draft_take(buf_str(&out), buf_str(&notes), &back);
	assert_string_equal(back.p, "# mine\ntwo");
	buf_clear(&out);
	buf_clear(&notes);
	draft_make(&out, str_of(""), str_of(""), &notes);
	assert_string_equal(out.p, "\n");
	buf_release(&out);
	buf_release(&notes);
	buf_release(&back);
}

static void test_take(void **state)
{
	static const char notes[] = "#: note\n#: more\n";
	static const struct {
		const char *in, *want;
	} rows[] = {
		{ "\n#: note\n#: more\n", "" },
		{ "hello\n#: note\n#: more\n", "hello" },
		{ "#: note\nhello\n#: more\n\nand this\n", "hello\n\nand this" },
		{ "#: note\n#: more\n\n  \n", "" },
		{ "", "" },
		{ "#: more", "" },
		{ "#: mine\n#: note\n#: note of mine\n", "#: mine\n#: note of mine" },
		{ "#: note\nin between\n#: more\nbelow\n#: note\n", "in between\nbelow" },
		{ "# a heading\n#: note\n#: more\n", "# a heading" },
		{ "#: notes\n#:note\n", "#: notes\n#:note" },
		{ "\n\n  indented\n\n\nx\n\n", "  indented\n\n\nx" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buf out = { 0 };
		draft_take(str_of(rows[i].in), str_of(notes), &out);
		assert_string_equal(out.n ? out.p : "", rows[i].want);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_make),
		cmocka_unit_test(test_take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
