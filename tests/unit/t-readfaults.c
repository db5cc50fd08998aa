/*
 * t-readfaults.c - every look and every read of every operation, of every load
 * and of the list fails, once or from there on. What could not be read is said,
 * and nothing is built on it: an operation fails with a word, or it does to the
 * last byte what it does without the fault; who loads is told, or has all; and
 * loading writes nothing.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/opcases.h"
#include "tests/lib/world.h"

enum { BAD_SHOWN = 30 };

static struct env env;
static size_t nbad;

struct fault {
	enum fake_mode mode;
	unsigned call;
	int error;
};

/* ---- which faults ---- */

/* The next fault of a trace; start with one of zeros. */
static bool next_fault(const struct fake_trace *t, struct fault *f, unsigned *step)
{
	static const struct fault kinds[] = { { FAKE_ONCE, 0, EIO }, { FAKE_FROM, 0, EIO },
		{ FAKE_ONCE, 0, EINTR }, { FAKE_ONCE, 0, ESTALE }, { FAKE_FROM, 0, ESTALE },
		{ FAKE_ONCE, 0, ENOMEM }, { FAKE_FROM, 0, ENOMEM }, { FAKE_SHORT, 0, EIO } };
	enum { NKINDS = sizeof(kinds) / sizeof(kinds[0]) };

	for (; *step < t->n * NKINDS; (*step)++) {
		const char *name = t->call[*step / NKINDS].name;

		*f = kinds[*step % NKINDS];
		f->call = *step / NKINDS + 1;
		if (!fake_is_look(name) || (fake_is_memory(name) && f->error != ENOMEM) ||
			(f->mode == FAKE_SHORT && strcmp(name, "pread")))
			continue;
		(*step)++;
		return true;
	}
	return false;
}

static const char *describe(const struct fake_trace *t, const struct fault *f)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s %s at call %u (%s)",
		f->mode == FAKE_ONCE	? "once"
		: f->mode == FAKE_SHORT ? "short,"
					: "from there on",
		strerror(f->error), f->call, t->call[f->call - 1].name);
	return text;
}

static void plan(const struct fault *f)
{
	fake_plan(f->mode, f->call, f->error);
	fake_plan_looks();
}

static void bad(const char *what, const struct fake_trace *t, const struct fault *f,
	const char *why, const char *more)
{
	if (nbad++ < BAD_SHOWN || getenv("BOUGH_LONG"))
		print_error("%s: %s: %s: %.300s\n", what, describe(t, f), why, more);
}

/* The first line of `got` that is another in `want`, and that. */
static const char *difference(const struct buf *want, const struct buf *got)
{
	static char text[400];
	const char *a = want->n ? want->p : "", *b = got->n ? got->p : "";

	for (;;) {
		size_t na = strcspn(a, "\n"), nb = strcspn(b, "\n");

		if (na != nb || strncmp(a, b, na) != 0 || !*a || !*b) {
			snprintf(text, sizeof(text), "%.*s instead of %.*s", (int)(nb < 190 ? nb : 190), b,
				(int)(na < 190 ? na : 190), a);
			return text;
		}
		a += na + (a[na] != '\0');
		b += nb + (b[nb] != '\0');
	}
}

/* ---- operations ---- */

/* One operation: the disk before it and after it. */
struct attempt {
	int rc;
	struct err err;
	struct world before, after;
};

static void attempt(struct attempt *a, const struct opcase *c, const struct fault *f,
	struct fake_trace *t)
{
	struct opfiles files = { 0 };
	struct done d = { 0 };
	struct work *w = NULL;
	int nfiles = temp_open_files();

	*a = (struct attempt){ 0 };
	env_clear(&env);
	opcase_put(c, &env, &files);
	fake_reset();
	if (c->prepare && (work_open(&w, files.session, &a->err) < 0 || work_load(w, &a->err) < 0 ||
				  c->prepare(&w, &d, &a->err) < 0))
		fail_msg("%s: %s", c->name, a->err.text);
	world_read_plain(&a->before, env.dir, d.entry, d.session);
	fake_reset();
	if (f)
		plan(f);
	if (!c->prepare) {
		a->rc = work_open(&w, files.session, &a->err);
		if (a->rc == 0)
			a->rc = work_load(w, &a->err);
	}
	if (a->rc == 0)
		a->rc = c->run(&w, &d, &a->err);
	if (!f)
		fake_trace(t);
	fake_reset();
	work_close(&w);
	if (temp_open_files() != nfiles)
		bad(c->name, t, f, "descriptors are open", a->err.text);
	world_read_plain(&a->after, env.dir, d.entry, d.session);
	done_release(&d);
	opcase_release();
	free(files.p);
}

static void attempt_release(struct attempt *a)
{
	world_release(&a->before);
	world_release(&a->after);
}

/* Kept for safety, where it could not be seen that nobody is at the old file. */
static bool is_kept(const struct world_file *f)
{
	return strstr(f->path, ".before-");
}

/* Its torn line is set aside before a line is written, and stays so when that is taken back. */
static bool is_torn_reflog(const struct world_file *f)
{
	return strstr(f->path, "s.reflog") && f->n >= strlen(OP_NOTE) && f->p[f->n - 1] != '\n';
}

/* What a failure may leave: a copy of a torn tail, an empty file. */
static bool is_harmless(const struct world_file *f)
{
	return strstr(f->path, ".torn-") || f->n == 0 ||
	       (strstr(f->path, "s.reflog") && f->n == strlen(OP_NOTE));
}

/* The error says what is there all the same. */
static bool is_said(const struct err *err)
{
	static const char *const words[] = { " is new", "may not survive", "left behind",
		"will show as lost", "was moved", "moved back", "it is now" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(err->text, words[i]))
			return true;
	return err->code == ERR_BROKEN;
}

static void check_attempt(const struct attempt *a, const struct attempt *alone,
	const struct opcase *c, const struct fake_trace *t, const struct fault *f)
{
	const char *path;

	if (a->rc < 0 && !a->err.text[0])
		bad(c->name, t, f, "failed without a word", "");
	if (a->rc == 0 && (path = world_difference(&alone->after, &a->after, is_kept)))
		bad(c->name, t, f, "done, and not what is done without", path);
	else if (a->rc == 0 && (path = world_difference(&a->after, &alone->after, is_kept)))
		bad(c->name, t, f, "done, and more than what is done without", path);
	if (a->rc == 0 || is_said(&a->err))
		return;
	if (world_difference(&a->before, &a->after, is_torn_reflog))
		bad(c->name, t, f, "failed, and something is another", a->err.text);
	else if (world_difference(&a->after, &a->before, is_harmless))
		bad(c->name, t, f, "failed, and something is left", a->err.text);
}

static size_t operation(const struct opcase *c, struct fake_trace *t)
{
	struct attempt alone, a;
	struct fault f = { 0 };
	unsigned step = 0;
	size_t n = 0;

	attempt(&alone, c, NULL, t);
	if (alone.rc < 0)
		fail_msg("%s: %s", c->name, alone.err.text);
	for (; next_fault(t, &f, &step); n++) {
		attempt(&a, c, &f, t);
		check_attempt(&a, &alone, c, t, &f);
		attempt_release(&a);
	}
	attempt_release(&alone);
	print_message("  %-28s %4u calls, %5zu faults\n", c->name, t->n, n);
	return n;
}

static void operations(void **state)
{
	struct fake_trace *t = xcalloc(1, sizeof(*t));
	size_t n = 0;

	(void)state;
	nbad = 0;
	fake_install();
	for (size_t i = 0; i < OP_COUNT; i++)
		n += operation(&opcases[i], t);
	fake_remove();
	print_message("read faults: %zu in operations, %zu bad\n", n, nbad);
	assert_int_equal(nbad, 0);
	assert_true(n > 2000);
	free(t);
}

/* ---- loads ---- */

/* All that a person sees of a session. */
static void put_session(struct work *w, struct buf *out)
{
	struct session *s = work_session(w);
	const struct str *title = session_meta(s, "title");

	buf_printf(out, "tip %s, lost %zu, torn %d, title %.*s\n", env_id(w, s->tip), work_nlost(w),
		s->is_torn, title ? (int)title->n : 0, title ? title->p : "");
	for (uint32_t i = 0; i < s->n; i++) {
		const struct label *l = session_label(s, i);

		buf_printf(out, "%s < %s [%.*s] %d\n", env_id(w, i), env_id(w, s->entries[i].parent),
			l ? (int)l->text.n : 0, l ? l->text.p : "", (int)s->entries[i].kind);
	}
	for (size_t i = 0; i < s->problems.n; i++)
		buf_printf(out, "%s %s\n", s->problems.v[i].kind, s->problems.v[i].message);
}

/* Opened, loaded and looked at again. */
static int load(const char *path, struct buf *out, bool *is_said, struct err *err)
{
	static const char *const kinds[] = { "read-error", "reflog-unreadable",
		"sidecar-unreadable", "unreadable" };
	struct work *w = NULL;
	enum work_change change;
	char said[200];
	int rc = work_open(&w, path, err);

	if (rc == 0)
		rc = work_load(w, err);
	if (rc == 0)
		rc = work_refresh(w, &change, said, err);
	if (rc == 0)
		rc = work_load(w, err);
	*is_said = false;
	if (rc == 0) {
		put_session(w, out);
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			*is_said = *is_said || env_problems(w, kinds[i]);
		*is_said = *is_said || (out->p && strstr(out->p, "can not be read"));
	}
	work_close(&w);
	return rc;
}

static bool has_written(void)
{
	static const char *const names[] = { "create", "write", "overwrite", "ftruncate", "fsync",
		"fdatasync", "link", "rename", "rename_noreplace", "rename_exchange", "unlink",
		"mkdir", "rmdir", "fsync_dir", "flock" };
	static struct fake_trace t;

	fake_trace(&t);
	for (unsigned i = 0; i < t.n; i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (strcmp(t.call[i].name, names[k]) == 0)
				return true;
	return false;
}

static size_t faults_of_load(const char *name, const char *path, struct fake_trace *t)
{
	struct buf want = { 0 }, got = { 0 };
	struct fault f = { 0 };
	struct err err = { 0 };
	unsigned step = 0;
	size_t n = 0;
	bool is_said;

	fake_reset();
	if (load(path, &want, &is_said, &err) < 0)
		bad(name, t, &(struct fault){ .call = 1 }, "does not load", err.text);
	fake_trace(t);
	while (next_fault(t, &f, &step)) {
		int rc, nfiles = temp_open_files();

		err_clear(&err);
		buf_clear(&got);
		plan(&f);
		rc = load(path, &got, &is_said, &err);
		if (has_written())
			bad(name, t, &f, "a load writes", "");
		fake_reset();
		if (rc < 0 && !err.text[0])
			bad(name, t, &f, "failed without a word", "");
		if (rc == 0 && !is_said && (got.n != want.n || memcmp(got.p, want.p, want.n) != 0))
			bad(name, t, &f, "loaded, and something else is seen",
				difference(&want, &got));
		if (temp_open_files() != nfiles)
			bad(name, t, &f, "descriptors are open", err.text);
		n++;
	}
	buf_release(&want);
	buf_release(&got);
	print_message("  %-28s %4u calls, %5zu faults\n", name, t->n, n);
	return n;
}

/* Conversations among the fixtures: one whole, one with all that may stand beside it. */
static const char *const conversations[] = { "example/_conversations/c1",
	"valid/_conversations/8c1d2f60-4b7e-4f0a-8a55-5d1f3c9e7b01" };

static const char *flow_path(const char *name)
{
	static char path[1000];
	const char *src = getenv("srcdir");

	snprintf(path, sizeof(path), "%s/tests/format/flow/%s", src ? src : ".", name);
	return path;
}

/* The sessions that the operations work on: clean, torn, with a lost entry, a title, labels. */
static void loads(void **state)
{
	static const enum op_id ids[] = { OP_FORK_NEW, OP_FORK_TORN, OP_REPAIR_LOST, OP_DSH_CLOSE,
		OP_DSH_CLOSE_ZSTD, OP_DSH_CUT, OP_DSH_CUT_ZSTD, OP_DSH_SALVAGE_ZSTD,
		OP_DSH_CHECKOUT_ZSTD };
	struct fake_trace *t = xcalloc(1, sizeof(*t));
	struct opfiles files = { 0 };
	size_t n = 0;

	(void)state;
	nbad = 0;
	fake_install();
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		env_clear(&env);
		opcase_put(&opcases[ids[i]], &env, &files);
		n += faults_of_load(opcases[ids[i]].name, files.session, t);
	}
	for (size_t i = 0; i < sizeof(conversations) / sizeof(conversations[0]); i++)
		n += faults_of_load(conversations[i], flow_path(conversations[i]), t);
	fake_remove();
	print_message("read faults: %zu in loads, %zu bad\n", n, nbad);
	assert_int_equal(nbad, 0);
	free(files.p);
	free(t);
}

/* ---- the list ---- */

static void put_rows(struct store *st, struct buf *out, bool *is_said)
{
	for (size_t i = 0; i < store_nroots(st); i++)
		*is_said = *is_said || store_root_note(st, i);
	for (size_t i = 0; i < store_nrows(st); i++) {
		const struct session_row *r = store_row(st, i);

		*is_said = *is_said || r->state == ROW_UNREADABLE || r->is_damaged;
		buf_printf(out, "%s %s %d %u entries, %u branches, %u problems, %d %d %llu\n",
			r->id, r->title ? r->title : "-", (int)r->state, r->entries, r->branches,
			r->nproblems, r->is_torn, r->has_open_turn,
			(unsigned long long)r->torn_bytes);
	}
}

static int list(const char *root, struct buf *out, bool *is_said, struct err *err)
{
	struct store *st = store_new();
	int rc = store_add(st, root, err);

	while (rc == 0 && store_step(st, 1000000, NULL) == 1)
		;
	*is_said = false;
	if (rc == 0)
		put_rows(st, out, is_said);
	store_free(&st);
	return rc;
}

static void check_list(const char *name, const char *root, const struct fake_trace *t,
	const struct fault *f, const struct buf *want)
{
	struct buf got = { 0 };
	struct err err = { 0 };
	bool is_said;
	int nfiles = temp_open_files(), rc;

	plan(f);
	rc = list(root, &got, &is_said, &err);
	if (has_written())
		bad(name, t, f, "a list writes", "");
	fake_reset();
	if (rc < 0 && !err.text[0])
		bad(name, t, f, "failed without a word", "");
	if (rc == 0 && !is_said && (got.n != want->n || memcmp(got.p, want->p, want->n) != 0))
		bad(name, t, f, "listed, and something else is seen", difference(want, &got));
	if (temp_open_files() != nfiles)
		bad(name, t, f, "descriptors are open", err.text);
	buf_release(&got);
}

static size_t faults_of_list(const char *name, const char *root, struct fake_trace *t)
{
	struct buf want = { 0 };
	struct fault f = { 0 };
	struct err err = { 0 };
	unsigned step = 0;
	size_t n = 0;
	bool is_said;

	fake_reset();
	if (list(root, &want, &is_said, &err) < 0)
		fail_msg("%s", err.text);
	fake_trace(t);
	for (; next_fault(t, &f, &step); n++)
		check_list(name, root, t, &f, &want);
	buf_release(&want);
	return n;
}

static void lists(void **state)
{
	static const enum op_id ids[] = { OP_FORK_NEW, OP_FORK_TORN, OP_REPAIR_LOST, OP_DSH_CLOSE,
		OP_DSH_CUT_ZSTD };
	struct fake_trace *t = xcalloc(1, sizeof(*t));
	struct opfiles files = { 0 };
	size_t n = 0;

	(void)state;
	nbad = 0;
	fake_install();
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		env_clear(&env);
		opcase_put(&opcases[ids[i]], &env, &files);
		n += faults_of_list(opcases[ids[i]].name, env.root, t);
	}
	n += faults_of_list("conversations", flow_path("valid"), t);
	fake_remove();
	print_message("read faults: %zu in lists, %zu bad\n", n, nbad);
	assert_int_equal(nbad, 0);
	free(files.p);
	free(t);
}

static int set_up(void **state)
{
	(void)state;
	setenv("BOUGH_NOW", "1600000000000", 1); /* no file is fresh, nobody waits */
	setenv("BOUGH_SEED", "reads", 1);
	env_make(&env);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	env_remove(&env);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(operations, set_up, tear_down),
		cmocka_unit_test_setup_teardown(loads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lists, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
