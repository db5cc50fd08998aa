/*
 * view-conversation.h - a conversation on the screen: what its drawing, its
 * commands and the screens on top of it share.
 */
#ifndef BOUGH_UI_VIEW_CONVERSATION_H
#define BOUGH_UI_VIEW_CONVERSATION_H

#include <stdbool.h>
#include <stdint.h>

#include "store/conversation.h"
#include "ui/view-session.h"

struct view;
struct page;

enum { NODES_ALL, NODES_TALK, NODES_PROMPTS, NODES_TOOLS, NODES_CHANGED, NODES_COUNT };

struct conversation_view {
	struct session_view sv;   /* first: the screen of problems stands on any session's screen */
	struct conversation *c;   /* NULL while it is being read */
	uint32_t *shown;          /* line of the screen -> line of the outline */
	uint32_t *ids;            /* line of the screen -> word of the node's id */
	uint32_t nshown;
	uint8_t *folded;          /* by word of a node's id */
	size_t nfolded;           /* words in it */
	int show;                 /* NODES_* */
	uint32_t want_round;      /* after it is read again; 0: the newest */
	unsigned reads;           /* how often it was read: words are other numbers each time */
	struct arena scratch;     /* of one row */
};

extern const struct command_table conversation_commands;

struct conversation_view *conversation_of(const struct view *v);
/* The conversation's screen that a view stands on, or is; NULL: none. */
struct view *conversation_base(const struct view *v);
/* Of the view's own screen, or the one it stands on; NULL while it is being read. */
struct conversation *conversation_model(const struct view *v);
/* The line of the outline under the cursor; CONVERSATION_NONE: there is none. */
uint32_t conversation_cursor(const struct view *v);
/* Puts the cursor on a node, unfolding what hides it; says so when it is not in the fold. */
void conversation_goto(struct view *v, uint32_t id);
void conversation_goto_round(struct view *v, uint32_t rounds);
void conversation_set_fold(struct conversation_view *cv, uint32_t id, bool fold);
bool conversation_is_folded(const struct conversation_view *cv, uint32_t line);
uint32_t conversation_nearest(
	const struct conversation_view *cv, uint32_t line); /* line of the screen */

/* conversation-rows.c */
const char *node_word(struct str kind, char room[16]);
enum role node_role(struct str kind);
enum role mark_role(char mark);
/* A word of the conversation in so many columns; "-" for an empty one. */
void conversation_put_word(
	const struct view *v, struct rowbuf *out, enum role role, uint32_t word, int cols);
void conversation_draw_row(struct conversation_view *cv, uint32_t line, struct rowbuf *out);
void conversation_draw_slider(struct conversation_view *cv, struct rowbuf *out);
/* conversation-page.c */
void node_page(struct conversation_view *cv, uint32_t line, size_t limit, struct page *p);
void page_words(struct page *p, enum role role, const char *words); /* one paragraph */

#endif
