/*
 * editor.h - a text from a person: written in $VISUAL or $EDITOR, or in a file.
 */
#ifndef BOUGH_CMD_EDITOR_H
#define BOUGH_CMD_EDITOR_H

#include "base/compose.h"

/*
 * Shows `text` with `words` as notes below it and leaves in `text` what was
 * written. ERR_CANCELLED when only blanks are left, the editor failed, or the
 * draft came back unchanged and `must_change`. What was kept is in `c` (base/compose.h).
 */
int editor_compose(struct composed *c, struct str words, bool must_change, struct buf *text,
	struct err *err);
/* A whole file that the user names, "-" for standard input; at most COMPOSE_MAX bytes. */
int editor_read_file(const char *path, struct buf *text, struct err *err);

#endif
