/*
 * scan.h - check one JSON object in one pass and find its top-level members.
 *
 * The scanner builds no values and allocates nothing. It checks the whole
 * syntax (RFC 8259), strict UTF-8 and the depth, and notes where the members
 * that the caller asked for stand. It stops behind the object, so that the
 * caller can see what follows on the line (a second object that was glued on).
 *
 * json_scan() is the fast version (a word at a time inside strings);
 * json_scan_bytewise() is the plain one that it is tested against. Both give
 * the same result on every input.
 */
#ifndef BOUGH_JSON_SCAN_H
#define BOUGH_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define JSON_MAX_DEPTH 256 /* objects and lists open at once; formats/tree.md and sessionflow.md agree */
#define JSON_MAX_KEYS 32

enum json_type {
	JSON_NONE, /* not there */
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_OBJECT,
	JSON_LIST
};

struct json_field {
	uint32_t off;  /* of the value's first byte, from the start of the scanned bytes; a string's quote */
	uint32_t len;  /* of the raw value, quotes included */
	uint8_t type;  /* enum json_type */
	bool escaped;  /* a string that holds a backslash */
	bool repeated; /* the key came more than once; this is the last one */
};

enum json_status {
	JSON_OK,
	JSON_END,   /* only white space: no object here */
	JSON_SHORT, /* the bytes end inside the object: it may be torn */
	JSON_BAD    /* not a JSON object; `error_at` and `reason` say where and why */
};

struct json_scan {
	size_t start, end;    /* of the object: p[start] is '{', p[end - 1] is '}' */
	size_t error_at;      /* byte from p, for JSON_SHORT and JSON_BAD */
	const char *reason;   /* static text, "expected a value" */
	bool is_deep;         /* JSON_BAD because of JSON_MAX_DEPTH */
	struct json_field field[JSON_MAX_KEYS]; /* in the order of the caller's keys */
};

/*
 * Scan one object at p[0..n), leading white space (space, tab, CR, LF)
 * allowed. n must be below 2^32. Keys are C strings compared after unescaping;
 * nkeys <= JSON_MAX_KEYS.
 */
enum json_status json_scan(const char *p, size_t n, const char *const *keys, size_t nkeys,
	struct json_scan *out);
enum json_status json_scan_bytewise(const char *p, size_t n, const char *const *keys, size_t nkeys,
	struct json_scan *out);

/* The same check for any one JSON value (list, string, number ...); `end` is behind it. */
enum json_status json_scan_value(const char *p, size_t n, struct json_scan *out);
bool json_is_blank(const char *p, size_t n); /* nothing but white space as JSON has it */

/*
 * Any one value; of an object the members that are asked for. Bytes that are
 * no UTF-8 are let pass in strings: who decodes them makes U+FFFD of each.
 */
enum json_status json_scan_lenient(const char *p, size_t n, const char *const *keys, size_t nkeys,
	struct json_scan *out);

/*
 * For who knows the layout and needs the scanner for strings only: p stands
 * behind an opening quote; the place behind the closing one, NULL when the
 * bytes up to `end` hold no good string.
 */
const char *json_string_end(const char *p, const char *end);

/* The raw bytes of a field. */
static inline struct str json_raw(const char *p, const struct json_field *f)
{
	return (struct str){ p + f->off, f->len };
}

#endif
