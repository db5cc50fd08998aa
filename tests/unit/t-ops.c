/*
 * t-ops.c - checkout, label, title, copies and the trash: what stands in the
 * files afterwards, byte for byte, and what is refused.
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
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/path.h"
#include "base/xalloc.h"
#include "log/log.h"
#include "log/sys.h"
#include "format/format.h"
#include "store/store.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/storeenv.h"

static struct env env;

static int set_up(void **state)
{
	env_make(&env);
	return 0;
}

static int tear_down(void **state)
{
	sys_install(NULL);
	env_remove(&env);
	return 0;
}

#define A "{\"id\":\"a\",\"role\":\"USER\",\"content\":\"one\",\"timestamp\":1}\n"
#define B                                                                              \
	"{\"id\":\"b\",\"parentId\":\"a\",\"role\":\"ASSISTANT\",\"content\":\"two\"," \
	"\"timestamp\":2}\n"
#define C                                                                           \
	"{\"id\":\"c\",\"parentId\":\"b\",\"role\":\"USER\",\"content\":\"three\"," \
	"\"timestamp\":3}\n"

/* Another bough writes a line between our reading and our lock: it is there, and counts. */
static void label_on_open(const struct fake_event *e, void *arg)
{
	bool *done = arg;

	if (strcmp(e->name, "open") != 0 || !(e->flags & O_APPEND) ||
		!strstr(e->path, "/s.reflog") || *done)
		return;
	*done = true;
	temp_adds(e->path,
		"{\"v\":1,\"op\":\"label\",\"entry\":\"b\",\"label\":\"theirs\",\"at\":5}\n");
}

static void raced_reflog(void **state)
{
	struct work *w = env_open_text(&env, A B);
	struct done d = { 0 };
	struct err err = { 0 };
	bool done = false;

	fake_install();
	fake_reset();
	fake_listen(label_on_open, &done);
	env_ok(work_label(w, 0, str_of("mine"), false, &d, &err), &err);
	fake_listen(NULL, NULL);
	fake_remove();
	assert_true(done);
	assert_true(str_eqs(session_label(work_session(w), 0)->text, "mine"));
	assert_true(str_eqs(session_label(work_session(w), 1)->text, "theirs"));
	assert_int_equal(temp_count(env.root, ".torn-", NULL), 0);
	work_close(&w);
	done_release(&d);
}

static int reading_reflog_fails(int dir, const char *name, int flags, mode_t mode)
{
	if (!(flags & O_APPEND) && strcmp(name, "s.reflog") == 0) {
		errno = EIO;
		return -1;
	}
	return sys_real.openat(dir, name, flags, mode);
}

/* A reflog that can be written but not read has no known end: nothing goes into it. */
static void blind_reflog(void **state)
{
	static const char line[] =
		"{\"v\":1,\"op\":\"label\",\"entry\":\"b\",\"label\":\"l\",\"at\":5}\n";
	struct sys table = sys_real;
	struct work *w;
	struct done d = { 0 };
	struct err err = { 0 };
	struct fork_spec spec = { .at = 0, .content = str_of("mine") };

	temp_puts(env_path(&env, "s.reflog"), line);
	table.openat = reading_reflog_fails;
	sys_install(&table);
	w = env_open_text(&env, A B);
	assert_int_equal(env_problems(w, "reflog-unreadable"), 1);
	assert_int_equal(work_checkout(w, 0, false, &d, &err), ERR_IO);
	err_clear(&err);
	assert_int_equal(work_fork(w, &spec, false, &d, &err), ERR_IO);
	assert_true(temp_is(env_path(&env, "s.reflog"), line));
	assert_true(temp_is(env_path(&env, "s.jsonl"), A B));
	assert_int_equal(temp_count(env.root, ".torn-", NULL), 0);
	/* it was for a moment only */
	sys_install(NULL);
	err_clear(&err);
	env_ok(work_checkout(w, 0, false, &d, &err), &err);
	assert_int_equal(env_problems(w, NULL), 0);
	assert_non_null(session_label(work_session(w), 1));
	work_close(&w);
	done_release(&d);
}

static void checkouts(void **state)
{
	struct work *w = env_open_text(&env, A B C);
	struct done d = { 0 };
	struct err err = { 0 };
	char *one =
		xasprintf("{\"v\":1,\"op\":\"checkout\",\"tip\":\"a\",\"from\":\"c\",\"entries\":3,"
			  "\"at\":%lld}\n",
			(long long)ENV_NOW);
	char *two = xasprintf(
		"%s{\"v\":1,\"op\":\"checkout\",\"tip\":\"c\",\"from\":\"a\",\"entries\":3,"
		"\"at\":%lld}\n",
		one, (long long)ENV_NOW);

	env_ok(work_checkout(w, 0, true, &d, &err), &err);
	assert_string_equal(d.lines.p, one);
	assert_int_not_equal(access(env_path(&env, "s.reflog"), F_OK), 0);
	env_ok(work_checkout(w, 0, false, &d, &err), &err);
	assert_string_equal(d.said, "tip is now a (was c); u undoes");
	env_assert_file(env_path(&env, "s.reflog"), one, strlen(one));
	env_assert_file(env_path(&env, "s.jsonl"), A B C, strlen(A B C));
	assert_int_equal(work_session(w)->tip, 0);
	assert_string_equal(session_tip_reason(work_session(w)), "checkout");
	/* again: nothing to write */
	env_ok(work_checkout(w, 0, false, &d, &err), &err);
	assert_string_equal(d.said, "a is the tip already");
	env_assert_file(env_path(&env, "s.reflog"), one, strlen(one));
	env_ok(work_undo(w, &d, &err), &err);
	env_assert_file(env_path(&env, "s.reflog"), two, strlen(two));
	assert_int_equal(work_session(w)->tip, 2);
	assert_int_equal(work_undo(w, &d, &err), ERR_NOTFOUND);
	assert_int_equal(work_checkout(w, 77, false, &d, NULL), ERR_NOTFOUND);
	work_close(&w);
	done_release(&d);
	free(one);
	free(two);
}

/* What is so already is said and not written, nor is there anything to take back. */
static void nothing_to_do(void **state)
{
	struct work *w = env_open_text(&env, A B C);
	struct done d = { 0 };
	struct err err = { 0 };
	struct str empty = { "", 0 };

	/* c is the tip by the default rule: a line would not hold it, the next append moves it */
	for (int dry = 1; dry >= 0; dry--) {
		env_ok(work_checkout(w, 2, dry, &d, &err), &err);
		assert_string_equal(d.said, "c is the tip already");
		assert_int_equal(d.lines.n, 0);
		env_ok(work_label(w, 1, empty, dry, &d, &err), &err);
		assert_string_equal(d.said, "b has no label");
		env_ok(work_rename(w, empty, dry, &d, &err), &err);
		assert_string_equal(d.said, "there is no title");
	}
	assert_string_equal(session_tip_reason(work_session(w)), "last-entry");
	assert_int_not_equal(access(env_path(&env, "s.reflog"), F_OK), 0);
	assert_int_not_equal(access(env_path(&env, "s.json"), F_OK), 0);
	assert_int_equal(work_undo(w, &d, &err), ERR_NOTFOUND);

	env_ok(work_label(w, 1, str_of("good"), false, &d, &err), &err);
	env_ok(work_label(w, 1, str_of("good"), false, &d, &err), &err);
	assert_string_equal(d.said, "b is labelled [good] already");
	env_ok(work_rename(w, str_of("Pier"), false, &d, &err), &err);
	env_ok(work_rename(w, str_of("Pier"), false, &d, &err), &err);
	assert_string_equal(d.said, "the title is \"Pier\" already");
	/* two changes were made, two are taken back */
	env_ok(work_undo(w, &d, &err), &err);
	assert_string_equal(d.said, "undone: the title is gone");
	env_ok(work_undo(w, &d, &err), &err);
	assert_string_equal(d.said, "undone: the label is gone");
	assert_int_equal(work_undo(w, &d, &err), ERR_NOTFOUND);
	work_close(&w);
	done_release(&d);
}

/* A torn last line of the reflog is set aside, and what follows it is read. */
static void torn_reflog(void **state)
{
	struct work *w;
	struct done d = { 0 };
	struct err err = { 0 };

	temp_puts(
		env_path(&env, "s.reflog"), "{\"v\":1,\"op\":\"later\"}\n{\"v\":1,\"op\":\"check");
	w = env_open_text(&env, A B C);
	env_ok(work_checkout(w, 1, false, &d, &err), &err);
	work_close(&w);
	env_assert_file(env_path(&env, "s.reflog.torn-21"), "{\"v\":1,\"op\":\"check", 18);
	w = env_open(&env, "s");
	assert_int_equal(work_session(w)->tip, 1);
	work_close(&w);
	done_release(&d);
}

static void labels(void **state)
{
	struct work *w = env_open_text(&env, A B C);
	struct done d = { 0 };
	struct err err = { 0 };
	char *want =
		xasprintf("{\"v\":1,\"op\":\"label\",\"entry\":\"b\",\"label\":\"g\\\"\303\266\","
			  "\"at\":%lld}\n",
			(long long)ENV_NOW);

	env_ok(work_label(w, 1, str_of("g\"\303\266"), true, &d, &err), &err);
	assert_string_equal(d.lines.p, want);
	env_ok(work_label(w, 1, str_of(""), false, &d, &err), &err); /* there is none */
	assert_int_not_equal(access(env_path(&env, "s.reflog"), F_OK), 0);
	env_ok(work_label(w, 1, str_of("g\"\303\266"), false, &d, &err), &err);
	env_assert_file(env_path(&env, "s.reflog"), want, strlen(want));
	assert_true(str_eqs(session_label(work_session(w), 1)->text, "g\"\303\266"));
	env_ok(work_label(w, 1, str_of("better"), false, &d, &err), &err);
	env_ok(work_label(w, 1, str_of(""), false, &d, &err), &err);
	assert_null(session_label(work_session(w), 1));
	env_ok(work_undo(w, &d, &err), &err);
	assert_true(str_eqs(session_label(work_session(w), 1)->text, "better"));
	env_ok(work_undo(w, &d, &err), &err);
	assert_true(str_eqs(session_label(work_session(w), 1)->text, "g\"\303\266"));
	env_ok(work_undo(w, &d, &err), &err);
	assert_null(session_label(work_session(w), 1));
	assert_int_equal(work_undo(w, &d, &err), ERR_NOTFOUND);
	err_clear(&err);
	assert_int_equal(work_label(w, 1, str_of("\xff"), false, &d, &err), ERR_USAGE);
	work_close(&w);
	done_release(&d);
	free(want);
}

static void titles(void **state)
{
	struct work *w;
	struct done d = { 0 };
	struct err err = { 0 };
	const char *side = env_path(&env, "s.meta.json");

	w = env_open_text(&env, A);
	env_ok(work_rename(w, str_of("First"), true, &d, &err), &err);
	assert_int_not_equal(access(side, F_OK), 0);
	assert_string_equal(d.lines.p, "{\"title\":\"First\"}");
	env_ok(work_rename(w, str_of("First"), false, &d, &err), &err);
	env_assert_file(side, "{\"title\":\"First\"}", 17);
	assert_true(str_eqs(*session_meta(work_session(w), "title"), "First"));
	env_ok(work_undo(w, &d, &err), &err);
	assert_null(session_meta(work_session(w), "title"));
	env_assert_file(side, "{}", 2);

	temp_puts(side, "{\"model\":\"m\",\"x\":[1,2],\"title\":\"old\"}");
	env_ok(work_rename(w, str_of("n\"w"), false, &d, &err), &err);
	env_assert_file(side, "{\"model\":\"m\",\"x\":[1,2],\"title\":\"n\\\"w\"}", 38);
	assert_true(str_eqs(*session_meta(work_session(w), "model"), "m"));
	env_ok(work_undo(w, &d, &err), &err);
	assert_true(str_eqs(*session_meta(work_session(w), "title"), "old"));

	temp_puts(side, "{\"title\":\"old\"");
	assert_int_equal(work_rename(w, str_of("new"), false, &d, &err), ERR_CORRUPT);
	env_assert_file(side, "{\"title\":\"old\"", 14);
	work_close(&w);
	done_release(&d);
}

/* ---- into a new session ---- */

static void fork_new(void **state)
{
	struct work *w, *made;
	struct done d = { 0 };
	struct err err = { 0 };
	struct fork_spec spec = { .at = 1 };
	struct buf want = { 0 };
	char *dump, *after, *name, *line, *side;
	size_t n, m;

	temp_puts(env_path(&env, "s.meta.json"),
		"{\"model\":\"m\",\"title\":\"T \\\"x\\\"\",\"parentSessionId\":\"older\","
		"\"other\":1,\"systemPrompt\":\"p\"}");
	w = env_open_text(&env,
		"{\"odd\":[ 1 ],\"id\":\"a\",\"role\":\"USER\",\"content\":\"\\u0041\","
		"\"timestamp\":1}\r\n" B C);
	dump = env_dump(env.dir, &n);
	env_ok(work_fork_new(w, &spec, true, &d, &err), &err);
	after = env_dump(env.dir, &m);
	assert_int_equal(n, m);
	assert_memory_equal(dump, after, n);
	buf_adds(&want, "{\"odd\":[ 1 ],\"id\":\"a\",\"role\":\"USER\",\"content\":\"\\u0041\","
			"\"timestamp\":1}\n" B);
	assert_string_equal(d.lines.p, want.p);

	spec.content = str_of("mine");
	env_ok(work_fork_new(w, &spec, false, &d, &err), &err);
	line = env_line(d.entry, "b", "USER", "mine");
	buf_adds(&want, line);
	assert_string_equal(path_base(d.path), (name = xasprintf("%s.jsonl", d.session)));
	env_assert_file(d.path, want.p, want.n);
	side = xasprintf("%s.meta.json", d.session);
	assert_true(temp_is(env_path(&env, side), NULL) == false);
	made = env_open(&env, d.session);
	assert_int_equal(env_problems(made, NULL), 0);
	assert_int_equal(work_session(made)->n, 3);
	assert_true(str_eqs(*session_meta(work_session(made), "parentSessionId"), "s"));
	assert_true(str_eqs(*session_meta(work_session(made), "title"), "T \"x\""));
	assert_true(str_eqs(*session_meta(work_session(made), "model"), "m"));
	assert_true(str_eqs(*session_meta(work_session(made), "systemPrompt"), "p"));
	work_close(&made);

	/* a retry: the branch without the entry, and the new text in its place */
	free(line);
	spec.is_retry = true;
	env_ok(work_fork_new(w, &spec, false, &d, &err), &err);
	line = env_line(d.entry, "a", "ASSISTANT", "mine");
	made = env_open(&env, d.session);
	assert_int_equal(work_session(made)->n, 2);
	assert_int_equal(work_session(made)->entries[1].kind, KIND_ASSISTANT);
	work_close(&made);
	work_close(&w);
	done_release(&d);
	buf_release(&want);
	free(dump);
	free(after);
	free(name);
	free(line);
	free(side);
}

/* Every fixture's tip branch makes a session without a problem of its own. */
static void fork_new_of_fixtures(void **state)
{
	char **names = env_fixtures();
	size_t ncases = 0;

	for (size_t i = 0; names[i]; i++) {
		struct work *w, *made;
		struct done d = { 0 };
		struct err err = { 0 };
		struct fork_spec spec = { 0 };
		uint32_t n;

		if (strchr(names[i], ' '))
			continue;
		env_clear(&env);
		env_fixture(&env, names[i]);
		w = env_open(&env, names[i]);
		spec.at = work_session(w)->tip;
		if (spec.at == ENTRY_NONE) {
			assert_int_equal(work_fork_new(w, &spec, false, &d, &err), ERR_NOTFOUND);
			work_close(&w);
			continue;
		}
		free(session_branch(work_session(w), spec.at, &n));
		env_ok(work_fork_new(w, &spec, false, &d, &err), &err);
		made = env_open(&env, d.session);
		assert_int_equal(work_session(made)->n, n);
		assert_string_equal(env_id(made, work_session(made)->tip), env_id(w, spec.at));
		assert_int_equal(env_problems(made, NULL), env_problems(made, "unknown-role"));
		work_close(&made);
		work_close(&w);
		done_release(&d);
		ncases++;
	}
	print_message("%zu branches copied\n", ncases);
	assert_true(ncases >= 30);
	env_free_names(names);
}

/* ---- the trash ---- */

static void trashed(void **state)
{
	struct work *w;
	struct done d = { 0 }, e = { 0 }, dry = { 0 };
	struct err err = { 0 };
	size_t n, m;
	char *before, *after, *info = xasprintf("%s/data/Trash/info/s.jsonl.trashinfo", env.dir),
			      *text;
	char *files = xasprintf("%s/data/Trash/files/s.jsonl", env.dir);

	for (int round = 0; round < 2; round++) {
		temp_puts(env_path(&env, "s.meta.json"), "{}");
		temp_puts(env_path(&env, "s.reflog"), "\n");
		w = env_open_text(&env, A);
		before = env_dump(env.root, &n);
		env_ok(work_trash(&w, true, &dry, &err), &err);
		assert_non_null(w);
		after = env_dump(env.root, &m);
		assert_int_equal(n, m);
		free(after);
		env_ok(work_trash(&w, false, round ? &e : &d, &err), &err);
		assert_null(w);
		assert_int_equal(temp_count(env.root, "", NULL), 0);
		if (round == 0) {
			assert_string_equal(d.path, files);
			text = temp_get(info, &m);
			assert_non_null(text);
			assert_non_null(strstr(text, "[Trash Info]\nPath=/"));
			assert_non_null(strstr(text, "/store/s.jsonl\nDeletionDate=2026-"));
			free(text);
		}
		if (round == 0)
			free(before);
	}
	/* the second one got another name; both come back, not over each other */
	assert_string_not_equal(d.path, e.path);
	env_ok(store_untrash(&e, &err), &err);
	after = env_dump(env.root, &m);
	assert_int_equal(n, m);
	assert_memory_equal(before, after, n);
	assert_int_equal(store_untrash(&d, &err), ERR_EXISTS);
	assert_false(temp_is(d.path, NULL));
	free(before);
	free(after);
	free(info);
	free(files);
	done_release(&d);
	done_release(&e);
	done_release(&dry);
}

/* ---- a folder that can not be written ---- */

static int open_refused(const char *path, int flags, mode_t mode)
{
	if ((flags & O_CREAT) && strncmp(path, env.root, strlen(env.root)) == 0) {
		errno = EACCES;
		return -1;
	}
	return sys_real.open(path, flags, mode);
}

/* The same of names in the folder that is open. */
static int openat_refused(int dir, const char *name, int flags, mode_t mode)
{
	char link[64], folder[TEMP_PATH] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	if ((flags & O_CREAT) && readlink(link, folder, sizeof(folder) - 1) > 0 &&
		strncmp(folder, env.root, strlen(env.root)) == 0) {
		errno = EACCES;
		return -1;
	}
	return sys_real.openat(dir, name, flags, mode);
}

static int access_refused(const char *path, int mode)
{
	if (strncmp(path, env.root, strlen(env.root)) == 0) {
		errno = EACCES;
		return -1;
	}
	return sys_real.access(path, mode);
}

static void read_only_folder(void **state)
{
	struct sys table = sys_real;
	struct work *w;
	struct done d = { 0 };
	struct err err = { 0 };
	bool elsewhere;
	size_t n, m;
	char *before, *after, *deep;

	table.open = open_refused;
	table.openat = openat_refused;
	table.access = access_refused;
	sys_install(&table);
	w = env_open_text(&env, A B C);
	before = env_dump(env.root, &n);
	assert_string_equal(work_state_path(w, &elsewhere), "");
	assert_true(elsewhere);
	env_ok(work_checkout(w, 0, false, &d, &err), &err);
	env_ok(work_label(w, 1, str_of("l"), false, &d, &err), &err);
	assert_non_null(strstr(work_state_path(w, &elsewhere), "/state/bough/"));
	assert_true(elsewhere);
	assert_int_equal(work_session(w)->tip, 0);
	work_close(&w);
	w = env_open(&env, "s");
	assert_int_equal(work_session(w)->tip, 0);
	assert_non_null(session_label(work_session(w), 1));
	assert_true(work_rename(w, str_of("t"), false, &d, &err) < 0);
	err_clear(&err);
	work_close(&w);
	after = env_dump(env.root, &m);
	assert_int_equal(n, m);
	assert_memory_equal(before, after, n);
	free(after);
	free(before);

	/* a path too long for a file name */
	deep = xasprintf("%s/%0200d", env.root, 7);
	mkdir(deep, 0700);
	after = xasprintf("%s/s.jsonl", deep);
	temp_puts(after, A B);
	assert_int_equal(work_open(&w, after, &err), 0);
	env_ok(work_load(w, &err), &err);
	env_ok(work_checkout(w, 0, false, &d, &err), &err);
	assert_int_equal(strlen(path_base(work_state_path(w, &elsewhere))), 64 + 7);
	work_close(&w);
	free(after);
	free(deep);
	done_release(&d);
}

static void contents(void **state)
{
	struct work *w = env_open_text(&env,
		"{\"id\":\"a\",\"role\":\"USER\",\"content\":\"x\\u0000\\n\\ud83d\\ude00\","
		"\"timestamp\":1}\n");
	struct buf b = { 0 };
	const char *why;

	assert_int_equal(work_content(w, 0, &b, NULL), 0);
	assert_int_equal(b.n, 7);
	assert_memory_equal(b.p, "x\0\n\360\237\230\200", 7);
	assert_int_equal(work_content(w, 1, &b, NULL), ERR_NOTFOUND);
	assert_true(work_can(w, FORMAT_APPEND | FORMAT_TITLE | FORMAT_REPAIR, &why));
	work_close(&w);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(checkouts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_to_do, set_up, tear_down),
		cmocka_unit_test_setup_teardown(torn_reflog, set_up, tear_down),
		cmocka_unit_test_setup_teardown(labels, set_up, tear_down),
		cmocka_unit_test_setup_teardown(titles, set_up, tear_down),
		cmocka_unit_test_setup_teardown(raced_reflog, set_up, tear_down),
		cmocka_unit_test_setup_teardown(blind_reflog, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fork_new, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fork_new_of_fixtures, set_up, tear_down),
		cmocka_unit_test_setup_teardown(trashed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(read_only_folder, set_up, tear_down),
		cmocka_unit_test_setup_teardown(contents, set_up, tear_down),
	};

	env_fix_clock();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
