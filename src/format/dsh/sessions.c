/*
 * sessions.c - the sessions of a root, by readdir and stat alone. The folders of
 * a project are looked into side by side, since system calls are all the work;
 * what was found is told in the order of the names as they were read.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/pool.h"
#include "base/xalloc.h"

enum { WORTH_THREADS = 64 /* folders */ };

/* A log, or a folder that cannot be read. */
struct hit {
	char *id, *path;
	const char *unreadable; /* the reason, or NULL */
	struct log_id file;
};

/* A name in a project, and what it came to: the newest log and a stray twin, and a folder's error. */
struct place {
	char *path;
	bool is_folder;
	struct hit hits[3];
	unsigned nhits;
};

struct finder {
	found_fn *fn;
	void *arg;
	unsigned found;
};

/* ---- one place ---- */

static void add_unreadable(struct place *place, char *id, char *path, const char *why)
{
	place->hits[place->nhits++] = (struct hit){ .id = id, .path = path, .unreadable = why };
}

/* A log by its path and, seen from `dir`, by its name. */
static void add_log(struct place *place, int dir, const char *name, char *path)
{
	struct stat st;

	if (fstatat(dir, name, &st, 0) < 0) {
		if (errno == ENOENT) /* gone again, or a link to nothing */
			free(path);
		else
			add_unreadable(place, dsh_id_of_path(path), path, strerror(errno));
		return;
	}
	if (!S_ISREG(st.st_mode)) {
		add_unreadable(place, dsh_id_of_path(path), path, "not a regular file");
		return;
	}
	place->hits[place->nhits++] = (struct hit){
		.id = dsh_id_of_path(path),
		.path = path,
		/* whether it can be read shows when it is */
		.file = { .dev = (uint64_t)st.st_dev,
			.ino = (uint64_t)st.st_ino,
			.size = (uint64_t)st.st_size,
			.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
			.exists = true },
	};
}

/* Nobody can say what lies in a folder that cannot be read: it is a row that says why. */
static void add_error(struct place *place, int error)
{
	if (error && error != ENOENT) /* gone again */
		add_unreadable(place, xstrdup(path_base(place->path)), xstrdup(place->path),
			strerror(error));
}

static void look_into(struct place *place)
{
	DIR *dir = opendir(place->path);
	struct dsh_logs logs = dsh_find_logs(dir, UINT_MAX);

	add_error(place, logs.error);
	if (logs.newest)
		add_log(place, dirfd(dir), logs.newest, path_join(place->path, logs.newest));
	if (logs.newest && logs.has_twin) { /* a stray copy in the other encoding is shown, too */
		logs.newest[strlen(logs.newest) - strlen(".zstd")] = '\0';
		add_log(place, dirfd(dir), logs.newest, path_join(place->path, logs.newest));
	}
	free(logs.newest);
	if (dir)
		closedir(dir);
}

static void tell(struct finder *f, struct place *place, const char *project)
{
	for (unsigned i = 0; i < place->nhits; i++) {
		struct hit *hit = &place->hits[i];
		struct found found = { .id = hit->id,
			.path = hit->path,
			.project = project,
			.file = hit->file,
			.unreadable = hit->unreadable };

		f->found++;
		f->fn(&found, f->arg);
		free(hit->id);
		free(hit->path);
	}
	free(place->path);
}

/* ---- a project ---- */

struct places {
	struct place *v;
	size_t n, cap;
};

static void job(void *arg, unsigned thread, size_t i)
{
	struct place *place = &((struct places *)arg)->v[i];

	(void)thread;
	if (place->is_folder)
		look_into(place);
}

/* Session folders, and the flat files of early harnesses. An errno when not all names were read. */
static int gather(DIR *dir, const char *folder, struct places *places)
{
	const struct dirent *de;

	for (errno = 0; (de = readdir(dir)); errno = 0) {
		struct place place = { .is_folder = dsh_is_real_folder(dirfd(dir), de) };
		bool is_zstd;

		if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
			continue;
		if (!place.is_folder && !dsh_jsonl_stem(de->d_name, &is_zstd))
			continue;
		place.path = path_join(folder, de->d_name);
		if (!place.is_folder)
			add_log(&place, dirfd(dir), de->d_name, xstrdup(place.path));
		places->v = xgrow(places->v, &places->cap, places->n + 1, sizeof(*places->v));
		places->v[places->n++] = place;
	}
	return errno;
}

static int scan_project(struct finder *f, const char *folder, const char *project, struct err *err)
{
	DIR *dir = opendir(folder);
	struct places places = { 0 };
	struct place self = { .path = xstrdup(folder) };
	struct pool_work work = { .arg = &places, .job = job };

	if (!dir) {
		free(self.path);
		return err_sys(err, "read %s", folder);
	}
	add_error(&self, gather(dir, folder, &places));
	closedir(dir);
	pool_run(&work, places.n < WORTH_THREADS ? 1 : pool_threads(), places.n);
	for (size_t i = 0; i < places.n; i++)
		tell(f, &places.v[i], project);
	tell(f, &self, project);
	free(places.v);
	return 0;
}

/* ---- a root ---- */

static void scan_session(struct finder *f, const char *folder)
{
	struct place place = { .path = xstrdup(folder) };

	look_into(&place);
	tell(f, &place, "");
}

static void scan_named(struct finder *f, const char *root, const char *project)
{
	char *path = path_join(root, project);
	struct err no = { 0 };

	if (scan_project(f, path, project, &no) < 0) {
		struct place place = { .path = xstrdup(path) };

		add_error(&place, no.sys);
		tell(f, &place, project);
	}
	free(path);
}

/* *pos counts the names of the root that were passed; a project is taken whole. */
static int scan_root(
	struct finder *f, const char *root, uint64_t *pos, unsigned max, struct err *err)
{
	DIR *dir = opendir(root);
	const struct dirent *de;
	uint64_t at = 0;
	int rc = 0;

	if (!dir)
		return err_sys(err, "read %s", root);
	for (errno = 0; (de = readdir(dir)); errno = 0) {
		if (at++ < *pos)
			continue;
		if (f->found >= max) {
			rc = 1;
			break;
		}
		*pos = at;
		if (dsh_is_project_name(de->d_name) && dsh_is_real_folder(dirfd(dir), de))
			scan_named(f, root, de->d_name);
	}
	if (!de && errno)
		rc = err_sys(err, "read %s", root);
	closedir(dir);
	return rc;
}

int dsh_scan(
	const char *root, uint64_t *pos, unsigned max, found_fn *fn, void *arg, struct err *err)
{
	struct finder f = { fn, arg, 0 };
	char *real;
	int rc = 0;

	switch (dsh_level_of(root)) {
	case DSH_SESSION:
		scan_session(&f, root);
		break;
	case DSH_PROJECT:
		real = realpath(root, NULL);
		rc = scan_project(&f, root, path_base(real ? real : root), err);
		free(real);
		break;
	default:
		rc = scan_root(&f, root, pos, max, err);
		break;
	}
	return rc;
}
