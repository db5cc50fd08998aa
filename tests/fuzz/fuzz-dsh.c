/*
 * fuzz-dsh.c - the bytes of a raw dsh log to the model: places and links are
 * sound, entries read back, the quick parser says what the full one says, a
 * log that is read while it grows ends as one that is read at once, and whole
 * lines give the same session raw and in zstd frames.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "format/dsh/internal.h"
#include "tests/lib/temp.h"
#include "tests/lib/tree-check.h"

enum { MAX_LOOKED = 64, LIMIT = 512 };

static char dir[TEMP_PATH], raw[TEMP_PATH + 64], packed[TEMP_PATH + 64];

static void clean_up(void)
{
	temp_remove(dir);
}

static void set_up(void)
{
	char path[TEMP_PATH + 32];

	if (*dir)
		return;
	temp_make(dir);
	atexit(clean_up);
	for (int i = 0; i < 2; i++) { /* two folders, one name: it is looked at, too */
		snprintf(path, sizeof(path), "%s/%c", dir, "rz"[i]);
		HOLDS(mkdir(path, 0700) == 0);
		snprintf(path, sizeof(path), "%s/%c/--w--", dir, "rz"[i]);
		HOLDS(mkdir(path, 0700) == 0);
		snprintf(path, sizeof(path), "%s/%c/--w--/s", dir, "rz"[i]);
		HOLDS(mkdir(path, 0700) == 0);
	}
	snprintf(raw, sizeof(raw), "%s/r/--w--/s/session.jsonl", dir);
	snprintf(packed, sizeof(packed), "%s/z/--w--/s/session.jsonl.zstd", dir);
}

static void put(const char *path, const void *p, size_t n, bool is_more)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (is_more ? O_APPEND : O_TRUNC), 0600);

	HOLDS(fd >= 0);
	HOLDS(write(fd, p, n) == (ssize_t)n);
	close(fd);
}

static void load(struct session *s)
{
	struct err err = { 0 };
	int more;

	do {
		more = format_dsh.step(s, 1000000, &err);
	} while (more > 0);
	HOLDS(more == 0 && s->is_complete);
}

static struct session *open_and_load(const char *path)
{
	struct session *s = NULL;
	struct err err = { 0 };

	HOLDS(format_dsh.open(path, &s, &err) == 0 && s);
	load(s);
	return s;
}

static bool collect(struct str lines, void *arg)
{
	buf_addstr(arg, lines);
	return true;
}

/* What a load says, without places in the file. */
static void dump(struct session *s, struct buf *out)
{
	buf_printf(out, "%u entries, %u leaves, refused: %s\n", s->n, s->nleaves,
		dsh_refusal(s) ? dsh_refusal(s) : "no");
	for (uint32_t e = 0; e < s->n; e++)
		buf_printf(out, "%u %u %d %x %lld\n", e, s->entries[e].parent, s->entries[e].kind,
			s->entries[e].flags & ~(unsigned)ENTRY_NEW, (long long)s->entries[e].time);
	HOLDS(s->ops->events(s, EVENTS_BALANCED, 0, collect, out, NULL) == 0);
}

static void check_entries(struct session *s)
{
	struct buf id = { 0 }, text = { 0 }, who = { 0 };
	struct arena a = { 0 };
	/* What a repair would add is in no count. */
	const char *wrong = session_proposed(s) ? NULL : tree_check_links(s);

	if (wrong)
		fprintf(stderr, "%s\n", wrong);
	HOLDS(!wrong);
	HOLDS(s->committed <= s->size);
	for (uint32_t e = 0; e < s->n && e < MAX_LOOKED; e++) {
		struct content content = { 0 };

		buf_clear(&id);
		buf_clear(&text);
		buf_clear(&who);
		HOLDS(s->ops->id(s, e, &id, NULL) == 0 && id.n > 0);
		HOLDS(session_find(s, (struct str){ id.p, id.n }) == e);
		HOLDS(s->ops->preview(s, e, LIMIT, &text, &who, NULL) == 0);
		HOLDS(text.n <= LIMIT);
		HOLDS(s->ops->content(s, e, LIMIT, &a, &content, NULL) == 0);
		s->ops->record(s, e, &text, NULL);
	}
	arena_free(&a);
	buf_release(&id);
	buf_release(&text);
	buf_release(&who);
}

/* Line by line: what the load reads of a line is what a whole look at it gives. */
static void check_quick(const uint8_t *data, size_t size)
{
	struct dsh_rec quick = { 0 }, whole = { 0 };
	const char *p = (const char *)data, *end = p + size;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		struct buf line = { 0 }; /* what stands behind a line can be read */

		if (!nl)
			break;
		buf_reserve(&line, (size_t)(nl - p) + 64);
		memset(line.p, 0, (size_t)(nl - p) + 64);
		memcpy(line.p, p, (size_t)(nl - p) + 1);
		rec_parse_quick(&quick, line.p, (size_t)(nl - p));
		rec_parse(&whole, line.p, (size_t)(nl - p));
		HOLDS(quick.state == whole.state);
		if (quick.state == REC_EVENT || quick.state == REC_PACKED) {
			HOLDS(quick.has_seq == whole.has_seq);
			HOLDS(!quick.has_seq || quick.seq == whole.seq);
			HOLDS(quick.count == whole.count);
			HOLDS(quick.type == whole.type);
		}
		buf_release(&line);
		p = nl + 1;
	}
	rec_release(&quick);
	rec_release(&whole);
}

static void check_grown(struct session *whole, const uint8_t *data, size_t size)
{
	size_t middle = size ? (data[size / 2] * 257u + data[0]) % size : 0;
	struct session *grown;
	enum log_change change;
	struct buf x = { 0 }, y = { 0 };

	put(raw, data, middle, false);
	grown = open_and_load(raw);
	put(raw, data + middle, size - middle, true);
	if (size > middle) {
		HOLDS(format_dsh.refresh(grown, &change, NULL) == 0);
		if (change == LOG_GREW)
			load(grown);
		else { /* what was derived from damage is read anew */
			session_free(&grown);
			grown = open_and_load(raw);
		}
	}
	dump(grown, &x);
	dump(whole, &y);
	if (strcmp(x.p, y.p) != 0)
		fprintf(stderr, "%s\nread at once:\n%s", x.p, y.p);
	HOLDS(strcmp(x.p, y.p) == 0);
	session_free(&grown);
	buf_release(&x);
	buf_release(&y);
}

/* The header in a frame of its own, then a few lines in each. */
static void check_packed(struct session *whole, const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;
	struct buf file = { 0 }, x = { 0 }, y = { 0 };
	struct session *s;
	size_t lines = 0;

	while (p < end) {
		const char *to = p;

		for (size_t n = lines ? 1 + lines % 3 : 1; n > 0 && to < end; n--, lines++)
			to = (const char *)memchr(to, '\n', (size_t)(end - to)) + 1;
		HOLDS(log_frame_encode(&file, p, (size_t)(to - p), NULL) == 0);
		p = to;
	}
	put(packed, file.p, file.n, false);
	s = open_and_load(packed);
	dump(s, &x);
	dump(whole, &y);
	if (strcmp(x.p, y.p) != 0)
		fprintf(stderr, "%s\nraw:\n%s", x.p, y.p);
	HOLDS(strcmp(x.p, y.p) == 0);
	session_free(&s);
	buf_release(&file);
	buf_release(&x);
	buf_release(&y);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char magic[] = { '\x28', '\xB5', '\x2F', '\xFD' };
	struct session *s;
	const struct dsh_src *src;

	set_up();
	if (size >= 4 && memcmp(data, magic, 4) == 0)
		return 0; /* frames, whatever the name: fuzz-frames */
	check_quick(data, size);
	put(raw, data, size, false);
	s = open_and_load(raw);
	check_entries(s);
	check_grown(s, data, size);
	src = s->src;
	if (src->has_header && !src->lenient && !s->is_torn && size && data[size - 1] == '\n')
		check_packed(s, data, size);
	session_free(&s);
	return 0;
}
