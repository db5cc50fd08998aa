/*
 * t-log.c - src/log as its callers see it: reading, lines, what is refused,
 * how changes are seen, the lock, dry runs, torn tails, publishing.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "log/internal.h"
#include "log/log.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/temp.h"

static char dir[TEMP_PATH], file[TEMP_PATH + 64];
static struct err err;

static int setup(void **state)
{
	(void)state;
	temp_make(dir);
	snprintf(file, sizeof(file), "%s/s.jsonl", dir);
	err_clear(&err);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_remove();
	temp_remove(dir);
	return 0;
}

static struct log_reader *open_reader(void)
{
	struct log_reader *r;

	if (log_reader_open(&r, file, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static struct log *open_log(unsigned flags)
{
	struct log *log;

	if (log_open(&log, file, flags, &err) < 0)
		fail_msg("%s", err.text);
	return log;
}

static void expect_line(struct log_reader *r, const char *text, uint64_t off, uint64_t number,
	bool ended)
{
	struct log_line line;
	size_t i;

	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_int_equal(line.n, strlen(text));
	assert_memory_equal(line.p, text, line.n);
	assert_int_equal(line.off, off);
	assert_int_equal(line.number, number);
	assert_int_equal(line.ended, ended);
	assert_false(line.too_long);
	assert_int_equal(line.p[line.n], '\n');
	for (i = 1; i < LINE_SLACK; i++) /* a sanitizer sees when it is not there */
		assert_true(line.p[line.n + i] <= 0 || line.p[line.n + i] > 0);
}

static void expect_end(struct log_reader *r)
{
	struct log_line line;

	assert_int_equal(log_next_line(r, &line, &err), 0);
	assert_int_equal(log_next_line(r, &line, &err), 0);
}

/* ---- lines ---- */

static void test_lines(void **state)
{
	static const char text[] = "one\r\n\n\xff\x80\ntwo";
	struct log_reader *r;

	(void)state;
	temp_puts(file, text);
	r = open_reader();
	expect_line(r, "one\r", 0, 1, true);
	expect_line(r, "", 5, 2, true);
	expect_line(r, "\xff\x80", 6, 3, true);
	expect_line(r, "two", 9, 4, false);
	expect_end(r);
	log_seek_line(r, 6, 3);
	expect_line(r, "\xff\x80", 6, 3, true);
	log_seek_line(r, 12, 9);
	expect_end(r);
	log_reader_close(&r);
	assert_null(r);
	log_reader_close(&r);
}

static void test_lines_nul(void **state)
{
	struct log_reader *r;
	struct log_line line;

	(void)state;
	temp_put(file, "a\0b\n\0\n", 6);
	r = open_reader();
	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_int_equal(line.n, 3);
	assert_memory_equal(line.p, "a\0b\n", 4);
	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_int_equal(line.n, 1);
	assert_int_equal(line.p[0], 0);
	expect_end(r);
	log_reader_close(&r);
}

static void test_lines_empty(void **state)
{
	struct log_reader *r;

	(void)state;
	temp_puts(file, "");
	r = open_reader();
	assert_int_equal(log_reader_id(r)->size, 0);
	expect_end(r);
	log_reader_close(&r);
	temp_puts(file, "\n");
	r = open_reader();
	expect_line(r, "", 0, 1, true);
	expect_end(r);
	log_reader_close(&r);
}

/* Longer than the largest window, in the middle of the file and at its end. */
static void test_lines_long(void **state)
{
	enum { N = 3 << 20 };
	char *text = malloc(2 * N + 100);
	struct log_reader *r;
	struct log_line line;
	size_t n = 0, k;

	(void)state;
	assert_non_null(text);
	n += (size_t)sprintf(text, "first\n");
	for (k = 0; k < N; k++)
		text[n++] = (char)('a' + k % 26);
	n += (size_t)sprintf(text + n, "\nthird\n");
	for (k = 0; k < N; k++)
		text[n++] = (char)('A' + k % 26);
	temp_put(file, text, n);
	r = open_reader();
	expect_line(r, "first", 0, 1, true);
	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_int_equal(line.n, N);
	assert_int_equal(line.off, 6);
	assert_memory_equal(line.p, text + 6, N + 1);
	expect_line(r, "third", 7 + N, 3, true);
	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_int_equal(line.n, N);
	assert_int_equal(line.number, 4);
	assert_memory_equal(line.p, text + 13 + N, N);
	assert_false(line.ended);
	assert_int_equal(line.p[N], '\n');
	expect_end(r);
	log_reader_close(&r);
	free(text);
}

static void test_lines_too_long(void **state)
{
	static const size_t lengths[] = { 99, 100, 101, 250, 1000 };
	char text[8192], want[1001];
	size_t n = 0, off = 0, i;
	struct log_reader *r;
	struct log_line line;

	(void)state;
	for (i = 0; i < 5; i++) {
		memset(text + n, 'x', lengths[i]);
		n += lengths[i];
		text[n++] = '\n';
	}
	n += (size_t)sprintf(text + n, "last\n");
	memset(text + n, 'y', 300);
	temp_put(file, text, n + 300);
	r = open_reader();
	log_reader_tune(r, 16, 64, 100);
	for (i = 0; i < 5; i++) {
		if (lengths[i] <= 100) {
			memset(want, 'x', lengths[i]);
			want[lengths[i]] = '\0';
			expect_line(r, want, off, i + 1, true);
		} else {
			assert_int_equal(log_next_line(r, &line, &err), 1);
			assert_true(line.too_long);
			assert_null(line.p);
			assert_int_equal(line.n, lengths[i]);
			assert_int_equal(line.off, off);
			assert_int_equal(line.number, i + 1);
			assert_true(line.ended);
		}
		off += lengths[i] + 1;
	}
	expect_line(r, "last", off, 6, true);
	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_true(line.too_long);
	assert_int_equal(line.n, 300);
	assert_false(line.ended);
	expect_end(r);
	log_reader_close(&r);
}

/* A line over the limit of 256 MB (a hole in the file) costs no such memory. */
static void test_lines_huge(void **state)
{
	uint64_t n = (uint64_t)LOG_MAX_LINE + 12345;
	static struct fake_trace trace;
	struct log_reader *r;
	struct log_line line;
	unsigned i;

	(void)state;
	temp_puts(file, "a\n");
	assert_int_equal(truncate(file, (off_t)(2 + n)), 0);
	temp_adds(file, "\nz\n");
	fake_install();
	r = open_reader();
	expect_line(r, "a", 0, 1, true);
	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_true(line.too_long);
	assert_int_equal(line.n, n);
	expect_line(r, "z", 3 + n, 3, true);
	expect_end(r);
	fake_trace(&trace);
	for (i = 0; i < trace.n; i++)
		assert_true(trace.call[i].bytes <= LINE_WINDOW_MAX + LINE_SLACK);
	log_reader_close(&r);
}

static uint64_t seed = 20261130;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static size_t random_text(char *out, size_t size)
{
	size_t n = below((unsigned)size), i;
	unsigned rarity = 1 + below(60);

	for (i = 0; i < n; i++)
		out[i] = below(rarity) == 0 ? '\n' : (char)below(256);
	return n;
}

/* The same lines by one memchr over everything as through any windows. */
static void check_against_whole(struct log_reader *r, const char *text, size_t n, size_t max_line)
{
	size_t at = 0, number = 1;
	struct log_line line;

	while (at < n) {
		const char *nl = memchr(text + at, '\n', n - at);
		size_t len = nl ? (size_t)(nl - text) - at : n - at;

		assert_int_equal(log_next_line(r, &line, &err), 1);
		assert_int_equal(line.off, at);
		assert_int_equal(line.n, len);
		assert_int_equal(line.number, number++);
		assert_int_equal(line.ended, nl != NULL);
		assert_int_equal(line.too_long, len > max_line);
		if (!line.too_long) {
			assert_memory_equal(line.p, text + at, len);
			assert_int_equal(line.p[len], '\n');
			assert_int_equal(line.p[len + LINE_SLACK - 1], line.p[len + LINE_SLACK - 1]);
		}
		at += len + (nl != NULL);
	}
	expect_end(r);
}

static void test_lines_windows(void **state)
{
	static char text[3000];
	int round, windows;

	(void)state;
	for (round = 0; round < 400; round++) {
		size_t n = random_text(text, sizeof(text));
		struct log_reader *r;

		temp_put(file, text, n);
		r = open_reader();
		check_against_whole(r, text, n, LOG_MAX_LINE);
		for (windows = 0; windows < 6; windows++) {
			size_t first = 1 + below(80), max = first + below(300);
			size_t max_line = below(3) ? LOG_MAX_LINE : below(200);

			log_reader_tune(r, first, max, max_line);
			log_seek_line(r, 0, 1);
			check_against_whole(r, text, n, max_line);
		}
		log_reader_close(&r);
	}
}

/* ---- how a file changes under a reader ---- */

static enum log_change refresh(struct log_reader *r)
{
	enum log_change change;

	if (log_reader_refresh(r, &change, &err) < 0)
		fail_msg("%s", err.text);
	return change;
}

static void test_growth(void **state)
{
	struct log_reader *r;

	(void)state;
	temp_puts(file, "a\nb");
	r = open_reader();
	expect_line(r, "a", 0, 1, true);
	expect_line(r, "b", 2, 2, false);
	temp_adds(file, "c\nd\n");
	expect_end(r); /* not before the refresh */
	assert_int_equal(refresh(r), LOG_GREW);
	log_seek_line(r, 2, 2);
	expect_line(r, "bc", 2, 2, true);
	expect_line(r, "d", 5, 3, true);
	expect_end(r);
	assert_int_equal(refresh(r), LOG_SAME);
	temp_adds(file, "e\n");
	assert_int_equal(refresh(r), LOG_GREW); /* goes on where it was without a seek, too */
	expect_line(r, "e", 7, 4, true);
	log_reader_close(&r);
}

/* The writer cut a tail that was in our window and wrote something longer. */
static void test_growth_over_tail(void **state)
{
	struct log_reader *r;

	(void)state;
	temp_puts(file, "a\nb\n{to");
	r = open_reader();
	expect_line(r, "a", 0, 1, true); /* all is in the window now */
	temp_puts(file, "a\nb\n{other}\n");
	assert_int_equal(refresh(r), LOG_GREW);
	expect_line(r, "b", 2, 2, true);
	expect_line(r, "{other}", 4, 3, true);
	expect_end(r);
	log_reader_close(&r);
}

static void set_mtime(const char *path, long seconds)
{
	struct timespec times[2] = { { seconds, 0 }, { seconds, 0 } };

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_rewritten(void **state)
{
	struct log_reader *r;

	(void)state;
	temp_puts(file, "aa\nbb\n");
	set_mtime(file, 1000);
	r = open_reader();
	expect_line(r, "aa", 0, 1, true);
	temp_puts(file, "cc\ndd\n"); /* as long as before */
	assert_int_equal(refresh(r), LOG_REWRITTEN);
	expect_line(r, "cc", 0, 1, true);
	temp_puts(file, "e\n"); /* shorter */
	assert_int_equal(refresh(r), LOG_REWRITTEN);
	expect_line(r, "e", 0, 1, true);
	expect_end(r);
	log_reader_close(&r);
}

static void test_replaced_gone(void **state)
{
	char temp[TEMP_PATH + 80];
	struct log_reader *r;

	(void)state;
	snprintf(temp, sizeof(temp), "%s.new", file);
	temp_puts(file, "old\n");
	r = open_reader();
	temp_puts(temp, "new and longer\n");
	assert_int_equal(rename(temp, file), 0);
	assert_int_equal(refresh(r), LOG_REPLACED);
	expect_line(r, "new and longer", 0, 1, true);
	log_seek_line(r, 0, 1);
	assert_int_equal(rename(file, temp), 0);
	assert_int_equal(refresh(r), LOG_GONE);
	expect_line(r, "new and longer", 0, 1, true); /* what is open stays */
	assert_int_equal(refresh(r), LOG_GONE);
	assert_int_equal(rename(temp, file), 0);
	assert_int_equal(refresh(r), LOG_SAME);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(mkfifo(file, 0600), 0);
	{
		enum log_change change;

		assert_int_equal(log_reader_refresh(r, &change, &err), ERR_UNSUPPORTED);
		assert_non_null(strstr(err.text, "is a fifo"));
		err_clear(&err);
	}
	log_seek_line(r, 0, 1);
	expect_line(r, "new and longer", 0, 1, true);
	log_reader_close(&r);
}

static void test_shorter_while_reading(void **state)
{
	struct log_reader *r;

	(void)state;
	temp_puts(file, "aaaa\nbbbb\ncccc\n");
	r = open_reader();
	log_reader_tune(r, 5, 5, LOG_MAX_LINE);
	expect_line(r, "aaaa", 0, 1, true);
	assert_int_equal(truncate(file, 7), 0);
	expect_line(r, "bb", 5, 2, false);
	expect_end(r);
	log_reader_close(&r);
}

static void test_compare(void **state)
{
	struct log_id none = { 0 }, a = { 1, 2, 3, 4, true }, b = a;

	(void)state;
	assert_int_equal(log_compare(&a, &b), LOG_SAME);
	assert_int_equal(log_compare(&none, &none), LOG_SAME);
	assert_int_equal(log_compare(&a, &none), LOG_GONE);
	assert_int_equal(log_compare(&none, &a), LOG_REPLACED);
	b.size = 4;
	assert_int_equal(log_compare(&a, &b), LOG_GREW);
	assert_int_equal(log_compare(&b, &a), LOG_REWRITTEN);
	b = a;
	b.mtime_ns = 3;
	assert_int_equal(log_compare(&a, &b), LOG_REWRITTEN);
	b = a;
	b.ino = 9;
	assert_int_equal(log_compare(&a, &b), LOG_REPLACED);
	b = a;
	b.dev = 9;
	assert_int_equal(log_compare(&a, &b), LOG_REPLACED);
}

static void test_stat_pread_read_file(void **state)
{
	struct buf out = { 0 };
	struct log_reader *r;
	struct log_id id;
	char bytes[8] = "";
	size_t got;

	(void)state;
	assert_int_equal(log_stat(file, &id, &err), 0);
	assert_false(id.exists);
	assert_int_equal(log_read_file(file, 10, &out, &id, &err), ERR_IO);
	assert_int_equal(err.sys, ENOENT);
	err_clear(&err);
	temp_puts(file, "0123456789");
	assert_int_equal(log_stat(file, &id, &err), 0);
	assert_true(id.exists && id.size == 10);
	r = open_reader();
	assert_int_equal(log_pread(r, 7, bytes, 8, &got, &err), 0);
	assert_int_equal(got, 3);
	assert_memory_equal(bytes, "789", 3);
	assert_int_equal(log_pread(r, 99, bytes, 8, &got, &err), 0);
	assert_int_equal(got, 0);
	assert_int_equal(log_pread(r, UINT64_MAX, bytes, 8, &got, &err), ERR_LIMIT);
	err_clear(&err);
	log_reader_close(&r);

	buf_adds(&out, "> ");
	assert_int_equal(log_read_file(file, 9, &out, NULL, &err), ERR_LIMIT);
	err_clear(&err);
	assert_string_equal(out.p, "> ");
	assert_int_equal(log_read_file(file, 10, &out, &id, &err), 0);
	assert_string_equal(out.p, "> 0123456789");
	assert_int_equal(out.n, 12);
	assert_int_equal(id.size, 10);
	/* stat says 0 bytes: the content counts, and so does the cap */
	buf_clear(&out);
	assert_int_equal(log_read_file("/proc/self/status", 1 << 20, &out, NULL, &err), 0);
	assert_true(out.n > 100);
	assert_int_equal(log_read_file("/proc/self/status", 50, &out, NULL, &err), ERR_LIMIT);
	buf_release(&out);
}

/* ---- what is refused ---- */

static void refused(const char *path, const char *why)
{
	struct log_reader *r;
	struct buf out = { 0 };
	struct log *log;

	err_clear(&err);
	assert_int_equal(log_reader_open(&r, path, &err), ERR_UNSUPPORTED);
	assert_null(r);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	err_clear(&err);
	assert_int_equal(log_read_file(path, 100, &out, NULL, &err), ERR_UNSUPPORTED);
	err_clear(&err);
	assert_int_equal(log_open(&log, path, LOG_CREATE, &err), ERR_UNSUPPORTED);
	assert_null(log);
	err_clear(&err);
	assert_null(out.p);
}

static void no_answer(int sig)
{
	static const char text[] = "t-log: an open blocks\n";

	(void)sig;
	if (write(2, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

static void test_refused(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char path[TEMP_PATH + 80], target[TEMP_PATH + 80];
	struct log_reader *r;
	int fd;

	(void)state;
	signal(SIGALRM, no_answer);
	alarm(20);
	assert_int_equal(mkfifo(file, 0600), 0);
	refused(file, "is a fifo");
	snprintf(path, sizeof(path), "%s/link-to-fifo", dir);
	assert_int_equal(symlink(file, path), 0);
	refused(path, "is a fifo");
	refused(dir, "is a folder");
	refused("/dev/null", "is a device");
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%.80s/socket", dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	refused(address.sun_path, "is a socket");
	close(fd);

	snprintf(target, sizeof(target), "%s/real", dir);
	snprintf(path, sizeof(path), "%s/link", dir);
	temp_puts(target, "through\n");
	assert_int_equal(symlink("real", path), 0);
	assert_int_equal(log_reader_open(&r, path, &err), 0);
	expect_line(r, "through", 0, 1, true);
	log_reader_close(&r);
	snprintf(path, sizeof(path), "%s/dangling", dir);
	assert_int_equal(symlink("nowhere", path), 0);
	assert_int_equal(log_reader_open(&r, path, &err), ERR_IO);
	assert_int_equal(err.sys, ENOENT);
	alarm(0);
}

static void test_refused_paths(void **state)
{
	char *path = malloc(6000);
	struct log_reader *r;
	struct log_pub *pub;
	struct log *log;

	(void)state;
	assert_non_null(path);
	memset(path, 'p', 5999);
	path[5999] = '\0';
	assert_int_equal(log_reader_open(&r, path, &err), ERR_IO);
	assert_int_equal(err.sys, ENAMETOOLONG);
	err_clear(&err);
	assert_int_equal(log_open(&log, path, 0, &err), ERR_IO);
	err_clear(&err);
	assert_int_equal(log_pub_begin(&pub, path, &err), ERR_IO);
	assert_null(pub);
	err_clear(&err);
	assert_int_equal(log_mkdirs(path, &err), ERR_IO);
	err_clear(&err);
	assert_int_equal(log_move(path, file, &err), ERR_IO);
	free(path);
}

/* Not even the access time. */
static void test_reading_is_passive(void **state)
{
	struct timespec old[2] = { { 1000, 0 }, { 2000, 0 } };
	struct log_reader *r;
	struct log_line line;
	struct stat a, b;

	(void)state;
	temp_puts(file, "1\n2\n3");
	assert_int_equal(utimensat(AT_FDCWD, file, old, 0), 0);
	assert_int_equal(stat(file, &a), 0);
	r = open_reader();
	while (log_next_line(r, &line, &err) > 0)
		;
	refresh(r);
	log_reader_close(&r);
	assert_int_equal(stat(file, &b), 0);
	assert_int_equal(a.st_atim.tv_sec, b.st_atim.tv_sec);
	assert_int_equal(a.st_mtim.tv_sec, b.st_mtim.tv_sec);
	assert_int_equal(a.st_ctim.tv_nsec, b.st_ctim.tv_nsec);
	assert_int_equal(temp_count(dir, "", NULL), 1);
}

/* O_NOATIME is for the owner only: the next open does without. */
static void test_noatime_refused(void **state)
{
	struct log_reader *r;

	(void)state;
	temp_puts(file, "x\n");
	fake_install();
	fake_plan(FAKE_ONCE, 3, EPERM);
	r = open_reader();
	assert_string_equal(fake_call_name(3), "open");
	assert_string_equal(fake_call_name(4), "open");
	expect_line(r, "x", 0, 1, true);
	log_reader_close(&r);
}

/* ---- the writer ---- */

static void append(struct log *log, uint64_t committed, const char *text,
	struct log_append_info *info)
{
	if (log_append(log, committed, text, strlen(text), info, &err) < 0)
		fail_msg("%s", err.text);
}

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
		assert_string_equal(trace.call[i + 1].name, "fdatasync");
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

static void test_foreign_append(void **state)
{
	bool done = false;
	struct log *log;

	(void)state;
	temp_puts(file, "a\n");
	fake_install();
	fake_listen(intrude, &done);
	log = open_log(0);
	assert_int_equal(log_append(log, 2, "b\n", 2, NULL, &err), ERR_BROKEN);
	assert_true(done);
	err_clear(&err);
	assert_int_equal(log_append(log, 2, "c\n", 2, NULL, &err), ERR_BROKEN);
	err_clear(&err);
	assert_int_equal(log_set_aside(log, 2, NULL, &err), ERR_BROKEN);
	log_close(&log);
	/* Not a byte of theirs is cut or overwritten. */
	assert_true(temp_is(file, "a\nintruder\nb\n"));
}

/* ---- whole files and names ---- */

static void test_publish(void **state)
{
	struct log_pub *pub;
	struct stat st;
	int i;

	(void)state;
	assert_int_equal(log_pub_begin(&pub, file, &err), 0);
	assert_int_equal(temp_count(dir, ".s.jsonl.", NULL), 1);
	for (i = 0; i < 40000; i++)
		assert_int_equal(log_pub_write(pub, "0123456789", 10, &err), 0);
	assert_true(temp_is(file, NULL));
	assert_int_equal(log_pub_commit(&pub, &err), 0);
	assert_null(pub);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_size, 400000);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_nlink, 1);
	assert_int_equal(temp_count(dir, "", NULL), 1);

	temp_puts(file, "first");
	assert_int_equal(log_pub_begin(&pub, file, &err), 0);
	assert_int_equal(log_pub_write(pub, "second", 6, &err), 0);
	assert_int_equal(log_pub_commit(&pub, &err), ERR_EXISTS);
	assert_null(pub);
	err_clear(&err);
	assert_true(temp_is(file, "first"));
	assert_int_equal(log_pub_begin(&pub, file, &err), 0);
	log_pub_abort(&pub);
	assert_null(pub);
	assert_int_equal(temp_count(dir, "", NULL), 1);
}

static void test_replace(void **state)
{
	char link[TEMP_PATH + 80];
	struct log_id id, none = { 0 };
	struct stat st;

	(void)state;
	assert_int_equal(log_replace(file, "new", 3, &none, &err), 0);
	assert_true(temp_is(file, "new"));
	assert_int_equal(log_replace(file, "x", 1, &none, &err), ERR_CHANGED);
	err_clear(&err);
	assert_int_equal(log_stat(file, &id, &err), 0);
	assert_int_equal(chmod(file, 0644), 0);
	assert_int_equal(log_replace(file, "newer", 5, &id, &err), 0);
	assert_true(temp_is(file, "newer"));
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(log_replace(file, "x", 1, &id, &err), ERR_CHANGED);
	err_clear(&err);
	assert_true(temp_is(file, "newer"));
	assert_int_equal(log_replace(file, "", 0, NULL, &err), 0);
	assert_true(temp_is(file, ""));

	snprintf(link, sizeof(link), "%s.link", file);
	assert_int_equal(symlink("s.jsonl", link), 0);
	assert_int_equal(log_replace(link, "x", 1, NULL, &err), ERR_UNSUPPORTED);
	err_clear(&err);
	assert_int_equal(log_replace(dir, "x", 1, NULL, &err), ERR_UNSUPPORTED);
	assert_true(temp_is(file, ""));
	assert_int_equal(temp_count(dir, "", NULL), 2);
}

static void appear(const struct fake_event *e, void *arg)
{
	const char *name = arg;

	if (!strcmp(e->name, name))
		temp_puts(file, "theirs");
}

/* The file changes, or comes, while the new content is being written. */
static void test_replace_races(void **state)
{
	struct log_id id, none = { 0 };
	char name[] = "write";

	(void)state;
	fake_install();
	fake_listen(appear, name);
	assert_int_equal(log_replace(file, "ours", 4, &none, &err), ERR_CHANGED);
	err_clear(&err);
	assert_true(temp_is(file, "theirs"));
	fake_listen(NULL, NULL);
	temp_puts(file, "before");
	set_mtime(file, 1000);
	assert_int_equal(log_stat(file, &id, &err), 0);
	fake_listen(appear, name);
	assert_int_equal(log_replace(file, "ours", 4, &id, &err), ERR_CHANGED);
	assert_true(temp_is(file, "theirs"));
	assert_int_equal(temp_count(dir, "", NULL), 1);
}

static void test_names(void **state)
{
	char a[TEMP_PATH + 64], b[sizeof(a) + 8], c[sizeof(a) + 8];
	struct stat st;

	(void)state;
	snprintf(a, sizeof(a), "%s/deep/er", dir);
	snprintf(b, sizeof(b), "%s/x", a);
	snprintf(c, sizeof(c), "%s/y", a);
	assert_int_equal(log_mkdirs(a, &err), 0);
	assert_int_equal(log_mkdirs(a, &err), 0);
	assert_int_equal(stat(a, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	temp_puts(file, "moved");
	assert_int_equal(log_move(file, b, &err), 0);
	assert_true(temp_is(b, "moved"));
	assert_true(temp_is(file, NULL));
	temp_puts(c, "there");
	assert_int_equal(log_move(b, c, &err), ERR_EXISTS);
	err_clear(&err);
	assert_true(temp_is(b, "moved"));
	assert_true(temp_is(c, "there"));
	assert_int_equal(log_move(file, c, &err), ERR_IO);
	err_clear(&err);
	assert_int_equal(log_unlink(c, &err), 0);
	assert_true(temp_is(c, NULL));
	assert_int_equal(log_unlink(c, &err), ERR_IO);
	assert_int_equal(err.sys, ENOENT);
	err_clear(&err);
	assert_int_equal(log_mkdirs(b, &err), ERR_IO); /* a file is in the way */
	assert_int_equal(err.sys, ENOTDIR);
	err_clear(&err);
	assert_int_equal(log_can_write(a, &err), 0);
	assert_int_equal(log_can_write(b, &err), ERR_UNSUPPORTED);
	err_clear(&err);
	assert_int_equal(log_can_write(c, &err), ERR_IO);
}

static void test_relative_paths(void **state)
{
	char old[4096];
	struct log *log;

	(void)state;
	assert_non_null(getcwd(old, sizeof(old)));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(log_mkdirs("d", &err), 0);
	assert_int_equal(log_mkdirs("d/e/", &err), 0);
	assert_int_equal(log_open(&log, "s.jsonl", LOG_CREATE, &err), 0);
	append(log, 0, "a\n", NULL);
	log_close(&log);
	assert_int_equal(log_replace("d/x", "1", 1, NULL, &err), 0);
	assert_int_equal(log_move("d/x", "x", &err), 0);
	assert_int_equal(chdir(old), 0);
	assert_true(temp_is(file, "a\n"));
	assert_int_equal(temp_count(dir, "", NULL), 3);
}

/* A folder of somebody else, as an ordinary user. */
static void test_no_permission(void **state)
{
	struct log_reader *r;
	struct log_pub *pub;
	struct log *log;
	int status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	temp_puts(file, "a\n");
	assert_int_equal(chmod(file, 0644), 0);
	assert_int_equal(chmod(dir, 0755), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		bool ok;

		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(77);
		ok = log_reader_open(&r, file, NULL) == 0; /* O_NOATIME is refused here */
		log_reader_close(&r);
		ok = ok && log_open(&log, file, 0, &err) == ERR_IO && err.sys == EACCES;
		err_clear(&err);
		ok = ok && log_can_write(dir, &err) == ERR_IO && err.sys == EACCES;
		ok = ok && log_pub_begin(&pub, file, NULL) == ERR_IO;
		_exit(ok ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_lines), T(test_lines_nul), T(test_lines_empty), T(test_lines_long),
		T(test_lines_too_long), T(test_lines_huge), T(test_lines_windows),
		T(test_growth), T(test_growth_over_tail), T(test_rewritten),
		T(test_replaced_gone), T(test_shorter_while_reading), T(test_compare),
		T(test_stat_pread_read_file), T(test_refused), T(test_refused_paths),
		T(test_reading_is_passive), T(test_noatime_refused),
		T(test_append), T(test_append_is_one_write), T(test_append_usage),
		T(test_created_is_removed), T(test_expect), T(test_changed_before_append),
		T(test_torn), T(test_torn_name_taken), T(test_torn_large),
		T(test_dry_run), T(test_dry_run_no_folder), T(test_locked), T(test_locked_by_us),
		T(test_replaced_at_open), T(test_foreign_append), T(test_publish),
		T(test_replace), T(test_replace_races), T(test_names), T(test_relative_paths),
		T(test_no_permission),
	};
#undef T
	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
