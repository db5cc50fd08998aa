/*
 * ops-tip.c - checkout, label, and taking back: what only adds a line to the
 * reflog. The session's own file is not touched, so a session in a read-only
 * folder can have a tip and labels too.
 */
#include "config.h"
#include "store/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "base/xalloc.h"

enum { LABEL_MAX = 1000 };

/* Show the line, or write it and take in what it changes. */
static int put_line(
	struct work *w, const struct buf *line, bool dry, struct done *d, struct err *err)
{
	int rc;

	if (dry) {
		buf_add(&d->lines, line->p, line->n);
		return 0;
	}
	rc = reflog_write(&w->reflog, line, err);
	if (rc == 0)
		work_reapply(w);
	return rc;
}

/*
 * Is it known what the line would change? Else it is written whatever the state seems to be.
 * What could not be read may have been so for a moment.
 */
static bool knows_state(struct work *w)
{
	if (reflog_trouble(&w->reflog))
		work_reapply(w);
	return !reflog_trouble(&w->reflog);
}

/* The tip's id, or a slice without a pointer when there is no tip. */
static int tip_id(struct work *w, struct buf *id, struct str *out, struct err *err)
{
	*out = (struct str){ NULL, 0 };
	if (w->s->tip == ENTRY_NONE)
		return 0;
	if (work_entry_id(w, w->s->tip, id, err) < 0)
		return ERR_IO;
	*out = buf_str(id);
	return 0;
}

/* What a repair would add may never come: who goes on instead gives its id to something else. */
static int check_is_there(struct work *w, uint32_t entry, struct err *err)
{
	struct buf id = { 0 };

	if (!(w->s->entries[entry].flags & ENTRY_PROPOSED))
		return 0;
	work_entry_id(w, entry, &id, NULL);
	err_set(err, ERR_NOTFOUND, "%s is not in the file: a repair would add it",
		short_id(buf_str(&id)).s);
	buf_release(&id);
	return ERR_NOTFOUND;
}

/* `to` becomes the tip. *from gets the id of the one before. */
static int checkout(
	struct work *w, struct str to, bool dry, struct done *d, struct buf *from, struct err *err)
{
	struct buf line = { 0 };
	struct str before;
	uint32_t entry;
	bool is_known;
	int rc;

	rc = work_sync_entry(w, to, &entry, err);
	if (rc == 0)
		rc = check_is_there(w, entry, err);
	if (rc < 0)
		return rc;
	is_known = knows_state(w);
	rc = tip_id(w, from, &before, err);
	if (rc < 0)
		return rc;
	done_set(d->entry, sizeof(d->entry), to);
	/* also by the default rule: a line would hold nothing, the next append moves it */
	if (is_known && entry == w->s->tip) {
		done_say(d, "%s is the tip already", short_id(to).s);
		return 0;
	}
	reflog_put_checkout(&line, to, before, session_committed(w->s), clock_now_ms());
	rc = put_line(w, &line, dry, d, err);
	if (rc == 0)
		done_say(d,
			dry ? "would make %s the tip (it is %s)"
			    : "tip is now %s (was %s); u undoes",
			short_id(to).s, before.p ? short_id(before).s : "none");
	buf_release(&line);
	return rc;
}

int work_checkout(struct work *w, uint32_t entry, bool dry, struct done *d, struct err *err)
{
	struct buf id = { 0 }, from = { 0 };
	int rc;

	done_begin(d);
	rc = work_has(w, FORMAT_REFLOG, err);
	if (rc == 0)
		rc = work_entry_id(w, entry, &id, err);
	if (rc == 0)
		rc = checkout(w, buf_str(&id), dry, d, &from, err);
	if (rc == 0 && !dry && from.n > 0 && !str_eq(buf_str(&from), buf_str(&id))) {
		struct undo *u = undo_push(w, UNDO_CHECKOUT);

		u->entry = from;
		from = (struct buf){ 0 };
	}
	buf_release(&id);
	buf_release(&from);
	return rc;
}

/* *before and *was_set get the label that the entry had. 1: it is so already. */
static int label(struct work *w, struct str id, struct str text, bool dry, struct done *d,
	struct buf *before, bool *was_set, struct err *err)
{
	struct buf line = { 0 };
	const struct label *old;
	uint32_t entry;
	bool is_known;
	int rc;

	if (text.n > LABEL_MAX)
		return err_set(err, ERR_LIMIT, "a label has at most %d bytes", LABEL_MAX);
	if (utf8_valid_prefix(text.p, text.n) != text.n)
		return err_set(err, ERR_USAGE, "the label is not valid UTF-8");
	rc = work_sync_entry(w, id, &entry, err);
	if (rc == 0)
		rc = check_is_there(w, entry, err);
	if (rc < 0)
		return rc;
	done_set(d->entry, sizeof(d->entry), id);
	is_known = knows_state(w);
	old = session_label(w->s, entry);
	*was_set = old != NULL;
	if (old)
		buf_addstr(before, old->text);
	if (is_known && !old && text.n == 0) {
		done_say(d, "%s has no label", short_id(id).s);
		return 1;
	}
	if (is_known && old && str_eq(old->text, text)) {
		done_say(d, "%s is labelled [%.*s] already", short_id(id).s, (int)text.n, text.p);
		return 1;
	}
	reflog_put_label(&line, id, text, clock_now_ms());
	rc = put_line(w, &line, dry, d, err);
	if (rc == 0 && text.n)
		done_say(d, "%s [%.*s]%s", dry ? "would label the entry" : "labelled", (int)text.n,
			text.p, dry ? "" : "; u undoes");
	else if (rc == 0)
		done_say(d, "%s [%s]", dry ? "would remove the label" : "removed the label",
			before->n ? before->p : "");
	buf_release(&line);
	return rc;
}

int work_label(
	struct work *w, uint32_t entry, struct str text, bool dry, struct done *d, struct err *err)
{
	struct buf id = { 0 }, before = { 0 };
	bool was_set = false;
	int rc;

	done_begin(d);
	rc = work_has(w, FORMAT_REFLOG, err);
	if (rc == 0)
		rc = work_entry_id(w, entry, &id, err);
	if (rc == 0)
		rc = label(w, buf_str(&id), text, dry, d, &before, &was_set, err);
	if (rc == 0 && !dry) {
		struct undo *u = undo_push(w, UNDO_LABEL);

		u->entry = id;
		u->text = before;
		u->was_set = was_set;
		id = before = (struct buf){ 0 };
	}
	buf_release(&id);
	buf_release(&before);
	return rc < 0 ? rc : 0;
}

int work_undo(struct work *w, struct done *d, struct err *err)
{
	struct undo u;
	struct buf now = { 0 };
	bool was_set;
	int rc = ERR_UNSUPPORTED;

	done_begin(d);
	if (w->nundo == 0)
		return err_set(err, ERR_NOTFOUND, "nothing to undo");
	u = w->undo[w->nundo - 1];
	switch (u.op) {
	case UNDO_CHECKOUT:
		rc = checkout(w, buf_str(&u.entry), false, d, &now, err);
		if (rc == 0)
			done_say(d, "undone: the tip is %s again", short_id(buf_str(&u.entry)).s);
		break;
	case UNDO_LABEL:
		rc = label(w, buf_str(&u.entry), buf_str(&u.text), false, d, &now, &was_set, err);
		if (rc >= 0)
			done_say(d,
				u.was_set ? "undone: the label is [%.*s] again"
					  : "undone: the label is gone",
				(int)u.text.n, u.text.n ? u.text.p : "");
		break;
	case UNDO_TITLE:
		rc = title_set(w, u.was_set ? buf_str(&u.text) : (struct str){ NULL, 0 }, false, d,
			&now, &was_set, err);
		if (rc >= 0)
			done_say(d,
				u.was_set ? "undone: the title is \"%.*s\" again"
					  : "undone: the title is gone",
				(int)u.text.n, u.text.n ? u.text.p : "");
		break;
	}
	buf_release(&now);
	if (rc < 0)
		return rc;
	undo_release(&u);
	w->nundo--;
	return 0;
}
