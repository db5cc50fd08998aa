/*
 * ops-append.c - entries that go into the session's own file: fork, retry, and
 * the repair that sets a torn tail aside and appends lost entries again.
 *
 * Order of a fork, and why. The session is locked and must be what was read.
 * Then the reflog gets the entry and is synced; only then the session does. An
 * agent that saves the whole file from its memory can wipe out the entry, but
 * not the knowledge of it. A crash between the two leaves an entry that is
 * reported as lost and can be appended again. When the second append fails the
 * first is taken back, so that nothing is reported that was never there.
 *
 * Entries that are lost already when a fork is made are written into the
 * reflog once more behind the new one: "lost" are the newest lines whose
 * entries miss, and the new entry must not hide them.
 */
#include "config.h"
#include "store/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "format/dsh/dsh.h"
#include "json/scan.h"
#include "json/value.h"
#include "store/ops-dsh.h"

/*
 * The session is locked and still what was read; ERR_CHANGED: look again. Blank
 * lines are passed over by all who read these files.
 */
static int lock_session(struct work *w, unsigned flags, struct log **log, struct err *err)
{
	int rc = log_open(log, w->path, LOG_BLANKS | flags, err);

	if (rc == 0)
		rc = log_expect(*log, w->fmt->file(w->s), err);
	if (rc < 0)
		log_close(log);
	return rc;
}

static int reflog_lines(struct work *w, struct str entry, struct buf *out, struct err *err)
{
	struct reflog *r = &w->reflog;
	int64_t now = clock_now_ms();
	int rc = 0;

	reflog_put_append(out, entry, now);
	for (size_t i = 0; i < r->nlost && rc == 0; i++) {
		struct buf raw = { 0 };

		rc = reflog_entry_bytes(r, r->lost[i], &raw, err);
		if (rc == 0)
			reflog_put_append(
				out, (struct str){ raw.p, raw.n }, r->lines[r->lost[i]].at);
		buf_release(&raw);
	}
	return rc;
}

/* The entry that could not be appended must not be missed later. */
static int take_back(struct log *reflog, const struct log_append_info *info, struct err *cause)
{
	struct err e = { 0 }, said = *cause;

	if (log_take_back(reflog, info, &e) == 0)
		return cause->code;
	err_clear(cause);
	err_set(cause, said.code,
		"%.120s; the reflog still names the entry, so it will show as lost: %.100s",
		said.text, e.text);
	cause->sys = said.sys;
	return cause->code;
}

static int append_logged(struct work *w, struct log *session, const struct buf *line,
	struct log_append_info *info, struct err *err)
{
	struct log *reflog = NULL;
	struct log_append_info note;
	struct buf lines = { 0 };
	struct err e = { 0 };
	int place, rc;

	rc = reflog_lock(&w->reflog, &reflog, &place, err);
	/* another bough wrote a line; or what is lost was not known: the session is locked now */
	if (rc == 0 && (!w->reflog.is_applied || w->is_under_way))
		reflog_apply(&w->reflog, w->s);
	if (rc == 0)
		rc = reflog_lines(w, (struct str){ line->p, line->n - 1 }, &lines, err);
	if (rc == 0)
		rc = log_append(
			reflog, w->reflog.file[place].committed, lines.p, lines.n, &note, err);
	if (rc < 0)
		goto out;
	/* the reflog is on stable storage: now the entry itself */
	work_let_go(w);
	rc = log_append(session, w->s->committed, line->p, line->n, info, &e);
	work_take_up(w);
	if (rc == ERR_BROKEN) { /* it may be there: the note must stay, too */
		err_hand_over(err, &e);
	} else if (rc < 0) {
		rc = take_back(reflog, &note, &e);
		err_hand_over(err, &e);
	}
out:
	log_close(&reflog);
	buf_release(&lines);
	return rc;
}

/* What a dry run shows: the missing newline, when there is none, goes first. */
static int show_lines(struct work *w, const struct buf *lines, struct done *d, struct err *err)
{
	char last = '\n';
	size_t got;
	int rc = 0;

	if (w->s->committed > 0)
		rc = w->s->ops->peek(w->s, w->s->committed - 1, &last, 1, &got, err);
	if (rc == 0 && last != '\n')
		buf_addc(&d->lines, '\n');
	buf_add(&d->lines, lines->p, lines->n);
	return rc;
}

static void say_forked(struct work *w, const struct new_entry *n, const struct fork_spec *spec,
	bool dry, const struct log_append_info *info, struct done *d)
{
	struct buf b = { 0 };

	buf_printf(&b, dry ? "would append %s" : "appended %s", short_id(str_of(n->id)).s);
	if (spec->is_retry)
		buf_printf(&b, " as another try");
	if (n->has_parent)
		buf_printf(&b, " under %s", short_id((struct str){ n->parent.p, n->parent.n }).s);
	else
		buf_adds(&b, " as a root");
	buf_adds(&b, dry ? "" : "; it is the tip");
	if (dry && w->s->is_torn)
		buf_printf(&b, "; the torn %llu bytes would be set aside",
			(unsigned long long)(w->s->size - w->s->committed));
	if (!dry && info->torn_bytes)
		buf_printf(&b, "; %llu torn byte%s in %s", (unsigned long long)info->torn_bytes,
			plural(info->torn_bytes, " is", "s are"), info->torn_path);
	done_say(d, "%s", b.p);
	buf_release(&b);
}

/*
 * An agent that saves the whole file may have read ours before it put its file
 * in the place of the one that we wrote to: then the entry is there, and must not
 * come twice. It is noted again, for the note was taken back.
 */
static int came_all_the_same(struct work *w, const struct new_entry *n, struct err *err)
{
	struct buf lines = { 0 };
	int rc = reflog_lines(w, (struct str){ n->line.p, n->line.n - 1 }, &lines, err);

	if (rc == 0)
		rc = reflog_write(&w->reflog, &lines, err);
	buf_release(&lines);
	return rc;
}

/* One try. ERR_CHANGED: somebody wrote between reading and locking. */
static int fork_once(struct work *w, const struct fork_spec *spec, const char *id, bool dry,
	struct done *d, struct err *err)
{
	struct log_append_info info = { 0 };
	struct new_entry n;
	struct log *log = NULL;
	int rc = new_entry_make(w, spec, id, &n, err);

	if (rc < 0)
		return rc;
	if (session_find(w->s, str_of(id)) != ENTRY_NONE) {
		rc = came_all_the_same(w, &n, err);
	} else if (dry) {
		rc = show_lines(w, &n.line, d, err);
	} else {
		rc = work_check_rest(w, w->s->is_torn, false, err);
		if (rc == 0)
			rc = lock_session(w, 0, &log, err);
		if (rc == 0)
			rc = append_logged(w, log, &n.line, &info, err);
		w->has_written = rc == 0;
		log_close(&log);
	}
	if (rc == 0) {
		done_set(d->entry, sizeof(d->entry), str_of(n.id));
		say_forked(w, &n, spec, dry, &info, d);
	}
	new_entry_release(&n);
	return rc;
}

/*
 * Done is done: a look that fails now can be taken again. The mark "new" is for
 * entries of others.
 */
static void look_at_own(struct work *w, struct str id)
{
	uint32_t entry;

	if (work_sync_entry(w, id, &entry, NULL) == 0)
		w->s->entries[entry].flags &= ~ENTRY_NEW;
}

int work_fork(
	struct work *w, const struct fork_spec *spec, bool dry, struct done *d, struct err *err)
{
	struct fork_spec now = *spec;
	struct buf id = { 0 };
	struct err e = { 0 };
	char new_id[37];
	int tries = 0, rc;

	done_begin(d);
	random_uuid4(new_id); /* one for all tries: then it can be seen whether it came */
	rc = work_check(w, FORMAT_APPEND, &e);
	if (rc == 0 && spec->at != ENTRY_NONE)
		rc = work_entry_id(w, spec->at, &id, &e);
	while (rc == 0) {
		if (spec->at == ENTRY_NONE)
			rc = work_sync(w, &e);
		else
			rc = work_sync_entry(w, (struct str){ id.p, id.n }, &now.at, &e);
		if (rc == 0)
			rc = fork_once(w, &now, new_id, dry, d, &e);
		if (rc != ERR_CHANGED || ++tries == OPS_TRIES)
			break;
		/* the agent wrote meanwhile: take that in, then hang under the same entry */
		err_clear(&e);
		rc = 0;
	}
	buf_release(&id);
	if (rc < 0)
		return err_hand_over(err, &e);
	if (!dry)
		look_at_own(w, str_of(d->entry));
	return 0;
}

/* ---- repair ---- */

/* Will the entry find its parent, in the file or before it among those appended again? */
static bool has_parent(struct work *w, struct str entry, size_t nbefore)
{
	static const char *const keys[] = { "parentId" };
	struct reflog *r = &w->reflog;
	struct json_scan sc;
	struct buf id = { 0 };
	struct str parent;
	bool found;

	if (json_scan(entry.p, entry.n, keys, 1, &sc) != JSON_OK || sc.field[0].type != JSON_STRING)
		return true; /* a root */
	json_string(json_raw(entry.p, &sc.field[0]), &id, SIZE_MAX);
	parent = (struct str){ id.p, id.n };
	found = session_find(w->s, parent) != ENTRY_NONE;
	for (size_t i = 0; i < nbefore && !found; i++)
		found = str_eq(parent, r->lines[r->lost[i]].entry);
	buf_release(&id);
	return found;
}

static int lost_lines(struct work *w, struct buf *out, size_t *norphans, struct err *err)
{
	struct reflog *r = &w->reflog;
	int rc = 0;

	*norphans = 0;
	for (size_t i = 0; i < r->nlost && rc == 0; i++) {
		size_t start = out->n;

		rc = reflog_entry_bytes(r, r->lost[i], out, err);
		if (rc == 0 && !has_parent(w, (struct str){ out->p + start, out->n - start }, i))
			(*norphans)++;
		buf_addc(out, '\n');
	}
	return rc;
}

static void say_repaired(struct work *w, size_t nlost, size_t norphans, bool dry,
	const struct log_append_info *info, struct done *d)
{
	struct buf b = { 0 };

	if (w->s->is_torn)
		buf_printf(&b,
			dry ? "would set %llu torn byte%s aside"
			    : "%llu torn byte%s set aside in %s",
			(unsigned long long)(w->s->size - w->s->committed),
			plural(w->s->size - w->s->committed, "", "s"), info->torn_path);
	if (nlost)
		buf_printf(&b, "%s%s %zu lost entr%s again", b.n ? "; " : "",
			dry ? "would append" : "appended", nlost, plural(nlost, "y", "ies"));
	if (norphans)
		buf_printf(&b, ", %zu without %s parent: it is gone", norphans,
			plural(norphans, "its", "their"));
	if (info->before_path[0])
		buf_printf(&b, "; the old file is %s", path_base(info->before_path));
	done_say(d, "%s", b.p);
	buf_release(&b);
}

static int repair_once(struct work *w, bool dry, struct done *d, struct err *err)
{
	struct log_append_info info = { 0 };
	struct buf lines = { 0 };
	struct log *log = NULL;
	size_t nlost, norphans = 0;
	int rc;

	if (reflog_trouble(&w->reflog)) /* it may have been for a moment */
		work_reapply(w);
	if (reflog_trouble(&w->reflog))
		return err_set(err, ERR_IO, "what is lost is not known: %s",
			reflog_trouble(&w->reflog));
	nlost = w->reflog.nlost;
	if (!w->s->is_torn && nlost == 0) {
		done_say(d, "nothing to repair");
		return 0;
	}
	rc = lost_lines(w, &lines, &norphans, err);
	if (rc == 0 && dry) {
		rc = nlost ? show_lines(w, &lines, d, err) : 0;
	} else if (rc == 0) {
		rc = work_check_rest(w, w->s->is_torn, false, err);
		if (rc == 0)
			rc = lock_session(w, LOG_ANEW, &log, err);
		work_let_go(w);
		if (rc == 0 && nlost)
			rc = log_append(log, w->s->committed, lines.p, lines.n, &info, err);
		else if (rc == 0)
			rc = log_set_aside(log, w->s->committed, &info, err);
		work_take_up(w);
		w->has_written = rc == 0;
		log_close(&log);
	}
	if (rc == 0) {
		done_set(d->path, sizeof(d->path), str_of(info.torn_path));
		say_repaired(w, nlost, norphans, dry, &info, d);
	}
	buf_release(&lines);
	return rc;
}

static int repair_log(struct work *w, bool dry, struct done *d, struct err *err)
{
	struct err e = { 0 };
	int tries = 0, rc;

	if (w->fmt == &format_dsh)
		return dsh_work_repair(w, dry, d, err);
	rc = work_check(w, FORMAT_REPAIR, err);
	if (rc < 0)
		return rc;
	do {
		err_clear(&e);
		rc = work_sync(w, &e);
		if (rc == 0)
			rc = repair_once(w, dry, d, &e);
	} while (rc == ERR_CHANGED && ++tries < OPS_TRIES);
	if (rc < 0)
		return err_hand_over(err, &e);
	if (!dry) /* done is done: a look that fails now can be taken again */
		work_sync(w, NULL);
	return 0;
}

int work_repair(struct work *w, bool dry, struct done *d, struct err *err)
{
	int rc;

	done_begin(d);
	rc = repair_log(w, dry, d, err);
	return rc < 0 ? rc : leftovers_drop(w, dry, d, err);
}
