/*
 * t-flow-fixtures.c - `bough show` of conversations against the answers of
 * another implementation: the fold, its digests, the checks, and what each
 * node says, with provider bodies put together again.
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

#include "base/xalloc.h"
#include "format/flow/internal.h"
#include "json/doc.h"
#include "tests/lib/temp.h"

static const char *fixtures, *bough;
static int ncompared, nbad;

static void run(struct buf *out, const char *root, const char *args)
{
	char *line = xasprintf("'%s' -r '%s/%s' %s", bough, fixtures, root, args);
	FILE *f = popen(line, "r");
	int ch;

	assert_non_null(f);
	buf_clear(out);
	while ((ch = getc(f)) != EOF)
		buf_addc(out, (char)ch);
	assert_int_equal(pclose(f), 0);
	free(line);
}

static json_doc *run_json(const char *root, const char *args)
{
	struct buf out = { 0 };
	struct err err = { 0 };
	json_doc *doc;

	run(&out, root, args);
	doc = json_doc_parse((struct str){ out.p ? out.p : "", out.n }, false, &err);
	if (!doc)
		fail_msg("%s: %s", args, err.text);
	buf_release(&out);
	return doc;
}

static json_doc *answers(const char *name)
{
	char *path = xasprintf("%s/%s", fixtures, name);
	struct err err = { 0 };
	size_t n;
	char *text = temp_get(path, &n);
	json_doc *doc;

	assert_non_null(text);
	doc = json_doc_parse((struct str){ text, n }, false, &err);
	assert_non_null(doc);
	free(text);
	free(path);
	return doc;
}

struct at {
	const char *root, *id, *node;
	const json_doc *got;
};

static void differs(
	const struct at *at, const char *key, const struct buf *want, const struct buf *got)
{
	print_error("%s %s %s\n  expected %s\n  got      %s\n", at->id, at->node ? at->node : "",
		key, want->p, got->n ? got->p : "nothing");
	nbad++;
}

/* Long texts stand there as their digest, length and first bytes. */
static void dump_text(const json_doc *got, struct buf *out)
{
	struct str s;
	char hex[65];

	if (!json_doc_get_string(got, &s))
		return;
	flow_sha_of(s.p, s.n, hex);
	buf_printf(out, "%zu %s", s.n, hex);
}

static void dump_digest(const json_doc *want, struct buf *out)
{
	struct str sha;
	int64_t n;

	assert_true(json_doc_get_int(json_doc_get(want, "bytes"), &n));
	assert_true(json_doc_get_string(json_doc_get(want, "sha256"), &sha));
	buf_printf(out, "%lld %.*s", (long long)n, (int)sha.n, sha.p);
}

static bool compare(struct str key, const json_doc *want, void *arg)
{
	const struct at *at = arg;
	char *name = xstrndup(key.p, key.n);
	const json_doc *got = json_doc_get(at->got, name);
	struct buf a = { 0 }, b = { 0 };

	if (at->node && (strcmp(name, "text") == 0 || strcmp(name, "result") == 0)) {
		dump_digest(want, &a);
		if (got)
			dump_text(got, &b);
	} else {
		json_doc_dump(want, 0, &a);
		if (got)
			json_doc_dump(got, 0, &b);
	}
	ncompared++;
	if (a.n != b.n || memcmp(a.p, b.p ? b.p : "", a.n) != 0)
		differs(at, name, &a, &b);
	buf_release(&a);
	buf_release(&b);
	free(name);
	return true;
}

static void check_digest(
	const struct at *at, const json_doc *want, const char *key, const char *option)
{
	char *args = xasprintf("fold '%s' %s", at->id, option), hex[65];
	struct buf out = { 0 };
	struct str sha;

	run(&out, at->root, args);
	flow_sha_of(out.p ? out.p : "", out.n, hex);
	assert_true(json_doc_get_string(json_doc_get(want, key), &sha));
	assert_true(str_eqs(sha, hex));
	buf_release(&out);
	free(args);
}

static bool check_conversation(struct str key, const json_doc *want, void *arg)
{
	struct at at = { .root = arg };
	char *id = xstrndup(key.p, key.n), *args = xasprintf("show '%s' --json --verify", id);
	json_doc *got = run_json(at.root, args);

	at.id = id;
	at.got = got;
	json_doc_each(want, compare, &at);
	assert_int_equal(json_doc_count(json_doc_get(got, "landed_problems")), 0);
	check_digest(&at, want, "fold_sha256", "--canonical");
	check_digest(&at, want, "outline_sha256", "--outline");
	json_doc_free(&got);
	free(args);
	free(id);
	return true;
}

static bool check_case(struct str key, const json_doc *want, void *arg)
{
	char *root = xstrndup(key.p, key.n);

	(void)arg;
	json_doc_each(want, check_conversation, root);
	free(root);
	return true;
}

/* As in problems, only what is expected is compared: code and check and round. */
static void test_conversations(void **state)
{
	json_doc *want = answers("expected.json");

	(void)state;
	ncompared = nbad = 0;
	json_doc_each(want, check_case, NULL);
	assert_int_equal(nbad, 0);
	assert_true(ncompared >= 80);
	json_doc_free(&want);
}

static bool check_node(struct str key, const json_doc *want, void *arg)
{
	struct at at = *(const struct at *)arg;
	char *node = xstrndup(key.p, key.n),
	     *args = xasprintf("show '%s' '%s' --json", at.id, node);
	json_doc *got = run_json("valid", args);
	static const char *const own[] = { "time", "from", "flags", "usage", "model", "text",
		"state", "bytes", "bodies", "name", "result", "result_state", "result_bytes",
		"failed" };

	at.node = node;
	at.got = got;
	json_doc_each(want, compare, &at);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!json_doc_get(want, own[i]) && json_doc_get(got, own[i])) {
			print_error(
				"%s %s: %s is more than there should be\n", at.id, node, own[i]);
			nbad++;
		}
	json_doc_free(&got);
	free(args);
	free(node);
	return true;
}

static bool check_content(struct str key, const json_doc *want, void *arg)
{
	char *id = xstrndup(key.p, key.n);
	struct at at = { .id = id };

	(void)arg;
	json_doc_each(json_doc_get(want, "nodes"), check_node, &at);
	free(id);
	return true;
}

static void test_content(void **state)
{
	json_doc *want = answers("content.json");

	(void)state;
	ncompared = nbad = 0;
	json_doc_each(want, check_content, NULL);
	assert_int_equal(nbad, 0);
	assert_true(ncompared >= 600);
	json_doc_free(&want);
}

/* ---- what the outline and the list of talks hold ---- */

static void check_same(
	const struct at *at, const char *key, const json_doc *want, const json_doc *got)
{
	struct buf a = { 0 }, b = { 0 };

	json_doc_dump(want, 0, &a);
	if (got)
		json_doc_dump(got, 0, &b);
	ncompared++;
	if (a.n != b.n || memcmp(a.p, b.p ? b.p : "", a.n) != 0)
		differs(at, key, &a, &b);
	buf_release(&a);
	buf_release(&b);
}

static bool check_talk_member(struct str key, const json_doc *want, void *arg)
{
	const struct at *at = arg;
	char *name = xstrndup(key.p, key.n);

	check_same(at, name, want, json_doc_get(at->got, name));
	free(name);
	return true;
}

static void check_talks(const char *id, const json_doc *want)
{
	char *args = xasprintf("log '%s' --json", id);
	json_doc *got = run_json("valid", args);

	assert_int_equal(json_doc_count(got), json_doc_count(want));
	for (size_t i = 0; i < json_doc_count(want); i++) {
		struct at at = { .id = id, .node = "talk", .got = json_doc_at(got, i) };

		json_doc_each(json_doc_at(want, i), check_talk_member, &at);
	}
	json_doc_free(&got);
	free(args);
}

static void check_outline(const char *id, const json_doc *want)
{
	char *args = xasprintf("fold '%s' --json", id);
	json_doc *got = run_json("valid", args);
	struct at at = { .id = id, .node = "outline" };

	assert_int_equal(json_doc_count(got), json_doc_count(want));
	for (size_t i = 0; i < json_doc_count(want); i++) {
		check_same(&at, "depth", json_doc_at(json_doc_at(want, i), 0),
			json_doc_get(json_doc_at(got, i), "depth"));
		check_same(&at, "id", json_doc_at(json_doc_at(want, i), 1),
			json_doc_get(json_doc_at(got, i), "id"));
	}
	json_doc_free(&got);
	free(args);
}

static bool check_lists(struct str key, const json_doc *want, void *arg)
{
	char *id = xstrndup(key.p, key.n);

	(void)arg;
	check_talks(id, json_doc_get(want, "talks"));
	check_outline(id, json_doc_get(want, "outline"));
	free(id);
	return true;
}

static void test_lists(void **state)
{
	json_doc *want = answers("content.json");

	(void)state;
	ncompared = nbad = 0;
	json_doc_each(want, check_lists, NULL);
	assert_int_equal(nbad, 0);
	assert_true(ncompared >= 11 * 8 + 142 * 2);
	json_doc_free(&want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conversations),
		cmocka_unit_test(test_content),
		cmocka_unit_test(test_lists),
	};
	const char *srcdir = getenv("srcdir");
	char *dir = xasprintf("%s/tests/format/flow", srcdir ? srcdir : ".");
	int failed;

	fixtures = dir;
	bough = getenv("BOUGH") ? getenv("BOUGH") : "./bough";
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(dir);
	return failed;
}
