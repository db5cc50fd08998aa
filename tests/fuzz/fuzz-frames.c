/*
 * fuzz-frames.c - a file of zstd frames, good and bad, against a plain reader
 * of the same bytes that knows only the public calls of libzstd: the same
 * frames, the same text, the same end; in one go, in stints, and while the
 * file grows.
 *
 * The input is a script. Each step is a byte that says what, a byte that says
 * how long, and then so many bytes: as they are, as a frame, as a frame with a
 * bit flipped, as the beginning of a frame, or NULs instead of them.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/buf.h"
#include "log/frames.h"

enum { TEXT_CAP = 1 << 20 };

/* ---- the file ---- */

static void add_step(struct buf *file, unsigned what, unsigned how, const uint8_t *p, size_t n)
{
	size_t before = file->n;

	switch (what % 6) {
	case 0:
		buf_add(file, p, n);
		return;
	case 1:
		buf_reserve(file, n);
		memset(file->p + file->n, 0, n);
		file->n += n;
		return;
	default:
		HOLDS(log_frame_encode(file, p, n, NULL) == 0);
	}
	if (what % 6 == 2)
		file->p[before + how * 7 % (file->n - before)] ^= (char)(1u << how % 8);
	else if (what % 6 == 3)
		file->n -= how % (file->n - before);
}

static void make_file(struct buf *file, const uint8_t *p, size_t n)
{
	while (n >= 2) {
		unsigned what = p[0], how = p[1];
		size_t len = how < n - 2 ? how : n - 2;

		add_step(file, what, how, p + 2, len);
		p += 2 + len;
		n -= 2 + len;
	}
}

/* ---- the plain reader ---- */

struct plain {
	struct log_frame *v;
	size_t n, cap;
	struct buf text; /* of all good frames */
	bool is_unsure;  /* something that the two need not see alike */
};

static uint32_t le32(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;

	return u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

/* Only the log minds the unused bit of a frame's header. */
static bool is_beyond(const char *p, size_t n)
{
	return n > 4 && (p[4] & 0x10);
}

/* Large windows, blocks that give more than one may: one way to decode takes them, the other not. */
static bool streams(const char *p, size_t len, char *room, size_t cap)
{
	static ZSTD_DCtx *dctx;
	ZSTD_inBuffer in = { p, len, 0 };
	ZSTD_outBuffer out = { room, cap, 0 };
	size_t code, before;

	if (!dctx)
		dctx = ZSTD_createDCtx();
	HOLDS(dctx);
	ZSTD_DCtx_reset(dctx, ZSTD_reset_session_only);
	do {
		before = in.pos + out.pos;
		code = ZSTD_decompressStream(dctx, &out, &in);
	} while (!ZSTD_isError(code) && code != 0 && in.pos + out.pos != before);
	return code == 0 && in.pos == len;
}

/* Length of a good frame there, 0: none. Its text is added. */
static size_t good_frame(struct plain *pl, const char *p, size_t n)
{
	static char room[TEXT_CAP], again[TEXT_CAP];
	size_t len, got;

	if (n < 4 || le32(p) != 0xFD2FB528u)
		return 0;
	pl->is_unsure = pl->is_unsure || is_beyond(p, n);
	len = ZSTD_findFrameCompressedSize(p, n);
	if (ZSTD_isError(len))
		return 0;
	got = ZSTD_decompress(room, sizeof(room), p, len);
	if (ZSTD_isError(got) == streams(p, len, again, sizeof(again)) ||
		ZSTD_getErrorCode(got) == ZSTD_error_dstSize_tooSmall)
		pl->is_unsure = true;
	if (ZSTD_isError(got))
		return 0;
	buf_add(&pl->text, room, got);
	return len;
}

static void add_frame(struct plain *pl, size_t off, size_t len, size_t text_off)
{
	if (pl->n == pl->cap) {
		pl->cap = pl->cap ? 2 * pl->cap : 16;
		pl->v = realloc(pl->v, pl->cap * sizeof(*pl->v));
		HOLDS(pl->v);
	}
	pl->v[pl->n++] = (struct log_frame){ off, text_off, (uint32_t)len,
		(uint32_t)(pl->text.n - text_off) };
}

/* Behind damage: the next offset where a good frame stands. */
static size_t next_good(struct plain *pl, const char *p, size_t n, size_t at)
{
	for (; at + 4 <= n; at++) {
		size_t text = pl->text.n, len = good_frame(pl, p + at, n - at);

		pl->text.n = text;
		if (len)
			return at;
	}
	return n;
}

static void read_plainly(struct plain *pl, const char *p, size_t n)
{
	size_t at = 0;

	while (at < n && !pl->is_unsure) {
		size_t text = pl->text.n, len = good_frame(pl, p + at, n - at);

		if (len)
			add_frame(pl, at, len, text);
		else if (n - at >= 8 && (le32(p + at) & ~0xFu) == 0x184D2A50u &&
			 le32(p + at + 4) <= n - at - 8)
			len = 8 + le32(p + at + 4); /* skippable: no frame of a log, and it has a length */
		at = len ? at + len : next_good(pl, p, n, at + 1);
	}
}

/* ---- the log's reader ---- */

/* All lines in one text, then how it ends. */
static void tell(struct log_frames *f, size_t pause, struct buf *out, struct log_frames_end *end)
{
	struct log_line line;
	bool after;
	int rc;

	log_frames_set_pause(f, pause);
	while ((rc = log_frames_next_line(f, &line, &after, NULL)) != 0) {
		HOLDS(rc == 1 || (rc == LOG_PAUSED && pause));
		if (rc == LOG_PAUSED)
			continue;
		HOLDS(line.p && line.p[line.n] == '\n');
		HOLDS(!memchr(line.p, '\n', line.n));
		buf_printf(out, "%llu %llu %d %d ", (unsigned long long)line.off,
			(unsigned long long)line.number, line.ended, after);
		buf_add(out, line.p, line.n);
		buf_addc(out, '\n');
	}
	log_frames_end(f, end);
	buf_printf(out, "%d %llu %llu %s %llu %llu %d", end->state, (unsigned long long)end->off,
		(unsigned long long)end->length, end->reason ? end->reason : "",
		(unsigned long long)end->committed, (unsigned long long)end->text, end->gave_up);
}

static struct log_frames *open_frames(const char *path)
{
	struct log_frames *f;

	HOLDS(log_frames_open(&f, path, NULL, NULL) == 0);
	return f;
}

static void check_index(struct log_frames *f, const struct plain *pl, const struct log_frames_end *end)
{
	const struct log_frame *v;
	uint64_t behind = 0;
	size_t n;

	v = log_frames_index(f, &n);
	HOLDS(n == pl->n);
	for (size_t i = 0; i < n; i++) {
		HOLDS(v[i].off == pl->v[i].off && v[i].len == pl->v[i].len);
		HOLDS(v[i].text_off == pl->v[i].text_off && v[i].text_len == pl->v[i].text_len);
		if (v[i].off == behind)
			behind += v[i].len;
	}
	HOLDS(end->committed == behind);
	HOLDS((end->state == FRAMES_WHOLE) == (behind == log_frames_id(f)->size));
	HOLDS(end->state == FRAMES_WHOLE || end->off == behind);
}

/* Any place of the text is what it was when it was decoded the first time. */
static void check_pread(struct log_frames *f, const struct plain *pl, uint32_t seed)
{
	char p[300];
	size_t got;

	for (int i = 0; i < 8 && pl->text.n; i++) {
		size_t at = (seed = seed * 1664525u + 1013904223u) % pl->text.n;
		size_t want = seed >> 24, left = pl->text.n - at;

		HOLDS(log_frames_pread(f, at, p, want, &got, NULL) == 0);
		HOLDS(got == (want < left ? want : left));
		HOLDS(memcmp(p, pl->text.p + at, got) == 0);
	}
}

static void check_stints(const char *path, const struct buf *want)
{
	struct log_frames *f = open_frames(path);
	struct log_frames_end end;
	struct buf got = { 0 };

	tell(f, 1, &got, &end);
	HOLDS(got.n == want->n && memcmp(got.p, want->p, got.n) == 0);
	log_frames_close(&f);
	buf_release(&got);
}

static void check_grown(int fd, const char *path, const struct buf *file, size_t middle,
	const struct plain *pl)
{
	struct log_frames_end end;
	struct log_frames *f;
	enum log_change change;
	struct buf text = { 0 };

	HOLDS(ftruncate(fd, (off_t)middle) == 0);
	f = open_frames(path);
	tell(f, 0, &text, &end);
	HOLDS(pwrite(fd, file->p + middle, file->n - middle, (off_t)middle) ==
		(ssize_t)(file->n - middle));
	HOLDS(log_frames_refresh(f, &change, NULL) == 0);
	/* Behind damage nobody goes on: the log is read anew (format/dsh). */
	if (change == LOG_GREW && end.state != FRAMES_CORRUPT) {
		tell(f, 0, &text, &end);
		check_index(f, pl, &end);
	}
	log_frames_close(&f);
	buf_release(&text);
}

static void check_file(const struct buf *file, uint32_t seed)
{
	struct plain pl = { 0 };
	struct log_frames_end end;
	struct log_frames *f;
	struct buf text = { 0 }, rest = { 0 };
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	HOLDS(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	HOLDS(write(fd, file->p, file->n) == (ssize_t)file->n);
	read_plainly(&pl, file->p, file->n);
	f = open_frames(path);
	tell(f, 0, &text, &end);
	if (!pl.is_unsure && !end.gave_up) {
		check_index(f, &pl, &end);
		check_pread(f, &pl, seed);
	}
	HOLDS(log_frames_recover(f, &rest, NULL) == 0 || end.state != FRAMES_TORN);
	log_frames_close(&f);
	check_stints(path, &text);
	if (!pl.is_unsure && !end.gave_up && file->n > 1)
		check_grown(fd, path, file, 1 + seed % (file->n - 1), &pl);
	close(fd);
	free(pl.v);
	buf_release(&pl.text);
	buf_release(&text);
	buf_release(&rest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf file = { 0 };

	make_file(&file, data, size);
	if (file.n)
		check_file(&file, size > 2 ? data[size / 2] * 65537u + data[2] * 257u + data[size - 1] : 0);
	buf_release(&file);
	return 0;
}
