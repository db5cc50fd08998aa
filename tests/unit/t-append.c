/*
 * t-append.c - entries that go into a session's own file: what stands there
 * afterwards, byte for byte, that everything that stood there before still
 * does, and what an agent that runs at the same time can and can not undo.
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
	for (size_t i = 0; i < s->problems.n; i++)
		b->problems[i] = s->problems.v[i];
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
						   b->problems[k].line != p->line ||
						   b->problems[k].offset != p->offset))
			k++;
		if (k == b->nproblems)
			fail_msg("a problem came: %s line %llu: %s", p->kind,
				(unsigned long long)p->line, p->message);
	}
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
	env_assert_file(path, want.p, want.n);
	if (b->n > b->committed)
		env_assert_file(torn, b->file + b->committed, b->n - b->committed);
	else
		assert_int_not_equal(access(torn, F_OK), 0);
	buf_release(&want);
	free(torn);
}

static void check_reflog_ends(const char *session, const char *line)
{
	char *path = xasprintf("%.*sreflog", (int)(strlen(session) - strlen("jsonl")), session);
	char *want = xasprintf("{\"v\":1,\"op\":\"append\",\"entry\":%.*s,\"at\":%lld}\n",
		(int)strlen(line) - 1, line, (long long)ENV_NOW);
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
		role = s->entries[spec.at].kind == KIND_ASSISTANT     ? "ASSISTANT"
		       : s->entries[spec.at].kind == KIND_TOOL_RESULT ? "TOOL_RESULT"
		       : s->entries[spec.at].kind == KIND_USER        ? "USER"
								      : "SYSTEM";
	remember(&b, w);

	env_ok(work_fork(w, &spec, true, &d, &err), &err);
	dump = env_dump(env.dir, &n);
	assert_int_equal(n, b.ndump);
	assert_memory_equal(dump, b.dump, n);
	free(dump);
	line = env_line(d.entry, parent, role, content_out);
	n = b.committed && b.file[b.committed - 1] != '\n';
	assert_int_equal(d.lines.n, strlen(line) + n);
	assert_string_equal(d.lines.p + n, line);
	free(line);

	env_ok(work_fork(w, &spec, false, &d, &err), &err);
	line = env_line(d.entry, parent, role, content_out);
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

/* ---- an agent that runs ---- */

#define A "{\"id\":\"a\",\"role\":\"USER\",\"content\":\"one\",\"timestamp\":1}\n"
#define B                                                                              \
	"{\"id\":\"b\",\"parentId\":\"a\",\"role\":\"ASSISTANT\",\"content\":\"two\"," \
	"\"timestamp\":2}\n"
#define C                                                                           \
	"{\"id\":\"c\",\"parentId\":\"b\",\"role\":\"USER\",\"content\":\"three\"," \
	"\"timestamp\":3}\n"

static void save_whole(const char *text) /* as the agent does: another file, renamed over */
{
	char *tmp = xasprintf("%s/.s.jsonl1.tmp", env.root);

	temp_puts(tmp, text);
	assert_int_equal(rename(tmp, env_path(&env, "s.jsonl")), 0);
	free(tmp);
}

/* It appended while the person thought: the fork goes on under the chosen entry. */
static void forked_meanwhile(void **state)
{
	struct work *w = env_open_text(&env, A B);
	struct done d = { 0 };
	struct err err = { 0 };
	struct fork_spec spec = { .at = 0, .content = str_of("mine") };

	temp_adds(env_path(&env, "s.jsonl"), C);
	env_ok(work_fork(w, &spec, false, &d, &err), &err);
	assert_int_equal(work_session(w)->n, 4);
	assert_string_equal(env_id(w, work_session(w)->entries[3].parent), "a");

	/* it compacted: other indices, the same entry */
	save_whole(
		"{\"id\":\"s\",\"role\":\"SYSTEM\",\"content\":\"sum\",\"timestamp\":9}\n" A B C);
	spec.at = 1;
	env_ok(work_fork(w, &spec, false, &d, &err), &err);
	assert_string_equal(env_id(w, work_session(w)->entries[work_session(w)->tip].parent), "b");

	/* the entry is gone */
	spec.at = env_find(w, "c");
	save_whole(A B);
	assert_int_equal(work_fork(w, &spec, false, &d, &err), ERR_NOTFOUND);
	assert_non_null(strstr(err.text, "not in it any more"));
	env_assert_file(env_path(&env, "s.jsonl"), A B, strlen(A B));
	work_close(&w);
	done_release(&d);
}

/* The agent appends between our reading and our lock: once, or every time. */
struct race {
	int left;
	int n;
};

static void append_on_open(const struct fake_event *e, void *arg)
{
	struct race *r = arg;

	if (strcmp(e->name, "open") != 0 || !(e->flags & O_APPEND) ||
		!strstr(e->path, "/s.jsonl") || !r->left)
		return;
	r->left--;
	r->n++;
	temp_adds(e->path, "{\"id\":\"r");
	temp_adds(e->path, (char[]){ 'a' + r->n, '\0' });
	temp_adds(e->path,
		"\",\"parentId\":\"a\",\"role\":\"USER\",\"content\":\"race\",\"timestamp\":8}\n");
}

static void raced(void **state)
{
	struct work *w = env_open_text(&env, A B);
	struct done d = { 0 };
	struct err err = { 0 };
	struct fork_spec spec = { .at = 0, .content = str_of("mine") };
	struct race race = { .left = 1 };

	fake_install();
	fake_reset();
	fake_listen(append_on_open, &race);
	env_ok(work_fork(w, &spec, false, &d, &err), &err);
	assert_int_equal(work_session(w)->n, 4);
	assert_string_equal(env_id(w, 3), d.entry);
	assert_string_equal(env_id(w, work_session(w)->entries[3].parent), "a");
	race.left = 1000;
	assert_int_equal(work_fork(w, &spec, false, &d, &err), ERR_CHANGED);
	assert_int_equal(race.n, 1 + 5);
	race.left = 0;
	fake_listen(NULL, NULL);
	fake_remove();
	work_close(&w);
	w = env_open(&env, "s");
	assert_int_equal(work_session(w)->n, 9);
	assert_int_equal(env_problems(w, NULL), 0);
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
	struct work *w = env_open_text(&env, A B);
	struct done d = { 0 };
	struct err err = { 0 };
	struct fork_spec spec = { .at = 1, .content = str_of("mine") };
	enum work_change change;
	char said[200], first[512], second[512], third[512];
	size_t n;
	char *file, *again;

	env_ok(work_fork(w, &spec, false, &d, &err), &err);
	snprintf(first, sizeof(first), "%s", d.entry);
	spec.at = env_find(w, first);
	env_ok(work_fork(w, &spec, false, &d, &err), &err);
	snprintf(second, sizeof(second), "%s", d.entry);
	file = temp_get(env_path(&env, "s.jsonl"), &n);

	save_whole(A B); /* from a memory that never saw our entries */
	env_ok(work_refresh(w, &change, said, &err), &err);
	assert_int_equal(change, WORK_REPLACED);
	assert_non_null(strstr(said, "2 of bough's entries lost"));
	expect_lost(w, 2);
	work_close(&w);
	w = env_open(&env, "s"); /* and at the next start */
	expect_lost(w, 2);

	env_ok(work_repair(w, true, &d, &err), &err);
	assert_string_equal(d.said, "would append 2 lost entries again");
	env_assert_file(env_path(&env, "s.jsonl"), A B, strlen(A B));
	env_ok(work_repair(w, false, &d, &err), &err);
	env_assert_file(env_path(&env, "s.jsonl"), file, n);
	expect_lost(w, 0);
	assert_string_equal(env_id(w, work_session(w)->tip), second);
	env_ok(work_repair(w, false, &d, &err), &err);
	assert_string_equal(d.said, "nothing to repair");
	env_assert_file(env_path(&env, "s.jsonl"), file, n);

	/* a fork on top of lost entries hides none of them */
	save_whole(A B);
	spec.at = 0;
	env_ok(work_fork(w, &spec, false, &d, &err), &err);
	snprintf(third, sizeof(third), "%s", d.entry);
	expect_lost(w, 2);
	save_whole(A B);
	work_close(&w);
	w = env_open(&env, "s");
	expect_lost(w, 3);
	env_ok(work_repair(w, false, &d, &err), &err);
	expect_lost(w, 0);
	assert_int_equal(work_session(w)->n, 5);
	assert_string_equal(env_id(w, 2), first);
	assert_string_equal(env_id(w, 3), second);
	assert_string_equal(env_id(w, 4), third);
	again = temp_get(env_path(&env, "s.jsonl"), &n);
	assert_int_equal(strncmp(again, file, strlen(file)), 0);

	/* the parent went too: said, and appended all the same */
	save_whole("{\"id\":\"q\",\"role\":\"USER\",\"content\":\"\",\"timestamp\":1}");
	env_ok(work_repair(w, false, &d, &err), &err);
	assert_string_equal(
		d.said, "appended 3 lost entries again, 2 without their parent: it is gone");
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
	struct work *w = env_open_text(&env, A B);
	struct done d = { 0 };
	struct err err = { 0 };
	struct fork_spec spec = { .at = 1, .content = str_of("mine") };
	size_t n;
	char *file, *torn = xasprintf("%s.torn-%zu", env_path(&env, "s.jsonl"), strlen(A B));

	env_ok(work_fork(w, &spec, false, &d, &err), &err);
	work_close(&w);
	file = temp_get(env_path(&env, "s.jsonl"), &n);
	temp_put(env_path(&env, "s.jsonl"), file, n - 20);
	w = env_open(&env, "s");
	expect_lost(w, 0);
	assert_int_equal(env_problems(w, "torn-tail"), 1);
	env_ok(work_repair(w, false, &d, &err), &err);
	assert_string_equal(d.path, torn);
	assert_non_null(strstr(d.said, "torn bytes set aside in "));
	assert_non_null(strstr(d.said, "appended 1 lost entry again"));
	env_assert_file(env_path(&env, "s.jsonl"), file, n);
	env_assert_file(torn, file + strlen(A B), n - 20 - strlen(A B));
	assert_int_equal(env_problems(w, NULL), 0);
	/* torn by somebody else: only set aside */
	temp_adds(env_path(&env, "s.jsonl"), "{\"id\":");
	env_ok(work_repair(w, false, &d, &err), &err);
	env_assert_file(env_path(&env, "s.jsonl"), file, n);
	assert_int_equal(env_problems(w, NULL), 0);
	work_close(&w);
	done_release(&d);
	free(file);
	free(torn);
}

/* A fork onto a torn file whose tail was ours does not hide that the entry is missing. */
static void fork_on_own_torn_tail(void **state)
{
	struct work *w = env_open_text(&env, A B);
	struct done d = { 0 };
	struct err err = { 0 };
	struct fork_spec spec = { .at = 1, .content = str_of("mine") };
	size_t n;
	char *file;

	env_ok(work_fork(w, &spec, false, &d, &err), &err);
	work_close(&w);
	file = temp_get(env_path(&env, "s.jsonl"), &n);
	temp_put(env_path(&env, "s.jsonl"), file, n - 20);
	w = env_open(&env, "s");
	env_ok(work_fork(w, &spec, false, &d, &err), &err);
	expect_lost(w, 1);
	env_ok(work_repair(w, false, &d, &err), &err);
	assert_int_equal(work_session(w)->n, 4);
	assert_int_equal(env_problems(w, NULL), 0);
	work_close(&w);
	done_release(&d);
	free(file);
}

static void refused(void **state)
{
	struct work *w = env_open_text(&env, A B);
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
	env_ok(log_open(&log, env_path(&env, "s.jsonl"), 0, &err), &err);
	err_clear(&err);
	assert_int_equal(work_fork(w, &spec, false, &d, &err), ERR_LOCKED);
	log_close(&log);
	env_assert_file(env_path(&env, "s.jsonl"), A B, strlen(A B));
	assert_int_not_equal(access(env_path(&env, "s.reflog"), F_OK), 0);
	err_clear(&err);
	env_ok(work_fork(w, &spec, false, &d, &err), &err);
	work_close(&w);
	done_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(append_proof, set_up, tear_down),
		cmocka_unit_test_setup_teardown(forked_meanwhile, set_up, tear_down),
		cmocka_unit_test_setup_teardown(raced, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wiped_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(repair_torn, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fork_on_own_torn_tail, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refused, set_up, tear_down),
	};

	env_fix_clock();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
