/*
 * load.c - a file of lines to entries and problems, step by step, and going on
 * after the file grew. The rules are those of doc/formats.md, "tree". Content
 * is not kept; record.c and content.c read it again when it is shown.
 */
#include "config.h"

#include "format/tree/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "json/value.h"

enum {
	CLOCK_LINES = 256,      /* the clock is asked after so many lines */
	CLOCK_BYTES = 1 << 20,  /* or bytes */
	GUESS_ENTRIES = 1024,   /* tell how many the whole file may hold */
	ROLE_SHOWN = 40         /* bytes of an unknown role in a sentence */
};

/* A line, or what is left of it behind a byte order mark. */
struct piece {
	const char *p;
	size_t n;
	uint64_t off, number;
	bool ended;
};

/*
 * The entry that was read last is held back until the next one has been read:
 * meanwhile the memory that it needs comes near (session_expect). Its texts
 * are copies, for the line that they came from is gone by then.
 */
struct loader {
	struct session *s;
	struct buf id, parent, role; /* of the entry being read, where they have escapes */
	bool is_held;
	struct entry_in held;
	struct buf held_id, held_parent, held_role;
};

/* ---- one entry ---- */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_blank(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_space(p[i]))
			return false;
	return true;
}

/* The text of a string field; decoded into `room` when it has escapes. */
static struct str field_text(const char *p, const struct json_field *f, struct buf *room)
{
	if (!f->escaped)
		return (struct str){ p + f->off + 1, f->len - 2 };
	buf_clear(room);
	json_string(json_raw(p, f), room, SIZE_MAX);
	return (struct str){ room->p ? room->p : "", room->n };
}

static enum entry_kind kind_of_role(struct str role)
{
	if (str_eqs(role, "USER"))
		return KIND_USER;
	if (str_eqs(role, "ASSISTANT"))
		return KIND_ASSISTANT;
	if (str_eqs(role, "TOOL_RESULT"))
		return KIND_TOOL_RESULT;
	return str_eqs(role, "SYSTEM") ? KIND_SYSTEM : KIND_UNKNOWN;
}

static bool is_failure(const char *p, const struct json_field *content)
{
	struct str raw = json_raw(p, content);
	struct buf head = { 0 };
	bool failed;

	if (!content->escaped)
		return str_starts(raw, "\"Error: ");
	json_string(raw, &head, 7);
	failed = str_eqs((struct str){ head.p, head.n }, "Error: ");
	buf_release(&head);
	return failed;
}

/* What the metadata say about the entry. False when a value is no string. */
static bool read_metadata(struct str raw, struct entry_in *in, bool is_root)
{
	bool is_summary = false, is_unsent = false, has_calls = false;
	struct json_iter it;
	struct str key, value;

	json_iter_init(&it, raw);
	while (json_iter_next(&it, &key, &value)) {
		if (json_type_of(value) != JSON_STRING)
			return false;
		in->flags |= ENTRY_HAS_META;
		if (json_string_eq(key, "replay"))
			is_unsent = json_string_eq(value, "false");
		else if (json_string_eq(key, "toolCalls"))
			has_calls = value.n > 2 && !json_string_eq(value, "[]");
		else if (json_string_eq(key, "_compacted"))
			is_summary = json_string_eq(value, "true");
	}
	if (is_unsent)
		in->flags |= ENTRY_UNSENT;
	if (has_calls && in->kind == KIND_ASSISTANT)
		in->flags |= ENTRY_HAS_CALLS;
	if (is_summary && in->kind == KIND_SYSTEM && is_root)
		in->kind = KIND_SUMMARY;
	return true;
}

/* Takes the fields of an object; NULL, or what is wrong with them. */
static const char *read_fields(const char *p, const struct json_scan *scan, struct loader *ld,
	struct entry_in *in, struct str *role)
{
	const struct json_field *f = scan->field;
	size_t content_at = f[KEY_CONTENT].off - scan->start;

	if (f[KEY_ID].type != JSON_STRING)
		return f[KEY_ID].type ? "its id is not a string" : "it has no id";
	if (f[KEY_ID].len == 2)
		return "its id is empty";
	if (f[KEY_PARENT].type > JSON_NULL && f[KEY_PARENT].type != JSON_STRING)
		return "its parentId is neither a string nor null";
	if (f[KEY_ROLE].type != JSON_STRING)
		return f[KEY_ROLE].type ? "its role is not a string" : "it has no role";
	if (f[KEY_CONTENT].type != JSON_STRING)
		return f[KEY_CONTENT].type ? "its content is not a string" : "it has no content";
	if (f[KEY_TIME].type == JSON_NONE)
		return "it has no timestamp";
	if (f[KEY_TIME].type != JSON_NUMBER || !json_int64(json_raw(p, &f[KEY_TIME]), &in->time))
		return "its timestamp is not an integer of 64 bits";
	if (f[KEY_METADATA].type > JSON_NULL && f[KEY_METADATA].type != JSON_OBJECT)
		return "its metadata is not an object";

	in->id = field_text(p, &f[KEY_ID], &ld->id);
	in->id_off = (uint32_t)(f[KEY_ID].off + 1 - scan->start);
	if (f[KEY_ID].escaped)
		in->flags |= ENTRY_ID_SLOW;
	if (f[KEY_PARENT].type == JSON_STRING)
		in->parent = field_text(p, &f[KEY_PARENT], &ld->parent);
	*role = field_text(p, &f[KEY_ROLE], &ld->role);
	in->kind = kind_of_role(*role);
	if (in->kind == KIND_TOOL_RESULT && is_failure(p, &f[KEY_CONTENT]))
		in->flags |= ENTRY_FAILED;
	in->spare = content_at <= UINT16_MAX ? (uint16_t)content_at : 0;
	if (f[KEY_METADATA].type == JSON_OBJECT &&
		!read_metadata(json_raw(p, &f[KEY_METADATA]), in, !in->parent.p))
		return "its metadata holds a value that is not a string";
	return NULL;
}

static void report_role(struct session *s, const struct entry_in *in, uint32_t entry,
	struct str role)
{
	struct buf safe = { 0 };
	size_t shown = role.n > ROLE_SHOWN ? utf8_cut(role.p, ROLE_SHOWN) : role.n;

	text_safe(&safe, role.p, shown, TEXT_ONE_LINE);
	problem_add(&s->problems, &s->arena, "unknown-role", in->line, in->off, in->len, entry,
		"the role \"%s%s\" is none of SYSTEM, USER, ASSISTANT, TOOL_RESULT",
		safe.p ? safe.p : "", shown < role.n ? "~" : "");
	buf_release(&safe);
}

static void report_left_out(struct session *s, const struct entry_in *in)
{
	uint32_t first;

	if (s->n >= SESSION_MAX_ENTRIES) {
		problem_add(&s->problems, &s->arena, "bad-entry", in->line, in->off, in->len, ENTRY_NONE,
			"the session has more entries than bough can count");
		return;
	}
	first = s->problems.n < PROBLEM_MAX ? session_find(s, in->id) : ENTRY_NONE;
	problem_add(&s->problems, &s->arena, "duplicate-id", in->line, in->off, in->len, first,
		"the entry on line %" PRIu64 " has the same id; this one is left out",
		first == ENTRY_NONE ? 0 : session_line(s, first));
}

static void add_held(struct loader *ld)
{
	struct session *s = ld->s;
	struct tree_src *src = s->src;
	uint32_t entry;

	if (!ld->is_held)
		return;
	ld->is_held = false;
	if (src->was_complete && ld->held.off >= src->first_load)
		ld->held.flags |= ENTRY_NEW;
	entry = session_add(s, &ld->held);
	if (entry == ENTRY_NONE)
		report_left_out(s, &ld->held);
	else if (ld->held.kind == KIND_UNKNOWN)
		report_role(s, &ld->held, entry, (struct str){ ld->held_role.p, ld->held_role.n });
}

static struct str copy_text(struct buf *to, struct str text)
{
	buf_clear(to);
	buf_addstr(to, text);
	return (struct str){ to->p ? to->p : "", to->n };
}

static void hold(struct loader *ld, const struct entry_in *in, struct str role)
{
	add_held(ld);
	ld->held = *in;
	ld->held.id = copy_text(&ld->held_id, in->id);
	if (in->parent.p)
		ld->held.parent = copy_text(&ld->held_parent, in->parent);
	if (in->kind == KIND_UNKNOWN)
		copy_text(&ld->held_role, role);
	ld->held.idhash = session_expect(ld->s, ld->held.id);
	ld->is_held = true;
}

static void loader_release(struct loader *ld)
{
	buf_release(&ld->id);
	buf_release(&ld->parent);
	buf_release(&ld->role);
	buf_release(&ld->held_id);
	buf_release(&ld->held_parent);
	buf_release(&ld->held_role);
}

/* The object that `scan` found at p, which stands at `base` in the file. */
static void take_object(struct loader *ld, const struct piece *at, const char *p, uint64_t base,
	const struct json_scan *scan, unsigned flags)
{
	struct entry_in in = { .off = base + scan->start,
		.line = at->number,
		.len = (uint32_t)(scan->end - scan->start),
		.flags = flags };
	struct str role = { 0 };
	const char *wrong = read_fields(p, scan, ld, &in, &role);

	if (wrong) {
		problem_add(&ld->s->problems, &ld->s->arena, "bad-entry", at->number, in.off, in.len,
			ENTRY_NONE, "this object is not an entry: %s", wrong);
		return;
	}
	if (in.kind == KIND_UNKNOWN)
		in.flags |= ENTRY_DAMAGED;
	hold(ld, &in, role);
}

/* ---- one line ---- */

/* How many whole objects stand at the front of a line with nothing between them. */
struct survey {
	size_t count, end; /* end: behind the last of them */
	bool is_all;       /* only white space follows */
	size_t error_at;   /* otherwise where and why it stops */
	const char *reason;
};

static void survey_line(const struct piece *at, struct survey *sv)
{
	struct json_scan scan;

	*sv = (struct survey){ 0 };
	for (;;) {
		if (json_scan(at->p + sv->end, at->n - sv->end, NULL, 0, &scan) != JSON_OK) {
			sv->error_at = sv->end + scan.error_at;
			sv->reason = scan.reason;
			return;
		}
		sv->count++;
		sv->end += scan.end;
		sv->is_all = is_blank(at->p + sv->end, at->n - sv->end);
		if (sv->is_all)
			return;
		if (at->p[sv->end] != '{') {
			sv->error_at = sv->end;
			sv->reason = "more follows the object";
			return;
		}
	}
}

static void take_objects(struct loader *ld, const struct piece *at, const struct survey *sv)
{
	struct session *s = ld->s;
	struct json_scan scan;
	size_t pos = 0;

	if (sv->count > 1)
		problem_add(&s->problems, &s->arena, "glued", at->number, at->off, sv->end, ENTRY_NONE,
			"%zu entries stand on one line: the line ends between them are missing",
			sv->count);
	for (size_t i = 0; i < sv->count; i++) {
		json_scan(at->p + pos, at->n - pos, tree_keys, KEY_COUNT, &scan);
		take_object(ld, at, at->p + pos, at->off + pos, &scan,
			sv->count > 1 ? ENTRY_DAMAGED : 0);
		pos += scan.end;
	}
}

/* A line that is not just one object. Returns how many of its bytes are committed. */
static size_t take_odd_line(struct loader *ld, const struct piece *at)
{
	struct session *s = ld->s;
	struct survey sv;

	survey_line(at, &sv);
	if (sv.is_all) {
		take_objects(ld, at, &sv);
		return at->n;
	}
	if (at->ended) {
		problem_add(&s->problems, &s->arena, "bad-json", at->number, at->off, at->n, ENTRY_NONE,
			"not one JSON object: %s at byte %zu", sv.reason, sv.error_at + 1);
		return at->n;
	}
	take_objects(ld, at, &sv);
	problem_add(&s->problems, &s->arena, "torn-tail", at->number, at->off + sv.end, at->n - sv.end,
		ENTRY_NONE, "%zu bytes after the last complete entry: %s at byte %zu", at->n - sv.end,
		sv.reason, sv.error_at - sv.end + 1);
	s->is_torn = true;
	return sv.end;
}

static size_t take_piece(struct loader *ld, const struct piece *at)
{
	struct json_scan scan;

	switch (json_scan(at->p, at->n, tree_keys, KEY_COUNT, &scan)) {
	case JSON_END:
		return at->n;
	case JSON_OK:
		if (!is_blank(at->p + scan.end, at->n - scan.end))
			break;
		take_object(ld, at, at->p, at->off, &scan, 0);
		return at->n;
	default:
		break;
	}
	return take_odd_line(ld, at);
}

static void take_line(struct loader *ld, const struct log_line *line)
{
	struct session *s = ld->s;
	struct piece at = { line->p, line->n, line->off, line->number, line->ended };
	size_t committed = line->n;

	s->is_torn = false;
	if (line->too_long) {
		problem_add(&s->problems, &s->arena, "bad-json", line->number, line->off, line->n,
			ENTRY_NONE, "a line of %zu bytes; no more than %d are read", line->n,
			LOG_MAX_LINE);
	} else {
		if (line->off == 0 && line->n >= 3 && memcmp(line->p, "\xEF\xBB\xBF", 3) == 0) {
			at.p += 3;
			at.n -= 3;
			at.off += 3;
		}
		committed = (size_t)(at.off - line->off) + take_piece(ld, &at);
	}
	s->committed = line->off + committed + line->ended;
	s->size = line->off + line->n + line->ended;
}

/* ---- steps ---- */

static void finish(struct session *s)
{
	struct tree_src *src = s->src;

	session_link(s, true);
	problem_sort(&s->problems);
	s->is_complete = true;
	if (!src->was_complete) {
		src->was_complete = true;
		src->first_load = s->committed;
	}
}

/* A line without its newline can only be the last; remember how it was before. */
static void note_place(struct loader *ld, const struct log_line *line)
{
	struct tree_src *src = ld->s->src;

	if (line->ended) {
		src->next_off = line->off + line->n + 1;
		src->next_line = line->number + 1;
		return;
	}
	add_held(ld);
	session_mark(ld->s, line->off, &src->tail);
	src->tail_line = line->number;
	src->has_tail = true;
}

static void rewind_tail(struct session *s)
{
	struct tree_src *src = s->src;

	session_rewind(s, &src->tail);
	src->must_rewind = src->has_tail = false;
}

/* The first entries tell how large the rest are; what is reserved is not used before it is needed. */
static void reserve(struct session *s)
{
	struct tree_src *src = s->src;
	uint64_t size = tree_file(s)->size;

	if (src->has_guessed || s->n < GUESS_ENTRIES)
		return;
	src->has_guessed = true;
	session_reserve(s, (size_t)((double)s->n * 1.1 * ((double)size / (double)s->size)));
}

/* 1: the budget is used up, 0: the end of the file, < 0: err. */
static int take_lines(struct session *s, uint64_t deadline, struct err *err)
{
	struct tree_src *src = s->src;
	struct loader ld = { .s = s };
	struct log_line line;
	size_t lines = 0, bytes = 0;
	int rc;

	while ((rc = log_next_line(src->reader, &line, err)) == 1) {
		note_place(&ld, &line);
		take_line(&ld, &line);
		bytes += line.n;
		if (++lines % CLOCK_LINES && bytes < CLOCK_BYTES)
			continue;
		bytes = 0;
		reserve(s);
		if (clock_mono_us() >= deadline)
			break;
	}
	add_held(&ld);
	loader_release(&ld);
	return rc;
}

int tree_step(struct session *s, unsigned budget_us, struct err *err)
{
	struct tree_src *src = s->src;
	uint64_t deadline = clock_mono_us() + budget_us;
	bool was_rewound = src->must_rewind;
	int rc;

	if (s->is_complete)
		return 0;
	if (was_rewound)
		rewind_tail(s);
	rc = take_lines(s, deadline, err);
	if (rc == 0)
		finish(s);
	else if (was_rewound || rc < 0)
		session_link(s, false);
	return rc;
}

/* ---- opening and looking again ---- */

static void free_src(struct session *s)
{
	struct tree_src *src = s->src;

	log_reader_close(&src->reader);
	free(src->sidecar);
	free(src->window);
	free(src);
}

static const struct session_ops tree_ops = {
	.id = tree_op_id,
	.preview = tree_op_preview,
	.content = tree_op_content,
	.record = tree_op_record,
	.peek = tree_op_peek,
	.free = free_src,
};

int tree_open(const char *path, struct session **out, struct err *err)
{
	struct log_reader *reader;
	struct tree_src *src;
	char *id;
	int rc;

	*out = NULL;
	rc = log_reader_open(&reader, path, err);
	if (rc < 0)
		return rc;
	src = xcalloc(1, sizeof(*src));
	src->reader = reader;
	src->sidecar = tree_sidecar_path(path);
	src->next_line = 1;
	id = tree_id_of_path(path);
	*out = session_new("tree", id, path);
	free(id);
	(*out)->ops = &tree_ops;
	(*out)->src = src;
	tree_sidecar_load(*out);
	return 0;
}

const struct log_id *tree_file(const struct session *s)
{
	const struct tree_src *src = s->src;

	return log_reader_id(src->reader);
}

/*
 * A file that was emptied and written anew can be larger than before. The ids
 * of the first and the last entry must still stand where they were.
 */
static bool is_same_file(struct session *s)
{
	uint32_t ends[2] = { 0, s->n - 1 };
	struct buf id = { 0 };
	bool same = true;

	for (int i = 0; i < 2 && same && s->n; i++) {
		const struct entry *e = &s->entries[ends[i]];

		buf_clear(&id);
		if (e->flags & ENTRY_ID_SLOW)
			same = tree_op_id(s, ends[i], &id, NULL) == 0;
		else
			same = tree_read(s, e->off + e->id_off, e->id_len, &id, NULL) == 0;
		same = same && session_hash(s, id.p, id.n) == e->idhash;
	}
	buf_release(&id);
	return same;
}

static void go_on(struct session *s)
{
	struct tree_src *src = s->src;

	session_reopen(s);
	src->must_rewind = src->has_tail;
	if (src->has_tail)
		log_seek_line(src->reader, src->tail.offset, src->tail_line);
	else
		log_seek_line(src->reader, src->next_off, src->next_line);
}

int tree_refresh(struct session *s, enum log_change *change, struct err *err)
{
	struct tree_src *src = s->src;
	struct log_id now;
	int rc;

	*change = LOG_REWRITTEN;
	if (src->is_stale)
		return 0;
	rc = log_stat(s->path, &now, err);
	if (rc < 0)
		return rc;
	tree_sidecar_load(s);
	*change = log_compare(log_reader_id(src->reader), &now);
	if (*change == LOG_GREW) {
		rc = log_reader_refresh(src->reader, change, err);
		if (rc < 0)
			return rc;
		src->window_n = 0;
		if (*change == LOG_GREW && !is_same_file(s))
			*change = LOG_REWRITTEN;
		if (*change == LOG_GREW)
			go_on(s);
		else if (*change == LOG_REPLACED)
			src->is_stale = true; /* the reader has the new file open already */
	}
	if (*change == LOG_REWRITTEN)
		src->is_stale = true;
	return 0;
}
