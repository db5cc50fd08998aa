/*
 * load.c - a session's life: open, steps, looking again after a change, and
 * the table entry of the format. What the lines say is scan.c's.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"

static struct log_reader *reader(const struct session *s)
{
	return text_reader(&((const struct dsh_src *)s->src)->text);
}

const struct format format_dsh = {
	.name = "dsh",
	.title = "dsh sessions (DeepSeek Harness)",
	.sign = "<project>/<session>/session.jsonl or session.jsonl.zstd",
	.can_write = FORMAT_REPAIR | FORMAT_FORK | FORMAT_REFLOG | FORMAT_CONVERT,
	.detect = dsh_detect,
	.scan = dsh_scan,
	.open = dsh_open,
	.step = dsh_step,
	.refresh = dsh_refresh,
	.file = dsh_file,
	.reader = reader,
	.brief = dsh_brief,
};

void dsh_problem(struct session *s, const char *kind, uint64_t line, uint64_t off, uint64_t len,
	uint32_t entry, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	problem_add(&s->problems, &s->arena, kind, line, off, len, entry, "%s", text.p);
	buf_release(&text);
}

static void free_src(struct session *s)
{
	struct dsh_src *src = s->src;

	text_close(&src->text);
	header_release(&src->header);
	rec_release(&src->rec);
	balance_release(&src->balance);
	surface_release(&src->surface);
	free(src->items);
	buf_release(&src->recovered);
	buf_release(&src->closers);
	buf_release(&src->line);
	free(src);
}

static const struct session_ops dsh_ops = {
	.id = dsh_op_id,
	.preview = dsh_op_preview,
	.content = dsh_op_content,
	.record = dsh_op_record,
	.peek = dsh_op_peek,
	.details = dsh_op_details,
	.events = dsh_op_events,
	.cards = dsh_op_cards,
	.card = dsh_op_card,
	.adopt = dsh_op_adopt,
	.opens = dsh_op_opens,
	.free = free_src,
};

static void set_meta(struct session *s, struct str header, const char *key, const char *as)
{
	struct str raw = json_get(header, key);
	struct buf text = { 0 };

	if (!raw.n || json_type_of(raw) == JSON_NULL)
		return;
	if (json_type_of(raw) == JSON_STRING)
		json_string(raw, &text, SIZE_MAX);
	else
		buf_addstr(&text, raw);
	session_set_meta(s, as, (struct str){ text.p ? text.p : "", text.n });
	buf_release(&text);
}

/* It is read by its contents, so a name that says otherwise is no refusal. */
static void check_name(struct session *s, const struct dsh_header *h)
{
	char number[16];
	unsigned version;
	bool is_zstd;

	if (dsh_is_zstd(s) != dsh_name_is_zstd(s->path))
		dsh_problem(s, "wrong-name", 0, 0, 0, ENTRY_NONE,
			dsh_is_zstd(s) ? "zstd frames under a name without .zstd: convert gives it the right one"
				       : "lines under a name with .zstd: convert gives it the right one");
	if (!h->is_read || !dsh_is_log_name(path_base(s->path), &version, &is_zstd))
		return;
	snprintf(number, sizeof(number), "%u", version);
	if (strcmp(number, *h->version ? h->version : "0") != 0)
		dsh_problem(s, "wrong-name", 0, 0, 0, ENTRY_NONE,
			"the name is that of version %s, the header's is %s", number,
			*h->version ? h->version : "0");
}

static void take_begin(struct session *s)
{
	struct dsh_src *src = s->src;
	struct dsh_header *h = &src->header;
	struct str text;
	const char *why;

	src->has_begun = true;
	text = (struct str){ h->text.p, h->text.n };
	set_meta(s, text, "cwd", "cwd");
	if (json_type_of(json_get(text, "parentSession")) == JSON_STRING) /* any other is no id */
		set_meta(s, text, "parentSession", "parentSessionId");
	set_meta(s, text, "seedLength", "seedLength");
	num_count(json_get(text, "seedLength"), &src->seed);
	set_meta(s, text, "origin", "origin");
	set_meta(s, text, "agentPreset", "agentPreset");
	set_meta(s, text, "delegationDepth", "delegationDepth");
	set_meta(s, text, "version", "version");
	set_meta(s, text, "createdAt", "createdAt");
	check_name(s, h);
	why = dsh_check_place(s, s->path, h);
	if (why && !src->refusal)
		src->refusal = why;
}

/*
 * What the header says, as soon as the session is open: lists show it before
 * the load. A first line that is not found at once is left to the steps.
 */
static int read_header(struct session *s, struct err *err)
{
	struct dsh_src *src = s->src;
	struct log_line line;
	bool after_damage;
	int rc;

	text_set_pause(&src->text, FORMAT_STINT);
	rc = text_next_line(&src->text, &line, &after_damage, err);
	if (rc == 1)
		scan_line(s, &line, after_damage);
	if (rc == 1 || rc == 0)
		take_begin(s);
	return rc < 0 ? rc : 0;
}

int dsh_open(const char *path, struct session **out, struct err *err)
{
	struct dsh_src *src = xcalloc(1, sizeof(*src));
	char *id;
	int rc = text_open(&src->text, path, err);

	*out = NULL;
	if (rc < 0) {
		free(src);
		return rc;
	}
	src->title = src->label = src->stream = NO_ITEM;
	src->torn_start = UINT64_MAX;
	id = dsh_id_of_path(path);
	*out = session_new("dsh", id, path);
	free(id);
	(*out)->ops = &dsh_ops;
	(*out)->src = src;
	return read_header(*out, err);
}

const struct log_id *dsh_file(const struct session *s)
{
	const struct dsh_src *src = s->src;

	return text_id(&src->text);
}

int dsh_step(struct session *s, unsigned budget_us, struct err *err)
{
	struct dsh_src *src = s->src;
	uint64_t deadline = clock_mono_us() + budget_us;
	int rc;

	if (s->is_complete)
		return 0;
	rc = scan_lines(s, deadline, err);
	if (!src->has_begun && (rc == 0 || (rc == 1 && src->lines > 0)))
		take_begin(s);
	if (rc == 0) {
		scan_finish(s);
		session_link(s, true);
		problem_sort(&s->problems);
		s->is_complete = true;
	} else if (rc < 0) {
		session_link(s, false);
	}
	return rc;
}

/* ---- looking again ---- */

/* The first and the last record must still be where they were. */
static bool is_same_log(struct session *s)
{
	struct dsh_src *src = s->src;
	uint32_t ends[2] = { 0, src->n - 1 };
	struct dsh_rec r = { 0 };
	bool same = true;

	for (int i = 0; i < 2 && same && src->n; i++)
		same = item_rec(s, ends[i], &r, NULL) == 0 && r.has_seq &&
		       r.seq == src->items[ends[i]].seq;
	rec_release(&r);
	return same;
}

static void go_on(struct session *s)
{
	struct dsh_src *src = s->src;

	session_rewind(s, &src->tail);
	memcpy(src->last_id, src->tail_id, sizeof(src->last_id));
	session_reopen(s);
	s->is_torn = false;
	src->torn_start = UINT64_MAX;
	if (src->text.raw)
		log_seek_line(src->text.raw, src->good, src->good_line + 1);
}

int dsh_refresh(struct session *s, enum log_change *change, struct err *err)
{
	struct dsh_src *src = s->src;
	struct log_id now;
	int rc;

	*change = LOG_REWRITTEN;
	if (src->is_stale)
		return 0;
	rc = log_stat(s->path, &now, err);
	if (rc < 0)
		return rc;
	*change = log_compare(text_id(&src->text), &now);
	if (*change == LOG_GREW) {
		/* What was derived from damage or a torn frame may all be different now. */
		bool anew =
			src->lenient || src->issue.is_set || src->recovered.n || !src->has_header;

		if (anew)
			*change = LOG_REWRITTEN;
		else
			rc = src->text.zstd ? log_frames_refresh(src->text.zstd, change, err)
					    : log_reader_refresh(src->text.raw, change, err);
		if (rc < 0)
			return rc;
		if (*change == LOG_GREW && !is_same_log(s))
			*change = LOG_REWRITTEN;
		if (*change == LOG_GREW)
			go_on(s);
	}
	if (*change == LOG_REWRITTEN || *change == LOG_REPLACED)
		src->is_stale = true;
	return 0;
}
