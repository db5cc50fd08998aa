/*
 * t-dsh-cards.c - the cards of a dsh log: what a prune left out and what a
 * compaction put a summary in the place of, message by message.
 */
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
#include "model/card.h"
#include "tests/lib/storeenv.h"

static struct work *w;
static struct arena arena;
static struct card_list list;

static void open_fixture(const char *name)
{
	const char *dir = getenv("srcdir");
	char *path = xasprintf("%s/tests/format/dsh/compaction/store/--srv-harbour-tides--/%s/"
			       "session.jsonl.zstd",
		dir ? dir : ".", name);
	struct err err = { 0 };

	env_ok(work_open(&w, path, &err), &err);
	env_ok(work_load(w, &err), &err);
	env_ok(work_cards(w, &arena, &list, &err), &err);
	free(path);
}

static int tear_down(void **state)
{
	(void)state;
	work_close(&w);
	arena_free(&arena);
	list = (struct card_list){ 0 };
	return 0;
}

static void fill(struct card *card)
{
	struct err err = { 0 };

	env_ok(work_card_fill(w, card, &arena, &err), &err);
	assert_true(card->is_filled && card->has_messages);
	assert_int_equal(card->nmissing, 0);
}

static void check_message(const struct card *card, size_t i, enum card_mark mark, uint32_t before,
	uint32_t after, const char *role, const char *text)
{
	const struct card_message *m = &card->v[i];

	assert_true(i < card->n);
	assert_int_equal(m->mark, mark);
	assert_int_equal(m->before, before);
	assert_int_equal(m->after, after);
	assert_memory_equal(m->role.p, role, strlen(role) + 1);
	assert_memory_equal(m->text.p, text, strlen(text) + 1);
}

static void check_attr(const struct card *card, const char *key, const char *value)
{
	for (size_t i = 0; i < card->nattrs; i++)
		if (str_eqs(card->attrs[i].key, key)) {
			assert_true(str_eqs(card->attrs[i].value, value));
			return;
		}
	fail_msg("the card does not say %s", key);
}

static void test_prune(void **state)
{
	struct card *card;

	(void)state;
	open_fixture("s-prune");
	assert_int_equal(list.n, 1);
	card = &list.v[0];
	assert_int_equal(card->kind, CARD_PRUNE);
	assert_true(str_eqs(card->at, "41"));
	assert_true(str_eqs(card->id, "41"));
	assert_true(str_eqs(card->from, "36"));
	assert_int_equal(card->entry, env_find(w, "41"));
	assert_int_equal(card->time, 1767225601287);
	assert_int_equal(card->system_changed, CARD_NO);
	fill(card);
	check_attr(card, "shadowedTokenCount", "9");
	assert_int_equal(card->nkept, 3);
	assert_int_equal(card->nremoved, 1);
	assert_int_equal(card->nadded, 1);
	assert_int_equal(card->n, 5);
	check_message(card, 0, CARD_KEPT, 1, 1, "user", "Log the evening tide at the north pier.");
	check_message(card, 1, CARD_KEPT, 2, 2, "assistant",
		"Reading the gauge now. read_gauge {\"id\":\"N2\",\"unit\":\"cm\"}");
	check_message(card, 2, CARD_REMOVED, 3, 0, "tool result", "N2 = 214 cm at 18:40");
	check_message(card, 3, CARD_ADDED, 0, 3, "tool result", "[pruned]");
	check_message(card, 4, CARD_KEPT, 4, 4, "assistant",
		"Logged: 214 cm at 18:40, forty minutes after the bell.");
	assert_int_equal(card->v[2].other, 3); /* one is an edit of the other */
	assert_int_equal(card->v[3].other, 2);
	assert_int_equal(card->v[2].entry, env_find(w, "24"));
	assert_int_equal(card->v[3].entry, card->entry);
}

static void test_compaction(void **state)
{
	struct card *card;

	(void)state;
	open_fixture("s-compact");
	assert_int_equal(list.n, 1);
	card = &list.v[0];
	assert_int_equal(card->kind, CARD_COMPACTION);
	fill(card);
	assert_int_equal(card->nadded, 1);
	assert_true(card->nremoved > 1);
	assert_int_equal(card->n, card->nkept + card->nremoved + card->nadded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_prune, tear_down),
		cmocka_unit_test_teardown(test_compaction, tear_down),
	};

	env_fix_clock();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
