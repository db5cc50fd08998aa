/*
 * convert-root.c - which logs a conversion is about, and whether it may begin.
 * A harness takes one encoding for a whole root and refuses every session of one
 * in which it finds the other, so a conversion is about a root: all of it, or a
 * part while the rest has the new encoding already. Nothing is begun beside a
 * writer, nor when something of it could not be brought to its end.
 *
 * A conversion that was interrupted leaves each log in one encoding or the
 * other; the next one passes over what is done. How one log is converted is
 * ops-convert.c's.
 */
#include "config.h"
#include "store/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"
#include "format/dsh/dsh.h"
#include "store/ops-dsh.h"

struct conversion {
	struct store *st;                 /* the root that holds the place */
	const struct session_row **rows; /* those that are converted */
	size_t n, at;
	bool to_zstd, is_forced;
};

/* ---- what it is about ---- */

static bool is_below(const char *path, const char *place)
{
	size_t n = strlen(place);

	return strncmp(path, place, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

static int by_path(const void *a, const void *b)
{
	return strcmp((*(const struct session_row *const *)a)->path,
		(*(const struct session_row *const *)b)->path);
}

static int find_rows(struct conversion *c, const char *place, struct err *err)
{
	char *real = realpath(place, NULL), *root;
	char why[STORE_WHY];
	int rc;

	if (!real)
		return err_sys(err, "%s", place);
	root = dsh_root_of(real);
	rc = store_add(c->st, root, err);
	if (rc == 0)
		store_scan(c->st);
	c->rows = xcalloc(store_nrows(c->st) + 1, sizeof(*c->rows));
	for (size_t i = 0; i < store_nrows(c->st) && rc == 0; i++) {
		const struct session_row *row = store_row(c->st, i);

		if (!store_can(row->format, WORK_CONVERT, why))
			rc = err_set(err, ERR_UNSUPPORTED, "%s", why);
		else if (is_below(row->path, real))
			c->rows[c->n++] = row;
	}
	if (rc == 0 && c->n == 0)
		rc = err_set(err, ERR_NOTFOUND, "%s holds no log", place);
	qsort(c->rows, c->n, sizeof(*c->rows), by_path); /* folders list their names in no order */
	free(real);
	free(root);
	return rc;
}

static bool is_chosen(const struct conversion *c, const struct session_row *row)
{
	return bsearch(&row, c->rows, c->n, sizeof(*c->rows), by_path) != NULL;
}

/* ---- may it begin? ---- */

/* Is it fresh because a conversion made it, and nobody wrote since? */
static bool is_ours(const struct session_row *row)
{
	char *old = convert_newest_old(row->path);
	uint64_t nlines;
	bool is = old && dsh_compare(old, row->path, &nlines, NULL) == 0;

	free(old);
	return is;
}

/* By the one rule (live.c); only of a log that is fresh enough it matters whether a turn is open. */
static int look_live(const struct session_row *row, struct live_look *out, struct err *err)
{
	struct work *w = NULL;
	int rc = work_open_as(&w, &format_dsh, row->path, err);

	if (rc == 0)
		work_live(w, out);
	if (rc == 0 && out->state == LIVE_QUIET &&
		live_of(false, out->mtime, true) != LIVE_QUIET) {
		rc = work_load(w, err);
		if (rc == 0)
			work_live(w, out);
	}
	work_close(&w);
	return rc;
}

/* May somebody be writing this log of the root? What can not be read is said later. */
static int check_rests(const struct session_row *row, struct err *err)
{
	struct live_look live;
	char when[40];

	if (row->state == ROW_UNREADABLE || look_live(row, &live, NULL) < 0 ||
		live.state == LIVE_QUIET)
		return 0;
	if (live.state == LIVE_IN_USE)
		return err_set(err, ERR_LOCKED, "%s is in use, and so is its root", row->path);
	if (is_ours(row))
		return 0;
	live_when(live.mtime, when);
	return err_set(err, ERR_LOCKED, "%s may be in use (%s), and so may be its root", row->path,
		when);
}

static int check_root_rests(const struct conversion *c, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < store_nrows(c->st) && rc == 0; i++)
		rc = check_rests(store_row(c->st, i), err);
	return rc;
}

/* The others must have the encoding that these get. */
static int check_others(const struct conversion *c, struct err *err)
{
	const struct session_row *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < store_nrows(c->st); i++) {
		const struct session_row *row = store_row(c->st, i);

		if (is_chosen(c, row) || dsh_is_stored(row->path, c->to_zstd))
			continue;
		first = first ? first : row;
		n++;
	}
	if (n == 0)
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		"%zu log%s beside it ha%s the other encoding, and a harness refuses every session of "
		"a root with both: convert %s whole, or --force (the first is %s)",
		n, plural(n, "", "s"), plural(n, "s", "ve"), store_root(c->st, 0), first->path);
}

/* Why a log could not be converted, before any is. */
static int check_one(const struct conversion *c, const struct session_row *row, struct err *err)
{
	struct work *w = NULL;
	struct err e = { 0 };
	struct done d = { 0 };
	int rc;

	if (row->state == ROW_UNREADABLE)
		return err_set(err, ERR_IO, "%s: %s", row->path, row->reason);
	if (dsh_is_stored(row->path, c->to_zstd))
		return 0;
	rc = work_open_as(&w, &format_dsh, row->path, &e);
	if (rc == 0)
		rc = work_convert(w, c->to_zstd, true, &d, &e);
	work_close(&w);
	done_release(&d);
	return rc < 0 ? err_hand_over(err, &e) : 0;
}

/* All that stand in the way go to `list`, a line each. */
static int check_all(const struct conversion *c, struct buf *list, struct err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		struct err e = { 0 };

		if (check_one(c, c->rows[i], &e) == 0)
			continue;
		buf_printf(list, "%s\n", e.text);
		n++;
	}
	if (n == 0)
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		"%zu of %zu can not be converted, and a root with both encodings is of no use; "
		"nothing was done (--force converts the others)",
		n, c->n);
}

int conversion_begin(struct conversion **out, const char *place, bool to_zstd, bool is_forced,
	struct buf *list, struct err *err)
{
	struct conversion *c = xcalloc(1, sizeof(*c));
	int rc;

	*out = c;
	c->st = store_new();
	c->to_zstd = to_zstd;
	c->is_forced = is_forced;
	rc = find_rows(c, place, err);
	if (rc == 0)
		rc = check_root_rests(c, err);
	if (rc == 0 && !is_forced)
		rc = check_others(c, err);
	if (rc == 0 && !is_forced && c->n > 1) /* one says so itself */
		rc = check_all(c, list, err);
	if (rc < 0)
		conversion_end(out);
	return rc;
}

size_t conversion_size(const struct conversion *c)
{
	return c->n;
}

int conversion_step(struct conversion *c, bool dry, struct done *d, bool *was_so, struct err *err)
{
	const struct session_row *row;
	struct work *w = NULL;
	int rc;

	if (c->at == c->n)
		return 0;
	row = c->rows[c->at++];
	*was_so = row->state != ROW_UNREADABLE && dsh_is_stored(row->path, c->to_zstd);
	if (row->state == ROW_UNREADABLE)
		return err_set(err, ERR_IO, "%s: %s", row->path, row->reason);
	rc = check_rests(row, err); /* a harness may have come since the beginning */
	if (rc == 0)
		rc = work_open_as(&w, &format_dsh, row->path, err);
	if (rc == 0)
		rc = work_convert(w, c->to_zstd, dry, d, err);
	if (rc == 0)
		done_set(d->session, sizeof(d->session), str_of(row->id));
	work_close(&w);
	return rc < 0 ? rc : 1;
}

void conversion_end(struct conversion **cp)
{
	struct conversion *c = *cp;

	if (!c)
		return;
	store_free(&c->st);
	free(c->rows);
	free(c);
	*cp = NULL;
}
