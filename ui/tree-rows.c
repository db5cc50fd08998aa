/*
 * tree-rows.c - one row of the tree: the branch lines, the node, who spoke,
 * the first words, and the marks at the right edge.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "ui/view-session.h"

#define MAX_LEVELS 64
#define PREVIEW_BYTES 600

enum role entry_role(const struct entry *e)
{
	switch ((enum entry_kind)e->kind) {
	case KIND_SYSTEM:
		return ROLE_SYSTEM;
	case KIND_USER:
		return ROLE_USER;
	case KIND_ASSISTANT:
		return ROLE_ASSISTANT;
	case KIND_TOOL_CALL:
	case KIND_TOOL_RESULT:
		return e->flags & ENTRY_FAILED ? ROLE_DAMAGE : ROLE_TOOL;
	case KIND_SUMMARY:
		return ROLE_SUMMARY;
	case KIND_EVENT:
	case KIND_NODE:
		return ROLE_EVENT;
	default:
		return ROLE_CONTROL;
	}
}

const char *entry_word(const struct entry *e)
{
	switch ((enum entry_kind)e->kind) {
	case KIND_TOOL_CALL:
		return "call";
	case KIND_TOOL_RESULT:
		return "tool";
	default:
		return kind_name((enum entry_kind)e->kind);
	}
}

struct str entry_id(struct session_view *sv, uint32_t entry)
{
	struct session *s = work_session(sv->w);

	buf_clear(&sv->id);
	if (s->ops->id(s, entry, &sv->id, NULL) < 0 || sv->id.n == 0) {
		buf_clear(&sv->id);
		buf_addc(&sv->id, '?');
	}
	return (struct str){ sv->id.p, sv->id.n };
}

const char *entry_short_id(struct session_view *sv, uint32_t entry, char out[64])
{
	struct str id = entry_id(sv, entry);
	struct buf safe = { 0 };
	bool cut;
	size_t n = text_fit(id.p, id.n, 12, NULL, &cut);

	if (cut) /* a long one, a UUID mostly: its beginning is enough */
		n = text_fit(id.p, id.n, 8, NULL, &cut);
	text_safe(&safe, id.p, n, TEXT_ONE_LINE);
	snprintf(out, 64, "%s", safe.n ? safe.p : "");
	buf_release(&safe);
	return out;
}

uint32_t outline_levels(int list_cols)
{
	return list_cols < 18 ? 3 : list_cols < 6 * MAX_LEVELS ? (uint32_t)list_cols / 6 : MAX_LEVELS;
}

void outline_number(uint32_t depth, struct rowbuf *out)
{
	row_printf(out, ROLE_TIME, "%2u", depth);
}

static void draw_lines(struct session_view *sv, uint32_t row, int list_cols, struct rowbuf *out)
{
	bool on_tip = layout_on_tip(&sv->lay, row);
	char codes[MAX_LEVELS];
	size_t n = layout_outline(&sv->lay, row, outline_levels(list_cols), codes);

	row_spaces(out, ROLE_NORMAL, 1);
	for (size_t i = 0; i < n; i++) {
		enum role role = on_tip && i + 1 == n ? ROLE_ON_BRANCH : ROLE_BORDER;

		if (codes[i] == '#')
			outline_number(layout_segment(&sv->lay, row)->indent, out);
		else
			row_glyph(out, role, codes[i] == '|' ? GLYPH_PASS : codes[i] == '+' ?
				GLYPH_FORK : codes[i] == '`' ? GLYPH_LAST : GLYPH_NOTHING);
	}
}

static void draw_node(struct session_view *sv, const struct entry *e, uint32_t entry, uint32_t row,
	struct rowbuf *out)
{
	struct session *s = work_session(sv->w);
	bool on_tip = layout_on_tip(&sv->lay, row);

	if (entry == s->tip)
		row_glyph(out, ROLE_TIP, GLYPH_TIP);
	else if (e->flags & ENTRY_KIN)
		row_glyph(out, ROLE_OFF_BRANCH, GLYPH_SHUT);
	else if (e->flags & (ENTRY_FAILED | ENTRY_DAMAGED | ENTRY_ORPHAN | ENTRY_CYCLE | ENTRY_DERIVED))
		row_lit(out, ROLE_DAMAGE, "!");
	else
		row_glyph(out, on_tip ? ROLE_ON_BRANCH : ROLE_OFF_BRANCH, on_tip ? GLYPH_ON : GLYPH_OFF);
	row_spaces(out, ROLE_NORMAL, 1);
}

/* What stands at the right edge. */
static void draw_marks(struct session_view *sv, const struct entry *e, uint32_t entry, uint32_t row,
	struct rowbuf *out)
{
	struct session *s = work_session(sv->w);
	const struct label *label = e->flags & ENTRY_LABELLED ? session_label(s, entry) : NULL;
	uint32_t hidden = layout_is_folded(&sv->lay, row) ? layout_hidden(&sv->lay, row) : 0;
	uint32_t past = layout_past(&sv->lay, row);
	char text[32];

	if (e->flags & ENTRY_PROPOSED)
		row_lit(out, ROLE_DAMAGE, " by repair");
	else if ((e->flags & ENTRY_DERIVED) && !(e->flags & ENTRY_KIN))
		row_str(out, ROLE_DAMAGE, s->ops->events ? " recovered" : " lost");
	if (e->flags & ENTRY_ORPHAN)
		row_lit(out, ROLE_DAMAGE, " orphan");
	if (e->flags & ENTRY_CYCLE)
		row_lit(out, ROLE_DAMAGE, " cycle");
	if (e->flags & ENTRY_UNSENT)
		row_lit(out, ROLE_DIM, " unsent");
	if (label) {
		row_lit(out, ROLE_LABEL, " [");
		row_text(out, ROLE_LABEL, label->text.p, label->text.n);
		row_lit(out, ROLE_LABEL, "]");
	}
	if (past > 0)
		row_printf(out, ROLE_LABEL, " and %u inherited", past);
	if (e->flags & ENTRY_KIN)
		return;
	if (hidden > 0) {
		count_human(hidden, text);
		row_printf(out, ROLE_LABEL, " %s more", text);
	} else if (entry == s->tip) {
		row_lit(out, ROLE_TIP, " tip");
	} else if (session_is_leaf(s, entry) && !layout_on_tip(&sv->lay, row)) {
		row_lit(out, ROLE_OFF_BRANCH, " dead");
	} else if (e->kind == KIND_TOOL_RESULT) {
		size_human(e->len, text);
		row_printf(out, ROLE_DIM, " %s", text);
	}
}

static void draw_text(struct session_view *sv, const struct entry *e, uint32_t entry, uint32_t row,
	int list_cols, struct rowbuf *out)
{
	struct session *s = work_session(sv->w);
	bool on_tip = layout_on_tip(&sv->lay, row);
	struct buf text = { 0 }, who = { 0 };
	struct err err = { 0 };
	int who_cols = list_cols >= 44 ? 10 : list_cols >= 24 ? 4 : 0;
	const char *word = entry_word(e);

	if (s->ops->preview(s, entry, PREVIEW_BYTES, &text, &who, &err) < 0) {
		row_str(out, ROLE_DAMAGE, err.text);
		goto out;
	}
	if (who.n > 0 && (e->kind == KIND_UNKNOWN || (e->flags & ENTRY_KIN)))
		row_field(out, entry_role(e), who.p, who_cols < 10 && who.n > 4 ? 4 : who.n, who_cols);
	else /* the first four letters tell the kinds apart */
		row_field(out, entry_role(e), word, who_cols < 10 && strlen(word) > 4 ? 4 : strlen(word),
			who_cols);
	row_spaces(out, ROLE_NORMAL, who_cols > 0 && row_left(out) > 0);
	if ((e->kind == KIND_TOOL_RESULT || e->kind == KIND_TOOL_CALL) && who.n > 0 &&
	    !str_eqs((struct str){ who.p, who.n }, "tool")) {
		row_text(out, ROLE_TOOL, who.p, who.n);
		row_spaces(out, ROLE_NORMAL, 1);
	}
	row_text(out, on_tip ? ROLE_NORMAL : ROLE_DIM, text.n ? text.p : "", text.n);
out:
	buf_release(&text);
	buf_release(&who);
}

void tree_row(struct session_view *sv, uint32_t line, struct rowbuf *out)
{
	struct session *s = work_session(sv->w);
	uint32_t entry = layout_entry(&sv->lay, line);
	const struct entry *e = &s->entries[entry];
	uint32_t row = sv->lay.row_of[entry];
	struct rowbuf marks = { 0 };
	int clip = out->clip, list_cols = row_left(out);

	if (e->flags & ENTRY_NEW)
		row_lit(out, ROLE_NEW, "+");
	else
		row_spaces(out, ROLE_NORMAL, row_left(out) > 8);
	row_start(&marks, row_left(out) / 3, out->ascii);
	draw_marks(sv, e, entry, row, &marks);
	row_clip(out, clip - marks.n);
	draw_lines(sv, row, list_cols, out);
	draw_node(sv, e, entry, row, out);
	draw_text(sv, e, entry, row, list_cols, out);
	row_pad(out, ROLE_NORMAL);
	row_clip(out, clip);
	row_append(out, &marks);
	row_release(&marks);
}
