/*
 * tree-check.h - what must hold for any loaded tree session, for unit tests
 * and the fuzz target.
 */
#ifndef BOUGH_TESTS_TREE_CHECK_H
#define BOUGH_TESTS_TREE_CHECK_H

#include "model/session.h"

/*
 * Every byte of the file is in one entry, or in one problem that took it away,
 * or is white space between them. NULL, or what is wrong.
 */
const char *tree_check_bytes(const struct session *s, const char *p, size_t n);
/* Links, counts, roots and ids agree with each other. NULL, or what is wrong. */
const char *tree_check_links(struct session *s);
/* All that two loads of the same bytes must have in common, as text. */
void tree_check_dump(struct session *s, struct buf *out);

#endif
