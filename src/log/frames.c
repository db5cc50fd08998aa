/*
 * frames.c - the text of a file of zstd frames, as lines. Owns the window over
 * the decoded text and the index of frames; which bytes are a frame is
 * frames-scan.c's, what they decode to frames-decode.c's.
 *
 * A frame of ordinary size is checked whole before the first line of it is
 * given. One that may hold more than WHOLE_TEXT is given in pieces while it is
 * decoded, so that memory stays bounded: when its damage shows only at the
 * end, lines of it are out already, and log_frames_end tells.
 */
#include "config.h"

#include "log/frames-internal.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 16 }; /* a log of much damage shall not start one after the other */

#define DEFAULT_FRAME_TEXT ((uint64_t)256 << 20)
#define DEFAULT_TEXT       ((uint64_t)8 << 30)

int log_frames_open(struct log_frames **out, const char *path, const struct log_frames_caps *caps,
	struct err *err)
{
	struct log_frames *f = sys->malloc(sizeof(*f));
	int rc;

	*out = NULL;
	if (!f)
		return io_no_memory(err);
	memset(f, 0, sizeof(*f));
	if (caps)
		f->caps = *caps;
	if (!f->caps.frame_text)
		f->caps.frame_text = DEFAULT_FRAME_TEXT;
	if (!f->caps.text)
		f->caps.text = DEFAULT_TEXT;
	f->number = 1;
	rc = log_reader_open(&f->reader, path, err);
	if (rc == 0) {
		f->dctx = frames_dctx(&f->caps);
		rc = f->dctx ? 0 : io_no_memory(err);
	}
	if (rc < 0) {
		log_frames_close(&f);
		return rc;
	}
	f->stored.reader = f->reader;
	*out = f;
	return 0;
}

void log_frames_close(struct log_frames **f)
{
	if (!*f)
		return;
	ahead_stop(&(*f)->ahead);
	back_release(*f);
	log_reader_close(&(*f)->reader);
	stored_release(&(*f)->stored);
	ZSTD_freeDCtx((*f)->dctx);
	free((*f)->index);
	free((*f)->text);
	free(*f);
	*f = NULL;
}

const struct log_id *log_frames_id(const struct log_frames *f)
{
	return log_reader_id(f->reader);
}

static int resume_stream(struct log_frames *f, struct err *err);

static void rewind_all(struct log_frames *f)
{
	f->n = 0;
	f->next = 0;
	f->in_stream = f->in_large = false;
	f->n_text = f->pos = f->seen = 0;
	f->text_off = 0;
	f->number = 1;
	f->dropped = 0;
	f->is_dropping = f->has_gap = f->after_damage = f->lost.is_on = false;
	f->end = (struct log_frames_end){ .state = FRAMES_WHOLE };
}

int log_frames_refresh(struct log_frames *f, enum log_change *change, struct err *err)
{
	int rc;

	ahead_stop(&f->ahead); /* it reads through the descriptor that may be closed now */
	if (f->in_large) {
		rc = resume_stream(f, err);
		if (rc < 0)
			return rc;
	}
	rc = log_reader_refresh(f->reader, change, err);

	if (rc < 0 || *change == LOG_SAME || *change == LOG_GONE)
		return rc;
	f->stored.n = 0; /* the writer may have cut a tail first */
	back_release(f);
	f->at_end = f->gave_rest = false;
	f->look.shape = SHAPE_END;
	f->lost.search = (struct frame_search){ .at = f->lost.off + 1, .cap = f->caps.frame_text };
	if (*change != LOG_GREW)
		rewind_all(f);
	else if (f->end.state == FRAMES_TORN)
		f->end.state = FRAMES_WHOLE;
	return 0;
}

/* ---- the text at hand ---- */

/* Room for `more` bytes behind the text, and the slack that log_line promises. */
static int make_room(struct log_frames *f, size_t more, struct err *err)
{
	size_t have = f->n_text - f->pos, cap = f->text_cap ? f->text_cap : PIECE_TEXT;
	char *p;

	if (f->pos) {
		memmove(f->text, f->text + f->pos, have);
		f->text_off += f->pos;
		f->seen -= f->pos;
		f->n_text = have;
		f->pos = 0;
	}
	if (f->text_cap - f->n_text >= more)
		return 0;
	while (cap - f->n_text < more)
		cap *= 2;
	p = sys->realloc(f->text, cap + LINE_SLACK);
	if (!p)
		return io_no_memory(err);
	f->text = p;
	f->text_cap = cap;
	return 0;
}

static uint64_t text_end(const struct log_frames *f)
{
	return f->text_off + f->n_text;
}

static void note_damage(struct log_frames *f, uint64_t off, uint64_t length, const char *reason)
{
	f->has_gap = true;
	if (f->end.state == FRAMES_CORRUPT)
		return;
	f->end.state = FRAMES_CORRUPT;
	f->end.off = off;
	f->end.length = length;
	f->end.reason = reason;
}

/*
 * It is not known yet where the next good frame stands: nothing is taken until
 * it is. A length inside the lost one may be what is wrong, so that none is trusted.
 */
static void begin_search(struct log_frames *f, uint64_t off, bool is_torn, const char *reason)
{
	f->lost.is_on = true;
	f->lost.is_torn = is_torn;
	f->lost.off = off;
	f->lost.reason = reason;
	f->lost.search = (struct frame_search){ .at = off + 1, .cap = f->caps.frame_text };
}

/*
 * The file ends inside this frame. When a good frame follows all the same,
 * a length in it is wrong: then it is damaged, and nothing of it may be cut.
 */
static void end_torn(struct log_frames *f, uint64_t found, bool gave_up)
{
	uint64_t off = f->lost.off, size = log_frames_id(f)->size;

	if (gave_up) { /* a good one may be among them: nothing may be cut */
		note_damage(f, off, size - off,
			"too much in it looks like the beginning of a frame");
		f->end.gave_up = f->at_end = true;
		return;
	}
	if (found < size) {
		note_damage(f, off, found - off, "its blocks reach over the frames behind it");
		f->next = found;
		return;
	}
	if (f->end.state != FRAMES_CORRUPT) {
		f->end.state = FRAMES_TORN;
		f->end.off = off;
		f->end.length = size - off;
		f->end.reason = "the file ends inside it";
	}
	f->at_end = true;
}

static int search_on(struct log_frames *f, struct err *err)
{
	uint64_t found;
	int rc = make_room(f, PIECE_TEXT, err);

	if (rc == 0)
		rc = frame_find(&f->stored, &f->lost.search, log_frames_id(f)->size, f->dctx,
			f->text + f->n_text, &found, err);
	if (rc < 0 || rc == FIND_MORE)
		return rc < 0 ? rc : 0;
	f->lost.is_on = false;
	if (f->lost.is_torn) {
		end_torn(f, found, rc == FIND_GAVE_UP);
		return 0;
	}
	f->next = found;
	note_damage(f, f->lost.off, found - f->lost.off, f->lost.reason);
	f->end.gave_up = f->end.gave_up || rc == FIND_GAVE_UP;
	return 0;
}

static int add_frame(struct log_frames *f, uint64_t off, uint64_t len, uint64_t text_off,
	uint64_t text_len, struct err *err)
{
	if (f->n == f->cap) {
		size_t cap = f->cap ? 2 * f->cap : 64;
		struct log_frame *p = sys->realloc(f->index, cap * sizeof(*p));

		if (!p)
			return io_no_memory(err);
		f->index = p;
		f->cap = cap;
	}
	f->index[f->n++] = (struct log_frame){ off, text_off, (uint32_t)len, (uint32_t)text_len };
	return 0;
}

/* A whole good frame was taken: everything up to here is committed unless damage came before. */
static void commit(struct log_frames *f)
{
	if (f->end.state == FRAMES_CORRUPT)
		return;
	f->end.committed = f->next;
	f->end.text = text_end(f);
}

static int take_small(struct log_frames *f, const struct frame_look *look, struct err *err)
{
	size_t room = (size_t)look->nblocks * BLOCK_TEXT, got;
	const char *reason;
	int rc = make_room(f, room, err);

	if (rc == 0)
		rc = frame_whole(
			f->dctx, &f->stored, look, f->text + f->n_text, room, &got, &reason, err);
	if (rc < 0)
		return rc;
	if (!reason && got > f->caps.frame_text)
		reason = "it holds more text than one frame may";
	if (reason) {
		begin_search(f, look->off, false, reason);
		return 0;
	}
	f->next = look->off + look->len;
	rc = add_frame(f, look->off, look->len, text_end(f), got, err);
	f->n_text += got;
	commit(f);
	return rc;
}

static void end_stream(struct log_frames *f, const char *reason)
{
	struct log_frame *fr = &f->index[f->n - 1];

	fr->text_len = (uint32_t)f->stream.text;
	f->in_stream = f->in_large = false;
	if (reason) {
		ahead_stop(&f->ahead); /* where to go on is found here */
		begin_search(f, fr->off, false, reason);
		return;
	}
	f->next = fr->off + fr->len;
	commit(f);
}

static int take_piece(struct log_frames *f, struct err *err)
{
	size_t got;
	int rc = make_room(f, PIECE_TEXT, err);

	if (rc == 0)
		rc = stream_read(&f->stream, f->dctx, &f->stored, f->text + f->n_text, PIECE_TEXT,
			&got, err);
	if (rc < 0)
		return rc;
	f->n_text += got;
	f->index[f->n - 1].text_len = (uint32_t)f->stream.text;
	if (f->stream.text > f->caps.frame_text)
		end_stream(f, "it holds more text than one frame may");
	else if (f->stream.reason || f->stream.is_done)
		end_stream(f, f->stream.reason);
	else if (got < PIECE_TEXT)
		end_stream(f, "its blocks end before it does");
	return 0;
}

static int take_large(struct log_frames *f, const struct frame_look *look, struct err *err)
{
	int rc = add_frame(f, look->off, look->len, text_end(f), 0, err);

	if (rc < 0)
		return rc;
	stream_begin(&f->stream, f->dctx, look->off, look->len);
	f->in_stream = true;
	return take_piece(f, err);
}

/* A skippable frame has a length of its own. */
static void take_bad(struct log_frames *f, const struct frame_look *look)
{
	if (!look->len) {
		begin_search(f, look->off, false, look->reason);
		return;
	}
	note_damage(f, look->off, look->len, look->reason);
	f->next = look->off + look->len;
}

/* ---- frames that were decoded ahead ---- */

/* The thread left off inside a large frame: decode up to there again, and on from there. */
static int resume_stream(struct log_frames *f, struct err *err)
{
	const struct log_frame *fr = &f->index[f->n - 1];
	uint64_t done = f->stream.text;
	size_t got;
	int rc = make_room(f, PIECE_TEXT, err);

	if (rc < 0)
		return rc;
	stream_begin(&f->stream, f->dctx, fr->off, fr->len);
	f->in_stream = true;
	f->in_large = false;
	while (rc == 0 && f->stream.text < done) {
		uint64_t left = done - f->stream.text;

		rc = stream_read(&f->stream, f->dctx, &f->stored, f->text + f->n_text,
			left < PIECE_TEXT ? (size_t)left : PIECE_TEXT, &got, err);
		if (rc == 0 && got == 0)
			rc = err_set(err, ERR_CHANGED, "the log changed while it was read");
	}
	return rc;
}

static int take_ahead(struct log_frames *f, const struct ahead_piece *piece, struct err *err)
{
	int rc = make_room(f, piece->n, err);

	if (rc == 0 && piece->is_first) {
		rc = add_frame(f, piece->off, piece->len, text_end(f), 0, err);
		f->stream.text = 0;
		f->in_large = true;
	}
	if (rc < 0)
		return rc;
	memcpy(f->text + f->n_text, piece->text, piece->n);
	f->n_text += piece->n;
	f->stored.work += piece->n;
	f->stream.text += piece->n;
	f->index[f->n - 1].text_len = (uint32_t)f->stream.text;
	if (f->stream.text > f->caps.frame_text)
		end_stream(f, "it holds more text than one frame may");
	else if (piece->is_last)
		end_stream(f, piece->reason);
	return 0;
}

/* 1: more text came from the thread, 0: there is none. */
static int try_ahead(struct log_frames *f, uint64_t size, struct err *err)
{
	struct ahead_piece piece;
	int rc = 0;

	/* The first frame is looked at alone: of many logs nobody wants more. */
	if (!f->ahead && f->n && size > f->next && size - f->next >= AHEAD_LEAST &&
		f->threads < THREADS_MAX) {
		f->ahead = ahead_start(f->reader, &f->caps, f->next, size);
		f->threads++;
	}
	if (!f->ahead)
		return 0;
	if (text_end(f) >= f->caps.text && !f->in_large) {
		ahead_stop(&f->ahead);
		return 0;
	}
	if (ahead_next(&f->ahead, &piece))
		rc = take_ahead(f, &piece, err);
	else if (f->in_large)
		rc = resume_stream(f, err);
	else
		return 0;
	return rc < 0 ? rc : 1;
}

/* More text; at_end when there is none. */
static int take_frame(struct log_frames *f, struct err *err)
{
	uint64_t size = log_frames_id(f)->size;
	struct frame_look look = f->look;
	int rc;

	if (f->lost.is_on)
		return search_on(f, err);
	if (f->in_stream)
		return take_piece(f, err);
	rc = look.shape == SHAPE_LONG ? 0 : try_ahead(f, size, err);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = look.shape == SHAPE_LONG ? frame_look_on(&f->stored, size, &look, err)
				      : frame_look(&f->stored, f->next, size, &look, err);
	f->look = look;
	if (rc < 0)
		return rc;
	switch (look.shape) {
	case SHAPE_END:
		f->at_end = true;
		return 0;
	case SHAPE_LONG:
		return 0;
	case SHAPE_TORN:
		begin_search(f, look.off, true, NULL);
		return 0;
	case SHAPE_BAD:
		take_bad(f, &look);
		return 0;
	case SHAPE_FRAME:
		break;
	}
	if (text_end(f) >= f->caps.text) {
		note_damage(f, f->next, size - f->next, "the text is larger than the limit");
		f->at_end = true;
		return 0;
	}
	return frame_is_small(&look) ? take_small(f, &look, err) : take_large(f, &look, err);
}

/* ---- lines ---- */

static int give(
	struct log_frames *f, struct log_line *line, size_t n, bool ended, bool *after_damage)
{
	*line = (struct log_line){ .p = f->text + f->pos,
		.n = n,
		.off = f->text_off + f->pos,
		.number = f->number,
		.ended = ended };
	if (f->is_dropping) { /* the rest of a line whose beginning is gone */
		line->p = NULL;
		line->n += f->dropped;
		line->off -= f->dropped;
		line->too_long = true;
	}
	*after_damage = f->after_damage;
	return 1;
}

static void pass_line(struct log_frames *f, size_t n)
{
	f->pos += n;
	f->seen = f->pos;
	f->number++;
	f->dropped = 0;
	f->is_dropping = f->after_damage = false;
}

/* What stands before the end or before damage, without a newline. */
static int give_rest(struct log_frames *f, struct log_line *line, bool *after_damage)
{
	size_t n = f->n_text - f->pos;

	give(f, line, n, false, after_damage);
	f->text[f->n_text] = '\n';
	memset(f->text + f->n_text + 1, 0, LINE_SLACK - 1);
	return 1;
}

static void drop_long_line(struct log_frames *f)
{
	size_t n = f->n_text - f->pos;

	if (n <= LOG_MAX_LINE && !f->is_dropping)
		return;
	f->is_dropping = true;
	f->dropped += n;
	f->pos = f->seen = f->n_text;
}

int log_frames_next_line(
	struct log_frames *f, struct log_line *line, bool *after_damage, struct err *err)
{
	uint64_t begun = f->stored.work;

	for (;;) {
		const char *nl = NULL;
		bool has_rest;
		int rc;

		if (f->seen < f->n_text)
			nl = memchr(f->text + f->seen, '\n', f->n_text - f->seen);
		if (nl) {
			size_t n = (size_t)(nl - f->text) - f->pos;

			give(f, line, n, true, after_damage);
			pass_line(f, n + 1);
			return 1;
		}
		f->seen = f->n_text;
		has_rest = f->pos < f->n_text || f->is_dropping;
		if (f->has_gap) {
			f->has_gap = false;
			drop_long_line(f);
			if (has_rest) {
				give_rest(f, line, after_damage);
				pass_line(f, f->n_text - f->pos);
			}
			f->after_damage = true;
			if (has_rest)
				return 1;
		}
		if (f->at_end) {
			if (!has_rest || f->gave_rest)
				return 0;
			f->gave_rest = true; /* and again, whole, when the file has grown */
			return give_rest(f, line, after_damage);
		}
		drop_long_line(f);
		if (f->pause && f->stored.work - begun >= f->pause)
			return LOG_PAUSED;
		rc = take_frame(f, err);
		if (rc < 0)
			return rc;
	}
}

void log_frames_set_pause(struct log_frames *f, size_t bytes)
{
	f->pause = bytes;
}

uint64_t log_frames_work(const struct log_frames *f)
{
	return f->stored.work;
}

void log_frames_end(const struct log_frames *f, struct log_frames_end *out)
{
	*out = f->end;
}

const struct log_frame *log_frames_index(const struct log_frames *f, size_t *n)
{
	*n = f->n;
	return f->index;
}
