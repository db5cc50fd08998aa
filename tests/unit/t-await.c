/*
 * t-await.c - a repair and a fork of a log that has just been written wait to
 * see whether it rests: the screen is given back at once, Esc gives up, and a
 * log that grows meanwhile is left alone. No limit of time is tested.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/lib/dshenv.h"
#include "tests/lib/storeenv.h"
#include "ui/internal.h"
#include "ui/key.h"
#include "ui/session-changes.h"
#include "ui/view-session.h"
#include "ui/view.h"

#define OPEN_LOG DSH_HEADER DSH_TURN_1 DSH_TURN_2 DSH_TURN_3
#define LATE     "{\"type\":\"step/end\",\"seq\":8,\"time\":18,\"data\":{\"turn\":3,\"step\":1}}\n"

static struct env env;
static struct ui ui;
static char path[TEMP_PATH];

/* Written a tenth of a second ago, by the clock of these tests. */
static void make_fresh(void)
{
	struct timespec at[2];

	at[0].tv_sec = at[1].tv_sec = ENV_NOW / 1000 - 1;
	at[0].tv_nsec = at[1].tv_nsec = 900000000;
	assert_int_equal(utimensat(AT_FDCWD, path, at, 0), 0);
}

static void run(void)
{
	while (ui.top->busy)
		ui_apply(&ui, ui.top, ui.top->ops->step(ui.top, 1000));
}

static struct view *open_view(void)
{
	struct view *v;

	env_clear(&env);
	assert_int_equal(mkdir(env_path(&env, "_no-cwd"), 0700), 0);
	assert_int_equal(mkdir(env_path(&env, "_no-cwd/s"), 0700), 0);
	snprintf(path, sizeof(path), "%s", env_path(&env, "_no-cwd/s/session.jsonl"));
	temp_puts(path, OPEN_LOG);
	make_fresh();
	memset(&ui, 0, sizeof(ui));
	ui.screen.cols = 80;
	ui.screen.rows = 24;
	ui.store = store_new();
	v = view_push(&ui, &view_session, path);
	assert_non_null(v);
	run();
	return v;
}

static void close_views(void)
{
	while (ui.top)
		view_pop(&ui);
	store_free(&ui.store);
	prompt_release(&ui.prompt);
}

static void ask_for_repair(struct view *v)
{
	ui_apply(&ui, v, alter_repair(v, ""));
	prompt_key(&ui, 'y');
	assert_false(ui.prompt.is_open);
}

static void waits(const struct view *v)
{
	assert_true(v->busy);
	assert_true(v->waits);
	assert_true(temp_is(path, OPEN_LOG));
}

static void test_repair(void **state)
{
	struct view *v = open_view();

	(void)state;
	ask_for_repair(v);
	waits(v);
	run();
	assert_false(v->waits);
	assert_true(temp_is(path, OPEN_LOG DSH_CLOSERS));
	assert_string_equal(ui.status.text, "appended 2 events that close the interrupted turn");
	close_views();
}

static void test_given_up(void **state)
{
	static const uint32_t keys[] = { K_ESC, 3 /* ^C */ };
	struct view *v = open_view();

	(void)state;
	for (int i = 0; i < 2; i++) {
		ask_for_repair(v);
		waits(v);
		view_move(v, 1); /* where the cursor is put meanwhile, it stays */
		assert_int_equal(v->cursor, 1);
		ui_key(&ui, keys[i]);
		assert_false(v->waits);
		assert_string_equal(ui.status.text, "nothing was changed");
		run();
		assert_int_equal(v->cursor, 1);
		assert_true(temp_is(path, OPEN_LOG));
		view_move(v, -1);
	}
	ask_for_repair(v); /* and what was given up has not been watched to the end */
	waits(v);
	run();
	assert_true(temp_is(path, OPEN_LOG DSH_CLOSERS));
	close_views();
}

static void test_grows(void **state)
{
	struct view *v = open_view();

	(void)state;
	ask_for_repair(v);
	temp_adds(path, LATE);
	run();
	assert_true(ui.status.is_error);
	assert_non_null(strstr(ui.status.text, "is being written by another process"));
	assert_true(temp_is(path, OPEN_LOG LATE));
	close_views();
}

static void test_fork(void **state)
{
	struct view *v = open_view();

	(void)state;
	session_goto(v, 0);
	ui_apply(&ui, v, alter_fork_new(v, ""));
	waits(v);
	assert_ptr_equal(ui.top, v);
	assert_int_equal(temp_count(env_path(&env, "_no-cwd"), "session-", NULL), 0);
	while (v->busy)
		ui_apply(&ui, v, v->ops->step(v, 1000));
	assert_ptr_not_equal(ui.top, v); /* the new session */
	assert_int_equal(temp_count(env_path(&env, "_no-cwd"), "session-", NULL), 1);
	assert_true(temp_is(path, OPEN_LOG));
	close_views();
}

/* A log that nobody has touched for a while is not watched. */
static void test_old(void **state)
{
	struct view *v = open_view();
	struct timespec at[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	(void)state;
	assert_int_equal(utimensat(AT_FDCWD, path, at, 0), 0);
	ask_for_repair(v);
	assert_false(v->waits);
	assert_true(temp_is(path, OPEN_LOG DSH_CLOSERS));
	close_views();
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repair),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_old),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
