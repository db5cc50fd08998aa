/*
 * outside.h - other programs and the terminal's clipboard.
 *
 * Commands come from the environment and are split into words (base/words.h);
 * no shell sees them, nor any text of a session.
 */
#ifndef BOUGH_UI_OUTSIDE_H
#define BOUGH_UI_OUTSIDE_H

#include <stdbool.h>

#include "base/compose.h"

struct ui;

/*
 * compose() with the screen put aside meanwhile. When a signal ended the wait,
 * the browser ends with it: nothing is drawn any more, and what shall be said
 * goes to ui_last_words().
 */
int outside_edit(struct ui *ui, struct str notes, struct str initial, struct composed *c,
	struct err *err);

/*
 * To the clipboard: through $BOUGH_COPY when it is set, else OSC 52. The text is
 * made safe. The status line says what was copied, or why it was not.
 */
void outside_copy(struct ui *ui, struct str text, bool is_id);

#endif
