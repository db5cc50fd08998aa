/*
 * landed-list.c - where the sequences of a session are: the names of its landed
 * files, and the folders that could not be listed, so that nothing in them is
 * called missing. A session's name comes from a round and is hostile: it names
 * a folder of the root or nothing.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/xalloc.h"

enum { SEQ_DIGITS = 6 };

/* One name of a folder and no way out of it. */
static bool is_component(struct str s)
{
	return s.n > 0 && !str_eqs(s, ".") && !str_eqs(s, "..") && !memchr(s.p, '/', s.n) &&
		!memchr(s.p, '\0', s.n);
}

/* "<anything>-<6 or more digits>.sd" */
static bool landed_seq(const char *name, uint64_t *seq)
{
	size_t n = strlen(name), digits = 0;

	if (n < 4 || strcmp(name + n - 3, ".sd") != 0)
		return false;
	n -= 3;
	while (digits < n && name[n - 1 - digits] >= '0' && name[n - 1 - digits] <= '9')
		digits++;
	if (digits < SEQ_DIGITS || digits == n || name[n - 1 - digits] != '-')
		return false;
	errno = 0;
	*seq = strtoull(name + n - digits, NULL, 10);
	return errno == 0;
}

static int by_string(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_names(char **v)
{
	for (size_t i = 0; v[i]; i++)
		free(v[i]);
	free(v);
}

/* The names of a folder in order; NULL-terminated, yours. Dot names are passed over. */
static int names_of(const char *path, char ***out, struct err *err)
{
	DIR *dir = log_open_folder(path, err);
	const struct dirent *de;
	size_t n = 0, cap = 1;
	char **v;
	int rc;

	if (!dir)
		return ERR_IO;
	v = xcalloc(1, sizeof(*v));
	while ((rc = log_next_name(dir, path, &de, err)) == 1) {
		if (de->d_name[0] == '.')
			continue;
		v = xgrow(v, &cap, n + 2, sizeof(*v));
		v[n++] = xstrdup(de->d_name);
		v[n] = NULL;
	}
	closedir(dir);
	if (n)
		qsort(v, n, sizeof(*v), by_string);
	if (rc == 0)
		*out = v;
	else
		free_names(v);
	return rc;
}

static void block(struct flow_landed_list *l, const struct err *why)
{
	l->blocked = xgrow(l->blocked, &l->blocked_cap, l->nblocked + 1, sizeof(*l->blocked));
	l->blocked[l->nblocked++] = *why;
}

/* What is not there holds nothing; of `streams/x` neither does a file that lies beside the folders. */
static void add_folder(struct flow_landed_list *l, const char *path, bool may_be_file)
{
	struct err err = { 0 };
	char **names;

	if (names_of(path, &names, &err) < 0) {
		if (err.sys != ENOENT && !(may_be_file && err.sys == ENOTDIR))
			block(l, &err);
		return;
	}
	for (size_t i = 0; names[i]; i++) {
		uint64_t seq;

		if (!landed_seq(names[i], &seq))
			continue;
		l->v = xgrow(l->v, &l->cap, l->n + 1, sizeof(*l->v));
		l->v[l->n++] = (struct flow_landed_file){ seq, path_join(path, names[i]) };
	}
	free_names(names);
}

static void add_folders(struct flow_landed_list *l, const char *path)
{
	struct err err = { 0 };
	char **names;

	if (names_of(path, &names, &err) < 0) {
		if (err.sys != ENOENT)
			block(l, &err);
		return;
	}
	for (size_t i = 0; names[i]; i++) {
		char *folder = path_join(path, names[i]);

		add_folder(l, folder, true);
		free(folder);
	}
	free_names(names);
}

static int by_seq(const void *a, const void *b)
{
	const struct flow_landed_file *x = a, *y = b;

	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Of two files with one sequence the last counts. */
static void drop_repeated(struct flow_landed_list *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (n && l->v[n - 1].seq == l->v[i].seq)
			free(l->v[--n].path);
		l->v[n++] = l->v[i];
	}
	l->n = n;
}

/* false: the session's folder is not there, or can not be listed. */
static bool is_listed(struct flow_landed_list *l, const char *folder)
{
	struct err err = { 0 };
	char **names;

	if (names_of(folder, &names, &err) == 0) {
		free_names(names);
		return true;
	}
	if (err.sys != ENOENT)
		block(l, &err);
	return false;
}

static void list_folder(struct flow_landed_list *l, const char *folder)
{
	static const char *const deep[] = { "streams", "runs" };
	char *sub;

	for (int i = 0; i < 2; i++) {
		sub = path_join(folder, deep[i]);
		add_folders(l, sub);
		free(sub);
	}
	sub = path_join(folder, "provider_body");
	add_folder(l, sub, false);
	free(sub);
}

/* The folder of a session; NULL: its name leads out of the root. Yours. */
static char *session_folder(const char *root, struct str session)
{
	char *name, *folder;

	if (!is_component(session))
		return NULL;
	name = xstrndup(session.p, session.n);
	folder = path_join(root, name);
	free(name);
	return folder;
}

void flow_landed_list(struct flow_landed_list *out, const char *root, struct str session)
{
	char *folder = session_folder(root, session);

	*out = (struct flow_landed_list){ 0 };
	if (!folder)
		return;
	if (is_listed(out, folder))
		list_folder(out, folder);
	free(folder);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_seq);
	drop_repeated(out);
}

void flow_landed_list_free(struct flow_landed_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].path);
	free(l->v);
	free(l->blocked);
	*l = (struct flow_landed_list){ 0 };
}

size_t flow_landed_from(const struct flow_landed_list *l, uint64_t seq)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (l->v[mid].seq < seq)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct flow_landed_file *flow_landed_find(const struct flow_landed_list *l, uint64_t seq)
{
	size_t i = flow_landed_from(l, seq);

	return i < l->n && l->v[i].seq == seq ? &l->v[i] : NULL;
}

/* ---- looking again ---- */

static uint64_t add_to_sum(uint64_t sum, const char *word, uint64_t stamp)
{
	sum ^= stamp;
	for (; *word; word++)
		sum = (sum ^ (unsigned char)*word) * 0x100000001B3u;
	return sum;
}

/* Rights do not show in the stamp, and may be what a file could not be read for. */
static uint64_t stamp_of(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return (uint64_t)errno;
	return flow_stamp(&st) ^ ((uint64_t)st.st_mode << 32 | st.st_uid);
}

struct flow_landed_sum flow_landed_sum(const struct flow_conversation *c)
{
	const struct flow_header *head = flow_head(c);
	struct flow_landed_sum out = { 0xcbf29ce484222325u, 0 };
	struct flow_landed_list list;

	if (!head)
		return out;
	flow_landed_list(&list, c->root, head->session_s);
	out.n = list.n;
	for (size_t i = 0; i < list.n; i++)
		out.sum = add_to_sum(out.sum, list.v[i].path, stamp_of(list.v[i].path));
	for (size_t i = 0; i < list.nblocked; i++)
		out.sum = add_to_sum(out.sum, list.blocked[i].text, i);
	flow_landed_list_free(&list);
	return out;
}

void flow_landed_note(struct flow_conversation *c)
{
	c->seen = flow_landed_sum(c);
	c->has_seen = true;
}

static void each_below(
	const char *path, void (*fn)(void *arg, const char *path), void *arg)
{
	char **names;

	fn(arg, path);
	if (names_of(path, &names, NULL) < 0)
		return;
	for (size_t i = 0; names[i]; i++) {
		char *folder = path_join(path, names[i]);

		fn(arg, folder);
		free(folder);
	}
	free_names(names);
}

void flow_landed_folders(const struct flow_conversation *c,
	void (*fn)(void *arg, const char *path), void *arg)
{
	static const char *const below[] = { "streams", "runs" };
	const struct flow_header *head = flow_head(c);
	char *folder = head ? session_folder(c->root, head->session_s) : NULL, *sub;

	if (!folder)
		return;
	fn(arg, c->root); /* it may come later, or may be read later */
	fn(arg, folder);
	for (int i = 0; i < 2; i++) {
		sub = path_join(folder, below[i]);
		each_below(sub, fn, arg);
		free(sub);
	}
	sub = path_join(folder, "provider_body");
	fn(arg, sub);
	free(sub);
	free(folder);
}
