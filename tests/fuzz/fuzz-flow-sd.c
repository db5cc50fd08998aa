/*
 * fuzz-flow-sd.c - the bytes of landed files to their checks and to all that
 * nodes read from them. The input is up to three files with a byte 1E between
 * them: a transcript, provider bodies, changes. A round with a node of each
 * kind that looks at them stands beside them.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "format/flow/internal.h"
#include "model/content.h"
#include "tests/fuzz/flow-root.h"

enum { FILES = 3, SEPARATOR = 0x1E, LIMIT = 300 };

static const char head[] =
	"{\"t\":\"header\",\"schema\":\"sf/1\",\"conversation\":\"c\",\"session\":\"s\",\"round\":1,"
	"\"from_seq\":1,\"through_seq\":3,\"input_digest\":\"d\",\"parser\":\"p\",\"policy\":\"q\"}\n";

static void add_node(struct buf *out, const char *id, const char *kind, const char *rest)
{
	buf_printf(out, "{\"t\":\"node\",\"id\":\"%s\",\"revision\":1,\"kind\":\"%s\",%s}\n", id,
		kind, rest);
}

/* Rows 1 to 4 of the transcript, as a whole and by parts; bodies in rows 1 to 4 of the second file. */
static void make_round(struct buf *out)
{
	char hex[65];

	buf_adds(out, head);
	add_node(out, "talk", "talk", "\"ref\":{\"seq\":1,\"row\":1}");
	add_node(
		out, "in", "message.external", "\"parent\":\"talk\",\"ref\":{\"seq\":1,\"row\":1}");
	add_node(out, "inject", "context.injection",
		"\"parent\":\"talk\",\"ref\":{\"seq\":1,\"row\":2}");
	add_node(out, "out", "message.assistant",
		"\"parent\":\"talk\",\"ref\":{\"seq\":1,\"row\":2,\"block\":0}");
	add_node(out, "tool", "tool",
		"\"parent\":\"talk\",\"ref\":{\"seq\":1,\"row\":2,\"block\":1},\"refs\":[{\"seq\":1,\"row\":2,\"block\":1},"
		"{\"seq\":1,\"row\":3,\"block\":0},{\"seq\":1,\"row\":4}]");
	add_node(out, "call", "llm.call",
		"\"parent\":\"talk\",\"ref\":{\"seq\":1,\"row\":2},\"attrs\":{\"usage_at\":{\"seq\":1,\"row\":2},"
		"\"provider_bodies\":[{\"role\":\"request\",\"ref\":{\"seq\":2,\"row\":1}},"
		"{\"role\":\"response\",\"ref\":{\"seq\":2,\"row\":2}},{\"role\":\"request\",\"ref\":{\"seq\":2,\"row\":3}},"
		"{\"role\":\"response\",\"ref\":{\"seq\":2,\"row\":4}}]}");
	flow_sha_of(out->p, out->n, hex);
	buf_printf(out, "{\"t\":\"commit\",\"digest\":\"%s\",\"counts\":{\"nodes\":6}}\n", hex);
}

static void put_files(const uint8_t *p, size_t n)
{
	static const char *const names[FILES] = { "s/streams/main/transcript-x-000001.sd",
		"s/provider_body/provider_body-x-000002.sd", "s/streams/main/changes-x-000003.sd" };

	for (int i = 0; i < FILES; i++) {
		const uint8_t *end = n && i + 1 < FILES ? memchr(p, SEPARATOR, n) : NULL;
		size_t len = end ? (size_t)(end - p) : n;

		flow_root_put(names[i], len ? (const void *)p : "", len);
		p += len + (end != NULL);
		n -= len + (end != NULL);
	}
}

static void take_line(void *arg, struct str line)
{
	size_t *n = arg;

	*n += line.n;
}

static void check_body(const struct flow_body *b)
{
	char hex[65];
	size_t n = 0;

	if (!b->bytes.p) {
		HOLDS(b->why);
		return;
	}
	flow_sha_of(b->bytes.p, b->bytes.n, hex);
	HOLDS(strcmp(hex, b->sha256) == 0);
	flow_body_messages(b, take_line, &n);
}

static void check_node(struct flow_conversation *c, uint32_t version, struct arena *a)
{
	struct content content = { 0 };
	struct flow_node n;
	struct err err = { 0 };

	HOLDS(flow_node_read(c, version, true, a, &n, &err) == 0);
	flow_node_observed(c, a, &n);
	for (size_t i = 0; i < n.nbodies; i++)
		check_body(&n.bodies[i]);
	flow_node_content(&n, true, LIMIT, a, &content);
	for (size_t i = 0; i < content.n; i++)
		HOLDS(content.v[i].kind == PART_META || content.v[i].text.n <= LIMIT);
}

static void take_finding(void *arg, const struct flow_finding *f)
{
	int *n = arg;

	HOLDS(f->code && f->message);
	++*n;
}

/* By steps: threads would take longer to start than all the rest takes. */
static int verify(struct flow_conversation *c)
{
	int findings = 0;
	struct flow_verifier *v = flow_verify_new(c, take_finding, &findings);

	while (flow_verify_step(v, 1000000) == 1)
		;
	flow_verify_free(&v);
	return findings;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct flow_conversation *c;
	struct flow_outline o;
	struct flow_view v;
	struct flow_talk *talks;
	struct arena a = { 0 };
	struct err err = { 0 };
	struct buf round = { 0 };
	size_t ntalks;

	make_round(&round);
	flow_root_round(round.p, round.n);
	buf_release(&round);
	put_files(data, size);
	HOLDS(flow_open(&c, flow_root_conversation(), &err) == 0);
	while (flow_step(c, 1000000) == 1)
		;
	HOLDS(flow_folded(c) == 1);
	flow_view_make(&v, c, 1);
	flow_outline_make(&o, &v);
	HOLDS(o.n == 6);
	for (uint32_t i = 0; i < o.n; i++)
		check_node(c, o.v[i].version, &a);
	flow_talks(c, &o, &a, &talks, &ntalks);
	HOLDS(ntalks == 1 && talks[0].tools == 1);
	HOLDS(verify(c) > 0); /* no files have the input digest "d" */
	flow_outline_release(&o);
	flow_view_release(&v);
	flow_close(&c);
	arena_free(&a);
	return 0;
}
