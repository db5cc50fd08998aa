/*
 * canon.c - the canonical text of a fold, which two readers can compare byte
 * for byte: sorted keys at every level, no white space, numbers as they were
 * written, strings with the fewest escapes.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "json/write.h"

enum { LEVELS_FEW = 8 };

struct member {
	struct str key, value;
	size_t order; /* in the text: of a repeated key the last counts */
};

/* One open object or list. */
struct level {
	struct member *v;
	size_t n, at, cap;
	bool is_object;
};

void flow_put_text(struct buf *out, struct str raw)
{
	struct buf text = { 0 };

	flow_text(raw, &text);
	json_put_string(out, (struct str){ text.p ? text.p : "", text.n });
	buf_release(&text);
}

static int by_key(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = str_order(x->key, y->key);

	return order ? order : (x->order > y->order) - (x->order < y->order);
}

static void drop_repeated(struct level *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		if (i + 1 == l->n || !str_eq(l->v[i].key, l->v[i + 1].key))
			l->v[n++] = l->v[i];
	l->n = n;
}

static void open_level(struct level *l, struct str raw, struct arena *a)
{
	struct json_iter it;
	struct str key, value;

	json_iter_init(&it, raw);
	l->is_object = it.is_object;
	l->n = l->at = 0;
	while (json_iter_next(&it, &key, &value)) {
		l->v = xgrow(l->v, &l->cap, l->n + 1, sizeof(*l->v));
		l->v[l->n] = (struct member){ flow_decoded(key, a), value, l->n };
		l->n++;
	}
	if (l->is_object && l->n) {
		qsort(l->v, l->n, sizeof(*l->v), by_key);
		drop_repeated(l);
	}
}

static bool is_container(struct str raw)
{
	return raw.n && (raw.p[0] == '{' || raw.p[0] == '[');
}

/* Hardly any value is so deep. */
static struct level *all_levels(const struct level few[LEVELS_FEW], size_t *n)
{
	struct level *all = xcalloc(JSON_MAX_DEPTH + 1, sizeof(*all));

	memcpy(all, few, LEVELS_FEW * sizeof(*all));
	*n = JSON_MAX_DEPTH + 1;
	return all;
}

void flow_put_canonical(struct buf *out, struct str raw)
{
	struct level few[LEVELS_FEW] = { 0 }, *levels = few;
	struct arena a = { 0 };
	size_t depth = 0, most = LEVELS_FEW;

	for (;;) {
		if (depth + 1 == LEVELS_FEW && levels == few)
			levels = all_levels(few, &most);
		if (is_container(raw) && depth + 1 < most) {
			buf_addc(out, raw.p[0]);
			open_level(&levels[++depth], raw, &a);
		} else if (json_type_of(raw) == JSON_STRING) {
			flow_put_text(out, raw);
		} else {
			buf_addstr(out, raw);
		}
		while (depth && levels[depth].at == levels[depth].n)
			buf_addc(out, levels[depth--].is_object ? '}' : ']');
		if (depth == 0)
			break;
		if (levels[depth].at)
			buf_addc(out, ',');
		if (levels[depth].is_object) {
			json_put_string(out, levels[depth].v[levels[depth].at].key);
			buf_addc(out, ':');
		}
		raw = levels[depth].v[levels[depth].at++].value;
	}
	for (size_t i = 0; i < most; i++)
		free(levels[i].v);
	if (levels != few)
		free(levels);
	arena_free(&a);
}

/* ---- entities ---- */

static void put_ref(struct buf *out, struct str raw)
{
	struct flow_place place;

	flow_ref(raw, &place);
	buf_addc(out, '{');
	if (place.has_block)
		buf_printf(out, "\"block\":%" PRIi64 ",", place.block);
	buf_printf(out, "\"row\":%" PRIu64 ",\"seq\":%" PRIu64 "}", place.row, place.seq);
}

static void put_refs(struct buf *out, const char *key, struct str raw)
{
	struct str name, item;
	struct json_iter it;
	bool any = false;

	json_iter_init(&it, raw);
	while (json_iter_next(&it, &name, &item)) {
		if (any)
			buf_addc(out, ',');
		else
			json_put_key(out, key);
		if (!any)
			buf_addc(out, '[');
		any = true;
		put_ref(out, item);
	}
	if (any)
		buf_addc(out, ']');
}

static void put_field(struct buf *out, const struct flow_line_scan *s, int key, enum flow_map map)
{
	struct str raw = flow_field(s, key);

	if (key == KEY_REFS || key == KEY_EVIDENCE) {
		put_refs(out, flow_keys[key], raw);
	} else if (raw.n == 0 ||
		   (json_type_of(raw) == JSON_STRING && key != KEY_ATTRS && raw.n == 2)) {
		return;
	} else {
		json_put_key(out, flow_keys[key]);
		if (key == KEY_REF && map == FLOW_NODES)
			put_ref(out, raw);
		else
			flow_put_canonical(out, raw);
	}
}

int flow_put_entity(struct flow_conversation *c, enum flow_map map, uint32_t version,
	struct buf *out, struct err *err)
{
	/* in the order of the keys; KEY_COUNT ends a row */
	static const uint8_t fields[FLOW_MAPS][10] = {
		{ KEY_ATTRS, KEY_ID, KEY_KIND, KEY_PARENT, KEY_REF, KEY_REFS, KEY_REVISION,
			KEY_STREAM, KEY_COUNT },
		{ KEY_EVIDENCE, KEY_FROM, KEY_ID, KEY_QUALITY, KEY_REVISION, KEY_TO, KEY_TYPE,
			KEY_VIA, KEY_COUNT },
		{ KEY_ID, KEY_KIND, KEY_REASON, KEY_REF, KEY_REVISION, KEY_STATE, KEY_COUNT },
	};
	struct flow_line_scan s = { .keys = flow_keys };
	struct buf raw = { 0 };
	int rc = flow_raw(c, version, &raw, err);

	if (rc == 0 && json_scan_lenient(raw.p, raw.n, flow_keys, KEY_COUNT, &s.sc) != JSON_OK)
		rc = err_set(err, ERR_CHANGED, "a round of %s is not what it was", c->id);
	s.p = raw.p;
	if (rc == 0) {
		buf_addc(out, '{');
		for (int i = 0; fields[map][i] != KEY_COUNT; i++)
			put_field(out, &s, fields[map][i], map);
		buf_addc(out, '}');
	}
	buf_release(&raw);
	return rc;
}

/* ---- the whole ---- */

struct writer {
	struct flow_conversation *c;
	const struct flow_view *view;
	struct buf text;
	flow_take *take;
	void *arg;
};

static int flush(struct writer *w, struct err *err)
{
	int rc = w->take(w->arg, w->text.p ? w->text.p : "", w->text.n);

	buf_clear(&w->text);
	return rc < 0 ? err_set(err, ERR_CANCELLED, "stopped") : 0;
}

static int put_map(struct writer *w, const char *key, enum flow_map map, struct err *err)
{
	int rc = 0;

	json_put_key(&w->text, key);
	buf_addc(&w->text, '[');
	for (uint32_t i = 0; rc == 0 && i < w->view->n[map]; i++) {
		if (i)
			buf_addc(&w->text, ',');
		rc = flow_put_entity(w->c, map, w->view->live[map][i], &w->text, err);
		if (rc == 0)
			rc = flush(w, err);
	}
	buf_addc(&w->text, ']');
	return rc;
}

static void put_string(struct writer *w, const char *key, struct str s)
{
	json_put_key(&w->text, key);
	json_put_string(&w->text, s);
}

static void put_number(struct writer *w, const char *key, uint64_t v)
{
	json_put_key(&w->text, key);
	buf_printf(&w->text, "%" PRIu64, v);
}

int flow_canonical(struct flow_conversation *c, const struct flow_view *view, flow_take *take,
	void *arg, struct err *err)
{
	static const struct flow_header none = { .input_digest = "", .parser = "", .policy = "",
		.session_s = { "", 0 } };
	const struct flow_header *h = view->rounds ? &c->rounds[view->rounds - 1].h : &none;
	struct writer w = { .c = c, .view = view, .take = take, .arg = arg };
	int rc;

	buf_addc(&w.text, '{');
	put_string(&w, "conversation", str_of(c->id));
	put_string(&w, "digest", str_of(h->digest));
	put_string(&w, "input_digest", str_of(h->input_digest));
	rc = put_map(&w, "nodes", FLOW_NODES, err);
	put_string(&w, "parser", str_of(h->parser));
	put_string(&w, "policy", str_of(h->policy));
	if (rc == 0)
		rc = put_map(&w, "relations", FLOW_RELATIONS, err);
	put_number(&w, "round", h->round);
	put_string(&w, "session", h->session_s);
	put_number(&w, "through_seq", h->through_seq);
	if (rc == 0)
		rc = put_map(&w, "unresolved", FLOW_UNRESOLVED, err);
	buf_addc(&w.text, '}');
	if (rc == 0)
		rc = flush(&w, err);
	buf_release(&w.text);
	return rc;
}

static int take_sha(void *arg, const char *p, size_t n)
{
	flow_sha_add(arg, p, n);
	return 0;
}

int flow_canonical_sha256(struct flow_conversation *c, const struct flow_view *view, char hex[65],
	struct err *err)
{
	struct flow_sha sha;
	int rc;

	flow_sha_begin(&sha);
	rc = flow_canonical(c, view, take_sha, &sha, err);
	flow_sha_end(&sha, hex);
	return rc;
}
