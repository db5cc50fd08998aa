/*
 * doc-codes.h - the codes that doc/formats.md lists in tables, and whether the
 * tests have a case for each that breaks it and one that just does not.
 */
#ifndef BOUGH_TESTS_DOC_CODES_H
#define BOUGH_TESTS_DOC_CODES_H

/* Words with spaces between them. */
void doc_codes_broken(const char *codes);
void doc_codes_kept(const char *codes);
/*
 * Looks at the rows "| `code` |" between two lines of the document. How many
 * there are; *missing how many lack a case, each named on stderr.
 */
int doc_codes_check(const char *from, const char *until, int *missing);

#endif
