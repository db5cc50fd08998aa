/*
 * opts.c - the options of one command: builds getopt's tables from the rows
 * of the command table and puts what was given into struct cmd.
 */
#include "config.h"

#include "cmd/internal.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"

const struct cmd_option common_options[] = {
	{ OPT_ROOT, 'r', "root", "ROOT", "look for sessions in ROOT (may be given several times)" },
	{ OPT_ASCII, 0, "ascii", NULL, "draw with ASCII characters only" },
	{ OPT_COLOR, 0, "color", "WHEN", "auto, always or never (NO_COLOR is honoured)" },
	{ OPT_HELP, 'h', "help", NULL, "show this help" },
	{ .name = NULL },
};

/* Before the first word only; main takes them. */
const struct cmd_option main_options[] = {
	{ .name = "theme", .arg = "NAME", .help = "colours: dark, light, mono or a .theme file" },
	{ .name = "version", .help = "show the version" },
	{ .name = NULL },
};

const struct cmd_option json_option[] = {
	{ OPT_JSON, 0, "json", NULL, "print one JSON document, keys sorted, strings exact" },
	{ .name = NULL },
};

const struct cmd_option write_options[] = {
	{ OPT_DRY_RUN, 0, "dry-run", NULL, "write nothing; print what would be written" },
	{ OPT_WAIT, 0, "wait", "[=SECONDS]", "while it is in use, try again so long (10 s)" },
	{ .name = NULL },
};

enum { MAX_OPTIONS = 24, LONG_BASE = 256 };
enum { WAIT_BARE = 10, WAIT_MAX = 24 * 3600 }; /* seconds */

/* What getopt needs, and the way back from its answer to an opt_id. */
struct tables {
	struct option longs[MAX_OPTIONS + 1];
	char shorts[2 * MAX_OPTIONS + 2];
	enum opt_id by_letter[128];
	size_t nlongs, nshorts;
};

static void add_options(struct tables *t, const struct cmd_option *list)
{
	for (; list && list->name; list++) {
		if (t->nlongs >= MAX_OPTIONS)
			die("the table of options is full");
		t->longs[t->nlongs++] = (struct option){ .name = list->name,
			.has_arg = !list->arg              ? no_argument
				   : list->arg[0] == '[' ? optional_argument
							 : required_argument,
			.val = LONG_BASE + list->id };
		if (!list->letter)
			continue;
		t->by_letter[(unsigned char)list->letter] = list->id;
		t->shorts[t->nshorts++] = list->letter;
		if (list->arg)
			t->shorts[t->nshorts++] = ':';
	}
}

static void build_tables(struct tables *t, const struct command_def *def)
{
	memset(t, 0, sizeof(*t));
	t->shorts[t->nshorts++] = ':'; /* we say what is wrong */
	add_options(t, def->options);
	add_options(t, json_option);
	if (def->writes)
		add_options(t, write_options);
	add_options(t, common_options);
}

static void say_bad_option(const struct cmd *c, int answer, char **argv)
{
	const char *word = argv[optind - 1];
	const char *what = answer == ':' ? "needs an argument" : "is no option of this command";

	if (optopt > 0 && optopt < LONG_BASE)
		cmd_complain(0, "%s: -%c %s", c->def->name, optopt, what);
	else
		cmd_complain(0, "%s: %s %s", c->def->name, word, what);
	help_short(c->def);
}

static void take_option(struct cmd *c, enum opt_id id)
{
	c->opt[id] = optarg ? optarg : "";
	if (id == OPT_ROOT)
		c->roots[c->nroots++] = optarg;
	else if (id == OPT_FOLD)
		c->opt[OPT_ALL] = NULL; /* of the two the later one counts */
	else if (id == OPT_ALL)
		c->opt[OPT_FOLD] = NULL;
}

static bool check_color(struct cmd *c, enum cmd_color *color)
{
	*color = c->g->color;
	if (!c->opt[OPT_COLOR] || cmd_color_parse(c->opt[OPT_COLOR], color))
		return true;
	cmd_complain(0, "%s: --color wants auto, always or never, not '%s'", c->def->name,
		c->opt[OPT_COLOR]);
	return false;
}

/* --wait[=SECONDS]: how long an operation is tried again while the session is in use. */
static bool check_wait(struct cmd *c)
{
	long s = WAIT_BARE;

	c->wait_until = clock_mono_us();
	if (!c->opt[OPT_WAIT])
		return true;
	if (*c->opt[OPT_WAIT] && !opts_number(c, OPT_WAIT, 0, WAIT_MAX, &s))
		return false;
	c->wait_until += (uint64_t)s * 1000000;
	return true;
}

static bool check_count(const struct cmd *c)
{
	const struct command_def *def = c->def;

	if (c->nargs >= def->min_args && (def->max_args < 0 || c->nargs <= def->max_args))
		return true;
	if (c->nargs < def->min_args)
		cmd_complain(0, "%s: too few arguments", def->name);
	else
		cmd_complain(0, "%s: too many arguments: '%s'", def->name, c->args[def->max_args]);
	help_short(def);
	return false;
}

static bool wants_color(enum cmd_color when, int fd)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	if (when != COLOR_AUTO)
		return when == COLOR_ALWAYS;
	return isatty(fd) && !(none && *none) && !(term && !strcmp(term, "dumb"));
}

bool opts_parse(struct cmd *c, int argc, char **argv)
{
	struct tables t;
	enum cmd_color color;
	int answer;

	build_tables(&t, c->def);
	c->roots = xcalloc(c->g->nroots + (size_t)argc, sizeof(*c->roots));
	for (size_t i = 0; i < c->g->nroots; i++)
		c->roots[c->nroots++] = c->g->roots[i];

	optind = 0; /* glibc: start over, whatever main parsed before */
	while ((answer = getopt_long(argc, argv, t.shorts, t.longs, NULL)) >= 0) {
		if (answer == '?' || answer == ':') {
			say_bad_option(c, answer, argv);
			return false;
		}
		take_option(c, answer >= LONG_BASE ? (enum opt_id)(answer - LONG_BASE)
						   : t.by_letter[answer & 127]);
	}
	c->args = argv + optind;
	c->nargs = argc - optind;
	if (!check_color(c, &color) || !check_wait(c))
		return false;
	c->ascii = c->g->ascii || c->opt[OPT_ASCII];
	c->json = c->opt[OPT_JSON] != NULL;
	c->dry = c->opt[OPT_DRY_RUN] != NULL;
	out_init(&c->out, STDOUT_FILENO, wants_color(color, STDOUT_FILENO));
	return c->opt[OPT_HELP] || check_count(c);
}

bool opts_number(struct cmd *c, enum opt_id id, long min, long max, long *out)
{
	const char *word = c->opt[id];
	char *end;
	long v;

	errno = 0;
	v = strtol(word, &end, 10);
	if (end == word || *end || errno || v < min || v > max) {
		cmd_complain(0, "%s: '%s' is no number from %ld to %ld", c->def->name, word, min,
			max);
		return false;
	}
	*out = v;
	return true;
}
