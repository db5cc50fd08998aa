/*
 * fuzz-settings.c - what a person may write into keys.conf, a theme, bough.conf
 * and a script: the parsers take anything; what they refuse changes nothing,
 * key names come back as they were, rows of cells never overflow.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "base/draft.h"
#include "ui/cell.h"
#include "ui/keymap.h"
#include "ui/settings.h"
#include "ui/theme.h"

static void all_keys(const struct keymap *km, struct buf *out)
{
	buf_clear(out);
	for (size_t m = 0; m < command_nmaps(); m++)
		for (size_t i = 0; i < command_map(m)->n; i++)
			keymap_keys(km, m, &command_map(m)->v[i], 0, out);
}

static void try_keymap(struct str text)
{
	static struct buf before, after;
	struct keymap *km = keymap_new();
	struct err err = { 0 };

	all_keys(km, &before);
	if (keymap_load(km, text, &err) < 0) {
		HOLDS(err.text[0]);
		all_keys(km, &after);
		HOLDS(before.n == after.n && memcmp(before.p, after.p, after.n) == 0);
	}
	keymap_free(&km);
}

static void try_sequence(struct str text)
{
	struct key_seq seq, again;
	struct buf name = { 0 };

	while (key_seq_parse(&text, &seq, NULL) == 1) {
		struct str rest;
		buf_clear(&name);
		key_seq_name(&seq, &name);
		rest = (struct str){ name.n ? name.p : "", name.n };
		if (memchr(rest.p, '\0', rest.n) || strstr(rest.p, " <") || name.n == 0)
			continue;
		if (key_seq_parse(&rest, &again, NULL) == 1)
			HOLDS(again.n == seq.n);
	}
	buf_release(&name);
}

static void try_theme(struct str text)
{
	struct theme t, before;

	HOLDS(theme_init(&t, "dark", THEME_256, NULL) == 0);
	before = t;
	if (theme_parse(&t, text, THEME_256, NULL) < 0)
		HOLDS(memcmp(&t, &before, sizeof(t)) == 0);
	for (int i = 0; i < ROLE_COUNT; i++)
		HOLDS(t.style[i].fg >= -1 && t.style[i].fg < 256);
}

static void try_row(struct str text)
{
	static struct rowbuf rb;

	for (int cols = 0; cols < 40; cols += 3) {
		int skip = cols / 2;
		row_start(&rb, cols, cols & 1);
		row_text(&rb, ROLE_NORMAL, text.p, text.n);
		HOLDS(rb.n <= cols);
		for (int i = 0; i < rb.n; i++)
			HOLDS(rb.cells[i].width == 0 || i + rb.cells[i].width <= rb.n);
		for (size_t i = 0; i < rb.text.n; i++)
			HOLDS((unsigned char)rb.text.p[i] >= 32 && rb.text.p[i] != 127);
		row_start(&rb, cols, false);
		row_field(&rb, ROLE_NORMAL, text.p, text.n, cols / 2);
		HOLDS(rb.n == cols / 2);
		row_field_right(&rb, ROLE_NORMAL, text.p, text.n, cols - rb.n);
		HOLDS(rb.n == cols);
		row_start(&rb, cols, false);
		row_span(&rb, ROLE_NORMAL, text.p, text.n, &skip);
		HOLDS(rb.n <= cols);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str text = { (const char *)data, n };
	struct settings s;
	struct buf out = { 0 };

	if (n == 0)
		text.p = "";
	settings_init(&s);
	settings_parse(&s, text, NULL);
	settings_release(&s);
	try_keymap(text);
	try_sequence(text);
	try_theme(text);
	try_row(text);
	draft_take(text, (struct str){ text.p, n / 2 }, &out);
	HOLDS(out.n <= n);
	buf_release(&out);
	return 0;
}
