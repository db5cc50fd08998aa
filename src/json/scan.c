/*
 * scan.c - one pass over one JSON value: syntax, UTF-8, depth, and where the
 * wanted members stand. The grammar is written once; what goes over the bytes
 * of strings and white space exists twice, by words and by bytes, and the
 * compiler makes its scanners of it. Nothing is decoded and nothing allocated.
 */
#include "config.h"

#include "json/scan.h"

#include <string.h>

#include "json/bytes.h"
#include "json/value.h"

#define INLINE static inline __attribute__((always_inline))

/* The scanners that are made of the one grammar. */
enum how { BY_BYTES, BY_WORDS, LENIENT };

static const char too_deep[] = "nested over 256 deep";

/* Where a scan stopped. A fault at the end of the bytes means that they are too short. */
struct fault {
	const char *at;
	const char *reason;
};

static __attribute__((noinline, cold)) const char *fail(
	struct fault *f, const char *at, const char *reason)
{
	f->at = at;
	f->reason = reason;
	return NULL;
}

/* Behind the backslash at s[-1]: the place behind the escape. */
static const char *escape(struct fault *f, const char *s, const char *end)
{
	int i;

	if (s == end)
		return fail(f, s, "ends inside an escape");
	switch (*s) {
	case '"':
	case '\\':
	case '/':
	case 'b':
	case 'f':
	case 'n':
	case 'r':
	case 't':
		return s + 1;
	case 'u':
		for (i = 1; i <= 4; i++) {
			if (s + i == end)
				return fail(f, end, "ends inside an escape");
			if (bytes_hex(s[i]) < 0)
				return fail(f, s + i, "expected a hex digit");
		}
		return s + 5;
	default:
		return fail(f, s, "unknown escape");
	}
}

/* ---- strings by words ---- */

enum { LETTER = 1, HEX = 2 };

/* What may stand behind a backslash (but 'u'), and behind "\\u". */
static const unsigned char escape_class[256] = {
	['"'] = LETTER,
	['\\'] = LETTER,
	['/'] = LETTER,
	['n'] = LETTER,
	['r'] = LETTER,
	['t'] = LETTER,
	['b'] = LETTER | HEX,
	['f'] = LETTER | HEX,
	['a'] = HEX,
	['c'] = HEX,
	['d'] = HEX,
	['e'] = HEX,
	['A'] = HEX,
	['B'] = HEX,
	['C'] = HEX,
	['D'] = HEX,
	['E'] = HEX,
	['F'] = HEX,
	['0'] = HEX,
	['1'] = HEX,
	['2'] = HEX,
	['3'] = HEX,
	['4'] = HEX,
	['5'] = HEX,
	['6'] = HEX,
	['7'] = HEX,
	['8'] = HEX,
	['9'] = HEX,
};

/* escape() by a table; damage and the end of the bytes are left to it. */
INLINE const char *escape_fast(struct fault *f, const char *s, const char *end)
{
	const unsigned char *u = (const unsigned char *)s;

	if (end - s < 5)
		return escape(f, s, end);
	if (escape_class[u[0]] & LETTER)
		return s + 1;
	if (u[0] == 'u' && (escape_class[u[1]] & escape_class[u[2]] & escape_class[u[3]] &
				   escape_class[u[4]] & HEX))
		return s + 5;
	return escape(f, s, end);
}

/* What is left when fewer than four bytes are, or when they are no sequence. */
static __attribute__((noinline)) const char *sequence_slow(
	struct fault *f, const char *s, const char *end)
{
	unsigned char b = (unsigned char)s[0], lo = 0x80, hi = 0xBF;
	int len = b < 0xE0 ? 2 : b < 0xF0 ? 3 : 4, i;

	if (b < 0xC2 || b > 0xF4)
		return fail(f, s, "invalid UTF-8");
	if (b == 0xE0)
		lo = 0xA0;
	else if (b == 0xED)
		hi = 0x9F;
	else if (b == 0xF0)
		lo = 0x90;
	else if (b == 0xF4)
		hi = 0x8F;
	for (i = 1; i < len; i++, lo = 0x80, hi = 0xBF) {
		if (s + i == end)
			return fail(f, end, "ends inside a UTF-8 sequence");
		if ((unsigned char)s[i] < lo || (unsigned char)s[i] > hi)
			return fail(f, s, "invalid UTF-8");
	}
	return s + len;
}

/* One UTF-8 sequence at s, whose first byte is 0x80 or above. */
INLINE const char *sequence(struct fault *f, const char *s, const char *end)
{
	unsigned b0 = (unsigned char)s[0];
	uint32_t rest;

	if (end - s < 4)
		return sequence_slow(f, s, end);
	rest = (uint32_t)(unsigned char)s[1] << 16 | (uint32_t)(unsigned char)s[2] << 8 |
	       (unsigned char)s[3];
	if (b0 >= 0xC2 && b0 < 0xE0 && (rest & 0xC00000) == 0x800000)
		return s + 2;
	/* Neither the short lead of three bytes nor the one of surrogates. */
	if (b0 > 0xE0 && b0 < 0xF0 && b0 != 0xED && (rest & 0xC0C000) == 0x808000)
		return s + 3;
	return sequence_slow(f, s, end);
}

/* All sequences from s on, whose first byte is 0x80 or above. */
INLINE const char *sequences(struct fault *f, const char *s, const char *end)
{
	do {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		/* Two of three bytes each at a time: most of the scripts of Asia. */
		while (end - s >= 8) {
			uint64_t word = bytes_load(s);
			/* By the low half of a lead byte: all but E0 and ED. */
			unsigned lead_ok = 0xDFFEu >> (word & 15) & 0xDFFEu >> (word >> 24 & 15);

			if ((word & 0xC0C0F0C0C0F0u) != 0x8080E08080E0u || !(lead_ok & 1))
				break;
			s += 6;
		}
		if ((unsigned char)*s < 0x80)
			return s;
#endif
		s = sequence(f, s, end);
	} while (s && s != end && (unsigned char)*s >= 0x80);
	return s;
}

/* Behind the opening quote: the place behind the closing one. */
INLINE const char *string_words(
	struct fault *f, const char *s, const char *end, bool *escaped, bool lenient)
{
	for (;;) {
		unsigned char c;

		while (end - s >= 8) {
			uint64_t found = bytes_special(bytes_load(s));

			if (found) {
				s += bytes_first(found);
				break;
			}
			s += 8;
		}
		if (s == end)
			return fail(f, s, "ends inside a string");
		c = (unsigned char)*s;
		if (c == '"')
			return s + 1;
		if (c == '\\') {
			*escaped = true;
			s = escape_fast(f, s + 1, end);
		} else if (c >= 0x80) {
			s = lenient ? s + 1 : sequences(f, s, end);
		} else if (c < 0x20) {
			return fail(f, s, "control character in a string");
		} else {
			s++;
		}
		if (!s)
			return NULL;
	}
}

const char *json_string_end(const char *p, const char *end)
{
	struct fault f;
	bool escaped;

	return string_words(&f, p, end, &escaped, false);
}

INLINE const char *space_words(const char *s, const char *end)
{
	/* Between the tokens of compact text there is none. */
	if (s != end && (unsigned char)*s > ' ')
		return s;
	for (;;) {
		while (end - s >= 8 && bytes_load(s) == BYTES_ONES * ' ')
			s += 8;
		if (s == end || !bytes_is_space(*s))
			return s;
		s++;
	}
}

/* ---- strings by bytes ---- */

/* A state counts the continuation bytes that are due; the odd ones are picky about the next. */
enum utf8_state { U_START, U_1, U_2, U_3, U_E0, U_ED, U_F0, U_F4, U_BAD };

static enum utf8_state utf8_step(enum utf8_state state, unsigned char b)
{
	switch (state) {
	case U_START:
		if (b < 0x80)
			return U_START;
		if (b >= 0xC2 && b <= 0xDF)
			return U_1;
		if (b == 0xE0 || b == 0xED)
			return b == 0xE0 ? U_E0 : U_ED;
		if (b >= 0xE1 && b <= 0xEF)
			return U_2;
		if (b == 0xF0 || b == 0xF4)
			return b == 0xF0 ? U_F0 : U_F4;
		return b >= 0xF1 && b <= 0xF3 ? U_3 : U_BAD;
	case U_1:
		return b >> 6 == 2 ? U_START : U_BAD;
	case U_2:
		return b >> 6 == 2 ? U_1 : U_BAD;
	case U_3:
		return b >> 6 == 2 ? U_2 : U_BAD;
	case U_E0:
		return b >> 5 == 5 ? U_1 : U_BAD;
	case U_ED:
		return b >> 5 == 4 ? U_1 : U_BAD;
	case U_F0:
		return b >> 6 == 2 && b >> 4 != 8 ? U_2 : U_BAD;
	case U_F4:
		return b >> 4 == 8 ? U_2 : U_BAD;
	default:
		return U_BAD;
	}
}

static const char *string_bytes(struct fault *f, const char *s, const char *end, bool *escaped)
{
	enum utf8_state state = U_START;
	const char *sequence_at = s;

	while (s != end) {
		unsigned char c = (unsigned char)*s;

		if (state == U_START)
			sequence_at = s;
		state = utf8_step(state, c);
		if (state == U_BAD)
			return fail(f, sequence_at, "invalid UTF-8");
		if (c == '"')
			return s + 1;
		if (c < 0x20)
			return fail(f, s, "control character in a string");
		s++;
		if (c == '\\') {
			*escaped = true;
			s = escape(f, s, end);
			if (!s)
				return NULL;
		}
	}
	return fail(
		f, s, state == U_START ? "ends inside a string" : "ends inside a UTF-8 sequence");
}

static const char *space_bytes(const char *s, const char *end)
{
	while (s != end && bytes_is_space(*s))
		s++;
	return s;
}

/* ---- the grammar, for all ---- */

INLINE const char *space(const char *s, const char *end, enum how how)
{
	return how == BY_BYTES ? space_bytes(s, end) : space_words(s, end);
}

/* The same where c is what stands there mostly. */
INLINE const char *space_before(const char *s, const char *end, char c, enum how how)
{
	return s != end && *s == c ? s : space(s, end, how);
}

INLINE const char *string(
	struct fault *f, const char *s, const char *end, bool *escaped, enum how how)
{
	return how == BY_BYTES ? string_bytes(f, s, end, escaped)
			       : string_words(f, s, end, escaped, how == LENIENT);
}

static const char *literal(struct fault *f, const char *s, const char *end, const char *word)
{
	for (; *word; word++, s++) {
		if (s == end)
			return fail(f, s, "ends inside a value");
		if (*s != *word)
			return fail(f, s, "expected a value");
	}
	return s;
}

INLINE bool is_digit(const char *s, const char *end)
{
	return s != end && *s >= '0' && *s <= '9';
}

static const char *digits(struct fault *f, const char *s, const char *end)
{
	if (!is_digit(s, end))
		return fail(f, s, s == end ? "ends inside a number" : "expected a digit");
	while (is_digit(s, end))
		s++;
	return s;
}

static const char *number(struct fault *f, const char *s, const char *end)
{
	if (*s == '-')
		s++;
	/* Nothing but a point or an exponent may follow a leading zero. */
	s = s != end && *s == '0' ? s + 1 : digits(f, s, end);
	if (s && s != end && *s == '.')
		s = digits(f, s + 1, end);
	if (s && s != end && (*s == 'e' || *s == 'E')) {
		s++;
		if (s != end && (*s == '+' || *s == '-'))
			s++;
		s = digits(f, s, end);
	}
	return s;
}

/* Most numbers are a few digits and nothing else. */
INLINE const char *number_fast(struct fault *f, const char *s, const char *end)
{
	const char *p = s;

	while (is_digit(p, end))
		p++;
	if (p == s || p == end || (*s == '0' && p != s + 1) || *p == '.' || (*p | 0x20) == 'e')
		return number(f, s, end);
	return p;
}

/* Any value but an object or a list. */
INLINE const char *scalar(
	struct fault *f, const char *s, const char *end, bool *escaped, enum how how)
{
	switch (*s) {
	case '"':
		return string(f, s + 1, end, escaped, how);
	case 't':
		return literal(f, s, end, "true");
	case 'f':
		return literal(f, s, end, "false");
	case 'n':
		return literal(f, s, end, "null");
	default:
		if (*s != '-' && (*s < '0' || *s > '9'))
			return fail(f, s, "expected a value");
		return how == BY_BYTES ? number(f, s, end) : number_fast(f, s, end);
	}
}

/* What the scan is looking for, and the member that it is in. */
struct target {
	const char *const *keys;
	size_t nkeys, next; /* the key after the one found last: members mostly come in order */
	struct json_field *fields;
	struct json_field *field; /* of the member at hand, NULL when nobody asked for it */
	const char *value;
	bool escaped;
};

static bool key_is(const char *key, const char *raw, size_t n)
{
	/* The raw bytes hold no NUL, so that this ends with the key at the latest. */
	while (n && *key == *raw) {
		key++;
		raw++;
		n--;
	}
	return n == 0 && *key == '\0';
}

/* The first key from i on, below `end`, that is raw[0..n); `end` when none is. */
INLINE size_t key_at(const struct target *t, size_t i, size_t end, const char *raw, size_t n)
{
	while (i < end && !key_is(t->keys[i], raw, n))
		i++;
	return i;
}

/* raw[0..n) is the key without its quotes. */
static __attribute__((noinline)) void find_key(struct target *t, const char *raw, size_t n, bool escaped)
{
	size_t i;

	t->field = NULL;
	if (escaped) {
		for (i = 0; i < t->nkeys; i++)
			if (json_string_eq((struct str){ raw - 1, n + 2 }, t->keys[i]))
				break;
	} else {
		i = key_at(t, t->next, t->nkeys, raw, n);
		if (i == t->nkeys) {
			i = key_at(t, 0, t->next, raw, n);
			i = i < t->next ? i : t->nkeys;
		}
	}
	if (i < t->nkeys) {
		t->field = &t->fields[i];
		t->next = i + 1;
	}
}

/*
 * Is the key at raw the one that comes next mostly? Then its end is known
 * without a look for the quote; NULL: it is another, or written in another way.
 */
INLINE const char *expected_key(struct target *t, const char *raw, const char *end)
{
	const char *key;

	if (t->next >= t->nkeys)
		return NULL;
	for (key = t->keys[t->next]; *key; key++, raw++)
		if (raw == end || *raw != *key)
			return NULL;
	if (raw == end || *raw != '"')
		return NULL;
	t->field = &t->fields[t->next++];
	return raw + 1;
}

/* A key and its colon; the place of the value. */
INLINE const char *member(
	struct fault *f, struct target *t, const char *s, const char *end, size_t depth, enum how how)
{
	const char *key = s + 1;
	bool escaped = false;

	if (s == end || *s != '"')
		return fail(f, s, "expected a key");
	s = how != BY_BYTES && depth == 1 ? expected_key(t, key, end) : NULL;
	if (!s) {
		s = string(f, key, end, &escaped, how);
		if (!s)
			return NULL;
		if (depth == 1 && t->nkeys)
			find_key(t, key, (size_t)(s - 1 - key), escaped);
	}
	s = space_before(s, end, ':', how);
	if (s == end || *s != ':')
		return fail(f, s, "expected ':'");
	s = space(s + 1, end, how);
	if (depth == 1) {
		t->value = s;
		t->escaped = false;
	}
	return s;
}

INLINE void note_field(struct target *t, const char *from, const char *s)
{
	struct json_field *field = t->field;

	if (!field)
		return;
	field->repeated = field->type != JSON_NONE;
	field->off = (uint32_t)(t->value - from);
	field->len = (uint32_t)(s - t->value);
	field->type = (uint8_t)json_type_of((struct str){ t->value, field->len });
	field->escaped = t->escaped && field->type == JSON_STRING;
	t->field = NULL;
}

/* One value at s; the place behind it. from is what fields are counted from. */
INLINE const char *value(struct fault *f, struct target *t, const char *from, const char *s,
	const char *end, enum how how)
{
	char closers[JSON_MAX_DEPTH];
	size_t depth = 0;

	for (;;) {
		if (s != end && (*s == '{' || *s == '[')) {
			if (depth == JSON_MAX_DEPTH)
				return fail(f, s, too_deep);
			closers[depth++] = *s == '{' ? '}' : ']';
			s = space(s + 1, end, how);
			if (s == end || *s != closers[depth - 1]) {
				if (closers[depth - 1] == '}')
					s = member(f, t, s, end, depth, how);
				if (!s)
					return NULL;
				continue;
			}
		} else {
			if (s == end)
				return fail(f, s, "expected a value");
			s = scalar(f, s, end, &t->escaped, how);
			if (!s || depth == 0)
				return s;
			if (depth == 1)
				note_field(t, from, s);
			s = space_before(s, end, ',', how);
		}
		/* Behind a value, or at the end of an empty container. */
		while (s != end && *s == closers[depth - 1]) {
			s++;
			if (--depth == 0)
				return s;
			if (depth == 1)
				note_field(t, from, s);
			s = space_before(s, end, ',', how);
		}
		if (s == end || *s != ',')
			return fail(f, s,
				closers[depth - 1] == '}' ? "expected ',' or '}'"
							  : "expected ',' or ']'");
		s = space_before(s + 1, end, '"', how);
		if (closers[depth - 1] == '}')
			s = member(f, t, s, end, depth, how);
		if (!s)
			return NULL;
	}
}

INLINE enum json_status scan(const char *p, size_t n, const char *const *keys, size_t nkeys,
	bool only_object, struct json_scan *out, enum how how)
{
	struct target t = { .keys = keys, .nkeys = nkeys, .fields = out->field };
	struct fault f = { NULL, NULL };
	const char *end, *s;

	if (!p)
		p = ""; /* an empty slice */
	end = p + n;
	memset(out, 0, offsetof(struct json_scan, field) + nkeys * sizeof(out->field[0]));
	if (n > UINT32_MAX) {
		out->reason = "over 4 GiB";
		return JSON_BAD;
	}
	s = n ? space(p, end, how) : p;
	out->start = out->end = (size_t)(s - p);
	if (s == end)
		return JSON_END;
	if (only_object && *s != '{')
		s = fail(&f, s, "expected an object");
	else
		s = value(&f, &t, p, s, end, how);
	if (!s) {
		out->error_at = (size_t)(f.at - p);
		out->reason = f.reason;
		out->is_deep = f.reason == too_deep;
		return f.at == end ? JSON_SHORT : JSON_BAD;
	}
	out->end = (size_t)(s - p);
	return JSON_OK;
}

enum json_status json_scan(
	const char *p, size_t n, const char *const *keys, size_t nkeys, struct json_scan *out)
{
	return scan(p, n, keys, nkeys, true, out, BY_WORDS);
}

enum json_status json_scan_bytewise(
	const char *p, size_t n, const char *const *keys, size_t nkeys, struct json_scan *out)
{
	return scan(p, n, keys, nkeys, true, out, BY_BYTES);
}

bool json_is_blank(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && bytes_is_space(p[i]))
		i++;
	return i == n;
}

enum json_status json_scan_value(const char *p, size_t n, struct json_scan *out)
{
	return scan(p, n, NULL, 0, false, out, BY_WORDS);
}

enum json_status json_scan_lenient(
	const char *p, size_t n, const char *const *keys, size_t nkeys, struct json_scan *out)
{
	return scan(p, n, keys, nkeys, false, out, LENIENT);
}

