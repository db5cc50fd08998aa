/* Tree sessions: what rows and panes get to see of an entry, small or large. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/tree/tree.h"
#include "tests/lib/temp.h"

static char dir[TEMP_PATH], path[2 * TEMP_PATH];
static struct arena arena;

static int set_up(void **state)
{
	temp_make(dir);
	snprintf(path, sizeof(path), "%s/s.jsonl", dir);
	return 0;
}

static int tear_down(void **state)
{
	temp_remove(dir);
	arena_free(&arena);
	return 0;
}

static struct session *load_text(const char *text, size_t n)
{
	struct session *s = NULL;
	struct err err = { 0 };

	temp_put(path, text, n);
	if (format_tree.open(path, &s, &err) < 0)
		fail_msg("%s", err.text);
	while (format_tree.step(s, 1000, &err) == 1)
		;
	assert_int_equal(err.code, 0);
	return s;
}

static struct session *load(const char *text)
{
	return load_text(text, strlen(text));
}

static void assert_preview(struct session *s, uint32_t entry, size_t limit, const char *who,
	const char *text)
{
	struct buf have_text = { 0 }, have_who = { 0 };
	struct err err = { 0 };

	buf_adds(&have_text, "");
	if (s->ops->preview(s, entry, limit, &have_text, &have_who, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(have_who.p, who);
	assert_int_equal(have_text.n, strlen(text));
	assert_memory_equal(have_text.p, text, have_text.n);
	buf_release(&have_text);
	buf_release(&have_who);
}

static struct content show(struct session *s, uint32_t entry, size_t limit)
{
	struct content c;
	struct err err = { 0 };

	if (s->ops->content(s, entry, limit, &arena, &c, &err) < 0)
		fail_msg("%s", err.text);
	return c;
}

static void assert_part(const struct content *c, size_t i, enum part_kind kind, const char *name,
	const char *text)
{
	assert_true(i < c->n);
	assert_int_equal(c->v[i].kind, kind);
	assert_true(str_eqs(c->v[i].name, name));
	if (!str_eqs(c->v[i].text, text))
		fail_msg("part %zu says %.*s, expected %s", i, (int)c->v[i].text.n, c->v[i].text.p, text);
}

static const char calls[] =
	"{\"id\":\"a\",\"role\":\"ASSISTANT\",\"content\":\"Let me look.\",\"timestamp\":1,\"metadata\":{"
	"\"planId\":\"p1\",\"toolCalls\":\"[{\\\"id\\\":\\\"c1\\\",\\\"name\\\":\\\"read\\\","
	"\\\"argumentsJson\\\":\\\"{\\\\\\\"path\\\\\\\": \\\\\\\"a.c\\\\\\\", \\\\\\\"n\\\\\\\": 10}\\\"},"
	"{\\\"id\\\":\\\"c2\\\",\\\"name\\\":\\\"run\\\",\\\"argumentsJson\\\":\\\"not json\\\"},7]\"}}\n"
	"{\"id\":\"b\",\"parentId\":\"a\",\"role\":\"TOOL_RESULT\",\"content\":\"Error: x\",\"timestamp\":2,"
	"\"metadata\":{\"toolCallId\":\"c2\",\"toolName\":\"run\"}}\n"
	"{\"id\":\"c\",\"parentId\":\"b\",\"role\":\"TOOL_RESULT\",\"content\":\"int main;\",\"timestamp\":3,"
	"\"metadata\":{\"toolCallId\":\"c1\",\"toolName\":\"read\",\"extra\":\"e\"}}\n"
	"{\"id\":\"d\",\"parentId\":\"c\",\"role\":\"ASSISTANT\",\"content\":\"\",\"timestamp\":4,\"metadata\":{"
	"\"toolCalls\":\"[{\\\"name\\\":\\\"read\\\",\\\"argumentsJson\\\":\\\"{\\\\\\\"path\\\\\\\": \\\\\\\"b.c\\\\\\\"}\\\"},"
	"{\\\"name\\\":\\\"ls\\\"}]\"}}\n"
	"{\"id\":\"e\",\"parentId\":\"d\",\"role\":\"TOOL_RESULT\",\"content\":\"\",\"timestamp\":5}\n";

static void test_calls(void **state)
{
	struct session *s = load(calls);
	struct content c = show(s, 0, 1000);

	assert_int_equal(s->n, 5);
	assert_string_equal(c.role, "ASSISTANT");
	assert_false(c.more);
	assert_int_equal(c.n, 7);
	assert_part(&c, 0, PART_TEXT, "", "Let me look.");
	assert_part(&c, 1, PART_CALL, "read", "{\"path\": \"a.c\", \"n\": 10}");
	assert_true(str_eqs(c.v[1].ref, "c1"));
	assert_int_equal(c.v[1].entry, ENTRY_NONE);
	assert_part(&c, 2, PART_RESULT, "read", "int main;");
	assert_int_equal(c.v[2].entry, 2);
	assert_false(c.v[2].failed);
	assert_part(&c, 3, PART_CALL, "run", "not json");
	assert_part(&c, 4, PART_RESULT, "run", "Error: x");
	assert_int_equal(c.v[4].entry, 1);
	assert_true(c.v[4].failed);
	assert_part(&c, 5, PART_CALL, "", "");
	assert_part(&c, 6, PART_META, "planId", "p1");
	assert_preview(s, 0, 100, "assistant", "Let me look.");
	assert_preview(s, 0, 3, "assistant", "Let");

	c = show(s, 2, 1000);
	assert_int_equal(c.n, 2);
	assert_string_equal(c.role, "TOOL_RESULT");
	assert_part(&c, 0, PART_PLAIN, "read", "int main;");
	assert_true(str_eqs(c.v[0].ref, "c1"));
	assert_part(&c, 1, PART_META, "extra", "e");
	assert_preview(s, 2, 100, "read", "int main;");
	assert_preview(s, 3, 100, "assistant", "read b.c, ls ");
	assert_preview(s, 3, 6, "assistant", "read b");
	assert_preview(s, 4, 100, "tool", "");
	c = show(s, 3, 1000);
	assert_part(&c, 0, PART_CALL, "read", "{\"path\": \"b.c\"}");
	session_free(&s);
}

static void test_kinds(void **state)
{
	struct session *s = load(
		"{\"id\":\"s\",\"role\":\"SYSTEM\",\"content\":\"be kind\",\"timestamp\":1}\n"
		"{\"id\":\"m\",\"role\":\"SYSTEM\",\"content\":\"sum\",\"timestamp\":1,\"metadata\":{\"_compacted\":\"true\"}}\n"
		"{\"id\":\"u\",\"role\":\"USER\",\"content\":\"h\\u00e9\\n\\ud83d\\ude00\",\"timestamp\":1,"
		"\"metadata\":{\"k\":\"1\",\"k\":\"2\"}}\n"
		"{\"id\":\"x\",\"role\":\"DEVEL\\u004fPER\",\"content\":\"x\",\"timestamp\":1}\n"
		"{\"id\":\"o\",\"parentId\":\"zz\",\"role\":\"USER\",\"content\":\"x\",\"timestamp\":1}\n"
		"{\"id\":\"j\",\"role\":\"ASSISTANT\",\"content\":\"\",\"timestamp\":1,\"metadata\":{\"toolCalls\":\"{broken\"}}\n");
	struct content c = show(s, 0, 1000);

	assert_part(&c, 0, PART_PLAIN, "", "be kind");
	assert_preview(s, 0, 100, "system", "be kind");
	c = show(s, 1, 1000);
	assert_part(&c, 0, PART_TEXT, "", "sum");
	assert_part(&c, 1, PART_META, "_compacted", "true");
	assert_preview(s, 1, 100, "summary", "sum");
	c = show(s, 2, 1000);
	assert_int_equal(c.n, 2);
	assert_part(&c, 0, PART_TEXT, "", "h\xC3\xA9\n\xF0\x9F\x98\x80");
	assert_part(&c, 1, PART_META, "k", "2");
	/* A cut never splits a character. */
	c = show(s, 2, 2);
	assert_part(&c, 0, PART_TEXT, "", "h");
	assert_true(c.more && c.v[0].more);
	assert_int_equal(c.v[0].whole, strlen("h\\u00e9\\n\\ud83d\\ude00"));
	c = show(s, 3, 1000);
	assert_string_equal(c.role, "DEVELOPER");
	assert_part(&c, 0, PART_PLAIN, "", "x");
	assert_preview(s, 3, 100, "DEVELOPER", "x");
	c = show(s, 4, 1000);
	assert_part(&c, 0, PART_NOTE, "", "its parent zz is not in the file");
	/* Calls that are no list are shown as they are. */
	c = show(s, 5, 1000);
	assert_int_equal(c.n, 1);
	assert_part(&c, 0, PART_META, "toolCalls", "{broken");
	assert_preview(s, 5, 100, "assistant", "");
	assert_int_equal(s->ops->content(s, 6, 10, &arena, &c, NULL), ERR_NOTFOUND);
	session_free(&s);
}

/* A record with a content of n bytes and the given text behind it. */
static void add_large(struct buf *text, const char *front, size_t n, const char *behind)
{
	buf_adds(text, front);
	for (size_t i = 0; i < n / 10; i++)
		buf_adds(text, i % 100 == 7 ? "\\\"\\\\,\xC3\xA9\\n" : "0123456789");
	buf_adds(text, behind);
	buf_addc(text, '\n');
}

/* The content decoded, by another way. */
static struct buf decoded(const struct buf *text, size_t from)
{
	struct buf out = { 0 };

	for (size_t i = from; text->p[i] != '"'; i++) {
		if (text->p[i] == '\\') {
			i++;
			buf_addc(&out, text->p[i] == 'n' ? '\n' : text->p[i]);
		} else {
			buf_addc(&out, text->p[i]);
		}
	}
	return out;
}

#define FRONT "{\"id\":\"r\",\"role\":\"TOOL_RESULT\",\"content\":\""

static void check_large(size_t n, const char *behind, const char *name)
{
	struct buf text = { 0 }, want;
	struct session *s;
	struct content c;

	add_large(&text, FRONT, n, behind);
	want = decoded(&text, strlen(FRONT));
	s = load_text(text.p, text.n);
	assert_int_equal(s->n, 1);
	c = show(s, 0, SIZE_MAX);
	assert_false(c.more);
	assert_true(str_eqs(c.v[0].name, name));
	assert_int_equal(c.v[0].text.n, want.n);
	assert_memory_equal(c.v[0].text.p, want.p, want.n);
	c = show(s, 0, 70000);
	assert_int_equal(c.more, want.n > 70000);
	assert_true(c.v[0].text.n > 69990 || c.v[0].text.n == want.n);
	assert_memory_equal(c.v[0].text.p, want.p, c.v[0].text.n);
	want.p[200] = '\0';
	assert_preview(s, 0, 200, n < (1 << 20) || strcmp(name, "late") != 0 ? name : "tool", want.p);
	session_free(&s);
	buf_release(&text);
	buf_release(&want);
}

static void test_large(void **state)
{
	static const char last[] = "\",\"timestamp\":1,\"metadata\":{\"toolName\":\"grep\"}}";
	static const char spaced[] =
		"\" , \"timestamp\" : 1 ,\"metadata\" : { \"toolName\" : \"grep\" } }";
	/* Not the last key: only the whole record tells. */
	static const char early[] = "\",\"metadata\":{\"toolName\":\"late\"},\"timestamp\":1}";
	/* A member of another object looks the same but for what follows it. */
	static const char nested[] = "\",\"timestamp\":1,\"metadata\":{\"toolName\":\"late\"},"
		"\"x\":{\"y\":1,\"metadata\":{\"toolName\":\"trap\"}}}";
	static const size_t sizes[] = { 10000, 20000, 100000, 300000, 2000000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		check_large(sizes[i], last, "grep");
		check_large(sizes[i], spaced, "grep");
		check_large(sizes[i], early, "late");
		check_large(sizes[i], nested, "late");
	}
}

/* Reads end inside of escapes and characters: nothing may be lost at the seams. */
static void test_seams(void **state)
{
	enum { PAIRS = 40000 };
	struct buf text = { 0 };
	struct session *s;
	struct content c;

	buf_adds(&text, FRONT "x");
	for (int i = 0; i < PAIRS; i++)
		buf_adds(&text, i % 2 ? "\\ud83d\\ude00" : "\xF0\x9F\x98\x80");
	buf_adds(&text, "\",\"timestamp\":1}\n");
	s = load_text(text.p, text.n);
	c = show(s, 0, SIZE_MAX);
	assert_false(c.more);
	assert_int_equal(c.v[0].text.n, 1 + 4 * PAIRS);
	for (size_t i = 0; i < PAIRS; i++)
		assert_memory_equal(c.v[0].text.p + 1 + 4 * i, "\xF0\x9F\x98\x80", 4);
	session_free(&s);
	buf_release(&text);
}

/* Two calls under one id: each gets one of the two results. */
static void test_same_call_id(void **state)
{
	struct session *s = load(
		"{\"id\":\"a\",\"role\":\"ASSISTANT\",\"content\":\"\",\"timestamp\":1,\"metadata\":{"
		"\"toolCalls\":\" [{\\\"id\\\":\\\"c\\\"},{\\\"id\\\":\\\"c\\\"}] \"}}\n"
		"{\"id\":\"b\",\"parentId\":\"a\",\"role\":\"TOOL_RESULT\",\"content\":\"one\",\"timestamp\":2,"
		"\"metadata\":{\"toolCallId\":\"c\"}}\n"
		"{\"id\":\"d\",\"parentId\":\"b\",\"role\":\"TOOL_RESULT\",\"content\":\"two\",\"timestamp\":2,"
		"\"metadata\":{\"toolCallId\":\"c\"}}\n");
	struct content c = show(s, 0, 100);

	assert_int_equal(c.n, 4);
	assert_part(&c, 1, PART_RESULT, "", "one");
	assert_part(&c, 3, PART_RESULT, "", "two");
	session_free(&s);
}

/* Calls with far too much in them stay bounded. */
static void test_many(void **state)
{
	struct buf text = { 0 };
	struct session *s;
	struct content c;
	size_t ncalls = 0, nmeta = 0;

	buf_adds(&text, "{\"id\":\"a\",\"role\":\"ASSISTANT\",\"content\":\"\",\"timestamp\":1,\"metadata\":{");
	for (int i = 0; i < 5000; i++)
		buf_printf(&text, "\"k%d\":\"v\",", i);
	buf_adds(&text, "\"toolCalls\":\"[");
	for (int i = 0; i < 1000; i++)
		buf_printf(&text, "%s{\\\"id\\\":\\\"%d\\\"}", i ? "," : "", i);
	buf_adds(&text, "]\"}}\n");
	s = load_text(text.p, text.n);
	assert_int_equal(s->n, 1);
	c = show(s, 0, 1000);
	for (size_t i = 0; i < c.n; i++) {
		ncalls += c.v[i].kind == PART_CALL;
		nmeta += c.v[i].kind == PART_META;
	}
	assert_int_equal(ncalls, 256);
	assert_int_equal(nmeta, 1024);
	assert_part(&c, 256, PART_NOTE, "", "744 more calls are not shown");
	assert_part(&c, c.n - 1, PART_NOTE, "", "3976 more keys of the metadata are not shown");
	session_free(&s);
	buf_release(&text);
}

static void test_peek_and_record(void **state)
{
	struct session *s = load("{\"id\":\"a\",\"role\":\"USER\",\"content\":\"\",\"timestamp\":1}\nxyz");
	struct buf out = { 0 };
	char bytes[8];
	size_t got;

	assert_int_equal(s->ops->record(s, 0, &out, NULL), 0);
	assert_string_equal(out.p, "{\"id\":\"a\",\"role\":\"USER\",\"content\":\"\",\"timestamp\":1}");
	assert_int_equal(s->ops->peek(s, s->committed, bytes, sizeof(bytes), &got, NULL), 0);
	assert_int_equal(got, 3);
	assert_memory_equal(bytes, "xyz", 3);
	/* The file is cut behind our back: an error, not a crash. */
	temp_put(path, "{", 1);
	assert_int_equal(s->ops->record(s, 0, &out, NULL), ERR_CHANGED);
	buf_release(&out);
	session_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_seams),
		cmocka_unit_test(test_same_call_id),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_peek_and_record),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
