/*
 * t-pause.c - reading in stints: lines that pause give what they give without,
 * no call reads much more than it may, and holes are not read at all.
 */
#include "config.h"

#include "tests/log/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/frames.h"

enum { MB = 1 << 20, SLACK = 3 * MB };

static struct sys counted;
static uint64_t nread;
static bool knows_holes;

static ssize_t counting_pread(int fd, void *p, size_t n, off_t off)
{
	ssize_t got = sys_real.pread(fd, p, n, off);

	if (got > 0)
		__atomic_add_fetch(&nread, (uint64_t)got, __ATOMIC_RELAXED);
	return got;
}

static off_t next_data(int fd, off_t off)
{
	if (knows_holes)
		return sys_real.next_data(fd, off);
	errno = EINVAL;
	return -1;
}

static void count_reads(bool with_holes)
{
	counted = sys_real;
	counted.pread = counting_pread;
	counted.next_data = next_data;
	knows_holes = with_holes;
	nread = 0;
	sys_install(&counted);
}

/* All that reading says, in one text. */
static void tell(struct buf *out, const struct log_line *line, bool after)
{
	uint32_t sum = 0;

	for (size_t i = 0; line->p && i < line->n; i++)
		sum = sum * 31 + (unsigned char)line->p[i];
	buf_printf(out, "%llu %llu %zu %d%d%d %u\n", (unsigned long long)line->off,
		(unsigned long long)line->number, line->n, line->ended, line->too_long, after, sum);
}

static unsigned raw_text(size_t pause, struct buf *out)
{
	struct log_reader *r = open_reader();
	struct log_line line;
	unsigned pauses = 0;
	int rc;

	log_reader_tune(r, 64 << 10, 256 << 10, 8 * MB);
	log_set_pause(r, pause);
	do {
		uint64_t before = nread;

		rc = log_next_line(r, &line, &err);
		assert_true(rc >= 0);
		if (rc == 1)
			tell(out, &line, false);
		pauses += rc == LOG_PAUSED;
		if (pause && rc == LOG_PAUSED)
			assert_true(nread - before <= pause + MB);
	} while (rc != 0);
	log_reader_close(&r);
	buf_adds(out, "end\n");
	return pauses;
}

static unsigned frames_text(size_t pause, struct buf *out)
{
	struct log_frames_end end;
	struct log_frames *f;
	struct log_line line;
	unsigned pauses = 0;
	bool after;
	int rc;

	assert_int_equal(log_frames_open(&f, file, NULL, &err), 0);
	log_frames_set_pause(f, pause);
	do {
		uint64_t before = nread;

		rc = log_frames_next_line(f, &line, &after, &err);
		assert_true(rc >= 0);
		if (rc == 1)
			tell(out, &line, after);
		pauses += rc == LOG_PAUSED;
		/* a step of the search, and what a thread reads ahead beside it */
		if (pause && rc == LOG_PAUSED)
			assert_true(nread - before <= pause + 4 * MB + SLACK + 8 * MB);
	} while (rc != 0);
	log_frames_end(f, &end);
	buf_printf(out, "%d %llu %llu %s %llu %llu %d\n", end.state, (unsigned long long)end.off,
		(unsigned long long)end.length, end.reason ? end.reason : "",
		(unsigned long long)end.committed, (unsigned long long)end.text, end.gave_up);
	log_frames_close(&f);
	return pauses;
}

/* The same with every pause as with none, and as with holes that are not read. */
static void compare(unsigned (*read)(size_t pause, struct buf *out), bool must_pause)
{
	static const size_t pauses[] = { 1, 5000, MB, 4 * MB, 0 };
	struct buf want = { 0 };

	count_reads(false);
	read(0, &want);
	for (size_t i = 0; i < sizeof(pauses) / sizeof(*pauses); i++) {
		struct buf got = { 0 };
		unsigned n;

		knows_holes = pauses[i] == 0;
		n = read(pauses[i], &got);
		if (must_pause && pauses[i] && pauses[i] <= MB)
			assert_true(n > 0);
		assert_string_equal(got.p, want.p);
		buf_release(&got);
	}
	sys_install(NULL);
	buf_release(&want);
}

/* Bytes without an order, from a seed, in which no newline and no NUL stands. */
static void add_noise(struct buf *b, size_t n, uint32_t seed)
{
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		buf_addc(b, (char)(32 + (seed >> 24) % 200));
	}
}

static void add_zeros(struct buf *b, size_t n)
{
	buf_reserve(b, n);
	memset(b->p + b->n, 0, n);
	b->n += n;
}

static void put(struct buf *b)
{
	temp_put(file, b->p, b->n);
	buf_clear(b);
}

static void test_raw(void **state)
{
	struct buf b = { 0 };

	(void)state;
	buf_adds(&b, "{}\n");
	add_noise(&b, 3 * MB, 1);
	buf_adds(&b, "\nshort\n");
	add_zeros(&b, 9 * MB); /* longer than is read */
	buf_adds(&b, "x\n\n");
	add_noise(&b, 9 * MB, 2);
	buf_adds(&b, "\nlast\n");
	add_noise(&b, 2 * MB, 3);
	put(&b);
	compare(raw_text, true);
	temp_puts(file, "one\ntwo\nrest");
	compare(raw_text, false);
	temp_puts(file, "");
	compare(raw_text, false);
	buf_release(&b);
}

static void add_frame(struct buf *b, const char *text, size_t n)
{
	assert_int_equal(log_frame_encode(b, text, n, &err), 0);
}

static void test_frames(void **state)
{
	static const char magic[] = "\x28\xB5\x2F\xFD";
	struct buf b = { 0 }, noise = { 0 }, one = { 0 };

	(void)state;
	add_noise(&noise, 6 * MB, 4);
	buf_addc(&noise, '\n');
	add_frame(&one, noise.p, noise.n); /* many blocks, some MB stored */

	/* good frames, damage with places that look like frames, good ones, a tear */
	add_frame(&b, "header\n", 7);
	buf_add(&b, one.p, one.n);
	for (int i = 0; i < 40; i++) {
		add_noise(&b, 300000, 5 + (uint32_t)i);
		buf_add(&b, magic, 4);
	}
	add_zeros(&b, 5 * MB);
	add_frame(&b, "behind\nit\n", 10);
	buf_add(&b, one.p, one.n - 100);
	put(&b);
	compare(frames_text, true);

	/* a frame whose checksum is wrong, found out late; then good ones */
	add_frame(&b, "header\n", 7);
	one.p[one.n - 1] ^= 1;
	buf_add(&b, one.p, one.n);
	add_frame(&b, "behind\n", 7);
	put(&b);
	compare(frames_text, true);

	/* a long frame that the file ends in, and nothing behind it */
	add_frame(&b, "header\n", 7);
	buf_add(&b, one.p, one.n / 2);
	put(&b);
	compare(frames_text, true);

	/* more places than are tried */
	add_frame(&b, "header\n", 7);
	for (int i = 0; i < 1100; i++)
		buf_add(&b, "\x28\xB5\x2F\xFD\x24\x01\x07", 7);
	add_frame(&b, "behind\n", 7);
	put(&b);
	compare(frames_text, false);
	buf_release(&b);
	buf_release(&noise);
	buf_release(&one);
}

/* Does this file system say where its holes are? */
static bool has_holes(void)
{
	struct log_reader *r;
	uint64_t data;

	temp_puts(file, "x\n");
	assert_int_equal(truncate(file, 64 * MB), 0);
	r = open_reader();
	data = log_next_data(r, MB);
	log_reader_close(&r);
	return data == 64 * MB;
}

static void test_holes(void **state)
{
	struct log_line line;
	struct log_reader *r;
	struct log_frames *f;
	struct buf b = { 0 };
	bool after;

	(void)state;
	if (!has_holes()) {
		print_message("no sparse files here\n");
		skip();
	}
	assert_int_equal(truncate(file, (off_t)5 << 30), 0);
	count_reads(true);
	r = open_reader();
	expect_line(r, "x", 0, 1, true);
	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_true(line.too_long);
	assert_int_equal(line.n, ((uint64_t)5 << 30) - 2);
	expect_end(r);
	log_reader_close(&r);
	assert_true(nread < 4 * MB);

	add_frame(&b, "x\n", 2);
	put(&b);
	assert_int_equal(truncate(file, (off_t)5 << 30), 0);
	nread = 0;
	assert_int_equal(log_frames_open(&f, file, NULL, &err), 0);
	assert_int_equal(log_frames_next_line(f, &line, &after, &err), 1);
	assert_int_equal(log_frames_next_line(f, &line, &after, &err), 0);
	log_frames_close(&f);
	assert_true(nread < 4 * MB);
	buf_release(&b);
	sys_install(NULL);
}

/* A list looks at the first frame only: not at gigabytes behind it when it is none. */
static void test_head(void **state)
{
	struct buf text = { 0 };

	(void)state;
	temp_puts(file, "no frame");
	assert_int_equal(truncate(file, (off_t)1 << 30), 0);
	count_reads(false);
	assert_int_not_equal(log_frames_head(file, MB, &text, &err), 0);
	assert_true(nread < 8 * MB + SLACK);
	sys_install(NULL);
	buf_release(&text);
}

/* Looking again in the middle of a long line goes back to its beginning. */
static void test_refresh(void **state)
{
	enum log_change change;
	struct log_reader *r;
	struct log_line line;
	struct buf b = { 0 };

	(void)state;
	buf_adds(&b, "a\n");
	add_noise(&b, 5 * MB, 9);
	put(&b);
	r = open_reader();
	log_set_pause(r, MB);
	expect_line(r, "a", 0, 1, true);
	assert_int_equal(log_next_line(r, &line, &err), LOG_PAUSED);
	temp_adds(file, "z\n");
	assert_int_equal(log_reader_refresh(r, &change, &err), 0);
	assert_int_equal(change, LOG_GREW);
	while (log_next_line(r, &line, &err) == LOG_PAUSED)
		;
	assert_int_equal(line.off, 2);
	assert_int_equal(line.n, 5 * MB + 1);
	assert_int_equal(line.number, 2);
	assert_true(line.ended);
	log_reader_close(&r);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_raw),
		FIXTURE_TEST(test_frames),
		FIXTURE_TEST(test_holes),
		FIXTURE_TEST(test_head),
		FIXTURE_TEST(test_refresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
