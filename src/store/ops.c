/*
 * ops.c - what the writing operations share: the sentence and the ids that
 * they hand back, the line of a new entry, and the stack of what can be undone.
 */
#include "config.h"
#include "store/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "format/tree/tree.h"

void done_begin(struct done *d)
{
	d->said[0] = d->entry[0] = d->session[0] = d->path[0] = '\0';
	buf_clear(&d->lines);
	buf_clear(&d->cut);
}

void done_release(struct done *d)
{
	buf_release(&d->lines);
	buf_release(&d->cut);
}

/* The safe one-line form, cut where a character ends. */
static void set_safe(char *to, size_t size, struct str s)
{
	struct buf safe = { 0 };

	text_safe(&safe, s.n ? s.p : "", s.n, TEXT_ONE_LINE);
	done_set(to, size, (struct str){ safe.p, safe.n });
	buf_release(&safe);
}

void done_set(char *to, size_t size, struct str s)
{
	size_t n = s.n;

	if (n >= size)
		n = utf8_cut(s.p, size - 1);
	if (n)
		memcpy(to, s.p, n);
	to[n] = '\0';
}

void done_say(struct done *d, const char *fmt, ...)
{
	struct buf b = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	set_safe(d->said, sizeof(d->said), (struct str){ b.p, b.n });
	buf_release(&b);
}

struct short_id short_id(struct str id)
{
	struct short_id out;
	size_t n = id.n;

	if (n == 36 && id.p[8] == '-' && id.p[13] == '-')
		n = 8;
	set_safe(out.s, sizeof(out.s), (struct str){ id.p, n > 24 ? utf8_cut(id.p, 24) : n });
	return out;
}

bool err_is_denied(const struct err *err)
{
	return err->code == ERR_IO &&
	       (err->sys == EACCES || err->sys == EROFS || err->sys == EPERM);
}

int work_check(struct work *w, unsigned what, struct err *err)
{
	const char *why;

	if (work_can(w, what, &why))
		return 0;
	return err_set(
		err, (w->fmt->can_write & what) == what ? ERR_IO : ERR_UNSUPPORTED, "%s", why);
}

/* ---- what can be taken back ---- */

struct undo *undo_push(struct work *w, enum undo_op op)
{
	struct undo *u;

	w->undo = xgrow(w->undo, &w->undo_cap, w->nundo + 1, sizeof(*w->undo));
	u = &w->undo[w->nundo++];
	*u = (struct undo){ .op = op };
	return u;
}

void undo_release(struct undo *u)
{
	buf_release(&u->entry);
	buf_release(&u->text);
}

/* ---- a new entry ---- */

static bool role_is_legal(struct str role)
{
	static const char *const roles[] = { "SYSTEM", "USER", "ASSISTANT", "TOOL_RESULT" };

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (str_eqs(role, roles[i]))
			return true;
	return false;
}

/* A retry takes the role of the entry it does again; a fork the one asked for. */
static int take_role(
	struct work *w, const struct fork_spec *spec, struct buf *role, struct err *err)
{
	struct tree_fields f = { 0 };
	struct arena a = { 0 };
	int rc = 0;

	if (spec->is_retry) {
		rc = tree_read_fields(w->s, spec->at, &a, &f, err);
		if (rc == 0)
			buf_add(role, f.role.p, f.role.n);
		tree_fields_release(&f);
		arena_free(&a);
	} else {
		buf_adds(role, spec->role ? spec->role : "USER");
	}
	if (rc == 0 && !role_is_legal((struct str){ role->p, role->n }))
		rc = err_set(err, ERR_USAGE,
			"%s is no role: one of SYSTEM, USER, ASSISTANT, TOOL_RESULT", role->p);
	return rc;
}

int new_entry_make(struct work *w, const struct fork_spec *spec, const char *id,
	struct new_entry *n, struct err *err)
{
	uint32_t parent = spec->at;
	struct tree_entry e = { .content = spec->content };
	int rc;

	*n = (struct new_entry){ 0 };
	if (spec->is_retry && spec->at == ENTRY_NONE)
		return err_set(err, ERR_USAGE, "there is no entry to do again");
	if (utf8_valid_prefix(spec->content.p, spec->content.n) != spec->content.n)
		return err_set(err, ERR_USAGE, "the text is not valid UTF-8");
	rc = take_role(w, spec, &n->role, err);
	if (rc == 0 && spec->is_retry)
		parent = w->s->entries[spec->at].parent;
	if (rc == 0 && parent != ENTRY_NONE)
		rc = work_entry_id(w, parent, &n->parent, err);
	if (rc < 0) {
		new_entry_release(n);
		return rc;
	}
	n->has_parent = parent != ENTRY_NONE;
	n->time = clock_now_ms();
	memcpy(n->id, id, sizeof(n->id));
	e.id = str_of(n->id);
	if (n->has_parent)
		e.parent = (struct str){ n->parent.p, n->parent.n };
	e.role = (struct str){ n->role.p, n->role.n };
	e.time = n->time;
	tree_write_entry(&n->line, &e);
	buf_addc(&n->line, '\n');
	return 0;
}

void new_entry_release(struct new_entry *n)
{
	buf_release(&n->parent);
	buf_release(&n->role);
	buf_release(&n->line);
}
