/*
 * doc.c - documents as jansson values. The only file that knows jansson; what
 * its text must look like is doc-text.c's business.
 */
#include "config.h"

#include "json/doc.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "json/doc-text.h"

/* jansson reports a failed allocation as NULL or -1; there is no other way to fail here. */
static json_doc *need(json_t *value)
{
	if (!value)
		die("out of memory");
	return value;
}

static void need_ok(int result)
{
	if (result < 0)
		die("out of memory");
}

json_doc *json_doc_object(void)
{
	return need(json_object());
}

json_doc *json_doc_list(void)
{
	return need(json_array());
}

json_doc *json_doc_string(struct str s)
{
	struct buf valid = { 0 };
	json_t *value;

	doc_keep_string(s, &valid);
	value = json_stringn_nocheck(valid.p ? valid.p : "", valid.n);
	buf_release(&valid);
	return need(value);
}

json_doc *json_doc_int(int64_t v)
{
	return need(json_integer(v));
}

json_doc *json_doc_uint(uint64_t v)
{
	char digits[24];

	if (v <= INT64_MAX)
		return json_doc_int((int64_t)v);
	snprintf(digits, sizeof(digits), "%c%llu", DOC_MARK, (unsigned long long)v);
	return need(json_string_nocheck(digits));
}

json_doc *json_doc_bool(bool v)
{
	return need(json_boolean(v));
}

json_doc *json_doc_null(void)
{
	return need(json_null());
}

void json_doc_set(json_doc *object, const char *key, json_doc *value_take)
{
	json_doc_set_str(object, str_of(key), value_take);
}

void json_doc_set_str(json_doc *object, struct str key, json_doc *value_take)
{
	struct buf valid = { 0 };

	doc_keep_string(key, &valid);
	buf_add(&valid, NULL, 0);
#if JANSSON_VERSION_HEX >= 0x020E00
	need_ok(json_object_setn_new_nocheck(object, valid.p, valid.n, value_take));
#else
	/* Keys end at a NUL there; show it rather than lose what is behind it. */
	{
		struct buf shown = { 0 };
		size_t i;

		for (i = 0; i < valid.n; i++)
			buf_adds(&shown, valid.p[i] ? (char[]){ valid.p[i], 0 } : "\xEF\xBF\xBD");
		need_ok(json_object_set_new_nocheck(object, shown.p ? shown.p : "", value_take));
		buf_release(&shown);
	}
#endif
	buf_release(&valid);
}

void json_doc_add(json_doc *list, json_doc *value_take)
{
	need_ok(json_array_append_new(list, value_take));
}

void json_doc_free(json_doc **doc)
{
	json_decref(*doc);
	*doc = NULL;
}

static int take_dump(const char *p, size_t n, void *arg)
{
	buf_add(arg, p, n);
	return 0;
}

void json_doc_dump(const json_doc *doc, int indent, struct buf *out)
{
	size_t flags = JSON_SORT_KEYS | JSON_ENCODE_ANY;
	struct buf dump = { 0 }, plain = { 0 };

	flags |= indent > 0 ? JSON_INDENT((size_t)indent) : JSON_COMPACT;
	need_ok(json_dump_callback(doc, take_dump, &dump, flags));
	doc_unmark((struct str){ dump.p, dump.n }, &plain);
	doc_escape((struct str){ plain.p, plain.n }, out);
	buf_release(&plain);
	buf_release(&dump);
}

json_doc *json_doc_parse(struct str text, bool comments, struct err *err)
{
	struct buf blanked = { 0 }, tame = { 0 };
	json_error_t why;
	json_t *doc = NULL;

	if (comments) {
		doc_blank_comments(text, &blanked);
		text = (struct str){ blanked.p, blanked.n };
	}
	if (doc_check(text, err) < 0)
		goto out;
	doc_tame(text, &tame);
	doc = json_loadb(tame.p, tame.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
	if (!doc)
		err_set(err, ERR_CORRUPT, "line %d, column %d: %s", why.line, why.column, why.text);
out:
	buf_release(&blanked);
	buf_release(&tame);
	return doc;
}

bool json_doc_is_object(const json_doc *doc)
{
	return json_is_object(doc);
}

bool json_doc_is_list(const json_doc *doc)
{
	return json_is_array(doc);
}

const json_doc *json_doc_get(const json_doc *object, const char *key)
{
	return json_object_get(object, key);
}

bool json_doc_get_string(const json_doc *doc, struct str *out)
{
	if (!json_is_string(doc))
		return false;
	*out = (struct str){ json_string_value(doc), json_string_length(doc) };
	return doc_take_string(out);
}

bool json_doc_get_int(const json_doc *doc, int64_t *out)
{
	if (!json_is_integer(doc))
		return false;
	*out = json_integer_value(doc);
	return true;
}

bool json_doc_get_bool(const json_doc *doc, bool *out)
{
	if (!json_is_boolean(doc))
		return false;
	*out = json_is_true(doc);
	return true;
}

size_t json_doc_count(const json_doc *container)
{
	return json_is_object(container) ? json_object_size(container) : json_array_size(container);
}

const json_doc *json_doc_at(const json_doc *list, size_t i)
{
	return json_array_get(list, i);
}

struct member {
	struct str key;
	const json_doc *value;
};

static int by_key(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = memcmp(x->key.p, y->key.p, x->key.n < y->key.n ? x->key.n : y->key.n);

	return order ? order : (x->key.n > y->key.n) - (x->key.n < y->key.n);
}

void json_doc_each(const json_doc *object,
	bool (*fn)(struct str key, const json_doc *value, void *arg), void *arg)
{
	json_t *o = (json_t *)object; /* jansson's iterators can also set */
	size_t n = json_object_size(o), i = 0;
	struct member *members;
	void *at;

	if (n == 0)
		return;
	members = xcalloc(n, sizeof(*members));
	for (at = json_object_iter(o); at; at = json_object_iter_next(o, at), i++) {
#if JANSSON_VERSION_HEX >= 0x020E00
		members[i].key =
			(struct str){ json_object_iter_key(at), json_object_iter_key_len(at) };
#else
		members[i].key = str_of(json_object_iter_key(at));
#endif
		doc_take_string(&members[i].key);
		members[i].value = json_object_iter_value(at);
	}
	qsort(members, n, sizeof(*members), by_key);
	for (i = 0; i < n && fn(members[i].key, members[i].value, arg); i++)
		;
	free(members);
}
