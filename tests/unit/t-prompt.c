/*
 * t-prompt.c - line editing with wide text, history, completion, questions.
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

#include "base/utf8.h"
#include "ui/internal.h"
#include "ui/view.h"

static struct ui ui;
static struct view view;
static char result[200];
static int changes;
static const struct view_ops no_ops = { .name = "none" };

static enum effect on_done(struct view *v, const char *text)
{
	snprintf(result, sizeof(result), "%s", text ? text : "(cancelled)");
	return FX_NONE;
}

static enum effect on_change(struct view *v, const char *text)
{
	changes++;
	snprintf(result, sizeof(result), "%s", text);
	return FX_NONE;
}

static void words(struct view *v, const char *text, struct candidates *out)
{
	static const char *const all[] = { "checkout", "fork", "fork-new", "fold" };

	for (size_t i = 0; i < 4; i++) {
		if (strncmp(all[i], text, strlen(text)) == 0)
			candidates_add(out, all[i]);
	}
}

static void open_prompt(const char *initial, enum history_kind history)
{
	struct prompt_spec spec = { .label = "x: ", .initial = initial, .history = history,
		.done = on_done, .change = on_change, .complete = words };

	view.ops = &no_ops;
	view.ui = &ui;
	ui.top = &view;
	result[0] = '\0';
	changes = 0;
	prompt_open(&ui, &spec);
}

static void type(const char *s)
{
	uint32_t cp;

	for (size_t n = strlen(s); n > 0;) {
		size_t used = utf8_decode(s, n, &cp);
		prompt_key(&ui, cp);
		s += used;
		n -= used;
	}
}

static const char *text(void)
{
	return ui.prompt.text.n ? ui.prompt.text.p : "";
}

static void test_typing(void **state)
{
	open_prompt(NULL, HISTORY_NONE);
	type("hello");
	assert_int_equal(changes, 5);
	prompt_key(&ui, K_LEFT);
	prompt_key(&ui, K_LEFT);
	prompt_key(&ui, K_BACKSPACE);
	type("L");
	assert_string_equal(text(), "heLlo");
	prompt_key(&ui, K_HOME);
	prompt_key(&ui, K_DELETE);
	prompt_key(&ui, K_END);
	type("!");
	assert_string_equal(text(), "eLlo!");
	prompt_key(&ui, K_ENTER);
	assert_string_equal(result, "eLlo!");
	assert_false(ui.prompt.is_open);
}

static void test_clusters(void **state)
{
	open_prompt(NULL, HISTORY_NONE);
	type("a\u65e5e\u0301b"); /* a wide one, an e with a combining accent */
	prompt_key(&ui, K_LEFT);
	prompt_key(&ui, K_BACKSPACE); /* the whole cluster */
	assert_string_equal(text(), "a\u65e5b");
	prompt_key(&ui, K_BACKSPACE);
	assert_string_equal(text(), "ab");
	prompt_key(&ui, K_LEFT);
	prompt_key(&ui, K_LEFT);
	prompt_key(&ui, K_LEFT); /* at the front already */
	prompt_key(&ui, K_RIGHT);
	type("\u65e5");
	assert_string_equal(text(), "a\u65e5b");
	prompt_key(&ui, K_ESC);
	assert_string_equal(result, "(cancelled)");
}

static void test_words_and_lines(void **state)
{
	open_prompt("one two  three", HISTORY_NONE);
	prompt_key(&ui, key_ctrl('w'));
	assert_string_equal(text(), "one two  ");
	prompt_key(&ui, key_ctrl('w'));
	assert_string_equal(text(), "one ");
	prompt_key(&ui, K_HOME);
	prompt_key(&ui, key_ctrl('k'));
	assert_int_equal(ui.prompt.text.n, 0);
	type("abc");
	prompt_key(&ui, K_LEFT);
	prompt_key(&ui, key_ctrl('u'));
	assert_string_equal(text(), "c");
	prompt_key(&ui, K_DELETE);
	prompt_key(&ui, K_BACKSPACE); /* nothing left: cancels */
	assert_string_equal(result, "(cancelled)");
}

static void test_history(void **state)
{
	for (int i = 0; i < 3; i++) {
		static const char *const lines[] = { "first", "second", "first" };
		open_prompt(NULL, HISTORY_SEARCH);
		type(lines[i]);
		prompt_key(&ui, K_ENTER);
	}
	open_prompt(NULL, HISTORY_SEARCH);
	type("draft");
	prompt_key(&ui, K_UP);
	assert_string_equal(text(), "first"); /* once, at its newest place */
	prompt_key(&ui, K_UP);
	assert_string_equal(text(), "second");
	prompt_key(&ui, K_UP);
	assert_string_equal(text(), "second");
	prompt_key(&ui, K_DOWN);
	prompt_key(&ui, K_DOWN);
	assert_string_equal(text(), "draft");
	prompt_key(&ui, K_ESC);
	open_prompt(NULL, HISTORY_FILTER); /* another kind has its own */
	prompt_key(&ui, K_UP);
	assert_int_equal(ui.prompt.text.n, 0);
	prompt_key(&ui, K_ESC);
}

static void test_completion(void **state)
{
	open_prompt(NULL, HISTORY_NONE);
	type("fo");
	prompt_key(&ui, K_TAB);
	assert_string_equal(text(), "fold");
	prompt_key(&ui, K_TAB);
	assert_string_equal(text(), "fork");
	prompt_key(&ui, K_TAB);
	prompt_key(&ui, K_TAB);
	assert_string_equal(text(), "fold");
	prompt_key(&ui, K_BACKTAB);
	assert_string_equal(text(), "fork-new");
	type("x"); /* an edit ends it */
	prompt_key(&ui, K_TAB);
	assert_string_equal(text(), "fork-newx");
	prompt_key(&ui, K_ESC);
}

static void test_question(void **state)
{
	struct prompt_spec spec = { .label = "sure? ", .is_question = true, .done = on_done };
	static const struct {
		uint32_t key;
		const char *want;
	} rows[] = { { 'y', "y" }, { 'n', "(cancelled)" }, { K_ENTER, "(cancelled)" },
		{ K_ESC, "(cancelled)" }, { 3, "(cancelled)" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		prompt_open(&ui, &spec);
		prompt_key(&ui, rows[i].key);
		assert_string_equal(result, rows[i].want);
		assert_false(ui.prompt.is_open);
	}
}

/* However narrow the line is, the answers of a question are on it. */
static void test_question_width(void **state)
{
	struct prompt_spec spec = { .label = "Set the torn end aside and commit all of it? (y/n) ",
		.is_question = true, .done = on_done };
	struct rowbuf rb = { 0 };

	prompt_open(&ui, &spec);
	for (int cols = 8; cols < 70; cols++) {
		struct buf seen = { 0 };

		row_start(&rb, cols, false);
		prompt_draw(&ui, &rb, 0);
		assert_true(rb.n <= cols);
		buf_add(&seen, rb.text.p, rb.text.n);
		buf_addc(&seen, '\0');
		assert_non_null(strstr(seen.p, "(y/n)"));
		assert_int_equal(strstr(seen.p, "all of it? (y/n)") != NULL, cols >= 51);
		buf_release(&seen);
	}
	prompt_key(&ui, K_ESC);
	row_release(&rb);
}

/* At every width the cursor stands on the screen and nothing is drawn outside. */
static void test_drawing(void **state)
{
	struct rowbuf rb = { 0 };

	open_prompt("a long text with \u65e5\u672c\u8a9e and more of it", HISTORY_NONE);
	for (int cols = 1; cols < 60; cols++) {
		row_start(&rb, cols, false);
		prompt_draw(&ui, &rb, 3);
		assert_true(rb.n <= cols);
		assert_int_equal(ui.draw.cursor_y, 3);
		assert_true(ui.draw.cursor_x >= 0 && ui.draw.cursor_x < cols);
	}
	prompt_key(&ui, K_ESC);
	row_release(&rb);
}

static int end(void **state)
{
	prompt_release(&ui.prompt);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_typing),
		cmocka_unit_test(test_clusters),
		cmocka_unit_test(test_words_and_lines),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_completion),
		cmocka_unit_test(test_question),
		cmocka_unit_test(test_question_width),
		cmocka_unit_test(test_drawing),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, end);
}
