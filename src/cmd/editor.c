/*
 * editor.c - what the commands make of a text from a person. The draft and the
 * editor are the business of base/compose.h.
 */
#include "config.h"

#include "cmd/editor.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int editor_read_file(const char *path, struct buf *text, struct err *err)
{
	int fd, rc;

	if (!strcmp(path, "-"))
		return compose_read(STDIN_FILENO, "standard input", text, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "open %s", path);
	rc = compose_read(fd, path, text, err);
	close(fd);
	return rc;
}

int editor_compose(struct composed *c, struct str words, bool must_change, struct buf *text,
	struct err *err)
{
	struct err why = { 0 };
	int rc = compose(c, buf_str(text), words, NULL, &why);

	buf_clear(text);
	if (rc < 0)
		return err_set(err, rc, "%s; nothing was written", why.text);
	buf_addstr(text, buf_str(&c->text));
	if (!c->is_changed && (must_change || text->n == 0))
		rc = err_set(err, ERR_CANCELLED, "the text came back unchanged (does the editor "
			"wait until it is closed?); nothing was written");
	else if (text->n == 0)
		rc = err_set(err, ERR_CANCELLED, "the text is empty; nothing was written");
	if (rc < 0)
		compose_drop(c);
	return rc;
}
