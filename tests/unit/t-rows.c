/*
 * t-rows.c - a row of the list never holds up the others: of a session without
 * an end in sight only a part is read, and that is said; the rest comes when
 * nothing else is to do, and opening one goes in small steps.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "format/format.h"
#include "log/frames.h"
#include "log/sys.h"
#include "store/store.h"
#include "tests/lib/storeenv.h"

enum { MB = 1 << 20, SLACK = 64 * MB /* what a millisecond gives, many times */ };

static struct env env;
static struct sys counted;
static uint64_t nread;
static bool knows_holes;

static ssize_t counting_pread(int fd, void *p, size_t n, off_t off)
{
	ssize_t got = sys_real.pread(fd, p, n, off);

	if (got > 0)
		__atomic_add_fetch(&nread, (uint64_t)got, __ATOMIC_RELAXED);
	return got;
}

/* Without it a hole costs as much as gigabytes of any bytes that say nothing. */
static off_t next_data(int fd, off_t off)
{
	if (knows_holes)
		return sys_real.next_data(fd, off);
	errno = EINVAL;
	return -1;
}

static int set_up(void **state)
{
	env_make(&env);
	counted = sys_real;
	counted.pread = counting_pread;
	counted.next_data = next_data;
	knows_holes = false;
	nread = 0;
	sys_install(&counted);
	return 0;
}

static int tear_down(void **state)
{
	sys_install(NULL);
	env_remove(&env);
	return 0;
}

static void put(const char *name, const char *text, bool is_zstd, uint64_t size)
{
	const char *path = env_path(&env, name);
	const char *line = text;
	struct buf b = { 0 };

	while (is_zstd && *line) { /* one frame a line */
		size_t n = strcspn(line, "\n") + 1;

		assert_int_equal(log_frame_encode(&b, line, n, NULL), 0);
		line += n;
	}
	if (is_zstd)
		temp_put(path, b.p, b.n);
	else
		temp_puts(path, text);
	buf_release(&b);
	if (size && truncate(path, (off_t)size) < 0)
		skip(); /* no sparse files of that size */
}

static const struct session_row *row_of(struct store *st, const char *id)
{
	for (size_t i = 0; i < store_nrows(st); i++)
		if (strcmp(store_row(st, i)->id, id) == 0)
			return store_row(st, i);
	fail_msg("no row %s among %zu", id, store_nrows(st));
	return NULL;
}

static struct store *open_root(void)
{
	struct store *st = store_new();

	assert_int_equal(store_add(st, env.root, NULL), 0);
	return st;
}

#define ENTRY(id, parent) \
	"{\"id\":\"" id "\"," parent "\"role\":\"USER\",\"content\":\"say " id "\",\"timestamp\":1}\n"
static const char tree_text[] = ENTRY("a", "") ENTRY("b", "\"parentId\":\"a\",");
#define GIGABYTES ((uint64_t)5 << 30)

static void tree_root(uint64_t size)
{
	put("big.jsonl", tree_text, false, size);
	put("small.jsonl", tree_text, false, 0);
}

static void check_partial(struct store *st, const char *id)
{
	const struct session_row *big = row_of(st, id);

	assert_int_equal(big->state, ROW_LOADED);
	assert_true(big->is_partial);
	assert_false(big->is_torn);
	assert_int_equal(big->size, GIGABYTES);
	assert_true(nread >= STORE_ROW_WORK);
	assert_true(nread < STORE_ROW_WORK + SLACK);
}

static void test_tree(void **state)
{
	struct store *st;
	const struct session_row *row;

	tree_root(GIGABYTES);
	st = open_root();
	while (store_step(st, 100000, NULL) == 1)
		;
	check_partial(st, "big");
	row = row_of(st, "big");
	assert_int_equal(row->entries, 2);
	assert_string_equal(row->title, "say a");
	assert_string_equal(row->preview_user, "say b");
	row = row_of(st, "small");
	assert_false(row->is_partial);
	assert_int_equal(row->entries, 2);
	store_free(&st);
}

#define DSH "--p--/session-11111111-1111-4111-8111-111111111111"
static const char dsh_text[] =
	"{\"type\":\"session\",\"version\":0,\"id\":\"11111111-1111-4111-8111-111111111111\","
	"\"createdAt\":1,\"cwd\":\"/p\",\"parentSession\":\"that\"}\n";

static void dsh_root(bool is_zstd)
{
	assert_int_equal(mkdir(env_path(&env, "--p--"), 0700), 0);
	assert_int_equal(mkdir(env_path(&env, DSH), 0700), 0);
	put(is_zstd ? DSH "/session.jsonl.zstd" : DSH "/session.jsonl", dsh_text, is_zstd, GIGABYTES);
}

static void dsh_case(bool is_zstd)
{
	struct store *st;

	dsh_root(is_zstd);
	st = open_root();
	while (store_step(st, 100000, NULL) == 1)
		;
	assert_int_equal(store_nrows(st), 1);
	check_partial(st, store_row(st, 0)->id);
	assert_string_equal(store_row(st, 0)->parent_id, "that");
	store_free(&st);
	/* only the first line is asked for */
	nread = 0;
	st = open_root();
	store_set_brief(st);
	while (store_step(st, 100000, NULL) == 1)
		;
	assert_true(nread < SLACK);
	store_free(&st);
}

static void test_dsh_raw(void **state)
{
	dsh_case(false);
}

static void test_dsh_zstd(void **state)
{
	dsh_case(true);
}

/* Where holes are known they cost nothing, and nothing is partial. */
static void test_holes(void **state)
{
	struct store *st;

	tree_root(64 * MB);
	knows_holes = true;
	{
		struct stat sb;
		const char *path = env_path(&env, "big.jsonl");

		assert_int_equal(stat(path, &sb), 0);
		if (sb.st_blocks > 1024)
			skip();
	}
	assert_int_equal(truncate(env_path(&env, "big.jsonl"), (off_t)GIGABYTES), 0);
	st = open_root();
	while (store_step(st, 100000, NULL) == 1)
		;
	assert_true(nread < SLACK);
	assert_false(row_of(st, "big")->is_partial);
	assert_true(row_of(st, "big")->is_damaged);
	store_free(&st);
}

/* On the screen the rest is read, behind all other rows. */
static void test_rest(void **state)
{
	struct store *st;
	size_t first = 0;

	tree_root(GIGABYTES);
	st = open_root();
	store_finish_rows(st);
	while (store_nrows(st) < 2 || row_of(st, "big")->state != ROW_LOADED ||
		row_of(st, "small")->state != ROW_LOADED)
		assert_int_equal(store_step(st, 1000, &first), 1);
	check_partial(st, "big");
	/* a row that comes now is not held up either */
	put("new.jsonl", tree_text, false, 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(store_step(st, 1000, NULL), 1);
	store_rescan(st);
	nread = 0;
	while (store_nrows(st) < 3 || row_of(st, "new")->state != ROW_LOADED)
		assert_int_equal(store_step(st, 1000, NULL), 1);
	assert_true(nread < SLACK);
	assert_true(row_of(st, "big")->is_partial);
	knows_holes = true; /* or it takes its time */
	while (store_step(st, 1000, &first) == 1)
		;
	assert_false(row_of(st, "big")->is_partial);
	assert_true(row_of(st, "big")->is_damaged);
	assert_int_equal(row_of(st, "big")->entries, 2);
	store_free(&st);
}

/* No step of a load reads much, whatever it finds, and all of it is read in the end. */
static void steps_of(const char *name)
{
	struct work *w;
	int rc, n = 0;

	nread = 0;
	assert_int_equal(work_open(&w, env_path(&env, name), NULL), 0);
	assert_true(nread < 8 * MB);
	do {
		uint64_t before = nread;

		rc = work_step(w, 1, NULL);
		n++;
		assert_true(nread - before <= 2 * FORMAT_STINT + 4 * MB);
	} while (rc == 1);
	assert_int_equal(rc, 0);
	assert_true(n > 10);
	assert_true(nread >= 100 * MB);
	work_close(&w);
}

static void test_steps(void **state)
{
	/* a line of more than is ever read in one piece */
	put("long.jsonl", tree_text, false, 300 * MB);
	steps_of("long.jsonl");
	dsh_root(true);
	put(DSH "/session.jsonl.zstd", dsh_text, true, 100 * MB + 5000);
	steps_of(DSH "/session.jsonl.zstd");
}

#define ROWS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROWS_TEST(test_tree), ROWS_TEST(test_dsh_raw), ROWS_TEST(test_dsh_zstd),
		ROWS_TEST(test_holes), ROWS_TEST(test_rest), ROWS_TEST(test_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
