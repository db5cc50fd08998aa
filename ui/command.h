/*
 * command.h - everything a key or a ":command" can do, as tables.
 *
 * One row describes a command completely: help, completion, data/keys.conf
 * and the status line's hints come from it. Each kind of view brings its own
 * table; the generic table stands behind all of them.
 */
#ifndef BOUGH_UI_COMMAND_H
#define BOUGH_UI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct view;
struct view_ops;

/* What a command or a step wants done; the loop does it. */
enum effect {
	FX_NONE = 0,
	FX_REDRAW = 1 << 0,
	FX_RELAYOUT = 1 << 1,  /* the view's lines changed: count them again, keep the cursor by identity */
	FX_PANE = 1 << 2,      /* the pane's content changed */
	FX_CLOSE = 1 << 3,     /* close the view */
	FX_QUIT = 1 << 4,
	FX_UNHANDLED = 1 << 5
};

/* What must be so for a command to make sense; view_ops.state says what is. */
enum when {
	WHEN_ROW = 1 << 0,      /* something is under the cursor */
	WHEN_CHILDREN = 1 << 1, /* it has rows below it that can fold */
	WHEN_APPEND = 1 << 2,   /* the session takes new entries */
	WHEN_REPAIR = 1 << 3,
	WHEN_TITLE = 1 << 4,
	WHEN_PANE = 1 << 5,     /* the view has a second pane */
	WHEN_FORK = 1 << 6,     /* a branch can be copied into a new session */
	WHEN_LOADED = 1 << 7,   /* everything has been read */
	WHEN_TIP = 1 << 8,      /* the tip can be moved, entries take labels */
	WHEN_TRASH = 1 << 9,
	WHEN_CARD = 1 << 10,    /* a history-change card is shown */
	WHEN_TARGET = 1 << 11,  /* what is under the cursor is about something that can be shown */
	WHEN_WRITES = WHEN_APPEND | WHEN_REPAIR | WHEN_TITLE | WHEN_FORK | WHEN_TIP | WHEN_TRASH
};

struct command {
	const char *name;
	const char *keys;   /* "z, <Space>": default bindings (key.h) */
	const char *group;  /* heading in the help */
	const char *help;   /* one sentence without a full stop */
	const char *hint;   /* a word for the status line, or NULL */
	const char *arg;    /* what the ":command" takes, for help; NULL: nothing */
	unsigned when;
	enum effect (*run)(struct view *v, const char *arg);
	const struct view_ops *opens; /* instead of `run`: this screen opens on top */
};

struct command_table {
	const struct command *v;
	size_t n;
};
#define COMMAND_TABLE(array) { (array), sizeof(array) / sizeof(*(array)) }

extern const struct command_table generic_commands; /* commands.c */

/* The kinds of views; `ops` NULL stands for the generic table. Index into the keymap. */
size_t command_nmaps(void);
const char *command_map_name(size_t map); /* "generic", "sessions" ... */
const struct command_table *command_map(size_t map);
size_t command_map_of(const struct view_ops *ops);
/* By name: the map's own, then the generic one. */
const struct command *command_find(size_t map, const char *name, size_t n);
/* Run "name arg" as typed after ':'. */
enum effect command_line(struct view *v, const char *line);
/*
 * A command of the session's own screen that changes it, asked for where it is not known (c may
 * be NULL): false, or it has been said why this session is not changed.
 */
bool command_refuse(struct view *v, const struct command *c);
/* Check `when`, then run. */
enum effect command_run(struct view *v, const struct command *c, const char *arg);

#endif
