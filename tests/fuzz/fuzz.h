/*
 * fuzz.h - what every fuzz target shares: its entry, and a check that ends the run.
 */
#ifndef BOUGH_TESTS_FUZZ_H
#define BOUGH_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An oracle: what must hold for every input. */
#define HOLDS(what) \
	do { \
		if (!(what)) { \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what); \
			abort(); \
		} \
	} while (0)

#endif
