/*
 * record.c - the bytes of an entry from the file, no more of them than are
 * needed: ids, whole records, and the parts of records too large to be read
 * for one row of a screen.
 */
#include "config.h"

#include "format/tree/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "json/value.h"

enum {
	TAIL_BYTES = 8 << 10,   /* of a large record are searched for its metadata */
	CHUNK_BYTES = 64 << 10  /* of a large content are read at once */
};

static int changed(struct err *err)
{
	return err_set(err, ERR_CHANGED, "the file is not the one that was read");
}

static int check(struct session *s, uint32_t entry, struct err *err)
{
	const struct tree_src *src = s->src;

	if (entry >= s->n || (s->entries[entry].flags & ENTRY_DERIVED))
		return err_set(err, ERR_NOTFOUND, "the entry is not in the file");
	return src->is_stale ? changed(err) : 0;
}

/* ---- bytes ---- */

int tree_bytes(struct session *s, uint64_t off, size_t n, const char **p, struct err *err)
{
	struct tree_src *src = s->src;
	int rc;

	if (off < src->window_off || off + n > src->window_off + src->window_n) {
		if (!src->window)
			src->window = xmalloc(TREE_WINDOW);
		src->window_off = off;
		src->window_n = 0;
		rc = log_pread(src->reader, off, src->window, TREE_WINDOW, &src->window_n, err);
		if (rc < 0)
			return rc;
		if (src->window_n < n)
			return changed(err);
	}
	*p = src->window + (off - src->window_off);
	return 0;
}

int tree_read(struct session *s, uint64_t off, size_t n, struct buf *out, struct err *err)
{
	const struct tree_src *src = s->src;
	size_t got = 0;
	int rc;

	buf_reserve(out, n);
	rc = log_pread(src->reader, off, out->p + out->n, n, &got, err);
	if (rc < 0)
		return rc;
	if (got < n)
		return changed(err);
	out->n += n;
	out->p[out->n] = '\0';
	return 0;
}

int tree_op_peek(struct session *s, uint64_t off, void *p, size_t n, size_t *got, struct err *err)
{
	const struct tree_src *src = s->src;

	return log_pread(src->reader, off, p, n, got, err);
}

int tree_op_record(struct session *s, uint32_t entry, struct buf *out, struct err *err)
{
	int rc = check(s, entry, err);

	if (rc < 0)
		return rc;
	return tree_read(s, s->entries[entry].off, s->entries[entry].len, out, err);
}

/* ---- records ---- */

/* Makes the record whole, whatever its size. */
static int read_whole(struct session *s, uint32_t entry, struct tree_record *rec, struct err *err)
{
	const struct entry *e = &s->entries[entry];
	int rc;

	if (e->len <= TREE_WINDOW) {
		rc = tree_bytes(s, e->off, e->len, &rec->p, err);
	} else {
		buf_clear(&rec->own);
		rc = tree_read(s, e->off, e->len, &rec->own, err);
		rec->p = rec->own.p;
	}
	if (rc < 0)
		return rc;
	rec->n = e->len;
	if (json_scan(rec->p, rec->n, tree_keys, KEY_COUNT, &rec->scan) != JSON_OK ||
		rec->scan.field[KEY_CONTENT].type != JSON_STRING)
		return changed(err);
	rec->is_whole = true;
	if (rec->scan.field[KEY_METADATA].type == JSON_OBJECT)
		rec->metadata = json_raw(rec->p, &rec->scan.field[KEY_METADATA]);
	return 0;
}

int tree_record_open(struct session *s, uint32_t entry, size_t max, struct tree_record *rec,
	struct err *err)
{
	int rc;

	*rec = (struct tree_record){ 0 };
	rc = check(s, entry, err);
	if (rc < 0)
		return rc;
	/* Without its place the content can only be found in the whole. */
	if (s->entries[entry].len <= max || !s->entries[entry].spare)
		return read_whole(s, entry, rec, err);
	return 0;
}

void tree_record_keep(struct tree_record *rec)
{
	size_t metadata_at = rec->metadata.n ? (size_t)(rec->metadata.p - rec->p) : 0;

	if (!rec->is_whole || rec->p == rec->own.p)
		return;
	buf_add(&rec->own, rec->p, rec->n);
	rec->p = rec->own.p;
	if (rec->metadata.n)
		rec->metadata.p = rec->p + metadata_at;
}

void tree_record_release(struct tree_record *rec)
{
	buf_release(&rec->own);
	buf_release(&rec->tail);
	*rec = (struct tree_record){ 0 };
}

/* The last `"name"` in p[0..n), or NULL. */
static const char *find_last(const char *p, size_t n, const char *name)
{
	size_t len = strlen(name);
	const char *found = NULL, *end = p + n;

	while ((p = memmem(p, (size_t)(end - p), name, len))) {
		found = p;
		p += len;
	}
	return found;
}

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
		p++;
	return p;
}

/*
 * The metadata of a large record without reading all of it. Writers put them
 * last. `,"metadata"` can not stand inside a string, where the quotes would be
 * escaped; and when nothing but the closing brace of the record follows its
 * value it is a member of the record itself, and the last one.
 */
static bool metadata_in_tail(const char *p, size_t n, struct str *out)
{
	const char *end = p + n, *at = find_last(p, n, ",\"metadata\"");
	struct json_scan scan;

	if (!at)
		return false;
	at = skip_space(at + strlen(",\"metadata\""), end);
	if (at == end || *at++ != ':')
		return false;
	at = skip_space(at, end);
	if (json_scan(at, (size_t)(end - at), NULL, 0, &scan) != JSON_OK)
		return false;
	*out = (struct str){ at, scan.end };
	at = skip_space(at + scan.end, end);
	return at + 1 == end && *at == '}';
}

int tree_record_metadata(struct session *s, uint32_t entry, size_t max, struct tree_record *rec,
	struct err *err)
{
	const struct entry *e = &s->entries[entry];
	size_t n = e->len < TAIL_BYTES ? e->len : TAIL_BYTES;
	struct str found;
	int rc;

	if (rec->is_whole || !(e->flags & ENTRY_HAS_META))
		return 0;
	buf_clear(&rec->tail);
	rc = tree_read(s, e->off + e->len - n, n, &rec->tail, err);
	if (rc < 0)
		return rc;
	if (metadata_in_tail(rec->tail.p, rec->tail.n, &found))
		rec->metadata = found;
	else if (e->len <= max)
		return read_whole(s, entry, rec, err);
	return 0;
}

struct str tree_metadata_get(const struct tree_record *rec, const char *key)
{
	return rec->metadata.n ? json_get(rec->metadata, key) : (struct str){ 0 };
}

/* ---- ids ---- */

int tree_op_id(struct session *s, uint32_t entry, struct buf *out, struct err *err)
{
	const struct entry *e;
	struct tree_record rec = { 0 };
	const char *p;
	int rc = check(s, entry, err);

	if (rc < 0)
		return rc;
	e = &s->entries[entry];
	if (!(e->flags & ENTRY_ID_SLOW)) {
		rc = tree_bytes(s, e->off + e->id_off, e->id_len, &p, err);
		if (rc == 0)
			buf_add(out, p, e->id_len);
		return rc;
	}
	rc = tree_record_open(s, entry, SIZE_MAX, &rec, err);
	if (rc == 0)
		json_string(json_raw(rec.p, &rec.scan.field[KEY_ID]), out, SIZE_MAX);
	tree_record_release(&rec);
	return rc;
}

/* ---- content ---- */

/* Length of the raw content string, its quotes included, by looking for its end. */
static int content_length(struct session *s, uint64_t off, uint64_t most, uint64_t *length,
	struct err *err)
{
	struct buf chunk = { 0 };
	uint64_t at = 1;
	bool is_escaped = false;
	int rc = 0;

	while (at < most) {
		size_t n = most - at < CHUNK_BYTES ? (size_t)(most - at) : CHUNK_BYTES;

		buf_clear(&chunk);
		rc = tree_read(s, off + at, n, &chunk, err);
		if (rc < 0)
			goto out;
		for (size_t i = 0; i < n; i++) {
			if (is_escaped)
				is_escaped = false;
			else if (chunk.p[i] == '\\')
				is_escaped = true;
			else if (chunk.p[i] == '"') {
				*length = at + i + 1;
				goto out;
			}
		}
		at += n;
	}
	rc = changed(err);
out:
	buf_release(&chunk);
	return rc;
}

/* Decodes a content that stands at `off` and is `length` raw bytes long, chunk by chunk. */
static int decode_large(struct session *s, uint64_t off, uint64_t length, size_t limit,
	struct buf *out, uint64_t *used, struct err *err)
{
	struct buf chunk = { 0 };
	size_t start = out->n;
	int rc = 0;

	for (*used = 1; *used < length;) {
		size_t n = length - *used < CHUNK_BYTES ? (size_t)(length - *used) : CHUNK_BYTES;
		size_t left = limit - (out->n - start), step;

		buf_clear(&chunk);
		rc = tree_read(s, off + *used, n, &chunk, err);
		if (rc < 0)
			break;
		step = json_string_more((struct str){ chunk.p, chunk.n }, out, left);
		*used += step;
		/* Up to 11 bytes of an escape may wait for the next chunk; more are left for want of room. */
		if (step + 11 < n || step == 0)
			break;
	}
	buf_release(&chunk);
	return rc;
}

int tree_content(struct session *s, uint32_t entry, struct tree_record *rec, size_t limit,
	struct buf *out, bool *more, uint64_t *whole, struct err *err)
{
	const struct entry *e = &s->entries[entry];
	uint64_t length = 0, used = 0;
	int rc;

	if (rec->is_whole) {
		struct str raw = json_raw(rec->p, &rec->scan.field[KEY_CONTENT]);

		used = json_string(raw, out, limit);
		length = raw.n;
	} else {
		rc = content_length(s, e->off + e->spare, e->len - e->spare, &length, err);
		if (rc == 0)
			rc = decode_large(s, e->off + e->spare, length, limit, out, &used, err);
		if (rc < 0)
			return rc;
	}
	*more = used < length;
	*whole = length - 2;
	return 0;
}
