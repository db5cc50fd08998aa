/*
 * t-conversation.c - what screens see of a conversation: the fold as of each
 * round with what the round did, cards, rounds with their checks, a chain that
 * grows while it is open; and the cards of tree sessions.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "store/conversation-internal.h"
#include "store/internal.h"
#include "tests/lib/storeenv.h"

#define SESSION "8c1d2f60-4b7e-4f0a-8a55-5d1f3c9e7b01"

static struct env env;
static struct work *w;
static struct conversation *c;

static void shell(const char *command)
{
	char *line = xasprintf("cd '%s' && %s", env.dir, command);

	assert_int_equal(system(line), 0);
	free(line);
}

static int set_up(void **state)
{
	const char *top = getenv("srcdir");
	char *line;

	env_make(&env);
	line = xasprintf("cp -R '%s/tests/format/flow/valid' '%s/flow' && chmod -R u+w '%s/flow'",
		top ? top : ".", env.dir, env.dir);
	assert_int_equal(system(line), 0);
	free(line);
	return 0;
}

static int tear_down(void **state)
{
	conversation_free(&c);
	work_close(&w);
	env_remove(&env);
	return 0;
}

static void open_it(void)
{
	struct err err = { 0 };
	char *path = xasprintf("%s/flow/_conversations/" SESSION, env.dir);

	assert_true(store_is_conversation(path));
	assert_true(store_is_conversation_folder(path));
	env_ok(work_open(&w, path, &err), &err);
	assert_null(conversation_new(w)); /* not loaded yet */
	env_ok(work_load(w, &err), &err);
	c = conversation_new(w);
	assert_non_null(c);
	free(path);
}

/* ---- the fold as of a round ---- */

static void assert_sums(uint32_t round, const uint32_t want[7])
{
	struct conversation_sums s;

	conversation_show(c, round);
	assert_int_equal(conversation_round(c), round);
	conversation_sums(c, &s);
	assert_int_equal(s.nodes, want[0]);
	assert_int_equal(s.relations, want[1]);
	assert_int_equal(s.open, want[2]);
	assert_int_equal(s.added, want[3]);
	assert_int_equal(s.revised, want[4]);
	assert_int_equal(s.resolved, want[5]);
	assert_int_equal(s.withdrawn, want[6]);
}

static void test_rounds(void **state)
{
	static const uint32_t want[9][7] = {
		{ 0, 0, 0, 0, 0, 0, 0 }, { 18, 2, 2, 22, 0, 0, 0 }, { 48, 9, 3, 40, 5, 3, 0 },
		{ 48, 9, 3, 0, 0, 0, 0 }, { 74, 15, 5, 34, 2, 0, 0 }, { 73, 14, 3, 1, 2, 1, 4 },
		{ 82, 15, 3, 10, 0, 0, 0 }, { 94, 16, 3, 13, 0, 0, 0 }, { 109, 17, 3, 16, 0, 0, 0 },
	};

	open_it();
	assert_int_equal(conversation_folded(c), 8);
	assert_int_equal(conversation_round(c), 8);
	for (uint32_t i = 8;; i--) { /* by steps backwards, then forwards, then by jumps */
		assert_sums(i, want[i]);
		if (i == 0)
			break;
	}
	for (uint32_t i = 0; i <= 8; i++)
		assert_sums(i, want[i]);
	assert_sums(2, want[2]);
	assert_sums(7, want[7]);
	conversation_show(c, 99);
	assert_int_equal(conversation_round(c), 8);
}

static uint32_t line_of(const char *id)
{
	uint32_t word = conversation_find_word(c, str_of(id));

	return word == CONVERSATION_NONE ? CONVERSATION_NONE : conversation_line_of(c, word);
}

static char mark_of(const char *id)
{
	uint32_t n, line = line_of(id);

	return line == CONVERSATION_NONE ? '?' : conversation_lines(c, &n)[line].mark;
}

static void test_lines(void **state)
{
	const struct conversation_line *lines;
	uint32_t n;

	open_it();
	conversation_show(c, 5);
	lines = conversation_lines(c, &n);
	assert_int_equal(n, 75); /* two nodes were withdrawn and still show */
	for (uint32_t i = 0; i < n; i++) {
		assert_true(lines[i].end > i && lines[i].end <= n);
		assert_int_equal(conversation_line_of(c, lines[i].id), i);
		if (lines[i].parent == CONVERSATION_NONE) {
			assert_int_equal(lines[i].depth, 0);
			continue;
		}
		assert_true(lines[i].parent < i);
		assert_int_equal(lines[lines[i].parent].depth + 1, lines[i].depth);
		assert_true(lines[lines[i].parent].end >= lines[i].end);
	}
	assert_int_equal(mark_of("history/msg_6"), '-');
	assert_int_equal(mark_of("notice/4/6"), '-');
	assert_int_equal(mark_of("call/msg_6"), '~');
	assert_int_equal(mark_of("notice/15/1"), '+');
	assert_int_equal(mark_of("call/msg_7"), ' ');
	conversation_show(c, 6);
	assert_int_equal(mark_of("history/msg_6"), '?');
	assert_int_equal(mark_of("notice/15/1"), ' ');
}

/* ---- what nodes say ---- */

static void test_node(void **state)
{
	struct arena a = { 0 };
	struct conversation_node n;
	struct conversation_row row;
	struct err err = { 0 };

	open_it();
	env_ok(conversation_node(c, line_of("call/msg_7"), 1000, &a, &n, &err), &err);
	assert_true(str_eqs(n.model, "model-x-1"));
	assert_int_equal(n.tokens[0], 12);
	assert_int_equal(n.tokens[1], 34);
	assert_int_equal(n.revision, 4);
	assert_string_equal(n.place, "sequence 13, record 6");
	assert_true(n.history_changed);
	assert_int_equal(n.card, 0);
	assert_int_equal(n.nbodies, 2);
	assert_true(n.bodies[0].is_request);
	assert_int_equal(n.bodies[0].messages.n, 6);
	assert_true(str_eqs(n.bodies[0].messages.v[1].text, "add a retry budget"));
	assert_int_equal(n.nends, 1);
	assert_true(n.ends[0].is_from);
	assert_true(str_eqs(n.ends[0].quality, "strong_inference"));
	assert_string_equal(n.ends[0].evidence, "13:6 13:10");
	conversation_row(c, line_of("tool/toolu_1"), 1000, &a, &row);
	assert_true(str_eqs(row.name, "Shell"));
	assert_true(str_eqs(row.text, "grep -rn poll src | head"));
	assert_true(str_eqs(row.to, "inner1"));
	conversation_row(c, line_of("talk/main/cycle1"), 3, &a, &row);
	assert_true(str_eqs(row.text, "why"));
	arena_free(&a);
}

static void assert_same_row(
	const struct conversation_row *x, const struct conversation_row *y)
{
	assert_true(str_eq(x->name, y->name) && str_eq(x->text, y->text) &&
		str_eq(x->to, y->to) && str_eq(x->note, y->note));
	assert_true(x->is_said == y->is_said && x->is_missing == y->is_missing &&
		x->is_failed == y->is_failed);
}

/* A row that was asked for before, at another limit or in another round, is the one of now. */
static void test_kept_rows(void **state)
{
	static const size_t limits[] = { 600, 600, 7, 2000, 600 };
	static const uint32_t rounds[] = { 8, 4, 5, 4, 8, 1, 8 };

	(void)state;
	open_it();
	for (size_t r = 0; r < sizeof(rounds) / sizeof(*rounds); r++) {
		struct conversation *fresh = conversation_new(w);
		struct arena a = { 0 };
		uint32_t n;

		conversation_show(c, rounds[r]);
		conversation_show(fresh, rounds[r]);
		conversation_lines(c, &n);
		for (size_t k = 0; k < sizeof(limits) / sizeof(*limits); k++)
			for (uint32_t i = 0; i < n; i++) {
				struct conversation_row kept, made;

				conversation_row(c, i, limits[k], &a, &kept);
				conversation_rows_release(fresh);
				conversation_row(fresh, i, limits[k], &a, &made);
				assert_same_row(&kept, &made);
			}
		arena_free(&a);
		conversation_free(&fresh);
	}
}

static void test_missing(void **state)
{
	struct arena a = { 0 };
	struct conversation_node n;
	struct conversation_row row;
	const struct card_list *cards;
	struct err err = { 0 };

	shell("rm flow/" SESSION "/provider_body/*-000014.sd flow/" SESSION
	      "/streams/main/*-000001.sd");
	open_it();
	conversation_row(c, line_of("input/1/2"), 1000, &a, &row);
	assert_true(row.is_missing);
	assert_true(str_eqs(row.text, "missing: sequence 1"));
	env_ok(conversation_node(c, line_of("call/msg_7"), 1000, &a, &n, &err), &err);
	assert_non_null(n.bodies[0].why);
	assert_int_equal(n.bodies[0].seq, 14);
	cards = conversation_cards(c);
	assert_int_equal(cards->n, 1);
	conversation_card_fill(c, 0);
	assert_false(cards->v[0].has_messages);
	assert_int_equal(cards->v[0].nmissing, 2);
	assert_true(str_eqs(cards->v[0].missing[0],
		"call/msg_6: its request body is missing: record 3 of sequence 14"));
	assert_true(cards->v[0].nattrs > 5);
	arena_free(&a);
}

/* Of the call's request: why it is not shown, "" when it is. */
static void assert_body(const char *call, const char *why)
{
	struct conversation_node n;
	struct arena a = { 0 };
	struct err err = { 0 };
	const char *said;

	env_ok(conversation_node(c, line_of(call), 1000, &a, &n, &err), &err);
	said = n.bodies[0].why ? n.bodies[0].why : "";
	if (strcmp(said, why) != 0)
		fail_msg("%s: \"%s\", expected \"%s\"", call, said, why);
	arena_free(&a);
}

/* The same length, the pieces all there, and yet not what was sent. */
static void test_body_digest(void **state)
{
	open_it();
	assert_body("call/msg_5", "");
	assert_body("call/msg_6", "");
	conversation_free(&c);
	work_close(&w);
	shell("sed -i 's/Summary: two pollers/Summary: six pollers/' flow/" SESSION
	      "/provider_body/*-000014.sd");
	open_it();
	assert_body("call/msg_5", "it comes out with another digest");
	assert_body("call/msg_6", "it comes out with another digest"); /* it copies from that one */
	conversation_free(&c);
	work_close(&w);
	shell("sed -i 's/Summary: six pollers/Summary: seven pollers/' flow/" SESSION
	      "/provider_body/*-000014.sd");
	open_it();
	assert_body("call/msg_5", "it comes out longer than it should be");
}

static void test_cards(void **state)
{
	const struct card_list *cards;
	const struct card *card;

	open_it();
	conversation_show(c, 4);
	cards = conversation_cards(c);
	assert_int_equal(cards->n, 2);
	card = &cards->v[0];
	assert_true(str_eqs(card->at, "call/msg_6"));
	assert_true(str_eqs(card->from, "call/msg_5"));
	assert_true(str_eqs(card->reply, "back"));
	assert_int_equal(card->system_changed, CARD_NO);
	assert_false(card->is_filled);
	conversation_card_fill(c, 0);
	assert_true(card->has_messages);
	assert_int_equal(card->nkept, 1);
	assert_int_equal(card->nremoved, 1);
	assert_int_equal(card->nadded, 3);
	assert_int_equal(card->v[0].other, 1);
	assert_true(str_eqs(card->v[1].text, "Summary: two pollers, shortened."));
	assert_true(str_eqs(cards->v[1].reply_reason, "ambiguous"));
}

/* ---- rounds and checks ---- */

static void test_checks(void **state)
{
	struct conversation_round_row r;
	size_t n, before;

	shell("rm flow/" SESSION "/provider_body/*-000014.sd");
	shell(": >flow/_conversations/" SESSION "/rounds/r000006-0123456789ab.sf");
	open_it();
	assert_int_equal(conversation_nrounds(c), 9);
	conversation_round_row(c, 5, &r);
	assert_int_equal(r.state, ROUND_RESERVED);
	conversation_round_row(c, 6, &r);
	assert_int_equal(r.state, ROUND_FOLDED);
	assert_int_equal(r.folded, 6);
	assert_int_equal(r.from_seq, 17);
	assert_string_equal(conversation_state(c), "checking");
	assert_int_equal(conversation_check(c, 3, 5), '.');
	before = work_session(w)->problems.n;
	while (conversation_verify_step(c, 1) == 1)
		;
	assert_string_equal(conversation_state(c), "incomplete");
	assert_int_equal(conversation_check(c, 3, 5), 'x');
	assert_int_equal(conversation_check(c, 3, 6), '-');
	assert_int_equal(conversation_check(c, 3, 4), 'v');
	assert_int_equal(conversation_check(c, 4, 5), 'v');
	assert_int_equal(conversation_check(c, 5, 1), ' ');
	conversation_findings(c, &n);
	assert_int_equal(n, 1);
	assert_int_equal(work_session(w)->problems.n, before + 1);
	assert_int_equal(conversation_verify_step(c, 1), 0);
	assert_int_equal(work_session(w)->problems.n, before + 1);
}

static void test_broken(void **state)
{
	struct conversation_round_row r;
	const char *said;
	uint64_t round;

	shell("sed -i '3s/\"revision\":6/\"revision\":5/' flow/_conversations/" SESSION
	      "/rounds/r000006-*.sf");
	open_it();
	assert_int_equal(conversation_folded(c), 5);
	assert_string_equal(conversation_stopped(c, &said, &round), "revision");
	assert_int_equal(round, 6);
	conversation_round_row(c, 5, &r);
	assert_int_equal(r.state, ROUND_BAD);
	assert_int_equal(r.line, 3);
	conversation_round_row(c, 7, &r);
	assert_int_equal(r.state, ROUND_LEFT);
	while (conversation_verify_step(c, 1000) == 1)
		;
	assert_int_equal(conversation_check(c, 5, 3), 'x');
	assert_int_equal(conversation_check(c, 5, 1), '-');
	assert_int_equal(conversation_check(c, 4, 6), 'v');
	assert_string_equal(conversation_state(c), "damaged");
}

static void test_growth(void **state)
{
	enum work_change change;
	struct err err = { 0 };
	char said[200];

	shell("mkdir aside && mv flow/_conversations/" SESSION "/rounds/r00000[78]-* aside");
	open_it();
	assert_int_equal(conversation_folded(c), 6);
	env_ok(work_refresh(w, &change, said, &err), &err);
	assert_int_equal(change, WORK_SAME);
	shell("mv aside/r000007-* flow/_conversations/" SESSION "/rounds");
	env_ok(work_refresh(w, &change, said, &err), &err);
	assert_int_equal(change, WORK_REPLACED);
	conversation_free(&c);
	env_ok(work_load(w, &err), &err);
	c = conversation_new(w);
	assert_int_equal(conversation_folded(c), 7);
	assert_int_equal(mark_of("talk/main/more1"), '+');
	shell("mv flow/_conversations/" SESSION "/rounds/r000007-* aside");
	env_ok(work_refresh(w, &change, said, &err), &err);
	assert_int_equal(change, WORK_REPLACED);
	assert_string_equal(said, "round 7 is gone: 12 entries are gone"); /* there is no one file */
}

static void look_again(const char *want)
{
	enum work_change change;
	struct err err = { 0 };
	char said[200];

	w->refresh_us = 60000000; /* all is read at once, so that it can be counted */
	env_ok(work_refresh(w, &change, said, &err), &err);
	assert_string_equal(said, want);
	assert_int_equal(change, *want ? WORK_REPLACED : WORK_SAME);
	if (!*want)
		return;
	conversation_free(&c);
	env_ok(work_load(w, &err), &err);
	c = conversation_new(w);
}

static const char *state(void)
{
	while (conversation_verify_step(c, 1000) == 1)
		;
	return conversation_state(c);
}

/* A landed file is looked for again, though no round changes. */
static void test_landed(void **state_)
{
	shell("mkdir aside && mv flow/" SESSION "/streams/main/*000019.sd aside");
	open_it();
	assert_string_equal(state(), "incomplete");
	look_again("");
	shell("mv aside/*000019.sd flow/" SESSION "/streams/main");
	look_again("1 landed file came");
	assert_string_equal(state(), "verified");
	shell("mv flow/" SESSION "/streams/main/*000019.sd aside");
	look_again("1 landed file is gone");
	assert_string_equal(state(), "incomplete");
	shell("mv aside/*000019.sd flow/" SESSION "/streams/main;"
	      "sed -i '$a x' flow/" SESSION "/streams/main/*000019.sd");
	look_again("1 landed file came");
	assert_string_equal(state(), "mismatch");
	shell("mv flow/" SESSION "/streams/main/*000019.sd aside;"
	      "cd aside; sed -i '$d' *000019.sd; cp *000019.sd ../flow/" SESSION "/streams/main");
	look_again("the landed files changed");
	assert_string_equal(state(), "verified");
	shell("mv flow/" SESSION " elsewhere");
	look_again("19 landed files are gone");
	assert_string_equal(state(), "incomplete");
}

static void take_folder(void *arg, const char *path)
{
	watch_add(arg, path);
}

/* All that the last test does wakes who watches. */
static void test_watched(void **state_)
{
	static const char *const steps[] = {
		"mv flow/" SESSION "/streams/main/*000019.sd .",
		"mv *000019.sd flow/" SESSION "/streams/main",
		"mkdir flow/" SESSION "/streams/new",
		"mv flow/" SESSION " elsewhere",
		"mv elsewhere flow/" SESSION,
		"chmod 0 flow/" SESSION,
		"chmod 700 flow/" SESSION,
		"touch flow/" SESSION "/provider_body/x",
		"touch flow/_conversations/" SESSION "/rounds/r000009-aaaaaaaaaaaa.sf",
	};
	struct watch *watch = watch_new();

	open_it();
	work_each_folder(w, take_folder, watch);
	assert_false(watch_drain(watch));
	for (size_t i = 0; watch_fd(watch) >= 0 && i < sizeof(steps) / sizeof(steps[0]); i++) {
		shell(steps[i]);
		assert_true(watch_drain(watch));
	}
	watch_free(&watch);
}

/* What comes under the name of a round and is none is not called a change of the others. */
static void test_news(void **state_)
{
#define ROUNDS "flow/_conversations/" SESSION "/rounds/"
	open_it();
	shell("touch " ROUNDS "r000009-aaaaaaaaaaaa.sf");
	look_again("round 9 is there and is empty: a reservation");
	shell("echo garbage >" ROUNDS "r000009-aaaaaaaaaaaa.sf");
	look_again("round 9 is another one and is not valid: expected a value at byte 1");
	shell("rm " ROUNDS "r000009-aaaaaaaaaaaa.sf; mkfifo " ROUNDS "r000010-aaaaaaaaaaaa.sf");
	look_again("round 9 is gone again; round 10 is there and is no file: a fifo");
	shell("rm " ROUNDS "r000010-aaaaaaaaaaaa.sf");
	look_again("round 10 is gone again");
	shell("mv " ROUNDS "r00000[78]-* .");
	look_again("2 rounds are gone: 27 entries are gone");
	shell("mv r000008-* " ROUNDS);
	look_again("round 8 is there and is not folded: round 7 is missing");
	shell("mv r000007-* " ROUNDS);
	look_again("2 rounds came: 27 new entries");
	shell("touch -d @1 " ROUNDS "r000008-*");
	look_again("round 8 was written anew");
	shell("sed -i '2s/{/{ /' " ROUNDS "r000006-*");
	look_again("round 6 was written anew and is not valid: the bytes have the digest "
		   "5fea41cb5bff40fae1f827cffca77db3eccb171fe6f21cc707825c5449a09549: "
		   "36 entries are gone");
	look_again("");
#undef ROUNDS
}

/* ---- trees ---- */

static void add(
	struct buf *file, const char *id, const char *parent, const char *role, const char *text)
{
	char *line = env_line(id, parent, role, text);

	buf_adds(file, line);
	if (file->p[file->n - 1] != '\n')
		buf_addc(file, '\n');
	free(line);
}

/* A chain below e4. */
static void add_more(struct buf *file, int n)
{
	char parent[16] = "e4", id[16];

	for (int i = 0; i < n; i++) {
		snprintf(id, sizeof(id), "m%d", i);
		add(file, id, parent, i % 2 ? "ASSISTANT" : "USER", "more");
		memcpy(parent, id, sizeof(id));
	}
}

/*
 * A file of another is read at once, or, as a large one, over many steps: the
 * cards are the same.
 */
static void check_rewritten(int nmore, bool slowly)
{
	struct arena a = { 0 };
	struct card_list list = { 0 };
	struct buf file = { 0 };
	enum work_change change;
	struct err err = { 0 };
	char said[200], *path, *tmp;

	add(&file, "e1", NULL, "USER", "why");
	add(&file, "e2", "e1", "ASSISTANT", "because");
	add(&file, "e3", "e2", "USER", "and then");
	add(&file, "e4", "e3", "ASSISTANT", "so");
	add_more(&file, nmore);
	w = env_open_text(&env, file.p);
	if (slowly)
		w->refresh_us = 0;
	env_ok(work_cards(w, &a, &list, &err), &err);
	assert_int_equal(list.n, 0);

	buf_clear(&file); /* a compaction, as its writer does it: another file under the name */
	buf_adds(&file,
		"{\"id\":\"s\",\"role\":\"SYSTEM\",\"content\":\"the head\",\"timestamp\":9,"
		"\"metadata\":{\"_compacted\":\"true\"}}\n");
	add(&file, "e1", NULL, "USER", "why");
	add(&file, "e2", "e1", "ASSISTANT", "because");
	add(&file, "e3", "s", "USER", "and then");
	add(&file, "e4", "e3", "ASSISTANT", "so");
	add_more(&file, nmore);
	path = xstrdup(work_session(w)->path);
	tmp = xasprintf("%s.new", path);
	temp_puts(tmp, file.p);
	assert_int_equal(rename(tmp, path), 0);
	env_ok(work_refresh(w, &change, said, &err), &err);
	assert_int_equal(change, WORK_REPLACED);
	assert_int_equal(strstr(said, "reading what came") != NULL, slowly);
	env_ok(work_refresh(w, &change, said, &err), &err);
	assert_int_equal(change, WORK_SAME);
	env_ok(work_load(w, &err), &err);

	env_ok(work_cards(w, &a, &list, &err), &err);
	assert_int_equal(list.n, 2);
	assert_int_equal(list.v[0].kind, CARD_COMPACTION);
	assert_true(str_eqs(list.v[0].from, "e2"));
	env_ok(work_card_fill(w, &list.v[0], &a, &err), &err);
	assert_int_equal(list.v[0].nremoved, 2);
	assert_int_equal(list.v[0].nadded, 1);
	assert_int_equal(list.v[0].nkept, 2 + nmore);
	assert_int_equal(list.v[1].kind, CARD_PARENT);
	assert_true(str_eqs(list.v[1].at, "e3"));
	assert_true(str_eqs(list.v[1].from, "e2"));
	assert_int_equal(list.v[1].entry, env_find(w, "e3"));
	assert_true(list.v[1].is_filled);
	assert_int_equal(list.v[1].nremoved, 2);
	assert_int_equal(list.v[1].nadded, 1);
	assert_true(str_eqs(list.v[1].v[0].text, "why"));
	free(tmp);
	free(path);
	buf_release(&file);
	arena_free(&a);
}

static void test_tree(void **state)
{
	check_rewritten(0, false);
}

static void test_large_tree(void **state)
{
	check_rewritten(3000, true);
}

static void test_other(void **state)
{
	w = env_open_text(&env, "");
	assert_false(work_is_conversation(w));
	assert_null(conversation_new(w));
	assert_false(store_is_conversation_folder(env.root));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rounds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_node, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_kept_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_missing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_body_digest, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cards, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_checks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_broken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_growth, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_landed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_watched, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_news, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_large_tree, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tree, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other, set_up, tear_down),
	};

	env_fix_clock();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
