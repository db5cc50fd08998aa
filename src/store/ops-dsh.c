/*
 * ops-dsh.c - what bough does to a dsh log: the repair that loading it commits,
 * and the fork into a new session. Which text is written is the format's
 * (format/dsh/write.c); how it gets to the disk is the log's.
 *
 * A log may have a writer that takes no lock. So nothing is written beside one
 * that is seen to work: who holds a lock, who changed the file after it was
 * read, and who changes it while a fresh file is watched for a moment (rests.c),
 * is left alone, and the operation says so instead of trying again.
 */
#include "config.h"
#include "store/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"
#include "format/dsh/dsh.h"
#include "log/frames.h"
#include "store/ops-dsh.h"

enum { CUT_SHOWN = 1 << 20 }; /* bytes of a tail that are handed back to be shown */

/* ---- nobody else writes ---- */

/* Later harnesses lock a file of its own beside the log. */
static int lock_beside(struct work *w, struct log **lock, struct err *err)
{
	char *path = path_join(w->dir, "session.lock");
	struct log_id id;
	struct err e = { 0 };
	int rc = log_stat_beside(path, &id, err);

	if (rc == 0 && id.exists) {
		rc = log_open(lock, path, LOG_BESIDE, &e);
		if (rc < 0 && err_is_denied(&e)) /* whoever may not write there is not kept out */
			rc = 0;
		else if (rc < 0)
			err_hand_over(err, &e);
	}
	free(path);
	return rc;
}

int dsh_lock(struct work *w, bool is_read, struct dsh_lock *lock, struct err *err)
{
	struct err e = { 0 };
	int rc = dsh_wait_for_rest(w, err);

	*lock = (struct dsh_lock){ 0 };
	if (rc == 0)
		rc = lock_beside(w, &lock->beside, err);
	if (rc < 0)
		return rc;
	rc = log_open(&lock->log, w->path, LOG_ALONE | LOG_ANEW, &e);
	if (rc == 0)
		rc = log_expect(lock->log, w->fmt->file(w->s), &e);
	if (rc < 0 && is_read &&
		err_is_denied(&e)) { /* it is only read: then it need not be locked */
		log_close(&lock->log);
		return 0;
	}
	if (rc == ERR_CHANGED) {
		err_clear(&e);
		dsh_being_written(w, &e);
	}
	if (rc < 0) {
		dsh_unlock(lock);
		err_hand_over(err, &e);
	}
	return rc;
}

void dsh_unlock(struct dsh_lock *lock)
{
	log_close(&lock->log);
	log_close(&lock->beside);
}

/* ---- repair ---- */

/* The bytes that are cut, as far as they are worth looking at: a raw log's. */
static int show_cut(struct work *w, struct done *d, struct err *err)
{
	uint64_t n = w->s->size - w->s->committed;
	size_t got;
	int rc;

	buf_clear(&d->cut);
	if (!w->s->is_torn || dsh_is_zstd(w->s))
		return 0;
	if (n > CUT_SHOWN)
		n = CUT_SHOWN;
	buf_reserve(&d->cut, n + 1);
	rc = w->s->ops->peek(w->s, w->s->committed, d->cut.p, n, &got, err);
	d->cut.n = rc == 0 ? got : 0;
	return rc;
}

static void say_repaired(const struct log_append_info *info, uint64_t torn, uint64_t nevents,
	bool dry, struct done *d)
{
	struct buf b = { 0 };

	if (torn)
		buf_printf(&b,
			dry ? "would set %" PRIu64 " torn byte%s aside in %s"
			    : "%" PRIu64 " torn byte%s set aside in %s",
			torn, plural(torn, "", "s"), info->torn_path);
	if (nevents)
		buf_printf(&b, "%s%s %" PRIu64 " event%s", b.n ? "; " : "",
			dry ? "would append" : "appended", nevents, plural(nevents, "", "s"));
	if (nevents && !torn && !dry)
		buf_printf(&b, " that close%s the interrupted turn", nevents == 1 ? "s" : "");
	if (info->before_path[0])
		buf_printf(&b, "; the old file is %s", path_base(info->before_path));
	done_say(d, "%s", b.p);
	buf_release(&b);
}

/* Cut and append are one change of the log: it is taken back whole when it fails. */
static int commit(struct log *log, struct work *w, const struct buf *text,
	struct log_append_info *info, struct err *err)
{
	struct buf frame = { 0 };
	const struct buf *bytes = text;
	int rc = 0;

	if (text->n && dsh_is_zstd(w->s)) {
		rc = log_frame_encode(&frame, text->p, text->n, err);
		bytes = &frame;
	}
	work_let_go(w);
	if (rc == 0 && text->n == 0)
		rc = log_set_aside(log, w->s->committed, info, err);
	else if (rc == 0)
		rc = log_append_bytes(log, w->s->committed, bytes->p, bytes->n, info, err);
	work_take_up(w);
	buf_release(&frame);
	return rc;
}

static bool closes_turn(const struct work *w)
{
	size_t n;

	dsh_closers(w->s, &n);
	return n > 0;
}

static int repair(struct work *w, bool is_salvage, bool dry, struct done *d, struct err *err)
{
	bool has_tail = w->s->is_torn || is_salvage;
	uint64_t nevents, torn = has_tail ? w->s->size - w->s->committed : 0;
	struct log_append_info info = { 0 };
	struct dsh_lock lock = { 0 };
	struct buf text = { 0 };
	struct log *look = NULL;
	int rc = 0;

	if (is_salvage)
		dsh_salvage_text(w->s, &text, &nevents);
	else
		rc = dsh_repair_text(w->s, &text, &nevents, err);
	if (rc == 0 && !torn && nevents == 0) {
		done_say(d, "nothing to repair");
		return 0;
	}
	if (rc == 0)
		rc = show_cut(w, d, err);
	if (rc == 0 && dry) {
		buf_add(&d->lines, text.n ? text.p : "", text.n);
		if (torn) /* the name that the copy would get */
			rc = log_open(&look, w->path, LOG_DRY_RUN | LOG_ANEW, err);
		work_let_go(w);
		if (rc == 0 && torn)
			rc = log_set_aside(look, w->s->committed, &info, err);
		work_take_up(w);
		log_close(&look);
	} else if (rc == 0) {
		rc = work_check_rest(w, torn > 0, closes_turn(w), err);
		if (rc == 0)
			rc = dsh_lock(w, false, &lock, err);
		if (rc == 0)
			rc = commit(lock.log, w, &text, &info, err);
		w->has_written = rc == 0;
		dsh_unlock(&lock);
	}
	if (rc == 0) {
		done_set(d->path, sizeof(d->path), str_of(info.torn_path));
		say_repaired(&info, torn, nevents, dry, d);
	}
	buf_release(&text);
	return rc;
}

/* Why the session may not be continued, with the code that fits. */
static int check_may_continue(struct work *w, struct err *err)
{
	const char *why;

	if (work_can(w, WORK_REPAIR, &why))
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		dsh_is_end_damaged(w->s) ? "%s; only its end is, and --salvage sets that aside"
					 : "%s",
		why);
}

static int repair_or_salvage(
	struct work *w, bool may_salvage, bool dry, struct done *d, struct err *err)
{
	struct err e = { 0 };
	int rc = work_sync(w, &e);
	bool is_salvage = rc == 0 && may_salvage && dsh_is_end_damaged(w->s);

	if (rc == 0 && !is_salvage)
		rc = check_may_continue(w, &e);
	if (rc == 0)
		rc = repair(w, is_salvage, dry, d, &e);
	if (rc < 0)
		return err_hand_over(err, &e);
	if (!dry) /* done is done: a look that fails now can be taken again */
		work_sync(w, NULL);
	return 0;
}

int dsh_work_repair(struct work *w, bool dry, struct done *d, struct err *err)
{
	return repair_or_salvage(w, false, dry, d, err);
}

int work_salvage(struct work *w, bool dry, struct done *d, struct err *err)
{
	done_begin(d);
	if (w->fmt != &format_dsh)
		return err_set(err, ERR_UNSUPPORTED, "%s sessions need no salvage: repair them",
			w->fmt->name);
	return repair_or_salvage(w, true, dry, d, err);
}

bool work_interrupted(const struct work *w, char said[200])
{
	size_t n = 0;
	struct str turn;

	said[0] = '\0';
	if (w->fmt == &format_dsh && w->is_loaded)
		dsh_closers(w->s, &n);
	if (n == 0)
		return false;
	turn = dsh_open_turn(w->s);
	n = (size_t)snprintf(said, 200, "%s%.*s was interrupted, unless it still runs",
		turn.n ? "turn " : "a turn", (int)turn.n, turn.n ? turn.p : "");
	if (!dsh_refusal(w->s))
		snprintf(said + n, 200 - n, ": a repair would add %" PRIu32 " event%s",
			session_proposed(w->s), plural(session_proposed(w->s), "", "s"));
	return true;
}

/* ---- fork ---- */

/* A copy on its way: into a file, or in a dry run into the lines that are shown. */
struct copy {
	struct log_pub *pub;
	struct buf *show;
	bool is_zstd;
	struct buf frame;
};

static int put_batch(struct str lines, void *arg, struct err *err)
{
	struct copy *c = arg;
	int rc;

	if (!c->pub) {
		buf_addstr(c->show, lines);
		return 0;
	}
	if (!c->is_zstd)
		return log_pub_write(c->pub, lines.p, lines.n, err);
	buf_clear(&c->frame);
	rc = log_frame_encode(&c->frame, lines.p, lines.n, err);
	return rc < 0 ? rc : log_pub_write(c->pub, c->frame.p, c->frame.n, err);
}

/* "<project>/<id>" beside the folder of the session. */
static char *folder_beside(const struct work *w, const char *id)
{
	char *project = path_dir(w->dir), *out = path_join(project, id);

	free(project);
	return out;
}

struct fork {
	char id[64]; /* "session-<uuid>" */
	char *dir, *path;
	uint64_t last; /* event that is copied */
	int64_t now;
	struct buf header;
};

static int fork_text(struct work *w, const struct fork *f, struct copy *c, struct err *err)
{
	int rc = put_batch((struct str){ f->header.p, f->header.n }, c, err);

	return rc < 0 ? rc : dsh_fork_events(w->s, f->last, f->now, put_batch, c, err);
}

/* The folder first, then the whole file under its name at once; see doc/durability.md. */
static int publish(struct work *w, const struct fork *f, struct err *err)
{
	struct copy c = { .is_zstd = dsh_is_zstd(w->s) };
	struct log_id now;
	int rc = log_mkdir_new(f->dir, err);

	if (rc == ERR_EXISTS)
		return rc; /* and not ours to take away */
	if (rc == 0)
		rc = log_pub_begin(&c.pub, f->path, err);
	if (rc == 0)
		rc = fork_text(w, f, &c, err);
	/* events are read by their place: a file that was written meanwhile may hold others */
	if (rc == 0)
		rc = log_stat(w->path, &now, err);
	if (rc == 0 && log_id_differs(w->fmt->file(w->s), &now))
		rc = dsh_being_written(w, err);
	if (rc == 0)
		rc = log_pub_commit(&c.pub, err);
	log_pub_abort(&c.pub);
	if (rc < 0)
		log_drop_dir(f->dir);
	buf_release(&c.frame);
	return rc;
}

static int fork_write(
	struct work *w, const struct fork *f, bool dry, struct done *d, struct err *err)
{
	struct copy c = { .show = &d->lines };
	struct dsh_lock lock = { 0 };
	int rc;

	if (dry)
		return fork_text(w, f, &c, err);
	rc = dsh_lock(w, true, &lock, err);
	if (rc == 0)
		rc = publish(w, f, err);
	dsh_unlock(&lock);
	return rc;
}

static int fork_at(
	struct work *w, uint64_t event, bool is_exact, bool dry, struct done *d, struct err *err)
{
	struct fork f = { .now = clock_now_ms() };
	char uuid[37], *log_name;
	int rc = dsh_fork_point(w->s, event, is_exact, &f.last, err);

	if (rc < 0)
		return rc;
	random_uuid4(uuid);
	snprintf(f.id, sizeof(f.id), "session-%s", uuid);
	f.dir = folder_beside(w, f.id);
	log_name = dsh_log_path(path_base(w->path), dsh_is_zstd(w->s));
	f.path = path_join(f.dir, log_name);
	free(log_name);
	dsh_fork_header(w->s, f.id, f.now, f.last + 1, &f.header);
	rc = fork_write(w, &f, dry, d, err);
	if (rc == 0) {
		done_set(d->session, sizeof(d->session), str_of(f.id));
		done_set(d->path, sizeof(d->path), str_of(f.path));
		done_say(d, "%s events 0 to %" PRIu64 " into the new session %s",
			dry ? "would copy" : "copied", f.last, f.id);
	}
	free(f.dir);
	free(f.path);
	buf_release(&f.header);
	return rc;
}

/* The event that an entry is, by its id. */
static int event_of(struct work *w, const struct fork_spec *spec, uint64_t *event, struct err *err)
{
	struct buf id = { 0 };
	int rc = work_entry_id(w, spec->at, &id, err);

	if (rc == 0 && strspn(id.p, "0123456789") != id.n)
		rc = err_set(err, ERR_USAGE, "that is no event of this log");
	if (rc == 0)
		*event = strtoull(id.p, NULL, 10);
	buf_release(&id);
	return rc;
}

int dsh_work_fork_new(
	struct work *w, const struct fork_spec *spec, bool dry, struct done *d, struct err *err)
{
	struct err e = { 0 };
	uint64_t event = spec->event;
	const char *why;
	int rc = 0;

	if (spec->is_retry || spec->content.p)
		return err_set(err, ERR_UNSUPPORTED,
			"a dsh log takes no entry of bough's: fork without a text and go on in "
			"the agent");
	if (!spec->has_event)
		rc = event_of(w, spec, &event, &e);
	if (rc == 0)
		rc = work_sync(w, &e);
	if (rc == 0 && !work_can(w, WORK_FORK, &why))
		rc = err_set(&e, ERR_UNSUPPORTED, "%s", why);
	if (rc == 0)
		rc = fork_at(w, event, spec->is_exact, dry, d, &e);
	return rc < 0 ? err_hand_over(err, &e) : 0;
}
