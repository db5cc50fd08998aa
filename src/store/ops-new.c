/*
 * ops-new.c - a branch copied into a session of its own.
 *
 * The records are copied as they stand, ids kept, so every parent link of the
 * branch stays good; only a first entry whose parent is not in its file, or
 * whose link was cut, is written anew without one.
 *
 * Order: the sidecar first, then the session. A crash between them leaves a
 * sidecar without a session, which nobody lists; the other way round would
 * leave a session that does not know where it came from. When the session can
 * not be published the sidecar is removed again.
 */
#include "config.h"
#include "store/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"
#include "format/dsh/dsh.h"
#include "format/tree/tree.h"
#include "store/ops-dsh.h"

/* The branch and what follows it. */
struct copy {
	uint32_t *branch;
	uint32_t n;
	struct new_entry entry;
	bool has_entry;
	char id[37];
	char *path, *sidecar;
	struct log_id sidecar_id; /* once it is published */
};

static void copy_release(struct copy *c)
{
	free(c->branch);
	free(c->path);
	free(c->sidecar);
	new_entry_release(&c->entry);
}

static int copy_make(struct work *w, const struct fork_spec *spec, struct copy *c, struct err *err)
{
	uint32_t last = spec->is_retry ? w->s->entries[spec->at].parent : spec->at;
	char *name, id[37];
	int rc = 0;

	random_uuid4(id);
	*c = (struct copy){ .has_entry = spec->content.p != NULL };
	if (last != ENTRY_NONE)
		c->branch = session_branch(w->s, last, &c->n);
	if (c->has_entry)
		rc = new_entry_make(w, spec, id, &c->entry, err);
	if (rc == 0 && c->n == 0 && !c->has_entry)
		rc = err_set(err, ERR_USAGE, "nothing to copy: no entry stands before this one");
	random_uuid4(c->id);
	name = xasprintf("%s.jsonl", c->id);
	c->path = path_join(w->dir, name);
	c->sidecar = tree_sidecar_path(c->path);
	free(name);
	if (rc < 0)
		copy_release(c);
	return rc;
}

/* The first entry of a branch may name a parent that is not there. */
static int root_record(struct work *w, uint32_t entry, struct buf *out, struct err *err)
{
	struct tree_fields f = { 0 };
	struct arena a = { 0 };
	struct tree_entry e;
	int rc;

	if (!(w->s->entries[entry].flags & (ENTRY_ORPHAN | ENTRY_CYCLE)))
		return w->s->ops->record(w->s, entry, out, err);
	rc = tree_read_fields(w->s, entry, &a, &f, err);
	if (rc == 0) {
		e = (struct tree_entry){
			.id = { f.id.p, f.id.n },
			.role = { f.role.p, f.role.n },
			.content = { f.content.p, f.content.n },
			.time = f.time,
			.metadata = f.metadata,
			.nmetadata = f.nmetadata,
		};
		tree_write_entry(out, &e);
	}
	tree_fields_release(&f);
	arena_free(&a);
	return rc;
}

/* Hands each record to the file or, in a dry run, to the buffer. */
static int copy_records(struct work *w, const struct copy *c, struct log_pub *pub, struct buf *show,
	struct err *err)
{
	struct buf line = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < c->n && rc == 0; i++) {
		buf_clear(&line);
		if (i == 0)
			rc = root_record(w, c->branch[i], &line, err);
		else
			rc = w->s->ops->record(w->s, c->branch[i], &line, err);
		buf_addc(&line, '\n');
		if (rc == 0 && pub)
			rc = log_pub_write(pub, line.p, line.n, err);
		else if (rc == 0)
			buf_add(show, line.p, line.n);
	}
	if (rc == 0 && c->has_entry && pub)
		rc = log_pub_write(pub, c->entry.line.p, c->entry.line.n, err);
	else if (rc == 0 && c->has_entry)
		buf_add(show, c->entry.line.p, c->entry.line.n);
	buf_release(&line);
	return rc;
}

static int sidecar_text(struct work *w, struct buf *out, struct err *err)
{
	static const char *const keys[] = { "title", "parentSessionId", "model", "systemPrompt" };
	const char *why = tree_sidecar_trouble(w->s);
	struct buf text = { 0 };
	int rc = 0;

	if (why)
		return err_set(err, ERR_IO,
			"the new session would lose its title and prompt: %s; nothing was made", why);

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && rc == 0; i++) {
		const struct str *value = session_meta(w->s, keys[i]);
		struct str source = str_of(w->s->id);

		if (strcmp(keys[i], "parentSessionId") == 0)
			value = &source;
		if (!value)
			continue;
		buf_clear(&text);
		rc = tree_sidecar_set((struct str){ out->p, out->n }, keys[i], *value, &text, err);
		buf_clear(out);
		buf_add(out, text.p, text.n);
	}
	buf_release(&text);
	return rc;
}

static int publish_sidecar(struct work *w, struct copy *c, struct err *err)
{
	struct buf text = { 0 };
	struct log_pub *pub = NULL;
	int rc = sidecar_text(w, &text, err);

	if (rc == 0)
		rc = log_pub_begin(&pub, c->sidecar, err);
	if (rc == 0)
		rc = log_pub_write(pub, text.p, text.n, err);
	if (rc == 0)
		rc = log_pub_commit_id(&pub, &c->sidecar_id, err);
	log_pub_abort(&pub);
	buf_release(&text);
	return rc;
}

static int publish_session(struct work *w, const struct copy *c, struct err *err)
{
	struct log_pub *pub = NULL;
	struct log_id now;
	int rc = log_pub_begin(&pub, c->path, err);

	if (rc == 0)
		rc = copy_records(w, c, pub, NULL, err);
	/* records are read by their place: a file written over in place holds others now */
	if (rc == 0)
		rc = log_stat(w->path, &now, err);
	if (rc == 0 && log_compare(w->fmt->file(w->s), &now) == LOG_REWRITTEN)
		rc = err_set(err, ERR_CHANGED, "%s was written over while it was copied", w->path);
	if (rc == 0)
		rc = log_pub_commit(&pub, err);
	log_pub_abort(&pub);
	return rc;
}

/*
 * Without its session the sidecar goes, unless the session is there after all.
 * It may be there although publishing it failed (its name was not synced).
 * ERR_EXISTS: what is there is somebody else's, and ours is none of it.
 */
static int remove_sidecar(const struct copy *c, struct err *cause)
{
	struct err e = { 0 }, said = *cause;
	struct log_id id = { 0 };

	if (!c->sidecar_id.exists ||
		(cause->code != ERR_EXISTS && log_stat(c->path, &id, NULL) == 0 && id.exists) ||
		(log_stat_beside(c->sidecar, &id, NULL) == 0 && !id.exists) ||
		log_remove(c->sidecar, &c->sidecar_id, &e) == 0)
		return cause->code;
	err_clear(cause);
	err_set(cause, said.code, "%.120s; %.150s is left behind", said.text, c->sidecar);
	cause->sys = said.sys;
	return cause->code;
}

static int copy_once(
	struct work *w, const struct fork_spec *spec, bool dry, struct done *d, struct err *err)
{
	struct copy c;
	int rc = copy_make(w, spec, &c, err);

	if (rc < 0)
		return rc;
	if (dry) {
		rc = copy_records(w, &c, NULL, &d->lines, err);
	} else {
		rc = publish_sidecar(w, &c, err);
		if (rc == 0)
			rc = publish_session(w, &c, err);
		if (rc < 0)
			rc = remove_sidecar(&c, err);
	}
	if (rc == 0) {
		done_set(d->session, sizeof(d->session), str_of(c.id));
		done_set(d->path, sizeof(d->path), str_of(c.path));
		if (c.has_entry)
			done_set(d->entry, sizeof(d->entry), str_of(c.entry.id));
		done_say(d, "%s %u entr%s%s into the new session %s", dry ? "would copy" : "copied",
			c.n, plural(c.n, "y", "ies"), c.has_entry ? " and the new one" : "",
			short_id(str_of(c.id)).s);
	}
	copy_release(&c);
	return rc;
}

int work_fork_new(
	struct work *w, const struct fork_spec *spec, bool dry, struct done *d, struct err *err)
{
	struct fork_spec now = *spec;
	struct buf id = { 0 };
	struct err e = { 0 };
	int tries = 0, rc;

	done_begin(d);
	rc = work_has(w, FORMAT_FORK, err);
	if (rc < 0)
		return rc;
	if (w->fmt == &format_dsh)
		return dsh_work_fork_new(w, spec, dry, d, err);
	if (spec->is_retry && !spec->content.p)
		return err_set(err, ERR_USAGE, "a retry needs the new text");
	rc = work_entry_id(w, spec->at, &id, &e);
	while (rc == 0) {
		rc = work_sync_entry(w, (struct str){ id.p, id.n }, &now.at, &e);
		if (rc == 0)
			rc = copy_once(w, &now, dry, d, &e);
		if (rc != ERR_CHANGED || ++tries == OPS_TRIES)
			break;
		err_clear(&e);
		rc = 0;
	}
	buf_release(&id);
	return rc < 0 ? err_hand_over(err, &e) : 0;
}
