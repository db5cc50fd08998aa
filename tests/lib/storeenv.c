/*
 * storeenv.c - a private home for tests of the store.
 */
#include "config.h"

#include "tests/lib/storeenv.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/xalloc.h"

enum { STATICS = 8 };

static void give_up(const char *what, const char *name)
{
	fprintf(stderr, "test store: %s %s\n", what, name);
	exit(1);
}

void env_fix_clock(void)
{
	char now[32];

	snprintf(now, sizeof(now), "%lld", (long long)ENV_NOW);
	setenv("BOUGH_NOW", now, 1);
	setenv("BOUGH_SEED", "store", 1);
}

static void make_root(struct env *e)
{
	if (mkdir(e->root, 0700) < 0)
		give_up("can not make", e->root);
}

void env_make(struct env *e)
{
	char path[TEMP_PATH + 16];

	temp_make(e->dir);
	snprintf(e->root, sizeof(e->root), "%s/store", e->dir);
	make_root(e);
	setenv("HOME", e->dir, 1);
	snprintf(path, sizeof(path), "%s/state", e->dir);
	setenv("XDG_STATE_HOME", path, 1);
	snprintf(path, sizeof(path), "%s/data", e->dir);
	setenv("XDG_DATA_HOME", path, 1);
	unsetenv("BOUGH_ROOT");
	unsetenv("DSH_HOME");
}

void env_clear(struct env *e)
{
	temp_clear(e->dir);
	make_root(e);
}

void env_remove(struct env *e)
{
	temp_remove(e->dir);
}

const char *env_path(const struct env *e, const char *name)
{
	static char paths[STATICS][2 * TEMP_PATH];
	static int next;
	char *p = paths[next++ % STATICS];

	if (snprintf(p, sizeof(paths[0]), "%s/%s", e->root, name) >= (int)sizeof(paths[0]))
		give_up("name too long", name);
	return p;
}

static const char *fixture_dir(void)
{
	static char dir[4096];
	const char *src = getenv("srcdir");

	snprintf(dir, sizeof(dir), "%s/tests/format/tree", src ? src : ".");
	return dir;
}

void env_fixture(const struct env *e, const char *name)
{
	static const char *const endings[] = { ".jsonl", ".meta.json", ".reflog" };

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		char *from = xasprintf("%s/%s%s", fixture_dir(), name, endings[i]);
		char *file = xasprintf("%s%s", name, endings[i]);
		size_t n;
		char *p = temp_get(from, &n);

		if (p)
			temp_put(env_path(e, file), p, n);
		else if (i == 0)
			give_up("no fixture", from);
		free(p);
		free(from);
		free(file);
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **env_fixtures(void)
{
	char **names = NULL;
	size_t n = 0, cap = 0;
	DIR *d = opendir(fixture_dir());
	struct dirent *ent;

	if (!d)
		give_up("no folder", fixture_dir());
	while ((ent = readdir(d))) {
		size_t len = strlen(ent->d_name);
		char *path = xasprintf("%s/%s", fixture_dir(), ent->d_name);
		struct stat sb;

		if (len > 6 && strcmp(ent->d_name + len - 6, ".jsonl") == 0 &&
			ent->d_name[0] != '.' && stat(path, &sb) == 0 && S_ISREG(sb.st_mode)) {
			names = xgrow(names, &cap, n + 2, sizeof(*names));
			names[n++] = xstrndup(ent->d_name, len - 6);
		}
		free(path);
	}
	closedir(d);
	if (n == 0)
		give_up("no fixtures in", fixture_dir());
	qsort(names, n, sizeof(*names), by_name);
	names[n] = NULL;
	return names;
}

void env_free_names(char **names)
{
	for (size_t i = 0; names[i]; i++)
		free(names[i]);
	free(names);
}

char *env_expected(size_t *n)
{
	char *path = xasprintf("%s/expected.json", fixture_dir());
	char *p = temp_get(path, n);

	if (!p)
		give_up("no", path);
	free(path);
	return p;
}

struct work *env_open(const struct env *e, const char *name)
{
	char *file = xasprintf("%s.jsonl", name);
	struct work *w = NULL;
	struct err err = { 0 };

	if (work_open(&w, env_path(e, file), &err) < 0 || work_load(w, &err) < 0)
		give_up(name, err.text);
	free(file);
	return w;
}

void env_ok(int rc, const struct err *err)
{
	if (rc < 0)
		fail_msg("%d: %s", rc, err->text);
}

void env_assert_file(const char *path, const char *want, size_t n)
{
	size_t got = 0;
	char *p = temp_get(path, &got);

	if (!p || got != n || memcmp(p, want, n) != 0)
		fail_msg("%s holds\n%.*s\nand not\n%.*s", path, (int)got, p ? p : "", (int)n, want);
	free(p);
}

char *env_line(const char *id, const char *parent, const char *role, const char *content)
{
	char *link = parent ? xasprintf("\"parentId\":\"%s\",", parent) : xstrdup("");
	char *line = xasprintf(
		"{\"id\":\"%s\",%s\"role\":\"%s\",\"content\":\"%s\",\"timestamp\":%lld}\n", id,
		link, role, content, (long long)ENV_NOW);

	free(link);
	return line;
}

struct work *env_open_text(const struct env *e, const char *text)
{
	temp_puts(env_path(e, "s.jsonl"), text);
	return env_open(e, "s");
}

const char *env_id(struct work *w, uint32_t entry)
{
	static char ids[STATICS][600];
	static int next;
	char *p = ids[next++ % STATICS];
	struct session *s = work_session(w);
	struct buf id = { 0 };

	p[0] = '\0';
	if (entry != ENTRY_NONE && s->ops->id(s, entry, &id, NULL) == 0)
		snprintf(p, sizeof(ids[0]), "%.*s", (int)id.n, id.p);
	buf_release(&id);
	return p;
}

uint32_t env_find(struct work *w, const char *id)
{
	return session_find(work_session(w), str_of(id));
}

char *env_record(struct work *w, uint32_t entry, size_t *n)
{
	struct session *s = work_session(w);
	struct buf b = { 0 };

	if (s->ops->record(s, entry, &b, NULL) < 0)
		give_up("no record of", env_id(w, entry));
	*n = b.n;
	return buf_take(&b);
}

size_t env_problems(struct work *w, const char *kind)
{
	struct session *s = work_session(w);
	size_t n = 0;

	for (size_t i = 0; i < s->problems.n; i++)
		n += !kind || strcmp(s->problems.v[i].kind, kind) == 0;
	return n;
}

static void dump(const char *dir, struct buf *out)
{
	struct dirent **v;
	int n = scandir(dir, &v, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", dir, v[i]->d_name);
		struct stat sb;
		size_t len = 0;
		char *p = NULL;

		if (strcmp(v[i]->d_name, ".") != 0 && strcmp(v[i]->d_name, "..") != 0 &&
			lstat(path, &sb) == 0) {
			if (S_ISREG(sb.st_mode))
				p = temp_get(path, &len);
			buf_printf(out, "%s %zu\n", path, len);
			buf_add(out, p, len);
			if (S_ISDIR(sb.st_mode))
				dump(path, out);
		}
		free(p);
		free(path);
		free(v[i]);
	}
	if (n >= 0)
		free(v);
}

char *env_dump(const char *dir, size_t *n)
{
	struct buf b = { 0 };

	dump(dir, &b);
	*n = b.n;
	return b.n ? buf_take(&b) : xstrdup("");
}

void wrong(struct left *l, const char *fmt, ...)
{
	va_list ap;

	if (l->why[0])
		return;
	va_start(ap, fmt);
	vsnprintf(l->why, sizeof(l->why), fmt, ap);
	va_end(ap);
}
