/*
 * page-lang.h - the languages whose code is coloured: one row a language.
 */
#ifndef BOUGH_UI_PAGE_LANG_H
#define BOUGH_UI_PAGE_LANG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum lang_flags {
	LANG_NOCASE = 1 << 0,      /* keywords in any case */
	LANG_TRIPLE = 1 << 1,      /* three quotes open a string of many lines */
	LANG_BACKTICK = 1 << 2,    /* so does ` */
	LANG_HASH_WORD = 1 << 3,   /* # is a comment at the start of a word only */
	LANG_CHAR = 1 << 4,        /* ' is a quote only where it closes soon (Rust lifetimes) */
	LANG_PREPROC = 1 << 5,     /* # and the word behind it at the start of a line */
	LANG_KEYS = 1 << 6,        /* a word and : or = at the start of a line is a key */
	LANG_DOLLAR = 1 << 7       /* $name and ${name} */
};

enum lang_kind { LANG_WORDS, LANG_JSON, LANG_DIFF, LANG_MARKUP };

struct lang {
	const char *names;         /* as written in a fence, lower case, between spaces */
	enum lang_kind kind;       /* which tokenizer; the rest is for LANG_WORDS */
	unsigned flags;
	const char *line_comment[2];
	const char *open, *close;  /* of a comment of many lines */
	const char *quotes;
	const char *const *words;  /* keywords, sorted */
	size_t nwords;
};

const struct lang *lang_find(struct str name); /* NULL: unknown */
bool lang_is_keyword(const struct lang *lang, const char *s, size_t n);
const struct lang *lang_table(size_t *n); /* for the tests */

#endif
