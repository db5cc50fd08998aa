/* Tree sessions: the sidecar, what is written, and entries taken apart to be written again. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/temp.h"
#include "tests/lib/tree-files.h"

#define ENTRY(id, rest) "{\"id\":\"" id "\",\"role\":\"USER\",\"content\":\"c\",\"timestamp\":1" rest "}"

/* ---- sidecar ---- */

static void assert_sidecar(const char *old, const char *value, const char *want)
{
	struct buf out = { 0 };
	struct err err = { 0 };
	struct str v = value ? str_of(value) : (struct str){ 0 };
	int rc = tree_sidecar_set(str_of(old), "title", v, &out, &err);

	if (!want) {
		assert_int_equal(rc, ERR_CORRUPT);
		assert_int_equal(out.n, 0);
	} else {
		assert_int_equal(rc, 0);
		assert_string_equal(out.p, want);
	}
	buf_release(&out);
}

static void test_sidecar_set(void **state)
{
	assert_sidecar("", "T", "{\"title\":\"T\"}");
	assert_sidecar("{}", "T\n", "{\"title\":\"T\\n\"}");
	assert_sidecar("{ \"model\" : \"m\" , \"x\": [1, 2] }\n", "T",
		"{\"model\":\"m\",\"x\":[1, 2],\"title\":\"T\"}");
	assert_sidecar("{\"title\":\"old\",\"model\":\"m\",\"title\":7}", "T",
		"{\"title\":\"T\",\"model\":\"m\"}");
	assert_sidecar("{\"title\":\"old\",\"model\":\"m\"}", NULL, "{\"model\":\"m\"}");
	assert_sidecar("{\"model\":\"m\"}", NULL, "{\"model\":\"m\"}");
	assert_sidecar("{not json", "T", NULL);
	assert_sidecar("[1]", "T", NULL);
	assert_sidecar("{} x", "T", NULL);
}

static void test_sidecar_read(void **state)
{
	enum log_change change;
	struct err err = { 0 };
	struct session *s;

	temp_clear(files_dir);
	temp_puts(in_dir("s.jsonl"), ENTRY("a", "") "\n");
	temp_puts(in_dir("s.meta.json"),
		"\xEF\xBB\xBF{\"title\":\"a\\ud800\\u0000b\",\"model\":7,\"other\":\"x\"}\n");
	s = load_file(in_dir("s.jsonl"));
	assert_int_equal(s->nmeta, 1);
	assert_true(str_eq(*session_meta(s, "title"), (struct str){ "a\xEF\xBF\xBD\0b", 6 }));
	/* A changed sidecar is seen, a missing one forgotten. */
	temp_puts(in_dir("s.meta.json"), "{\"title\":\"another one\",\"model\":\"m\"}");
	assert_int_equal(format_tree.refresh(s, &change, &err), 0);
	assert_int_equal(change, LOG_SAME);
	assert_true(str_eqs(*session_meta(s, "title"), "another one"));
	assert_true(str_eqs(*session_meta(s, "model"), "m"));
	unlink(in_dir("s.meta.json"));
	assert_int_equal(format_tree.refresh(s, &change, &err), 0);
	assert_int_equal(s->nmeta, 0);
	session_free(&s);
}

/* ---- writing ---- */

static void assert_rewrites(const char *name)
{
	struct session *s = load_file(fixture(name));
	struct buf record = { 0 }, text = { 0 };
	struct arena a = { 0 };

	for (uint32_t i = 0; i < s->n; i++) {
		struct tree_fields f;
		struct tree_entry e = { 0 };

		assert_int_equal(tree_read_fields(s, i, &a, &f, NULL), 0);
		e.id = (struct str){ f.id.p, f.id.n };
		if (f.has_parent)
			e.parent = (struct str){ f.parent.p, f.parent.n };
		e.role = (struct str){ f.role.p, f.role.n };
		e.content = (struct str){ f.content.p, f.content.n };
		e.time = f.time;
		e.metadata = f.metadata;
		e.nmetadata = f.nmetadata;
		buf_clear(&text);
		tree_write_entry(&text, &e);
		buf_clear(&record);
		assert_int_equal(s->ops->record(s, i, &record, NULL), 0);
		assert_int_equal(record.n, text.n);
		assert_memory_equal(record.p, text.p, text.n);
		tree_fields_release(&f);
	}
	arena_free(&a);
	buf_release(&record);
	buf_release(&text);
	session_free(&s);
}

static void test_write(void **state)
{
	static const char *const names[] = { "linear", "branches", "compacted", "hostile-text", "crlf",
		"glued", "forward-parent", "newline-at-end" };
	struct meta metadata[] = { { "a\"", { "\\\x01\x7F", 3 } }, { "b", { "", 0 } } };
	struct tree_entry e = { .id = str_of("i"), .parent = { "", 0 }, .role = str_of("USER"),
		.content = { "\b\t\n\f\r\0/\xC3\xA9", 9 }, .time = INT64_MIN, .metadata = metadata,
		.nmetadata = 2 };
	struct buf out = { 0 };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_rewrites(names[i]);
	tree_write_entry(&out, &e);
	assert_string_equal(out.p,
		"{\"id\":\"i\",\"parentId\":\"\",\"role\":\"USER\",\"content\":\"\\b\\t\\n\\f\\r\\u0000/\xC3\xA9\","
		"\"timestamp\":-9223372036854775808,\"metadata\":{\"a\\\"\":\"\\\\\\u0001\x7F\",\"b\":\"\"}}");
	buf_release(&out);
}

/* Repeated metadata keys: the place of the first, the value of the last. */
static void test_fields(void **state)
{
	struct session *s = load_str(ENTRY("a",
		",\"metadata\":{\"z\":\"1\",\"b\":\"2\",\"z\":\"3\",\"a\":\"4\"}"));
	struct arena a = { 0 };
	struct tree_fields f;

	assert_int_equal(tree_read_fields(s, 0, &a, &f, NULL), 0);
	assert_false(f.has_parent);
	assert_int_equal(f.nmetadata, 3);
	assert_string_equal(f.metadata[0].key, "z");
	assert_true(str_eqs(f.metadata[0].value, "3"));
	assert_string_equal(f.metadata[1].key, "b");
	assert_string_equal(f.metadata[2].key, "a");
	tree_fields_release(&f);
	assert_true(tree_read_fields(s, 1, &a, &f, NULL) < 0);
	tree_fields_release(&f);
	arena_free(&a);
	session_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sidecar_set),
		cmocka_unit_test(test_sidecar_read),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_fields),
	};

	return cmocka_run_group_tests(tests, files_set_up, files_tear_down);
}
