/*
 * screen.c - owns the terminal: curses set-up, restoring it on every way out
 * (normal, die(), crash), suspending, size, and reading keys. It draws nothing.
 */
#include "config.h"

#include "ui/screen.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "base/signals.h"
#include "base/xalloc.h"
#include "ui/key.h"

#define SIZE_MAX_COLS 1000
#define SIZE_MAX_ROWS 1000

/* What a signal handler needs to put the terminal back; filled before it can run. */
static struct {
	volatile sig_atomic_t active;
	int fd;
	char seq[256];
	size_t n;
	struct termios saved;
} restore;

static SCREEN *curses_screen;
static FILE *null_out, *null_in;
static char alt_stack[64 * 1024];

/* Only async-signal-safe calls; a terminal that takes nothing more does not hold us up. */
void screen_restore(void)
{
	int flags;

	if (!restore.active)
		return;
	restore.active = 0;
	tcsetattr(restore.fd, TCSANOW, &restore.saved);
	flags = fcntl(restore.fd, F_GETFL);
	if (flags >= 0)
		fcntl(restore.fd, F_SETFL, flags | O_NONBLOCK);
	ssize_t ignored = write(restore.fd, restore.seq, restore.n);
	(void)ignored;
	if (flags >= 0) /* the shell has the same open file */
		fcntl(restore.fd, F_SETFL, flags);
}

static void crash(int sig)
{
	screen_restore();
	signals_end_by(sig);
}

static void add_bytes(const char *s, size_t n)
{
	for (; n > 0 && restore.n < sizeof(restore.seq); n--)
		restore.seq[restore.n++] = *s++;
}

static void add_capability(const char *name)
{
	const char *s = tigetstr(name);

	if (!s || s == (char *)-1)
		return;
	while (*s) {
		const char *pad = strstr(s, "$<"); /* padding is not for us */
		const char *end = pad ? strchr(pad, '>') : NULL;

		add_bytes(s, pad ? (size_t)(pad - s) : strlen(s));
		s = end ? end + 1 : "";
	}
}

/* What curses sends itself to end it: "XM" where the terminal has that, else as xterm does. */
static void add_mouse_off(void)
{
	static const char as_xterm[] = "\033[?1006l\033[?1000l";
	const char *xm = tigetstr("XM"), *key = tigetstr("kmous"), *seq = NULL;

	if (xm && xm != (char *)-1)
		seq = tparm(xm, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L);
	if (seq)
		add_bytes(seq, strlen(seq));
	else if ((key && key != (char *)-1 && *key) || strstr(getenv("TERM"), "xterm"))
		add_bytes(as_xterm, sizeof(as_xterm) - 1);
}

static void prepare_restore(int fd, bool mouse)
{
	stack_t stack = { .ss_sp = alt_stack, .ss_size = sizeof(alt_stack) };
	struct sigaction sa = { .sa_handler = crash, .sa_flags = SA_ONSTACK | SA_RESETHAND };

	restore.fd = fd;
	restore.n = 0;
	add_capability("sgr0");
	add_capability("cnorm");
	add_capability("rmkx");
	if (mouse)
		add_mouse_off();
	add_capability("rmcup");
	sigemptyset(&sa.sa_mask);
	sigaltstack(&stack, NULL);
	for (int sig = 1; sig < SIGRTMIN; sig++) {
		if (signals_is_fault(sig))
			sigaction(sig, &sa, NULL);
	}
	die_hook(screen_restore);
}

static bool parse_size(const char *text, int *cols, int *rows)
{
	char end;

	return sscanf(text, "%dx%d%c", cols, rows, &end) == 2 && *cols > 0 && *rows > 0 &&
		*cols <= SIZE_MAX_COLS && *rows <= SIZE_MAX_ROWS;
}

static int open_headless(struct screen *s, const char *size, struct err *err)
{
	static const char *const terms[] = { "xterm-256color", "xterm", "screen", "vt100", "ansi" };

	if (!parse_size(size, &s->cols, &s->rows))
		return err_set(err, ERR_USAGE, "BOUGH_HEADLESS is not a size like 80x24: '%s'", size);
	s->is_headless = true;
	s->fd = -1;
	null_out = fopen("/dev/null", "w");
	null_in = fopen("/dev/null", "r");
	if (!null_out || !null_in)
		return err_sys(err, "open /dev/null");
	if (getenv("TERM"))
		curses_screen = newterm(NULL, null_out, null_in);
	for (size_t i = 0; !curses_screen && i < sizeof(terms) / sizeof(*terms); i++)
		curses_screen = newterm(terms[i], null_out, null_in);
	if (!curses_screen)
		return err_set(err, ERR_UNSUPPORTED, "no terminal description was found");
	resize_term(s->rows, s->cols);
	return 0;
}

static int open_terminal(struct screen *s, bool mouse, struct err *err)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(err, ERR_UNSUPPORTED, "the browser needs a terminal; `bough list`, "
			"`bough tree` and `bough log` print");
	if (!term || !*term || strcmp(term, "dumb") == 0)
		return err_set(err, ERR_UNSUPPORTED, "the terminal '%s' can not move its cursor; "
			"commands work without that (bough --help)", term ? term : "");
	if (tcgetattr(STDOUT_FILENO, &restore.saved) < 0)
		return err_sys(err, "read the terminal's settings");
	curses_screen = newterm(NULL, stdout, stdin);
	if (!curses_screen)
		return err_set(err, ERR_UNSUPPORTED, "the terminal '%s' is not known here "
			"(no terminfo entry)", term);
	s->fd = STDIN_FILENO;
	prepare_restore(STDOUT_FILENO, mouse);
	restore.active = 1;
	if (!tigetstr("cup") || tigetstr("cup") == (char *)-1) {
		screen_close(s);
		return err_set(err, ERR_UNSUPPORTED, "the terminal '%s' can not move its cursor", term);
	}
	getmaxyx(stdscr, s->rows, s->cols);
	return 0;
}

int screen_open(struct screen *s, bool mouse, struct err *err)
{
	const char *size = getenv("BOUGH_HEADLESS");
	int rc;

	memset(s, 0, sizeof(*s));
	s->is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	rc = size && *size ? open_headless(s, size, err) : open_terminal(s, mouse, err);
	if (rc < 0)
		return rc;
	set_escdelay(25);
	raw(); /* ^C and ^Z are keys here: they cancel a job and suspend */
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	leaveok(stdscr, FALSE);
	scrollok(stdscr, FALSE);
	idlok(stdscr, TRUE);
	if (has_colors()) {
		start_color();
		use_default_colors();
		s->colours = COLORS;
	}
	if (mouse && !s->is_headless)
		mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	return 0;
}

void screen_close(struct screen *s)
{
	if (!curses_screen)
		return;
	if (!isendwin()) /* given away already, it may be the shell's by now */
		endwin();
	restore.active = 0;
	die_hook(NULL);
	delscreen(curses_screen);
	curses_screen = NULL;
	if (null_out)
		fclose(null_out);
	if (null_in)
		fclose(null_in);
	null_out = null_in = NULL;
	s->fd = -1;
}

enum theme_depth screen_depth(const struct screen *s)
{
	const char *no_color = getenv("NO_COLOR");

	if ((no_color && *no_color) || s->colours < 8)
		return THEME_MONO;
	return s->colours >= 256 ? THEME_256 : THEME_8;
}

void screen_resize(struct screen *s)
{
	struct winsize ws;

	if (s->is_headless)
		return;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_row > 0 && ws.ws_col > 0)
		resizeterm(ws.ws_row, ws.ws_col);
	getmaxyx(stdscr, s->rows, s->cols);
	clearok(curscr, TRUE);
}

int screen_set_size(struct screen *s, const char *size, struct err *err)
{
	int cols, rows;

	if (!s->is_headless)
		return err_set(err, ERR_USAGE, "only a headless screen has no size of its own");
	if (!parse_size(size, &cols, &rows))
		return err_set(err, ERR_USAGE, "not a size like 80x24: '%s'", size);
	s->cols = cols;
	s->rows = rows;
	resize_term(rows, cols);
	return 0;
}

void screen_suspend(struct screen *s)
{
	(void)s;
	endwin(); /* curses has the modes of ours; those of the moment may be somebody else's */
	restore.active = 0;
}

void screen_resume(struct screen *s)
{
	reset_prog_mode();
	if (!s->is_headless)
		restore.active = 1;
	screen_resize(s);
	clearok(curscr, TRUE);
	refresh();
}

bool screen_is_ours(const struct screen *s)
{
	return s->fd >= 0 && tcgetpgrp(s->fd) == getpgrp();
}

void screen_await(struct screen *s)
{
	struct termios now;

	if (tcgetattr(s->fd, &now) == 0)
		tcsetattr(s->fd, TCSANOW, &now);
}

void screen_retake(struct screen *s)
{
	if (!isendwin())
		endwin();
	screen_resume(s);
}

static const struct {
	int curses;
	uint32_t key;
} key_table[] = {
	{ KEY_UP, K_UP }, { KEY_DOWN, K_DOWN }, { KEY_LEFT, K_LEFT }, { KEY_RIGHT, K_RIGHT },
	{ KEY_HOME, K_HOME }, { KEY_END, K_END }, { KEY_PPAGE, K_PAGE_UP }, { KEY_NPAGE, K_PAGE_DOWN },
	{ KEY_IC, K_INSERT }, { KEY_DC, K_DELETE }, { KEY_BACKSPACE, K_BACKSPACE },
	{ KEY_BTAB, K_BACKTAB }, { KEY_ENTER, K_ENTER }, { KEY_MOUSE, K_MOUSE },
};

static bool from_curses(wint_t code, uint32_t *key)
{
	for (size_t i = 0; i < sizeof(key_table) / sizeof(*key_table); i++) {
		if ((wint_t)key_table[i].curses == code) {
			*key = key_table[i].key;
			return true;
		}
	}
	if (code >= KEY_F(1) && code <= KEY_F(12)) {
		*key = K_F1 + (uint32_t)(code - KEY_F(1));
		return true;
	}
	return false;
}

bool screen_key(struct screen *s, uint32_t *key)
{
	wint_t wc;

	if (s->is_headless)
		return false;
	for (;;) {
		int rc = wget_wch(stdscr, &wc);
		if (rc == ERR)
			return false;
		if (rc == KEY_CODE_YES) {
			if (from_curses(wc, key))
				return true;
			continue; /* a key without a name here */
		}
		*key = wc == '\n' ? K_ENTER : wc == 127 || wc == 8 ? K_BACKSPACE : (uint32_t)wc;
		return true;
	}
}

bool screen_check_gone(struct screen *s, short revents)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	int waiting = 0;

	if (s->is_headless)
		return false;
	if (revents & (POLLHUP | POLLERR | POLLNVAL))
		s->is_gone = true;
	else if (poll(&p, 1, 0) == 1 && (ioctl(s->fd, FIONREAD, &waiting) < 0 || waiting == 0))
		s->is_gone = true; /* readable without a byte: end of file */
	return s->is_gone;
}

void screen_write(struct screen *s, const char *p, size_t n)
{
	if (s->is_headless)
		return;
	while (n > 0) {
		ssize_t w = write(STDOUT_FILENO, p, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return;
		p += w;
		n -= (size_t)w;
	}
}
