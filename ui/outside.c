/*
 * outside.c - runs the editor and the copy command, and sends OSC 52.
 */
#include "config.h"

#include "ui/outside.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/job.h"
#include "base/text.h"
#include "base/words.h"
#include "ui/internal.h"

#define COPY_MAX (100u << 10) /* terminals refuse larger clipboard sequences */

static void give_screen(void *arg)
{
	struct ui *ui = arg;

	screen_suspend(&ui->screen);
}

static void take_screen(void *arg)
{
	struct ui *ui = arg;

	screen_resume(&ui->screen);
	draw_all(&ui->draw);
	ui->dirty = true;
}

int outside_edit(struct ui *ui, struct str notes, struct str initial, struct composed *c,
	struct err *err)
{
	const struct compose_screen screen = { .give = give_screen, .take = take_screen, .arg = ui };
	int rc = compose(c, initial, notes, &screen, err);

	if (c->ended_by) {
		ui->end_signal = c->ended_by;
		ui->quit = true;
	}
	return rc;
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

/* A file in memory: a command that does not read must not hold us up. */
static int in_memory(struct str text, struct err *err)
{
	int fd = memfd_create("bough-copy", MFD_CLOEXEC);

	if (fd >= 0 && compose_write(fd, text) == 0 && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	err_sys(err, "keep the text");
	if (fd >= 0)
		close(fd);
	return ERR_IO;
}

/* The command gets the text on its input and no terminal. */
static int copy_by_command(struct ui *ui, const char *command, struct str text, struct err *err)
{
	struct words words = { 0 };
	struct job job = { .has_input = true };
	int rc = words_split(&words, command, "BOUGH_COPY", err);

	if (rc == 0)
		rc = job.input = in_memory(text, err);
	if (rc >= 0) {
		job.argv = words.v;
		rc = job_run(&job, err);
		close(job.input);
	}
	if (job.ended_by) {
		ui->end_signal = job.ended_by;
		ui->quit = true;
	}
	words_release(&words);
	return rc;
}

static int to_clipboard(struct ui *ui, struct str text, struct err *err)
{
	const char *command = getenv("BOUGH_COPY");
	struct buf safe = { 0 }, seq = { 0 };
	int rc = 0;

	text_safe(&safe, text.p, text.n, 0);
	if (command && *command) {
		rc = copy_by_command(ui, command, buf_str(&safe), err);
	} else if (safe.n > COPY_MAX) {
		rc = err_set(err, ERR_LIMIT, "too long for the terminal's clipboard; set BOUGH_COPY "
			"to a command that takes it");
	} else {
		buf_adds(&seq, "\033]52;c;");
		base64(buf_str(&safe), &seq);
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
