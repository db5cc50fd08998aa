/*
 * flow.h - Session Flow (Apache SkyWalking's AI Sessionizer): conversations
 * that are folded from rounds, and the landed records that hold their text.
 *
 * A conversation is a folder below "_conversations". flow_open lists its
 * rounds, flow_step folds them until one does not read or does not follow;
 * what was folded before stays. Of an entity only its id, its links and its
 * place are kept, for each round that said something of it, so that the fold
 * as of any round (flow_view_make) is a look at memory. What a node says is
 * read from the landed files when it is asked for.
 *
 * Ids are opaque bytes; they and all other words are numbered (flow_word).
 * Format: doc/formats.md, "flow".
 */
#ifndef BOUGH_FORMAT_FLOW_FLOW_H
#define BOUGH_FORMAT_FLOW_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct format;
extern const struct format format_flow;

#define FLOW_NONE 0xFFFFFFFFu

enum flow_map { FLOW_NODES, FLOW_RELATIONS, FLOW_UNRESOLVED, FLOW_MAPS };

/* A record of a landed file, or a part of it. */
struct flow_place {
	uint64_t seq, row;
	int64_t block;
	bool is_set, has_block;
};

enum flow_count {
	FLOW_TALKS, FLOW_STEPS, FLOW_STREAMS, FLOW_SEGMENTS, FLOW_OPEN, FLOW_CHANGES,
	FLOW_LINES_ADDED, FLOW_LINES_REMOVED, FLOW_CALLS, FLOW_SUBAGENTS, FLOW_BASH_RUNS,
	FLOW_COUNTS
};
extern const char *const flow_count_names[FLOW_COUNTS];

/* A round's header and commit. Strings are "" where the round has none. */
struct flow_header {
	uint64_t round, from_seq, through_seq;
	const char *conversation, *session, *previous, *input_digest, *parser, *policy, *title;
	const char *from_time, *through_time, *session_from_time, *session_through_time;
	struct str conversation_s, session_s, title_s; /* the same, where a NUL may stand in them */
	int64_t count[FLOW_COUNTS];
	bool has_count[FLOW_COUNTS];        /* an absent count is unknown, not zero */
	char digest[65];                    /* of the commit */
	uint64_t entities[FLOW_MAPS];       /* tombstones included */
};

/* Why a round does not read, does not follow, or fails a check. */
struct flow_fault {
	const char *code;   /* of doc/formats.md; NULL: none */
	uint64_t line, off; /* in the round's file; 0: the whole of it */
	char text[200];
};

enum flow_state { FLOW_WAITS, FLOW_FOLDED, FLOW_BAD, FLOW_NOT_FOLDED };

struct flow_round {
	uint64_t number;    /* of the file's name */
	const char *name;
	uint64_t size;
	uint64_t stamp;     /* another one: it is not the file that it was */
	enum flow_state state;
	struct flow_header h; /* when folded */
	struct flow_fault fault;
	uint32_t added[FLOW_MAPS], revised[FLOW_MAPS], withdrawn[FLOW_MAPS], resolved;
};

/* What one round says of one entity. */
struct flow_version {
	uint64_t off;       /* of its line in the round's file */
	uint32_t len;
	uint32_t round;     /* index of the round */
	uint32_t older;     /* the version before, or FLOW_NONE */
	uint32_t id;
	uint32_t kind;      /* node, unresolved: kind; relation: type */
	uint32_t a;         /* node: parent; relation: from; unresolved: ref */
	uint32_t b;         /* node: stream; relation: to; unresolved: state */
	uint32_t c;         /* history.change: the call it names; relation: quality; else "" */
	struct flow_place place; /* node: ref; relation: earliest evidence */
	bool is_tombstone;
};

struct flow_conversation;
struct session;
/* The conversation behind a session that has been loaded; NULL: another format. */
struct flow_conversation *flow_of_session(const struct session *s);
uint32_t flow_version_of(const struct session *s, uint32_t entry);

/*
 * The header of the newest round and nothing else: what a list shows. Its
 * strings lie in `a`. *nrounds 0: there is none. A header that breaks a rule
 * gives a fault, and so does what has the name of a round and is no file.
 */
int flow_newest_header(const char *path, struct arena *a, struct flow_header *h,
	struct flow_fault *fault, size_t *nrounds, struct err *err);

int flow_open(struct flow_conversation **out, const char *path, struct err *err);
/* Folds for about budget_us; 1: more to do, 0: done. Damage is no error. */
int flow_step(struct flow_conversation *c, unsigned budget_us);
void flow_close(struct flow_conversation **c);

const char *flow_id(const struct flow_conversation *c);
const char *flow_path(const struct flow_conversation *c);
const struct flow_round *flow_rounds(const struct flow_conversation *c, size_t *n);
uint32_t flow_folded(const struct flow_conversation *c);         /* rounds, from the first */
const struct flow_header *flow_head(
	const struct flow_conversation *c); /* last folded; NULL: none */
/* The first thing that stopped the fold, and the round it is in; NULL: nothing did. */
const struct flow_fault *flow_problem(const struct flow_conversation *c, uint64_t *round);
size_t flow_nreservations(const struct flow_conversation *c);
const char *flow_reservation(const struct flow_conversation *c, size_t i);
/* What has the name of a round and is no file, so that it can not be one. */
struct flow_odd {
	const char *name, *what;   /* "a fifo"; or why it can not be looked at */
	bool is_folder;            /* the format lets these pass */
};
const struct flow_odd *flow_odd(const struct flow_conversation *c, size_t *n);
/* conversation.state: a cache, only remarked on. false: there is none. */
bool flow_has_state(const struct flow_conversation *c);
const char *flow_state_value(
	const struct flow_conversation *c, const char *key); /* NULL: not there */
bool flow_state_agrees(const struct flow_conversation *c);
struct str flow_word(const struct flow_conversation *c, uint32_t word); /* 0 is "" */
uint32_t flow_find_word(const struct flow_conversation *c, struct str s); /* FLOW_NONE: nowhere */
const struct flow_version *flow_version(const struct flow_conversation *c, uint32_t version);
/* The line of a version as it stands in its round. */
int flow_raw(struct flow_conversation *c, uint32_t version, struct buf *out, struct err *err);
/* Text of a raw JSON string; a lone surrogate and a byte that is no UTF-8 become U+FFFD. */
void flow_text(struct str raw, struct buf *out);

/* ---- the fold as of a round ---- */

struct flow_view {
	const struct flow_conversation *c;
	uint32_t rounds;              /* how many are folded */
	uint32_t *live[FLOW_MAPS];    /* versions, in the order of their ids */
	uint32_t n[FLOW_MAPS];
	uint32_t *from, *to;          /* live relations by their ends */
};
void flow_view_make(struct flow_view *v, const struct flow_conversation *c, uint32_t rounds);
void flow_view_release(struct flow_view *v);
uint32_t flow_view_find(
	const struct flow_view *v, enum flow_map map, struct str id); /* a version */
/* Relations that leave (or, `to`, reach) a node: *n versions, side by side. */
const uint32_t *flow_relations_at(const struct flow_view *v, uint32_t id, bool to, uint32_t *n);

/* Nodes in display order; those that no root leads to are left out. */
struct flow_outline {
	struct flow_line {
		uint32_t version, depth, parent; /* parent: a line, or FLOW_NONE */
	} *v;
	uint32_t n;
};
void flow_outline_make(struct flow_outline *o, const struct flow_view *v);
/* Those as well, at the end: below the first of each cycle what hangs on it. */
void flow_outline_make_whole(struct flow_outline *o, const struct flow_view *v);
void flow_outline_release(struct flow_outline *o);

/* A JSON value with sorted keys and no white space; numbers as they were written. */
void flow_put_canonical(struct buf *out, struct str raw);
/* An entity as it stands in the canonical fold. */
int flow_put_entity(struct flow_conversation *c, enum flow_map map, uint32_t version,
	struct buf *out, struct err *err);
/* At most so many refs of a raw list as "4:7:0 5:1"; how many it has. */
size_t flow_put_refs(struct buf *out, struct str list, size_t most);
/* The canonical fold, in pieces; take returns < 0 to stop. */
typedef int flow_take(void *arg, const char *p, size_t n);
int flow_canonical(struct flow_conversation *c, const struct flow_view *v, flow_take *take,
	void *arg, struct err *err);
int flow_canonical_sha256(struct flow_conversation *c, const struct flow_view *v, char hex[65],
	struct err *err);
void flow_outline_sha256(
	const struct flow_conversation *c, const struct flow_outline *o, char hex[65]);

/*
 * Who shows texts and checks remembers with flow_landed_note which landed files
 * there were before the first is read: then a refresh sees when that changes.
 * The folders that they lie in: what a change of shows.
 */
void flow_landed_note(struct flow_conversation *c);
void flow_landed_folders(const struct flow_conversation *c,
	void (*fn)(void *arg, const char *path), void *arg);
/* In what the rounds and the landed files of two readings differ: "" where they do not. */
void flow_news(const struct flow_conversation *old, const struct flow_conversation *now,
	struct buf *out);

/* ---- the six checks, and landed files ---- */

enum flow_finding_kind {
	FLOW_FOUND,           /* it is damaged */
	FLOW_UNREADABLE,      /* nobody can say whether it is */
	FLOW_REMARK           /* nothing is wrong with the conversation */
};
struct flow_finding {
	enum flow_finding_kind kind;
	int check;            /* 1 to 6; 0: a landed file, a name, or the fold */
	const char *code;
	uint64_t round, seq;  /* 0: not about one */
	const char *message;  /* borrowed for the call */
	bool is_stop;         /* the fold goes no further: why, and how many rounds are left */
};
typedef void flow_found(void *arg, const struct flow_finding *f);
void flow_verify(struct flow_conversation *c, flow_found *fn, void *arg);
/* The same by steps: 1: more to do, 0: done. Findings come in the same order. */
struct flow_verifier;
struct flow_verifier *flow_verify_new(struct flow_conversation *c, flow_found *fn, void *arg);
int flow_verify_step(struct flow_verifier *v, unsigned budget_us);
void flow_verify_progress(const struct flow_verifier *v, uint64_t *done, uint64_t *all); /* bytes */
/* The conversation may be closed already. */
void flow_verify_free(struct flow_verifier **v);
/*
 * Or of many at once: flow_verify_read reads all that they need on all
 * processors (`tick`, which may be NULL, is called in between), then
 * flow_verify_judge says what was found in one.
 */
void flow_verify_read(struct flow_verifier **v, size_t n, void (*tick)(void *arg), void *arg);
void flow_verify_judge(struct flow_verifier *v);

/* ---- what a node says ---- */

enum flow_usage { FLOW_IN, FLOW_OUT, FLOW_CACHE_READ, FLOW_CACHE_WRITE, FLOW_USAGES };
extern const char *const flow_usage_names[FLOW_USAGES];

struct flow_said {
	struct str text;             /* p NULL: no text of its own */
	struct str state, media, part_kind;
	uint64_t bytes;              /* of the original */
	bool has_bytes;
};

/* A provider body: a request or response, rebuilt. */
struct flow_body {
	bool is_request;
	struct flow_place place;
	struct str bytes;            /* p NULL: it does not rebuild, `why` says so */
	const char *why;
	char sha256[65];
};

/* One file that a tool call changed. */
struct flow_file_change {
	struct str path, operation;  /* create, modify, delete ... */
	struct str diff;             /* unified; p NULL: none, `state` says why */
	struct str state, attribution;
	int64_t additions, deletions;
	bool has_lines;              /* else they are unknown */
};

/* What an observer outside of the model saw of a tool call: its changes, or its execution. */
struct flow_observed {
	bool is_execution;
	struct flow_place place;
	struct str raw;              /* the record's data */
	struct str id, by, where, time, outcome, coverage;
	struct flow_file_change *files;
	size_t nfiles;
	struct str server, protocol;
	int64_t duration_ms;
	bool has_duration;
};

struct flow_node {
	struct str id, kind, parent, stream;
	struct str attrs;            /* raw JSON; p NULL: none */
	struct flow_place place;
	const char *missing; /* "missing: sequence N" and the like; NULL: the record is there */
	bool is_unread;      /* it may be there: `missing` says why it could not be read */
	struct str time, from, model, name;
	struct str *flags;
	size_t nflags;
	int64_t usage[FLOW_USAGES];
	bool has_usage;
	struct flow_said said;
	struct flow_said result;     /* of a tool; text.p NULL: none */
	bool has_result, has_failed, failed;
	struct str call_id;          /* of a tool: what observers know it by */
	struct flow_place *results;  /* of a tool: what came back stands there */
	size_t nresults;
	struct flow_body *bodies;
	size_t nbodies;
	struct flow_observed *observed; /* after flow_node_observed */
	size_t nobserved;
};
/* All of it lies in `a`. Bodies are rebuilt only with `bodies`. */
int flow_node_read(struct flow_conversation *c, uint32_t version, bool bodies, struct arena *a,
	struct flow_node *out, struct err *err);
/* As the parts of a page, texts cut at `limit` bytes; `whole` with time, model and stream. */
struct content;
void flow_node_content(const struct flow_node *n, bool whole, size_t limit, struct arena *a,
	struct content *out);
/* Adds to a tool call what was observed of it: what the runtime reported first. */
void flow_node_observed(struct flow_conversation *c, struct arena *a, struct flow_node *n);
/* One line a message of a rebuilt body: "user: why ...". false: its shape is another. */
bool flow_body_messages(
	const struct flow_body *b, void (*fn)(void *arg, struct str line), void *arg);
/* The live history.change nodes in outline order, and the messages of one (model/card.h). */
struct card;
struct card_list;
void flow_cards(struct flow_conversation *c, const struct flow_view *v,
	const struct flow_outline *o, struct arena *a, struct card_list *out);
int flow_card(
	struct flow_conversation *c, const struct flow_view *v, struct card *card, struct arena *a);

/* A talk of an outline; ordered by the time of its record, those without one last. */
struct flow_talk {
	uint32_t version, line;      /* line: of the outline */
	struct str id, stream, at;   /* at: as it was written; "" when there is none */
	struct str label, reply;     /* what was asked, the last answer; whole texts */
	const char *no_label, *no_reply; /* why there is none though someone spoke; NULL */
	bool is_unread;              /* a record of it could not be read */
	uint32_t runs, steps, tools;
	struct flow_place place;
	int64_t ms;
	bool is_timed;
};
void flow_talks(struct flow_conversation *c, const struct flow_outline *o, struct arena *a,
	struct flow_talk **out, size_t *n);
/* RFC 3339 to ms since 1970; false: it is none. */
bool flow_time(struct str s, int64_t *ms);
/* A stored record, as it stands in its landed file. */
int flow_record(
	struct flow_conversation *c, uint64_t seq, uint64_t row, struct buf *out, struct err *err);

#endif
