/*
 * words.c - splits a command into words. Running it is the business of job.c.
 */
#include "config.h"

#include "base/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"

void words_add(struct words *w, const char *word)
{
	w->v = xrealloc(w->v, w->n + 2, sizeof(*w->v));
	w->v[w->n++] = xstrdup(word);
	w->v[w->n] = NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Adds what stands between quotes; returns the closing one, or NULL. */
static const char *quoted(const char *p, char quote, struct buf *word)
{
	for (; *p && *p != quote; p++) {
		if (quote == '"' && *p == '\\' && p[1] && strchr("\"\\$`\n", p[1]) && *++p == '\n')
			continue; /* a line that goes on */
		buf_addc(word, *p);
	}
	return *p ? p : NULL;
}

/* Adds one word; returns what follows it, or NULL when a quote is left open. */
static const char *one_word(const char *p, struct buf *word)
{
	for (; *p && !is_blank(*p); p++) {
		if (*p == '\'' || *p == '"') {
			p = quoted(p + 1, *p, word);
			if (!p)
				return NULL;
		} else if (*p == '\\' && p[1]) {
			if (*++p != '\n')
				buf_addc(word, *p);
		} else {
			buf_addc(word, *p);
		}
	}
	return p;
}

int words_split(struct words *w, const char *command, const char *name, struct err *err)
{
	struct buf word = { 0 };
	const char *p = command;
	int rc = 0;

	while (rc == 0 && *(p += strspn(p, " \t\n"))) {
		buf_clear(&word);
		p = one_word(p, &word);
		if (p)
			words_add(w, word.n ? word.p : "");
		else
			rc = err_set(err, ERR_USAGE, "%s has a quote that is left open", name);
	}
	if (rc == 0 && w->n == 0)
		rc = err_set(err, ERR_USAGE, "%s is blank", name);
	buf_release(&word);
	return rc;
}

void words_release(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
	*w = (struct words){ NULL, 0 };
}
