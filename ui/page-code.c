/*
 * page-code.c - colours for code: a tokenizer driven by the rows of page-lang.c,
 * one for markup, and the choice between them. It colours and never changes or
 * drops a byte. Every step goes forward, so a text without an end to its string
 * or comment costs no more than another.
 */
#include "config.h"

#include "ui/page.h"

#include <string.h>

#include "ui/page-lang.h"

enum { CHAR_MAX_LEN = 12 /* '\u{10FFFF}' of Rust */ };

struct code {
	struct page *p;
	const struct lang *lang;
	const char *s;
	size_t n, i;
	bool at_line; /* only white space so far in this line */
};

static bool is_word_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_word_start(c) || is_digit(c);
}

static bool starts(const struct code *c, const char *with)
{
	size_t n = with ? strlen(with) : 0;

	return n && c->n - c->i >= n && memcmp(c->s + c->i, with, n) == 0;
}

static void take(struct code *c, enum role role, size_t n)
{
	page_text(c->p, role, c->s + c->i, n);
	c->i += n;
	c->at_line = false;
}

static size_t to_line_end(const struct code *c)
{
	const char *end = memchr(c->s + c->i, '\n', c->n - c->i);

	return end ? (size_t)(end - c->s) - c->i : c->n - c->i;
}

/* Bytes up to and with `close`, looked for behind `skip` bytes; all where there is none. */
static size_t to_close(const struct code *c, size_t skip, const char *close)
{
	const char *from = c->s + c->i + skip;
	const char *end = memmem(from, c->n - c->i - skip, close, strlen(close));

	return end ? (size_t)(end - c->s) + strlen(close) - c->i : c->n - c->i;
}

/* A string that ends with its line at the latest. */
static size_t to_quote(const struct code *c)
{
	char quote = c->s[c->i];
	size_t i = c->i + 1;

	while (i < c->n && c->s[i] != '\n') {
		if (c->s[i] == quote)
			return i + 1 - c->i;
		i += c->s[i] == '\\' && i + 1 < c->n && c->s[i + 1] != '\n' ? 2 : 1;
	}
	return i - c->i;
}

static size_t to_backtick(const struct code *c)
{
	size_t i = c->i + 1;

	while (i < c->n) {
		if (c->s[i] == '`')
			return i + 1 - c->i;
		i += c->s[i] == '\\' && i + 1 < c->n ? 2 : 1;
	}
	return i - c->i;
}

/* ---------------------------------------------------------------- tokens of LANG_WORDS */

static bool take_comment(struct code *c)
{
	const struct lang *lang = c->lang;
	char before = c->i ? c->s[c->i - 1] : '\n';

	if (starts(c, lang->open)) {
		take(c, ROLE_CODE_COMMENT, to_close(c, strlen(lang->open), lang->close));
		return true;
	}
	if (!starts(c, lang->line_comment[0]) && !starts(c, lang->line_comment[1]))
		return false;
	if ((lang->flags & LANG_HASH_WORD) && !strchr(" \t\n;", before))
		return false;
	take(c, ROLE_CODE_COMMENT, to_line_end(c));
	return true;
}

static bool take_string(struct code *c)
{
	unsigned flags = c->lang->flags;
	char q = c->s[c->i];

	if (q == '`' && (flags & LANG_BACKTICK)) {
		take(c, ROLE_CODE_STRING, to_backtick(c));
		return true;
	}
	if (q == '\0' || !strchr(c->lang->quotes, q))
		return false;
	if ((flags & LANG_TRIPLE) && (starts(c, "\"\"\"") || starts(c, "'''"))) {
		take(c, ROLE_CODE_STRING, to_close(c, 3, q == '"' ? "\"\"\"" : "'''"));
		return true;
	}
	if (q == '\'' && (flags & LANG_CHAR)) {
		struct code near = *c;
		size_t len;

		near.n = c->n - c->i > CHAR_MAX_LEN ? c->i + CHAR_MAX_LEN : c->n;
		len = to_quote(&near);
		if (len < 3 || near.s[near.i + len - 1] != '\'')
			return false;
		/* 'a, 'b are two lifetimes; what stands in quotes is one letter or an escape. */
		if (len > 3 && near.s[near.i + 1] != '\\' &&
			(unsigned char)near.s[near.i + 1] < 0x80)
			return false;
	}
	take(c, ROLE_CODE_STRING, to_quote(c));
	return true;
}

static bool take_number(struct code *c)
{
	size_t i = c->i + 1;
	bool is_hex;

	if (!is_digit(c->s[c->i]))
		return false;
	is_hex = c->s[c->i] == '0' && i < c->n && (c->s[i] | 32) == 'x';
	while (i < c->n) {
		char before = (char)(c->s[i - 1] | 32);
		bool is_sign = (c->s[i] == '+' || c->s[i] == '-') && before == 'e' && !is_hex;

		if (!is_word(c->s[i]) && c->s[i] != '.' && !is_sign)
			break;
		i++;
	}
	take(c, ROLE_CODE_NUMBER, i - c->i);
	return true;
}

/* A key of YAML, TOML or an INI file; `end` is behind its word. */
static bool is_key(const struct code *c, size_t end)
{
	return (c->lang->flags & LANG_KEYS) && end < c->n &&
	       (c->s[end] == ':' || c->s[end] == '=' ||
		       (c->s[end] == ' ' && end + 1 < c->n && c->s[end + 1] == '='));
}

static bool take_word(struct code *c)
{
	bool keys = (c->lang->flags & LANG_KEYS) && c->at_line;
	size_t i = c->i;

	if (!is_word_start(c->s[i]))
		return false;
	while (i < c->n && (is_word(c->s[i]) || (keys && strchr("-.", c->s[i]) && c->s[i])))
		i++;
	if (keys && is_key(c, i))
		take(c, ROLE_JSON_KEY, i - c->i);
	else if (lang_is_keyword(c->lang, c->s + c->i, i - c->i))
		take(c, ROLE_CODE_KEYWORD, i - c->i);
	else
		take(c, ROLE_CODE, i - c->i);
	return true;
}

/* `#include <x.h>`: the word as a keyword, the name as a string. */
static bool take_preproc(struct code *c)
{
	size_t i = c->i + 1;

	if (!(c->lang->flags & LANG_PREPROC) || !c->at_line || c->s[c->i] != '#')
		return false;
	while (i < c->n && (c->s[i] == ' ' || c->s[i] == '\t'))
		i++;
	while (i < c->n && is_word(c->s[i]))
		i++;
	take(c, ROLE_CODE_KEYWORD, i - c->i);
	while (c->i < c->n && c->s[c->i] == ' ')
		take(c, ROLE_CODE, 1);
	if (starts(c, "<")) {
		size_t line = to_line_end(c);
		const char *end = memchr(c->s + c->i, '>', line);

		take(c, ROLE_CODE_STRING, end ? (size_t)(end - c->s) + 1 - c->i : line);
	}
	return true;
}

static bool take_dollar(struct code *c)
{
	size_t i = c->i + 1;
	bool in_braces;

	if (!(c->lang->flags & LANG_DOLLAR) || c->s[c->i] != '$' || i == c->n)
		return false;
	in_braces = c->s[i] == '{';
	i += in_braces;
	while (i < c->n && is_word(c->s[i]))
		i++;
	if (in_braces && i < c->n && c->s[i] == '}')
		i++;
	take(c, ROLE_CODE_NUMBER, i - c->i);
	return true;
}

/* White space and what no rule knows; keeps at_line over the marks that stand before a key. */
static void take_other(struct code *c)
{
	bool at_line = c->at_line;
	char ch = c->s[c->i];

	take(c, ROLE_CODE, 1);
	if (ch == '\n')
		c->at_line = true;
	else if (ch == ' ' || ch == '\t' || ch == '-')
		c->at_line = at_line;
}

static void words(struct code *c)
{
	while (c->i < c->n) {
		size_t plain = 0;

		while (c->i + plain < c->n && c->s[c->i + plain] == ' ')
			plain++;
		if (plain) {
			page_text(c->p, ROLE_CODE, c->s + c->i, plain);
			c->i += plain;
			continue;
		}
		if (take_word(c) || take_preproc(c) || take_comment(c) || take_string(c) ||
			take_number(c) || take_dollar(c))
			continue;
		take_other(c);
	}
}

/* ---------------------------------------------------------------- markup */

/* Behind "<": the name, attributes and their values, up to ">" or what can not be in a tag. */
static void tag(struct code *c)
{
	size_t i = c->i + 1;

	while (i < c->n && (is_word(c->s[i]) || strchr("/!?:-.", c->s[i])) && c->s[i])
		i++;
	take(c, ROLE_CODE_KEYWORD, i - c->i);
	while (c->i < c->n && c->s[c->i] != '<') {
		char ch = c->s[c->i];

		if (ch == '>') {
			take(c, ROLE_CODE_KEYWORD, 1);
			return;
		}
		if (ch == '"' || ch == '\'') {
			take(c, ROLE_CODE_STRING, to_quote(c));
			continue;
		}
		for (i = c->i + 1; i < c->n && !strchr("<>\"'", c->s[i]);)
			i++;
		take(c, ROLE_CODE, i - c->i);
	}
}

static void markup(struct code *c)
{
	while (c->i < c->n) {
		const char *next = memchr(c->s + c->i, '<', c->n - c->i);
		size_t text = next ? (size_t)(next - c->s) - c->i : c->n - c->i;

		if (text)
			take(c, ROLE_NORMAL, text);
		if (!next)
			return;
		if (starts(c, "<!--"))
			take(c, ROLE_CODE_COMMENT, to_close(c, 4, "-->"));
		else if (c->i + 1 < c->n && (is_word_start(next[1]) || strchr("/!?", next[1])))
			tag(c);
		else
			take(c, ROLE_NORMAL, 1);
	}
}

/* ---------------------------------------------------------------- the choice */

void page_code_text(struct page *p, struct str lang, const char *s, size_t n)
{
	struct code c = { .p = p, .lang = lang_find(lang), .s = s, .n = n, .at_line = true };

	if (!c.lang) {
		page_text(p, ROLE_CODE, s, n);
		return;
	}
	switch (c.lang->kind) {
	case LANG_WORDS:
		words(&c);
		break;
	case LANG_JSON:
		page_json_text(p, s, n);
		break;
	case LANG_DIFF:
		page_diff_text(p, s, n, true);
		break;
	case LANG_MARKUP:
		markup(&c);
		break;
	}
}

void page_code(struct page *p, struct str lang, const char *s, size_t n, const char *indent)
{
	page_begin_code(p, indent, indent, ROLE_RULE);
	page_code_text(p, lang, s, n);
	page_end_par(p);
}
