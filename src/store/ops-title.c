/*
 * ops-title.c - the title in the sidecar. Other members of the sidecar stay as
 * they are; a sidecar that is no JSON object is never written over.
 *
 * The sidecar is replaced whole and only if it is still what was read, so no
 * lock is needed: of two writers one is told that the file changed.
 */
#include "config.h"
#include "store/internal.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "format/tree/tree.h"

enum { SIDECAR_MAX = 4 << 20, TITLE_MAX = 4096 };

static int read_sidecar(struct work *w, struct buf *text, struct log_id *id, struct err *err)
{
	struct err e = { 0 };
	int rc;

	*id = (struct log_id){ 0 };
	rc = log_read_beside(w->sidecar, SIDECAR_MAX, text, id, &e);
	if (rc < 0 && e.sys == ENOENT) {
		*id = (struct log_id){ 0 };
		return 0;
	}
	return rc < 0 ? err_hand_over(err, &e) : 0;
}

static int replace(struct work *w, struct str title, bool dry, struct done *d, struct err *err)
{
	struct buf old = { 0 }, text = { 0 };
	struct log_id id;
	struct err e = { 0 };
	int rc;

	rc = read_sidecar(w, &old, &id, err);
	if (rc < 0)
		goto out;
	rc = tree_sidecar_set((struct str){ old.p, old.n }, "title", title, &text, &e);
	if (rc < 0) {
		err_set(err, rc, "%s is not a JSON object, so nothing was written over it: %s",
			w->sidecar, e.text);
		goto out;
	}
	if (dry)
		buf_add(&d->lines, text.p, text.n);
	else
		rc = log_replace(w->sidecar, text.p, text.n, &id, err);
out:
	buf_release(&old);
	buf_release(&text);
	return rc;
}

int title_set(struct work *w, struct str title, bool dry, struct done *d, struct buf *before,
	bool *was_set, struct err *err)
{
	const struct str *old;
	int rc = work_has(w, FORMAT_TITLE, err);

	if (rc < 0)
		return rc;
	if (title.n > TITLE_MAX)
		return err_set(err, ERR_LIMIT, "a title has at most %d bytes", TITLE_MAX);
	if (utf8_valid_prefix(title.p, title.n) != title.n)
		return err_set(err, ERR_USAGE, "the title is not valid UTF-8");
	rc = work_sync(w, err);
	if (rc < 0)
		return rc;
	old = session_meta(w->s, "title");
	*was_set = old != NULL;
	if (old)
		buf_addstr(before, *old);
	if (old ? title.p && str_eq(*old, title) : !title.p)
		return 1;
	rc = replace(w, title, dry, d, err);
	if (rc < 0 || dry)
		return rc;
	work_read_sidecar(w);
	return 0;
}

int work_rename(struct work *w, struct str title, bool dry, struct done *d, struct err *err)
{
	struct buf before = { 0 };
	bool was_set = false;
	int rc;

	done_begin(d);
	if (title.n == 0)
		title.p = NULL; /* no title is no member */
	rc = title_set(w, title, dry, d, &before, &was_set, err);
	if (rc == 1)
		done_say(d, title.n ? "the title is \"%.*s\" already" : "there is no title",
			(int)title.n, title.n ? title.p : "");
	else if (rc == 0 && title.n)
		done_say(d,
			dry ? "would set the title \"%.*s\""
			    : "the title is now \"%.*s\"; u undoes",
			(int)title.n, title.p);
	else if (rc == 0)
		done_say(d, dry ? "would remove the title" : "the title is removed; u undoes");
	if (rc == 0 && !dry) {
		struct undo *u = undo_push(w, UNDO_TITLE);

		u->text = before;
		u->was_set = was_set;
		before = (struct buf){ 0 };
	}
	buf_release(&before);
	return rc < 0 ? rc : 0;
}
