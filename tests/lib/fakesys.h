/*
 * fakesys.h - a table of system calls for tests that counts every call, keeps
 * a record of them, and makes chosen ones fail.
 *
 * A test runs an operation once with nothing planned, takes the trace, and
 * then runs it again for every case that fake_next() makes of the trace:
 *
 *	fake_install();
 *	fake_reset();
 *	operation();
 *	fake_trace(&trace);
 *	for (c = (struct fake_case){ 0 }; fake_next(&trace, &c);) {
 *		fake_plan(c.mode, c.call, c.error);
 *		operation();
 *		fake_reset();           // no faults from here on
 *		... look what the operation left, do it again, look again
 *	}
 *	fake_remove();
 *
 * Calls are numbered from 1 since the last fake_plan() or fake_reset().
 * Without a plan every call is the real one. For one thread only.
 */
#ifndef BOUGH_TESTS_FAKESYS_H
#define BOUGH_TESTS_FAKESYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fake_mode {
	FAKE_OFF,
	FAKE_ONCE,     /* this call fails and does nothing (close closes and fails) */
	FAKE_FROM,     /* this call and all later ones fail */
	FAKE_SHORT,    /* a read or write does half and says so */
	FAKE_HALF,     /* a write does half and then fails */
	FAKE_KILL,     /* SIGKILL before the call */
	FAKE_KILL_HALF /* a write does half, then SIGKILL */
};

struct fake_case {
	enum fake_mode mode;
	unsigned call;
	int error;
	unsigned step; /* of fake_next */
};

enum { FAKE_TRACE_MAX = 4096 };

struct fake_trace {
	unsigned n;
	struct fake_call {
		const char *name; /* "fsync" */
		size_t bytes;     /* of a read, write or allocation */
	} call[FAKE_TRACE_MAX];
};

void fake_install(void);
void fake_remove(void);
void fake_plan(enum fake_mode mode, unsigned call, int error);
/* After fake_plan: a second single call that fails, to break the way back from the first. */
void fake_plan_also(unsigned call, int error);
/* After fake_plan: only calls that look or read fail, and those for memory. */
void fake_plan_looks(void);
bool fake_is_look(const char *name); /* one of them, "pread" or "malloc" */
bool fake_is_memory(const char *name);
void fake_reset(void);
unsigned fake_calls(void); /* since the plan or reset */
unsigned fake_hits(void);  /* those that were made to fail */
const char *fake_call_name(unsigned call);
void fake_trace(struct fake_trace *out);

/* No lease is to be had, as on a network file system, until it is switched off again. */
void fake_no_lease(bool on);
/* Is one held that keeps everybody out? Who opens the file now would wait. */
bool fake_is_leased(void);

/* The next fault that makes sense for the trace; start with a zeroed case. No kills. */
bool fake_next(const struct fake_trace *t, struct fake_case *c);
/* Does a kill at this call make sense (FAKE_KILL_HALF only for writes)? */
bool fake_fits(const struct fake_trace *t, const struct fake_case *c);
/* "once EIO at call 7 (fsync)", for messages; a static text. */
const char *fake_describe(const struct fake_trace *t, const struct fake_case *c);

/* What a listener is told after each call that succeeded. */
struct fake_event {
	const char *name;
	const char *path, *to; /* NULL when the call has none; `to` of link and rename */
	int fd;                /* of open: the new one; -1 without */
	int flags;             /* of open */
	const void *p;         /* of write */
	size_t n;              /* of write: what was taken */
	uint64_t size;         /* of ftruncate; of overwrite: the offset */
};
void fake_listen(void (*listener)(const struct fake_event *e, void *arg), void *arg);

/*
 * The same before each call, whatever will come of it, with its number: the moment at which
 * somebody else can act. Of the event only name, path and `to` are known by then.
 */
void fake_before(
	void (*hook)(unsigned call, const struct fake_event *e, void *arg), void *arg);
/* Is a lease held, of either kind? Who opens the file for writing now would wait. */
bool fake_has_lease(void);

#endif
