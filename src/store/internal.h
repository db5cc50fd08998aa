/*
 * internal.h - what the files of src/store share with each other and with
 * nobody else: the open session (struct work), its reflog, and the helpers of
 * the writing operations.
 */
#ifndef BOUGH_STORE_INTERNAL_H
#define BOUGH_STORE_INTERNAL_H

#include "format/format.h"
#include "json/scan.h"
#include "log/log.h"
#include "store/store.h"

/* ---- reflog.c, reflog-apply.c, reflog-write.c ---- */

enum { REFLOG_BESIDE, REFLOG_STATE, REFLOG_PLACES };
enum { REFLOG_MAX = 64 << 20 }; /* bytes read of one reflog: the newest */

struct reflog_file {
	char *path;         /* NULL: there is no such place */
	struct log_id id;   /* of what was read; exists=false: no file */
	uint64_t committed; /* behind the last good complete line */
	bool is_cut;        /* only its newest REFLOG_MAX bytes were read */
	bool has_line;      /* at least one good one */
	char *unreadable;   /* the reason, or NULL */
};

/* Where the raw entry of an append line stands. */
struct reflog_raw {
	uint8_t place;
	uint64_t off;
	uint32_t len;
};

struct reflog {
	char *session; /* its path */
	char *folder;  /* the state folder, which need not exist; NULL without a home */
	struct reflog_file file[REFLOG_PLACES];
	struct arena arena;        /* strings of the lines */
	struct reflog_line *lines; /* oldest first */
	struct reflog_raw *raw;    /* of the same index */
	size_t n, cap, raw_cap;
	size_t *lost; /* append lines that miss in the session, each id once, oldest first */
	size_t nlost;
	bool is_applied; /* `lost` and the session's tip are from these lines */
	bool is_marked;  /* is_known and is_lost are set on the lines */
};

void reflog_init(struct reflog *r, const char *session_path, const struct format *fmt);
void reflog_release(struct reflog *r);
void reflog_read(struct reflog *r);
bool reflog_changed(struct reflog *r);
/* Reads it again when it changed, or could not be read before. */
void reflog_update(struct reflog *r);
/* Sets the path in the state folder, when that folder exists or is about to be made. */
void reflog_find_state(struct reflog *r, bool is_to_write);
/* Tip, labels, problems of the session from the lines that were read. */
void reflog_apply(struct reflog *r, struct session *s);
/* Takes back what reflog_apply said of lost entries: they are on their way. */
void reflog_nothing_lost(struct reflog *r, struct session *s);
/* Why the tip and the labels may not be what they seem, or NULL: a place could not be read. */
const char *reflog_trouble(const struct reflog *r);
/* Would the format take these bytes as an entry? Nothing else may be appended to a session. */
enum { ENTRY_ID, ENTRY_PARENT, ENTRY_ROLE, ENTRY_CONTENT, ENTRY_TIME, ENTRY_KEYS };
bool reflog_entry_is_good(struct str raw, struct json_scan *sc);
/* The entry of append line i, byte for byte as it was written. */
int reflog_entry_bytes(const struct reflog *r, size_t i, struct buf *out, struct err *err);

void reflog_put_checkout(
	struct buf *out, struct str tip, struct str from, uint64_t entries, int64_t at);
void reflog_put_label(struct buf *out, struct str entry, struct str text, int64_t at);
void reflog_put_append(struct buf *out, struct str entry_json, int64_t at);
/*
 * Take the lock of the reflog where it can be written (made when missing) and
 * read again what another process wrote meanwhile. `place` says which it is.
 */
int reflog_lock(struct reflog *r, struct log **out, int *place, struct err *err);
/* Lock, append, sync, close. */
int reflog_write(struct reflog *r, const struct buf *lines, struct err *err);

/* ---- work.c ---- */

enum undo_op { UNDO_CHECKOUT, UNDO_LABEL, UNDO_TITLE };

struct undo {
	enum undo_op op;
	struct buf entry; /* checkout: the tip before; label: its entry */
	struct buf text;  /* label or title before */
	bool was_set;     /* there was a label or title */
};

struct work {
	struct session *s;
	const struct format *fmt;
	char *path, *dir;
	char *sidecar; /* NULL where the format has none */
	struct log_id sidecar_id;
	struct reflog reflog;
	bool is_loaded; /* all read, tip and labels applied */
	bool is_under_way; /* another bough is just appending: an entry that misses is not lost */
	/*
	 * bough itself changed the file since it was read: one of the same size
	 * within a tick of the file system's clock looks as if nothing had happened.
	 */
	bool has_written;
	unsigned refresh_us;        /* what a refresh reads at once, so that it can count */
	struct session *old;        /* what another file took the place of, until that is read and
	                             * holds an entry: see news.c */
	struct buf tip;             /* id of the tip that goes with it */
	struct card_list parents;   /* entries with another parent than before, in parents_arena */
	struct arena parents_arena;
	struct undo *undo;
	size_t nundo, undo_cap;
	bool is_forced; /* work_force */
	char why[300]; /* of work_can */
	struct log_id watched;    /* the file as it was when rests.c began to watch it */
	uint64_t watched_at;      /* monotonic us; 0: it was not, or not to the end */
	bool is_watched;          /* now */
	char trouble[200]; /* of the newest look at the disk */
	char **leftovers;  /* paths, of the newest look */
	size_t nleftovers, leftovers_cap, ngoing; /* of them a repair removes */
	bool notes_leftovers; /* they are told as problems */
};

/* Was a file made, taken away or written between the two looks? */
bool log_id_differs(const struct log_id *a, const struct log_id *b);
void work_read_sidecar(struct work *w);
int work_open_as(struct work **out, const struct format *fmt, const char *path, struct err *err);
/* Whole, and as the disk has it now. What every operation does first. */
int work_sync(struct work *w, struct err *err);
int work_entry_id(struct work *w, uint32_t entry, struct buf *id, struct err *err);
/* Up to date, and the entry of that id: ERR_NOTFOUND when it is gone. */
int work_sync_entry(struct work *w, struct str id, uint32_t *entry, struct err *err);

/* ---- reading.c ---- */

/* Read the reflog again and set tip, labels and lost appends from it, and say what can not be read. */
void work_reapply(struct work *w);
/* Why a read of the file failed since it was opened, or NULL. */
const char *work_read_trouble(const struct work *w);
/* Makes problems of what could not be read of the file and beside it. False: they are as before. */
bool work_say_trouble(struct work *w);
/*
 * ERR_IO when a read of the file failed while or since it was loaded: what is known of it may lack
 * something, and nothing may be built on that.
 */
int work_check_read(const struct work *w, struct err *err);
/* The descriptor of the file, see format.h: around every call that may have to cut. */
void work_let_go(struct work *w);
void work_take_up(struct work *w);
/* For writing, as far as the system tells. */
bool work_is_open_elsewhere(const struct work *w);

/* ---- live.c ---- */

/*
 * Before bytes of the file are cut or a turn is closed: ERR_LOCKED when somebody is at it, and
 * ERR_UNSURE, with the time of the last write, for what is fresh and for an open turn, which
 * work_force allows.
 */
int work_check_rest(struct work *w, bool cuts, bool closes_turn, struct err *err);

/* ---- news.c ---- */

/* What a refresh tells: collected, then one sentence. */
struct news {
	uint32_t came, gone;
	uint64_t bytes, events; /* that were cut off; no events where the format has none */
	enum { FILE_GREW, FILE_CUT, FILE_REWRITTEN, FILE_REPLACED } how;
	size_t nlost; /* before */
	struct buf rounds; /* what happened to them, in words */
};
/* w->old is what was, w->s what is to be read: how the file changed. */
void news_begin(const struct work *w, struct news *n);
/*
 * Both are there whole: what came (those entries are marked), what went, and whose
 * parent is another one. Drops w->old, unless there is nothing yet in its place.
 */
void news_settle(struct work *w, struct news *n);
void news_say(struct work *w, const struct news *n, char said[200]);

/* ---- leftovers.c ---- */

/* Looks for them and tells them as problems of the session as it is now. */
void leftovers_note(struct work *w);
/* The end of a repair that succeeded; adds to what it said. */
int leftovers_drop(struct work *w, bool dry, struct done *d, struct err *err);
void leftovers_release(struct work *w);

/* ---- cards.c ---- */

/* `now` was read anew: makes a card for each entry of `old` that hangs elsewhere in it. */
void work_note_parents(struct work *w, struct session *old, struct session *now);

/* ---- ops.c: what the operations share ---- */

void done_begin(struct done *d);
void done_say(struct done *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void done_set(char *to, size_t size, struct str s);
/* For sentences: the first eight characters of a UUID, else the id cut at 24 bytes. */
struct short_id {
	char s[28];
} short_id(struct str id);
/* Can something not be written here at all? */
bool err_is_denied(const struct err *err);
/* Has the format that operation? ERR_UNSUPPORTED. */
int work_has(const struct work *w, unsigned what, struct err *err);
/* work_can as an error: ERR_UNSUPPORTED by the format, else ERR_IO. */
int work_check(struct work *w, unsigned what, struct err *err);

enum { OPS_TRIES = 5 }; /* times an operation starts again because the file changed under it */

struct undo *undo_push(struct work *w, enum undo_op op);
void undo_release(struct undo *u);

/* title.p NULL removes it. *before and *was_set get the title that was. 1: it is so already. */
int title_set(struct work *w, struct str title, bool dry, struct done *d, struct buf *before,
	bool *was_set, struct err *err);

/* One entry to write: where it hangs, what it says. Strings are owned. */
struct new_entry {
	char id[37];
	bool has_parent;
	struct buf parent, role;
	int64_t time;
	struct buf line; /* as it will stand in the file, with its newline */
};
/* Role and parent of what `spec` asks for (its `at` is current), and the line. */
/* id: 36 characters, of random_uuid4. */
int new_entry_make(struct work *w, const struct fork_spec *spec, const char *id,
	struct new_entry *n, struct err *err);
void new_entry_release(struct new_entry *n);

#endif
