/*
 * beside.c - opening what stands beside a session: bough's own state, a title,
 * a lock. Whoever may make names in that folder could plant a link there and
 * have its target read or written; so a name is looked up in the folder that
 * is open, no link is followed, and the file must be one that the user, root
 * or the owner of the folder made, under one name.
 */
#include "config.h"

#include "log/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"

static int open_dir(const char *path, struct stat *st, int *dir, struct err *err)
{
	char name[IO_PATH];

	io_dir(name, path);
	*dir = io_open(name, O_RDONLY | O_DIRECTORY, 0);
	if (*dir < 0) /* a folder that may be searched, but not read */
		*dir = io_open(name, O_PATH | O_DIRECTORY, 0);
	if (*dir < 0 || io_fstat(*dir, st) < 0)
		return err_sys(err, "look at %s", name);
	return 0;
}

static bool is_trusted_owner(const struct stat *st, const struct stat *dir)
{
	return st->st_uid == geteuid() || st->st_uid == 0 || st->st_uid == dir->st_uid;
}

static int check(const struct stat *st, const struct stat *dir, bool is_written, const char *path,
	struct err *err)
{
	int rc = io_regular(st, path, err);

	if (rc < 0)
		return rc;
	if (!is_trusted_owner(st, dir))
		return err_set(err, ERR_UNSUPPORTED, "%s belongs to another user", path);
	if (is_written && st->st_nlink > 1)
		return err_set(err, ERR_UNSUPPORTED,
			"%s has another name (a hard link), and what is written here would show "
			"there too",
			path);
	return 0;
}

/* Opening a device or a fifo can do things; so look before. */
static int look_before(const char *path, struct err *err)
{
	struct stat st;

	if (io_lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "look at %s", path);
	if (S_ISLNK(st.st_mode))
		return err_set(err, ERR_UNSUPPORTED, "%s is a symbolic link", path);
	return io_regular(&st, path, err);
}

static int open_in(
	int dir, const char *path, int flags, mode_t mode, int *fd, struct stat *st, struct err *err)
{
	*fd = io_openat(dir, path_base(path), flags | O_NOFOLLOW, mode);
	if (*fd < 0 && (errno == ELOOP || errno == EMLINK)) /* since the look */
		return err_set(err, ERR_UNSUPPORTED, "%s is a symbolic link", path);
	if (*fd < 0)
		return err_sys(err, "open %s", path);
	return io_fstat(*fd, st) < 0 ? err_sys(err, "look at %s", path) : 0;
}

int beside_open(const char *path, int flags, mode_t mode, int *fd, struct stat *st, struct err *err)
{
	bool is_written = (flags & O_ACCMODE) != O_RDONLY;
	struct stat folder;
	int dir = -1, rc = look_before(path, err);

	*fd = -1;
	if (rc == 0)
		rc = open_dir(path, &folder, &dir, err);
	if (rc == 0)
		rc = open_in(dir, path, flags, mode, fd, st, err);
	if (rc == 0)
		rc = check(st, &folder, is_written, path, err);
	io_close(&dir);
	if (rc < 0)
		io_close(fd);
	return rc;
}

int beside_open_read(const char *path, int *fd, struct log_id *id, struct err *err)
{
	struct stat st;
	int rc = beside_open(path, O_RDONLY, 0, fd, &st, err);

	if (rc == 0)
		io_id(&st, id);
	return rc;
}

int log_stat_beside(const char *path, struct log_id *out, struct err *err)
{
	struct stat st;

	memset(out, 0, sizeof(*out));
	if (io_lstat(path, &st) == 0) {
		io_id(&st, out);
		return 0;
	}
	if (errno == ENOENT || errno == ENOTDIR)
		return 0;
	return err_sys(err, "look at %s", path);
}
