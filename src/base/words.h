/*
 * words.h - the words of a command that the user named ($EDITOR, $BOUGH_COPY).
 *
 * Split as a shell splits them - blanks, '...', "..." and backslashes - but no
 * shell sees them and nothing is expanded: "$", "~" and "*" are themselves.
 */
#ifndef BOUGH_BASE_WORDS_H
#define BOUGH_BASE_WORDS_H

#include <stddef.h>

#include "base/err.h"

struct words {
	char **v; /* v[n] is NULL, so that it can be an argument vector */
	size_t n;
};

/*
 * `name` is the variable that it came from, for the sentence. ERR_USAGE: there is
 * no word in it, or a quote is left open. Release it either way.
 */
int words_split(struct words *w, const char *command, const char *name, struct err *err);
void words_add(struct words *w, const char *word); /* copied */
void words_release(struct words *w);

#endif
