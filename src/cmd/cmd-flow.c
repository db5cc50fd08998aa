/*
 * cmd-flow.c - `bough fold`: the outline of a conversation as of a round, for
 * people and, byte for byte, for programs.
 */
#include "config.h"

#include "cmd/internal.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "cmd/cmd-flow.h"
#include "format/flow/flow.h"

enum { TEXT_BYTES = 400 };

int cmd_flow_open(struct cmd *c, struct flow_conversation **out)
{
	int status = cmd_open(c);

	*out = status == STATUS_DONE ? flow_of_session(c->s) : NULL;
	if (status == STATUS_DONE && !*out)
		return cmd_complain(STATUS_USAGE, "%s: %s is a %s session, not a conversation",
			c->def->name, c->s->path, c->s->format);
	return status;
}

uint64_t flow_nfolded_not(const struct flow_conversation *f)
{
	size_t n;
	const struct flow_round *rounds = flow_rounds(f, &n);
	uint64_t left = 0;

	for (size_t i = 0; i < n; i++)
		left += rounds[i].state != FLOW_FOLDED;
	return left;
}

static int status_of_stop(const struct flow_fault *fault)
{
	return strcmp(fault->code, "unreadable") == 0 ? STATUS_IO : STATUS_FOUND;
}

/* Said on stderr, so that what goes on on stdout stays what it is. */
int cmd_flow_status(const struct flow_conversation *f)
{
	uint64_t round;
	const struct flow_fault *fault = flow_problem(f, &round);

	if (!fault)
		return STATUS_DONE;
	return cmd_complain(status_of_stop(fault),
		"%s: round %" PRIu64 ": %s: %s; %" PRIu64 " of its rounds not folded", flow_id(f),
		round, fault->code, fault->text, flow_nfolded_not(f));
}

int cmd_flow_reading(const struct flow_conversation *f)
{
	uint64_t round;
	const struct flow_fault *fault = flow_problem(f, &round);

	return fault && status_of_stop(fault) == STATUS_IO ? cmd_flow_status(f) : STATUS_DONE;
}

int cmd_flow_unread(struct cmd *c)
{
	return cmd_complain(STATUS_IO, "%s: not all of it could be read", c->s->id);
}

static int take_out(void *arg, const char *p, size_t n)
{
	struct out *o = arg;

	out_exact(o, (struct str){ p, n });
	return out_is_alive(o) ? 0 : -1;
}

static int print_canonical(struct cmd *c, struct flow_conversation *f, const struct flow_view *view)
{
	if (flow_canonical(f, view, take_out, &c->out, &c->err) < 0 && c->err.code != ERR_CANCELLED)
		return cmd_fail(c);
	return STATUS_DONE;
}

static void print_exact(
	struct cmd *c, const struct flow_conversation *f, const struct flow_outline *o)
{
	for (uint32_t i = 0; i < o->n && out_is_alive(&c->out); i++) {
		out_printf(&c->out, "%u ", o->v[i].depth);
		out_exact(&c->out, flow_word(f, flow_version(f, o->v[i].version)->id));
		out_puts(&c->out, "\n");
	}
}

static int print_line(struct cmd *c, struct flow_conversation *f, const struct flow_line *line,
	bool *is_unread)
{
	struct arena a = { 0 };
	struct flow_node n;
	struct str said;

	if (flow_node_read(f, line->version, false, &a, &n, &c->err) < 0) {
		arena_free(&a);
		return cmd_fail(c);
	}
	*is_unread |= n.is_unread;
	out_printf(&c->out, "%*s", (int)(line->depth < 200 ? line->depth : 200) * 2, "");
	out_words_in(&c->out, STYLE_DIM, n.kind);
	if (n.name.n) {
		out_puts(&c->out, " ");
		out_words_in(&c->out, STYLE_TOOL, n.name);
	}
	out_puts(&c->out, "  ");
	said = n.missing ? str_of(n.missing) : n.said.text.n ? n.said.text : n.said.state;
	if (said.n) {
		if (said.n > TEXT_BYTES)
			said.n = TEXT_BYTES;
		out_words_in(&c->out, n.missing ? STYLE_DAMAGE : STYLE_NONE, said);
	} else {
		out_words_in(&c->out, STYLE_ID, n.id);
	}
	out_puts(&c->out, "\n");
	arena_free(&a);
	return STATUS_DONE;
}

static int print_outline(struct cmd *c, struct flow_conversation *f, const struct flow_outline *o)
{
	int status = STATUS_DONE;
	bool is_unread = false;

	for (uint32_t i = 0; i < o->n && status == STATUS_DONE && out_is_alive(&c->out); i++)
		status = print_line(c, f, &o->v[i], &is_unread);
	return status == STATUS_DONE && is_unread ? cmd_flow_unread(c) : status;
}

static int json_outline(
	struct cmd *c, const struct flow_conversation *f, const struct flow_outline *o)
{
	struct json_list list = { 0 };

	json_list_begin(&list);
	for (uint32_t i = 0; i < o->n && out_is_alive(&c->out); i++) {
		const struct flow_version *v = flow_version(f, o->v[i].version);
		json_doc *doc = json_doc_object();

		json_doc_set(doc, "depth", json_doc_uint(o->v[i].depth));
		json_doc_set(doc, "id", json_doc_string(flow_word(f, v->id)));
		json_doc_set(doc, "kind", json_doc_string(flow_word(f, v->kind)));
		json_doc_set(doc, "parent", json_doc_string(flow_word(f, v->a)));
		json_list_add(c, &list, doc);
	}
	return json_list_end(c, &list, STATUS_DONE);
}

static int print_fold(struct cmd *c, struct flow_conversation *f, const struct flow_view *view)
{
	struct flow_outline outline;
	int status = STATUS_DONE;

	if (c->opt[OPT_CANONICAL])
		return print_canonical(c, f, view);
	flow_outline_make(&outline, view);
	if (c->opt[OPT_OUTLINE])
		print_exact(c, f, &outline);
	else if (c->json)
		status = json_outline(c, f, &outline);
	else
		status = print_outline(c, f, &outline);
	flow_outline_release(&outline);
	return status;
}

/* The round that is asked for; one behind a break is not shown as the one before it. */
static int find_round(struct cmd *c, const struct flow_conversation *f, long *round)
{
	long folded = (long)flow_folded(f);
	const struct flow_fault *fault;
	uint64_t broken;

	*round = folded;
	if (!c->opt[OPT_ROUND])
		return STATUS_DONE;
	fault = flow_problem(f, &broken);
	if (!opts_number(c, OPT_ROUND, folded || fault ? 1 : 0, fault ? LONG_MAX : folded, round))
		return STATUS_USAGE;
	if (*round <= folded)
		return STATUS_DONE;
	return cmd_complain(status_of_stop(fault),
		"fold: there is no fold as of round %ld: rounds from %" PRIu64
		" on are not folded; round %" PRIu64 ": %s: %s",
		*round, broken, broken, fault->code, fault->text);
}

int cmd_fold(struct cmd *c)
{
	struct flow_conversation *f;
	struct flow_view view;
	long round;
	int said, status = cmd_flow_open(c, &f);

	if (status != STATUS_DONE)
		return status;
	status = find_round(c, f, &round);
	if (status != STATUS_DONE)
		return status;
	said = cmd_flow_status(f);
	flow_view_make(&view, f, (uint32_t)round);
	status = print_fold(c, f, &view);
	flow_view_release(&view);
	return status == STATUS_DONE ? said : status;
}
