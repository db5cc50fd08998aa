/*
 * t-flow-round.c - rounds of Session Flow: for each code of doc/formats.md a
 * round that breaks just that rule, and beside it one that just does not. The
 * digest and the counts of the commit are made right unless they are the case.
 * Then chains that do not follow.
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
#include <sys/stat.h>

#include "base/xalloc.h"
#include "format/flow/internal.h"
#include "tests/lib/doc-codes.h"
#include "tests/lib/temp.h"

#define HEAD_OF(rest) "{\"t\":\"header\"," rest "}\n"
#define IDS "\"schema\":\"sf/1\",\"conversation\":\"c\",\"session\":\"s\","
#define WORDS "\"input_digest\":\"d\",\"parser\":\"p\",\"policy\":\"q\""
#define SEQS "\"from_seq\":1,\"through_seq\":2,"
#define HEADER HEAD_OF(IDS "\"round\":1," SEQS WORDS)
#define NODE_OF(rest) "{\"t\":\"node\",\"id\":\"n\",\"revision\":1,\"kind\":\"k\"" rest "}\n"
#define NODE NODE_OF("")
#define RELATION_OF(rest) "{\"t\":\"relation\",\"id\":\"r\",\"revision\":1," rest "}\n"
#define ENDS "\"type\":\"t\",\"from\":\"a\",\"to\":\"b\""
#define OPEN_OF(rest) "{\"t\":\"unresolved\",\"id\":\"u\",\"revision\":1" rest "}\n"
#define BODIES(v) NODE_OF(",\"attrs\":{\"provider_bodies\":" v "}")
#define COUNTS "\"counts\":{\"nodes\":%d,\"relations\":%d,\"unresolved\":%d}"
#define COMMIT "{\"t\":\"commit\",\"digest\":\"%s\"," COUNTS "}\n"

static char dir[TEMP_PATH];

struct expected_round {
	const char *code;   /* NULL: it is valid */
	const char *lines;  /* before the commit */
	const char *commit; /* NULL: the right one; else a format with digest and counts */
	const char *keeps;  /* of a valid one: the codes of the rules that it just does not break */
};

static const struct expected_round rounds[] = {
	{ NULL, HEADER, NULL, "first-not-header no-commit second-header after-commit" },
	{ NULL, HEADER NODE, NULL, "no-id unknown-frame revision" },
	{ NULL, HEADER NODE RELATION_OF(ENDS) OPEN_OF(",\"state\":\"open\""), NULL,
		"dup-id relation-incomplete" },
	{ NULL, HEADER OPEN_OF(",\"state\":\"open\"") NODE, NULL },
	/* lines */
	{ "bad-json", HEADER "{\"t\":\"node\",}\n", NULL },
	{ "bad-json", HEADER "{\"t\":\"node\"} {}\n", NULL },
	{ "bad-json", HEADER NODE_OF(",\"x\":01"), NULL },
	{ "bad-json", HEADER NODE_OF(",\"x\":\"a\tb\""), NULL },
	{ "bad-json", HEADER " \t\n", NULL },
	{ NULL, HEADER " {\"t\" : \"node\",\"id\":\"n\",\"revision\":1}\t\r\n", NULL, "bad-json" },
	{ NULL, HEADER NODE_OF(",\"x\":\"\\ud800 \xff\""), NULL },
	{ "bad-type", HEADER "[]\n", NULL },
	{ "bad-type", HEADER "null\n", NULL },
	{ "bad-type", HEADER "{\"t\":1}\n", NULL },
	{ "bad-type", HEADER NODE_OF(",\"parent\":1"), NULL },
	{ "bad-type", HEADER NODE_OF(",\"tombstone\":\"true\""), NULL },
	{ "bad-type", HEADER NODE_OF(",\"ref\":{\"seq\":-1,\"row\":1}"), NULL },
	{ "bad-type", HEADER NODE_OF(",\"ref\":{\"seq\":1.0,\"row\":1}"), NULL },
	{ "bad-type", HEADER NODE_OF(",\"refs\":[1]"), NULL },
	{ "bad-type", HEAD_OF(IDS "\"round\":\"1\"," SEQS WORDS), NULL },
	{ "bad-type", HEAD_OF(IDS "\"round\":1,\"talks\":1.5," SEQS WORDS), NULL },
	{ NULL, HEAD_OF(IDS "\"round\":1,\"talks\":-1,\"title\":null," SEQS WORDS), NULL },
	{ NULL, HEADER NODE_OF(",\"parent\":null,\"ref\":{\"seq\":1,\"row\":1,\"block\":-3}"), NULL,
		"bad-type" },
	{ NULL, HEADER NODE_OF(",\"parent\":1,\"parent\":\"p\",\"attrs\":[1],\"to\":7"), NULL },
	{ "empty-line", HEADER "\n" NODE, NULL },
	{ "empty-line", HEADER NODE, COMMIT "\n" },
	{ NULL, HEADER NODE, "{\"t\":\"commit\",\"digest\":\"%s\"," COUNTS "}",
		"empty-line digest-mismatch" },
	{ "first-not-header", NODE HEADER, NULL },
	{ "first-not-header", "", NULL },
	{ "second-header", HEADER HEADER, NULL },
	{ "after-commit", HEADER, COMMIT NODE },
	{ "unknown-frame", HEADER "{\"t\":\"Node\",\"id\":\"n\",\"revision\":1}\n", NULL },
	{ "unknown-frame", HEADER "{}\n", NULL },
	/* the header */
	{ "header-schema",
		HEAD_OF("\"conversation\":\"c\",\"session\":\"s\",\"round\":1," SEQS WORDS), NULL },
	{ "header-conversation",
		HEAD_OF("\"schema\":\"sf/1\",\"session\":\"s\",\"round\":1," SEQS WORDS), NULL },
	{ "header-session",
		HEAD_OF("\"schema\":\"sf/1\",\"conversation\":\"c\",\"session\":\"\",\"round\":1," SEQS
				WORDS),
		NULL },
	{ "header-parser",
		HEAD_OF(IDS "\"round\":1," SEQS "\"input_digest\":\"d\",\"policy\":\"q\""), NULL },
	{ "header-policy",
		HEAD_OF(IDS "\"round\":1," SEQS "\"input_digest\":\"d\",\"parser\":\"p\""), NULL },
	{ "header-input-digest",
		HEAD_OF(IDS "\"round\":1," SEQS "\"parser\":\"p\",\"policy\":\"q\""), NULL },
	{ "header-round", HEAD_OF(IDS SEQS WORDS), NULL },
	{ "header-previous-missing", HEAD_OF(IDS "\"round\":2," SEQS WORDS), NULL },
	{ NULL, HEAD_OF(IDS "\"round\":2,\"previous\":\"x\"," SEQS WORDS), NULL,
		"header-previous-missing header-round" },
	{ "header-previous-first", HEAD_OF(IDS "\"round\":1,\"previous\":\"x\"," SEQS WORDS),
		NULL },
	{ NULL, HEAD_OF(IDS "\"round\":1,\"previous\":\"\"," SEQS WORDS), NULL,
		"header-previous-first" },
	{ "header-from-seq", HEAD_OF(IDS "\"round\":1,\"through_seq\":2," WORDS), NULL },
	{ "header-range", HEAD_OF(IDS "\"round\":1,\"from_seq\":4,\"through_seq\":2," WORDS),
		NULL },
	{ NULL, HEAD_OF(IDS "\"round\":1,\"from_seq\":3,\"through_seq\":2," WORDS), NULL,
		"header-range header-from-seq" },
	{ NULL,
		HEAD_OF("\"schema\":\"sf/1\",\"conversation\":\"c\",\"session\":\"s\",\"round\":1," SEQS
			"\"input_digest\":\" \",\"parser\":\"0\",\"policy\":\"null\""),
		NULL,
		"header-schema header-conversation header-session header-parser header-policy header-input-digest" },
	/* entities */
	{ "no-id", HEADER "{\"t\":\"node\",\"id\":\"\",\"revision\":1}\n", NULL },
	{ "no-id", HEADER "{\"t\":\"unresolved\",\"revision\":1,\"state\":\"open\"}\n", NULL },
	{ "dup-id", HEADER NODE NODE, NULL },
	{ "dup-id",
		HEADER NODE
		"{\"t\":\"relation\",\"id\":\"\\u006e\",\"revision\":1,\"tombstone\":true}\n",
		NULL },
	{ "revision", HEADER "{\"t\":\"node\",\"id\":\"n\",\"revision\":2}\n", NULL },
	{ "revision", HEADER "{\"t\":\"node\",\"id\":\"n\",\"tombstone\":true}\n", NULL },
	{ "relation-incomplete", HEADER RELATION_OF("\"type\":\"t\",\"from\":\"a\""), NULL },
	{ NULL, HEADER RELATION_OF("\"tombstone\":true"), NULL },
	{ "unresolved-state", HEADER OPEN_OF(",\"state\":\"shut\""), NULL },
	{ "unresolved-state", HEADER OPEN_OF(""), NULL },
	{ NULL, HEADER OPEN_OF(",\"tombstone\":true,\"state\":\"shut\""), NULL },
	{ NULL, HEADER OPEN_OF(",\"state\":\"terminal\""), NULL, "unresolved-state" },
	{ "ref-zero", HEADER NODE_OF(",\"ref\":{}"), NULL },
	{ "ref-zero", HEADER NODE_OF(",\"refs\":[null]"), NULL },
	{ "ref-zero", HEADER RELATION_OF(ENDS ",\"evidence\":[{\"block\":1}]"), NULL },
	{ NULL, HEADER NODE_OF(",\"ref\":{\"row\":1}"), NULL, "ref-zero" },
	{ "ref-past", HEADER NODE_OF(",\"ref\":{\"seq\":3,\"row\":1}"), NULL },
	{ "ref-past", HEADER NODE_OF(",\"tombstone\":true,\"refs\":[{\"seq\":1},{\"seq\":3}]"),
		NULL },
	{ NULL, HEADER NODE_OF(",\"ref\":{\"seq\":2,\"row\":99}"), NULL, "ref-past" },
	{ "bodies-shape", HEADER BODIES("{}"), NULL },
	{ "bodies-shape", HEADER BODIES("false"), NULL },
	{ "bodies-shape", HEADER BODIES("[{\"role\":1}]"), NULL },
	{ "bodies-shape", HEADER BODIES("[{\"role\":\"other\"},7]"), NULL },
	{ NULL, HEADER BODIES("null"), NULL },
	{ NULL, HEADER BODIES("[]"), NULL, "bodies-shape" },
	{ "bodies-role", HEADER BODIES("[null]"), NULL },
	{ "bodies-role", HEADER BODIES("[{\"role\":\"Request\",\"ref\":{\"seq\":1,\"row\":1}}]"),
		NULL },
	{ "bodies-zero", HEADER BODIES("[{\"role\":\"request\",\"ref\":{\"seq\":1}}]"), NULL },
	{ "ref-past", HEADER BODIES("[{\"role\":\"request\",\"ref\":{\"seq\":3,\"row\":1}}]"),
		NULL },
	{ NULL, HEADER BODIES("[{\"role\":\"response\",\"ref\":{\"seq\":2,\"row\":1}}]"), NULL,
		"bodies-role bodies-zero" },
	/* the commit */
	{ "no-commit", HEADER NODE, "" },
	{ "digest-mismatch", HEADER, "{\"t\":\"commit\",\"digest\":\"0%s\"," COUNTS "}\n" },
	{ "digest-mismatch", HEADER, "{\"t\":\"commit\"}\n" },
	{ "counts-mismatch", HEADER NODE,
		"{\"t\":\"commit\",\"digest\":\"%s\",\"counts\":{\"nodes\":2}}\n" },
	{ "counts-mismatch", HEADER NODE, "{\"t\":\"commit\",\"digest\":\"%s\"}\n" },
	{ NULL, HEADER NODE, "{\"t\":\"commit\",\"digest\":\"%s\",\"counts\":{\"nodes\":1}}\n",
		"counts-mismatch" },
	{ NULL, HEADER, "{\"t\":\"commit\",\"digest\":\"%s\"}\n" },
};

static int count(const char *lines, const char *what)
{
	int n = 0;

	for (; (lines = strstr(lines, what)) != NULL; lines++)
		n++;
	return n;
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void add_commit(struct buf *text, const char *lines, const char *format)
{
	char hex[65];

	flow_sha_of(lines, strlen(lines), hex);
	buf_printf(text, format ? format : COMMIT, hex,
		count(lines, "\"t\":\"node\"") + count(lines, "\"t\" : \"node\""),
		count(lines, "\"t\":\"relation\""), count(lines, "\"t\":\"unresolved\""));
}

static void read_round(const char *text, size_t n, struct flow_fault *fault)
{
	char *path = xasprintf("%s/round.sf", dir);
	struct flow_scratch w;
	struct flow_header h;
	struct arena a = { 0 };
	struct err err = { 0 };

	flow_scratch_init(&w);
	temp_put(path, text, n);
	assert_int_equal(flow_round_read(path, &w, &a, &h, NULL, NULL, fault, &err), 0);
	flow_scratch_release(&w);
	arena_free(&a);
	free(path);
}

static void test_rules(void **state)
{
	int nbad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
		const struct expected_round *r = &rounds[i];
		struct buf text = { 0 };
		struct flow_fault fault;

		buf_adds(&text, r->lines);
		add_commit(&text, r->lines, r->commit);
		read_round(text.p, text.n, &fault);
		if (strcmp(fault.code ? fault.code : "", r->code ? r->code : "") != 0) {
			print_error("%s\nexpected %s, got %s: %s\n", text.p, r->code, fault.code,
				fault.text);
			nbad++;
		}
		if (r->code)
			doc_codes_broken(r->code);
		else if (r->keeps)
			doc_codes_kept(r->keeps);
		buf_release(&text);
	}
	assert_int_equal(nbad, 0);
}

/* 256 objects and lists may be open in a line, its own object among them. */
static void test_depth(void **state)
{
	(void)state;
	for (int depth = 254; depth <= 256; depth++) {
		struct buf text = { 0 };
		struct flow_fault fault;

		buf_adds(&text, HEADER "{\"t\":\"node\",\"id\":\"n\",\"revision\":1,\"attrs\":");
		for (int i = 0; i < depth; i++)
			buf_addc(&text, '[');
		for (int i = 0; i < depth; i++)
			buf_addc(&text, ']');
		buf_adds(&text, "}\n");
		add_commit(&text, text.p, NULL);
		read_round(text.p, text.n, &fault);
		if (depth < 256)
			assert_null(fault.code);
		else
			assert_string_equal(fault.code, "too-deep");
		(depth < 256 ? doc_codes_kept : doc_codes_broken)("too-deep");
		buf_release(&text);
	}
}

/* The fault says where: the line and its first byte. */
static void test_place(void **state)
{
	struct buf text = { 0 };
	struct flow_fault fault;

	(void)state;
	buf_adds(&text, HEADER NODE NODE);
	read_round(text.p, text.n, &fault);
	assert_string_equal(fault.code, "dup-id");
	assert_int_equal(fault.line, 3);
	assert_int_equal(fault.off, strlen(HEADER NODE));
	buf_release(&text);
}

/* ---- chains ---- */

struct chain_round {
	int number;                        /* of the file's name */
	const char *conversation, *session, *parser, *policy;
	int round;                         /* of the header */
	const char *previous;              /* NULL: the digest of the round before */
};

static void put_round(const char *folder, const struct chain_round *r, char digest[65])
{
	struct buf text = { 0 };
	char *path;

	buf_printf(&text,
		"{\"t\":\"header\",\"schema\":\"sf/1\",\"conversation\":\"%s\",\"session\":\"%s\",\"round\":%d,",
		r->conversation, r->session, r->round);
	if (r->round > 1)
		buf_printf(&text, "\"previous\":\"%s\",", r->previous ? r->previous : digest);
	buf_printf(&text,
		"\"from_seq\":%d,\"through_seq\":%d,\"input_digest\":\"d\",\"parser\":\"%s\",\"policy\":\"%s\"}\n",
		r->round, r->round - 1, r->parser, r->policy);
	buf_printf(&text, "{\"t\":\"node\",\"id\":\"n%d\",\"revision\":%d,\"kind\":\"k\"}\n",
		r->number, r->round);
	flow_sha_of(text.p, text.n, digest);
	path = xasprintf("%s/r%06d-%.12s.sf", folder, r->number, digest);
	buf_printf(
		&text, "{\"t\":\"commit\",\"digest\":\"%s\",\"counts\":{\"nodes\":1}}\n", digest);
	temp_put(path, text.p, text.n);
	free(path);
	buf_release(&text);
}

static struct flow_conversation *fold(const struct chain_round *v, size_t n)
{
	char *root = xasprintf("%s/root", dir), *path = xasprintf("%s/_conversations/c", root);
	char *above = xasprintf("%s/_conversations", root), *folder = xasprintf("%s/rounds", path);
	struct flow_conversation *c;
	struct err err = { 0 };
	char digest[65] = "";

	mkdir(root, 0700);
	mkdir(above, 0700);
	mkdir(path, 0700);
	mkdir(folder, 0700);
	temp_clear(folder);
	for (size_t i = 0; i < n; i++)
		put_round(folder, &v[i], digest);
	assert_int_equal(flow_open(&c, path, &err), 0);
	while (flow_step(c, 1000) == 1)
		;
	free(root);
	free(path);
	free(above);
	free(folder);
	return c;
}

static void check_chain(const struct chain_round *second, uint32_t folded, const char *code)
{
	struct chain_round v[3] = { { 1, "c", "s", "p", "q", 1, NULL }, *second,
		{ 9, "c", "s", "p", "q", 3, NULL } };
	struct flow_conversation *c = fold(v, 2);
	uint64_t round;
	const struct flow_fault *f = flow_problem(c, &round);

	assert_int_equal(flow_folded(c), folded);
	if (code) {
		assert_non_null(f);
		assert_string_equal(f->code, code);
		assert_int_equal(round, 2);
	} else {
		assert_null(f);
	}
	if (code)
		doc_codes_broken(code);
	else
		doc_codes_kept(
			"fold-missing fold-round fold-previous fold-conversation fold-session fold-parser "
			"fold-policy");
	flow_close(&c);
}

static void test_chains(void **state)
{
	(void)state;
	check_chain(&(struct chain_round){ 2, "c", "s", "p", "q", 2, NULL }, 2, NULL);
	check_chain(&(struct chain_round){ 2, "c", "s", "p", "q", 2, "x" }, 1, "fold-previous");
	check_chain(
		&(struct chain_round){ 2, "C", "s", "p", "q", 2, NULL }, 1, "fold-conversation");
	check_chain(&(struct chain_round){ 2, "c", "S", "p", "q", 2, NULL }, 1, "fold-session");
	check_chain(&(struct chain_round){ 2, "c", "s", "P", "q", 2, NULL }, 1, "fold-parser");
	check_chain(&(struct chain_round){ 2, "c", "s", "p", "Q", 2, NULL }, 1, "fold-policy");
	check_chain(&(struct chain_round){ 2, "c", "s", "p", "q", 3, NULL }, 1, "fold-round");
	check_chain(&(struct chain_round){ 3, "c", "s", "p", "q", 3, NULL }, 1, "fold-missing");
}

/* The fold as of a round is what a chain that ends there folds to. */
static void test_as_of(void **state)
{
	struct chain_round v[3];
	struct flow_conversation *all, *some;
	struct err err = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		v[i] = (struct chain_round){ i + 1, "c", "s", "p", "q", i + 1, NULL };
	all = fold(v, 3);
	for (uint32_t n = 1; n <= 3; n++) {
		struct flow_view view, whole;
		char as_of[65], alone[65];

		flow_view_make(&view, all, n);
		assert_int_equal(view.n[FLOW_NODES], n);
		some = fold(v, 3);
		assert_int_equal(flow_canonical_sha256(some, &view, as_of, &err), 0);
		flow_close(&some);
		some = fold(v, n);
		flow_view_make(&whole, some, n);
		assert_int_equal(flow_canonical_sha256(some, &whole, alone, &err), 0);
		assert_string_equal(as_of, alone);
		flow_view_release(&whole);
		flow_view_release(&view);
		flow_close(&some);
	}
	flow_close(&all);
}

static void test_times(void **state)
{
	int64_t ms;

	(void)state;
	assert_true(flow_time(str_of("1970-01-01T00:00:00Z"), &ms) && ms == 0);
	assert_true(flow_time(str_of("2026-10-05T08:00:01.25+00:00"), &ms) && ms == 1791187201250);
	assert_true(
		flow_time(str_of("2024-02-29T23:59:59.9999999-01:30"), &ms) && ms == 1709256599999);
	assert_false(flow_time(str_of("2026-10-05"), &ms));
	assert_false(flow_time(str_of("2026-13-05T08:00:01Z"), &ms));
	assert_false(flow_time(str_of("2026-10-05T08:00:01"), &ms));
	assert_false(flow_time(str_of("2026-10-05T08:00:01Zx"), &ms));
}

/* Each code that the document lists for rounds and folds has a case that breaks it and one that does not. */
static void test_codes(void **state)
{
	int missing;

	(void)state;
	assert_int_equal(doc_codes_check("\n## flow\n", "\n### Checks\n", &missing), 39);
	assert_int_equal(missing, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_as_of),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_codes),
	};
	int failed;

	temp_make(dir);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	temp_remove(dir);
	return failed;
}
