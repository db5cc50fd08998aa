/*
 * view-entry.c - the page of one entry: who, when, its ids and place in the
 * tree, what bough knows about it, then what it says (page_content).
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "ui/page.h"
#include "ui/view-session.h"

static const struct {
	unsigned flag;
	const char *said;
	bool is_damage;
} notes[] = {
	{ ENTRY_DERIVED, "lost: bough appended it, the file does not hold it any more; r restores it",
	  true },
	{ ENTRY_ORPHAN, "its parent is not in the file", true },
	{ ENTRY_CYCLE, "its parent link closed a circle and was cut here", true },
	{ ENTRY_DAMAGED, "its line has a problem (g p)", true },
	{ ENTRY_UNSENT, "a record only: never sent to the model", false },
};

static void put(struct page *p, enum role role, const char *text)
{
	page_text(p, role, text, strlen(text));
}

static void head_lines(struct session_view *sv, uint32_t entry, struct page *p)
{
	struct session *s = work_session(sv->w);
	const struct entry *e = &s->entries[entry];
	const struct label *label = session_label(s, entry);
	char text[64];
	struct str id;

	page_begin_par(p, "", "  ", ROLE_DIM);
	if (e->flags & ENTRY_KIN)
		put(p, ROLE_OFF_BRANCH, "another session");
	else
		put(p, entry_role(e), kind_name((enum entry_kind)e->kind));
	if (e->flags & ENTRY_FAILED)
		put(p, ROLE_DAMAGE, " failed");
	if (e->time != INT64_MIN) {
		time_full(e->time, text);
		put(p, ROLE_TIME, "  ");
		put(p, ROLE_TIME, text);
	}
	if (!(e->flags & ENTRY_KIN)) {
		size_human(e->len, text);
		put(p, ROLE_DIM, "  ");
		put(p, ROLE_DIM, text);
	}
	put(p, ROLE_ID, "  ");
	id = entry_id(sv, entry);
	page_text(p, ROLE_ID, id.p, id.n);
	page_end_par(p);

	page_begin_par(p, "", "  ", ROLE_DIM);
	if (e->parent != ENTRY_NONE) {
		put(p, ROLE_DIM, "parent ");
		put(p, ROLE_DIM, entry_short_id(sv, e->parent, text));
	} else {
		put(p, ROLE_DIM, "a root");
	}
	if (entry == s->tip)
		put(p, ROLE_TIP, "  the tip");
	if (label) {
		put(p, ROLE_LABEL, "  [");
		page_text(p, ROLE_LABEL, label->text.p, label->text.n);
		put(p, ROLE_LABEL, "]");
	}
	page_end_par(p);
}

void entry_page(struct session_view *sv, uint32_t entry, size_t limit, struct page *p)
{
	struct session *s = work_session(sv->w);
	struct arena scratch = { 0 };
	struct content content = { 0 };
	struct err err = { 0 };

	head_lines(sv, entry, p);
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		if (s->ops->events && notes[i].flag == ENTRY_DERIVED)
			continue; /* such a log says itself what it is */
		if (s->entries[entry].flags & notes[i].flag) {
			page_begin_par(p, notes[i].is_damage ? "! " : "", "  ", ROLE_DAMAGE);
			put(p, ROLE_DIM, notes[i].said);
			page_end_par(p);
		}
	}
	page_blank(p);
	if (s->ops->content(s, entry, limit, &scratch, &content, &err) < 0) {
		page_begin_par(p, "! ", "  ", ROLE_DAMAGE);
		put(p, ROLE_DAMAGE, err.text);
		page_end_par(p);
	} else {
		page_content(p, &content);
		p->more |= content.more;
	}
	arena_free(&scratch);
}
