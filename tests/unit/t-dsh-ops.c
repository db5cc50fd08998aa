/*
 * t-dsh-ops.c - writing dsh logs beside others: locks, logs that grow at the
 * worst moment, what is refused and with which words; where forks are cut, what
 * their header takes over, and the dialect of their records.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "format/dsh/dsh.h"
#include "log/log.h"
#include "log/sys.h"
#include "store/store.h"
#include "tests/lib/dshenv.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/storeenv.h"

#define OPEN_LOG DSH_HEADER DSH_TURN_1 DSH_TURN_2 DSH_TURN_3
#define WHOLE    DSH_HEADER DSH_TURN_1 DSH_TURN_2
#define LATE     "{\"type\":\"step/end\",\"seq\":8,\"time\":18,\"data\":{\"turn\":3,\"step\":1}}\n"

static struct env env;
static const char *path;

static int setup(void **state)
{
	(void)state;
	env_fix_clock();
	env_make(&env);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	env_remove(&env);
	return 0;
}

static struct work *open_text(const char *text)
{
	struct work *w = NULL;
	struct err err = { 0 };

	env_clear(&env);
	mkdir(env_path(&env, "_no-cwd"), 0700);
	mkdir(env_path(&env, "_no-cwd/s"), 0700);
	path = env_path(&env, "_no-cwd/s/session.jsonl");
	temp_puts(path, text);
	env_ok(work_open(&w, path, &err), &err);
	env_ok(work_load(w, &err), &err);
	return w;
}

static int do_repair(struct work *w, struct done *d, struct err *err)
{
	work_force(w, true);
	return work_repair(w, false, d, err);
}

static int do_fork(struct work *w, struct done *d, struct err *err)
{
	struct fork_spec spec = { .has_event = true, .event = 1 };

	return work_fork_new(w, &spec, false, d, err);
}

static int do_convert(struct work *w, struct done *d, struct err *err)
{
	return work_convert(w, true, false, d, err);
}

struct op {
	const char *text;
	int (*run)(struct work *w, struct done *d, struct err *err);
};
static const struct op ops[] = { { OPEN_LOG, do_repair }, { OPEN_LOG, do_fork },
	{ WHOLE, do_convert } };
enum { NOPS = sizeof(ops) / sizeof(ops[0]) };

/* What they come to; the log must hold `want` then, and nothing lie beside it but that. */
static void run_refused(const struct op *op, struct work *w, int code, const char *want)
{
	struct done d = { 0 };
	struct err err = { 0 };

	assert_int_equal(op->run(w, &d, &err), code);
	assert_int_equal(err.code, code);
	assert_true(temp_is(path, want));
	assert_int_equal(temp_count(env_path(&env, "_no-cwd/s"), "session.jsonl", NULL), 1);
	assert_int_equal(
		temp_count(env_path(&env, "_no-cwd"), "session-", NULL) > 0 && d.path[0] != '\0',
		0);
	work_close(&w);
	done_release(&d);
}

static void test_locked(void **state)
{
	(void)state;
	for (int i = 0; i < NOPS; i++) {
		struct work *w = open_text(ops[i].text);
		struct log *held = NULL;
		struct err err = { 0 };

		env_ok(log_open(&held, path, 0, &err), &err);
		run_refused(&ops[i], w, ERR_LOCKED, ops[i].text);
		log_close(&held);
	}
}

/* Later harnesses lock a file of its own. */
static void test_locked_beside(void **state)
{
	(void)state;
	for (int i = 0; i < NOPS; i++) {
		struct work *w = open_text(ops[i].text);
		const char *beside = env_path(&env, "_no-cwd/s/session.lock");
		struct log *held = NULL;
		struct done d = { 0 };
		struct err err = { 0 };

		temp_puts(beside, "");
		env_ok(log_open(&held, beside, 0, &err), &err);
		run_refused(&ops[i], w, ERR_LOCKED, ops[i].text);
		log_close(&held);
		env_ok(work_open(&w, path, &err), &err);
		env_ok(ops[i].run(w, &d, &err), &err);
		assert_true(temp_is(beside, ""));
		work_close(&w);
		done_release(&d);
	}
}

/* Writes a line into the log once, when the n-th call of that name is done. */
struct writer {
	const char *call;
	int nth;
	bool is_due, has_written;
};

static void write_late(const struct fake_event *e, void *arg)
{
	struct writer *wr = arg;

	if (wr->has_written ||
		(!wr->is_due && (strcmp(e->name, wr->call) != 0 || --wr->nth > 0)))
		return;
	wr->is_due = true;
	if (fake_has_lease()) /* his open waits until he is let in */
		return;
	wr->has_written = true;
	temp_adds(path, LATE);
}

static void write_before(unsigned call, const struct fake_event *e, void *arg)
{
	struct writer *wr = arg;

	(void)call;
	if (wr->is_due)
		write_late(e, wr);
}

/* At whichever moment another process writes: its line stays, and ours is not beside it. */
static void test_grows(void **state)
{
	static const char *const calls[] = { "open", "write", "fsync" };
	int nrefused = 0;

	(void)state;
	fake_install();
	for (int i = 0; i < 3 * NOPS * 6; i++) {
		const struct op *op = &ops[i / 18];
		struct writer wr = { .call = calls[i / 6 % 3], .nth = i % 6 + 1 };
		struct work *w = open_text(op->text);
		struct done d = { 0 };
		struct err err = { 0 };
		char *want = xasprintf("%s%s", op->text, LATE), *now;
		int rc, nfolders = temp_count(env_path(&env, "_no-cwd"), "", NULL);
		size_t n;

		fake_reset();
		fake_listen(write_late, &wr);
		fake_before(write_before, &wr);
		rc = op->run(w, &d, &err);
		fake_before(NULL, NULL);
		fake_listen(NULL, NULL);
		if (wr.has_written && rc < 0) {
			assert_true(err.code == ERR_CHANGED || err.code == ERR_BROKEN ||
				    err.code == ERR_CORRUPT);
			assert_true(temp_is(path, want) || err.code == ERR_BROKEN);
			/* no folder of a fork that did not come about */
			assert_int_equal(temp_count(env_path(&env, "_no-cwd"), "", NULL), nfolders);
			nrefused++;
		}
		/* whatever came of it, the line of the other process is there */
		now = temp_get(access(path, F_OK) == 0
				       ? path
				       : env_path(&env, "_no-cwd/s/session.jsonl.converted"),
			&n);
		assert_non_null(now);
		assert_true(!wr.has_written || strstr(now, LATE));
		free(now);
		free(want);
		work_close(&w);
		done_release(&d);
	}
	fake_remove();
	assert_true(nrefused >= 10);
}

static void write_moved(const struct fake_event *e, void *arg)
{
	bool *has_written = arg;

	if (*has_written || !e->to || !strstr(e->to, ".converted"))
		return;
	*has_written = true;
	temp_adds(e->to, LATE);
}

/* A writer that still has the old file open, just when it steps back. */
static void test_grows_last(void **state)
{
	struct work *w = open_text(WHOLE);
	bool has_written = false;

	(void)state;
	fake_install();
	fake_reset();
	fake_listen(write_moved, &has_written);
	run_refused(&ops[2], w, ERR_CHANGED, WHOLE LATE);
	fake_listen(NULL, NULL);
	fake_remove();
	assert_true(has_written);
}

/* ---- what is refused, in words ---- */

static void test_no_entries(void **state)
{
	struct fork_spec spec = { .at = 0, .content = str_of("mine") };
	struct work *w = open_text(WHOLE);
	struct done d = { 0 };
	struct err err = { 0 };
	const char *why;

	(void)state;
	assert_int_equal(work_fork(w, &spec, false, &d, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "fork into a new session"));
	err_clear(&err);
	assert_int_equal(work_fork_new(w, &spec, false, &d, &err), ERR_UNSUPPORTED);
	assert_false(work_can(w, WORK_APPEND, &why));
	assert_true(work_can(w, WORK_FORK, &why));
	assert_true(work_can(w, WORK_REPAIR, &why));
	assert_false(work_can(w, WORK_TITLE, &why));
	assert_true(temp_is(path, WHOLE));
	work_close(&w);
	done_release(&d);
}

/* Why no fork can be made, as the system says it. */
static void test_no_room(void **state)
{
	struct work *w = open_text(WHOLE);
	const char *why;
	unsigned n = 0;

	(void)state;
	fake_install();
	fake_reset();
	assert_true(work_can(w, WORK_FORK, &why));
	while (++n <= fake_calls() && strcmp(fake_call_name(n), "access") != 0)
		;
	assert_true(n <= fake_calls());
	fake_plan(FAKE_ONCE, n, EROFS);
	assert_false(work_can(w, WORK_FORK, &why));
	assert_string_equal(why, "no new session can be made beside it: Read-only file system");
	fake_remove();
	work_close(&w);
}

/* One event is one event. */
static void test_one_closer(void **state)
{
	static const char turn[] =
		"{\"type\":\"turn/start\",\"seq\":6,\"time\":16,\"data\":{\"turn\":3}}\n";
	char *text = xasprintf("%s%s", WHOLE, turn);
	struct work *w = open_text(text);
	struct done d = { 0 };
	struct err err = { 0 };
	char said[200];

	(void)state;
	assert_true(work_interrupted(w, said));
	assert_string_equal(said,
		"turn 3 was interrupted, unless it still runs: a repair would add 1 event");
	work_force(w, true);
	env_ok(work_repair(w, true, &d, &err), &err);
	assert_string_equal(d.said, "would append 1 event");
	env_ok(work_repair(w, false, &d, &err), &err);
	assert_string_equal(d.said, "appended 1 event that closes the interrupted turn");
	work_close(&w);
	done_release(&d);
	free(text);
}

static void refuses(const char *text, const char *words)
{
	struct work *w = open_text(text);
	struct done d = { 0 };
	struct err err = { 0 };
	const char *why;

	assert_int_equal(do_repair(w, &d, &err), ERR_UNSUPPORTED);
	if (!strstr(err.text, words))
		fail_msg("%s", err.text);
	err_clear(&err);
	assert_int_equal(do_fork(w, &d, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, words));
	assert_false(work_can(w, WORK_FORK, &why));
	assert_non_null(strstr(why, words));
	assert_true(temp_is(path, text));
	work_close(&w);
	done_release(&d);
}

static void test_refused(void **state)
{
	(void)state;
	refuses(WHOLE "{\"type\":\"orchard/bloom\",\"seq\":6,\"time\":20,\"data\":{}}\n",
		"an event of a type that is not known");
	refuses("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"createdAt\":1,"
		"\"delegationDepth\":0}\n" DSH_TURN_1,
		"another version than 0");
	refuses("{\"type\":\"session\",\"version\":0,\"id\":\"x\",\"createdAt\":1,"
		"\"delegationDepth\":0}\n" DSH_TURN_1,
		"another id than its folder");
	refuses(DSH_HEADER DSH_TURN_1 "no JSON\n" DSH_TURN_2, "is damaged");
}

/* An unknown type that may be ignored does not stop anybody; nor does one stop a conversion. */
static void test_unknown(void **state)
{
	static const char ignorable[] =
		WHOLE "{\"type\":\"orchard/bloom\",\"seq\":6,\"time\":20,\"data\":{\"a\":[1.50]},"
		      "\"ignorable\":true}\n";
	struct fork_spec spec = { .has_event = true, .event = 6 };
	struct work *w = open_text(ignorable);
	struct done d = { 0 };
	struct err err = { 0 };
	char *text;

	(void)state;
	env_ok(work_fork_new(w, &spec, false, &d, &err), &err);
	text = dshenv_text(d.path, false);
	assert_non_null(
		strstr(text, "\"seq\":6,\"time\":20,\"data\":{\"a\":[1.5]},\"ignorable\":true}\n"
			     "{\"type\":\"session/end-seed\",\"seq\":7,"));
	free(text);
	work_close(&w);
	w = open_text(WHOLE "{\"type\":\"orchard/bloom\",\"seq\":6,\"time\":20,\"data\":1}\n");
	env_ok(do_convert(w, &d, &err), &err);
	work_close(&w);
	done_release(&d);
}

/* ---- where a fork is cut ---- */

static void test_points(void **state)
{
	static const struct {
		uint64_t chosen;
		bool is_exact;
		int rc;
		uint64_t last;
	} cases[] = {
		{ 0, false, 0, 2 },
		{ 1, false, 0, 2 },
		{ 2, false, 0, 2 },
		{ 3, false, 0, 5 },
		{ 4, false, 0, 5 },
		{ 5, false, 0, 5 },
		{ 6, false, ERR_UNSUPPORTED, 0 },
		{ 7, false, ERR_UNSUPPORTED, 0 },
		{ 8, false, ERR_NOTFOUND, 0 },
		{ 9, false, ERR_NOTFOUND, 0 },
		{ 10, false, ERR_NOTFOUND, 0 },
		{ 0, true, ERR_UNSUPPORTED, 0 },
		{ 1, true, ERR_UNSUPPORTED, 0 },
		{ 2, true, 0, 2 },
		{ 3, true, ERR_UNSUPPORTED, 0 },
		{ 4, true, 0, 4 },
		{ 5, true, 0, 5 },
		{ 6, true, ERR_UNSUPPORTED, 0 },
		{ 8, true, ERR_NOTFOUND, 0 },
		{ UINT64_MAX, false, ERR_NOTFOUND, 0 },
	};
	struct work *w = open_text(OPEN_LOG); /* 8 events; 8 and 9 would close it */

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { 0 };
		uint64_t last = 0;
		int rc = dsh_fork_point(
			work_session(w), cases[i].chosen, cases[i].is_exact, &last, &err);

		if (rc != cases[i].rc || (rc == 0 && last != cases[i].last))
			fail_msg("event %d%s: rc %d, last %d", (int)cases[i].chosen,
				cases[i].is_exact ? " exactly" : "", rc, (int)last);
	}
	work_close(&w);
}

/* ---- what a fork says ---- */

#define RICH_HEADER                                                                                 \
	"{\"type\":\"session\",\"version\":0,\"id\":\"s\",\"createdAt\":1,\"parentSession\":\"p\"," \
	"\"seedLength\":1,\"origin\":\"subagent\",\"delegationDepth\":2,\"agentPreset\":\"plan\","  \
	"\"extra\":1}\n"
#define DELTA(seq, time, text)                                                                  \
	"{\"type\":\"assistant/chunk\",\"seq\":" seq ",\"time\":" time ",\"data\":{\"turn\":1," \
	"\"step\":1,\"chunk\":{\"type\":\"text-delta\",\"index\":0,\"text\":\"" text "\"}}}\n"
#define ANSWER(sources)                                                                             \
	"{\"type\":\"assistant/message\",\"seq\":6,\"time\":16,\"data\":{\"turn\":1,\"step\":1,"    \
	"\"message\":{\"id\":\"a\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\","         \
	"\"text\":\"abcd\"}],\"source\":{\"kind\":\"model\",\"provider\":\"p\",\"model\":\"m\"}}}," \
	"\"sourceEventSeqs\":" sources ",\"surfaceOp\":\"append\"}\n"
#define BEGIN                                                                     \
	"{\"type\":\"turn/start\",\"seq\":0,\"time\":10,\"data\":{\"turn\":1}}\n" \
	"{\"type\":\"step/start\",\"seq\":1,\"time\":11,\"data\":{\"turn\":1,\"step\":1}}\n"
#define END                                                                                       \
	"{\"type\":\"turn/end\",\"seq\":7,\"time\":17,\"data\":{\"turn\":1,\"reason\":{\"kind\":" \
	"\"completed\"}}}\n"
#define ROW                                                                                  \
	"{\"type\":\"text-chunks\",\"seq0\":2,\"time0\":12,\"data\":{\"turn\":1,\"step\":1," \
	"\"index\":0,\"dt\":[1,-3,4],\"texts\":[\"a\",\"b\",\"c\",\"d\"]}}\n"

static char *fork_text(const char *log)
{
	struct work *w = open_text(log);
	struct done d = { 0 };
	struct err err = { 0 };
	char *text;

	env_ok(do_fork(w, &d, &err), &err);
	text = dshenv_text(d.path, false);
	assert_non_null(text);
	work_close(&w);
	done_release(&d);
	return text;
}

/* Plain chunks become a row, and the sources stay plain. */
static void test_packs(void **state)
{
	char *text = fork_text(RICH_HEADER BEGIN DELTA("2", "12", "a") DELTA("3", "13", "b")
			     DELTA("4", "10", "c") DELTA("5", "14", "d") ANSWER("[2,3,4,5]") END),
	     *body = strchr(text, '\n') + 1;
	static const char head[] = "\"parentSession\":\"s\",\"seedLength\":8,\"delegationDepth\":0,"
				   "\"agentPreset\":\"plan\"}\n";

	(void)state;
	assert_non_null(strstr(text, head));
	assert_null(strstr(text, "origin"));
	assert_null(strstr(text, "extra"));
	assert_memory_equal(
		body, BEGIN ROW ANSWER("[2,3,4,5]") END, strlen(BEGIN ROW ANSWER("[2,3,4,5]") END));
	free(text);
}

/* Two are no run; and a log with ranges is forked with ranges. */
static void test_dialect(void **state)
{
	char *text = fork_text(DSH_HEADER BEGIN ROW ANSWER("[[2,5]]") END),
	     *body = strchr(text, '\n') + 1;

	(void)state;
	assert_memory_equal(
		body, BEGIN ROW ANSWER("[[2,5]]") END, strlen(BEGIN ROW ANSWER("[[2,5]]") END));
	free(text);
	text = fork_text(DSH_HEADER BEGIN DELTA("2", "12", "a") DELTA("3", "13", "b") DELTA("4",
		"9007199254740991", "c") DELTA("5", "-9007199254740991", "d") ANSWER("[2,3]") END);
	body = strchr(text, '\n') + 1;
	/* the time between the last two is no safe integer */
	assert_non_null(strstr(body, "{\"type\":\"text-chunks\",\"seq0\":2,"));
	assert_non_null(strstr(body, DELTA("5", "-9007199254740991", "d") ANSWER("[2,3]")));
	free(text);
}

#define PROMPT(seq)                                                                            \
	"{\"type\":\"user/message\",\"seq\":" seq ",\"time\":1" seq ",\"data\":{\"id\":\"m" seq  \
	"\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}],\"source\":{\"kind\":" \
	"\"user\"}},\"surfaceOp\":\"append\"}\n"
#define TWO_ENTRIES                                                                             \
	DSH_HEADER "{\"type\":\"turn/start\",\"seq\":0,\"time\":10,\"data\":{\"turn\":1}}\n" PROMPT( \
		"1") PROMPT("2")

/* A checkout lies in the session's folder and names a seq. */
static void test_checkout(void **state)
{
	struct work *w = open_text(TWO_ENTRIES);
	struct done d = { 0 };
	struct err err = { 0 };

	(void)state;
	env_ok(work_checkout(w, env_find(w, "1"), false, &d, &err), &err);
	assert_true(temp_is(env_path(&env, "_no-cwd/s/bough.reflog"),
		"{\"v\":1,\"op\":\"checkout\",\"tip\":\"1\",\"from\":\"2\",\"entries\":2,\"at\":"
		"1796000000000}\n"));
	assert_int_equal(work_session(w)->tip_rule, TIP_CHECKOUT);
	assert_true(temp_is(path, TWO_ENTRIES));
	env_ok(work_undo(w, &d, &err), &err);
	work_close(&w);
	done_release(&d);
}

/* ---- a clock that stands still ---- */

static int blur(int rc, struct stat *st)
{
	if (rc == 0)
		st->st_mtim = (struct timespec){ .tv_sec = 1 };
	return rc;
}

static int coarse_stat(const char *name, struct stat *st)
{
	return blur(sys_real.stat(name, st), st);
}

static int coarse_fstat(int fd, struct stat *st)
{
	return blur(sys_real.fstat(fd, st), st);
}

/*
 * A repair that cuts as many bytes as it appends, within one tick of the file
 * system's clock: nothing but the writer's own knowledge says that it happened.
 */
static void test_same_size(void **state)
{
	struct sys table = sys_real;
	struct work *w = open_text(OPEN_LOG);
	struct done d = { 0 };
	struct err err = { 0 };
	struct buf text = { 0 };
	struct stat before, after;

	table.stat = coarse_stat;
	table.fstat = coarse_fstat;
	work_force(w, true);
	env_ok(work_repair(w, true, &d, &err), &err);
	assert_true(d.lines.n > 40);
	buf_adds(&text, OPEN_LOG);
	for (size_t i = 0; i < d.lines.n; i++)
		buf_addc(&text, 'x');
	buf_addc(&text, '\0');
	work_close(&w);
	sys_install(&table);
	w = open_text(text.p);
	work_force(w, true);
	assert_int_equal(stat(path, &before), 0);
	env_ok(work_repair(w, false, &d, &err), &err);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_size, after.st_size);
	env_ok(work_repair(w, false, &d, &err), &err);
	assert_string_equal(d.said, "nothing to repair");
	work_close(&w);
	sys_install(NULL);
	done_release(&d);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locked),
		cmocka_unit_test(test_locked_beside),
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_grows_last),
		cmocka_unit_test(test_no_entries),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_one_closer),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_points),
		cmocka_unit_test(test_packs),
		cmocka_unit_test(test_dialect),
		cmocka_unit_test(test_same_size),
		cmocka_unit_test(test_checkout),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
