/*
 * parts.h - raw JSON values into the parts that an entry is shown as; what the
 * formats share when they fill a struct content.
 */
#ifndef BOUGH_FORMAT_PARTS_H
#define BOUGH_FORMAT_PARTS_H

#include "model/content.h"

/* The text of a raw string, at most `limit` bytes, in `a`. *more (may be NULL): it was cut. */
struct str parts_decode(struct arena *a, struct str raw, size_t limit, bool *more);
/* A part's text: a string decoded, anything else as it is written. */
void parts_set_text(
	struct content *c, struct part *part, struct arena *a, size_t limit, struct str raw);
/* bough's own words; the text is borrowed. */
void parts_add_note(struct content *c, struct arena *a, const char *text);

#endif
