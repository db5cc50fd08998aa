/*
 * session-ask.c - questions to a filled session: who is meant by a name, who
 * stands above whom, what it is called.
 */
#include "config.h"

#include "model/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "model/internal.h"

enum { CANDIDATES_MAX = 8, TITLE_BYTES = 200 };

static const char *const kind_names[KIND_COUNT] = {
	[KIND_UNKNOWN] = "unknown",
	[KIND_SYSTEM] = "system",
	[KIND_USER] = "user",
	[KIND_ASSISTANT] = "assistant",
	[KIND_TOOL_CALL] = "tool call",
	[KIND_TOOL_RESULT] = "tool result",
	[KIND_SUMMARY] = "summary",
	[KIND_EVENT] = "event",
	[KIND_NODE] = "node",
};

const char *kind_name(enum entry_kind kind)
{
	return (unsigned)kind < KIND_COUNT ? kind_names[kind] : kind_names[KIND_UNKNOWN];
}

uint64_t session_place(const struct session *s, uint64_t off)
{
	return s->ops->place ? s->ops->place(s, off) : off;
}

uint64_t session_line(const struct session *s, uint32_t entry)
{
	size_t lo = 0, hi = s->nruns;

	/* The last run that begins at or before the entry. */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->runs[mid].entry <= entry)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? s->runs[lo - 1].line + (entry - s->runs[lo - 1].entry) : 0;
}

bool session_is_leaf(const struct session *s, uint32_t entry)
{
	return !(s->entries[entry].flags & ENTRY_PROPOSED) &&
	       child_from(s, s->entries[entry].first_child) == ENTRY_NONE;
}

uint32_t session_own(const struct session *s)
{
	uint32_t n = s->n;

	while (n > 0 && s->entries[n - 1].flags & (ENTRY_KIN | ENTRY_PROPOSED))
		n--;
	return n;
}

uint32_t session_committed(const struct session *s)
{
	uint32_t n = session_own(s);

	while (n > 0 && s->entries[n - 1].flags & ENTRY_DERIVED)
		n--;
	return n;
}

uint32_t session_proposed(const struct session *s)
{
	uint32_t n = 0;

	for (uint32_t i = session_own(s); i < s->n; i++)
		n += (s->entries[i].flags & ENTRY_PROPOSED) != 0;
	return n;
}

bool session_is_fork(const struct session *s, uint32_t entry)
{
	uint32_t child = child_from(s, s->entries[entry].first_child);

	return child != ENTRY_NONE &&
	       child_from(s, s->entries[child].next_sibling) != ENTRY_NONE;
}

uint32_t session_depth(const struct session *s, uint32_t entry)
{
	uint32_t depth = 0;

	while ((entry = s->entries[entry].parent) != ENTRY_NONE)
		depth++;
	return depth;
}

uint32_t *session_branch(const struct session *s, uint32_t entry, uint32_t *n)
{
	uint32_t count = entry == ENTRY_NONE ? 0 : session_depth(s, entry) + 1;
	uint32_t *v = xmalloc((count ? count : 1) * sizeof(*v));

	*n = count;
	for (; entry != ENTRY_NONE; entry = s->entries[entry].parent)
		v[--count] = entry;
	return v;
}

uint32_t session_common(const struct session *s, uint32_t a, uint32_t b)
{
	uint32_t depth_a, depth_b;

	if (a == ENTRY_NONE || b == ENTRY_NONE)
		return ENTRY_NONE;
	depth_a = session_depth(s, a);
	depth_b = session_depth(s, b);
	for (; depth_a > depth_b; depth_a--)
		a = s->entries[a].parent;
	for (; depth_b > depth_a; depth_b--)
		b = s->entries[b].parent;
	while (a != b) {
		a = s->entries[a].parent;
		b = s->entries[b].parent;
	}
	return a;
}

const char *session_tip_reason(const struct session *s)
{
	switch (s->tip_rule) {
	case TIP_LAST_ENTRY:
		return "last-entry";
	case TIP_CHECKOUT:
		return "checkout";
	case TIP_NONE:
		break;
	}
	return "";
}

void session_title(struct session *s, struct buf *out)
{
	const struct str *title = session_meta(s, "label"); /* what an agent is called */
	struct buf who = { 0 };

	if (!title || !title->n)
		title = session_meta(s, "title");

	if (title && title->n) {
		buf_addstr(out, *title);
		return;
	}
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->entries[i].kind != KIND_USER)
			continue;
		if (s->ops && s->ops->preview)
			s->ops->preview(s, i, TITLE_BYTES, out, &who, NULL);
		break;
	}
	buf_release(&who);
}

struct str session_keep_id(struct session *s, uint32_t entry, struct arena *a)
{
	struct buf id = { 0 };

	if (entry != ENTRY_NONE && s->ops->id(s, entry, &id, NULL) < 0)
		buf_clear(&id);
	return arena_take(a, &id);
}

/* ---- names ---- */

static int resolve_tip(struct session *s, const char *form, const char *steps, uint32_t *out,
	struct err *err)
{
	uint32_t entry = s->tip;
	char *end = NULL;
	unsigned long n = 0;

	if (*steps) {
		if (steps[1] < '0' || steps[1] > '9')
			return err_set(err, ERR_USAGE, "%s: a number must follow tip~", form);
		n = strtoul(steps + 1, &end, 10);
		if (*end)
			return err_set(err, ERR_USAGE, "%s: only a number may follow tip~", form);
	}
	if (entry == ENTRY_NONE)
		return err_set(err, ERR_NOTFOUND, "the session has no tip");
	for (; n > 0 && entry != ENTRY_NONE; n--)
		entry = s->entries[entry].parent;
	if (entry == ENTRY_NONE)
		return err_set(err, ERR_NOTFOUND, "%s: the tip has only %u entr%s above it", form,
			session_depth(s, s->tip), plural(session_depth(s, s->tip), "y", "ies"));
	*out = entry;
	return 0;
}

static void add_candidate(struct buf *list, struct str id)
{
	if (!list)
		return;
	buf_addstr(list, id);
	buf_addc(list, '\n');
}

static bool has_label(const struct session *s, const char *name)
{
	for (size_t i = 0; i < s->nlabels; i++)
		if (str_eqs(s->labels[i].text, name))
			return true;
	return false;
}

static int resolve_label(struct session *s, const char *name, uint32_t *out, struct buf *list,
	struct err *err)
{
	size_t found = 0;
	struct buf id = { 0 };

	for (size_t i = 0; i < s->nlabels; i++) {
		if (!str_eqs(s->labels[i].text, name))
			continue;
		*out = s->labels[i].entry;
		buf_clear(&id);
		if (found++ < CANDIDATES_MAX && s->ops->id(s, *out, &id, NULL) == 0)
			add_candidate(list, (struct str){ id.p, id.n });
	}
	buf_release(&id);
	if (found > 1)
		return err_set(err, ERR_AMBIGUOUS, "@%s: %zu entries have this label", name, found);
	return 0;
}

static int resolve_prefix(struct session *s, const char *prefix, uint32_t *out, struct buf *list,
	struct err *err)
{
	struct buf id = { 0 };
	size_t found = 0;
	int rc = 0;

	for (uint32_t i = 0; i < s->n && found <= CANDIDATES_MAX; i++) {
		buf_clear(&id);
		rc = s->ops->id(s, i, &id, err);
		if (rc < 0)
			goto out;
		if (!str_starts((struct str){ id.p, id.n }, prefix))
			continue;
		*out = i;
		if (found++ < CANDIDATES_MAX)
			add_candidate(list, (struct str){ id.p, id.n });
	}
	if (found > CANDIDATES_MAX)
		rc = err_set(err, ERR_AMBIGUOUS, "%s: more than %d entries begin so", prefix,
			CANDIDATES_MAX);
	else if (found > 1)
		rc = err_set(err, ERR_AMBIGUOUS, "%s: %zu entries begin so", prefix, found);
	else if (!found)
		rc = err_set(err, ERR_NOTFOUND, "%s: no such entry", prefix);
out:
	buf_release(&id);
	return rc;
}

int session_resolve(struct session *s, const char *form, uint32_t *out, struct buf *list,
	struct err *err)
{
	size_t before = list ? list->n : 0;
	int rc;

	*out = ENTRY_NONE;
	if (!*form)
		return err_set(err, ERR_USAGE, "no entry was named");
	if (strncmp(form, "tip", 3) == 0 && (form[3] == '\0' || form[3] == '~'))
		return resolve_tip(s, form, form + 3, out, err);
	if (form[0] == '@' && has_label(s, form + 1)) {
		rc = resolve_label(s, form + 1, out, list, err);
	} else {
		*out = session_find(s, str_of(form));
		if (*out != ENTRY_NONE)
			return 0;
		if (form[0] == '@')
			return err_set(err, ERR_NOTFOUND, "%s: no entry has this label", form);
		rc = resolve_prefix(s, form, out, list, err);
	}
	if (rc < 0)
		*out = ENTRY_NONE;
	if (list && rc != ERR_AMBIGUOUS)
		list->n = before; /* one candidate is the answer, not a list */
	return rc;
}
