/*
 * view-branches.c - every leaf of a session: how long its branch is, how old,
 * and the first words behind the fork where it left the tip's branch. The
 * header tells why the tip is the tip and what would be it next.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ui/internal.h"
#include "ui/session-changes.h"
#include "ui/view-session.h"
#include "ui/view.h"

struct branches {
	struct branch *v;
	size_t n;
	unsigned generation; /* of the session's view when the list was made */
};

static void branches_close(struct view *v)
{
	free(((struct branches *)v->priv)->v);
}

static void branches_layout(struct view *v)
{
	struct branches *b = v->priv;
	struct session_view *sv = session_of(v->below);

	free(b->v);
	b->v = layout_branches(&sv->lay, &b->n);
	b->generation = sv->generation;
}

static size_t branches_count(const struct view *v)
{
	return ((const struct branches *)v->priv)->n;
}

static uint64_t branches_id(const struct view *v, size_t line)
{
	return ((const struct branches *)v->priv)->v[line].leaf;
}

static size_t branches_line_of(const struct view *v, uint64_t id)
{
	const struct branches *b = v->priv;

	for (size_t i = 0; i < b->n; i++) {
		if (b->v[i].leaf == id)
			return i;
	}
	return LINE_NONE;
}

static size_t branches_home(const struct view *v)
{
	const struct branches *b = v->priv;

	for (size_t i = 0; i < b->n; i++) {
		if (b->v[i].is_tip)
			return i;
	}
	return 0;
}

static void draw_words(struct session_view *sv, uint32_t entry, struct rowbuf *out)
{
	struct session *s = work_session(sv->w);
	struct buf text = { 0 }, who = { 0 };
	struct err err = { 0 };

	if (s->ops->preview(s, entry, 400, &text, &who, &err) < 0) {
		row_str(out, ROLE_DAMAGE, err.text);
	} else {
		const char *word = entry_word(&s->entries[entry]);
		if (row_left(out) > 30)
			row_field(out, entry_role(&s->entries[entry]), word, strlen(word), 10);
		row_text(out, ROLE_NORMAL, text.n ? text.p : "", text.n);
	}
	buf_release(&text);
	buf_release(&who);
}

static void branches_row(struct view *v, size_t line, struct rowbuf *out)
{
	const struct branch *b = &((struct branches *)v->priv)->v[line];
	struct session_view *sv = session_of(v->below);
	const struct label *label = session_label(work_session(sv->w), b->leaf);
	char age[16], length[48], id[64];

	row_spaces(out, ROLE_NORMAL, 1);
	row_glyph(out, b->is_tip ? ROLE_TIP : ROLE_OFF_BRANCH, b->is_tip ? GLYPH_TIP : GLYPH_OFF);
	row_spaces(out, ROLE_NORMAL, 1);
	entry_short_id(sv, b->leaf, id);
	row_field(out, ROLE_ID, id, strlen(id), row_left(out) > 50 ? 13 : 9);
	count_human(b->length, length);
	row_field_right(out, ROLE_DIM, length, strlen(length), 7);
	if (row_left(out) > 50)
		row_str(out, ROLE_DIM, plural(b->length, " entry  ", " entries"));
	time_age(b->last_time, clock_now_ms(), age);
	row_field_right(out, ROLE_TIME, age, strlen(age), 6);
	row_spaces(out, ROLE_NORMAL, 2);
	if (label) {
		row_lit(out, ROLE_LABEL, "[");
		row_text(out, ROLE_LABEL, label->text.p, label->text.n);
		row_lit(out, ROLE_LABEL, "] ");
	}
	draw_words(sv, b->first != ENTRY_NONE ? b->first : b->leaf, out);
}

static const char *tip_rule_words(const struct session *s)
{
	return s->tip_rule == TIP_CHECKOUT ? "checked out" :
		s->tip_rule == TIP_LAST_ENTRY ? "last entry of the file" : "none";
}

static void branches_header(struct view *v, struct rowbuf *out)
{
	struct session_view *sv = session_of(v->below);
	struct session *s = work_session(sv->w);
	const struct branches *b = v->priv;
	const struct branch *next = NULL;
	struct bar bar;
	char id[64];

	bar_begin(&bar, out);
	bar_say(bar_left(&bar, 0), ROLE_TITLE, "%zu %s", b->n, plural(b->n, "branch", "branches"));
	bar_elastic(&bar, 8);
	if (s->tip != ENTRY_NONE) {
		entry_short_id(sv, s->tip, id);
		bar_say(bar_left(&bar, 1), ROLE_TITLE, "tip %s: %s", id, tip_rule_words(s));
		bar_say(bar_left(&bar, 1), ROLE_TITLE, "tip %s", id);
		bar_shorter(&bar);
	}
	for (size_t i = 0; i < b->n; i++) {
		if (!b->v[i].is_tip && (!next || b->v[i].last_time > next->last_time))
			next = &b->v[i];
	}
	if (s->tip_rule == TIP_CHECKOUT && s->last_entry != ENTRY_NONE && s->last_entry != s->tip)
		bar_say(bar_left(&bar, 2), ROLE_TITLE, "without it %s, the last entry of the file",
			entry_short_id(sv, s->last_entry, id));
	else if (s->tip != ENTRY_NONE && next)
		bar_say(bar_left(&bar, 2), ROLE_TITLE, "next newest %s",
			entry_short_id(sv, next->leaf, id));
	bar_draw(&bar, ROLE_TITLE, out);
}

static bool branches_stale(const struct view *v)
{
	return ((const struct branches *)v->priv)->generation != session_of(v->below)->generation;
}

static unsigned branches_state(const struct view *v)
{
	return view_count(v) > 0 ? WHEN_ROW : 0;
}

static enum effect run_open(struct view *v, const char *arg)
{
	session_goto(v->below, ((struct branches *)v->priv)->v[v->cursor].leaf);
	return FX_CLOSE;
}

static enum effect run_fork_point(struct view *v, const char *arg)
{
	const struct branch *b = &((struct branches *)v->priv)->v[v->cursor];

	session_goto(v->below, b->first != ENTRY_NONE ? b->first : b->leaf);
	return FX_CLOSE;
}

static enum effect run_checkout(struct view *v, const char *arg)
{
	ui_apply(v->ui, v->below,
		alter_checkout_entry(v->below, ((struct branches *)v->priv)->v[v->cursor].leaf));
	return FX_RELAYOUT;
}

static enum effect run_undo(struct view *v, const char *arg)
{
	ui_apply(v->ui, v->below, alter_undo(v->below, arg));
	return FX_RELAYOUT;
}

static const struct command table[] = {
	{ .name = "open", .keys = "<Enter>, l", .group = "Branches", .hint = "go to its end",
	  .when = WHEN_ROW, .help = "To the end of the branch, in the tree", .run = run_open },
	{ .name = "begin", .keys = "b", .group = "Branches", .hint = "to its begin",
	  .when = WHEN_ROW, .help = "To where the branch leaves the tip's, in the tree",
	  .run = run_fork_point },
	{ .name = "checkout", .keys = "c", .group = "Branches", .hint = "checkout",
	  .when = WHEN_ROW, .help = "Make the end of the branch the tip", .run = run_checkout },
	{ .name = "undo", .keys = "u", .group = "Branches", .hint = "undo",
	  .help = "Take the last checkout back",
	  .run = run_undo },
};

static const struct command_table branches_commands = COMMAND_TABLE(table);

const struct view_ops view_branches = {
	.name = "branches",
	.private_size = sizeof(struct branches),
	.commands = &branches_commands,
	.close = branches_close,
	.layout = branches_layout,
	.count = branches_count,
	.draw_row = branches_row,
	.draw_header = branches_header,
	.line_id = branches_id,
	.line_of = branches_line_of,
	.home = branches_home,
	.state = branches_state,
	.is_stale = branches_stale,
};
