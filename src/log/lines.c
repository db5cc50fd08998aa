/*
 * lines.c - the raw line scanner: lines of a file through a window that moves
 * over it. Owns the window and nothing else; bytes come from log_pread(). A
 * line that fits no ordinary window is first measured, then read in one piece
 * of the right size; one over the limit is never held in memory at all.
 */
#include "config.h"

#include "log/internal.h"

#include <stdlib.h>
#include <string.h>

/* A file that is rewritten while a long line is read shall not keep us here. */
enum { LONG_LINE_TRIES = 4 };

void line_init(struct line_scan *ls)
{
	memset(ls, 0, sizeof(*ls));
	ls->number = 1;
	ls->first = LINE_WINDOW_FIRST;
	ls->max = LINE_WINDOW_MAX;
	ls->max_line = LOG_MAX_LINE;
}

void line_release(struct line_scan *ls)
{
	free(ls->win);
	ls->win = NULL;
	ls->cap = ls->n = ls->pos = 0;
}

/* Forgets the bytes: behind the seek the file may have changed. */
void line_seek(struct line_scan *ls, uint64_t off, uint64_t number)
{
	ls->win_off = off;
	ls->n = ls->pos = 0;
	ls->number = number;
	ls->is_measuring = false;
}

uint64_t line_off(const struct line_scan *ls)
{
	return ls->is_measuring ? ls->start : ls->win_off + ls->pos;
}

static int set_cap(struct line_scan *ls, size_t cap, struct err *err)
{
	char *p;

	if (cap == ls->cap)
		return 0;
	p = sys->realloc(ls->win, cap + LINE_SLACK);
	if (!p)
		return io_no_memory(err);
	ls->win = p;
	ls->cap = cap;
	return 0;
}

/* Fills the window behind its n bytes with at most `want` more. */
static int read_more(struct line_scan *ls, const struct log_reader *r, size_t want, struct err *err)
{
	size_t got;
	int rc = log_pread(r, ls->win_off + ls->n, ls->win + ls->n, want, &got, err);

	if (rc < 0)
		return rc;
	ls->n += got;
	ls->work += got;
	/* What stands behind the last byte is fixed: a newline, then NULs. */
	ls->win[ls->n] = '\n';
	memset(ls->win + ls->n + 1, 0, LINE_SLACK - 1);
	return 0;
}

/* After a long line the memory is given back, but not for every line of a few windows. */
static bool is_oversized(const struct line_scan *ls)
{
	return ls->cap / 4 > ls->max;
}

static size_t next_cap(const struct line_scan *ls)
{
	size_t cap = ls->cap ? 2 * ls->cap : ls->first;

	if (ls->cap >= ls->max && !is_oversized(ls))
		return ls->cap;
	return cap < ls->max ? cap : ls->max;
}

/* Moves what is left to the front and reads on; the window doubles up to its largest size. */
static int fill(struct line_scan *ls, const struct log_reader *r, uint64_t end, struct err *err)
{
	size_t have = ls->n - ls->pos, cap, want;
	uint64_t rest;
	int rc;

	if (have && ls->pos)
		memmove(ls->win, ls->win + ls->pos, have);
	ls->win_off += ls->pos;
	ls->pos = 0;
	ls->n = have;

	rest = end - ls->win_off;
	cap = next_cap(ls);
	if (cap > rest) /* a small file needs no large window */
		cap = (size_t)rest;
	if (cap > ls->cap || is_oversized(ls)) {
		rc = set_cap(ls, cap, err);
		if (rc < 0)
			return rc;
	}
	want = ls->cap - have;
	if (want > rest - have)
		want = (size_t)(rest - have);
	return read_more(ls, r, want, err);
}

static int give(struct line_scan *ls, struct log_line *line, size_t n, bool ended)
{
	line->too_long = n > ls->max_line;
	line->p = line->too_long ? NULL : ls->win + ls->pos;
	line->n = n;
	line->off = ls->win_off + ls->pos;
	line->number = ls->number++;
	line->ended = ended;
	ls->pos += n + ended;
	return 1;
}

/* There is no newline in a hole. */
static uint64_t pass_hole(struct line_scan *ls, const struct log_reader *r, uint64_t at, uint64_t end)
{
	uint64_t data = ls->win[ls->n - 1] == '\0' && at < end ? log_next_data(r, at) : at;

	if (data <= at)
		return at;
	ls->win_off = data < end ? data : end;
	ls->n = ls->pos = 0;
	return ls->win_off;
}

/*
 * Looks for the end of a line that fills the window, using the window as
 * scratch space: *stop is where its newline stands, or the end of the file.
 * LOG_PAUSED: it goes on behind the window.
 */
static int measure(struct line_scan *ls, const struct log_reader *r, uint64_t end, uint64_t *stop,
	bool *ended, struct err *err)
{
	uint64_t at = ls->win_off + ls->n, begun = ls->work;
	const char *nl = NULL;
	int rc;

	while (!nl && at < end) {
		if (ls->pause && ls->work - begun >= ls->pause)
			return LOG_PAUSED;
		ls->win_off = at;
		ls->n = ls->pos = 0;
		rc = read_more(ls, r, end - at < ls->cap ? (size_t)(end - at) : ls->cap, err);
		if (rc < 0)
			return rc;
		if (ls->n == 0) /* shorter than it was */
			break;
		nl = memchr(ls->win, '\n', ls->n);
		at += nl ? (size_t)(nl - ls->win) : ls->n;
		if (!nl)
			at = pass_hole(ls, r, at, end);
	}
	*stop = at;
	*ended = nl != NULL;
	return 0;
}

/*
 * 1: the line was over the limit and has been given; 0: the window now begins
 * with the line and holds all of it; or LOG_PAUSED.
 */
static int long_line(struct line_scan *ls, const struct log_reader *r, uint64_t end,
	struct log_line *line, struct err *err)
{
	uint64_t start = line_off(ls), stop, n;
	bool ended;
	int rc = measure(ls, r, end, &stop, &ended, err);

	ls->is_measuring = rc == LOG_PAUSED;
	ls->start = start;
	if (rc == LOG_PAUSED)
		return rc;
	if (rc < 0) {
		line_seek(ls, start, ls->number);
		return rc;
	}
	n = stop - start;
	if (n > ls->max_line) {
		*line = (struct log_line){ .n = (size_t)n,
			.off = start,
			.number = ls->number++,
			.ended = ended,
			.too_long = true };
		/* The window holds the bytes around `stop`: go on right there. */
		ls->pos = (size_t)(stop - ls->win_off) + ended;
		return 1;
	}
	line_seek(ls, start, ls->number);
	n += ended;
	if (n > ls->cap) {
		rc = set_cap(ls, (size_t)n, err);
		if (rc < 0)
			return rc;
	}
	return read_more(ls, r, (size_t)n, err);
}

int line_next(
	struct line_scan *ls, const struct log_reader *r, struct log_line *line, struct err *err)
{
	uint64_t end = log_reader_id(r)->size;
	size_t scanned = 0;
	int rc = 0, tries = 0;

	if (ls->is_measuring)
		rc = long_line(ls, r, end, line, err);
	if (rc != 0)
		return rc;
	for (;;) {
		size_t have = ls->n - ls->pos, before = have;
		const char *nl = NULL;

		if (have > scanned) /* else there may be no window yet */
			nl = memchr(ls->win + ls->pos + scanned, '\n', have - scanned);
		if (nl)
			return give(ls, line, (size_t)(nl - ls->win) - ls->pos, true);
		scanned = have;
		if (ls->win_off + ls->n >= end)
			return have ? give(ls, line, have, false) : 0;
		if (have < ls->max) {
			rc = fill(ls, r, end, err);
		} else {
			if (++tries > LONG_LINE_TRIES)
				return err_set(
					err, ERR_CHANGED, "the file changes while it is read");
			scanned = before = 0;
			rc = long_line(ls, r, end, line, err);
		}
		if (rc != 0)
			return rc;
		have = ls->n - ls->pos;
		if (have == before) /* the file is shorter than it was */
			return have ? give(ls, line, have, false) : 0;
	}
}
