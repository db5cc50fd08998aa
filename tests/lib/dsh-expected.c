/*
 * dsh-expected.c - expected answers of the dsh fixtures.
 */
#include "config.h"

#include "tests/lib/dsh-expected.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "json/value.h"
#include "tests/lib/temp.h"

char *dsh_top;
json_doc *dsh_expected;
static char *texts[2][2]; /* by sentence and side; JSON text without quotes */

const json_doc *at(const json_doc *doc, const char *key)
{
	return doc ? json_doc_get(doc, key) : NULL;
}

const char *string_of(const json_doc *doc)
{
	struct str s;

	return doc && json_doc_get_string(doc, &s) ? s.p : NULL;
}

void dsh_expected_open(void)
{
	char *path, *text;
	size_t n;

	dsh_top = xasprintf("%s/tests/format/dsh", getenv("srcdir") ? getenv("srcdir") : ".");
	path = xasprintf("%s/expected.json", dsh_top);
	text = temp_get(path, &n);
	assert_non_null(text);
	dsh_expected = json_doc_parse((struct str){ text, n }, false, NULL);
	assert_non_null(dsh_expected);
	free(text);
	free(path);
	dsh_learn(DSH_BACKENDS,
		string_of(json_doc_at(at(at(at(at(dsh_closed_session(), "load"), "disk"), "$FILE"),
					      "appendedFrames"),
			0)));
}

void dsh_expected_close(void)
{
	json_doc_free(&dsh_expected);
	for (int i = 0; i < 4; i++)
		free(texts[i / 2][i % 2]);
	free(dsh_top);
}

char *dsh_path(const char *name, const json_doc *session)
{
	const char *file = string_of(at(at(session, "files"), "path"));

	return file ? xasprintf("%s/%s/store/%s", dsh_top, name, file) : NULL;
}

const json_doc *dsh_closed_session(void)
{
	return at(at(at(at(dsh_expected, "cases"), "interrupted-zstd"), "sessions"), "i-tools");
}

/* The sentence in a closing result, as JSON text without its quotes. */
static char *sentence(const char *line)
{
	struct str all = { line, strcspn(line, "\n") }, none, block, inner, text;
	struct json_iter it;

	json_iter_init(&it, json_get(json_get(json_get(all, "data"), "message"), "content"));
	json_iter_next(&it, &none, &block);
	json_iter_init(&it, json_get(block, "content"));
	json_iter_next(&it, &none, &inner);
	text = json_get(inner, "text");
	assert_true(text.n > 2);
	return xstrndup(text.p + 1, text.n - 2);
}

void dsh_learn(enum dsh_side side, const char *lines)
{
	for (int i = 0; i < 2; i++) {
		texts[i][side] = sentence(lines);
		lines = strchr(lines, '\n') + 1;
	}
}

static void replace(struct buf *b, const char *from, const char *to)
{
	struct buf out = { 0 };
	const char *p = b->p, *hit;

	while (b->n && (hit = strstr(p, from))) {
		buf_add(&out, p, (size_t)(hit - p));
		buf_adds(&out, to);
		p = hit + strlen(from);
	}
	if (b->n)
		buf_add(&out, p, (size_t)(b->p + b->n - p));
	buf_release(b);
	*b = out;
}

void dsh_exchange(struct buf *text, enum dsh_side to)
{
	for (int i = 0; i < 2; i++)
		replace(text, texts[i][to == DSH_OURS ? DSH_BACKENDS : DSH_OURS], texts[i][to]);
}
