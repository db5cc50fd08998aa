/*
 * entry.c - one JSON object to one entry of the session: its fields, what its
 * metadata say, and what is wrong with it. Where objects begin and end on a
 * line is load.c's business.
 */
#include "config.h"

#include "format/tree/internal.h"

#include <inttypes.h>

#include "base/text.h"
#include "base/utf8.h"
#include "json/value.h"

enum { ROLE_SHOWN = 40 }; /* bytes of an unknown role in a sentence */

/* The text of a string field; decoded into `room` when it has escapes. */
static struct str field_text(const char *p, const struct json_field *f, struct buf *room)
{
	if (!f->escaped)
		return (struct str){ p + f->off + 1, f->len - 2 };
	buf_clear(room);
	json_string(json_raw(p, f), room, SIZE_MAX);
	return (struct str){ room->p ? room->p : "", room->n };
}

static enum entry_kind kind_of_role(struct str role)
{
	if (str_eqs(role, "USER"))
		return KIND_USER;
	if (str_eqs(role, "ASSISTANT"))
		return KIND_ASSISTANT;
	if (str_eqs(role, "TOOL_RESULT"))
		return KIND_TOOL_RESULT;
	return str_eqs(role, "SYSTEM") ? KIND_SYSTEM : KIND_UNKNOWN;
}

static bool is_failure(const char *p, const struct json_field *content)
{
	struct str raw = json_raw(p, content);
	struct buf head = { 0 };
	bool failed;

	if (!content->escaped)
		return str_starts(raw, "\"Error: ");
	json_string(raw, &head, 7);
	failed = str_eqs((struct str){ head.p, head.n }, "Error: ");
	buf_release(&head);
	return failed;
}

/* What the metadata say about the entry. False when a value is no string. */
static bool read_metadata(struct str raw, struct entry_in *in, bool is_root)
{
	bool is_summary = false, is_unsent = false, has_calls = false;
	struct json_iter it;
	struct str key, value;

	json_iter_init(&it, raw);
	while (json_iter_next(&it, &key, &value)) {
		if (json_type_of(value) != JSON_STRING)
			return false;
		in->flags |= ENTRY_HAS_META;
		if (json_string_eq(key, "replay"))
			is_unsent = json_string_eq(value, "false");
		else if (json_string_eq(key, "toolCalls"))
			has_calls = value.n > 2 && !json_string_eq(value, "[]");
		else if (json_string_eq(key, "_compacted"))
			is_summary = json_string_eq(value, "true");
	}
	if (is_unsent)
		in->flags |= ENTRY_UNSENT;
	if (has_calls && in->kind == KIND_ASSISTANT)
		in->flags |= ENTRY_HAS_CALLS;
	if (is_summary && in->kind == KIND_SYSTEM && is_root)
		in->kind = KIND_SUMMARY;
	return true;
}

/* Takes the fields of an object; NULL, or what is wrong with them. */
static const char *read_fields(const char *p, const struct json_scan *scan, struct tree_loader *ld,
	struct entry_in *in, struct str *role)
{
	const struct json_field *f = scan->field;
	size_t content_at = f[KEY_CONTENT].off - scan->start;

	if (f[KEY_ID].type != JSON_STRING)
		return f[KEY_ID].type ? "its id is not a string" : "it has no id";
	if (f[KEY_ID].len == 2)
		return "its id is empty";
	if (f[KEY_PARENT].type > JSON_NULL && f[KEY_PARENT].type != JSON_STRING)
		return "its parentId is neither a string nor null";
	if (f[KEY_ROLE].type != JSON_STRING)
		return f[KEY_ROLE].type ? "its role is not a string" : "it has no role";
	if (f[KEY_CONTENT].type != JSON_STRING)
		return f[KEY_CONTENT].type ? "its content is not a string" : "it has no content";
	if (f[KEY_TIME].type == JSON_NONE)
		return "it has no timestamp";
	if (f[KEY_TIME].type != JSON_NUMBER || !json_int64(json_raw(p, &f[KEY_TIME]), &in->time))
		return "its timestamp is not an integer of 64 bits";
	if (f[KEY_METADATA].type > JSON_NULL && f[KEY_METADATA].type != JSON_OBJECT)
		return "its metadata is not an object";

	in->id = field_text(p, &f[KEY_ID], &ld->id);
	in->id_off = (uint32_t)(f[KEY_ID].off + 1 - scan->start);
	if (f[KEY_ID].escaped)
		in->flags |= ENTRY_ID_SLOW;
	if (f[KEY_PARENT].type == JSON_STRING)
		in->parent = field_text(p, &f[KEY_PARENT], &ld->parent);
	*role = field_text(p, &f[KEY_ROLE], &ld->role);
	in->kind = kind_of_role(*role);
	if (in->kind == KIND_TOOL_RESULT && is_failure(p, &f[KEY_CONTENT]))
		in->flags |= ENTRY_FAILED;
	in->spare = content_at <= UINT16_MAX ? (uint16_t)content_at : 0;
	if (f[KEY_METADATA].type == JSON_OBJECT &&
		!read_metadata(json_raw(p, &f[KEY_METADATA]), in, !in->parent.p))
		return "its metadata holds a value that is not a string";
	return NULL;
}

static void report_role(struct session *s, const struct entry_in *in, uint32_t entry,
	struct str role)
{
	struct buf safe = { 0 };
	size_t shown = role.n > ROLE_SHOWN ? utf8_cut(role.p, ROLE_SHOWN) : role.n;

	text_safe(&safe, role.p, shown, TEXT_ONE_LINE);
	problem_add(&s->problems, &s->arena, "unknown-role", in->line, in->off, in->len, entry,
		"the role \"%s%s\" is none of SYSTEM, USER, ASSISTANT, TOOL_RESULT",
		safe.p ? safe.p : "", shown < role.n ? "~" : "");
	buf_release(&safe);
}

static void report_left_out(struct session *s, const struct entry_in *in)
{
	uint32_t first;

	if (s->n >= SESSION_MAX_ENTRIES) {
		problem_add(&s->problems, &s->arena, "bad-entry", in->line, in->off, in->len, ENTRY_NONE,
			"the session has more entries than bough can count");
		return;
	}
	first = s->problems.n < PROBLEM_MAX ? session_find(s, in->id) : ENTRY_NONE;
	problem_add(&s->problems, &s->arena, "duplicate-id", in->line, in->off, in->len, first,
		"the entry on line %" PRIu64 " has the same id; this one is left out",
		first == ENTRY_NONE ? 0 : session_line(s, first));
}

void tree_add_held(struct tree_loader *ld)
{
	struct session *s = ld->s;
	struct tree_src *src = s->src;
	uint32_t entry;

	if (!ld->is_held)
		return;
	ld->is_held = false;
	if (src->was_complete && ld->held.off >= src->first_load)
		ld->held.flags |= ENTRY_NEW;
	entry = session_add(s, &ld->held);
	if (entry == ENTRY_NONE)
		report_left_out(s, &ld->held);
	else if (ld->held.kind == KIND_UNKNOWN)
		report_role(s, &ld->held, entry, (struct str){ ld->held_role.p, ld->held_role.n });
}

static struct str copy_text(struct buf *to, struct str text)
{
	buf_clear(to);
	buf_addstr(to, text);
	return (struct str){ to->p ? to->p : "", to->n };
}

static void hold(struct tree_loader *ld, const struct entry_in *in, struct str role)
{
	tree_add_held(ld);
	ld->held = *in;
	ld->held.id = copy_text(&ld->held_id, in->id);
	if (in->parent.p)
		ld->held.parent = copy_text(&ld->held_parent, in->parent);
	if (in->kind == KIND_UNKNOWN)
		copy_text(&ld->held_role, role);
	ld->held.idhash = session_expect(ld->s, ld->held.id);
	ld->is_held = true;
}

void tree_loader_release(struct tree_loader *ld)
{
	buf_release(&ld->id);
	buf_release(&ld->parent);
	buf_release(&ld->role);
	buf_release(&ld->held_id);
	buf_release(&ld->held_parent);
	buf_release(&ld->held_role);
}

void tree_take_object(struct tree_loader *ld, const char *p, uint64_t base, uint64_t line,
	const struct json_scan *scan, unsigned flags)
{
	struct entry_in in = { .off = base + scan->start,
		.line = line,
		.len = (uint32_t)(scan->end - scan->start),
		.flags = flags };
	struct str role = { 0 };
	const char *wrong = read_fields(p, scan, ld, &in, &role);

	if (wrong) {
		problem_add(&ld->s->problems, &ld->s->arena, "bad-entry", line, in.off, in.len,
			ENTRY_NONE, "this object is not an entry: %s", wrong);
		return;
	}
	if (in.kind == KIND_UNKNOWN)
		in.flags |= ENTRY_DAMAGED;
	hold(ld, &in, role);
}
