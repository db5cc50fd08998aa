/*
 * err.h - what went wrong, for the caller.
 *
 * A function that can fail returns 0 or a negative enum err_code and fills a
 * struct err that the caller owns; a NULL err is allowed everywhere. The first
 * error is kept: setting an err that already holds one changes nothing, so a
 * clean-up path can not hide the cause. The text is one sentence without a
 * newline; whatever was formatted into it is made safe to draw (text.h).
 */
#ifndef BOUGH_BASE_ERR_H
#define BOUGH_BASE_ERR_H

#include <stdint.h>

enum err_code {
	ERR_OK = 0,
	ERR_IO = -1,          /* a system call failed; err.sys says how */
	ERR_CORRUPT = -2,     /* the bytes do not follow the format */
	ERR_TORN = -3,        /* the bytes end inside a record */
	ERR_VERSION = -4,     /* a format version that is not read or not written */
	ERR_EXISTS = -5,      /* the name is taken; nothing was overwritten */
	ERR_LIMIT = -6,       /* over a cap that protects memory or time */
	ERR_BROKEN = -7,      /* the handle can not be used any more; reopen */
	ERR_NOMEM = -8,
	ERR_USAGE = -9,       /* the request makes no sense: option, argument, form */
	ERR_NOTFOUND = -10,   /* no such entry, session, file or label */
	ERR_AMBIGUOUS = -11,  /* a prefix fits several */
	ERR_LOCKED = -12,     /* another process is writing; the text names its pid */
	ERR_CHANGED = -13,    /* the file is not the one that was read */
	ERR_CANCELLED = -14,
	ERR_UNSUPPORTED = -15, /* the format has no such operation */
	ERR_UNSURE = -16      /* it may be in use: a person who knows better may say so */
};

struct err {
	int code;        /* enum err_code, 0 when nothing happened */
	int sys;         /* errno when code is ERR_IO */
	uint64_t offset; /* where in the file, when it matters */
	char text[300];
};

void err_clear(struct err *err);
/* Both return the code, so that "return err_set(...)" reads well. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* "fmt: strerror(errno)"; code ERR_IO, or ERR_NOMEM for ENOMEM. errno survives. */
int err_sys(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Gives the caller what was kept apart until it was clear what it means; returns its code. */
int err_hand_over(struct err *to, const struct err *from);

#endif
