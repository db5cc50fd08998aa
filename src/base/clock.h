/*
 * clock.h - time and random bytes, replaceable in tests.
 *
 * $BOUGH_NOW (ms since 1970) fixes the clock and $BOUGH_SEED makes the random
 * bytes repeatable, for scripted tests only; both are read once.
 */
#ifndef BOUGH_BASE_CLOCK_H
#define BOUGH_BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int64_t clock_now_ms(void);        /* wall clock, ms since 1970 */
uint64_t clock_mono_us(void);      /* monotonic, for budgets; never fixed */
/* Less than span_ms ago, or ahead: what a wrong clock dated far ahead is not of now. */
bool clock_is_near(int64_t at_ms, int64_t span_ms);
void random_bytes(void *p, size_t n);
void random_uuid4(char out[37]);   /* lower case, NUL-terminated */

/* "2m", "3h", "9d", "4w", "2y"; "now" under a minute; "-" when at is 0. At most 4 columns. */
void time_age(int64_t at_ms, int64_t now_ms, char out[8]);
/* Local time "2026-11-30 10:01:12" (or UTC with TZ=UTC); any int64 is legal, "-" when out of range. */
void time_full(int64_t at_ms, char out[32]);
void time_clock(int64_t at_ms, char out[16]); /* "10:01:12" */
/* "60 B", "1.2K", "88K", "3.1M", "1.0G": at most 6 columns. */
void size_human(uint64_t bytes, char out[16]);
/* "12,345" */
void count_human(uint64_t n, char out[32]);
/* The ending, or the word, that goes with a number: plural(n, "y", "ies"). */
const char *plural(uint64_t n, const char *one, const char *many);

#endif
