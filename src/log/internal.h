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
void io_close(int *fd); /* sets -1; a late error is of no use to anyone (doc/durability.md) */
/* 0 or -1; *got < n only at the end of the file. */
int io_pread(int fd, void *p, size_t n, uint64_t off, size_t *got);
/* The same beside a writer; `known` is the file as it was last seen. */
int io_pread_beside_writer(
	int fd, void *p, size_t n, uint64_t off, size_t *got, const struct log_id *known);
int io_write(int fd, const void *p, size_t n);
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

/* ---- lines.c ---- */

/* Finds lines in the bytes of a reader; `off` is that of the next line. */
struct line_scan {
	char *win;        /* cap + LINE_SLACK bytes */
	size_t cap, n;    /* n of them hold bytes of the file ... */
	uint64_t win_off; /* ... from here on */
	size_t pos;       /* of the next line in the window */
	uint64_t number;  /* of the next line */
	size_t first, max, max_line;
};

void line_init(struct line_scan *ls);
void line_release(struct line_scan *ls);
void line_seek(struct line_scan *ls, uint64_t off, uint64_t number);
int line_next(
	struct line_scan *ls, const struct log_reader *r, struct log_line *line, struct err *err);
/* For tests: other window sizes and another limit than LOG_MAX_LINE. */
void log_reader_tune(struct log_reader *r, size_t first, size_t max, size_t max_line);

/* ---- lock.c ---- */

/* The exclusive lock on an open file, without waiting; ERR_LOCKED names the holder. */
int lock_take(int fd, const struct log_id *id, const char *path, struct err *err);

/* ---- the writer: writer.c, recover.c ---- */

struct log {
	int fd; /* -1: a dry run on a file that does not exist */
	bool is_dry, is_created, is_broken, has_name_synced, has_appended;
	struct log_id id; /* as this handle left the file */
	char path[IO_PATH], dir[IO_PATH];
};

/* One change of the file, and what is needed to take it back. */
struct change {
	uint64_t old_size;
	uint64_t base;  /* where records go: old_size, or less when a tail is cut */
	uint64_t added; /* bytes that are written at base */
	bool has_cut;
	int aside_fd; /* open on the copy of the tail, -1 without one */
	char aside[IO_PATH];
};

/*
 * Copy the bytes behind ch->base to a file of their own, whole, durable and
 * compared with the original; open it. Does not touch the log itself. In a dry
 * run only the name is chosen.
 */
int aside_make(const struct log *log, struct change *ch, struct err *err);
/*
 * Put the file back as it was before `ch`. `why` holds the reason. 0, or
 * ERR_BROKEN: the log is of no more use, and `why` says both.
 */
int change_undo(struct log *log, const struct change *ch, struct err *why);

#endif
