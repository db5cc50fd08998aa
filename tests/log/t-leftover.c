/*
 * t-leftover.c - temporary files of writers that are gone: which are removed,
 * which are left alone, and that a writer that lives keeps its own.
 */
#include "config.h"

#include "tests/log/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"

static char left[TEMP_PATH + 64], other[TEMP_PATH + 64];

static void make_left(const char *text)
{
	snprintf(left, sizeof(left), "%s/.s.jsonl.0123456789ab.tmp", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	temp_puts(left, text);
	set_mtime(left, 1000);
}

static int drop(bool dry)
{
	err_clear(&err);
	return log_drop_leftover(left, dry, &err);
}

static void test_names(void **state)
{
	static const char *const not_ours[] = { "s.jsonl.0123456789ab.tmp", ".s.jsonl.0123456789aB.tmp",
		".s.jsonl.0123456789a.tmp", ".s.jsonl.0123456789abc.tmp", ".s.jsonl.0123456789ab.tmp2",
		".s.jsonl.0123456789ab", ".s.jsonl.tmp", "..0123456789ab.tmp", ".0123456789ab.tmp",
		".tmp", ".s.jsonl-0123456789ab.tmp", ".s.jsonl.0123456789ag.tmp", "", "." };
	struct log_pub *pub;
	size_t n = 0;

	(void)state;
	assert_true(log_is_leftover(".s.jsonl.0123456789ab.tmp", &n));
	assert_int_equal(n, 7);
	assert_true(log_is_leftover(".s.0123456789ab.0123456789ab.tmp", &n));
	assert_int_equal(n, 14);
	assert_true(log_is_leftover(".a.000000000000.tmp", &n));
	assert_int_equal(n, 1);
	assert_false(log_is_leftover(".a.000000000000.old", &n));
	assert_true(log_is_set_aside(".ab.000000000000.old", &n));
	assert_int_equal(n, 2);
	for (size_t i = 0; i < sizeof(not_ours) / sizeof(*not_ours); i++)
		assert_false(log_is_leftover(not_ours[i], &n));
	/* what a publisher makes has such a name */
	assert_int_equal(log_pub_begin(&pub, file, &err), 0);
	assert_int_equal(temp_count(dir, "", left), 1);
	assert_true(log_is_leftover(path_base(left), &n));
	assert_int_equal(n, strlen("s.jsonl"));
	log_pub_abort(&pub);
}

static void test_drop(void **state)
{
	(void)state;
	make_left("half a fi");
	assert_int_equal(drop(true), 0);
	assert_true(temp_is(left, "half a fi"));
	assert_int_equal(drop(false), 0);
	assert_true(temp_is(left, NULL));
	assert_int_equal(drop(false), ERR_IO);
	assert_int_equal(err.sys, ENOENT);
	/* a complete file keeps its own name, however new it is */
	make_left("a whole file");
	assert_int_equal(link(left, file), 0);
	assert_int_equal(utimensat(AT_FDCWD, left, NULL, 0), 0);
	assert_int_equal(drop(false), 0);
	assert_true(temp_is(left, NULL));
	assert_true(temp_is(file, "a whole file"));
}

static struct sys changed;

static int lease_that_sees(int fd, int type)
{
	errno = EAGAIN;
	return type == F_UNLCK ? 0 : -1;
}

static int lease_of_none(int fd, int type)
{
	errno = ENOTSUP;
	return type == F_UNLCK ? 0 : -1;
}

static int lease_granted(int fd, int type)
{
	return 0;
}

static void test_left_alone(void **state)
{
	char target[TEMP_PATH + 64];

	int fd;

	(void)state;
	/* of a writer that takes no lock: it is open, or young where that can not be known */
	make_left("open");
	fd = open(left, O_WRONLY);
	assert_true(fd >= 0);
	changed = sys_real;
	if (drop(true) == 0) { /* no leases here */
		changed.lease = lease_that_sees;
		sys_install(&changed);
	}
	assert_int_equal(drop(false), ERR_LOCKED);
	assert_true(temp_is(left, "open"));
	close(fd);
	changed.lease = lease_of_none;
	sys_install(&changed);
	assert_int_equal(utimensat(AT_FDCWD, left, NULL, 0), 0);
	assert_int_equal(drop(false), ERR_LOCKED);
	assert_true(temp_is(left, "open"));
	set_mtime(left, 1000);
	assert_int_equal(drop(false), 0);
	sys_install(NULL);
	make_left("young, but nobody has it open");
	assert_int_equal(utimensat(AT_FDCWD, left, NULL, 0), 0);
	changed.lease = lease_granted;
	sys_install(&changed);
	assert_int_equal(drop(false), 0);
	sys_install(NULL);
	/* another form of name, a link, a folder, a fifo */
	snprintf(target, sizeof(target), "%s/.s.jsonl.staging.tmp", dir);
	temp_puts(target, "not ours");
	set_mtime(target, 1000);
	assert_int_equal(log_drop_leftover(target, false, &err), ERR_USAGE);
	assert_true(temp_is(target, "not ours"));
	assert_int_equal(symlink(target, left), 0);
	assert_int_equal(drop(false), ERR_UNSUPPORTED);
	assert_true(temp_is(target, "not ours"));
	assert_true(temp_is(left, "not ours"));
	unlink(left);
	assert_int_equal(mkdir(left, 0700), 0);
	assert_int_equal(drop(false), ERR_UNSUPPORTED);
	rmdir(left);
	assert_int_equal(mkfifo(left, 0600), 0);
	assert_int_equal(drop(false), ERR_UNSUPPORTED);
	unlink(left);
	if (geteuid() == 0) {
		make_left("of another user");
		assert_int_equal(chown(left, 12345, 12345), 0);
		assert_int_equal(drop(false), ERR_UNSUPPORTED);
		assert_true(temp_is(left, "of another user"));
	}
}

/* Another file takes the name just before it would be removed. */
static int looks;

static int lstat_of_another(const char *path, struct stat *st)
{
	if (++looks == 2) {
		assert_int_equal(rename(left, other), 0);
		temp_puts(left, "another one");
	}
	return sys_real.lstat(path, st);
}

static void test_another_one(void **state)
{
	(void)state;
	make_left("the first");
	changed = sys_real;
	changed.lstat = lstat_of_another;
	looks = 0;
	sys_install(&changed);
	assert_int_equal(drop(false), ERR_CHANGED);
	sys_install(NULL);
	assert_true(temp_is(left, "another one"));
	assert_true(temp_is(other, "the first"));
}

/* A publisher in another process, which stops in the middle until it is told to go on. */
static void test_live_publisher(void **state)
{
	int ready[2], go[2], status;
	char c;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct log_pub *pub;
		int rc = log_pub_begin(&pub, file, NULL);

		if (rc == 0)
			rc = log_pub_write(pub, "all of it", 9, NULL);
		if (write(ready[1], "x", 1) != 1 || read(go[0], &c, 1) != 1)
			_exit(2);
		_exit(rc < 0 || log_pub_commit(&pub, NULL) < 0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(temp_count(dir, ".tmp", left), 1);
	set_mtime(left, 1000); /* its age is no reason */
	assert_int_equal(drop(true), ERR_LOCKED);
	assert_int_equal(drop(false), ERR_LOCKED);
	changed = sys_real;
	changed.lease = lease_of_none; /* nor who has it open: the lock says so */
	sys_install(&changed);
	assert_int_equal(drop(false), ERR_LOCKED);
	sys_install(NULL);
	assert_int_equal(write(go[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_true(temp_is(file, "all of it"));
	assert_int_equal(temp_count(dir, "", NULL), 1);
	for (int i = 0; i < 2; i++) {
		close(ready[i]);
		close(go[i]);
	}
}

/* One that was killed, in the middle and behind its link. */
static void test_killed_publisher(void **state)
{
	(void)state;
	for (int at_link = 0; at_link < 2; at_link++) {
		pid_t pid = fork();
		int status;

		assert_true(pid >= 0);
		if (pid == 0) {
			struct log_pub *pub;

			if (log_pub_begin(&pub, file, NULL) == 0)
				log_pub_write(pub, "all of it", 9, NULL);
			fake_install();
			/* commit: write, fsync, fstat, link, the folder */
			fake_plan(FAKE_KILL, at_link ? 5 : 2, 0);
			log_pub_commit(&pub, NULL);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		assert_int_equal(temp_count(dir, ".tmp", left), 1);
		if (!at_link)
			set_mtime(left, 1000);
		assert_int_equal(drop(false), 0);
		assert_true(temp_is(file, at_link ? "all of it" : NULL));
		assert_int_equal(temp_count(dir, "", NULL), at_link);
	}
}

/* Killed at any moment while it takes another's place: the old file is in no name that is removed. */
static void test_killed_replacer(void **state)
{
	for (unsigned k = 1; ; k++) {
		pid_t pid;
		int status, n = 0;

		(void)state;
		temp_clear(dir);
		temp_puts(file, "the old one");
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			fake_install();
			fake_plan(FAKE_KILL, k, 0);
			_exit(log_replace(file, "the new one", 11, NULL, NULL) < 0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status)) {
			assert_int_equal(WEXITSTATUS(status), 0);
			break;
		}
		while (temp_count(dir, ".tmp", left) > 0 && n++ < 2) {
			assert_false(temp_is(left, "the old one"));
			assert_int_equal(drop(false), 0);
		}
		/* the old one is there until the new one is, and was synced */
		n = temp_count(dir, ".old", left);
		assert_true(temp_is(file, "the old one") || temp_is(file, "the new one"));
		if (temp_is(file, "the old one") && n)
			assert_true(temp_is(left, "the new one"));
	}
}

/* Something takes the lock, or the file, before its maker has the lock. */
static int taken, unlinked;

static int flock_late(int fd, int operation)
{
	if (taken-- > 0) {
		errno = EWOULDBLOCK;
		return -1;
	}
	if (unlinked-- > 0) {
		assert_int_equal(temp_count(dir, ".tmp", left), 1);
		assert_int_equal(unlink(left), 0);
	}
	return sys_real.flock(fd, operation);
}

static void test_remover_was_quicker(void **state)
{
	struct log_pub *pub;
	int open_before = temp_open_files();

	(void)state;
	changed = sys_real;
	changed.flock = flock_late;
	for (int i = 0; i < 4; i++) {
		taken = i & 1 ? 3 : 0;
		unlinked = i & 2 ? 2 : 0;
		sys_install(&changed);
		assert_int_equal(log_pub_begin(&pub, file, &err), 0);
		assert_int_equal(log_pub_write(pub, "text", 4, &err), 0);
		assert_int_equal(log_pub_commit(&pub, &err), 0);
		sys_install(NULL);
		assert_true(temp_is(file, "text"));
		assert_int_equal(temp_count(dir, "", NULL), 1);
		assert_int_equal(unlink(file), 0);
	}
	taken = 1000;
	sys_install(&changed);
	assert_int_equal(log_pub_begin(&pub, file, &err), ERR_LOCKED);
	sys_install(NULL);
	assert_int_equal(temp_count(dir, "", NULL), 0);
	assert_int_equal(temp_open_files(), open_before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_names),
		FIXTURE_TEST(test_drop),
		FIXTURE_TEST(test_left_alone),
		FIXTURE_TEST(test_another_one),
		FIXTURE_TEST(test_live_publisher),
		FIXTURE_TEST(test_killed_publisher),
		FIXTURE_TEST(test_killed_replacer),
		FIXTURE_TEST(test_remover_was_quicker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
