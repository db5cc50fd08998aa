/*
 * leftover.c - temporary files of publish.c whose writer is gone: which names
 * they have, whether anything holds one, and their removal. Whose they are is
 * the caller's to know.
 *
 * A publisher holds a lock on its temporary file from its creation until the
 * name is gone; whoever removes takes the same lock first, so neither can come
 * in between the other's look and act.
 */
#include "config.h"

#include "log/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"

enum { HEX = 12, YOUNG_MS = 60000 };

/* ".<name>.<12 hex><end>" */
static bool has_form(const char *name, const char *end, size_t *n)
{
	size_t all = strlen(name), tail = 1 + HEX + strlen(end);
	const char *hex;

	if (name[0] != '.' || all < 2 + tail || strcmp(name + all - strlen(end), end) != 0)
		return false;
	hex = name + all - tail + 1;
	if (hex[-1] != '.' || strspn(hex, "0123456789abcdef") != HEX)
		return false;
	*n = all - tail - 1;
	return true;
}

bool log_is_leftover(const char *name, size_t *n)
{
	return has_form(name, TEMP_END, n);
}

bool log_is_set_aside(const char *name, size_t *n)
{
	return has_form(name, OLD_END, n);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Only what a publisher of this user can have made. */
static int check_kind(const char *path, struct stat *st, struct err *err)
{
	if (io_lstat(path, st) < 0)
		return err_sys(err, "look at %s", path);
	if (S_ISLNK(st->st_mode))
		return err_set(err, ERR_UNSUPPORTED, "%s is a symbolic link", path);
	if (st->st_uid != geteuid())
		return err_set(err, ERR_UNSUPPORTED, "%s belongs to another user", path);
	return io_regular(st, path, err);
}

/* Where the system can not tell who has it open: its writer may take no lock. */
static int check_age(const char *path, const struct stat *st, struct err *err)
{
	int64_t at = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;

	if (!clock_is_near(at, YOUNG_MS))
		return 0;
	return err_set(err, ERR_LOCKED, "%s was written within the last minute", path);
}

/*
 * Versions of bough that took no lock had the file open all the same. A second
 * name of a complete file is needed by nobody, whoever has that open.
 */
static int check_unopened(int fd, const char *path, const struct stat *st, struct err *err)
{
	struct err why = { 0 };
	int rc = st->st_nlink > 1 ? 0 : lease_take(fd, path, &why);

	if (rc == ERR_UNSUPPORTED)
		return check_age(path, st, err);
	return rc < 0 ? err_hand_over(err, &why) : 0;
}

/* It is the file that was looked at, nothing holds it, and until it is closed nothing can. */
static int hold(int fd, const char *path, const struct stat *seen, struct err *err)
{
	struct stat st;

	if (io_fstat(fd, &st) < 0)
		return err_sys(err, "look at %s", path);
	if (!is_same_file(&st, seen))
		return err_set(err, ERR_CHANGED, "%s was changed by another process", path);
	if (io_flock(fd, LOCK_EX | LOCK_NB) == 0)
		return check_unopened(fd, path, &st, err);
	if (errno != EWOULDBLOCK)
		return err_sys(err, "lock %s", path);
	return err_set(err, ERR_LOCKED, "another process is writing %s", path);
}

static int remove_name(const char *path, const struct stat *seen, struct err *err)
{
	struct stat st;

	if (io_lstat(path, &st) < 0)
		return err_sys(err, "look at %s", path);
	if (!is_same_file(&st, seen))
		return err_set(err, ERR_CHANGED, "%s was changed by another process", path);
	return log_unlink(path, err);
}

int log_drop_leftover(const char *path, bool dry, struct err *err)
{
	struct stat seen;
	size_t n;
	int fd, rc;

	if (!log_is_leftover(path_base(path), &n))
		return err_set(err, ERR_USAGE, "%s is no temporary file of ours", path);
	rc = check_kind(path, &seen, err);
	if (rc < 0)
		return rc;
	fd = io_open(path, O_RDONLY | O_NOFOLLOW, 0);
	if (fd < 0)
		return err_sys(err, "open %s", path);
	rc = hold(fd, path, &seen, err);
	if (rc == 0 && !dry)
		rc = remove_name(path, &seen, err);
	io_close(&fd);
	return rc;
}
