/*
 * conversation-checks.c - the rounds of a conversation as rows, reservations
 * between them, and the six checks, which run by steps beside the keys.
 */
#include "config.h"

#include "store/conversation-internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/session.h"

_Static_assert((int)CONVERSATION_COUNTS == (int)FLOW_COUNTS, "the counts of a header");

/* ---- rows ---- */

static int by_number(const void *a, const void *b)
{
	const struct round_place *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->is_reservation != y->is_reservation)
		return x->is_reservation ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

void conversation_list_rounds(struct conversation *c)
{
	size_t n, nreserved = flow_nreservations(c->f);
	const struct flow_round *rounds = flow_rounds(c->f, &n);

	c->rows = xcalloc(n + nreserved + 1, sizeof(*c->rows));
	for (size_t i = 0; i < n; i++)
		c->rows[c->nrows++] =
			(struct round_place){ .number = rounds[i].number, .index = i };
	for (size_t i = 0; i < nreserved; i++) /* "r000003-..." */
		c->rows[c->nrows++] = (struct round_place){ .is_reservation = true, .index = i,
			.number = strtoull(flow_reservation(c->f, i) + 1, NULL, 10) };
	qsort(c->rows, c->nrows, sizeof(*c->rows), by_number);
}

size_t conversation_nrounds(const struct conversation *c)
{
	return c->nrows;
}

static uint32_t sum(const uint32_t v[FLOW_MAPS])
{
	return v[FLOW_NODES] + v[FLOW_RELATIONS] + v[FLOW_UNRESOLVED];
}

static uint32_t capped(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static void fill_folded(
	const struct flow_round *r, size_t index, struct conversation_round_row *out)
{
	const struct flow_header *h = &r->h;

	out->state = ROUND_FOLDED;
	out->folded = (uint32_t)index + 1;
	out->from_seq = h->from_seq;
	out->through_seq = h->through_seq;
	out->digest = h->digest;
	out->previous = h->previous;
	out->input_digest = h->input_digest;
	out->from_time = h->from_time;
	out->through_time = h->through_time;
	out->nodes = capped(h->entities[FLOW_NODES]);
	out->relations = capped(h->entities[FLOW_RELATIONS]);
	out->unresolved = capped(h->entities[FLOW_UNRESOLVED]);
	out->added = sum(r->added);
	out->revised = sum(r->revised);
	out->resolved = r->resolved;
	out->withdrawn = sum(r->withdrawn);
	memcpy(out->count, h->count, sizeof(out->count));
	memcpy(out->has_count, h->has_count, sizeof(out->has_count));
}

void conversation_round_row(
	const struct conversation *c, size_t i, struct conversation_round_row *out)
{
	const struct round_place *at = &c->rows[i];
	const struct flow_round *r;
	size_t n;

	*out = (struct conversation_round_row){ .number = at->number, .state = ROUND_RESERVED };
	if (at->is_reservation) {
		out->name = flow_reservation(c->f, at->index);
		return;
	}
	r = &flow_rounds(c->f, &n)[at->index];
	out->name = r->name;
	out->size = r->size;
	if (r->state == FLOW_FOLDED) {
		fill_folded(r, at->index, out);
		return;
	}
	out->state = r->state == FLOW_BAD ? ROUND_BAD : ROUND_LEFT;
	out->code = r->fault.code;
	out->said = r->fault.text;
	out->line = r->fault.line;
	out->offset = r->fault.off;
}

const char *conversation_count_name(int count)
{
	return flow_count_names[count];
}

const char *conversation_stopped(const struct conversation *c, const char **said, uint64_t *round)
{
	const struct flow_fault *fault = flow_problem(c->f, round);

	*said = fault ? fault->text : "";
	return fault ? fault->code : NULL;
}

/* ---- checks ---- */

enum { STATE_GOOD, STATE_UNREADABLE, STATE_INCOMPLETE, STATE_DAMAGED, STATE_MISMATCH };

static int state_of(const struct flow_finding *f)
{
	const char *code = f->code;

	if (f->kind == FLOW_REMARK)
		return STATE_GOOD;
	if (f->kind == FLOW_UNREADABLE)
		return STATE_UNREADABLE;
	if (strstr(code, "digest") || strstr(code, "mismatch"))
		return STATE_MISMATCH;
	if (strstr(code, "missing") || strcmp(code, "seq-gap") == 0 ||
		strcmp(code, "sd-no-end") == 0)
		return STATE_INCOMPLETE;
	return STATE_DAMAGED;
}

size_t conversation_round_at(const struct conversation *c, uint64_t number)
{
	size_t low = 0, high = c->nrows;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->rows[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void mark_rounds(struct conversation *c, const struct flow_finding *f)
{
	for (size_t low = conversation_round_at(c, f->round);
		low < c->nrows && c->rows[low].number == f->round; low++)
		if (f->kind == FLOW_UNREADABLE && f->check != 3)
			c->rows[low].undone |= 1u << f->check;
		else
			c->rows[low].failed |= 1u << f->check;
}

static void take_finding(void *arg, const struct flow_finding *f)
{
	struct conversation *c = arg;

	c->is_unread |= f->kind == FLOW_UNREADABLE;
	if (f->is_stop) /* the session has it, and the verdict says how far it goes */
		return;
	if (f->kind == FLOW_REMARK || strcmp(f->code, "odd-round") == 0) { /* the session has it already */
		c->worst = state_of(f) > c->worst ? state_of(f) : c->worst;
		return;
	}
	c->findings = xgrow(c->findings, &c->findings_cap, c->nfindings + 1, sizeof(*c->findings));
	c->findings[c->nfindings++] = (struct conversation_finding){ f->check, f->code,
		arena_strdup(&c->finding_arena, f->message), f->round, f->seq };
	if (f->check > 0)
		mark_rounds(c, f);
	if (state_of(f) > c->worst)
		c->worst = state_of(f);
}

/* The file of a round; NULL where two have its number. */
static const char *file_of(const struct conversation *c, uint64_t number)
{
	size_t n;
	const struct flow_round *rounds = flow_rounds(c->f, &n);
	const char *name = NULL;

	for (size_t i = 0; i < n && rounds[i].number <= number; i++) {
		if (rounds[i].number == number && name)
			return NULL;
		if (rounds[i].number == number)
			name = rounds[i].name;
	}
	return name;
}

/* Where the rounds are one behind the other: the first byte of a round. */
static uint64_t begin_of(const struct conversation *c, uint64_t number)
{
	size_t n;
	const struct flow_round *rounds = flow_rounds(c->f, &n);
	uint64_t off = 0;

	for (size_t i = 0; i < n && rounds[i].number != number; i++)
		off += rounds[i].size;
	return off;
}

/* The round that consumed a sequence; 0: none of those that are folded. */
static uint64_t round_of(const struct conversation *c, uint64_t seq)
{
	size_t n;
	const struct flow_round *rounds = flow_rounds(c->f, &n);

	for (uint32_t i = 0; i < flow_folded(c->f); i++)
		if (rounds[i].h.from_seq <= seq && seq <= rounds[i].h.through_seq)
			return rounds[i].number;
	return 0;
}

static void add_check(struct conversation *c, const struct conversation_finding *f)
{
	struct problem *p = problem_add_at_large(&c->s->problems, &c->s->arena, f->code,
		"round %" PRIu64 ", check %d: %s", f->round, f->check, f->said);

	if (p) {
		p->file = file_of(c, f->round);
		p->offset = begin_of(c, f->round); /* it sorts with its round */
		p->round = f->round;
	}
}

static void add_landed(struct conversation *c, const struct conversation_finding *f)
{
	struct problem *p = problem_add_at_large(&c->s->problems, &c->s->arena, f->code,
		"sequence %" PRIu64 ": %s", f->seq, f->said);

	if (p)
		p->round = round_of(c, f->seq);
}

/* What the fold has said already is not said again. */
static void add_problems(struct conversation *c)
{
	struct problem_list *list = &c->s->problems;
	uint64_t stopped = 0;
	bool has_stopped = flow_problem(c->f, &stopped) != NULL;

	for (size_t i = 0; i < c->nfindings; i++) {
		const struct conversation_finding *f = &c->findings[i];

		if (f->check == 0 && f->seq == 0)
			problem_add_at_large(list, &c->s->arena, f->code, "%s", f->said);
		else if (f->check == 0)
			add_landed(c, f);
		else if (f->check != 3 || !has_stopped || f->round != stopped)
			add_check(c, f);
	}
	problem_sort(list);
}

int conversation_verify_step(struct conversation *c, unsigned budget_us)
{
	if (c->is_verified)
		return 0;
	if (!c->verifier)
		c->verifier = flow_verify_new(c->f, take_finding, c);
	c->is_verified = flow_verify_step(c->verifier, budget_us) == 0;
	if (c->is_verified)
		add_problems(c);
	return !c->is_verified;
}

void conversation_verify_progress(const struct conversation *c, uint64_t *done, uint64_t *all)
{
	*done = *all = 0;
	if (c->verifier)
		flow_verify_progress(c->verifier, done, all);
}

const struct conversation_finding *conversation_findings(const struct conversation *c, size_t *n)
{
	*n = c->nfindings;
	return c->findings;
}

/* A round that does not read is held against nothing; check 6 is made only when 1 to 5 hold. */
char conversation_check(const struct conversation *c, size_t row, int check)
{
	const struct round_place *r = &c->rows[row];

	if (r->is_reservation)
		return ' ';
	if (r->failed & 1u << check)
		return 'x';
	if (!c->is_verified)
		return '.';
	if (r->failed & 1u << 3 || r->undone & 1u << check)
		return '-';
	return check == 6 && (r->failed || r->undone) ? '-' : 'v';
}

bool conversation_is_unread(const struct conversation *c)
{
	return c->is_unread;
}

const char *conversation_state(const struct conversation *c)
{
	static const char *const words[] = { "verified", "unreadable", "incomplete", "damaged",
		"mismatch" };
	uint64_t round;
	size_t n;

	if (c->worst != STATE_GOOD)
		return words[c->worst];
	if (!c->is_verified)
		return "checking";
	flow_rounds(c->f, &n);
	if (n == 0)
		return "nothing to verify";
	return flow_problem(c->f, &round) ? "partly verified" : words[STATE_GOOD];
}

/* The checks hold, but the fold went no further. */
static void say_part(const struct conversation *c, const struct flow_fault *stopped, uint64_t round,
	struct buf *out)
{
	uint32_t folded = flow_folded(c->f);
	size_t n;

	flow_rounds(c->f, &n);
	n -= folded;
	if (folded == 0)
		buf_adds(out, "no round verified");
	else if (folded == 1)
		buf_adds(out, "round 1 verified");
	else
		buf_printf(out, "rounds 1-%u verified", folded);
	buf_printf(out, "; round %" PRIu64, round);
	if (n > 1)
		buf_printf(out, " and %zu more are not folded: ", n - 1);
	else
		buf_adds(out, " is not folded: ");
	buf_adds(out, stopped->text);
}

void conversation_verdict(const struct conversation *c, struct buf *out)
{
	uint64_t round;
	const struct flow_fault *stopped = flow_problem(c->f, &round);

	if (c->is_verified && c->worst == STATE_GOOD && stopped)
		say_part(c, stopped, round, out);
	else
		buf_adds(out, conversation_state(c));
}

void conversation_checks_release(struct conversation *c)
{
	flow_verify_free(&c->verifier);
	arena_free(&c->finding_arena);
	free(c->findings);
	free(c->rows);
}
