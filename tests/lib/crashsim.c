/*
 * crashsim.c - what a power cut may leave. The calls are recorded first and
 * replayed afterwards, so that the tests of a state may use the real calls.
 */
#include "config.h"

#include "tests/lib/crashsim.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/lib/fakesys.h"
#include "tests/lib/temp.h"

enum {
	MAX_EVENTS = 512,
	MAX_NODES = 32,
	MAX_OPS = 6,
	MAX_NAMES = 32,
	MAX_FDS = 64,
	MAX_STATES = 1 << 17,
	CUT_ALL = 64
};

/* A write at off, or (p is NULL) a truncation to off. */
struct op {
	uint64_t off;
	char *p;
	size_t n;
};

struct node {
	char *durable; /* never NULL once the node exists */
	size_t durable_n;
	uint64_t size; /* as the program sees it */
	struct op op[MAX_OPS];
	unsigned nops;
};

/* In place of a node: the name is a folder's. */
enum { FOLDER = -2 };

/*
 * One change of names: `gone` goes, `come` comes and names the node. Empty: none. An exchange:
 * `gone` stays, and names `other`.
 */
struct name_op {
	char gone[TEMP_PATH], come[TEMP_PATH];
	int node, other;
	bool is_exchange;
};

struct name {
	char path[TEMP_PATH];
	int node;
};

struct event {
	char what[20], path[TEMP_PATH], to[TEMP_PATH];
	int fd, flags, tag;
	char *p;
	size_t n;
	uint64_t size;
};

struct crashsim {
	char dir[TEMP_PATH];
	const int *tag;
	struct event event[MAX_EVENTS];
	unsigned nevents;
	struct node node[MAX_NODES];
	int nnodes;
	struct name durable[MAX_NAMES], visible[MAX_NAMES];
	struct name_op pending[MAX_OPS];
	unsigned npending;
	int fd_node[MAX_FDS];
	uint64_t *seen;
	unsigned long states;
};

static void give_up(const char *why)
{
	fprintf(stderr, "crashsim: %s\n", why);
	exit(1);
}

static void *own(const void *p, size_t n)
{
	char *copy = malloc(n + 1);

	if (!copy)
		give_up("out of memory");
	if (n)
		memcpy(copy, p, n);
	copy[n] = '\0';
	return copy;
}

static void set_path(char out[TEMP_PATH], const char *path)
{
	if (snprintf(out, TEMP_PATH, "%s", path ? path : "") >= TEMP_PATH)
		give_up("a path is too long");
}

/* ---- names ---- */

static struct name *find_name(struct name *names, const char *path)
{
	int i;

	for (i = 0; i < MAX_NAMES; i++)
		if (names[i].path[0] && !strcmp(names[i].path, path))
			return &names[i];
	return NULL;
}

static void put_name(struct name *names, const char *path, int node)
{
	struct name *at = find_name(names, path);
	int i;

	for (i = 0; !at && i < MAX_NAMES; i++)
		if (!names[i].path[0])
			at = &names[i];
	if (!at)
		give_up("too many names");
	set_path(at->path, path);
	at->node = node;
}

static void do_name_op(struct name *names, const struct name_op *op)
{
	struct name *at = op->gone[0] ? find_name(names, op->gone) : NULL;

	if (at && op->is_exchange)
		at->node = op->other;
	else if (at)
		at->path[0] = '\0';
	if (op->come[0])
		put_name(names, op->come, op->node);
}

static void add_name_op(struct crashsim *sim, const struct name_op *op)
{
	if (sim->npending == MAX_OPS)
		give_up("too many names are pending");
	sim->pending[sim->npending++] = *op;
	do_name_op(sim->visible, op);
}

static void new_name_op(struct crashsim *sim, const char *gone, const char *come, int node)
{
	struct name_op op = { .node = node };

	set_path(op.gone, gone);
	set_path(op.come, come);
	add_name_op(sim, &op);
}

static void exchange_names(struct crashsim *sim, const struct name *a, const struct name *b)
{
	struct name_op op = { .node = a->node, .other = b->node, .is_exchange = true };

	set_path(op.gone, a->path);
	set_path(op.come, b->path);
	add_name_op(sim, &op);
}

static bool is_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return path[0] && !strncmp(path, dir, n) && path[n] == '/' && !strchr(path + n + 1, '/');
}

/* A move becomes durable with the folder that it goes to. */
static void sync_names(struct crashsim *sim, const char *dir)
{
	unsigned i, left = 0;

	for (i = 0; i < sim->npending; i++) {
		const struct name_op *op = &sim->pending[i];

		if (is_in(op->come[0] ? op->come : op->gone, dir))
			do_name_op(sim->durable, op);
		else
			sim->pending[left++] = *op;
	}
	sim->npending = left;
}

/* ---- bytes ---- */

static int new_node(struct crashsim *sim, char *content_take, size_t n)
{
	struct node *node = &sim->node[sim->nnodes];

	if (sim->nnodes == MAX_NODES)
		give_up("too many files");
	node->durable = content_take;
	node->durable_n = n;
	node->size = n;
	node->nops = 0;
	return sim->nnodes++;
}

static void new_op(struct node *node, uint64_t off, char *p, size_t n)
{
	if (node->nops == MAX_OPS)
		give_up("too many writes are pending");
	node->op[node->nops++] = (struct op){ off, p, n };
	if (!p || off + n > node->size)
		node->size = p ? off + n : off;
}

/* Which pending changes are kept, where the last write is cut, and what follows the cut. */
struct choice {
	unsigned keep;
	size_t cut;
	enum { SHORT, ZEROS, GARBAGE, N_FILLS } fill;
};

static int last_write(const struct node *node, unsigned keep)
{
	int i;

	for (i = (int)node->nops - 1; i >= 0; i--)
		if (keep & 1u << i && node->op[i].p)
			return i;
	return -1;
}

/* The bytes of the node under a choice, yours; *n is their number. */
static char *content(const struct node *node, const struct choice *c, size_t *n)
{
	size_t size = node->durable_n, room = size;
	int last = last_write(node, c->keep);
	unsigned i;
	char *p;

	for (i = 0; i < node->nops; i++)
		if (node->op[i].off + node->op[i].n > room)
			room = (size_t)node->op[i].off + node->op[i].n;
	p = calloc(1, room + 1);
	if (!p)
		give_up("out of memory");
	memcpy(p, node->durable, size);
	for (i = 0; i < node->nops; i++) {
		const struct op *op = &node->op[i];
		bool is_cut = (int)i == last && c->cut < op->n;
		size_t off = (size_t)op->off, take = is_cut ? c->cut : op->n;

		if (!(c->keep & 1u << i))
			continue;
		if (!op->p) {
			if (size > off)
				memset(p + off, 0, size - off);
			size = off;
			continue;
		}
		memcpy(p + off, op->p, take);
		if (is_cut && c->fill != SHORT) {
			memset(p + off + take, c->fill == ZEROS ? 0 : 0xa5, op->n - take);
			take = op->n;
		}
		if (off + take > size)
			size = off + take;
	}
	*n = size;
	return p;
}

static void sync_node(struct node *node)
{
	struct choice all = { .keep = ~0u, .cut = SIZE_MAX };
	size_t n;
	char *p = content(node, &all, &n);
	unsigned i;

	for (i = 0; i < node->nops; i++)
		free(node->op[i].p);
	free(node->durable);
	node->durable = p;
	node->durable_n = n;
	node->nops = 0;
}

/* ---- recording and replaying ---- */

static void record(const struct fake_event *e, void *arg)
{
	struct crashsim *sim = arg;
	struct event *to = &sim->event[sim->nevents];

	if (sim->nevents == MAX_EVENTS)
		give_up("too many calls");
	snprintf(to->what, sizeof(to->what), "%s", e->name);
	set_path(to->path, e->path);
	set_path(to->to, e->to);
	to->fd = e->fd;
	to->flags = e->flags;
	to->tag = *sim->tag;
	to->p = e->p ? own(e->p, e->n) : NULL;
	to->n = e->n;
	to->size = e->size;
	sim->nevents++;
}

static struct node *node_of(struct crashsim *sim, int fd)
{
	if (fd < 0 || fd >= MAX_FDS || sim->fd_node[fd] < 0)
		return NULL;
	return &sim->node[sim->fd_node[fd]];
}

static void replay_open(struct crashsim *sim, const struct event *e)
{
	struct name *name = find_name(sim->visible, e->path);

	if (e->fd >= MAX_FDS)
		give_up("too many open files");
	if (!name && e->flags & O_CREAT) {
		new_name_op(sim, NULL, e->path, new_node(sim, own("", 0), 0));
		name = find_name(sim->visible, e->path);
	}
	sim->fd_node[e->fd] = name ? name->node : -1;
}

static void replay(struct crashsim *sim, struct event *e)
{
	struct node *node = node_of(sim, e->fd);
	struct name *from = find_name(sim->visible, e->path);
	struct name *to = find_name(sim->visible, e->to);

	if (!strcmp(e->what, "open"))
		replay_open(sim, e);
	else if (!strcmp(e->what, "close") && node)
		sim->fd_node[e->fd] = -1;
	else if (!strcmp(e->what, "write") && node)
		new_op(node, node->size, own(e->p, e->n), e->n);
	else if (!strcmp(e->what, "overwrite") && node)
		new_op(node, e->size, own(e->p, e->n), e->n);
	else if (!strcmp(e->what, "ftruncate") && node)
		new_op(node, e->size, NULL, 0);
	else if ((!strcmp(e->what, "fsync") || !strcmp(e->what, "fdatasync")) && node)
		sync_node(node);
	else if (!strcmp(e->what, "fsync_dir"))
		sync_names(sim, e->path);
	else if (!strcmp(e->what, "unlink") || !strcmp(e->what, "rmdir"))
		new_name_op(sim, e->path, NULL, -1);
	else if (!strcmp(e->what, "mkdir"))
		new_name_op(sim, NULL, e->path, FOLDER);
	else if (!strcmp(e->what, "link") && from)
		new_name_op(sim, NULL, e->to, from->node);
	else if (!strcmp(e->what, "rename_exchange") && from && to)
		exchange_names(sim, from, to);
	else if (!strncmp(e->what, "rename", 6) && from)
		new_name_op(sim, e->path, e->to, from->node);
}

/* ---- states ---- */

static uint64_t hash(uint64_t h, const void *p, size_t n)
{
	const unsigned char *c = p;
	size_t i;

	for (i = 0; i < n; i++)
		h = (h ^ c[i]) * 0x100000001b3u;
	return (h ^ n) * 0x100000001b3u;
}

static bool is_new_state(struct crashsim *sim, uint64_t h)
{
	size_t i = h & (MAX_STATES * 2 - 1);

	h |= 1; /* 0 is an empty place */
	while (sim->seen[i] && sim->seen[i] != h)
		i = (i + 1) & (MAX_STATES * 2 - 1);
	if (sim->seen[i] == h)
		return false;
	if (++sim->states > MAX_STATES)
		give_up("too many states");
	sim->seen[i] = h;
	return true;
}

struct walk {
	struct crashsim *sim;
	void (*fn)(int tag, const char *what, void *arg);
	void *arg;
	int tag;
	unsigned at; /* event */
	struct name names[MAX_NAMES];
	struct choice choice[MAX_NODES];
};

/* Is the folder of the name there? That of the simulator always is. */
static bool has_folder(struct walk *w, const char *path)
{
	char dir[TEMP_PATH];
	struct name *folder;

	set_path(dir, path);
	*strrchr(dir, '/') = '\0';
	if (!strcmp(dir, w->sim->dir))
		return true;
	folder = find_name(w->names, dir);
	return folder && folder->node == FOLDER;
}

/* Folders first: a file of theirs may stand before them in the table. */
static void put_state(struct walk *w, char *const bytes[MAX_NAMES], const size_t n[MAX_NAMES])
{
	int i;

	temp_clear(w->sim->dir);
	for (i = 0; i < MAX_NAMES; i++)
		if (w->names[i].path[0] && w->names[i].node == FOLDER)
			mkdir(w->names[i].path, 0700);
	for (i = 0; i < MAX_NAMES; i++)
		if (bytes[i])
			temp_put(w->names[i].path, bytes[i], n[i]);
}

/* Names are hashed without regard to the place they have in the table. */
static void one_state(struct walk *w)
{
	uint64_t h = hash(14695981039346656037u, &w->tag, sizeof(w->tag)), sum = 0;
	char *bytes[MAX_NAMES] = { NULL }, what[96];
	size_t n[MAX_NAMES];
	int i;

	for (i = 0; i < MAX_NAMES; i++) {
		const struct name *name = &w->names[i];

		if (!name->path[0] || !has_folder(w, name->path))
			continue;
		if (name->node == FOLDER) {
			sum += hash(2, name->path, strlen(name->path));
			continue;
		}
		bytes[i] = content(&w->sim->node[name->node], &w->choice[name->node], &n[i]);
		sum += hash(hash(1, name->path, strlen(name->path)), bytes[i], n[i]);
	}
	if (is_new_state(w->sim, h ^ sum)) {
		put_state(w, bytes, n);
		snprintf(what, sizeof(what), "power cut after event %u (%s)", w->at,
			w->at ? w->sim->event[w->at - 1].what : "start");
		w->fn(w->tag, what, w->arg);
	}
	for (i = 0; i < MAX_NAMES; i++)
		free(bytes[i]);
}

/* Every choice for one node, all other nodes having nothing or all of what is pending. */
static void choices_of(struct walk *w, int k)
{
	const struct node *node = &w->sim->node[k];
	struct choice *c = &w->choice[k];

	for (c->keep = 0; c->keep < 1u << node->nops; c->keep++) {
		int last = last_write(node, c->keep);
		size_t n = last < 0 ? 0 : node->op[last].n, step = n > CUT_ALL ? n / CUT_ALL : 1;

		for (c->cut = 0; c->cut <= n; c->cut += step)
			for (c->fill = SHORT; c->fill < N_FILLS; c->fill++)
				one_state(w);
	}
	*c = (struct choice){ .keep = 0 };
}

static void states_now(struct walk *w)
{
	struct crashsim *sim = w->sim;
	unsigned mask, i;
	int k, other;

	for (mask = 0; mask < 1u << sim->npending; mask++) {
		memcpy(w->names, sim->durable, sizeof(w->names));
		for (i = 0; i < sim->npending; i++)
			if (mask & 1u << i)
				do_name_op(w->names, &sim->pending[i]);
		for (other = 0; other < 2; other++) {
			for (k = 0; k < sim->nnodes; k++)
				w->choice[k] =
					(struct choice){ .keep = other ? ~0u : 0, .cut = SIZE_MAX };
			one_state(w);
			for (k = 0; k < sim->nnodes; k++) {
				struct choice before = w->choice[k];

				if (sim->node[k].nops)
					choices_of(w, k);
				w->choice[k] = before;
			}
		}
	}
}

/* What is there at the start; folders one level deep. */
static void add_durable(struct crashsim *sim, const char *dir)
{
	struct dirent *entry;
	DIR *d = opendir(dir);

	if (!d)
		give_up("can not read the folder");
	while ((entry = readdir(d))) {
		char path[2 * TEMP_PATH], *p;
		size_t n;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		if (entry->d_type == DT_DIR && !strcmp(dir, sim->dir)) {
			put_name(sim->durable, path, FOLDER);
			add_durable(sim, path);
		}
		if (entry->d_type != DT_REG)
			continue;
		p = temp_get(path, &n);
		put_name(sim->durable, path, new_node(sim, p, n));
	}
	closedir(d);
}

struct crashsim *crash_new(const char *dir, const int *tag)
{
	struct crashsim *sim = calloc(1, sizeof(*sim));
	int i;

	if (!sim || !(sim->seen = calloc(MAX_STATES * 2, sizeof(*sim->seen))))
		give_up("can not begin");
	set_path(sim->dir, dir);
	sim->tag = tag;
	for (i = 0; i < MAX_FDS; i++)
		sim->fd_node[i] = -1;
	add_durable(sim, dir);
	memcpy(sim->visible, sim->durable, sizeof(sim->visible));
	return sim;
}

void crash_free(struct crashsim **sim)
{
	struct crashsim *s = *sim;
	unsigned i, k;

	if (!s)
		return;
	for (i = 0; i < s->nevents; i++)
		free(s->event[i].p);
	for (i = 0; i < (unsigned)s->nnodes; i++) {
		for (k = 0; k < s->node[i].nops; k++)
			free(s->node[i].op[k].p);
		free(s->node[i].durable);
	}
	free(s->seen);
	free(s);
	*sim = NULL;
}

void crash_start(struct crashsim *sim)
{
	fake_listen(record, sim);
}

void crash_stop(struct crashsim *sim)
{
	(void)sim;
	fake_listen(NULL, NULL);
}

unsigned long crash_each(
	struct crashsim *sim, void (*fn)(int tag, const char *what, void *arg), void *arg)
{
	static struct walk w;

	w = (struct walk){ .sim = sim, .fn = fn, .arg = arg };
	for (;;) {
		/* A call is recorded with what was acknowledged before it. */
		w.tag = w.at < sim->nevents ? sim->event[w.at].tag : *sim->tag;
		states_now(&w);
		if (w.at == sim->nevents)
			return sim->states;
		replay(sim, &sim->event[w.at++]);
	}
}
