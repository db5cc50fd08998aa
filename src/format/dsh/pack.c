/*
 * pack.c - packed rows: runs of chunks in one record. Checking one, and the
 * events that it stands for.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <string.h>

/* Members of a row's data; the last two stand for texts or args. */
enum { P_TURN, P_STEP, P_INDEX, P_DT, P_TEXTS, P_ID, P_NAME, P_COUNT };

struct row {
	struct str v[P_COUNT];
	bool is_call;
};

static bool is_member(struct str key, bool is_call, int *at)
{
	static const char *const names[P_COUNT] = { "turn", "step", "index", "dt", "texts", "id",
		"name" };

	for (int i = 0; i < P_COUNT; i++) {
		const char *name = i == P_TEXTS && is_call ? "args" : names[i];

		if ((i < P_ID || is_call) && json_string_eq(key, name)) {
			*at = i;
			return true;
		}
	}
	return false;
}

/* False when a member is foreign; a repeated one counts by its last value. */
static bool read_row(const struct dsh_rec *r, struct row *row)
{
	struct json_iter it;
	struct str key, value;
	int at;

	*row = (struct row){ .is_call = json_string_eq(rec_field(r, K_TYPE), "tool-call-chunks") };
	json_iter_init(&it, rec_field(r, K_DATA));
	while (json_iter_next(&it, &key, &value)) {
		if (!is_member(key, row->is_call, &at))
			return false;
		row->v[at] = value;
	}
	return true;
}

static bool has_foreign_member(const struct dsh_rec *r)
{
	struct json_iter it;
	struct str key, value;

	json_iter_init(&it, rec_object(r));
	while (json_iter_next(&it, &key, &value))
		if (!json_string_eq(key, "type") && !json_string_eq(key, "seq0") &&
			!json_string_eq(key, "time0") && !json_string_eq(key, "data"))
			return true;
	return false;
}

/* How many strings a checked list holds; false when something else is in it. */
static bool count_strings(struct str list, uint32_t *n)
{
	struct json_iter it;
	struct str none, value;

	*n = 0;
	json_iter_init(&it, list);
	while (json_iter_next(&it, &none, &value)) {
		if (json_type_of(value) != JSON_STRING || *n == UINT32_MAX)
			return false;
		(*n)++;
	}
	return true;
}

/* Every running time must stay a safe integer. */
static bool add_times(struct str dt, int64_t *time, uint32_t *n)
{
	struct json_iter it;
	struct str none, value;
	int64_t step;

	*n = 0;
	json_iter_init(&it, dt);
	while (json_iter_next(&it, &none, &value)) {
		if (!num_safe(value, &step) || *n == UINT32_MAX)
			return false;
		*time += step; /* two safe integers: no overflow */
		if (*time < -DSH_SAFE_MAX || *time > DSH_SAFE_MAX)
			return false;
		(*n)++;
	}
	return true;
}

static bool is_negative_zero(struct str raw)
{
	int64_t v;

	return raw.n && raw.p[0] == '-' && num_safe(raw, &v) && v == 0;
}

const char *pack_check(struct dsh_rec *r)
{
	struct row row;
	uint32_t ntimes;

	if ((!rec_has_only_found(r) && has_foreign_member(r)) || rec_field(r, K_SEQ).n ||
		rec_field(r, K_TIME).n || rec_field(r, K_SOURCES).n || rec_field(r, K_OP).n ||
		rec_field(r, K_IGNORABLE).n || json_type_of(rec_field(r, K_DATA)) != JSON_OBJECT)
		return "a packed row with foreign members";
	if (!num_count(rec_field(r, K_SEQ0), &r->seq) ||
		!num_safe(rec_field(r, K_TIME0), &r->last_time) ||
		is_negative_zero(rec_field(r, K_TIME0)))
		return "a packed row without a good seq0 and time0";
	if (!read_row(r, &row))
		return "a packed row with foreign members";
	for (int i = P_TURN; i <= P_INDEX; i++)
		if (json_type_of(row.v[i]) != JSON_NUMBER)
			return "a packed row without turn, step and index";
	if (row.is_call && (json_type_of(row.v[P_ID]) != JSON_STRING ||
				   (row.v[P_NAME].n && json_type_of(row.v[P_NAME]) != JSON_STRING)))
		return "a packed row of calls without an id";
	if (json_type_of(row.v[P_TEXTS]) != JSON_LIST || json_type_of(row.v[P_DT]) != JSON_LIST ||
		!count_strings(row.v[P_TEXTS], &r->count) || r->count == 0)
		return "a packed row without texts";
	if (!add_times(row.v[P_DT], &r->last_time, &ntimes) || ntimes + 1 != r->count)
		return "a packed row whose times do not fit its texts";
	if (r->seq + r->count - 1 > (uint64_t)DSH_SAFE_MAX)
		return "a packed row whose seqs are too large";
	return NULL;
}

/* ---- the events of a row ---- */

static void put_start(struct buf *out, uint64_t seq, int64_t time, const struct row *row)
{
	buf_printf(out,
		"{\"type\":\"assistant/chunk\",\"seq\":%llu,\"time\":%lld,\"data\":{\"turn\":",
		(unsigned long long)seq, (long long)time);
	json_put_number(out, row->v[P_TURN]);
	buf_adds(out, ",\"step\":");
	json_put_number(out, row->v[P_STEP]);
	buf_adds(out, ",\"chunk\":{\"type\":");
}

static void put_chunk(
	struct buf *out, const struct dsh_rec *r, const struct row *row, struct str text)
{
	if (row->is_call)
		buf_adds(out, "\"tool-call-delta\"");
	else
		buf_adds(out, json_string_eq(rec_field(r, K_TYPE), "text-chunks")
				      ? "\"text-delta\""
				      : "\"reasoning-delta\"");
	buf_adds(out, ",\"index\":");
	json_put_number(out, row->v[P_INDEX]);
	if (row->is_call) {
		buf_adds(out, ",\"id\":");
		json_put_requoted(out, row->v[P_ID]);
	}
	if (row->is_call && row->v[P_NAME].n) {
		buf_adds(out, ",\"name\":");
		json_put_requoted(out, row->v[P_NAME]);
	}
	buf_adds(out, row->is_call ? ",\"argumentsDelta\":" : ",\"text\":");
	json_put_requoted(out, text);
	buf_adds(out, "}}}");
}

void pack_each(
	const struct dsh_rec *r, bool (*fn)(void *arg, uint32_t k, struct str event), void *arg)
{
	struct json_iter texts, times;
	struct str none, text, gap;
	struct buf event = { 0 };
	uint32_t k = 0;
	struct row row;
	int64_t time = 0, step;
	bool more = true;

	read_row(r, &row);
	num_safe(rec_field(r, K_TIME0), &time);
	json_iter_init(&texts, row.v[P_TEXTS]);
	json_iter_init(&times, row.v[P_DT]);
	while (more && json_iter_next(&texts, &none, &text)) {
		if (k > 0 && json_iter_next(&times, &none, &gap) && num_safe(gap, &step))
			time += step;
		buf_clear(&event);
		put_start(&event, r->seq + k, time, &row);
		put_chunk(&event, r, &row, text);
		more = fn(arg, k++, (struct str){ event.p, event.n });
	}
	buf_release(&event);
}

void pack_texts_init(struct pack_texts *t, const struct dsh_rec *r)
{
	struct row row;

	read_row(r, &row);
	*t = (struct pack_texts){
		.id = row.v[P_ID], .name = row.v[P_NAME], .index = row.v[P_INDEX]
	};
	t->kind = row.is_call                                           ? 'c'
		  : json_string_eq(rec_field(r, K_TYPE), "text-chunks") ? 't'
									: 'r';
	json_iter_init(&t->it, row.v[P_TEXTS]);
}

bool pack_texts_next(struct pack_texts *t, struct str *text)
{
	struct str none;

	return json_iter_next(&t->it, &none, text);
}
