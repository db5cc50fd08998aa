/*
 * t-interleave-dsh.c - every operation on a dsh log, in both encodings, with
 * another process that acts before any of its calls.
 */
#include "config.h"

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
#include "tests/lib/dshenv.h"
#include "tests/lib/interleave.h"

static struct env env;

/* ---- what must hold ---- */

static bool touches(const struct run *r, enum act_touches what)
{
	return r->o->act->touches == what;
}

/* Failed, and the error says what is in the file all the same. */
static bool is_said(const struct run *r)
{
	return r->left.err.code == ERR_BROKEN || strstr(r->left.err.text, " is new") ||
	       strstr(r->left.err.text, "may not survive") || strstr(r->left.err.text, "was moved");
}

static void check_kept(struct run *r)
{
	const struct opfiles *f = r->files;
	size_t n = f->ncommitted < r->o->nkept ? f->ncommitted : r->o->nkept;

	if (n > 0 && world_count(&r->world, NULL, f->p, n) == 0)
		wrong(&r->left, "what was committed is gone");
	if (r->o->nkept == f->n && f->n > f->ncommitted &&
		world_count(&r->world, NULL, f->p + f->ncommitted, f->n - f->ncommitted) == 0)
		wrong(&r->left, "the torn tail is gone");
}

/* Somebody loads it: that is possible whatever stands in it. */
static void check_loads(struct run *r, const char *path)
{
	struct work *w;

	if (!world_file(&r->world, path)) {
		if (!r->o->has_deleted && !touches(r, TOUCHES_TARGET) && !is_said(r))
			wrong(&r->left, "the log is gone");
		return;
	}
	w = run_load(r, path);
	work_close(&w);
}

static void check_repair(struct run *r)
{
	const struct world_file *f = world_file(&r->world, r->o->at.session);
	const struct opfiles *was = r->files;
	const char *closers = r->op->appended ? r->op->appended : "";
	size_t kept = was->ncommitted;
	char *text;

	check_kept(r);
	check_loads(r, r->o->at.session);
	if (!f || touches(r, TOUCHES_TARGET) || r->o->has_destroyed)
		return;
	text = f->n >= kept ? dshenv_decode(f->p + kept, f->n - kept, r->op->is_zstd) : NULL;
	if (r->left.rc == 0 && *closers &&
		!(text && strncmp(text, closers, strlen(closers)) == 0) &&
		!(touches(r, TOUCHES_SESSION) && r->o->npieces > 0))
		wrong(&r->left, "done, and behind what was there stands: %.100s",
			text ? text : "nothing whole");
	if (r->left.rc == 0 && was->n > kept && f->n >= was->n && memcmp(f->p, was->p, was->n) == 0)
		wrong(&r->left, "done, and the tail is where it was");
	if (r->left.rc < 0 && !is_said(r) && (f->n < was->n || memcmp(f->p, was->p, was->n) != 0))
		wrong(&r->left, "refused, and the log is another");
	if (r->left.rc < 0 && !is_said(r) && text && *closers && strstr(text, closers))
		wrong(&r->left, "refused, and the turn is closed");
	free(text);
}

static size_t count_forks(const struct run *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->world.n; i++)
		n += strstr(r->world.v[i].path, "/_no-cwd/session-") &&
		     strstr(r->world.v[i].path, "/session.jsonl") &&
		     strcmp(r->world.v[i].path, r->o->target) != 0;
	return n;
}

static void check_fork(struct run *r)
{
	const struct world_file *f = world_file(&r->world, r->left.done.path);
	char *text;

	check_kept(r);
	check_loads(r, r->o->at.session);
	if (r->left.rc < 0 && count_forks(r) > 0 && !is_said(r))
		wrong(&r->left, "refused, and a fork is there");
	if (r->left.rc < 0 || touches(r, TOUCHES_TARGET))
		return;
	text = f ? dshenv_decode(f->p, f->n, r->op->is_zstd) : NULL;
	if (!text || !strstr(text, DSH_TURN_1 DSH_TURN_2) || !strstr(text, "session/end-seed"))
		wrong(&r->left, "the fork is: %.200s", text ? text : "not whole");
	free(text);
}

static void check_convert(struct run *r)
{
	char new[TEMP_PATH * 2 + 20];
	const struct world_file *f;
	char *text;

	if (!touches(r, TOUCHES_TARGET)) /* else he may have taken the old log's new name */
		check_kept(r);
	if (r->op->is_zstd)
		snprintf(new, sizeof(new), "%.*s", (int)strlen(r->o->at.session) - 5,
			r->o->at.session);
	else
		snprintf(new, sizeof(new), "%s.zstd", r->o->at.session);
	f = world_file(&r->world, new);
	if (r->left.rc < 0) {
		check_loads(r, r->o->at.session);
		if (f && !is_said(r) && !touches(r, TOUCHES_TARGET) && !r->o->has_deleted &&
			!strstr(r->left.err.text, "left behind"))
			wrong(&r->left, "refused, and the new log is there");
		return;
	}
	if (touches(r, TOUCHES_TARGET) || r->o->has_destroyed)
		return;
	text = f ? dshenv_decode(f->p, f->n, !r->op->is_zstd) : NULL;
	if (!text || !strstr(text, DSH_TURN_1 DSH_TURN_2))
		wrong(&r->left, "done, and the new log is: %.200s", text ? text : "not whole");
	free(text);
}

static void check_noted(struct run *r)
{
	bool is_checkout = r->op->run == opcases[OP_DSH_CHECKOUT].run;
	const char *text = is_checkout ? "\"op\":\"checkout\"" : "\"label\":\"mine\"";
	const struct world_file *f = world_file(&r->world, r->o->at.reflog);
	size_t n = world_texts(&r->world, ".reflog", text);
	bool is_his = !f || touches(r, TOUCHES_TARGET) ||
		      (touches(r, TOUCHES_REFLOG) && strcmp(f->p, OTHERS_LABEL) == 0);

	check_kept(r);
	check_loads(r, r->o->at.session);
	if (n > 1 || (r->left.rc == 0 && n == 0 && !is_his))
		wrong(&r->left, "done, and the reflog has it %zu times", n);
	if (r->left.rc < 0 && n > 0 && r->left.err.code != ERR_BROKEN)
		wrong(&r->left, "refused, and the reflog has it");
}

static const struct scenario scenarios[] = {
	{ OP_DSH_CLOSE, check_repair },
	{ OP_DSH_CLOSE_ZSTD, check_repair },
	{ OP_DSH_REPAIR, check_repair },
	{ OP_DSH_REPAIR_ZSTD, check_repair },
	{ OP_DSH_REPAIR, check_repair, .no_lease = true },
	{ OP_DSH_REPAIR_ZSTD, check_repair, .no_lease = true },
	{ OP_DSH_CUT, check_repair },
	{ OP_DSH_CUT_ZSTD, check_repair },
	{ OP_DSH_SALVAGE, check_repair },
	{ OP_DSH_SALVAGE_ZSTD, check_repair },
	{ OP_DSH_FORK, check_fork },
	{ OP_DSH_FORK_ZSTD, check_fork },
	{ OP_DSH_PACK, check_convert },
	{ OP_DSH_UNPACK, check_convert },
	{ OP_DSH_CHECKOUT, check_noted },
	{ OP_DSH_CHECKOUT_ZSTD, check_noted },
	{ OP_DSH_LABEL, check_noted },
	{ OP_DSH_LABEL_ZSTD, check_noted },
};

static void interleaved(void **state)
{
	(void)state;
	interleave_all(&env, scenarios, sizeof(scenarios) / sizeof(scenarios[0]), 500);
}

static int set_up(void **state)
{
	(void)state;
	return interleave_set_up(&env);
}

static int tear_down(void **state)
{
	(void)state;
	interleave_tear_down(&env);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(interleaved, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
