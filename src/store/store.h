/*
 * store.h - roots, the list of their sessions, and one open session with
 * everything a person can do to it.
 *
 * The only module that knows formats and the log together. Screens and
 * commands see this header, the model and base; they open no file.
 * All work that may take long is done in steps with a budget in microseconds.
 */
#ifndef BOUGH_STORE_STORE_H
#define BOUGH_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/layout.h"
#include "model/session.h"

/* ---------------------------------------------------------------- is somebody there? */

/*
 * Is somebody at a session? One rule for lists, screens, commands and
 * operations: in use while a lock on it is held or it is open for writing
 * somewhere; fresh when its file changed within the last minute, or within ten
 * with an open turn: an agent that is silent may be waiting for a model; else
 * quiet.
 */
enum live { LIVE_QUIET, LIVE_FRESH, LIVE_IN_USE };
enum live live_of(bool in_use, int64_t mtime_ms, bool has_open_turn);

/* ---------------------------------------------------------------- roots and the list */

enum row_state {
	ROW_FOUND,     /* only the name and stat are known */
	ROW_LOADED,    /* counts, times and problems are known */
	ROW_UNREADABLE /* `reason` says why */
};

struct session_row {
	const char *id, *path, *root, *project, *title; /* title: NULL until loaded */
	const char *format;
	const char *reason;
	const char *parent_id; /* parentSessionId, or NULL */
	enum row_state state;
	uint32_t entries, branches, nproblems;
	uint64_t size, torn_bytes;
	uint64_t seed;   /* records that it inherited from its parent; UINT64_MAX: not said */
	uint64_t tokens; /* that its own calls took; 0: unknown */
	bool is_agent;   /* sent out by its parent, no fork */
	uint32_t inherited; /* of its entries */
	int64_t first_time, last_time; /* from the data, ms; INT64_MIN none */
	int64_t mtime; /* of the file, ms: shown with a mark where the data has no time */
	bool is_torn, is_damaged; /* torn tail; any other problem */
	bool is_twin;             /* another session of the root has the same id */
	bool has_open_turn;       /* interrupted, unless it still runs: work_interrupted */
	bool is_uncounted;        /* `entries` is unknown */
	bool is_partial;          /* not read to its end: all of this is of what was read */
	bool is_readonly;         /* this process may not write in its folder */
	bool is_in_use;           /* open for writing when it was loaded */
	enum live live;           /* by the one rule, at this moment */
	bool is_gone;             /* it was there and is not any more */
	const char *preview_user,
		*preview_model; /* last prompt and last answer, short, unsanitised */
};

struct store;

struct store *store_new(void);
void store_free(struct store **st);
/* A root, a session file or a session folder. ERR_NOTFOUND and the like say what was looked for. */
int store_add(struct store *st, const char *path, struct err *err);
/*
 * No path given: the roots of $BOUGH_ROOT, else the configuration's, else the
 * known places that exist. How many were added; one that can not be opened
 * counts and has a note.
 */
int store_add_defaults(struct store *st, const char *const *configured, size_t n, struct err *err);
size_t store_nroots(const struct store *st);
const char *store_root(const struct store *st, size_t i);
/* One sentence for a root that held nothing or could not be read, or NULL. */
const char *store_root_note(const struct store *st, size_t i);
/*
 * Find and load rows for about budget_us. 1: more to do, 0: done. `first`
 * (may be NULL) is a row index to load next: what is on the screen.
 */
int store_step(struct store *st, unsigned budget_us, const size_t *first);
/*
 * Rows say only what a first look at a session tells, where its format has
 * one: no title, no counts. For who lists many. Before the first step.
 */
void store_set_brief(struct store *st);
/*
 * A row reads at most so much of its session (bytes of the file, and what they
 * decompress to), so that none holds up the others; store_finish_rows has the
 * rest read when nothing else is to do.
 */
enum { STORE_ROW_WORK = 256 << 20 };
void store_finish_rows(struct store *st);
/* Finds all names at once and loads nothing: for who opens the sessions himself. */
void store_scan(struct store *st);
/* Look for new, changed and gone sessions again; store_step does the work. */
void store_rescan(struct store *st);
size_t store_nrows(const struct store *st);
const struct session_row *store_row(
	const struct store *st, size_t i); /* in the order found; indices stay */
void store_progress(const struct store *st, uint64_t *done, uint64_t *all); /* bytes */
/*
 * By path, id or unique id prefix. ERR_NOTFOUND, ERR_AMBIGUOUS (candidates, at
 * most 8, go to `list`, one path a line; may be NULL). A path outside the
 * roots becomes a root.
 */
int store_find(struct store *st, const char *name, size_t *row, struct buf *list, struct err *err);

/* ---------------------------------------------------------------- one session */

struct work; /* an open session */

enum work_change {
	WORK_SAME,
	WORK_GREW,     /* entries were added; indices stay */
	WORK_REPLACED, /* the session was read anew: indices are different, look ids up again */
	WORK_GONE,
	WORK_TIP /* only tip or labels changed */
};

int work_open(struct work **out, const char *path, struct err *err);
/* As what the row says it is, which another file under its name may not be. */
int work_open_row(struct work **out, const struct session_row *row, struct err *err);
void work_close(struct work **w);

/* By the rule of live_of. */
struct live_look {
	enum live state;
	bool is_locked;  /* else it is only open */
	long pid;        /* of who holds the lock; 0: not known */
	int64_t mtime;   /* ms */
};
/* Looks at the disk. A file that can not be looked at is as fresh as it was when it was read. */
void work_live(struct work *w, struct live_look *out);
/* The state alone, from what was read: for who draws. */
enum live work_live_seen(const struct work *w);
/* "written 12 s ago", for sentences and questions. */
void live_when(int64_t mtime_ms, char out[40]);
/*
 * Would a repair be refused as things are, without work_force? `said` gets the reason as the
 * beginning of a question: "A turn is open".
 */
bool work_repair_is_risky(const struct work *w, const struct live_look *live, char said[200]);
/*
 * The person was asked, or said --force: what follows may cut a file that is
 * fresh, and close an open turn. Nothing allows it while the file is in use.
 */
void work_force(struct work *w, bool on);
struct session *work_session(struct work *w); /* borrowed; another one after WORK_REPLACED */
/* 1: more to load, 0: complete (tip, labels, problems are final), < 0: err. */
int work_step(struct work *w, unsigned budget_us, struct err *err);
int work_load(struct work *w, struct err *err); /* all of it */
/* As much as a row reads. 1: there is more, 0: complete, < 0: err. */
int work_load_part(struct work *w, struct err *err);
/*
 * Has anything changed on disk? Starts reading what came (work_step does it).
 * `said` gets a sentence for the status line ("12 new entries", "the file was
 * replaced: 3 entries are gone"), "" for nothing.
 */
int work_refresh(struct work *w, enum work_change *change, char said[200], struct err *err);
/*
 * Why what was read is not what the disk has now, as of the newest look: the
 * file is gone, or is none any more, or can not be read. "" when all is well.
 */
const char *work_trouble(const struct work *w);

/* How far the load is, in bytes of the file. */
void work_progress(const struct work *w, uint64_t *done, uint64_t *all);

enum work_write { /* the bits of enum format_write */
	WORK_APPEND = 1 << 0,
	WORK_TITLE = 1 << 1,
	WORK_REPAIR = 1 << 2,
	WORK_FORK = 1 << 3, /* into a new session */
	WORK_REFLOG = 1 << 4, /* checkouts and labels */
	WORK_TRASH = 1 << 5,
	WORK_CONVERT = 1 << 6
};
/* What a format allows, before anything of a session is looked at. */
enum { STORE_WHY = 100 };
bool store_can(const char *format, unsigned what, char why[STORE_WHY]);
/* Which operations this session allows: bits of enum work_write; why not, in a sentence. */
bool work_can(const struct work *w, unsigned what, const char **why);

/*
 * Everything below writes. `dry` writes nothing and says in `said` what would
 * be done. On failure nothing has changed on disk (or err says what did).
 * said is one sentence for the status line, safe to draw.
 *
 * Every operation looks at the disk first and works on what is there now: an
 * entry is followed by its id when the file was replaced meanwhile
 * (ERR_NOTFOUND when it is gone). So the session may be another one afterwards:
 * ask work_session again, as after WORK_REPLACED.
 *
 * A struct done starts zeroed and can be used again; done_release at the end.
 */
struct done {
	char said[300];
	char entry[512];   /* id of a new entry, "" for none */
	char session[512]; /* id of a new session, "" for none */
	char path[4096];   /* of a new session or of where a thing went */
	struct buf lines;  /* dry: the exact bytes that would be written */
	struct buf cut;    /* lines that a repair takes out of the log, as far as they can be shown */
};
void done_release(struct done *d);

int work_checkout(struct work *w, uint32_t entry, bool dry, struct done *d, struct err *err);
int work_label(
	struct work *w, uint32_t entry, struct str text, bool dry, struct done *d, struct err *err);

struct fork_spec {
	uint32_t at; /* to hang under, ENTRY_NONE: a new root; with retry: the entry to do again */
	bool is_retry;      /* a sibling of `at` */
	const char *role;   /* "USER" when NULL; ignored by retry */
	struct str content; /* valid UTF-8; p NULL with work_fork_new: only the copy */
	/* Of a log of events, for work_fork_new: any event, not only one that is an entry. */
	bool has_event, is_exact; /* is_exact: not on to the end of its turn */
	uint64_t event;
};
/* A new entry, which becomes the tip. Restores nothing, loses nothing; see doc/durability.md. */
int work_fork(
	struct work *w, const struct fork_spec *spec, bool dry, struct done *d, struct err *err);
/*
 * The branch up to `at` copied into a new session; with content also the new
 * entry at its end.
 */
int work_fork_new(
	struct work *w, const struct fork_spec *spec, bool dry, struct done *d, struct err *err);
/* An empty title removes it. ERR_CORRUPT: the sidecar is no JSON object and is left alone. */
int work_rename(struct work *w, struct str title, bool dry, struct done *d, struct err *err);
/*
 * A repair and a fork of a fresh dsh log wait a moment to see whether it is
 * being written. Who must not be held up asks this first until it is no longer
 * 1: 0, the operation goes on at once; ERR_CHANGED, somebody writes. Never
 * waits. The first call brings the session up to date, like an operation.
 */
int work_rests(struct work *w, struct err *err);
void work_rests_stop(struct work *w); /* it will not be asked again */
/*
 * Leftovers away, torn tail aside (`path` says where), lost appends again; of a dsh log what
 * loading it would commit. "nothing to repair" is no error.
 */
int work_repair(struct work *w, bool dry, struct done *d, struct err *err);
bool work_needs_repair(const struct work *w); /* known when it is loaded */
/* A turn that has no end, in a sentence: nothing is wrong, and a repair would close it. */
bool work_interrupted(const struct work *w, char said[200]);
/* A repair that also sets aside a damaged end of a dsh log, where it is all that is wrong. */
int work_salvage(struct work *w, bool dry, struct done *d, struct err *err);
/*
 * A dsh log written again, compressed or not, read back and compared; the old
 * file stays in its folder under a name that is no session's (`said` has it).
 */
int work_convert(struct work *w, bool to_zstd, bool dry, struct done *d, struct err *err);
/*
 * The same for all logs of a place: a root, a project, a session. A root belongs
 * to one encoding, so nothing begins while logs beside the place have another
 * one, or while one of them could not be converted (each is a line of `list`),
 * unless is_forced; and never while a log of the root may be in use (ERR_LOCKED).
 *
 * conversion_begin, conversion_step until it is 0, conversion_end. A step does
 * one log and is negative when that one failed; the next goes on behind it.
 */
struct conversion;
int conversion_begin(struct conversion **out, const char *place, bool to_zstd, bool is_forced,
	struct buf *list, struct err *err);
size_t conversion_size(const struct conversion *c); /* logs */
/* was_so: it had the encoding already. */
int conversion_step(struct conversion *c, bool dry, struct done *d, bool *was_so, struct err *err);
void conversion_end(struct conversion **c);
/* Session, sidecar and reflog go to the trash. The handle is closed by it. */
int work_trash(struct work **w, bool dry, struct done *d, struct err *err);
/* Take back the newest checkout, label or title change that this handle made. */
int work_undo(struct work *w, struct done *d, struct err *err);
int store_untrash(const struct done *trashed, struct err *err); /* puts the files back */

/* Text of an entry for the editor of a retry (whole, unsanitised). */
int work_content(struct work *w, uint32_t entry, struct buf *out, struct err *err);

/*
 * Where what a model is sent was rewritten (model/card.h): the format's own
 * cards, then one for each entry that has another parent since the session was
 * opened. Everything lies in `a`, which the cards are filled from, too.
 */
int work_cards(struct work *w, struct arena *a, struct card_list *out, struct err *err);
int work_card_fill(struct work *w, struct card *card, struct arena *a, struct err *err);

/* ---------------------------------------------------------------- leftovers */

/*
 * Temporary files that killed writers left beside a session, and that nothing
 * holds. They take nothing from it; a repair removes them. `seen` (may be NULL)
 * keeps the names of a folder for the other sessions in it.
 */
struct leftovers;
struct leftovers *leftovers_new(void);
void leftovers_free(struct leftovers **l);
size_t work_look_leftovers(struct work *w, struct leftovers *seen); /* how many */
const char *work_leftover(const struct work *w, size_t i); /* a path, until the next look */
/* A repair removes it. Else it is what another file took the place of when its writer was killed. */
bool work_leftover_goes(const struct work *w, size_t i);
#define LEFTOVER_GOES  "a writer that is gone left %s behind: a repair removes it"
#define LEFTOVER_STAYS \
	"a writer that is gone took %s out of its place and may not have ended: look whether you " \
	"need it; nothing removes it"
/* From now on they are problems of the session, of kind "leftover". */
void work_note_leftovers(struct work *w);

/* ---------------------------------------------------------------- reflog */

enum reflog_op { REFLOG_CHECKOUT, REFLOG_LABEL, REFLOG_APPEND, REFLOG_OTHER };

struct reflog_line {
	enum reflog_op op;
	struct str entry; /* tip, labelled entry or appended entry's id */
	struct str from;  /* checkout: before; label: its text */
	int64_t at;
	uint64_t entries; /* checkout: entries in the log then */
	bool is_known;    /* the entry is in the session */
	bool is_current;  /* the checkout that makes the tip */
	bool is_lost;     /* an append that the file no longer holds */
};
/* Oldest first; borrowed until the next step or refresh. */
const struct reflog_line *work_reflog(struct work *w, size_t *n);
/* Where bough's own state lies, "" none yet. Elsewhere: in the state folder (read-only root). */
const char *work_state_path(const struct work *w, bool *is_elsewhere);
size_t work_nlost(const struct work *w); /* lost appends */
/*
 * Why the tip and the labels may be others than they seem (checkouts could not be read), or NULL. Who
 * writes must not go by them then.
 */
const char *work_tip_trouble(const struct work *w);

/* ---------------------------------------------------------------- following */

/*
 * Watches the folders of roots or of a session (inotify). fd is for poll();
 * -1 where there is no inotify: then call the refresh functions on a timer.
 */
struct watch;
struct watch *watch_new(void);
void watch_free(struct watch **w);
int watch_add(struct watch *w, const char *dir);
void watch_clear(struct watch *w);
int watch_fd(const struct watch *w);
/* Drain events; true when something that can be a session changed. */
bool watch_drain(struct watch *w);

#endif
