/*
 * help.c - everything that is said about the commands, made from their table:
 * help texts, usage lines, the table as JSON, and the nearest name for a word
 * that is none.
 */
#include "config.h"

#include "cmd/internal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>


static const char *const groups[] = { "Look", "Change", "Check", NULL };

static const char overview_head[] =
	"bough browses the sessions of AI agents.\n"
	"\n"
	"usage: bough [OPTION...] [PATH...]        open the browser\n"
	"       bough [OPTION...] COMMAND [ARG...] print or change something\n"
	"       bough [OPTION...] -- PATH          a path that is called like a command\n";

static const char overview_tail[] =
	"\n"
	"SESSION is a path to a session, or an id or unique id prefix looked up in the roots.\n"
	"ENTRY is an id or unique prefix, 'tip', 'tip~N' (N-th ancestor) or '@label'.\n"
	"`bough help COMMAND` says more about one.\n"
	"\n"
	"Exit status: 0 done; 1 damage was found, or nothing matched; 2 wrong usage;\n"
	"3 could not read or write (the reason is on stderr); 4 in use, nothing was\n"
	"changed: try again, or --wait; 130 cancelled.\n";

static void help_options(struct out *o, const struct cmd_option *list)
{
	for (; list && list->name; list++) {
		char left[64];

		snprintf(left, sizeof(left), "%c%c%s --%s%s%s", list->letter ? '-' : ' ',
			list->letter ? list->letter : ' ', list->letter ? "," : " ", list->name,
			list->arg && list->arg[0] != '[' ? "=" : "", list->arg ? list->arg : "");
		out_printf(o, "  %-24s %s\n", left, list->help);
	}
}

void help_command(struct out *o, const struct command_def *def)
{
	out_printf(o, "usage: bough %s [OPTION...]%s%s\n\n%s.\n", def->name, *def->args ? " " : "",
		def->args, def->help);
	if (def->more)
		out_printf(o, "\n%s", def->more);
	out_puts(o, "\nOptions:\n");
	help_options(o, def->options);
	help_options(o, json_option);
	if (def->writes)
		help_options(o, write_options);
	help_options(o, common_options);
}

void help_short(const struct command_def *def)
{
	struct out o;

	out_init(&o, STDERR_FILENO, false);
	out_printf(&o, "usage: bough %s [OPTION...]%s%s\n", def->name, *def->args ? " " : "",
		def->args);
	out_close(&o);
}

static void help_overview(struct out *o)
{
	out_puts(o, overview_head);
	for (const char *const *group = groups; *group; group++) {
		out_printf(o, "\n%s:\n", *group);
		for (const struct command_def *def = commands; def->name; def++) {
			char left[80];

			if (strcmp(def->group, *group) != 0)
				continue;
			snprintf(left, sizeof(left), "%s %s", def->name, def->args);
			out_printf(o, "  %-32s %s\n", left, def->help);
		}
	}
	out_puts(o, "\nOptions:\n");
	help_options(o, common_options);
	help_options(o, main_options);
	out_puts(o, overview_tail);
}

static int close_stdout(struct out *o)
{
	int failed = out_close(o);

	if (failed)
		return cmd_complain(STATUS_IO, "cannot write: %s", strerror(failed));
	return STATUS_DONE;
}

int cmd_usage(void)
{
	struct out o;

	out_init(&o, STDOUT_FILENO, false);
	help_overview(&o);
	return close_stdout(&o);
}

/* ---- the table as JSON ---- */

static void dump_options(json_doc *list, const struct cmd_option *opt)
{
	for (; opt && opt->name; opt++) {
		json_doc *o = json_doc_object();
		char letter[2] = { opt->letter, 0 };

		json_doc_set(o, "name", json_cstr(opt->name));
		json_doc_set(o, "letter", json_cstr(opt->letter ? letter : NULL));
		json_doc_set(o, "arg", json_cstr(opt->arg));
		json_doc_set(o, "help", json_cstr(opt->help));
		json_doc_add(list, o);
	}
}

static json_doc *dump_command(const struct command_def *def)
{
	json_doc *o = json_doc_object(), *options = json_doc_list();

	json_doc_set(o, "name", json_cstr(def->name));
	json_doc_set(o, "args", json_cstr(def->args));
	json_doc_set(o, "group", json_cstr(def->group));
	json_doc_set(o, "help", json_cstr(def->help));
	json_doc_set(o, "more", json_cstr(def->more));
	json_doc_set(o, "writes", json_doc_bool(def->writes));
	dump_options(options, def->options);
	dump_options(options, json_option);
	if (def->writes)
		dump_options(options, write_options);
	json_doc_set(o, "options", options);
	return o;
}

static json_doc *dump_table(void)
{
	json_doc *doc = json_doc_object(), *list = json_doc_list(), *common = json_doc_list();
	json_doc *only_main = json_doc_list();

	for (const struct command_def *def = commands; def->name; def++)
		json_doc_add(list, dump_command(def));
	dump_options(common, common_options);
	dump_options(only_main, main_options);
	json_doc_set(doc, "commands", list);
	json_doc_set(doc, "common_options", common);
	json_doc_set(doc, "main_options", only_main);
	return doc;
}

int cmd_dump(void)
{
	json_doc *doc = dump_table();
	struct buf text = { 0 };
	struct out o;

	json_doc_dump(doc, 2, &text);
	json_doc_free(&doc);

	out_init(&o, STDOUT_FILENO, false);
	buf_addc(&text, '\n');
	out_json(&o, (struct str){ text.p, text.n });
	buf_release(&text);
	return close_stdout(&o);
}

int help_run(struct cmd *c)
{
	const struct command_def *def = c->nargs > 0 ? cmd_find(c->args[0]) : NULL;

	if (c->nargs > 0 && !def)
		return cmd_unknown(c->args[0]);
	if (c->json)
		return json_print(c, def ? dump_command(def) : dump_table(), STATUS_DONE);
	if (!def) {
		help_overview(&c->out);
		return STATUS_DONE;
	}
	help_command(&c->out, def);
	return STATUS_DONE;
}

/* ---- the nearest name ---- */

enum { MAX_WORD = 24 };

/* Edits (insert, delete, change, swap of neighbours) from a to b; both at most MAX_WORD bytes. */
static int edit_distance(const char *a, size_t an, const char *b, size_t bn)
{
	int d[MAX_WORD + 1][MAX_WORD + 1];

	for (size_t i = 0; i <= an; i++)
		d[i][0] = (int)i;
	for (size_t j = 0; j <= bn; j++)
		d[0][j] = (int)j;
	for (size_t i = 1; i <= an; i++) {
		for (size_t j = 1; j <= bn; j++) {
			int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			if (d[i - 1][j] + 1 < best)
				best = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < best)
				best = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
				d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	}
	return d[an][bn];
}

/* NULL when nothing is near: at most a third of the word may differ. */
static const char *nearest_command(const char *word)
{
	const char *name = NULL;
	size_t n = strlen(word);
	int best = n < 4 ? 2 : (int)n / 3 + 1;

	if (n == 0 || n > MAX_WORD)
		return NULL;
	for (const struct command_def *def = commands; def->name; def++) {
		int d = edit_distance(word, n, def->name, strlen(def->name));

		if (n >= 3 && !strncmp(def->name, word, n))
			d = 0; /* a beginning is the best hint there is */
		if (d < best) {
			best = d;
			name = def->name;
		}
	}
	return name;
}

int cmd_unknown(const char *word)
{
	const char *near = nearest_command(word);

	if (near)
		return cmd_complain(STATUS_USAGE,
			"'%s' is no command and no path; did you mean '%s'?", word, near);
	return cmd_complain(STATUS_USAGE,
		"'%s' is no command and no path; `bough help` lists the commands", word);
}
