/*
 * problem.h - damage as an ordinary result.
 *
 * A problem says what is wrong, where, and takes away only its piece. It
 * never stops a load. The list is capped; what is over the cap is counted.
 */
#ifndef BOUGH_MODEL_PROBLEM_H
#define BOUGH_MODEL_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define PROBLEM_MAX 100000 /* more are only counted */

struct problem {
	const char *kind;    /* "torn-tail", "bad-json" ...: the word of the format's paper */
	uint64_t line;       /* from 1; 0 where the format has no lines */
	uint64_t offset;     /* bytes from the start of the file */
	uint64_t length;     /* bytes that are affected; 0 when it is a place only */
	const char *message; /* one sentence in plain words */
	uint32_t entry;      /* the entry it is about, or ENTRY_NONE */
	const char *file;    /* of a session of several files the one it is in; NULL: none is said */
	uint64_t round;      /* of a conversation: the round it is about; 0: none */
	bool has_no_place;   /* it is about no bytes: offset only says what it sorts with */
};

struct problem_list {
	struct problem *v;
	size_t n, cap;
	uint64_t more; /* over the cap */
};

/*
 * kind is static text; the sentence goes to the arena (a fmt without % is kept
 * as it is). Good until the next one; NULL where it was only counted.
 */
struct problem *problem_add(struct problem_list *list, struct arena *a, const char *kind, uint64_t line,
	uint64_t offset, uint64_t length, uint32_t entry, const char *fmt, ...)
	__attribute__((format(printf, 8, 9)));
/* The same about something that has no place in a file, or none that is known. */
struct problem *problem_add_at_large(struct problem_list *list, struct arena *a, const char *kind,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void problem_sort(struct problem_list *list); /* by offset, then kind */
void problem_drop(struct problem_list *list, const char *kind); /* all of one kind */
void problem_drop_from(struct problem_list *list, uint64_t offset); /* all at or behind an offset */
void problem_release(struct problem_list *list);

#endif
