/*
 * storeenv.h - a private home and a root of tree sessions for tests of the
 * store: fixtures in, files out, sessions opened and compared. A failure in
 * here is a failure of the test.
 */
#ifndef BOUGH_TESTS_STOREENV_H
#define BOUGH_TESTS_STOREENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"
#include "tests/lib/temp.h"

#define ENV_NOW 1796000000000 /* what the clock says in these tests */

struct env {
	char dir[TEMP_PATH]; /* HOME, XDG_STATE_HOME and XDG_DATA_HOME lie in it */
	char root[TEMP_PATH + 8];
};

/* Before anything asks for the time or for random bytes. */
void env_fix_clock(void);
void env_make(struct env *e);
void env_clear(struct env *e); /* empty again, root made */
void env_remove(struct env *e);

/* "<root>/<name>"; one of a few static buffers. */
const char *env_path(const struct env *e, const char *name);
/* The fixture's session, sidecar and reflog into the root. */
void env_fixture(const struct env *e, const char *name);
/* Names of all fixtures without ".jsonl", sorted, NULL at the end; yours with env_free_names. */
char **env_fixtures(void);
void env_free_names(char **names);
/* The fixtures' expected.json, yours. */
char *env_expected(size_t *n);

struct work *env_open(const struct env *e, const char *name); /* loaded */
/* "s.jsonl" with that text, loaded. */
struct work *env_open_text(const struct env *e, const char *text);
void env_ok(int rc, const struct err *err); /* fails with the text of err */
void env_assert_file(const char *path, const char *want, size_t n);
/* An entry's line as formats/tree.md has it, made here once more; parent NULL: a root. Yours. */
char *env_line(const char *id, const char *parent, const char *role, const char *content);
/* The id of an entry, one of a few static buffers; "" for none. */
const char *env_id(struct work *w, uint32_t entry);
uint32_t env_find(struct work *w, const char *id);
/* The record of an entry, yours. */
char *env_record(struct work *w, uint32_t entry, size_t *n);
size_t env_problems(struct work *w, const char *kind); /* how many; NULL: all */
/* One text with the name and content of every file below dir. Yours. */
char *env_dump(const char *dir, size_t *n);

/* What one case of a fault loop left behind. */
struct left {
	int rc;
	struct err err;
	struct done done;
	bool for_good;  /* the fault did not go away: what could not be undone must be said */
	char why[600];  /* the first thing that was wrong, "" nothing */
};
void wrong(struct left *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
