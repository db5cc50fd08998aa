/*
 * sidecar.c - "<id>.meta.json" beside a session: reading what it says, and
 * making its text anew with one member changed. Writing it is the store's.
 */
#include "config.h"

#include "format/tree/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/xalloc.h"
#include "json/value.h"
#include "json/write.h"

enum { SIDECAR_MAX = 1 << 20 };

static const char *const sidecar_keys[] = { "title", "parentSessionId", "model", "systemPrompt" };
enum { SIDECAR_KEYS = sizeof(sidecar_keys) / sizeof(*sidecar_keys) };

/* One JSON object and nothing else. */
static bool scan_object(struct str text, const char *const *keys, size_t nkeys,
	struct json_scan *scan)
{
	return json_scan(text.p, text.n, keys, nkeys, scan) == JSON_OK &&
		json_is_blank(text.p + scan->end, text.n - scan->end);
}

static struct str without_mark(const struct buf *text)
{
	struct str s = { text->p, text->n };

	if (str_starts(s, "\xEF\xBB\xBF"))
		s = (struct str){ s.p + 3, s.n - 3 };
	return s;
}

static const char bad_sidecar[] = "bad-sidecar";

/* One that is no object is as if it were not there; but its title and prompt are missed. */
static void take_members(struct session *s, struct str text)
{
	struct json_scan scan;
	struct buf value = { 0 };

	if (!scan_object(text, sidecar_keys, SIDECAR_KEYS, &scan)) {
		problem_add_at_large(&s->problems, &s->arena, bad_sidecar,
			"title and prompt are not known: the file beside it is not one JSON object");
		return;
	}
	for (size_t i = 0; i < SIDECAR_KEYS; i++) {
		if (scan.field[i].type != JSON_STRING)
			continue;
		buf_clear(&value);
		json_string(json_raw(text.p, &scan.field[i]), &value, SIZE_MAX);
		session_set_meta(s, sidecar_keys[i], (struct str){ value.p, value.n });
	}
	buf_release(&value);
}

void tree_sidecar_load(struct session *s)
{
	struct tree_src *src = s->src;
	struct buf file = { 0 };
	struct log_id now;
	struct err err = { 0 };
	int rc = log_stat_beside(src->sidecar, &now, &err);

	if (rc == 0 && !src->sidecar_why[0] && log_compare(&src->sidecar_id, &now) == LOG_SAME)
		return;
	session_clear_meta(s);
	problem_drop(&s->problems, bad_sidecar);
	src->sidecar_id = now;
	if (rc == 0 && now.exists)
		rc = log_read_beside(src->sidecar, SIDECAR_MAX, &file, &src->sidecar_id, &err);
	if (rc == 0 && now.exists)
		take_members(s, without_mark(&file));
	else if (err.sys == ENOENT) /* gone again */
		err_clear(&err);
	snprintf(src->sidecar_why, sizeof(src->sidecar_why), "%s", err.text);
	buf_release(&file);
}

const char *tree_sidecar_trouble(const struct session *s)
{
	const struct tree_src *src = s->src;

	return src->sidecar_why[0] ? src->sidecar_why : NULL;
}

/* A member as it stands in the old text. */
static void put_member(struct buf *out, struct str key, struct str value)
{
	if (out->p[out->n - 1] != '{')
		buf_addc(out, ',');
	buf_addstr(out, key);
	buf_addc(out, ':');
	buf_addstr(out, value);
}

static void put_ours(struct buf *out, const char *key, struct str value)
{
	json_put_key(out, key);
	json_put_string(out, value);
}

int tree_sidecar_set(struct str old, const char *key, struct str value, struct buf *out,
	struct err *err)
{
	struct json_scan scan = { 0 };
	struct json_iter it;
	struct str name, raw;
	bool is_put = value.p == NULL;

	if (old.n && !scan_object(old, NULL, 0, &scan))
		return err_set(err, ERR_CORRUPT,
			"the file with the title is not one JSON object; it is left as it is");
	buf_addc(out, '{');
	if (old.n)
		json_iter_init(&it, (struct str){ old.p + scan.start, scan.end - scan.start });
	while (old.n && json_iter_next(&it, &name, &raw)) {
		if (!json_string_eq(name, key)) {
			put_member(out, name, raw);
		} else if (!is_put) {
			put_ours(out, key, value);
			is_put = true;
		}
	}
	if (!is_put)
		put_ours(out, key, value);
	buf_addc(out, '}');
	return 0;
}
