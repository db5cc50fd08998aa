/*
 * world.c - every file below a folder.
 */
#include "config.h"

#include "tests/lib/world.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "tests/lib/dshenv.h"
#include "tests/lib/temp.h"

void world_read(struct world *w, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *ent;

	while (d && (ent = readdir(d))) {
		char *path = xasprintf("%s/%s", dir, ent->d_name);
		struct stat st;

		if (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, "..") ||
			lstat(path, &st) < 0) {
			free(path);
		} else if (S_ISDIR(st.st_mode)) {
			world_read(w, path);
			free(path);
		} else {
			struct world_file *f;

			w->v = xgrow(w->v, &w->cap, w->n + 1, sizeof(*w->v));
			f = &w->v[w->n++];
			*f = (struct world_file){ .path = path };
			if (S_ISREG(st.st_mode) && euidaccess(path, R_OK) == 0)
				f->p = temp_get(path, &f->n);
		}
	}
	if (d)
		closedir(d);
}

enum { ID_LEAST = 36 }; /* shorter ones are the fixtures' own */

static void forget_id(char *p, size_t n, const char *id)
{
	size_t len = strlen(id);
	char *at = p;

	while (len >= ID_LEAST && at && (at = memmem(at, n - (size_t)(at - p), id, len)))
		memset(at, '#', len);
}

void world_read_plain(
	struct world *w, const char *dir, const char *new_entry, const char *new_session)
{
	world_read(w, dir);
	for (size_t i = 0; i < w->n; i++) {
		struct world_file *f = &w->v[i];
		bool is_packed = f->p && strstr(f->path, ".zstd");
		char *text = is_packed ? dshenv_decode(f->p, f->n, true) : NULL;

		if (text) {
			free(f->p);
			f->p = text;
			f->n = strlen(text);
		}
		forget_id(f->path, strlen(f->path), new_entry);
		forget_id(f->path, strlen(f->path), new_session);
		forget_id(f->p, f->n, new_entry);
		forget_id(f->p, f->n, new_session);
	}
}

void world_release(struct world *w)
{
	for (size_t i = 0; i < w->n; i++) {
		free(w->v[i].path);
		free(w->v[i].p);
	}
	free(w->v);
	*w = (struct world){ 0 };
}

bool world_is_temp(const char *path)
{
	const char *base = strrchr(path, '/') + 1;
	size_t n = strlen(base);

	return base[0] == '.' && n > 4 &&
	       (strcmp(base + n - 4, ".tmp") == 0 || strcmp(base + n - 4, ".old") == 0);
}

size_t world_count(const struct world *w, const char *part, const char *p, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < w->n && n > 0; i++) {
		const struct world_file *f = &w->v[i];
		const char *at = f->p, *end;

		if (!f->p || world_is_temp(f->path) || (part && !strstr(f->path, part)))
			continue;
		end = f->p + f->n;
		while ((at = memmem(at, (size_t)(end - at), p, n))) {
			count++;
			at += n;
		}
	}
	return count;
}

size_t world_texts(const struct world *w, const char *part, const char *text)
{
	return world_count(w, part, text, strlen(text));
}

const struct world_file *world_file(const struct world *w, const char *path)
{
	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->v[i].path, path) == 0)
			return &w->v[i];
	return NULL;
}

const char *world_difference(const struct world *a, const struct world *b,
	bool (*is_passed_over)(const struct world_file *f))
{
	for (size_t i = 0; i < a->n; i++) {
		const struct world_file *f = &a->v[i], *g = world_file(b, f->path);

		if (is_passed_over && is_passed_over(f))
			continue;
		if (!g || f->n != g->n || (f->n && memcmp(f->p, g->p, f->n) != 0))
			return f->path;
	}
	return NULL;
}
