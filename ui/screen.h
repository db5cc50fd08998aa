/*
 * screen.h - the terminal: taking it, giving it back on every way out, keys.
 *
 * screen_open puts the terminal into its alternate screen and raw mode and
 * registers everything that gives it back: screen_close, the die() hook, and
 * handlers for the signals of a crash, which use only calls that are safe in
 * a handler. There is one screen a process.
 *
 * Headless mode ("80x24" in $BOUGH_HEADLESS) runs curses on /dev/null and
 * reads no keys: for scripted tests.
 */
#ifndef BOUGH_UI_SCREEN_H
#define BOUGH_UI_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ui/theme.h"

struct screen {
	bool is_headless;
	bool is_utf8;            /* the locale can show more than ASCII */
	bool is_gone;            /* the terminal went away */
	int colours;             /* 0, 8, 16, 88, 256 ... */
	int rows, cols;
	int fd;                  /* keys come from here; -1 headless */
};

/* ERR_UNSUPPORTED with a sentence: no terminal, or one that can not move its cursor. */
int screen_open(struct screen *s, bool mouse, struct err *err);
void screen_close(struct screen *s);
/* What the terminal can do, or mono when $NO_COLOR is set. */
enum theme_depth screen_depth(const struct screen *s);
/* Read the terminal's size again after SIGWINCH or SIGCONT. */
void screen_resize(struct screen *s);
/* Headless only. ERR_USAGE on a size that makes no sense. */
int screen_set_size(struct screen *s, const char *size, struct err *err);
/* Give the terminal to another program (an editor, the shell) and take it back. */
void screen_suspend(struct screen *s);
void screen_resume(struct screen *s);
/* In the background this brings SIGTTOU, which by default stops us until the shell gives it. */
void screen_await(struct screen *s);
/* As if it had been given away: after a stop that came unasked the shell has set modes of its own. */
void screen_retake(struct screen *s);
bool screen_is_ours(const struct screen *s); /* we are in the foreground */
/* Give it back at once, from a handler; every mode that was set is reset. */
void screen_restore(void);
/* The next key, if one is there. Never waits longer than an escape sequence needs. */
bool screen_key(struct screen *s, uint32_t *key);
/* After poll() said that the terminal is readable but no key came: is it gone? */
bool screen_check_gone(struct screen *s, short revents);
/* Bytes that we composed (a clipboard sequence), past curses. */
void screen_write(struct screen *s, const char *p, size_t n);

#endif
