/*
 * t-flow-cases.c - broken, odd and just valid conversations: each case of
 * tests/format/flow/cases.json changes a valid root (tests/format/flow/clean)
 * in a temporary folder, and what the program says of it is compared with the
 * answers of another implementation, key by key.
 *
 * A file of a case is a list of pieces: text (a character is a byte), a range
 * of a file of the valid root, or one text many times.
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
#include <sys/stat.h>

#include "base/path.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "format/flow/internal.h"
#include "json/doc.h"
#include "tests/lib/temp.h"

static char dir[TEMP_PATH];
static char *clean, *root;
static const char *bough;
static json_doc *all;
static int ncompared, nbad, ncases;

/* ---- making a case ---- */

static int64_t number(const json_doc *o, const char *key)
{
	int64_t v = 0;

	assert_true(json_doc_get_int(json_doc_get(o, key), &v));
	return v;
}

static struct str text(const json_doc *doc)
{
	struct str s = { "", 0 };

	assert_true(json_doc_get_string(doc, &s));
	return s;
}

static void add_bytes(struct buf *out, struct str s)
{
	uint32_t cp;

	for (size_t i = 0; i < s.n; i += utf8_decode(s.p + i, s.n - i, &cp)) {
		utf8_decode(s.p + i, s.n - i, &cp);
		assert_true(cp < 256);
		buf_addc(out, (char)cp);
	}
}

/* "@n" becomes the number, "@p" the one before it. */
static void add_numbered(struct buf *out, struct str s, int64_t n)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '@' && i + 1 < s.n)
			buf_printf(out, "%05d", (int)(s.p[++i] == 'n' ? n : n - 1));
		else
			buf_addc(out, s.p[i]);
	}
}

static void add_piece(struct buf *out, const json_doc *piece, struct str base)
{
	int64_t off, n;

	if (json_doc_is_list(piece)) {
		assert_true(json_doc_get_int(json_doc_at(piece, 0), &off));
		assert_true(json_doc_get_int(json_doc_at(piece, 1), &n));
		assert_true(off >= 0 && n >= 0 && (size_t)(off + n) <= base.n);
		buf_add(out, base.p + off, (size_t)n);
	} else if (!json_doc_is_object(piece)) {
		add_bytes(out, text(piece));
	} else if (json_doc_get(piece, "repeat")) {
		for (n = number(piece, "times"); n > 0; n--)
			add_bytes(out, text(json_doc_get(piece, "repeat")));
	} else {
		for (n = number(piece, "from"); n <= number(piece, "to"); n++)
			add_numbered(out, text(json_doc_get(piece, "each")), n);
	}
}

static void make_folders(const char *path)
{
	char *p = xstrdup(path);

	for (char *at = p + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		mkdir(p, 0700);
		*at = '/';
	}
	free(p);
}

static bool make_file(struct str name, const json_doc *file, void *arg)
{
	char *path = xasprintf("%s/%.*s", root, (int)name.n, name.p), *from;
	const json_doc *pieces = json_doc_get(file, "is");
	struct buf out = { 0 };
	struct str base;

	(void)arg;
	base = text(json_doc_at(json_doc_get(all, "files"), (size_t)number(file, "base")));
	from = xasprintf("%s/%.*s", clean, (int)base.n, base.p);
	base.p = temp_get(from, &base.n);
	assert_non_null(base.p);
	for (size_t i = 0; i < json_doc_count(pieces); i++)
		add_piece(&out, json_doc_at(pieces, i), base);
	make_folders(path);
	temp_put(path, out.p ? out.p : "", out.n);
	free((char *)base.p);
	buf_release(&out);
	free(from);
	free(path);
	return true;
}

static bool is_in(const json_doc *list, struct str s)
{
	for (size_t i = 0; list && i < json_doc_count(list); i++)
		if (str_eq(text(json_doc_at(list, i)), s))
			return true;
	return false;
}

static void make_case(const json_doc *c)
{
	const json_doc *files = json_doc_get(all, "files"), *folders = json_doc_get(c, "folders");

	temp_clear(dir);
	for (size_t i = 0; i < json_doc_count(files); i++) {
		struct str name = text(json_doc_at(files, i));
		char *from = xasprintf("%s/%.*s", clean, (int)name.n, name.p);
		char *to = xasprintf("%s/%.*s", root, (int)name.n, name.p), *p;
		size_t n;

		if (!is_in(json_doc_get(c, "gone"), name)) {
			p = temp_get(from, &n);
			assert_non_null(p);
			make_folders(to);
			temp_put(to, p, n);
			free(p);
		}
		free(from);
		free(to);
	}
	if (json_doc_get(c, "files"))
		json_doc_each(json_doc_get(c, "files"), make_file, NULL);
	for (size_t i = 0; folders && i < json_doc_count(folders); i++) {
		struct str name = text(json_doc_at(folders, i));
		char *path = xasprintf("%s/%.*s/", root, (int)name.n, name.p);

		make_folders(path);
		free(path);
	}
}

/* ---- asking ---- */

static int run(struct buf *out, const char *args)
{
	char *line = xasprintf("'%s' -r '%s' %s 2>/dev/null", bough, root, args);
	FILE *f = popen(line, "r");
	int ch, status;

	assert_non_null(f);
	buf_clear(out);
	while ((ch = getc(f)) != EOF)
		buf_addc(out, (char)ch);
	status = pclose(f);
	free(line);
	return status;
}

static json_doc *run_json(const char *args)
{
	struct buf out = { 0 };
	struct err err = { 0 };
	json_doc *doc;

	run(&out, args);
	doc = json_doc_parse((struct str){ out.p ? out.p : "", out.n }, false, &err);
	if (!doc)
		fail_msg("%s: %s", args, err.text);
	buf_release(&out);
	return doc;
}

/* ---- comparing ---- */

struct like {
	const json_doc *got, *also_right;
	bool is_like;
};

static void dump(const json_doc *doc, struct buf *out)
{
	buf_clear(out);
	if (doc)
		json_doc_dump(doc, 0, out);
	else
		buf_adds(out, "nothing");
}

static bool is_like(const json_doc *want, const json_doc *got, const json_doc *also_right);

static bool member_is_like(struct str key, const json_doc *want, void *arg)
{
	struct like *like = arg;
	char *name = xstrndup(key.p, key.n);
	const json_doc *got = json_doc_get(like->got, name);

	if (!got || !is_like(want, got, like->also_right))
		like->is_like = false;
	free(name);
	return like->is_like;
}

/* Objects of lists may hold more than is asked for; all else is the same. */
static bool is_like(const json_doc *want, const json_doc *got, const json_doc *also_right)
{
	struct buf a = { 0 }, b = { 0 };
	struct str s;
	bool same;

	if (json_doc_is_object(want) && json_doc_is_object(got)) {
		struct like like = { got, also_right, true };

		json_doc_each(want, member_is_like, &like);
		return like.is_like;
	}
	if (json_doc_is_list(want) && json_doc_is_list(got)) {
		same = json_doc_count(want) == json_doc_count(got);
		for (size_t i = 0; same && i < json_doc_count(want); i++)
			same = is_like(json_doc_at(want, i), json_doc_at(got, i), also_right);
		return same;
	}
	dump(want, &a);
	dump(got, &b);
	same = strcmp(a.p, b.p) == 0 || (json_doc_get_string(got, &s) && is_in(also_right, s));
	buf_release(&a);
	buf_release(&b);
	return same;
}

static void check(const char *name, const char *key, const json_doc *want, const json_doc *got,
	const json_doc *also_right)
{
	struct buf a = { 0 }, b = { 0 };
	bool same;

	dump(want, &a);
	dump(got, &b);
	/* counts of words are compared whole: one more would be wrong */
	same = json_doc_is_object(want) ? strcmp(a.p, b.p) == 0
					: got && is_like(want, got, also_right);
	ncompared++;
	if (!same) {
		print_error("%s: %s\n  expected %s\n  got      %s\n", name, key, a.p, b.p);
		nbad++;
	}
	buf_release(&a);
	buf_release(&b);
}

struct conversation {
	const char *name;                /* of the case */
	const json_doc *c, *want, *got;  /* want: what differs from the valid root's answers */
};

static bool check_member(struct str key, const json_doc *base, void *arg)
{
	struct conversation *v = arg;
	char *name = xstrndup(key.p, key.n);
	const json_doc *want = json_doc_get(v->want, name);

	if (want || !is_in(json_doc_get(v->want, "-"), key))
		check(v->name, name, want ? want : base, json_doc_get(v->got, name),
			json_doc_get(v->c, "also_right"));
	free(name);
	return true;
}

static void check_fold(const struct conversation *v, const char *id)
{
	char *args = xasprintf("fold '%s' --canonical", id), hex[65];
	struct buf out = { 0 };
	struct str sha;

	run(&out, args);
	flow_sha_of(out.p ? out.p : "", out.n, hex);
	assert_true(json_doc_get_string(json_doc_get(v->got, "fold_sha256"), &sha));
	ncompared++;
	if (!str_eqs(sha, hex)) {
		print_error("%s: the canonical fold has the digest %s\n", v->name, hex);
		nbad++;
	}
	buf_release(&out);
	free(args);
}

/* Why the fold ends, where that is no finding of the checks. */
static bool stops_alone(const json_doc *got)
{
	struct str code = { "", 0 };

	json_doc_get_string(json_doc_get(json_doc_at(json_doc_get(got, "problems"), 0), "code"), &code);
	return str_starts(code, "fold-");
}

/*
 * Each code of a list as often as it stands there, sorted. Without `cycle`: only
 * the fold knows it, and verify does not fold (doc/formats.md).
 */
static void codes_of(const json_doc *list, const char *key, struct buf *out)
{
	size_t n = json_doc_count(list);
	struct str *v = xcalloc(n + 1, sizeof(*v));

	for (size_t i = 0; i < n; i++) {
		size_t k = i;
		struct str code = text(json_doc_get(json_doc_at(list, i), key));

		for (; k > 0 && strcmp(v[k - 1].p, code.p) > 0; k--)
			v[k] = v[k - 1];
		v[k] = code;
	}
	for (size_t i = 0; i < n; i++)
		if (!str_eqs(v[i], "cycle"))
			buf_printf(out, "%s ", v[i].p);
	buf_adds(out, ".");
	free(v);
}

/*
 * The same findings from `verify`, whose exit status says whether there are any,
 * and from `problems`: one list, one status.
 */
static void check_verify(const struct conversation *v, const char *id)
{
	char *args = xasprintf("verify '%s/_conversations/%s' --json", root, id);
	char *problems = xasprintf("problems '%s/_conversations/%s' --json", root, id);
	size_t n = json_doc_count(json_doc_get(v->got, "verify")) +
		   json_doc_count(json_doc_get(v->got, "landed_problems")) + stops_alone(v->got);
	struct buf out = { 0 }, other = { 0 }, a = { 0 }, b = { 0 };
	struct err err = { 0 };
	int status = run(&out, args), also = run(&other, problems);
	json_doc *doc = json_doc_parse((struct str){ out.p, out.n }, false, &err);
	json_doc *list = json_doc_parse((struct str){ other.p, other.n }, false, &err);

	assert_non_null(doc);
	assert_non_null(list);
	ncompared += 4;
	codes_of(json_doc_get(doc, "findings"), "code", &a);
	codes_of(json_doc_get(list, "problems"), "kind", &b);
	if (json_doc_count(json_doc_get(doc, "findings")) != n || (status == 0) != (n == 0)) {
		print_error("%s: verify has %zu findings, not %zu; status %d\n", v->name,
			json_doc_count(json_doc_get(doc, "findings")), n, status);
		nbad++;
	}
	if ((status != also && !strstr(other.p, "\"cycle\"")) || strcmp(a.p, b.p) != 0) {
		print_error("%s: verify says %s (status %d), problems %s (status %d)\n", v->name,
			a.p, status, b.p, also);
		nbad++;
	}
	json_doc_free(&doc);
	json_doc_free(&list);
	buf_release(&out);
	buf_release(&other);
	buf_release(&a);
	buf_release(&b);
	free(args);
	free(problems);
}

static bool check_conversation(struct str key, const json_doc *want, void *arg)
{
	struct conversation v = *(const struct conversation *)arg;
	char *id = xstrndup(key.p, key.n), *args = xasprintf("show '%s' --json --verify", id);
	const json_doc *landed = json_doc_get(v.c, "landed_problems");
	json_doc *got = run_json(args), *none = json_doc_list();

	v.want = want;
	v.got = got;
	json_doc_each(json_doc_get(all, "base"), check_member, &v);
	check(v.name, "landed_problems", landed ? json_doc_get(landed, id) : none,
		json_doc_get(got, "landed_problems"), NULL);
	check_fold(&v, id);
	check_verify(&v, id);
	json_doc_free(&got);
	json_doc_free(&none);
	free(args);
	free(id);
	return true;
}

static bool check_case(struct str key, const json_doc *c, void *arg)
{
	struct conversation v = { .name = xstrndup(key.p, key.n), .c = c };

	(void)arg;
	make_case(c);
	json_doc_each(json_doc_get(c, "want"), check_conversation, &v);
	ncases++;
	free((char *)v.name);
	return true;
}

static void test_cases(void **state)
{
	(void)state;
	json_doc_each(json_doc_get(all, "cases"), check_case, NULL);
	print_message("%d cases, %d values compared\n", ncases, ncompared);
	assert_int_equal(nbad, 0);
	assert_int_equal(ncases, 195);
	assert_true(ncompared >= 195 * 23);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases) };
	const char *srcdir = getenv("srcdir");
	char *path = xasprintf("%s/tests/format/flow/cases.json", srcdir ? srcdir : ".");
	struct err err = { 0 };
	size_t n;
	char *p;
	int failed;

	temp_make(dir);
	clean = xasprintf("%s/tests/format/flow/clean", srcdir ? srcdir : ".");
	root = xasprintf("%s/root", dir);
	bough = getenv("BOUGH") ? getenv("BOUGH") : "./bough";
	p = temp_get(path, &n);
	all = p ? json_doc_parse((struct str){ p, n }, false, &err) : NULL;
	if (!all) {
		fprintf(stderr, "%s: %s\n", path, err.text);
		return 1;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	json_doc_free(&all);
	free(p);
	free(path);
	free(clean);
	free(root);
	temp_remove(dir);
	return failed;
}
