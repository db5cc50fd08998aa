/*
 * t-view.c - the generic parts of a view on a list of numbers: scrolling, the
 * cursor kept by identity, where the panes lie at every size, search.
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

#include "ui/internal.h"
#include "ui/view.h"

struct list {
	uint64_t id[1000];
	size_t n;
	size_t home;
};

static size_t list_count(const struct view *v)
{
	return ((struct list *)v->priv)->n;
}

static uint64_t list_id(const struct view *v, size_t line)
{
	return ((struct list *)v->priv)->id[line];
}

static size_t list_line_of(const struct view *v, uint64_t id)
{
	const struct list *l = v->priv;

	for (size_t i = 0; i < l->n; i++) {
		if (l->id[i] == id)
			return i;
	}
	return LINE_NONE;
}

static size_t list_home(const struct view *v)
{
	return ((struct list *)v->priv)->home;
}

static void list_row(struct view *v, size_t line, struct rowbuf *out)
{
	row_printf(out, ROLE_NORMAL, "item %d", (int)((struct list *)v->priv)->id[line]);
}

static const struct command_table no_commands;
static struct view_ops list_ops = {
	.name = "list",
	.private_size = sizeof(struct list),
	.commands = &no_commands,
	.count = list_count,
	.line_id = list_id,
	.line_of = list_line_of,
	.home = list_home,
	.draw_row = list_row,
};

static struct ui ui;

static struct view *make(size_t n, int cols, int rows)
{
	struct view *v;

	memset(&ui, 0, sizeof(ui));
	ui.screen.cols = cols;
	ui.screen.rows = rows;
	v = view_push(&ui, &list_ops, NULL);
	for (size_t i = 0; i < n; i++)
		((struct list *)v->priv)->id[i] = i;
	((struct list *)v->priv)->n = n;
	return v;
}

static void test_moving(void **state)
{
	struct view *v = make(100, 80, 12); /* ten rows of list */

	view_move(v, 5);
	assert_int_equal(v->cursor, 5);
	assert_int_equal(v->top, 0);
	view_move(v, 5);
	assert_int_equal(v->cursor, 10);
	assert_int_equal(v->top, 1);
	view_move(v, -20);
	assert_int_equal(v->cursor, 0);
	assert_int_equal(v->top, 0);
	view_set_cursor(v, 1000);
	assert_int_equal(v->cursor, 99);
	assert_int_equal(v->top, 90);
	view_page(v, -10);
	assert_int_equal(v->cursor, 89);
	assert_int_equal(v->top, 80);
	view_set_cursor(v, 20); /* far: not at the very edge */
	assert_int_equal(v->top, 15);
	view_pop(&ui);
}

static void test_empty(void **state)
{
	struct view *v = make(0, 80, 24);

	view_move(v, 1);
	view_page(v, 10);
	view_page(v, -10);
	view_relayout(v);
	assert_int_equal(v->cursor, 0);
	assert_int_equal(v->top, 0);
	view_pop(&ui);
}

static void test_identity(void **state)
{
	struct view *v = make(50, 80, 12);
	struct list *l = v->priv;

	view_set_cursor(v, 20);
	view_move(v, 3);
	assert_int_equal(list_id(v, v->cursor), 23);
	size_t offset = v->cursor - v->top;
	/* ten come in front */
	memmove(l->id + 10, l->id, l->n * sizeof(*l->id));
	for (size_t i = 0; i < 10; i++)
		l->id[i] = 500 + i;
	l->n += 10;
	view_move(v, 10); /* the cursor stood on 23, which is 10 lines further down now */
	list_ops.layout = NULL;
	view_relayout(v);
	assert_int_equal(list_id(v, v->cursor), 23);
	assert_true(offset < 10);
	/* its thing goes away: the cursor stays at its line */
	size_t line = v->cursor;
	l->id[line] = 999;
	view_relayout(v);
	assert_int_equal(v->cursor, line);
	view_pop(&ui);
}

static struct list shifted;

static void swap_in(struct view *v)
{
	*(struct list *)v->priv = shifted;
}

static void test_relayout_keeps_the_place(void **state)
{
	struct view *v = make(50, 80, 12);

	view_set_cursor(v, 20);
	view_move(v, 3);
	size_t offset = v->cursor - v->top;
	shifted = *(struct list *)v->priv;
	memmove(shifted.id + 7, shifted.id, 50 * sizeof(*shifted.id));
	for (size_t i = 0; i < 7; i++)
		shifted.id[i] = 700 + i;
	shifted.n = 57;
	list_ops.layout = swap_in;
	view_relayout(v);
	list_ops.layout = NULL;
	assert_int_equal(v->cursor, 30);
	assert_int_equal(v->cursor - v->top, offset); /* the same row of the screen */
	view_pop(&ui);
}

static void test_home_until_moved(void **state)
{
	struct view *v = make(50, 80, 12);
	struct list *l = v->priv;

	l->home = 3;
	view_relayout(v);
	assert_int_equal(v->cursor, 3);
	view_move(v, 1);
	l->home = 9;
	view_relayout(v);
	assert_int_equal(v->cursor, 4);
	view_pop(&ui);
}

static void assert_inside(const struct rect *r, int cols, int rows)
{
	if (r->w == 0 || r->h == 0)
		return;
	assert_true(r->x >= 0 && r->y >= 0 && r->w > 0 && r->h > 0);
	assert_true(r->x + r->w <= cols && r->y + r->h <= rows);
}

/* At every size the pieces lie on the screen, fill it and do not overlap. */
static void test_rects(void **state)
{
	static const enum pane_place panes[] = { PANE_NONE, PANE_RIGHT, PANE_BELOW };
	struct view *v = make(5, 80, 24);
	struct view_rects r;

	for (int p = 0; p < 3; p++) {
		list_ops.pane = panes[p];
		list_ops.pane_percent = 25;
		for (int cols = 1; cols <= 200; cols += cols < 100 ? 1 : 25) {
			for (int rows = 1; rows <= 60; rows++) {
				view_rects(v, cols, rows, &r);
				int header = r.header >= 0, status = r.status >= 0;
				assert_inside(&r.list, cols, rows);
				assert_inside(&r.pane, cols, rows);
				assert_inside(&r.border, cols, rows);
				int area = r.list.w * r.list.h + r.pane.w * r.pane.h +
					r.border.w * r.border.h;
				assert_int_equal(area, cols * (rows - header - status));
				assert_true(r.list.h > 0 && r.list.w > 0);
			}
		}
	}
	list_ops.pane = PANE_RIGHT;
	view_rects(v, 100, 30, &r);
	assert_int_equal(r.pane.x, 62);
	view_rects(v, 79, 30, &r);
	assert_true(r.pane.y > r.list.y && r.pane.w == 79);
	view_rects(v, 39, 30, &r);
	assert_int_equal(r.pane.w, 0);
	v->pane_focus = true;
	view_rects(v, 39, 30, &r);
	assert_int_equal(r.list.w, 0);
	assert_int_equal(r.pane.w, 39);
	list_ops.pane = PANE_NONE;
	view_pop(&ui);
}

static void search_all(struct view *v)
{
	while (search_step(v, 1000))
		;
}

static void test_search(void **state)
{
	struct view *v = make(100, 80, 12);
	struct err err = { 0 };

	assert_int_equal(search_set(&v->search, "item .7$", &err), 0);
	search_start(v, 1, true);
	search_all(v);
	assert_int_equal(v->cursor, 17);
	search_start(v, 1, false);
	search_all(v);
	assert_int_equal(v->cursor, 27);
	search_start(v, -1, false);
	search_all(v);
	search_start(v, -1, false);
	search_all(v);
	assert_int_equal(v->cursor, 97); /* round the beginning */
	assert_non_null(strstr(ui.status.text, "other end"));
	assert_int_equal(search_set(&v->search, "nothing", &err), 0);
	search_start(v, 1, false);
	search_all(v);
	assert_int_equal(v->cursor, 97);
	assert_true(ui.status.is_error);
	assert_true(search_set(&v->search, "(", &err) < 0);
	assert_string_equal(v->search.pattern, "nothing"); /* the old one stays */
	view_pop(&ui);
}

static void test_smart_case(void **state)
{
	struct search s = { 0 };

	search_set(&s, "tide", NULL);
	assert_true(search_matches(&s, "The Tide", 8));
	search_set(&s, "Tide", NULL);
	assert_false(search_matches(&s, "the tide", 8));
	search_set(&s, "\\W", NULL);
	assert_true(search_matches(&s, "a b", 3));
	search_set(&s, "\u00e4", NULL);
	assert_true(search_matches(&s, "\u00c4", 2));
	assert_true(search_matches(&s, "\xff\xfe \u00c4", 5)); /* invalid bytes do not hide a hit */
	/* a pattern that would take for ever gives up */
	search_set(&s, "(a+)+$", NULL);
	search_matches(&s, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 58);
	search_release(&s);
}

static void test_highlight(void **state)
{
	struct search s = { 0 };
	struct rowbuf rb = { 0 };

	search_set(&s, "b+", NULL);
	row_start(&rb, 20, false);
	row_str(&rb, ROLE_NORMAL, "\u65e5abba b");
	search_highlight(&s, &rb, 0, rb.n);
	assert_int_equal(rb.cells[2].role, ROLE_NORMAL);
	assert_int_equal(rb.cells[3].role, ROLE_MATCH);
	assert_int_equal(rb.cells[4].role, ROLE_MATCH);
	assert_int_equal(rb.cells[5].role, ROLE_NORMAL);
	assert_int_equal(rb.cells[7].role, ROLE_MATCH);
	search_set(&s, "x*", NULL); /* matches nothing at every place: must end */
	search_highlight(&s, &rb, 0, rb.n);
	row_release(&rb);
	search_release(&s);
}

/* What search says at the right of the status line. */
static void assert_position(struct view *v, const char *want)
{
	struct rowbuf row = { 0 };
	struct buf text = { 0 };
	struct bar b;

	row_start(&row, 40, false);
	bar_begin(&b, &row);
	b.margin = 0;
	search_position(v, &b);
	bar_draw(&b, ROLE_STATUS, &row);
	row_bytes(&row, 0, row.n, &text, NULL);
	while (text.n > 0 && text.p[0] == ' ')
		memmove(text.p, text.p + 1, text.n--);
	assert_string_equal(text.n ? text.p : "", want);
	row_release(&row);
	buf_release(&text);
}

/* The count goes line by line between keys; where the cursor is among the hits is known at once. */
static void test_search_count(void **state)
{
	struct view *v = make(100, 80, 12);

	assert_position(v, "");
	assert_int_equal(search_set(&v->search, "item .*7", NULL), 0);
	search_start(v, 1, true);
	while (search_step(v, 1000))
		;
	assert_int_equal(v->cursor, 7);
	assert_true(v->search.is_counting);
	assert_position(v, ""); /* nothing is known yet */
	for (int i = 0; i < 8; i++) /* no budget: one line a step */
		assert_true(search_count_step(v, 0));
	assert_position(v, "match 1 of 1+");
	for (int i = 0; i < 10; i++)
		assert_true(search_count_step(v, 0));
	assert_position(v, "match 1 of 2+");
	while (search_count_step(v, 1000))
		;
	assert_position(v, "match 1 of 19"); /* 7, 17, ... 97 and 70 ... 79, 77 once */
	search_start(v, 1, false);
	while (search_step(v, 1000))
		;
	assert_position(v, "match 2 of 19");
	assert_false(v->search.is_counting); /* it is not counted again */
	search_start(v, -1, false);
	while (search_step(v, 1000))
		;
	search_start(v, -1, false);
	while (search_step(v, 1000))
		;
	assert_int_equal(v->cursor, 97);
	assert_position(v, "match 19 of 19");
	view_move(v, -1);
	assert_position(v, "19 matches");
	/* the lines are others: the old count says nothing about them */
	((struct list *)v->priv)->n = 50;
	view_relayout(v);
	assert_position(v, "");
	search_start(v, 1, true);
	while (search_step(v, 1000))
		;
	while (search_count_step(v, 1000))
		;
	assert_position(v, "match 1 of 5");
	assert_int_equal(search_set(&v->search, "", NULL), 0);
	assert_position(v, "");
	view_pop(&ui);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moving),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_relayout_keeps_the_place),
		cmocka_unit_test(test_home_until_moved),
		cmocka_unit_test(test_rects),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_smart_case),
		cmocka_unit_test(test_highlight),
		cmocka_unit_test(test_search_count),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
