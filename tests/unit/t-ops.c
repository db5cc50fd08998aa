/*
 * t-ops.c - the writing operations: what stands in the files afterwards, byte
 * for byte, and that everything that stood there before still does.
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

static void ok(int rc, const struct err *err)
{
	if (rc < 0)
		fail_msg("%d: %s", rc, err->text);
}

static void assert_file(const char *path, const char *want, size_t n)
{
	size_t got = 0;
	char *p = temp_get(path, &got);

	if (!p || got != n || memcmp(p, want, n) != 0)
		fail_msg("%s holds\n%.*s\nand not\n%.*s", path, (int)got, p ? p : "", (int)n, want);
	free(p);
}

/* ---- the append proof ---- */

/* What a session was before an operation. */
struct before {
	char *file, *dump;
	size_t n, ndump;
	uint32_t entries;
	char **records;
	size_t *lens;
	uint64_t committed;
	struct problem *problems; /* kinds, lines and offsets only */
	size_t nproblems;
};

static void remember(struct before *b, struct work *w)
{
	struct session *s = work_session(w);

	b->file = temp_get(s->path, &b->n);
	b->dump = env_dump(env.dir, &b->ndump);
	b->entries = s->n;
	b->committed = s->committed;
	b->records = xcalloc(s->n + 1, sizeof(*b->records));
	b->lens = xcalloc(s->n + 1, sizeof(*b->lens));
	for (uint32_t i = 0; i < s->n; i++)
		b->records[i] = env_record(w, i, &b->lens[i]);
	b->nproblems = s->problems.n;
	b->problems = xcalloc(s->problems.n + 1, sizeof(*b->problems));
	memcpy(b->problems, s->problems.v, s->problems.n * sizeof(*b->problems));
}

static void forget(struct before *b)
{
	for (uint32_t i = 0; i < b->entries; i++)
		free(b->records[i]);
	free(b->records);
	free(b->lens);
	free(b->problems);
	free(b->file);
	free(b->dump);
}

/* Every old entry is where it was in the order, the same bytes; no problem came. */
static void check_kept(const struct before *b, struct work *w)
{
	struct session *s = work_session(w);
	size_t k = 0;

	assert_true(s->n >= b->entries);
	for (uint32_t i = 0; i < b->entries; i++) {
		size_t n;
		char *p = env_record(w, i, &n);

		assert_int_equal(n, b->lens[i]);
		assert_memory_equal(p, b->records[i], n);
		free(p);
	}
	for (size_t i = 0; i < s->problems.n; i++) {
		const struct problem *p = &s->problems.v[i];

		while (k < b->nproblems && (strcmp(b->problems[k].kind, p->kind) != 0 ||
			b->problems[k].line != p->line || b->problems[k].offset != p->offset))
			k++;
		if (k == b->nproblems)
			fail_msg("a problem came: %s line %llu: %s", p->kind, (unsigned long long)p->line,
				p->message);
	}
}

/* The line as formats/tree.md has it, made here once more. */
static char *want_line(const char *id, const char *parent, const char *role, const char *content)
{
	char *link = parent ? xasprintf("\"parentId\":\"%s\",", parent) : xstrdup("");
	char *line = xasprintf("{\"id\":\"%s\",%s\"role\":\"%s\",\"content\":\"%s\",\"timestamp\":%lld}\n", id, link,
		role, content, (long long)ENV_NOW);

	free(link);
	return line;
}

/* The file is what was committed, a newline if none stood there, and the line. */
static void check_bytes(const struct before *b, const char *path, const char *line)
{
	struct buf want = { 0 };
	char *torn = xasprintf("%s.torn-%llu", path, (unsigned long long)b->committed);

	buf_add(&want, b->file, b->committed);
	if (want.n && want.p[want.n - 1] != '\n')
		buf_addc(&want, '\n');
	buf_adds(&want, line);
	assert_file(path, want.p, want.n);
	if (b->n > b->committed)
		assert_file(torn, b->file + b->committed, b->n - b->committed);
	else
		assert_int_not_equal(access(torn, F_OK), 0);
	buf_release(&want);
	free(torn);
}

static void check_reflog_ends(const char *session, const char *line)
{
	char *path = xasprintf("%.*sreflog", (int)(strlen(session) - strlen("jsonl")), session);
	char *want = xasprintf("{\"v\":1,\"op\":\"append\",\"entry\":%.*s,\"at\":%lld}\n", (int)strlen(line) - 1, line,
		(long long)ENV_NOW);
	size_t n = 0, len = strlen(want);
	char *p = temp_get(path, &n);

	assert_non_null(p);
	assert_true(n >= len);
	assert_memory_equal(p + n - len, want, len);
	free(p);
	free(want);
	free(path);
}

/* At the root, at the tip, again instead of the tip. */
enum place { AT_ROOT, AT_TIP, RETRY_TIP, PLACES };

static const char *const content_in = "caf\303\251 \"q\" \\ \n\t\001\b";
static const char *const content_out = "caf\303\251 \\\"q\\\" \\\\ \\n\\t\\u0001\\b";

static bool fork_case(const char *name, enum place place)
{
	struct work *w;
	struct session *s;
	struct before b;
	struct done d = { 0 };
	struct err err = { 0 };
	struct fork_spec spec = { .content = str_of(content_in) };
	const char *parent, *role = "USER";
	char *line, *dump;
	size_t n;
	uint32_t up;

	env_clear(&env);
	env_fixture(&env, name);
	w = env_open(&env, name);
	s = work_session(w);
	spec.at = place == AT_ROOT ? s->roots_first : s->tip;
	spec.is_retry = place == RETRY_TIP;
	if (s->n == 0 && place != AT_TIP)
		goto none;
	up = spec.is_retry ? s->entries[spec.at].parent : spec.at;
	parent = up == ENTRY_NONE ? NULL : env_id(w, up);
	if (spec.is_retry && s->entries[spec.at].kind == KIND_UNKNOWN) {
		assert_int_equal(work_fork(w, &spec, false, &d, &err), ERR_USAGE);
		goto none;
	}
	if (spec.is_retry)
		role = s->entries[spec.at].kind == KIND_ASSISTANT ? "ASSISTANT" :
			s->entries[spec.at].kind == KIND_TOOL_RESULT ? "TOOL_RESULT" :
			s->entries[spec.at].kind == KIND_USER ? "USER" : "SYSTEM";
	remember(&b, w);

	ok(work_fork(w, &spec, true, &d, &err), &err);
	dump = env_dump(env.dir, &n);
	assert_int_equal(n, b.ndump);
	assert_memory_equal(dump, b.dump, n);
	free(dump);
	line = want_line(d.entry, parent, role, content_out);
	n = b.committed && b.file[b.committed - 1] != '\n';
	assert_int_equal(d.lines.n, strlen(line) + n);
	assert_string_equal(d.lines.p + n, line);
	free(line);

	ok(work_fork(w, &spec, false, &d, &err), &err);
	line = want_line(d.entry, parent, role, content_out);
	check_bytes(&b, work_session(w)->path, line);
	check_reflog_ends(work_session(w)->path, line);
	for (int again = 0; again < 2; again++) { /* the handle, and a fresh look */
		s = work_session(w);
		check_kept(&b, w);
		assert_int_equal(s->n, b.entries + 1);
		assert_string_equal(env_id(w, s->n - 1), d.entry);
		assert_int_equal(s->tip, s->n - 1);
		assert_false(s->entries[s->tip].flags & ENTRY_NEW);
		assert_int_equal(s->tip_rule, TIP_LAST_ENTRY);
		assert_string_equal(env_id(w, s->entries[s->tip].parent), parent ? parent : "");
		assert_int_equal(work_nlost(w), 0);
		assert_false(s->is_torn);
		work_close(&w);
		w = env_open(&env, name);
	}
	free(line);
	forget(&b);
	work_close(&w);
	done_release(&d);
	return true;
none:
	work_close(&w);
	done_release(&d);
	return false;
}

static void append_proof(void **state)
{
	char **names = env_fixtures();
	size_t ncases = 0;

	for (size_t i = 0; names[i]; i++) {
		if (strchr(names[i], ' ')) /* no legal id: it is not opened at all */
			continue;
		for (int place = 0; place < PLACES; place++) {
			print_message("  %s %d\n", names[i], place);
			ncases += fork_case(names[i], place);
		}
	}
	print_message("%zu appends proved\n", ncases);
	assert_true(ncases >= 90);
	env_free_names(names);
}

/* ---- small sessions ---- */

#define A "{\"id\":\"a\",\"role\":\"USER\",\"content\":\"one\",\"timestamp\":1}\n"
#define B "{\"id\":\"b\",\"parentId\":\"a\",\"role\":\"ASSISTANT\",\"content\":\"two\",\"timestamp\":2}\n"
#define C "{\"id\":\"c\",\"parentId\":\"b\",\"role\":\"USER\",\"content\":\"three\",\"timestamp\":3}\n"

static struct work *open_text(const char *text)
{
	temp_puts(env_path(&env, "s.jsonl"), text);
	return env_open(&env, "s");
}

static void save_whole(const char *text) /* as the agent does: another file, renamed over */
{
	char *tmp = xasprintf("%s/.s.jsonl1.tmp", env.root);

	temp_puts(tmp, text);
	assert_int_equal(rename(tmp, env_path(&env, "s.jsonl")), 0);
	free(tmp);
}

static void checkouts(void **state)
{
	struct work *w = open_text(A B C);
	struct done d = { 0 };
	struct err err = { 0 };
	char *one = xasprintf("{\"v\":1,\"op\":\"checkout\",\"tip\":\"a\",\"from\":\"c\",\"entries\":3,\"at\":%lld}\n",
		(long long)ENV_NOW);
	char *two = xasprintf("%s{\"v\":1,\"op\":\"checkout\",\"tip\":\"c\",\"from\":\"a\",\"entries\":3,\"at\":%lld}\n",
		one, (long long)ENV_NOW);

	ok(work_checkout(w, 0, true, &d, &err), &err);
	assert_string_equal(d.lines.p, one);
	assert_int_not_equal(access(env_path(&env, "s.reflog"), F_OK), 0);
	ok(work_checkout(w, 0, false, &d, &err), &err);
	assert_string_equal(d.said, "tip is now a (was c); u undoes");
	assert_file(env_path(&env, "s.reflog"), one, strlen(one));
	assert_file(env_path(&env, "s.jsonl"), A B C, strlen(A B C));
	assert_int_equal(work_session(w)->tip, 0);
	assert_string_equal(session_tip_reason(work_session(w)), "checkout");
	/* again: nothing to write */
	ok(work_checkout(w, 0, false, &d, &err), &err);
	assert_file(env_path(&env, "s.reflog"), one, strlen(one));
	ok(work_undo(w, &d, &err), &err);
	assert_file(env_path(&env, "s.reflog"), two, strlen(two));
	assert_int_equal(work_session(w)->tip, 2);
	assert_int_equal(work_undo(w, &d, &err), ERR_NOTFOUND);
	assert_int_equal(work_checkout(w, 77, false, &d, NULL), ERR_NOTFOUND);
	work_close(&w);
	done_release(&d);
	free(one);
	free(two);
}

/* A torn last line of the reflog is set aside, and what follows it is read. */
static void torn_reflog(void **state)
{
	struct work *w;
	struct done d = { 0 };
	struct err err = { 0 };

	temp_puts(env_path(&env, "s.reflog"), "{\"v\":1,\"op\":\"later\"}\n{\"v\":1,\"op\":\"check");
	w = open_text(A B C);
	ok(work_checkout(w, 1, false, &d, &err), &err);
	work_close(&w);
	assert_file(env_path(&env, "s.reflog.torn-21"), "{\"v\":1,\"op\":\"check", 18);
	w = env_open(&env, "s");
	assert_int_equal(work_session(w)->tip, 1);
	work_close(&w);
	done_release(&d);
}

static void labels(void **state)
{
	struct work *w = open_text(A B C);
	struct done d = { 0 };
	struct err err = { 0 };
	char *want = xasprintf("{\"v\":1,\"op\":\"label\",\"entry\":\"b\",\"label\":\"g\\\"\303\266\",\"at\":%lld}\n",
		(long long)ENV_NOW);

	ok(work_label(w, 1, str_of("g\"\303\266"), true, &d, &err), &err);
	assert_string_equal(d.lines.p, want);
	ok(work_label(w, 1, str_of(""), false, &d, &err), &err); /* there is none */
	assert_int_not_equal(access(env_path(&env, "s.reflog"), F_OK), 0);
	ok(work_label(w, 1, str_of("g\"\303\266"), false, &d, &err), &err);
	assert_file(env_path(&env, "s.reflog"), want, strlen(want));
	assert_true(str_eqs(session_label(work_session(w), 1)->text, "g\"\303\266"));
	ok(work_label(w, 1, str_of("better"), false, &d, &err), &err);
	ok(work_label(w, 1, str_of(""), false, &d, &err), &err);
	assert_null(session_label(work_session(w), 1));
	ok(work_undo(w, &d, &err), &err);
	assert_true(str_eqs(session_label(work_session(w), 1)->text, "better"));
	ok(work_undo(w, &d, &err), &err);
	assert_true(str_eqs(session_label(work_session(w), 1)->text, "g\"\303\266"));
	ok(work_undo(w, &d, &err), &err);
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

	w = open_text(A);
	ok(work_rename(w, str_of("First"), true, &d, &err), &err);
	assert_int_not_equal(access(side, F_OK), 0);
	assert_string_equal(d.lines.p, "{\"title\":\"First\"}");
	ok(work_rename(w, str_of("First"), false, &d, &err), &err);
	assert_file(side, "{\"title\":\"First\"}", 17);
	assert_true(str_eqs(*session_meta(work_session(w), "title"), "First"));
	ok(work_undo(w, &d, &err), &err);
	assert_null(session_meta(work_session(w), "title"));
	assert_file(side, "{}", 2);

	temp_puts(side, "{\"model\":\"m\",\"x\":[1,2],\"title\":\"old\"}");
	ok(work_rename(w, str_of("n\"w"), false, &d, &err), &err);
	assert_file(side, "{\"model\":\"m\",\"x\":[1,2],\"title\":\"n\\\"w\"}", 38);
	assert_true(str_eqs(*session_meta(work_session(w), "model"), "m"));
	ok(work_undo(w, &d, &err), &err);
	assert_true(str_eqs(*session_meta(work_session(w), "title"), "old"));

	temp_puts(side, "{\"title\":\"old\"");
	assert_int_equal(work_rename(w, str_of("new"), false, &d, &err), ERR_CORRUPT);
	assert_file(side, "{\"title\":\"old\"", 14);
	work_close(&w);
	done_release(&d);
}

/* ---- an agent that runs ---- */

/* It appended while the person thought: the fork goes on under the chosen entry. */
static void forked_meanwhile(void **state)
{
	struct work *w = open_text(A B);
	struct done d = { 0 };
	struct err err = { 0 };
	struct fork_spec spec = { .at = 0, .content = str_of("mine") };

	temp_adds(env_path(&env, "s.jsonl"), C);
	ok(work_fork(w, &spec, false, &d, &err), &err);
	assert_int_equal(work_session(w)->n, 4);
	assert_string_equal(env_id(w, work_session(w)->entries[3].parent), "a");

	/* it compacted: other indices, the same entry */
	save_whole("{\"id\":\"s\",\"role\":\"SYSTEM\",\"content\":\"sum\",\"timestamp\":9}\n" A B C);
	spec.at = 1;
	ok(work_fork(w, &spec, false, &d, &err), &err);
	assert_string_equal(env_id(w, work_session(w)->entries[work_session(w)->tip].parent), "b");

	/* the entry is gone */
	spec.at = env_find(w, "c");
	save_whole(A B);
	assert_int_equal(work_fork(w, &spec, false, &d, &err), ERR_NOTFOUND);
	assert_non_null(strstr(err.text, "not in it any more"));
	assert_file(env_path(&env, "s.jsonl"), A B, strlen(A B));
	work_close(&w);
	done_release(&d);
}

static void expect_lost(struct work *w, size_t n)
{
	assert_int_equal(work_nlost(w), n);
	assert_int_equal(env_problems(w, "lost-append"), n);
}

static void wiped_out(void **state)
{
	struct work *w = open_text(A B);
	struct done d = { 0 };
	struct err err = { 0 };
	struct fork_spec spec = { .at = 1, .content = str_of("mine") };
	enum work_change change;
	char said[200], first[512], second[512], third[512];
	size_t n;
	char *file, *again;

	ok(work_fork(w, &spec, false, &d, &err), &err);
	snprintf(first, sizeof(first), "%s", d.entry);
	spec.at = env_find(w, first);
	ok(work_fork(w, &spec, false, &d, &err), &err);
	snprintf(second, sizeof(second), "%s", d.entry);
	file = temp_get(env_path(&env, "s.jsonl"), &n);

	save_whole(A B); /* from a memory that never saw our entries */
	ok(work_refresh(w, &change, said, &err), &err);
	assert_int_equal(change, WORK_REPLACED);
	assert_non_null(strstr(said, "2 of bough's entries lost"));
	expect_lost(w, 2);
	work_close(&w);
	w = env_open(&env, "s"); /* and at the next start */
	expect_lost(w, 2);

	ok(work_repair(w, true, &d, &err), &err);
	assert_string_equal(d.said, "would append 2 lost entries again");
	assert_file(env_path(&env, "s.jsonl"), A B, strlen(A B));
	ok(work_repair(w, false, &d, &err), &err);
	assert_file(env_path(&env, "s.jsonl"), file, n);
	expect_lost(w, 0);
	assert_string_equal(env_id(w, work_session(w)->tip), second);
	ok(work_repair(w, false, &d, &err), &err);
	assert_string_equal(d.said, "nothing to repair");
	assert_file(env_path(&env, "s.jsonl"), file, n);

	/* a fork on top of lost entries hides none of them */
	save_whole(A B);
	spec.at = 0;
	ok(work_fork(w, &spec, false, &d, &err), &err);
	snprintf(third, sizeof(third), "%s", d.entry);
	expect_lost(w, 2);
	save_whole(A B);
	work_close(&w);
	w = env_open(&env, "s");
	expect_lost(w, 3);
	ok(work_repair(w, false, &d, &err), &err);
	expect_lost(w, 0);
	assert_int_equal(work_session(w)->n, 5);
	assert_string_equal(env_id(w, 2), first);
	assert_string_equal(env_id(w, 3), second);
	assert_string_equal(env_id(w, 4), third);
	again = temp_get(env_path(&env, "s.jsonl"), &n);
	assert_int_equal(strncmp(again, file, strlen(file)), 0);

	/* the parent went too: said, and appended all the same */
	save_whole("{\"id\":\"q\",\"role\":\"USER\",\"content\":\"\",\"timestamp\":1}");
	ok(work_repair(w, false, &d, &err), &err);
	assert_string_equal(d.said, "appended 3 lost entries again, 2 without their parent: it is gone");
	assert_int_equal(env_problems(w, "orphan"), 2);
	assert_int_equal(work_session(w)->n, 4);
	work_close(&w);
	done_release(&d);
	free(file);
	free(again);
}

/* A crash in the middle of an append: the tail is torn and the reflog knows the entry. */
static void repair_torn(void **state)
{
	struct work *w = open_text(A B);
	struct done d = { 0 };
	struct err err = { 0 };
	struct fork_spec spec = { .at = 1, .content = str_of("mine") };
	size_t n;
	char *file, *torn = xasprintf("%s.torn-%zu", env_path(&env, "s.jsonl"), strlen(A B));

	ok(work_fork(w, &spec, false, &d, &err), &err);
	work_close(&w);
	file = temp_get(env_path(&env, "s.jsonl"), &n);
	temp_put(env_path(&env, "s.jsonl"), file, n - 20);
	w = env_open(&env, "s");
	expect_lost(w, 0);
	assert_int_equal(env_problems(w, "torn-tail"), 1);
	ok(work_repair(w, false, &d, &err), &err);
	assert_string_equal(d.path, torn);
	assert_non_null(strstr(d.said, "torn bytes set aside in "));
	assert_non_null(strstr(d.said, "appended 1 lost entry again"));
	assert_file(env_path(&env, "s.jsonl"), file, n);
	assert_file(torn, file + strlen(A B), n - 20 - strlen(A B));
	assert_int_equal(env_problems(w, NULL), 0);
	/* torn by somebody else: only set aside */
	temp_adds(env_path(&env, "s.jsonl"), "{\"id\":");
	ok(work_repair(w, false, &d, &err), &err);
	assert_file(env_path(&env, "s.jsonl"), file, n);
	assert_int_equal(env_problems(w, NULL), 0);
	work_close(&w);
	done_release(&d);
	free(file);
	free(torn);
}

/* A fork onto a torn file whose tail was ours does not hide that the entry is missing. */
static void fork_on_own_torn_tail(void **state)
{
	struct work *w = open_text(A B);
	struct done d = { 0 };
	struct err err = { 0 };
	struct fork_spec spec = { .at = 1, .content = str_of("mine") };
	size_t n;
	char *file;

	ok(work_fork(w, &spec, false, &d, &err), &err);
	work_close(&w);
	file = temp_get(env_path(&env, "s.jsonl"), &n);
	temp_put(env_path(&env, "s.jsonl"), file, n - 20);
	w = env_open(&env, "s");
	ok(work_fork(w, &spec, false, &d, &err), &err);
	expect_lost(w, 1);
	ok(work_repair(w, false, &d, &err), &err);
	assert_int_equal(work_session(w)->n, 4);
	assert_int_equal(env_problems(w, NULL), 0);
	work_close(&w);
	done_release(&d);
	free(file);
}

static void refused(void **state)
{
	struct work *w = open_text(A B);
	struct done d = { 0 };
	struct err err = { 0 };
	struct fork_spec spec = { .at = 1, .role = "MODEL", .content = str_of("x") };
	struct log *log;

	assert_int_equal(work_fork(w, &spec, false, &d, &err), ERR_USAGE);
	spec.role = "SYSTEM";
	spec.content = str_of("\xc0\xaf");
	err_clear(&err);
	assert_int_equal(work_fork(w, &spec, false, &d, &err), ERR_USAGE);
	spec.content = str_of("x");
	spec.at = 9;
	err_clear(&err);
	assert_int_equal(work_fork(w, &spec, false, &d, &err), ERR_NOTFOUND);
	spec.at = 0;
	ok(log_open(&log, env_path(&env, "s.jsonl"), 0, &err), &err);
	err_clear(&err);
	assert_int_equal(work_fork(w, &spec, false, &d, &err), ERR_LOCKED);
	log_close(&log);
	assert_file(env_path(&env, "s.jsonl"), A B, strlen(A B));
	assert_int_not_equal(access(env_path(&env, "s.reflog"), F_OK), 0);
	err_clear(&err);
	ok(work_fork(w, &spec, false, &d, &err), &err);
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
		"{\"model\":\"m\",\"title\":\"T \\\"x\\\"\",\"parentSessionId\":\"older\",\"other\":1,\"systemPrompt\":\"p\"}");
	w = open_text("{\"odd\":[ 1 ],\"id\":\"a\",\"role\":\"USER\",\"content\":\"\\u0041\",\"timestamp\":1}\r\n" B C);
	dump = env_dump(env.dir, &n);
	ok(work_fork_new(w, &spec, true, &d, &err), &err);
	after = env_dump(env.dir, &m);
	assert_int_equal(n, m);
	assert_memory_equal(dump, after, n);
	buf_adds(&want, "{\"odd\":[ 1 ],\"id\":\"a\",\"role\":\"USER\",\"content\":\"\\u0041\",\"timestamp\":1}\n" B);
	assert_string_equal(d.lines.p, want.p);

	spec.content = str_of("mine");
	ok(work_fork_new(w, &spec, false, &d, &err), &err);
	line = want_line(d.entry, "b", "USER", "mine");
	buf_adds(&want, line);
	assert_string_equal(path_base(d.path), (name = xasprintf("%s.jsonl", d.session)));
	assert_file(d.path, want.p, want.n);
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
	ok(work_fork_new(w, &spec, false, &d, &err), &err);
	line = want_line(d.entry, "a", "ASSISTANT", "mine");
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
		ok(work_fork_new(w, &spec, false, &d, &err), &err);
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
	char *before, *after, *info = xasprintf("%s/data/Trash/info/s.jsonl.trashinfo", env.dir), *text;
	char *files = xasprintf("%s/data/Trash/files/s.jsonl", env.dir);

	for (int round = 0; round < 2; round++) {
		temp_puts(env_path(&env, "s.meta.json"), "{}");
		temp_puts(env_path(&env, "s.reflog"), "\n");
		w = open_text(A);
		before = env_dump(env.root, &n);
		ok(work_trash(&w, true, &dry, &err), &err);
		assert_non_null(w);
		after = env_dump(env.root, &m);
		assert_int_equal(n, m);
		free(after);
		ok(work_trash(&w, false, round ? &e : &d, &err), &err);
		assert_null(w);
		assert_int_equal(temp_count(env.root, "", NULL), 0);
		if (round == 0) {
			assert_string_equal(d.path, files);
			text = temp_get(info, &m);
			assert_non_null(text);
			assert_non_null(strstr(text, "[Trash Info]\nPath=/"));
			assert_non_null(strstr(text, "/root/s.jsonl\nDeletionDate=2026-"));
			free(text);
		}
		if (round == 0)
			free(before);
	}
	/* the second one got another name; both come back, not over each other */
	assert_string_not_equal(d.path, e.path);
	ok(store_untrash(&e, &err), &err);
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
	table.access = access_refused;
	sys_install(&table);
	w = open_text(A B C);
	before = env_dump(env.root, &n);
	assert_string_equal(work_state_path(w, &elsewhere), "");
	assert_true(elsewhere);
	ok(work_checkout(w, 0, false, &d, &err), &err);
	ok(work_label(w, 1, str_of("l"), false, &d, &err), &err);
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
	ok(work_load(w, &err), &err);
	ok(work_checkout(w, 0, false, &d, &err), &err);
	assert_int_equal(strlen(path_base(work_state_path(w, &elsewhere))), 64 + 7);
	work_close(&w);
	free(after);
	free(deep);
	done_release(&d);
}

static void contents(void **state)
{
	struct work *w = open_text("{\"id\":\"a\",\"role\":\"USER\",\"content\":\"x\\u0000\\n\\ud83d\\ude00\",\"timestamp\":1}\n");
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
		cmocka_unit_test_setup_teardown(append_proof, set_up, tear_down),
		cmocka_unit_test_setup_teardown(checkouts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(torn_reflog, set_up, tear_down),
		cmocka_unit_test_setup_teardown(labels, set_up, tear_down),
		cmocka_unit_test_setup_teardown(titles, set_up, tear_down),
		cmocka_unit_test_setup_teardown(forked_meanwhile, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wiped_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(repair_torn, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fork_on_own_torn_tail, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fork_new, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fork_new_of_fixtures, set_up, tear_down),
		cmocka_unit_test_setup_teardown(trashed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(read_only_folder, set_up, tear_down),
		cmocka_unit_test_setup_teardown(contents, set_up, tear_down),
	};

	env_fix_clock();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
