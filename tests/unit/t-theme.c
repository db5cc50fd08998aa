/*
 * t-theme.c - styles, schemes, theme files and the settings file; what lies
 * in data/ is what is built in.
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
#include "ui/settings.h"
#include "ui/theme.h"

static void test_styles(void **state)
{
	struct style s;
	struct err err = { 0 };

	assert_int_equal(style_parse(str_of("bold 214 on 236"), &s, NULL), 0);
	assert_int_equal(s.fg, 214);
	assert_int_equal(s.bg, 236);
	assert_int_equal(s.attrs, STYLE_BOLD);
	assert_int_equal(style_parse(str_of("on red reverse underline"), &s, NULL), 0);
	assert_int_equal(s.fg, -1);
	assert_int_equal(s.bg, 1);
	assert_int_equal(s.attrs, STYLE_REVERSE | STYLE_UNDERLINE);
	assert_int_equal(style_parse(str_of(""), &s, NULL), 0);
	assert_int_equal(s.fg, -1);
	assert_int_equal(style_parse(str_of("256"), &s, &err), ERR_USAGE);
	assert_int_equal(style_parse(str_of("blink"), &s, NULL), ERR_USAGE);
	assert_int_equal(style_parse(str_of("-1"), &s, NULL), ERR_USAGE);
	assert_true(err.text[0] != '\0');
}

static void test_roles_have_names(void **state)
{
	for (int i = 0; i < ROLE_COUNT; i++) {
		enum role back;
		assert_non_null(role_name((enum role)i));
		assert_true(role_by_name(str_of(role_name((enum role)i)), &back));
		assert_int_equal(back, i);
	}
}

static void test_builtin_schemes(void **state)
{
	static const char *const names[] = { "dark", "light", "mono" };
	struct theme t;

	for (size_t n = 0; n < 3; n++) {
		for (int d = 0; d < THEME_DEPTHS; d++) {
			assert_int_equal(theme_init(&t, names[n], (enum theme_depth)d, NULL), 0);
			for (int i = 0; i < ROLE_COUNT; i++) {
				assert_true(t.style[i].fg < (d == THEME_256 ? 256 : 8));
				assert_true(t.style[i].bg < (d == THEME_256 ? 256 : 8));
				if (d == THEME_MONO || n == 2)
					assert_true(t.style[i].fg == -1 && t.style[i].bg == -1);
			}
			/* the cursor's row differs from others in every scheme */
			struct style bar = theme_style(&t, ROLE_NORMAL, UNDER_CURSOR);
			struct style plain = theme_style(&t, ROLE_NORMAL, UNDER_NONE);
			assert_true(memcmp(&bar, &plain, sizeof(bar)) != 0);
		}
	}
	assert_int_equal(theme_init(&t, "pink", THEME_256, NULL), ERR_NOTFOUND);
}

static void test_theme_file(void **state)
{
	struct theme t, before;
	struct err err = { 0 };

	assert_int_equal(theme_parse(&t, str_of(
		"# mine\n{ \"base\": \"light\", \"roles\": { \"user\": { \"256\": \"bold 99\" } } }"),
		THEME_256, &err), 0);
	assert_int_equal(t.style[ROLE_USER].fg, 99);
	before = t;
	assert_true(theme_parse(&t, str_of("{ \"roles\": { \"usr\": {} } }"), THEME_256, &err) < 0);
	assert_non_null(strstr(err.text, "usr"));
	assert_true(theme_parse(&t, str_of("{ \"roles\": { \"user\": { \"256\": \"pinkish\" } } }"),
		THEME_256, NULL) < 0);
	assert_true(theme_parse(&t, str_of("{ \"base\": \"none\" }"), THEME_256, NULL) < 0);
	assert_true(theme_parse(&t, str_of("{"), THEME_256, NULL) < 0);
	assert_memory_equal(&t, &before, sizeof(t));
}

static void assert_file(const char *name, const struct buf *want)
{
	const char *srcdir = getenv("srcdir");
	char *path = path_join(srcdir ? srcdir : ".", name);
	struct buf file = { 0 };

	assert_int_equal(settings_read_file(path, &file, NULL), 0);
	assert_string_equal(file.p, want->p);
	buf_release(&file);
	free(path);
}

static void test_data_files(void **state)
{
	static const char *const names[] = { "dark", "light", "mono" };
	struct buf want = { 0 };
	struct settings s, d;
	struct theme t, built_in;

	for (size_t i = 0; i < 3; i++) {
		char name[64];
		buf_clear(&want);
		theme_dump(names[i], &want);
		snprintf(name, sizeof(name), "data/themes/%s.theme", names[i]);
		assert_file(name, &want);
		for (int depth = 0; depth < THEME_DEPTHS; depth++) {
			assert_int_equal(theme_parse(&t, (struct str){ want.p, want.n },
				(enum theme_depth)depth, NULL), 0);
			theme_init(&built_in, names[i], (enum theme_depth)depth, NULL);
			assert_memory_equal(t.style, built_in.style, sizeof(t.style));
		}
	}
	buf_clear(&want);
	settings_dump(&want);
	assert_file("data/bough.conf", &want);
	settings_init(&s);
	settings_init(&d);
	assert_int_equal(settings_parse(&s, (struct str){ want.p, want.n }, NULL), 0);
	assert_string_equal(s.theme, d.theme);
	assert_string_equal(s.sort, d.sort);
	assert_true(s.wrap == d.wrap && s.mouse == d.mouse && s.ascii == d.ascii);
	settings_release(&s);
	settings_release(&d);
	buf_release(&want);
}

static void test_settings(void **state)
{
	static const char *const bad[] = { "{ \"theem\": \"dark\" }", "{ \"wrap\": \"yes\" }",
		"{ \"roots\": \"a\" }", "{ \"roots\": [1] }", "{ \"roots\": [\"\"] }", "{ \"sort\": \"age\" }",
		"{ \"theme\": 1 }", "[]", "{" };
	struct settings s;
	struct err err = { 0 };

	settings_init(&s);
	assert_int_equal(settings_parse(&s, str_of(
		"{\n# roots\n\"roots\": [\"~/a\", \"/b\"], \"theme\": \"light\", \"mouse\": true,"
		" \"wrap\": false, \"ascii\": true, \"sort\": \"size\" }"), &err), 0);
	assert_int_equal(s.nroots, 2);
	assert_string_equal(s.roots[0], "~/a");
	assert_string_equal(s.theme, "light");
	assert_true(s.mouse && s.ascii && !s.wrap);
	assert_string_equal(s.sort, "size");
	settings_release(&s);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err_clear(&err);
		settings_init(&s);
		assert_true(settings_parse(&s, str_of(bad[i]), &err) < 0);
		assert_true(err.text[0] != '\0');
		settings_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_styles),
		cmocka_unit_test(test_roles_have_names),
		cmocka_unit_test(test_builtin_schemes),
		cmocka_unit_test(test_theme_file),
		cmocka_unit_test(test_data_files),
		cmocka_unit_test(test_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
