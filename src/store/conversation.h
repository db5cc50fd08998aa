/*
 * conversation.h - what screens see of a conversation (format flow): the fold
 * as of a round with what that round did, relations, unresolved references,
 * rounds with their checks, cards, and what a node says.
 *
 * A struct conversation looks at a session that has been loaded
 * (conversation_new after work_step said 0) and is let go of when the session
 * is another one (WORK_REPLACED). conversation_show makes the fold as of any
 * round; everything but rounds and findings is about that one. What a round
 * withdrew is shown with it, marked, though it is not in the fold.
 *
 * Strings are borrowed: those of ids and words as long as the conversation,
 * the others lie in the arena that the call got. All are unsanitised.
 */
#ifndef BOUGH_STORE_CONVERSATION_H
#define BOUGH_STORE_CONVERSATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "model/card.h"
#include "model/content.h"

#define CONVERSATION_NONE 0xFFFFFFFFu

struct work;
struct conversation;

bool store_is_conversation(
	const char *path); /* of what can be opened there; false also when nothing can */
bool store_is_conversation_folder(const char *path); /* one conversation, not a root of them */
bool work_is_conversation(const struct work *w);
/*
 * The folders that a change of shows: of the rounds and, when it has been
 * loaded, of the landed files. Watch them before conversation_new: that
 * remembers which files there are, and work_refresh sees when it changes.
 */
void work_each_folder(
	struct work *w, void (*fn)(void *arg, const char *path), void *arg);
struct conversation *conversation_new(struct work *w); /* NULL: it is of another format */
void conversation_free(struct conversation **c);

/* ---- the fold as of a round ---- */

uint32_t conversation_folded(const struct conversation *c); /* rounds that could be folded */
uint32_t conversation_round(const struct conversation *c);  /* how many are in what is shown */
void conversation_show(struct conversation *c, uint32_t rounds);
struct str conversation_title(const struct conversation *c);  /* as of the round */

struct conversation_sums {
	uint32_t nodes, relations, unresolved, open;
	uint32_t added, revised, resolved, withdrawn; /* by the round that is shown */
};
void conversation_sums(const struct conversation *c, struct conversation_sums *out);

/* mark, what the shown round did: '+' added, '~' revised, '=' resolved, '-' withdrew, ' '. */
struct conversation_line {
	uint32_t version, id, kind; /* id and kind: words */
	uint32_t depth, parent;     /* parent: a line, or CONVERSATION_NONE */
	uint32_t end;               /* behind the last line below it */
	char mark;
};
/* The outline in display order; n their number. */
const struct conversation_line *conversation_lines(const struct conversation *c, uint32_t *n);
uint32_t conversation_line_of(
	const struct conversation *c, uint32_t id); /* CONVERSATION_NONE: not there */
struct str conversation_word(const struct conversation *c, uint32_t word);
uint32_t conversation_find_word(const struct conversation *c, struct str s); /* CONVERSATION_NONE */

struct conversation_relation {
	uint32_t version, id, type, from, to, quality; /* words */
	char mark;
};
const struct conversation_relation *conversation_relations(
	const struct conversation *c, uint32_t *n);
struct conversation_open {
	uint32_t version, id, state, kind, ref; /* words */
	char mark;
};
const struct conversation_open *conversation_unresolved(const struct conversation *c, uint32_t *n);
/* Free text of a relation (how the join was made), or of an unresolved reference (the reason). */
struct str conversation_relation_via(struct conversation *c, uint32_t version, struct arena *a);
const char *conversation_relation_evidence(
	struct conversation *c, uint32_t version, struct arena *a);
struct str conversation_reason(struct conversation *c, uint32_t version, struct arena *a);

/* ---- what a node says ---- */

/* One row: what stands behind the kind. */
struct conversation_row {
	struct str name;    /* of a tool; short id of a call */
	struct str text;    /* first words */
	struct str to;      /* the stream that it started; n 0: none */
	struct str note;    /* "history changed" and the like */
	bool is_said;       /* text is what someone said; else it is about the node */
	bool is_missing, is_failed;
};
void conversation_row(struct conversation *c, uint32_t line, size_t limit, struct arena *a,
	struct conversation_row *out);

struct conversation_end { /* a relation, seen from one of its ends */
	bool is_from;       /* it leaves the node */
	uint32_t other;     /* word: the node at the other end */
	struct str type, quality, via;
	const char *evidence; /* "4:7:0 5:1"; "" none */
};

struct conversation_body {
	bool is_request;
	uint64_t seq, row;
	const char *why;    /* NULL: it was put together; else why not */
	uint64_t bytes;
	bool has_messages;
	struct card_history messages;
	struct str raw;     /* where it has none: the body as it is */
};

enum { CONVERSATION_TOKENS = 4 };
struct conversation_node {
	struct str id, kind, stream, name, from, model, parent;
	const char *missing; /* "missing: sequence N" and the like; NULL: the record is there */
	bool is_unread;           /* it may be there: `missing` says why it could not be read */
	int64_t time;             /* INT64_MIN: none */
	uint64_t revision;        /* the round that said this */
	char place[80];           /* "sequence 4, record 7, part 0"; "" none */
	struct str flags;         /* words with blanks between */
	bool has_tokens;
	int64_t tokens[CONVERSATION_TOKENS];
	const char *token_names[CONVERSATION_TOKENS];
	bool history_changed;
	uint32_t card; /* of the list of cards: the one before this call; CONVERSATION_NONE */
	struct content content;   /* what it says, then its attributes */
	struct conversation_end *ends;
	size_t nends;
	struct conversation_body *bodies;
	size_t nbodies;
};
/* Texts are cut at `limit` bytes. < 0: err says why. */
int conversation_node(struct conversation *c, uint32_t line, size_t limit, struct arena *a,
	struct conversation_node *out, struct err *err);

/* ---- cards ---- */

/* Of the fold that is shown; borrowed until the next conversation_show. */
const struct card_list *conversation_cards(struct conversation *c);
void conversation_card_fill(struct conversation *c, size_t i);

/* ---- rounds and their checks ---- */

enum conversation_round_state { ROUND_FOLDED, ROUND_BAD, ROUND_LEFT, ROUND_RESERVED };
enum { CONVERSATION_CHECKS = 6, CONVERSATION_COUNTS = 11 };

struct conversation_round_row {
	uint64_t number;
	const char *name;       /* of the file */
	enum conversation_round_state state;
	uint32_t folded;        /* how many rounds are folded with it; 0: it is not */
	/* of a folded one */
	uint64_t from_seq, through_seq;
	const char *digest, *previous, *input_digest;
	const char *from_time, *through_time; /* "" none */
	uint32_t nodes, relations, unresolved;
	uint32_t added, revised, resolved, withdrawn;
	int64_t count[CONVERSATION_COUNTS];
	bool has_count[CONVERSATION_COUNTS];  /* an absent count is unknown */
	/* of a bad one */
	const char *code, *said;
	uint64_t line, offset;
	uint64_t size;
};
size_t conversation_nrounds(const struct conversation *c); /* on disk, reservations too */
/* The first row of that number or a higher one; their count: there is none. */
size_t conversation_round_at(const struct conversation *c, uint64_t number);
void conversation_round_row(
	const struct conversation *c, size_t i, struct conversation_round_row *out);
const char *conversation_count_name(int count);
/* 'v' holds, 'x' fails, '-' could not be made, '.' not yet; check from 1. */
char conversation_check(const struct conversation *c, size_t round_row, int check);
/* What stopped the fold: code and sentence; NULL: nothing did. */
const char *conversation_stopped(const struct conversation *c, const char **said, uint64_t *round);

struct conversation_finding {
	int check;              /* 1 to 6; 0: a landed file */
	const char *code, *said;
	uint64_t round, seq;    /* 0: not about one */
};
/*
 * The six checks and the landed files, by steps: 1: more to do, 0: done. At the
 * end what was found is among the session's problems.
 */
int conversation_verify_step(struct conversation *c, unsigned budget_us);
void conversation_verify_progress(const struct conversation *c, uint64_t *done, uint64_t *all);
const struct conversation_finding *conversation_findings(const struct conversation *c, size_t *n);
/*
 * "checking", "verified", "unreadable" (nobody can say), "incomplete" (something misses),
 * "mismatch" (a digest), "damaged"; "partly verified" where the checks hold and not all of
 * the rounds are folded, "nothing to verify" where there is none.
 */
const char *conversation_state(const struct conversation *c);
/* The same, with what is verified and why the rest is not where it is a part. */
void conversation_verdict(const struct conversation *c, struct buf *out);
bool conversation_is_unread(const struct conversation *c); /* something could not be read */

#endif
