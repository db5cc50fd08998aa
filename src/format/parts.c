/*
 * parts.c - raw JSON values into parts. What the values mean is the formats'
 * business.
 */
#include "config.h"

#include "format/parts.h"

#include "json/value.h"

struct str parts_decode(struct arena *a, struct str raw, size_t limit, bool *more)
{
	struct buf text = { 0 };
	size_t used = json_string(raw, &text, limit);

	if (more)
		*more = used < raw.n;
	return arena_take(a, &text);
}

void parts_set_text(
	struct content *c, struct part *part, struct arena *a, size_t limit, struct str raw)
{
	if (json_type_of(raw) == JSON_STRING) {
		part->text = parts_decode(a, raw, limit, &part->more);
		part->whole = raw.n - 2;
	} else {
		size_t n = raw.n < limit ? raw.n : limit;

		part->text = arena_keep(a, (struct str){ raw.p, n });
		part->whole = raw.n;
		part->more = n < raw.n;
	}
	c->more = c->more || part->more;
}

void parts_add_note(struct content *c, struct arena *a, const char *text)
{
	struct part *part = content_add(c, a, PART_NOTE);

	part->text = str_of(text);
	part->whole = part->text.n;
}
