/*
 * bench.c - `bough --bench WHAT PATH`, the hidden command behind `make bench`:
 * does one job without a screen and prints its phases as JSON. It measures
 * the store from outside, as a screen would use it, and decides nothing.
 */
#include "config.h"

#include "cmd/bench.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/path.h"
#include "cmd/cmd.h"
#include "format/flow/flow.h"
#include "model/layout.h"
#include "store/store.h"

enum {
	SCREEN_ROWS = 60,
	PREVIEW = 200,        /* bytes of text that a row reads */
	STEP_US = 5000,       /* what a turn of the loop gives to jobs */
	FOLLOW_MS = 10000     /* follow gives up after this */
};

static long peak_rss_kb(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
}

static int fail(struct err *err)
{
	return cmd_complain(STATUS_IO, "%s", err->text);
}

/* What a screen does before it can show the first rows: the tree, then each row's words. */
static int draw_rows(struct session *s, struct err *err)
{
	struct layout layout;
	struct buf text = { 0 }, who = { 0 };
	uint32_t lines;
	int result = 0;

	layout_init(&layout);
	layout_build(&layout, s);
	lines = layout_lines(&layout);
	for (uint32_t line = 0; line < lines && line < SCREEN_ROWS && result == 0; line++) {
		buf_clear(&text);
		buf_clear(&who);
		result = s->ops->preview(s, layout_entry(&layout, line), PREVIEW, &text, &who, err);
	}
	buf_release(&text);
	buf_release(&who);
	layout_release(&layout);
	return result;
}

static int bench_index(const char *path)
{
	struct work *work = NULL;
	struct session *s;
	struct layout layout;
	struct err err = { 0 };
	uint64_t begin = clock_mono_us(), first = 0, loaded, laid_out;
	int more;

	if (work_open(&work, path, &err) < 0)
		return fail(&err);
	do {
		more = work_step(work, STEP_US, &err);
		s = work_session(work);
		if (more >= 0 && !first && (s->n >= SCREEN_ROWS || !more)) {
			if (draw_rows(s, &err) < 0)
				more = -1;
			first = clock_mono_us();
		}
	} while (more > 0);
	if (more < 0) {
		work_close(&work);
		return fail(&err);
	}
	loaded = clock_mono_us();
	layout_init(&layout);
	layout_build(&layout, s);
	laid_out = clock_mono_us();
	printf("{\"bytes\":%llu,\"entries\":%u,\"first_screen_us\":%llu,\"layout_us\":%llu,"
	       "\"load_us\":%llu,\"peak_rss_kb\":%ld,\"problems\":%zu,\"segments\":%u}\n",
		(unsigned long long)s->size, s->n, (unsigned long long)(first - begin),
		(unsigned long long)(laid_out - loaded), (unsigned long long)(loaded - begin),
		peak_rss_kb(), s->problems.n, layout.nsegs);
	layout_release(&layout);
	work_close(&work);
	return STATUS_DONE;
}

static int list(const char *path, bool is_brief)
{
	struct store *store = store_new();
	struct err err = { 0 };
	uint64_t begin = clock_mono_us(), first = 0;
	int more;

	if (is_brief)
		store_set_brief(store);
	if (store_add(store, path, &err) < 0) {
		store_free(&store);
		return fail(&err);
	}
	do {
		more = store_step(store, STEP_US, NULL);
		if (!first && (store_nrows(store) >= SCREEN_ROWS || !more))
			first = clock_mono_us();
	} while (more);
	printf("{\"first_rows_us\":%llu,\"load_us\":%llu,\"peak_rss_kb\":%ld,\"sessions\":%zu}\n",
		(unsigned long long)(first - begin), (unsigned long long)(clock_mono_us() - begin),
		peak_rss_kb(), store_nrows(store));
	store_free(&store);
	return STATUS_DONE;
}

static int bench_list(const char *path)
{
	return list(path, false);
}

static int bench_headers(const char *path)
{
	return list(path, true);
}

/* Says "ready", then the time (monotonic) at which one more entry had its row. */
static int bench_follow(const char *path)
{
	struct work *work = NULL;
	struct watch *watch = NULL;
	struct err err = { 0 };
	char *dir = path_dir(path);
	uint32_t before;
	int result = -1;

	if (work_open(&work, path, &err) < 0 || work_load(work, &err) < 0)
		goto out;
	watch = watch_new();
	if (watch_add(watch, dir) < 0) {
		err_set(&err, ERR_UNSUPPORTED, "cannot watch %s", dir);
		goto out;
	}
	before = work_session(work)->n;
	puts("ready");
	fflush(stdout);
	for (;;) {
		struct pollfd p = { .fd = watch_fd(watch), .events = POLLIN };
		enum work_change change;
		char said[200];

		if (poll(&p, 1, FOLLOW_MS) <= 0) {
			err_set(&err, ERR_NOTFOUND, "nothing was appended to %s", path);
			goto out;
		}
		if (!watch_drain(watch))
			continue;
		if (work_refresh(work, &change, said, &err) < 0 || work_load(work, &err) < 0)
			goto out;
		if (work_session(work)->n > before && draw_rows(work_session(work), &err) == 0)
			break;
	}
	printf("%llu\n", (unsigned long long)clock_mono_us());
	result = 0;
out:
	watch_free(&watch);
	work_close(&work);
	free(dir);
	return result < 0 ? fail(&err) : STATUS_DONE;
}

/* The fold as of one round after the other, back from the newest: what a slider does. */
static int bench_rounds(const char *path)
{
	struct flow_conversation *c;
	struct err err = { 0 };
	uint64_t worst = 0;
	uint32_t n;

	if (flow_open(&c, path, &err) < 0)
		return fail(&err);
	while (flow_step(c, STEP_US) == 1)
		;
	n = flow_folded(c);
	for (uint32_t i = 0; i <= 20 && i < n; i++) {
		struct flow_view view;
		struct flow_outline outline;
		uint64_t begin = clock_mono_us(), took;

		flow_view_make(&view, c, n - i);
		flow_outline_make(&outline, &view);
		took = clock_mono_us() - begin;
		worst = i > 0 && took > worst ? took : worst; /* the first one is a part of opening */
		flow_outline_release(&outline);
		flow_view_release(&view);
	}
	printf("{\"peak_rss_kb\":%ld,\"rounds\":%u,\"worst_us\":%llu}\n", peak_rss_kb(), n,
		(unsigned long long)worst);
	flow_close(&c);
	return STATUS_DONE;
}

int cmd_bench(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const char *path);
	} jobs[] = { { "index", bench_index }, { "list", bench_list },
		{ "headers", bench_headers }, { "follow", bench_follow },
		{ "rounds", bench_rounds } };

	for (size_t i = 0; argc == 2 && i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		if (!strcmp(argv[0], jobs[i].name))
			return jobs[i].run(argv[1]);
	}
	return cmd_complain(STATUS_USAGE, "usage: bough --bench index|list|headers|follow|rounds PATH");
}
