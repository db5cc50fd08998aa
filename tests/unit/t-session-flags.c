/*
 * t-session-flags.c - the state words of a session's row in every room they can
 * get, and the words that the filter looks at.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "ui/session-flags.h"

static struct session_row row_of_all(void)
{
	return (struct session_row){ .id = "s-north", .path = "/r/s-north.jsonl", .root = "/r",
		.project = "/srv/harbour", .title = "North pier", .format = "tree",
		.parent_id = "s-old", .state = ROW_LOADED, .nproblems = 3, .torn_bytes = 60,
		.is_torn = true, .is_damaged = true, .live = LIVE_FRESH, .is_twin = true,
		.is_readonly = true, .is_gone = true };
}

static void assert_drawn(const struct session_row *row, int cols, const char *want)
{
	struct rowbuf out = { 0 };
	struct buf text = { 0 };

	row_start(&out, 100, false);
	session_flags_draw(row, cols, &out);
	assert_true(out.n <= cols);
	row_bytes(&out, 0, out.n, &text, NULL);
	assert_string_equal(text.n ? text.p : "", want);
	row_release(&out);
	buf_release(&text);
}

static void test_room(void **state)
{
	struct session_row row = row_of_all(), none = { .id = "x" };

	assert_int_equal(session_flags_cols(&row), 48);
	assert_drawn(&row, 48, "gone torn 60 B 3 problems live same id read-only");
	assert_drawn(&row, 36, "gone torn broken live same id");
	assert_drawn(&row, 16, "gone torn broken");
	assert_drawn(&row, 8, "gone");
	assert_drawn(&row, 3, "");
	row.is_gone = row.is_twin = row.is_readonly = false;
	row.live = LIVE_QUIET;
	assert_drawn(&row, 21, "torn 60 B 3 problems");
	assert_drawn(&row, 19, "torn 60 B broken");
	assert_drawn(&row, 15, "torn broken");
	assert_drawn(&row, 8, "torn");
	row.is_torn = false;
	row.nproblems = 1;
	assert_drawn(&row, 9, "1 problem");
	assert_drawn(&row, 8, "broken");
	assert_int_equal(session_flags_cols(&none), 0);
	assert_drawn(&none, 20, "");
	for (int cols = 0; cols < 60; cols++) {
		struct session_row all = row_of_all();
		struct rowbuf out = { 0 };

		row_start(&out, 100, false);
		session_flags_draw(&all, cols, &out);
		assert_true(out.n <= cols);
		row_release(&out);
	}
}

static void test_words(void **state)
{
	static const char *const there[] = { "North pier\n", "s-north\n", "/srv/harbour\n", "tree\n",
		"fork\n", "parent missing\n", "gone\n", "torn 60 B\n", "3 problems\n", "broken\n",
		"live\n", "same id\n", "read-only\n" };
	struct session_row row = row_of_all();
	struct session_row locked = { .id = "s-locked", .state = ROW_UNREADABLE,
		.reason = "permission denied", .format = "dsh" };
	struct buf words = { 0 };

	session_words(&row, true, &words);
	for (size_t i = 0; i < sizeof(there) / sizeof(*there); i++) {
		if (!strstr(words.p, there[i]))
			fail_msg("\"%s\" is not in \"%s\"", there[i], words.p);
	}
	buf_clear(&words);
	session_words(&locked, false, &words);
	assert_non_null(strstr(words.p, "cannot read\npermission denied\n"));
	assert_non_null(strstr(words.p, "no project\n"));
	assert_null(strstr(words.p, "torn"));
	assert_null(strstr(words.p, "parent"));
	buf_release(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
