/*
 * t-dsh-follow.c - a log that another process appends to: half a frame, the
 * rest of it, a batch that its writer takes back by cutting the file, another
 * one in its place; in both encodings, each step against a fresh load.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "format/dsh/dsh.h"
#include "log/frames.h"
#include "store/store.h"
#include "tests/lib/temp.h"

static char dir[TEMP_PATH];
static char *path;
static struct buf file; /* as it lies there */
static bool is_zstd;
static struct work *work;
static uint64_t seq;

static void add_event(struct buf *out, const char *type, const char *data, const char *more)
{
	buf_printf(out, "{\"type\":\"%s\",\"seq\":%llu,\"time\":%llu,\"data\":%s%s}\n", type,
		(unsigned long long)seq, (unsigned long long)(1000 + seq), data, more);
	seq++;
}

/* A whole turn of one prompt; `text` bytes of it. */
static void add_turn(struct buf *out, unsigned turn, size_t text)
{
	struct buf data = { 0 };
	unsigned noise = turn * 7 + 1;

	buf_printf(&data, "{\"turn\":%u}", turn);
	add_event(out, "turn/start", data.p, "");
	buf_clear(&data);
	buf_printf(&data, "{\"id\":\"m%u\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"", turn);
	for (size_t i = 0; i < text; i++) {
		noise = noise * 1103515245 + 12345;
		buf_addc(&data, (char)('a' + (noise >> 16) % 26));
	}
	buf_adds(&data, "\"}],\"source\":{\"kind\":\"user\"}}");
	add_event(out, "user/message", data.p, ",\"surfaceOp\":\"append\"");
	buf_clear(&data);
	buf_printf(&data, "{\"turn\":%u,\"reason\":{\"kind\":\"completed\"}}", turn);
	add_event(out, "turn/end", data.p, "");
	buf_release(&data);
}

/* The bytes that a writer appends for these lines. */
static struct buf batch(const struct buf *lines)
{
	struct buf bytes = { 0 };

	if (is_zstd)
		assert_int_equal(log_frame_encode(&bytes, lines->p, lines->n, NULL), 0);
	else
		buf_add(&bytes, lines->p, lines->n);
	return bytes;
}

static struct buf turn_bytes(unsigned turn, size_t text)
{
	struct buf lines = { 0 }, bytes;

	add_turn(&lines, turn, text);
	bytes = batch(&lines);
	buf_release(&lines);
	return bytes;
}

/* Appends as a writer does: in place. */
static void append(const char *p, size_t n)
{
	FILE *to = fopen(path, "ab");

	assert_non_null(to);
	assert_int_equal(fwrite(p, 1, n, to), n);
	assert_int_equal(fclose(to), 0);
	buf_add(&file, p, n);
}

static void cut(size_t n)
{
	file.n = n;
	temp_put(path, file.p, n);
}

static bool collect(struct str lines, void *arg)
{
	buf_addstr(arg, lines);
	return true;
}

static void events_of(struct session *s, struct buf *out)
{
	assert_int_equal(s->ops->events(s, EVENTS_BALANCED, 0, collect, out, NULL), 0);
}

static char said[200]; /* by the newest refresh */

static enum work_change refresh(void)
{
	enum work_change change;
	struct err err = { 0 };

	if (work_refresh(work, &change, said, &err) < 0 || work_load(work, &err) < 0)
		fail_msg("%s", err.text);
	return change;
}

/* What is on the screen is what a fresh load says. */
static void is_as_fresh(void)
{
	struct work *other = NULL;
	struct buf a = { 0 }, b = { 0 };
	struct session *s = work_session(work), *f;
	struct err err = { 0 };

	if (work_open(&other, path, &err) < 0 || work_load(other, &err) < 0)
		fail_msg("%s", err.text);
	f = work_session(other);
	events_of(s, &a);
	events_of(f, &b);
	assert_int_equal(a.n, b.n);
	assert_memory_equal(a.p ? a.p : "", b.p ? b.p : "", a.n);
	assert_int_equal(s->n, f->n);
	assert_int_equal(s->is_torn, f->is_torn);
	assert_int_equal(s->committed, f->committed);
	assert_int_equal(s->size, f->size);
	assert_int_equal(s->problems.n, f->problems.n);
	assert_int_equal(s->tip, f->tip);
	for (uint32_t e = 0; e < s->n; e++) {
		assert_int_equal(s->entries[e].off, f->entries[e].off);
		assert_int_equal(s->entries[e].parent, f->entries[e].parent);
		assert_int_equal(s->entries[e].flags & ~ENTRY_NEW, f->entries[e].flags);
	}
	buf_release(&a);
	buf_release(&b);
	work_close(&other);
}

static void begin(bool zstd)
{
	struct buf head = { 0 }, bytes;
	struct err err = { 0 };

	is_zstd = zstd;
	seq = 0;
	temp_clear(dir);
	free(path);
	path = xasprintf("%s/session.jsonl%s", dir, zstd ? ".zstd" : "");
	buf_clear(&file);
	buf_adds(&head, "{\"type\":\"session\",\"version\":0,\"id\":\"live\",\"createdAt\":1,\"delegationDepth\":0}\n");
	bytes = batch(&head);
	append(bytes.p, bytes.n);
	buf_release(&bytes);
	buf_release(&head);
	bytes = turn_bytes(1, 40);
	append(bytes.p, bytes.n);
	buf_release(&bytes);
	if (work_open(&work, path, &err) < 0 || work_load(work, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(work_session(work)->n, 1);
}

static void end(void)
{
	work_close(&work);
}

/* The tail comes in pieces; each is looked at. */
static void test_pieces(void **state)
{
	size_t sizes[] = { 40, 5000, 300000 };

	(void)state;
	for (int zstd = 0; zstd < 2; zstd++) {
		begin(zstd);
		for (unsigned i = 0; i < 3; i++) {
			struct buf bytes = turn_bytes(i + 2, sizes[i]);
			size_t at = 0, step = bytes.n / 5 + 1;
			uint32_t before = work_session(work)->n;

			while (at < bytes.n) {
				size_t n = bytes.n - at < step ? bytes.n - at : step;

				append(bytes.p + at, n);
				at += n;
				assert_int_not_equal(refresh(), WORK_SAME);
				is_as_fresh();
				assert_int_equal(work_session(work)->is_torn, at < bytes.n);
			}
			assert_int_equal(work_session(work)->n, before + 1);
			assert_int_equal(work_session(work)->problems.n, 0);
			buf_release(&bytes);
		}
		assert_int_equal(refresh(), WORK_SAME);
		end();
	}
}

/* A writer whose append failed cuts the file back, and then tries again. */
static void test_rollback(void **state)
{
	(void)state;
	for (int zstd = 0; zstd < 2; zstd++) {
		struct buf one, two;
		size_t good;
		char *expect;

		begin(zstd);
		good = file.n;
		one = turn_bytes(2, 4000);
		append(one.p, one.n / 2);
		assert_int_equal(refresh(), WORK_GREW);
		is_as_fresh();
		cut(good);
		assert_int_not_equal(refresh(), WORK_SAME);
		is_as_fresh();
		assert_non_null(strstr(said, "the end of the file was taken back: "));
		assert_null(strstr(said, "replaced"));
		assert_false(work_session(work)->is_torn);
		assert_int_equal(work_session(work)->n, 1);
		/* half of one batch is seen, and then another, longer one in its place */
		append(one.p, one.n / 2);
		refresh();
		cut(good);
		seq = 3;
		two = turn_bytes(2, 9000);
		append(two.p, two.n);
		refresh();
		is_as_fresh();
		assert_int_equal(work_session(work)->n, 2);
		/* a whole batch is seen and taken back all the same */
		good = file.n;
		buf_release(&one);
		one = turn_bytes(3, 200);
		append(one.p, one.n);
		refresh();
		assert_int_equal(work_session(work)->n, 3);
		cut(good);
		refresh();
		is_as_fresh();
		assert_int_equal(work_session(work)->n, 2);
		expect = xasprintf("the end of the file was taken back: %zu bytes, 3 events, "
				   "1 entry; the tip is now 4",
			one.n);
		assert_string_equal(said, expect);
		free(expect);
		buf_release(&one);
		buf_release(&two);
		end();
	}
}

/* Cut back by writing it anew: what stood in it before it was empty is what it is compared with. */
static void test_empty_moment(void **state)
{
	(void)state;
	for (int zstd = 0; zstd < 2; zstd++) {
		struct buf more;
		size_t good;
		char *expect;

		begin(zstd);
		good = file.n;
		more = turn_bytes(2, 4000);
		append(more.p, more.n);
		refresh();
		assert_int_equal(truncate(path, 0), 0);
		assert_int_equal(refresh(), WORK_REPLACED);
		assert_int_equal(work_session(work)->n, 0);
		cut(good);
		refresh();
		is_as_fresh();
		expect = xasprintf("the end of the file was taken back: %zu bytes, 3 events, "
				   "1 entry; the tip is now 1",
			more.n);
		assert_string_equal(said, expect);
		assert_int_equal(work_session(work)->n, 1);
		assert_false(work_session(work)->entries[0].flags & ENTRY_NEW);
		free(expect);
		buf_release(&more);
		end();
	}
}

/* The same name with another file behind it, and the same file with other bytes. */
static void test_replaced(void **state)
{
	char *other = xasprintf("%s/other", dir);
	struct buf one;

	(void)state;
	begin(false);
	one = turn_bytes(2, 100);
	append(one.p, one.n);
	refresh();
	temp_put(other, file.p, file.n - one.n); /* shorter, too, but a file of its own */
	assert_int_equal(rename(other, path), 0);
	assert_int_equal(refresh(), WORK_REPLACED);
	assert_string_equal(said, "the file was replaced: 1 entry is gone; the tip is now 1");
	file.n -= one.n;
	append(one.p, one.n);
	refresh();
	*strstr(file.p, "\"time\":") = ' '; /* the first event's: it is another one now */
	cut(file.n - 10);
	assert_int_equal(refresh(), WORK_REPLACED);
	assert_non_null(strstr(said, "the file was written anew"));
	buf_release(&one);
	free(other);
	end();
}

static void is_in_trouble(const char *reason)
{
	enum work_change change;
	struct err err = { 0 };
	uint32_t n = work_session(work)->n;

	for (int i = 0; i < 2; i++) {
		assert_true(work_refresh(work, &change, said, &err) < 0);
		assert_non_null(strstr(err.text, reason));
		assert_string_equal(work_trouble(work), err.text);
		assert_int_equal(work_session(work)->n, n); /* what was read stays */
		err_clear(&err);
	}
}

/* The log turns into something that is no file, and back again. */
static void test_no_file(void **state)
{
	char *kept = xasprintf("%s/kept", dir);
	enum work_change change;

	(void)state;
	for (int zstd = 0; zstd < 2; zstd++) {
		begin(zstd);
		assert_string_equal(work_trouble(work), "");
		assert_int_equal(rename(path, kept), 0);
		assert_int_equal(work_refresh(work, &change, said, NULL), 0);
		assert_int_equal(change, WORK_GONE);
		assert_string_equal(
			work_trouble(work), "the file is gone; what was read stays on the screen");
		assert_int_equal(mkfifo(path, 0600), 0);
		is_in_trouble("is a fifo");
		assert_int_equal(unlink(path), 0);
		assert_int_equal(mkdir(path, 0700), 0);
		is_in_trouble("is a folder");
		assert_int_equal(rmdir(path), 0);
		assert_int_equal(rename(kept, path), 0);
		refresh();
		assert_string_equal(work_trouble(work), "");
		is_as_fresh();
		end();
	}
	free(kept);
}

/* What only a repair would add is drawn, and is neither an entry of the file nor its tip. */
static void is_open_behind_first(struct session *s)
{
	struct layout layout;
	struct branch *v;
	size_t n;

	assert_int_equal(session_own(s), 1);
	assert_int_equal(session_committed(s), 1);
	assert_int_equal(session_proposed(s), 2);
	assert_int_equal(s->tip, 0);
	assert_int_equal(s->tip_rule, TIP_LAST_ENTRY);
	assert_int_equal(s->last_entry, 0);
	assert_int_equal(s->nroots, 1);
	assert_int_equal(s->nforks, 0);
	layout_init(&layout);
	layout_build(&layout, s);
	v = layout_branches(&layout, &n);
	assert_int_equal(n, s->n - 2); /* its own, and one for another session */
	assert_int_equal(v[0].leaf, 0);
	assert_int_equal(v[0].length, 1);
	assert_int_equal(v[0].fork, ENTRY_NONE);
	assert_true(v[0].is_tip);
	free(v);
	layout_release(&layout);
}

static void refuses_what_is_not_there(void)
{
	struct done d = { 0 };

	for (uint32_t e = 1; e < 3; e++) {
		struct err err = { 0 };

		assert_int_equal(work_checkout(work, e, false, &d, &err), ERR_NOTFOUND);
		assert_non_null(strstr(err.text, "not in the file: a repair would add it"));
		err_clear(&err);
		assert_int_equal(
			work_label(work, e, str_of("x"), false, &d, &err), ERR_NOTFOUND);
	}
	done_release(&d);
}

/* An open turn: closers come and go with what is appended. */
static void test_open_turn(void **state)
{
	struct session_kin kin = { .id = "kin",
		.path = "/kin",
		.seed = UINT64_MAX,
		.created = INT64_MAX,
		.is_agent = true };

	(void)state;
	for (int zstd = 0; zstd < 2; zstd++) {
		struct buf lines = { 0 }, bytes;

		begin(zstd);
		add_event(&lines, "turn/start", "{\"turn\":2}", "");
		add_event(&lines, "step/start", "{\"turn\":2,\"step\":1}", "");
		bytes = batch(&lines);
		append(bytes.p, bytes.n);
		buf_release(&bytes);
		buf_clear(&lines);
		refresh();
		is_as_fresh();
		assert_true(work_needs_repair(work));
		assert_int_equal(work_session(work)->n, 3); /* the ends of step and turn */
		assert_string_equal(said, ""); /* nothing came that is an entry */
		assert_true(work_interrupted(work, said));
		assert_string_equal(said, "turn 2 was interrupted, unless it still runs: "
					  "a repair would add 2 events");
		is_open_behind_first(work_session(work));
		work_session(work)->ops->adopt(work_session(work), &kin, 1);
		is_open_behind_first(work_session(work));
		work_session(work)->ops->adopt(work_session(work), &kin, 0);
		refuses_what_is_not_there();
		add_event(&lines, "step/end", "{\"turn\":2,\"step\":1}", "");
		add_event(&lines, "turn/end", "{\"turn\":2,\"reason\":{\"kind\":\"completed\"}}", "");
		bytes = batch(&lines);
		append(bytes.p, bytes.n);
		buf_release(&bytes);
		buf_release(&lines);
		refresh();
		is_as_fresh();
		assert_false(work_needs_repair(work));
		assert_false(work_interrupted(work, said));
		assert_int_equal(work_session(work)->n, 1);
		end();
	}
}

/* Forks hang in the tree, go when it grows, and come again. */
static void test_kin(void **state)
{
	struct session_kin kin[] = {
		{ .id = "late", .path = "/late", .seed = UINT64_MAX, .created = 1500, .is_agent = true },
		{ .id = "early", .path = "/early", .title = "Early", .seed = 3, .created = 9 },
	};
	struct session *s;
	struct buf bytes;

	(void)state;
	begin(true);
	bytes = turn_bytes(2, 30);
	append(bytes.p, bytes.n);
	buf_release(&bytes);
	refresh();
	s = work_session(work);
	assert_int_equal(s->n, 2);
	for (int i = 0; i < 2; i++) {
		s->ops->adopt(s, kin, 2);
		assert_int_equal(s->n, 4);
		assert_int_equal(session_own(s), 2);
		assert_int_equal(s->tip, 1);
		assert_int_equal(s->entries[2].parent, 0); /* early: behind event 2 */
		assert_int_equal(s->entries[3].parent, 1);
		assert_string_equal(s->ops->opens(s, 2), "/early");
		assert_string_equal(s->ops->opens(s, 3), "/late");
		assert_null(s->ops->opens(s, 0));
		assert_int_equal(s->problems.n, 0);
	}
	bytes = turn_bytes(3, 30);
	append(bytes.p, bytes.n);
	buf_release(&bytes);
	assert_int_equal(refresh(), WORK_GREW);
	is_as_fresh();
	s->ops->adopt(s, kin, 2);
	s->ops->adopt(s, kin, 0);
	is_as_fresh();
	end();
}

static int setup(void **state)
{
	(void)state;
	temp_make(dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(path);
	buf_release(&file);
	temp_remove(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_rollback),
		cmocka_unit_test(test_empty_moment),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_open_turn),
		cmocka_unit_test(test_kin),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
