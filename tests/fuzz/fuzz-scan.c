/*
 * fuzz-scan.c - the scanner and all that reads what it accepts. Both versions
 * must agree; what is accepted must be walked, decoded and parsed without a
 * fault, and a document of it must come back from its own dump.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "json/doc.h"
#include "json/scan.h"
#include "json/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const keys[] = { "id", "parentId", "role", "content", "timestamp", "metadata",
	"" };
enum { NKEYS = sizeof(keys) / sizeof(keys[0]) };

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void compare(const struct json_scan *a, const struct json_scan *b)
{
	size_t i;

	require(a->start == b->start && a->end == b->end);
	require(a->error_at == b->error_at && a->reason == b->reason);
	for (i = 0; i < NKEYS; i++) {
		const struct json_field *x = &a->field[i], *y = &b->field[i];

		require(x->off == y->off && x->len == y->len && x->type == y->type);
		require(x->escaped == y->escaped && x->repeated == y->repeated);
	}
}

static void check_strings(struct str raw, bool accepted)
{
	struct buf whole = { 0 }, pieces = { 0 };
	size_t used, cut = raw.n / 2;

	used = json_string(raw, &whole, SIZE_MAX);
	require(used <= raw.n && (!accepted || used == raw.n));
	if (accepted)
		require(utf8_valid_prefix(whole.p ? whole.p : "", whole.n) == whole.n);
	used = json_string((struct str){ raw.p, cut }, &pieces, SIZE_MAX);
	if (accepted && used) {
		used += json_string_more(
			(struct str){ raw.p + used, raw.n - used }, &pieces, SIZE_MAX);
		require(used == raw.n && pieces.n == whole.n);
		require(whole.n == 0 || memcmp(whole.p, pieces.p, whole.n) == 0);
	}
	buf_release(&whole);
	buf_release(&pieces);
}

/* One level is enough: the values of it come back as inputs of their own. */
static void check_members(struct str raw, bool accepted)
{
	struct json_iter it;
	struct str key, value;

	json_iter_init(&it, raw);
	while (json_iter_next(&it, &key, &value)) {
		require(value.n > 0 && value.p >= raw.p && value.p + value.n <= raw.p + raw.n);
		if (key.n && accepted)
			check_strings(key, true);
		if (json_type_of(value) == JSON_STRING)
			check_strings(value, accepted);
	}
	require(!accepted || !it.bad);
}

static void check_pretty(struct str text)
{
	struct buf whole = { 0 }, some = { 0 };

	require(json_pretty(&whole, text, 2, SIZE_MAX));
	json_pretty(&some, text, 2, whole.n / 2);
	require(some.n <= whole.n / 2);
	buf_release(&whole);
	buf_release(&some);
}

static void check_doc(struct str text, bool accepted)
{
	json_doc *doc = json_doc_parse(text, false, NULL), *again;
	struct buf first = { 0 }, second = { 0 };

	require(accepted == (doc != NULL));
	if (!doc)
		return;
	json_doc_dump(doc, 0, &first);
	again = json_doc_parse((struct str){ first.p, first.n }, false, NULL);
	require(again != NULL);
	json_doc_dump(again, 0, &second);
	require(first.n == second.n && memcmp(first.p, second.p, first.n) == 0);
	json_doc_free(&doc);
	json_doc_free(&again);
	buf_release(&first);
	buf_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_scan a, b;
	struct str text = { (const char *)data, size };
	enum json_status status = json_scan(text.p, size, keys, NKEYS, &a);

	require(status == json_scan_bytewise(text.p, size, keys, NKEYS, &b));
	compare(&a, &b);
	require(a.start <= size && a.end <= size && a.error_at <= size);
	check_members(text, false);
	check_strings(text, false);
	check_pretty(text);
	if (status == JSON_OK) {
		struct str object = { text.p + a.start, a.end - a.start };

		require(object.p[0] == '{' && object.p[object.n - 1] == '}');
		check_members(object, true);
		check_doc(object, true);
	} else if (status == JSON_SHORT) {
		require(a.error_at == size);
		check_doc(text, false);
	}
	return 0;
}
