/*
 * t-guards.c - checks of which each stands between one look and the write behind
 * it: the source of a copy that is written over meanwhile, a sidecar that is a
 * link. Each test fails when its check is taken out.
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(copied_while_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(log_copied_while_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sidecar_is_link, set_up, tear_down),
	};

	env_fix_clock();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
