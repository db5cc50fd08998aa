/*
 * tree-files.h - tree sessions as files for tests of the format alone: the
 * fixtures, a folder of its own for a test's files, and loading one whole. A
 * failure in here is a failure of the test.
 */
#ifndef BOUGH_TESTS_TREE_FILES_H
#define BOUGH_TESTS_TREE_FILES_H

#include "format/tree/tree.h"
#include "tests/lib/temp.h"

extern char files_dir[TEMP_PATH]; /* the test's own */
extern char files_fixtures[TEMP_PATH];

/* Set-up and tear-down of a test or a group: the folder is made, and removed with all in it. */
int files_set_up(void **state);
int files_tear_down(void **state);

const char *in_dir(const char *name);  /* a path in the folder, until the next call */
const char *fixture(const char *name); /* that of the fixture's session, until the next call */

/* Complete, its links and with load_text and load_str its bytes checked; the caller frees it. */
struct session *load_file(const char *path);
struct session *load_text(const char *text, size_t n); /* "t.jsonl" with that text */
struct session *load_str(const char *text);

#endif
