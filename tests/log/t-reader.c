/*
 * t-reader.c - passive reading: how a file changes under a reader, and
 * what is refused without being opened.
 */
#include "config.h"

#include "tests/log/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* What a writer puts behind the first 5 bytes after each cut; NULL: no more cuts. */
static const char *const *rewrites;

static ssize_t pread_under_cut(int fd, void *p, size_t n, off_t off)
{
	ssize_t got = sys_real.pread(fd, p, n, off);

	if (!*rewrites || got <= 5)
		return got;
	memset((char *)p + 5, 0, (size_t)got - 5);
	assert_int_equal(truncate(file, 5), 0);
	temp_adds(file, *rewrites++);
	return got;
}

static void check_cut(const char *const *plan, const char *second, bool ended)
{
	struct sys table = sys_real;
	struct log_reader *r;

	table.pread = pread_under_cut;
	sys_install(&table);
	rewrites = plan;
	temp_puts(file, "aaaa\nbbbb\ncccc\n");
	r = open_reader();
	expect_line(r, "aaaa", 0, 1, true);
	if (second)
		expect_line(r, second, 5, 2, ended);
	else
		expect_end(r);
	assert_null(*rewrites);
	log_reader_close(&r);
	sys_install(NULL);
}

/* Linux clears the end of a page that is cut while it is read. */
static void test_cleared_while_reading(void **state)
{
	static const char *const gone[] = { "", NULL }, *const shorter[] = { "bbb", NULL },
			 *const longer[] = { "bbbb\ncccc\ndddd\n", NULL },
			 *const often[] = { "bbbb\ncccc\nddd", "bbbb\ncccc\n",
				 "eeee\ncccc\ndddd\n", NULL };
	struct log_reader *r;
	struct log_line line;

	(void)state;
	check_cut(gone, NULL, false);
	check_cut(shorter, "bbb", false);
	check_cut(longer, "bbbb", true);
	check_cut(often, "eeee", true);

	temp_put(file, "aa\0a\n", 5); /* a NUL that does stand in the file */
	r = open_reader();
	temp_adds(file, "bbbb\n");
	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_int_equal(line.n, 4);
	assert_memory_equal(line.p, "aa\0a", 4);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_growth),
		FIXTURE_TEST(test_growth_over_tail),
		FIXTURE_TEST(test_rewritten),
		FIXTURE_TEST(test_replaced_gone),
		FIXTURE_TEST(test_shorter_while_reading),
		FIXTURE_TEST(test_cleared_while_reading),
		FIXTURE_TEST(test_compare),
		FIXTURE_TEST(test_stat_pread_read_file),
		FIXTURE_TEST(test_refused),
		FIXTURE_TEST(test_refused_paths),
		FIXTURE_TEST(test_reading_is_passive),
		FIXTURE_TEST(test_noatime_refused),
	};

	return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
