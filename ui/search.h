/*
 * search.h - patterns (PCRE2, smart case) and a search that runs by steps.
 */
#ifndef BOUGH_UI_SEARCH_H
#define BOUGH_UI_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "ui/cell.h"

struct bar;
struct view;

struct search {
	void *code, *data, *ctx;  /* pcre2; NULL: no pattern */
	char *pattern;
	bool is_running;          /* lines are being looked through */
	size_t at, left;          /* next line to look at, lines to go */
	int dir;

	/* The count: lines that match, as far as they have been looked at. */
	bool is_counting, in_pane;
	size_t *hits, nhits, hits_cap;
	size_t counted;           /* lines looked at */
	unsigned version;         /* of the lines; others make the count worthless */
	size_t pane_line;         /* the hit in the pane that was gone to */
};

/* Case matters when the pattern holds a capital letter. "" removes the pattern. */
int search_set(struct search *s, const char *pattern, struct err *err);
void search_release(struct search *s);
bool search_matches(const struct search *s, const char *p, size_t n);
/* Give the hits among columns [from, to) of a row the role MATCH. */
void search_highlight(const struct search *s, struct rowbuf *rb, int from, int to);
/* Look for the next matching line behind the cursor; search_step does it. */
void search_start(struct view *v, int dir, bool from_here);
/* True while there is more to do; moves the cursor to a hit or says that there is none. */
bool search_step(struct view *v, unsigned budget_us);
/* The next hit in the pane, which is scrolled to it; false: none that way. */
bool search_in_pane(struct view *v, int dir);
/* Count on: true while there is more. A hit begins the count when there is none. */
bool search_count_step(struct view *v, unsigned budget_us);
/* "match 3 of 17", or how many there are; nothing without a count. */
void search_position(const struct view *v, struct bar *b);

#endif
