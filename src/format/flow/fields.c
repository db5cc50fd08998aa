/*
 * fields.c - the fields that the frames of a round have, and their types: what
 * makes a line undecodable, and the values of one that is not.
 */
#include "config.h"

#include "format/flow/internal.h"

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
	s = (struct str){ arena_strndup(a, text.n ? text.p : "", text.n), text.n };
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

/* `key` and up to 18 digits behind it; NULL: it is written in another way. */
static const char *plain_number(const char *p, const char *end, const char *key, uint64_t *out)
{
	const char *first;

	for (; *key; key++, p++)
		if (p == end || *p != *key)
			return NULL;
	first = p;
	for (*out = 0; p < end && *p >= '0' && *p <= '9'; p++)
		*out = *out * 10 + (uint64_t)(*p - '0');
	if (p == first || p - first > 18 || (*first == '0' && p - first > 1))
		return NULL;
	return p;
}

/* {"seq":1,"row":2,"block":3}, as nearly all are written. false: look closer. */
static bool plain_ref(struct str raw, struct flow_place *out)
{
	const char *p = raw.p, *end = raw.p + raw.n;
	uint64_t block = 0;

	p = plain_number(p, end, "{\"seq\":", &out->seq);
	p = p ? plain_number(p, end, ",\"row\":", &out->row) : NULL;
	if (p && p < end && *p == ',') {
		p = plain_number(p, end, ",\"block\":", &block);
		out->has_block = true;
	}
	out->block = (int64_t)block;
	out->is_set = true;
	return p && p + 1 == end && *p == '}';
}

bool flow_ref(struct str raw, struct flow_place *out)
{
	struct str seq, row, block;

	*out = (struct flow_place){ 0 };
	if (is_null(raw))
		return true;
	if (plain_ref(raw, out))
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

static bool is_refs(struct str raw)
{
	struct str key, item;
	struct flow_place place;
	struct json_iter it;

	if (json_type_of(raw) != JSON_LIST)
		return false;
	json_iter_init(&it, raw);
	while (json_iter_next(&it, &key, &item))
		if (!flow_ref(item, &place))
			return false;
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
		return is_refs(raw);
	case TYPE_COUNTS:
		return is_counts(raw);
	case TYPE_ANY:
		break;
	}
	return true;
}

enum flow_frame flow_frame_of(const struct flow_line_scan *s)
{
	static const char *const words[] = { [FRAME_HEADER] = "header",
		[FRAME_NODE] = "node",
		[FRAME_RELATION] = "relation",
		[FRAME_OPEN] = "unresolved",
		[FRAME_COMMIT] = "commit" };
	struct str t = flow_field(s, KEY_T);

	for (int i = FRAME_HEADER; i <= FRAME_COMMIT; i++)
		if (json_type_of(t) == JSON_STRING && json_string_eq(t, words[i]))
			return (enum flow_frame)i;
	return FRAME_UNKNOWN;
}

/* Absent and null are of every type; strings need no closer look. */
static bool is_field(const struct flow_line_scan *s, int key, enum flow_type type)
{
	uint8_t is = s->sc.field[key].type;

	return is <= JSON_NULL ||
	       (type == TYPE_STRING ? is == JSON_STRING : flow_is_type(flow_field(s, key), type));
}

int flow_wrong_field(const struct flow_line_scan *s, enum flow_frame frame)
{
	const struct rule *v = rules[frame].v;

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
