/*
 * t-dsh-load.c - a repair of every session of the dsh fixtures against what the
 * format's own backend leaves on the disk when it loads the session
 * (tests/format/dsh/expected.json, `load`): the kept bytes are the same, the
 * text behind them is the expected one, a second repair changes nothing, a dry
 * run says the same lines and writes nothing; what the backend refuses is
 * refused and not touched. What is cut lies in a copy.
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
#include <gcrypt.h>
#include <zstd.h>

#include "base/path.h"
#include "base/xalloc.h"
#include "format/dsh/dsh.h"
#include "json/doc.h"
#include "json/value.h"
#include "log/log.h"
#include "store/store.h"
#include "tests/lib/dsh-expected.h"
#include "tests/lib/storeenv.h"

static struct env env;
static unsigned nrepaired, nsame, nrefused, failures;

#define COMPLAIN(...) (failures++, fprintf(stderr, __VA_ARGS__), fputc('\n', stderr))

/* ---- the expected answers ---- */

static bool is_true(const json_doc *doc)
{
	bool v = false;

	return doc && json_doc_get_bool(doc, &v) && v;
}

static int64_t int_of(const json_doc *doc)
{
	int64_t v = -1;

	if (doc)
		json_doc_get_int(doc, &v);
	return v;
}

/* The expected text with our sentences in it. */
static char *as_ours(const char *text)
{
	struct buf out = { 0 };

	buf_adds(&out, text);
	dsh_exchange(&out, DSH_OURS);
	return out.n ? buf_take(&out) : xstrdup("");
}

static int setup(void **state)
{
	struct work *w;
	struct done d = { 0 };
	struct err err = { 0 };
	char *path;

	(void)state;
	env_fix_clock();
	env_make(&env);
	gcry_check_version(NULL);
	dsh_expected_open();
	path = dsh_path("interrupted-zstd", dsh_closed_session());
	env_ok(work_open(&w, path, &err), &err);
	env_ok(work_repair(w, true, &d, &err), &err);
	dsh_learn(DSH_OURS, d.lines.p);
	done_release(&d);
	work_close(&w);
	free(path);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dsh_expected_close();
	env_remove(&env);
	return 0;
}

/* ---- bytes ---- */

static void check_digest(const char *who, const json_doc *want, const char *text, size_t n)
{
	unsigned char sum[32];
	char digest[25];

	gcry_md_hash_buffer(GCRY_MD_SHA256, sum, text, n);
	for (int i = 0; i < 12; i++)
		snprintf(digest + 2 * i, 3, "%02x", sum[i]);
	if (int_of(at(want, "bytes")) != (int64_t)n ||
		strcmp(digest, string_of(at(want, "sha256"))) != 0)
		COMPLAIN("%s: %zu bytes were appended, or others than must", who, n);
}

static void check_text(const char *who, const json_doc *want, const char *text, size_t n)
{
	char *ours;

	if (!string_of(want)) {
		check_digest(who, want, text, n);
		return;
	}
	ours = as_ours(string_of(want));
	if (strlen(ours) != n || memcmp(ours, text, n) != 0)
		COMPLAIN("%s: appended\n%.*s\nand not\n%s", who, (int)n, text, ours);
	free(ours);
}

/* The frames behind the kept bytes; each has a checksum, and its text is the expected one. */
static void check_frames(const char *who, const json_doc *want, const char *p, size_t n)
{
	static char text[1 << 20];
	size_t i;

	for (i = 0; n > 0; i++) {
		size_t len = ZSTD_findFrameCompressedSize(p, n), got;

		got = ZSTD_isError(len) ? len : ZSTD_decompress(text, sizeof(text), p, len);
		if (ZSTD_isError(got) || !(p[4] & 4)) {
			COMPLAIN("%s: the appended frame %zu is none", who, i);
			return;
		}
		if (i < json_doc_count(want))
			check_text(who, json_doc_at(want, i), text, got);
		p += len;
		n -= len;
	}
	if (i != json_doc_count(want))
		COMPLAIN("%s: %zu frames were appended, not %zu", who, i, json_doc_count(want));
}

struct bytes {
	char *p;
	size_t n;
};

static struct bytes get(const char *path)
{
	struct bytes b;

	b.p = temp_get(path, &b.n);
	assert_non_null(b.p);
	return b;
}

static bool is_equal(const char *path, const struct bytes *want)
{
	struct bytes now = get(path);
	bool same = now.n == want->n && memcmp(now.p, want->p, now.n) == 0;

	free(now.p);
	return same;
}

/* ---- one session ---- */

static void check_copy(const char *who, const struct done *d, const struct bytes *old, size_t kept)
{
	size_t n;
	char *copy;

	if (kept == old->n)
		return;
	copy = temp_get(d->path, &n);
	if (!copy || n != old->n - kept || memcmp(copy, old->p + kept, n) != 0)
		COMPLAIN("%s: what was cut is not in %s", who, d->path);
	free(copy);
}

static void check_repaired(const char *who, const char *path, const json_doc *disk,
	const struct bytes *old, const struct done *d)
{
	size_t kept = (size_t)int_of(at(disk, "keptBytes"));
	const json_doc *text = at(disk, "appendedText");
	struct bytes now = get(path);

	nrepaired++;
	if (int_of(at(disk, "oldBytes")) != (int64_t)old->n)
		COMPLAIN("%s: the fixture is another", who);
	if (now.n < kept || memcmp(now.p, old->p, kept) != 0)
		COMPLAIN("%s: kept bytes changed", who);
	else if (text)
		check_text(who, text, now.p + kept, now.n - kept);
	else
		check_frames(who, at(disk, "appendedFrames"), now.p + kept, now.n - kept);
	check_copy(who, d, old, kept);
	free(now.p);
}

/* The lines of a dry run are those that a repair appends. */
static void check_lines(const char *who, const json_doc *disk, const struct buf *lines)
{
	const json_doc *text = at(disk, "appendedText");

	if (!text)
		text = json_doc_at(at(disk, "appendedFrames"), 0);
	check_text(who, text, lines->n ? lines->p : "", lines->n);
}

static int repair(const char *path, bool dry, struct done *d, struct err *err)
{
	struct work *w;
	int rc = work_open(&w, path, err);

	if (rc == 0) {
		work_force(w, true);
		rc = work_repair(w, dry, d, err);
	}
	work_close(&w);
	return rc;
}

static void check_load(const char *who, const char *path, const json_doc *want, bool is_refused)
{
	const json_doc *disk = at(at(at(want, "load"), "disk"), "$FILE");
	struct bytes old = get(path), repaired;
	struct done d = { 0 };
	struct err err = { 0 };
	int rc = repair(path, true, &d, &err);

	if (!is_equal(path, &old))
		COMPLAIN("%s: a dry run changed the file", who);
	if (rc == 0 && disk)
		check_lines(who, disk, &d.lines);
	err_clear(&err);
	rc = repair(path, false, &d, &err);
	if (is_refused && rc == 0)
		COMPLAIN("%s: is repaired and must be refused", who);
	if (!is_refused && rc < 0)
		COMPLAIN("%s: %s", who, err.text);
	if (disk && rc == 0) {
		check_repaired(who, path, disk, &old, &d);
	} else if (!is_equal(path, &old)) {
		COMPLAIN("%s: the file changed", who);
	}
	nrefused += is_refused;
	nsame += !disk && !is_refused;
	repaired = get(path);
	err_clear(&err);
	rc = repair(path, false, &d, &err);
	if (!is_equal(path, &repaired) || (!is_refused && strcmp(d.said, "nothing to repair")))
		COMPLAIN("%s: a second repair does something: %s", who, d.said);
	free(repaired.p);
	free(old.p);
	done_release(&d);
}

/* ---- all of them ---- */

/* The backend refuses these for what else lies in the root; each by itself is sound. */
static bool is_of_root(const char *name, struct str id)
{
	if (!strcmp(name, "root-flat"))
		return str_eqs(id, "mine");
	return !strcmp(name, "root-opposite") || !strcmp(name, "root-opposite-raw") ||
	       !strcmp(name, "root-duplicate");
}

static bool check_session(struct str id, const json_doc *stored, void *arg)
{
	const char *name = arg, *file = string_of(at(at(stored, "files"), "path"));
	const json_doc *want = stored, *ranges = at(at(at(dsh_expected, "cases"), name), "withRanges");
	char *from, *to, *dir, *who;
	struct bytes b;
	bool is_refused;

	if (ranges)
		want = at(at(ranges, "sessions"), id.p);
	if (!file || !want)
		return true;
	who = xasprintf("%s/%.*s", name, (int)id.n, id.p);
	from = xasprintf("%s/%s/store/%s", dsh_top, name, file);
	to = xasprintf("%s/%s/%s", env.root, name, file);
	dir = path_dir(to);
	assert_int_equal(log_mkdirs(dir, NULL), 0);
	b = get(from);
	temp_put(to, b.p, b.n);
	is_refused = !is_of_root(name, id) &&
		     (is_true(at(want, "refused")) || !is_true(at(at(want, "inspect"), "ok")));
	check_load(who, to, want, is_refused);
	free(b.p);
	free(dir);
	free(to);
	free(from);
	free(who);
	return true;
}

static bool check_case(struct str name, const json_doc *one, void *arg)
{
	(void)arg;
	json_doc_each(at(one, "sessions"), check_session, (void *)name.p);
	return true;
}

static void test_loads(void **state)
{
	(void)state;
	json_doc_each(at(dsh_expected, "cases"), check_case, NULL);
	printf("dsh loads: %u repaired, %u as they were, %u refused\n", nrepaired, nsame, nrefused);
	assert_int_equal(failures, 0);
	assert_true(nrepaired >= 17 && nsame >= 50 && nrefused >= 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_loads) };

	return cmocka_run_group_tests(tests, setup, teardown);
}
