/*
 * text.h - hostile bytes to safe text.
 *
 * Everything read from a session, path, configuration or error goes through
 * here before it reaches a terminal, a pipe or stderr. Rules:
 *
 *   - invalid UTF-8: one U+FFFD for each maximal bad run (TEXT_CONTROL);
 *   - C0, DEL, C1, U+2028/9: shown as "^X" (C0, DEL) or "<9B>" (hex);
 *   - bidi controls (U+061C, 200E/F, 202A-E, 2066-9), U+FEFF, U+00AD, U+200B,
 *     tag characters (U+E0000-E007F), fillers, noncharacters and other
 *     invisible format characters: shown as "<202E>", and they end a cluster;
 *   - tab: expands to the next multiple of 8 columns (or one space in
 *     one-line mode); newline ends a row (or shows as a space in one-line
 *     mode); CR before LF disappears;
 *   - grapheme clusters (utf8proc) are never split, but for one of more than
 *     48 bytes, which is shown as several; at most 4 marks of no width are
 *     kept behind each code point that has one (what a cell of ncurses holds),
 *     the rest is dropped;
 *   - width is the C library's wcwidth summed so that it equals what ncurses
 *     advances (utf8proc's table where the locale is not UTF-8); a width of -1
 *     counts as control. ZWJ (U+200D), ZWNJ and variation selectors are kept
 *     inside clusters that begin with something visible; they and any mark
 *     that begins a cluster are shown as "<200D>".
 *
 * The safe form of a safe text is the same text.
 */
#ifndef BOUGH_BASE_TEXT_H
#define BOUGH_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum text_kind {
	TEXT_PLAIN,   /* a cluster to show as it is */
	TEXT_CONTROL, /* a replacement such as ^[ or <202E>; draw in role CONTROL */
	TEXT_TAB,     /* bytes are empty; the caller expands it */
	TEXT_NEWLINE
};

/* One step of the walk. `bytes` is safe to print: valid UTF-8 without anything listed above. */
struct text_cluster {
	enum text_kind kind;
	char bytes[64];
	size_t n;        /* of bytes */
	int width;       /* columns; 0 only for TEXT_NEWLINE and TEXT_TAB */
	size_t src_n;    /* source bytes that this step used, > 0 */
};

/* The cluster at p[0..n), n > 0. Never fails. ASCII takes a short path. */
void text_next(const char *p, size_t n, struct text_cluster *out);

enum text_flags {
	TEXT_ONE_LINE = 1 << 0 /* newline and tab become one space, runs of white space one */
};

/* Appends the safe form of p[0..n) to out. Tabs and newlines stay bytes unless TEXT_ONE_LINE. */
void text_safe(struct buf *out, const char *p, size_t n, unsigned flags);
/* The one-line form into an array, cut behind the last cluster that fits, with a NUL. Returns its length. */
size_t text_safe_array(char *out, size_t size, const char *p, size_t n);
/* Columns of the safe one-line form. */
int text_width(const char *p, size_t n);
/*
 * How many source bytes fit in `cols` columns of the one-line form, stopping
 * at a newline. *used gets the columns taken, *cut whether something was left
 * (a newline that ends the text does not count). Both may be NULL. The cost
 * follows what fits, not n. 0 when not even the first cluster fits: a caller
 * that wraps has to step over it (text_next).
 */
size_t text_fit(const char *p, size_t n, int cols, int *used, bool *cut);

#endif
