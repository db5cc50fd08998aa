/*
 * pager.h - a page in a pane: scrolling, and decoding more when its end comes
 * near. The page itself is made by the view (view_ops.fill_pane).
 */
#ifndef BOUGH_UI_PAGER_H
#define BOUGH_UI_PAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ui/cell.h"
#include "ui/page.h"

#define PAGER_LIMIT (64u << 10) /* bytes of a text that are decoded at first */

struct view;
struct search;

struct pager {
	struct page page;
	bool is_built;
	uint64_t id;      /* of the line it was built for */
	size_t limit;
	size_t top;
	int left;         /* columns scrolled to the right, without wrapping */
	int height;       /* at the last drawing */
	unsigned builds;  /* how often the page was made */
};

void pager_release(struct pager *p);
void pager_stale(struct pager *p);  /* build it again, at the same place */
/* Build when needed for this line, size and setting. */
void pager_need(struct pager *p, struct view *v, uint64_t id, int width, bool wrap, bool ascii);
void pager_scroll(struct pager *p, struct view *v, long by);
void pager_to(struct pager *p, struct view *v, size_t top);
void pager_end(struct pager *p, struct view *v);
void pager_shift(struct pager *p, int by);
void pager_draw_row(const struct pager *p, size_t line, struct rowbuf *out);
void pager_line_text(const struct pager *p, size_t line, struct buf *out); /* instead of what is there */
/* The next line from `from` (excluded) in direction dir that matches; SIZE_MAX: none. */
size_t pager_find(struct pager *p, const struct search *s, size_t from, int dir);

#endif
