/*
 * ops-trash.c - a session goes to the trash and comes back: the file, its
 * sidecar, its reflog. Nothing is ever deleted here.
 *
 * The place is the desktop's trash ($XDG_DATA_HOME/Trash) where files can be
 * moved there (the same device, the same mount of it), else a folder ".trash" of
 * the same form beside the session:
 * files/NAME, and info/NAME.trashinfo that says where NAME was. Every file gets
 * an info of its own, so that any trash program can put it back. A reflog in
 * the state folder stays: it belongs to the path and fits again after untrash.
 *
 * Whoever may write beside a session could put a link there and have it moved
 * anywhere. So the folders must be real ones, of this user or of root; only the
 * person's own Trash itself may be a link.
 *
 * Order: the info, then the file; the session before its sidecar and reflog,
 * so that a crash never leaves a session that lost its title or labels.
 */
#include "config.h"
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"
#include "format/tree/tree.h"

enum { NAME_TRIES = 1000, INFO_MAX = 64 << 10 };

enum { PART_SESSION, PART_SIDECAR, PART_REFLOG, NPARTS };
static const char *const endings[NPARTS] = {
	[PART_SESSION] = ".jsonl",
	[PART_SIDECAR] = ".meta.json",
	[PART_REFLOG] = ".reflog",
};

static const char beside[] = ".trash";

struct trash {
	char *place, *files, *info; /* the place, and the two folders in it */
	bool is_beside;             /* the session, not the person's own */
	char *from[NPARTS]; /* NULL: there is no such file */
	char *to[NPARTS], *note[NPARTS];
	int nmoved, nnoted; /* parts that are done */
};

static void trash_release(struct trash *t)
{
	free(t->place);
	free(t->files);
	free(t->info);
	for (int i = 0; i < NPARTS; i++) {
		free(t->from[i]);
		free(t->to[i]);
		free(t->note[i]);
	}
}

/* Files move within one mount of one device; 0 where the system does not tell mounts apart. */
struct mount {
	dev_t dev;
	uint64_t id;
};

static uint64_t mount_id(const char *path)
{
#ifdef STATX_MNT_ID
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &st) == 0 && (st.stx_mask & STATX_MNT_ID))
		return st.stx_mnt_id;
#else
	(void)path;
#endif
	return 0;
}

/* Of a path or of the nearest folder above it that exists. */
static bool mount_of(const char *path, struct mount *m)
{
	char *p = xstrdup(path), *up;
	struct stat sb;
	bool ok;

	while (!(ok = stat(p, &sb) == 0) && errno == ENOENT && strcmp(p, "/") != 0 &&
		strcmp(p, ".") != 0) {
		up = path_dir(p);
		free(p);
		p = up;
	}
	*m = (struct mount){ .dev = ok ? sb.st_dev : 0, .id = ok ? mount_id(p) : 0 };
	free(p);
	return ok;
}

static char *home_trash(void)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (data && data[0] == '/')
		return path_join(data, "Trash");
	return home && home[0] == '/' ? path_join(home, ".local/share/Trash") : NULL;
}

static void set_place(struct trash *t, char *place_take, bool is_beside)
{
	free(t->place);
	free(t->files);
	free(t->info);
	t->place = place_take;
	t->files = path_join(t->place, "files");
	t->info = path_join(t->place, "info");
	t->is_beside = is_beside;
}

static void choose_place(struct trash *t, const char *dir)
{
	char *home = home_trash();
	struct mount here, there;

	if (home && mount_of(dir, &here) && mount_of(home, &there) && here.dev == there.dev &&
		here.id == there.id) {
		set_place(t, home, false);
		return;
	}
	free(home);
	set_place(t, path_join(dir, beside), true);
}

/* It may be missing still; what is there must be a folder that nobody else put there. */
static int check_folder(const char *path, bool may_be_link, struct err *err)
{
	struct stat sb;

	if ((may_be_link ? stat(path, &sb) : lstat(path, &sb)) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "look at %s", path);
	if (!S_ISDIR(sb.st_mode))
		return err_set(err, ERR_UNSUPPORTED, "nothing goes to the trash: %s is %s, no folder",
			path, S_ISLNK(sb.st_mode) ? "a link" : log_kind(sb.st_mode));
	if (sb.st_uid != geteuid() && sb.st_uid != 0)
		return err_set(err, ERR_UNSUPPORTED,
			"nothing goes to the trash: %s belongs to another user", path);
	return 0;
}

static int check_place(const struct trash *t, struct err *err)
{
	int rc = check_folder(t->place, !t->is_beside, err);

	if (rc == 0)
		rc = check_folder(t->files, false, err);
	return rc < 0 ? rc : check_folder(t->info, false, err);
}

static bool is_taken(const char *path)
{
	struct stat sb;

	return lstat(path, &sb) == 0 || errno != ENOENT;
}

/* Where a part goes under a stem: "<id>" or "<id>.2", the same for all parts. */
static void name_part(struct trash *t, int part, const char *stem)
{
	char *name = xasprintf("%s%s", stem, endings[part]);
	char *note = xasprintf("%s.trashinfo", name);

	free(t->to[part]);
	free(t->note[part]);
	t->to[part] = path_join(t->files, name);
	t->note[part] = path_join(t->info, note);
	free(name);
	free(note);
}

static int choose_names(struct trash *t, const char *id, struct err *err)
{
	for (int n = 1; n < NAME_TRIES; n++) {
		char *stem = n == 1 ? xstrdup(id) : xasprintf("%s.%d", id, n);
		bool taken = false;

		for (int i = 0; i < NPARTS; i++) {
			name_part(t, i, stem);
			taken = taken || is_taken(t->to[i]) || is_taken(t->note[i]);
		}
		free(stem);
		if (!taken)
			return 0;
	}
	return err_set(err, ERR_EXISTS, "every name for %s is taken in %s", id, t->files);
}

/* The form of the trash specification: local time, the path percent-encoded. */
static void put_info(struct buf *out, const char *path)
{
	time_t now = clock_now_ms() / 1000;
	char when[32] = "";
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
	buf_adds(out, "[Trash Info]\nPath=");
	for (const unsigned char *p = (const unsigned char *)path; *p; p++)
		if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			(*p >= '0' && *p <= '9') || strchr("/-_.~", *p))
			buf_addc(out, *p);
		else
			buf_printf(out, "%%%02X", *p);
	buf_printf(out, "\nDeletionDate=%s\n", when);
}

static int publish_info(const struct trash *t, int part, struct err *err)
{
	struct buf text = { 0 };
	struct log_pub *pub = NULL;
	int rc;

	put_info(&text, t->from[part]);
	rc = log_pub_begin(&pub, t->note[part], err);
	if (rc == 0)
		rc = log_pub_write(pub, text.p, text.n, err);
	if (rc == 0)
		rc = log_pub_commit(&pub, err);
	log_pub_abort(&pub);
	buf_release(&text);
	return rc;
}

/* What was moved goes back, the newest first; what can not is named in the error. */
static void move_back(struct trash *t, struct err *cause)
{
	struct err e = { 0 }, said = *cause;
	const char *stuck = NULL;

	for (int i = t->nmoved; i-- > 0;)
		if (t->from[i] && log_move(t->to[i], t->from[i], &e) < 0)
			stuck = t->to[i];
	for (int i = t->nnoted; i-- > 0;)
		if (t->from[i] && (i >= t->nmoved || !is_taken(t->to[i])))
			log_unlink(t->note[i], NULL);
	if (!stuck)
		return;
	err_clear(cause);
	err_set(cause, said.code, "%.100s; %.100s could not be moved back: %.80s", said.text, stuck,
		e.text);
	cause->sys = said.sys;
}

static int move_parts(struct trash *t, struct err *err)
{
	int rc = 0;

	for (int i = 0; i < NPARTS && rc == 0; i++) {
		if (t->from[i])
			rc = publish_info(t, i, err);
		if (rc < 0)
			break;
		t->nnoted = i + 1;
		if (t->from[i])
			rc = log_move(t->from[i], t->to[i], err);
		if (rc == 0)
			t->nmoved = i + 1;
	}
	if (rc < 0)
		move_back(t, err);
	return rc;
}

/* Absolute, so that the info means the same from every folder; NULL when there is no such file. */
static char *present(const char *path)
{
	struct stat sb;
	char *dir, *real = NULL, *out = NULL;

	if (lstat(path, &sb) < 0)
		return NULL;
	dir = path_dir(path);
	real = realpath(dir, NULL);
	if (real)
		out = path_join(real, path_base(path));
	free(real);
	free(dir);
	return out;
}

static int find_parts(struct work *w, struct trash *t, struct err *err)
{
	char *reflog = tree_reflog_path(w->path);

	t->from[PART_SESSION] = present(w->path);
	t->from[PART_SIDECAR] = present(w->sidecar);
	t->from[PART_REFLOG] = present(reflog);
	free(reflog);
	if (!t->from[PART_SESSION])
		return err_set(err, ERR_NOTFOUND, "%s is gone", w->path);
	return 0;
}

/* The place is looked at before anything is made in it, and again when all of it is there. */
static int move_to_place(struct trash *t, struct err *err)
{
	int rc = log_mkdirs(t->files, err);

	if (rc == 0)
		rc = log_mkdirs(t->info, err);
	if (rc == 0)
		rc = check_place(t, err);
	return rc < 0 ? rc : move_parts(t, err);
}

static int choose(struct work *w, struct trash *t, struct err *err)
{
	int rc = check_place(t, err);

	return rc < 0 ? rc : choose_names(t, w->s->id, err);
}

static int trash(struct work *w, struct trash *t, bool dry, struct err *err)
{
	struct log *log = NULL;
	struct err e = { 0 };
	int rc = find_parts(w, t, err);

	if (rc < 0)
		return rc;
	choose_place(t, w->dir);
	rc = choose(w, t, err);
	if (rc < 0 || dry)
		return rc;
	/* no other bough is in the middle of an append */
	rc = log_open(&log, w->path, 0, &e);
	if (rc < 0 && !err_is_denied(&e)) /* a file that nobody may write needs no lock */
		return err_hand_over(err, &e);
	err_clear(&e);
	rc = move_to_place(t, &e);
	/* not everything that files can not cross shows as a device or a mount */
	if (rc < 0 && e.sys == EXDEV && !t->is_beside && t->nmoved == 0) {
		err_clear(&e);
		t->nnoted = 0;
		set_place(t, path_join(w->dir, beside), true);
		rc = choose(w, t, &e);
		if (rc == 0)
			rc = move_to_place(t, &e);
	}
	log_close(&log);
	return rc < 0 ? err_hand_over(err, &e) : 0;
}

int work_trash(struct work **wp, bool dry, struct done *d, struct err *err)
{
	struct work *w = *wp;
	struct trash t = { 0 };
	struct err e = { 0 };
	int rc;

	done_begin(d);
	rc = work_has(w, FORMAT_TRASH, err);
	if (rc < 0)
		return rc;
	rc = trash(w, &t, dry, &e);
	if (rc == 0) {
		done_set(d->session, sizeof(d->session), str_of(w->s->id));
		done_set(d->path, sizeof(d->path), str_of(t.to[PART_SESSION]));
		done_say(d, "%s %s to %s", dry ? "would move" : "moved", w->s->id,
			t.to[PART_SESSION]);
		if (!dry)
			work_close(wp);
	}
	trash_release(&t);
	return rc < 0 ? err_hand_over(err, &e) : 0;
}

/* ---- back again ---- */

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static char *read_info(const char *note, struct err *err)
{
	static const char key[] = "\nPath=";
	struct buf text = { 0 }, path = { 0 };
	const char *p;

	if (log_read_beside(note, INFO_MAX, &text, NULL, err) < 0)
		goto out;
	p = strstr(text.p ? text.p : "", key);
	for (p = p ? p + strlen(key) : ""; *p && *p != '\n'; p++) {
		int high = *p == '%' ? hex_value(p[1]) : -1, low = high < 0 ? -1 : hex_value(p[2]);

		buf_addc(&path, low < 0 ? *p : (char)(high << 4 | low));
		p += low < 0 ? 0 : 2;
	}
	if (path.n == 0 || path.p[0] != '/' || strlen(path.p) != path.n) {
		err_set(err, ERR_CORRUPT, "%s does not say where the file was", note);
		buf_clear(&path);
	}
out:
	buf_release(&text);
	return path.n ? buf_take(&path) : (buf_release(&path), NULL);
}

/* The trash place and the stem, out of ".../files/STEM.jsonl". */
static int read_trashed(struct trash *t, const char *path, struct err *err)
{
	const char *base = path_base(path);
	size_t n = strlen(base), end = strlen(endings[PART_SESSION]);
	char *files, *place, *stem;
	int rc;

	if (n <= end || strcmp(base + n - end, endings[PART_SESSION]) != 0)
		return err_set(err, ERR_USAGE, "%s is no trashed session", path);
	files = path_dir(path);
	place = path_dir(files);
	free(files);
	set_place(t, place, strcmp(path_base(place), beside) == 0);
	rc = check_place(t, err);
	if (rc < 0)
		return rc;
	stem = xstrndup(base, n - end);
	for (int i = 0; i < NPARTS; i++) {
		name_part(t, i, stem);
		if (i != PART_SESSION && !is_taken(t->to[i]))
			continue;
		t->from[i] = read_info(t->note[i], err);
		if (!t->from[i]) {
			free(stem);
			return ERR_CORRUPT;
		}
	}
	free(stem);
	return 0;
}

int store_untrash(const struct done *trashed, struct err *err)
{
	struct trash t = { 0 };
	struct err e = { 0 };
	int i, rc = read_trashed(&t, trashed->path, &e);

	/* the session last: when it shows up its title and labels are there */
	for (i = NPARTS; rc == 0 && i-- > 0;)
		if (t.from[i])
			rc = log_move(t.to[i], t.from[i], &e);
	if (rc < 0) {
		for (int k = i + 1; k < NPARTS; k++)
			if (t.from[k])
				log_move(t.from[k], t.to[k], NULL);
	} else {
		for (i = 0; i < NPARTS; i++)
			if (t.from[i])
				log_unlink(t.note[i], NULL);
	}
	trash_release(&t);
	return rc < 0 ? err_hand_over(err, &e) : 0;
}
