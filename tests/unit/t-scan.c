/* The scanner: its verdicts, its fields, and that its two versions agree on anything. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "json/scan.h"
#include "tests/unit/gen-json.h"

static const char *const keys[] = { "id", "parentId", "role", "content", "caf\xC3\xA9", "" };
enum { NKEYS = sizeof(keys) / sizeof(keys[0]) };

/* Both scanners on a copy that ends where the allocation does, so that a sanitizer sees any step beyond. */
static enum json_status scan_n(const char *text, size_t n, struct json_scan *out)
{
	char *p = malloc(n ? n : 1);
	struct json_scan other;
	enum json_status status, other_status;
	size_t i;

	assert_non_null(p);
	memcpy(p, text, n);
	status = json_scan(p, n, keys, NKEYS, out);
	other_status = json_scan_bytewise(p, n, keys, NKEYS, &other);
	free(p);
	assert_int_equal(status, other_status);
	assert_int_equal(out->start, other.start);
	assert_int_equal(out->end, other.end);
	assert_int_equal(out->error_at, other.error_at);
	assert_ptr_equal(out->reason, other.reason);
	for (i = 0; i < NKEYS; i++) {
		const struct json_field *a = &out->field[i], *b = &other.field[i];

		if (a->off != b->off || a->len != b->len || a->type != b->type ||
			a->escaped != b->escaped || a->repeated != b->repeated)
			fail_msg("field %zu differs", i);
	}
	return status;
}

static enum json_status scan(const char *text, struct json_scan *out)
{
	return scan_n(text, strlen(text), out);
}

static void check(const char *text, enum json_status want, size_t at, const char *reason)
{
	struct json_scan s;
	enum json_status status = scan(text, &s);

	if (status != want)
		fail_msg("%s: status %d, not %d", text, status, want);
	if (want == JSON_OK) {
		assert_int_equal(s.end, at);
		assert_null(s.reason);
	} else if (want != JSON_END) {
		if (s.error_at != at)
			fail_msg("%s: error at %zu, not %zu", text, s.error_at, at);
		assert_string_equal(s.reason, reason);
	}
}

static void ok(const char *text)
{
	check(text, JSON_OK, strlen(text), NULL);
}

static void bad(const char *text, size_t at, const char *reason)
{
	check(text, JSON_BAD, at, reason);
}

static void test_accepts(void **state)
{
	ok("{}");
	ok(" \t\r\n{ }");
	ok("{\"a\":[]}");
	ok("{\"a\":[1,2,[],{}],\"b\":{\"c\":null}}");
	ok("{ \"a\" : [ 1 , 2 ] , \"b\" : { \"c\" : true } }");
	ok("{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\"}");
	ok("{\"a\":\"\\ud800\"}"); /* a lone surrogate escape is legal */
	ok("{\"a\":\"\\u0000\"}");
	ok("{\"a\":\"\x7F caf\xC3\xA9 \xE6\xBC\xA2 \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF\"}");
	ok("{\"a\":[0,-0,1,-1,10,1.5,-0.25,1e5,1E+5,1e-5,0e0,1.0e10]}");
	ok("{\"a\":123456789012345678901234567890123456789012345678901234567890e99999}");
	ok("{\"a\":1,\"a\":2}");
	check("{\"a\":1}{\"b\":2}", JSON_OK, 7, NULL);
	check("{}x", JSON_OK, 2, NULL);
	check("", JSON_END, 0, NULL);
	check(" \t\r\n  \n ", JSON_END, 0, NULL);
	check("                                ", JSON_END, 0, NULL);
}

static void test_refuses(void **state)
{
	bad("x", 0, "expected an object");
	bad(" []", 1, "expected an object");
	bad("\"a\"", 0, "expected an object");
	bad("\f{}", 0, "expected an object");
	bad("\xEF\xBB\xBF{}", 0, "expected an object");
	bad("{a:1}", 1, "expected a key");
	bad("{,}", 1, "expected a key");
	bad("{\"a\":1,}", 7, "expected a key");
	bad("{1:2}", 1, "expected a key");
	bad("{\"a\" 1}", 5, "expected ':'");
	bad("{\"a\"}", 4, "expected ':'");
	bad("{\"a\":}", 5, "expected a value");
	bad("{\"a\":,", 5, "expected a value");
	bad("{\"a\":[,1]}", 6, "expected a value");
	bad("{\"a\":[1,]}", 8, "expected a value");
	bad("{\"a\":tru}", 8, "expected a value");
	bad("{\"a\":True}", 5, "expected a value");
	bad("{\"a\":nul1}", 8, "expected a value");
	bad("{\"a\":NaN}", 5, "expected a value");
	bad("{\"a\":'b'}", 5, "expected a value");
	bad("{\"a\":+1}", 5, "expected a value");
	bad("{\"a\":.5}", 5, "expected a value");
	bad("{\"a\":-}", 6, "expected a digit");
	bad("{\"a\":-x}", 6, "expected a digit");
	bad("{\"a\":1.}", 7, "expected a digit");
	bad("{\"a\":1e}", 7, "expected a digit");
	bad("{\"a\":1e+}", 8, "expected a digit");
	bad("{\"a\":01}", 6, "expected ',' or '}'");
	bad("{\"a\":-01}", 7, "expected ',' or '}'");
	bad("{\"a\":1 2}", 7, "expected ',' or '}'");
	bad("{\"a\":truex}", 9, "expected ',' or '}'");
	bad("{\"a\":[1}", 7, "expected ',' or ']'");
	bad("{\"a\":1]", 6, "expected ',' or '}'");
	bad("{\"a\":\"\\x\"}", 7, "unknown escape");
	bad("{\"a\":\"\\U0041\"}", 7, "unknown escape");
	bad("{\"a\":\"\\u12g4\"}", 10, "expected a hex digit");
	bad("{\"a\":\"b\nc\"}", 7, "control character in a string");
	bad("{\"a\":\"0123456789\x1F\"}", 16, "control character in a string");
	bad("{\"a\":\"\xFF\"}", 6, "invalid UTF-8");
	bad("{\"a\":\"\x80\"}", 6, "invalid UTF-8");
	bad("{\"a\":\"\xC0\x80\"}", 6, "invalid UTF-8");
	bad("{\"a\":\"\xE0\x9F\xBF\"}", 6, "invalid UTF-8");
	bad("{\"a\":\"\xED\xA0\x80\"}", 6, "invalid UTF-8");
	bad("{\"a\":\"\xF0\x8F\xBF\xBF\"}", 6, "invalid UTF-8");
	bad("{\"a\":\"\xF4\x90\x80\x80\"}", 6, "invalid UTF-8");
	bad("{\"a\":\"\xE2\x82\"}", 6, "invalid UTF-8");
	bad("{\"a\":\"\xE2\x82\\n\"}", 6, "invalid UTF-8");
	bad("{\"caf\xE9\":1}", 5, "invalid UTF-8");
	bad("{\"a\":\xC3\xA9}", 5, "expected a value");
}

static void test_nul(void **state)
{
	struct json_scan s;

	assert_int_equal(scan_n("{\"a\":\"b\0c\"}", 11, &s), JSON_BAD);
	assert_int_equal(s.error_at, 7);
	assert_int_equal(scan_n("{\0}", 3, &s), JSON_BAD);
	assert_int_equal(s.error_at, 1);
	assert_int_equal(scan_n("\0", 1, &s), JSON_BAD);
	assert_int_equal(s.error_at, 0);
}

/* Every prefix of an object is short, whatever it ends in, and says so at its end. */
static void test_prefixes(void **state)
{
	static const char text[] =
		" {\"id\":\"a\\u00e9\\n\xC3\xA9\xE6\xBC\xA2\xF0\x9F\x98\x80 long enough for a word\","
		"\"n\":[ -1.5e+10, true,false , null ,[],{}], \"o\" :{\"k\":{\"l\":0}}}";
	struct json_scan s;
	size_t n;

	ok(text);
	for (n = 2; n < strlen(text); n++) {
		if (scan_n(text, n, &s) != JSON_SHORT)
			fail_msg("cut to %zu", n);
		assert_int_equal(s.error_at, n);
		assert_int_equal(s.start, 1);
		assert_non_null(s.reason);
	}
}

/* A long run of plain bytes with one special byte at every place of it. */
static void test_every_offset(void **state)
{
	static const struct {
		const char *bytes;
		enum json_status status;
	} specials[] = {
		{ "\x01", JSON_BAD },
		{ "\x1F", JSON_BAD },
		{ "\xFF", JSON_BAD },
		{ "\x80", JSON_BAD },
		{ "\xA0", JSON_BAD },
		{ "\xC3\xA9", JSON_OK },
		{ "\xE6\xBC\xA2", JSON_OK },
		{ "\xE0\xA0\x80", JSON_OK },
		{ "\xED\x9F\xBF", JSON_OK },
		{ "\xF0\x9F\x98\x80", JSON_OK },
		{ "\\n", JSON_OK },
		{ "\\u00e9", JSON_OK },
		{ "\\q", JSON_BAD },
		{ "\x20\x21\x23\x5B\x5D\x7F", JSON_OK },
		/* Sequences in a row, with one among them that is none. */
		{ "\xE6\xBC\xA2\xED\x9F\xBF\xE0\xA0\x80\xE6\xBC\xA2\xE6\xBC\xA2", JSON_OK },
		{ "\xE6\xBC\xA2\xED\xA0\x80\xE6\xBC\xA2\xE6\xBC\xA2", JSON_BAD },
		{ "\xED\xA0\x80\xE6\xBC\xA2\xE6\xBC\xA2\xE6\xBC\xA2", JSON_BAD },
		{ "\xE0\x9F\xBF\xE6\xBC\xA2\xE6\xBC\xA2\xE6\xBC\xA2", JSON_BAD },
		{ "\xE6\xBC\xA2\xE0\x9F\xBF\xE6\xBC\xA2\xE6\xBC\xA2", JSON_BAD },
		{ "\xE6\xBC\xA2\xE6\xBC\xE6\xBC\xA2\xE6\xBC\xA2", JSON_BAD },
		{ "\xF1\xBC\xA2\xE6\xBC\xA2\xE6\xBC\xA2", JSON_BAD },
	};
	char text[128];
	size_t i, at;

	for (i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
		for (at = 0; at <= 40; at++) {
			struct json_scan s;
			int n = snprintf(text, sizeof(text), "{\"content\":\"%.*s%s%.*s\"}",
				(int)at, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnop",
				specials[i].bytes, (int)(40 - at),
				"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOP");

			assert_int_equal(scan_n(text, (size_t)n, &s), specials[i].status);
			if (specials[i].status == JSON_OK) {
				assert_int_equal(s.field[3].len, n - 12);
				assert_int_equal(s.field[3].escaped, specials[i].bytes[0] == '\\');
			}
		}
	}
}

static void nest(char *text, size_t depth, bool close)
{
	size_t i;

	strcpy(text, "{\"a\":");
	for (i = 1; i < depth; i++)
		strcat(text, i % 2 ? "[" : "{\"k\":");
	strcat(text, close ? "0" : "");
	for (i = depth - 1; close && i > 0; i--)
		strcat(text, i % 2 ? "]" : "}");
	strcat(text, close ? "}" : "");
}

static void test_depth(void **state)
{
	static char text[16384];
	struct json_scan s;

	nest(text, JSON_MAX_DEPTH, true);
	assert_int_equal(scan(text, &s), JSON_OK);
	nest(text, JSON_MAX_DEPTH + 1, true);
	assert_int_equal(scan(text, &s), JSON_BAD);
	assert_string_equal(s.reason, "nested over 256 deep");
	nest(text, JSON_MAX_DEPTH, false);
	assert_int_equal(scan(text, &s), JSON_SHORT);
	nest(text, JSON_MAX_DEPTH + 1, false);
	assert_int_equal(scan(text, &s), JSON_BAD);
	nest(text, 3000, false);
	assert_int_equal(scan(text, &s), JSON_BAD);
}

static void check_field(const char *text, size_t key, enum json_type type, const char *raw,
	bool escaped, bool repeated)
{
	struct json_scan s;
	struct str got;

	assert_int_equal(scan(text, &s), JSON_OK);
	assert_int_equal(s.field[key].type, type);
	assert_int_equal(s.field[key].escaped, escaped);
	assert_int_equal(s.field[key].repeated, repeated);
	got = json_raw(text, &s.field[key]);
	if (!str_eqs(got, raw))
		fail_msg("%s: got %.*s", text, (int)got.n, got.p);
}

static void test_fields(void **state)
{
	const char *text =
		" {\"role\":null,\"content\":\"a\\nb\", \"id\" : 12.5 ,\"x\":{\"id\":7}}";
	struct json_scan s;

	check_field(text, 0, JSON_NUMBER, "12.5", false, false);
	check_field(text, 2, JSON_NULL, "null", false, false);
	check_field(text, 3, JSON_STRING, "\"a\\nb\"", true, false);
	assert_int_equal(scan(text, &s), JSON_OK);
	assert_int_equal(s.field[1].type, JSON_NONE);
	assert_int_equal(s.field[1].len, 0);
	check_field("{\"id\":true}", 0, JSON_TRUE, "true", false, false);
	check_field("{\"id\":false}", 0, JSON_FALSE, "false", false, false);
	check_field("{\"id\":{}}", 0, JSON_OBJECT, "{}", false, false);
	check_field("{\"id\":[ ]}", 0, JSON_LIST, "[ ]", false, false);
	check_field("{\"id\":[{\"id\":\"\\n\"}, 2 ] }", 0, JSON_LIST, "[{\"id\":\"\\n\"}, 2 ]",
		false, false);
	check_field("{\"id\":{\"role\":\"x\",\"id\":[]}}", 0, JSON_OBJECT,
		"{\"role\":\"x\",\"id\":[]}", false, false);
	/* Prefixes and extensions of a key are other keys. */
	check_field("{\"i\":1,\"idx\":2,\"ID\":3,\"id\":4}", 0, JSON_NUMBER, "4", false, false);
	check_field("{\"\":5}", 5, JSON_NUMBER, "5", false, false);
}

static void test_keys(void **state)
{
	check_field("{\"caf\xC3\xA9\":1}", 4, JSON_NUMBER, "1", false, false);
	check_field("{\"\\u0069d\":1}", 0, JSON_NUMBER, "1", false, false);
	check_field("{\"\\u0069\\u0064\":\"x\"}", 0, JSON_STRING, "\"x\"", false, false);
	check_field("{\"caf\\u00e9\":1}", 4, JSON_NUMBER, "1", false, false);
	check_field("{\"id\":1,\"id\":2}", 0, JSON_NUMBER, "2", false, true);
	check_field("{\"id\":1,\"\\u0069d\":\"b\"}", 0, JSON_STRING, "\"b\"", false, true);
	check_field("{\"id\":\"a\\n\",\"id\":\"b\",\"id\":\"c\"}", 0, JSON_STRING, "\"c\"", false,
		true);
	/* A NUL is a character, not the end of the key. */
	check_field("{\"id\\u0000\":1,\"id\":2}", 0, JSON_NUMBER, "2", false, false);
	check_field("{\"\\u0000\":1,\"\":2}", 5, JSON_NUMBER, "2", false, false);
}

/* What stands whole before the end of a torn object is reported. */
static void test_fields_of_short(void **state)
{
	const char *text = "{\"id\":\"x\",\"role\":\"y\",\"content\":\"z";
	struct json_scan s;

	assert_int_equal(scan(text, &s), JSON_SHORT);
	assert_true(str_eqs(json_raw(text, &s.field[0]), "\"x\""));
	assert_true(str_eqs(json_raw(text, &s.field[2]), "\"y\""));
	assert_int_equal(s.field[3].type, JSON_NONE);
}

static void test_no_keys(void **state)
{
	struct json_scan s;

	assert_int_equal(json_scan("{\"id\":1}", 8, NULL, 0, &s), JSON_OK);
	assert_int_equal(s.end, 8);
}

static void test_value(void **state)
{
	static const char *const good[] = { "1", "-0", "12.5e3", "\"a\"", "true", "null", "[]",
		"[1,{\"a\":[]}]", "{}", "  [ ]" };
	static const char *const cut[] = { "-", "1.", "1e", "1e-", "\"a", "tru", "[", "[1", "[1,",
		"{" };
	struct json_scan s;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(json_scan_value(good[i], strlen(good[i]), &s), JSON_OK);
		assert_int_equal(s.end, strlen(good[i]));
	}
	for (i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		assert_int_equal(json_scan_value(cut[i], strlen(cut[i]), &s), JSON_SHORT);
		assert_int_equal(s.error_at, strlen(cut[i]));
	}
	assert_int_equal(json_scan_value("1 2", 3, &s), JSON_OK);
	assert_int_equal(s.end, 1);
	assert_int_equal(json_scan_value(" ", 1, &s), JSON_END);
	assert_int_equal(json_scan_value("x", 1, &s), JSON_BAD);
}

/* ---- the two scanners on mutated lines ---- */

static uint64_t round_seed;

static int tell_seed(void **state)
{
	if (round_seed)
		print_message("repeat with SEED=%llu\n", (unsigned long long)round_seed);
	return 0;
}

static void test_differential(void **state)
{
	const char *given = getenv("SEED");
	size_t verdicts[4] = { 0 };
	struct buf b = { 0 };
	struct json_scan s;
	int round, i;

	for (round = 0; round < 300000; round++) {
		round_seed = given ? strtoull(given, NULL, 10) : 1 + (uint64_t)round;
		gen_seed(round_seed);
		buf_clear(&b);
		gen_line(&b);
		if (round % 10 == 0) {
			assert_int_equal(scan_n(b.p, b.n, &s), JSON_OK);
			assert_int_equal(s.end, b.n);
		}
		for (i = (int)gen_rnd(3); i >= 0 && b.n; i--)
			gen_mutate(&b);
		verdicts[scan_n(b.p, b.n, &s)]++;
	}
	/* A generator that makes one kind only would show nothing. */
	assert_true(verdicts[JSON_OK] > 10000);
	assert_true(verdicts[JSON_SHORT] > 10000);
	assert_true(verdicts[JSON_BAD] > 100000);
	round_seed = 0;
	buf_release(&b);
}

/* Bytes that are no UTF-8 pass, nothing else does; members are found as ever. */
static void test_lenient(void **state)
{
	static const char *const wanted[] = { "a" };
	static const char bad[] = "{\"x\":\"\xff\xc3\",\"a\":\"\xed\xa0\x80\"} ";
	struct json_scan s;

	(void)state;
	assert_int_equal(json_scan(bad, sizeof(bad) - 1, wanted, 1, &s), JSON_BAD);
	assert_int_equal(json_scan_lenient(bad, sizeof(bad) - 1, wanted, 1, &s), JSON_OK);
	assert_int_equal(s.end, sizeof(bad) - 2);
	assert_int_equal(s.field[0].type, JSON_STRING);
	assert_int_equal(s.field[0].len, 5);
	assert_int_equal(json_scan_lenient("[1]", 3, wanted, 1, &s), JSON_OK);
	assert_int_equal(s.field[0].type, JSON_NONE);
	assert_int_equal(json_scan_lenient("{\"a\":\"\x01\"}", 9, wanted, 1, &s), JSON_BAD);
	assert_int_equal(json_scan_lenient("{\"a\":\xff}", 7, wanted, 1, &s), JSON_BAD);
	assert_false(s.is_deep);
	assert_int_equal(json_scan_lenient("{\"a\":\"\xff", 7, wanted, 1, &s), JSON_SHORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepts),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_every_offset),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_fields_of_short),
		cmocka_unit_test(test_no_keys),
		cmocka_unit_test(test_value),
		cmocka_unit_test(test_lenient),
		cmocka_unit_test_teardown(test_differential, tell_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
