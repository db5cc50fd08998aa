/*
 * problem.c - the list of what is wrong with a session. It knows neither
 * formats nor files; see problem.h.
 */
#include "config.h"

#include "model/problem.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"

struct problem *problem_add(struct problem_list *list, struct arena *a, const char *kind, uint64_t line,
	uint64_t offset, uint64_t length, uint32_t entry, const char *fmt, ...)
{
	const char *message = fmt;
	va_list ap;

	if (list->n >= PROBLEM_MAX) {
		list->more++;
		return NULL;
	}
	if (strchr(fmt, '%')) {
		struct buf text = { 0 };

		va_start(ap, fmt);
		buf_vprintf(&text, fmt, ap);
		va_end(ap);
		message = arena_strndup(a, text.p, text.n);
		buf_release(&text);
	}
	list->v = xgrow(list->v, &list->cap, list->n + 1, sizeof(*list->v));
	list->v[list->n++] = (struct problem){ .kind = kind,
		.line = line,
		.offset = offset,
		.length = length,
		.message = message,
		.entry = entry };
	return &list->v[list->n - 1];
}

void problem_set_round(struct problem *p, uint64_t round)
{
	if (!p)
		return;
	p->round = round;
	p->is_nowhere = p->line == 0;
}

static int problem_compare(const void *a, const void *b)
{
	const struct problem *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return strcmp(x->kind, y->kind);
}

void problem_sort(struct problem_list *list)
{
	if (list->n > 1)
		qsort(list->v, list->n, sizeof(*list->v), problem_compare);
}

void problem_drop(struct problem_list *list, const char *kind)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->v[i].kind, kind) != 0)
			list->v[kept++] = list->v[i];
	list->n = kept;
}

void problem_drop_from(struct problem_list *list, uint64_t offset)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].offset < offset)
			list->v[kept++] = list->v[i];
	list->n = kept;
}

void problem_release(struct problem_list *list)
{
	free(list->v);
	*list = (struct problem_list){ 0 };
}
