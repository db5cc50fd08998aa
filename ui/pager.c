/*
 * pager.c - the pane with a page: when to build it, scrolling, drawing its
 * visible lines. What stands in it comes from the view.
 */
#include "config.h"

#include "ui/pager.h"

#include <string.h>

#include "ui/search.h"
#include "ui/view.h"

#define PAGER_LIMIT_MAX (256u << 20)

void pager_release(struct pager *p)
{
	if (p->is_built)
		page_release(&p->page);
	memset(p, 0, sizeof(*p));
}

void pager_stale(struct pager *p)
{
	if (p->is_built)
		page_release(&p->page);
	p->is_built = false;
}

static void build(struct pager *p, struct view *v, int width, bool wrap, bool ascii)
{
	pager_stale(p);
	page_init(&p->page, width, wrap, ascii);
	p->is_built = true;
	p->builds++;
	v->ops->fill_pane(v, &p->page, p->limit);
}

static size_t last_top(const struct pager *p)
{
	size_t height = p->height > 0 ? (size_t)p->height : 1;

	return p->page.nlines > height ? p->page.nlines - height : 0;
}

void pager_need(struct pager *p, struct view *v, uint64_t id, int width, bool wrap, bool ascii)
{
	if (width < 1)
		width = 1;
	if (p->is_built && p->id == id && p->page.width == width && p->page.wrap == wrap &&
	    p->page.ascii == ascii)
		return;
	if (p->id != id || p->limit == 0) {
		p->limit = PAGER_LIMIT;
		p->top = 0;
		p->left = 0;
	}
	p->id = id;
	build(p, v, width, wrap, ascii);
	if (p->top > last_top(p))
		p->top = last_top(p);
}

/* The end comes near and something was cut: decode four times as much. */
static void grow(struct pager *p, struct view *v, size_t want)
{
	while (p->is_built && p->page.more && p->limit < PAGER_LIMIT_MAX &&
	       want + 2 * (size_t)(p->height > 0 ? p->height : 1) >= p->page.nlines) {
		size_t before = p->page.nlines;
		p->limit *= 4;
		build(p, v, p->page.width, p->page.wrap, p->page.ascii);
		if (p->page.nlines == before)
			break;
	}
}

void pager_to(struct pager *p, struct view *v, size_t top)
{
	grow(p, v, top);
	p->top = top > last_top(p) ? last_top(p) : top;
}

void pager_scroll(struct pager *p, struct view *v, long by)
{
	if (by < 0)
		p->top = p->top > (size_t)-by ? p->top - (size_t)-by : 0;
	else
		pager_to(p, v, p->top + (size_t)by);
}

void pager_end(struct pager *p, struct view *v)
{
	size_t lines;

	do {
		lines = p->page.nlines;
		pager_to(p, v, lines);
	} while (p->page.nlines > lines);
}

void pager_shift(struct pager *p, int by)
{
	p->left += by;
	if (p->left < 0)
		p->left = 0;
}

void pager_draw_row(const struct pager *p, size_t line, struct rowbuf *out)
{
	const struct page_line *l;
	int skip = p->page.wrap ? 0 : p->left;

	if (!p->is_built || line >= p->page.nlines)
		return;
	l = &p->page.lines[line];
	for (uint32_t i = 0; i < l->nspans; i++) {
		const struct span *s = &p->page.spans[l->first + i];
		row_span(out, (enum role)s->role, p->page.text.p + s->off, s->n, &skip);
	}
}

void pager_line_text(const struct pager *p, size_t line, struct buf *out)
{
	const struct page_line *l = &p->page.lines[line];

	buf_clear(out);
	for (uint32_t k = 0; k < l->nspans; k++) {
		const struct span *sp = &p->page.spans[l->first + k];
		buf_add(out, p->page.text.p + sp->off, sp->n);
	}
}

size_t pager_find(struct pager *p, const struct search *s, size_t from, int dir)
{
	struct buf text = { 0 };
	size_t found = SIZE_MAX;

	for (size_t i = from + (size_t)dir; i < p->page.nlines; i += (size_t)dir) {
		pager_line_text(p, i, &text);
		if (text.n > 0 && search_matches(s, text.p, text.n)) {
			found = i;
			break;
		}
	}
	buf_release(&text);
	return found;
}
