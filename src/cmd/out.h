/*
 * out.h - what commands print: safe, buffered, coloured only where wanted.
 *
 * Whatever is given to out_text() and its relatives passes through base/text.h,
 * so that no byte of a session can steer the terminal behind a pipe. Only
 * out_style() emits escapes, and only out_own() and out_json() emit text as it
 * is: our own literals, and JSON with what could steer escaped.
 *
 * A write error is remembered and said by out_close(); a reader that went away
 * (EPIPE) is no error: the rest is dropped in silence.
 */
#ifndef BOUGH_CMD_OUT_H
#define BOUGH_CMD_OUT_H

#include <stdbool.h>

#include "base/buf.h"

enum out_style {
	STYLE_NONE,
	STYLE_DIM,
	STYLE_HEAD,
	STYLE_ID,
	STYLE_USER,
	STYLE_ASSISTANT,
	STYLE_TOOL,
	STYLE_LABEL,
	STYLE_TIP,
	STYLE_DAMAGE
};

struct out {
	int fd;
	struct buf buf;
	struct buf scratch;
	bool color;
	bool is_terminal;
	int columns;     /* of the terminal, 0 where lines are not cut */
	bool is_closed;  /* nobody reads any more */
	int error;       /* errno of the first failed write */
};

void out_init(struct out *o, int fd, bool color);
void out_style(struct out *o, enum out_style style);
/* Any text; newlines and tabs stay. */
void out_text(struct out *o, const char *p, size_t n);
void out_str(struct out *o, struct str s);
void out_puts(struct out *o, const char *s);
void out_printf(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Literals of ours, as they are. */
void out_own(struct out *o, const char *literal);
/* One line: newlines and tabs become spaces. */
void out_words(struct out *o, struct str s);
void out_words_in(struct out *o, enum out_style style, struct str s);
/* The same cut to `cols` columns ('~' marks the cut); cols <= 0 does not cut. Returns the columns used. */
int out_fit(struct out *o, struct str s, int cols);
/* Each line of s behind `indent` spaces; ends with a newline. */
void out_block(struct out *o, struct str s, int indent);
void out_pad(struct out *o, int cols);
/* JSON text: whatever could steer a terminal becomes \uXXXX, which leaves the values as they are. */
void out_json(struct out *o, struct str json);
/* Text byte for byte; for a terminal like out_json. */
void out_exact(struct out *o, struct str json);
bool out_is_alive(const struct out *o);
void out_flush(struct out *o);
/* Flushes and frees; 0 or the errno of the first failed write. */
int out_close(struct out *o);

#endif
