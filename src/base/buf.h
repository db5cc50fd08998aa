/*
 * buf.h - a growing byte buffer, and a slice.
 *
 * A zeroed struct buf is empty. Growth goes through xrealloc; src/log uses
 * buf_try_reserve first and propagates the failure. After any add there is a
 * NUL behind the last byte that does not count, so p is also a C string when
 * the content holds no NUL.
 */
#ifndef BOUGH_BASE_BUF_H
#define BOUGH_BASE_BUF_H

#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>

struct str {
	const char *p;
	size_t n;
};

struct buf {
	char *p;
	size_t n, cap;
};

struct str str_of(const char *s);           /* NULL gives an empty slice */
bool str_eq(struct str a, struct str b);
bool str_eqs(struct str a, const char *s);
bool str_starts(struct str a, const char *prefix);
int str_order(struct str a, struct str b);  /* by bytes, as memcmp: the order of code points in UTF-8 */

struct str buf_str(const struct buf *b);      /* what is in it; p is never NULL */
int buf_try_reserve(struct buf *b, size_t more); /* 0 or ERR_NOMEM */
void buf_reserve(struct buf *b, size_t more);    /* room for `more` bytes and a NUL */
void buf_add(struct buf *b, const void *p, size_t n);
void buf_addc(struct buf *b, char c);
void buf_adds(struct buf *b, const char *s);
void buf_addstr(struct buf *b, struct str s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void buf_clear(struct buf *b);              /* keeps the memory */
void buf_release(struct buf *b);            /* frees it; the buf is empty again */
char *buf_take(struct buf *b);              /* the C string is yours; the buf is empty again */

#endif
