/*
 * under.c - one event by its number, and the entry that it stands under: events
 * of the log alone fold under the entry before or behind them, chunks belong to
 * the answer that they became. content.c shows the same the other way round.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <inttypes.h>
#include <string.h>

/* The entry that the item itself is. */
static uint32_t entry_of(struct session *s, uint32_t i)
{
	const struct dsh_src *src = s->src;
	const struct dsh_item *item = &src->items[i];
	struct buf id = { 0 };
	uint32_t entry;

	if (!event_is_surface((enum dsh_type)item->type) && item->type != T_CHUNK)
		return ENTRY_NONE;
	item_id(item, &id);
	entry = session_find(s, buf_str(&id));
	buf_release(&id);
	return entry;
}

static uint32_t entry_before(struct session *s, uint32_t i)
{
	uint32_t entry = ENTRY_NONE;

	while (entry == ENTRY_NONE && i > 0)
		entry = entry_of(s, --i);
	return entry;
}

static uint32_t entry_behind(struct session *s, uint32_t i)
{
	const struct dsh_src *src = s->src;
	uint32_t entry = ENTRY_NONE;

	while (entry == ENTRY_NONE && ++i < src->n)
		entry = entry_of(s, i);
	return entry;
}

static uint32_t entry_over(struct session *s, uint32_t i)
{
	const struct dsh_src *src = s->src;
	unsigned type = src->items[i].type;
	uint32_t self = entry_of(s, i), before, behind;

	if (self != ENTRY_NONE)
		return self;
	before = entry_before(s, i);
	/* the chunks of an answer that became no message are an entry by their first one */
	if (type == T_CHUNK && before != ENTRY_NONE && s->entries[before].spare == SPARE_CHUNKS)
		return before;
	if (!event_leads(type) && before != ENTRY_NONE)
		return before;
	behind = entry_behind(s, i);
	return behind != ENTRY_NONE ? behind : before;
}

int dsh_event(
	struct session *s, uint64_t seq, struct buf *line, uint32_t *under, struct err *err)
{
	struct dsh_src *src = s->src;
	uint32_t i = scan_item_of_seq(src, seq);
	const char *nl;
	int rc;

	*under = ENTRY_NONE;
	buf_clear(line);
	if (i == NO_ITEM)
		return err_set(err, ERR_NOTFOUND, "there is no event %" PRIu64, seq);
	rc = item_events(s, i, seq, line, err);
	if (rc < 0)
		return rc;
	nl = line->n ? memchr(line->p, '\n', line->n) : NULL;
	if (!nl)
		return err_set(err, ERR_NOTFOUND, "there is no event %" PRIu64, seq);
	line->n = (size_t)(nl - line->p);
	*under = entry_over(s, i);
	return 0;
}
