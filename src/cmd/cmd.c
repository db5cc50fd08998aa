/*
 * cmd.c - the table of the subcommands and the run of one of them: parse, do,
 * flush, status. What a command does stands in its own file; help, completion
 * and the manual are made from the rows here.
 */
#include "config.h"

#include "cmd/internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

static const struct cmd_option cat_options[] = {
	{ OPT_FROM, 0, "from", "SEQ", "begin with event SEQ" },
	{ OPT_BALANCED, 0, "balanced", NULL, "add the events that a repair would add" },
	{ OPT_STORED, 0, "stored", NULL, "the records as they stand in the file" },
	{ .name = NULL },
};

static const struct cmd_option list_options[] = {
	{ OPT_SORT, 's', "sort", "KEY", "activity (default), created, title or size" },
	{ OPT_HEADERS, 0, "headers", NULL,
		"only what first lines say (dsh): no titles, no counts; quick" },
	{ .name = NULL },
};

static const struct cmd_option tree_options[] = {
	{ OPT_ALL, 'a', "all", NULL, "show every entry (default)" },
	{ OPT_FOLD, 'f', "fold", NULL, "fold the branches off the tip's branch" },
	{ OPT_SHOW, 0, "show", "KINDS", "all (default), talk, prompts, tools or problems" },
	{ .name = NULL },
};

static const struct cmd_option log_options[] = {
	{ OPT_NUMBER, 'n', "number", "N", "only the N entries nearest the end of the branch" },
	{ OPT_REVERSE, 0, "reverse", NULL, "the end of the branch first" },
	{ .name = NULL },
};

static const struct cmd_option fork_options[] = {
	{ OPT_MESSAGE, 'm', "message", "TEXT", "what the new entry says" },
	{ OPT_FILE, 'F', "file", "FILE", "read it from FILE ('-': standard input)" },
	{ OPT_EDIT, 'e', "edit", NULL, "write it in $VISUAL or $EDITOR" },
	{ OPT_ROLE, 0, "role", "ROLE", "the new entry's role (default: USER)" },
	{ OPT_RETRY, 0, "retry", NULL, "put it beside ENTRY, in ENTRY's role, not below" },
	{ OPT_NEW, 0, "new", NULL, "copy the branch into a new session first" },
	{ OPT_EXACT, 0, "exact", NULL, "of a dsh log: cut at ENTRY, or refuse" },
	{ OPT_FORCE, 0, "force", NULL, "set a torn end aside although it may still be written" },
	{ .name = NULL },
};

static const struct cmd_option repair_options[] = {
	{ OPT_SALVAGE, 0, "salvage", NULL, "of a dsh log: set a damaged end aside too" },
	{ OPT_FORCE, 0, "force", NULL, "although it may still be written, or a turn is open" },
	{ .name = NULL },
};

static const struct cmd_option convert_options[] = {
	{ OPT_COMPRESSION, 0, "compression", "KIND", "zstd or none" },
	{ OPT_FORCE, 0, "force", NULL, "also when the root is left with both encodings" },
	{ .name = NULL },
};

static const struct cmd_option fold_options[] = {
	{ OPT_ROUND, 0, "round", "N", "as of round N, not the newest" },
	{ OPT_CANONICAL, 0, "canonical", NULL, "the canonical JSON of the fold, byte for byte" },
	{ OPT_OUTLINE, 0, "outline", NULL, "depth and id of each node, byte for byte" },
	{ .name = NULL },
};

static const struct cmd_option show_options[] = {
	{ OPT_VERIFY, 0, "verify", NULL, "with --json, of a conversation: run the checks too" },
	{ .name = NULL },
};

const struct command_def commands[] = {
	{ .name = "list", .args = "[PATH...]", .group = "Look", .max_args = -1,
		.help = "List the sessions of the roots",
		.more = "One row a session, grouped by project, children under their parent. PATH is a\n"
			"root, a session file or a session folder. A session that cannot be read is a\n"
			"row with the reason. Of a conversation only the newest round's header is read;\n"
			"a count that it does not have is a dash. A '*' behind the age: the data has no\n"
			"time, it is that of the file. 'in use' is open for writing somewhere, 'live' was\n"
			"written within the last minute (ten with an open turn),\n"
			"'torn' has bytes behind its last complete record, 'damaged' has problems,\n"
			"'open turn' has a last turn without an end, 'same id' shares its id with another\n"
			"session of the root, 'read-only' is in a folder that can not be written, and\n"
			"'not read to its end' is so long that the list reads only its first 256 MB, so\n"
			"that it holds up no other row: what the row says is of these ('4+ entries').\n",
		.options = list_options, .run = cmd_list },
	{ .name = "tree", .args = "SESSION", .group = "Look", .min_args = 1, .max_args = 1,
		.help = "Draw the tree of a session",
		.more = "'*' is on the tip's branch, 'o' off it, '@' the tip, '!' a failed tool or damage.\n"
			"'unsent' stands in the record only and was never sent to the model; 'more' counts\n"
			"what is folded away. A conversation has no tip, all of its nodes carry '*'.\n"
			"Rows are cut to the terminal, never on a pipe.\n",
		.options = tree_options, .run = cmd_tree },
	{ .name = "log", .args = "SESSION [ENTRY]", .group = "Look", .min_args = 1, .max_args = 2,
		.help = "Show the branch of the tip, or of ENTRY, root first, with content",
		.more = "Of a conversation: its talks by their time, each with what was asked and what\n"
			"was answered last.\n",
		.options = log_options, .run = cmd_log },
	{ .name = "show", .args = "SESSION [ENTRY]", .group = "Look", .min_args = 1, .max_args = 2,
		.help = "Show a session's summary, or one entry whole",
		.more = "Of a conversation: its rounds and the newest of them, how many nodes, relations\n"
			"and references there are, and whether the checks hold; of a node its relations.\n"
			"Of a dsh log ENTRY may be any event: one that is no entry is printed with the\n"
			"entry that it folds under.\n",
		.options = show_options, .run = cmd_show },
	{ .name = "branches", .args = "SESSION", .group = "Look", .min_args = 1, .max_args = 1,
		.help = "List the branches, and say why the tip is the tip", .run = cmd_branches },
	{ .name = "reflog", .args = "SESSION", .group = "Look", .min_args = 1, .max_args = 1,
		.help = "List checkouts, labels and appends, newest first", .run = cmd_reflog },
	{ .name = "cat", .args = "SESSION [ENTRY]", .group = "Look", .min_args = 1, .max_args = 2,
		.help = "Print the stored records, or one",
		.more = "Lines come in the order of the file, damaged ones too. What could steer a\n"
			"terminal becomes \\uXXXX in a line of JSON, which leaves its values as they are;\n"
			"other lines are made safe like any text. With --json: a list of the lines as\n"
			"strings.\n"
			"Of a dsh log, what is printed are its events, one compact JSON object a line,\n"
			"packed rows and ranges expanded, and byte for byte where no terminal reads;\n"
			"--stored prints the records, and the other options are for such logs only.\n"
			"ENTRY may be any event there.\n",
		.options = cat_options, .run = cmd_cat },
	{ .name = "fold", .args = "SESSION", .group = "Look", .min_args = 1, .max_args = 1,
		.help = "Draw the outline of a conversation, folded from its rounds",
		.more = "A round that is broken or does not follow ends the fold; that is said, and status\n"
			"is 1; so it is where --round asks for one behind the end, and nothing is printed.\n"
			"On a terminal --canonical and --outline escape what could steer it, to a pipe\n"
			"or a file ids go out byte for byte.\n",
		.options = fold_options, .run = cmd_fold },
	{ .name = "rounds", .args = "SESSION", .group = "Look", .min_args = 1, .max_args = 1,
		.help = "List the rounds of a conversation and what each one changed",
		.run = cmd_rounds },
	{ .name = "relations", .args = "SESSION", .group = "Look", .min_args = 1, .max_args = 1,
		.help = "List the relations between the nodes of a conversation",
		.run = cmd_relations },
	{ .name = "unresolved", .args = "SESSION", .group = "Look", .min_args = 1, .max_args = 1,
		.help = "List what a conversation names and does not hold", .run = cmd_unresolved },
	{ .name = "cards", .args = "SESSION", .group = "Look", .min_args = 1, .max_args = 1,
		.help = "List where a conversation's calls changed their history", .run = cmd_cards },
	{ .name = "checkout", .args = "SESSION ENTRY", .group = "Change", .writes = true,
		.min_args = 2, .max_args = 2, .help = "Make ENTRY the tip", .run = cmd_checkout },
	{ .name = "label", .args = "SESSION ENTRY [TEXT]", .group = "Change", .writes = true,
		.min_args = 2, .max_args = 3, .help = "Show or set the label of ENTRY",
		.more = "An empty TEXT removes the label.\n", .run = cmd_label },
	{ .name = "fork", .args = "SESSION ENTRY", .group = "Change", .writes = true, .min_args = 2,
		.max_args = 2, .help = "Go on from ENTRY on a branch of its own",
		.more = "Prints the id of the new entry, and with --new that of the new session on the\n"
			"line below it. Without -m and -F the text is written in an editor; nothing but\n"
			"blanks there gives the fork up. Of FILE one newline at the end is left out.\n"
			"--new without a text only copies the branch.\n"
			"A dsh log is always forked into a new session, and without a text. ENTRY may\n"
			"be any event; events up to the end of its turn are copied, and those that\n"
			"follow before the next turn.\n",
		.options = fork_options, .run = cmd_fork },
	{ .name = "rename", .args = "SESSION TITLE", .group = "Change", .writes = true,
		.min_args = 2, .max_args = 2, .help = "Set the title of a session",
		.run = cmd_rename },
	{ .name = "trash", .args = "SESSION", .group = "Change", .writes = true, .min_args = 1,
		.max_args = 1, .help = "Move a session to the trash; nothing is deleted",
		.more = "That is $XDG_DATA_HOME/Trash, or .trash beside the session where files can not\n"
			"be moved there (another device or mount). A link in the place of one of their\n"
			"folders is refused; only Trash itself may be one.\n",
		.run = cmd_trash },
	{ .name = "repair", .args = "SESSION", .group = "Change", .writes = true, .min_args = 1,
		.max_args = 1, .help = "Set a torn tail aside, append lost entries again",
		.more = "Temporary files that killed writers left beside the session are removed where\n"
			"nothing holds them. Of a dsh log, what loading it would commit: the torn end is\n"
			"kept in a file of its own and cut, events that it still held are appended, and\n"
			"an interrupted turn is closed. --dry-run prints the events. A damaged frame is\n"
			"no torn end and nothing is cut, unless it is the last and --salvage is given.\n",
		.options = repair_options, .run = cmd_repair },
	{ .name = "convert", .args = "ROOT|SESSION", .group = "Change", .writes = true, .min_args = 1,
		.max_args = 1, .help = "Write the dsh logs of a root again, compressed or not",
		.more = "A harness takes one encoding for a root and refuses all of its sessions when it\n"
			"finds the other. So a root is converted whole; a session or a project alone only\n"
			"when the rest has the new encoding, and nothing is begun when one of the logs\n"
			"can not be converted, unless --force is given. While a log of the root is in\n"
			"use, or was written within the last minute (ten with an open turn), nothing is\n"
			"converted, --force or not. Interrupted, the same command goes on.\n"
			"Each new file is read back and compared before the old one gets another name.\n"
			"Nothing is deleted. A log whose name does not say what its bytes are gets the\n"
			"name that does.\n",
		.options = convert_options, .run = cmd_convert },
	{ .name = "problems", .args = "SESSION", .group = "Check", .min_args = 1, .max_args = 1,
		.help = "List what is damaged, with the bytes; status 1 when anything is",
		.run = cmd_problems },
	{ .name = "verify", .args = "[PATH...]", .group = "Check", .max_args = -1,
		.help = "Check every session; one line a finding, status 1 when there is one",
		.more = "Conversations are read on all processors. On a terminal a bar shows how far it\n"
			"is. The codes of findings stand in doc/formats.md.\n",
		.run = cmd_verify },
	{ .name = "help", .args = "[COMMAND]", .group = "Look", .max_args = 1,
		.help = "Show the commands, or one", .run = help_run },
	{ .name = NULL },
};

const struct command_def *cmd_find(const char *name)
{
	for (const struct command_def *def = commands; def->name; def++) {
		if (!strcmp(def->name, name))
			return def;
	}
	return NULL;
}

bool cmd_color_parse(const char *word, enum cmd_color *out)
{
	static const char *const words[] = {
		[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i], word)) {
			*out = (enum cmd_color)i;
			return true;
		}
	}
	return false;
}

int cmd_complain(int status, const char *fmt, ...)
{
	struct buf text = { 0 }, safe = { 0 };
	struct out o;
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	text_safe(&safe, text.p, text.n, TEXT_ONE_LINE);

	out_init(&o, STDERR_FILENO, false);
	out_puts(&o, "bough: ");
	out_text(&o, safe.p, safe.n);
	out_puts(&o, "\n");
	out_close(&o); /* no place is left to say that stderr failed */
	buf_release(&text);
	buf_release(&safe);
	return status;
}

/* ---- ^C ---- */

static volatile sig_atomic_t guarded, interrupted;

/*
 * Looking can stop anywhere: nothing is held. While something is written the
 * signal is let pass; the write is short and ends in a state that is known.
 */
static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = true;
	if (!guarded)
		_exit(STATUS_CANCELLED);
}

void cmd_guard(bool on)
{
	guarded = on;
}

enum { AGAIN_MS = 50 };

bool cmd_again(struct cmd *c, int rc)
{
	struct timespec pause = { .tv_nsec = AGAIN_MS * 1000000L };

	if ((rc != ERR_LOCKED && rc != ERR_UNSURE && rc != ERR_CHANGED) ||
		clock_mono_us() >= c->wait_until)
		return false;
	cmd_guard(false);
	nanosleep(&pause, NULL);
	cmd_guard(true);
	err_clear(&c->err);
	return true;
}

bool cmd_was_interrupted(void)
{
	return interrupted;
}

static void catch_signals(void)
{
	struct sigaction sa, old;

	memset(&sa, 0, sizeof(sa));
	sigemptyset(&sa.sa_mask);
	sa.sa_flags = SA_RESTART;
	sa.sa_handler = on_interrupt;
	if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(SIGINT, &sa, NULL);
	sa.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &sa, NULL); /* out.c looks at EPIPE */
}

static int run(struct cmd *c, int argc, char **argv)
{
	int status, failed;

	if (!opts_parse(c, argc, argv))
		return STATUS_USAGE;
	if (c->opt[OPT_HELP]) {
		help_command(&c->out, c->def);
		status = STATUS_DONE;
	} else {
		status = c->def->run(c);
	}
	failed = out_close(&c->out);
	if (failed && c->made.n)
		return cmd_complain(STATUS_IO, "this WAS done: %s; only standard output failed: %s",
			c->made.p, strerror(failed));
	if (failed)
		return cmd_complain(STATUS_IO, "cannot write: %s", strerror(failed));
	return status;
}

int cmd_main(int argc, char **argv, const struct cmd_globals *g)
{
	struct cmd c = { .def = cmd_find(argv[0]), .g = g };
	int status;

	if (!c.def)
		return cmd_unknown(argv[0]);
	catch_signals();
	status = run(&c, argc, argv);
	work_close(&c.work);
	store_free(&c.store);
	buf_release(&c.id);
	buf_release(&c.made);
	free(c.roots);
	return status;
}
