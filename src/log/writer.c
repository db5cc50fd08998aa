/*
 * writer.c - appending to a log under its lock: open, check that the file is
 * still the one that is known, cut a torn tail, one write, sync, and the
 * decision to take a failed change back (recover.c does it). Knows bytes and
 * offsets only; where the last committed record ends is said by the caller.
 */
#include "config.h"

#include "log/frames.h"
#include "log/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

/* How often a file may be renamed over while we are opening it. */
enum { OPEN_TRIES = 8 };

/* What one try to open came to, besides 0 and errors. */
enum { TRY_AGAIN = 1 };

static int open_file(struct log *log, int flags, mode_t mode, struct err *err)
{
	struct stat st;

	if (log->flags & LOG_BESIDE)
		return beside_open(log->path, flags, mode, &log->fd, &st, err);
	log->fd = io_open(log->path, flags, mode);
	return log->fd < 0 ? err_sys(err, "open %s", log->path) : 0;
}

/* A missing file: made, or in a dry run only looked whether it could be. */
static int open_missing(struct log *log, struct err *err)
{
	struct err why = { 0 };

	if (!(log->flags & LOG_CREATE)) {
		errno = ENOENT;
		return err_sys(err, "open %s", log->path);
	}
	if (log->is_dry)
		return log_can_write(log->dir, err);
	if (open_file(log, O_RDWR | O_APPEND | O_CREAT | O_EXCL, 0600, &why) < 0)
		return why.sys == EEXIST ? TRY_AGAIN : err_hand_over(err, &why);
	log->is_created = true;
	return 0;
}

static int open_existing(struct log *log, const struct stat *st, struct err *err)
{
	struct err why = { 0 };
	int rc = io_regular(st, log->path, err);

	if (rc < 0)
		return rc;
	/* O_APPEND: bytes that somebody else adds can be followed, never overwritten. */
	if (open_file(log, O_RDWR | O_APPEND, 0, &why) < 0)
		return why.sys == ENOENT ? TRY_AGAIN : err_hand_over(err, &why);
	return 0;
}

static int look_at_name(const struct log *log, struct log_id *id, struct err *err)
{
	return log->flags & LOG_BESIDE ? log_stat_beside(log->path, id, err)
				       : log_stat(log->path, id, err);
}

int log_names(const struct log *log, const struct log_id *id, struct err *err)
{
	struct log_id now;
	int rc = look_at_name(log, &now, err);

	if (rc < 0)
		return rc;
	return now.exists && now.dev == id->dev && now.ino == id->ino;
}

int log_look(struct log *log, struct err *err)
{
	struct stat st;
	int rc;

	if (io_fstat(log->fd, &st) < 0)
		return err_sys(err, "look at %s", log->path);
	rc = io_regular(&st, log->path, err);
	if (rc == 0)
		io_id(&st, &log->id);
	return rc;
}

/* Takes back the file that this handle made, unless it is used after all. */
static void remove_created(struct log *log)
{
	struct stat st;
	struct log_id id;

	if (!log->is_created || log->has_appended || log->is_broken)
		return;
	if (io_fstat(log->fd, &st) < 0 || st.st_size != 0)
		return;
	io_id(&st, &id);
	if (log_names(log, &id, NULL) == 1 && sys->unlink(log->path) == 0)
		io_sync_dir(log->dir);
}

static void drop(struct log *log)
{
	io_close(&log->fd);
	log->is_created = false;
}

static int try_open(struct log *log, struct err *err)
{
	struct stat st;
	int rc;

	if ((log->flags & LOG_BESIDE ? io_lstat : io_stat)(log->path, &st) == 0)
		rc = S_ISLNK(st.st_mode)
			     ? err_set(err, ERR_UNSUPPORTED, "%s is a symbolic link", log->path)
			     : open_existing(log, &st, err);
	else if (errno == ENOENT)
		rc = open_missing(log, err);
	else
		rc = err_sys(err, "look at %s", log->path);
	if (rc != 0 || log->fd < 0)
		return rc;

	rc = log_look(log, err);
	if (rc == 0)
		rc = lock_take(log->fd, &log->id, log->path, err);
	if (rc == ERR_LOCKED) { /* somebody is already writing to what we made */
		drop(log);
		return rc;
	}
	/* A writer of whole files may have renamed over the name before we had the lock. */
	if (rc == 0 && (rc = log_names(log, &log->id, err)) == 1)
		return log_look(log, err);
	if (rc == 0)
		drop(log);
	return rc == 0 ? TRY_AGAIN : rc;
}

int log_open(struct log **out, const char *path, unsigned flags, struct err *err)
{
	struct log *log;
	int rc, tries = 0;

	*out = NULL;
	log = sys->malloc(sizeof(*log));
	if (!log)
		return io_no_memory(err);
	memset(log, 0, sizeof(*log));
	log->fd = -1;
	log->flags = flags;
	log->is_dry = flags & LOG_DRY_RUN;
	rc = io_path(log->path, path, err);
	if (rc == 0) {
		io_dir(log->dir, log->path);
		do
			rc = try_open(log, err);
		while (rc == TRY_AGAIN && ++tries < OPEN_TRIES);
	}
	if (rc == TRY_AGAIN)
		rc = err_set(err, ERR_CHANGED, "%s is replaced again and again", log->path);
	if (rc < 0) {
		log_close(&log);
		return rc;
	}
	/* A dry run learns of a lock but keeps no writer out. */
	if (log->is_dry && log->fd >= 0)
		io_flock(log->fd, LOCK_UN);
	*out = log;
	return 0;
}

void log_close(struct log **log)
{
	if (!*log)
		return;
	if ((*log)->fd >= 0)
		remove_created(*log);
	io_close(&(*log)->fd);
	free(*log);
	*log = NULL;
}

int log_has_changed(const struct log *log, struct err *err)
{
	return err_set(err, ERR_CHANGED, "%s was changed by another process", log->path);
}

int log_check_is(const struct log *log, const struct log_id *expected, struct err *err)
{
	struct log_id named, open_id = { 0 };
	struct stat st;
	int rc = look_at_name(log, &named, err);

	if (rc < 0)
		return rc;
	if (log->fd >= 0) {
		if (io_fstat(log->fd, &st) < 0)
			return err_sys(err, "look at %s", log->path);
		io_id(&st, &open_id);
	}
	if (!io_same(&open_id, &named))
		return log_has_changed(log, err);
	/* "It was not there" holds for a file that is ours and empty. */
	if (!expected->exists && log->is_created && open_id.size == 0)
		return 0;
	return io_same(expected, &open_id) ? 0 : log_has_changed(log, err);
}

int log_is_broken(const struct log *log, struct err *err)
{
	return err_set(err, ERR_BROKEN, "%s must be opened again after a failed append", log->path);
}

int log_expect(struct log *log, const struct log_id *expected, struct err *err)
{
	if (log->is_broken)
		return log_is_broken(log, err);
	return log_check_is(log, expected, err);
}

/* May the file be changed behind `committed`? Fills ch. */
static int change_begin(
	const struct log *log, uint64_t committed, struct change *ch, struct err *err)
{
	int rc;

	memset(ch, 0, sizeof(*ch));
	ch->aside_fd = -1;
	if (log->is_broken)
		return log_is_broken(log, err);
	rc = log_check_is(log, &log->id, err);
	if (rc < 0)
		return rc;
	if (committed > log->id.size)
		return err_set(err, ERR_USAGE, "%s ends before its committed length", log->path);
	ch->old_size = log->id.size;
	ch->base = committed;
	return 0;
}

/* Does a newline stand before off? 1 or 0, or err; 1 at the start of the file. */
static int is_line_start(const struct log *log, uint64_t off, struct err *err)
{
	char last = '\n';
	size_t got;

	if (off > 0 && io_pread(log->fd, &last, 1, off - 1, &got) < 0)
		return err_sys(err, "read %s", log->path);
	return last == '\n';
}

static void fill_info(const struct log *log, const struct change *ch, uint64_t off,
	struct log_append_info *info)
{
	if (!info)
		return;
	info->off = off;
	info->torn_bytes = ch->old_size - ch->base;
	memcpy(info->torn_path, ch->aside, sizeof(info->torn_path));
	memcpy(info->before_path, ch->before, sizeof(info->before_path));
	info->id = log->id;
}

/* Only looked: the name that a copy of the tail would get. */
static int dry_run(const struct log *log, struct change *ch, struct err *err)
{
	ch->put.at = ch->base;
	return ch->base < ch->old_size ? aside_make(log, ch, err) : 0;
}

/* A copy of p with a newline before it: it travels in the same write. */
static int join_newline(struct change *ch, char **joined, struct err *err)
{
	*joined = sys->malloc(ch->n + 1);
	if (!*joined)
		return io_no_memory(err);
	(*joined)[0] = '\n';
	memcpy(*joined + 1, ch->p, ch->n);
	ch->p = *joined;
	ch->n++;
	return 0;
}

/* Appends at `committed`, with a newline before the bytes where `is_lines` and the file lacks one. */
static int append(struct log *log, uint64_t committed, const char *p, size_t n, bool is_lines,
	struct log_append_info *info, struct err *err)
{
	struct change ch;
	char *joined = NULL;
	size_t extra = 0;
	int rc = change_begin(log, committed, &ch, err);

	ch.p = p;
	ch.n = n;
	ch.is_lines = is_lines;
	if (rc == 0)
		rc = change_choose(log, &ch, is_lines, err);
	if (rc == 0 && is_lines) {
		rc = is_line_start(log, ch.base, err);
		extra = !rc;
		rc = rc < 0 ? rc : 0;
	}
	if (rc == 0 && log->is_dry) {
		rc = dry_run(log, &ch, err);
	} else if (rc == 0) {
		rc = extra ? join_newline(&ch, &joined, err) : 0;
		if (rc == 0)
			rc = change_apply(log, &ch, err);
	}
	if (rc == 0)
		fill_info(log, &ch, ch.put.at + extra, info);
	io_close(&ch.aside_fd);
	free(joined);
	return rc;
}

int log_append(struct log *log, uint64_t committed, const char *records, size_t n,
	struct log_append_info *info, struct err *err)
{
	if (n == 0 || records[n - 1] != '\n')
		return err_set(err, ERR_USAGE, "records to append must end in a newline");
	return append(log, committed, records, n, true, info, err);
}

int log_append_bytes(struct log *log, uint64_t committed, const void *p, size_t n,
	struct log_append_info *info, struct err *err)
{
	if (n == 0)
		return err_set(err, ERR_USAGE, "there is nothing to append");
	return append(log, committed, p, n, false, info, err);
}

int log_set_aside(
	struct log *log, uint64_t committed, struct log_append_info *info, struct err *err)
{
	struct change ch;
	int rc = change_begin(log, committed, &ch, err);

	if (rc < 0)
		return rc;
	if (ch.base < ch.old_size)
		rc = change_choose(log, &ch, false, err);
	if (rc == 0 && ch.base < ch.old_size)
		rc = log->is_dry ? dry_run(log, &ch, err) : change_apply(log, &ch, err);
	if (rc == 0)
		fill_info(log, &ch, ch.base, info);
	io_close(&ch.aside_fd);
	return rc;
}
