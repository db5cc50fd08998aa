/*
 * t-crash.c - the power goes at every moment of an operation. For each state
 * that the disk may then be in: what was acknowledged is there, torn bytes are
 * not lost, a whole file is whole, and the work can be done to its end.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "tests/lib/crashsim.h"
#include "tests/lib/fakesys.h"
#include "tests/lib/temp.h"
#include "tests/log/oracle.h"

enum { SHOW_MAX = 20 };

struct scenario {
	const char *name;
	struct appends a; /* publish, replace, move: init is old, record[0] new */
	void (*run)(const struct scenario *s, int *acked);
	const char *(*look)(const struct scenario *s, int acked);
	const char *fault; /* a call that fails, so that the way back is cut off too ... */
	int nth;           /* ... this one of that name; 0: the last one */
	bool from, again;  /* all later ones fail too; the operation is then done once more */
	unsigned also;     /* so many calls later another one fails */
};

static char dir[TEMP_PATH], file[TEMP_PATH + 64], other[TEMP_PATH + 64];
static struct err err;
static unsigned long bad;

static void run_append(const struct scenario *s, int *acked)
{
	appends_run(&s->a, file, 0, acked, &err);
}

/* One append; when it fails the next run goes on with the same handle. */
static void run_kept(const struct scenario *s, int *acked)
{
	static struct log *log;
	const char *text = s->a.record[0];

	err_clear(&err);
	if (!log && log_open(&log, file, 0, &err) < 0)
		return;
	if (log_append(log, s->a.committed, text, strlen(text), NULL, &err) < 0)
		return;
	*acked = 1;
	log_close(&log);
}

static const char *look_append(const struct scenario *s, int acked)
{
	const char *wrong = appends_after_crash(&s->a, file, acked);

	return wrong ? wrong : appends_finish(&s->a, file, acked, &err);
}

static void run_publish(const struct scenario *s, int *acked)
{
	const char *text = s->a.record[0];
	struct log_pub *pub;

	if (log_pub_begin(&pub, file, &err) == 0 &&
		log_pub_write(pub, text, strlen(text), &err) == 0)
		*acked = log_pub_commit(&pub, &err) == 0;
}

static const char *look_whole(const struct scenario *s, int acked)
{
	if (temp_is(file, s->a.record[0]) || (!acked && temp_is(file, s->a.init)))
		return NULL;
	return acked ? "the new file is not there" : "neither old nor new";
}

static void run_replace(const struct scenario *s, int *acked)
{
	const char *text = s->a.record[0];

	*acked = log_replace(file, text, strlen(text), NULL, &err) == 0;
}

static void run_move(const struct scenario *s, int *acked)
{
	(void)s;
	*acked = log_move(file, other, &err) == 0;
}

static const char *look_move(const struct scenario *s, int acked)
{
	bool is_old = temp_is(file, s->a.init), is_new = temp_is(other, s->a.init);

	return (is_old || is_new) && (!acked || is_new) ? NULL : "the file is lost";
}

static const struct scenario scenarios[] = {
	{ "create and append", { NULL, 0, { "{\"first\":1}\n", "{\"second\":2}\n" } }, run_append,
		look_append },
	{ "append x3",
		{ "{1}\n", 4, { "{\"a\":22}\n", "{\"b\":333}\n{\"c\":4}\n", "{\"d\":4444}\n" } },
		run_append, look_append },
	{ "append, no final newline", { "{1}\n{2}", 7, { "{\"third\":3}\n" } }, run_append,
		look_append },
	{ "append over a torn tail",
		{ "{1}\n{2}\n{\"torn\":\"ta", 8, { "{\"3\":\"three\"}\n", "{4}\n" } }, run_append,
		look_append },
	{ "long tail, short record",
		{ "{1}\n{2}{\"torn\":\"a rather long one, behind no newline", 7, { "{3}\n" } },
		run_append, look_append },
	{ "append, write fails", { "{1}\n{\"torn", 4, { "{\"third\":3}\n" } }, run_append,
		look_append, "write" },
	{ "append, sync fails", { "{1}\n{\"torn", 4, { "{\"third\":3}\n" } }, run_append,
		look_append, "fdatasync" },
	{ "copy made, not synced", { "{1}\n{\"torn", 4, { "{\"third\":3}\n" } }, run_append,
		look_append, "fsync_dir", 2, true, true },
	{ "the same, one handle", { "{1}\n{\"torn", 4, { "{\"third\":3}\n" } }, run_kept,
		look_append, "fsync_dir", 2, false, true, 2 /* unlink */ },
	{ "publish", { NULL, 0, { "{\"published\":1}\n{\"whole\":2}\n" } }, run_publish,
		look_whole },
	{ "publish, folder sync fails", { NULL, 0, { "{\"published\":1}\n" } }, run_publish,
		look_whole, "fsync_dir", 1 },
	{ "publish, last sync fails", { NULL, 0, { "{\"published\":1}\n" } }, run_publish,
		look_whole, "fsync_dir", 2 },
	{ "replace", { "{\"title\":\"old\"}", 0, { "{\"title\":\"new one\"}" } }, run_replace,
		look_whole },
	{ "move", { "moved", 5, { NULL } }, run_move, look_move },
};

static void setup(const struct scenario *s)
{
	temp_clear(dir);
	if (s->a.init)
		temp_puts(file, s->a.init);
	err_clear(&err);
}

static void look(int acked, const char *what, void *arg)
{
	const struct scenario *s = arg;
	const char *wrong;

	err_clear(&err);
	wrong = s->look(s, acked);
	if (wrong && ++bad <= SHOW_MAX)
		fprintf(stderr, "%s: %s, %d acknowledged: %s (%s)\n", s->name, what, acked, wrong,
			err.text);
}

/* The number of the call that is to fail, as it is when all goes well. */
static unsigned find_call(const struct scenario *s)
{
	static struct fake_trace trace;
	int acked = 0, nth = 0;
	unsigned i, found = 0;

	setup(s);
	fake_reset();
	s->run(s, &acked);
	fake_trace(&trace);
	for (i = 0; i < trace.n; i++)
		if (!strcmp(trace.call[i].name, s->fault) && (!s->nth || ++nth == s->nth))
			found = i + 1;
	if (!found) {
		fprintf(stderr, "%s: there is no call %s\n", s->name, s->fault);
		bad++;
	}
	return found;
}

static void plan(const struct scenario *s, unsigned call)
{
	if (s->from)
		fake_plan(FAKE_FROM, call, EIO);
	else
		fake_plan(strcmp(s->fault, "write") ? FAKE_ONCE : FAKE_HALF, call, EIO);
	if (s->also)
		fake_plan_also(call + s->also, EIO);
}

static unsigned long run_scenario(const struct scenario *s, bool quiet)
{
	struct crashsim *sim;
	unsigned long states;
	unsigned call;
	int acked = 0;

	fake_install();
	call = s->fault ? find_call(s) : 0;
	setup(s);
	sim = crash_new(dir, &acked);
	crash_start(sim);
	if (call)
		plan(s, call);
	s->run(s, &acked);
	if (call && fake_hits() == 0) {
		fprintf(stderr, "%s: nothing failed\n", s->name);
		bad++;
	}
	fake_reset();
	if (s->again)
		s->run(s, &acked);
	crash_stop(sim);
	fake_remove();
	states = crash_each(sim, look, (void *)s);
	crash_free(&sim);
	if (!quiet)
		printf("%-28s %6lu states\n", s->name, states);
	return states;
}

/*
 * Appends of every shape: with and without a final newline, tails and records
 * of several lengths, longer and shorter than each other.
 */
static unsigned long generated(void)
{
	static const size_t tails[] = { 0, 1, 4, 11, 30 }, records[] = { 4, 12, 33 };
	static char init[96], first[64], second[64];
	unsigned long states = 0;
	int i, shapes = 5 * 3 * 3 * 2;

	for (i = 0; i < shapes; i++) {
		size_t tail = tails[i % 5], one = records[i / 5 % 3], two = records[i / 15 % 3];
		bool has_newline = i / 45;
		struct scenario s = { "generated", { .init = init, .record = { first, second } },
			run_append, look_append };

		s.a.committed = (size_t)sprintf(init, "{1}\n{2}%s", has_newline ? "\n" : "");
		sprintf(init + s.a.committed, "%.*s", (int)tail,
			"{\"id\":\"torn\",\"text\":\"the end is ..");
		sprintf(first, "{%*d}\n", (int)one, 3);
		sprintf(second, "{%-*d}\n", (int)two, 4);
		states += run_scenario(&s, true);
	}
	printf("%-28s %6lu states\n", "generated appends", states);
	return states;
}

int main(void)
{
	unsigned long states = 0;
	size_t i;

	temp_make(dir);
	snprintf(file, sizeof(file), "%s/s.jsonl", dir);
	snprintf(other, sizeof(other), "%s/moved", dir);
	for (i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		states += run_scenario(&scenarios[i], false);
	states += generated();
	temp_remove(dir);
	printf("power cuts: %lu states, %lu bad\n", states, bad);
	return bad || states < 10000;
}
