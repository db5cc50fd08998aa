/*
 * fuzz-reflog.c - the bytes of a reflog beside a session of four entries: tip,
 * labels and lost appends are of what is there, whatever the lines say; a line
 * of ours behind the committed part decides, and nothing before it changes.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/internal.h"
#include "tests/lib/temp.h"

static const char session[] =
	"{\"id\":\"a\",\"role\":\"USER\",\"content\":\"one\",\"timestamp\":1}\n"
	"{\"id\":\"b\",\"parentId\":\"a\",\"role\":\"ASSISTANT\",\"content\":\"two\",\"timestamp\":2}\n"
	"{\"id\":\"c\",\"parentId\":\"b\",\"role\":\"USER\",\"content\":\"three\",\"timestamp\":3}\n"
	"{\"id\":\"d\",\"parentId\":\"a\",\"role\":\"USER\",\"content\":\"four\",\"timestamp\":4}\n";

static char dir[TEMP_PATH], file[TEMP_PATH + 16], reflog[TEMP_PATH + 16];

static void clean_up(void)
{
	temp_remove(dir);
}

static void set_up(void)
{
	if (*dir)
		return;
	temp_make(dir);
	atexit(clean_up);
	setenv("HOME", dir, 1);
	unsetenv("XDG_STATE_HOME");
	snprintf(file, sizeof(file), "%s/s.jsonl", dir);
	snprintf(reflog, sizeof(reflog), "%s/s.reflog", dir);
	temp_puts(file, session);
}

static void put(const void *p, size_t n)
{
	int fd = open(reflog, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	HOLDS(fd >= 0);
	HOLDS(write(fd, p, n) == (ssize_t)n);
	close(fd);
}

static struct work *load(void)
{
	struct work *w;

	HOLDS(work_open(&w, file, NULL) == 0);
	HOLDS(work_load(w, NULL) == 0);
	return w;
}

static bool has_lost(struct work *w, struct str id)
{
	const struct reflog *r = &w->reflog;

	for (size_t i = 0; i < r->nlost; i++)
		if (str_eq(r->lines[r->lost[i]].entry, id))
			return true;
	return false;
}

/* What is lost is whole, not in the file, and each id is lost once. */
static void check_lost(struct work *w)
{
	const struct reflog *r = &w->reflog;
	struct json_scan sc;

	for (size_t i = 0; i < r->nlost; i++) {
		const struct reflog_line *l = &r->lines[r->lost[i]];
		struct buf raw = { 0 };

		HOLDS(l->op == REFLOG_APPEND);
		HOLDS(session_find(w->s, l->entry) == ENTRY_NONE);
		HOLDS(reflog_entry_bytes(r, r->lost[i], &raw, NULL) == 0);
		HOLDS(reflog_entry_is_good(buf_str(&raw), &sc));
		HOLDS(!memchr(raw.p, '\n', raw.n));
		for (size_t k = 0; k < i; k++)
			HOLDS(!str_eq(l->entry, r->lines[r->lost[k]].entry));
		buf_release(&raw);
	}
}

/* The lines from the back, said once more in the plainest way. */
static void check_tip(struct work *w)
{
	const struct reflog *r = &w->reflog;
	uint32_t want = w->s->last_entry;

	for (size_t i = r->n; i-- > 0;) {
		if (r->lines[i].op != REFLOG_CHECKOUT)
			continue;
		if (r->lines[i].entries >= 4 && session_find(w->s, r->lines[i].entry) != ENTRY_NONE)
			want = session_find(w->s, r->lines[i].entry);
		break;
	}
	HOLDS(w->s->tip == want);
	for (uint32_t e = 0; e < 4; e++) {
		const struct label *now = session_label(w->s, e);
		struct str label = { "", 0 };

		for (size_t i = 0; i < r->n; i++)
			if (r->lines[i].op == REFLOG_LABEL && session_find(w->s, r->lines[i].entry) == e)
				label = r->lines[i].from;
		HOLDS(now ? str_eq(now->text, label) : label.n == 0);
	}
}

/* Behind what is committed a checkout, a label and an append of ours. */
static void check_written(struct work *w, const uint8_t *data)
{
	const struct reflog_file *f = &w->reflog.file[REFLOG_BESIDE];
	static const char entry[] = "{\"id\":\"e\",\"parentId\":\"c\",\"role\":\"USER\",\"content\":\"five\","
				    "\"timestamp\":5}";
	size_t before = w->reflog.n;
	struct buf all = { 0 };
	struct work *now;

	buf_add(&all, data, (size_t)f->committed);
	if (all.n && all.p[all.n - 1] != '\n')
		buf_addc(&all, '\n');
	reflog_put_checkout(&all, str_of("b"), str_of("d"), 4, 10);
	reflog_put_label(&all, str_of("c"), str_of("a label"), 11);
	reflog_put_append(&all, str_of(entry), 12);
	put(all.p, all.n);
	now = load();
	HOLDS(now->reflog.n == before + 3);
	for (size_t i = 0; i < before; i++)
		HOLDS(now->reflog.lines[i].op == w->reflog.lines[i].op &&
			str_eq(now->reflog.lines[i].entry, w->reflog.lines[i].entry));
	HOLDS(now->s->tip == session_find(now->s, str_of("b")));
	HOLDS(str_eq(session_label(now->s, session_find(now->s, str_of("c")))->text, str_of("a label")));
	HOLDS(has_lost(now, str_of("e")));
	check_lost(now);
	check_tip(now);
	work_close(&now);
	buf_release(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct work *w;
	size_t n;

	set_up();
	put(data, size);
	w = load();
	HOLDS(w->s->n >= 4 && session_own(w->s) == 4);
	HOLDS(w->reflog.file[REFLOG_BESIDE].committed <= size);
	/* without one good line it is somebody else's file */
	HOLDS(!w->reflog.file[REFLOG_BESIDE].unreadable || w->reflog.n == 0);
	check_tip(w);
	check_lost(w);
	work_reflog(w, &n);
	HOLDS(n == w->reflog.n);
	check_written(w, data);
	work_close(&w);
	return 0;
}
