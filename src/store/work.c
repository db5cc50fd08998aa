/*
 * work.c - one open session: loading by steps, what the reflog adds to it, and
 * looking again after a change on disk. It writes nothing.
 */
#include "config.h"
#include "store/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"
#include "format/dsh/dsh.h"
#include "format/flow/flow.h"
#include "format/tree/tree.h"

enum {
	UNDER_WAY_MS = 20, /* between two looks at an append of another bough, */
	UNDER_WAY_TRIES = 100, /* for two seconds */
	STEP_US = 50000,   /* one step of work_load */
	REFRESH_US = 50000 /* what a refresh reads at once, so that it can count */
};

bool log_id_differs(const struct log_id *a, const struct log_id *b)
{
	return a->exists != b->exists || (a->exists && log_compare(a, b) != LOG_SAME);
}

static int open_session(struct work *w, struct session **out, struct err *err)
{
	int rc = w->fmt->open(w->path, out, err);

	if (rc < 0)
		session_free(out);
	return rc;
}

/*
 * The one path of a session, from whichever form it was given in: made once, so that what stands
 * beside it, its state and its lock are the same for all, also after the working folder changed.
 */
static char *canonical_path(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : xstrdup(path); /* gone, or not to be looked at: opening it says so */
}

int work_open_as(struct work **out, const struct format *fmt, const char *path, struct err *err)
{
	struct work *w = xcalloc(1, sizeof(*w));
	int rc;

	*out = NULL;
	w->fmt = fmt;
	w->refresh_us = REFRESH_US;
	w->path = canonical_path(path);
	w->dir = path_dir(w->path);
	rc = open_session(w, &w->s, err);
	if (rc < 0) {
		work_close(&w);
		return rc;
	}
	if (fmt == &format_tree) {
		w->sidecar = tree_sidecar_path(w->path);
		log_stat(w->sidecar, &w->sidecar_id, NULL);
	}
	reflog_init(&w->reflog, w->path, fmt);
	*out = w;
	return 0;
}

int work_open(struct work **out, const char *path, struct err *err)
{
	const struct format *fmt = format_detect(path, err);

	*out = NULL;
	if (!fmt)
		return err && err->code ? err->code : ERR_UNSUPPORTED;
	return work_open_as(out, fmt, path, err);
}

void work_close(struct work **wp)
{
	struct work *w = *wp;

	if (!w)
		return;
	session_free(&w->s);
	session_free(&w->old);
	reflog_release(&w->reflog);
	for (size_t i = 0; i < w->nundo; i++)
		undo_release(&w->undo[i]);
	arena_free(&w->parents_arena);
	buf_release(&w->tip);
	leftovers_release(w);
	free(w->undo);
	free(w->sidecar);
	free(w->path);
	free(w->dir);
	free(w);
	*wp = NULL;
}

struct session *work_session(struct work *w)
{
	return w->s;
}

static int load_step(struct work *w, unsigned budget_us, struct err *err)
{
	int rc;

	if (w->is_loaded)
		return 0;
	rc = w->fmt->step(w->s, budget_us, err);
	if (rc == 0) {
		work_reapply(w);
		w->is_loaded = true;
		if (w->notes_leftovers)
			leftovers_note(w);
	}
	return rc;
}

int work_step(struct work *w, unsigned budget_us, struct err *err)
{
	bool was_loaded = w->is_loaded;
	int rc = load_step(w, budget_us, err);

	/* a large file took longer than a refresh may; that it is read was said then */
	if (rc == 0 && !was_loaded && w->old)
		news_settle(w, &(struct news){ .how = FILE_REPLACED });
	return rc;
}

void work_progress(const struct work *w, uint64_t *done, uint64_t *all)
{
	*done = w->s->size;
	*all = w->fmt->file(w->s)->size;
}

static int load_all(struct work *w, struct err *err)
{
	int rc;

	do
		rc = work_step(w, STEP_US, err);
	while (rc == 1);
	return rc;
}

int work_load(struct work *w, struct err *err)
{
	struct timespec pause = { .tv_nsec = UNDER_WAY_MS * 1000000L };
	enum work_change change;
	char said[200];
	int rc = load_all(w, err);

	/* it is there, or taken back, in a moment; who holds the lock longer is not waited for */
	for (int i = 0; rc == 0 && w->is_under_way && i < UNDER_WAY_TRIES; i++) {
		nanosleep(&pause, NULL);
		rc = work_refresh(w, &change, said, err);
		if (rc == 0 && change == WORK_SAME)
			work_reapply(w);
		if (rc == 0)
			rc = load_all(w, err);
	}
	return rc;
}

int work_load_part(struct work *w, struct err *err)
{
	int rc;

	w->s->work_stop = STORE_ROW_WORK;
	do
		rc = work_step(w, STEP_US, err);
	while (rc == 1 && w->s->work < STORE_ROW_WORK);
	w->s->work_stop = 0;
	if (rc == 1)
		session_link(w->s, false);
	else if (rc == 0)
		rc = work_load(w, err); /* it is read: what is under way is looked at again */
	return rc;
}

int work_entry_id(struct work *w, uint32_t entry, struct buf *id, struct err *err)
{
	buf_clear(id);
	if (entry >= w->s->n)
		return err_set(err, ERR_NOTFOUND, "no such entry");
	return w->s->ops->id(w->s, entry, id, err);
}

/* ---- looking again ---- */

/* Now there is all of both? Then it is known what came and what went. */
static int read_and_compare(struct work *w, struct news *n, struct err *err)
{
	int rc;

	news_begin(w, n);
	w->is_loaded = false;
	rc = load_step(w, w->refresh_us, err);
	if (w->fmt == &format_flow)
		flow_news(flow_of_session(w->old), flow_of_session(w->s), &n->rounds);
	if (rc == 0)
		news_settle(w, n);
	return rc < 0 ? rc : 0;
}

static int refresh_grown(struct work *w, struct news *n, struct err *err)
{
	uint32_t before = session_own(w->s);
	int rc;

	w->is_loaded = false;
	rc = work_step(w, w->refresh_us, err);
	if (rc < 0)
		return rc;
	n->came = session_own(w->s) > before ? session_own(w->s) - before : 0;
	for (uint32_t i = before; i < session_own(w->s); i++)
		w->s->entries[i].flags |= ENTRY_NEW;
	return 0;
}

static int refresh_replaced(struct work *w, struct news *n, struct err *err)
{
	struct session *s = NULL;
	int rc = open_session(w, &s, err);

	if (rc < 0)
		return rc;
	/* one key for both, while the new one is empty, so that ids compare by hash */
	if (s->n == 0)
		memcpy(s->key, w->s->key, sizeof(s->key));
	if (w->old) /* what is empty now is nothing to compare with */
		session_free(&w->s);
	else
		w->old = w->s;
	w->s = s;
	/* a log that grew is read anew, too, when its end was damaged before */
	return read_and_compare(w, n, err);
}

void work_read_sidecar(struct work *w)
{
	log_stat(w->sidecar, &w->sidecar_id, NULL);
	tree_sidecar_load(w->s);
}

static bool sidecar_changed(struct work *w)
{
	struct log_id now = { 0 };

	return w->sidecar && log_stat(w->sidecar, &now, NULL) == 0 &&
	       log_id_differs(&w->sidecar_id, &now);
}

/* The tip that the next news are compared with. */
static void note_tip(struct work *w)
{
	buf_clear(&w->tip);
	if (w->s->tip != ENTRY_NONE)
		work_entry_id(w, w->s->tip, &w->tip, NULL);
}

static int look_again(
	struct work *w, enum work_change *change, char said[200], struct err *err)
{
	struct news news = { .nlost = work_nlost(w) };
	enum log_change file;
	int rc;

	*change = WORK_SAME;
	said[0] = '\0';
	if (!w->is_loaded)
		return 0; /* still reading: what came meanwhile shows at the next refresh */
	if (!w->old)
		note_tip(w);
	rc = w->fmt->refresh(w->s, &file, err);
	if (rc < 0)
		return rc;
	if (file == LOG_SAME && w->has_written)
		file = LOG_REWRITTEN;
	w->has_written = false;
	switch (file) {
	case LOG_SAME:
		break;
	case LOG_GREW:
		*change = WORK_GREW;
		rc = w->old ? read_and_compare(w, &news, err) : refresh_grown(w, &news, err);
		break;
	case LOG_REWRITTEN:
	case LOG_REPLACED:
		*change = WORK_REPLACED;
		rc = refresh_replaced(w, &news, err);
		break;
	case LOG_GONE:
		*change = WORK_GONE;
		snprintf(said, 200, "the %s is gone; what was read stays on the screen",
			w->fmt == &format_flow ? "folder" : "file");
		return 0;
	}
	if (sidecar_changed(w)) {
		work_read_sidecar(w);
		if (*change == WORK_SAME)
			*change = WORK_TIP;
	}
	if (*change == WORK_SAME && reflog_changed(&w->reflog)) {
		*change = WORK_TIP;
		work_reapply(w);
	}
	if (w->is_loaded && work_say_trouble(w) && *change == WORK_SAME)
		*change = WORK_TIP;
	if (rc == 0 && *change != WORK_SAME)
		news_say(w, &news, said);
	buf_release(&news.rounds);
	return rc;
}

int work_refresh(struct work *w, enum work_change *change, char said[200], struct err *err)
{
	struct err e = { 0 };
	int rc = look_again(w, change, said, &e);

	if (rc < 0)
		done_set(w->trouble, sizeof(w->trouble), str_of(e.text));
	else
		done_set(w->trouble, sizeof(w->trouble),
			str_of(*change == WORK_GONE ? said : ""));
	path_forget_cwd(w->trouble);
	return rc < 0 ? err_hand_over(err, &e) : 0;
}

const char *work_trouble(const struct work *w)
{
	return w->trouble;
}

/* A read that failed may not fail again: the file is opened and read anew. */
static int read_again(struct work *w, struct err *err)
{
	struct news news = { 0 };
	int rc = refresh_replaced(w, &news, err);

	buf_release(&news.rounds);
	return rc < 0 ? rc : work_load(w, err);
}

int work_sync(struct work *w, struct err *err)
{
	enum work_change change;
	char said[200];
	int rc = work_load(w, err);

	if (rc == 0 && work_read_trouble(w))
		rc = read_again(w, err);
	if (rc == 0)
		rc = work_refresh(w, &change, said, err);
	if (rc < 0)
		return rc;
	if (change == WORK_GONE)
		return err_set(err, ERR_NOTFOUND, "%s is gone", w->path);
	rc = work_load(w, err);
	return rc < 0 ? rc : work_check_read(w, err);
}

int work_sync_entry(struct work *w, struct str id, uint32_t *entry, struct err *err)
{
	int rc = work_sync(w, err);

	if (rc < 0)
		return rc;
	*entry = session_find(w->s, id);
	if (*entry == ENTRY_NONE)
		return err_set(err, ERR_NOTFOUND,
			"the file changed and entry %s is not in it any more", short_id(id).s);
	return 0;
}

/* ---- asking ---- */

_Static_assert((int)WORK_APPEND == (int)FORMAT_APPEND && (int)WORK_TITLE == (int)FORMAT_TITLE &&
		       (int)WORK_REPAIR == (int)FORMAT_REPAIR &&
		       (int)WORK_FORK == (int)FORMAT_FORK && (int)WORK_REFLOG == (int)FORMAT_REFLOG &&
		       (int)WORK_TRASH == (int)FORMAT_TRASH &&
		       (int)WORK_CONVERT == (int)FORMAT_CONVERT,
	"one set of bits under two names");
_Static_assert((int)STORE_WHY == (int)FORMAT_WHY, "one sentence under two names");

/* A dsh session has a folder of its own: a new one lies beside that. */
static bool can_make_session(const struct work *w, struct err *err)
{
	char *dir = w->fmt == &format_dsh ? path_join(w->dir, "..") : xstrdup(w->dir);
	bool can = log_can_write(dir, err) == 0;

	free(dir);
	return can;
}

static bool can_not(struct work *w, const char *what, const struct err *err)
{
	snprintf(w->why, sizeof(w->why), "%s: %.200s", what,
		err->sys ? strerror(err->sys) : err->text);
	return false;
}

bool store_can(const char *format, unsigned what, char why[STORE_WHY])
{
	return format_can(format_by_name(format), what, why);
}

int work_has(const struct work *w, unsigned what, struct err *err)
{
	char why[FORMAT_WHY];

	if (format_can(w->fmt, what, why))
		return 0;
	return err_set(err, ERR_UNSUPPORTED, "%s", why);
}

bool work_can(const struct work *cw, unsigned what, const char **why)
{
	struct work *w = (struct work *)cw; /* the sentence lies in the handle */
	struct err err = { 0 };

	w->why[0] = '\0';
	*why = w->why;
	if (!format_can(w->fmt, what, w->why))
		return false;
	w->why[0] = '\0';
	if ((what & (FORMAT_APPEND | FORMAT_REPAIR | FORMAT_FORK)) && w->fmt == &format_dsh &&
		w->is_loaded && dsh_refusal(w->s)) {
		snprintf(w->why, sizeof(w->why), "the session may not be continued: %s",
			dsh_refusal(w->s));
		return false;
	}
	if ((what & (FORMAT_APPEND | FORMAT_REPAIR)) && access(w->path, W_OK) < 0) {
		snprintf(w->why, sizeof(w->why), "the session's file can not be written: %s",
			strerror(errno));
		return false;
	}
	if ((what & FORMAT_FORK) && !can_make_session(w, &err))
		return can_not(w, "no new session can be made beside it", &err);
	if ((what & FORMAT_TITLE) && log_can_write(w->dir, &err) < 0)
		return can_not(w, "the session's folder can not be written", &err);
	return true;
}

int work_content(struct work *w, uint32_t entry, struct buf *out, struct err *err)
{
	struct tree_fields f = { 0 };
	struct arena a = { 0 };
	int rc = work_has(w, FORMAT_APPEND, err);

	if (rc < 0)
		return rc;
	if (entry >= w->s->n)
		return err_set(err, ERR_NOTFOUND, "no such entry");
	rc = tree_read_fields(w->s, entry, &a, &f, err);
	if (rc == 0)
		buf_add(out, f.content.p, f.content.n);
	tree_fields_release(&f);
	arena_free(&a);
	return rc;
}

const struct reflog_line *work_reflog(struct work *w, size_t *n)
{
	struct reflog *r = &w->reflog;

	if (!r->is_marked && w->is_loaded) {
		for (size_t i = 0; i < r->n; i++) {
			struct reflog_line *l = &r->lines[i];

			l->is_known =
				l->op != REFLOG_OTHER && session_find(w->s, l->entry) != ENTRY_NONE;
			l->is_lost = l->op == REFLOG_APPEND && !l->is_known;
		}
		r->is_marked = true;
	}
	*n = r->n;
	return r->lines;
}

const char *work_state_path(const struct work *w, bool *is_elsewhere)
{
	const struct reflog_file *f = w->reflog.file;
	bool beside = f[REFLOG_BESIDE].path && f[REFLOG_BESIDE].id.exists;

	*is_elsewhere = !f[REFLOG_BESIDE].path || log_can_write(w->dir, NULL) < 0;
	if (f[REFLOG_STATE].id.exists && (!beside || *is_elsewhere))
		return f[REFLOG_STATE].path;
	return beside ? f[REFLOG_BESIDE].path : "";
}

bool work_needs_repair(const struct work *w)
{
	size_t nclosers = 0;

	if (w->fmt == &format_dsh)
		dsh_closers(w->s, &nclosers);
	return w->is_loaded && (w->s->is_torn || work_nlost(w) > 0 || nclosers > 0 ||
				      (w->notes_leftovers && w->ngoing > 0));
}

const char *work_tip_trouble(const struct work *w)
{
	return reflog_trouble(&w->reflog);
}

size_t work_nlost(const struct work *w)
{
	return w->s->is_torn ? 0 : w->reflog.nlost;
}
