/*
 * opcases.c - the operations, and the sessions that they are done to.
 */
#include "config.h"

#include "tests/lib/opcases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- tree ---- */

static int fork_at(struct work *w, const struct fork_spec *spec, struct done *d, struct err *err)
{
	return work_fork(w, spec, false, d, err);
}

static int run_fork(struct work **w, struct done *d, struct err *err)
{
	return fork_at(*w, &(struct fork_spec){ .at = 1, .content = str_of(OP_MINE) }, d, err);
}

static int run_retry(struct work **w, struct done *d, struct err *err)
{
	struct fork_spec spec = { .at = 2, .is_retry = true, .content = str_of(OP_MINE) };

	return fork_at(*w, &spec, d, err);
}

static int run_fork_new(struct work **w, struct done *d, struct err *err)
{
	struct fork_spec spec = { .at = 1, .content = str_of(OP_MINE) };

	return work_fork_new(*w, &spec, false, d, err);
}

static int run_copy(struct work **w, struct done *d, struct err *err)
{
	struct fork_spec spec = { .at = 1 };

	return work_fork_new(*w, &spec, false, d, err);
}

static int run_checkout(struct work **w, struct done *d, struct err *err)
{
	return work_checkout(*w, 0, false, d, err);
}

static int run_label(struct work **w, struct done *d, struct err *err)
{
	return work_label(*w, 2, str_of(OP_MINE), false, d, err);
}

static int run_rename(struct work **w, struct done *d, struct err *err)
{
	return work_rename(*w, str_of(OP_MINE), false, d, err);
}

static int run_repair(struct work **w, struct done *d, struct err *err)
{
	work_force(*w, true);
	return work_repair(*w, false, d, err);
}

static int run_trash(struct work **w, struct done *d, struct err *err)
{
	return work_trash(w, false, d, err);
}

static struct done prepared; /* what store_untrash is told */

static int run_untrash(struct work **w, struct done *d, struct err *err)
{
	(void)w;
	(void)d;
	return store_untrash(&prepared, err);
}

static int prepare_untrash(struct work **w, struct done *d, struct err *err)
{
	(void)d;
	return work_trash(w, false, &prepared, err);
}

static int run_undo(struct work **w, struct done *d, struct err *err)
{
	return work_undo(*w, d, err);
}

void opcase_release(void)
{
	done_release(&prepared);
	prepared = (struct done){ 0 };
}

/* ---- dsh ---- */

static int run_salvage(struct work **w, struct done *d, struct err *err)
{
	work_force(*w, true);
	return work_salvage(*w, false, d, err);
}

static int run_dsh_fork(struct work **w, struct done *d, struct err *err)
{
	struct fork_spec spec = { .has_event = true, .event = 3 };

	return work_fork_new(*w, &spec, false, d, err);
}

static int run_pack(struct work **w, struct done *d, struct err *err)
{
	return work_convert(*w, true, false, d, err);
}

static int run_unpack(struct work **w, struct done *d, struct err *err)
{
	return work_convert(*w, false, false, d, err);
}

static int run_dsh_label(struct work **w, struct done *d, struct err *err)
{
	return work_label(*w, 0, str_of(OP_MINE), false, d, err);
}

/* A whole batch that is not what must come next, and two turns with a message each. */
#define BAD "{\"type\":\"turn/start\",\"seq\":7,\"time\":16,\"data\":{\"turn\":3}}\n"
#define TURN_2_ASKED \
	"{\"type\":\"turn/start\",\"seq\":3,\"time\":13,\"data\":{\"turn\":2}}\n" \
	"{\"type\":\"user/message\",\"seq\":4,\"time\":14,\"data\":{\"id\":\"u-2\",\"role\":\"user\"," \
	"\"content\":[{\"type\":\"text\",\"text\":\"two\"}],\"source\":{\"kind\":\"user\"}}," \
	"\"surfaceOp\":\"append\"}\n" \
	"{\"type\":\"turn/end\",\"seq\":5,\"time\":15,\"data\":{\"turn\":2,\"reason\":{\"kind\":" \
	"\"completed\"}}}\n"

static const char *const asked[] = { DSH_HEADER, DSH_TURN_1, TURN_2_ASKED, NULL };
static const char *const closed[] = { DSH_HEADER, DSH_TURN_1, DSH_TURN_2, NULL };
static const char *const opened[] = { DSH_HEADER, DSH_TURN_1, DSH_TURN_2, DSH_TURN_3, NULL };

/* ---- the table ---- */

#define ABC OP_A OP_B OP_C

#define DSH(id, what, op, b, ...) \
	[id] = { .name = what ", raw", .run = op, .is_dsh = true, .batches = b, __VA_ARGS__ }, \
	[id##_ZSTD] = { .name = what ", zstd", .run = op, .is_dsh = true, .is_zstd = true, \
		.batches = b, __VA_ARGS__ }

const struct opcase opcases[OP_COUNT] = {
	[OP_FORK] = { "fork", run_fork, NULL, ABC, "{}", OP_NOTE, 0 },
	[OP_FORK_OPEN] = { "fork, no final newline", run_fork, NULL, OP_A OP_B OP_C_OPEN, "{}",
		OP_NOTE, 0 },
	[OP_FORK_FIRST] = { "fork, first reflog line", run_fork, NULL, ABC, NULL, NULL, 0 },
	[OP_FORK_TORN] = { "fork, torn file and reflog", run_fork, NULL, ABC OP_TORN, NULL,
		OP_NOTE "{\"v\"", 0 },
	[OP_FORK_LOST] = { "fork beside a lost entry", run_fork, NULL, ABC, NULL,
		OP_NOTE OP_LOST_NOTE, 1 },
	[OP_RETRY] = { "retry", run_retry, NULL, ABC, NULL, OP_NOTE, 0 },
	[OP_FORK_NEW] = { "fork --new", run_fork_new, NULL, ABC, "{\"title\":\"T\"}", OP_NOTE, 0 },
	[OP_COPY] = { "fork --new, no text", run_copy, NULL, ABC, "{\"title\":\"T\"}", OP_NOTE, 0 },
	[OP_CHECKOUT] = { "checkout", run_checkout, NULL, ABC, NULL, OP_NOTE, 0 },
	[OP_CHECKOUT_TORN] = { "checkout, torn reflog", run_checkout, NULL, ABC, NULL,
		OP_NOTE "{\"v\"", 0 },
	[OP_CHECKOUT_FIRST] = { "checkout, no reflog", run_checkout, NULL, ABC, NULL, NULL, 0 },
	[OP_LABEL] = { "label", run_label, NULL, ABC, NULL, OP_NOTE, 0 },
	[OP_RENAME] = { "rename", run_rename, NULL, ABC, "{\"title\":\"Old\"}", NULL, 0 },
	[OP_RENAME_FIRST] = { "rename, no sidecar", run_rename, NULL, ABC, NULL, NULL, 0 },
	[OP_REPAIR_TORN] = { "repair, torn", run_repair, NULL, ABC OP_TORN, NULL, OP_NOTE, 0 },
	[OP_REPAIR_LOST] = { "repair, lost", run_repair, NULL, ABC, NULL, OP_NOTE OP_LOST_NOTE, 1 },
	[OP_REPAIR_BOTH] = { "repair, both", run_repair, NULL, ABC OP_TORN, NULL,
		OP_NOTE OP_LOST_NOTE, 1 },
	[OP_TRASH] = { "trash", run_trash, NULL, ABC, "{}", OP_NOTE, 0 },
	[OP_UNTRASH] = { "untrash", run_untrash, prepare_untrash, ABC, "{}", OP_NOTE, 0 },
	[OP_UNDO_CHECKOUT] = { "undo a checkout", run_undo, run_checkout, ABC, NULL, NULL, 0 },
	[OP_UNDO_LABEL] = { "undo a label", run_undo, run_label, ABC, NULL, OP_NOTE, 0 },
	[OP_UNDO_TITLE] = { "undo a title", run_undo, run_rename, ABC, "{\"title\":\"T\"}", NULL, 0 },

	DSH(OP_DSH_CLOSE, "repair an open turn", run_repair, opened, .appended = DSH_CLOSERS),
	DSH(OP_DSH_REPAIR, "repair a torn end", run_repair, opened, .tail = DSH_TAIL,
		.appended = DSH_CLOSERS),
	DSH(OP_DSH_CUT, "only cut", run_repair, closed, .tail = DSH_TAIL),
	DSH(OP_DSH_SALVAGE, "salvage", run_salvage, closed, .tail = BAD, .has_bad_frame = true),
	DSH(OP_DSH_FORK, "dsh fork", run_dsh_fork, closed, .tail = NULL),
	[OP_DSH_PACK] = { .name = "compress", .run = run_pack, .is_dsh = true, .batches = closed },
	[OP_DSH_UNPACK] = { .name = "uncompress", .run = run_unpack, .is_dsh = true,
		.is_zstd = true, .batches = closed },
	DSH(OP_DSH_CHECKOUT, "dsh checkout", run_checkout, asked, .tail = NULL),
	DSH(OP_DSH_LABEL, "dsh label", run_dsh_label, closed, .tail = NULL),
};

/* ---- its files ---- */

static void put_tree(const struct opcase *c, const struct env *e, struct opfiles *out)
{
	const char *torn = strstr(c->session, OP_TORN);

	snprintf(out->folder, sizeof(out->folder), "%s", e->root);
	snprintf(out->session, sizeof(out->session), "%s/s.jsonl", e->root);
	snprintf(out->reflog, sizeof(out->reflog), "%s/s.reflog", e->root);
	snprintf(out->sidecar, sizeof(out->sidecar), "%s/s.meta.json", e->root);
	out->p = strdup(c->session);
	out->n = strlen(c->session);
	out->ncommitted = torn ? (size_t)(torn - c->session) : out->n;
	if (c->sidecar)
		temp_puts(out->sidecar, c->sidecar);
	if (c->reflog)
		temp_puts(out->reflog, c->reflog);
}

/* A bad frame is a whole one whose checksum is wrong; in a raw log the line is bad by itself. */
static void put_dsh(const struct opcase *c, const struct env *e, struct opfiles *out)
{
	const char *batches[6];
	size_t n = 0;

	snprintf(out->folder, sizeof(out->folder), "%s/_no-cwd", e->root);
	mkdir(out->folder, 0700);
	snprintf(out->folder, sizeof(out->folder), "%s/_no-cwd/s", e->root);
	mkdir(out->folder, 0700);
	snprintf(out->session, sizeof(out->session), "%s/session.jsonl%s", out->folder,
		c->is_zstd ? ".zstd" : "");
	snprintf(out->reflog, sizeof(out->reflog), "%s/bough.reflog", out->folder);
	out->sidecar[0] = '\0';
	for (; c->batches[n]; n++)
		batches[n] = c->batches[n];
	batches[n] = NULL;
	free(dshenv_bytes(c->is_zstd, batches, NULL, &out->ncommitted));
	if (c->has_bad_frame) {
		batches[n] = c->tail;
		batches[n + 1] = NULL;
	}
	out->p = dshenv_bytes(c->is_zstd, batches, c->has_bad_frame ? NULL : c->tail, &out->n);
	if (c->has_bad_frame && c->is_zstd)
		out->p[out->n - 1] ^= 1;
	temp_puts(out->reflog, OP_NOTE);
}

void opcase_put(const struct opcase *c, const struct env *e, struct opfiles *out)
{
	free(out->p);
	if (c->is_dsh)
		put_dsh(c, e, out);
	else
		put_tree(c, e, out);
	temp_put(out->session, out->p, out->n);
}
