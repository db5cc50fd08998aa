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

/* Both sides were given to another implementation of JSON.stringify(JSON.parse()). */
static void test_compact(void **state)
{
	static const struct {
		const char *in, *want;
	} cases[] = {
		{ "{\"b\":1,\"a\":2,\"b\":3}",
		  "{\"b\":3,\"a\":2}" },
		{ "{\"10\":1,\"x\":0,\"2\":2,\"02\":3,\"4294967295\":4,\"4294967294\":5}",
		  "{\"2\":2,\"10\":1,\"4294967294\":5,\"x\":0,\"02\":3,\"4294967295\":4}" },
		{ " [ 1.0 , -0, 1e3, 1E400, 123456789012345680000, 1e21, 1e-7, 0.000001, 5e-324, 1.7976931348623157e308, 0.1, 9007199254740993, -1.50 ] ",
		  "[1,0,1000,null,123456789012345680000,1e+21,1e-7,0.000001,5e-324,1.7976931348623157e+308,0.1,9007199254740992,-1.5]" },
		{ "[\"\\u0041\\/\\u001f\\u007f\\ud83d\\udc1f\\ud800x\\udc00\\b\\u0008\\n\\u000A\\\"\\\\\"]",
		  "[\"A/\\u001f🐟\\ud800x\\udc00\\b\\b\\n\\n\\\"\\\\\"]" },
		{ "{\"\\u0061\":1,\"a\":2,\"\":3,\"__proto__\":{\"x\":1}}",
		  "{\"a\":2,\"\":3,\"__proto__\":{\"x\":1}}" },
		{ "{\"a\":[{},[],[[{\"k\":[1,{\"z\":null,\"y\":true}]}]]],\"c\":false}",
		  "{\"a\":[{},[],[[{\"k\":[1,{\"z\":null,\"y\":true}]}]]],\"c\":false}" },
		{ "\"x\"",
		  "\"x\"" },
		{ "-12.75e-3",
		  "-0.01275" },
		{ "{\"k0\":0,\"k1\":1,\"k2\":2,\"k3\":3,\"k4\":4,\"k5\":5,\"k6\":6,\"k7\":7,\"k8\":8,\"k9\":9,\"k10\":10,\"k11\":11,\"k12\":12,\"k13\":13,\"k14\":14,\"k15\":15,\"k16\":16,\"k17\":17,\"k18\":18,\"k19\":19,\"k0\":20,\"k1\":21,\"k2\":22,\"k3\":23,\"k4\":24,\"k5\":25,\"k6\":26,\"k7\":27,\"k8\":28,\"k9\":29,\"k10\":30,\"k11\":31,\"k12\":32,\"k13\":33,\"k14\":34,\"k15\":35,\"k16\":36,\"k17\":37,\"k18\":38,\"k19\":39,\"7\":1}",
		  "{\"7\":1,\"k0\":20,\"k1\":21,\"k2\":22,\"k3\":23,\"k4\":24,\"k5\":25,\"k6\":26,\"k7\":27,\"k8\":28,\"k9\":29,\"k10\":30,\"k11\":31,\"k12\":32,\"k13\":33,\"k14\":34,\"k15\":35,\"k16\":36,\"k17\":37,\"k18\":38,\"k19\":39}" },
		{ "[1,[2,{\"b\":1,\"a\":{\"b\":2,\"b\":{\"3\":1,\"1\":2}}}],3]",
		  "[1,[2,{\"b\":1,\"a\":{\"b\":{\"1\":2,\"3\":1}}}],3]" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_clear(&out);
		json_put_compact(&out, str_of(cases[i].in));
		assert_string_equal(out.p, cases[i].want);
	}
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
		cmocka_unit_test(test_compact),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
