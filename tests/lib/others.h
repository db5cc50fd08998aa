/*
 * others.h - another process that acts on a session while bough is at it: an
 * agent that appends, in one piece or in two, saves by rename, cuts or deletes;
 * another bough; whoever puts files where bough is about to make some.
 *
 * He acts once, before the call of a chosen number (fakesys.h), by calls of
 * his own. Where he would have to wait for a lease he acts as soon as that is
 * given back. What he wrote, and did not destroy himself, is kept in `piece`
 * for who looks whether it is still somewhere.
 *
 *	others_begin(&o, act, call, ...);
 *	operation();
 *	others_end(&o);
 *	... look
 *	others_release(&o);
 */
#ifndef BOUGH_TESTS_OTHERS_H
#define BOUGH_TESTS_OTHERS_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/lib/fakesys.h"
#include "tests/lib/temp.h"

struct others;

enum act_touches {
	TOUCHES_NOTHING,
	TOUCHES_SESSION,
	TOUCHES_REFLOG,
	TOUCHES_SIDECAR,
	TOUCHES_TARGET /* the name that the call makes */
};

struct act {
	const char *name;
	enum act_touches touches;
	/* False: not possible now; he tries again before each later call. */
	bool (*first)(struct others *o, const struct fake_event *e);
	void (*second)(struct others *o);
	enum { NEVER, NEXT_CALL, AT_END } when; /* of the second */
	bool opens;    /* a file that may be leased */
	bool is_whole; /* he leaves whole lines only */
	bool needs_name; /* only before calls that make a name */
	bool blocks;   /* the folder: names can not be made or removed meanwhile */
};
extern const struct act others_acts[];
extern const size_t others_nacts;

/* Where he acts, and what he writes. The strings are borrowed. */
struct others_place {
	const char *session, *reflog, *sidecar, *folder;
	const char *old; /* the session's bytes before the operation: what he has in memory */
	size_t nold;
	const char *record; /* of his, for the session */
	size_t nrecord;
};

enum { OTHERS_PIECES = 4 };

struct others {
	struct others_place at;
	const struct act *act;
	unsigned call;
	bool is_done, is_due;
	unsigned acted_at; /* the call before which he really did; 0: behind them all */
	int fd; /* that he keeps open, or -1 */
	/* of the session: he took its bytes away, or its name */
	bool has_destroyed, has_deleted;
	size_t nkept; /* so many bytes of `old` are still wanted */
	struct piece {
		char *p;
		size_t n;
	} piece[OTHERS_PIECES];
	size_t npieces;
	char target[TEMP_PATH * 2]; /* TOUCHES_TARGET: the name that he took */
};

#define OTHERS_LABEL "{\"v\":1,\"op\":\"label\",\"entry\":\"b\",\"label\":\"his\",\"at\":7}\n"

void others_begin(struct others *o, const struct act *act, unsigned call,
	const struct others_place *at);
/* What is left of it, and every descriptor closed. */
void others_end(struct others *o);
void others_release(struct others *o);

/* Could he act before a call of this name at all, and differently than before the next one? */
bool others_fits(const struct act *act, const char *call_name);

#endif
