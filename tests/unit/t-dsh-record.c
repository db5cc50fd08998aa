/*
 * t-dsh-record.c - one stored line: what is accepted and what is not, the two
 * ways to read a chunk against each other, names of folders, and closers.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "format/dsh/internal.h"

static struct dsh_rec rec;

static void parse(const char *line)
{
	rec_parse(&rec, line, strlen(line));
}

static void test_states(void **state)
{
	(void)state;
	parse("{\"type\":\"turn/start\",\"seq\":0,\"time\":1,\"data\":{\"turn\":1}}\r");
	assert_int_equal(rec.state, REC_EVENT);
	assert_int_equal(rec.type, T_TURN_START);
	assert_true(rec.has_seq);
	assert_null(event_check(&rec));
	parse("{\"type\":\"turn/start\",\"seq\":1e1,\"time\":1,\"data\":{}}");
	assert_int_equal(rec.seq, 10);
	parse("{\"type\":\"turn/start\",\"seq\":-0,\"time\":1,\"data\":{}}");
	assert_false(rec.has_seq);
	parse("{\"type\":\"orchard/bloom\",\"seq\":1,\"time\":1,\"data\":{}}");
	assert_int_equal(rec.type, T_UNKNOWN);
	parse("[1,2]");
	assert_int_equal(rec.state, REC_VALUE);
	parse("null");
	assert_int_equal(rec.state, REC_VALUE);
	parse("");
	assert_int_equal(rec.state, REC_BAD);
	parse("\xEF\xBB\xBF{}");
	assert_int_equal(rec.state, REC_BAD);
	parse("{} {}");
	assert_int_equal(rec.state, REC_BAD);
	parse("{\"type\":\"todo/write\",\"seq\":1,\"time\":1,\"data\":\"a\xFF\xE2\x82z\"}");
	assert_int_equal(rec.state, REC_EVENT);
	assert_true(rec.is_lossy);
	assert_true(str_eqs(rec_field(&rec, K_DATA), "\"a\xEF\xBF\xBD\xEF\xBF\xBDz\""));
}

static void test_envelope(void **state)
{
	static const char *const wrong[] = {
		"{\"type\":\"turn/end\",\"seq\":1,\"data\":{}}",
		"{\"type\":\"turn/end\",\"seq\":1,\"time\":1}",
		"{\"type\":\"turn/end\",\"seq\":1,\"time\":1.5,\"data\":{}}",
		"{\"type\":\"turn/end\",\"seq\":1,\"time\":1,\"data\":{},\"x\":1}",
		"{\"type\":\"turn/end\",\"seq\":1,\"time\":1,\"data\":{},\"ignorable\":false}",
		"{\"type\":\"turn/end\",\"seq\":1,\"time\":1,\"data\":{},\"seq0\":1}",
		"{\"type\":\"turn/end\",\"seq\":1,\"time\":1,\"data\":{},\"surfaceOp\":\"append\"}",
		"{\"type\":\"turn/end\",\"seq\":1,\"time\":1,\"data\":{},\"sourceEventSeqs\":[0]}",
		"{\"type\":\"assistant/chunk\",\"seq\":1,\"time\":1,\"data\":{},\"surfaceOp\":\"append\"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		parse(wrong[i]);
		if (rec.state != REC_EVENT || !event_check(&rec))
			fail_msg("accepted: %s", wrong[i]);
	}
	parse(" { \"type\" : \"turn/end\", \"seq\":1,\"time\":-1, \"data\":null, \"ignorable\":true } ");
	assert_null(event_check(&rec));
}

#define USER                                                                                        \
	"{\"type\":\"user/message\",\"seq\":9,\"time\":1,\"data\":{\"id\":\"m\",\"role\":\"user\"," \
	"\"content\":[],\"source\":{\"kind\":\"user\"}}"

static void test_sources(void **state)
{
	static const struct {
		const char *list;
		bool parses, holds;
	} cases[] = {
		{ "[1,2,8]", true, true },
		{ "[2,1]", true, true },
		{ "[1,1]", true, false },
		{ "[9]", true, false },
		{ "[]", true, false },
		{ "[[1,3],5]", true, true },
		{ "[[1,3],3]", false, false },
		{ "[[3,1]]", false, false },
		{ "[[1,2,3]]", false, false },
		{ "[\"1\"]", false, false },
		{ "[-0]", false, false },
		{ "[1.0,2e0]", true, true },
		{ "[0,1,2,3,4,5,6,7,8,9]", false, false },
		{ "[[0,9007199254740991]]", false, false },
		{ "7", true, false },
		{ "[0,1,2,3,4,5,6,7,8]", true, true },
		{ "[ 1, 2 ]", true, true },
		{ "[01]", false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[512];

		snprintf(line, sizeof(line),
			USER ",\"sourceEventSeqs\":%s,\"surfaceOp\":\"append\"}", cases[i].list);
		parse(line);
		if ((rec.state == REC_EVENT) != cases[i].parses)
			fail_msg("%s parses: %d", cases[i].list, rec.state);
		if (cases[i].parses && !event_check(&rec) != cases[i].holds)
			fail_msg("%s: %s", cases[i].list, event_check(&rec));
	}
}

/* ---- chunks ---- */

static const char *const chunks[] = {
	"{\"type\":\"assistant/chunk\",\"seq\":7,\"time\":12,\"data\":{\"turn\":1,\"step\":2,\"chunk\":{\"type\":"
	"\"text-delta\",\"index\":0,\"text\":\"a\\n\xC3\xA9\\u00e9\"}}}",
	"{\"type\":\"assistant/chunk\",\"seq\":7,\"time\":12,\"data\":{\"turn\":1,\"step\":2,\"chunk\":{\"type\":"
	"\"tool-call-delta\",\"index\":0,\"id\":\"c\",\"name\":\"n\",\"argumentsDelta\":\"{\"}}}",
	"{\"type\":\"text-chunks\",\"seq0\":5,\"time0\":17,\"data\":{\"turn\":1,\"step\":1,\"index\":1,\"dt\":[7,-7],"
	"\"texts\":[\"one\",\"\",\"three\"]}}",
	"{\"type\":\"reasoning-chunks\",\"seq0\":5,\"time0\":17,\"data\":{\"turn\":1,\"step\":1,\"index\":1,\"dt\":[],"
	"\"texts\":[\"\xE6\x97\xA5\"]}}",
	"{\"type\":\"tool-call-chunks\",\"seq0\":5,\"time0\":17,\"data\":{\"turn\":1,\"step\":1,\"index\":1,\"dt\":[1],"
	"\"id\":\"c2\",\"name\":\"full\",\"args\":[\"{\",\"}\"]}}",
};

/* Where the quick way answers it says what the other one says. */
static bool agree(const char *line, size_t n)
{
	struct dsh_rec quick = { 0 };
	bool taken = quick_parse(&quick, line, n);

	rec_parse(&rec, line, n);
	if (taken) {
		int64_t time = rec.last_time;

		if (rec.state == REC_EVENT)
			assert_true(num_safe(rec_field(&rec, K_TIME), &time));
		if (quick.state != rec.state || quick.type != rec.type || quick.seq != rec.seq ||
			quick.count != rec.count || quick.last_time != time || event_check(&rec))
			fail_msg("differ: %.*s", (int)n, line);
	}
	rec_release(&quick);
	return taken;
}

static void test_quick(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		static const char swap[] = "\"\\,0-9:x]}[{ \x80\xC3\n";
		size_t n = strlen(chunks[i]);
		char line[512];

		strcpy(line, chunks[i]);
		if (!agree(line, n))
			fail_msg("not taken: %s", line);
		for (size_t at = 0; at < n; at++) {
			agree(line, at);
			for (size_t k = 0; k < sizeof(swap) - 1; k++) {
				line[at] = swap[k];
				agree(line, n);
			}
			line[at] = chunks[i][at];
			memmove(line + at, line + at + 1, n - at); /* without it */
			agree(line, n - 1);
			strcpy(line, chunks[i]);
		}
	}
}

static void test_rows(void **state)
{
#define ROW(data) "{\"type\":\"text-chunks\",\"seq0\":1,\"time0\":1,\"data\":{" data "}}"
	static const char *const wrong[] = {
		ROW("\"turn\":1,\"step\":1,\"index\":0,\"dt\":[],\"texts\":[]"),
		ROW("\"turn\":1,\"step\":1,\"index\":0,\"dt\":[1],\"texts\":[\"a\"]"),
		ROW("\"turn\":1,\"step\":1,\"index\":0,\"dt\":[],\"texts\":[1]"),
		ROW("\"turn\":1,\"step\":1,\"index\":0,\"dt\":[1.5],\"texts\":[\"a\",\"b\"]"),
		ROW("\"turn\":1,\"step\":1,\"index\":0,\"dt\":[9007199254740991],\"texts\":[\"a\",\"b\"]"),
		ROW("\"turn\":1,\"step\":1,\"dt\":[],\"texts\":[\"a\"]"),
		ROW("\"turn\":1,\"step\":1,\"index\":\"0\",\"dt\":[],\"texts\":[\"a\"]"),
		ROW("\"turn\":1,\"step\":1,\"index\":0,\"dt\":[],\"args\":[\"a\"]"),
		ROW("\"turn\":1,\"step\":1,\"index\":0,\"dt\":[],\"texts\":[\"a\"],\"id\":\"x\""),
		"{\"type\":\"text-chunks\",\"seq0\":-0,\"time0\":1,\"data\":{\"turn\":1,\"step\":1,\"index\":0,"
		"\"dt\":[],\"texts\":[\"a\"]}}",
		"{\"type\":\"text-chunks\",\"seq0\":1,\"time0\":1,\"x\":1,\"data\":{\"turn\":1,\"step\":1,\"index\":0,"
		"\"dt\":[],\"texts\":[\"a\"]}}",
		"{\"type\":\"text-chunks\",\"seq\":1,\"time\":1,\"data\":{}}",
		"{\"type\":\"text-chunks\",\"seq0\":9007199254740991,\"time0\":1,\"data\":{\"turn\":1,\"step\":1,"
		"\"index\":0,\"dt\":[1],\"texts\":[\"a\",\"b\"]}}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		parse(wrong[i]);
		if (rec.state != REC_BAD)
			fail_msg("accepted: %s", wrong[i]);
	}
	parse(ROW("\"texts\":[\"a\"],\"dt\":[ ],\"index\":0.5,\"step\":1,\"turn\":1"));
	assert_int_equal(rec.state, REC_PACKED);
	assert_int_equal(rec.count, 1);
}

/* ---- names ---- */

static void test_names(void **state)
{
	static const struct {
		const char *id, *name;
	} ids[] = {
		{ "\"a/b\"", "a~002Fb" }, { "\"~\"", "~007E" }, { "\".\"", "~002E" }, { "\"..\"", "~002E~002E" },
		{ "\"...\"", "..." }, { "\"\xE6\x97\xA5\xE6\x9C\xAC \xE8\xAA\x9E\"", "~65E5~672C~0020~8A9E" },
		{ "\"fish\xF0\x9F\x90\x9F\"", "fish~D83D~DC1F" }, { "\"fish\\ud83d\\udc1f\"", "fish~D83D~DC1F" },
		{ "\"lone\\ud800\"", "lone~D800" }, { "\"nul\\u0000tab\\t\"", "nul~0000tab~0009" },
	}, cwds[] = {
		{ "\"/\"", "--root--" }, { "\"/srv/harbour/tides\"", "--srv-harbour-tides--" },
		{ "\"/a b/c\"", "--a~0020b-c--" }, { "\"//double//slash/\"", "--double-slash---" },
		{ "\"/-lead\"", "--lead--" }, { "\"C:\\\\x\\\\y\"", "--C-x-y--" },
	};
	struct buf b = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		buf_clear(&b);
		assert_true(dsh_put_session_name(&b, str_of(ids[i].id)));
		assert_string_equal(b.p, ids[i].name);
	}
	for (size_t i = 0; i < sizeof(cwds) / sizeof(cwds[0]); i++) {
		buf_clear(&b);
		assert_true(dsh_put_project_name(&b, str_of(cwds[i].id)));
		assert_string_equal(b.p, cwds[i].name);
	}
	assert_false(dsh_put_session_name(&b, str_of("\"\"")));
	buf_clear(&b);
	dsh_put_id_of_name(&b, "fish~D83D~DC1F");
	assert_string_equal(b.p, "fish\xF0\x9F\x90\x9F");
	buf_clear(&b);
	dsh_put_id_of_name(&b, "lone~D800");
	assert_string_equal(b.p, "lone~D800");
	buf_clear(&b);
	dsh_put_id_of_name(&b, "bad~00");
	assert_string_equal(b.p, "bad~00");
	buf_release(&b);
}

static int release(void **state)
{
	(void)state;
	rec_release(&rec);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_envelope),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_quick),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
