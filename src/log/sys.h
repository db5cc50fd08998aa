/*
 * sys.h - the table of system calls that src/log goes through.
 *
 * Every call by which the module reads, writes, names, locks or allocates is a
 * member of `struct sys`. The program uses the real table; tests install one
 * that counts calls, fails them, cuts writes short or kills the process, and
 * so prove what doc/durability.md promises. The members behave like the calls
 * they are named after (-1 and errno on failure, where nothing else is said). Private to src/log; tests
 * may include it.
 */
#ifndef BOUGH_LOG_SYS_H
#define BOUGH_LOG_SYS_H

#include <dirent.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/buf.h"

struct sys {
	/* looking */
	int (*stat)(const char *path, struct stat *st);
	int (*lstat)(const char *path, struct stat *st);
	int (*fstat)(int fd, struct stat *st);
	int (*access)(const char *path, int mode);             /* with the effective ids */
	int (*open)(const char *path, int flags, mode_t mode); /* for reading and for writing */
	int (*openat)(int dir, const char *name, int flags, mode_t mode);
	struct dirent *(*readdir)(DIR *dir);
	ssize_t (*pread)(int fd, void *p, size_t n, off_t off);
	/* Where bytes stand that are no hole, from `off` on; ENXIO: nowhere. Reads nothing. */
	off_t (*next_data)(int fd, off_t off);
	int (*close)(int fd);

	/* bytes */
	ssize_t (*write)(int fd, const void *p, size_t n);
	off_t (*tell)(int fd); /* behind the last write: the only one who knows where it went */
	/* Over bytes that are there, also through a descriptor that appends. */
	ssize_t (*overwrite)(int fd, const void *p, size_t n, off_t off);
	int (*ftruncate)(int fd, off_t size);
	int (*fsync)(int fd);
	int (*fdatasync)(int fd);
	int (*fchmod)(int fd, mode_t mode);
	int (*flock)(int fd, int operation);
	/* Who holds an flock() on a file: a pid, 0 when it is not told; -1: nobody. */
	long (*lock_holder)(dev_t dev, ino_t ino);
	/*
	 * F_WRLCK: nobody else has the file open, and who opens it waits; F_RDLCK: the same for
	 * writers, on a descriptor that only reads; F_UNLCK gives it back. EAGAIN: somebody has it
	 * open. ENOTSUP where other machines may have it open without this one knowing.
	 */
	int (*lease)(int fd, int type);

	/* names */
	int (*link)(const char *from, const char *to);
	int (*rename)(const char *from, const char *to);
	int (*rename_noreplace)(const char *from, const char *to); /* EEXIST when `to` exists */
	int (*rename_exchange)(const char *a, const char *b); /* EINVAL where there is none */
	int (*unlink)(const char *path);
	int (*mkdir)(const char *path, mode_t mode);
	int (*rmdir)(const char *path);
	int (*fsync_dir)(const char *path);

	/* memory and random bytes */
	void *(*malloc)(size_t n);
	void *(*realloc)(void *p, size_t n);
	int (*reserve)(struct buf *b, size_t more); /* buf_try_reserve */
	void (*random)(void *p, size_t n);

	/* pthread_create without attributes: 0 or an error number */
	int (*thread)(pthread_t *thread, void *(*run)(void *arg), void *arg);
};

/* The table in use, never NULL. */
extern const struct sys *sys;
extern const struct sys sys_real;

/* NULL brings the real table back. For tests; not while another thread uses the module. */
void sys_install(const struct sys *table);

#endif
