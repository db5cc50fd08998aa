/*
 * reflog.c - bough's own state of a session, as far as it is read: where it
 * lies and the lines of it. What they mean is reflog-apply.c's; nothing is
 * written here (reflog-write.c does). A reflog may lie in two places, beside
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
#include <unistd.h>

#include "base/path.h"
#include "base/xalloc.h"
#include "format/dsh/dsh.h"
#include "format/tree/tree.h"
#include "json/value.h"

enum { STATE_NAME_MAX = 200 }; /* a longer name is replaced by its digest */

enum { K_V, K_OP, K_TIP, K_FROM, K_ENTRIES, K_ENTRY, K_LABEL, K_AT, K_COUNT };
static const char *const line_keys[K_COUNT] = {
	[K_V] = "v",
	[K_OP] = "op",
	[K_TIP] = "tip",
	[K_FROM] = "from",
	[K_ENTRIES] = "entries",
	[K_ENTRY] = "entry",
	[K_LABEL] = "label",
	[K_AT] = "at",
};

static const char *const entry_keys[ENTRY_KEYS] = {
	[ENTRY_ID] = "id",
	[ENTRY_PARENT] = "parentId",
	[ENTRY_ROLE] = "role",
	[ENTRY_CONTENT] = "content",
	[ENTRY_TIME] = "timestamp",
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
static char *state_path(const char *folder, const char *session)
{
	char *real = realpath(session, NULL), *name, *file, *path;

	if (!real)
		return NULL;
	name = path_escape(real, strlen(real));
	if (strlen(name) > STATE_NAME_MAX) {
		free(name);
		name = hex_digest(real, strlen(real));
	}
	file = xasprintf("%s.reflog", name);
	path = path_join(folder, file);
	free(real);
	free(name);
	free(file);
	return path;
}

/*
 * The name costs a look at every folder above the session, and the state
 * folder is there for few people: it is made when it can matter.
 */
void reflog_find_state(struct reflog *r, bool is_to_write)
{
	struct reflog_file *f = &r->file[REFLOG_STATE];

	if (!f->path && r->folder && (is_to_write || access(r->folder, F_OK) == 0))
		f->path = state_path(r->folder, r->session);
}

/* A dsh session has a folder of its own, and in it a reflog with a name of ours. */
static char *path_beside(const char *session_path, const struct format *fmt)
{
	char *dir, *path = NULL;

	if (fmt == &format_tree)
		return tree_reflog_path(session_path);
	if (fmt == &format_dsh) {
		dir = path_dir(session_path);
		path = path_join(dir, "bough.reflog");
		free(dir);
	}
	return path;
}

void reflog_init(struct reflog *r, const char *session_path, const struct format *fmt)
{
	*r = (struct reflog){ 0 };
	r->session = xstrdup(session_path);
	r->folder = path_xdg("STATE", ".local/state");
	r->file[REFLOG_BESIDE].path = path_beside(session_path, fmt);
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
	free(r->session);
	free(r->folder);
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
	s = arena_keep(&r->arena, buf_str(&b));
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

bool reflog_entry_is_good(struct str raw, struct json_scan *sc)
{
	const struct json_field *f = sc->field;
	int64_t time;

	if (json_scan(raw.p, raw.n, entry_keys, ENTRY_KEYS, sc) != JSON_OK || sc->end != raw.n)
		return false;
	return f[ENTRY_ID].type == JSON_STRING && f[ENTRY_ID].len > 2 &&
	       (f[ENTRY_PARENT].type == JSON_NONE || f[ENTRY_PARENT].type == JSON_NULL ||
		       f[ENTRY_PARENT].type == JSON_STRING) &&
	       f[ENTRY_ROLE].type == JSON_STRING && f[ENTRY_CONTENT].type == JSON_STRING &&
	       json_int64(json_raw(raw.p, &f[ENTRY_TIME]), &time);
}

static bool parse_checkout(
	struct reflog *r, const char *p, const struct json_field *f, struct reflog_line *out)
{
	if (f[K_TIP].type != JSON_STRING || !json_uint64(json_raw(p, &f[K_ENTRIES]), &out->entries))
		return false;
	out->op = REFLOG_CHECKOUT;
	out->entry = take_string(r, json_raw(p, &f[K_TIP]));
	if (f[K_FROM].type == JSON_STRING)
		out->from = take_string(r, json_raw(p, &f[K_FROM]));
	return true;
}

static bool parse_label(
	struct reflog *r, const char *p, const struct json_field *f, struct reflog_line *out)
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
	if (!reflog_entry_is_good(object, &entry))
		return false;
	out->op = REFLOG_APPEND;
	out->entry = take_string(r, json_raw(object.p, &entry.field[ENTRY_ID]));
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
		else if (!line.too_long && parse_line(r, place, &line)) {
			f->committed = end;
			f->has_line = true;
		}
	}
}

/*
 * A file without one good line is none of bough's, and nothing is ever written
 * into it - unless it is the beginning of a first line that a crash cut off.
 */
static bool is_foreign(const struct reflog_file *f, struct log_reader *in)
{
	static const char begins[] = "{\"v\":1,\"op\":\"";
	char head[sizeof(begins)];
	size_t got = 0, n = strlen(begins);

	if (f->has_line || f->is_cut || f->committed == f->id.size)
		return false;
	if (log_pread(in, 0, head, n, &got, NULL) < 0)
		return true;
	return memcmp(head, begins, got) != 0;
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
	f->is_cut = f->has_line = false;
	if (!f->path)
		return;
	if (log_stat_beside(f->path, &f->id, &err) == 0 && f->id.exists &&
		log_reader_open_beside(&in, f->path, &err) == 0) {
		f->id = *log_reader_id(in);
		read_lines(r, place, in, &err);
		if (!err.code && is_foreign(f, in))
			err_set(&err, ERR_CORRUPT,
				"%s has no line of a reflog: it is another file, and left alone",
				f->path);
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
	reflog_find_state(r, false);
	read_file(r, REFLOG_BESIDE);
	split = r->n;
	read_file(r, REFLOG_STATE);
	if (split > 0 && split < r->n)
		merge_places(r, split);
}

bool reflog_changed(struct reflog *r)
{
	reflog_find_state(r, false);
	for (int i = 0; i < REFLOG_PLACES; i++) {
		struct log_id now = { 0 };

		if (!r->file[i].path)
			continue;
		/* what can not be looked at is read, so that this is said: once */
		if (log_stat_beside(r->file[i].path, &now, NULL) < 0
				? !r->file[i].unreadable
				: log_id_differs(&r->file[i].id, &now))
			return true;
	}
	return false;
}

void reflog_update(struct reflog *r)
{
	bool again = reflog_changed(r);

	for (int i = 0; i < REFLOG_PLACES; i++)
		again = again || r->file[i].unreadable; /* it may have been for a moment */
	if (again)
		reflog_read(r);
}

int reflog_entry_bytes(const struct reflog *r, size_t i, struct buf *out, struct err *err)
{
	const struct reflog_raw *raw = &r->raw[i];
	const char *path = r->file[raw->place].path;
	struct log_reader *in = NULL;
	struct json_scan sc;
	size_t got = 0, start = out->n;
	int rc;

	rc = log_reader_open_beside(&in, path, err);
	if (rc < 0)
		goto out;
	buf_reserve(out, raw->len);
	rc = log_pread(in, raw->off, out->p + start, raw->len, &got, err);
	if (rc < 0)
		goto out;
	if (got != raw->len || !reflog_entry_is_good((struct str){ out->p + start, got }, &sc)) {
		rc = err_set(err, ERR_CHANGED, "%s: the line of a lost entry changed", path);
		goto out;
	}
	out->n += got;
	out->p[out->n] = '\0';
out:
	log_reader_close(&in);
	return rc;
}
