/*
 * doc-text.h - the text of a document before jansson reads it and after it
 * wrote it. Apart from doc.c because jansson's names and scan.h's collide.
 * Private to src/json.
 */
#ifndef BOUGH_JSON_DOC_TEXT_H
#define BOUGH_JSON_DOC_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends text with the lines blanked whose first non-blank byte is '#'; places stay the same. */
void doc_blank_comments(struct str text, struct buf *out);
/* Whether text is one JSON value; err tells line and column. */
int doc_check(struct str text, struct err *err);
/*
 * Appends checked text with what jansson refuses or changes put into words it
 * takes: a lone surrogate escape, and \u0000 in a key, become \ufffd; a number
 * that is no integer of 64 bits becomes a string that begins with DOC_MARK.
 */
void doc_tame(struct str text, struct buf *out);
enum { DOC_MARK = 1 };
/* Appends s as jansson is to keep it: U+FFFD for invalid UTF-8, a mark of its own doubled. */
void doc_keep_string(struct str s, struct buf *out);
/* The string again; false: it is a number, as it stood in the text. */
bool doc_take_string(struct str *kept);
/* Appends dumped text with strings and numbers as they were. */
void doc_unmark(struct str dump, struct buf *out);
/* Appends dumped text with everything that is not to reach a terminal as \uXXXX. */
void doc_escape(struct str dump, struct buf *out);

#endif
