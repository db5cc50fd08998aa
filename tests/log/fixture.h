/*
 * fixture.h - what the unit tests of src/log share: a folder and a file name
 * for each test, and short forms of the calls that must succeed.
 */
#ifndef BOUGH_TESTS_LOG_FIXTURE_H
#define BOUGH_TESTS_LOG_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "log/internal.h"
#include "log/log.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/temp.h"

extern char dir[TEMP_PATH], file[TEMP_PATH + 64]; /* file: "<dir>/s.jsonl", not there yet */
extern struct err err;

int fixture_setup(void **state);
int fixture_teardown(void **state);
#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

struct log_reader *open_reader(void);
struct log *open_log(unsigned flags);
void append(struct log *log, uint64_t committed, const char *text, struct log_append_info *info);
void expect_line(struct log_reader *r, const char *text, uint64_t off, uint64_t number, bool ended);
void expect_end(struct log_reader *r); /* and again */
void set_mtime(const char *path, long seconds);

#endif
