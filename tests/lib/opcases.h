/*
 * opcases.h - every operation that writes, each with a small session that it
 * has something to do in: what the loops over faults, other processes, planted
 * files and forms of paths have in common.
 */
#ifndef BOUGH_TESTS_OPCASES_H
#define BOUGH_TESTS_OPCASES_H

#include "tests/lib/dshenv.h"
#include "tests/lib/storeenv.h"

/* The tree session: a <- b <- c. */
#define OP_A "{\"id\":\"a\",\"role\":\"USER\",\"content\":\"one\",\"timestamp\":1}\n"
#define OP_B \
	"{\"id\":\"b\",\"parentId\":\"a\",\"role\":\"ASSISTANT\",\"content\":\"two\",\"timestamp\":2}\n"
#define OP_C_OPEN \
	"{\"id\":\"c\",\"parentId\":\"b\",\"role\":\"USER\",\"content\":\"three\",\"timestamp\":3}"
#define OP_C    OP_C_OPEN "\n"
#define OP_TORN "{\"id\":\"t\",\"parentId\":\"b\",\"role\":\"USER\",\"content\":\"tor"
/* An entry that the reflog announces and the file lacks. */
#define OP_LOST \
	"{\"id\":\"x\",\"parentId\":\"a\",\"role\":\"USER\",\"content\":\"lost\",\"timestamp\":4}"
#define OP_NOTE "{\"v\":1,\"op\":\"label\",\"entry\":\"a\",\"label\":\"l\",\"at\":1}\n"
#define OP_LOST_NOTE "{\"v\":1,\"op\":\"append\",\"entry\":" OP_LOST ",\"at\":2}\n"
/* Every text, label and title that the operations write. */
#define OP_MINE "mine"

enum op_id {
	OP_FORK, OP_FORK_OPEN, OP_FORK_FIRST, OP_FORK_TORN, OP_FORK_LOST, OP_RETRY,
	OP_FORK_NEW, OP_COPY,
	OP_CHECKOUT, OP_CHECKOUT_TORN, OP_CHECKOUT_FIRST, OP_LABEL, OP_RENAME, OP_RENAME_FIRST,
	OP_REPAIR_TORN, OP_REPAIR_LOST, OP_REPAIR_BOTH,
	OP_TRASH, OP_UNTRASH, OP_UNDO_CHECKOUT, OP_UNDO_LABEL, OP_UNDO_TITLE,
	OP_TREE_COUNT,
	/* a raw log, then the same with a compressed one */
	OP_DSH_CLOSE = OP_TREE_COUNT, OP_DSH_CLOSE_ZSTD, OP_DSH_REPAIR, OP_DSH_REPAIR_ZSTD,
	OP_DSH_CUT, OP_DSH_CUT_ZSTD, OP_DSH_SALVAGE, OP_DSH_SALVAGE_ZSTD,
	OP_DSH_FORK, OP_DSH_FORK_ZSTD, OP_DSH_PACK, OP_DSH_UNPACK,
	OP_DSH_CHECKOUT, OP_DSH_CHECKOUT_ZSTD, OP_DSH_LABEL, OP_DSH_LABEL_ZSTD,
	OP_COUNT
};

struct opcase {
	const char *name;
	int (*run)(struct work **w, struct done *d, struct err *err);
	/* What must have been done before; may be NULL. */
	int (*prepare)(struct work **w, struct done *d, struct err *err);
	/* a tree session */
	const char *session, *sidecar, *reflog;
	size_t nlost;
	/* a dsh log; its tail is torn */
	bool is_dsh, is_zstd, has_bad_frame;
	const char *const *batches;
	const char *tail;
	const char *appended; /* by a repair */
};
extern const struct opcase opcases[OP_COUNT];

/* Where the files of a case lie, and the bytes of its session. */
struct opfiles {
	char folder[TEMP_PATH + 40];
	char session[TEMP_PATH * 2], reflog[TEMP_PATH * 2], sidecar[TEMP_PATH * 2];
	char *p; /* yours */
	size_t n, ncommitted;
};
void opcase_put(const struct opcase *c, const struct env *e, struct opfiles *out);
/* What the preparation handed out: after each case that has one. */
void opcase_release(void);

#endif
