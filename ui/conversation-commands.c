/*
 * conversation-commands.c - what can be done on a conversation's screen:
 * stepping through its rounds, moving along talks and relations, folding,
 * filtering, and opening the screens about it.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "ui/internal.h"
#include "ui/outside.h"
#include "ui/view-conversation.h"
#include "ui/view.h"

static const struct conversation_line *line_at(const struct view *v, uint32_t line)
{
	uint32_t n;

	return &conversation_lines(conversation_of(v)->c, &n)[line];
}

static enum effect go_line(struct view *v, uint32_t line, const char *none)
{
	if (line == CONVERSATION_NONE)
		ui_say(v->ui, "%s", none);
	else
		conversation_goto(v, line_at(v, line)->id);
	return FX_REDRAW;
}

static enum effect run_enter(struct view *v, const char *arg)
{
	v->pane_hidden = false;
	v->pane_focus = true;
	return FX_REDRAW;
}

/* ---- rounds ---- */

static enum effect run_round_back(struct view *v, const char *arg)
{
	conversation_goto_round(v, conversation_round(conversation_of(v)->c) - 1);
	return FX_REDRAW;
}

static enum effect run_round_forward(struct view *v, const char *arg)
{
	conversation_goto_round(v, conversation_round(conversation_of(v)->c) + 1);
	return FX_REDRAW;
}

static enum effect run_round(struct view *v, const char *arg)
{
	const struct conversation *c = conversation_of(v)->c;
	uint32_t folded = conversation_folded(c);
	char *end;
	unsigned long round = strtoul(arg, &end, 10);

	if (!*arg)
		round = folded;
	else if (*end || round < 1 || (round > folded && round > conversation_nrounds(c))) {
		ui_error(v->ui, "rounds go from 1 to %u", folded);
		return FX_REDRAW;
	}
	conversation_goto_round(v, (uint32_t)round);
	return FX_REDRAW;
}

/* ---- moving ---- */

/* The next line from the cursor on that `fits`, in a direction; CONVERSATION_NONE: none. */
static uint32_t next_line(
	struct view *v, int dir, bool (*fits)(struct view *v, uint32_t line, uint32_t from))
{
	uint32_t n, from = conversation_cursor(v);

	conversation_lines(conversation_of(v)->c, &n);
	for (uint32_t i = from + (uint32_t)dir; i < n; i += (uint32_t)dir)
		if (fits(v, i, from))
			return i;
	return CONVERSATION_NONE;
}

static bool is_talk(struct view *v, uint32_t line, uint32_t from)
{
	return str_eqs(conversation_word(conversation_of(v)->c, line_at(v, line)->kind), "talk");
}

static bool is_changed(struct view *v, uint32_t line, uint32_t from)
{
	return line_at(v, line)->mark != ' ';
}

static bool is_sibling(struct view *v, uint32_t line, uint32_t from)
{
	return line_at(v, line)->parent == line_at(v, from)->parent;
}

static enum effect run_next_talk(struct view *v, const char *arg)
{
	return go_line(v, next_line(v, 1, is_talk), "no further talk");
}

static enum effect run_previous_talk(struct view *v, const char *arg)
{
	return go_line(v, next_line(v, -1, is_talk), "no earlier talk");
}

static enum effect run_next_change(struct view *v, const char *arg)
{
	return go_line(v, next_line(v, 1, is_changed), "this round did nothing further down");
}

static enum effect run_previous_change(struct view *v, const char *arg)
{
	return go_line(v, next_line(v, -1, is_changed), "this round did nothing further up");
}

static enum effect run_next_sibling(struct view *v, const char *arg)
{
	return go_line(v, next_line(v, 1, is_sibling), "no further node beside this one");
}

static enum effect run_previous_sibling(struct view *v, const char *arg)
{
	return go_line(v, next_line(v, -1, is_sibling), "no earlier node beside this one");
}

static enum effect run_parent(struct view *v, const char *arg)
{
	return go_line(v, line_at(v, conversation_cursor(v))->parent, "this node is a root");
}

static enum effect run_newest(struct view *v, const char *arg)
{
	v->moved = true;
	view_set_cursor(v, v->ops->home(v));
	return FX_REDRAW;
}

static enum effect run_goto(struct view *v, const char *arg)
{
	struct conversation *c = conversation_of(v)->c;
	const struct conversation_line *lines;
	uint32_t n, id = conversation_find_word(c, str_of(arg));

	if (*arg && id != CONVERSATION_NONE && conversation_line_of(c, id) != CONVERSATION_NONE) {
		conversation_goto(v, id);
		return FX_REDRAW;
	}
	lines = conversation_lines(c, &n);
	for (uint32_t i = 0; *arg && i < n; i++) {
		if (str_starts(conversation_word(c, lines[i].id), arg)) {
			conversation_goto(v, lines[i].id);
			return FX_REDRAW;
		}
	}
	ui_error(v->ui, "no node %s in the fold of this round", arg);
	return FX_REDRAW;
}

/* To the other end of a relation; the one behind it each time the key comes again. */
static enum effect run_other_end(struct view *v, const char *arg)
{
	struct conversation_view *cv = conversation_of(v);
	struct conversation_node n;
	struct arena a = { 0 };
	struct err err = { 0 };
	uint32_t found = CONVERSATION_NONE;

	if (conversation_node(cv->c, conversation_cursor(v), 0, &a, &n, &err) < 0) {
		ui_error(v->ui, "%s", err.text);
	} else {
		for (size_t i = 0; i < n.nends && found == CONVERSATION_NONE; i++)
			if (conversation_line_of(cv->c, n.ends[i].other) != CONVERSATION_NONE)
				found = n.ends[i].other;
		if (found != CONVERSATION_NONE)
			conversation_goto(v, found);
		else
			ui_say(v->ui, n.nends ? "the other end is not in the fold"
					      : "no relation ends at this node");
	}
	arena_free(&a);
	return FX_REDRAW;
}

/* ---- folding, filtering ---- */

static enum effect run_fold(struct view *v, const char *arg)
{
	struct conversation_view *cv = conversation_of(v);
	uint32_t line = conversation_cursor(v);

	conversation_set_fold(cv, line_at(v, line)->id, !conversation_is_folded(cv, line));
	v->moved = true;
	return FX_RELAYOUT;
}

static enum effect run_fold_all(struct view *v, const char *arg)
{
	struct conversation_view *cv = conversation_of(v);
	const struct conversation_line *lines;
	uint32_t n, line = conversation_cursor(v),
		    id = line != CONVERSATION_NONE ? line_at(v, line)->id : 0;
	bool any = false;

	lines = conversation_lines(cv->c, &n);
	for (uint32_t i = 0; i < n && !any; i++)
		any = conversation_is_folded(cv, i);
	for (uint32_t i = 0; i < n; i++)
		if (lines[i].end > i + 1 && (any || is_talk(v, i, i)))
			conversation_set_fold(cv, lines[i].id, !any);
	v->moved = true;
	view_relayout(v);
	if (line != CONVERSATION_NONE)
		view_set_cursor(v, conversation_nearest(cv, conversation_line_of(cv->c, id)));
	ui_say(v->ui, any ? "all is unfolded" : "talks are folded");
	return FX_REDRAW | FX_PANE;
}

static const char *const show_names[NODES_COUNT] = { "all", "talk", "prompts", "tools", "changes" };

static enum effect run_show(struct view *v, const char *arg)
{
	struct conversation_view *cv = conversation_of(v);
	uint32_t line = conversation_cursor(v);

	int show = 0;

	while (*arg && show < NODES_COUNT && strcmp(arg, show_names[show]) != 0)
		show++;
	if (show == NODES_COUNT) {
		ui_error(v->ui, "no kind %.60s: all, talk, prompts, tools, changes", arg);
		return FX_REDRAW;
	}
	cv->show = *arg ? show : (cv->show + 1) % NODES_COUNT;
	v->moved = true;
	view_relayout(v);
	if (line != CONVERSATION_NONE)
		view_set_cursor(v, conversation_nearest(cv, line));
	ui_say(v->ui, "showing %s%s", show_names[cv->show],
		cv->nshown == 0 ? ": there are none; & goes on" : "");
	return FX_REDRAW | FX_PANE;
}

/* ---- screens, copying ---- */

/* Everything that a node says, as plain text. */
static int copy_text(struct view *v, struct buf *text, struct err *err)
{
	struct conversation_node n;
	struct arena a = { 0 };
	int rc = conversation_node(
		conversation_of(v)->c, conversation_cursor(v), SIZE_MAX, &a, &n, err);

	for (size_t i = 0; rc == 0 && i < n.content.n; i++) {
		const struct part *part = &n.content.v[i];

		if (part->kind == PART_META || part->kind == PART_NOTE)
			continue;
		if (text->n)
			buf_addc(text, '\n');
		buf_addstr(text, part->text);
	}
	arena_free(&a);
	return rc;
}

static enum effect run_copy(struct view *v, const char *arg)
{
	struct buf text = { 0 };
	struct err err = { 0 };
	int rc = 0;

	if (v->pane_focus)
		rc = copy_text(v, &text, &err);
	else
		buf_addstr(&text, conversation_word(conversation_of(v)->c,
					  line_at(v, conversation_cursor(v))->id));
	if (rc < 0)
		ui_error(v->ui, "%s", err.text);
	else
		outside_copy(v->ui, buf_str(&text), !v->pane_focus);
	buf_release(&text);
	return FX_REDRAW;
}

static const struct command table[] = {
	{ .name = "enter", .keys = "<Enter>, l", .group = "Conversation", .when = WHEN_ROW,
	  .help = "Give the node's pane the keys", .run = run_enter },
	{ .name = "round-back", .keys = "<", .group = "Conversation", .hint = "round back",
	  .when = WHEN_LOADED, .help = "The fold as of the round before", .run = run_round_back },
	{ .name = "round-forward", .keys = ">", .group = "Conversation", .hint = "forward",
	  .when = WHEN_LOADED, .help = "The fold as of the next round", .run = run_round_forward },
	{ .name = "round", .keys = "", .group = "Conversation", .when = WHEN_LOADED, .arg = "N",
	  .help = "The fold as of a round; without a number the newest", .run = run_round },
	{ .name = "next-talk", .keys = "]", .group = "Conversation", .when = WHEN_ROW,
	  .help = "To the next talk", .run = run_next_talk },
	{ .name = "previous-talk", .keys = "[", .group = "Conversation", .when = WHEN_ROW,
	  .help = "To the talk before", .run = run_previous_talk },
	{ .name = "next-change", .keys = "}", .group = "Conversation", .when = WHEN_ROW,
	  .help = "To the next node that this round added, revised or withdrew",
	  .run = run_next_change },
	{ .name = "previous-change", .keys = "{", .group = "Conversation", .when = WHEN_ROW,
	  .help = "To the node before that this round added, revised or withdrew",
	  .run = run_previous_change },
	{ .name = "next-sibling", .keys = "J", .group = "Conversation", .when = WHEN_ROW,
	  .help = "To the next node with the same parent", .run = run_next_sibling },
	{ .name = "previous-sibling", .keys = "K", .group = "Conversation", .when = WHEN_ROW,
	  .help = "To the node before with the same parent", .run = run_previous_sibling },
	{ .name = "newest", .keys = "t", .group = "Conversation", .when = WHEN_ROW,
	  .help = "To the newest talk of the first stream", .run = run_newest },
	{ .name = "parent", .keys = "p", .group = "Conversation", .when = WHEN_ROW,
	  .help = "To the parent", .run = run_parent },
	{ .name = "other-end", .keys = "o", .group = "Conversation", .when = WHEN_ROW,
	  .help = "To the other end of the node's first relation", .run = run_other_end },
	{ .name = "goto", .keys = "", .group = "Conversation", .when = WHEN_LOADED, .arg = "NODE",
	  .help = "To a node: its id or the beginning of one", .run = run_goto },
	{ .name = "fold", .keys = "z, <Space>", .group = "Conversation",
	  .when = WHEN_ROW | WHEN_CHILDREN, .help = "Fold or unfold what is below this node",
	  .run = run_fold },
	{ .name = "fold-all", .keys = "Z", .group = "Conversation", .when = WHEN_LOADED,
	  .help = "Fold every talk, or unfold all", .run = run_fold_all },
	{ .name = "show", .keys = "&", .group = "Conversation", .when = WHEN_LOADED, .arg = "KINDS",
	  .help = "Which nodes are shown: all, talk, prompts, tools, changes", .run = run_show },
	{ .name = "rounds", .keys = "g r", .group = "Screens", .hint = "rounds",
	  .when = WHEN_LOADED, .help = "The rounds and their checks", .opens = &view_rounds },
	{ .name = "relations", .keys = "g l", .group = "Screens", .hint = "relations",
	  .when = WHEN_LOADED, .help = "The relations between nodes", .opens = &view_relations },
	{ .name = "unresolved", .keys = "g u", .group = "Screens", .hint = "unresolved",
	  .when = WHEN_LOADED, .help = "What is named and not there", .opens = &view_unresolved },
	{ .name = "cards", .keys = "g c", .group = "Screens", .hint = "cards", .when = WHEN_LOADED,
	  .help = "Where the history that the model was sent was rewritten", .opens = &view_cards },
	{ .name = "problems", .keys = "g p", .group = "Screens", .when = WHEN_LOADED,
	  .help = "What is wrong with the rounds, and where", .opens = &view_problems },
	{ .name = "copy", .keys = "y", .group = "Screens", .when = WHEN_ROW,
	  .help = "Copy the node's id; in the pane its text", .run = run_copy },
};

const struct command_table conversation_commands = COMMAND_TABLE(table);
