/*
 * err.c - fills a struct err; allocates nothing, because src/log reports even
 * a failed allocation through it.
 */
#include "config.h"

#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"

void err_clear(struct err *err)
{
	if (err)
		memset(err, 0, sizeof(*err));
}

/* Formats into out and returns the length of what is there, cut at a code point. */
static size_t format(char *out, size_t size, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));
static size_t format(char *out, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(out, size, fmt, ap);

	if (n < 0)
		return 0;
	return (size_t)n < size ? (size_t)n : utf8_cut(out, size - 1);
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	char raw[2 * sizeof(err->text)];
	va_list ap;
	size_t n;

	if (!err || err->code)
		return code;
	va_start(ap, fmt);
	n = format(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	err->code = code;
	text_safe_array(err->text, sizeof(err->text), raw, n);
	return code;
}

int err_sys(struct err *err, const char *fmt, ...)
{
	int sys = errno, code = sys == ENOMEM ? ERR_NOMEM : ERR_IO;
	char what[2 * sizeof(err->text)], why[128];
	va_list ap;
	size_t n;

	if (!err || err->code)
		return code;
	va_start(ap, fmt);
	n = format(what, sizeof(what), fmt, ap);
	va_end(ap);
	err_set(err, code, "%.*s: %s", (int)n, what, strerror_r(sys, why, sizeof(why)));
	err->sys = sys;
	errno = sys;
	return code;
}

int err_hand_over(struct err *to, const struct err *from)
{
	if (to && !to->code)
		*to = *from;
	return from->code;
}
