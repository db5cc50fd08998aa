/*
 * picks.c - rows picked out of a list of the conversation below. What is picked
 * and how it looks is each screen's own.
 */
#include "config.h"

#include "ui/picks.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "ui/view-session.h"
#include "ui/view.h"

struct picks *picks_of(const struct view *v)
{
	return v->priv;
}

void picks_begin(struct view *v, size_t most)
{
	struct picks *p = picks_of(v);

	p->shown = xrealloc(p->shown, most + 1, sizeof(*p->shown));
	p->ids = xrealloc(p->ids, most + 1, sizeof(*p->ids));
	p->n = 0;
	p->generation = session_of(v->below)->generation;
}

void picks_add(struct view *v, uint32_t index, uint32_t id)
{
	struct picks *p = picks_of(v);

	p->ids[p->n] = id;
	p->shown[p->n++] = index;
}

void picks_close(struct view *v)
{
	struct picks *p = picks_of(v);

	free(p->shown);
	free(p->ids);
	arena_free(&p->scratch);
}

bool picks_stale(const struct view *v)
{
	return picks_of(v)->generation != session_of(v->below)->generation;
}

size_t picks_count(const struct view *v)
{
	return picks_of(v)->n;
}

uint64_t picks_id(const struct view *v, size_t line)
{
	return picks_of(v)->ids[line];
}

size_t picks_line_of(const struct view *v, uint64_t id)
{
	const struct picks *p = picks_of(v);

	for (size_t i = 0; i < p->n; i++)
		if (p->ids[i] == id)
			return i;
	return LINE_NONE;
}

unsigned picks_state(const struct view *v)
{
	return WHEN_PANE | (picks_of(v)->n > 0 ? WHEN_ROW : 0);
}
