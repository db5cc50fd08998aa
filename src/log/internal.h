/*
 * internal.h - what the files of src/log share.
 *
 * The io_ functions are the calls of the table with what every caller needs
 * around them: EINTR is tried again (a bounded number of times), short reads
 * and writes are continued, errno survives a close. They set errno and no
 * struct err; the caller knows what it was doing. Calls that write, make or
 * remove a name are never tried again: on a network file system a repeated
 * link() would report its own first success as EEXIST.
 */
#ifndef BOUGH_LOG_INTERNAL_H
#define BOUGH_LOG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "log/log.h"
#include "log/sys.h"

enum {
	IO_PATH = 4096,      /* paths are kept in arrays of this size; longer ones are refused */
	IO_CHUNK = 64 << 10, /* copying and comparing */
	LINE_SLACK = 64,
	LINE_WINDOW_FIRST = 256 << 10,
	LINE_WINDOW_MAX = 1 << 20
};

/* ---- io.c ---- */

int io_stat(const char *path, struct stat *st);
int io_lstat(const char *path, struct stat *st);
int io_fstat(int fd, struct stat *st);
/* O_CLOEXEC, O_NOCTTY and O_NONBLOCK are added; O_NOATIME is tried first without O_CREAT. */
int io_open(const char *path, int flags, mode_t mode);
int io_openat(int dir, const char *name, int flags, mode_t mode); /* the same, in an open folder */
void io_close(int *fd); /* sets -1; a late error is of no use to anyone (doc/durability.md) */
/* 0 or -1; *got < n only at the end of the file. */
int io_pread(int fd, void *p, size_t n, uint64_t off, size_t *got);
/* The same beside a writer; `known` is the file as it was last seen. */
int io_pread_beside_writer(
	int fd, void *p, size_t n, uint64_t off, size_t *got, const struct log_id *known);
int io_write(int fd, const void *p, size_t n);
/* Where bytes went that O_APPEND put at the end of the file. */
struct placed {
	uint64_t at;   /* before the call: where the end is thought to be */
	size_t n;      /* that write() took: these and no others are ours */
	bool is_split; /* somebody wrote between two pieces */
};
int io_write_placed(int fd, const void *p, size_t n, struct placed *out);
int io_overwrite(int fd, const void *p, size_t n, uint64_t off);
int io_fsync(int fd);
int io_fdatasync(int fd);
int io_ftruncate(int fd, uint64_t size);
int io_flock(int fd, int operation);
int io_sync_dir(const char *dir);

void io_id(const struct stat *st, struct log_id *id);
bool io_same(const struct log_id *a, const struct log_id *b);
/* ERR_UNSUPPORTED, with what it is, for anything but a regular file. */
int io_regular(const struct stat *st, const char *path, struct err *err);
/* stat, open read-only, fstat: never opens what is not a regular file. */
int io_open_regular(const char *path, int *fd, struct log_id *id, struct err *err);
/* 0, or ERR_IO with ENAMETOOLONG. */
int io_path(char out[IO_PATH], const char *path, struct err *err);
int io_printf_path(char out[IO_PATH], struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void io_dir(char out[IO_PATH], const char *path); /* of a path that passed io_path */
int io_no_memory(struct err *err);

/* ---- reader.c ---- */

/* What was to be read had no room: log_reader_trouble tells of it, as of a read that failed. */
int reader_no_memory(const struct log_reader *r, struct err *err);

/* ---- lines.c ---- */

/* Finds lines in the bytes of a reader; `off` is that of the next line. */
struct line_scan {
	char *win;        /* cap + LINE_SLACK bytes */
	size_t cap, n;    /* n of them hold bytes of the file ... */
	uint64_t win_off; /* ... from here on */
	size_t pos;       /* of the next line in the window */
	uint64_t number;  /* of the next line */
	size_t first, max, max_line;
	size_t pause;     /* bytes; 0: never */
	bool is_measuring; /* a long line was begun: then the window is of no more use, */
	uint64_t start;   /* and the line begins here */
	uint64_t work;    /* bytes read so far */
};

void line_init(struct line_scan *ls);
void line_release(struct line_scan *ls);
void line_seek(struct line_scan *ls, uint64_t off, uint64_t number);
uint64_t line_off(const struct line_scan *ls); /* of the next line */
int line_next(
	struct line_scan *ls, const struct log_reader *r, struct log_line *line, struct err *err);
/*
 * From `off` on, where there are bytes that are no hole; the end of the file when there are none,
 * `off` when it can not be known. A hole holds NULs: who looks for anything else need not read it.
 */
uint64_t log_next_data(const struct log_reader *r, uint64_t off);
/* For tests: other window sizes and another limit than LOG_MAX_LINE. */
void log_reader_tune(struct log_reader *r, size_t first, size_t max, size_t max_line);

/* ---- lock.c, lease.c ---- */

/* The exclusive lock on an open file, without waiting; ERR_LOCKED names the holder. */
int lock_take(int fd, const struct log_id *id, const char *path, struct err *err);
/* Does anybody hold such a lock? Only looks. *holder 0: the system does not tell who. */
bool lock_is_held(const struct log_id *id, long *holder);
/*
 * Keep everybody else out of an open file: 0 until lease_give; ERR_LOCKED: another process has it
 * open (another descriptor of this one counts); ERR_UNSUPPORTED: not to be had for this file.
 * Hold it for moments only: who opens the file waits.
 */
int lease_take(int fd, const char *path, struct err *err);
void lease_give(int fd);
/* Does anybody have the file open for writing? `fd` only reads. */
bool lease_has_writer(int fd);

/* ---- beside.c ---- */

/*
 * What stands beside a session: in its folder, no link followed, regular, of the user, root or
 * the folder's owner, and with one name only where it is opened for writing. ERR_UNSUPPORTED
 * says which of these does not hold; ERR_IO with ENOENT: there is none.
 */
int beside_open(const char *path, int flags, mode_t mode, int *fd, struct stat *st, struct err *err);
int beside_open_read(const char *path, int *fd, struct log_id *id, struct err *err);

/* ---- publish.c, replace.c ---- */

enum { PUB_BUFFER = 64 << 10 };
/*
 * What is being made, and what is taken out of a file's place. The first is
 * nobody's when its writer is gone (leftover.c), the second may be all that is
 * left of a file, and is never removed but by the one who took it out.
 */
#define TEMP_END ".tmp"
#define OLD_END  ".old"

struct log_pub {
	int fd;
	bool has_temp, has_failed;
	size_t n; /* bytes in `buffer` */
	struct log_id id;
	char path[IO_PATH], dir[IO_PATH], temp[IO_PATH];
	char buffer[PUB_BUFFER];
};

/* The content is durable under the temporary name after this, and pub->id known. */
int pub_finish(struct log_pub *pub, struct err *err);
/* The mode of the file whose place is to be taken; a missing one leaves 0600. */
int pub_copy_mode(struct log_pub *pub, struct err *err);
/*
 * A finished file takes the place of `expected`, which keeps the name `before`
 * if keeps_old is set or somebody has it open; else it goes and before[0] is
 * '\0'. ERR_CHANGED: another file stands there, and stays there.
 */
int pub_take_place(struct log_pub *pub, const struct log_id *expected, bool keeps_old,
	char before[IO_PATH], struct err *err);

/* ---- the writer: writer.c, change.c, recover.c, takeback.c ---- */

struct log {
	int fd; /* -1: a dry run on a file that does not exist */
	unsigned flags;
	bool is_dry, is_created, is_broken, has_name_synced, has_appended;
	struct log_id id; /* as this handle left the file */
	char path[IO_PATH], dir[IO_PATH];
};

int log_is_broken(const struct log *log, struct err *err);  /* ERR_BROKEN with a sentence */
int log_has_changed(const struct log *log, struct err *err); /* ERR_CHANGED with one */
/* fstat of the open file into log->id. */
int log_look(struct log *log, struct err *err);
/* Does the name still lead to this file? 1: yes, 0: no, or err. */
int log_names(const struct log *log, const struct log_id *id, struct err *err);
/* The open file and the name must both be what `expected` says. */
int log_check_is(const struct log *log, const struct log_id *expected, struct err *err);

/* One change of the file, and what is needed to take it back. */
struct change {
	uint64_t old_size;
	uint64_t base;   /* what is kept; less than old_size when a tail goes */
	bool is_leased;  /* nobody else has the file open */
	bool is_shut;    /* and nobody has since old_size was read */
	bool has_cut;
	bool is_lines;   /* p are lines, and must begin one */
	bool is_tried;   /* write() was called */
	bool is_anew;    /* no lease: a new file takes its place */
	const char *p;   /* what is written, */
	size_t n;
	struct placed put; /* and how much of it where */
	int aside_fd;    /* open on the copy of the tail, -1 without one */
	char aside[IO_PATH], before[IO_PATH];
};

/*
 * Carries it out: p behind base, the tail between cut and set aside. On
 * failure everything is taken back, or the error is ERR_BROKEN.
 */
int change_apply(struct log *log, struct change *ch, struct err *err);
/* Before anything is made of ch: is a lease to be had where one is needed? Chooses the way. */
int change_choose(struct log *log, struct change *ch, bool is_lines, struct err *err);

/*
 * Copy the bytes behind ch->base to a file of their own, whole, durable and
 * compared with the original; open it. Does not touch the log itself. In a dry
 * run only the name is chosen.
 */
int aside_make(const struct log *log, struct change *ch, struct err *err);
/* Are the bytes behind ch->base still those of the copy, and no more? 1, 0, or -1 with errno. */
int aside_is_same(const struct log *log, const struct change *ch);
/* The tail goes back from its copy, by O_APPEND to where it was cut. */
int aside_restore(const struct log *log, const struct change *ch, struct err *err);
/*
 * Put the file back as it was before `ch`. `why` holds the reason. 0, or
 * ERR_BROKEN: the log is of no more use, and `why` says both.
 */
int change_undo(struct log *log, const struct change *ch, struct err *why);

#endif
