/*
 * cmd-tree.c - `bough tree`: the drawing of the browser as lines of text.
 */
#include "config.h"

#include "cmd/internal.h"

#include <inttypes.h>
#include <langinfo.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cmd/cmd-flow.h"

enum {
	MAX_LEVELS = 100,     /* of the drawing; a deeper row has its number there */
	PREVIEW_BYTES = 1000,
	WHO_COLUMNS = 10
};

struct drawing {
	struct cmd *c;
	struct layout layout;
	struct short_ids ids;
	bool ascii;
	int levels;           /* shown at most */
	struct buf text, who;
};

static const char *const show_words[SHOW_COUNT] = { [SHOW_ALL] = "all", [SHOW_TALK] = "talk",
	[SHOW_PROMPTS] = "prompts", [SHOW_TOOLS] = "tools", [SHOW_PROBLEMS] = "problems" };

static bool parse_show(struct cmd *c, int *show)
{
	*show = SHOW_ALL;
	if (!c->opt[OPT_SHOW])
		return true;
	for (int i = 0; i < SHOW_COUNT; i++) {
		if (!strcmp(show_words[i], c->opt[OPT_SHOW])) {
			*show = i;
			return true;
		}
	}
	cmd_complain(0, "tree: --show wants all, talk, prompts, tools or problems, not '%s'",
		c->opt[OPT_SHOW]);
	return false;
}

/* ---- one row ---- */

static const char *glyph(const struct drawing *d, char code)
{
	switch (code) {
	case '|':
		return d->ascii ? "| " : "│ ";
	case '+':
		return d->ascii ? "+-" : "├─";
	case '`':
		return d->ascii ? "`-" : "└─";
	default:
		return "  ";
	}
}

/* Columns used. */
static int draw_prefix(struct drawing *d, uint32_t row)
{
	char codes[MAX_LEVELS], number[16] = "";
	size_t n = layout_outline(&d->layout, row, (uint32_t)d->levels, codes);
	int used = 0;

	for (size_t i = 0; i < n; i++) {
		const char *text = glyph(d, codes[i]);

		if (codes[i] == '#') {
			snprintf(number, sizeof(number), "%2" PRIu32,
				layout_segment(&d->layout, row)->indent);
			text = number;
			used += (int)strlen(number) - 2;
		}
		out_own(&d->c->out, text);
		used += 2;
	}
	return used;
}

static void draw_mark(struct drawing *d, uint32_t row, uint32_t entry)
{
	const struct session *s = d->c->s;
	unsigned flags = s->entries[entry].flags;
	struct out *o = &d->c->out;

	if (entry == s->tip) {
		out_style(o, STYLE_TIP);
		out_own(o, "@");
	} else if (flags & (ENTRY_FAILED | ENTRY_DAMAGED | ENTRY_ORPHAN | ENTRY_CYCLE |
			   ENTRY_DERIVED)) {
		out_style(o, STYLE_DAMAGE);
		out_own(o, "!");
	} else if (s->tip == ENTRY_NONE || layout_on_tip(&d->layout, row)) {
		out_own(o, "*");
	} else {
		out_style(o, STYLE_DIM);
		out_own(o, "o");
	}
	out_style(o, STYLE_NONE);
	out_own(o, " ");
}

/* What stands behind the words: label, tip, what is folded away. */
static void tail_text(struct drawing *d, uint32_t row, uint32_t entry, struct buf *out)
{
	const struct label *label = session_label(d->c->s, entry);

	if (label) {
		buf_addc(out, '[');
		buf_addstr(out, label->text);
		buf_adds(out, "] ");
	}
	if (print_absence(d->c->s, entry))
		buf_printf(out, "%s ", print_absence(d->c->s, entry));
	if (d->c->s->entries[entry].flags & ENTRY_UNSENT)
		buf_adds(out, "unsent ");
	if (entry == d->c->s->tip)
		buf_adds(out, "tip ");
	if (layout_is_folded(&d->layout, row))
		buf_printf(out, "%" PRIu32 " more ", layout_hidden(&d->layout, row));
	if (out->n)
		out->n--; /* the last space */
}

static int draw_head(struct drawing *d, uint32_t row, uint32_t entry)
{
	struct out *o = &d->c->out;
	int used = draw_prefix(d, row), who;

	draw_mark(d, row, entry);
	out_style(o, STYLE_ID);
	used += 2 + out_fit(o, ids_short(d->c, &d->ids, entry), o->columns ? 16 : 0);
	out_style(o, STYLE_NONE);
	out_own(o, "  ");
	out_style(o, kind_style(d->c->s->entries[entry].kind));
	who = out_fit(o, (struct str){ d->who.p, d->who.n }, o->columns ? 24 : 0);
	out_style(o, STYLE_NONE);
	out_pad(o, WHO_COLUMNS - who);
	return used + 2 + (who < WHO_COLUMNS ? WHO_COLUMNS : who);
}

static void draw_row(struct drawing *d, uint32_t line)
{
	uint32_t entry = layout_entry(&d->layout, line), row = d->layout.row_of[entry];
	struct out *o = &d->c->out;
	struct buf tail = { 0 };
	int used, left = 0;

	buf_clear(&d->text);
	buf_clear(&d->who);
	d->c->s->ops->preview(d->c->s, entry, PREVIEW_BYTES, &d->text, &d->who, &d->c->err);
	used = draw_head(d, row, entry);
	tail_text(d, row, entry, &tail);
	if (o->columns > 0) {
		left = o->columns - used - 2 - (tail.n ? 2 + text_width(tail.p, tail.n) : 0);
		left = left < 8 ? 8 : left;
	}
	out_own(o, "  ");
	if (left > 0)
		out_fit(o, (struct str){ d->text.p, d->text.n }, left);
	else
		out_words(o, (struct str){ d->text.p, d->text.n });
	if (tail.n) {
		out_own(o, "  ");
		out_words_in(o, STYLE_LABEL, (struct str){ tail.p, tail.n });
	}
	out_own(o, "\n");
	buf_release(&tail);
}

/* ---- the whole ---- */

static json_doc *json_row(struct drawing *d, uint32_t line)
{
	uint32_t entry = layout_entry(&d->layout, line), row = d->layout.row_of[entry];
	json_doc *o = json_entry(d->c, entry);

	buf_clear(&d->text);
	buf_clear(&d->who);
	d->c->s->ops->preview(d->c->s, entry, PREVIEW_BYTES, &d->text, &d->who, &d->c->err);
	json_doc_set(o, "preview", json_doc_string((struct str){ d->text.p, d->text.n }));
	json_doc_set(o, "who", json_doc_string((struct str){ d->who.p, d->who.n }));
	json_doc_set(o, "indent", json_doc_uint(layout_segment(&d->layout, row)->indent));
	json_doc_set(o, "is_on_branch", json_doc_bool(layout_on_tip(&d->layout, row)));
	if (layout_is_folded(&d->layout, row))
		json_doc_set(o, "hidden", json_doc_uint(layout_hidden(&d->layout, row)));
	return o;
}

static int print_json_rows(struct drawing *d)
{
	struct json_list list = { 0 };
	struct cmd *c = d->c;

	json_list_begin(&list);
	for (uint32_t i = 0; i < layout_lines(&d->layout); i++) {
		if (!out_is_alive(&c->out) || c->err.code)
			break;
		json_list_add(c, &list, json_row(d, i));
	}
	return json_list_end(c, &list, STATUS_DONE);
}

static int print_rows(struct drawing *d)
{
	struct cmd *c = d->c;
	int status = ids_init(c, &d->ids);

	for (uint32_t i = 0; status == STATUS_DONE && i < layout_lines(&d->layout); i++) {
		if (!out_is_alive(&c->out))
			break;
		draw_row(d, i);
	}
	ids_release(&d->ids);
	if (status != STATUS_DONE)
		return status;
	return c->err.code ? cmd_fail(c) : STATUS_DONE;
}

int cmd_tree(struct cmd *c)
{
	struct drawing d = { .c = c };
	int show, status;

	if (!parse_show(c, &show))
		return STATUS_USAGE;
	status = cmd_open(c);
	if (status != STATUS_DONE)
		return status;
	d.ascii = c->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	d.levels = MAX_LEVELS;
	if (c->out.columns > 0 && c->out.columns / 6 < d.levels)
		d.levels = c->out.columns < 18 ? 3 : c->out.columns / 6;
	layout_init(&d.layout);
	layout_build(&d.layout, c->s);
	if (show != SHOW_ALL)
		layout_set_show(&d.layout, show);
	if (c->opt[OPT_FOLD])
		layout_fold_all(&d.layout, true);
	status = c->json ? print_json_rows(&d) : print_rows(&d);
	layout_release(&d.layout);
	buf_release(&d.text);
	buf_release(&d.who);
	if (status == STATUS_DONE && flow_of_session(c->s))
		status = cmd_flow_reading(flow_of_session(c->s));
	return status;
}
