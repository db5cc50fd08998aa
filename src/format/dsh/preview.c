/*
 * preview.c - the first words of an entry for its row.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <string.h>

enum { CHUNK_ITEMS = 64 }; /* of an answer that exists only as chunks */

static void add_words(struct buf *text, struct str raw, size_t limit)
{
	if (text->n >= limit || json_type_of(raw) != JSON_STRING)
		return;
	if (text->n)
		buf_addc(text, ' ');
	json_string(raw, text, limit - text->n);
}

static void block_words(struct str block, size_t limit, struct buf *text)
{
	struct str type = json_get(block, "type"), none, inner;
	struct json_iter it;

	if (json_string_eq(type, "text")) {
		add_words(text, json_get(block, "text"), limit);
	} else if (json_string_eq(type, "tool-call")) {
		add_words(text, json_get(block, "name"), limit);
		add_words(text, json_get(block, "arguments"), limit);
	} else if (json_string_eq(type, "image")) {
		add_words(text, str_of("\"(image)\""), limit);
	} else if (json_string_eq(type, "tool-result")) {
		json_iter_init(&it, json_get(block, "content"));
		while (text->n < limit && json_iter_next(&it, &none, &inner))
			if (json_string_eq(json_get(inner, "type"), "text"))
				add_words(text, json_get(inner, "text"), limit);
	}
}

static void message_words(struct str message, size_t limit, struct buf *text)
{
	struct json_iter it;
	struct str none, block;

	json_iter_init(&it, json_get(message, "content"));
	while (text->n < limit && json_iter_next(&it, &none, &block))
		block_words(block, limit, text);
	if (text->n)
		return;
	json_iter_init(&it, json_get(message, "content")); /* only thoughts */
	while (text->n < limit && json_iter_next(&it, &none, &block))
		add_words(text, json_get(block, "text"), limit);
}

static void add_chunk_words(const struct dsh_rec *r, size_t limit, struct buf *text)
{
	struct str chunk = json_get(rec_field(r, K_DATA), "chunk"), one;
	struct pack_texts t;

	if (r->state == REC_PACKED) {
		pack_texts_init(&t, r);
		while (t.kind == 't' && text->n < limit && pack_texts_next(&t, &one))
			json_string(one, text, limit - text->n);
	} else if (json_string_eq(json_get(chunk, "type"), "text-delta")) {
		json_string(json_get(chunk, "text"), text, limit - text->n);
	}
}

static void chunk_words(struct session *s, const struct entry *e, size_t limit, struct buf *text)
{
	struct dsh_src *src = s->src;
	uint32_t i = scan_item_of(src, e->off), last = i + CHUNK_ITEMS;
	struct dsh_rec r = { 0 };

	for (; i < src->n && i < last && text->n < limit && src->items[i].type == T_CHUNK; i++)
		for (size_t pos = 0; text->n < limit && item_next(s, i, &pos, &r, NULL) == 1;)
			add_chunk_words(&r, limit, text);
	rec_release(&r);
}

/* The tool that was called, looked up in the answer before. */
static void tool_name(struct session *s, uint32_t entry, struct str call, struct buf *who)
{
	struct buf want = { 0 }, id = { 0 };
	struct dsh_rec r = { 0 };
	struct json_iter it;
	struct str none, block;

	json_string(call, &want, SIZE_MAX);
	for (int i = 0; i < 64 && entry-- > 0; i++)
		if (s->entries[entry].flags & ENTRY_HAS_CALLS)
			break;
	if (entry >= s->n || entry_rec(s, entry, &r, NULL) < 0)
		goto out;
	json_iter_init(&it, json_get(json_get(rec_field(&r, K_DATA), "message"), "content"));
	while (json_iter_next(&it, &none, &block)) {
		buf_clear(&id);
		json_string(json_get(block, "id"), &id, SIZE_MAX);
		if (id.n && str_eq((struct str){ id.p, id.n }, (struct str){ want.p, want.n })) {
			json_string(json_get(block, "name"), who, 40);
			break;
		}
	}
out:
	rec_release(&r);
	buf_release(&want);
	buf_release(&id);
}

int dsh_op_preview(struct session *s, uint32_t entry, size_t limit, struct buf *text,
	struct buf *who, struct err *err)
{
	const struct entry *e;
	struct dsh_rec r = { 0 };
	struct buf call = { 0 };
	struct str data;
	int rc = 0;

	if (entry >= s->n)
		return err_set(err, ERR_NOTFOUND, "no such entry");
	e = &s->entries[entry];
	if (e->spare == SPARE_KIN) {
		const struct session_kin *kin = kin_of(s, entry);

		buf_adds(who, kin->is_agent ? "agent" : "fork");
		buf_adds(text, kin->title && *kin->title ? kin->title : kin->id);
		return 0;
	}
	if (e->spare == SPARE_CHUNKS) {
		chunk_words(s, e, limit, text);
		return 0;
	}
	rc = entry_rec(s, entry, &r, err);
	if (rc < 0)
		goto out;
	data = rec_field(&r, K_DATA);
	if (!event_is_surface(r.type)) {
		json_string(rec_field(&r, K_TYPE), text, limit);
		goto out;
	}
	message_words(r.type == T_USER ? data : json_get(data, "message"), limit, text);
	if (r.type == T_USER && e->kind != KIND_USER && e->kind != KIND_SUMMARY)
		json_string(json_get(json_get(data, "source"), "kind"), who, 40);
	if (r.type == T_TOOL_RESULT) {
		buf_addstr(
			&call, json_get(json_get(json_get(data, "message"), "source"), "callId"));
		tool_name(s, entry, (struct str){ call.p, call.n }, who);
	}
out:
	buf_release(&call);
	rec_release(&r);
	return rc;
}
