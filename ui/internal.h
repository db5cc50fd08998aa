/*
 * internal.h - the browser's state and what its parts call of each other.
 */
#ifndef BOUGH_UI_INTERNAL_H
#define BOUGH_UI_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"
#include "ui/draw.h"
#include "ui/keymap.h"
#include "ui/prompt.h"
#include "ui/screen.h"
#include "ui/script.h"
#include "ui/status.h"
#include "ui/theme.h"
#include "ui/ui.h"

struct view;

struct ui {
	const struct ui_options *opt;
	struct store *store;
	struct screen screen;
	struct theme theme;
	struct draw draw;
	struct keymap *keys;
	struct view *top;
	struct prompt prompt;
	struct status status;
	struct script *script;     /* NULL: none */
	struct watch *watch;
	uint64_t changed_at;       /* monotonic us when the watch spoke; 0: it did not */
	uint32_t pending[KEY_SEQ_MAX];
	size_t npending;
	bool wrap;
	bool dirty;                /* something must be drawn */
	uint64_t drawn_at;         /* monotonic us of the last frame */
	bool quit;
	int end_signal;            /* the signal that ends the program, or 0 */
	struct buf last_words;     /* said when the terminal is given back; n 0: nothing */
	struct done last_trash;    /* for undo; path[0] 0: none */
};

/* The status line; what is formatted in is made safe. */
void ui_say(struct ui *ui, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ui_error(struct ui *ui, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* For when the program ends before anybody can read the status line: a line on stderr then. */
void ui_last_words(struct ui *ui, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ui_key(struct ui *ui, uint32_t key);
void ui_apply(struct ui *ui, struct view *v, enum effect fx);
bool ui_is_idle(const struct ui *ui);  /* no job is unfinished */
void ui_draw(struct ui *ui);
void ui_watch_again(struct ui *ui);    /* the views changed: watch their directories */
void ui_cancel(struct ui *ui);         /* ^C */
void ui_changed(struct ui *ui);        /* something changed on disk: tell every view */
/* loop.c */
int loop_init(struct ui *ui, struct err *err);
void loop_release(void);
void loop_run(struct ui *ui);
void loop_suspend(struct ui *ui);      /* ^Z */
/* Is it the key that suspends, also where keys are text? */
bool loop_suspends(const struct ui *ui, uint32_t key);

#endif
