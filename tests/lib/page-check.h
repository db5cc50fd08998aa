/*
 * page-check.h - pages as text for comparing, and what holds for every page.
 */
#ifndef BOUGH_TESTS_PAGE_CHECK_H
#define BOUGH_TESTS_PAGE_CHECK_H

#include "ui/page.h"

/*
 * One line a line; a span in another role than normal as {xx text} with the two
 * letters of its role; "\" at the end of a line that goes on in the next one.
 */
void page_dump(const struct page *p, struct buf *out);
/* The visible bytes: everything but spaces, line after line. */
void page_visible(const struct page *p, struct buf *out);
/*
 * NULL, or what is wrong: a span outside of the text, bytes that are not safe,
 * a width that is not the sum, a line wider than the page.
 */
const char *page_fault(const struct page *p);

/* A copy in a block of exactly n bytes, so that the sanitizer sees what reads on. Yours. */
char *exact_copy(const char *s, size_t n);

#endif
