/*
 * t-tables.c - the tables of commands: what each row must have, that the help of
 * every screen names all that can be done there, and that what matters most on a
 * screen has a hint for its status line.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "ui/internal.h"
#include "ui/view.h"

static const struct view_ops *const screens[] = { &view_sessions, &view_session, &view_branches,
	&view_problems, &view_reflog, &view_conversation, &view_rounds, &view_relations,
	&view_unresolved, &view_cards, &view_help };
#define NSCREENS (sizeof(screens) / sizeof(*screens))

static void test_rows(void **state)
{
	for (size_t map = 0; map < command_nmaps(); map++) {
		const struct command_table *t = command_map(map);

		for (size_t i = 0; i < t->n; i++) {
			const struct command *c = &t->v[i];

			if (!c->help || !*c->help || !c->group || !*c->group ||
			    !c->run == !c->opens)
				fail_msg("%s: %s", command_map_name(map), c->name);
			/* without a key only a typed command is left: it must say what it takes */
			if (!*c->keys && !c->arg)
				fail_msg("%s: %s has neither a key nor an argument",
					command_map_name(map), c->name);
			if (c->help[strlen(c->help) - 1] == '.')
				fail_msg("%s: a full stop in \"%s\"", command_map_name(map),
					c->help);
		}
	}
}

/* Everything that the help shows, its rows in one text with single spaces. */
static void help_text(struct ui *ui, const struct view_ops *ops, int cols, struct buf *out)
{
	struct view from = { .ops = ops, .ui = ui };
	struct rowbuf row = { 0 };
	struct buf line = { 0 };
	struct view *v;

	ui->screen.cols = cols;
	ui->screen.rows = 24;
	v = view_push(ui, &view_help, &from);
	assert_non_null(v);
	for (size_t i = 0; i < view_count(v); i++) {
		row_start(&row, cols - 1, false);
		v->ops->draw_row(v, i, &row);
		buf_clear(&line);
		row_bytes(&row, 0, row.n, &line, NULL);
		if (row.n == cols - 1 && line.p[line.n - 1] == '~')
			fail_msg("%s is cut at %d columns: %s", ops->name, cols, line.p);
		for (size_t k = 0; k < line.n; k++) {
			if (line.p[k] != ' ' || (out->n > 0 && out->p[out->n - 1] != ' '))
				buf_addc(out, line.p[k]);
		}
		if (out->n > 0 && out->p[out->n - 1] != ' ')
			buf_addc(out, ' ');
	}
	row_release(&row);
	buf_release(&line);
	view_pop(ui);
}

static void assert_names_all(const struct buf *text, size_t map, const struct view_ops *ops)
{
	const struct command_table *t = command_map(map);
	size_t own = command_map_of(ops);

	for (size_t i = 0; i < t->n; i++) {
		const struct command *c = &t->v[i];

		if (command_find(own, c->name, strlen(c->name)) != c)
			continue; /* the screen has its own */
		if (!strstr(text->p, c->help))
			fail_msg("%s: the help does not say \"%s\"", ops->name, c->help);
	}
}

/* At every width that has room for a word: wrapped, but all of it. */
static void test_help(void **state)
{
	static const int widths[] = { 200, 100, 80, 60, 40, 30, 24 };
	struct ui ui = { .keys = keymap_new() };

	for (size_t i = 0; i < NSCREENS; i++) {
		for (size_t k = 0; k < sizeof(widths) / sizeof(*widths); k++) {
			struct buf text = { 0 };

			help_text(&ui, screens[i], widths[k], &text);
			assert_names_all(&text, command_map_of(screens[i]), screens[i]);
			assert_names_all(&text, 0, screens[i]);
			buf_release(&text);
		}
	}
	keymap_free(&ui.keys);
}

static void test_hints(void **state)
{
	static const struct { const char *map, *names[8]; } wanted[] = {
		{ "generic", { "search", "help" } },
		{ "sessions", { "open", "filter", "sort", "fold", "rename", "trash" } },
		{ "session", { "checkout", "fork", "fork-new", "retry", "repair", "label",
				"branches" } },
		{ "branches", { "open", "begin", "checkout", "undo" } },
		{ "problems", { "open", "repair" } },
		{ "reflog", { "open", "checkout", "undo" } },
		{ "conversation", { "round-back", "round-forward", "rounds", "relations",
				"cards" } },
		{ "rounds", { "open" } },
		{ "relations", { "open", "other-end", "type", "quality" } },
		{ "unresolved", { "open", "state" } },
		{ "cards", { "enter", "next-card", "previous-card", "words", "open" } },
		{ "help", { "help" } },
	};

	assert_int_equal(sizeof(wanted) / sizeof(*wanted), command_nmaps());
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		size_t map = 0;

		while (map < command_nmaps() && strcmp(command_map_name(map), wanted[i].map) != 0)
			map++;
		assert_true(map < command_nmaps());
		for (size_t k = 0; k < 8 && wanted[i].names[k]; k++) {
			const char *name = wanted[i].names[k];
			const struct command *c = command_find(map, name, strlen(name));

			assert_non_null(c);
			if (!c->hint || !*c->keys)
				fail_msg("%s: %s has no hint", wanted[i].map, name);
			assert_true(strlen(c->hint) <= 16);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_hints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
