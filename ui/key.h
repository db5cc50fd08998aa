/*
 * key.h - keys as numbers and as text.
 *
 * A key is a Unicode code point (control keys are 1..31) or one of enum
 * key_code. Its text is the character, "^d" for control keys, or a name in
 * angle brackets: <Enter>, <Space>, <Up>, <F5>, <Comma>. A sequence is keys
 * with spaces between; alternatives are separated by commas.
 */
#ifndef BOUGH_UI_KEY_H
#define BOUGH_UI_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum key_code {
	K_TAB = 9,
	K_ENTER = 13,
	K_ESC = 27,
	K_SPACE = 32,
	K_FIRST = 0x200000,
	K_UP = K_FIRST,
	K_DOWN,
	K_LEFT,
	K_RIGHT,
	K_HOME,
	K_END,
	K_PAGE_UP,
	K_PAGE_DOWN,
	K_INSERT,
	K_DELETE,
	K_BACKSPACE,
	K_BACKTAB,
	K_MOUSE,
	K_F1 /* to F12 */
};

#define KEY_SEQ_MAX 4

struct key_seq {
	uint32_t key[KEY_SEQ_MAX];
	size_t n;
};

void key_text(uint32_t key, struct buf *out);
/* One key at the start of *rest, which moves behind it. */
int key_parse(struct str *rest, uint32_t *key, struct err *err);
/* One sequence "g g" at the start of *rest, up to a comma (taken) or the end. 1: one, 0: nothing left. */
int key_seq_parse(struct str *rest, struct key_seq *out, struct err *err);
void key_seq_name(const struct key_seq *seq, struct buf *out);
static inline uint32_t key_ctrl(char c)
{
	return (uint32_t)(c & 0x1f);
}

#endif
