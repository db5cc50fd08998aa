/*
 * t-faults.c - every system call of every writing operation fails once in
 * every way, then the oracle looks: the files are exactly old or exactly new
 * (or the handle said that it is broken and every byte is still to be had),
 * what was acknowledged is there, and the same operation without faults then
 * ends as if nothing had happened: no duplicates, no open descriptors, no
 * temporary files.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "log/log.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/temp.h"
#include "tests/log/oracle.h"

enum { SECOND_SPAN = 24, SHOW_MAX = 20 };

/* One operation: a start, what it does, and its contents before and after each step. */
struct scenario {
	const char *name;
	struct appends a; /* other operations take init for old and record[0] for new */
	int (*run)(const struct scenario *s);
	void (*check)(const struct scenario *s);
	int also; /* an errno with which `also_call` fails in every run */
	const char *also_call;
};

static char dir[TEMP_PATH], file[TEMP_PATH + 64], other[TEMP_PATH + 64];
static struct {
	int rc, acked; /* of the run with the fault */
	bool calm;     /* one single fault: whatever comes after it works */
	bool may_leave_temp, is_retry;
	const char *what;
	char detail[256];
	unsigned long cases, old, new, broken, bad;
} now;
static struct err err;

/* The first look after a fault is counted, not that after the retry. */
static void saw(unsigned long *what)
{
	if (!now.is_retry)
		++*what;
}

static void bad(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void bad(const char *fmt, ...)
{
	va_list ap;

	if (++now.bad > SHOW_MAX)
		return;
	fprintf(stderr, "%s: %s: ", now.what, now.detail);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (%s)\n", err.text);
}

/* ---- appends ---- */

static int run_append(const struct scenario *s)
{
	return appends_run(&s->a, file, 0, &now.acked, &err);
}

static int run_set_aside(const struct scenario *s)
{
	struct log_append_info info;
	struct log *log;
	int rc = log_open(&log, file, 0, &err);

	if (rc < 0)
		return rc;
	rc = log_set_aside(log, s->a.committed, &info, &err);
	log_close(&log);
	return rc;
}

static void check_append(const struct scenario *s)
{
	char want[ORACLE_TEXT];
	const char *wrong;
	bool is_there = s->a.init || now.acked;

	if (now.rc == ERR_BROKEN) {
		saw(&now.broken);
		if (now.calm)
			bad("broken by a single fault");
		wrong = appends_after_crash(&s->a, file, now.acked);
		if (wrong)
			bad("broken, and %s", wrong);
		return;
	}
	saw(now.rc == 0 ? &now.new : &now.old);
	appends_content(&s->a, now.acked, want);
	/* A file that was just made may stay, empty, when all goes wrong. */
	if (!temp_is(file, is_there ? want : NULL) && (is_there || now.calm || !temp_is(file, "")))
		bad("the content is not '%s'", want);
}

static void finish_set_aside(const struct scenario *s)
{
	char want[ORACLE_TEXT];

	snprintf(want, sizeof(want), "%.*s", (int)s->a.committed, s->a.init);
	if (!temp_is(file, want) || !appends_tail_is_aside(&s->a, file))
		bad("the tail was not set aside");
}

static void check_set_aside(const struct scenario *s)
{
	if (now.rc < 0)
		check_append(s);
	else
		finish_set_aside(s);
}

static int run_take_back(const struct scenario *s)
{
	struct log_append_info info = { .off = s->a.committed };
	struct log *log;
	int rc = log_open(&log, file, LOG_BESIDE, &err);

	if (rc == 0)
		rc = log_stat(file, &info.id, &err);
	if (rc == 0)
		rc = log_take_back(log, &info, &err);
	log_close(&log);
	return rc;
}

static void check_take_back(const struct scenario *s)
{
	bool is_new = temp_is(file, s->a.record[0]);

	saw(is_new ? &now.new : &now.old);
	if (!is_new && !temp_is(file, s->a.init))
		bad("neither taken back nor as it was");
	if (now.rc == 0 && !is_new)
		bad("taken back, and still there");
	if (now.rc < 0 && now.rc != ERR_BROKEN && is_new)
		bad("gone after an error that does not say so");
}

/* ---- whole files ---- */

static char big[150001]; /* several writes of the publisher */

static int run_publish(const struct scenario *s)
{
	struct log_pub *pub;
	int rc = log_pub_begin(&pub, file, &err);
	size_t at;

	(void)s;
	for (at = 0; rc == 0 && at < sizeof(big) - 1; at += 50000)
		rc = log_pub_write(pub, big + at, 50000, &err);
	if (rc == 0)
		return log_pub_commit(&pub, &err);
	log_pub_abort(&pub);
	return rc;
}

static void check_publish(const struct scenario *s)
{
	size_t n;
	char *have = temp_get(file, &n);

	(void)s;
	if (have && (n != sizeof(big) - 1 || memcmp(have, big, n) != 0))
		bad("part of a file was published");
	if (now.rc == 0 && !have)
		bad("published, and not there");
	if (now.rc < 0 && have && now.calm)
		bad("failed, and there all the same");
	saw(have ? &now.new : &now.old);
	free(have);
}

static int run_replace(const struct scenario *s)
{
	struct log_id id;
	int rc = log_stat(file, &id, &err);

	return rc < 0 ? rc : log_replace(file, s->a.record[0], strlen(s->a.record[0]), &id, &err);
}

static void check_replace(const struct scenario *s)
{
	bool is_new = temp_is(file, s->a.record[0]);
	struct stat st;

	saw(is_new ? &now.new : &now.old);
	if (!is_new && !temp_is(file, s->a.init))
		bad("neither old nor new");
	if (now.rc == 0 && !is_new)
		bad("replaced, and still old");
	if (now.rc < 0 && is_new && !strstr(err.text, "power cut") && !strstr(err.text, "is new"))
		bad("new after an error that does not say so");
	if (s->a.init && (stat(file, &st) < 0 || (st.st_mode & 07777) != 0640))
		bad("the mode is not kept");
}

static int run_move(const struct scenario *s)
{
	(void)s;
	return log_move(file, other, &err);
}

static void check_move(const struct scenario *s)
{
	bool is_old = temp_is(file, s->a.init), is_new = temp_is(other, s->a.init);

	saw(is_new ? &now.new : &now.old);
	if (!is_old && !is_new)
		bad("the file is in neither place");
	if (now.calm && is_old && is_new)
		bad("the file is in both places");
	if (now.calm && (now.rc == 0) != is_new)
		bad("the result does not say where it is");
}

/* "other" is the leftover, the file is a stranger to it. */
static int run_drop(const struct scenario *s)
{
	(void)s;
	return log_drop_leftover(other, false, &err);
}

static void check_drop(const struct scenario *s)
{
	bool is_gone = temp_is(other, NULL);

	saw(is_gone ? &now.new : &now.old);
	if (!is_gone && !temp_is(other, "half"))
		bad("the leftover was changed");
	if (!temp_is(file, s->a.init))
		bad("another file was touched");
	if (now.rc == 0 && !is_gone)
		bad("removed, and still there");
	if (now.rc < 0 && is_gone && !strstr(err.text, "power cut"))
		bad("gone after an error that does not say so");
}

static int run_mkdirs(const struct scenario *s)
{
	(void)s;
	return log_mkdirs(other, &err);
}

static void check_mkdirs(const struct scenario *s)
{
	struct stat st;
	bool is_there = stat(other, &st) == 0 && S_ISDIR(st.st_mode);

	(void)s;
	saw(is_there ? &now.new : &now.old);
	if (now.rc == 0 && (!is_there || (st.st_mode & 07777) != 0700))
		bad("the folder is not there");
}

static int run_read(const struct scenario *s)
{
	struct log_reader *r;
	struct log_line line;
	struct buf all = { 0 };
	struct log_id id;
	int rc = log_reader_open(&r, file, &err), got = 0;

	while (rc == 0 && (rc = log_next_line(r, &line, &err)) > 0) {
		if (line.number != ++got || memcmp(s->a.init, "1\n2\n", 4) != 0 ||
			line.p[0] != '0' + got)
			bad("a wrong line");
		rc = 0;
	}
	if (rc == 0 && got != 2)
		bad("%d lines", got);
	log_reader_close(&r);
	if (rc == 0)
		rc = log_read_file(file, 100, &all, &id, &err);
	if (rc == 0 && strcmp(all.p, s->a.init) != 0)
		bad("another content");
	buf_release(&all);
	return rc;
}

static void check_read(const struct scenario *s)
{
	saw(&now.old);
	if (!temp_is(file, s->a.init))
		bad("reading changed the file");
}

/* ---- the loop ---- */

/* A record that begins with an id, as those of sessions do: half of it can be no one else's. */
#define REC(id, rest) "{\"id\":\"" id "-0f1e2d3c4b5a69788796a5b4c3d2e1f0\",\"k\":1" rest "}\n"

static const struct scenario scenarios[] = {
	{ "create and append", { NULL, 0, { REC("a", ""), REC("b", "") } }, run_append,
		check_append },
	{ "append x3", { "{1}\n", 4, { REC("2", ""), REC("3", ",3"), REC("4", ",44") } },
		run_append, check_append },
	{ "append, no final newline", { "{1}\n{2}", 7, { REC("3", "") } }, run_append,
		check_append },
	{ "append over a torn tail", { "{1}\n{2}\n{\"torn", 8, { "{3}\n", REC("4", "") } },
		run_append, check_append },
	{ "torn tail behind no newline", { "{1}\n{2}{\"torn as long", 7, { "{3}\n" } }, run_append,
		check_append },
	{ "tail as long as the record", { "{1}\n{22", 4, { "{3}\n" } }, run_append, check_append },
	{ "set aside", { "{1}\n{\"torn", 4, { NULL } }, run_set_aside, check_set_aside },
	{ "take back", { "{1}\n{2}\n", 4, { "{1}\n" } }, run_take_back, check_take_back },
	{ "publish", { NULL, 0, { NULL } }, run_publish, check_publish },
	{ "publish without links", { NULL, 0, { NULL } }, run_publish, check_publish, EPERM,
		"link" },
	{ "replace", { "old", 3, { "new one" } }, run_replace, check_replace },
	{ "replace nothing", { NULL, 0, { "new one" } }, run_replace, check_replace },
	{ "move", { "moved", 5, { NULL } }, run_move, check_move },
	{ "move without renameat2", { "moved", 5, { NULL } }, run_move, check_move, EINVAL,
		"rename_noreplace" },
	{ "drop a leftover", { "the session", 11, { NULL } }, run_drop, check_drop },
	{ "mkdirs", { NULL, 0, { NULL } }, run_mkdirs, check_mkdirs },
	{ "read", { "1\n2\n", 4, { NULL } }, run_read, check_read },
};

static void setup(const struct scenario *s)
{
	temp_clear(dir);
	now.acked = 0;
	if (s->a.init)
		temp_puts(file, s->a.init);
	if (s->a.init && chmod(file, 0640) < 0)
		bad("chmod: %s", strerror(errno));
	snprintf(other, sizeof(other), "%s/%s", dir, s->run == run_mkdirs ? "a/b//c/" :
		s->run == run_drop ? ".s.jsonl.0123456789ab.tmp" : "moved");
	if (s->run == run_drop) {
		temp_puts(other, "half");
		if (utimensat(AT_FDCWD, other, (struct timespec[2]){ { 1, 0 }, { 1, 0 } }, 0) < 0)
			bad("utimensat: %s", strerror(errno));
	}
	err_clear(&err);
}

/* The number of the call that fails in every run of this scenario. */
static unsigned find_call(const struct fake_trace *t, const char *name)
{
	unsigned i;

	for (i = 0; i < t->n; i++)
		if (!strcmp(t->call[i].name, name))
			return i + 1;
	bad("no call '%s'", name);
	return 0;
}

/* Is there nothing to do again, because it was done and only said to be in doubt? */
static bool is_done(const struct scenario *s)
{
	return (s->run == run_move && temp_is(other, s->a.init)) ||
	       (s->run == run_drop && temp_is(other, NULL)) ||
	       (s->run == run_take_back && temp_is(file, s->a.record[0]));
}

/* The same again, without faults. */
static void again(const struct scenario *s)
{
	bool was_published = s->run == run_publish && temp_is(file, big);
	const char *wrong;

	err_clear(&err);
	if (is_done(s))
		return;
	if (s->run == run_append) {
		wrong = appends_finish(&s->a, file, now.acked, &err);
		if (wrong)
			bad("afterwards %s", wrong);
		return;
	}
	now.rc = s->run(s);
	if (was_published ? now.rc != ERR_EXISTS : now.rc < 0)
		bad("the retry failed");
	if (was_published)
		now.rc = 0;
	now.calm = now.is_retry = true;
	s->check(s);
	now.is_retry = false;
}

/* The plan is made; run, look, and run again. */
static void one_case(const struct scenario *s, int open_before)
{
	now.cases++;
	now.rc = s->run(s);
	fake_reset();
	s->check(s);
	if (s->run != run_drop && !now.may_leave_temp && temp_count(dir, ".tmp", NULL) != 0)
		bad("a temporary file is left");
	again(s);
	if (temp_open_files() != open_before)
		bad("descriptors are left open");
}

static void single_faults(const struct scenario *s, const struct fake_trace *t, unsigned also)
{
	int open_before = temp_open_files();
	struct fake_case c = { 0 };

	while (fake_next(t, &c)) {
		setup(s);
		if (also && c.call <= also)
			continue;
		/* that is no fault, but a file that no lease is to be had for: see t-beside */
		if (c.error == EACCES && !strcmp(t->call[c.call - 1].name, "lease"))
			continue;
		fake_plan(c.mode, c.call, c.error);
		if (also)
			fake_plan_also(also, s->also);
		snprintf(now.detail, sizeof(now.detail), "%s", fake_describe(t, &c));
		now.calm = c.mode != FAKE_FROM;
		now.may_leave_temp =
			c.mode == FAKE_FROM || !strcmp(t->call[c.call - 1].name, "unlink");
		one_case(s, open_before);
	}
}

/* One call fails, and then one of those that were to make it good again. */
static void double_faults(const struct scenario *s, const struct fake_trace *t)
{
	int open_before = temp_open_files();
	unsigned k, j;

	for (k = 1; k <= t->n; k++)
		for (j = k + 1; j <= k + SECOND_SPAN; j++) {
			bool is_half = j % 2 && !strcmp(t->call[k - 1].name, "write");

			setup(s);
			fake_plan(is_half ? FAKE_HALF : FAKE_ONCE, k, EIO);
			fake_plan_also(j, ENOSPC);
			snprintf(now.detail, sizeof(now.detail), "calls %u (%s) and %u", k,
				t->call[k - 1].name, j);
			now.calm = false;
			now.may_leave_temp = true;
			one_case(s, open_before);
		}
}

static void run_scenario(const struct scenario *s)
{
	static struct fake_trace trace;
	unsigned also = 0;

	now.what = s->name;
	snprintf(now.detail, sizeof(now.detail), "no fault");
	setup(s);
	fake_reset();
	now.rc = s->run(s);
	fake_trace(&trace);
	if (s->also) {
		also = find_call(&trace, s->also_call);
		setup(s);
		fake_plan(FAKE_OFF, 0, 0);
		fake_plan_also(also, s->also);
		now.rc = s->run(s);
		fake_trace(&trace);
	}
	if (now.rc < 0)
		bad("failed without a fault");
	s->check(s);
	single_faults(s, &trace, also);
	if (!s->also)
		double_faults(s, &trace);
	printf("%-28s %3u calls, %6lu cases so far\n", s->name, trace.n, now.cases);
}

int main(void)
{
	size_t i;

	memset(big, 'b', sizeof(big) - 1);
	temp_make(dir);
	snprintf(file, sizeof(file), "%s/s.jsonl", dir);
	fake_install();
	for (i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		run_scenario(&scenarios[i]);
	fake_remove();
	temp_remove(dir);
	printf("faults: %lu cases (%lu old, %lu new, %lu broken), %lu bad\n", now.cases, now.old,
		now.new, now.broken, now.bad);
	return now.bad || now.cases < 2000 || now.broken == 0;
}
