/*
 * format.h - the table of session formats: bytes to model.
 *
 * A format tells its files by looking at a bounded number of names and first
 * lines, finds the sessions of a root, and loads one session step by step so
 * that nobody waits. Formats read only; writing is the store's business, with
 * the records that a format's writer functions make.
 *
 * Calling sequence: format_detect, format->scan, format->open,
 * format->step until it returns 0, format->grow after the file changed,
 * session_free.
 */
#ifndef BOUGH_FORMAT_FORMAT_H
#define BOUGH_FORMAT_FORMAT_H

#include <stdbool.h>

#include "base/err.h"
#include "log/log.h"
#include "model/session.h"

/* A step that gets no line out of so many bytes ends, whatever its budget says. */
enum { FORMAT_STINT = 4 << 20 };
/* What a line costs in session.work beside its bytes: short ones take their time, too. */
enum { FORMAT_LINE_WORK = 32 };

/* One session found in a root, before it is loaded. Strings are borrowed for the call only. */
struct found {
	const char *id, *path;
	const char *project;    /* group in the list: cwd or folder; "" when the format has none */
	struct log_id file;     /* of its main file, as stat said */
	const char *unreadable; /* the reason, or NULL */
};

typedef void found_fn(const struct found *f, void *arg);

/* What the list says of a session that was not loaded. The caller releases the texts. */
struct session_brief {
	struct buf title, parent; /* parent: the id of the session it came from */
	uint32_t entries, nproblems;
	bool is_uncounted;       /* nothing says how many entries there are */
	int64_t first_time, last_time;
};

enum format_write {
	FORMAT_APPEND = 1 << 0, /* fork, retry */
	FORMAT_TITLE = 1 << 1,
	FORMAT_REPAIR = 1 << 2,
	FORMAT_FORK = 1 << 3, /* a copy of a branch as a new session */
	FORMAT_REFLOG = 1 << 4,  /* checkouts and labels, beside the session */
	FORMAT_TRASH = 1 << 5,
	FORMAT_CONVERT = 1 << 6 /* into another encoding */
};
enum { FORMAT_WHY = 100 };

struct format {
	const char *name;
	const char *title;      /* "tree sessions (SoPhi)" */
	const char *sign;       /* what detect looks for, in a few words */
	unsigned can_write;     /* enum format_write */
	/* Looks like this format? path is a folder (is_file false) or one file. Bounded work. */
	bool (*detect)(const char *path, bool is_file);
	/*
	 * Names of the sessions in a root. Only readdir and stat. `sub` steps
	 * through big roots: start with *pos 0; returns 1 when there is more, 0 at
	 * the end, < 0 err.
	 */
	int (*scan)(const char *root, uint64_t *pos, unsigned max, found_fn *fn, void *arg,
		struct err *err);
	/* Start loading; *out is usable (empty) at once. */
	int (*open)(const char *path, struct session **out, struct err *err);
	/* Load for about budget_us; 1: more to do, 0: done (is_complete), < 0: err (what was read stays). */
	int (*step)(struct session *s, unsigned budget_us, struct err *err);
	/*
	 * After a change on disk: *change says what it was. LOG_GREW: step() goes
	 * on from the last complete record. LOG_REPLACED, LOG_REWRITTEN: the
	 * session is stale; open a new one.
	 */
	int (*refresh)(struct session *s, enum log_change *change, struct err *err);
	/* What has been read: the identity to hand to log_expect. */
	const struct log_id *(*file)(const struct session *s);
	/*
	 * Through which the file is read, for who must know whether a read failed, or be the only
	 * one who has it open for a moment. NULL where nothing is written.
	 */
	struct log_reader *(*reader)(const struct session *s);
	/* What a first look tells, without loading; NULL: there is no such look. */
	int (*brief)(const char *path, struct session_brief *out, struct err *err);
	bool lists_brief; /* loading a session is too much for a row of the list */
};

extern const struct format *const formats[]; /* NULL-terminated */
const struct format *format_by_name(const char *name);
/* Has it all that the bits of enum format_write say? Else a sentence why not. */
bool format_can(const struct format *f, unsigned what, char why[FORMAT_WHY]);
/* NULL: nothing fits; err says what was looked for. */
const struct format *format_detect(const char *path, struct err *err);

#endif
