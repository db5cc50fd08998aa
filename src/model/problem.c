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

static __attribute__((format(printf, 4, 0))) struct problem *add(struct problem_list *list,
	struct arena *a, const struct problem *p, const char *fmt, va_list ap)
{
	struct problem *added;

	if (list->n >= PROBLEM_MAX) {
		list->more++;
		return NULL;
	}
	list->v = xgrow(list->v, &list->cap, list->n + 1, sizeof(*list->v));
	added = &list->v[list->n++];
	*added = *p;
	added->message = fmt;
	if (strchr(fmt, '%')) {
		struct buf text = { 0 };

		buf_vprintf(&text, fmt, ap);
		added->message = arena_strndup(a, text.p, text.n);
		buf_release(&text);
	}
	return added;
}

struct problem *problem_add(struct problem_list *list, struct arena *a, const char *kind,
	uint64_t line, uint64_t offset, uint64_t length, uint32_t entry, const char *fmt, ...)
{
	struct problem p = {
		.kind = kind, .line = line, .offset = offset, .length = length, .entry = entry
	}, *added;
	va_list ap;

	va_start(ap, fmt);
	added = add(list, a, &p, fmt, ap);
	va_end(ap);
	return added;
}

struct problem *problem_add_at_large(
	struct problem_list *list, struct arena *a, const char *kind, const char *fmt, ...)
{
	struct problem p = { .kind = kind, .entry = UINT32_MAX, .has_no_place = true }, *added;
	va_list ap;

	va_start(ap, fmt);
	added = add(list, a, &p, fmt, ap);
	va_end(ap);
	return added;
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
