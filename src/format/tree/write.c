/*
 * write.c - an entry as text, byte for byte as SoPhi writes it: keys in a fixed
 * order, nothing between the tokens, defaults left out.
 */
#include "config.h"

#include "format/tree/tree.h"

#include "json/write.h"

static void put_metadata(struct buf *out, const struct meta *v, size_t n)
{
	json_put_key(out, "metadata");
	buf_addc(out, '{');
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_addc(out, ',');
		json_put_cstr(out, v[i].key);
		buf_addc(out, ':');
		json_put_string(out, v[i].value);
	}
	buf_addc(out, '}');
}

void tree_write_entry(struct buf *out, const struct tree_entry *e)
{
	buf_addc(out, '{');
	json_put_key(out, "id");
	json_put_string(out, e->id);
	if (e->parent.p) {
		json_put_key(out, "parentId");
		json_put_string(out, e->parent);
	}
	json_put_key(out, "role");
	json_put_string(out, e->role);
	json_put_key(out, "content");
	json_put_string(out, e->content);
	json_put_key(out, "timestamp");
	json_put_int(out, e->time);
	if (e->nmetadata)
		put_metadata(out, e->metadata, e->nmetadata);
	buf_addc(out, '}');
}
