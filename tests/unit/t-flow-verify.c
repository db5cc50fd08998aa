/*
 * t-flow-verify.c - the checks of a chain and of its landed files: for each
 * code a root that fails that one check only, beside the root that fails none.
 * Then rounds that alternate between sessions, and a conversation that changes
 * while it is open.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pool.h"
#include "base/xalloc.h"
#include "format/flow/internal.h"
#include "format/format.h"
#include "log/sys.h"
#include "model/session.h"
#include "store/store.h"
#include "tests/lib/doc-codes.h"
#include "tests/lib/temp.h"

static char dir[TEMP_PATH];
static char *conversation;

static char *in_root(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

/* ---- a root ---- */

struct landed {
	int seq, header_seq;     /* of the name, of the header */
	const char *session;
	int h;                   /* 1 in a good header */
	int records;             /* that the closing line counts; there are 2 */
	const char *digest;      /* NULL: the right one */
	bool has_end;
	bool is_gone;
};

static void put_landed(const struct landed *l, char hex[65])
{
	char *name = xasprintf("%s/%s/streams/main/transcript-x-%06d.sd", dir, l->session, l->seq),
	     right[65];
	struct buf text = { 0 };

	buf_printf(&text,
		"{\"h\":%d,\"schema\":\"sd/1\",\"seq\":%d,\"kind\":\"transcript\",\"src\":\"x\","
		"\"dialect\":\"y\",\"session\":\"%s\"}\n",
		l->h, l->header_seq, l->session);
	for (int i = 0; i < 2; i++)
		buf_printf(&text,
			"{\"ord\":%d,\"parts\":[{\"k\":\"text\",\"text\":\"%d of %d\"}]}\n", i, i,
			l->seq);
	flow_sha_of(text.p, text.n, right);
	if (l->has_end)
		buf_printf(&text, "{\"t\":\"end\",\"records\":%d,\"digest\":\"%s\"}\n", l->records,
			l->digest ? l->digest : right);
	flow_sha_of(text.p, text.n, hex);
	if (l->is_gone)
		unlink(name);
	else
		temp_put(name, text.p, text.n);
	buf_release(&text);
	free(name);
}

struct round {
	int name, number, from, through;
	const char *session, *previous, *input; /* NULL: the right one */
};

/* The window holds one file or none. */
static void next_input(char input[65], const char *hex)
{
	struct buf text = { 0 };

	buf_adds(&text, input);
	if (hex) {
		buf_addc(&text, '\0');
		buf_adds(&text, hex);
	}
	flow_sha_of(text.p ? text.p : "", text.n, input);
	buf_release(&text);
}

static void put_round(const struct round *r, const char *node, char previous[65], const char *input)
{
	struct buf text = { 0 };
	char *name;

	buf_printf(&text,
		"{\"t\":\"header\",\"schema\":\"sf/1\",\"conversation\":\"c\",\"session\":\"%s\",\"round\":%d,",
		r->session, r->number);
	if (r->number > 1)
		buf_printf(&text, "\"previous\":\"%s\",", r->previous ? r->previous : previous);
	buf_printf(&text,
		"\"from_seq\":%d,\"through_seq\":%d,\"input_digest\":\"%s\",\"parser\":\"p\",\"policy\":\"q\"}\n",
		r->from, r->through, r->input ? r->input : input);
	buf_printf(&text,
		"{\"t\":\"node\",\"id\":\"%s\",\"revision\":%d,\"kind\":\"talk\",\"ref\":{\"seq\":1,\"row\":1}}\n",
		node, r->number);
	flow_sha_of(text.p, text.n, previous);
	buf_printf(
		&text, "{\"t\":\"commit\",\"digest\":\"%s\",\"counts\":{\"nodes\":1}}\n", previous);
	name = xasprintf("%s/rounds/r%06d-%.12s.sf", conversation, r->name, previous);
	temp_put(name, text.p, text.n);
	free(name);
	buf_release(&text);
}

enum { ROUNDS = 4 };

struct root {
	struct landed landed[ROUNDS];
	struct round rounds[ROUNDS];
	int n;
};

static void good_root(struct root *root)
{
	*root = (struct root){ .n = ROUNDS };
	for (int i = 0; i < ROUNDS; i++) {
		root->landed[i] = (struct landed){ i + 1, i + 1, "s", 1, 2, NULL, true, false };
		root->rounds[i] = (struct round){ i + 1, i + 1, i + 1, i + 1, "s", NULL, NULL };
	}
	/* the last window is empty */
	root->rounds[ROUNDS - 1].through = ROUNDS - 1;
	root->landed[ROUNDS - 1].is_gone = true;
}

static void make_folders(void)
{
	static const char *const names[] = { "_conversations", "_conversations/c",
		"_conversations/c/rounds", "s", "s/streams", "s/streams/main", "t", "t/streams",
		"t/streams/main" };

	temp_clear(dir);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *path = in_root(names[i]);

		assert_int_equal(mkdir(path, 0700), 0);
		free(path);
	}
}

static void put_root(const struct root *root)
{
	char previous[65] = "", input[65] = "", hex[65];

	make_folders();
	for (int i = 0; i < root->n; i++) {
		char node[16];

		put_landed(&root->landed[i], hex);
		next_input(input, root->landed[i].is_gone ? NULL : hex);
		snprintf(node, sizeof(node), "n%d", i);
		put_round(&root->rounds[i], node, previous, input);
	}
}

/* ---- findings ---- */

/* What the fold makes of it is a matter of its own: test_stop. */
static void take_code(void *arg, const struct flow_finding *f)
{
	if (f->is_stop)
		return;
	buf_printf(arg, "%s%s", ((struct buf *)arg)->n ? " " : "", f->code);
}

/* The codes of all findings, by all processors at once and by steps: both say the same. */
static void find(struct buf *out)
{
	struct flow_conversation *c;
	struct flow_verifier *v;
	struct buf steps = { 0 };
	struct err err = { 0 };

	buf_clear(out);
	assert_int_equal(flow_open(&c, conversation, &err), 0);
	flow_verify(c, take_code, out);
	v = flow_verify_new(c, take_code, &steps);
	while (flow_verify_step(v, 0) == 1)
		;
	flow_verify_free(&v);
	flow_close(&c);
	assert_string_equal(out->n ? out->p : "", steps.n ? steps.p : "");
	buf_release(&steps);
}

static void check_root(const struct root *root, const char *code)
{
	struct buf found = { 0 };

	put_root(root);
	find(&found);
	assert_string_equal(found.n ? found.p : "", code);
	if (*code)
		doc_codes_broken(code);
	else
		doc_codes_kept(
			"missing-round previous-mismatch seq-gap missing-landed input-digest sd-header sd-no-end "
			"sd-digest sd-count sd-seq unreadable sd-unreadable odd-round "
			"round-name");
	buf_release(&found);
}

static void test_checks(void **state)
{
	struct root r;

	(void)state;
	good_root(&r);
	check_root(&r, "");
	r.n = 2;
	r.rounds[1].number = 3;
	check_root(&r, "missing-round");
	good_root(&r);
	r.n = 2;
	r.rounds[1].previous = "0000";
	check_root(&r, "previous-mismatch");
	good_root(&r);
	r.rounds[ROUNDS - 1].from = ROUNDS - 1; /* what round 3 has had already */
	r.rounds[ROUNDS - 1].through = ROUNDS - 2;
	check_root(&r, "seq-gap");
	good_root(&r);
	r.landed[1].is_gone = true;
	check_root(&r, "missing-landed");
	good_root(&r);
	r.n = 2;
	r.rounds[1].input = "0000";
	check_root(&r, "input-digest");
	good_root(&r);
	r.rounds[ROUNDS - 1].name = ROUNDS + 1; /* the last, where the fold misses one; the first */
	check_root(&r, "round-name");
	r.rounds[ROUNDS - 1].name = ROUNDS;
	r.rounds[0].name = 0;
	check_root(&r, "round-name");
}

/* The rounds were made over the damaged file, so that nothing else is wrong. */
static void test_landed(void **state)
{
	struct root r;

	(void)state;
	good_root(&r);
	r.landed[1].h = 2;
	check_root(&r, "sd-header");
	good_root(&r);
	r.landed[1].has_end = false;
	check_root(&r, "sd-no-end");
	good_root(&r);
	r.landed[1].digest = "0000";
	check_root(&r, "sd-digest");
	good_root(&r);
	r.landed[1].records = 3;
	check_root(&r, "sd-count");
	good_root(&r);
	r.landed[1].header_seq = 7;
	check_root(&r, "sd-seq");
}

/* ---- what can not be read is not damaged ---- */

static const char *denied;  /* end of the one path that can not be opened */

static int open_denied(const char *path, int flags, mode_t mode)
{
	size_t n = strlen(path), end = strlen(denied);

	if (n >= end && strcmp(path + n - end, denied) == 0) {
		errno = EACCES;
		return -1;
	}
	return sys_real.open(path, flags, mode);
}

static void take_said(void *arg, const struct flow_finding *f)
{
	static const char *const kinds[] = { "found", "unreadable", "remark" };

	if (f->is_stop)
		return;
	buf_printf(arg, "%s %s check %d round %d sequence %d: %s\n", kinds[f->kind], f->code,
		f->check, (int)f->round, (int)f->seq, f->message);
	if (f->kind == FLOW_UNREADABLE)
		doc_codes_broken(f->code);
}

/* What is said of the root, without the name of the temporary folder. */
static void check_said(const char *want)
{
	struct flow_conversation *c;
	struct buf said = { 0 };
	struct err err = { 0 };
	char *at;

	assert_int_equal(flow_open(&c, conversation, &err), 0);
	flow_verify(c, take_said, &said);
	flow_close(&c);
	while (said.n && (at = strstr(said.p, dir)) != NULL)
		memmove(at, at + strlen(dir), strlen(at + strlen(dir)) + 1);
	assert_string_equal(said.n ? said.p : "", want);
	buf_release(&said);
}

static void deny(const char *path)
{
	static struct sys table;

	table = sys_real;
	table.open = open_denied;
	denied = path;
	sys_install(path ? &table : NULL);
}

static void check_denied(const char *path, const char *want)
{
	deny(path);
	check_said(want);
	deny(NULL);
}

static void test_denied(void **state)
{
	struct root r;

	(void)state;
	good_root(&r);
	put_root(&r);
	check_said("");
	check_denied("streams/main",
		"unreadable sd-unreadable check 0 round 0 sequence 0: read /s/streams/main: Permission denied\n"
		"unreadable sd-unreadable check 5 round 1 sequence 0: 1 of its sequences can not be looked for: read /s/streams/main: Permission denied\n"
		"unreadable sd-unreadable check 5 round 2 sequence 0: 1 of its sequences can not be looked for: read /s/streams/main: Permission denied\n"
		"unreadable sd-unreadable check 5 round 3 sequence 0: 1 of its sequences can not be looked for: read /s/streams/main: Permission denied\n");
	check_denied("-000002.sd",
		"unreadable sd-unreadable check 0 round 0 sequence 2: open /s/streams/main/transcript-x-000002.sd: Permission denied\n"
		"unreadable sd-unreadable check 6 round 2 sequence 2: its input digest can not be checked\n");
}

/* Where a folder is expected something else is, and the other way round. */
static void test_odd_places(void **state)
{
	char *path;
	struct root r;

	(void)state;
	good_root(&r);
	put_root(&r);
	path = in_root("s/provider_body");
	temp_put(path, "", 0);
	check_said("unreadable sd-unreadable check 0 round 0 sequence 0: read /s/provider_body: Not a directory\n");
	assert_int_equal(unlink(path), 0);
	free(path);
	path = in_root("s/streams/notes"); /* beside the folders of streams */
	temp_put(path, "", 0);
	check_said("");
	free(path);
	path = in_root("s/streams/main/transcript-x-000003.sd");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	check_said("unreadable sd-unreadable check 0 round 0 sequence 3: /s/streams/main/transcript-x-000003.sd is a fifo\n"
		   "unreadable sd-unreadable check 6 round 3 sequence 3: its input digest can not be checked\n");
	free(path);
}

static void test_odd_rounds(void **state)
{
	static const char round4[] = "r000004-000000000000.sf", round5[] = "r000005-000000000000.sf",
			  round6[] = "r000006-000000000000.sf";
	char *fifo, *link, *folder;
	struct root r;

	(void)state;
	good_root(&r);
	r.n = 3;
	put_root(&r);
	fifo = xasprintf("%s/rounds/%s", conversation, round4);
	link = xasprintf("%s/rounds/%s", conversation, round5);
	folder = xasprintf("%s/rounds/%s", conversation, round6);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(symlink("nothing", link), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	check_said("unreadable odd-round check 0 round 0 sequence 0: rounds/r000004-000000000000.sf: a fifo\n"
		   "unreadable odd-round check 0 round 0 sequence 0: rounds/r000005-000000000000.sf: a link to nothing\n"
		   "remark odd-round check 0 round 0 sequence 0: rounds/r000006-000000000000.sf: a folder\n");
	free(fifo);
	free(link);
	free(folder);
}

static void test_unreadable_round(void **state)
{
	struct root r;

	(void)state;
	good_root(&r);
	r.n = 1;
	put_root(&r);
	check_denied(".sf", "unreadable unreadable check 3 round 1 sequence 0: open /_conversations/c/rounds/r000001-5b3c7ae76292.sf: Permission denied\n");
}

/* A row of the list says so, and whoever opens it is told. */
static void take_unreadable(const struct found *f, void *arg)
{
	buf_adds(arg, f->unreadable ? f->unreadable : "readable");
}

static void check_rounds_folder(const char *want, int sys_error)
{
	struct flow_conversation *c = NULL;
	struct buf said = { 0 };
	struct err err = { 0 };
	uint64_t pos = 0;
	char *at;

	assert_int_equal(format_flow.scan(dir, &pos, 10, take_unreadable, &said, &err), 0);
	at = strstr(said.p, dir);
	assert_non_null(at);
	memmove(at, at + strlen(dir), strlen(at + strlen(dir)) + 1);
	assert_string_equal(said.p, want);
	assert_int_equal(flow_open(&c, conversation, &err), ERR_IO);
	assert_int_equal(err.sys, sys_error);
	buf_release(&said);
}

static void test_locked_rounds(void **state)
{
	struct buf said = { 0 };
	uint64_t pos = 0;
	struct root r;
	char *rounds;

	(void)state;
	good_root(&r);
	put_root(&r);
	deny("c/rounds");
	check_rounds_folder("read /_conversations/c/rounds: Permission denied", EACCES);
	deny(NULL);
	make_folders();
	rounds = xasprintf("%s/rounds", conversation);
	assert_int_equal(rmdir(rounds), 0);
	assert_int_equal(format_flow.scan(dir, &pos, 10, take_unreadable, &said, NULL), 0);
	assert_string_equal(said.p, "readable"); /* it has no rounds yet */
	temp_put(rounds, "", 0);
	check_rounds_folder("read /_conversations/c/rounds: Not a directory", ENOTDIR);
	buf_release(&said);
	free(rounds);
}

static void test_codes(void **state)
{
	int missing;

	(void)state;
	assert_int_equal(
		doc_codes_check("\n### Checks\n\n- **F8**", "\n### Entries\n\n- **F9**", &missing),
		14);
	assert_int_equal(missing, 0);
}

static void take_stop(void *arg, const struct flow_finding *f)
{
	if (f->is_stop)
		buf_printf(arg, "%s, kind %d, check %d, round %d: %s", f->code, (int)f->kind,
			f->check, (int)f->round, f->message);
}

static void check_stop(const struct root *root, const char *want)
{
	struct flow_conversation *c;
	struct buf said = { 0 };
	struct err err = { 0 };

	put_root(root);
	assert_int_equal(flow_open(&c, conversation, &err), 0);
	flow_verify(c, take_stop, &said);
	flow_close(&c);
	assert_string_equal(said.n ? said.p : "", want);
	buf_release(&said);
}

/* Where the fold ends without a finding of the checks it is said, and why. */
static void test_stop(void **state)
{
	struct root r;

	(void)state;
	good_root(&r);
	check_stop(&r, "");
	r.rounds[1].session = r.landed[1].session = "t";
	check_stop(&r, "fold-session, kind 0, check 0, round 2: "
		       "its session is \"t\", not \"s\"; 3 rounds are not folded");
}

/* Each session is looked at once: a damaged file is said once, however often rounds come back to it. */
static void test_alternating(void **state)
{
	struct buf found = { 0 };
	struct root r;

	(void)state;
	good_root(&r);
	for (int i = 0; i < ROUNDS; i++)
		r.landed[i].session = r.rounds[i].session = i % 2 ? "t" : "s";
	r.landed[0].records = 9;
	put_root(&r);
	find(&found);
	assert_string_equal(found.p, "sd-count");
	buf_release(&found);
}

/* Whoever looks at a session may learn only afterwards that it was replaced, in the middle of the checks. */
static void test_closed_first(void **state)
{
	struct flow_conversation *c;
	struct flow_verifier *v;
	struct buf found = { 0 };
	struct err err = { 0 };
	struct root r;

	(void)state;
	good_root(&r);
	put_root(&r);
	assert_int_equal(flow_open(&c, conversation, &err), 0);
	v = flow_verify_new(c, take_code, &found);
	assert_int_equal(flow_verify_step(v, 0), 1);
	flow_close(&c);
	flow_verify_free(&v);
	assert_null(v);
	assert_null(c);
	buf_release(&found);
}

/* ---- while it is open ---- */

static struct work *open_work(void)
{
	struct work *w = NULL;
	struct err err = { 0 };

	assert_int_equal(work_open(&w, conversation, &err), 0);
	assert_int_equal(work_load(w, &err), 0);
	return w;
}

static enum work_change refresh(struct work *w)
{
	enum work_change change;
	char said[200];
	struct err err = { 0 };

	assert_int_equal(work_refresh(w, &change, said, &err), 0);
	if (change != WORK_GONE)
		assert_int_equal(work_load(w, &err), 0);
	return change;
}

static bool has_entry(struct work *w, const char *id)
{
	return session_find(work_session(w), str_of(id)) != ENTRY_NONE;
}

static void test_following(void **state)
{
	char previous[65] = "", input[65] = "", hex[65], *file;
	char first[65];
	struct work *w;
	struct root r;

	(void)state;
	good_root(&r);
	r.n = 1;
	put_root(&r);
	w = open_work();
	assert_int_equal(refresh(w), WORK_SAME);
	assert_true(has_entry(w, "n0") && !has_entry(w, "n1"));

	/* a round appears */
	put_landed(&r.landed[0], hex);
	next_input(input, hex);
	put_round(&r.rounds[0], "n0", previous, input);
	memcpy(first, previous, sizeof(first));
	put_landed(&r.landed[1], hex);
	next_input(input, hex);
	put_round(&r.rounds[1], "n1", previous, input);
	assert_int_equal(refresh(w), WORK_REPLACED);
	assert_true(has_entry(w, "n0") && has_entry(w, "n1"));
	assert_int_equal(refresh(w), WORK_SAME);

	/* it is replaced by another one under its number */
	file = xasprintf("%s/rounds/r000002-%.12s.sf", conversation, previous);
	assert_int_equal(unlink(file), 0);
	free(file);
	memcpy(previous, first, sizeof(previous));
	put_round(&r.rounds[1], "other", previous, input);
	assert_int_equal(refresh(w), WORK_REPLACED);
	assert_true(has_entry(w, "other") && !has_entry(w, "n1"));

	/* a reservation changes nothing that is shown */
	file = xasprintf("%s/rounds/r000003-000000000000.sf", conversation);
	temp_put(file, "", 0);
	refresh(w);
	assert_int_equal(work_session(w)->n, 2);
	assert_int_equal(work_session(w)->problems.n, 0);
	free(file);

	temp_clear(dir);
	assert_int_equal(refresh(w), WORK_GONE);
	work_close(&w);
}

/* ---- the pool ---- */

enum { JOBS = 1000 };

struct jobs {
	int done[JOBS], threads[POOL_MAX];
	int ticks;
};

static void do_job(void *arg, unsigned thread, size_t i)
{
	struct jobs *jobs = arg;

	assert_true(thread < 4);
	__atomic_fetch_add(&jobs->done[i], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&jobs->threads[thread], 1, __ATOMIC_RELAXED);
}

static void tick(void *arg)
{
	((struct jobs *)arg)->ticks++;
}

static void test_pool(void **state)
{
	(void)state;
	for (unsigned threads = 0; threads <= 4; threads += 2) {
		struct jobs jobs = { 0 };
		int all = 0;

		pool_run(&(struct pool_work){ &jobs, do_job, tick }, threads, JOBS);
		for (int i = 0; i < JOBS; i++)
			assert_int_equal(jobs.done[i], 1);
		for (int i = 0; i < POOL_MAX; i++)
			all += jobs.threads[i];
		assert_int_equal(all, JOBS);
		assert_int_equal(jobs.ticks, jobs.threads[0]);
	}
	assert_true(pool_threads() >= 1 && pool_threads() <= POOL_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_checks),
		cmocka_unit_test(test_landed),
		cmocka_unit_test(test_denied),
		cmocka_unit_test(test_odd_places),
		cmocka_unit_test(test_odd_rounds),
		cmocka_unit_test(test_locked_rounds),
		cmocka_unit_test(test_unreadable_round),
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_alternating),
		cmocka_unit_test(test_closed_first),
		cmocka_unit_test(test_following),
		cmocka_unit_test(test_pool),
	};
	int failed;

	temp_make(dir);
	conversation = in_root("_conversations/c");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(conversation);
	temp_remove(dir);
	return failed;
}
