/*
 * t-dsh-sweep.c - five logs, both encodings, cut at every length and with every
 * bit turned over: never an event that the whole log does not have unless a
 * problem says so, never fewer of them in silence, never the proposal to cut a
 * frame that is whole and not the last, and no crash. Prints what it counted.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "format/dsh/internal.h"
#include "tests/lib/temp.h"

/* One log, unharmed. */
struct sample {
	const char *name;
	char *bytes;
	size_t n;
	bool is_zstd;
	struct buf text;      /* its events, a line each */
	struct str *events;   /* by seq */
	size_t nevents;
	size_t *ends, nends;  /* of frames, or of lines with their newline */
	size_t *upto;         /* events up to there */
	bool *closes;         /* a line that holds a turn/end */
};

static char dir[TEMP_PATH], *path;
static struct {
	unsigned cuts, flips, wrong, silent, torn, fine, refused;
} count;

static bool collect(struct str lines, void *arg)
{
	buf_addstr(arg, lines);
	return true;
}

static struct session *load(void)
{
	struct session *s = NULL;
	struct err err = { 0 };
	int rc = format_dsh.open(path, &s, &err);

	while (rc >= 0 && (rc = format_dsh.step(s, 1000000, &err)) == 1)
		;
	if (rc < 0)
		fail_msg("%s", err.text);
	return s;
}

static void events_of(struct session *s, struct buf *out)
{
	struct err err = { 0 };

	buf_clear(out);
	if (s->ops->events(s, 0, 0, collect, out, &err) < 0)
		fail_msg("%s", err.text);
}

/* ---- the unharmed log ---- */

static void split_events(struct sample *sm)
{
	size_t cap = 0;

	for (size_t at = 0; at < sm->text.n;) {
		const char *nl = memchr(sm->text.p + at, '\n', sm->text.n - at);

		sm->events = xgrow(sm->events, &cap, sm->nevents + 1, sizeof(*sm->events));
		sm->events[sm->nevents++] =
			(struct str){ sm->text.p + at, (size_t)(nl - sm->text.p) - at };
		at = (size_t)(nl + 1 - sm->text.p);
	}
}

/* Lines with their newline: where each ends, and how many events stand before. */
static void find_lines(struct sample *sm)
{
	struct dsh_text text;
	struct dsh_rec r = { 0 };
	struct log_line line;
	size_t caps[3] = { 0 }, events = 0;
	bool after;

	assert_int_equal(text_open(&text, path, NULL), 0);
	while (text_next_line(&text, &line, &after, NULL) == 1) {
		sm->ends = xgrow(sm->ends, &caps[0], sm->nends + 1, sizeof(*sm->ends));
		sm->upto = xgrow(sm->upto, &caps[1], sm->nends + 1, sizeof(*sm->upto));
		sm->closes = xgrow(sm->closes, &caps[2], sm->nends + 1, sizeof(*sm->closes));
		rec_parse(&r, line.p, line.n);
		events += sm->nends ? r.count : 0;
		sm->ends[sm->nends] = line.off + line.n + 1;
		sm->upto[sm->nends] = events;
		sm->closes[sm->nends++] = r.state == REC_EVENT && r.type == T_TURN_END;
	}
	text_close(&text);
	rec_release(&r);
}

/* The same of frames, from the lines in them. */
static void find_frames(struct sample *sm, struct session *s)
{
	struct dsh_src *src = s->src;
	size_t n, line = 0;
	const struct log_frame *v = log_frames_index(src->text.zstd, &n);
	size_t *ends = xcalloc(n, sizeof(*ends)), *upto = xcalloc(n, sizeof(*upto));

	for (size_t k = 0; k < n; k++) {
		while (line < sm->nends && sm->ends[line] <= v[k].text_off + v[k].text_len)
			line++;
		ends[k] = v[k].off + v[k].len;
		upto[k] = line ? sm->upto[line - 1] : 0;
	}
	free(sm->ends);
	free(sm->upto);
	sm->ends = ends;
	sm->upto = upto;
	sm->nends = n;
}

static void sample_open(struct sample *sm, const char *name)
{
	char *from = xasprintf("%s/tests/format/dsh/%s", getenv("srcdir") ? getenv("srcdir") : ".",
		name);
	struct session *s;

	*sm = (struct sample){ .name = name };
	sm->bytes = temp_get(from, &sm->n);
	if (!sm->bytes)
		fail_msg("%s", from);
	free(from);
	sm->is_zstd = strcmp(name + strlen(name) - 5, ".zstd") == 0;
	free(path);
	temp_clear(dir); /* the other encoding beside it would be a problem */
	path = xasprintf("%s/session.jsonl%s", dir, sm->is_zstd ? ".zstd" : "");
	temp_put(path, sm->bytes, sm->n);
	s = load();
	assert_int_equal(s->problems.n, 0);
	events_of(s, &sm->text);
	split_events(sm);
	find_lines(sm);
	if (sm->is_zstd)
		find_frames(sm, s);
	session_free(&s);
	assert_int_equal(sm->ends[sm->nends - 1], sm->n);
	assert_int_equal(sm->upto[sm->nends - 1], sm->nevents);
}

static void sample_close(struct sample *sm)
{
	free(sm->bytes);
	free(sm->events);
	free(sm->ends);
	free(sm->upto);
	free(sm->closes);
	buf_release(&sm->text);
}

/* The frame or line that holds a byte. */
static size_t part_of(const struct sample *sm, size_t off)
{
	size_t k = 0;

	while (sm->ends[k] <= off)
		k++;
	return k;
}

/* ---- what a harmed log says ---- */

struct verdict {
	size_t nevents, nwrong;
	uint64_t first_wrong; /* seq */
	size_t nproblems;
	uint64_t torn; /* UINT64_MAX: nothing would be cut */
	uint32_t recovered;
};

/* An event is wrong when the whole log does not have it at this seq. */
static void judge_line(const struct sample *sm, struct str line, struct verdict *v)
{
	const char *at = memmem(line.p, line.n, "\"seq\":", 6);
	uint64_t seq = at ? strtoull(at + 6, NULL, 10) : UINT64_MAX;

	v->nevents++;
	if (seq < sm->nevents && str_eq(line, sm->events[seq]))
		return;
	if (!v->nwrong++)
		v->first_wrong = seq;
}

static struct verdict judge(const struct sample *sm)
{
	static struct buf text;
	struct session *s = load();
	struct dsh_src *src = s->src;
	struct verdict v = { .nproblems = s->problems.n, .torn = src->torn_start,
		.recovered = src->nrecovered };

	assert_true(s->committed <= s->size);
	events_of(s, &text);
	for (size_t at = 0; at < text.n;) {
		const char *nl = memchr(text.p + at, '\n', text.n - at);
		size_t n = (size_t)(nl - text.p) - at;

		judge_line(sm, (struct str){ text.p + at, n }, &v);
		at += n + 1;
	}
	session_free(&s);
	return v;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { CUT_STEP = 5, FLIP_STEP = 61 }; /* a load takes many times as long */
#else
enum { CUT_STEP = 1, FLIP_STEP = 3 };
#endif

static void test_cuts(struct sample *sm)
{
	for (size_t n = 0; n < sm->n; n += CUT_STEP) {
		size_t k = part_of(sm, n), start = k ? sm->ends[k - 1] : 0, whole = k ? sm->upto[k - 1] : 0;
		struct verdict v;

		temp_put(path, sm->bytes, n);
		v = judge(sm);
		count.cuts++;
		count.torn += v.torn != UINT64_MAX;
		if (v.nwrong)
			fail_msg("%s cut at %zu: event %d is another one", sm->name, n,
				(int)v.first_wrong);
		if (v.nevents != whole + v.recovered || (v.recovered && !sm->is_zstd))
			fail_msg("%s cut at %zu: %zu events, not %zu", sm->name, n, v.nevents, whole);
		if (k == 0) {
			if (!v.nproblems)
				fail_msg("%s cut at %zu: no header and no problem", sm->name, n);
		} else if (v.torn != (n > start ? start : UINT64_MAX) || !v.nproblems != (n == start)) {
			fail_msg("%s cut at %zu: would cut at %lld, not %zu", sm->name, n,
				(long long)v.torn, start);
		}
	}
}

static bool closes_behind(const struct sample *sm, size_t line)
{
	for (size_t k = line + 1; k < sm->nends; k++)
		if (sm->closes[k])
			return true;
	return false;
}

static void judge_flip(const struct sample *sm, size_t off, int bit)
{
	struct verdict v = judge(sm);
	size_t k = part_of(sm, off);
	bool is_own_line = !sm->is_zstd && k && v.nwrong && v.first_wrong >= sm->upto[k - 1] &&
		v.first_wrong + v.nwrong <= sm->upto[k];

	count.flips++;
	count.fine += !v.nproblems && !v.nwrong;
	count.refused += v.nproblems && v.torn == UINT64_MAX;
	count.torn += v.torn != UINT64_MAX;
	count.wrong += v.nwrong && v.nproblems;
	/* Lines have no checksum: another letter in one is another letter. */
	count.silent += v.nwrong && !v.nproblems && is_own_line;
	if (v.nwrong && !v.nproblems && !is_own_line)
		fail_msg("%s, bit %d of byte %zu: event %d is wrong in silence", sm->name, bit, off,
			(int)v.first_wrong);
	if (v.nevents != sm->nevents && !v.nproblems)
		fail_msg("%s, bit %d of byte %zu: %zu events in silence", sm->name, bit, off,
			v.nevents);
	if (v.torn == UINT64_MAX)
		return;
	if (sm->is_zstd && (k + 1 != sm->nends || v.torn != sm->ends[k - 1]))
		fail_msg("%s, bit %d of byte %zu: would cut whole frames at %llu", sm->name, bit, off,
			(unsigned long long)v.torn);
	/* A newline that is gone makes one line of two. */
	if (!sm->is_zstd && (v.torn < (k ? sm->ends[k - 1] : 0) ||
				    closes_behind(sm, k + (off + 1 == sm->ends[k]))))
		fail_msg("%s, bit %d of byte %zu: would cut closed turns at %llu", sm->name, bit, off,
			(unsigned long long)v.torn);
}

/* Of lines, of which there are many bytes, every third bit is enough for every day. */
static void test_flips(struct sample *sm)
{
	size_t step = getenv("BOUGH_LONG") || (sm->is_zstd && FLIP_STEP == 3) ? 1 : FLIP_STEP;

	for (size_t off = 0; off < sm->n; off++)
		for (int bit = 0; bit < 8; bit++) {
			if ((8 * off + (size_t)bit) % step)
				continue;
			sm->bytes[off] = (char)(sm->bytes[off] ^ 1 << bit);
			temp_put(path, sm->bytes, sm->n);
			judge_flip(sm, off, bit);
			sm->bytes[off] = (char)(sm->bytes[off] ^ 1 << bit);
		}
}

static void sweep(const char *name)
{
	struct sample sm;

	memset(&count, 0, sizeof(count));
	sample_open(&sm, name);
	test_cuts(&sm);
	test_flips(&sm);
	printf("%s: %zu bytes, %zu events; %u cuts, %u flips: %u fine, %u refused, %u torn; "
	       "%u wrong events with a problem, %u in lines without a checksum\n",
		name, sm.n, sm.nevents, count.cuts, count.flips, count.fine, count.refused,
		count.torn, count.wrong, count.silent);
	sample_close(&sm);
}

static void test_zstd(void **state)
{
	(void)state;
	sweep("interrupted-zstd/store/--srv-harbour-tides--/i-tools/session.jsonl.zstd");
	sweep("fork/store/--srv-harbour-tides--/child-1/session.jsonl.zstd");
	sweep("ranges-zstd/store/--srv-harbour-tides--/rng/session.jsonl.zstd");
}

static void test_raw(void **state)
{
	(void)state;
	sweep("chunk-runs/store/--srv-harbour-lamps--/s-runs/session.jsonl");
	sweep("ranges-raw/store/--srv-harbour-tides--/rng-int/session.jsonl");
}

static int setup(void **state)
{
	(void)state;
	temp_make(dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(path);
	temp_remove(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zstd),
		cmocka_unit_test(test_raw),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
