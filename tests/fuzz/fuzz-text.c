/*
 * fuzz-text.c - hostile bytes to safe text: what comes out can steer nothing,
 * widths add up, and what is safe stays as it is.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <locale.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/utf8.h"

/* The list stands here a second time on purpose: it is the promise, not the code. */
static bool is_forbidden(uint32_t cp, bool one_line)
{
	if (cp == '\n' || cp == '\t')
		return one_line;
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0xad || cp == 0x61c || cp == 0x200b ||
		cp == 0x200e || cp == 0x200f || (cp >= 0x2028 && cp <= 0x202e) ||
		(cp >= 0x2066 && cp <= 0x2069) || cp == 0xfeff || (cp >= 0xe0000 && cp <= 0xe007f);
}

static void check_safe(const struct buf *b, bool one_line)
{
	for (size_t at = 0; at < b->n;) {
		uint32_t cp;

		at += utf8_decode(b->p + at, b->n - at, &cp);
		HOLDS(cp != UTF8_BAD);
		HOLDS(!is_forbidden(cp, one_line));
	}
}

static void check_twice(const char *p, size_t n, unsigned flags)
{
	struct buf once = { 0 }, twice = { 0 };

	text_safe(&once, p, n, flags);
	check_safe(&once, flags & TEXT_ONE_LINE);
	text_safe(&twice, once.n ? once.p : "", once.n, flags);
	HOLDS(once.n == twice.n && (once.n == 0 || memcmp(once.p, twice.p, once.n) == 0));
	buf_release(&once);
	buf_release(&twice);
}

static void check_walk(const char *p, size_t n)
{
	for (size_t at = 0; at < n;) {
		struct text_cluster c;

		text_next(p + at, n - at, &c);
		HOLDS(c.src_n > 0 && c.src_n <= n - at);
		HOLDS(c.n <= sizeof(c.bytes));
		HOLDS(c.width > 0 || c.kind == TEXT_NEWLINE || c.kind == TEXT_TAB);
		at += c.src_n;
	}
}

static void check_fit(const char *p, size_t n, int cols)
{
	int used = -1;
	bool cut = false;
	size_t fits = text_fit(p, n, cols, &used, &cut);

	HOLDS(fits <= n);
	HOLDS(used >= 0 && used <= cols);
	if (!cut) {
		/* What is left ends the text: nothing, or a line end. */
		size_t left = n - fits;

		HOLDS(left == 0 || (left == 1 && p[fits] == '\n') ||
			(left == 2 && p[fits] == '\r' && p[fits + 1] == '\n'));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	const char *p = (const char *)data;
	char small[24];

	if (!ready) {
		setlocale(LC_ALL, "C.UTF-8");
		ready = true;
	}
	check_walk(p, size);
	check_twice(p, size, 0);
	check_twice(p, size, TEXT_ONE_LINE);
	check_fit(p, size, size ? data[0] % 120 : 0);
	HOLDS(text_safe_array(small, sizeof(small), p, size) == strlen(small));
	return 0;
}
