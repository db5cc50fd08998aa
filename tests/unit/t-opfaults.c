/*
 * t-opfaults.c - every writing operation with a fault at every system call of
 * its path: once, for good, short, half written and then an error, with each
 * kind of errno. Afterwards, with the faults gone: the session's file is the
 * old one or the new one, the reflog reports nothing as lost that was never
 * acknowledged, no descriptor is open, and the next write works.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "store/store.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/storeenv.h"

#define A "{\"id\":\"a\",\"role\":\"USER\",\"content\":\"one\",\"timestamp\":1}\n"
#define B \
	"{\"id\":\"b\",\"parentId\":\"a\",\"role\":\"ASSISTANT\",\"content\":\"two\",\"timestamp\":2}\n"
#define C \
	"{\"id\":\"c\",\"parentId\":\"b\",\"role\":\"USER\",\"content\":\"three\",\"timestamp\":3}"
#define X    "{\"id\":\"x\",\"parentId\":\"a\",\"role\":\"USER\",\"content\":\"lost\",\"timestamp\":4}"
#define TORN "{\"id\":\"t\",\"parentId\":"
#define NOTE "{\"v\":1,\"op\":\"label\",\"entry\":\"a\",\"label\":\"l\",\"at\":1}\n"
#define LOST "{\"v\":1,\"op\":\"append\",\"entry\":" X ",\"at\":2}\n"

static struct env env;

struct scenario {
	const char *name, *session, *sidecar, *reflog;
	int (*run)(struct work **w, struct done *d, struct err *err);
	void (*check)(const struct scenario *c, struct left *l);
	size_t nlost; /* before; a fork keeps it, a repair ends it */
};

/* ---- the operations ---- */

static int run_fork(struct work **w, struct done *d, struct err *err)
{
	struct fork_spec spec = { .at = 1, .content = str_of("mine") };

	return work_fork(*w, &spec, false, d, err);
}

static int run_fork_new(struct work **w, struct done *d, struct err *err)
{
	struct fork_spec spec = { .at = 1, .content = str_of("mine") };

	return work_fork_new(*w, &spec, false, d, err);
}

static int run_checkout(struct work **w, struct done *d, struct err *err)
{
	return work_checkout(*w, 0, false, d, err);
}

static int run_label(struct work **w, struct done *d, struct err *err)
{
	return work_label(*w, 1, str_of("good"), false, d, err);
}

static int run_rename(struct work **w, struct done *d, struct err *err)
{
	return work_rename(*w, str_of("New"), false, d, err);
}

static int run_repair(struct work **w, struct done *d, struct err *err)
{
	return work_repair(*w, false, d, err);
}

static int run_trash(struct work **w, struct done *d, struct err *err)
{
	return work_trash(w, false, d, err);
}

/* ---- what must hold ---- */

static size_t committed_of(const struct scenario *c)
{
	const char *torn = strstr(c->session, TORN);

	return torn ? (size_t)(torn - c->session) : strlen(c->session);
}

static bool is_broken(const struct left *l)
{
	return l->err.code == ERR_BROKEN;
}

/* The file as it was; a broken one, which the error admits, keeps all that was committed. */
static void check_old_file(const struct scenario *c, struct left *l)
{
	size_t n = 0, committed = committed_of(c);
	char *p = temp_get(env_path(&env, "s.jsonl"), &n);

	if (!p)
		wrong(l, "the session is gone");
	else if (is_broken(l) && l->for_good &&
		 (n < committed || memcmp(p, c->session, committed) != 0))
		wrong(l, "broken, and committed bytes are gone");
	else if (!is_broken(l) && (n != strlen(c->session) || memcmp(p, c->session, n) != 0))
		wrong(l, "failed, but the file holds: %.200s", p);
	free(p);
}

/* The committed bytes, a newline if there was none, then `added` lines. */
static void check_new_file(const struct scenario *c, struct left *l, const char *added)
{
	size_t n = 0, committed = committed_of(c);
	char *p = temp_get(env_path(&env, "s.jsonl"), &n);
	bool needs_newline = committed && c->session[committed - 1] != '\n';
	char *want = xasprintf(
		"%.*s%s%s", (int)committed, c->session, needs_newline && *added ? "\n" : "", added);

	if (!p || n != strlen(want) || memcmp(p, want, n) != 0)
		wrong(l, "done, but the file holds: %.200s", p ? p : "nothing");
	free(p);
	free(want);
}

static void check_lost(struct left *l, size_t want)
{
	struct work *w = env_open(&env, "s");
	bool admitted = strstr(l->err.text, "will show as lost") || is_broken(l);

	if (work_nlost(w) != want && !(l->for_good && admitted) && !work_session(w)->is_torn)
		wrong(l, "%zu lost entries, not %zu", work_nlost(w), want);
	work_close(&w);
}

static void check_fork(const struct scenario *c, struct left *l)
{
	char *line = xasprintf(
		"{\"id\":\"%s\",\"parentId\":\"b\",\"role\":\"USER\",\"content\":\"mine\",\"timestamp\":%lld}\n",
		l->done.entry, (long long)ENV_NOW);

	if (l->rc == 0)
		check_new_file(c, l, line);
	else
		check_old_file(c, l);
	check_lost(l, l->rc < 0 && strstr(c->session, TORN) && !is_broken(l) ? 0 : c->nlost);
	free(line);
}

static void check_repair(const struct scenario *c, struct left *l)
{
	if (l->rc == 0)
		check_new_file(c, l, c->nlost ? X "\n" : "");
	else
		check_old_file(c, l);
	if (l->rc == 0)
		check_lost(l, 0);
}

static void check_session_untouched(const struct scenario *c, struct left *l)
{
	if (!temp_is(env_path(&env, "s.jsonl"), c->session))
		wrong(l, "the session's file changed");
}

/* Files of that ending; staging files begin with a dot. */
static int count_files(const char *ending)
{
	DIR *d = opendir(env.root);
	struct dirent *ent;
	int n = 0;

	while ((ent = readdir(d))) {
		size_t len = strlen(ent->d_name), end = strlen(ending);

		n += ent->d_name[0] != '.' && len > end &&
		     strcmp(ent->d_name + len - end, ending) == 0;
	}
	closedir(d);
	return n;
}

static void check_fork_new(const struct scenario *c, struct left *l)
{
	int njsonl = count_files(".jsonl"), nmeta = count_files(".meta.json");
	bool left_behind = strstr(l->err.text, "left behind");
	struct work *w;

	check_session_untouched(c, l);
	if (l->rc < 0) {
		/* published after all: then with its sidecar */
		if (nmeta != njsonl && !(l->for_good && left_behind && njsonl == 1))
			wrong(l, "failed, but %d sessions and %d sidecars", njsonl, nmeta);
		if (njsonl > 1 && nmeta < 2)
			wrong(l, "a session without its sidecar");
		return;
	}
	w = env_open(&env, l->done.session);
	if (work_session(w)->n != 3 || env_problems(w, NULL) ||
		!session_meta(work_session(w), "parentSessionId") ||
		strcmp(env_id(w, work_session(w)->tip), l->done.entry) != 0)
		wrong(l, "the new session is not what it should be");
	work_close(&w);
}

static void check_checkout(const struct scenario *c, struct left *l)
{
	struct work *w = env_open(&env, "s");
	const char *tip = env_id(w, work_session(w)->tip);

	check_session_untouched(c, l);
	if (strcmp(tip, l->rc == 0 ? "a" : "c") != 0 && !is_broken(l))
		wrong(l, "rc %d, and the tip is %s", l->rc, tip);
	if (!session_label(work_session(w), 0))
		wrong(l, "an older line of the reflog is gone");
	work_close(&w);
}

static void check_label(const struct scenario *c, struct left *l)
{
	struct work *w = env_open(&env, "s");

	check_session_untouched(c, l);
	if (!session_label(work_session(w), 1) == (l->rc == 0) && !is_broken(l))
		wrong(l, "rc %d, and the label is %s", l->rc, l->rc == 0 ? "missing" : "there");
	work_close(&w);
}

static void check_rename(const struct scenario *c, struct left *l)
{
	const char *side = env_path(&env, "s.meta.json");
	bool is_new = temp_is(side, "{\"title\":\"New\"}");

	check_session_untouched(c, l);
	if (!is_new && (l->rc == 0 || !temp_is(side, c->sidecar)))
		wrong(l, "rc %d, and the sidecar is neither the old nor the new one", l->rc);
}

static void check_trash(const struct scenario *c, struct left *l)
{
	bool there = temp_is(env_path(&env, "s.jsonl"), c->session) &&
		     temp_is(env_path(&env, "s.meta.json"), c->sidecar) &&
		     temp_is(env_path(&env, "s.reflog"), c->reflog);

	if (l->rc < 0 && !there &&
		!(l->for_good && (strstr(l->err.text, "could not be moved back") ||
					 strstr(l->err.text, "was moved to"))))
		wrong(l, "failed, and not all is back");
	if (l->rc == 0 && temp_count(env.root, "", NULL) != 0)
		wrong(l, "done, and something is left");
	if (l->rc == 0 && !temp_is(l->done.path, c->session))
		wrong(l, "done, and the session is not in the trash");
	if (l->rc == 0 && store_untrash(&l->done, NULL) < 0)
		wrong(l, "it does not come back");
}

static const struct scenario scenarios[] = {
	{ "fork", A B C, "{}", NOTE, run_fork, check_fork, 0 },
	{ "fork, first reflog line", A B C, NULL, NULL, run_fork, check_fork, 0 },
	{ "fork on a torn file", A B C "\n" TORN, "{}", NOTE "{\"v\"", run_fork, check_fork, 0 },
	{ "fork beside a lost entry", A B C, "{}", NOTE LOST, run_fork, check_fork, 1 },
	{ "fork --new", A B C, "{\"title\":\"T\"}", NOTE, run_fork_new, check_fork_new, 0 },
	{ "checkout", A B C, "{}", NOTE, run_checkout, check_checkout, 0 },
	{ "checkout behind a torn line", A B C, "{}", NOTE "{\"v\":1,", run_checkout,
		check_checkout, 0 },
	{ "label", A B C, "{}", NULL, run_label, check_label, 0 },
	{ "rename", A B C, "{\"title\":\"Old\"}", NULL, run_rename, check_rename, 0 },
	{ "repair of a torn tail", A B C "\n" TORN, "{}", NOTE, run_repair, check_repair, 0 },
	{ "repair of a lost entry", A B C, "{}", NOTE LOST, run_repair, check_repair, 1 },
	{ "repair of both", A B C "\n" TORN, "{}", NOTE LOST, run_repair, check_repair, 1 },
	{ "trash", A B C, "{}", NOTE, run_trash, check_trash, 0 },
};

static void put_files(const struct scenario *c)
{
	env_clear(&env);
	temp_puts(env_path(&env, "s.jsonl"), c->session);
	if (c->sidecar)
		temp_puts(env_path(&env, "s.meta.json"), c->sidecar);
	if (c->reflog)
		temp_puts(env_path(&env, "s.reflog"), c->reflog);
}

/* With the faults gone a fork works, and all that was there before is there. */
static void check_next_write(struct left *l)
{
	struct work *w;
	struct done d = { 0 };
	struct err err = { 0 };
	struct fork_spec spec = { 0 };
	uint32_t n;

	if (access(env_path(&env, "s.jsonl"), F_OK) < 0)
		return; /* a trash that admitted it could not move back */
	w = env_open(&env, "s");
	n = work_session(w)->n;
	spec.at = work_session(w)->tip;
	if (n < 3 || env_find(w, "a") != 0 || env_find(w, "b") != 1 || env_find(w, "c") != 2)
		wrong(l, "entries are gone: %u left", n);
	else if (work_fork(w, &spec, false, &d, &err) < 0)
		wrong(l, "the next write failed: %s", err.text);
	else if (work_session(w)->n != n + 1 || env_find(w, d.entry) != n)
		wrong(l, "the next write is not there");
	work_close(&w);
	done_release(&d);
}

static bool one_case(
	const struct scenario *c, const struct fake_trace *t, const struct fake_case *f)
{
	struct left l = { .for_good = f && f->mode == FAKE_FROM };
	struct work *w;
	unsigned hits;
	int nfiles;

	put_files(c);
	nfiles = temp_open_files();
	w = env_open(&env, "s");
	if (f)
		fake_plan(f->mode, f->call, f->error);
	else
		fake_reset();
	l.rc = c->run(&w, &l.done, &l.err);
	hits = fake_hits();
	if (!f) {
		fake_trace((struct fake_trace *)t);
		if (l.rc < 0)
			wrong(&l, "without a fault: %s", l.err.text);
	}
	fake_reset();
	work_close(&w);
	if (temp_open_files() != nfiles)
		wrong(&l, "%d descriptors are open", temp_open_files() - nfiles);
	if (l.rc < 0 && !l.err.text[0])
		wrong(&l, "failed without a word");
	c->check(c, &l);
	check_next_write(&l);
	done_release(&l.done);
	if (l.why[0])
		print_error("%s: %s: %s (rc %d: %s)\n", c->name,
			f ? fake_describe(t, f) : "no fault", l.why, l.rc, l.err.text);
	assert_true(!f || hits > 0 || l.rc == 0);
	return !l.why[0];
}

static void faults(void **state)
{
	struct fake_trace *t = xcalloc(1, sizeof(*t));
	size_t all = 0, nbad = 0;

	fake_install();
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		const struct scenario *c = &scenarios[i];
		struct fake_case f = { 0 };
		size_t n = 0;

		nbad += !one_case(c, t, NULL);
		while (fake_next(t, &f) && nbad < 20) {
			/* no fault, but a file that no lease is to be had for: t-beside */
			if (f.error == EACCES && !strcmp(t->call[f.call - 1].name, "lease"))
				continue;
			nbad += !one_case(c, t, &f);
			n++;
		}
		print_message("  %-28s %3u calls, %4zu faults\n", c->name, t->n, n);
		all += n;
	}
	fake_remove();
	print_message("%zu faults in %zu operations, %zu bad\n", all,
		sizeof(scenarios) / sizeof(scenarios[0]), nbad);
	free(t);
	assert_int_equal(nbad, 0);
	assert_true(all >= 500);
}

/* ---- killed at every call ---- */

static void run_killed(const struct scenario *c, const struct fake_case *f)
{
	struct left l = { 0 };
	struct work *w;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		w = env_open(&env, "s");
		fake_plan(f->mode, f->call, 0);
		c->run(&w, &l.done, &l.err);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Every session has its sidecar; what was committed is there; a repair brings back what was begun. */
static void check_killed(const struct scenario *c, struct left *l)
{
	struct work *w;
	struct done d = { 0 };
	struct err err = { 0 };
	struct session *s;
	uint32_t n;
	size_t nlost;

	if (count_files(".jsonl") > 1 && count_files(".meta.json") < 2)
		wrong(l, "a session without its sidecar");
	if (access(env_path(&env, "s.jsonl"), F_OK) < 0) {
		char *moved = xasprintf("%s/data/Trash/files/s.jsonl", env.dir);

		if (!temp_is(moved, c->session))
			wrong(l, "the session is neither here nor in the trash");
		free(moved);
		return;
	}
	w = env_open(&env, "s");
	s = work_session(w);
	n = s->n;
	nlost = work_nlost(w);
	if (env_problems(w, NULL) != env_problems(w, "torn-tail") + env_problems(w, "lost-append"))
		wrong(l, "another problem than a torn tail or a lost entry");
	if (n < 3 || n > 4 || nlost > c->nlost + 1)
		wrong(l, "%u entries, %zu lost", n, nlost);
	if (work_repair(w, false, &d, &err) < 0)
		wrong(l, "the repair failed: %s", err.text);
	s = work_session(w);
	if (env_problems(w, NULL) || s->n < n + nlost || s->n > 4 + c->nlost)
		wrong(l, "%zu problems, %u entries after the repair of %u and %zu lost",
			env_problems(w, NULL), s->n, n, nlost);
	work_close(&w);
	done_release(&d);
}

static void kills(void **state)
{
	static const enum fake_mode modes[] = { FAKE_KILL, FAKE_KILL_HALF };
	struct fake_trace *t = xcalloc(1, sizeof(*t));
	size_t all = 0, nbad = 0;

	fake_install();
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		const struct scenario *c = &scenarios[i];
		struct fake_case f = { 0 };

		nbad += !one_case(c, t, NULL);
		for (f.call = 1; f.call <= t->n; f.call++)
			for (size_t m = 0; m < 2; m++) {
				struct left l = { 0 };

				f.mode = modes[m];
				if (!fake_fits(t, &f))
					continue;
				put_files(c);
				run_killed(c, &f);
				check_killed(c, &l);
				check_next_write(&l);
				if (l.why[0])
					print_error("%s: %s: %s\n", c->name, fake_describe(t, &f),
						l.why);
				nbad += l.why[0] != '\0';
				all++;
			}
	}
	fake_remove();
	print_message("%zu kills, %zu bad\n", all, nbad);
	free(t);
	assert_int_equal(nbad, 0);
	assert_true(all >= 500);
}

static int set_up(void **state)
{
	env_make(&env);
	return 0;
}

static int tear_down(void **state)
{
	env_remove(&env);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(faults, set_up, tear_down),
		cmocka_unit_test_setup_teardown(kills, set_up, tear_down),
	};

	env_fix_clock();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
