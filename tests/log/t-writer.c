/*
 * t-writer.c - appending: the lock, what is checked before a byte is
 * written, torn tails, dry runs.
 */
#include "config.h"

#include "tests/log/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the writer ---- */

static void test_append(void **state)
{
	struct log_append_info info;
	struct stat st;
	struct log *log;

	(void)state;
	log = open_log(LOG_CREATE);
	append(log, 0, "a\n", &info);
	assert_int_equal(info.off, 0);
	assert_int_equal(info.id.size, 2);
	append(log, 2, "b\nc\n", &info);
	assert_int_equal(info.off, 2);
	assert_int_equal(info.torn_bytes, 0);
	assert_string_equal(info.torn_path, "");
	log_close(&log);
	assert_null(log);
	log_close(&log);
	assert_true(temp_is(file, "a\nb\nc\n"));
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);

	temp_puts(file, "a");
	log = open_log(0);
	append(log, 1, "b\n", &info);
	assert_int_equal(info.off, 2);
	append(log, 4, "c\n", NULL);
	log_close(&log);
	assert_true(temp_is(file, "a\nb\nc\n"));
	assert_int_equal(temp_count(dir, "", NULL), 1);
}

/* A newline that is missing and the records are one write(). */
static void test_append_is_one_write(void **state)
{
	static struct fake_trace trace;
	struct log *log;
	unsigned i, writes = 0;

	(void)state;
	temp_puts(file, "a");
	fake_install();
	log = open_log(0);
	append(log, 1, "b\nc\n", NULL);
	log_close(&log);
	fake_trace(&trace);
	for (i = 0; i < trace.n; i++) {
		if (strcmp(trace.call[i].name, "write") != 0)
			continue;
		writes++;
		assert_int_equal(trace.call[i].bytes, 5);
		assert_string_equal(trace.call[i + 1].name, "tell");
		assert_string_equal(trace.call[i + 2].name, "lease"); /* given back */
		assert_string_equal(trace.call[i + 3].name, "fdatasync");
	}
	assert_int_equal(writes, 1);
	assert_true(temp_is(file, "a\nb\nc\n"));
}

static void test_append_usage(void **state)
{
	struct log *log;

	(void)state;
	assert_int_equal(log_open(&log, file, 0, &err), ERR_IO);
	assert_int_equal(err.sys, ENOENT);
	err_clear(&err);
	temp_puts(file, "a\n");
	log = open_log(0);
	assert_int_equal(log_append(log, 2, "", 0, NULL, &err), ERR_USAGE);
	err_clear(&err);
	assert_int_equal(log_append(log, 2, "x", 1, NULL, &err), ERR_USAGE);
	err_clear(&err);
	assert_int_equal(log_append(log, 3, "x\n", 2, NULL, &err), ERR_USAGE);
	log_close(&log);
	assert_true(temp_is(file, "a\n"));
}

static void test_created_is_removed(void **state)
{
	struct log *log;

	(void)state;
	log = open_log(LOG_CREATE);
	assert_true(temp_is(file, ""));
	log_close(&log);
	assert_true(temp_is(file, NULL));
	temp_puts(file, ""); /* not ours */
	log = open_log(LOG_CREATE);
	log_close(&log);
	assert_true(temp_is(file, ""));
}

/* Another process makes the file between our look and our O_EXCL. */
static int stat_and_appear(const char *path, struct stat *st)
{
	static bool done;
	int rc = sys_real.stat(path, st);

	if (rc < 0 && !done && !strcmp(path, file)) {
		done = true;
		temp_puts(file, "");
		errno = ENOENT;
	}
	return rc;
}

static void test_created_by_another(void **state)
{
	struct sys table = sys_real;
	struct log *log;

	(void)state;
	table.stat = stat_and_appear;
	sys_install(&table);
	log = open_log(LOG_CREATE);
	log_close(&log);
	assert_true(temp_is(file, "")); /* theirs, so it stays */
	sys_install(NULL);
}

static void test_expect(void **state)
{
	struct log_id id, none = { 0 };
	char temp[TEMP_PATH + 80];
	struct log *log;

	(void)state;
	log = open_log(LOG_CREATE);
	assert_int_equal(log_expect(log, &none, &err), 0);
	append(log, 0, "a\n", NULL);
	assert_int_equal(log_expect(log, &none, &err), ERR_CHANGED);
	err_clear(&err);
	assert_int_equal(log_stat(file, &id, &err), 0);
	assert_int_equal(log_expect(log, &id, &err), 0);
	id.mtime_ns++;
	assert_int_equal(log_expect(log, &id, &err), ERR_CHANGED);
	err_clear(&err);
	id.mtime_ns--;
	id.size++;
	assert_int_equal(log_expect(log, &id, &err), ERR_CHANGED);
	err_clear(&err);
	id.size--;
	id.ino++;
	assert_int_equal(log_expect(log, &id, &err), ERR_CHANGED);
	err_clear(&err);
	id.ino--;

	/* another file under the name: with the same bytes, it does not matter */
	snprintf(temp, sizeof(temp), "%s.new", file);
	temp_puts(temp, "a\n");
	assert_int_equal(rename(temp, file), 0);
	assert_int_equal(log_expect(log, &id, &err), ERR_CHANGED);
	err_clear(&err);
	assert_int_equal(log_append(log, 2, "b\n", 2, NULL, &err), ERR_CHANGED);
	log_close(&log);
	assert_true(temp_is(file, "a\n"));
}

static void test_changed_before_append(void **state)
{
	struct log *log;

	(void)state;
	temp_puts(file, "a\n");
	log = open_log(0);
	append(log, 2, "b\n", NULL);
	temp_adds(file, "c\n"); /* somebody who takes no lock */
	assert_int_equal(log_append(log, 4, "d\n", 2, NULL, &err), ERR_CHANGED);
	assert_true(temp_is(file, "a\nb\nc\n"));
	err_clear(&err);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(log_append(log, 6, "d\n", 2, NULL, &err), ERR_CHANGED);
	log_close(&log);
	assert_true(temp_is(file, NULL));
}

static void test_torn(void **state)
{
	char torn[TEMP_PATH + 96], second[sizeof(torn) + 2], name[TEMP_PATH];
	struct log_append_info info;
	struct stat st;
	struct log *log;

	(void)state;
	snprintf(torn, sizeof(torn), "%s.torn-2", file);
	snprintf(second, sizeof(second), "%s.2", torn);
	temp_puts(file, "a\n{\"to");
	log = open_log(0);
	append(log, 2, "b\n", &info);
	assert_int_equal(info.off, 2);
	assert_int_equal(info.torn_bytes, 4);
	assert_string_equal(info.torn_path, torn);
	assert_int_equal(info.id.size, 4);
	log_close(&log);
	assert_true(temp_is(file, "a\nb\n"));
	assert_true(temp_is(torn, "{\"to"));
	assert_int_equal(stat(torn, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);

	/* the same bytes: the copy serves again; others: another name, never overwritten */
	temp_puts(file, "a\n{\"to");
	log = open_log(0);
	assert_int_equal(log_set_aside(log, 2, &info, &err), 0);
	assert_string_equal(info.torn_path, torn);
	assert_int_equal(info.torn_bytes, 4);
	log_close(&log);
	assert_int_equal(temp_count(dir, ".torn-", name), 1);
	temp_puts(file, "a\n{\"TO");
	log = open_log(0);
	assert_int_equal(log_set_aside(log, 2, &info, &err), 0);
	assert_string_equal(info.torn_path, second);
	assert_int_equal(info.off, 2);
	assert_int_equal(log_set_aside(log, 2, &info, &err), 0); /* nothing is torn now */
	assert_int_equal(info.torn_bytes, 0);
	assert_string_equal(info.torn_path, "");
	append(log, 2, "c\n", NULL);
	log_close(&log);
	assert_true(temp_is(torn, "{\"to"));
	assert_true(temp_is(second, "{\"TO"));
	assert_true(temp_is(file, "a\nc\n"));
}

/* Names that are no copies of ours stay as they are. */
static void test_torn_name_taken(void **state)
{
	char torn[TEMP_PATH + 96];
	struct log_append_info info;
	struct log *log;

	(void)state;
	snprintf(torn, sizeof(torn), "%s.torn-2", file);
	assert_int_equal(mkfifo(torn, 0600), 0);
	snprintf(torn, sizeof(torn), "%s.torn-2.2", file);
	assert_int_equal(symlink("nowhere", torn), 0);
	snprintf(torn, sizeof(torn), "%s.torn-2.3", file);
	temp_puts(torn, "tail and more");
	snprintf(torn, sizeof(torn), "%s.torn-2.4", file);
	temp_puts(file, "a\ntail");
	log = open_log(0);
	append(log, 2, "b\n", &info);
	log_close(&log);
	assert_string_equal(info.torn_path, torn);
	assert_true(temp_is(torn, "tail"));
	assert_true(temp_is(file, "a\nb\n"));
}

/* Over several chunks of the copy, and back again when the write fails. */
static void test_torn_large(void **state)
{
	enum { N = 200000 };
	static struct fake_trace trace;
	struct log *log;
	char *text = malloc(N + 1), *have;
	size_t n;
	unsigned k;

	(void)state;
	assert_non_null(text);
	memset(text, 't', N);
	memcpy(text, "a\n", 2);
	text[N] = '\0';
	temp_puts(file, text);
	fake_install();
	log = open_log(0);
	append(log, 2, "b\n", NULL);
	log_close(&log);
	fake_trace(&trace);
	for (k = trace.n; strcmp(trace.call[k - 1].name, "write") != 0; k--)
		;
	temp_clear(dir);
	temp_puts(file, text);
	fake_plan(FAKE_HALF, k, ENOSPC);
	log = open_log(0);
	assert_int_equal(log_append(log, 2, "b\n", 2, NULL, &err), ERR_IO);
	assert_int_equal(err.sys, ENOSPC);
	assert_true(temp_is(file, text));
	err_clear(&err);
	append(log, 2, "b\n", NULL); /* the handle goes on, the copy serves again */
	log_close(&log);
	assert_true(temp_is(file, "a\nb\n"));
	assert_int_equal(temp_count(dir, "", NULL), 2);
	strcat(file, ".torn-2");
	have = temp_get(file, &n);
	assert_non_null(have);
	assert_int_equal(n, N - 2);
	assert_memory_equal(have, text + 2, n);
	free(have);
	free(text);
}

static void test_dry_run(void **state)
{
	struct log_append_info info;
	struct log_id before, after;
	struct log *log, *other;
	char torn[TEMP_PATH + 96];

	(void)state;
	log = open_log(LOG_CREATE | LOG_DRY_RUN);
	assert_true(temp_is(file, NULL));
	append(log, 0, "a\n", &info);
	assert_int_equal(info.off, 0);
	assert_false(info.id.exists);
	log_close(&log);
	assert_int_equal(temp_count(dir, "", NULL), 0);

	temp_puts(file, "a\nb{tail");
	assert_int_equal(log_stat(file, &before, &err), 0);
	snprintf(torn, sizeof(torn), "%s.torn-3", file);
	log = open_log(LOG_DRY_RUN);
	assert_int_equal(log_expect(log, &before, &err), 0);
	append(log, 3, "c\n", &info);
	assert_int_equal(info.off, 4);
	assert_int_equal(info.torn_bytes, 5);
	assert_string_equal(info.torn_path, torn);
	assert_int_equal(log_set_aside(log, 3, &info, &err), 0);
	assert_int_equal(info.off, 3);
	assert_string_equal(info.torn_path, torn);
	/* it keeps no writer out */
	other = open_log(0);
	log_close(&other);
	assert_int_equal(log_stat(file, &after, &err), 0);
	assert_int_equal(log_compare(&before, &after), LOG_SAME);
	assert_int_equal(temp_count(dir, "", NULL), 1);

	other = open_log(0); /* but a writer is seen */
	{
		struct log *dry;

		assert_int_equal(log_open(&dry, file, LOG_DRY_RUN, &err), ERR_LOCKED);
		err_clear(&err);
	}
	log_close(&other);
	temp_adds(file, "x");
	assert_int_equal(log_append(log, 3, "c\n", 2, &info, &err), ERR_CHANGED);
	log_close(&log);
}

static void test_dry_run_no_folder(void **state)
{
	struct log *log;

	(void)state;
	snprintf(file, sizeof(file), "%s/none/s.jsonl", dir);
	assert_int_equal(log_open(&log, file, LOG_CREATE | LOG_DRY_RUN, &err), ERR_IO);
	assert_int_equal(err.sys, ENOENT);
}

static void test_take_back(void **state)
{
	struct log_append_info first, info;
	struct log *log;

	(void)state;
	log = open_log(LOG_CREATE | LOG_BESIDE);
	append(log, 0, "a\n", &first);
	append(log, 2, "b\nc\n", &info);
	assert_int_equal(log_take_back(log, &first, &err), ERR_CHANGED); /* not the newest */
	err_clear(&err);
	assert_int_equal(log_take_back(log, &info, &err), 0);
	assert_true(temp_is(file, "a\n"));
	append(log, 2, "d\n", &info);
	assert_true(temp_is(file, "a\nd\n"));
	temp_adds(file, "x\n");
	assert_int_equal(log_take_back(log, &info, &err), ERR_CHANGED);
	log_close(&log);
	assert_true(temp_is(file, "a\nd\nx\n"));
	assert_int_equal(unlink(file), 0);
	err_clear(&err);

	log = open_log(LOG_CREATE | LOG_BESIDE);
	append(log, 0, "a\n", &info);
	assert_int_equal(log_take_back(log, &info, &err), 0);
	log_close(&log);
	assert_true(temp_is(file, NULL)); /* as if it had never been */
}

/* A child holds the lock until its pipe is closed. */
static pid_t hold_lock(int *release)
{
	int ready[2], end[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(end), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct log *log;

		close(end[1]);
		if (log_open(&log, file, 0, NULL) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		if (read(end[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(ready[1]);
	close(end[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	*release = end[1];
	return pid;
}

static void test_locked(void **state)
{
	char want[64];
	struct log *log;
	int release, status;
	pid_t pid;

	(void)state;
	temp_puts(file, "a\n");
	pid = hold_lock(&release);
	assert_int_equal(log_open(&log, file, LOG_CREATE, &err), ERR_LOCKED);
	snprintf(want, sizeof(want), "process %ld ", (long)pid);
	if (access("/proc/locks", R_OK) == 0 && !strstr(err.text, want))
		fail_msg("'%s' does not name %ld", err.text, (long)pid);
	err_clear(&err);
	close(release);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	log = open_log(0);
	append(log, 2, "b\n", NULL);
	log_close(&log);
}

static void test_locked_by_us(void **state)
{
	struct log *log, *second;

	(void)state;
	log = open_log(LOG_CREATE);
	assert_int_equal(log_open(&second, file, LOG_CREATE, &err), ERR_LOCKED);
	assert_null(second);
	err_clear(&err);
	assert_true(temp_is(file, "")); /* the loser leaves the file of the winner */
	append(log, 0, "a\n", NULL);
	log_close(&log);
	assert_true(temp_is(file, "a\n"));
}

/* A writer of whole files renames over the name after our stat, before our lock. */
static void replace_at_open(const struct fake_event *e, void *arg)
{
	char temp[TEMP_PATH + 80];
	int *left = arg;

	if (strcmp(e->name, "open") != 0 || strcmp(e->path, file) != 0 || *left == 0)
		return;
	--*left;
	snprintf(temp, sizeof(temp), "%s.new", file);
	temp_puts(temp, *left ? "x\n" : "y\n");
	if (rename(temp, file) < 0)
		exit(1);
}

static void test_replaced_at_open(void **state)
{
	struct log *log;
	int left = 3;

	(void)state;
	temp_puts(file, "a\n");
	fake_install();
	fake_listen(replace_at_open, &left);
	log = open_log(0);
	append(log, 2, "b\n", NULL);
	log_close(&log);
	assert_true(temp_is(file, "y\nb\n"));
	left = 1000;
	assert_int_equal(log_open(&log, file, 0, &err), ERR_CHANGED);
}

/* Somebody without the lock appends between our check and our write. */
static void intrude(const struct fake_event *e, void *arg)
{
	bool *done = arg;

	if (strcmp(e->name, "fsync_dir") != 0 || *done)
		return;
	*done = true;
	temp_adds(file, "intruder\n");
}

/* Both stand there whole: ours is acknowledged, at the place where it is. */
static void test_foreign_append(void **state)
{
	struct log_append_info info;
	bool done = false;
	struct log *log;

	(void)state;
	temp_puts(file, "a\n");
	fake_install();
	fake_listen(intrude, &done);
	log = open_log(0);
	append(log, 2, "b\n", &info);
	assert_true(done);
	assert_int_equal(info.off, 11);
	assert_int_equal(info.id.size, 13);
	append(log, 13, "c\n", &info);
	log_close(&log);
	assert_true(temp_is(file, "a\nintruder\nb\nc\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_append),
		FIXTURE_TEST(test_append_is_one_write),
		FIXTURE_TEST(test_append_usage),
		FIXTURE_TEST(test_created_is_removed),
		FIXTURE_TEST(test_created_by_another),
		FIXTURE_TEST(test_expect),
		FIXTURE_TEST(test_changed_before_append),
		FIXTURE_TEST(test_torn),
		FIXTURE_TEST(test_torn_name_taken),
		FIXTURE_TEST(test_torn_large),
		FIXTURE_TEST(test_dry_run),
		FIXTURE_TEST(test_dry_run_no_folder),
		FIXTURE_TEST(test_take_back),
		FIXTURE_TEST(test_locked),
		FIXTURE_TEST(test_locked_by_us),
		FIXTURE_TEST(test_replaced_at_open),
		FIXTURE_TEST(test_foreign_append),
	};

	return cmocka_run_group_tests_name("writer", tests, NULL, NULL);
}
