/*
 * internal.h - what the files of src/format/flow share with each other and
 * with nobody else.
 */
#ifndef BOUGH_FORMAT_FLOW_INTERNAL_H
#define BOUGH_FORMAT_FLOW_INTERNAL_H

#include "format/flow/flow.h"
#include "json/scan.h"
#include "json/value.h"
#include "log/log.h"

/* ---- digest.c ---- */

struct flow_sha {
	void *h;
	size_t n;                 /* of held: bytes that the library has not had yet */
	char held[4096];
};
void flow_sha_begin(struct flow_sha *s);
void flow_sha_add(struct flow_sha *s, const void *p, size_t n);
/* The digest of what was added so far; adding can go on. */
void flow_sha_peek(const struct flow_sha *s, char hex[65]);
void flow_sha_end(struct flow_sha *s, char hex[65]); /* hex may be NULL */
void flow_sha_of(const void *p, size_t n, char hex[65]);

/* ---- names.c: strings to numbers ---- */

struct flow_slot;
struct flow_names {
	struct arena arena;
	struct str *v;
	size_t n, cap;
	struct flow_slot *slot;
	size_t nslots;
	uint64_t seed;
};
void flow_names_init(struct flow_names *names); /* "" is 0 */
void flow_names_release(struct flow_names *names);
void flow_names_clear(struct flow_names *names); /* the memory stays */
uint32_t flow_names_add(struct flow_names *names, struct str s, bool *is_new);
uint32_t flow_names_find(const struct flow_names *names, struct str s);

/* ---- fields.c: frames and their fields ---- */

enum flow_frame {
	FRAME_UNKNOWN,
	FRAME_HEADER,
	FRAME_NODE,
	FRAME_RELATION,
	FRAME_OPEN,
	FRAME_COMMIT
};

enum flow_key {
	KEY_T,
	KEY_ID,
	KEY_REVISION,
	KEY_TOMBSTONE,
	KEY_KIND,
	KEY_PARENT,
	KEY_STREAM,
	KEY_REF,
	KEY_REFS,
	KEY_ATTRS,
	KEY_TYPE,
	KEY_FROM,
	KEY_TO,
	KEY_QUALITY,
	KEY_VIA,
	KEY_EVIDENCE,
	KEY_REASON,
	KEY_STATE,
	KEY_DIGEST,
	KEY_COUNTS,
	KEY_COUNT
};
extern const char *const flow_keys[KEY_COUNT];

enum flow_header_key {
	HEAD_T, HEAD_SCHEMA, HEAD_CONVERSATION, HEAD_SESSION, HEAD_PARSER, HEAD_POLICY, HEAD_INPUT,
	HEAD_ROUND, HEAD_PREVIOUS, HEAD_FROM_SEQ, HEAD_THROUGH_SEQ, HEAD_FROM_TIME,
	HEAD_THROUGH_TIME, HEAD_SESSION_FROM, HEAD_SESSION_THROUGH, HEAD_TITLE,
	HEAD_COUNTS, /* the counts, in the order of enum flow_count */
	HEAD_COUNT = HEAD_COUNTS + FLOW_COUNTS
};
extern const char *const flow_header_keys[HEAD_COUNT];

enum flow_type {
	TYPE_STRING,
	TYPE_UINT,
	TYPE_INT,
	TYPE_BOOL,
	TYPE_REF,
	TYPE_REFS,
	TYPE_COUNTS,
	TYPE_ANY
};

/* What a list of refs comes to. */
struct flow_refs {
	struct flow_place earliest;
	uint64_t last_seq;        /* the highest */
	bool has_zero;            /* one is sequence 0 row 0 */
};

/* A line as the scanner left it. */
struct flow_line_scan {
	const char *p;
	const char *const *keys;
	struct json_scan sc;
	/* by flow_wrong_field(), of the fields that the frame has: */
	struct flow_place ref;
	struct flow_refs refs;    /* "refs" or "evidence" */
};
bool flow_present(const struct flow_line_scan *s, int key); /* there, and not null */
struct str flow_field(const struct flow_line_scan *s, int key);
/* Decoded text; borrowed from the line or in `a`. "" when absent. */
struct str flow_string(const struct flow_line_scan *s, int key, struct arena *a);
struct str flow_decoded(struct str raw, struct arena *a);
uint64_t flow_uint(const struct flow_line_scan *s, int key);
bool flow_is_type(struct str raw, enum flow_type type);
bool flow_ref(struct str raw, struct flow_place *out); /* false: another type; null is 0, 0 */
bool flow_is_earlier(const struct flow_place *a, const struct flow_place *b);
enum flow_frame flow_frame_of(const struct flow_line_scan *s);
/* The first field of a frame that has another type than it should; -1: none. */
int flow_wrong_field(struct flow_line_scan *s, enum flow_frame frame);

/* ---- round.c ---- */

struct flow_entity {
	enum flow_map map;
	uint64_t off;
	uint32_t len;
	const struct flow_line_scan *scan;
	struct str id;
	bool is_tombstone;
	struct flow_place place;  /* ref, or earliest evidence */
	struct arena *a;          /* until the call returns */
};
typedef void flow_entity_fn(void *arg, const struct flow_entity *e);

/* Memory that one round after the other is read with; one a thread. */
struct flow_scratch {
	struct flow_names seen; /* ids of the round */
	struct arena line;      /* of the line at hand */
};
void flow_scratch_init(struct flow_scratch *w);
void flow_scratch_release(struct flow_scratch *w);
/*
 * Reads a round whole. 0 with fault->code NULL: it is valid; with a code: it
 * is rejected. < 0: it could not be read. Strings of the header lie in `a`.
 */
int flow_round_read(const char *path, struct flow_scratch *w, struct arena *a,
	struct flow_header *h, flow_entity_fn *fn, void *arg, struct flow_fault *fault,
	struct err *err);
/* Only its first line; the same results. */
int flow_round_header(const char *path, struct arena *a, struct flow_header *h,
	struct flow_fault *fault, struct err *err);
void flow_fault_set(struct flow_fault *f, const char *code, uint64_t line, uint64_t off,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* ---- chain.c ---- */

struct stat;
/* Another inode, time or size gives another one. */
uint64_t flow_stamp(const struct stat *st);

enum { READERS = 64 }; /* a fold has lines of all of its rounds, side by side */

struct flow_state_line {
	const char *key, *value;
};

struct flow_landed;
struct flow_index;

/* The landed files of the session, and the folders that could not be listed, in two numbers. */
struct flow_landed_sum {
	uint64_t sum;
	size_t n;                     /* files */
};

/* The words in the order of their bytes, so that views need not compare them. */
struct flow_order {
	uint32_t *at;       /* by rank: the word */
	uint32_t *rank;     /* by word */
	size_t n;           /* words that have a rank */
};

struct flow_conversation {
	struct arena arena;
	char *path, *root;
	const char *id;
	struct flow_names names;
	struct flow_scratch scratch;
	uint32_t last_word[KEY_COUNT]; /* what the entity before had there */

	struct flow_round *rounds;
	size_t nrounds, rounds_cap;
	const char **reservations;
	size_t nreservations, reservations_cap;
	struct flow_odd *odd;
	size_t nodd, odd_cap;
	uint32_t folded;
	bool is_done;
	struct flow_fault fault;      /* the first that stopped the fold */
	uint64_t fault_round;

	bool has_state;
	struct flow_state_line *state;
	size_t nstate, state_cap;

	struct flow_version *versions;
	size_t nversions, versions_cap;
	uint32_t *newest[FLOW_MAPS];  /* by id: its version + 1, or 0 */
	size_t newest_cap;

	struct {
		struct log_reader *r;
		uint32_t round;
	} readers[READERS];
	unsigned next_reader;

	struct flow_landed *landed;
	struct flow_landed_sum seen;  /* of the landed files when they were looked at */
	bool has_seen;
	struct flow_order *order;     /* made anew when there are more words */
	struct flow_index *index;     /* of landed files; NULL until something is looked up */
};

/* Rounds, reservations and the state file; also for who wants the newest header only. */
int flow_chain_list(struct flow_conversation *c, struct err *err);
char *flow_round_path(const struct flow_conversation *c, const struct flow_round *r);

/* ---- fold.c ---- */

/* Does it go on where `last` (NULL: there is none) ended? A fault says what does not fit. */
void flow_follow(const char *id, const struct flow_header *first, const struct flow_header *last,
	const struct flow_header *h, struct flow_fault *f);
/* Reads the next round and applies it when it follows. */
void flow_fold_next(struct flow_conversation *c);

/* ---- view.c ---- */

const struct flow_order *flow_order_of(const struct flow_conversation *c);
void flow_order_free(struct flow_order **order);

/* ---- canon.c ---- */

/* flow_text, written as a JSON string. */
void flow_put_text(struct buf *out, struct str raw);

/* ---- landed-list.c ---- */

struct flow_landed_file {
	uint64_t seq;
	char *path;
};
struct flow_landed_list {
	struct flow_landed_file *v;   /* by sequence */
	size_t n, cap;
	struct err *blocked;          /* folders that could not be listed: why */
	size_t nblocked, blocked_cap;
};
/* The landed files of a session. Never leads out of the root. */
void flow_landed_list(struct flow_landed_list *out, const char *root, struct str session);
void flow_landed_list_free(struct flow_landed_list *l);
/* Index of the first file at or behind a sequence. */
size_t flow_landed_from(const struct flow_landed_list *l, uint64_t seq);
const struct flow_landed_file *flow_landed_find(const struct flow_landed_list *l, uint64_t seq);

/* As they are now; the conversation is folded. */
struct flow_landed_sum flow_landed_sum(const struct flow_conversation *c);

/* ---- landed.c ---- */

/* Bytes of a record's line. */
struct flow_slice {
	struct flow_place place;
	size_t off, n;
};
/* Of the conversation's session, listed once. */
const struct flow_landed_file *flow_landed_files(struct flow_conversation *c, size_t *n);
/* Digest of the whole file, and its damage (code NULL: none). */
int flow_landed_check(const struct flow_landed_file *f, char hex[65], struct flow_fault *fault,
	struct err *err);
void flow_landed_free(struct flow_landed **landed);
/* By the folder that it is in. */
bool flow_landed_is_body(const struct flow_landed_file *f);

/* One JSON object and nothing else. */
bool flow_is_record(struct str line);
/* `n` bytes of a record, as they stand there. */
int flow_record_slice(struct flow_conversation *c, const struct flow_slice *s, struct buf *out,
	struct err *err);

/* ---- index.c ---- */

/* The first body record with an id, the first piece with a digest; NULL: there is none. */
const struct flow_place *flow_index_body(struct flow_conversation *c, struct str id);
const struct flow_slice *flow_index_piece(struct flow_conversation *c, struct str sha256);
/* Why not all files of bodies are in the index; NULL: all are. As long as the conversation. */
const char *flow_index_unread(struct flow_conversation *c);
/* Records of observers that name a tool call, by sequence; how many, at most `max`. */
size_t flow_index_observed(
	struct flow_conversation *c, struct str tool, struct flow_place *v, size_t max);
void flow_index_free(struct flow_index **x);

/* ---- observed.c ---- */

struct content;
void flow_observed_content(
	const struct flow_node *n, size_t limit, struct arena *a, struct content *out);

/* ---- body.c ---- */

/* Part number `want`, from 0, of a landed record; p NULL when there is none. */
struct str flow_part_at(struct str record, uint64_t want);
void flow_body_rebuild(struct flow_conversation *c, struct flow_place place, struct arena *a,
	struct flow_body *out);

#endif
