/*
 * settings.h - the person's settings: bough.conf, keys.conf, themes.
 *
 * Files are JSON with '#' comment lines under $XDG_CONFIG_HOME/bough. A
 * missing file is no error; a wrong one is, with its name and place.
 */
#ifndef BOUGH_UI_SETTINGS_H
#define BOUGH_UI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "ui/theme.h"

struct keymap;

struct settings {
	char **roots; /* as written; "~" is expanded by the reader */
	size_t nroots;
	char *theme;  /* a built-in one or the name of a .theme file */
	char *sort;   /* activity, created, title, size */
	bool ascii, mouse, wrap;
};

void settings_init(struct settings *s);    /* the defaults */
void settings_release(struct settings *s);
int settings_parse(struct settings *s, struct str text, struct err *err);
/* $XDG_CONFIG_HOME/bough/bough.conf, over the defaults. */
int settings_load(struct settings *s, struct err *err);
/* The defaults as the text of a bough.conf; data/bough.conf is what this gives. */
void settings_dump(struct buf *out);
/* keys.conf over the default keys. */
int settings_load_keys(struct keymap *km, struct err *err);
/* A built-in theme, or NAME.theme from the person's folder or the installed one. */
int settings_load_theme(struct theme *t, const char *name, enum theme_depth depth, struct err *err);
/* A whole small regular file of ours (settings, scripts, drafts). */
int settings_read_file(const char *path, struct buf *out, struct err *err);

#endif
