/*
 * cmd-log.c - `bough log`: one branch as a conversation to read.
 */
#include "config.h"

#include "cmd/internal.h"

#include <limits.h>
#include <stdlib.h>

#include "base/clock.h"
#include "format/flow/flow.h"

static void print_marks(struct cmd *c, uint32_t entry)
{
	const struct label *label = session_label(c->s, entry);
	unsigned flags = c->s->entries[entry].flags;
	struct out *o = &c->out;

	if (entry == c->s->tip) {
		out_style(o, STYLE_TIP);
		out_puts(o, "  tip");
		out_style(o, STYLE_NONE);
	}
	if (label) {
		out_style(o, STYLE_LABEL);
		out_puts(o, "  [");
		out_words(o, label->text);
		out_puts(o, "]");
		out_style(o, STYLE_NONE);
	}
	if (print_absence(c->s, entry)) {
		out_style(o, STYLE_DAMAGE);
		out_printf(o, "  %s", print_absence(c->s, entry));
		out_style(o, STYLE_NONE);
	}
	if (flags & ENTRY_UNSENT)
		out_puts(o, "  unsent");
	if (flags & (ENTRY_ORPHAN | ENTRY_CYCLE | ENTRY_DAMAGED)) {
		out_style(o, STYLE_DAMAGE);
		out_puts(o, flags & ENTRY_ORPHAN ? "  orphan"
				: flags & ENTRY_CYCLE ? "  cycle" : "  damaged");
		out_style(o, STYLE_NONE);
	}
}

static int print_entry(struct cmd *c, uint32_t entry)
{
	const struct entry *e = &c->s->entries[entry];
	struct out *o = &c->out;
	char when[32];

	time_full(e->time, when);
	out_style(o, kind_style(e->kind));
	out_puts(o, kind_name(e->kind));
	out_style(o, STYLE_NONE);
	out_printf(o, "  %s  ", when);
	out_words_in(o, STYLE_ID, cmd_id(c, entry));
	print_marks(c, entry);
	out_puts(o, "\n");
	if (print_content(c, entry, 4, true) < 0)
		return -1;
	out_puts(o, "\n");
	return 0;
}

int cmd_log(struct cmd *c)
{
	long limit = LONG_MAX;
	uint32_t entry, n = 0, first, *branch;
	struct json_list list = { 0 };
	int status;

	if (c->opt[OPT_NUMBER] && !opts_number(c, OPT_NUMBER, 0, LONG_MAX, &limit))
		return STATUS_USAGE;
	status = cmd_open(c);
	if (status != STATUS_DONE)
		return status;
	if (c->nargs == 1 && flow_of_session(c->s))
		return cmd_flow_log(c, limit);
	entry = c->s->tip;
	if (c->nargs > 1)
		status = cmd_entry(c, c->args[1], &entry);
	if (status != STATUS_DONE)
		return status;

	branch = entry == ENTRY_NONE ? NULL : session_branch(c->s, entry, &n);
	first = (long)n > limit ? n - (uint32_t)limit : 0;
	if (c->json)
		json_list_begin(&list);
	for (uint32_t i = first; i < n && out_is_alive(&c->out) && !c->err.code; i++) {
		uint32_t e = branch[c->opt[OPT_REVERSE] ? n - 1 - (i - first) : i];

		if (c->json)
			json_list_add(c, &list, json_entry_whole(c, e));
		else
			print_entry(c, e);
	}
	free(branch);
	if (c->json)
		return json_list_end(c, &list, STATUS_DONE);
	return c->err.code ? cmd_fail(c) : STATUS_DONE;
}
