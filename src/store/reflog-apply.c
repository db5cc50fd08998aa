/*
 * reflog-apply.c - what the lines of a reflog say about a session: its tip,
 * its labels, and the entries that bough appended and the file no longer has.
 */
#include "config.h"
#include "store/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "json/value.h"

enum { LOST_WORDS = 60 }; /* bytes of a lost entry that its problem quotes */

static void apply_tip(struct reflog *r, struct session *s)
{
	s->tip = s->last_entry;
	s->tip_rule = s->tip == ENTRY_NONE ? TIP_NONE : TIP_LAST_ENTRY;
	s->tip_at = 0;
	for (size_t i = r->n; i-- > 0;) {
		struct reflog_line *l = &r->lines[i];
		uint32_t entry;

		l->is_current = false;
		if (l->op != REFLOG_CHECKOUT)
			continue;
		/* only the newest counts: an append by anyone moves the tip */
		entry = session_committed(s) <= l->entries ? session_find(s, l->entry) : ENTRY_NONE;
		if (entry != ENTRY_NONE) {
			s->tip = entry;
			s->tip_rule = TIP_CHECKOUT;
			s->tip_at = l->at;
			l->is_current = true;
		}
		return;
	}
}

/*
 * The newest line of an entry counts. A label that is set already is left
 * alone: a session that is followed for days must not grow by its labels.
 */
static void apply_labels(struct reflog *r, struct session *s)
{
	unsigned char *seen = xcalloc(s->n / 8 + 1, 1);

	for (size_t i = r->n; i-- > 0;) {
		const struct reflog_line *l = &r->lines[i];
		uint32_t entry = l->op == REFLOG_LABEL ? session_find(s, l->entry) : ENTRY_NONE;
		const struct label *now;

		if (entry == ENTRY_NONE || seen[entry / 8] & 1 << entry % 8)
			continue;
		seen[entry / 8] |= 1 << entry % 8;
		now = session_label(s, entry);
		if (now ? now->at != l->at || !str_eq(now->text, l->from) : l->from.n > 0)
			session_set_label(s, entry, l->from, l->at);
	}
	for (size_t i = s->nlabels; i-- > 0;) {
		uint32_t entry = s->labels[i].entry;

		if (!(seen[entry / 8] & 1 << entry % 8))
			session_set_label(s, entry, (struct str){ "", 0 }, 0);
	}
	free(seen);
}

struct lost_id {
	uint64_t hash;
	size_t line;
};

static int by_hash(const void *a, const void *b)
{
	const struct lost_id *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int by_line(const void *a, const void *b)
{
	const struct lost_id *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

/* One of each id, its oldest line; sorted by hash. */
static size_t keep_oldest(const struct reflog *r, struct lost_id *v, size_t n)
{
	size_t kept = 0;

	qsort(v, n, sizeof(*v), by_hash);
	for (size_t i = 0; i < n; i++)
		if (!kept || v[kept - 1].hash != v[i].hash ||
			!str_eq(r->lines[v[kept - 1].line].entry, r->lines[v[i].line].entry))
			v[kept++] = v[i];
	return kept;
}

/*
 * The newest append lines up to the first whose entry is there. One entry may
 * stand on several lines (a fork writes those that miss again behind its own,
 * so that they stay the newest); its oldest line keeps the order. An id that
 * can not be read counts as found, so nothing is lost for want of a read.
 */
static void find_lost(struct reflog *r, struct session *s)
{
	struct lost_id *v = NULL;
	size_t n = 0, cap = 0;

	free(r->lost);
	r->lost = NULL;
	r->nlost = 0;
	for (size_t i = r->n; i-- > 0;) {
		const struct reflog_line *l = &r->lines[i];

		if (l->op != REFLOG_APPEND)
			continue;
		if (session_find(s, l->entry) != ENTRY_NONE)
			break;
		v = xgrow(v, &cap, n + 1, sizeof(*v));
		v[n++] = (struct lost_id){ session_hash(s, l->entry.p, l->entry.n), i };
	}
	if (n > 0)
		n = keep_oldest(r, v, n);
	if (n > 0) {
		qsort(v, n, sizeof(*v), by_line);
		r->lost = xcalloc(n, sizeof(*r->lost));
		for (size_t i = 0; i < n; i++)
			r->lost[i] = v[i].line;
	}
	r->nlost = n;
	free(v);
}

/* The first words of an entry's content, safe to draw. */
static void first_words(struct str entry, struct buf *out)
{
	struct json_scan sc;
	struct buf text = { 0 };

	if (reflog_entry_is_good(entry, &sc))
		json_string(json_raw(entry.p, &sc.field[ENTRY_CONTENT]), &text, LOST_WORDS);
	text_safe(out, text.n ? text.p : "", text.n, TEXT_ONE_LINE);
	buf_release(&text);
}

static void say_lost(struct reflog *r, struct session *s, size_t line)
{
	struct buf raw = { 0 }, words = { 0 };
	struct err err = { 0 };
	char when[32];

	if (reflog_entry_bytes(r, line, &raw, &err) == 0)
		first_words((struct str){ raw.p, raw.n }, &words);
	time_full(r->lines[line].at, when);
	problem_add(&s->problems, &s->arena, "lost-append", 0, s->size, 0, ENTRY_NONE,
		err.code ? "an entry that bough appended at %s is not in the file any more, and its "
			   "text can not be read: %s"
			 : "an entry that bough appended at %s is not in the file any more: \"%s\"",
		when, err.code ? err.text : words.n ? words.p : "");
	buf_release(&raw);
	buf_release(&words);
}

/* A torn file may hold the entry in its tail: then the torn tail is the problem to look at. */
static void apply_problems(struct reflog *r, struct session *s)
{
	static const char *const kinds[] = { "lost-append", "reflog-unreadable", "reflog-long" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		problem_drop(&s->problems, kinds[i]);
	for (size_t i = 0; !s->is_torn && i < r->nlost && i < PROBLEM_MAX; i++)
		say_lost(r, s, r->lost[i]);
	for (int i = 0; i < REFLOG_PLACES; i++) {
		const struct reflog_file *f = &r->file[i];

		if (f->unreadable)
			problem_add(&s->problems, &s->arena, "reflog-unreadable", 0, s->size, 0,
				ENTRY_NONE, "checkouts and labels are not known: %s",
				f->unreadable);
		if (f->is_cut)
			problem_add(&s->problems, &s->arena, "reflog-long", 0, s->size, 0,
				ENTRY_NONE, "only the newest %d MB of the reflog were read",
				REFLOG_MAX >> 20);
	}
	problem_sort(&s->problems);
}

void reflog_nothing_lost(struct reflog *r, struct session *s)
{
	r->nlost = 0;
	problem_drop(&s->problems, "lost-append");
}

const char *reflog_trouble(const struct reflog *r)
{
	for (int i = 0; i < REFLOG_PLACES; i++)
		if (r->file[i].unreadable)
			return r->file[i].unreadable;
	return NULL;
}

void reflog_apply(struct reflog *r, struct session *s)
{
	r->is_marked = false;
	r->is_applied = true;
	apply_tip(r, s);
	apply_labels(r, s);
	find_lost(r, s);
	apply_problems(r, s);
}
