/*
 * fakesys.c - the counting and failing table of system calls.
 */
#include "config.h"

#include "tests/lib/fakesys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "log/sys.h"

static const int errors[] = { EIO, ENOSPC, EDQUOT, EINTR, EACCES, ENOMEM };
static const enum fake_mode modes[] = { FAKE_ONCE, FAKE_FROM, FAKE_SHORT, FAKE_HALF };

enum { N_ERRORS = sizeof(errors) / sizeof(*errors), N_MODES = sizeof(modes) / sizeof(*modes) };

static struct {
	enum fake_mode mode;
	unsigned at, also_at;
	int error, also_error;
	unsigned hits;
	struct fake_trace trace;
	uint64_t random;
	bool only_looks, no_lease, is_leased, has_lease;
	void (*listener)(const struct fake_event *e, void *arg);
	void *arg;
	void (*before)(unsigned call, const struct fake_event *e, void *arg);
	void *before_arg;
	const char *path, *to; /* of the call that is about to be counted */
} fake;

bool fake_is_memory(const char *name)
{
	return !strcmp(name, "malloc") || !strcmp(name, "realloc") || !strcmp(name, "reserve");
}

bool fake_is_look(const char *name)
{
	static const char *const names[] = { "stat", "lstat", "fstat", "access", "open", "readdir",
		"pread" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return fake_is_memory(name);
}

/* What to do with the call that is being made. */
enum verdict { PASS, FAIL, SHORT, HALF, KILL_HALF };

/* What the next call is about, for who is told before it. */
static void about(const char *path, const char *to)
{
	fake.path = path;
	fake.to = to;
}

static void announce(unsigned k, const char *name)
{
	struct fake_event e = { .name = name, .path = fake.path, .to = fake.to, .fd = -1 };
	int saved = errno;

	about(NULL, NULL);
	if (fake.before)
		fake.before(k, &e, fake.before_arg);
	errno = saved;
}

static enum verdict count(const char *name, size_t bytes)
{
	unsigned k = ++fake.trace.n;

	announce(k, name);
	if (k <= FAKE_TRACE_MAX)
		fake.trace.call[k - 1] = (struct fake_call){ name, bytes };
	if (k == fake.also_at) {
		fake.hits++;
		fake.error = fake.also_error;
		return FAIL;
	}
	if (fake.only_looks && !fake_is_look(name))
		return PASS;
	if (fake.mode == FAKE_OFF || (fake.mode == FAKE_FROM ? k < fake.at : k != fake.at))
		return PASS;
	fake.hits++;
	switch (fake.mode) {
	case FAKE_KILL:
		raise(SIGKILL);
		return FAIL;
	case FAKE_SHORT:
		return SHORT;
	case FAKE_HALF:
		return HALF;
	case FAKE_KILL_HALF:
		return KILL_HALF;
	default:
		return FAIL;
	}
}

static void tell(struct fake_event e)
{
	int saved = errno;

	if (fake.listener)
		fake.listener(&e, fake.arg);
	errno = saved;
}

/* Counts the call; when it is to fail, sets errno. */
static bool fails(const char *name)
{
	if (count(name, 0) == PASS)
		return false;
	errno = fake.error;
	return true;
}

static int fake_stat(const char *path, struct stat *st)
{
	about(path, NULL);
	return fails("stat") ? -1 : sys_real.stat(path, st);
}

static int fake_lstat(const char *path, struct stat *st)
{
	about(path, NULL);
	return fails("lstat") ? -1 : sys_real.lstat(path, st);
}

static int fake_fstat(int fd, struct stat *st)
{
	return fails("fstat") ? -1 : sys_real.fstat(fd, st);
}

static int fake_access(const char *path, int mode)
{
	return fails("access") ? -1 : sys_real.access(path, mode);
}

static int fake_open(const char *path, int flags, mode_t mode)
{
	int fd;

	about(path, flags & O_CREAT ? path : NULL);
	if (fails(flags & O_CREAT ? "create" : "open"))
		return -1;
	fd = sys_real.open(path, flags, mode);
	if (fd >= 0)
		tell((struct fake_event){ .name = "open", .path = path, .fd = fd, .flags = flags });
	return fd;
}

/* Listeners want whole paths: the folder's, by its descriptor, and the name. */
static int fake_openat(int dir, const char *name, int flags, mode_t mode)
{
	char path[8192], link[64];
	ssize_t n;
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	n = readlink(link, path, 4096);
	if (n > 0)
		snprintf(path + n, sizeof(path) - (size_t)n, "/%s", name);
	about(n > 0 ? path : NULL, n > 0 && flags & O_CREAT ? path : NULL);
	if (fails(flags & O_CREAT ? "create" : "open"))
		return -1;
	fd = sys_real.openat(dir, name, flags, mode);
	if (fd >= 0 && n > 0)
		tell((struct fake_event){ .name = "open", .path = path, .fd = fd, .flags = flags });
	return fd;
}

static struct dirent *fake_readdir(DIR *dir)
{
	return fails("readdir") ? NULL : sys_real.readdir(dir);
}

static ssize_t fake_pread(int fd, void *p, size_t n, off_t off)
{
	enum verdict verdict = count("pread", n);

	if (verdict == PASS)
		return sys_real.pread(fd, p, n, off);
	if (verdict == SHORT)
		return sys_real.pread(fd, p, (n + 1) / 2, off);
	errno = fake.error;
	return -1;
}

static off_t fake_next_data(int fd, off_t off)
{
	return fails("next_data") ? -1 : sys_real.next_data(fd, off);
}

/* Linux gives the descriptor back even when close fails. */
static int fake_close(int fd)
{
	bool failed = fails("close");
	int rc = sys_real.close(fd);

	tell((struct fake_event){ .name = "close", .fd = fd });
	if (!failed)
		return rc;
	errno = fake.error;
	return -1;
}

static ssize_t fake_write(int fd, const void *p, size_t n)
{
	enum verdict verdict = count("write", n);
	ssize_t w = 0;

	if (verdict != FAIL) {
		w = sys_real.write(fd, p,
			verdict == PASS    ? n
			: verdict == SHORT ? (n + 1) / 2
					   : n / 2);
		if (w > 0)
			tell((struct fake_event){
				.name = "write", .fd = fd, .p = p, .n = (size_t)w });
	}
	if (verdict == KILL_HALF)
		raise(SIGKILL);
	if (verdict == PASS || verdict == SHORT)
		return w;
	errno = fake.error;
	return -1;
}

static off_t fake_tell(int fd)
{
	return fails("tell") ? -1 : sys_real.tell(fd);
}

static ssize_t fake_overwrite(int fd, const void *p, size_t n, off_t off)
{
	ssize_t w = fails("overwrite") ? -1 : sys_real.overwrite(fd, p, n, off);

	if (w > 0)
		tell((struct fake_event){ .name = "overwrite",
			.fd = fd,
			.p = p,
			.n = (size_t)w,
			.size = (uint64_t)off });
	return w;
}

static int fake_ftruncate(int fd, off_t size)
{
	int rc = fails("ftruncate") ? -1 : sys_real.ftruncate(fd, size);

	if (rc == 0)
		tell((struct fake_event){ .name = "ftruncate", .fd = fd, .size = (uint64_t)size });
	return rc;
}

static int fake_fsync(int fd)
{
	int rc = fails("fsync") ? -1 : sys_real.fsync(fd);

	if (rc == 0)
		tell((struct fake_event){ .name = "fsync", .fd = fd });
	return rc;
}

static int fake_fdatasync(int fd)
{
	int rc = fails("fdatasync") ? -1 : sys_real.fdatasync(fd);

	if (rc == 0)
		tell((struct fake_event){ .name = "fdatasync", .fd = fd });
	return rc;
}

static int fake_fchmod(int fd, mode_t mode)
{
	return fails("fchmod") ? -1 : sys_real.fchmod(fd, mode);
}

static int fake_flock(int fd, int operation)
{
	return fails("flock") ? -1 : sys_real.flock(fd, operation);
}

static long fake_lock_holder(dev_t dev, ino_t ino)
{
	return fails("lock_holder") ? -1 : sys_real.lock_holder(dev, ino);
}

static int fake_lease(int fd, int type)
{
	int rc;

	/* Giving it back does not fail; if it did, who opens the file next would wait for himself. */
	if (fails("lease") && type != F_UNLCK)
		return -1;
	if (fake.no_lease && type != F_UNLCK) {
		errno = ENOTSUP;
		return -1;
	}
	rc = sys_real.lease(fd, type);
	if (rc == 0 && type != F_RDLCK)
		fake.is_leased = type == F_WRLCK;
	if (rc == 0)
		fake.has_lease = type != F_UNLCK;
	return rc;
}

void fake_no_lease(bool on)
{
	fake.no_lease = on;
}

bool fake_is_leased(void)
{
	return fake.is_leased;
}

bool fake_has_lease(void)
{
	return fake.has_lease;
}

static int two_names(
	const char *name, int (*real)(const char *, const char *), const char *from, const char *to)
{
	int rc;

	about(from, to);
	rc = fails(name) ? -1 : real(from, to);

	if (rc == 0)
		tell((struct fake_event){ .name = name, .path = from, .to = to, .fd = -1 });
	return rc;
}

static int fake_link(const char *from, const char *to)
{
	return two_names("link", sys_real.link, from, to);
}

static int fake_rename(const char *from, const char *to)
{
	return two_names("rename", sys_real.rename, from, to);
}

static int fake_rename_noreplace(const char *from, const char *to)
{
	return two_names("rename_noreplace", sys_real.rename_noreplace, from, to);
}

static int fake_rename_exchange(const char *a, const char *b)
{
	return two_names("rename_exchange", sys_real.rename_exchange, a, b);
}

static int one_name(const char *name, int rc, const char *path)
{
	if (rc == 0)
		tell((struct fake_event){ .name = name, .path = path, .fd = -1 });
	return rc;
}

static int fake_unlink(const char *path)
{
	about(path, NULL);
	return one_name("unlink", fails("unlink") ? -1 : sys_real.unlink(path), path);
}

static int fake_mkdir(const char *path, mode_t mode)
{
	about(path, path);
	return one_name("mkdir", fails("mkdir") ? -1 : sys_real.mkdir(path, mode), path);
}

static int fake_rmdir(const char *path)
{
	about(path, NULL);
	return one_name("rmdir", fails("rmdir") ? -1 : sys_real.rmdir(path), path);
}

static int fake_fsync_dir(const char *path)
{
	about(path, NULL);
	return one_name("fsync_dir", fails("fsync_dir") ? -1 : sys_real.fsync_dir(path), path);
}

static bool has_no_memory(const char *name, size_t n)
{
	return count(name, n) != PASS;
}

static void *fake_malloc(size_t n)
{
	return has_no_memory("malloc", n) ? NULL : sys_real.malloc(n);
}

static void *fake_realloc(void *p, size_t n)
{
	return has_no_memory("realloc", n) ? NULL : sys_real.realloc(p, n);
}

static int fake_reserve(struct buf *b, size_t more)
{
	return has_no_memory("reserve", more) ? ERR_NOMEM : sys_real.reserve(b, more);
}

/* The same in every run, and never the same twice in a row. */
static void fake_random(void *p, size_t n)
{
	unsigned char *to = p;
	uint64_t x = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (i % 8 == 0) {
			x = fake.random += 0x9e3779b97f4a7c15u;
			x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
			x ^= x >> 27;
		}
		to[i] = (unsigned char)(x >> (8 * (i % 8)));
	}
}

/* Calls are counted for one thread: whoever wants another one must do without. */
static int fake_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	(void)thread;
	(void)run;
	(void)arg;
	return EAGAIN;
}

static const struct sys table = {
	.stat = fake_stat,
	.lstat = fake_lstat,
	.fstat = fake_fstat,
	.access = fake_access,
	.open = fake_open,
	.openat = fake_openat,
	.readdir = fake_readdir,
	.pread = fake_pread,
	.next_data = fake_next_data,
	.close = fake_close,
	.write = fake_write,
	.tell = fake_tell,
	.overwrite = fake_overwrite,
	.ftruncate = fake_ftruncate,
	.fsync = fake_fsync,
	.fdatasync = fake_fdatasync,
	.fchmod = fake_fchmod,
	.flock = fake_flock,
	.lock_holder = fake_lock_holder,
	.lease = fake_lease,
	.link = fake_link,
	.rename = fake_rename,
	.rename_noreplace = fake_rename_noreplace,
	.rename_exchange = fake_rename_exchange,
	.unlink = fake_unlink,
	.mkdir = fake_mkdir,
	.rmdir = fake_rmdir,
	.fsync_dir = fake_fsync_dir,
	.malloc = fake_malloc,
	.realloc = fake_realloc,
	.reserve = fake_reserve,
	.random = fake_random,
	.thread = fake_thread,
};

void fake_install(void)
{
	fake_reset();
	sys_install(&table);
}

void fake_remove(void)
{
	sys_install(NULL);
	fake_listen(NULL, NULL);
	fake_before(NULL, NULL);
}

void fake_plan(enum fake_mode mode, unsigned call, int error)
{
	fake.mode = mode;
	fake.at = call;
	fake.error = error;
	fake.also_at = 0;
	fake.only_looks = false;
	fake.hits = 0;
	fake.trace.n = 0;
}

void fake_plan_also(unsigned call, int error)
{
	fake.also_at = call;
	fake.also_error = error;
}

void fake_plan_looks(void)
{
	fake.only_looks = true;
}

void fake_reset(void)
{
	fake_plan(FAKE_OFF, 0, 0);
}

unsigned fake_calls(void)
{
	return fake.trace.n;
}

unsigned fake_hits(void)
{
	return fake.hits;
}

const char *fake_call_name(unsigned call)
{
	if (call == 0 || call > fake.trace.n || call > FAKE_TRACE_MAX)
		return "?";
	return fake.trace.call[call - 1].name;
}

void fake_trace(struct fake_trace *out)
{
	if (fake.trace.n > FAKE_TRACE_MAX) {
		fprintf(stderr, "fakesys: %u calls are too many for a trace\n", fake.trace.n);
		exit(1);
	}
	memcpy(out, &fake.trace, sizeof(*out));
}

bool fake_fits(const struct fake_trace *t, const struct fake_case *c)
{
	const struct fake_call *call = &t->call[c->call - 1];

	switch (c->mode) {
	case FAKE_OFF:
		return false;
	case FAKE_ONCE:
	case FAKE_FROM: /* no memory is no memory, whatever errno says */
		return !fake_is_memory(call->name) || c->error == ENOMEM;
	case FAKE_SHORT: /* does not fail: one errno is enough */
		return (!strcmp(call->name, "write") || !strcmp(call->name, "pread")) &&
		       call->bytes > 1 && c->error == errors[0];
	case FAKE_HALF:
	case FAKE_KILL_HALF:
		return !strcmp(call->name, "write") && call->bytes > 1;
	case FAKE_KILL:
		return true;
	}
	return false;
}

bool fake_next(const struct fake_trace *t, struct fake_case *c)
{
	while (c->step < t->n * N_ERRORS * N_MODES) {
		unsigned i = c->step++;

		c->mode = modes[i % N_MODES];
		c->error = errors[i / N_MODES % N_ERRORS];
		c->call = i / (N_MODES * N_ERRORS) + 1;
		if (fake_fits(t, c))
			return true;
	}
	return false;
}

const char *fake_describe(const struct fake_trace *t, const struct fake_case *c)
{
	static const char *const names[] = { "no fault", "once", "from there on", "short",
		"half, then error", "kill", "half, then kill" };
	static char text[128];

	snprintf(text, sizeof(text), "%s, errno %d, at call %u (%s)", names[c->mode], c->error,
		c->call, c->call && c->call <= t->n ? t->call[c->call - 1].name : "?");
	return text;
}

void fake_before(void (*hook)(unsigned call, const struct fake_event *e, void *arg), void *arg)
{
	fake.before = hook;
	fake.before_arg = arg;
}

void fake_listen(void (*listener)(const struct fake_event *e, void *arg), void *arg)
{
	fake.listener = listener;
	fake.arg = arg;
}
