/*
 * prompt.c - line editing by grapheme clusters, history, completion, and the
 * drawing of the prompt. What the text is for is the caller's business.
 */
#include "config.h"

#include "ui/prompt.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "ui/internal.h"
#include "ui/key.h"
#include "ui/view.h"

#define PROMPT_MAX 4096
#define HISTORY_MAX 100

void candidates_add(struct candidates *c, const char *text)
{
	c->v = xgrow(c->v, &c->cap, c->n + 1, sizeof(*c->v));
	c->v[c->n++] = xstrdup(text);
}

static void candidates_clear(struct candidates *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i]);
	c->n = 0;
}

static void set_text(struct prompt *p, const char *text, size_t n)
{
	buf_clear(&p->text);
	buf_add(&p->text, text, n);
	p->at = n;
}

static const char *text_of(const struct prompt *p)
{
	return p->text.n > 0 ? p->text.p : "";
}

void prompt_open(struct ui *ui, const struct prompt_spec *spec)
{
	struct prompt *p = &ui->prompt;

	p->is_open = true;
	p->spec = *spec;
	set_text(p, spec->initial ? spec->initial : "", spec->initial ? strlen(spec->initial) : 0);
	p->recalled = p->history[spec->history].n;
	candidates_clear(&p->words);
	status_clear(ui);
	ui->dirty = true;
}

static void remember(struct history *h, const char *text)
{
	size_t n = 0;

	if (!*text)
		return;
	for (size_t i = 0; i < h->n; i++) { /* once, at its newest place */
		if (strcmp(h->v[i], text) == 0)
			free(h->v[i]);
		else
			h->v[n++] = h->v[i];
	}
	h->n = n;
	if (h->n == HISTORY_MAX) {
		free(h->v[0]);
		memmove(h->v, h->v + 1, (h->n - 1) * sizeof(*h->v));
		h->n--;
	}
	h->v = xgrow(h->v, &h->cap, h->n + 1, sizeof(*h->v));
	h->v[h->n++] = xstrdup(text);
}

static void finish(struct ui *ui, const char *text)
{
	struct prompt *p = &ui->prompt;
	struct prompt_spec spec = p->spec;
	char *copy = text ? xstrdup(text) : NULL;
	struct view *v = ui->top;

	p->is_open = false;
	candidates_clear(&p->words);
	if (copy && spec.history != HISTORY_NONE)
		remember(&p->history[spec.history], copy);
	ui->dirty = true;
	ui_apply(ui, v, spec.done(v, copy));
	free(copy);
}

/* The start of the cluster that ends at or holds byte `at`; `at` when it is 0. */
static size_t cluster_before(const struct prompt *p, size_t at)
{
	struct text_cluster c;
	size_t pos = 0, prev = 0;

	while (pos < at) {
		prev = pos;
		text_next(p->text.p + pos, p->text.n - pos, &c);
		pos += c.src_n;
	}
	return prev;
}

static size_t cluster_after(const struct prompt *p, size_t at)
{
	struct text_cluster c;

	if (at >= p->text.n)
		return p->text.n;
	text_next(p->text.p + at, p->text.n - at, &c);
	return at + c.src_n;
}

static void delete_range(struct prompt *p, size_t from, size_t to)
{
	struct buf rest = { 0 };

	buf_add(&rest, p->text.p + to, p->text.n - to);
	p->text.n = from;
	buf_addstr(&p->text, (struct str){ rest.n ? rest.p : "", rest.n });
	p->at = from;
	buf_release(&rest);
}

static void insert(struct prompt *p, const char *s, size_t n)
{
	struct buf rest = { 0 };

	if (p->text.n + n > PROMPT_MAX)
		return;
	buf_add(&rest, p->text.n ? p->text.p + p->at : "", p->text.n - p->at);
	p->text.n = p->at;
	buf_add(&p->text, s, n);
	p->at = p->text.n;
	buf_addstr(&p->text, (struct str){ rest.n ? rest.p : "", rest.n });
	buf_release(&rest);
}

static size_t word_before(const struct prompt *p)
{
	size_t at = p->at;

	while (at > 0 && p->text.p[at - 1] == ' ')
		at--;
	while (at > 0 && p->text.p[at - 1] != ' ')
		at--;
	return at;
}

static void recall(struct prompt *p, int dir)
{
	struct history *h = &p->history[p->spec.history];

	if (p->spec.history == HISTORY_NONE || (dir < 0 && p->recalled == 0) ||
	    (dir > 0 && p->recalled >= h->n))
		return;
	if (p->recalled == h->n) {
		buf_clear(&p->draft);
		buf_add(&p->draft, text_of(p), p->text.n);
	}
	p->recalled += (size_t)dir;
	if (p->recalled == h->n)
		set_text(p, p->draft.n ? p->draft.p : "", p->draft.n);
	else
		set_text(p, h->v[p->recalled], strlen(h->v[p->recalled]));
}

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The first Tab collects; every further one takes the next word. */
static void complete(struct ui *ui, int dir)
{
	struct prompt *p = &ui->prompt;

	if (!p->spec.complete)
		return;
	if (p->words.n == 0) {
		p->spec.complete(ui->top, text_of(p), &p->words);
		if (p->words.n == 0)
			return;
		qsort(p->words.v, p->words.n, sizeof(*p->words.v), compare_words);
		p->word = dir > 0 ? 0 : p->words.n - 1;
	} else {
		p->word = (p->word + p->words.n + (size_t)(dir > 0 ? 1 : p->words.n - 1)) % p->words.n;
	}
	set_text(p, p->words.v[p->word], strlen(p->words.v[p->word]));
}

/* Keys that only move or recall. */
static bool move_key(struct prompt *p, uint32_t key)
{
	if (key == K_LEFT || key == key_ctrl('b'))
		p->at = cluster_before(p, p->at);
	else if (key == K_RIGHT || key == key_ctrl('f'))
		p->at = cluster_after(p, p->at);
	else if (key == K_HOME || key == key_ctrl('a'))
		p->at = 0;
	else if (key == K_END || key == key_ctrl('e'))
		p->at = p->text.n;
	else if (key == K_UP || key == key_ctrl('p'))
		recall(p, -1);
	else if (key == K_DOWN || key == key_ctrl('n'))
		recall(p, 1);
	else
		return false;
	return true;
}

/* Keys that change the text. */
static bool edit_key(struct prompt *p, uint32_t key)
{
	char utf8[4];

	if (key == K_BACKSPACE) {
		if (p->at > 0)
			delete_range(p, cluster_before(p, p->at), p->at);
	} else if (key == K_DELETE || key == key_ctrl('d')) {
		if (p->at < p->text.n)
			delete_range(p, p->at, cluster_after(p, p->at));
	} else if (key == key_ctrl('w')) {
		if (p->at > 0)
			delete_range(p, word_before(p), p->at);
	} else if (key == key_ctrl('u')) {
		if (p->at > 0)
			delete_range(p, 0, p->at);
	} else if (key == key_ctrl('k')) {
		p->text.n = p->at;
	} else if (key >= 32 && key < K_FIRST) {
		insert(p, utf8, utf8_encode(key, utf8));
	} else {
		return false;
	}
	return true;
}

void prompt_key(struct ui *ui, uint32_t key)
{
	struct prompt *p = &ui->prompt;
	struct view *v = ui->top;
	bool recalls = key == K_UP || key == K_DOWN || key == key_ctrl('p') || key == key_ctrl('n');
	bool moved;

	ui->dirty = true;
	if (p->spec.is_question) {
		finish(ui, key == 'y' || key == 'Y' ? "y" : NULL);
		return;
	}
	if (key == K_ESC || key == key_ctrl('c') || key == key_ctrl('g') ||
	    (key == K_BACKSPACE && p->text.n == 0)) {
		finish(ui, NULL);
		return;
	}
	if (key == K_ENTER) {
		buf_addc(&p->text, '\0');
		finish(ui, p->text.p);
		return;
	}
	if (key == K_TAB || key == K_BACKTAB) {
		complete(ui, key == K_TAB ? 1 : -1);
		return;
	}
	candidates_clear(&p->words);
	moved = move_key(p, key);
	if (!moved && !edit_key(p, key))
		return;
	buf_addc(&p->text, '\0'); /* a C string whatever was cut off its end */
	p->text.n--;
	if (p->spec.change && (recalls || !moved))
		ui_apply(ui, v, p->spec.change(v, text_of(p)));
}

/* Other words that the completion offers, behind the text. */
static void draw_words(const struct prompt *p, struct rowbuf *rb)
{
	if (p->words.n < 2)
		return;
	row_spaces(rb, ROLE_STATUS, 3);
	for (size_t i = 0; i < p->words.n && row_left(rb) > 2; i++) {
		row_str(rb, i == p->word ? ROLE_KEY : ROLE_DIM, p->words.v[i]);
		row_spaces(rb, ROLE_STATUS, 1);
	}
}

/* A question has the whole line, and its answers stay in sight when it is cut. */
static void draw_label(const struct prompt_spec *spec, struct rowbuf *rb)
{
	const char *label = spec->label, *answers = spec->is_question ? strstr(label, " (y/n)") : NULL;
	size_t n = answers ? (size_t)(answers - label) : strlen(label);
	int clip = rb->clip, most = rb->width / 2;

	if (answers)
		most = rb->width - text_width(answers, strlen(answers));
	row_clip(rb, most > 0 ? most : 0);
	row_text(rb, ROLE_KEY, label, n);
	row_clip(rb, clip);
	if (answers)
		row_str(rb, ROLE_KEY, answers);
}

void prompt_draw(struct ui *ui, struct rowbuf *rb, int y)
{
	struct prompt *p = &ui->prompt;
	int before = p->at > 0 ? text_width(p->text.p, p->at) : 0;
	int room, skip, x;

	if (rb->width >= 8)
		draw_label(&p->spec, rb);
	room = row_left(rb) - 1; /* the cursor behind the text */
	if (room < 0)
		room = 0;
	skip = before > room ? before - room : 0;
	x = rb->n + before - skip;
	row_span(rb, ROLE_STATUS, text_of(p), p->text.n, &skip);
	draw_words(p, rb);
	draw_cursor(&ui->draw, y, x < rb->width ? x : rb->width - 1);
}

void prompt_release(struct prompt *p)
{
	buf_release(&p->text);
	buf_release(&p->draft);
	candidates_clear(&p->words);
	free(p->words.v);
	for (int i = 0; i < HISTORY_COUNT; i++) {
		for (size_t k = 0; k < p->history[i].n; k++)
			free(p->history[i].v[k]);
		free(p->history[i].v);
	}
}
