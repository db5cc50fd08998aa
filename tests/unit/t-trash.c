/*
 * t-trash.c - where a session goes when the usual trash will not do: across a
 * mount, and where somebody put something else in the place of its folders.
 * That all of it comes back is t-ops.c's and t-opfaults.c's.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "log/log.h"
#include "log/sys.h"
#include "store/store.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/storeenv.h"

#define A "{\"id\":\"a\",\"role\":\"USER\",\"content\":\"one\",\"timestamp\":1}\n"

static struct env env;

static int set_up(void **state)
{
	(void)state;
	env_make(&env);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sys_install(NULL);
	env_remove(&env);
	return 0;
}

/* With a sidecar and a reflog. */
static struct work *session(void)
{
	temp_puts(env_path(&env, "s.meta.json"), "{}");
	temp_puts(env_path(&env, "s.reflog"), "\n");
	return env_open_text(&env, A);
}

/* "<dir>/<name>", of the whole place: one buffer. */
static const char *at(const char *name)
{
	static char path[TEMP_PATH + 64];

	snprintf(path, sizeof(path), "%s/%s", env.dir, name);
	return path;
}

/* It is refused with these words, dry or not, and nothing has changed. */
static void refused(int code, const char *words)
{
	struct work *w = session();
	struct done d = { 0 };
	struct err err = { 0 };
	size_t n, m;
	char *before = env_dump(env.dir, &n), *after;

	for (int dry = code == ERR_LOCKED ? 0 : 1; dry >= 0; dry--) {
		assert_int_equal(work_trash(&w, dry, &d, &err), code);
		assert_non_null(w);
		if (!strstr(err.text, words))
			fail_msg("\"%s\" does not say \"%s\"", err.text, words);
		err_clear(&err);
	}
	after = env_dump(env.dir, &m);
	assert_int_equal(n, m);
	assert_memory_equal(before, after, n);
	free(before);
	free(after);
	work_close(&w);
	done_release(&d);
}

/* ---- the lock ---- */

static void locked(void **state)
{
	struct log *lock = NULL;
	struct err err = { 0 };

	(void)state;
	work_close(&(struct work *){ session() });
	env_ok(log_open(&lock, env_path(&env, "s.jsonl"), 0, &err), &err);
	refused(ERR_LOCKED, "");
	log_close(&lock);
}

/* ---- other mounts ---- */

/* Only into the person's own trash nothing can be moved. */
static int cross(const char *from, const char *to)
{
	if (strstr(to, "/data/Trash/")) {
		errno = EXDEV;
		return -1;
	}
	return sys_real.rename_noreplace(from, to);
}

static void across(void **state)
{
	struct sys table = sys_real;
	struct work *w = session();
	struct done d = { 0 };
	struct err err = { 0 };
	size_t n, m;
	char *before = env_dump(env.root, &n), *after;

	(void)state;
	table.rename_noreplace = cross;
	sys_install(&table);
	env_ok(work_trash(&w, false, &d, &err), &err);
	assert_null(w);
	assert_string_equal(d.path, env_path(&env, ".trash/files/s.jsonl"));
	assert_true(temp_is(d.path, A));
	assert_true(temp_is(env_path(&env, ".trash/files/s.meta.json"), "{}"));
	assert_int_equal(access(env_path(&env, ".trash/info/s.jsonl.trashinfo"), F_OK), 0);
	assert_int_equal(temp_count(at("data/Trash/info"), "", NULL), 0);
	env_ok(store_untrash(&d, &err), &err);
	rmdir(env_path(&env, ".trash/files"));
	rmdir(env_path(&env, ".trash/info"));
	rmdir(env_path(&env, ".trash"));
	after = env_dump(env.root, &m);
	assert_int_equal(n, m);
	assert_memory_equal(before, after, n);
	free(before);
	free(after);
	done_release(&d);
}

/* Any other failure is one. */
static int full(const char *from, const char *to)
{
	(void)from;
	(void)to;
	errno = ENOSPC;
	return -1;
}

static void no_space(void **state)
{
	struct sys table = sys_real;
	struct work *w = session();
	struct done d = { 0 };
	struct err err = { 0 };

	(void)state;
	table.rename_noreplace = full;
	sys_install(&table);
	assert_int_equal(work_trash(&w, false, &d, &err), ERR_IO);
	assert_int_equal(err.sys, ENOSPC);
	assert_int_equal(access(env_path(&env, ".trash"), F_OK), -1);
	work_close(&w);
	done_release(&d);
}

/* ---- what may not stand there ---- */

static void put_folders(const char *const *names)
{
	for (; *names; names++)
		mkdir(at(*names), 0700);
}

static void links(void **state)
{
	static const char *const homes[] = { "data", "data/Trash", "data/Trash/files",
		"data/Trash/info", "elsewhere", NULL };
	static const char *const places[] = { "data/Trash/files", "data/Trash/info" };
	struct work *w;
	struct done d = { 0 };
	struct err err = { 0 };

	(void)state;
	put_folders(homes);
	for (int i = 0; i < 2; i++) {
		rmdir(at(places[i]));
		temp_puts(at(places[i]), "");
		refused(ERR_UNSUPPORTED, "is a file, no folder");
		unlink(at(places[i]));
		assert_int_equal(symlink("../../elsewhere", at(places[i])), 0);
		refused(ERR_UNSUPPORTED, "is a link, no folder");
		unlink(at(places[i]));
		assert_int_equal(symlink("nowhere", at(places[i])), 0);
		refused(ERR_UNSUPPORTED, "is a link, no folder");
		unlink(at(places[i]));
		mkdir(at(places[i]), 0700);
	}
	/* the person's own trash may lie elsewhere */
	rmdir(at("data/Trash/files"));
	rmdir(at("data/Trash/info"));
	rmdir(at("data/Trash"));
	assert_int_equal(symlink("../elsewhere", at("data/Trash")), 0);
	w = session();
	env_ok(work_trash(&w, false, &d, &err), &err);
	assert_true(temp_is(at("elsewhere/files/s.jsonl"), A));
	done_release(&d);
}

static void links_beside(void **state)
{
	static const char *const names[] = { ".trash", ".trash/files", ".trash/info" };
	struct work *w;
	struct done d = { 0 };
	struct err err = { 0 };

	(void)state;
	unsetenv("XDG_DATA_HOME");
	setenv("HOME", "", 1); /* there is no other place */
	mkdir(at("elsewhere"), 0700);
	for (int i = 0; i < 3; i++) {
		char *place = xstrdup(env_path(&env, names[i]));

		if (i)
			mkdir(env_path(&env, ".trash"), 0700);
		assert_int_equal(symlink(at("elsewhere"), place), 0);
		refused(ERR_UNSUPPORTED, "is a link, no folder");
		unlink(place);
		temp_puts(place, "");
		refused(ERR_UNSUPPORTED, "is a file, no folder");
		unlink(place);
		free(place);
	}
	w = session();
	env_ok(work_trash(&w, false, &d, &err), &err);
	/* nor does anything come back through a link */
	assert_int_equal(rename(env_path(&env, ".trash/info"), at("info")), 0);
	assert_int_equal(symlink(at("info"), env_path(&env, ".trash/info")), 0);
	assert_int_equal(store_untrash(&d, &err), ERR_UNSUPPORTED);
	assert_true(temp_is(d.path, A));
	done_release(&d);
}

/* As soon as the session is locked: the place was looked at before that. */
static int plant(int fd, int operation)
{
	static const char *const homes[] = { "data", "data/Trash", "elsewhere", NULL };

	put_folders(homes);
	if (symlink("../../elsewhere", at("data/Trash/files")) < 0)
		assert_int_equal(errno, EEXIST);
	return sys_real.flock(fd, operation);
}

static void link_behind_the_look(void **state)
{
	struct sys table = sys_real;
	struct work *w = session();
	struct done d = { 0 };
	struct err err = { 0 };

	(void)state;
	table.flock = plant;
	sys_install(&table);
	assert_int_equal(work_trash(&w, false, &d, &err), ERR_UNSUPPORTED);
	sys_install(NULL);
	assert_non_null(w);
	assert_true(temp_is(env_path(&env, "s.jsonl"), A));
	assert_int_equal(temp_count(at("elsewhere"), "", NULL), 0);
	work_close(&w);
	done_release(&d);
}

/* A folder of another user's: whoever is not root can not make one to try. */
static void foreign(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	mkdir(at("data"), 0700);
	mkdir(at("data/Trash"), 0700);
	assert_int_equal(chown(at("data/Trash"), 12345, 12345), 0);
	refused(ERR_UNSUPPORTED, "belongs to another user");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(locked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(across, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_space, set_up, tear_down),
		cmocka_unit_test_setup_teardown(links, set_up, tear_down),
		cmocka_unit_test_setup_teardown(links_beside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(link_behind_the_look, set_up, tear_down),
		cmocka_unit_test_setup_teardown(foreign, set_up, tear_down),
	};

	env_fix_clock();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
