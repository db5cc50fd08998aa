/*
 * verify.c - the six checks of a chain, and of each landed file that it is
 * under. Unlike the fold it goes on behind a round that does not read: what
 * was carried from the last one that did is what the next is held against.
 *
 * Reading is split from judging: first all rounds are read, then the landed
 * files of the sessions that they name, each a job of its own that shares
 * nothing with the others; then what was read is judged in the order of the
 * rounds.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/pool.h"
#include "base/xalloc.h"

enum { MISSING_MAX = 1000 }; /* sequences of one round that are named; more are counted */

enum stage { STAGE_ROUNDS, STAGE_LANDED, STAGE_DONE };

struct round_read {
	bool is_read;            /* false: the fault or the error says why */
	struct flow_header h;
	struct flow_fault fault;
	struct err err;
	struct arena arena;      /* of the header's strings */
};

struct landed_read {
	const struct flow_landed_file *file;
	uint64_t size;
	char hex[65];
	struct flow_fault fault;
	struct err err;
	bool is_readable;
};

/* A session that rounds name, with its landed files by sequence. */
struct evidence {
	struct flow_landed_list list;
	size_t first;            /* of its reads; there are list.n */
	bool is_told;            /* what is wrong with its files has been said */
};

struct flow_verifier {
	struct flow_conversation *c;
	flow_found *fn;
	void *arg;
	enum stage stage;
	size_t job;              /* the next of the stage, for who goes by steps */
	struct flow_scratch scratch;
	uint64_t done, all;      /* bytes; done is counted by all threads */

	struct round_read *rounds;
	size_t nrounds;          /* the conversation may be closed before the verifier is */
	struct flow_names sessions; /* the name of one is its place in `evidence` */
	struct evidence *evidence;
	struct landed_read *landed;
	size_t nlanded, landed_cap;

	/* while judging: what the last round that read has carried, and its session */
	uint64_t round, through;
	const char *digest, *input;
	struct evidence *session;
};

static __attribute__((format(printf, 3, 4))) void say(
	struct flow_verifier *v, struct flow_finding f, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	f.message = text.p ? text.p : "";
	v->fn(v->arg, &f);
	buf_release(&text);
}

static struct flow_finding finding(int check, const char *code, uint64_t round, uint64_t seq)
{
	return (struct flow_finding){ FLOW_FOUND, check, code, round, seq, NULL, false };
}

static struct flow_finding unreadable(int check, const char *code, uint64_t round, uint64_t seq)
{
	return (struct flow_finding){ FLOW_UNREADABLE, check, code, round, seq, NULL, false };
}

/* ---- reading ---- */

static void read_round(struct flow_verifier *v, size_t i, struct flow_scratch *w)
{
	struct round_read *r = &v->rounds[i];
	char *path = flow_round_path(v->c, &v->c->rounds[i]);
	int rc = flow_round_read(path, w, &r->arena, &r->h, NULL, NULL, &r->fault, &r->err);

	r->is_read = rc == 0 && !r->fault.code;
	free(path);
	__atomic_fetch_add(&v->done, v->c->rounds[i].size, __ATOMIC_RELAXED);
}

static void read_landed(struct flow_verifier *v, size_t i)
{
	struct landed_read *l = &v->landed[i];

	l->is_readable = flow_landed_check(l->file, l->hex, &l->fault, &l->err) == 0;
	__atomic_fetch_add(&v->done, l->size, __ATOMIC_RELAXED);
}

static uint64_t file_size(const char *path)
{
	struct log_id id = { 0 };

	return log_stat(path, &id, NULL) == 0 ? id.size : 0;
}

static void list_session(struct flow_verifier *v, struct evidence *e, struct str session)
{
	flow_landed_list(&e->list, v->c->root, session);
	e->first = v->nlanded;
	v->landed = xgrow(v->landed, &v->landed_cap, v->nlanded + e->list.n, sizeof(*v->landed));
	for (size_t i = 0; i < e->list.n; i++) {
		uint64_t size = file_size(e->list.v[i].path);

		v->landed[v->nlanded++] =
			(struct landed_read){ .file = &e->list.v[i], .size = size };
		v->all += size;
	}
}

/* Each session once, however the rounds alternate between them. */
static void list_sessions(struct flow_verifier *v)
{
	v->evidence = xcalloc(v->c->nrounds + 1, sizeof(*v->evidence));
	for (size_t i = 0; i < v->c->nrounds; i++) {
		bool is_new;
		uint32_t at;

		if (!v->rounds[i].is_read)
			continue;
		at = flow_names_add(&v->sessions, v->rounds[i].h.session_s, &is_new);
		if (is_new)
			list_session(v, &v->evidence[at], v->rounds[i].h.session_s);
	}
}

/* ---- the windows of rounds ---- */

/* Check 5. The window is whatever a file says: sequences are walked by the files that are there. */
static void name_missing(
	struct flow_verifier *v, uint64_t round, const struct flow_header *h, uint64_t missing)
{
	const struct flow_landed_list *l = &v->session->list;
	uint64_t want = h->from_seq, named = 0, most = missing < MISSING_MAX ? missing : MISSING_MAX;

	for (size_t i = flow_landed_from(l, want); named < most; want++) {
		if (i < l->n && l->v[i].seq == want) {
			i++;
			continue;
		}
		say(v, finding(5, "missing-landed", round, want),
			"sequence %" PRIu64 " is missing", want);
		named++;
	}
	if (missing > named)
		say(v, finding(5, "missing-landed", round, 0),
			"%" PRIu64 " more sequence%s missing", missing - named,
			plural(missing - named, " is", "s are"));
}

static uint64_t nmissing(const struct flow_landed_list *l, const struct flow_header *h)
{
	size_t end = h->through_seq == UINT64_MAX ? l->n : flow_landed_from(l, h->through_seq + 1);

	if (h->through_seq < h->from_seq)
		return 0;
	return h->through_seq - h->from_seq + 1 - (end - flow_landed_from(l, h->from_seq));
}

/* What lies in a folder that can not be listed may be there: it is not called missing. */
static bool check_landed(struct flow_verifier *v, uint64_t round, const struct flow_header *h)
{
	const struct flow_landed_list *l = &v->session->list;
	uint64_t missing = nmissing(l, h);

	if (missing && l->nblocked)
		say(v, unreadable(5, "sd-unreadable", round, 0),
			"%" PRIu64 " of its sequences can not be looked for: %s", missing,
			l->blocked[0].text);
	else
		name_missing(v, round, h, missing);
	return missing == 0;
}

static int by_hex(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* false: a file of the window can not be read, *seq says which. */
static bool input_digest(const struct flow_verifier *v, const struct flow_header *h, char hex[65],
	uint64_t *seq)
{
	const struct evidence *e = v->session;
	const struct flow_landed_list *l = &e->list;
	const char **list = xcalloc(l->n + 1, sizeof(*list));
	struct flow_sha sha;
	size_t n = 0;

	*seq = 0;
	for (size_t i = flow_landed_from(l, h->from_seq); i < l->n && l->v[i].seq <= h->through_seq;
		i++) {
		list[n++] = v->landed[e->first + i].hex;
		if (!*seq && !v->landed[e->first + i].is_readable)
			*seq = l->v[i].seq;
	}
	if (n)
		qsort(list, n, sizeof(*list), by_hex);
	flow_sha_begin(&sha);
	flow_sha_add(&sha, v->input, strlen(v->input));
	for (size_t i = 0; i < n; i++) {
		flow_sha_add(&sha, "", 1);
		flow_sha_add(&sha, list[i], strlen(list[i]));
	}
	flow_sha_end(&sha, hex);
	free(list);
	return *seq == 0;
}

/* ---- judging ---- */

static void say_number(struct flow_verifier *v, uint64_t number, const struct flow_header *h)
{
	struct flow_finding f = finding(1, "missing-round", number, 0);

	if (v->round)
		say(v, f, "it is round %" PRIu64 "; the one before is %" PRIu64, h->round, v->round);
	else
		say(v, f, "it is round %" PRIu64 "; no round before it could be read", h->round);
}

static void say_gap(struct flow_verifier *v, uint64_t number, const struct flow_header *h)
{
	struct flow_finding f = finding(4, "seq-gap", number, 0);

	if (v->round)
		say(v, f, "it begins at sequence %" PRIu64 "; the round before ends at %" PRIu64,
			h->from_seq, v->through);
	else
		say(v, f, "it begins at sequence %" PRIu64 "; %s", h->from_seq,
			h->round == 1 ? "the first round begins at 1"
				      : "no round before it could be read");
}

static void check_round(struct flow_verifier *v, uint64_t number, const struct flow_header *h)
{
	bool is_good = true;
	uint64_t seq;
	char hex[65];

	if (h->round != v->round + 1) {
		say_number(v, number, h);
		is_good = false;
	} else if (strcmp(h->previous, v->digest) != 0) {
		say(v, finding(2, "previous-mismatch", number, 0),
			"it follows \"%s\"; the round before is \"%s\"", h->previous, v->digest);
		is_good = false;
	}
	if (h->from_seq != v->through + 1) {
		say_gap(v, number, h);
		is_good = false;
	}
	if (!check_landed(v, number, h))
		is_good = false;
	if (!is_good)
		return;
	if (!input_digest(v, h, hex, &seq))
		say(v, unreadable(6, "sd-unreadable", number, seq),
			"its input digest can not be checked");
	else if (strcmp(hex, h->input_digest) != 0)
		say(v, finding(6, "input-digest", number, 0),
			"the landed files have the input digest %s", hex);
}

static void tell_landed(struct flow_verifier *v, struct evidence *e)
{
	const struct flow_landed_list *list = &e->list;

	for (size_t i = 0; i < list->nblocked && !e->is_told; i++)
		say(v, unreadable(0, "sd-unreadable", 0, 0), "%s", list->blocked[i].text);
	for (size_t i = e->first; i < e->first + list->n && !e->is_told; i++) {
		const struct landed_read *l = &v->landed[i];

		if (!l->is_readable)
			say(v, unreadable(0, "sd-unreadable", 0, l->file->seq), "%s", l->err.text);
		else if (l->fault.code)
			say(v, finding(0, l->fault.code, 0, l->file->seq), "%s", l->fault.text);
	}
	e->is_told = true;
}

/* Where a round should be and nothing is that could be read. */
static void tell_odd(struct flow_verifier *v)
{
	for (size_t i = 0; i < v->c->nodd; i++) {
		const struct flow_odd *odd = &v->c->odd[i];
		struct flow_finding f = unreadable(0, "odd-round", 0, 0);

		if (odd->is_folder)
			f.kind = FLOW_REMARK;
		say(v, f, "rounds/%s: %s", odd->name, odd->what);
	}
}

/*
 * The fold goes by the headers: a lower number in a name would otherwise pass. A
 * header whose number is not the next is check 1's.
 */
static void check_name(struct flow_verifier *v, const struct flow_round *round, uint64_t said)
{
	if (round->number != said && said == v->round + 1)
		say(v, finding(0, "round-name", round->number, 0),
			"rounds/%s is round %" PRIu64 " by its header", round->name, said);
}

static void judge_round(struct flow_verifier *v, const struct flow_round *round,
	const struct round_read *r)
{
	uint64_t number = round->number;

	if (r->err.code) {
		say(v, unreadable(3, "unreadable", number, 0), "%s", r->err.text);
	} else if (!r->is_read) {
		say(v, finding(3, r->fault.code, number, 0),
			"line %" PRIu64 ", offset %" PRIu64 ": %s", r->fault.line, r->fault.off, r->fault.text);
	} else {
		v->session = &v->evidence[flow_names_find(&v->sessions, r->h.session_s)];
		tell_landed(v, v->session);
		check_name(v, round, r->h.round);
		check_round(v, number, &r->h);
		v->round = r->h.round;
		v->through = r->h.through_seq;
		v->input = r->h.input_digest;
		v->digest = r->h.digest;
	}
}

/* Why a round does not go on the fold of all before it. */
static void find_stop(const struct flow_verifier *v, size_t i, struct flow_fault *why)
{
	const struct round_read *r = &v->rounds[i];
	uint64_t number = v->c->rounds[i].number;

	if (number > i + 1)
		flow_fault_set(why, "fold-missing", 0, 0, "it is missing");
	else if (r->err.code)
		flow_fault_set(why, "unreadable", 0, 0, "%s", r->err.text);
	else if (!r->is_read)
		*why = r->fault;
	else
		flow_follow(v->c->id, &v->rounds[0].h, i ? &v->rounds[i - 1].h : NULL, &r->h, why);
}

/*
 * The checks go on behind a break, the fold does not. A round that the checks found
 * bad has been said; one that only does not follow is a finding of the fold's own.
 */
static void tell_stop(struct flow_verifier *v)
{
	struct flow_finding f = { .kind = FLOW_REMARK, .code = "not-folded", .is_stop = true };
	struct flow_fault why = { 0 };
	size_t i = 0, left;

	for (; i < v->nrounds; i++) {
		find_stop(v, i, &why);
		if (why.code)
			break;
	}
	if (!why.code)
		return;
	left = v->nrounds - i;
	f.round = strcmp(why.code, "fold-missing") == 0 ? i + 1 : v->c->rounds[i].number;
	if (strncmp(why.code, "fold-", 5) == 0) {
		f.kind = FLOW_FOUND;
		f.code = why.code;
		say(v, f, "%s; %zu round%s not folded", why.text, left,
			plural(left, " is", "s are"));
	} else {
		say(v, f, "%s: %s; %zu round%s not folded", why.code, why.text, left,
			plural(left, " is", "s are"));
	}
}

/* ---- one behind the other, or side by side ---- */

struct flow_verifier *flow_verify_new(struct flow_conversation *c, flow_found *fn, void *arg)
{
	struct flow_verifier *v = xcalloc(1, sizeof(*v));

	v->c = c;
	v->fn = fn;
	v->arg = arg;
	v->digest = v->input = "";
	v->nrounds = c->nrounds;
	v->rounds = xcalloc(c->nrounds + 1, sizeof(*v->rounds));
	for (size_t i = 0; i < c->nrounds; i++)
		v->all += c->rounds[i].size;
	flow_names_init(&v->sessions);
	flow_scratch_init(&v->scratch);
	return v;
}

static size_t njobs(const struct flow_verifier *v)
{
	return v->stage == STAGE_ROUNDS ? v->c->nrounds : v->stage == STAGE_LANDED ? v->nlanded : 0;
}

/* Jobs of a stage share nothing but the scratch that is given. */
static void do_job(struct flow_verifier *v, size_t i, struct flow_scratch *w)
{
	if (v->stage == STAGE_ROUNDS)
		read_round(v, i, w);
	else
		read_landed(v, i);
}

void flow_verify_judge(struct flow_verifier *v)
{
	tell_odd(v);
	for (size_t i = 0; i < v->c->nrounds; i++)
		judge_round(v, &v->c->rounds[i], &v->rounds[i]);
	tell_stop(v);
}

/* All jobs of the stage are done. */
static void next_stage(struct flow_verifier *v)
{
	v->job = 0;
	if (v->stage++ == STAGE_ROUNDS)
		list_sessions(v);
}

int flow_verify_step(struct flow_verifier *v, unsigned budget_us)
{
	uint64_t deadline = clock_mono_us() + budget_us;

	while (v->stage != STAGE_DONE) {
		if (v->job < njobs(v))
			do_job(v, v->job++, &v->scratch);
		else
			next_stage(v);
		if (v->stage == STAGE_DONE)
			flow_verify_judge(v);
		if (clock_mono_us() >= deadline)
			break;
	}
	return v->stage != STAGE_DONE;
}

void flow_verify_progress(const struct flow_verifier *v, uint64_t *done, uint64_t *all)
{
	*done = __atomic_load_n(&v->done, __ATOMIC_RELAXED);
	*all = v->all;
}

void flow_verify_free(struct flow_verifier **vp)
{
	struct flow_verifier *v = *vp;

	if (!v)
		return;
	for (size_t i = 0; i < v->nrounds; i++)
		arena_free(&v->rounds[i].arena);
	for (size_t i = 0; i < v->sessions.n && v->evidence; i++)
		flow_landed_list_free(&v->evidence[i].list);
	flow_names_release(&v->sessions);
	flow_scratch_release(&v->scratch);
	free(v->rounds);
	free(v->evidence);
	free(v->landed);
	free(v);
	*vp = NULL;
}

/* The jobs of one stage of many conversations, one behind the other. */
struct crowd {
	struct flow_verifier **v;
	size_t n;
	size_t *first;           /* job of each verifier; one more behind the last */
	struct flow_scratch scratch[POOL_MAX];
	void (*tick)(void *arg);
	void *arg;
};

static void crowd_job(void *arg, unsigned thread, size_t i)
{
	struct crowd *crowd = arg;
	size_t low = 0, high = crowd->n - 1;

	while (low < high) {
		size_t mid = low + (high - low + 1) / 2;

		if (crowd->first[mid] <= i)
			low = mid;
		else
			high = mid - 1;
	}
	do_job(crowd->v[low], i - crowd->first[low], &crowd->scratch[thread]);
}

static void crowd_tick(void *arg)
{
	struct crowd *crowd = arg;

	if (crowd->tick)
		crowd->tick(crowd->arg);
}

static void crowd_stage(struct crowd *crowd)
{
	struct pool_work work = { .arg = crowd, .job = crowd_job, .tick = crowd_tick };

	for (size_t i = 0; i < crowd->n; i++)
		crowd->first[i + 1] = crowd->first[i] + njobs(crowd->v[i]);
	pool_run(&work, pool_threads(), crowd->first[crowd->n]);
	for (size_t i = 0; i < crowd->n; i++)
		next_stage(crowd->v[i]);
}

void flow_verify_read(struct flow_verifier **v, size_t n, void (*tick)(void *arg), void *arg)
{
	struct crowd *crowd = xcalloc(1, sizeof(*crowd));

	crowd->v = v;
	crowd->n = n;
	crowd->first = xcalloc(n + 1, sizeof(*crowd->first));
	crowd->tick = tick;
	crowd->arg = arg;
	for (int i = 0; i < POOL_MAX; i++)
		flow_scratch_init(&crowd->scratch[i]);
	for (int stage = STAGE_ROUNDS; n && stage < STAGE_DONE; stage++)
		crowd_stage(crowd);
	for (int i = 0; i < POOL_MAX; i++)
		flow_scratch_release(&crowd->scratch[i]);
	free(crowd->first);
	free(crowd);
}

void flow_verify(struct flow_conversation *c, flow_found *fn, void *arg)
{
	struct flow_verifier *v = flow_verify_new(c, fn, arg);

	flow_verify_read(&v, 1, NULL, NULL);
	flow_verify_judge(v);
	flow_verify_free(&v);
}
