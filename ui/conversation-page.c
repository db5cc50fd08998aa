/*
 * conversation-page.c - the page of one node: what and where it is, tokens,
 * its relations at both ends, what it says, the request and response of a
 * call, its attributes.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "ui/page.h"
#include "ui/view-conversation.h"

static void put(struct page *p, enum role role, const char *text)
{
	page_text(p, role, text, strlen(text));
}

static void put_str(struct page *p, enum role role, struct str s)
{
	page_text(p, role, s.n ? s.p : "", s.n);
}

void page_words(struct page *p, enum role role, const char *words)
{
	page_line(p, role, "", words, strlen(words));
}

/* A word and its value behind what stands there already. */
static void put_pair(struct page *p, const char *word, enum role role, struct str value)
{
	if (!value.n)
		return;
	put(p, ROLE_DIM, "  ");
	put(p, ROLE_DIM, word);
	put_str(p, role, value);
}

static void head_lines(const struct conversation_node *n, struct page *p)
{
	char text[64];

	page_begin_par(p, "", "  ", ROLE_DIM);
	put_str(p, node_role(n->kind), n->kind);
	put(p, ROLE_DIM, "  ");
	put_str(p, ROLE_ID, n->id);
	snprintf(text, sizeof(text), "  round %" PRIu64, n->revision);
	put(p, ROLE_DIM, text);
	page_end_par(p);

	page_begin_par(p, "", "  ", ROLE_DIM);
	if (n->time != INT64_MIN)
		time_full(n->time, text);
	put(p, ROLE_TIME, n->time != INT64_MIN ? text : "no time");
	put_pair(p, "", ROLE_NORMAL, n->model);
	put_pair(p, "from ", ROLE_NORMAL, n->from);
	put_pair(p, "stream ", ROLE_NORMAL, n->stream);
	put_pair(p, "", ROLE_EVENT, n->flags);
	page_end_par(p);
	if (n->place[0])
		page_words(p, ROLE_DIM, n->place);
}

static void token_line(const struct conversation_node *n, struct page *p)
{
	static const char *const words[CONVERSATION_TOKENS] = { " in", " out", " cache read",
		" cache write" };
	char count[32];

	if (!str_eqs(n->kind, "llm.call"))
		return;
	page_begin_par(p, "", "  ", ROLE_DIM);
	put(p, ROLE_DIM, "tokens  ");
	for (int i = 0; i < CONVERSATION_TOKENS && n->has_tokens; i++) {
		if (i > 1 && n->tokens[i] == 0)
			continue; /* of the caches nothing is said */
		snprintf(count, sizeof(count), "%s%" PRId64, i ? "  " : "", n->tokens[i]);
		put(p, ROLE_NORMAL, count);
		put(p, ROLE_DIM, words[i]);
	}
	if (!n->has_tokens)
		put(p, ROLE_NORMAL, "-");
	page_end_par(p);
}

static void card_line(
	struct conversation_view *cv, const struct conversation_node *n, struct page *p)
{
	char text[96];

	if (n->card != CONVERSATION_NONE)
		snprintf(text, sizeof(text), "history changed: see card %u of %zu (g c)",
			n->card + 1, conversation_cards(cv->c)->n);
	else if (n->history_changed)
		snprintf(text, sizeof(text),
			"history changed: its card was withdrawn or never came");
	else
		return;
	page_words(p, ROLE_SUMMARY, text);
}

static void end_line(struct conversation_view *cv, const struct conversation_end *e, struct page *p)
{
	struct str other = conversation_word(cv->c, e->other);
	bool is_there = conversation_line_of(cv->c, e->other) != CONVERSATION_NONE;

	page_begin_par(p, "", "    ", ROLE_DIM);
	put_str(p, ROLE_STRONG, e->type);
	put(p, ROLE_LINK, e->is_from ? " -> " : " <- ");
	put_str(p, is_there ? ROLE_LINK : ROLE_DAMAGE, other.n ? other : str_of("-"));
	if (!is_there)
		put(p, ROLE_DIM, " (not in the fold)");
	put(p, ROLE_DIM, "  ");
	put_str(p,
		str_eqs(e->quality, "conflict") || str_eqs(e->quality, "unresolved") ? ROLE_DAMAGE
										     : ROLE_DIM,
		e->quality.n ? e->quality : str_of("-"));
	page_end_par(p);
	if (e->via.n || e->evidence[0]) {
		page_begin_par(p, "  ", "    ", ROLE_DIM);
		if (e->via.n)
			put(p, ROLE_DIM, "via ");
		put_str(p, ROLE_NORMAL, e->via);
		if (e->evidence[0])
			put(p, ROLE_DIM, e->via.n ? "; evidence " : "evidence ");
		put(p, ROLE_TIME, e->evidence);
		page_end_par(p);
	}
}

static enum role speaker(struct str role)
{
	return str_eqs(role, "user") ? ROLE_USER : str_eqs(role, "assistant") ? ROLE_ASSISTANT :
		str_eqs(role, "system") ? ROLE_SYSTEM : ROLE_TOOL;
}

static void body_lines(const struct conversation_body *b, struct page *p)
{
	char text[200], bytes[32];

	page_blank(p);
	count_human(b->bytes, bytes);
	page_begin_par(p, "", "  ", ROLE_DIM);
	put(p, ROLE_HEADING, b->is_request ? "request" : "response");
	if (!b->why)
		snprintf(text, sizeof(text), "  %s bytes, sequence %" PRIu64 " record %" PRIu64,
			bytes, b->seq, b->row);
	else if (strncmp(b->why, "missing", 7) == 0)
		snprintf(text, sizeof(text), "  missing: sequence %" PRIu64 ", record %" PRIu64,
			b->seq, b->row);
	else
		snprintf(text, sizeof(text),
			"  not shown: sequence %" PRIu64 ", record %" PRIu64 ": %s", b->seq, b->row,
			b->why);
	put(p, b->why ? ROLE_DAMAGE : ROLE_DIM, text);
	page_end_par(p);
	if (b->why)
		return;
	if (!b->has_messages) {
		page_json(p, b->raw.p, b->raw.n, "  ");
		p->more |= b->raw.n < b->bytes;
		return;
	}
	for (size_t i = 0; i < b->messages.n; i++) {
		const struct card_message *m = &b->messages.v[i];

		page_begin_par(p, "  ", "      ", ROLE_DIM);
		snprintf(text, sizeof(text), "%zu ", i + 1);
		put(p, ROLE_DIM, b->is_request ? text : "");
		put_str(p, speaker(m->role), m->role);
		put(p, ROLE_NORMAL, "  ");
		put_str(p, ROLE_NORMAL, m->text);
		page_end_par(p);
	}
}

void node_page(struct conversation_view *cv, uint32_t line, size_t limit, struct page *p)
{
	struct arena scratch = { 0 };
	struct conversation_node n;
	struct err err = { 0 };

	if (conversation_node(cv->c, line, limit, &scratch, &n, &err) < 0) {
		page_line(p, ROLE_DAMAGE, "! ", err.text, strlen(err.text));
		arena_free(&scratch);
		return;
	}
	head_lines(&n, p);
	token_line(&n, p);
	card_line(cv, &n, p);
	if (n.nends)
		page_blank(p);
	for (size_t i = 0; i < n.nends; i++)
		end_line(cv, &n.ends[i], p);
	page_blank(p);
	/* what came back first: a request can be long */
	for (size_t i = n.nbodies; i-- > 0;)
		body_lines(&n.bodies[i], p);
	page_blank(p);
	if (n.content.n)
		page_content(p, &n.content);
	arena_free(&scratch);
}
