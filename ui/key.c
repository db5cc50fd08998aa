/*
 * key.c - names of keys, both ways. It knows no curses and no bindings.
 */
#include "config.h"

#include "ui/key.h"

#include <string.h>

#include "base/utf8.h"

static const struct {
	const char *name;
	uint32_t key;
} names[] = {
	{ "Tab", K_TAB }, { "Enter", K_ENTER }, { "Esc", K_ESC }, { "Space", K_SPACE },
	{ "Up", K_UP }, { "Down", K_DOWN }, { "Left", K_LEFT }, { "Right", K_RIGHT },
	{ "Home", K_HOME }, { "End", K_END }, { "PageUp", K_PAGE_UP }, { "PageDown", K_PAGE_DOWN },
	{ "Insert", K_INSERT }, { "Delete", K_DELETE }, { "Backspace", K_BACKSPACE },
	{ "BackTab", K_BACKTAB }, { "Mouse", K_MOUSE }, { "Comma", ',' }, { "Less", '<' },
	{ "Quote", '"' },
	{ "F1", K_F1 }, { "F2", K_F1 + 1 }, { "F3", K_F1 + 2 }, { "F4", K_F1 + 3 },
	{ "F5", K_F1 + 4 }, { "F6", K_F1 + 5 }, { "F7", K_F1 + 6 }, { "F8", K_F1 + 7 },
	{ "F9", K_F1 + 8 }, { "F10", K_F1 + 9 }, { "F11", K_F1 + 10 }, { "F12", K_F1 + 11 },
};
#define NNAMES (sizeof(names) / sizeof(*names))

void key_text(uint32_t key, struct buf *out)
{
	char utf8[4];

	for (size_t i = 0; i < NNAMES; i++) {
		if (names[i].key == key && key != '<' && key != '"') {
			buf_printf(out, "<%s>", names[i].name);
			return;
		}
	}
	if (key < 32)
		buf_printf(out, "^%c", (char)(key == 0 ? '@' : key | 0x60));
	else if (key < K_FIRST)
		buf_add(out, utf8, utf8_encode(key, utf8));
}

static bool named(struct str word, uint32_t *key)
{
	for (size_t i = 0; i < NNAMES; i++) {
		if (word.n == strlen(names[i].name) + 2 &&
		    memcmp(word.p + 1, names[i].name, word.n - 2) == 0) {
			*key = names[i].key;
			return true;
		}
	}
	return false;
}

int key_parse(struct str *rest, uint32_t *key, struct err *err)
{
	struct str word = { rest->p, 0 };
	const char *end;

	if (rest->n > 1 && rest->p[0] == '<' && (end = memchr(rest->p, '>', rest->n)) != NULL &&
	    end > rest->p + 1) {
		word.n = (size_t)(end - rest->p) + 1;
		if (!named(word, key))
			return err_set(err, ERR_USAGE, "no such key: '%.*s'", (int)word.n, word.p);
	} else if (rest->n > 1 && rest->p[0] == '^' && rest->p[1] != ' ' && rest->p[1] != ',') {
		char c = rest->p[1];
		if (c >= 'A' && c <= 'Z')
			c = (char)(c + 'a' - 'A');
		if ((c < 'a' || c > 'z') && !strchr("@[\\]^_", c))
			return err_set(err, ERR_USAGE, "no such control key: '^%c'", rest->p[1]);
		*key = key_ctrl(c);
		word.n = 2;
	} else if (rest->n > 0) {
		word.n = utf8_decode(rest->p, rest->n, key);
		if (*key == UTF8_BAD)
			return err_set(err, ERR_USAGE, "a key is not valid UTF-8");
	} else {
		return err_set(err, ERR_USAGE, "a key is missing");
	}
	rest->p += word.n;
	rest->n -= word.n;
	return 0;
}

static void skip_blanks(struct str *rest)
{
	while (rest->n > 0 && *rest->p == ' ') {
		rest->p++;
		rest->n--;
	}
}

int key_seq_parse(struct str *rest, struct key_seq *out, struct err *err)
{
	int rc;

	out->n = 0;
	skip_blanks(rest);
	while (rest->n > 0 && *rest->p != ',') {
		if (out->n == KEY_SEQ_MAX)
			return err_set(err, ERR_LIMIT, "a key sequence is longer than %d keys", KEY_SEQ_MAX);
		rc = key_parse(rest, &out->key[out->n], err);
		if (rc < 0)
			return rc;
		out->n++;
		if (rest->n > 0 && *rest->p != ' ' && *rest->p != ',')
			return err_set(err, ERR_USAGE, "keys of a sequence need a space between them");
		skip_blanks(rest);
	}
	if (rest->n > 0) { /* the comma */
		rest->p++;
		rest->n--;
		if (out->n == 0)
			return err_set(err, ERR_USAGE, "a key is missing before a comma");
	}
	return out->n > 0;
}

void key_seq_name(const struct key_seq *seq, struct buf *out)
{
	for (size_t i = 0; i < seq->n; i++) {
		if (i > 0)
			buf_addc(out, ' ');
		key_text(seq->key[i], out);
	}
}
