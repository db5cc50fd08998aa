/*
 * reading.c - what of a session could be read, and what is made of that: the
 * descriptor that is let go for a cut, reads that failed, the state beside the
 * session, and appends of others that are just under way.
 */
#include "config.h"
#include "store/internal.h"

#include <string.h>
#include <unistd.h>

#include "format/tree/tree.h"

static struct log_reader *reader_of(const struct work *w)
{
	return w->fmt->reader ? w->fmt->reader(w->s) : NULL;
}

const char *work_read_trouble(const struct work *w)
{
	struct log_reader *r = reader_of(w);

	return r ? log_reader_trouble(r) : NULL;
}

int work_check_read(const struct work *w, struct err *err)
{
	const char *why = work_read_trouble(w);

	if (!why)
		return 0;
	return err_set(err, ERR_IO, "%s could not be read whole (%s); nothing was changed", w->path,
		why);
}

void work_let_go(struct work *w)
{
	struct log_reader *r = reader_of(w);

	if (r)
		log_reader_let_go(r);
}

void work_take_up(struct work *w)
{
	struct log_reader *r = reader_of(w);

	if (r)
		log_reader_take_up(r);
}

bool work_is_open_elsewhere(const struct work *w)
{
	struct log_reader *r = reader_of(w);

	return r && log_reader_has_writer(r);
}

/* Is the one problem of the kind there with this reason, or, without one, none? */
static bool is_said(const struct problem_list *list, const char *kind, const char *why)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->v[i].kind, kind) == 0)
			return why && strstr(list->v[i].message, why);
	return !why;
}

/* What could not be read, each a problem. */
bool work_say_trouble(struct work *w)
{
	struct problem_list *list = &w->s->problems;
	const char *file = work_read_trouble(w);
	const char *side = w->fmt == &format_tree ? tree_sidecar_trouble(w->s) : NULL;

	if (is_said(list, "read-error", file) && is_said(list, "sidecar-unreadable", side))
		return false;
	problem_drop(list, "read-error");
	problem_drop(list, "sidecar-unreadable");
	if (file)
		problem_add_at_large(list, &w->s->arena, "read-error",
			"a part of the file could not be read (%s): what is shown may lack something",
			file);
	if (side)
		problem_add_at_large(list, &w->s->arena, "sidecar-unreadable",
			"the title and what else stands beside the session are not known: %s", side);
	problem_sort(list);
	return true;
}

/*
 * An entry that is announced and not in the file is on its way while another
 * bough holds the lock, or when the file has changed since it was read.
 */
static bool append_is_under_way(struct work *w)
{
	struct log_use use;
	struct log_id now;

	/* the lock first: once it is free, what was announced shows in the file's size */
	if (log_look_use(w->path, &use, NULL) == 0 && use.is_locked && use.pid != getpid())
		return true;
	return log_stat(w->path, &now, NULL) == 0 && log_id_differs(w->fmt->file(w->s), &now);
}

void work_reapply(struct work *w)
{
	reflog_update(&w->reflog);
	reflog_apply(&w->reflog, w->s);
	w->is_under_way = w->reflog.nlost > 0 && append_is_under_way(w);
	if (w->is_under_way)
		reflog_nothing_lost(&w->reflog, w->s);
	work_say_trouble(w);
}
