/*
 * view-session.h - one session's tree on the screen: what its drawing, its
 * commands and the screens on top of it share.
 */
#ifndef BOUGH_UI_VIEW_SESSION_H
#define BOUGH_UI_VIEW_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/layout.h"
#include "store/store.h"
#include "ui/cell.h"
#include "ui/command.h"

struct view;
struct page;

struct session_view {
	struct work *w;
	struct layout lay;
	uint32_t *leaf_rows;    /* rows of the leaves, ascending */
	size_t nleaves;
	uint32_t next_build;    /* lay it out again when so many entries are there */
	bool is_loaded;
	bool had_moved;         /* the person moved before the load was done */
	unsigned generation;    /* goes up whenever entries, tip or labels change */
	enum { AWAITS_NOTHING, AWAITS_REPAIR, AWAITS_FORK } awaits; /* the log at rest */
	struct buf awaits_id;   /* the cursor's entry then */
	struct buf want;        /* id to put the cursor on when the load is done; n 0: none */
	struct buf title;
	struct buf id;          /* scratch */
};

extern const struct command_table session_commands;

struct session_view *session_of(const struct view *v); /* of a session's view */
struct session *session_model(const struct view *v);
/* Conditions (enum when) that no session of this format ever has. */
unsigned session_lacks(const struct view *v);
unsigned session_what(unsigned when); /* the operation (WORK_...) behind a condition; 0: none */
uint32_t session_cursor(const struct view *v);          /* entry; ENTRY_NONE: no line */
/* Put the cursor on an entry, unfolding what hides it. */
void session_goto(struct view *v, uint32_t entry);
/* Entries, tip or labels changed: lay it out again. The effects to return. */
enum effect session_relaid(struct view *v);
/* Step the load again after something was written; the cursor goes to `id` when not NULL. */
void session_more(struct view *v, const char *id);

/* The id as it stands in the file, unsanitised; "?" when it can not be read. Borrowed until the next call. */
struct str entry_id(struct session_view *sv, uint32_t entry);
/* The same in at most 12 columns, for rows and sentences. */
const char *entry_short_id(struct session_view *sv, uint32_t entry, char out[64]);
enum role entry_role(const struct entry *e);
const char *entry_word(const struct entry *e); /* "user", "tool" ... for the narrow column */

/* tree-rows.c */
/*
 * How far an outline goes in: two columns a level, a third of the list at
 * most. A deeper row ends in its depth as a number, so that no two depths look
 * the same.
 */
uint32_t outline_levels(int list_cols);
void outline_number(uint32_t depth, struct rowbuf *out);
void tree_row(struct session_view *sv, uint32_t line, struct rowbuf *out);
/* view-entry.c: the pane */
void entry_page(struct session_view *sv, uint32_t entry, size_t limit, struct page *p);

#endif
