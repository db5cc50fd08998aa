/*
 * list.c - the sessions of the roots: names first, from readdir and stat only,
 * then the rows one by one; looking again; finding one by path or id. What a
 * row says is row.c's.
 */
#include "config.h"
#include "store/list.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"
#include "format/tree/tree.h"

enum {
	SCAN_MAX = 1024, /* names in one turn */
	LOAD_US = 2000,  /* the least a load gets, so that a tiny budget still ends */
	FIND_LIST = 8 /* candidates named */
};

/* ---- rows by path ---- */

static uint64_t path_hash(const struct store *st, const char *path)
{
	uint64_t h = 0xcbf29ce484222325u ^ st->seed;

	for (; *path; path++)
		h = (h ^ (unsigned char)*path) * 0x100000001b3u;
	return h ^ h >> 29;
}

static size_t table_slot(const struct store *st, const char *path, uint64_t hash)
{
	size_t at = hash & (st->table_cap - 1);

	while (st->table[at]) {
		const struct row *row = st->rows[st->table[at] - 1];

		if (row->hash == hash && strcmp(row->pub.path, path) == 0)
			break;
		at = (at + 1) & (st->table_cap - 1);
	}
	return at;
}

static void table_grow(struct store *st)
{
	if (st->table && st->nrows * 2 < st->table_cap)
		return;
	st->table_cap = st->table_cap ? st->table_cap * 2 : 256;
	free(st->table);
	st->table = xcalloc(st->table_cap, sizeof(*st->table));
	for (size_t i = 0; i < st->nrows; i++)
		st->table[table_slot(st, st->rows[i]->pub.path, st->rows[i]->hash)] = i + 1;
}

static struct row *row_by_path(struct store *st, const char *path, size_t *slot, uint64_t *hash)
{
	table_grow(st);
	*hash = path_hash(st, path);
	*slot = table_slot(st, path, *hash);
	return st->table[*slot] ? st->rows[st->table[*slot] - 1] : NULL;
}

/* ---- names ---- */

static bool dir_is_writable(struct store *st, const char *path)
{
	char *dir = path_dir(path);

	if (st->checked_dir && strcmp(st->checked_dir, dir) == 0) {
		free(dir);
		return st->checked_writable;
	}
	free(st->checked_dir);
	st->checked_dir = dir;
	st->checked_writable = log_can_write(dir, NULL) == 0;
	return st->checked_writable;
}

/* What the row shows as its root: of a file given by itself its folder. */
static const char *root_folder(struct store *st, const struct root *root)
{
	char *dir;
	const char *kept;

	if (!root->is_file)
		return root->path;
	dir = path_dir(root->path);
	kept = arena_strdup(&st->arena, dir);
	free(dir);
	return kept;
}

static struct row *row_add(
	struct store *st, size_t root, const struct found *f, size_t slot, uint64_t hash)
{
	struct row *row = arena_new(&st->arena, struct row);

	row->root = root;
	row->hash = hash;
	row->pub = (struct session_row){
		.id = arena_strdup(&st->arena, f->id),
		.path = arena_strdup(&st->arena, f->path),
		.root = root_folder(st, &st->roots[root]),
		.project = f->project && *f->project ? arena_strdup(&st->arena, f->project) : "",
		.format = st->roots[root].fmt->name,
		.first_time = INT64_MIN,
		.last_time = INT64_MIN,
	};
	st->rows = xgrow(st->rows, &st->rows_cap, st->nrows + 1, sizeof(*st->rows));
	st->rows[st->nrows++] = row;
	st->table[slot] = st->nrows;
	return row;
}

static void queue_row(struct store *st, size_t i)
{
	struct row *row = st->rows[i];

	if (!row->to_load)
		st->bytes_all += row->pub.size;
	row->to_load = true;
	row_forget_rest(st, row);
	if (i < st->next)
		st->next = i;
	if (i < st->next_brief)
		st->next_brief = i;
}

static struct log_id sidecar_of(const struct store *st, const struct row *row)
{
	struct log_id id = { 0 };

	if (st->roots[row->root].fmt == &format_tree) {
		char *path = tree_sidecar_path(row->pub.path);

		log_stat(path, &id, NULL);
		free(path);
	}
	return id;
}

struct scan_arg {
	struct store *st;
	size_t root;
};

static void on_found(const struct found *f, void *arg)
{
	struct scan_arg *a = arg;
	struct store *st = a->st;
	size_t slot;
	uint64_t hash;
	struct row *row = row_by_path(st, f->path, &slot, &hash);
	bool is_new = !row, changed;
	struct log_id sidecar = { 0 };

	st->roots[a->root].nfound++;
	if (is_new)
		row = row_add(st, a->root, f, slot, hash);
	else
		sidecar = sidecar_of(st, row); /* the first load reads it anyway */
	changed = is_new || row->pub.is_gone || row->pub.state == ROW_UNREADABLE ||
		  log_id_differs(&row->file, &f->file) || log_id_differs(&row->sidecar, &sidecar);
	row->generation = st->generation;
	row->pub.is_gone = false;
	row->file = f->file;
	row->pub.size = f->file.size;
	row->pub.mtime = f->file.mtime_ns / 1000000;
	row->pub.is_readonly = !st->is_brief && !dir_is_writable(st, f->path);
	changed = changed || row->pub.is_in_use; /* no more, perhaps */
	if (f->unreadable)
		row_unreadable(row, f->unreadable);
	else if (changed)
		queue_row(st, st->table[slot] - 1);
}

static void scan_file(struct store *st, size_t i)
{
	struct root *root = &st->roots[i];
	struct scan_arg arg = { st, i };
	struct found f = { .path = root->path, .project = "" };
	struct err err = { 0 };
	const char *base = path_base(root->path), *dot = strchr(base, '.');
	char *id = xstrndup(base, dot && dot > base ? (size_t)(dot - base) : strlen(base));

	f.id = id;
	if (log_stat(root->path, &f.file, &err) == 0 && f.file.exists)
		on_found(&f, &arg);
	else
		root_set_note(root, xasprintf("%s is gone", root->path));
	free(id);
}

static int by_id(const void *a, const void *b)
{
	return strcmp((*(struct row *const *)a)->pub.id, (*(struct row *const *)b)->pub.id);
}

/* Sessions of one root that share an id: whoever looks one up by it finds the other. */
static void mark_twins(struct row **rows, size_t n)
{
	qsort(rows, n, sizeof(*rows), by_id);
	for (size_t k = 0; k < n; k++)
		rows[k]->pub.is_twin = (k > 0 && by_id(&rows[k - 1], &rows[k]) == 0) ||
				       (k + 1 < n && by_id(&rows[k], &rows[k + 1]) == 0);
}

/* `why`: the names could not all be read; then nobody knows which are gone. */
static void scan_done(struct store *st, size_t i, const char *why)
{
	struct root *root = &st->roots[i];
	struct row **here = xcalloc(st->nrows ? st->nrows : 1, sizeof(*here));
	size_t n = 0;

	root->to_scan = root->scan_started = false;
	for (size_t k = 0; k < st->nrows; k++) {
		if (st->rows[k]->root != i)
			continue;
		if (!why && st->rows[k]->generation != st->generation)
			st->rows[k]->pub.is_gone = true;
		if (!st->rows[k]->pub.is_gone)
			here[n++] = st->rows[k];
	}
	mark_twins(here, n);
	free(here);
	if (why || root->nfound > 0)
		root_set_note(root, why ? xstrdup(why) : NULL);
	else if (!root->note)
		root_set_note(root, xasprintf("%s holds no sessions; looked for %s", root->path,
					    root->fmt->title));
}

static bool is_regular(const char *path)
{
	struct stat sb;

	return stat(path, &sb) == 0 && S_ISREG(sb.st_mode);
}

/* A turn on one root: 1 when it has more. */
static int scan_root(struct store *st, size_t i)
{
	struct root *root = &st->roots[i];
	struct scan_arg arg = { st, i };
	struct err err = { 0 };
	int rc = 0;

	if (!root->scan_started) {
		root->scan_started = true;
		root->scan_pos = 0;
		root->nfound = 0;
		if (!root->fmt && (root->fmt = format_detect(root->path, &err)))
			root->is_file = is_regular(root->path); /* it may have come only now */
	}
	if (!root->fmt) {
		root_set_note(root, xstrdup(err.text));
		root->to_scan = root->scan_started = false;
		return 0;
	}
	if (root->is_file)
		scan_file(st, i);
	else
		rc = root->fmt->scan(root->path, &root->scan_pos, SCAN_MAX, on_found, &arg, &err);
	if (rc == 1)
		return 1;
	scan_done(st, i, rc < 0 ? err.text : NULL);
	return 0;
}

int list_scan(struct store *st)
{
	for (size_t i = 0; i < st->nroots; i++)
		if (st->roots[i].to_scan) {
			scan_root(st, i);
			return 1;
		}
	return 0;
}

void store_scan(struct store *st)
{
	while (list_scan(st))
		;
}

void store_finish_rows(struct store *st)
{
	st->finishes = true;
}

void store_set_brief(struct store *st)
{
	st->is_brief = true;
}

void store_rescan(struct store *st)
{
	st->generation++;
	for (size_t i = 0; i < st->nroots; i++) {
		st->roots[i].to_scan = true;
		st->roots[i].scan_started = false;
	}
	free(st->checked_dir);
	st->checked_dir = NULL;
}

/* ---- loading ---- */

static bool is_loading(const struct store *st, size_t row)
{
	for (int i = 0; i < LOADERS; i++)
		if (st->loader[i].w && st->loader[i].row == row)
			return true;
	return false;
}

static bool waits(const struct store *st, size_t row)
{
	return row < st->nrows && st->rows[row]->to_load && !is_loading(st, row);
}

static bool waits_for_rest(const struct store *st, size_t row)
{
	return row < st->nrows && st->rows[row]->to_finish && !is_loading(st, row);
}

/* When all rows say something: those that were too long, to their end, one by one. */
static struct loader *pick_rest(struct store *st, const size_t *first)
{
	struct loader *rest = &st->loader[LOAD_REST];
	size_t row = 0;

	if (rest->w)
		return rest;
	if (!st->finishes || st->nrest == 0)
		return NULL;
	if (first && waits_for_rest(st, *first))
		row = *first;
	while (row < st->nrows && !waits_for_rest(st, row))
		row++;
	if (row == st->nrows)
		return NULL;
	row_begin(st, rest, row);
	return rest;
}

/* The loader to go on with: the row that is looked at first, then in order. NULL: nothing to do. */
static struct loader *pick(struct store *st, const size_t *first)
{
	struct loader *back = &st->loader[LOAD_BACK], *front = &st->loader[LOAD_FRONT];

	if (front->w)
		return front;
	if (first && waits(st, *first)) {
		row_begin(st, front, *first);
		return front;
	}
	if (back->w)
		return back;
	while (st->next < st->nrows && !waits(st, st->next))
		st->next++;
	if (st->next == st->nrows)
		return pick_rest(st, first);
	row_begin(st, back, st->next);
	return back;
}

int store_step(struct store *st, unsigned budget_us, const size_t *first)
{
	uint64_t end = clock_mono_us() + budget_us, now;

	do {
		struct loader *l;

		now = clock_mono_us();
		if (list_scan(st) || brief_step(st, now < end ? end - now : 0, first))
			continue;
		l = pick(st, first);
		if (!l) {
			st->bytes_done = st->bytes_all = 0;
			return 0;
		}
		now = clock_mono_us();
		row_step(st, l, now + LOAD_US < end ? end - now : LOAD_US);
	} while (clock_mono_us() < end);
	return 1;
}

/* ---- asking ---- */

size_t store_nrows(const struct store *st)
{
	return st->nrows;
}

const struct session_row *store_row(const struct store *st, size_t i)
{
	struct session_row *row = &st->rows[i]->pub;

	/* time goes on between two looks at the disk */
	row->live = row->is_gone ? LIVE_QUIET
				 : live_of(row->is_in_use, row->mtime, row->has_open_turn);
	return row;
}

void store_progress(const struct store *st, uint64_t *done, uint64_t *all)
{
	*done = st->bytes_done;
	*all = st->bytes_all;
}

static bool find_file(const struct store *st, const struct log_id *id, size_t *found)
{
	for (size_t i = 0; i < st->nrows; i++) {
		const struct row *row = st->rows[i];

		if (!row->pub.is_gone && row->file.dev == id->dev && row->file.ino == id->ino) {
			*found = i;
			return true;
		}
	}
	return false;
}

/* A session file; or a session folder, or a root that holds one session. */
static int find_by_path(struct store *st, const char *name, size_t *found, struct err *err)
{
	char *path = path_expand(name);
	struct log_id id = { 0 };
	size_t before = st->nrows;
	int rc = 0;

	if (log_stat(path, &id, NULL) == 0 && id.exists && find_file(st, &id, found))
		goto out;
	rc = store_add(st, path, err);
	while (rc == 0 && list_scan(st))
		;
	if (rc < 0 || find_file(st, &id, found))
		goto out;
	*found = before;
	if (st->nrows == before)
		rc = err_set(err, ERR_NOTFOUND, "%s holds no session", path);
	else if (st->nrows > before + 1)
		rc = err_set(err, ERR_AMBIGUOUS, "%s holds %zu sessions; name one", path,
			st->nrows - before);
out:
	free(path);
	return rc;
}

static void list_candidates(
	struct store *st, const char *name, size_t n, bool exact, struct buf *list)
{
	size_t left = FIND_LIST;

	for (size_t i = 0; list && i < st->nrows && left > 0; i++) {
		const struct session_row *row = &st->rows[i]->pub;

		if (row->is_gone || strncmp(row->id, name, n) != 0 || (exact && row->id[n]))
			continue;
		buf_printf(list, "%s\n", row->path);
		left--;
	}
}

static int find_by_id(
	struct store *st, const char *name, size_t *found, struct buf *list, struct err *err)
{
	size_t n = strlen(name), nexact = 0, nprefix = 0, exact = 0, prefix = 0;

	for (size_t i = 0; i < st->nrows; i++) {
		const struct session_row *row = &st->rows[i]->pub;

		if (row->is_gone || strncmp(row->id, name, n) != 0)
			continue;
		prefix = i;
		nprefix++;
		if (!row->id[n]) {
			exact = i;
			nexact++;
		}
	}
	if (nexact == 1 || (nexact == 0 && nprefix == 1)) {
		*found = nexact ? exact : prefix;
		return 0;
	}
	if (nprefix == 0 || n == 0)
		return err_set(err, ERR_NOTFOUND, "no session \"%s\" among %zu in %zu root%s", name,
			st->nrows, st->nroots, plural(st->nroots, "", "s"));
	list_candidates(st, name, n, nexact > 0, list);
	return err_set(err, ERR_AMBIGUOUS,
		nexact ? "\"%s\" is the id of %zu sessions" : "\"%s\" begins the ids of %zu sessions",
		name, nexact ? nexact : nprefix);
}

int store_find(struct store *st, const char *name, size_t *row, struct buf *list, struct err *err)
{
	struct err by_id = { 0 };
	int rc;

	while (list_scan(st))
		;
	if (strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return find_by_path(st, name, row, err);
	rc = find_by_id(st, name, row, list, &by_id);
	if (rc == ERR_NOTFOUND && access(name, F_OK) == 0)
		return find_by_path(st, name, row, err);
	return rc < 0 ? err_hand_over(err, &by_id) : 0;
}
