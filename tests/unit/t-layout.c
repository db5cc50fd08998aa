/*
 * Layouts: pictures of small trees, and random trees against a plain reference
 * that follows the definitions entry by entry.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "model/layout.h"
#include "tests/lib/mem-session.h"

static void id_of(struct session *s, uint32_t entry, struct buf *out)
{
	s->ops->id(s, entry, out, NULL);
}

/* One line a shown row: the drawing, the id, '*' on the tip's branch, '@' the tip, '+N' folded. */
static char *draw(struct session *s, const struct layout *l)
{
	struct buf out = { 0 };
	char prefix[64];

	buf_adds(&out, "");
	for (uint32_t line = 0; line < layout_lines(l); line++) {
		uint32_t entry = layout_entry(l, line), row = l->row_of[entry];

		buf_add(&out, prefix, layout_prefix(l, row, 0, prefix, sizeof(prefix)));
		id_of(s, entry, &out);
		if (entry == s->tip)
			buf_addc(&out, '@');
		else if (layout_on_tip(l, row))
			buf_addc(&out, '*');
		if (layout_is_folded(l, row))
			buf_printf(&out, "+%u", layout_hidden(l, row));
		buf_addc(&out, '\n');
		assert_int_equal(layout_line(l, entry), line);
	}
	assert_int_equal(layout_entry(l, layout_lines(l)), ENTRY_NONE);
	return buf_take(&out);
}

static void assert_picture(struct session *s, const struct layout *l, const char *want)
{
	char *have = draw(s, l);

	if (strcmp(have, want) != 0)
		fail_msg("drawn:\n%s\nexpected:\n%s", have, want);
	free(have);
}

/* The tree of most tests; the tip is h. */
static const char tree[] = "a b:a c:b d:a e:d f:d g:f i:f h:g k j:k";
static const char picture[] = "a*\n"
	"+b\n"
	"|c\n"
	"`d*\n"
	" +e\n"
	" `f*\n"
	"  +g*\n"
	"  |h@\n"
	"  `i\n"
	"k\n"
	"j\n";

static struct session *make(struct layout *l)
{
	struct session *s = mem_tree(tree);

	s->tip = session_find(s, str_of("h"));
	s->tip_rule = TIP_CHECKOUT;
	layout_init(l);
	layout_build(l, s);
	return s;
}

static void done(struct session **s, struct layout *l)
{
	layout_release(l);
	session_free(s);
}

static uint32_t row(struct session *s, const struct layout *l, const char *id)
{
	return l->row_of[session_find(s, str_of(id))];
}

static void test_picture(void **state)
{
	struct layout l;
	struct session *s = make(&l);
	char prefix[8];

	assert_picture(s, &l, picture);
	assert_int_equal(l.n, 11);
	assert_int_equal(l.nsegs, 8);
	assert_int_equal(layout_segment(&l, row(s, &l, "h"))->depth, 3);
	assert_int_equal(layout_segment(&l, row(s, &l, "h"))->indent, 3);
	assert_int_equal(layout_below(&l, row(s, &l, "a")), 8);
	assert_int_equal(layout_below(&l, row(s, &l, "d")), 5);
	assert_int_equal(layout_below(&l, row(s, &l, "h")), 0);
	/* Parts of the drawing. */
	assert_int_equal(layout_prefix(&l, row(s, &l, "h"), 1, prefix, 8), 2);
	assert_memory_equal(prefix, " |", 2);
	assert_int_equal(layout_prefix(&l, row(s, &l, "g"), 2, prefix, 8), 1);
	assert_memory_equal(prefix, "+", 1);
	assert_int_equal(layout_prefix(&l, row(s, &l, "g"), 0, prefix, 1), 1);
	assert_memory_equal(prefix, " ", 1);
	assert_int_equal(layout_prefix(&l, row(s, &l, "g"), 3, prefix, 8), 0);
	assert_int_equal(layout_prefix(&l, row(s, &l, "g"), 0, prefix, 0), 0);
	assert_int_equal(layout_prefix(&l, row(s, &l, "a"), 0, prefix, 8), 0);
	done(&s, &l);
}

/* What stands left of a row where at most `levels` levels have their place. */
static void outline_of(const struct layout *l, uint32_t at, uint32_t levels, char out[64])
{
	char codes[32];
	size_t n = layout_outline(l, at, levels, codes);

	assert_true(n <= levels);
	*out = '\0';
	for (size_t i = 0; i < n; i++)
		snprintf(out + strlen(out), 12, codes[i] == '#' ? "%u" : "%c", codes[i] == '#' ?
			layout_segment(l, at)->indent : (unsigned)codes[i]);
}

/* Twenty forks below each other: whatever the room, no two depths look the same. */
static void test_outline(void **state)
{
	struct buf text = { 0 };
	struct session *s;
	struct layout l;
	char out[21][64];

	buf_adds(&text, "a0");
	for (int i = 1; i <= 20; i++)
		buf_printf(&text, " a%d:a%d b%d:a%d", i, i - 1, i, i - 1);
	s = mem_tree(text.p);
	layout_init(&l);
	layout_build(&l, s);
	for (uint32_t levels = 3; levels <= 24; levels++) {
		for (int i = 0; i <= 20; i++) {
			char id[16];

			snprintf(id, sizeof(id), "a%d", i);
			outline_of(&l, row(s, &l, id), levels, out[i]);
			for (int k = 0; k < i; k++)
				assert_string_not_equal(out[i], out[k]);
		}
		if (levels == 7) {
			assert_string_equal(out[0], "");
			assert_string_equal(out[7], "||||||+");
			assert_string_equal(out[8], "|||||8+");
			assert_string_equal(out[20], "|||||20+");
			outline_of(&l, row(s, &l, "b20"), levels, out[0]);
			assert_string_equal(out[0], "|||||20`");
		}
	}
	done(&s, &l);
	buf_release(&text);
}

static void test_empty(void **state)
{
	struct session *s = mem_session();
	struct layout l;
	size_t n;

	layout_init(&l);
	assert_int_equal(layout_lines(&l), 0);
	layout_build(&l, s); /* nothing linked yet */
	assert_int_equal(layout_lines(&l), 0);
	assert_int_equal(layout_line(&l, 0), ENTRY_NONE);
	assert_int_equal(layout_next_fork(&l, 0, 1), ENTRY_NONE);
	assert_int_equal(layout_sibling(&l, 0, 1), ENTRY_NONE);
	assert_int_equal(layout_next_branch(&l, 0, -1), ENTRY_NONE);
	layout_fold_all(&l, true);
	layout_fold(&l, 0, true);
	layout_set_show(&l, SHOW_TALK);
	free(layout_branches(&l, &n));
	assert_int_equal(n, 0);
	mem_add(s, "a", NULL);
	layout_build(&l, s); /* added, but not linked */
	assert_int_equal(layout_lines(&l), 0);
	done(&s, &l);
}

static void test_tip_moves(void **state)
{
	struct layout l;
	struct session *s = make(&l);

	s->tip = session_find(s, str_of("b"));
	layout_set_tip(&l);
	assert_picture(s, &l, "a*\n+b@\n|c\n`d\n +e\n `f\n  +g\n  |h\n  `i\nk\nj\n");
	s->tip = ENTRY_NONE;
	layout_set_tip(&l);
	assert_picture(s, &l, "a\n+b\n|c\n`d\n +e\n `f\n  +g\n  |h\n  `i\nk\nj\n");
	done(&s, &l);
}

static void test_folds(void **state)
{
	struct layout l;
	struct session *s = make(&l);

	layout_fold(&l, row(s, &l, "d"), true);
	assert_picture(s, &l, "a*\n+b\n|c\n`d*+5\nk\nj\n");
	assert_int_equal(layout_line(&l, session_find(s, str_of("h"))), 3);
	layout_fold(&l, row(s, &l, "f"), true); /* inside of a fold */
	layout_fold(&l, row(s, &l, "b"), true);
	assert_picture(s, &l, "a*\n+b+1\n`d*+5\nk\nj\n");
	layout_fold(&l, row(s, &l, "d"), false);
	assert_picture(s, &l, "a*\n+b+1\n`d*\n +e\n `f*+3\nk\nj\n");
	layout_fold(&l, row(s, &l, "e"), true); /* nothing below it to hide */
	assert_false(layout_is_folded(&l, row(s, &l, "e")));
	layout_unfold_to(&l, session_find(s, str_of("f"))); /* is shown already */
	assert_true(layout_is_folded(&l, row(s, &l, "f")));
	layout_unfold_to(&l, session_find(s, str_of("h")));
	assert_picture(s, &l, "a*\n+b+1\n`d*\n +e\n `f*\n  +g*\n  |h@\n  `i\nk\nj\n");
	layout_fold_all(&l, true);
	assert_picture(s, &l, "a*\n+b+1\n`d*\n +e\n `f*\n  +g*\n  |h@\n  `i\nk+1\n");
	layout_fold_all(&l, false);
	assert_picture(s, &l, picture);
	done(&s, &l);
}

static void test_growth_keeps_folds(void **state)
{
	struct layout l;
	struct session *s = make(&l);

	layout_fold(&l, row(s, &l, "d"), true);
	layout_fold(&l, row(s, &l, "k"), true);
	mem_add(s, "x", "b");
	mem_add(s, "y", "d");
	session_link(s, true);
	assert_int_equal(layout_line(&l, s->n - 1), ENTRY_NONE); /* not in the layout yet */
	layout_build(&l, s);
	assert_picture(s, &l, "a*\n+b\n|+c\n|`x\n`d*+6\nk+1\n");
	done(&s, &l);
}

static void test_filters(void **state)
{
	struct layout l;
	struct session *s = make(&l);
	const char *answers[] = { "b", "e", "g" };

	for (int i = 0; i < 3; i++)
		s->entries[session_find(s, str_of(answers[i]))].kind = KIND_ASSISTANT;
	s->entries[session_find(s, str_of("c"))].kind = KIND_TOOL_RESULT;
	s->entries[session_find(s, str_of("g"))].flags |= ENTRY_HAS_CALLS;
	s->entries[session_find(s, str_of("i"))].kind = KIND_SYSTEM;
	s->entries[session_find(s, str_of("k"))].flags |= ENTRY_ORPHAN;
	layout_set_show(&l, SHOW_PROMPTS);
	assert_picture(s, &l, "a*\n`d*\n `f*\n  |h@\nk\nj\n");
	layout_set_show(&l, SHOW_TALK);
	assert_picture(s, &l, "a*\n+b\n`d*\n +e\n `f*\n  +g*\n  |h@\nk\nj\n");
	layout_set_show(&l, SHOW_TOOLS);
	assert_picture(s, &l, "|c\n  +g*\n");
	assert_int_equal(layout_line(&l, 0), 0); /* nothing above it: the first line */
	layout_set_show(&l, SHOW_PROBLEMS);
	assert_picture(s, &l, "k\n");
	layout_unfold_to(&l, session_find(s, str_of("k")));
	assert_int_equal(l.show, SHOW_PROBLEMS);
	layout_unfold_to(&l, session_find(s, str_of("h"))); /* the filter hides it */
	assert_int_equal(l.show, SHOW_ALL);
	layout_set_show(&l, SHOW_PROMPTS);
	layout_fold(&l, row(s, &l, "d"), true);
	assert_picture(s, &l, "a*\n`d*+5\nk\nj\n");
	layout_set_show(&l, 99);
	assert_picture(s, &l, "a*\n+b\n|c\n`d*+5\nk\nj\n");
	done(&s, &l);
}

typedef uint32_t move_fn(const struct layout *l, uint32_t row, int dir);

/* `want`: pairs of ids, "a>b" for a step from a to b, "a>" for none. */
static void assert_moves(struct session *s, const struct layout *l, move_fn *move, int dir,
	const char *want)
{
	char from[8], to[8];
	int used = 0;

	for (; sscanf(want, " %7[^>]>%n", from, &used) == 1 && used; want += used) {
		uint32_t at, expected = ENTRY_NONE;

		want += used;
		used = 0;
		if (*want && *want != ' ') {
			assert_int_equal(sscanf(want, "%7[^ ]%n", to, &used), 1);
			expected = row(s, l, to);
		}
		at = move(l, row(s, l, from), dir);
		if (at != expected)
			fail_msg("from %s in direction %d: row %d, expected %d", from, dir, (int)at,
				(int)expected);
	}
}

static void test_movements(void **state)
{
	struct layout l;
	struct session *s = make(&l);

	assert_moves(s, &l, layout_next_fork, 1, "a>d b>d d>f f> k> j>");
	assert_moves(s, &l, layout_next_fork, -1, "a> b>a d>a e>d f>d g>f j>f");
	assert_moves(s, &l, layout_sibling, 1, "a>k b>c c>d d> e>f f> g>h h>i i> k>j j>");
	assert_moves(s, &l, layout_sibling, -1, "j>k k>a a> b> c>b d>c f>e e> i>h h>g g>");
	assert_moves(s, &l, layout_next_branch, 1, "a>b b>e c>e d>e e>g f>g g>i h>i i>k k> j>");
	assert_moves(s, &l, layout_next_branch, -1, "j>i k>i i>g h>e g>e f>e e>b d>b b> a>");
	assert_int_equal(layout_next_fork(&l, 99, 1), ENTRY_NONE);
	/* Hidden rows are no targets; a folded row stands for the branches below it. */
	layout_fold(&l, row(s, &l, "f"), true);
	assert_moves(s, &l, layout_next_fork, 1, "a>d d>f f>");
	assert_moves(s, &l, layout_next_branch, 1, "a>b c>e e>f f>k");
	assert_moves(s, &l, layout_next_branch, -1, "k>f f>e");
	layout_fold(&l, row(s, &l, "b"), true);
	assert_moves(s, &l, layout_sibling, 1, "b>d");
	assert_moves(s, &l, layout_sibling, -1, "d>b");
	done(&s, &l);
}

static void assert_branches(struct session *s, const struct layout *l, const char *want)
{
	size_t n;
	struct branch *v = layout_branches(l, &n);
	struct buf have = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_addc(&have, ' ');
		id_of(s, v[i].leaf, &have);
		buf_printf(&have, "%u", v[i].length);
		if (v[i].fork != ENTRY_NONE)
			id_of(s, v[i].fork, &have);
		buf_addc(&have, '/');
		if (v[i].first != ENTRY_NONE)
			id_of(s, v[i].first, &have);
		if (v[i].is_tip)
			buf_addc(&have, '@');
		assert_int_equal(v[i].last_time, s->entries[v[i].leaf].time);
	}
	assert_string_equal(have.p, want);
	buf_release(&have);
	free(v);
}

static void test_branches(void **state)
{
	struct layout l;
	struct session *s = make(&l);

	assert_branches(s, &l, "c3a/b e3d/e i4f/i h5/@ j2/k");
	s->tip = session_find(s, str_of("g")); /* not a leaf: its own branch goes on */
	layout_set_tip(&l);
	assert_branches(s, &l, "c3a/b e3d/e i4f/i h5g/h j2/k");
	s->tip = session_find(s, str_of("d"));
	layout_set_tip(&l);
	assert_branches(s, &l, "c3a/b e3d/e i4d/f h5d/f j2/k");
	s->tip = session_find(s, str_of("b"));
	layout_set_tip(&l);
	assert_branches(s, &l, "c3b/c e3a/d i4a/d h5a/d j2/k");
	s->tip = ENTRY_NONE;
	layout_set_tip(&l);
	assert_branches(s, &l, "c3/a e3/a i4/a h5/a j2/k");
	done(&s, &l);
}

/* ---- random trees ---- */

static uint32_t seed = 7;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % below;
}

static struct session *random_tree(uint32_t n)
{
	struct session *s = mem_session();
	char id[16], parent[16];
	uint32_t shape = rnd(4);

	for (uint32_t i = 0; i < n; i++) {
		bool is_root = i == 0 || rnd(40) == 0;
		uint32_t up = shape == 0 ? 0 : shape == 1 ? rnd(i ? i : 1) : rnd(3);

		snprintf(id, sizeof(id), "%u", i);
		snprintf(parent, sizeof(parent), "%u", i - 1 - (up < i ? up : 0));
		mem_add(s, id, is_root ? NULL : parent);
		s->entries[i].kind = (uint8_t)(1 + rnd(6));
	}
	session_link(s, true);
	if (rnd(2)) {
		s->tip = rnd(n);
		s->tip_rule = TIP_CHECKOUT;
	}
	return s;
}

static bool starts_segment(const struct session *s, uint32_t e)
{
	uint32_t parent = s->entries[e].parent;

	return parent == ENTRY_NONE || session_is_fork(s, parent);
}

static uint32_t indent_of(const struct session *s, uint32_t e)
{
	uint32_t n = 0;

	for (; s->entries[e].parent != ENTRY_NONE; e = s->entries[e].parent)
		n += starts_segment(s, e);
	return n;
}

/* The drawing, from the definition in layout.h. */
static size_t reference_prefix(const struct session *s, uint32_t entry, char *out)
{
	uint32_t level = indent_of(s, entry);
	size_t n = level;

	for (uint32_t e = entry; level > 0; e = s->entries[e].parent) {
		bool is_last = s->entries[e].next_sibling == ENTRY_NONE;

		if (!starts_segment(s, e))
			continue;
		level--;
		out[level] = e == entry ? (is_last ? '`' : '+') : is_last ? ' ' : '|';
	}
	return n;
}

static bool is_below(const struct session *s, uint32_t e, uint32_t top)
{
	for (e = s->entries[e].parent; e != ENTRY_NONE; e = s->entries[e].parent)
		if (e == top)
			return true;
	return false;
}

static void check_rows(struct session *s, const struct layout *l)
{
	char have[512], want[512];
	uint32_t at = s->roots_first;

	assert_int_equal(l->n, s->n);
	for (uint32_t r = 0; r < l->n; r++) {
		uint32_t e = l->entry_of[r], below = 0;
		size_t n = reference_prefix(s, e, want), from = rnd((uint32_t)n + 2), max = rnd(9);
		size_t part = from < n ? n - from : 0;

		assert_int_equal(e, at);
		assert_int_equal(l->row_of[e], r);
		assert_int_equal(layout_segment(l, r)->indent, n);
		assert_int_equal(layout_prefix(l, r, 0, have, sizeof(have)), n);
		assert_memory_equal(have, want, n);
		if (part > max)
			part = max;
		assert_int_equal(layout_prefix(l, r, (uint32_t)from, have, max), part);
		assert_memory_equal(have, want + from, part);
		for (uint32_t i = 0; i < s->n; i++)
			below += is_below(s, i, e);
		assert_int_equal(layout_below(l, r), below);
		assert_int_equal(layout_on_tip(l, r), e == s->tip || is_below(s, s->tip, e));
		/* The next in preorder, by the links. */
		if (s->entries[at].first_child != ENTRY_NONE) {
			at = s->entries[at].first_child;
			continue;
		}
		while (at != ENTRY_NONE && s->entries[at].next_sibling == ENTRY_NONE)
			at = s->entries[at].parent;
		at = at == ENTRY_NONE ? at : s->entries[at].next_sibling;
	}
}

static bool hidden_by_fold(const struct session *s, const struct layout *l, uint32_t e)
{
	for (size_t i = 0; i < l->nfolded; i++)
		if (is_below(s, e, l->entry_of[l->folded[i]]))
			return true;
	return false;
}

static void check_shown(const struct session *s, const struct layout *l)
{
	uint32_t line = 0;

	for (uint32_t r = 0; r < l->n; r++) {
		uint32_t e = l->entry_of[r];

		if (hidden_by_fold(s, l, e) || (l->show == SHOW_PROMPTS && s->entries[e].kind != KIND_USER)) {
			if (layout_lines(l))
				assert_int_equal(layout_line(l, e), line ? line - 1 : 0);
			continue;
		}
		assert_int_equal(layout_entry(l, line), e);
		assert_int_equal(layout_line(l, e), line++);
	}
	assert_int_equal(layout_lines(l), line);
}

static void check_branches(struct session *s, const struct layout *l)
{
	size_t n, at = 0;
	struct branch *v = layout_branches(l, &n);

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t common, first;

		if (!session_is_leaf(s, i))
			continue;
		common = s->tip == ENTRY_NONE ? ENTRY_NONE : session_common(s, i, s->tip);
		assert_true(at < n);
		assert_int_equal(v[at].leaf, i);
		assert_int_equal(v[at].length, session_depth(s, i) + 1);
		assert_int_equal(v[at].is_tip, i == s->tip);
		assert_int_equal(v[at].fork, i == s->tip ? ENTRY_NONE : common);
		for (first = i; s->entries[first].parent != common; first = s->entries[first].parent)
			if (i == s->tip)
				break;
		assert_int_equal(v[at].first, i == s->tip ? ENTRY_NONE : first);
		at++;
	}
	assert_int_equal(at, n);
	free(v);
}

static void test_random(void **state)
{
	enum { ROUNDS = 150 };
	uint32_t rows = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct session *s = random_tree(1 + rnd(120));
		struct layout l;

		layout_init(&l);
		layout_build(&l, s);
		check_rows(s, &l);
		check_branches(s, &l);
		check_shown(s, &l);
		for (int k = 0; k < 12; k++) {
			layout_fold(&l, rnd(s->n), rnd(3) > 0);
			check_shown(s, &l);
		}
		layout_set_show(&l, SHOW_PROMPTS);
		check_shown(s, &l);
		rows += l.n;
		done(&s, &l);
	}
	print_message("%d trees, %u rows\n", ROUNDS, rows);
}

/* ---- large trees ---- */

/* 200,000 entries: a chain, a fork of all, and a comb in which every entry is a fork. */
static struct session *large_tree(int shape, uint32_t n)
{
	struct session *s = session_new("none", "x", "x");
	char id[16], parent[16];

	for (uint32_t i = 0; i < n; i++) {
		struct entry_in in = { .id = str_of(id), .time = 1, .kind = KIND_USER };

		in.id.n = (size_t)snprintf(id, sizeof(id), "%u", i);
		in.parent.n = (size_t)snprintf(parent, sizeof(parent), "%u",
			shape == 0 ? i - 1 : shape == 1 ? 0 : (i - 1) / 2 * 2);
		in.parent.p = i ? parent : NULL;
		assert_int_equal(session_add(s, &in), i);
	}
	session_link(s, true);
	return s;
}

static void test_large(void **state)
{
	enum { N = 200000 };
	static const uint32_t indent[] = { 0, 1, (N - 1) / 2 };

	for (int shape = 0; shape < 3; shape++) {
		clock_t start = clock(); /* processor time: the machine may be busy */
		double took;
		struct session *s = large_tree(shape, N);
		struct layout l;
		char prefix[32];
		size_t n;

		layout_init(&l);
		layout_build(&l, s);
		assert_int_equal(l.n, N);
		assert_int_equal(layout_segment(&l, l.row_of[N - 1])->indent, indent[shape]);
		free(layout_branches(&l, &n));
		assert_int_equal(n, s->nleaves);
		for (uint32_t r = 0; r < N; r++) {
			layout_prefix(&l, r, 0, prefix, sizeof(prefix));
			assert_int_equal(layout_line(&l, l.entry_of[r]), r);
		}
		layout_fold_all(&l, true);
		layout_unfold_to(&l, N / 2);
		took = (double)(clock() - start) / CLOCKS_PER_SEC;
		print_message("shape %d: %.3f s\n", shape, took);
		/* Far from what is quadratic, even with a sanitizer. */
		assert_true(took < 20);
		done(&s, &l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_picture),
		cmocka_unit_test(test_outline),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_tip_moves),
		cmocka_unit_test(test_folds),
		cmocka_unit_test(test_growth_keeps_folds),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_movements),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
