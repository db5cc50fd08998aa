/*
 * row.c - what one row of the list says: a session is loaded by steps, looked
 * at, and closed again; only counts, times and a few strings stay.
 */
#include "config.h"
#include "store/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"

enum {
	PREVIEW_BYTES = 400,
	PREVIEW_TRIES = 32, /* entries without words that are passed over */
	TITLE_BYTES = 400
};

enum { T_TITLE, T_PARENT, T_USER, T_MODEL, T_REASON, T_COUNT };

/* The strings of a load in one block, so that loading a row again frees the old ones. */
static void set_texts(struct row *row, struct buf texts[T_COUNT])
{
	const char **to[T_COUNT] = {
		[T_TITLE] = &row->pub.title,
		[T_PARENT] = &row->pub.parent_id,
		[T_USER] = &row->pub.preview_user,
		[T_MODEL] = &row->pub.preview_model,
		[T_REASON] = &row->pub.reason,
	};
	size_t all = 0;
	char *p;

	for (int i = 0; i < T_COUNT; i++)
		all += texts[i].n + 1;
	free(row->text);
	row->text = p = xmalloc(all);
	for (int i = 0; i < T_COUNT; i++) {
		*to[i] = texts[i].n ? p : NULL;
		if (texts[i].n)
			memcpy(p, texts[i].p, texts[i].n);
		p[texts[i].n] = '\0';
		p += texts[i].n + 1;
		buf_release(&texts[i]);
	}
}

void row_unreadable(struct row *row, const char *reason)
{
	struct buf texts[T_COUNT] = { { 0 } };

	buf_adds(&texts[T_REASON], reason);
	set_texts(row, texts);
	row->pub.state = ROW_UNREADABLE;
	row->pub.entries = row->pub.branches = row->pub.nproblems = 0;
	row->pub.torn_bytes = 0;
	row->pub.is_torn = row->pub.is_damaged = row->pub.has_open_turn = false;
	row->pub.is_partial = false;
	row->to_load = false;
}

/* A NUL would end the text early for who reads it as a C string. */
static void add_text(struct buf *out, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_addc(out, p[i] ? p[i] : ' ');
}

/* The newest words of a kind on the tip's branch. */
static void preview(struct session *s, enum entry_kind kind, struct buf *out)
{
	struct buf text = { 0 }, who = { 0 };
	int tries = PREVIEW_TRIES;

	for (uint32_t e = s->is_complete ? s->tip : s->last_entry; e != ENTRY_NONE && tries > 0; e = s->entries[e].parent) {
		if (s->entries[e].kind != kind)
			continue;
		buf_clear(&text);
		buf_clear(&who);
		if (s->ops->preview(s, e, PREVIEW_BYTES, &text, &who, NULL) == 0 && text.n > 0)
			break;
		buf_clear(&text);
		tries--;
	}
	add_text(out, text.p, text.n);
	buf_release(&text);
	buf_release(&who);
}

static void fill_texts(struct row *row, struct session *s)
{
	struct buf texts[T_COUNT] = { { 0 } }, title = { 0 };
	const struct str *parent = session_meta(s, "parentSessionId");

	session_title(s, &title);
	if (title.n > TITLE_BYTES)
		title.n = utf8_cut(title.p, TITLE_BYTES);
	add_text(&texts[T_TITLE], title.p, title.n);
	if (title.n == 0)
		buf_adds(&texts[T_TITLE], row->pub.id);
	buf_release(&title);
	if (parent)
		add_text(&texts[T_PARENT], parent->p, parent->n);
	preview(s, KIND_USER, &texts[T_USER]);
	preview(s, KIND_ASSISTANT, &texts[T_MODEL]);
	set_texts(row, texts);
}

/* How it hangs below its parent. */
static void fill_descent(struct session_row *pub, const struct session *s)
{
	const struct str *seed = session_meta(s, "seedLength"), *origin = session_meta(s, "origin");

	pub->seed = UINT64_MAX;
	if (seed && seed->n > 0 && seed->n < 16) /* digits, and a NUL behind them */
		pub->seed = strtoull(seed->p, NULL, 10);
	pub->is_agent = origin && str_eqs(*origin, "subagent");
	pub->tokens = s->tokens;
	pub->inherited = 0;
	while (pub->inherited < s->n && (s->entries[pub->inherited].flags & ENTRY_INHERITED))
		pub->inherited++;
}

static void fill(struct row *row, struct work *w)
{
	struct session *s = work_session(w);
	struct session_row *pub = &row->pub;
	char said[200];

	fill_texts(row, s);
	work_say_trouble(w); /* the texts were read just now */
	fill_descent(pub, s);
	pub->state = ROW_LOADED;
	pub->is_partial = !s->is_complete;
	pub->entries = session_own(s);
	pub->branches = s->nleaves;
	pub->nproblems = s->problems.n + s->problems.more;
	if (s->is_complete)
		pub->size = s->size;
	pub->first_time = s->first_time;
	pub->last_time = s->last_time;
	pub->has_open_turn = work_interrupted(w, said);
	pub->is_in_use = work_is_open_elsewhere(w);
	pub->is_torn = s->is_torn && s->is_complete;
	pub->torn_bytes = pub->is_torn ? s->size - s->committed : 0;
	pub->is_damaged = false;
	for (size_t i = 0; i < s->problems.n && !pub->is_damaged; i++)
		pub->is_damaged = strcmp(s->problems.v[i].kind, "torn-tail") != 0;
	row->file = *w->fmt->file(s);
	row->sidecar = w->sidecar_id;
}

/* Without loading: what the format can tell from a look. */
void row_fill_brief(struct row *row, const struct session_brief *b)
{
	struct buf texts[T_COUNT] = { { 0 } };
	struct session_row *pub = &row->pub;

	add_text(&texts[T_TITLE], b->title.p, b->title.n > TITLE_BYTES ?
		utf8_cut(b->title.p, TITLE_BYTES) : b->title.n);
	add_text(&texts[T_PARENT], b->parent.p, b->parent.n);
	if (b->title.n == 0)
		buf_adds(&texts[T_TITLE], pub->id);
	set_texts(row, texts);
	pub->state = ROW_LOADED;
	pub->entries = b->entries;
	pub->is_uncounted = b->is_uncounted;
	pub->branches = pub->torn_bytes = 0;
	pub->nproblems = b->nproblems;
	pub->is_torn = pub->has_open_turn = false;
	pub->is_damaged = b->nproblems > 0;
	pub->first_time = b->first_time;
	pub->last_time = b->last_time;
}

int work_open_row(struct work **out, const struct session_row *row, struct err *err)
{
	return work_open_as(out, format_by_name(row->format), row->path, err);
}

void row_begin(struct store *st, struct loader *l, size_t row)
{
	struct row *r = st->rows[row];
	struct err err = { 0 };

	l->row = row;
	l->counted = r->counted;
	l->is_rest = r->to_finish;
	r->to_load = false;
	row_forget_rest(st, r);
	if (work_open_as(&l->w, st->roots[r->root].fmt, r->pub.path, &err) < 0) {
		row_unreadable(r, err.text);
		st->bytes_done += r->pub.size;
	} else if (!l->is_rest) {
		work_session(l->w)->work_stop = STORE_ROW_WORK;
	}
}

/* Bytes read so far go to the progress, each once. */
static void count(struct store *st, struct loader *l, uint64_t read)
{
	if (read > l->counted) {
		st->bytes_done += read - l->counted;
		l->counted = read;
	}
}

void row_forget_rest(struct store *st, struct row *row)
{
	st->nrest -= row->to_finish;
	row->to_finish = false;
	row->counted = 0;
}

/* No more of it now: it must not hold up the other rows. */
static void leave_rest(struct store *st, struct loader *l, struct row *row)
{
	session_link(work_session(l->w), false);
	row->to_finish = true;
	row->counted = l->counted;
	st->nrest++;
}

int row_step(struct store *st, struct loader *l, unsigned budget_us)
{
	struct row *row = st->rows[l->row];
	struct err err = { 0 };
	int rc;

	if (!l->w) /* it could not be opened */
		return 0;
	rc = work_step(l->w, budget_us, &err);
	count(st, l, work_session(l->w)->size);
	if (rc == 1 && (l->is_rest || work_session(l->w)->work < STORE_ROW_WORK))
		return 1;
	if (rc == 1)
		leave_rest(st, l, row);
	if (rc >= 0)
		fill(row, l->w);
	else
		row_unreadable(row, err.text);
	work_close(&l->w);
	return 0;
}
