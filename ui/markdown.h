/*
 * markdown.h - shared by the files that draw Markdown; private to them.
 *
 * markdown.c walks the document and keeps the indents, markdown-inline.c draws
 * what stands inside a block, markdown-table.c tables, markdown-parse.c makes
 * the document and guards the parser.
 */
#ifndef BOUGH_UI_MARKDOWN_H
#define BOUGH_UI_MARKDOWN_H

#include <cmark-gfm.h>

#include "ui/page.h"

enum { MD_ROLES_MAX = 64 };

struct md {
	struct page *p;
	struct str src;            /* what was parsed: surplus cells are looked up in it */
	struct buf first, rest;    /* indents of the next line and of those behind it */
	bool is_pending;           /* a bullet waits in `first` */
	size_t levels;             /* open quotes and items */
	uint8_t roles[MD_ROLES_MAX]; /* of open emphasis, links ... */
	size_t nroles;             /* may be over the maximum; the deeper ones have no say */
	uint32_t *line_off;        /* where the lines of src begin; made when one is asked for */
	size_t nlines, lines_cap;
};

/* ---- markdown-parse.c ---- */

#define MD_NODE_DEFINITION CMARK_NODE_CUSTOM_BLOCK /* a link definition; its text: on_enter */

/* The document, or NULL when the parser is better not run on it. Yours: cmark_node_free. */
cmark_node *md_parse(const char *s, size_t n);

/* ---- markdown-inline.c ---- */

void md_push_role(struct md *m, enum role role);
void md_pop_role(struct md *m);
/* One event of a walk inside a block. */
void md_inline(struct md *m, cmark_event_type event, cmark_node *node);
/* Everything inside a block. */
void md_inlines(struct md *m, cmark_node *block);

/* ---- markdown.c ---- */

/* A paragraph with the indents of this place; a bullet that waits is used up. */
void md_begin_par(struct md *m);
void md_begin_code(struct md *m);
/* Columns that the next line has beside its indent, and every one after it. */
int md_room(const struct md *m);
/* A line of the source, from 1 on, as nodes name it; empty where there is none. */
struct str md_source(struct md *m, size_t line);

/* ---- markdown-table.c ---- */

void md_table(struct md *m, cmark_node *table);

#endif
