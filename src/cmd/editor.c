/*
 * editor.c - the temporary file, the editor on it, and reading texts that the
 * user wrote; no session's file is touched here. The temporary file is private
 * (0600). No session text reaches the shell: it sees the user's own $VISUAL or
 * $EDITOR and the name of the file.
 */
#include "config.h"

#include "cmd/editor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/draft.h"
#include "base/path.h"
#include "base/xalloc.h"

static int write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static int make_file(struct str all, char **path, struct err *err)
{
	const char *dir = getenv("TMPDIR");
	int fd, rc = 0;

	*path = path_join(dir && *dir ? dir : "/tmp", "bough-XXXXXX.md");
	fd = mkstemps(*path, 3);
	if (fd < 0)
		rc = err_sys(err, "make the temporary file %s", *path);
	else if (write_all(fd, all.p, all.n) < 0)
		rc = err_sys(err, "write %s", *path);
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = err_sys(err, "write %s", *path);
	if (fd < 0) {
		free(*path);
		*path = NULL;
	}
	return rc;
}

static const char *editor_command(void)
{
	const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");

	if (visual && *visual)
		return visual;
	return editor && *editor ? editor : "vi";
}

static void exec_editor(const char *path)
{
	char *command = xasprintf("%s \"$1\"", editor_command());

	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	execl("/bin/sh", "sh", "-c", command, "bough-editor", path, (char *)NULL);
	_exit(127);
}

/* While the editor has the terminal, ^C is the editor's. */
static int run_editor(const char *path, struct err *err)
{
	struct sigaction ignore, old_int, old_quit;
	pid_t pid, got;
	int status = 0;

	memset(&ignore, 0, sizeof(ignore));
	sigemptyset(&ignore.sa_mask);
	ignore.sa_handler = SIG_IGN;
	sigaction(SIGINT, &ignore, &old_int);
	sigaction(SIGQUIT, &ignore, &old_quit);
	pid = fork();
	if (pid == 0)
		exec_editor(path);
	do
		got = pid < 0 ? -1 : waitpid(pid, &status, 0);
	while (got < 0 && pid > 0 && errno == EINTR);
	sigaction(SIGINT, &old_int, NULL);
	sigaction(SIGQUIT, &old_quit, NULL);
	if (got < 0)
		return err_sys(err, "start the editor");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_set(err, ERR_CANCELLED, "the editor \"%s\" failed; nothing was written",
			editor_command());
	return 0;
}

static int read_fd(int fd, const char *name, struct buf *text, struct err *err)
{
	enum { CHUNK = 64 << 10 };
	ssize_t n = 1;

	while (n != 0) {
		buf_reserve(text, CHUNK);
		n = read(fd, text->p + text->n, CHUNK);
		if (n < 0 && errno != EINTR)
			return err_sys(err, "read %s", name);
		if (n > 0)
			text->n += (size_t)n;
		if (text->n > EDITOR_MAX)
			return err_set(err, ERR_LIMIT, "%s is larger than %d MB", name,
				EDITOR_MAX >> 20);
	}
	return 0;
}

int editor_read_file(const char *path, struct buf *text, struct err *err)
{
	int fd, rc;

	if (!strcmp(path, "-"))
		return read_fd(STDIN_FILENO, "standard input", text, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "open %s", path);
	rc = read_fd(fd, path, text, err);
	close(fd);
	return rc;
}

void editor_discard(char **path)
{
	if (*path)
		unlink(*path);
	free(*path);
	*path = NULL;
}

int editor_compose(struct str words, struct buf *text, char **path_out, struct err *err)
{
	struct buf all = { 0 }, notes = { 0 };
	char *path;
	int rc;

	draft_make(&all, buf_str(text), words, &notes);
	rc = make_file(buf_str(&all), &path, err);
	buf_clear(&all);
	buf_clear(text);
	if (rc == 0)
		rc = run_editor(path, err);
	if (rc == 0)
		rc = editor_read_file(path, &all, err); /* by name: editors replace the file */
	if (rc == 0)
		draft_take(buf_str(&all), buf_str(&notes), text);
	if (rc == 0 && text->n == 0)
		rc = err_set(err, ERR_CANCELLED, "the text is empty; nothing was written");
	if (rc < 0)
		editor_discard(&path);
	*path_out = path;
	buf_release(&all);
	buf_release(&notes);
	return rc;
}
