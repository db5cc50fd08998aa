/*
 * prompt.h - one line of input in the status line: search, filter, names,
 * the command line, and yes/no questions.
 *
 * While a prompt is open it gets every key. `done` is called once, with NULL
 * when the person cancelled; `change` after every edit.
 */
#ifndef BOUGH_UI_PROMPT_H
#define BOUGH_UI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "ui/cell.h"
#include "ui/command.h"

struct ui;
struct view;

enum history_kind { HISTORY_NONE, HISTORY_SEARCH, HISTORY_FILTER, HISTORY_COMMAND, HISTORY_TEXT,
	HISTORY_COUNT };

struct candidates {
	char **v;
	size_t n, cap;
};
void candidates_add(struct candidates *c, const char *text);

struct prompt_spec {
	char label[120];
	const char *initial; /* text to begin with, copied; NULL: none */
	enum history_kind history;
	bool is_question;    /* y or n; done gets "y" or NULL */
	enum effect (*done)(struct view *v, const char *text);
	enum effect (*change)(struct view *v, const char *text);
	/* Words that can stand for the whole text so far. */
	void (*complete)(struct view *v, const char *text, struct candidates *out);
};

struct history {
	char **v; /* oldest first */
	size_t n, cap;
};

struct prompt {
	bool is_open;
	struct prompt_spec spec;
	struct buf text;
	size_t at;                 /* cursor: bytes before it */
	size_t recalled;           /* index in the history; n: the text being written */
	struct buf draft;          /* that text while an old one is shown */
	struct candidates words;   /* of the running completion */
	size_t word;
	struct history history[HISTORY_COUNT];
};

void prompt_open(struct ui *ui, const struct prompt_spec *spec);
void prompt_key(struct ui *ui, uint32_t key);
void prompt_draw(struct ui *ui, struct rowbuf *rb, int y);
void prompt_release(struct prompt *p);

#endif
