/*
 * reflog.c - bough's own state of a session, as far as it is read: the lines
 * of <id>.reflog, and what they say about tip, labels and lost appends. It
 * writes nothing (reflog-write.c does). A reflog may lie in two places, beside
 * the session and in the state folder; the lines of both count.
 *
 * Every line is hostile until it has been checked: one that is not what the
 * format's paper says is passed over and never takes the others with it.
 */
#include "config.h"
#include "store/internal.h"

#include <gcrypt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "format/tree/tree.h"
#include "json/scan.h"
#include "json/value.h"

enum {
	REFLOG_MAX = 64 << 20,  /* bytes read of one reflog: the newest */
	STATE_NAME_MAX = 200,   /* a longer name is replaced by its digest */
	LOST_WORDS = 60         /* bytes of a lost entry that its problem quotes */
};

enum { K_V, K_OP, K_TIP, K_FROM, K_ENTRIES, K_ENTRY, K_LABEL, K_AT, K_COUNT };
static const char *const line_keys[K_COUNT] = {
	[K_V] = "v", [K_OP] = "op", [K_TIP] = "tip", [K_FROM] = "from",
	[K_ENTRIES] = "entries", [K_ENTRY] = "entry", [K_LABEL] = "label", [K_AT] = "at",
};

enum { E_ID, E_PARENT, E_ROLE, E_CONTENT, E_TIME, E_COUNT };
static const char *const entry_keys[E_COUNT] = {
	[E_ID] = "id", [E_PARENT] = "parentId", [E_ROLE] = "role",
	[E_CONTENT] = "content", [E_TIME] = "timestamp",
};

/* ---- where it lies ---- */

static char *hex_digest(const char *p, size_t n)
{
	unsigned char sum[32];
	struct buf b = { 0 };

	gcry_check_version(NULL);
	gcry_md_hash_buffer(GCRY_MD_SHA256, sum, p, n);
	for (size_t i = 0; i < sizeof(sum); i++)
		buf_printf(&b, "%02x", sum[i]);
	return buf_take(&b);
}

/*
 * "<state folder>/<name>.reflog", the name made from the absolute path so that
 * no two sessions share one. An escaped path begins with %2F, a digest never.
 */
static char *state_path(const char *session_path)
{
	char *folder = path_xdg("STATE", ".local/state");
	char *real = NULL, *name = NULL, *file = NULL, *path = NULL;

	if (!folder)
		return NULL;
	real = realpath(session_path, NULL);
	if (!real)
		goto out;
	name = path_escape(real, strlen(real));
	if (strlen(name) > STATE_NAME_MAX) {
		free(name);
		name = hex_digest(real, strlen(real));
	}
	file = xasprintf("%s.reflog", name);
	path = path_join(folder, file);
out:
	free(folder);
	free(real);
	free(name);
	free(file);
	return path;
}

void reflog_init(struct reflog *r, const char *session_path, bool has_beside)
{
	*r = (struct reflog){ 0 };
	if (has_beside)
		r->file[REFLOG_BESIDE].path = tree_reflog_path(session_path);
	r->file[REFLOG_STATE].path = state_path(session_path);
}

static void drop_lines(struct reflog *r)
{
	r->n = r->nlost = 0;
	free(r->lost);
	r->lost = NULL;
	r->is_marked = r->is_applied = false;
	arena_free(&r->arena);
}

void reflog_release(struct reflog *r)
{
	drop_lines(r);
	free(r->lines);
	free(r->raw);
	for (int i = 0; i < REFLOG_PLACES; i++) {
		free(r->file[i].path);
		free(r->file[i].unreadable);
	}
	*r = (struct reflog){ 0 };
}

/* ---- one line ---- */

static struct str take_string(struct reflog *r, struct str raw)
{
	struct buf b = { 0 };
	struct str s;

	json_string(raw, &b, SIZE_MAX);
	s = (struct str){ arena_strndup(&r->arena, b.n ? b.p : "", b.n), b.n };
	buf_release(&b);
	return s;
}

static bool rest_is_blank(const char *p, size_t from, size_t n)
{
	for (size_t i = from; i < n; i++)
		if (!memchr(" \t\r\n", p[i], 4))
			return false;
	return true;
}

/* Would the format take these bytes as an entry? Nothing else may be appended to a session. */
static bool is_good_entry(struct str raw, struct json_scan *sc)
{
	const struct json_field *f = sc->field;
	int64_t time;

	if (json_scan(raw.p, raw.n, entry_keys, E_COUNT, sc) != JSON_OK || sc->end != raw.n)
		return false;
	return f[E_ID].type == JSON_STRING && f[E_ID].len > 2 &&
		(f[E_PARENT].type == JSON_NONE || f[E_PARENT].type == JSON_NULL ||
			f[E_PARENT].type == JSON_STRING) &&
		f[E_ROLE].type == JSON_STRING && f[E_CONTENT].type == JSON_STRING &&
		json_int64(json_raw(raw.p, &f[E_TIME]), &time);
}

static bool parse_checkout(struct reflog *r, const char *p, const struct json_field *f,
	struct reflog_line *out)
{
	if (f[K_TIP].type != JSON_STRING || !json_uint64(json_raw(p, &f[K_ENTRIES]), &out->entries))
		return false;
	out->op = REFLOG_CHECKOUT;
	out->entry = take_string(r, json_raw(p, &f[K_TIP]));
	if (f[K_FROM].type == JSON_STRING)
		out->from = take_string(r, json_raw(p, &f[K_FROM]));
	return true;
}

static bool parse_label(struct reflog *r, const char *p, const struct json_field *f,
	struct reflog_line *out)
{
	if (f[K_ENTRY].type != JSON_STRING || f[K_LABEL].type != JSON_STRING)
		return false;
	out->op = REFLOG_LABEL;
	out->entry = take_string(r, json_raw(p, &f[K_ENTRY]));
	out->from = take_string(r, json_raw(p, &f[K_LABEL]));
	return true;
}

static bool parse_append(struct reflog *r, const char *p, const struct json_field *f,
	struct reflog_line *out, struct reflog_raw *raw)
{
	struct json_scan entry;
	struct str object;

	if (f[K_ENTRY].type != JSON_OBJECT)
		return false;
	object = json_raw(p, &f[K_ENTRY]);
	if (!is_good_entry(object, &entry))
		return false;
	out->op = REFLOG_APPEND;
	out->entry = take_string(r, json_raw(object.p, &entry.field[E_ID]));
	raw->off += f[K_ENTRY].off;
	raw->len = f[K_ENTRY].len;
	return true;
}

/* False: not one JSON object. An object that says nothing to us is a line all the same. */
static bool parse_line(struct reflog *r, int place, const struct log_line *line)
{
	struct reflog_line out = { .op = REFLOG_OTHER };
	struct reflog_raw raw = { .place = place, .off = line->off };
	struct json_scan sc;
	const struct json_field *f = sc.field;
	uint64_t v = 0;
	struct str op;

	if (json_scan(line->p, line->n, line_keys, K_COUNT, &sc) != JSON_OK ||
		!rest_is_blank(line->p, sc.end, line->n))
		return false;
	op = json_raw(line->p, &f[K_OP]);
	if (f[K_AT].type == JSON_NUMBER)
		json_int64(json_raw(line->p, &f[K_AT]), &out.at);
	if (f[K_V].type != JSON_NUMBER || !json_uint64(json_raw(line->p, &f[K_V]), &v) || v != 1 ||
		f[K_OP].type != JSON_STRING)
		goto add;
	if (json_string_eq(op, "checkout"))
		parse_checkout(r, line->p, f, &out);
	else if (json_string_eq(op, "label"))
		parse_label(r, line->p, f, &out);
	else if (json_string_eq(op, "append"))
		parse_append(r, line->p, f, &out, &raw);
add:
	r->lines = xgrow(r->lines, &r->cap, r->n + 1, sizeof(*r->lines));
	r->raw = xgrow(r->raw, &r->raw_cap, r->n + 1, sizeof(*r->raw));
	r->lines[r->n] = out;
	r->raw[r->n++] = raw;
	return true;
}

/* ---- both files ---- */

static void read_lines(struct reflog *r, int place, struct log_reader *in, struct err *err)
{
	struct reflog_file *f = &r->file[place];
	uint64_t start = f->id.size > REFLOG_MAX ? f->id.size - REFLOG_MAX : 0;
	struct log_line line;
	bool is_first = true;

	f->is_cut = start > 0;
	f->committed = start;
	log_seek_line(in, start, 1);
	while (log_next_line(in, &line, err) == 1) {
		uint64_t end = line.off + line.n + (line.ended ? 1 : 0);
		bool is_piece = is_first && start > 0; /* the line that the cut runs through */

		is_first = false;
		if (is_piece || (!line.too_long && rest_is_blank(line.p, 0, line.n)))
			f->committed = line.ended ? end : f->committed;
		else if (!line.too_long && parse_line(r, place, &line))
			f->committed = end;
	}
}

static void read_file(struct reflog *r, int place)
{
	struct reflog_file *f = &r->file[place];
	struct log_reader *in = NULL;
	struct err err = { 0 };

	free(f->unreadable);
	f->unreadable = NULL;
	f->id = (struct log_id){ 0 };
	f->committed = 0;
	f->is_cut = false;
	if (!f->path)
		return;
	if (log_stat(f->path, &f->id, &err) == 0 && f->id.exists &&
		log_reader_open(&in, f->path, &err) == 0) {
		f->id = *log_reader_id(in);
		read_lines(r, place, in, &err);
	}
	log_reader_close(&in);
	if (err.code)
		f->unreadable = xstrdup(err.text);
}

/*
 * The lines of the second place begin at `split`. Each file keeps its own
 * order (a clock may go back); between the files the time decides.
 */
static void merge_places(struct reflog *r, size_t split)
{
	size_t a = 0, b = split;
	struct reflog_line *lines = xmalloc(r->n * sizeof(*lines));
	struct reflog_raw *raw = xmalloc(r->n * sizeof(*raw));

	for (size_t i = 0; i < r->n; i++) {
		bool from_b = a == split || (b < r->n && r->lines[b].at < r->lines[a].at);
		size_t from = from_b ? b++ : a++;

		lines[i] = r->lines[from];
		raw[i] = r->raw[from];
	}
	memcpy(r->lines, lines, r->n * sizeof(*lines));
	memcpy(r->raw, raw, r->n * sizeof(*raw));
	free(lines);
	free(raw);
}

void reflog_read(struct reflog *r)
{
	size_t split;

	drop_lines(r);
	read_file(r, REFLOG_BESIDE);
	split = r->n;
	read_file(r, REFLOG_STATE);
	if (split > 0 && split < r->n)
		merge_places(r, split);
}

bool reflog_changed(const struct reflog *r)
{
	for (int i = 0; i < REFLOG_PLACES; i++) {
		struct log_id now = { 0 };

		if (r->file[i].path && log_stat(r->file[i].path, &now, NULL) == 0 &&
			log_id_differs(&r->file[i].id, &now))
			return true;
	}
	return false;
}

int reflog_entry_bytes(const struct reflog *r, size_t i, struct buf *out, struct err *err)
{
	const struct reflog_raw *raw = &r->raw[i];
	const char *path = r->file[raw->place].path;
	struct log_reader *in = NULL;
	struct json_scan sc;
	size_t got = 0, start = out->n;
	int rc;

	rc = log_reader_open(&in, path, err);
	if (rc < 0)
		goto out;
	buf_reserve(out, raw->len);
	rc = log_pread(in, raw->off, out->p + start, raw->len, &got, err);
	if (rc < 0)
		goto out;
	if (got != raw->len || !is_good_entry((struct str){ out->p + start, got }, &sc)) {
		rc = err_set(err, ERR_CHANGED, "%s: the line of a lost entry changed", path);
		goto out;
	}
	out->n += got;
	out->p[out->n] = '\0';
out:
	log_reader_close(&in);
	return rc;
}

/* ---- what the lines say about a session ---- */

static void apply_tip(struct reflog *r, struct session *s)
{
	s->tip = s->last_entry;
	s->tip_rule = s->n ? TIP_LAST_ENTRY : TIP_NONE;
	s->tip_at = 0;
	for (size_t i = r->n; i-- > 0;) {
		struct reflog_line *l = &r->lines[i];
		uint32_t entry;

		l->is_current = false;
		if (l->op != REFLOG_CHECKOUT)
			continue;
		/* only the newest counts: an append by anyone moves the tip */
		entry = s->n <= l->entries ? session_find(s, l->entry) : ENTRY_NONE;
		if (entry != ENTRY_NONE) {
			s->tip = entry;
			s->tip_rule = TIP_CHECKOUT;
			s->tip_at = l->at;
			l->is_current = true;
		}
		return;
	}
}

static void apply_labels(struct reflog *r, struct session *s)
{
	while (s->nlabels > 0)
		session_set_label(s, s->labels[s->nlabels - 1].entry, (struct str){ "", 0 }, 0);
	for (size_t i = 0; i < r->n; i++) {
		const struct reflog_line *l = &r->lines[i];
		uint32_t entry;

		if (l->op != REFLOG_LABEL)
			continue;
		entry = session_find(s, l->entry);
		if (entry != ENTRY_NONE)
			session_set_label(s, entry, l->from, l->at);
	}
}

struct lost_id {
	uint64_t hash;
	size_t line;
};

static int by_hash(const void *a, const void *b)
{
	const struct lost_id *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int by_line(const void *a, const void *b)
{
	const struct lost_id *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

/* One of each id, its oldest line; sorted by hash. */
static size_t keep_oldest(const struct reflog *r, struct lost_id *v, size_t n)
{
	size_t kept = 0;

	qsort(v, n, sizeof(*v), by_hash);
	for (size_t i = 0; i < n; i++)
		if (!kept || v[kept - 1].hash != v[i].hash ||
			!str_eq(r->lines[v[kept - 1].line].entry, r->lines[v[i].line].entry))
			v[kept++] = v[i];
	return kept;
}

/*
 * session_find reads the file to be certain, and a read that fails looks like
 * an entry that is not there. What would be appended again must surely miss,
 * so the hashes in memory have the last word: nothing up to the newest line whose
 * entry they know is lost.
 */
static size_t surely_lost(const struct session *s, struct lost_id *v, size_t n)
{
	size_t after = 0, kept = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t hash = s->entries[i].idhash;
		size_t lo = 0, hi = n;

		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;

			if (v[mid].hash < hash)
				lo = mid + 1;
			else
				hi = mid;
		}
		if (lo < n && v[lo].hash == hash && v[lo].line + 1 > after)
			after = v[lo].line + 1;
	}
	for (size_t i = 0; i < n; i++)
		if (v[i].line >= after)
			v[kept++] = v[i];
	return kept;
}

/*
 * The newest append lines up to the first whose entry is there. One entry may
 * stand on several lines (a fork writes those that miss again behind its own,
 * so that they stay the newest); its oldest line keeps the order.
 */
static void find_lost(struct reflog *r, struct session *s)
{
	struct lost_id *v = NULL;
	size_t n = 0, cap = 0;

	free(r->lost);
	r->lost = NULL;
	r->nlost = 0;
	for (size_t i = r->n; i-- > 0;) {
		const struct reflog_line *l = &r->lines[i];

		if (l->op != REFLOG_APPEND)
			continue;
		if (session_find(s, l->entry) != ENTRY_NONE)
			break;
		v = xgrow(v, &cap, n + 1, sizeof(*v));
		v[n++] = (struct lost_id){ session_hash(s, l->entry.p, l->entry.n), i };
	}
	if (n > 0)
		n = surely_lost(s, v, keep_oldest(r, v, n));
	if (n > 0) {
		qsort(v, n, sizeof(*v), by_line);
		r->lost = xcalloc(n, sizeof(*r->lost));
		for (size_t i = 0; i < n; i++)
			r->lost[i] = v[i].line;
	}
	r->nlost = n;
	free(v);
}

/* The first words of an entry's content, safe to draw. */
static void first_words(struct str entry, struct buf *out)
{
	struct json_scan sc;
	struct buf text = { 0 };

	if (is_good_entry(entry, &sc))
		json_string(json_raw(entry.p, &sc.field[E_CONTENT]), &text, LOST_WORDS);
	text_safe(out, text.n ? text.p : "", text.n, TEXT_ONE_LINE);
	buf_release(&text);
}

static void say_lost(struct reflog *r, struct session *s, size_t line)
{
	struct buf raw = { 0 }, words = { 0 };
	char when[32];

	if (reflog_entry_bytes(r, line, &raw, NULL) == 0)
		first_words((struct str){ raw.p, raw.n }, &words);
	time_full(r->lines[line].at, when);
	problem_add(&s->problems, &s->arena, "lost-append", 0, s->size, 0, ENTRY_NONE,
		"an entry that bough appended at %s is not in the file any more: \"%s\"", when,
		words.n ? words.p : "");
	buf_release(&raw);
	buf_release(&words);
}

/* A torn file may hold the entry in its tail: then the torn tail is the problem to look at. */
static void apply_problems(struct reflog *r, struct session *s)
{
	static const char *const kinds[] = { "lost-append", "reflog-unreadable", "reflog-long" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		problem_drop(&s->problems, kinds[i]);
	for (size_t i = 0; !s->is_torn && i < r->nlost && i < PROBLEM_MAX; i++)
		say_lost(r, s, r->lost[i]);
	for (int i = 0; i < REFLOG_PLACES; i++) {
		const struct reflog_file *f = &r->file[i];

		if (f->unreadable)
			problem_add(&s->problems, &s->arena, "reflog-unreadable", 0, s->size, 0,
				ENTRY_NONE, "checkouts and labels are not known: %s", f->unreadable);
		if (f->is_cut)
			problem_add(&s->problems, &s->arena, "reflog-long", 0, s->size, 0, ENTRY_NONE,
				"only the newest %d MB of the reflog were read", REFLOG_MAX >> 20);
	}
	problem_sort(&s->problems);
}

void reflog_apply(struct reflog *r, struct session *s)
{
	r->is_marked = false;
	r->is_applied = true;
	apply_tip(r, s);
	apply_labels(r, s);
	find_lost(r, s);
	apply_problems(r, s);
}
