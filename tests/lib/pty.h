/*
 * pty.h - a program on a pseudo terminal of its own: keys in, output out, and
 * the state that it leaves the terminal in. Waiting is for a text, with a
 * deadline; a failure in here is a failure of the test: message and exit 1.
 */
#ifndef BOUGH_TESTS_PTY_H
#define BOUGH_TESTS_PTY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

#include "base/buf.h"

struct pty {
	pid_t pid;
	int fd;               /* the other end of its terminal */
	struct buf out;       /* everything that came */
	size_t seen;          /* of that, what pty_expect has gone past */
	struct termios first; /* the terminal's modes at the start */
	const char *what;     /* for messages; borrowed, may be NULL */
};

/*
 * argv[0] is looked up in $PATH. The program leads a session, has the terminal
 * (80x24), TERM ($PTY_TERM, else xterm-256color) and every signal as a login shell has it.
 */
void pty_start(struct pty *t, const char *const argv[]);
/*
 * A shell with job control, its prompt expected: PTY_PROMPT. Words that shall be
 * expected of a program must not stand like that in the line that is sent, for it is echoed.
 */
#define PTY_PROMPT "READY> "
void pty_start_shell(struct pty *t, const char *shell);
/* The same on a screen, which is drawn again for it: curses sends only cells that differ. */
void pty_expect_drawn(struct pty *t, const char *text);
/* Waits for a text and gives what stands behind it up to `end`, yours. */
char *pty_expect_word(struct pty *t, const char *text, char end);
bool pty_pump(struct pty *t, int ms); /* take what comes; false when nothing can come any more */
bool pty_has(const struct pty *t, const char *text);
void pty_expect(struct pty *t, const char *text); /* behind what was expected before */
void pty_await_group(struct pty *t, pid_t group); /* until it has the terminal */
void pty_send(struct pty *t, const char *keys);
int pty_wait(struct pty *t); /* until it has ended; its wait status */
/*
 * The terminal as it was at the start: its modes, and those that are set by escape
 * sequences (alternate screen, cursor, mouse, keypad, bracketed paste).
 */
void pty_check_modes(struct pty *t);
void pty_close(struct pty *t);

#endif
