/*
 * view-sessions.c - the list of sessions: what a row shows, the preview, and
 * what can be done to a session from here. Which rows there are, and in which
 * order, is session-rows.c.
 */
#include "config.h"

#include "ui/view-sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"
#include "ui/internal.h"
#include "ui/session-flags.h"
#include "ui/settings.h"
#include "ui/view-session.h"
#include "ui/view.h"

#define RELAYOUT_US 150000 /* while rows come in the list is made anew this often at most */

static struct sessions *of(const struct view *v)
{
	return v->priv;
}

const struct session_row *sessions_under_cursor(const struct view *v)
{
	const struct sessions *s = of(v);

	if (v->cursor >= s->rows.nlines || s->rows.lines[v->cursor].is_group)
		return NULL;
	return store_row(v->ui->store, s->rows.lines[v->cursor].row);
}

static int sessions_open(struct view *v, const void *arg, struct err *err)
{
	struct sessions *s = of(v);

	session_rows_init(&s->rows, v->ui->store);
	session_rows_sort_by_name(&s->rows, v->ui->opt->settings->sort);
	v->busy = true;
	return 0;
}

static void sessions_close(struct view *v)
{
	session_rows_release(&of(v)->rows);
}

/* A conversation is a folder: what comes into it changes nothing in the root. */
static void watch_conversation(struct watch *watch, const char *path)
{
	char *above = path_dir(path), *rounds = path_join(path, "rounds");

	watch_add(watch, above);
	watch_add(watch, path);
	watch_add(watch, rounds);
	free(rounds);
	free(above);
}

static void sessions_watch(struct view *v)
{
	const struct store *st = v->ui->store;

	for (size_t i = 0; i < store_nroots(st); i++)
		watch_add(v->ui->watch, store_root(st, i));
	for (size_t i = 0; i < store_nrows(st); i++) {
		const struct session_row *row = store_row(st, i);

		if (!row->is_gone && row->format && strcmp(row->format, "flow") == 0)
			watch_conversation(v->ui->watch, row->path);
	}
}

static enum effect sessions_step(struct view *v, unsigned budget_us)
{
	struct sessions *s = of(v);
	const size_t *first = NULL;
	uint64_t now = clock_mono_us();
	int more;

	if (v->cursor < s->rows.nlines && !s->rows.lines[v->cursor].is_group)
		first = &s->rows.lines[v->cursor].row;
	more = store_step(v->ui->store, budget_us, first);
	v->busy = more > 0;
	if (!v->busy && v->ui->watch)
		sessions_watch(v); /* there may be more rows now */
	/* the first rows at once, then now and then, and at the end */
	if (!v->busy || s->rows.nlines == 0 || now - s->laid_out_at >= RELAYOUT_US) {
		s->laid_out_at = now;
		return FX_RELAYOUT | FX_PANE;
	}
	return FX_NONE;
}

static void sessions_layout(struct view *v)
{
	session_rows_build(&of(v)->rows);
}

static size_t sessions_count(const struct view *v)
{
	return of(v)->rows.nlines;
}

static uint64_t sessions_line_id(const struct view *v, size_t line)
{
	const struct session_line *l = &of(v)->rows.lines[line];

	return (uint64_t)l->row << 1 | l->is_group;
}

static size_t sessions_line_of(const struct view *v, uint64_t id)
{
	return session_rows_line(&of(v)->rows, (size_t)(id >> 1), id & 1);
}

static size_t sessions_home(const struct view *v)
{
	const struct session_rows *r = &of(v)->rows;

	return r->nlines > 1 && r->lines[0].is_group && !r->lines[1].is_group ? 1 : 0;
}

/* ---- drawing ---- */

static void draw_group(const struct sessions *s, const struct session_line *l, struct rowbuf *out)
{
	char count[32];
	char *path = path_shorten(l->project);
	struct bar b;

	row_glyph(out, ROLE_GROUP, l->is_folded ? GLYPH_SHUT : GLYPH_OPEN);
	row_spaces(out, ROLE_GROUP, 1);
	bar_begin(&b, out);
	b.margin = 0;
	row_str(bar_left(&b, 0), ROLE_GROUP, *path ? path : "(no project)");
	bar_elastic(&b, 8);
	count_human(l->count, count);
	bar_say(bar_right(&b, 1), ROLE_DIM, "%s %s", count,
		plural(l->count, "session", "sessions"));
	bar_draw(&b, ROLE_NORMAL, out);
	free(path);
}

static void draw_age(const struct session_row *row, struct rowbuf *out)
{
	char age[16];
	bool from_file = row->last_time == INT64_MIN;

	time_age(from_file ? row->mtime : row->last_time, clock_now_ms(), age);
	row_field_right(out, ROLE_TIME, age, strlen(age), 4);
	if (from_file && row->state == ROW_LOADED)
		row_lit(out, ROLE_DIM, "*"); /* the file's time: the data has none */
	else
		row_spaces(out, ROLE_NORMAL, 1);
}

/*
 * The columns at the right, one layout for all rows of a frame: a row that has
 * more to say than another must not push it.
 */
struct columns {
	int counts, branches, size, flags; /* 0: not shown */
};

static struct columns columns_for(const struct session_rows *r, int cols)
{
	int most = cols < 28 ? 0 : cols < 100 ? cols / 5 : 20;

	return (struct columns){
		.counts = cols >= 64 ? 15 : 0,
		.branches = cols >= 96 ? 13 : 0,
		.size = cols >= 48 ? 8 : 0,
		.flags = r->flags_cols < most ? r->flags_cols : most,
	};
}

static void draw_counts(const struct session_row *row, const struct columns *c, struct rowbuf *out)
{
	bool has_steps = row->format && strcmp(row->format, "flow") == 0;
	const char *one = has_steps ? "step   " : "entry  ", *more = has_steps ? "steps  " : "entries";
	char text[48] = "", count[32];

	if (row->state == ROW_LOADED) {
		count_human(row->entries, count);
		if (row->is_uncounted) /* an old round does not say */
			snprintf(count, sizeof(count), "-");
		else if (row->is_partial)
			strcat(count, "+");
		snprintf(text, sizeof(text), "%s %s", count, row->entries == 1 ? one : more);
	}
	row_field_right(out, ROLE_DIM, text, strlen(text), c->counts);
	text[0] = '\0';
	if (row->state == ROW_LOADED && row->branches > 1)
		snprintf(text, sizeof(text), "%u branches", row->branches);
	row_field_right(out, ROLE_OFF_BRANCH, text, strlen(text), c->branches);
}

static void draw_title(const struct session_row *row, struct rowbuf *out)
{
	if (row->state == ROW_UNREADABLE) {
		row_lit(out, ROLE_DAMAGE, "(cannot read: ");
		row_str(out, ROLE_DAMAGE, row->reason);
		row_lit(out, ROLE_DAMAGE, ")  ");
		row_str(out, ROLE_ID, row->id);
	} else if (row->title && *row->title) {
		row_str(out, row->is_gone ? ROLE_DIM : ROLE_NORMAL, row->title);
	} else if (row->state == ROW_LOADED) {
		row_lit(out, ROLE_DIM, "(no title)  ");
		row_str(out, ROLE_ID, row->id);
	} else {
		row_str(out, ROLE_ID, row->id);
	}
}

static void draw_right(const struct session_row *row, const struct columns *c, struct rowbuf *out)
{
	char size[16];

	row_start(out, c->counts + c->branches + c->size + c->flags + (c->flags > 0), out->ascii);
	if (row->state == ROW_UNREADABLE)
		return; /* the reason needs the line */
	draw_counts(row, c, out);
	size_human(row->size, size);
	row_field_right(out, ROLE_DIM, size, strlen(size), c->size);
	row_spaces(out, ROLE_NORMAL, c->flags > 0);
	session_flags_draw(row, c->flags, out);
	row_pad(out, ROLE_NORMAL);
}

static void draw_session(struct view *v, const struct session_line *l, struct rowbuf *out)
{
	const struct session_row *row = store_row(v->ui->store, l->row);
	struct rowbuf right = { 0 };
	struct columns columns = columns_for(&of(v)->rows, row_left(out));
	int clip = out->clip;

	draw_age(row, out);
	row_spaces(out, ROLE_NORMAL, 1);
	if (l->depth > 0) {
		row_spaces(out, ROLE_NORMAL, 2 * (l->depth < 6 ? l->depth : 6) - 2);
		row_glyph(out, ROLE_BORDER, GLYPH_LAST);
		row_str(out, ROLE_OFF_BRANCH, row->is_agent ? "agent " : "fork ");
	} else if (row->parent_id) {
		row_str(out, ROLE_OFF_BRANCH, row->is_agent ? "agent" : "fork");
		row_str(out, ROLE_OFF_BRANCH, l->is_lone ? " (parent missing) " : " ");
	}
	if (l->is_folded)
		row_printf(out, ROLE_DIM, "[+%zu] ", l->count);
	draw_right(row, &columns, &right);
	if (right.n > row_left(out) - 8)
		right.n = 0; /* deep below its parent on a narrow screen */
	row_clip(out, clip - right.n);
	draw_title(row, out);
	row_pad(out, ROLE_NORMAL);
	row_clip(out, clip);
	row_append(out, &right);
	row_release(&right);
}

static void sessions_row(struct view *v, size_t line, struct rowbuf *out)
{
	const struct session_line *l = &of(v)->rows.lines[line];

	if (l->is_group)
		draw_group(of(v), l, out);
	else
		draw_session(v, l, out);
}

static void sessions_header(struct view *v, struct rowbuf *out)
{
	const struct session_rows *r = &of(v)->rows;
	struct rowbuf *roots;
	char count[32];
	struct bar b;

	bar_begin(&b, out);
	bar_say(bar_left(&b, 5), ROLE_TITLE, "bough");
	roots = bar_left(&b, 0);
	for (size_t i = 0; i < store_nroots(v->ui->store); i++) {
		char *path = path_shorten(store_root(v->ui->store, i));

		row_spaces(roots, ROLE_TITLE, i > 0 ? 2 : 0);
		row_str(roots, ROLE_TITLE, path);
		free(path);
	}
	bar_elastic(&b, 12);
	count_human(r->nsessions, count);
	if (r->filter)
		bar_say(bar_right(&b, 1), ROLE_LABEL, "%zu of %s sessions", r->nshown, count);
	else
		bar_say(bar_right(&b, 1), ROLE_TITLE, "%s %s", count,
			plural(r->nsessions, "session", "sessions"));
	bar_say(bar_right(&b, 3), ROLE_TITLE, "by %s", session_rows_sort_name(r));
	if (!r->filter)
		bar_say(bar_right(&b, 4), ROLE_TITLE, "all");
	bar_draw(&b, ROLE_TITLE, out);
}

static void sessions_position(const struct view *v, struct bar *b)
{
	const struct session_rows *r = &of(v)->rows;

	const struct session_line *l = v->cursor < r->nlines ? &r->lines[v->cursor] : NULL;

	if (r->filter) {
		struct rowbuf *filter = bar_right(b, 4);

		row_clip(filter, 24);
		bar_say(filter, ROLE_LABEL, "\"%s\"", r->filter);
	}
	if (l && l->is_group) /* no session: the number before it would mislead */
		bar_say(bar_right(b, 2), ROLE_STATUS, "-/%zu", r->nshown);
	else if (l || r->filter)
		bar_say(bar_right(b, 2), ROLE_STATUS, "%zu/%zu", l ? l->number : 0, r->nshown);
}

static const char *sessions_progress(const struct view *v, uint64_t *done, uint64_t *all)
{
	store_progress(v->ui->store, done, all);
	return "reading";
}

static const char *sessions_empty(const struct view *v)
{
	if (of(v)->rows.filter)
		return "no session has these words (Esc shows all)";
	return v->busy ? "reading" : "no sessions";
}

static void preview_line(struct page *p, enum role role, const char *who, const char *text)
{
	size_t n = strlen(text);

	page_begin_par(p, who, "       ", role);
	page_text(p, ROLE_NORMAL, text, n);
	page_end_par(p);
}

static void note(struct page *p, enum role role, const char *text)
{
	page_begin_par(p, "", "", role);
	page_text(p, role, text, strlen(text));
	page_end_par(p);
}

static void sessions_pane(struct view *v, struct page *p, size_t limit)
{
	const struct session_row *row = sessions_under_cursor(v);
	char created[32], tokens[32], text[200];

	if (v->cursor < of(v)->rows.nlines && !row) { /* a path that its row may have cut */
		const char *project = of(v)->rows.lines[v->cursor].project;
		note(p, ROLE_DIM, *project ? project : "sessions that name no project");
		return;
	}
	if (!row) {
		for (size_t i = 0; i < store_nroots(v->ui->store); i++) {
			const char *said = store_root_note(v->ui->store, i);
			if (said)
				note(p, ROLE_DIM, said);
		}
		return;
	}
	if (row->state == ROW_UNREADABLE) {
		note(p, ROLE_DAMAGE, row->reason ? row->reason : "cannot be read");
		note(p, ROLE_DIM, row->path);
		return;
	}
	if (row->preview_user)
		preview_line(p, ROLE_USER, "you    ", row->preview_user);
	if (row->preview_model)
		preview_line(p, ROLE_ASSISTANT, "model  ", row->preview_model);
	time_full(row->first_time, created);
	count_human(row->tokens, tokens);
	snprintf(text, sizeof(text), "%s  began %s%s%s%s", row->format ? row->format : "", created,
		row->tokens ? "  " : "", row->tokens ? tokens : "", row->tokens ? " tokens" : "");
	page_begin_par(p, "", "", ROLE_DIM);
	page_text(p, ROLE_DIM, text, strlen(text));
	page_text(p, ROLE_DIM, "  ", 2);
	page_text(p, ROLE_DIM, row->path, strlen(row->path));
	page_end_par(p);
}

static enum effect sessions_changed(struct view *v)
{
	store_rescan(v->ui->store);
	v->busy = true;
	return FX_NONE;
}

/* What can be done to a session from here. */
enum { WHEN_LISTED = WHEN_TITLE | WHEN_TRASH };

/* Those of `when` that the format of the row under the cursor does not have; `why` has the last. */
static unsigned sessions_refused(const struct view *v, unsigned when)
{
	const struct session_row *row = sessions_under_cursor(v);
	unsigned refused = 0;

	for (unsigned bit = 1; row && row->format && bit <= WHEN_LISTED; bit <<= 1)
		if (bit & when & WHEN_LISTED &&
			!store_can(row->format, session_what(bit), of(v)->why))
			refused |= bit;
	return refused;
}

static const char *sessions_why(const struct view *v, unsigned when)
{
	return sessions_refused(v, when) ? of(v)->why : NULL;
}

static unsigned sessions_state(const struct view *v)
{
	const struct sessions *s = of(v);
	unsigned state = WHEN_PANE;

	if (sessions_under_cursor(v))
		state |= WHEN_ROW | (WHEN_LISTED & ~sessions_refused(v, WHEN_LISTED));
	if (v->cursor < s->rows.nlines && (s->rows.lines[v->cursor].is_group ||
	    s->rows.lines[v->cursor].has_children))
		state |= WHEN_CHILDREN;
	return state;
}

static const struct view_mark sessions_marks[] = {
	{ "2m", "the newest time in the session's data, so long ago" },
	{ "2m*", "the data has no time: that of its file" },
	{ "in use", "open for writing in some program" },
	{ "live", "written within the last minute, or ten with an open turn" },
	{ "torn 60 B", "bytes stand behind the last complete record" },
	{ "2 problems", "what is damaged; the session's own screen has them" },
	{ "broken", "the same where there is less room" },
	{ "partial", "so long that its end is read when all rows are there" },
	{ "open turn", "its last turn was interrupted, unless it still runs" },
	{ "same id", "another session of the root has this id" },
	{ "read-only", "its folder can not be written" },
	{ "gone", "it was there, and is not any more" },
	{ "fork, agent", "it came from the session above it" },
	{ NULL, NULL },
};

const struct view_ops view_sessions = {
	.name = "sessions",
	.pane = PANE_BELOW,
	.pane_percent = 22,
	.private_size = sizeof(struct sessions),
	.commands = &sessions_commands,
	.marks = sessions_marks,
	.open = sessions_open,
	.close = sessions_close,
	.step = sessions_step,
	.layout = sessions_layout,
	.count = sessions_count,
	.draw_row = sessions_row,
	.draw_header = sessions_header,
	.line_id = sessions_line_id,
	.line_of = sessions_line_of,
	.home = sessions_home,
	.empty = sessions_empty,
	.fill_pane = sessions_pane,
	.state = sessions_state,
	.why = sessions_why,
	.changed = sessions_changed,
	.position = sessions_position,
	.progress = sessions_progress,
	.watch = sessions_watch,
};
