/*
 * page-content.c - an entry as a page: what was said, what was thought, tool
 * calls and their results, metadata. Which part gets which look is decided here;
 * how a look is drawn is not.
 */
#include "config.h"

#include "ui/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

enum { KEY_COLS_MAX = 24 };

/* ---------------------------------------------------------------- terminal colours in output */

/* Bytes of a complete colour sequence (ESC [ digits ; : m) at s; 0: none is there. */
static size_t sgr_len(const char *s, size_t n)
{
	size_t i = 2;

	if (n < 3 || s[0] != '\033' || s[1] != '[')
		return 0;
	while (i < n && ((s[i] >= '0' && s[i] <= '9') || s[i] == ';' || s[i] == ':'))
		i++;
	return i < n && s[i] == 'm' ? i + 1 : 0;
}

/* Copies text without its colour sequences to out; how many there were. */
static size_t strip_sgr(struct buf *out, struct str text)
{
	size_t count = 0, from = 0, i = 0;

	while (i < text.n) {
		const char *esc = memchr(text.p + i, '\033', text.n - i);
		size_t at = esc ? (size_t)(esc - text.p) : text.n;
		size_t len = esc ? sgr_len(esc, text.n - at) : 0;

		if (len || !esc) {
			buf_add(out, text.p + from, at - from);
			from = at + len;
			count += len > 0;
		}
		i = at + (len ? len : 1);
	}
	return count;
}

/* ---------------------------------------------------------------- pieces */

static void more_line(struct page *p, const struct part *part)
{
	char count[32], line[80];

	if (!part->more)
		return;
	p->more = true;
	if (part->whole > part->text.n) {
		count_human(part->whole - part->text.n, count);
		snprintf(line, sizeof(line), "... %s more bytes: scroll on to load them", count);
	} else {
		snprintf(line, sizeof(line), "... more: scroll on to load it");
	}
	page_line(p, ROLE_DIM, "", line, strlen(line));
}

static struct str trim_end(struct str s)
{
	while (s.n && (s.p[s.n - 1] == '\n' || s.p[s.n - 1] == '\r'))
		s.n--;
	return s;
}

static void empty_line(struct page *p)
{
	page_line(p, ROLE_DIM, "", "(empty)", 7);
}

/* Text as it stands: lines, spaces, a patch in its colours. */
static void plain(struct page *p, const struct part *part)
{
	struct buf stripped = { 0 };
	struct str text = part->text;
	size_t codes = 0;
	char line[64];

	if (text.n && memchr(text.p, '\033', text.n)) {
		codes = strip_sgr(&stripped, text);
		text = (struct str){ stripped.p, stripped.n };
	}
	if (!part->more)
		text = trim_end(text);
	if (!text.n && !codes)
		empty_line(p);
	else if (text_is_diff(text.p, text.n)) {
		page_begin_code(p, "", "", ROLE_NORMAL);
		page_diff_text(p, text.p, text.n, false);
		page_end_par(p);
	} else if (text.n)
		page_line(p, ROLE_NORMAL, "", text.p, text.n);
	if (codes) {
		snprintf(line, sizeof(line), "(%zu colour code%s hidden)", codes,
			plural(codes, "", "s"));
		page_line(p, ROLE_DIM, "", line, strlen(line));
	}
	buf_release(&stripped);
}

static void title(struct page *p, enum role role, const char *word, struct str name, struct str ref)
{
	page_begin_par(p, "", "  ", ROLE_NORMAL);
	page_puts(p, role, word);
	if (name.n) {
		page_puts(p, ROLE_NORMAL, " ");
		page_text(p, ROLE_STRONG, name.p, name.n);
	}
	if (ref.n) {
		page_puts(p, ROLE_DIM, "  ");
		page_text(p, ROLE_DIM, ref.p, ref.n);
	}
	page_end_par(p);
}

static bool looks_like_json(struct str s)
{
	size_t i = 0;

	while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\n' || s.p[i] == '\t' || s.p[i] == '\r'))
		i++;
	return i < s.n && (s.p[i] == '{' || s.p[i] == '[');
}

/* ---------------------------------------------------------------- parts */

static void text_part(struct page *p, const struct part *part)
{
	size_t before = p->nlines;

	page_markdown(p, part->text.p, part->text.n);
	if (p->nlines == before)
		empty_line(p);
}

static void reasoning_part(struct page *p, const struct part *part)
{
	struct str text = trim_end(part->text);

	page_line(p, ROLE_HEADING, "", "thinking", 8);
	if (text.n)
		page_line(p, ROLE_DIM, "", text.p, text.n);
	else
		empty_line(p);
}

static void json_text(struct page *p, const struct part *part, const char *indent)
{
	if (looks_like_json(part->text))
		page_json(p, part->text.p, part->text.n, indent);
	else if (part->text.n)
		page_line(p, ROLE_NORMAL, indent, part->text.p, part->text.n);
}

static void call_part(struct page *p, const struct part *part)
{
	title(p, ROLE_TOOL, "tool", part->name, part->ref);
	json_text(p, part, "  ");
}

static void result_part(struct page *p, const struct part *part)
{
	title(p, part->failed ? ROLE_DAMAGE : ROLE_TOOL, part->failed ? "failed" : "result",
		part->name, part->ref);
	plain(p, part);
}

static void image_part(struct page *p, const struct part *part)
{
	page_begin_par(p, "", "  ", ROLE_NORMAL);
	page_puts(p, ROLE_EVENT, "[image ");
	page_text(p, ROLE_EVENT, part->name.p, part->name.n);
	if (part->name.n && part->text.n)
		page_puts(p, ROLE_EVENT, " ");
	page_text(p, ROLE_EVENT, part->text.p, part->text.n);
	page_puts(p, ROLE_EVENT, "]");
	page_end_par(p);
}

static void draw_part(struct page *p, const struct part *part)
{
	switch (part->kind) {
	case PART_TEXT:
		text_part(p, part);
		break;
	case PART_PLAIN:
		plain(p, part);
		break;
	case PART_REASONING:
		reasoning_part(p, part);
		break;
	case PART_CALL:
		call_part(p, part);
		break;
	case PART_RESULT:
		result_part(p, part);
		break;
	case PART_JSON:
		json_text(p, part, "");
		break;
	case PART_IMAGE:
		image_part(p, part);
		break;
	case PART_NOTE:
		page_line(p, ROLE_EVENT, "", part->text.p, part->text.n);
		break;
	case PART_META:
		break;
	}
	more_line(p, part);
}

/* ---------------------------------------------------------------- metadata */

static int key_cols(const struct page *p, const struct content *c)
{
	int cols = 0, most = p->width / 2 - 2;

	for (size_t i = 0; i < c->n; i++) {
		const struct part *part = &c->v[i];
		int width = part->kind == PART_META ? page_columns(part->name.p, part->name.n) : 0;

		if (width > cols)
			cols = width;
	}
	if (most > KEY_COLS_MAX)
		most = KEY_COLS_MAX;
	return cols < most ? cols : most > 0 ? most : 0;
}

/* "key  value", the values of all rows in one column; a longer key pushes its value on. */
static void meta_row(struct page *p, const struct part *part, int cols)
{
	int pad = cols - page_columns(part->name.p, part->name.n);
	char rest[KEY_COLS_MAX + 3];

	snprintf(rest, sizeof(rest), "%*s", cols + 2, "");
	page_begin_par(p, "", rest, ROLE_NORMAL);
	page_text(p, ROLE_DIM, part->name.p, part->name.n);
	page_fill(p, ROLE_NORMAL, " ", pad);
	page_puts(p, ROLE_NORMAL, "  ");
	page_text(p, ROLE_NORMAL, part->text.p, part->text.n);
	page_end_par(p);
	more_line(p, part);
}

void page_content(struct page *p, const struct content *c)
{
	bool has_meta = false, has_other = false;
	int cols;

	for (size_t i = 0; i < c->n; i++) {
		p->part = (uint32_t)i;
		if (c->v[i].kind == PART_META) {
			has_meta = true;
			continue;
		}
		page_blank(p);
		draw_part(p, &c->v[i]);
		has_other = true;
	}
	p->part = UINT32_MAX;
	if (!has_meta && !has_other)
		empty_line(p);
	if (has_meta && has_other) {
		page_blank(p);
		page_rule(p);
	}
	cols = has_meta ? key_cols(p, c) : 0;
	for (size_t i = 0; i < c->n; i++) {
		p->part = (uint32_t)i;
		if (c->v[i].kind == PART_META)
			meta_row(p, &c->v[i], cols);
	}
	p->part = UINT32_MAX;
	p->more = p->more || c->more;
}
