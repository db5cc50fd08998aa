/*
 * list.h - the insides of struct store, shared by roots.c, list.c, brief.c and row.c.
 */
#ifndef BOUGH_STORE_LIST_H
#define BOUGH_STORE_LIST_H

#include "store/internal.h"

struct root {
	char *path;
	bool is_file;             /* one session, not a folder of them */
	const struct format *fmt; /* NULL: nothing fitted so far */
	struct log_id id;         /* dev and ino, so that no root counts twice */
	char *note;               /* the sentence for store_root_note, or NULL */
	bool to_scan;
	uint64_t scan_pos;
	bool scan_started;
	size_t nfound; /* sessions in the scan that runs or ran last */
};

struct row {
	struct session_row pub; /* what others see */
	size_t root;
	struct log_id file, sidecar; /* as they were when it was queued */
	uint64_t hash;               /* of the path */
	uint32_t generation;         /* of the scan that saw it last */
	bool to_load;
	bool to_finish;   /* it was loaded in part */
	uint64_t counted; /* of its bytes by the progress, then */
	char *text; /* one block with the strings of a load */
};

/*
 * A session being read for its row. Three: what is on the screen need not wait
 * for the others, and none of these for one that is read to its end.
 */
enum { LOAD_BACK, LOAD_FRONT, LOAD_REST, LOADERS };
struct loader {
	struct work *w;
	size_t row;
	bool is_rest;
	uint64_t counted; /* bytes that the progress has seen */
};

struct store {
	struct root *roots;
	size_t nroots, roots_cap;

	struct arena arena; /* rows and their lasting strings */
	struct row **rows;
	size_t nrows, rows_cap;
	size_t *table; /* open addressing by path: row + 1 */
	size_t table_cap;
	uint64_t seed;

	uint32_t generation;
	size_t next;       /* no row before it waits for a load */
	size_t next_brief; /* nor for a first look, which is enough for it */
	struct loader loader[LOADERS];
	uint64_t bytes_done, bytes_all;
	bool finishes; /* rows that were loaded in part are loaded again, whole */
	size_t nrest;  /* how many wait for that */
	bool is_brief; /* rows say what a first look tells */

	char *checked_dir; /* the newest answer of log_can_write */
	bool checked_writable;
};

/* One turn of finding names: 1 when there is more. */
int list_scan(struct store *st);
/* One turn of loading: 1 when there is more. */
int row_step(struct store *st, struct loader *l, unsigned budget_us);
void row_begin(struct store *st, struct loader *l, size_t row);
/*
 * Rows that a first look is enough for, some of them at once, those from
 * *first on before others: 1 when any had waited. They never go to row_begin.
 */
int brief_step(struct store *st, unsigned budget_us, const size_t *first);
bool row_takes_brief(const struct store *st, size_t row);
void row_fill_brief(struct row *row, const struct session_brief *b);
void row_unreadable(struct row *row, const char *reason);
void row_forget_rest(struct store *st, struct row *row); /* it is to be loaded anew, or was */
void root_set_note(struct root *root, char *note_take);

#endif
