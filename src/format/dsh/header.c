/*
 * header.c - the first line: what it must look like, and what is kept of it.
 * A header that is refused is kept as far as it says anything.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum {
	H_TYPE,
	H_VERSION,
	H_ID,
	H_CREATED,
	H_CWD,
	H_PARENT,
	H_SEED,
	H_ORIGIN,
	H_DEPTH,
	H_PRESET,
	H_SANDBOX,
	H_APPROVAL,
	H_COUNT
};
static const char *const keys[H_COUNT] = { "type", "version", "id", "createdAt", "cwd",
	"parentSession", "seedLength", "origin", "delegationDepth", "agentPreset", "sandboxMode",
	"approvalPolicy" };

static void refuse(struct dsh_header *h, const char *kind, const char *why)
{
	if (h->why)
		return;
	h->kind = kind;
	h->why = why;
}

static void keep(struct dsh_header *h, const struct str v[H_COUNT])
{
	buf_addc(&h->text, '{');
	for (int i = H_VERSION; i <= H_PRESET; i++) {
		if (!v[i].n)
			continue;
		json_put_key(&h->text, keys[i]);
		json_put_compact(&h->text, v[i]);
	}
	buf_addc(&h->text, '}');
	if (json_type_of(v[H_ID]) == JSON_STRING)
		json_put_requoted(&h->id, v[H_ID]);
	if (json_type_of(v[H_CWD]) == JSON_STRING)
		json_put_requoted(&h->cwd, v[H_CWD]);
}

static void check_version(struct dsh_header *h, struct str version)
{
	int64_t v;

	if (json_type_of(version) != JSON_NUMBER || (num_safe(version, &v) && v == 0))
		return;
	text_safe_array(h->version, sizeof(h->version), version.p, version.n);
	refuse(h, "unsupported",
		version.p[0] == '-'
			? "the log has a version below 0, which nobody reads"
			: "the log has another version than 0: it was written by a newer harness");
}

static void check_shape(struct dsh_header *h, const struct str v[H_COUNT])
{
	uint64_t n;
	const char *why = NULL;

	if (!json_string_eq(v[H_TYPE], "session") || json_type_of(v[H_VERSION]) != JSON_NUMBER)
		why = "the first line is not a session header";
	else if (json_type_of(v[H_ID]) != JSON_STRING)
		why = "the header has no id";
	else if (!num_count(v[H_CREATED], &n))
		why = "the header has no good createdAt";
	else if (!num_count(v[H_DEPTH], &n))
		why = "the header has no good delegationDepth";
	else if (v[H_ORIGIN].n && !json_string_eq(v[H_ORIGIN], "subagent"))
		why = "the header has an origin that is not \"subagent\"";
	else if (v[H_PRESET].n && json_type_of(v[H_PRESET]) != JSON_STRING)
		why = "the header has an agentPreset that is no string";
	h->is_shaped = !why;
	if (why)
		refuse(h, "bad-header", why);
}

static void check_members(struct dsh_header *h, const struct str v[H_COUNT])
{
	uint64_t n;

	if (v[H_SANDBOX].n || v[H_APPROVAL].n)
		refuse(h, "bad-header", "the header has retired policy members");
	if (v[H_CWD].n && json_type_of(v[H_CWD]) != JSON_STRING)
		refuse(h, "invalid", "the header's cwd must be a string");
	else if (v[H_CWD].n > 2 && v[H_CWD].p[1] != '/')
		refuse(h, "invalid", "the header's cwd must be an absolute path");
	if (v[H_PARENT].n && json_type_of(v[H_PARENT]) != JSON_STRING)
		refuse(h, "invalid", "the header's parentSession must be a string");
	if (v[H_SEED].n && !num_count(v[H_SEED], &n))
		refuse(h, "invalid", "the header's seedLength must be a count");
}

void header_parse(struct dsh_header *h, const char *p, size_t n)
{
	struct dsh_rec r = { 0 };
	struct json_scan sc;
	struct str v[H_COUNT];

	rec_parse(&r, p, n);
	if (r.state == REC_VALUE) {
		refuse(h, "bad-header", "the first line is not a session header");
		goto out;
	}
	/* A line may be JSON and yet no good event; so the object is looked at again. */
	if (json_scan(r.p, r.is_lossy ? r.own.n : n, keys, H_COUNT, &sc) != JSON_OK ||
		(r.state == REC_BAD && r.why && !strcmp(r.why, "more follows the object"))) {
		refuse(h, "bad-header", "the header line is not valid JSON");
		goto out;
	}
	for (int i = 0; i < H_COUNT; i++)
		v[i] = sc.field[i].type == JSON_NONE ? (struct str){ NULL, 0 }
						     : json_raw(r.p, &sc.field[i]);
	h->is_read = true;
	keep(h, v);
	check_version(h, v[H_VERSION]);
	check_shape(h, v);
	check_members(h, v);
out:
	rec_release(&r);
}

void header_release(struct dsh_header *h)
{
	buf_release(&h->text);
	buf_release(&h->id);
	buf_release(&h->cwd);
}
