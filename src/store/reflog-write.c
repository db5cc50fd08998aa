/*
 * reflog-write.c - the lines that bough writes into a reflog, and the one way
 * they get there: locked, behind the last good line, synced. Where the folder
 * of the session can not be written the state folder takes them. A torn last
 * line is set aside by the log, never cut away.
 */
#include "config.h"
#include "store/internal.h"

#include "json/write.h"

void reflog_put_checkout(
	struct buf *out, struct str tip, struct str from, uint64_t entries, int64_t at)
{
	buf_adds(out, "{\"v\":1,\"op\":\"checkout\",\"tip\":");
	json_put_string(out, tip);
	buf_adds(out, ",\"from\":");
	if (from.p)
		json_put_string(out, from);
	else
		buf_adds(out, "null");
	buf_printf(out, ",\"entries\":%llu,\"at\":", (unsigned long long)entries);
	json_put_int(out, at);
	buf_adds(out, "}\n");
}

void reflog_put_label(struct buf *out, struct str entry, struct str text, int64_t at)
{
	buf_adds(out, "{\"v\":1,\"op\":\"label\",\"entry\":");
	json_put_string(out, entry);
	buf_adds(out, ",\"label\":");
	json_put_string(out, text);
	buf_adds(out, ",\"at\":");
	json_put_int(out, at);
	buf_adds(out, "}\n");
}

void reflog_put_append(struct buf *out, struct str entry_json, int64_t at)
{
	buf_adds(out, "{\"v\":1,\"op\":\"append\",\"entry\":");
	buf_addstr(out, entry_json);
	buf_adds(out, ",\"at\":");
	json_put_int(out, at);
	buf_adds(out, "}\n");
}

static int open_state(struct reflog *r, struct log **out, struct err *err)
{
	int rc;

	reflog_find_state(r, true);
	if (!r->file[REFLOG_STATE].path)
		return err_set(err, ERR_IO, "no place for a reflog: there is no home folder");
	rc = log_mkdirs(r->folder, err);
	if (rc == 0)
		rc = log_open(out, r->file[REFLOG_STATE].path, LOG_CREATE | LOG_BESIDE, err);
	return rc;
}

int reflog_lock(struct reflog *r, struct log **out, int *place, struct err *err)
{
	const char *beside = r->file[REFLOG_BESIDE].path;
	struct err e = { 0 };
	int rc = ERR_IO;

	*place = REFLOG_BESIDE;
	if (beside)
		rc = log_open(out, beside, LOG_CREATE | LOG_BESIDE, &e);
	if (!beside || (rc < 0 && err_is_denied(&e))) {
		*place = REFLOG_STATE;
		err_clear(&e);
		rc = open_state(r, out, &e);
	}
	if (rc < 0)
		return err_hand_over(err, &e);
	/* only lock holders write here: what is read now stays so until log_close */
	reflog_update(r);
	/* what could not be read has no known end: nothing may be appended to it */
	if (r->file[*place].unreadable)
		rc = err_set(err, ERR_IO, "%s", r->file[*place].unreadable);
	if (rc < 0)
		log_close(out);
	return rc;
}

int reflog_write(struct reflog *r, const struct buf *lines, struct err *err)
{
	struct log *log = NULL;
	struct log_append_info info;
	int place, rc;

	rc = reflog_lock(r, &log, &place, err);
	if (rc == 0)
		rc = log_append(log, r->file[place].committed, lines->p, lines->n, &info, err);
	log_close(&log);
	return rc;
}
