/*
 * work.c - one open session: loading by steps, what the reflog adds to it, and
 * looking again after a change on disk. It writes nothing.
 */
#include "config.h"
#include "store/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"
#include "format/dsh/dsh.h"
#include "format/flow/flow.h"
#include "format/tree/tree.h"

enum {
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

int work_open_as(struct work **out, const struct format *fmt, const char *path, struct err *err)
{
	struct work *w = xcalloc(1, sizeof(*w));
	int rc;

	*out = NULL;
	w->fmt = fmt;
	w->refresh_us = REFRESH_US;
	w->path = xstrdup(path);
	w->dir = path_dir(path);
	rc = open_session(w, &w->s, err);
	if (rc < 0) {
		work_close(&w);
		return rc;
	}
	if (fmt == &format_tree) {
		w->sidecar = tree_sidecar_path(path);
		log_stat(w->sidecar, &w->sidecar_id, NULL);
	}
	reflog_init(&w->reflog, path, fmt);
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

void work_reapply(struct work *w)
{
	reflog_update(&w->reflog);
	reflog_apply(&w->reflog, w->s);
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
	}
	return rc;
}

static void settle_later(struct work *w);

int work_step(struct work *w, unsigned budget_us, struct err *err)
{
	int rc = load_step(w, budget_us, err);

	if (rc == 0 && w->old)
		settle_later(w);
	return rc;
}

void work_progress(const struct work *w, uint64_t *done, uint64_t *all)
{
	*done = w->s->size;
	*all = w->fmt->file(w->s)->size;
}

int work_load(struct work *w, struct err *err)
{
	int rc;

	do
		rc = work_step(w, STEP_US, err);
	while (rc == 1);
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

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t *sorted_ids(const struct session *s, uint32_t n)
{
	uint64_t *v = xcalloc(n ? n : 1, sizeof(*v));

	for (uint32_t i = 0; i < n; i++)
		v[i] = s->entries[i].idhash;
	qsort(v, n, sizeof(*v), by_value);
	return v;
}

static bool holds(const uint64_t *v, uint32_t n, uint64_t x)
{
	return n && bsearch(&x, v, n, sizeof(*v), by_value);
}

/* How many ids are new (they get their mark), how many gone. Both hash with one key. */
static void compare_sessions(
	const struct session *old, struct session *s, uint32_t *came, uint32_t *gone)
{
	uint32_t nold = session_own(old), n = session_own(s);
	uint64_t *before = sorted_ids(old, nold), *now = sorted_ids(s, n);

	*came = *gone = 0;
	for (uint32_t i = 0; i < n; i++)
		if (!holds(before, nold, s->entries[i].idhash)) {
			s->entries[i].flags |= ENTRY_NEW;
			(*came)++;
		}
	for (uint32_t i = 0; i < nold; i++)
		if (!holds(now, n, old->entries[i].idhash))
			(*gone)++;
	free(before);
	free(now);
}

/* Are the entries of `s` the first ones of `old`, each where it was? */
static bool is_beginning(const struct session *old, const struct session *s)
{
	uint32_t n = session_own(s);
	bool same = n <= session_own(old);

	for (uint32_t i = 0; same && i < n; i++) {
		const struct entry *a = &old->entries[i], *b = &s->entries[i];

		same = a->idhash == b->idhash && a->off == b->off && a->len == b->len &&
		       a->time == b->time && a->parent == b->parent && a->kind == b->kind &&
		       !((a->flags ^ b->flags) & ENTRY_DAMAGED);
	}
	return same;
}

/* What a refresh tells: collected, then one sentence. */
struct news {
	struct buf tip; /* id of the tip before */
	uint32_t came, gone;
	uint64_t bytes, events; /* that were cut off; no events where the format has none */
	enum { FILE_GREW, FILE_CUT, FILE_REWRITTEN, FILE_REPLACED } how;
	size_t nlost; /* before */
	struct buf rounds; /* what happened to them, in words */
};

/* A writer that could not finish what it began takes it back by truncation. */
static void say_cut(const struct news *n, struct buf *b)
{
	buf_printf(b, "the end of the file was taken back: %" PRIu64 " byte%s", n->bytes,
		plural(n->bytes, "", "s"));
	if (n->events)
		buf_printf(b, ", %" PRIu64 " event%s", n->events, plural(n->events, "", "s"));
	if (n->gone)
		buf_printf(b, ", %u entr%s", n->gone, plural(n->gone, "y", "ies"));
}

static void say_news(struct work *w, const struct news *n, char said[200])
{
	struct buf b = { 0 }, tip = { 0 };
	const char *sep = "";

	if (n->how == FILE_CUT)
		say_cut(n, &b);
	else if (w->fmt == &format_flow)
		buf_add(&b, n->rounds.p, n->rounds.n);
	else if (n->how != FILE_GREW)
		buf_printf(&b, "the file was %s",
			n->how == FILE_REPLACED     ? "replaced"
			: n->bytes && !w->is_loaded ? "cut shorter"
						    : "written anew");
	if (b.n)
		sep = ": ";
	if (n->came) {
		buf_printf(&b, "%s%u new entr%s", sep, n->came, plural(n->came, "y", "ies"));
		sep = ", ";
	}
	if (n->gone && n->how != FILE_CUT) {
		buf_printf(&b, "%s%u entr%s gone", sep, n->gone,
			plural(n->gone, "y is", "ies are"));
		sep = ", ";
	}
	if (!w->is_loaded) {
		buf_printf(&b, "%sreading what came", sep);
	} else {
		if (w->s->tip != ENTRY_NONE)
			work_entry_id(w, w->s->tip, &tip, NULL);
		if (!str_eq((struct str){ tip.p, tip.n }, (struct str){ n->tip.p, n->tip.n }) &&
			tip.n)
			buf_printf(&b, "%sthe tip is now %s", b.n ? "; " : "",
				short_id((struct str){ tip.p, tip.n }).s);
		if (work_nlost(w) > n->nlost)
			buf_printf(&b, "%s%zu of bough's entries lost; a repair appends %s again",
				b.n ? "; " : "", work_nlost(w), plural(work_nlost(w), "it", "them"));
	}
	done_set(said, 200, (struct str){ b.p, b.n });
	buf_release(&b);
	buf_release(&tip);
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

static int how_changed(const struct log_id *before, const struct log_id *now)
{
	switch (log_compare(before, now)) {
	case LOG_GREW:
		return FILE_GREW;
	case LOG_REWRITTEN:
		return FILE_REWRITTEN;
	default:
		return FILE_REPLACED;
	}
}

static void note_cut(
	const struct work *w, const struct session *old, const struct session *s, struct news *n)
{
	if (n->how != FILE_REWRITTEN || !n->bytes || w->fmt == &format_flow ||
		!is_beginning(old, s))
		return;
	n->how = FILE_CUT;
	if (w->fmt == &format_dsh && dsh_count(s) < dsh_count(old))
		n->events = dsh_count(old) - dsh_count(s);
}

/* Both are there whole: what came, what went, and whose parent is another one. */
static void settle(struct work *w, struct news *n)
{
	compare_sessions(w->old, w->s, &n->came, &n->gone);
	note_cut(w, w->old, w->s, n);
	work_note_parents(w, w->old, w->s);
	session_free(&w->old);
}

/* Of a large file that took longer than a refresh may; that it is read was said then. */
static void settle_later(struct work *w)
{
	struct news unsaid = { .how = FILE_REPLACED };

	settle(w, &unsaid);
}

static int refresh_replaced(struct work *w, struct news *n, struct err *err)
{
	struct session *old = w->s, *s = NULL;
	struct log_id before = *w->fmt->file(old), now;
	int rc = open_session(w, &s, err);

	if (rc < 0)
		return rc;
	/* one key for both, while the new one is empty, so that ids compare by hash */
	if (s->n == 0)
		memcpy(s->key, old->key, sizeof(s->key));
	w->s = s;
	w->is_loaded = false;
	/* a log that grew is read anew, too, when its end was damaged before */
	now = *w->fmt->file(s);
	n->how = how_changed(&before, &now);
	n->bytes = before.size > now.size ? before.size - now.size : 0;
	w->old = old; /* none is there yet: nothing is looked at again while something is read */
	rc = load_step(w, w->refresh_us, err);
	if (w->fmt == &format_flow)
		flow_news(flow_of_session(old), flow_of_session(s), &n->rounds);
	if (rc == 0)
		settle(w, n);
	return rc < 0 ? rc : 0;
}

bool work_is_live(const struct work *w)
{
	return clock_is_near(w->fmt->file(w->s)->mtime_ns / 1000000, WORK_LIVE_MS);
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
	if (w->s->tip != ENTRY_NONE)
		work_entry_id(w, w->s->tip, &news.tip, NULL);
	rc = w->fmt->refresh(w->s, &file, err);
	if (rc < 0)
		goto out;
	switch (file) {
	case LOG_SAME:
		break;
	case LOG_GREW:
		*change = WORK_GREW;
		rc = refresh_grown(w, &news, err);
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
		goto out;
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
	if (rc == 0 && *change != WORK_SAME)
		say_news(w, &news, said);
out:
	buf_release(&news.tip);
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
	return rc < 0 ? err_hand_over(err, &e) : 0;
}

const char *work_trouble(const struct work *w)
{
	return w->trouble;
}

int work_sync(struct work *w, struct err *err)
{
	enum work_change change;
	char said[200];
	int rc = work_load(w, err);

	if (rc == 0)
		rc = work_refresh(w, &change, said, err);
	if (rc < 0)
		return rc;
	if (change == WORK_GONE)
		return err_set(err, ERR_NOTFOUND, "%s is gone", w->path);
	return work_load(w, err);
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
	return w->is_loaded && (w->s->is_torn || work_nlost(w) > 0 || nclosers > 0);
}

size_t work_nlost(const struct work *w)
{
	return w->s->is_torn ? 0 : w->reflog.nlost;
}
