/* The list of problems: order, dropping, the cap. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/problem.h"

static struct problem_list list;
static struct arena arena;

static int tear_down(void **state)
{
	problem_release(&list);
	arena_free(&arena);
	return 0;
}

static void add(const char *kind, uint64_t offset)
{
	problem_add(&list, &arena, kind, 1, offset, 5, 7, "at %d", (int)offset);
}

static void assert_list(const char *const *want)
{
	size_t n = 0;

	for (; want[n]; n++) {
		assert_true(n < list.n);
		assert_string_equal(list.v[n].kind, want[n]);
	}
	assert_int_equal(list.n, n);
}

static void test_add(void **state)
{
	static const char fixed[] = "a sentence without numbers";

	problem_add(&list, &arena, "bad-json", 3, 10, 20, 4, "byte %d of %s", 5, "it");
	problem_add(&list, &arena, "glued", 3, 10, 20, 4, fixed);
	assert_int_equal(list.n, 2);
	assert_string_equal(list.v[0].kind, "bad-json");
	assert_string_equal(list.v[0].message, "byte 5 of it");
	assert_int_equal(list.v[0].line, 3);
	assert_int_equal(list.v[0].offset, 10);
	assert_int_equal(list.v[0].length, 20);
	assert_int_equal(list.v[0].entry, 4);
	assert_ptr_equal(list.v[1].message, fixed);
}

static void test_sort(void **state)
{
	static const char *const want[] = { "orphan", "a", "b", "a", NULL };

	add("a", 9);
	add("b", 7);
	add("a", 7);
	add("orphan", 2);
	problem_sort(&list);
	assert_list(want);
	assert_int_equal(list.v[3].offset, 9);
}

static void test_drop(void **state)
{
	static const char *const without[] = { "b", "c", NULL }, *const front[] = { "b", NULL };

	problem_sort(&list);
	add("a", 1);
	add("b", 2);
	add("a", 3);
	add("c", 4);
	problem_drop(&list, "a");
	assert_list(without);
	problem_drop_from(&list, 5);
	assert_list(without);
	problem_drop_from(&list, 4);
	assert_list(front);
	problem_drop_from(&list, 0);
	assert_int_equal(list.n, 0);
}

static void test_cap(void **state)
{
	for (int i = 0; i < PROBLEM_MAX + 3; i++)
		problem_add(&list, &arena, "x", 1, (uint64_t)i, 1, 0, "same");
	assert_int_equal(list.n, PROBLEM_MAX);
	assert_int_equal(list.more, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_add, tear_down),
		cmocka_unit_test_teardown(test_sort, tear_down),
		cmocka_unit_test_teardown(test_drop, tear_down),
		cmocka_unit_test_teardown(test_cap, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
