/*
 * view-cards.c - where the history that the model was sent was rewritten, a
 * card at a time: what was kept, taken out and put in, message by message,
 * what became of the reply, whether the system prompt changed. Below, one
 * message whole, or what two versions of it differ in word by word.
 *
 * It stands on a conversation's screen, whose cards are as of the round shown,
 * or on a session's, whose cards its format derives.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "ui/internal.h"
#include "ui/page.h"
#include "ui/view-conversation.h"
#include "ui/view.h"

enum { KEPT_SHOWN = 200, KEPT_BYTES = 400 };

/* One line: a message, or a run of kept ones. */
struct card_line {
	uint32_t first, last; /* messages */
};

struct cards {
	struct arena arena;       /* of `own` */
	struct card_list own;     /* of a session that is no conversation */
	size_t at;                /* the card that is shown */
	struct card_line *lines;
	size_t nlines, cap;
	bool words;               /* the pane shows the word diff */
	unsigned generation;
};

static struct cards *of(const struct view *v)
{
	return v->priv;
}

static bool on_conversation(const struct view *v)
{
	return v->below->ops == &view_conversation;
}

static const struct card_list *list(const struct view *v)
{
	static const struct card_list none;

	if (!on_conversation(v))
		return &of(v)->own;
	return conversation_model(v) ? conversation_cards(conversation_model(v)) : &none;
}

static const struct card *shown(const struct view *v)
{
	const struct card_list *cards = list(v);

	return of(v)->at < cards->n ? &cards->v[of(v)->at] : NULL;
}

static void read_own(struct view *v)
{
	struct cards *cs = of(v);
	struct err err = { 0 };

	arena_free(&cs->arena);
	cs->own = (struct card_list){ 0 };
	if (work_cards(session_of(v->below)->w, &cs->arena, &cs->own, &err) < 0)
		ui_error(v->ui, "%s", err.text);
}

static void fill(struct view *v)
{
	struct cards *cs = of(v);
	struct err err = { 0 };

	if (!shown(v))
		return;
	if (on_conversation(v))
		conversation_card_fill(conversation_model(v), cs->at);
	else if (work_card_fill(session_of(v->below)->w, &cs->own.v[cs->at], &cs->arena, &err) < 0)
		ui_error(v->ui, "%s", err.text);
}

/* The card of the node or entry under the cursor below, else the last one. */
static size_t first_card(const struct view *v)
{
	const struct card_list *cards = list(v);
	uint32_t n, line, entry;
	struct str id;

	if (on_conversation(v)) {
		line = conversation_cursor(v->below);
		if (line == CONVERSATION_NONE)
			return 0;
		id = conversation_word(conversation_model(v),
			conversation_lines(conversation_model(v), &n)[line].id);
		for (size_t i = 0; i < cards->n; i++)
			if (str_eq(cards->v[i].at, id) || str_eq(cards->v[i].id, id))
				return i;
	} else {
		entry = session_cursor(v->below);
		for (size_t i = 0; i < cards->n; i++)
			if (cards->v[i].entry == entry)
				return i;
	}
	return 0;
}

static int cards_open(struct view *v, const void *arg, struct err *err)
{
	if (!on_conversation(v))
		read_own(v);
	of(v)->at = first_card(v);
	of(v)->generation = session_of(v->below)->generation;
	return 0;
}

static void cards_close(struct view *v)
{
	arena_free(&of(v)->arena);
	free(of(v)->lines);
}

static void cards_layout(struct view *v)
{
	struct cards *cs = of(v);
	const struct card *card;

	if (cs->generation != session_of(v->below)->generation && !on_conversation(v))
		read_own(v);
	cs->generation = session_of(v->below)->generation;
	cs->nlines = 0;
	if (cs->at >= list(v)->n)
		cs->at = 0;
	fill(v);
	card = shown(v);
	for (uint32_t i = 0; card && i < card->n; i++) {
		struct card_line *last = cs->nlines ? &cs->lines[cs->nlines - 1] : NULL;

		if (last && card->v[i].mark == CARD_KEPT && card->v[last->last].mark == CARD_KEPT) {
			last->last = i;
			continue;
		}
		cs->lines = xgrow(cs->lines, &cs->cap, cs->nlines + 1, sizeof(*cs->lines));
		cs->lines[cs->nlines++] = (struct card_line){ i, i };
	}
}

static bool cards_stale(const struct view *v)
{
	return of(v)->generation != session_of(v->below)->generation;
}

static size_t cards_count(const struct view *v)
{
	return of(v)->nlines;
}

static uint64_t cards_id(const struct view *v, size_t line)
{
	return (uint64_t)of(v)->at << 32 | line;
}

static size_t cards_line_of(const struct view *v, uint64_t id)
{
	size_t line = id & 0xFFFFFFFFu;

	return id >> 32 == of(v)->at && line < of(v)->nlines ? line : LINE_NONE;
}

/* The first message that was not kept. */
static size_t cards_home(const struct view *v)
{
	const struct card *card = shown(v);

	for (size_t i = 0; card && i < of(v)->nlines; i++)
		if (card->v[of(v)->lines[i].first].mark != CARD_KEPT)
			return i;
	return 0;
}

/* ---- drawing ---- */

static enum role speaker(struct str role)
{
	char word[16] = "";

	for (size_t i = 0; i < role.n && i < sizeof(word) - 1; i++)
		word[i] = role.p[i] >= 'A' && role.p[i] <= 'Z' ? (char)(role.p[i] + 32) : role.p[i];
	return strcmp(word, "user") == 0        ? ROLE_USER
	       : strcmp(word, "assistant") == 0 ? ROLE_ASSISTANT
	       : strcmp(word, "system") == 0    ? ROLE_SYSTEM
						: ROLE_TOOL;
}

static void cards_row(struct view *v, size_t line, struct rowbuf *out)
{
	const struct card_line *l = &of(v)->lines[line];
	const struct card_message *m = &shown(v)->v[l->first], *last = &shown(v)->v[l->last];
	enum role mark = m->mark == CARD_ADDED     ? ROLE_DIFF_ADD
			 : m->mark == CARD_REMOVED ? ROLE_DIFF_DEL
						   : ROLE_DIM;
	char number[48];

	if (m->mark == CARD_KEPT) {
		if (l->first == l->last)
			snprintf(number, sizeof(number), "%u", m->after);
		else
			snprintf(number, sizeof(number), "%u..%u", m->after, last->after);
		row_lit(out, ROLE_DIM, "  ");
		row_field_right(out, ROLE_DIM, number, strlen(number), 8);
		row_lit(out, ROLE_DIM, "  kept");
		if (m->before != m->after)
			row_printf(out, ROLE_DIM, ", before %u..%u", m->before, last->before);
		return;
	}
	row_lit(out, ROLE_NORMAL, " ");
	row_printf(out, mark, "%c", m->mark == CARD_ADDED ? '+' : '-');
	snprintf(number, sizeof(number), "%u", m->mark == CARD_ADDED ? m->after : m->before);
	row_field_right(out, mark, number, strlen(number), row_left(out) >= 50 ? 8 : 4);
	row_spaces(out, ROLE_NORMAL, 2);
	row_field(out, speaker(m->role), m->role.p, m->role.n, row_left(out) >= 50 ? 11 : 6);
	row_spaces(out, ROLE_NORMAL, 1);
	row_text(out, m->mark == CARD_ADDED ? ROLE_NORMAL : ROLE_DIM, m->text.p, m->text.n);
}

static void cards_header(struct view *v, struct rowbuf *out)
{
	const struct card_list *cards = list(v);
	const struct card *card = shown(v);
	struct rowbuf *field;
	struct bar b;

	bar_begin(&b, out);
	bar_say(bar_left(&b, card ? 2 : 0), ROLE_TITLE, "History changes");
	if (card) {
		bar_say(bar_left(&b, 1), ROLE_TITLE, "%zu of %zu", of(v)->at + 1, cards->n);
		if (card->kind != CARD_HISTORY)
			bar_say(bar_left(&b, 3), ROLE_LABEL, "%s", card_kind_name(card->kind));
		row_text(bar_left(&b, 0), ROLE_TITLE, card->at.n ? card->at.p : "-",
			card->at.n ? card->at.n : 1);
	}
	bar_elastic(&b, 10);
	if (card && card->from.n) {
		field = bar_left(&b, 4);
		row_lit(field, ROLE_TITLE, "after ");
		row_text(field, ROLE_TITLE, card->from.p, card->from.n);
	}
	bar_draw(&b, ROLE_TITLE, out);
}

static bool is_withdrawn(const struct view *v, const struct card *card)
{
	struct conversation *c = on_conversation(v) ? conversation_model(v) : NULL;
	uint32_t n, id = c ? conversation_find_word(c, card->id) : CONVERSATION_NONE;
	uint32_t line = id != CONVERSATION_NONE ? conversation_line_of(c, id) : CONVERSATION_NONE;

	return line != CONVERSATION_NONE && conversation_lines(c, &n)[line].mark == '-';
}

static void heading_reply(const struct card *card, struct bar *b)
{
	struct rowbuf *field = bar_left(b, 2);

	if (card->reply.n) {
		row_lit(field, ROLE_DIM, "reply ");
		row_text(field, ROLE_STRONG, card->reply.p, card->reply.n);
	}
	if (card->reply_reason.n) {
		row_str(field, ROLE_DIM, card->reply.n ? ": " : "reply: ");
		row_text(field, ROLE_STRONG, card->reply_reason.p, card->reply_reason.n);
	}
	bar_elastic(b, 14);
}

static void cards_heading(struct view *v, struct rowbuf *out)
{
	static const char *const system[] = { "unknown", "changed", "kept" };
	const struct card *card = shown(v);
	struct bar b;

	if (!card)
		return;
	bar_begin(&b, out);
	if (card->has_messages) {
		bar_say(bar_left(&b, 5), ROLE_STRONG, "kept %u", card->nkept);
		bar_say(bar_left(&b, 0), ROLE_STRONG, "removed %u", card->nremoved);
		bar_say(bar_left(&b, 0), ROLE_STRONG, "added %u", card->nadded);
	} else {
		bar_say(bar_left(&b, 0), ROLE_DAMAGE, "messages missing");
	}
	heading_reply(card, &b);
	if (card->kind == CARD_HISTORY || card->system_changed != CARD_UNKNOWN) {
		bar_say(bar_left(&b, 3), ROLE_STRONG, "system prompt %s",
			system[card->system_changed]);
		bar_say(bar_left(&b, 3), ROLE_STRONG, "system %s", system[card->system_changed]);
		bar_shorter(&b);
	}
	if (is_withdrawn(v, card))
		bar_say(bar_left(&b, 1), ROLE_DIFF_DEL, "withdrawn by this round");
	bar_draw(&b, ROLE_NORMAL, out);
}

static const char *cards_empty(const struct view *v)
{
	if (!session_of(v->below)->is_loaded)
		return "still being read";
	return shown(v) ? "the messages can not be shown: see below" : "no history was rewritten";
}

/* ---- the pane ---- */

static void put_message(struct page *p, const struct card_message *m)
{
	char text[64];

	page_begin_par(p, "", "  ", ROLE_DIM);
	page_text(p, speaker(m->role), m->role.p, m->role.n);
	if (m->mark == CARD_KEPT)
		snprintf(text, sizeof(text), "  message %u, kept", m->after);
	else if (m->mark == CARD_REMOVED)
		snprintf(text, sizeof(text), "  message %u before, removed", m->before);
	else
		snprintf(text, sizeof(text), "  message %u, added", m->after);
	page_puts(p, ROLE_DIM, text);
	page_end_par(p);
}

static void put_words(struct page *p, const struct card *card, const struct card_message *m)
{
	const struct card_message *other = &card->v[m->other];
	const struct card_message *before = m->mark == CARD_REMOVED ? m : other,
				  *after = m->mark == CARD_REMOVED ? other : m;
	struct arena a = { 0 };
	struct card_words *w;
	size_t n;

	put_message(p, before);
	put_message(p, after);
	page_blank(p);
	w = card_word_diff(&a, before->text, after->text, &n);
	page_begin_par(p, "", "", ROLE_NORMAL);
	for (size_t i = 0; i < n; i++) {
		static const char *const open[] = { "", "[-", "{+" }, *const shut[] = { "", "-]",
			"+}" };
		enum role role = w[i].mark == CARD_ADDED     ? ROLE_DIFF_ADD
				 : w[i].mark == CARD_REMOVED ? ROLE_DIFF_DEL
							     : ROLE_NORMAL;
		size_t text = w[i].text.n;

		/* the space behind the last word stays outside of the marks */
		while (text > 0 && w[i].mark != CARD_KEPT &&
			strchr(" \n\t\r", w[i].text.p[text - 1]))
			text--;
		page_puts(p, role, open[w[i].mark]);
		page_text(p, role, w[i].text.p, text);
		page_puts(p, role, shut[w[i].mark]);
		page_text(p, ROLE_NORMAL, w[i].text.p + text, w[i].text.n - text);
	}
	page_end_par(p);
	arena_free(&a);
}

static void put_attrs(struct page *p, const struct card *card)
{
	for (size_t i = 0; i < card->nattrs; i++) {
		page_begin_par(p, "", "    ", ROLE_NORMAL);
		page_text(p, ROLE_DIM, card->attrs[i].key.p, card->attrs[i].key.n);
		page_puts(p, ROLE_DIM, " = ");
		page_text(p, ROLE_NORMAL, card->attrs[i].value.p, card->attrs[i].value.n);
		page_end_par(p);
	}
}

static void put_kept(
	struct page *p, const struct card *card, const struct card_line *l, size_t limit)
{
	size_t each = l->first == l->last ? limit : KEPT_BYTES;

	for (uint32_t i = l->first; i <= l->last && i - l->first < KEPT_SHOWN; i++) {
		const struct card_message *m = &card->v[i];
		char number[32];

		snprintf(number, sizeof(number), "%u ", m->after);
		page_begin_par(p, "", "    ", ROLE_DIM);
		page_puts(p, ROLE_DIM, number);
		page_text(p, speaker(m->role), m->role.p, m->role.n);
		page_puts(p, ROLE_NORMAL, "  ");
		page_text(p, ROLE_NORMAL, m->text.p, m->text.n < each ? m->text.n : each);
		page_puts(p, ROLE_DIM, m->text.n > each ? " ..." : "");
		page_end_par(p);
	}
	if (l->last - l->first >= KEPT_SHOWN)
		page_words(p, ROLE_DIM, "... and more");
}

static void put_missing(struct page *p, struct str said)
{
	page_begin_par(p, "! ", "  ", ROLE_DAMAGE);
	page_text(p, ROLE_DAMAGE, said.p, said.n);
	page_end_par(p);
}

static void cards_pane(struct view *v, struct page *p, size_t limit)
{
	const struct card *card = shown(v);
	const struct card_line *l = v->cursor < of(v)->nlines ? &of(v)->lines[v->cursor] : NULL;

	if (!card)
		return;
	for (size_t i = 0; i < card->nmissing; i++)
		put_missing(p, card->missing[i]);
	if (l && card->v[l->first].mark == CARD_KEPT) {
		put_kept(p, card, l, limit);
	} else if (l && of(v)->words && card->v[l->first].other != CARD_NONE) {
		put_words(p, card, &card->v[l->first]);
	} else if (l) {
		const struct card_message *m = &card->v[l->first];
		size_t n = m->text.n < limit ? m->text.n : limit;

		put_message(p, m);
		page_blank(p);
		if (!on_conversation(v) && m->entry != ENTRY_NONE) {
			entry_page(session_of(v->below), m->entry, limit, p);
		} else {
			page_line(p, ROLE_NORMAL, "", m->text.p, n);
			p->more |= n < m->text.n;
		}
	}
	if (card->nattrs) {
		page_blank(p);
		page_rule(p);
		put_attrs(p, card);
	}
}

static unsigned cards_state(const struct view *v)
{
	return WHEN_PANE | (cards_count(v) > 0 ? WHEN_ROW : 0) | (shown(v) ? WHEN_CARD : 0);
}

static void cards_position(const struct view *v, struct bar *b)
{
	if (shown(v))
		bar_say(bar_right(b, 3), ROLE_STATUS, "card %zu/%zu", of(v)->at + 1, list(v)->n);
	if (of(v)->nlines)
		bar_say(bar_right(b, 2), ROLE_STATUS, "%zu/%zu", v->cursor + 1, of(v)->nlines);
}

/* ---- commands ---- */

static enum effect run_enter(struct view *v, const char *arg)
{
	v->pane_hidden = false;
	v->pane_focus = true;
	return FX_REDRAW;
}

static enum effect to_card(struct view *v, size_t at, const char *none)
{
	if (at >= list(v)->n) {
		ui_say(v->ui, "%s", none);
		return FX_REDRAW;
	}
	of(v)->at = at;
	v->moved = false; /* to what was changed there */
	return FX_RELAYOUT | FX_PANE;
}

static enum effect run_next(struct view *v, const char *arg)
{
	return to_card(v, of(v)->at + 1, "this is the last card");
}

static enum effect run_previous(struct view *v, const char *arg)
{
	return to_card(v, of(v)->at - 1, "this is the first card");
}

static enum effect run_words(struct view *v, const char *arg)
{
	const struct card *card = shown(v);

	of(v)->words = !of(v)->words;
	if (of(v)->words && card->v[of(v)->lines[v->cursor].first].other == CARD_NONE)
		ui_say(v->ui, "this message has no other version; word diffs are on");
	else
		ui_say(v->ui, of(v)->words ? "word diff" : "whole messages");
	return FX_PANE | FX_REDRAW;
}

static enum effect run_call(struct view *v, const char *arg)
{
	const struct card *card = shown(v);
	uint32_t id;

	if (!card)
		return FX_NONE;
	if (!on_conversation(v)) {
		if (card->entry == ENTRY_NONE)
			return FX_NONE;
		session_goto(v->below, card->entry);
		return FX_CLOSE;
	}
	id = conversation_find_word(conversation_model(v), card->at.n ? card->at : card->id);
	if (id == CONVERSATION_NONE ||
		conversation_line_of(conversation_model(v), id) == CONVERSATION_NONE) {
		ui_say(v->ui, "the call is not in the fold of this round");
		return FX_REDRAW;
	}
	conversation_goto(v->below, id);
	return FX_CLOSE;
}

static const struct command table[] = {
	{ .name = "enter", .keys = "<Enter>, l", .group = "History changes", .hint = "read",
	  .when = WHEN_CARD,
	  .help = "Give the message's pane the keys", .run = run_enter },
	{ .name = "next-card", .keys = "]", .group = "History changes", .hint = "next card",
	  .when = WHEN_CARD,
	  .help = "The next card", .run = run_next },
	{ .name = "previous-card", .keys = "[", .group = "History changes", .hint = "previous",
	  .when = WHEN_CARD,
	  .help = "The card before", .run = run_previous },
	{ .name = "words", .keys = "d", .group = "History changes", .hint = "word diff",
	  .when = WHEN_ROW,
	  .help = "What two versions of a message differ in, word by word; or whole messages",
	  .run = run_words },
	{ .name = "open", .keys = "o", .group = "History changes", .hint = "to the call",
	  .when = WHEN_CARD,
	  .help = "To the call or entry whose history it is", .run = run_call },
};

static const struct command_table cards_commands = COMMAND_TABLE(table);

const struct view_ops view_cards = {
	.name = "cards",
	.pane = PANE_BELOW,
	.pane_percent = 50,
	.private_size = sizeof(struct cards),
	.commands = &cards_commands,
	.open = cards_open,
	.close = cards_close,
	.layout = cards_layout,
	.is_stale = cards_stale,
	.count = cards_count,
	.draw_row = cards_row,
	.draw_header = cards_header,
	.draw_heading = cards_heading,
	.line_id = cards_id,
	.line_of = cards_line_of,
	.home = cards_home,
	.fill_pane = cards_pane,
	.empty = cards_empty,
	.state = cards_state,
	.position = cards_position,
};
