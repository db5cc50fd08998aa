/*
 * frames-read.c - going back to text that was decoded before: one frame is
 * decoded again, and what stands around the newest place is kept. Of a large
 * frame a window is kept, and reading on decodes on. Also what a torn frame
 * still gives.
 */
#include "config.h"

#include "log/frames-internal.h"

#include <stdlib.h>
#include <string.h>

enum { RECOVER_MAX = 64 << 20 };

void back_release(struct log_frames *f)
{
	ZSTD_freeDCtx(f->back.dctx);
	stored_release(&f->back.stored);
	free(f->back.p);
	memset(&f->back, 0, sizeof(f->back));
}

/* The frame that holds a text offset: the last that begins at or before it. */
static size_t frame_at(const struct log_frames *f, uint64_t off)
{
	size_t lo = 0, hi = f->n;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->index[mid].text_off <= off)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static int prepare(struct log_frames *f, size_t cap, struct err *err)
{
	if (!f->back.dctx) {
		f->back.dctx = frames_dctx(&f->caps);
		f->back.stored.reader = f->reader;
	}
	if (!f->back.dctx)
		return reader_no_memory(f->reader, err);
	if (cap > f->back.cap) {
		char *p = sys->realloc(f->back.p, cap);

		if (!p)
			return reader_no_memory(f->reader, err);
		f->back.p = p;
		f->back.cap = cap;
	}
	return 0;
}

/* The next piece of the open frame into the window. */
static int read_piece(struct log_frames *f, size_t n, struct err *err)
{
	const struct log_frame *fr = &f->index[f->back.frame];
	size_t got;
	int rc;

	f->back.off = fr->text_off + f->back.stream.text;
	f->back.n = 0;
	rc = stream_read(&f->back.stream, f->back.dctx, &f->back.stored, f->back.p, n, &got, err);
	if (rc < 0) {
		f->back.is_open = false;
		return rc;
	}
	f->back.n = got;
	if (got == 0) {
		f->back.is_open = false;
		return err_set(err, ERR_CHANGED, "the frame at byte %llu is not what it was",
			(unsigned long long)fr->off);
	}
	return 0;
}

/* Brings the window over `off`, which lies in frame i. */
static int load(struct log_frames *f, size_t i, uint64_t off, struct err *err)
{
	const struct log_frame *fr = &f->index[i];
	bool is_small = fr->text_len <= WHOLE_TEXT;
	size_t piece = is_small ? fr->text_len : PIECE_TEXT;
	int rc = prepare(f, piece, err);

	if (rc < 0)
		return rc;
	if (!f->back.is_open || f->back.frame != i || off < f->back.off) {
		stream_begin(&f->back.stream, f->back.dctx, fr->off, fr->len);
		f->back.frame = i;
		f->back.is_open = true;
		f->back.off = fr->text_off;
		f->back.n = 0;
	}
	while (rc == 0 && off >= f->back.off + f->back.n)
		rc = read_piece(f, piece, err);
	return rc;
}

int log_frames_pread(
	struct log_frames *f, uint64_t text_off, void *p, size_t n, size_t *got, struct err *err)
{
	char *to = p;

	*got = 0;
	while (*got < n && f->n) {
		uint64_t off = text_off + *got;
		size_t i = frame_at(f, off), have, skip;
		int rc;

		if (off < f->index[i].text_off ||
			off - f->index[i].text_off >= f->index[i].text_len)
			break;
		if (!f->back.n || off < f->back.off || off - f->back.off >= f->back.n) {
			rc = load(f, i, off, err);
			if (rc < 0)
				return rc;
		}
		skip = (size_t)(off - f->back.off);
		have = f->back.n - skip;
		if (have > n - *got)
			have = n - *got;
		memcpy(to + *got, f->back.p + skip, have);
		*got += have;
	}
	return 0;
}

int log_frames_peek(
	const struct log_frames *f, uint64_t off, void *p, size_t n, size_t *got, struct err *err)
{
	return log_pread(f->reader, off, p, n, got, err);
}

int log_frames_recover(struct log_frames *f, struct buf *text, struct err *err)
{
	struct frame_stream fs;
	size_t before = text->n, got;
	int rc = 0;

	if (f->end.state != FRAMES_TORN)
		return 0;
	rc = prepare(f, 1, err);
	if (rc < 0)
		return rc;
	f->back.is_open = false;
	f->back.n = 0;
	stream_begin(&fs, f->back.dctx, f->end.off, f->end.length);
	do {
		if (sys->reserve(text, PIECE_TEXT) < 0)
			return reader_no_memory(f->reader, err);
		rc = stream_read(&fs, f->back.dctx, &f->back.stored, text->p + text->n, PIECE_TEXT,
			&got, err);
		text->n += rc == 0 ? got : 0;
	} while (rc == 0 && got == PIECE_TEXT && text->n - before < RECOVER_MAX);
	if (rc < 0 || fs.reason)
		text->n = before;
	if (text->p)
		text->p[text->n] = '\0';
	return rc;
}

struct log_reader *log_frames_reader(const struct log_frames *f)
{
	return f->reader;
}
