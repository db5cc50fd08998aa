/*
 * cmd-branches.c - the screens that are lists about one session, as text:
 * branches, reflog, problems.
 */
#include "config.h"

#include "cmd/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "format/flow/flow.h"

/* ---- branches ---- */

/*
 * What tells the branch from the others: the first prompt behind the place
 * where it leaves the tip's branch, for the tip's own behind its last fork.
 */
static uint32_t first_prompt(const struct session *s, const struct branch *b)
{
	uint32_t prompt = ENTRY_NONE, first = b->leaf, e = b->leaf;

	while (e != ENTRY_NONE && e != b->fork && !(b->is_tip && session_is_fork(s, e))) {
		if (s->entries[e].kind == KIND_USER)
			prompt = e;
		first = e;
		e = s->entries[e].parent;
	}
	return prompt != ENTRY_NONE ? prompt : first;
}

static void preview(struct cmd *c, uint32_t entry, size_t limit, struct buf *text)
{
	struct buf who = { 0 };

	buf_clear(text);
	c->s->ops->preview(c->s, entry, limit, text, &who, &c->err);
	buf_release(&who);
}

static json_doc *json_one_branch(struct cmd *c, const struct branch *b)
{
	json_doc *o = json_doc_object();
	struct buf text = { 0 };

	preview(c, first_prompt(c->s, b), 1000, &text);
	json_doc_set(o, "leaf", json_id(c, b->leaf));
	json_doc_set(o, "length", json_doc_uint(b->length));
	json_doc_set(o, "fork", json_id(c, b->fork));
	json_doc_set(o, "first", json_id(c, b->first));
	json_doc_set(o, "last_time", json_time(b->last_time));
	json_doc_set(o, "is_tip", json_doc_bool(b->is_tip));
	json_doc_set(o, "preview", json_doc_string((struct str){ text.p, text.n }));
	buf_release(&text);
	return o;
}

static json_doc *json_branches(struct cmd *c, const struct branch *v, size_t n)
{
	json_doc *o = json_doc_object(), *list = json_doc_list();
	const struct session *s = c->s;

	for (size_t i = 0; i < n; i++)
		json_doc_add(list, json_one_branch(c, &v[i]));
	json_doc_set(o, "branches", list);
	json_doc_set(o, "tip", json_id(c, s->tip));
	json_doc_set(o, "tip_reason",
		s->tip == ENTRY_NONE ? json_doc_null() : json_cstr(session_tip_reason(s)));
	json_doc_set(o, "tip_at",
		s->tip_rule == TIP_CHECKOUT ? json_time(s->tip_at) : json_doc_null());
	json_doc_set(o, "runner_up", json_id(c, tip_runner_up(s)));
	return o;
}

static void print_branch(struct cmd *c, const struct short_ids *ids, const struct branch *b,
	int id_width)
{
	struct out *o = &c->out;
	struct buf text = { 0 };
	char age[8];
	int used;

	time_age(b->last_time == INT64_MIN ? 0 : b->last_time, clock_now_ms(), age);
	out_style(o, b->is_tip ? STYLE_TIP : STYLE_NONE);
	out_puts(o, b->is_tip ? "@ " : "  ");
	out_style(o, STYLE_ID);
	used = out_fit(o, ids_short(c, ids, b->leaf), 0);
	out_style(o, STYLE_NONE);
	out_pad(o, id_width - used);
	out_printf(o, "  %6" PRIu32 " %-7s  %4s  ", b->length,
		plural(b->length, "entry", "entries"), age);
	preview(c, first_prompt(c->s, b), 400, &text);
	out_fit(o, (struct str){ text.p, text.n },
		o->columns > id_width + 40 ? o->columns - id_width - 26 : 0);
	out_puts(o, "\n");
	buf_release(&text);
}

static int print_branches(struct cmd *c, const struct branch *v, size_t n)
{
	struct short_ids ids = { 0 };
	int status = ids_init(c, &ids), width = SHORT_ID;

	for (size_t i = 0; status == STATUS_DONE && i < n; i++) {
		if ((int)ids.len[v[i].leaf] > width && ids.len[v[i].leaf] <= 24)
			width = (int)ids.len[v[i].leaf];
	}
	for (size_t i = 0; status == STATUS_DONE && i < n && out_is_alive(&c->out); i++)
		print_branch(c, &ids, &v[i], width);
	ids_release(&ids);
	if (status != STATUS_DONE)
		return status;
	out_puts(&c->out, "tip: ");
	if (c->s->tip != ENTRY_NONE) {
		out_words_in(&c->out, STYLE_ID, cmd_id(c, c->s->tip));
		out_puts(&c->out, ", ");
	}
	print_tip_reason(c);
	out_puts(&c->out, "\n");
	if (c->s->tip != ENTRY_NONE) {
		out_puts(&c->out, "runner-up: ");
		print_runner_up(c);
	}
	return c->err.code ? cmd_fail(c) : STATUS_DONE;
}

int cmd_branches(struct cmd *c)
{
	struct layout layout;
	struct branch *v;
	size_t n = 0;
	int status = cmd_open(c);

	if (status != STATUS_DONE)
		return status;
	if (flow_of_session(c->s))
		return cmd_complain(STATUS_USAGE,
			"branches: a conversation has rounds and no branches; `bough rounds %s` "
			"lists them",
			c->args[0]);
	layout_init(&layout);
	layout_build(&layout, c->s);
	v = layout_branches(&layout, &n);
	if (c->json)
		status = json_print(c, json_branches(c, v, n), STATUS_DONE);
	else
		status = print_branches(c, v, n);
	free(v);
	layout_release(&layout);
	return status;
}

/* ---- reflog ---- */

static const char *op_name(enum reflog_op op)
{
	static const char *const names[] = { [REFLOG_CHECKOUT] = "checkout",
		[REFLOG_LABEL] = "label", [REFLOG_APPEND] = "append", [REFLOG_OTHER] = "other" };

	return names[op];
}

static json_doc *json_reflog_line(const struct reflog_line *l)
{
	json_doc *o = json_doc_object();

	json_doc_set(o, "op", json_cstr(op_name(l->op)));
	json_doc_set(o, "entry", l->op == REFLOG_OTHER ? json_doc_null() : json_doc_string(l->entry));
	json_doc_set(o, "at", json_time(l->at));
	json_doc_set(o, "is_known", json_doc_bool(l->is_known));
	if (l->op == REFLOG_CHECKOUT) {
		json_doc_set(o, "from", l->from.n ? json_doc_string(l->from) : json_doc_null());
		json_doc_set(o, "entries", json_doc_uint(l->entries));
		json_doc_set(o, "is_current", json_doc_bool(l->is_current));
	} else if (l->op == REFLOG_LABEL) {
		json_doc_set(o, "label", json_doc_string(l->from));
	} else if (l->op == REFLOG_APPEND) {
		json_doc_set(o, "is_lost", json_doc_bool(l->is_lost));
	}
	return o;
}

static void print_reflog_line(struct cmd *c, const struct reflog_line *l)
{
	struct out *o = &c->out;
	char when[32];

	time_full(l->at, when);
	if (l->op == REFLOG_OTHER) {
		out_printf(o, "%-19s  %s\n", when, op_name(l->op));
		return;
	}
	out_printf(o, "%-19s  %-8s  ", when, op_name(l->op));
	out_words_in(o, STYLE_ID, l->entry);
	if (l->op == REFLOG_CHECKOUT && l->from.n) {
		out_puts(o, "  from ");
		out_words(o, l->from);
	} else if (l->op == REFLOG_LABEL) {
		out_puts(o, l->from.n ? "  [" : "  (removed)");
		out_words_in(o, STYLE_LABEL, l->from);
		out_puts(o, l->from.n ? "]" : "");
	}
	if (l->is_current)
		out_puts(o, "  the tip");
	if (l->is_lost)
		out_puts(o, "  lost");
	else if (!l->is_known)
		out_puts(o, "  no such entry");
	out_puts(o, "\n");
}

int cmd_reflog(struct cmd *c)
{
	const struct reflog_line *v;
	json_doc *list;
	size_t n;
	int status = cmd_open(c);

	if (status != STATUS_DONE)
		return status;
	v = work_reflog(c->work, &n);
	if (!c->json) {
		while (n-- > 0)
			print_reflog_line(c, &v[n]);
		return STATUS_DONE;
	}
	list = json_doc_list();
	while (n-- > 0)
		json_doc_add(list, json_reflog_line(&v[n]));
	return json_print(c, list, STATUS_DONE);
}

/* ---- problems ---- */

enum { PEEK_ROW = 16, PEEK_BYTES = 2 * PEEK_ROW };

static void print_hex_row(struct out *o, uint64_t off, const unsigned char *p, size_t n)
{
	char text[PEEK_ROW + 1];

	out_printf(o, "    %08" PRIx64 " ", off);
	for (size_t i = 0; i < PEEK_ROW; i++) {
		if (i < n)
			out_printf(o, " %02x", p[i]);
		else
			out_puts(o, "   ");
	}
	for (size_t i = 0; i < n; i++)
		text[i] = p[i] >= ' ' && p[i] < 0x7F ? (char)p[i] : '.';
	text[n] = '\0';
	out_printf(o, "   %s\n", text);
}

static void print_peek(struct cmd *c, const struct problem *p)
{
	unsigned char bytes[PEEK_BYTES];
	size_t want = p->length < PEEK_BYTES ? (size_t)p->length : PEEK_BYTES, got = 0;

	if (want == 0 || c->s->ops->peek(c->s, p->offset, bytes, want, &got, &c->err) < 0)
		return;
	for (size_t i = 0; i < got; i += PEEK_ROW)
		print_hex_row(&c->out, session_place(c->s, p->offset) + i, bytes + i,
			got - i < PEEK_ROW ? got - i : PEEK_ROW);
}

static void print_outlook(struct cmd *c)
{
	const struct session *s = c->s;
	struct out *o = &c->out;
	size_t nlost = work_nlost(c->work);
	char open[200];

	out_printf(o, "committed: %" PRIu64 " byte%s, %" PRIu32 " %s.", s->committed,
		plural(s->committed, "", "s"), session_committed(s),
		flow_of_session(s) ? plural(session_committed(s), "node", "nodes")
				   : plural(session_committed(s), "entry", "entries"));
	if (s->is_torn)
		out_printf(o, "  A repair would move the last %" PRIu64 " byte%s to %s.torn-%" PRIu64 ".",
			s->size - s->committed, plural(s->size - s->committed, "", "s"), path_base(s->path), s->committed);
	if (nlost)
		out_printf(o, "  A repair would append %zu lost entr%s again.", nlost,
			plural(nlost, "y", "ies"));
	out_puts(o, "\n");
	if (work_interrupted(c->work, open))
		out_printf(o, "open: %s.\n", open);
}

static json_doc *json_problems(struct cmd *c)
{
	json_doc *o = json_doc_object(), *list = json_doc_list();

	for (size_t i = 0; i < c->s->problems.n; i++)
		json_doc_add(list, json_problem(c->s, &c->s->problems.v[i]));
	json_doc_set(o, "id", json_cstr(c->s->id));
	json_doc_set(o, "path", json_cstr(c->s->path));
	json_doc_set(o, "entries", json_doc_uint(session_own(c->s)));
	json_doc_set(o, "would_add", json_doc_uint(session_proposed(c->s)));
	json_doc_set(o, "committed", json_doc_uint(c->s->committed));
	json_doc_set(o, "size", json_doc_uint(c->s->size));
	json_doc_set(o, "problems", list);
	json_doc_set(o, "more", json_doc_uint(c->s->problems.more));
	return o;
}

/* What takes something away from the session, or may. */
static bool is_damaged(const struct problem_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->v[i].kind, "leftover") != 0)
			return true;
	return list->more > 0;
}

int cmd_problems(struct cmd *c)
{
	int found, status = cmd_open(c);

	if (status != STATUS_DONE)
		return status;
	if (flow_of_session(c->s))
		status = cmd_flow_check(c);
	work_note_leftovers(c->work);
	problem_sort(&c->s->problems);
	found = status != STATUS_DONE ? status
		: is_damaged(&c->s->problems) ? STATUS_FOUND : STATUS_DONE;
	if (c->json)
		return json_print(c, json_problems(c), found);
	for (size_t i = 0; i < c->s->problems.n && out_is_alive(&c->out); i++) {
		print_problem_line(c, &c->s->problems.v[i]);
		print_peek(c, &c->s->problems.v[i]);
	}
	if (c->s->problems.more)
		out_printf(&c->out, "%" PRIu64 " more %s only counted\n", c->s->problems.more,
			plural(c->s->problems.more, "is", "are"));
	print_outlook(c);
	return c->err.code ? cmd_fail(c) : found;
}
