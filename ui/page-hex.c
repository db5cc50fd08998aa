/*
 * page-hex.c - a peek at bytes: offset, hex, text. As many bytes a row as the
 * width holds. Rows that are all the same are shown once.
 */
#include "config.h"

#include "base/clock.h"
#include "ui/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROW_MAX = 16, PEEK_MAX = 1 << 20 };

/* Columns of a row of n bytes: offset, gap, hex in groups of eight, gap, text. */
static int row_width(int offset_cols, int n)
{
	return offset_cols + 2 + n * 3 - 1 + (n > 8) + 3 + n;
}

static int row_bytes(const struct page *p, int offset_cols)
{
	int n = ROW_MAX;

	while (n > 1 && row_width(offset_cols, n) > p->width)
		n /= 2;
	return n;
}

static bool is_text(unsigned char c)
{
	return c >= 0x20 && c < 0x7F;
}

static void put_row(struct page *p, const char *offset, const unsigned char *b, int n, int full)
{
	char cell[8];

	page_begin_par(p, "", "", ROLE_NORMAL);
	page_puts(p, ROLE_ID, offset);
	page_puts(p, ROLE_NORMAL, " ");
	for (int i = 0; i < full; i++) {
		const char *gap = i == 8 ? "  " : " ";

		if (i < n)
			snprintf(cell, sizeof(cell), "%s%02x", gap, b[i]);
		else
			snprintf(cell, sizeof(cell), "%s  ", gap);
		page_puts(p, i < n && is_text(b[i]) ? ROLE_NORMAL : ROLE_DIM, cell);
	}
	page_puts(p, ROLE_NORMAL, "   ");
	for (int i = 0; i < n; i++) {
		char c = is_text(b[i]) ? (char)b[i] : '.';

		page_text(p, is_text(b[i]) ? ROLE_CODE_STRING : ROLE_DIM, &c, 1);
	}
	page_end_par(p);
}

void page_hex(struct page *p, uint64_t offset, const void *bytes, size_t n)
{
	const unsigned char *b = bytes;
	size_t shown = n > PEEK_MAX ? PEEK_MAX : n;
	int cols = (offset + n) >> 32 ? 12 : 8;
	size_t step = (size_t)row_bytes(p, cols);
	bool is_same = false;
	char text[48];

	for (size_t i = 0; i < shown; i += step) {
		size_t len = shown - i < step ? shown - i : step;

		/* The last row is always there: it shows where the bytes end. */
		if (i && i + len < shown && memcmp(b + i, b + i - step, step) == 0) {
			if (!is_same)
				page_line(p, ROLE_DIM, "", "*", 1);
			is_same = true;
			continue;
		}
		is_same = false;
		snprintf(text, sizeof(text), "%0*" PRIx64, cols, offset + i);
		put_row(p, text, b + i, (int)len, (int)step);
	}
	if (shown < n) {
		snprintf(text, sizeof(text), "... %zu more byte%s", n - shown,
			plural(n - shown, "", "s"));
		page_line(p, ROLE_DIM, "", text, strlen(text));
		p->more = true;
	}
}
