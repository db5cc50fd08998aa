/*
 * search.h - patterns (PCRE2, smart case) and a search that runs by steps.
 */
#ifndef BOUGH_UI_SEARCH_H
#define BOUGH_UI_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "ui/cell.h"

struct view;

struct search {
	void *code, *data, *ctx;  /* pcre2; NULL: no pattern */
	char *pattern;
	bool is_running;          /* lines are being looked through */
	size_t at, left;          /* next line to look at, lines to go */
	int dir;
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

#endif
