/*
 * view-unresolved.c - what a conversation names and does not have, as of the
 * round that is shown: open, resolved later, or known never to come.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "ui/internal.h"
#include "ui/picks.h"
#include "ui/view-conversation.h"
#include "ui/view.h"

struct unresolved {
	struct picks picks;     /* first */
	char state[32];  /* only these; "" all */
};

static const char *const states[] = { "open", "resolved", "terminal" };
#define NSTATES (sizeof(states) / sizeof(*states))

static struct unresolved *of(const struct view *v)
{
	return v->priv;
}

static const struct conversation_open *list(const struct view *v, uint32_t *n)
{
	struct conversation *c = conversation_model(v);

	*n = 0;
	return c ? conversation_unresolved(c, n) : NULL;
}

static const struct conversation_open *at(const struct view *v, size_t line)
{
	uint32_t n;

	return &list(v, &n)[of(v)->picks.shown[line]];
}

static struct str state_at(const struct view *v, uint32_t i)
{
	uint32_t n;

	return conversation_word(conversation_model(v), list(v, &n)[i].state);
}

/* Open ones first, then in the order of the states; inside by id, as the list is. */
static void unresolved_layout(struct view *v)
{
	struct unresolved *u = of(v);
	uint32_t n;
	const struct conversation_open *all = list(v, &n);

	picks_begin(v, n);
	for (size_t s = 0; s < NSTATES; s++)
		for (uint32_t i = 0; i < n; i++)
			if (str_eqs(state_at(v, i), states[s]) &&
				(!*u->state || strcmp(u->state, states[s]) == 0))
				picks_add(v, i, all[i].id);
}

static void unresolved_row(struct view *v, size_t line, struct rowbuf *out)
{
	struct conversation *c = conversation_model(v);
	const struct conversation_open *u = at(v, line);
	struct str state = conversation_word(c, u->state), reason;
	bool wide = row_left(out) >= 60;

	row_printf(out, mark_role(u->mark), "%c ", u->mark);
	conversation_put_word(v, out,
		str_eqs(state, "open")       ? ROLE_NEW
		: str_eqs(state, "resolved") ? ROLE_ON_BRANCH
					     : ROLE_DAMAGE,
		u->state, 9);
	row_spaces(out, ROLE_NORMAL, 1);
	conversation_put_word(v, out, ROLE_STRONG, u->kind, wide ? 18 : 14);
	row_spaces(out, ROLE_NORMAL, 1);
	conversation_put_word(v, out, ROLE_NORMAL, u->ref, wide ? 20 : 12);
	row_spaces(out, ROLE_NORMAL, 1);
	if (!wide)
		return;
	reason = conversation_reason(c, u->version, &of(v)->picks.scratch);
	row_text(out, ROLE_DIM, reason.p, reason.n);
	arena_reset(&of(v)->picks.scratch);
}

static void unresolved_header(struct view *v, struct rowbuf *out)
{
	size_t count[NSTATES] = { 0 };
	struct bar b;
	uint32_t n;
	const struct conversation_open *all = list(v, &n);

	for (uint32_t i = 0; i < n; i++)
		for (size_t s = 0; s < NSTATES; s++)
			count[s] += all[i].mark != '-' && str_eqs(state_at(v, i), states[s]);
	bar_begin(&b, out);
	bar_say(bar_left(&b, 0), ROLE_TITLE, "%zu unresolved", count[0] + count[1] + count[2]);
	bar_elastic(&b, 12);
	for (size_t s = 0; s < NSTATES; s++)
		bar_say(bar_left(&b, 2 + (int)s), ROLE_TITLE, "%zu %s", count[s], states[s]);
	if (*of(v)->state)
		bar_say(bar_left(&b, 1), ROLE_LABEL, "%s only", of(v)->state);
	if (conversation_model(v))
		bar_say(bar_right(&b, 5), ROLE_TITLE, "round %u",
			conversation_round(conversation_model(v)));
	bar_draw(&b, ROLE_TITLE, out);
}

static void put_line(struct page *p, const char *name, enum role role, struct str text)
{
	page_begin_par(p, "", "         ", ROLE_NORMAL);
	page_puts(p, ROLE_DIM, name);
	page_text(p, role, text.n ? text.p : "-", text.n ? text.n : 1);
	page_end_par(p);
}

static void unresolved_pane(struct view *v, struct page *p, size_t limit)
{
	struct conversation *c = conversation_model(v);
	const struct conversation_open *u;

	if (!c || v->cursor >= of(v)->picks.n)
		return;
	u = at(v, v->cursor);
	put_line(p, "state    ", ROLE_STRONG, conversation_word(c, u->state));
	put_line(p, "kind     ", ROLE_NORMAL, conversation_word(c, u->kind));
	put_line(p, "names    ", ROLE_ID, conversation_word(c, u->ref));
	put_line(p, "reason   ", ROLE_NORMAL, conversation_reason(c, u->version, &of(v)->picks.scratch));
	put_line(p, "id       ", ROLE_DIM, conversation_word(c, u->id));
	if (u->mark == '-')
		page_words(p, ROLE_DIFF_DEL, "withdrawn by this round");
	arena_reset(&of(v)->picks.scratch);
}

static const char *unresolved_empty(const struct view *v)
{
	return *of(v)->state ? "none of this state" : "nothing is unresolved";
}

/* ---- commands ---- */

/* What is missing has no node, but what it is named after may have one. */
static enum effect run_open(struct view *v, const char *arg)
{
	static const char *const prefixes[] = { "", "tool/", "stream/", "call/" };
	struct conversation *c = conversation_model(v);
	struct str ref = conversation_word(c, at(v, v->cursor)->ref);
	struct buf id = { 0 };
	uint32_t found = CONVERSATION_NONE;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes) && found == CONVERSATION_NONE;
		i++) {
		buf_clear(&id);
		buf_adds(&id, prefixes[i]);
		buf_addstr(&id, ref);
		found = conversation_find_word(c, (struct str){ id.p, id.n });
		if (found != CONVERSATION_NONE &&
			conversation_line_of(c, found) == CONVERSATION_NONE)
			found = CONVERSATION_NONE;
	}
	buf_release(&id);
	if (found == CONVERSATION_NONE) {
		ui_say(v->ui, "no node of this fold has that name");
		return FX_REDRAW;
	}
	conversation_goto(v->below, found);
	return FX_CLOSE;
}

static enum effect run_state(struct view *v, const char *arg)
{
	struct unresolved *u = of(v);
	size_t next = 0;

	while (*u->state && next < NSTATES && strcmp(u->state, states[next++]) != 0)
		;
	for (size_t i = 0; *arg && i < NSTATES; i++)
		if (strcmp(arg, states[i]) == 0)
			next = i;
	memset(u->state, 0, sizeof(u->state));
	if (next < NSTATES && strcmp(arg, "all") != 0)
		memcpy(u->state, states[next], strlen(states[next]));
	return FX_RELAYOUT | FX_PANE;
}

static const struct command table[] = {
	{ .name = "open", .keys = "<Enter>, l", .group = "Unresolved", .hint = "to the node",
	  .when = WHEN_ROW, .help = "To the node that it is named after, where there is one",
	  .run = run_open },
	{ .name = "state", .keys = "s", .group = "Unresolved", .hint = "state", .arg = "STATE",
	  .help = "Only those of the next state: open, resolved, terminal; then all",
	  .run = run_state },
};

static const struct command_table unresolved_commands = COMMAND_TABLE(table);

const struct view_ops view_unresolved = {
	.name = "unresolved",
	.pane = PANE_BELOW,
	.pane_percent = 30,
	.private_size = sizeof(struct unresolved),
	.commands = &unresolved_commands,
	.close = picks_close,
	.layout = unresolved_layout,
	.is_stale = picks_stale,
	.count = picks_count,
	.draw_row = unresolved_row,
	.draw_header = unresolved_header,
	.line_id = picks_id,
	.line_of = picks_line_of,
	.fill_pane = unresolved_pane,
	.empty = unresolved_empty,
	.state = picks_state,
};
