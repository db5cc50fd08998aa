/*
 * brief.c - rows that a first look is enough for: the beginnings of many files
 * are read side by side, because opening and reading them is nearly all the
 * work there is; what was read goes into the rows one by one.
 */
#include "config.h"
#include "store/list.h"

#include <stdlib.h>

#include "base/pool.h"
#include "base/xalloc.h"

enum {
	/* A batch must outweigh the start of a thread, and end within a turn on a cold disk. */
	BATCH_MIN = 32,
	BATCH_MAX = 1024,
	LOOK_US = 50
};

struct look {
	size_t row;
	const struct format *fmt;
	const char *path;
	struct session_brief brief;
	struct err err;
	int rc;
};

bool row_takes_brief(const struct store *st, size_t row)
{
	const struct format *fmt = st->roots[st->rows[row]->root].fmt;

	return fmt->brief && (fmt->lists_brief || st->is_brief);
}

static void look_at(void *arg, unsigned thread, size_t i)
{
	struct look *look = (struct look *)arg + i;

	(void)thread;
	look->rc = look->fmt->brief(look->path, &look->brief, &look->err);
}

static bool add_look(struct store *st, struct look *look, size_t row)
{
	struct row *r = st->rows[row];

	if (!r->to_load || !row_takes_brief(st, row))
		return false;
	r->to_load = false;
	*look = (struct look){
		.row = row,
		.fmt = st->roots[r->root].fmt,
		.path = r->pub.path,
		.brief = { .first_time = INT64_MIN, .last_time = INT64_MIN },
	};
	return true;
}

static size_t collect(struct store *st, struct look *looks, size_t max, const size_t *first)
{
	size_t n = 0;

	/* What is on the screen stands from `first` on. */
	for (size_t i = 0; first && i < BATCH_MIN && *first + i < st->nrows; i++)
		n += add_look(st, &looks[n], *first + i);
	while (st->next_brief < st->nrows && n < max)
		n += add_look(st, &looks[n], st->next_brief++);
	return n;
}

int brief_step(struct store *st, unsigned budget_us, const size_t *first)
{
	size_t max = budget_us / LOOK_US, n;
	struct look *looks;

	if (st->next_brief >= st->nrows)
		return 0;
	max = max < BATCH_MIN ? BATCH_MIN : max > BATCH_MAX ? BATCH_MAX : max;
	looks = xcalloc(max, sizeof(*looks));
	n = collect(st, looks, max, first);
	if (n)
		pool_run(&(struct pool_work){ .arg = looks, .job = look_at }, pool_threads(), n);
	for (size_t i = 0; i < n; i++) {
		struct row *row = st->rows[looks[i].row];

		if (looks[i].rc < 0)
			row_unreadable(row, looks[i].err.text);
		else
			row_fill_brief(row, &looks[i].brief);
		st->bytes_done += row->pub.size;
		buf_release(&looks[i].brief.title);
		buf_release(&looks[i].brief.parent);
	}
	free(looks);
	return n > 0;
}
