/*
 * t-terminal.c - the built program on a pseudo terminal: whatever ends it, the
 * terminal is given back (alternate screen left, cursor on, echo and line mode
 * on); a terminal that goes away ends it; SIGINT does not.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/path.h"
#include "tests/lib/pty.h"

static const char alt_on[] = "\033[?1049h", alt_off[] = "\033[?1049l";

static void start_on(struct pty *t, const char *what)
{
	const char *srcdir = getenv("srcdir"), *bough = getenv("BOUGH");
	char *root = path_join(srcdir ? srcdir : ".", what);
	const char *const argv[] = { bough ? bough : "./bough", root, NULL };

	t->what = what;
	pty_start(t, argv);
	free(root);
}

static void start(struct pty *t)
{
	start_on(t, "tests/tui/roots/talks");
}

static void assert_restored(struct pty *t)
{
	assert_true(pty_has(t, alt_on));
	assert_true(pty_has(t, alt_off));
	pty_check_modes(t);
}

static void test_quit(void **state)
{
	struct pty t;
	int status;

	start(&t);
	pty_expect(&t, "Three ways");
	pty_send(&t, "q");
	status = pty_wait(&t);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_restored(&t);
	pty_close(&t);
}

static void test_signals(void **state)
{
	static const int signals[] = { SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct pty t;
		int status;
		start(&t);
		pty_expect(&t, "Three ways");
		kill(t.pid, signals[i]);
		status = pty_wait(&t);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), signals[i]);
		assert_restored(&t);
		pty_close(&t);
	}
}

static void test_interrupt_is_not_the_end(void **state)
{
	struct pty t;

	start(&t);
	pty_expect(&t, "Three ways");
	kill(t.pid, SIGINT);
	/* It says either, for the roots may still be read when the signal comes. */
	while (!pty_has(&t, "nothing is running") && !pty_has(&t, "F5 goes on"))
		assert_true(pty_pump(&t, 50));
	pty_send(&t, "Q");
	pty_wait(&t);
	pty_close(&t);
}

static void test_terminal_gone(void **state)
{
	struct pty t;

	start(&t);
	pty_expect(&t, "Three ways");
	close(t.fd);
	t.fd = -1;
	pty_wait(&t); /* within the deadline: it neither waits nor spins for ever */
	pty_close(&t);
}

/* A sequence that only data could have brought: curses itself sends none of these. */
static const char *foreign(const char *p, size_t n)
{
	static const char *const bad[] = { "\a", "\033]", "\033P", "\033_", "\033^", "\033X", "\033c",
		"\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac",
		"\xe2\x80\xad", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8",
		"\xe2\x81\xa9", "\xef\xbb\xbf", "\xe2\x80\x8b", NULL };

	for (size_t i = 0; bad[i]; i++)
		if (memmem(p, n, bad[i], strlen(bad[i])))
			return bad[i];
	for (size_t i = 0; i + 1 < n; i++) /* C1 as UTF-8 */
		if ((unsigned char)p[i] == 0xc2 && (unsigned char)p[i + 1] < 0xa0)
			return "C1";
	return NULL;
}

/* Hostile text through every screen of a real terminal. */
static void test_hostile_text(void **state)
{
	static const char *const keys[] = { "\r", "g", "g", "j", "j", "j", "\t", "G", "\t", "gp", "\033",
		"gb", "\033", "gh", "\033", "?", "\033", "q" };
	struct pty t;

	start_on(&t, "tests/format/tree/hostile-text.jsonl");
	pty_expect(&t, "^["); /* the first entry's escape, made visible */
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		pty_send(&t, keys[i]);
		pty_pump(&t, 100);
	}
	(void)!write(t.fd, "Q", 1);
	pty_wait(&t);
	assert_null(foreign(t.out.p, t.out.n));
	pty_close(&t);

	/* the net itself */
	assert_non_null(foreign("a\033]0;x", 6));
	assert_non_null(foreign("\xc2\x9b", 2));
	assert_null(foreign("\033[?1049h\xc3\xa9", 10));
}

static void test_resize(void **state)
{
	struct winsize ws = { .ws_row = 1, .ws_col = 1 };
	struct pty t;

	start(&t);
	pty_expect(&t, "Three ways");
	for (int i = 0; i < 60; i++) { /* from 1x1 up, a signal each */
		ws.ws_row = (unsigned short)(1 + i * 7 % 100);
		ws.ws_col = (unsigned short)(1 + i * 31 % 300);
		assert_int_equal(ioctl(t.fd, TIOCSWINSZ, &ws), 0);
		pty_pump(&t, 1);
	}
	ws.ws_row = 30;
	ws.ws_col = 100;
	ioctl(t.fd, TIOCSWINSZ, &ws);
	buf_clear(&t.out);
	pty_send(&t, "?");
	/* Whole redraws: between two sizes curses sends only the cells that differ. */
	for (int i = 0; i < 200 && !pty_has(&t, "Help: the keys of this screen"); i++) {
		pty_send(&t, "\f");
		pty_pump(&t, 50);
	}
	assert_true(pty_has(&t, "Help: the keys of this screen"));
	pty_send(&t, "Q");
	pty_wait(&t);
	pty_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quit),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_interrupt_is_not_the_end),
		cmocka_unit_test(test_terminal_gone),
		cmocka_unit_test(test_hostile_text),
		cmocka_unit_test(test_resize),
	};

	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("HOME", "/nonexistent", 1);
	unsetenv("BOUGH_SCRIPT");
	unsetenv("BOUGH_HEADLESS");
	unsetenv("XDG_CONFIG_HOME");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
