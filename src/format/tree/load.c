/*
 * load.c - a file of lines to objects, step by step: which bytes are entries,
 * which are problems, and where the committed part ends. The rules are those
 * of doc/formats.md, "tree". What an object says is read in entry.c; content is
 * not kept.
 */
#include "config.h"

#include "format/tree/internal.h"

#include <string.h>

#include "base/clock.h"

enum {
	CLOCK_LINES = 256,     /* the clock is asked after so many lines */
	CLOCK_BYTES = 1 << 20, /* or bytes */
	GUESS_ENTRIES = 1024   /* tell how many the whole file may hold */
};

/* A line, or what is left of it behind a byte order mark. */
struct piece {
	const char *p;
	size_t n;
	uint64_t off, number;
	bool ended;
};

/* ---- one line ---- */

/* How many whole objects stand at the front of a line with nothing between them. */
struct survey {
	size_t count, end; /* end: behind the last of them */
	bool is_all;       /* only white space follows */
	size_t error_at;   /* otherwise where and why it stops */
	const char *reason;
};

static void survey_line(const struct piece *at, struct survey *sv)
{
	struct json_scan scan;

	*sv = (struct survey){ 0 };
	for (;;) {
		if (json_scan(at->p + sv->end, at->n - sv->end, NULL, 0, &scan) != JSON_OK) {
			sv->error_at = sv->end + scan.error_at;
			sv->reason = scan.reason;
			return;
		}
		sv->count++;
		sv->end += scan.end;
		sv->is_all = json_is_blank(at->p + sv->end, at->n - sv->end);
		if (sv->is_all)
			return;
		if (at->p[sv->end] != '{') {
			sv->error_at = sv->end;
			sv->reason = "more follows the object";
			return;
		}
	}
}

static void take_objects(struct tree_loader *ld, const struct piece *at, const struct survey *sv)
{
	struct session *s = ld->s;
	struct json_scan scan;
	size_t pos = 0;

	if (sv->count > 1)
		problem_add(&s->problems, &s->arena, "glued", at->number, at->off, sv->end, ENTRY_NONE,
			"%zu entries stand on one line: the line ends between them are missing",
			sv->count);
	for (size_t i = 0; i < sv->count; i++) {
		json_scan(at->p + pos, at->n - pos, tree_keys, KEY_COUNT, &scan);
		tree_take_object(ld, at->p + pos, at->off + pos, at->number, &scan,
			sv->count > 1 ? ENTRY_DAMAGED : 0);
		pos += scan.end;
	}
}

/* A line that is not just one object. Returns how many of its bytes are committed. */
static size_t take_odd_line(struct tree_loader *ld, const struct piece *at)
{
	struct session *s = ld->s;
	struct survey sv;

	survey_line(at, &sv);
	if (sv.is_all) {
		take_objects(ld, at, &sv);
		return at->n;
	}
	if (at->ended) {
		problem_add(&s->problems, &s->arena, "bad-json", at->number, at->off, at->n, ENTRY_NONE,
			"not one JSON object: %s at byte %zu", sv.reason, sv.error_at + 1);
		return at->n;
	}
	take_objects(ld, at, &sv);
	problem_add(&s->problems, &s->arena, "torn-tail", at->number, at->off + sv.end, at->n - sv.end,
		ENTRY_NONE, "%zu byte%s after the last complete entry: %s at byte %zu", at->n - sv.end,
		plural(at->n - sv.end, "", "s"),
		sv.reason, sv.error_at - sv.end + 1);
	s->is_torn = true;
	return sv.end;
}

static size_t take_piece(struct tree_loader *ld, const struct piece *at)
{
	struct json_scan scan;

	switch (json_scan(at->p, at->n, tree_keys, KEY_COUNT, &scan)) {
	case JSON_END:
		return at->n;
	case JSON_OK:
		if (!json_is_blank(at->p + scan.end, at->n - scan.end))
			break;
		tree_take_object(ld, at->p, at->off, at->number, &scan, 0);
		return at->n;
	default:
		break;
	}
	return take_odd_line(ld, at);
}

static void take_line(struct tree_loader *ld, const struct log_line *line)
{
	struct session *s = ld->s;
	struct piece at = { line->p, line->n, line->off, line->number, line->ended };
	size_t committed = line->n;

	s->is_torn = false;
	if (line->too_long) {
		problem_add(&s->problems, &s->arena, "bad-json", line->number, line->off, line->n,
			ENTRY_NONE, "a line of %zu bytes; no more than %d are read", line->n,
			LOG_MAX_LINE);
	} else {
		if (line->off == 0 && line->n >= 3 && memcmp(line->p, "\xEF\xBB\xBF", 3) == 0) {
			at.p += 3;
			at.n -= 3;
			at.off += 3;
		}
		committed = (size_t)(at.off - line->off) + take_piece(ld, &at);
	}
	s->committed = line->off + committed + line->ended;
	s->size = line->off + line->n + line->ended;
}

/* ---- steps ---- */

static void finish(struct session *s)
{
	struct tree_src *src = s->src;

	session_link(s, true);
	problem_sort(&s->problems);
	s->is_complete = true;
	if (!src->was_complete) {
		src->was_complete = true;
		src->first_load = s->committed;
	}
}

/* A line without its newline can only be the last; remember how it was before. */
static void note_place(struct tree_loader *ld, const struct log_line *line)
{
	struct tree_src *src = ld->s->src;

	if (line->ended) {
		src->next_off = line->off + line->n + 1;
		src->next_line = line->number + 1;
		return;
	}
	tree_add_held(ld);
	session_mark(ld->s, line->off, &src->tail);
	src->tail_line = line->number;
	src->has_tail = true;
}

static void rewind_tail(struct session *s)
{
	struct tree_src *src = s->src;

	session_rewind(s, &src->tail);
	src->must_rewind = src->has_tail = false;
}

/* The first entries tell how large the rest are; what is reserved is not used before it is needed. */
static void reserve(struct session *s)
{
	struct tree_src *src = s->src;
	uint64_t size = tree_file(s)->size;

	if (src->has_guessed || s->n < GUESS_ENTRIES)
		return;
	src->has_guessed = true;
	session_reserve(s, (size_t)((double)s->n * 1.1 * ((double)size / (double)s->size)));
}

static void note_work(struct session *s)
{
	const struct tree_src *src = s->src;

	s->work = log_work(src->reader) + FORMAT_LINE_WORK * src->next_line;
}

static bool is_enough(struct session *s, uint64_t deadline)
{
	note_work(s);
	return (s->work_stop && s->work >= s->work_stop) || clock_mono_us() >= deadline;
}

/* 1: the budget is used up, 0: the end of the file, < 0: err. */
static int take_lines(struct session *s, uint64_t deadline, struct err *err)
{
	struct tree_src *src = s->src;
	struct tree_loader ld = { .s = s };
	struct log_line line;
	size_t lines = 0, bytes = 0;
	int rc;

	while ((rc = log_next_line(src->reader, &line, err)) == 1) {
		note_place(&ld, &line);
		take_line(&ld, &line);
		bytes += line.n;
		if (++lines % CLOCK_LINES && bytes < CLOCK_BYTES)
			continue;
		bytes = 0;
		reserve(s);
		if (is_enough(s, deadline))
			break;
	}
	tree_add_held(&ld);
	tree_loader_release(&ld);
	note_work(s);
	return rc == LOG_PAUSED ? 1 : rc;
}

int tree_step(struct session *s, unsigned budget_us, struct err *err)
{
	struct tree_src *src = s->src;
	uint64_t deadline = clock_mono_us() + budget_us;
	bool was_rewound = src->must_rewind;
	int rc;

	if (s->is_complete)
		return 0;
	if (was_rewound)
		rewind_tail(s);
	rc = take_lines(s, deadline, err);
	if (rc == 0)
		finish(s);
	else if (was_rewound || rc < 0)
		session_link(s, false);
	return rc;
}
