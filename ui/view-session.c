/*
 * view-session.c - the screen of one session: loading it by steps, keeping
 * the layout up to date while it loads and grows, the header and the
 * position. Rows are tree-rows.c, the pane view-entry.c, the commands
 * session-commands.c.
 */
#include "config.h"

#include "ui/view-session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"
#include "ui/internal.h"
#include "ui/session-changes.h"
#include "ui/session-kin.h"
#include "ui/view.h"

struct session_view *session_of(const struct view *v)
{
	return v->priv;
}

struct session *session_model(const struct view *v)
{
	return work_session(session_of(v)->w);
}

static int session_open(struct view *v, const void *arg, struct err *err)
{
	struct session_view *sv = session_of(v);
	int rc = work_open(&sv->w, arg, err);

	if (rc < 0)
		return rc;
	work_note_leftovers(sv->w);
	layout_init(&sv->lay);
	sv->lay.hide_past = true;
	v->busy = true;
	return 0;
}

static void session_close(struct view *v)
{
	struct session_view *sv = session_of(v);

	layout_release(&sv->lay);
	free(sv->leaf_rows);
	buf_release(&sv->want);
	buf_release(&sv->awaits_id);
	buf_release(&sv->title);
	buf_release(&sv->id);
	work_close(&sv->w);
}

static void find_leaves(struct session_view *sv)
{
	const struct session *s = work_session(sv->w);

	sv->leaf_rows = xrealloc(sv->leaf_rows, (size_t)s->nleaves + 1, sizeof(*sv->leaf_rows));
	sv->nleaves = 0;
	for (uint32_t row = 0; row < sv->lay.n && sv->nleaves < s->nleaves; row++) {
		if (session_is_leaf(s, sv->lay.entry_of[row]))
			sv->leaf_rows[sv->nleaves++] = row;
	}
}

static void session_layout(struct view *v)
{
	struct session_view *sv = session_of(v);
	struct session *s = work_session(sv->w);

	if (s->linked < s->n) /* read, but not to the end yet */
		session_link(s, false);
	layout_build(&sv->lay, s);
	find_leaves(sv);
	buf_clear(&sv->title);
	session_title(s, &sv->title);
	sv->generation++;
}

enum effect session_relaid(struct view *v)
{
	return FX_RELAYOUT | FX_PANE;
}

void session_more(struct view *v, const char *id)
{
	struct session_view *sv = session_of(v);

	buf_clear(&sv->want);
	if (id && *id)
		buf_adds(&sv->want, id);
	v->busy = true;
	v->stopped = false;
}

/* Where the cursor belongs once everything is there. */
static void place_cursor(struct view *v)
{
	struct session_view *sv = session_of(v);
	struct session *s = session_model(v);
	uint32_t entry = ENTRY_NONE;

	if (sv->want.n > 0)
		entry = session_find(s, (struct str){ sv->want.p, sv->want.n });
	buf_clear(&sv->want);
	if (entry == ENTRY_NONE && !v->moved)
		entry = s->tip;
	v->moved = true; /* from now on it stays on its entry whatever is appended */
	if (entry != ENTRY_NONE)
		session_goto(v, entry);
}

static enum effect session_step(struct view *v, unsigned budget_us)
{
	struct session_view *sv = session_of(v);
	struct session *s;
	struct err err = { 0 };
	int rc;

	if (sv->awaits != AWAITS_NOTHING)
		return alter_awaited(v);
	rc = work_step(sv->w, budget_us, &err);
	s = session_model(v);
	if (rc > 0) {
		if (s->n < sv->next_build)
			return FX_NONE;
		/* at doubling sizes: all building together costs what the last one does */
		sv->next_build = s->n < 512 ? 1024 : 2 * s->n;
		return FX_RELAYOUT | FX_PANE;
	}
	v->busy = false;
	sv->is_loaded = true;
	sv->next_build = 0;
	if (rc < 0)
		ui_error(v->ui, "%s", err.text);
	session_adopt(v);
	view_relayout(v);
	place_cursor(v);
	return FX_REDRAW | FX_PANE;
}

static size_t session_count(const struct view *v)
{
	return layout_lines(&session_of(v)->lay);
}

uint32_t session_cursor(const struct view *v)
{
	const struct session_view *sv = session_of(v);

	return v->cursor < layout_lines(&sv->lay) ? layout_entry(&sv->lay, (uint32_t)v->cursor) :
		ENTRY_NONE;
}

void session_goto(struct view *v, uint32_t entry)
{
	struct session_view *sv = session_of(v);
	uint32_t line;

	layout_unfold_to(&sv->lay, entry);
	line = layout_line(&sv->lay, entry);
	if (line == ENTRY_NONE)
		return;
	v->moved = true;
	view_set_cursor(v, line);
}

static uint64_t session_line_id(const struct view *v, size_t line)
{
	return layout_entry(&session_of(v)->lay, (uint32_t)line);
}

static size_t session_line_of(const struct view *v, uint64_t id)
{
	const struct session_view *sv = session_of(v);
	uint32_t line = id < sv->lay.n ? layout_line(&sv->lay, (uint32_t)id) : ENTRY_NONE;

	return line == ENTRY_NONE ? LINE_NONE : line;
}

static const char *session_empty(const struct view *v)
{
	const struct session_view *sv = session_of(v);

	if (sv->lay.show != SHOW_ALL && session_model(v)->n > 0)
		return "no entries of this kind (& goes on)";
	return sv->is_loaded ? "this session has no entries" : "loading";
}

static void session_row(struct view *v, size_t line, struct rowbuf *out)
{
	tree_row(session_of(v), (uint32_t)line, out);
}

/* Whole texts, not only what a row shows, and the id. */
static void session_search_text(struct view *v, size_t line, struct buf *out)
{
	struct session_view *sv = session_of(v);
	struct session *s = session_model(v);
	uint32_t entry = layout_entry(&sv->lay, (uint32_t)line);
	const struct label *label = session_label(s, entry);
	struct str id = entry_id(sv, entry);
	struct buf who = { 0 };

	buf_addstr(out, id);
	buf_addc(out, '\n');
	if (label)
		buf_addstr(out, label->text);
	buf_addc(out, '\n');
	s->ops->preview(s, entry, PAGER_LIMIT, out, &who, NULL);
	buf_addc(out, '\n');
	buf_addstr(out, (struct str){ who.n ? who.p : "", who.n });
	buf_release(&who);
}

/* ---- header and position ---- */

static void header_tip(struct session_view *sv, struct bar *b)
{
	struct session *s = work_session(sv->w);
	enum role role = s->tip_rule == TIP_CHECKOUT ? ROLE_TIP : ROLE_TITLE;
	char id[64], age[16];

	if (!sv->is_loaded)
		return;
	if (s->tip == ENTRY_NONE) {
		bar_say(bar_left(b, 5), role, "no tip");
		return;
	}
	entry_short_id(sv, s->tip, id);
	if (s->tip_rule == TIP_CHECKOUT) {
		time_age(s->tip_at, clock_now_ms(), age);
		bar_say(bar_left(b, 5), role, strcmp(age, "now") == 0 ?
			"tip %s: checked out just now" : "tip %s: checked out %s ago", id, age);
	} else {
		bar_say(bar_left(b, 5), role, "tip %s: last entry of the file", id);
	}
	bar_say(bar_left(b, 5), role, "tip %s", id);
	bar_shorter(b);
}

static void header_right(struct view *v, struct bar *b)
{
	struct session_view *sv = session_of(v);
	struct session *s = session_model(v);
	static const char *const show[SHOW_COUNT] = { "", "talk only", "prompts only", "tools only",
		"problems only" };
	char size[16], tokens[32];
	size_t nproblems = s->problems.n + (size_t)s->problems.more;
	const char *why;
	bool is_writable;

	if (sv->lay.show != SHOW_ALL)
		bar_say(bar_right(b, 2), ROLE_LABEL, "%s", show[sv->lay.show]);
	if (s->is_torn && nproblems > 0 && work_live_seen(sv->w) != LIVE_QUIET) {
		bar_say(bar_right(b, 3), ROLE_NEW, "tail in progress");
		nproblems--;
	}
	if (nproblems > 0)
		bar_say(bar_right(b, 1), ROLE_DAMAGE, "%zu %s", nproblems,
			plural(nproblems, "problem", "problems"));
	if (sv->is_loaded && work_nlost(sv->w) > 0)
		bar_say(bar_right(b, 1), ROLE_DAMAGE, "%zu lost", work_nlost(sv->w));
	if (*work_trouble(sv->w))
		bar_say(bar_right(b, 1), ROLE_DAMAGE, "stale");
	if (session_proposed(s) > 0)
		bar_say(bar_right(b, 2), ROLE_NEW, "open turn");
	/* a log of events takes no entries, only forks and repairs */
	is_writable = work_can(sv->w, WORK_APPEND, &why) ||
		work_can(sv->w, WORK_FORK | WORK_REPAIR, &why);
	if (sv->is_loaded && !is_writable)
		bar_say(bar_right(b, 4), ROLE_TITLE, "read-only");
	if (s->tokens > 0) {
		count_human(s->tokens, tokens);
		bar_say(bar_right(b, 9), ROLE_TITLE, "%s tokens", tokens);
	}
	size_human(s->size, size);
	bar_say(bar_right(b, 8), ROLE_TITLE, "%s", s->format);
	bar_say(bar_right(b, 7), ROLE_TITLE, "%s", size);
}

static void session_header(struct view *v, struct rowbuf *out)
{
	struct session_view *sv = session_of(v);
	struct session *s = session_model(v);
	char count[32];
	struct bar b;

	bar_begin(&b, out);
	row_text(bar_left(&b, 0), ROLE_TITLE, sv->title.n ? sv->title.p : s->id,
		sv->title.n ? sv->title.n : strlen(s->id));
	bar_elastic(&b, b.width / 3);
	count_human(session_own(s), count);
	bar_say(bar_left(&b, 4), ROLE_TITLE, "%s %s", count,
		plural(session_own(s), "entry", "entries"));
	if (s->nleaves > 1)
		bar_say(bar_left(&b, 6), ROLE_TITLE, "%u branches", s->nleaves);
	header_tip(sv, &b);
	header_right(v, &b);
	bar_draw(&b, ROLE_TITLE, out);
}

static size_t branch_number(const struct session_view *sv, uint32_t row)
{
	size_t lo = 0, hi = sv->nleaves;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (sv->leaf_rows[mid] < row)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo + 1;
}

static unsigned session_version(const struct view *v)
{
	return session_of(v)->lay.version;
}

static void session_position(const struct view *v, struct bar *b)
{
	const struct session_view *sv = session_of(v);
	uint32_t entry = session_cursor(v);

	if (entry == ENTRY_NONE)
		return;
	bar_say(bar_right(b, 2), ROLE_STATUS, "%zu/%u", v->cursor + 1, layout_lines(&sv->lay));
	if (sv->nleaves > 1)
		bar_say(bar_right(b, 4), ROLE_STATUS, "branch %zu/%zu",
			branch_number(sv, sv->lay.row_of[entry]), sv->nleaves);
}

static const char *session_progress(const struct view *v, uint64_t *done, uint64_t *all)
{
	if (session_of(v)->awaits != AWAITS_NOTHING)
		return "waiting whether the log is still written (Esc: leave it)";
	work_progress(session_of(v)->w, done, all);
	return "loading";
}

static void session_pane(struct view *v, struct page *p, size_t limit)
{
	uint32_t entry = session_cursor(v);

	if (entry != ENTRY_NONE)
		entry_page(session_of(v), entry, limit, p);
}

static bool needs_repair(const struct view *v)
{
	return session_of(v)->is_loaded && work_needs_repair(session_of(v)->w);
}

/* The operation that makes a condition so. */
static const struct {
	unsigned when, what;
} operations[] = {
	{ WHEN_APPEND, WORK_APPEND }, { WHEN_REPAIR, WORK_REPAIR }, { WHEN_TITLE, WORK_TITLE },
	{ WHEN_FORK, WORK_FORK }, { WHEN_TIP, WORK_REFLOG }, { WHEN_TRASH, WORK_TRASH },
};

unsigned session_what(unsigned when)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		if (operations[i].when == when)
			return operations[i].what;
	return 0;
}

unsigned session_lacks(const struct view *v)
{
	char why[STORE_WHY];
	unsigned lacks = 0;

	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		if (!store_can(session_model(v)->format, operations[i].what, why))
			lacks |= operations[i].when;
	return lacks;
}

static unsigned session_state(const struct view *v)
{
	const struct session_view *sv = session_of(v);
	uint32_t entry = session_cursor(v);
	unsigned state = WHEN_PANE;
	const char *why;

	if (entry != ENTRY_NONE) {
		state |= WHEN_ROW;
		if (layout_below(&sv->lay, sv->lay.row_of[entry]) > 0 ||
		    session_model(v)->entries[entry].flags & ENTRY_INHERITED)
			state |= WHEN_CHILDREN;
	}
	if (*work_trouble(sv->w)) /* what is shown is not what the disk has: nothing hangs on it */
		return state;
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		if ((operations[i].when != WHEN_REPAIR || needs_repair(v)) &&
			work_can(sv->w, operations[i].what, &why))
			state |= operations[i].when;
	return state;
}

static const char *session_why(const struct view *v, unsigned when)
{
	unsigned what = session_what(when);
	const char *why = NULL;

	if (what && *work_trouble(session_of(v)->w))
		return work_trouble(session_of(v)->w);
	if (when == WHEN_REPAIR && !needs_repair(v))
		return session_of(v)->is_loaded ? "nothing to repair" : "still loading";
	if (what)
		work_can(session_of(v)->w, what, &why);
	if (when == WHEN_APPEND && session_model(v)->ops->events && (session_state(v) & WHEN_FORK))
		return "a dsh log takes no entry of bough's: F forks into a new session";
	return why;
}

/* ---- following ---- */

static enum effect session_changed(struct view *v)
{
	struct session_view *sv = session_of(v);
	enum work_change change = WORK_SAME;
	uint32_t entry = session_cursor(v);
	size_t nlost = work_nlost(sv->w);
	struct buf id = { 0 };
	struct err err = { 0 };
	char said[200] = "";
	enum effect fx = FX_NONE;

	/* a replaced file has other indices: the cursor's entry is found again by its id */
	if (entry != ENTRY_NONE)
		buf_addstr(&id, entry_id(sv, entry));
	if (work_refresh(sv->w, &change, said, &err) < 0) {
		ui_error(v->ui, "%s", err.text);
		buf_release(&id);
		return FX_REDRAW;
	}
	if (change != WORK_SAME) {
		if (change == WORK_REPLACED && v->moved && sv->want.n == 0)
			buf_addstr(&sv->want, (struct str){ id.n ? id.p : "", id.n });
		v->busy |= change == WORK_GREW || change == WORK_REPLACED;
		fx = FX_RELAYOUT | FX_PANE;
	}
	if (work_nlost(sv->w) > nlost)
		ui_error(v->ui, "another writer wiped out %zu of bough's entries; r appends %s again",
			work_nlost(sv->w), plural(work_nlost(sv->w), "it", "them"));
	else if (said[0])
		ui_say(v->ui, "%s", said);
	buf_release(&id);
	return fx;
}

static const char *session_warning(const struct view *v)
{
	return work_trouble(session_of(v)->w);
}

static void session_watch(struct view *v)
{
	char *dir = path_dir(session_model(v)->path);

	watch_add(v->ui->watch, dir);
	free(dir);
}

static const struct view_mark session_marks[] = {
	{ " tip", "the tip: where the session goes on", true, GLYPH_TIP },
	{ "", "on the tip's branch", true, GLYPH_ON },
	{ "", "off it", true, GLYPH_OFF },
	{ "!", "a failed tool call, or damage" },
	{ "dead", "the end of a branch that is not the tip's" },
	{ "unsent", "stands in the record only, was never sent to the model" },
	{ "lost", "not in the file any more; a repair brings it back" },
	{ "recovered", "from a torn end; a repair commits it" },
	{ "orphan, cycle", "its parent is not there; its parent link was cut" },
	{ "[good]", "a label" },
	{ "3 more", "entries folded away" },
	{ "12", "so many levels deep; those between are left out" },
	{ "~", "the text was cut here" },
	{ NULL, NULL },
};

const struct view_ops view_session = {
	.name = "session",
	.pane = PANE_RIGHT,
	.private_size = sizeof(struct session_view),
	.commands = &session_commands,
	.marks = session_marks,
	.open = session_open,
	.close = session_close,
	.step = session_step,
	.layout = session_layout,
	.count = session_count,
	.draw_row = session_row,
	.draw_header = session_header,
	.line_id = session_line_id,
	.line_of = session_line_of,
	.search_text = session_search_text,
	.empty = session_empty,
	.fill_pane = session_pane,
	.state = session_state,
	.why = session_why,
	.changed = session_changed,
	.cancel = alter_cancel,
	.warning = session_warning,
	.position = session_position,
	.version = session_version,
	.progress = session_progress,
	.watch = session_watch,
};
