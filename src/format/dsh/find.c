/*
 * find.c - which folders and files hold dsh logs, and whether a log is where
 * its header says. Looks at names and at one first line; loads nothing. The
 * sessions of a root are sessions.c's.
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

size_t dsh_jsonl_stem(const char *name, bool *is_zstd)
{
	size_t n = strlen(name);

	*is_zstd = dsh_name_is_zstd(name);
	if (*is_zstd)
		n -= strlen(".zstd");
	return n > 6 && strncmp(name + n - 6, ".jsonl", 6) == 0 ? n - 6 : 0;
}

bool dsh_is_log_name(const char *name, unsigned *version, bool *is_zstd)
{
	size_t n = dsh_jsonl_stem(name, is_zstd);
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

bool dsh_is_project_name(const char *name)
{
	size_t n = strlen(name);

	if (strcmp(name, "_no-cwd") == 0)
		return true;
	return n > 4 && strncmp(name, "--", 2) == 0 && strcmp(name + n - 2, "--") == 0;
}

char *dsh_log_path(const char *path, bool is_zstd)
{
	size_t n = strlen(path) - (dsh_name_is_zstd(path) ? strlen(".zstd") : 0);

	return xasprintf("%.*s%s", (int)n, path, is_zstd ? ".zstd" : "");
}

char *dsh_root_of(const char *path)
{
	char *real = realpath(path, NULL), *at, *up;

	if (!real)
		real = xstrdup(path);
	at = xstrdup(real);
	for (int level = 0; level < 3; level++) {
		bool is_project = dsh_is_project_name(path_base(at));

		up = path_dir(at);
		free(at);
		at = up;
		if (is_project) {
			free(real);
			return at;
		}
	}
	free(at);
	return real;
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
		buf_add(&id, parts.file, dsh_jsonl_stem(parts.file, &is_zstd));
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
	char *twin = dsh_log_path(path, !dsh_name_is_zstd(path));
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
		if (dsh_is_project_name(at.session)) {
			why = "the log lies flat in its project folder, as early harnesses had it";
			if (s)
				dsh_problem(s, "flat-layout", 0, 0, 0, ENTRY_NONE, "%s", why);
		}
	} else if (h->is_shaped && dsh_is_project_name(at.project) && !why &&
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
	text_set_pause(&text, FORMAT_STINT); /* then it is no header */
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
	is = parts.project && dsh_is_project_name(parts.project);
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
	if (!dsh_jsonl_stem(name, &is_zstd))
		return false;
	return look_at_file(path) == LOOK_HEADER;
}

bool dsh_is_real_folder(int dir, const struct dirent *de)
{
	struct stat st;

	if (de->d_type != DT_UNKNOWN)
		return de->d_type == DT_DIR;
	return fstatat(dir, de->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

struct dsh_logs dsh_find_logs(DIR *dir, unsigned max)
{
	const struct dirent *de = NULL;
	unsigned best = 0, names = 0;
	bool best_is_zstd = false;
	struct dsh_logs logs = { NULL, false, dir ? 0 : errno };

	errno = 0;
	while (dir && names++ < max && (de = readdir(dir))) {
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
	if (dir && !de && errno)
		logs.error = errno;
	return logs;
}

enum dsh_level dsh_level_of(const char *path)
{
	DIR *dir = opendir(path);
	char *log = dsh_find_logs(dir, SAMPLE_NAMES).newest, *real = NULL, *file;
	enum dsh_level level = DSH_NONE;
	const struct dirent *de;
	int names = 0;

	if (dir)
		closedir(dir);
	if (log) {
		file = path_join(path, log);
		level = detect_file(file) ? DSH_SESSION : DSH_NONE;
		free(file);
		free(log);
		if (level)
			return level;
	}
	real = realpath(path, NULL);
	if (real && dsh_is_project_name(path_base(real)))
		level = DSH_PROJECT;
	free(real);
	dir = level ? NULL : opendir(path);
	while (dir && !level && names++ < SAMPLE_NAMES && (de = readdir(dir)))
		if (dsh_is_project_name(de->d_name) && dsh_is_real_folder(dirfd(dir), de))
			level = DSH_ROOT;
	if (dir)
		closedir(dir);
	return level;
}

bool dsh_detect(const char *path, bool is_file)
{
	return is_file ? detect_file(path) : dsh_level_of(path) != DSH_NONE;
}
