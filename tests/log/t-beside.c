/*
 * t-beside.c - a log beside writers that take no lock: appends that meet
 * others, the way back when theirs stand behind ours, cuts under a lease and
 * without one, files that others put in the place of the one that is to go, and
 * what is opened beside a session.
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
#include "log/frames.h"
#include "tests/log/fixture.h"

#define REC "{\"id\":\"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0\"}\n"
#define HIS "his record\n"

/* ---- appends ---- */

/* One other writer, who acts once behind the n-th call of that name. */
struct other {
	const char *call;
	int nth;
	const char *text;   /* that he appends */
	bool keeps_open;    /* the file, until all is over */
	bool renames;       /* a new file with that text over the name, instead */
	int fd;
	bool is_due, is_done;
	const char *fail; /* of ours: the first call of that name */
	int error;
};

static void put_over(const char *text)
{
	char *name = xasprintf("%s.new", file);

	temp_puts(name, text);
	assert_int_equal(rename(name, file), 0);
	free(name);
}

static void do_act(struct other *o)
{
	o->is_done = true;
	if (o->renames) {
		put_over(o->text);
		return;
	}
	o->fd = open(file, O_WRONLY | O_APPEND);
	assert_int_equal(write(o->fd, o->text, strlen(o->text)), strlen(o->text));
	if (!o->keeps_open)
		close(o->fd);
}

/* While he is kept out he waits: then he acts as soon as he is not. */
static void act(const struct fake_event *e, void *arg)
{
	struct other *o = arg;

	if (o->is_done || (!o->is_due && (strcmp(e->name, o->call) != 0 || --o->nth > 0)))
		return;
	o->is_due = true;
	if (!fake_has_lease())
		do_act(o);
}

static void act_before(unsigned call, const struct fake_event *e, void *arg)
{
	struct other *o = arg;

	if (o->fail && strcmp(e->name, o->fail) == 0) { /* once, whatever he did before */
		fake_plan_also(call, o->error);
		o->fail = NULL;
	}
	if (o->is_due && !o->is_done && !fake_has_lease())
		do_act(o);
}

struct beside {
	const char *name;
	const char *init;
	unsigned flags;
	struct other other;
	const char *fail; /* the first call of that name */
	int error;
	int rc;
	const char *want, *says;
};

static const struct beside appends[] = {
	{ .name = "his before ours", .init = "a\n", .other = { "fsync_dir", 1, HIS },
		.want = "a\n" HIS REC },
	{ .name = "his behind ours", .init = "a\n", .other = { "write", 1, HIS },
		.want = "a\n" REC HIS },
	{ .name = "no final newline", .init = "a", .other = { "fsync_dir", 1, "\n" HIS },
		.want = "a\n" HIS "\n" REC },
	{ .name = "a part of his", .init = "a\n", .other = { "fsync_dir", 1, "half a li", true },
		.rc = ERR_CHANGED, .want = "a\nhalf a li" },
	{ .name = "a part of his, and he is gone", .init = "a\n",
		.other = { "fsync_dir", 1, "half a li" }, .rc = ERR_CHANGED,
		.want = "a\nhalf a li" },
	{ .name = "full disk behind his", .init = "a\n", .other = { "fsync_dir", 1, HIS },
		.fail = "write", .error = ENOSPC, .rc = ERR_IO, .want = "a\n" HIS },
	{ .name = "full disk behind one that begins like ours", .init = "a\n", .flags = LOG_BLANKS,
		.other = { "fsync_dir", 1, "{\"id\":\"his\"}\n" }, .fail = "write", .error = ENOSPC,
		.rc = ERR_IO, .want = "a\n{\"id\":\"his\"}\n" },
	{ .name = "full disk behind his in bough's own", .init = "a\n", .flags = LOG_BESIDE,
		.other = { "fsync_dir", 1, HIS }, .fail = "write", .error = ENOSPC,
		.rc = ERR_BROKEN, .want = "a\n" HIS },
	{ .name = "no sync, his behind ours", .init = "a\n", .flags = LOG_BLANKS,
		.other = { "write", 1, HIS }, .fail = "fdatasync", .error = EIO, .rc = ERR_IO,
		.want = "a\n                                             \n" HIS },
	{ .name = "the same where blanks are none", .init = "a\n", .other = { "write", 1, HIS },
		.fail = "fdatasync", .error = EIO, .rc = ERR_BROKEN, .want = "a\n" REC HIS,
		.says = "stand at byte 2" },
	{ .name = "the same while he is there", .init = "a\n", .flags = LOG_BLANKS,
		.other = { "write", 1, HIS, true }, .fail = "fdatasync", .error = EIO,
		.rc = ERR_BROKEN, .want = "a\n" REC HIS, .says = "open in another process" },
	{ .name = "another file before the write", .init = "a\n",
		.other = { "fsync_dir", 1, "new\n", .renames = true }, .rc = ERR_CHANGED,
		.want = "new\n" },
	{ .name = "another file behind the write", .init = "a\n",
		.other = { "write", 1, "new\n", .renames = true }, .rc = ERR_CHANGED,
		.want = "new\n" },
};

static void one_append(const struct beside *b)
{
	struct other other = b->other;
	struct log *log;
	int rc;

	temp_clear(dir);
	temp_puts(file, b->init);
	err_clear(&err);
	fake_install();
	other.fail = b->fail;
	other.error = b->error;
	log = open_log(b->flags);
	fake_listen(act, &other);
	fake_before(act_before, &other);
	rc = log_append(log, strlen(b->init), REC, strlen(REC), NULL, &err);
	fake_listen(NULL, NULL);
	fake_before(NULL, NULL);
	fake_remove();
	log_close(&log);
	if (other.keeps_open)
		close(other.fd);
	if (rc != b->rc || !other.is_done || !temp_is(file, b->want) ||
		(b->says && !strstr(err.text, b->says)))
		fail_msg("%s: rc %d (%s), %s", b->name, rc, err.text, temp_get(file, &(size_t){ 0 }));
}

static void test_appends(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(appends) / sizeof(appends[0]); i++)
		one_append(&appends[i]);
}

/* ---- cuts ---- */

static int cut(unsigned flags, struct log_append_info *info)
{
	struct log *log = open_log(flags);
	int rc = log_set_aside(log, 2, info, &err);

	log_close(&log);
	return rc;
}

/* Whoever has the file open is not harmed, however long he is silent. */
static void test_cut_beside(void **state)
{
	struct log_append_info info;
	int fd;

	(void)state;
	for (int how = 0; how < 2; how++) {
		temp_puts(file, "a\n{torn");
		fd = open(file, how ? O_WRONLY | O_APPEND : O_RDONLY);
		err_clear(&err);
		assert_int_equal(cut(0, &info), ERR_LOCKED);
		assert_true(temp_is(file, "a\n{torn"));
		assert_int_equal(temp_count(dir, "torn-", NULL), 0);
		close(fd);
		err_clear(&err);
		assert_int_equal(cut(0, &info), 0);
		assert_true(temp_is(file, "a\n"));
		temp_clear(dir);
	}
}

/* What comes while the tail is copied: the copy is made before anybody is kept out. */
static void test_cut_grows(void **state)
{
	struct other other = { "link", 1, " and the rest\n" };
	struct log_append_info info;

	(void)state;
	temp_puts(file, "a\n{torn");
	fake_install();
	fake_listen(act, &other);
	assert_int_equal(cut(0, &info), ERR_CHANGED);
	fake_listen(NULL, NULL);
	fake_remove();
	assert_true(other.is_done);
	assert_true(temp_is(file, "a\n{torn and the rest\n"));
}

/* Where nobody can be kept out: a new file, and the old one keeps a name and all that comes. */
static void test_cut_anew(void **state)
{
	struct log_append_info info;
	char before[TEMP_PATH + 80];
	struct stat st;
	int fd;

	(void)state;
	snprintf(before, sizeof(before), "%s.before-1", file);
	temp_puts(file, "a\n{torn");
	chmod(file, 0640);
	fd = open(file, O_WRONLY | O_APPEND);
	fake_install();
	fake_no_lease(true);
	assert_int_equal(cut(LOG_ANEW, &info), 0);
	fake_no_lease(false);
	fake_remove();
	assert_int_equal(write(fd, " late\n", 6), 6);
	close(fd);
	assert_true(temp_is(file, "a\n"));
	assert_string_equal(info.before_path, before);
	assert_int_equal(info.torn_bytes, 5);
	assert_true(temp_is(before, "a\n{torn late\n"));
	stat(file, &st);
	assert_int_equal(st.st_mode & 07777, 0640);
}

/* The same for an append: around the tail, which stays. */
static void test_append_around(void **state)
{
	struct log_append_info info;
	struct log *log;

	(void)state;
	temp_puts(file, "a\n{torn");
	fake_install();
	fake_no_lease(true);
	log = open_log(0);
	append(log, 2, "b\n", &info);
	log_close(&log);
	fake_no_lease(false);
	fake_remove();
	assert_int_equal(info.torn_bytes, 0);
	assert_int_equal(info.off, 8);
	assert_true(temp_is(file, "a\n{torn\nb\n"));
	assert_int_equal(temp_count(dir, "", NULL), 1);
}

/* Nothing at all comes into the file of a LOG_ALONE handle while somebody has it open. */
static void test_alone(void **state)
{
	struct log *log;
	int fd;

	(void)state;
	temp_puts(file, "a\n");
	log = open_log(LOG_ALONE);
	fd = open(file, O_RDONLY);
	assert_int_equal(log_append_bytes(log, 2, "b\n", 2, NULL, &err), ERR_LOCKED);
	assert_true(temp_is(file, "a\n"));
	close(fd);
	err_clear(&err);
	assert_int_equal(log_append_bytes(log, 2, "b\n", 2, NULL, &err), 0);
	log_close(&log);
	assert_true(temp_is(file, "a\nb\n"));
}

/* ---- another file in the place of the one that is to go ---- */

static void rename_over(const struct fake_event *e, void *arg)
{
	struct other *o = arg;

	if (o->is_done || strcmp(e->name, o->call) != 0)
		return;
	o->is_done = true;
	put_over(o->text);
}

/* At the last moment before the two change places, and between that and the look. */
static void test_replace_beside(void **state)
{
	struct other other = { .call = "fsync", .text = "his" };
	struct log_id id;

	(void)state;
	temp_puts(file, "old");
	assert_int_equal(log_stat(file, &id, &err), 0);
	fake_install();
	fake_listen(rename_over, &other);
	assert_int_equal(log_replace(file, "ours", 4, &id, &err), ERR_CHANGED);
	assert_true(temp_is(file, "his"));
	assert_int_equal(temp_count(dir, "", NULL), 1);

	temp_puts(file, "old");
	assert_int_equal(log_stat(file, &id, &err), 0);
	other = (struct other){ .call = "rename_exchange", .text = "his" };
	fake_listen(rename_over, &other);
	err_clear(&err);
	assert_int_equal(log_replace(file, "ours", 4, &id, &err), 0); /* it was; then came his */
	assert_true(temp_is(file, "his"));
	fake_listen(NULL, NULL);
	fake_remove();
	assert_int_equal(temp_count(dir, "", NULL), 1);
}

/* Who has the old one open writes to a file that has a name. */
static void test_replace_open(void **state)
{
	char before[TEMP_PATH + 80];
	struct log_id id;
	int fd;

	(void)state;
	snprintf(before, sizeof(before), "%s.before-1", file);
	temp_puts(file, "old");
	fd = open(file, O_WRONLY | O_APPEND);
	assert_int_equal(log_stat(file, &id, &err), 0);
	assert_int_equal(log_replace(file, "ours", 4, &id, &err), 0);
	assert_int_equal(write(fd, " late", 5), 5);
	close(fd);
	assert_true(temp_is(file, "ours"));
	assert_true(temp_is(before, "old late"));
}

static void test_remove(void **state)
{
	struct log_id id;
	int fd;

	(void)state;
	temp_puts(file, "ours");
	assert_int_equal(log_stat(file, &id, &err), 0);
	fd = open(file, O_WRONLY | O_APPEND);
	assert_int_equal(log_remove(file, &id, &err), ERR_LOCKED);
	assert_true(temp_is(file, "ours"));
	close(fd);
	temp_adds(file, "+");
	err_clear(&err);
	assert_int_equal(log_remove(file, &id, &err), ERR_CHANGED);
	assert_true(temp_is(file, "ours+"));
	assert_int_equal(log_stat(file, &id, &err), 0);
	err_clear(&err);
	assert_int_equal(log_remove(file, &id, &err), 0);
	assert_int_equal(temp_count(dir, "", NULL), 0);
}

/* ---- what is opened beside a session ---- */

enum { PLAIN, SYMLINK, DANGLING, HARDLINK, FIFO, FOLDER, NKINDS };

static void plant(int kind, char target[TEMP_PATH + 80])
{
	temp_clear(dir);
	snprintf(target, TEMP_PATH + 80, "%s/target", dir);
	switch (kind) {
	case PLAIN:
		temp_puts(file, "a\n");
		break;
	case SYMLINK:
		temp_puts(target, "theirs\n");
		assert_int_equal(symlink("target", file), 0);
		break;
	case DANGLING:
		assert_int_equal(symlink("target", file), 0);
		break;
	case HARDLINK:
		temp_puts(target, "theirs\n");
		assert_int_equal(link(target, file), 0);
		break;
	case FIFO:
		assert_int_equal(mkfifo(file, 0600), 0);
		break;
	default:
		assert_int_equal(mkdir(file, 0700), 0);
	}
}

static void test_kinds_beside(void **state)
{
	char target[TEMP_PATH + 80];
	struct buf text = { 0 };
	struct log_id id;

	(void)state;
	for (int kind = 0; kind < NKINDS; kind++) {
		struct log *log = NULL;
		bool reads = kind == PLAIN || kind == HARDLINK, writes = kind == PLAIN;
		struct stat st;
		int rc;

		plant(kind, target);
		err_clear(&err);
		rc = log_open(&log, file, LOG_CREATE | LOG_BESIDE, &err);
		assert_int_equal(rc, writes ? 0 : ERR_UNSUPPORTED);
		log_close(&log);
		err_clear(&err);
		buf_clear(&text);
		rc = log_read_beside(file, 100, &text, &id, &err);
		assert_int_equal(rc, reads ? 0 : ERR_UNSUPPORTED);
		if (kind == SYMLINK || kind == HARDLINK)
			assert_true(temp_is(target, "theirs\n"));
		if (kind == DANGLING)
			assert_int_equal(stat(target, &st), -1);
	}
	buf_release(&text);
}

/* Of another user in a folder that is not his. */
static void test_owner_beside(void **state)
{
	struct log *log = NULL;

	(void)state;
	if (geteuid() != 0)
		skip();
	temp_puts(file, "a\n");
	assert_int_equal(chown(file, 12345, 12345), 0);
	assert_int_equal(log_open(&log, file, LOG_BESIDE, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "belongs to another user"));
	err_clear(&err);
	assert_int_equal(chown(dir, 12345, 12345), 0);
	assert_int_equal(log_open(&log, file, LOG_BESIDE, &err), 0);
	log_close(&log);
}

/* ---- who has it ---- */

static void test_use(void **state)
{
	struct log_use use;
	struct log *log;
	int fd;

	(void)state;
	temp_puts(file, "a\n");
	assert_int_equal(log_look_use(file, &use, &err), 0);
	assert_true(!use.is_locked && !use.is_open);
	fd = open(file, O_RDONLY);
	assert_int_equal(log_look_use(file, &use, &err), 0);
	assert_true(!use.is_locked && !use.is_open);
	close(fd);
	fd = open(file, O_WRONLY);
	assert_int_equal(log_look_use(file, &use, &err), 0);
	assert_true(!use.is_locked && use.is_open);
	close(fd);
	log = open_log(0);
	assert_int_equal(log_look_use(file, &use, &err), 0);
	assert_true(use.is_locked && use.is_open);
	assert_int_equal(use.pid, getpid());
	log_close(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_appends),
		FIXTURE_TEST(test_cut_beside),
		FIXTURE_TEST(test_cut_grows),
		FIXTURE_TEST(test_cut_anew),
		FIXTURE_TEST(test_append_around),
		FIXTURE_TEST(test_alone),
		FIXTURE_TEST(test_replace_beside),
		FIXTURE_TEST(test_replace_open),
		FIXTURE_TEST(test_remove),
		FIXTURE_TEST(test_kinds_beside),
		FIXTURE_TEST(test_owner_beside),
		FIXTURE_TEST(test_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
