/*
 * view-reflog.c - what bough noted about a session: checkouts, labels and
 * appends, newest first.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "ui/internal.h"
#include "ui/session-changes.h"
#include "ui/view-session.h"
#include "ui/view.h"

struct reflog_view {
	unsigned generation;
};

/* Line 0 is the newest. NULL when the list got shorter. */
static const struct reflog_line *line_at(const struct view *v, size_t line)
{
	size_t n;
	const struct reflog_line *all = work_reflog(session_of(v->below)->w, &n);

	return line < n ? &all[n - 1 - line] : NULL;
}

static void reflog_layout(struct view *v)
{
	((struct reflog_view *)v->priv)->generation = session_of(v->below)->generation;
}

static bool reflog_stale(const struct view *v)
{
	return ((const struct reflog_view *)v->priv)->generation != session_of(v->below)->generation;
}

static size_t reflog_count(const struct view *v)
{
	size_t n;

	work_reflog(session_of(v->below)->w, &n);
	return n;
}

static void draw_id(struct rowbuf *out, enum role role, struct str id, int cols)
{
	row_field(out, role, id.p, id.n > 12 ? 8 : id.n, cols);
}

static void reflog_row(struct view *v, size_t line, struct rowbuf *out)
{
	static const char *const words[] = { [REFLOG_CHECKOUT] = "checkout", [REFLOG_LABEL] = "label",
		[REFLOG_APPEND] = "append", [REFLOG_OTHER] = "other" };
	const struct reflog_line *l = line_at(v, line);
	char when[32], age[16];

	if (!l)
		return;
	row_glyph(out, l->is_current ? ROLE_TIP : ROLE_NORMAL, l->is_current ? GLYPH_TIP : GLYPH_NOTHING);
	if (l->is_current)
		row_spaces(out, ROLE_NORMAL, 1);
	time_age(l->at, clock_now_ms(), age);
	row_field_right(out, ROLE_TIME, age, strlen(age), 4);
	row_spaces(out, ROLE_NORMAL, 2);
	if (row_left(out) > 70) {
		time_full(l->at, when);
		row_field(out, ROLE_DIM, when, strlen(when), 21);
	}
	row_field(out, ROLE_NORMAL, words[l->op], strlen(words[l->op]), 10);
	draw_id(out, l->is_known ? ROLE_ID : ROLE_DAMAGE, l->entry, row_left(out) > 40 ? 14 : 9);
	if (l->op == REFLOG_CHECKOUT && l->from.n > 0) {
		row_lit(out, ROLE_DIM, "was ");
		draw_id(out, ROLE_DIM, l->from, row_left(out) > 30 ? 14 : 9);
	} else if (l->op == REFLOG_LABEL && l->from.n > 0) {
		row_lit(out, ROLE_LABEL, "[");
		row_text(out, ROLE_LABEL, l->from.p, l->from.n);
		row_lit(out, ROLE_LABEL, "]");
	} else if (l->op == REFLOG_LABEL) {
		row_lit(out, ROLE_DIM, "label removed");
	}
	if (l->is_lost)
		row_lit(out, ROLE_DAMAGE, " lost");
	else if (!l->is_known && l->entry.n > 0)
		row_lit(out, ROLE_DAMAGE, " not in the file");
}

static void reflog_header(struct view *v, struct rowbuf *out)
{
	bool elsewhere;
	const char *path = work_state_path(session_of(v->below)->w, &elsewhere);
	char *shown = path_shorten(path);
	struct bar b;

	path_forget_cwd(shown);
	bar_begin(&b, out);
	bar_say(bar_left(&b, 0), ROLE_TITLE, "Reflog of %s", session_model(v->below)->id);
	bar_elastic(&b, 14);
	row_str(bar_left(&b, 2), ROLE_TITLE, *shown ? shown : "nothing noted yet");
	if (elsewhere)
		bar_say(bar_right(&b, 1), ROLE_TITLE, "the session's folder is read-only");
	bar_draw(&b, ROLE_TITLE, out);
	free(shown);
}

static uint64_t reflog_id(const struct view *v, size_t line)
{
	return reflog_count(v) - line; /* counted from the oldest: lines are only added */
}

static size_t reflog_line_of(const struct view *v, uint64_t id)
{
	size_t n = reflog_count(v);

	return id > 0 && id <= n ? n - (size_t)id : LINE_NONE;
}

static const char *reflog_empty(const struct view *v)
{
	return "nothing noted yet: no checkout, no label, no fork made with bough";
}

static unsigned reflog_state(const struct view *v)
{
	return view_count(v) > 0 ? WHEN_ROW : 0;
}

static uint32_t entry_under_cursor(struct view *v)
{
	const struct reflog_line *l = line_at(v, v->cursor);
	uint32_t entry = l && l->entry.n > 0 ? session_find(session_model(v->below), l->entry) :
		ENTRY_NONE;

	if (entry == ENTRY_NONE)
		ui_error(v->ui, "that entry is not in the file");
	return entry;
}

static enum effect run_open(struct view *v, const char *arg)
{
	uint32_t entry = entry_under_cursor(v);

	if (entry == ENTRY_NONE)
		return FX_REDRAW;
	session_goto(v->below, entry);
	return FX_CLOSE;
}

static enum effect run_checkout(struct view *v, const char *arg)
{
	uint32_t entry = entry_under_cursor(v);

	if (entry == ENTRY_NONE)
		return FX_REDRAW;
	ui_apply(v->ui, v->below, alter_checkout_entry(v->below, entry));
	return FX_RELAYOUT;
}

static enum effect run_undo(struct view *v, const char *arg)
{
	ui_apply(v->ui, v->below, alter_undo(v->below, arg));
	return FX_RELAYOUT;
}

static const struct command table[] = {
	{ .name = "open", .keys = "<Enter>, l", .group = "Reflog", .hint = "go to the entry",
	  .when = WHEN_ROW, .help = "To the entry, in the tree", .run = run_open },
	{ .name = "checkout", .keys = "c", .group = "Reflog", .hint = "checkout",
	  .when = WHEN_ROW, .help = "Make the entry the tip again", .run = run_checkout },
	{ .name = "undo", .keys = "u", .group = "Reflog", .hint = "undo",
	  .help = "Take the last change back",
	  .run = run_undo },
};

static const struct command_table reflog_commands = COMMAND_TABLE(table);

const struct view_ops view_reflog = {
	.name = "reflog",
	.private_size = sizeof(struct reflog_view),
	.commands = &reflog_commands,
	.layout = reflog_layout,
	.is_stale = reflog_stale,
	.count = reflog_count,
	.draw_row = reflog_row,
	.draw_header = reflog_header,
	.line_id = reflog_id,
	.line_of = reflog_line_of,
	.empty = reflog_empty,
	.state = reflog_state,
};
