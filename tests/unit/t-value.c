/* Values out of raw JSON: strings of every kind and in pieces, integers, members, layout. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "json/value.h"

static struct buf out;

static void check_string(const char *raw, const char *want, size_t n)
{
	buf_clear(&out);
	assert_int_equal(json_string(str_of(raw), &out, SIZE_MAX), strlen(raw));
	assert_int_equal(out.n, n);
	assert_memory_equal(out.p, want, n);
}

static void check_s(const char *raw, const char *want)
{
	check_string(raw, want, strlen(want));
}

static void test_types(void **state)
{
	assert_int_equal(json_type_of(str_of("")), JSON_NONE);
	assert_int_equal(json_type_of(str_of("\"a\"")), JSON_STRING);
	assert_int_equal(json_type_of(str_of("-1")), JSON_NUMBER);
	assert_int_equal(json_type_of(str_of("9")), JSON_NUMBER);
	assert_int_equal(json_type_of(str_of("true")), JSON_TRUE);
	assert_int_equal(json_type_of(str_of("false")), JSON_FALSE);
	assert_int_equal(json_type_of(str_of("null")), JSON_NULL);
	assert_int_equal(json_type_of(str_of("{}")), JSON_OBJECT);
	assert_int_equal(json_type_of(str_of("[]")), JSON_LIST);
	assert_int_equal(json_type_of(str_of("x")), JSON_NONE);
}

static void test_strings(void **state)
{
	buf_addc(&out, 0); /* out.p is never NULL below */
	check_s("\"\"", "");
	check_s("\"plain text that is long enough for words\"",
		"plain text that is long enough for words");
	check_s("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
	check_s("\"\\u0041\\u00e9\\u6F22\"", "A\xC3\xA9\xE6\xBC\xA2");
	check_s("\"\\ud83d\\ude00\"", "\xF0\x9F\x98\x80");
	check_s("\"\\uDBFF\\uDFFF\"", "\xF4\x8F\xBF\xBF");
	check_s("\"\\ud83d\"", "\xEF\xBF\xBD");
	check_s("\"\\ude00\"", "\xEF\xBF\xBD");
	check_s("\"\\ud83dx\"", "\xEF\xBF\xBDx");
	check_s("\"\\ud83d\\n\"", "\xEF\xBF\xBD\n");
	check_s("\"\\ud83d\\u0041\"", "\xEF\xBF\xBD\x41");
	check_s("\"\\ud83d\\ud83d\\ude00\"", "\xEF\xBF\xBD\xF0\x9F\x98\x80");
	check_s("\"\\ude00\\ud83d\"", "\xEF\xBF\xBD\xEF\xBF\xBD");
	check_string("\"a\\u0000b\"", "a\0b", 3);
	check_s("\"caf\xC3\xA9\"", "caf\xC3\xA9");
	/* No string at all. */
	assert_int_equal(json_string(str_of("12"), &out, SIZE_MAX), 0);
	assert_int_equal(json_string(str_of(""), &out, SIZE_MAX), 0);
}

/* A string given in two pieces, cut anywhere, with any limit: the same bytes in the end. */
static void test_pieces(void **state)
{
	static const char raw[] =
		"\"ab\\n\xC3\xA9\\u00e9\\ud83d\\ude00\xF0\x9F\x98\x80 \\ud83d!\\u0000 \xE6\xBC\xA2 end\"";
	const size_t n = sizeof(raw) - 1;
	struct buf want = { 0 };
	size_t cut, limit;

	assert_int_equal(json_string((struct str){ raw, n }, &want, SIZE_MAX), n);
	for (cut = 0; cut <= n; cut++) {
		size_t used;

		buf_clear(&out);
		used = json_string((struct str){ raw, cut }, &out, SIZE_MAX);
		assert_true(used <= cut && cut - used < 12);
		assert_memory_equal(out.p, want.p, out.n);
		assert_int_equal(utf8_valid_prefix(out.p, out.n), out.n);
		if (used == 0)
			continue;
		used += json_string_more((struct str){ raw + used, n - used }, &out, SIZE_MAX);
		assert_int_equal(used, n);
		assert_int_equal(out.n, want.n);
		assert_memory_equal(out.p, want.p, want.n);
	}
	for (limit = 0; limit <= want.n; limit++) {
		size_t used = 0, rounds = 0;

		buf_clear(&out);
		used = json_string((struct str){ raw, n }, &out, limit);
		assert_true(out.n <= limit && limit - out.n < 4);
		assert_int_equal(utf8_valid_prefix(out.p, out.n), out.n);
		while (used < n && limit >= 4 && rounds++ < 100) {
			size_t before = out.n;

			used += json_string_more((struct str){ raw + used, n - used }, &out, limit);
			assert_true(out.n - before <= limit);
		}
		if (limit >= 4) {
			assert_int_equal(used, n);
			assert_int_equal(out.n, want.n);
			assert_memory_equal(out.p, want.p, want.n);
		}
	}
	buf_release(&want);
}

/* Text that no scanner has seen still ends inside its slice. */
static void test_broken_strings(void **state)
{
	static const char *const raws[] = { "\"", "\"a", "\"\\", "\"\\u", "\"\\u12", "\"\\q\"",
		"\"\\u12zz\"", "\"\\ud83d\\u12zz\"", "\"\xC3", "\"\xFF\"" };
	size_t i, n;

	for (i = 0; i < sizeof(raws) / sizeof(raws[0]); i++) {
		char *copy = malloc(strlen(raws[i]));

		assert_non_null(copy);
		memcpy(copy, raws[i], strlen(raws[i]));
		for (n = 0; n <= strlen(raws[i]); n++) {
			buf_clear(&out);
			assert_true(json_string((struct str){ copy, n }, &out, SIZE_MAX) <= n);
			json_string_eq((struct str){ copy, n }, "a");
		}
		free(copy);
	}
}

static void test_string_eq(void **state)
{
	assert_true(json_string_eq(str_of("\"abc\""), "abc"));
	assert_true(json_string_eq(str_of("\"\""), ""));
	assert_true(json_string_eq(str_of("\"\\u0061b\\u0063\""), "abc"));
	assert_true(json_string_eq(str_of("\"\\ud83d\\ude00\""), "\xF0\x9F\x98\x80"));
	assert_true(json_string_eq(str_of("\"\\ud83d\""), "\xEF\xBF\xBD"));
	assert_false(json_string_eq(str_of("\"abc\""), "ab"));
	assert_false(json_string_eq(str_of("\"ab\""), "abc"));
	assert_false(json_string_eq(str_of("\"abc\\u0000\""), "abc"));
	assert_false(json_string_eq(str_of("\"\\u0000\""), ""));
	assert_false(json_string_eq(str_of("abc"), "abc"));
	assert_false(json_string_eq(str_of("\"abc"), "abc"));
	assert_false(json_string_eq(str_of(""), ""));
}

static void check_int(const char *raw, bool fits, int64_t want)
{
	int64_t v = 77;

	assert_int_equal(json_int64(str_of(raw), &v), fits);
	assert_true(v == (fits ? want : 77));
}

static void check_uint(const char *raw, bool fits, uint64_t want)
{
	uint64_t v = 77;

	assert_int_equal(json_uint64(str_of(raw), &v), fits);
	assert_true(v == (fits ? want : 77));
}

static void test_integers(void **state)
{
	static const char *const none[] = { "", "-", "1.0", "1e3", "01", "-01", "+1", " 1", "1 ",
		"x", "\"1\"", "0x10", "--1" };
	size_t i;

	check_int("0", true, 0);
	check_int("-0", true, 0);
	check_int("9007199254740993", true, 9007199254740993); /* 2^53 + 1 */
	check_int("9223372036854775807", true, INT64_MAX);
	check_int("9223372036854775808", false, 0);
	check_int("-9223372036854775808", true, INT64_MIN);
	check_int("-9223372036854775809", false, 0);
	check_int("99999999999999999999999", false, 0);
	check_uint("0", true, 0);
	check_uint("-0", true, 0);
	check_uint("-1", false, 0);
	check_uint("18446744073709551615", true, UINT64_MAX);
	check_uint("18446744073709551616", false, 0);
	check_uint("184467440737095516150", false, 0);
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		check_int(none[i], false, 0);
		check_uint(none[i], false, 0);
	}
}

/* Members as "key=value;", items as "=value;", then "!" for damage. */
static const char *walk(const char *raw)
{
	struct str key, value;
	struct json_iter it;

	buf_clear(&out);
	json_iter_init(&it, str_of(raw));
	while (json_iter_next(&it, &key, &value)) {
		buf_addstr(&out, key);
		buf_addc(&out, '=');
		buf_addstr(&out, value);
		buf_addc(&out, ';');
	}
	assert_false(json_iter_next(&it, &key, &value));
	buf_adds(&out, it.bad ? "!" : "");
	return out.p;
}

static void test_iter(void **state)
{
	assert_string_equal(walk("{}"), "");
	assert_string_equal(walk("[ ]"), "");
	assert_string_equal(walk("12"), "");
	assert_string_equal(walk("\"[1]\""), "");
	assert_string_equal(walk(""), "");
	assert_string_equal(walk("[1,\"a,]\\\"\",[2,[3]],{\"b\":[]},null]"),
		"=1;=\"a,]\\\"\";=[2,[3]];={\"b\":[]};=null;");
	assert_string_equal(walk(" [ 1 , 2 ] "), "=1;=2;");
	assert_string_equal(walk("{\"a\":1,\"b\":{\"c\":\"}\"},\"a\":true}"),
		"\"a\"=1;\"b\"={\"c\":\"}\"};\"a\"=true;");
	assert_string_equal(walk("{ \"a\" : 1 , \"\\\"\" : \"x\" }"), "\"a\"=1;\"\\\"\"=\"x\";");
	assert_string_equal(walk("[1 2]"), "=1;!");
	assert_string_equal(walk("[1,]"), "=1;!");
	assert_string_equal(walk("[1,[2"), "=1;!");
	assert_string_equal(walk("[1,\"a"), "=1;!");
	assert_string_equal(walk("{\"a\"}"), "!");
	assert_string_equal(walk("{\"a\":1,b:2}"), "\"a\"=1;!");
	assert_string_equal(walk("{\"a"), "!");
}

static void test_iter_deep(void **state)
{
	struct buf text = { 0 };
	struct str key, value;
	struct json_iter it;
	int i;

	for (i = 0; i < 2000000; i++)
		buf_addc(&text, i < 1000000 ? '[' : ']');
	json_iter_init(&it, (struct str){ text.p, text.n });
	assert_true(json_iter_next(&it, &key, &value));
	assert_int_equal(value.n, text.n - 2);
	assert_false(json_iter_next(&it, &key, &value));
	assert_false(it.bad);
	buf_release(&text);
}

static void test_get(void **state)
{
	struct str o = str_of("{\"a\":1,\"b\":{\"a\":9},\"\\u0061\":2,\"c\":[\"a\"]}");

	assert_true(str_eqs(json_get(o, "a"), "2"));
	assert_true(str_eqs(json_get(o, "b"), "{\"a\":9}"));
	assert_null(json_get(o, "d").p);
	assert_int_equal(json_get(str_of("[\"a\"]"), "").n, 0);
}

static const char *pretty(const char *raw, size_t limit, bool whole)
{
	buf_clear(&out);
	assert_int_equal(json_pretty(&out, str_of(raw), 2, limit), whole);
	return out.p;
}

static void test_pretty(void **state)
{
	assert_string_equal(
		pretty("{\"a\":1,\"b\":[true,{}, [ ] ],\"c\":{\"d\":\"x,{\\\"\"}}", SIZE_MAX, true),
		"{\n  \"a\": 1,\n  \"b\": [\n    true,\n    {},\n    []\n  ],\n"
		"  \"c\": {\n    \"d\": \"x,{\\\"\"\n  }\n}");
	assert_string_equal(pretty("12", SIZE_MAX, true), "12");
	assert_string_equal(pretty(" \"a\" ", SIZE_MAX, true), "\"a\"");
	assert_string_equal(pretty("{}", SIZE_MAX, true), "{}");
	assert_string_equal(pretty("", SIZE_MAX, true), "");
}

static void test_pretty_escapes(void **state)
{
	assert_string_equal(pretty("\"caf\\u00e9 \\u6f22 \\ud83d\\ude00\"", SIZE_MAX, true),
		"\"caf\xC3\xA9 \xE6\xBC\xA2 \xF0\x9F\x98\x80\"");
	/* ASCII, controls, what is not to be shown, and halves stay as written. */
	assert_string_equal(
		pretty("\"\\u0041\\n\\u001b\\u009b\\u202e\\u200b\\ud83d\\u0301\"", SIZE_MAX, true),
		"\"\\u0041\\n\\u001b\\u009b\\u202e\\u200b\\ud83d\\u0301\"");
	assert_string_equal(pretty("\"\\ufffd\\ud83dx\"", SIZE_MAX, true), "\"\\ufffd\\ud83dx\"");
}

static void test_pretty_broken(void **state)
{
	/* Cut off: as far as it goes. */
	assert_string_equal(pretty("{\"a\":[1,", SIZE_MAX, true), "{\n  \"a\": [\n    1,");
	assert_string_equal(pretty("{\"a\":\"x\\u00", SIZE_MAX, true), "{\n  \"a\": \"x\\u00");
	assert_string_equal(pretty("{", SIZE_MAX, true), "{");
	/* No JSON: as it is. */
	assert_string_equal(pretty("[link](url), {x}", SIZE_MAX, true), "[link](url), {x}");
	assert_string_equal(pretty("Error: 2 failed", SIZE_MAX, true), "Error: 2 failed");
	assert_string_equal(pretty("{\"a\":1} and more", SIZE_MAX, true), "{\"a\":1} and more");
	assert_string_equal(pretty("   ", SIZE_MAX, true), "   ");
}

static void test_pretty_limit(void **state)
{
	static const char raw[] = "{\"a\":[1,{\"caf\xC3\xA9\\u00e9\":\"\xF0\x9F\x98\x80\"}]}";
	struct buf whole = { 0 }, spaces = { 0 };
	size_t limit;
	int i;

	assert_true(json_pretty(&whole, str_of(raw), 2, SIZE_MAX));
	for (limit = 0; limit < whole.n; limit++) {
		pretty(raw, limit, false);
		assert_true(out.n <= limit && limit - out.n < 4);
		assert_memory_equal(out.p, whole.p, out.n);
		assert_int_equal(utf8_valid_prefix(out.p, out.n), out.n);
	}
	pretty(raw, whole.n, true);
	/* More white space than the look at the syntax covers, then something that is none. */
	buf_adds(&spaces, "[1,");
	for (i = 0; i < 1000; i++)
		buf_addc(&spaces, ' ');
	buf_adds(&spaces, "}}}{{{\\\"");
	pretty(spaces.p, 10, false);
	assert_int_equal(out.n, 10);
	buf_release(&whole);
	buf_release(&spaces);
}

static int release(void **state)
{
	buf_release(&out);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_broken_strings),
		cmocka_unit_test(test_string_eq),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_iter),
		cmocka_unit_test(test_iter_deep),
		cmocka_unit_test(test_get),
		cmocka_unit_test(test_pretty),
		cmocka_unit_test(test_pretty_escapes),
		cmocka_unit_test(test_pretty_broken),
		cmocka_unit_test(test_pretty_limit),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
