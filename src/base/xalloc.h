/*
 * xalloc.h - allocation that can not fail, for everything but src/log.
 *
 * A failed allocation ends the program through die(), after the hook that the
 * screen registered has put the terminal back. Sizes that come from a file are
 * checked against a cap before they get here.
 */
#ifndef BOUGH_BASE_XALLOC_H
#define BOUGH_BASE_XALLOC_H

#include <stddef.h>

void *xmalloc(size_t n);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t count, size_t size); /* count * size, overflow checked */
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Grow *p so that it holds at least `need` items of `size`; *cap is in items. Doubles. */
void *xgrow(void *p, size_t *cap, size_t need, size_t size);

/* One sentence on stderr and exit 3. The hook runs first; it must be safe to call twice. */
void die_hook(void (*restore)(void));
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
