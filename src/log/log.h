/*
 * log.h - crash-safe storage; the only door to a session's files.
 *
 * The module stores and returns bytes. It knows nothing of JSON, entries or
 * trees; the caller says where the last committed record ends.
 *
 * Reading is passive: opening for reading changes nothing on disk, not even a
 * time stamp (O_NOATIME where allowed), never blocks on a fifo or device
 * (regular files only) and takes no lock.
 *
 * Writing: log_open() takes the advisory write lock, log_append() returns 0
 * only after the records are on stable storage. A failed append leaves the
 * file as it was, or marks the handle broken: every later append then fails
 * with ERR_BROKEN until the log is opened again.
 *
 * What is promised after a crash stands in doc/durability.md.
 *
 * Calling sequences: log_reader_open, log_next_line* (log_reader_refresh,
 * log_seek_line, log_next_line*)*, log_reader_close; and log_open, log_expect,
 * log_append*, log_close. A handle belongs to one thread at a time, except
 * that log_pread may be called from several. Even memory that can not be had
 * is reported (ERR_NOMEM), the module never ends the program.
 */
#ifndef BOUGH_LOG_LOG_H
#define BOUGH_LOG_LOG_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* ---- identity of a file, to see changes ---- */

struct log_id {
	uint64_t dev, ino, size;
	int64_t mtime_ns;
	bool exists;
};

enum log_change {
	LOG_SAME,
	LOG_GREW,      /* same inode, larger: scan on from the last complete line */
	LOG_REWRITTEN, /* same inode, same size or smaller, other mtime: read again */
	LOG_REPLACED,  /* another inode under the name */
	LOG_GONE
};

/* Only looks, whatever the path names. exists=false when there is no such file; that is no error. */
int log_stat(const char *path, struct log_id *out, struct err *err);
/* The same of the name itself: a link is what it is, and not what it points to. */
int log_stat_beside(const char *path, struct log_id *out, struct err *err);
enum log_change log_compare(const struct log_id *before, const struct log_id *now);
/* What a mode of stat is: "a file", "a folder", "a fifo" ... */
const char *log_kind(mode_t mode);

/* Who else has a file at this moment, as far as the system tells. Only looks. */
struct log_use {
	bool is_locked; /* an exclusive lock is held: its holder is writing */
	bool is_open;   /* open for writing in some process */
	long pid;       /* of who holds the lock; 0: not known */
};
int log_look_use(const char *path, struct log_use *out, struct err *err);

/* ---- passive reading ---- */

struct log_reader;

enum { LOG_MAX_LINE = 256 << 20 }; /* a longer line is reported, not read into memory */

/* ERR_IO (ENOENT, EACCES ...), ERR_UNSUPPORTED for anything but a regular file (the text says what it is). */
int log_reader_open(struct log_reader **out, const char *path, struct err *err);
/*
 * Of what stands beside a session (doc/durability.md): no link is followed, and the file must
 * belong to the user, root or who owns the folder. ERR_UNSUPPORTED says why not.
 */
int log_reader_open_beside(struct log_reader **out, const char *path, struct err *err);
void log_reader_close(struct log_reader **r);
/*
 * The reader gives its descriptor back and takes one again: a cut needs to be
 * the only one who has the file open. In between nothing can be read. After
 * log_reader_take_up the reader is as before if the name still leads to the
 * same file; else every read fails (ERR_CHANGED) until log_reader_refresh.
 */
void log_reader_let_go(struct log_reader *r);
void log_reader_take_up(struct log_reader *r);
/*
 * Has any read of it failed since it was opened, at whichever offset? What was made of its
 * bytes may then lack something. NULL, or the sentence of the first failure.
 */
const char *log_reader_trouble(const struct log_reader *r);
/* Does any process have it open for writing? As far as the system tells. */
bool log_reader_has_writer(const struct log_reader *r);
/* What fstat said at open or at the last refresh. */
const struct log_id *log_reader_id(const struct log_reader *r);
/*
 * Look again at the path. LOG_GREW keeps the descriptor and extends the end
 * (log_seek_line to where the last line without a newline began, then go on);
 * LOG_REPLACED and LOG_REWRITTEN reopen and rewind to 0; LOG_GONE keeps what
 * is open. On failure everything stays as it was.
 */
int log_reader_refresh(struct log_reader *r, enum log_change *change, struct err *err);
/* Bytes at off into buf; *got < n only at the end of the file. */
int log_pread(const struct log_reader *r, uint64_t off, void *buf, size_t n, size_t *got,
	struct err *err);
/* Adds a whole small file to out. ERR_LIMIT over cap. id (may be NULL) is that of before the reading. */
int log_read_file(
	const char *path, size_t cap, struct buf *out, struct log_id *id, struct err *err);
/* The same of what stands beside a session; see log_reader_open_beside. */
int log_read_beside(
	const char *path, size_t cap, struct buf *out, struct log_id *id, struct err *err);

struct log_line {
	const char *p;   /* valid until the next call; p[n] is '\n' even at the end of the file, and
			    the 63 bytes behind it may be read too (whatever they are) */
	size_t n;        /* without the newline; a CR before it is kept */
	uint64_t off;    /* of its first byte */
	uint64_t number; /* from 1 */
	bool ended;      /* a newline stood behind it */
	bool too_long;   /* over LOG_MAX_LINE: p is NULL, n its real length */
};

/*
 * Windows of at most `bytes`, for who does more with the bytes than to look for
 * lines and wants them still to be in the cache then. Before the first line.
 */
void log_small_windows(struct log_reader *r, size_t bytes);
/* Start reading lines at `off`, which is line `number`. */
void log_seek_line(struct log_reader *r, uint64_t off, uint64_t number);
/*
 * No call of log_next_line reads much more than `bytes` without a line to show
 * for it: it gives LOG_PAUSED then, and the next one goes on. 0, as it is at
 * first: never. Lines that fit a window, and the reading of a long one whose
 * end is known, are not cut up.
 */
enum { LOG_PAUSED = 2 };
void log_set_pause(struct log_reader *r, size_t bytes);
/* Bytes that log_next_line has read so far. */
uint64_t log_work(const struct log_reader *r);
/*
 * 1: a line; 0: the end as known at open or refresh; LOG_PAUSED: see above; < 0: err. Reads windows
 * of 256 KB to 1 MB. A file that became shorter meanwhile ends early; one that
 * is rewritten over and over under a long line gives ERR_CHANGED.
 */
int log_next_line(struct log_reader *r, struct log_line *line, struct err *err);

/* ---- the names in a folder ---- */

/* NULL and err when it can not be opened, or is none; closedir() gives it back. */
DIR *log_open_folder(const char *path, struct err *err);
/*
 * 1: a name, dot names too, *de valid until the next call; 0: the end; < 0: err. `path` is only
 * named in err.
 */
int log_next_name(DIR *dir, const char *path, const struct dirent **de, struct err *err);

/* ---- appending ---- */

struct log;

enum log_flags {
	LOG_CREATE = 1 << 0,  /* make the file when it is missing (0600) */
	LOG_DRY_RUN = 1 << 1, /* check everything, write nothing */
	/*
	 * A file of bough's own beside a session: opened without following links and only when
	 * it has one name; whoever writes it takes the lock, so that nothing else is needed to
	 * keep others out.
	 */
	LOG_BESIDE = 1 << 2,
	/* Nothing may come between: appends, too, happen only while nobody else has it open. */
	LOG_ALONE = 1 << 3,
	/*
	 * Blank lines mean nothing in it: bytes of ours that must go and have others behind them
	 * are overwritten with blanks.
	 */
	LOG_BLANKS = 1 << 4,
	/* Where nobody can be kept out a change is published as a new file, not written around. */
	LOG_ANEW = 1 << 5
};

/*
 * Open for appending and take the write lock. ERR_LOCKED names the holder's
 * pid where the system tells it; two handles of one process conflict too. A
 * missing file without LOG_CREATE is ERR_IO with ENOENT. Does not change the
 * file (LOG_CREATE apart). A dry run sees a lock but holds none.
 */
int log_open(struct log **out, const char *path, unsigned flags, struct err *err);
/* Gives the lock back; removes the file if this handle made it and nothing was appended. */
void log_close(struct log **log);
/*
 * The file must still be the one that was read: ERR_CHANGED otherwise. Call it
 * after taking the lock and before deciding anything from what was read. An
 * `expected` that does not exist fits a file that this handle has just made.
 */
int log_expect(struct log *log, const struct log_id *expected, struct err *err);

struct log_append_info {
	uint64_t off;           /* where the records begin in the file now */
	uint64_t torn_bytes;    /* moved away before the append; 0 for none */
	char torn_path[4096];   /* where to, "" for none */
	char before_path[4096]; /* the old file, where a new one took its place; "" for none */
	struct log_id id;       /* of the file afterwards (dry run: as it is) */
};

/*
 * Append whole records (each ends in '\n': ERR_USAGE otherwise).
 *
 * Other writers may take no lock. Bytes go to the end of the file wherever that is by then; 0 is
 * returned when they stand there, whole and synced, behind a line's end, also when somebody
 * else's came before or after them. Bytes that somebody else wrote are never cut.
 *
 * `committed` is the offset behind the last committed record. Bytes behind it
 * are a torn tail: they are first copied to "<path>.torn-<committed>" and
 * synced, then cut. A copy with the same bytes is used again, one with others
 * is never touched (".torn-<committed>.2" and so on). A missing final newline
 * is written in the same write() before the records; what a short write leaves
 * is written behind it.
 *
 * A cut, and any change of a LOG_ALONE handle, happens under a lease: while
 * nobody else has the file open, this process included (log_reader_let_go).
 * ERR_LOCKED, nothing changed: somebody has. Where no lease is to be had
 * nothing is cut: the records go behind the tail, which stays as a line of its
 * own (torn_bytes is 0 then); with LOG_ANEW a new file takes the place of the
 * old one, which keeps the name "<path>.before-<n>" and whatever is written to
 * it later. The handle is of no more use then (ERR_BROKEN).
 *
 * On failure the file, tail included, is put back as it was (the copy stays).
 * When that fails too, or somebody else's bytes stand behind ours, the result
 * is ERR_BROKEN, the text says what stands in the file, and the handle is of
 * no more use. ERR_CHANGED, nothing written: the file is not as log_open or
 * the last append left it. info may be NULL.
 */
int log_append(struct log *log, uint64_t committed, const char *records, size_t n,
	struct log_append_info *info, struct err *err);
/*
 * Cut off again what the newest log_append of this LOG_BESIDE handle wrote,
 * because what it announced did not happen. A tail that it set aside stays in
 * its copy.
 */
int log_take_back(struct log *log, const struct log_append_info *info, struct err *err);
/* Only set the torn tail aside; 0 with torn_bytes 0 when there is none. */
int log_set_aside(
	struct log *log, uint64_t committed, struct log_append_info *info, struct err *err);

/* ---- whole files ---- */

/*
 * A new file that appears under its name only when complete: temporary name
 * O_EXCL 0600, writes, fsync, link() (never over an existing file: ERR_EXISTS),
 * fsync of the directory, unlink of the temporary name. Where there are no
 * links an exclusive rename does the same. After a failure there is no file
 * under the name (or err says that it is there and not durable). Small writes
 * are collected.
 */
struct log_pub;
int log_pub_begin(struct log_pub **out, const char *path, struct err *err);
int log_pub_write(struct log_pub *pub, const void *p, size_t n, struct err *err);
int log_pub_commit(struct log_pub **pub, struct err *err); /* frees it, also on failure */
/*
 * The same, and what got the name, for log_remove: also when the error says that it is there all the
 * same. exists=false: nothing did. id may be NULL.
 */
int log_pub_commit_id(struct log_pub **pub, struct log_id *id, struct err *err);
void log_pub_abort(struct log_pub **pub);

/*
 * Replace a sidecar whole: temporary file, fsync, the two change places, fsync
 * of the directory. `expected` (may be NULL) must still describe the file:
 * ERR_CHANGED otherwise, also when it changed at the last moment: then they
 * change places again. The old file goes only when it is what was expected and
 * nobody has it open; else it stays as "<path>.before-<n>". The mode of an
 * existing file is kept; a symbolic link is refused. A failure leaves the old
 * file, with one exception that err names: when the last sync fails the new
 * content stands there but may not survive a power cut.
 */
int log_replace(
	const char *path, const void *p, size_t n, const struct log_id *expected, struct err *err);

/*
 * Temporary files of log_pub and log_replace. The name of one (without its
 * folder) is ".<name>.<12 hex>.tmp"; *n is the length of <name>, which begins
 * at name + 1.
 */
bool log_is_leftover(const char *name, size_t *n);
/* ".<name>.<12 hex>.old": a file whose place another took, kept by a crash at that moment. */
bool log_is_set_aside(const char *name, size_t *n);
/*
 * Removes one whose writer is gone: a regular file of this user, no link, that
 * nothing holds. ERR_LOCKED: somebody does, or the system can not tell and it is
 * younger than a minute. ERR_UNSUPPORTED: none that bough made.
 * ERR_CHANGED: another file has the name by now. Whatever fails, nothing but
 * this name goes. dry: only looks whether it could.
 */
int log_drop_leftover(const char *path, bool dry, struct err *err);

/*
 * Move a file without ever overwriting; both directories are synced. ERR_EXISTS,
 * ERR_IO (EXDEV). On failure it is where it was, or err says where it is.
 */
int log_move(const char *from, const char *to, struct err *err);
/* Directories as needed, 0700, each level synced. On failure some of them may have been made. */
int log_mkdirs(const char *path, struct err *err);
/* One new directory in one that is there, 0700, synced. ERR_EXISTS: there is something already. */
int log_mkdir_new(const char *path, struct err *err);
/* Takes an empty directory of log_mkdirs back; one that holds anything stays, and so does errno. */
void log_drop_dir(const char *path);
/* Removes a name and syncs its directory. */
int log_unlink(const char *path, struct err *err);
/*
 * The same of a file that is ours: only if it is still `expected` and nobody has it open, as far as
 * the system can tell; else it stays and err says why (ERR_CHANGED, ERR_LOCKED).
 */
int log_remove(const char *path, const struct log_id *expected, struct err *err);
/* May this process write in the directory? 0 or err. Changes nothing. */
int log_can_write(const char *dir, struct err *err);

#endif
