/*
 * fixture.c - what the unit tests of src/log share.
 */
#include "config.h"

#include "tests/log/fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

char dir[TEMP_PATH], file[TEMP_PATH + 64];
struct err err;

int fixture_setup(void **state)
{
	(void)state;
	temp_make(dir);
	snprintf(file, sizeof(file), "%s/s.jsonl", dir);
	err_clear(&err);
	return 0;
}

int fixture_teardown(void **state)
{
	(void)state;
	fake_remove();
	temp_remove(dir);
	return 0;
}

struct log_reader *open_reader(void)
{
	struct log_reader *r;

	if (log_reader_open(&r, file, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

struct log *open_log(unsigned flags)
{
	struct log *log;

	if (log_open(&log, file, flags, &err) < 0)
		fail_msg("%s", err.text);
	return log;
}

void expect_line(struct log_reader *r, const char *text, uint64_t off, uint64_t number, bool ended)
{
	struct log_line line;
	char slack[LINE_SLACK];

	assert_int_equal(log_next_line(r, &line, &err), 1);
	assert_int_equal(line.n, strlen(text));
	assert_memory_equal(line.p, text, line.n);
	assert_int_equal(line.off, off);
	assert_int_equal(line.number, number);
	assert_int_equal(line.ended, ended);
	assert_false(line.too_long);
	memcpy(slack, line.p + line.n, sizeof(slack)); /* all readable, a sanitizer sees it */
	assert_int_equal(slack[0], '\n');
}

void expect_end(struct log_reader *r)
{
	struct log_line line;

	assert_int_equal(log_next_line(r, &line, &err), 0);
	assert_int_equal(log_next_line(r, &line, &err), 0);
}

void append(struct log *log, uint64_t committed, const char *text, struct log_append_info *info)
{
	if (log_append(log, committed, text, strlen(text), info, &err) < 0)
		fail_msg("%s", err.text);
}

void set_mtime(const char *path, long seconds)
{
	struct timespec times[2] = { { seconds, 0 }, { seconds, 0 } };

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}
