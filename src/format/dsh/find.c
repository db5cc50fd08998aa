/*
 * find.c - which folders and files hold dsh logs, the sessions of a root, and
 * whether a log is where its header says. Looks at names and at one first
 * line; loads nothing.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/xalloc.h"

enum { SAMPLE_NAMES = 4096, VERSION_MAX = 999 };

/* ---- names ---- */

/* "<stem>.jsonl" or "<stem>.jsonl.zstd": the stem's length, 0 for any other name. */
static size_t jsonl_stem(const char *name, bool *is_zstd)
{
	size_t n = strlen(name);

	*is_zstd = n > 5 && strcmp(name + n - 5, ".zstd") == 0;
	if (*is_zstd)
		n -= 5;
	return n > 6 && strncmp(name + n - 6, ".jsonl", 6) == 0 ? n - 6 : 0;
}

bool dsh_is_log_name(const char *name, unsigned *version, bool *is_zstd)
{
	size_t n = jsonl_stem(name, is_zstd);
	unsigned v = 0;

	*version = 0;
	if (n < 7 || strncmp(name, "session", 7) != 0)
		return false;
	if (n == 7)
		return true;
	if (name[7] != '.' || name[8] != 'v' || n < 10 || name[9] == '0')
		return false;
	for (size_t i = 9; i < n; i++) {
		if (name[i] < '0' || name[i] > '9' || v > VERSION_MAX)
			return false;
		v = v * 10 + (unsigned)(name[i] - '0');
	}
	*version = v;
	return true;
}

static bool is_project_name(const char *name)
{
	size_t n = strlen(name);

	if (strcmp(name, "_no-cwd") == 0)
		return true;
	return n > 4 && strncmp(name, "--", 2) == 0 && strcmp(name + n - 2, "--") == 0;
}

/* The last parts of a path, as far as it has them; NULL otherwise. All are yours. */
struct parts {
	char *file, *session, *project;
};

static void split(const char *path, struct parts *parts)
{
	char *dir = path_dir(path), *up = path_dir(dir);

	parts->file = xstrdup(path_base(path));
	parts->session = strchr(path, '/') ? xstrdup(path_base(dir)) : NULL;
	parts->project = strchr(dir, '/') ? xstrdup(path_base(up)) : NULL;
	free(dir);
	free(up);
}

/* The same for a path that does not show its folders. */
static void split_real(const char *path, struct parts *parts)
{
	char *real = realpath(path, NULL);

	split(real ? real : path, parts);
	free(real);
}

static void parts_release(struct parts *parts)
{
	free(parts->file);
	free(parts->session);
	free(parts->project);
}

static bool is_whole(const struct parts *parts)
{
	return parts->session && parts->project && *parts->session && *parts->project &&
	       strcmp(parts->session, ".") && strcmp(parts->session, "..") &&
	       strcmp(parts->project, ".") && strcmp(parts->project, "..");
}

char *dsh_id_of_path(const char *path)
{
	struct parts parts;
	struct buf id = { 0 };
	unsigned version;
	bool is_zstd;

	split(path, &parts);
	if (!is_whole(&parts)) {
		parts_release(&parts);
		split_real(path, &parts);
	}
	if (dsh_is_log_name(parts.file, &version, &is_zstd) && parts.session && *parts.session)
		dsh_put_id_of_name(&id, parts.session);
	else
		buf_add(&id, parts.file, jsonl_stem(parts.file, &is_zstd));
	if (!id.n)
		buf_adds(&id, parts.file);
	parts_release(&parts);
	return buf_take(&id);
}

/* ---- is it where its header says? ---- */

static bool same_file(const char *a, const char *b)
{
	char *x = realpath(a, NULL), *y = realpath(b, NULL);
	bool same = x && y && strcmp(x, y) == 0;

	free(x);
	free(y);
	return same;
}

static const char *place_problem(struct session *s, const char *path, const struct parts *at,
	const struct buf *session, const struct buf *project)
{
	char *dir, *up, *top, *implied;
	const char *why;

	if (strcmp(at->session, session->p) == 0 && strcmp(at->project, project->p) == 0)
		return NULL;
	dir = path_dir(path);
	up = path_dir(dir);
	top = path_dir(up);
	implied = xasprintf("%s/%s/%s/%s", top, project->p, session->p, at->file);
	why = same_file(path, implied) ? NULL
	      : strcmp(at->session, session->p)
		      ? "the header names another id than its folder"
		      : "the header names another cwd than its project folder";
	if (why && s)
		dsh_problem(s, "wrong-place", 1, 0, 0, ENTRY_NONE, "%s: it belongs into %s/%s", why,
			project->p, session->p);
	free(dir);
	free(up);
	free(top);
	free(implied);
	return why;
}

/* The same session in the other encoding, beside it. */
static const char *twin_problem(struct session *s, const char *path)
{
	size_t n = strlen(path);
	bool is_zstd = n > 5 && strcmp(path + n - 5, ".zstd") == 0;
	char *twin = is_zstd ? xstrndup(path, n - 5) : xasprintf("%s.zstd", path);
	bool exists = access(twin, F_OK) == 0;

	free(twin);
	if (!exists)
		return NULL;
	dsh_problem(s, "wrong-encoding", 0, 0, 0, ENTRY_NONE,
		"the same session lies beside it in the other encoding");
	return "the same session lies beside it in the other encoding";
}

const char *dsh_check_place(struct session *s, const char *path, const struct dsh_header *h)
{
	struct buf session = { 0 }, project = { 0 };
	struct str id = { h->id.p, h->id.n }, cwd = { h->cwd.p, h->cwd.n };
	const char *why = s ? twin_problem(s, path) : NULL;
	struct parts at;
	unsigned version;
	bool is_zstd;

	split(path, &at);
	if (!is_whole(&at)) {
		parts_release(&at);
		split_real(path, &at);
	}
	if (!is_whole(&at))
		goto out;
	if (!dsh_is_log_name(at.file, &version, &is_zstd)) {
		if (is_project_name(at.session)) {
			why = "the log lies flat in its project folder, as early harnesses had it";
			if (s)
				dsh_problem(s, "flat-layout", 0, 0, 0, ENTRY_NONE, "%s", why);
		}
	} else if (h->is_shaped && is_project_name(at.project) && !why &&
		   dsh_put_session_name(&session, id) && dsh_put_project_name(&project, cwd)) {
		why = place_problem(s, path, &at, &session, &project);
	}
out:
	parts_release(&at);
	buf_release(&session);
	buf_release(&project);
	return why;
}

/* ---- detection ---- */

enum look { LOOK_NOTHING, LOOK_OTHER, LOOK_HEADER };

static enum look look_at_line(const char *p, size_t n)
{
	static const char *const keys[] = { "type", "version", "createdAt", "delegationDepth" };
	struct json_scan sc;

	if (json_scan(p, n, keys, 4, &sc) != JSON_OK)
		return LOOK_NOTHING;
	if (sc.field[0].type == JSON_STRING &&
		json_string_eq(json_raw(p, &sc.field[0]), "session") &&
		sc.field[1].type != JSON_NONE &&
		(sc.field[2].type != JSON_NONE || sc.field[3].type != JSON_NONE))
		return LOOK_HEADER;
	return LOOK_OTHER;
}

static enum look look_at_file(const char *path)
{
	struct dsh_text text;
	struct log_line line;
	bool after_damage;
	enum look look = LOOK_NOTHING;

	if (text_open(&text, path, NULL) < 0)
		return LOOK_NOTHING;
	if (text_next_line(&text, &line, &after_damage, NULL) == 1 && !line.too_long)
		look = look_at_line(line.p, line.n);
	text_close(&text);
	return look;
}

static bool is_in_layout(const char *path)
{
	struct parts parts;
	bool is;

	split(path, &parts);
	if (!is_whole(&parts)) {
		parts_release(&parts);
		split_real(path, &parts);
	}
	is = parts.project && is_project_name(parts.project);
	parts_release(&parts);
	return is;
}

static bool detect_file(const char *path)
{
	unsigned version;
	bool is_zstd;
	const char *name = path_base(path);

	if (dsh_is_log_name(name, &version, &is_zstd) && (is_zstd || is_in_layout(path)))
		return true;
	if (!jsonl_stem(name, &is_zstd))
		return false;
	return look_at_file(path) == LOOK_HEADER;
}

static bool is_real_folder(int dir, const struct dirent *de)
{
	struct stat st;

	if (de->d_type != DT_UNKNOWN)
		return de->d_type == DT_DIR;
	return fstatat(dir, de->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* The logs in a session's folder. */
struct logs {
	char *newest;    /* name of the newest generation; NULL: there is none */
	bool has_twin;   /* the same one lies beside it without ".zstd" */
	int error;       /* errno when the folder cannot be read */
};

static struct logs find_logs(DIR *dir)
{
	const struct dirent *de;
	unsigned best = 0, names = 0;
	bool best_is_zstd = false;
	struct logs logs = { NULL, false, dir ? 0 : errno };

	while (dir && names++ < SAMPLE_NAMES && (de = readdir(dir))) {
		unsigned version;
		bool is_zstd;

		if (!dsh_is_log_name(de->d_name, &version, &is_zstd))
			continue;
		if (logs.newest && version == best && is_zstd != best_is_zstd)
			logs.has_twin = true;
		if (logs.newest && (version < best || (version == best && !is_zstd)))
			continue;
		logs.has_twin = logs.has_twin && version == best;
		free(logs.newest);
		logs.newest = xstrdup(de->d_name);
		best = version;
		best_is_zstd = is_zstd;
	}
	return logs;
}

enum level { LEVEL_NONE, LEVEL_SESSION, LEVEL_PROJECT, LEVEL_ROOT };

/* What a folder is, by its own name and the names in it. */
static enum level level_of(const char *path)
{
	DIR *dir = opendir(path);
	char *log = find_logs(dir).newest, *real = NULL, *file;
	enum level level = LEVEL_NONE;
	const struct dirent *de;
	int names = 0;

	if (dir)
		closedir(dir);
	if (log) {
		file = path_join(path, log);
		level = detect_file(file) ? LEVEL_SESSION : LEVEL_NONE;
		free(file);
		free(log);
		if (level)
			return level;
	}
	real = realpath(path, NULL);
	if (real && is_project_name(path_base(real)))
		level = LEVEL_PROJECT;
	free(real);
	dir = level ? NULL : opendir(path);
	while (dir && !level && names++ < SAMPLE_NAMES && (de = readdir(dir)))
		if (is_project_name(de->d_name) && is_real_folder(dirfd(dir), de))
			level = LEVEL_ROOT;
	if (dir)
		closedir(dir);
	return level;
}

bool dsh_detect(const char *path, bool is_file)
{
	return is_file ? detect_file(path) : level_of(path) != LEVEL_NONE;
}

/* ---- the sessions of a root ---- */

struct finder {
	found_fn *fn;
	void *arg;
	unsigned found;
};

static void fill_id(const struct stat *st, struct log_id *id)
{
	*id = (struct log_id){ .dev = (uint64_t)st->st_dev,
		.ino = (uint64_t)st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
		.exists = true };
}

/* A name in a folder that is open; the path is what the found one goes by. */
static void report(struct finder *f, int dir, const char *path, const char *project)
{
	struct found found = { .path = path, .project = project };
	char *id = dsh_id_of_path(path);
	struct stat st;

	if (fstatat(dir, path_base(path), &st, 0) < 0) {
		if (errno == ENOENT)
			goto out;
		found.unreadable = strerror(errno);
	} else if (!S_ISREG(st.st_mode)) {
		goto out;
	} else {
		fill_id(&st, &found.file); /* whether it can be read shows when it is */
	}
	found.id = id;
	f->found++;
	f->fn(&found, f->arg);
out:
	free(id);
}

/* Nobody can say what lies in a folder that cannot be read: it is a row that says why. */
static void report_folder(struct finder *f, const char *folder, const char *project, int error)
{
	struct found found = { .id = path_base(folder),
		.path = folder,
		.project = project,
		.unreadable = strerror(error) };

	if (error == ENOENT) /* gone again */
		return;
	f->found++;
	f->fn(&found, f->arg);
}

static void scan_session(struct finder *f, const char *folder, const char *project)
{
	DIR *dir = opendir(folder);
	struct logs logs = find_logs(dir);
	char *path, *twin;

	if (logs.error)
		report_folder(f, folder, project, logs.error);
	if (!logs.newest)
		goto out;
	path = path_join(folder, logs.newest);
	report(f, dirfd(dir), path, project);
	if (logs.has_twin) { /* a stray copy in the other encoding is shown, too */
		twin = xstrndup(path, strlen(path) - strlen(".zstd"));
		report(f, dirfd(dir), twin, project);
		free(twin);
	}
	free(path);
	free(logs.newest);
out:
	if (dir)
		closedir(dir);
}

static int scan_project(struct finder *f, const char *folder, const char *project, struct err *err)
{
	DIR *dir = opendir(folder);
	const struct dirent *de;
	bool is_zstd;

	if (!dir)
		return err_sys(err, "read %s", folder);
	while ((de = readdir(dir))) {
		char *path;

		if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
			continue;
		path = path_join(folder, de->d_name);
		if (is_real_folder(dirfd(dir), de))
			scan_session(f, path, project);
		else if (jsonl_stem(de->d_name, &is_zstd))
			report(f, dirfd(dir), path, project); /* the flat layout of early harnesses */
		free(path);
	}
	closedir(dir);
	return 0;
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
	errno = 0;
	while ((de = readdir(dir))) {
		if (at++ < *pos)
			continue;
		if (f->found >= max) {
			rc = 1;
			break;
		}
		*pos = at;
		if (is_project_name(de->d_name) && is_real_folder(dirfd(dir), de)) {
			char *path = path_join(root, de->d_name);
			struct err no = { 0 };

			if (scan_project(f, path, de->d_name, &no) < 0)
				report_folder(f, path, de->d_name, no.sys);
			free(path);
		}
		errno = 0;
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

	switch (level_of(root)) {
	case LEVEL_SESSION:
		scan_session(&f, root, "");
		break;
	case LEVEL_PROJECT:
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
