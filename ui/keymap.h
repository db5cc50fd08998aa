/*
 * keymap.h - key sequences to commands.
 *
 * One trie for each table of commands: the generic one and one a kind of
 * view. Look-up tries the view's first. The defaults come from the tables;
 * a keys.conf (JSON with '#' comment lines) replaces a command's keys:
 *
 *   { "session": { "checkout": "c, <F6>" }, "generic": { "quit": "" } }
 */
#ifndef BOUGH_UI_KEYMAP_H
#define BOUGH_UI_KEYMAP_H

#include "base/buf.h"
#include "base/err.h"
#include "ui/command.h"
#include "ui/key.h"

struct keymap;

enum key_match { KEYS_NONE, KEYS_PREFIX, KEYS_COMMAND };

struct keymap *keymap_new(void); /* with the defaults */
void keymap_free(struct keymap **km);
/* Over what is bound already. On failure nothing is changed. */
int keymap_load(struct keymap *km, struct str text, struct err *err);
enum key_match keymap_find(const struct keymap *km, size_t map, const uint32_t *keys, size_t n,
	const struct command **out);
/* The sequences of a command as seen from `map`, "z, <Space>"; "" when unbound. max 0: all. */
void keymap_keys(const struct keymap *km, size_t map, const struct command *c, size_t max,
	struct buf *out);
/* The defaults as the text of a keys.conf; data/keys.conf is what this gives. */
void keymap_dump(struct buf *out);

#endif
