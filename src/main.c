/*
 * main.c - locale, the options that come before the first word, and starting
 * the browser.
 */
#include "config.h"

#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "store/store.h"
#include "ui/dump.h"
#include "ui/settings.h"
#include "ui/ui.h"

enum { OPT_ASCII = 256, OPT_THEME, OPT_VERSION, OPT_DUMP };

static const struct option options[] = {
	{ .name = "root", .has_arg = required_argument, .val = 'r' },
	{ .name = "ascii", .has_arg = no_argument, .val = OPT_ASCII },
	{ .name = "theme", .has_arg = required_argument, .val = OPT_THEME },
	{ .name = "help", .has_arg = no_argument, .val = 'h' },
	{ .name = "version", .has_arg = no_argument, .val = OPT_VERSION },
	{ .name = "dump", .has_arg = required_argument, .val = OPT_DUMP },
	{ .name = NULL },
};

struct arguments {
	const char **roots; /* -r, in order */
	size_t nroots;
	const char *theme;
	bool ascii;
};

enum { GO_ON = -1, STATUS_USAGE = 2, STATUS_IO = 3 };

static int complain(int status, const char *text)
{
	struct buf safe = { 0 };

	text_safe(&safe, text, strlen(text), TEXT_ONE_LINE);
	fprintf(stderr, "bough: %s\n", safe.n ? safe.p : "");
	buf_release(&safe);
	return status;
}

static int usage(void)
{
	puts("usage: bough [-r ROOT]... [--theme NAME] [--ascii] [PATH]\n"
		"\n"
		"Opens the browser on PATH: a folder of sessions, or one session.\n"
		"Without PATH: the roots given with -r, else those of bough.conf, else the\n"
		"well-known places that exist. ? shows the keys.");
	return 0;
}

static int parse(int argc, char **argv, struct arguments *a)
{
	int answer;

	while ((answer = getopt_long(argc, argv, "+r:h", options, NULL)) >= 0) {
		switch (answer) {
		case 'r':
			a->roots[a->nroots++] = optarg;
			break;
		case OPT_ASCII:
			a->ascii = true;
			break;
		case OPT_THEME:
			a->theme = optarg;
			break;
		case 'h':
			return usage();
		case OPT_VERSION:
			puts(PACKAGE_STRING);
			return 0;
		case OPT_DUMP:
			return dump_defaults(optarg, stdout) < 0 ? STATUS_USAGE : 0;
		default:
			return STATUS_USAGE;
		}
	}
	return GO_ON;
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int add_roots(struct store *st, const struct arguments *a, const struct settings *settings,
	const char *path, struct err *err)
{
	if (path)
		return store_add(st, path, err);
	for (size_t i = 0; i < a->nroots; i++) {
		int rc = store_add(st, a->roots[i], err);
		if (rc < 0)
			return rc;
	}
	if (a->nroots > 0)
		return 0;
	return store_add_defaults(st, (const char *const *)settings->roots, settings->nroots, err);
}

static int browse(const struct arguments *a, const char *path)
{
	struct settings settings;
	struct err err = { 0 };
	struct store *st = store_new();
	struct ui_options opt = { .store = st, .settings = &settings, .ascii = a->ascii,
		.theme = a->theme };
	int rc;

	settings_init(&settings);
	rc = settings_load(&settings, &err);
	if (rc >= 0)
		rc = add_roots(st, a, &settings, path, &err);
	if (rc >= 0) {
		opt.session = path && is_file(path) ? path : NULL;
		rc = ui_run(&opt, &err);
	}
	store_free(&st);
	settings_release(&settings);
	if (rc >= 0)
		return 0;
	return complain(err.code == ERR_UNSUPPORTED || err.code == ERR_USAGE ? STATUS_USAGE : STATUS_IO,
		err.text);
}

int main(int argc, char **argv)
{
	struct arguments a = { .roots = xcalloc((size_t)argc + 1, sizeof(*a.roots)) };
	int status;

	setlocale(LC_ALL, "");
	status = parse(argc, argv, &a);
	if (status == GO_ON) {
		if (argc - optind > 1)
			status = complain(STATUS_USAGE, "more than one path was given");
		else
			status = browse(&a, optind < argc ? argv[optind] : NULL);
	}
	free(a.roots);
	return status;
}
