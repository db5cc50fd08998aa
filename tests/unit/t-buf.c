/* Slices and the growing buffer. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/err.h"

static void test_slices(void **state)
{
	assert_int_equal(str_of(NULL).n, 0);
	assert_int_equal(str_of("abc").n, 3);
	assert_true(str_eq(str_of(NULL), str_of("")));
	assert_true(str_eq((struct str){ "a\0b", 3 }, (struct str){ "a\0b", 3 }));
	assert_false(str_eq((struct str){ "a\0b", 3 }, (struct str){ "a\0c", 3 }));
	assert_false(str_eq(str_of("ab"), str_of("abc")));
	assert_true(str_eqs(str_of("abc"), "abc"));
	assert_false(str_eqs((struct str){ "a\0b", 3 }, "a"));
	assert_true(str_starts(str_of("abc"), "ab"));
	assert_true(str_starts(str_of("abc"), ""));
	assert_true(str_starts(str_of(NULL), ""));
	assert_false(str_starts(str_of("ab"), "abc"));
	assert_false(str_starts(str_of("abc"), "b"));
}

static void test_add(void **state)
{
	struct buf b = { 0 };
	size_t i;

	buf_add(&b, NULL, 0);
	assert_string_equal(b.p, "");
	buf_adds(&b, "ab");
	buf_addc(&b, 'c');
	buf_addstr(&b, (struct str){ "\0d", 2 });
	assert_int_equal(b.n, 5);
	assert_memory_equal(b.p, "abc\0d", 6);
	buf_clear(&b);
	assert_int_equal(b.n, 0);
	assert_string_equal(b.p, "");
	for (i = 0; i < 100000; i++) {
		buf_addc(&b, (char)('a' + i % 26));
		assert_int_equal(b.p[b.n], 0);
	}
	for (i = 0; i < 100000; i++)
		assert_int_equal(b.p[i], 'a' + i % 26);
	assert_true(b.cap < 4 * 100000);
	buf_release(&b);
	assert_null(b.p);
	assert_int_equal(b.cap, 0);
	buf_clear(&b);
	buf_release(&b);
}

static void test_printf(void **state)
{
	struct buf b = { 0 };
	char wide[300];
	int n;

	buf_adds(&b, "x=");
	buf_printf(&b, "%d %s", 7, "seven");
	assert_string_equal(b.p, "x=7 seven");
	memset(wide, 'w', sizeof(wide));
	/* Around every size at which the first try does not fit. */
	for (n = 60; n < 300; n++) {
		buf_release(&b);
		buf_printf(&b, "%.*s!", n, wide);
		assert_int_equal(b.n, n + 1);
		assert_int_equal(strlen(b.p), n + 1);
		assert_int_equal(b.p[n], '!');
	}
	buf_release(&b);
}

static void test_reserve(void **state)
{
	struct buf b = { 0 };

	assert_int_equal(buf_try_reserve(&b, 1000), 0);
	assert_true(b.cap > 1000);
	buf_adds(&b, "kept");
	assert_int_equal(buf_try_reserve(&b, SIZE_MAX), ERR_NOMEM);
	assert_int_equal(buf_try_reserve(&b, SIZE_MAX - b.n), ERR_NOMEM);
	assert_int_equal(buf_try_reserve(&b, SIZE_MAX / 2), ERR_NOMEM);
	assert_string_equal(b.p, "kept");
	buf_release(&b);
}

static void test_take(void **state)
{
	struct buf b = { 0 };
	char *s = buf_take(&b);

	assert_string_equal(s, "");
	free(s);
	buf_adds(&b, "mine");
	s = buf_take(&b);
	assert_string_equal(s, "mine");
	assert_null(b.p);
	assert_int_equal(b.n + b.cap, 0);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_printf),
		cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
