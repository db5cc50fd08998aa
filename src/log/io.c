/*
 * io.c - system calls with what every caller needs around them: retries after
 * EINTR, continued short transfers, the refusal of everything that is not a
 * regular file. Knows nothing of lines, appends or publishing.
 */
#include "config.h"

#include "log/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

/* A signal storm must not become an endless loop. */
enum { EINTR_TRIES = 32, TRANSFER_MAX = 1 << 30 };
enum { LEASE_WAIT_MS = 5, LEASE_WAITS = 400 };
/* So often is a part with NULs read again beside a writer that does not pause. */
enum { CHANGING_TRIES = 64 };

static bool again(long result, int *tries)
{
	return result < 0 && errno == EINTR && ++*tries < EINTR_TRIES;
}

int io_stat(const char *path, struct stat *st)
{
	int rc, tries = 0;

	do
		rc = sys->stat(path, st);
	while (again(rc, &tries));
	return rc;
}

int io_lstat(const char *path, struct stat *st)
{
	int rc, tries = 0;

	do
		rc = sys->lstat(path, st);
	while (again(rc, &tries));
	return rc;
}

int io_fstat(int fd, struct stat *st)
{
	int rc, tries = 0;

	do
		rc = sys->fstat(fd, st);
	while (again(rc, &tries));
	return rc;
}

/*
 * EAGAIN from an open: another bough keeps everybody out for a moment. It is
 * waited for, a bounded time, as an open without O_NONBLOCK would.
 */
static bool again_open(int fd, int *tries, int *waits)
{
	struct timespec pause = { .tv_nsec = LEASE_WAIT_MS * 1000000L };

	if (fd >= 0 || errno != EAGAIN)
		return again(fd, tries);
	if (++*waits > LEASE_WAITS)
		return false;
	nanosleep(&pause, NULL);
	return true;
}

static int open_once(const char *path, int flags, mode_t mode)
{
	int fd, tries = 0, waits = 0;

	if (flags & O_CREAT) /* makes a name: not repeated */
		return sys->open(path, flags, mode);
	do
		fd = sys->open(path, flags, mode);
	while (again_open(fd, &tries, &waits));
	return fd;
}

int io_open(const char *path, int flags, mode_t mode)
{
	int fd;

	flags |= O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	if (!(flags & O_CREAT)) {
		fd = open_once(path, flags | O_NOATIME, mode);
		if (fd >= 0 || errno != EPERM) /* EPERM: the file belongs to someone else */
			return fd;
	}
	return open_once(path, flags, mode);
}

int io_openat(int dir, const char *name, int flags, mode_t mode)
{
	int fd, tries = 0, waits = 0;

	flags |= O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	if (flags & O_CREAT)
		return sys->openat(dir, name, flags, mode);
	do
		fd = sys->openat(dir, name, flags | O_NOATIME, mode);
	while (again_open(fd, &tries, &waits));
	return fd >= 0 || errno != EPERM ? fd : sys->openat(dir, name, flags, mode);
}

void io_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		sys->close(*fd);
	*fd = -1;
	errno = saved;
}

int io_pread(int fd, void *p, size_t n, uint64_t off, size_t *got)
{
	char *to = p;
	int tries = 0;

	*got = 0;
	while (*got < n) {
		size_t want = n - *got < TRANSFER_MAX ? n - *got : TRANSFER_MAX;
		ssize_t r = sys->pread(fd, to + *got, want, (off_t)(off + *got));

		if (again(r, &tries))
			continue;
		if (r < 0)
			return -1;
		if (r == 0)
			break;
		*got += (size_t)r;
		tries = 0;
	}
	return 0;
}

/* What was read lies within the file as it is now. */
static int cut_to_size(int fd, uint64_t off, size_t *got, struct log_id *now)
{
	struct stat st;

	if (io_fstat(fd, &st) < 0)
		return -1;
	io_id(&st, now);
	if (now->size < off)
		*got = 0;
	else if (*got > now->size - off)
		*got = (size_t)(now->size - off);
	return 0;
}

/*
 * A writer that takes bytes back shortens the file, and Linux clears the end
 * of the last page while a reader may still be copying it: the reader then
 * sees NULs that never stood in the file. Bytes behind the new end are left
 * out; where the file has grown over them again, NULs count only once they
 * have been read while the file stood still.
 */
int io_pread_beside_writer(
	int fd, void *p, size_t n, uint64_t off, size_t *got, const struct log_id *known)
{
	struct log_id before = *known, after;
	int tries = 0;

	for (;;) {
		if (io_pread(fd, p, n, off, got) < 0 || cut_to_size(fd, off, got, &after) < 0)
			return -1;
		if (after.size == before.size && after.mtime_ns == before.mtime_ns)
			return 0;
		if (!memchr(p, 0, *got) || ++tries > CHANGING_TRIES)
			return 0;
		before = after;
	}
}

/*
 * EINTR is an error here: that none of the bytes went out before the signal is
 * a promise that not every file system keeps, and a repeated write would then
 * double them. The caller knows how to take the whole write back.
 */
int io_write(int fd, const void *p, size_t n)
{
	const char *from = p;

	while (n > 0) {
		ssize_t w = sys->write(fd, from, n);

		if (w == 0) /* not for a regular file and n > 0; never spin on it */
			errno = EIO;
		if (w <= 0)
			return -1;
		from += w;
		n -= (size_t)w;
	}
	return 0;
}

/*
 * By O_APPEND, and noting where: beside another writer only the position behind
 * each write tells.
 */
int io_write_placed(int fd, const void *p, size_t n, struct placed *out)
{
	const char *from = p;

	while (out->n < n) {
		ssize_t w = sys->write(fd, from + out->n, n - out->n);
		off_t end;

		if (w == 0)
			errno = EIO;
		if (w <= 0)
			return -1;
		end = sys->tell(fd);
		if (end < w) { /* then it is where it was to go, or nowhere */
			out->n += (size_t)w;
			errno = end < 0 ? errno : EIO;
			return -1;
		}
		if (out->n == 0)
			out->at = (uint64_t)(end - w);
		else if (out->at + out->n != (uint64_t)(end - w))
			out->is_split = true;
		out->n += (size_t)w;
		if (out->is_split) {
			errno = EBUSY;
			return -1;
		}
	}
	return 0;
}

int io_overwrite(int fd, const void *p, size_t n, uint64_t off)
{
	const char *from = p;

	while (n > 0) {
		ssize_t w = sys->overwrite(fd, from, n, (off_t)off);

		if (w == 0)
			errno = EIO;
		if (w <= 0)
			return -1;
		from += w;
		off += (uint64_t)w;
		n -= (size_t)w;
	}
	return 0;
}

int io_fsync(int fd)
{
	int rc, tries = 0;

	do
		rc = sys->fsync(fd);
	while (again(rc, &tries));
	return rc;
}

int io_fdatasync(int fd)
{
	int rc, tries = 0;

	do
		rc = sys->fdatasync(fd);
	while (again(rc, &tries));
	return rc;
}

int io_ftruncate(int fd, uint64_t size)
{
	int rc, tries = 0;

	do
		rc = sys->ftruncate(fd, (off_t)size);
	while (again(rc, &tries));
	return rc;
}

int io_flock(int fd, int operation)
{
	int rc, tries = 0;

	do
		rc = sys->flock(fd, operation);
	while (again(rc, &tries));
	return rc;
}

int io_sync_dir(const char *dir)
{
	int rc, tries = 0;

	do
		rc = sys->fsync_dir(dir);
	while (again(rc, &tries));
	return rc;
}

void io_id(const struct stat *st, struct log_id *id)
{
	id->dev = (uint64_t)st->st_dev;
	id->ino = (uint64_t)st->st_ino;
	id->size = (uint64_t)st->st_size;
	id->mtime_ns = (int64_t)((uint64_t)st->st_mtim.tv_sec * 1000000000u +
				 (uint64_t)st->st_mtim.tv_nsec);
	id->exists = true;
}

bool io_same(const struct log_id *a, const struct log_id *b)
{
	return log_compare(a, b) == LOG_SAME;
}

const char *log_kind(mode_t mode)
{
	if (S_ISREG(mode))
		return "a file";
	if (S_ISDIR(mode))
		return "a folder";
	if (S_ISFIFO(mode))
		return "a fifo";
	if (S_ISSOCK(mode))
		return "a socket";
	if (S_ISCHR(mode) || S_ISBLK(mode))
		return "a device";
	return "not a regular file";
}

int io_regular(const struct stat *st, const char *path, struct err *err)
{
	if (S_ISREG(st->st_mode))
		return 0;
	return err_set(err, ERR_UNSUPPORTED, "%s is %s", path, log_kind(st->st_mode));
}

int io_open_regular(const char *path, int *fd, struct log_id *id, struct err *err)
{
	struct stat st;
	int rc;

	*fd = -1;
	/* Opening a device or a fifo can do things; so look before. */
	if (io_stat(path, &st) < 0)
		return err_sys(err, "read %s", path);
	if ((rc = io_regular(&st, path, err)) < 0)
		return rc;
	*fd = io_open(path, O_RDONLY, 0);
	if (*fd < 0)
		return err_sys(err, "open %s", path);
	/* The name may have changed hands since the look. */
	if (io_fstat(*fd, &st) < 0)
		rc = err_sys(err, "read %s", path);
	else
		rc = io_regular(&st, path, err);
	if (rc < 0)
		io_close(fd);
	else
		io_id(&st, id);
	return rc;
}

int io_printf_path(char out[IO_PATH], struct err *err, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(out, IO_PATH, fmt, ap);
	va_end(ap);
	if (n >= 0 && n < IO_PATH)
		return 0;
	errno = ENAMETOOLONG;
	return err_sys(err, "a path of %d bytes", n);
}

int io_path(char out[IO_PATH], const char *path, struct err *err)
{
	return io_printf_path(out, err, "%s", path);
}

void io_dir(char out[IO_PATH], const char *path)
{
	size_t n = strlen(path);

	while (n > 0 && path[n - 1] != '/')
		n--;
	while (n > 1 && path[n - 1] == '/')
		n--;
	if (n == 0) {
		strcpy(out, ".");
		return;
	}
	memcpy(out, path, n);
	out[n] = '\0';
}

int io_no_memory(struct err *err)
{
	return err_set(err, ERR_NOMEM, "out of memory");
}
