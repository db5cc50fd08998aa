/*
 * open.c - opening a session, and looking again whether its file changed: what
 * can be read on, and what is another file now.
 */
#include "config.h"

#include "format/tree/internal.h"

#include <stdlib.h>

#include "base/xalloc.h"

static void free_src(struct session *s)
{
	struct tree_src *src = s->src;

	log_reader_close(&src->reader);
	free(src->sidecar);
	free(src->window);
	free(src);
}

static const struct session_ops tree_ops = {
	.id = tree_op_id,
	.preview = tree_op_preview,
	.content = tree_op_content,
	.record = tree_op_record,
	.peek = tree_op_peek,
	.cards = tree_op_cards,
	.card = tree_op_card,
	.free = free_src,
};

int tree_open(const char *path, struct session **out, struct err *err)
{
	struct log_reader *reader;
	struct tree_src *src;
	char *id;
	int rc;

	*out = NULL;
	rc = log_reader_open(&reader, path, err);
	if (rc < 0)
		return rc;
	src = xcalloc(1, sizeof(*src));
	src->reader = reader;
	log_set_pause(reader, FORMAT_STINT);
	src->sidecar = tree_sidecar_path(path);
	src->next_line = 1;
	id = tree_id_of_path(path);
	*out = session_new("tree", id, path);
	free(id);
	(*out)->ops = &tree_ops;
	(*out)->src = src;
	tree_sidecar_load(*out);
	return 0;
}

const struct log_id *tree_file(const struct session *s)
{
	const struct tree_src *src = s->src;

	return log_reader_id(src->reader);
}

/*
 * A file that was emptied and written anew can be larger than before. The ids
 * of the first and the last entry must still stand where they were.
 */
static bool is_same_file(struct session *s)
{
	uint32_t ends[2] = { 0, s->n - 1 };
	struct buf id = { 0 };
	bool same = true;

	for (int i = 0; i < 2 && same && s->n; i++) {
		const struct entry *e = &s->entries[ends[i]];

		buf_clear(&id);
		if (e->flags & ENTRY_ID_SLOW)
			same = tree_op_id(s, ends[i], &id, NULL) == 0;
		else
			same = tree_read(s, e->off + e->id_off, e->id_len, &id, NULL) == 0;
		same = same && session_hash(s, id.p, id.n) == e->idhash;
	}
	buf_release(&id);
	return same;
}

static void go_on(struct session *s)
{
	struct tree_src *src = s->src;

	session_reopen(s);
	src->must_rewind = src->has_tail;
	if (src->has_tail)
		log_seek_line(src->reader, src->tail.offset, src->tail_line);
	else
		log_seek_line(src->reader, src->next_off, src->next_line);
}

int tree_refresh(struct session *s, enum log_change *change, struct err *err)
{
	struct tree_src *src = s->src;
	struct log_id now;
	int rc;

	*change = LOG_REWRITTEN;
	if (src->is_stale)
		return 0;
	rc = log_stat(s->path, &now, err);
	if (rc < 0)
		return rc;
	tree_sidecar_load(s);
	*change = log_compare(log_reader_id(src->reader), &now);
	if (*change == LOG_GREW) {
		rc = log_reader_refresh(src->reader, change, err);
		if (rc < 0)
			return rc;
		src->window_n = 0;
		if (*change == LOG_GREW && !is_same_file(s))
			*change = LOG_REWRITTEN;
		if (*change == LOG_GREW)
			go_on(s);
		else if (*change == LOG_REPLACED)
			src->is_stale = true; /* the reader has the new file open already */
	}
	if (*change == LOG_REWRITTEN)
		src->is_stale = true;
	return 0;
}

struct log_reader *tree_reader(const struct session *s)
{
	return ((const struct tree_src *)s->src)->reader;
}
