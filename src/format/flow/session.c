/*
 * session.c - a conversation as a session of the model, so that list, tree,
 * log and the browser show it: each node of the outline is an entry. The
 * rounds that are folded count as one file, one behind the other.
 */
#include "config.h"

#include "format/flow/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "format/flow/internal.h"

enum { ADD_LINES = 1024 }; /* the clock is asked after so many entries */

struct src {
	struct flow_conversation *c;
	struct log_id file;
	uint64_t names;       /* a sum over those of the rounds */
	struct flow_view view;
	struct flow_outline outline;
	uint32_t added;
	uint64_t *base;       /* by round: where it begins in the one file */
};

struct flow_conversation *flow_of_session(const struct session *s)
{
	return s->format && strcmp(s->format, "flow") == 0 ? ((const struct src *)s->src)->c : NULL;
}

uint32_t flow_version_of(const struct session *s, uint32_t entry)
{
	return ((const struct src *)s->src)->outline.v[entry].version;
}

/* ---- what the session asks for ---- */

static int op_id(struct session *s, uint32_t entry, struct buf *out, struct err *err)
{
	struct src *src = s->src;

	(void)err;
	buf_addstr(out, flow_word(src->c, flow_version(src->c, flow_version_of(s, entry))->id));
	return 0;
}

static int op_record(struct session *s, uint32_t entry, struct buf *out, struct err *err)
{
	struct src *src = s->src;

	return flow_raw(src->c, flow_version_of(s, entry), out, err);
}

static int op_preview(struct session *s, uint32_t entry, size_t limit, struct buf *text,
	struct buf *who, struct err *err)
{
	struct src *src = s->src;
	struct flow_node n;
	struct arena a = { 0 };
	int rc = flow_node_read(src->c, flow_version_of(s, entry), false, &a, &n, err);

	if (rc == 0) {
		struct str said = n.missing ? str_of(n.missing) : n.said.text;

		if (said.n == 0)
			said = n.said.state.n ? n.said.state : n.id;
		buf_add(text, said.p, said.n > limit ? utf8_cut(said.p, limit) : said.n);
		buf_addstr(who, n.name.n ? n.name : n.kind);
	}
	arena_free(&a);
	return rc;
}

static int op_content(struct session *s, uint32_t entry, size_t limit, struct arena *a,
	struct content *out, struct err *err)
{
	struct src *src = s->src;
	struct flow_node n;
	int rc = flow_node_read(src->c, flow_version_of(s, entry), false, a, &n, err);

	if (rc < 0)
		return rc;
	flow_node_observed(src->c, a, &n);
	flow_node_content(&n, true, limit, a, out);
	return 0;
}

/* The round that a byte of the session lies in; the one behind the folded ones for all others. */
static uint32_t round_at(const struct src *src, uint64_t off)
{
	uint32_t i = 0;

	while (i < src->c->folded && off >= src->base[i + 1])
		i++;
	return i;
}

static uint64_t op_place(const struct session *s, uint64_t off)
{
	const struct src *src = s->src;

	return off - src->base[round_at(src, off)];
}

static int op_peek(struct session *s, uint64_t off, void *p, size_t n, size_t *got, struct err *err)
{
	struct src *src = s->src;
	const struct flow_conversation *c = src->c;
	struct log_reader *r = NULL;
	uint32_t i = round_at(src, off);
	char *path;
	int rc;

	*got = 0;
	if (i == c->nrounds || (i == c->folded && c->rounds[i].state != FLOW_BAD))
		return 0;
	path = flow_round_path(c, &c->rounds[i]);
	rc = log_reader_open(&r, path, err);
	free(path);
	if (rc == 0)
		rc = log_pread(r, off - src->base[i], p, n, got, err);
	log_reader_close(&r);
	return rc;
}

static int op_cards(struct session *s, struct arena *a, struct card_list *out, struct err *err)
{
	struct src *src = s->src;

	(void)err;
	flow_cards(src->c, &src->view, &src->outline, a, out);
	for (size_t i = 0; i < out->n; i++)
		out->v[i].entry = session_find(s, out->v[i].at);
	return 0;
}

static int op_card(struct session *s, struct card *card, struct arena *a, struct err *err)
{
	struct src *src = s->src;

	(void)err;
	return flow_card(src->c, &src->view, card, a);
}

static void op_free(struct session *s)
{
	struct src *src = s->src;

	flow_outline_release(&src->outline);
	flow_view_release(&src->view);
	flow_close(&src->c);
	free(src->base);
	free(src);
}

static const struct session_ops ops = {
	.id = op_id,
	.preview = op_preview,
	.content = op_content,
	.record = op_record,
	.peek = op_peek,
	.place = op_place,
	.cards = op_cards,
	.card = op_card,
	.free = op_free,
};

/* ---- loading ---- */

int flow_session_open(const char *path, struct session **out, struct err *err)
{
	struct flow_conversation *c;
	struct src *src;
	struct log_id id = { 0 };
	uint64_t names;
	int rc = flow_file_id(path, &id, &names, err);

	*out = NULL;
	if (rc == 0)
		rc = flow_open(&c, path, err);
	if (rc < 0)
		return rc;
	src = xcalloc(1, sizeof(*src));
	src->c = c;
	src->file = id;
	src->names = names;
	*out = session_new("flow", flow_id(c), path);
	(*out)->ops = &ops;
	(*out)->src = src;
	return 0;
}

static enum entry_kind kind_of(struct str kind)
{
	static const struct {
		const char *word;
		enum entry_kind kind;
	} kinds[] = {
		{ "llm.call", KIND_ASSISTANT }, { "message.assistant", KIND_ASSISTANT },
		{ "message.synthetic", KIND_ASSISTANT }, { "thinking", KIND_ASSISTANT },
		{ "agent.output", KIND_ASSISTANT }, { "message.external", KIND_USER },
		{ "tool", KIND_TOOL_CALL }, { "agent.call", KIND_TOOL_CALL },
		{ "context.injection", KIND_SYSTEM }, { "epoch.summary", KIND_SUMMARY },
		{ "epoch.boundary", KIND_EVENT }, { "runtime.notification", KIND_EVENT },
		{ "agent.launch_ack", KIND_EVENT }, { "turn.duration", KIND_EVENT },
		{ "error.api", KIND_EVENT }, { "history.change", KIND_EVENT },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (str_eqs(kind, kinds[i].word))
			return kinds[i].kind;
	return str_starts(kind, "control.") ? KIND_EVENT : KIND_NODE;
}

static void set_meta(struct session *s, const struct flow_header *h)
{
	char number[32];

	if (h->title_s.n)
		session_set_meta(s, "title", h->title_s);
	session_set_meta(s, "session", h->session_s);
	snprintf(number, sizeof(number), "%" PRIu64, h->round);
	session_set_meta(s, "round", str_of(number));
	session_set_meta(s, "digest", str_of(h->digest));
	session_set_meta(s, "parser", str_of(h->parser));
	session_set_meta(s, "policy", str_of(h->policy));
	flow_time(str_of(h->session_from_time), &s->first_time);
	flow_time(str_of(h->session_through_time), &s->last_time);
}

static void begin_entries(struct session *s)
{
	struct src *src = s->src;
	const struct flow_conversation *c = src->c;

	flow_view_make(&src->view, c, c->folded);
	flow_outline_make(&src->outline, &src->view);
	src->base = xcalloc((size_t)c->folded + 1, sizeof(*src->base));
	for (uint32_t i = 0; i < c->folded; i++)
		src->base[i + 1] = src->base[i] + c->rounds[i].size;
	s->size = s->committed = src->base[c->folded];
	session_reserve(s, src->outline.n);
}

static void add_entry(struct session *s, const struct flow_line *line)
{
	struct src *src = s->src;
	const struct flow_version *v = flow_version(src->c, line->version);
	struct entry_in in = { .off = src->base[v->round] + v->off,
		.len = v->len,
		.time = INT64_MIN,
		.flags = ENTRY_ID_SLOW };

	in.id = flow_word(src->c, v->id);
	in.kind = kind_of(flow_word(src->c, v->kind));
	if (line->parent != FLOW_NONE)
		in.parent = flow_word(src->c, v->a);
	session_add(s, &in);
}

/* A round that is missing or can not be read has no line that is at fault. */
static void add_stop(struct session *s, const struct flow_fault *f, uint64_t round, size_t left)
{
	struct src *src = s->src;
	const struct flow_round *r = &src->c->rounds[src->c->folded];
	struct problem *p = problem_add(&s->problems, &s->arena, f->code, f->line,
		s->size + f->off, 0, ENTRY_NONE, "round %" PRIu64 ": %s; %zu round%s not folded",
		round, f->text, left, plural(left, " is", "s are"));

	if (p) {
		p->has_no_place = f->line == 0;
		p->file = r->fault.code ? r->name : NULL;
		p->round = round;
	}
}

static void add_problems(struct session *s)
{
	struct src *src = s->src;
	const struct flow_conversation *c = src->c;
	uint64_t round;
	const struct flow_fault *f = flow_problem(c, &round);
	const struct flow_odd *odd;
	size_t n = 0;

	for (size_t i = c->folded; f && i < c->nrounds; i++)
		n += c->rounds[i].state != FLOW_FOLDED;
	if (f)
		add_stop(s, f, round, n);
	odd = flow_odd(c, &n);
	for (size_t i = 0; i < n; i++)
		if (!odd[i].is_folder) /* a folder is no round and nobody takes it for one */
			problem_add_at_large(&s->problems, &s->arena, "odd-round",
				"rounds/%s: %s, so it is no round", odd[i].name, odd[i].what);
	if (src->outline.n < src->view.n[FLOW_NODES])
		problem_add_at_large(&s->problems, &s->arena, "cycle",
			"%u node%s below no root: the parents form a cycle",
			src->view.n[FLOW_NODES] - src->outline.n,
			plural(src->view.n[FLOW_NODES] - src->outline.n, " is", "s are"));
}

static void finish(struct session *s)
{
	struct src *src = s->src;

	session_link(s, true);
	s->tip = s->last_entry = ENTRY_NONE; /* nodes are no way that went on */
	s->tip_rule = TIP_NONE;
	if (flow_head(src->c))
		set_meta(s, flow_head(src->c));
	add_problems(s);
	problem_sort(&s->problems);
	s->is_complete = true;
}

int flow_session_step(struct session *s, unsigned budget_us, struct err *err)
{
	struct src *src = s->src;
	uint64_t deadline = clock_mono_us() + budget_us;

	(void)err;
	if (s->is_complete)
		return 0;
	if (!src->base) {
		if (flow_step(src->c, budget_us) == 1)
			return 1;
		begin_entries(s);
	}
	while (src->added < src->outline.n) {
		add_entry(s, &src->outline.v[src->added++]);
		if (src->added % ADD_LINES == 0 && clock_mono_us() >= deadline)
			return 1;
	}
	finish(s);
	return 0;
}

/* Of what nobody noted nobody was shown anything. */
static bool landed_changed(const struct flow_conversation *c)
{
	struct flow_landed_sum now;

	if (!c->has_seen)
		return false;
	now = flow_landed_sum(c);
	return now.sum != c->seen.sum || now.n != c->seen.n;
}

/* A new round can put nodes anywhere into the outline: the session is read anew. */
int flow_session_refresh(struct session *s, enum log_change *change, struct err *err)
{
	struct src *src = s->src;
	struct log_id now = { 0 };
	uint64_t names;
	int rc = flow_file_id(s->path, &now, &names, err);

	if (rc < 0)
		return rc;
	if (!now.exists)
		*change = LOG_GONE;
	else if (now.dev == src->file.dev && now.ino == src->file.ino &&
		 now.size == src->file.size && now.mtime_ns == src->file.mtime_ns &&
		 names == src->names)
		*change = landed_changed(src->c) ? LOG_REPLACED : LOG_SAME;
	else
		*change = LOG_REPLACED;
	return 0;
}

const struct log_id *flow_session_file(const struct session *s)
{
	return &((const struct src *)s->src)->file;
}
