/*
 * fuzz-text.c - hostile bytes through text_safe. Nothing forbidden may come
 * out, widths must add up, cuts must fall between clusters, and safe text must
 * stay as it is.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/safe.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "base/utf8.h"
#include "json/value.h"
#include "json/write.h"

/* The columns that p[0..n) takes, code point by code point. */
static int check_clean(const struct buf *b, bool one_line)
{
	int width = 0, w;
	size_t i = 0;

	while (i < b->n) {
		uint32_t cp;

		i += utf8_decode(b->p + i, b->n - i, &cp);
		if (!one_line && (cp == '\n' || cp == '\t'))
			continue;
		HOLDS(may_come_out(cp));
		w = wcwidth((wchar_t)cp);
		HOLDS(w >= 0);
		width += w;
	}
	return width;
}

static void check_same(const struct buf *b, unsigned flags)
{
	struct buf again = { 0 };

	text_safe(&again, b->p, b->n, flags);
	HOLDS(again.n == b->n && memcmp(again.p, b->p, b->n) == 0);
	buf_release(&again);
}

static void check_fit(const char *p, size_t n, int cols)
{
	struct text_cluster c;
	size_t fits, i;
	bool cut;
	int used;

	fits = text_fit(p, n, cols, &used, &cut);
	HOLDS(fits <= n && used >= 0 && used <= (cols > 0 ? cols : 0));
	HOLDS(text_width(p, fits) == used);
	HOLDS(cut || fits == n || p[n - 1] == '\n');
	for (i = 0; i < fits; i += c.src_n) {
		text_next(p + i, n - i, &c);
		HOLDS(c.src_n > 0 && c.n <= sizeof(c.bytes) && c.kind != TEXT_NEWLINE);
	}
	HOLDS(i == fits);
}

/* What a writer makes of the bytes is read back as their valid form. */
static void check_json(const char *p, size_t n)
{
	struct buf raw = { 0 }, back = { 0 };
	struct json_scan scan;

	json_put_string(&raw, (struct str){ p, n });
	HOLDS(json_scan_value(raw.p, raw.n, &scan) == JSON_OK && scan.end == raw.n);
	HOLDS(json_string((struct str){ raw.p, raw.n }, &back, SIZE_MAX) == raw.n);
	if (utf8_valid_prefix(p, n) == n)
		HOLDS(back.n == n && (n == 0 || memcmp(back.p, p, n) == 0));
	buf_release(&raw);
	buf_release(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;
	struct buf safe = { 0 };
	char array[40];
	size_t n;
	int cols;

	if (MB_CUR_MAX == 1)
		setlocale(LC_ALL, "C.UTF-8");
	text_safe(&safe, p, size, 0);
	check_clean(&safe, false);
	check_same(&safe, 0);
	buf_clear(&safe);
	text_safe(&safe, p, size, TEXT_ONE_LINE);
	HOLDS(check_clean(&safe, true) == text_width(p, size));
	check_same(&safe, TEXT_ONE_LINE);
	n = text_safe_array(array, sizeof(array), p, size);
	HOLDS(n < sizeof(array) && array[n] == '\0' && n <= safe.n);
	HOLDS(memcmp(array, safe.p, n) == 0);
	for (cols = 0; cols < 5; cols++)
		check_fit(p, size, cols * cols);
	check_fit(p, size, 1 << 30);
	check_json(p, size);
	buf_release(&safe);
	return 0;
}
