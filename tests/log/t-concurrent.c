/*
 * t-concurrent.c - readers beside a writer. One process appends in small
 * batches, some of which fail half way and are taken back; others open the
 * file at any moment, or follow it. They see a prefix of what is written,
 * never an error and never a wrong line.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/internal.h"
#include "log/log.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/temp.h"

enum { BATCHES = 3000, PER_BATCH = 3, LAST = BATCHES * PER_BATCH, TEXT = 512 };

static char dir[TEMP_PATH], file[TEMP_PATH + 64];

/* Line number i (from 1) without its newline: 10 to about 300 bytes. */
static size_t line_text(unsigned long i, char out[TEXT])
{
	int n = sprintf(out, "{\"n\":%lu,\"t\":\"", i);
	unsigned fill = (unsigned)(i * 2654435761u >> 7) % 300;

	memset(out + n, 'a' + (int)(i % 26), fill);
	return (size_t)n + fill + (size_t)sprintf(out + n + fill, "\"}");
}

static int give_up(const char *what, const struct err *err)
{
	fprintf(stderr, "concurrent: %s: %s\n", what, err->text);
	return 1;
}

static int run_writer(void)
{
	char batch[PER_BATCH * (TEXT + 1)];
	struct log_append_info info = { .id.size = 0 };
	struct err err = { 0 };
	struct log *log;
	int i, k, rc;

	fake_install();
	if (log_open(&log, file, LOG_CREATE | LOG_BESIDE, &err) < 0)
		return give_up("open", &err);
	for (i = 0; i < BATCHES; i++) {
		size_t n = 0;

		for (k = 0; k < PER_BATCH; k++) {
			n += line_text((unsigned long)i * PER_BATCH + k + 1, batch + n);
			batch[n++] = '\n';
		}
		if (i % 5 == 1) { /* the write stops half way and is cut off again */
			fake_plan(FAKE_HALF, 4, ENOSPC);
			rc = log_append(log, info.id.size, batch, n, NULL, &err);
			if (rc != ERR_IO || err.sys != ENOSPC)
				return give_up("a write that should fail", &err);
			err_clear(&err);
			fake_reset();
		}
		if (log_append(log, info.id.size, batch, n, &info, &err) < 0)
			return give_up("append", &err);
	}
	log_close(&log);
	return 0;
}

/* Reads from line `number` on; complete lines must be right, the last one the start of it. */
static int read_lines(struct log_reader *r, unsigned long *number, uint64_t *off, struct err *err)
{
	struct log_line line;
	char want[TEXT];
	int rc;

	while ((rc = log_next_line(r, &line, err)) > 0) {
		size_t n = line_text(*number, want);

		if (line.off != *off || (line.ended ? line.n != n : line.n > n) ||
			memcmp(line.p, want, line.n) != 0)
			return err_set(err, ERR_CORRUPT, "line %lu at %llu is wrong: %zu bytes \"%.20s\"",
				*number, (unsigned long long)line.off, line.n, line.p);
		if (!line.ended)
			return 0;
		++*number;
		*off += n + 1;
	}
	return rc;
}

/* Opens the file again and again until it holds everything. */
static int run_opener(void)
{
	unsigned long number = 1, opens = 0, partial = 0;
	struct err err = { 0 };

	while (number <= LAST) {
		struct log_reader *r;
		uint64_t off = 0;

		number = 1;
		if (log_reader_open(&r, file, &err) < 0) {
			if (err.sys == ENOENT) { /* not made yet */
				err_clear(&err);
				continue;
			}
			return give_up("a reader opens", &err);
		}
		log_reader_tune(r, 1 + opens % 700, 700, LOG_MAX_LINE);
		if (read_lines(r, &number, &off, &err) < 0)
			return give_up("a reader reads", &err);
		partial += off < log_reader_id(r)->size;
		log_reader_close(&r);
		opens++;
	}
	printf("reader: %lu opens, %lu with a partial line at the end\n", opens, partial);
	return 0;
}

/* Keeps one reader and follows the growth; a taken-back append may make it start again. */
static int run_follower(void)
{
	unsigned long number = 1, grew = 0, again = 0;
	struct log_reader *r = NULL;
	struct err err = { 0 };
	uint64_t off = 0;

	while (!r && log_reader_open(&r, file, &err) < 0 && err.sys == ENOENT)
		err_clear(&err);
	if (!r)
		return give_up("the follower opens", &err);
	while (number <= LAST) {
		enum log_change change;

		if (log_reader_refresh(r, &change, &err) < 0)
			return give_up("the follower looks again", &err);
		if (change == LOG_REPLACED || change == LOG_GONE)
			return give_up("the follower sees another file", &err);
		if (change == LOG_REWRITTEN) {
			number = 1;
			off = 0;
			again++;
		}
		grew += change == LOG_GREW;
		log_seek_line(r, off, number);
		if (read_lines(r, &number, &off, &err) < 0)
			return give_up("the follower reads", &err);
	}
	log_reader_close(&r);
	printf("follower: grew %lu times, started again %lu times\n", grew, again);
	return 0;
}

static pid_t start(int (*run)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int rc;

		alarm(60); /* a reader that waits for ever fails */
		rc = run();
		fflush(stdout);
		_exit(rc);
	}
	return pid;
}

int main(void)
{
	pid_t pids[3];
	int i, status, bad = 0;

	temp_make(dir);
	snprintf(file, sizeof(file), "%s/s.jsonl", dir);
	pids[0] = start(run_writer);
	pids[1] = start(run_opener);
	pids[2] = start(run_follower);
	for (i = 0; i < 3; i++)
		if (pids[i] < 0 || waitpid(pids[i], &status, 0) != pids[i] || status != 0)
			bad++;
	if (temp_count(dir, "", NULL) != 1)
		bad++;
	temp_remove(dir);
	printf("concurrent: %d appends, %d bad\n", BATCHES, bad);
	return bad != 0;
}
