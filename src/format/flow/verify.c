/*
 * verify.c - the six checks of a chain, and of each landed file that it is
 * under. Unlike the fold it goes on behind a round that does not read: what
 * was carried from the last one that did is what the next is held against.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"

enum { MISSING_MAX = 1000 }; /* sequences of one round that are named; more are counted */

struct digest {
	uint64_t seq;
	char hex[65];
	struct flow_fault fault;
	bool is_readable;
};

struct flow_verifier {
	struct flow_conversation *c;
	flow_found *fn;
	void *arg;
	size_t at;               /* the round that is looked at */
	struct flow_header read; /* of it, when is_read: its checks wait for the landed files */
	bool is_read;
	uint64_t done, all;      /* bytes */

	/* the landed files of the session that was asked for last, and their digests */
	struct str session;
	struct flow_landed_file *files;
	struct digest *digests;
	size_t nfiles, looked_at;

	uint64_t round, through; /* carried from the last round that read */
	char digest[65];
	const char *input;
	struct arena arena;
};

static __attribute__((format(printf, 6, 7))) void found(struct flow_verifier *v, int check, const char *code,
	uint64_t round, uint64_t seq, const char *fmt, ...)
{
	struct flow_finding f = { .check = check, .code = code, .round = round, .seq = seq };
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	f.message = text.p ? text.p : "";
	v->fn(v->arg, &f);
	buf_release(&text);
}

/* ---- landed files ---- */

static void drop_files(struct flow_verifier *v)
{
	flow_landed_list_free(v->files, v->nfiles);
	free(v->digests);
	v->files = NULL;
	v->digests = NULL;
	v->nfiles = v->looked_at = 0;
}

static uint64_t file_size(const char *path)
{
	struct log_id id = { 0 };

	return log_stat(path, &id, NULL) == 0 ? id.size : 0;
}

static void look_at_file(struct flow_verifier *v, size_t i)
{
	struct digest *d = &v->digests[i];
	struct err err = { 0 };

	d->seq = v->files[i].seq;
	d->is_readable = flow_landed_check(&v->files[i], d->hex, &d->fault, &err) == 0;
	if (!d->is_readable)
		found(v, 0, "sd-unreadable", 0, d->seq, "%s", err.text);
	else if (d->fault.code)
		found(v, 0, d->fault.code, 0, d->seq, "%s", d->fault.text);
	v->done += file_size(v->files[i].path);
}

static void use_session(struct flow_verifier *v, struct str session)
{
	if (v->session.p && str_eq(v->session, session))
		return;
	drop_files(v);
	v->session = session;
	v->files = flow_landed_list(v->c->root, session, &v->nfiles);
	v->digests = xcalloc(v->nfiles ? v->nfiles : 1, sizeof(*v->digests));
	for (size_t i = 0; i < v->nfiles; i++)
		v->all += file_size(v->files[i].path);
}

/* Index of the first file at or behind a sequence. */
static size_t first_file(const struct flow_verifier *v, uint64_t seq)
{
	size_t low = 0, high = v->nfiles;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (v->files[mid].seq < seq)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Check 5. The window is whatever a file says: sequences are walked by the files that are there. */
static bool check_landed(struct flow_verifier *v, uint64_t round, const struct flow_header *h)
{
	uint64_t want = h->from_seq, named = 0, missing = 0;
	size_t i = first_file(v, h->from_seq);

	while (want <= h->through_seq) {
		uint64_t until = i < v->nfiles && v->files[i].seq <= h->through_seq ? v->files[i].seq - 1 :
			h->through_seq;
		bool at_end = until == h->through_seq;

		missing += until - want + 1;
		for (; want <= until && named < MISSING_MAX; named++) {
			found(v, 5, "missing-landed", round, want, "sequence %" PRIu64 " is missing", want);
			if (want++ == UINT64_MAX)
				break;
		}
		if (at_end)
			break;
		want = v->files[i++].seq + 1;
		if (want == 0)
			break;
	}
	if (missing > named)
		found(v, 5, "missing-landed", round, 0, "%" PRIu64 " more sequences are missing",
			missing - named);
	return missing == 0;
}

static int by_hex(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void input_digest(const struct flow_verifier *v, const struct flow_header *h, char hex[65])
{
	size_t first = first_file(v, h->from_seq), n = 0;
	const char **list = xcalloc(v->nfiles ? v->nfiles : 1, sizeof(*list));
	struct flow_sha sha;

	for (size_t i = first; i < v->nfiles && v->files[i].seq <= h->through_seq; i++)
		list[n++] = v->digests[i].hex;
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
}

/* ---- a round ---- */

static void check_round(struct flow_verifier *v, uint64_t number, const struct flow_header *h)
{
	bool is_good = true;
	char hex[65];

	if (h->round != v->round + 1) {
		found(v, 1, "missing-round", number, 0, "it is round %" PRIu64 "; the one before is %" PRIu64,
			h->round, v->round);
		is_good = false;
	} else if (strcmp(h->previous, v->digest) != 0) {
		found(v, 2, "previous-mismatch", number, 0, "it follows \"%s\"; the round before is \"%s\"",
			h->previous, v->digest);
		is_good = false;
	}
	if (h->from_seq != v->through + 1) {
		found(v, 4, "seq-gap", number, 0,
			"it begins at sequence %" PRIu64 "; the round before ends at %" PRIu64, h->from_seq,
			v->through);
		is_good = false;
	}
	if (!check_landed(v, number, h))
		is_good = false;
	if (!is_good)
		return;
	input_digest(v, h, hex);
	if (strcmp(hex, h->input_digest) != 0)
		found(v, 6, "input-digest", number, 0, "the landed files have the input digest %s", hex);
}

/* Reads the next round; what it says is checked when its landed files have been looked at. */
static void read_round(struct flow_verifier *v, const struct flow_round *r)
{
	struct flow_fault fault;
	struct err err = { 0 };
	char *path = flow_round_path(v->c, r);
	int rc = flow_round_read(path, &v->arena, &v->read, NULL, NULL, &fault, &err);

	free(path);
	v->done += r->size;
	v->is_read = rc == 0 && !fault.code;
	if (v->is_read) {
		use_session(v, v->read.session_s);
		return;
	}
	v->at++;
	if (rc < 0)
		found(v, 3, "unreadable", r->number, 0, "%s", err.text);
	else
		found(v, 3, fault.code, r->number, 0, "line %" PRIu64 ", offset %" PRIu64 ": %s", fault.line,
			fault.off, fault.text);
}

static void finish_round(struct flow_verifier *v, const struct flow_round *r)
{
	check_round(v, r->number, &v->read);
	v->round = v->read.round;
	v->through = v->read.through_seq;
	v->input = v->read.input_digest;
	memcpy(v->digest, v->read.digest, sizeof(v->digest));
	v->is_read = false;
	v->at++;
}

struct flow_verifier *flow_verify_new(struct flow_conversation *c, flow_found *fn, void *arg)
{
	struct flow_verifier *v = xcalloc(1, sizeof(*v));

	v->c = c;
	v->fn = fn;
	v->arg = arg;
	v->input = "";
	for (size_t i = 0; i < c->nrounds; i++)
		v->all += c->rounds[i].size;
	return v;
}

int flow_verify_step(struct flow_verifier *v, unsigned budget_us)
{
	uint64_t deadline = clock_mono_us() + budget_us;

	while (v->at < v->c->nrounds) {
		const struct flow_round *r = &v->c->rounds[v->at];

		if (!v->is_read)
			read_round(v, r);
		else if (v->looked_at < v->nfiles)
			look_at_file(v, v->looked_at++);
		else
			finish_round(v, r);
		if (clock_mono_us() >= deadline)
			break;
	}
	return v->at < v->c->nrounds;
}

void flow_verify_progress(const struct flow_verifier *v, uint64_t *done, uint64_t *all)
{
	*done = v->done;
	*all = v->all;
}

void flow_verify_free(struct flow_verifier **vp)
{
	struct flow_verifier *v = *vp;

	if (!v)
		return;
	drop_files(v);
	arena_free(&v->arena);
	free(v);
	*vp = NULL;
}

void flow_verify(struct flow_conversation *c, flow_found *fn, void *arg)
{
	struct flow_verifier *v = flow_verify_new(c, fn, arg);

	while (flow_verify_step(v, UINT_MAX) == 1)
		;
	flow_verify_free(&v);
}
