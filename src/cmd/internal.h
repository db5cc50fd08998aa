/*
 * internal.h - what the commands share: the rows of the table, the state of
 * one run, and the helpers that find sessions, name entries and build JSON.
 */
#ifndef BOUGH_CMD_INTERNAL_H
#define BOUGH_CMD_INTERNAL_H

#include <stdint.h>

#include "base/err.h"
#include "cmd/cmd.h"
#include "cmd/out.h"
#include "json/doc.h"
#include "store/store.h"

enum opt_id {
	OPT_HELP,
	OPT_ROOT,
	OPT_ASCII,
	OPT_COLOR,
	OPT_JSON,
	OPT_DRY_RUN,
	OPT_SORT,
	OPT_ALL,
	OPT_FOLD,
	OPT_SHOW,
	OPT_NUMBER,
	OPT_REVERSE,
	OPT_MESSAGE,
	OPT_FILE,
	OPT_ROLE,
	OPT_RETRY,
	OPT_NEW,
	OPT_EDIT,
	OPT_ROUND,
	OPT_CANONICAL,
	OPT_OUTLINE,
	OPT_VERIFY,
	OPT_FROM,
	OPT_BALANCED,
	OPT_STORED,
	OPT_HEADERS,
	OPT_EXACT,
	OPT_COMPRESSION,
	OPT_SALVAGE,
	OPT_FORCE,
	OPT_WAIT,
	OPT_MAX
};

struct cmd_option {
	enum opt_id id;
	char letter;      /* 0: none */
	const char *name; /* NULL ends a list */
	const char *arg;  /* NULL: takes none; "[=WORD]": may be left out */
	const char *help;
};

struct cmd;

struct command_def {
	const char *name;
	const char *args;  /* "SESSION [ENTRY]" */
	const char *group; /* "Look", "Change", "Check" */
	const char *help;  /* one line */
	const char *more;  /* paragraphs for `help COMMAND`, or NULL */
	bool writes;       /* has --dry-run */
	int min_args, max_args; /* max_args -1: any number */
	const struct cmd_option *options; /* its own, beside the common ones; or NULL */
	int (*run)(struct cmd *c);
};

extern const struct command_def commands[]; /* a NULL name ends it */

/* One run of a command. */
struct cmd {
	const struct command_def *def;
	const struct cmd_globals *g;
	struct out out;
	struct err err;            /* the first failure */
	char **args;
	int nargs;
	const char *opt[OPT_MAX];  /* the argument, "" for a flag, NULL when not given */
	const char **roots;        /* -r, before and behind the command's name */
	size_t nroots;
	bool ascii, json, dry;
	uint64_t wait_until;       /* clock_mono_us() up to which what is in use is tried again */
	struct buf made;           /* what was written, for when stdout can not take it */
	struct store *store;       /* when a session had to be looked up */
	struct work *work;         /* the open session */
	struct session *s;         /* its session; NULL before cmd_open */
	struct buf id;             /* scratch of cmd_id */
};

/* ---- opts.c ---- */

extern const struct cmd_option common_options[]; /* of every command */
extern const struct cmd_option main_options[];   /* only before the command */
extern const struct cmd_option json_option[];
extern const struct cmd_option write_options[]; /* of every command that writes */
/* Fills c from argv; false: wrong, said on stderr. Permutes argv. */
bool opts_parse(struct cmd *c, int argc, char **argv);
/* A whole number from min to max; false: wrong, said on stderr. */
bool opts_number(struct cmd *c, enum opt_id id, long min, long max, long *out);

/* ---- help.c ---- */

void help_command(struct out *o, const struct command_def *def);
void help_short(const struct command_def *def); /* "usage: ..." on stderr */
int help_run(struct cmd *c);

/* ---- find.c ---- */

/* Says c->err on stderr and turns it into a status. */
int cmd_fail(struct cmd *c);
/* The store with the roots of this run added; STATUS_DONE or what to return. */
int cmd_store(struct cmd *c);
/* The store with the paths of the arguments added; without arguments the roots. */
int cmd_paths(struct cmd *c);
/*
 * After the names are known: says for each root that held nothing what was
 * looked for. STATUS_IO when one of them holds something that is no session, or
 * can not be read; else STATUS_FOUND, nothing matched, when no root held any.
 */
int cmd_root_notes(struct cmd *c);
/* Opens and loads args[0]; STATUS_DONE or what to return. */
int cmd_open(struct cmd *c);
/* The same, when its format has the operation (WORK_...). */
int cmd_open_for(struct cmd *c, unsigned what);
/* Resolves an ENTRY form; STATUS_DONE or what to return. */
int cmd_entry(struct cmd *c, const char *form, uint32_t *out);
/* Is it the number of an event, of a log of events? Whether there is one is another question. */
bool cmd_is_event(const struct cmd *c, const char *form, uint64_t *seq);
/*
 * The same as cmd_entry. Of a log of events it may be any event, and one that is
 * no entry comes as a line with the entry that it stands under; else line->n is 0.
 */
int cmd_entry_or_event(struct cmd *c, const char *form, uint32_t *out, struct buf *line);
/*
 * The id's bytes, valid until the next call. An empty slice and c->err when it
 * can not be read.
 */
struct str cmd_id(struct cmd *c, uint32_t entry);
/* Between these ^C is held back, so that a write is not cut in the middle. */
void cmd_guard(bool on);
/*
 * Is an operation that gave rc to be tried again, because the session is in use and --wait leaves
 * time? Then it has waited a little, and c->err is clear. To be called with the guard on.
 */
bool cmd_again(struct cmd *c, int rc);
/*
 * What may cut a file that is fresh, or close an open turn: --force, or a person who says yes on
 * a terminal, after being told when it was last written. STATUS_CANCELLED for a no.
 */
int cmd_ask_force(struct cmd *c);
/* It was held back; who does one thing after the other stops between them. */
bool cmd_was_interrupted(void);

/* ---- ids.c: ids short enough to read, long enough to be unique ---- */

struct short_ids {
	uint32_t *len; /* bytes of each entry's id that tell it from all others */
};
enum { SHORT_ID = 8 };
int ids_init(struct cmd *c, struct short_ids *ids);
void ids_release(struct short_ids *ids);
/* Valid until the next cmd_id. */
struct str ids_short(struct cmd *c, const struct short_ids *ids, uint32_t entry);
/* For n strings: how many bytes of each are needed; names up to `whole` bytes stay whole. */
void ids_lengths(const struct str *v, size_t n, size_t whole, uint32_t *len);

/* ---- print.c: sessions and entries as text ---- */

enum out_style kind_style(enum entry_kind kind);
/* "last entry of the file", "checked out 2m ago". */
void print_tip_reason(struct cmd *c);
/* What the tip would be by the next rule, as a sentence; nothing where there is none. */
void print_runner_up(struct cmd *c);
/* The entry runner-up, ENTRY_NONE when there is none. */
uint32_t tip_runner_up(const struct session *s);
/* Decoded content, each line behind `indent` spaces; `own` leaves out metadata and the results that are entries of their own. */
int print_content(struct cmd *c, uint32_t entry, int indent, bool own);
/* "by repair" or "recovered" for an entry that is not committed, else NULL. */
const char *print_absence(const struct session *s, uint32_t entry);
/* Stored lines (cmd-cat.c): JSON keeps its values, other text is made safe. */
void print_record(struct cmd *c, struct str line);
void print_records(struct cmd *c, struct str lines);
void print_problem_line(struct cmd *c, const struct problem *p);

/* ---- cmd-show.c: rows of a summary, the name in front ---- */

void fact_name(struct cmd *c, const char *name);
void fact_words(struct cmd *c, const char *name, struct str s);
void fact_title(struct cmd *c);
void fact_problems(struct cmd *c);

/* ---- json.c ---- */

json_doc *json_time(int64_t ms);
json_doc *json_cstr(const char *s); /* null for NULL */
json_doc *json_id(struct cmd *c, uint32_t entry); /* null for ENTRY_NONE */
/* `bough show --json`; without `whole` branch, roots, leaves and forks are left out. */
json_doc *json_session(struct cmd *c, bool whole);
json_doc *json_problem(const struct session *s, const struct problem *p);
/* An entry's place, kind, time and marks. */
json_doc *json_entry(struct cmd *c, uint32_t entry);
/* json_entry with children, metadata and content parts. */
json_doc *json_entry_whole(struct cmd *c, uint32_t entry);
/* A list whose items are printed as they come. A failure ends it early: the status tells. */
struct json_list {
	size_t n;
	struct buf text;
};
void json_list_begin(struct json_list *list);
void json_list_add(struct cmd *c, struct json_list *list, json_doc *doc_take);
int json_list_end(struct cmd *c, struct json_list *list, int status);
/* Prints the document and a newline, or the failure that building it met. Takes doc. */
int json_print(struct cmd *c, json_doc *doc, int status);

/* ---- the commands ---- */

int cmd_branches(struct cmd *c);
int cmd_cat(struct cmd *c);
int cmd_cards(struct cmd *c);
int cmd_checkout(struct cmd *c);
int cmd_convert(struct cmd *c);
int cmd_fold(struct cmd *c);
int cmd_fork(struct cmd *c);
int cmd_label(struct cmd *c);
int cmd_list(struct cmd *c);
int cmd_log(struct cmd *c);
int cmd_problems(struct cmd *c);
int cmd_reflog(struct cmd *c);
int cmd_relations(struct cmd *c);
int cmd_rename(struct cmd *c);
int cmd_repair(struct cmd *c);
int cmd_rounds(struct cmd *c);
int cmd_show(struct cmd *c);
int cmd_trash(struct cmd *c);
int cmd_tree(struct cmd *c);
int cmd_unresolved(struct cmd *c);
int cmd_verify(struct cmd *c);
/* `show --json` of a conversation, and of one of its nodes. */
int cmd_flow_show(struct cmd *c);
int cmd_flow_show_node(struct cmd *c);
/* The same for people. */
int cmd_flow_show_text(struct cmd *c);
int cmd_flow_show_node_text(struct cmd *c, uint32_t entry);
/* Adds what the checks find to the problems; STATUS_IO when not all could be read. */
int cmd_flow_check(struct cmd *c);
/* `log` of a conversation without an ENTRY: its last `limit` talks. */
int cmd_flow_log(struct cmd *c, long limit);
/* Said on stderr when s is not UTF-8: it could not be stored as it is. */
bool cmd_check_utf8(struct cmd *c, struct str s);
/* Prints what a writing command did, or with --dry-run would do. */
int cmd_done(struct cmd *c, struct done *d, bool print_ids);

#endif
