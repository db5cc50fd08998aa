/*
 * session-kin.c - the forks and agents of the session on the screen: found
 * among the rows of the list, and hung into its tree where they began.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "ui/internal.h"
#include "ui/session-kin.h"
#include "ui/view-session.h"
#include "ui/view.h"

static bool came_from(const struct session_row *row, const struct session *s)
{
	return row->parent_id && !row->is_gone && strcmp(row->parent_id, s->id) == 0 &&
	       strcmp(row->format, s->format) == 0 && strcmp(row->path, s->path) != 0;
}

static struct session_kin kin_of_row(const struct session_row *row)
{
	return (struct session_kin){ .id = row->id, .path = row->path, .title = row->title,
		.seed = row->seed, .created = row->first_time, .is_agent = row->is_agent,
		.entries = row->entries > row->inherited ? row->entries - row->inherited : 0 };
}

void session_adopt(struct view *v)
{
	struct session *s = session_model(v);
	struct store *store = v->ui->store;
	struct session_kin *kin = NULL;
	size_t n = 0, cap = 0;

	if (!s->ops->adopt)
		return;
	for (size_t i = 0; i < store_nrows(store); i++) {
		const struct session_row *row = store_row(store, i);

		if (!came_from(row, s))
			continue;
		kin = xgrow(kin, &cap, n + 1, sizeof(*kin));
		kin[n++] = kin_of_row(row);
	}
	s->ops->adopt(s, kin, n);
	free(kin);
}

bool session_open_kin(struct view *v)
{
	struct session *s = session_model(v);
	uint32_t entry = session_cursor(v);
	const char *path = entry != ENTRY_NONE && s->ops->opens ? s->ops->opens(s, entry) : NULL;

	if (path)
		view_push(v->ui, view_for_session(path), path);
	return path != NULL;
}
