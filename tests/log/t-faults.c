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

enum { MAX_STEPS = 3, SECOND_SPAN = 24, SHOW_MAX = 20 };

/* One operation: a start, what it does, and its contents before and after each step. */
struct scenario {
	const char *name;
	const char *init;      /* of the file, NULL: there is none */
	size_t committed;      /* of init; less than its length: a torn tail */
	const char *record[MAX_STEPS + 1];
	int (*run)(const struct scenario *s, int from);
	void (*check)(const struct scenario *s);
	int also;              /* an errno with which `also_call` fails in every run */
	const char *also_call;
};

static char dir[TEMP_PATH], file[TEMP_PATH + 64], other[TEMP_PATH + 64];
static struct {
	int rc, acked;         /* of the run with the fault */
	bool calm;             /* one single fault: whatever comes after it works */
	bool may_leave_temp;
	const char *what;
	char detail[256];
	unsigned long cases, old, new, broken, bad;
} now;
static struct err err;

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

/* ---- appends: content after k records ---- */

static size_t content_after(const struct scenario *s, int k, char *out, size_t size)
{
	size_t n;
	int i;

	if (!s->init && k == 0)
		return 0;
	if (k == 0)
		return (size_t)snprintf(out, size, "%s", s->init);
	n = (size_t)snprintf(out, size, "%.*s", (int)s->committed, s->init ? s->init : "");
	if (n > 0 && out[n - 1] != '\n')
		out[n++] = '\n';
	for (i = 0; i < k; i++)
		n += (size_t)snprintf(out + n, size - n, "%s", s->record[i]);
	return n;
}

static int steps(const struct scenario *s)
{
	int n = 0;

	while (s->record[n])
		n++;
	return n;
}

/* Opens and appends the records from number `from` on, counting what is acknowledged. */
static int run_append(const struct scenario *s, int from)
{
	char text[4096];
	struct log *log;
	uint64_t committed = from ? content_after(s, from, text, sizeof(text)) : s->committed;
	int i, rc = log_open(&log, file, LOG_CREATE, &err);

	now.acked = from;
	if (rc < 0)
		return rc;
	for (i = from; s->record[i] && rc == 0; i++) {
		struct log_append_info info;

		rc = log_append(log, committed, s->record[i], strlen(s->record[i]), &info, &err);
		if (rc == 0) {
			committed = info.off + strlen(s->record[i]);
			now.acked++;
			if (committed != info.id.size)
				bad("info: off %lu, size %lu", (unsigned long)info.off,
					(unsigned long)info.id.size);
		} else if (rc == ERR_BROKEN) {
			struct err again = { 0 };

			if (log_append(log, committed, "x\n", 2, NULL, &again) != ERR_BROKEN)
				bad("a broken log took an append");
		}
	}
	log_close(&log);
	return rc;
}

static int run_set_aside(const struct scenario *s, int from)
{
	struct log_append_info info;
	struct log *log;
	int rc = log_open(&log, file, 0, &err);

	(void)from;
	now.acked = 0;
	if (rc < 0)
		return rc;
	rc = log_set_aside(log, s->committed, &info, &err);
	log_close(&log);
	return rc;
}

/* Is the torn tail of init in a copy of its own? */
static bool tail_is_aside(const struct scenario *s)
{
	char name[sizeof(file) + 32];

	snprintf(name, sizeof(name), "%s.torn-%zu", file, s->committed);
	return temp_is(name, s->init + s->committed);
}

static bool has_tail(const struct scenario *s)
{
	return s->init && s->init[s->committed];
}

static void check_append(const struct scenario *s)
{
	char want[4096];
	size_t n, want_n = content_after(s, now.acked, want, sizeof(want));
	char *have = temp_get(file, &n);
	bool is_there = s->init || now.acked;

	if (now.rc != ERR_BROKEN) {
		now.rc == 0 ? now.new++ : now.old++;
		if (is_there ? !have || n != want_n || memcmp(have, want, n) != 0
			     : have && (n > 0 || now.calm))
			bad("content '%s', not '%s'", have, want);
		goto out;
	}
	now.broken++;
	if (now.calm)
		bad("broken by a single fault");
	if (!s->init && !have && now.acked == 0)
		goto out;
	if (now.acked == 0 && s->init) /* the committed part, and the tail here or there */
		want_n = s->committed;
	if (!have || n < want_n || memcmp(have, want, want_n) != 0)
		bad("broken, and the committed part is lost: '%s'", have);
	else if (now.acked == 0 && has_tail(s) && !temp_is(file, s->init) && !tail_is_aside(s))
		bad("broken, and the torn tail is lost");
out:
	free(have);
}

/* How many records a reader would find: acknowledged ones, and perhaps one that was not. */
static int present(const struct scenario *s)
{
	char want[4096];
	int k = now.acked;
	size_t n, want_n;
	char *have = temp_get(file, &n);

	if (have && s->record[k]) {
		want_n = content_after(s, k + 1, want, sizeof(want));
		if (n >= want_n && memcmp(have, want, want_n) == 0)
			k++;
	}
	free(have);
	return k;
}

static void finish_append(const struct scenario *s)
{
	char want[4096];
	int k = steps(s);

	content_after(s, k, want, sizeof(want));
	if (now.acked != k)
		bad("the retry acknowledged %d of %d", now.acked, k);
	if (!temp_is(file, want))
		bad("the retry ends with another content");
	if (has_tail(s) && !tail_is_aside(s))
		bad("the torn tail is not in a copy of its own");
}

static void finish_set_aside(const struct scenario *s)
{
	char want[4096];

	snprintf(want, sizeof(want), "%.*s", (int)s->committed, s->init);
	if (!temp_is(file, want) || !tail_is_aside(s))
		bad("the tail was not set aside");
}

static void check_set_aside(const struct scenario *s)
{
	if (now.rc < 0)
		check_append(s);
	else
		finish_set_aside(s);
}

static int run_take_back(const struct scenario *s, int from)
{
	struct log_append_info info = { .off = s->committed };
	struct log *log;
	int rc = log_open(&log, file, 0, &err);

	(void)from;
	if (rc == 0)
		rc = log_stat(file, &info.id, &err);
	if (rc == 0)
		rc = log_take_back(log, &info, &err);
	log_close(&log);
	return rc;
}

static void check_take_back(const struct scenario *s)
{
	bool is_new = temp_is(file, s->record[0]);

	is_new ? now.new++ : now.old++;
	if (!is_new && !temp_is(file, s->init))
		bad("neither taken back nor as it was");
	if (now.rc == 0 && !is_new)
		bad("taken back, and still there");
	if (now.rc < 0 && now.rc != ERR_BROKEN && is_new)
		bad("gone after an error that does not say so");
}

/* ---- whole files ---- */

static char big[150001]; /* several writes of the publisher */

static int run_publish(const struct scenario *s, int from)
{
	struct log_pub *pub;
	int rc = log_pub_begin(&pub, file, &err);
	size_t at;

	(void)s, (void)from;
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
	have ? now.new++ : now.old++;
	free(have);
}

static int run_replace(const struct scenario *s, int from)
{
	struct log_id id;
	int rc = log_stat(file, &id, &err);

	(void)from;
	return rc < 0 ? rc : log_replace(file, s->record[0], strlen(s->record[0]), &id, &err);
}

static void check_replace(const struct scenario *s)
{
	bool is_new = temp_is(file, s->record[0]);
	struct stat st;

	is_new ? now.new++ : now.old++;
	if (!is_new && !temp_is(file, s->init))
		bad("neither old nor new");
	if (now.rc == 0 && !is_new)
		bad("replaced, and still old");
	if (now.rc < 0 && is_new && !strstr(err.text, "power cut"))
		bad("new after an error that does not say so");
	if (s->init && (stat(file, &st) < 0 || (st.st_mode & 07777) != 0640))
		bad("the mode is not kept");
}

static int run_move(const struct scenario *s, int from)
{
	(void)s, (void)from;
	return log_move(file, other, &err);
}

static void check_move(const struct scenario *s)
{
	bool is_old = temp_is(file, s->init), is_new = temp_is(other, s->init);

	is_new ? now.new++ : now.old++;
	if (!is_old && !is_new)
		bad("the file is in neither place");
	if (now.calm && is_old && is_new)
		bad("the file is in both places");
	if (now.calm && (now.rc == 0) != is_new)
		bad("the result does not say where it is");
}

static int run_mkdirs(const struct scenario *s, int from)
{
	(void)s, (void)from;
	return log_mkdirs(other, &err);
}

static void check_mkdirs(const struct scenario *s)
{
	struct stat st;
	bool is_there = stat(other, &st) == 0 && S_ISDIR(st.st_mode);

	(void)s;
	is_there ? now.new++ : now.old++;
	if (now.rc == 0 && (!is_there || (st.st_mode & 07777) != 0700))
		bad("the folder is not there");
}

static int run_read(const struct scenario *s, int from)
{
	struct log_reader *r;
	struct log_line line;
	struct buf all = { 0 };
	struct log_id id;
	int rc = log_reader_open(&r, file, &err), got = 0;

	(void)from;
	while (rc == 0 && (rc = log_next_line(r, &line, &err)) > 0) {
		if (line.number != ++got || memcmp(s->init, "1\n2\n", 4) != 0 ||
			line.p[0] != '0' + got)
			bad("a wrong line");
		rc = 0;
	}
	if (rc == 0 && got != 2)
		bad("%d lines", got);
	log_reader_close(&r);
	if (rc == 0)
		rc = log_read_file(file, 100, &all, &id, &err);
	if (rc == 0 && strcmp(all.p, s->init) != 0)
		bad("another content");
	buf_release(&all);
	return rc;
}

static void check_read(const struct scenario *s)
{
	now.old++;
	if (!temp_is(file, s->init))
		bad("reading changed the file");
}

/* ---- the loop ---- */

static const struct scenario scenarios[] = {
	{ "create and append", NULL, 0, { "{\"a\":1}\n", "{\"b\":2}\n" }, run_append, check_append },
	{ "append x3", "{1}\n", 4, { "{22}\n", "{333}\n", "{4444}\n" }, run_append, check_append },
	{ "append, no final newline", "{1}\n{2}", 7, { "{3}\n" }, run_append, check_append },
	{ "append over a torn tail", "{1}\n{2}\n{\"torn", 8, { "{3}\n", "{4}\n" }, run_append,
		check_append },
	{ "torn tail behind no newline", "{1}\n{2}{\"torn as long", 7, { "{3}\n" }, run_append,
		check_append },
	{ "tail as long as the record", "{1}\n{22", 4, { "{3}\n" }, run_append, check_append },
	{ "set aside", "{1}\n{\"torn", 4, { NULL }, run_set_aside, check_set_aside },
	{ "take back", "{1}\n{2}\n", 4, { "{1}\n" }, run_take_back, check_take_back },
	{ "publish", NULL, 0, { NULL }, run_publish, check_publish },
	{ "publish without links", NULL, 0, { NULL }, run_publish, check_publish, EPERM, "link" },
	{ "replace", "old", 3, { "new one" }, run_replace, check_replace },
	{ "replace nothing", NULL, 0, { "new one" }, run_replace, check_replace },
	{ "move", "moved", 5, { NULL }, run_move, check_move },
	{ "move without renameat2", "moved", 5, { NULL }, run_move, check_move, EINVAL,
		"rename_noreplace" },
	{ "mkdirs", NULL, 0, { NULL }, run_mkdirs, check_mkdirs },
	{ "read", "1\n2\n", 4, { NULL }, run_read, check_read },
};

static void setup(const struct scenario *s)
{
	temp_clear(dir);
	if (s->init)
		temp_puts(file, s->init);
	if (s->init && chmod(file, 0640) < 0)
		bad("chmod: %s", strerror(errno));
	snprintf(other, sizeof(other), "%s/%s", dir, s->run == run_mkdirs ? "a/b//c/" : "moved");
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

/* The same again, without faults. */
static void again(const struct scenario *s)
{
	bool is_append = s->run == run_append, was_there = temp_is(file, big);
	int rc, from = is_append ? present(s) : 0;

	err_clear(&err);
	if (s->run == run_move && temp_is(other, s->init) && temp_is(file, s->init))
		return; /* in both places: said, and nothing is lost */
	if (s->run == run_move && temp_is(other, s->init))
		return;
	if (s->run == run_take_back && temp_is(file, s->record[0]))
		return;
	rc = s->run(s, from);
	if (s->run == run_publish && was_there ? rc != ERR_EXISTS : rc < 0)
		bad("the retry failed");
	if (is_append)
		finish_append(s);
	else if (s->run == run_set_aside)
		finish_set_aside(s);
	now.rc = s->run == run_publish && was_there ? 0 : rc;
	if (!is_append && s->run != run_set_aside) {
		unsigned long old = now.old, new = now.new;

		s->check(s);
		now.old = old;
		now.new = new;
	}
}

/* The plan is made; run, look, and run again. */
static void one_case(const struct scenario *s, int open_before)
{
	now.cases++;
	now.rc = s->run(s, 0);
	fake_reset();
	s->check(s);
	if (!now.may_leave_temp && temp_count(dir, ".tmp", NULL) != 0)
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
		fake_plan(c.mode, c.call, c.error);
		if (also)
			fake_plan_also(also, s->also);
		snprintf(now.detail, sizeof(now.detail), "%s", fake_describe(t, &c));
		now.calm = c.mode != FAKE_FROM;
		now.may_leave_temp = c.mode == FAKE_FROM || !strcmp(t->call[c.call - 1].name, "unlink");
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
	now.rc = s->run(s, 0);
	fake_trace(&trace);
	if (s->also) {
		also = find_call(&trace, s->also_call);
		setup(s);
		fake_plan(FAKE_OFF, 0, 0);
		fake_plan_also(also, s->also);
		now.rc = s->run(s, 0);
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
