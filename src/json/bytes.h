/*
 * bytes.h - finding the bytes that matter inside a JSON string, eight at a
 * time, and reading one escape. Private to src/json.
 */
#ifndef BOUGH_JSON_BYTES_H
#define BOUGH_JSON_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BYTES_ONES  0x0101010101010101u
#define BYTES_HIGHS 0x8080808080808080u

static inline uint64_t bytes_load(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/*
 * Index in the word of the first byte whose top bit is set in a mask. Only the
 * first is exact: a borrow may have run into the bytes behind it.
 */
static inline size_t bytes_first(uint64_t mask)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (size_t)__builtin_ctzll(mask) / 8;
#else
	(void)mask;
	return 0;
#endif
}

/*
 * Top bits for '"', '\\', controls and bytes of UTF-8 sequences. Toggling bit 1
 * puts '"' just above the controls, so that one subtraction finds both.
 */
static inline uint64_t bytes_special(uint64_t word)
{
	uint64_t quote_or_control = (word ^ BYTES_ONES * 2) - BYTES_ONES * 0x21;
	uint64_t backslash = (word ^ BYTES_ONES * '\\') - BYTES_ONES;

	return (quote_or_control | backslash | word) & BYTES_HIGHS;
}

static inline uint64_t bytes_zero(uint64_t word)
{
	return (word - BYTES_ONES) & ~word & BYTES_HIGHS;
}

/* The first '"' or '\\' in p[0..n), or n. */
static inline size_t bytes_quote_or_backslash(const char *p, size_t n)
{
	size_t i = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	for (; n - i >= 8; i += 8) {
		uint64_t word = bytes_load(p + i);
		uint64_t found =
			bytes_zero(word ^ BYTES_ONES * '"') | bytes_zero(word ^ BYTES_ONES * '\\');

		if (found)
			return i + bytes_first(found);
	}
#endif
	while (i < n && p[i] != '"' && p[i] != '\\')
		i++;
	return i;
}

static inline int bytes_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static inline bool bytes_is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/*
 * The escape at p[0], a backslash: its length, 12 for a surrogate pair, or 0
 * when the bytes end inside it. U+FFFD for a lone surrogate or an unknown letter.
 */
size_t json_escape(const char *p, size_t n, uint32_t *cp);

#endif
