/* Cards: comparing two histories message by message, and two texts word by word. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "model/card.h"
#include "model/session.h"

static struct arena arena;

static int tear_down(void **state)
{
	arena_free(&arena);
	return 0;
}

/* "u:why|a:because": messages, a role's letter before each text. */
static struct card_history history(const char *s)
{
	struct card_history h = { 0 };

	while (*s) {
		size_t n = strcspn(s, "|");

		card_say(&h, &arena, (struct str){ s, 1 }, (struct str){ s + 2, n - 2 },
			(uint32_t)h.n);
		s += n + (s[n] == '|');
	}
	return h;
}

/* The messages as "=1/1 -2 +2": marks and numbers. */
static void assert_diff(const char *before, const char *after, const char *want)
{
	struct card_history x = history(before), y = history(after);
	struct card card = { 0 };
	struct buf got = { 0 };

	card_diff(&card, &arena, &x, &y);
	for (size_t i = 0; i < card.n; i++) {
		const struct card_message *m = &card.v[i];

		if (m->mark == CARD_KEPT)
			buf_printf(&got, "=%u/%u ", m->before, m->after);
		else if (m->mark == CARD_REMOVED)
			buf_printf(&got, "-%u ", m->before);
		else
			buf_printf(&got, "+%u ", m->after);
	}
	assert_string_equal(got.p ? got.p : "", want);
	assert_true(card.has_messages);
	assert_int_equal(card.n, card.nkept + card.nremoved + card.nadded);
	buf_release(&got);
}

static void test_diff(void **state)
{
	assert_diff("", "", "");
	assert_diff("u:a", "", "-1 ");
	assert_diff("", "u:a|a:b", "+1 +2 ");
	assert_diff("u:a|a:b", "u:a|a:b", "=1/1 =2/2 ");
	assert_diff("u:a|a:b", "u:a|a:b|u:c", "=1/1 =2/2 +3 ");
	assert_diff("u:a|a:b|u:c", "u:s|u:c", "-1 -2 +1 =3/2 ");
	assert_diff("u:a|a:b|u:c|a:d", "u:a|u:c|u:x|a:d", "=1/1 -2 =3/2 +3 =4/4 ");
	/* the role counts too */
	assert_diff("u:a", "a:a", "-1 +1 ");
	/* equal messages are kept once each, in order */
	assert_diff("u:a|u:a|u:a", "u:a|u:b|u:a", "=1/1 -2 +2 =3/3 ");
	assert_diff("u:a|u:b", "u:b|u:a", "-1 =2/1 +2 ");
}

static void test_others(void **state)
{
	struct card_history x = history("u:head|a:one|u:two|u:tail"),
			    y = history("u:head|u:TWO|a:ONE|u:new|u:tail");
	struct card card = { 0 };

	card_diff(&card, &arena, &x, &y);
	/* = head, - one, - two, + TWO, + ONE, + new, = tail */
	assert_int_equal(card.n, 7);
	assert_int_equal(card.v[1].other, 4);
	assert_int_equal(card.v[4].other, 1);
	/* in order: behind what the one before was paired with */
	assert_int_equal(card.v[2].other, 5);
	assert_int_equal(card.v[3].other, CARD_NONE);
	assert_int_equal(card.v[0].other, CARD_NONE);
	assert_int_equal(card.v[6].entry, 4);
}

/* A comparison whose table would be too large keeps the ends and nothing between. */
static void test_large(void **state)
{
	struct card_history x = { 0 }, y = { 0 };
	struct card card = { 0 };
	char text[32];

	for (int i = 0; i < 4000; i++) {
		snprintf(text, sizeof(text), "%d", i == 0 || i == 3999 ? i : i + 1);
		card_say(&x, &arena, str_of("user"), str_of(text), ENTRY_NONE);
		snprintf(text, sizeof(text), "%d", i == 0 || i == 3999 ? i : i + 2);
		card_say(&y, &arena, str_of("user"), str_of(text), ENTRY_NONE);
	}
	card_diff(&card, &arena, &x, &y);
	assert_int_equal(card.nkept, 2);
	assert_int_equal(card.nremoved, 3998);
	assert_int_equal(card.nadded, 3998);
}

static void assert_words(const char *before, const char *after, const char *want)
{
	size_t n;
	struct card_words *v = card_word_diff(&arena, str_of(before), str_of(after), &n);
	struct buf got = { 0 };

	for (size_t i = 0; i < n; i++)
		buf_printf(&got, "%c[%.*s]",
			v[i].mark == CARD_KEPT      ? '='
			: v[i].mark == CARD_REMOVED ? '-'
						    : '+',
			(int)v[i].text.n, v[i].text.p);
	assert_string_equal(got.p ? got.p : "", want);
	buf_release(&got);
}

static void test_words(void **state)
{
	assert_words("", "", "");
	assert_words("a b c", "a b c", "=[a b c]");
	assert_words("a b c", "a x c", "=[a ]-[b ]+[x ]=[c]");
	assert_words("one  two\nthree", "one  two\nfour five", "=[one  two\n]-[three]+[four five]");
	assert_words("gone", "", "-[gone]");
	assert_words("", "  came", "+[  came]");
}

static void test_list(void **state)
{
	struct card_list list = { 0 };

	for (int i = 0; i < 20; i++) {
		struct card *card = card_add(&list, &arena, CARD_PARENT);

		assert_int_equal(card->entry, ENTRY_NONE);
		card->own = (uint64_t)i;
		for (int k = 0; k < i; k++)
			card_add_attr(card, &arena, str_of("key"), str_of("value"));
		card_add_missing(card, &arena, "missing: sequence %d", i);
	}
	assert_int_equal(list.n, 20);
	for (size_t i = 0; i < 20; i++) {
		assert_int_equal(list.v[i].own, i);
		assert_int_equal(list.v[i].nattrs, i);
		assert_int_equal(list.v[i].nmissing, 1);
	}
	assert_true(str_eqs(list.v[19].missing[0], "missing: sequence 19"));
	assert_string_equal(card_kind_name(CARD_COMPACTION), "compaction");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_diff, tear_down),
		cmocka_unit_test_teardown(test_others, tear_down),
		cmocka_unit_test_teardown(test_large, tear_down),
		cmocka_unit_test_teardown(test_words, tear_down),
		cmocka_unit_test_teardown(test_list, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
