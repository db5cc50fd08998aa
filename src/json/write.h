/*
 * write.h - compact JSON text, byte for byte as the formats' own writers do.
 *
 * Strings: `"` and `\` escaped, \b \t \n \f \r, other bytes below U+0020 as
 * \u00xx in lower case; everything else raw UTF-8 (formats/tree.md "An entry",
 * formats/dsh.md 2). Invalid UTF-8 becomes U+FFFD.
 */
#ifndef BOUGH_JSON_WRITE_H
#define BOUGH_JSON_WRITE_H

#include <stdint.h>

#include "base/buf.h"

void json_put_string(struct buf *out, struct str s); /* with its quotes */
void json_put_inside(struct buf *out, struct str s); /* without the quotes */
void json_put_cstr(struct buf *out, const char *s);
void json_put_int(struct buf *out, int64_t v);
/*
 * What JSON.stringify(JSON.parse(raw)) gives, of raw that the scanner accepted:
 * no spaces, of repeated keys the first place and the last value, keys that are
 * array indexes first, numbers in their shortest form (beyond the range of
 * double: null), escapes only where they are needed.
 */
void json_put_compact(struct buf *out, struct str raw);
void json_put_requoted(struct buf *out, struct str raw); /* one string, quotes included */
void json_put_number(struct buf *out, struct str raw);
/* ,"key": or "key": when the last byte is '{'. The key is ours and needs no escape. */
void json_put_key(struct buf *out, const char *key);

#endif
