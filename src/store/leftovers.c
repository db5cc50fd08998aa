/*
 * leftovers.c - temporary files that killed writers left beside a session:
 * which are its own, that they are told as problems, and their removal. They
 * take nothing away from the session. What holds one is the log's to know.
 */
#include "config.h"
#include "store/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"
#include "format/dsh/dsh.h"
#include "format/tree/tree.h"

enum { OWNERS = 5, NAMED = 3 /* in a sentence */ };

struct leftovers {
	char *dir; /* NULL: none was looked at */
	char **v;  /* paths in it that have the form of a name */
	size_t n, cap;
};

struct leftovers *leftovers_new(void)
{
	return xcalloc(1, sizeof(struct leftovers));
}

static void drop_paths(char **v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i]);
}

void leftovers_free(struct leftovers **lp)
{
	struct leftovers *l = *lp;

	if (!l)
		return;
	drop_paths(l->v, l->n);
	free(l->v);
	free(l->dir);
	free(l);
	*lp = NULL;
}

/* A folder that can not be read has nothing that could be removed. */
static void look_at_folder(struct leftovers *l, const char *dir)
{
	const struct dirent *de;
	size_t n;
	DIR *d;

	if (l->dir && strcmp(l->dir, dir) == 0)
		return;
	drop_paths(l->v, l->n);
	l->n = 0;
	free(l->dir);
	l->dir = xstrdup(dir);
	d = log_open_folder(dir, NULL);
	while (d && log_next_name(d, dir, &de, NULL) > 0) {
		if (!log_is_leftover(de->d_name, &n) && !log_is_set_aside(de->d_name, &n))
			continue;
		l->v = xgrow(l->v, &l->cap, l->n + 1, sizeof(*l->v));
		l->v[l->n++] = path_join(dir, de->d_name);
	}
	if (d)
		closedir(d);
}

/* ".torn-120", ".torn-120.2", ".before-1": names that are made of a session's own. */
static bool is_numbered(const char *p, size_t n)
{
	static const char *const words[] = { ".torn-", ".before-" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t k = strlen(words[i]);

		if (n <= k || strncmp(p, words[i], k) != 0)
			continue;
		while (k < n && (isdigit((unsigned char)p[k]) || p[k] == '.'))
			k++;
		return k == n;
	}
	return n == 0;
}

static bool belongs(const char *path, const char *owner)
{
	const char *name = path_base(path), *base = path_base(owner);
	size_t n, base_n = strlen(base);

	return (log_is_leftover(name, &n) || log_is_set_aside(name, &n)) && n >= base_n &&
	       strncmp(name + 1, base, base_n) == 0 &&
	       is_numbered(name + 1 + base_n, n - base_n);
}

/*
 * Of a session that was to be made in this folder and did not come about: nobody's own, so that
 * each of its neighbours tells of it.
 */
static bool is_unborn(const char *path)
{
	static const char *const endings[] = { ".jsonl", ".meta.json" };
	const char *name = path_base(path);
	struct log_id there = { .exists = true };
	size_t n;

	if (!log_is_leftover(name, &n))
		return false;
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t end = strlen(endings[i]);
		char *id, *dir, *file, *session;

		if (n <= end || strncmp(name + 1 + n - end, endings[i], end) != 0)
			continue;
		id = xstrndup(name + 1, n - end);
		dir = path_dir(path);
		file = xasprintf("%s.jsonl", id);
		session = path_join(dir, file);
		if (tree_id_is_legal(id) && log_stat_beside(session, &there, NULL) < 0)
			there.exists = true;
		free(session);
		free(file);
		free(dir);
		free(id);
	}
	return !there.exists;
}

static void add_of(struct work *w, struct leftovers *l, const char *owner, bool takes_unborn)
{
	char *dir = path_dir(owner);
	size_t n;

	look_at_folder(l, dir);
	for (size_t i = 0; i < l->n; i++) {
		if (!belongs(l->v[i], owner) && !(takes_unborn && is_unborn(l->v[i])))
			continue;
		/* one that is held is somebody's work, not a leftover */
		if (log_is_leftover(path_base(l->v[i]), &n) &&
			log_drop_leftover(l->v[i], true, NULL) < 0)
			continue;
		w->leftovers = xgrow(w->leftovers, &w->leftovers_cap, w->nleftovers + 1,
			sizeof(*w->leftovers));
		w->leftovers[w->nleftovers++] = xstrdup(l->v[i]);
	}
	free(dir);
}

/* A conversion writes the name of the other encoding. */
static char *twin_path(const struct work *w)
{
	size_t n = strlen(w->path);

	if (w->fmt != &format_dsh)
		return NULL;
	return n > 5 && strcmp(w->path + n - 5, ".zstd") == 0 ? xstrndup(w->path, n - 5)
							      : xasprintf("%s.zstd", w->path);
}

size_t work_look_leftovers(struct work *w, struct leftovers *seen)
{
	struct leftovers *l = seen ? seen : leftovers_new();
	char *twin = twin_path(w);
	/* `seen` remembers one folder, so the one of the reflog elsewhere is left out then. */
	const char *owners[OWNERS] = { w->path, twin, w->sidecar,
		w->reflog.file[REFLOG_BESIDE].path, w->reflog.file[REFLOG_STATE].path };

	drop_paths(w->leftovers, w->nleftovers);
	w->nleftovers = 0;
	for (int i = 0; i < (seen ? OWNERS - 1 : OWNERS); i++)
		if (owners[i] && format_can(w->fmt, FORMAT_REPAIR, w->why))
			add_of(w, l, owners[i], i == 0 && !seen && w->fmt == &format_tree);
	free(twin);
	if (!seen)
		leftovers_free(&l);
	return w->nleftovers;
}

const char *work_leftover(const struct work *w, size_t i)
{
	return w->leftovers[i];
}

void leftovers_release(struct work *w)
{
	drop_paths(w->leftovers, w->nleftovers);
	free(w->leftovers);
}

bool work_leftover_goes(const struct work *w, size_t i)
{
	size_t n;

	return log_is_leftover(path_base(w->leftovers[i]), &n);
}

void leftovers_note(struct work *w)
{
	w->ngoing = 0;
	problem_drop(&w->s->problems, "leftover");
	work_look_leftovers(w, NULL);
	for (size_t i = 0; i < w->nleftovers; i++) {
		w->ngoing += work_leftover_goes(w, i);
		problem_add_at_large(&w->s->problems, &w->s->arena, "leftover",
			work_leftover_goes(w, i) ? LEFTOVER_GOES : LEFTOVER_STAYS,
			path_base(w->leftovers[i]));
	}
}

void work_note_leftovers(struct work *w)
{
	w->notes_leftovers = true;
	if (w->is_loaded)
		leftovers_note(w);
}

/* ---- removal ---- */

static void say_dropped(struct done *d, size_t ngone, size_t nstay, const char *first, bool dry,
	const struct err *why)
{
	struct buf b = { 0 };

	if (strcmp(d->said, "nothing to repair") != 0)
		buf_printf(&b, "%s; ", d->said);
	if (ngone)
		buf_printf(&b, "%s %zu temporary file%s of writers that are gone: %s",
			dry ? "would remove" : "removed", ngone, plural(ngone, "", "s"), first);
	if (nstay)
		buf_printf(&b, "%s%zu temporary file%s stay%s: %s", ngone ? "; " : "", nstay,
			plural(nstay, "", "s"), plural(nstay, "s", ""), why->text);
	done_say(d, "%s", b.p);
	buf_release(&b);
}

int leftovers_drop(struct work *w, bool dry, struct done *d, struct err *err)
{
	size_t n = work_look_leftovers(w, NULL), ngone = 0, nstay = 0;
	bool was_nothing = strcmp(d->said, "nothing to repair") == 0;
	struct err why = { 0 };
	struct buf names = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct err e = { 0 };

		if (!work_leftover_goes(w, i))
			continue;
		if (log_drop_leftover(w->leftovers[i], dry, &e) < 0) {
			if (nstay++ == 0)
				why = e;
			continue;
		}
		if (ngone++ < NAMED)
			buf_printf(&names, "%s%s", names.n ? ", " : "", path_base(w->leftovers[i]));
		else if (ngone == NAMED + 1)
			buf_adds(&names, " ...");
	}
	if (ngone + nstay)
		say_dropped(d, ngone, nstay, names.n ? names.p : "", dry, &why);
	buf_release(&names);
	if (!dry && w->notes_leftovers)
		leftovers_note(w);
	return nstay && !ngone && was_nothing ? err_hand_over(err, &why) : 0;
}
