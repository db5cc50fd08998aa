/*
 * xalloc.c - allocation that ends the program when memory runs out, and die().
 * It owns the one hook that puts the terminal back; it does not know the screen.
 */
#include "config.h"

#include "base/xalloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void (*restore_hook)(void);

void die_hook(void (*restore)(void))
{
	restore_hook = restore;
}

void die(const char *fmt, ...)
{
	/* Arrays, not buffers: dying of a failed allocation must not allocate. */
	char raw[1024], safe[1024];
	va_list ap;
	int n;

	if (restore_hook)
		restore_hook();
	va_start(ap, fmt);
	n = vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	if (n < 0)
		n = 0;
	text_safe_array(safe, sizeof(safe), raw, strnlen(raw, sizeof(raw)));
	fprintf(stderr, "bough: %s\n", n ? safe : "fatal error");
	exit(3);
}

static void out_of_memory(size_t n)
{
	die("out of memory (%zu bytes)", n);
}

void *xmalloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		out_of_memory(n);
	return p;
}

void *xcalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		out_of_memory(size);
	return p;
}

void *xrealloc(void *p, size_t count, size_t size)
{
	size_t n;

	if (__builtin_mul_overflow(count, size, &n))
		out_of_memory(SIZE_MAX);
	p = realloc(p, n ? n : 1);
	if (!p)
		out_of_memory(n);
	return p;
}

char *xstrndup(const char *s, size_t n)
{
	char *copy = xmalloc(n + 1);

	if (n)
		memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		out_of_memory(0);
	return s;
}

void *xgrow(void *p, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap < 16 ? 16 : *cap;

	if (need <= *cap)
		return p;
	while (n < need)
		n = n > SIZE_MAX / 2 ? need : n * 2;
	p = xrealloc(p, n, size);
	*cap = n;
	return p;
}
