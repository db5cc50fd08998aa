/*
 * preview.c - the first words of an entry for a row of the screen. It costs
 * about one small read, however large the entry.
 */
#include "config.h"

#include "format/tree/internal.h"

#include "base/utf8.h"

enum {
	PREVIEW_METADATA = 1 << 20, /* larger records are not read for the name of a tool */
	WHO_BYTES = 64
};

/* The front of a content whose record is too large to be read for a row. */
static int add_front(struct session *s, uint32_t entry, size_t limit, struct buf *text,
	struct err *err)
{
	const struct entry *e = &s->entries[entry];
	size_t n = e->len - e->spare, want = limit < TREE_WINDOW / 8 ? limit * 6 + 2 : TREE_WINDOW;
	const char *p;
	int rc;

	if (n > want)
		n = want;
	if (n > TREE_WINDOW)
		n = TREE_WINDOW;
	rc = tree_bytes(s, e->off + e->spare, n, &p, err);
	if (rc == 0)
		json_string((struct str){ p, n }, text, limit);
	return rc;
}

static void add_calls(const struct tree_record *rec, size_t limit, struct buf *text)
{
	size_t start = text->n;
	struct tree_calls calls;
	struct tree_call call;

	tree_calls_init(&calls, rec);
	while (text->n - start < limit && tree_calls_next(&calls, &call)) {
		if (text->n > start)
			buf_adds(text, ", ");
		json_string(call.name, text, limit);
		buf_addc(text, ' ');
		tree_call_words(&call, limit, text);
	}
	tree_calls_release(&calls);
	if (text->n - start > limit)
		text->n = start + utf8_cut(text->p + start, limit);
	if (text->p)
		text->p[text->n] = '\0';
}

static void add_who(const struct entry *e, const struct tree_record *rec, struct buf *who)
{
	size_t before = who->n;

	if (e->kind == KIND_TOOL_RESULT)
		json_string(tree_metadata_get(rec, "toolName"), who, WHO_BYTES);
	else if (e->kind == KIND_UNKNOWN && rec->is_whole)
		json_string(json_raw(rec->p, &rec->scan.field[KEY_ROLE]), who, WHO_BYTES);
	if (who->n == before)
		buf_adds(who, e->kind == KIND_TOOL_RESULT ? "tool" : kind_name(e->kind));
}

int tree_op_preview(struct session *s, uint32_t entry, size_t limit, struct buf *text,
	struct buf *who, struct err *err)
{
	struct tree_record rec = { 0 };
	const struct entry *e;
	size_t before = text->n;
	int rc = tree_record_open(s, entry, TREE_WINDOW, &rec, err);

	if (rc < 0)
		goto out;
	e = &s->entries[entry];
	if (rec.is_whole)
		json_string(json_raw(rec.p, &rec.scan.field[KEY_CONTENT]), text, limit);
	else
		rc = add_front(s, entry, limit, text, err);
	if (rc < 0)
		goto out;
	if (e->kind == KIND_TOOL_RESULT || ((e->flags & ENTRY_HAS_CALLS) && text->n == before))
		rc = tree_record_metadata(s, entry, PREVIEW_METADATA, &rec, err);
	if (rc < 0)
		goto out;
	if ((e->flags & ENTRY_HAS_CALLS) && text->n == before)
		add_calls(&rec, limit, text);
	add_who(e, &rec, who);
out:
	tree_record_release(&rec);
	return rc;
}
