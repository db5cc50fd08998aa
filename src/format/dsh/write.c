/*
 * write.c - what is written into dsh logs, as text: the batch that a repair
 * appends, and the header and events of a fork. It reads the session and
 * writes no file; the store does, through the log.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <inttypes.h>
#include <string.h>

/* Text of one frame of a copy, about: a small one is decoded in one piece. */
enum { BATCH_TEXT = 2 << 20 };

static void repack_lines(struct dsh_repack *rp, struct str lines)
{
	while (lines.n) {
		const char *nl = memchr(lines.p, '\n', lines.n);
		size_t n = nl ? (size_t)(nl - lines.p) : lines.n;

		dsh_repack_event(rp, (struct str){ lines.p, n });
		n += nl != NULL;
		lines.p += n;
		lines.n -= n;
	}
}

/* ---- repair ---- */

int dsh_repair_text(struct session *s, struct buf *out, uint64_t *nevents, struct err *err)
{
	struct dsh_src *src = s->src;
	struct dsh_repack rp;
	struct buf lines = { 0 };
	int rc = 0;

	*nevents = src->nrecovered + src->nclosers;
	dsh_repack_init(&rp, out, src->has_ranges);
	for (uint32_t i = 0; rc == 0 && i < src->n; i++) {
		if (!(src->items[i].flags & ITEM_RECOVERED))
			continue;
		buf_clear(&lines);
		rc = item_stored_events(s, i, &lines, err);
		if (rc == 0)
			repack_lines(&rp, (struct str){ lines.p, lines.n });
	}
	if (rc == 0)
		repack_lines(&rp, (struct str){ src->closers.p, src->closers.n });
	dsh_repack_end(&rp);
	dsh_repack_release(&rp);
	buf_release(&lines);
	return rc;
}

bool dsh_is_end_damaged(const struct session *s)
{
	const struct dsh_src *src = s->src;
	struct log_frames_end end;
	const struct log_frame *v;
	size_t n;

	if (!src->text.zstd || !src->has_header || src->header.why || src->issue.is_set ||
		!src->is_only_end_bad)
		return false;
	log_frames_end(src->text.zstd, &end);
	v = log_frames_index(src->text.zstd, &n);
	return end.state == FRAMES_CORRUPT && !end.gave_up && n > 0 && v[n - 1].off < end.off &&
	       end.off == end.committed && end.off + end.length == s->size;
}

void dsh_salvage_text(struct session *s, struct buf *out, uint64_t *nevents)
{
	struct dsh_src *src = s->src;

	*nevents = balance_closers(&src->balance, src->next_seq, out);
}

/* ---- where a fork may be cut ---- */

uint64_t dsh_stored_count(const struct session *s)
{
	const struct dsh_src *src = s->src;

	return src->next_seq - src->nrecovered;
}

/* Turn by turn: is one open behind event `seq`? */
static bool is_open_behind(const struct dsh_src *src, uint64_t seq)
{
	bool is_open = false;

	for (uint32_t i = 0; i < src->n && src->items[i].seq <= seq; i++) {
		if (src->items[i].type == T_TURN_START)
			is_open = true;
		else if (src->items[i].type == T_TURN_END)
			is_open = false;
	}
	return is_open;
}

/* The end of the turn that `seq` lies in, or `seq` itself behind the last one; UINT64_MAX: none. */
static uint64_t turn_end(const struct dsh_src *src, uint64_t seq, uint64_t count)
{
	for (uint32_t i = 0; i < src->n && src->items[i].seq < count; i++)
		if (src->items[i].seq >= seq && src->items[i].type == T_TURN_END)
			return src->items[i].seq;
	return is_open_behind(src, seq) ? UINT64_MAX : seq;
}

/* On over what belongs to no turn, so that a title comes along. */
static uint64_t extend(const struct dsh_src *src, uint64_t seq, uint64_t count)
{
	for (uint32_t i = 0; i < src->n && src->items[i].seq < count; i++)
		if (src->items[i].seq > seq && src->items[i].type == T_TURN_START)
			return src->items[i].seq - 1u;
	return count - 1;
}

int dsh_fork_point(
	const struct session *s, uint64_t chosen, bool is_exact, uint64_t *last, struct err *err)
{
	const struct dsh_src *src = s->src;
	uint64_t count = dsh_stored_count(s);

	if (chosen >= src->next_seq + src->nclosers)
		return err_set(err, ERR_NOTFOUND,
			"there is no event %" PRIu64 ": the log has %" PRIu64, chosen, count);
	if (chosen >= count)
		return err_set(err, ERR_NOTFOUND,
			"event %" PRIu64 " is not in the log: a repair would add it; fork at an "
			"earlier turn",
			chosen);
	if (is_exact) {
		*last = chosen;
		if (is_open_behind(src, chosen))
			return err_set(err, ERR_UNSUPPORTED,
				"event %" PRIu64 " lies in an open turn: the cut must be at "
				"a turn's end or behind it",
				chosen);
		return 0;
	}
	*last = turn_end(src, chosen, count);
	if (*last == UINT64_MAX)
		return err_set(err, ERR_UNSUPPORTED,
			"event %" PRIu64 " lies in the last turn, which is still open: "
			"wait until it ends, or fork at an earlier turn",
			chosen);
	*last = extend(src, *last, count);
	return 0;
}

/* ---- a fork's text ---- */

void dsh_fork_header(
	const struct session *s, const char *id, int64_t now, uint64_t seed, struct buf *out)
{
	const struct dsh_src *src = s->src;
	struct str parent = { src->header.text.p, src->header.text.n };
	struct str preset = json_get(parent, "agentPreset");

	buf_printf(out, "{\"type\":\"session\",\"version\":0,\"id\":\"%s\",\"createdAt\":%" PRId64,
		id, now);
	if (src->header.cwd.n) {
		json_put_key(out, "cwd");
		buf_add(out, src->header.cwd.p, src->header.cwd.n);
	}
	json_put_key(out, "parentSession");
	buf_add(out, src->header.id.p, src->header.id.n);
	buf_printf(out, ",\"seedLength\":%" PRIu64 ",\"delegationDepth\":0", seed);
	if (preset.n) {
		json_put_key(out, "agentPreset");
		buf_addstr(out, preset);
	}
	buf_adds(out, "}\n");
}

/* Of the events of one item those up to `last`. */
static void cut_lines(struct buf *lines, uint64_t first, uint64_t last)
{
	const char *p = lines->p, *end = p + lines->n;

	while (p < end && first <= last) {
		p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
		first++;
	}
	lines->n = (size_t)(p - lines->p);
}

static int give_batch(
	struct dsh_repack *rp, struct buf *batch, dsh_batch_fn *fn, void *arg, struct err *err)
{
	int rc = 0;

	dsh_repack_end(rp);
	if (batch->n)
		rc = fn((struct str){ batch->p, batch->n }, arg, err);
	buf_clear(batch);
	return rc;
}

int dsh_fork_events(
	struct session *s, uint64_t last, int64_t now, dsh_batch_fn *fn, void *arg, struct err *err)
{
	struct dsh_src *src = s->src;
	struct buf lines = { 0 }, batch = { 0 };
	struct dsh_repack rp;
	int rc = 0;

	dsh_repack_init(&rp, &batch, src->has_ranges);
	for (uint32_t i = 0; rc == 0 && i < src->n && src->items[i].seq <= last; i++) {
		buf_clear(&lines);
		rc = item_stored_events(s, i, &lines, err);
		if (rc < 0)
			break;
		cut_lines(&lines, src->items[i].seq, last);
		repack_lines(&rp, (struct str){ lines.p, lines.n });
		if (batch.n >= BATCH_TEXT)
			rc = give_batch(&rp, &batch, fn, arg, err);
	}
	if (rc == 0) {
		dsh_repack_end(&rp);
		buf_printf(&batch,
			"{\"type\":\"session/end-seed\",\"seq\":%" PRIu64 ",\"time\":%" PRId64
			",\"data\":{}}\n",
			last + 1, now);
		rc = give_batch(&rp, &batch, fn, arg, err);
	}
	dsh_repack_release(&rp);
	buf_release(&lines);
	buf_release(&batch);
	return rc;
}

/* ---- what may be written at all ---- */

const char *dsh_copy_refusal(const struct session *s)
{
	const struct dsh_src *src = s->src;

	if (!src->has_header)
		return "it holds no whole header line";
	if (src->header.why)
		return src->header.why;
	if (src->lenient)
		return "it is damaged";
	return s->is_torn ? "its end is torn; repair it first" : NULL;
}

/* ---- the same text in two encodings ---- */

/* The next whole line: 1, at the end 0; damage is no end. */
static int next_whole(struct dsh_text *t, struct log_line *line, const char *path, struct err *err)
{
	struct log_frames_end end = { .state = FRAMES_WHOLE };
	bool after_damage = false;
	int rc = text_next_line(t, line, &after_damage, err);

	if (rc == 0 && t->zstd)
		log_frames_end(t->zstd, &end);
	if (rc < 0)
		return rc;
	if (end.state != FRAMES_WHOLE || (rc == 1 && (!line->ended || line->too_long)) ||
		after_damage)
		return err_set(err, ERR_CORRUPT, "%s does not end in whole records", path);
	return rc;
}

int dsh_compare(const char *a_path, const char *b_path, uint64_t *nlines, struct err *err)
{
	struct dsh_text a = { 0 }, b = { 0 };
	struct log_line x, y;
	int rc = text_open(&a, a_path, err), more = 1;

	*nlines = 0;
	if (rc == 0)
		rc = text_open(&b, b_path, err);
	while (rc == 0 && more) {
		more = next_whole(&a, &x, a_path, err);
		rc = next_whole(&b, &y, b_path, err);
		if (more < 0 || rc < 0) {
			rc = more < 0 ? more : rc;
			break;
		}
		if (rc != more || (more && (x.n != y.n || memcmp(x.p, y.p, x.n) != 0)))
			rc = err_set(err, ERR_CORRUPT, "%s and %s differ in line %" PRIu64, a_path,
				b_path, *nlines + 1);
		else
			rc = 0;
		*nlines += rc == 0 && more;
	}
	text_close(&a);
	text_close(&b);
	return rc;
}
