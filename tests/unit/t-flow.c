/*
 * t-flow.c - the fold of the worked example of the Session Flow format: its
 * digests were made by an independent implementation.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/path.h"
#include "format/flow/flow.h"

static struct flow_conversation *fold_example(void)
{
	const char *srcdir = getenv("srcdir");
	char *path = path_join(srcdir ? srcdir : ".", "tests/format/flow/example/_conversations/c1");
	struct flow_conversation *c;
	struct err err = { 0 };

	assert_int_equal(flow_open(&c, path, &err), 0);
	while (flow_step(c, 100000) > 0)
		;
	free(path);
	return c;
}

static void test_fold(void **state)
{
	struct flow_conversation *c = fold_example();
	struct flow_outline outline = { 0 };
	struct flow_view view = { 0 };
	struct err err = { 0 };
	char hex[65];

	assert_int_equal(flow_folded(c), 2);
	assert_null(flow_problem(c, NULL));
	assert_string_equal(flow_head(c)->digest,
		"531dcf20f9fa3cc3196d1db4bb51dc33eae68b829687f8672ec963c54d2ffb56");
	flow_view_make(&view, c, 2);
	assert_int_equal(view.n[FLOW_NODES], 6);
	assert_int_equal(flow_canonical_sha256(c, &view, hex, &err), 0);
	assert_string_equal(hex, "5c69f88245f0e6bb36223259c4cdf334a1eed2ff2c6e94a65cfcae17978161eb");
	flow_outline_make(&outline, &view);
	flow_outline_sha256(c, &outline, hex);
	assert_string_equal(hex, "743d6c02924eaef8ba152ed9c2feb006cf56e200d0831cfdf1f496d8c0091fe0");
	flow_outline_release(&outline);
	flow_view_release(&view);
	flow_close(&c);
}

/* The fold as of an earlier round still has what a later one took away. */
static void test_earlier_round(void **state)
{
	struct flow_conversation *c = fold_example();
	struct str gone = { "input/1/1", 9 };
	struct flow_view view = { 0 };

	flow_view_make(&view, c, 1);
	assert_int_not_equal(flow_view_find(&view, FLOW_NODES, gone), FLOW_NONE);
	flow_view_release(&view);
	flow_view_make(&view, c, 2);
	assert_int_equal(flow_view_find(&view, FLOW_NODES, gone), FLOW_NONE);
	flow_view_release(&view);
	flow_close(&c);
}

static void count(void *arg, const struct flow_finding *f)
{
	++*(int *)arg;
}

static void test_verify(void **state)
{
	struct flow_conversation *c = fold_example();
	int findings = 0;

	flow_verify(c, count, &findings);
	assert_int_equal(findings, 0);
	flow_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fold),
		cmocka_unit_test(test_earlier_round),
		cmocka_unit_test(test_verify),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
