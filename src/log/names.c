/*
 * names.c - names of files and folders: list, move, remove, make folders, and
 * the question whether a folder can be written. Contents are none of its business.
 */
#include "config.h"

#include "log/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* EINVAL: the file system knows no exclusive rename. */
static bool has_no_exclusive_rename(int error)
{
	return error == EINVAL || error == ENOSYS || error == ENOTSUP || error == EOPNOTSUPP;
}

/* The old name goes only when the new one is durable. */
static int move_by_link(const char *from, const char *to, const char *to_dir, struct err *err)
{
	if (sys->link(from, to) < 0)
		return errno == EEXIST ? err_set(err, ERR_EXISTS, "%s exists already", to)
				       : err_sys(err, "move %s to %s", from, to);
	if (io_sync_dir(to_dir) == 0 && sys->unlink(from) == 0)
		return 0;
	err_sys(err, "move %s to %s", from, to);
	sys->unlink(to);
	return ERR_IO;
}

static int move_back(const char *from, const char *to, struct err *err)
{
	struct err why = { 0 };

	err_sys(&why, "sync the folder of %s", to);
	if (sys->rename_noreplace(to, from) == 0)
		return err_hand_over(err, &why);
	err_set(err, why.code, "%s was moved to %s, but a power cut may undo it: %s", from, to,
		why.text);
	if (err)
		err->sys = why.sys;
	return why.code;
}

int log_move(const char *from, const char *to, struct err *err)
{
	char from_path[IO_PATH], to_path[IO_PATH], from_dir[IO_PATH], to_dir[IO_PATH];
	int rc = io_path(from_path, from, err);

	if (rc == 0)
		rc = io_path(to_path, to, err);
	if (rc < 0)
		return rc;
	io_dir(from_dir, from_path);
	io_dir(to_dir, to_path);
	if (sys->rename_noreplace(from, to) < 0) {
		if (errno == EEXIST)
			return err_set(err, ERR_EXISTS, "%s exists already", to);
		if (!has_no_exclusive_rename(errno))
			return err_sys(err, "move %s to %s", from, to);
		rc = move_by_link(from, to, to_dir, err);
		if (rc < 0)
			return rc;
	}
	/* Where it went first: after a power cut it may be in both places, not in none. */
	if (io_sync_dir(to_dir) < 0 || (strcmp(from_dir, to_dir) != 0 && io_sync_dir(from_dir) < 0))
		return move_back(from, to, err);
	return 0;
}

DIR *log_open_folder(const char *path, struct err *err)
{
	int fd = io_open(path, O_RDONLY | O_DIRECTORY, 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir)
		err_sys(err, "read %s", path);
	if (!dir && fd >= 0)
		io_close(&fd);
	return dir;
}

int log_next_name(DIR *dir, const char *path, const struct dirent **de, struct err *err)
{
	errno = 0;
	*de = sys->readdir(dir);
	if (*de)
		return 1;
	return errno ? err_sys(err, "read %s", path) : 0;
}

int log_unlink(const char *path, struct err *err)
{
	char copy[IO_PATH], dir[IO_PATH];
	int rc = io_path(copy, path, err);

	if (rc < 0)
		return rc;
	io_dir(dir, copy);
	if (sys->unlink(path) < 0)
		return err_sys(err, "remove %s", path);
	if (io_sync_dir(dir) < 0)
		return err_sys(err, "%s is removed but a power cut may bring it back", path);
	return 0;
}

/* 1: a folder, 0: nothing there, or err. */
static int is_folder(const char *path, struct err *err)
{
	struct stat st;

	if (io_stat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "look at %s", path);
	if (S_ISDIR(st.st_mode))
		return 1;
	errno = ENOTDIR;
	return err_sys(err, "make the folder %s", path);
}

/* Length of the parent of p[0..n); 0 when that is the working folder. */
static size_t parent_length(const char *p, size_t n)
{
	while (n > 0 && p[n - 1] != '/')
		n--;
	while (n > 1 && p[n - 1] == '/')
		n--;
	return n;
}

/*
 * A level that is there may be the work of a process that was killed before
 * its sync; so it is synced too, where this process may.
 */
static int sync_level(const char *path, bool is_new, struct err *err)
{
	char dir[IO_PATH];

	io_dir(dir, path);
	if (io_sync_dir(dir) == 0 || (!is_new && (errno == EACCES || errno == EROFS)))
		return 0;
	return err_sys(err, "sync the folder of %s", path);
}

static int make_level(const char *path, struct err *err)
{
	int rc;

	if (sys->mkdir(path, 0700) < 0) {
		if (errno != EEXIST)
			return err_sys(err, "make the folder %s", path);
		rc = is_folder(path, err); /* somebody was quicker */
		if (rc < 0)
			return rc;
	}
	return sync_level(path, true, err);
}

/* Cuts the path at its slashes until what is left exists, then puts them back one by one. */
int log_mkdirs(const char *path, struct err *err)
{
	char level[IO_PATH];
	size_t n, up;
	int rc = io_path(level, path, err);

	if (rc < 0)
		return rc;
	for (n = strlen(level); n > 1 && level[n - 1] == '/'; n--)
		level[n - 1] = '\0';
	while ((rc = is_folder(level, err)) == 0) {
		up = parent_length(level, strlen(level));
		if (up == 0 || (up == 1 && level[0] == '/'))
			break;
		level[up] = '\0';
	}
	if (rc < 0)
		return rc;
	rc = rc > 0 ? sync_level(level, false, err) : make_level(level, err);
	while (rc == 0 && strlen(level) < n) {
		level[strlen(level)] = '/';
		rc = make_level(level, err);
	}
	return rc;
}

int log_mkdir_new(const char *path, struct err *err)
{
	char level[IO_PATH];
	int rc = io_path(level, path, err);

	if (rc < 0)
		return rc;
	if (sys->mkdir(level, 0700) < 0)
		return errno == EEXIST ? err_set(err, ERR_EXISTS, "%s exists already", path)
				       : err_sys(err, "make the folder %s", path);
	return sync_level(level, true, err);
}

void log_drop_dir(const char *path)
{
	int saved = errno;

	sys->rmdir(path);
	errno = saved;
}

int log_can_write(const char *dir, struct err *err)
{
	struct stat st;

	if (io_stat(dir, &st) < 0)
		return err_sys(err, "look at %s", dir);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, ERR_UNSUPPORTED, "%s is not a folder", dir);
	if (sys->access(dir, W_OK | X_OK) < 0)
		return err_sys(err, "write in %s", dir);
	return 0;
}
