/* The hex peek: rows for each width, offsets, equal rows, the end. */
#include "config.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/page-check.h"

static struct buf out;

static const char *hex(int width, uint64_t offset, const void *bytes, size_t n)
{
	struct page p;

	page_init(&p, width, true, false);
	page_hex(&p, offset, bytes, n);
	assert_null(page_fault(&p));
	buf_clear(&out);
	for (size_t i = 0; i < p.nlines; i++) {
		const struct page_line *line = &p.lines[i];
		const struct span *first = &p.spans[line->first], *last = first + line->nspans - 1;

		buf_add(&out, p.text.p + first->off, last->off + last->n - first->off);
		buf_addc(&out, '\n');
	}
	page_release(&p);
	return out.p;
}

static const char line[] = "{\"id\":\"ff1e-\",\"role\":\"USER\"}";

static void test_widths(void **state)
{
	assert_string_equal(hex(77, 43008, line, 18),
		"0000a800  7b 22 69 64 22 3a 22 66  66 31 65 2d 22 2c 22 72   {\"id\":\"ff1e-\",\"r\n"
		"0000a810  6f 6c                                              ol\n");
	assert_string_equal(hex(76, 43008, line, 9),
		"0000a800  7b 22 69 64 22 3a 22 66   {\"id\":\"f\n"
		"0000a808  66                        f\n");
	assert_string_equal(
		hex(30, 0, line, 5), "00000000  7b 22 69 64   {\"id\n00000004  22            \"\n");
	assert_string_equal(hex(20, 0, line, 3), "00000000  7b 22   {\"\n00000002  69      i\n");
	assert_string_equal(hex(1, 0, line, 1), "0\n0\n0\n0\n0\n0\n0\n0\n7\nb\n{\n");
}

static void test_bytes(void **state)
{
	assert_string_equal(hex(80, 0, "\0\x1B\x7F\xC3\xA9~", 6),
		"00000000  00 1b 7f c3 a9 7e                                  .....~\n");
	assert_string_equal(hex(80, 0, "", 0), "");
	assert_string_equal(hex(81, 0xFFFFFFFFFF, "x", 1),
		"00ffffffffff  78                                                 x\n");
}

static void test_same_rows(void **state)
{
	char *zeros = calloc(1, 200);

	assert_string_equal(hex(80, 0, zeros, 160),
		"00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00   ................\n"
		"*\n"
		"00000090  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00   ................\n");
	zeros[100] = 1;
	assert_string_equal(hex(80, 0, zeros, 128),
		"00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00   ................\n"
		"*\n"
		"00000060  00 00 00 00 01 00 00 00  00 00 00 00 00 00 00 00   ................\n"
		"00000070  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00   ................\n");
	free(zeros);
}

static void test_limit(void **state)
{
	size_t n = (1 << 20) + 77;
	char *zeros = calloc(1, n);
	const char *text = hex(80, 0, zeros, n);

	assert_non_null(strstr(text, "\n000ffff0  00"));
	assert_non_null(strstr(text, "\n... 77 more bytes\n"));
	free(zeros);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_same_rows),
		cmocka_unit_test(test_limit),
	};
	int failed;

	setlocale(LC_ALL, "");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	buf_release(&out);
	return failed;
}
