/*
 * gen-dsh.c - writes large, valid dsh logs for measurements and sweeps.
 *
 * The same options give the same bytes on every machine. Turns have the shape
 * of an agent's: a prompt, steps of a streamed answer, calls and results, and
 * the frames that a live writer leaves, which end before a step, a request and
 * a tool. A tool of `make bench`, never installed.
 */
#include "config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "log/frames.h"

struct gen {
	uint64_t state;
	uint64_t bytes;     /* of text to write */
	uint64_t frame;     /* text a frame holds at least */
	bool is_zstd, packs;
	uint64_t written, seq;
	int64_t time;
	unsigned turn, step;
	struct buf batch;   /* lines not yet flushed */
	struct buf said;    /* what the chunks of this answer said */
	FILE *to;
	const char *root;   /* write `files` sessions there, not one to stdout */
	unsigned files;
};

static uint64_t next(struct gen *g)
{
	uint64_t x = g->state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void flush(struct gen *g, uint64_t least)
{
	struct buf frame = { 0 };

	if (g->batch.n <= least)
		return;
	if (g->is_zstd && log_frame_encode(&frame, g->batch.p, g->batch.n, NULL) < 0)
		die("gen-dsh: encode");
	if (fwrite(g->is_zstd ? frame.p : g->batch.p, 1, g->is_zstd ? frame.n : g->batch.n,
		    g->to) == 0)
		die("gen-dsh: write");
	g->written += g->batch.n;
	buf_clear(&g->batch);
	buf_release(&frame);
}

static const char *word(struct gen *g)
{
	static const char *const words[] = { "the ", "cache ", "of ", "a ", "router ", "waits ",
		"for ", "bytes ", "and ", "returns ", "when ", "nobody ", "reads ", "socket ",
		"index ", "is ", "not ", "empty ", "buffer ", "it ", "in ", "deadline ", "queue ",
		"test ", "passes ", "but ", "\\n", "\\\"quoted\\\" ", "caf\xc3\xa9 ",
		"\xe6\xbd\xae ", "src/cache.c ", "0x1f " };

	return words[next(g) % (sizeof(words) / sizeof(words[0]))];
}

static void put_words(struct gen *g, struct buf *out, size_t n)
{
	for (size_t end = out->n + n; out->n < end;)
		buf_adds(out, word(g));
}

static void begin(struct gen *g, const char *type)
{
	g->time += (int64_t)(next(g) % 40);
	buf_printf(&g->batch, "{\"type\":\"%s\",\"seq\":%" PRIu64 ",\"time\":%" PRId64 ",\"data\":",
		type, g->seq++, g->time);
}

static void put_place(struct gen *g, const char *type)
{
	begin(g, type);
	buf_printf(&g->batch, "{\"turn\":%u,\"step\":%u", g->turn, g->step);
}

static void put_prompt(struct gen *g)
{
	begin(g, "user/message");
	buf_printf(&g->batch, "{\"id\":\"u-%u\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"",
		g->turn);
	put_words(g, &g->batch, 40 + next(g) % 400);
	buf_adds(&g->batch, "\"}],\"source\":{\"kind\":\"user\"}},\"surfaceOp\":\"append\"}\n");
}

static void put_row(struct gen *g, const char *kind, unsigned n)
{
	begin(g, "");
	g->batch.n -= strlen("{\"type\":\"\",\"seq\":,\"time\":,\"data\":");
	while (g->batch.n && g->batch.p[g->batch.n - 1] != '\n')
		g->batch.n--;
	buf_printf(&g->batch, "{\"type\":\"%s-chunks\",\"seq0\":%" PRIu64 ",\"time0\":%" PRId64
		",\"data\":{\"turn\":%u,\"step\":%u,\"index\":0,\"dt\":[", kind, g->seq - 1, g->time,
		g->turn, g->step);
	for (unsigned i = 1; i < n; i++) {
		unsigned dt = (unsigned)(next(g) % 40);

		buf_printf(&g->batch, "%s%u", i > 1 ? "," : "", dt);
		g->time += dt;
	}
	buf_adds(&g->batch, "],\"texts\":[");
	for (unsigned i = 0; i < n; i++) {
		const char *text = word(g);

		buf_printf(&g->batch, "%s\"%s\"", i ? "," : "", text);
		buf_adds(&g->said, text);
	}
	buf_adds(&g->batch, "]}}\n");
	g->seq += n - 1;
}

static void put_chunks(struct gen *g, unsigned n)
{
	for (unsigned i = 0; i < n && !g->packs; i++) {
		const char *text = word(g);

		put_place(g, "assistant/chunk");
		buf_printf(&g->batch, ",\"chunk\":{\"type\":\"text-delta\",\"index\":0,\"text\":\"%s\"}}}\n",
			text);
		buf_adds(&g->said, text);
	}
	while (g->packs && n >= 3) {
		unsigned part = 3 + (unsigned)(next(g) % 30);

		put_row(g, "text", part < n ? part : n);
		n -= part < n ? part : n;
		flush(g, g->frame);
	}
}

static void put_answer(struct gen *g, bool has_call)
{
	uint64_t first = g->seq;

	buf_clear(&g->said);
	put_chunks(g, 20 + (unsigned)(next(g) % 300));
	flush(g, g->frame);
	put_place(g, "assistant/message");
	buf_printf(&g->batch, ",\"message\":{\"role\":\"assistant\",\"id\":\"a-%u-%u\",\"content\":["
		"{\"type\":\"text\",\"text\":\"", g->turn, g->step);
	buf_add(&g->batch, g->said.p, g->said.n);
	buf_adds(&g->batch, "\"}");
	if (has_call)
		buf_printf(&g->batch, ",{\"type\":\"tool-call\",\"id\":\"c-%u-%u\",\"name\":\"read_file\","
			"\"arguments\":\"{\\\"path\\\":\\\"src/cache.c\\\"}\"}", g->turn, g->step);
	buf_printf(&g->batch, "],\"source\":{\"kind\":\"model\",\"provider\":\"lab\",\"model\":\"tide-2\"}},"
		"\"usage\":{\"inputTokens\":%u,\"outputTokens\":%u,\"cacheReadTokens\":%u}},"
		"\"sourceEventSeqs\":[", 100 + g->step, 20 + g->step, g->turn * 100);
	for (uint64_t seq = first; seq + 1 < g->seq; seq++)
		buf_printf(&g->batch, "%s%" PRIu64, seq > first ? "," : "", seq);
	buf_adds(&g->batch, "],\"surfaceOp\":\"append\"}\n");
}

static void put_tool(struct gen *g)
{
	uint64_t call = g->seq;

	put_place(g, "tool/call");
	buf_printf(&g->batch, ",\"callId\":\"c-%u-%u\",\"name\":\"read_file\",\"arguments\":"
		"\"{\\\"path\\\":\\\"src/cache.c\\\"}\"}}\n", g->turn, g->step);
	flush(g, g->frame);
	put_place(g, "tool/result");
	buf_printf(&g->batch, ",\"message\":{\"id\":\"r-%u-%u\",\"role\":\"user\",\"source\":{\"kind\":"
		"\"tool\",\"callId\":\"c-%u-%u\"},\"content\":[{\"type\":\"tool-result\",\"toolCallId\":"
		"\"c-%u-%u\",\"content\":[{\"type\":\"text\",\"text\":\"", g->turn, g->step, g->turn,
		g->step, g->turn, g->step);
	put_words(g, &g->batch, 200 + next(g) % 6000);
	buf_printf(&g->batch, "\"}]}]}},\"sourceEventSeqs\":[%" PRIu64 "],\"surfaceOp\":\"append\"}\n",
		call);
}

static void put_turn(struct gen *g)
{
	unsigned steps = 1 + (unsigned)(next(g) % 5);

	g->turn++;
	begin(g, "turn/start");
	buf_printf(&g->batch, "{\"turn\":%u}}\n", g->turn);
	for (g->step = 1; g->step <= steps; g->step++) {
		put_place(g, "step/start");
		buf_adds(&g->batch, "}}\n");
		if (g->step == 1)
			put_prompt(g);
		flush(g, g->frame);
		put_answer(g, g->step < steps);
		if (g->step < steps)
			put_tool(g);
		put_place(g, "step/end");
		buf_adds(&g->batch, "}}\n");
	}
	begin(g, "turn/end");
	buf_printf(&g->batch, "{\"turn\":%u,\"reason\":{\"kind\":\"completed\"}}}\n", g->turn);
}

static void put_log(struct gen *g, const char *id)
{
	g->written = g->seq = 0;
	g->turn = 0;
	buf_printf(&g->batch, "{\"type\":\"session\",\"version\":0,\"id\":\"%s\",\"createdAt\":%" PRId64
		",\"cwd\":\"/srv/bench\",\"delegationDepth\":0}\n", id, g->time);
	flush(g, 0);
	while (g->written + g->batch.n < g->bytes)
		put_turn(g);
	flush(g, 0);
}

static void put_many(struct gen *g)
{
	for (unsigned i = 0; i < g->files; i++) {
		char path[4096], id[40];

		snprintf(id, sizeof(id), "session-%08x", i * 2654435761u);
		snprintf(path, sizeof(path), "%s/--srv-bench--", g->root);
		if (i == 0)
			mkdir(path, 0700);
		snprintf(path, sizeof(path), "%s/--srv-bench--/%s", g->root, id);
		mkdir(path, 0700);
		snprintf(path, sizeof(path), "%s/--srv-bench--/%s/session.jsonl%s", g->root, id,
			g->is_zstd ? ".zstd" : "");
		g->to = fopen(path, "w");
		if (!g->to)
			die(path);
		put_log(g, id);
		if (fclose(g->to))
			die(path);
	}
}

static bool parse(struct gen *g, int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "b:f:zuo:c:r:")) != -1) {
		char *end = NULL;
		uint64_t n = optarg ? strtoull(optarg, &end, 10) : 0;

		if (end && (*end == 'M' || *end == 'K'))
			n <<= *end == 'M' ? 20 : 10;
		switch (opt) {
		case 'b':
			g->bytes = n;
			break;
		case 'f':
			g->frame = n;
			break;
		case 'z':
			g->is_zstd = true;
			break;
		case 'u':
			g->packs = false;
			break;
		case 'o':
			g->root = optarg;
			break;
		case 'c':
			g->files = (unsigned)n;
			break;
		case 'r':
			g->state = n;
			break;
		default:
			return false;
		}
	}
	return optind == argc && g->bytes && !g->root == !g->files;
}

int main(int argc, char **argv)
{
	struct gen g = { .state = 1, .frame = 8 << 10, .packs = true, .time = 1767225600000,
		.to = stdout };

	if (!parse(&g, argc, argv)) {
		fputs("usage: gen-dsh -b BYTES[KM] [-f FRAME[KM]] [-z] [-u] [-r SEED] "
		      "[-o ROOT -c FILES]\n", stderr);
		return 2;
	}
	if (g.root)
		put_many(&g);
	else
		put_log(&g, "bench");
	buf_release(&g.batch);
	buf_release(&g.said);
	return fflush(stdout) ? 1 : 0;
}
