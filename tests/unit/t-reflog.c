/*
 * t-reflog.c - tip, labels and lost appends: the fixtures' right answers, and
 * reflogs that were written by somebody hostile.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "base/path.h"
#include "base/xalloc.h"
#include "json/doc.h"
#include "log/log.h"
#include "store/store.h"
#include "tests/lib/storeenv.h"

static struct env env;

static int set_up(void **state)
{
	env_make(&env);
	return 0;
}

static int tear_down(void **state)
{
	env_remove(&env);
	return 0;
}

/* ---- the right answers ---- */

static void check_ids(struct work *w, const json_doc *want, const uint32_t *v, uint32_t n)
{
	assert_int_equal(json_doc_count(want), n);
	for (uint32_t i = 0; i < n; i++) {
		struct str id;

		assert_true(json_doc_get_string(json_doc_at(want, i), &id));
		assert_true(str_eqs(id, env_id(w, v[i])));
	}
}

static bool check_label(struct str key, const json_doc *value, void *arg)
{
	struct work *w = arg;
	uint32_t entry = session_find(work_session(w), key);
	const struct label *l;
	struct str text;

	assert_int_not_equal(entry, ENTRY_NONE);
	l = session_label(work_session(w), entry);
	assert_non_null(l);
	assert_true(json_doc_get_string(value, &text));
	assert_true(str_eq(text, l->text));
	return true;
}

static void check_case(const char *name, const json_doc *want)
{
	struct work *w;
	struct session *s;
	struct str tip;
	uint32_t *branch, n = 0;

	print_message("  %s\n", name);
	env_clear(&env);
	env_fixture(&env, name);
	w = env_open(&env, name);
	s = work_session(w);
	if (json_doc_get_string(json_doc_get(want, "tip"), &tip))
		assert_true(str_eqs(tip, env_id(w, s->tip)));
	else
		assert_int_equal(s->tip, ENTRY_NONE);
	branch = s->tip == ENTRY_NONE ? NULL : session_branch(s, s->tip, &n);
	check_ids(w, json_doc_get(want, "branch"), branch, n);
	free(branch);
	assert_int_equal(json_doc_count(json_doc_get(want, "labels")), s->nlabels);
	json_doc_each(json_doc_get(want, "labels"), check_label, w);
	assert_int_equal(json_doc_count(json_doc_get(want, "problems")), s->problems.n);
	work_close(&w);
}

static void fixtures(void **state)
{
	size_t n, ncases = 0;
	char *text = env_expected(&n), **names = env_fixtures();
	struct err err = { 0 };
	json_doc *doc = json_doc_parse((struct str){ text, n }, false, &err);

	assert_non_null(doc);
	for (size_t i = 0; names[i]; i++) {
		const json_doc *want = json_doc_get(doc, names[i]);

		if (!want)
			continue;
		check_case(names[i], want);
		ncases++;
	}
	print_message("%zu fixtures\n", ncases);
	assert_true(ncases >= 30);
	json_doc_free(&doc);
	env_free_names(names);
	free(text);
}

/* ---- made reflogs ---- */

#define FOUR                                                                           \
	"{\"id\":\"a\",\"role\":\"USER\",\"content\":\"one\",\"timestamp\":1}\n"       \
	"{\"id\":\"b\",\"parentId\":\"a\",\"role\":\"ASSISTANT\",\"content\":\"two\"," \
	"\"timestamp\":2}\n"                                                           \
	"{\"id\":\"c\",\"parentId\":\"b\",\"role\":\"USER\",\"content\":\"three\","    \
	"\"timestamp\":3}\n"                                                           \
	"{\"id\":\"d\",\"parentId\":\"a\",\"role\":\"USER\",\"content\":\"four\",\"timestamp\":4}\n"
#define CHECKOUT(tip, entries)                                                                \
	"{\"v\":1,\"op\":\"checkout\",\"tip\":\"" tip "\",\"from\":null,\"entries\":" entries \
	",\"at\":5}\n"
#define APPEND(id)                                           \
	"{\"v\":1,\"op\":\"append\",\"entry\":{\"id\":\"" id \
	"\",\"parentId\":\"a\",\"role\":\"USER\","           \
	"\"content\":\"words of " id "\",\"timestamp\":9},\"at\":9}\n"

static struct work *open_with(const char *session, const char *reflog)
{
	env_clear(&env);
	temp_puts(env_path(&env, "s.jsonl"), session);
	if (reflog)
		temp_puts(env_path(&env, "s.reflog"), reflog);
	return env_open(&env, "s");
}

static const struct tip_case {
	const char *name, *reflog, *tip;
	enum tip_rule rule;
} tip_cases[] = {
	{ "none", NULL, "d", TIP_LAST_ENTRY },
	{ "empty", "", "d", TIP_LAST_ENTRY },
	{ "counts", CHECKOUT("b", "4"), "b", TIP_CHECKOUT },
	{ "more entries than the file: still counts", CHECKOUT("b", "9"), "b", TIP_CHECKOUT },
	{ "stale", CHECKOUT("b", "3"), "d", TIP_LAST_ENTRY },
	{ "the newest stale one hides an older good one", CHECKOUT("b", "4") CHECKOUT("c", "3"),
		"d", TIP_LAST_ENTRY },
	{ "the newest unknown one hides an older good one", CHECKOUT("b", "4") CHECKOUT("zz", "4"),
		"d", TIP_LAST_ENTRY },
	{ "two", CHECKOUT("b", "4") CHECKOUT("c", "4"), "c", TIP_CHECKOUT },
	{ "no newline at the end",
		"{\"v\":1,\"op\":\"checkout\",\"tip\":\"b\",\"entries\":4,\"at\":5}", "b",
		TIP_CHECKOUT },
	{ "torn", CHECKOUT("b", "4") "{\"v\":1,\"op\":\"checkout\",\"tip\":\"c", "b",
		TIP_CHECKOUT },
	{ "glued",
		CHECKOUT("b", "4") "{\"v\":1,\"op\":\"checkout\",\"tip\":\"c\",\"entries\":4}{}\n",
		"b", TIP_CHECKOUT },
	{ "bad lines", "x\n[1]\nnull\n{\n" CHECKOUT("b", "4") "\n \r\n}\n\xff\xfe\n", "b",
		TIP_CHECKOUT },
	{ "another version", "{\"v\":2,\"op\":\"checkout\",\"tip\":\"b\",\"entries\":4,\"at\":5}\n",
		"d", TIP_LAST_ENTRY },
	{ "no version", "{\"op\":\"checkout\",\"tip\":\"b\",\"entries\":4,\"at\":5}\n", "d",
		TIP_LAST_ENTRY },
	{ "tip is a number", "{\"v\":1,\"op\":\"checkout\",\"tip\":7,\"entries\":4,\"at\":5}\n",
		"d", TIP_LAST_ENTRY },
	{ "entries is a string", CHECKOUT("b", "\"4\""), "d", TIP_LAST_ENTRY },
	{ "entries is negative", CHECKOUT("b", "-4"), "d", TIP_LAST_ENTRY },
	{ "entries is huge", CHECKOUT("b", "18446744073709551615"), "b", TIP_CHECKOUT },
	{ "entries is too huge", CHECKOUT("b", "18446744073709551616"), "d", TIP_LAST_ENTRY },
	{ "at is missing", "{\"v\":1,\"op\":\"checkout\",\"tip\":\"b\",\"entries\":4}\n", "b",
		TIP_CHECKOUT },
	{ "escaped id", CHECKOUT("\\u0062", "4"), "b", TIP_CHECKOUT },
	{ "repeated key: the last wins",
		"{\"v\":1,\"op\":\"checkout\",\"tip\":\"c\",\"tip\":\"b\",\"entries\":4}\n", "b",
		TIP_CHECKOUT },
	{ "an append of something that is no entry",
		"{\"v\":1,\"op\":\"append\",\"entry\":{\"id\":\"x\"},\"at\":1}\n", "d",
		TIP_LAST_ENTRY },
};

static void tips(void **state)
{
	for (size_t i = 0; i < sizeof(tip_cases) / sizeof(tip_cases[0]); i++) {
		const struct tip_case *c = &tip_cases[i];
		struct work *w = open_with(FOUR, c->reflog);
		struct session *s = work_session(w);

		if (strcmp(env_id(w, s->tip), c->tip) != 0 || s->tip_rule != c->rule ||
			s->problems.n != 0)
			fail_msg("%s: tip %s rule %d, %zu problems", c->name, env_id(w, s->tip),
				s->tip_rule, s->problems.n);
		work_close(&w);
	}
	print_message("%zu reflogs\n", sizeof(tip_cases) / sizeof(tip_cases[0]));
}

/* Where the state folder keeps the reflog of a session with a short path. */
static char *state_path(const char *session)
{
	char *name = path_escape(session, strlen(session)), *path;

	path = xasprintf("%s/state/bough/%s.reflog", env.dir, name);
	free(name);
	return path;
}

static void both_places(void **state)
{
	struct work *w = open_with(FOUR, CHECKOUT("b", "4"));
	char *dir = xasprintf("%s/state/bough", env.dir),
	     *path = state_path(env_path(&env, "s.jsonl"));
	bool elsewhere;
	size_t n;

	assert_string_equal(work_state_path(w, &elsewhere), env_path(&env, "s.reflog"));
	assert_false(elsewhere);
	work_close(&w);

	/* lines of both, by time; each file keeps its order */
	assert_int_equal(log_mkdirs(dir, NULL), 0);
	temp_puts(path, "{\"v\":1,\"op\":\"checkout\",\"tip\":\"c\",\"entries\":4,\"at\":4}\n"
			"{\"v\":1,\"op\":\"label\",\"entry\":\"a\",\"label\":\"l\",\"at\":6}\n");
	w = env_open(&env, "s");
	assert_string_equal(env_id(w, work_session(w)->tip), "b");
	assert_non_null(session_label(work_session(w), 0));
	work_reflog(w, &n);
	assert_int_equal(n, 3);
	assert_string_equal(work_state_path(w, &elsewhere), env_path(&env, "s.reflog"));
	work_close(&w);

	temp_puts(path, "{\"v\":1,\"op\":\"checkout\",\"tip\":\"c\",\"entries\":4,\"at\":6}\n");
	w = env_open(&env, "s");
	assert_string_equal(env_id(w, work_session(w)->tip), "c");
	work_close(&w);

	assert_int_equal(log_unlink(env_path(&env, "s.reflog"), NULL), 0);
	w = env_open(&env, "s");
	assert_string_equal(env_id(w, work_session(w)->tip), "c");
	assert_string_equal(work_state_path(w, &elsewhere), path);
	work_close(&w);
	free(path);
	free(dir);
}

/* ---- lost appends ---- */

static const struct lost_case {
	const char *name, *session, *reflog;
	size_t nlost;
	const char *first;
} lost_cases[] = {
	{ "one", FOUR, APPEND("x"), 1, "x" },
	{ "two, in order", FOUR, APPEND("x") APPEND("y"), 2, "x" },
	{ "the newest is there: nothing is lost", FOUR, APPEND("x") APPEND("d"), 0, NULL },
	{ "only those behind one that is there", FOUR, APPEND("x") APPEND("d") APPEND("y"), 1,
		"y" },
	{ "the same twice is one", FOUR, APPEND("x") APPEND("y") APPEND("x"), 2, "x" },
	{ "labels between do not matter", FOUR,
		APPEND("x") "{\"v\":1,\"op\":\"label\",\"entry\":\"a\",\"label\":\"l\",\"at\":1}\n",
		1, "x" },
	{ "a torn file: the tail may be it", FOUR "{\"id\":\"x\",\"par", APPEND("x"), 0, NULL },
	{ "a torn line of the reflog", FOUR,
		APPEND("x") "{\"v\":1,\"op\":\"append\",\"entry\":{\"id\":\"y", 1, "x" },
	{ "of an empty file", "", APPEND("x"), 1, "x" },
};

static void lost(void **state)
{
	for (size_t i = 0; i < sizeof(lost_cases) / sizeof(lost_cases[0]); i++) {
		const struct lost_case *c = &lost_cases[i];
		struct work *w = open_with(c->session, c->reflog);
		struct session *s = work_session(w);
		const char *first = NULL;

		for (size_t k = 0; k < s->problems.n && !first; k++)
			if (strcmp(s->problems.v[k].kind, "lost-append") == 0) {
				first = s->problems.v[k].message;
				assert_int_equal(s->problems.v[k].line, 0);
				assert_int_equal(s->problems.v[k].offset, strlen(c->session));
			}
		if (work_nlost(w) != c->nlost || env_problems(w, "lost-append") != c->nlost)
			fail_msg("%s: %zu lost, %zu problems", c->name, work_nlost(w),
				env_problems(w, "lost-append"));
		if (c->first) {
			char words[64];

			snprintf(words, sizeof(words), "words of %s", c->first);
			assert_non_null(first);
			assert_non_null(strstr(first, words));
		}
		work_close(&w);
	}
}

static void listing(void **state)
{
	static const char gone[] =
		"{\"v\":1,\"op\":\"label\",\"entry\":\"zz\",\"label\":\"gone\",\"at\":6}\n";
	char *text = xasprintf("%s%s%s{\"v\":1,\"op\":\"later\",\"at\":7}\n", CHECKOUT("b", "4"),
		gone, APPEND("x"));
	struct work *w = open_with(FOUR, text);
	size_t n;
	const struct reflog_line *l = work_reflog(w, &n);

	assert_int_equal(n, 4);
	assert_int_equal(l[0].op, REFLOG_CHECKOUT);
	assert_true(str_eqs(l[0].entry, "b") && l[0].from.p == NULL && l[0].entries == 4 &&
		    l[0].at == 5);
	assert_true(l[0].is_known && l[0].is_current && !l[0].is_lost);
	assert_int_equal(l[1].op, REFLOG_LABEL);
	assert_true(str_eqs(l[1].from, "gone") && !l[1].is_known);
	assert_int_equal(l[2].op, REFLOG_APPEND);
	assert_true(str_eqs(l[2].entry, "x") && l[2].is_lost && !l[2].is_known);
	assert_int_equal(l[3].op, REFLOG_OTHER);
	free(text);
	work_close(&w);
}

/* A line longer than any buffer, thousands of lines, a folder in the place of the file. */
static void big_and_odd(void **state)
{
	struct buf b = { 0 };
	struct work *w;

	buf_adds(&b, CHECKOUT("c", "4"));
	buf_adds(&b, "{\"v\":1,\"op\":\"label\",\"entry\":\"b\",\"label\":\"");
	for (int i = 0; i < 3000000; i++)
		buf_addc(&b, 'x');
	buf_adds(&b, "\",\"at\":1}\n");
	for (int i = 0; i < 20000; i++)
		buf_printf(&b,
			"{\"v\":1,\"op\":\"label\",\"entry\":\"a\",\"label\":\"n%d\",\"at\":%d}\n",
			i, i);
	w = open_with(FOUR, b.p);
	assert_string_equal(env_id(w, work_session(w)->tip), "c");
	assert_true(str_eqs(session_label(work_session(w), 0)->text, "n19999"));
	assert_int_equal(session_label(work_session(w), 1)->text.n, 3000000);
	work_close(&w);
	buf_release(&b);

	/* over the limit: the newest lines count, and it is said */
	buf_adds(&b, CHECKOUT("c", "4"));
	while (b.n < 65u << 20)
		buf_adds(&b, "                                                                \n");
	buf_adds(&b, CHECKOUT("b", "4"));
	w = open_with(FOUR, b.p);
	assert_string_equal(env_id(w, work_session(w)->tip), "b");
	assert_int_equal(env_problems(w, "reflog-long"), 1);
	work_close(&w);
	buf_release(&b);

	env_clear(&env);
	temp_puts(env_path(&env, "s.jsonl"), FOUR);
	mkdir(env_path(&env, "s.reflog"), 0700);
	w = env_open(&env, "s");
	assert_string_equal(env_id(w, work_session(w)->tip), "d");
	assert_int_equal(env_problems(w, "reflog-unreadable"), 1);
	work_close(&w);
}

/* Looking at a session leaves no trace. */
static void reading_writes_nothing(void **state)
{
	struct work *w = open_with(FOUR "{\"id\":\"t", APPEND("x") "{\"torn");
	size_t n, m;
	char *before = env_dump(env.dir, &n), *after;
	enum work_change change;
	char said[200];
	struct err err = { 0 };

	work_reflog(w, &m);
	assert_int_equal(work_refresh(w, &change, said, &err), 0);
	assert_int_equal(change, WORK_SAME);
	assert_string_equal(said, "");
	work_close(&w);
	after = env_dump(env.dir, &m);
	assert_int_equal(n, m);
	assert_memory_equal(before, after, n);
	free(before);
	free(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(fixtures, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tips, set_up, tear_down),
		cmocka_unit_test_setup_teardown(both_places, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(listing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(big_and_odd, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reading_writes_nothing, set_up, tear_down),
	};

	env_fix_clock();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
