/*
 * cmd-flow-log.c - `bough log` of a conversation: its talks, each with what was
 * asked and what was answered last.
 */
#include "config.h"

#include "base/clock.h"
#include "cmd/cmd-flow.h"

#include <limits.h>

static json_doc *json_talk(const struct flow_talk *t)
{
	json_doc *o = json_doc_object();

	json_doc_set(o, "id", json_doc_string(t->id));
	json_doc_set(o, "stream", json_doc_string(t->stream));
	json_doc_set(o, "at", json_doc_string(t->at));
	json_doc_set(o, "label", json_doc_string(t->label));
	json_doc_set(o, "reply", json_doc_string(t->reply));
	if (t->no_label)
		json_doc_set(o, "label_missing", json_cstr(t->no_label));
	if (t->no_reply)
		json_doc_set(o, "reply_missing", json_cstr(t->no_reply));
	json_doc_set(o, "runs", json_doc_uint(t->runs));
	json_doc_set(o, "steps", json_doc_uint(t->steps));
	json_doc_set(o, "tools", json_doc_uint(t->tools));
	return o;
}

static void print_said(struct out *o, enum out_style style, const char *who, struct str text,
	const char *missing)
{
	if (!text.n && !missing)
		return;
	out_puts(o, "  ");
	out_style(o, style);
	out_puts(o, who);
	out_style(o, STYLE_NONE);
	out_puts(o, "\n");
	if (!missing) {
		out_block(o, text, 4);
		return;
	}
	out_pad(o, 4);
	out_words_in(o, STYLE_DAMAGE, str_of(missing));
	out_puts(o, "\n");
}

static void print_talk(struct out *o, const struct flow_talk *t)
{
	out_words_in(o, STYLE_HEAD, t->at.n ? t->at : str_of("-"));
	out_puts(o, "  ");
	out_words_in(o, STYLE_ID, t->id);
	out_printf(o, "  %u run%s, %u step%s, %u tool%s\n", t->runs, plural(t->runs, "", "s"),
		t->steps, plural(t->steps, "", "s"), t->tools, plural(t->tools, "", "s"));
	print_said(o, STYLE_USER, "asked", t->label, t->no_label);
	print_said(o, STYLE_ASSISTANT, "answered", t->reply, t->no_reply);
	out_puts(o, "\n");
}

int cmd_flow_log(struct cmd *c, long limit)
{
	struct flow_conversation *f = flow_of_session(c->s);
	struct json_list list = { 0 };
	struct flow_outline outline;
	struct flow_view view;
	struct flow_talk *talks;
	struct arena a = { 0 };
	size_t n, first;
	int status = cmd_flow_status(f);
	bool is_unread = false;

	flow_view_make(&view, f, flow_folded(f));
	flow_outline_make(&outline, &view);
	flow_talks(f, &outline, &a, &talks, &n);
	first = (unsigned long)limit < n ? n - (size_t)limit : 0;
	if (c->json)
		json_list_begin(&list);
	for (size_t i = first; i < n && out_is_alive(&c->out); i++) {
		const struct flow_talk *t = &talks[c->opt[OPT_REVERSE] ? n - 1 - (i - first) : i];

		is_unread |= t->is_unread;
		if (c->json)
			json_list_add(c, &list, json_talk(t));
		else
			print_talk(&c->out, t);
	}
	flow_outline_release(&outline);
	flow_view_release(&view);
	arena_free(&a);
	if (is_unread)
		status = cmd_flow_unread(c);
	return c->json ? json_list_end(c, &list, status) : status;
}
