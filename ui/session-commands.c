/*
 * session-commands.c - what can be done in a session's tree: moving along
 * branches, folding, filtering, and opening the screens about it. What writes
 * is session-changes.c.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/internal.h"
#include "ui/outside.h"
#include "ui/session-changes.h"
#include "ui/session-kin.h"
#include "ui/view-session.h"
#include "ui/view.h"

static uint32_t cursor_row(struct view *v)
{
	return session_of(v)->lay.row_of[session_cursor(v)];
}

static enum effect go_row(struct view *v, uint32_t row, const char *none)
{
	if (row == ENTRY_NONE)
		ui_say(v->ui, "%s", none);
	else
		session_goto(v, session_of(v)->lay.entry_of[row]);
	return FX_REDRAW;
}

static enum effect run_enter(struct view *v, const char *arg)
{
	if (session_open_kin(v))
		return FX_REDRAW;
	v->pane_hidden = false;
	v->pane_focus = true;
	return FX_REDRAW;
}

static enum effect run_next_sibling(struct view *v, const char *arg)
{
	return go_row(v, layout_sibling(&session_of(v)->lay, cursor_row(v), 1),
		"no further entry at this indent");
}

static enum effect run_previous_sibling(struct view *v, const char *arg)
{
	return go_row(v, layout_sibling(&session_of(v)->lay, cursor_row(v), -1),
		"no earlier entry at this indent");
}

static enum effect run_next_branch(struct view *v, const char *arg)
{
	return go_row(v, layout_next_branch(&session_of(v)->lay, cursor_row(v), 1),
		"no further branch");
}

static enum effect run_previous_branch(struct view *v, const char *arg)
{
	return go_row(v, layout_next_branch(&session_of(v)->lay, cursor_row(v), -1),
		"no earlier branch");
}

static enum effect run_next_fork(struct view *v, const char *arg)
{
	return go_row(v, layout_next_fork(&session_of(v)->lay, cursor_row(v), 1),
		"no fork below");
}

static enum effect run_previous_fork(struct view *v, const char *arg)
{
	return go_row(v, layout_next_fork(&session_of(v)->lay, cursor_row(v), -1),
		"no fork above");
}

static enum effect run_tip(struct view *v, const char *arg)
{
	uint32_t tip = session_model(v)->tip;

	if (tip == ENTRY_NONE)
		ui_say(v->ui, "no entry, no tip");
	else
		session_goto(v, tip);
	return FX_REDRAW;
}

static enum effect run_parent(struct view *v, const char *arg)
{
	uint32_t parent = session_model(v)->entries[session_cursor(v)].parent;

	if (parent == ENTRY_NONE)
		ui_say(v->ui, "this entry is a root");
	else
		session_goto(v, parent);
	return FX_REDRAW;
}

static enum effect run_goto(struct view *v, const char *arg)
{
	struct err err = { 0 };
	uint32_t entry;

	if (session_resolve(session_model(v), arg, &entry, NULL, &err) < 0)
		ui_error(v->ui, "%s", err.text);
	else
		session_goto(v, entry);
	return FX_REDRAW;
}

/* ---- labels ---- */

static enum effect label_chosen(struct view *v, const char *text)
{
	struct session *s = session_model(v);
	uint32_t found = ENTRY_NONE;
	size_t n;

	if (!text || !*text)
		return FX_REDRAW;
	n = strlen(text);
	for (size_t i = 0; i < s->nlabels; i++) {
		struct str label = s->labels[i].text;
		if (str_eqs(label, text)) {
			found = s->labels[i].entry;
			break;
		}
		if (found == ENTRY_NONE && label.n > n && memcmp(label.p, text, n) == 0)
			found = s->labels[i].entry;
	}
	if (found == ENTRY_NONE)
		ui_error(v->ui, "no label '%s'", text);
	else
		session_goto(v, found);
	return FX_REDRAW;
}

static void label_complete(struct view *v, const char *text, struct candidates *out)
{
	struct session *s = session_model(v);
	struct buf safe = { 0 };
	size_t n = strlen(text);

	for (size_t i = 0; i < s->nlabels; i++) {
		struct str label = s->labels[i].text;
		if (label.n < n || memcmp(label.p, text, n) != 0)
			continue;
		buf_clear(&safe);
		text_safe(&safe, label.p, label.n, TEXT_ONE_LINE);
		candidates_add(out, safe.n ? safe.p : "");
	}
	buf_release(&safe);
}

static enum effect run_label_goto(struct view *v, const char *arg)
{
	struct prompt_spec spec = { .label = "go to label: ", .history = HISTORY_TEXT,
		.done = label_chosen, .complete = label_complete };
	struct session *s = session_model(v);

	if (*arg)
		return label_chosen(v, arg);
	if (s->nlabels == 0) {
		ui_say(v->ui, "no labels yet; m makes one");
		return FX_REDRAW;
	}
	if (s->nlabels == 1) {
		session_goto(v, s->labels[0].entry);
		return FX_REDRAW;
	}
	prompt_open(v->ui, &spec);
	return FX_REDRAW;
}

/* ---- folding, filtering ---- */

static enum effect run_fold(struct view *v, const char *arg)
{
	struct session_view *sv = session_of(v);
	uint32_t row = cursor_row(v), entry = session_cursor(v);

	if (session_model(v)->entries[entry].flags & ENTRY_INHERITED)
		layout_hide_past(&sv->lay, !sv->lay.hide_past);
	else
		layout_fold(&sv->lay, row, !layout_is_folded(&sv->lay, row));
	v->moved = true;
	view_set_cursor(v, layout_line(&sv->lay, sv->lay.entry_of[row]));
	return FX_REDRAW;
}

static enum effect run_fold_all(struct view *v, const char *arg)
{
	struct session_view *sv = session_of(v);
	uint32_t entry = session_cursor(v), line;
	bool fold = sv->lay.nfolded == 0;

	layout_fold_all(&sv->lay, fold);
	v->moved = true;
	line = entry != ENTRY_NONE ? layout_line(&sv->lay, entry) : ENTRY_NONE;
	if (line != ENTRY_NONE)
		view_set_cursor(v, line);
	if (fold && sv->lay.nfolded == 0)
		ui_say(v->ui, "no branch off the tip's to fold");
	else
		ui_say(v->ui, fold ? "branches off the tip's are folded" : "all is unfolded");
	return FX_REDRAW;
}

static const char *const show_names[SHOW_COUNT] = { "all", "talk", "prompts", "tools", "problems" };

static enum effect run_show(struct view *v, const char *arg)
{
	struct session_view *sv = session_of(v);
	uint32_t entry = session_cursor(v), line;
	int show = 0;

	while (*arg && show < SHOW_COUNT && strcmp(arg, show_names[show]) != 0)
		show++;
	if (show == SHOW_COUNT) {
		ui_error(v->ui, "no kind %.60s: all, talk, prompts, tools, problems", arg);
		return FX_REDRAW;
	}
	if (!*arg)
		show = (sv->lay.show + 1) % SHOW_COUNT;
	layout_set_show(&sv->lay, show);
	v->moved = true;
	line = entry != ENTRY_NONE ? layout_line(&sv->lay, entry) : ENTRY_NONE;
	view_set_cursor(v, line != ENTRY_NONE ? line : 0);
	ui_say(v->ui, "showing %s%s", show_names[show],
		layout_lines(&sv->lay) == 0 ? ": there are none; & goes on" : "");
	return FX_REDRAW | FX_PANE;
}

/* ---- screens, copying ---- */

static enum effect run_copy(struct view *v, const char *arg)
{
	struct session_view *sv = session_of(v);
	uint32_t entry = session_cursor(v);
	struct buf text = { 0 };
	struct err err = { 0 };
	int rc = 0;

	if (v->pane_focus)
		rc = work_content(sv->w, entry, &text, &err);
	else
		buf_addstr(&text, entry_id(sv, entry));
	if (rc < 0)
		ui_error(v->ui, "%s", err.text);
	else
		outside_copy(v->ui, buf_str(&text), !v->pane_focus);
	buf_release(&text);
	return FX_REDRAW;
}

static const struct command table[] = {
	{ .name = "enter", .keys = "<Enter>, l", .group = "Tree", .when = WHEN_ROW,
	  .help = "Give the entry pane the keys", .run = run_enter },
	{ .name = "next-sibling", .keys = "J", .group = "Tree", .when = WHEN_ROW,
	  .help = "To the next entry at this indent", .run = run_next_sibling },
	{ .name = "previous-sibling", .keys = "K", .group = "Tree", .when = WHEN_ROW,
	  .help = "To the previous entry at this indent", .run = run_previous_sibling },
	{ .name = "next-branch", .keys = "]", .group = "Tree", .when = WHEN_ROW,
	  .help = "To the next branch", .run = run_next_branch },
	{ .name = "previous-branch", .keys = "[", .group = "Tree", .when = WHEN_ROW,
	  .help = "To the previous branch", .run = run_previous_branch },
	{ .name = "next-fork", .keys = "}", .group = "Tree", .when = WHEN_ROW,
	  .help = "To the next entry with several answers", .run = run_next_fork },
	{ .name = "previous-fork", .keys = "{", .group = "Tree", .when = WHEN_ROW,
	  .help = "To the previous entry with several answers", .run = run_previous_fork },
	{ .name = "tip", .keys = "t", .group = "Tree", .help = "To the tip", .run = run_tip },
	{ .name = "parent", .keys = "p", .group = "Tree", .when = WHEN_ROW, .help = "To the parent",
	  .run = run_parent },
	{ .name = "goto-label", .keys = "'", .group = "Tree", .arg = "LABEL",
	  .help = "To a label (Tab completes)", .run = run_label_goto },
	{ .name = "goto", .keys = "", .group = "Tree", .arg = "ENTRY",
	  .help = "To an entry: an id or its beginning, tip, tip~N, @label", .run = run_goto },
	{ .name = "fold", .keys = "z, <Space>", .group = "Tree", .when = WHEN_ROW | WHEN_CHILDREN,
	  .help = "Fold or unfold what is below this entry", .run = run_fold },
	{ .name = "fold-all", .keys = "Z", .group = "Tree",
	  .help = "Fold or unfold every branch off the tip's", .run = run_fold_all },
	{ .name = "show", .keys = "&", .group = "Tree", .arg = "KINDS",
	  .help = "Which entries are shown: all, talk, prompts, tools, problems", .run = run_show },
	{ .name = "checkout", .keys = "c", .group = "Changing", .hint = "checkout",
	  .when = WHEN_ROW | WHEN_TIP,
	  .help = "Make this entry the tip", .run = alter_checkout },
	{ .name = "fork", .keys = "f", .group = "Changing", .hint = "fork",
	  .help = "Write a new entry below this one in the editor", .when = WHEN_ROW | WHEN_APPEND,
	  .run = alter_fork },
	{ .name = "fork-new", .keys = "F", .group = "Changing", .hint = "fork to new",
	  .help = "Copy the branch up to here into a new session, with an entry if one is written",
	  .when = WHEN_ROW | WHEN_FORK, .run = alter_fork_new },
	{ .name = "retry", .keys = "R", .group = "Changing", .hint = "retry",
	  .help = "Edit a copy of this entry as its sibling", .when = WHEN_ROW | WHEN_APPEND,
	  .run = alter_retry },
	{ .name = "repair", .keys = "r", .group = "Changing", .hint = "repair", .when = WHEN_REPAIR,
	  .help = "Set a torn tail aside, append lost entries again (asks first)",
	  .run = alter_repair },
	{ .name = "label", .keys = "m", .group = "Changing", .hint = "label",
	  .when = WHEN_ROW | WHEN_TIP,
	  .arg = "TEXT", .help = "Label this entry; an empty text removes the label",
	  .run = alter_label },
	{ .name = "undo", .keys = "u", .group = "Changing",
	  .help = "Take back the last checkout, label or title", .run = alter_undo },
	{ .name = "rename", .keys = "T", .group = "Changing", .when = WHEN_TITLE, .arg = "TITLE",
	  .help = "Give the session another title", .run = alter_rename },
	{ .name = "trash", .keys = "D", .group = "Changing", .when = WHEN_TRASH,
	  .help = "Move the session to the trash (asks first)", .run = alter_trash },
	{ .name = "branches", .keys = "g b", .group = "Screens", .hint = "branches", .help = "The branches",
	  .opens = &view_branches },
	{ .name = "problems", .keys = "g p", .group = "Screens",
	  .help = "What is wrong with the file, and where", .opens = &view_problems },
	{ .name = "reflog", .keys = "g h", .group = "Screens",
	  .help = "Checkouts, labels and appends made with bough", .opens = &view_reflog },
	{ .name = "cards", .keys = "g c", .group = "Screens",
	  .help = "Where the history was rewritten: compactions, parents that changed",
	  .opens = &view_cards },
	{ .name = "copy", .keys = "y", .group = "Screens", .when = WHEN_ROW,
	  .help = "Copy the entry's id; in the pane its text", .run = run_copy },
};

const struct command_table session_commands = COMMAND_TABLE(table);
