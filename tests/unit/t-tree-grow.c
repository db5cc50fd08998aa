/*
 * Tree sessions that change: a file that grows by any bytes ends as if it had
 * been read whole, and damaged lines never lose a byte.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/tree/tree.h"
#include "tests/lib/temp.h"
#include "tests/lib/tree-check.h"

static const char *const fixtures[] = { "bad-middle", "bad-utf8", "blank-lines", "bom", "branches",
	"compacted", "crlf", "cycle", "deep", "duplicate-id", "duplicate-key", "forward-parent",
	"glued", "glued-torn", "linear", "lone-surrogate", "newline-at-end", "nul-middle",
	"null-parent", "only-torn", "orphan", "self-parent", "torn-tail", "torn-tail-utf8",
	"unknown-role", "wrong-types", "zero-tail" };
enum { NFIXTURES = sizeof(fixtures) / sizeof(*fixtures) };

static char dir[TEMP_PATH], path[2 * TEMP_PATH], fresh_path[2 * TEMP_PATH];

static int set_up(void **state)
{
	temp_make(dir);
	snprintf(path, sizeof(path), "%s/s.jsonl", dir);
	snprintf(fresh_path, sizeof(fresh_path), "%s/f.jsonl", dir);
	return 0;
}

static int tear_down(void **state)
{
	temp_remove(dir);
	return 0;
}

static char *read_fixture(const char *name, size_t *n)
{
	char file[2 * TEMP_PATH];
	const char *src = getenv("srcdir");
	char *p;

	snprintf(file, sizeof(file), "%s/tests/format/tree/%s.jsonl", src ? src : ".", name);
	p = temp_get(file, n);
	assert_non_null(p);
	return p;
}

static void run(struct session *s)
{
	struct err err = { 0 };

	while (format_tree.step(s, 1000, &err) == 1)
		;
	if (err.code)
		fail_msg("%s", err.text);
	assert_true(s->is_complete);
}

static struct session *load(const char *file)
{
	struct session *s = NULL;
	struct err err = { 0 };

	if (format_tree.open(file, &s, &err) < 0)
		fail_msg("%s", err.text);
	run(s);
	return s;
}

static void append(const char *p, size_t n)
{
	FILE *f = fopen(path, "ab");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void grow(struct session *s, const char *p, size_t n)
{
	enum log_change change = LOG_SAME;
	struct err err = { 0 };

	append(p, n);
	assert_int_equal(format_tree.refresh(s, &change, &err), 0);
	assert_int_equal(change, LOG_GREW);
	run(s);
}

/* The session that grew against a load of the same bytes. */
static void compare_fresh(struct session *s, const char *name, const char *p, size_t n)
{
	struct buf have = { 0 }, want = { 0 };
	struct session *fresh;
	const char *wrong;

	temp_put(fresh_path, p, n);
	fresh = load(fresh_path);
	tree_check_dump(s, &have);
	tree_check_dump(fresh, &want);
	if (strcmp(have.p, want.p) != 0)
		fail_msg("%s after %zu bytes:\n%s\nread whole:\n%s", name, n, have.p, want.p);
	wrong = tree_check_bytes(s, p, n);
	if (!wrong)
		wrong = tree_check_links(s);
	if (wrong)
		fail_msg("%s after %zu bytes: %s", name, n, wrong);
	session_free(&fresh);
	buf_release(&have);
	buf_release(&want);
}

/* Byte by byte: after each the session equals a fresh one. */
static void test_every_byte(void **state)
{
	size_t states = 0;

	for (size_t i = 0; i < NFIXTURES; i++) {
		size_t n;
		char *p = read_fixture(fixtures[i], &n);
		struct session *s;

		temp_put(path, "", 0);
		s = load(path);
		for (size_t k = 0; k < n; k++) {
			grow(s, p + k, 1);
			compare_fresh(s, fixtures[i], p, k + 1);
			states++;
		}
		session_free(&s);
		free(p);
	}
	print_message("%zu states\n", states);
}

/* Any prefix, then the rest at once. */
static void test_every_prefix(void **state)
{
	static const char *const names[] = { "cycle", "glued-torn", "compacted", "bad-middle",
		"torn-tail-utf8", "crlf" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n;
		char *p = read_fixture(names[i], &n);

		for (size_t k = 0; k < n; k++) {
			struct session *s;

			temp_put(path, p, k);
			s = load(path);
			grow(s, p + k, n - k);
			compare_fresh(s, names[i], p, n);
			session_free(&s);
		}
		free(p);
	}
}

#define ENTRY(id, rest) "{\"id\":\"" id "\",\"role\":\"USER\",\"content\":\"c\",\"timestamp\":1" rest "}"

static struct session *start(const char *text)
{
	temp_puts(path, text);
	return load(path);
}

static void grows(struct session *s, const char *text)
{
	grow(s, text, strlen(text));
}

static bool is_new(const struct session *s, uint32_t entry)
{
	return s->entries[entry].flags & ENTRY_NEW;
}

static void test_marks_of_new_entries(void **state)
{
	struct session *s = start(ENTRY("a", "") "\n" ENTRY("b", ""));

	assert_false(is_new(s, 0) || is_new(s, 1));
	grows(s, "\n" ENTRY("c", ""));
	assert_int_equal(s->n, 3);
	assert_false(is_new(s, 1));
	assert_true(is_new(s, 2));
	grows(s, "\n");
	assert_true(is_new(s, 2));
	/* A tail that was torn at the first load became an entry while we looked. */
	session_free(&s);
	s = start(ENTRY("a", "") "\n{\"id\":\"b\",\"role\":\"US");
	assert_true(s->is_torn);
	grows(s, "ER\",\"content\":\"\",\"timestamp\":1}");
	assert_int_equal(s->n, 2);
	assert_false(s->is_torn);
	assert_int_equal(s->problems.n, 0);
	assert_true(is_new(s, 1));
	session_free(&s);
}

static void test_taken_back(void **state)
{
	/* The entry on the last line was whole until more came. */
	struct session *s = start(ENTRY("a", "") "\n" ENTRY("b", ",\"parentId\":\"a\""));

	assert_int_equal(s->tip, 1);
	session_set_label(s, 1, str_of("gone soon"), 1);
	session_set_label(s, 0, str_of("stays"), 1);
	grows(s, "]\n");
	assert_int_equal(s->n, 1);
	assert_int_equal(s->tip, 0);
	assert_int_equal(s->nleaves, 1);
	assert_int_equal(s->nlabels, 1);
	assert_int_equal(session_find(s, str_of("b")), ENTRY_NONE);
	assert_string_equal(s->problems.v[0].kind, "bad-json");
	grows(s, ENTRY("b", "") "\n");
	assert_int_equal(session_find(s, str_of("b")), 1);
	session_free(&s);
}

/* Between two steps of a long growth the tree can be drawn. */
static void test_steps(void **state)
{
	struct session *s = start(ENTRY("a", "") "\n" ENTRY("b", ",\"parentId\":\"a\""));
	struct buf more = { 0 };
	enum log_change change;
	int steps = 0;

	buf_adds(&more, "\n");
	for (int i = 0; i < 2000; i++)
		buf_printf(&more, ENTRY("e%d", ",\"parentId\":\"b\"") "\n", i);
	append(more.p, more.n);
	assert_int_equal(format_tree.refresh(s, &change, NULL), 0);
	while (format_tree.step(s, 0, NULL) == 1) {
		steps++;
		assert_false(s->is_complete);
		assert_true(s->linked >= 2);
		assert_int_equal(s->roots_first, 0);
	}
	assert_true(steps > 3);
	assert_int_equal(s->n, 2002);
	assert_null(tree_check_links(s));
	session_free(&s);
	buf_release(&more);
}

static void test_parent_comes_later(void **state)
{
	struct session *s = start(ENTRY("a", ",\"parentId\":\"z\"") "\n");

	assert_string_equal(s->problems.v[0].kind, "orphan");
	assert_true(s->entries[0].flags & ENTRY_ORPHAN);
	grows(s, ENTRY("z", ""));
	assert_int_equal(s->problems.n, 0);
	assert_int_equal(s->entries[0].parent, 1);
	assert_int_equal(s->entries[0].flags, 0);
	assert_int_equal(s->nroots, 1);
	/* The line of the parent turns out to be bad: it is gone again. */
	grows(s, "!\n");
	assert_int_equal(s->n, 1);
	assert_int_equal(s->problems.n, 2);
	assert_string_equal(s->problems.v[0].kind, "orphan");
	grows(s, ENTRY("z", ",\"parentId\":\"a\"") "\n");
	assert_string_equal(s->problems.v[0].kind, "cycle");
	assert_int_equal(s->entries[0].parent, ENTRY_NONE);
	assert_int_equal(s->entries[1].parent, 0);
	session_free(&s);
}

static void test_other_changes(void **state)
{
	struct session *s = start(ENTRY("a", "") "\n");
	enum log_change change;
	struct buf out = { 0 };

	assert_int_equal(format_tree.refresh(s, &change, NULL), 0);
	assert_int_equal(change, LOG_SAME);
	assert_int_equal(format_tree.file(s)->size, s->size);
	/* Replaced by rename: what is open can still be read. */
	temp_puts(fresh_path, ENTRY("b", "") "\n" ENTRY("c", "") "\n");
	assert_int_equal(rename(fresh_path, path), 0);
	assert_int_equal(format_tree.refresh(s, &change, NULL), 0);
	assert_int_equal(change, LOG_REPLACED);
	assert_int_equal(s->ops->id(s, 0, &out, NULL), 0);
	assert_string_equal(out.p, "a");
	session_free(&s);
	/* Written over in place with more bytes: not the file that was read. */
	s = load(path);
	temp_puts(path, ENTRY("x", "") "\n" ENTRY("y", "") "\n" ENTRY("z", "") "\n");
	assert_int_equal(format_tree.refresh(s, &change, NULL), 0);
	assert_int_equal(change, LOG_REWRITTEN);
	assert_int_equal(s->ops->id(s, 0, &out, NULL), ERR_CHANGED);
	assert_int_equal(format_tree.refresh(s, &change, NULL), 0);
	assert_int_equal(change, LOG_REWRITTEN);
	session_free(&s);
	s = load(path);
	unlink(path);
	assert_int_equal(format_tree.refresh(s, &change, NULL), 0);
	assert_int_equal(change, LOG_GONE);
	session_free(&s);
	buf_release(&out);
}

/* ---- damage ---- */

static uint32_t seed = 20260611;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % below;
}

/* Flips, cuts, copies and joins; returns the new length, at most `cap`. */
static size_t damage(char *p, size_t n, size_t cap)
{
	static const char bytes[] = "\"\\{}[]:,\n\r \x00\xFF\xC3u0";

	for (uint32_t times = 1 + rnd(6); times > 0 && n > 0; times--) {
		size_t at = rnd((uint32_t)n), len = 1 + rnd(40);

		switch (rnd(5)) {
		case 0:
			p[at] = bytes[rnd(sizeof(bytes) - 1)];
			break;
		case 1: /* cut a piece out */
			if (len > n - at)
				len = n - at;
			memmove(p + at, p + at + len, n - at - len);
			n -= len;
			break;
		case 2: /* put a piece in twice */
			if (len > n - at)
				len = n - at;
			if (n + len > cap)
				break;
			memmove(p + at + len, p + at, n - at);
			n += len;
			break;
		case 3: { /* join two lines */
			char *nl = memchr(p + at, '\n', n - at);

			if (!nl)
				break;
			memmove(nl, nl + 1, n - (size_t)(nl + 1 - p));
			n--;
			break;
		}
		default:
			n -= rnd((uint32_t)n) / 8;
			break;
		}
	}
	return n;
}

static void test_damage(void **state)
{
	enum { ROUNDS = 3000 };
	uint32_t entries = 0;
	size_t problems = 0;

	for (int i = 0; i < ROUNDS; i++) {
		size_t n, cap, at;
		char *p = read_fixture(fixtures[rnd(NFIXTURES)], &n);
		struct session *s;

		cap = n + 400;
		p = realloc(p, cap);
		assert_non_null(p);
		n = damage(p, n, cap);
		at = rnd((uint32_t)n + 1);
		temp_put(path, p, at);
		s = load(path);
		while (at < n) {
			size_t step = 1 + rnd((uint32_t)(n - at));

			grow(s, p + at, step);
			at += step;
		}
		compare_fresh(s, "damaged", p, n);
		entries += s->n;
		problems += s->problems.n;
		session_free(&s);
		free(p);
	}
	assert_true(entries > ROUNDS && problems > ROUNDS);
	print_message("%d damaged files, %u entries, %zu problems\n", ROUNDS, entries, problems);
}

/* More problems than are kept are counted, and the counting survives growth. */
static void test_many_problems(void **state)
{
	struct buf text = { 0 };
	struct session *s;

	for (int i = 0; i < PROBLEM_MAX + 50; i++)
		buf_adds(&text, "{}\n");
	buf_adds(&text, "{\"x\"");
	temp_put(path, text.p, text.n);
	s = load(path);
	assert_int_equal(s->problems.n, PROBLEM_MAX);
	assert_int_equal(s->problems.more, 51);
	grows(s, ":1}");
	assert_int_equal(s->problems.more, 51);
	grows(s, "\n{}\n");
	assert_int_equal(s->problems.n, PROBLEM_MAX);
	assert_int_equal(s->problems.more, 52);
	session_free(&s);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_every_prefix),
		cmocka_unit_test(test_marks_of_new_entries),
		cmocka_unit_test(test_taken_back),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_parent_comes_later),
		cmocka_unit_test(test_other_changes),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_many_problems),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
