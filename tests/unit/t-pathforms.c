/*
 * t-pathforms.c - one session, many ways to say where it is: whatever the form
 * of the path, and whatever its name, an operation writes the same bytes under
 * the same names, beside the session, and a list shows what was made.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/path.h"
#include "base/xalloc.h"
#include "tests/lib/opcases.h"
#include "tests/lib/world.h"

enum { NOBODY = 65534, BAD_SHOWN = 20 };

static struct env env;
static size_t nbad, ncases;

/* ---- forms ---- */

enum { WHOLE = 1 << 0, TREE_ONLY = 1 << 1, DSH_ONLY = 1 << 2 };

/* %R is the root, %P the path from there, %F the folder of it, %B the last name. */
static const struct form {
	const char *text;
	const char *from; /* the working folder, below the home */
	const char *then; /* the one when the operation is done; NULL: the same */
	unsigned flags;
} forms[] = {
	{ "%R/%P", "", NULL, 0 },
	{ "%R/./%P", "", NULL, 0 },
	{ "%R//%P", "", NULL, 0 },
	{ "%R/../store/%P", "", NULL, 0 },
	{ "%R/%F/./%B", "", NULL, 0 },
	{ "%R/_no-cwd/s/../s/%B", "", NULL, DSH_ONLY },
	{ "store/%P", "", NULL, 0 },
	{ "./store/%P", "", NULL, 0 },
	{ "%P", "store", NULL, 0 },
	{ "../store/%P", "data", NULL, 0 },
	{ "store/%P", "", "data", 0 },
	{ "%P", "store", "data", 0 },
	{ "%R/../to-root/%P", "", NULL, 0 },
	{ "to-root/%P", "", "data", 0 },
	{ "%R/../to-file", "", NULL, TREE_ONLY },
	{ "to-file", "", "data", TREE_ONLY },
	{ "%R/../to-link", "", NULL, TREE_ONLY },
	{ "%R/../linked/%B", "", NULL, 0 },
	{ "linked/%B", "", "data", 0 },
	{ "%R/%F", "", NULL, DSH_ONLY },
	{ "%R/%F/", "", NULL, DSH_ONLY },
	{ "%R/%F/.", "", NULL, DSH_ONLY },
	{ "%R/../to-folder", "", NULL, DSH_ONLY },
	{ "to-folder/", "", "data", DSH_ONLY },
	{ "%R/../to-folder/%B", "", NULL, DSH_ONLY },
	{ ".", "store/_no-cwd/s", NULL, DSH_ONLY },
	{ ".", "store/_no-cwd/s", "data", DSH_ONLY },
	{ "%B", "store/_no-cwd/s", "data", DSH_ONLY },
};

static char *expand(const struct form *form, const struct opfiles *f)
{
	const char *path = f->session + strlen(env.root) + 1;
	struct buf out = { 0 };

	for (const char *p = form->text; *p; p++) {
		const char *base = path_base(path);

		if (*p != '%')
			buf_addc(&out, *p);
		else if (*++p == 'R')
			buf_adds(&out, env.root);
		else if (*p == 'P')
			buf_adds(&out, path);
		else if (*p == 'B')
			buf_adds(&out, base);
		else /* of a tree session the root itself */
			buf_add(&out, base == path ? "." : path,
				base == path ? 1 : (size_t)(base - path) - 1);
	}
	return buf_take(&out);
}

static void link_to(const char *name, const char *to)
{
	char *path = xasprintf("%s/%s", env.dir, name);

	if (symlink(to, path) < 0)
		fail_msg("link %s", path);
	free(path);
}

static void make_links(const struct opfiles *f)
{
	char *data = xasprintf("%s/data", env.dir);

	mkdir(data, 0700);
	free(data);
	link_to("to-root", env.root);
	link_to("to-file", f->session);
	link_to("to-link", "to-file");
	link_to("to-folder", f->folder);
	data = xasprintf("%s/linked", env.dir);
	mkdir(data, 0700);
	free(data);
	data = xasprintf("linked/%s", path_base(f->session));
	link_to(data, f->session);
	free(data);
}

/* ---- one case ---- */

struct result {
	int rc;
	struct err err;
	char path[4096]; /* of what was made */
	char session[512];
	struct world after;
};

static void go(const char *below)
{
	char *path = xasprintf("%s/%s", env.dir, below);

	if (chdir(path) < 0)
		fail_msg("no folder %s", path);
	free(path);
}

/* A new session is in the list of the root. */
static bool is_listed(const char *id)
{
	struct store *st = store_new();
	size_t row;
	bool found = store_add(st, env.root, NULL) == 0;

	while (found && store_step(st, 1000000, NULL) == 1)
		;
	found = found && store_find(st, id, &row, NULL, NULL) == 0 &&
		store_row(st, row)->state == ROW_LOADED;
	store_free(&st);
	return found;
}

/* `name` (may be NULL): the session has that one instead of "s". */
static void put(const struct opcase *c, const char *name, struct opfiles *f)
{
	const char *const ends[] = { ".jsonl", ".meta.json", ".reflog" };

	env_clear(&env);
	opcase_put(c, &env, f);
	for (size_t i = 0; name && i < sizeof(ends) / sizeof(ends[0]); i++) {
		char *from = xasprintf("%s/s%s", env.root, ends[i]);
		char *to = xasprintf("%s/%s%s", env.root, name, ends[i]);

		if (rename(from, to) == 0 && i == 0)
			snprintf(f->session, sizeof(f->session), "%s", to);
		free(from);
		free(to);
	}
	make_links(f);
}

/* As a command does: a folder is a place to look in. */
static int open_as_said(struct work **w, const char *path, struct err *err)
{
	struct store *st = store_new();
	struct stat sb;
	size_t row;
	int rc = 0;

	if (stat(path, &sb) < 0 || !S_ISDIR(sb.st_mode))
		rc = work_open(w, path, err);
	else if ((rc = store_find(st, path, &row, NULL, err)) == 0)
		rc = work_open(w, store_row(st, row)->path, err);
	if (rc == 0)
		rc = work_load(*w, err);
	store_free(&st);
	return rc;
}

static void run(const struct opcase *c, const struct form *form, const char *name, bool is_closed,
	struct result *r)
{
	struct opfiles f = { 0 };
	struct done d = { 0 };
	struct work *w = NULL;
	char *path;

	*r = (struct result){ 0 };
	put(c, name, &f);
	if (is_closed && chmod(f.folder, 0500) < 0)
		fail_msg("chmod");
	path = expand(form, &f);
	go(form->from);
	r->rc = open_as_said(&w, path, &r->err);
	if (form->then)
		go(form->then);
	if (r->rc == 0 && c->prepare)
		r->rc = c->prepare(&w, &d, &r->err);
	if (r->rc == 0)
		r->rc = c->run(&w, &d, &r->err);
	work_close(&w);
	go("");
	chmod(f.folder, 0700);
	snprintf(r->path, sizeof(r->path), "%s", d.path);
	snprintf(r->session, sizeof(r->session), "%s", d.session);
	world_read_plain(&r->after, env.dir, d.entry, d.session);
	done_release(&d);
	opcase_release();
	free(path);
	free(f.p);
}

/* ---- what must hold ---- */

static void bad(const struct opcase *c, const char *form, const char *why, const char *more,
	const struct err *err)
{
	if (nbad++ < BAD_SHOWN || getenv("BOUGH_LONG"))
		print_error("%s: %s: %s: %s (%s)\n", c->name, form, why, more, err->text);
}

static bool makes_session(const struct opcase *c)
{
	return c == &opcases[OP_FORK_NEW] || c == &opcases[OP_COPY] || c == &opcases[OP_DSH_FORK] ||
	       c == &opcases[OP_DSH_FORK_ZSTD];
}

static void check(const struct opcase *c, const char *form, const struct result *r,
	const struct result *plain)
{
	const char *path;

	ncases++;
	if (r->rc < 0)
		bad(c, form, "fails", "", &r->err);
	else if ((path = world_difference(&plain->after, &r->after, NULL)) ||
		 (path = world_difference(&r->after, &plain->after, NULL)))
		bad(c, form, "something else is written", path, &r->err);
	if (r->rc == 0 && r->path[0] && r->path[0] != '/')
		bad(c, form, "it names a path that is not whole", r->path, &r->err);
	if (r->rc == 0 && makes_session(c) && !is_listed(r->session))
		bad(c, form, "no list shows it", r->session, &r->err);
}

static void one_operation(const struct opcase *c, bool is_closed)
{
	struct result plain, r;

	run(c, &forms[0], NULL, is_closed, &plain);
	if (plain.rc < 0)
		fail_msg("%s: %s", c->name, plain.err.text);
	for (size_t i = 1; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (forms[i].flags & (c->is_dsh ? TREE_ONLY : DSH_ONLY))
			continue;
		run(c, &forms[i], NULL, is_closed, &r);
		check(c, forms[i].text, &r, &plain);
		world_release(&r.after);
	}
	world_release(&plain.after);
}

static void path_forms(void **state)
{
	(void)state;
	nbad = ncases = 0;
	for (size_t i = 0; i < OP_COUNT; i++)
		one_operation(&opcases[i], false);
	/* the state folder's name is made of the path */
	one_operation(&opcases[OP_CHECKOUT], true);
	one_operation(&opcases[OP_LABEL], true);
	one_operation(&opcases[OP_DSH_CHECKOUT], true);
	one_operation(&opcases[OP_DSH_LABEL_ZSTD], true);
	print_message("path forms: %zu cases, %zu bad\n", ncases, nbad);
	assert_int_equal(nbad, 0);
	assert_true(ncases > 500);
}

/* ---- names ---- */

static const char *const names[] = { "with a space", "-rf", "--", "two\nlines", "tab\there", "\xff\xfe",
	"\xc3", "%2F", "'quoted\"", "$(id)", "*", "~", "#", "a.jsonl", ".s", "s.meta.json",
	"\xe2\x80\xae" "bidi", "\x1b[31m" };

/* What the plain session "s" has, this one has under its own name, with the same bytes. */
static void check_name(const struct opcase *c, const char *name, const struct result *r,
	const struct result *plain)
{
	char *stem = xasprintf("%s/s.", env.root);

	ncases++;
	if (r->rc < 0)
		bad(c, name, "fails", "", &r->err);
	for (size_t i = 0; r->rc == 0 && i < plain->after.n; i++) {
		const struct world_file *f = &plain->after.v[i], *g;
		char *path;

		if (strncmp(f->path, stem, strlen(stem)) != 0)
			continue;
		path = xasprintf("%s/%s.%s", env.root, name, f->path + strlen(stem));
		g = world_file(&r->after, path);
		if (!g || g->n != f->n || memcmp(g->p, f->p, f->n) != 0)
			bad(c, name, "it is not beside the session", path, &r->err);
		free(path);
	}
	if (r->rc == 0 && r->after.n != plain->after.n)
		bad(c, name, "there are more files, or less", "", &r->err);
	if (r->rc == 0 && makes_session(c) && !is_listed(r->session))
		bad(c, name, "no list shows it", r->session, &r->err);
	free(stem);
}

static void session_names(void **state)
{
	(void)state;
	nbad = ncases = 0;
	for (size_t i = 0; i < OP_TREE_COUNT; i++) {
		struct result plain, r;

		run(&opcases[i], &forms[0], NULL, false, &plain);
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			run(&opcases[i], &forms[0], names[k], false, &r);
			check_name(&opcases[i], names[k], &r, &plain);
			world_release(&r.after);
			run(&opcases[i], &forms[8], names[k], false, &r); /* relative: "-rf.jsonl" */
			check_name(&opcases[i], names[k], &r, &plain);
			world_release(&r.after);
		}
		world_release(&plain.after);
	}
	print_message("names: %zu cases, %zu bad\n", ncases, nbad);
	assert_int_equal(nbad, 0);
}

/* Ids of entries are no paths, whatever they look like. */
static void entry_ids(void **state)
{
	static const char *const ids[] = { "a/b", "../../x", "/etc/passwd", ".", "..", "-x", "a b",
		"%2F", "~", "tip~1" };

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		char *text = xasprintf("{\"id\":\"%s\",\"role\":\"USER\",\"content\":\"one\","
				       "\"timestamp\":1}\n" OP_B, ids[i]);
		struct fork_spec spec = { .at = 0, .content = str_of(OP_MINE) };
		struct done d = { 0 };
		struct err err = { 0 };
		struct work *w;
		struct world after = { 0 };

		env_clear(&env);
		w = env_open_text(&env, text);
		env_ok(work_label(w, 0, str_of("l"), false, &d, &err), &err);
		env_ok(work_checkout(w, 0, false, &d, &err), &err);
		env_ok(work_fork(w, &spec, false, &d, &err), &err);
		env_ok(work_fork_new(w, &spec, false, &d, &err), &err);
		work_close(&w);
		world_read(&after, env.dir);
		assert_int_equal(after.n, 4); /* the session, its reflog, the new one and its sidecar */
		for (size_t k = 0; k < after.n; k++)
			assert_non_null(strstr(after.v[k].path, "/store/"));
		assert_true(is_listed(d.session));
		world_release(&after);
		done_release(&d);
		free(text);
	}
}

static int set_up(void **state)
{
	(void)state;
	if (geteuid() == 0 && seteuid(NOBODY) < 0) /* a closed folder is none for root */
		return -1;
	setenv("BOUGH_NOW", "1600000000000", 1);
	setenv("BOUGH_SEED", "forms", 1);
	env_make(&env);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (chdir("/") < 0)
		return -1;
	env_remove(&env);
	if (getuid() == 0)
		return seteuid(0);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(path_forms, set_up, tear_down),
		cmocka_unit_test_setup_teardown(session_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(entry_ids, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
