/* Path strings, and file names from ids. */
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

#include "base/path.h"

static void is(char *got_take, const char *want)
{
	assert_string_equal(got_take, want);
	free(got_take);
}

static void test_join(void **state)
{
	is(path_join("a", "b"), "a/b");
	is(path_join("a/", "b"), "a/b");
	is(path_join("a//", "//b"), "a/b");
	is(path_join("/", "b"), "/b");
	is(path_join("", "b"), "b");
	is(path_join("/a/b", "c/d"), "/a/b/c/d");
}

static void test_parts(void **state)
{
	assert_string_equal(path_base("a/b/c"), "c");
	assert_string_equal(path_base("c"), "c");
	assert_string_equal(path_base("a/"), "");
	is(path_dir("a/b/c"), "a/b");
	is(path_dir("a//c"), "a");
	is(path_dir("/c"), "/");
	is(path_dir("//c"), "/");
	is(path_dir("c"), ".");
}

static void test_home(void **state)
{
	setenv("HOME", "/home/x/", 1);
	is(path_expand("~"), "/home/x");
	is(path_expand("~/a"), "/home/x/a");
	is(path_expand("~y/a"), "~y/a");
	is(path_expand("/a/~"), "/a/~");
	is(path_expand(""), "");
	is(path_shorten("/home/x"), "~");
	is(path_shorten("/home/x/a"), "~/a");
	is(path_shorten("/home/xy"), "/home/xy");
	is(path_shorten("a"), "a");
	setenv("HOME", "/", 1);
	is(path_shorten("/a"), "/a");
	unsetenv("HOME");
	is(path_expand("~/a"), "~/a");
	is(path_shorten("/home/x/a"), "/home/x/a");
}

static void test_xdg(void **state)
{
	setenv("HOME", "/home/x", 1);
	unsetenv("XDG_STATE_HOME");
	is(path_xdg("STATE", ".local/state"), "/home/x/.local/state/bough");
	setenv("XDG_STATE_HOME", "/var/state/", 1);
	is(path_xdg("STATE", ".local/state"), "/var/state/bough");
	is(path_xdg("CONFIG", ".config"), "/home/x/.config/bough");
	setenv("XDG_STATE_HOME", "relative", 1);
	is(path_xdg("STATE", ".local/state"), "/home/x/.local/state/bough");
	setenv("XDG_STATE_HOME", "", 1);
	is(path_xdg("STATE", ".local/state"), "/home/x/.local/state/bough");
	setenv("HOME", "/", 1);
	is(path_xdg("STATE", ".local/state"), "/.local/state/bough");
	unsetenv("HOME");
	assert_null(path_xdg("STATE", ".local/state"));
	setenv("XDG_STATE_HOME", "/s", 1);
	is(path_xdg("STATE", ".local/state"), "/s/bough");
}

/* Every name comes from one id: undo it. */
static void unescape(const char *name, struct buf *id)
{
	buf_clear(id);
	if (strcmp(name, "%") == 0)
		return;
	for (; *name; name++) {
		char hex[3] = { 0 };

		if (*name != '%') {
			buf_addc(id, *name);
			continue;
		}
		memcpy(hex, name + 1, 2);
		buf_addc(id, (char)strtoul(hex, NULL, 16));
		name += 2;
	}
}

static void test_escape(void **state)
{
	struct buf id = { 0 };
	char bytes[3];
	int c, at;

	is(path_escape("s-1_A.b", 7), "s-1_A.b");
	is(path_escape("", 0), "%");
	is(path_escape(".", 1), "%2E");
	is(path_escape("..", 2), "%2E%2E");
	is(path_escape("../x", 4), "%2E.%2Fx");
	is(path_escape("a%2Fb", 5), "a%252Fb");
	is(path_escape("caf\xC3\xA9", 5), "caf%C3%A9");
	is(path_escape("a\0b", 3), "a%00b");
	for (at = 0; at < 3; at++) {
		for (c = 0; c < 256; c++) {
			char *name;

			memcpy(bytes, "x.y", 3);
			bytes[at] = (char)c;
			name = path_escape(bytes, 3);
			assert_null(strchr(name, '/'));
			assert_int_not_equal(name[0], '.');
			unescape(name, &id);
			assert_int_equal(id.n, 3);
			assert_memory_equal(id.p, bytes, 3);
			free(name);
		}
	}
	buf_release(&id);
}

static void forgets(const char *text, const char *want)
{
	char copy[200];

	snprintf(copy, sizeof(copy), "%s", text);
	path_forget_cwd(copy);
	assert_string_equal(copy, want);
}

static void test_forget_cwd(void **state)
{
	char *before = getcwd(NULL, 0);

	(void)state;
	assert_int_equal(chdir("/usr/lib"), 0);
	setenv("HOME", "/usr", 1);
	forgets("/usr/lib/a/b.jsonl is a fifo", "a/b.jsonl is a fifo");
	forgets("moved /usr/lib/a to (/usr/lib/b)", "moved a to (b)");
	forgets("~/lib/a.reflog", "a.reflog");
	forgets("/usr/libexec/a and /x/usr/lib/a and /usr/lib", "/usr/libexec/a and /x/usr/lib/a and /usr/lib");
	forgets("", "");
	assert_int_equal(chdir("/"), 0);
	forgets("/a/b", "/a/b");
	assert_int_equal(chdir(before), 0);
	free(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_home),
		cmocka_unit_test(test_xdg),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_forget_cwd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
