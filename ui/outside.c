/*
 * outside.c - runs the editor and the copy command, and sends OSC 52.
 */
#include "config.h"

#include "ui/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/draft.h"
#include "base/path.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "ui/internal.h"
#include "ui/settings.h"

#define COPY_MAX (100u << 10) /* terminals refuse larger clipboard sequences */
#define ARGV_MAX 32

/* Split at blanks; the strings lie in *copy, which is yours. */
static size_t split(const char *command, char **copy, const char *argv[ARGV_MAX + 2])
{
	size_t n = 0;
	char *save = NULL;

	*copy = xstrdup(command);
	for (char *word = strtok_r(*copy, " \t", &save); word && n < ARGV_MAX;
	     word = strtok_r(NULL, " \t", &save))
		argv[n++] = word;
	argv[n] = NULL;
	return n;
}

/* In the child: signals as a program expects them, then exec. */
static void run_child(const char *const argv[])
{
	static const int plain[] = { SIGINT, SIGQUIT, SIGTSTP, SIGPIPE, SIGTERM, SIGHUP, SIGWINCH,
		SIGCONT };

	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		signal(plain[i], SIG_DFL);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

static int wait_for(pid_t pid, const char *name, struct err *err)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return err_sys(err, "wait for %s", name);
	}
	if (WIFSIGNALED(status))
		return err_set(err, ERR_IO, "%s was ended by signal %d", name, WTERMSIG(status));
	if (WEXITSTATUS(status) == 127)
		return err_set(err, ERR_IO, "%s could not be started", name);
	if (WEXITSTATUS(status) != 0)
		return err_set(err, ERR_IO, "%s ended with status %d", name, WEXITSTATUS(status));
	return 0;
}

/* Run the editor with the terminal in its hands. */
static int run_editor(struct ui *ui, const char *path, struct err *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old_int, old_quit, old_tstp;
	const char *command = getenv("VISUAL");
	const char *argv[ARGV_MAX + 2];
	char *copy;
	size_t n;
	pid_t pid;
	int rc;

	if (!command || !*command)
		command = getenv("EDITOR");
	n = split(command && *command ? command : "vi", &copy, argv);
	if (n == 0) {
		free(copy);
		return err_set(err, ERR_USAGE, "EDITOR is blank");
	}
	argv[n] = path;
	argv[n + 1] = NULL;
	screen_suspend(&ui->screen);
	sigemptyset(&ignore.sa_mask);
	sigaction(SIGINT, &ignore, &old_int);
	sigaction(SIGQUIT, &ignore, &old_quit);
	sigaction(SIGTSTP, &ignore, &old_tstp);
	pid = fork();
	if (pid == 0)
		run_child(argv);
	rc = pid < 0 ? err_sys(err, "start %s", argv[0]) : wait_for(pid, path_base(argv[0]), err);
	sigaction(SIGINT, &old_int, NULL);
	sigaction(SIGQUIT, &old_quit, NULL);
	sigaction(SIGTSTP, &old_tstp, NULL);
	screen_resume(&ui->screen);
	draw_all(&ui->draw);
	ui->dirty = true;
	free(copy);
	return rc;
}

static int write_draft(int fd, struct str text, const char *path, struct err *err)
{
	while (text.n > 0) {
		ssize_t w = write(fd, text.p, text.n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return err_sys(err, "write %s", path);
		text.p += w;
		text.n -= (size_t)w;
	}
	return 0;
}

int outside_edit(struct ui *ui, const char *notes, struct str initial, struct buf *out, char **path,
	struct err *err)
{
	const char *dir = getenv("TMPDIR");
	struct buf text = { 0 }, head = { 0 };
	int fd, rc;

	*path = path_join(dir && *dir ? dir : "/tmp", "bough-XXXXXX.md");
	fd = mkstemps(*path, 3);
	if (fd < 0) {
		rc = err_sys(err, "make a temporary file %s", *path);
		free(*path);
		*path = NULL;
		return rc;
	}
	draft_make(&text, initial, str_of(notes), &head);
	rc = write_draft(fd, (struct str){ text.p, text.n }, *path, err);
	if (close(fd) < 0 && rc == 0)
		rc = err_sys(err, "write %s", *path);
	if (rc == 0)
		rc = run_editor(ui, *path, err);
	buf_clear(&text);
	if (rc == 0)
		rc = settings_read_file(*path, &text, err);
	if (rc == 0)
		draft_take((struct str){ text.n ? text.p : "", text.n },
			(struct str){ head.p, head.n }, out);
	else
		outside_drop(path);
	buf_release(&text);
	buf_release(&head);
	return rc;
}

void outside_drop(char **path)
{
	if (*path)
		unlink(*path);
	free(*path);
	*path = NULL;
}

static void base64(struct str in, struct buf *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < in.n; i += 3) {
		unsigned long v = 0;
		size_t left = in.n - i;
		for (size_t k = 0; k < 3; k++)
			v = v << 8 | (k < left ? (unsigned char)in.p[i + k] : 0);
		buf_addc(out, digits[v >> 18 & 63]);
		buf_addc(out, digits[v >> 12 & 63]);
		buf_addc(out, left > 1 ? digits[v >> 6 & 63] : '=');
		buf_addc(out, left > 2 ? digits[v & 63] : '=');
	}
}

/* The command gets the text on its input and no terminal. */
static int copy_by_command(const char *command, struct str text, struct err *err)
{
	const char *argv[ARGV_MAX + 2];
	char *copy;
	int fd[2], rc;
	pid_t pid;

	if (split(command, &copy, argv) == 0) {
		free(copy);
		return err_set(err, ERR_USAGE, "BOUGH_COPY is blank");
	}
	if (pipe2(fd, O_CLOEXEC) < 0) {
		free(copy);
		return err_sys(err, "make a pipe");
	}
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);
		dup2(fd[0], STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		run_child(argv);
	}
	close(fd[0]);
	rc = pid < 0 ? err_sys(err, "start %s", argv[0]) : write_draft(fd[1], text, argv[0], err);
	close(fd[1]);
	if (pid > 0) {
		int ended = wait_for(pid, argv[0], err);
		if (rc == 0)
			rc = ended;
	}
	free(copy);
	return rc;
}

static int to_clipboard(struct ui *ui, struct str text, struct err *err)
{
	const char *command = getenv("BOUGH_COPY");
	struct buf safe = { 0 }, seq = { 0 };
	int rc = 0;

	text_safe(&safe, text.p, text.n, 0);
	if (command && *command) {
		rc = copy_by_command(command, (struct str){ safe.n ? safe.p : "", safe.n }, err);
	} else if (safe.n > COPY_MAX) {
		rc = err_set(err, ERR_LIMIT, "too long for the terminal's clipboard; set BOUGH_COPY "
			"to a command that takes it");
	} else {
		buf_adds(&seq, "\033]52;c;");
		base64((struct str){ safe.n ? safe.p : "", safe.n }, &seq);
		buf_adds(&seq, "\a");
		screen_write(&ui->screen, seq.p, seq.n);
	}
	buf_release(&safe);
	buf_release(&seq);
	return rc;
}

void outside_copy(struct ui *ui, struct str text, bool is_id)
{
	struct err err = { 0 };

	if (to_clipboard(ui, text, &err) < 0)
		ui_error(ui, "%s", err.text);
	else if (is_id)
		ui_say(ui, "copied the id %.*s", (int)text.n, text.p);
	else
		ui_say(ui, "copied the text, %zu byte%s", text.n, plural(text.n, "", "s"));
}
