/*
 * t-flow-flips.c - valid rounds with one byte changed, and cut short at every
 * length: each is found. Behind the bytes that the digest covers stands only
 * the commit line; a change there that says nothing else than before (the last
 * newline made a space) is told apart and does not count.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "format/flow/internal.h"
#include "tests/lib/temp.h"

enum { CHANGES = 2000, ROUNDS_MAX = 32, CUT_STEP = 3 };

static char dir[TEMP_PATH];
static uint64_t seed;
static struct round {
	char *p;
	size_t n, covered; /* covered: by the digest */
} rounds[ROUNDS_MAX];
static size_t nrounds;

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9E3779B97F4A7C15u;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

static size_t covered(const char *p, size_t n)
{
	size_t at = n;

	while (at > 0 && p[at - 1] == '\n')
		at--;
	while (at > 0 && p[at - 1] != '\n')
		at--;
	return at;
}

static void take_folder(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *de;

	assert_non_null(d);
	while ((de = readdir(d)) && nrounds < ROUNDS_MAX) {
		char *file = xasprintf("%s/%s", path, de->d_name);
		struct round *r = &rounds[nrounds];

		if (strstr(de->d_name, ".sf") && (r->p = temp_get(file, &r->n)) && r->n > 0) {
			r->covered = covered(r->p, r->n);
			nrounds++;
		}
		free(file);
	}
	closedir(d);
}

/* NULL: the round is valid, with its counts in *h. */
static const char *read_bytes(const char *p, size_t n, struct flow_header *h)
{
	static struct flow_scratch w;
	static bool has_scratch;
	char *path = xasprintf("%s/round.sf", dir);
	struct arena a = { 0 };
	struct flow_fault fault;
	struct err err = { 0 };

	if (!has_scratch)
		flow_scratch_init(&w);
	has_scratch = true;
	temp_put(path, p, n);
	assert_int_equal(flow_round_read(path, &w, &a, h, NULL, NULL, &fault, &err), 0);
	arena_free(&a);
	free(path);
	return fault.code;
}

static void test_valid(void **state)
{
	struct flow_header h;

	(void)state;
	assert_true(nrounds >= 10);
	for (size_t i = 0; i < nrounds; i++)
		assert_null(read_bytes(rounds[i].p, rounds[i].n, &h));
}

static void test_changes(void **state)
{
	uint64_t at = seed;
	int found = 0, harmless = 0;

	(void)state;
	while (found < CHANGES) {
		struct round *r = &rounds[next(&at) % nrounds];
		size_t i = next(&at) % r->n;
		struct flow_header h;
		char was = r->p[i];
		const char *code;

		r->p[i] = (char)(was ^ (char)(1 + next(&at) % 255));
		code = read_bytes(r->p, r->n, &h);
		if (!code && i < r->covered)
			fail_msg("seed %llu: a change at byte %zu of %zu is not found",
				(unsigned long long)seed, i, r->n);
		found += code != NULL;
		harmless += code == NULL;
		r->p[i] = was;
	}
	print_message(
		"%d changes found, %d in the commit line changed nothing that it says (seed %llu)\n",
		found, harmless, (unsigned long long)seed);
	assert_true(harmless * 20 < found);
}

/* Only the last newline may be missing. */
static void test_cuts(void **state)
{
	int cuts = 0;

	(void)state;
	for (size_t i = 0; i < nrounds; i++) {
		struct flow_header h;
		size_t step = rounds[i].n > 4000 ? 4 * CUT_STEP : CUT_STEP;

		for (size_t n = 0; n + 1 < rounds[i].n;
			n += n + 200 < rounds[i].n ? step : 1, cuts++)
			assert_non_null(read_bytes(rounds[i].p, n, &h));
		assert_null(read_bytes(rounds[i].p, rounds[i].n - 1, &h));
	}
	print_message("%d cuts found\n", cuts);
	assert_true(cuts >= 2000);
}

int main(void)
{
	static const char *const folders[] = {
		"valid/_conversations/8c1d2f60-4b7e-4f0a-8a55-5d1f3c9e7b01",
		"valid/_conversations/b7a0-old",
		"clean/_conversations/3f6c0a10-77aa-4c1e-9d4e-0000000000aa",
		"example/_conversations/c1"
	};
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_valid),
		cmocka_unit_test(test_changes), cmocka_unit_test(test_cuts) };
	const char *srcdir = getenv("srcdir"), *given = getenv("SEED");
	int failed;

	if (given)
		seed = strtoull(given, NULL, 10);
	else
		random_bytes(&seed, sizeof(seed));
	temp_make(dir);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char *path = xasprintf(
			"%s/tests/format/flow/%s/rounds", srcdir ? srcdir : ".", folders[i]);

		take_folder(path);
		free(path);
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	for (size_t i = 0; i < nrounds; i++)
		free(rounds[i].p);
	temp_remove(dir);
	return failed;
}
