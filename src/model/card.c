/*
 * card.c - cards of a rewritten history: making them, and comparing two
 * histories message by message and two texts word by word. Where the
 * histories come from is the formats' business.
 */
#include "config.h"

#include "model/card.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/session.h"

enum {
	CELLS_MAX = 4 << 20
}; /* of the table of a comparison; above it nothing in the middle is the same */

/* Room for one more in an array of the arena. */
static void *grow(struct arena *a, void *v, size_t n, size_t *cap, size_t size)
{
	void *more;

	if (n < *cap)
		return v;
	*cap = *cap ? 2 * *cap : 8;
	more = arena_alloc(a, *cap * size);
	if (n)
		memcpy(more, v, n * size);
	return more;
}

struct card *card_add(struct card_list *list, struct arena *a, enum card_kind kind)
{
	struct card *card;

	list->v = grow(a, list->v, list->n, &list->cap, sizeof(*list->v));
	card = &list->v[list->n++];
	*card = (struct card){ .kind = kind, .entry = ENTRY_NONE, .time = INT64_MIN };
	return card;
}

void card_add_attr(struct card *card, struct arena *a, struct str key, struct str value)
{
	card->attrs = grow(a, card->attrs, card->nattrs, &card->attrs_cap, sizeof(*card->attrs));
	card->attrs[card->nattrs++] = (struct card_attr){ arena_keep(a, key), arena_keep(a, value) };
}

void card_add_missing(struct card *card, struct arena *a, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	card->missing =
		grow(a, card->missing, card->nmissing, &card->missing_cap, sizeof(*card->missing));
	card->missing[card->nmissing++] = arena_keep(a, buf_str(&text));
	buf_release(&text);
}

const char *card_kind_name(enum card_kind kind)
{
	static const char *const names[CARD_KINDS] = {
		[CARD_HISTORY] = "history change",
		[CARD_COMPACTION] = "compaction",
		[CARD_PRUNE] = "pruned",
		[CARD_PARENT] = "another parent",
	};

	return names[kind];
}

void card_say(
	struct card_history *h, struct arena *a, struct str role, struct str text, uint32_t entry)
{
	h->v = grow(a, h->v, h->n, &h->cap, sizeof(*h->v));
	h->v[h->n++] = (struct card_message){
		.role = arena_keep(a, role), .text = arena_keep(a, text), .entry = entry, .other = CARD_NONE
	};
}

/* ---- two lists ---- */

/* What is compared: by hash first, then by the bytes. */
struct item {
	struct str a, b;
	uint64_t hash;
};

static uint64_t hash_of(struct str s, uint64_t h)
{
	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 1099511628211u;
	return h;
}

static struct item item_of(struct str a, struct str b)
{
	return (struct item){ a, b, hash_of(b, hash_of(a, 1469598103934665603u) ^ 0xFF) };
}

static bool same(const struct item *x, const struct item *y)
{
	return x->hash == y->hash && str_eq(x->a, y->a) && str_eq(x->b, y->b);
}

/*
 * Which items of the two lists stay: kept_x[i] is 1 + the index of its like in
 * y, or 0. The longest common subsequence between the common head and tail.
 */
static void find_kept(
	const struct item *x, size_t nx, const struct item *y, size_t ny, uint32_t *kept_x)
{
	size_t head = 0, tail = 0, rows, cols;
	uint32_t *table;

	while (head < nx && head < ny && same(&x[head], &y[head])) {
		kept_x[head] = (uint32_t)head + 1;
		head++;
	}
	while (tail < nx - head && tail < ny - head && same(&x[nx - tail - 1], &y[ny - tail - 1])) {
		tail++;
		kept_x[nx - tail] = (uint32_t)(ny - tail) + 1;
	}
	rows = nx - head - tail;
	cols = ny - head - tail;
	if (!rows || !cols || rows > CELLS_MAX / (cols + 1))
		return;
	table = xcalloc((rows + 1) * (cols + 1), sizeof(*table));
	for (size_t i = rows; i-- > 0;) {
		uint32_t *row = table + i * (cols + 1), *below = row + cols + 1;

		for (size_t k = cols; k-- > 0;)
			row[k] = same(&x[head + i], &y[head + k]) ? below[k + 1] + 1 :
				below[k] > row[k + 1] ? below[k] : row[k + 1];
	}
	for (size_t i = 0, k = 0; i < rows && k < cols;) {
		const uint32_t *row = table + i * (cols + 1);

		if (same(&x[head + i], &y[head + k])) {
			kept_x[head + i] = (uint32_t)(head + k) + 1;
			i++;
			k++;
		} else if (row[cols + 1 + k] >= row[k + 1]) {
			i++;
		} else {
			k++;
		}
	}
	free(table);
}

/* ---- messages ---- */

static struct item *message_items(const struct card_history *h)
{
	struct item *v = xcalloc(h->n ? h->n : 1, sizeof(*v));

	for (size_t i = 0; i < h->n; i++)
		v[i] = item_of(h->v[i].role, h->v[i].text);
	return v;
}

static void put(struct card *card, enum card_mark mark, const struct card_message *m, size_t before,
	size_t after)
{
	struct card_message *to = &card->v[card->n++];

	*to = *m;
	to->mark = mark;
	to->before = (uint32_t)before;
	to->after = (uint32_t)after;
	to->other = CARD_NONE;
	*(mark == CARD_KEPT            ? &card->nkept
		: mark == CARD_REMOVED ? &card->nremoved
				       : &card->nadded) += 1;
}

/* In a gap: the removed messages [first, middle), then the added ones up to the end. */
static void pair_edits(struct card *card, size_t first, size_t middle)
{
	size_t k = middle;

	for (size_t i = first; i < middle; i++) {
		size_t at = k;

		while (at < card->n && !str_eq(card->v[at].role, card->v[i].role))
			at++;
		if (at == card->n)
			continue;
		card->v[i].other = (uint32_t)at;
		card->v[at].other = (uint32_t)i;
		k = at + 1;
	}
}

void card_diff(struct card *card, struct arena *a, const struct card_history *before,
	const struct card_history *after)
{
	struct item *x = message_items(before), *y = message_items(after);
	uint32_t *kept = xcalloc(before->n + 1, sizeof(*kept));
	size_t i = 0, k = 0;

	find_kept(x, before->n, y, after->n, kept);
	card->v = arena_alloc(a, (before->n + after->n + 1) * sizeof(*card->v));
	card->n = 0;
	card->nkept = card->nremoved = card->nadded = 0;
	while (i < before->n || k < after->n) {
		size_t first = card->n, middle;

		for (; i < before->n && !kept[i]; i++)
			put(card, CARD_REMOVED, &before->v[i], i + 1, 0);
		middle = card->n;
		for (; k < after->n && (i == before->n || k + 1 < kept[i]); k++)
			put(card, CARD_ADDED, &after->v[k], 0, k + 1);
		pair_edits(card, first, middle);
		for (; i < before->n && kept[i] == k + 1; i++, k++)
			put(card, CARD_KEPT, &after->v[k], i + 1, k + 1);
	}
	card->has_messages = true;
	free(kept);
	free(x);
	free(y);
}

/* ---- words ---- */

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* A word and the white space behind it. */
static struct item *word_items(struct str s, size_t *n)
{
	struct item *v = NULL;
	size_t cap = 0, at = 0;

	*n = 0;
	while (at < s.n) {
		size_t end = at;

		while (end < s.n && !is_space(s.p[end]))
			end++;
		while (end < s.n && is_space(s.p[end]))
			end++;
		v = xgrow(v, &cap, *n + 1, sizeof(*v));
		v[(*n)++] = item_of((struct str){ s.p + at, end - at }, (struct str){ NULL, 0 });
		at = end;
	}
	return v;
}

/* Pieces of one mark that stand side by side become one. */
static void add_words(struct card_words *v, size_t *n, enum card_mark mark, struct str text)
{
	if (*n && v[*n - 1].mark == mark && v[*n - 1].text.p + v[*n - 1].text.n == text.p)
		v[*n - 1].text.n += text.n;
	else
		v[(*n)++] = (struct card_words){ mark, text };
}

struct card_words *card_word_diff(struct arena *a, struct str before, struct str after, size_t *n)
{
	size_t nx, ny, i = 0, k = 0;
	struct item *x = word_items(before, &nx), *y = word_items(after, &ny);
	uint32_t *kept = xcalloc(nx + 1, sizeof(*kept));
	struct card_words *v = arena_alloc(a, (nx + ny + 1) * sizeof(*v));

	*n = 0;
	find_kept(x, nx, y, ny, kept);
	while (i < nx || k < ny) {
		for (; i < nx && !kept[i]; i++)
			add_words(v, n, CARD_REMOVED, x[i].a);
		for (; k < ny && (i == nx || k + 1 < kept[i]); k++)
			add_words(v, n, CARD_ADDED, y[k].a);
		for (; i < nx && kept[i] == k + 1; i++, k++)
			add_words(v, n, CARD_KEPT, y[k].a);
	}
	free(kept);
	free(x);
	free(y);
	return v;
}
