/*
 * news.c - what a changed file means: which entries came, which are gone, how the
 * file changed, and the sentence that says so. Reading is work.c's.
 *
 * A file that is written anew in place is empty for a moment. What stood in it
 * before that stays in work.old, so that what comes next is compared with it and
 * not with nothing.
 */
#include "config.h"
#include "store/internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "format/dsh/dsh.h"
#include "format/flow/flow.h"

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t *sorted_ids(const struct session *s, uint32_t n)
{
	uint64_t *v = xcalloc(n ? n : 1, sizeof(*v));

	for (uint32_t i = 0; i < n; i++)
		v[i] = s->entries[i].idhash;
	qsort(v, n, sizeof(*v), by_value);
	return v;
}

static bool holds(const uint64_t *v, uint32_t n, uint64_t x)
{
	return n && bsearch(&x, v, n, sizeof(*v), by_value);
}

/* How many ids are new (they get their mark), how many gone. Both hash with one key. */
static void compare_sessions(
	const struct session *old, struct session *s, uint32_t *came, uint32_t *gone)
{
	uint32_t nold = session_own(old), n = session_own(s);
	uint64_t *before = sorted_ids(old, nold), *now = sorted_ids(s, n);

	*came = *gone = 0;
	for (uint32_t i = 0; i < n; i++) {
		bool is_new = !holds(before, nold, s->entries[i].idhash);

		/* a load that began at nothing may have marked all of them */
		s->entries[i].flags &= ~ENTRY_NEW;
		if (is_new)
			s->entries[i].flags |= ENTRY_NEW;
		*came += is_new;
	}
	for (uint32_t i = 0; i < nold; i++)
		if (!holds(now, n, old->entries[i].idhash))
			(*gone)++;
	free(before);
	free(now);
}

/* Are the entries of `s` the first ones of `old`, each where it was? */
static bool is_beginning(const struct session *old, const struct session *s)
{
	uint32_t n = session_own(s);
	bool same = n <= session_own(old);

	for (uint32_t i = 0; same && i < n; i++) {
		const struct entry *a = &old->entries[i], *b = &s->entries[i];

		same = a->idhash == b->idhash && a->off == b->off && a->len == b->len &&
		       a->time == b->time && a->parent == b->parent && a->kind == b->kind &&
		       !((a->flags ^ b->flags) & ENTRY_DAMAGED);
	}
	return same;
}

/* A writer that could not finish what it began takes it back by truncation. */
static void say_cut(const struct news *n, struct buf *b)
{
	buf_printf(b, "the end of the file was taken back: %" PRIu64 " byte%s", n->bytes,
		plural(n->bytes, "", "s"));
	if (n->events)
		buf_printf(b, ", %" PRIu64 " event%s", n->events, plural(n->events, "", "s"));
	if (n->gone)
		buf_printf(b, ", %u entr%s", n->gone, plural(n->gone, "y", "ies"));
}

void news_say(struct work *w, const struct news *n, char said[200])
{
	struct buf b = { 0 }, tip = { 0 };
	const char *sep = "";

	if (n->how == FILE_CUT)
		say_cut(n, &b);
	else if (w->fmt == &format_flow)
		buf_add(&b, n->rounds.p, n->rounds.n);
	else if (n->how != FILE_GREW)
		buf_printf(&b, "the file was %s",
			n->how == FILE_REPLACED     ? "replaced"
			: n->bytes && !w->is_loaded ? "cut shorter"
						    : "written anew");
	if (b.n)
		sep = ": ";
	if (n->came) {
		buf_printf(&b, "%s%u new entr%s", sep, n->came, plural(n->came, "y", "ies"));
		sep = ", ";
	}
	if (n->gone && n->how != FILE_CUT) {
		buf_printf(&b, "%s%u entr%s gone", sep, n->gone,
			plural(n->gone, "y is", "ies are"));
		sep = ", ";
	}
	if (!w->is_loaded) {
		buf_printf(&b, "%sreading what came", sep);
	} else {
		if (w->s->tip != ENTRY_NONE)
			work_entry_id(w, w->s->tip, &tip, NULL);
		if (!str_eq((struct str){ tip.p, tip.n }, (struct str){ w->tip.p, w->tip.n }) &&
			tip.n)
			buf_printf(&b, "%sthe tip is now %s", b.n ? "; " : "",
				short_id((struct str){ tip.p, tip.n }).s);
		if (work_nlost(w) > n->nlost)
			buf_printf(&b, "%s%zu of bough's entries lost; a repair appends %s again",
				b.n ? "; " : "", work_nlost(w), plural(work_nlost(w), "it", "them"));
	}
	done_set(said, 200, (struct str){ b.p, b.n });
	buf_release(&b);
	buf_release(&tip);
}

static int how_changed(const struct log_id *before, const struct log_id *now)
{
	switch (log_compare(before, now)) {
	case LOG_GREW:
		return FILE_GREW;
	case LOG_REWRITTEN:
	case LOG_SAME: /* with an empty moment in between, within one tick of the clock */
		return FILE_REWRITTEN;
	default:
		return FILE_REPLACED;
	}
}

void news_begin(const struct work *w, struct news *n)
{
	const struct log_id *before = w->fmt->file(w->old), *now = w->fmt->file(w->s);

	n->how = how_changed(before, now);
	n->bytes = before->size > now->size ? before->size - now->size : 0;
}

static void note_cut(
	const struct work *w, const struct session *old, const struct session *s, struct news *n)
{
	if (n->how != FILE_REWRITTEN || !n->bytes || w->fmt == &format_flow ||
		!is_beginning(old, s))
		return;
	n->how = FILE_CUT;
	if (w->fmt == &format_dsh && dsh_count(s) < dsh_count(old))
		n->events = dsh_count(old) - dsh_count(s);
}

void news_settle(struct work *w, struct news *n)
{
	compare_sessions(w->old, w->s, &n->came, &n->gone);
	note_cut(w, w->old, w->s, n);
	work_note_parents(w, w->old, w->s);
	if (session_own(w->s) > 0 || session_own(w->old) == 0)
		session_free(&w->old);
}
