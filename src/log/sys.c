/*
 * sys.c - the real table of system calls. Each function here is one call (or,
 * for fsync_dir, the three that belong together); retries, loops and messages
 * are made by the callers.
 */
#include "config.h"

#include "log/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#ifdef HAVE_SYS_VFS_H
#include <sys/vfs.h>
#endif
#include <unistd.h>

#include "base/clock.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif
#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

static int real_open(const char *path, int flags, mode_t mode)
{
	return open(path, flags, mode);
}

static int real_access(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}

static int rename_by(const char *from, const char *to, unsigned flags)
{
#ifdef HAVE_RENAMEAT2
	return renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
#elif defined(SYS_renameat2)
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
#else
	errno = ENOSYS;
	return -1;
#endif
}

static int real_rename_noreplace(const char *from, const char *to)
{
	return rename_by(from, to, RENAME_NOREPLACE);
}

static int real_rename_exchange(const char *a, const char *b)
{
	return rename_by(a, b, RENAME_EXCHANGE);
}

static int real_openat(int dir, const char *name, int flags, mode_t mode)
{
	return openat(dir, name, flags, mode);
}

static off_t real_next_data(int fd, off_t off)
{
#ifdef SEEK_DATA
	return lseek(fd, off, SEEK_DATA);
#else
	(void)fd;
	(void)off;
	errno = EINVAL;
	return -1;
#endif
}

static off_t real_tell(int fd)
{
	return lseek(fd, 0, SEEK_CUR);
}

/*
 * On Linux pwrite() through an O_APPEND descriptor appends, whatever the offset.
 * A second descriptor would not do: the lease wants this one to be the only one.
 */
static ssize_t real_overwrite(int fd, const void *p, size_t n, off_t off)
{
	int flags = fcntl(fd, F_GETFL), saved;
	ssize_t w;

	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_APPEND) < 0)
		return -1;
	w = pwrite(fd, p, n, off);
	saved = errno;
	if (fcntl(fd, F_SETFL, flags) < 0 && w >= 0)
		return -1;
	errno = saved;
	return w;
}

#if defined(F_SETLEASE) && defined(F_SETSIG) && defined(HAVE_SYS_VFS_H)
/* File systems whose files other machines may have open: what is known here proves nothing. */
static bool is_remote(int fd)
{
	static const unsigned long remote[] = {
		0x6969,     /* NFS */
		0xFF534D42, /* CIFS */
		0xFE534D42, /* SMB2 */
		0x517B,     /* SMB */
		0x01021997, /* 9P */
		0x65735546, /* FUSE */
		0x00C36400, /* Ceph */
		0x5346414F, /* AFS */
		0x6B414653, /* kAFS */
		0x73757245, /* Coda */
		0x0BD00BD0, /* Lustre */
		0x47504653, /* GPFS */
		0x01161970, /* GFS2 */
		0x7461636F, /* OCFS2 */
		0xBACBACBC, /* VMware shared folders */
		0x786F4256  /* VirtualBox shared folders */
	};
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return true;
	for (size_t i = 0; i < sizeof(remote) / sizeof(*remote); i++)
		if (((unsigned long)fs.f_type & 0xFFFFFFFF) == remote[i])
			return true;
	return false;
}

static int real_lease(int fd, int type)
{
	if (type == F_UNLCK)
		return fcntl(fd, F_SETLEASE, F_UNLCK);
	if (is_remote(fd)) {
		errno = ENOTSUP;
		return -1;
	}
	/* Who waits for the lease makes the kernel send a signal: one that nobody minds. */
	if (fcntl(fd, F_SETSIG, SIGURG) < 0)
		return -1;
	return fcntl(fd, F_SETLEASE, type);
}
#else
static int real_lease(int fd, int type)
{
	(void)fd;
	(void)type;
	errno = ENOTSUP;
	return -1;
}
#endif

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

/*
 * "12: FLOCK  ADVISORY  WRITE 7783 00:1a:2 0 EOF"; a waiting one has "->" first and is none. The
 * pid, 0 for one of another pid namespace; -1: this is not about the file.
 */
static long holder_in_line(const char *line, dev_t dev, ino_t ino)
{
	unsigned maj, min;
	unsigned long long number;
	long pid;

	if (sscanf(line, "%*d: FLOCK ADVISORY WRITE %ld %x:%x:%llu", &pid, &maj, &min, &number) !=
		4)
		return -1;
	if (maj != major(dev) || min != minor(dev) || number != ino)
		return -1;
	return pid > 0 ? pid : 0;
}

static long real_lock_holder(dev_t dev, ino_t ino)
{
	FILE *locks = fopen("/proc/locks", "re");
	char line[256];
	long pid = -1;

	while (locks && pid < 0 && fgets(line, sizeof(line), locks))
		pid = holder_in_line(line, dev, ino);
	if (locks)
		fclose(locks);
	return pid;
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
	.openat = real_openat,
	.readdir = readdir,
	.pread = pread,
	.next_data = real_next_data,
	.close = close,
	.write = write,
	.tell = real_tell,
	.overwrite = real_overwrite,
	.ftruncate = ftruncate,
	.fsync = fsync,
	.fdatasync = fdatasync,
	.fchmod = fchmod,
	.flock = flock,
	.lock_holder = real_lock_holder,
	.lease = real_lease,
	.link = link,
	.rename = rename,
	.rename_noreplace = real_rename_noreplace,
	.rename_exchange = real_rename_exchange,
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
