/*
 * t-interleave.c - every operation on a tree session, with another process
 * that acts before any of its calls: what he wrote stays, what bough says is so.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "tests/lib/interleave.h"

#define MINE "\"content\":\"" OP_MINE "\""

static struct env env;

/* ---- what must hold ---- */

static bool is_broken(const struct run *r)
{
	return r->left.err.code == ERR_BROKEN;
}

/* Failed, and the error says that it stands there all the same. */
static bool is_said_new(const struct run *r)
{
	return strstr(r->left.err.text, " is new") || strstr(r->left.err.text, "may not survive");
}

static bool touches(const struct run *r, enum act_touches what)
{
	return r->o->act->touches == what;
}

/* He put something else in the place of what bough wrote there, or deleted it. */
static bool is_taken(const struct run *r, const char *path)
{
	const struct world_file *f = world_file(&r->world, path);

	return !f || (r->o->npieces == 1 && f->n >= r->o->piece[0].n && !is_broken(r) &&
			     (touches(r, TOUCHES_REFLOG) || touches(r, TOUCHES_SIDECAR) ||
				     touches(r, TOUCHES_TARGET)) &&
			     memcmp(f->p, r->o->piece[0].p, r->o->piece[0].n) == 0);
}

/* The bytes that were there, as far as he let them: whole lines in the file, a tail anywhere. */
static void check_kept(struct run *r)
{
	const struct others_place *at = &r->o->at;
	const char *torn = strstr(at->old, OP_TORN);
	size_t n = torn ? (size_t)(torn - at->old) : at->nold;

	if (n > r->o->nkept)
		n = r->o->nkept;
	if (world_count(&r->world, NULL, at->old, n) == 0 && n > 0)
		wrong(&r->left, "what was committed is gone");
	if (torn && r->o->nkept == at->nold && world_texts(&r->world, NULL, OP_TORN) == 0)
		wrong(&r->left, "the torn tail is gone");
}

static void check_problems(struct run *r, struct work *w)
{
	struct session *s = work_session(w);

	for (size_t i = 0; i < s->problems.n && r->o->act->is_whole; i++)
		if (strcmp(s->problems.v[i].kind, "torn-tail") &&
			strcmp(s->problems.v[i].kind, "lost-append") && !strstr(r->op->session, OP_TORN) &&
			!(r->o->has_destroyed && !strcmp(s->problems.v[i].kind, "orphan")) &&
			!touches(r, TOUCHES_TARGET))
			wrong(&r->left, "a problem: %s", s->problems.v[i].kind);
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = i + 1; k < s->n; k++)
			if (strcmp(env_id(w, i), env_id(w, k)) == 0)
				wrong(&r->left, "%s is there twice", env_id(w, i));
	if (r->o->is_done && r->o->npieces == 1 && touches(r, TOUCHES_SESSION) &&
		r->o->act->is_whole && !strstr(r->op->session, OP_TORN) && env_find(w, "his") == ENTRY_NONE)
		wrong(&r->left, "his entry is not in the session");
}

/* The session as anybody loads it now, or NULL: he deleted it. */
static struct work *load(struct run *r)
{
	struct work *w;

	check_kept(r);
	if (!world_file(&r->world, r->o->at.session)) {
		if (!r->o->has_deleted && !touches(r, TOUCHES_TARGET))
			wrong(&r->left, "the session is gone");
		return NULL;
	}
	w = run_load(r, r->o->at.session);
	if (w)
		check_problems(r, w);
	return w;
}

static void check_noted(struct run *r, const char *text)
{
	size_t n = world_texts(&r->world, ".reflog", text);

	if (n == 0 && !is_taken(r, r->o->at.reflog) && !strstr(r->left.done.said, "already"))
		wrong(&r->left, "done, and the reflog has no line of it");
	if (n > 1)
		wrong(&r->left, "the reflog has it %zu times", n);
}

/* Lost are at most those that were, what he destroyed, and what the error admits. */
static void check_lost(struct run *r, struct work *w, bool is_there)
{
	size_t most = r->op->nlost;

	if (r->left.rc == 0 && !is_there && r->o->has_destroyed)
		most++;
	if (is_broken(r) || strstr(r->left.err.text, "will show as lost"))
		most++;
	if (work_nlost(w) > most)
		wrong(&r->left, "%zu lost entries, not %zu", work_nlost(w), most);
	if (r->left.rc == 0 && !is_there && !work_session(w)->is_torn &&
		!is_taken(r, r->o->at.reflog) && work_nlost(w) <= r->op->nlost)
		wrong(&r->left, "done, destroyed by him, and not reported as lost");
}

static void check_fork(struct run *r)
{
	const struct world_file *f = world_file(&r->world, r->o->at.session);
	size_t n = f ? world_texts(&r->world, "/s.jsonl", MINE) : 0;
	struct work *w = load(r);

	if (n > 1)
		wrong(&r->left, "the entry is there %zu times", n);
	if (r->left.rc == 0 && n == 0 && !r->o->has_destroyed)
		wrong(&r->left, "done, and the entry is not there");
	if (r->left.rc == 0 && n == 0 && r->o->acted_at && r->o->acted_at <= r->synced_at)
		wrong(&r->left, "done, and he had destroyed it before it was synced");
	if (r->left.rc < 0 && n > 0 && !is_broken(r))
		wrong(&r->left, "refused, and the entry is there");
	if (strstr(r->left.err.text, "s.jsonl is not as it was: all ") && n == 0 && !r->o->has_destroyed)
		wrong(&r->left, "it says that the entry is there");
	if (r->left.rc == 0 && world_texts(&r->world, ".reflog", MINE) == 0 &&
		!is_taken(r, r->o->at.reflog))
		wrong(&r->left, "done, and the reflog has no line of it");
	if (w && r->left.rc == 0 && n == 1 && env_find(w, r->left.done.entry) == ENTRY_NONE)
		wrong(&r->left, "the entry is there and can not be read");
	if (w)
		check_lost(r, w, n > 0);
	work_close(&w);
}

static void check_copy(struct run *r)
{
	struct work *w = load(r), *copy;
	const char *path = r->left.done.path;

	work_close(&w);
	if (r->left.rc < 0 && !strstr(r->left.err.text, "left behind")) {
		size_t n = 0;

		for (size_t i = 0; i < r->world.n; i++)
			n += strstr(r->world.v[i].path, "/store/") && !r->o->act->blocks &&
			     strstr(r->world.v[i].path, ".meta.json") &&
			     strcmp(r->world.v[i].path, r->o->at.sidecar) &&
			     strcmp(r->world.v[i].path, r->o->target);
		if (n > 0)
			wrong(&r->left, "refused, and a sidecar is left");
	}
	if (r->left.rc < 0 || is_taken(r, path))
		return;
	copy = run_load(r, path);
	if (!copy)
		return;
	if (work_session(copy)->n != (r->op == &opcases[OP_COPY] ? 2 : 3))
		wrong(&r->left, "the copy has %u entries", work_session(copy)->n);
	if (!session_meta(work_session(copy), "parentSessionId") && !touches(r, TOUCHES_TARGET))
		wrong(&r->left, "the copy does not know its parent");
	work_close(&copy);
}

static void check_checkout(struct run *r)
{
	struct work *w = load(r);
	bool is_alone = !touches(r, TOUCHES_SESSION) && !touches(r, TOUCHES_REFLOG) &&
			!touches(r, TOUCHES_TARGET);

	if (r->left.rc == 0)
		check_noted(r, "\"op\":\"checkout\",\"tip\":\"a\"");
	else if (world_texts(&r->world, ".reflog", "\"op\":\"checkout\"") > 0 && !is_broken(r))
		wrong(&r->left, "refused, and the reflog has a line of it");
	if (w && is_alone && r->left.rc == 0 && strcmp(env_id(w, work_session(w)->tip), "a") != 0)
		wrong(&r->left, "done, and the tip is %s", env_id(w, work_session(w)->tip));
	work_close(&w);
}

static void check_label(struct run *r)
{
	struct work *w = load(r);
	uint32_t c = w ? env_find(w, "c") : ENTRY_NONE;

	if (r->left.rc == 0)
		check_noted(r, "\"label\":\"mine\"");
	else if (world_texts(&r->world, ".reflog", "\"label\":\"mine\"") > 0 && !is_broken(r))
		wrong(&r->left, "refused, and the reflog has a line of it");
	if (c != ENTRY_NONE && r->left.rc == 0 && !is_taken(r, r->o->at.reflog) &&
		!session_label(work_session(w), c))
		wrong(&r->left, "done, and the label can not be read");
	work_close(&w);
}

static void check_rename(struct run *r)
{
	const struct world_file *f = world_file(&r->world, r->o->at.sidecar);
	bool is_mine = f && strstr(f->p, "\"title\":\"mine\"");
	bool may_differ = touches(r, TOUCHES_SIDECAR) || touches(r, TOUCHES_TARGET);
	struct work *w = load(r);

	work_close(&w);
	if (r->left.rc == 0 && !is_mine && !may_differ)
		wrong(&r->left, "done, and the title is not there");
	if (r->left.rc < 0 && is_mine && !is_said_new(r))
		wrong(&r->left, "refused, and the title is there");
	if (r->op->sidecar && !may_differ && !f)
		wrong(&r->left, "the sidecar is gone");
	if (f && f->p[f->n ? f->n - 1 : 0] != '}' && !may_differ)
		wrong(&r->left, "the sidecar is half a one");
}

static void check_repair(struct run *r)
{
	struct work *w = load(r);
	size_t n = world_texts(&r->world, "/s.jsonl", OP_LOST);
	size_t before = world_texts(&r->world, ".before-", OP_LOST);

	if (n - before > 1)
		wrong(&r->left, "the lost entry is there %zu times", n - before);
	if (w && r->left.rc == 0 && !touches(r, TOUCHES_SESSION) && !touches(r, TOUCHES_REFLOG) &&
		work_needs_repair(w) && !touches(r, TOUCHES_TARGET))
		wrong(&r->left, "done, and a repair is needed");
	if (r->left.rc < 0 && n - before > 0 && !is_broken(r) && !is_said_new(r))
		wrong(&r->left, "refused, and the lost entry is there");
	work_close(&w);
}

/* All of it in one place: here or in the trash. */
static void check_moved(struct run *r)
{
	bool is_untrash = r->op == &opcases[OP_UNTRASH];
	bool is_here = world_texts(&r->world, "/store/s.jsonl", OP_A) > 0;
	bool is_there = world_texts(&r->world, "/Trash/files/", OP_A) > 0;
	bool is_said = strstr(r->left.err.text, "could not be moved back") ||
		       strstr(r->left.err.text, "was moved to");

	if (!is_here && !is_there && !r->o->has_deleted && !touches(r, TOUCHES_TARGET))
		wrong(&r->left, "the session is nowhere");
	if (touches(r, TOUCHES_SESSION) || touches(r, TOUCHES_TARGET))
		return;
	if (is_here && is_there)
		wrong(&r->left, "the session is in both places");
	if (r->left.rc == 0 && is_here != is_untrash)
		wrong(&r->left, "done, and it is where it was");
	if (r->left.rc < 0 && is_here == is_untrash && !is_said && !r->o->act->blocks)
		wrong(&r->left, "refused, and it is elsewhere");
}

static void check_undo(struct run *r)
{
	struct work *w = load(r);
	bool is_alone = !touches(r, TOUCHES_SESSION) && !touches(r, TOUCHES_REFLOG) &&
			!touches(r, TOUCHES_TARGET) && !touches(r, TOUCHES_SIDECAR);

	if (w && is_alone && r->left.rc == 0 && r->op == &opcases[OP_UNDO_CHECKOUT] &&
		strcmp(env_id(w, work_session(w)->tip), "c") != 0)
		wrong(&r->left, "undone, and the tip is %s", env_id(w, work_session(w)->tip));
	if (w && is_alone && r->left.rc == 0 && r->op == &opcases[OP_UNDO_LABEL] &&
		session_label(work_session(w), 2))
		wrong(&r->left, "undone, and the label is there");
	work_close(&w);
}

static const struct scenario scenarios[] = {
	{ OP_FORK, check_fork },
	{ OP_FORK_OPEN, check_fork },
	{ OP_FORK_FIRST, check_fork },
	{ OP_FORK_TORN, check_fork },
	{ OP_FORK_TORN, check_fork, .no_lease = true },
	{ OP_FORK_LOST, check_fork },
	{ OP_RETRY, check_fork },
	{ OP_FORK_NEW, check_copy },
	{ OP_COPY, check_copy },
	{ OP_CHECKOUT, check_checkout },
	{ OP_CHECKOUT_TORN, check_checkout },
	{ OP_CHECKOUT_FIRST, check_checkout },
	{ OP_LABEL, check_label },
	{ OP_RENAME, check_rename },
	{ OP_RENAME_FIRST, check_rename },
	{ OP_REPAIR_TORN, check_repair },
	{ OP_REPAIR_LOST, check_repair },
	{ OP_REPAIR_BOTH, check_repair },
	{ OP_REPAIR_BOTH, check_repair, .no_lease = true },
	{ OP_TRASH, check_moved },
	{ OP_UNTRASH, check_moved },
	{ OP_UNDO_CHECKOUT, check_undo },
	{ OP_UNDO_LABEL, check_undo },
	{ OP_UNDO_TITLE, check_undo },
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
