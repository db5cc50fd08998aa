/*
 * gen-flow.c - a root of conversations for measurements: valid chains of large
 * rounds over small landed files. The same arguments give the same bytes.
 *
 *   gen-flow OUT CONVERSATIONS ROUNDS NODES
 *
 * NODES are the nodes of one round, by sevens: a call of the model with what
 * it thought, said and asked two tools.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/xalloc.h"
#include "format/flow/internal.h"

struct chain {
	char *root;
	char id[40];
	char previous[65], input[65];
	uint64_t state;
	uint64_t nodes;
};

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9E3779B97F4A7C15u;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

static void put(const char *path, const struct buf *b)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(b->p, 1, b->n, f) != b->n || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

static char *folder(char *path)
{
	if (mkdir(path, 0700) < 0) {
		perror(path);
		exit(1);
	}
	return path;
}

/* One record, whose digest goes into the round's input digest. */
static void put_landed(struct chain *c, int seq)
{
	char *path = xasprintf(
		"%s/%s/streams/main/transcript-20261101T000000.%09dZ-%06d.sd", c->root, c->id, seq, seq);
	struct buf text = { 0 };
	char hex[65];

	buf_printf(&text,
		"{\"h\":1,\"schema\":\"sd/1\",\"seq\":%d,\"kind\":\"transcript\",\"adapter\":\"bench/1\","
		"\"dialect\":\"bench/1\",\"src\":\"bench\",\"session\":\"%s\",\"stream\":\"main\"}\n",
		seq, c->id);
	buf_adds(&text, "{\"ord\":1,\"time\":\"2026-11-01T00:00:00Z\",\"parts\":[{\"k\":\"text\",\"text\":"
			"\"a record like any other\"}]}\n");
	flow_sha_of(text.p, text.n, hex);
	buf_printf(&text, "{\"t\":\"end\",\"records\":1,\"digest\":\"%s\"}\n", hex);
	flow_sha_of(text.p, text.n, hex);
	put(path, &text);
	buf_clear(&text);
	buf_adds(&text, c->input);
	buf_addc(&text, '\0');
	buf_adds(&text, hex);
	flow_sha_of(text.p, text.n, c->input);
	buf_release(&text);
	free(path);
}

static void add_node(struct chain *c, struct buf *out, int round, const char *kind, const char *id,
	const char *parent, int block, const char *attrs)
{
	buf_printf(out,
		"{\"t\":\"node\",\"id\":\"%s\",\"revision\":%d,\"kind\":\"%s\",\"parent\":\"%s\","
		"\"stream\":\"main\",\"ref\":{\"seq\":%d,\"row\":1,\"block\":%d},"
		"\"refs\":[{\"seq\":%d,\"row\":1,\"block\":%d}]%s%s}\n",
		id, round, kind, parent, round, block, round, block, attrs ? ",\"attrs\":" : "",
		attrs ? attrs : "");
	c->nodes++;
}

static void add_call(struct chain *c, struct buf *out, int round, const char *talk)
{
	uint64_t a = next(&c->state), b = next(&c->state);
	char call[64], id[80];

	snprintf(call, sizeof(call), "call/msg_01%016" PRIx64 "%06x", a, (unsigned)(b & 0xFFFFFF));
	add_node(c, out, round, "llm.call", call, talk, 0,
		"{\"fragments\":1,\"usage\":\"observed_replayable\",\"usage_at\":{\"row\":1,\"seq\":1},"
		"\"usage_from\":\"last_fragment_in_line_order\"}");
	snprintf(id, sizeof(id), "think/%d/%" PRIu64 ":0", round, b >> 20);
	add_node(c, out, round, "thinking", id, call, 0, NULL);
	snprintf(id, sizeof(id), "msg/%d/%" PRIu64 ":1", round, b >> 20);
	add_node(c, out, round, "message.assistant", id, call, 1, NULL);
	for (int i = 0; i < 2; i++) {
		snprintf(id, sizeof(id), "tool/toolu_01%016" PRIx64 "%d", b, i);
		add_node(c, out, round, "tool", id, call, 2 + i,
			"{\"name\":\"Grep\",\"result\":\"available\",\"result_join\":\"exact_unique\","
			"\"timing\":\"unavailable\"}");
	}
}

static void put_round(struct chain *c, int round, int nodes)
{
	struct buf text = { 0 };
	char *path, talk[64] = "", hex[65];

	put_landed(c, round);
	buf_printf(&text,
		"{\"t\":\"header\",\"schema\":\"sf/1\",\"conversation\":\"%s\",\"session\":\"%s\",\"round\":%d,",
		c->id, c->id, round);
	if (round > 1)
		buf_printf(&text, "\"previous\":\"%s\",", c->previous);
	buf_printf(&text,
		"\"from_seq\":%d,\"through_seq\":%d,\"input_digest\":\"%s\",\"parser\":\"v1\","
		"\"policy\":\"v1+idle=10m0s\",\"title\":\"Measured %s\",\"talks\":1,\"steps\":%d}\n",
		round, round, c->input, c->id, nodes);
	c->nodes = 0;
	while (c->nodes < (uint64_t)nodes) {
		if (c->nodes % 28 == 0 || !*talk) {
			snprintf(talk, sizeof(talk), "talk/main/%016" PRIx64, next(&c->state));
			add_node(c, &text, round, "talk", talk, "epoch/main/0", 0, NULL);
		}
		add_call(c, &text, round, talk);
	}
	flow_sha_of(text.p, text.n, hex);
	memcpy(c->previous, hex, sizeof(hex));
	buf_printf(&text, "{\"t\":\"commit\",\"digest\":\"%s\",\"counts\":{\"nodes\":%" PRIu64 "}}\n", hex,
		c->nodes);
	path = xasprintf("%s/_conversations/%s/rounds/r%06d-%.12s.sf", c->root, c->id, round, hex);
	put(path, &text);
	buf_release(&text);
	free(path);
}

static void put_conversation(char *root, int number, int rounds, int nodes)
{
	struct chain c = { .root = root, .state = (uint64_t)number * 1000003 };

	snprintf(c.id, sizeof(c.id), "%016" PRIx64, next(&c.state));
	free(folder(xasprintf("%s/_conversations/%s", root, c.id)));
	free(folder(xasprintf("%s/_conversations/%s/rounds", root, c.id)));
	free(folder(xasprintf("%s/%s", root, c.id)));
	free(folder(xasprintf("%s/%s/streams", root, c.id)));
	free(folder(xasprintf("%s/%s/streams/main", root, c.id)));
	for (int i = 1; i <= rounds; i++)
		put_round(&c, i, nodes);
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fputs("usage: gen-flow OUT CONVERSATIONS ROUNDS NODES\n", stderr);
		return 2;
	}
	folder(argv[1]);
	free(folder(xasprintf("%s/_conversations", argv[1])));
	for (int i = 1; i <= atoi(argv[2]); i++)
		put_conversation(argv[1], i, atoi(argv[3]), atoi(argv[4]));
	return 0;
}
