/*
 * path.h - path strings and the places bough looks at.
 */
#ifndef BOUGH_BASE_PATH_H
#define BOUGH_BASE_PATH_H

#include <stdbool.h>

#include "base/buf.h"

char *path_join(const char *dir, const char *name); /* yours; one slash between */
const char *path_base(const char *path);            /* borrowed; behind the last slash */
char *path_dir(const char *path);                   /* yours; "." when there is no slash */
char *path_expand(const char *path);                /* yours; a leading "~" or "~/" becomes $HOME */
char *path_shorten(const char *path);               /* yours; $HOME becomes "~" */
/* Paths below the working folder, anywhere in a sentence, are cut to what is below. In place. */
void path_forget_cwd(char *text);
/* $XDG_<what>_HOME/bough or its fallback, e.g. path_xdg("STATE", ".local/state"). yours, or NULL without a home */
char *path_xdg(const char *what, const char *fallback);
/* A file name from any id, injective: [A-Za-z0-9_-] and inner dots stay, other bytes become %XX. yours */
char *path_escape(const char *id, size_t n);

#endif
