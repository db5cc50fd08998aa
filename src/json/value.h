/*
 * value.h - typed values out of raw JSON that json_scan has accepted.
 *
 * All functions take the raw text of a value (struct str from json_raw or from
 * an iterator) and never recurse.
 */
#ifndef BOUGH_JSON_VALUE_H
#define BOUGH_JSON_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "json/scan.h"

/* jansson exports a json_string too, and both are linked into one program. */
#define json_string json_string_decode

extern const uint8_t json_types[256]; /* enum json_type, by the first byte of a value */

static inline enum json_type json_type_of(struct str raw)
{
	return raw.n ? (enum json_type)json_types[(unsigned char)*raw.p] : JSON_NONE;
}

/*
 * Append the decoded string to out, at most `limit` bytes (cut at a code
 * point; SIZE_MAX for all). A lone surrogate escape becomes U+FFFD, \u0000 a
 * NUL byte. raw may be a prefix of a string that ends anywhere: what is
 * complete is decoded. Returns the raw bytes used, so that decoding can go on:
 * pass the rest with json_string_more. The closing quote counts as used when
 * it is reached, so that the string is complete when nothing is left. A high
 * surrogate escape at the very end of a prefix waits for its other half.
 */
size_t json_string(struct str raw, struct buf *out, size_t limit);
/* The same from the middle of a string: raw has no opening quote. */
size_t json_string_more(struct str raw, struct buf *out, size_t limit);
bool json_string_eq(struct str raw, const char *s);

/* An integer literal (no fraction, no exponent) that fits; false otherwise. */
bool json_int64(struct str raw, int64_t *out);
bool json_uint64(struct str raw, uint64_t *out);

/* Walk the members of an object or the items of a list, in order. */
struct json_iter {
	const char *p, *end;
	bool is_object, started, bad;
};
void json_iter_init(struct json_iter *it, struct str raw); /* not a container: yields nothing */
/* key is the raw quoted key (empty for lists). false at the end. */
bool json_iter_next(struct json_iter *it, struct str *key, struct str *value);
/* The last member called `key` of an object; empty slice when there is none. */
struct str json_get(struct str object, const char *key);
/* The same for several keys in one walk; out[i] is that of keys[i]. */
void json_pick(struct str object, const char *const *keys, size_t nkeys, struct str *out);

/*
 * Append raw with line breaks and `indent` spaces a level, strings kept as
 * written but for escapes of printable non-ASCII characters. Stops after
 * `limit` bytes of output (returns false then). JSON that is cut off is laid
 * out as far as it goes; text that is no JSON is appended as it is.
 */
bool json_pretty(struct buf *out, struct str raw, int indent, size_t limit);

#endif
