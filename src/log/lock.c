/*
 * lock.c - the advisory lock of a log, and who holds it. flock() belongs to the
 * open file, so two handles of one process conflict as two processes do, and a
 * killed process leaves no lock behind.
 */
#include "config.h"

#include "log/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sysmacros.h>

enum { LOCK_LINES_MAX = 1 << 20 }; /* bytes of /proc/locks that are looked at */

/* "12: FLOCK  ADVISORY  WRITE 7783 00:1a:2 0 EOF"; a waiting one has "->" first and is none. */
static long holder_in_line(const char *line, const struct log_id *id)
{
	unsigned maj, min;
	unsigned long long ino;
	long pid;

	if (sscanf(line, "%*d: FLOCK ADVISORY WRITE %ld %x:%x:%llu", &pid, &maj, &min, &ino) != 4)
		return 0;
	if (maj != major((dev_t)id->dev) || min != minor((dev_t)id->dev) || ino != id->ino)
		return 0;
	return pid > 0 ? pid : 0; /* 0: in another pid namespace */
}

/* The pid that holds the lock, or 0 when the system does not tell. */
static long lock_holder(const struct log_id *id)
{
	char text[4096 + 1];
	size_t have = 0, got;
	uint64_t off = 0;
	long pid = 0;
	int fd = io_open("/proc/locks", O_RDONLY, 0);

	if (fd < 0)
		return 0;
	while (!pid && off < LOCK_LINES_MAX) {
		char *line = text, *nl;

		if (io_pread(fd, text + have, sizeof(text) - 1 - have, off, &got) < 0 || got == 0)
			break;
		off += got;
		have += got;
		text[have] = '\0';
		while (!pid && (nl = strchr(line, '\n'))) {
			*nl = '\0';
			pid = holder_in_line(line, id);
			line = nl + 1;
		}
		have -= (size_t)(line - text);
		memmove(text, line, have);
		if (have == sizeof(text) - 1) /* no such line exists */
			break;
	}
	io_close(&fd);
	return pid;
}

int lock_take(int fd, const struct log_id *id, const char *path, struct err *err)
{
	long pid;

	if (io_flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return err_sys(err, "lock %s", path);
	pid = lock_holder(id);
	if (pid)
		return err_set(err, ERR_LOCKED, "process %ld is writing %s", pid, path);
	return err_set(err, ERR_LOCKED, "another process is writing %s", path);
}
