/*
 * session.h - one session as a tree in memory, whatever format it came from.
 *
 * No I/O here. A format adds entries in file order (session_add), then the
 * tree is made (session_link, called again after growth). What an entry says
 * is not kept: the session's ops read and decode it on demand. Memory is one
 * fixed-size record an entry.
 *
 * Calling sequence: session_new; a format fills it step by step
 * (src/format/format.h); session_link after each batch worth drawing and at
 * the end; session_free.
 *
 * Indices (uint32_t) name entries; ENTRY_NONE is no entry. Indices stay valid
 * while a file only grows.
 */
#ifndef BOUGH_MODEL_SESSION_H
#define BOUGH_MODEL_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "model/card.h"
#include "model/content.h"
#include "model/problem.h"

#define ENTRY_NONE 0xFFFFFFFFu
#define SESSION_MAX_ENTRIES 0x7FFFFFFFu

enum entry_kind {
	KIND_UNKNOWN, /* a role that the format does not know; kept, shown as it is */
	KIND_SYSTEM,
	KIND_USER,
	KIND_ASSISTANT,
	KIND_TOOL_CALL,   /* an entry of its own in some formats */
	KIND_TOOL_RESULT,
	KIND_SUMMARY,     /* what a compaction left in place of history */
	KIND_EVENT,
	KIND_NODE,
	KIND_COUNT
};

enum entry_flags {
	ENTRY_ORPHAN = 1 << 0,     /* its parent is not in the file */
	ENTRY_CYCLE = 1 << 1,      /* its parent link closed a cycle and was cut */
	ENTRY_FAILED = 1 << 2,     /* a failed tool call */
	ENTRY_UNSENT = 1 << 3,     /* record only, never sent to the model (replay=false) */
	ENTRY_HAS_CALLS = 1 << 4,  /* an answer that carries tool calls */
	ENTRY_NEW = 1 << 5,        /* came while the file was open */
	ENTRY_LABELLED = 1 << 6,
	ENTRY_DAMAGED = 1 << 7,    /* stands on a line with a problem */
	ENTRY_ID_SLOW = 1 << 8,    /* the id is escaped or does not fit id_off/id_len: read again */
	ENTRY_PENDING = 1 << 9,    /* its parent was not seen yet (forward reference) */
	ENTRY_DERIVED = 1 << 10,   /* not in the file: what a repair would add, a lost append */
	ENTRY_HAS_META = 1 << 11,  /* the record carries metadata beside what it says */
	ENTRY_INHERITED = 1 << 12, /* copied from the session that this one came from */
	ENTRY_PROPOSED = 1 << 13,  /* with DERIVED: a repair would add it to close what is open */
	ENTRY_KIN = 1 << 14        /* with DERIVED: stands for another session that came from here */
};

struct entry { /* 48 bytes; keep it so (t-session.c checks) */
	uint64_t off;       /* of the record in the file */
	uint64_t idhash;    /* keyed hash of the id's bytes */
	int64_t time;       /* ms since 1970; INT64_MIN: none */
	uint32_t len;       /* of the record */
	uint32_t parent, first_child, next_sibling; /* children in file order */
	uint16_t id_off;    /* of the id's bytes from off */
	uint8_t id_len;
	uint8_t kind;       /* enum entry_kind */
	uint16_t flags;     /* enum entry_flags */
	uint16_t spare;     /* the format's own */
};

struct meta {
	const char *key; /* "title", "parentSessionId", "model", "systemPrompt", "cwd" ... */
	struct str value;
};

struct label {
	uint32_t entry;
	struct str text;
	int64_t at;
};

struct session;
/* One more key of a session's --json document, with its value as JSON text. */
typedef void session_detail_fn(const char *key, struct str json, void *arg);
/* A piece of text, whole lines; false stops. */
typedef bool session_text_fn(struct str lines, void *arg);
enum session_events {
	EVENTS_BALANCED = 1 << 0, /* with what a repair would add */
	EVENTS_STORED = 1 << 1    /* the records as they stand */
};
/* A session that came from this one. All is copied. */
struct session_kin {
	const char *id, *path;
	const char *title;  /* NULL: not known */
	uint64_t seed;      /* records that it inherited; UINT64_MAX: it says nothing of that */
	int64_t created;    /* ms; INT64_MIN: unknown */
	uint32_t entries;   /* of its own; 0: unknown */
	bool is_agent;      /* a helper that was sent out, no fork */
};
struct unlinked;
struct line_run;

/* How to get at the bytes. A format fills it; src is its own. */
struct session_ops {
	/* The id's bytes, exact. */
	int (*id)(struct session *s, uint32_t entry, struct buf *out, struct err *err);
	/* The first words for a row, at most `limit` bytes, unsanitised, plus a short name of the role or tool. */
	int (*preview)(struct session *s, uint32_t entry, size_t limit, struct buf *text,
		struct buf *who, struct err *err);
	/*
	 * What the entry says. Text parts hold at most `limit` bytes each;
	 * content->more tells that something was left. All of it lies in `a`.
	 */
	int (*content)(struct session *s, uint32_t entry, size_t limit, struct arena *a,
		struct content *out, struct err *err);
	/* The stored record as it stands. */
	int (*record)(struct session *s, uint32_t entry, struct buf *out, struct err *err);
	/* Any bytes of the file, for the hex peek. *got may be short at the end. */
	int (*peek)(struct session *s, uint64_t off, void *p, size_t n, size_t *got, struct err *err);
	/*
	 * May be NULL, for sessions of one file: where in its own file a byte
	 * lies that peek finds at `off`.
	 */
	uint64_t (*place)(const struct session *s, uint64_t off);
	/* May be NULL: what only this format can tell of a session that is loaded. */
	int (*details)(struct session *s, session_detail_fn *fn, void *arg, struct err *err);
	/*
	 * May be NULL, for formats whose files are not already lines: the log as
	 * lines, from event `from` on.
	 */
	int (*events)(struct session *s, unsigned flags, uint64_t from, session_text_fn *fn,
		void *arg, struct err *err);
	/*
	 * May be NULL: where what a model is sent was rewritten (model/card.h).
	 * cards lists them without their messages, card fills one of the list.
	 */
	int (*cards)(struct session *s, struct arena *a, struct card_list *out, struct err *err);
	int (*card)(struct session *s, struct card *card, struct arena *a, struct err *err);
	/*
	 * May be NULL: hang an entry (ENTRY_KIN) for each of these sessions where
	 * it began; they go when the file grows. `opens` is the path of the session
	 * behind such an entry.
	 */
	void (*adopt)(struct session *s, const struct session_kin *v, size_t n);
	const char *(*opens)(struct session *s, uint32_t entry);
	void (*free)(struct session *s);
};

enum tip_rule { TIP_NONE, TIP_LAST_ENTRY, TIP_CHECKOUT };

struct session {
	struct arena arena;
	const struct session_ops *ops;
	void *src;                /* the format's own */

	const char *format;       /* "tree", "dsh" ... */
	const char *id, *path;    /* in the arena */
	struct entry *entries;
	uint32_t n;
	size_t cap;
	uint32_t linked;          /* entries [0, linked) have their links */
	uint32_t roots_first;     /* chain of roots through next_sibling, file order */
	uint32_t nroots, nleaves, nforks;

	uint32_t tip;
	enum tip_rule tip_rule;
	int64_t tip_at;           /* when it was checked out */
	uint32_t last_entry;      /* that is in the file: what the tip would be without a checkout */

	struct meta *meta;
	size_t nmeta;
	struct label *labels;
	size_t nlabels;
	struct problem_list problems;

	uint64_t size;            /* bytes of the file as read so far */
	uint64_t work;            /* what was read and decoded so far, also what nothing came of: about bytes */
	uint64_t work_stop;       /* a step ends when that is reached, too; 0: never */
	uint64_t committed;       /* behind the last committed record */
	bool is_torn;             /* bytes follow `committed` that are no record */
	bool is_complete;         /* loaded to the end */
	uint64_t tokens;          /* that its own calls took, inherited ones not counted; 0: unknown */
	int64_t first_time, last_time; /* of the entries; INT64_MIN when none has one */

	/* Private to src/model. */
	uint32_t *hash;           /* id table: index and a tag of the hash in each slot */
	size_t hash_cap;
	unsigned hash_bits;
	uint64_t key[2];          /* of the hash, random a run */
	struct unlinked *unlinked; /* entries whose parent is not linked: unknown, or a cut cycle */
	size_t nunlinked, unlinked_cap;
	struct line_run *runs;    /* which entry stands on which line */
	size_t nruns, runs_cap;
	struct buf last_id;       /* of the newest entry: the next one's parent, mostly */
	uint64_t link_more;       /* of problems.more: what session_link counted */
	size_t meta_cap, labels_cap;
	bool has_forward;         /* some parent stands behind its child: only then are cycles possible */
};

struct session *session_new(const char *format, const char *id, const char *path);
void session_free(struct session **s);

/* ---- filling ---- */

struct entry_in {
	uint64_t off;
	uint64_t line;             /* from 1; 0 where the format has no lines */
	uint32_t len;
	struct str id;             /* unescaped bytes, not empty */
	uint32_t id_off;           /* raw place of the id from off; 0 with ENTRY_ID_SLOW */
	struct str parent;         /* unescaped; p NULL: a root */
	int64_t time;
	enum entry_kind kind;
	unsigned flags;
	uint16_t spare;
	uint64_t idhash;           /* what session_expect said, or 0 */
};

/* About so many entries will come: address space for them, so that the table need not move. */
void session_reserve(struct session *s, size_t n);
/*
 * An id that will be added soon: its hash, and the table is brought near. A
 * load that holds each entry back until the next line has been read does not
 * wait for memory.
 */
uint64_t session_expect(const struct session *s, struct str id);
/*
 * Adds at the end; the new index, or ENTRY_NONE when an earlier entry has the
 * id (the caller reports it) or the session is full. A parent that is not
 * known yet is remembered (ENTRY_PENDING) and looked up again by session_link.
 * Sets last_entry (not for one that is not in the file), first_time, last_time.
 */
uint32_t session_add(struct session *s, const struct entry_in *in);
/*
 * Makes the links of all entries so far: children in file order, roots,
 * counts. `final` turns parents that are still unknown into orphans (problem)
 * and cuts cycles at the entry that is first in the file (problem); without it
 * pending entries are roots for now. O(n) in the entries, no recursion.
 */
void session_link(struct session *s, bool final);
/* After growth: prepare for more session_add (entries keep their index). */
void session_reopen(struct session *s);

/*
 * A last line without a newline may turn out to be something else when the
 * file grows: mark the state before it, and take back what came after the
 * mark, its problems included. The links are unusable until session_link.
 */
struct session_mark {
	uint32_t n;
	int64_t first_time, last_time;
	uint64_t offset;          /* of the line: problems from here on go */
	uint64_t problems_more;
};
void session_mark(const struct session *s, uint64_t offset, struct session_mark *m);
void session_rewind(struct session *s, const struct session_mark *m);

void session_set_meta(struct session *s, const char *key, struct str value); /* copies */
void session_clear_meta(struct session *s);
const struct str *session_meta(const struct session *s, const char *key);    /* NULL: none */
void session_set_label(struct session *s, uint32_t entry, struct str text, int64_t at); /* "" removes */
const struct label *session_label(const struct session *s, uint32_t entry);  /* NULL: none */

/* ---- asking ---- */

uint64_t session_place(const struct session *s, uint64_t off); /* ops->place, or `off` itself */
uint64_t session_line(const struct session *s, uint32_t entry); /* of the file, from 1; 0: no lines */
uint64_t session_hash(const struct session *s, const void *id, size_t n);
/* The id of an entry, in `a`; empty for ENTRY_NONE, and where it can not be had. */
struct str session_keep_id(struct session *s, uint32_t entry, struct arena *a);
/* By exact id; confirmed by the bytes through ops->id. ENTRY_NONE when unknown. */
uint32_t session_find(struct session *s, struct str id);
/*
 * ENTRY forms: "tip", "tip~N", "@label", an id, a unique prefix of one.
 * ERR_NOTFOUND, ERR_AMBIGUOUS (candidates, at most 8, go to `list`, one id a line; may be NULL).
 */
int session_resolve(struct session *s, const char *form, uint32_t *out, struct buf *list,
	struct err *err);
bool session_is_leaf(const struct session *s, uint32_t entry);
/*
 * Entries of the session itself: without those that stand for other sessions
 * and those that only a repair would add. Both stand behind all others. What
 * would be added is no entry of a branch either: leaves, forks and the tip are
 * among those that are there.
 */
uint32_t session_own(const struct session *s);
uint32_t session_proposed(const struct session *s); /* how many a repair would add */
/* Those of its own that are committed: what was only recovered from a torn end is not. */
uint32_t session_committed(const struct session *s);
bool session_is_fork(const struct session *s, uint32_t entry);  /* more than one child */
uint32_t session_depth(const struct session *s, uint32_t entry); /* links to its root; walks */
/* Indices from the root to `entry`, root first, in a (xmalloc'd, yours). *n their count. */
uint32_t *session_branch(const struct session *s, uint32_t entry, uint32_t *n);
uint32_t session_common(const struct session *s, uint32_t a, uint32_t b); /* deepest common ancestor */
const char *session_tip_reason(const struct session *s); /* "last-entry", "checkout", "" */
/* Title: meta title, else the first user prompt's first words; appended to out, unsanitised. */
void session_title(struct session *s, struct buf *out);

const char *kind_name(enum entry_kind kind); /* "user", "assistant", "tool result" ... */

#endif
