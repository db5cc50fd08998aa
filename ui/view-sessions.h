/*
 * view-sessions.h - shared by the drawing and the commands of the list of
 * sessions.
 */
#ifndef BOUGH_UI_VIEW_SESSIONS_H
#define BOUGH_UI_VIEW_SESSIONS_H

#include "store/store.h"
#include "ui/command.h"
#include "ui/session-rows.h"

struct view;

struct sessions {
	struct session_rows rows;
	uint64_t laid_out_at; /* monotonic us */
	char why[STORE_WHY];  /* the last operation that a format does not have */
};

extern const struct command_table sessions_commands;
const struct session_row *sessions_under_cursor(const struct view *v); /* NULL: a group, nothing */

#endif
