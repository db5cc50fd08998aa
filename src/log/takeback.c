/*
 * takeback.c - an append that was acknowledged is cut off again, because what
 * it announced did not happen. Only the newest append of a handle that still
 * holds the lock, and only while nobody else touched the file.
 */
#include "config.h"

#include "log/internal.h"

int log_take_back(struct log *log, const struct log_append_info *info, struct err *err)
{
	struct change ch = { .aside_fd = -1 };
	struct err why = { 0 };
	int rc;

	if (log->is_dry)
		return 0;
	rc = log_expect(log, &info->id, err);
	if (rc < 0)
		return rc;
	if (info->off > info->id.size)
		return err_set(err, ERR_USAGE, "%s has no such append", log->path);
	ch.base = ch.old_size = info->off;
	ch.added = info->id.size - info->off;
	err_set(&why, ERR_CANCELLED, "an append is taken back");
	if (change_undo(log, &ch, &why) < 0)
		return err_hand_over(err, &why);
	if (log->id.size == 0) /* log_close removes it if this handle made it */
		log->has_appended = false;
	return 0;
}
