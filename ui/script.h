/*
 * script.h - keys and commands from a file ($BOUGH_SCRIPT), for tests.
 *
 * A line is keys as in keys.conf with spaces between, words in double quotes
 * that are typed letter by letter, or ":command arg". Lines that begin with
 * '#' and empty lines are skipped. Each step waits until no job is pending;
 * headless, the program ends with the script.
 */
#ifndef BOUGH_UI_SCRIPT_H
#define BOUGH_UI_SCRIPT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct ui;

struct script {
	struct buf text;
	struct str rest;  /* of the file */
	struct str line;  /* rest of the line of keys, or of the quoted word */
	bool in_word;
	bool is_done;
	bool has_failed;
};

int script_open(struct script **out, const char *path, struct err *err);
void script_free(struct script **s);
/* The next key or command. Call it when nothing is pending. */
void script_step(struct ui *ui);
/* Write a file NAME in $BOUGH_SCRIPT_OUT or the current folder; the name has no slash. */
int script_save(const char *name, struct str text, struct err *err);

#endif
