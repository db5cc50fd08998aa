/*
 * editor.h - a text from a person: written in $VISUAL or $EDITOR, or in a file.
 */
#ifndef BOUGH_CMD_EDITOR_H
#define BOUGH_CMD_EDITOR_H

#include "base/buf.h"
#include "base/err.h"

enum { EDITOR_MAX = 64 << 20 };

/*
 * Shows `text` with `words` as notes below it (base/draft.h) and leaves in `text`
 * what was written. ERR_CANCELLED when only blanks are left or the editor failed.
 *
 * On success the file is still there, so that nobody's words are lost when
 * they can not be used: *path_out is its name, yours to free. editor_discard()
 * removes it.
 */
int editor_compose(struct str words, struct buf *text, char **path_out, struct err *err);
void editor_discard(char **path);
/* A whole file that the user names, "-" for standard input; at most EDITOR_MAX bytes. */
int editor_read_file(const char *path, struct buf *text, struct err *err);

#endif
