/*
 * t-dsh-crash.c - the power goes at every moment of what writes dsh logs, in
 * both encodings. For each state that the disk may then be in: what was
 * acknowledged is there, whole frames and lines of before are there byte for
 * byte, a fork is whole or not there, one of a conversion's files holds
 * everything, and the operation can be done to its end.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/xalloc.h"
#include "log/frames.h"
#include "log/log.h"
#include "store/store.h"
#include "tests/lib/crashsim.h"
#include "tests/lib/dshenv.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/temp.h"

enum { SHOW_MAX = 20 };

#define MORE_1 "{\"type\":\"step/end\",\"seq\":8,\"time\":18,\"data\":{\"turn\":3,\"step\":1}}\n"
#define MORE_2                                                                                    \
	"{\"type\":\"turn/end\",\"seq\":9,\"time\":19,\"data\":{\"turn\":3,\"reason\":{\"kind\":" \
	"\"completed\"}}}\n"

struct scenario {
	const char *name;
	const char *batches[5], *tail;
	void (*run)(const struct scenario *c, int *acked);
	const char *(*look)(const struct scenario *c, int acked);
	bool is_deep; /* other folders than the session's own are written */
};

static char root[TEMP_PATH], dir[TEMP_PATH + 64], path[TEMP_PATH + 96], other[TEMP_PATH + 96];
static bool is_zstd;
static struct err err;
static unsigned long bad, nsalvaged, seen;

/* ---- what is there ---- */

static size_t kept(const struct scenario *c, char **bytes)
{
	size_t n;

	*bytes = dshenv_bytes(is_zstd, c->batches, NULL, &n);
	return n;
}

/* Do the committed bytes stand at the start of the file? `p` gets all of it, yours. */
static bool has_kept(const struct scenario *c, char **p, size_t *n, size_t *nkept)
{
	char *old;
	bool ok;

	*nkept = kept(c, &old);
	*p = temp_get(path, n);
	ok = *p && *n >= *nkept && memcmp(*p, old, *nkept) == 0;
	free(old);
	return ok;
}

/* The text behind the kept bytes, if it is whole; yours. */
static char *text_behind(const char *p, size_t n)
{
	return n ? dshenv_decode(p, n, is_zstd) : xstrdup("");
}

static struct work *open_it(const char *at)
{
	struct work *w = NULL;

	if (work_open(&w, at, &err) == 0 && work_load(w, &err) < 0)
		work_close(&w);
	if (w)
		work_force(w, true);
	return w;
}

/* Repairs until nothing is left: at most twice, and the second does nothing. */
static const char *repair_all(void)
{
	struct work *w = open_it(path);
	struct done d = { 0 };
	const char *wrong = NULL;

	if (w && is_zstd && work_repair(w, false, &d, &err) == ERR_UNSUPPORTED) {
		/* zeros or garbage in place of a frame: the format calls it damage */
		err_clear(&err);
		nsalvaged++;
		if (work_salvage(w, false, &d, &err) < 0)
			wrong = "it can not be salvaged";
	}
	if (!w || (!wrong && work_repair(w, false, &d, &err) < 0))
		wrong = "it can not be repaired";
	else if (work_repair(w, false, &d, &err) < 0 || strcmp(d.said, "nothing to repair") != 0)
		wrong = "a second repair does something";
	else if (work_session(w)->is_torn || work_session(w)->problems.n)
		wrong = "something is wrong after the repair";
	done_release(&d);
	work_close(&w);
	return wrong;
}

/* ---- appends ---- */

static int append(struct log *log, uint64_t committed, const char *text)
{
	struct log_append_info info;
	struct buf frame = { 0 };
	int rc;

	if (!is_zstd)
		return log_append_bytes(log, committed, text, strlen(text), &info, &err);
	rc = log_frame_encode(&frame, text, strlen(text), &err);
	if (rc == 0)
		rc = log_append_bytes(log, committed, frame.p, frame.n, &info, &err);
	buf_release(&frame);
	return rc;
}

static void run_append(const struct scenario *c, int *acked)
{
	struct log *log = NULL;
	struct log_id id;
	char *old;
	size_t nkept = kept(c, &old);

	free(old);
	if (log_open(&log, path, 0, &err) == 0 && append(log, nkept, MORE_1) == 0) {
		*acked = 1;
		if (log_stat(path, &id, &err) == 0 && append(log, id.size, MORE_2) == 0)
			*acked = 2;
	}
	log_close(&log);
}

/* After the repair there is what was acknowledged and at most one batch more. */
static const char *look_append(const struct scenario *c, int acked)
{
	static const char *const after[] = { DSH_CLOSERS, MORE_1, MORE_1 MORE_2 };
	const char *wrong = repair_all();
	char *p, *text;
	size_t n, nkept;
	bool ok = false;

	if (wrong)
		return wrong;
	if (!has_kept(c, &p, &n, &nkept)) {
		free(p);
		return "committed bytes are gone";
	}
	text = text_behind(p + nkept, n - nkept);
	/* an unfinished turn is closed: by a closer where the batch that did it is not there */
	for (int i = acked; text && i <= acked + 1 && i <= 2; i++)
		ok = ok ||
		     strncmp(text, after[i], i == 1 ? strlen(after[i]) : strlen(after[i]) + 1) == 0;
	free(text);
	free(p);
	return ok ? NULL : "other batches are there than were written";
}

/* ---- repair ---- */

static void run_repair(const struct scenario *c, int *acked)
{
	struct work *w = open_it(path);
	struct done d = { 0 };

	(void)c;
	*acked = w && work_repair(w, false, &d, &err) == 0;
	done_release(&d);
	work_close(&w);
}

/* The tail is where it was, or in its copy. */
static bool has_tail(const struct scenario *c, const char *p, size_t n, size_t nkept)
{
	size_t nall, got;
	char *all = dshenv_bytes(is_zstd, c->batches, c->tail, &nall), *copy;
	char *name = xasprintf("%s.torn-%zu", path, nkept);
	bool ok = n >= nall && memcmp(p, all, nall) == 0;

	copy = ok ? NULL : temp_get(name, &got);
	if (copy)
		ok = got == nall - nkept && memcmp(copy, all + nkept, got) == 0;
	free(copy);
	free(name);
	free(all);
	return ok;
}

static const char *look_repair(const struct scenario *c, int acked)
{
	char *p, *text;
	const char *wrong = NULL;
	size_t n, nkept;

	if (!has_kept(c, &p, &n, &nkept))
		wrong = "committed bytes are gone";
	else if (c->tail && !has_tail(c, p, n, nkept))
		wrong = "the tail is neither in the log nor in its copy";
	text = wrong ? NULL : text_behind(p + nkept, n - nkept);
	if (!wrong && acked && (!text || strcmp(text, DSH_CLOSERS) != 0))
		wrong = "the repair was acknowledged and is not there";
	free(text);
	free(p);
	if (wrong || (wrong = repair_all()))
		return wrong;
	if (!has_kept(c, &p, &n, &nkept))
		wrong = "committed bytes are gone after the repair";
	text = wrong ? NULL : text_behind(p + nkept, n - nkept);
	if (!wrong && (!text || strcmp(text, DSH_CLOSERS) != 0))
		wrong = "the closers are not there once";
	free(text);
	free(p);
	return wrong;
}

/* ---- fork ---- */

static char forked[4096];

static void run_fork(const struct scenario *c, int *acked)
{
	struct fork_spec spec = { .has_event = true, .event = 3 };
	struct work *w = open_it(path);
	struct done d = { 0 };

	(void)c;
	*acked = w && work_fork_new(w, &spec, false, &d, &err) == 0;
	if (*acked)
		snprintf(forked, sizeof(forked), "%s", d.path);
	done_release(&d);
	work_close(&w);
}

static const char *look_fork(const struct scenario *c, int acked)
{
	char *p, *text;
	size_t n, nkept;
	const char *wrong = has_kept(c, &p, &n, &nkept) && n == nkept ? NULL : "the parent changed";

	free(p);
	text = dshenv_text(forked, is_zstd);
	if (!wrong && acked && !text)
		wrong = "the fork was acknowledged and is not there";
	if (!wrong && !text && access(forked, F_OK) == 0)
		wrong = "the fork is there and not whole";
	if (!wrong && text &&
		(!strstr(text, DSH_TURN_1 DSH_TURN_2 "{\"type\":\"session/end-seed\",\"seq\":6,") ||
			!strstr(text, "\"parentSession\":\"s\",\"seedLength\":6,")))
		wrong = "the fork says something else";
	free(text);
	return wrong;
}

/* ---- convert ---- */

static void run_convert(const struct scenario *c, int *acked)
{
	struct work *w = open_it(path);
	struct done d = { 0 };

	(void)c;
	*acked = w && work_convert(w, !is_zstd, false, &d, &err) == 0;
	done_release(&d);
	work_close(&w);
}

static const char *look_convert(const struct scenario *c, int acked)
{
	static const char whole[] = DSH_HEADER DSH_TURN_1 DSH_TURN_2;
	char *aside = xasprintf("%s.converted", path);
	bool is_old = dshenv_is(path, is_zstd, whole), is_aside = dshenv_is(aside, is_zstd, whole);
	bool is_new = dshenv_is(other, !is_zstd, whole);
	const char *wrong = NULL;
	int again = 1;

	if (!is_old && !is_new)
		wrong = "neither file holds the log";
	else if (!is_old && !is_aside)
		wrong = "the old file is lost";
	else if (access(other, F_OK) == 0 && !is_new)
		wrong = "the new file is there and not whole";
	else if (acked && !is_new)
		wrong = "the conversion was acknowledged and is not there";
	if (!wrong && is_old) {
		run_convert(c, &again);
		if (!again || !dshenv_is(other, !is_zstd, whole) || access(path, F_OK) == 0)
			wrong = "it can not be done again";
	}
	free(aside);
	return wrong;
}

/* ---- all of it ---- */

static const struct scenario scenarios[] = {
	{ "append two batches", { DSH_HEADER, DSH_TURN_1, DSH_TURN_2, DSH_TURN_3 }, NULL,
		run_append, look_append, false },
	{ "append over a tail", { DSH_HEADER, DSH_TURN_1 DSH_TURN_2 DSH_TURN_3 }, DSH_TAIL,
		run_append, look_append, false },
	{ "repair", { DSH_HEADER, DSH_TURN_1, DSH_TURN_2 DSH_TURN_3 }, NULL, run_repair,
		look_repair, false },
	{ "repair over a tail", { DSH_HEADER, DSH_TURN_1 DSH_TURN_2 DSH_TURN_3 }, DSH_TAIL,
		run_repair, look_repair, false },
	{ "fork", { DSH_HEADER, DSH_TURN_1, DSH_TURN_2, DSH_TURN_3 }, NULL, run_fork, look_fork,
		true },
	{ "convert", { DSH_HEADER, DSH_TURN_1, DSH_TURN_2 }, NULL, run_convert, look_convert,
		false },
};

static void setup(const struct scenario *c)
{
	size_t n;
	char *p = dshenv_bytes(is_zstd, c->batches, c->tail, &n);

	temp_clear(root);
	if (log_mkdirs(dir, &err) < 0)
		exit(1);
	snprintf(path, sizeof(path), "%s/session.jsonl%s", dir, is_zstd ? ".zstd" : "");
	snprintf(other, sizeof(other), "%s/session.jsonl%s", dir, is_zstd ? "" : ".zstd");
	temp_put(path, p, n);
	forked[0] = '\0';
	err_clear(&err);
	free(p);
}

static void look(int acked, const char *what, void *arg)
{
	const struct scenario *c = arg;
	const char *wrong;

	if (!dshenv_takes(seen++))
		return;
	err_clear(&err);
	wrong = c->look(c, acked);
	if (wrong && ++bad <= SHOW_MAX)
		fprintf(stderr, "%s, %s: %s, %d acknowledged: %s (%s)\n", c->name,
			is_zstd ? "zstd" : "raw", what, acked, wrong, err.text);
}

static unsigned long run_scenario(const struct scenario *c)
{
	struct crashsim *sim;
	unsigned long states;
	char *project = path_dir(dir);
	int acked = 0;

	setup(c);
	fake_install();
	fake_reset();
	sim = crash_new(c->is_deep ? project : dir, &acked);
	crash_start(sim);
	c->run(c, &acked);
	crash_stop(sim);
	fake_remove();
	if (!acked) {
		fprintf(stderr, "%s: %s\n", c->name, err.text);
		bad++;
	}
	states = crash_each(sim, look, (void *)c);
	crash_free(&sim);
	free(project);
	printf("%-20s %-4s %6lu states\n", c->name, is_zstd ? "zstd" : "raw", states);
	return states;
}

int main(void)
{
	unsigned long states = 0;

	setenv("BOUGH_NOW", "1796000000000", 1);
	setenv("BOUGH_SEED", "crash", 1);
	temp_make(root);
	setenv("HOME", root, 1);
	snprintf(dir, sizeof(dir), "%s/_no-cwd/s", root);
	for (size_t i = 0; i < 2 * sizeof(scenarios) / sizeof(*scenarios); i++) {
		is_zstd = i % 2;
		states += run_scenario(&scenarios[i / 2]);
	}
	temp_remove(root);
	printf("dsh power cuts: %lu states, %lu of them with a damaged end, %lu bad\n", states,
		nsalvaged, bad);
	return bad || states < 2000;
}
