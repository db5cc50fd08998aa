/*
 * interleave.c - the loop over operations, acts and calls, and what holds for
 * all of them.
 */
#include "config.h"

#include "tests/lib/interleave.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/xalloc.h"

enum { NOBODY = 65534, BAD_SHOWN = 20, SLICE = 3, SLICE_SLOW = 31 };

/* Instead of the system's: nobody else goes on meanwhile, so nobody waits for him. */
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	(void)wanted;
	(void)left;
	return 0;
}

struct work *run_load(struct run *r, const char *path)
{
	struct work *w = NULL;
	struct err err = { 0 };

	if (work_open(&w, path, &err) == 0 && work_load(w, &err) == 0)
		return w;
	work_close(&w);
	wrong(&r->left, "%s can not be loaded: %s", path, err.text);
	return NULL;
}

/* ---- what holds for every operation ---- */

/* The bytes that were there and those of the others: in a file that has a name. */
static void check_bytes(struct run *r)
{
	const struct others *o = r->o;

	for (size_t i = 0; i < o->npieces; i++)
		if (world_count(&r->world, NULL, o->piece[i].p, o->piece[i].n) == 0)
			wrong(&r->left, "his %zu bytes are gone: %.60s", o->piece[i].n,
				o->piece[i].p);
}

static void check_temps(struct run *r)
{
	for (size_t i = 0; i < r->world.n; i++)
		if (world_is_temp(r->world.v[i].path) && !r->o->act->blocks &&
			!strstr(r->left.err.text, ".old"))
			wrong(&r->left, "a temporary file is left: %s", r->world.v[i].path);
}

/* Whoever comes now gets every lock and can open every file for writing. */
static void check_locks(struct run *r, int nfiles)
{
	if (fake_has_lease())
		wrong(&r->left, "a lease is still held");
	if (temp_open_files() != nfiles)
		wrong(&r->left, "%d descriptors are open", temp_open_files() - nfiles);
	for (size_t i = 0; i < r->world.n; i++) {
		int fd = open(r->world.v[i].path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);

		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
			wrong(&r->left, "%s is still locked", r->world.v[i].path);
		if (fd >= 0)
			close(fd);
	}
}

static void check_answer(struct run *r)
{
	if (r->left.rc < 0 && !r->left.err.text[0])
		wrong(&r->left, "failed without a word");
	if (r->left.rc == 0 && !r->left.done.said[0] && r->left.done.lines.n == 0 &&
		r->left.err.code)
		wrong(&r->left, "done, with an error: %s", r->left.err.text);
}

/* ---- one case ---- */

struct loop {
	struct env *env;
	struct fake_trace trace;
	struct opfiles files;
	size_t ncases, nbad;
};

/* His record: the next entry or event. */
#define HIS \
	"{\"id\":\"his\",\"parentId\":\"a\",\"role\":\"USER\",\"content\":\"of his\",\"timestamp\":9}\n"
#define NEXT "{\"type\":\"turn/start\",\"seq\":6,\"time\":16,\"data\":{\"turn\":3}}\n"
#define MORE "{\"type\":\"step/end\",\"seq\":8,\"time\":19,\"data\":{\"turn\":3,\"step\":1}}\n"

static char *put_files(struct loop *l, const struct opcase *op, struct others_place *at)
{
	const char *const next[] = { !op->is_dsh ? HIS : op->appended ? MORE : NEXT, NULL };
	struct opfiles *f = &l->files;
	char *his;

	env_clear(l->env);
	opcase_put(op, l->env, f);
	*at = (struct others_place){ f->session, f->reflog, op->is_dsh ? NULL : f->sidecar,
		f->folder, f->p, f->n, NULL, 0 };
	at->record = his = dshenv_bytes(op->is_zstd, next, NULL, &at->nrecord);
	return his;
}

static const struct act nobody = { .name = "does nothing", .is_whole = true };

/* 1: a good case, 0: a bad one, -1: he could not act. */
static int one_case(struct loop *l, const struct scenario *sc, const struct act *act, unsigned call)
{
	struct others_place at = { 0 };
	struct others o;
	const struct opcase *op = &opcases[sc->op];
	struct run r = { .op = op, .env = l->env, .o = &o, .files = &l->files };
	struct work *w = NULL;
	int nfiles = temp_open_files(), good;
	char *his = put_files(l, op, &at);

	if (work_open(&w, at.session, &r.left.err) < 0 || work_load(w, &r.left.err) < 0)
		wrong(&r.left, "does not load");
	if (op->prepare && w && op->prepare(&w, &r.left.done, &r.left.err) < 0)
		wrong(&r.left, "it can not be prepared");
	fake_no_lease(sc->no_lease);
	fake_reset();
	if (act)
		others_begin(&o, act, call, &at);
	r.left.rc = op->run(&w, &r.left.done, &r.left.err);
	for (unsigned k = 1; k <= fake_calls(); k++)
		if (strcmp(fake_call_name(k), "fdatasync") == 0)
			r.synced_at = k;
	if (!act)
		fake_trace(&l->trace);
	work_close(&w);
	if (act)
		others_end(&o);
	else
		o = (struct others){ .at = at, .act = &nobody,
			.nkept = at.nold, .is_done = true };
	fake_no_lease(false);
	fake_reset();
	world_read(&r.world, l->env->dir);
	check_answer(&r);
	check_locks(&r, nfiles);
	check_bytes(&r);
	check_temps(&r);
	sc->check(&r);
	if (!act && r.left.rc < 0)
		wrong(&r.left, "fails alone");
	good = !o.is_done ? -1 : !r.left.why[0];
	if (good == 0 && l->nbad < BAD_SHOWN)
		print_error("%s: he %s before call %u (%s): %s (rc %d: %s)\n", op->name,
			o.act->name, call,
			call && call <= l->trace.n ? l->trace.call[call - 1].name : "at the end",
			r.left.why, r.left.rc, r.left.err.text);
	world_release(&r.world);
	others_release(&o);
	done_release(&r.left.done);
	opcase_release();
	free(his);
	return good;
}

static bool is_filtered(const char *name)
{
	const char *want = getenv("BOUGH_TEST_FILTER");

	return want && !strstr(name, want);
}

static void one_scenario(struct loop *l, const struct scenario *sc, size_t slice)
{
	size_t turn = 0, ncases = 0, nbad = 0;
	int good;

	if (one_case(l, sc, NULL, 0) == 0)
		l->nbad++;
	for (size_t a = 0; a < others_nacts; a++)
		for (unsigned k = 1; k <= l->trace.n + 1; k++) {
			const char *name = k <= l->trace.n ? l->trace.call[k - 1].name : "";

			if (!others_fits(&others_acts[a], name) || turn++ % slice)
				continue;
			good = one_case(l, sc, &others_acts[a], k);
			ncases += good >= 0;
			nbad += good == 0;
			l->nbad += good == 0;
		}
	l->ncases += ncases;
	print_message("  %-28s%s %4u calls, %5zu cases, %zu bad\n", opcases[sc->op].name,
		sc->no_lease ? ", no lease" : "          ", l->trace.n, ncases, nbad);
}

/* ---- all of them ---- */

int interleave_set_up(struct env *env)
{
	/* root may do all: a closed folder would not be one */
	if (geteuid() == 0 && seteuid(NOBODY) < 0)
		return -1;
	/* far from the times of files, so that none is fresh and nobody waits */
	setenv("BOUGH_NOW", "1600000000000", 1);
	setenv("BOUGH_SEED", "interleave", 1);
	env_make(env);
	fake_install();
	return 0;
}

void interleave_tear_down(struct env *env)
{
	fake_remove();
	env_remove(env);
	if (getuid() == 0)
		seteuid(0);
}

void interleave_all(struct env *env, const struct scenario *v, size_t n, size_t least)
{
	struct loop *l = xcalloc(1, sizeof(*l));
	const char *slice = getenv("BOUGH_SLICE");
	size_t step = getenv("BOUGH_LONG") ? 1
		      : slice		   ? (size_t)atoi(slice)
		      : dshenv_takes(1)	   ? SLICE
					   : SLICE_SLOW;

	l->env = env;
	for (size_t i = 0; i < n; i++)
		if (!is_filtered(opcases[v[i].op].name))
			one_scenario(l, &v[i], step);
	print_message("interleave: %zu cases, %zu bad\n", l->ncases, l->nbad);
	assert_int_equal(l->nbad, 0);
	assert_true(l->ncases >= least || getenv("BOUGH_TEST_FILTER"));
	free(l->files.p);
	free(l);
}
