/*
 * compose.c - the file of a draft: made, given to the editor, read again, and
 * kept or removed. No session's file is touched here.
 */
#include "config.h"

#include "base/compose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/draft.h"
#include "base/job.h"
#include "base/path.h"
#include "base/words.h"

int compose_write(int fd, struct str text)
{
	while (text.n > 0) {
		ssize_t done = write(fd, text.p, text.n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		text.p += done;
		text.n -= (size_t)done;
	}
	return 0;
}

/* O_EXCL makes the name ours: what stands there already, a link too, is not opened. */
static int make_file(struct composed *c, struct str text, struct err *err)
{
	const char *dir = getenv("TMPDIR");
	int fd, rc = 0;

	c->path = path_join(dir && *dir ? dir : "/tmp", "bough-XXXXXX.md");
	fd = mkostemps(c->path, 3, O_CLOEXEC);
	if (fd < 0) {
		rc = err_sys(err, "make the temporary file %s", c->path);
		free(c->path);
		c->path = NULL;
		return rc;
	}
	if (compose_write(fd, text) < 0)
		rc = err_sys(err, "write %s", c->path);
	if (close(fd) < 0 && rc == 0)
		rc = err_sys(err, "write %s", c->path);
	if (rc < 0)
		compose_drop(c);
	return rc;
}

static int too_large(const char *name, struct err *err)
{
	return err_set(err, ERR_LIMIT, "%s is larger than %d MB", name, COMPOSE_MAX >> 20);
}

int compose_read(int fd, const char *name, struct buf *text, struct err *err)
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
		if (text->n > COMPOSE_MAX)
			return too_large(name, err);
	}
	return 0;
}

/* O_NONBLOCK: a pipe under the name must not hold us up. */
static int read_back(const char *path, struct buf *text, struct err *err)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rc;
	struct stat st;

	if (fd < 0 && errno == ELOOP)
		return err_set(err, ERR_IO, "%s is a link now; it was not followed", path);
	if (fd < 0)
		return err_sys(err, "open %s", path);
	if (fstat(fd, &st) < 0)
		rc = err_sys(err, "open %s", path);
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		rc = err_set(err, ERR_IO, "%s is not a file of yours any more", path);
	else if (st.st_size > COMPOSE_MAX)
		rc = too_large(path, err);
	else
		rc = compose_read(fd, path, text, err);
	close(fd);
	return rc;
}

static const char *editor_command(const char **name)
{
	const char *command = getenv(*name = "VISUAL");

	if (!command || !*command)
		command = getenv(*name = "EDITOR");
	return command && *command ? command : "vi";
}

static int run_editor(struct composed *c, const struct compose_screen *screen, struct err *err)
{
	const char *name, *command = editor_command(&name);
	struct words words = { 0 };
	struct job job = { 0 };
	struct err why = { 0 };
	int rc = words_split(&words, command, name, err);

	if (rc < 0)
		goto out;
	words_add(&words, c->path);
	job.argv = words.v;
	if (screen)
		screen->give(screen->arg);
	rc = job_run(&job, &why);
	c->ended_by = job.ended_by;
	if (screen && !c->ended_by)
		screen->take(screen->arg);
	if (rc < 0)
		rc = err_set(err, ERR_CANCELLED, "%s", why.text);
out:
	words_release(&words);
	return rc;
}

int compose(struct composed *c, struct str initial, struct str words,
	const struct compose_screen *screen, struct err *err)
{
	struct buf put = { 0 }, notes = { 0 }, got = { 0 };
	struct err why = { 0 };
	int rc, looked;

	memset(c, 0, sizeof(*c));
	draft_make(&put, initial, words, &notes);
	rc = make_file(c, buf_str(&put), err);
	if (rc < 0)
		goto out;
	rc = run_editor(c, screen, err);
	looked = read_back(c->path, &got, &why);
	c->is_changed = looked < 0 || !str_eq(buf_str(&got), buf_str(&put));
	if (rc == 0 && looked < 0)
		rc = err_hand_over(err, &why);
	if (rc == 0)
		draft_take(buf_str(&got), buf_str(&notes), &c->text);
	else if (looked < 0 && why.sys == ENOENT)
		compose_release(c); /* there is nothing to be named */
	else if (!c->is_changed && !c->ended_by)
		compose_drop(c);
out:
	buf_release(&put);
	buf_release(&notes);
	buf_release(&got);
	return rc;
}

void compose_drop(struct composed *c)
{
	if (c->path)
		unlink(c->path);
	free(c->path);
	c->path = NULL;
}

void compose_release(struct composed *c)
{
	buf_release(&c->text);
	free(c->path);
	c->path = NULL;
}
