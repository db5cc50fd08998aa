/*
 * interleave.h - every operation with another process that acts before any of
 * its calls (others.h), and what must hold afterwards whatever he did: each of
 * his bytes is somewhere, so is what was there before; nothing is left locked,
 * open or half made. What the operation itself promises is checked by the
 * scenario.
 *
 * `make check` takes every third case (with sanitizers every 31st), BOUGH_LONG=1
 * all of them, BOUGH_SLICE=N every N-th; BOUGH_TEST_FILTER a part of a name.
 */
#ifndef BOUGH_TESTS_INTERLEAVE_H
#define BOUGH_TESTS_INTERLEAVE_H

#include "tests/lib/opcases.h"
#include "tests/lib/others.h"
#include "tests/lib/world.h"

struct scenario;

/* One case. */
struct run {
	const struct opcase *op;
	const struct opfiles *files;
	struct env *env;
	struct others *o;
	struct left left;
	unsigned synced_at; /* the last call that made bytes of a log durable */
	struct world world; /* the home, as it is after the case */
};

struct scenario {
	enum op_id op;
	void (*check)(struct run *r);
	bool no_lease; /* as on a network file system */
};

/* Makes a home for the user, or for one without rights when that is root; `tear_down` undoes it. */
int interleave_set_up(struct env *env);
void interleave_tear_down(struct env *env);
/* Prints the numbers; fails the test when a case is bad or there are less than `least`. */
void interleave_all(struct env *env, const struct scenario *v, size_t n, size_t least);

/* Opened and loaded anew; NULL when that fails, and then the case is bad. */
struct work *run_load(struct run *r, const char *path);

#endif
