/*
 * t-cell.c - rows of cells: cutting, padding, wide clusters, hostile bytes.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/cell.h"

static const char *text_of(const struct rowbuf *rb)
{
	static char out[4096];
	struct buf b = { 0 };

	row_bytes(rb, 0, rb->n, &b, NULL);
	assert_true(b.n < sizeof(out));
	memcpy(out, b.n ? b.p : "", b.n);
	out[b.n] = '\0';
	buf_release(&b);
	return out;
}

#define TEXT(rb, s) row_text((rb), ROLE_NORMAL, (s), strlen(s))

static void test_cut(void **state)
{
	struct rowbuf rb = { 0 };

	row_start(&rb, 6, false);
	TEXT(&rb, "abcdef");
	assert_string_equal(text_of(&rb), "abcdef");
	row_start(&rb, 6, false);
	TEXT(&rb, "abcdefg");
	assert_string_equal(text_of(&rb), "abcde~");
	row_start(&rb, 6, false);
	TEXT(&rb, "abcdef  \n");
	assert_string_equal(text_of(&rb), "abcdef"); /* nothing but white space is lost */
	row_release(&rb);
}

static void test_white_space(void **state)
{
	struct rowbuf rb = { 0 };

	row_start(&rb, 40, false);
	TEXT(&rb, "a \t\n  b\r\nc");
	assert_string_equal(text_of(&rb), "a b c");
	row_start(&rb, 40, false);
	row_printf(&rb, ROLE_NORMAL, "%d  %s", 7, "x");
	assert_string_equal(text_of(&rb), "7  x");
	row_release(&rb);
}

static void test_wide(void **state)
{
	struct rowbuf rb = { 0 };

	row_start(&rb, 5, false);
	TEXT(&rb, "\u65e5\u672c\u8a9e"); /* six columns */
	assert_int_equal(rb.n, 5);
	assert_string_equal(text_of(&rb), "\u65e5\u672c~");
	assert_int_equal(rb.cells[0].width, 2);
	assert_int_equal(rb.cells[1].width, 0);
	/* the mark takes the column of half a cluster: the other half becomes a space */
	row_start(&rb, 4, false);
	TEXT(&rb, "\u65e5\u672cx");
	assert_string_equal(text_of(&rb), "\u65e5 ~");
	assert_int_equal(rb.cells[2].width, 1);
	row_start(&rb, 1, false);
	TEXT(&rb, "\u65e5");
	assert_string_equal(text_of(&rb), "~");
	row_release(&rb);
}

static void test_hostile(void **state)
{
	struct rowbuf rb = { 0 };

	row_start(&rb, 60, false);
	TEXT(&rb, "a\033[2Jb\u202ec\a");
	assert_string_equal(text_of(&rb), "a^[[2Jb<202E>c^G");
	assert_int_equal(rb.cells[0].role, ROLE_NORMAL);
	assert_int_equal(rb.cells[1].role, ROLE_CONTROL);
	assert_int_equal(rb.cells[2].role, ROLE_CONTROL);
	assert_int_equal(rb.cells[3].role, ROLE_NORMAL);
	row_start(&rb, 60, false);
	row_text(&rb, ROLE_NORMAL, "x\xff\xfey\0z", 6);
	for (size_t i = 0; i < rb.text.n; i++)
		assert_true((unsigned char)rb.text.p[i] >= 32);
	row_release(&rb);
}

static void test_fields(void **state)
{
	struct rowbuf rb = { 0 };

	row_start(&rb, 20, false);
	row_field(&rb, ROLE_ID, "abc", 3, 5);
	row_field(&rb, ROLE_ID, "abcdefgh", 8, 4);
	row_field_right(&rb, ROLE_ID, "12", 2, 4);
	row_field_right(&rb, ROLE_ID, "123456", 6, 4);
	assert_string_equal(text_of(&rb), "abc  abc~  12123~");
	row_release(&rb);
}

static void test_clip(void **state)
{
	struct rowbuf rb = { 0 };

	row_start(&rb, 10, false);
	row_clip(&rb, 4);
	TEXT(&rb, "left pane");
	row_pad(&rb, ROLE_NORMAL);
	row_clip(&rb, 10);
	row_glyph(&rb, ROLE_BORDER, GLYPH_VERTICAL);
	TEXT(&rb, "r");
	row_pad(&rb, ROLE_NORMAL);
	assert_int_equal(rb.n, 10);
	assert_string_equal(text_of(&rb), "lef~\u2502r    ");
	row_clip(&rb, 3); /* never below what is filled */
	assert_int_equal(rb.clip, 10);
	row_release(&rb);
}

static void test_glyphs(void **state)
{
	struct rowbuf rb = { 0 };

	for (int ascii = 0; ascii < 2; ascii++) {
		for (int g = 0; g < GLYPH_COUNT; g++) {
			int cols = g == GLYPH_PASS || g == GLYPH_FORK || g == GLYPH_LAST ||
				g == GLYPH_NOTHING ? 2 : 1;
			row_start(&rb, 10, ascii);
			row_glyph(&rb, ROLE_NORMAL, (enum glyph)g);
			assert_int_equal(rb.n, cols);
			for (size_t i = 0; ascii && i < rb.text.n; i++)
				assert_true(rb.text.p[i] > 31 && rb.text.p[i] < 127);
		}
	}
	row_release(&rb);
}

static void test_span_skip(void **state)
{
	struct rowbuf rb = { 0 };
	int skip = 3;

	row_start(&rb, 6, false);
	row_span(&rb, ROLE_CODE, "ab\u65e5x  y", strlen("ab\u65e5x  y"), &skip);
	assert_string_equal(text_of(&rb), " x  y"); /* the left edge cuts the wide cluster */
	assert_int_equal(skip, 0);
	row_release(&rb);
}

static void test_bytes_and_equal(void **state)
{
	struct rowbuf a = { 0 }, b = { 0 };
	struct buf text = { 0 };
	uint32_t *cols;

	row_start(&a, 8, false);
	TEXT(&a, "x\u65e5y");
	row_bytes(&a, 0, a.n, &text, &cols);
	assert_int_equal(text.n, 5);
	assert_int_equal(cols[0], 0);
	assert_int_equal(cols[1], 1);
	assert_int_equal(cols[3], 1);
	assert_int_equal(cols[4], 3);
	assert_int_equal(cols[5], 4);
	row_start(&b, 8, false);
	TEXT(&b, "x\u65e5y");
	assert_true(row_equal(&a, &b));
	row_set_role(&b, 1, 3, ROLE_MATCH);
	assert_false(row_equal(&a, &b));
	row_start(&b, 8, false);
	row_append(&b, &a);
	assert_string_equal(text_of(&b), text_of(&a));
	free(cols);
	buf_release(&text);
	row_release(&a);
	row_release(&b);
}

static void test_no_room(void **state)
{
	struct rowbuf rb = { 0 };

	row_start(&rb, 0, false);
	TEXT(&rb, "abc");
	row_field(&rb, ROLE_ID, "abc", 3, 5);
	row_glyph(&rb, ROLE_ID, GLYPH_FORK);
	row_pad(&rb, ROLE_NORMAL);
	assert_int_equal(rb.n, 0);
	row_release(&rb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_white_space),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_clip),
		cmocka_unit_test(test_glyphs),
		cmocka_unit_test(test_span_skip),
		cmocka_unit_test(test_bytes_and_equal),
		cmocka_unit_test(test_no_room),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
