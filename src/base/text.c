/*
 * text.c - hostile bytes to safe text, a cluster at a time. It owns the list of
 * code points that never reach a terminal; it knows no colours and no cells.
 */
#include "config.h"

#include "base/text.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>
#include <wchar.h>

#include "base/utf8.h"

enum {
	MARKS_MAX = 4,    /* what a cell of ncurses holds beside its base */
	CLUSTER_MAX = 48, /* room for the marks of the last base stays in bytes[64] */
	ZWNJ = 0x200C,
	ZWJ = 0x200D,
};

/*
 * Code points that are replaced wherever they stand: controls, bidirectional
 * controls, and what is invisible without belonging to a script or an emoji.
 * Those that are welcome inside a cluster only (ZWJ, ZWNJ, variation selectors)
 * have no width and are caught where they begin one. Sorted.
 */
static const struct range {
	uint32_t first, last;
} forbidden[] = {
	{ 0x00, 0x1F },       /* C0 */
	{ 0x7F, 0x9F },       /* DEL, C1 */
	{ 0xAD, 0xAD },       /* soft hyphen */
	{ 0x61C, 0x61C },     /* Arabic letter mark */
	{ 0x115F, 0x1160 },   /* Hangul fillers */
	{ 0x17B4, 0x17B5 },   /* Khmer inherent vowels */
	{ 0x180E, 0x180E },   /* Mongolian vowel separator */
	{ 0x200B, 0x200B },   /* zero-width space */
	{ 0x200E, 0x200F },   /* left-to-right, right-to-left mark */
	{ 0x2028, 0x202E },   /* line and paragraph separator, embeddings, overrides */
	{ 0x2060, 0x206F },   /* word joiner, invisible operators, isolates, deprecated */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xFDD0, 0xFDEF },   /* noncharacters; those at the end of planes: is_forbidden() */
	{ 0xFEFF, 0xFEFF },   /* byte order mark */
	{ 0xFFA0, 0xFFA0 },   /* half-width Hangul filler */
	{ 0xFFF0, 0xFFFB },   /* unassigned ignorables, interlinear annotation */
	{ 0x13430, 0x1343F }, /* hieroglyph joiners */
	{ 0x1BCA0, 0x1BCA3 }, /* shorthand format controls */
	{ 0x1D173, 0x1D17A }, /* musical format controls */
	{ 0xE0000, 0xE00FF }, /* tags and what is kept beside them */
	{ 0xE01F0, 0xE0FFF },
};

static bool is_forbidden(uint32_t cp)
{
	size_t lo = 0, hi = sizeof(forbidden) / sizeof(forbidden[0]);

	if ((cp & 0xFFFE) == 0xFFFE)
		return true;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (cp > forbidden[mid].last)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < sizeof(forbidden) / sizeof(forbidden[0]) && cp >= forbidden[lo].first;
}

/* Columns of a code point; -1 for one that the terminal can not show. */
static int cp_width(uint32_t cp)
{
	if (cp >= 0x20 && cp < 0x7F)
		return 1;
	/* ncurses places cells by wcwidth; outside a UTF-8 locale that knows ASCII only. */
	if (MB_CUR_MAX > 1)
		return wcwidth((wchar_t)cp);
	switch (utf8proc_category((utf8proc_int32_t)cp)) {
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_CN:
	case UTF8PROC_CATEGORY_CS:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
		return -1;
	default:
		return utf8proc_charwidth((utf8proc_int32_t)cp);
	}
}

/* Invisible by itself, wanted only behind a visible base. */
static bool is_joiner(uint32_t cp)
{
	return cp == ZWNJ || cp == ZWJ || (cp >= 0xFE00 && cp <= 0xFE0F) ||
	       (cp >= 0xE0100 && cp <= 0xE01EF);
}

static void put_control(struct text_cluster *out, uint32_t cp)
{
	int n;

	out->kind = TEXT_CONTROL;
	if (cp == UTF8_BAD) {
		out->n = utf8_encode(0xFFFD, out->bytes);
		out->width = 1;
		return;
	}
	if (cp < 0x20 || cp == 0x7F)
		n = snprintf(out->bytes, sizeof(out->bytes), "^%c", (int)(cp ^ 0x40));
	else
		n = snprintf(out->bytes, sizeof(out->bytes), "<%02X>", (unsigned)cp);
	out->n = (size_t)n;
	out->width = n;
}

/* The code points that follow a base within its cluster. */
static void take_rest(const char *p, size_t n, uint32_t base, struct text_cluster *out)
{
	utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)base);
	bool visible = category != UTF8PROC_CATEGORY_ZS;
	utf8proc_int32_t state = 0;
	uint32_t last = base, cp;
	int marks = 0;

	while (out->src_n < n) {
		size_t len = utf8_decode(p + out->src_n, n - out->src_n, &cp);
		int width;

		if (cp == UTF8_BAD || is_forbidden(cp) || (!visible && is_joiner(cp)))
			return;
		if (utf8proc_grapheme_break_stateful(
			    (utf8proc_int32_t)last, (utf8proc_int32_t)cp, &state))
			return;
		width = cp_width(cp);
		if (width < 0 || (width > 0 && out->n + len > CLUSTER_MAX))
			return;
		marks = width > 0 ? 0 : marks + 1;
		visible |= width > 0;
		if (marks <= MARKS_MAX) {
			memcpy(out->bytes + out->n, p + out->src_n, len);
			out->n += len;
		}
		out->width += width;
		out->src_n += len;
		last = cp;
	}
}

static void next_general(const char *p, size_t n, struct text_cluster *out)
{
	uint32_t cp;
	int width;

	out->src_n = utf8_decode(p, n, &cp);
	out->n = 0;
	out->width = 0;
	if (cp == '\n' || cp == '\t') {
		out->kind = cp == '\t' ? TEXT_TAB : TEXT_NEWLINE;
		return;
	}
	if (cp == '\r' && n > 1 && p[1] == '\n') {
		out->kind = TEXT_NEWLINE;
		out->src_n = 2;
		return;
	}
	width = cp == UTF8_BAD || is_forbidden(cp) ? -1 : cp_width(cp);
	if (width <= 0) {
		put_control(out, cp);
		return;
	}
	out->kind = TEXT_PLAIN;
	out->width = width;
	out->n = out->src_n;
	memcpy(out->bytes, p, out->n);
	take_rest(p, n, cp, out);
}

static bool is_print(char c)
{
	return c >= 0x20 && c < 0x7F;
}

void text_next(const char *p, size_t n, struct text_cluster *out)
{
	/* Nothing below U+0080 but CR LF joins with its neighbour. */
	if (is_print(p[0]) && (n == 1 || (unsigned char)p[1] < 0x80)) {
		out->kind = TEXT_PLAIN;
		out->bytes[0] = p[0];
		out->n = 1;
		out->width = 1;
		out->src_n = 1;
		return;
	}
	next_general(p, n, out);
}

/*
 * Length of the run of printable ASCII at p that needs no look at clusters: the
 * last byte before something else may be the base of a mark, and in one-line
 * mode white space is not part of a run.
 */
static size_t ascii_run(const char *p, size_t n, bool one_line)
{
	size_t i = 0;

	while (i < n && is_print(p[i]) && !(one_line && p[i] == ' '))
		i++;
	if (i && i < n && (unsigned char)p[i] >= 0x80)
		i--;
	return i;
}

static bool is_space(const struct text_cluster *c)
{
	return c->kind == TEXT_TAB || c->kind == TEXT_NEWLINE ||
	       (c->kind == TEXT_PLAIN && c->n == 1 && c->bytes[0] == ' ');
}

/*
 * The next cluster of the one-line form: a whole run of white space is one
 * space. With `line` set, a newline is not white space and comes as itself.
 */
static void next_one_line(const char *p, size_t n, bool line, struct text_cluster *out)
{
	struct text_cluster more;
	size_t used;

	text_next(p, n, out);
	if (!is_space(out) || (line && out->kind == TEXT_NEWLINE))
		return;
	used = out->src_n;
	while (used < n) {
		text_next(p + used, n - used, &more);
		if (!is_space(&more) || (line && more.kind == TEXT_NEWLINE))
			break;
		used += more.src_n;
	}
	out->kind = TEXT_PLAIN;
	out->bytes[0] = ' ';
	out->n = 1;
	out->width = 1;
	out->src_n = used;
}

void text_safe(struct buf *out, const char *p, size_t n, unsigned flags)
{
	bool one_line = flags & TEXT_ONE_LINE;
	struct text_cluster c;
	size_t i = 0, run;

	buf_reserve(out, n);
	while (i < n) {
		run = ascii_run(p + i, n - i, one_line);
		if (run) {
			buf_add(out, p + i, run);
			i += run;
			continue;
		}
		if (one_line)
			next_one_line(p + i, n - i, false, &c);
		else
			text_next(p + i, n - i, &c);
		if (c.kind == TEXT_TAB || c.kind == TEXT_NEWLINE)
			buf_addc(out, c.kind == TEXT_TAB ? '\t' : '\n');
		else
			buf_add(out, c.bytes, c.n);
		i += c.src_n;
	}
	buf_add(out, NULL, 0);
}

size_t text_safe_array(char *out, size_t size, const char *p, size_t n)
{
	struct text_cluster c;
	size_t i, used = 0;

	for (i = 0; i < n; i += c.src_n) {
		next_one_line(p + i, n - i, false, &c);
		if (c.n >= size - used)
			break;
		memcpy(out + used, c.bytes, c.n);
		used += c.n;
	}
	out[used] = '\0';
	return used;
}

int text_width(const char *p, size_t n)
{
	struct text_cluster c;
	size_t i = 0, run;
	int width = 0;

	while (i < n) {
		run = ascii_run(p + i, n - i, true);
		if (run > (size_t)(INT_MAX - width))
			return INT_MAX;
		width += (int)run;
		i += run;
		if (i == n)
			break;
		next_one_line(p + i, n - i, false, &c);
		if (c.width > INT_MAX - width)
			return INT_MAX;
		width += c.width;
		i += c.src_n;
	}
	return width;
}

size_t text_fit(const char *p, size_t n, int cols, int *used, bool *cut)
{
	struct text_cluster c;
	int width = 0;
	size_t i = 0;

	while (i < n) {
		next_one_line(p + i, n - i, true, &c);
		if (c.kind == TEXT_NEWLINE || c.width > cols - width)
			break;
		width += c.width;
		i += c.src_n;
	}
	if (used)
		*used = width;
	if (cut)
		*cut = i < n && !(c.kind == TEXT_NEWLINE && i + c.src_n == n);
	return i;
}
