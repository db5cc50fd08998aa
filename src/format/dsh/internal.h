/*
 * internal.h - what the files of src/format/dsh share; nobody else includes it.
 *
 * A "record" is one stored line, an "event" a logical one: a packed row is a
 * record that holds many events. Offsets of records count text bytes; in a raw
 * log these are the bytes of the file.
 */
#ifndef BOUGH_FORMAT_DSH_INTERNAL_H
#define BOUGH_FORMAT_DSH_INTERNAL_H

#include <dirent.h>

#include "format/dsh/dsh.h"
#include "json/scan.h"
#include "json/value.h"
#include "json/write.h"
#include "log/frames.h"

#define DSH_SAFE_MAX ((int64_t)9007199254740991) /* 2^53 - 1 */

/* ---- event.c: the vocabulary ---- */

enum dsh_type {
	T_UNKNOWN,
	T_TURN_START,
	T_STEP_START,
	T_USER,
	T_REQUEST_HEADER,
	T_REQUEST_CONTEXT,
	T_CHUNK,
	T_ASSISTANT,
	T_TOOL_CALL,
	T_TOOL_RESULT,
	T_STEP_END,
	T_TURN_END,
	T_END_SEED,
	T_TODO,
	T_TITLE,
	T_COMPACTION_START,
	T_COMPACTION_SUMMARY,
	T_COMPACTION_END,
	T_PRUNE,
	T_DESCRIPTOR,
	T_STEERING,
	T_RETIRED,
	T_OTHER /* and all behind it: known, and nothing is done with them */
};

struct dsh_type_row {
	const char *name;
	uint8_t length;
	uint8_t type;
	bool leads; /* belongs to the entry behind it, not to the one before */
};
extern const struct dsh_type_row dsh_types[];

/* ---- record.c: one stored line ---- */

enum { K_TYPE, K_SEQ, K_TIME, K_DATA, K_SOURCES, K_OP, K_IGNORABLE, K_SEQ0, K_TIME0, K_COUNT };

enum rec_state {
	REC_EVENT,
	REC_PACKED,
	REC_VALUE, /* JSON, but no object: it has no seq */
	REC_BAD    /* not JSON, or a rule of packed rows or ranges is broken */
};

/* What calls took, by the names of the format's usage. */
struct dsh_tokens {
	uint64_t calls, in, out, read, written, thought;
};

/* A list of sources, as one walk finds it. */
struct dsh_sources {
	bool has_pairs;
	bool is_rising; /* each above the one before */
	bool is_empty;
	uint64_t max;
};

/* What the rules ask of a message; raw values, empty when they are not there. */
struct dsh_message {
	struct str step, error, usage; /* beside it in the event's data */
	struct str id, role, content, source, kind, provider, model, call;
	struct str type, tool_call, inner, is_error; /* of its first block */
	size_t nblocks;
	bool has_call;
};

struct dsh_rec {
	enum rec_state state;
	const char *why; /* of REC_BAD */
	const char *p;   /* the text: the line, or its lossy copy */
	struct json_scan sc;
	const struct dsh_type_row *row; /* NULL: unknown type */
	enum dsh_type type;
	bool has_seq, is_lossy, has_sources;
	bool has_message; /* `message` is filled: rec_message */
	struct dsh_sources sources;
	struct dsh_message message;
	bool is_quick;     /* a chunk that quick.c knew: the fields are not filled */
	int64_t last_time; /* of the last event, for packed rows and where is_quick */
	uint64_t seq;      /* of the first event */
	uint32_t count;    /* events */
	struct buf own;    /* room for a lossy copy or an upgraded text */
};

void rec_parse(struct dsh_rec *r, const char *p, size_t n);
/* The same for the load: of chunks and packed rows only what that needs. */
void rec_parse_quick(struct dsh_rec *r, const char *p, size_t n);
void rec_release(struct dsh_rec *r);
/* The raw value; empty when it is not there. */
static inline struct str rec_field(const struct dsh_rec *r, int key)
{
	const struct json_field *f = &r->sc.field[key];

	return f->type == JSON_NONE ? (struct str){ NULL, 0 }
				    : (struct str){ r->p + f->off, f->len };
}
struct str rec_object(const struct dsh_rec *r);
/* Of a surface event in the present shape; looked for once. */
const struct dsh_message *rec_message(struct dsh_rec *r);
/* The members that were found fill a compact object to the last byte: then there is no other. */
bool rec_has_only_found(const struct dsh_rec *r);
/* Replaces the text by another object (r->own is free to hold it) and parses that. */
void rec_replace(struct dsh_rec *r, struct buf *text_take);

/* A safe integer >= 0 that is not -0; a safe integer. 1e3 and 1.0 count too. */
bool num_count(struct str raw, uint64_t *out);
bool num_safe(struct str raw, int64_t *out);

/* ---- quick.c ---- */

/*
 * A chunk or a packed row exactly as the writers put it down: checks all of
 * it and fills state, type, seq, count and last_time. False says nothing but
 * that it is not written so.
 */
bool quick_parse(struct dsh_rec *r, const char *p, size_t n);

/* ---- pack.c ---- */

/* Checks a packed row, fills seq, count and last_time; NULL, or what is wrong. */
const char *pack_check(struct dsh_rec *r);
/* Calls fn with each event of the row, compact; false from it stops. */
void pack_each(
	const struct dsh_rec *r, bool (*fn)(void *arg, uint32_t k, struct str event), void *arg);
/* Walk the texts of a row without building events. `kind` 't', 'r' or 'c'. */
struct pack_texts {
	struct json_iter it;
	struct str id, name, index;
	char kind;
};
void pack_texts_init(struct pack_texts *t, const struct dsh_rec *r);
bool pack_texts_next(struct pack_texts *t, struct str *text);

/* ---- repack.c: events to records ---- */

struct dsh_repack {
	struct buf *out;
	bool has_ranges;
	struct dsh_rec rec;
	/* The run of chunks at hand. */
	uint64_t run, seq0;
	int64_t time0, time;                  /* of its first and newest member */
	struct buf plain, head, gaps, texts; /* as events while it is short; parts of its row */
};
void dsh_repack_init(struct dsh_repack *rp, struct buf *out, bool has_ranges);
void dsh_repack_event(struct dsh_repack *rp, struct str event); /* compact, without a newline */
void dsh_repack_end(struct dsh_repack *rp);                     /* of the batch */
void dsh_repack_release(struct dsh_repack *rp);

/* ---- ranges.c ---- */

/* NULL, or what is wrong with a list of sources. With pairs it must be expanded. */
const char *ranges_check(struct str list, bool has_seq, uint64_t seq, struct dsh_sources *out);
void ranges_expand(struct str list, struct buf *out);

/* ---- event.c: rules of events (sections 4, 7.4) ---- */

/* NULL, or what inspect and load of the original would refuse. */
const char *event_check(struct dsh_rec *r);
bool event_is_ignorable(const struct dsh_rec *r);
bool event_is_surface(enum dsh_type t);
bool event_leads(unsigned type); /* it belongs to the entry behind it, not to the one before */

/* ---- upgrade.c ---- */

/* Older shapes: 1 and the new text in out, 0: nothing to do, -1: *why says what is refused. */
int upgrade_event(const struct dsh_rec *r, struct str session_id, struct str replaced_id,
	struct buf *out, const char **why);

/* ---- header.c ---- */

struct dsh_header {
	bool is_read, is_shaped; /* it is JSON; and a header */
	const char *kind, *why;  /* of a problem; NULL: none */
	char version[40];        /* as written; "" for 0 */
	struct buf text;         /* for show: compact, without type and foreign members */
	struct buf id, cwd;      /* JSON text; cwd empty: none */
};
void header_parse(struct dsh_header *h, const char *p, size_t n);
void header_release(struct dsh_header *h);

/* ---- balance.c: 7.2 ---- */

struct balance_call {
	char *id;     /* JSON text */
	char *step;   /* JSON number */
	uint64_t seq; /* of its tool/call; UINT64_MAX: none */
};
struct balance {
	bool in_turn, in_step;
	struct buf turn, step; /* JSON numbers */
	struct balance_call *v;
	size_t n, cap;
	int64_t time;        /* of the newest event, */
	bool is_odd_time;    /* or, when that is no integer, */
	struct buf odd_time; /* as JSON */
};
void balance_event(struct balance *b, struct dsh_rec *r);
/* The closers, a line each, from `seq` on; their number. Does not change the state. */
size_t balance_closers(const struct balance *b, uint64_t seq, struct buf *out);
void balance_release(struct balance *b);

/* ---- surface.c: 4.1 ---- */

struct surface_node {
	uint32_t seq, prev, next; /* nodes; UINT32_MAX: none */
	bool is_tool, is_gone;
};
struct surface {
	struct surface_node *v;
	size_t n, cap;
	uint32_t first, last;
	bool is_broken;   /* an op could not be applied: the rest is as if appended */
	uint32_t removed; /* by the newest op */
};
/* Applies the event's op; NULL, or what is wrong. *start is the seq that a replacement begins at. */
const char *surface_apply(struct surface *sf, const struct dsh_rec *r, uint64_t *start);
/* The seq that a replacing event names first; UINT64_MAX when it replaces nothing. */
uint64_t surface_start(const struct dsh_rec *r);
void surface_release(struct surface *sf);

/* ---- text.c: the bytes, raw or zstd ---- */

struct dsh_text {
	struct log_reader *raw;
	struct log_frames *zstd;
};
int text_open(struct dsh_text *t, const char *path, struct err *err);
/* By the first bytes of the file; by the name where they tell nothing. */
bool text_is_zstd(const char *path, const char *head, size_t n);
void text_close(struct dsh_text *t);
struct log_reader *text_reader(const struct dsh_text *t);
void text_set_pause(struct dsh_text *t, size_t bytes);
uint64_t text_work(const struct dsh_text *t);
int text_next_line(struct dsh_text *t, struct log_line *line, bool *after_damage, struct err *err);
const struct log_id *text_id(const struct dsh_text *t);
/* Appends n bytes of text at off to out; ERR_CHANGED when they are not there. */
int text_read(struct dsh_text *t, uint64_t off, size_t n, struct buf *out, struct err *err);
/* Where in the file a text offset stands: in a zstd log the frame that holds it. */
uint64_t text_place(const struct dsh_text *t, uint64_t off);

/* ---- the session ---- */

enum item_flags {
	ITEM_PACKED = 1 << 0,
	ITEM_ODD = 1 << 1,       /* its seq does not continue the log: behind corruption */
	ITEM_RECOVERED = 1 << 2, /* from the torn frame: its text lies in src->recovered */
	ITEM_REPLACES = 1 << 3,
	ITEM_RUN = 1 << 4 /* several lines, each a chunk: most of a log is that */
};

struct dsh_item { /* 24 bytes */
	uint64_t off;
	uint32_t len, seq, count;
	uint8_t type, flags;
	uint16_t spare; /* nodes that a replacement removed, UINT16_MAX for more */
};

enum { SPARE_RECORD, SPARE_CHUNKS, SPARE_CLOSER, SPARE_KIN }; /* entry.spare: what the entry is made from */
#define NO_ITEM UINT32_MAX

/* The first line that does not fit; what follows tells what it means. */
struct scan_issue {
	bool is_set, has_got;
	uint64_t off, number;
	const char *why; /* NULL: its seq */
	uint64_t want, got;
};

struct dsh_src {
	struct dsh_text text;
	struct dsh_header header;
	struct dsh_rec rec; /* of the load */
	struct dsh_item *items;
	uint32_t n;
	size_t cap;
	uint64_t next_seq;

	bool has_header, lenient, has_ranges, is_stale;
	bool has_begun; /* the first line is there, or that there is none, and what it says is taken */
	const char *refusal; /* the first reason */
	bool is_only_end_bad; /* and it is a damaged frame: nothing was refused before */
	struct scan_issue issue;
	uint64_t good, good_line; /* behind the last accepted line, text bytes; its number */
	uint64_t lines;

	struct balance balance;
	struct surface surface;
	uint32_t title;   /* item, NO_ITEM: none */
	uint32_t label;   /* the same: an agent's own descriptor */
	uint32_t stream;  /* first chunk of an answer that has no message yet */
	uint32_t unknown; /* events of unknown type */
	char last_id[48]; /* of the newest entry: the next one's parent */
	char tail_id[48]; /* of the newest one before `tail` */

	struct buf recovered;  /* text of the torn frame, as far as its events were taken */
	uint32_t nrecovered;   /* events */
	uint64_t recovered_at; /* text offset that stands for its start */
	uint64_t seed;               /* events that stand in the parent, too */
	struct dsh_tokens own, past; /* of the calls behind the seed, and in it */
	struct session_kin *kin;     /* in the session's arena */
	struct buf closers;
	size_t nclosers;
	uint64_t torn_start;      /* of the file; UINT64_MAX: none */
	struct session_mark tail; /* before what is derived at the end */

	struct buf line; /* text of the newest item that was read again */
};

/* ---- scan.c ---- */
void scan_line(struct session *s, const struct log_line *line, bool after_damage);
int scan_lines(struct session *s, uint64_t deadline, struct err *err);
void scan_finish(struct session *s); /* scan-end.c */
uint32_t scan_item_of(const struct dsh_src *src, uint64_t off);     /* by its record's offset */
uint32_t scan_item_of_seq(const struct dsh_src *src, uint64_t seq); /* NO_ITEM: none */

/* Between scan.c and scan-end.c: a line, and where it stands. */
struct scan_place {
	uint64_t off, number;
	uint32_t len;
	bool is_recovered;
};
/* A problem after which the session may not be continued. */
void scan_refuse(struct session *s, const char *kind, const struct scan_place *at, uint32_t entry,
	const char *why);
/* Under the newest entry. */
uint32_t scan_add_entry(struct session *s, struct entry_in *in, const struct dsh_item *item);
void scan_add_stream(struct session *s); /* an answer that never became a message */
/* True when the scan must go back to src->issue. */
bool scan_take_line(struct session *s, const char *p, size_t n, const struct scan_place *at);

/* ---- load.c ---- */
int dsh_open(const char *path, struct session **out, struct err *err);
int dsh_step(struct session *s, unsigned budget_us, struct err *err);
int dsh_refresh(struct session *s, enum log_change *change, struct err *err);
const struct log_id *dsh_file(const struct session *s);
void dsh_problem(struct session *s, const char *kind, uint64_t line, uint64_t off, uint64_t len,
	uint32_t entry, const char *fmt, ...) __attribute__((format(printf, 7, 8)));

/* ---- find.c ---- */
bool dsh_detect(const char *path, bool is_file);
enum dsh_level { DSH_NONE, DSH_SESSION, DSH_PROJECT, DSH_ROOT };
/* What a folder is, by its own name and the names in it. */
enum dsh_level dsh_level_of(const char *path);
/* "<stem>.jsonl" or "<stem>.jsonl.zstd": the stem's length, 0 for any other name. */
size_t dsh_jsonl_stem(const char *name, bool *is_zstd);
/* The logs in a session's folder. */
struct dsh_logs {
	char *newest;  /* yours: name of the newest generation; NULL: there is none */
	bool has_twin; /* the same one lies beside it without ".zstd" */
	int error;     /* errno when the folder cannot be read, or not to its end */
};
/* Of the first `max` names. dir may be NULL: opendir's errno is still there. */
struct dsh_logs dsh_find_logs(DIR *dir, unsigned max);
/* Is it the name of a log, and of which kind? version 0 for "session.jsonl". */
bool dsh_is_log_name(const char *name, unsigned *version, bool *is_zstd);
char *dsh_id_of_path(const char *path); /* yours */
/* ---- sessions.c ---- */
int dsh_scan(
	const char *root, uint64_t *pos, unsigned max, found_fn *fn, void *arg, struct err *err);
/* ---- brief.c ---- */
/* What the first line says. */
int dsh_brief(const char *path, struct session_brief *out, struct err *err);
/* ---- find.c ---- */
/* NULL, or a sentence on why the file is not where its header says; with s NULL only that. */
const char *dsh_check_place(struct session *s, const char *path, const struct dsh_header *h);

/* ---- tokens.c ---- */
struct str tokens_of(struct dsh_rec *r); /* the usage of a call; empty when it is none */
void tokens_add(struct dsh_tokens *t, struct str usage);
uint64_t tokens_sum(const struct dsh_tokens *t);
void tokens_put(const struct dsh_tokens *t, struct buf *out);
void tokens_put_json(const struct dsh_tokens *t, struct buf *out);
/* Of the step and the turn that an item stands in. */
void tokens_around(struct session *s, uint32_t i, struct dsh_tokens *step, struct dsh_tokens *turn);

/* ---- cards.c ---- */
int dsh_op_cards(struct session *s, struct arena *a, struct card_list *out, struct err *err);
int dsh_op_card(struct session *s, struct card *card, struct arena *a, struct err *err);

/* ---- kin.c ---- */
void dsh_op_adopt(struct session *s, const struct session_kin *v, size_t n);
const char *dsh_op_opens(struct session *s, uint32_t entry);
const struct session_kin *kin_of(const struct session *s, uint32_t entry);

/* ---- read.c: events again ---- */
/*
 * The records of an item one after the other, in the present shape: *pos is 0
 * at first. 1: a record, 0: no more, < 0: err. Borrowed until the next call of
 * any of these.
 */
int item_next(struct session *s, uint32_t item, size_t *pos, struct dsh_rec *r, struct err *err);
/* The first of them; but for runs it is the only one. */
int item_rec(struct session *s, uint32_t item, struct dsh_rec *r, struct err *err);
/* Brings the record of an older shape into the present one; NULL, or why it is refused. */
const char *rec_upgrade(struct session *s, struct dsh_rec *r);
/* What the events of an item say, one line each. */
int item_events(struct session *s, uint32_t item, uint64_t from, struct buf *out, struct err *err);
/* The same in the shape that they are stored in, which may be an older one. */
int item_stored_events(struct session *s, uint32_t item, struct buf *out, struct err *err);

/* ---- ops: content.c, preview.c, ops.c ---- */
void item_id(const struct dsh_item *item, struct buf *out); /* of the entry that it is */
int dsh_op_id(struct session *s, uint32_t entry, struct buf *out, struct err *err);
int dsh_op_record(struct session *s, uint32_t entry, struct buf *out, struct err *err);
int dsh_op_peek(struct session *s, uint64_t off, void *p, size_t n, size_t *got, struct err *err);
int dsh_op_preview(struct session *s, uint32_t entry, size_t limit, struct buf *text,
	struct buf *who, struct err *err);
int dsh_op_content(struct session *s, uint32_t entry, size_t limit, struct arena *a,
	struct content *out, struct err *err);
int dsh_op_details(struct session *s, session_detail_fn *fn, void *arg, struct err *err);
int dsh_op_events(struct session *s, unsigned flags, uint64_t from, session_text_fn *fn, void *arg,
	struct err *err);
/* The record behind an entry; for closers their line. Empty for an assembled answer. */
int entry_rec(struct session *s, uint32_t entry, struct dsh_rec *r, struct err *err);

#endif
