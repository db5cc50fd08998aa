/*
 * buf.c - a growing byte buffer and the few questions asked of slices.
 */
#include "config.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/xalloc.h"

struct str str_of(const char *s)
{
	return (struct str){ s, s ? strlen(s) : 0 };
}

bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_eqs(struct str a, const char *s)
{
	return str_eq(a, str_of(s));
}

int str_order(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n ? memcmp(a.p, b.p, n) : 0;

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

bool str_starts(struct str a, const char *prefix)
{
	size_t n = strlen(prefix);

	return a.n >= n && (n == 0 || memcmp(a.p, prefix, n) == 0);
}

struct str buf_str(const struct buf *b)
{
	return (struct str){ b->n ? b->p : "", b->n };
}

int buf_try_reserve(struct buf *b, size_t more)
{
	size_t need, cap = b->cap < 64 ? 64 : b->cap;
	char *p;

	/* One byte beyond for the NUL that always follows. No object is over PTRDIFF_MAX. */
	if (__builtin_add_overflow(b->n, more, &need) || need >= PTRDIFF_MAX)
		return ERR_NOMEM;
	need++;
	if (need <= b->cap)
		return 0;
	while (cap < need)
		cap *= 2;
	p = realloc(b->p, cap);
	if (!p)
		return ERR_NOMEM;
	b->p = p;
	b->cap = cap;
	return 0;
}

void buf_reserve(struct buf *b, size_t more)
{
	if (buf_try_reserve(b, more) < 0)
		die("out of memory (%zu bytes)", more);
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	if (n >= b->cap - b->n) /* mostly there is room */
		buf_reserve(b, n);
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
	b->p[b->n] = '\0';
}

void buf_addc(struct buf *b, char c)
{
	if (b->cap - b->n < 2)
		buf_reserve(b, 1);
	b->p[b->n++] = c;
	b->p[b->n] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addstr(struct buf *b, struct str s)
{
	buf_add(b, s.p, s.n);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	buf_reserve(b, 80);
	n = vsnprintf(b->p + b->n, b->cap - b->n, fmt, ap);
	if (n < 0)
		die("cannot format a text");
	if ((size_t)n >= b->cap - b->n) {
		buf_reserve(b, (size_t)n);
		vsnprintf(b->p + b->n, b->cap - b->n, fmt, again);
	}
	va_end(again);
	b->n += (size_t)n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	if (b->p)
		b->p[0] = '\0';
}

void buf_release(struct buf *b)
{
	free(b->p);
	*b = (struct buf){ 0 };
}

char *buf_take(struct buf *b)
{
	char *p;

	buf_add(b, NULL, 0);
	p = b->p;
	*b = (struct buf){ 0 };
	return p;
}
