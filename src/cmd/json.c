/*
 * json.c - the documents behind --json. Strings are exact (json/doc.h); ids
 * and texts that can not be read leave the failure in c->err, and json_print
 * then prints it instead of a document with holes.
 */
#include "config.h"

#include "cmd/internal.h"

#include <stdlib.h>
#include <string.h>

json_doc *json_time(int64_t ms)
{
	return ms == INT64_MIN ? json_doc_null() : json_doc_int(ms);
}

json_doc *json_cstr(const char *s)
{
	return s ? json_doc_string(str_of(s)) : json_doc_null();
}

json_doc *json_id(struct cmd *c, uint32_t entry)
{
	return entry == ENTRY_NONE ? json_doc_null() : json_doc_string(cmd_id(c, entry));
}

/* ---- a session ---- */

static json_doc *json_branch(struct cmd *c)
{
	json_doc *list = json_doc_list();
	uint32_t n = 0, *branch;

	if (c->s->tip == ENTRY_NONE)
		return list;
	branch = session_branch(c->s, c->s->tip, &n);
	for (uint32_t i = 0; i < n; i++)
		json_doc_add(list, json_id(c, branch[i]));
	free(branch);
	return list;
}

static json_doc *json_roots(struct cmd *c)
{
	json_doc *list = json_doc_list();

	for (uint32_t e = c->s->roots_first; e != ENTRY_NONE; e = c->s->entries[e].next_sibling)
		json_doc_add(list, json_id(c, e));
	return list;
}

static json_doc *json_which(struct cmd *c, bool (*is)(const struct session *, uint32_t))
{
	json_doc *list = json_doc_list();

	for (uint32_t e = 0; e < session_own(c->s); e++) {
		if (is(c->s, e))
			json_doc_add(list, json_id(c, e));
	}
	return list;
}

static json_doc *json_labels(struct cmd *c)
{
	json_doc *o = json_doc_object();

	for (size_t i = 0; i < c->s->nlabels; i++) {
		const struct label *l = &c->s->labels[i];

		json_doc_set_str(o, cmd_id(c, l->entry), json_doc_string(l->text));
	}
	return o;
}

static json_doc *json_meta(const struct session *s)
{
	json_doc *o = json_doc_object();

	for (size_t i = 0; i < s->nmeta; i++)
		json_doc_set(o, s->meta[i].key, json_doc_string(s->meta[i].value));
	return o;
}

json_doc *json_problem(const struct session *s, const struct problem *p)
{
	json_doc *o = json_doc_object();

	json_doc_set(o, "kind", json_cstr(p->kind));
	if (p->file)
		json_doc_set(o, "file", json_cstr(p->file));
	json_doc_set(o, "line", json_doc_uint(p->line));
	json_doc_set(o, "offset",
		p->has_no_place ? json_doc_null() : json_doc_uint(session_place(s, p->offset)));
	json_doc_set(o, "length", json_doc_uint(p->length));
	json_doc_set(o, "message", json_cstr(p->message));
	return o;
}

struct details {
	struct cmd *c;
	json_doc *o;
};

static void set_detail(const char *key, struct str json, void *arg)
{
	struct details *d = arg;
	json_doc *value = json_doc_parse(json, false, &d->c->err);

	if (value)
		json_doc_set(d->o, key, value);
}

/* What only the format can tell. */
static void set_details(struct cmd *c, json_doc *o)
{
	struct details d = { c, o };

	if (c->s->ops->details && c->s->is_complete)
		c->s->ops->details(c->s, set_detail, &d, &c->err);
}

json_doc *json_session(struct cmd *c, bool whole)
{
	struct session *s = c->s;
	json_doc *o = json_doc_object(), *problems = json_doc_list();

	problem_sort(&s->problems);
	for (size_t i = 0; i < s->problems.n; i++)
		json_doc_add(problems, json_problem(s, &s->problems.v[i]));

	json_doc_set(o, "id", json_cstr(s->id));
	json_doc_set(o, "format", json_cstr(s->format));
	json_doc_set(o, "path", json_cstr(s->path));
	json_doc_set(o, "entries", json_doc_uint(session_own(s)));
	if (!s->is_complete) /* a list does not read it to its end */
		json_doc_set(o, "counted", json_doc_bool(false));
	json_doc_set(o, "tip", json_id(c, s->tip));
	json_doc_set(o, "tip_reason",
		s->tip == ENTRY_NONE ? json_doc_null() : json_cstr(session_tip_reason(s)));
	json_doc_set(o, "labels", json_labels(c));
	json_doc_set(o, "meta", json_meta(s));
	json_doc_set(o, "committed", json_doc_uint(s->committed));
	json_doc_set(o, "problems", problems);
	set_details(c, o);
	if (whole) {
		json_doc_set(o, "branch", json_branch(c));
		json_doc_set(o, "roots", json_roots(c));
		json_doc_set(o, "leaves", json_which(c, session_is_leaf));
		json_doc_set(o, "forks", json_which(c, session_is_fork));
	}
	return o;
}

/* ---- an entry ---- */

/* The stored record as a string. */
static void set_record(struct cmd *c, uint32_t entry, json_doc *o)
{
	struct buf record = { 0 };

	if (c->s->ops->record(c->s, entry, &record, &c->err) == 0)
		json_doc_set(o, "record", json_doc_string((struct str){ record.p, record.n }));
	buf_release(&record);
}

static json_doc *json_flags(const struct session *s, uint32_t entry)
{
	static const struct {
		unsigned flag;
		const char *word;
	} words[] = {
		{ ENTRY_ORPHAN, "orphan" },
		{ ENTRY_CYCLE, "cycle" },
		{ ENTRY_FAILED, "failed" },
		{ ENTRY_UNSENT, "unsent" },
		{ ENTRY_HAS_CALLS, "calls" },
		{ ENTRY_DAMAGED, "damaged" },
	};
	json_doc *list = json_doc_list();

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (s->entries[entry].flags & words[i].flag)
			json_doc_add(list, json_cstr(words[i].word));
	}
	if (print_absence(s, entry))
		json_doc_add(list, json_cstr(print_absence(s, entry)));
	return list;
}

json_doc *json_entry(struct cmd *c, uint32_t entry)
{
	const struct session *s = c->s;
	const struct entry *e = &s->entries[entry];
	const struct label *label = session_label(s, entry);
	json_doc *o = json_doc_object();

	json_doc_set(o, "id", json_id(c, entry));
	json_doc_set(o, "parent", json_id(c, e->parent));
	json_doc_set(o, "kind", json_cstr(kind_name(e->kind)));
	json_doc_set(o, "time", json_time(e->time));
	json_doc_set(o, "offset",
		e->flags & ENTRY_PROPOSED ? json_doc_null() : json_doc_uint(e->off));
	json_doc_set(o, "length", json_doc_uint(e->len));
	json_doc_set(o, "flags", json_flags(s, entry));
	json_doc_set(o, "is_tip", json_doc_bool(entry == s->tip));
	json_doc_set(o, "label", label ? json_doc_string(label->text) : json_doc_null());
	return o;
}

static const char *part_name(enum part_kind kind)
{
	static const char *const names[] = { [PART_TEXT] = "text",
		[PART_PLAIN] = "plain",
		[PART_REASONING] = "reasoning",
		[PART_CALL] = "call",
		[PART_RESULT] = "result",
		[PART_JSON] = "json",
		[PART_META] = "meta",
		[PART_IMAGE] = "image",
		[PART_NOTE] = "note" };

	return names[kind];
}

static json_doc *json_part(struct cmd *c, const struct part *p)
{
	json_doc *o = json_doc_object();

	json_doc_set(o, "kind", json_cstr(part_name(p->kind)));
	json_doc_set(o, "text", json_doc_string(p->text));
	if (p->name.n)
		json_doc_set(o, "name", json_doc_string(p->name));
	if (p->ref.n)
		json_doc_set(o, "ref", json_doc_string(p->ref));
	if (p->kind == PART_RESULT) {
		json_doc_set(o, "failed", json_doc_bool(p->failed));
		json_doc_set(o, "entry", json_id(c, p->entry));
	}
	return o;
}

static void set_content(struct cmd *c, uint32_t entry, json_doc *o)
{
	json_doc *parts = json_doc_list(), *metadata = json_doc_object();
	struct arena arena = { 0 };
	struct content content = { 0 };

	if (c->s->ops->content(c->s, entry, SIZE_MAX, &arena, &content, &c->err) == 0) {
		for (size_t i = 0; i < content.n; i++) {
			const struct part *p = &content.v[i];

			if (p->kind == PART_META)
				json_doc_set_str(metadata, p->name, json_doc_string(p->text));
			else
				json_doc_add(parts, json_part(c, p));
		}
		json_doc_set(o, "role", json_cstr(content.role));
	}
	json_doc_set(o, "parts", parts);
	json_doc_set(o, "metadata", metadata);
	arena_free(&arena);
}

json_doc *json_entry_whole(struct cmd *c, uint32_t entry)
{
	const struct session *s = c->s;
	json_doc *o = json_entry(c, entry), *children = json_doc_list();

	for (uint32_t e = s->entries[entry].first_child; e != ENTRY_NONE;
		e = s->entries[e].next_sibling)
		json_doc_add(children, json_id(c, e));
	json_doc_set(o, "children", children);
	set_content(c, entry, o);
	set_record(c, entry, o);
	return o;
}

/* ---- a list that is printed while it is made ---- */

void json_list_begin(struct json_list *list)
{
	list->n = 0;
	buf_clear(&list->text);
}

void json_list_add(struct cmd *c, struct json_list *list, json_doc *doc)
{
	struct buf *item = &list->text;
	const char *p, *end;

	buf_clear(item);
	json_doc_dump(doc, 2, item);
	json_doc_free(&doc);
	out_own(&c->out, list->n++ ? ",\n  " : "[\n  ");
	/* one level further in; a string holds no newline as it stands */
	for (p = item->p; (end = memchr(p, '\n', item->n - (size_t)(p - item->p))) != NULL;
		p = end + 1) {
		out_json(&c->out, (struct str){ p, (size_t)(end - p) });
		out_own(&c->out, "\n  ");
	}
	out_json(&c->out, (struct str){ p, item->n - (size_t)(p - item->p) });
}

int json_list_end(struct cmd *c, struct json_list *list, int status)
{
	out_own(&c->out, list->n ? "\n]\n" : "[]\n");
	buf_release(&list->text);
	return c->err.code ? cmd_fail(c) : status;
}

/* ---- a whole document ---- */

int json_print(struct cmd *c, json_doc *doc, int status)
{
	struct buf text = { 0 };

	if (c->err.code) {
		json_doc_free(&doc);
		return cmd_fail(c);
	}
	json_doc_dump(doc, 2, &text);
	json_doc_free(&doc);
	buf_addc(&text, '\n');
	out_json(&c->out, (struct str){ text.p, text.n });
	buf_release(&text);
	return status;
}
