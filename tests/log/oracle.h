/*
 * oracle.h - a run of appends whose every content is known beforehand, and
 * what must hold of its file: at any moment what was acknowledged is there,
 * what is there was submitted, in order and once, and a torn tail is never
 * lost. Used by the fault, kill and crash tests.
 */
#ifndef BOUGH_TESTS_LOG_ORACLE_H
#define BOUGH_TESTS_LOG_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { ORACLE_STEPS = 3, ORACLE_TEXT = 1024 };

struct appends {
	const char *init; /* content of the file at first; NULL: there is none */
	size_t committed; /* of init; less than its length: a torn tail */
	const char *record[ORACLE_STEPS + 1];
};

int appends_steps(const struct appends *a);
/* The content after k records; k = 0 is init, tail included. Its length. */
size_t appends_content(const struct appends *a, int k, char out[ORACLE_TEXT]);
bool appends_has_tail(const struct appends *a);
/* Opens the log and appends the records from number `from` on; *acked counts as it goes. */
int appends_run(const struct appends *a, const char *file, int from, int *acked, struct err *err);
/* Is the tail of init, whole and alone, in the copy that is made of it? */
bool appends_tail_is_aside(const struct appends *a, const char *file);
/* How many records a reader finds after a crash: `acked`, or one more. */
int appends_present(const struct appends *a, const char *file, int acked);
/* NULL, or what is wrong with the file after a crash that cost at most what was not acknowledged. */
const char *appends_after_crash(const struct appends *a, const char *file, int acked);
/* Appends what is not there, and looks: NULL, or what is wrong. */
const char *appends_finish(const struct appends *a, const char *file, int acked, struct err *err);

#endif
