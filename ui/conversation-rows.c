/*
 * conversation-rows.c - one row of a conversation's outline: what the round
 * did to the node, its indent, its kind, first words, the stream that it
 * started; and the slider of rounds at the foot.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "ui/bar.h"
#include "ui/view-conversation.h"

enum { ROW_BYTES = 600, BAR_COLS = 48 };

static const struct {
	const char *kind, *word;
	enum role role;
} kinds[] = {
	{ "session", "session", ROLE_GROUP },
	{ "stream", "stream", ROLE_GROUP },
	{ "epoch", "epoch", ROLE_EVENT },
	{ "segment", "segment", ROLE_EVENT },
	{ "talk", "talk", ROLE_HEADING },
	{ "run", "run", ROLE_EVENT },
	{ "llm.call", "call", ROLE_LABEL },
	{ "tool", "tool", ROLE_TOOL },
	{ "agent.call", "agent", ROLE_TOOL },
	{ "agent.output", "output", ROLE_ASSISTANT },
	{ "agent.launch_ack", "ack", ROLE_EVENT },
	{ "message.assistant", "model", ROLE_ASSISTANT },
	{ "message.synthetic", "synthetic", ROLE_ASSISTANT },
	{ "message.external", "user", ROLE_USER },
	{ "thinking", "thinking", ROLE_DIM },
	{ "context.injection", "context", ROLE_SYSTEM },
	{ "runtime.notification", "notice", ROLE_EVENT },
	{ "epoch.boundary", "boundary", ROLE_EVENT },
	{ "epoch.summary", "summary", ROLE_SUMMARY },
	{ "error.api", "error", ROLE_DAMAGE },
	{ "turn.duration", "duration", ROLE_EVENT },
	{ "control.command", "command", ROLE_EVENT },
	{ "control.notice", "notice", ROLE_EVENT },
	{ "control.interrupt", "interrupt", ROLE_EVENT },
	{ "control.permission", "permission", ROLE_EVENT },
	{ "history.change", "history", ROLE_SUMMARY },
};

static size_t find_kind(struct str kind)
{
	size_t i = 0;

	while (i < sizeof(kinds) / sizeof(*kinds) && !str_eqs(kind, kinds[i].kind))
		i++;
	return i;
}

/* NULL for a kind that has no short word: it is shown as it is. */
static const char *word_of(struct str kind)
{
	size_t i = find_kind(kind);

	return i < sizeof(kinds) / sizeof(*kinds) ? kinds[i].word : NULL;
}

enum role node_role(struct str kind)
{
	size_t i = find_kind(kind);

	return i < sizeof(kinds) / sizeof(*kinds) ? kinds[i].role : ROLE_CONTROL;
}

enum role mark_role(char mark)
{
	return mark == '+'   ? ROLE_DIFF_ADD
	       : mark == '-' ? ROLE_DIFF_DEL
	       : mark == ' ' ? ROLE_NORMAL
			     : ROLE_NEW;
}

static void draw_indent(uint32_t depth, int list_cols, struct rowbuf *out)
{
	uint32_t levels = outline_levels(list_cols);

	row_spaces(out, ROLE_NORMAL, 1);
	if (depth <= levels) {
		row_spaces(out, ROLE_NORMAL, (int)(2 * depth));
		return;
	}
	row_spaces(out, ROLE_NORMAL, (int)(2 * levels - 2));
	outline_number(depth, out);
}

static void draw_right(const struct conversation_row *row, struct rowbuf *out)
{
	if (row->is_failed)
		row_lit(out, ROLE_DAMAGE, " failed");
	if (row->to.n) {
		row_lit(out, ROLE_LINK, " -> ");
		row_text(out, ROLE_LINK, row->to.p, row->to.n);
	}
	if (row->note.n) {
		row_spaces(out, ROLE_SUMMARY, 1);
		row_text(out, ROLE_SUMMARY, row->note.p, row->note.n);
	}
}

static void draw_words(struct str kind, const struct conversation_row *row, bool is_gone,
	int list_cols, struct rowbuf *out)
{
	const char *word = word_of(kind);
	int cols = list_cols >= 44 ? 9 : list_cols >= 24 ? 4 : 0;
	enum role role = row->is_missing            ? ROLE_DAMAGE
			 : is_gone || !row->is_said ? ROLE_DIM
						    : ROLE_NORMAL;

	if (!word)
		row_field(out, node_role(kind), kind.p, kind.n, cols > 0 && cols < 9 ? cols : 11);
	else
		row_field(out, node_role(kind), word,
			cols < 9 && strlen(word) > 4 ? 4 : strlen(word), cols);
	row_spaces(out, ROLE_NORMAL, cols > 0 && row_left(out) > 0);
	if (row->name.n) {
		row_text(out, is_gone ? ROLE_DIM : node_role(kind), row->name.p, row->name.n);
		row_spaces(out, ROLE_NORMAL, 1);
	}
	row_text(out, role, row->text.n ? row->text.p : "", row->text.n);
}

void conversation_draw_row(struct conversation_view *cv, uint32_t line, struct rowbuf *out)
{
	uint32_t n;
	const struct conversation_line *l = &conversation_lines(cv->c, &n)[line];
	struct conversation_row row;
	struct rowbuf right = { 0 };
	int clip = out->clip, list_cols = row_left(out);

	conversation_row(cv->c, line, ROW_BYTES, &cv->scratch, &row);
	row_printf(out, mark_role(l->mark), "%c", l->mark);
	row_start(&right, row_left(out) / 3 + 2, out->ascii);
	draw_right(&row, &right);
	if (conversation_is_folded(cv, line) && l->end > line + 1)
		row_printf(&right, ROLE_LABEL, " %u more", l->end - line - 1);
	row_clip(out, clip - right.n);
	draw_indent(l->depth, list_cols, out);
	if (l->end > line + 1)
		row_glyph(out, ROLE_BORDER,
			conversation_is_folded(cv, line) ? GLYPH_SHUT : GLYPH_OPEN);
	else
		row_spaces(out, ROLE_NORMAL, 1);
	row_spaces(out, ROLE_NORMAL, 1);
	draw_words(conversation_word(cv->c, l->kind), &row, l->mark == '-', list_cols, out);
	row_pad(out, ROLE_NORMAL);
	row_clip(out, clip);
	row_append(out, &right);
	row_release(&right);
	arena_reset(&cv->scratch);
}

/* ---- the slider ---- */

/* A cell for each round where they fit, else a bar. */
static void draw_bar(uint32_t round, uint32_t rounds, int cols, struct rowbuf *out)
{
	int each = rounds > 0 && rounds <= (uint32_t)cols / 2 ? cols / (int)rounds : 0;

	if (each > 5)
		each = 5;
	row_lit(out, ROLE_BORDER, "[");
	for (int i = 0; each > 0 && i < each * (int)rounds; i++) {
		uint32_t at = (uint32_t)(i / each) + 1;

		if (i % each == each - 1)
			row_lit(out, ROLE_BORDER, "|");
		else if (at == round && i % each == 0)
			row_lit(out, ROLE_TIP, "*");
		else
			row_printf(out, at < round ? ROLE_PROGRESS : ROLE_DIM, "%s",
				at < round ? "=" : "-");
	}
	for (int i = 0; each == 0 && i < cols && rounds > 0; i++) {
		int at = (int)((uint64_t)(round ? round - 1 : 0) * (uint64_t)(cols - 1) /
			(rounds > 1 ? rounds - 1 : 1));

		row_printf(out, i == at ? ROLE_TIP : i < at ? ROLE_PROGRESS : ROLE_DIM, "%s",
			i == at ? "*" : i < at ? "=" : "-");
	}
	row_lit(out, ROLE_BORDER, "]");
}

void conversation_draw_slider(struct conversation_view *cv, struct rowbuf *out)
{
	uint32_t round = conversation_round(cv->c), rounds = conversation_folded(cv->c);
	struct conversation_sums sums;
	int cols = row_left(out) - 38;
	struct bar b;

	conversation_sums(cv->c, &sums);
	bar_begin(&b, out);
	bar_say(bar_left(&b, 0), ROLE_DIM, "round %u/%u", round, rounds);
	if (cols >= 8)
		draw_bar(round, rounds, cols < BAR_COLS ? cols : BAR_COLS, bar_left(&b, 2));
	bar_say(bar_left(&b, 1), sums.added ? mark_role('+') : ROLE_DIM, "+ %u", sums.added);
	bar_say(bar_left(&b, 1), sums.revised ? mark_role('~') : ROLE_DIM, "~ %u", sums.revised);
	bar_say(bar_left(&b, 1), sums.resolved ? mark_role('=') : ROLE_DIM, "= %u", sums.resolved);
	bar_say(bar_left(&b, 1), sums.withdrawn ? mark_role('-') : ROLE_DIM, "- %u",
		sums.withdrawn);
	bar_draw(&b, ROLE_NORMAL, out);
}

void conversation_put_word(
	const struct view *v, struct rowbuf *out, enum role role, uint32_t word, int cols)
{
	struct str s = conversation_word(conversation_model(v), word);

	row_field(out, role, s.n ? s.p : "-", s.n ? s.n : 1, cols);
}
