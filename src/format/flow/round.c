/*
 * round.c - one round file: header, entities, commit. Every rule of
 * doc/formats.md by which a round is rejected is here, each line is read once,
 * and its bytes go to the digest in the same pass. Nothing of a line is kept;
 * the caller gets each entity while its line is at hand.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum {
	WINDOW = 128
		 << 10, /* the digest finds the bytes where the scanner left them: in the cache */
	HEADER_WINDOW = 4 << 10
};

struct reader {
	struct arena *a;          /* for the header's strings */
	struct flow_header *h;
	struct flow_fault *fault;
	flow_entity_fn *fn;
	void *arg;

	struct flow_scratch *w;
	struct flow_sha sha;
	struct flow_line_scan scan;
	const struct log_line *line;
	bool has_header, has_commit;
};

void flow_fault_set(
	struct flow_fault *f, const char *code, uint64_t line, uint64_t off, const char *fmt, ...)
{
	struct buf text = { 0 }, safe = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	text_safe(&safe, text.p, text.n, TEXT_ONE_LINE);
	f->code = code;
	f->line = line;
	f->off = off;
	snprintf(f->text, sizeof(f->text), "%s", safe.n ? safe.p : "");
	buf_release(&text);
	buf_release(&safe);
}

/* Always false, for "return reject(...)". */
static __attribute__((format(printf, 3, 4))) bool reject(
	struct reader *rd, const char *code, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	flow_fault_set(rd->fault, code, rd->line ? rd->line->number : 0,
		rd->line ? rd->line->off : 0, "%s", text);
	return false;
}

/* ---- a line ---- */

static bool scan_line(struct reader *rd, const char *const *keys, size_t nkeys)
{
	const struct log_line *line = rd->line;
	struct json_scan *sc = &rd->scan.sc;
	enum json_status status = json_scan_lenient(line->p, line->n, keys, nkeys, sc);

	rd->scan.p = line->p;
	rd->scan.keys = keys;
	if (status == JSON_END)
		return reject(rd, "bad-json", "a line of white space only");
	if (status != JSON_OK)
		return reject(rd, sc->is_deep ? "too-deep" : "bad-json", "%s at byte %zu",
			sc->reason, sc->error_at + 1);
	if (!json_is_blank(line->p + sc->end, line->n - sc->end))
		return reject(rd, "bad-json", "more follows the value at byte %zu", sc->end + 1);
	if (line->p[sc->start] != '{')
		return reject(rd, "bad-type", "the line is not an object");
	return true;
}

/* The frame of the line, scanned with its own keys and decoded. */
static bool decode_line(struct reader *rd, enum flow_frame *frame)
{
	int wrong;

	if (rd->line->too_long)
		return reject(rd, "bad-json", "a line of %zu bytes; no more than %d are read",
			rd->line->n, LOG_MAX_LINE);
	if (rd->line->n == 0)
		return reject(rd, "empty-line", "an empty line");
	if (!scan_line(rd, flow_keys, KEY_COUNT))
		return false;
	*frame = flow_frame_of(&rd->scan);
	if (*frame == FRAME_HEADER && !scan_line(rd, flow_header_keys, HEAD_COUNT))
		return false;
	wrong = flow_wrong_field(&rd->scan, *frame);
	if (wrong >= 0)
		return reject(rd, "bad-type", "\"%s\" has another type", rd->scan.keys[wrong]);
	return true;
}

/* ---- the header ---- */

static const char *keep(struct reader *rd, int key, struct str *s)
{
	struct str text = flow_string(&rd->scan, key, &rd->w->line);
	char *kept = arena_strndup(rd->a, text.n ? text.p : "", text.n);

	if (s)
		*s = (struct str){ kept, text.n };
	return kept;
}

static void take_header(struct reader *rd)
{
	struct flow_header *h = rd->h;

	h->round = flow_uint(&rd->scan, HEAD_ROUND);
	h->from_seq = flow_uint(&rd->scan, HEAD_FROM_SEQ);
	h->through_seq = flow_uint(&rd->scan, HEAD_THROUGH_SEQ);
	h->conversation = keep(rd, HEAD_CONVERSATION, &h->conversation_s);
	h->session = keep(rd, HEAD_SESSION, &h->session_s);
	h->title = keep(rd, HEAD_TITLE, &h->title_s);
	h->previous = keep(rd, HEAD_PREVIOUS, NULL);
	h->input_digest = keep(rd, HEAD_INPUT, NULL);
	h->parser = keep(rd, HEAD_PARSER, NULL);
	h->policy = keep(rd, HEAD_POLICY, NULL);
	h->from_time = keep(rd, HEAD_FROM_TIME, NULL);
	h->through_time = keep(rd, HEAD_THROUGH_TIME, NULL);
	h->session_from_time = keep(rd, HEAD_SESSION_FROM, NULL);
	h->session_through_time = keep(rd, HEAD_SESSION_THROUGH, NULL);
	for (int i = 0; i < FLOW_COUNTS; i++)
		h->has_count[i] = flow_present(&rd->scan, HEAD_COUNTS + i) &&
			json_int64(flow_field(&rd->scan, HEAD_COUNTS + i), &h->count[i]);
}

static bool check_header(struct reader *rd)
{
	static const struct {
		int key;
		const char *code;
	} needed[] = { { HEAD_CONVERSATION, "header-conversation" },
		{ HEAD_SESSION, "header-session" }, { HEAD_PARSER, "header-parser" },
		{ HEAD_POLICY, "header-policy" }, { HEAD_INPUT, "header-input-digest" } };
	const struct flow_header *h = rd->h;

	if (!str_eqs(flow_string(&rd->scan, HEAD_SCHEMA, &rd->w->line), "sf/1"))
		return reject(rd, "header-schema", "the schema is not sf/1");
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (flow_string(&rd->scan, needed[i].key, &rd->w->line).n == 0)
			return reject(rd, needed[i].code, "the header names no %s",
				flow_header_keys[needed[i].key]);
	if (h->round == 0)
		return reject(rd, "header-round", "the header has no round number");
	if (h->round > 1 && !*h->previous)
		return reject(rd, "header-previous-missing",
			"round %" PRIu64 " does not name the round before", h->round);
	if (h->round == 1 && *h->previous)
		return reject(rd, "header-previous-first", "round 1 names a round before");
	if (h->from_seq == 0)
		return reject(rd, "header-from-seq", "the header has no first sequence");
	if (h->through_seq < h->from_seq - 1)
		return reject(rd, "header-range",
			"sequences %" PRIu64 " to %" PRIu64 " are no window", h->from_seq,
			h->through_seq);
	return true;
}

/* ---- entities ---- */

static bool check_place(struct reader *rd, const char *field, const struct flow_place *place)
{
	if (place->seq == 0 && place->row == 0)
		return reject(rd, "ref-zero", "\"%s\" is sequence 0 row 0", field);
	if (place->seq > rd->h->through_seq)
		return reject(rd, "ref-past",
			"\"%s\" names sequence %" PRIu64 "; the round ends at %" PRIu64, field,
			place->seq, rd->h->through_seq);
	return true;
}

/* The list is looked at again only to say which of its refs is wrong. */
static bool check_refs(struct reader *rd, int key)
{
	const struct flow_refs *refs = &rd->scan.refs;
	struct flow_place place;
	struct str name, item;
	struct json_iter it;

	if (!refs->has_zero && refs->last_seq <= rd->h->through_seq)
		return true;
	json_iter_init(&it, flow_field(&rd->scan, key));
	while (json_iter_next(&it, &name, &item)) {
		flow_ref(item, &place);
		if (!check_place(rd, flow_keys[key], &place))
			return false;
	}
	return true;
}

/* {role string, ref object}, or null; either may be missing. */
static bool is_body(struct str raw)
{
	struct flow_place place;

	if (json_type_of(raw) == JSON_NULL)
		return true;
	return json_type_of(raw) == JSON_OBJECT &&
	       flow_is_type(json_get(raw, "role"), TYPE_STRING) &&
	       flow_ref(json_get(raw, "ref"), &place);
}

static bool check_body(struct reader *rd, struct str raw)
{
	struct str role = json_get(raw, "role");
	struct flow_place place;

	if (!json_string_eq(role, "request") && !json_string_eq(role, "response"))
		return reject(rd, "bodies-role", "a provider body is neither request nor response");
	flow_ref(json_get(raw, "ref"), &place);
	if (place.seq == 0 || place.row == 0)
		return reject(rd, "bodies-zero",
			"a provider body stands at sequence %" PRIu64 " row %" PRIu64, place.seq,
			place.row);
	return check_place(rd, "provider_bodies", &place);
}

/* Most attrs have none: a look for the word, which an escape could hide, spares the walk. */
static struct str provider_bodies(struct str attrs)
{
	static const char key[] = "provider_bodies";

	if (!attrs.n || (!memmem(attrs.p, attrs.n, key, sizeof(key) - 1) &&
				!memchr(attrs.p, '\\', attrs.n)))
		return (struct str){ NULL, 0 };
	return json_get(attrs, key);
}

static bool check_bodies(struct reader *rd)
{
	struct str list = provider_bodies(flow_field(&rd->scan, KEY_ATTRS)), key, item;
	enum json_type type = json_type_of(list);
	struct json_iter it;

	if (type == JSON_NONE || type == JSON_NULL)
		return true;
	json_iter_init(&it, list);
	while (type == JSON_LIST && json_iter_next(&it, &key, &item))
		if (!is_body(item))
			type = JSON_NONE;
	if (type != JSON_LIST)
		return reject(rd, "bodies-shape", "provider_bodies is no list of a role and a ref");
	json_iter_init(&it, list);
	while (json_iter_next(&it, &key, &item))
		if (!check_body(rd, item))
			return false;
	return true;
}

static bool check_node(struct reader *rd, struct flow_place *place)
{
	*place = rd->scan.ref;
	if (flow_present(&rd->scan, KEY_REF) && !check_place(rd, "ref", place))
		return false;
	return check_refs(rd, KEY_REFS) && check_bodies(rd);
}

static bool check_relation(struct reader *rd, bool is_tombstone, struct flow_place *place)
{
	static const int ends[] = { KEY_TYPE, KEY_FROM, KEY_TO };

	for (int i = 0; i < 3 && !is_tombstone; i++)
		if (flow_string(&rd->scan, ends[i], &rd->w->line).n == 0)
			return reject(rd, "relation-incomplete", "the relation has no \"%s\"",
				flow_keys[ends[i]]);
	*place = rd->scan.refs.earliest;
	return check_refs(rd, KEY_EVIDENCE);
}

static bool check_open(struct reader *rd, bool is_tombstone)
{
	struct str state = flow_string(&rd->scan, KEY_STATE, &rd->w->line);

	if (!is_tombstone && !str_eqs(state, "open") && !str_eqs(state, "resolved") &&
		!str_eqs(state, "terminal"))
		return reject(
			rd, "unresolved-state", "the state is none of open, resolved and terminal");
	return true;
}

static bool take_entity(struct reader *rd, enum flow_frame frame)
{
	struct flow_entity e = { .map = (enum flow_map)(frame - FRAME_NODE), .off = rd->line->off,
		.len = (uint32_t)rd->line->n, .scan = &rd->scan, .a = &rd->w->line };
	bool is_new, is_good;

	e.id = flow_string(&rd->scan, KEY_ID, &rd->w->line);
	e.is_tombstone = json_type_of(flow_field(&rd->scan, KEY_TOMBSTONE)) == JSON_TRUE;
	if (e.id.n == 0)
		return reject(rd, "no-id", "the entity has no id");
	flow_names_add(&rd->w->seen, e.id, &is_new);
	if (!is_new)
		return reject(rd, "dup-id", "the id %.*s is in this round already",
			e.id.n < 100 ? (int)e.id.n : 100, e.id.p);
	if (flow_uint(&rd->scan, KEY_REVISION) != rd->h->round)
		return reject(rd, "revision", "revision %" PRIu64 " in round %" PRIu64,
			flow_uint(&rd->scan, KEY_REVISION), rd->h->round);
	if (frame == FRAME_NODE)
		is_good = check_node(rd, &e.place);
	else if (frame == FRAME_RELATION)
		is_good = check_relation(rd, e.is_tombstone, &e.place);
	else
		is_good = check_open(rd, e.is_tombstone);
	if (!is_good)
		return false;
	rd->h->entities[e.map]++;
	if (rd->fn)
		rd->fn(rd->arg, &e);
	return true;
}

/* ---- the commit, and the whole ---- */

static bool take_commit(struct reader *rd)
{
	static const char *const names[FLOW_MAPS] = { "nodes", "relations", "unresolved" };
	struct str counts = flow_field(&rd->scan, KEY_COUNTS);

	rd->has_commit = true;
	flow_sha_peek(&rd->sha, rd->h->digest);
	if (!str_eqs(flow_string(&rd->scan, KEY_DIGEST, &rd->w->line), rd->h->digest))
		return reject(rd, "digest-mismatch", "the bytes have the digest %s", rd->h->digest);
	for (int i = 0; i < FLOW_MAPS; i++) {
		int64_t said = 0;

		json_int64(json_get(counts, names[i]), &said);
		if (said < 0 || (uint64_t)said != rd->h->entities[i])
			return reject(rd, "counts-mismatch",
				"%" PRIi64 " %s are announced, %" PRIu64 " are here", said,
				names[i], rd->h->entities[i]);
	}
	return true;
}

static bool take_line(struct reader *rd)
{
	enum flow_frame frame = FRAME_UNKNOWN;

	if (!decode_line(rd, &frame))
		return false;
	if (rd->has_commit)
		return reject(rd, "after-commit", "a line behind the commit");
	if (!rd->has_header && frame != FRAME_HEADER)
		return reject(rd, "first-not-header", "the first line is no header");
	if (rd->has_header && frame == FRAME_HEADER)
		return reject(rd, "second-header", "another header");
	switch (frame) {
	case FRAME_UNKNOWN:
		return reject(rd, "unknown-frame", "the line is none of the five frames");
	case FRAME_HEADER:
		rd->has_header = true;
		take_header(rd);
		return check_header(rd);
	case FRAME_COMMIT:
		return take_commit(rd);
	default:
		return take_entity(rd, frame);
	}
}

static int read_lines(struct reader *rd, struct log_reader *r, bool only_header, struct err *err)
{
	struct log_line line;
	int rc;

	while ((rc = log_next_line(r, &line, err)) == 1) {
		rd->line = &line;
		arena_reset(&rd->w->line);
		if (!take_line(rd) || only_header)
			return 0;
		if (rd->has_commit)
			continue;
		flow_sha_add(&rd->sha, line.p, line.n + 1); /* p[n] is a newline, even at the end */
	}
	rd->line = NULL;
	if (rc < 0)
		return rc;
	if (!rd->has_header)
		reject(rd, "first-not-header", "there is no line");
	else if (!rd->has_commit)
		reject(rd, "no-commit", "the file ends without a commit");
	return 0;
}

static int read_round(const char *path, struct reader *rd, bool only_header, struct err *err)
{
	struct log_reader *r = NULL;
	int rc;

	*rd->h = (struct flow_header){ .conversation = "",
		.session = "",
		.previous = "",
		.input_digest = "",
		.parser = "",
		.policy = "",
		.title = "",
		.from_time = "",
		.through_time = "",
		.session_from_time = "",
		.session_through_time = "" };
	*rd->fault = (struct flow_fault){ 0 };
	rc = log_reader_open(&r, path, err);
	if (rc < 0)
		return rc;
	log_small_windows(r, only_header ? HEADER_WINDOW : WINDOW);
	flow_names_clear(&rd->w->seen);
	flow_sha_begin(&rd->sha);
	rc = read_lines(rd, r, only_header, err);
	flow_sha_end(&rd->sha, NULL);
	log_reader_close(&r);
	return rc;
}

void flow_scratch_init(struct flow_scratch *w)
{
	*w = (struct flow_scratch){ 0 };
	flow_names_init(&w->seen);
}

void flow_scratch_release(struct flow_scratch *w)
{
	flow_names_release(&w->seen);
	arena_free(&w->line);
}

int flow_round_read(const char *path, struct flow_scratch *w, struct arena *a,
	struct flow_header *h, flow_entity_fn *fn, void *arg, struct flow_fault *fault,
	struct err *err)
{
	struct reader rd = { .w = w, .a = a, .h = h, .fault = fault, .fn = fn, .arg = arg };

	return read_round(path, &rd, false, err);
}

int flow_round_header(const char *path, struct arena *a, struct flow_header *h,
	struct flow_fault *fault, struct err *err)
{
	struct flow_scratch w;
	struct reader rd = { .w = &w, .a = a, .h = h, .fault = fault };
	int rc;

	flow_scratch_init(&w);
	rc = read_round(path, &rd, true, err);
	flow_scratch_release(&w);
	return rc;
}
