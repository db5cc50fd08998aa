/*
 * cmd-list.c - `bough list`: the sessions of the roots, grouped by project,
 * children under their parent.
 */
#include "config.h"

#include "cmd/cmd-flow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"

enum { NO_ITEM = -1, STEP_US = 100000 };

enum sort_key { SORT_ACTIVITY, SORT_CREATED, SORT_TITLE, SORT_SIZE };

/* One session: what it is sorted by, and its place among the others. */
struct item {
	const struct session_row *row;
	int64_t activity, created;
	uint64_t size;
	char *title;
	json_doc *doc;               /* with --json */
	int parent, first_child, next; /* items; next among siblings, or roots of a group */
	int depth;
	bool misses_parent;
};

struct group {
	const char *name;
	int first, last; /* items without a parent, chained by next */
	size_t count;    /* sessions, children too */
};

struct list {
	struct item *v;
	size_t n;
	struct group *groups;
	size_t ngroups, groups_cap;
};

static bool parse_sort(struct cmd *c, enum sort_key *key)
{
	static const char *const words[] = { [SORT_ACTIVITY] = "activity",
		[SORT_CREATED] = "created", [SORT_TITLE] = "title", [SORT_SIZE] = "size" };

	*key = SORT_ACTIVITY;
	if (!c->opt[OPT_SORT])
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i], c->opt[OPT_SORT])) {
			*key = (enum sort_key)i;
			return true;
		}
	}
	cmd_complain(0, "list: --sort wants activity, created, title or size, not '%s'",
		c->opt[OPT_SORT]);
	return false;
}

/* ---- order ---- */

static int newest_first(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

static int by_path(const struct item *a, const struct item *b)
{
	return strcmp(a->row->path, b->row->path);
}

static int by_activity(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;
	int order = newest_first(a->activity, b->activity);

	return order ? order : by_path(a, b);
}

static int by_created(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;
	int order = newest_first(a->created, b->created);

	return order ? order : by_path(a, b);
}

static int by_title(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;
	int order = strcmp(a->title, b->title);

	return order ? order : by_path(a, b);
}

static int by_size(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;
	int order = (a->size < b->size) - (a->size > b->size);

	return order ? order : by_path(a, b);
}

static void sort_items(struct list *l, enum sort_key key)
{
	static int (*const orders[])(const void *, const void *) = { [SORT_ACTIVITY] = by_activity,
		[SORT_CREATED] = by_created, [SORT_TITLE] = by_title, [SORT_SIZE] = by_size };

	qsort(l->v, l->n, sizeof(*l->v), orders[key]);
}

/* ---- parents ---- */


struct by_id {
	const char *id;
	int item;
};

static int compare_ids(const void *a, const void *b)
{
	return strcmp(((const struct by_id *)a)->id, ((const struct by_id *)b)->id);
}

/* Parents that come back to the item: hostile, or a mistake. The link is not followed. */
static bool closes_cycle(const struct list *l, int item, int parent)
{
	for (int at = parent; at != NO_ITEM; at = l->v[at].parent) {
		if (at == item)
			return true;
	}
	return false;
}

static void find_parents(struct list *l)
{
	struct by_id *ids = xcalloc(l->n ? l->n : 1, sizeof(*ids));

	for (size_t i = 0; i < l->n; i++) {
		ids[i] = (struct by_id){ l->v[i].row->id, (int)i };
		l->v[i].parent = l->v[i].first_child = l->v[i].next = NO_ITEM;
	}
	qsort(ids, l->n, sizeof(*ids), compare_ids);
	for (size_t i = 0; i < l->n; i++) {
		struct by_id key = { l->v[i].row->parent_id, 0 }, *found;

		if (!key.id || !*key.id)
			continue;
		found = bsearch(&key, ids, l->n, sizeof(*ids), compare_ids);
		if (found && !closes_cycle(l, (int)i, found->item))
			l->v[i].parent = found->item;
		else
			l->v[i].misses_parent = !found;
	}
	free(ids);
}

static struct group *group_of(struct list *l, const char *name)
{
	for (size_t i = l->ngroups; i-- > 0;) {
		if (!strcmp(l->groups[i].name, name))
			return &l->groups[i];
	}
	l->groups = xgrow(l->groups, &l->groups_cap, l->ngroups + 1, sizeof(*l->groups));
	l->groups[l->ngroups] = (struct group){ .name = name, .first = NO_ITEM, .last = NO_ITEM };
	return &l->groups[l->ngroups++];
}

static int top_of(const struct list *l, int item)
{
	while (l->v[item].parent != NO_ITEM)
		item = l->v[item].parent;
	return item;
}

/* Groups stand in the order of their first session; a child is in its topmost parent's group. */
static void make_groups(struct list *l)
{
	for (size_t i = l->n; i-- > 0;) { /* backwards, so that children come out in order */
		int parent = l->v[i].parent;

		if (parent == NO_ITEM)
			continue;
		l->v[i].next = l->v[parent].first_child;
		l->v[parent].first_child = (int)i;
	}
	for (size_t i = 0; i < l->n; i++) {
		const struct session_row *top = l->v[top_of(l, (int)i)].row;
		struct group *g = group_of(l, *top->project ? top->project : top->root);

		g->count++;
		if (l->v[i].parent != NO_ITEM)
			continue;
		if (g->last == NO_ITEM)
			g->first = (int)i;
		else
			l->v[g->last].next = (int)i;
		g->last = (int)i;
	}
}

/* Preorder; without a stack, by the parent links. */
static int next_item(struct list *l, int item)
{
	int child = l->v[item].first_child;

	if (child != NO_ITEM) {
		l->v[child].depth = l->v[item].depth + 1;
		return child;
	}
	while (item != NO_ITEM && l->v[item].next == NO_ITEM)
		item = l->v[item].parent;
	if (item == NO_ITEM)
		return NO_ITEM;
	l->v[l->v[item].next].depth = l->v[item].depth;
	return l->v[item].next;
}

/* ---- text ---- */

static void state_words(const struct session_row *row, struct buf *words)
{
	buf_clear(words);
	if (row->live != LIVE_QUIET)
		buf_adds(words, row->live == LIVE_IN_USE ? "in use " : "live ");
	if (row->is_torn)
		buf_printf(words, "torn %" PRIu64 " B ", row->torn_bytes);
	if (row->is_damaged)
		buf_adds(words, "damaged ");
	if (row->is_partial)
		buf_adds(words, "not read to its end ");
	if (row->has_open_turn)
		buf_adds(words, "open turn ");
	if (row->is_twin)
		buf_adds(words, "same id ");
	if (row->is_readonly)
		buf_adds(words, "read-only ");
	if (words->n)
		words->n--;
}

static void print_state(struct cmd *c, const struct session_row *row, int width)
{
	struct buf words = { 0 };
	int used;

	state_words(row, &words);
	out_style(&c->out, row->is_torn || row->is_damaged || row->is_twin ? STYLE_DAMAGE : STYLE_DIM);
	used = out_fit(&c->out, (struct str){ words.p ? words.p : "", words.n }, 0);
	out_style(&c->out, STYLE_NONE);
	out_pad(&c->out, width - used);
	buf_release(&words);
}

static void print_id(struct cmd *c, const struct item *it, uint32_t len, int width)
{
	int used;

	out_style(&c->out, STYLE_ID);
	used = out_fit(&c->out, (struct str){ it->row->id, len }, 0);
	out_style(&c->out, STYLE_NONE);
	out_pad(&c->out, width - used);
}

static void print_counts(struct cmd *c, const struct session_row *row, int state_width)
{
	char age[8], size[16];
	bool dated = row->last_time != INT64_MIN, are_steps = strcmp(row->format, "flow") == 0;

	time_age(dated ? row->last_time : row->mtime, clock_now_ms(), age);
	size_human(row->size, size);
	out_printf(&c->out, " %4s%c  ", age, dated ? ' ' : '*');
	if (c->opt[OPT_HEADERS])
		out_pad(&c->out, 16);
	else if (row->is_uncounted)
		out_printf(&c->out, "     - %-7s  ", are_steps ? "steps" : "entries");
	else if (row->is_partial)
		out_printf(&c->out, "%5" PRIu32 "+ %-7s  ", row->entries, are_steps ? "steps" : "entries");
	else
		out_printf(&c->out, "%6" PRIu32 " %-7s  ", row->entries,
			are_steps ? plural(row->entries, "step", "steps")
				  : plural(row->entries, "entry", "entries"));
	if (row->branches > 1)
		out_printf(&c->out, "%4" PRIu32 " branches  ", row->branches);
	else
		out_pad(&c->out, 15);
	out_printf(&c->out, "%6s  ", size);
	print_state(c, row, state_width);
}

static void print_title(struct cmd *c, const struct item *it, int left)
{
	int depth = it->depth < 20 ? it->depth : 20;

	out_puts(&c->out, "  ");
	out_pad(&c->out, 2 * depth);
	if (c->out.columns > 0) {
		left = c->out.columns - left - 2 - 2 * depth;
		left = left < 10 ? 10 : left;
	} else {
		left = 0;
	}
	out_fit(&c->out, str_of(it->title), left);
	if (it->misses_parent) {
		out_puts(&c->out, "  (its parent ");
		out_words(&c->out, str_of(it->row->parent_id));
		out_puts(&c->out, " is not here)");
	}
	out_puts(&c->out, "\n");
}

/* Of the columns that are as wide as what stands in them. */
struct widths {
	int id, state;
};

static void print_item(struct cmd *c, const struct item *it, uint32_t id_len, const struct widths *w)
{
	out_puts(&c->out, "  ");
	print_id(c, it, id_len, w->id);
	if (it->row->state == ROW_UNREADABLE) {
		out_style(&c->out, STYLE_DAMAGE);
		out_puts(&c->out, "  (cannot read: ");
		out_words(&c->out, str_of(it->row->reason));
		out_puts(&c->out, ")");
		out_style(&c->out, STYLE_NONE);
		out_puts(&c->out, "\n");
		return;
	}
	print_counts(c, it->row, w->state);
	print_title(c, it, w->id + w->state + 46);
}

static void print_groups(struct cmd *c, struct list *l, const uint32_t *len, const struct widths *w)
{
	for (size_t g = 0; g < l->ngroups && out_is_alive(&c->out); g++) {
		char *name = path_shorten(l->groups[g].name);

		if (g > 0)
			out_puts(&c->out, "\n");
		out_words_in(&c->out, STYLE_HEAD, str_of(name));
		out_printf(&c->out, "  %zu session%s\n", l->groups[g].count,
			plural(l->groups[g].count, "", "s"));
		free(name);
		for (int i = l->groups[g].first; i != NO_ITEM; i = next_item(l, i))
			print_item(c, &l->v[i], len[i], w);
	}
}

static void print_list(struct cmd *c, struct list *l)
{
	struct str *ids = xcalloc(l->n ? l->n : 1, sizeof(*ids));
	uint32_t *len = xcalloc(l->n ? l->n : 1, sizeof(*len));
	struct widths w = { .id = SHORT_ID, .state = 10 };
	struct buf words = { 0 };

	find_parents(l);
	make_groups(l);
	for (size_t i = 0; i < l->n; i++)
		ids[i] = str_of(l->v[i].row->id);
	ids_lengths(ids, l->n, 20, len);
	for (size_t i = 0; i < l->n; i++) {
		if ((int)len[i] > w.id && len[i] <= 24)
			w.id = (int)len[i];
		state_words(l->v[i].row, &words);
		if ((int)words.n > w.state)
			w.state = (int)words.n;
	}
	print_groups(c, l, len, &w);
	buf_release(&words);
	free(ids);
	free(len);
}

/* ---- loading ---- */

/* Without a time of its own a session sorts by its file's. */
static void fill_item(struct item *it, const struct session_row *row, int64_t first, int64_t last)
{
	it->row = row;
	it->activity = last != INT64_MIN ? last : row->mtime;
	it->created = first != INT64_MIN ? first : row->mtime;
	it->size = row->size;
}

/* With --headers: what the row knows without loading. */
static json_doc *json_brief(const struct session_row *row)
{
	json_doc *o = json_doc_object();

	json_doc_set(o, "id", json_cstr(row->id));
	json_doc_set(o, "format", json_cstr(row->format));
	json_doc_set(o, "path", json_cstr(row->path));
	json_doc_set(o, "size", json_doc_uint(row->size));
	if (row->parent_id)
		json_doc_set(o, "parent", json_cstr(row->parent_id));
	if (row->first_time != INT64_MIN)
		json_doc_set(o, "created", json_doc_int(row->first_time));
	json_doc_set(o, "damaged", json_doc_bool(row->is_damaged));
	if (row->is_twin)
		json_doc_set(o, "duplicate_id", json_doc_bool(true));
	if (row->state == ROW_UNREADABLE)
		json_doc_set(o, "error", json_cstr(row->reason));
	return o;
}

static void load_rows(struct cmd *c, struct list *l)
{
	while (store_step(c->store, STEP_US, NULL) > 0)
		;
	l->v = xcalloc(store_nrows(c->store) + 1, sizeof(*l->v));
	for (size_t i = 0; i < store_nrows(c->store); i++) {
		const struct session_row *row = store_row(c->store, i);
		struct item *it = &l->v[l->n];

		if (row->is_gone)
			continue;
		fill_item(it, row, row->first_time, row->last_time);
		it->title = xstrdup(row->title ? row->title : row->id);
		if (c->json)
			it->doc = json_brief(row);
		l->n++;
	}
}

static json_doc *json_unreadable(const struct session_row *row, const char *reason)
{
	json_doc *o = json_doc_object();

	json_doc_set(o, "id", json_cstr(row->id));
	json_doc_set(o, "format", json_cstr(row->format));
	json_doc_set(o, "path", json_cstr(row->path));
	json_doc_set(o, "error", json_cstr(reason));
	return o;
}

/* Opens the session of a row, makes its object, and closes it again. */
static void load_object(struct cmd *c, struct item *it, const struct session_row *row)
{
	struct err err = { 0 };
	struct buf title = { 0 };

	fill_item(it, row, INT64_MIN, INT64_MIN);
	if (row->state == ROW_UNREADABLE) {
		it->doc = json_unreadable(row, row->reason);
	} else if (strcmp(row->format, "flow") == 0) {
		it->doc = json_flow_row(c, row, &title);
	} else if (work_open_row(&c->work, row, &err) < 0 || work_load_part(c->work, &err) < 0) {
		it->doc = json_unreadable(row, err.text);
	} else {
		c->s = work_session(c->work);
		fill_item(it, row, c->s->first_time, c->s->last_time);
		session_title(c->s, &title);
		if (row->is_twin)
			problem_add(&c->s->problems, &c->s->arena, "duplicate-id", 1, 0, 0, ENTRY_NONE,
				"another session of the root has this id");
		it->doc = json_session(c, false);
	}
	work_close(&c->work);
	it->title = title.n ? buf_take(&title) : xstrdup(row->id);
	buf_release(&title);
}

static void load_objects(struct cmd *c, struct list *l)
{
	store_scan(c->store);
	l->v = xcalloc(store_nrows(c->store) + 1, sizeof(*l->v));
	for (size_t i = 0; i < store_nrows(c->store); i++) {
		const struct session_row *row = store_row(c->store, i);

		if (!row->is_gone)
			load_object(c, &l->v[l->n++], row);
	}
}

static json_doc *take_objects(struct list *l)
{
	json_doc *list = json_doc_list();

	for (size_t i = 0; i < l->n; i++) {
		json_doc_add(list, l->v[i].doc);
		l->v[i].doc = NULL;
	}
	return list;
}

int cmd_list(struct cmd *c)
{
	struct list l = { 0 };
	enum sort_key key;
	int status;

	if (!parse_sort(c, &key))
		return STATUS_USAGE;
	status = cmd_paths(c);
	if (status != STATUS_DONE)
		return status;
	if (c->opt[OPT_HEADERS])
		store_set_brief(c->store);
	if (c->json && !c->opt[OPT_HEADERS])
		load_objects(c, &l);
	else
		load_rows(c, &l);
	status = cmd_root_notes(c);
	sort_items(&l, key);
	if (c->json)
		status = json_print(c, take_objects(&l), status);
	else
		print_list(c, &l);
	for (size_t i = 0; i < l.n; i++)
		free(l.v[i].title);
	free(l.v);
	free(l.groups);
	return status;
}
