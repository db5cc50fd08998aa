/*
 * gen-json.c - lines of JSON from a seed, valid ones and damaged ones.
 */
#include "config.h"

#include "tests/unit/gen-json.h"

#include <string.h>

static uint64_t seed;

void gen_seed(uint64_t value)
{
	seed = value * 0x9E3779B97F4A7C15u;
}

uint32_t gen_rnd(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) % below);
}

static void gen_string(struct buf *b)
{
	static const char *const parts[] = { "word", " and some more words in a row", "\\n", "\\\"",
		"\\u00e9", "\\ud83d\\ude00", "\\ud800", "\xC3\xA9", "\xE6\xBC\xA2\xE5\xAD\x97",
		"\xF0\x9F\x98\x80", "\\\\", "x", "0123456", "\xED\x95\x9C\xEA\xB5\xAD",
		"\xE0\xA4\x95\xE0\xA5\x8D", "\xD0\xB4\xD0\xB0" };
	uint32_t n = gen_rnd(6);

	buf_addc(b, '"');
	while (n--)
		buf_adds(b, parts[gen_rnd(sizeof(parts) / sizeof(parts[0]))]);
	buf_addc(b, '"');
}

static void gen_space(struct buf *b)
{
	static const char *const spaces[] = { " ", "\t", "\r\n", "          ",
		"                  \t" };

	if (gen_rnd(8) == 0)
		buf_adds(b, spaces[gen_rnd(5)]);
}

static void gen_value(struct buf *b, int depth)
{
	static const char *const scalars[] = { "0", "-1", "1.5", "1e9", "-0.0E-7",
		"12345678901234567890", "true", "false", "null" };
	uint32_t kind = gen_rnd(depth < 4 ? 10 : 7), n = gen_rnd(4), i;

	if (kind < 3) {
		buf_adds(b, scalars[gen_rnd(9)]);
	} else if (kind < 7) {
		gen_string(b);
	} else {
		bool object = kind < 9;

		buf_addc(b, object ? '{' : '[');
		gen_space(b);
		for (i = 0; i < n; i++) {
			buf_adds(b, i ? "," : "");
			gen_space(b);
			if (object) {
				gen_string(b);
				buf_addc(b, ':');
				gen_space(b);
			}
			gen_value(b, depth + 1);
			gen_space(b);
		}
		buf_addc(b, object ? '}' : ']');
	}
}

void gen_line(struct buf *b)
{
	static const char *const names[] = { "\"id\"", "\"parentId\"", "\"role\"", "\"content\"",
		"\"\\u0069d\"", "\"caf\\u00e9\"", "\"\"", "\"metadata\"" };
	uint32_t n = gen_rnd(6), i;

	gen_space(b);
	buf_addc(b, '{');
	for (i = 0; i < n; i++) {
		buf_adds(b, i ? "," : "");
		gen_space(b);
		if (gen_rnd(6))
			buf_adds(b, names[gen_rnd(8)]);
		else
			gen_string(b);
		gen_space(b);
		buf_addc(b, ':');
		gen_value(b, 1);
		gen_space(b);
	}
	buf_addc(b, '}');
}

void gen_mutate(struct buf *b)
{
	static const char likely[] =
		"{}[]:,\"\\u0eE.-+tfn \t\x80\xBF\xC3\xE0\xED\xF0\xF4\x01\x1F\x7F";
	uint32_t at = gen_rnd((uint32_t)b->n), n;

	switch (gen_rnd(5)) {
	case 0:
		b->p[at] = likely[gen_rnd(sizeof(likely))];
		break;
	case 1:
		b->p[at] ^= (char)(1 << gen_rnd(8));
		break;
	case 2:
		b->n = at;
		break;
	case 3:
		n = 1 + gen_rnd(8);
		if (n > b->n - at)
			n = (uint32_t)b->n - at;
		memmove(b->p + at, b->p + at + n, b->n - at - n);
		b->n -= n;
		break;
	default:
		buf_addc(b, 0);
		memmove(b->p + at + 1, b->p + at, b->n - at - 1);
		b->p[at] = likely[gen_rnd(sizeof(likely))];
		break;
	}
}
