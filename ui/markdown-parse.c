/*
 * markdown-parse.c - runs cmark-gfm, with two cares. Some inputs cost the parser
 * time or memory that grows with the square of their size: deep nesting on one
 * line and tables whose short rows are filled up to many columns. They are
 * counted first, and the parser does without tables or is not run. (Bare links
 * are found in markdown-inline.c for the same reason.) And link definitions,
 * which Markdown takes out of the text, are kept as blocks of their own.
 */
#include "config.h"

#include "ui/markdown.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <string.h>

enum {
	NEST_MAX = 100,       /* quote and list marks at the start of one line */
	COLUMNS_MAX = 128,    /* bars in one line of a table */
	CELLS_MAX = 100000    /* cells that the tables can have when short rows are filled up */
};

struct cost {
	size_t nest;    /* the most marks at the start of a line */
	size_t columns; /* the most bars in a line that can begin a table */
	size_t cells;
	size_t open;    /* columns of the table that can be open */
};

/* Bytes of the quote or list mark at the start of s; 0: none is there. */
static size_t mark_len(struct str s)
{
	size_t i = 0;

	if (s.p[0] == '>')
		return 1;
	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	if (i ? i < s.n && (s.p[i] == '.' || s.p[i] == ')') : strchr("-+*", s.p[0]) && s.p[0])
		i++;
	else
		return 0;
	return i == s.n || strchr(" \t\r", s.p[i]) ? i : 0;
}

/* Quote and list marks at the start of a line; *is_empty: nothing follows them. */
static size_t count_marks(struct str line, bool *is_empty)
{
	size_t marks = 0, i = 0;

	while (i < line.n) {
		size_t len = mark_len((struct str){ line.p + i, line.n - i });

		if (!len && !(line.p[i] == ' ' || line.p[i] == '\t' || line.p[i] == '\r'))
			break;
		marks += len > 0;
		i += len ? len : 1;
	}
	*is_empty = i == line.n;
	return marks;
}

/* The bars of a line that can be the second one of a table; 0 for any other. */
static size_t count_columns(struct str line)
{
	size_t bars = 0;
	bool has_dash = false;

	for (size_t i = 0; i < line.n; i++) {
		char c = line.p[i];

		if (!c || !strchr("|-: \t\r>+*.)0123456789", c))
			return 0;
		bars += c == '|';
		has_dash = has_dash || c == '-';
	}
	return has_dash ? bars + 1 : 0;
}

static void count_line(struct cost *cost, struct str line)
{
	bool is_empty;
	size_t marks = count_marks(line, &is_empty), columns = count_columns(line);

	if (marks > cost->nest)
		cost->nest = marks;
	if (columns > cost->columns)
		cost->columns = columns;
	if (is_empty)
		cost->open = 0;
	else if (columns > cost->open)
		cost->open = columns;
	cost->cells += cost->open;
}

static struct cost count(const char *s, size_t n)
{
	struct cost cost = { 0 };

	while (n) {
		const char *end = memchr(s, '\n', n);
		size_t len = end ? (size_t)(end - s) : n;

		count_line(&cost, (struct str){ s, len });
		len += end != NULL;
		s += len;
		n -= len;
	}
	return cost;
}

/* ---------------------------------------------------------------- definitions */

/* "[label]:" where a block may begin; a label that goes on in the next line counts too. */
static bool is_definition(const unsigned char *s, int n)
{
	int i = 1;

	if (n < 2 || s[0] != '[')
		return false;
	for (; i < n && s[i] != ']' && s[i] != '['; i++)
		if (s[i] == '\\' && i + 1 < n)
			i++;
	if (i >= n)
		return true;
	return s[i] == ']' && i + 1 < n && s[i + 1] == ':';
}

static cmark_node *open_definition(cmark_syntax_extension *self, int indented, cmark_parser *parser,
	cmark_node *parent, unsigned char *input, int len)
{
	int from = cmark_parser_get_first_nonspace(parser);
	cmark_node *node;
	unsigned char end;

	while (len > from && (input[len - 1] == '\n' || input[len - 1] == '\r'))
		len--;
	if (indented || cmark_node_get_type(parent) == CMARK_NODE_PARAGRAPH ||
		!is_definition(input + from, len - from))
		return NULL;
	node = cmark_parser_add_child(parser, parent, MD_NODE_DEFINITION, from + 1);
	cmark_node_set_syntax_extension(node, self);
	end = input[len]; /* a line break, or the NUL behind the last line */
	input[len] = '\0';
	cmark_node_set_on_enter(node, (const char *)input + from);
	input[len] = end;
	cmark_parser_advance_offset(parser, (const char *)input,
		len - cmark_parser_get_offset(parser), 0);
	return node;
}

static int one_line_only(cmark_syntax_extension *self, cmark_parser *parser, unsigned char *input,
	int len, cmark_node *node)
{
	return 0;
}

static cmark_syntax_extension *definitions(void)
{
	static cmark_syntax_extension *ext;

	if (!ext) {
		cmark_gfm_core_extensions_ensure_registered();
		ext = cmark_syntax_extension_new("definitions");
		cmark_syntax_extension_set_open_block_func(ext, open_definition);
		cmark_syntax_extension_set_match_block_func(ext, one_line_only);
	}
	return ext;
}

cmark_node *md_parse(const char *s, size_t n)
{
	static const char *const names[] = { "strikethrough", "tasklist" };
	struct cost cost = count(s, n);
	cmark_syntax_extension *own = definitions();
	cmark_parser *parser;
	cmark_node *doc;

	if (cost.nest > NEST_MAX)
		return NULL;
	parser = cmark_parser_new(CMARK_OPT_DEFAULT);
	cmark_parser_attach_syntax_extension(parser, own);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension(names[i]));
	if (cost.columns <= COLUMNS_MAX && cost.cells <= CELLS_MAX)
		cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension("table"));
	cmark_parser_feed(parser, s, n);
	doc = cmark_parser_finish(parser);
	cmark_parser_free(parser);
	return doc;
}
