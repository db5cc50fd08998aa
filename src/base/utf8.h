/*
 * utf8.h - strict UTF-8.
 *
 * Overlong forms, surrogates and values over U+10FFFF are bad. A maximal bad
 * run follows the rule of the Unicode standard (one U+FFFD for each maximal
 * subpart), as browsers do.
 */
#ifndef BOUGH_BASE_UTF8_H
#define BOUGH_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_BAD 0xFFFFFFFFu

/* Bytes of the first code point of p[0..n), n > 0; *cp is it, or UTF8_BAD for a bad run of that length. */
size_t utf8_decode(const char *p, size_t n, uint32_t *cp);
/* 1 to 4 bytes into out; cp must be a scalar value. */
size_t utf8_encode(uint32_t cp, char out[4]);
/* Length of the valid prefix; n when all is valid. Fast on ASCII. */
size_t utf8_valid_prefix(const char *p, size_t n);
/* The largest m <= n at which p may be cut without splitting a valid sequence. */
size_t utf8_cut(const char *p, size_t n);

#endif
