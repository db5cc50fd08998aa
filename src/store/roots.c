/*
 * roots.c - the places that hold sessions: which ones are meant when none is
 * given, what kind of place each is, and a sentence for one that holds nothing.
 */
#include "config.h"
#include "store/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"

/* Where agents keep their sessions; those that exist are opened when nothing else is named. */
static const struct known_place {
	const char *env;   /* the home of the agent, where it may be set; NULL: it may not */
	const char *home, *below;
} known_places[] = {
	{ NULL, "~/.sophi", "sessions" },
	{ "DSH_HOME", "~/.dsh", "sessions" },
};

static bool is_blank(const char *s)
{
	return s[strspn(s, " \t\r\n")] == '\0';
}

static char *place_path(const struct known_place *k)
{
	const char *set = k->env ? getenv(k->env) : NULL;
	char *home = path_expand(set && !is_blank(set) ? set : k->home), *path;

	path = path_join(home, k->below);
	free(home);
	return path;
}

struct store *store_new(void)
{
	struct store *st = xcalloc(1, sizeof(*st));

	random_bytes(&st->seed, sizeof(st->seed));
	return st;
}

void store_free(struct store **stp)
{
	struct store *st = *stp;

	if (!st)
		return;
	for (size_t i = 0; i < LOADERS; i++)
		work_close(&st->loader[i].w);
	for (size_t i = 0; i < st->nroots; i++) {
		free(st->roots[i].path);
		free(st->roots[i].note);
	}
	for (size_t i = 0; i < st->nrows; i++)
		free(st->rows[i]->text);
	free(st->roots);
	free(st->rows);
	free(st->table);
	free(st->checked_dir);
	arena_free(&st->arena);
	free(st);
	*stp = NULL;
}

void root_set_note(struct root *root, char *note_take)
{
	free(root->note);
	root->note = note_take;
}

static struct root *root_add(struct store *st, const char *path)
{
	struct root *r;

	st->roots = xgrow(st->roots, &st->roots_cap, st->nroots + 1, sizeof(*st->roots));
	r = &st->roots[st->nroots++];
	*r = (struct root){ .path = xstrdup(path) };
	return r;
}

static struct root *root_known(struct store *st, const struct stat *sb)
{
	for (size_t i = 0; i < st->nroots; i++)
		if (st->roots[i].id.exists && st->roots[i].id.dev == sb->st_dev &&
			st->roots[i].id.ino == sb->st_ino)
			return &st->roots[i];
	return NULL;
}

/* "dir///" is "dir"; "/" stays. */
static void cut_slashes(char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
}

static int add_path(struct store *st, char *path, struct err *err)
{
	const struct format *fmt;
	struct err why = { 0 };
	struct stat sb;
	struct root *root;

	cut_slashes(path);
	if (stat(path, &sb) < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return err_set(err, ERR_NOTFOUND,
				"%s: no such file or folder; looked for a folder of sessions, "
				"a session folder or a session file",
				path);
		return err_sys(err, "%s", path);
	}
	if (!S_ISDIR(sb.st_mode) && !S_ISREG(sb.st_mode))
		return err_set(
			err, ERR_UNSUPPORTED, "%s is neither a folder nor a regular file", path);
	if (root_known(st, &sb))
		return 0;
	fmt = format_detect(path, &why);
	/* a folder may be empty now and hold sessions later; a file is what it is */
	if (!fmt && S_ISREG(sb.st_mode))
		return err_hand_over(err, &why);
	root = root_add(st, path);
	root->fmt = fmt;
	root->is_file = S_ISREG(sb.st_mode);
	root->id = (struct log_id){ .dev = sb.st_dev, .ino = sb.st_ino, .exists = true };
	root->to_scan = true;
	if (!fmt)
		root_set_note(root, xstrdup(why.text));
	return 0;
}

int store_add(struct store *st, const char *path, struct err *err)
{
	char *expanded = path_expand(path);
	int rc = add_path(st, expanded, err);

	free(expanded);
	return rc;
}

/* A place that can not be opened stays in the list with the reason, not passed over in silence. */
static void add_or_note(struct store *st, const char *path)
{
	char *expanded = path_expand(path);
	struct err err = { 0 };

	if (add_path(st, expanded, &err) < 0)
		root_set_note(root_add(st, expanded), xstrdup(err.text));
	free(expanded);
}

static void add_list(struct store *st, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, ":");
		char *one = xstrndup(list, n);

		if (n > 0)
			add_or_note(st, one);
		free(one);
		list += n + (list[n] == ':');
	}
}

static void add_known_places(struct store *st)
{
	for (size_t i = 0; i < sizeof(known_places) / sizeof(known_places[0]); i++) {
		char *path = place_path(&known_places[i]);
		struct stat sb;

		/* one that can not even be looked at is said, too */
		if (stat(path, &sb) == 0 ? S_ISDIR(sb.st_mode)
					 : errno != ENOENT && errno != ENOTDIR)
			add_or_note(st, path);
		free(path);
	}
}

/* What every known place is called, for the sentence when none exists. */
static int none_found(struct err *err)
{
	struct buf b = { 0 };
	int rc;

	for (size_t i = 0; i < sizeof(known_places) / sizeof(known_places[0]); i++) {
		char *path = place_path(&known_places[i]), *shown = path_shorten(path);

		buf_printf(&b, "%s%s", i ? ", " : "", shown);
		free(shown);
		free(path);
	}
	rc = err_set(err, ERR_NOTFOUND,
		"no sessions found: looked for %s; name a folder, or set BOUGH_ROOT", b.p);
	buf_release(&b);
	return rc;
}

int store_add_defaults(struct store *st, const char *const *configured, size_t n, struct err *err)
{
	const char *env = getenv("BOUGH_ROOT");
	size_t before = st->nroots;

	if (env && *env) {
		add_list(st, env);
	} else if (n > 0) {
		for (size_t i = 0; i < n; i++)
			add_or_note(st, configured[i]);
	} else {
		add_known_places(st);
	}
	if (st->nroots == before)
		none_found(err);
	return (int)(st->nroots - before);
}

size_t store_nroots(const struct store *st)
{
	return st->nroots;
}

const char *store_root(const struct store *st, size_t i)
{
	return st->roots[i].path;
}

const char *store_root_note(const struct store *st, size_t i)
{
	return st->roots[i].note;
}
