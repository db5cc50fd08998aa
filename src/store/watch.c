/*
 * watch.c - tells that something changed in the folders of sessions. It says
 * neither what nor how: the refresh functions look. Where inotify is missing
 * or full the descriptor is -1 and the caller looks on a timer.
 */
#include "config.h"
#include "store/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_SYS_INOTIFY_H
#include <sys/inotify.h>
#endif

#include "base/xalloc.h"

struct watch {
	int fd;
	int *wd;
	size_t n, cap;
};

#ifdef HAVE_SYS_INOTIFY_H

enum {
	EVENTS = IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_CLOSE_WRITE | IN_DELETE |
		 IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB | IN_ONLYDIR
};

struct watch *watch_new(void)
{
	struct watch *w = xcalloc(1, sizeof(*w));

	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return w;
}

int watch_add(struct watch *w, const char *dir)
{
	int wd;

	if (w->fd < 0)
		return ERR_UNSUPPORTED;
	wd = inotify_add_watch(w->fd, dir, EVENTS);
	if (wd < 0)
		return ERR_IO;
	for (size_t i = 0; i < w->n; i++)
		if (w->wd[i] == wd) /* the same folder under another name */
			return 0;
	w->wd = xgrow(w->wd, &w->cap, w->n + 1, sizeof(*w->wd));
	w->wd[w->n++] = wd;
	return 0;
}

void watch_clear(struct watch *w)
{
	for (size_t i = 0; i < w->n; i++)
		inotify_rm_watch(w->fd, w->wd[i]);
	w->n = 0;
}

/* Staging files and torn tails are no sessions: writing them wakes nobody. */
static bool matters(const struct inotify_event *ev)
{
	if (ev->mask & IN_IGNORED)
		return false;
	if (ev->len == 0 || (ev->mask & IN_Q_OVERFLOW))
		return true;
	return ev->name[0] != '.' && !strstr(ev->name, ".torn-");
}

/* Everything that is queued is one change: a burst of writes wakes the caller once. */
bool watch_drain(struct watch *w)
{
	_Alignas(struct inotify_event) char buf[16384];
	bool changed = false;
	ssize_t n;

	if (w->fd < 0)
		return false;
	do {
		n = read(w->fd, buf, sizeof(buf));
		for (char *p = buf; n > 0 && p < buf + n;) {
			const struct inotify_event *ev = (const struct inotify_event *)p;

			changed = changed || matters(ev);
			p += sizeof(*ev) + ev->len;
		}
	} while (n > 0 || (n < 0 && errno == EINTR));
	return changed;
}

#else

struct watch *watch_new(void)
{
	struct watch *w = xcalloc(1, sizeof(*w));

	w->fd = -1;
	return w;
}

int watch_add(struct watch *w, const char *dir)
{
	return ERR_UNSUPPORTED;
}

void watch_clear(struct watch *w)
{
}

bool watch_drain(struct watch *w)
{
	return false;
}

#endif

int watch_fd(const struct watch *w)
{
	return w->fd;
}

void watch_free(struct watch **wp)
{
	if (!*wp)
		return;
	watch_clear(*wp);
	if ((*wp)->fd >= 0)
		close((*wp)->fd);
	free((*wp)->wd);
	free(*wp);
	*wp = NULL;
}
