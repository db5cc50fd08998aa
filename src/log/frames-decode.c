/*
 * frames-decode.c - one zstd frame to text, whole or in pieces, and text to
 * one frame. A frame that lies about its size can not cost more than the room
 * that the caller gives.
 */
#include "config.h"

#include "log/frames-internal.h"

#include <zstd_errors.h>

enum { LEVEL = 3, WINDOW_LOG = 27 };

ZSTD_DCtx *frames_dctx(const struct log_frames_caps *caps)
{
	ZSTD_DCtx *dctx = ZSTD_createDCtx();

	if (dctx)
		ZSTD_DCtx_setParameter(dctx, ZSTD_d_windowLogMax,
			(int)(caps->window_log ? caps->window_log : WINDOW_LOG));
	return dctx;
}

static const char *reason_of(size_t code)
{
	switch (ZSTD_getErrorCode(code)) {
	case ZSTD_error_checksum_wrong:
		return "bad checksum";
	case ZSTD_error_dictionary_wrong:
	case ZSTD_error_dictionary_corrupted:
		return "it needs a dictionary";
	case ZSTD_error_frameParameter_windowTooLarge:
		return "its window is too large";
	case ZSTD_error_memory_allocation:
		return "no memory to decode it";
	default:
		return "its data is damaged";
	}
}

bool frame_is_small(const struct frame_look *look)
{
	return look->len <= STORED_MAX && look->nblocks <= WHOLE_TEXT / BLOCK_TEXT;
}

int frame_whole(ZSTD_DCtx *dctx, struct stored *st, const struct frame_look *look, char *p,
	size_t room, size_t *got, const char **reason, struct err *err)
{
	const char *in;
	size_t n, code;
	int rc = stored_get(st, look->off, (size_t)look->len, &in, &n, err);

	*got = 0;
	*reason = NULL;
	if (rc < 0)
		return rc;
	if (n < look->len) {
		*reason = "the file became shorter";
		return 0;
	}
	code = ZSTD_decompressDCtx(dctx, p, room, in, (size_t)look->len);
	if (ZSTD_isError(code))
		*reason = reason_of(code);
	else
		*got = code;
	st->work += *got;
	return 0;
}

void stream_begin(struct frame_stream *fs, ZSTD_DCtx *dctx, uint64_t off, uint64_t len)
{
	*fs = (struct frame_stream){ .at = off, .end = off + len };
	ZSTD_DCtx_reset(dctx, ZSTD_reset_session_only);
}

int stream_read(struct frame_stream *fs, ZSTD_DCtx *dctx, struct stored *st, char *p, size_t n,
	size_t *got, struct err *err)
{
	ZSTD_outBuffer out = { p, n, 0 };

	while (out.pos < out.size && !fs->is_done && !fs->reason) {
		const char *bytes = "";
		size_t have = 0, before = out.pos, code;
		ZSTD_inBuffer in;
		int rc = 0;

		if (fs->at < fs->end)
			rc = stored_get(st, fs->at, 1, &bytes, &have, err);
		if (rc < 0)
			return rc;
		in = (ZSTD_inBuffer){ bytes, have, 0 };
		if (in.size > fs->end - fs->at)
			in.size = (size_t)(fs->end - fs->at);
		code = ZSTD_decompressStream(dctx, &out, &in);
		fs->at += in.pos;
		if (ZSTD_isError(code))
			fs->reason = reason_of(code);
		else if (code == 0)
			fs->is_done = true;
		else if (in.pos == 0 && out.pos == before)
			break; /* the bytes end inside the frame */
	}
	fs->text += out.pos;
	st->work += out.pos;
	*got = out.pos;
	return 0;
}

/* Fed like Node does it: all of the text, then the end, so that no content size is written. */
int log_frame_encode(struct buf *out, const void *p, size_t n, struct err *err)
{
	ZSTD_CCtx *cctx = ZSTD_createCCtx();
	ZSTD_inBuffer in = { p, n, 0 };
	size_t room = ZSTD_compressBound(n) + 64, left = 1, before = out->n;
	int rc = cctx && sys->reserve(out, room) == 0 ? 0 : io_no_memory(err);
	bool is_fed = false;

	if (rc == 0) {
		ZSTD_CCtx_setParameter(cctx, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(cctx, ZSTD_c_checksumFlag, 1);
	}
	while (rc == 0 && left != 0) {
		ZSTD_outBuffer to = { out->p + before, room, out->n - before };

		left = ZSTD_compressStream2(cctx, &to, &in, is_fed ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left)) {
			rc = err_set(err, ERR_LIMIT, "compress: %s", ZSTD_getErrorName(left));
			break;
		}
		out->n = before + to.pos;
		if (!is_fed) {
			is_fed = in.pos == in.size;
			left = 1;
		}
	}
	if (rc < 0)
		out->n = before;
	if (out->p)
		out->p[out->n] = '\0';
	ZSTD_freeCCtx(cctx);
	return rc;
}
