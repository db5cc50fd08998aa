/*
 * sessions-commands.c - what can be done in the list of sessions.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "ui/internal.h"
#include "ui/outside.h"
#include "ui/view-sessions.h"
#include "ui/view.h"

static struct session_rows *rows_of(struct view *v)
{
	return &((struct sessions *)v->priv)->rows;
}

static enum effect fold(struct view *v, bool fold_it)
{
	session_rows_fold(rows_of(v), v->cursor, fold_it);
	v->moved = true;
	return FX_RELAYOUT;
}

static enum effect run_fold(struct view *v, const char *arg)
{
	return fold(v, !rows_of(v)->lines[v->cursor].is_folded);
}

static enum effect run_fold_all(struct view *v, const char *arg)
{
	struct session_rows *r = rows_of(v);
	bool any_open = false;

	for (size_t i = 0; i < r->nlines; i++)
		any_open |= r->lines[i].is_group && !r->lines[i].is_folded;
	session_rows_fold_all(r, any_open);
	return FX_RELAYOUT;
}

static enum effect run_open(struct view *v, const char *arg)
{
	const struct session_row *row = sessions_under_cursor(v);

	if (!row)
		return v->cursor < rows_of(v)->nlines ? run_fold(v, arg) : FX_NONE;
	if (row->state == ROW_UNREADABLE) {
		ui_error(v->ui, "%s can not be read: %s", row->id, row->reason ? row->reason : "?");
		return FX_REDRAW;
	}
	view_push(v->ui, view_for_session(row->path), row->path);
	return FX_REDRAW;
}

static enum effect group_step(struct view *v, int dir)
{
	const struct session_rows *r = rows_of(v);

	for (size_t i = v->cursor + (size_t)dir; i < r->nlines; i += (size_t)dir) {
		if (r->lines[i].is_group) {
			v->moved = true;
			view_set_cursor(v, i);
			break;
		}
	}
	return FX_REDRAW;
}

static enum effect run_next_group(struct view *v, const char *arg)
{
	return group_step(v, 1);
}

static enum effect run_previous_group(struct view *v, const char *arg)
{
	return group_step(v, -1);
}

static enum effect run_sort(struct view *v, const char *arg)
{
	struct session_rows *r = rows_of(v);

	if (*arg)
		session_rows_sort_by_name(r, arg);
	else
		r->sort = (r->sort + 1) % SORT_COUNT;
	ui_say(v->ui, "by %s", session_rows_sort_name(r));
	return FX_RELAYOUT;
}

/* ---- filter ---- */

static enum effect filter_change(struct view *v, const char *text)
{
	session_rows_set_filter(rows_of(v), text);
	return FX_RELAYOUT | FX_PANE;
}

static enum effect filter_done(struct view *v, const char *text)
{
	session_rows_set_filter(rows_of(v), text); /* cancelled: no filter */
	return FX_RELAYOUT | FX_PANE;
}

static enum effect run_filter(struct view *v, const char *arg)
{
	struct prompt_spec spec = { .label = "filter: ", .initial = rows_of(v)->filter,
		.history = HISTORY_FILTER, .done = filter_done, .change = filter_change };

	if (*arg)
		return filter_change(v, arg);
	prompt_open(v->ui, &spec);
	return FX_REDRAW;
}

static enum effect run_leave(struct view *v, const char *arg)
{
	if (v->pane_focus) {
		v->pane_focus = false;
		return FX_REDRAW;
	}
	if (!rows_of(v)->filter)
		return FX_REDRAW;
	session_rows_set_filter(rows_of(v), NULL);
	return FX_RELAYOUT | FX_PANE;
}

static enum effect run_goto(struct view *v, const char *arg)
{
	struct err err = { 0 };
	size_t row, line;

	if (store_find(v->ui->store, arg, &row, NULL, &err) < 0) {
		ui_error(v->ui, "%s", err.text);
		return FX_REDRAW;
	}
	line = session_rows_line(rows_of(v), row, false);
	if (line == LINE_NONE) {
		ui_error(v->ui, "%s is not shown (filtered or folded)", arg);
		return FX_REDRAW;
	}
	v->moved = true;
	view_set_cursor(v, line);
	return FX_REDRAW;
}

/* ---- changes ---- */

static enum effect rename_done(struct view *v, const char *text)
{
	const struct session_row *row = sessions_under_cursor(v);
	struct work *w = NULL;
	struct done done = { .said = "" };
	struct err err = { 0 };

	if (!text || !row)
		return FX_REDRAW;
	if (work_open(&w, row->path, &err) == 0 && work_load(w, &err) == 0 &&
	    work_rename(w, str_of(text), false, &done, &err) == 0) {
		ui_say(v->ui, "%s", done.said);
		ui_changed(v->ui);
	} else {
		ui_error(v->ui, "%s", err.text);
	}
	done_release(&done);
	work_close(&w);
	return FX_REDRAW;
}

static enum effect run_rename(struct view *v, const char *arg)
{
	const struct session_row *row = sessions_under_cursor(v);
	struct prompt_spec spec = { .label = "title: ", .initial = row->title,
		.history = HISTORY_TEXT, .done = rename_done };

	if (*arg)
		return rename_done(v, arg);
	prompt_open(v->ui, &spec);
	return FX_REDRAW;
}

static enum effect trash_done(struct view *v, const char *text)
{
	const struct session_row *row = sessions_under_cursor(v);
	struct ui *ui = v->ui;
	struct work *w = NULL;
	struct done done = { .said = "" };
	struct err err = { 0 };

	if (!text || !row) {
		ui_say(ui, "nothing was moved");
		return FX_REDRAW;
	}
	if (work_open(&w, row->path, &err) == 0 && work_trash(&w, false, &done, &err) == 0) {
		done_release(&ui->last_trash);
		ui->last_trash = done;
		ui_say(ui, "moved %s to the trash; u takes it back", done.session);
		ui_changed(ui);
		return FX_REDRAW;
	}
	ui_error(ui, "%s", err.text);
	done_release(&done);
	work_close(&w);
	return FX_REDRAW;
}

static enum effect run_trash(struct view *v, const char *arg)
{
	const struct session_row *row = sessions_under_cursor(v);
	struct prompt_spec spec = { .label = "Move this session to the trash? (y/n) ",
		.is_question = true, .done = trash_done };

	if (row->live != LIVE_QUIET)
		strcpy(spec.label, "It is being written! Move it to the trash? (y/n) ");
	prompt_open(v->ui, &spec);
	return FX_REDRAW;
}

static enum effect run_undo(struct view *v, const char *arg)
{
	struct ui *ui = v->ui;
	struct err err = { 0 };

	if (!ui->last_trash.path[0]) {
		ui_error(ui, "nothing to take back here");
		return FX_REDRAW;
	}
	if (store_untrash(&ui->last_trash, &err) < 0) {
		ui_error(ui, "%s", err.text);
		return FX_REDRAW;
	}
	done_release(&ui->last_trash);
	memset(&ui->last_trash, 0, sizeof(ui->last_trash));
	ui_say(ui, "the session is back");
	ui_changed(ui);
	return FX_REDRAW;
}

static enum effect run_copy(struct view *v, const char *arg)
{
	outside_copy(v->ui, str_of(sessions_under_cursor(v)->id), true);
	return FX_REDRAW;
}

static const struct command table[] = {
	{ .name = "open", .keys = "<Enter>, l", .group = "Sessions", .hint = "open",
	  .help = "Open the session; fold or unfold a project",
	  .run = run_open },
	{ .name = "filter", .keys = "/", .group = "Sessions", .hint = "filter", .arg = "WORDS",
	  .help = "Show only rows with all these words: also those of a state, as torn or live, agent, fork, a format",
	  .run = run_filter },
	{ .name = "sort", .keys = "s", .group = "Sessions", .hint = "sort", .arg = "ORDER",
	  .help = "Next order: activity, created, title, size", .run = run_sort },
	{ .name = "fold", .keys = "z, <Space>", .group = "Sessions", .hint = "fold",
	  .when = WHEN_CHILDREN,
	  .help = "Fold or unfold a project or a session's children", .run = run_fold },
	{ .name = "fold-all", .keys = "Z", .group = "Sessions", .help = "Fold or unfold all projects",
	  .run = run_fold_all },
	{ .name = "next-project", .keys = "]", .group = "Sessions", .help = "To the next project",
	  .run = run_next_group },
	{ .name = "previous-project", .keys = "[", .group = "Sessions",
	  .help = "To the previous project", .run = run_previous_group },
	{ .name = "goto", .keys = "", .group = "Sessions", .arg = "ID",
	  .help = "To the session with this id (a unique beginning will do)", .run = run_goto },
	{ .name = "leave", .keys = "<Esc>", .group = "Sessions",
	  .help = "Leave the pane, then the filter", .run = run_leave },
	{ .name = "rename", .keys = "T", .group = "Changing", .hint = "title",
	  .when = WHEN_ROW | WHEN_TITLE,
	  .arg = "TITLE",
	  .help = "Give the session another title", .run = run_rename },
	{ .name = "trash", .keys = "D", .group = "Changing", .hint = "trash",
	  .when = WHEN_ROW | WHEN_TRASH,
	  .help = "Move the session to the trash (asks first)", .run = run_trash },
	{ .name = "undo", .keys = "u", .group = "Changing",
	  .help = "Take the last move to the trash back", .run = run_undo },
	{ .name = "copy", .keys = "y", .group = "Changing", .when = WHEN_ROW,
	  .help = "Copy the session's id", .run = run_copy },
};

const struct command_table sessions_commands = COMMAND_TABLE(table);
