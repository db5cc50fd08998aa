/*
 * cmd-flow-text.c - `bough show` of a conversation and of one of its nodes, for
 * people. Programs are answered by cmd-flow-show.c.
 */
#include "config.h"

#include "cmd/cmd-flow.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "store/conversation.h"

enum { VERIFY_US = 100000, TEXT_MAX_BYTES = 1 << 30 };

/* ---- a conversation ---- */

static void print_rounds(struct cmd *c, const struct flow_conversation *f)
{
	struct out *o = &c->out;
	size_t n, reserved = flow_nreservations(f);

	flow_rounds(f, &n);
	fact_name(c, "rounds");
	out_printf(o, "%zu", n);
	if (flow_nfolded_not(f))
		out_printf(o, ", of which %" PRIu32 " could be folded", flow_folded(f));
	if (reserved)
		out_printf(o, ", and %zu reserved", reserved);
	out_puts(o, "\n");
}

static void print_newest(struct cmd *c, const struct flow_conversation *f)
{
	const struct flow_header *h = flow_head(f);
	struct out *o = &c->out;

	fact_name(c, "newest");
	if (!h) {
		out_puts(o, "none\n");
		return;
	}
	out_printf(o, "round %" PRIu64 ", ", h->round);
	if (h->through_seq < h->from_seq)
		out_puts(o, "no sequence");
	else if (h->through_seq == h->from_seq)
		out_printf(o, "sequence %" PRIu64, h->from_seq);
	else
		out_printf(o, "sequences %" PRIu64 " to %" PRIu64, h->from_seq, h->through_seq);
	out_puts(o, ", digest ");
	out_words_in(o, STYLE_ID, str_of(h->digest));
	out_puts(o, "\n");
	fact_words(c, "parser", str_of(h->parser));
	fact_words(c, "policy", str_of(h->policy));
	fact_words(c, "landed", h->session_s);
}

static void print_time(struct cmd *c)
{
	char from[32], to[32];

	time_full(c->s->first_time, from);
	time_full(c->s->last_time, to);
	fact_name(c, "time");
	out_printf(&c->out, "%s to %s\n", from, to);
}

static void print_state_file(struct cmd *c, const struct flow_conversation *f)
{
	fact_name(c, "state");
	out_puts(&c->out, !flow_has_state(f)      ? "no conversation.state\n"
			  : flow_state_agrees(f) ? "conversation.state agrees\n"
						 : "conversation.state does not agree\n");
}

static void print_sums(struct cmd *c, struct conversation *conv)
{
	struct conversation_sums sums;

	conversation_sums(conv, &sums);
	fact_name(c, "nodes");
	out_printf(&c->out, "%" PRIu32 "\n", sums.nodes);
	fact_name(c, "relations");
	out_printf(&c->out, "%" PRIu32 "\n", sums.relations);
	fact_name(c, "unresolved");
	out_printf(&c->out, "%" PRIu32 ", %" PRIu32 " open\n", sums.unresolved, sums.open);
	fact_name(c, "cards");
	out_printf(&c->out, "%zu\n", conversation_cards(conv)->n);
}

static void print_verdict(struct cmd *c, struct conversation *conv)
{
	bool is_good = strcmp(conversation_state(conv), "verified") == 0;
	struct buf verdict = { 0 };
	size_t n;

	conversation_findings(conv, &n);
	conversation_verdict(conv, &verdict);
	fact_name(c, "verdict");
	out_words_in(&c->out, is_good ? STYLE_NONE : STYLE_DAMAGE, buf_str(&verdict));
	buf_release(&verdict);
	if (n)
		out_puts(&c->out, "; `bough verify` says what fails");
	out_puts(&c->out, "\n");
}

static int status_of_reading(struct cmd *c, const struct conversation *conv)
{
	return conversation_is_unread(conv) ? cmd_flow_unread(c) : STATUS_DONE;
}

static void verify(struct conversation *conv)
{
	while (conversation_verify_step(conv, VERIFY_US) == 1)
		;
}

int cmd_flow_check(struct cmd *c)
{
	struct conversation *conv = conversation_new(c->work);
	int status;

	verify(conv);
	status = status_of_reading(c, conv);
	conversation_free(&conv);
	return status;
}

int cmd_flow_show_text(struct cmd *c)
{
	struct conversation *conv = conversation_new(c->work);
	const struct flow_conversation *f = flow_of_session(c->s);
	int status;

	conversation_show(conv, conversation_folded(conv));
	verify(conv);
	fact_words(c, "id", str_of(flow_id(f)));
	fact_title(c);
	fact_words(c, "format", str_of(c->s->format));
	fact_words(c, "path", str_of(c->s->path));
	print_rounds(c, f);
	print_newest(c, f);
	print_time(c);
	print_state_file(c, f);
	print_sums(c, conv);
	print_verdict(c, conv);
	fact_problems(c);
	status = status_of_reading(c, conv);
	conversation_free(&conv);
	return c->err.code ? cmd_fail(c) : status;
}

/* ---- a node ---- */

static void print_words(struct cmd *c, const char *name, struct str s)
{
	if (s.n)
		fact_words(c, name, s);
}

static void print_source(struct cmd *c, const struct conversation_node *n)
{
	struct out *o = &c->out;
	char when[32];

	time_full(n->time, when);
	fact_words(c, "time", str_of(when));
	fact_name(c, "revision");
	out_printf(o, "round %" PRIu64 "\n", n->revision);
	print_words(c, "place", str_of(n->place));
	if (n->missing)
		fact_words(c, n->is_unread ? "unread" : "missing", str_of(n->missing));
	print_words(c, "from", n->from);
	print_words(c, "flags", n->flags);
	if (!n->has_tokens)
		return;
	fact_name(c, "tokens");
	for (int i = 0; i < CONVERSATION_TOKENS; i++)
		out_printf(o, "%s%s %" PRId64, i ? ", " : "", n->token_names[i], n->tokens[i]);
	out_puts(o, "\n");
}

static void print_ends(
	struct cmd *c, const struct conversation *conv, const struct conversation_node *n)
{
	struct out *o = &c->out;

	for (size_t i = 0; i < n->nends; i++) {
		const struct conversation_end *e = &n->ends[i];

		fact_name(c, "relation");
		out_words_in(o, STYLE_HEAD, e->type);
		out_puts(o, e->is_from ? " -> " : " <- ");
		out_words_in(o, STYLE_ID, conversation_word(conv, e->other));
		out_puts(o, "  ");
		out_words_in(o, STYLE_DIM, e->quality);
		out_puts(o, "\n");
	}
}

static void print_node(struct cmd *c, const struct conversation *conv, uint32_t entry,
	const struct conversation_node *n)
{
	fact_words(c, "node", n->id);
	fact_words(c, "kind", n->kind);
	print_words(c, "parent", n->parent);
	for (uint32_t child = c->s->entries[entry].first_child; child != ENTRY_NONE;
		child = c->s->entries[child].next_sibling)
		fact_words(c, "child", cmd_id(c, child));
	print_words(c, "stream", n->stream);
	print_words(c, "name", n->name);
	print_source(c, n);
	print_ends(c, conv, n);
	out_puts(&c->out, "\n");
	print_content(c, entry, 0, false);
}

int cmd_flow_show_node_text(struct cmd *c, uint32_t entry)
{
	struct conversation *conv = conversation_new(c->work);
	struct conversation_node n;
	struct arena a = { 0 };
	uint32_t line;
	int status = STATUS_DONE;

	conversation_show(conv, conversation_folded(conv));
	line = conversation_line_of(conv, conversation_find_word(conv, cmd_id(c, entry)));
	if (conversation_node(conv, line, TEXT_MAX_BYTES, &a, &n, &c->err) == 0)
		print_node(c, conv, entry, &n);
	if (!c->err.code && n.is_unread)
		status = cmd_flow_unread(c);
	arena_free(&a);
	conversation_free(&conv);
	return c->err.code ? cmd_fail(c) : status;
}
