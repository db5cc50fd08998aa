/*
 * reader.c - passive reading: open, look again, read at an offset, read whole
 * small files, and the comparison by which changes are seen. Nothing in here
 * writes, locks or waits.
 */
#include "config.h"

#include "log/internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct log_reader {
	int fd; /* -1: given back, see log_reader_let_go */
	bool is_beside;
	_Atomic int error; /* errno of the first read that failed */
	struct log_id id;
	struct line_scan lines;
	char path[IO_PATH];
};

int log_stat(const char *path, struct log_id *out, struct err *err)
{
	struct stat st;

	memset(out, 0, sizeof(*out));
	if (io_stat(path, &st) == 0) {
		io_id(&st, out);
		return 0;
	}
	if (errno == ENOENT || errno == ENOTDIR)
		return 0;
	return err_sys(err, "look at %s", path);
}

enum log_change log_compare(const struct log_id *before, const struct log_id *now)
{
	if (!now->exists)
		return before->exists ? LOG_GONE : LOG_SAME;
	if (!before->exists || before->dev != now->dev || before->ino != now->ino)
		return LOG_REPLACED;
	if (now->size > before->size)
		return LOG_GREW;
	if (now->size < before->size || now->mtime_ns != before->mtime_ns)
		return LOG_REWRITTEN;
	return LOG_SAME;
}

static int open_file(struct log_reader *r, int *fd, struct log_id *id, struct err *err)
{
	return r->is_beside ? beside_open_read(r->path, fd, id, err)
			    : io_open_regular(r->path, fd, id, err);
}

static int open_as(struct log_reader **out, const char *path, bool is_beside, struct err *err)
{
	struct log_reader *r;
	int rc;

	*out = NULL;
	r = sys->malloc(sizeof(*r));
	if (!r)
		return io_no_memory(err);
	r->fd = -1;
	r->is_beside = is_beside;
	r->error = 0;
	line_init(&r->lines);
	rc = io_path(r->path, path, err);
	if (rc == 0)
		rc = open_file(r, &r->fd, &r->id, err);
	if (rc < 0) {
		log_reader_close(&r);
		return rc;
	}
	*out = r;
	return 0;
}

int log_reader_open(struct log_reader **out, const char *path, struct err *err)
{
	return open_as(out, path, false, err);
}

int log_reader_open_beside(struct log_reader **out, const char *path, struct err *err)
{
	return open_as(out, path, true, err);
}

void log_reader_let_go(struct log_reader *r)
{
	io_close(&r->fd);
}

/* The same file, not one that was put in its place: offsets are meant for that one. */
void log_reader_take_up(struct log_reader *r)
{
	struct log_id id;

	if (r->fd >= 0 || open_file(r, &r->fd, &id, NULL) < 0)
		return;
	if (id.dev != r->id.dev || id.ino != r->id.ino)
		io_close(&r->fd);
}

const char *log_reader_trouble(const struct log_reader *r)
{
	return r->error ? strerror(r->error) : NULL;
}

bool log_reader_has_writer(const struct log_reader *r)
{
	return r->fd >= 0 && lease_has_writer(r->fd);
}

/* Reads may come from several threads: the first failure stays. */
static void note_error(const struct log_reader *r, int error)
{
	int none = 0;

	atomic_compare_exchange_strong(&((struct log_reader *)r)->error, &none, error);
}

static int fail_read(const struct log_reader *r, struct err *err)
{
	if (r->fd < 0)
		return err_set(err, ERR_CHANGED, "%s is not the file that was read", r->path);
	note_error(r, errno);
	return err_sys(err, "read %s", r->path);
}

int reader_no_memory(const struct log_reader *r, struct err *err)
{
	note_error(r, ENOMEM);
	return io_no_memory(err);
}

void log_reader_close(struct log_reader **r)
{
	if (!*r)
		return;
	io_close(&(*r)->fd);
	line_release(&(*r)->lines);
	free(*r);
	*r = NULL;
}

const struct log_id *log_reader_id(const struct log_reader *r)
{
	return &r->id;
}

static int reopen(struct log_reader *r, struct err *err)
{
	struct log_id id;
	int fd, rc = open_file(r, &fd, &id, err);

	if (rc < 0)
		return rc;
	io_close(&r->fd);
	r->fd = fd;
	r->id = id;
	r->error = 0;
	line_seek(&r->lines, 0, 1);
	return 0;
}

int log_reader_refresh(struct log_reader *r, enum log_change *change, struct err *err)
{
	struct log_id now;
	int rc = r->is_beside ? log_stat_beside(r->path, &now, err) : log_stat(r->path, &now, err);

	if (rc < 0)
		return rc;
	*change = log_compare(&r->id, &now);
	if (r->fd < 0 && (*change == LOG_SAME || *change == LOG_GREW))
		*change = LOG_REPLACED; /* it could not be taken up */
	switch (*change) {
	case LOG_GREW:
		r->id = now;
		/* The writer may have cut a tail first: bytes behind the last record are not kept. */
		line_seek(&r->lines, line_off(&r->lines), r->lines.number);
		break;
	case LOG_REWRITTEN:
	case LOG_REPLACED:
		rc = reopen(r, err);
		break;
	case LOG_SAME:
	case LOG_GONE:
		break;
	}
	return rc;
}

int log_pread(
	const struct log_reader *r, uint64_t off, void *buf, size_t n, size_t *got, struct err *err)
{
	if (off > INT64_MAX || n > INT64_MAX - off)
		return err_set(err, ERR_LIMIT, "read %s: no such offset", r->path);
	if (r->fd < 0 || io_pread_beside_writer(r->fd, buf, n, off, got, &r->id) < 0)
		return fail_read(r, err);
	return 0;
}

uint64_t log_next_data(const struct log_reader *r, uint64_t off)
{
	off_t data;

	if (r->fd < 0 || off >= r->id.size || off > INT64_MAX)
		return off;
	data = sys->next_data(r->fd, (off_t)off);
	if (data < 0)
		return errno == ENXIO ? r->id.size : off;
	return (uint64_t)data < r->id.size ? (uint64_t)data : r->id.size;
}

void log_set_pause(struct log_reader *r, size_t bytes)
{
	r->lines.pause = bytes;
}

uint64_t log_work(const struct log_reader *r)
{
	return r->lines.work;
}

void log_small_windows(struct log_reader *r, size_t bytes)
{
	r->lines.first = r->lines.max = bytes;
}

void log_seek_line(struct log_reader *r, uint64_t off, uint64_t number)
{
	line_seek(&r->lines, off, number);
}

int log_next_line(struct log_reader *r, struct log_line *line, struct err *err)
{
	return line_next(&r->lines, r, line, err);
}

void log_reader_tune(struct log_reader *r, size_t first, size_t max, size_t max_line)
{
	uint64_t off = line_off(&r->lines), number = r->lines.number;

	line_release(&r->lines);
	line_seek(&r->lines, off, number);
	r->lines.first = first;
	r->lines.max = max;
	r->lines.max_line = max_line;
}

/* Reads to the end even when the file grows meanwhile; the id is that from before. */
static int read_rest(int fd, const char *path, size_t cap, struct buf *out, struct err *err)
{
	size_t total = 0, got;

	do {
		size_t room = out->cap > out->n + 1 ? out->cap - out->n - 1 : 0;

		if (room == 0) {
			if (sys->reserve(out, IO_CHUNK) < 0)
				return io_no_memory(err);
			continue;
		}
		if (io_pread(fd, out->p + out->n, room, total, &got) < 0)
			return err_sys(err, "read %s", path);
		out->n += got;
		out->p[out->n] = '\0';
		total += got;
		if (total > cap)
			return err_set(err, ERR_LIMIT, "%s is larger than %zu bytes", path, cap);
		if (got < room)
			break;
	} while (true);
	return 0;
}

static int read_small(const char *path, bool is_beside, size_t cap, struct buf *out,
	struct log_id *id, struct err *err)
{
	struct log_id found;
	size_t before = out->n;
	int fd, rc = is_beside ? beside_open_read(path, &fd, &found, err)
			       : io_open_regular(path, &fd, &found, err);

	if (rc < 0)
		return rc;
	if (found.size > cap)
		rc = err_set(err, ERR_LIMIT, "%s is larger than %zu bytes", path, cap);
	/* One byte more than its size: the read that meets the end needs no second one. */
	else if (sys->reserve(out, (size_t)found.size + 1) < 0)
		rc = io_no_memory(err);
	else
		rc = read_rest(fd, path, cap, out, err);
	io_close(&fd);
	if (rc < 0) {
		out->n = before;
		if (out->p)
			out->p[before] = '\0';
	} else if (id) {
		*id = found;
	}
	return rc;
}

int log_read_file(const char *path, size_t cap, struct buf *out, struct log_id *id, struct err *err)
{
	return read_small(path, false, cap, out, id, err);
}

int log_read_beside(
	const char *path, size_t cap, struct buf *out, struct log_id *id, struct err *err)
{
	return read_small(path, true, cap, out, id, err);
}
