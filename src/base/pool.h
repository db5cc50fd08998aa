/*
 * pool.h - many jobs on as many threads as there are processors.
 *
 * Only for work that shares nothing but what it reads: each job is done once,
 * by one thread, in no order that the caller can rely on. The calling thread
 * works too and pool_run returns when all is done. Where no thread can be had
 * it does everything itself.
 */
#ifndef BOUGH_BASE_POOL_H
#define BOUGH_BASE_POOL_H

#include <stddef.h>

enum { POOL_MAX = 16 };

/* Processors that this process may run on; 1 to POOL_MAX. */
unsigned pool_threads(void);

struct pool_work {
	void *arg;
	/* thread: 0 to threads - 1, so that each can have memory of its own */
	void (*job)(void *arg, unsigned thread, size_t i);
	/* Between the jobs of the calling thread; may be NULL. */
	void (*tick)(void *arg);
};
void pool_run(const struct pool_work *work, unsigned threads, size_t njobs);

#endif
