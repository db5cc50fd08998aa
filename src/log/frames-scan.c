/*
 * frames-scan.c - where zstd frames begin and end, by their headers alone, and
 * where the next good one is after damage. Decompresses only to confirm a
 * frame that was searched for.
 */
#include "config.h"

#include "log/frames-internal.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC      0xFD2FB528u
#define SKIP_MAGIC 0x184D2A50u /* and 15 more */

enum {
	HEADER_MAX = 18,
	RESERVED_BITS = 0x18,
	FIND_TRIES = 1024 /* places that look like a frame: hostile bytes can hold any number */
};

static uint32_t le(const char *p, size_t n)
{
	uint32_t v = 0;

	while (n-- > 0)
		v = v << 8 | (unsigned char)p[n];
	return v;
}

void stored_release(struct stored *st)
{
	free(st->p);
	st->p = NULL;
	st->cap = st->n = 0;
}

int stored_get(
	struct stored *st, uint64_t off, size_t want, const char **p, size_t *n, struct err *err)
{
	size_t have = 0, got, cap = want > STORED_WINDOW ? want : STORED_WINDOW;
	int rc;

	if (off >= st->off && off <= st->off + st->n)
		have = (size_t)(st->off + st->n - off);
	if (have < want) {
		if (have)
			memmove(st->p, st->p + (off - st->off), have);
		st->off = off;
		st->n = have;
		if (cap > st->cap) {
			char *more = sys->realloc(st->p, cap);

			if (!more)
				return reader_no_memory(st->reader, err);
			st->p = more;
			st->cap = cap;
		}
		rc = log_pread(st->reader, off + have, st->p + have, st->cap - have, &got, err);
		if (rc < 0)
			return rc;
		st->n += got;
		st->work += got;
		have += got;
	}
	*p = st->p ? st->p + (off - st->off) : "";
	*n = have;
	return 0;
}

static int bad(struct frame_look *out, const char *reason)
{
	out->shape = SHAPE_BAD;
	out->reason = reason;
	return 0;
}

/* Length of the frame header whose descriptor is d. */
static size_t header_length(unsigned char d)
{
	static const uint8_t dictionary[] = { 0, 1, 2, 4 }, content[] = { 0, 2, 4, 8 };
	bool single = d & 0x20;

	return 5 + !single + dictionary[d & 3] + (d >> 6 ? content[d >> 6] : single);
}

/* A skippable frame has a length; the format does not allow it all the same. */
static int look_at_skippable(
	const char *p, size_t n, uint64_t off, uint64_t end, struct frame_look *out)
{
	uint64_t len = n >= 8 ? 8 + (uint64_t)le(p + 4, 4) : 0;

	out->len = len <= end - off ? len : 0;
	return bad(out, "a skippable frame stands there");
}

/* From the block at look->at to the end of the last one, or as far as one look goes. */
static int walk_blocks(struct stored *st, uint64_t end, struct frame_look *look, struct err *err)
{
	uint64_t stop = look->at + STINT;

	for (;;) {
		const char *p;
		size_t n;
		uint32_t head, size;
		int rc;

		look->shape = SHAPE_TORN;
		if (end - look->at < 3)
			return 0;
		rc = stored_get(st, look->at, 3, &p, &n, err);
		if (rc < 0 || n < 3)
			return rc;
		head = le(p, 3);
		if ((head >> 1 & 3) == 3)
			return bad(look, "a block of a reserved type");
		size = (head >> 1 & 3) == 1 ? 1 : head >> 3;
		if (size > end - look->at - 3)
			return 0;
		look->at += 3 + size;
		look->nblocks++;
		if (head & 1)
			break;
		look->shape = SHAPE_LONG;
		if (look->at >= stop)
			return 0;
	}
	look->shape = SHAPE_FRAME;
	return 0;
}

int frame_look_on(struct stored *st, uint64_t end, struct frame_look *look, struct err *err)
{
	uint64_t behind = look->has_checksum ? 4 : 0;
	int rc = walk_blocks(st, end, look, err);

	if (rc < 0 || look->shape != SHAPE_FRAME)
		return rc;
	if (end - look->at < behind) {
		look->shape = SHAPE_TORN;
		return 0;
	}
	look->len = look->at + behind - look->off;
	return look->len > UINT32_MAX ? bad(look, "a frame of more than 4 GB") : 0;
}

int frame_look(
	struct stored *st, uint64_t off, uint64_t end, struct frame_look *out, struct err *err)
{
	const char *p;
	size_t n, header;
	unsigned char d;
	int rc;

	*out = (struct frame_look){ .shape = SHAPE_TORN, .off = off };
	if (off >= end) {
		out->shape = SHAPE_END;
		return 0;
	}
	rc = stored_get(st, off, HEADER_MAX, &p, &n, err);
	if (rc < 0)
		return rc;
	if (n > end - off)
		n = (size_t)(end - off);
	if (n < 4)
		return 0;
	if ((le(p, 4) & ~0xFu) == SKIP_MAGIC)
		return look_at_skippable(p, n, off, end, out);
	if (le(p, 4) != MAGIC)
		return bad(out, "no frame begins there");
	if (n < 5)
		return 0;
	d = (unsigned char)p[4];
	if (d & RESERVED_BITS)
		return bad(out, "a reserved bit of the frame's header is set");
	header = header_length(d);
	if (n < header)
		return 0;
	out->at = off + header;
	out->has_checksum = d & 4;
	return frame_look_on(st, end, out, err);
}

/* Decodes on: SEARCH_MAGIC when it is known whether the frame is good. */
static int confirm(struct stored *st, struct frame_search *fs, ZSTD_DCtx *dctx, char *room,
	bool *good, struct err *err)
{
	uint64_t begun = st->work;
	size_t got;
	int rc;

	do
		rc = stream_read(&fs->stream, dctx, st, room, PIECE_TEXT, &got, err);
	while (rc == 0 && got == PIECE_TEXT && fs->stream.text <= fs->cap &&
		st->work - begun < STINT);
	/* So far every block was good, and more is not looked at: nothing before it may be cut. */
	*good = rc == 0 && (fs->stream.is_done || fs->stream.text > fs->cap);
	if (rc == 0 && (*good || got < PIECE_TEXT))
		fs->state = SEARCH_MAGIC;
	return rc;
}

/* To the next place that looks like a frame. 1: there is one, 0: none so far, or err. */
static int find_magic(struct stored *st, struct frame_search *fs, uint64_t end, struct err *err)
{
	static const char magic[] = { '\x28', '\xB5', '\x2F', '\xFD' };
	uint64_t data;
	const char *p, *hit;
	size_t n;
	int rc = stored_get(st, fs->at, 4, &p, &n, err);

	if (rc < 0)
		return rc;
	if (n > end - fs->at)
		n = (size_t)(end - fs->at);
	if (n < 4) {
		fs->at = end;
		return 0;
	}
	hit = memmem(p, n, magic, 4);
	if (hit) {
		fs->at += (uint64_t)(hit - p);
		return 1;
	}
	/* A frame begins with no NUL: not behind one, and not in a hole. */
	if (p[n - 1] != '\0') {
		fs->at += n - 3;
		return 0;
	}
	fs->at += n;
	data = log_next_data(st->reader, fs->at);
	fs->at = data < end ? data : end;
	return 0;
}

/* One step of the search; *good: a frame stands at fs->at. */
static int search_on(struct stored *st, struct frame_search *fs, uint64_t end, ZSTD_DCtx *dctx,
	char *room, bool *good, struct err *err)
{
	int rc;

	switch (fs->state) {
	case SEARCH_MAGIC:
		rc = find_magic(st, fs, end, err);
		if (rc <= 0)
			return rc;
		fs->tries++;
		rc = frame_look(st, fs->at, end, &fs->look, err);
		break;
	case SEARCH_LOOK:
		rc = frame_look_on(st, end, &fs->look, err);
		break;
	default:
		rc = confirm(st, fs, dctx, room, good, err);
		fs->at += rc == 0 && fs->state == SEARCH_MAGIC && !*good;
		return rc;
	}
	if (rc < 0)
		return rc;
	fs->state = fs->look.shape == SHAPE_LONG ? SEARCH_LOOK : SEARCH_MAGIC;
	if (fs->look.shape == SHAPE_FRAME) {
		stream_begin(&fs->stream, dctx, fs->look.off, fs->look.len);
		fs->state = SEARCH_DECODE;
	}
	fs->at += fs->state == SEARCH_MAGIC;
	return 0;
}

int frame_find(struct stored *st, struct frame_search *fs, uint64_t end, ZSTD_DCtx *dctx, char *room,
	uint64_t *found, struct err *err)
{
	uint64_t begun = st->work;
	bool good = false;

	while (fs->state != SEARCH_MAGIC ||
		(fs->at < end && end - fs->at >= 4 && fs->tries < FIND_TRIES)) {
		int rc;

		if (st->work - begun >= STINT)
			return FIND_MORE;
		rc = search_on(st, fs, end, dctx, room, &good, err);
		if (rc < 0)
			return rc;
		if (good) {
			*found = fs->at;
			return 0;
		}
	}
	*found = end;
	return fs->at < end && end - fs->at >= 4 ? FIND_GAVE_UP : 0;
}
