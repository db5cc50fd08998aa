/*
 * t-jobs.c - editors that do not behave, in the browser and behind the commands,
 * under a shell with job control: they stop, hang, die, go to the background,
 * leave the terminal raw, write too much or put something else in the draft's
 * place. Each time the shell comes back, the terminal is as it was, and what a
 * person wrote is in the session or in a file that is named.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/xalloc.h"
#include "tests/lib/pty.h"
#include "tests/lib/temp.h"

static char dir[TEMP_PATH], drafts[TEMP_PATH + 16], session[TEMP_PATH + 16],
	reflog[TEMP_PATH + 16];
static char *fresh_session;

static char *get(const char *path)
{
	size_t n;

	return temp_get(path, &n);
}

enum way { COMMAND, BROWSER };

/* A new session and no drafts; the editor is `script`. */
static void begin(const char *script)
{
	char *path = path_join(dir, "my editor"), *text = xasprintf("#!/bin/sh\n%s\n", script);

	unlink(reflog);
	temp_puts(session, fresh_session);
	temp_clear(drafts);
	temp_puts(path, text);
	chmod(path, 0755);
	free(path);
	free(text);
}

/* The shell's prompt is there. */
static void open_editor(struct pty *t, enum way way, const char *script)
{
	begin(script);
	if (way == COMMAND) {
		pty_send(t, "\"$BOUGH\" fork s.jsonl tip; echo st''atus=$?:\n");
		return;
	}
	pty_send(t, "\"$BOUGH\" s.jsonl; echo st''atus=$?:\n");
	pty_expect(t, "every miss");
	pty_send(t, "f");
}

/* The status of what the shell has run, with its prompt and the terminal as they were. */
static int back_in_shell(struct pty *t)
{
	char *word = pty_expect_word(t, "status=", ':');
	int status = atoi(word);

	free(word);
	pty_expect(t, PTY_PROMPT);
	pty_check_modes(t);
	return status;
}

static int leave(struct pty *t, enum way way)
{
	if (way == BROWSER)
		pty_send(t, "Q");
	return back_in_shell(t);
}

static bool session_has(const char *words)
{
	char *text = get(session);
	bool has = text && strstr(text, words);

	free(text);
	return has;
}

static char *draft_text(void)
{
	char path[TEMP_PATH];

	assert_int_equal(temp_count(drafts, "bough-", path), 1);
	return get(path);
}

static void assert_kept(const char *words)
{
	char *text = draft_text();

	if (!text || !strstr(text, words))
		fail_msg("the draft has not \"%s\": %s", words, text ? text : "none");
	free(text);
}

/* ---- editors that come to an end ---- */

static const struct {
	const char *name, *script, *says; /* one word, for the browser wraps its line */
	bool is_kept, is_written;
	int status; /* of the command */
} ends[] = {
	{ "writes", "echo my-words >>\"$1\"", "", false, true, 0 },
	{ "says no", "echo my-words >>\"$1\"; exit 3", "status", true, false, 130 },
	{ "says no, unchanged", "exit 3", "status", false, false, 130 },
	{ "dies", "echo my-words >>\"$1\"; stty raw -echo; kill -9 $$", "signal", true, false, 130 },
	{ "leaves raw", "echo my-words >>\"$1\"; stty raw -echo", "", false, true, 0 },
	{ "background", "(exec sleep 0) & exit 0", "unchanged", false, false, 130 },
	{ "is not there", "exec /nonexistent/editor \"$1\"", "status", false, false, 130 },
	{ "empties", ": >\"$1\"", "empty", false, false, 130 },
	{ "50 MB", "(echo my-words; head -c 52428800 /dev/zero | tr '\\0' x) >>\"$1\"", "", false,
	  true, 0 },
	{ "65 MB", "echo my-words >>\"$1\"; truncate -s 65M \"$1\"", "larger", true,
	  false, 3 },
	{ "removes", "rm \"$1\"", "open", false, false, 3 },
	{ "makes a link", "rm \"$1\"; ln -s \"$HOME/secret\" \"$1\"", "link", true, false, 3 },
	{ "makes a pipe", "rm \"$1\"; mkfifo \"$1\"", "file", true, false, 3 },
	{ "another file", "echo my-words >\"$1.new\"; mv \"$1.new\" \"$1\"", "", false, true, 0 },
};

static void ends_by(struct pty *t, enum way way, size_t i)
{
	char *what = xasprintf("%s, %s", ends[i].name, way == BROWSER ? "browser" : "command");
	char name[TEMP_PATH];
	int status;

	t->what = what;
	open_editor(t, way, ends[i].script);
	if (way == BROWSER && ends[i].is_written)
		pty_expect(t, "appended");
	else if (way == BROWSER)
		pty_expect_drawn(t, ends[i].says);
	else if (*ends[i].says)
		pty_expect(t, ends[i].says);
	if (ends[i].is_kept && temp_count(drafts, "bough-", name) == 1)
		pty_expect_drawn(t, path_base(name));
	status = leave(t, way);
	if (status != (way == BROWSER ? 0 : ends[i].status))
		fail_msg("%s: status %d", what, status);
	if (session_has("my-words") != ends[i].is_written)
		fail_msg("%s: the session", what);
	if (temp_count(drafts, "bough-", name) != ends[i].is_kept)
		fail_msg("%s: the draft", what);
	t->what = NULL;
	free(what);
}

static void test_ends(void **state)
{
	struct pty t = { .fd = -1 };

	pty_start_shell(&t, "sh");
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		ends_by(&t, COMMAND, i);
		ends_by(&t, BROWSER, i);
	}
	pty_close(&t);
}

/* ---- editors that stop ---- */

/* The first line is typed before the stop, the second after it. */
#define READS \
	"echo \"OPE\"\"NED $$:\"; read a; echo \"GOT\"\"-$a\"; read b; echo \"$a-$b\" >>\"$1\""

/* ^Z in an editor that leaves the modes alone; one that stops itself with modes of its own. */
static void stops_and_goes_on(const char *shell, enum way way)
{
	struct pty t = { .what = shell };
	char *pid;

	pty_start_shell(&t, shell);
	open_editor(&t, way, READS);
	pid = pty_expect_word(&t, "OPENED ", ':');
	pty_send(&t, "one\n");
	pty_expect(&t, "GOT-one");
	for (int i = 0; i < 3; i++) {
		pty_send(&t, "\032");
		pty_expect(&t, PTY_PROMPT);
		pty_check_modes(&t);
		pty_send(&t, "fg; echo st''atus=$?:\n");
		pty_await_group(&t, atoi(pid));
	}
	free(pid);
	pty_send(&t, "two\n");
	if (way == BROWSER)
		pty_expect(&t, "appended");
	assert_int_equal(leave(&t, way), 0);
	assert_true(session_has("one-two"));

	open_editor(&t, way, "stty raw -echo; kill -STOP $$; stty -a >\"$HOME/modes\"; "
		"echo my-words >>\"$1\"");
	pty_expect(&t, PTY_PROMPT);
	pty_check_modes(&t);
	pty_send(&t, "stty sane; fg; echo st''atus=$?:\n");
	if (way == BROWSER)
		pty_expect(&t, "appended");
	assert_int_equal(leave(&t, way), 0);
	assert_true(session_has("my-words"));
	assert_int_equal(temp_count(drafts, "bough-", (char[TEMP_PATH]){ 0 }), 0);
	pty_close(&t);
}

static void test_stops(void **state)
{
	char *modes = path_join(dir, "modes"), *text;

	for (int way = COMMAND; way <= BROWSER; way++) {
		stops_and_goes_on("sh", way);
		text = get(modes);
		assert_true(text && strstr(text, "-icanon"));
		free(text);
		if (system("command -v bash >/dev/null") == 0)
			stops_and_goes_on("bash", way);
	}
	free(modes);
}

/* Stopped, then a signal that ends: as a shell sends it to a job that it leaves. */
static void test_ends_while_stopped(void **state)
{
	for (int way = COMMAND; way <= BROWSER; way++) {
		struct pty t = { .what = "ends while stopped" };

		pty_start_shell(&t, "sh");
		open_editor(&t, way, "echo my-words >>\"$1\"; kill -STOP $$");
		pty_expect(&t, PTY_PROMPT);
		pty_send(&t, "kill %1; kill -CONT %1\n");
		pty_expect(&t, "kept in");
		pty_send(&t, "fg; echo st''atus=$?:\n"); /* it has ended, or the shell waits for that */
		assert_int_not_equal(back_in_shell(&t), 0);
		assert_kept("my-words");
		pty_close(&t);
	}
}

/* Without a shell to come back to, a stop is nothing that lasts. */
static void test_no_shell(void **state)
{
	const char *const argv[] = { getenv("BOUGH"), "fork", session, "tip", NULL };
	struct pty t = { .what = "no shell" };

	begin("kill -STOP $$; echo my-words >>\"$1\"");
	pty_start(&t, argv);
	assert_int_equal(pty_wait(&t), 0);
	pty_check_modes(&t);
	assert_true(session_has("my-words"));
	pty_close(&t);
}

/* ---- bough ends while the editor is open ---- */

static void ended_by(enum way way, int sig, const char *script, const char *words)
{
	char *what = xasprintf("signal %d", sig), *pid;
	struct pty t = { .what = what };

	pty_start_shell(&t, "sh");
	open_editor(&t, way, script);
	pid = pty_expect_word(&t, "OPENED ", ':');
	kill(atoi(pid), sig);
	free(pid);
	pid = pty_expect_word(&t, "kept in ", '\r');
	assert_int_equal(back_in_shell(&t), 128 + sig);
	assert_true(strncmp(pid, drafts, strlen(drafts)) == 0);
	assert_kept(words);
	free(pid);
	free(what);
	pty_close(&t);
}

static void test_ended(void **state)
{
	static const int signals[] = { SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGALRM, SIGABRT, SIGSEGV };
	char *pid_file = path_join(dir, "pid"), *pid;

	for (int way = COMMAND; way <= BROWSER; way++) {
		/* an editor that has not saved yet may do so at its own end */
		ended_by(way, SIGTERM, "echo \"OPE\"\"NED $PPID:\"; exec sleep 1000", "");
		for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
			ended_by(way, signals[i], "echo my-words >>\"$1\"; stty raw -echo; "
				"echo \"OPE\"\"NED $PPID:\"; exec sleep 1000", "my-words");
		ended_by(way, SIGTERM, "trap '' TERM HUP; echo my-words >>\"$1\"; echo $$ >\"$HOME/pid\"; "
			"echo \"OPE\"\"NED $PPID:\"; exec sleep 1000", "my-words");
		pid = get(pid_file);
		assert_true(pid && kill(atoi(pid), SIGKILL) == 0); /* it was left to itself */
		free(pid);
	}
	free(pid_file);
}

/* Signals that end nothing are not taken for one that does: ^C is the editor's. */
static void test_goes_on(void **state)
{
	static const int signals[] = { SIGINT, SIGWINCH, SIGCHLD, SIGURG, SIGCONT, SIGPIPE };

	for (int way = COMMAND; way <= BROWSER; way++) {
		struct pty t = { .what = "goes on" };
		char *pid;

		pty_start_shell(&t, "sh");
		open_editor(&t, way, "trap 'echo \"INTER\"\"RUPTED\"' INT; echo \"OPE\"\"NED $PPID:\"; "
			"until read a; do :; done; echo my-words >>\"$1\"");
		pid = pty_expect_word(&t, "OPENED ", ':');
		for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
			kill(atoi(pid), signals[i]);
		pty_send(&t, "\003");
		pty_expect(&t, "INTERRUPTED");
		pty_send(&t, "\n");
		if (way == BROWSER)
			pty_expect(&t, "appended");
		assert_int_equal(leave(&t, way), 0);
		assert_true(session_has("my-words"));
		free(pid);
		pty_close(&t);
	}
}

/* ---- the copy command ---- */

/* It is named with quotes, too, gets the whole text, and one that hangs does not hold us up. */
static void test_copy(void **state)
{
	char *path = path_join(dir, "my copy"), *copied = path_join(dir, "copied"), *text;
	char *command = xasprintf("\"%s\" 'a  b' c\\ d", path);
	struct pty t = { .what = "copy" };

	begin("exit 1");
	temp_puts(path, "#!/bin/sh\n(echo \"<$1><$2>\"; cat) >\"$HOME/copied\"\n");
	chmod(path, 0755);
	setenv("BOUGH_COPY", command, 1);
	pty_start_shell(&t, "sh");
	pty_send(&t, "\"$BOUGH\" s.jsonl; echo st''atus=$?:\n");
	pty_expect(&t, "every miss");
	pty_send(&t, "y");
	pty_expect_drawn(&t, "copied");
	assert_int_equal(leave(&t, BROWSER), 0);
	text = get(copied);
	assert_non_null(text);
	assert_string_equal(text, "<a  b><c d>\na1f1");
	free(text);

	temp_puts(path, "#!/bin/sh\necho $PPID: >\"$HOME/copied.new\"; mv \"$HOME/copied.new\" "
		"\"$HOME/copied\"; exec sleep 1000\n");
	unlink(copied);
	pty_send(&t, "\"$BOUGH\" s.jsonl; echo st''atus=$?:\n");
	pty_expect(&t, "every miss");
	pty_send(&t, "y");
	while (!(text = get(copied)))
		pty_pump(&t, 5);
	kill(atoi(text), SIGTERM);
	free(text);
	assert_int_equal(back_in_shell(&t), 128 + SIGTERM);
	unsetenv("BOUGH_COPY");
	free(path);
	free(copied);
	free(command);
	pty_close(&t);
}

static int set_up(void **state)
{
	const char *srcdir = getenv("srcdir");
	char *from = path_join(srcdir ? srcdir : ".", "tests/tui/roots/talks/ways.jsonl");
	char *bough = realpath(getenv("BOUGH") ? getenv("BOUGH") : "./bough", NULL);
	char *editor;

	temp_make(dir);
	snprintf(drafts, sizeof(drafts), "%s/drafts", dir);
	snprintf(session, sizeof(session), "%s/s.jsonl", dir);
	snprintf(reflog, sizeof(reflog), "%s/s.reflog", dir);
	fresh_session = get(from);
	editor = xasprintf("'%s/my editor'", dir); /* a name that has to be quoted */
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("HOME", dir, 1);
	setenv("XDG_CONFIG_HOME", dir, 1);
	setenv("XDG_STATE_HOME", dir, 1);
	setenv("TMPDIR", drafts, 1);
	setenv("EDITOR", editor, 1);
	unsetenv("VISUAL");
	unsetenv("BOUGH_SCRIPT");
	unsetenv("BOUGH_HEADLESS");
	free(from);
	free(editor);
	if (!bough || !fresh_session || mkdir(drafts, 0700) < 0 || chdir(dir) < 0)
		return -1;
	setenv("BOUGH", bough, 1);
	free(bough);
	return 0;
}

static int tear_down(void **state)
{
	free(fresh_session);
	temp_remove(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_ends_while_stopped),
		cmocka_unit_test(test_no_shell),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_copy),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
