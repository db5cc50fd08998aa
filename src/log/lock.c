/*
 * lock.c - the advisory lock of a log, and who holds it. flock() belongs to the
 * open file, so two handles of one process conflict as two processes do, and a
 * killed process leaves no lock behind.
 */
#include "config.h"

#include "log/internal.h"

#include <errno.h>
#include <sys/file.h>

bool lock_is_held(const struct log_id *id, long *holder)
{
	long pid = sys->lock_holder((dev_t)id->dev, (ino_t)id->ino);

	*holder = pid > 0 ? pid : 0;
	return pid >= 0;
}

int lock_take(int fd, const struct log_id *id, const char *path, struct err *err)
{
	long pid;

	if (io_flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return err_sys(err, "lock %s", path);
	lock_is_held(id, &pid);
	if (pid)
		return err_set(err, ERR_LOCKED, "process %ld is writing %s", pid, path);
	return err_set(err, ERR_LOCKED, "another process is writing %s", path);
}
