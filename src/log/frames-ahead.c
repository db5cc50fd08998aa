/*
 * frames-ahead.c - a thread that decodes the coming frames while the reader
 * looks at the lines of those before. It hands on batches of text through a
 * small ring; what it can not decode it leaves to the reader, so that damage
 * is judged in one place only (frames.c).
 */
#include "config.h"

#include "log/frames-internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
	BATCHES = 4,
	BATCH_FRAMES = 64,
	BATCH_TEXT = 256 << 10 /* enough for one batch */
};

/* A frame, or a piece of a large one. */
struct part {
	uint64_t off, len;
	size_t at, n; /* in the batch's text */
	bool is_first, is_last;
	const char *reason;
};

struct batch {
	struct part v[BATCH_FRAMES];
	size_t nparts;
	char *text;
	size_t n, cap;
	bool is_end; /* nothing comes behind it */
};

struct ahead {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned made, taken; /* batches; under the lock, like `is_cancelled` */
	bool is_cancelled;

	/* The thread's own. */
	struct stored stored;
	ZSTD_DCtx *dctx;
	struct frame_stream stream;
	struct frame_look look; /* of the large frame that is half decoded */
	bool in_stream;
	uint64_t next, end, frame_text;

	struct batch batch[BATCHES];
	size_t part; /* the reader's, in the batch `taken` */
};

/* ---- the thread ---- */

static bool make_room(struct batch *b, size_t more)
{
	size_t cap = b->n + more;
	char *p;

	if (b->cap >= cap)
		return true;
	p = sys->realloc(b->text, cap);
	if (!p)
		return false;
	b->text = p;
	b->cap = cap;
	return true;
}

static struct part *add_part(struct batch *b, const struct frame_look *look, size_t n)
{
	struct part *part = &b->v[b->nparts++];

	*part = (struct part){ .off = look->off, .len = look->len, .at = b->n, .n = n };
	b->n += n;
	return part;
}

/* False: the reader must look at the frame itself. */
static bool decode_small(struct ahead *a, struct batch *b, const struct frame_look *look)
{
	size_t room = (size_t)look->nblocks * BLOCK_TEXT, got;
	const char *reason;
	struct part *part;

	if (!make_room(b, room) || frame_whole(a->dctx, &a->stored, look, b->text + b->n, room,
					   &got, &reason, NULL) < 0)
		return false;
	if (reason || got > a->frame_text)
		return false;
	part = add_part(b, look, got);
	part->is_first = part->is_last = true;
	a->next = look->off + look->len;
	return true;
}

static bool decode_piece(struct ahead *a, struct batch *b, bool is_first)
{
	struct part *part;
	size_t got;

	if (!make_room(b, PIECE_TEXT) || stream_read(&a->stream, a->dctx, &a->stored,
						 b->text + b->n, PIECE_TEXT, &got, NULL) < 0)
		return false;
	part = add_part(b, &a->look, got);
	part->is_first = is_first;
	part->reason = a->stream.reason;
	if (!part->reason && !a->stream.is_done && got < PIECE_TEXT)
		part->reason = "its blocks end before it does";
	part->is_last = a->stream.is_done || part->reason;
	a->in_stream = !part->is_last;
	a->next = a->look.off + a->look.len;
	return !part->reason;
}

/* One more part; false at the end of what this thread does. */
static bool decode_next(struct ahead *a, struct batch *b)
{
	if (a->in_stream)
		return decode_piece(a, b, false);
	if (frame_look(&a->stored, a->next, a->end, &a->look, NULL) < 0 ||
		a->look.shape != SHAPE_FRAME)
		return false;
	if (frame_is_small(&a->look))
		return decode_small(a, b, &a->look);
	stream_begin(&a->stream, a->dctx, a->look.off, a->look.len);
	a->in_stream = true;
	return decode_piece(a, b, true);
}

static void fill(struct ahead *a, struct batch *b)
{
	b->nparts = b->n = 0;
	b->is_end = false;
	while (!b->is_end && b->nparts < BATCH_FRAMES && b->n < BATCH_TEXT)
		b->is_end = !decode_next(a, b);
}

static void *run(void *arg)
{
	struct ahead *a = arg;
	bool is_over = false;

	while (!is_over) {
		struct batch *b;

		pthread_mutex_lock(&a->lock);
		while (!a->is_cancelled && a->made - a->taken == BATCHES)
			pthread_cond_wait(&a->changed, &a->lock);
		is_over = a->is_cancelled;
		b = &a->batch[a->made % BATCHES];
		pthread_mutex_unlock(&a->lock);
		if (is_over)
			break;
		fill(a, b);
		is_over = b->is_end;
		pthread_mutex_lock(&a->lock);
		a->made++;
		pthread_cond_signal(&a->changed);
		pthread_mutex_unlock(&a->lock);
	}
	return NULL;
}

/* ---- the reader's side ---- */

static void release(struct ahead *a)
{
	for (int i = 0; i < BATCHES; i++)
		free(a->batch[i].text);
	ZSTD_freeDCtx(a->dctx);
	stored_release(&a->stored);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

/* Signals stay with the threads that wait for them. */
static bool start_thread(struct ahead *a)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
		return false;
	rc = sys->thread(&a->thread, run, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc == 0;
}

struct ahead *ahead_start(const struct log_reader *reader, const struct log_frames_caps *caps,
	uint64_t off, uint64_t end)
{
	struct ahead *a = sys->malloc(sizeof(*a));

	if (!a)
		return NULL;
	memset(a, 0, sizeof(*a));
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	a->stored.reader = reader;
	a->next = off;
	a->end = end;
	a->frame_text = caps->frame_text;
	a->dctx = frames_dctx(caps);
	if (a->dctx && start_thread(a))
		return a;
	release(a);
	return NULL;
}

void ahead_stop(struct ahead **ap)
{
	struct ahead *a = *ap;

	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->is_cancelled = true;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	release(a);
	*ap = NULL;
}

bool ahead_next(struct ahead **ap, struct ahead_piece *piece)
{
	struct ahead *a = *ap;
	struct batch *b = &a->batch[a->taken % BATCHES];
	const struct part *part;

	if (a->part == 0) {
		pthread_mutex_lock(&a->lock);
		while (a->made == a->taken)
			pthread_cond_wait(&a->changed, &a->lock);
		pthread_mutex_unlock(&a->lock);
	} else if (a->part == b->nparts && !b->is_end) {
		pthread_mutex_lock(&a->lock);
		a->taken++;
		pthread_cond_signal(&a->changed);
		while (a->made == a->taken)
			pthread_cond_wait(&a->changed, &a->lock);
		pthread_mutex_unlock(&a->lock);
		a->part = 0;
		b = &a->batch[a->taken % BATCHES];
	}
	if (a->part == b->nparts) {
		ahead_stop(ap);
		return false;
	}
	part = &b->v[a->part++];
	*piece = (struct ahead_piece){ .off = part->off,
		.len = part->len,
		.is_first = part->is_first,
		.is_last = part->is_last,
		.text = b->text + part->at,
		.n = part->n,
		.reason = part->reason };
	return true;
}
