/* tree-files.c - see tree-files.h. */
#include "config.h"

#include "tests/lib/tree-files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/tree-check.h"

char files_dir[TEMP_PATH], files_fixtures[TEMP_PATH];

int files_set_up(void **state)
{
	const char *src = getenv("srcdir");

	(void)state;
	snprintf(files_fixtures, sizeof(files_fixtures), "%s/tests/format/tree", src ? src : ".");
	temp_make(files_dir);
	return 0;
}

int files_tear_down(void **state)
{
	(void)state;
	temp_remove(files_dir);
	return 0;
}

const char *in_dir(const char *name)
{
	static char path[2 * TEMP_PATH];

	snprintf(path, sizeof(path), "%s/%s", files_dir, name);
	return path;
}

const char *fixture(const char *name)
{
	static char path[2 * TEMP_PATH];

	snprintf(path, sizeof(path), "%s/%s.jsonl", files_fixtures, name);
	return path;
}

struct session *load_file(const char *path)
{
	struct session *s = NULL;
	struct err err = { 0 };

	if (format_tree.open(path, &s, &err) < 0)
		fail_msg("%s", err.text);
	while (format_tree.step(s, 1000, &err) == 1)
		;
	if (err.code)
		fail_msg("%s: %s", path, err.text);
	assert_true(s->is_complete);
	assert_null(tree_check_links(s));
	return s;
}

struct session *load_text(const char *text, size_t n)
{
	struct session *s;

	temp_put(in_dir("t.jsonl"), text, n);
	s = load_file(in_dir("t.jsonl"));
	assert_null(tree_check_bytes(s, text, n));
	return s;
}

struct session *load_str(const char *text)
{
	return load_text(text, strlen(text));
}
