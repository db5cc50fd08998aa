/*
 * find.c - which folders and files hold tree sessions, and their names. Looks
 * at a bounded number of names and first bytes; loads nothing.
 */
#include "config.h"

#include "format/tree/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/xalloc.h"

enum {
	SAMPLE_NAMES = 4096, /* names of a folder */
	SAMPLE_FILES = 16,   /* files whose first lines are looked at */
	SAMPLE_LINES = 16,
	SAMPLE_BYTES = 64 << 10
};

/* What the first lines of a file look like. */
enum look {
	LOOK_NOTHING, /* no line is a JSON object */
	LOOK_OTHER,   /* objects, but no entries */
	LOOK_ENTRY
};

/* An entry has a role and, unlike the records of the other formats, no type. */
static enum look look_at_line(const char *p, size_t n)
{
	static const char *const keys[] = { "role", "type" };
	struct json_scan scan;

	if (json_scan(p, n, keys, 2, &scan) != JSON_OK)
		return LOOK_NOTHING;
	if (scan.field[0].type == JSON_STRING && scan.field[1].type == JSON_NONE)
		return LOOK_ENTRY;
	return LOOK_OTHER;
}

static enum look look_at_bytes(const char *p, size_t n)
{
	enum look best = LOOK_NOTHING;

	if (n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) {
		p += 3;
		n -= 3;
	}
	for (int line = 0; line < SAMPLE_LINES && n && best != LOOK_ENTRY; line++) {
		const char *end = memchr(p, '\n', n);
		size_t len = end ? (size_t)(end - p) : n;
		enum look look = look_at_line(p, len);

		if (look > best)
			best = look;
		p += len + (end != NULL);
		n -= len + (end != NULL);
	}
	return best;
}

static enum look look_at_file(const char *path)
{
	struct log_reader *r = NULL;
	enum look look = LOOK_NOTHING;
	char *p = NULL;
	size_t got = 0;

	if (log_reader_open(&r, path, NULL) < 0)
		return LOOK_NOTHING;
	p = xmalloc(SAMPLE_BYTES);
	if (log_pread(r, 0, p, SAMPLE_BYTES, &got, NULL) == 0)
		look = look_at_bytes(p, got);
	free(p);
	log_reader_close(&r);
	return look;
}

/* A name that SoPhi lists as a session: "<legal id>.jsonl". *id is yours. */
static bool is_session_name(const char *name, char **id)
{
	size_t n = strlen(name);

	if (n <= 6 || strcmp(name + n - 6, ".jsonl") != 0)
		return false;
	*id = xstrndup(name, n - 6);
	if (tree_id_is_legal(*id))
		return true;
	free(*id);
	return false;
}

static bool ends_in_jsonl(const char *path)
{
	size_t n = strlen(path);

	return n > 6 && strcmp(path + n - 6, ".jsonl") == 0;
}

static bool detect_folder(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *de;
	int names = 0, files = 0;
	bool is_other = false, is_tree = false;

	if (!dir)
		return false;
	while (!is_tree && files < SAMPLE_FILES && names < SAMPLE_NAMES && (de = readdir(dir))) {
		struct stat st;
		char *id, *file;
		enum look look;

		names++;
		if (!is_session_name(de->d_name, &id))
			continue;
		free(id);
		if (fstatat(dirfd(dir), de->d_name, &st, 0) < 0 || !S_ISREG(st.st_mode))
			continue;
		files++;
		file = path_join(path, de->d_name);
		look = look_at_file(file);
		free(file);
		is_tree = look == LOOK_ENTRY;
		is_other = is_other || look == LOOK_OTHER;
	}
	closedir(dir);
	return is_tree || (files && !is_other);
}

bool tree_detect(const char *path, bool is_file)
{
	enum look look;

	if (!is_file)
		return detect_folder(path);
	look = look_at_file(path);
	return look == LOOK_ENTRY || (look == LOOK_NOTHING && ends_in_jsonl(path));
}

/* ---- the sessions of a root ---- */

static void fill_id(const struct stat *st, struct log_id *id)
{
	*id = (struct log_id){ .dev = (uint64_t)st->st_dev,
		.ino = (uint64_t)st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
		.exists = true };
}

/* Hands one name on when it is a session's; what is no file has the reason. */
static void report_name(int dir, const char *root, const char *name, found_fn *fn, void *arg)
{
	struct found f = { .project = "" };
	struct stat st;
	char *id = NULL, *path = NULL;

	if (!is_session_name(name, &id))
		return;
	if (fstatat(dir, name, &st, 0) < 0) {
		if (errno == ENOENT) /* gone again, or a link to nothing */
			goto out;
		f.unreadable = strerror(errno);
	} else if (!S_ISREG(st.st_mode)) {
		f.unreadable = log_kind(st.st_mode);
	} else {
		fill_id(&st, &f.file);
		if (faccessat(dir, name, R_OK, AT_EACCESS) < 0)
			f.unreadable = strerror(errno);
	}
	path = path_join(root, name);
	f.id = id;
	f.path = path;
	fn(&f, arg);
out:
	free(path);
	free(id);
}

/*
 * *pos counts the names that were passed. Reading a folder again from the
 * start costs little beside the stat of each session; a name that moves
 * meanwhile is found by the next look.
 */
int tree_scan(const char *root, uint64_t *pos, unsigned max, found_fn *fn, void *arg,
	struct err *err)
{
	DIR *dir = opendir(root);
	const struct dirent *de;
	uint64_t at = 0;
	unsigned taken = 0;
	int rc = 0;

	if (!dir)
		return err_sys(err, "read %s", root);
	errno = 0;
	while ((de = readdir(dir))) {
		if (at++ < *pos)
			continue;
		if (taken++ >= max) {
			rc = 1;
			break;
		}
		report_name(dirfd(dir), root, de->d_name, fn, arg);
		*pos = at;
		errno = 0;
	}
	if (!de && errno)
		rc = err_sys(err, "read %s", root);
	closedir(dir);
	return rc;
}
