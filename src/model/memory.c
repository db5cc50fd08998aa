/*
 * memory.c - advice to the system about the few large tables of a session.
 */
#include "config.h"

#include "model/internal.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE_BYTES = 4 << 20 };

void memory_large_pages(void *p, size_t n)
{
#ifdef MADV_HUGEPAGE
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	/* Whole pages around the table: a mapping that is advised in part can not be moved by realloc. */
	uintptr_t from = (uintptr_t)p & ~(page - 1), to = ((uintptr_t)p + n + page - 1) & ~(page - 1);

	if (n >= LARGE_BYTES)
		(void)madvise((void *)from, to - from, MADV_HUGEPAGE); /* only advice */
#else
	(void)p;
	(void)n;
#endif
}
