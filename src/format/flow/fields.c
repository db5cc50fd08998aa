/*
 * fields.c - the fields that the frames of a round have, and their types: what
 * makes a line undecodable, and the values of one that is not.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

const char *const flow_count_names[FLOW_COUNTS] = { "talks", "steps", "streams", "segments",
	"unresolved", "changes", "lines_added", "lines_removed", "llm_calls", "subagents",
	"bash_runs" };

const char *const flow_keys[KEY_COUNT] = { "t", "id", "revision", "tombstone", "kind", "parent",
	"stream", "ref", "refs", "attrs", "type", "from", "to", "quality", "via", "evidence",
	"reason", "state", "digest", "counts" };

const char *const flow_header_keys[HEAD_COUNT] = { "t", "schema", "conversation", "session",
	"parser", "policy", "input_digest", "round", "previous", "from_seq", "through_seq",
	"from_time", "through_time", "session_from_time", "session_through_time", "title", "talks",
	"steps", "streams", "segments", "unresolved", "changes", "lines_added", "lines_removed",
	"llm_calls", "subagents", "bash_runs" };

_Static_assert(HEAD_COUNT <= JSON_MAX_KEYS, "the scanner takes so many keys");

/* The fields of each frame; `t` is a string everywhere. */
struct rule {
	uint8_t key, type;
};

static const struct rule header_rules[] = { { HEAD_SCHEMA, TYPE_STRING },
	{ HEAD_CONVERSATION, TYPE_STRING }, { HEAD_SESSION, TYPE_STRING },
	{ HEAD_PARSER, TYPE_STRING }, { HEAD_POLICY, TYPE_STRING }, { HEAD_INPUT, TYPE_STRING },
	{ HEAD_ROUND, TYPE_UINT }, { HEAD_PREVIOUS, TYPE_STRING }, { HEAD_FROM_SEQ, TYPE_UINT },
	{ HEAD_THROUGH_SEQ, TYPE_UINT }, { HEAD_FROM_TIME, TYPE_STRING },
	{ HEAD_THROUGH_TIME, TYPE_STRING }, { HEAD_SESSION_FROM, TYPE_STRING },
	{ HEAD_SESSION_THROUGH, TYPE_STRING }, { HEAD_TITLE, TYPE_STRING } };

static const struct rule node_rules[] = { { KEY_ID, TYPE_STRING }, { KEY_REVISION, TYPE_UINT },
	{ KEY_TOMBSTONE, TYPE_BOOL }, { KEY_KIND, TYPE_STRING }, { KEY_PARENT, TYPE_STRING },
	{ KEY_STREAM, TYPE_STRING }, { KEY_REF, TYPE_REF }, { KEY_REFS, TYPE_REFS },
	{ KEY_ATTRS, TYPE_ANY } };

static const struct rule relation_rules[] = { { KEY_ID, TYPE_STRING }, { KEY_REVISION, TYPE_UINT },
	{ KEY_TOMBSTONE, TYPE_BOOL }, { KEY_TYPE, TYPE_STRING }, { KEY_FROM, TYPE_STRING },
	{ KEY_TO, TYPE_STRING }, { KEY_QUALITY, TYPE_STRING }, { KEY_VIA, TYPE_STRING },
	{ KEY_EVIDENCE, TYPE_REFS } };

static const struct rule open_rules[] = { { KEY_ID, TYPE_STRING }, { KEY_REVISION, TYPE_UINT },
	{ KEY_TOMBSTONE, TYPE_BOOL }, { KEY_KIND, TYPE_STRING }, { KEY_REF, TYPE_STRING },
	{ KEY_REASON, TYPE_STRING }, { KEY_STATE, TYPE_STRING } };

static const struct rule commit_rules[] = { { KEY_DIGEST, TYPE_STRING },
	{ KEY_COUNTS, TYPE_COUNTS } };

#define RULES(v) { v, sizeof(v) / sizeof((v)[0]) }
static const struct {
	const struct rule *v;
	size_t n;
} rules[] = {
	[FRAME_UNKNOWN] = { NULL, 0 },
	[FRAME_HEADER] = RULES(header_rules),
	[FRAME_NODE] = RULES(node_rules),
	[FRAME_RELATION] = RULES(relation_rules),
	[FRAME_OPEN] = RULES(open_rules),
	[FRAME_COMMIT] = RULES(commit_rules),
};

bool flow_present(const struct flow_line_scan *s, int key)
{
	return s->sc.field[key].type > JSON_NULL;
}

struct str flow_field(const struct flow_line_scan *s, int key)
{
	return flow_present(s, key) ? json_raw(s->p, &s->sc.field[key]) : (struct str){ NULL, 0 };
}

void flow_text(struct str raw, struct buf *out)
{
	struct buf text = { 0 };
	size_t i = 0;

	json_string(raw, &text, SIZE_MAX);
	while (i < text.n) {
		size_t good = utf8_valid_prefix(text.p + i, text.n - i);

		buf_add(out, text.p + i, good);
		i += good;
		if (i == text.n)
			break;
		buf_adds(out, "\xEF\xBF\xBD");
		i++;
	}
	buf_release(&text);
}

static struct str decoded(struct str raw, bool escaped, struct arena *a)
{
	struct buf text = { 0 };
	struct str s = { raw.p + 1, raw.n - 2 };

	if (!escaped && utf8_valid_prefix(s.p, s.n) == s.n)
		return s;
	flow_text(raw, &text);
	s = arena_keep(a, buf_str(&text));
	buf_release(&text);
	return s;
}

struct str flow_decoded(struct str raw, struct arena *a)
{
	if (raw.n < 2 || raw.p[0] != '"')
		return (struct str){ "", 0 };
	return decoded(raw, memchr(raw.p, '\\', raw.n) != NULL, a);
}

struct str flow_string(const struct flow_line_scan *s, int key, struct arena *a)
{
	const struct json_field *f = &s->sc.field[key];

	return f->type == JSON_STRING ? decoded(json_raw(s->p, f), f->escaped, a)
				      : (struct str){ "", 0 };
}

uint64_t flow_uint(const struct flow_line_scan *s, int key)
{
	uint64_t v = 0;

	json_uint64(flow_field(s, key), &v);
	return v;
}

static bool is_null(struct str raw)
{
	enum json_type type = json_type_of(raw);

	return type == JSON_NONE || type == JSON_NULL;
}

/* The scanner takes "-0" for a number; an unsigned one it is not. */
static bool is_uint(struct str raw)
{
	uint64_t v;

	return is_null(raw) || (raw.p[0] != '-' && json_uint64(raw, &v));
}

static bool is_int(struct str raw)
{
	int64_t v;

	return is_null(raw) || json_int64(raw, &v);
}

enum { PLAIN_DIGITS = 18, PLAIN_REF = sizeof("{\"seq\":1,\"row\":1}") - 1 };

/* Up to 18 digits without a leading zero; NULL: it is written in another way. */
static inline const char *plain_number(const char *p, const char *end, uint64_t *out)
{
	const char *first = p;
	uint64_t v = 0;

	for (; p < end && (unsigned char)(*p - '0') < 10; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	if (p == first || p - first > PLAIN_DIGITS || (*first == '0' && p - first > 1))
		return NULL;
	*out = v;
	return p;
}

/* {"seq":1,"row":2,"block":3} at p, as nearly all are written: behind it. NULL: look closer. */
static const char *plain_ref(const char *p, const char *end, struct flow_place *out)
{
	static const char seq[] = "{\"seq\":", row[] = ",\"row\":", block[] = ",\"block\":";
	uint64_t number;

	*out = (struct flow_place){ .is_set = true };
	if (end - p < PLAIN_REF || memcmp(p, seq, sizeof(seq) - 1) != 0)
		return NULL;
	p = plain_number(p + sizeof(seq) - 1, end, &out->seq);
	if (!p || end - p < (ptrdiff_t)sizeof(row) || memcmp(p, row, sizeof(row) - 1) != 0)
		return NULL;
	p = plain_number(p + sizeof(row) - 1, end, &out->row);
	if (p && end - p > (ptrdiff_t)sizeof(block) && memcmp(p, block, sizeof(block) - 1) == 0) {
		p = plain_number(p + sizeof(block) - 1, end, &number);
		if (p)
			out->block = (int64_t)number;
		out->has_block = true;
	}
	return p && p < end && *p == '}' ? p + 1 : NULL;
}

bool flow_ref(struct str raw, struct flow_place *out)
{
	struct str seq, row, block;

	*out = (struct flow_place){ 0 };
	if (is_null(raw))
		return true;
	if (plain_ref(raw.p, raw.p + raw.n, out) == raw.p + raw.n)
		return true;
	*out = (struct flow_place){ 0 };
	if (json_type_of(raw) != JSON_OBJECT)
		return false;
	seq = json_get(raw, "seq");
	row = json_get(raw, "row");
	block = json_get(raw, "block");
	if (!is_uint(seq) || !is_uint(row) || !is_int(block))
		return false;
	json_uint64(seq, &out->seq);
	json_uint64(row, &out->row);
	out->has_block = !is_null(block);
	json_int64(block, &out->block);
	out->is_set = true;
	return true;
}

size_t flow_put_refs(struct buf *out, struct str list, size_t most)
{
	struct str key, item;
	struct json_iter it;
	size_t n = 0;

	json_iter_init(&it, list);
	while (!it.is_object && json_iter_next(&it, &key, &item)) {
		struct flow_place p;

		if (n++ >= most || !flow_ref(item, &p))
			continue;
		buf_printf(out, "%s%" PRIu64 ":%" PRIu64, n > 1 ? " " : "", p.seq, p.row);
		if (p.has_block)
			buf_printf(out, ":%" PRId64, p.block);
	}
	return n;
}

bool flow_is_earlier(const struct flow_place *a, const struct flow_place *b)
{
	if (a->seq != b->seq)
		return a->seq < b->seq;
	if (a->row != b->row)
		return a->row < b->row;
	return a->has_block != b->has_block ? !a->has_block : a->block < b->block;
}

static void add_ref(struct flow_refs *refs, const struct flow_place *place)
{
	if (place->seq == 0 && place->row == 0)
		refs->has_zero = true;
	if (place->seq > refs->last_seq)
		refs->last_seq = place->seq;
	if (!refs->earliest.is_set || flow_is_earlier(place, &refs->earliest))
		refs->earliest = *place;
}

/* A list of plain refs without spaces; false: look closer. */
static bool plain_refs(struct str raw, struct flow_refs *out)
{
	const char *p = raw.p, *end = raw.p + raw.n;
	struct flow_place place;

	do {
		p = plain_ref(p + 1, end, &place);
		if (!p || p == end)
			return false;
		add_ref(out, &place);
	} while (*p == ',');
	return *p == ']' && p + 1 == end;
}

static bool read_refs(struct str raw, struct flow_refs *out)
{
	struct str key, item;
	struct flow_place place;
	struct json_iter it;

	*out = (struct flow_refs){ 0 };
	if (json_type_of(raw) != JSON_LIST)
		return false;
	if (plain_refs(raw, out))
		return true;
	*out = (struct flow_refs){ 0 };
	json_iter_init(&it, raw);
	while (json_iter_next(&it, &key, &item)) {
		if (!flow_ref(item, &place))
			return false;
		add_ref(out, &place);
	}
	return true;
}

static bool is_counts(struct str raw)
{
	return json_type_of(raw) == JSON_OBJECT && is_int(json_get(raw, "nodes")) &&
		is_int(json_get(raw, "relations")) && is_int(json_get(raw, "unresolved"));
}

bool flow_is_type(struct str raw, enum flow_type type)
{
	struct flow_place place;
	struct flow_refs refs;

	if (is_null(raw))
		return true;
	switch (type) {
	case TYPE_STRING:
		return json_type_of(raw) == JSON_STRING;
	case TYPE_UINT:
		return is_uint(raw);
	case TYPE_INT:
		return is_int(raw);
	case TYPE_BOOL:
		return json_type_of(raw) == JSON_TRUE || json_type_of(raw) == JSON_FALSE;
	case TYPE_REF:
		return flow_ref(raw, &place);
	case TYPE_REFS:
		return read_refs(raw, &refs);
	case TYPE_COUNTS:
		return is_counts(raw);
	case TYPE_ANY:
		break;
	}
	return true;
}

enum flow_frame flow_frame_of(const struct flow_line_scan *s)
{
	/* the most frequent first */
	static const struct {
		const char *word;
		enum flow_frame frame;
	} words[] = { { "node", FRAME_NODE }, { "relation", FRAME_RELATION },
		{ "unresolved", FRAME_OPEN }, { "header", FRAME_HEADER },
		{ "commit", FRAME_COMMIT } };
	struct str t = flow_field(s, KEY_T);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (json_string_eq(t, words[i].word))
			return words[i].frame;
	return FRAME_UNKNOWN;
}

/* Absent and null are of every type; refs are kept for who reads the entity. */
static bool is_field(struct flow_line_scan *s, int key, enum flow_type type)
{
	uint8_t is = s->sc.field[key].type;

	if (is <= JSON_NULL)
		return true;
	switch (type) {
	case TYPE_STRING:
		return is == JSON_STRING;
	case TYPE_REF:
		return flow_ref(flow_field(s, key), &s->ref);
	case TYPE_REFS:
		return read_refs(flow_field(s, key), &s->refs);
	default:
		return flow_is_type(flow_field(s, key), type);
	}
}

int flow_wrong_field(struct flow_line_scan *s, enum flow_frame frame)
{
	const struct rule *v = rules[frame].v;

	s->ref = (struct flow_place){ 0 };
	s->refs = (struct flow_refs){ 0 };
	if (!is_field(s, KEY_T, TYPE_STRING))
		return KEY_T;
	for (size_t i = 0; i < rules[frame].n; i++)
		if (!is_field(s, v[i].key, (enum flow_type)v[i].type))
			return v[i].key;
	for (int i = HEAD_COUNTS; frame == FRAME_HEADER && i < HEAD_COUNT; i++)
		if (!is_field(s, i, TYPE_INT))
			return i;
	return -1;
}
