/*
 * t-convert.c - conversions of dsh logs: those whose name and bytes disagree, and
 * whole roots, which belong to one encoding and are left alone while in use.
 */
#include "config.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "format/dsh/dsh.h"
#include "log/log.h"
#include "store/store.h"
#include "tests/lib/dshenv.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/storeenv.h"

#define WHOLE DSH_HEADER DSH_TURN_1 DSH_TURN_2
#define LATE  DSH_TURN_3
#define HEADER_B \
	"{\"type\":\"session\",\"version\":0,\"id\":\"b\",\"createdAt\":1,\"delegationDepth\":0}\n"

static struct env env;

static int setup(void **state)
{
	(void)state;
	env_fix_clock();
	env_make(&env);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	env_remove(&env);
	return 0;
}

/* "_no-cwd/<id>/session.jsonl[.zstd]"; one of env_path's buffers. */
static const char *log_of(const char *id, bool is_zstd)
{
	char *name = xasprintf("_no-cwd/%s/session.jsonl%s", id, is_zstd ? ".zstd" : "");
	const char *path = env_path(&env, name);

	free(name);
	return path;
}

/* Bytes of one kind under a name of one kind; an hour old. */
static void put_log(const char *id, const char *const *batches, bool is_zstd, const char *path)
{
	char *dir = xasprintf("_no-cwd/%s", id), *bytes;
	struct timespec old[2] = { { .tv_sec = ENV_NOW / 1000 - 3600 },
		{ .tv_sec = ENV_NOW / 1000 - 3600 } };
	size_t n;

	mkdir(env_path(&env, "_no-cwd"), 0700);
	mkdir(env_path(&env, dir), 0700);
	bytes = dshenv_bytes(is_zstd, batches, NULL, &n);
	temp_put(path, bytes, n);
	utimensat(AT_FDCWD, path, old, 0);
	free(bytes);
	free(dir);
}

static const char *const whole[] = { DSH_HEADER, DSH_TURN_1, DSH_TURN_2, NULL };
static const char *const whole_b[] = { HEADER_B, DSH_TURN_1, NULL };
static const char *const open_turn[] = { DSH_HEADER, DSH_TURN_1, DSH_TURN_2, DSH_TURN_3, NULL };

static struct work *open_log(const char *path)
{
	struct work *w = NULL;
	struct err err = { 0 };

	env_ok(work_open(&w, path, &err), &err);
	env_ok(work_load(w, &err), &err);
	return w;
}

static size_t rows_of_root(void)
{
	struct store *st = store_new();
	struct err err = { 0 };
	size_t n;

	env_ok(store_add(st, env.root, &err), &err);
	store_scan(st);
	n = store_nrows(st);
	store_free(&st);
	return n;
}

/* ---- names and bytes ---- */

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		bool is_zstd = i & 1, named = i & 2, to_zstd = i & 4;
		struct done d = { 0 };
		struct err err = { 0 };
		struct work *w;

		env_clear(&env);
		put_log("s", whole, is_zstd, log_of("s", named));
		w = open_log(log_of("s", named));
		assert_int_equal(env_problems(w, "wrong-name"), is_zstd != named);
		assert_int_equal(work_session(w)->problems.n, is_zstd != named);
		env_ok(work_convert(w, to_zstd, true, &d, &err), &err);
		assert_int_equal(access(log_of("s", named), F_OK), 0);
		assert_int_equal(access(log_of("s", !named), F_OK), -1);
		env_ok(work_convert(w, to_zstd, false, &d, &err), &err);
		work_close(&w);
		assert_true(dshenv_is(log_of("s", to_zstd), to_zstd, WHOLE));
		assert_int_equal(access(log_of("s", !to_zstd), F_OK), -1);
		assert_int_equal(rows_of_root(), 1);
		w = open_log(log_of("s", to_zstd));
		assert_int_equal(work_session(w)->problems.n, 0);
		work_close(&w);
		done_release(&d);
	}
}

/* The name that fits is another file's: nothing is done. */
static void test_name_taken(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		bool is_zstd = i;
		struct done d = { 0 };
		struct err err = { 0 };
		struct work *w;
		size_t n, m;
		char *before, *after;

		env_clear(&env);
		put_log("s", whole, is_zstd, log_of("s", !is_zstd));
		put_log("s", whole, is_zstd, log_of("s", is_zstd));
		before = env_dump(env.root, &n);
		w = open_log(log_of("s", !is_zstd));
		for (int to = 0; to < 2; to++) {
			assert_int_equal(work_convert(w, to, false, &d, &err), ERR_EXISTS);
			err_clear(&err);
			/* nor is it promised */
			assert_int_equal(work_convert(w, to, true, &d, &err), ERR_EXISTS);
			err_clear(&err);
		}
		after = env_dump(env.root, &m);
		assert_int_equal(n, m);
		assert_memory_equal(before, after, n);
		work_close(&w);
		free(before);
		free(after);
	}
}

/* A fork has the name that its own bytes ask for; a repair goes by the bytes. */
static void test_goes_on(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fork_spec spec = { .has_event = true, .event = 1 };
		bool is_zstd = i;
		struct done d = { 0 };
		struct err err = { 0 };
		struct work *w;
		char *text;

		env_clear(&env);
		put_log("s", open_turn, is_zstd, log_of("s", !is_zstd));
		w = open_log(log_of("s", !is_zstd));
		env_ok(work_fork_new(w, &spec, false, &d, &err), &err);
		assert_int_equal(dsh_name_is_zstd(d.path), is_zstd);
		text = dshenv_text(d.path, is_zstd);
		assert_non_null(text);
		free(text);
		work_force(w, true); /* the open turn was an hour ago */
		env_ok(work_repair(w, false, &d, &err), &err);
		work_close(&w);
		assert_true(dshenv_is(log_of("s", !is_zstd), is_zstd, WHOLE DSH_TURN_3 DSH_CLOSERS));
		done_release(&d);
	}
}

static void write_renamed(const struct fake_event *e, void *arg)
{
	bool *has_written = arg;

	if (*has_written || !e->to || strcmp(e->to, log_of("s", false)) != 0)
		return;
	*has_written = true;
	temp_adds(e->to, LATE);
}

/* Whoever still has it open writes just when it gets its name: it has the old one again. */
static void test_renamed_beside_writer(void **state)
{
	bool has_written = false;
	struct done d = { 0 };
	struct err err = { 0 };
	struct work *w;

	(void)state;
	env_clear(&env);
	put_log("s", whole, false, log_of("s", true));
	w = open_log(log_of("s", true));
	fake_install();
	fake_reset();
	fake_listen(write_renamed, &has_written);
	assert_int_equal(work_convert(w, false, false, &d, &err), ERR_CHANGED);
	fake_listen(NULL, NULL);
	fake_remove();
	assert_true(has_written);
	assert_true(temp_is(log_of("s", true), WHOLE LATE));
	assert_int_equal(access(log_of("s", false), F_OK), -1);
	work_close(&w);
	done_release(&d);
}

struct late {
	int looks;
	bool has_moved;
};

/* Behind the new log the old one is looked at for the comparison, and then once more. */
static void write_at_the_end(unsigned call, const struct fake_event *e, void *arg)
{
	struct late *late = arg;

	(void)call;
	if (!e->path || strcmp(e->path, log_of("s", false)) != 0)
		return;
	if (strcmp(e->name, "rename_noreplace") == 0)
		late->has_moved = true;
	if (strcmp(e->name, "stat") == 0 && access(log_of("s", true), F_OK) == 0 && ++late->looks == 2)
		temp_adds(log_of("s", false), LATE);
}

/* The new log is there, and the old one grows: it is not moved at all, and the new one goes. */
static void test_grows_meanwhile(void **state)
{
	struct late late = { 0 };
	struct done d = { 0 };
	struct err err = { 0 };
	struct work *w;
	int rc;

	(void)state;
	env_clear(&env);
	put_log("s", whole, false, log_of("s", false));
	w = open_log(log_of("s", false));
	fake_install();
	fake_reset();
	fake_before(write_at_the_end, &late);
	rc = work_convert(w, true, false, &d, &err);
	fake_remove();
	assert_int_equal(rc, ERR_CHANGED);
	assert_true(late.looks >= 2);
	assert_false(late.has_moved);
	assert_true(temp_is(log_of("s", false), WHOLE LATE));
	assert_int_equal(access(log_of("s", true), F_OK), -1);
	work_close(&w);
	done_release(&d);
}

/* Every call fails once or for good: the log is in one place that readers know, and goes on. */
static bool is_whole(bool is_zstd)
{
	return dshenv_is(log_of("s", is_zstd), is_zstd, WHOLE);
}

static void convert_with(const struct fake_trace *t, const struct fake_case *f, bool is_zstd,
	bool to_zstd)
{
	struct done d = { 0 };
	struct err err = { 0 };
	struct work *w;
	int rc;

	env_clear(&env);
	put_log("s", whole, is_zstd, log_of("s", !is_zstd));
	w = open_log(log_of("s", !is_zstd));
	if (f)
		fake_plan(f->mode, f->call, f->error);
	else
		fake_reset();
	rc = work_convert(w, to_zstd, false, &d, &err);
	if (!f)
		fake_trace((struct fake_trace *)t);
	fake_reset();
	work_close(&w);
	if (rc == 0 && !is_whole(to_zstd))
		fail_msg("%s: done, and it is not there", f ? fake_describe(t, f) : "no fault");
	if (!is_whole(is_zstd) && !is_whole(to_zstd) &&
		!dshenv_is(log_of("s", !is_zstd), is_zstd, WHOLE))
		fail_msg("%s: the log is in no place: %s", fake_describe(t, f), err.text);
	/* the root once more, whatever was left */
	if (rc < 0) {
		struct conversion *c = NULL;
		struct buf list = { 0 };
		bool was_so;

		err_clear(&err);
		env_ok(conversion_begin(&c, env.root, to_zstd, false, &list, &err), &err);
		while ((rc = conversion_step(c, false, &d, &was_so, &err)) == 1)
			;
		env_ok(rc, &err);
		conversion_end(&c);
		assert_true(is_whole(to_zstd));
		assert_int_equal(rows_of_root(), 1);
	}
	done_release(&d);
}

static void test_faults(void **state)
{
	struct fake_trace *t = xcalloc(1, sizeof(*t));
	unsigned long n = 0;

	(void)state;
	fake_install();
	for (int i = 0; i < 4; i++) {
		bool is_zstd = i & 1, to_zstd = i & 2;
		struct fake_case f = { 0 };

		convert_with(t, NULL, is_zstd, to_zstd);
		while (fake_next(t, &f))
			if (dshenv_takes(n++))
				convert_with(t, &f, is_zstd, to_zstd);
	}
	fake_remove();
	print_message("%lu faults\n", n);
	assert_true(n >= 1000);
	free(t);
}

/* ---- roots ---- */

static void put_root(bool is_zstd)
{
	env_clear(&env);
	put_log("b", whole_b, is_zstd, log_of("b", is_zstd));
	put_log("s", whole, is_zstd, log_of("s", is_zstd));
}

static int begin(const char *place, bool is_forced, struct conversion **c, struct buf *list)
{
	struct err err = { 0 };
	int rc = conversion_begin(c, place, true, is_forced, list, &err);

	assert_int_equal(rc, err.code);
	return rc;
}

/* Nothing begins, and nothing has changed. */
static void refuses(const char *place, bool is_forced, int code)
{
	struct conversion *c = NULL;
	struct buf list = { 0 };
	size_t n, m;
	char *before = env_dump(env.root, &n), *after;

	assert_int_equal(begin(place, is_forced, &c, &list), code);
	assert_null(c);
	after = env_dump(env.root, &m);
	assert_int_equal(n, m);
	assert_memory_equal(before, after, n);
	free(before);
	free(after);
	buf_release(&list);
}

/* How the steps end: 's' was so, 'd' done, 'f' failed. */
static void converts(const char *place, bool is_forced, const char *want)
{
	struct conversion *c = NULL;
	struct buf list = { 0 };
	struct done d = { 0 };

	assert_int_equal(begin(place, is_forced, &c, &list), 0);
	assert_int_equal(conversion_size(c), strlen(want));
	for (; *want; want++) {
		struct err err = { 0 };
		bool was_so;
		int rc = conversion_step(c, false, &d, &was_so, &err);

		assert_int_equal(rc < 0 ? 'f' : was_so ? 's' : 'd', *want);
	}
	assert_int_equal(conversion_step(c, false, &d, &(bool){ false }, NULL), 0);
	conversion_end(&c);
	buf_release(&list);
	done_release(&d);
}

static void touch(const char *path, int64_t ms)
{
	struct timespec t[2] = { { .tv_sec = ms / 1000 }, { .tv_sec = ms / 1000 } };

	assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

static void test_root(void **state)
{
	(void)state;
	put_root(false);
	refuses(log_of("s", false), false, ERR_UNSUPPORTED);
	refuses(env_path(&env, "_no-cwd/s"), false, ERR_UNSUPPORTED);
	converts(env_path(&env, "_no-cwd"), false, "dd");
	assert_true(dshenv_is(log_of("s", true), true, WHOLE));
	assert_int_equal(rows_of_root(), 2);
	/* one that strays from a root that has the encoding already */
	put_root(false);
	converts(log_of("s", false), true, "d");
	converts(log_of("b", false), false, "d");
	converts(env.root, false, "ss");
}

/* A harness that comes while a root is converted has its log left alone. */
static void test_comes_later(void **state)
{
	struct conversion *c = NULL;
	struct buf list = { 0 };
	struct done d = { 0 };
	struct err err = { 0 };
	bool was_so;

	(void)state;
	put_root(false);
	assert_int_equal(begin(env.root, false, &c, &list), 0);
	assert_int_equal(conversion_step(c, false, &d, &was_so, &err), 1);
	touch(log_of("s", false), ENV_NOW - 1000);
	assert_int_equal(conversion_step(c, false, &d, &was_so, &err), ERR_LOCKED);
	assert_int_equal(conversion_step(c, false, &d, &was_so, NULL), 0);
	conversion_end(&c);
	assert_true(dshenv_is(log_of("s", false), false, WHOLE));
	buf_release(&list);
	done_release(&d);
}

static void test_in_use(void **state)
{
	struct log *lock = NULL;
	struct conversion *c = NULL;
	struct buf list = { 0 };
	struct err err = { 0 };

	(void)state;
	put_root(false);
	env_ok(log_open(&lock, log_of("b", false), 0, &err), &err);
	assert_int_equal(conversion_begin(&c, env.root, true, false, &list, &err), ERR_LOCKED);
	assert_non_null(strstr(err.text, "is in use, and so is its root"));
	err_clear(&err);
	for (int forced = 0; forced < 2; forced++) {
		refuses(env.root, forced, ERR_LOCKED);
		refuses(log_of("s", false), forced, ERR_LOCKED);
	}
	log_close(&lock);
	touch(log_of("b", false), ENV_NOW - 30000);
	for (int forced = 0; forced < 2; forced++) {
		refuses(env.root, forced, ERR_LOCKED);
		refuses(log_of("s", false), forced, ERR_LOCKED);
	}
	touch(log_of("b", false), ENV_NOW - 90000);
	temp_adds(log_of("s", false), LATE); /* a turn that is open rests later */
	touch(log_of("s", false), ENV_NOW - 90000);
	refuses(env.root, true, ERR_LOCKED);
	touch(log_of("s", false), ENV_NOW - 700000);
	converts(env.root, false, "dd");
}

/* One that can not be converted keeps all of them from it, unless the person insists. */
static void test_one_is_torn(void **state)
{
	struct conversion *c = NULL;
	struct buf list = { 0 };

	(void)state;
	put_root(false);
	temp_adds(log_of("b", false), "{\"type\":\"tur");
	touch(log_of("b", false), ENV_NOW - 90000);
	refuses(env.root, false, ERR_UNSUPPORTED);
	assert_int_equal(begin(env.root, false, &c, &list), ERR_UNSUPPORTED);
	assert_non_null(strstr(list.p, "/b/session.jsonl can not be converted: its end is torn"));
	assert_null(strstr(list.p, "/s/session.jsonl"));
	buf_release(&list);
	converts(env.root, true, "fd");
	assert_true(dshenv_is(log_of("s", true), true, WHOLE));
}

/* Stopped at any place, it goes on; what it wrote itself is no sign of a writer. */
static void test_interrupted(void **state)
{
	struct conversion *c = NULL;
	struct buf list = { 0 };
	struct done d = { 0 };
	bool was_so;

	(void)state;
	put_root(false);
	assert_int_equal(begin(env.root, false, &c, &list), 0);
	assert_int_equal(conversion_step(c, false, &d, &was_so, NULL), 1);
	conversion_end(&c);
	touch(log_of("b", true), ENV_NOW - 1000);
	/* and the next one got as far as its new file */
	put_log("s", whole, true, log_of("s", true));
	converts(env.root, false, "sds");
	assert_true(dshenv_is(log_of("s", true), true, WHOLE));
	assert_int_equal(rows_of_root(), 2);
	/* somebody has written since */
	touch(log_of("s", true), ENV_NOW - 1000);
	converts(env.root, false, "ss");
	temp_adds(log_of("s", true), "x");
	touch(log_of("s", true), ENV_NOW - 1000);
	refuses(env.root, true, ERR_LOCKED);
	done_release(&d);
	buf_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_name_taken),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_renamed_beside_writer),
		cmocka_unit_test(test_grows_meanwhile),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_in_use),
		cmocka_unit_test(test_comes_later),
		cmocka_unit_test(test_one_is_torn),
		cmocka_unit_test(test_interrupted),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
