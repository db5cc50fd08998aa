/*
 * page-diff.c - patches in colour, and telling one from other text. The counts
 * of a hunk's header say which lines belong to it, so a removed line that begins
 * with "--" is not taken for the name of a file.
 */
#include "config.h"

#include "ui/page.h"

#include <string.h>

enum { LOOK_LINES = 100, LOOK_BYTES = 16384 };

static const char *const file_marks[] = { "diff ", "index ", "--- ", "+++ ", "Index: ", "====",
	"rename ", "copy ", "similarity ", "dissimilarity ", "new file", "deleted file", "old mode",
	"new mode", "Binary files", "GIT binary", "*** " };

struct diff {
	uint64_t old_left, new_left; /* lines of this hunk that are still to come */
	bool loose;                  /* + and - count without a hunk's counts */
};

/* Digits at *s; false when there are none. Too many digits count as a lot. */
static bool number(struct str *s, uint64_t *out)
{
	size_t i = 0;

	for (*out = 0; i < s->n && s->p[i] >= '0' && s->p[i] <= '9'; i++)
		if (*out < UINT32_MAX)
			*out = *out * 10 + (uint64_t)(s->p[i] - '0');
	s->p += i;
	s->n -= i;
	return i > 0;
}

static bool skip(struct str *s, const char *with)
{
	if (!str_starts(*s, with))
		return false;
	s->p += strlen(with);
	s->n -= strlen(with);
	return true;
}

/* "12" or "12,3": only the count matters, which is 1 where it is not written. */
static bool range(struct str *s, uint64_t *count)
{
	uint64_t start;

	if (!number(s, &start))
		return false;
	*count = 1;
	return !skip(s, ",") || number(s, count);
}

/* "@@ -1,2 +3,4 @@ anything" */
static bool hunk_header(struct str line, uint64_t *old_n, uint64_t *new_n)
{
	return skip(&line, "@@ -") && range(&line, old_n) && skip(&line, " +") &&
	       range(&line, new_n) && skip(&line, " @@");
}

static bool is_file_mark(struct str line)
{
	for (size_t i = 0; i < sizeof(file_marks) / sizeof(file_marks[0]); i++)
		if (str_starts(line, file_marks[i]))
			return true;
	return false;
}

/* A line of a hunk; false when the hunk is over. */
static bool hunk_line(struct diff *d, struct str line, enum role *role)
{
	char mark = line.n ? line.p[0] : ' ';

	if (mark == '\\') {
		*role = ROLE_DIM;
		return true;
	}
	if (mark == '+' && d->new_left) {
		d->new_left--;
		*role = ROLE_DIFF_ADD;
	} else if (mark == '-' && d->old_left) {
		d->old_left--;
		*role = ROLE_DIFF_DEL;
	} else if ((mark == ' ' || mark == '\r') && d->old_left && d->new_left) {
		d->old_left--;
		d->new_left--;
		*role = ROLE_CODE;
	} else {
		d->old_left = d->new_left = 0;
		return false;
	}
	return true;
}

static enum role line_role(struct diff *d, struct str line)
{
	enum role role;

	if (hunk_line(d, line, &role))
		return role;
	if (str_starts(line, "@@")) {
		d->loose = !hunk_header(line, &d->old_left, &d->new_left) || d->loose;
		return ROLE_DIFF_HUNK;
	}
	if (is_file_mark(line)) {
		d->loose = d->loose || str_starts(line, "*** ");
		return ROLE_DIFF_FILE;
	}
	if (d->loose && str_starts(line, "+"))
		return ROLE_DIFF_ADD;
	if (d->loose && str_starts(line, "-"))
		return ROLE_DIFF_DEL;
	return ROLE_CODE;
}

/* The line at s without its newline; *all counts the newline too. */
static struct str line_at(const char *s, size_t n, size_t *all)
{
	const char *end = memchr(s, '\n', n);
	struct str line = { s, end ? (size_t)(end - s) : n };

	*all = line.n + (end != NULL);
	return line;
}

void page_diff_text(struct page *p, const char *s, size_t n, bool loose)
{
	struct diff d = { .loose = loose };
	size_t all;

	for (size_t i = 0; i < n; i += all) {
		struct str line = line_at(s + i, n - i, &all);

		page_text(p, line_role(&d, line), line.p, all);
	}
}

bool text_is_diff(const char *s, size_t n)
{
	struct str before = { "", 0 };
	uint64_t old_n, new_n;
	size_t all;

	if (n > LOOK_BYTES)
		n = LOOK_BYTES;
	for (size_t i = 0, lines = 0; i < n && lines < LOOK_LINES; i += all, lines++) {
		struct str line = line_at(s + i, n - i, &all);

		if (str_starts(line, "diff --git ") || str_starts(line, "*** Begin Patch") ||
			hunk_header(line, &old_n, &new_n) ||
			(str_starts(before, "--- ") && str_starts(line, "+++ ")))
			return true;
		before = line;
	}
	return false;
}
