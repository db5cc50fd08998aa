/*
 * calls.c - the tool calls that an answer carries in its metadata: a string
 * that holds a JSON list of {id, name, argumentsJson}, the last itself a
 * string of JSON. All of it is written by models and programs we do not know,
 * so each layer may hold anything.
 */
#include "config.h"

#include "format/tree/internal.h"

static bool is_json(struct str text, enum json_type type)
{
	struct json_scan scan;

	if (json_scan_value(text.p, text.n, &scan) != JSON_OK ||
		!json_is_blank(text.p + scan.end, text.n - scan.end))
		return false;
	return json_type_of((struct str){ text.p + scan.start, scan.end - scan.start }) == type;
}

void tree_calls_init(struct tree_calls *c, const struct tree_record *rec)
{
	struct str raw = tree_metadata_get(rec, "toolCalls"), text;

	*c = (struct tree_calls){ 0 };
	if (!raw.n)
		return;
	json_string(raw, &c->text, SIZE_MAX);
	text = (struct str){ c->text.p ? c->text.p : "", c->text.n };
	c->is_list = is_json(text, JSON_LIST);
	if (c->is_list)
		json_iter_init(&c->it, text);
}

void tree_calls_release(struct tree_calls *c)
{
	buf_release(&c->text);
}

bool tree_calls_next(struct tree_calls *c, struct tree_call *call)
{
	struct str key, item;

	if (!c->is_list || !json_iter_next(&c->it, &key, &item))
		return false;
	*call = (struct tree_call){ 0 };
	if (json_type_of(item) != JSON_OBJECT)
		return true;
	call->id = json_get(item, "id");
	call->name = json_get(item, "name");
	call->arguments = json_get(item, "argumentsJson");
	return true;
}

/* A string decoded, any other value as it is written; at most `limit` bytes. */
static void add_value(struct buf *out, struct str raw, size_t limit)
{
	if (json_type_of(raw) == JSON_STRING)
		json_string(raw, out, limit);
	else
		buf_add(out, raw.p, raw.n < limit ? raw.n : limit);
}

void tree_call_words(const struct tree_call *call, size_t limit, struct buf *out)
{
	size_t start = out->n;
	struct buf text = { 0 };
	struct json_iter it;
	struct str key, value, arguments;

	add_value(&text, call->arguments, SIZE_MAX);
	arguments = (struct str){ text.p ? text.p : "", text.n };
	if (!is_json(arguments, JSON_OBJECT)) {
		buf_add(out, arguments.p, arguments.n < limit ? arguments.n : limit);
		goto out;
	}
	json_iter_init(&it, arguments);
	while (out->n - start < limit && json_iter_next(&it, &key, &value)) {
		if (out->n > start)
			buf_addc(out, ' ');
		if (out->n - start < limit)
			add_value(out, value, limit - (out->n - start));
	}
out:
	buf_release(&text);
}
