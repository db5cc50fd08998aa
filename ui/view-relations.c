/*
 * view-relations.c - the relations of a conversation as of the round that is
 * shown, all or of one type or quality; below, one of them whole.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ui/internal.h"
#include "ui/page.h"
#include "ui/picks.h"
#include "ui/view-conversation.h"
#include "ui/view.h"

struct relations {
	struct picks picks;     /* first */
	uint32_t type, quality; /* words; CONVERSATION_NONE: all */
	unsigned reads;
};

static struct relations *of(const struct view *v)
{
	return v->priv;
}

static int relations_open(struct view *v, const void *arg, struct err *err)
{
	of(v)->type = of(v)->quality = CONVERSATION_NONE;
	of(v)->reads = conversation_of(v->below)->reads;
	return 0;
}

static const struct conversation_relation *list(const struct view *v, uint32_t *n)
{
	struct conversation *c = conversation_model(v);

	*n = 0;
	return c ? conversation_relations(c, n) : NULL;
}

static const struct conversation_relation *at(const struct view *v, size_t line)
{
	uint32_t n;

	return &list(v, &n)[of(v)->picks.shown[line]];
}

static void relations_layout(struct view *v)
{
	struct relations *r = of(v);
	uint32_t n;
	const struct conversation_relation *all = list(v, &n);

	picks_begin(v, n);
	if (r->reads != conversation_of(v->below)->reads) /* the words were numbers of another reading */
		r->type = r->quality = CONVERSATION_NONE;
	r->reads = conversation_of(v->below)->reads;
	for (uint32_t i = 0; i < n; i++)
		if ((r->type == CONVERSATION_NONE || all[i].type == r->type) &&
		    (r->quality == CONVERSATION_NONE || all[i].quality == r->quality))
			picks_add(v, i, all[i].id);
}

static enum role quality_role(struct str quality)
{
	return str_eqs(quality, "conflict") || str_eqs(quality, "unresolved") ? ROLE_DAMAGE :
		str_eqs(quality, "exact_unique") ? ROLE_ON_BRANCH : ROLE_NEW;
}

static void relations_row(struct view *v, size_t line, struct rowbuf *out)
{
	struct conversation *c = conversation_model(v);
	const struct conversation_relation *r = at(v, line);
	int cols = row_left(out), end = cols >= 100 ? 26 : cols >= 76 ? 20 : (cols - 16) / 2;
	struct str via;

	row_printf(out, mark_role(r->mark), "%c ", r->mark);
	conversation_put_word(v, out, ROLE_STRONG, r->type, cols >= 60 ? 10 : 8);
	row_spaces(out, ROLE_NORMAL, 1);
	conversation_put_word(v, out, ROLE_NORMAL, r->from, end > 4 ? end : 4);
	row_lit(out, ROLE_LINK, " -> ");
	conversation_put_word(v, out, ROLE_NORMAL, r->to, end > 4 ? end : 4);
	if (cols < 60)
		return;
	row_spaces(out, ROLE_NORMAL, 1);
	conversation_put_word(v, out, quality_role(conversation_word(c, r->quality)), r->quality, 16);
	if (row_left(out) < 16)
		return; /* the pane has it */
	via = conversation_relation_via(c, r->version, &of(v)->picks.scratch);
	row_spaces(out, ROLE_NORMAL, 1);
	row_text(out, ROLE_DIM, via.p, via.n);
	arena_reset(&of(v)->picks.scratch);
}

static void put_filter(struct view *v, const char *name, uint32_t word, int rank, struct bar *b)
{
	struct str s = word == CONVERSATION_NONE ? str_of("all")
						 : conversation_word(conversation_model(v), word);
	enum role role = word == CONVERSATION_NONE ? ROLE_TITLE : ROLE_LABEL;
	struct rowbuf *field = bar_left(b, rank);

	row_clip(field, 32);
	row_printf(field, role, "%s: ", name);
	row_text(field, role, s.n ? s.p : "-", s.n ? s.n : 1);
}

static void relations_header(struct view *v, struct rowbuf *out)
{
	size_t shown = of(v)->picks.n;
	struct bar b;
	uint32_t n;

	list(v, &n);
	bar_begin(&b, out);
	if (shown < n)
		bar_say(bar_left(&b, 0), ROLE_TITLE, "%zu of %u relations", shown, n);
	else
		bar_say(bar_left(&b, 0), ROLE_TITLE, "%u %s", n, plural(n, "relation", "relations"));
	bar_elastic(&b, 12);
	if (conversation_model(v)) {
		put_filter(v, "type", of(v)->type, 1, &b);
		put_filter(v, "quality", of(v)->quality, 2, &b);
		bar_say(bar_right(&b, 3), ROLE_TITLE, "round %u",
			conversation_round(conversation_model(v)));
	}
	bar_draw(&b, ROLE_TITLE, out);
}

static void put_end(struct view *v, const char *name, uint32_t word, struct page *p)
{
	struct conversation *c = conversation_model(v);
	struct str id = conversation_word(c, word);
	uint32_t n, line = conversation_line_of(c, word);

	page_begin_par(p, "", "          ", ROLE_NORMAL);
	page_puts(p, ROLE_DIM, name);
	page_text(p, ROLE_ID, id.n ? id.p : "-", id.n ? id.n : 1);
	if (line == CONVERSATION_NONE) {
		page_puts(p, ROLE_DAMAGE, "  not in the fold");
	} else {
		struct str kind = conversation_word(c, conversation_lines(c, &n)[line].kind);
		struct conversation_row row;

		page_puts(p, ROLE_NORMAL, "  ");
		page_text(p, node_role(kind), kind.p, kind.n);
		conversation_row(c, line, 200, &of(v)->picks.scratch, &row);
		page_puts(p, ROLE_NORMAL, "  ");
		page_text(p, ROLE_NORMAL, row.text.p, row.text.n);
	}
	page_end_par(p);
}

static void put_text(const char *name, enum role role, struct str text, struct page *p)
{
	page_begin_par(p, "", "          ", ROLE_NORMAL);
	page_puts(p, ROLE_DIM, name);
	page_text(p, role, text.n ? text.p : "-", text.n ? text.n : 1);
	page_end_par(p);
}

static void relations_pane(struct view *v, struct page *p, size_t limit)
{
	struct conversation *c = conversation_model(v);
	const struct conversation_relation *r;
	struct arena *a = &of(v)->picks.scratch;
	struct str quality;

	if (!c || v->cursor >= of(v)->picks.n)
		return;
	r = at(v, v->cursor);
	quality = conversation_word(c, r->quality);
	put_text("type      ", ROLE_STRONG, conversation_word(c, r->type), p);
	put_end(v, "from      ", r->from, p);
	put_end(v, "to        ", r->to, p);
	put_text("quality   ", quality_role(quality), quality, p);
	put_text("via       ", ROLE_NORMAL, conversation_relation_via(c, r->version, a), p);
	put_text("evidence  ", ROLE_TIME, str_of(conversation_relation_evidence(c, r->version, a)),
		p);
	if (r->mark == '-')
		page_words(p, ROLE_DIFF_DEL, "withdrawn by this round");
	arena_reset(a);
}

static const char *relations_empty(const struct view *v)
{
	return of(v)->type != CONVERSATION_NONE || of(v)->quality != CONVERSATION_NONE ?
		"no relation of this type and quality" : "no relations";
}

/* ---- commands ---- */

static enum effect go(struct view *v, uint32_t id)
{
	bool is_there = conversation_line_of(conversation_model(v), id) != CONVERSATION_NONE;

	conversation_goto(v->below, id);
	return is_there ? FX_CLOSE : FX_REDRAW;
}

static enum effect run_open(struct view *v, const char *arg)
{
	return go(v, at(v, v->cursor)->from);
}

static enum effect run_other_end(struct view *v, const char *arg)
{
	return go(v, at(v, v->cursor)->to);
}

static uint32_t word_at(const struct conversation_relation *r, bool is_type)
{
	return is_type ? r->type : r->quality;
}

/* The word behind `now` in the order in which they first stand there; behind the last: all. */
static uint32_t next_word(const struct view *v, uint32_t now, bool is_type)
{
	uint32_t n;
	const struct conversation_relation *all = list(v, &n);
	bool passed = now == CONVERSATION_NONE;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t word = word_at(&all[i], is_type);
		bool is_first = true;

		for (uint32_t k = 0; k < i && is_first; k++)
			is_first = word_at(&all[k], is_type) != word;
		if (passed && is_first)
			return word;
		passed = passed || word == now;
	}
	return CONVERSATION_NONE;
}

static enum effect set_filter(struct view *v, uint32_t *filter, bool is_type, const char *arg)
{
	if (!conversation_model(v))
		return FX_NONE;
	if (*arg) {
		uint32_t word = conversation_find_word(conversation_model(v), str_of(arg));
		*filter = strcmp(arg, "all") == 0 ? CONVERSATION_NONE : word;
		if (word == CONVERSATION_NONE && strcmp(arg, "all") != 0)
			ui_error(v->ui, "no relation has the %s %s", is_type ? "type" : "quality",
				arg);
	} else {
		*filter = next_word(v, *filter, is_type);
	}
	return FX_RELAYOUT | FX_PANE;
}

static enum effect run_type(struct view *v, const char *arg)
{
	return set_filter(v, &of(v)->type, true, arg);
}

static enum effect run_quality(struct view *v, const char *arg)
{
	return set_filter(v, &of(v)->quality, false, arg);
}

static const struct command table[] = {
	{ .name = "open", .keys = "<Enter>, l", .group = "Relations", .hint = "to the node",
	  .when = WHEN_ROW, .help = "To the node where the relation begins", .run = run_open },
	{ .name = "other-end", .keys = "o", .group = "Relations", .hint = "the other end",
	  .when = WHEN_ROW, .help = "To the node where it ends", .run = run_other_end },
	{ .name = "type", .keys = "t", .group = "Relations", .hint = "type", .arg = "TYPE",
	  .help = "Only relations of the next type; all behind the last", .run = run_type },
	{ .name = "quality", .keys = "s", .group = "Relations", .hint = "quality", .arg = "QUALITY",
	  .help = "Only relations of the next quality; all behind the last", .run = run_quality },
};

static const struct command_table relations_commands = COMMAND_TABLE(table);

const struct view_ops view_relations = {
	.name = "relations",
	.pane = PANE_BELOW,
	.pane_percent = 30,
	.private_size = sizeof(struct relations),
	.commands = &relations_commands,
	.open = relations_open,
	.close = picks_close,
	.layout = relations_layout,
	.is_stale = picks_stale,
	.count = picks_count,
	.draw_row = relations_row,
	.draw_header = relations_header,
	.line_id = picks_id,
	.line_of = picks_line_of,
	.fill_pane = relations_pane,
	.empty = relations_empty,
	.state = picks_state,
};
