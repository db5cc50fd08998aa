/*
 * fuzz-tree.c - the bytes of a tree session to the model: every byte is in an
 * entry, a problem or a blank, the tree is sound whatever the bytes are,
 * reading a file while it grows ends where reading it at once ends, and what
 * is written back can be read.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "format/tree/tree.h"
#include "json/scan.h"
#include "model/layout.h"
#include "model/session.h"
#include "tests/lib/tree-check.h"

enum { MAX_LOOKED = 64, LIMIT = 512 };

/* A file without a name on disk, under a path that can be opened. */
static int make_file(char path[64])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	HOLDS(fd >= 0);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static void set_bytes(int fd, const uint8_t *p, size_t from, size_t to)
{
	if (to > from)
		HOLDS(pwrite(fd, p + from, to - from, (off_t)from) == (ssize_t)(to - from));
}

static void load(struct session *s)
{
	struct err err = { 0 };
	int more;

	do {
		more = format_tree.step(s, 1000000, &err);
	} while (more > 0);
	HOLDS(more == 0);
	HOLDS(s->is_complete);
}

static struct session *open_and_load(const char *path)
{
	struct session *s = NULL;
	struct err err = { 0 };

	HOLDS(format_tree.open(path, &s, &err) == 0 && s);
	load(s);
	return s;
}

static void check_layout(struct session *s)
{
	struct layout l;
	struct branch *branches;
	size_t n;

	layout_init(&l);
	layout_build(&l, s);
	HOLDS(layout_lines(&l) == s->n);
	for (uint32_t e = 0; e < s->n; e++)
		HOLDS(layout_entry(&l, layout_line(&l, e)) == e);
	branches = layout_branches(&l, &n);
	HOLDS(n == s->nleaves);
	free(branches);
	layout_fold_all(&l, true);
	HOLDS(s->n == 0 || layout_lines(&l) > 0);
	layout_release(&l);
}

/* Entries decode, are found by their ids, and write to one good line. */
static void check_entries(struct session *s)
{
	struct buf id = { 0 }, text = { 0 }, who = { 0 };
	struct arena a = { 0 };

	for (uint32_t e = 0; e < s->n && e < MAX_LOOKED; e++) {
		struct err err = { 0 };
		struct content content = { 0 };
		struct tree_fields fields = { 0 };
		struct json_scan scan;

		HOLDS(s->entries[e].off + s->entries[e].len <= s->size);
		buf_clear(&id);
		HOLDS(s->ops->id(s, e, &id, &err) == 0 && id.n > 0);
		HOLDS(session_find(s, (struct str){ id.p, id.n }) == e);
		buf_clear(&text);
		buf_clear(&who);
		HOLDS(s->ops->preview(s, e, LIMIT, &text, &who, &err) == 0);
		HOLDS(text.n <= LIMIT);
		HOLDS(s->ops->content(s, e, LIMIT, &a, &content, &err) == 0);
		HOLDS(tree_read_fields(s, e, &a, &fields, &err) == 0);
		buf_clear(&text);
		tree_write_entry(&text, &(struct tree_entry){
			.id = { fields.id.p, fields.id.n },
			.parent = { fields.has_parent ? fields.parent.p : NULL, fields.parent.n },
			.role = { fields.role.p, fields.role.n },
			.content = { fields.content.p, fields.content.n },
			.time = fields.time,
			.metadata = fields.metadata, .nmetadata = fields.nmetadata });
		HOLDS(json_scan(text.p, text.n, NULL, 0, &scan) == JSON_OK && scan.end == text.n);
		HOLDS(!memchr(text.p, '\n', text.n));
		tree_fields_release(&fields);
	}
	arena_free(&a);
	buf_release(&id);
	buf_release(&text);
	buf_release(&who);
}

static void check_whole(struct session *s, const uint8_t *p, size_t n)
{
	const char *wrong = tree_check_bytes(s, (const char *)p, n);

	if (!wrong)
		wrong = tree_check_links(s);
	if (wrong)
		fprintf(stderr, "%s\n", wrong);
	HOLDS(!wrong);
	for (size_t i = 1; i < s->problems.n; i++)
		HOLDS(s->problems.v[i].offset >= s->problems.v[i - 1].offset);
}

static void check_equal(struct session *a, struct session *b)
{
	struct buf x = { 0 }, y = { 0 };

	tree_check_dump(a, &x);
	tree_check_dump(b, &y);
	if (strcmp(x.p, y.p) != 0)
		fprintf(stderr, "%s\nread at once:\n%s", x.p, y.p);
	HOLDS(strcmp(x.p, y.p) == 0);
	buf_release(&x);
	buf_release(&y);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd = make_file(path);
	size_t middle = size ? (data[size / 2] * 257u + data[0]) % size : 0;
	struct session *grown, *whole;
	enum log_change change;
	struct err err = { 0 };

	set_bytes(fd, data, 0, middle);
	grown = open_and_load(path);
	set_bytes(fd, data, middle, size);
	if (size > middle) {
		HOLDS(format_tree.refresh(grown, &change, &err) == 0);
		HOLDS(change == LOG_GREW);
		load(grown);
	}
	whole = open_and_load(path);
	check_whole(whole, data, size);
	check_layout(whole);
	check_entries(whole);
	check_equal(grown, whole);
	session_free(&grown);
	session_free(&whole);
	close(fd);
	return 0;
}
