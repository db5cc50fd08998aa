/*
 * change.c - one change of a log: a torn tail goes, records come, or both. Here
 * stands the order of the calls, what must hold between them, and who is kept
 * out meanwhile; doc/durability.md says why. Taking back is recover.c's.
 */
#include "config.h"

#include "log/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FREE_TRIES = 6, FREE_WAIT_MS = 5 };

/*
 * An append that cuts nothing needs only the lock, for it harms nobody wherever
 * it lands. A cut needs more even in bough's own files: not everybody who
 * writes there asks for the lock.
 */
static bool needs_lease(const struct log *log, const struct change *ch)
{
	return ch->base < ch->old_size || (log->flags & LOG_ALONE);
}

/*
 * Asked before a copy is made and synced: a lease is held for moments only. A
 * dry run asks too, so that it says what would happen.
 */
int change_choose(struct log *log, struct change *ch, bool is_lines, struct err *err)
{
	struct err why = { 0 };
	int rc;

	if (log->fd < 0 || !needs_lease(log, ch))
		return 0;
	rc = lease_take(log->fd, log->path, &why);
	if (rc == 0)
		lease_give(log->fd);
	else if (rc == ERR_LOCKED && log->flags & LOG_BESIDE && is_lines)
		ch->base = ch->old_size; /* it may only be read there: not worth a refusal */
	else if (rc != ERR_UNSUPPORTED)
		return err_hand_over(err, &why);
	else if (log->flags & (LOG_ALONE | LOG_ANEW))
		ch->is_anew = true;
	else if (is_lines)
		ch->base = ch->old_size; /* around it: the tail stays, as a line of its own */
	else
		return err_hand_over(err, &why);
	return 0;
}

/*
 * The name may be younger than the last directory sync: this handle made it,
 * or a program that renames without syncing. Data behind a name that a power
 * cut takes away would be acknowledged and lost.
 */
static int sync_name(struct log *log, struct err *err)
{
	if (log->has_name_synced)
		return 0;
	if (log->is_created && io_fsync(log->fd) < 0)
		return err_sys(err, "sync %s", log->path);
	/* A folder that may be searched but not read can not be opened, thus not synced. */
	if (io_sync_dir(log->dir) < 0 && (log->is_created || errno != EACCES))
		return err_sys(err, "sync the folder of %s", log->path);
	log->has_name_synced = true;
	return 0;
}

static void let_in(const struct log *log, struct change *ch)
{
	if (ch->is_leased)
		lease_give(log->fd);
	ch->is_leased = false;
}

/*
 * An append goes on beside others. But if they leave it alone for a moment it waits
 * for that: a line that one of them writes in two pieces has ours behind it
 * then and not between.
 */
static void lease_if_free(const struct log *log, struct change *ch)
{
	struct timespec pause = { .tv_nsec = FREE_WAIT_MS * 1000000L };
	int rc;

	for (int i = 0; i < FREE_TRIES && !ch->is_leased; i++) {
		if (i > 0)
			nanosleep(&pause, NULL);
		rc = lease_take(log->fd, log->path, NULL);
		ch->is_leased = rc == 0;
		if (rc != ERR_LOCKED)
			return;
	}
}

/*
 * From here to let_in nobody else has the file open. What came since it was
 * looked at is seen now, at the latest: then nothing is touched.
 */
static int shut_out(struct log *log, struct change *ch, struct err *err)
{
	int rc;

	if (!needs_lease(log, ch)) {
		if (!(log->flags & LOG_BESIDE))
			lease_if_free(log, ch);
		return 0;
	}
	rc = lease_take(log->fd, log->path, err);
	if (rc < 0)
		return rc;
	ch->is_leased = ch->is_shut = true;
	rc = log_check_is(log, &log->id, err);
	if (rc == 0 && ch->base < ch->old_size) {
		int same = aside_is_same(log, ch);

		rc = same < 0 ? err_sys(err, "read %s", log->path)
			      : same ? 0 : log_has_changed(log, err);
	}
	return rc;
}

static int cut_tail(struct log *log, struct change *ch, struct err *err)
{
	if (ch->base == ch->old_size)
		return 0;
	ch->has_cut = true;
	/* Synced: else a power cut may mix the old tail with the new records. */
	if (io_ftruncate(log->fd, ch->base) < 0 || io_fsync(log->fd) < 0)
		return err_sys(err, "cut the torn end of %s", log->path);
	return 0;
}

/*
 * Right before the write: is somebody in the middle of a line by now? What stands at the end then is
 * no line's end, though one stood there when it was decided what to write.
 */
static int check_line_end(const struct log *log, const struct change *ch, struct err *err)
{
	struct stat st;
	char last = '\n';
	size_t got;

	if (!ch->is_lines || (log->flags & LOG_BESIDE))
		return 0;
	if (io_fstat(log->fd, &st) < 0)
		return err_sys(err, "look at %s", log->path);
	if ((uint64_t)st.st_size == ch->base)
		return 0;
	if (st.st_size > 0 && io_pread(log->fd, &last, 1, (uint64_t)st.st_size - 1, &got) < 0)
		return err_sys(err, "read %s", log->path);
	return last == '\n' ? 0 : log_has_changed(log, err);
}

/* The byte before ours, when somebody else's record came between the look and the write. */
static int check_not_glued(const struct log *log, const struct change *ch, struct err *err)
{
	char before = '\n';
	size_t got = 1;

	if (ch->put.at <= ch->base || ch->p[0] == '\n')
		return 0;
	if (io_pread(log->fd, &before, 1, ch->put.at - 1, &got) < 0)
		return err_sys(err, "read %s", log->path);
	if (got == 1 && before == '\n')
		return 0;
	return err_set(err, ERR_CHANGED, "it stands behind a line that another process is writing");
}

/* Do our bytes stand where write() put them? A writer without a lock may have cut the file. */
static int check_stands(const struct log *log, const struct change *ch, struct err *err)
{
	char *chunk = sys->malloc(IO_CHUNK);
	size_t done = 0, got;
	int rc = chunk ? 0 : io_no_memory(err);

	while (rc == 0 && done < ch->n) {
		size_t want = ch->n - done < IO_CHUNK ? ch->n - done : IO_CHUNK;

		if (io_pread(log->fd, chunk, want, ch->put.at + done, &got) < 0)
			rc = err_sys(err, "read %s", log->path);
		else if (got != want || memcmp(chunk, ch->p + done, want) != 0)
			rc = log_has_changed(log, err);
		done += want;
	}
	free(chunk);
	return rc;
}

/* One write() as long as the system takes all; what it leaves is written behind. */
static int put(struct log *log, struct change *ch, struct err *err)
{
	int rc;

	if (ch->n == 0)
		return log_look(log, err);
	rc = check_line_end(log, ch, err);
	if (rc < 0)
		return rc;
	ch->is_tried = true;
	if (io_write_placed(log->fd, ch->p, ch->n, &ch->put) < 0)
		return err_sys(err, "append to %s", log->path);
	if (!needs_lease(log, ch)) /* nobody shall wait for the disk */
		let_in(log, ch);
	if (io_fdatasync(log->fd) < 0)
		return err_sys(err, "sync %s", log->path);
	rc = check_not_glued(log, ch, err);
	if (rc == 0)
		rc = check_stands(log, ch, err);
	/* A program that saves by rename may have put another file under the name. */
	if (rc == 0 && (rc = log_names(log, &log->id, err)) == 0)
		rc = log_has_changed(log, err);
	return rc < 0 ? rc : log_look(log, err);
}

/* ---- without a lease: a new file ---- */

static int copy_kept(const struct log *log, uint64_t n, struct log_pub *pub, struct err *err)
{
	char *chunk = sys->malloc(IO_CHUNK);
	uint64_t at = 0;
	size_t got;
	int rc = chunk ? 0 : io_no_memory(err);

	while (rc == 0 && at < n) {
		size_t want = n - at < IO_CHUNK ? (size_t)(n - at) : IO_CHUNK;

		if (io_pread(log->fd, chunk, want, at, &got) < 0)
			rc = err_sys(err, "read %s", log->path);
		else if (got == 0)
			rc = log_has_changed(log, err);
		else
			rc = log_pub_write(pub, chunk, got, err);
		at += got;
	}
	free(chunk);
	return rc;
}

/* What is kept and what comes in a new file; who still writes to the old one writes to its name. */
static int apply_anew(struct log *log, struct change *ch, struct err *err)
{
	struct log_pub *pub = NULL;
	struct log_id old = log->id;
	int rc = log_pub_begin(&pub, log->path, err);

	if (rc == 0)
		rc = pub_copy_mode(pub, err);
	if (rc == 0)
		rc = copy_kept(log, ch->base, pub, err);
	if (rc == 0 && ch->n)
		rc = log_pub_write(pub, ch->p, ch->n, err);
	if (rc == 0)
		rc = pub_finish(pub, err);
	if (rc == 0)
		rc = pub_take_place(pub, &old, true, ch->before, err);
	if (rc == 0) {
		ch->put.at = ch->base;
		log->id = pub->id;
		log->has_appended = log->is_broken = true; /* the lock is on the old one */
	}
	log_pub_abort(&pub);
	return rc;
}

/* ---- all of it ---- */

static int apply(struct log *log, struct change *ch, struct err *why)
{
	int rc = shut_out(log, ch, why);

	if (rc < 0)
		return rc;
	rc = cut_tail(log, ch, why);
	if (rc == 0)
		rc = put(log, ch, why);
	if (rc < 0)
		change_undo(log, ch, why);
	else
		log->has_appended = true;
	return rc;
}

int change_apply(struct log *log, struct change *ch, struct err *err)
{
	struct err why = { 0 };
	int rc = sync_name(log, &why);

	ch->put.at = ch->base;
	if (rc == 0 && ch->base < ch->old_size)
		rc = aside_make(log, ch, &why);
	if (rc == 0)
		rc = ch->is_anew ? apply_anew(log, ch, &why) : apply(log, ch, &why);
	let_in(log, ch);
	return rc < 0 ? err_hand_over(err, &why) : 0;
}
