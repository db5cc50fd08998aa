/*
 * text.c - the text of a log behind one set of calls, whether it is stored raw
 * or as zstd frames. Which it is the first bytes say; the name is only asked
 * where they say nothing.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <string.h>

#include "base/path.h"

enum { READ_MAX = LOG_MAX_LINE, MAGIC = 4 };

bool dsh_name_is_zstd(const char *path)
{
	size_t n = strlen(path);

	return n > 5 && strcmp(path + n - 5, ".zstd") == 0;
}

bool text_is_zstd(const char *path, const char *head, size_t n)
{
	if (n >= MAGIC && memcmp(head, "\x28\xB5\x2F\xFD", MAGIC) == 0)
		return true;
	/* a frame that is damaged where it begins is no object for that */
	return dsh_name_is_zstd(path) && !(n >= 2 && head[0] == '{' && head[1] == '"');
}

bool dsh_is_stored(const char *path, bool is_zstd)
{
	struct dsh_text t;
	bool is = text_open(&t, path, NULL) == 0 && (t.zstd != NULL) == is_zstd;

	text_close(&t);
	return is && dsh_name_is_zstd(path) == is_zstd;
}

int text_open(struct dsh_text *t, const char *path, struct err *err)
{
	char head[MAGIC];
	size_t got = 0;
	int rc;

	*t = (struct dsh_text){ 0 };
	rc = log_reader_open(&t->raw, path, err);
	if (rc == 0)
		rc = log_pread(t->raw, 0, head, sizeof(head), &got, err);
	if (rc == 0 && text_is_zstd(path, head, got)) {
		log_reader_close(&t->raw);
		rc = log_frames_open(&t->zstd, path, NULL, err);
	}
	if (rc < 0)
		text_close(t);
	return rc;
}

void text_close(struct dsh_text *t)
{
	log_reader_close(&t->raw);
	log_frames_close(&t->zstd);
}

struct log_reader *text_reader(const struct dsh_text *t)
{
	return t->zstd ? log_frames_reader(t->zstd) : t->raw;
}

int text_next_line(struct dsh_text *t, struct log_line *line, bool *after_damage, struct err *err)
{
	*after_damage = false;
	return t->zstd ? log_frames_next_line(t->zstd, line, after_damage, err)
		       : log_next_line(t->raw, line, err);
}

void text_set_pause(struct dsh_text *t, size_t bytes)
{
	if (t->zstd)
		log_frames_set_pause(t->zstd, bytes);
	else
		log_set_pause(t->raw, bytes);
}

uint64_t text_work(const struct dsh_text *t)
{
	return t->zstd ? log_frames_work(t->zstd) : log_work(t->raw);
}

const struct log_id *text_id(const struct dsh_text *t)
{
	return t->zstd ? log_frames_id(t->zstd) : log_reader_id(t->raw);
}

int text_read(struct dsh_text *t, uint64_t off, size_t n, struct buf *out, struct err *err)
{
	size_t got;
	int rc;

	if (n > READ_MAX)
		return err_set(err, ERR_LIMIT, "a record of %zu bytes", n);
	buf_reserve(out, n + 1);
	rc = t->zstd ? log_frames_pread(t->zstd, off, out->p + out->n, n, &got, err)
		     : log_pread(t->raw, off, out->p + out->n, n, &got, err);
	if (rc < 0)
		return rc;
	if (got < n)
		return err_set(err, ERR_CHANGED, "the log is not what it was when it was read");
	out->n += n;
	out->p[out->n] = '\0';
	return 0;
}

uint64_t text_place(const struct dsh_text *t, uint64_t off)
{
	const struct log_frame *v;
	size_t n, lo = 0;

	if (!t->zstd)
		return off;
	v = log_frames_index(t->zstd, &n);
	while (n - lo > 1) {
		size_t mid = lo + (n - lo) / 2;

		if (v[mid].text_off <= off)
			lo = mid;
		else
			n = mid;
	}
	return lo < n ? v[lo].off : 0;
}
