/*
 * t-moments.c - others who act in the one moment that a look or a lease is for,
 * and what must happen in one order. Each test fails when that is taken out.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "log/sys.h"
#include "tests/log/fixture.h"

#define REC  "{\"id\":\"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0\"}\n"
#define PART "half of his li"
#define HIS  "his record\n"

/* He has had the file open since before the append. */
static struct {
	int fd, leases;
	bool is_alone, is_done;
} his;

static struct log *open_beside_him(void)
{
	memset(&his, 0, sizeof(his));
	temp_puts(file, "a\n");
	his.fd = open(file, O_WRONLY | O_APPEND);
	assert_true(his.fd >= 0);
	err_clear(&err);
	fake_install();
	return open_log(0);
}

static void he_writes(const char *text)
{
	his.is_done = true;
	assert_int_equal(write(his.fd, text, strlen(text)), strlen(text));
}

static void done(struct log *log)
{
	fake_remove();
	log_close(&log);
	close(his.fd);
}

/* ---- appends ---- */

static void closes_soon(unsigned call, const struct fake_event *e, void *arg)
{
	(void)call;
	(void)arg;
	if (strcmp(e->name, "lease") == 0 && ++his.leases == 2)
		close(his.fd);
	if (strcmp(e->name, "write") == 0)
		his.is_alone = fake_has_lease();
}

/* He lets go of it in a moment: that is waited for, and nobody can begin a line before ours stands. */
static void test_waits(void **state)
{
	struct log *log = open_beside_him();

	(void)state;
	fake_before(closes_soon, NULL);
	append(log, 2, REC, NULL);
	his.fd = -1;
	done(log);
	assert_true(his.is_alone);
	assert_true(temp_is(file, "a\n" REC));
}

static void begins_line(unsigned call, const struct fake_event *e, void *arg)
{
	bool *closes = arg;

	(void)call;
	if (strcmp(e->name, "write") != 0 || his.is_done)
		return;
	he_writes(PART);
	if (*closes) {
		close(his.fd);
		his.fd = -1;
	}
}

/* Behind the last look: ours is glued to a part of his. */
static void test_glued(void **state)
{
	(void)state;
	for (int closes = 0; closes < 2; closes++) {
		struct log *log = open_beside_him();
		bool does = closes;
		int rc;

		fake_before(begins_line, &does);
		rc = log_append(log, 2, REC, strlen(REC), NULL, &err);
		done(log);
		assert_int_equal(rc, closes ? ERR_CHANGED : ERR_BROKEN);
		assert_true(temp_is(file, closes ? "a\n" PART : "a\n" PART REC));
	}
}

static void between_pieces(const struct fake_event *e, void *arg)
{
	(void)arg;
	if (strcmp(e->name, "write") == 0 && !his.is_done)
		he_writes(HIS);
}

/* Which call of an append beside him is the write. */
static unsigned write_call(void)
{
	static struct fake_trace trace;
	struct log *log = open_beside_him();
	unsigned k = 1;

	fake_reset();
	append(log, 2, REC, NULL);
	fake_trace(&trace);
	done(log);
	while (k < trace.n && strcmp(trace.call[k - 1].name, "write") != 0)
		k++;
	return k;
}

/* The first write takes a half; he writes before the second, or that fails. What must stay is a line. */
static void test_pieces(void **state)
{
	unsigned k = write_call();
	size_t n = (strlen(REC) + 1) / 2;

	(void)state;
	for (int fails = 0; fails < 2; fails++) {
		struct log *log = open_beside_him();
		char *want = fails ? xasprintf("a\n%.*s\n", (int)n, REC)
				   : xasprintf("a\n%.*s" HIS "%s", (int)n, REC, REC + n);

		fake_plan(FAKE_SHORT, k, 0);
		if (fails)
			fake_plan_also(k + 2, ENOSPC); /* behind the look where the first half went */
		else
			fake_listen(between_pieces, NULL);
		assert_int_equal(log_append(log, 2, REC, strlen(REC), NULL, &err), ERR_BROKEN);
		done(log);
		assert_non_null(strstr(err.text, fails ? "open in another" : "between its pieces"));
		assert_true(temp_is(file, want));
		free(want);
	}
}

static bool is_synced;

static void note_sync(const struct fake_event *e, void *arg)
{
	(void)arg;
	if (strcmp(e->name, "ftruncate") == 0)
		is_synced = false;
	else if (strcmp(e->name, "fsync") == 0)
		is_synced = true;
}

static void fail_sync(unsigned call, const struct fake_event *e, void *arg)
{
	(void)arg;
	if (strcmp(e->name, "fdatasync") == 0)
		fake_plan_also(call, EIO);
}

/* What was taken back must not come again with a power cut. */
static void test_back_is_synced(void **state)
{
	(void)state;
	for (int beside = 0; beside < 2; beside++) {
		struct log *log;

		temp_puts(file, "a\n");
		err_clear(&err);
		fake_install();
		log = open_log(beside ? LOG_BESIDE : 0);
		fake_before(fail_sync, NULL);
		fake_listen(note_sync, NULL);
		is_synced = true;
		assert_int_equal(log_append(log, 2, REC, strlen(REC), NULL, &err), ERR_IO);
		fake_remove();
		log_close(&log);
		assert_true(is_synced);
		assert_true(temp_is(file, "a\n"));
	}
}

/* ---- cuts ---- */

/* Other bytes of the same length, within one tick of the clock: only the copy tells. */
static void rewrite_tail(unsigned call, const struct fake_event *e, void *arg)
{
	struct stat st;
	struct timespec at[2];

	(void)call;
	(void)arg;
	/* taken and given back before the copy is made, and taken again */
	if (strcmp(e->name, "lease") != 0 || ++his.leases != 3)
		return;
	assert_int_equal(stat(file, &st), 0);
	at[0] = st.st_atim;
	at[1] = st.st_mtim;
	temp_puts(file, "a\n{TORN");
	assert_int_equal(utimensat(AT_FDCWD, file, at, 0), 0);
	his.is_done = true;
}

static void test_tail_is_copied(void **state)
{
	struct log *log;

	(void)state;
	memset(&his, 0, sizeof(his));
	temp_puts(file, "a\n{torn");
	fake_install();
	fake_before(rewrite_tail, NULL);
	log = open_log(0);
	assert_int_equal(log_set_aside(log, 2, NULL, &err), ERR_CHANGED);
	fake_remove();
	log_close(&log);
	assert_true(his.is_done);
	assert_true(temp_is(file, "a\n{TORN"));
}

/* Its lock is on the old file: nothing goes through the handle any more. */
static void test_anew_is_over(void **state)
{
	struct log *log;

	(void)state;
	temp_puts(file, "a\n{torn");
	fake_install();
	fake_no_lease(true);
	log = open_log(LOG_ANEW);
	assert_int_equal(log_set_aside(log, 2, NULL, &err), 0);
	assert_int_equal(log_append(log, 2, REC, strlen(REC), NULL, &err), ERR_BROKEN);
	fake_no_lease(false);
	fake_remove();
	log_close(&log);
	assert_true(temp_is(file, "a\n"));
}

/* ---- another file in the place of one that goes ---- */

static bool was_made, has_swapped;

static void he_puts_his(const char *name)
{
	char *new = xasprintf("%s.new", file);

	his.is_done = true;
	temp_puts(new, name);
	assert_int_equal(rename(new, file), 0);
	free(new);
}

static void watch(unsigned call, const struct fake_event *e, void *arg)
{
	const char *at = arg;

	(void)call;
	was_made = was_made || strcmp(e->name, "create") == 0;
	has_swapped = has_swapped || strcmp(e->name, "rename_exchange") == 0;
	if (strcmp(e->name, at) == 0 && !his.is_done)
		he_puts_his("his");
}

static struct log_id old_file(void)
{
	struct log_id id;

	memset(&his, 0, sizeof(his));
	was_made = has_swapped = false;
	temp_puts(file, "old");
	err_clear(&err);
	assert_int_equal(log_stat(file, &id, &err), 0);
	return id;
}

/* As soon as it is seen nothing more is made; and what was taken out goes back. */
static void test_replaced_by_him(void **state)
{
	static const char *const moments[] = { "", "fsync", "rename_noreplace", "rename_exchange" };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct log_id id = old_file();

		if (i == 0)
			he_puts_his("his");
		fake_install();
		fake_before(watch, (void *)moments[i]);
		assert_int_equal(log_replace(file, "ours", 4, &id, &err), ERR_CHANGED);
		fake_remove();
		assert_true(his.is_done);
		assert_int_equal(was_made, i > 0);
		assert_int_equal(has_swapped, i > 1);
		assert_true(temp_is(file, "his"));
		assert_int_equal(temp_count(dir, "", NULL), 1);
	}
}

static struct sys changed;

static int no_exchange(const char *a, const char *b)
{
	(void)a;
	(void)b;
	he_puts_his("his");
	errno = EINVAL;
	return -1;
}

static void test_replaced_without_exchange(void **state)
{
	struct log_id id = old_file();

	(void)state;
	changed = sys_real;
	changed.rename_exchange = no_exchange;
	sys_install(&changed);
	assert_int_equal(log_replace(file, "ours", 4, &id, &err), ERR_CHANGED);
	sys_install(NULL);
	assert_true(temp_is(file, "his"));
	assert_int_equal(temp_count(dir, "", NULL), 1);
}

/* ---- what is opened ---- */

static bool was_opened;

static void plant_link(unsigned call, const struct fake_event *e, void *arg)
{
	(void)call;
	(void)arg;
	if (strcmp(e->name, "open") != 0 || !e->path || strcmp(e->path, file) != 0)
		return;
	was_opened = true;
	assert_int_equal(unlink(file), 0);
	assert_int_equal(symlink("target", file), 0);
}

static void test_link_behind_the_look(void **state)
{
	char *target = xasprintf("%s/target", dir);
	struct buf text = { 0 };

	(void)state;
	temp_puts(target, "theirs\n");
	temp_puts(file, "ours\n");
	was_opened = false;
	fake_install();
	fake_before(plant_link, NULL);
	assert_int_equal(log_read_beside(file, 100, &text, NULL, &err), ERR_UNSUPPORTED);
	fake_remove();
	assert_true(was_opened);
	buf_release(&text);
	free(target);
}

static char *moved;

static void put_folder_over(unsigned call, const struct fake_event *e, void *arg)
{
	int *opens = arg;

	(void)call;
	if (strcmp(e->name, "open") != 0 || ++*opens != 2)
		return;
	assert_int_equal(rename(dir, moved), 0);
	assert_int_equal(mkdir(dir, 0700), 0);
	temp_puts(file, "theirs\n");
}

/* Another folder comes behind the look at the one that is meant. */
static void test_folder_behind_the_look(void **state)
{
	struct buf text = { 0 };
	int opens = 0;

	(void)state;
	moved = xasprintf("%s.moved", dir);
	temp_puts(file, "ours\n");
	fake_install();
	fake_before(put_folder_over, &opens);
	assert_int_equal(log_read_beside(file, 100, &text, NULL, &err), 0);
	fake_remove();
	assert_string_equal(text.p, "ours\n");
	temp_remove(dir);
	assert_int_equal(rename(moved, dir), 0);
	buf_release(&text);
	free(moved);
}

/* What was given back for a moment is taken up again only if it is the same file. */
static void test_take_up(void **state)
{
	struct log_reader *r;
	char c;
	size_t got;

	(void)state;
	temp_puts(file, "old");
	r = open_reader();
	log_reader_let_go(r);
	he_puts_his("his");
	log_reader_take_up(r);
	assert_int_equal(log_pread(r, 0, &c, 1, &got, &err), ERR_CHANGED);
	log_reader_close(&r);
}

static void note_open(unsigned call, const struct fake_event *e, void *arg)
{
	(void)call;
	(void)arg;
	was_opened = was_opened || (strcmp(e->name, "open") == 0 && e->path && strcmp(e->path, file) == 0);
}

/* Opening a fifo lets go who waits at its other end; a device may do anything. */
static void test_fifo_is_not_opened(void **state)
{
	struct log_reader *r = NULL;

	(void)state;
	assert_int_equal(mkfifo(file, 0600), 0);
	was_opened = false;
	fake_install();
	fake_before(note_open, NULL);
	assert_int_equal(log_reader_open(&r, file, &err), ERR_UNSUPPORTED);
	err_clear(&err);
	assert_int_equal(log_reader_open_beside(&r, file, &err), ERR_UNSUPPORTED);
	fake_remove();
	assert_false(was_opened);
}

static int kept_out;

static int open_later(const char *path, int flags, mode_t mode)
{
	errno = EAGAIN;
	return kept_out-- > 0 ? -1 : sys_real.open(path, flags, mode);
}

static int openat_later(int at, const char *name, int flags, mode_t mode)
{
	errno = EAGAIN;
	return kept_out-- > 0 ? -1 : sys_real.openat(at, name, flags, mode);
}

/* Another bough keeps everybody out for a moment. */
static void test_open_waits(void **state)
{
	struct buf text = { 0 };

	(void)state;
	temp_puts(file, "a\n");
	changed = sys_real;
	changed.open = open_later;
	changed.openat = openat_later;
	sys_install(&changed);
	kept_out = 3;
	assert_int_equal(log_read_file(file, 100, &text, NULL, &err), 0);
	kept_out = 0;
	changed.open = sys_real.open;
	kept_out = 3;
	assert_int_equal(log_read_beside(file, 100, &text, NULL, &err), 0);
	sys_install(NULL);
	assert_string_equal(text.p, "a\na\n");
	buf_release(&text);
}

/* ---- names ---- */

static char order[64];

static void note_order(char c)
{
	size_t n = strlen(order);

	assert_true(n + 1 < sizeof(order));
	order[n] = c;
	order[n + 1] = '\0';
}

static int no_noreplace(const char *from, const char *to)
{
	(void)from;
	(void)to;
	errno = ENOSYS;
	return -1;
}

static int noted_link(const char *from, const char *to)
{
	note_order('l');
	return sys_real.link(from, to);
}

static int noted_unlink(const char *path)
{
	note_order('u');
	return sys_real.unlink(path);
}

static int noted_mkdir(const char *path, mode_t mode)
{
	note_order('m');
	return sys_real.mkdir(path, mode);
}

static int noted_fsync_dir(const char *path)
{
	note_order('s');
	return sys_real.fsync_dir(path);
}

/* The old name goes when the new one is durable; a folder is before the next is made in it. */
static void test_order(void **state)
{
	char *to = xasprintf("%s/moved", dir), *deep = xasprintf("%s/a/b", dir);

	(void)state;
	temp_puts(file, "text");
	changed = sys_real;
	changed.rename_noreplace = no_noreplace;
	changed.link = noted_link;
	changed.unlink = noted_unlink;
	changed.mkdir = noted_mkdir;
	changed.fsync_dir = noted_fsync_dir;
	sys_install(&changed);
	order[0] = '\0';
	assert_int_equal(log_move(file, to, &err), 0);
	assert_int_equal(strncmp(order, "lsu", 3), 0);
	order[0] = '\0';
	assert_int_equal(log_mkdirs(deep, &err), 0);
	assert_string_equal(order, "smsms"); /* the first: of the level that was there */
	sys_install(NULL);
	assert_true(temp_is(to, "text"));
	free(to);
	free(deep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_waits),
		FIXTURE_TEST(test_glued),
		FIXTURE_TEST(test_pieces),
		FIXTURE_TEST(test_back_is_synced),
		FIXTURE_TEST(test_tail_is_copied),
		FIXTURE_TEST(test_anew_is_over),
		FIXTURE_TEST(test_replaced_by_him),
		FIXTURE_TEST(test_replaced_without_exchange),
		FIXTURE_TEST(test_link_behind_the_look),
		FIXTURE_TEST(test_folder_behind_the_look),
		FIXTURE_TEST(test_take_up),
		FIXTURE_TEST(test_fifo_is_not_opened),
		FIXTURE_TEST(test_open_waits),
		FIXTURE_TEST(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
