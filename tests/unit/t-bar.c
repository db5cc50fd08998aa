/*
 * t-bar.c - lines of fields at every width from 1 to 120: fields are whole or
 * not there, two never touch, and the right ones never lie on the left ones.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/bar.h"

/* The words of a header; "c/C" is long and short. */
static void fill(struct bar *b)
{
	bar_say(bar_left(b, 0), ROLE_TITLE, "North pier, evening");
	bar_elastic(b, 8);
	bar_say(bar_left(b, 3), ROLE_TITLE, "73 entries");
	bar_say(bar_left(b, 2), ROLE_TITLE, "tip 4f2a: checked out");
	bar_say(bar_left(b, 2), ROLE_TITLE, "tip 4f2a");
	bar_shorter(b);
	bar_say(bar_right(b, 1), ROLE_DAMAGE, "2 problems");
	bar_say(bar_right(b, 4), ROLE_TITLE, "3.1K");
}

static const char *const words[] = { "North pier, evening", "73 entries", "tip 4f2a: checked out",
	"tip 4f2a", "2 problems", "3.1K" };
#define NWORDS (sizeof(words) / sizeof(*words))

static char *draw(int width, int from, void (*fields)(struct bar *b))
{
	struct rowbuf row = { 0 };
	struct buf text = { 0 };
	struct bar b;

	row_start(&row, from + width, false);
	row_spaces(&row, ROLE_NORMAL, from);
	bar_begin(&b, &row);
	fields(&b);
	bar_draw(&b, ROLE_TITLE, &row);
	assert_int_equal(row.n, from + width);
	row_bytes(&row, from, row.n, &text, NULL);
	row_release(&row);
	return buf_take(&text);
}

static bool is_word(const char *p, size_t n)
{
	for (size_t i = 0; i < NWORDS; i++) {
		if (strlen(words[i]) == n && memcmp(words[i], p, n) == 0)
			return true;
	}
	/* the title may be cut */
	return n > 0 && n < strlen(words[0]) && p[n - 1] == '~' && memcmp(words[0], p, n - 1) == 0;
}

static void test_every_width(void **state)
{
	for (int from = 0; from < 4; from += 3) {
		for (int width = 1; width <= 120; width++) {
			char *line = draw(width, from, fill), *p = line;

			while (*p) {
				char *end;

				p += strspn(p, " ");
				end = strstr(p, "  ");
				size_t n = end ? (size_t)(end - p) : strlen(p);
				while (n > 0 && p[n - 1] == ' ')
					n--;
				if (n > 0 && !is_word(p, n))
					fail_msg("width %d: \"%.*s\" in \"%s\"", width, (int)n, p,
						line);
				p += n;
				p += strspn(p, " ");
			}
			free(line);
		}
	}
}

static void assert_drawn(int width, const char *want)
{
	char *line = draw(width, 0, fill);

	assert_string_equal(line, want);
	free(line);
}

/* Which fields go first, and who gets the room. */
static void test_order(void **state)
{
	assert_drawn(80,
		" North pier, evening  73 entries  tip 4f2a: checked out        2 problems  3.1K ");
	assert_drawn(70, " North pier, ev~  73 entries  tip 4f2a: checked out  2 problems  3.1K ");
	assert_drawn(60, " North pier~  73 entries  tip 4f2a: checked out  2 problems ");
	assert_drawn(50, " North pier, ~  tip 4f2a: checked out  2 problems ");
	assert_drawn(40, " North pier, eve~  tip 4f2a  2 problems ");
	assert_drawn(30, " North pier, eve~  2 problems ");
	assert_drawn(20, " North pier, eveni~ ");
}

static void test_tiny(void **state)
{
	assert_drawn(1, "~");
	assert_drawn(3, " ~ ");
	assert_drawn(10, " North p~ ");
}

static void two_plain(struct bar *b)
{
	bar_say(bar_left(b, 1), ROLE_TITLE, "12 of 17");
	bar_say(bar_right(b, 0), ROLE_TITLE, "4/9");
	bar_left(b, 0); /* nothing in it: takes no room and no gap */
}

/* A number is never cut: half of it would be another one. */
static void test_nothing_elastic(void **state)
{
	static const struct { int width; const char *want; } cases[] = {
		{ 20, " 12 of 17       4/9 " }, { 15, " 12 of 17  4/9 " }, { 14, "          4/9 " },
		{ 5, " 4/9 " }, { 4, "    " }, { 1, " " },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *line = draw(cases[i].width, 0, two_plain);

		assert_string_equal(line, cases[i].want);
		free(line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_width),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_tiny),
		cmocka_unit_test(test_nothing_elastic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
