/*
 * pty.c - the pseudo terminal, waiting, and reading the modes out of the output.
 */
#include "config.h"

#include "tests/lib/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"

#define DEADLINE_US 20000000
#define REDRAW_US 50000

__attribute__((format(printf, 2, 3), noreturn)) static void fail(const struct pty *t,
	const char *fmt, ...)
{
	size_t from = t->out.n > 2000 ? t->out.n - 2000 : 0;
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "%s: ", t->what ? t->what : "pty");
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nseen up to byte %zu; the output ends with:\n", t->seen);
	for (; from < t->out.n; from++) {
		unsigned char c = (unsigned char)t->out.p[from];
		fprintf(stderr, c == '\n' || (c >= 32 && c < 127) ? "%c" : "\\x%02x", c);
	}
	fprintf(stderr, "\n");
	if (t->pid > 0)
		kill(t->pid, SIGKILL);
	exit(1);
}

static void become(struct pty *t, const char *const argv[])
{
	sigset_t none;
	int fd;

	setsid();
	fd = open(ptsname(t->fd), O_RDWR); /* becomes the controlling terminal */
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
	close(t->fd);
	setenv("TERM", getenv("PTY_TERM") ? getenv("PTY_TERM") : "xterm-256color", 1);
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

void pty_start(struct pty *t, const char *const argv[])
{
	struct winsize ws = { .ws_row = 24, .ws_col = 80 };
	const char *what = t->what;

	memset(t, 0, sizeof(*t));
	t->what = what;
	t->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (t->fd < 0 || grantpt(t->fd) != 0 || unlockpt(t->fd) != 0 ||
		tcgetattr(t->fd, &t->first) < 0)
		fail(t, "no pseudo terminal: %s", strerror(errno));
	ioctl(t->fd, TIOCSWINSZ, &ws);
	t->pid = fork();
	if (t->pid == 0)
		become(t, argv);
}

void pty_start_shell(struct pty *t, const char *shell)
{
	const char *const plain[] = { shell, "-i", NULL };
	const char *const bash[] = { shell, "--norc", "--noprofile", "--noediting", "-i", NULL };

	unsetenv("ENV");
	pty_start(t, strcmp(shell, "bash") == 0 ? bash : plain);
	/* an editing shell would set modes of its own */
	pty_send(t, "stty sane; set +o emacs +o vi; unset MAILCHECK; PS1='READ''Y> '\n");
	pty_expect(t, PTY_PROMPT);
	tcgetattr(t->fd, &t->first);
}

bool pty_pump(struct pty *t, int ms)
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

bool pty_has(const struct pty *t, const char *text)
{
	return t->out.n > 0 && memmem(t->out.p, t->out.n, text, strlen(text));
}

static bool find(struct pty *t, const char *text)
{
	const char *from = t->out.n ? t->out.p + t->seen : NULL;
	const char *at = from ? memmem(from, t->out.n - t->seen, text, strlen(text)) : NULL;

	if (at)
		t->seen = (size_t)(at - t->out.p) + strlen(text);
	return at != NULL;
}

/* A terminal that changes its size has to be drawn anew. */
static void expect(struct pty *t, const char *text, bool is_drawn)
{
	uint64_t until = clock_mono_us() + DEADLINE_US, again = clock_mono_us() + REDRAW_US, now;
	struct winsize ws = { .ws_row = 24, .ws_col = 80 };

	while (!find(t, text)) {
		now = clock_mono_us();
		if (now >= until)
			fail(t, "waited in vain for \"%s\"", text);
		if (is_drawn && now >= again) {
			ws.ws_col = ws.ws_col == 80 ? 90 : 80;
			ioctl(t->fd, TIOCSWINSZ, &ws);
			again = now + REDRAW_US;
		}
		if (!pty_pump(t, is_drawn ? 5 : 50))
			fail(t, "ended without \"%s\"", text);
	}
}

void pty_expect(struct pty *t, const char *text)
{
	expect(t, text, false);
}

void pty_expect_drawn(struct pty *t, const char *text)
{
	expect(t, text, true);
}

char *pty_expect_word(struct pty *t, const char *text, char end)
{
	const char stop[] = { end, '\0' };
	size_t from;

	pty_expect(t, text);
	from = t->seen;
	pty_expect(t, stop);
	return xstrndup(t->out.p + from, t->seen - 1 - from);
}

void pty_await_group(struct pty *t, pid_t group)
{
	uint64_t until = clock_mono_us() + DEADLINE_US;

	while (tcgetpgrp(t->fd) != group) {
		if (clock_mono_us() >= until)
			fail(t, "group %d never gets the terminal", (int)group);
		pty_pump(t, 2);
	}
}

void pty_send(struct pty *t, const char *keys)
{
	size_t n = strlen(keys);

	if (write(t->fd, keys, n) != (ssize_t)n)
		fail(t, "no keys can be sent: %s", strerror(errno));
}

int pty_wait(struct pty *t)
{
	uint64_t until = clock_mono_us() + DEADLINE_US;
	int status;

	while (waitpid(t->pid, &status, WNOHANG) == 0) {
		if (clock_mono_us() >= until)
			fail(t, "does not end");
		if (t->fd < 0 || !pty_pump(t, 5))
			poll(NULL, 0, 1); /* nothing but its end can come */
	}
	t->pid = -1;
	while (t->fd >= 0 && poll(&(struct pollfd){ .fd = t->fd, .events = POLLIN }, 1, 0) > 0 &&
		pty_pump(t, 0))
		;
	return status;
}

/* ---- modes ---- */

static const int private_modes[] = { 1, 25, 47, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1047,
	1049, 2004 };
#define NMODES (sizeof(private_modes) / sizeof(*private_modes))

struct modes {
	bool on[NMODES];
	bool keypad;
};

/* One "CSI ? n ; n h" or "l", from behind the "?". */
static void take_private(struct modes *m, const char *p, const char *end)
{
	int numbers[8] = { 0 };
	size_t n = 0;

	for (; p < end && ((*p >= '0' && *p <= '9') || *p == ';'); p++) {
		if (*p == ';')
			n += n < 7;
		else
			numbers[n] = numbers[n] * 10 + *p - '0';
	}
	for (size_t i = 0; p < end && (*p == 'h' || *p == 'l') && i <= n; i++) {
		for (size_t k = 0; k < NMODES; k++) {
			if (private_modes[k] == numbers[i])
				m->on[k] = *p == 'h';
		}
	}
}

void pty_check_modes(struct pty *t)
{
	const char *end = t->out.p + t->out.n;
	struct modes m = { .keypad = false };
	struct termios now;

	for (size_t k = 0; k < NMODES; k++)
		m.on[k] = private_modes[k] == 25;
	for (const char *p = t->out.p; p && p + 2 < end; p++) {
		if (p[0] != '\033')
			continue;
		if (p[1] == '[' && p[2] == '?')
			take_private(&m, p + 3, end);
		else if (p[1] == '=' || p[1] == '>')
			m.keypad = p[1] == '=';
	}
	if (end > t->out.p + 1 && end[-2] == '\033' && end[-1] == '>')
		m.keypad = false;
	for (size_t k = 0; k < NMODES; k++) {
		if (m.on[k] != (private_modes[k] == 25))
			fail(t, "mode %d is left %s", private_modes[k], m.on[k] ? "on" : "off");
	}
	if (m.keypad)
		fail(t, "the keypad is left on");
	if (tcgetattr(t->fd, &now) < 0)
		fail(t, "the terminal's modes can not be read");
	if (now.c_lflag != t->first.c_lflag || now.c_iflag != t->first.c_iflag ||
		now.c_oflag != t->first.c_oflag || now.c_cflag != t->first.c_cflag ||
		memcmp(now.c_cc, t->first.c_cc, sizeof(now.c_cc)) != 0)
		fail(t, "modes: lflag %x, was %x; iflag %x, was %x; oflag %x, was %x",
			(unsigned)now.c_lflag, (unsigned)t->first.c_lflag, (unsigned)now.c_iflag,
			(unsigned)t->first.c_iflag, (unsigned)now.c_oflag, (unsigned)t->first.c_oflag);
}

void pty_close(struct pty *t)
{
	if (t->pid > 0) {
		kill(t->pid, SIGKILL);
		waitpid(t->pid, NULL, 0);
	}
	if (t->fd >= 0)
		close(t->fd);
	buf_release(&t->out);
	t->fd = -1;
	t->pid = -1;
}
