/*
 * view-rounds.c - the rounds of a conversation: their sequences, what each
 * did, and whether the six checks hold; reservations, the round that broke
 * the chain and those behind it stand among them. Below: all of one round.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "ui/internal.h"
#include "ui/page.h"
#include "ui/view-conversation.h"
#include "ui/view.h"

enum { FULL_COLS = 92, SUMS_COLS = 60, DIGEST_COLS = 12 };
/* Columns behind the number and before the gap in front of the checks. */
enum { FULL_CHECKS = 71, SUMS_CHECKS = 32, SHORT_CHECKS = 23, LEGEND_COLS = 76 };

struct rounds {
	unsigned generation;
};

static struct conversation *model(const struct view *v)
{
	return conversation_model(v);
}

static void rounds_layout(struct view *v)
{
	((struct rounds *)v->priv)->generation = session_of(conversation_base(v))->generation;
}

static bool rounds_stale(const struct view *v)
{
	return ((const struct rounds *)v->priv)->generation != session_of(conversation_base(v))->generation;
}

static size_t rounds_count(const struct view *v)
{
	return model(v) ? conversation_nrounds(model(v)) : 0;
}

static uint64_t rounds_id(const struct view *v, size_t line)
{
	return line;
}

static size_t rounds_line_of(const struct view *v, uint64_t id)
{
	return id < rounds_count(v) ? (size_t)id : LINE_NONE;
}

/* The round that is shown. */
static size_t rounds_home(const struct view *v)
{
	struct conversation_round_row r;

	for (size_t i = 0; i < rounds_count(v); i++) {
		conversation_round_row(model(v), i, &r);
		if (r.folded && r.folded == conversation_round(model(v)))
			return i;
	}
	return 0;
}

static void put_count(struct rowbuf *out, enum role role, uint32_t n, int cols)
{
	char text[32] = "-";

	if (n)
		snprintf(text, sizeof(text), "%u", n);
	row_field_right(out, n ? role : ROLE_DIM, text, strlen(text), cols);
}

static void put_checks(struct view *v, size_t line, bool wide, struct rowbuf *out)
{
	for (int check = 1; check <= CONVERSATION_CHECKS; check++) {
		char mark = conversation_check(model(v), line, check);

		row_printf(out,
			mark == 'v'   ? ROLE_ON_BRANCH
			: mark == 'x' ? ROLE_DAMAGE
				      : ROLE_DIM,
			wide ? " %c" : "%c", mark);
	}
}

static void put_sequences(const struct conversation_round_row *r, struct rowbuf *out, int cols)
{
	char text[64];

	if (r->through_seq < r->from_seq)
		snprintf(text, sizeof(text), "none");
	else if (r->from_seq == r->through_seq)
		snprintf(text, sizeof(text), "%" PRIu64, r->from_seq);
	else
		snprintf(text, sizeof(text), "%" PRIu64 "-%" PRIu64, r->from_seq, r->through_seq);
	row_field(out, ROLE_TIME, text, strlen(text), cols);
}

static void put_folded(struct view *v, size_t line, const struct conversation_round_row *r,
	int list_cols, struct rowbuf *out)
{
	bool full = list_cols >= FULL_COLS, wide = list_cols >= SUMS_COLS;
	int cols = full ? 6 : wide ? 5 : 4;

	put_sequences(r, out, wide ? 12 : 7);
	if (full) {
		row_field(out, ROLE_ID, r->digest, DIGEST_COLS, DIGEST_COLS + 1);
		put_count(out, ROLE_NORMAL, r->nodes, 7);
		put_count(out, ROLE_NORMAL, r->relations, 6);
		put_count(out, ROLE_NORMAL, r->unresolved, 7);
		row_spaces(out, ROLE_NORMAL, 2);
	}
	put_count(out, ROLE_DIFF_ADD, r->added, cols);
	put_count(out, ROLE_NEW, r->revised, cols);
	put_count(out, ROLE_NEW, r->resolved, cols);
	put_count(out, ROLE_DIFF_DEL, r->withdrawn, cols);
	row_spaces(out, ROLE_NORMAL, 2);
	put_checks(v, line, wide, out);
}

/* Why it is not folded, in the columns of what it would have done; the pane below has it whole. */
static void put_left(struct view *v, size_t line, const struct conversation_round_row *r,
	int list_cols, struct rowbuf *out)
{
	bool full = list_cols >= FULL_COLS, wide = list_cols >= SUMS_COLS;
	char at[40] = "", text[300];

	if (r->code && r->line)
		snprintf(at, sizeof(at), " at line %" PRIu64, r->line);
	snprintf(text, sizeof(text), "%s%s%s%s", r->code ? r->code : "not folded", at,
		r->code ? ": " : "", r->code ? r->said : "");
	row_field(out, ROLE_DAMAGE, text, strlen(text),
		full ? FULL_CHECKS : wide ? SUMS_CHECKS : SHORT_CHECKS);
	row_spaces(out, ROLE_NORMAL, 2);
	put_checks(v, line, wide, out);
}

static void rounds_row(struct view *v, size_t line, struct rowbuf *out)
{
	struct conversation_round_row r;
	int list_cols = row_left(out);
	char number[32];

	conversation_round_row(model(v), line, &r);
	snprintf(number, sizeof(number), "%" PRIu64, r.number);
	row_field_right(out,
		r.folded && r.folded == conversation_round(model(v)) ? ROLE_TIP : ROLE_NORMAL,
		number, strlen(number), 4);
	row_spaces(out, ROLE_NORMAL, 2);
	if (r.state == ROUND_RESERVED) {
		row_lit(out, ROLE_DIM, "(reservation)");
	} else if (r.state == ROUND_FOLDED) {
		put_folded(v, line, &r, list_cols, out);
	} else {
		put_left(v, line, &r, list_cols, out);
	}
}

static void rounds_heading(struct view *v, struct rowbuf *out)
{
	int list_cols = row_left(out) - 1;

	row_lit(out, ROLE_DIM, "    #  ");
	if (list_cols >= FULL_COLS)
		row_lit(out, ROLE_DIM,
			"sequences   digest         nodes   rel  unres       +     ~     =     -   1 2 3 4 5 6");
	else if (list_cols >= SUMS_COLS)
		row_lit(out, ROLE_DIM, "sequences       +    ~    =    -   1 2 3 4 5 6");
	else
		row_lit(out, ROLE_DIM, "seq       +   ~   =   -  123456");
}

/* What the numbers over the marks stand for. */
static void rounds_foot(struct view *v, struct rowbuf *out)
{
	if (row_left(out) >= LEGEND_COLS)
		row_lit(out, ROLE_DIM,
			" checks: 1 number  2 previous  3 reads  4 sequences  5 landed  6 input digest");
	else
		row_lit(out, ROLE_DIM, " 1 num 2 prev 3 read 4 seq 5 file 6 dig");
}

static void rounds_header(struct view *v, struct rowbuf *out)
{
	struct conversation *c = model(v);
	struct conversation_round_row r = { .digest = "" };
	uint64_t done, all;
	const char *state;
	size_t n = 0;
	struct bar b;

	bar_begin(&b, out);
	bar_say(bar_left(&b, 0), ROLE_TITLE, "Rounds of %s", session_model(conversation_base(v))->id);
	bar_elastic(&b, 14);
	for (size_t i = 0; c && i < conversation_nrounds(c); i++) {
		struct conversation_round_row at;
		conversation_round_row(c, i, &at);
		n += at.state != ROUND_RESERVED;
		if (at.folded)
			r = at;
	}
	if (c)
		bar_say(bar_left(&b, 2), ROLE_TITLE, "%zu %s", n, plural(n, "round", "rounds"));
	if (r.folded) {
		bar_say(bar_left(&b, 4), ROLE_TITLE, "head %.12s", r.digest);
		bar_say(bar_left(&b, 3), ROLE_TITLE, "%" PRIu64 " sequences", r.through_seq);
	}
	state = c ? conversation_state(c) : "";
	if (strcmp(state, "checking") == 0) {
		conversation_verify_progress(c, &done, &all);
		bar_say(bar_right(&b, 1), ROLE_TITLE, "checking %u %%",
			all ? (unsigned)(done * 100 / all) : 0);
	} else {
		bar_say(bar_right(&b, 1),
			strcmp(state, "verified") == 0 ? ROLE_TITLE : ROLE_DAMAGE, "%s", state);
	}
	bar_draw(&b, ROLE_TITLE, out);
}

/* ---- the pane ---- */

static void put_pair(struct page *p, const char *key, const char *value)
{
	page_begin_par(p, "", "  ", ROLE_NORMAL);
	page_puts(p, ROLE_DIM, key);
	page_fill(p, ROLE_NORMAL, " ", 8 - (int)strlen(key));
	page_puts(p, ROLE_NORMAL, "  ");
	page_text(p, ROLE_NORMAL, *value ? value : "-", *value ? strlen(value) : 1);
	page_end_par(p);
}

static void count_lines(const struct conversation_round_row *r, struct page *p)
{
	page_blank(p);
	page_begin_par(p, "", "  ", ROLE_NORMAL);
	for (int i = 0; i < CONVERSATION_COUNTS; i++) {
		char value[32] = "-"; /* absent: unknown, not zero */

		if (r->has_count[i])
			snprintf(value, sizeof(value), "%" PRId64, r->count[i]);
		page_puts(p, ROLE_DIM, i ? "   " : "");
		page_puts(p, ROLE_DIM, conversation_count_name(i));
		page_puts(p, ROLE_NORMAL, " ");
		page_puts(p, r->has_count[i] ? ROLE_NORMAL : ROLE_DIM, value);
	}
	page_end_par(p);
}

static void finding_lines(struct view *v, uint64_t round, struct page *p)
{
	size_t n;
	const struct conversation_finding *f = conversation_findings(model(v), &n);

	for (size_t i = 0; i < n; i++) {
		char text[64];

		if (f[i].round != round || f[i].check == 0)
			continue;
		page_begin_par(p, "! ", "  ", ROLE_DAMAGE);
		snprintf(text, sizeof(text), "check %d  ", f[i].check);
		page_puts(p, ROLE_DIM, text);
		page_puts(p, ROLE_DAMAGE, f[i].code);
		page_puts(p, ROLE_NORMAL, "  ");
		page_text(p, ROLE_NORMAL, f[i].said, strlen(f[i].said));
		page_end_par(p);
	}
}

/* Damage of landed files is about no round. */
static void landed_lines(struct view *v, struct page *p)
{
	size_t n;
	const struct conversation_finding *f = conversation_findings(model(v), &n);

	for (size_t i = 0; i < n; i++) {
		char text[64];

		if (f[i].check != 0)
			continue;
		page_begin_par(p, "! ", "  ", ROLE_DAMAGE);
		snprintf(text, sizeof(text), "sequence %" PRIu64 "  ", f[i].seq);
		if (f[i].seq)
			page_puts(p, ROLE_DIM, text);
		page_puts(p, ROLE_DAMAGE, f[i].code);
		page_puts(p, ROLE_NORMAL, "  ");
		page_text(p, ROLE_NORMAL, f[i].said, strlen(f[i].said));
		page_end_par(p);
	}
}

static void rounds_pane(struct view *v, struct page *p, size_t limit)
{
	struct conversation_round_row r;
	char text[96];

	if (v->cursor >= rounds_count(v))
		return;
	conversation_round_row(model(v), v->cursor, &r);
	put_pair(p, "file", r.name);
	if (r.state == ROUND_RESERVED) {
		page_words(p, ROLE_DIM, "0 bytes: the name is taken, there is no round");
		return;
	}
	finding_lines(v, r.number, p);
	if (r.state == ROUND_LEFT)
		page_words(p, ROLE_DAMAGE,
			"not folded: it stands behind the round that broke the chain");
	if (r.state == ROUND_BAD && conversation_check(model(v), v->cursor, 3) != 'x') {
		page_begin_par(p, "! ", "  ", ROLE_DAMAGE);
		page_puts(p, ROLE_DAMAGE, r.code);
		snprintf(text, sizeof(text), "  line %" PRIu64 ", offset %" PRIu64 ": ", r.line,
			r.offset);
		page_puts(p, ROLE_DIM, r.line ? text : "  ");
		page_text(p, ROLE_NORMAL, r.said, strlen(r.said));
		page_end_par(p);
	}
	if (r.state == ROUND_FOLDED) {
		put_pair(p, "digest", r.digest);
		put_pair(p, "previous", r.previous);
		put_pair(p, "input", r.input_digest);
		snprintf(text, sizeof(text), "%.40s to %.40s", *r.from_time ? r.from_time : "-",
			*r.through_time ? r.through_time : "-");
		put_pair(p, "records", text);
		count_lines(&r, p);
	}
	page_blank(p);
	landed_lines(v, p);
}

static unsigned rounds_state(const struct view *v)
{
	return WHEN_PANE | (rounds_count(v) > 0 ? WHEN_ROW : 0);
}

static const char *rounds_empty(const struct view *v)
{
	return model(v) ? "there are no rounds" : "reading the rounds";
}

static enum effect run_open(struct view *v, const char *arg)
{
	struct conversation_round_row r;

	conversation_round_row(model(v), v->cursor, &r);
	if (!r.folded) {
		ui_say(v->ui, r.state == ROUND_RESERVED ? "a reservation holds nothing" :
			"this round was not folded; the rounds before it show");
		return FX_REDRAW;
	}
	while (v->below != conversation_base(v)) /* it came from the screen of problems */
		view_drop_below(v);
	conversation_goto_round(v->below, r.folded);
	return FX_CLOSE;
}

static const struct command table[] = {
	{ .name = "open", .keys = "<Enter>, l", .group = "Rounds",
	  .hint = "its fold", .when = WHEN_ROW,
	  .help = "The fold as of this round", .run = run_open },
};

static const struct view_mark rounds_marks[] = {
	{ "1", "its number is the next" },
	{ "2", "it names the digest of the round before it" },
	{ "3", "it reads, and is what its commit says" },
	{ "4", "it begins behind the last sequence of the round before it" },
	{ "5", "every sequence of its window has a landed file" },
	{ "6", "its input digest is that of those files" },
	{ "v", "the check holds" },
	{ "x", "it fails; the pane says how" },
	{ "-", "it could not be made, because another failed or a file can not be read" },
	{ ".", "it is still to be made" },
	{ "+ ~ = -", "nodes, relations and references added, revised, resolved, withdrawn" },
	{ NULL, NULL },
};

static const struct command_table rounds_commands = COMMAND_TABLE(table);

const struct view_ops view_rounds = {
	.name = "rounds",
	.pane = PANE_BELOW,
	.pane_percent = 40,
	.private_size = sizeof(struct rounds),
	.commands = &rounds_commands,
	.layout = rounds_layout,
	.is_stale = rounds_stale,
	.count = rounds_count,
	.draw_row = rounds_row,
	.draw_header = rounds_header,
	.draw_heading = rounds_heading,
	.draw_foot = rounds_foot,
	.marks = rounds_marks,
	.line_id = rounds_id,
	.line_of = rounds_line_of,
	.home = rounds_home,
	.fill_pane = rounds_pane,
	.empty = rounds_empty,
	.state = rounds_state,
};
