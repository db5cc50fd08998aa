/*
 * internal.h - what the files of src/format/tree share; nobody else includes
 * it.
 */
#ifndef BOUGH_FORMAT_TREE_INTERNAL_H
#define BOUGH_FORMAT_TREE_INTERNAL_H

#include "format/tree/tree.h"

#include "json/scan.h"
#include "json/value.h"

/* Keys of an entry, in the order of tree_keys. */
enum tree_key { KEY_ID, KEY_PARENT, KEY_ROLE, KEY_CONTENT, KEY_TIME, KEY_METADATA, KEY_COUNT };
extern const char *const tree_keys[KEY_COUNT];

/* What session.src points to. */
struct tree_src {
	struct log_reader *reader;
	char *sidecar;             /* its path */
	struct log_id sidecar_id;
	char sidecar_why[300];     /* it is there and could not be read; "" else */

	uint64_t next_off, next_line; /* behind the last line that had its newline */
	bool has_tail;             /* a last line without a newline was taken: */
	struct session_mark tail;  /* the state before it, */
	uint64_t tail_line;        /* its number */
	bool must_rewind;          /* and the file grew: take it again */
	bool was_complete;
	bool has_guessed;          /* how many entries will come */
	uint64_t first_load;       /* what the first load saw; entries behind it are new */
	bool is_stale;             /* the bytes behind the descriptor are others now */

	char *window;              /* of the last small read: rows on a screen are neighbours */
	uint64_t window_off;
	size_t window_n;
};

/* ---- entry.c ---- */

/*
 * The entry that was read last is held back until the next one has been read:
 * meanwhile the memory that it needs comes near (session_expect). Its texts
 * are copies, for the line that they came from is gone by then.
 */
struct tree_loader {
	struct session *s;
	struct buf id, parent, role; /* of the entry being read, where they have escapes */
	bool is_held;
	struct entry_in held;
	struct buf held_id, held_parent, held_role;
};
/* The object that `scan` found at p, which stands at `base` in the file. */
void tree_take_object(struct tree_loader *ld, const char *p, uint64_t base, uint64_t line,
	const struct json_scan *scan, unsigned flags);
void tree_add_held(struct tree_loader *ld);
void tree_loader_release(struct tree_loader *ld);

/* ---- load.c ---- */
int tree_step(struct session *s, unsigned budget_us, struct err *err);

/* ---- open.c ---- */
int tree_open(const char *path, struct session **out, struct err *err);
int tree_refresh(struct session *s, enum log_change *change, struct err *err);
const struct log_id *tree_file(const struct session *s);
struct log_reader *tree_reader(const struct session *s);

/* ---- find.c ---- */
bool tree_detect(const char *path, bool is_file);
int tree_scan(const char *root, uint64_t *pos, unsigned max, found_fn *fn, void *arg,
	struct err *err);
/* "<id>" of "<dir>/<id>.jsonl"; yours. Any other name is taken whole. */
char *tree_id_of_path(const char *path);

/* ---- sidecar.c ---- */
/* Reads the sidecar into the session's metadata when it is another than before. */
void tree_sidecar_load(struct session *s);

/* ---- record.c ---- */

/* The bytes of one entry as far as they are at hand. Borrowed until the next call for this session. */
struct tree_record {
	const char *p;
	size_t n;
	bool is_whole;           /* n is all of it, and `scan` tells the fields */
	struct json_scan scan;
	struct buf own, tail;
	struct str metadata;     /* the raw object; empty when there is none */
};

/* Whole when it has at most `max` bytes; otherwise nothing is read yet. */
int tree_record_open(struct session *s, uint32_t entry, size_t max, struct tree_record *rec,
	struct err *err);
/* Other records may be read while this one is in use. */
void tree_record_keep(struct tree_record *rec);
void tree_record_release(struct tree_record *rec);
/* Looks for the metadata of a record that is not whole; reads at most `max` bytes for it. */
int tree_record_metadata(struct session *s, uint32_t entry, size_t max, struct tree_record *rec,
	struct err *err);
/* The raw value of one metadata key; empty when it is not there. */
struct str tree_metadata_get(const struct tree_record *rec, const char *key);
/* A small read through the window; n at most TREE_WINDOW. */
enum { TREE_WINDOW = 16 << 10 };
int tree_bytes(struct session *s, uint64_t off, size_t n, const char **p, struct err *err);
/* Appends n bytes at off to out. */
int tree_read(struct session *s, uint64_t off, size_t n, struct buf *out, struct err *err);
/*
 * The content as far as `limit` allows. *whole is the length of the raw text,
 * *more whether something was left.
 */
int tree_content(struct session *s, uint32_t entry, struct tree_record *rec, size_t limit,
	struct buf *out, bool *more, uint64_t *whole, struct err *err);

/* ---- calls.c ---- */

/* The tool calls of an answer, one after the other. */
struct tree_calls {
	struct json_iter it;
	struct buf text;         /* the decoded value of "toolCalls" */
	bool is_list;            /* it is a JSON list: there is something to walk */
};
struct tree_call {
	struct str id, name, arguments; /* raw JSON values; empty when missing */
};
void tree_calls_init(struct tree_calls *c, const struct tree_record *rec);
void tree_calls_release(struct tree_calls *c);
bool tree_calls_next(struct tree_calls *c, struct tree_call *call);
/* Appends the argument values in a few words: "src/cache.c 10". */
void tree_call_words(const struct tree_call *call, size_t limit, struct buf *out);

/* ---- ops ---- */
int tree_op_id(struct session *s, uint32_t entry, struct buf *out, struct err *err);
int tree_op_record(struct session *s, uint32_t entry, struct buf *out, struct err *err);
int tree_op_peek(struct session *s, uint64_t off, void *p, size_t n, size_t *got, struct err *err);
/* cards.c */
int tree_op_cards(struct session *s, struct arena *a, struct card_list *out, struct err *err);
int tree_op_card(struct session *s, struct card *card, struct arena *a, struct err *err);
int tree_op_preview(struct session *s, uint32_t entry, size_t limit, struct buf *text,
	struct buf *who, struct err *err);
int tree_op_content(struct session *s, uint32_t entry, size_t limit, struct arena *a,
	struct content *out, struct err *err);

#endif
