/*
 * session-flags.h - the words that a session's row has for its state: what the
 * list shows of them, and what its filter looks at.
 */
#ifndef BOUGH_UI_SESSION_FLAGS_H
#define BOUGH_UI_SESSION_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "store/store.h"
#include "ui/cell.h"

enum { SESSION_FLAGS = 8 };

struct session_flag {
	enum role role;
	char text[32];
	const char *brief; /* where there is no room for the text; may be the same */
};

/* The most important one first. */
size_t session_flags(const struct session_row *row, struct session_flag out[SESSION_FLAGS]);
int session_flags_cols(const struct session_row *row); /* of all of them, one space between two */
/* In `cols` columns: what does not fit is shortened, then left out, the last one first. */
void session_flags_draw(const struct session_row *row, int cols, struct rowbuf *out);
/* All that a row says, one a line, for the filter. is_lone: its parent is nowhere. */
void session_words(const struct session_row *row, bool is_lone, struct buf *out);

#endif
