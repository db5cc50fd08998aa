/*
 * t-lines.c - lines through windows of any size, long ones, no ends.
 */
#include "config.h"

#include "tests/log/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- lines ---- */

static void test_lines(void **state)
{
	static const char text[] = "one\r\n\n\xff\x80\ntwo";
	struct log_reader *r;

	(void)state;
	temp_puts(file, text);
	r = open_reader();
	expect_line(r, "one\r", 0, 1, true);
	expect_line(r, "", 5, 2, true);
	expect_line(r, "\xff\x80", 6, 3, true);
	expect_line(r, "two", 9, 4, false);
	expect_end(r);
	log_seek_line(r, 6, 3);
	expect_line(r, "\xff\x80", 6, 3, true);
	log_seek_line(r, 12, 9);
	expect_end(r);
	log_reader_close(&r);
	assert_null(r);
	log_reader_close(&r);
}

static void test_lines_nul(void **state)
{
	struct log_reader *r;
	struct log_line line;

	(void)state;
	temp_put(file, "a\0b\n\0\n", 6);
	r = open_reader();
	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_int_equal(line.n, 3);
	assert_memory_equal(line.p, "a\0b\n", 4);
	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_int_equal(line.n, 1);
	assert_int_equal(line.p[0], 0);
	expect_end(r);
	log_reader_close(&r);
}

static void test_lines_empty(void **state)
{
	struct log_reader *r;

	(void)state;
	temp_puts(file, "");
	r = open_reader();
	assert_int_equal(log_reader_id(r)->size, 0);
	expect_end(r);
	log_reader_close(&r);
	temp_puts(file, "\n");
	r = open_reader();
	expect_line(r, "", 0, 1, true);
	expect_end(r);
	log_reader_close(&r);
}

/* Longer than the largest window, in the middle of the file and at its end. */
static void test_lines_long(void **state)
{
	enum { N = 3 << 20 };
	char *text = malloc(2 * N + 100);
	struct log_reader *r;
	struct log_line line;
	size_t n = 0, k;

	(void)state;
	assert_non_null(text);
	n += (size_t)sprintf(text, "first\n");
	for (k = 0; k < N; k++)
		text[n++] = (char)('a' + k % 26);
	n += (size_t)sprintf(text + n, "\nthird\n");
	for (k = 0; k < N; k++)
		text[n++] = (char)('A' + k % 26);
	temp_put(file, text, n);
	r = open_reader();
	expect_line(r, "first", 0, 1, true);
	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_int_equal(line.n, N);
	assert_int_equal(line.off, 6);
	assert_memory_equal(line.p, text + 6, N + 1);
	expect_line(r, "third", 7 + N, 3, true);
	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_int_equal(line.n, N);
	assert_int_equal(line.number, 4);
	assert_memory_equal(line.p, text + 13 + N, N);
	assert_false(line.ended);
	assert_int_equal(line.p[N], '\n');
	expect_end(r);
	log_reader_close(&r);
	free(text);
}

static void test_lines_too_long(void **state)
{
	static const size_t lengths[] = { 99, 100, 101, 250, 1000 };
	char text[8192], want[1001];
	size_t n = 0, off = 0, i;
	struct log_reader *r;
	struct log_line line;

	(void)state;
	for (i = 0; i < 5; i++) {
		memset(text + n, 'x', lengths[i]);
		n += lengths[i];
		text[n++] = '\n';
	}
	n += (size_t)sprintf(text + n, "last\n");
	memset(text + n, 'y', 300);
	temp_put(file, text, n + 300);
	r = open_reader();
	log_reader_tune(r, 16, 64, 100);
	for (i = 0; i < 5; i++) {
		if (lengths[i] <= 100) {
			memset(want, 'x', lengths[i]);
			want[lengths[i]] = '\0';
			expect_line(r, want, off, i + 1, true);
		} else {
			assert_int_equal(log_next_line(r, &line, &err), 1);
			assert_true(line.too_long);
			assert_null(line.p);
			assert_int_equal(line.n, lengths[i]);
			assert_int_equal(line.off, off);
			assert_int_equal(line.number, i + 1);
			assert_true(line.ended);
		}
		off += lengths[i] + 1;
	}
	expect_line(r, "last", off, 6, true);
	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_true(line.too_long);
	assert_int_equal(line.n, 300);
	assert_false(line.ended);
	expect_end(r);
	log_reader_close(&r);
}

/* A line over the limit of 256 MB (a hole in the file) costs no such memory. */
static void test_lines_huge(void **state)
{
	uint64_t n = (uint64_t)LOG_MAX_LINE + 12345;
	static struct fake_trace trace;
	struct log_reader *r;
	struct log_line line;
	unsigned i;

	(void)state;
	temp_puts(file, "a\n");
	assert_int_equal(truncate(file, (off_t)(2 + n)), 0);
	temp_adds(file, "\nz\n");
	fake_install();
	r = open_reader();
	expect_line(r, "a", 0, 1, true);
	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_true(line.too_long);
	assert_int_equal(line.n, n);
	expect_line(r, "z", 3 + n, 3, true);
	expect_end(r);
	fake_trace(&trace);
	for (i = 0; i < trace.n; i++)
		assert_true(trace.call[i].bytes <= LINE_WINDOW_MAX + LINE_SLACK);
	log_reader_close(&r);
}

static uint64_t seed = 20261130;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static size_t random_text(char *out, size_t size)
{
	size_t n = below((unsigned)size), i;
	unsigned rarity = 1 + below(60);

	for (i = 0; i < n; i++)
		out[i] = below(rarity) == 0 ? '\n' : (char)below(256);
	return n;
}

/* The same lines by one memchr over everything as through any windows. */
static void check_against_whole(struct log_reader *r, const char *text, size_t n, size_t max_line)
{
	size_t at = 0, number = 1;
	char slack[LINE_SLACK];
	struct log_line line;

	while (at < n) {
		const char *nl = memchr(text + at, '\n', n - at);
		size_t len = nl ? (size_t)(nl - text) - at : n - at;

		assert_int_equal(log_next_line(r, &line, &err), 1);
		assert_int_equal(line.off, at);
		assert_int_equal(line.n, len);
		assert_int_equal(line.number, number++);
		assert_int_equal(line.ended, nl != NULL);
		assert_int_equal(line.too_long, len > max_line);
		if (!line.too_long) {
			assert_memory_equal(line.p, text + at, len);
			memcpy(slack, line.p + len, sizeof(slack)); /* all readable */
			assert_int_equal(slack[0], '\n');
		}
		at += len + (nl != NULL);
	}
	expect_end(r);
}

static void test_lines_windows(void **state)
{
	static char text[3000];
	int round, windows;

	(void)state;
	for (round = 0; round < 400; round++) {
		size_t n = random_text(text, sizeof(text));
		struct log_reader *r;

		temp_put(file, text, n);
		r = open_reader();
		check_against_whole(r, text, n, LOG_MAX_LINE);
		for (windows = 0; windows < 6; windows++) {
			size_t first = 1 + below(80), max = first + below(300);
			size_t max_line = below(3) ? LOG_MAX_LINE : below(200);

			log_reader_tune(r, first, max, max_line);
			log_seek_line(r, 0, 1);
			check_against_whole(r, text, n, max_line);
		}
		log_reader_close(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_lines),
		FIXTURE_TEST(test_lines_nul),
		FIXTURE_TEST(test_lines_empty),
		FIXTURE_TEST(test_lines_long),
		FIXTURE_TEST(test_lines_too_long),
		FIXTURE_TEST(test_lines_huge),
		FIXTURE_TEST(test_lines_windows),
	};

	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
