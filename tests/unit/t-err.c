/* Errors: the first is kept, the text is safe and fits, NULL is allowed. */
#include "config.h"

#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/utf8.h"

static void test_set(void **state)
{
	struct err err = { 0 };

	assert_int_equal(err_set(&err, ERR_LIMIT, "%d over %s", 3, "cap"), ERR_LIMIT);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_string_equal(err.text, "3 over cap");
	/* A later one reports itself to its caller and changes nothing. */
	assert_int_equal(err_set(&err, ERR_USAGE, "other"), ERR_USAGE);
	errno = EACCES;
	assert_int_equal(err_sys(&err, "other"), ERR_IO);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_int_equal(err.sys, 0);
	assert_string_equal(err.text, "3 over cap");
	err_clear(&err);
	assert_int_equal(err.code, ERR_OK);
	assert_string_equal(err.text, "");
}

static void test_null(void **state)
{
	err_clear(NULL);
	assert_int_equal(err_set(NULL, ERR_TORN, "x"), ERR_TORN);
	errno = ENOMEM;
	assert_int_equal(err_sys(NULL, "x"), ERR_NOMEM);
}

static void test_sys(void **state)
{
	struct err err = { 0 };

	errno = ENOENT;
	assert_int_equal(err_sys(&err, "open %s", "a\x1B"), ERR_IO);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(err.code, ERR_IO);
	assert_int_equal(err.sys, ENOENT);
	assert_string_equal(err.text, "open a^[: No such file or directory");
	err_clear(&err);
	errno = ENOMEM;
	assert_int_equal(err_sys(&err, "read"), ERR_NOMEM);
	assert_int_equal(err.code, ERR_NOMEM);
	assert_int_equal(err.sys, ENOMEM);
}

static void test_safe(void **state)
{
	struct err err = { 0 };

	err_set(&err, ERR_USAGE, "a\nb\tc  \xE2\x80\xAE\xFF%c", 7);
	assert_string_equal(err.text, "a b c <202E>\xEF\xBF\xBD^G");
}

/* At every length around the end, with something that must not be cut there. */
static void test_fits(void **state)
{
	static const char *const tails[] = { "e\xCC\x81", "\xE6\xBC\xA2\xE6\xBC\xA2",
		"\x1B\x1B\x1B", "\xE2\x80\xAE", "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB" };
	char text[700];
	size_t n, t;

	for (t = 0; t < sizeof(tails) / sizeof(tails[0]); t++) {
		for (n = 280; n < 302; n++) {
			struct err err = { 0 };
			size_t len;

			memset(text, 'x', n);
			strcpy(text + n, tails[t]);
			strcat(text, tails[t]);
			err_set(&err, ERR_USAGE, "%s", text);
			len = strlen(err.text);
			assert_true(len < sizeof(err.text));
			assert_int_equal(utf8_valid_prefix(err.text, len), len);
			if (n < sizeof(err.text))
				assert_memory_equal(err.text, text, n);
			/* Whole clusters only. */
			if (len > n && t != 2 && t != 3)
				assert_int_equal((len - n) % (t == 1 ? 3 : strlen(tails[t])), 0);
		}
	}
	/* What does not even fit the space for formatting. */
	for (n = 580; n < 604; n++) {
		struct err err = { 0 };

		memset(text, 0, sizeof(text));
		memset(text, '\n', n);
		strcpy(text + n, "\xE6\xBC\xA2");
		err_set(&err, ERR_USAGE, "%s", text);
		assert_true(strcmp(err.text, " ") == 0 || strcmp(err.text, " \xE6\xBC\xA2") == 0);
		assert_true(n > 596 || err.text[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_null),
		cmocka_unit_test(test_sys),
		cmocka_unit_test(test_safe),
		cmocka_unit_test(test_fits),
	};

	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
