/*
 * content.c - what an entry says, as parts for a pane or a page: its text, the
 * calls it carries with their results, and the metadata that nothing else
 * shows.
 */
#include "config.h"

#include "format/tree/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "format/parts.h"

enum {
	RECORD_MAX = 256 << 10, /* larger records are read in pieces */
	RESULT_REACH = 64,      /* entries below an answer that are searched for results */
	CALLS_MAX = 256,        /* parts of each kind; more are only counted */
	METADATA_MAX = 1024,
	REPEAT_STEPS = 1 << 20  /* for telling repeated keys, in all */
};

/* The tool results found below an answer. */
struct results {
	struct {
		struct str call;
		uint32_t entry;
	} v[RESULT_REACH];
	size_t n;
};

struct job {
	struct session *s;
	uint32_t entry;
	size_t limit;
	struct arena *a;
	struct content *out;
	struct tree_record rec;
};

/* ---- small parts ---- */

static int set_content(struct job *j, struct part *part, uint32_t entry, struct tree_record *rec,
	struct err *err)
{
	struct buf text = { 0 };
	int rc = tree_content(j->s, entry, rec, j->limit, &text, &part->more, &part->whole, err);

	if (rc == 0)
		part->text = arena_keep(j->a, buf_str(&text));
	j->out->more = j->out->more || part->more;
	buf_release(&text);
	return rc;
}

/* ---- results of calls ---- */

/* The entry after `at` in the tree below `top`, depth first. */
static uint32_t next_below(const struct session *s, uint32_t top, uint32_t at)
{
	if (s->entries[at].first_child != ENTRY_NONE)
		return s->entries[at].first_child;
	while (at != top) {
		if (s->entries[at].next_sibling != ENTRY_NONE)
			return s->entries[at].next_sibling;
		at = s->entries[at].parent;
	}
	return ENTRY_NONE;
}

/* Results stand close below the answer; a bounded number of entries is looked at. */
static void find_results(struct job *j, struct results *found)
{
	const struct session *s = j->s;
	uint32_t at = j->entry;

	found->n = 0;
	if (j->entry >= s->linked)
		return;
	for (int i = 0; i < RESULT_REACH; i++) {
		struct tree_record rec;

		at = next_below(s, j->entry, at);
		if (at == ENTRY_NONE)
			return;
		if (s->entries[at].kind != KIND_TOOL_RESULT)
			continue;
		if (tree_record_open(j->s, at, TREE_WINDOW, &rec, NULL) == 0 &&
			tree_record_metadata(j->s, at, RECORD_MAX, &rec, NULL) == 0) {
			found->v[found->n].call =
				parts_decode(j->a, tree_metadata_get(&rec, "toolCallId"), SIZE_MAX, NULL);
			found->v[found->n++].entry = at;
		}
		tree_record_release(&rec);
	}
}

/* Sets name, call id and the failure mark of a result from its record. */
static void set_result(struct job *j, struct part *part, uint32_t entry,
	const struct tree_record *rec)
{
	part->name = parts_decode(j->a, tree_metadata_get(rec, "toolName"), j->limit, NULL);
	part->ref = parts_decode(j->a, tree_metadata_get(rec, "toolCallId"), j->limit, NULL);
	part->failed = j->s->entries[entry].flags & ENTRY_FAILED;
}

static int add_result(struct job *j, uint32_t entry, struct err *err)
{
	struct part *part = content_add(j->out, j->a, PART_RESULT);
	struct tree_record rec;
	int rc = tree_record_open(j->s, entry, RECORD_MAX, &rec, err);

	part->entry = entry;
	if (rc == 0)
		rc = tree_record_metadata(j->s, entry, SIZE_MAX, &rec, err);
	if (rc == 0)
		set_result(j, part, entry, &rec);
	if (rc == 0)
		rc = set_content(j, part, entry, &rec, err);
	tree_record_release(&rec);
	return rc;
}

static int add_results_of(struct job *j, struct str call, struct results *found, struct err *err)
{
	for (size_t i = 0; call.n && i < found->n; i++) {
		int rc;

		if (found->v[i].entry == ENTRY_NONE || !str_eq(found->v[i].call, call))
			continue;
		rc = add_result(j, found->v[i].entry, err);
		found->v[i].entry = ENTRY_NONE; /* two calls with one id do not share it */
		return rc;
	}
	return 0;
}

static int add_calls(struct job *j, bool *taken, struct err *err)
{
	struct results *found = xmalloc(sizeof(*found));
	struct tree_calls calls;
	struct tree_call call;
	size_t n = 0;
	int rc = 0;

	find_results(j, found);
	tree_calls_init(&calls, &j->rec);
	*taken = calls.is_list;
	while (rc == 0 && tree_calls_next(&calls, &call)) {
		struct part *part;

		if (n++ >= CALLS_MAX)
			continue;
		part = content_add(j->out, j->a, PART_CALL);
		part->name = parts_decode(j->a, call.name, j->limit, NULL);
		part->ref = parts_decode(j->a, call.id, j->limit, NULL);
		parts_set_text(j->out, part, j->a, j->limit, call.arguments);
		rc = add_results_of(j, part->ref, found, err);
	}
	if (n > CALLS_MAX)
		parts_add_note(j->out, j->a, arena_printf(j->a, "%zu more calls are not shown", n - CALLS_MAX));
	tree_calls_release(&calls);
	free(found);
	return rc;
}

/* ---- metadata ---- */

/* Duplicate keys: the last one counts. `steps` bounds what a hostile record can cost. */
static bool comes_again(struct json_iter it, struct str key, size_t *steps)
{
	struct str other, value;

	while (*steps && json_iter_next(&it, &other, &value)) {
		(*steps)--;
		if (str_eq(other, key))
			return true;
	}
	return false;
}

static void add_metadata(struct job *j, const char *const *taken)
{
	struct json_iter it;
	struct str key, value;
	size_t n = 0, steps = REPEAT_STEPS;

	json_iter_init(&it, j->rec.metadata);
	while (j->rec.metadata.n && json_iter_next(&it, &key, &value)) {
		struct part *part;
		bool is_taken = false;

		for (size_t i = 0; taken[i]; i++)
			is_taken = is_taken || json_string_eq(key, taken[i]);
		if (is_taken)
			continue;
		if (n >= METADATA_MAX) {
			n++;
			continue;
		}
		if (comes_again(it, key, &steps))
			continue;
		n++;
		part = content_add(j->out, j->a, PART_META);
		part->name = parts_decode(j->a, key, j->limit, NULL);
		parts_set_text(j->out, part, j->a, j->limit, value);
	}
	if (n > METADATA_MAX)
		parts_add_note(j->out, j->a, arena_printf(j->a, "%zu more keys of the metadata are not shown",
			n - METADATA_MAX));
}

/* ---- the whole ---- */

static const char *role_name(struct job *j, const struct entry *e)
{
	switch (e->kind) {
	case KIND_USER:
		return "USER";
	case KIND_ASSISTANT:
		return "ASSISTANT";
	case KIND_TOOL_RESULT:
		return "TOOL_RESULT";
	case KIND_SYSTEM:
	case KIND_SUMMARY:
		return "SYSTEM";
	default:
		return parts_decode(j->a, json_raw(j->rec.p, &j->rec.scan.field[KEY_ROLE]), j->limit, NULL).p;
	}
}

static void add_notes(struct job *j, const struct entry *e)
{
	struct str parent;

	if (!(e->flags & (ENTRY_ORPHAN | ENTRY_CYCLE)))
		return;
	parent = parts_decode(j->a, json_raw(j->rec.p, &j->rec.scan.field[KEY_PARENT]), j->limit, NULL);
	parts_add_note(j->out, j->a, arena_printf(j->a,
		e->flags & ENTRY_ORPHAN ? "its parent %s is not in the file"
					: "its parent %s leads back to it: the link is cut here",
		parent.p));
}

static int add_text(struct job *j, const struct entry *e, struct err *err)
{
	bool is_markdown = e->kind == KIND_USER || e->kind == KIND_ASSISTANT ||
		e->kind == KIND_SUMMARY;
	struct part *part = content_add(j->out, j->a, is_markdown ? PART_TEXT : PART_PLAIN);
	int rc = set_content(j, part, j->entry, &j->rec, err);

	if (rc < 0)
		return rc;
	if (e->kind == KIND_TOOL_RESULT)
		set_result(j, part, j->entry, &j->rec);
	else if (!part->text.n && (e->flags & ENTRY_HAS_CALLS))
		j->out->n--; /* the calls say it all */
	return 0;
}

static int fill(struct job *j, struct err *err)
{
	static const char *const none[] = { NULL };
	static const char *const of_result[] = { "toolName", "toolCallId", NULL };
	static const char *const of_calls[] = { "toolCalls", NULL };
	const struct entry *e = &j->s->entries[j->entry];
	const char *const *taken = e->kind == KIND_TOOL_RESULT ? of_result : none;
	bool calls_taken = false;
	int rc = tree_record_metadata(j->s, j->entry, SIZE_MAX, &j->rec, err);

	if (rc < 0)
		return rc;
	tree_record_keep(&j->rec);
	j->out->role = role_name(j, e);
	add_notes(j, e);
	rc = add_text(j, e, err);
	if (rc == 0 && (e->flags & ENTRY_HAS_CALLS)) {
		rc = add_calls(j, &calls_taken, err);
		taken = calls_taken ? of_calls : none;
	}
	if (rc == 0)
		add_metadata(j, taken);
	return rc;
}

int tree_op_content(struct session *s, uint32_t entry, size_t limit, struct arena *a,
	struct content *out, struct err *err)
{
	struct job j = { .s = s, .entry = entry, .limit = limit, .a = a, .out = out };
	size_t max = RECORD_MAX;
	int rc;

	*out = (struct content){ 0 };
	/* What stands in the head of an odd record is worth the read. */
	if (entry < s->n && (s->entries[entry].kind == KIND_UNKNOWN ||
		(s->entries[entry].flags & (ENTRY_ORPHAN | ENTRY_CYCLE))))
		max = SIZE_MAX;
	rc = tree_record_open(s, entry, max, &j.rec, err);
	if (rc == 0)
		rc = fill(&j, err);
	tree_record_release(&j.rec);
	return rc;
}
