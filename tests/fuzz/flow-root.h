/*
 * flow-root.h - a root with one conversation, in a temporary folder, whose
 * files are written anew for each input.
 */
#ifndef BOUGH_TESTS_FLOW_ROOT_H
#define BOUGH_TESTS_FLOW_ROOT_H

#include <stdint.h>

#include "base/buf.h"

/* Makes the folders once; the root's path. They go away when the program ends. */
const char *flow_root(void);
void flow_root_put(const char *name, const void *p, size_t n);
/* The rounds' folder holds only this one round. */
void flow_root_round(const void *p, size_t n);
const char *flow_root_conversation(void);

#endif
