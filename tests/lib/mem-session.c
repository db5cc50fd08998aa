/*
 * mem-session.c - sessions without a file: ids are kept in memory.
 */
#include "config.h"

#include "tests/lib/mem-session.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

struct mem {
	char **ids;
	size_t n, cap;
};

static int mem_id(struct session *s, uint32_t entry, struct buf *out, struct err *err)
{
	const struct mem *m = s->src;

	if (entry >= m->n)
		return err_set(err, ERR_NOTFOUND, "no such entry");
	buf_adds(out, m->ids[entry]);
	return 0;
}

static int mem_preview(struct session *s, uint32_t entry, size_t limit, struct buf *text,
	struct buf *who, struct err *err)
{
	buf_adds(text, "says ");
	return mem_id(s, entry, text, err);
}

static void mem_free(struct session *s)
{
	struct mem *m = s->src;

	for (size_t i = 0; i < m->n; i++)
		free(m->ids[i]);
	free(m->ids);
	free(m);
}

static const struct session_ops mem_ops = { .id = mem_id, .preview = mem_preview, .free = mem_free };

struct session *mem_session(void)
{
	struct session *s = session_new("mem", "mem", "mem");

	s->ops = &mem_ops;
	s->src = xcalloc(1, sizeof(struct mem));
	return s;
}

uint32_t mem_add(struct session *s, const char *id, const char *parent)
{
	struct mem *m = s->src;
	struct entry_in in = { .off = 10 * (uint64_t)m->n, .line = m->n + 1, .len = 9,
		.id = str_of(id), .id_off = 1, .time = (int64_t)m->n, .kind = KIND_USER };
	uint32_t entry;

	if (parent)
		in.parent = str_of(parent);
	while (m->n > s->n) /* taken back by the session */
		free(m->ids[--m->n]);
	entry = session_add(s, &in);
	if (entry == ENTRY_NONE)
		return entry;
	m->ids = xgrow(m->ids, &m->cap, m->n + 1, sizeof(*m->ids));
	m->ids[m->n++] = xstrdup(id);
	return entry;
}

struct session *mem_tree(const char *text)
{
	struct session *s = mem_session();
	char *copy = xstrdup(text), *save = NULL;

	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *colon = strchr(word, ':');

		if (colon)
			*colon = '\0';
		mem_add(s, word, colon ? colon + 1 : NULL);
	}
	free(copy);
	session_link(s, true);
	return s;
}
