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

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/path.h"

#define DEADLINE_US 20000000

static const char alt_on[] = "\033[?1049h", alt_off[] = "\033[?1049l";

struct term {
	pid_t pid;
	int fd;
	struct buf out; /* everything the program wrote */
};

static void start_on(struct term *t, const char *what)
{
	const char *srcdir = getenv("srcdir"), *bough = getenv("BOUGH");
	char *root = path_join(srcdir ? srcdir : ".", what);
	struct winsize ws = { .ws_row = 24, .ws_col = 80 };

	memset(t, 0, sizeof(*t));
	t->fd = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(t->fd >= 0 && grantpt(t->fd) == 0 && unlockpt(t->fd) == 0);
	ioctl(t->fd, TIOCSWINSZ, &ws);
	t->pid = fork();
	if (t->pid == 0) {
		int fd;
		setsid();
		fd = open(ptsname(t->fd), O_RDWR); /* becomes the controlling terminal */
		for (int i = 0; i < 3; i++)
			dup2(fd, i);
		close(t->fd);
		setenv("TERM", "xterm-256color", 1);
		setenv("HOME", "/nonexistent", 1);
		unsetenv("BOUGH_SCRIPT");
		unsetenv("BOUGH_HEADLESS");
		unsetenv("XDG_CONFIG_HOME");
		execl(bough ? bough : "./bough", "bough", root, (char *)NULL);
		_exit(127);
	}
	free(root);
}

static void start(struct term *t)
{
	start_on(t, "tests/tui/roots/talks");
}

/* Read what comes; false once nothing can come any more. */
static bool pump(struct term *t, int ms)
{
	struct pollfd p = { .fd = t->fd, .events = POLLIN };
	char chunk[4096];
	ssize_t n;

	if (poll(&p, 1, ms) <= 0)
		return true;
	n = read(t->fd, chunk, sizeof(chunk));
	if (n > 0)
		buf_add(&t->out, chunk, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

static bool has(const struct term *t, const char *what)
{
	return t->out.n > 0 && memmem(t->out.p, t->out.n, what, strlen(what));
}

static void wait_for_either(struct term *t, const char *one, const char *other)
{
	uint64_t until = clock_mono_us() + DEADLINE_US;

	while (!has(t, one) && !has(t, other)) {
		assert_true(clock_mono_us() < until);
		assert_true(pump(t, 50));
	}
}

static void wait_for_text(struct term *t, const char *what)
{
	wait_for_either(t, what, what);
}

static int wait_for_end(struct term *t, bool read_too)
{
	uint64_t until = clock_mono_us() + DEADLINE_US;
	int status;

	while (waitpid(t->pid, &status, WNOHANG) == 0) {
		assert_true(clock_mono_us() < until);
		if (read_too)
			pump(t, 20);
		else
			poll(NULL, 0, 5);
	}
	return status;
}

static void assert_restored(struct term *t)
{
	static const char show[] = "\033[?25h", hide[] = "\033[?25l";
	const char *last_show = NULL, *last_hide = NULL;
	struct termios now;

	while (pump(t, 50) && poll(&(struct pollfd){ .fd = t->fd, .events = POLLIN }, 1, 0) > 0)
		;
	assert_true(has(t, alt_on));
	assert_true(has(t, alt_off));
	for (size_t i = 0; i + 6 <= t->out.n; i++) {
		if (memcmp(t->out.p + i, show, 6) == 0)
			last_show = t->out.p + i;
		if (memcmp(t->out.p + i, hide, 6) == 0)
			last_hide = t->out.p + i;
	}
	assert_true(last_show && (!last_hide || last_show > last_hide));
	assert_int_equal(tcgetattr(t->fd, &now), 0);
	assert_true((now.c_lflag & (ECHO | ICANON | ISIG)) == (ECHO | ICANON | ISIG));
}

static void end(struct term *t)
{
	if (t->fd >= 0)
		close(t->fd);
	buf_release(&t->out);
}

static void test_quit(void **state)
{
	struct term t;
	int status;

	start(&t);
	wait_for_text(&t, "Three ways");
	assert_int_equal(write(t.fd, "q", 1), 1);
	status = wait_for_end(&t, true);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_restored(&t);
	end(&t);
}

static void test_signals(void **state)
{
	static const int signals[] = { SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct term t;
		int status;
		start(&t);
		wait_for_text(&t, "Three ways");
		kill(t.pid, signals[i]);
		status = wait_for_end(&t, true);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), signals[i]);
		assert_restored(&t);
		end(&t);
	}
}

static void test_interrupt_is_not_the_end(void **state)
{
	struct term t;

	start(&t);
	wait_for_text(&t, "Three ways");
	kill(t.pid, SIGINT);
	/* It says either, for the roots may still be read when the signal comes. */
	wait_for_either(&t, "nothing is running", "F5 goes on");
	assert_int_equal(write(t.fd, "Q", 1), 1);
	wait_for_end(&t, true);
	end(&t);
}

static void test_terminal_gone(void **state)
{
	struct term t;

	start(&t);
	wait_for_text(&t, "Three ways");
	close(t.fd);
	t.fd = -1;
	wait_for_end(&t, false); /* within the deadline: it neither waits nor spins for ever */
	end(&t);
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
	struct term t;

	start_on(&t, "tests/format/tree/hostile-text.jsonl");
	wait_for_text(&t, "^["); /* the first entry's escape, made visible */
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		assert_true(write(t.fd, keys[i], strlen(keys[i])) > 0);
		pump(&t, 100);
	}
	(void)!write(t.fd, "Q", 1);
	wait_for_end(&t, true);
	assert_null(foreign(t.out.p, t.out.n));
	end(&t);

	/* the net itself */
	assert_non_null(foreign("a\033]0;x", 6));
	assert_non_null(foreign("\xc2\x9b", 2));
	assert_null(foreign("\033[?1049h\xc3\xa9", 10));
}

static void test_resize(void **state)
{
	struct winsize ws = { .ws_row = 1, .ws_col = 1 };
	struct term t;

	start(&t);
	wait_for_text(&t, "Three ways");
	for (int i = 0; i < 60; i++) { /* from 1x1 up, a signal each */
		ws.ws_row = (unsigned short)(1 + i * 7 % 100);
		ws.ws_col = (unsigned short)(1 + i * 31 % 300);
		assert_int_equal(ioctl(t.fd, TIOCSWINSZ, &ws), 0);
		pump(&t, 1);
	}
	ws.ws_row = 30;
	ws.ws_col = 100;
	ioctl(t.fd, TIOCSWINSZ, &ws);
	buf_clear(&t.out);
	assert_int_equal(write(t.fd, "?", 1), 1);
	/* Whole redraws: between two sizes curses sends only the cells that differ. */
	for (int i = 0; i < 200 && !has(&t, "Help: the keys of this screen"); i++) {
		assert_int_equal(write(t.fd, "\f", 1), 1);
		pump(&t, 50);
	}
	assert_true(has(&t, "Help: the keys of this screen"));
	assert_int_equal(write(t.fd, "Q", 1), 1);
	wait_for_end(&t, true);
	end(&t);
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
	return cmocka_run_group_tests(tests, NULL, NULL);
}
