/*
 * fuzz-json.c - one JSON line: the fast scanner and the plain one agree on
 * everything, whatever was accepted can be taken apart, and a document of it
 * comes back from its own dump.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "json/doc.h"
#include "json/scan.h"
#include "json/value.h"

static const char *const keys[] = { "id", "parentId", "role", "content", "timestamp", "metadata",
	"a" };
enum { NKEYS = sizeof(keys) / sizeof(keys[0]) };

static void check_same(
	const struct json_scan *a, const struct json_scan *b, enum json_status status)
{
	if (status == JSON_OK) {
		HOLDS(a->start == b->start && a->end == b->end);
		for (int i = 0; i < NKEYS; i++) {
			HOLDS(a->field[i].type == b->field[i].type);
			if (a->field[i].type == JSON_NONE)
				continue;
			HOLDS(a->field[i].off == b->field[i].off &&
				a->field[i].len == b->field[i].len);
			HOLDS(a->field[i].escaped == b->field[i].escaped);
			HOLDS(a->field[i].repeated == b->field[i].repeated);
		}
	} else if (status == JSON_BAD || status == JSON_SHORT) {
		HOLDS(a->error_at == b->error_at);
		HOLDS(a->reason && b->reason && strcmp(a->reason, b->reason) == 0);
	}
}

static void take_string(struct str raw)
{
	struct buf whole = { 0 }, parts = { 0 };
	size_t used = json_string(raw, &whole, SIZE_MAX);
	size_t at = json_string(raw, &parts, 3);

	HOLDS(used == raw.n);
	HOLDS(whole.n == 0 || utf8_valid_prefix(whole.p, whole.n) == whole.n);
	while (at < raw.n) {
		size_t more = json_string_more((struct str){ raw.p + at, raw.n - at }, &parts, 4);

		HOLDS(more > 0);
		at += more;
	}
	HOLDS(parts.n == whole.n && (whole.n == 0 || memcmp(parts.p, whole.p, whole.n) == 0));
	buf_release(&whole);
	buf_release(&parts);
}

static void take_field(struct str raw)
{
	struct json_iter it;
	struct str key, value;
	struct buf pretty = { 0 };
	int64_t number;

	if (json_type_of(raw) == JSON_STRING)
		take_string(raw);
	json_int64(raw, &number);
	json_iter_init(&it, raw);
	while (json_iter_next(&it, &key, &value)) {
		HOLDS(value.p >= raw.p && value.p + value.n <= raw.p + raw.n);
		if (json_type_of(value) == JSON_STRING)
			take_string(value);
	}
	json_pretty(&pretty, raw, 2, 4096);
	buf_release(&pretty);
}

static void check_pretty(struct str text)
{
	struct buf whole = { 0 }, some = { 0 };

	HOLDS(json_pretty(&whole, text, 2, SIZE_MAX));
	json_pretty(&some, text, 2, whole.n / 2);
	HOLDS(some.n <= whole.n / 2);
	buf_release(&whole);
	buf_release(&some);
}

static void check_doc(struct str text, bool accepted)
{
	json_doc *doc = json_doc_parse(text, false, NULL), *again;
	struct buf first = { 0 }, second = { 0 };

	HOLDS(accepted == (doc != NULL));
	if (!doc)
		return;
	json_doc_dump(doc, 0, &first);
	again = json_doc_parse((struct str){ first.p, first.n }, false, NULL);
	HOLDS(again != NULL);
	json_doc_dump(again, 0, &second);
	HOLDS(first.n == second.n && memcmp(first.p, second.p, first.n) == 0);
	json_doc_free(&doc);
	json_doc_free(&again);
	buf_release(&first);
	buf_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;
	struct json_scan fast, plain;
	enum json_status status = json_scan(p, size, keys, NKEYS, &fast);
	struct str text = { p, size };
	struct buf string = { 0 };
	struct json_iter it;
	struct str key, value;

	HOLDS(status == json_scan_bytewise(p, size, keys, NKEYS, &plain));
	check_same(&fast, &plain, status);
	if (status == JSON_OK) {
		HOLDS(fast.start < fast.end && fast.end <= size);
		for (int i = 0; i < NKEYS; i++)
			if (fast.field[i].type != JSON_NONE)
				take_field(json_raw(p, &fast.field[i]));
	}
	if (status == JSON_OK)
		check_doc((struct str){ p + fast.start, fast.end - fast.start }, true);
	else if (status == JSON_SHORT)
		check_doc(text, false);
	/* And what no scanner has accepted does no harm. */
	check_pretty(text);
	HOLDS(json_string(text, &string, SIZE_MAX) <= size);
	buf_release(&string);
	json_iter_init(&it, text);
	while (json_iter_next(&it, &key, &value))
		HOLDS(value.n > 0 && value.p >= p && value.p + value.n <= p + size);
	return 0;
}
