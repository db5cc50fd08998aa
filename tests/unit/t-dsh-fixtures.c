/*
 * t-dsh-fixtures.c - every session of the dsh fixtures against the answers of
 * the format's own backend (tests/format/dsh/expected.json): events, their
 * bytes by digest, surface, title, header; and a problem of the right class
 * where that backend refuses.
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

#include "base/xalloc.h"
#include "format/dsh/dsh.h"
#include "json/doc.h"
#include "json/value.h"
#include "json/write.h"
#include "tests/lib/dsh-expected.h"

static unsigned nsessions, nhashes, nrefused, failures;

#define COMPLAIN(...) (failures++, fprintf(stderr, __VA_ARGS__), fputc('\n', stderr))

static struct session *load(const char *path)
{
	struct session *s = NULL;
	struct err err = { 0 };
	int rc = format_dsh.open(path, &s, &err);

	while (rc >= 0 && (rc = format_dsh.step(s, 1, &err)) == 1)
		;
	if (rc < 0)
		fail_msg("%s: %s", path, err.text);
	return s;
}

static int setup(void **state)
{
	struct session *s;
	struct str closers;
	char *path;
	size_t n;

	(void)state;
	gcry_check_version(NULL);
	dsh_expected_open();
	path = dsh_path("interrupted-zstd", dsh_closed_session());
	s = load(path);
	closers = dsh_closers(s, &n);
	assert_int_equal(n, 4);
	dsh_learn(DSH_OURS, closers.p);
	session_free(&s);
	free(path);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dsh_expected_close();
	return 0;
}

/* ---- events ---- */

static bool collect(struct str lines, void *arg)
{
	buf_addstr(arg, lines);
	return true;
}

static void events_are(
	const char *who, struct session *s, unsigned flags, uint64_t from, const json_doc *want)
{
	struct buf text = { 0 };
	struct err err = { 0 };
	unsigned char sum[32];
	char digest[25];
	int64_t n = 0, lines = 0;
	const char *hash = string_of(at(want, "jsonlSha256"));

	if (s->ops->events(s, flags, from, collect, &text, &err) < 0)
		fail_msg("%s: %s", who, err.text);
	dsh_exchange(&text, DSH_BACKENDS);
	for (size_t i = 0; i < text.n; i++)
		lines += text.p[i] == '\n';
	if (json_doc_get_int(at(want, "events"), &n) && n != lines)
		COMPLAIN("%s from %d: %d events, not %d", who, (int)from, (int)lines, (int)n);
	gcry_md_hash_buffer(GCRY_MD_SHA256, sum, text.n ? text.p : "", text.n);
	for (int i = 0; i < 12; i++)
		snprintf(digest + 2 * i, 3, "%02x", sum[i]);
	if (hash && strcmp(hash, digest) != 0)
		COMPLAIN("%s from %d: the bytes differ\n%s", who, (int)from, text.n ? text.p : "");
	nhashes += hash != NULL;
	buf_release(&text);
}

static void no_events(const char *who, struct session *s, uint64_t from)
{
	struct buf text = { 0 };

	s->ops->events(s, 0, from, collect, &text, NULL);
	if (text.n)
		COMPLAIN("%s from %d: events where there are none", who, (int)from);
	buf_release(&text);
}

/* ---- details ---- */

struct details {
	json_doc *o;
};

static void take_detail(const char *key, struct str json, void *arg)
{
	struct details *d = arg;
	struct err err = { 0 };
	json_doc *v = json_doc_parse(json, false, &err);

	if (!v)
		fail_msg("%s: %s: %.*s", key, err.text, (int)json.n, json.p);
	json_doc_set(d->o, key, v);
}

static void same(const char *who, const char *key, const json_doc *got, const json_doc *want)
{
	struct buf a = { 0 }, b = { 0 };

	json_doc_dump(got, 0, &a);
	json_doc_dump(want, 0, &b);
	if (strcmp(a.p, b.p) != 0)
		COMPLAIN("%s: %s is %s, not %s", who, key, a.p, b.p);
	buf_release(&a);
	buf_release(&b);
}

static json_doc *stored_header(struct session *s)
{
	struct buf text = { 0 };
	json_doc *doc, *o = json_doc_object();
	const json_doc *v;
	static const char *const keys[] = { "version", "id", "createdAt", "cwd", "parentSession",
		"seedLength", "origin", "delegationDepth", "agentPreset" };
	char *nl;

	s->ops->events(s, EVENTS_STORED, 0, collect, &text, NULL);
	nl = memchr(text.p, '\n', text.n);
	doc = json_doc_parse((struct str){ text.p, (size_t)(nl - text.p) }, false, NULL);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct buf one = { 0 };

		v = json_doc_get(doc, keys[i]);
		if (!v)
			continue;
		json_doc_dump(v, 0, &one);
		json_doc_set(o, keys[i], json_doc_parse((struct str){ one.p, one.n }, false, NULL));
		buf_release(&one);
	}
	json_doc_free(&doc);
	buf_release(&text);
	return o;
}

static void details_are(const char *who, struct session *s, const json_doc *want)
{
	struct details d = { json_doc_object() };
	json_doc *stored = NULL, *null = json_doc_null();

	s->ops->details(s, take_detail, &d, NULL);
	same(who, "events", at(d.o, "events"), at(want, "events"));
	same(who, "last_seq", at(d.o, "last_seq"),
		at(want, "lastSeq") ? at(want, "lastSeq") : null);
	if (at(want, "surface"))
		same(who, "surface", at(d.o, "surface"), at(want, "surface"));
	same(who, "title", at(d.o, "title"), at(want, "title") ? at(want, "title") : null);
	if (!at(want, "header"))
		stored = stored_header(s);
	same(who, "header", at(d.o, "header"), stored ? stored : at(want, "header"));
	json_doc_free(&stored);
	json_doc_free(&null);
	json_doc_free(&d.o);
}

/* ---- problems ---- */

static bool has_problem(const struct session *s, const char *const *kinds)
{
	for (size_t i = 0; i < s->problems.n; i++)
		for (size_t k = 0; kinds[k]; k++)
			if (strcmp(s->problems.v[i].kind, kinds[k]) == 0)
				return true;
	return false;
}

static void problem_is(const char *who, const struct session *s, const json_doc *error)
{
	static const char *const unsupported[] = { "unsupported", NULL };
	static const char *const invalid[] = { "invalid", NULL };
	static const char *const plain[] = { "corrupt", "bad-header", "wrong-place", "flat-layout",
		NULL };
	const char *name = string_of(at(error, "name"));
	const char *const *kinds = plain;

	if (name && strcmp(name, "SessionFormatUnsupportedError") == 0)
		kinds = unsupported;
	else if (name && strcmp(name, "SessionPersistenceCorruptionError") == 0)
		kinds = invalid;
	if (!has_problem(s, kinds)) {
		COMPLAIN("%s: no problem of the class of %s: %s", who, name ? name : "?",
			string_of(at(error, "message")));
		for (size_t i = 0; i < s->problems.n; i++)
			fprintf(stderr, "    %s: %s\n", s->problems.v[i].kind,
				s->problems.v[i].message);
	}
	if (!dsh_refusal(s))
		COMPLAIN("%s: may be continued all the same", who);
	nrefused++;
}

/* Looks at everything that can be shown, for the sanitizers. */
static void show_all(const char *who, struct session *s)
{
	for (uint32_t e = 0; e < s->n; e++) {
		struct buf a = { 0 }, b = { 0 };
		struct arena arena = { 0 };
		struct content content;
		struct err err = { 0 };

		if (s->ops->preview(s, e, 200, &a, &b, &err) < 0 ||
			s->ops->content(s, e, SIZE_MAX, &arena, &content, &err) < 0 ||
			s->ops->record(s, e, &a, &err) < 0)
			COMPLAIN("%s: entry %u: %s", who, e, err.text);
		arena_free(&arena);
		buf_release(&a);
		buf_release(&b);
	}
}

/* ---- cases ---- */

/* The backend refuses these for what else lies in the root; each by itself is sound. */
static bool is_of_root(const char *name)
{
	static const char *const names[] = { "root-opposite", "root-opposite-raw", "root-flat",
		"root-duplicate" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

struct one_case {
	const char *name, *who;
	struct session *s;
};

static bool check_read_from(struct str key, const json_doc *want, void *arg)
{
	struct one_case *c = arg;

	uint64_t from = strtoull(key.p, NULL, 10);

	if (json_doc_is_object(want) && !at(want, "error"))
		events_are(c->who, c->s, 0, from, want);
	else if (!json_doc_is_object(want))
		no_events(c->who, c->s, from);
	return true;
}

static bool check_session(struct str id, const json_doc *stored, void *arg)
{
	struct one_case *c = arg;
	const json_doc *want = stored, *inspect;
	char *path = dsh_path(c->name, stored),
	     *who = xasprintf("%s/%.*s", c->name, (int)id.n, id.p);
	bool ok = false, refused = false;

	if (at(at(at(dsh_expected, "cases"), c->name), "withRanges"))
		want = at(
			at(at(at(at(dsh_expected, "cases"), c->name), "withRanges"), "sessions"), id.p);
	if (!path || !want)
		goto out;
	nsessions++;
	c->who = who;
	c->s = load(path);
	show_all(who, c->s);
	inspect = at(want, "inspect");
	if (at(want, "refused"))
		json_doc_get_bool(at(want, "refused"), &refused);
	if (inspect)
		json_doc_get_bool(at(inspect, "ok"), &ok);
	if (ok) {
		events_are(who, c->s, EVENTS_BALANCED, 0, inspect);
		details_are(who, c->s, inspect);
		if (dsh_refusal(c->s))
			COMPLAIN("%s: refused: %s", who, dsh_refusal(c->s));
	} else if (!is_of_root(c->name)) {
		problem_is(who, c->s, at(want, "error") ? at(want, "error") : at(inspect, "error"));
	}
	if (at(want, "readFrom") && json_doc_is_object(at(want, "readFrom")))
		json_doc_each(at(want, "readFrom"), check_read_from, c);
	session_free(&c->s);
out:
	free(who);
	free(path);
	return true;
}

static bool check_case(struct str name, const json_doc *one, void *arg)
{
	struct one_case c = { .name = name.p };

	(void)arg;
	json_doc_each(at(one, "sessions"), check_session, &c);
	return true;
}

static void test_cases(void **state)
{
	(void)state;
	json_doc_each(at(dsh_expected, "cases"), check_case, NULL);
	printf("dsh fixtures: %u sessions, %u digests, %u refused\n", nsessions, nhashes, nrefused);
	assert_int_equal(failures, 0);
	assert_true(nsessions > 100 && nhashes > 60 && nrefused > 40);
}

/* ---- lists ---- */

struct listed {
	struct buf ids;
	size_t n;
};

static void on_found(const struct found *f, void *arg)
{
	struct listed *l = arg;

	assert_null(f->unreadable);
	buf_printf(&l->ids, "\n%s\n", f->path);
	l->n++;
}

/* Every session that the backend lists is found; bough finds more, and says what is wrong with it. */
static bool check_list(struct str name, const json_doc *one, void *arg)
{
	char *root = xasprintf("%s/%.*s/store", dsh_top, (int)name.n, name.p);
	const json_doc *ids = at(at(one, "list"), "ids");
	struct listed l = { 0 };
	uint64_t pos = 0;

	(void)arg;
	if (!format_dsh.detect(root, false))
		goto out;
	while (format_dsh.scan(root, &pos, 1, on_found, &l, NULL) == 1)
		;
	for (size_t i = 0; ids && i < json_doc_count(ids); i++) {
		const json_doc *session = at(at(one, "sessions"), string_of(json_doc_at(ids, i)));
		char *path = session ? dsh_path(name.p, session) : NULL;

		if (path && !strstr(l.ids.p, path))
			COMPLAIN("%s: %s is not found", name.p, path);
		free(path);
	}
	if (ids && l.n < json_doc_count(ids))
		COMPLAIN("%s: %zu sessions are found", name.p, l.n);
out:
	buf_release(&l.ids);
	free(root);
	return true;
}

static void test_lists(void **state)
{
	(void)state;
	failures = 0;
	json_doc_each(at(dsh_expected, "cases"), check_list, NULL);
	assert_int_equal(failures, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
