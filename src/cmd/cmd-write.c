/*
 * cmd-write.c - the commands that change a session and need no text of their
 * own: checkout, label, rename, repair, trash. The work is the store's; here
 * are its arguments and what is said about it.
 */
#include "config.h"

#include "cmd/internal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CUT_LINE = 1000 }; /* bytes of a line that is cut; more is told by its place */

static json_doc *json_or_null(const char *s)
{
	return *s ? json_cstr(s) : json_doc_null();
}

static int print_done_json(struct cmd *c, const struct done *d)
{
	json_doc *o = json_doc_object();

	json_doc_set(o, "dry_run", json_doc_bool(c->dry));
	json_doc_set(o, "said", json_cstr(d->said));
	json_doc_set(o, "entry", json_or_null(d->entry));
	json_doc_set(o, "session", json_or_null(d->session));
	json_doc_set(o, "path", json_or_null(d->path));
	if (c->dry)
		json_doc_set(o, "lines", json_doc_string((struct str){ d->lines.p, d->lines.n }));
	if (d->cut.n)
		json_doc_set(o, "cut", json_doc_string((struct str){ d->cut.p, d->cut.n }));
	return json_print(c, o, STATUS_DONE);
}

/* The store speaks to the browser's status line; the key it names is none here. */
static void drop_key_hint(struct done *d)
{
	char *hint = strstr(d->said, "; u undoes");

	if (hint)
		memmove(hint, hint + strlen("; u undoes"), strlen(hint + strlen("; u undoes")) + 1);
}

/* What leaves the log, on stderr: stdout has what comes. */
static void complain_cut(struct str lines)
{
	while (lines.n > 0) {
		const char *end = memchr(lines.p, '\n', lines.n);
		size_t n = end ? (size_t)(end - lines.p) : lines.n;

		cmd_complain(0, "cut: %.*s", n < CUT_LINE ? (int)n : CUT_LINE, lines.p);
		n += end != NULL;
		lines.p += n;
		lines.n -= n;
	}
}

/* Records of a log of events go out byte for byte where no terminal reads, as `cat` has them. */
static void print_lines(struct cmd *c, struct str lines)
{
	struct session *s = c->work ? work_session(c->work) : NULL;

	if (s && s->ops->events && !c->out.is_terminal)
		out_exact(&c->out, lines);
	else
		print_records(c, lines);
}

/* The whole ids too: the sentence has them short, and stdout may never have them. */
static void note_made(struct cmd *c, const struct done *d)
{
	buf_adds(&c->made, d->said);
	if (*d->entry)
		buf_printf(&c->made, "; the entry is %s", d->entry);
	if (*d->session)
		buf_printf(&c->made, "; the session is %s", d->session);
}

int cmd_done(struct cmd *c, struct done *d, bool print_ids)
{
	struct out *o = &c->out;
	bool on_stdout = true;

	drop_key_hint(d);
	if (!c->dry)
		note_made(c, d);
	if (c->json)
		return print_done_json(c, d);
	complain_cut((struct str){ d->cut.p, d->cut.n });
	if (c->dry && d->lines.n > 0) {
		print_lines(c, (struct str){ d->lines.p, d->lines.n });
		on_stdout = false;
	} else if (!c->dry && print_ids) {
		if (*d->entry)
			out_printf(o, "%s\n", d->entry);
		if (*d->session)
			out_printf(o, "%s\n", d->session);
		on_stdout = false;
	}
	if (on_stdout) {
		out_words(o, str_of(d->said));
		out_puts(o, "\n");
	} else {
		cmd_complain(0, "%s", d->said);
	}
	return STATUS_DONE;
}

/* rc of a work_* function: what it did, or why not. */
static int finish(struct cmd *c, int rc, struct done *d)
{
	int status;

	cmd_guard(false);
	status = rc < 0 ? cmd_fail(c) : cmd_done(c, d, false);
	done_release(d);
	return status;
}

static int open_entry(struct cmd *c, unsigned what, uint32_t *entry)
{
	int status = what ? cmd_open_for(c, what) : cmd_open(c);

	return status == STATUS_DONE ? cmd_entry(c, c->args[1], entry) : status;
}

int cmd_checkout(struct cmd *c)
{
	struct done d = { 0 };
	uint32_t entry;
	int rc, status = open_entry(c, WORK_REFLOG, &entry);

	if (status != STATUS_DONE)
		return status;
	cmd_guard(true);
	do
		rc = work_checkout(c->work, entry, c->dry, &d, &c->err);
	while (cmd_again(c, rc));
	return finish(c, rc, &d);
}

static int show_label(struct cmd *c, uint32_t entry)
{
	const struct label *label = session_label(c->s, entry);
	int status = label ? STATUS_DONE : STATUS_FOUND;

	if (c->json) {
		json_doc *o = json_doc_object();

		json_doc_set(o, "entry", json_id(c, entry));
		json_doc_set(o, "label", label ? json_doc_string(label->text) : json_doc_null());
		return json_print(c, o, status);
	}
	if (label) {
		out_words(&c->out, label->text);
		out_puts(&c->out, "\n");
	}
	return status;
}

int cmd_label(struct cmd *c)
{
	struct done d = { 0 };
	uint32_t entry;
	int rc, status = open_entry(c, c->nargs > 2 ? WORK_REFLOG : 0, &entry);

	if (status != STATUS_DONE)
		return status;
	if (c->nargs == 2)
		return show_label(c, entry);
	if (!cmd_check_utf8(c, str_of(c->args[2])))
		return STATUS_USAGE;
	cmd_guard(true);
	do
		rc = work_label(c->work, entry, str_of(c->args[2]), c->dry, &d, &c->err);
	while (cmd_again(c, rc));
	return finish(c, rc, &d);
}

int cmd_rename(struct cmd *c)
{
	struct done d = { 0 };
	int rc, status = cmd_open_for(c, WORK_TITLE);

	if (status != STATUS_DONE)
		return status;
	if (!cmd_check_utf8(c, str_of(c->args[1])))
		return STATUS_USAGE;
	cmd_guard(true);
	do
		rc = work_rename(c->work, str_of(c->args[1]), c->dry, &d, &c->err);
	while (cmd_again(c, rc));
	return finish(c, rc, &d);
}

int cmd_ask_force(struct cmd *c)
{
	struct live_look live;
	char said[200], when[40], answer[16] = "";

	if (c->opt[OPT_FORCE])
		work_force(c->work, true);
	if (c->opt[OPT_FORCE] || c->dry || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return STATUS_DONE;
	work_live(c->work, &live);
	if (live.state == LIVE_IN_USE || !work_repair_is_risky(c->work, &live, said))
		return STATUS_DONE;
	live_when(live.mtime, when);
	cmd_complain(0, "%s (%s). If its agent still runs, what it writes next is spoiled.", said, when);
	fputs("Go on? (y/n) ", stderr);
	if (!fgets(answer, sizeof(answer), stdin) || (answer[0] != 'y' && answer[0] != 'Y')) {
		cmd_complain(0, "nothing was changed");
		return STATUS_CANCELLED;
	}
	work_force(c->work, true);
	return STATUS_DONE;
}

int cmd_repair(struct cmd *c)
{
	struct done d = { 0 };
	int rc, status = cmd_open_for(c, WORK_REPAIR);

	if (status != STATUS_DONE)
		return status;
	status = cmd_ask_force(c);
	if (status != STATUS_DONE)
		return status;
	cmd_guard(true);
	do
		rc = c->opt[OPT_SALVAGE] ? work_salvage(c->work, c->dry, &d, &c->err)
					 : work_repair(c->work, c->dry, &d, &c->err);
	while (cmd_again(c, rc));
	return finish(c, rc, &d);
}

int cmd_trash(struct cmd *c)
{
	struct done d = { 0 };
	int rc, status = cmd_open_for(c, WORK_TRASH);

	if (status != STATUS_DONE)
		return status;
	cmd_guard(true);
	do
		rc = work_trash(&c->work, c->dry, &d, &c->err);
	while (cmd_again(c, rc));
	c->s = NULL; /* the handle may be closed */
	return finish(c, rc, &d);
}
