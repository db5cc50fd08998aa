/* page-check.c - see the header. Widths and safety are computed anew from base/text.h. */
#include "config.h"

#include "tests/lib/page-check.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"

static const char letters[ROLE_COUNT][3] = {
	[ROLE_STRONG] = "st",
	[ROLE_DIM] = "di",
	[ROLE_ID] = "id",
	[ROLE_EVENT] = "ev",
	[ROLE_TOOL] = "to",
	[ROLE_DAMAGE] = "da",
	[ROLE_CONTROL] = "ct",
	[ROLE_HEADING] = "he",
	[ROLE_EMPH] = "em",
	[ROLE_STRIKE] = "sk",
	[ROLE_QUOTE] = "qu",
	[ROLE_LINK] = "li",
	[ROLE_RULE] = "ru",
	[ROLE_CODE] = "co",
	[ROLE_CODE_KEYWORD] = "kw",
	[ROLE_CODE_STRING] = "cs",
	[ROLE_CODE_COMMENT] = "cc",
	[ROLE_CODE_NUMBER] = "cn",
	[ROLE_DIFF_ADD] = "+a",
	[ROLE_DIFF_DEL] = "-d",
	[ROLE_DIFF_HUNK] = "@h",
	[ROLE_DIFF_FILE] = "ff",
	[ROLE_JSON_KEY] = "jk",
	[ROLE_JSON_STRING] = "js",
	[ROLE_JSON_NUMBER] = "jn",
};

void page_dump(const struct page *p, struct buf *out)
{
	buf_clear(out);
	for (size_t i = 0; i < p->nlines; i++) {
		const struct page_line *line = &p->lines[i];

		for (size_t k = 0; k < line->nspans; k++) {
			const struct span *span = &p->spans[line->first + k];
			const char *name = letters[span->role];

			if (span->role != ROLE_NORMAL)
				buf_printf(out, "{%s ", *name ? name : "??");
			buf_add(out, p->text.p + span->off, span->n);
			if (span->role != ROLE_NORMAL)
				buf_addc(out, '}');
		}
		buf_adds(out, line->is_soft ? "\\\n" : "\n");
	}
	buf_add(out, NULL, 0);
}

void page_visible(const struct page *p, struct buf *out)
{
	buf_clear(out);
	for (size_t i = 0; i < p->nlines; i++)
		for (size_t k = 0; k < p->lines[i].nspans; k++) {
			const struct span *span = &p->spans[p->lines[i].first + k];

			for (size_t j = 0; j < span->n; j++)
				if (p->text.p[span->off + j] != ' ')
					buf_addc(out, p->text.p[span->off + j]);
		}
	buf_add(out, NULL, 0);
}

static const char *span_fault(const struct page *p, const struct span *span, size_t *clusters)
{
	const char *s = p->text.p + span->off;
	struct text_cluster c;
	int width = 0;

	if ((size_t)span->off + span->n > p->text.n)
		return "a span ends behind the text";
	if (span->role >= ROLE_COUNT)
		return "no such role";
	for (size_t i = 0; i < span->n; i += c.src_n) {
		text_next(s + i, span->n - i, &c);
		if (c.kind != TEXT_PLAIN && !(c.kind == TEXT_CONTROL && c.n == 3 && c.width == 1))
			return "a control, a tab or a newline got through";
		if (c.n != c.src_n || memcmp(c.bytes, s + i, c.n) != 0)
			return "bytes that are not safe got through";
		width += c.width;
		++*clusters;
	}
	return width == span->width ? NULL : "a span's width is not that of its text";
}

const char *page_fault(const struct page *p)
{
	for (size_t i = 0; i < p->nlines; i++) {
		const struct page_line *line = &p->lines[i];
		size_t clusters = 0;
		int width = 0;

		if ((size_t)line->first + line->nspans > p->nspans)
			return "a line has spans that are not there";
		for (size_t k = 0; k < line->nspans; k++) {
			const char *fault = span_fault(p, &p->spans[line->first + k], &clusters);

			if (fault)
				return fault;
			width += p->spans[line->first + k].width;
		}
		if (width != line->width)
			return "a line's width is not the sum of its spans";
		if (p->wrap && width > p->width && clusters > 1)
			return "a line is wider than the page";
	}
	return NULL;
}

char *exact_copy(const char *s, size_t n)
{
	char *copy = xmalloc(n ? n : 1);

	if (n)
		memcpy(copy, s, n);
	return copy;
}
