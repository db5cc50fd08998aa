/*
 * index.c - where things stand in the landed files of a session that are looked
 * up by an id and not by a place: provider bodies and the pieces that they
 * share, and what observers saw of tool calls. Made when it is first asked
 * for, in one pass over the files of that kind; only places are kept.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/xalloc.h"

struct observation {
	struct flow_place place;
	uint32_t next;           /* of the same call + 1; 0: none */
};

struct calls {
	uint32_t first, last;    /* observations + 1 */
};

struct flow_index {
	bool has_bodies, has_observed;

	char *unread;                   /* why one of the files of bodies could not be read */
	struct flow_names ids, digests; /* of bodies; of pieces */
	struct flow_place *body;        /* by name */
	struct flow_slice *piece;
	size_t body_cap, piece_cap;

	struct flow_names tools;        /* ids of calls */
	struct calls *calls;            /* by name */
	struct observation *seen;
	size_t calls_cap, nseen, seen_cap;
};

/* The index and one file of it. */
struct walk {
	struct flow_index *x;
	uint64_t seq;
	void (*record)(struct walk *w, struct str record, uint64_t row);
	const char *kind, *other_kind;
};

static bool is_kind(const struct walk *w, struct str header)
{
	struct str kind = json_get(header, "kind");

	return json_string_eq(kind, w->kind) ||
	       (w->other_kind && json_string_eq(kind, w->other_kind));
}

static void note_unread(struct walk *w, const struct err *err)
{
	if (!w->x->unread && strcmp(w->kind, "provider_body") == 0)
		w->x->unread = xasprintf("cannot read: %s", err->text);
}

/* The first line says what the file holds; the others are records until one is damaged. */
static void walk_file(struct walk *w, const struct flow_landed_file *f)
{
	struct log_reader *r = NULL;
	struct log_line line;
	struct err err = { 0 };

	if (log_reader_open(&r, f->path, &err) < 0) {
		note_unread(w, &err);
		return;
	}
	w->seq = f->seq;
	while (log_next_line(r, &line, &err) == 1) {
		struct str s = { line.p, line.n };

		if (line.too_long || !flow_is_record(s) || (line.number == 1 && !is_kind(w, s)))
			break;
		if (line.number > 1)
			w->record(w, s, line.number - 1);
	}
	if (err.code)
		note_unread(w, &err);
	log_reader_close(&r);
}

static struct flow_index *index_of(struct flow_conversation *c)
{
	if (!c->index) {
		c->index = xcalloc(1, sizeof(*c->index));
		flow_names_init(&c->index->ids);
		flow_names_init(&c->index->digests);
		flow_names_init(&c->index->tools);
	}
	return c->index;
}

void flow_index_free(struct flow_index **xp)
{
	struct flow_index *x = *xp;

	if (!x)
		return;
	flow_names_release(&x->ids);
	flow_names_release(&x->digests);
	flow_names_release(&x->tools);
	free(x->unread);
	free(x->body);
	free(x->piece);
	free(x->calls);
	free(x->seen);
	free(x);
	*xp = NULL;
}

/* ---- bodies ---- */

static struct flow_place place_of(const struct walk *w, uint64_t row)
{
	return (struct flow_place){ .seq = w->seq, .row = row, .is_set = true };
}

static void add_piece(struct walk *w, struct str record, struct str data, uint64_t row)
{
	struct flow_index *x = w->x;
	uint32_t name;
	bool is_new;
	char hex[65];

	flow_sha_of(data.p, data.n, hex);
	name = flow_names_add(&x->digests, str_of(hex), &is_new);
	if (!is_new)
		return; /* the first one counts */
	x->piece = xgrow(x->piece, &x->piece_cap, x->digests.n, sizeof(*x->piece));
	x->piece[name] =
		(struct flow_slice){ place_of(w, row), (size_t)(data.p - record.p), data.n };
}

/* The last part is the manifest, which is no piece. */
static void take_body(struct walk *w, struct str record, uint64_t row)
{
	struct flow_index *x = w->x;
	struct str key, part, before = { NULL, 0 };
	struct arena a = { 0 };
	struct json_iter it;
	uint32_t name;
	bool is_new;

	name = flow_names_add(&x->ids, flow_decoded(json_get(record, "id"), &a), &is_new);
	arena_free(&a);
	if (is_new) {
		x->body = xgrow(x->body, &x->body_cap, x->ids.n, sizeof(*x->body));
		x->body[name] = place_of(w, row);
	}
	json_iter_init(&it, json_get(record, "parts"));
	while (json_iter_next(&it, &key, &part)) {
		if (json_string_eq(json_get(before, "k"), "data"))
			add_piece(w, record, json_get(before, "data"), row);
		before = part;
	}
}

static struct flow_index *with_bodies(struct flow_conversation *c)
{
	struct flow_index *x = index_of(c);
	struct walk w = { .x = x, .record = take_body, .kind = "provider_body" };
	size_t n;
	const struct flow_landed_file *files = flow_landed_files(c, &n);

	for (size_t i = 0; i < n && !x->has_bodies; i++)
		if (flow_landed_is_body(&files[i]))
			walk_file(&w, &files[i]);
	x->has_bodies = true;
	return x;
}

const struct flow_place *flow_index_body(struct flow_conversation *c, struct str id)
{
	struct flow_index *x = with_bodies(c);
	uint32_t name = id.n ? flow_names_find(&x->ids, id) : FLOW_NONE;

	return name == FLOW_NONE ? NULL : &x->body[name];
}

const struct flow_slice *flow_index_piece(struct flow_conversation *c, struct str sha256)
{
	struct flow_index *x = with_bodies(c);
	uint32_t name = sha256.n ? flow_names_find(&x->digests, sha256) : FLOW_NONE;

	return name == FLOW_NONE ? NULL : &x->piece[name];
}

const char *flow_index_unread(struct flow_conversation *c)
{
	return with_bodies(c)->unread;
}

/* ---- what observers saw ---- */

static void take_observed(struct walk *w, struct str record, uint64_t row)
{
	struct flow_index *x = w->x;
	struct arena a = { 0 };
	struct str tool = flow_decoded(json_get(record, "tool"), &a);
	uint32_t name;
	bool is_new;

	if (tool.n) {
		name = flow_names_add(&x->tools, tool, &is_new);
		x->calls = xgrow(x->calls, &x->calls_cap, x->tools.n, sizeof(*x->calls));
		if (is_new)
			x->calls[name] = (struct calls){ 0, 0 };
		x->seen = xgrow(x->seen, &x->seen_cap, x->nseen + 1, sizeof(*x->seen));
		x->seen[x->nseen++] = (struct observation){ place_of(w, row), 0 };
		if (x->calls[name].last)
			x->seen[x->calls[name].last - 1].next = (uint32_t)x->nseen;
		else
			x->calls[name].first = (uint32_t)x->nseen;
		x->calls[name].last = (uint32_t)x->nseen;
	}
	arena_free(&a);
}

static bool is_observed(const struct flow_landed_file *f)
{
	struct str name = str_of(path_base(f->path));

	return str_starts(name, "changes-") || str_starts(name, "execution-");
}

static struct flow_index *with_observed(struct flow_conversation *c)
{
	struct flow_index *x = index_of(c);
	struct walk w = {
		.x = x, .record = take_observed, .kind = "changes", .other_kind = "execution"
	};
	size_t n;
	const struct flow_landed_file *files = flow_landed_files(c, &n);

	for (size_t i = 0; i < n && !x->has_observed; i++)
		if (is_observed(&files[i]))
			walk_file(&w, &files[i]);
	x->has_observed = true;
	return x;
}

size_t flow_index_observed(
	struct flow_conversation *c, struct str tool, struct flow_place *v, size_t max)
{
	struct flow_index *x = with_observed(c);
	uint32_t name = tool.n ? flow_names_find(&x->tools, tool) : FLOW_NONE;
	uint32_t at = name == FLOW_NONE ? 0 : x->calls[name].first;
	size_t n = 0;

	for (; at && n < max; at = x->seen[at - 1].next)
		v[n++] = x->seen[at - 1].place;
	return n;
}
