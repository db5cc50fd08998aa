/* doc-codes.c - see doc-codes.h. */
#include "config.h"

#include "tests/lib/doc-codes.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "tests/lib/temp.h"

static struct buf broken, kept; /* each word between spaces */

static void note(struct buf *b, const char *codes)
{
	buf_addc(b, ' ');
	buf_adds(b, codes);
	buf_addc(b, ' ');
}

void doc_codes_broken(const char *codes)
{
	note(&broken, codes);
}

void doc_codes_kept(const char *codes)
{
	note(&kept, codes);
}

static bool is_noted(const struct buf *b, const char *code)
{
	char *word = xasprintf(" %s ", code);
	bool is = b->n && strstr(b->p, word);

	free(word);
	return is;
}

int doc_codes_check(const char *from, const char *until, int *missing)
{
	const char *srcdir = getenv("srcdir");
	char *path = xasprintf("%s/doc/formats.md", srcdir ? srcdir : "."), *text, *at, *end, *line;
	size_t n;
	int ncodes = 0;

	*missing = 0;
	text = temp_get(path, &n);
	at = text ? strstr(text, from) : NULL;
	end = at ? strstr(at, until) : NULL;
	if (end)
		*end = '\0';
	for (line = end ? strtok_r(at, "\n", &end) : NULL; line;
		line = strtok_r(NULL, "\n", &end)) {
		char code[64];

		if (sscanf(line, "| `%63[a-z0-9-]` |", code) != 1)
			continue;
		ncodes++;
		if (is_noted(&broken, code) && is_noted(&kept, code))
			continue;
		fprintf(stderr, "%s: no case %s it\n", code,
			is_noted(&broken, code) ? "just keeps" : "breaks");
		++*missing;
	}
	printf("%d of %d codes of the document have both cases\n", ncodes - *missing, ncodes);
	buf_release(&broken);
	buf_release(&kept);
	free(text);
	free(path);
	return ncodes;
}
