/*
 * t-names.c - whole files and names: publish, replace, move, make folders.
 */
#include "config.h"

#include "tests/log/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_publish),
		FIXTURE_TEST(test_replace),
		FIXTURE_TEST(test_replace_races),
		FIXTURE_TEST(test_names),
		FIXTURE_TEST(test_relative_paths),
		FIXTURE_TEST(test_no_permission),
	};

	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
