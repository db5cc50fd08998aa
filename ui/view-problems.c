/*
 * view-problems.c - what is wrong with a session's file: kind, place, a
 * sentence; below, the bytes themselves and what a repair would do.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "ui/internal.h"
#include "ui/page.h"
#include "ui/session-changes.h"
#include "ui/view-conversation.h"
#include "ui/view.h"

#define PEEK_BEFORE 16
#define PEEK_MAX 4096

struct problems {
	unsigned generation;
};

static const struct problem_list *list_of(const struct view *v)
{
	return &session_model(v->below)->problems;
}

static void problems_layout(struct view *v)
{
	((struct problems *)v->priv)->generation = session_of(v->below)->generation;
}

static bool problems_stale(const struct view *v)
{
	return ((const struct problems *)v->priv)->generation != session_of(v->below)->generation;
}

static size_t problems_count(const struct view *v)
{
	return list_of(v)->n;
}

/* A landed file that is missing stands nowhere in the session. */
static bool has_place(const struct problem *p)
{
	return !p->has_no_place && (p->offset > 0 || p->length > 0 || p->line > 0);
}

static void problems_row(struct view *v, size_t line, struct rowbuf *out)
{
	const struct problem *p = &list_of(v)->v[line];
	char text[64];

	row_spaces(out, ROLE_NORMAL, 1);
	if (p->line > 0)
		snprintf(text, sizeof(text), "line %" PRIu64, p->line);
	else
		snprintf(text, sizeof(text), "-");
	row_field(out, ROLE_TIME, text, strlen(text), row_left(out) > 60 ? 12 : 8);
	if (row_left(out) > 60) {
		text[0] = '\0';
		if (has_place(p))
			snprintf(text, sizeof(text), "offset %" PRIu64,
				session_place(session_model(v->below), p->offset));
		row_field(out, ROLE_DIM, text, strlen(text), 18);
	}
	row_field(out, ROLE_DAMAGE, p->kind, strlen(p->kind), row_left(out) > 40 ? 14 : 0);
	row_spaces(out, ROLE_NORMAL, row_left(out) > 20);
	row_str(out, ROLE_NORMAL, p->message);
}

static void problems_header(struct view *v, struct rowbuf *out)
{
	const struct problem_list *list = list_of(v);
	char count[32];
	struct bar b;

	bar_begin(&b, out);
	bar_say(bar_left(&b, 0), ROLE_TITLE, "Problems of %s", session_model(v->below)->id);
	bar_elastic(&b, 16);
	count_human(list->n + list->more, count);
	bar_say(bar_left(&b, 1), ROLE_TITLE, "%s", list->n + list->more ? count : "none");
	if (list->more > 0)
		bar_say(bar_left(&b, 2), ROLE_TITLE, "%" PRIu64 " more %s not listed",
			list->more, plural(list->more, "is", "are"));
	bar_draw(&b, ROLE_TITLE, out);
}

static uint64_t problems_id(const struct view *v, size_t line)
{
	const struct problem *p = &list_of(v)->v[line];
	uint64_t h = p->offset * 0x9e3779b97f4a7c15u;

	for (const char *k = p->kind; *k; k++)
		h = (h ^ (unsigned char)*k) * 1099511628211u;
	for (const char *m = p->message; m && *m; m++) /* those without a place have only this */
		h = (h ^ (unsigned char)*m) * 1099511628211u;
	return h;
}

static size_t problems_line_of(const struct view *v, uint64_t id)
{
	for (size_t i = 0; i < list_of(v)->n; i++) {
		if (problems_id(v, i) == id)
			return i;
	}
	return LINE_NONE;
}

static void say(struct page *p, enum role role, const char *text)
{
	page_begin_par(p, "", "", role);
	page_text(p, role, text, strlen(text));
	page_end_par(p);
}

static void repair_line(struct view *v, struct page *p)
{
	struct session_view *sv = session_of(v->below);
	struct session *s = session_model(v->below);
	struct done done = { .said = "" };
	struct err err = { 0 };
	char text[128], count[32], open[200];

	if (*work_trouble(sv->w))
		say(p, ROLE_DAMAGE, work_trouble(sv->w));
	count_human(session_committed(s), count);
	if (v->below->ops == &view_conversation)
		snprintf(text, sizeof(text), "folded: %" PRIu64 " byte%s of rounds, %s %s.",
			s->committed, plural(s->committed, "", "s"), count, plural(session_committed(s), "node", "nodes"));
	else
		snprintf(text, sizeof(text), "committed: %" PRIu64 " byte%s, %s %s.", s->committed,
			plural(s->committed, "", "s"), count, plural(session_committed(s), "entry", "entries"));
	say(p, ROLE_DIM, text);
	if (s->is_torn && !s->ops->events) {
		struct buf b = { 0 };
		buf_printf(&b,
			"A repair would move the %" PRIu64 " byte%s behind them to %s.torn-%" PRIu64
			".",
			s->size - s->committed, plural(s->size - s->committed, "", "s"), path_base(s->path), s->committed);
		say(p, ROLE_NORMAL, b.p);
		buf_release(&b);
	}
	if (work_interrupted(sv->w, open))
		say(p, ROLE_NORMAL, open);
	if (work_nlost(sv->w) == 0 && !(s->ops->events && s->is_torn))
		return;
	/* dry: nothing is written; the store composes the sentence */
	if (work_repair(sv->w, true, &done, &err) == 0)
		say(p, ROLE_NORMAL, done.said);
	else
		say(p, ROLE_DAMAGE, err.text);
	done_release(&done);
}

static const char *problems_empty(const struct view *v)
{
	if (!session_of(v->below)->is_loaded)
		return "still loading";
	return v->below->ops == &view_conversation ? "nothing is wrong with the rounds" :
		"nothing is wrong with this file";
}

static void problems_pane(struct view *v, struct page *p, size_t limit)
{
	struct session *s = session_model(v->below);
	const struct problem *problem;
	struct err err = { 0 };
	uint64_t from, want, place;
	size_t got = 0;
	char *bytes;

	if (v->cursor >= list_of(v)->n) {
		repair_line(v, p);
		return;
	}
	problem = &list_of(v)->v[v->cursor];
	from = place = session_place(s, problem->offset);
	from = from > PEEK_BEFORE ? from - PEEK_BEFORE : 0;
	from -= from % 16;
	from = problem->offset - (place - from);
	want = problem->offset - from + (problem->length ? problem->length : 64);
	bytes = malloc(PEEK_MAX);
	if (bytes && has_place(problem) &&
		s->ops->peek(
			s, from, bytes, want < PEEK_MAX ? (size_t)want : PEEK_MAX, &got, &err) < 0)
		say(p, ROLE_DAMAGE, err.text);
	repair_line(v, p);
	page_blank(p);
	if (problem->message)
		say(p, ROLE_NORMAL, problem->message);
	if (got > 0)
		page_hex(p, session_place(s, from), bytes, got);
	free(bytes);
}

static const char *problems_warning(const struct view *v)
{
	return work_trouble(session_of(v->below)->w);
}

/* Of a conversation: the row of the round that a problem is about. */
static bool has_round(const struct view *v, const struct problem *p, size_t *row)
{
	const struct conversation *c = conversation_model(v);

	*row = c && p->round ? conversation_round_at(c, p->round) : 0;
	return c && p->round && *row < conversation_nrounds(c);
}

static bool leads_somewhere(const struct view *v)
{
	const struct problem *p;
	size_t row;

	if (v->cursor >= list_of(v)->n)
		return false;
	p = &list_of(v)->v[v->cursor];
	return p->entry != ENTRY_NONE || has_round(v, p, &row);
}

static unsigned problems_state(const struct view *v)
{
	return WHEN_PANE | (view_count(v) > 0 ? WHEN_ROW : 0) |
		(leads_somewhere(v) ? WHEN_TARGET : 0) |
		(view_session.state(v->below) & WHEN_REPAIR);
}

static const char *problems_why(const struct view *v, unsigned when)
{
	if (when == WHEN_TARGET)
		return conversation_base(v) ? "this is about no round that is there"
					    : "no entry came out of these bytes";
	return view_session.why(v->below, when);
}

static unsigned problems_lacks(const struct view *v)
{
	return v->below ? session_lacks(v->below) : 0; /* nothing opens it alone but a test */
}

static enum effect run_open(struct view *v, const char *arg)
{
	const struct problem *p = &list_of(v)->v[v->cursor];
	struct view *rounds;
	size_t row;

	if (!has_round(v, p, &row)) {
		session_goto(v->below, p->entry);
		return FX_CLOSE;
	}
	rounds = view_push(v->ui, &view_rounds, v);
	if (rounds) {
		rounds->moved = true;
		view_set_cursor(rounds, row);
	}
	return FX_REDRAW;
}

/* The answer to the question goes to the tree's screen, which is on top by then. */
static enum effect run_repair(struct view *v, const char *arg)
{
	return alter_repair(v->below, arg) | FX_CLOSE;
}

static const struct command table[] = {
	{ .name = "open", .keys = "<Enter>, l", .group = "Problems", .hint = "go there",
	  .when = WHEN_ROW | WHEN_TARGET,
	  .help = "To the entry that it is about, in the tree; to the round of a conversation",
	  .run = run_open },
	{ .name = "repair", .keys = "r", .group = "Problems", .hint = "repair", .when = WHEN_REPAIR,
	  .help = "Set a torn tail aside, append lost entries again (asks first)",
	  .run = run_repair },
};

static const struct command_table problems_commands = COMMAND_TABLE(table);

const struct view_ops view_problems = {
	.name = "problems",
	.pane = PANE_BELOW,
	.pane_percent = 50,
	.private_size = sizeof(struct problems),
	.commands = &problems_commands,
	.layout = problems_layout,
	.is_stale = problems_stale,
	.count = problems_count,
	.draw_row = problems_row,
	.draw_header = problems_header,
	.line_id = problems_id,
	.line_of = problems_line_of,
	.fill_pane = problems_pane,
	.empty = problems_empty,
	.warning = problems_warning,
	.state = problems_state,
	.why = problems_why,
	.lacks = problems_lacks,
};
