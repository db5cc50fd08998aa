/*
 * frames.h - a log whose bytes are zstd frames; the second public header of
 * the log module, beside log.h.
 *
 * The file is a plain concatenation of independent frames, and its text is
 * what they hold, joined (doc/formats.md, "dsh"). The structure of all frames
 * is scanned without decompressing; each is decompressed once for the lines
 * and again, alone, when somebody asks for bytes of it. A frame that ends
 * early is torn; anything else that is wrong is corrupt. Bytes are never cut
 * on reading.
 *
 * Offsets: "file" offsets count stored bytes, "text" offsets count
 * decompressed ones.
 *
 * Calling sequence: log_frames_open; log_frames_next_line until it returns 0;
 * log_frames_end for how the file ends; log_frames_pread as needed;
 * log_frames_refresh after a change; log_frames_close.
 */
#ifndef BOUGH_LOG_FRAMES_H
#define BOUGH_LOG_FRAMES_H

#include "log/log.h"

struct log_frame {
	uint64_t off, text_off; /* where it begins */
	uint32_t len, text_len; /* stored and decompressed bytes */
};

struct log_frames_caps {     /* 0: the default */
	uint64_t frame_text; /* bytes a frame may decompress to; default 256 MB */
	uint64_t text;       /* bytes of the whole text; default 8 GB */
	unsigned window_log; /* largest window; default 27 */
};

enum log_frames_state {
	FRAMES_WHOLE,  /* the file ends behind a complete frame */
	FRAMES_TORN,   /* it ends inside a frame, which begins at `off` */
	FRAMES_CORRUPT /* at least one frame is damaged; the first one begins at `off` */
};

struct log_frames_end {
	enum log_frames_state state;
	uint64_t off,
		length; /* of the torn or first damaged frame: to the end of the file or of the frame */
	const char
		*reason; /* one plain phrase, static text: "bad checksum", "no frame begins here" */
	uint64_t committed; /* behind the last complete good frame that has no damage before it */
	uint64_t text;      /* text bytes up to there */
	bool gave_up;       /* whether a good frame stands behind the damage is not known */
};

struct log_frames;

int log_frames_open(struct log_frames **out, const char *path, const struct log_frames_caps *caps,
	struct err *err);
void log_frames_close(struct log_frames **f);
const struct log_id *log_frames_id(const struct log_frames *f);
/* Borrowed; not to be read through, and only let go when everything has been read. */
struct log_reader *log_frames_reader(const struct log_frames *f);
/* As log_reader_refresh: LOG_GREW goes on, the rest starts over. */
int log_frames_refresh(struct log_frames *f, enum log_change *change, struct err *err);
/*
 * The next line of the joined text. 1: a line, 0: no more complete frame,
 * < 0: err (I/O, memory). off is the text offset. A line may run on through
 * frames; the last one may lack its newline (ended false), and is given again
 * from its start when the file has grown. Damaged frames are passed over: the
 * next line then has `after_damage` set, and text offsets go on as if the
 * damaged frame were empty. A frame that may hold over 4 MB is not held back
 * until its checksum has been seen: lines of it may be out before its damage
 * is found, and then count as text.
 */
int log_frames_next_line(
	struct log_frames *f, struct log_line *line, bool *after_damage, struct err *err);
/*
 * As log_set_pause: log_frames_next_line gives LOG_PAUSED when it has read and
 * decoded about so many bytes without a line to show for them. 0: never.
 */
void log_frames_set_pause(struct log_frames *f, size_t bytes);
/* Bytes that were read and decoded for lines so far. */
uint64_t log_frames_work(const struct log_frames *f);
/* Valid once log_frames_next_line has returned 0. */
void log_frames_end(const struct log_frames *f, struct log_frames_end *out);
const struct log_frame *log_frames_index(const struct log_frames *f, size_t *n);
/* Text bytes at a text offset; decodes one frame at a time and keeps the last one. */
int log_frames_pread(
	struct log_frames *f, uint64_t text_off, void *p, size_t n, size_t *got, struct err *err);
/* Stored bytes, for a hex peek. */
int log_frames_peek(
	const struct log_frames *f, uint64_t off, void *p, size_t n, size_t *got, struct err *err);
/*
 * What the bytes of the torn frame still give: a streaming decoder's whole
 * blocks, end and checksum not checked. Empty when nothing came or the decoder
 * failed. Never acknowledged: whoever shows it marks it as recovered.
 */
int log_frames_recover(struct log_frames *f, struct buf *text, struct err *err);

/*
 * The text of the first frame alone, or as much of it as `max` bytes hold, for
 * whoever lists many logs: one small read, nothing stays open. ERR_TORN when
 * the frame is not whole, ERR_CORRUPT when it is damaged.
 */
int log_frames_head(const char *path, size_t max, struct buf *text, struct err *err);

/* One frame with a checksum, level 3, no content size: appended to out. */
int log_frame_encode(struct buf *out, const void *p, size_t n, struct err *err);
/*
 * Append one encoded frame (or, for raw logs, lines): log_append without the
 * rule that records end in a newline and without adding one.
 */
int log_append_bytes(struct log *log, uint64_t committed, const void *p, size_t n,
	struct log_append_info *info, struct err *err);

#endif
