/*
 * page-json.c - JSON in colour, as it stands or indented. Works on the text with
 * a tokenizer that accepts anything, so arguments that are cut or broken are
 * shown as far as they go; it checks nothing and keeps no tree.
 */
#include "config.h"

#include "ui/page.h"

#include <string.h>

#include "base/text.h"
#include "base/utf8.h"

enum { INDENT = 2, INDENT_MAX = 40 };

enum token_kind {
	TOK_OPEN,
	TOK_CLOSE,
	TOK_COMMA,
	TOK_COLON,
	TOK_STRING, /* from here on: values */
	TOK_NUMBER,
	TOK_WORD,
	TOK_OTHER
};

struct token {
	enum token_kind kind;
	const char *s;
	size_t n;
	bool is_key;     /* a string with a colon behind it */
	bool is_whole;   /* a string that has its closing quote */
	bool has_space;  /* white space stood in front */
};

struct scan {
	const char *s;
	size_t n, i;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_space(const struct scan *sc, size_t i)
{
	while (i < sc->n && is_space(sc->s[i]))
		i++;
	return i;
}

static size_t string_end(const struct scan *sc, bool *is_whole)
{
	size_t i = sc->i + 1;

	*is_whole = false;
	while (i < sc->n) {
		if (sc->s[i] == '"') {
			*is_whole = true;
			return i + 1;
		}
		i += sc->s[i] == '\\' && i + 1 < sc->n ? 2 : 1;
	}
	return i;
}

static bool is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '+' || c == '-' || c == '.' || c == '_';
}

static void next_plain(struct scan *sc, struct token *t)
{
	size_t i = sc->i;

	if (is_plain(sc->s[i])) {
		while (i < sc->n && is_plain(sc->s[i]))
			i++;
		t->kind = (*t->s >= '0' && *t->s <= '9') || *t->s == '-' ? TOK_NUMBER : TOK_WORD;
	} else {
		while (i < sc->n && !is_plain(sc->s[i]) && !is_space(sc->s[i]) &&
			(sc->s[i] == '\0' || !strchr("{}[],:\"", sc->s[i])))
			i++;
		t->kind = TOK_OTHER;
	}
	t->n = i - sc->i;
}

/* The next token behind white space; false at the end. */
static bool next(struct scan *sc, struct token *t)
{
	size_t from = sc->i, end;

	sc->i = skip_space(sc, sc->i);
	if (sc->i == sc->n)
		return false;
	*t = (struct token){ .s = sc->s + sc->i, .n = 1, .has_space = sc->i > from };
	switch (*t->s) {
	case '{':
	case '[':
		t->kind = TOK_OPEN;
		break;
	case '}':
	case ']':
		t->kind = TOK_CLOSE;
		break;
	case ',':
		t->kind = TOK_COMMA;
		break;
	case ':':
		t->kind = TOK_COLON;
		break;
	case '"':
		t->kind = TOK_STRING;
		end = string_end(sc, &t->is_whole);
		t->n = end - sc->i;
		end = skip_space(sc, end);
		t->is_key = end < sc->n && sc->s[end] == ':';
		break;
	default:
		next_plain(sc, t);
	}
	sc->i += t->n;
	return true;
}

static enum role token_role(const struct token *t)
{
	static const char *const names[] = { "true", "false", "null" };

	switch (t->kind) {
	case TOK_STRING:
		return t->is_key ? ROLE_JSON_KEY : ROLE_JSON_STRING;
	case TOK_NUMBER:
		return ROLE_JSON_NUMBER;
	case TOK_WORD:
		for (size_t i = 0; i < 3; i++)
			if (str_eqs((struct str){ t->s, t->n }, names[i]))
				return ROLE_CODE_KEYWORD;
		return ROLE_CODE;
	default:
		return ROLE_CODE;
	}
}

void page_json_text(struct page *p, const char *s, size_t n)
{
	struct scan sc = { .s = s, .n = n };
	size_t from = 0;
	struct token t;

	while (next(&sc, &t)) {
		size_t at = (size_t)(t.s - s);

		page_text(p, ROLE_CODE, s + from, at - from);
		page_text(p, token_role(&t), t.s, t.n);
		from = at + t.n;
	}
	page_text(p, ROLE_CODE, s + from, n - from);
}

/* ---------------------------------------------------------------- indented */

struct json {
	struct page *p;
	int depth;
	struct buf text; /* of a string's line, escapes of letters decoded */
};

static void break_line(struct json *j, int depth)
{
	static const char spaces[] = "                                        ";
	int n = depth * INDENT > INDENT_MAX ? INDENT_MAX : depth * INDENT;

	page_text(j->p, ROLE_CODE, "\n", 1);
	page_text(j->p, ROLE_CODE, spaces, (size_t)n);
}

static int hex4(const char *s)
{
	int value = 0;

	for (int i = 0; i < 4; i++) {
		int c = s[i] | 32;

		if (c >= '0' && c <= '9')
			value = value * 16 + (c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value * 16 + (c - 'a' + 10);
		else
			return -1;
	}
	return value;
}

/* An escape that stands for a letter or sign beyond ASCII: its bytes are added. 0: not one. */
static size_t letter_escape(struct buf *out, const char *s, size_t n)
{
	struct text_cluster c;
	size_t used = 6, len;
	char bytes[4];
	int high, low;

	if (n < 6 || s[1] != 'u' || (high = hex4(s + 2)) < 0xA0)
		return 0;
	if (high >= 0xD800 && high < 0xE000) {
		if (high >= 0xDC00 || n < 12 || s[6] != '\\' || s[7] != 'u' ||
			(low = hex4(s + 8)) < 0xDC00 || low > 0xDFFF)
			return 0;
		high = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
		used = 12;
	}
	len = utf8_encode((uint32_t)high, bytes);
	text_next(bytes, len, &c);
	/* What hides, steers or has no width of its own stays escaped. */
	if (c.kind != TEXT_PLAIN)
		return 0;
	buf_add(out, bytes, len);
	return used;
}

static void flush(struct json *j, enum role role)
{
	page_text(j->p, role, j->text.p, j->text.n);
	buf_clear(&j->text);
}

/*
 * A string as it is written, but that letters are not left escaped and that a
 * value's "\n" also ends the line on the screen: file contents and scripts in
 * arguments can be read.
 */
static void put_string(struct json *j, const struct token *t)
{
	enum role role = token_role(t);
	size_t i = 0, used, end = t->n - t->is_whole;

	while (i < t->n) {
		const char *slash = memchr(t->s + i, '\\', t->n - i);
		size_t run = slash ? (size_t)(slash - t->s) - i : t->n - i;

		buf_add(&j->text, t->s + i, run);
		i += run;
		if (!slash)
			break;
		used = letter_escape(&j->text, slash, t->n - i);
		if (used) {
			i += used;
			continue;
		}
		used = t->n - i < 2 ? t->n - i : 2;
		if (used == 2 && slash[1] == 'n' && !t->is_key) {
			flush(j, role);
			page_text(j->p, ROLE_DIM, slash, 2);
			if (i + 2 < end)
				break_line(j, j->depth + 1);
		} else {
			buf_add(&j->text, slash, used);
		}
		i += used;
	}
	flush(j, role);
}

/* The bracket that closes what t opens, when nothing stands between. */
static bool is_empty_pair(const struct scan *sc, const struct token *t)
{
	size_t i = skip_space(sc, sc->i);

	return i < sc->n && sc->s[i] == (*t->s == '{' ? '}' : ']');
}

static bool is_value(enum token_kind kind)
{
	return kind >= TOK_STRING;
}

/* The line or space that belongs between two tokens. */
static void between(struct json *j, enum token_kind before, bool in_pair, const struct token *t)
{
	if (t->kind == TOK_CLOSE) {
		if (j->depth)
			j->depth--;
		if (!in_pair)
			break_line(j, j->depth);
	} else if (before == TOK_OPEN || before == TOK_COMMA) {
		break_line(j, j->depth);
	} else if (before == TOK_COLON) {
		page_text(j->p, ROLE_CODE, " ", 1);
	} else if (before == TOK_CLOSE && t->kind != TOK_COMMA && !j->depth) {
		break_line(j, 0);
	} else if (t->has_space && (is_value(t->kind) || t->kind == TOK_OPEN)) {
		page_text(j->p, ROLE_CODE, " ", 1);
	}
}

void page_json(struct page *p, const char *s, size_t n, const char *indent)
{
	struct scan sc = { .s = s, .n = n };
	struct json j = { .p = p };
	enum token_kind before = TOK_OTHER;
	bool in_pair = false, is_first = true;
	struct token t;

	page_begin_code(p, indent, indent, ROLE_RULE);
	while (next(&sc, &t)) {
		if (!is_first)
			between(&j, before, in_pair, &t);
		in_pair = t.kind == TOK_OPEN && is_empty_pair(&sc, &t);
		if (t.kind == TOK_STRING)
			put_string(&j, &t);
		else
			page_text(p, token_role(&t), t.s, t.n);
		if (t.kind == TOK_OPEN)
			j.depth++;
		before = t.kind;
		is_first = false;
	}
	page_end_par(p);
	buf_release(&j.text);
}
