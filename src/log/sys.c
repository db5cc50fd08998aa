/*
 * sys.c - the real table of system calls. Each function here is one call (or,
 * for fsync_dir, the three that belong together); retries, loops and messages
 * are made by the callers.
 */
#include "config.h"

#include "log/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

static int real_open(const char *path, int flags, mode_t mode)
{
	return open(path, flags, mode);
}

static int real_access(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}

static int real_rename_noreplace(const char *from, const char *to)
{
#ifdef HAVE_RENAMEAT2
	return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
#elif defined(SYS_renameat2)
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
#else
	errno = ENOSYS;
	return -1;
#endif
}

/*
 * Some file systems (several network and FUSE ones) have no fsync for
 * directories and say EINVAL; there is nothing more to be had from them.
 */
static int real_fsync_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc, saved;

	if (fd < 0)
		return -1;
	rc = fsync(fd);
	saved = errno;
	close(fd);
	errno = saved;
	return rc < 0 && saved == EINVAL ? 0 : rc;
}

static int real_stat(const char *path, struct stat *st)
{
	return stat(path, st);
}

static int real_lstat(const char *path, struct stat *st)
{
	return lstat(path, st);
}

static int real_fstat(int fd, struct stat *st)
{
	return fstat(fd, st);
}

static int real_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	return pthread_create(thread, NULL, run, arg);
}

const struct sys sys_real = {
	.stat = real_stat,
	.lstat = real_lstat,
	.fstat = real_fstat,
	.access = real_access,
	.open = real_open,
	.pread = pread,
	.close = close,
	.write = write,
	.ftruncate = ftruncate,
	.fsync = fsync,
	.fdatasync = fdatasync,
	.fchmod = fchmod,
	.flock = flock,
	.link = link,
	.rename = rename,
	.rename_noreplace = real_rename_noreplace,
	.unlink = unlink,
	.mkdir = mkdir,
	.rmdir = rmdir,
	.fsync_dir = real_fsync_dir,
	.malloc = malloc,
	.realloc = realloc,
	.reserve = buf_try_reserve,
	.random = random_bytes,
	.thread = real_thread,
};

const struct sys *sys = &sys_real;

void sys_install(const struct sys *table)
{
	sys = table ? table : &sys_real;
}
