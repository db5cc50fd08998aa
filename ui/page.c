/*
 * page.c - the lines of a page: paragraphs, wrapping, indents, tabs. Text comes
 * in as hostile bytes and is stored safe. A line is built in p->par and moved to
 * the page when it is full, so a paragraph of any length needs one line of
 * memory beside the result. It knows nothing of what the text means.
 */
#include "config.h"

#include "ui/page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "base/xalloc.h"

enum {
	TAB_COLS = 8,
	CODE_HANG = 2,
	TEXT_MAX = 1 << 30 /* spans have 32-bit offsets; what is behind is `more` */
};

/* ---------------------------------------------------------------- the page */

void page_init(struct page *p, int width, bool wrap, bool ascii)
{
	memset(p, 0, sizeof(*p));
	p->width = width > 1 ? width : 1;
	p->wrap = wrap;
	p->ascii = ascii;
	p->part = UINT32_MAX;
}

void page_release(struct page *p)
{
	buf_release(&p->text);
	buf_release(&p->par);
	buf_release(&p->tail);
	buf_release(&p->indent[0]);
	buf_release(&p->indent[1]);
	free(p->spans);
	free(p->lines);
	free(p->par_spans);
	free(p->tail_spans);
	memset(p, 0, sizeof(*p));
}

void page_clear(struct page *p)
{
	buf_clear(&p->text);
	p->nspans = 0;
	p->nlines = 0;
	p->widest = 0;
	p->more = false;
	p->part = UINT32_MAX;
	p->in_par = false;
}

/* ---------------------------------------------------------------- one line */

static void add_span(struct page *p, enum role role, size_t off, size_t n, int width)
{
	if (p->nspans == p->spans_cap)
		p->spans = xgrow(p->spans, &p->spans_cap, p->nspans + 1, sizeof(*p->spans));
	p->spans[p->nspans++] = (struct span){
		.role = (uint8_t)role, .off = (uint32_t)off, .n = (uint32_t)n, .width = width
	};
}

static void emit_indent(struct page *p)
{
	const struct buf *indent = &p->indent[p->which];
	size_t off = p->text.n;

	if (p->is_bare)
		return;
	if (indent->n) {
		buf_add(&p->text, indent->p, indent->n);
		add_span(p, p->indent_role, off, indent->n, p->indent_width[p->which]);
	}
	if (p->extra) {
		off = p->text.n;
		for (int i = 0; i < p->extra; i++)
			buf_addc(&p->text, ' ');
		add_span(p, ROLE_NORMAL, off, (size_t)p->extra, p->extra);
	}
}

/* Moves the line under construction to the page. */
static void emit(struct page *p, bool is_soft)
{
	struct page_line *line;
	size_t off;

	if (p->text.n + p->par.n > TEXT_MAX) {
		p->more = true;
		return;
	}
	if (p->nlines == p->lines_cap)
		p->lines = xgrow(p->lines, &p->lines_cap, p->nlines + 1, sizeof(*p->lines));
	line = &p->lines[p->nlines++];
	line->first = (uint32_t)p->nspans;
	line->part = p->part;
	line->is_soft = is_soft;
	emit_indent(p);
	off = p->text.n;
	buf_add(&p->text, p->par.p, p->par.n);
	for (size_t i = 0; i < p->npar; i++)
		add_span(p, p->par_spans[i].role, off + p->par_spans[i].off, p->par_spans[i].n,
			p->par_spans[i].width);
	line->nspans = (uint32_t)p->nspans - line->first;
	line->width = 0;
	for (size_t i = line->first; i < p->nspans; i++)
		line->width += p->spans[i].width;
}

static void start_line(struct page *p, bool is_continued)
{
	int cols = p->width - p->indent_width[p->which];

	buf_clear(&p->par);
	p->npar = 0;
	p->col = 0;
	p->extra = 0;
	p->is_bare = false;
	p->is_full = false;
	p->after_wide = false;
	p->brk.n = 0;
	if (is_continued) {
		p->extra = p->lead > cols ? cols : p->lead + p->hang;
		if (p->extra > cols / 2)
			p->extra = cols / 2;
	}
	p->avail = cols - p->extra;
}

/* Columns left; a cluster or a filling that is wider than the page leaves less than none. */
static int room(const struct page *p)
{
	return p->col < p->avail ? p->avail - p->col : 0;
}

static void add(struct page *p, enum role role, const char *s, size_t n, int width)
{
	struct span *last = p->npar ? &p->par_spans[p->npar - 1] : NULL;

	if (!last || last->role != role) {
		if (p->npar == p->par_cap)
			p->par_spans = xgrow(p->par_spans, &p->par_cap, p->npar + 1,
				sizeof(*p->par_spans));
		last = &p->par_spans[p->npar++];
		*last = (struct span){ .role = (uint8_t)role, .off = (uint32_t)p->par.n };
	}
	buf_add(&p->par, s, n);
	last->n += (uint32_t)n;
	last->width += width;
	p->col += width;
	p->is_fresh = false;
}

static void set_break(struct page *p)
{
	const struct span *last = &p->par_spans[p->npar - 1];

	p->brk = (struct page_break){ .n = p->par.n, .span = p->npar - 1, .span_n = last->n,
		.span_width = last->width, .col = p->col };
}

/* Spaces at the end of a wrapped line say nothing. Only our own ASCII spaces are taken. */
static void trim(struct page *p)
{
	while (p->npar && p->par.n && p->par.p[p->par.n - 1] == ' ') {
		struct span *last = &p->par_spans[p->npar - 1];

		p->par.n--;
		p->col--;
		last->width--;
		if (--last->n == 0)
			p->npar--;
	}
}

static void next_line(struct page *p)
{
	trim(p);
	emit(p, true);
	p->which = 1;
	start_line(p, true);
}

/* Adds a cluster; where it does not fit, the line is cut in front of it. */
static void place(struct page *p, enum role role, const char *s, size_t n, int width)
{
	if (p->wrap && p->col > 0 && width > room(p))
		next_line(p);
	if (p->wrap && p->col == 0 && width > p->avail) {
		p->is_bare = true;
		p->avail = p->width;
	}
	add(p, role, s, n, width);
}

/* The same for printable ASCII, where every byte is a cluster. */
static void place_ascii(struct page *p, enum role role, const char *s, size_t n)
{
	while (p->wrap && n > (size_t)room(p)) {
		size_t fits = (size_t)room(p);

		if (fits)
			add(p, role, s, fits, (int)fits);
		s += fits;
		n -= fits;
		next_line(p);
	}
	if (n)
		add(p, role, s, n, (int)n);
}

static void place_safe(struct page *p, enum role role, const char *s, size_t n)
{
	struct text_cluster c;

	for (size_t i = 0; i < n; i += c.src_n) {
		text_next(s + i, n - i, &c);
		place(p, role, c.bytes, c.n, c.width);
	}
}

/* Cuts the line at its break; what stands behind goes to the next line. */
static void wrap_at_break(struct page *p)
{
	struct page_break brk = p->brk;
	size_t ntail = 0;

	buf_clear(&p->tail);
	buf_add(&p->tail, p->par.p + brk.n, p->par.n - brk.n);
	for (size_t i = brk.span; i < p->npar; i++) {
		struct span span = p->par_spans[i];

		if (i == brk.span) {
			span.off += brk.span_n;
			span.n -= brk.span_n;
		}
		if (!span.n)
			continue;
		if (ntail == p->tail_cap)
			p->tail_spans = xgrow(p->tail_spans, &p->tail_cap, ntail + 1,
				sizeof(*p->tail_spans));
		p->tail_spans[ntail++] = span;
	}
	p->par.n = brk.n;
	p->npar = brk.span + 1;
	p->par_spans[brk.span].n = brk.span_n;
	p->par_spans[brk.span].width = brk.span_width;
	p->col = brk.col;
	next_line(p);
	for (size_t i = 0; i < ntail; i++)
		place_safe(p, p->tail_spans[i].role, p->tail.p + p->tail_spans[i].off - brk.n,
			p->tail_spans[i].n);
}

/* ---------------------------------------------------------------- words */

/* Marks that close something do not begin a line. */
static bool is_closing(const char *s, size_t n)
{
	static const char wide[] = "、。，．！？；：）］｝」』】》〉…";

	if (n == 1)
		return strchr(",.;:!?)]}%\"'", *s) != NULL;
	return n == 3 && memmem(wide, sizeof(wide) - 1, s, 3) != NULL;
}

/* At most TAB_COLS. Those behind the end of a line are dropped: a new one begins with a word. */
static void put_spaces(struct page *p, enum role role, size_t n)
{
	static const char spaces[TAB_COLS + 1] = "        ";
	size_t fits = p->wrap && n > (size_t)room(p) ? (size_t)room(p) : n;

	p->tab_col += n;
	if (p->is_leading && p->lead < INT_MAX - TAB_COLS)
		p->lead += (int)n;
	if (fits) {
		add(p, role, spaces, fits, (int)fits);
		p->after_wide = false;
		if (!p->is_leading)
			set_break(p);
	}
	p->is_full = p->is_full || fits < n;
}

/* Before a visible cluster. */
static void begin_visible(struct page *p, const char *s, size_t n, int width)
{
	if (p->is_full)
		next_line(p);
	if (p->col && (p->after_wide || width > 1) && !p->is_leading && !is_closing(s, n))
		set_break(p);
	p->is_leading = false;
}

static void put_cluster(struct page *p, enum role role, const struct text_cluster *c)
{
	begin_visible(p, c->bytes, c->n, c->width);
	if (p->wrap && p->brk.n && c->width > room(p))
		wrap_at_break(p);
	place(p, role, c->bytes, c->n, c->width);
	if (c->width > p->widest)
		p->widest = c->width;
	p->after_wide = c->width > 1;
	p->tab_col += (uint64_t)c->width;
}

/* Printable ASCII without a space: a word or a piece of one. */
static void put_word(struct page *p, enum role role, const char *s, size_t n)
{
	begin_visible(p, s, 1, 1);
	/* A word that no line can hold is cut where it stands. */
	if (p->wrap && p->brk.n && n > (size_t)room(p) && n <= (size_t)p->width)
		wrap_at_break(p);
	place_ascii(p, role, s, n);
	p->after_wide = false;
	p->tab_col += n;
}

/* A CR at the end of a piece is kept back: with the newline of the next one it is nothing. */
static void put_held_cr(struct page *p)
{
	if (p->holds_cr)
		put_word(p, ROLE_CONTROL, "^M", 2);
	p->holds_cr = false;
}

static void put_newline(struct page *p)
{
	emit(p, false);
	p->which = 1;
	start_line(p, false);
	p->is_fresh = true;
	p->is_leading = true;
	p->lead = 0;
	p->tab_col = 0;
}

/* The run of printable ASCII at s, short of a byte that may be the base of a combining mark. */
static size_t ascii_run(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && s[i] >= 0x20 && s[i] < 0x7F)
		i++;
	if (i && i < n && (unsigned char)s[i] >= 0x80)
		i--;
	return i;
}

static void put_ascii(struct page *p, enum role role, const char *s, size_t n)
{
	size_t i = 0;

	while (i < n) {
		const char *space = memchr(s + i, ' ', n - i);
		size_t word = space ? (size_t)(space - s) - i : n - i;

		if (word)
			put_word(p, role, s + i, word);
		i += word;
		while (i < n && s[i] == ' ') {
			size_t spaces = 1;

			while (spaces < TAB_COLS && i + spaces < n && s[i + spaces] == ' ')
				spaces++;
			put_spaces(p, role, spaces);
			i += spaces;
		}
	}
}

void page_text(struct page *p, enum role role, const char *s, size_t n)
{
	struct text_cluster c;
	size_t i = 0;

	if (!p->in_par)
		page_begin_par(p, "", "", ROLE_NORMAL);
	if (!n)
		return;
	if (*s != '\n')
		put_held_cr(p);
	p->holds_cr = s[n - 1] == '\r';
	n -= p->holds_cr;
	while (i < n) {
		size_t run = ascii_run(s + i, n - i);

		if (run) {
			put_ascii(p, role, s + i, run);
			i += run;
			continue;
		}
		text_next(s + i, n - i, &c);
		i += c.src_n;
		if (c.kind == TEXT_NEWLINE)
			put_newline(p);
		else if (c.kind == TEXT_TAB)
			put_spaces(p, role, TAB_COLS - p->tab_col % TAB_COLS);
		else if (c.kind == TEXT_CONTROL && (size_t)c.width == c.n)
			put_word(p, ROLE_CONTROL, c.bytes, c.n);
		else
			put_cluster(p, c.kind == TEXT_CONTROL ? ROLE_CONTROL : role, &c);
	}
}

void page_puts(struct page *p, enum role role, const char *s)
{
	page_text(p, role, s, strlen(s));
}

void page_put(struct page *p, const struct page *from, const struct span *span)
{
	put_held_cr(p);
	add(p, span->role, from->text.p + span->off, span->n, span->width);
	p->is_leading = false;
}

void page_fill(struct page *p, enum role role, const char *glyph, int cols)
{
	size_t n = strlen(glyph);

	put_held_cr(p);
	for (int i = 0; i < cols; i++)
		add(p, role, glyph, n, 1);
}

/* ---------------------------------------------------------------- paragraphs */

int page_columns(const char *s, size_t n)
{
	struct text_cluster c;
	int width = 0;

	for (size_t i = 0; i < n && width < INT_MAX / 2; i += c.src_n) {
		text_next(s + i, n - i, &c);
		width += c.width;
	}
	return width;
}

/* How much of an indent's left end goes so that the text keeps half of the width. */
static size_t indent_cut(const struct page *p, const char *indent, int *width)
{
	size_t n = strlen(indent), off = 0;
	struct text_cluster c;

	*width = page_columns(indent, n);
	while (off < n && *width > p->width / 2) {
		text_next(indent + off, n - off, &c);
		off += c.src_n;
		*width -= c.width;
	}
	return off;
}

int page_indent_width(const struct page *p, const char *indent)
{
	int width;

	indent_cut(p, indent, &width);
	return width;
}

static void set_indent(struct page *p, unsigned which, const char *indent)
{
	size_t off = indent_cut(p, indent, &p->indent_width[which]);

	buf_clear(&p->indent[which]);
	buf_adds(&p->indent[which], indent + off);
}

void page_begin_par(struct page *p, const char *first, const char *rest, enum role role)
{
	if (p->in_par)
		page_end_par(p);
	set_indent(p, 0, first);
	set_indent(p, 1, rest);
	p->indent_role = (uint8_t)role;
	p->in_par = true;
	p->which = 0;
	p->hang = 0;
	p->lead = 0;
	p->tab_col = 0;
	p->is_fresh = false;
	p->is_leading = true;
	p->holds_cr = false;
	start_line(p, false);
}

void page_begin_code(struct page *p, const char *first, const char *rest, enum role role)
{
	page_begin_par(p, first, rest, role);
	p->hang = CODE_HANG;
}

void page_end_par(struct page *p)
{
	if (!p->in_par)
		return;
	put_held_cr(p);
	if (!p->is_fresh)
		emit(p, false);
	p->in_par = false;
}

void page_line(struct page *p, enum role role, const char *indent, const char *s, size_t n)
{
	page_begin_par(p, indent, indent, role);
	page_text(p, role, s, n);
	page_end_par(p);
}

void page_blank(struct page *p)
{
	if (p->nlines && p->lines[p->nlines - 1].width > 0)
		page_line(p, ROLE_NORMAL, "", "", 0);
}

void page_rule(struct page *p)
{
	page_begin_par(p, "", "", ROLE_RULE);
	page_fill(p, ROLE_RULE, p->ascii ? "-" : "─", p->width);
	page_end_par(p);
}
