/*
 * main.c - locale, the options that come before the first word, and the choice
 * between a command and the browser.
 */
#include "config.h"

#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "cmd/cmd.h"

enum { OPT_ASCII = 256, OPT_COLOR, OPT_VERSION, OPT_DUMP };

static const struct option options[] = {
	{ .name = "root", .has_arg = required_argument, .val = 'r' },
	{ .name = "ascii", .has_arg = no_argument, .val = OPT_ASCII },
	{ .name = "color", .has_arg = required_argument, .val = OPT_COLOR },
	{ .name = "help", .has_arg = no_argument, .val = 'h' },
	{ .name = "version", .has_arg = no_argument, .val = OPT_VERSION },
	{ .name = "dump-commands", .has_arg = no_argument, .val = OPT_DUMP },
	{ .name = NULL },
};

enum { GO_ON = -1 };

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
static int parse(int argc, char **argv, struct cmd_globals *g, const char **roots)
{
	int answer;

	while ((answer = getopt_long(argc, argv, "+:r:h", options, NULL)) >= 0) {
		switch (answer) {
		case 'r':
			roots[g->nroots++] = optarg;
			break;
		case OPT_ASCII:
			g->ascii = true;
			break;
		case OPT_COLOR:
			if (!cmd_color_parse(optarg, &g->color))
				return cmd_complain(STATUS_USAGE,
					"--color wants auto, always or never, not '%s'", optarg);
			break;
		case 'h':
			return cmd_usage();
		case OPT_VERSION:
			return version();
		case OPT_DUMP:
			return cmd_dump();
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

static int browse(int argc, char **argv, bool is_path)
{
	const char *path = optind < argc ? argv[optind] : NULL;

	if (argc - optind > 1)
		return cmd_complain(STATUS_USAGE, "too many arguments: '%s'", argv[optind + 1]);
	if (path && !is_path && access(path, F_OK) != 0 && !strchr(path, '/'))
		return cmd_unknown(path);
	return cmd_complain(STATUS_USAGE,
		"the browser needs a terminal; `bough list`, `bough tree` and `bough log` print");
}

int main(int argc, char **argv)
{
	struct cmd_globals g = { .color = COLOR_AUTO };
	const char **roots = xcalloc((size_t)argc + 1, sizeof(*roots));
	int status;

	setlocale(LC_ALL, "");
	g.roots = roots;
	status = parse(argc, argv, &g, roots);
	if (status == GO_ON) {
		bool is_path = is_behind_dashes(argc, argv);

		if (!is_path && optind < argc && cmd_find(argv[optind]))
			status = cmd_main(argc - optind, argv + optind, &g);
		else
			status = browse(argc, argv, is_path);
	}
	free(roots);
	return status;
}
