/*
 * content.h - what one entry says, as a list of parts for a pane or a page.
 *
 * Decoded on demand into an arena. Texts are unsanitised UTF-8 (they may hold
 * any code point, NUL too); whoever draws them goes through base/text.h.
 */
#ifndef BOUGH_MODEL_CONTENT_H
#define BOUGH_MODEL_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

enum part_kind {
	PART_TEXT,      /* Markdown */
	PART_PLAIN,     /* text to show as it is: tool output, system prompts */
	PART_REASONING,
	PART_CALL,      /* a tool call: name, ref = call id, text = arguments (JSON as text) */
	PART_RESULT,    /* a tool's result: name, ref = call id, text, failed */
	PART_JSON,      /* raw JSON to indent */
	PART_META,      /* name = key, text = value: one row */
	PART_IMAGE,     /* name = type, text = a description; nothing is decoded */
	PART_NOTE       /* bough's own words about the entry */
};

struct part {
	enum part_kind kind;
	struct str name, ref, text;
	bool failed;
	bool more;        /* text was cut at the limit */
	uint64_t whole;   /* bytes of the whole raw text, for the "N more" line */
	uint32_t entry;   /* PART_RESULT under its call: the entry that holds it; else ENTRY_NONE */
};

struct content {
	struct part *v;
	size_t n, cap;
	bool more;        /* some part was cut */
	const char *role; /* as written in the file, for unknown ones; in the arena */
};

struct part *content_add(struct content *c, struct arena *a, enum part_kind kind); /* zeroed, entry none */

#endif
