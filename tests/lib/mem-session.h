/*
 * mem-session.h - sessions made from a list of names, for tests that need a
 * tree but no file.
 */
#ifndef BOUGH_TESTS_MEM_SESSION_H
#define BOUGH_TESTS_MEM_SESSION_H

#include "model/session.h"

struct session *mem_session(void);
/* parent NULL: a root. The new index, or ENTRY_NONE. Offsets count up by 10, lines by 1. */
uint32_t mem_add(struct session *s, const char *id, const char *parent);
/* "a b:a c:a": ids with their parents, linked. */
struct session *mem_tree(const char *text);

#endif
