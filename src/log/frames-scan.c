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
				return io_no_memory(err);
			st->p = more;
			st->cap = cap;
		}
		rc = log_pread(st->reader, off + have, st->p + have, st->cap - have, &got, err);
		if (rc < 0)
			return rc;
		st->n += got;
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

/* From behind the header at `at` to the end of the last block. */
static int walk_blocks(struct stored *st, uint64_t at, uint64_t end, struct frame_look *out,
	uint64_t *behind, struct err *err)
{
	for (;;) {
		const char *p;
		size_t n;
		uint32_t head, size;
		int rc;

		out->shape = SHAPE_TORN;
		if (end - at < 3)
			return 0;
		rc = stored_get(st, at, 3, &p, &n, err);
		if (rc < 0 || n < 3)
			return rc;
		head = le(p, 3);
		if ((head >> 1 & 3) == 3)
			return bad(out, "a block of a reserved type");
		size = (head >> 1 & 3) == 1 ? 1 : head >> 3;
		at += 3;
		if (size > end - at)
			return 0;
		at += size;
		out->nblocks++;
		if (head & 1)
			break;
	}
	out->shape = SHAPE_FRAME;
	*behind = at;
	return 0;
}

int frame_look(
	struct stored *st, uint64_t off, uint64_t end, struct frame_look *out, struct err *err)
{
	const char *p;
	size_t n, header;
	uint64_t at = off;
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
	rc = walk_blocks(st, off + header, end, out, &at, err);
	if (rc < 0 || out->shape != SHAPE_FRAME)
		return rc;
	if ((d & 4) && end - at < 4) {
		out->shape = SHAPE_TORN;
		return 0;
	}
	at += d & 4;
	out->len = at - off;
	return out->len > UINT32_MAX ? bad(out, "a frame of more than 4 GB") : 0;
}

/* Does the frame decode to its end? */
static int confirms(struct stored *st, const struct frame_look *look, ZSTD_DCtx *dctx, char *room,
	bool *good, struct err *err)
{
	struct frame_stream fs;
	size_t got;
	int rc;

	stream_begin(&fs, dctx, look->off, look->len);
	do
		rc = stream_read(&fs, dctx, st, room, PIECE_TEXT, &got, err);
	while (rc == 0 && got == PIECE_TEXT);
	*good = rc == 0 && fs.is_done;
	return rc;
}

int frame_find(struct stored *st, uint64_t from, uint64_t end, ZSTD_DCtx *dctx, char *room,
	uint64_t *found, struct err *err)
{
	static const char magic[] = { '\x28', '\xB5', '\x2F', '\xFD' };
	int tries = 0;

	while (from < end && end - from >= 4 && tries++ < FIND_TRIES) {
		struct frame_look look;
		const char *p, *hit;
		bool good = false;
		size_t n;
		int rc = stored_get(st, from, 4, &p, &n, err);

		if (rc < 0)
			return rc;
		if (n > end - from)
			n = (size_t)(end - from);
		if (n < 4)
			break;
		hit = memmem(p, n, magic, 4);
		if (!hit) {
			from += n - 3;
			tries--;
			continue;
		}
		from += (uint64_t)(hit - p);
		rc = frame_look(st, from, end, &look, err);
		if (rc == 0 && look.shape == SHAPE_FRAME)
			rc = confirms(st, &look, dctx, room, &good, err);
		if (rc < 0)
			return rc;
		if (good) {
			*found = from;
			return 0;
		}
		from++;
	}
	*found = end;
	return tries > FIND_TRIES;
}
