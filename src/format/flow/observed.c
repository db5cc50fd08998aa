/*
 * observed.c - what observers outside of the model saw of a tool call: the
 * files that it changed (changes/1), and how it ran (execution/1). They join
 * the call by its own id, or stand as a part in the record of its result.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "model/content.h"

enum { OBSERVED_MAX = 64, FILES_MAX = 1024, RESULTS_MAX = 16 };

static struct str member(struct str object, const char *key, struct arena *a)
{
	struct str raw = json_get(object, key);

	return json_type_of(raw) == JSON_STRING ? flow_decoded(raw, a) : (struct str){ NULL, 0 };
}

/* ---- a diff ---- */

static int64_t number(struct str object, const char *key)
{
	int64_t v = 0;

	json_int64(json_get(object, key), &v);
	return v;
}

static void put_hunk(struct buf *out, struct str hunk)
{
	struct str key, line;
	struct json_iter it;

	buf_printf(out, "@@ -%" PRIi64 ",%" PRIi64 " +%" PRIi64 ",%" PRIi64 " @@\n",
		number(hunk, "old_start"), number(hunk, "old_lines"), number(hunk, "new_start"),
		number(hunk, "new_lines"));
	json_iter_init(&it, json_get(hunk, "lines"));
	while (!it.is_object && json_iter_next(&it, &key, &line)) {
		flow_text(line, out);
		if (out->n == 0 || out->p[out->n - 1] != '\n')
			buf_addc(out, '\n');
	}
}

static struct str diff_of(struct str change, const struct flow_file_change *f, struct arena *a)
{
	struct str hunks = json_get(change, "hunks"), key, hunk, diff = { NULL, 0 };
	struct buf text = { 0 };
	struct json_iter it;
	bool any = false;

	json_iter_init(&it, hunks);
	while (!it.is_object && json_iter_next(&it, &key, &hunk)) {
		if (!any) {
			bool is_new = str_eqs(f->operation, "create"),
			     is_gone = str_eqs(f->operation, "delete");

			buf_adds(&text, is_new ? "--- /dev/null" : "--- a/");
			buf_addstr(&text, is_new ? str_of(NULL) : f->path);
			buf_adds(&text, is_gone ? "\n+++ /dev/null" : "\n+++ b/");
			buf_addstr(&text, is_gone ? str_of(NULL) : f->path);
			buf_addc(&text, '\n');
		}
		any = true;
		put_hunk(&text, hunk);
	}
	if (any)
		diff = arena_keep(a, buf_str(&text));
	buf_release(&text);
	return diff;
}

/* ---- records ---- */

static void take_files(struct str data, struct arena *a, struct flow_observed *o)
{
	struct str key, change;
	struct json_iter it;
	size_t n = 0;

	json_iter_init(&it, json_get(data, "changes"));
	while (!it.is_object && n < FILES_MAX && json_iter_next(&it, &key, &change))
		n++;
	o->files = arena_zalloc(a, n * sizeof(*o->files));
	json_iter_init(&it, json_get(data, "changes"));
	while (o->nfiles < n && json_iter_next(&it, &key, &change)) {
		struct flow_file_change *f = &o->files[o->nfiles++];

		f->path = member(change, "path", a);
		f->operation = member(change, "operation", a);
		f->state = member(change, "diff", a);
		f->attribution = member(change, "attribution", a);
		f->has_lines = json_int64(json_get(change, "additions"), &f->additions) &&
			json_int64(json_get(change, "deletions"), &f->deletions);
		f->diff = diff_of(change, f, a);
	}
}

static void take_data(
	struct str data, struct flow_place place, struct arena *a, struct flow_node *n)
{
	bool is_changes = json_string_eq(json_get(data, "schema"), "changes/1");
	struct flow_observed *o = &n->observed[n->nobserved];
	struct str server = json_get(data, "server");

	if ((!is_changes && !json_string_eq(json_get(data, "schema"), "execution/1")) ||
		n->nobserved == OBSERVED_MAX)
		return;
	n->nobserved++;
	*o = (struct flow_observed){ .place = place, .is_execution = !is_changes, .raw = data };
	o->id = member(data, "id", a);
	o->by = member(data, is_changes ? "captured_by" : "observed_by", a);
	o->where = member(data, is_changes ? "basis" : "boundary", a);
	o->time = member(data, "time", a);
	o->coverage = member(data, "coverage", a);
	o->outcome = member(data, "outcome", a);
	if (!o->outcome.p)
		o->outcome = member(json_get(data, "outcome"), "state", a);
	o->protocol = member(data, "protocol", a);
	o->server = json_type_of(server) == JSON_STRING ? flow_decoded(server, a)
							: member(server, "name", a);
	o->has_duration = json_int64(json_get(data, "duration_ms"), &o->duration_ms);
	take_files(data, a, o);
}

/* All data parts of a record that are of one of the two schemas. */
static void take_record(
	struct flow_conversation *c, struct flow_place place, struct arena *a, struct flow_node *n)
{
	struct str record, key, part;
	struct json_iter it;
	struct buf line = { 0 };
	struct err err = { 0 };

	if (flow_record(c, place.seq, place.row, &line, &err) == 0) {
		record = arena_keep(a, buf_str(&line));
		json_iter_init(&it, json_get(record, "parts"));
		while (json_iter_next(&it, &key, &part))
			if (json_string_eq(json_get(part, "k"), "data"))
				take_data(json_get(part, "data"), place, a, n);
	}
	buf_release(&line);
}

void flow_node_observed(struct flow_conversation *c, struct arena *a, struct flow_node *n)
{
	const struct flow_header *head = flow_head(c);
	struct flow_place places[OBSERVED_MAX];
	size_t nplaces;

	if (!str_eqs(n->kind, "tool") && !str_eqs(n->kind, "agent.call"))
		return;
	n->observed = arena_zalloc(a, OBSERVED_MAX * sizeof(*n->observed));
	/* what the runtime itself reported comes first */
	for (size_t i = 0; i < n->nresults && i < RESULTS_MAX; i++)
		take_record(c, n->results[i], a, n);
	nplaces = flow_index_observed(c, n->call_id, places, OBSERVED_MAX);
	for (size_t i = 0; i < nplaces; i++)
		if (head && places[i].seq <= head->through_seq)
			take_record(c, places[i], a, n);
}

/* ---- as parts of what a node says ---- */

static void add_row(struct content *out, struct arena *a, const char *name, struct str text)
{
	struct part *part;

	if (!text.n)
		return;
	part = content_add(out, a, PART_META);
	part->name = str_of(name);
	part->text = text;
	part->whole = text.n;
}

static void add_word(struct buf *row, struct str word)
{
	if (word.n && row->n)
		buf_adds(row, "  ");
	buf_addstr(row, word);
}

static void add_file(
	struct content *out, struct arena *a, const struct flow_file_change *f, size_t limit)
{
	struct buf row = { 0 };
	struct part *part;

	buf_addstr(&row, f->path);
	add_word(&row, f->operation);
	if (f->has_lines)
		buf_printf(&row, "  +%" PRIi64 " -%" PRIi64, f->additions, f->deletions);
	if (f->attribution.n && !str_eqs(f->attribution, "only_this_window"))
		add_word(&row, f->attribution);
	if (!f->diff.p && f->state.n)
		add_word(&row, f->state);
	add_row(out, a, "changed", arena_keep(a, buf_str(&row)));
	buf_release(&row);
	if (!f->diff.p)
		return;
	part = content_add(out, a, PART_PLAIN);
	part->whole = f->diff.n;
	part->more = f->diff.n > limit;
	part->text = (struct str){ f->diff.p, part->more ? utf8_cut(f->diff.p, limit) : f->diff.n };
	out->more = out->more || part->more;
}

static void add_summary(struct content *out, struct arena *a, const struct flow_observed *o)
{
	const struct str words[] = { o->outcome, o->server, o->protocol, o->by, o->where,
		o->coverage };
	struct buf row = { 0 };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		add_word(&row, words[i]);
	if (o->has_duration)
		buf_printf(&row, "%s%" PRIi64 " ms", row.n ? "  " : "", o->duration_ms);
	add_row(out, a, o->is_execution ? "execution" : "changes", arena_keep(a, buf_str(&row)));
	buf_release(&row);
}

void flow_observed_content(
	const struct flow_node *n, size_t limit, struct arena *a, struct content *out)
{
	for (size_t i = 0; i < n->nobserved; i++) {
		add_summary(out, a, &n->observed[i]);
		for (size_t k = 0; k < n->observed[i].nfiles; k++)
			add_file(out, a, &n->observed[i].files[k], limit);
	}
}
