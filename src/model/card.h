/*
 * card.h - where the history that a model is sent was rewritten.
 *
 * A card stands for one such change: what it happened to, what stood there
 * before, which messages were kept, which went and which came, and what
 * became of the reply in between. Formats with cards of their own (flow) fill
 * it from them; others derive it (a compaction, a pruned range, an entry whose
 * parent is another one now).
 *
 * Calling sequence: session_ops.cards lists the heads (cheap: no message is
 * read); session_ops.card fills the messages of one of them, mostly by
 * card_diff. What can not be had is told in `missing`, never guessed.
 */
#ifndef BOUGH_MODEL_CARD_H
#define BOUGH_MODEL_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

#define CARD_NONE 0xFFFFFFFFu

enum card_kind {
	CARD_HISTORY,    /* the format has a card of its own for it */
	CARD_COMPACTION, /* a summary took the place of the head of a branch */
	CARD_PRUNE,      /* a range was replaced or left out, without a summary */
	CARD_PARENT,     /* an entry has another parent than it had when the file was opened */
	CARD_KINDS
};

enum card_mark { CARD_KEPT, CARD_REMOVED, CARD_ADDED };
enum card_answer { CARD_UNKNOWN, CARD_YES, CARD_NO };

struct card_message {
	enum card_mark mark;
	uint32_t before,
		after; /* its number from 1 in the history before and after; 0: not in it */
	struct str role, text;  /* unsanitised */
	uint32_t entry;         /* the entry that holds it, or ENTRY_NONE */
	uint32_t
		other; /* index of the one of the other side that it may be an edit of; CARD_NONE */
};

struct card_attr {
	struct str key, value;
};

struct card {
	enum card_kind kind;
	struct str id;          /* of the card's own node or entry; n 0: it has none */
	struct str at,
		from; /* ids: what the change is before or at; what came before it. n 0: unknown */
	uint32_t entry;         /* of `at`, or ENTRY_NONE */
	int64_t time;           /* ms since 1970; INT64_MIN: unknown */
	uint64_t own;           /* for the format: what it needs to fill the card */
	struct card_attr *attrs; /* what the format says of it beside the fields here */
	size_t nattrs, attrs_cap;
	struct str reply; /* what became of the reply: a word of the format; n 0: nothing is said */
	struct str reply_reason;
	enum card_answer system_changed;

	/* after filling */
	bool is_filled;
	bool has_messages;      /* both histories could be had */
	struct card_message *v; /* in the order of the two histories, removed before added */
	size_t n;
	uint32_t nkept, nremoved, nadded;
	struct str *missing;    /* sentences: what could not be had */
	size_t nmissing, missing_cap;
};

struct card_list {
	struct card *v; /* in an order that a reader expects: by place */
	size_t n, cap;
};

/* All memory lies in `a`; pointers into a list are valid until the next card_add. */
struct card *card_add(struct card_list *list, struct arena *a, enum card_kind kind);
void card_add_attr(struct card *card, struct arena *a, struct str key, struct str value);
void card_add_missing(struct card *card, struct arena *a, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
const char *card_kind_name(enum card_kind kind); /* "history change", "compaction" ... */

/* One of the two histories that are compared. A zeroed one is empty. */
struct card_history {
	struct card_message *v;
	size_t n, cap;
};
/* Copies both strings into `a`. */
void card_say(
	struct card_history *h, struct arena *a, struct str role, struct str text, uint32_t entry);
/*
 * Compares two histories, message by message, and sets the card's messages
 * and counts. Two messages are the same when role and text are. A removed and
 * an added one between the same kept ones that have one role are each other's
 * `other`.
 */
void card_diff(struct card *card, struct arena *a, const struct card_history *before,
	const struct card_history *after);

/* ---- words of an edited message ---- */

struct card_words {
	enum card_mark mark;
	struct str
		text; /* borrowed from the two texts; white space belongs to the word before it */
};
/* The pieces in order, in `a`. Texts too long for it come as one removed and one added piece. */
struct card_words *card_word_diff(struct arena *a, struct str before, struct str after, size_t *n);

#endif
