/*
 * cmd-fork.c - `bough fork`: where the text of the new entry comes from, and
 * the fork itself.
 */
#include "config.h"

#include "cmd/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/signals.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cmd/editor.h"

bool cmd_check_utf8(struct cmd *c, struct str s)
{
	size_t good = utf8_valid_prefix(s.p, s.n);

	if (good == s.n)
		return true;
	cmd_complain(0, "%s: the text is not UTF-8 at byte %zu; nothing was written", c->def->name,
		good + 1);
	return false;
}

/* ---- the text ---- */

struct text {
	struct buf words;
	bool is_given; /* false only for --new, which may copy a branch without adding to it */
	struct composed draft; /* where the editor left it */
};

static struct str words_of(const struct text *text)
{
	return (struct str){ text->words.p ? text->words.p : "", text->words.n };
}

static int text_from_file(struct cmd *c, struct buf *text)
{
	if (editor_read_file(c->opt[OPT_FILE], text, &c->err) < 0)
		return cmd_fail(c);
	if (text->n > 0 && text->p[text->n - 1] == '\n')
		text->n--; /* that of the file's last line */
	return STATUS_DONE;
}

/* What the editor shows below the text: where the fork hangs. Session text in it is made safe. */
static void editor_notes(struct cmd *c, const struct fork_spec *spec, struct buf *out)
{
	struct buf title = { 0 };
	struct str id;

	session_title(c->s, &title);
	if (spec->at == ENTRY_NONE) {
		buf_adds(out, "bough: the first entry");
	} else {
		id = cmd_id(c, spec->at);
		buf_printf(out, "bough: a new entry %s ", spec->is_retry ? "beside" : "below");
		text_safe(out, id.p, id.n, TEXT_ONE_LINE);
		buf_printf(out, " (%s)", kind_name(c->s->entries[spec->at].kind));
	}
	buf_adds(out, "\nin ");
	text_safe(out, title.p, title.n, TEXT_ONE_LINE);
	buf_adds(out, "\nNothing but blanks gives it up. These lines are left out wherever they stand.");
	buf_release(&title);
}

static int text_from_editor(struct cmd *c, const struct fork_spec *spec, struct text *text)
{
	struct buf notes = { 0 };
	bool given = c->opt[OPT_MESSAGE] || c->opt[OPT_FILE];
	int rc;

	if (spec->is_retry && !given &&
		work_content(c->work, spec->at, &text->words, &c->err) < 0)
		return cmd_fail(c);
	editor_notes(c, spec, &notes);
	cmd_guard(true); /* from here on a text may be lost: ^C waits for what becomes of it */
	rc = editor_compose(&text->draft, buf_str(&notes), !given, &text->words, &c->err);
	buf_release(&notes);
	return rc < 0 ? cmd_fail(c) : STATUS_DONE;
}

static bool on_terminal(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static int find_text(struct cmd *c, const struct fork_spec *spec, struct text *text)
{
	bool given = c->opt[OPT_MESSAGE] || c->opt[OPT_FILE];
	int status = STATUS_DONE;

	text->is_given = true;
	if (c->opt[OPT_MESSAGE])
		buf_adds(&text->words, c->opt[OPT_MESSAGE]);
	else if (c->opt[OPT_FILE])
		status = text_from_file(c, &text->words);
	if (status != STATUS_DONE)
		return status;
	if (!given && !c->opt[OPT_EDIT] && c->opt[OPT_NEW]) {
		text->is_given = false;
	} else if (c->opt[OPT_EDIT] || (!given && on_terminal())) {
		status = text_from_editor(c, spec, text);
	} else if (!given) {
		cmd_complain(0, "fork: there is no terminal for an editor; give the text with -m or -F");
		status = STATUS_USAGE;
	}
	if (status == STATUS_DONE && !cmd_check_utf8(c, words_of(text)))
		status = STATUS_USAGE;
	return status;
}

/* ---- the fork ---- */

static bool check_options(struct cmd *c)
{
	const char *wrong = NULL;

	if (c->opt[OPT_MESSAGE] && c->opt[OPT_FILE])
		wrong = "-m and -F exclude each other";
	else if (c->opt[OPT_RETRY] && c->opt[OPT_ROLE])
		wrong = "--retry keeps the role; --role is not for it";
	else if (c->opt[OPT_ROLE] && !*c->opt[OPT_ROLE])
		wrong = "the role is empty";
	if (wrong)
		cmd_complain(0, "fork: %s", wrong);
	return !wrong;
}

/* Roles are written in capitals; who types them need not. */
static void upper(const char *from, struct buf *out)
{
	for (; *from; from++)
		buf_addc(out, (char)toupper((unsigned char)*from));
}

/* The tip of a session without entries is the place of its first one. */
static int find_place(struct cmd *c, uint32_t *at)
{
	if (c->s->n == 0 && !strcmp(c->args[1], "tip") && !c->opt[OPT_RETRY] && !c->opt[OPT_NEW]) {
		*at = ENTRY_NONE;
		return STATUS_DONE;
	}
	return cmd_entry(c, c->args[1], at);
}

/* ---- logs of events ---- */

/* An event that is no entry is named by its number. */
static int find_event(struct cmd *c, struct fork_spec *spec)
{
	spec->has_event = cmd_is_event(c, c->args[1], &spec->event);
	return spec->has_event ? STATUS_DONE : cmd_entry(c, c->args[1], &spec->at);
}

static int fork_events(struct cmd *c)
{
	struct fork_spec spec = { .is_exact = c->opt[OPT_EXACT] != NULL };
	struct done d = { 0 };
	int rc, status;

	if (c->opt[OPT_MESSAGE] || c->opt[OPT_FILE] || c->opt[OPT_EDIT] || c->opt[OPT_ROLE] ||
		c->opt[OPT_RETRY])
		return cmd_complain(STATUS_USAGE,
			"fork: a dsh log takes no entry of bough's; fork without a text and go on in "
			"the agent");
	status = find_event(c, &spec);
	if (status != STATUS_DONE)
		return status;
	cmd_guard(true);
	do
		rc = work_fork_new(c->work, &spec, c->dry, &d, &c->err);
	while (cmd_again(c, rc));
	cmd_guard(false);
	status = rc < 0 ? cmd_fail(c) : cmd_done(c, &d, true);
	done_release(&d);
	return status;
}

/* ---- the command ---- */

static int do_fork(struct cmd *c, struct fork_spec *spec, const struct text *text)
{
	struct done d = { 0 };
	int rc, status;

	/* an empty text is a text: its pointer says so */
	spec->content = text->is_given ? words_of(text) : (struct str){ NULL, 0 };
	cmd_guard(true);
	do
		rc = c->opt[OPT_NEW] ? work_fork_new(c->work, spec, c->dry, &d, &c->err)
				     : work_fork(c->work, spec, c->dry, &d, &c->err);
	while (cmd_again(c, rc));
	cmd_guard(false);
	status = rc < 0 ? cmd_fail(c) : cmd_done(c, &d, true);
	done_release(&d);
	return status;
}

int cmd_fork(struct cmd *c)
{
	struct fork_spec spec = { .is_retry = c->opt[OPT_RETRY] != NULL };
	struct text text = { 0 };
	struct buf role = { 0 };
	int status;

	if (!check_options(c))
		return STATUS_USAGE;
	status = cmd_open_for(c, WORK_FORK);
	if (status == STATUS_DONE && !strcmp(c->s->format, "dsh"))
		return fork_events(c);
	if (status == STATUS_DONE && c->opt[OPT_EXACT])
		return cmd_complain(STATUS_USAGE, "fork: --exact is for dsh logs");
	if (status == STATUS_DONE)
		status = find_place(c, &spec.at);
	if (status == STATUS_DONE && !c->opt[OPT_NEW])
		status = cmd_ask_force(c);
	if (status != STATUS_DONE)
		return status;
	if (c->opt[OPT_ROLE]) {
		upper(c->opt[OPT_ROLE], &role);
		spec.role = role.p;
	}
	status = find_text(c, &spec, &text);
	if (status == STATUS_DONE)
		status = do_fork(c, &spec, &text);
	if (status == STATUS_DONE && !c->dry)
		compose_drop(&text.draft);
	else if (text.draft.path)
		cmd_complain(0, "fork: your text is kept in %s", text.draft.path);
	if (text.draft.ended_by)
		signals_end_by(text.draft.ended_by);
	compose_release(&text.draft);
	buf_release(&text.words);
	buf_release(&role);
	return status;
}
