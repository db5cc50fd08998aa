/*
 * markdown.c - a Markdown document as lines of a page: walks the tree of blocks,
 * keeps the indents of quotes and lists, draws headings, rules and code blocks.
 * The tree is walked with cmark's iterator, so its depth costs no stack.
 */
#include "config.h"

#include "ui/markdown.h"

#include <cmark-gfm-core-extensions.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"

enum {
	MARKDOWN_MAX = 512 * 1024, /* what is behind is shown as it is */
	LEVELS_MAX = 24,           /* quotes and items that indent; deeper ones do not any more */
	LISTS_MAX = 256            /* lists with numbers of their own */
};

struct list {
	int number, digits; /* of the next item, if its own can not be read; columns; 0: bullets */
	char delim;
};

struct walk {
	struct md m;
	size_t rest_n[LEVELS_MAX]; /* bytes of the indent in front of each open level */
	struct list lists[LISTS_MAX];
	size_t nlists;
};

/* ---------------------------------------------------------------- indents */

static const char *glyph(const struct md *m, const char *utf8, const char *ascii)
{
	return m->p->ascii ? ascii : utf8;
}

static void used_first(struct md *m)
{
	buf_clear(&m->first);
	buf_add(&m->first, m->rest.p, m->rest.n);
	m->is_pending = false;
}

void md_begin_par(struct md *m)
{
	page_begin_par(m->p, m->first.p, m->rest.p, ROLE_RULE);
	used_first(m);
}

void md_begin_code(struct md *m)
{
	page_begin_code(m->p, m->first.p, m->rest.p, ROLE_RULE);
	used_first(m);
}

int md_room(const struct md *m)
{
	int first = page_indent_width(m->p, m->first.p), rest = page_indent_width(m->p, m->rest.p);

	return m->p->width - (first > rest ? first : rest);
}

/* Opens a level: `first` on its first line, spaces or for a quote the same on the others. */
static void push_level(struct walk *w, const char *first, bool is_quote)
{
	struct md *m = &w->m;
	int width = page_columns(first, strlen(first));

	if (m->levels < LEVELS_MAX) {
		w->rest_n[m->levels] = m->rest.n;
		buf_adds(&m->first, first);
		if (is_quote)
			buf_adds(&m->rest, first);
		else
			buf_printf(&m->rest, "%*s", width, "");
	} else if (!is_quote && !m->is_pending) {
		buf_adds(&m->first, first);
	}
	m->is_pending = m->is_pending || !is_quote;
	m->levels++;
}

/* A quote or an item without anything in it: only its mark. */
static void empty_block(struct md *m)
{
	md_begin_par(m);
	page_end_par(m->p);
}

static void pop_level(struct walk *w)
{
	struct md *m = &w->m;

	if (m->is_pending)
		empty_block(m);
	if (--m->levels < LEVELS_MAX) {
		m->rest.n = w->rest_n[m->levels];
		buf_add(&m->rest, NULL, 0);
	}
	used_first(m);
}

static bool is_tight_item(cmark_node *node)
{
	cmark_node *list = cmark_node_parent(node);

	return cmark_node_get_type(node) == CMARK_NODE_ITEM && list &&
	       cmark_node_get_list_tight(list);
}

/* The empty line between two blocks; the bars of quotes go through it. */
static void gap(struct md *m, cmark_node *node)
{
	cmark_node *before = cmark_node_previous(node);
	size_t n = m->rest.n;

	if (!before || is_tight_item(node) || is_tight_item(cmark_node_parent(node)))
		return;
	/* Definitions are single lines; so is a label that is none and the text it belongs to. */
	if (cmark_node_get_type(before) == MD_NODE_DEFINITION &&
		cmark_node_get_end_line(before) + 1 == cmark_node_get_start_line(node))
		return;
	while (n && m->rest.p[n - 1] == ' ')
		n--;
	if (!n) {
		page_blank(m->p);
		return;
	}
	m->rest.p[n] = '\0';
	page_line(m->p, ROLE_RULE, m->rest.p, "", 0);
	if (n < m->rest.n)
		m->rest.p[n] = ' ';
}

/* ---------------------------------------------------------------- lists */

static void find_lines(struct md *m)
{
	for (size_t off = 0; off < m->src.n;) {
		const char *newline = memchr(m->src.p + off, '\n', m->src.n - off);

		if (m->nlines == m->lines_cap)
			m->line_off = xgrow(m->line_off, &m->lines_cap, m->nlines + 1,
				sizeof(*m->line_off));
		m->line_off[m->nlines++] = (uint32_t)off;
		off = newline ? (size_t)(newline - m->src.p) + 1 : m->src.n;
	}
}

struct str md_source(struct md *m, size_t line)
{
	size_t from, end;

	if (!m->nlines)
		find_lines(m);
	if (!line || line > m->nlines)
		return (struct str){ "", 0 };
	from = m->line_off[line - 1];
	end = line < m->nlines ? m->line_off[line] : m->src.n;
	end -= end > from && m->src.p[end - 1] == '\n';
	return (struct str){ m->src.p + from, end - from };
}

/* The number of an item as it is written, which Markdown would count anew; -1: not found. */
static int written_number(struct md *m, cmark_node *item)
{
	struct str line = md_source(m, (size_t)cmark_node_get_start_line(item));
	size_t i = (size_t)cmark_node_get_start_column(item) - 1, digits = 0;
	int number = 0;

	for (; i < line.n && digits < 9 && line.p[i] >= '0' && line.p[i] <= '9'; i++, digits++)
		number = number * 10 + (line.p[i] - '0');
	return digits && i < line.n && (line.p[i] == '.' || line.p[i] == ')') ? number : -1;
}

static void enter_list(struct walk *w, cmark_node *node)
{
	cmark_node *item = cmark_node_first_child(node);
	struct list list = { 0 };

	if (cmark_node_get_list_type(node) == CMARK_ORDERED_LIST) {
		list.number = cmark_node_get_list_start(node);
		list.delim = cmark_node_get_list_delim(node) == CMARK_PAREN_DELIM ? ')' : '.';
		list.digits = 1;
		for (; item; item = cmark_node_next(item)) {
			int digits = snprintf(NULL, 0, "%d", written_number(&w->m, item));

			if (digits > list.digits)
				list.digits = digits;
		}
	}
	if (w->nlists < LISTS_MAX)
		w->lists[w->nlists] = list;
	w->nlists++;
}

static void enter_item(struct walk *w, cmark_node *node)
{
	static const char *const utf8[] = { "• ", "◦ ", "▪ " };
	static const char *const ascii[] = { "* ", "- ", "+ " };
	size_t depth = w->nlists < LISTS_MAX ? w->nlists : LISTS_MAX;
	struct list *list = &w->lists[depth - 1];
	bool is_task = strcmp(cmark_node_get_type_string(node), "tasklist") == 0;
	int number = list->digits ? written_number(&w->m, node) : 0;
	char mark[48] = "";

	if (list->digits) {
		list->number = number >= 0 ? number : list->number;
		snprintf(mark, sizeof(mark), "%*d%c ", list->digits, list->number++, list->delim);
	} else if (!is_task) {
		strcpy(mark, glyph(&w->m, utf8[(depth - 1) % 3], ascii[(depth - 1) % 3]));
	}
	if (is_task && cmark_gfm_extensions_get_tasklist_item_checked(node))
		strcat(mark, "[x] ");
	else if (is_task)
		strcat(mark, "[ ] ");
	push_level(w, mark, false);
}

/* ---------------------------------------------------------------- blocks */

static void heading(struct md *m, cmark_node *node)
{
	int level = cmark_node_get_heading_level(node), width = 0, room = md_room(m), indent;
	size_t from = m->p->nlines;

	md_begin_par(m);
	indent = page_indent_width(m->p, m->rest.p);
	if (level > 2)
		for (int i = 0; i <= level; i++)
			page_puts(m->p, ROLE_DIM, i < level ? "#" : " ");
	md_push_role(m, ROLE_HEADING);
	md_inlines(m, node);
	md_pop_role(m);
	page_end_par(m->p);
	for (size_t i = from; i < m->p->nlines; i++)
		if (m->p->lines[i].width - indent > width)
			width = m->p->lines[i].width - indent;
	if (level > 2 || !width)
		return;
	md_begin_par(m);
	page_fill(m->p, ROLE_RULE, level == 1 ? glyph(m, "━", "=") : glyph(m, "─", "-"),
		width < room ? width : room);
	page_end_par(m->p);
}

static void rule(struct md *m)
{
	int room = md_room(m);

	md_begin_par(m);
	page_fill(m->p, ROLE_RULE, glyph(m, "─", "-"), room);
	page_end_par(m->p);
}

/* The language is the first word of a fence's info: "c", "{.python}", "js:app.js". */
static struct str language(const char *info)
{
	size_t skip = strspn(info, " {.");

	return (struct str){ info + skip, strcspn(info + skip, " \t,:{}") };
}

static void code_block(struct md *m, cmark_node *node)
{
	const char *info = cmark_node_get_fence_info(node), *code = cmark_node_get_literal(node);

	if (*info) {
		md_begin_par(m);
		page_puts(m->p, ROLE_DIM, info);
		page_end_par(m->p);
	}
	if (!*code && *info)
		return;
	buf_adds(&m->first, glyph(m, "▏ ", "| "));
	buf_adds(&m->rest, glyph(m, "▏ ", "| "));
	page_begin_code(m->p, m->first.p, m->rest.p, ROLE_RULE);
	page_code_text(m->p, language(info), code, strlen(code));
	page_end_par(m->p);
	m->rest.n -= strlen(glyph(m, "▏ ", "| "));
	buf_add(&m->rest, NULL, 0);
	used_first(m);
}

static void html_block(struct md *m, cmark_node *node)
{
	const char *html = cmark_node_get_literal(node);

	md_begin_code(m);
	page_code_text(m->p, str_of("html"), html, strlen(html));
	page_end_par(m->p);
}

static void paragraph(struct md *m, cmark_node *node)
{
	md_begin_par(m);
	md_inlines(m, node);
	page_end_par(m->p);
}

static void definition(struct md *m, cmark_node *node)
{
	md_begin_par(m);
	page_puts(m->p, m->nroles ? ROLE_QUOTE : ROLE_NORMAL, cmark_node_get_on_enter(node));
	page_end_par(m->p);
}

/* ---------------------------------------------------------------- the walk */

/* Blocks that hold blocks. false: node is not one. */
static bool container(struct walk *w, bool is_enter, cmark_node *node)
{
	switch (cmark_node_get_type(node)) {
	case CMARK_NODE_DOCUMENT:
		return true;
	case CMARK_NODE_BLOCK_QUOTE:
		if (is_enter) {
			push_level(w, glyph(&w->m, "▌ ", "> "), true);
			md_push_role(&w->m, ROLE_QUOTE);
			if (!cmark_node_first_child(node))
				empty_block(&w->m);
		} else {
			md_pop_role(&w->m);
			pop_level(w);
		}
		return true;
	case CMARK_NODE_LIST:
		if (is_enter)
			enter_list(w, node);
		else
			w->nlists--;
		return true;
	case CMARK_NODE_ITEM:
		if (is_enter)
			enter_item(w, node);
		else
			pop_level(w);
		return true;
	default:
		return false;
	}
}

static void leaf(struct md *m, cmark_node *node)
{
	switch (cmark_node_get_type(node)) {
	case CMARK_NODE_HEADING:
		heading(m, node);
		break;
	case CMARK_NODE_THEMATIC_BREAK:
		rule(m);
		break;
	case CMARK_NODE_CODE_BLOCK:
		code_block(m, node);
		break;
	case CMARK_NODE_HTML_BLOCK:
		html_block(m, node);
		break;
	case MD_NODE_DEFINITION:
		definition(m, node);
		break;
	default:
		if (strcmp(cmark_node_get_type_string(node), "table") == 0)
			md_table(m, node);
		else
			paragraph(m, node);
	}
}

static void draw(struct walk *w, cmark_node *doc)
{
	cmark_iter *iter = cmark_iter_new(doc);
	cmark_event_type event;

	while ((event = cmark_iter_next(iter)) != CMARK_EVENT_DONE) {
		cmark_node *node = cmark_iter_get_node(iter);

		if (event == CMARK_EVENT_ENTER && node != doc)
			gap(&w->m, node);
		if (container(w, event == CMARK_EVENT_ENTER, node) || event != CMARK_EVENT_ENTER)
			continue;
		leaf(&w->m, node);
		/* What is inside has been drawn. */
		if (cmark_node_first_child(node))
			cmark_iter_reset(iter, node, CMARK_EVENT_EXIT);
	}
	cmark_iter_free(iter);
}

static void as_it_is(struct page *p, const char *why, const char *s, size_t n)
{
	page_blank(p);
	page_line(p, ROLE_DIM, "", why, strlen(why));
	page_line(p, ROLE_NORMAL, "", s, n);
}

/* Where to cut: behind the last newline within the limit. */
static size_t cut(const char *s, size_t n)
{
	const char *end;

	if (n <= MARKDOWN_MAX)
		return n;
	end = memrchr(s, '\n', MARKDOWN_MAX);
	return end ? (size_t)(end - s) + 1 : utf8_cut(s, MARKDOWN_MAX);
}

void page_markdown(struct page *p, const char *s, size_t n)
{
	size_t len = cut(s, n);
	struct walk w = { .m = { .p = p, .src = { s, len } } };
	cmark_node *doc = md_parse(s, len);

	if (!doc) {
		as_it_is(p, "[as plain text: quotes or lists nested over 100 deep]", s, n);
		return;
	}
	buf_add(&w.m.first, NULL, 0);
	buf_add(&w.m.rest, NULL, 0);
	draw(&w, doc);
	cmark_node_free(doc);
	buf_release(&w.m.first);
	buf_release(&w.m.rest);
	free(w.m.line_off);
	if (len < n)
		as_it_is(p, "[from here on as plain text: over 512 KB of Markdown]", s + len,
			n - len);
}
