/*
 * dump.h - the built-in defaults as files: what data/ holds, for `--dump`.
 */
#ifndef BOUGH_UI_DUMP_H
#define BOUGH_UI_DUMP_H

#include <stdio.h>

/* "keys", "settings", or "theme-dark", "theme-light", "theme-mono". ERR_USAGE for another name. */
int dump_defaults(const char *what, FILE *out);

#endif
