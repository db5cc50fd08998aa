/*
 * ranges.c - lists of source seqs, in which later writers store runs as pairs.
 */
#include "config.h"

#include "format/dsh/internal.h"

/* One entry of a list: a..b, a == b for a number. */
static bool read_entry(struct str raw, uint64_t *a, uint64_t *b, bool *is_pair)
{
	struct json_iter it;
	struct str none, value;

	*is_pair = json_type_of(raw) == JSON_LIST;
	if (!*is_pair) {
		if (!num_count(raw, a))
			return false;
		*b = *a;
		return true;
	}
	json_iter_init(&it, raw);
	if (!json_iter_next(&it, &none, &value) || !num_count(value, a) ||
		!json_iter_next(&it, &none, &value) || !num_count(value, b))
		return false;
	return *a <= *b && !json_iter_next(&it, &none, &value);
}

const char *ranges_check(struct str list, bool has_seq, uint64_t seq, bool *has_pairs)
{
	bool is_rising = true, is_first = true;
	uint64_t a, b, last = 0, total = 0;
	struct json_iter it;
	struct str none, value;

	*has_pairs = false;
	json_iter_init(&it, list);
	while (json_iter_next(&it, &none, &value)) {
		bool is_pair;

		if (!read_entry(value, &a, &b, &is_pair))
			return "sourceEventSeqs holds something else than seqs and ranges";
		*has_pairs = *has_pairs || is_pair;
		total += b - a + 1;
		if (has_seq && total > seq)
			return "sourceEventSeqs is longer than the event's seq allows";
		is_rising = is_rising && (is_first || a > last);
		is_first = false;
		last = b;
	}
	if (*has_pairs && !is_rising)
		return "the ranges of sourceEventSeqs are not in order";
	return *has_pairs && !has_seq ? "ranges in an event without a seq" : NULL;
}

void ranges_expand(struct str list, struct buf *out)
{
	struct json_iter it;
	struct str none, value;

	buf_addc(out, '[');
	json_iter_init(&it, list);
	while (json_iter_next(&it, &none, &value)) {
		uint64_t a = 0, b = 0;
		bool is_pair;

		read_entry(value, &a, &b, &is_pair);
		for (; a <= b; a++) {
			if (out->p[out->n - 1] != '[')
				buf_addc(out, ',');
			json_put_int(out, (int64_t)a);
		}
	}
	buf_addc(out, ']');
}
