/*
 * view.h - what all screens share: a list of lines with a cursor, a second
 * pane with a page, search, and how they lie on the screen.
 *
 * A view's own code turns model objects into rows of cells and answers
 * questions about lines; scrolling, selection, search and painting are
 * generic. The cursor is kept by identity (line_id): lines that appear or go
 * away do not move it to another thing.
 */
#ifndef BOUGH_UI_VIEW_H
#define BOUGH_UI_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "ui/bar.h"
#include "ui/cell.h"
#include "ui/command.h"
#include "ui/pager.h"
#include "ui/search.h"

#define LINE_NONE SIZE_MAX

struct ui;
struct view;
struct draw;

enum pane_place { PANE_NONE, PANE_RIGHT, PANE_BELOW, PANE_ALONE };

/* A sign that rows of a screen carry, and what it says: for the help. */
struct view_mark {
	const char *sign, *says;
	bool is_glyph;            /* in place of `sign` ("") */
	enum glyph glyph;
};

struct view_ops {
	const char *name;         /* section in keys.conf */
	enum pane_place pane;     /* where it goes on a wide screen; PANE_NONE: there is none */
	int pane_percent;         /* of the rows, for a pane below */
	size_t private_size;      /* view_push allocates it, zeroed */
	const struct command_table *commands;
	const struct view_mark *marks; /* a NULL sign ends them; NULL: there are none */
	/* arg is what view_push got. On failure close is called. */
	int (*open)(struct view *v, const void *arg, struct err *err);
	void (*close)(struct view *v);
	/* Work for about budget_us; v->busy tells whether there is more. */
	enum effect (*step)(struct view *v, unsigned budget_us);
	/* Make the lines anew after FX_RELAYOUT. */
	void (*layout)(struct view *v);
	/* The model below has changed since the lines were made: they are made again before drawing. */
	bool (*is_stale)(const struct view *v);
	size_t (*count)(const struct view *v);
	/* A line into out, from out->n to out->clip; no need to pad. */
	void (*draw_row)(struct view *v, size_t line, struct rowbuf *out);
	void (*draw_header)(struct view *v, struct rowbuf *out);
	/* A line below the header, for columns' names and the like; NULL: there is none. */
	void (*draw_heading)(struct view *v, struct rowbuf *out);
	/* A line above the status line; NULL: there is none. */
	void (*draw_foot)(struct view *v, struct rowbuf *out);
	uint64_t (*line_id)(const struct view *v, size_t line);
	size_t (*line_of)(const struct view *v, uint64_t id); /* LINE_NONE: gone */
	/* A sentence for a list without lines. */
	const char *(*empty)(const struct view *v);
	/* Where the cursor stands until a person moves it; NULL: the first line. */
	size_t (*home)(const struct view *v);
	/* What search looks at; NULL: the drawn row. */
	void (*search_text)(struct view *v, size_t line, struct buf *out);
	/* The page of the line under the cursor, texts cut at `limit` bytes. */
	void (*fill_pane)(struct view *v, struct page *p, size_t limit);
	/* Gives up what it waits for; false: it waits for nothing. */
	bool (*cancel)(struct view *v);
	/* A sentence in place of the hints for as long as it is true; NULL or "": there is none. */
	const char *(*warning)(const struct view *v);
	unsigned (*state)(const struct view *v);                   /* enum when */
	const char *(*why)(const struct view *v, unsigned when);  /* why not, or NULL */
	/* What of enum when can never be here: help leaves that out. NULL: nothing. */
	unsigned (*lacks)(const struct view *v);
	/* Something changed on disk. */
	enum effect (*changed)(struct view *v);
	/* Fields for the right of the status line, e.g. "9/11"; the pane's are generic. */
	void (*position)(const struct view *v, struct bar *b);
	/* Grows with each change of the lines without view_relayout; NULL: there is none. */
	unsigned (*version)(const struct view *v);
	/* Progress of the job: what it does, and how far (all 0: unknown). */
	const char *(*progress)(const struct view *v, uint64_t *done, uint64_t *all);
	/* Directories to watch. */
	void (*watch)(struct view *v);
};

struct rect {
	int x, y, w, h;
};

struct view_rects {
	int header, heading, foot, status; /* rows, -1: not shown */
	struct rect list, pane, border; /* h or w 0: not shown */
};

struct view {
	const struct view_ops *ops;
	struct ui *ui;
	struct view *below;     /* the view it was opened from */
	void *priv;
	size_t cursor, top;
	int height;             /* of the list at the last drawing */
	unsigned relaid;        /* how often the lines were made */
	bool moved;             /* a person has moved the cursor */
	bool busy;              /* step has more to do */
	bool waits;             /* with busy: but nothing to do before some milliseconds are over */
	bool stopped;           /* by ^C, until a reload */
	bool pane_focus;        /* the pane has the keys */
	bool pane_hidden;
	struct pager pager;
	struct search search;
};

extern const struct view_ops view_sessions, view_session, view_branches, view_problems,
	view_reflog, view_help, view_conversation, view_rounds, view_relations, view_unresolved,
	view_cards;
/* The screen for a session: a tree, or a conversation. */
const struct view_ops *view_for_session(const char *path);

/* Opens a view on top; on failure the error is said and nothing is opened. */
struct view *view_push(struct ui *ui, const struct view_ops *ops, const void *arg);
void view_pop(struct ui *ui);
void view_drop_below(struct view *v); /* the one that it stands on */

size_t view_count(const struct view *v);
unsigned view_version(const struct view *v); /* another one when the lines are others */
void view_set_cursor(struct view *v, size_t line); /* clamped; scrolls as little as needed */
void view_move(struct view *v, long by);           /* by a person: sets moved */
void view_page(struct view *v, long by);           /* scrolls and moves */
void view_relayout(struct view *v);                /* ops->layout around the kept cursor */
void view_refresh(struct view *v);                 /* makes stale lines anew */
void view_rects(const struct view *v, int cols, int rows, struct view_rects *out);
void view_draw(struct view *v, struct draw *d);
/* The pager, built for what is under the cursor. */
struct pager *view_pager(struct view *v);
bool view_has_pane(const struct view *v);
enum effect view_click(struct view *v, int y, int x, int wheel);

#endif
