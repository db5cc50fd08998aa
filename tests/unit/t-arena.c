/* Memory: arenas, and allocation that ends the program in an orderly way. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/xalloc.h"

static void test_arena_blocks(void **state)
{
	static const size_t sizes[] = { 1, 7, 16, 100, 3000, 5000, 70000, 3 << 20, 0, 12 };
	enum { N = 2000 };
	static unsigned char *got[N];
	struct arena a = { 0 };
	size_t i, k, total = 0;

	for (i = 0; i < N; i++) {
		size_t n = sizes[i % (i % 100 ? 7 : 10)];

		got[i] = arena_alloc(&a, n);
		assert_int_equal((uintptr_t)got[i] % _Alignof(max_align_t), 0);
		memset(got[i], (int)(i & 0xFF), n);
		total += n;
	}
	assert_true(a.used >= total);
	/* Nothing overlaps: every byte is still what its owner wrote. */
	for (i = 0; i < N; i++) {
		size_t n = sizes[i % (i % 100 ? 7 : 10)];

		for (k = 0; k < n; k++)
			if (got[i][k] != (i & 0xFF))
				fail_msg("block %zu, byte %zu", i, k);
	}
	arena_free(&a);
	assert_null(a.head);
	assert_int_equal(a.used, 0);
	arena_free(&a);
}

static void test_arena_reset(void **state)
{
	struct arena a = { 0 };
	size_t round, i;
	void *first = NULL;

	arena_reset(&a);
	for (round = 0; round < 50; round++) {
		void *p = arena_alloc(&a, 100);

		/* Soon one block holds a whole round, and nothing more is asked for. */
		if (round == 5)
			first = p;
		else if (round > 5)
			assert_ptr_equal(p, first);
		for (i = 0; i < 100; i++)
			arena_alloc(&a, 100);
		assert_true(a.used >= 101 * 100);
		arena_reset(&a);
		assert_int_equal(a.used, 0);
	}
	arena_free(&a);
}

static void test_arena_text(void **state)
{
	struct arena a = { 0 };
	char *z = arena_zalloc(&a, 100);
	size_t i;

	for (i = 0; i < 100; i++)
		assert_int_equal(z[i], 0);
	assert_string_equal(arena_strdup(&a, "abc"), "abc");
	assert_string_equal(arena_strdup(&a, ""), "");
	assert_memory_equal(arena_strndup(&a, "a\0bc", 3), "a\0b\0", 4);
	assert_string_equal(arena_strndup(&a, NULL, 0), "");
	assert_string_equal(arena_printf(&a, "%d-%s", 42, "x"), "42-x");
	assert_int_equal(strlen(arena_printf(&a, "%9000d", 1)), 9000);
	assert_int_equal(*arena_new(&a, int), 0);
	arena_free(&a);
}

static void test_xalloc(void **state)
{
	size_t cap = 0;
	int *p = NULL, i;
	char *s;

	free(xmalloc(0));
	free(xcalloc(0, 0));
	s = xstrndup("abc", 2);
	assert_string_equal(s, "ab");
	free(s);
	s = xasprintf("%s/%d", "a", 5);
	assert_string_equal(s, "a/5");
	free(s);
	for (i = 0; i < 10000; i++) {
		p = xgrow(p, &cap, (size_t)i + 1, sizeof(*p));
		assert_true(cap > (size_t)i);
		p[i] = i;
	}
	for (i = 0; i < 10000; i++)
		assert_int_equal(p[i], i);
	assert_ptr_equal(xgrow(p, &cap, 1, sizeof(*p)), p);
	free(p);
}

static void restore(void)
{
	fputs("restored\n", stderr);
}

static void die_plainly(void)
{
	die("%s \x1B[2J\xE2\x80\xAE", "no way");
}

static void die_of_size(void)
{
	void *volatile p = NULL;

	p = xrealloc(p, SIZE_MAX / 2, 3);
}

static void die_of_growth(void)
{
	size_t cap = 16;
	void *volatile p = NULL;

	p = xgrow(p, &cap, SIZE_MAX, 8);
}

static void die_of_arena(void)
{
	struct arena a = { 0 };
	void *volatile p;

	p = arena_alloc(&a, SIZE_MAX - 1);
	(void)p;
}

/* What fn writes to stderr on its way out with status 3. */
static void check_death(void (*fn)(void), const char *want)
{
	char got[256] = "";
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		die_hook(restore);
		fn();
		_exit(0);
	}
	close(fds[1]);
	n = 0;
	while (n < (ssize_t)sizeof(got) - 1) {
		ssize_t some = read(fds[0], got + n, sizeof(got) - 1 - (size_t)n);

		if (some <= 0)
			break;
		n += some;
	}
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_string_equal(got, want);
}

static void test_die(void **state)
{
	check_death(die_plainly, "restored\nbough: no way ^[[2J<202E>\n");
	check_death(die_of_size, "restored\nbough: out of memory (18446744073709551615 bytes)\n");
	check_death(die_of_growth, "restored\nbough: out of memory (18446744073709551615 bytes)\n");
	check_death(die_of_arena, "restored\nbough: out of memory (18446744073709551614 bytes)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena_blocks),
		cmocka_unit_test(test_arena_reset),
		cmocka_unit_test(test_arena_text),
		cmocka_unit_test(test_xalloc),
		cmocka_unit_test(test_die),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
