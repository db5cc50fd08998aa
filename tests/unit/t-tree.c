/* Tree sessions: the fixtures against their expected answers, rules, finding. */
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
#include "format/format.h"
#include "format/tree/tree.h"
#include "json/doc.h"
#include "tests/lib/temp.h"
#include "tests/lib/tree-check.h"
#include "tests/lib/tree-files.h"

/* ---- fixtures ---- */

static char *id_of(struct session *s, uint32_t entry)
{
	struct buf id = { 0 };

	assert_int_equal(s->ops->id(s, entry, &id, NULL), 0);
	return buf_take(&id);
}

static void compare_id(struct session *s, const char *name, const char *key, uint32_t entry,
	const json_doc *want)
{
	char *id = id_of(s, entry);
	struct str text = { 0 };

	if (!want || !json_doc_get_string(want, &text) || !str_eqs(text, id))
		fail_msg("%s: %s holds %s, expected %s", name, key, id, text.p ? text.p : "(nothing)");
	free(id);
}

typedef bool pick_fn(const struct session *s, uint32_t entry);

static bool is_root(const struct session *s, uint32_t entry)
{
	return s->entries[entry].parent == ENTRY_NONE;
}

static void compare_list(struct session *s, const char *name, const json_doc *expected,
	const char *key, pick_fn *pick)
{
	const json_doc *want = json_doc_get(expected, key);
	size_t n = 0;

	assert_non_null(want);
	for (uint32_t i = 0; i < s->n; i++)
		if (pick(s, i))
			compare_id(s, name, key, i, json_doc_at(want, n++));
	if (n != json_doc_count(want))
		fail_msg("%s: %zu %s, expected %zu", name, n, key, json_doc_count(want));
}

static void compare_branch(struct session *s, const char *name, const json_doc *expected)
{
	const json_doc *want = json_doc_get(expected, "branch");
	uint32_t n, *branch = session_branch(s, s->tip, &n);

	for (uint32_t i = 0; i < n; i++)
		compare_id(s, name, "branch", branch[i], json_doc_at(want, i));
	if (n != json_doc_count(want))
		fail_msg("%s: branch of %u, expected %zu", name, n, json_doc_count(want));
	free(branch);
	if (s->tip == ENTRY_NONE)
		assert_false(json_doc_get_string(json_doc_get(expected, "tip"), &(struct str){ 0 }));
	else
		compare_id(s, name, "tip", s->tip, json_doc_get(expected, "tip"));
}

static void compare_int(const char *name, const char *key, const json_doc *doc, uint64_t have)
{
	int64_t want = -1;

	if (!json_doc_get_int(json_doc_get(doc, key), &want) || want != (int64_t)have)
		fail_msg("%s: %s is %lu, expected %ld", name, key, (unsigned long)have, (long)want);
}

static void compare_problems(struct session *s, const char *name, const json_doc *expected)
{
	const json_doc *want = json_doc_get(expected, "problems");

	for (size_t i = 0; i < s->problems.n; i++) {
		const struct problem *p = &s->problems.v[i];
		const json_doc *one = json_doc_at(want, i);
		struct str kind = { 0 };

		if (!one || !json_doc_get_string(json_doc_get(one, "kind"), &kind) ||
			!str_eqs(kind, p->kind))
			fail_msg("%s: problem %s at line %lu", name, p->kind, (unsigned long)p->line);
		if (p->has_no_place) /* it is about another file than the session's */
			continue;
		compare_int(name, "line", one, p->line);
		compare_int(name, "offset", one, p->offset);
		assert_true(p->length > 0 && p->offset + p->length <= s->size);
		assert_true(strlen(p->message) > 10 && !strchr(p->message, '\n'));
	}
	if (s->problems.n != json_doc_count(want))
		fail_msg("%s: %zu problems, expected %zu", name, s->problems.n, json_doc_count(want));
}

struct meta_check {
	struct session *s;
	const char *name;
	size_t n;
};

static bool compare_meta(struct str key, const json_doc *value, void *arg)
{
	struct meta_check *check = arg;
	const struct str *have = session_meta(check->s, key.p);
	struct str want;

	if (!have || !json_doc_get_string(value, &want) || !str_eq(*have, want))
		fail_msg("%s: meta %s differs", check->name, key.p);
	check->n++;
	return true;
}

static size_t ncases;

static bool check_case(struct str key, const json_doc *expected, void *arg)
{
	char *name = xstrndup(key.p, key.n);
	struct session *s = load_file(fixture(name));
	struct meta_check meta = { s, name, 0 };
	struct str text;
	size_t n;
	char *bytes = temp_get(fixture(name), &n);
	const char *wrong = tree_check_bytes(s, bytes, n);

	if (wrong)
		fail_msg("%s: %s", name, wrong);
	assert_string_equal(s->id, name);
	assert_string_equal(s->format, "tree");
	assert_true(json_doc_get_string(json_doc_get(expected, "format"), &text));
	assert_true(str_eqs(text, s->format));
	compare_int(name, "entries", expected, s->n);
	compare_int(name, "committed", expected, s->committed);
	compare_list(s, name, expected, "roots", is_root);
	compare_list(s, name, expected, "leaves", session_is_leaf);
	compare_list(s, name, expected, "forks", session_is_fork);
	compare_problems(s, name, expected);
	json_doc_each(json_doc_get(expected, "meta"), compare_meta, &meta);
	assert_int_equal(meta.n, s->nmeta);
	/* What the reflog decides is not the format's business. */
	if (strncmp(name, "checkout", 8) != 0)
		compare_branch(s, name, expected);
	ncases++;
	session_free(&s);
	free(bytes);
	free(name);
	return true;
}

static void test_fixtures(void **state)
{
	char path[2 * TEMP_PATH];
	struct err err = { 0 };
	json_doc *expected;
	char *text;
	size_t n;

	snprintf(path, sizeof(path), "%s/expected.json", files_fixtures);
	text = temp_get(path, &n);
	assert_non_null(text);
	expected = json_doc_parse((struct str){ text, n }, false, &err);
	if (!expected)
		fail_msg("%s", err.text);
	json_doc_each(expected, check_case, NULL);
	assert_true(ncases >= 30);
	print_message("%zu fixtures\n", ncases);
	json_doc_free(&expected);
	free(text);
}

/* ---- rules that no fixture holds ---- */

#define ENTRY(id, rest) "{\"id\":\"" id "\",\"role\":\"USER\",\"content\":\"c\",\"timestamp\":1" rest "}"

/* The kinds of the problems, joined with commas. */
static void assert_load(const char *text, uint32_t entries, const char *kinds)
{
	struct session *s = load_str(text);
	struct buf have = { 0 };

	buf_adds(&have, "");
	for (size_t i = 0; i < s->problems.n; i++)
		buf_printf(&have, "%s%s", i ? "," : "", s->problems.v[i].kind);
	if (s->n != entries || strcmp(have.p, kinds) != 0)
		fail_msg("%s: %u entries and \"%s\", expected %u and \"%s\"", text, s->n, have.p,
			entries, kinds);
	buf_release(&have);
	session_free(&s);
}

static void test_rules(void **state)
{
	assert_load("", 0, "");
	assert_load("\n\n  \t\r\n", 0, "");
	assert_load("   ", 0, "");
	assert_load("\xEF\xBB\xBF", 0, "");
	assert_load("\xEF\xBB", 0, "torn-tail");
	assert_load("\xEF\xBB\xBF{\"id", 0, "torn-tail");
	assert_load(ENTRY("a", ""), 1, "");
	assert_load("  " ENTRY("a", "") "  \r\n", 1, "");
	/* A byte order mark belongs to the start of the file only. */
	assert_load(ENTRY("a", "") "\n\xEF\xBB\xBF" ENTRY("b", "") "\n", 1, "bad-json");
	/* Glued, whole and not. */
	assert_load(ENTRY("a", "") ENTRY("b", "") ENTRY("c", ""), 3, "glued");
	assert_load(ENTRY("a", "") ENTRY("b", "") "{\"id\":", 2, "glued,torn-tail");
	assert_load(ENTRY("a", "") ENTRY("b", "") "{\"id\":\n", 0, "bad-json");
	assert_load(ENTRY("a", "") " " ENTRY("b", "") "\n", 0, "bad-json");
	assert_load(ENTRY("a", "") "{}" ENTRY("a", "") "\n", 1, "glued,bad-entry,duplicate-id");
	assert_load(ENTRY("a", "") "x", 1, "torn-tail");
	assert_load(ENTRY("a", "") "x\n", 0, "bad-json");
	/* Keys. */
	assert_load(ENTRY("a", ",\"metadata\":null,\"parentId\":null") "\n", 1, "");
	assert_load(ENTRY("a", ",\"metadata\":[]") "\n", 0, "bad-entry");
	assert_load(ENTRY("a", ",\"metadata\":{\"k\":\"v\",\"l\":null}") "\n", 0, "bad-entry");
	assert_load(ENTRY("a", ",\"metadata\":{\"k\":1,\"k\":\"v\"}") "\n", 0, "bad-entry");
	assert_load(ENTRY("a", ",\"parentId\":7") "\n", 0, "bad-entry");
	assert_load(ENTRY("a", ",\"parentId\":\"\"") "\n", 1, "orphan");
	assert_load(ENTRY("a", ",\"timestamp\":1e3") "\n", 0, "bad-entry");
	assert_load(ENTRY("a", ",\"timestamp\":-9223372036854775808") "\n", 1, "");
	assert_load(ENTRY("a", ",\"timestamp\":-9223372036854775809") "\n", 0, "bad-entry");
	assert_load(ENTRY("a", ",\"x\":1e400,\"y\":123456789012345678901234567890") "\n", 1, "");
	assert_load(ENTRY("a", ",\"content\":\"\\u0000\\ud800\"") "\n", 1, "");
	assert_load("{\"id\":\"a\",\"role\":null,\"content\":\"\",\"timestamp\":1}\n", 0, "bad-entry");
	assert_load("{\"role\":\"USER\",\"content\":\"\",\"timestamp\":1}\n", 0, "bad-entry");
	/* Ids are compared as text, not as it is written. */
	assert_load(ENTRY("a", "") "\n" ENTRY("\\u0061", "") "\n", 1, "duplicate-id");
	assert_load(ENTRY("a", "") "\n" ENTRY("b", ",\"parentId\":\"\\u0061\"") "\n", 2, "");
	/* A bad entry as the last line without a newline is complete, so not torn. */
	assert_load("{\"id\":\"a\"}", 0, "bad-entry");
}

static void test_flags(void **state)
{
	struct session *s = load_str(
		"{\"id\":\"s\",\"role\":\"SYSTEM\",\"content\":\"c\",\"timestamp\":1,\"metadata\":{\"_compacted\":\"true\"}}\n"
		"{\"id\":\"t\",\"parentId\":\"s\",\"role\":\"SYSTEM\",\"content\":\"c\",\"timestamp\":5,\"metadata\":{\"_compacted\":\"true\"}}\n"
		"{\"id\":\"a\",\"role\":\"ASSISTANT\",\"content\":\"\",\"timestamp\":-3,\"metadata\":{\"replay\":\"false\",\"toolCalls\":\"[{}]\"}}\n"
		"{\"id\":\"b\",\"role\":\"ASSISTANT\",\"content\":\"\",\"timestamp\":2,\"metadata\":{\"toolCalls\":\"[]\",\"replay\":\"true\"}}\n"
		"{\"id\":\"f\",\"role\":\"TOOL_RESULT\",\"content\":\"\\u0045rror: no\",\"timestamp\":2}\n"
		"{\"id\":\"g\",\"role\":\"TOOL_RESULT\",\"content\":\"Error\",\"timestamp\":2}\n"
		"{\"id\":\"u\",\"role\":\"USER\",\"content\":\"Error: x\",\"timestamp\":2,\"metadata\":{\"replay\":\"x\",\"replay\":\"false\"}}\n"
		"{\"id\":\"e\",\"role\":\"ASSISTANT\",\"content\":\"\",\"timestamp\":2,\"metadata\":{\"toolCalls\":\"\"}}"
		"{\"id\":\"h\",\"role\":\"USER\",\"content\":\"\",\"timestamp\":2,\"metadata\":{\"toolCalls\":\"[{}]\"}}\n");

	assert_int_equal(s->n, 9);
	assert_int_equal(s->entries[0].kind, KIND_SUMMARY);
	assert_int_equal(s->entries[1].kind, KIND_SYSTEM);
	assert_int_equal(s->entries[2].flags, ENTRY_UNSENT | ENTRY_HAS_CALLS | ENTRY_HAS_META);
	assert_int_equal(s->entries[3].flags, ENTRY_HAS_META);
	assert_int_equal(s->entries[4].flags, ENTRY_FAILED);
	assert_int_equal(s->entries[5].flags, 0);
	assert_int_equal(s->entries[6].flags, ENTRY_UNSENT | ENTRY_HAS_META);
	assert_int_equal(s->entries[7].flags, ENTRY_HAS_META | ENTRY_DAMAGED);
	assert_int_equal(s->entries[8].flags, ENTRY_HAS_META | ENTRY_DAMAGED);
	assert_int_equal(s->first_time, -3);
	assert_int_equal(s->last_time, 5);
	session_free(&s);
}

static void test_long_ids(void **state)
{
	struct buf text = { 0 };
	struct session *s;
	char *id;

	buf_adds(&text, "{\"content\":\"");
	for (int i = 0; i < 70000; i++)
		buf_addc(&text, 'x');
	buf_adds(&text, "\",\"id\":\"far\",\"role\":\"USER\",\"timestamp\":1}\n{\"id\":\"");
	for (int i = 0; i < 300; i++)
		buf_addc(&text, 'l');
	buf_adds(&text, "\",\"parentId\":\"far\",\"role\":\"USER\",\"content\":\"c\",\"timestamp\":1}\n");
	s = load_text(text.p, text.n);
	assert_int_equal(s->n, 2);
	assert_true(s->entries[0].flags & ENTRY_ID_SLOW);
	assert_true(s->entries[1].flags & ENTRY_ID_SLOW);
	assert_int_equal(s->entries[1].parent, 0);
	id = id_of(s, 0);
	assert_string_equal(id, "far");
	free(id);
	id = id_of(s, 1);
	assert_int_equal(strlen(id), 300);
	free(id);
	session_free(&s);
	buf_release(&text);
}

/* A hole of 300 MB: no line feed, far too long to be read. */
static void test_too_long(void **state)
{
	const char *path = in_dir("long.jsonl");
	const off_t size = 300 << 20;
	struct session *s;

	temp_puts(path, ENTRY("a", "") "\n");
	assert_int_equal(truncate(path, size), 0);
	s = load_file(path);
	assert_int_equal(s->n, 1);
	assert_int_equal(s->problems.n, 1);
	assert_string_equal(s->problems.v[0].kind, "bad-json");
	assert_int_equal(s->problems.v[0].line, 2);
	assert_int_equal(s->problems.v[0].offset + s->problems.v[0].length, size);
	assert_int_equal(s->committed, size);
	session_free(&s);
	unlink(path);
}

/* ---- finding ---- */

static void copy_fixture(const char *name)
{
	char path[2 * TEMP_PATH];
	size_t n;
	char *bytes;

	snprintf(path, sizeof(path), "%s/%s", files_fixtures, name);
	bytes = temp_get(path, &n);
	assert_non_null(bytes);
	temp_put(in_dir(name), bytes, n);
	free(bytes);
}

static void note_found(const struct found *f, void *arg)
{
	struct buf *names = arg;

	assert_string_equal(f->project, "");
	assert_true(f->unreadable || f->file.exists);
	buf_printf(names, "%s%s ", f->id, f->unreadable ? "!" : "");
}

static void test_scan(void **state)
{
	struct buf names = { 0 };
	struct err err = { 0 };
	uint64_t pos = 0;
	int rc, calls = 0;

	temp_clear(files_dir);
	copy_fixture("linear.jsonl");
	copy_fixture("linear.meta.json");
	copy_fixture("checkout.jsonl");
	copy_fixture("checkout.reflog");
	copy_fixture("has space.jsonl");
	copy_fixture("notes.txt");
	copy_fixture(".linear.jsonl123456.tmp");
	temp_puts(in_dir("linear.jsonl.torn-12"), "x");
	temp_puts(in_dir(".jsonl"), "x");
	assert_int_equal(mkdir(in_dir("dir.jsonl"), 0755), 0);
	assert_int_equal(mkfifo(in_dir("fifo.jsonl"), 0644), 0);
	assert_int_equal(symlink("nowhere", in_dir("dangling.jsonl")), 0);
	do {
		rc = format_tree.scan(files_dir, &pos, 3, note_found, &names, &err);
		calls++;
	} while (rc == 1);
	assert_int_equal(rc, 0);
	assert_true(calls > 2);
	assert_int_equal(names.n, strlen("linear checkout dir! fifo! "));
	assert_non_null(strstr(names.p, "dir! "));
	assert_non_null(strstr(names.p, "fifo! "));
	assert_non_null(strstr(names.p, "linear "));
	assert_non_null(strstr(names.p, "checkout "));
	buf_clear(&names);
	if (geteuid() != 0) {
		chmod(in_dir("linear.jsonl"), 0);
		pos = 0;
		assert_int_equal(format_tree.scan(files_dir, &pos, 100, note_found, &names, &err), 0);
		assert_non_null(strstr(names.p, "linear! "));
	}
	pos = 0;
	assert_true(format_tree.scan(in_dir("none"), &pos, 1, note_found, &names, &err) < 0);
	assert_int_equal(err.code, ERR_IO);
	buf_release(&names);
}

static void assert_detect(const char *path, bool is_tree)
{
	struct err err = { 0 };
	const struct format *f = format_detect(path, &err);

	if (is_tree && f != &format_tree)
		fail_msg("%s: %s", path, err.text);
	if (!is_tree && (f || err.code == 0))
		fail_msg("%s was taken for a place of sessions", path);
}

static void test_detect(void **state)
{
	temp_clear(files_dir);
	assert_detect(files_dir, false);
	assert_detect(files_fixtures, true);
	assert_detect(fixture("linear"), true);
	assert_detect(fixture("only-torn"), true);
	assert_detect(fixture("empty"), true);
	assert_detect(fixture("bom"), true);
	assert_detect(fixture("wrong-types"), true);
	assert_detect(fixture("has space"), true);
	assert_detect(in_dir("none"), false);
	temp_puts(in_dir("notes.txt"), "hello\n");
	assert_detect(in_dir("notes.txt"), false);
	assert_detect(files_dir, false);
	temp_puts(in_dir("pi.jsonl"), "{\"type\":\"session\",\"id\":\"x\"}\n");
	assert_detect(in_dir("pi.jsonl"), false);
	assert_detect(files_dir, false);
	/* Objects of another kind do not hide one good session; no good line at all is still tree. */
	temp_puts(in_dir("a.jsonl"), ENTRY("a", ""));
	assert_detect(files_dir, true);
	temp_clear(files_dir);
	temp_puts(in_dir("a.jsonl"), "{torn");
	assert_detect(files_dir, true);
	assert_ptr_equal(format_by_name("tree"), &format_tree);
	assert_null(format_by_name("trees"));
}

static void test_names(void **state)
{
	char *path = tree_sidecar_path("/a.jsonl/b.jsonl");
	char longest[130];

	assert_string_equal(path, "/a.jsonl/b.meta.json");
	free(path);
	path = tree_reflog_path("x.jsonl");
	assert_string_equal(path, "x.reflog");
	free(path);
	path = tree_reflog_path("odd.log");
	assert_string_equal(path, "odd.log.reflog");
	free(path);
	assert_true(tree_id_is_legal("aZ09_-"));
	assert_false(tree_id_is_legal(""));
	assert_false(tree_id_is_legal("a b"));
	assert_false(tree_id_is_legal("a/b"));
	assert_false(tree_id_is_legal(".."));
	assert_false(tree_id_is_legal("caf\xC3\xA9"));
	memset(longest, 'a', 129);
	longest[129] = '\0';
	assert_false(tree_id_is_legal(longest));
	longest[128] = '\0';
	assert_true(tree_id_is_legal(longest));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixtures),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_long_ids),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_scan),
		cmocka_unit_test(test_detect),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, files_set_up, files_tear_down);
}
