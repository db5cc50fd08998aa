/*
 * t-guards.c - checks of which each stands between one look and the write behind
 * it: the source of a copy that is written over meanwhile, a sidecar that is a
 * link, a session that somebody is at, notes of what is just being appended. Each
 * test fails when its check is taken out.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "log/log.h"
#include "log/sys.h"
#include "store/store.h"
#include "tests/lib/dshenv.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/storeenv.h"

/* Both of one length; the second entry begins elsewhere. */
#define ONE   "{\"id\":\"a\",\"role\":\"USER\",\"content\":\"one\",\"timestamp\":1}\n"
#define TWO   "{\"id\":\"b\",\"parentId\":\"a\",\"role\":\"USER\",\"content\":\"twotwo\",\"timestamp\":2}\n"
#define ONE_2 "{\"id\":\"a\",\"role\":\"USER\",\"content\":\"oneone\",\"timestamp\":1}\n"
#define TWO_2 "{\"id\":\"b\",\"parentId\":\"a\",\"role\":\"USER\",\"content\":\"two\",\"timestamp\":2}\n"

#define LAMPS     "--srv-harbour-lamps--"
#define T_PARTIAL LAMPS "/t-partial/session.jsonl.zstd"

static struct env env;
static struct sys changed;

static int set_up(void **state)
{
	(void)state;
	env_fix_clock();
	env_make(&env);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fake_remove();
	env_remove(&env);
	return 0;
}

struct over {
	const char *path, *text[2]; /* by turns */
	unsigned n, most;
};

/* As soon as the file of the copy is there, and before anything was read for it. */
static void write_over(const struct fake_event *e, void *arg)
{
	struct over *o = arg;

	if (strcmp(e->name, "open") != 0 || !(e->flags & O_EXCL) || strstr(e->path, ".meta.json") ||
		o->n >= o->most)
		return;
	temp_puts(o->path, o->text[o->n++ & 1]);
}

static int fork_beside(struct work *w, struct over *o, uint32_t at, struct done *d, struct err *err)
{
	struct fork_spec spec = { .at = at };
	int rc;

	fake_install();
	fake_reset();
	fake_listen(write_over, o);
	rc = work_fork_new(w, &spec, false, d, err);
	fake_listen(NULL, NULL);
	fake_remove();
	return rc;
}

/* Written over in its place while it is copied: the copy is made again, of what is there now. */
static void copied_while_written(void **state)
{
	struct over o = { env_path(&env, "s.jsonl"), { ONE_2 TWO_2, ONE TWO }, 0, 1 };
	struct work *w = env_open_text(&env, ONE TWO);
	struct done d = { 0 };
	struct err err = { 0 };

	(void)state;
	env_ok(fork_beside(w, &o, 1, &d, &err), &err);
	assert_int_equal(o.n, 1);
	assert_true(temp_is(d.path, ONE_2 TWO_2));
	/* by somebody who does not stop: there is none */
	o.n = 1;
	o.most = 1000;
	assert_int_equal(fork_beside(w, &o, 1, &d, &err), ERR_CHANGED);
	assert_true(o.n > 2);
	assert_int_equal(temp_count(env.root, ".jsonl", NULL), 2);
	work_close(&w);
	done_release(&d);
}

/* A dsh log that grows while it is copied has a writer: no fork comes of it. */
static void log_copied_while_written(void **state)
{
	const char *path;
	struct over o = { .text = { DSH_HEADER DSH_TURN_1 DSH_TURN_2 }, .most = 1 };
	struct work *w = NULL;
	struct done d = { 0 };
	struct err err = { 0 };

	(void)state;
	mkdir(env_path(&env, "_no-cwd"), 0700);
	mkdir(env_path(&env, "_no-cwd/s"), 0700);
	path = env_path(&env, "_no-cwd/s/session.jsonl");
	temp_puts(path, DSH_HEADER DSH_TURN_1);
	env_ok(work_open(&w, path, &err), &err);
	env_ok(work_load(w, &err), &err);
	o.path = work_session(w)->path;
	assert_int_equal(fork_beside(w, &o, 0, &d, &err), ERR_CHANGED);
	assert_int_equal(o.n, 1);
	assert_int_equal(temp_count(env_path(&env, "_no-cwd"), "", NULL), 1);
	work_close(&w);
	done_release(&d);
}

/* The title would be written into another file, or take the link's place. */
static void sidecar_is_link(void **state)
{
	static const char other[] = "{\"title\":\"another's\"}";
	struct done d = { 0 };
	struct err err = { 0 };
	struct log_id id;
	struct stat sb;
	struct work *w;
	char *target = strdup(env_path(&env, "notes.json"));
	const char *side = env_path(&env, "s.meta.json");

	(void)state;
	temp_puts(target, other);
	assert_int_equal(symlink("notes.json", side), 0);
	w = env_open_text(&env, ONE);
	assert_int_equal(work_rename(w, str_of("mine"), false, &d, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "link"));
	err_clear(&err);
	env_ok(log_stat_beside(side, &id, &err), &err);
	assert_int_equal(log_replace(side, "{}", 2, &id, &err), ERR_UNSUPPORTED);
	assert_int_equal(lstat(side, &sb), 0);
	assert_true(S_ISLNK(sb.st_mode));
	assert_true(temp_is(target, other));
	assert_int_equal(temp_count(env.root, ".tmp", NULL), 0);
	free(target);
	work_close(&w);
	done_release(&d);
}

/* ---- who is at it ---- */

/* The file as it is, last written so long before the tests' now. */
static void set_age(const char *path, int64_t ms)
{
	struct timespec at[2] = { 0 };

	at[0].tv_sec = at[1].tv_sec = (ENV_NOW - ms) / 1000;
	at[0].tv_nsec = at[1].tv_nsec = (ENV_NOW - ms) % 1000 * 1000000;
	assert_int_equal(utimensat(AT_FDCWD, path, at, 0), 0);
}

static void is_live(struct work *w, enum live state, bool is_locked)
{
	struct live_look live;

	work_live(w, &live);
	assert_int_equal(live.state, state);
	assert_int_equal(live.is_locked, is_locked);
}

/* A session of one kind or the other, with a torn end, old. */
static struct work *open_torn(bool is_dsh, char path[2 * TEMP_PATH])
{
	struct work *w = NULL;
	struct err err = { 0 };

	env_clear(&env);
	mkdir(env_path(&env, "_no-cwd"), 0700);
	mkdir(env_path(&env, "_no-cwd/s"), 0700);
	strcpy(path, env_path(&env, is_dsh ? "_no-cwd/s/session.jsonl" : "s.jsonl"));
	temp_puts(path, is_dsh ? DSH_HEADER DSH_TURN_1 "{\"type\":\"tur" : ONE "{\"id\":\"to");
	set_age(path, 3600000);
	env_ok(work_open(&w, path, &err), &err);
	env_ok(work_load(w, &err), &err);
	return w;
}

/* Each of its parts says it alone: a lock, a descriptor for writing, the lock file of a harness. */
static void in_use_by_parts(void **state)
{
	char path[2 * TEMP_PATH];
	const char *beside;

	(void)state;
	for (int is_dsh = 0; is_dsh < 2; is_dsh++) {
		struct work *w = open_torn(is_dsh, path);
		int fd = open(path, O_WRONLY);

		is_live(w, LIVE_IN_USE, false);
		close(fd);
		is_live(w, LIVE_QUIET, false);
		fd = open(path, O_RDONLY);
		is_live(w, LIVE_QUIET, false);
		assert_int_equal(flock(fd, LOCK_EX), 0);
		is_live(w, LIVE_IN_USE, true);
		close(fd);
		if (is_dsh) {
			beside = env_path(&env, "_no-cwd/s/session.lock");
			temp_puts(beside, "");
			fd = open(beside, O_RDONLY);
			assert_int_equal(flock(fd, LOCK_EX), 0);
			is_live(w, LIVE_IN_USE, true);
			close(fd);
			is_live(w, LIVE_QUIET, false);
		}
		set_age(path, 30000);
		is_live(w, LIVE_FRESH, false);
		work_close(&w);
	}
}

static int cut_by(struct work *w, bool forks, struct err *err)
{
	struct fork_spec spec = { .at = 0, .content = { "x", 1 } };
	struct done d = { 0 };
	int rc;

	err_clear(err);
	rc = forks ? work_fork(w, &spec, false, &d, err) : work_repair(w, false, &d, err);
	done_release(&d);
	return rc;
}

/* A fresh tail is cut when that is asked for; one that is in use not even then. */
static void fresh_tail(void **state)
{
	char path[2 * TEMP_PATH], *before;
	struct err err = { 0 };
	size_t n;

	(void)state;
	for (int how = 0; how < 3; how++) { /* a repair, a fork, a repair of a dsh log */
		struct work *w = open_torn(how == 2, path);
		int fd;

		before = temp_get(path, &n);
		set_age(path, 30000);
		assert_int_equal(cut_by(w, how == 1, &err), ERR_UNSURE);
		work_force(w, true);
		fd = open(path, O_WRONLY);
		assert_int_equal(cut_by(w, how == 1, &err), ERR_LOCKED);
		assert_non_null(strstr(err.text, "is in use: another process has it open"));
		close(fd);
		env_assert_file(path, before, n);
		env_ok(cut_by(w, how == 1, &err), &err);
		assert_int_equal(temp_count(env.root, ".torn-", NULL), how == 2 ? 0 : 1);
		work_close(&w);
		free(before);
	}
}

/* Its writer takes no lock and flushes every 200 ms: a log that is so fresh is watched longer. */
static void fresh_log_is_watched(void **state)
{
	char path[2 * TEMP_PATH];
	struct work *w = open_torn(true, path);
	struct err err = { 0 };
	uint64_t began;

	(void)state;
	set_age(path, 100);
	work_force(w, true);
	began = clock_mono_us();
	env_ok(cut_by(w, false, &err), &err);
	assert_true(clock_mono_us() - began > 250 * 1000);
	work_close(&w);
}

/* ---- what can not be read ---- */

/* A place that is bad at every n-th read that begins there, so that it is good and bad again. */
static struct {
	ino_t ino;
	off_t at;
	int every, reads;
	bool begins[4096]; /* is a read begun at this byte? */
} bad;

static ssize_t read_bad(int fd, void *p, size_t n, off_t off)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_ino != bad.ino)
		return sys_real.pread(fd, p, n, off);
	if (off < (off_t)sizeof(bad.begins))
		bad.begins[off] = true;
	if (off == bad.at && ++bad.reads % bad.every == 0) {
		errno = EIO;
		return -1;
	}
	return sys_real.pread(fd, p, n, off);
}

/* What is read again when a session is loaded: an id that comes twice, the torn end of frames. */
static void put_torn(bool is_dsh, const char *path)
{
	char *log = xasprintf("%s/tests/format/dsh/torn-zstd/store/" T_PARTIAL, getenv("srcdir"));
	struct stat st;
	size_t n;
	char *bytes;

	env_clear(&env);
	mkdir(env_path(&env, LAMPS), 0700);
	mkdir(env_path(&env, LAMPS "/t-partial"), 0700);
	bytes = is_dsh ? temp_get(log, &n)
		       : xstrndup(ONE ONE_2 TWO "{\"id\":\"to", n = strlen(ONE ONE_2 TWO) + 9);
	assert_non_null(bytes);
	temp_put(path, bytes, n);
	free(bytes);
	free(log);
	set_age(path, 3600000);
	assert_int_equal(stat(path, &st), 0);
	bad.ino = st.st_ino;
	bad.reads = 0;
}

/* What could not be read is not taken for nothing: the same comes of a repair, or none. */
static int repairs_with(off_t at, const char *path, const char *want, size_t nwant)
{
	struct work *w = NULL;
	struct err err = { 0 };
	char *before;
	size_t n;
	int rc;

	before = temp_get(path, &n);
	bad.at = at;
	changed = sys_real;
	changed.pread = read_bad;
	sys_install(&changed);
	rc = work_open(&w, path, &err);
	if (rc == 0 && (rc = work_load(w, &err)) == 0) {
		work_force(w, true);
		rc = cut_by(w, false, &err) < 0;
	}
	sys_install(NULL);
	work_close(&w);
	if (at >= 0)
		env_assert_file(path, rc ? before : want, rc ? n : nwant);
	free(before);
	return rc > 0;
}

static void bad_place(void **state)
{
	char path[2 * TEMP_PATH], *want;
	size_t n;

	(void)state;
	for (int is_dsh = 0; is_dsh < 2; is_dsh++) {
		int refused = 0;

		strcpy(path, env_path(&env, is_dsh ? T_PARTIAL : "s.jsonl"));
		put_torn(is_dsh, path);
		memset(bad.begins, 0, sizeof(bad.begins));
		assert_int_equal(repairs_with(-1, path, "", 0), 0);
		want = temp_get(path, &n);
		for (off_t at = 0; at < (off_t)sizeof(bad.begins); at++) {
			for (bad.every = 1; bad.begins[at] && bad.every < 6; bad.every++) {
				put_torn(is_dsh, path);
				refused += repairs_with(at, path, want, n);
			}
		}
		assert_true(refused > 0);
		free(want);
	}
}

/* ---- notes ---- */

/* Not one good line: it is no reflog, and nothing is cut from it or written to it. */
static void reflog_is_foreign(void **state)
{
	static const char text[] = "alias ll=\"ls -l\"\n";
	struct work *w = env_open_text(&env, ONE TWO);
	struct done d = { 0 };
	struct err err = { 0 };

	(void)state;
	temp_puts(env_path(&env, "s.reflog"), text);
	assert_int_equal(work_label(w, 0, str_of("x"), false, &d, &err), ERR_IO);
	assert_non_null(strstr(err.text, "left alone"));
	assert_true(temp_is(env_path(&env, "s.reflog"), text));
	assert_int_equal(temp_count(env.root, ".torn-", NULL), 0);
	work_close(&w);
	done_release(&d);
}

static int syncs, reader;

/* That of the session, behind that of its note; somebody has the session open. */
static int second_fails(int fd)
{
	if (++syncs != 2)
		return sys_real.fdatasync(fd);
	reader = open(env_path(&env, "s.jsonl"), O_RDONLY | O_NONBLOCK);
	errno = EIO;
	return -1;
}

/* Neither done nor taken back: the entry may be there, and so its note stays. */
static void note_of_the_broken(void **state)
{
	struct work *w = env_open_text(&env, ONE);
	struct err err = { 0 };
	char *note;
	size_t n;

	(void)state;
	changed = sys_real;
	changed.fdatasync = second_fails;
	syncs = 0;
	reader = -1;
	sys_install(&changed);
	assert_int_equal(cut_by(w, true, &err), ERR_BROKEN);
	sys_install(NULL);
	assert_true(reader >= 0);
	close(reader);
	note = temp_get(env_path(&env, "s.reflog"), &n);
	assert_non_null(note);
	assert_true(n > 0 && strstr(note, "\"op\":\"append\""));
	free(note);
	work_close(&w);
}

/* A session without the entry of a note. */
static struct work *open_announced(const char *line)
{
	char *note = xasprintf("{\"v\":1,\"op\":\"append\",\"entry\":%.*s,\"at\":1}\n",
		(int)strcspn(line, "\n"), line);
	struct work *w = NULL;
	struct err err = { 0 };

	temp_puts(env_path(&env, "s.jsonl"), ONE);
	temp_puts(env_path(&env, "s.reflog"), note);
	env_ok(work_open(&w, env_path(&env, "s.jsonl"), &err), &err);
	free(note);
	return w;
}

static void load_at_once(struct work *w)
{
	struct err err = { 0 };
	int rc;

	do
		rc = work_step(w, 1000000, &err);
	while (rc == 1);
	env_ok(rc, &err);
}

static int lookers;

/* Just then it is done: the entry stands there, and the lock is free. */
static long done_by_then(dev_t dev, ino_t ino)
{
	(void)dev;
	(void)ino;
	if (lookers++ == 0)
		temp_adds(env_path(&env, "s.jsonl"), TWO);
	return -1;
}

/* The lock is looked at before the file: else what is done between the two is called lost. */
static void lock_then_file(void **state)
{
	struct work *w = open_announced(TWO);

	(void)state;
	lookers = 0;
	changed = sys_real;
	changed.lock_holder = done_by_then;
	sys_install(&changed);
	load_at_once(w);
	sys_install(NULL);
	assert_true(lookers > 0);
	assert_int_equal(env_problems(w, "lost-append"), 0);
	work_close(&w);
}

static bool is_let_in;

static long held_until_asked(dev_t dev, ino_t ino)
{
	(void)dev;
	(void)ino;
	return is_let_in ? -1 : 1;
}

static int let_in(int fd, int operation)
{
	is_let_in = true;
	return sys_real.flock(fd, operation);
}

/*
 * Another bough was at it for so long that nobody waited, and then it was killed: what it had
 * announced is lost, and must be noted again behind the entry that comes now.
 */
static void lost_after_all(void **state)
{
	struct work *w = open_announced(TWO);
	struct err err = { 0 };
	char *notes, *p;
	size_t n;
	int times = 0;

	(void)state;
	is_let_in = false;
	changed = sys_real;
	changed.lock_holder = held_until_asked;
	changed.flock = let_in;
	sys_install(&changed);
	load_at_once(w);
	assert_int_equal(env_problems(w, "lost-append"), 0);
	env_ok(cut_by(w, true, &err), &err);
	sys_install(NULL);
	notes = temp_get(env_path(&env, "s.reflog"), &n);
	for (p = notes; (p = strstr(p, "twotwo")) != NULL; p++)
		times++;
	assert_int_equal(times, 2);
	free(notes);
	work_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(copied_while_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(log_copied_while_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sidecar_is_link, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_use_by_parts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fresh_tail, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fresh_log_is_watched, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bad_place, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reflog_is_foreign, set_up, tear_down),
		cmocka_unit_test_setup_teardown(note_of_the_broken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lock_then_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lost_after_all, set_up, tear_down),
	};

	env_fix_clock();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
