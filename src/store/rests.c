/*
 * rests.c - does a log rest? A log may have a writer that takes no lock, so a
 * fresh one is watched for a moment before anything is written beside that
 * writer. Nothing here waits: who has something else to do asks again.
 */
#include "config.h"
#include "store/ops-dsh.h"

#include <time.h>

#include "base/clock.h"
#include "format/dsh/dsh.h"

enum {
	FRESH_MS = 2000,      /* a file that is younger may have a writer at work */
	WATCH_US = 300 * 1000 /* its writer flushes every 200 ms */
};

int dsh_being_written(struct work *w, struct err *err)
{
	work_rests_stop(w);
	return err_set(err, ERR_CHANGED,
		"%s is being written by another process; try again when it rests", w->path);
}

static bool is_fresh(const struct log_id *id)
{
	return clock_is_near(id->mtime_ns / 1000000, FRESH_MS);
}

/* 1: ask again; 0: it rests. What was seen to rest and is the same still does. */
static int look(struct work *w, struct err *err)
{
	const struct log_id *id = w->fmt->file(w->s);
	struct log_id now;
	int rc = log_stat(w->path, &now, err);

	if (rc < 0)
		return rc;
	if (log_id_differs(id, &now) || (w->is_watched && log_id_differs(&w->watched, id)))
		return dsh_being_written(w, err);
	if (w->is_watched && clock_mono_us() - w->watched_at < WATCH_US)
		return 1;
	if (w->is_watched) {
		w->is_watched = false;
		return 0;
	}
	if (!is_fresh(id) || (w->watched_at && !log_id_differs(&w->watched, id)))
		return 0;
	w->watched = *id;
	w->watched_at = clock_mono_us();
	w->is_watched = true;
	return 1;
}

int work_rests(struct work *w, struct err *err)
{
	int rc = 0;

	if (w->fmt != &format_dsh)
		return 0;
	if (!w->is_watched)
		rc = work_sync(w, err);
	return rc < 0 ? rc : look(w, err);
}

void work_rests_stop(struct work *w)
{
	w->is_watched = false;
	w->watched_at = 0;
}

int dsh_wait_for_rest(struct work *w, struct err *err)
{
	int rc;

	while ((rc = look(w, err)) == 1) {
		uint64_t over = clock_mono_us() - w->watched_at;
		struct timespec pause = { .tv_nsec = 1000 };

		if (over < WATCH_US)
			pause.tv_nsec += (long)(WATCH_US - over) * 1000;
		nanosleep(&pause, NULL);
	}
	return rc;
}
