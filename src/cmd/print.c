/*
 * print.c - sessions and entries as lines of text: the pieces that several
 * commands print alike.
 */
#include "config.h"

#include "cmd/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "json/value.h"

enum out_style kind_style(enum entry_kind kind)
{
	switch (kind) {
	case KIND_USER:
		return STYLE_USER;
	case KIND_ASSISTANT:
		return STYLE_ASSISTANT;
	case KIND_TOOL_CALL:
	case KIND_TOOL_RESULT:
		return STYLE_TOOL;
	case KIND_UNKNOWN:
		return STYLE_DAMAGE;
	default:
		return STYLE_DIM;
	}
}

/* ---- the tip ---- */

void print_tip_reason(struct cmd *c)
{
	char age[8];

	switch (c->s->tip_rule) {
	case TIP_LAST_ENTRY:
		out_puts(&c->out, "the last entry of the file");
		break;
	case TIP_CHECKOUT:
		time_age(c->s->tip_at, clock_now_ms(), age);
		out_printf(&c->out, "checked out %s%s", age, strcmp(age, "now") ? " ago" : "");
		break;
	case TIP_NONE:
		out_puts(&c->out, "the session has no entries");
		break;
	}
}

uint32_t tip_runner_up(const struct session *s)
{
	if (s->tip_rule == TIP_CHECKOUT)
		return s->last_entry;
	for (uint32_t e = s->n; e-- > 0;) {
		if (e != s->tip && session_is_leaf(s, e))
			return e;
	}
	return ENTRY_NONE;
}

const char *print_absence(const struct session *s, uint32_t entry)
{
	unsigned flags = s->entries[entry].flags;

	return flags & ENTRY_PROPOSED                            ? "by repair"
	       : (flags & (ENTRY_DERIVED | ENTRY_KIN)) == ENTRY_DERIVED ? "recovered"
									  : NULL;
}

/* A checkout that does not hold any more, the newest; NULL when there is none. */
static const struct reflog_line *stale_checkout(struct cmd *c)
{
	size_t n;
	const struct reflog_line *v = work_reflog(c->work, &n);

	while (n-- > 0) {
		if (v[n].op == REFLOG_CHECKOUT)
			return v[n].is_current ? NULL : &v[n];
	}
	return NULL;
}

void print_runner_up(struct cmd *c)
{
	const struct reflog_line *old = stale_checkout(c);
	uint32_t next = tip_runner_up(c->s);
	struct out *o = &c->out;

	if (old) {
		out_puts(o, "the checkout of ");
		out_words_in(o, STYLE_ID, old->entry);
		if (!old->is_known)
			out_puts(o, " does not count: there is no such entry");
		else
			out_printf(o, " does not count any more: the file had %" PRIu64
				" entries then and has %" PRIu32 " now", old->entries,
				session_committed(c->s));
	} else if (next == ENTRY_NONE) {
		out_puts(o, "none: there is one branch");
	} else {
		out_words_in(o, STYLE_ID, cmd_id(c, next));
		out_puts(o, c->s->tip_rule == TIP_CHECKOUT
				? ", the last entry of the file, without the checkout"
				: ", the end of the branch that was written before");
	}
	out_puts(o, "\n");
}

/* ---- content ---- */

static void print_heading(struct cmd *c, int indent, const char *word, const struct part *p)
{
	struct out *o = &c->out;

	out_pad(o, indent);
	out_style(o, p->failed ? STYLE_DAMAGE : STYLE_TOOL);
	out_puts(o, word);
	out_style(o, STYLE_NONE);
	if (p->name.n) {
		out_puts(o, " ");
		out_words(o, p->name);
	}
	if (p->ref.n) {
		out_puts(o, "  ");
		out_words_in(o, STYLE_DIM, p->ref);
	}
	out_puts(o, "\n");
}

static void print_json(struct cmd *c, struct str text, int indent)
{
	struct buf pretty = { 0 };

	json_pretty(&pretty, text, 2, SIZE_MAX);
	out_block(&c->out, (struct str){ pretty.p, pretty.n }, indent);
	buf_release(&pretty);
}

static void print_part(struct cmd *c, const struct part *p, int indent)
{
	struct out *o = &c->out;

	switch (p->kind) {
	case PART_CALL:
		print_heading(c, indent, "call", p);
		print_json(c, p->text, indent + 2);
		break;
	case PART_RESULT:
		print_heading(c, indent, p->failed ? "failed" : "result", p);
		out_block(o, p->text, indent + 2);
		break;
	case PART_JSON:
		print_json(c, p->text, indent);
		break;
	case PART_REASONING:
		print_heading(c, indent, "reasoning", p);
		out_block(o, p->text, indent + 2);
		break;
	case PART_META:
		out_pad(o, indent);
		out_words_in(o, STYLE_DIM, p->name);
		out_puts(o, " ");
		out_words(o, p->text);
		out_puts(o, "\n");
		break;
	case PART_IMAGE:
		print_heading(c, indent, "image", p);
		out_block(o, p->text, indent + 2);
		break;
	case PART_TEXT:
	case PART_PLAIN:
	case PART_NOTE:
		out_block(o, p->text, indent);
		break;
	}
}

/* In a log a result has its own entry, and metadata is for who asks for one entry. */
static bool is_told_elsewhere(const struct part *p, uint32_t entry)
{
	return p->kind == PART_META ||
		(p->kind == PART_RESULT && p->entry != ENTRY_NONE && p->entry != entry);
}

int print_content(struct cmd *c, uint32_t entry, int indent, bool own)
{
	struct arena arena = { 0 };
	struct content content = { 0 };
	int rc = c->s->ops->content(c->s, entry, SIZE_MAX, &arena, &content, &c->err);

	for (size_t i = 0; rc == 0 && i < content.n; i++) {
		const struct part *p = &content.v[i];

		if (own && is_told_elsewhere(p, entry))
			continue;
		print_part(c, p, indent);
	}
	arena_free(&arena);
	return rc;
}

void print_problem_line(struct cmd *c, const struct problem *p)
{
	struct out *o = &c->out;

	if (p->file) {
		out_words(o, str_of(p->file));
		out_puts(o, "  ");
	}
	if (p->line && !p->has_no_place)
		out_printf(o, "line %-6" PRIu64 " ", p->line);
	if (!p->has_no_place)
		out_printf(o, "offset %-10" PRIu64 " ", session_place(c->s, p->offset));
	out_style(o, STYLE_DAMAGE);
	out_printf(o, "%-12s", p->kind);
	out_style(o, STYLE_NONE);
	out_puts(o, "  ");
	out_words(o, str_of(p->message));
	out_puts(o, "\n");
}
