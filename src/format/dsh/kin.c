/*
 * kin.c - forks and agents of a session as entries of its tree: one each, that
 * hangs where the other log begins and opens it. What it inherited is not
 * shown again there; its own log has all of it.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A place that no record of the log can have. */
#define KIN_OFF (UINT64_MAX / 2)

/* The newest entry among the records before `seed`, or, when there is none to go by, before a time. */
static uint32_t place_of(const struct session *s, const struct session_kin *kin)
{
	const struct dsh_src *src = s->src;
	uint32_t place = ENTRY_NONE;

	for (uint32_t e = 0; e < s->n; e++) {
		const struct entry *en = &s->entries[e];
		uint32_t i;

		if (en->flags & ENTRY_DERIVED)
			break;
		i = scan_item_of(src, en->off);
		if (i == NO_ITEM)
			break;
		if (kin->seed != UINT64_MAX ? src->items[i].seq >= kin->seed
					    : en->time != INT64_MIN && kin->created != INT64_MIN &&
						      en->time > kin->created)
			break;
		place = e;
	}
	return place;
}

static void add_kin(struct session *s, uint32_t i)
{
	const struct session_kin *kin = &((struct dsh_src *)s->src)->kin[i];
	uint32_t place = place_of(s, kin);
	struct buf id = { 0 }, parent = { 0 };
	struct entry_in in = { .off = KIN_OFF + i,
		.time = INT64_MIN,
		.kind = KIND_EVENT,
		.flags = ENTRY_DERIVED | ENTRY_KIN | ENTRY_ID_SLOW,
		.spare = SPARE_KIN };

	buf_printf(&id, "@%s", kin->id);
	in.id = (struct str){ id.p, id.n };
	if (place != ENTRY_NONE && dsh_op_id(s, place, &parent, NULL) == 0)
		in.parent = (struct str){ parent.p, parent.n };
	session_add(s, &in);
	buf_release(&id);
	buf_release(&parent);
}

static int by_place(const void *a, const void *b)
{
	const struct session_kin *x = a, *y = b;

	if (x->seed != y->seed)
		return x->seed < y->seed ? -1 : 1;
	if (x->created != y->created)
		return x->created < y->created ? -1 : 1;
	return strcmp(x->id, y->id);
}

void dsh_op_adopt(struct session *s, const struct session_kin *v, size_t n)
{
	struct dsh_src *src = s->src;
	int64_t first_time = s->first_time, last_time = s->last_time;

	struct session_mark m;

	session_mark(s, UINT64_MAX, &m);
	while (m.n && (s->entries[m.n - 1].flags & ENTRY_KIN)) /* those of before */
		m.n--;
	if (m.n == s->n && n == 0)
		return;
	session_rewind(s, &m);
	src->kin = n ? arena_alloc(&s->arena, n * sizeof(*v)) : NULL;
	for (size_t i = 0; i < n; i++) {
		src->kin[i] = v[i];
		src->kin[i].id = arena_strdup(&s->arena, v[i].id);
		src->kin[i].path = arena_strdup(&s->arena, v[i].path);
		src->kin[i].title = v[i].title ? arena_strdup(&s->arena, v[i].title) : NULL;
	}
	if (n)
		qsort(src->kin, n, sizeof(*src->kin), by_place);
	session_reopen(s);
	for (uint32_t i = 0; i < n; i++)
		add_kin(s, i);
	session_link(s, true);
	s->is_complete = true;
	s->first_time = first_time;
	s->last_time = last_time;
}

const struct session_kin *kin_of(const struct session *s, uint32_t entry)
{
	const struct dsh_src *src = s->src;

	return &src->kin[s->entries[entry].off - KIN_OFF];
}

const char *dsh_op_opens(struct session *s, uint32_t entry)
{
	return s->entries[entry].spare == SPARE_KIN ? kin_of(s, entry)->path : NULL;
}
