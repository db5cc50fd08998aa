/*
 * page.h - text laid out for a width: lines of spans.
 *
 * A page is what the entry pane, the help and the problem peek draw. Builders
 * (page-content.c, markdown.c, ...) append safe text only: page_text() passes
 * everything through base/text.h, so a span never holds a byte that can steer
 * a terminal. Wrapping is by words, then by grapheme clusters; a hanging
 * indent keeps lists and quotes in shape.
 *
 * Calling sequence: page_init with the width, page_begin_par / page_text /
 * page_end_par (or page_line for what is not wrapped), page_release.
 */
#ifndef BOUGH_UI_PAGE_H
#define BOUGH_UI_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "model/content.h"
#include "ui/role.h"

struct span {
	uint8_t role;
	uint32_t off, n; /* into page->text */
	int width;       /* columns */
};

struct page_line {
	uint32_t first, nspans;
	int width;
	uint32_t part;   /* index of the content part it came from; UINT32_MAX none */
	bool is_soft;    /* goes on in the next line (wrapped) */
};

struct page_break { /* the last place where the line under construction may be cut */
	size_t n;        /* bytes of it in front; 0: nowhere */
	size_t span;     /* the span that holds the last of them */
	uint32_t span_n; /* bytes and columns of that span up to here */
	int span_width;
	int col;
};

struct page {
	int width;       /* columns to lay out for, >= 1 */
	bool wrap;       /* false: long lines stay long and are cut when drawn */
	bool ascii;      /* bullets, table lines and rules in ASCII */
	struct buf text; /* safe bytes */
	struct span *spans;
	size_t nspans, spans_cap;
	struct page_line *lines;
	size_t nlines, lines_cap;
	int widest;      /* columns of the widest cluster */
	bool more;       /* the content went on behind a limit */
	uint32_t part;   /* current part, for the lines */
	/* paragraph under construction; private to page.c */
	struct buf indent[2];  /* of its first line, of the others */
	int indent_width[2];
	uint8_t indent_role;
	bool in_par;
	int hang;        /* columns that a wrapped line goes in behind its own start */
	struct buf par;  /* safe bytes of the line under construction */
	struct span *par_spans;
	size_t npar, par_cap;
	int col, avail;  /* columns it has and may have, without the indent */
	int extra;       /* spaces between the indent and the text */
	unsigned which;  /* its indent: 0 the first, 1 the rest */
	bool is_bare;    /* no indent: one cluster needs the whole width */
	bool is_fresh;   /* begun by a newline and still empty */
	bool is_full;    /* only spaces came since it was full */
	bool is_leading; /* only spaces so far */
	bool holds_cr;   /* the text ended with a CR: half of a line end, or a control */
	bool after_wide; /* the last cluster was a wide one */
	int lead;        /* leading spaces of the unwrapped line */
	uint64_t tab_col;/* columns of the unwrapped line */
	struct page_break brk;
	struct buf tail; /* what moves to the next line */
	struct span *tail_spans;
	size_t tail_cap;
};

void page_init(struct page *p, int width, bool wrap, bool ascii);
void page_release(struct page *p);
void page_clear(struct page *p); /* keeps the memory and the settings */

/*
 * The indents are ours (bullets, quote bars) and are drawn in `role`. Where
 * they would take more than half of the width their left end is cut.
 */
void page_begin_par(struct page *p, const char *first, const char *rest, enum role role);
/* The same for code: what is wrapped goes in two columns more than its line did. */
void page_begin_code(struct page *p, const char *first, const char *rest, enum role role);
/* Hostile bytes in. Newlines end the line, not the paragraph; one at the end adds no line. */
void page_text(struct page *p, enum role role, const char *s, size_t n);
void page_puts(struct page *p, enum role role, const char *s);
/* A span of another page, as it is, without wrapping: for what is laid out already. */
void page_put(struct page *p, const struct page *from, const struct span *span);
/* `glyph` (ours, one column) `cols` times, without wrapping. */
void page_fill(struct page *p, enum role role, const char *glyph, int cols);
void page_end_par(struct page *p);
/* A paragraph of one text: begin, text, end. */
void page_line(struct page *p, enum role role, const char *indent, const char *s, size_t n);
void page_blank(struct page *p);  /* at most one in a row, none at the top */
void page_rule(struct page *p);
int page_columns(const char *s, size_t n); /* of one line, tabs not counted */
int page_indent_width(const struct page *p, const char *indent); /* as page_begin_par cuts it */

/* ---- builders ---- */

/*
 * Everything an entry says: text as Markdown, calls with indented arguments
 * and their results below, metadata at the end.
 */
void page_content(struct page *p, const struct content *c);
/* Nothing is left out: what Markdown would swallow (definitions, surplus cells, HTML) is shown. */
void page_markdown(struct page *p, const char *s, size_t n);
/* Code with a language's name as in a fence ("c", "diff", "json", "sh" ...; "" unknown). */
void page_code(struct page *p, struct str lang, const char *s, size_t n, const char *indent);
/* The body of page_code, into a paragraph that page_begin_code began. */
void page_code_text(struct page *p, struct str lang, const char *s, size_t n);
/* JSON indented and coloured, also when it is cut or broken: no visible byte is lost. */
void page_json(struct page *p, const char *s, size_t n, const char *indent);
void page_json_text(struct page *p, const char *s, size_t n); /* coloured as it stands */
bool text_is_diff(const char *s, size_t n);
/* `loose`: + and - count from the first line on, as in a fence; else from the first header on. */
void page_diff_text(struct page *p, const char *s, size_t n, bool loose);
/* Bytes with their offset in the file; equal rows in a row are shown once and a "*". */
void page_hex(struct page *p, uint64_t offset, const void *bytes, size_t n);

#endif
