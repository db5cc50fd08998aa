/*
 * main.c - locale, the options that come before the first word, and the choice
 * between a command and the browser.
 */
#include "config.h"

#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "cmd/bench.h"
#include "cmd/cmd.h"
#include "store/conversation.h"
#include "store/store.h"
#include "ui/dump.h"
#include "ui/settings.h"
#include "ui/ui.h"

enum { OPT_ASCII = 256, OPT_COLOR, OPT_THEME, OPT_VERSION, OPT_DUMP_COMMANDS, OPT_DUMP, OPT_BENCH };

static const struct option options[] = {
	{ .name = "root", .has_arg = required_argument, .val = 'r' },
	{ .name = "ascii", .has_arg = no_argument, .val = OPT_ASCII },
	{ .name = "color", .has_arg = required_argument, .val = OPT_COLOR },
	{ .name = "theme", .has_arg = required_argument, .val = OPT_THEME },
	{ .name = "help", .has_arg = no_argument, .val = 'h' },
	{ .name = "version", .has_arg = no_argument, .val = OPT_VERSION },
	{ .name = "dump-commands", .has_arg = no_argument, .val = OPT_DUMP_COMMANDS },
	{ .name = "dump-defaults", .has_arg = required_argument, .val = OPT_DUMP },
	{ .name = "bench", .has_arg = no_argument, .val = OPT_BENCH },
	{ .name = NULL },
};

enum { GO_ON = -1 };

/* Everything the command line says before the first word. */
struct arguments {
	struct cmd_globals g;
	const char **roots;
	const char *theme;
};

static int bad_option(char **argv, int answer)
{
	const char *why = answer == ':' ? "needs an argument" : "is no option";

	if (optopt > 0 && optopt < OPT_ASCII)
		return cmd_complain(STATUS_USAGE, "-%c %s; `bough --help` lists them", optopt, why);
	return cmd_complain(STATUS_USAGE, "%s %s; `bough --help` lists them", argv[optind - 1], why);
}

static int version(void)
{
	puts(PACKAGE_STRING);
	if (fflush(stdout) == EOF)
		return cmd_complain(STATUS_IO, "cannot write: standard output failed");
	return STATUS_DONE;
}

/* GO_ON, or the status to leave with. Stops at the first word. */
static int parse(int argc, char **argv, struct arguments *a)
{
	int answer;

	while ((answer = getopt_long(argc, argv, "+:r:h", options, NULL)) >= 0) {
		switch (answer) {
		case 'r':
			a->roots[a->g.nroots++] = optarg;
			break;
		case OPT_ASCII:
			a->g.ascii = true;
			break;
		case OPT_COLOR:
			if (!cmd_color_parse(optarg, &a->g.color))
				return cmd_complain(STATUS_USAGE,
					"--color wants auto, always or never, not '%s'", optarg);
			break;
		case 'h':
			return cmd_usage();
		case OPT_VERSION:
			return version();
		case OPT_THEME:
			a->theme = optarg;
			break;
		case OPT_DUMP_COMMANDS:
			return cmd_dump();
		case OPT_DUMP:
			if (dump_defaults(optarg, stdout) < 0)
				return cmd_complain(STATUS_USAGE, "no defaults called '%s'", optarg);
			return STATUS_DONE;
		case OPT_BENCH:
			return cmd_bench(argc - optind, argv + optind);
		default:
			return bad_option(argv, answer);
		}
	}
	return GO_ON;
}

/* What follows "--" is a path, even when it is called like a command. */
static bool is_behind_dashes(int argc, char **argv)
{
	return optind > 1 && optind <= argc && argv[optind - 1][0] == '-' &&
		argv[optind - 1][1] == '-' && !argv[optind - 1][2];
}

/* A regular file, or the folder of a conversation, is one session: the browser opens it at once. */
static bool is_session_file(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 && (S_ISREG(st.st_mode) || store_is_conversation_folder(path));
}

/* The paths that are given; else the roots that are; else the places that are known. */
static int add_roots(struct store *st, const struct cmd_globals *g, char *const *paths, struct err *err)
{
	for (size_t i = 0; paths[i]; i++) {
		int rc = store_add(st, paths[i], err);
		if (rc < 0)
			return rc;
	}
	if (paths[0])
		return 0;
	for (size_t i = 0; i < g->nroots; i++) {
		int rc = store_add(st, g->roots[i], err);
		if (rc < 0)
			return rc;
	}
	return g->nroots > 0 ? 0 : store_add_defaults(st, g->configured, g->nconfigured, err);
}

static int browse_paths(
	const struct arguments *a, const struct settings *settings, char *const *paths)
{
	const char *only = paths[0] && !paths[1] ? paths[0] : NULL;
	struct err err = { 0 };
	struct store *st = store_new();
	struct ui_options opt = { .store = st, .settings = settings, .ascii = a->g.ascii,
		.theme = a->theme, .session = is_session_file(only) ? only : NULL };
	int rc = add_roots(st, &a->g, paths, &err);

	store_finish_rows(st); /* on the screen they may take their time */
	if (rc >= 0)
		rc = ui_run(&opt, &err);
	store_free(&st);
	if (rc >= 0)
		return STATUS_DONE;
	return cmd_complain(err.code == ERR_UNSUPPORTED || err.code == ERR_USAGE ? STATUS_USAGE :
		STATUS_IO, "%s", err.text);
}

static int browse(int argc, char **argv, const struct arguments *a, const struct settings *settings,
	bool is_path)
{
	const char *first = optind < argc ? argv[optind] : NULL;

	if (first && !is_path && access(first, F_OK) != 0 && !strchr(first, '/'))
		return cmd_unknown(first);
	for (int i = optind; !is_path && i < argc; i++)
		if (argv[i][0] == '-' && access(argv[i], F_OK) != 0)
			return cmd_complain(
				STATUS_USAGE, "%s: options stand before the paths", argv[i]);
	return browse_paths(a, settings, argv + optind);
}

/* With the person's settings, which also name the roots that commands look in. */
static int run(int argc, char **argv, struct arguments *a)
{
	bool is_path = is_behind_dashes(argc, argv);
	struct settings settings;
	struct err err = { 0 };
	int status;

	settings_init(&settings);
	if (settings_load(&settings, &err) < 0) {
		status = cmd_complain(STATUS_USAGE, "%s", err.text);
	} else {
		a->g.configured = (const char *const *)settings.roots;
		a->g.nconfigured = settings.nroots;
		if (!is_path && optind < argc && cmd_find(argv[optind]))
			status = cmd_main(argc - optind, argv + optind, &a->g);
		else
			status = browse(argc, argv, a, &settings, is_path);
	}
	settings_release(&settings);
	return status;
}

int main(int argc, char **argv)
{
	struct arguments a = { .g = { .color = COLOR_AUTO } };
	int status;

	/* Nothing else of the locale is used, and each category costs a file. */
	setlocale(LC_CTYPE, "");
	setlocale(LC_MESSAGES, "");
	/* A write over the limit for file sizes shall fail like any other, and be taken back. */
	signal(SIGXFSZ, SIG_IGN);
	a.roots = xcalloc((size_t)argc + 1, sizeof(*a.roots));
	a.g.roots = a.roots;
	status = parse(argc, argv, &a);
	if (status == GO_ON)
		status = run(argc, argv, &a);
	free(a.roots);
	return status;
}
