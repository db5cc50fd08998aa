/*
 * cards.c - compactions of a tree session as cards. The file does not say what
 * a summary took the place of; it follows from how a compaction is written: the
 * summary becomes a root, and the first entry that was kept hangs on it now,
 * while the entry that stood before it ends a branch of its own.
 */
#include "config.h"

#include "format/tree/internal.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK_BACK = 64, TEXT_BYTES = 4096, SIDE_MAX = 4096 };

static uint32_t root_of(const struct session *s, uint32_t entry)
{
	while (s->entries[entry].parent != ENTRY_NONE)
		entry = s->entries[entry].parent;
	return entry;
}

/* What stood before the first kept entry: the nearest in the file that is not below the summary. */
static uint32_t head_end(const struct session *s, uint32_t summary, uint32_t kept)
{
	for (uint32_t i = kept, looked = 0; i-- > 0 && looked < LOOK_BACK; looked++)
		if (i != summary && root_of(s, i) != summary)
			return i;
	return ENTRY_NONE;
}

int tree_op_cards(struct session *s, struct arena *a, struct card_list *out, struct err *err)
{
	(void)err;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct entry *e = &s->entries[i];
		struct card *card;

		if (e->kind != KIND_SUMMARY || e->parent != ENTRY_NONE ||
			e->first_child == ENTRY_NONE)
			continue;
		card = card_add(out, a, CARD_COMPACTION);
		card->id = card->at = session_keep_id(s, i, a);
		card->entry = i;
		card->time = e->time;
		card->own = i;
		card->from = session_keep_id(s, head_end(s, i, e->first_child), a);
	}
	return 0;
}

static void say_entry(struct session *s, uint32_t entry, struct arena *a, struct card_history *h,
	struct buf *text, struct buf *who)
{
	struct err err = { 0 };

	buf_clear(text);
	buf_clear(who);
	if (s->ops->preview(s, entry, TEXT_BYTES, text, who, &err) < 0) {
		buf_clear(text);
		buf_adds(text, err.text);
	}
	card_say(h, a, str_of(kind_name((enum entry_kind)s->entries[entry].kind)),
		(struct str){ text->n ? text->p : "", text->n }, entry);
}

/* The newest SIDE_MAX entries from a root to `end`. */
static void say_branch(struct session *s, uint32_t end, struct arena *a, struct card_history *h)
{
	struct buf text = { 0 }, who = { 0 };
	uint32_t n, *branch = session_branch(s, end, &n);

	for (uint32_t i = n > SIDE_MAX ? n - SIDE_MAX : 0; i < n; i++)
		say_entry(s, branch[i], a, h, &text, &who);
	free(branch);
	buf_release(&text);
	buf_release(&who);
}

/* Where the branch of an entry ends: at the tip when it lies there, else along first children. */
static uint32_t branch_end(const struct session *s, uint32_t entry)
{
	for (uint32_t at = s->tip; at != ENTRY_NONE; at = s->entries[at].parent)
		if (at == entry)
			return s->tip;
	while (s->entries[entry].first_child != ENTRY_NONE)
		entry = s->entries[entry].first_child;
	return entry;
}

/* What both histories go on with. */
static void say_kept(struct session *s, uint32_t from, struct arena *a, struct card_history *before,
	struct card_history *after)
{
	struct buf text = { 0 }, who = { 0 };
	uint32_t n, *branch = session_branch(s, branch_end(s, from), &n), i = 0;

	while (branch[i] != from)
		i++;
	for (uint32_t said = 0; i < n && said < SIDE_MAX; i++, said++) {
		say_entry(s, branch[i], a, before, &text, &who);
		say_entry(s, branch[i], a, after, &text, &who);
	}
	free(branch);
	buf_release(&text);
	buf_release(&who);
}

int tree_op_card(struct session *s, struct card *card, struct arena *a, struct err *err)
{
	uint32_t summary = (uint32_t)card->own, kept = s->entries[summary].first_child;
	uint32_t end = head_end(s, summary, kept);
	struct card_history before = { 0 }, after = { 0 };

	(void)err;
	card->is_filled = true;
	if (end == ENTRY_NONE) {
		card_add_missing(card, a, "what the summary took the place of is not in the file");
		return 0;
	}
	say_branch(s, end, a, &before);
	say_branch(s, summary, a, &after);
	say_kept(s, kept, a, &before, &after);
	card_diff(card, a, &before, &after);
	card_add_attr(card, a, str_of("derived"),
		str_of("from the order of the file: it does not say what was replaced"));
	return 0;
}
