/*
 * t-dsh-faults.c - every operation that writes dsh logs, in both encodings,
 * with a fault at every system call of its path: once, for good, short, half
 * written and then an error, with each kind of errno. Afterwards the log holds
 * what it held or what it must hold now, nothing of it is lost, no descriptor
 * is open, and the same operation works when the faults are gone.
 */
#include "config.h"

#include <dirent.h>
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
#include "log/frames.h"
#include "store/internal.h"
#include "tests/lib/dshenv.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/storeenv.h"

#define WHOLE DSH_HEADER DSH_TURN_1 DSH_TURN_2

static struct env env;

struct scenario {
	const char *name;
	const char *batches[5];
	const char *tail;     /* of which a part got to the disk */
	const char *appended; /* by the operation */
	int (*run)(struct work *w, bool is_zstd, struct done *d, struct err *err);
	void (*check)(const struct scenario *c, bool is_zstd, struct left *l);
};

static const char *log_path(bool is_zstd)
{
	return env_path(&env, is_zstd ? "_no-cwd/s/session.jsonl.zstd" : "_no-cwd/s/session.jsonl");
}

/* ---- the operations ---- */

static int run_repair(struct work *w, bool is_zstd, struct done *d, struct err *err)
{
	(void)is_zstd;
	work_force(w, true);
	return work_repair(w, false, d, err);
}

static int run_fork(struct work *w, bool is_zstd, struct done *d, struct err *err)
{
	struct fork_spec spec = { .has_event = true, .event = 3 };

	(void)is_zstd;
	return work_fork_new(w, &spec, false, d, err);
}

static int run_convert(struct work *w, bool is_zstd, struct done *d, struct err *err)
{
	return work_convert(w, !is_zstd, false, d, err);
}

/* Below the store: one batch more. */
static int run_append(struct work *w, bool is_zstd, struct done *d, struct err *err)
{
	struct session *s = work_session(w);
	struct buf frame = { 0 };
	struct log *log = NULL;
	struct log_append_info info;
	int rc;

	(void)d;
	work_let_go(w);
	rc = log_open(&log, log_path(is_zstd), LOG_ALONE | LOG_ANEW, err);
	if (rc == 0 && is_zstd)
		rc = log_frame_encode(&frame, DSH_CLOSERS, strlen(DSH_CLOSERS), err);
	if (rc == 0 && is_zstd)
		rc = log_append_bytes(log, s->committed, frame.p, frame.n, &info, err);
	else if (rc == 0)
		rc = log_append_bytes(
			log, s->committed, DSH_CLOSERS, strlen(DSH_CLOSERS), &info, err);
	log_close(&log);
	work_take_up(w);
	buf_release(&frame);
	return rc;
}

/* ---- what must hold ---- */

static char *old_bytes(const struct scenario *c, bool is_zstd, size_t *n)
{
	return dshenv_bytes(is_zstd, c->batches, c->tail, n);
}

/* All that was committed, and nothing else but what was there or was to come. */
static void check_log(const struct scenario *c, bool is_zstd, struct left *l, bool is_new)
{
	size_t n = 0, nold, nkept;
	char *p = temp_get(log_path(is_zstd), &n), *old = old_bytes(c, is_zstd, &nold);
	char *kept = dshenv_bytes(is_zstd, c->batches, NULL, &nkept), *text;

	if (!p || n < nkept || memcmp(p, kept, nkept) != 0) {
		wrong(l, "committed bytes are gone");
	} else if (is_new && *c->appended) {
		text = dshenv_decode(p + nkept, n - nkept, is_zstd);
		if (!text || strcmp(text, c->appended) != 0)
			wrong(l, "done, and behind the kept bytes stands: %.200s",
				text ? text : "nothing whole");
		free(text);
	} else if (is_new) {
		if (n != nkept)
			wrong(l, "done, and the tail is not cut");
	} else if (l->err.code != ERR_BROKEN && (n != nold || memcmp(p, old, n) != 0)) {
		wrong(l, "failed, and the file is another");
	} else if (l->err.code == ERR_BROKEN && !l->for_good) {
		wrong(l, "broken by a fault that went away");
	}
	free(p);
	free(old);
	free(kept);
}

static void check_written(const struct scenario *c, bool is_zstd, struct left *l)
{
	check_log(c, is_zstd, l, l->rc == 0);
}

/* Session folders beside the one that was there which hold a log; `path` gets the last. */
static int count_forks(bool is_zstd, char path[TEMP_PATH * 2])
{
	DIR *d = opendir(env_path(&env, "_no-cwd"));
	struct dirent *ent;
	int n = 0;

	while ((ent = readdir(d))) {
		char file[TEMP_PATH * 2 - 300];

		if (ent->d_name[0] == '.' || !strcmp(ent->d_name, "s"))
			continue;
		snprintf(file, sizeof(file), "%s/%s/%s", env_path(&env, "_no-cwd"), ent->d_name,
			is_zstd ? "session.jsonl.zstd" : "session.jsonl");
		if (access(file, F_OK) < 0)
			continue;
		n++;
		snprintf(path, TEMP_PATH * 2, "%s", file);
	}
	closedir(d);
	return n;
}

/* The parent's events to the end of its second turn and the title, and the end of the seed. */
static void check_fork_text(struct left *l, const char *path, bool is_zstd)
{
	char *text = dshenv_text(path, is_zstd), *want, *body = text ? strchr(text, '\n') : NULL;

	want = xasprintf(
		"%s%s{\"type\":\"session/end-seed\",\"seq\":6,\"time\":%lld,\"data\":{}}\n",
		DSH_TURN_1, DSH_TURN_2, (long long)ENV_NOW);
	if (!body || strcmp(body + 1, want) != 0 ||
		!strstr(text, "\"parentSession\":\"s\",\"seedLength\":6,\"delegationDepth\":0}\n"))
		wrong(l, "the fork is: %.300s", text ? text : "not whole");
	free(text);
	free(want);
}

static void check_fork(const struct scenario *c, bool is_zstd, struct left *l)
{
	char path[TEMP_PATH * 2] = "";
	int n = count_forks(is_zstd, path);

	check_log(c, is_zstd, l, false);
	if (l->rc == 0 && (n != 1 || strcmp(path, l->done.path) != 0))
		wrong(l, "done, and %d forks are there", n);
	/* published after all, which the error admits: then it is whole */
	if (l->rc < 0 && n != 0 && !(l->for_good && strstr(l->err.text, "may not survive")))
		wrong(l, "failed, and a fork is there");
	if (n > 0)
		check_fork_text(l, path, is_zstd);
}

static void check_convert(const struct scenario *c, bool is_zstd, struct left *l)
{
	char *old = xasprintf("%s.converted", log_path(is_zstd));
	bool old_is_there = access(log_path(is_zstd), F_OK) == 0;
	bool is_aside = access(old, F_OK) == 0,
	     new_is_there = access(log_path(!is_zstd), F_OK) == 0;
	struct stat a, b;

	if (l->rc == 0 && (old_is_there || !is_aside || !new_is_there))
		wrong(l, "done, and the files are not where they must be");
	if (l->rc < 0 && !old_is_there &&
		!(l->for_good && is_aside && strstr(l->err.text, "was moved")))
		wrong(l, "failed, and the old file is not under its name");
	if (l->rc < 0 && old_is_there && is_aside && stat(old, &a) == 0 &&
		stat(log_path(is_zstd), &b) == 0 && a.st_ino != b.st_ino)
		wrong(l, "two old files");
	if (old_is_there)
		check_log(c, is_zstd, l, false);
	if (is_aside && !dshenv_is(old, is_zstd, WHOLE))
		wrong(l, "the old file is another");
	if (new_is_there && !dshenv_is(log_path(!is_zstd), !is_zstd, WHOLE))
		wrong(l, "the new file is not whole");
	free(old);
}

static const struct scenario scenarios[] = {
	{ "append a batch", { DSH_HEADER, DSH_TURN_1, DSH_TURN_2, DSH_TURN_3 }, NULL, DSH_CLOSERS,
		run_append, check_written },
	{ "append over a tail", { DSH_HEADER, DSH_TURN_1, DSH_TURN_2, DSH_TURN_3 }, DSH_TAIL,
		DSH_CLOSERS, run_append, check_written },
	{ "repair an open turn", { DSH_HEADER, DSH_TURN_1, DSH_TURN_2, DSH_TURN_3 }, NULL,
		DSH_CLOSERS, run_repair, check_written },
	{ "repair a torn end", { DSH_HEADER, DSH_TURN_1 DSH_TURN_2 DSH_TURN_3 }, DSH_TAIL,
		DSH_CLOSERS, run_repair, check_written },
	{ "repair, only cut", { DSH_HEADER, DSH_TURN_1, DSH_TURN_2 }, "{\"type\":\"turn/st", "",
		run_repair, check_written },
	{ "fork", { DSH_HEADER, DSH_TURN_1, DSH_TURN_2, DSH_TURN_3 }, NULL, "", run_fork,
		check_fork },
	{ "convert", { DSH_HEADER, DSH_TURN_1, DSH_TURN_2 }, NULL, "", run_convert, check_convert },
};

/* ---- cases ---- */

static void put_files(const struct scenario *c, bool is_zstd)
{
	size_t n;
	char *p = old_bytes(c, is_zstd, &n);

	env_clear(&env);
	mkdir(env_path(&env, "_no-cwd"), 0700);
	mkdir(env_path(&env, "_no-cwd/s"), 0700);
	temp_put(log_path(is_zstd), p, n);
	free(p);
}

static struct work *open_log(bool is_zstd)
{
	struct work *w = NULL;
	struct err err = { 0 };

	env_ok(work_open(&w, log_path(is_zstd), &err), &err);
	env_ok(work_load(w, &err), &err);
	return w;
}

/* The operation once more, or the repair that a broken append needs first. */
static void check_again(const struct scenario *c, bool is_zstd, struct left *l)
{
	struct left again = { 0 };
	struct work *w;

	if (l->rc == 0 || access(log_path(is_zstd), F_OK) < 0)
		return;
	w = open_log(is_zstd);
	work_force(w, true);
	if (c->run == run_append && l->err.code == ERR_BROKEN)
		again.rc = work_repair(w, false, &again.done, &again.err);
	else
		again.rc = c->run(w, is_zstd, &again.done, &again.err);
	work_close(&w);
	if (again.rc < 0)
		wrong(l, "it does not work without the fault either: %s", again.err.text);
	else if (c->check != check_fork && l->err.code != ERR_BROKEN)
		c->check(c, is_zstd, &again);
	else if (l->err.code == ERR_BROKEN)
		check_log(c, is_zstd, &again, true);
	if (again.why[0])
		wrong(l, "again: %s", again.why);
	done_release(&again.done);
}

static bool one_case(
	const struct scenario *c, bool is_zstd, struct fake_trace *t, const struct fake_case *f)
{
	struct left l = { .for_good = f && f->mode == FAKE_FROM };
	struct work *w;
	unsigned hits;
	int nfiles;

	put_files(c, is_zstd);
	nfiles = temp_open_files();
	w = open_log(is_zstd);
	if (f)
		fake_plan(f->mode, f->call, f->error);
	else
		fake_reset();
	l.rc = c->run(w, is_zstd, &l.done, &l.err);
	hits = fake_hits();
	if (!f) {
		fake_trace(t);
		if (l.rc < 0)
			wrong(&l, "without a fault: %s", l.err.text);
	}
	fake_reset();
	work_close(&w);
	if (temp_open_files() != nfiles)
		wrong(&l, "%d descriptors are open", temp_open_files() - nfiles);
	if (l.rc < 0 && !l.err.text[0])
		wrong(&l, "failed without a word");
	c->check(c, is_zstd, &l);
	check_again(c, is_zstd, &l);
	done_release(&l.done);
	if (l.why[0])
		print_error("%s, %s: %s: %s (rc %d: %s)\n", c->name, is_zstd ? "zstd" : "raw",
			f ? fake_describe(t, f) : "no fault", l.why, l.rc, l.err.text);
	assert_true(!f || hits > 0 || l.rc == 0);
	return !l.why[0];
}

static void faults(void **state)
{
	struct fake_trace *t = xcalloc(1, sizeof(*t));
	size_t all = 0, nbad = 0, seen = 0;

	(void)state;
	fake_install();
	for (size_t i = 0; i < 2 * sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		const struct scenario *c = &scenarios[i / 2];
		bool is_zstd = i % 2;
		struct fake_case f = { 0 };
		size_t n = 0;

		nbad += !one_case(c, is_zstd, t, NULL);
		while (fake_next(t, &f) && nbad < 20) {
			if (!dshenv_takes(seen++))
				continue;
			nbad += !one_case(c, is_zstd, t, &f);
			n++;
		}
		print_message("  %-20s %-4s %3u calls, %5zu faults\n", c->name,
			is_zstd ? "zstd" : "raw", t->n, n);
		all += n;
	}
	fake_remove();
	print_message("dsh: %zu faults, %zu bad\n", all, nbad);
	free(t);
	assert_int_equal(nbad, 0);
	assert_true(all >= 2000);
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
	const struct CMUnitTest tests[] = { cmocka_unit_test(faults) };

	return cmocka_run_group_tests(tests, setup, teardown);
}
