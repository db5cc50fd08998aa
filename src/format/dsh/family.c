/*
 * family.c - sessions and those they came from: is the parent there, is the
 * fork point inside it, are the inherited events the parent's? Parents are
 * looked up among the sessions of the root that holds the log; nothing but
 * verify asks.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/xalloc.h"

#define LINEAGE "lineage", 1, 0, 0, ENTRY_NONE

enum { SCAN_MAX = 4096, GENERATIONS_MAX = 1000 };

struct kin {
	char *id, *path;
};

struct dsh_family {
	char *root;
	struct kin *v;
	size_t n, cap;
};

static void forget(struct dsh_family *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].id);
		free(f->v[i].path);
	}
	f->n = 0;
	free(f->root);
	f->root = NULL;
}

struct dsh_family *dsh_family_new(void)
{
	return xcalloc(1, sizeof(struct dsh_family));
}

void dsh_family_free(struct dsh_family **f)
{
	if (!*f)
		return;
	forget(*f);
	free((*f)->v);
	free(*f);
	*f = NULL;
}

/* ---- the sessions of a root ---- */

static void on_found(const struct found *found, void *arg)
{
	struct dsh_family *f = arg;

	f->v = xgrow(f->v, &f->cap, f->n + 1, sizeof(*f->v));
	f->v[f->n++] = (struct kin){ xstrdup(found->id), xstrdup(found->path) };
}

static int by_id(const void *a, const void *b)
{
	const struct kin *x = a, *y = b;
	int order = strcmp(x->id, y->id);

	return order ? order : strcmp(x->path, y->path);
}

static void look(struct dsh_family *f, const char *path)
{
	char *root = dsh_root_of(path);
	uint64_t pos = 0;

	if (f->root && strcmp(f->root, root) == 0) {
		free(root);
		return;
	}
	forget(f);
	f->root = root;
	while (dsh_scan(root, &pos, SCAN_MAX, on_found, f, NULL) == 1)
		;
	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), by_id);
}

/* The first session of the id, and how many have it. */
static const struct kin *find(const struct dsh_family *f, const char *id, size_t *same)
{
	size_t lo = 0, hi = f->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(f->v[mid].id, id) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (*same = 0; lo + *same < f->n && strcmp(f->v[lo + *same].id, id) == 0;)
		++*same;
	return *same ? &f->v[lo] : NULL;
}

/* ---- what the header says ---- */

static bool meta_count(const struct session *s, const char *key, uint64_t *out)
{
	const struct str *text = session_meta(s, key);

	return text && num_count(*text, out);
}

static char *parent_of(const struct session *s)
{
	const struct str *id = session_meta(s, "parentSessionId");

	return id ? xstrndup(id->p, id->n) : NULL;
}

static char *parent_of_path(const char *path)
{
	struct session *s = NULL;
	char *id = NULL;

	if (dsh_open(path, &s, NULL) == 0)
		id = parent_of(s);
	session_free(&s);
	return id;
}

static void check_cycle(struct dsh_family *f, struct session *s, const char *parent)
{
	char *at = xstrdup(parent);

	for (int i = 0; at && i < GENERATIONS_MAX; i++) {
		size_t same;
		const struct kin *kin = find(f, at, &same);
		char *next;

		if (strcmp(at, s->id) == 0) {
			dsh_problem(s, LINEAGE, "it descends from itself, by way of %s", parent);
			break;
		}
		next = kin ? parent_of_path(kin->path) : NULL;
		free(at);
		at = next;
	}
	free(at);
}

static void check_depth(struct session *s, const struct session *parent)
{
	const struct str *origin = session_meta(s, "origin");
	uint64_t own, above;

	if (!origin || !str_eqs(*origin, "subagent") ||
		!meta_count(s, "delegationDepth", &own) ||
		!meta_count(parent, "delegationDepth", &above) || own == above + 1)
		return;
	dsh_problem(s, LINEAGE, "a subagent of %s at delegation depth %" PRIu64, parent->id, own);
}

/* ---- the inherited events ---- */

/* Hashes of the first `n` events, one each. */
struct hashes {
	uint64_t *v, at, n;
	uint64_t differs; /* the first that is not as in `v`; UINT64_MAX: none */
	bool compares;
};

static uint64_t hash_of(struct str line)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < line.n; i++)
		h = (h ^ (unsigned char)line.p[i]) * 0x100000001b3u;
	return h;
}

static bool take_lines(struct str lines, void *arg)
{
	struct hashes *h = arg;

	while (lines.n && h->at < h->n) {
		const char *nl = memchr(lines.p, '\n', lines.n);
		size_t n = nl ? (size_t)(nl - lines.p) : lines.n;
		uint64_t hash = hash_of((struct str){ lines.p, n });

		if (!h->compares)
			h->v[h->at] = hash;
		else if (h->v[h->at] != hash && h->differs == UINT64_MAX)
			h->differs = h->at;
		h->at++;
		n += nl != NULL;
		lines = (struct str){ lines.p + n, lines.n - n };
	}
	return h->at < h->n;
}

static void compare_seed(struct session *s, struct session *parent, uint64_t seed)
{
	struct hashes h = { .n = seed, .differs = UINT64_MAX };

	h.v = xcalloc(seed ? seed : 1, sizeof(*h.v)); /* not more than the parent has events */
	if (dsh_op_events(parent, 0, 0, take_lines, &h, NULL) == 0 && h.at == seed) {
		h.at = 0;
		h.compares = true;
		if (dsh_op_events(s, 0, 0, take_lines, &h, NULL) == 0 && h.differs != UINT64_MAX)
			dsh_problem(s, LINEAGE, "what it inherited is not what %s says, from event %"
				PRIu64 " on", parent->id, h.differs);
	}
	free(h.v);
}

static void check_seed(struct session *s, struct session *parent)
{
	uint64_t seed;

	if (!meta_count(s, "seedLength", &seed))
		return;
	if (seed > dsh_count(parent))
		dsh_problem(s, LINEAGE, "its fork point lies beyond %s, which has %" PRIu64 " events",
			parent->id, dsh_count(parent));
	else if (seed <= dsh_count(s))
		compare_seed(s, parent, seed);
}

static void check_parent(struct session *s, const struct kin *kin)
{
	struct session *parent = NULL;
	int rc = dsh_open(kin->path, &parent, NULL);

	while (rc >= 0 && (rc = dsh_step(parent, 1000000, NULL)) == 1)
		;
	if (rc == 0) {
		check_depth(s, parent);
		check_seed(s, parent);
	}
	session_free(&parent);
}

void dsh_family_check(struct dsh_family *f, struct session *s)
{
	char *parent = parent_of(s);
	const struct kin *kin;
	uint64_t seed;
	size_t same;

	look(f, s->path);
	if (find(f, s->id, &same) && same > 1)
		dsh_problem(s, "duplicate-id", 1, 0, 0, ENTRY_NONE, 
			"%zu sessions of the root have this id", same);
	if (meta_count(s, "seedLength", &seed) && seed > dsh_count(s))
		dsh_problem(s, LINEAGE, "it is to have inherited %" PRIu64 " events and has %" PRIu64,
			seed, dsh_count(s));
	if (!parent)
		return;
	kin = find(f, parent, &same);
	if (!kin)
		dsh_problem(s, LINEAGE, "its parent %s is not in the root", parent);
	else if (strcmp(parent, s->id) != 0)
		check_parent(s, kin);
	check_cycle(f, s, parent);
	free(parent);
}
