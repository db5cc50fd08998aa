/*
 * fuzz-flow-round.c - the bytes of a round to its reader, the fold and the
 * checks. An input that begins with '+' gets the right commit behind it, which
 * no change of bytes would hit upon; any other is a round as it stands.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <inttypes.h>
#include <string.h>

#include "format/flow/internal.h"
#include "tests/fuzz/flow-root.h"

struct seen {
	size_t n, size;
	uint64_t by_map[FLOW_MAPS];
};

static void see(void *arg, const struct flow_entity *e)
{
	struct seen *seen = arg;

	seen->n++;
	seen->by_map[e->map]++;
	HOLDS(e->id.n > 0);
	HOLDS(e->off + e->len <= seen->size);
}

/* What the reader says of the round on disk; NULL: it is valid. */
static const char *read_round(size_t size, struct flow_header *h, struct arena *a)
{
	static const char name[] = "_conversations/c/rounds/r000001-000000000000.sf";
	struct flow_scratch w;
	struct flow_fault fault;
	struct seen seen = { .size = size };
	struct err err = { 0 };
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", flow_root(), name);
	flow_scratch_init(&w);
	HOLDS(flow_round_read(path, &w, a, h, see, &seen, &fault, &err) == 0);
	flow_scratch_release(&w);
	HOLDS(fault.off <= size);
	for (int i = 0; i < FLOW_MAPS; i++)
		HOLDS(fault.code || h->entities[i] == seen.by_map[i]);
	return fault.code;
}

static void put_with_commit(struct buf *text)
{
	struct flow_header h;
	struct arena a = { 0 };
	size_t lines;
	char hex[65];

	if (text->n && text->p[text->n - 1] != '\n')
		buf_addc(text, '\n');
	lines = text->n;
	flow_sha_of(text->p ? text->p : "", lines, hex);
	buf_printf(text, "{\"t\":\"commit\",\"digest\":\"%s\"}\n", hex);
	flow_root_round(text->p, text->n);
	read_round(text->n, &h, &a); /* how many there are */
	text->n = lines;
	buf_printf(text,
		"{\"t\":\"commit\",\"digest\":\"%s\",\"counts\":{\"nodes\":%" PRIu64
		",\"relations\":%" PRIu64 ",\"unresolved\":%" PRIu64 "}}\n",
		hex, h.entities[0], h.entities[1], h.entities[2]);
	flow_root_round(text->p, text->n);
	arena_free(&a);
}

static int take(void *arg, const char *p, size_t n)
{
	buf_add(arg, p, n);
	return 0;
}

/* The canonical text is JSON, and its own canonical text. */
static void check_canonical(struct flow_conversation *c, const struct flow_view *v)
{
	struct buf text = { 0 }, again = { 0 };
	struct json_scan scan;
	struct err err = { 0 };

	HOLDS(flow_canonical(c, v, take, &text, &err) == 0);
	HOLDS(json_scan_value(text.p, text.n, &scan) == JSON_OK && scan.end == text.n);
	flow_put_canonical(&again, (struct str){ text.p, text.n });
	HOLDS(text.n == again.n && memcmp(text.p, again.p, text.n) == 0);
	buf_release(&text);
	buf_release(&again);
}

static void check_outline(struct flow_conversation *c, const struct flow_view *v)
{
	struct flow_outline o;
	struct flow_talk *talks;
	struct arena a = { 0 };
	size_t ntalks;

	flow_outline_make(&o, v);
	HOLDS(o.n <= v->n[FLOW_NODES]);
	for (uint32_t i = 0; i < o.n; i++) {
		struct flow_node n;
		struct err err = { 0 };
		uint32_t found = flow_view_find(
			v, FLOW_NODES, flow_word(c, flow_version(c, o.v[i].version)->id));

		HOLDS(found == o.v[i].version);
		HOLDS(o.v[i].depth ==
			(o.v[i].parent == FLOW_NONE ? 0 : o.v[o.v[i].parent].depth + 1));
		HOLDS(flow_node_read(c, o.v[i].version, true, &a, &n, &err) == 0);
		flow_node_observed(c, &a, &n);
	}
	flow_talks(c, &o, &a, &talks, &ntalks);
	HOLDS(ntalks <= o.n);
	flow_outline_release(&o);
	arena_free(&a);
}

static void ignore(void *arg, const struct flow_finding *f)
{
	(void)arg;
	HOLDS(f->code && f->message);
}

/* By steps: threads would take longer to start than all the rest takes. */
static void verify(struct flow_conversation *c)
{
	struct flow_verifier *v = flow_verify_new(c, ignore, NULL);

	while (flow_verify_step(v, 1000000) == 1)
		;
	flow_verify_free(&v);
}

static void check_fold(bool is_valid)
{
	struct flow_conversation *c;
	struct flow_view v;
	struct err err = { 0 };

	HOLDS(flow_open(&c, flow_root_conversation(), &err) == 0);
	while (flow_step(c, 1000000) == 1)
		;
	HOLDS(flow_folded(c) <= is_valid);
	flow_view_make(&v, c, flow_folded(c));
	check_canonical(c, &v);
	check_outline(c, &v);
	flow_view_release(&v);
	verify(c);
	flow_close(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf text = { 0 };
	struct flow_header h;
	struct arena a = { 0 };

	if (size && data[0] == '+') {
		buf_add(&text, data + 1, size - 1);
		put_with_commit(&text);
	} else {
		buf_add(&text, data, size);
		flow_root_round(text.p ? text.p : "", text.n);
	}
	if (text.n) /* else it is a reservation */
		check_fold(!read_round(text.n, &h, &a));
	arena_free(&a);
	buf_release(&text);
	return 0;
}
