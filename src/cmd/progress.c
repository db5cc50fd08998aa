/*
 * progress.c - draws the bar: one line that is written over itself.
 */
#include "config.h"

#include "cmd/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum { BAR = 30, FIRST_US = 300000, EVERY_US = 100000 };

void progress_begin(struct progress *p, const char *what)
{
	const char *term = getenv("TERM");

	*p = (struct progress){ .what = what, .next_us = clock_mono_us() + FIRST_US };
	p->is_on = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

void progress_show(struct progress *p, uint64_t done, uint64_t all)
{
	char bar[BAR + 1];
	uint64_t now;
	int full;

	if (!p->is_on || all == 0 || (now = clock_mono_us()) < p->next_us)
		return;
	p->next_us = now + EVERY_US;
	p->is_shown = true;
	if (done > all)
		done = all;
	full = (int)((double)done / (double)all * BAR);
	memset(bar, '.', BAR);
	memset(bar, '#', (size_t)full);
	bar[BAR] = '\0';
	fprintf(stderr, "\r%s %3d%% [%s]", p->what, (int)((double)done / (double)all * 100), bar);
	fflush(stderr);
}

void progress_hide(struct progress *p)
{
	if (!p->is_shown)
		return;
	fprintf(stderr, "\r%*s\r", (int)strlen(p->what) + BAR + 8, "");
	fflush(stderr);
	p->is_shown = false;
}
