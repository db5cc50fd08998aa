/*
 * compose.h - a text from a person, written in an editor.
 *
 * compose() puts a draft (base/draft.h) into a private file in $TMPDIR, runs
 * $VISUAL, $EDITOR or vi on it (words.h, job.h), and reads it back by its name,
 * for editors put a new file in its place. Only a regular file of the user is
 * read; no link is followed.
 *
 * Nobody's words are thrown away: the file is there until compose_drop(), and
 * when compose() fails it is kept if it was changed, or if a signal ended the
 * wait and the editor may still save. Then `path` says where; it is NULL when
 * nothing was kept. compose_release() frees the memory and leaves the file.
 */
#ifndef BOUGH_BASE_COMPOSE_H
#define BOUGH_BASE_COMPOSE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

enum { COMPOSE_MAX = 64 << 20 }; /* bytes of a text that is read */

struct composed {
	struct buf text;  /* what was written, without the notes */
	char *path;
	bool is_changed;  /* the file is not the one that the editor was given */
	int ended_by;     /* as in job.h: say where the text is, then signals_end_by() */
};

/* Who has a screen puts it aside for the editor; without `take` when a signal ended the wait. */
struct compose_screen {
	void (*give)(void *arg);
	void (*take)(void *arg);
	void *arg;
};

/*
 * `screen` may be NULL. ERR_CANCELLED: the editor failed, or a signal came while it was
 * open. ERR_LIMIT: the text is too long.
 */
int compose(struct composed *c, struct str initial, struct str words,
	const struct compose_screen *screen, struct err *err);
/* Removes the file, for what was written has arrived or is nothing. */
void compose_drop(struct composed *c);
void compose_release(struct composed *c);
/* Adds all of `fd`, at most COMPOSE_MAX bytes; `name` is for the sentence. */
int compose_read(int fd, const char *name, struct buf *text, struct err *err);
/* Writes all of it; -1 and errno when it can not. */
int compose_write(int fd, struct str text);

#endif
