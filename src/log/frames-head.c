/*
 * frames-head.c - the first frame of a log and no more: lists of many logs
 * want only the header. A frame that a first small read holds is decoded at
 * once; any other goes the general way.
 */
#include "config.h"

#include "log/frames-internal.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/pool.h"

enum {
	HEAD_STORED = 4096,
	HEAD_TEXT = 16 << 10,
	HEAD_WORK = 4 << 20 /* bytes read and decoded, when the first frame gives no line */
};

/*
 * Making a context costs more than decoding a header with it, so those that
 * are not in use wait for the next log. As many as threads ever read at once.
 */
static struct {
	pthread_mutex_t lock;
	ZSTD_DCtx *v[POOL_MAX];
	size_t n;
} spare = { .lock = PTHREAD_MUTEX_INITIALIZER };

static ZSTD_DCtx *take_dctx(void)
{
	static const struct log_frames_caps none;
	ZSTD_DCtx *dctx;

	pthread_mutex_lock(&spare.lock);
	dctx = spare.n ? spare.v[--spare.n] : NULL;
	pthread_mutex_unlock(&spare.lock);
	return dctx ? dctx : frames_dctx(&none);
}

static void give_back(ZSTD_DCtx *dctx)
{
	pthread_mutex_lock(&spare.lock);
	if (spare.n < POOL_MAX) {
		spare.v[spare.n++] = dctx;
		dctx = NULL;
	}
	pthread_mutex_unlock(&spare.lock);
	ZSTD_freeDCtx(dctx);
}

/* 1: done, 0: it takes more than this. */
static int decode_small(const char *p, size_t n, size_t max, struct buf *text)
{
	size_t room = max < HEAD_TEXT ? max : HEAD_TEXT, len = ZSTD_findFrameCompressedSize(p, n), got;
	ZSTD_DCtx *dctx;

	if (ZSTD_isError(len) || sys->reserve(text, room) < 0 || !(dctx = take_dctx()))
		return 0;
	got = ZSTD_decompressDCtx(dctx, text->p + text->n, room, p, len);
	give_back(dctx);
	if (ZSTD_isError(got))
		return 0;
	text->n += got;
	text->p[text->n] = '\0';
	return 1;
}

static int decode_any(const char *path, size_t max, struct buf *text, struct err *err)
{
	struct log_frames *f;
	struct log_line line;
	struct log_frames_end end;
	bool after_damage;
	int rc = log_frames_open(&f, path, NULL, err);

	if (rc < 0)
		return rc;
	log_frames_set_pause(f, HEAD_WORK);
	rc = log_frames_next_line(f, &line, &after_damage, err);
	log_frames_end(f, &end);
	if (rc == 0 || rc == LOG_PAUSED || (rc == 1 && after_damage)) {
		rc = end.state == FRAMES_CORRUPT ? err_set(err, ERR_CORRUPT, "%s: %s", path, end.reason)
						 : err_set(err, ERR_TORN, "%s: no whole frame", path);
	} else if (rc == 1) {
		size_t n = line.n + line.ended < max ? line.n + line.ended : max;

		rc = sys->reserve(text, n) < 0 ? io_no_memory(err) : 0;
		if (rc == 0)
			buf_add(text, line.p, n);
	}
	log_frames_close(&f);
	return rc;
}

int log_frames_head(const char *path, size_t max, struct buf *text, struct err *err)
{
	char head[HEAD_STORED];
	size_t got = 0;
	/* Whoever lists has seen a file; should it be a fifo by now, nobody waits for it. */
	int fd = io_open(path, O_RDONLY | O_NONBLOCK, 0), rc = 0;

	if (fd < 0)
		return err_sys(err, "open %s", path);
	if (io_pread(fd, head, sizeof(head), 0, &got) < 0)
		rc = err_sys(err, "read %s", path);
	io_close(&fd);
	if (rc < 0 || decode_small(head, got, max, text))
		return rc;
	return decode_any(path, max, text, err);
}
