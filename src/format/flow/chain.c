/*
 * chain.c - a conversation's folder: which rounds it has, what its state file
 * says, and opening and closing. The rounds are the authority; the state file
 * is a cache that is only remarked on.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"

enum { STATE_MAX = 64 << 10, ROUND_DIGITS = 6, NAME_DIGEST = 12 };

uint64_t flow_stamp(const struct stat *st)
{
	const uint64_t v[] = { (uint64_t)st->st_ino, (uint64_t)st->st_mtim.tv_sec,
		(uint64_t)st->st_mtim.tv_nsec, (uint64_t)st->st_size };
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		hash = (hash ^ v[i]) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29;
	return hash;
}

/* "r000001-0123456789ab.sf": false for any other name. */
static bool round_number(const char *name, uint64_t *number)
{
	size_t digits;

	if (name[0] != 'r')
		return false;
	digits = strspn(name + 1, "0123456789");
	errno = 0;
	*number = strtoull(name + 1, NULL, 10);
	name += 1 + digits;
	return digits >= ROUND_DIGITS && !errno && *name == '-' &&
		strspn(name + 1, "0123456789abcdef") == NAME_DIGEST &&
		strcmp(name + 1 + NAME_DIGEST, ".sf") == 0;
}

static int by_number(const void *a, const void *b)
{
	const struct flow_round *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_odd_name(const void *a, const void *b)
{
	return strcmp(((const struct flow_odd *)a)->name, ((const struct flow_odd *)b)->name);
}

static void add_odd(struct flow_conversation *c, const char *name, const char *what, bool is_folder)
{
	c->odd = xgrow(c->odd, &c->odd_cap, c->nodd + 1, sizeof(*c->odd));
	c->odd[c->nodd++] = (struct flow_odd){ arena_strdup(&c->arena, name),
		arena_strdup(&c->arena, what), is_folder };
}

static bool is_file(struct flow_conversation *c, int dir, const char *name, struct stat *st)
{
	if (fstatat(dir, name, st, 0) < 0) {
		if (errno != ENOENT)
			add_odd(c, name, strerror(errno), false);
		else if (fstatat(dir, name, st, AT_SYMLINK_NOFOLLOW) == 0) /* else it is gone again */
			add_odd(c, name, "a link to nothing", false);
		return false;
	}
	if (!S_ISREG(st->st_mode))
		add_odd(c, name, log_kind(st->st_mode), S_ISDIR(st->st_mode));
	return S_ISREG(st->st_mode);
}

static void take_name(struct flow_conversation *c, int dir, const char *name)
{
	struct flow_round r = { 0 };
	struct stat st;

	if (!round_number(name, &r.number) || !is_file(c, dir, name, &st))
		return;
	r.name = arena_strdup(&c->arena, name);
	r.size = (uint64_t)st.st_size;
	r.stamp = flow_stamp(&st);
	if (r.size == 0) { /* a reservation: the name is taken, there is no round */
		c->reservations = xgrow(c->reservations, &c->reservations_cap, c->nreservations + 1,
			sizeof(*c->reservations));
		c->reservations[c->nreservations++] = r.name;
		return;
	}
	c->rounds = xgrow(c->rounds, &c->rounds_cap, c->nrounds + 1, sizeof(*c->rounds));
	c->rounds[c->nrounds++] = r;
}

static int list_rounds(struct flow_conversation *c, struct err *err)
{
	char *path = path_join(c->path, "rounds");
	struct err why = { 0 };
	DIR *dir = log_open_folder(path, &why);
	const struct dirent *de;
	int rc = dir || why.sys == ENOENT ? 0 : err_hand_over(err, &why);

	while (dir && (rc = log_next_name(dir, path, &de, err)) == 1)
		take_name(c, dirfd(dir), de->d_name);
	if (dir)
		closedir(dir);
	free(path);
	if (c->nodd)
		qsort(c->odd, c->nodd, sizeof(*c->odd), by_odd_name);
	if (c->nrounds)
		qsort(c->rounds, c->nrounds, sizeof(*c->rounds), by_number);
	if (c->nreservations)
		qsort(c->reservations, c->nreservations, sizeof(*c->reservations), by_name);
	return rc;
}

/* ---- conversation.state ---- */

static struct str trim(struct str s)
{
	while (s.n && strchr(" \t\r", s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && strchr(" \t\r", s.p[s.n - 1]))
		s.n--;
	return s;
}

static void take_state_line(struct flow_conversation *c, struct str line)
{
	struct flow_state_line *l;
	size_t key = 0;

	line = trim(line);
	if (line.n == 0 || line.p[0] == '#' || memchr(line.p, '\0', line.n))
		return;
	while (key < line.n && line.p[key] != ' ' && line.p[key] != '\t')
		key++;
	c->state = xgrow(c->state, &c->state_cap, c->nstate + 1, sizeof(*c->state));
	l = &c->state[c->nstate++];
	l->key = arena_strndup(&c->arena, line.p, key);
	line = trim((struct str){ line.p + key, line.n - key });
	l->value = arena_strndup(&c->arena, line.p, line.n);
}

static void read_state(struct flow_conversation *c)
{
	char *path = path_join(c->path, "conversation.state");
	struct buf text = { 0 };
	size_t at = 0;

	c->has_state = log_read_file(path, STATE_MAX, &text, NULL, NULL) == 0;
	while (c->has_state && at < text.n) {
		const char *end = memchr(text.p + at, '\n', text.n - at);
		size_t n = end ? (size_t)(end - text.p) - at : text.n - at;

		take_state_line(c, (struct str){ text.p + at, n });
		at += n + 1;
	}
	buf_release(&text);
	free(path);
}

bool flow_has_state(const struct flow_conversation *c)
{
	return c->has_state;
}

const char *flow_state_value(const struct flow_conversation *c, const char *key)
{
	const char *value = NULL;

	for (size_t i = 0; i < c->nstate; i++)
		if (strcmp(c->state[i].key, key) == 0)
			value = c->state[i].value;
	return value;
}

bool flow_state_agrees(const struct flow_conversation *c)
{
	const struct flow_header *head = flow_head(c);
	const char *number = flow_state_value(c, "head"),
		   *digest = flow_state_value(c, "head_digest");
	const char *through = flow_state_value(c, "through_seq");
	char want[32], want_through[32];

	if (!head || !number || !digest || !through)
		return false;
	snprintf(want, sizeof(want), "%" PRIu64, head->round);
	snprintf(want_through, sizeof(want_through), "%" PRIu64, head->through_seq);
	return strcmp(number, want) == 0 && strcmp(digest, head->digest) == 0 &&
		strcmp(through, want_through) == 0;
}

/* ---- opening ---- */

int flow_chain_list(struct flow_conversation *c, struct err *err)
{
	int rc = list_rounds(c, err);

	read_state(c);
	return rc;
}

/* "<root>/_conversations/<id>" without slashes at its end. */
static void set_path(struct flow_conversation *c, const char *path)
{
	size_t n = strlen(path);
	char *above;

	while (n > 1 && path[n - 1] == '/')
		n--;
	c->path = xstrndup(path, n);
	c->id = arena_strdup(&c->arena, path_base(c->path));
	above = path_dir(c->path);
	c->root = path_dir(above);
	free(above);
}

int flow_open(struct flow_conversation **out, const char *path, struct err *err)
{
	struct flow_conversation *c = xcalloc(1, sizeof(*c));
	int rc;

	flow_names_init(&c->names);
	flow_scratch_init(&c->scratch);
	c->order = xcalloc(1, sizeof(*c->order));
	set_path(c, path);
	rc = flow_chain_list(c, err);
	if (rc < 0)
		flow_close(&c);
	*out = c;
	return rc;
}

int flow_step(struct flow_conversation *c, unsigned budget_us)
{
	uint64_t deadline = clock_mono_us() + budget_us;

	while (!c->is_done) {
		flow_fold_next(c);
		if (clock_mono_us() >= deadline)
			break;
	}
	return !c->is_done;
}

void flow_close(struct flow_conversation **cp)
{
	struct flow_conversation *c = *cp;

	if (!c)
		return;
	for (int i = 0; i < READERS; i++)
		log_reader_close(&c->readers[i].r);
	for (int i = 0; i < FLOW_MAPS; i++)
		free(c->newest[i]);
	flow_landed_free(&c->landed);
	flow_index_free(&c->index);
	flow_order_free(&c->order);
	flow_names_release(&c->names);
	flow_scratch_release(&c->scratch);
	arena_free(&c->arena);
	free(c->rounds);
	free(c->reservations);
	free(c->odd);
	free(c->state);
	free(c->versions);
	free(c->path);
	free(c->root);
	free(c);
	*cp = NULL;
}

/* ---- asking ---- */

char *flow_round_path(const struct flow_conversation *c, const struct flow_round *r)
{
	return xasprintf("%s/rounds/%s", c->path, r->name);
}

const char *flow_id(const struct flow_conversation *c)
{
	return c->id;
}

const char *flow_path(const struct flow_conversation *c)
{
	return c->path;
}

const struct flow_round *flow_rounds(const struct flow_conversation *c, size_t *n)
{
	*n = c->nrounds;
	return c->rounds;
}

uint32_t flow_folded(const struct flow_conversation *c)
{
	return c->folded;
}

const struct flow_header *flow_head(const struct flow_conversation *c)
{
	return c->folded ? &c->rounds[c->folded - 1].h : NULL;
}

const struct flow_fault *flow_problem(const struct flow_conversation *c, uint64_t *round)
{
	*round = c->fault_round;
	return c->fault.code ? &c->fault : NULL;
}

size_t flow_nreservations(const struct flow_conversation *c)
{
	return c->nreservations;
}

const char *flow_reservation(const struct flow_conversation *c, size_t i)
{
	return c->reservations[i];
}

const struct flow_odd *flow_odd(const struct flow_conversation *c, size_t *n)
{
	*n = c->nodd;
	return c->odd;
}

struct str flow_word(const struct flow_conversation *c, uint32_t word)
{
	return c->names.v[word];
}

uint32_t flow_find_word(const struct flow_conversation *c, struct str s)
{
	return flow_names_find(&c->names, s);
}

const struct flow_version *flow_version(const struct flow_conversation *c, uint32_t version)
{
	return &c->versions[version];
}
