/*
 * outside.h - other programs and the terminal's clipboard.
 *
 * Commands come from the environment and are split at blanks; no shell sees
 * them, nor any text of a session.
 */
#ifndef BOUGH_UI_OUTSIDE_H
#define BOUGH_UI_OUTSIDE_H

#include "base/buf.h"
#include "base/err.h"

struct ui;

/*
 * Write a text in $VISUAL or $EDITOR: a temporary file (0600) with `initial`
 * and below it `notes` (base/draft.h). On success `out` holds what
 * was written, without the notes and without empty lines at either end, and
 * *path the file's name (yours), so that a text can be kept when it could not
 * be used; outside_drop removes it.
 */
int outside_edit(struct ui *ui, const char *notes, struct str initial, struct buf *out, char **path,
	struct err *err);
void outside_drop(char **path);

/*
 * To the clipboard: through $BOUGH_COPY when it is set, else OSC 52. The text is
 * made safe. The status line says what was copied, or why it was not.
 */
void outside_copy(struct ui *ui, struct str text, bool is_id);

#endif
