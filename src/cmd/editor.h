/*
 * editor.h - a text from a person: written in $VISUAL or $EDITOR, or in a file.
 */
#ifndef BOUGH_CMD_EDITOR_H
#define BOUGH_CMD_EDITOR_H

#include "base/buf.h"
#include "base/err.h"

enum { EDITOR_MAX = 64 << 20 };

/*
 * Shows `header` (lines, made safe by the caller) as comments above `text` and
 * leaves in `text` what was written below. One newline at the end is not part
 * of it. ERR_CANCELLED when only blanks are left or the editor failed.
 */
int editor_compose(struct str header, struct buf *text, struct err *err);
/* A whole file that the user names, "-" for standard input; at most EDITOR_MAX bytes. */
int editor_read_file(const char *path, struct buf *text, struct err *err);

#endif
