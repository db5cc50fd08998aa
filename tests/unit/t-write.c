/* JSON text byte for byte, and that every string comes back. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "json/value.h"
#include "json/write.h"

static struct buf out;

static const char *written(const char *p, size_t n)
{
	buf_clear(&out);
	json_put_string(&out, (struct str){ p, n });
	return out.p;
}

static void test_strings(void **state)
{
	assert_string_equal(written("", 0), "\"\"");
	assert_string_equal(
		written("plain text / and more of it", 27), "\"plain text / and more of it\"");
	assert_string_equal(written("\"\\", 2), "\"\\\"\\\\\"");
	assert_string_equal(written("\b\t\n\f\r", 5), "\"\\b\\t\\n\\f\\r\"");
	assert_string_equal(written("\0\x01\x0B\x1F", 4), "\"\\u0000\\u0001\\u000b\\u001f\"");
	assert_string_equal(written("\x7F\xC2\x9B", 3), "\"\x7F\xC2\x9B\"");
	assert_string_equal(
		written("caf\xC3\xA9 \xF0\x9F\x98\x80", 10), "\"caf\xC3\xA9 \xF0\x9F\x98\x80\"");
	assert_string_equal(written("a\xFFz\xE2\x82", 5), "\"a\xEF\xBF\xBDz\xEF\xBF\xBD\"");
	buf_clear(&out);
	json_put_cstr(&out, "a\"b");
	assert_string_equal(out.p, "\"a\\\"b\"");
}

/* Each byte at each place of a word. */
static void test_every_byte(void **state)
{
	struct buf back = { 0 };
	char text[24];
	size_t at;
	int c;

	for (c = 0; c < 0x80; c++) {
		for (at = 0; at < sizeof(text); at++) {
			memset(text, 'x', sizeof(text));
			text[at] = (char)c;
			written(text, sizeof(text));
			buf_clear(&back);
			assert_int_equal(
				json_string((struct str){ out.p, out.n }, &back, SIZE_MAX), out.n);
			assert_int_equal(back.n, sizeof(text));
			assert_memory_equal(back.p, text, sizeof(text));
		}
	}
	buf_release(&back);
}

static void test_members(void **state)
{
	buf_clear(&out);
	buf_addc(&out, '{');
	json_put_key(&out, "a");
	json_put_int(&out, INT64_MIN);
	json_put_key(&out, "b");
	buf_addc(&out, '{');
	json_put_key(&out, "c");
	json_put_cstr(&out, "x");
	buf_adds(&out, "}}");
	assert_string_equal(out.p, "{\"a\":-9223372036854775808,\"b\":{\"c\":\"x\"}}");
}

static int release(void **state)
{
	buf_release(&out);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_members),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
