/*
 * t-keymap.c - key names, sequences, the defaults and a person's keys.conf;
 * data/keys.conf, the tables and the help agree.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "ui/keymap.h"
#include "ui/settings.h"

static size_t map_named(const char *name)
{
	for (size_t i = 0; i < command_nmaps(); i++) {
		if (strcmp(command_map_name(i), name) == 0)
			return i;
	}
	fail_msg("no map %s", name);
	return 0;
}

/* The name of the command that a sequence runs; "..." for a prefix, "" for none. */
static const char *lookup(const struct keymap *km, const char *map, const char *keys)
{
	const struct command *c = NULL;
	struct str rest = str_of(keys);
	struct key_seq seq;

	assert_int_equal(key_seq_parse(&rest, &seq, NULL), 1);
	switch (keymap_find(km, map_named(map), seq.key, seq.n, &c)) {
	case KEYS_COMMAND:
		return c->name;
	case KEYS_PREFIX:
		return "...";
	default:
		return "";
	}
}

static void test_key_names(void **state)
{
	static const char *const same[] = { "a", "G", "^d", "<Space>", "<Enter>", "<Esc>", "<Tab>", "<F5>",
		"<F12>", "<PageDown>", "<Comma>", "<", ">", "^", "\u00e9", "g g", "g b", "^x ^s", "'", "\\", "\"" };
	struct key_seq seq;
	struct buf out = { 0 };

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		struct str rest = str_of(same[i]);
		assert_int_equal(key_seq_parse(&rest, &seq, NULL), 1);
		assert_int_equal(rest.n, 0);
		buf_clear(&out);
		key_seq_name(&seq, &out);
		assert_string_equal(out.p, same[i]);
	}
	buf_release(&out);
}

static void test_bad_keys(void **state)
{
	static const char *const bad[] = { "<Nothing>", "gg", "a b c d e", "^1", ", a", "\xff" };
	struct key_seq seq;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct str rest = str_of(bad[i]);
		struct err err = { 0 };
		assert_true(key_seq_parse(&rest, &seq, &err) < 0);
		assert_true(err.text[0] != '\0');
	}
}

static void test_alternatives(void **state)
{
	struct str rest = str_of("g g, <Home>,x");
	struct key_seq seq;

	assert_int_equal(key_seq_parse(&rest, &seq, NULL), 1);
	assert_int_equal(seq.n, 2);
	assert_int_equal(key_seq_parse(&rest, &seq, NULL), 1);
	assert_int_equal(seq.key[0], K_HOME);
	assert_int_equal(key_seq_parse(&rest, &seq, NULL), 1);
	assert_int_equal(seq.key[0], 'x');
	assert_int_equal(key_seq_parse(&rest, &seq, NULL), 0);
}

static void test_defaults(void **state)
{
	struct keymap *km = keymap_new();

	assert_string_equal(lookup(km, "session", "c"), "checkout");
	assert_string_equal(lookup(km, "session", "j"), "down");
	assert_string_equal(lookup(km, "session", "g"), "...");
	assert_string_equal(lookup(km, "session", "g g"), "top");       /* generic */
	assert_string_equal(lookup(km, "session", "g b"), "branches");  /* the view's own */
	assert_string_equal(lookup(km, "sessions", "/"), "filter");
	assert_string_equal(lookup(km, "session", "/"), "search");
	assert_string_equal(lookup(km, "sessions", "c"), "");
	keymap_free(&km);
	assert_null(km);
}

static void test_every_command_has_words(void **state)
{
	for (size_t m = 0; m < command_nmaps(); m++) {
		const struct command_table *t = command_map(m);
		for (size_t i = 0; i < t->n; i++) {
			const struct command *c = &t->v[i];
			assert_true(c->name && c->help && c->group && c->keys);
			assert_true(!c->run != !c->opens); /* one of the two */
			assert_true(c->help[strlen(c->help) - 1] != '.');
			for (size_t k = i + 1; k < t->n; k++)
				assert_string_not_equal(c->name, t->v[k].name);
			/* no key, no hint: then it is for the command line only */
			assert_true(*c->keys || c->arg);
			assert_ptr_equal(command_find(m, c->name, strlen(c->name)), c);
		}
	}
}

static void read_data(const char *name, struct buf *out)
{
	const char *srcdir = getenv("srcdir");
	char *path = path_join(srcdir ? srcdir : ".", name);

	assert_int_equal(settings_read_file(path, out, NULL), 0);
	free(path);
}

static void test_keys_conf(void **state)
{
	struct keymap *km = keymap_new();
	struct buf file = { 0 }, want = { 0 }, before = { 0 }, after = { 0 };
	struct err err = { 0 };

	read_data("data/keys.conf", &file);
	keymap_dump(&want);
	assert_string_equal(file.p, want.p); /* bough --dump-defaults keys > data/keys.conf */
	for (size_t m = 0; m < command_nmaps(); m++)
		for (size_t i = 0; i < command_map(m)->n; i++)
			keymap_keys(km, m, &command_map(m)->v[i], 0, &before);
	assert_int_equal(keymap_load(km, (struct str){ file.p, file.n }, &err), 0);
	for (size_t m = 0; m < command_nmaps(); m++)
		for (size_t i = 0; i < command_map(m)->n; i++)
			keymap_keys(km, m, &command_map(m)->v[i], 0, &after);
	assert_string_equal(before.p, after.p);
	buf_release(&file);
	buf_release(&want);
	buf_release(&before);
	buf_release(&after);
	keymap_free(&km);
}

static void test_rebinding(void **state)
{
	struct keymap *km = keymap_new();
	struct err err = { 0 };
	struct buf keys = { 0 };
	size_t map = map_named("session");

	assert_int_equal(keymap_load(km, str_of(
		"# mine\n{ \"session\": { \"checkout\": \"C, <F6>\", \"quit\": \"X\" },\n"
		"  \"generic\": { \"quit\": \"\", \"down\": \"n\" } }"), &err), 0);
	assert_string_equal(lookup(km, "session", "C"), "checkout");
	assert_string_equal(lookup(km, "session", "<F6>"), "checkout");
	assert_string_equal(lookup(km, "session", "c"), "");
	assert_string_equal(lookup(km, "session", "X"), "quit");  /* a generic command on one screen */
	assert_string_equal(lookup(km, "sessions", "X"), "");
	assert_string_equal(lookup(km, "sessions", "Q"), "");
	assert_string_equal(lookup(km, "sessions", "n"), "down"); /* taken from search-next */
	keymap_keys(km, map, command_find(map, "checkout", 8), 0, &keys);
	assert_string_equal(keys.p, "C, <F6>");
	buf_release(&keys);
	keymap_free(&km);
}

static void test_refused(void **state)
{
	static const char *const bad[] = {
		"{ \"session\": { \"nothing\": \"x\" } }",
		"{ \"screen\": {} }",
		"{ \"session\": { \"checkout\": 3 } }",
		"{ \"session\": { \"checkout\": \"<Bad>\" } }",
		"{ \"session\": { \"checkout\": \"c c\", \"undo\": \"c\" } }", /* c begins c c */
		"{ \"session\": [] }",
		"[]",
		"{ \"session\": ",
	};
	struct keymap *km = keymap_new();

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err err = { 0 };
		assert_true(keymap_load(km, str_of(bad[i]), &err) < 0);
		assert_true(err.text[0] != '\0');
		assert_string_equal(lookup(km, "session", "c"), "checkout"); /* nothing changed */
		assert_string_equal(lookup(km, "session", "u"), "undo");
	}
	keymap_free(&km);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_names),
		cmocka_unit_test(test_bad_keys),
		cmocka_unit_test(test_alternatives),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_every_command_has_words),
		cmocka_unit_test(test_keys_conf),
		cmocka_unit_test(test_rebinding),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
