/*
 * gen-json.h - lines of JSON from a seed, for the tests that compare readers.
 */
#ifndef BOUGH_TESTS_GEN_JSON_H
#define BOUGH_TESTS_GEN_JSON_H

#include <stdint.h>

#include "base/buf.h"

void gen_seed(uint64_t value);
uint32_t gen_rnd(uint32_t below);
void gen_line(struct buf *b);   /* appends one valid object */
void gen_mutate(struct buf *b); /* changes something in it; it must not be empty */

#endif
