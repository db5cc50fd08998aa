/*
 * search.c - compiling patterns, finding and marking hits, and the stepwise
 * walk over a view's lines. It knows lines only through the view's ops.
 */
#include "config.h"

#define PCRE2_CODE_UNIT_WIDTH 8

#include "ui/search.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "ui/internal.h"
#include "ui/view.h"

#define MATCH_LIMIT 200000 /* steps of the matcher on one line: a bad pattern must not hang the screen */

static bool has_capital(const char *s)
{
	for (; *s; s++) {
		if (*s == '\\' && s[1]) /* \W is not a capital */
			s++;
		else if (*s >= 'A' && *s <= 'Z')
			return true;
	}
	return false;
}

void search_release(struct search *s)
{
	pcre2_code_free(s->code);
	pcre2_match_data_free(s->data);
	pcre2_match_context_free(s->ctx);
	free(s->pattern);
	free(s->hits);
	memset(s, 0, sizeof(*s));
}

int search_set(struct search *s, const char *pattern, struct err *err)
{
	uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF |
			   PCRE2_MULTILINE; /* an id, a label and a content are lines of one text */
	PCRE2_UCHAR text[160];
	PCRE2_SIZE at;
	int code;
	pcre2_code *re;

	if (!*pattern) {
		search_release(s);
		return 0;
	}
	if (!has_capital(pattern))
		options |= PCRE2_CASELESS;
	re = pcre2_compile((PCRE2_SPTR)pattern, strlen(pattern), options, &code, &at, NULL);
	if (!re) {
		pcre2_get_error_message(code, text, sizeof(text));
		return err_set(err, ERR_USAGE, "pattern: %s at %zu", (const char *)text, (size_t)at);
	}
	pcre2_jit_compile(re, PCRE2_JIT_COMPLETE); /* without it matching is only slower */
	search_release(s);
	s->code = re;
	s->data = pcre2_match_data_create(1, NULL);
	s->ctx = pcre2_match_context_create(NULL);
	if (!s->data || !s->ctx)
		die("out of memory");
	pcre2_set_match_limit(s->ctx, MATCH_LIMIT);
	s->pattern = xstrdup(pattern);
	return 0;
}

static bool match_at(const struct search *s, const char *p, size_t n, size_t from, size_t *start,
	size_t *end)
{
	const PCRE2_SIZE *v;

	if (!s->code || pcre2_match(s->code, (PCRE2_SPTR)p, n, from, 0, s->data, s->ctx) < 0)
		return false;
	v = pcre2_get_ovector_pointer(s->data);
	*start = v[0];
	*end = v[1];
	return true;
}

bool search_matches(const struct search *s, const char *p, size_t n)
{
	size_t start, end;

	return match_at(s, p, n, 0, &start, &end);
}

void search_highlight(const struct search *s, struct rowbuf *rb, int from, int to)
{
	struct buf text = { 0 };
	uint32_t *cols = NULL;
	size_t at = 0, start, end;

	if (!s->code)
		return;
	row_bytes(rb, from, to, &text, &cols);
	while (at <= text.n && text.n > 0 && match_at(s, text.p, text.n, at, &start, &end)) {
		if (end > start)
			row_set_role(rb, (int)cols[start], (int)cols[end], ROLE_MATCH);
		at = end > start ? end : end + 1;
	}
	free(cols);
	buf_release(&text);
}

void search_start(struct view *v, int dir, bool from_here)
{
	struct search *s = &v->search;
	size_t n = view_count(v);

	s->is_running = s->code && n > 0;
	s->dir = dir;
	s->left = n;
	s->at = v->cursor;
	if (n > 0 && !from_here)
		s->at = dir > 0 ? (s->at + 1) % n : (s->at + n - 1) % n;
}

/* The bytes of a line that search looks at: the view's own, or those of the drawn row. */
static void line_text(struct view *v, size_t line, struct rowbuf *rb, struct buf *out)
{
	buf_clear(out);
	if (v->ops->search_text) {
		v->ops->search_text(v, line, out);
		return;
	}
	row_start(rb, 400, v->ui->draw.ascii);
	v->ops->draw_row(v, line, rb);
	row_bytes(rb, 0, rb->n, out, NULL);
}

/* ---- the count ---- */

static unsigned version_of(const struct view *v, bool in_pane)
{
	return in_pane ? v->pager.builds : view_version(v);
}

static bool is_counted(const struct view *v)
{
	const struct search *s = &v->search;

	return s->code && s->counted > 0 && s->version == version_of(v, s->in_pane);
}

static void count_begin(struct view *v, bool in_pane)
{
	struct search *s = &v->search;

	if (s->in_pane == in_pane && (s->is_counting || is_counted(v)))
		return;
	s->is_counting = true;
	s->in_pane = in_pane;
	s->nhits = s->counted = 0;
	s->version = version_of(v, in_pane);
}

bool search_count_step(struct view *v, unsigned budget_us)
{
	struct search *s = &v->search;
	uint64_t until = clock_mono_us() + budget_us;
	struct buf text = { 0 };
	struct rowbuf rb = { 0 };
	size_t n = s->in_pane ? v->pager.page.nlines : view_count(v);

	if (s->version != version_of(v, s->in_pane))
		s->is_counting = false; /* the lines are others now; the next hit counts again */
	while (s->is_counting) {
		if (s->counted >= n) {
			s->is_counting = false;
			break;
		}
		if (s->in_pane)
			pager_line_text(&v->pager, s->counted, &text);
		else
			line_text(v, s->counted, &rb, &text);
		if (text.n > 0 && search_matches(s, text.p, text.n)) {
			s->hits = xgrow(s->hits, &s->hits_cap, s->nhits + 1, sizeof(*s->hits));
			s->hits[s->nhits++] = s->counted;
		}
		s->counted++;
		if (clock_mono_us() >= until)
			break;
	}
	row_release(&rb);
	buf_release(&text);
	return s->is_counting;
}

/* Hits before a line. */
static size_t rank_of(const struct search *s, size_t line)
{
	size_t low = 0, high = s->nhits;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->hits[mid] < line)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void search_position(const struct view *v, struct bar *b)
{
	const struct search *s = &v->search;
	size_t line = s->in_pane ? s->pane_line : v->cursor, n, rank;
	const char *more;

	if (!is_counted(v) || s->in_pane != v->pane_focus)
		return;
	n = s->in_pane ? v->pager.page.nlines : view_count(v);
	more = s->counted < n || (s->in_pane && v->pager.page.more) ? "+" : "";
	rank = rank_of(s, line);
	if (rank < s->nhits && s->hits[rank] == line)
		bar_say(bar_right(b, 3), ROLE_LABEL, "match %zu of %zu%s", rank + 1, s->nhits,
			more);
	else
		bar_say(bar_right(b, 3), ROLE_LABEL, "%zu%s %s", s->nhits, more,
			s->nhits == 1 && !*more ? "match" : "matches");
}

bool search_in_pane(struct view *v, int dir)
{
	struct pager *p = view_pager(v);
	struct search *s = &v->search;
	size_t height = p->height > 0 ? (size_t)p->height : 1, from = p->top, line;

	/* the last hits of a page stand below its last top: go on from the one that is in sight */
	if (is_counted(v) && s->in_pane && s->pane_line >= p->top && s->pane_line - p->top < height)
		from = s->pane_line;
	line = pager_find(p, s, from, dir);
	if (line == SIZE_MAX)
		return false;
	pager_to(p, v, line);
	s->pane_line = line;
	count_begin(v, true);
	return true;
}

/* ---- the walk ---- */

bool search_step(struct view *v, unsigned budget_us)
{
	struct search *s = &v->search;
	uint64_t until = clock_mono_us() + budget_us;
	struct buf text = { 0 };
	struct rowbuf rb = { 0 };
	size_t n = view_count(v), from = v->cursor;

	while (s->is_running) {
		if (s->left == 0 || s->at >= n) {
			ui_error(v->ui, "not found: %s", s->pattern);
			s->is_running = false;
			break;
		}
		line_text(v, s->at, &rb, &text);
		if (text.n > 0 && search_matches(s, text.p, text.n)) {
			bool wrapped = s->dir > 0 ? s->at < from : s->at > from;
			view_set_cursor(v, s->at);
			v->moved = true;
			s->is_running = false;
			count_begin(v, false);
			if (wrapped)
				ui_say(v->ui, "search went on at the other end");
			break;
		}
		s->left--;
		s->at = s->dir > 0 ? (s->at + 1) % n : (s->at + n - 1) % n;
		if (clock_mono_us() >= until)
			break;
	}
	row_release(&rb);
	buf_release(&text);
	return s->is_running;
}
