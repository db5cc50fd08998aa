/*
 * session-rows.c - from the store's rows to the lines of the list. Built anew
 * as a whole each time, O(n log n); rows keep their index in the store, so
 * folds and the cursor are kept by it.
 */
#include "config.h"

#include "ui/session-rows.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/xalloc.h"
#include "store/store.h"
#include "ui/session-flags.h"

#define NONE SIZE_MAX

static const char *const sort_names[SORT_COUNT] = { "activity", "created", "title", "size" };

/* One store row while the list is being made. */
struct item {
	const struct session_row *row;
	size_t index;
	size_t parent, child, sibling; /* shown items; NONE */
	size_t group;
	int64_t key;                   /* larger comes first */
	bool is_shown, is_done;
};

struct group {
	const char *project;
	size_t row, first, last, count; /* items at the top level, chained by sibling */
};

/* Strings to numbers, open addressing. */
struct name_map {
	struct { const char *name; size_t value; } *v;
	size_t size;
};

struct build {
	struct session_rows *r;
	struct item *items;
	size_t n;
	struct group *groups;
	size_t ngroups, groups_cap;
	struct name_map ids, projects;
};

void session_rows_init(struct session_rows *r, struct store *store)
{
	memset(r, 0, sizeof(*r));
	r->store = store;
}

void session_rows_release(struct session_rows *r)
{
	free(r->lines);
	free(r->filter);
	free(r->folded);
	free(r->group_folded);
	memset(r, 0, sizeof(*r));
}

static void map_init(struct name_map *m, size_t n)
{
	m->size = 16;
	while (m->size < 2 * n)
		m->size *= 2;
	m->v = xcalloc(m->size, sizeof(*m->v));
}

/* The slot of a name: its own or the empty one where it belongs. */
static size_t map_slot(const struct name_map *m, const char *name)
{
	uint64_t h = 1469598103934665603u;

	for (const unsigned char *p = (const unsigned char *)name; *p; p++)
		h = (h ^ *p) * 1099511628211u;
	for (size_t i = (size_t)(h ^ h >> 32) & (m->size - 1);; i = (i + 1) & (m->size - 1)) {
		if (!m->v[i].name || strcmp(m->v[i].name, name) == 0)
			return i;
	}
}

/* Every word of the filter stands somewhere in what the row shows. */
static bool passes(const struct session_rows *r, const struct session_row *row, bool is_lone,
	struct buf *words)
{
	const char *p = r->filter;
	bool all = true;

	if (!p)
		return true;
	buf_clear(words);
	session_words(row, is_lone, words);
	while (all && *p) {
		size_t n = strcspn(p, " ");
		char *word = xstrndup(p, n);

		all = n == 0 || strcasestr(words->p, word) != NULL;
		free(word);
		p += n;
		p += strspn(p, " ");
	}
	return all;
}

static int64_t sort_key(const struct session_rows *r, const struct session_row *row)
{
	switch (r->sort) {
	case SORT_CREATED:
		return row->first_time == INT64_MIN ? row->mtime : row->first_time;
	case SORT_SIZE:
		return (int64_t)row->size;
	default:
		return row->last_time == INT64_MIN ? row->mtime : row->last_time;
	}
}

static size_t parent_of(const struct build *b, size_t i)
{
	const char *id = b->items[i].row->parent_id;
	size_t slot;

	if (!id)
		return NONE;
	slot = map_slot(&b->ids, id);
	return b->ids.v[slot].name && b->ids.v[slot].value != i ? b->ids.v[slot].value : NONE;
}

static bool is_lone(const struct build *b, size_t i)
{
	return b->items[i].row->parent_id && parent_of(b, i) == NONE;
}

static void collect(struct build *b)
{
	struct buf words = { 0 };

	map_init(&b->ids, b->n);
	map_init(&b->projects, b->n);
	for (size_t i = 0; i < b->n; i++) {
		const struct session_row *row = store_row(b->r->store, i);
		size_t slot = map_slot(&b->ids, row->id);
		b->items[i] = (struct item){ .row = row, .index = i, .parent = NONE, .child = NONE,
			.sibling = NONE, .key = sort_key(b->r, row) };
		if (!b->ids.v[slot].name) {
			b->ids.v[slot].name = row->id;
			b->ids.v[slot].value = i;
		}
	}
	b->r->flags_cols = 0;
	for (size_t i = 0; i < b->n; i++) {
		struct item *it = &b->items[i];

		it->is_shown = passes(b->r, it->row, is_lone(b, i), &words);
		if (it->is_shown && session_flags_cols(it->row) > b->r->flags_cols)
			b->r->flags_cols = session_flags_cols(it->row);
	}
	buf_release(&words);
}

/* Each shown item hangs below its nearest shown ancestor; a circle of parents is cut. */
static void find_parents(struct build *b)
{
	for (size_t i = 0; i < b->n; i++) {
		size_t up = parent_of(b, i), steps = 0;
		while (up != NONE && !b->items[up].is_shown && steps++ < 1000)
			up = parent_of(b, up);
		b->items[i].parent = up != NONE && b->items[up].is_shown ? up : NONE;
	}
	for (size_t i = 0; i < b->n; i++) {
		size_t up = b->items[i].parent, steps = 0;
		while (up != NONE && up != i && steps++ < b->n)
			up = b->items[up].parent;
		if (up != NONE)
			b->items[i].parent = NONE;
	}
	if (b->r->sort != SORT_ACTIVITY)
		return;
	for (size_t i = 0; i < b->n; i++) {
		/* a parent is as active as its most active child */
		for (size_t up = b->items[i].parent; up != NONE; up = b->items[up].parent) {
			if (b->items[up].key < b->items[i].key)
				b->items[up].key = b->items[i].key;
		}
	}
}

static const char *title_of(const struct item *it)
{
	return it->row->title && *it->row->title ? it->row->title : it->row->id;
}

/* Folders list their names in no order: ties go by id. */
static int compare_ids(const struct item *x, const struct item *y)
{
	int c = strcmp(x->row->id, y->row->id);

	return c ? c : x->index < y->index ? -1 : 1;
}

static int compare_keys(const void *a, const void *b)
{
	const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return compare_ids(x, y);
}

static int compare_titles(const void *a, const void *b)
{
	const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;
	int c = strcasecmp(title_of(x), title_of(y));

	return c ? c : compare_ids(x, y);
}

static struct group *group_of(struct build *b, const struct item *it)
{
	const char *project = it->row->project ? it->row->project : "";
	size_t slot = map_slot(&b->projects, project);

	if (!b->projects.v[slot].name) {
		b->groups = xgrow(b->groups, &b->groups_cap, b->ngroups + 1, sizeof(*b->groups));
		b->projects.v[slot].name = project;
		b->projects.v[slot].value = b->ngroups;
		b->groups[b->ngroups++] = (struct group){ project, it->index, NONE, NONE, 0 };
	}
	return &b->groups[b->projects.v[slot].value];
}

/* In sorted order: children below parents, the rest into groups, groups by their first session. */
static void link_items(struct build *b, struct item **order, size_t n)
{
	for (size_t i = n; i-- > 0;) {
		struct item *it = order[i];
		if (it->parent != NONE) {
			it->sibling = b->items[it->parent].child;
			b->items[it->parent].child = it->index;
		}
	}
	for (size_t i = 0; i < n; i++) {
		struct item *it = order[i], *top = it;
		struct group *g;
		while (top->parent != NONE)
			top = &b->items[top->parent];
		g = group_of(b, top);
		g->count++;
		if (it->index < g->row && top == it)
			g->row = it->index;
		if (it != top)
			continue;
		if (g->first == NONE)
			g->first = it->index;
		else
			b->items[g->last].sibling = it->index;
		g->last = it->index;
	}
}

static struct session_line *add_line(struct session_rows *r)
{
	r->lines = xgrow(r->lines, &r->cap, r->nlines + 1, sizeof(*r->lines));
	memset(&r->lines[r->nlines], 0, sizeof(*r->lines));
	return &r->lines[r->nlines++];
}

/* The items of a group in preorder, without recursion. */
static void add_items(struct build *b, size_t first, size_t *number)
{
	struct session_rows *r = b->r;
	size_t at = first, hidden_below = NONE, folded_line = 0;
	int depth = 0, hidden_depth = 0;

	while (at != NONE) {
		const struct item *it = &b->items[at];
		++*number;
		if (hidden_below == NONE) {
			struct session_line *l = add_line(r);
			l->row = at;
			l->depth = depth;
			l->number = *number;
			l->has_children = it->child != NONE;
			l->is_lone = is_lone(b, at);
			l->is_folded = l->has_children && r->folded[at];
			if (l->is_folded) {
				hidden_below = at;
				hidden_depth = depth;
				folded_line = r->nlines - 1;
			}
		} else {
			r->lines[folded_line].count++;
		}
		if (it->child != NONE) {
			at = it->child;
			depth++;
			continue;
		}
		while (it->sibling == NONE && it->parent != NONE) {
			it = &b->items[it->parent];
			depth--;
		}
		if (depth <= hidden_depth)
			hidden_below = NONE;
		at = it->sibling;
	}
}

static void keep_folds(struct session_rows *r, size_t n)
{
	if (n <= r->nfolded)
		return;
	r->folded = xrealloc(r->folded, n, sizeof(*r->folded));
	r->group_folded = xrealloc(r->group_folded, n, sizeof(*r->group_folded));
	memset(r->folded + r->nfolded, 0, (n - r->nfolded) * sizeof(*r->folded));
	memset(r->group_folded + r->nfolded, 0, (n - r->nfolded) * sizeof(*r->group_folded));
	r->nfolded = n;
}

void session_rows_build(struct session_rows *r)
{
	struct build b = { .r = r, .n = store_nrows(r->store) };
	struct item **order = xcalloc(b.n + 1, sizeof(*order));
	size_t shown = 0, number = 0;

	b.items = xcalloc(b.n + 1, sizeof(*b.items));
	keep_folds(r, b.n);
	collect(&b);
	find_parents(&b);
	for (size_t i = 0; i < b.n; i++) {
		if (b.items[i].is_shown)
			order[shown++] = &b.items[i];
	}
	qsort(order, shown, sizeof(*order), r->sort == SORT_TITLE ? compare_titles : compare_keys);
	link_items(&b, order, shown);
	r->nlines = 0;
	r->nsessions = b.n;
	r->nshown = shown;
	for (size_t i = 0; i < b.ngroups; i++) {
		const struct group *g = &b.groups[i];
		bool is_named = b.ngroups > 1 || *g->project;
		if (is_named) {
			struct session_line *l = add_line(r);
			l->is_group = true;
			l->row = g->row;
			l->project = g->project;
			l->count = g->count;
			l->number = number;
			l->is_folded = r->group_folded[g->row];
		}
		if (is_named && r->group_folded[g->row])
			number += g->count;
		else
			add_items(&b, g->first, &number);
	}
	free(order);
	free(b.items);
	free(b.groups);
	free(b.ids.v);
	free(b.projects.v);
}

size_t session_rows_line(const struct session_rows *r, size_t row, bool is_group)
{
	for (size_t i = 0; i < r->nlines; i++) {
		if (r->lines[i].row == row && r->lines[i].is_group == is_group)
			return i;
	}
	return SIZE_MAX;
}

void session_rows_fold(struct session_rows *r, size_t line, bool fold)
{
	const struct session_line *l = &r->lines[line];

	if (l->is_group)
		r->group_folded[l->row] = fold;
	else
		r->folded[l->row] = fold;
}

void session_rows_fold_all(struct session_rows *r, bool fold)
{
	for (size_t i = 0; i < r->nlines; i++) {
		if (r->lines[i].is_group)
			r->group_folded[r->lines[i].row] = fold;
	}
}

void session_rows_set_filter(struct session_rows *r, const char *words)
{
	free(r->filter);
	r->filter = words && *words ? xstrdup(words) : NULL;
}

void session_rows_sort_by_name(struct session_rows *r, const char *name)
{
	for (int i = 0; i < SORT_COUNT; i++) {
		if (strcmp(sort_names[i], name) == 0)
			r->sort = (enum session_sort)i;
	}
}

const char *session_rows_sort_name(const struct session_rows *r)
{
	return sort_names[r->sort];
}
