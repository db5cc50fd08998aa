/*
 * dsh-expected.h - the answers of the dsh fixtures (tests/format/dsh/expected.json)
 * and the exchange of the two sentences in closing results, which are worded
 * by whoever writes them: the backend's for ours, or ours for the backend's.
 *
 * Calling sequence: dsh_expected_open, dsh_learn twice, the rest, dsh_expected_close.
 * A failure in here is a failure of the test (cmocka).
 */
#ifndef BOUGH_TESTS_DSH_EXPECTED_H
#define BOUGH_TESTS_DSH_EXPECTED_H

#include "base/buf.h"
#include "json/doc.h"

enum dsh_side { DSH_OURS, DSH_BACKENDS };

extern char *dsh_top;           /* the folder of the fixtures */
extern json_doc *dsh_expected;

void dsh_expected_open(void);
void dsh_expected_close(void);
/* A member, or NULL; doc may be NULL. The text of a string, or NULL. */
const json_doc *at(const json_doc *doc, const char *key);
const char *string_of(const json_doc *doc);
/* The path of a session's file, yours; NULL where the answers name none. */
char *dsh_path(const char *name, const json_doc *session);
/* The answers for the session whose closing results both sides word. */
const json_doc *dsh_closed_session(void);
/* The lines of the closing results as one side writes them. */
void dsh_learn(enum dsh_side side, const char *lines);
/* Both sentences of the other side become those of `to`. */
void dsh_exchange(struct buf *text, enum dsh_side to);

#endif
