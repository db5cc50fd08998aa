/*
 * script.c - feeds the browser from a file and writes what it shows to files.
 */
#include "config.h"

#include "ui/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "ui/settings.h"
#include "ui/internal.h"
#include "ui/view.h"

int script_open(struct script **out, const char *path, struct err *err)
{
	struct script *s = xcalloc(1, sizeof(*s));
	int rc = settings_read_file(path, &s->text, err);

	if (rc < 0) {
		script_free(&s);
		return rc;
	}
	s->rest = (struct str){ s->text.n ? s->text.p : "", s->text.n };
	*out = s;
	return 0;
}

void script_free(struct script **s)
{
	if (!*s)
		return;
	buf_release(&(*s)->text);
	free(*s);
	*s = NULL;
}

static struct str take_line(struct str *rest)
{
	const char *nl = memchr(rest->p, '\n', rest->n);
	struct str line = { rest->p, nl ? (size_t)(nl - rest->p) : rest->n };

	rest->p += line.n + (nl ? 1 : 0);
	rest->n -= line.n + (nl ? 1 : 0);
	return line;
}

static void fail(struct ui *ui, const char *what, struct str where)
{
	ui->script->has_failed = true;
	ui->script->is_done = true;
	ui_error(ui, "script: %s: %.*s", what, (int)(where.n > 80 ? 80 : where.n), where.p);
}

static void run_command(struct ui *ui, struct str line)
{
	char *copy = xstrndup(line.p, line.n);

	if (!str_starts(line, "save-")) /* what was said belongs to the picture */
		status_clear(ui);
	ui_apply(ui, ui->top, command_line(ui->top, copy));
	free(copy);
}

/* One key of the line; a word in quotes gives its characters one by one. */
static void next_key(struct ui *ui)
{
	struct script *s = ui->script;
	struct str before = s->line;
	struct err err = { 0 };
	uint32_t key;

	if (!s->in_word && *s->line.p == '"' && s->line.n > 1) {
		s->in_word = true;
		s->line.p++;
		s->line.n--;
	}
	if (s->in_word) {
		size_t n = utf8_decode(s->line.p, s->line.n, &key);
		s->line.p += n;
		s->line.n -= n;
		if (key == '"')
			s->in_word = false;
		else
			ui_key(ui, key);
		return;
	}
	if (key_parse(&s->line, &key, &err) < 0)
		fail(ui, err.text, before);
	else
		ui_key(ui, key);
}

void script_step(struct ui *ui)
{
	struct script *s = ui->script;

	while (s->line.n > 0 && !s->in_word && *s->line.p == ' ') {
		s->line.p++;
		s->line.n--;
	}
	if (s->line.n > 0) {
		next_key(ui);
		return;
	}
	s->in_word = false;
	if (s->rest.n == 0) {
		s->is_done = true;
		return;
	}
	s->line = take_line(&s->rest);
	if (s->line.n > 0 && *s->line.p == '#') {
		s->line.n = 0;
	} else if (s->line.n > 1 && *s->line.p == ':' && s->line.p[1] != ' ') {
		struct str command = { s->line.p + 1, s->line.n - 1 };
		s->line.n = 0;
		run_command(ui, command);
	}
}

int script_save(const char *name, struct str text, struct err *err)
{
	const char *dir = getenv("BOUGH_SCRIPT_OUT");
	char *path;
	FILE *f;
	int rc = 0;

	if (!*name || strchr(name, '/') || name[0] == '.')
		return err_set(err, ERR_USAGE, "not a file name: '%s'", name);
	path = path_join(dir && *dir ? dir : ".", name);
	f = fopen(path, "w");
	if (!f) {
		rc = err_sys(err, "write %s", path);
		goto out;
	}
	if (fwrite(text.p, 1, text.n, f) != text.n)
		rc = err_sys(err, "write %s", path);
	if (fclose(f) != 0 && rc == 0)
		rc = err_sys(err, "write %s", path);
out:
	free(path);
	return rc;
}
