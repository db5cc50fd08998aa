/*
 * progress.h - a bar on a terminal while a command works. It goes to stderr,
 * and only where that is a terminal; it is gone before anything else is said.
 */
#ifndef BOUGH_CMD_PROGRESS_H
#define BOUGH_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what;  /* "verifying" */
	bool is_on, is_shown;
	uint64_t next_us;  /* not drawn again before */
};

void progress_begin(struct progress *p, const char *what);
/* Cheap to call often. */
void progress_show(struct progress *p, uint64_t done, uint64_t all);
/* Takes the bar away; it comes again with the next progress_show. */
void progress_hide(struct progress *p);

#endif
