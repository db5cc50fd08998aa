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

struct page {
	int width;       /* columns to lay out for, >= 1 */
	bool wrap;       /* false: long lines stay long and are cut when drawn */
	bool ascii;      /* bullets, table lines and rules in ASCII */
	struct buf text; /* safe bytes */
	struct span *spans;
	size_t nspans, spans_cap;
	struct page_line *lines;
	size_t nlines, lines_cap;
	bool more;       /* the content went on behind a limit */
	uint32_t part;   /* current part, for the lines */
	/* paragraph under construction; private */
	struct buf first_indent, rest_indent;
	uint8_t indent_role;
	struct buf par;          /* safe bytes of the paragraph */
	struct span *par_spans;
	size_t npar, par_cap;
	bool in_par;
};

void page_init(struct page *p, int width, bool wrap, bool ascii);
void page_release(struct page *p);
void page_clear(struct page *p); /* keeps the memory and the settings */

/* The indents are ours (bullets, quote bars) and are drawn in `role`. */
void page_begin_par(struct page *p, const char *first, const char *rest, enum role role);
/* Hostile bytes in; newlines end the line but stay in the paragraph. */
void page_text(struct page *p, enum role role, const char *s, size_t n);
void page_end_par(struct page *p);
/* One line without wrapping of its own (wrapped by clusters when p->wrap). */
void page_line(struct page *p, enum role role, const char *indent, const char *s, size_t n);
void page_blank(struct page *p);  /* at most one in a row */
void page_rule(struct page *p);

/* ---- builders ---- */

/*
 * Everything an entry says: text as Markdown, calls with indented arguments
 * and their results below, metadata. `limit` is the one the content was
 * decoded with, for the "... N more bytes" line.
 */
void page_content(struct page *p, const struct content *c);
void page_markdown(struct page *p, const char *s, size_t n);
/* Code with a language's name as in a fence ("c", "python", "diff", "json", "sh" ...; "" unknown). */
void page_code(struct page *p, struct str lang, const char *s, size_t n, const char *indent);
bool text_is_diff(const char *s, size_t n);
void page_hex(struct page *p, uint64_t offset, const void *bytes, size_t n);

#endif
