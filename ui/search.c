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
	memset(s, 0, sizeof(*s));
}

int search_set(struct search *s, const char *pattern, struct err *err)
{
	uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF;
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
