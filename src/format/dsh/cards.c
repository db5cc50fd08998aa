/*
 * cards.c - compactions and prunes as cards: the surface before and after a
 * replacement, message by message. The log says all of it: which nodes went,
 * and what took their place.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/card.h"

enum { TEXT_BYTES = 4096, NODES_MAX = 4096 };

/* What stands on the surface, in its order. */
struct nodes {
	struct node {
		uint64_t seq;
		uint32_t entry;
	} *v;
	size_t n, cap;
};

static const struct dsh_item *item_of(const struct session *s, uint32_t entry)
{
	const struct dsh_src *src = s->src;
	uint32_t i = s->entries[entry].spare == SPARE_RECORD ? scan_item_of(src, s->entries[entry].off)
							      : NO_ITEM;

	return i == NO_ITEM || (src->items[i].flags & ITEM_ODD) ? NULL : &src->items[i];
}

static bool replaces(const struct dsh_item *item)
{
	return item && (item->flags & ITEM_REPLACES) && item->spare > 0;
}

static bool read_range(struct session *s, uint32_t entry, uint64_t *start, uint64_t *end)
{
	struct dsh_rec r = { 0 };
	bool ok = false;

	if (entry_rec(s, entry, &r, NULL) == 0)
		ok = num_count(json_get(rec_field(&r, K_OP), "start"), start) &&
		     num_count(json_get(rec_field(&r, K_OP), "end"), end);
	rec_release(&r);
	return ok;
}

static size_t find(const struct nodes *nodes, uint64_t seq)
{
	size_t i = 0;

	while (i < nodes->n && nodes->v[i].seq != seq)
		i++;
	return i;
}

static void append(struct nodes *nodes, struct node node)
{
	nodes->v = xgrow(nodes->v, &nodes->cap, nodes->n + 1, sizeof(*nodes->v));
	nodes->v[nodes->n++] = node;
}

/* Applies the entry at the end of what is known; as the log's own rules do, or not at all. */
static void apply(struct session *s, struct nodes *nodes, uint32_t entry)
{
	const struct dsh_item *item = item_of(s, entry);
	uint64_t start, end;
	size_t first, last;

	if (!item)
		return;
	if (!replaces(item) || !read_range(s, entry, &start, &end)) {
		append(nodes, (struct node){ item->seq, entry });
		return;
	}
	first = find(nodes, start);
	last = find(nodes, end);
	if (last >= nodes->n || first > last)
		return;
	nodes->v[first] = (struct node){ item->seq, entry };
	memmove(&nodes->v[first + 1], &nodes->v[last + 1], (nodes->n - last - 1) * sizeof(*nodes->v));
	nodes->n -= last - first;
}

int dsh_op_cards(struct session *s, struct arena *a, struct card_list *out, struct err *err)
{
	struct dsh_src *src = s->src;
	uint32_t before = ENTRY_NONE;

	(void)err;
	for (uint32_t e = 0; e < s->n; e++) {
		const struct dsh_item *item = item_of(s, e);
		struct card *card;

		if (!item)
			continue;
		if (replaces(item)) {
			card = card_add(out, a, item->type == T_TOOL_RESULT ? CARD_PRUNE : CARD_COMPACTION);
			card->id = card->at = session_keep_id(s, e, a);
			card->entry = e;
			card->time = s->entries[e].time;
			card->own = (uint64_t)(item - src->items);
			if (before != ENTRY_NONE)
				card->from = session_keep_id(s, before, a);
			card->system_changed = CARD_NO;
		}
		before = e;
	}
	return 0;
}

/* ---- one card ---- */

/* A result that was pruned is a result still, though as an entry it counts as a summary. */
static const char *role_of(const struct session *s, uint32_t entry)
{
	const struct dsh_item *item = item_of(s, entry);

	return kind_name(item && item->type == T_TOOL_RESULT ? KIND_TOOL_RESULT
							     : (enum entry_kind)s->entries[entry].kind);
}

static void say(struct session *s, const struct nodes *nodes, struct arena *a, struct card_history *h)
{
	struct buf text = { 0 }, who = { 0 };

	for (size_t i = nodes->n > NODES_MAX ? nodes->n - NODES_MAX : 0; i < nodes->n; i++) {
		uint32_t e = nodes->v[i].entry;
		struct err err = { 0 };

		buf_clear(&text);
		buf_clear(&who);
		if (dsh_op_preview(s, e, TEXT_BYTES, &text, &who, &err) < 0) {
			buf_clear(&text);
			buf_adds(&text, err.text);
		}
		card_say(h, a, str_of(role_of(s, e)),
			(struct str){ text.n ? text.p : "", text.n }, e);
	}
	buf_release(&text);
	buf_release(&who);
}

/* What the record before the replacement says of it: prices and who made the summary. */
static void add_attrs(struct session *s, struct card *card, struct arena *a)
{
	static const char *const names[] = { "compactionId", "shadowedTokenCount", "provider", "model",
		"maxTokens" };
	struct dsh_src *src = s->src;
	uint32_t i = (uint32_t)card->own;
	struct dsh_tokens tokens = { 0 };
	struct buf text = { 0 };
	struct dsh_rec r = { 0 };
	struct str data;

	if (i == 0 || (src->items[i - 1].type != T_COMPACTION_SUMMARY && src->items[i - 1].type != T_PRUNE) ||
		item_rec(s, i - 1, &r, NULL) < 0)
		goto out;
	data = rec_field(&r, K_DATA);
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		struct str raw = json_get(data, names[k]);

		if (!raw.n)
			continue;
		buf_clear(&text);
		if (json_type_of(raw) == JSON_STRING)
			json_string(raw, &text, TEXT_BYTES);
		else
			buf_addstr(&text, raw);
		card_add_attr(card, a, str_of(names[k]),
			arena_keep(a, buf_str(&text)));
	}
	tokens_add(&tokens, tokens_of(&r));
	if (tokens.calls) {
		buf_clear(&text);
		tokens_put(&tokens, &text);
		card_add_attr(card, a, str_of("tokens"), arena_keep(a, buf_str(&text)));
	}
out:
	rec_release(&r);
	buf_release(&text);
}

int dsh_op_card(struct session *s, struct card *card, struct arena *a, struct err *err)
{
	struct card_history before = { 0 }, after = { 0 };
	struct nodes nodes = { 0 };

	(void)err;
	card->is_filled = true;
	for (uint32_t e = 0; e < card->entry; e++)
		apply(s, &nodes, e);
	say(s, &nodes, a, &before);
	apply(s, &nodes, card->entry);
	say(s, &nodes, a, &after);
	card_diff(card, a, &before, &after);
	add_attrs(s, card, a);
	free(nodes.v);
	return 0;
}
