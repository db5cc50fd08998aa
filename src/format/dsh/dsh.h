/*
 * dsh.h - session logs of DeepSeek Harness ("dsh"): what others need beside
 * the table entry, which is what a writer needs: names, the closers of an
 * interrupted turn, records as they are stored.
 *
 * Format: doc/formats.md, "dsh".
 */
#ifndef BOUGH_FORMAT_DSH_DSH_H
#define BOUGH_FORMAT_DSH_DSH_H

#include <dirent.h>

#include "format/format.h"

extern const struct format format_dsh;

/* ---- names ---- */

/*
 * The id as JSON text (quotes included) to the name of its folder, and the cwd
 * to that of its project. False: it can not be stored (empty).
 */
bool dsh_put_session_name(struct buf *out, struct str id_json);
bool dsh_put_project_name(struct buf *out, struct str cwd_json); /* p NULL: "_no-cwd" */
/*
 * The id behind a folder's name. A name that is none, or whose id holds a NUL
 * or a lone surrogate, is kept as it is.
 */
void dsh_put_id_of_name(struct buf *out, const char *name);
/* The name of a log of that encoding in the place of `path`, which may be the same; yours. */
char *dsh_log_path(const char *path, bool is_zstd);
bool dsh_name_is_zstd(const char *path);
/* Is it of that encoding, its bytes and its name? False also when it can not be read. */
bool dsh_is_stored(const char *path, bool is_zstd);
bool dsh_is_project_name(const char *name);
/*
 * The root of a log (flat ones too), of a session's folder or of a project's; any
 * other place is one itself. Whole and without links; yours.
 */
char *dsh_root_of(const char *path);
bool dsh_is_real_folder(int dir, const struct dirent *de); /* not a link to one */

/* ---- for writers; the session is loaded to its end ---- */

/* The events that close an interrupted turn, one JSON object a line; empty when nothing is open. */
struct str dsh_closers(const struct session *s, size_t *n);
/* The number of the turn that they close, as JSON; empty when it is none. */
struct str dsh_open_turn(const struct session *s);
bool dsh_is_zstd(const struct session *s);

/*
 * Checks a loaded session against those it came from, and adds what is wrong to
 * its problems: a parent that is missing, a cycle, a fork point that the parent
 * does not reach, inherited events that differ, an id that stands twice. One
 * family serves many sessions of a root.
 */
struct dsh_family;
struct dsh_family *dsh_family_new(void);
void dsh_family_free(struct dsh_family **f);
void dsh_family_check(struct dsh_family *f, struct session *s);
/* Why the session may not be continued (damage, an unknown version or type), or NULL. */
const char *dsh_refusal(const struct session *s);
/*
 * Event `seq` as the log says it, one line, and the entry that it is part of or
 * folds under, ENTRY_NONE when there is none. ERR_NOTFOUND.
 */
int dsh_event(
	struct session *s, uint64_t seq, struct buf *line, uint32_t *under, struct err *err);
uint64_t dsh_count(const struct session *s); /* events, without closers; the next seq */

/* ---- texts to write (write.c); the session is loaded to its end ---- */

/*
 * The batch that a repair appends: what the torn frame still gave, then the
 * closers, as records. Empty when nothing is missing.
 */
int dsh_repair_text(struct session *s, struct buf *out, uint64_t *nevents, struct err *err);
/*
 * Is the only thing wrong that the file's end is no frame, with no good frame
 * behind it? Power cuts leave that. The format calls it damage, and its own
 * programs read such a log no more; without that end it is whole.
 */
bool dsh_is_end_damaged(const struct session *s);
/* What closes the log when its damaged end is gone. */
void dsh_salvage_text(struct session *s, struct buf *out, uint64_t *nevents);
/* Events that stand in the log whole: without recovered ones and closers. */
uint64_t dsh_stored_count(const struct session *s);
/*
 * The last event of a fork at event `chosen`: the end of its turn, and what
 * follows up to the next turn. With is_exact `chosen` itself. ERR_NOTFOUND,
 * or ERR_UNSUPPORTED when the turn is open.
 */
int dsh_fork_point(
	const struct session *s, uint64_t chosen, bool is_exact, uint64_t *last, struct err *err);
/* The header line of a fork that copies `seed` events. The id is ours and needs no escape. */
void dsh_fork_header(
	const struct session *s, const char *id, int64_t now, uint64_t seed, struct buf *out);
/* Takes the records of one batch; a negative result ends the copy. */
typedef int dsh_batch_fn(struct str lines, void *arg, struct err *err);
/* Events 0 to `last` as records and the end of the seed, in one batch unless it grows large. */
int dsh_fork_events(struct session *s, uint64_t last, int64_t now, dsh_batch_fn *fn, void *arg,
	struct err *err);
/* Why the log can not be written again as it stands, or NULL. Unknown types do not matter. */
const char *dsh_copy_refusal(const struct session *s);
/* Do two logs hold the same lines, both to their end? ERR_CORRUPT names the first that differs. */
int dsh_compare(const char *a_path, const char *b_path, uint64_t *nlines, struct err *err);

#endif
