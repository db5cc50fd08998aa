/*
 * t-frames.c - logs of zstd frames: lines across frames, every way in which a
 * frame can be cut or damaged, the caps, reading back, and appending.
 */
#include "config.h"

#include "tests/log/fixture.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#include "log/frames.h"

static struct buf bytes; /* the file being made */

static int setup(void **state)
{
	buf_clear(&bytes);
	return fixture_setup(state);
}

static int teardown(void **state)
{
	buf_release(&bytes);
	return fixture_teardown(state);
}
#define FRAMES_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static size_t add(const char *text)
{
	size_t before = bytes.n;

	assert_int_equal(log_frame_encode(&bytes, text, strlen(text), &err), 0);
	return before;
}

static struct log_frames *open_frames(const struct log_frames_caps *caps)
{
	struct log_frames *f;

	temp_put(file, bytes.p ? bytes.p : "", bytes.n);
	if (log_frames_open(&f, file, caps, &err) < 0)
		fail_msg("%s", err.text);
	return f;
}

static void line_is(struct log_frames *f, const char *text, uint64_t off, bool ended, bool damage)
{
	struct log_line line;
	bool after;

	assert_int_equal(log_frames_next_line(f, &line, &after, &err), 1);
	assert_int_equal(line.n, strlen(text));
	assert_memory_equal(line.p, text, line.n);
	assert_int_equal(line.p[line.n], '\n');
	assert_int_equal(line.off, off);
	assert_int_equal(line.ended, ended);
	assert_int_equal(after, damage);
}

static struct log_frames_end end_is(struct log_frames *f, enum log_frames_state state)
{
	struct log_frames_end end;
	struct log_line line;
	bool after;

	assert_int_equal(log_frames_next_line(f, &line, &after, &err), 0);
	assert_int_equal(log_frames_next_line(f, &line, &after, &err), 0);
	log_frames_end(f, &end);
	assert_int_equal(end.state, state);
	return end;
}

static void test_lines(void **state)
{
	struct log_frames_end end;
	struct log_frames *f;
	const struct log_frame *index;
	char back[64];
	size_t n, got, second;

	(void)state;
	add("head\n");
	second = add("one\ntw");
	add("");
	add("o\nthree\n");
	f = open_frames(NULL);
	line_is(f, "head", 0, true, false);
	line_is(f, "one", 5, true, false);
	line_is(f, "two", 9, true, false);
	line_is(f, "three", 13, true, false);
	end = end_is(f, FRAMES_WHOLE);
	assert_int_equal(end.committed, bytes.n);
	assert_int_equal(end.text, 19);
	index = log_frames_index(f, &n);
	assert_int_equal(n, 4);
	assert_int_equal(index[1].off, second);
	assert_int_equal(index[1].text_off, 5);
	assert_int_equal(index[1].text_len, 6);
	assert_int_equal(index[2].text_len, 0);
	for (size_t off = 0; off <= 19; off++) {
		assert_int_equal(log_frames_pread(f, off, back, sizeof(back), &got, &err), 0);
		assert_int_equal(got, 19 - off);
		assert_memory_equal(back, &"head\none\ntwo\nthree\n"[off], got);
	}
	log_frames_close(&f);
}

static void test_encode_is_like_node(void **state)
{
	(void)state;
	add("{\"type\":\"session\"}\n");
	/* checksum flag, no content size, window of 2 MB */
	assert_memory_equal(bytes.p, "\x28\xB5\x2F\xFD\x04\x58", 6);
	assert_int_equal(ZSTD_getFrameContentSize(bytes.p, bytes.n), ZSTD_CONTENTSIZE_UNKNOWN);
}

static void test_empty(void **state)
{
	struct log_frames *f = open_frames(NULL);

	(void)state;
	end_is(f, FRAMES_WHOLE);
	log_frames_close(&f);
}

/* Every cut: whole frames give their lines, what is left is torn at its start. */
static void test_cuts(void **state)
{
	struct buf whole = { 0 };
	size_t second, third;

	(void)state;
	add("a\n");
	second = add("b\nc\n");
	third = add("d\n");
	buf_add(&whole, bytes.p, bytes.n);
	for (size_t n = 0; n < whole.n; n++) {
		size_t start = n >= third ? third : n >= second ? second : 0;
		struct log_frames_end end;
		struct log_frames *f;

		bytes.n = n;
		f = open_frames(NULL);
		if (start >= second)
			line_is(f, "a", 0, true, false);
		if (start >= third) {
			line_is(f, "b", 2, true, false);
			line_is(f, "c", 4, true, false);
		}
		end = end_is(f, n == start ? FRAMES_WHOLE : FRAMES_TORN);
		assert_int_equal(end.committed, start);
		if (n != start) {
			assert_int_equal(end.off, start);
			assert_int_equal(end.length, n - start);
		}
		log_frames_close(&f);
	}
	buf_release(&whole);
}

/* Every flipped byte of the middle frame takes away that frame at most, and is noticed. */
static void test_flips(void **state)
{
	struct buf whole = { 0 };
	size_t second, third;

	(void)state;
	add("a\n");
	second = add("b\n");
	third = add("c\n");
	buf_add(&whole, bytes.p, bytes.n);
	for (size_t at = second; at < third; at++) {
		struct log_frames_end end;
		struct log_frames *f;
		struct log_line line;
		bool after;

		buf_clear(&bytes);
		buf_add(&bytes, whole.p, whole.n);
		bytes.p[at] ^= 0x20;
		f = open_frames(NULL);
		line_is(f, "a", 0, true, false);
		assert_int_equal(log_frames_next_line(f, &line, &after, &err), 1);
		if (line.p[0] ==
			'b') { /* a bit that changes nothing that is checked: the window size */
			assert_int_equal(at, second + 5);
			line_is(f, "c", 4, true, false);
			end_is(f, FRAMES_WHOLE);
		} else {
			if (line.p[0] != 'c' || !after)
				fail_msg("byte %zu: %c %d", at - second, line.p[0], after);
			assert_true(after);
			end = end_is(f, FRAMES_CORRUPT);
			assert_int_equal(end.off, second);
			assert_int_equal(end.length, third - second);
			assert_int_equal(end.committed, second);
			assert_int_equal(end.text, 2);
		}
		log_frames_close(&f);
	}
	buf_release(&whole);
}

static void test_skippable_and_garbage(void **state)
{
	static const char skip[] = "\x53\x2A\x4D\x18\x03\0\0\0xyz";
	struct log_frames_end end;
	struct log_frames *f;
	size_t at;

	(void)state;
	at = add("a\n");
	at = bytes.n;
	buf_add(&bytes, skip, sizeof(skip) - 1);
	add("b\n");
	buf_adds(&bytes, "no frame at all");
	f = open_frames(NULL);
	line_is(f, "a", 0, true, false);
	line_is(f, "b", 2, true, true);
	end = end_is(f, FRAMES_CORRUPT);
	assert_int_equal(end.off, at);
	assert_int_equal(end.length, sizeof(skip) - 1);
	assert_string_equal(end.reason, "a skippable frame stands there");
	log_frames_close(&f);
}

/* A record in two frames with damage between: the halves are not glued. */
static void test_damage_inside_a_line(void **state)
{
	struct log_frames *f;
	size_t at;

	(void)state;
	add("a\nfirst");
	at = add("lost");
	add("last\nb\n");
	bytes.p[at + 10] ^= 1;
	f = open_frames(NULL);
	line_is(f, "a", 0, true, false);
	line_is(f, "first", 2, false, false);
	line_is(f, "last", 7, true, true);
	line_is(f, "b", 12, true, false);
	end_is(f, FRAMES_CORRUPT);
	log_frames_close(&f);
}

/* Frames over the size that is decoded in one piece. */
static void test_large_frame(void **state)
{
	struct buf text = { 0 };
	struct log_frames *f;
	struct log_line line;
	char want[32], back[32];
	bool after;
	size_t got;

	(void)state;
	for (int i = 0; i < 700000; i++)
		buf_printf(&text, "line %06d\n", i);
	add("head\n");
	add(text.p);
	add("tail\n");
	f = open_frames(NULL);
	line_is(f, "head", 0, true, false);
	for (int i = 0; i < 700000; i++) {
		assert_int_equal(log_frames_next_line(f, &line, &after, &err), 1);
		snprintf(want, sizeof(want), "line %06d", i);
		assert_int_equal(line.n, 11);
		assert_memory_equal(line.p, want, 11);
	}
	line_is(f, "tail", 5 + text.n, true, false);
	end_is(f, FRAMES_WHOLE);
	for (int i = 699999; i >= 0; i -= 77777) {
		snprintf(want, sizeof(want), "line %06d\n", i);
		assert_int_equal(
			log_frames_pread(f, 5 + 12 * (uint64_t)i, back, 12, &got, &err), 0);
		assert_int_equal(got, 12);
		assert_memory_equal(back, want, 12);
	}
	assert_int_equal(log_frames_pread(f, 5 + text.n - 3, back, 8, &got, &err), 0);
	assert_int_equal(got, 8);
	assert_memory_equal(back, "99\ntail\n", 8);
	log_frames_close(&f);
	buf_release(&text);
}

/* Half a gigabyte of zeros in 17 KB. */
static void test_caps(void **state)
{
	const struct log_frames_caps small = { .frame_text = 1 << 20 }, few = { .text = 3 };
	struct log_frames_end end;
	struct log_frames *f;
	struct log_line line;
	ZSTD_CCtx *cctx = ZSTD_createCCtx();
	char *zeros = calloc(1, 8 << 20);
	ZSTD_inBuffer in = { zeros, 0, 0 };
	ZSTD_outBuffer out;
	size_t bomb;
	bool after;

	(void)state;
	add("a\n");
	bomb = bytes.n;
	buf_reserve(&bytes, 1 << 20);
	out = (ZSTD_outBuffer){ bytes.p + bytes.n, 1 << 20, 0 };
	for (int i = 0; i < 64; i++) {
		in = (ZSTD_inBuffer){ zeros, 8 << 20, 0 };
		ZSTD_compressStream2(cctx, &out, &in, i == 63 ? ZSTD_e_end : ZSTD_e_continue);
	}
	bytes.n += out.pos;
	assert_true(out.pos < 100000);
	add("\nb\n");
	f = open_frames(&small);
	line_is(f, "a", 0, true, false);
	assert_int_equal(log_frames_next_line(f, &line, &after, &err), 1);
	assert_true(line.n <= (1 << 20) + (256 << 10));
	line_is(f, "", 2 + line.n, true, true);
	line_is(f, "b", 3 + line.n, true, false);
	end = end_is(f, FRAMES_CORRUPT);
	assert_int_equal(end.off, bomb);
	log_frames_close(&f);

	buf_clear(&bytes);
	add("a\nb\n");
	add("c\n");
	f = open_frames(&few);
	line_is(f, "a", 0, true, false);
	line_is(f, "b", 2, true, false);
	end_is(f, FRAMES_CORRUPT);
	log_frames_close(&f);
	ZSTD_freeCCtx(cctx);
	free(zeros);
}

static void test_recover(void **state)
{
	struct buf noise = { 0 }, text = { 0 };
	struct log_frames *f;
	unsigned seed = 7;
	size_t second;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		seed = seed * 1103515245 + 12345;
		buf_addc(&noise, (char)('a' + (seed >> 16) % 26));
	}
	add("a\n");
	second = add(noise.p);
	bytes.n -= 2; /* in the checksum: all of the text is there */
	f = open_frames(NULL);
	line_is(f, "a", 0, true, false);
	end_is(f, FRAMES_TORN);
	assert_int_equal(log_frames_recover(f, &text, &err), 0);
	assert_int_equal(text.n, noise.n);
	assert_memory_equal(text.p, noise.p, noise.n);
	log_frames_close(&f);

	bytes.n = second + (bytes.n - second) * 2 / 3; /* one block of three is whole */
	f = open_frames(NULL);
	line_is(f, "a", 0, true, false);
	end_is(f, FRAMES_TORN);
	buf_clear(&text);
	assert_int_equal(log_frames_recover(f, &text, &err), 0);
	assert_int_equal(text.n, 128 << 10);
	assert_memory_equal(text.p, noise.p, text.n);
	log_frames_close(&f);

	bytes.n = second + 3;
	f = open_frames(NULL);
	line_is(f, "a", 0, true, false);
	end_is(f, FRAMES_TORN);
	buf_clear(&text);
	assert_int_equal(log_frames_recover(f, &text, &err), 0);
	assert_int_equal(text.n, 0);
	log_frames_close(&f);
	buf_release(&noise);
	buf_release(&text);
}

/* A torn frame is completed by growth; an append goes behind the last whole one. */
static void test_growth(void **state)
{
	struct log_append_info info;
	enum log_change change;
	struct log_frames *f;
	struct log *log;
	size_t second, whole;

	(void)state;
	add("a\n");
	second = add("b\n");
	whole = bytes.n;
	bytes.n -= 3;
	f = open_frames(NULL);
	line_is(f, "a", 0, true, false);
	end_is(f, FRAMES_TORN);
	bytes.n = whole;
	temp_put(file, bytes.p, bytes.n);
	assert_int_equal(log_frames_refresh(f, &change, &err), 0);
	assert_int_equal(change, LOG_GREW);
	line_is(f, "b", 2, true, false);
	end_is(f, FRAMES_WHOLE);

	buf_clear(&bytes);
	add("c\n");
	log = open_log(0);
	assert_int_equal(log_append_bytes(log, whole, bytes.p, bytes.n, &info, &err), 0);
	assert_int_equal(info.off, whole);
	assert_int_equal(
		log_append_bytes(log, whole + bytes.n, bytes.p, 0, &info, &err), ERR_USAGE);
	log_close(&log);
	assert_int_equal(log_frames_refresh(f, &change, &err), 0);
	line_is(f, "c", 4, true, false);
	end_is(f, FRAMES_WHOLE);

	log_reader_let_go(log_frames_reader(f));
	log = open_log(0); /* behind the first frame: the rest goes aside */
	assert_int_equal(log_append_bytes(log, second, bytes.p, bytes.n, &info, &err), 0);
	assert_true(info.torn_bytes > 0);
	log_close(&log);
	log_reader_take_up(log_frames_reader(f));
	assert_int_equal(log_frames_refresh(f, &change, &err), 0);
	assert_int_equal(change, LOG_REWRITTEN);
	line_is(f, "a", 0, true, false);
	line_is(f, "c", 2, true, false);
	end_is(f, FRAMES_WHOLE);
	log_frames_close(&f);
}

/* Frames that a thread decodes ahead: the same lines, damage and sizes as without one. */
static void add_noise(struct buf *all, size_t lines, unsigned *seed)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < lines; i++) {
		for (int k = 0; k < 80; k++) {
			*seed = *seed * 1103515245 + 12345;
			buf_addc(&text, (char)('!' + (*seed >> 16) % 90));
		}
		buf_addc(&text, '\n');
	}
	buf_addstr(all, (struct str){ text.p, text.n });
	add(text.p);
	buf_release(&text);
}

static unsigned started; /* threads */

static int counting_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	started++;
	return sys_real.thread(thread, run, arg);
}

static int no_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	(void)thread;
	(void)run;
	(void)arg;
	return EAGAIN;
}

/* Everything that a log gives, as one text. */
static void dump(struct buf *out)
{
	struct log_frames *f = open_frames(NULL);
	struct log_frames_end end;
	struct log_line line;
	char back[16];
	bool after;
	size_t got;
	int rc;

	while ((rc = log_frames_next_line(f, &line, &after, &err)) == 1) {
		buf_printf(out, "%llu %llu %d %d ", (unsigned long long)line.off,
			(unsigned long long)line.number, line.ended, after);
		buf_add(out, line.p, line.n);
		buf_addc(out, '\n');
		if (line.number % 500)
			continue;
		/* going back decodes beside the thread */
		assert_int_equal(
			log_frames_pread(f, line.off / 2, back, sizeof(back), &got, &err), 0);
		buf_add(out, back, got);
	}
	assert_int_equal(rc, 0);
	log_frames_end(f, &end);
	buf_printf(out, "end %d %llu %llu %llu %llu %s\n", end.state, (unsigned long long)end.off,
		(unsigned long long)end.length, (unsigned long long)end.committed,
		(unsigned long long)end.text, end.reason ? end.reason : "");
	log_frames_close(&f);
}

/* With a thread, and where none can be had, a log says the same. */
static void is_same_both_ways(unsigned least)
{
	struct sys table = sys_real;
	struct buf with = { 0 }, without = { 0 };

	started = 0;
	table.thread = counting_thread;
	sys_install(&table);
	dump(&with);
	table.thread = no_thread;
	dump(&without);
	sys_install(NULL);
	assert_true(started >= least);
	assert_int_equal(with.n, without.n);
	assert_memory_equal(with.p, without.p, with.n);
	buf_release(&with);
	buf_release(&without);
}

enum { LARGE = 60, SMALL = 120 };

static void test_ahead(void **state)
{
	unsigned seed = 5;
	struct buf all = { 0 };
	size_t at[SMALL + 1], n;

	(void)state;
	add("head\n");
	for (int i = 0; i <= SMALL; i++) {
		at[i] = bytes.n;
		/* one larger than a batch, and than what is decoded in one piece */
		add_noise(&all, i == LARGE ? 80000 : 500, &seed);
	}
	n = bytes.n;
	assert_true(n > 8 << 20);
	is_same_both_ways(1);
	bytes.n = n - 5; /* torn */
	is_same_both_ways(1);
	bytes.n = n;
	for (int i = 20; i <= LARGE; i += 20) {
		bytes.p[at[i] + 5000] ^= 1;
		is_same_both_ways(1);
		bytes.p[at[i] + 5000] ^= 1;
	}
	bytes.p[at[LARGE + 1] - 1] ^= 1; /* only the checksum of the large one */
	is_same_both_ways(1);
	buf_release(&all);
}

static size_t count_tasks(void)
{
	struct dirent **names = NULL;
	int n = scandir("/proc/self/task", &names, NULL, NULL);

	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return n < 0 ? 0 : (size_t)n;
}

/* A thread that was joined may still be listed for a moment. */
static void assert_alone(void)
{
	struct timespec pause = { .tv_nsec = 1000000 };

	/* ".", ".." and this one; none where there is no such folder */
	for (int i = 0; i < 5000 && count_tasks() > 3; i++)
		nanosleep(&pause, NULL);
	assert_true(count_tasks() <= 3);
}

/* Closed, or looked at again, at any place. */
static void test_ahead_stops(void **state)
{
	unsigned seed = 7;
	struct buf all = { 0 };

	(void)state;
	assert_alone();
	add("head\n");
	buf_adds(&all, "head\n");
	for (int i = 0; i < 120; i++)
		add_noise(&all, i == 10 ? 80000 : 500, &seed);
	for (size_t stop = 1; stop < 150000; stop *= 7) {
		struct log_frames *f = open_frames(NULL);
		enum log_change change;
		struct log_line line;
		size_t at;
		bool after;

		for (size_t i = 0; i < stop && log_frames_next_line(f, &line, &after, &err) == 1;)
			i++;
		if (stop % 2 == 0 || stop > 10000) {
			assert_int_equal(log_frames_refresh(f, &change, &err), 0);
			assert_int_equal(change, LOG_SAME);
			at = (size_t)(line.off + line.n + 1);
			assert_int_equal(log_frames_next_line(f, &line, &after, &err), 1);
			assert_int_equal(line.off, at);
			assert_memory_equal(line.p, all.p + at, line.n + 1);
		}
		log_frames_close(&f);
		assert_alone();
	}
	buf_release(&all);
}

/* Whatever call fails: an error or the same answer, never something else. */
static void test_faults(void **state)
{
	(void)state;
	add("a\n");
	add("b\n");
	temp_put(file, bytes.p, bytes.n);
	fake_install();
	for (unsigned call = 1; call < 200; call++) {
		struct log_frames *f = NULL;
		struct err why = { 0 };
		struct log_line line;
		size_t lines = 0;
		bool after;
		int rc;

		fake_plan(FAKE_ONCE, call, 5);
		rc = log_frames_open(&f, file, NULL, &why);
		while (rc >= 0 && (rc = log_frames_next_line(f, &line, &after, &why)) == 1)
			lines++;
		assert_true(rc < 0 || lines == 2);
		assert_true(rc == 0 || why.code < 0);
		fake_reset();
		log_frames_close(&f);
	}
	fake_remove();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FRAMES_TEST(test_lines),
		FRAMES_TEST(test_encode_is_like_node),
		FRAMES_TEST(test_empty),
		FRAMES_TEST(test_cuts),
		FRAMES_TEST(test_flips),
		FRAMES_TEST(test_skippable_and_garbage),
		FRAMES_TEST(test_damage_inside_a_line),
		FRAMES_TEST(test_large_frame),
		FRAMES_TEST(test_caps),
		FRAMES_TEST(test_recover),
		FRAMES_TEST(test_growth),
		FRAMES_TEST(test_ahead),
		FRAMES_TEST(test_ahead_stops),
		FRAMES_TEST(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
