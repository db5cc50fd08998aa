/*
 * body.c - provider bodies: a request or response of a model call, stored with
 * what the session already holds taken out, put together again. What does not
 * come out with the length and digest that it should have is not shown.
 *
 * References go backwards only, and copies nest at most DEPTH_MAX deep; they
 * are followed with a stack of their own.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

enum { DEPTH_MAX = 32, BODY_MAX = 256 << 20, WORK_MAX = 1 << 30 };

/* One body that is being built. */
struct build {
	struct flow_place place;
	struct str record, manifest;
	struct json_iter segments, parts;
	uint64_t nparts;         /* that `parts` has passed */
	struct buf text;
	uint64_t bytes;
	char sha256[65];
	size_t copy_len;         /* what the one below it in the stack wants of it */
};

struct rebuild {
	struct flow_conversation *c;
	struct arena records;
	struct build stack[DEPTH_MAX];
	size_t depth;
	size_t work;             /* bytes put together in all */
	struct arena *out;       /* for what is told when it does not go well */
	const char *why;         /* NULL while it goes well */
};

static struct str last_part(struct str record, size_t *index)
{
	struct str key, part, last = { NULL, 0 };
	struct json_iter it;

	*index = 0;
	json_iter_init(&it, json_get(record, "parts"));
	for (size_t i = 0; json_iter_next(&it, &key, &part); i++) {
		last = part;
		*index = i;
	}
	return last;
}

struct str flow_part_at(struct str record, uint64_t want)
{
	struct str key, part;
	struct json_iter it;

	json_iter_init(&it, json_get(record, "parts"));
	for (uint64_t i = 0; json_iter_next(&it, &key, &part); i++)
		if (i == want)
			return part;
	return (struct str){ NULL, 0 };
}

static bool decode_base64(struct str s, struct buf *out)
{
	uint32_t bits = 0;
	int n = 0;

	for (size_t i = 0; i < s.n && s.p[i] != '='; i++) {
		static const char digits[] =
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
		const char *at = s.p[i] ? strchr(digits, s.p[i]) : NULL;

		if (!at)
			return false;
		bits = bits << 6 | (uint32_t)(at - digits);
		n += 6;
		if (n >= 8) {
			n -= 8;
			buf_addc(out, (char)(bits >> n & 0xFF));
		}
	}
	return true;
}

/* The bytes that a part stands for. */
static bool add_part(struct str part, struct buf *out)
{
	struct str data = json_get(part, "data");
	struct buf text = { 0 };
	bool is_good = true;

	if (json_string_eq(json_get(part, "k"), "data")) {
		buf_addstr(out, data);
		return data.n > 0;
	}
	if (!json_string_eq(json_get(part, "k"), "unknown") || json_type_of(data) != JSON_STRING)
		return false;
	flow_text(data, &text);
	if (json_string_eq(json_get(part, "encoding"), "base64"))
		is_good = decode_base64((struct str){ text.p ? text.p : "", text.n }, out);
	else
		buf_add(out, text.p ? text.p : "", text.n);
	buf_release(&text);
	return is_good;
}

/* ---- looking backwards ---- */

static bool is_before(const struct flow_place *a, const struct flow_place *b)
{
	return a->seq < b->seq || (a->seq == b->seq && a->row < b->row);
}

/* ---- building ---- */

static bool fail(struct rebuild *rb, const char *why)
{
	if (!rb->why)
		rb->why = why;
	return false;
}

/* What is not there is missing; what could not be read may be there. */
static bool fail_with(struct rebuild *rb, const struct err *err, const char *missing)
{
	return fail(rb, err->code == ERR_NOTFOUND ? missing : arena_strdup(rb->out, err->text));
}

/* Puts a body on the stack; its manifest is checked for what it may ask for. */
static bool push(struct rebuild *rb, struct flow_place place)
{
	struct build *b = &rb->stack[rb->depth];
	struct buf line = { 0 };
	struct err err = { 0 };
	struct str sha;
	size_t last;

	if (rb->depth == DEPTH_MAX)
		return fail(rb, "its copies nest too deep");
	*b = (struct build){ .place = place };
	if (flow_record(rb->c, place.seq, place.row, &line, &err) < 0) {
		buf_release(&line);
		return fail_with(rb, &err, "missing: its record is not there");
	}
	b->record = arena_keep(&rb->records, buf_str(&line));
	buf_release(&line);
	b->manifest = json_get(last_part(b->record, &last), "data");
	if (!json_string_eq(json_get(b->manifest, "schema"), "provider_body/1"))
		return fail(rb, "its record has no manifest");
	sha = flow_decoded(json_get(b->manifest, "sha256"), &rb->records);
	if (!json_uint64(json_get(b->manifest, "bytes"), &b->bytes) || b->bytes > BODY_MAX ||
		sha.n != 64)
		return fail(rb, "its manifest says no size and digest that can be");
	memcpy(b->sha256, sha.p, sha.n);
	rb->depth++;
	if (json_type_of(json_get(b->manifest, "why")) == JSON_STRING &&
		json_type_of(json_get(b->manifest, "segments")) != JSON_LIST) {
		if (!add_part(flow_part_at(b->record, 0), &b->text))
			return fail(rb, "its bytes are not there");
		return true;
	}
	json_iter_init(&b->segments, json_get(b->manifest, "segments"));
	return true;
}

/* It may stand in a file that could not be read. */
static bool fail_lost(struct rebuild *rb, const char *missing)
{
	const char *unread = flow_index_unread(rb->c);

	return fail(rb, unread ? unread : missing);
}

static bool add_piece(struct rebuild *rb, struct build *b, struct str raw)
{
	const struct flow_slice *piece = flow_index_piece(rb->c, flow_decoded(raw, &rb->records));
	struct err err = { 0 };

	if (!piece || !is_before(&piece->place, &b->place))
		return fail_lost(rb, "a piece of it is missing");
	if (flow_record_slice(rb->c, piece, &b->text, &err) < 0)
		return fail_with(rb, &err, "a piece of it is missing");
	return true;
}

/* The body that is copied from goes on the stack; its bytes come when it is done. */
static bool begin_copy(struct rebuild *rb, const struct build *b, struct str copy)
{
	const struct flow_place *from =
		flow_index_body(rb->c, flow_decoded(json_get(copy, "from"), &rb->records));
	uint64_t len;

	if (!json_uint64(json_get(copy, "len"), &len) || len > BODY_MAX)
		return fail(rb, "it copies no length that can be");
	if (!from || !is_before(from, &b->place))
		return fail_lost(rb, "the body that it copies from is missing");
	if (!push(rb, *from))
		return false;
	rb->stack[rb->depth - 1].copy_len = (size_t)len;
	if (!json_string_eq(json_get(copy, "sha256"), rb->stack[rb->depth - 1].sha256))
		return fail(rb, "the body that it copies from is another");
	return true;
}

/* Parts are mostly named in their order: the walk goes on where it was. */
static struct str next_part(struct build *b, uint64_t want)
{
	struct str key, part;

	if (!b->parts.p || want < b->nparts) {
		json_iter_init(&b->parts, json_get(b->record, "parts"));
		b->nparts = 0;
	}
	while (json_iter_next(&b->parts, &key, &part))
		if (b->nparts++ == want)
			return part;
	return (struct str){ NULL, 0 };
}

static bool add_segment(struct rebuild *rb, struct str segment)
{
	struct build *b = &rb->stack[rb->depth - 1];
	struct str lit = json_get(segment, "lit"), part = json_get(segment, "part");
	struct str piece = json_get(segment, "piece"), copy = json_get(segment, "copy");
	uint64_t index;

	if ((lit.n > 0) + (part.n > 0) + (piece.n > 0) + (copy.n > 0) != 1)
		return fail(rb, "a segment of it is none of the four");
	if (json_type_of(lit) == JSON_STRING)
		flow_text(lit, &b->text);
	else if (json_uint64(part, &index))
		return add_part(next_part(b, index), &b->text) ||
		       fail(rb, "a part of it is missing");
	else if (json_type_of(piece) == JSON_STRING)
		return add_piece(rb, b, piece);
	else if (json_type_of(copy) == JSON_OBJECT)
		return begin_copy(rb, b, copy);
	else
		return fail(rb, "a segment of it has another type");
	return true;
}

/* The top of the stack is whole: is it what its manifest says? */
static bool check_done(struct rebuild *rb, const struct build *b)
{
	char hex[65];

	if (b->text.n != b->bytes)
		return fail(rb, "it comes out with another length");
	flow_sha_of(b->text.p ? b->text.p : "", b->text.n, hex);
	return strcmp(hex, b->sha256) == 0 || fail(rb, "it comes out with another digest");
}

static bool pop_copy(struct rebuild *rb)
{
	struct build *done = &rb->stack[--rb->depth], *b = &rb->stack[rb->depth - 1];
	bool fits = done->copy_len <= done->text.n;

	if (fits)
		buf_add(&b->text, done->text.p ? done->text.p : "", done->copy_len);
	buf_release(&done->text);
	return fits || fail(rb, "it copies more than there is");
}

static bool build(struct rebuild *rb)
{
	for (;;) {
		struct build *b = &rb->stack[rb->depth - 1];
		size_t before = b->text.n, depth = rb->depth;
		struct str key, segment;

		if (!b->segments.is_object && json_iter_next(&b->segments, &key, &segment)) {
			if (!add_segment(rb, segment))
				return false;
			if (rb->depth > depth)
				continue;
		} else {
			if (!check_done(rb, b))
				return false;
			if (rb->depth == 1)
				return true;
			if (!pop_copy(rb))
				return false;
			b = &rb->stack[rb->depth - 1];
			before = 0;
		}
		if (b->text.n > b->bytes)
			return fail(rb, "it comes out longer than it should be");
		rb->work += b->text.n - before;
		if (rb->work > WORK_MAX)
			return fail(rb, "it takes too much to put together");
	}
}

void flow_body_rebuild(struct flow_conversation *c, struct flow_place place, struct arena *a,
	struct flow_body *out)
{
	struct rebuild *rb = xcalloc(1, sizeof(*rb));

	*out = (struct flow_body){ .place = place };
	rb->c = c;
	rb->out = a;
	if (push(rb, place) && build(rb)) {
		struct build *b = &rb->stack[0];

		out->bytes = arena_keep(a, buf_str(&b->text));
		memcpy(out->sha256, b->sha256, sizeof(out->sha256));
	} else {
		out->why = rb->why;
	}
	for (size_t i = 0; i < DEPTH_MAX; i++)
		buf_release(&rb->stack[i].text);
	arena_free(&rb->records);
	free(rb);
}

/* ---- the messages of a body ---- */

/* Text of a message's content: a string, or blocks. */
static void add_content(struct str content, struct buf *out)
{
	struct str key, block;
	struct json_iter it;
	size_t start = out->n;

	if (json_type_of(content) == JSON_STRING) {
		flow_text(content, out);
		return;
	}
	json_iter_init(&it, content);
	while (!it.is_object && json_iter_next(&it, &key, &block)) {
		struct str text = json_get(block, "text");

		if (out->n > start)
			buf_addc(out, '\n');
		if (json_type_of(text) == JSON_STRING)
			flow_text(text, out);
		else
			buf_addstr(out, block);
	}
}

static bool say_message(struct str message, void (*fn)(void *arg, struct str line), void *arg)
{
	struct str role = json_get(message, "role"), content = json_get(message, "content");
	struct buf line = { 0 };
	bool is_message = json_type_of(role) == JSON_STRING && content.n > 0;

	if (is_message) {
		flow_text(role, &line);
		buf_adds(&line, ": ");
		add_content(content, &line);
		fn(arg, (struct str){ line.p, line.n });
	}
	buf_release(&line);
	return is_message;
}

bool flow_body_messages(
	const struct flow_body *b, void (*fn)(void *arg, struct str line), void *arg)
{
	struct str messages, key, item;
	struct json_scan sc;
	struct json_iter it;

	if (!b->bytes.p || json_scan_lenient(b->bytes.p, b->bytes.n, NULL, 0, &sc) != JSON_OK ||
		b->bytes.p[sc.start] != '{')
		return false;
	if (!b->is_request)
		return say_message(b->bytes, fn, arg);
	messages = json_get(b->bytes, "messages");
	if (json_type_of(messages) != JSON_LIST)
		return false;
	json_iter_init(&it, messages);
	while (json_iter_next(&it, &key, &item))
		if (!say_message(item, fn, arg))
			return false;
	return true;
}
