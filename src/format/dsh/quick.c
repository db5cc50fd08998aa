/*
 * quick.c - most lines of a log are chunks, and writers put them down in one
 * way. Here such a line is checked in one pass, without looking for members;
 * whatever differs by a byte is left to record.c. Both must say the same of
 * every line (t-dsh-record.c).
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <string.h>

struct cursor {
	const char *p, *end;
};

static inline bool take(struct cursor *c, const char *word, size_t n)
{
	if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
		return false;
	c->p += n;
	return true;
}
#define TAKE(c, word) take(c, word, sizeof(word) - 1)

/* An integer of up to 15 digits without a sign or leading zeros. */
static inline bool take_count(struct cursor *c, int64_t *v)
{
	const char *start = c->p;

	*v = 0;
	while (c->p < c->end && *c->p >= '0' && *c->p <= '9')
		*v = (int64_t)((uint64_t)*v * 10 + (uint64_t)(*c->p++ - '0'));
	return c->p > start && c->p - start <= 15 && (*start != '0' || c->p - start == 1);
}

static inline bool take_string(struct cursor *c)
{
	if (c->p == c->end || *c->p != '"')
		return false;
	c->p = json_string_end(c->p + 1, c->end);
	return c->p != NULL;
}

/* ",\"data\":{\"turn\":1,\"step\":1," */
static bool take_place(struct cursor *c)
{
	int64_t number;

	return TAKE(c, ",\"data\":{\"turn\":") && take_count(c, &number) && TAKE(c, ",\"step\":") &&
	       take_count(c, &number);
}

static bool take_delta(struct cursor *c)
{
	bool is_call = false;
	int64_t index;

	if (!TAKE(c, ",\"chunk\":{\"type\":\""))
		return false;
	if (TAKE(c, "tool-call"))
		is_call = true;
	else if (!TAKE(c, "text") && !TAKE(c, "reasoning"))
		return false;
	if (!TAKE(c, "-delta\",\"index\":") || !take_count(c, &index))
		return false;
	if (is_call && (!TAKE(c, ",\"id\":") || !take_string(c)))
		return false;
	if (is_call && TAKE(c, ",\"name\":") && !take_string(c))
		return false;
	return (is_call ? TAKE(c, ",\"argumentsDelta\":") : TAKE(c, ",\"text\":")) &&
	       take_string(c) && TAKE(c, "}}}");
}

static bool parse_chunk(struct dsh_rec *r, struct cursor *c)
{
	int64_t seq;

	if (!TAKE(c, "assistant/chunk\",\"seq\":") || !take_count(c, &seq) ||
		!TAKE(c, ",\"time\":") || !take_count(c, &r->last_time) || !take_place(c) ||
		!take_delta(c) || c->p != c->end)
		return false;
	r->state = REC_EVENT;
	r->row = dsh_types; /* its first row is the chunk's */
	r->seq = (uint64_t)seq;
	r->count = 1;
	return true;
}

/* "]" ends the list. */
static bool take_times(struct cursor *c, int64_t *time, uint32_t *n)
{
	for (*n = 0; c->p < c->end && *c->p != ']'; (*n)++) {
		bool is_negative;
		int64_t step;

		if (*n && *c->p++ != ',')
			return false;
		is_negative = c->p < c->end && *c->p == '-';
		c->p += is_negative;
		if (!take_count(c, &step))
			return false;
		*time += is_negative ? -step : step;
		if (*time < -DSH_SAFE_MAX || *time > DSH_SAFE_MAX)
			return false;
	}
	return TAKE(c, "]");
}

static bool take_strings(struct cursor *c, uint32_t *n)
{
	for (*n = 0; c->p < c->end && *c->p != ']'; (*n)++)
		if ((*n && *c->p++ != ',') || !take_string(c))
			return false;
	return TAKE(c, "]");
}

static bool parse_row(struct dsh_rec *r, struct cursor *c)
{
	bool is_call = TAKE(c, "tool-call");
	int64_t seq, index;
	uint32_t ntimes;

	if (!is_call && !TAKE(c, "text") && !TAKE(c, "reasoning"))
		return false;
	if (!TAKE(c, "-chunks\",\"seq0\":") || !take_count(c, &seq) || !TAKE(c, ",\"time0\":") ||
		!take_count(c, &r->last_time) || !take_place(c) || !TAKE(c, ",\"index\":") ||
		!take_count(c, &index) || !TAKE(c, ",\"dt\":[") ||
		!take_times(c, &r->last_time, &ntimes))
		return false;
	if (is_call && (!TAKE(c, ",\"id\":") || !take_string(c)))
		return false;
	if (is_call && TAKE(c, ",\"name\":") && !take_string(c))
		return false;
	if (!(is_call ? TAKE(c, ",\"args\":[") : TAKE(c, ",\"texts\":[")) ||
		!take_strings(c, &r->count) || !TAKE(c, "}}") || c->p != c->end)
		return false;
	if (r->count == 0 || ntimes + 1 != r->count)
		return false;
	r->state = REC_PACKED;
	r->row = NULL;
	r->seq = (uint64_t)seq;
	return true;
}

bool quick_parse(struct dsh_rec *r, const char *p, size_t n)
{
	struct cursor c = { p, p + n };

	if (n > UINT32_MAX - 1 || !TAKE(&c, "{\"type\":\""))
		return false;
	if (!(*c.p == 'a' ? parse_chunk(r, &c) : (*c.p == 't' || *c.p == 'r') && parse_row(r, &c)))
		return false;
	r->type = T_CHUNK;
	r->p = p;
	r->has_seq = r->is_quick = true;
	r->is_lossy = r->has_sources = r->has_message = false;
	r->sources = (struct dsh_sources){ 0 };
	r->why = NULL;
	return true;
}
