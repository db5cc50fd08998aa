/* Sessions without a format: ids, links, circles, taking back, names, labels. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "model/internal.h"
#include "tests/lib/mem-session.h"

static uint32_t find(struct session *s, const char *id)
{
	return session_find(s, str_of(id));
}

static void test_size(void **state)
{
	assert_int_equal(sizeof(struct entry), 48);
}

static void test_links(void **state)
{
	struct session *s = mem_tree("a b:a c:a d:b e x f:c");
	uint32_t n, *branch;

	assert_int_equal(s->n, 7);
	assert_int_equal(s->nroots, 3);
	assert_int_equal(s->nleaves, 4);
	assert_int_equal(s->nforks, 1);
	assert_int_equal(s->roots_first, 0);
	assert_int_equal(s->entries[0].next_sibling, 4);
	assert_int_equal(s->entries[4].next_sibling, 5);
	assert_int_equal(s->entries[0].first_child, 1);
	assert_int_equal(s->entries[1].next_sibling, 2);
	assert_int_equal(s->entries[2].next_sibling, ENTRY_NONE);
	assert_true(session_is_fork(s, 0));
	assert_false(session_is_fork(s, 1));
	assert_true(session_is_leaf(s, 3));
	assert_false(session_is_leaf(s, 1));
	assert_int_equal(s->tip, 6);
	assert_string_equal(session_tip_reason(s), "last-entry");
	assert_int_equal(session_depth(s, 6), 2);
	assert_int_equal(session_common(s, 3, 6), 0);
	assert_int_equal(session_common(s, 6, 2), 2);
	assert_int_equal(session_common(s, 3, 4), ENTRY_NONE);
	branch = session_branch(s, 6, &n);
	assert_int_equal(n, 3);
	assert_int_equal(branch[0], 0);
	assert_int_equal(branch[1], 2);
	assert_int_equal(branch[2], 6);
	free(branch);
	branch = session_branch(s, ENTRY_NONE, &n);
	assert_int_equal(n, 0);
	free(branch);
	assert_int_equal(s->first_time, 0);
	assert_int_equal(s->last_time, 6);
	session_free(&s);
	assert_null(s);
}

static void test_empty(void **state)
{
	struct session *s = mem_tree("");
	uint32_t entry;
	struct err err = { 0 };
	struct buf title = { 0 };

	assert_int_equal(s->tip, ENTRY_NONE);
	assert_int_equal(s->roots_first, ENTRY_NONE);
	assert_string_equal(session_tip_reason(s), "");
	assert_int_equal(s->first_time, INT64_MIN);
	assert_int_equal(find(s, "a"), ENTRY_NONE);
	assert_int_equal(session_resolve(s, "tip", &entry, NULL, &err), ERR_NOTFOUND);
	session_title(s, &title);
	assert_int_equal(title.n, 0);
	assert_int_equal(session_line(s, 0), 0);
	session_free(&s);
}

static void test_duplicates(void **state)
{
	struct session *s = mem_session();

	assert_int_equal(mem_add(s, "a", NULL), 0);
	assert_int_equal(mem_add(s, "a", NULL), ENTRY_NONE);
	assert_int_equal(mem_add(s, "b", "a"), 1);
	assert_int_equal(s->n, 2);
	assert_int_equal(s->last_entry, 1);
	session_free(&s);
}

/* Two ids with one hash are two entries: the bytes decide. */
static void test_equal_hashes(void **state)
{
	struct session *s = mem_session();
	char id[16];

	mem_add(s, "first", NULL);
	s->entries[0].idhash = session_hash(s, "second", 6);
	for (int i = 0; i < 200; i++) { /* the table grows, and the wrong hash counts */
		snprintf(id, sizeof(id), "e%d", i);
		mem_add(s, id, NULL);
	}
	assert_int_equal(mem_add(s, "second", NULL), 201);
	assert_int_equal(find(s, "second"), 201);
	session_free(&s);
}

static void test_orphans(void **state)
{
	struct session *s = mem_session();

	mem_add(s, "a", "z");
	mem_add(s, "b", "a");
	session_link(s, false);
	assert_int_equal(s->problems.n, 0);
	assert_true(s->entries[0].flags & ENTRY_PENDING);
	assert_int_equal(s->nroots, 1);
	session_link(s, true);
	assert_int_equal(s->problems.n, 1);
	assert_string_equal(s->problems.v[0].kind, "orphan");
	assert_int_equal(s->problems.v[0].entry, 0);
	assert_int_equal(s->problems.v[0].line, 1);
	assert_int_equal(s->entries[0].flags, ENTRY_ORPHAN);
	session_link(s, true); /* saying it again does not say it twice */
	assert_int_equal(s->problems.n, 1);
	mem_add(s, "z", NULL);
	session_link(s, true);
	assert_int_equal(s->problems.n, 0);
	assert_int_equal(s->entries[0].parent, 2);
	assert_int_equal(s->entries[0].flags, 0);
	session_free(&s);
}

static void test_circles(void **state)
{
	/* q hangs off the circle b-c-d, s is its own parent, and m-n is another circle. */
	struct session *s = mem_tree("a q:d b:d c:b d:c s:s m:n n:m t:s");
	size_t cycles = 0;

	for (size_t i = 0; i < s->problems.n; i++)
		cycles += strcmp(s->problems.v[i].kind, "cycle") == 0;
	assert_int_equal(cycles, 3);
	assert_int_equal(s->problems.n, 3);
	assert_int_equal(s->entries[2].parent, ENTRY_NONE);
	assert_int_equal(s->entries[2].flags, ENTRY_CYCLE);
	assert_int_equal(s->entries[1].parent, 4);
	assert_int_equal(s->entries[5].parent, ENTRY_NONE);
	assert_int_equal(s->entries[6].parent, ENTRY_NONE);
	assert_int_equal(s->entries[7].parent, 6);
	assert_int_equal(s->nroots, 4);
	session_link(s, true);
	assert_int_equal(s->problems.n, 3);
	assert_int_equal(s->nroots, 4);
	session_free(&s);
}

static void test_rewind(void **state)
{
	struct session *s = mem_tree("a b:z c:b");
	struct session_mark mark;

	session_mark(s, 30, &mark);
	assert_int_equal(mem_add(s, "z", "c"), 3); /* closes a circle with b and c */
	session_link(s, true);
	assert_string_equal(s->problems.v[0].kind, "cycle");
	session_set_label(s, 3, str_of("l"), 1);
	session_rewind(s, &mark);
	assert_int_equal(s->n, 3);
	assert_int_equal(find(s, "z"), ENTRY_NONE);
	assert_int_equal(s->nlabels, 0);
	session_link(s, true);
	assert_int_equal(s->problems.n, 1);
	assert_string_equal(s->problems.v[0].kind, "orphan");
	assert_int_equal(s->last_entry, 2);
	assert_int_equal(s->tip, 2);
	assert_int_equal(s->last_time, 2);
	assert_int_equal(mem_add(s, "z", NULL), 3);
	session_link(s, true);
	assert_int_equal(s->problems.n, 0);
	assert_int_equal(s->entries[1].parent, 3);
	session_free(&s);
}

/* What waits for a parent is kept in no order: those that stay are not mixed up with those that go. */
static void test_rewind_unlinked(void **state)
{
	struct session *s = mem_tree("a:b b:a");
	struct session_mark mark;

	session_mark(s, 20, &mark);
	mem_add(s, "t", "nobody");
	session_link(s, true);
	assert_int_equal(s->problems.n, 2);
	session_rewind(s, &mark);
	session_link(s, true);
	assert_int_equal(s->problems.n, 1);
	assert_string_equal(s->problems.v[0].kind, "cycle");
	assert_int_equal(s->entries[0].flags, ENTRY_CYCLE);
	session_free(&s);
}

/* Adding many and taking back to any point leaves the id table as it was. */
static void test_rewind_ids(void **state)
{
	enum { N = 3000 };
	struct session *s = mem_session();
	struct session_mark marks[N];
	char id[16];

	for (int round = 0; round < 3; round++) {
		for (uint32_t i = s->n; i < N; i++) {
			session_mark(s, 10 * (uint64_t)i, &marks[i]);
			snprintf(id, sizeof(id), "%u", i * 7);
			assert_int_equal(mem_add(s, id, NULL), i);
		}
		session_rewind(s, &marks[(uint32_t)round * 1000 + 17]);
		for (uint32_t i = 0; i < N; i++) {
			snprintf(id, sizeof(id), "%u", i * 7);
			assert_int_equal(find(s, id), i < s->n ? i : ENTRY_NONE);
		}
	}
	session_free(&s);
}

/* A slot of the table tells an index and some bits; both must survive every size. */
static void test_many_ids(void **state)
{
	enum { N = 100000 };
	struct session *s = session_new("none", "x", "x");
	char id[16];
	struct entry_in in = { .time = 1 };

	session_reserve(s, N / 2);
	assert_int_equal(s->cap, N / 2);
	session_reserve(s, 10); /* never less */
	assert_int_equal(s->cap, N / 2);
	for (uint32_t i = 0; i < N; i++) {
		size_t pos = 0;

		snprintf(id, sizeof(id), "id-%u", i);
		in.id = str_of(id);
		in.idhash = session_expect(s, in.id);
		assert_int_equal(in.idhash, session_hash(s, id, strlen(id)));
		assert_int_equal(ids_next(s, in.idhash, &pos), ENTRY_NONE);
		assert_int_equal(session_add(s, &in), i);
		assert_true(s->hash_cap == 64 || s->n > s->hash_cap / 8 * 3);
	}
	for (uint32_t i = 0; i < N; i++) {
		size_t pos = 0;

		snprintf(id, sizeof(id), "id-%u", i);
		assert_int_equal(ids_next(s, session_hash(s, id, strlen(id)), &pos), i);
	}
	assert_true(s->hash_cap * sizeof(*s->hash) <= (size_t)N * 11);
	session_free(&s);
}

static void test_hash_is_keyed(void **state)
{
	struct session *a = session_new("x", "x", "x"), *b = session_new("x", "x", "x");

	assert_true(session_hash(a, "id", 2) != session_hash(b, "id", 2));
	/* SipHash-1-3 of 15 bytes under the key 00..0f, from an independent implementation. */
	for (int i = 0; i < 16; i++)
		((unsigned char *)a->key)[i] = (unsigned char)i;
	assert_true(session_hash(a, "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16", 15) == UINT64_C(0xd320d86d2a519956));
	assert_true(session_hash(a, "", 0) == UINT64_C(0xabac0158050fc4dc));
	session_free(&a);
	session_free(&b);
}

static void test_lines(void **state)
{
	struct session *s = session_new("none", "x", "x");
	static const uint64_t lines[] = { 1, 2, 5, 6, 6, 6, 7, 900 };
	char id[2] = "a";

	for (size_t i = 0; i < 8; i++, id[0]++) {
		struct entry_in in = { .id = str_of(id), .line = lines[i], .time = 1 };

		assert_int_equal(session_add(s, &in), i);
	}
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(session_line(s, i), lines[i]);
	session_free(&s);
}

/* ---- names ---- */

static void assert_resolves(struct session *s, const char *form, int rc, uint32_t want)
{
	struct err err = { 0 };
	uint32_t entry = 77;
	int have = session_resolve(s, form, &entry, NULL, &err);

	if (have != rc || entry != want)
		fail_msg("%s: %d and entry %d (%s)", form, have, (int)entry, err.text);
	assert_int_equal(err.code, rc);
}

static void test_resolve(void **state)
{
	struct session *s = mem_tree("abc abd:abc xyz:abd abcd:xyz @at");
	struct buf list = { 0 };
	uint32_t entry;

	session_set_label(s, 1, str_of("good"), 1);
	session_set_label(s, 2, str_of("twice"), 1);
	session_set_label(s, 3, str_of("twice"), 1);
	assert_resolves(s, "tip", 0, 4);
	assert_resolves(s, "tip~0", 0, 4);
	assert_resolves(s, "tip~1", ERR_NOTFOUND, ENTRY_NONE);
	assert_resolves(s, "tip~", ERR_USAGE, ENTRY_NONE);
	assert_resolves(s, "tip~-1", ERR_USAGE, ENTRY_NONE);
	assert_resolves(s, "tip~1x", ERR_USAGE, ENTRY_NONE);
	assert_resolves(s, "", ERR_USAGE, ENTRY_NONE);
	s->tip = 3;
	assert_resolves(s, "tip~3", 0, 0);
	assert_resolves(s, "tip~99999999999999999999999", ERR_NOTFOUND, ENTRY_NONE);
	assert_resolves(s, "abc", 0, 0); /* exact before prefix */
	assert_resolves(s, "abcd", 0, 3);
	assert_resolves(s, "x", 0, 2);
	assert_resolves(s, "q", ERR_NOTFOUND, ENTRY_NONE);
	assert_resolves(s, "@good", 0, 1);
	assert_resolves(s, "@bad", ERR_NOTFOUND, ENTRY_NONE);
	assert_resolves(s, "@at", 0, 4); /* an id of its own, no label */
	assert_int_equal(session_resolve(s, "ab", &entry, &list, NULL), ERR_AMBIGUOUS);
	assert_string_equal(list.p, "abc\nabd\nabcd\n");
	buf_clear(&list);
	assert_int_equal(session_resolve(s, "@twice", &entry, &list, NULL), ERR_AMBIGUOUS);
	assert_string_equal(list.p, "xyz\nabcd\n");
	buf_clear(&list);
	assert_int_equal(session_resolve(s, "x", &entry, &list, NULL), 0);
	assert_int_equal(list.n, 0);
	buf_release(&list);
	session_free(&s);
	s = mem_tree("p0 p1 p2 p3 p4 p5 p6 p7 p8 p9");
	assert_int_equal(session_resolve(s, "p", &entry, &list, NULL), ERR_AMBIGUOUS);
	assert_int_equal(list.n, 8 * 3);
	buf_release(&list);
	session_free(&s);
}

static void test_labels(void **state)
{
	struct session *s = mem_tree("a b c d");

	session_set_label(s, 2, str_of("two"), 5);
	session_set_label(s, 0, str_of("zero"), 6);
	session_set_label(s, 3, str_of("three"), 7);
	assert_int_equal(s->nlabels, 3);
	assert_int_equal(s->labels[0].entry, 0);
	assert_int_equal(s->labels[2].entry, 3);
	assert_true(s->entries[2].flags & ENTRY_LABELLED);
	session_set_label(s, 2, str_of("two again"), 8);
	assert_int_equal(s->nlabels, 3);
	assert_true(str_eqs(session_label(s, 2)->text, "two again"));
	assert_int_equal(session_label(s, 2)->at, 8);
	session_set_label(s, 2, str_of(""), 9);
	assert_null(session_label(s, 2));
	assert_int_equal(s->entries[2].flags, 0);
	session_set_label(s, 2, str_of(""), 9);
	session_set_label(s, 9, str_of("nobody"), 9);
	assert_int_equal(s->nlabels, 2);
	assert_null(session_label(s, 1));
	session_free(&s);
}

static void test_meta_and_title(void **state)
{
	struct session *s = mem_tree("a b");
	struct buf title = { 0 };

	s->entries[0].kind = KIND_SYSTEM;
	session_title(s, &title);
	assert_string_equal(title.p, "says b");
	session_set_meta(s, "title", str_of("T"));
	session_set_meta(s, "model", str_of("m"));
	session_set_meta(s, "title", str_of("T2"));
	assert_int_equal(s->nmeta, 2);
	buf_clear(&title);
	session_title(s, &title);
	assert_string_equal(title.p, "T2");
	assert_null(session_meta(s, "cwd"));
	session_clear_meta(s);
	assert_null(session_meta(s, "title"));
	assert_string_equal(kind_name(KIND_TOOL_RESULT), "tool result");
	assert_string_equal(kind_name((enum entry_kind)99), "unknown");
	buf_release(&title);
	session_free(&s);
}

/* A checkout stays the tip when entries come; without one the newest is it. */
static void test_tip(void **state)
{
	struct session *s = mem_tree("a b:a");

	s->tip = 0;
	s->tip_rule = TIP_CHECKOUT;
	session_reopen(s);
	assert_false(s->is_complete);
	mem_add(s, "c", "b");
	session_link(s, true);
	assert_int_equal(s->tip, 0);
	assert_string_equal(session_tip_reason(s), "checkout");
	assert_int_equal(s->last_entry, 2);
	s->tip_rule = TIP_LAST_ENTRY;
	session_link(s, true);
	assert_int_equal(s->tip, 2);
	session_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_equal_hashes),
		cmocka_unit_test(test_orphans),
		cmocka_unit_test(test_circles),
		cmocka_unit_test(test_rewind),
		cmocka_unit_test(test_rewind_unlinked),
		cmocka_unit_test(test_rewind_ids),
		cmocka_unit_test(test_many_ids),
		cmocka_unit_test(test_hash_is_keyed),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_meta_and_title),
		cmocka_unit_test(test_tip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
