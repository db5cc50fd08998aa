/*
 * t-planted.c - somebody who may make names beside a session has put something
 * else in the place of every file that an operation opens or makes: links,
 * fifos, folders, sockets, devices, files of others. What a link leads to stays
 * as it is, nothing waits for a fifo, and whoever says that something was done
 * has done it.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/path.h"
#include "base/xalloc.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/opcases.h"
#include "tests/lib/world.h"

enum { NOBODY = 65534, SOMEBODY = 12345, PATIENCE = 20, BAD_SHOWN = 30 };

static struct env env;
static size_t nbad, ncases;

/* ---- what is planted ---- */

enum kind {
	SYMLINK, DANGLING, FOLDER_LINK, HARD_LINK, FIFO, FOLDER, SOCKET, DEVICE, OF_ANOTHER,
	UNREADABLE, EMPTY, GARBAGE, NKINDS
};
static const char *const kinds[NKINDS] = { "symlink", "dangling", "folder link", "hard link",
	"fifo", "folder", "socket", "device", "of another", "unreadable", "empty", "garbage" };

static char outside[TEMP_PATH * 2 + 8], victim[TEMP_PATH * 2 + 16], nothing[TEMP_PATH * 2 + 16];

static bool make_socket(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bool ok = fd >= 0 && strlen(path) < sizeof(addr.sun_path);

	if (ok) {
		memcpy(addr.sun_path, path, strlen(path) + 1);
		ok = bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0;
	}
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool make_text(const char *path, const char *text, mode_t mode)
{
	temp_puts(path, text);
	return chmod(path, mode) == 0;
}

/* What only root can do; false: we are not root. */
static bool make_as_root(enum kind kind, const char *path, const char *text)
{
	uid_t me = geteuid();
	bool ok = getuid() == 0 && seteuid(0) == 0;

	if (!ok)
		return false;
	if (kind == DEVICE)
		ok = mknod(path, S_IFCHR | 0666, makedev(1, 3)) == 0;
	else
		ok = make_text(path, text, 0666) && chown(path, SOMEBODY, SOMEBODY) == 0;
	if (!ok)
		unlink(path);
	return seteuid(me) == 0 && ok;
}

/* `text` is what would be good there. False: it can not be made here. */
static bool plant(enum kind kind, const char *path, const char *text)
{
	temp_puts(victim, text);
	if (unlink(path) < 0 && errno == EISDIR)
		return false;
	switch (kind) {
	case SYMLINK:
		return symlink(victim, path) == 0;
	case DANGLING:
		return symlink(nothing, path) == 0;
	case FOLDER_LINK:
		return symlink(outside, path) == 0;
	case HARD_LINK:
		return link(victim, path) == 0;
	case FIFO:
		return mkfifo(path, 0600) == 0;
	case FOLDER:
		return mkdir(path, 0700) == 0;
	case SOCKET:
		return make_socket(path);
	case DEVICE:
	case OF_ANOTHER:
		return make_as_root(kind, path, text);
	case UNREADABLE:
		return make_text(path, text, 0);
	case EMPTY:
		return make_text(path, "", 0600);
	default:
		return make_text(path, "alias ll=\"ls -l\"\n", 0600);
	}
}

/* ---- where ---- */

enum place {
	AT_REFLOG, AT_STATE, AT_SIDECAR, AT_LOCK, AT_TRASH, AT_TRASH_FILES, AT_TRASH_INFO, AT_NEW,
	NPLACES
};
static const char *const places[NPLACES] = { "reflog", "reflog in the state folder", "sidecar",
	"session.lock", "Trash", "Trash/files", "Trash/info", "names that are made" };

static const char *good_text(enum place place)
{
	return place == AT_REFLOG || place == AT_STATE ? OP_NOTE
	       : place == AT_SIDECAR		       ? "{\"title\":\"V\"}"
						       : "theirs\n";
}

static void make_above(const char *path)
{
	char *dir = path_dir(path);

	if (mkdir(dir, 0700) < 0 && errno == ENOENT) {
		make_above(dir);
		mkdir(dir, 0700);
	}
	free(dir);
}

/* NULL: the operation has no such place. */
static char *path_of(enum place place, const struct opcase *c, const struct opfiles *f)
{
	char *name, *path;

	switch (place) {
	case AT_REFLOG:
		return xstrdup(f->reflog);
	case AT_SIDECAR:
		return c->is_dsh ? NULL : xstrdup(f->sidecar);
	case AT_LOCK:
		return c->is_dsh ? path_join(f->folder, "session.lock") : NULL;
	case AT_STATE:
		name = path_escape(f->session, strlen(f->session));
		path = xasprintf("%s/state/bough/%s.reflog", env.dir, name);
		free(name);
		return path;
	case AT_TRASH:
		return c->is_dsh ? NULL : xasprintf("%s/data/Trash", env.dir);
	case AT_TRASH_FILES:
		return c->is_dsh ? NULL : xasprintf("%s/data/Trash/files", env.dir);
	case AT_TRASH_INFO:
		return c->is_dsh ? NULL : xasprintf("%s/data/Trash/info", env.dir);
	default:
		return NULL;
	}
}

/* ---- one case ---- */

struct planted {
	const struct opcase *c;
	enum place place;
	enum kind kind;
	unsigned call;      /* AT_NEW: the name that this call makes */
	bool no_lease;      /* then other names are made */
	bool is_planted;
	char path[TEMP_PATH * 2];
	struct stat was;    /* the victim */
	int rc;
	struct err err;
	char said[300];
	struct world before, after;
};

static void take_victim(struct planted *p)
{
	if (lstat(victim, &p->was) < 0)
		fail_msg("no victim");
}

/* Right before the call: the name is known by then, and still free. */
static void plant_new(unsigned call, const struct fake_event *e, void *arg)
{
	struct planted *p = arg;
	struct stat st;

	if (call != p->call || !e->to || lstat(e->to, &st) == 0)
		return;
	p->is_planted = plant(p->kind, e->to, good_text(AT_NEW));
	snprintf(p->path, sizeof(p->path), "%s", e->to);
	take_victim(p);
}

static void put_fixed(struct planted *p, const struct opfiles *f)
{
	char *path = path_of(p->place, p->c, f);

	if (!path)
		return;
	make_above(path);
	p->is_planted = plant(p->kind, path, good_text(p->place));
	snprintf(p->path, sizeof(p->path), "%s", path);
	take_victim(p);
	if (p->place == AT_STATE && chmod(f->folder, 0500) < 0)
		fail_msg("chmod");
	free(path);
}

static int open_and_run(struct planted *p, const struct opfiles *f, struct work **w, struct done *d)
{
	int rc = 0;

	if (!*w)
		rc = work_open(w, f->session, &p->err);
	if (rc == 0 && *w)
		rc = work_load(*w, &p->err);
	return rc < 0 ? rc : p->c->run(w, d, &p->err);
}

/* kind NKINDS: nothing is planted. */
static void run(struct planted *p, struct fake_trace *trace)
{
	struct opfiles files = { 0 };
	struct done d = { 0 };
	struct work *w = NULL;
	int nfiles = temp_open_files();

	env_clear(&env);
	mkdir(outside, 0700);
	opcase_put(p->c, &env, &files);
	fake_reset();
	if (p->c->prepare && (work_open(&w, files.session, &p->err) < 0 ||
				     work_load(w, &p->err) < 0 || p->c->prepare(&w, &d, &p->err) < 0))
		fail_msg("%s: %s", p->c->name, p->err.text);
	if (p->kind < NKINDS)
		put_fixed(p, &files);
	world_read_plain(&p->before, env.dir, d.entry, d.session);
	fake_reset();
	if (p->place == AT_NEW && p->kind < NKINDS)
		fake_before(plant_new, p);
	fake_no_lease(p->no_lease);
	alarm(PATIENCE); /* who waits for a fifo is killed */
	if (w || !p->c->prepare || p->c == &opcases[OP_UNTRASH])
		p->rc = p->c->prepare ? p->c->run(&w, &d, &p->err)
				      : open_and_run(p, &files, &w, &d);
	alarm(0);
	fake_no_lease(false);
	fake_before(NULL, NULL);
	if (trace)
		fake_trace(trace);
	fake_reset();
	work_close(&w);
	chmod(files.folder, 0700);
	if (temp_open_files() != nfiles)
		snprintf(p->said, sizeof(p->said), "descriptors are open");
	world_read_plain(&p->after, env.dir, d.entry, d.session);
	done_release(&d);
	opcase_release();
	free(files.p);
}

static void release(struct planted *p)
{
	world_release(&p->before);
	world_release(&p->after);
}

/* ---- what must hold ---- */

static void bad(const struct planted *p, const char *why, const char *more)
{
	if (nbad++ < BAD_SHOWN || getenv("BOUGH_LONG"))
		print_error("%s: %s at %s: %s: %.200s (rc %d: %s)\n", p->c->name, kinds[p->kind],
			p->path, why, more, p->rc, p->err.text);
}

static bool same_stamp(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static void check_victim(const struct planted *p)
{
	struct stat st;

	if (lstat(victim, &st) < 0 || !temp_is(victim, good_text(p->place)))
		bad(p, "what the link leads to was changed", "");
	else if (!same_stamp(&st.st_mtim, &p->was.st_mtim) || st.st_mode != p->was.st_mode)
		bad(p, "the stamps of what the link leads to were changed", "");
	/* another name of a file may be moved or go; the file then has that stamp */
	else if (p->kind != HARD_LINK && !same_stamp(&st.st_ctim, &p->was.st_ctim))
		bad(p, "what the link leads to was touched", "");
	if (lstat(nothing, &st) == 0)
		bad(p, "a file was made where the link leads", "");
	/* the user's own trash may lie elsewhere */
	if (temp_count(outside, "", NULL) != 1 && !strstr(p->path, "/data"))
		bad(p, "something was made where the link leads", "");
}

/* What a file has now and had not: all that comes behind what is as it was. */
static size_t first_new(const struct world *before, const struct world_file *f)
{
	const struct world_file *old = world_file(before, f->path);
	size_t n = 0;

	while (old && n < old->n && n < f->n && old->p[n] == f->p[n])
		n++;
	return n;
}

/* What it has to do stands in the reflog: with another one it is another thing. */
static bool hangs_on_reflog(const struct opcase *c)
{
	static const enum op_id ids[] = { OP_FORK_LOST, OP_REPAIR_LOST, OP_REPAIR_BOTH,
		OP_UNDO_CHECKOUT, OP_UNDO_LABEL };

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (c == &opcases[ids[i]])
			return true;
	return false;
}

/* Done is only what is done alone, too: all that was written there was written here, somewhere. */
static void check_done(const struct planted *p, const struct planted *alone)
{
	if (p->place == AT_REFLOG && hangs_on_reflog(p->c))
		return;
	for (size_t i = 0; i < alone->after.n; i++) {
		const struct world_file *f = &alone->after.v[i];
		size_t at = first_new(&alone->before, f);

		/* a sidecar of another kind is written over in its own words */
		if (!f->p || at == f->n || p->place == AT_SIDECAR)
			continue;
		if (world_count(&p->after, NULL, f->p + at, f->n - at) == 0)
			bad(p, "it says that it is done", f->path);
	}
}

static void one_case(struct planted *p, const struct planted *alone, size_t verdict[2])
{
	run(p, NULL);
	if (p->is_planted) {
		ncases++;
		verdict[p->rc == 0]++;
		check_victim(p);
		if (p->said[0])
			bad(p, p->said, "");
		if (p->rc < 0 && !p->err.text[0])
			bad(p, "refused without a word", "");
		if (p->rc == 0)
			check_done(p, alone);
	}
	release(p);
}

static void one_operation(const struct opcase *c, bool no_lease, size_t table[NPLACES][NKINDS][2])
{
	static struct fake_trace trace;
	struct planted alone = { .c = c, .kind = NKINDS, .no_lease = no_lease };

	run(&alone, &trace);
	if (alone.rc < 0)
		fail_msg("%s: %s", c->name, alone.err.text);
	for (int kind = 0; kind < NKINDS; kind++) {
		for (int place = 0; place < AT_NEW; place++) {
			struct planted p = { .c = c, .place = place, .kind = kind,
				.no_lease = no_lease };

			one_case(&p, &alone, table[place][kind]);
		}
		for (unsigned k = 1; k <= trace.n; k++) {
			struct planted p = { .c = c, .place = AT_NEW, .kind = kind, .call = k,
				.no_lease = no_lease };
			const char *name = trace.call[k - 1].name;

			if (!strcmp(name, "create") || !strcmp(name, "link") ||
				!strcmp(name, "mkdir") || !strcmp(name, "rename_noreplace"))
				one_case(&p, &alone, table[AT_NEW][kind]);
		}
	}
	release(&alone);
}

static void print_table(size_t table[NPLACES][NKINDS][2])
{
	print_message("refused/done %14s", "");
	for (int kind = 0; kind < NKINDS; kind++)
		print_message(" %11s", kinds[kind]);
	print_message("\n");
	for (int place = 0; place < NPLACES; place++) {
		print_message("%-27s", places[place]);
		for (int kind = 0; kind < NKINDS; kind++)
			print_message(" %6zu/%4zu", table[place][kind][0], table[place][kind][1]);
		print_message("\n");
	}
}

static void planted(void **state)
{
	size_t table[NPLACES][NKINDS][2] = { 0 };

	(void)state;
	fake_install();
	for (size_t i = 0; i < OP_COUNT; i++)
		one_operation(&opcases[i], false, table);
	one_operation(&opcases[OP_REPAIR_BOTH], true, table);
	one_operation(&opcases[OP_DSH_REPAIR], true, table);
	one_operation(&opcases[OP_DSH_REPAIR_ZSTD], true, table);
	fake_remove();
	print_table(table);
	print_message("planted: %zu cases, %zu bad\n", ncases, nbad);
	assert_int_equal(nbad, 0);
	assert_true(ncases > 1000);
}

static int set_up(void **state)
{
	(void)state;
	if (geteuid() == 0 && seteuid(NOBODY) < 0) /* root may read what is unreadable */
		return -1;
	setenv("BOUGH_NOW", "1600000000000", 1);
	setenv("BOUGH_SEED", "planted", 1);
	env_make(&env);
	snprintf(outside, sizeof(outside), "%s/outside", env.dir);
	snprintf(victim, sizeof(victim), "%s/victim", outside);
	snprintf(nothing, sizeof(nothing), "%s/nothing", outside);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (getuid() == 0)
		seteuid(0);
	env_remove(&env);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(planted, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
