/*
 * format.c - the table entry of Session Flow: which places hold conversations,
 * and what the list says of one without folding it.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"
#include "format/flow/session.h"

static const char conversations[] = "_conversations";

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool holds_conversations(const char *path)
{
	char *sub = path_join(path, conversations);
	bool holds = is_folder(sub);

	free(sub);
	return holds;
}

/* A folder below "_conversations", by its whole name. */
static bool is_conversation(const char *path)
{
	char *whole = realpath(path, NULL), *above = whole ? path_dir(whole) : NULL;
	bool is = above && strcmp(path_base(above), conversations) == 0 && is_folder(whole);

	free(above);
	free(whole);
	return is;
}

static bool is_conversations(const char *path)
{
	char *whole = realpath(path, NULL);
	bool is = whole && strcmp(path_base(whole), conversations) == 0 && is_folder(whole);

	free(whole);
	return is;
}

static bool detect(const char *path, bool is_file)
{
	return !is_file &&
	       (holds_conversations(path) || is_conversation(path) || is_conversations(path));
}

/* ---- the sessions of a root ---- */

/*
 * A round that was written over in its place shows by its own stamp, one that
 * another took the place of within a tick of the clock by its name; so does what
 * is no file. One that may be read now shows by its rights.
 */
static void add_file(struct log_id *id, uint64_t *names, const char *name, const struct stat *st)
{
	int64_t ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
	uint64_t hash = flow_stamp(st) ^ (uint64_t)st->st_mode << 32;

	if (S_ISREG(st->st_mode)) {
		id->size += (uint64_t)st->st_size;
		if (ns > id->mtime_ns)
			id->mtime_ns = ns;
	}
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001B3u;
	*names += hash; /* folders list their names in no order */
}

static void add_files(
	DIR *dir, const char *path, struct log_id *id, uint64_t *names, struct err *err)
{
	const struct dirent *de;
	struct stat st;

	while (log_next_name(dir, path, &de, err) == 1)
		if (de->d_name[0] == 'r' && fstatat(dirfd(dir), de->d_name, &st, 0) == 0)
			add_file(id, names, de->d_name, &st);
}

int flow_file_id(const char *path, struct log_id *id, uint64_t *names, struct err *err)
{
	char *rounds = path_join(path, "rounds");
	struct log_id inner = { 0 };
	struct err why = { 0 };
	DIR *dir;
	int rc = log_stat(path, id, err);

	id->size = *names = 0;
	if (rc < 0 || !id->exists)
		goto out;
	if (log_stat(rounds, &inner, NULL) == 0 && inner.mtime_ns > id->mtime_ns)
		id->mtime_ns = inner.mtime_ns;
	dir = log_open_folder(rounds, &why);
	if (dir) {
		add_files(dir, rounds, id, names, &why);
		closedir(dir);
	}
	if (why.code && why.sys != ENOENT)
		rc = err_hand_over(err, &why);
out:
	free(rounds);
	return rc;
}

static void report(const char *path, found_fn *fn, void *arg)
{
	struct found f = { .id = path_base(path), .path = path, .project = "" };
	struct err err = { 0 };
	uint64_t names;

	if (flow_file_id(path, &f.file, &names, &err) < 0)
		f.unreadable = err.text;
	else if (!f.file.exists)
		return;
	else if (access(path, R_OK | X_OK) < 0)
		f.unreadable = strerror(errno);
	fn(&f, arg);
}

/* Not when it is something else, or gone again; what can not be looked at is a row that says why. */
static bool may_be_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? S_ISDIR(st.st_mode) : errno != ENOENT;
}

/* As in other formats *pos counts the names that were passed. */
static int scan_folder(const char *folder, uint64_t *pos, unsigned max, found_fn *fn, void *arg,
	struct err *err)
{
	DIR *dir = log_open_folder(folder, err);
	const struct dirent *de;
	uint64_t at = 0;
	unsigned taken = 0;
	int rc;

	if (!dir)
		return ERR_IO;
	while ((rc = log_next_name(dir, folder, &de, err)) == 1) {
		char *path;

		if (at++ < *pos)
			continue;
		if (taken++ >= max)
			break;
		*pos = at;
		path = path_join(folder, de->d_name);
		if (de->d_name[0] != '.' && may_be_folder(path))
			report(path, fn, arg);
		free(path);
	}
	closedir(dir);
	return rc;
}

static int scan(
	const char *root, uint64_t *pos, unsigned max, found_fn *fn, void *arg, struct err *err)
{
	char *folder;
	int rc;

	if (!holds_conversations(root) && is_conversation(root)) {
		report(root, fn, arg);
		return 0;
	}
	folder = holds_conversations(root) ? path_join(root, conversations) : xstrdup(root);
	rc = scan_folder(folder, pos, max, fn, arg, err);
	free(folder);
	return rc;
}

/* ---- opening ---- */

struct only {
	char *path;
	size_t n;
};

static void note_only(const struct found *f, void *arg)
{
	struct only *o = arg;

	if (o->n++ == 0)
		o->path = xstrdup(f->path);
}

/* A root that holds one conversation stands for it. */
static int open_place(const char *path, struct session **out, struct err *err)
{
	struct only only = { NULL, 0 };
	uint64_t pos = 0;
	int rc;

	*out = NULL;
	if (!holds_conversations(path) && !is_conversations(path))
		return flow_session_open(path, out, err);
	do
		rc = scan(path, &pos, 1000, note_only, &only, err);
	while (rc == 1);
	if (rc == 0 && only.n == 1)
		rc = flow_session_open(only.path, out, err);
	else if (rc == 0)
		rc = err_set(err, ERR_USAGE, only.n ? "%s holds %zu conversations; name one"
					      : "%s holds %zu conversations",
			path, only.n);
	free(only.path);
	return rc;
}

/* ---- a row of the list ---- */

/* A name of a round behind which there is none that could be read. */
static void note_odd(const struct flow_conversation *c, struct flow_fault *fault)
{
	for (size_t i = 0; i < c->nodd && !fault->code; i++)
		if (!c->odd[i].is_folder)
			flow_fault_set(fault, "odd-round", 0, 0, "rounds/%s: %s", c->odd[i].name,
				c->odd[i].what);
}

int flow_newest_header(const char *path, struct arena *a, struct flow_header *h,
	struct flow_fault *fault, size_t *nrounds, struct err *err)
{
	struct flow_conversation *c;
	int rc = flow_open(&c, path, err);

	*nrounds = 0;
	*fault = (struct flow_fault){ 0 };
	if (rc < 0)
		return rc;
	*nrounds = c->nrounds;
	if (c->nrounds) {
		char *round = flow_round_path(c, &c->rounds[c->nrounds - 1]);

		rc = flow_round_header(round, a, h, fault, err);
		free(round);
	}
	note_odd(c, fault);
	flow_close(&c);
	return rc;
}

static void count_brief(const struct flow_header *h, struct session_brief *out)
{
	int64_t steps = h->count[FLOW_STEPS];

	buf_addstr(&out->title, h->title_s);
	out->is_uncounted = !h->has_count[FLOW_STEPS];
	out->entries = steps < 0 ? 0 : steps < UINT32_MAX ? (uint32_t)steps : UINT32_MAX;
	flow_time(str_of(h->session_from_time), &out->first_time);
	flow_time(str_of(h->session_through_time), &out->last_time);
}

/* Of a conversation whose newest round does not read: what the last one that does has said. */
static bool older_header(const char *path, struct arena *a, struct flow_header *h)
{
	struct flow_fault fault = { .code = "" };
	struct flow_conversation *c;

	if (flow_open(&c, path, NULL) < 0)
		return false;
	for (size_t i = c->nrounds; i > 1 && fault.code;) {
		char *round = flow_round_path(c, &c->rounds[--i - 1]);

		fault = (struct flow_fault){ 0 };
		if (flow_round_header(round, a, h, &fault, NULL) < 0)
			fault.code = "unreadable";
		free(round);
	}
	flow_close(&c);
	return !fault.code;
}

static int brief(const char *path, struct session_brief *out, struct err *err)
{
	struct flow_header h;
	struct flow_fault fault;
	struct arena a = { 0 };
	bool is_good;
	size_t nrounds;
	int rc = flow_newest_header(path, &a, &h, &fault, &nrounds, err);

	out->nproblems = fault.code != NULL;
	is_good = !fault.code || strcmp(fault.code, "odd-round") == 0; /* that is another name */
	if (rc == 0 && nrounds && (is_good || older_header(path, &a, &h)))
		count_brief(&h, out);
	arena_free(&a);
	return rc;
}

const struct format format_flow = {
	.name = "flow",
	.title = "conversations (SkyWalking)",
	.sign = "_conversations/<id>/rounds",
	.detect = detect,
	.scan = scan,
	.open = open_place,
	.step = flow_session_step,
	.refresh = flow_session_refresh,
	.file = flow_session_file,
	.brief = brief,
	.lists_brief = true,
};
