/*
 * draft.c - makes a draft and takes its notes out again. Files and editors are
 * the business of who shows it.
 */
#include "config.h"

#include "base/draft.h"

#include <string.h>

#include "base/text.h"

/* Editors open at the first line: the text begins there, the notes follow. */
void draft_make(struct buf *out, struct str initial, struct str words, struct buf *notes)
{
	while (words.n > 0) {
		const char *nl = memchr(words.p, '\n', words.n);
		size_t n = nl ? (size_t)(nl - words.p) : words.n;

		buf_adds(notes, "#: ");
		text_safe(notes, words.p, n, 0);
		buf_addc(notes, '\n');
		n += nl != NULL;
		words.p += n;
		words.n -= n;
	}
	buf_addstr(out, initial);
	buf_addc(out, '\n');
	buf_addstr(out, buf_str(notes));
}

/* Whether `line` is exactly one of the lines of `notes`. */
static bool is_note(struct str notes, struct str line)
{
	while (notes.n > 0) {
		const char *nl = memchr(notes.p, '\n', notes.n);
		size_t n = nl ? (size_t)(nl - notes.p) : notes.n;

		if (n == line.n && memcmp(notes.p, line.p, n) == 0)
			return true;
		n += nl ? 1 : 0;
		notes.p += n;
		notes.n -= n;
	}
	return false;
}

static bool is_blank(struct str line)
{
	while (line.n > 0 && memchr(" \t\r\n", line.p[0], 4)) {
		line.p++;
		line.n--;
	}
	return line.n == 0;
}

void draft_take(struct str text, struct str notes, struct buf *out)
{
	size_t start = out->n;

	while (text.n > 0) {
		const char *nl = memchr(text.p, '\n', text.n);
		struct str line = { text.p, nl ? (size_t)(nl - text.p) : text.n };
		size_t n = line.n + (nl ? 1 : 0);

		/* empty lines at the top go, too */
		if (!is_note(notes, line) && (out->n > start || !is_blank(line)))
			buf_add(out, text.p, n);
		text.p += n;
		text.n -= n;
	}
	while (out->n > start && memchr(" \t\r\n", out->p[out->n - 1], 4))
		out->p[--out->n] = '\0';
}
