/*
 * cmd-show.c - `bough show`: the summary of a session, or one entry whole.
 */
#include "config.h"

#include "cmd/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "format/flow/flow.h"
#include "json/value.h"

void fact_name(struct cmd *c, const char *name)
{
	out_style(&c->out, STYLE_DIM);
	out_printf(&c->out, "%-10s ", name);
	out_style(&c->out, STYLE_NONE);
}

void fact_words(struct cmd *c, const char *name, struct str s)
{
	fact_name(c, name);
	out_words(&c->out, s);
	out_puts(&c->out, "\n");
}

static void id_row(struct cmd *c, const char *name, uint32_t entry)
{
	fact_name(c, name);
	if (entry == ENTRY_NONE)
		out_puts(&c->out, "-");
	else
		out_words_in(&c->out, STYLE_ID, cmd_id(c, entry));
	out_puts(&c->out, "\n");
}

/* ---- a session ---- */

void fact_title(struct cmd *c)
{
	struct buf title = { 0 };

	session_title(c->s, &title);
	fact_words(c, "title", (struct str){ title.p, title.n });
	buf_release(&title);
}

static void print_counts(struct cmd *c)
{
	const struct session *s = c->s;
	char from[32], to[32], size[32], committed[32];
	struct out *o = &c->out;

	count_human(s->size, size);
	count_human(s->committed, committed);
	fact_name(c, "size");
	out_printf(o, "%s byte%s, %s committed\n", size, plural(s->size, "", "s"), committed);
	fact_name(c, "entries");
	out_printf(o, "%" PRIu32 "  (%" PRIu32 " root%s, %" PRIu32 " branch%s, %" PRIu32 " fork%s)\n",
		session_own(s), s->nroots, plural(s->nroots, "", "s"), s->nleaves,
		plural(s->nleaves, "", "es"), s->nforks, plural(s->nforks, "", "s"));
	time_full(s->first_time, from);
	time_full(s->last_time, to);
	fact_name(c, "time");
	out_printf(o, "%s to %s\n", from, to);
}

static void print_tip(struct cmd *c)
{
	struct out *o = &c->out;

	fact_name(c, "tip");
	if (c->s->tip != ENTRY_NONE) {
		out_words_in(o, STYLE_ID, cmd_id(c, c->s->tip));
		out_puts(o, ", ");
	}
	print_tip_reason(c);
	out_puts(o, "\n");
	if (c->s->tip == ENTRY_NONE)
		return;
	fact_name(c, "runner-up");
	print_runner_up(c);
}

void fact_problems(struct cmd *c)
{
	struct out *o = &c->out;

	problem_sort(&c->s->problems);
	fact_name(c, "problems");
	if (c->s->problems.n == 0)
		out_puts(o, "none\n");
	else
		out_printf(o, "%zu\n", c->s->problems.n + (size_t)c->s->problems.more);
	for (size_t i = 0; i < c->s->problems.n && i < 10; i++) {
		out_puts(o, "  ");
		print_problem_line(c, &c->s->problems.v[i]);
	}
	if (c->s->problems.n > 10)
		out_puts(o, "  ... `bough problems` lists them all\n");
}

static void print_state(struct cmd *c)
{
	bool elsewhere;
	const char *path = work_state_path(c->work, &elsewhere);
	size_t nlost = work_nlost(c->work);
	struct out *o = &c->out;
	char open[200];

	if (*path) {
		fact_name(c, "reflog");
		out_words(o, str_of(path));
		out_puts(o, elsewhere ? "  (the session's folder can not be written)\n" : "\n");
	}
	if (nlost) {
		fact_name(c, "lost");
		out_printf(o, "%zu of bough's entries %s gone from the file; `bough repair` appends %s again\n",
			nlost, plural(nlost, "is", "are"), plural(nlost, "it", "them"));
	}
	if (work_interrupted(c->work, open))
		fact_words(c, "open", str_of(open));
}

static int show_session(struct cmd *c)
{
	const struct session *s = c->s;

	if (c->json)
		return json_print(c, json_session(c, true), STATUS_DONE);
	fact_words(c, "session", str_of(s->id));
	fact_title(c);
	fact_words(c, "format", str_of(s->format));
	fact_words(c, "path", str_of(s->path));
	print_counts(c);
	print_tip(c);
	for (size_t i = 0; i < s->nmeta; i++) {
		if (strcmp(s->meta[i].key, "title") != 0)
			fact_words(c, s->meta[i].key, s->meta[i].value);
	}
	for (size_t i = 0; i < s->nlabels; i++) {
		fact_name(c, "label");
		out_words_in(&c->out, STYLE_ID, cmd_id(c, s->labels[i].entry));
		out_puts(&c->out, "  ");
		out_words_in(&c->out, STYLE_LABEL, s->labels[i].text);
		out_puts(&c->out, "\n");
	}
	print_state(c);
	fact_problems(c);
	return c->err.code ? cmd_fail(c) : STATUS_DONE;
}

/* ---- an entry ---- */

static void print_place(struct cmd *c, uint32_t entry)
{
	const struct entry *e = &c->s->entries[entry];
	uint64_t line = session_line(c->s, entry);

	fact_name(c, "place");
	if (e->flags & ENTRY_PROPOSED) {
		out_printf(&c->out, "none yet, %" PRIu32 " byte%s\n", e->len,
			plural(e->len, "", "s"));
		return;
	}
	if (line)
		out_printf(&c->out, "line %" PRIu64 ", ", line);
	out_printf(&c->out, "offset %" PRIu64 ", %" PRIu32 " byte%s\n", e->off, e->len,
		plural(e->len, "", "s"));
}

static void print_flags(struct cmd *c, uint32_t entry)
{
	static const struct {
		unsigned flag;
		const char *text;
	} words[] = {
		{ ENTRY_ORPHAN, "its parent is not in the file" },
		{ ENTRY_CYCLE, "its parent link closed a cycle and was cut" },
		{ ENTRY_FAILED, "a failed tool call" },
		{ ENTRY_UNSENT, "record only, never sent to the model" },
		{ ENTRY_DAMAGED, "it stands on a line with a problem" },
	};
	unsigned flags = c->s->entries[entry].flags;

	if (flags & ENTRY_PROPOSED)
		fact_words(c, "note", str_of("it is not in the file; `bough repair` would add it"));
	else if (print_absence(c->s, entry))
		fact_words(c, "note",
			str_of("it is not committed: it stands in the torn end of the file"));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (flags & words[i].flag)
			fact_words(c, "note", str_of(words[i].text));
	}
	if (entry == c->s->tip) {
		fact_name(c, "tip");
		out_puts(&c->out, "yes, ");
		print_tip_reason(c);
		out_puts(&c->out, "\n");
	}
}

static int show_entry(struct cmd *c, uint32_t entry)
{
	const struct entry *e = &c->s->entries[entry];
	const struct label *label = session_label(c->s, entry);
	char when[32];

	id_row(c, "entry", entry);
	id_row(c, "parent", e->parent);
	for (uint32_t child = e->first_child; child != ENTRY_NONE;
		child = c->s->entries[child].next_sibling)
		id_row(c, "child", child);
	fact_words(c, "kind", str_of(kind_name(e->kind)));
	time_full(e->time, when);
	fact_words(c, "time", str_of(when));
	print_place(c, entry);
	if (label)
		fact_words(c, "label", label->text);
	print_flags(c, entry);
	out_puts(&c->out, "\n");
	print_content(c, entry, 0, false);
	return c->err.code ? cmd_fail(c) : STATUS_DONE;
}

static int show_entry_or_node(struct cmd *c, uint32_t entry)
{
	if (c->json)
		return json_print(c, json_entry_whole(c, entry), STATUS_DONE);
	return flow_of_session(c->s) ? cmd_flow_show_node_text(c, entry) : show_entry(c, entry);
}

/* ---- an event that is no entry ---- */

static int show_event_json(struct cmd *c, struct str line, uint32_t under)
{
	json_doc *o = json_doc_object();

	json_doc_set(o, "event", json_doc_uint(strtoull(c->args[1], NULL, 10)));
	json_doc_set(o, "entry", json_id(c, under));
	json_doc_set(o, "record", json_doc_string(line));
	return json_print(c, o, STATUS_DONE);
}

static int show_event(struct cmd *c, struct str line, uint32_t under)
{
	struct str id = under != ENTRY_NONE ? cmd_id(c, under) : (struct str){ NULL, 0 };
	struct buf text = { 0 };

	if (c->json)
		return show_event_json(c, line, under);
	fact_words(c, "event", str_of(c->args[1]));
	json_string(json_get(line, "type"), &text, SIZE_MAX);
	fact_words(c, "kind", buf_str(&text));
	buf_clear(&text);
	buf_adds(&text, id.n ? "it is no entry: it folds under entry " :
			       "it is no entry, and there is none that it could fold under");
	buf_addstr(&text, id);
	fact_words(c, "note", buf_str(&text));
	out_puts(&c->out, "\n");
	print_record(c, line);
	buf_release(&text);
	return c->err.code ? cmd_fail(c) : STATUS_DONE;
}

int cmd_show(struct cmd *c)
{
	struct buf event = { 0 };
	uint32_t entry;
	int status = cmd_open(c);

	if (status != STATUS_DONE)
		return status;
	if (c->json && flow_of_session(c->s))
		return c->nargs == 1 ? cmd_flow_show(c) : cmd_flow_show_node(c);
	if (c->nargs == 1)
		return flow_of_session(c->s) ? cmd_flow_show_text(c) : show_session(c);
	status = cmd_entry_or_event(c, c->args[1], &entry, &event);
	if (status == STATUS_DONE && event.n)
		status = show_event(c, buf_str(&event), entry);
	else if (status == STATUS_DONE)
		status = show_entry_or_node(c, entry);
	buf_release(&event);
	return status;
}
