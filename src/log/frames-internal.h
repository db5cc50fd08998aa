/*
 * frames-internal.h - what the files behind frames.h share.
 *
 * frames-scan.c finds frames without decompressing, frames-decode.c turns one
 * into text, frames.c joins the text and gives its lines, frames-read.c goes
 * back to single frames.
 */
#ifndef BOUGH_LOG_FRAMES_INTERNAL_H
#define BOUGH_LOG_FRAMES_INTERNAL_H

#include <zstd.h>

#include "log/frames.h"
#include "log/internal.h"

enum {
	STORED_WINDOW = 256 << 10, /* bytes of the file at hand; grows to STORED_MAX */
	STORED_MAX = 2 << 20,
	BLOCK_TEXT = 128 << 10, /* the most text that one block can give */
	WHOLE_TEXT = 4 << 20,   /* a frame that can not give more is decoded in one piece */
	PIECE_TEXT = 256 << 10, /* of a larger one */
	STINT = 4 << 20         /* a walk and a search look at so many bytes in one call */
};

/* A window over the stored bytes. */
struct stored {
	const struct log_reader *reader;
	char *p;
	size_t cap, n;
	uint64_t off;
	uint64_t work; /* bytes read, and bytes decoded out of them */
};

/* At least `want` bytes at `off` unless the file ends before; *n may be more. want <= STORED_MAX. */
int stored_get(
	struct stored *st, uint64_t off, size_t want, const char **p, size_t *n, struct err *err);
void stored_release(struct stored *st);

enum frame_shape {
	SHAPE_FRAME,
	SHAPE_END,
	SHAPE_TORN,
	SHAPE_BAD,
	SHAPE_LONG /* so far a frame, and long: frame_look_on tells */
};

struct frame_look {
	enum frame_shape shape;
	uint64_t off, len; /* a bad one: what is known to belong to it, or 0 */
	uint64_t nblocks;
	uint64_t at; /* of a long one: the next block */
	bool has_checksum;
	const char *reason; /* of a bad one */
};

/* What stands at `off` of a file that ends at `end`. */
int frame_look(
	struct stored *st, uint64_t off, uint64_t end, struct frame_look *out, struct err *err);
/* The same look goes on, as far again. */
int frame_look_on(struct stored *st, uint64_t end, struct frame_look *look, struct err *err);

/* One frame being decoded in pieces. */
struct frame_stream {
	uint64_t at, end; /* stored bytes not yet taken */
	uint64_t text;    /* bytes given so far */
	bool is_done;
	const char *reason; /* it is damaged, and why; NULL while it is good */
};

/* Zeroed but for `at`, where it begins, and `cap`. */
struct frame_search {
	uint64_t at, cap; /* cap: more text than this is not looked at in one frame */
	int tries;
	struct frame_look look; /* of a place that looks like a frame */
	struct frame_stream stream;
	enum { SEARCH_MAGIC, SEARCH_LOOK, SEARCH_DECODE } state;
};
/*
 * The first offset from there on where a whole frame that decodes begins; `end`
 * when there is none, or when so many places looked like one that the search
 * was given up: then FIND_GAVE_UP is returned. FIND_MORE: nothing so far, call
 * again. `dctx` and `room` (PIECE_TEXT bytes) are borrowed, dctx until the end.
 */
enum { FIND_GAVE_UP = 1, FIND_MORE = 2 };
int frame_find(struct stored *st, struct frame_search *fs, uint64_t end, ZSTD_DCtx *dctx, char *room,
	uint64_t *found, struct err *err);

void stream_begin(struct frame_stream *fs, ZSTD_DCtx *dctx, uint64_t off, uint64_t len);
/*
 * Fills p up to n bytes; *got < n only at the end of the frame (is_done), at
 * damage (reason), or where the stored bytes end inside it (neither).
 */
int stream_read(struct frame_stream *fs, ZSTD_DCtx *dctx, struct stored *st, char *p, size_t n,
	size_t *got, struct err *err);
/* The same for a frame that is small: all of its text at once, or `reason`. */
int frame_whole(ZSTD_DCtx *dctx, struct stored *st, const struct frame_look *look, char *p,
	size_t room, size_t *got, const char **reason, struct err *err);
bool frame_is_small(const struct frame_look *look);

/*
 * frames-ahead.c: a thread that decodes the frames behind the one being read,
 * a few steps ahead. It only ever hands on text of good frames; at anything
 * else it stops, and the reader looks at that frame itself.
 */
struct ahead;

struct ahead_piece {
	uint64_t off, len; /* of the frame */
	bool is_first, is_last;
	const char *text;
	size_t n;
	const char *reason; /* a large frame turned out damaged behind this piece */
};

enum { AHEAD_LEAST = 4 << 20 }; /* stored bytes for which a thread is worth while */

/* NULL where there can be no thread: then everything is decoded as it is read. */
struct ahead *ahead_start(const struct log_reader *reader, const struct log_frames_caps *caps,
	uint64_t off, uint64_t end);
/* The next piece, valid until the next call; false: it has stopped, and is gone (*a NULL). */
bool ahead_next(struct ahead **a, struct ahead_piece *piece);
void ahead_stop(struct ahead **a);

struct log_frames {
	struct log_reader *reader;
	struct log_frames_caps caps;
	struct stored stored;
	ZSTD_DCtx *dctx;

	struct log_frame *index;
	size_t n, cap;
	uint64_t next; /* of the file: where the next frame begins */
	struct frame_stream stream;
	bool in_stream; /* a large frame is half decoded */
	struct frame_look look;   /* of a long frame, half walked */
	struct {
		bool is_on, is_torn;
		uint64_t off;
		const char *reason;
		struct frame_search search;
	} lost; /* damage, or a torn frame: where is the next good one? */
	size_t pause;
	struct ahead *ahead;
	bool in_large;    /* a large frame is half taken from it */
	unsigned threads; /* started so far */

	/* The text that is at hand: bytes [pos, n_text) are not yet given. */
	char *text;
	size_t text_cap, n_text, pos, seen;
	uint64_t text_off; /* of text[0] */
	uint64_t number;   /* of the next line */
	uint64_t dropped;  /* bytes of a line too long to be held, so far */
	bool is_dropping, gave_rest, at_end;
	bool has_gap;      /* damage stands between text[n_text] and what comes */
	bool after_damage; /* for the next line */

	struct log_frames_end end;

	/* frames-read.c: text around the newest log_frames_pread. */
	struct {
		ZSTD_DCtx *dctx;
		struct stored stored;
		struct frame_stream stream;
		size_t frame; /* that is being decoded */
		bool is_open;
		char *p;
		size_t cap, n;
		uint64_t off;
	} back;
};

void back_release(struct log_frames *f);
ZSTD_DCtx *frames_dctx(const struct log_frames_caps *caps);

#endif
