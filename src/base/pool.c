/*
 * pool.c - threads that take the next job until there is none. They live as
 * long as one call; starting one costs little beside the files they read.
 */
#include "config.h"

#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>

struct pool {
	const struct pool_work *work;
	size_t njobs, next;
};

struct worker {
	struct pool *pool;
	unsigned thread;
	pthread_t id;
};

unsigned pool_threads(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return n < 1 ? 1 : n > POOL_MAX ? POOL_MAX : (unsigned)n;
}

static void do_jobs(const struct worker *w)
{
	struct pool *pool = w->pool;

	for (;;) {
		size_t i = __atomic_fetch_add(&pool->next, 1, __ATOMIC_RELAXED);

		if (i >= pool->njobs)
			return;
		pool->work->job(pool->work->arg, w->thread, i);
		if (w->thread == 0 && pool->work->tick)
			pool->work->tick(pool->work->arg);
	}
}

static void *run(void *arg)
{
	do_jobs(arg);
	return NULL;
}

void pool_run(const struct pool_work *work, unsigned threads, size_t njobs)
{
	struct pool pool = { .work = work, .njobs = njobs };
	struct worker workers[POOL_MAX];
	unsigned n = threads > POOL_MAX ? POOL_MAX : threads, started = 1;
	sigset_t all, before;

	/* Signals stay with the thread that has always had them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (unsigned i = 0; i < n && i < njobs; i++) {
		workers[i] = (struct worker){ .pool = &pool, .thread = i };
		if (i > 0 && pthread_create(&workers[i].id, NULL, run, &workers[i]) != 0)
			break;
		started = i + 1;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	workers[0] = (struct worker){ .pool = &pool };
	do_jobs(&workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(workers[i].id, NULL);
}
