/*
 * t-deadly.c - every signal and ^Z on every screen and in every prompt, with the
 * mouse on: the program ends with the signal that ends a process, goes on after
 * any other, and is back with what was typed after a stop; and each time the
 * terminal has all its modes as they were found.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "base/xalloc.h"
#include "tests/lib/pty.h"
#include "tests/lib/temp.h"

#define LAST 31 /* the signals with a name; others are tried on one screen */

static char dir[TEMP_PATH];

/* below `dir`: copies that may be written, for a title and the trash are asked for only there */
#define TALKS "talks"
#define WAYS TALKS "/ways.jsonl"
#define CONVERSATION "valid/_conversations/" \
	"8c1d2f60-4b7e-4f0a-8a55-5d1f3c9e7b01"

/* What tells that the keys have arrived; a screen is drawn whole by ^L, a prompt has what was typed. */
static const struct screen {
	const char *name, *root, *start, *keys, *mark;
} screens[] = {
	{ "sessions", TALKS, "Three ways", "\f", "Three ways" },
	{ "filter", TALKS, "Three ways", "/zq", "zq" },
	{ "session", WAYS, "every miss", "\f", "every miss" },
	{ "pane", WAYS, "every miss", "\t\f", "line 1/" },
	{ "help", WAYS, "every miss", "?\f", "Help: the keys" },
	{ "branches", WAYS, "every miss", "gb\f", "without it" },
	{ "problems", WAYS, "every miss", "gp\f", "Problems" },
	{ "reflog", WAYS, "every miss", "gh\f", "Reflog" },
	{ "cards", WAYS, "every miss", "gc\f", "no history" },
	{ "label", WAYS, "every miss", "mzq", "zq" },
	{ "title", WAYS, "every miss", "Tzq", "zq" },
	{ "command", WAYS, "every miss", ":zq", "zq" },
	{ "search", WAYS, "every miss", "/zq", "zq" },
	{ "question", WAYS, "every miss", "D", "(y/n)" },
	{ "conversation", CONVERSATION, "verified", "\f", "verified" },
	{ "rounds", CONVERSATION, "verified", "gr\f", "digest" },
	{ "relations", CONVERSATION, "verified", "gl\f", "exact_unique" },
};

static void start(struct pty *t, const struct screen *s)
{
	char *root = path_join(dir, s->root);
	const char *const argv[] = { getenv("BOUGH"), root, NULL };

	t->what = s->name;
	pty_start(t, argv);
	free(root);
}

/* Does its default end a process that does not ignore it, as bough ignores two? */
static bool is_deadly(int sig)
{
	static const int others[] = { SIGINT, SIGPIPE, SIGXFSZ, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT,
		SIGCHLD, SIGURG, SIGWINCH };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (others[i] == sig)
			return false;
	}
	return true;
}

static void check_end(struct pty *t, int sig)
{
	char name[80];
	int status;

	snprintf(name, sizeof(name), "%s, signal %d", t->what, sig);
	t->what = name;
	if (!is_deadly(sig)) /* ^C closes a prompt first */
		pty_send(t, "\003Q");
	status = pty_wait(t);
	if (is_deadly(sig) ? !WIFSIGNALED(status) || WTERMSIG(status) != sig :
		!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("%s: ended with %x", name, (unsigned)status);
	pty_check_modes(t);
	pty_close(t);
}

static void all_on_screen(const struct screen *s)
{
	struct pty t[LAST + 1] = { { .pid = 0 } };

	for (int sig = 1; sig <= LAST; sig++) {
		if (sig != SIGKILL && sig != SIGSTOP)
			start(&t[sig], s);
	}
	for (int sig = 1; sig <= LAST; sig++) {
		if (t[sig].pid > 0) {
			pty_expect(&t[sig], s->start);
			pty_send(&t[sig], s->keys);
		}
	}
	for (int sig = 1; sig <= LAST; sig++) {
		if (t[sig].pid > 0) {
			pty_expect(&t[sig], s->mark);
			kill(t[sig].pid, sig);
		}
	}
	for (int sig = 1; sig <= LAST; sig++) {
		if (t[sig].pid > 0)
			check_end(&t[sig], sig);
	}
}

static void test_all(void **state)
{
	const char *only = getenv("BOUGH_TEST_FILTER");

	for (size_t i = 0; i < sizeof(screens) / sizeof(*screens); i++) {
		if (!only || strcmp(only, screens[i].name) == 0)
			all_on_screen(&screens[i]);
	}
}

static const char *const shells[] = { "sh", "bash" };

static bool is_there(const char *shell)
{
	char *probe = xasprintf("command -v %s >/dev/null", shell);
	bool is = system(probe) == 0;

	free(probe);
	return is;
}

/* ^Z and fg, then the signals that stop and a stop that can not be noticed. */
static void stops(struct pty *t, const struct screen *s)
{
	static const int signals[] = { 0, SIGTSTP, SIGTTIN, SIGTTOU, SIGSTOP };
	char *root = path_join(dir, s->root);
	char *line = xasprintf("sh -c 'echo p\"\"id=$$:; exec \"$BOUGH\" %s'\n", root), *pid;

	bool half_typed = strcmp(s->name, "session") == 0; /* half a sequence does not hold it up */

	t->what = s->name;
	pty_send(t, line);
	pid = pty_expect_word(t, "pid=", ':');
	pty_expect(t, s->start);
	pty_send(t, s->keys);
	pty_expect(t, s->mark);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		if (signals[i])
			kill(atoi(pid), signals[i]);
		else
			pty_send(t, half_typed ? "g\032" : "\032");
		pty_expect(t, PTY_PROMPT);
		if (signals[i] != SIGSTOP)
			pty_check_modes(t);
		pty_send(t, "stty sane; fg\n"); /* modes of its own, as a shell that edits has */
		pty_expect(t, "\033[?1049h");
		pty_expect(t, s->mark);
	}
	pty_send(t, "\003Q");
	pty_expect(t, PTY_PROMPT);
	free(pid);
	free(line);
	free(root);
}

static void test_stops(void **state)
{
	const char *only = getenv("BOUGH_TEST_FILTER");

	for (size_t k = 0; k < sizeof(shells) / sizeof(*shells); k++) {
		struct pty t = { .what = shells[k] };

		if (!is_there(shells[k]))
			continue;
		pty_start_shell(&t, shells[k]);
		for (size_t i = 0; i < sizeof(screens) / sizeof(*screens); i++) {
			if (!only || strcmp(only, screens[i].name) == 0)
				stops(&t, &screens[i]);
		}
		pty_close(&t);
	}
}

/* What a log-out sends: one request, not a loop that is stuck. */
static void test_log_out(void **state)
{
	for (int i = 0; i < 20; i++) {
		struct pty t = { .pid = 0 };
		int status;

		start(&t, &screens[0]);
		pty_expect(&t, screens[0].start);
		kill(t.pid, SIGTERM);
		kill(t.pid, SIGHUP);
		kill(t.pid, SIGHUP);
		status = pty_wait(&t);
		assert_true(WIFSIGNALED(status));
		assert_true(WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGHUP);
		pty_check_modes(&t);
		pty_close(&t);
	}
}

/* A terminal that takes nothing any more: it ends all the same, with the modes put back. */
static void test_stuck(void **state)
{
	struct pty t = { .what = "stuck" };
	struct termios now;
	int status, slave;

	start(&t, &screens[0]);
	pty_expect(&t, screens[0].start);
	slave = open(ptsname(t.fd), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	assert_int_equal(tcflow(slave, TCOOFF), 0);
	for (int i = 0; i < 1000 && waitpid(t.pid, &status, WNOHANG) == 0; i++) {
		kill(t.pid, SIGTERM);
		poll(NULL, 0, 20);
	}
	t.pid = -1;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	assert_int_equal(tcgetattr(slave, &now), 0);
	assert_int_equal(now.c_lflag, t.first.c_lflag);
	close(slave);
	pty_close(&t);
}

/* A padding that is not closed is where reading stops. */
static void test_open_padding(void **state)
{
	static const char source[] = "odd|open padding,use=xterm-256color,sgr0=\\E[m$<5,"
		"cnorm=\\E[?25h,rmkx=\\E[?1l,rmcup=\\E[?1049l,\n";
	static const char want[] = "\033[m\033[?25h\033[?1l\033[?1006", last[] = "\033[?1049l";
	char *file = path_join(dir, "odd.ti");
	char *tic = xasprintf("tic -x -o '%s/terminfo' '%s' 2>/dev/null", dir, file);
	struct pty t = { .what = "padding" };
	bool is_made;

	temp_puts(file, source);
	is_made = system(tic) == 0;
	free(file);
	free(tic);
	if (!is_made)
		skip();
	file = path_join(dir, "terminfo");
	setenv("TERMINFO", file, 1);
	free(file);
	setenv("PTY_TERM", "odd", 1);
	start(&t, &screens[0]);
	unsetenv("PTY_TERM");
	pty_expect(&t, screens[0].start);
	kill(t.pid, SIGSEGV);
	pty_wait(&t);
	unsetenv("TERMINFO");
	assert_true(t.out.n > 60);
	assert_non_null(memmem(t.out.p + t.out.n - 60, 60, want, sizeof(want) - 1));
	assert_memory_equal(t.out.p + t.out.n - (sizeof(last) - 1), last, sizeof(last) - 1);
	pty_close(&t);
}

static bool prepare(void)
{
	const char *srcdir = getenv("srcdir"), *given = getenv("BOUGH");
	char *bough = realpath(given ? given : "./bough", NULL);
	char *command = xasprintf("mkdir '%s/bough' && cp -R '%s/tests/tui/roots/talks' "
		"'%s/tests/format/flow/valid' '%s' && chmod -R u+w '%s'", dir,
		srcdir ? srcdir : ".", srcdir ? srcdir : ".", dir, dir);
	char *config = path_join(dir, "bough/bough.conf");
	bool is_ready = bough && system(command) == 0;

	if (is_ready) {
		temp_puts(config, "{\"mouse\": true}\n");
		setenv("BOUGH", bough, 1);
	}
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("HOME", dir, 1);
	setenv("XDG_CONFIG_HOME", dir, 1);
	setenv("XDG_STATE_HOME", dir, 1);
	unsetenv("BOUGH_SCRIPT");
	unsetenv("BOUGH_HEADLESS");
	free(bough);
	free(command);
	free(config);
	return is_ready;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_log_out),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_open_padding),
	};
	int rc;

	temp_make(dir);
	if (!prepare()) {
		fprintf(stderr, "the sessions can not be copied\n");
		return 1;
	}
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	temp_remove(dir);
	return rc;
}
