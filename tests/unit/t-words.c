/*
 * t-words.c - a command of the user's is split as sh splits it, and nothing in
 * it is expanded; sh itself is asked.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/words.h"
#include "base/xalloc.h"

static char *joined(const char *command)
{
	struct words w = { 0 };
	struct buf all = { 0 };
	struct err err = { 0 };

	assert_int_equal(words_split(&w, command, "EDITOR", &err), 0);
	assert_null(w.v[w.n]);
	for (size_t i = 0; i < w.n; i++)
		buf_printf(&all, "<%s>", w.v[i]);
	words_release(&w);
	return buf_take(&all);
}

static void test_split(void **state)
{
	static const struct {
		const char *in, *want;
	} rows[] = {
		{ "vi", "<vi>" },
		{ "  code \t --wait\n", "<code><--wait>" },
		{ "\"/my tools/ed\" -x", "</my tools/ed><-x>" },
		{ "'/my tools/ed' '-x y'z", "</my tools/ed><-x yz>" },
		{ "/my\\ tools/ed", "</my tools/ed>" },
		{ "a\"b c\"'d e'f", "<ab cd ef>" },
		{ "ed '' \"\"", "<ed><><>" },
		{ "ed \"a\\\"b\\\\c\\d\" 'e\\f' g\\\"h", "<ed><a\"b\\c\\d><e\\f><g\"h>" },
		{ "ed \"it's\" 'say \"x\"'", "<ed><it's><say \"x\">" },
		{ "a\\\nb \"c\\\nd\"", "<ab><cd>" },
		/* what a shell would expand or run is only text here */
		{ "ed $HOME ~ * `x` $(y) ; & | > #", "<ed><$HOME><~><*><`x`><$(y)><;><&><|><>><#>" },
		{ "ed \"\\$HOME \\`x\\`\"", "<ed><$HOME `x`>" },
		{ "ed end\\", "<ed><end\\>" },
		{ "\xc3\xa9\xff \"\xe6\xb5\xb7 x\"", "<\xc3\xa9\xff><\xe6\xb5\xb7 x>" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *got = joined(rows[i].in);
		assert_string_equal(got, rows[i].want);
		free(got);
	}
}

static void test_refused(void **state)
{
	static const char *const rows[] = { "", " \t\n", "\"ed", "'ed", "ed 'x", "ed \"x\\\"", "ed x\"" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct words w = { 0 };
		struct err err = { 0 };

		assert_int_equal(words_split(&w, rows[i], "EDITOR", &err), ERR_USAGE);
		assert_non_null(strstr(err.text, "EDITOR"));
		words_release(&w);
	}
}

/* Random commands of what matters, without what sh would expand. */
static void test_as_sh(void **state)
{
	static const char letters[] = "ab  \t'\"\\\\x";
	struct buf script = { 0 }, want = { 0 };
	char line[256];
	FILE *sh;
	uint32_t seed = 7;

	for (int i = 0; i < 400; i++) {
		struct words w = { 0 };
		char command[16];
		size_t n = 0;

		while (n < sizeof(command) - 1) {
			seed = seed * 1664525 + 1013904223;
			command[n++] = letters[(seed >> 16) % (sizeof(letters) - 1)];
		}
		command[n] = '\0';
		if (words_split(&w, command, "EDITOR", NULL) == 0 && command[n - 1] != '\\') {
			buf_printf(&script, "set -- %s\nprintf '<%%s>' \"$@\"; echo\n", command);
			for (size_t k = 0; k < w.n; k++)
				buf_printf(&want, "<%s>", w.v[k]);
			buf_addc(&want, '\n');
		}
		words_release(&w);
	}
	setenv("SCRIPT", script.p, 1);
	sh = popen("printf '%s' \"$SCRIPT\" | sh", "r");
	assert_non_null(sh);
	buf_clear(&script);
	while (fgets(line, sizeof(line), sh))
		buf_adds(&script, line);
	assert_int_equal(pclose(sh), 0);
	assert_string_equal(script.p, want.p);
	buf_release(&script);
	buf_release(&want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_as_sh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
