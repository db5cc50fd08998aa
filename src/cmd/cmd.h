/*
 * cmd.h - the subcommands of the command line, for main.
 *
 * main parses the options that stand before the first word, decides between a
 * command and the browser by cmd_find(), and hands the rest to cmd_main().
 * Commands print plain text or, with --json, one document; they never draw.
 */
#ifndef BOUGH_CMD_CMD_H
#define BOUGH_CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>

/* What a command ends with; the manual page says the same. */
enum cmd_status {
	STATUS_DONE = 0,
	STATUS_FOUND = 1,     /* damage was found, or nothing matched */
	STATUS_USAGE = 2,
	STATUS_IO = 3,        /* could not read or write; the reason is on stderr */
	STATUS_IN_USE = 4,    /* somebody is, or may be, writing it; nothing was changed */
	STATUS_CANCELLED = 130
};

enum cmd_color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Options given before the command, and what the configuration says. All borrowed. */
struct cmd_globals {
	const char *const *roots;      /* -r, in order */
	size_t nroots;
	const char *const *configured; /* roots of the configuration, used without -r */
	size_t nconfigured;
	bool ascii;
	enum cmd_color color;
};

struct command_def;

/* NULL when there is no such command. */
const struct command_def *cmd_find(const char *name);
/* argv[0] is the command's name. Returns the exit status. */
int cmd_main(int argc, char **argv, const struct cmd_globals *g);

/* "auto", "always", "never". */
bool cmd_color_parse(const char *word, enum cmd_color *out);
/* `bough --help` on stdout. Returns the exit status. */
int cmd_usage(void);
/* The hidden `bough --dump-commands`: the table as JSON, for docs, completion and tests. */
int cmd_dump(void);
/* Says that `word` is no command and no path, with the nearest command's name; STATUS_USAGE. */
int cmd_unknown(const char *word);
/* "bough: ..." on stderr, one safe line. Returns `status`. */
int cmd_complain(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
