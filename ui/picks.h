/*
 * picks.h - the rows that a screen on top of a conversation picks out of one of
 * its lists, with the questions of view_ops that only need the picks.
 *
 * A struct picks is the first member of such a view's private part. Layout:
 * picks_begin, picks_add for each row, in the order of the screen.
 */
#ifndef BOUGH_UI_PICKS_H
#define BOUGH_UI_PICKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct view;

struct picks {
	uint32_t *shown;     /* index in the list, by line */
	uint32_t *ids;       /* words of their ids: they outlive the list */
	size_t n;
	unsigned generation; /* of the fold that they were picked from */
	struct arena scratch; /* of one row or page */
};

struct picks *picks_of(const struct view *v);
void picks_begin(struct view *v, size_t most);
void picks_add(struct view *v, uint32_t index, uint32_t id);

/* For view_ops. */
void picks_close(struct view *v);
bool picks_stale(const struct view *v);
size_t picks_count(const struct view *v);
uint64_t picks_id(const struct view *v, size_t line);
size_t picks_line_of(const struct view *v, uint64_t id);
unsigned picks_state(const struct view *v);

#endif
