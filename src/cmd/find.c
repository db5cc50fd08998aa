/*
 * find.c - from words to things: roots, sessions and entries by the forms that
 * the command line takes, and from failures to exit statuses.
 */
#include "config.h"

#include "cmd/internal.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "format/dsh/dsh.h"

enum { EMPTY_LEVELS = 3 }; /* the deepest layout: root, project or _conversations, session, rounds */

static int status_of(int code)
{
	switch (code) {
	case ERR_USAGE:
	case ERR_AMBIGUOUS:
		return STATUS_USAGE;
	case ERR_NOTFOUND:
		return STATUS_FOUND;
	case ERR_CANCELLED:
		return STATUS_CANCELLED;
	case ERR_LOCKED:
	case ERR_UNSURE:
	case ERR_CHANGED:
		return STATUS_IN_USE;
	default:
		return STATUS_IO;
	}
}

int cmd_fail(struct cmd *c)
{
	return cmd_complain(status_of(c->err.code), "%s%s", c->err.text,
		c->err.code == ERR_UNSURE ? "; --force goes on all the same" : "");
}

/* Candidates stand one a line in list. */
static int fail_ambiguous(struct cmd *c, const struct buf *list)
{
	struct out o;
	int status = cmd_fail(c);

	if (c->err.code != ERR_AMBIGUOUS || list->n == 0)
		return status;
	out_init(&o, STDERR_FILENO, false);
	out_block(&o, (struct str){ list->p, list->n }, 2);
	out_close(&o);
	return status;
}

int cmd_store(struct cmd *c)
{
	if (c->store)
		return STATUS_DONE;
	c->store = store_new();
	for (size_t i = 0; i < c->nroots; i++) {
		if (store_add(c->store, c->roots[i], &c->err) < 0) {
			cmd_fail(c);
			return STATUS_IO; /* a root that is not there was not read */
		}
	}
	if (c->nroots > 0)
		return STATUS_DONE;
	if (store_add_defaults(c->store, c->g->configured, c->g->nconfigured, &c->err) <= 0) {
		cmd_fail(c);
		return STATUS_IO;
	}
	return STATUS_DONE;
}

int cmd_paths(struct cmd *c)
{
	if (c->nargs == 0)
		return cmd_store(c);
	c->store = store_new();
	for (int i = 0; i < c->nargs; i++) {
		if (store_add(c->store, c->args[i], &c->err) < 0) {
			cmd_fail(c);
			return STATUS_IO;
		}
	}
	return STATUS_DONE;
}

/* Nothing there could be a session: only hidden names, and folders of which the same is true. */
static bool holds_nothing(const char *path, int levels)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	bool is_empty = dir != NULL;

	while (is_empty && (e = readdir(dir)) != NULL) {
		char *inner;

		if (e->d_name[0] == '.')
			continue;
		inner = path_join(path, e->d_name);
		is_empty = levels > 0 && dsh_is_real_folder(dirfd(dir), e) &&
			   holds_nothing(inner, levels - 1);
		free(inner);
	}
	if (dir)
		closedir(dir);
	return is_empty;
}

int cmd_root_notes(struct cmd *c)
{
	int status = store_nrows(c->store) ? STATUS_DONE : STATUS_FOUND;

	for (size_t i = 0; i < store_nroots(c->store); i++) {
		const char *note = store_root_note(c->store, i), *root = store_root(c->store, i);

		if (!note)
			continue;
		cmd_complain(0, "%s", note);
		if (!holds_nothing(root, EMPTY_LEVELS))
			status = STATUS_IO;
	}
	return status;
}

static int open_path(struct cmd *c, const char *path)
{
	if (work_open(&c->work, path, &c->err) < 0 || work_load(c->work, &c->err) < 0) {
		cmd_fail(c);
		return c->err.code == ERR_CANCELLED ? STATUS_CANCELLED : STATUS_IO;
	}
	c->s = work_session(c->work);
	return STATUS_DONE;
}

/* What is not found may be in a root that could not be read. */
static int fail_find(struct cmd *c, const struct buf *list)
{
	int status = fail_ambiguous(c, list);

	if (c->err.code == ERR_NOTFOUND && cmd_root_notes(c) == STATUS_IO)
		status = STATUS_IO;
	return status;
}

static int open_by_id(struct cmd *c, const char *name)
{
	struct buf list = { 0 };
	size_t row;
	int status = cmd_store(c);

	if (status != STATUS_DONE && c->nroots == 0)
		cmd_complain(0, "and '%s' is no file that is here", name);
	if (status != STATUS_DONE)
		return status;
	if (store_find(c->store, name, &row, &list, &c->err) < 0)
		status = fail_find(c, &list);
	else
		status = open_path(c, store_row(c->store, row)->path);
	buf_release(&list);
	return status;
}

/* A folder that is a session, or holds just one. */
static int open_folder(struct cmd *c, const char *name)
{
	struct buf list = { 0 }; /* no candidates: a path has none */
	size_t row;

	if (!c->store)
		c->store = store_new();
	if (store_find(c->store, name, &row, &list, &c->err) < 0)
		return fail_find(c, &list);
	return open_path(c, store_row(c->store, row)->path);
}

/*
 * What has a slash, and a file that is there, is a path and is opened without
 * looking at any root. A folder of that name is one where no root is given.
 * Everything else is an id.
 */
int cmd_open(struct cmd *c)
{
	const char *name = c->args[0];
	struct stat st;
	bool exists = stat(name, &st) == 0;

	if (!*name)
		return cmd_complain(STATUS_USAGE, "%s: the session's name is empty", c->def->name);
	if (exists && S_ISDIR(st.st_mode) && (strchr(name, '/') || c->nroots == 0))
		return open_folder(c, name);
	if (strchr(name, '/') || (exists && !S_ISDIR(st.st_mode)))
		return open_path(c, name);
	return open_by_id(c, name);
}

int cmd_open_for(struct cmd *c, unsigned what)
{
	char why[STORE_WHY];
	int status = cmd_open(c);

	if (status == STATUS_DONE && !store_can(c->s->format, what, why))
		return cmd_complain(STATUS_IO, "%s", why);
	return status;
}

/* Does the form go by the tip or by a label? */
static bool hangs_on_state(struct cmd *c, const char *form)
{
	bool is_tip = strncmp(form, "tip", 3) == 0 && (form[3] == '\0' || form[3] == '~');

	return (is_tip || form[0] == '@') && session_find(c->s, str_of(form)) == ENTRY_NONE;
}

int cmd_entry(struct cmd *c, const char *form, uint32_t *out)
{
	struct buf list = { 0 };
	const char *why = c->def->writes && c->work ? work_tip_trouble(c->work) : NULL;
	int status = STATUS_DONE;

	if (why && hangs_on_state(c, form))
		return cmd_complain(STATUS_IO,
			"%s: %s is not known, for checkouts and labels can not be read (%s); name the "
			"entry by its id; nothing was written",
			c->def->name, form, why);

	if (session_resolve(c->s, form, out, &list, &c->err) < 0)
		status = fail_ambiguous(c, &list);
	buf_release(&list);
	return status;
}

bool cmd_is_event(const struct cmd *c, const char *form, uint64_t *seq)
{
	size_t n = strlen(form);

	if (strcmp(c->s->format, "dsh") != 0 || n == 0 || n > 15 || strspn(form, "0123456789") != n)
		return false;
	*seq = strtoull(form, NULL, 10);
	return true;
}

int cmd_entry_or_event(struct cmd *c, const char *form, uint32_t *out, struct buf *line)
{
	uint64_t seq;
	int rc;

	if (session_find(c->s, str_of(form)) == ENTRY_NONE && cmd_is_event(c, form, &seq)) {
		rc = dsh_event(c->s, seq, line, out, &c->err);
		if (rc == 0)
			return STATUS_DONE;
		if (rc != ERR_NOTFOUND)
			return cmd_fail(c);
		err_clear(&c->err);
	}
	return cmd_entry(c, form, out);
}

struct str cmd_id(struct cmd *c, uint32_t entry)
{
	buf_clear(&c->id);
	if (c->s->ops->id(c->s, entry, &c->id, &c->err) < 0)
		buf_clear(&c->id);
	return (struct str){ c->id.p ? c->id.p : "", c->id.n };
}
