/*
 * live.c - is somebody at a session? The one rule, what it is made of, and the
 * refusal of what would hurt whoever is. That nothing was written for a while
 * proves nothing: a model thinks for minutes, a tool runs for hours; so an open
 * turn is never closed without being asked for.
 */
#include "config.h"
#include "store/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/path.h"

enum { FRESH_MS = 60 * 1000, FRESH_TURN_MS = 10 * 60 * 1000 };

enum live live_of(bool in_use, int64_t mtime_ms, bool has_open_turn)
{
	if (in_use)
		return LIVE_IN_USE;
	return clock_is_near(mtime_ms, has_open_turn ? FRESH_TURN_MS : FRESH_MS) ? LIVE_FRESH
									       : LIVE_QUIET;
}

static bool has_open_turn(const struct work *w)
{
	char said[200];

	return work_interrupted(w, said);
}

enum live work_live_seen(const struct work *w)
{
	return live_of(false, w->fmt->file(w->s)->mtime_ns / 1000000, has_open_turn(w));
}

/* Later harnesses lock a file of their own beside the log. */
static void look_beside(const struct work *w, struct log_use *use)
{
	char *path = path_join(w->dir, "session.lock");
	struct log_use lock;

	if (log_look_use(path, &lock, NULL) == 0 && lock.is_locked) {
		use->is_locked = true;
		use->pid = lock.pid;
	}
	free(path);
}

void work_live(struct work *w, struct live_look *out)
{
	struct log_id id = *w->fmt->file(w->s), now;
	struct log_use use = { 0 };

	log_look_use(w->path, &use, NULL);
	look_beside(w, &use);
	if (log_stat(w->path, &now, NULL) == 0 && now.exists)
		id = now;
	*out = (struct live_look){ .is_locked = use.is_locked,
		.pid = use.pid,
		.mtime = id.mtime_ns / 1000000 };
	out->state = live_of(use.is_locked || use.is_open, out->mtime, has_open_turn(w));
}

void live_when(int64_t mtime_ms, char out[40])
{
	int64_t s = (clock_now_ms() - mtime_ms) / 1000;

	if (s < 0)
		snprintf(out, 40, "written just now");
	else if (s < 120)
		snprintf(out, 40, "written %" PRId64 " s ago", s);
	else if (s < 120 * 60)
		snprintf(out, 40, "written %" PRId64 " min ago", s / 60);
	else if (s < 48 * 3600)
		snprintf(out, 40, "written %" PRId64 " h ago", s / 3600);
	else
		snprintf(out, 40, "written %" PRId64 " days ago", s / 86400);
}

void work_force(struct work *w, bool on)
{
	w->is_forced = on;
}

static int in_use(const struct work *w, const struct live_look *live, struct err *err)
{
	if (live->pid)
		return err_set(err, ERR_LOCKED, "%s is in use: process %ld is writing it", w->path,
			live->pid);
	return err_set(err, ERR_LOCKED, "%s is in use: another process %s", w->path,
		live->is_locked ? "is writing it" : "has it open for writing");
}

int work_check_rest(struct work *w, bool cuts, bool closes_turn, struct err *err)
{
	struct live_look live;
	char when[40];

	if (!cuts && !closes_turn)
		return 0;
	work_live(w, &live);
	if (live.state == LIVE_IN_USE)
		return in_use(w, &live, err);
	if (w->is_forced)
		return 0;
	live_when(live.mtime, when);
	if (closes_turn)
		return err_set(err, ERR_UNSURE,
			"a turn is open (%s): if its agent still runs, closing it spoils the log "
			"for it",
			when);
	if (live.state == LIVE_FRESH)
		return err_set(err, ERR_UNSURE,
			"%s may be in use (%s): try again when it has rested for a minute",
			path_base(w->path), when);
	return 0;
}

bool work_repair_is_risky(const struct work *w, const struct live_look *live, char said[200])
{
	said[0] = '\0';
	if (has_open_turn(w))
		snprintf(said, 200, "A turn is open");
	else if (w->s->is_torn && live->state == LIVE_FRESH)
		snprintf(said, 200, "The file was changed just now");
	return said[0] != '\0';
}
