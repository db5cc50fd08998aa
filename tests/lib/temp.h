/*
 * temp.h - files of tests: a folder of their own in memory where there is
 * /dev/shm (else under $TMPDIR), whole files in and out, open descriptors.
 * A failure in here is a failure of the test: message and exit 1.
 */
#ifndef BOUGH_TESTS_TEMP_H
#define BOUGH_TESTS_TEMP_H

#include <stdbool.h>
#include <stddef.h>

enum { TEMP_PATH = 512 };

/* A new empty folder; removed with all in it by temp_remove. */
void temp_make(char dir[TEMP_PATH]);
void temp_clear(const char *dir); /* removes all in it */
void temp_remove(const char *dir);
void temp_put(const char *path, const void *p, size_t n); /* replaces in place */
void temp_puts(const char *path, const char *text);
void temp_adds(const char *path, const char *text); /* appends */
/* The content and a NUL, yours to free; NULL when there is no such file. */
char *temp_get(const char *path, size_t *n);
bool temp_is(const char *path, const char *text); /* NULL: is not there */
/* Names in dir (not "." and "..") that contain `part`; `out` gets the last one. */
int temp_count(const char *dir, const char *part, char out[TEMP_PATH]);
int temp_open_files(void); /* open descriptors of this process */

#endif
