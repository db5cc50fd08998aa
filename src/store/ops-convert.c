/*
 * ops-convert.c - a dsh log in the other encoding. The stored lines are copied
 * as they stand into a new file beside the old one, which is read back and
 * compared line by line; only then the old file gets another name, which no
 * reader takes for a session. Nothing is deleted.
 *
 * A crash in between leaves both files. The next conversion finds the new one,
 * compares it, and goes on from there.
 *
 * A log is what its bytes are. One whose name says otherwise first gets the name
 * that fits, so that at every moment there is a log under a name that readers know.
 */
#include "config.h"
#include "store/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/xalloc.h"
#include "format/dsh/dsh.h"
#include "log/frames.h"
#include "store/ops-dsh.h"

enum {
	FRAME_TEXT = 256 << 10, /* text of one frame, about: one is decoded to show one event */
	OLD_NAMES = 1000
};

struct convert {
	bool to_zstd;
	char *path; /* of the new file */
	char *old;  /* the name that the old file gets */
	uint64_t nlines;
	struct log_id new; /* once it is published */
};

/* Lines on their way into the new file. */
struct sink {
	struct log_pub *pub;
	struct buf text, frame;
	bool to_zstd, has_header;
	int rc;
	struct err err;
};

static void flush(struct sink *k)
{
	const struct buf *bytes = &k->text;

	if (k->text.n == 0 || k->rc < 0)
		return;
	if (k->to_zstd) {
		buf_clear(&k->frame);
		k->rc = log_frame_encode(&k->frame, k->text.p, k->text.n, &k->err);
		bytes = &k->frame;
	}
	if (k->rc == 0)
		k->rc = log_pub_write(k->pub, bytes->p, bytes->n, &k->err);
	buf_clear(&k->text);
}

/* Whole lines; the first of all is the header, which has a frame of its own. */
static bool take_lines(struct str lines, void *arg)
{
	struct sink *k = arg;

	if (!k->has_header && lines.n) {
		const char *nl = memchr(lines.p, '\n', lines.n);
		size_t n = nl ? (size_t)(nl - lines.p) + 1 : lines.n;

		buf_add(&k->text, lines.p, n);
		flush(k);
		lines.p += n;
		lines.n -= n;
		k->has_header = true;
	}
	buf_addstr(&k->text, lines);
	if (k->text.n >= FRAME_TEXT)
		flush(k);
	return k->rc == 0;
}

static int write_new(struct work *w, struct convert *c, struct err *err)
{
	struct sink k = { .to_zstd = c->to_zstd };
	int rc = log_pub_begin(&k.pub, c->path, err);

	if (rc == 0)
		rc = w->s->ops->events(w->s, EVENTS_STORED, 0, take_lines, &k, err);
	if (rc == 0) {
		flush(&k);
		rc = k.rc < 0 ? err_hand_over(err, &k.err)
			      : log_pub_commit_id(&k.pub, &c->new, err);
	}
	log_pub_abort(&k.pub);
	buf_release(&k.text);
	buf_release(&k.frame);
	return rc;
}

/* Loads the new file as any reader would: the same events, and nothing wrong with them. */
static int check_events(struct work *w, const struct convert *c, struct err *err)
{
	struct session *s = NULL;
	int rc = format_dsh.open(c->path, &s, err);

	while (rc == 0 && (rc = format_dsh.step(s, 1000000, err)) == 1)
		rc = 0;
	if (rc == 0 && (dsh_copy_refusal(s) || dsh_count(s) != dsh_count(w->s)))
		rc = err_set(err, ERR_CORRUPT, "%s does not read back as it was written", c->path);
	session_free(&s);
	return rc;
}

static int compare(struct work *w, struct convert *c, struct err *err)
{
	int rc = dsh_compare(w->path, c->path, &c->nlines, err);

	return rc < 0 ? rc : check_events(w, c, err);
}

/* The new file goes away again, unless it is all there is, or somebody else is at it by now. */
static int drop_new(const struct work *w, const struct convert *c, struct err *cause)
{
	struct err e = { 0 }, said = *cause;
	struct log_id old, new;

	if (!c->new.exists || (log_stat(c->path, &new, NULL) == 0 && !new.exists) ||
		(log_stat(w->path, &old, &e) == 0 && !old.exists))
		return cause->code;
	if (!e.code && log_remove(c->path, &c->new, &e) == 0)
		return cause->code;
	err_clear(cause);
	err_set(cause, said.code, "%.150s; %.120s is left behind", said.text, c->path);
	cause->sys = said.sys;
	return cause->code;
}

/*
 * The log gets another name. A writer without a lock may have added to it at the
 * last moment: then it gets its old name again.
 */
static int give_name(struct work *w, const char *name, struct err *err)
{
	struct log_id id;
	int rc = log_move(w->path, name, err);

	/* a look that fails says nothing: all is where it must be */
	if (rc < 0 || log_stat(name, &id, NULL) < 0 || !log_id_differs(w->fmt->file(w->s), &id))
		return rc;
	rc = log_move(name, w->path, err);
	if (rc == 0)
		rc = err_set(err, ERR_CHANGED, "%s was written while it was converted", w->path);
	return rc;
}

static int make(struct work *w, struct convert *c, struct err *err)
{
	struct dsh_lock lock = { 0 };
	struct err e = { 0 };
	struct log_id id;
	bool is_new;
	int rc = dsh_lock(w, false, &lock, &e);

	if (rc == 0)
		rc = log_stat(c->path, &id, &e);
	is_new = rc == 0 && !id.exists;
	if (is_new)
		rc = write_new(w, c, &e);
	if (rc == 0)
		rc = compare(w, c, &e);
	if (rc == 0)
		rc = log_expect(lock.log, w->fmt->file(w->s), &e);
	/* the new file is on the disk and good: only now the old one steps back */
	if (rc == 0)
		rc = give_name(w, c->old, &e);
	if (rc < 0 && is_new)
		rc = drop_new(w, c, &e);
	dsh_unlock(&lock);
	return rc < 0 ? err_hand_over(err, &e) : 0;
}

/* "session.jsonl.converted", or with a number behind it; yours. */
static char *old_name(const char *path, int i)
{
	return i == 1 ? xasprintf("%s.converted", path) : xasprintf("%s.converted.%d", path, i);
}

char *convert_newest_old(const char *path)
{
	char *before = dsh_log_path(path, !dsh_name_is_zstd(path)), *newest = NULL;
	struct log_id id;

	for (int i = 1; i < OLD_NAMES; i++) {
		char *old = old_name(before, i);

		if (log_stat(old, &id, NULL) < 0 || !id.exists) {
			free(old);
			break;
		}
		free(newest);
		newest = old;
	}
	free(before);
	return newest;
}

static int choose_names(const char *path, struct convert *c, struct err *err)
{
	struct log_id id;

	c->path = dsh_log_path(path, c->to_zstd);
	for (int i = 1; i < OLD_NAMES; i++) {
		c->old = old_name(path, i);
		if (log_stat(c->old, &id, err) < 0)
			return ERR_IO;
		if (!id.exists)
			return 0;
		free(c->old);
		c->old = NULL;
	}
	return err_set(err, ERR_EXISTS, "every name for the old file of %s is taken", path);
}

static void say(const struct convert *c, bool dry, struct done *d)
{
	if (dry)
		done_say(d, "would write %s, and then name the old file %s", c->path,
			path_base(c->old));
	else
		done_say(d,
			"%s holds the same %" PRIu64 " lines, read back and compared; the old file "
			"is %s",
			c->path, c->nlines, path_base(c->old));
}

/* `path` is the name of the log; in a dry run perhaps the one that it would have by then. */
static int convert(struct work *w, const char *path, bool to_zstd, bool dry, struct done *d,
	struct err *err)
{
	struct convert c = { .to_zstd = to_zstd };
	int rc = choose_names(path, &c, err);

	if (rc == 0 && !dry)
		rc = make(w, &c, err);
	if (rc == 0) {
		done_set(d->path, sizeof(d->path), str_of(c.path));
		say(&c, dry, d);
	}
	free(c.path);
	free(c.old);
	return rc;
}

/* ---- a name that the bytes belie ---- */

static int take_name(struct work *w, const char *name, bool dry, struct done *d, struct err *err)
{
	struct dsh_lock lock = { 0 };
	struct log_id id;
	int rc = log_stat(name, &id, err);

	if (rc == 0 && id.exists)
		rc = err_set(err, ERR_EXISTS, "%s ought to be called %s, and there is such a file",
			w->path, path_base(name));
	if (rc == 0 && !dry) {
		rc = dsh_lock(w, false, &lock, err);
		if (rc == 0)
			rc = give_name(w, name, err);
		dsh_unlock(&lock);
	}
	if (rc == 0) {
		done_set(d->path, sizeof(d->path), str_of(name));
		done_say(d, "%s %s %s, as its bytes are", w->path,
			dry ? "would get the name" : "has the name", path_base(name));
	}
	return rc;
}

/* The same bytes under their right name: opened, and written again from there. */
static int convert_renamed(const char *path, bool to_zstd, struct done *d, struct err *err)
{
	struct work *w = NULL;
	struct err e = { 0 };
	int rc = work_open_as(&w, &format_dsh, path, &e);

	if (rc == 0)
		rc = work_sync(w, &e);
	if (rc == 0)
		rc = convert(w, path, to_zstd, false, d, &e);
	work_close(&w);
	return rc < 0 ? err_set(err, e.code, "the log is called %s now, but: %s", path_base(path),
				e.text)
		      : 0;
}

static int convert_misnamed(struct work *w, const char *name, bool to_zstd, bool dry,
	struct done *d, struct err *err)
{
	int rc = take_name(w, name, dry, d, err);

	if (rc < 0 || dsh_is_zstd(w->s) == to_zstd)
		return rc;
	return dry ? convert(w, name, to_zstd, true, d, err)
		   : convert_renamed(name, to_zstd, d, err);
}

/* ---- */

static int convert_or_say(struct work *w, bool to_zstd, bool dry, struct done *d, struct err *err)
{
	bool is_so = dsh_is_zstd(w->s) == to_zstd;
	const char *why = is_so ? NULL : dsh_copy_refusal(w->s);
	char *name = dsh_log_path(w->path, dsh_is_zstd(w->s));
	int rc = 0;

	if (why)
		rc = err_set(err, ERR_UNSUPPORTED, "%s can not be converted: %s", w->path, why);
	else if (strcmp(name, w->path) != 0)
		rc = convert_misnamed(w, name, to_zstd, dry, d, err);
	else if (is_so)
		done_say(d, "%s is %s already", w->path, to_zstd ? "compressed" : "uncompressed");
	else
		rc = convert(w, w->path, to_zstd, dry, d, err);
	free(name);
	return rc;
}

int work_convert(struct work *w, bool to_zstd, bool dry, struct done *d, struct err *err)
{
	int rc;

	done_begin(d);
	rc = work_has(w, FORMAT_CONVERT, err);
	if (rc == 0)
		rc = work_sync(w, err);
	return rc < 0 ? rc : convert_or_say(w, to_zstd, dry, d, err);
}
