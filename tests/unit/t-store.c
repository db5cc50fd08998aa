/*
 * t-store.c - roots and the list: what is opened when nothing is named, rows
 * by steps, looking again, finding, and following a session that changes.
 */
#include "config.h"

#include <poll.h>
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

#include "base/clock.h"
#include "base/xalloc.h"
#include "store/store.h"
#include "tests/lib/storeenv.h"

static struct env env;

static int set_up(void **state)
{
	env_make(&env);
	return 0;
}

static int tear_down(void **state)
{
	env_remove(&env);
	return 0;
}

static void entry(const char *file, const char *id, const char *parent, const char *text, long time)
{
	char *line = xasprintf(
		"{\"id\":\"%s\",%s%s%s\"role\":\"USER\",\"content\":\"%s\",\"timestamp\":%ld}\n",
		id, parent ? "\"parentId\":\"" : "", parent ? parent : "", parent ? "\"," : "",
		text, time);

	temp_adds(env_path(&env, file), line);
	free(line);
}

static void run(struct store *st)
{
	while (store_step(st, 100000, NULL) == 1)
		;
}

static const struct session_row *row_of(struct store *st, const char *id)
{
	for (size_t i = 0; i < store_nrows(st); i++)
		if (strcmp(store_row(st, i)->id, id) == 0)
			return store_row(st, i);
	fail_msg("no row %s among %zu", id, store_nrows(st));
	return NULL;
}

/* ---- roots ---- */

static void defaults(void **state)
{
	struct store *st = store_new();
	struct err err = { 0 };
	char *known = xasprintf("%s/.sophi/sessions", env.dir), *both, *dsh;
	const char *configured[] = { env.root, "~/nothing" };

	assert_int_equal(store_add_defaults(st, NULL, 0, &err), 0);
	assert_int_equal(err.code, ERR_NOTFOUND);
	assert_non_null(strstr(err.text, "~/.sophi/sessions, ~/.dsh/sessions;"));
	store_free(&st);

	both = xasprintf("%s/.sophi", env.dir);
	mkdir(both, 0700);
	mkdir(known, 0700);
	free(both);
	st = store_new();
	assert_int_equal(store_add_defaults(st, NULL, 0, NULL), 1);
	assert_string_equal(store_root(st, 0), known);
	store_free(&st);

	/* a place that the agent was told of; a blank one is none */
	dsh = xasprintf("%s/else/sessions", env.dir);
	mkdir(env_path(&env, "../else"), 0700);
	mkdir(dsh, 0700);
	setenv("DSH_HOME", "~/else", 1);
	st = store_new();
	assert_int_equal(store_add_defaults(st, NULL, 0, NULL), 2);
	assert_string_equal(store_root(st, 1), dsh);
	store_free(&st);
	setenv("DSH_HOME", " ", 1);
	st = store_new();
	assert_int_equal(store_add_defaults(st, NULL, 0, NULL), 1);
	store_free(&st);
	unsetenv("DSH_HOME");
	free(dsh);

	st = store_new();
	assert_int_equal(store_add_defaults(st, configured, 2, NULL), 2);
	assert_string_equal(store_root(st, 0), env.root);
	assert_non_null(strstr(store_root_note(st, 1), "no such file or folder"));
	store_free(&st);

	both = xasprintf("%s:%s::%s/", known, env.root, known);
	setenv("BOUGH_ROOT", both, 1);
	st = store_new();
	assert_int_equal(store_add_defaults(st, configured, 2, NULL), 2);
	assert_string_equal(store_root(st, 0), known);
	assert_string_equal(store_root(st, 1), env.root);
	store_free(&st);
	unsetenv("BOUGH_ROOT");
	free(both);
	free(known);
}

static void odd_roots(void **state)
{
	struct store *st = store_new();
	struct err err = { 0 };

	assert_int_equal(store_add(st, env_path(&env, "none"), &err), ERR_NOTFOUND);
	assert_non_null(strstr(err.text, "looked for"));
	err_clear(&err);
	temp_puts(env_path(&env, "x.txt"), "hello");
	assert_int_equal(store_add(st, env_path(&env, "x.txt"), &err), ERR_NOTFOUND);
	err_clear(&err);
	assert_int_equal(mkfifo(env_path(&env, "fifo"), 0600), 0);
	assert_int_equal(store_add(st, env_path(&env, "fifo"), &err), ERR_UNSUPPORTED);
	assert_int_equal(store_nroots(st), 0);
	unlink(env_path(&env, "x.txt"));
	unlink(env_path(&env, "fifo"));

	/* an empty folder is a root that says so, and sessions may come */
	err_clear(&err);
	assert_int_equal(store_add(st, env.root, &err), 0);
	run(st);
	assert_int_equal(store_nrows(st), 0);
	assert_non_null(strstr(store_root_note(st, 0), "looked for"));
	entry("one.jsonl", "a", NULL, "hi", 1);
	store_rescan(st);
	run(st);
	assert_int_equal(store_nrows(st), 1);
	assert_null(store_root_note(st, 0));
	store_free(&st);
}

/* ---- rows ---- */

static void rows(void **state)
{
	struct store *st = store_new();
	const struct session_row *r;
	uint64_t done, all;

	temp_puts(env_path(&env, "t.jsonl"),
		"{\"id\":\"a\",\"role\":\"USER\",\"content\":\"first\",\"timestamp\":1000}\n"
		"{\"id\":\"b\",\"parentId\":\"a\",\"role\":\"ASSISTANT\","
		"\"content\":\"answer\",\"timestamp\":3000}\n"
		"{\"id\":\"c\",\"parentId\":\"a\",\"role\":\"ASSISTANT\","
		"\"content\":\"other\",\"timestamp\":2000}\n"
		"{\"id\":\"d\",\"parentId\":\"b\",\"role\":\"USER\","
		"\"content\":\"last prompt\",\"timestamp\":2500}\n"
		"{\"id\":\"e\",\"par");
	temp_puts(env_path(&env, "t.meta.json"),
		"{\"title\":\"The title\",\"parentSessionId\":\"p\"}");
	entry("u.jsonl", "a", NULL, "only a prompt", 7);
	temp_puts(env_path(&env, "v.jsonl"),
		"{bad\n{\"id\":\"a\",\"role\":\"X\",\"content\":\"\",\"timestamp\":1}\n");
	temp_puts(env_path(&env, "w.jsonl"), "");
	assert_int_equal(store_add(st, env.root, NULL), 0);
	assert_int_equal(store_nrows(st), 0);
	run(st);
	store_progress(st, &done, &all);
	assert_int_equal(done, all);
	assert_int_equal(store_nrows(st), 4);

	r = row_of(st, "t");
	assert_int_equal(r->state, ROW_LOADED);
	assert_string_equal(r->title, "The title");
	assert_string_equal(r->parent_id, "p");
	assert_string_equal(r->format, "tree");
	assert_string_equal(r->root, env.root);
	assert_string_equal(r->path, env_path(&env, "t.jsonl"));
	assert_int_equal(r->entries, 4);
	assert_int_equal(r->branches, 2);
	assert_true(r->first_time == 1000 && r->last_time == 3000);
	assert_true(r->is_torn && !r->is_damaged);
	assert_int_equal(r->torn_bytes, 14);
	assert_int_equal(r->nproblems, 1);
	assert_string_equal(r->preview_user, "last prompt");
	assert_string_equal(r->preview_model, "answer");

	r = row_of(st, "u");
	assert_string_equal(r->title, "only a prompt");
	assert_null(r->parent_id);
	assert_null(r->preview_model);
	assert_true(!r->is_torn && !r->is_damaged);
	r = row_of(st, "v");
	assert_true(r->is_damaged && !r->is_torn);
	assert_int_equal(r->nproblems, 2);
	r = row_of(st, "w");
	assert_int_equal(r->entries, 0);
	assert_true(r->last_time == INT64_MIN);
	assert_string_equal(r->title, "w");
	store_free(&st);
}

/* Names first: after small steps there are rows, not loaded yet; `first` is loaded next. */
static void stepping(void **state)
{
	struct store *st = store_new();
	size_t want = 0, nloaded = 0;

	for (int i = 0; i < 300; i++) {
		char name[32];

		snprintf(name, sizeof(name), "s%03d.jsonl", i);
		entry(name, "a", NULL, "text", i);
	}
	store_add(st, env.root, NULL);
	while (store_nrows(st) < 300)
		assert_int_equal(store_step(st, 0, NULL), 1);
	for (size_t i = 0; i < 300; i++)
		nloaded += store_row(st, i)->state == ROW_LOADED;
	assert_int_equal(nloaded, 0);
	assert_null(store_row(st, 299)->title);
	want = 299;
	while (store_row(st, 299)->state != ROW_LOADED)
		assert_int_equal(store_step(st, 0, &want), 1);
	for (size_t i = 0; i < 300; i++)
		nloaded += store_row(st, i)->state == ROW_LOADED;
	assert_true(nloaded <= 2);
	run(st);
	for (size_t i = 0; i < 300; i++)
		assert_int_equal(store_row(st, i)->state, ROW_LOADED);
	store_free(&st);
}

static void rescan(void **state)
{
	struct store *st = store_new();
	const struct session_row *a, *b;

	entry("a.jsonl", "1", NULL, "one", 1);
	entry("b.jsonl", "1", NULL, "one", 1);
	store_add(st, env.root, NULL);
	run(st);
	a = row_of(st, "a");
	b = row_of(st, "b");
	entry("a.jsonl", "2", "1", "two", 2);
	unlink(env_path(&env, "b.jsonl"));
	entry("c.jsonl", "1", NULL, "new", 3);
	store_rescan(st);
	run(st);
	assert_int_equal(store_nrows(st), 3);
	assert_int_equal(a->entries, 2);
	assert_true(b->is_gone && !a->is_gone);
	assert_string_equal(store_row(st, 2)->id, "c");
	/* a title came, and the session that went is back */
	temp_puts(env_path(&env, "a.meta.json"), "{\"title\":\"now\"}");
	entry("b.jsonl", "1", NULL, "again", 1);
	store_rescan(st);
	run(st);
	assert_string_equal(a->title, "now");
	assert_false(b->is_gone);
	assert_int_equal(store_nrows(st), 3);
	store_free(&st);
}

static void many(void **state)
{
	struct store *st = store_new();
	uint64_t begin, listed, loaded, again;

	for (int i = 0; i < 10000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "s%05d.jsonl", i);
		entry(name, "a", NULL, "text", i);
	}
	begin = clock_mono_us();
	store_add(st, env.root, NULL);
	while (store_nrows(st) < 10000)
		store_step(st, 0, NULL);
	listed = clock_mono_us();
	run(st);
	loaded = clock_mono_us();
	store_rescan(st);
	run(st);
	again = clock_mono_us();
	print_message("10,000 sessions: names %.0f ms, rows %.0f ms, rescan %.0f ms\n",
		(listed - begin) / 1e3, (loaded - listed) / 1e3, (again - loaded) / 1e3);
	assert_int_equal(store_nrows(st), 10000);
	assert_int_equal(store_row(st, 9999)->state, ROW_LOADED);
	store_free(&st);
}

static void find(void **state)
{
	struct store *st = store_new();
	struct buf list = { 0 };
	struct err err = { 0 };
	char *other = xasprintf("%s/other", env.dir),
	     *twin = xasprintf("%s/other/abc.jsonl", env.dir);
	size_t row;

	entry("abc.jsonl", "1", NULL, "x", 1);
	entry("abcd.jsonl", "1", NULL, "x", 1);
	entry("xyz.jsonl", "1", NULL, "x", 1);
	store_add(st, env.root, NULL);
	assert_int_equal(store_find(st, "abc", &row, &list, &err), 0);
	assert_string_equal(store_row(st, row)->id, "abc");
	assert_int_equal(store_find(st, "x", &row, &list, &err), 0);
	assert_string_equal(store_row(st, row)->id, "xyz");
	assert_int_equal(store_find(st, "ab", &row, &list, &err), ERR_AMBIGUOUS);
	assert_non_null(strstr(list.p, "abc.jsonl\n"));
	assert_non_null(strstr(list.p, "abcd.jsonl\n"));
	err_clear(&err);
	assert_int_equal(store_find(st, "none", &row, &list, &err), ERR_NOTFOUND);
	err_clear(&err);
	assert_int_equal(store_find(st, env_path(&env, "xyz.jsonl"), &row, &list, &err), 0);
	assert_string_equal(store_row(st, row)->id, "xyz");
	assert_int_equal(store_nroots(st), 1);
	/* a path outside the roots is a root of its own; the same id twice is ambiguous */
	mkdir(other, 0700);
	temp_puts(twin, "{\"id\":\"1\",\"role\":\"USER\",\"content\":\"\",\"timestamp\":1}\n");
	assert_int_equal(store_find(st, twin, &row, &list, &err), 0);
	assert_string_equal(store_row(st, row)->path, twin);
	assert_string_equal(store_row(st, row)->root, other);
	buf_clear(&list);
	assert_int_equal(store_find(st, "abc", &row, &list, &err), ERR_AMBIGUOUS);
	assert_non_null(strstr(list.p, twin));
	buf_release(&list);
	store_free(&st);
	free(other);
	free(twin);
}

/* ---- following one session ---- */

static void refresh(struct work *w, enum work_change want, const char *said)
{
	enum work_change change;
	char text[200];
	struct err err = { 0 };

	assert_int_equal(work_refresh(w, &change, text, &err), 0);
	if (change != want || !strstr(text, said))
		fail_msg("change %d \"%s\", want %d \"%s\"", change, text, want, said);
}

static void replace(const char *file, const char *text)
{
	char *tmp = xasprintf("%s/.tmp", env.root);

	temp_puts(tmp, text);
	assert_int_equal(rename(tmp, env_path(&env, file)), 0);
	free(tmp);
}

static void following(void **state)
{
	struct work *w;
	struct session *s;

	entry("s.jsonl", "a", NULL, "one", 1);
	w = env_open(&env, "s");
	s = work_session(w);
	refresh(w, WORK_SAME, "");
	entry("s.jsonl", "b", "a", "two", 2);
	entry("s.jsonl", "c", "b", "three", 3);
	refresh(w, WORK_GREW, "2 new entries; the tip is now c");
	assert_ptr_equal(work_session(w), s);
	assert_int_equal(s->n, 3);
	assert_true(s->entries[2].flags & ENTRY_NEW);
	assert_false(s->entries[0].flags & ENTRY_NEW);
	temp_puts(env_path(&env, "s.reflog"),
		"{\"v\":1,\"op\":\"checkout\",\"tip\":\"a\",\"from\":\"c\",\"entries\":3,"
		"\"at\":9}\n");
	refresh(w, WORK_TIP, "the tip is now a");
	temp_puts(env_path(&env, "s.meta.json"), "{\"title\":\"T\"}");
	refresh(w, WORK_TIP, "");
	assert_true(str_eqs(*session_meta(s, "title"), "T"));
	replace("s.jsonl", "{\"id\":\"a\",\"role\":\"USER\",\"content\":\"one\",\"timestamp\":1}\n"
			   "{\"id\":\"z\",\"parentId\":\"a\",\"role\":\"USER\",\"content\":\"z\","
			   "\"timestamp\":5}");
	refresh(w, WORK_REPLACED, "the file was replaced: 1 new entry, 2 entries are gone");
	s = work_session(w);
	assert_int_equal(s->n, 2);
	assert_true(s->entries[1].flags & ENTRY_NEW);
	refresh(w, WORK_SAME, "");
	unlink(env_path(&env, "s.jsonl"));
	refresh(w, WORK_GONE, "gone");
	work_close(&w);
}

/* n entries in a row, each below the one before. */
static void put_chain(struct buf *out, int n)
{
	for (int i = 1; i <= n; i++)
		buf_printf(out, "{\"id\":\"e%d\",\"parentId\":\"e%d\",\"role\":\"USER\","
				"\"content\":\"x\",\"timestamp\":%d}\n", i, i - 1, i);
}

static size_t count_new(const struct session *s)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += (s->entries[i].flags & ENTRY_NEW) != 0;
	return n;
}

/* Written anew in place, a file is empty for a moment: that is nothing to compare with. */
static void empty_moment(void **state)
{
	const char *path = env_path(&env, "s.jsonl");
	struct buf all = { 0 }, part = { 0 };
	struct work *w;

	put_chain(&all, 240);
	put_chain(&part, 50);
	temp_puts(path, buf_str(&all).p);
	w = env_open(&env, "s");
	assert_int_equal(truncate(path, 0), 0);
	refresh(w, WORK_REPLACED, ", 240 entries");
	assert_int_equal(work_session(w)->n, 0);
	/* not yet a line: still nothing */
	temp_puts(path, "{\"id\"");
	refresh(w, WORK_GREW, ", 240 entries");
	refresh(w, WORK_SAME, "");
	temp_puts(path, part.p);
	refresh(w, WORK_GREW, "bytes, 190 entries; the tip is now e50");
	assert_int_equal(work_session(w)->n, 50);
	assert_int_equal(count_new(work_session(w)), 0);
	/* from here on it is what the next look compares with */
	entry("s.jsonl", "n", "e50", "more", 999);
	refresh(w, WORK_GREW, "1 new entry; the tip is now n");
	assert_int_equal(count_new(work_session(w)), 1);
	/* empty twice, by two files; then all of it, one entry more and another one gone */
	replace("s.jsonl", "");
	refresh(w, WORK_REPLACED, "51 entries are gone");
	replace("s.jsonl", "\n");
	refresh(w, WORK_REPLACED, "51 entries are gone");
	buf_adds(&part, "{\"id\":\"m\",\"parentId\":\"e50\",\"role\":\"USER\",\"content\":\"\","
			"\"timestamp\":9}\n");
	replace("s.jsonl", part.p);
	refresh(w, WORK_REPLACED,
		"the file was replaced: 1 new entry, 1 entry is gone; the tip is now m");
	assert_int_equal(count_new(work_session(w)), 1);
	/* and the same again: no news but that it was written */
	assert_int_equal(truncate(path, 0), 0);
	refresh(w, WORK_REPLACED, ", 51 entries");
	temp_puts(path, part.p);
	refresh(w, WORK_GREW, "");
	assert_int_equal(work_session(w)->n, 51);
	assert_int_equal(count_new(work_session(w)), 0);
	work_close(&w);
	buf_release(&all);
	buf_release(&part);
}

static bool wait_for(struct watch *w)
{
	struct pollfd p = { .fd = watch_fd(w), .events = POLLIN };

	return poll(&p, 1, 2000) == 1 && watch_drain(w);
}

static void watching(void **state)
{
	struct watch *w = watch_new();

	if (watch_fd(w) < 0) {
		watch_free(&w);
		skip();
	}
	assert_int_equal(watch_add(w, env.root), 0);
	assert_int_equal(watch_add(w, env.root), 0);
	assert_true(watch_add(w, "/nonexistent") < 0);
	assert_false(watch_drain(w));
	entry("s.jsonl", "a", NULL, "one", 1);
	assert_true(wait_for(w));
	assert_false(watch_drain(w));
	/* a staging file is nothing; the rename is */
	temp_puts(env_path(&env, ".s.jsonl123.tmp"), "x");
	assert_false(watch_drain(w));
	rename(env_path(&env, ".s.jsonl123.tmp"), env_path(&env, "s.jsonl"));
	assert_true(wait_for(w));
	unlink(env_path(&env, "s.jsonl"));
	assert_true(wait_for(w));
	watch_clear(w);
	watch_drain(w);
	entry("s.jsonl", "a", NULL, "one", 1);
	assert_false(watch_drain(w));
	watch_free(&w);
	assert_null(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(defaults, set_up, tear_down),
		cmocka_unit_test_setup_teardown(odd_roots, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stepping, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rescan, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(find, set_up, tear_down),
		cmocka_unit_test_setup_teardown(following, set_up, tear_down),
		cmocka_unit_test_setup_teardown(empty_moment, set_up, tear_down),
		cmocka_unit_test_setup_teardown(watching, set_up, tear_down),
	};

	env_fix_clock();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
