/*
 * content.c - what an entry says: the blocks of its message, the results of
 * its calls, what a compaction did, and the log-only events that fold under
 * it.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "format/parts.h"

enum {
	FOLDED_MAX = 64, /* folded events that are shown; more are counted */
	FOLDED_REACH = 4096,
	RESULT_REACH = 64,
	SHORT_TEXT = 400 /* of folded events */
};

struct job {
	struct session *s;
	uint32_t entry;
	size_t limit;
	struct arena *a;
	struct content *out;
};

/* ---- parts ---- */

static struct part *add_part(struct job *j, enum part_kind kind, struct str raw)
{
	struct part *part = content_add(j->out, j->a, kind);

	parts_set_text(j->out, part, j->a, j->limit, raw);
	return part;
}

static void add_note(struct job *j, const char *text)
{
	parts_add_note(j->out, j->a, text);
}

static void add_meta(struct job *j, struct str name, struct str text)
{
	struct part *part = content_add(j->out, j->a, PART_META);

	part->name = name;
	part->text = text;
	part->whole = text.n;
}

static void add_image(struct job *j, struct str block)
{
	struct str at = json_get(block, "attachment");
	struct part *part = content_add(j->out, j->a, PART_IMAGE);
	struct str name = parts_decode(j->a, json_get(at, "name"), SHORT_TEXT, NULL);
	struct str width = json_get(at, "width"), height = json_get(at, "height"),
		   bytes = json_get(at, "bytes");

	part->name = parts_decode(j->a, json_get(at, "mediaType"), SHORT_TEXT, NULL);
	part->text = str_of(arena_printf(j->a, "%.*s %.*sx%.*s, %.*s bytes, kept outside the log",
		(int)name.n, name.p, (int)(width.n > 12 ? 12 : width.n), width.n ? width.p : "",
		(int)(height.n > 12 ? 12 : height.n), height.n ? height.p : "",
		(int)(bytes.n > 20 ? 20 : bytes.n), bytes.n ? bytes.p : ""));
	part->whole = part->text.n;
}

/* All texts of a result as one part; whatever else it holds behind it. */
static void add_result(struct job *j, struct str block, uint32_t entry)
{
	struct part *part = content_add(j->out, j->a, PART_RESULT);
	struct json_iter it;
	struct str none, inner;
	struct buf text = { 0 };
	size_t at = j->out->n - 1;

	part->ref = parts_decode(j->a, json_get(block, "toolCallId"), j->limit, NULL);
	part->failed = json_type_of(json_get(block, "isError")) == JSON_TRUE;
	part->entry = entry;
	json_iter_init(&it, json_get(block, "content"));
	while (json_iter_next(&it, &none, &inner)) {
		struct str raw = json_get(inner, "text");

		if (json_string_eq(json_get(inner, "type"), "image"))
			add_image(j, inner);
		else if (!json_string_eq(json_get(inner, "type"), "text"))
			add_part(j, PART_JSON, inner);
		part = &j->out->v[at]; /* the list may have moved */
		if (!json_string_eq(json_get(inner, "type"), "text") ||
			json_type_of(raw) != JSON_STRING)
			continue;
		if (text.n && text.n < j->limit)
			buf_addc(&text, '\n');
		part->whole += raw.n - 2;
		if (text.n >= j->limit || json_string(raw, &text, j->limit - text.n) < raw.n)
			part->more = j->out->more = true;
	}
	part = &j->out->v[at];
	part->text = arena_keep(j->a, buf_str(&text));
	buf_release(&text);
}

static void add_block(struct job *j, struct str block, bool is_plain)
{
	struct str type = json_get(block, "type");

	if (json_string_eq(type, "text")) {
		add_part(j, is_plain ? PART_PLAIN : PART_TEXT, json_get(block, "text"));
	} else if (json_string_eq(type, "reasoning")) {
		add_part(j, PART_REASONING, json_get(block, "text"));
	} else if (json_string_eq(type, "image")) {
		add_image(j, block);
	} else if (json_string_eq(type, "tool-call")) {
		struct part *part = add_part(j, PART_CALL, json_get(block, "arguments"));

		part->name = parts_decode(j->a, json_get(block, "name"), j->limit, NULL);
		part->ref = parts_decode(j->a, json_get(block, "id"), j->limit, NULL);
	} else if (json_string_eq(type, "tool-result")) {
		add_result(j, block, ENTRY_NONE);
	} else {
		add_part(j, PART_JSON, block);
	}
}

static void add_blocks(struct job *j, struct str content, bool is_plain)
{
	struct json_iter it;
	struct str none, block;

	json_iter_init(&it, content);
	while (json_iter_next(&it, &none, &block))
		add_block(j, block, is_plain);
}

/* ---- an answer that exists only as chunks ---- */

struct stream_block {
	struct str index, id, name;
	enum part_kind kind;
	struct buf text;
	uint64_t whole;
};

enum { BLOCKS_MAX = 256 };

struct stream {
	struct stream_block v[BLOCKS_MAX];
	size_t n;
};

static struct stream_block *block_of(
	struct job *j, struct stream *st, struct str index, enum part_kind kind)
{
	for (size_t i = st->n; i-- > 0;)
		if (st->v[i].kind == kind && str_eq(st->v[i].index, index))
			return &st->v[i];
	if (st->n == BLOCKS_MAX)
		return NULL;
	st->v[st->n] = (struct stream_block){ .kind = kind,
		.index = { arena_strndup(j->a, index.n ? index.p : "", index.n), index.n } };
	return &st->v[st->n++];
}

static void add_delta(struct job *j, struct stream *st, enum part_kind kind, struct str index,
	struct str id, struct str name, struct str text)
{
	struct stream_block *b = block_of(j, st, index, kind);

	if (!b || json_type_of(text) != JSON_STRING)
		return;
	if (!b->id.n && id.n)
		b->id = parts_decode(j->a, id, j->limit, NULL);
	if (!b->name.n && name.n)
		b->name = parts_decode(j->a, name, j->limit, NULL);
	b->whole += text.n - 2;
	if (b->text.n < j->limit)
		json_string(text, &b->text, j->limit - b->text.n);
}

static void take_chunk(struct job *j, struct stream *st, const struct dsh_rec *r)
{
	struct str chunk = json_get(rec_field(r, K_DATA), "chunk"), type = json_get(chunk, "type");
	struct str index = json_get(chunk, "index"), none = { NULL, 0 }, text;
	struct pack_texts t;

	if (r->state == REC_PACKED) {
		pack_texts_init(&t, r);
		while (pack_texts_next(&t, &text))
			add_delta(j, st,
				t.kind == 't'   ? PART_TEXT
				: t.kind == 'r' ? PART_REASONING
						: PART_CALL,
				t.index, t.id, t.name, text);
	} else if (json_string_eq(type, "text-delta")) {
		add_delta(j, st, PART_TEXT, index, none, none, json_get(chunk, "text"));
	} else if (json_string_eq(type, "reasoning-delta")) {
		add_delta(j, st, PART_REASONING, index, none, none, json_get(chunk, "text"));
	} else if (json_string_eq(type, "tool-call-delta")) {
		add_delta(j, st, PART_CALL, index, json_get(chunk, "id"), json_get(chunk, "name"),
			json_get(chunk, "argumentsDelta"));
	}
}

static bool ends_stream(unsigned type)
{
	return type == T_TURN_START || type == T_TURN_END || type == T_STEP_START ||
	       type == T_STEP_END || event_is_surface((enum dsh_type)type);
}

static int assemble(struct job *j, struct err *err)
{
	struct dsh_src *src = j->s->src;
	uint32_t i = scan_item_of(src, j->s->entries[j->entry].off);
	struct stream *st = arena_new(j->a, struct stream);
	struct dsh_rec r = { 0 };
	uint64_t chunks = 0;
	int rc = 0;

	for (; rc == 0 && i < src->n && !ends_stream(src->items[i].type); i++) {
		if (src->items[i].type != T_CHUNK)
			continue;
		chunks += src->items[i].count;
		for (size_t pos = 0; (rc = item_next(j->s, i, &pos, &r, err)) == 1;)
			take_chunk(j, st, &r);
	}
	rec_release(&r);
	for (size_t k = 0; k < st->n; k++) {
		struct stream_block *b = &st->v[k];
		struct part *part = content_add(j->out, j->a, b->kind);

		part->text =
			arena_keep(j->a, buf_str(&b->text));
		part->name = b->name;
		part->ref = b->id;
		part->whole = b->whole;
		part->more = b->text.n >= j->limit;
		j->out->more = j->out->more || part->more;
		buf_release(&b->text);
	}
	add_note(j, arena_printf(j->a,
			    "put together from %" PRIu64 " chunks; no message was stored", chunks));
	return rc;
}

/* ---- results of calls ---- */

static void add_results(struct job *j)
{
	struct session *s = j->s;
	struct dsh_rec r = { 0 };

	for (uint32_t e = j->entry + 1; e < s->n && e - j->entry <= RESULT_REACH; e++) {
		struct str none, block;
		struct json_iter it;

		if (s->entries[e].kind == KIND_ASSISTANT || s->entries[e].kind == KIND_USER)
			break;
		if (s->entries[e].kind != KIND_TOOL_RESULT || entry_rec(s, e, &r, NULL) < 0)
			continue;
		json_iter_init(
			&it, json_get(json_get(rec_field(&r, K_DATA), "message"), "content"));
		if (json_iter_next(&it, &none, &block))
			add_result(j, block, e);
	}
	rec_release(&r);
}

/* ---- what folds under an entry ---- */

static void add_todos(struct job *j, struct str data)
{
	struct buf text = { 0 };
	struct json_iter it;
	struct str none, todo;

	buf_adds(&text, "todo list:");
	json_iter_init(&it, json_get(data, "todos"));
	while (json_iter_next(&it, &none, &todo) && text.n < j->limit) {
		struct str status = json_get(todo, "status");

		buf_adds(&text, json_string_eq(status, "completed")     ? "\n[x] "
				: json_string_eq(status, "in_progress") ? "\n[>] "
									: "\n[ ] ");
		json_string(json_get(todo, "content"), &text, SHORT_TEXT);
	}
	add_note(j, arena_strndup(j->a, text.p, text.n));
	buf_release(&text);
}

static void add_folded(struct job *j, const struct dsh_rec *r)
{
	struct str data = rec_field(r, K_DATA);

	if (r->type == T_TODO) {
		add_todos(j, data);
		return;
	}
	data.n = data.n > SHORT_TEXT ? SHORT_TEXT : data.n;
	add_meta(j, parts_decode(j->a, rec_field(r, K_TYPE), SHORT_TEXT, NULL),
		arena_keep(j->a, data));
}

/* Marks of turns and steps say nothing that the entries do not say. */
static bool is_bare(unsigned type)
{
	return type == T_STEP_START || type == T_STEP_END || type == T_TURN_START ||
	       type == T_TOOL_CALL || type == T_CHUNK;
}

static bool is_entry_item(const struct dsh_src *src, uint32_t i)
{
	return event_is_surface((enum dsh_type)src->items[i].type);
}

struct fold {
	uint64_t chunks;
	size_t shown, more;
};

static void fold_item(struct job *j, struct fold *f, uint32_t i)
{
	struct dsh_src *src = j->s->src;
	struct dsh_rec r = { 0 };

	if (src->items[i].type == T_CHUNK)
		f->chunks += src->items[i].count;
	if (is_bare(src->items[i].type))
		return;
	if (f->shown == FOLDED_MAX) {
		f->more++;
		return;
	}
	f->shown++;
	if (item_rec(j->s, i, &r, NULL) == 0)
		add_folded(j, &r);
	rec_release(&r);
}

static void add_fold(struct job *j)
{
	struct dsh_src *src = j->s->src;
	uint32_t own = scan_item_of(src, j->s->entries[j->entry].off), first, i;
	struct fold f = { 0 };

	if (own == NO_ITEM)
		return;
	for (first = own;
		first > 0 && !is_entry_item(src, first - 1) && own - first < FOLDED_REACH;)
		first--;
	for (i = first; i < own; i++)
		if (event_leads(src->items[i].type) || first == 0)
			fold_item(j, &f, i);
	for (i = own + 1; i < src->n && !is_entry_item(src, i) && i - own < FOLDED_REACH; i++)
		if (!event_leads(src->items[i].type))
			fold_item(j, &f, i);
	if (f.more)
		add_note(j, arena_printf(j->a, "%zu more events of the log are not shown", f.more));
	if (f.chunks)
		add_meta(j, str_of("chunks"), str_of(arena_printf(j->a, "%" PRIu64, f.chunks)));
}

/* ---- cards of history changes ---- */

/* Nodes on the surface before this entry. */
static uint64_t surface_before(struct job *j)
{
	struct dsh_src *src = j->s->src;
	uint64_t n = 0;

	for (uint32_t e = 0; e < j->entry; e++) {
		uint32_t i = j->s->entries[e].spare == SPARE_RECORD
				     ? scan_item_of(src, j->s->entries[e].off)
				     : NO_ITEM;

		if (i == NO_ITEM || (src->items[i].flags & ITEM_ODD))
			continue;
		n = n + 1 > src->items[i].spare ? n + 1 - src->items[i].spare : 0;
	}
	return n;
}

static void add_card(struct job *j, const struct dsh_rec *r)
{
	struct dsh_src *src = j->s->src;
	uint32_t i = scan_item_of(src, j->s->entries[j->entry].off);
	struct str op = rec_field(r, K_OP);
	uint64_t start = 0, end = 0, before = surface_before(j),
		 removed = i == NO_ITEM ? 0 : src->items[i].spare;

	num_count(json_get(op, "start"), &start);
	num_count(json_get(op, "end"), &end);
	add_note(j, arena_printf(j->a,
			    "removed: %" PRIu64 " message%s, events %" PRIu64 " to %" PRIu64 "%s",
			    removed, plural(removed, "", "s"), start, end,
			    removed ? "" : " (the replacement could not be applied)"));
	add_note(j, arena_printf(j->a, "kept: %" PRIu64 " of %" PRIu64 " messages",
			    before > removed ? before - removed : 0, before));
	add_note(j, r->type == T_TOOL_RESULT ? "in its place: this shorter result"
					     : "in its place: this summary");
}

/* ---- the whole ---- */

static void add_state_notes(struct job *j, const struct dsh_rec *r)
{
	const struct entry *e = &j->s->entries[j->entry];
	struct str data = rec_field(r, K_DATA);

	if (e->spare == SPARE_CLOSER)
		add_note(j, "would be added by repair: the log ends inside a turn");
	else if (e->flags & ENTRY_DERIVED)
		add_note(j, "recovered from the torn end of the file; never acknowledged");
	if (json_type_of(json_get(data, "interrupted")) == JSON_TRUE)
		add_note(j, "the answer was interrupted");
}

static void add_tokens(struct job *j, const char *name, const struct dsh_tokens *t)
{
	struct buf text = { 0 };

	if (t->calls) {
		tokens_put(t, &text);
		add_meta(j, str_of(name), arena_keep(j->a, buf_str(&text)));
	}
	buf_release(&text);
}

/* Of the step and the turn where that says more than the call does. */
static void add_sums(struct job *j)
{
	const struct entry *e = &j->s->entries[j->entry];
	uint32_t i = scan_item_of(j->s->src, e->off);
	struct dsh_tokens step, turn;

	if (i == NO_ITEM || (e->kind != KIND_ASSISTANT && e->kind != KIND_USER))
		return;
	tokens_around(j->s, i, &step, &turn);
	if (e->kind == KIND_ASSISTANT && step.calls > 1)
		add_tokens(j, "tokens of the step", &step);
	if (turn.calls > 1 || e->kind == KIND_USER)
		add_tokens(j, "tokens of the turn", &turn);
}

static void add_own_meta(struct job *j, struct dsh_rec *r)
{
	static const char *const names[] = { "error", "meta", NULL };
	struct dsh_tokens call = { 0 };
	struct str data = rec_field(r, K_DATA), source;

	for (size_t i = 0; r->type != T_USER && names[i]; i++) {
		struct str raw = json_get(data, names[i]);

		if (raw.n)
			add_part(j, PART_META, raw)->name = str_of(names[i]);
	}
	tokens_add(&call, tokens_of(r));
	add_tokens(j, "tokens", &call);
	source = json_get(r->type == T_USER ? data : json_get(data, "message"), "source");
	if (source.n && r->type != T_TOOL_RESULT)
		add_part(j, PART_META, source)->name = str_of("source");
}

static void add_kin(struct job *j)
{
	const struct session_kin *kin = kin_of(j->s, j->entry);

	add_note(j, kin->is_agent ? "an agent was sent out here; Enter opens its session"
				  : "another session was forked here; Enter opens it");
	if (kin->title)
		add_meta(j, str_of("title"), str_of(kin->title));
	add_meta(j, str_of("session"), str_of(kin->id));
	if (kin->seed != UINT64_MAX)
		add_meta(j, str_of("events inherited"), str_of(arena_printf(j->a, "%" PRIu64, kin->seed)));
	if (kin->entries)
		add_meta(j, str_of("entries of its own"), str_of(arena_printf(j->a, "%" PRIu32, kin->entries)));
}

static int fill(struct job *j, struct err *err)
{
	const struct entry *e = &j->s->entries[j->entry];
	struct dsh_rec r = { 0 };
	struct str data;
	int rc;

	if (e->spare == SPARE_KIN) {
		add_kin(j);
		return 0;
	}
	if (e->spare == SPARE_CHUNKS) {
		if (e->flags & ENTRY_DERIVED)
			add_note(j, "recovered from the torn end of the file; never acknowledged");
		rc = assemble(j, err);
		return rc;
	}
	rc = entry_rec(j->s, j->entry, &r, err);
	if (rc < 0)
		goto out;
	data = rec_field(&r, K_DATA);
	j->out->role = parts_decode(j->a, rec_field(&r, K_TYPE), SHORT_TEXT, NULL).p;
	add_state_notes(j, &r);
	if (e->kind == KIND_SUMMARY)
		add_card(j, &r);
	if (event_is_surface(r.type))
		add_blocks(j,
			json_get(r.type == T_USER ? data : json_get(data, "message"), "content"),
			e->kind == KIND_SYSTEM || e->kind == KIND_EVENT);
	else
		add_part(j, PART_JSON, data);
	if (event_is_surface(r.type))
		add_own_meta(j, &r);
	if (e->flags & ENTRY_HAS_CALLS)
		add_results(j);
	if (e->spare == SPARE_RECORD) {
		add_sums(j);
		add_fold(j);
	}
out:
	rec_release(&r);
	return rc;
}

int dsh_op_content(struct session *s, uint32_t entry, size_t limit, struct arena *a,
	struct content *out, struct err *err)
{
	struct job j = { .s = s, .entry = entry, .limit = limit, .a = a, .out = out };

	*out = (struct content){ 0 };
	if (entry >= s->n)
		return err_set(err, ERR_NOTFOUND, "no such entry");
	return fill(&j, err);
}
