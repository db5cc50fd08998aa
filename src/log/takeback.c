/*
 * takeback.c - the way back from a change that failed, and from an append that
 * was acknowledged but announced what did not happen. Only bytes that are
 * proved to be ours go: those that write() returned, at the place that it
 * returned, and what nobody else can have written because he was kept out.
 */
#include "config.h"

#include "log/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

/*
 * A write may fail with a part of it in the file, without saying how much. So
 * many bytes that are the beginning of ours are ours: most of them are of the
 * random id of an entry.
 */
enum { PROOF_BYTES = 24 };

/* How many of ours stand from `at` on. */
static int count_ours(
	const struct log *log, const struct change *ch, uint64_t at, size_t *ours, struct err *err)
{
	char *chunk = sys->malloc(IO_CHUNK);
	size_t got = 1;
	int rc = chunk ? 0 : io_no_memory(err);

	*ours = 0;
	while (rc == 0 && got && *ours < ch->n) {
		size_t want = ch->n - *ours < IO_CHUNK ? ch->n - *ours : IO_CHUNK, i = 0;

		if (io_pread(log->fd, chunk, want, at + *ours, &got) < 0)
			rc = err_sys(err, "read it");
		while (rc == 0 && i < got && chunk[i] == ch->p[*ours + i])
			i++;
		*ours += i;
		got = i == want ? got : 0;
	}
	free(chunk);
	return rc;
}

/* Ours have others behind them, where blank lines mean nothing: blanks in their place. */
static int blank_out(const struct log *log, uint64_t at, size_t n, struct err *err)
{
	char *blanks = sys->malloc(n);
	int rc = 0;

	if (!blanks)
		return io_no_memory(err);
	memset(blanks, ' ', n);
	blanks[n - 1] = '\n';
	if (io_overwrite(log->fd, blanks, n, at) < 0)
		rc = err_sys(err, "overwrite it");
	free(blanks);
	return rc;
}

/* Our n bytes at `at` go; the lease is held, or the lock is enough. */
static int remove_ours(
	struct log *log, const struct change *ch, uint64_t at, size_t n, uint64_t size, struct err *err)
{
	size_t ours;
	int rc = count_ours(log, ch, at, &ours, err);

	if (rc < 0)
		return rc;
	if (ours < n)
		return err_set(err, ERR_CHANGED, "another process changed it meanwhile");
	if (ours > n && ours >= PROOF_BYTES)
		n = ours;
	if (at + n == size)
		return io_ftruncate(log->fd, at) < 0 ? err_sys(err, "shorten it") : 0;
	if (log->flags & LOG_BLANKS && n > 0)
		return blank_out(log, at, n, err);
	return n ? err_set(err, ERR_CHANGED, "another process has written behind it") : 0;
}

/* Appended beside others: what is ours is looked for, and goes while nobody is there. */
static int undo_append(struct log *log, const struct change *ch, struct err *err)
{
	uint64_t at = ch->put.n ? ch->put.at : ch->old_size;
	struct stat st;
	int rc;

	if (!ch->is_tried)
		return 0;
	if (io_fstat(log->fd, &st) < 0)
		return err_sys(err, "look at it");
	if (st.st_nlink == 0)
		return 0; /* another file has its place, and nobody will ever find this one */
	if (ch->put.n == 0 && (uint64_t)st.st_size <= ch->old_size)
		return 0; /* nothing of it came into the file */
	if (ch->put.is_split)
		return err_set(err, ERR_CHANGED, "another process wrote between its pieces");
	rc = lease_take(log->fd, path_base(log->path), err);
	if (rc < 0)
		return rc;
	if (io_fstat(log->fd, &st) < 0)
		rc = err_sys(err, "look at it");
	else
		rc = remove_ours(log, ch, at, ch->put.n, (uint64_t)st.st_size, err);
	if (rc == 0 && io_fsync(log->fd) < 0)
		rc = err_sys(err, "sync it");
	lease_give(log->fd);
	return rc;
}

/* The lock keeps those out who ask for it. Of the others nothing stands behind base, or it stays. */
static int check_only_ours(
	const struct log *log, const struct change *ch, uint64_t size, struct err *err)
{
	size_t ours;
	int rc = count_ours(log, ch, ch->base, &ours, err);

	if (rc == 0 && ch->base + ours != size)
		rc = err_set(err, ERR_CHANGED, "another process changed it meanwhile");
	return rc;
}

/* Nobody else can have written: everything behind base is ours. */
static int undo_alone(struct log *log, const struct change *ch, struct err *err)
{
	struct stat st;
	int rc = 0;

	if (io_fstat(log->fd, &st) < 0)
		return err_sys(err, "look at it");
	if ((uint64_t)st.st_size == ch->old_size && !(ch->has_cut && ch->n))
		return 0;
	if ((uint64_t)st.st_size < ch->base ||
		((uint64_t)st.st_size > ch->base + ch->n && (uint64_t)st.st_size != ch->old_size))
		return err_set(err, ERR_CHANGED, "another process changed it meanwhile");
	if (!ch->is_shut && ch->p)
		rc = check_only_ours(log, ch, (uint64_t)st.st_size, err);
	if (rc == 0 && io_ftruncate(log->fd, ch->base) < 0)
		rc = err_sys(err, "shorten it");
	if (rc == 0 && ch->has_cut)
		rc = aside_restore(log, ch, err);
	if (rc == 0 && io_fsync(log->fd) < 0)
		rc = err_sys(err, "sync it");
	if (rc == 0 && io_fstat(log->fd, &st) < 0)
		rc = err_sys(err, "look at it");
	if (rc == 0 && (uint64_t)st.st_size != ch->old_size)
		rc = err_set(err, ERR_CHANGED, "it has another size");
	return rc;
}

/*
 * What can not go stays as a line of its own: who appends next must not be
 * glued to it. No more can be done, so nobody asks what comes of it.
 */
static void end_the_line(const struct log *log, const struct change *ch)
{
	if (ch->put.n && ch->put.n < ch->n && !(log->flags & (LOG_BESIDE | LOG_ALONE)))
		io_write(log->fd, "\n", 1);
}

/* What stands in the file now, as exactly as it is known. */
static void say_broken(
	const struct log *log, const struct change *ch, const struct err *back, struct err *why)
{
	struct err cause = *why;
	char what[160] = "";

	if (ch->has_cut)
		snprintf(what, sizeof(what), ", its cut bytes are in %.90s", path_base(ch->aside));
	else if (ch->put.n)
		snprintf(what, sizeof(what), ": %s%zu of %zu bytes stand at byte %" PRIu64,
			ch->put.n == ch->n && !ch->put.is_split ? "all " : "", ch->put.n, ch->n,
			ch->put.at);
	err_clear(why);
	/* Names first: whatever is too long for the text, they stay in it. */
	err_set(why, ERR_BROKEN, "%.90s is not as it was%s: %.60s; then: %.60s",
		path_base(log->path), what, cause.text, back->text);
	why->sys = cause.sys;
}

int change_undo(struct log *log, const struct change *ch, struct err *why)
{
	bool is_alone = (log->flags & LOG_BESIDE) || (ch->is_leased && ch->is_shut);
	struct err back = { 0 };
	int rc = is_alone ? undo_alone(log, ch, &back) : undo_append(log, ch, &back);

	if (rc == 0)
		rc = log_look(log, &back);
	if (rc == 0)
		return 0;
	if (!is_alone)
		end_the_line(log, ch);
	log->is_broken = true;
	say_broken(log, ch, &back, why);
	return ERR_BROKEN;
}

int log_take_back(struct log *log, const struct log_append_info *info, struct err *err)
{
	struct change ch = { .aside_fd = -1 };
	struct err why = { 0 };
	int rc;

	if (log->is_dry)
		return 0;
	if (!(log->flags & LOG_BESIDE))
		return err_set(err, ERR_USAGE, "only what is bough's own is taken back");
	rc = log_expect(log, &info->id, err);
	if (rc < 0)
		return rc;
	if (info->off > info->id.size)
		return err_set(err, ERR_USAGE, "%s has no such append", log->path);
	ch.base = ch.old_size = info->off;
	ch.n = ch.put.n = info->id.size - info->off;
	ch.put.at = info->off;
	err_set(&why, ERR_CANCELLED, "an append is taken back");
	if (change_undo(log, &ch, &why) < 0)
		return err_hand_over(err, &why);
	if (log->id.size == 0) /* log_close removes it if this handle made it */
		log->has_appended = false;
	return 0;
}
