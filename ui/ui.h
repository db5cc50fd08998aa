/*
 * ui.h - the browser.
 */
#ifndef BOUGH_UI_UI_H
#define BOUGH_UI_UI_H

#include <stdbool.h>

#include "base/err.h"

struct store;
struct settings;

struct ui_options {
	struct store *store;          /* with its roots; the browser makes the steps */
	const struct settings *settings;
	const char *session;          /* a session's path to open at once, or NULL */
	bool ascii;                   /* glyphs in ASCII */
	const char *theme;            /* overrides the configuration; or NULL */
};

/*
 * Runs until the person quits. 0, or ERR_UNSUPPORTED when there is no usable
 * terminal, or another error from before the first frame. A signal that ends
 * the program is raised again after the terminal is restored.
 */
int ui_run(const struct ui_options *opt, struct err *err);

#endif
