/*
 * t-kill.c - a child is killed (SIGKILL) at every system call of an operation,
 * also in the middle of a write; the parent looks what is left, finishes the
 * work and looks again. No lock and nothing half done may stand in its way.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/log.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/temp.h"
#include "tests/log/oracle.h"

struct scenario {
	const char *name;
	struct appends a; /* publish, replace, move: init is old, record[0] new */
	void (*run)(const struct scenario *s, int *acked);
	const char *(*look)(const struct scenario *s, int acked);
};

static char dir[TEMP_PATH], file[TEMP_PATH + 64], other[TEMP_PATH + 64];
static struct err err;

static void run_append(const struct scenario *s, int *acked)
{
	appends_run(&s->a, file, 0, acked, &err);
}

static const char *look_append(const struct scenario *s, int acked)
{
	const char *wrong = appends_after_crash(&s->a, file, acked);

	return wrong ? wrong : appends_finish(&s->a, file, acked, &err);
}

static void run_publish(const struct scenario *s, int *acked)
{
	struct log_pub *pub;
	const char *text = s->a.record[0];

	if (log_pub_begin(&pub, file, &err) == 0 &&
		log_pub_write(pub, text, strlen(text), &err) == 0)
		*acked = log_pub_commit(&pub, &err) == 0;
}

static const char *look_publish(const struct scenario *s, int acked)
{
	bool is_new = temp_is(file, s->a.record[0]);

	if (!is_new && (acked || !temp_is(file, NULL)))
		return "a part was published, or nothing";
	run_publish(s, &acked);
	if (is_new ? err.code != ERR_EXISTS : acked != 1 || !temp_is(file, s->a.record[0]))
		return "publishing again does not work";
	return NULL;
}

static void run_replace(const struct scenario *s, int *acked)
{
	const char *text = s->a.record[0];

	*acked = log_replace(file, text, strlen(text), NULL, &err) == 0;
}

static const char *look_replace(const struct scenario *s, int acked)
{
	if (!temp_is(file, s->a.record[0]) && (acked || !temp_is(file, s->a.init)))
		return "neither old nor new";
	run_replace(s, &acked);
	return temp_is(file, s->a.record[0]) ? NULL : "replacing again does not work";
}

static void run_move(const struct scenario *s, int *acked)
{
	(void)s;
	*acked = log_move(file, other, &err) == 0;
}

static const char *look_move(const struct scenario *s, int acked)
{
	bool is_old = temp_is(file, s->a.init), is_new = temp_is(other, s->a.init);

	if (is_old == is_new || (acked && !is_new))
		return "not in one place";
	if (is_old)
		run_move(s, &acked);
	return temp_is(other, s->a.init) ? NULL : "moving again does not work";
}

static const struct scenario scenarios[] = {
	{ "create and append", { NULL, 0, { "{\"a\":1}\n", "{\"b\":2}\n" } }, run_append,
		look_append },
	{ "append x3", { "{1}\n", 4, { "{22}\n", "{333}\n", "{4444}\n" } }, run_append,
		look_append },
	{ "append over a torn tail", { "{1}\n{2}{\"torn", 7, { "{3}\n", "{4}\n" } }, run_append,
		look_append },
	{ "publish", { NULL, 0, { "published\n" } }, run_publish, look_publish },
	{ "replace", { "old", 3, { "new one" } }, run_replace, look_replace },
	{ "move", { "moved", 5, { NULL } }, run_move, look_move },
};

static void setup(const struct scenario *s)
{
	temp_clear(dir);
	if (s->a.init)
		temp_puts(file, s->a.init);
	err_clear(&err);
}

/* *acked lies in memory that survives the child. True when it was killed. */
static bool run_and_kill(const struct scenario *s, const struct fake_case *c, int *acked)
{
	int status;
	pid_t pid;

	*acked = 0;
	pid = fork();
	if (pid < 0)
		exit(1);
	if (pid == 0) {
		fake_plan(c->mode, c->call, 0);
		s->run(s, acked);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		exit(1);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

int main(void)
{
	static const enum fake_mode modes[] = { FAKE_KILL, FAKE_KILL_HALF };
	static struct fake_trace trace;
	unsigned long cases = 0, bad = 0;
	int *acked = mmap(
		NULL, sizeof(*acked), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t i, m;

	if (acked == MAP_FAILED)
		return 1;
	temp_make(dir);
	snprintf(file, sizeof(file), "%s/s.jsonl", dir);
	snprintf(other, sizeof(other), "%s/moved", dir);
	fake_install();
	for (i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
		const struct scenario *s = &scenarios[i];
		struct fake_case c;

		setup(s);
		fake_reset();
		s->run(s, acked);
		fake_trace(&trace);
		for (c.call = 1; c.call <= trace.n; c.call++)
			for (m = 0; m < 2; m++) {
				const char *wrong;

				c.mode = modes[m];
				if (!fake_fits(&trace, &c))
					continue;
				setup(s);
				wrong = run_and_kill(s, &c, acked) ? s->look(s, *acked)
								   : "the child was not killed";
				cases++;
				if (!wrong)
					continue;
				bad++;
				fprintf(stderr, "%s: %s: %s (%s)\n", s->name,
					fake_describe(&trace, &c), wrong, err.text);
			}
	}
	fake_remove();
	temp_remove(dir);
	printf("kills: %lu cases, %lu bad\n", cases, bad);
	return bad || cases < 100;
}
