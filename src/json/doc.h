/*
 * doc.h - whole JSON documents: configuration, sidecars, and what --json prints.
 *
 * A thin layer over jansson, so that jansson is named nowhere else. A document
 * is built from values; adding a value to a container gives it away. Dumps
 * have sorted keys, UTF-8, control characters escaped, strings exact.
 */
#ifndef BOUGH_JSON_DOC_H
#define BOUGH_JSON_DOC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct json_t; /* jansson's type; opaque here */
typedef struct json_t json_doc;

json_doc *json_doc_object(void);
json_doc *json_doc_list(void);
json_doc *json_doc_string(struct str s); /* invalid UTF-8 becomes U+FFFD */
json_doc *json_doc_int(int64_t v);
json_doc *json_doc_uint(uint64_t v);
json_doc *json_doc_bool(bool v);
json_doc *json_doc_null(void);
void json_doc_set(json_doc *object, const char *key, json_doc *value_take);
void json_doc_set_str(json_doc *object, struct str key, json_doc *value_take);
void json_doc_add(json_doc *list, json_doc *value_take);
void json_doc_free(json_doc **doc);
/* indent 0: one line. No newline at the end. */
void json_doc_dump(const json_doc *doc, int indent, struct buf *out);

/*
 * Parse a document. Numbers are kept and dumped as they stand. `comments` allows lines whose first non-blank byte is '#'.
 * Duplicate keys: the last wins. NULL with err (line and column in the text) on damage.
 */
json_doc *json_doc_parse(struct str text, bool comments, struct err *err);
bool json_doc_is_object(const json_doc *doc);
bool json_doc_is_list(const json_doc *doc);
/* NULL when absent; borrowed. */
const json_doc *json_doc_get(const json_doc *object, const char *key);
bool json_doc_get_string(const json_doc *doc, struct str *out); /* false: not a string */
bool json_doc_get_int(const json_doc *doc, int64_t *out);
bool json_doc_get_bool(const json_doc *doc, bool *out);
size_t json_doc_count(const json_doc *container);
const json_doc *json_doc_at(const json_doc *list, size_t i);
/* Calls fn for each member in sorted key order; fn returns false to stop. */
void json_doc_each(const json_doc *object,
	bool (*fn)(struct str key, const json_doc *value, void *arg), void *arg);

#endif
