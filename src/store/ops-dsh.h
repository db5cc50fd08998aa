/*
 * ops-dsh.h - what writes dsh logs shares: the locks that keep other writers
 * out, and the operations behind work_repair and work_fork_new.
 */
#ifndef BOUGH_STORE_OPS_DSH_H
#define BOUGH_STORE_OPS_DSH_H

#include "store/internal.h"

struct dsh_lock {
	struct log *log;    /* NULL when the log is only read and may not be written */
	struct log *beside; /* "session.lock", where a later harness left one; else NULL */
};
/* ERR_LOCKED, or ERR_CHANGED: the log is not what was read, so somebody is writing it. */
int dsh_lock(struct work *w, bool is_read, struct dsh_lock *lock, struct err *err);
void dsh_unlock(struct dsh_lock *lock);

/* rests.c: ERR_CHANGED, and the sentence for it. */
int dsh_being_written(struct work *w, struct err *err);
/* Is the file still what was read? A fresh one is watched for a moment, unless it has been. */
int dsh_wait_for_rest(struct work *w, struct err *err);

/* ops-convert.c: what the newest conversion that made this log left of the old one; yours, or NULL. */
char *convert_newest_old(const char *path);

int dsh_work_repair(struct work *w, bool dry, struct done *d, struct err *err);
int dsh_work_fork_new(
	struct work *w, const struct fork_spec *spec, bool dry, struct done *d, struct err *err);

#endif
