/* Documents: what is written, what is read, and that nothing is lost or dangerous in between. */
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
#include "base/utf8.h"
#include "json/doc.h"
#include "json/value.h"
#include "tests/unit/gen-json.h"

static struct buf out;

static const char *dump(json_doc *doc_take, int indent)
{
	buf_clear(&out);
	json_doc_dump(doc_take, indent, &out);
	json_doc_free(&doc_take);
	assert_null(doc_take);
	return out.p;
}

static json_doc *parse_n(const char *text, size_t n)
{
	struct err err = { 0 };
	json_doc *doc = json_doc_parse((struct str){ text, n }, false, &err);

	if (!doc)
		fail_msg("%.*s: %s", (int)n, text, err.text);
	return doc;
}

static json_doc *parse(const char *text)
{
	return parse_n(text, strlen(text));
}

static void test_build(void **state)
{
	json_doc *o = json_doc_object(), *list = json_doc_list();

	json_doc_add(list, json_doc_int(INT64_MIN));
	json_doc_add(list, json_doc_uint(INT64_MAX));
	json_doc_add(list, json_doc_uint((uint64_t)INT64_MAX + 1));
	json_doc_add(list, json_doc_bool(true));
	json_doc_add(list, json_doc_null());
	json_doc_set(o, "zebra", list);
	json_doc_set(o, "apple", json_doc_string(str_of("a\nb\"\\/")));
	json_doc_set(o, "Zebra", json_doc_object());
	json_doc_set_str(o, str_of("caf\xC3\xA9"), json_doc_bool(false));
	json_doc_set(o, "apple2", json_doc_int(1));
	json_doc_set(o, "apple2", json_doc_int(2));
	assert_int_equal(json_doc_count(o), 5);
	assert_string_equal(dump(o, 0),
		"{\"Zebra\":{},\"apple\":\"a\\nb\\\"\\\\/\",\"apple2\":2,\"caf\xC3\xA9\":false,"
		"\"zebra\":[-9223372036854775808,9223372036854775807,9223372036854775808,true,null]"
		"}");
}

static void test_indent(void **state)
{
	assert_string_equal(dump(parse("{\"b\":[1,{}],\"a\":\"x\"}"), 2),
		"{\n  \"a\": \"x\",\n  \"b\": [\n    1,\n    {}\n  ]\n}");
	assert_string_equal(dump(json_doc_string(str_of("x")), 2), "\"x\"");
}

/* Nothing of it may act on a terminal, all of it must come back. */
static void test_escapes(void **state)
{
	assert_string_equal(
		dump(json_doc_string(str_of("\x1B[2J\x7F")), 0), "\"\\u001B[2J\\u007f\"");
	assert_string_equal(dump(json_doc_string(str_of("\xC2\x80\xC2\x9B\xC2\xAD")), 0),
		"\"\\u0080\\u009b\\u00ad\"");
	assert_string_equal(
		dump(json_doc_string(str_of("\xE2\x80\xA8\xE2\x80\xAE\xEF\xBB\xBF")), 0),
		"\"\\u2028\\u202e\\ufeff\"");
	assert_string_equal(
		dump(json_doc_string(str_of("\xF3\xA0\x81\xA7")), 0), "\"\\udb40\\udc67\"");
	assert_string_equal(dump(json_doc_string((struct str){ "a\0b", 3 }), 0), "\"a\\u0000b\"");
	assert_string_equal(dump(json_doc_string(str_of("\xFF")), 0), "\"\xEF\xBF\xBD\"");
	assert_string_equal(dump(json_doc_string(str_of("e\xCC\x81 \xF0\x9F\x98\x80")), 0),
		"\"e\xCC\x81 \xF0\x9F\x98\x80\"");
	/* The marks that a cell can not hold. */
	assert_string_equal(
		dump(json_doc_string(str_of("e\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81")), 0),
		"\"e\\u0301\\u0301\\u0301\\u0301\\u0301\"");
}

static void test_keys_with_nul(void **state)
{
	json_doc *o = json_doc_object();

	json_doc_set_str(o, (struct str){ "a\0b", 3 }, json_doc_int(1));
	json_doc_set_str(o, (struct str){ NULL, 0 }, json_doc_int(2));
	json_doc_set_str(o, str_of("\xFF"), json_doc_int(3));
	assert_int_equal(json_doc_count(o), 3);
	dump(o, 0);
	/* Before 2.14 the keys of jansson end at a NUL. */
	assert_true(strstr(out.p, "\"a\\u0000b\":1") || strstr(out.p, "\"a\xEF\xBF\xBD\x62\":1"));
	assert_non_null(strstr(out.p, "\"\":2"));
	assert_non_null(strstr(out.p, "\"\xEF\xBF\xBD\":3"));
}

static void test_parse(void **state)
{
	json_doc *o = parse("{\"s\":\"a\\u0000b\",\"n\":-5,\"t\":true,\"f\":false,\"z\":null,"
			    "\"l\":[1,\"two\"],\"s2\":\"x\",\"n\":7,\"r\":1.5}");
	const json_doc *l = json_doc_get(o, "l");
	struct str s;
	int64_t n;
	bool b;

	assert_true(json_doc_is_object(o) && !json_doc_is_list(o));
	assert_true(json_doc_get_string(json_doc_get(o, "s"), &s));
	assert_int_equal(s.n, 3);
	assert_memory_equal(s.p, "a\0b", 3);
	assert_true(json_doc_get_int(json_doc_get(o, "n"), &n));
	assert_int_equal(n, 7); /* the last wins */
	assert_true(json_doc_get_bool(json_doc_get(o, "t"), &b) && b);
	assert_true(json_doc_get_bool(json_doc_get(o, "f"), &b) && !b);
	assert_false(json_doc_get_bool(json_doc_get(o, "z"), &b));
	assert_false(json_doc_get_int(json_doc_get(o, "r"), &n));
	assert_false(json_doc_get_string(json_doc_get(o, "n"), &s));
	assert_null(json_doc_get(o, "absent"));
	assert_false(json_doc_get_string(NULL, &s));
	assert_true(json_doc_is_list(l));
	assert_int_equal(json_doc_count(l), 2);
	assert_true(json_doc_get_string(json_doc_at(l, 1), &s) && str_eqs(s, "two"));
	assert_null(json_doc_at(l, 2));
	json_doc_free(&o);
}

/* What jansson alone refuses. */
static void test_parse_tamed(void **state)
{
	struct buf deep = { 0 };
	int i;

	assert_string_equal(
		dump(parse("[\"\\ud800\",\"\\udc00x\",\"\\ud83d\\ude00\",\"\\ud83d\\ud83d\"]"), 0),
		"[\"\xEF\xBF\xBD\",\"\xEF\xBF\xBDx\",\"\xF0\x9F\x98\x80\",\"\xEF\xBF\xBD\xEF\xBF\xBD\"]");
	assert_string_equal(dump(parse("{\"a\\u0000\":\"\\u0000\",\"\\ufffd\":[]}"), 0),
		"{\"a\xEF\xBF\xBD\":\"\\u0000\",\"\xEF\xBF\xBD\":[]}");
	assert_string_equal(
		dump(parse("{\"\\\\u0000\" : \"\\\\ud800\"}"), 0), "{\"\\\\u0000\":\"\\\\ud800\"}");
	assert_string_equal(dump(parse("[9223372036854775807,-9223372036854775808,-0]"), 0),
		"[9223372036854775807,-9223372036854775808,-0]");
	buf_addc(&deep, '[');
	for (i = 0; i < 400; i++)
		buf_addc(&deep, '9');
	buf_addc(&deep, ']');
	dump(parse(deep.p), 0);
	assert_string_equal(out.p, deep.p);
	buf_clear(&deep);
	for (i = 0; i < 512; i++)
		buf_addc(&deep, i < 256 ? '[' : ']');
	dump(parse(deep.p), 0);
	assert_string_equal(out.p, deep.p);
	buf_release(&deep);
}

/* Numbers come out digit for digit, whatever a double or 64 bits make of them. */
static void test_numbers(void **state)
{
	static const char text[] =
		"[12345678901234567890,-9223372036854775809,18446744073709551616,0.1,1.10,-0.0,"
		"100000000000000000000001,1e400,-1e400,1e-400,1E308,6.02214076e+23,0.30000000000000004,"
		"1.0,-7,{\"n\":123456789.123456789}]";
	json_doc *doc = parse(text);
	struct str s;
	int64_t n;

	assert_false(json_doc_get_string(json_doc_at(doc, 0), &s));
	assert_false(json_doc_get_int(json_doc_at(doc, 0), &n));
	assert_true(json_doc_get_int(json_doc_at(doc, 14), &n));
	assert_int_equal(n, -7);
	assert_string_equal(dump(doc, 0), text);
	assert_string_equal(dump(parse("{ \"a\" : 1.50 }"), 1), "{\n \"a\": 1.50\n}");
}

static bool note_key(struct str key, const json_doc *value, void *arg)
{
	struct buf *keys = arg;

	(void)value;
	buf_addstr(keys, key);
	buf_addc(keys, '|');
	return true;
}

/* What stands in for such a number inside can be written as a string, too. */
static void test_marks(void **state)
{
	static const char text[] = "{\"\\u00011\":\"\\u00012.50\",\"\\u0001\\u0001\":\"\\u0001\","
				   "\"a\":\"x\\u0001\",\"b\":\"\\u0001\\u00013\",\"c\":\"\\\"\\u00014\"}";
	struct buf keys = { 0 };
	json_doc *doc = parse(text);
	struct str s;

	assert_true(json_doc_get_string(json_doc_get(doc, "b"), &s));
	assert_true(str_eq(s, (struct str){ "\1\1" "3", 3 }));
	json_doc_each(doc, note_key, &keys);
	assert_string_equal(keys.p, "\1\1|\1" "1|a|b|c|");
	dump(doc, 0);
	doc = parse_n(out.p, out.n);
	assert_true(json_doc_get_string(json_doc_get(doc, "c"), &s));
	assert_true(str_eq(s, (struct str){ "\"\1" "4", 3 }));
	assert_int_equal(json_doc_count(doc), 5);
	json_doc_free(&doc);
	assert_string_equal(dump(json_doc_string((struct str){ "\1" "5", 2 }), 0), "\"\\u00015\"");
	buf_release(&keys);
}

static void check_damage(const char *text, bool comments, const char *want, uint64_t offset)
{
	struct err err = { 0 };

	assert_null(json_doc_parse(str_of(text), comments, &err));
	assert_int_equal(err.code, ERR_CORRUPT);
	assert_string_equal(err.text, want);
	assert_int_equal(err.offset, offset);
	assert_null(json_doc_parse(str_of(text), comments, NULL));
}

static void test_damage(void **state)
{
	check_damage("", false, "line 1, column 1: there is no JSON value", 0);
	check_damage("{\n \"caf\xC3\xA9\": x}", false, "line 2, column 10: expected a value", 12);
	check_damage("{\"a\":1} 2", false, "line 1, column 9: expected the end", 8);
	check_damage("[1,", false, "line 1, column 4: expected a value", 3);
	check_damage("# no\n[1]", false, "line 1, column 1: expected a value", 0);
	check_damage("# yes\n  # too\n[1,\n]", true, "line 4, column 1: expected a value", 18);
	check_damage("#\n", true, "line 2, column 1: there is no JSON value", 2);
	check_damage("[1, # not at the start\n]", true, "line 1, column 5: expected a value", 4);
}

static void test_comments(void **state)
{
	static const char text[] = "# a \"comment\nwith more\"\n";
	static const char good[] = "# one\n\t # two {\n{\"a\": \"# three\",\n#}\n\"b\":2}\n#";
	struct err err = { 0 };
	json_doc *doc;

	assert_null(json_doc_parse(str_of(text), true, &err));
	doc = json_doc_parse(str_of(good), true, NULL);
	assert_non_null(doc);
	assert_string_equal(dump(doc, 0), "{\"a\":\"# three\",\"b\":2}");
}

static bool collect(struct str key, const json_doc *value, void *arg)
{
	struct buf *b = arg;
	int64_t n;

	assert_true(json_doc_get_int(value, &n));
	buf_addstr(b, key);
	buf_printf(b, "%d,", (int)n);
	return n != 3;
}

static void test_each(void **state)
{
	json_doc *o = parse("{\"b\":2,\"a\":1,\"ab\":9,\"c\":3,\"d\":4,\"B\":0}");
	struct buf b = { 0 };

	json_doc_each(o, collect, &b);
	assert_string_equal(b.p, "B0,a1,ab9,b2,c3,");
	json_doc_free(&o);
	o = json_doc_object();
	json_doc_each(o, collect, &b);
	json_doc_free(&o);
	buf_release(&b);
}

/* Any bytes as a string: the dump is JSON, safe, and decodes to the same text. */
static void test_strings_survive(void **state)
{
	struct buf in = { 0 }, want = { 0 }, got = { 0 }, safe = { 0 };
	int round;

	for (round = 0; round < 20000; round++) {
		uint32_t parts, cp;
		struct str raw;
		char bytes[4];
		size_t i;

		gen_seed((uint64_t)round + 1);
		buf_clear(&in);
		for (parts = gen_rnd(12); parts; parts--) {
			cp = gen_rnd(gen_rnd(2) ? 0x300 : 0x110000);
			if (gen_rnd(4) == 0)
				cp = 0x2000 + gen_rnd(0x70);
			if (gen_rnd(8) == 0 || (cp >= 0xD800 && cp <= 0xDFFF))
				buf_addc(&in, (char)gen_rnd(256));
			else
				buf_add(&in, bytes, utf8_encode(cp, bytes));
		}
		buf_clear(&want);
		for (i = 0; i < in.n;) {
			i += utf8_decode(in.p + i, in.n - i, &cp);
			buf_add(&want, bytes, utf8_encode(cp == UTF8_BAD ? 0xFFFD : cp, bytes));
		}
		dump(json_doc_string((struct str){ in.p, in.n }), 0);
		raw = (struct str){ out.p, out.n };
		buf_clear(&got);
		assert_int_equal(json_string(raw, &got, SIZE_MAX), raw.n);
		assert_int_equal(got.n, want.n);
		assert_memory_equal(got.p ? got.p : "", want.p ? want.p : "", want.n);
		buf_clear(&safe);
		text_safe(&safe, out.p, out.n, 0);
		assert_string_equal(safe.p, out.p);
	}
	buf_release(&in);
	buf_release(&want);
	buf_release(&got);
	buf_release(&safe);
}

/* What the scanner accepts is a document, what it refuses is none; a dump is read back the same. */
static void test_agrees_with_scanner(void **state)
{
	struct buf line = { 0 }, first = { 0 };
	size_t docs = 0;
	int round;

	for (round = 0; round < 50000; round++) {
		struct json_scan scan;
		struct err err = { 0 };
		json_doc *doc;
		size_t end;
		bool good;

		gen_seed((uint64_t)round + 1);
		buf_clear(&line);
		gen_line(&line);
		if (round % 2)
			gen_mutate(&line);
		if (line.n == 0)
			continue;
		good = json_scan_value(line.p, line.n, &scan) == JSON_OK;
		for (end = scan.end; good && end < line.n; end++)
			good = strchr(" \t\r\n", line.p[end]) && line.p[end];
		doc = json_doc_parse((struct str){ line.p, line.n }, false, &err);
		if (good != (doc != NULL))
			fail_msg("%.*s: %s", (int)line.n, line.p, doc ? "accepted" : err.text);
		if (!doc)
			continue;
		docs++;
		dump(doc, 0);
		buf_clear(&first);
		buf_add(&first, out.p, out.n);
		dump(parse_n(first.p, first.n), 0);
		assert_string_equal(out.p, first.p);
	}
	assert_true(docs > 25000);
	buf_release(&line);
	buf_release(&first);
}

static int release(void **state)
{
	buf_release(&out);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build),
		cmocka_unit_test(test_indent),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_keys_with_nul),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_tamed),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_comments),
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_strings_survive),
		cmocka_unit_test(test_agrees_with_scanner),
	};

	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, release);
}
