/*
 * session-flags.c - the words for a session's state, and all words of a row.
 */
#include "config.h"

#include "ui/session-flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"

static struct session_flag *add(struct session_flag *out, size_t *n, enum role role,
	const char *text)
{
	struct session_flag *f = &out[(*n)++];

	f->role = role;
	snprintf(f->text, sizeof(f->text), "%s", text);
	f->brief = text;
	return f;
}

size_t session_flags(const struct session_row *row, struct session_flag out[SESSION_FLAGS])
{
	size_t n = 0;
	char size[16];

	if (row->is_gone)
		add(out, &n, ROLE_DAMAGE, "gone");
	if (row->is_torn) {
		struct session_flag *f = add(out, &n, ROLE_DAMAGE, "torn");
		size_human(row->torn_bytes, size);
		snprintf(f->text, sizeof(f->text), "torn %s", size);
	}
	if (row->is_damaged) {
		struct session_flag *f = add(out, &n, ROLE_DAMAGE, "broken");
		snprintf(f->text, sizeof(f->text), "%u problem%s", row->nproblems,
			plural(row->nproblems, "", "s"));
	}
	if (row->live != LIVE_QUIET)
		add(out, &n, ROLE_NEW, row->live == LIVE_IN_USE ? "in use" : "live");
	if (row->is_partial)
		add(out, &n, ROLE_DIM, "partial");
	if (row->has_open_turn)
		add(out, &n, ROLE_NEW, "open turn");
	if (row->is_twin)
		add(out, &n, ROLE_DAMAGE, "same id");
	if (row->is_readonly)
		add(out, &n, ROLE_DIM, "read-only");
	return n;
}

int session_flags_cols(const struct session_row *row)
{
	struct session_flag flags[SESSION_FLAGS];
	size_t n = session_flags(row, flags);
	int cols = 0;

	for (size_t i = 0; i < n; i++)
		cols += (int)strlen(flags[i].text) + (i > 0);
	return cols;
}

/* How many of the flags fit when those from `whole` on are short. */
static size_t flags_that_fit(const struct session_flag *flags, size_t n, size_t whole, int cols)
{
	int used = 0;

	for (size_t i = 0; i < n; i++) {
		used += (int)strlen(i < whole ? flags[i].text : flags[i].brief) + (i > 0);
		if (used > cols)
			return i;
	}
	return n;
}

void session_flags_draw(const struct session_row *row, int cols, struct rowbuf *out)
{
	struct session_flag flags[SESSION_FLAGS];
	size_t n = session_flags(row, flags), whole = n, fit;

	while (whole > 0 && flags_that_fit(flags, n, whole, cols) < n)
		whole--;
	fit = flags_that_fit(flags, n, whole, cols);
	for (size_t i = 0; i < fit; i++) {
		row_spaces(out, ROLE_NORMAL, i > 0);
		row_str(out, flags[i].role, i < whole ? flags[i].text : flags[i].brief);
	}
}

static void add_word(struct buf *out, const char *word)
{
	if (word)
		buf_adds(out, word);
	buf_addc(out, '\n');
}

void session_words(const struct session_row *row, bool is_lone, struct buf *out)
{
	struct session_flag flags[SESSION_FLAGS];
	size_t n = session_flags(row, flags);
	char *project = row->project ? path_shorten(row->project) : NULL;

	add_word(out, row->title);
	add_word(out, row->id);
	add_word(out, row->project);
	add_word(out, project && *project ? project : "no project");
	add_word(out, row->format);
	if (row->parent_id)
		add_word(out, row->is_agent ? "agent" : "fork");
	if (is_lone)
		add_word(out, "parent missing");
	if (row->state == ROW_UNREADABLE) {
		add_word(out, "cannot read");
		add_word(out, row->reason);
	} else if (row->state == ROW_LOADED && !(row->title && *row->title)) {
		add_word(out, "no title");
	}
	for (size_t i = 0; i < n; i++) {
		add_word(out, flags[i].text);
		add_word(out, flags[i].brief);
	}
	if (row->is_damaged)
		add_word(out, "damaged"); /* as `bough list` says it */
	free(project);
}
