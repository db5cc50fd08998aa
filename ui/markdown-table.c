/*
 * markdown-table.c - tables: columns as wide as their widest cell, narrowed from
 * the widest on until the table fits, cells wrapped. Where that would leave less
 * than a few columns each, every row is written as "name: value" lines instead.
 */
#include "config.h"

#include "ui/markdown.h"

#include <cmark-gfm-core-extensions.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"

enum {
	SEP_COLS = 3,   /* " | " */
	CELL_MIN = 4,   /* a column is not drawn narrower, unless it needs no more */
	NAME_MAX_COLS = 24
};

struct column {
	int natural;      /* of its widest cell */
	int least;        /* of its widest cluster: it can not be narrower */
	int width;
	char align;       /* 'l', 'c', 'r', 0 */
	struct page cell; /* of the row being drawn */
};

struct table {
	struct md *m;
	cmark_node *node;
	struct column *v;
	size_t n;
	bool is_tall;     /* cells are wrapped: rows need a line between them */
};

static void draw_cell(struct table *t, struct page *page, cmark_node *cell, bool is_header)
{
	struct page *outer = t->m->p;

	page_clear(page);
	t->m->p = page;
	page_begin_par(page, "", "", ROLE_NORMAL);
	if (is_header)
		md_push_role(t->m, ROLE_STRONG);
	md_inlines(t->m, cell);
	if (is_header)
		md_pop_role(t->m);
	page_end_par(page);
	t->m->p = outer;
}

static void measure(struct table *t)
{
	struct page page;

	page_init(&page, 1, false, t->m->p->ascii);
	for (cmark_node *row = cmark_node_first_child(t->node); row; row = cmark_node_next(row)) {
		cmark_node *cell = cmark_node_first_child(row);

		for (size_t i = 0; i < t->n && cell; i++, cell = cmark_node_next(cell)) {
			if (!cmark_node_first_child(cell))
				continue;
			draw_cell(t, &page, cell, false);
			if (page.widest > t->v[i].least)
				t->v[i].least = page.widest;
			for (size_t k = 0; k < page.nlines; k++)
				if (page.lines[k].width > t->v[i].natural)
					t->v[i].natural = page.lines[k].width;
		}
	}
	page_release(&page);
}

static int column_under(const struct column *c, int cap)
{
	int width = c->natural < cap ? c->natural : cap;

	return width > c->least ? width : c->least;
}

static int64_t width_under(const struct table *t, int cap)
{
	int64_t sum = 0;

	for (size_t i = 0; i < t->n; i++)
		sum += column_under(&t->v[i], cap);
	return sum;
}

/* Sets the widths; false when the columns would be too narrow to read. */
static bool fit(struct table *t, int room)
{
	int low = CELL_MIN, high = room;

	if (width_under(t, CELL_MIN) > room)
		return false;
	while (low < high) { /* the widest column that still fits */
		int cap = low + (high - low + 1) / 2;

		if (width_under(t, cap) <= room)
			low = cap;
		else
			high = cap - 1;
	}
	room -= (int)width_under(t, low);
	for (size_t i = 0; i < t->n; i++) {
		struct column *c = &t->v[i];

		c->width = column_under(c, low);
		if (c->natural > c->width && room > 0) {
			c->width++;
			room--;
		}
		t->is_tall = t->is_tall || c->natural > c->width;
	}
	return true;
}

/* ---------------------------------------------------------------- as a grid */

static void grid_rule(struct table *t)
{
	struct page *p = t->m->p;

	md_begin_par(t->m);
	for (size_t i = 0; i < t->n; i++) {
		page_fill(p, ROLE_RULE, p->ascii ? "-" : "─", t->v[i].width + (i > 0));
		if (i + 1 < t->n) {
			page_fill(p, ROLE_RULE, p->ascii ? "-" : "─", 1);
			page_fill(p, ROLE_RULE, p->ascii ? "+" : "┼", 1);
		}
	}
	page_end_par(p);
}

/* Line k of a cell, padded to its column; nothing behind the last one. */
static void grid_cell(struct table *t, size_t i, size_t k)
{
	const struct column *c = &t->v[i];
	const struct page_line *line = k < c->cell.nlines ? &c->cell.lines[k] : NULL;
	int pad = c->width - (line ? line->width : 0);
	int left = c->align == 'r' ? pad : c->align == 'c' ? pad / 2 : 0;

	page_fill(t->m->p, ROLE_NORMAL, " ", left);
	for (size_t s = 0; line && s < line->nspans; s++)
		page_put(t->m->p, &c->cell, &c->cell.spans[line->first + s]);
	if (i + 1 < t->n)
		page_fill(t->m->p, ROLE_NORMAL, " ", pad - left);
}

static void grid_row(struct table *t, cmark_node *row, bool is_header)
{
	cmark_node *cell = cmark_node_first_child(row);
	size_t height = 1;

	for (size_t i = 0; i < t->n; i++, cell = cell ? cmark_node_next(cell) : NULL) {
		page_clear(&t->v[i].cell);
		if (cell && cmark_node_first_child(cell))
			draw_cell(t, &t->v[i].cell, cell, is_header);
		if (t->v[i].cell.nlines > height)
			height = t->v[i].cell.nlines;
	}
	for (size_t k = 0; k < height; k++) {
		md_begin_par(t->m);
		for (size_t i = 0; i < t->n; i++) {
			if (i)
				page_puts(t->m->p, ROLE_RULE, t->m->p->ascii ? " | " : " │ ");
			grid_cell(t, i, k);
		}
		page_end_par(t->m->p);
	}
}

static void grid(struct table *t)
{
	cmark_node *header = cmark_node_first_child(t->node);

	for (size_t i = 0; i < t->n; i++)
		page_init(&t->v[i].cell, t->v[i].width, t->m->p->wrap, t->m->p->ascii);
	for (cmark_node *row = header; row; row = cmark_node_next(row)) {
		grid_row(t, row, row == header);
		if (row == header || (t->is_tall && cmark_node_next(row)))
			grid_rule(t);
	}
	for (size_t i = 0; i < t->n; i++)
		page_release(&t->v[i].cell);
}

/* ---------------------------------------------------------------- as name: value lines */

static void put_name(struct table *t, size_t i)
{
	const struct page *name = &t->v[i].cell;
	int cols = 0;

	if (!name->nlines)
		return;
	for (size_t s = 0; s < name->lines[0].nspans && cols < NAME_MAX_COLS; s++) {
		const struct span *span = &name->spans[name->lines[0].first + s];
		const char *text = name->text.p + span->off;
		size_t fits = text_fit(text, span->n, NAME_MAX_COLS - cols, NULL, NULL);

		page_text(t->m->p, span->role, text, fits);
		cols += span->width;
	}
	page_puts(t->m->p, ROLE_RULE, cols > NAME_MAX_COLS ? "~: " : ": ");
}

static void stacked_row(struct table *t, cmark_node *row, bool has_name)
{
	size_t i = 0;

	for (cmark_node *cell = cmark_node_first_child(row); cell && i < t->n;
		cell = cmark_node_next(cell), i++) {
		if (!cmark_node_first_child(cell))
			continue;
		md_begin_par(t->m);
		if (has_name)
			put_name(t, i);
		else
			md_push_role(t->m, ROLE_STRONG);
		md_inlines(t->m, cell);
		if (!has_name)
			md_pop_role(t->m);
		page_end_par(t->m->p);
	}
}

static void stacked(struct table *t, int room)
{
	cmark_node *header = cmark_node_first_child(t->node);
	cmark_node *cell = cmark_node_first_child(header);

	for (size_t i = 0; i < t->n; i++, cell = cell ? cmark_node_next(cell) : NULL) {
		page_init(&t->v[i].cell, 1, false, t->m->p->ascii);
		if (cell && cmark_node_first_child(cell))
			draw_cell(t, &t->v[i].cell, cell, true);
	}
	if (!cmark_node_next(header))
		stacked_row(t, header, false);
	for (cmark_node *row = cmark_node_next(header); row; row = cmark_node_next(row)) {
		stacked_row(t, row, true);
		if (!cmark_node_next(row))
			break;
		md_begin_par(t->m);
		page_fill(t->m->p, ROLE_RULE, t->m->p->ascii ? "-" : "─", room < 3 ? room : 3);
		page_end_par(t->m->p);
	}
	for (size_t i = 0; i < t->n; i++)
		page_release(&t->v[i].cell);
}

/* ---------------------------------------------------------------- surplus cells */

/* What a row's line holds behind its n-th cell. */
static struct str surplus(struct str line, size_t n)
{
	size_t i = 0, bars = 0;

	while (i < line.n && line.p[i] != '|')
		i += line.p[i] == '\\' && i + 1 < line.n ? 2 : 1;
	/* A bar in front of the first cell separates nothing. */
	if (strspn(line.p, " \t>") >= i && i < line.n)
		i++;
	else
		i = 0;
	for (; i < line.n && bars < n; i++) {
		if (line.p[i] == '\\' && i + 1 < line.n)
			i++;
		else if (line.p[i] == '|')
			bars++;
	}
	while (i < line.n && strchr(" \t\r", line.p[i]))
		i++;
	while (i < line.n && strchr(" \t\r|", line.p[line.n - 1]))
		line.n--;
	return i < line.n ? (struct str){ line.p + i, line.n - i } : (struct str){ "", 0 };
}

/* Markdown drops the cells that have no column; here they are told. */
static void put_surplus(struct table *t)
{
	size_t number = 0;

	for (cmark_node *row = cmark_node_next(cmark_node_first_child(t->node)); row;
		row = cmark_node_next(row)) {
		struct str line = md_source(t->m, (size_t)cmark_node_get_start_line(row));
		struct str more = surplus(line, t->n);
		char head[64];

		number++;
		if (!more.n)
			continue;
		snprintf(head, sizeof(head), "[row %zu goes on: ", number);
		md_begin_par(t->m);
		page_puts(t->m->p, ROLE_DIM, head);
		page_text(t->m->p, ROLE_NORMAL, more.p, more.n);
		page_puts(t->m->p, ROLE_DIM, "]");
		page_end_par(t->m->p);
	}
}

void md_table(struct md *m, cmark_node *node)
{
	struct table t = { .m = m, .node = node,
		.n = cmark_gfm_extensions_get_table_columns(node) };
	const uint8_t *align = cmark_gfm_extensions_get_table_alignments(node);
	int room = md_room(m);

	if (!t.n || !cmark_node_first_child(node))
		return;
	t.v = xcalloc(t.n, sizeof(*t.v));
	for (size_t i = 0; i < t.n; i++)
		t.v[i].align = (char)align[i];
	measure(&t);
	if (fit(&t, m->p->wrap ? room - SEP_COLS * (int)(t.n - 1) : INT32_MAX / 2))
		grid(&t);
	else
		stacked(&t, room);
	put_surplus(&t);
	free(t.v);
}
