/*
 * dsh.h - session logs of DeepSeek Harness ("dsh"): what others need beside
 * the table entry, which is what a writer needs: names, the closers of an
 * interrupted turn, records as they are stored.
 *
 * Format: doc/formats.md, "dsh".
 */
#ifndef BOUGH_FORMAT_DSH_DSH_H
#define BOUGH_FORMAT_DSH_DSH_H

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

/* ---- for writers; the session is loaded to its end ---- */

/* The events that close an interrupted turn, one JSON object a line; empty when nothing is open. */
struct str dsh_closers(const struct session *s, size_t *n);
/* The events that a torn frame still gave, a line each as they are written. */
int dsh_recovered(struct session *s, struct buf *out, size_t *n, struct err *err);
bool dsh_is_zstd(const struct session *s);
/* Why the session may not be continued (damage, an unknown version or type), or NULL. */
const char *dsh_refusal(const struct session *s);
/* The header as JSON text without its type and without members that are not its own. */
struct str dsh_header_text(const struct session *s);
uint64_t dsh_count(const struct session *s); /* events, without closers; the next seq */
/* Event `seq` as one line of compact JSON, without a newline: what the log says. */
int dsh_event_text(struct session *s, uint64_t seq, struct buf *out, struct err *err);
/* Lists of sources in the file are stored as ranges. */
bool dsh_has_ranges(const struct session *s);

#endif
