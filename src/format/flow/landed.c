/*
 * landed.c - landed files (sd/1): whether a file is whole, and its records by
 * row. Which files there are says landed-list.c.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/xalloc.h"

enum { OPEN_FILES = 8 };

static const char end_mark[] = "{\"t\":\"end";

/* An open file and where its lines begin. */
struct open_file {
	uint64_t seq, used;
	struct log_reader *r;
	uint64_t *off;          /* nlines + 1 places */
	size_t nlines, cap;
};

struct flow_landed {
	struct flow_landed_list list;
	struct open_file open[OPEN_FILES];
	uint64_t clock;
};

static struct flow_landed *landed_of(struct flow_conversation *c)
{
	if (!c->landed) {
		const struct flow_header *head = flow_head(c);

		c->landed = xcalloc(1, sizeof(*c->landed));
		if (head)
			flow_landed_list(&c->landed->list, c->root, head->session_s);
	}
	return c->landed;
}

const struct flow_landed_file *flow_landed_files(struct flow_conversation *c, size_t *n)
{
	struct flow_landed *l = landed_of(c);

	*n = l->list.n;
	return l->list.v;
}

bool flow_landed_is_body(const struct flow_landed_file *f)
{
	char *folder = path_dir(f->path);
	bool is_body = strcmp(path_base(folder), "provider_body") == 0;

	free(folder);
	return is_body;
}

/* ---- is a file whole? ---- */

static bool is_word(struct str object, const char *key)
{
	struct str raw = json_get(object, key);

	return json_type_of(raw) == JSON_STRING && raw.n > 2;
}

bool flow_is_record(struct str line)
{
	struct json_scan sc;

	if (json_scan_lenient(line.p, line.n, NULL, 0, &sc) != JSON_OK || line.p[sc.start] != '{')
		return false;
	for (size_t i = sc.end; i < line.n; i++)
		if (line.p[i] != ' ' && line.p[i] != '\t' && line.p[i] != '\r')
			return false;
	return true;
}

static bool is_header(struct str line, uint64_t *seq)
{
	uint64_t h = 0;

	return flow_is_record(line) && json_uint64(json_get(line, "h"), &h) && h == 1 &&
		json_string_eq(json_get(line, "schema"), "sd/1") && is_word(line, "kind") &&
		is_word(line, "session") && is_word(line, "src") && is_word(line, "dialect") &&
		json_uint64(json_get(line, "seq"), seq);
}

struct check {
	struct flow_sha sha;
	uint64_t lines, seq;
	bool has_header, is_end; /* is_end: the newest line closes the file */
	bool has_digest, has_count;
	struct log_line last;
};

static void check_line(struct check *k, const struct log_line *line)
{
	struct str s = { line->p, line->n };
	char hex[65];

	if (k->lines++ == 0)
		k->has_header = !line->too_long && is_header(s, &k->seq);
	k->last = *line;
	k->is_end = !line->too_long && str_starts(s, end_mark) && flow_is_record(s);
	if (k->is_end) {
		uint64_t records = 0;

		flow_sha_peek(&k->sha, hex);
		k->has_digest = json_string_eq(json_get(s, "digest"), hex);
		k->has_count = json_uint64(json_get(s, "records"), &records) && k->lines >= 2 &&
			records == k->lines - 2;
	}
	if (!line->too_long)
		flow_sha_add(&k->sha, line->p, line->n + line->ended);
}

static void judge(const struct check *k, const struct flow_landed_file *f, struct flow_fault *fault)
{
	const char *name = path_base(f->path);

	if (!k->has_header)
		flow_fault_set(fault, "sd-header", 1, 0, "%s has no header of sd/1", name);
	else if (!k->is_end)
		flow_fault_set(fault, "sd-no-end", k->last.number, k->last.off,
			"%s has no closing line", name);
	else if (!k->has_digest)
		flow_fault_set(fault, "sd-digest", k->last.number, k->last.off,
			"%s is not what its digest says", name);
	else if (!k->has_count)
		flow_fault_set(fault, "sd-count", k->last.number, k->last.off,
			"%s does not hold the records that its closing line counts", name);
	else if (k->seq != f->seq)
		flow_fault_set(fault, "sd-seq", 1, 0, "%s is sequence %" PRIu64 " by its header",
			name, k->seq);
}

int flow_landed_check(
	const struct flow_landed_file *f, char hex[65], struct flow_fault *fault, struct err *err)
{
	struct check k = { .lines = 0 };
	struct log_reader *r = NULL;
	struct log_line line;
	int rc = log_reader_open(&r, f->path, err);

	*fault = (struct flow_fault){ 0 };
	if (rc < 0)
		return rc;
	flow_sha_begin(&k.sha);
	while ((rc = log_next_line(r, &line, err)) == 1)
		check_line(&k, &line);
	flow_sha_end(&k.sha, hex);
	log_reader_close(&r);
	if (rc == 0)
		judge(&k, f, fault);
	return rc;
}

/* ---- records ---- */

static void close_file(struct open_file *o)
{
	log_reader_close(&o->r);
	free(o->off);
	*o = (struct open_file){ 0 };
}

void flow_landed_free(struct flow_landed **lp)
{
	struct flow_landed *l = *lp;

	if (!l)
		return;
	for (int i = 0; i < OPEN_FILES; i++)
		close_file(&l->open[i]);
	flow_landed_list_free(&l->list);
	free(l);
	*lp = NULL;
}

static int index_file(struct open_file *o, const struct flow_landed_file *f, struct err *err)
{
	struct log_line line;
	struct err why = { 0 };
	int rc = log_reader_open(&o->r, f->path, &why);

	if (rc < 0)
		return err_set(err, rc, "cannot read: %s", why.text);
	o->seq = f->seq;
	while ((rc = log_next_line(o->r, &line, &why)) == 1) {
		o->off = xgrow(o->off, &o->cap, o->nlines + 2, sizeof(*o->off));
		o->off[o->nlines++] = line.off;
		o->off[o->nlines] = line.off + line.n + line.ended;
	}
	if (rc < 0)
		close_file(o);
	return rc < 0 ? err_set(err, rc, "cannot read: %s", why.text) : rc;
}

/* The file open and indexed; the one that was used longest ago makes room. */
static int open_landed(
	struct flow_conversation *c, uint64_t seq, struct open_file **out, struct err *err)
{
	struct flow_landed *l = landed_of(c);
	const struct flow_landed_file *f;
	struct open_file *o = &l->open[0];

	for (int i = 0; i < OPEN_FILES; i++) {
		if (l->open[i].r && l->open[i].seq == seq)
			o = &l->open[i];
		else if (l->open[i].used < o->used && !(o->r && o->seq == seq))
			o = &l->open[i];
	}
	o->used = ++l->clock;
	*out = o;
	if (o->r && o->seq == seq)
		return 0;
	f = flow_landed_find(&l->list, seq);
	if (!f && l->list.nblocked)
		return err_set(err, ERR_IO, "cannot look for sequence %" PRIu64 ": %s", seq,
			l->list.blocked[0].text);
	if (!f)
		return err_set(err, ERR_NOTFOUND, "missing: sequence %" PRIu64, seq);
	close_file(o);
	o->used = l->clock;
	return index_file(o, f, err);
}

int flow_record(
	struct flow_conversation *c, uint64_t seq, uint64_t row, struct buf *out, struct err *err)
{
	struct open_file *o;
	size_t n, got = 0, at = out->n;
	int rc = open_landed(c, seq, &o, err);

	if (rc < 0)
		return rc;
	if (row == 0 || row >= o->nlines)
		return err_set(err, ERR_NOTFOUND,
			"missing: record %" PRIu64 " of sequence %" PRIu64, row, seq);
	n = (size_t)(o->off[row + 1] - o->off[row]);
	if (n > LOG_MAX_LINE)
		return err_set(err, ERR_LIMIT,
			"record %" PRIu64 " of sequence %" PRIu64 " has %zu bytes", row, seq, n);
	buf_reserve(out, n);
	rc = log_pread(o->r, o->off[row], out->p + out->n, n, &got, err);
	if (rc < 0)
		return rc;
	out->n += got;
	if (out->n > at && out->p[out->n - 1] == '\n')
		out->n--;
	if (got < n || str_starts((struct str){ out->p + at, out->n - at }, end_mark) ||
		!flow_is_record((struct str){ out->p + at, out->n - at })) {
		out->n = at;
		return err_set(err, ERR_NOTFOUND,
			"damaged: record %" PRIu64 " of sequence %" PRIu64, row, seq);
	}
	return 0;
}

int flow_record_slice(
	struct flow_conversation *c, const struct flow_slice *s, struct buf *out, struct err *err)
{
	struct open_file *o;
	size_t got = 0;
	uint64_t whole;
	int rc = open_landed(c, s->place.seq, &o, err);

	if (rc < 0)
		return rc;
	whole = s->place.row < o->nlines ? o->off[s->place.row + 1] - o->off[s->place.row] : 0;
	if (s->off > whole || s->n > whole - s->off)
		return err_set(
			err, ERR_CHANGED, "sequence %" PRIu64 " is not what it was", s->place.seq);
	buf_reserve(out, s->n);
	rc = log_pread(o->r, o->off[s->place.row] + s->off, out->p + out->n, s->n, &got, err);
	if (rc == 0)
		out->n += got;
	return rc;
}
