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

/* The usual list: plain numbers without a space. False: look closer. */
static bool walk_plain(struct str list, uint64_t seq, struct dsh_sources *out)
{
	const char *p = list.p + 1, *end = list.p + list.n - 1;
	uint64_t last = 0, n = 0;

	for (; p < end; p++) {
		const char *digits = p;
		uint64_t v = 0;

		while (p < end && *p >= '0' && *p <= '9' && p - digits < 15)
			v = v * 10 + (uint64_t)(*p++ - '0');
		if (p == digits || (p < end && *p != ','))
			return false;
		out->is_rising = out->is_rising && (n == 0 || v > last);
		out->max = v > out->max ? v : out->max;
		last = v;
		n++;
	}
	out->is_empty = n == 0;
	return n <= seq;
}

static const char *walk_any(struct str list, bool has_seq, uint64_t seq, struct dsh_sources *out)
{
	uint64_t a, b, last = 0, total = 0;
	struct json_iter it;
	struct str none, value;

	json_iter_init(&it, list);
	while (json_iter_next(&it, &none, &value)) {
		bool is_pair;

		if (!read_entry(value, &a, &b, &is_pair))
			return "sourceEventSeqs holds something else than seqs and ranges";
		out->has_pairs = out->has_pairs || is_pair;
		total += b - a + 1;
		if (has_seq && total > seq)
			return "sourceEventSeqs is longer than the event's seq allows";
		out->is_rising = out->is_rising && (out->is_empty || a > last);
		out->is_empty = false;
		out->max = b > out->max ? b : out->max;
		last = b;
	}
	if (out->has_pairs && !out->is_rising)
		return "the ranges of sourceEventSeqs are not in order";
	return out->has_pairs && !has_seq ? "ranges in an event without a seq" : NULL;
}

const char *ranges_check(struct str list, bool has_seq, uint64_t seq, struct dsh_sources *out)
{
	*out = (struct dsh_sources){ .is_rising = true, .is_empty = true };
	if (has_seq && walk_plain(list, seq, out))
		return NULL;
	*out = (struct dsh_sources){ .is_rising = true, .is_empty = true };
	return walk_any(list, has_seq, seq, out);
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
