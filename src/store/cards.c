/*
 * cards.c - the cards of a session: those of its format, and those of entries
 * whose parent became another one while the session was open. What stood
 * before is written down when the session is read anew, because only then both
 * are there.
 */
#include "config.h"

#include "store/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "store/conversation.h"

enum { PARENTS_MAX = 256, SIDE_MAX = 1024, TEXT_BYTES = 4096 };

/* An entry of the old session by the hash of its id. */
struct was {
	uint64_t hash;
	uint32_t entry;
};

static int by_hash(const void *a, const void *b)
{
	const struct was *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

static struct was *index_of(const struct session *s)
{
	struct was *v = xcalloc(s->n ? s->n : 1, sizeof(*v));

	for (uint32_t i = 0; i < s->n; i++)
		v[i] = (struct was){ s->entries[i].idhash, i };
	if (s->n)
		qsort(v, s->n, sizeof(*v), by_hash);
	return v;
}

static uint64_t parent_hash(const struct session *s, uint32_t entry)
{
	uint32_t parent = s->entries[entry].parent;

	return parent == ENTRY_NONE ? 0 : s->entries[parent].idhash;
}

/* The old file may be overwritten by now: its bytes count only while the id still stands there. */
static void say_entry(
	struct session *s, uint32_t entry, bool is_old, struct arena *a, struct card_history *h)
{
	struct buf text = { 0 }, who = { 0 };

	if (is_old)
		s->ops->id(s, entry, &who, NULL);
	if (is_old && session_hash(s, who.p ? who.p : "", who.n) != s->entries[entry].idhash) {
		buf_adds(&text, "(overwritten)");
	} else {
		buf_clear(&who);
		if (s->ops->preview(s, entry, TEXT_BYTES, &text, &who, NULL) < 0)
			buf_adds(&text, "(can not be read)");
	}
	card_say(h, a, str_of(kind_name((enum entry_kind)s->entries[entry].kind)),
		(struct str){ text.p ? text.p : "", text.n }, is_old ? ENTRY_NONE : entry);
	buf_release(&text);
	buf_release(&who);
}

static void say_branch(
	struct session *s, uint32_t end, bool is_old, struct arena *a, struct card_history *h)
{
	uint32_t n, *branch = session_branch(s, end, &n);

	for (uint32_t i = n > SIDE_MAX ? n - SIDE_MAX : 0; i < n; i++)
		say_entry(s, branch[i], is_old, a, h);
	free(branch);
}

static void add_card(
	struct work *w, struct session *old, uint32_t was, struct session *now, uint32_t is)
{
	struct arena *a = &w->parents_arena;
	struct card *card = card_add(&w->parents, a, CARD_PARENT);
	struct card_history before = { 0 }, after = { 0 };
	struct str root = str_of("none: a root");
	struct str is_parent = session_keep_id(now, now->entries[is].parent, a);

	card->id = card->at = session_keep_id(now, is, a);
	card->from = session_keep_id(old, old->entries[was].parent, a);
	card->time = now->entries[is].time;
	card_add_attr(card, a, str_of("parent before"), card->from.n ? card->from : root);
	card_add_attr(card, a, str_of("parent now"), is_parent.n ? is_parent : root);
	say_branch(old, was, true, a, &before);
	say_branch(now, is, false, a, &after);
	card_diff(card, a, &before, &after);
	card->is_filled = true;
}

void work_note_parents(struct work *w, struct session *old, struct session *now)
{
	struct was *index;

	if (work_is_conversation(w)) /* has cards of its own */
		return;
	index = index_of(old);
	for (uint32_t i = 0; i < now->n && w->parents.n < PARENTS_MAX; i++) {
		struct was key = { now->entries[i].idhash, 0 };
		const struct was *found =
			old->n ? bsearch(&key, index, old->n, sizeof(key), by_hash) : NULL;

		if (found && parent_hash(old, found->entry) != parent_hash(now, i))
			add_card(w, old, found->entry, now, i);
	}
	if (w->parents.n == PARENTS_MAX)
		card_add_missing(&w->parents.v[PARENTS_MAX - 1], &w->parents_arena,
			"there may be more such entries: only the first %d are kept", PARENTS_MAX);
	free(index);
}

int work_cards(struct work *w, struct arena *a, struct card_list *out, struct err *err)
{
	int rc = w->s->ops->cards ? w->s->ops->cards(w->s, a, out, err) : 0;

	for (size_t i = 0; i < w->parents.n; i++) {
		struct card *card = card_add(out, a, CARD_PARENT);

		*card = w->parents.v[i];
		card->entry = session_find(w->s, card->at);
	}
	return rc;
}

int work_card_fill(struct work *w, struct card *card, struct arena *a, struct err *err)
{
	return card->is_filled ? 0 : w->s->ops->card(w->s, card, a, err);
}
