/*
 * draft.h - the text that a person is given to edit, and what came of it.
 *
 * Notes stand below the text, where the editor does not open, each line behind
 * "#: ". Whatever is written counts, wherever it stands: only lines that are
 * still exactly a note are left out, so that a line of the person's own may
 * begin with '#'.
 */
#ifndef BOUGH_BASE_DRAFT_H
#define BOUGH_BASE_DRAFT_H

#include "base/buf.h"

/* Adds the draft to `out`; `notes` gets its lines as they stand there, for draft_take. */
void draft_make(struct buf *out, struct str initial, struct str words, struct buf *notes);
/* Adds what was written, without the notes and without blank lines at either end. */
void draft_take(struct str text, struct str notes, struct buf *out);

#endif
