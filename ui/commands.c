/*
 * commands.c - the generic commands: moving, searching, panes, the command
 * line, and what the scripts of tests need.
 */
#include "config.h"

#include "ui/command.h"

#include <stdlib.h>
#include <string.h>

#include "ui/internal.h"
#include "ui/view.h"

static enum effect move(struct view *v, long by)
{
	if (v->pane_focus)
		pager_scroll(view_pager(v), v, by);
	else
		view_move(v, by);
	return FX_REDRAW;
}

static enum effect page(struct view *v, int halves)
{
	int height = v->pane_focus ? view_pager(v)->height : v->height;
	long step = height * (long)halves / 2;

	if (step == 0)
		step = halves < 0 ? -1 : 1;
	if (v->pane_focus)
		pager_scroll(view_pager(v), v, step);
	else
		view_page(v, step);
	return FX_REDRAW;
}

static enum effect run_down(struct view *v, const char *arg)
{
	return move(v, 1);
}

static enum effect run_up(struct view *v, const char *arg)
{
	return move(v, -1);
}

static enum effect run_half_down(struct view *v, const char *arg)
{
	return page(v, 1);
}

static enum effect run_half_up(struct view *v, const char *arg)
{
	return page(v, -1);
}

static enum effect run_page_down(struct view *v, const char *arg)
{
	return page(v, 2);
}

static enum effect run_page_up(struct view *v, const char *arg)
{
	return page(v, -2);
}

static enum effect run_top(struct view *v, const char *arg)
{
	if (v->pane_focus) {
		pager_to(view_pager(v), v, 0);
	} else {
		v->moved = true;
		view_set_cursor(v, 0);
	}
	return FX_REDRAW;
}

static enum effect run_bottom(struct view *v, const char *arg)
{
	if (v->pane_focus) {
		pager_end(view_pager(v), v);
	} else {
		v->moved = true;
		view_set_cursor(v, view_count(v));
	}
	return FX_REDRAW;
}

static enum effect run_left(struct view *v, const char *arg)
{
	if (!v->pane_focus)
		return FX_NONE;
	pager_shift(&v->pager, -8);
	return FX_REDRAW;
}

static enum effect run_right(struct view *v, const char *arg)
{
	if (v->pane_focus && !v->ui->wrap)
		pager_shift(&v->pager, 8);
	else if (view_has_pane(v))
		v->pane_focus = true;
	return FX_REDRAW;
}

static enum effect run_back(struct view *v, const char *arg)
{
	if (v->pane_focus) {
		v->pane_focus = false;
		return FX_REDRAW;
	}
	return FX_CLOSE;
}

static enum effect run_leave(struct view *v, const char *arg)
{
	if (v->pane_focus) {
		v->pane_focus = false;
		return FX_REDRAW;
	}
	if (v->search.code) { /* first the marks go, then the screen */
		search_set(&v->search, "", NULL);
		return FX_REDRAW;
	}
	return v->below ? FX_CLOSE : FX_REDRAW;
}

static enum effect run_quit(struct view *v, const char *arg)
{
	return FX_QUIT;
}

static enum effect run_other_pane(struct view *v, const char *arg)
{
	v->pane_focus = !v->pane_focus;
	return FX_REDRAW;
}

static enum effect run_pane(struct view *v, const char *arg)
{
	v->pane_hidden = !v->pane_hidden;
	v->pane_focus = false;
	return FX_REDRAW;
}

static enum effect run_wrap(struct view *v, const char *arg)
{
	v->ui->wrap = !v->ui->wrap;
	v->pager.left = 0;
	ui_say(v->ui, v->ui->wrap ? "long lines are wrapped" : "long lines are cut; <Right> shifts");
	return FX_REDRAW;
}

/* ---- search ---- */

static void next_in_pane(struct view *v, int dir)
{
	if (!search_in_pane(v, dir))
		ui_error(v->ui, "not found %s: %s", dir > 0 ? "below" : "above", v->search.pattern);
}

static enum effect search_done(struct view *v, const char *text)
{
	struct err err = { 0 };

	if (!text)
		return FX_REDRAW;
	if (*text && search_set(&v->search, text, &err) < 0) {
		ui_error(v->ui, "%s", err.text);
		return FX_REDRAW;
	}
	if (!v->search.code)
		return FX_REDRAW;
	if (v->pane_focus)
		next_in_pane(v, 1);
	else
		search_start(v, 1, true);
	return FX_REDRAW;
}

static enum effect run_search(struct view *v, const char *arg)
{
	struct prompt_spec spec = { .label = "/", .history = HISTORY_SEARCH, .done = search_done };

	if (*arg)
		return search_done(v, arg);
	prompt_open(v->ui, &spec);
	return FX_REDRAW;
}

static enum effect search_again(struct view *v, int dir)
{
	if (!v->search.code)
		ui_error(v->ui, "nothing to search for yet; / begins a search");
	else if (v->pane_focus)
		next_in_pane(v, dir);
	else
		search_start(v, dir, false);
	return FX_REDRAW;
}

static enum effect run_next(struct view *v, const char *arg)
{
	return search_again(v, 1);
}

static enum effect run_previous(struct view *v, const char *arg)
{
	return search_again(v, -1);
}

/* ---- the program ---- */

static enum effect command_done(struct view *v, const char *text)
{
	return text ? command_line(v, text) : FX_REDRAW;
}

static void command_complete(struct view *v, const char *text, struct candidates *out)
{
	size_t maps[2] = { command_map_of(v->ops), 0 };
	size_t n = strlen(text);

	for (int i = 0; i < 2; i++) {
		const struct command_table *t = command_map(maps[i]);
		for (size_t k = 0; k < t->n; k++) {
			if (strncmp(t->v[k].name, text, n) == 0 &&
			    (i == 0 || command_find(maps[0], t->v[k].name, strlen(t->v[k].name)) == &t->v[k]))
				candidates_add(out, t->v[k].name);
		}
	}
}

static enum effect run_command(struct view *v, const char *arg)
{
	struct prompt_spec spec = { .label = ":", .history = HISTORY_COMMAND, .done = command_done,
		.complete = command_complete };

	prompt_open(v->ui, &spec);
	return FX_REDRAW;
}

static enum effect run_help(struct view *v, const char *arg)
{
	if (v->ops != &view_help)
		view_push(v->ui, &view_help, v);
	return FX_REDRAW;
}

static enum effect run_redraw(struct view *v, const char *arg)
{
	screen_resize(&v->ui->screen);
	draw_all(&v->ui->draw);
	return FX_REDRAW;
}

static enum effect run_reload(struct view *v, const char *arg)
{
	bool was_stopped = false;

	for (struct view *w = v; w; w = w->below) {
		was_stopped |= w->stopped;
		w->stopped = false;
	}
	ui_say(v->ui, was_stopped ? "going on" : "looked again");
	ui_changed(v->ui);
	return FX_REDRAW;
}

static enum effect run_suspend(struct view *v, const char *arg)
{
	loop_suspend(v->ui);
	return FX_REDRAW;
}

static enum effect save(struct view *v, const char *name,
	void (*dump)(const struct draw *d, struct buf *out))
{
	struct buf text = { 0 };
	struct err err = { 0 };

	ui_draw(v->ui);
	dump(&v->ui->draw, &text);
	if (script_save(name, (struct str){ text.n ? text.p : "", text.n }, &err) < 0)
		ui_error(v->ui, "%s", err.text);
	buf_release(&text);
	return FX_REDRAW;
}

static enum effect run_save_screen(struct view *v, const char *arg)
{
	return save(v, arg, draw_save_text);
}

static enum effect run_save_attrs(struct view *v, const char *arg)
{
	return save(v, arg, draw_save_roles);
}

static enum effect run_resize(struct view *v, const char *arg)
{
	struct err err = { 0 };

	if (screen_set_size(&v->ui->screen, arg, &err) < 0)
		ui_error(v->ui, "%s", err.text);
	draw_all(&v->ui->draw);
	return FX_REDRAW;
}

static const struct command table[] = {
	{ .name = "down", .keys = "j, <Down>", .group = "Moving", .help = "One line down",
	  .run = run_down },
	{ .name = "up", .keys = "k, <Up>", .group = "Moving", .help = "One line up", .run = run_up },
	{ .name = "top", .keys = "g g, <Home>", .group = "Moving", .help = "To the first line",
	  .run = run_top },
	{ .name = "bottom", .keys = "G, <End>", .group = "Moving", .help = "To the last line",
	  .run = run_bottom },
	{ .name = "half-page-down", .keys = "^d", .group = "Moving", .help = "Half a page down",
	  .run = run_half_down },
	{ .name = "half-page-up", .keys = "^u", .group = "Moving", .help = "Half a page up",
	  .run = run_half_up },
	{ .name = "page-down", .keys = "^f, <PageDown>", .group = "Moving", .help = "A page down",
	  .run = run_page_down },
	{ .name = "page-up", .keys = "^b, <PageUp>", .group = "Moving", .help = "A page up",
	  .run = run_page_up },
	{ .name = "search", .keys = "/", .group = "Searching", .hint = "search",
	  .help = "Search (a regular expression; capitals matter once there is one)",
	  .arg = "PATTERN", .run = run_search },
	{ .name = "search-next", .keys = "n", .group = "Searching", .help = "To the next hit",
	  .run = run_next },
	{ .name = "search-previous", .keys = "N", .group = "Searching", .help = "To the previous hit",
	  .run = run_previous },
	{ .name = "other-pane", .keys = "<Tab>", .group = "Panes", .when = WHEN_PANE,
	  .help = "Give the keys to the other pane", .run = run_other_pane },
	{ .name = "pane", .keys = "P", .group = "Panes", .help = "Hide or show the second pane",
	  .run = run_pane },
	{ .name = "wrap", .keys = "w", .group = "Panes", .help = "Wrap long lines, or cut them",
	  .run = run_wrap },
	{ .name = "right", .keys = "<Right>", .group = "Panes",
	  .help = "Into the pane; there: shift long lines left", .run = run_right },
	{ .name = "left", .keys = "<Left>", .group = "Panes", .help = "In the pane: shift back",
	  .run = run_left },
	{ .name = "help", .keys = "?, <F1>", .group = "bough", .hint = "help",
	  .help = "The keys of this screen", .run = run_help },
	{ .name = "command", .keys = ":", .group = "bough", .help = "Type a command (Tab completes)",
	  .run = run_command },
	{ .name = "back", .keys = "q, h", .group = "bough", .help = "Go back; at the first screen quit",
	  .run = run_back },
	{ .name = "leave", .keys = "<Esc>", .group = "bough",
	  .help = "Leave the pane, the search, then the screen", .run = run_leave },
	{ .name = "quit", .keys = "Q", .group = "bough", .help = "Quit bough", .run = run_quit },
	{ .name = "reload", .keys = "<F5>, ^r", .group = "bough",
	  .help = "Look at the files again; go on with a stopped job", .run = run_reload },
	{ .name = "redraw", .keys = "^l", .group = "bough", .help = "Paint the whole screen again",
	  .run = run_redraw },
	{ .name = "suspend", .keys = "^z", .group = "bough", .help = "Back to the shell for a while",
	  .run = run_suspend },
	{ .name = "save-screen", .keys = "", .group = "Scripts", .arg = "NAME",
	  .help = "Write the screen's text to a file", .run = run_save_screen },
	{ .name = "save-attrs", .keys = "", .group = "Scripts", .arg = "NAME",
	  .help = "Write the role of every cell to a file", .run = run_save_attrs },
	{ .name = "resize", .keys = "", .group = "Scripts", .arg = "COLSxROWS",
	  .help = "Change the size of a headless screen", .run = run_resize },
};

const struct command_table generic_commands = COMMAND_TABLE(table);
