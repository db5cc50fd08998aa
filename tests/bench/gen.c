/*
 * gen.c - writes a large, valid tree session for measurements.
 *
 * The same options give the same bytes on every machine. Entries have the
 * shape that an agent's session has: a system prompt, then turns of a prompt,
 * rounds of tool calls and results, and an answer; sizes vary widely around a
 * mean. It is a tool of `make bench` and of tests, never installed.
 */
#include "config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum shape {
	SHAPE_AGENT, /* tool rounds, long results: about 5 KB an entry */
	SHAPE_CHAT,  /* short prompts and answers: about 580 bytes an entry */
	SHAPE_DEEP,  /* chat, never a fork */
	SHAPE_WIDE   /* chat, all entries below one */
};

struct gen {
	uint64_t state;
	uint64_t entries, bytes;       /* to write; 0: the other one decides */
	uint64_t written, count;
	double branch;                 /* probability that an entry hangs elsewhere */
	unsigned huge;                 /* lines of 4 MB spread over the file */
	enum shape shape;
	int64_t time;
	uint64_t last;                 /* number of the newest entry: its id is made from it */
	unsigned in_turn;              /* entries left of the tool rounds of this turn */
	char *text;                    /* prose to cut contents from */
	size_t ntext;
	const char *dir;               /* write `files` sessions there, not one to stdout */
	uint64_t files;
};

enum { HUGE_LINE = 4 << 20, TEXT = 1 << 16 };

static uint64_t next(struct gen *g)
{
	uint64_t x = g->state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static double real(struct gen *g)
{
	return (double)(next(g) >> 11) / 9007199254740992.0;
}

/* A size with the given mean and a long tail: most are small, some are large. */
static size_t size_of(struct gen *g, double mean)
{
	double x = real(g) * real(g) * real(g) * 8.0 * mean;

	return (size_t)x + 8;
}

/* Prose as JSON text: words, now and then an escape or something outside ASCII. */
static void make_text(struct gen *g)
{
	static const char *const words[] = { "the", "cache", "of", "a", "router", "waits", "for",
		"bytes", "and", "returns", "when", "nobody", "reads", "socket", "index", "is",
		"not", "empty", "buffer", "it", "in", "deadline", "queue", "test", "passes", "but" };
	static const char *const odd[] = { "\\n", "\\\"quoted\\\"", "\\t", "caf\xc3\xa9", "\xe2\x86\x92",
		"\\\\path", "\xf0\x9f\x8c\x8a", "\xe6\xbd\xae" };

	g->text = malloc(TEXT + 64);
	if (!g->text)
		exit(1);
	while (g->ntext < TEXT) {
		uint64_t r = next(g);
		const char *word = r % 23 == 0 ? odd[(r >> 8) % (sizeof(odd) / sizeof(odd[0]))]
			: words[(r >> 8) % (sizeof(words) / sizeof(words[0]))];
		size_t n = strlen(word);

		memcpy(g->text + g->ntext, word, n);
		g->ntext += n;
		g->text[g->ntext++] = ' ';
	}
}

static void put(struct gen *g, const char *p, size_t n)
{
	if (fwrite(p, 1, n, stdout) != n) {
		perror("gen");
		exit(1);
	}
	g->written += n;
}

static void puts_json(struct gen *g, const char *s)
{
	put(g, s, strlen(s));
}

/* `n` bytes of prose that begin and end between words. */
static void put_text(struct gen *g, size_t n)
{
	while (n > 0) {
		size_t at = next(g) % (TEXT / 2), part = n < TEXT / 2 ? n : TEXT / 2;
		size_t end = at + part;

		while (g->text[at] != ' ')
			at++;
		while (g->text[end] != ' ')
			end++;
		if (end > at)
			put(g, g->text + at, end - at);
		n -= part;
	}
}

/* The id of entry number k, a version 4 UUID. */
static void make_id(uint64_t k, char out[37])
{
	struct gen own = { .state = k * 0xd1342543de82ef95u + 1 };
	uint64_t a = next(&own), b = next(&own);

	snprintf(out, 37, "%08" PRIx32 "-%04x-4%03x-%04x-%012" PRIx64, (uint32_t)(a >> 32),
		(unsigned)(a >> 16) & 0xffff, (unsigned)a & 0xfff,
		0x8000u | ((unsigned)(b >> 48) & 0x3fff), b & 0xffffffffffffu);
}

static uint64_t parent_of(struct gen *g)
{
	if (g->shape == SHAPE_WIDE)
		return g->count > 1 ? 0 : g->last;
	if (g->shape == SHAPE_DEEP || g->in_turn || real(g) >= g->branch)
		return g->last;
	/* People go back a little, mostly. */
	return g->last - next(g) % (g->last < 200 ? g->last + 1 : 200);
}

static void put_head(struct gen *g, const char *role)
{
	char id[37], head[256];
	uint64_t parent = parent_of(g);

	make_id(g->count, id);
	if (g->count > 0) {
		char parent_id[37];

		make_id(parent, parent_id);
		snprintf(head, sizeof(head), "{\"id\":\"%s\",\"parentId\":\"%s\",\"role\":\"%s\",\"content\":\"",
			id, parent_id, role);
	} else {
		snprintf(head, sizeof(head), "{\"id\":\"%s\",\"role\":\"%s\",\"content\":\"", id, role);
	}
	puts_json(g, head);
}

static void put_tail(struct gen *g, const char *metadata)
{
	char tail[64];

	g->time += 200 + (int64_t)(next(g) % 9000);
	snprintf(tail, sizeof(tail), "\",\"timestamp\":%" PRId64, g->time);
	puts_json(g, tail);
	puts_json(g, metadata);
	puts_json(g, "}");
	g->last = g->count++;
}

static void put_entry(struct gen *g)
{
	static const char call[] = ",\"metadata\":{\"replay\":\"false\",\"toolCalls\":\"[{\\\"id\\\":\\\"call_1\\\","
		"\\\"name\\\":\\\"read_file\\\",\\\"argumentsJson\\\":\\\"{\\\\\\\"path\\\\\\\": \\\\\\\"src/cache.c\\\\\\\"}\\\"}]\"}";
	static const char result[] = ",\"metadata\":{\"replay\":\"false\",\"toolCallId\":\"call_1\",\"toolName\":\"read_file\"}";
	bool agent = g->shape == SHAPE_AGENT;

	if (g->count)
		puts_json(g, "\n");
	if (g->count == 0) {
		put_head(g, "SYSTEM");
		put_text(g, 900);
		put_tail(g, "");
	} else if (g->in_turn) {
		bool is_result = g->in_turn-- % 2 == 1;

		put_head(g, is_result ? "TOOL_RESULT" : "ASSISTANT");
		put_text(g, is_result ? size_of(g, 9000) : size_of(g, 120));
		put_tail(g, is_result ? result : call);
	} else if (g->count % 2) {
		put_head(g, "USER");
		put_text(g, size_of(g, agent ? 300 : 220));
		put_tail(g, "");
		if (agent)
			g->in_turn = 2 * (unsigned)(1 + next(g) % 8);
	} else {
		put_head(g, "ASSISTANT");
		put_text(g, size_of(g, agent ? 1800 : 420));
		put_tail(g, "");
	}
}

static void put_huge(struct gen *g)
{
	puts_json(g, "\n");
	put_head(g, "TOOL_RESULT");
	put_text(g, HUGE_LINE);
	put_tail(g, "");
}

static uint64_t number(const char *s)
{
	char *end;
	uint64_t n = strtoull(s, &end, 10);

	switch (*end) {
	case 'G':
		return n << 30;
	case 'M':
		return n << 20;
	case 'K':
		return n << 10;
	default:
		return n;
	}
}

static bool parse(struct gen *g, int argc, char **argv)
{
	static const char *const shapes[] = { "agent", "chat", "deep", "wide" };
	int opt;

	while ((opt = getopt(argc, argv, "n:b:s:p:u:r:o:c:")) != -1) {
		switch (opt) {
		case 'n':
			g->entries = number(optarg);
			break;
		case 'b':
			g->bytes = number(optarg);
			break;
		case 's':
			for (size_t i = 0; i < 4; i++)
				if (!strcmp(optarg, shapes[i]))
					g->shape = (enum shape)i;
			break;
		case 'p':
			g->branch = strtod(optarg, NULL);
			break;
		case 'u':
			g->huge = (unsigned)number(optarg);
			break;
		case 'o':
			g->dir = optarg;
			break;
		case 'c':
			g->files = number(optarg);
			break;
		case 'r':
			g->state = number(optarg);
			break;
		default:
			return false;
		}
	}
	return optind == argc && (g->entries || g->bytes) && !g->dir == !g->files;
}

static void put_session(struct gen *g)
{
	unsigned huge = 0;

	g->count = g->written = g->last = 0;
	g->in_turn = 0;
	while (g->entries ? g->count < g->entries : g->written < g->bytes) {
		put_entry(g);
		if (huge < g->huge && g->bytes && g->written >= g->bytes / (g->huge + 1) * (huge + 1)) {
			put_huge(g);
			huge++;
		}
	}
}

/* Ids repeat from file to file, as in forked sessions; the names do not. */
static void put_many(struct gen *g)
{
	for (uint64_t i = 0; i < g->files; i++) {
		char path[4096], id[37];

		make_id(UINT32_MAX + i, id);
		snprintf(path, sizeof(path), "%s/%s.jsonl", g->dir, id);
		if (!freopen(path, "w", stdout)) {
			perror(path);
			exit(1);
		}
		put_session(g);
	}
}

int main(int argc, char **argv)
{
	struct gen g = { .state = 1, .branch = 0.02, .time = 1790000000000 };

	if (!parse(&g, argc, argv)) {
		fputs("usage: gen -n ENTRIES | -b BYTES[KMG] [-s agent|chat|deep|wide] [-p BRANCH] "
			"[-u HUGE-LINES] [-r SEED] [-o DIR -c FILES]\n", stderr);
		return 2;
	}
	make_text(&g);
	if (g.dir)
		put_many(&g);
	else
		put_session(&g);
	free(g.text);
	return fflush(stdout) ? 1 : 0;
}
