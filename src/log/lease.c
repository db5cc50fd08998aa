/*
 * lease.c - is a file open anywhere else, and keeping others out of it for a
 * moment. Most writers of sessions take no lock; the lease is the one thing by
 * which the system itself tells of them, and makes them wait.
 */
#include "config.h"

#include "log/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* No lease is to be had at all: another owner's file, another machine's, another system. */
static bool is_impossible(int error)
{
	return error == EACCES || error == EPERM || error == EINVAL || error == ENOSYS ||
	       error == ENOLCK || error == ENOTSUP || error == EOPNOTSUPP;
}

int lease_take(int fd, const char *path, struct err *err)
{
	if (sys->lease(fd, F_WRLCK) == 0)
		return 0;
	if (errno == EAGAIN)
		return err_set(err, ERR_LOCKED, "%s is open in another process", path);
	if (is_impossible(errno))
		return err_set(err, ERR_UNSUPPORTED,
			"the system can not say whether another process has %s open", path);
	return err_sys(err, "keep others out of %s", path);
}

void lease_give(int fd)
{
	int saved = errno;

	sys->lease(fd, F_UNLCK);
	errno = saved;
}

bool lease_has_writer(int fd)
{
	if (sys->lease(fd, F_RDLCK) < 0)
		return errno == EAGAIN;
	lease_give(fd);
	return false;
}

int log_look_use(const char *path, struct log_use *out, struct err *err)
{
	struct log_id id;
	int fd, rc = io_open_regular(path, &fd, &id, err);

	*out = (struct log_use){ 0 };
	if (rc < 0)
		return rc;
	out->is_locked = lock_is_held(&id, &out->pid);
	out->is_open = lease_has_writer(fd);
	io_close(&fd);
	return 0;
}
