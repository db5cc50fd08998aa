/*
 * fields.c - one entry taken apart so that it can be written again: for a retry
 * and for copies.
 */
#include "config.h"

#include "format/tree/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "format/parts.h"

/* A key of the metadata and where it stood among the members. */
struct member {
	struct meta meta;
	size_t at, first; /* of this member; of the first one with the key */
};

static int by_key(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = strcmp(x->meta.key, y->meta.key);

	return order ? order : x->at < y->at ? -1 : 1;
}

static int by_place(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return x->first < y->first ? -1 : 1;
}

/* Members with one key become one: the place of the first, the value of the last. */
static size_t unite(struct member *v, size_t n)
{
	size_t kept = 0;

	if (n > 1)
		qsort(v, n, sizeof(*v), by_key);
	for (size_t i = 0; i < n; i++) {
		if (kept && strcmp(v[kept - 1].meta.key, v[i].meta.key) == 0) {
			v[kept - 1].meta.value = v[i].meta.value;
		} else {
			v[kept] = v[i];
			v[kept++].first = v[i].at;
		}
	}
	if (kept > 1)
		qsort(v, kept, sizeof(*v), by_place);
	return kept;
}

static void read_metadata(struct str raw, struct arena *a, struct tree_fields *out)
{
	struct member *v = NULL;
	struct json_iter it;
	struct str key, value;
	size_t n = 0, cap = 0;
	struct meta *kept;

	json_iter_init(&it, raw);
	while (json_iter_next(&it, &key, &value)) {
		v = xgrow(v, &cap, n + 1, sizeof(*v));
		v[n] = (struct member){ .meta = { parts_decode(a, key, SIZE_MAX, NULL).p,
					     parts_decode(a, value, SIZE_MAX, NULL) },
			.at = n };
		n++;
	}
	n = unite(v, n);
	kept = arena_alloc(a, (n ? n : 1) * sizeof(*kept));
	for (size_t i = 0; i < n; i++)
		kept[i] = v[i].meta;
	free(v);
	out->metadata = kept;
	out->nmetadata = n;
}

int tree_read_fields(struct session *s, uint32_t entry, struct arena *a, struct tree_fields *out,
	struct err *err)
{
	struct tree_record rec;
	const struct json_field *f;
	int rc = tree_record_open(s, entry, SIZE_MAX, &rec, err);

	*out = (struct tree_fields){ 0 };
	if (rc < 0)
		goto out;
	f = rec.scan.field;
	json_string(json_raw(rec.p, &f[KEY_ID]), &out->id, SIZE_MAX);
	out->has_parent = f[KEY_PARENT].type == JSON_STRING;
	if (out->has_parent)
		json_string(json_raw(rec.p, &f[KEY_PARENT]), &out->parent, SIZE_MAX);
	json_string(json_raw(rec.p, &f[KEY_ROLE]), &out->role, SIZE_MAX);
	json_string(json_raw(rec.p, &f[KEY_CONTENT]), &out->content, SIZE_MAX);
	out->time = s->entries[entry].time;
	if (rec.metadata.n)
		read_metadata(rec.metadata, a, out);
out:
	tree_record_release(&rec);
	return rc;
}

void tree_fields_release(struct tree_fields *f)
{
	buf_release(&f->id);
	buf_release(&f->parent);
	buf_release(&f->role);
	buf_release(&f->content);
}
