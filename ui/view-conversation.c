/*
 * view-conversation.c - the screen of a conversation: reading it by steps,
 * then its checks, which lines are shown, the header and the slider of rounds.
 * Rows are conversation-rows.c, the pane is conversation-page.c, the commands
 * are conversation-commands.c.
 */
#include "config.h"

#include "ui/view-conversation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "ui/internal.h"
#include "ui/view.h"

enum { ABOVE_MAX = 64 };

struct conversation_view *conversation_of(const struct view *v)
{
	return v->priv;
}

struct view *conversation_base(const struct view *v)
{
	while (v && v->ops != &view_conversation)
		v = v->below;
	return (struct view *)v;
}

struct conversation *conversation_model(const struct view *v)
{
	v = conversation_base(v);
	return v ? conversation_of(v)->c : NULL;
}

static int conversation_open(struct view *v, const void *arg, struct err *err)
{
	struct conversation_view *cv = conversation_of(v);
	int rc = work_open(&cv->sv.w, arg, err);

	if (rc < 0)
		return rc;
	layout_init(&cv->sv.lay);
	v->busy = true;
	return 0;
}

static void conversation_close(struct view *v)
{
	struct conversation_view *cv = conversation_of(v);

	conversation_free(&cv->c);
	layout_release(&cv->sv.lay);
	buf_release(&cv->sv.want);
	buf_release(&cv->sv.title);
	buf_release(&cv->sv.id);
	arena_free(&cv->scratch);
	free(cv->shown);
	free(cv->ids);
	free(cv->folded);
	work_close(&cv->sv.w);
}

/* ---- which lines ---- */

bool conversation_is_folded(const struct conversation_view *cv, uint32_t line)
{
	uint32_t n, id = conversation_lines(cv->c, &n)[line].id;

	/* a filter looks into what is folded: the lines that would unfold it may be left out */
	return cv->show == NODES_ALL && id < cv->nfolded && cv->folded[id];
}

void conversation_set_fold(struct conversation_view *cv, uint32_t id, bool fold)
{
	if (id >= cv->nfolded) {
		size_t n = (size_t)id + 1 + id / 2;

		cv->folded = xrealloc(cv->folded, n, 1);
		memset(cv->folded + cv->nfolded, 0, n - cv->nfolded);
		cv->nfolded = n;
	}
	cv->folded[id] = fold;
}

static bool passes(const struct conversation_view *cv, const struct conversation_line *l)
{
	struct str kind = conversation_word(cv->c, l->kind);

	switch (cv->show) {
	case NODES_TALK:
		return str_starts(kind, "message.") || str_eqs(kind, "talk") ||
		       str_eqs(kind, "agent.output") || str_eqs(kind, "epoch.summary");
	case NODES_PROMPTS:
		return str_eqs(kind, "message.external");
	case NODES_TOOLS:
		return str_eqs(kind, "tool") || str_eqs(kind, "agent.call");
	case NODES_CHANGED:
		return l->mark != ' ';
	default:
		return true;
	}
}

static void conversation_layout(struct view *v)
{
	struct conversation_view *cv = conversation_of(v);
	const struct conversation_line *lines;
	uint32_t n = 0;

	cv->nshown = 0;
	if (!cv->c)
		return;
	lines = conversation_lines(cv->c, &n);
	cv->shown = xrealloc(cv->shown, (size_t)n + 1, sizeof(*cv->shown));
	cv->ids = xrealloc(cv->ids, (size_t)n + 1, sizeof(*cv->ids));
	for (uint32_t i = 0; i < n;) {
		if (passes(cv, &lines[i])) {
			cv->ids[cv->nshown] = lines[i].id;
			cv->shown[cv->nshown++] = i;
		}
		i = conversation_is_folded(cv, i) ? lines[i].end : i + 1;
	}
	cv->sv.generation++;
}

/* The last line of the screen at or above a line of the outline. */
uint32_t conversation_nearest(const struct conversation_view *cv, uint32_t line)
{
	uint32_t low = 0, high = cv->nshown;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (cv->shown[mid] <= line)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low - 1 : 0;
}

static size_t conversation_count(const struct view *v)
{
	return conversation_of(v)->nshown;
}

uint32_t conversation_cursor(const struct view *v)
{
	const struct conversation_view *cv = conversation_of(v);

	return cv->c && v->cursor < cv->nshown ? cv->shown[v->cursor] : CONVERSATION_NONE;
}

/* Asked for also when the outline is another one already and the lines are not made anew yet. */
static uint64_t conversation_line_id(const struct view *v, size_t line)
{
	return conversation_of(v)->ids[line];
}

static size_t conversation_id_line(const struct view *v, uint64_t id)
{
	const struct conversation_view *cv = conversation_of(v);
	uint32_t line = cv->c ? conversation_line_of(cv->c, (uint32_t)id) : CONVERSATION_NONE;

	return line == CONVERSATION_NONE || !cv->nshown ? LINE_NONE
							: conversation_nearest(cv, line);
}

/* The newest talk of the first stream: what a person comes back for. */
static size_t conversation_home(const struct view *v)
{
	const struct conversation_view *cv = conversation_of(v);
	const struct conversation_line *lines;
	uint32_t n, found = 0, end = 0;

	if (!cv->c)
		return 0;
	lines = conversation_lines(cv->c, &n);
	for (uint32_t i = 0; i < n && (!end || i < end); i++) {
		struct str kind = conversation_word(cv->c, lines[i].kind);

		if (!end && str_eqs(kind, "stream"))
			end = lines[i].end;
		if (str_eqs(kind, "talk"))
			found = i;
	}
	return conversation_nearest(cv, found);
}

void conversation_goto(struct view *v, uint32_t id)
{
	struct conversation_view *cv = conversation_of(v);
	const struct conversation_line *lines;
	uint32_t n, line = conversation_line_of(cv->c, id);

	if (line == CONVERSATION_NONE) {
		struct str word = conversation_word(cv->c, id);
		ui_say(v->ui, "%.*s is not in the fold of this round",
			word.n < 200 ? (int)word.n : 200, word.p);
		return;
	}
	lines = conversation_lines(cv->c, &n);
	for (uint32_t at = lines[line].parent; at != CONVERSATION_NONE; at = lines[at].parent)
		conversation_set_fold(cv, lines[at].id, false);
	if (!passes(cv, &lines[line]))
		cv->show = NODES_ALL;
	conversation_layout(v);
	v->moved = true;
	view_set_cursor(v, conversation_nearest(cv, line));
	pager_stale(&v->pager);
}

/* The node under the cursor and those above it: one of them is there in other rounds, too. */
static uint32_t above_cursor(const struct view *v, uint32_t ids[ABOVE_MAX])
{
	const struct conversation_view *cv = conversation_of(v);
	uint32_t n, count = 0, line = conversation_cursor(v);
	const struct conversation_line *lines = conversation_lines(cv->c, &n);

	for (; line != CONVERSATION_NONE && count < ABOVE_MAX; line = lines[line].parent)
		ids[count++] = lines[line].id;
	return count;
}

/* A round that does not fold is not the newest one's end: say what stopped the chain. */
static void say_no_round(struct view *v, uint32_t round)
{
	const struct conversation *c = conversation_of(v)->c;
	const char *said, *code;
	uint64_t at;

	code = conversation_stopped(c, &said, &at);
	if (round >= 1 && code && round <= conversation_nrounds(c))
		ui_error(v->ui, "round %u is not folded: %s at round %" PRIu64 "; g r shows the rounds",
			round, code, at);
	else
		ui_say(v->ui, round < 1 ? "this is the first round" : "this is the newest round");
}

void conversation_goto_round(struct view *v, uint32_t rounds)
{
	struct conversation_view *cv = conversation_of(v);
	uint32_t folded = conversation_folded(cv->c), ids[ABOVE_MAX], n;

	if (rounds < 1 || rounds > folded) {
		say_no_round(v, rounds);
		return;
	}
	n = above_cursor(v, ids);
	v->moved = true;
	conversation_show(cv->c, rounds);
	view_relayout(v);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t line = conversation_line_of(cv->c, ids[i]);

		if (line != CONVERSATION_NONE) {
			view_set_cursor(v, conversation_nearest(cv, line));
			break;
		}
	}
	pager_stale(&v->pager);
}

/* ---- reading ---- */

static void watch_folder(void *arg, const char *path)
{
	watch_add(arg, path);
}

/* A folder that is watched already is not watched twice. */
static void conversation_watch(struct view *v)
{
	if (v->ui->watch)
		work_each_folder(conversation_of(v)->sv.w, watch_folder, v->ui->watch);
}

static void begin_looking(struct view *v)
{
	struct conversation_view *cv = conversation_of(v);
	uint32_t id;

	conversation_watch(v);
	cv->c = conversation_new(cv->sv.w);
	cv->reads++;
	if (cv->want_round)
		conversation_show(cv->c, cv->want_round);
	view_relayout(v);
	if (cv->sv.want.n > 0) {
		id = conversation_find_word(cv->c, (struct str){ cv->sv.want.p, cv->sv.want.n });
		if (id != CONVERSATION_NONE && conversation_line_of(cv->c, id) != CONVERSATION_NONE)
			conversation_goto(v, id);
	}
	buf_clear(&cv->sv.want);
	cv->want_round = 0;
}

static enum effect conversation_step(struct view *v, unsigned budget_us)
{
	struct conversation_view *cv = conversation_of(v);
	struct err err = { 0 };
	int rc;

	if (cv->c) {
		v->busy = conversation_verify_step(cv->c, budget_us) == 1;
		cv->sv.generation += !v->busy; /* there may be more problems now */
		return v->busy ? FX_NONE : FX_REDRAW;
	}
	rc = work_step(cv->sv.w, budget_us, &err);
	if (rc > 0)
		return FX_NONE;
	cv->sv.is_loaded = true;
	if (rc < 0) {
		v->busy = false;
		ui_error(v->ui, "%s", err.text);
		return FX_REDRAW;
	}
	begin_looking(v);
	return FX_REDRAW | FX_PANE;
}

static const char *conversation_progress(const struct view *v, uint64_t *done, uint64_t *all)
{
	struct conversation_view *cv = conversation_of(v);

	if (!cv->c)
		return "folding";
	conversation_verify_progress(cv->c, done, all);
	return "checking";
}

static const char *conversation_empty(const struct view *v)
{
	const struct conversation_view *cv = conversation_of(v);
	const char *said;
	uint64_t round;

	if (!cv->sv.is_loaded)
		return "reading the rounds";
	if (cv->show != NODES_ALL)
		return "no nodes of this kind (& goes on)";
	return cv->c && conversation_stopped(cv->c, &said, &round)
		       ? "no round could be folded (g r shows them)"
		       : "this conversation has no nodes";
}

/* ---- drawing ---- */

static void conversation_row_of(struct view *v, size_t line, struct rowbuf *out)
{
	struct conversation_view *cv = conversation_of(v);

	conversation_draw_row(cv, cv->shown[line], out);
}

static void header_right(const struct conversation_view *cv, struct bar *b)
{
	static const char *const show[NODES_COUNT] = { "", "talk only", "prompts only",
		"tools only", "changes only" };
	size_t n = conversation_nrounds(cv->c), folded = conversation_folded(cv->c);
	const char *said, *state = conversation_state(cv->c);
	bool is_good = strcmp(state, "verified") == 0, is_busy = strcmp(state, "checking") == 0;
	uint64_t round;

	for (size_t i = 0; i < conversation_nrounds(cv->c); i++)
		n -= conversation_check(cv->c, i, 1) == ' ';
	if (cv->show != NODES_ALL)
		bar_say(bar_right(b, 3), ROLE_LABEL, "%s", show[cv->show]);
	if (conversation_stopped(cv->c, &said, &round)) {
		bar_say(bar_right(b, 2), ROLE_DAMAGE, "stopped at round %" PRIu64 ", %zu not folded",
			round, n - folded);
		bar_say(bar_right(b, 2), ROLE_DAMAGE, "%zu not folded", n - folded);
		bar_shorter(b);
	}
	bar_say(bar_right(b, 8), ROLE_TITLE, "flow");
	bar_say(bar_right(b, 1), is_good || is_busy ? ROLE_TITLE : ROLE_DAMAGE, "%s", state);
}

static void conversation_header(struct view *v, struct rowbuf *out)
{
	struct conversation_view *cv = conversation_of(v);
	struct conversation_sums sums;
	char nodes[32], relations[32];
	struct str title;
	uint32_t round, folded;
	struct bar b;

	bar_begin(&b, out);
	if (!cv->c) {
		row_str(bar_left(&b, 0), ROLE_TITLE, work_session(cv->sv.w)->id);
		bar_elastic(&b, 1);
		bar_draw(&b, ROLE_TITLE, out);
		return;
	}
	title = conversation_title(cv->c);
	row_text(bar_left(&b, 0), ROLE_TITLE, title.p, title.n);
	bar_elastic(&b, b.width / 4);
	round = conversation_round(cv->c);
	folded = conversation_folded(cv->c);
	conversation_sums(cv->c, &sums);
	count_human(sums.nodes, nodes);
	count_human(sums.relations, relations);
	bar_say(bar_left(&b, 4), ROLE_TITLE, "round %u of %u", round, folded);
	bar_say(bar_left(&b, 4), ROLE_TITLE, "%u/%u", round, folded);
	bar_shorter(&b);
	bar_say(bar_left(&b, 5), ROLE_TITLE, "%s %s", nodes, plural(sums.nodes, "node", "nodes"));
	bar_say(bar_left(&b, 7), ROLE_TITLE, "%s %s", relations,
		plural(sums.relations, "relation", "relations"));
	bar_say(bar_left(&b, 6), ROLE_TITLE, "%u open", sums.open);
	header_right(cv, &b);
	bar_draw(&b, ROLE_TITLE, out);
}

static void conversation_foot(struct view *v, struct rowbuf *out)
{
	if (conversation_of(v)->c)
		conversation_draw_slider(conversation_of(v), out);
}

static unsigned conversation_version(const struct view *v)
{
	return conversation_of(v)->sv.generation;
}

static void conversation_position(const struct view *v, struct bar *b)
{
	const struct conversation_view *cv = conversation_of(v);

	if (cv->c && cv->nshown > 0)
		bar_say(bar_right(b, 2), ROLE_STATUS, "%zu/%u", v->cursor + 1, cv->nshown);
}

static void conversation_pane(struct view *v, struct page *p, size_t limit)
{
	uint32_t line = conversation_cursor(v);

	if (line != CONVERSATION_NONE)
		node_page(conversation_of(v), line, limit, p);
}

/* Whole first words, names and ids, not only what a row shows. */
static void conversation_search_text(struct view *v, size_t line, struct buf *out)
{
	struct conversation_view *cv = conversation_of(v);
	struct conversation_row row;
	uint32_t n, at = cv->shown[line];

	conversation_row(cv->c, at, PAGER_LIMIT, &cv->scratch, &row);
	buf_addstr(out, conversation_word(cv->c, conversation_lines(cv->c, &n)[at].id));
	buf_addc(out, '\n');
	buf_addstr(out, row.name);
	buf_addc(out, '\n');
	buf_addstr(out, row.text);
	arena_reset(&cv->scratch);
}

static unsigned conversation_can(const struct view *v)
{
	const struct conversation_view *cv = conversation_of(v);
	uint32_t n, line = conversation_cursor(v);
	unsigned state = WHEN_PANE | (cv->c ? WHEN_LOADED : 0);

	if (line == CONVERSATION_NONE)
		return state;
	state |= WHEN_ROW;
	if (conversation_lines(cv->c, &n)[line].end > line + 1)
		state |= WHEN_CHILDREN;
	return state;
}

static const char *conversation_why(const struct view *v, unsigned when)
{
	const char *why = NULL;

	if (session_what(when))
		work_can(conversation_of(v)->sv.w, session_what(when), &why);
	return why;
}

/* ---- following ---- */

static enum effect conversation_changed(struct view *v)
{
	struct conversation_view *cv = conversation_of(v);
	enum work_change change = WORK_SAME;
	struct err err = { 0 };
	char said[200] = "";
	uint32_t n, line = conversation_cursor(v);
	bool at_head = !cv->c || conversation_round(cv->c) == conversation_folded(cv->c);
	uint32_t round = at_head ? 0 : conversation_round(cv->c);
	struct buf id = { 0 };

	if (line != CONVERSATION_NONE)
		buf_addstr(&id, conversation_word(cv->c, conversation_lines(cv->c, &n)[line].id));
	conversation_watch(v); /* before it is looked: what comes into a new folder shows later */
	if (work_refresh(cv->sv.w, &change, said, &err) < 0) {
		ui_error(v->ui, "%s", err.text);
	} else if (change == WORK_REPLACED) {
		/* ids are other numbers now */
		conversation_free(&cv->c);
		cv->nfolded = 0;
		cv->want_round = round;
		cv->sv.is_loaded = false;
		v->busy = true;
		v->stopped = false;
		if (v->moved && cv->sv.want.n == 0)
			buf_addstr(&cv->sv.want, (struct str){ id.n ? id.p : "", id.n });
	}
	if (said[0])
		ui_say(v->ui, "%s", said);
	buf_release(&id);
	return change == WORK_SAME ? FX_NONE : FX_RELAYOUT | FX_PANE;
}

static const char *conversation_warning(const struct view *v)
{
	return work_trouble(conversation_of(v)->sv.w);
}

static const struct view_mark conversation_marks[] = {
	{ "+ ~", "the round that is shown added it; revised it" },
	{ "=  -", "resolved it; withdrew it" },
	{ NULL, NULL },
};

const struct view_ops view_conversation = {
	.name = "conversation",
	.pane = PANE_RIGHT,
	.private_size = sizeof(struct conversation_view),
	.commands = &conversation_commands,
	.marks = conversation_marks,
	.open = conversation_open,
	.close = conversation_close,
	.step = conversation_step,
	.layout = conversation_layout,
	.count = conversation_count,
	.draw_row = conversation_row_of,
	.draw_header = conversation_header,
	.draw_foot = conversation_foot,
	.line_id = conversation_line_id,
	.line_of = conversation_id_line,
	.home = conversation_home,
	.search_text = conversation_search_text,
	.empty = conversation_empty,
	.fill_pane = conversation_pane,
	.state = conversation_can,
	.why = conversation_why,
	.changed = conversation_changed,
	.warning = conversation_warning,
	.position = conversation_position,
	.version = conversation_version,
	.progress = conversation_progress,
	.watch = conversation_watch,
};
