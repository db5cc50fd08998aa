/*
 * brief.c - what a list can tell of a session from its first line alone: when
 * it was made, which session it came from, and whether the line is a header.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <string.h>

enum { HEAD = 4096, HEAD_MAX = 1 << 20 };

static int raw_head(const char *path, struct buf *text, struct err *err)
{
	struct log_reader *r;
	struct log_line line;
	size_t got = 0;
	int rc = log_reader_open(&r, path, err);

	if (rc < 0)
		return rc;
	buf_reserve(text, HEAD);
	rc = log_pread(r, 0, text->p, HEAD, &got, err);
	if (rc == 0)
		text->n = got;
	if (rc == 0 && got == HEAD && !memchr(text->p, '\n', got)) { /* a long line */
		log_set_pause(r, HEAD_MAX);
		rc = log_next_line(r, &line, err);
		buf_clear(text);
		if (rc == 1 && line.ended)
			buf_add(text, line.p, line.n + 1);
		rc = rc < 0 ? rc : 0;
	}
	log_reader_close(&r);
	return rc;
}

/* The name says where to look; bytes that are the other kind's are read as what they are. */
static int read_head(const char *path, bool *is_zstd, struct buf *text, struct err *err)
{
	struct err e = { 0 };
	int rc;

	*is_zstd = dsh_name_is_zstd(path);
	rc = *is_zstd ? log_frames_head(path, HEAD_MAX, text, &e) : raw_head(path, text, &e);
	if (*is_zstd ? rc != ERR_CORRUPT : rc < 0 || !text_is_zstd(path, text->p, text->n))
		return rc < 0 ? err_hand_over(err, &e) : 0;
	buf_clear(text);
	if (!*is_zstd) {
		*is_zstd = true;
		return log_frames_head(path, HEAD_MAX, text, err);
	}
	rc = raw_head(path, text, err);
	if (rc == 0 && text_is_zstd(path, text->p, text->n))
		return err_hand_over(err, &e);
	*is_zstd = false;
	return rc;
}

static void tell(const struct dsh_header *h, struct session_brief *out)
{
	static const char *const keys[] = { "createdAt", "parentSession" };
	struct str found[2];
	int64_t created;

	json_pick((struct str){ h->text.p, h->text.n }, keys, 2, found);
	if (num_safe(found[0], &created))
		out->first_time = created;
	if (json_type_of(found[1]) == JSON_STRING)
		json_string(found[1], &out->parent, SIZE_MAX);
}

int dsh_brief(const char *path, struct session_brief *out, struct err *err)
{
	struct dsh_header h = { 0 };
	struct buf text = { 0 };
	const char *nl;
	bool is_zstd;
	int rc = read_head(path, &is_zstd, &text, err);

	nl = rc == 0 && text.n ? memchr(text.p, '\n', text.n) : NULL;
	if (rc < 0 && rc != ERR_TORN && rc != ERR_CORRUPT)
		goto out;
	rc = 0;
	if (nl)
		header_parse(&h, text.p, (size_t)(nl - text.p));
	out->nproblems = !nl || h.why || is_zstd != dsh_name_is_zstd(path) ||
			 dsh_check_place(NULL, path, &h);
	if (nl)
		tell(&h, out);
out:
	header_release(&h);
	buf_release(&text);
	return rc;
}
