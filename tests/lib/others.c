/*
 * others.c - the acts of another process beside an operation.
 */
#include "config.h"

#include "tests/lib/others.h"
#include "tests/lib/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void give_up(const char *what)
{
	fprintf(stderr, "the other process can not %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- what he wrote ---- */

static void keep(struct others *o, const char *p, size_t n)
{
	struct piece *k = &o->piece[o->npieces++];

	if (o->npieces > OTHERS_PIECES)
		give_up("remember so much");
	k->n = n;
	k->p = malloc(n + 1);
	if (!k->p)
		give_up("get memory");
	memcpy(k->p, p, n);
	k->p[n] = '\0';
}

static void forget(struct others *o)
{
	while (o->npieces > 0)
		free(o->piece[--o->npieces].p);
}

static void write_all(int fd, const char *p, size_t n)
{
	if (write(fd, p, n) != (ssize_t)n)
		give_up("write");
}

static void write_kept(struct others *o, int fd, const char *p, size_t n)
{
	write_all(fd, p, n);
	keep(o, p, n);
}

/* Behind a line that has no end his own begins with a newline. */
static void end_line(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char last = '\n';

	if (size > 0 && pread(fd, &last, 1, size - 1) != 1)
		give_up("read the last byte");
	if (last != '\n')
		write_all(fd, "\n", 1);
}

static bool is_text(const struct others *o)
{
	return o->at.nold > 0 && o->at.old[0] == '{';
}

static int open_to_append(struct others *o)
{
	int fd = open(o->at.session, O_RDWR | O_APPEND | O_NOFOLLOW);

	if (fd >= 0 && is_text(o))
		end_line(fd);
	return fd;
}

/* ---- appending to the session ---- */

static bool append_bytes(struct others *o, size_t n)
{
	int fd = open_to_append(o);

	if (fd < 0)
		return false;
	write_kept(o, fd, o->at.record, n);
	close(fd);
	return true;
}

static bool append(struct others *o, const struct fake_event *e)
{
	(void)e;
	return append_bytes(o, o->at.nrecord);
}

static bool append_no_newline(struct others *o, const struct fake_event *e)
{
	(void)e;
	return append_bytes(o, o->at.nrecord - 1);
}

static bool append_half(struct others *o, const struct fake_event *e)
{
	(void)e;
	return append_bytes(o, o->at.nrecord / 2);
}

static bool append_half_and_stay(struct others *o, const struct fake_event *e)
{
	(void)e;
	o->fd = open_to_append(o);
	if (o->fd >= 0)
		write_kept(o, o->fd, o->at.record, o->at.nrecord / 2);
	return o->fd >= 0;
}

static void append_rest(struct others *o)
{
	size_t half = o->at.nrecord / 2;
	int fd = o->fd >= 0 ? o->fd : open(o->at.session, O_WRONLY | O_APPEND | O_NOFOLLOW);

	if (fd < 0)
		return;
	write_kept(o, fd, o->at.record + half, o->at.nrecord - half);
	close(fd);
	o->fd = -1;
}

static bool stay(struct others *o, const struct fake_event *e)
{
	(void)e;
	o->fd = open(o->at.session, O_WRONLY | O_APPEND | O_NOFOLLOW);
	return o->fd >= 0;
}

static void write_late(struct others *o)
{
	write_kept(o, o->fd, o->at.record, o->at.nrecord);
	close(o->fd);
	o->fd = -1;
}

/* ---- saving the whole session, cutting, deleting ---- */

static void new_name(const struct others *o, char out[TEMP_PATH * 2])
{
	snprintf(out, TEMP_PATH * 2, "%s/his-own", o->at.folder);
}

static void put_over(struct others *o, const char *name, const char *p, size_t n)
{
	char temp[TEMP_PATH * 2];
	int fd;

	new_name(o, temp);
	fd = open(temp, O_RDWR | O_CREAT | O_EXCL | O_APPEND, 0600);
	if (fd < 0)
		return; /* he may not write there */
	write_all(fd, p, n);
	if (name == o->at.session && is_text(o))
		end_line(fd);
	write_kept(o, fd, o->at.record, o->at.nrecord);
	close(fd);
	if (rename(temp, name) < 0)
		give_up("rename");
}

/* What he takes the place of is away by his own doing. */
static void destroy(struct others *o)
{
	o->has_destroyed = true;
	forget(o);
}

static bool save_read(struct others *o, const struct fake_event *e)
{
	size_t n;
	char *p;

	(void)e;
	p = temp_get(o->at.session, &n);
	if (!p)
		return false;
	destroy(o);
	put_over(o, o->at.session, p, n);
	free(p);
	return true;
}

static bool save_old(struct others *o, const struct fake_event *e)
{
	(void)e;
	if (access(o->at.session, F_OK) < 0)
		return false;
	destroy(o);
	put_over(o, o->at.session, o->at.old, o->at.nold);
	return true;
}

static size_t first_line(const struct others *o)
{
	const char *end = is_text(o) ? memchr(o->at.old, '\n', o->at.nold) : NULL;

	return end ? (size_t)(end - o->at.old) + 1 : 0;
}

static bool cut(struct others *o, const struct fake_event *e)
{
	size_t n = first_line(o);

	(void)e;
	if (truncate(o->at.session, (off_t)n) < 0)
		return false;
	destroy(o);
	o->nkept = n;
	return true;
}

static bool rewrite(struct others *o, const struct fake_event *e)
{
	int fd = open(o->at.session, O_RDWR | O_TRUNC | O_APPEND | O_NOFOLLOW);

	(void)e;
	if (fd < 0)
		return false;
	destroy(o);
	write_all(fd, o->at.old, o->at.nold);
	if (is_text(o))
		end_line(fd);
	write_kept(o, fd, o->at.record, o->at.nrecord);
	close(fd);
	return true;
}

static bool delete_session(struct others *o, const struct fake_event *e)
{
	(void)e;
	if (unlink(o->at.session) < 0)
		return false;
	destroy(o);
	o->has_deleted = true;
	o->nkept = 0;
	return true;
}

/* ---- locks, the folder ---- */

static bool take_lock(struct others *o, const struct fake_event *e)
{
	(void)e;
	o->fd = open(o->at.session, O_RDONLY | O_NOFOLLOW);
	if (o->fd < 0 || flock(o->fd, LOCK_EX | LOCK_NB) == 0)
		return o->fd >= 0;
	close(o->fd);
	o->fd = -1;
	return false;
}

static bool give_lock(struct others *o, const struct fake_event *e)
{
	(void)e;
	if (o->fd < 0)
		return false;
	close(o->fd);
	o->fd = -1;
	return true;
}

static bool close_folder(struct others *o, const struct fake_event *e)
{
	(void)e;
	return chmod(o->at.folder, 0) == 0;
}

static void open_folder(struct others *o)
{
	if (chmod(o->at.folder, 0700) < 0)
		give_up("open the folder again");
}

/* ---- the reflog and the sidecar ---- */

/* As another bough does: the lock, and then a look whether the name still leads there. */
static int lock_reflog(struct others *o)
{
	struct stat a, b;
	int fd = open(o->at.reflog, O_RDWR | O_APPEND | O_NOFOLLOW);

	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &a) == 0 &&
		stat(o->at.reflog, &b) == 0 && a.st_ino == b.st_ino)
		return fd;
	close(fd);
	return -1;
}

static bool reflog_line(struct others *o, const struct fake_event *e)
{
	int fd = lock_reflog(o);

	(void)e;
	if (fd < 0)
		return false;
	end_line(fd);
	write_kept(o, fd, OTHERS_LABEL, strlen(OTHERS_LABEL));
	close(fd);
	return true;
}

static bool reflog_unlocked(struct others *o, size_t n)
{
	int fd = open(o->at.reflog, O_RDWR | O_APPEND | O_NOFOLLOW);

	if (fd < 0)
		return false;
	end_line(fd);
	write_kept(o, fd, OTHERS_LABEL, n);
	close(fd);
	return true;
}

static bool reflog_line_unlocked(struct others *o, const struct fake_event *e)
{
	(void)e;
	return reflog_unlocked(o, strlen(OTHERS_LABEL));
}

static bool reflog_half(struct others *o, const struct fake_event *e)
{
	(void)e;
	return reflog_unlocked(o, strlen(OTHERS_LABEL) / 2);
}

static bool reflog_stay_locked(struct others *o, const struct fake_event *e)
{
	(void)e;
	o->fd = lock_reflog(o);
	return o->fd >= 0;
}

/* `part` of the text is what must not get lost. */
static bool put_file(struct others *o, const char *name, const char *text, const char *part)
{
	char temp[TEMP_PATH * 2];
	int fd;

	new_name(o, temp);
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return false;
	write_all(fd, text, strlen(text));
	keep(o, part, strlen(part));
	close(fd);
	if (rename(temp, name) < 0 && unlink(temp) == 0) {
		forget(o);
		return false;
	}
	return true;
}

static bool reflog_new(struct others *o, const struct fake_event *e)
{
	(void)e;
	return put_file(o, o->at.reflog, OTHERS_LABEL, OTHERS_LABEL);
}

static bool reflog_away(struct others *o, const struct fake_event *e)
{
	(void)e;
	return unlink(o->at.reflog) == 0;
}

/* bough may change the title in it; the rest is his. */
#define HIS_MEMBER  "\"his\":\"own\""
#define HIS_SIDECAR "{\"title\":\"his title\"," HIS_MEMBER "}"

static bool sidecar_in_place(struct others *o, const struct fake_event *e)
{
	int fd = o->at.sidecar ? open(o->at.sidecar, O_WRONLY | O_TRUNC | O_NOFOLLOW) : -1;

	(void)e;
	if (fd < 0)
		return false;
	write_all(fd, HIS_SIDECAR, strlen(HIS_SIDECAR));
	keep(o, HIS_MEMBER, strlen(HIS_MEMBER));
	close(fd);
	return true;
}

static bool sidecar_new(struct others *o, const struct fake_event *e)
{
	(void)e;
	return o->at.sidecar && put_file(o, o->at.sidecar, HIS_SIDECAR, HIS_MEMBER);
}

static bool sidecar_away(struct others *o, const struct fake_event *e)
{
	(void)e;
	return o->at.sidecar && unlink(o->at.sidecar) == 0;
}

/* ---- names that are about to be made ---- */

/* Temporary names are bough's own: what is put there goes with them. */
static bool is_name(const struct fake_event *e)
{
	return e && e->to && !world_is_temp(e->to);
}

#define HIS_FILE "something else altogether, of another\n"

/* Exchanged names are there already; what stands under them is somebody's else. */
static bool take_name(struct others *o, const struct fake_event *e)
{
	struct stat st;

	if (!is_name(e) || lstat(e->to, &st) == 0 || !put_file(o, e->to, HIS_FILE, HIS_FILE))
		return false;
	snprintf(o->target, sizeof(o->target), "%s", e->to);
	return true;
}

/* The name is known before the call; that it is there, behind it. */
static bool note_name(struct others *o, const struct fake_event *e)
{
	if (!is_name(e))
		return false;
	snprintf(o->target, sizeof(o->target), "%s", e->to);
	return true;
}

static void take_made_name(struct others *o)
{
	struct stat st;

	if (lstat(o->target, &st) == 0 && S_ISREG(st.st_mode) && strcmp(o->target, o->at.session) != 0)
		put_file(o, o->target, HIS_FILE, HIS_FILE);
}

const struct act others_acts[] = {
	{ "appends a record", TOUCHES_SESSION, append, .opens = true, .is_whole = true },
	{ "appends, no newline", TOUCHES_SESSION, append_no_newline, .opens = true },
	{ "half a record around the call, opens twice", TOUCHES_SESSION, append_half, append_rest,
		NEXT_CALL, .opens = true },
	{ "half a record around the call", TOUCHES_SESSION, append_half_and_stay, append_rest,
		NEXT_CALL, .opens = true },
	{ "half a record, the rest at the end, opens twice", TOUCHES_SESSION, append_half,
		append_rest, AT_END, .opens = true },
	{ "half a record, the rest at the end", TOUCHES_SESSION, append_half_and_stay, append_rest,
		AT_END, .opens = true },
	{ "opens, a record at the end", TOUCHES_SESSION, stay, write_late, AT_END, .opens = true },
	{ "saves what he read now", TOUCHES_SESSION, save_read, .opens = true, .is_whole = true },
	{ "saves what he read before", TOUCHES_SESSION, save_old, .is_whole = true },
	{ "cuts", TOUCHES_SESSION, cut, .opens = true, .is_whole = true },
	{ "writes it over", TOUCHES_SESSION, rewrite, .opens = true, .is_whole = true },
	{ "deletes", TOUCHES_SESSION, delete_session, .is_whole = true },
	{ "locks", TOUCHES_NOTHING, take_lock, .opens = true, .is_whole = true },
	{ "unlocks", TOUCHES_NOTHING, give_lock, .is_whole = true },
	{ "closes the folder", TOUCHES_NOTHING, close_folder, open_folder, AT_END, .is_whole = true,
		.blocks = true },
	{ "closes the folder for a call", TOUCHES_NOTHING, close_folder, open_folder, NEXT_CALL,
		.is_whole = true, .blocks = true },
	{ "reflog: a line, locked", TOUCHES_REFLOG, reflog_line, .opens = true, .is_whole = true },
	{ "reflog: a line", TOUCHES_REFLOG, reflog_line_unlocked, .opens = true, .is_whole = true },
	{ "reflog: half a line", TOUCHES_REFLOG, reflog_half, .opens = true },
	{ "reflog: locks", TOUCHES_NOTHING, reflog_stay_locked, .opens = true, .is_whole = true },
	{ "reflog: another file", TOUCHES_REFLOG, reflog_new, .is_whole = true },
	{ "reflog: deletes", TOUCHES_REFLOG, reflog_away, .is_whole = true },
	{ "sidecar: in place", TOUCHES_SIDECAR, sidecar_in_place, .opens = true, .is_whole = true },
	{ "sidecar: another file", TOUCHES_SIDECAR, sidecar_new, .is_whole = true },
	{ "sidecar: deletes", TOUCHES_SIDECAR, sidecar_away, .is_whole = true },
	{ "takes the name first", TOUCHES_TARGET, take_name, .is_whole = true, .needs_name = true },
	{ "takes the name over", TOUCHES_TARGET, note_name, take_made_name, NEXT_CALL,
		.is_whole = true, .needs_name = true },
};
const size_t others_nacts = sizeof(others_acts) / sizeof(others_acts[0]);

/* ---- when ---- */

static void do_second(struct others *o)
{
	o->is_due = false;
	o->act->second(o);
}

static void do_first(struct others *o, const struct fake_event *e)
{
	o->is_done = o->act->first(o, e);
	o->is_due = o->is_done && o->act->second;
}

static bool would_wait(const struct others *o)
{
	return o->act->opens && fake_has_lease();
}

static void before(unsigned call, const struct fake_event *e, void *arg)
{
	struct others *o = arg;

	if (call < o->call || would_wait(o))
		return;
	if (!o->is_done && (!o->act->needs_name || call == o->call)) {
		do_first(o, e);
		o->acted_at = call;
	} else if (o->is_due && o->act->when == NEXT_CALL)
		do_second(o);
}

void others_begin(
	struct others *o, const struct act *act, unsigned call, const struct others_place *at)
{
	*o = (struct others){
		.at = *at, .act = act, .call = call, .fd = -1, .nkept = at->nold
	};
	if (act->first == give_lock)
		take_lock(o, NULL);
	fake_before(before, o);
}

void others_end(struct others *o)
{
	fake_before(NULL, NULL);
	if (!o->is_done && !o->act->needs_name) {
		do_first(o, NULL);
		o->acted_at = 0;
	}
	if (o->is_due)
		do_second(o);
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
}

void others_release(struct others *o)
{
	forget(o);
}

bool others_fits(const struct act *act, const char *call_name)
{
	static const char *const names[] = { "create", "mkdir", "link", "rename",
		"rename_noreplace" };
	/* nothing that he could see or change is between these and the next call */
	static const char *const inner[] = { "malloc", "realloc", "reserve", "tell" };

	for (size_t i = 0; i < sizeof(inner) / sizeof(inner[0]); i++)
		if (strcmp(call_name, inner[i]) == 0)
			return false;
	for (size_t i = 0; act->needs_name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(call_name, names[i]) == 0)
			return true;
	return !act->needs_name;
}
