/*
 * recover.c - nothing is thrown away: the copy of a torn tail that is made
 * before the tail is cut, and the way of the tail back from it. Works under the
 * writer's lock.
 */
#include "config.h"

#include "log/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

enum { ASIDE_NAMES = 1000 };

static int aside_name(
	const struct log *log, uint64_t base, unsigned i, char out[IO_PATH], struct err *err)
{
	if (i == 1)
		return io_printf_path(out, err, "%s.torn-%" PRIu64, log->path, base);
	return io_printf_path(out, err, "%s.torn-%" PRIu64 ".%u", log->path, base, i);
}

/* Are the n bytes of the log at off those of fd from its start, and no more? 1, 0, or -1 with errno. */
static int same_bytes(const struct log *log, uint64_t off, uint64_t n, int fd)
{
	char *a = sys->malloc(2 * IO_CHUNK), *b;
	uint64_t at = 0;
	int same = 1;

	if (!a)
		return -1;
	b = a + IO_CHUNK;
	while (same == 1 && at <= n) { /* one read past the end: there must be nothing */
		size_t want = n - at < IO_CHUNK ? (size_t)(n - at) : IO_CHUNK, ga, gb;

		if (io_pread(log->fd, a, want, off + at, &ga) < 0 ||
			io_pread(fd, b, want ? want : 1, at, &gb) < 0)
			same = -1;
		else if (ga != want || gb != want || memcmp(a, b, want) != 0)
			same = 0;
		else if (want == 0)
			break;
		at += want;
	}
	free(a);
	return same;
}

int aside_is_same(const struct log *log, const struct change *ch)
{
	return same_bytes(log, ch->base, ch->old_size - ch->base, ch->aside_fd);
}

/* Opens an existing copy that holds just the tail: one that an earlier, failed attempt left. */
static bool open_matching(const struct log *log, struct change *ch)
{
	struct log_id id;

	if (beside_open_read(ch->aside, &ch->aside_fd, &id, NULL) < 0)
		return false;
	if (id.size == ch->old_size - ch->base &&
		same_bytes(log, ch->base, id.size, ch->aside_fd) == 1)
		return true;
	io_close(&ch->aside_fd);
	return false;
}

static int copy_tail(const struct log *log, const struct change *ch, struct err *err)
{
	struct log_pub *pub = NULL;
	uint64_t at = ch->base;
	size_t got;
	char *chunk = sys->malloc(IO_CHUNK);
	int rc = chunk ? log_pub_begin(&pub, ch->aside, err) : io_no_memory(err);

	while (rc == 0 && at < ch->old_size) {
		uint64_t left = ch->old_size - at;
		size_t want = left < IO_CHUNK ? (size_t)left : IO_CHUNK;

		if (io_pread(log->fd, chunk, want, at, &got) < 0)
			rc = err_sys(err, "read %s", log->path);
		else if (got == 0)
			rc = err_set(err, ERR_CHANGED, "%s became shorter", log->path);
		else
			rc = log_pub_write(pub, chunk, got, err);
		at += got;
	}
	free(chunk);
	if (rc == 0)
		return log_pub_commit(&pub, err);
	log_pub_abort(&pub);
	return rc;
}

/*
 * Published like any whole file, so what stands under the name of a copy has
 * been synced; and read back, because it is all there is once the tail is cut.
 */
static int make_copy(const struct log *log, struct change *ch, struct err *err)
{
	int rc = copy_tail(log, ch, err);

	if (rc == 0 && !open_matching(log, ch))
		rc = err_set(err, ERR_IO, "%s can not be read back", ch->aside);
	return rc;
}

/* The copy is there from before; its name may never have been synced. */
static int keep_copy(const struct log *log, const struct change *ch, struct err *err)
{
	if (io_fsync(ch->aside_fd) < 0 || io_sync_dir(log->dir) < 0)
		return err_sys(err, "sync %s", ch->aside);
	return 0;
}

/* Is there a copy under this name already? 1: it can be used, 0: the name is free, -1: taken. */
static int try_existing(const struct log *log, struct change *ch, struct err *err)
{
	struct stat st;

	if (io_lstat(ch->aside, &st) == 0)
		return S_ISREG(st.st_mode) && open_matching(log, ch) ? 1 : -1;
	return errno == ENOENT ? 0 : err_sys(err, "look at %s", ch->aside);
}

int aside_make(const struct log *log, struct change *ch, struct err *err)
{
	unsigned i;

	for (i = 1; i < ASIDE_NAMES; i++) {
		struct err why = { 0 };
		int found, rc = aside_name(log, ch->base, i, ch->aside, err);

		if (rc < 0)
			return rc;
		found = try_existing(log, ch, &why);
		if (why.code)
			return err_hand_over(err, &why);
		if (found >= 0 && log->is_dry)
			return 0;
		if (found > 0)
			return keep_copy(log, ch, err);
		if (found < 0)
			continue;
		if (make_copy(log, ch, &why) == 0)
			return 0;
		if (why.code != ERR_EXISTS) /* else it was taken just now: the next name */
			return err_hand_over(err, &why);
	}
	return err_set(err, ERR_EXISTS, "%s: every name for its torn end is taken", log->path);
}

int aside_restore(const struct log *log, const struct change *ch, struct err *err)
{
	uint64_t n = ch->old_size - ch->base, at = 0;
	char *chunk = sys->malloc(IO_CHUNK);
	int rc = chunk ? 0 : io_no_memory(err);

	while (rc == 0 && at < n) {
		size_t want = n - at < IO_CHUNK ? (size_t)(n - at) : IO_CHUNK, got;

		if (io_pread(ch->aside_fd, chunk, want, at, &got) < 0)
			rc = err_sys(err, "read %s", ch->aside);
		else if (got != want)
			rc = err_set(err, ERR_CHANGED, "%s became shorter", ch->aside);
		else if (io_write(log->fd, chunk, got) < 0)
			rc = err_sys(err, "write %s", log->path);
		at += want;
	}
	free(chunk);
	return rc;
}
