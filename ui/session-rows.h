/*
 * session-rows.h - the lines of the list of sessions: rows of the store,
 * grouped by project, children below their parent, sorted and filtered.
 */
#ifndef BOUGH_UI_SESSION_ROWS_H
#define BOUGH_UI_SESSION_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

enum session_sort { SORT_ACTIVITY, SORT_CREATED, SORT_TITLE, SORT_SIZE, SORT_COUNT };

struct session_line {
	bool is_group, is_folded, has_children;
	bool is_lone;        /* it names a parent that is nowhere */
	size_t row;          /* in the store; a group's is its first one there */
	const char *project; /* of a group */
	size_t count;        /* sessions of a group; hidden below a folded row */
	int depth;           /* below its parent */
	size_t number;       /* of the sessions shown so far, this one included */
};

struct session_rows {
	struct store *store;
	struct session_line *lines;
	size_t nlines, cap;
	size_t nsessions, nshown; /* all, and those that pass the filter */
	enum session_sort sort;
	char *filter;             /* words that must all occur; NULL: none */
	int flags_cols;           /* of the widest state words of a shown row */
	bool *folded, *group_folded; /* by row of the store */
	size_t nfolded;
};

void session_rows_init(struct session_rows *r, struct store *store);
void session_rows_release(struct session_rows *r);
void session_rows_build(struct session_rows *r);
/* The line of a row, or of the group it began; of a group that hides it; SIZE_MAX: not shown. */
size_t session_rows_line(const struct session_rows *r, size_t row, bool is_group);
void session_rows_fold(struct session_rows *r, size_t line, bool fold);
void session_rows_fold_all(struct session_rows *r, bool fold); /* projects */
void session_rows_set_filter(struct session_rows *r, const char *words); /* "" or NULL: none */
void session_rows_sort_by_name(struct session_rows *r, const char *name);
const char *session_rows_sort_name(const struct session_rows *r);

#endif
