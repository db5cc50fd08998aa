/*
 * news.c - what happened to a conversation between two readings of it, in
 * words: rounds that came, went or are other files now, names that are taken
 * by what is no round, and landed files. Nodes are not looked at.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"

enum { SAID_MAX = 2 }; /* names that get a sentence of their own; the others are counted */

/* A name in the folder of rounds. */
struct place {
	const char *name;
	const struct flow_round *round; /* NULL: a reservation, or no file */
	const char *what;               /* of what is no file */
};

struct places {
	struct place *v;
	size_t n;
};

struct news {
	struct buf *out;
	const char *stopped;                /* why the fold stopped; NULL: it did not, or not yet */
	size_t came, written, gone;         /* of rounds that are, or were, folded */
	uint64_t came_at, written_at, gone_at;
	size_t said, unsaid;
	struct buf others;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct place *)a)->name, ((const struct place *)b)->name);
}

static struct places places_of(const struct flow_conversation *c)
{
	struct places p = { xcalloc(c->nrounds + c->nreservations + c->nodd + 1, sizeof(*p.v)), 0 };

	for (size_t i = 0; i < c->nrounds; i++)
		p.v[p.n++] = (struct place){ .name = c->rounds[i].name, .round = &c->rounds[i] };
	for (size_t i = 0; i < c->nreservations; i++)
		p.v[p.n++] = (struct place){ .name = c->reservations[i] };
	for (size_t i = 0; i < c->nodd; i++)
		p.v[p.n++] = (struct place){ .name = c->odd[i].name, .what = c->odd[i].what };
	qsort(p.v, p.n, sizeof(*p.v), by_name);
	return p;
}

static bool is_folded(const struct place *p)
{
	return p && p->round && p->round->state == FLOW_FOLDED;
}

static uint64_t number_of(const struct place *p) /* "r000003-..." */
{
	return strtoull(p->name + 1, NULL, 10);
}

static bool is_same(const struct place *a, const struct place *b)
{
	if (a->round && b->round)
		return a->round->stamp == b->round->stamp;
	return !a->round && !b->round && !a->what == !b->what &&
	       (!a->what || strcmp(a->what, b->what) == 0);
}

static void count(size_t *n, uint64_t *at, const struct place *p)
{
	if ((*n)++ == 0)
		*at = number_of(p);
}

/* Of what is there and not folded: why not. */
static void say_why(const struct place *p, const char *stopped, struct buf *b)
{
	const struct flow_round *r = p->round;

	if (p->what)
		buf_printf(b, "is no file: %s", p->what);
	else if (!r)
		buf_adds(b, "is empty: a reservation");
	else if (r->state == FLOW_BAD && strncmp(r->fault.code, "fold-", 5) == 0)
		buf_printf(b, "does not follow: %s", r->fault.text);
	else if (r->state == FLOW_BAD)
		buf_printf(b, "is not valid: %s", r->fault.text);
	else if (r->state == FLOW_NOT_FOLDED)
		buf_printf(b, "is not folded: %s", stopped ? stopped : "");
	else
		buf_adds(b, "is not read yet");
}

static void say_other(struct news *n, const struct place *old, const struct place *now)
{
	if (n->said++ >= SAID_MAX) {
		n->unsaid++;
		return;
	}
	buf_printf(&n->others, "%sround %" PRIu64, n->others.n ? "; " : "",
		number_of(now ? now : old));
	if (!now) {
		buf_adds(&n->others, " is gone again");
		return;
	}
	buf_adds(&n->others, is_folded(old) ? " was written anew and "
			     : old	    ? " is another one and "
					    : " is there and ");
	say_why(now, n->stopped, &n->others);
}

/* One name: what it was and what it is; either may be NULL. */
static void note(struct news *n, const struct place *old, const struct place *now)
{
	if (is_folded(now)) {
		if (!is_folded(old))
			count(&n->came, &n->came_at, now);
		else if (!is_same(old, now))
			count(&n->written, &n->written_at, now);
	} else if (is_folded(old) && !now) {
		count(&n->gone, &n->gone_at, old);
	} else if (!old || !now || !is_same(old, now)) {
		say_other(n, old, now);
	}
}

static void add_count(struct news *n, size_t count, uint64_t at, const char *one, const char *more)
{
	const char *sep = n->out->n ? "; " : "";

	if (count == 1)
		buf_printf(n->out, "%sround %" PRIu64 " %s", sep, at, one);
	else if (count)
		buf_printf(n->out, "%s%zu rounds %s", sep, count, more);
}

static void landed_news(
	const struct flow_conversation *old, const struct flow_conversation *now, struct buf *out)
{
	struct flow_landed_sum is = flow_landed_sum(now);
	size_t more = is.n > old->seen.n ? is.n - old->seen.n : 0;
	size_t fewer = old->seen.n > is.n ? old->seen.n - is.n : 0;
	const char *sep = out->n ? "; " : "";

	if (is.sum == old->seen.sum && is.n == old->seen.n)
		return;
	if (more)
		buf_printf(out, "%s%zu landed file%s came", sep, more, plural(more, "", "s"));
	else if (fewer)
		buf_printf(out, "%s%zu landed file%s gone", sep, fewer, plural(fewer, " is", "s are"));
	else
		buf_printf(out, "%sthe landed files changed", sep);
}

void flow_news(
	const struct flow_conversation *old, const struct flow_conversation *now, struct buf *out)
{
	struct places a = places_of(old), b = places_of(now);
	struct news n = { .out = out, .stopped = now->fault.code ? now->fault.text : NULL };
	size_t i = 0, k = 0;

	while (i < a.n || k < b.n) {
		int order = i == a.n ? 1 : k == b.n ? -1 : by_name(&a.v[i], &b.v[k]);

		note(&n, order <= 0 ? &a.v[i] : NULL, order >= 0 ? &b.v[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
	add_count(&n, n.written, n.written_at, "was written anew", "were written anew");
	add_count(&n, n.gone, n.gone_at, "is gone", "are gone");
	add_count(&n, n.came, n.came_at, "came", "came");
	if (n.others.n)
		buf_printf(out, "%s%s", out->n ? "; " : "", n.others.p);
	if (n.unsaid)
		buf_printf(out, " and %zu more", n.unsaid);
	if (old->has_seen && flow_head(now))
		landed_news(old, now, out);
	buf_release(&n.others);
	free(a.v);
	free(b.v);
}
