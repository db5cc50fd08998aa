/*
 * json-get.c - one value out of a JSON document, for test scripts.
 *
 * json-get PATH <DOCUMENT: PATH is keys and indices with dots between, "" for
 * the whole; with '#' at its end the number of members. Strings come out as
 * they are, everything else as JSON. Exit status 1: no such value or no JSON.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/doc.h"

static const json_doc *step(const json_doc *doc, const char *key)
{
	char *end;
	size_t i = strtoul(key, &end, 10);

	if (json_doc_is_object(doc))
		return json_doc_get(doc, key);
	if (!json_doc_is_list(doc) || *end || i >= json_doc_count(doc))
		return NULL;
	return json_doc_at(doc, i);
}

static const json_doc *walk(const json_doc *doc, char *path)
{
	for (char *key = strtok(path, "."); key && doc; key = strtok(NULL, "."))
		doc = step(doc, key);
	return doc;
}

static void print(const json_doc *doc, int count)
{
	struct buf text = { 0 };
	struct str s;

	if (count) {
		printf("%zu\n", json_doc_count(doc));
	} else if (json_doc_get_string(doc, &s)) {
		fwrite(s.p, 1, s.n, stdout);
		putchar('\n');
	} else {
		json_doc_dump(doc, 0, &text);
		puts(text.p);
		buf_release(&text);
	}
}

int main(int argc, char **argv)
{
	char *path = argc > 1 ? argv[1] : (char[1]){ 0 };
	size_t n = strlen(path);
	int count = n > 0 && path[n - 1] == '#';
	struct buf text = { 0 };
	struct err err = { 0 };
	json_doc *doc;
	const json_doc *found;
	int c, status = 1;

	while ((c = getchar()) != EOF)
		buf_addc(&text, (char)c);
	doc = json_doc_parse((struct str){ text.p, text.n }, false, &err);
	if (count)
		path[n - 1] = '\0';
	if (!doc) {
		fprintf(stderr, "json-get: no JSON: %s\n", err.text);
	} else {
		found = walk(doc, path);
		if (found) {
			print(found, count);
			status = 0;
		}
	}
	json_doc_free(&doc);
	buf_release(&text);
	return status;
}
