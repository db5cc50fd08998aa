/*
 * session-changes.c - checkout, label, fork, retry, repair, title, trash and
 * undo of one session. The store writes; here stand the questions, the editor
 * and the sentence that says what happened.
 *
 * An operation may read the file again before it writes, so every index from
 * before it is stale afterwards: the cursor is put back by id.
 */
#include "config.h"

#include "ui/session-changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "ui/internal.h"
#include "ui/outside.h"
#include "ui/view-session.h"
#include "ui/view.h"

#define NOTE_LINES 3 /* entries above the fork that the editor's header shows */

/* The id under the cursor as a C string, yours; NULL without a line. An id with a NUL is cut there. */
static char *cursor_id(struct view *v)
{
	uint32_t entry = session_cursor(v);
	struct str id;

	if (entry == ENTRY_NONE)
		return NULL;
	id = entry_id(session_of(v), entry);
	return xstrndup(id.p, id.n);
}

/* Say what came out; the cursor goes to `entry_id` or stays on its entry. */
static enum effect finish(struct view *v, int rc, struct done *done, const struct err *err,
	const char *stay)
{
	if (rc < 0)
		ui_error(v->ui, "%s", err->text);
	else
		ui_say(v->ui, "%s", done->said);
	session_more(v, rc == 0 && done->entry[0] ? done->entry : stay);
	done_release(done);
	return session_relaid(v);
}

/*
 * A row that stands for another session is none of this one's to change, and
 * one that a repair would add is not there yet.
 */
static bool is_not_here(struct view *v, uint32_t entry)
{
	unsigned flags = entry != ENTRY_NONE ? session_model(v)->entries[entry].flags : 0;

	if (flags & ENTRY_PROPOSED)
		ui_error(v->ui, "this is not in the file yet: r repairs the session");
	else if (flags & ENTRY_KIN)
		ui_error(v->ui, "this is another session; Enter opens it");
	return flags & (ENTRY_KIN | ENTRY_PROPOSED);
}

enum effect alter_checkout_entry(struct view *v, uint32_t entry)
{
	struct done done = { .said = "" };
	struct err err = { 0 };
	int rc;

	if (is_not_here(v, entry))
		return FX_REDRAW;
	rc = work_checkout(session_of(v)->w, entry, false, &done, &err);

	return finish(v, rc, &done, &err, NULL);
}

enum effect alter_checkout(struct view *v, const char *arg)
{
	return alter_checkout_entry(v, session_cursor(v));
}

enum effect alter_undo(struct view *v, const char *arg)
{
	struct done done = { .said = "" };
	struct err err = { 0 };
	char *stay = cursor_id(v);
	int rc = work_undo(session_of(v)->w, &done, &err);
	enum effect fx;

	done.entry[0] = '\0'; /* the cursor stays where the person looks */
	fx = finish(v, rc, &done, &err, stay);
	free(stay);
	return fx;
}

/* ---- labels and title ---- */

static enum effect label_done(struct view *v, const char *text)
{
	struct done done = { .said = "" };
	struct err err = { 0 };
	char *stay;
	enum effect fx;
	int rc;

	if (!text || session_cursor(v) == ENTRY_NONE)
		return FX_REDRAW;
	stay = cursor_id(v);
	rc = work_label(session_of(v)->w, session_cursor(v), str_of(text), false, &done, &err);
	fx = finish(v, rc, &done, &err, stay);
	free(stay);
	return fx;
}

enum effect alter_label(struct view *v, const char *arg)
{
	const struct label *old = session_label(session_model(v), session_cursor(v));
	char *initial = old ? xstrndup(old->text.p, old->text.n) : NULL;
	struct prompt_spec spec = { .label = "label: ", .initial = initial,
		.history = HISTORY_TEXT, .done = label_done };

	if (is_not_here(v, session_cursor(v))) {
		free(initial);
		return FX_REDRAW;
	}
	if (*arg) {
		free(initial);
		return label_done(v, arg);
	}
	prompt_open(v->ui, &spec);
	free(initial);
	return FX_REDRAW;
}

static enum effect rename_done(struct view *v, const char *text)
{
	struct done done = { .said = "" };
	struct err err = { 0 };
	char *stay;
	enum effect fx;
	int rc;

	if (!text)
		return FX_REDRAW;
	stay = cursor_id(v);
	rc = work_rename(session_of(v)->w, str_of(text), false, &done, &err);
	fx = finish(v, rc, &done, &err, stay);
	free(stay);
	return fx;
}

enum effect alter_rename(struct view *v, const char *arg)
{
	const struct str *old = session_meta(session_model(v), "title");
	char *initial = old ? xstrndup(old->p, old->n) : NULL;
	struct prompt_spec spec = { .label = "title: ", .initial = initial,
		.history = HISTORY_TEXT, .done = rename_done };

	if (*arg) {
		free(initial);
		return rename_done(v, arg);
	}
	prompt_open(v->ui, &spec);
	free(initial);
	return FX_REDRAW;
}

/* ---- forks ---- */

/* The last entries of the branch down to `at`, for the editor's header. */
static void note_branch(struct session_view *sv, uint32_t at, struct buf *notes)
{
	struct session *s = work_session(sv->w);
	uint32_t path[NOTE_LINES];
	size_t n = 0;
	struct buf text = { 0 }, who = { 0 };

	for (uint32_t e = at; e != ENTRY_NONE && n < NOTE_LINES; e = s->entries[e].parent)
		path[n++] = e;
	if (n > 0 && s->entries[path[n - 1]].parent != ENTRY_NONE)
		buf_adds(notes, "  ...\n");
	while (n-- > 0) {
		char id[64];
		buf_clear(&text);
		buf_clear(&who);
		if (s->ops->preview(s, path[n], 300, &text, &who, NULL) < 0)
			continue;
		buf_printf(notes, "  %-10s %-12s ", kind_name((enum entry_kind)s->entries[path[n]].kind),
			entry_short_id(sv, path[n], id));
		text_safe(notes, text.n ? text.p : "", text_fit(text.n ? text.p : "", text.n, 60, NULL,
			NULL), TEXT_ONE_LINE);
		buf_addc(notes, '\n');
	}
	buf_release(&text);
	buf_release(&who);
}

enum fork_kind { FORK_HERE, FORK_NEW, FORK_RETRY };

static void fork_notes(struct session_view *sv, uint32_t entry, enum fork_kind kind, struct buf *notes)
{
	struct session *s = work_session(sv->w);
	uint32_t above = kind == FORK_RETRY ? s->entries[entry].parent : entry;

	buf_adds(notes, kind == FORK_RETRY ? "Another version of this entry. It will stand below:\n" :
		kind == FORK_NEW ? "A new session with a copy of the branch down to:\n" :
		"A new entry. It will stand below:\n");
	if (above == ENTRY_NONE)
		buf_adds(notes, "  (nothing: it begins a tree of its own)\n");
	else
		note_branch(sv, above, notes);
	buf_adds(notes, kind == FORK_NEW ?
		"What you write becomes the copy's last entry. An empty text makes the plain copy;\n"
		"to make none, leave the editor with an error (vi: \":cq\").\n" :
		"It becomes the tip. An empty text changes nothing.\n");
	buf_adds(notes, "These lines are left out wherever they stand.\n");
}

/* The entry may have moved while the editor was open: find it again by its id. */
static int fork_write(struct view *v, const char *id, enum fork_kind kind, struct str text,
	struct done *done, struct err *err)
{
	struct fork_spec spec = { .is_retry = kind == FORK_RETRY, .content = text };
	struct session_view *sv = session_of(v);

	spec.at = session_find(session_model(v), str_of(id));
	if (spec.at == ENTRY_NONE)
		return err_set(err, ERR_NOTFOUND, "the entry is not in the file any more");
	return kind == FORK_NEW ? work_fork_new(sv->w, &spec, false, done, err) :
		work_fork(sv->w, &spec, false, done, err);
}

static enum effect go_to_fork(struct view *v, const char *id, const struct done *done)
{
	ui_say(v->ui, "%s", done->said);
	session_more(v, id);
	view_push(v->ui, &view_session, done->path);
	return FX_REDRAW;
}

/* What was written is not thrown away; its place comes first, for a long line is cut. */
static void say_kept(struct ui *ui, const struct composed *draft, const char *why)
{
	if (!draft->path)
		ui_error(ui, "%s", why);
	else
		ui_error(ui, "your text is kept in %s: %s", draft->path, why);
	if (draft->path && draft->ended_by)
		ui_last_words(ui, "your text is kept in %s", draft->path);
}

/* Asks for the text; false when there is none to be written, which is said. */
static bool fork_text(struct view *v, uint32_t entry, enum fork_kind kind, struct composed *draft)
{
	struct session_view *sv = session_of(v);
	struct buf notes = { 0 }, initial = { 0 };
	struct err err = { 0 }, said = { 0 };
	int rc = 0;

	fork_notes(sv, entry, kind, &notes);
	if (kind == FORK_RETRY)
		rc = work_content(sv->w, entry, &initial, &err);
	if (rc == 0)
		rc = outside_edit(v->ui, buf_str(&notes), buf_str(&initial), draft, &err);
	buf_release(&notes);
	buf_release(&initial);
	if (rc < 0) {
		err_set(&said, rc, "%s; nothing was changed", err.text);
		say_kept(v->ui, draft, said.text);
		return false;
	}
	if (kind == FORK_NEW || (draft->is_changed && draft->text.n > 0))
		return true;
	ui_say(v->ui, draft->is_changed ? "empty text: nothing was changed" :
		"the text came back unchanged: nothing was changed");
	compose_drop(draft);
	return false;
}

static enum effect fork_with(struct view *v, enum fork_kind kind)
{
	struct composed draft = { .path = NULL };
	struct done done = { .said = "" };
	struct err err = { 0 };
	char *id = cursor_id(v);
	enum effect fx = FX_REDRAW;
	int rc;

	if (!fork_text(v, session_cursor(v), kind, &draft))
		goto out;
	rc = fork_write(v, id, kind, (struct str){ draft.text.n ? draft.text.p : NULL, draft.text.n },
		&done, &err);
	if (rc == 0 || draft.text.n == 0)
		compose_drop(&draft);
	if (rc < 0) {
		say_kept(v->ui, &draft, err.text);
		session_more(v, id);
		fx = session_relaid(v);
	} else if (kind == FORK_NEW && done.path[0]) {
		fx = go_to_fork(v, id, &done);
	} else {
		ui_say(v->ui, "%s", done.said);
		session_more(v, done.entry);
		fx = session_relaid(v);
	}
out:
	free(id);
	done_release(&done);
	compose_release(&draft);
	return fx;
}

/* ---- what waits until the log rests ---- */

static enum effect repair_now(struct view *v)
{
	struct done done = { .said = "" };
	struct err err = { 0 };
	char *stay = cursor_id(v);
	enum effect fx;
	int rc;

	work_force(session_of(v)->w, true); /* the question named the last write */
	rc = work_repair(session_of(v)->w, false, &done, &err);
	work_force(session_of(v)->w, false);
	fx = finish(v, rc, &done, &err, stay);
	free(stay);
	return fx;
}

static enum effect copy_now(struct view *v, const char *id)
{
	struct done done = { .said = "" };
	struct err err = { 0 };
	int rc = fork_write(v, id, FORK_NEW, (struct str){ NULL, 0 }, &done, &err);
	enum effect fx;

	if (rc < 0)
		return finish(v, rc, &done, &err, id);
	fx = go_to_fork(v, id, &done);
	done_release(&done);
	return fx;
}

enum effect alter_awaited(struct view *v)
{
	struct session_view *sv = session_of(v);
	struct err err = { 0 };
	int rc = work_rests(sv->w, &err), what = sv->awaits;
	char *id;
	enum effect fx;

	if (rc == 1)
		return FX_NONE;
	sv->awaits = AWAITS_NOTHING;
	v->waits = false;
	id = xstrndup(sv->awaits_id.p, sv->awaits_id.n);
	if (rc < 0) {
		struct done none = { .said = "" };

		fx = finish(v, rc, &none, &err, id);
	} else {
		fx = what == AWAITS_REPAIR ? repair_now(v) : copy_now(v, id);
	}
	free(id);
	return fx;
}

/* The screen stays alive meanwhile: the step asks again. */
static enum effect await(struct view *v, int what)
{
	struct session_view *sv = session_of(v);
	char *id = cursor_id(v);
	uint32_t entry;
	enum effect fx;

	sv->awaits = what;
	buf_clear(&sv->awaits_id);
	buf_adds(&sv->awaits_id, id ? id : "");
	fx = alter_awaited(v);
	if (sv->awaits != AWAITS_NOTHING) {
		v->busy = v->waits = true;
		v->stopped = false;
		/* the first question has brought the session up to date */
		view_relayout(v);
		entry = session_find(session_model(v), str_of(id ? id : ""));
		if (entry != ENTRY_NONE)
			session_goto(v, entry);
		fx = FX_REDRAW | FX_PANE;
	}
	free(id);
	return fx;
}

bool alter_cancel(struct view *v)
{
	struct session_view *sv = session_of(v);

	if (sv->awaits == AWAITS_NOTHING)
		return false;
	sv->awaits = AWAITS_NOTHING;
	v->waits = false;
	work_rests_stop(sv->w);
	ui_say(v->ui, "nothing was changed");
	return true;
}

enum effect alter_fork(struct view *v, const char *arg)
{
	return fork_with(v, FORK_HERE);
}

enum effect alter_fork_new(struct view *v, const char *arg)
{
	const char *why;

	if (is_not_here(v, session_cursor(v)))
		return FX_REDRAW;
	/* a log of events takes no text of ours: then there is nothing to ask for */
	if (session_model(v)->ops->events && !work_can(session_of(v)->w, WORK_APPEND, &why))
		return await(v, AWAITS_FORK);
	return fork_with(v, FORK_NEW);
}

enum effect alter_retry(struct view *v, const char *arg)
{
	return fork_with(v, FORK_RETRY);
}

/* ---- repair, trash ---- */

static enum effect repair_done(struct view *v, const char *text)
{
	if (text)
		return await(v, AWAITS_REPAIR);
	ui_say(v->ui, "nothing was changed");
	return FX_REDRAW;
}

enum effect alter_repair(struct view *v, const char *arg)
{
	struct session_view *sv = session_of(v);
	struct prompt_spec spec = { .is_question = true, .done = repair_done };
	struct session *s = session_model(v);
	struct live_look live;
	char size[16], when[40];

	work_live(sv->w, &live);
	live_when(live.mtime, when);
	if (!s->is_torn && work_nlost(sv->w) == 0 && session_proposed(s) == 0) {
		snprintf(spec.label, sizeof(spec.label),
			"Remove what a writer that is gone left behind? (y/n) ");
	} else if (s->ops->events) {
		snprintf(spec.label, sizeof(spec.label), s->is_torn ?
			"Last %s. Set the torn end aside, keep what it gives? (y/n) " :
			"Last %s. Close the interrupted turn? (y/n) ", when);
	} else if (s->is_torn) {
		size_human(s->size - s->committed, size);
		snprintf(spec.label, sizeof(spec.label),
			"Last %s. Set the torn %s at the end aside? (y/n) ", when, size);
	} else {
		snprintf(spec.label, sizeof(spec.label), "Append %zu lost %s again? (y/n) ",
			work_nlost(sv->w), plural(work_nlost(sv->w), "entry", "entries"));
	}
	prompt_open(v->ui, &spec);
	return FX_REDRAW;
}

static enum effect trash_done(struct view *v, const char *text)
{
	struct ui *ui = v->ui;
	struct session_view *sv = session_of(v);
	struct done done = { .said = "" };
	struct err err = { 0 };

	if (!text) {
		ui_say(ui, "nothing was moved");
		return FX_REDRAW;
	}
	if (work_trash(&sv->w, false, &done, &err) < 0) {
		ui_error(ui, "%s", err.text);
		done_release(&done);
		return FX_REDRAW;
	}
	done_release(&ui->last_trash);
	ui->last_trash = done;
	if (v->below) {
		ui_say(ui, "moved %s to the trash; u takes it back", done.session);
		return FX_CLOSE;
	}
	return FX_QUIT;
}

enum effect alter_trash(struct view *v, const char *arg)
{
	struct prompt_spec spec = { .label = "Move this session to the trash? (y/n) ",
		.is_question = true, .done = trash_done };

	prompt_open(v->ui, &spec);
	return FX_REDRAW;
}
