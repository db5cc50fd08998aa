/*
 * t-fixtures.c - `bough show ID --json` against expected.json of the fixtures,
 * which other implementations wrote: every key named there must come out so.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "json/doc.h"

static const char *dir, *bough;
static int nsessions, nkeys, nbad;

static void read_stream(FILE *f, struct buf *out)
{
	int c;

	while ((c = getc(f)) != EOF)
		buf_addc(out, (char)c);
}

static json_doc *parse(struct buf *text, const char *what)
{
	struct err err = { 0 };
	json_doc *doc = json_doc_parse((struct str){ text->p ? text->p : "", text->n }, false, &err);

	if (!doc)
		print_error("%s: no JSON: %s\n", what, err.text);
	return doc;
}

/* Output of the program as a document; *status is its exit status. */
static json_doc *run(const char *args, int *status)
{
	char *line = xasprintf("'%s' -r '%s' %s", bough, dir, args);
	struct buf text = { 0 };
	FILE *f = popen(line, "r");
	json_doc *doc;
	int rc;

	assert_non_null(f);
	read_stream(f, &text);
	rc = pclose(f);
	*status = WIFEXITED(rc) ? WEXITSTATUS(rc) : -1;
	doc = parse(&text, line);
	buf_release(&text);
	free(line);
	return doc;
}

static void differs(const char *where, const json_doc *want, const json_doc *got)
{
	struct buf a = { 0 }, b = { 0 };

	json_doc_dump(want, 0, &a);
	if (got)
		json_doc_dump(got, 0, &b);
	print_error("%s\n  expected %s\n  got      %s\n", where, a.p, got ? b.p : "nothing");
	nbad++;
	buf_release(&a);
	buf_release(&b);
}

static void compare(const char *where, const json_doc *want, const json_doc *got);

struct member {
	const char *where;
	const json_doc *got;
};

static bool compare_member(struct str key, const json_doc *want, void *arg)
{
	struct member *m = arg;
	char *name = xstrndup(key.p, key.n), *where = xasprintf("%s.%s", m->where, name);

	compare(where, want, json_doc_get(m->got, name));
	free(where);
	free(name);
	return true;
}

/* Of objects the members that are expected, of lists all, of the rest the text. */
static void compare(const char *where, const json_doc *want, const json_doc *got)
{
	struct member m = { where, got };
	struct buf a = { 0 }, b = { 0 };

	nkeys++;
	if (!got) {
		differs(where, want, NULL);
	} else if (json_doc_is_object(want) && json_doc_is_object(got)) {
		json_doc_each(want, compare_member, &m);
	} else if (json_doc_is_list(want) && json_doc_is_list(got) &&
		json_doc_count(want) == json_doc_count(got)) {
		for (size_t i = 0; i < json_doc_count(want); i++) {
			char *at = xasprintf("%s[%zu]", where, i);

			compare(at, json_doc_at(want, i), json_doc_at(got, i));
			free(at);
		}
	} else {
		json_doc_dump(want, 0, &a);
		json_doc_dump(got, 0, &b);
		if (a.n != b.n || memcmp(a.p, b.p, a.n) != 0)
			differs(where, want, got);
	}
	buf_release(&a);
	buf_release(&b);
}

/* Objects that may hold nothing but what is expected of them. */
static void compare_whole(const char *id, const char *key, const json_doc *want, const json_doc *got)
{
	const json_doc *a = json_doc_get(want, key), *b = got ? json_doc_get(got, key) : NULL;
	char *where;

	if (!a || !b || json_doc_count(a) == json_doc_count(b))
		return;
	where = xasprintf("%s.%s", id, key);
	differs(where, a, b);
	free(where);
}

/* How a session is named on the command line: by id, or as a path. */
struct form {
	const char *before, *after;
};

static bool check_session(struct str key, const json_doc *want, void *arg)
{
	const struct form *form = arg;
	char *id = xstrndup(key.p, key.n), *args = xasprintf("show '%s%s%s' --json", form->before, id, form->after);
	int status;
	json_doc *got = run(args, &status);

	compare(id, want, got);
	compare_whole(id, "meta", want, got);
	compare_whole(id, "labels", want, got);
	if (status != 0) {
		print_error("%s: exit status %d\n", id, status);
		nbad++;
	}
	nsessions++;
	json_doc_free(&got);
	free(args);
	free(id);
	return true;
}

static json_doc *expected(void)
{
	char *path = xasprintf("%s/expected.json", dir);
	struct buf text = { 0 };
	FILE *f = fopen(path, "r");
	json_doc *doc;

	assert_non_null(f);
	read_stream(f, &text);
	fclose(f);
	doc = parse(&text, path);
	assert_non_null(doc);
	buf_release(&text);
	free(path);
	return doc;
}

static void check_all(struct form form)
{
	json_doc *doc = expected();

	nsessions = nkeys = nbad = 0;
	json_doc_each(doc, check_session, &form);
	print_message("%d sessions, %d values compared, %d differ\n", nsessions, nkeys, nbad);
	assert_int_equal(nbad, 0);
	assert_int_equal(nsessions, json_doc_count(doc));
	assert_true(nsessions >= 30);
	json_doc_free(&doc);
}

static void test_by_id(void **state)
{
	(void)state;
	check_all((struct form){ "", "" });
}

static void test_by_path(void **state)
{
	char *before = xasprintf("%s/", dir);

	(void)state;
	check_all((struct form){ before, ".jsonl" });
	free(before);
}

/* A list item names the same session; what it must not hold is left out. */
static void test_list(void **state)
{
	static const char *const absent[] = { "branch", "roots", "leaves", "forks" };
	json_doc *want = expected(), *got;
	int status;

	(void)state;
	got = run("list --json", &status);
	assert_int_equal(status, 0);
	assert_true(json_doc_is_list(got));
	nbad = nsessions = 0;
	for (size_t i = 0; i < json_doc_count(got); i++) {
		const json_doc *item = json_doc_at(got, i), *full;
		struct str id = { "", 0 };
		char *name;

		assert_true(json_doc_get_string(json_doc_get(item, "id"), &id));
		name = xstrndup(id.p, id.n);
		full = json_doc_get(want, name);
		for (size_t k = 0; k < sizeof(absent) / sizeof(absent[0]); k++)
			assert_null(json_doc_get(item, absent[k]));
		if (full) {
			nsessions++;
			compare(name, json_doc_get(full, "tip"), json_doc_get(item, "tip"));
			compare(name, json_doc_get(full, "entries"), json_doc_get(item, "entries"));
			compare(name, json_doc_get(full, "problems"), json_doc_get(item, "problems"));
			compare(name, json_doc_get(full, "committed"),
				json_doc_get(item, "committed"));
		}
		free(name);
	}
	assert_int_equal(nbad, 0);
	assert_int_equal(nsessions, json_doc_count(want));
	json_doc_free(&want);
	json_doc_free(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_id),
		cmocka_unit_test(test_by_path),
		cmocka_unit_test(test_list),
	};
	const char *srcdir = getenv("srcdir");
	char *fixtures = xasprintf("%s/tests/format/tree", srcdir ? srcdir : ".");
	char *state = xasprintf("%s/none", fixtures); /* no reflog of the user's may count */
	int failed;

	dir = fixtures;
	bough = getenv("BOUGH") ? getenv("BOUGH") : "./bough";
	setenv("XDG_STATE_HOME", state, 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(state);
	free(fixtures);
	return failed;
}
