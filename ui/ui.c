/*
 * ui.c - sets the browser up and takes it down, hands keys to the prompt or
 * the key map, and acts on the effects that commands and jobs return.
 */
#include "config.h"

#include "ui/ui.h"

#include <curses.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/signals.h"
#include "base/text.h"
#include "ui/internal.h"
#include "ui/settings.h"
#include "ui/view.h"

void ui_draw(struct ui *ui)
{
	ui->dirty = false;
	ui->drawn_at = clock_mono_us();
	view_refresh(ui->top);
	view_draw(ui->top, &ui->draw);
}

bool ui_is_idle(const struct ui *ui)
{
	if (ui->changed_at)
		return false;
	for (const struct view *v = ui->top; v; v = v->below) {
		if ((v->busy && !v->stopped) || v->search.is_running ||
		    (v == ui->top && v->search.is_counting))
			return false;
	}
	return true;
}

void ui_apply(struct ui *ui, struct view *v, enum effect fx)
{
	if (fx & FX_RELAYOUT)
		view_relayout(v);
	if (fx & FX_PANE)
		pager_stale(&v->pager);
	if (fx & FX_CLOSE) {
		view_pop(ui);
		if (!ui->top)
			fx |= FX_QUIT;
	}
	if (fx & FX_QUIT)
		ui->quit = true;
	if (fx != FX_NONE)
		ui->dirty = true;
}

void ui_cancel(struct ui *ui)
{
	bool any = false;

	for (struct view *v = ui->top; v; v = v->below) {
		if (v->search.is_running || v->search.is_counting) {
			v->search.is_running = v->search.is_counting = false;
			any = true;
		}
		if (v->busy && !v->stopped) {
			v->stopped = true;
			any = true;
		}
	}
	ui->npending = 0;
	if (any)
		ui_say(ui, "stopped; F5 goes on");
	else
		ui_say(ui, "nothing is running; q quits");
}

void ui_last_words(struct ui *ui, const char *fmt, ...)
{
	struct buf raw = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&raw, fmt, ap);
	va_end(ap);
	buf_clear(&ui->last_words);
	text_safe(&ui->last_words, buf_str(&raw).p, raw.n, TEXT_ONE_LINE);
	buf_release(&raw);
}

void ui_changed(struct ui *ui)
{
	struct view *chain[16];
	size_t n = 0;

	/* from the bottom up: a view that stands on another one sees the newer state */
	for (struct view *v = ui->top; v && n < sizeof(chain) / sizeof(*chain); v = v->below)
		chain[n++] = v;
	while (n > 0) {
		struct view *v = chain[--n];
		if (v->ops->changed)
			ui_apply(ui, v, v->ops->changed(v));
	}
}

void ui_watch_again(struct ui *ui)
{
	if (!ui->watch)
		return;
	watch_clear(ui->watch);
	for (struct view *v = ui->top; v; v = v->below) {
		if (v->ops->watch)
			v->ops->watch(v);
	}
}

static void click(struct ui *ui)
{
	MEVENT e;

	if (getmouse(&e) != OK)
		return;
	if (e.bstate & BUTTON4_PRESSED)
		ui_apply(ui, ui->top, view_click(ui->top, e.y, e.x, -1));
	else if (e.bstate & BUTTON5_PRESSED)
		ui_apply(ui, ui->top, view_click(ui->top, e.y, e.x, 1));
	else if (e.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED))
		ui_apply(ui, ui->top, view_click(ui->top, e.y, e.x, 0));
}

void ui_key(struct ui *ui, uint32_t key)
{
	const struct command *c = NULL;
	struct view *v = ui->top;
	size_t map = command_map_of(v->ops);

	view_refresh(v);
	if (ui->prompt.is_open) {
		if (loop_suspends(ui, key))
			loop_suspend(ui);
		else
			prompt_key(ui, key);
		return;
	}
	ui->dirty = true;
	status_clear(ui);
	if ((key == K_ESC || key == key_ctrl('c')) && v->ops->cancel && v->ops->cancel(v))
		return;
	if (key == key_ctrl('c')) { /* whatever is bound: it must always stop a job */
		ui_cancel(ui);
		return;
	}
	if (key == K_MOUSE) {
		click(ui);
		return;
	}
	if (ui->npending > 0 && key == K_ESC) {
		ui->npending = 0;
		return;
	}
	if (ui->npending > 0 && loop_suspends(ui, key))
		ui->npending = 0; /* half a sequence does not hold it up */
	ui->pending[ui->npending++] = key;
	switch (keymap_find(ui->keys, map, ui->pending, ui->npending, &c)) {
	case KEYS_PREFIX:
		return; /* never KEY_SEQ_MAX keys: sequences are not longer */
	case KEYS_COMMAND:
		ui->npending = 0;
		ui_apply(ui, v, command_run(v, c, ""));
		return;
	case KEYS_NONE: {
		const struct command *there = NULL;
		struct key_seq seq = { .n = ui->npending };
		struct buf name = { 0 };
		memcpy(seq.key, ui->pending, sizeof(seq.key));
		key_seq_name(&seq, &name);
		keymap_find(ui->keys, command_map_of(&view_session), ui->pending, ui->npending,
			&there);
		ui->npending = 0;
		if (!command_refuse(v, there))
			ui_error(ui, "%s is not bound; ? shows the keys", name.n ? name.p : "this key");
		buf_release(&name);
		return;
	}
	}
}

static int set_up(struct ui *ui, struct err *err)
{
	const struct ui_options *opt = ui->opt;
	const char *script = getenv("BOUGH_SCRIPT");
	const char *theme = opt->theme ? opt->theme : opt->settings->theme;
	int rc;

	ui->keys = keymap_new();
	rc = settings_load_keys(ui->keys, err);
	if (rc < 0)
		return rc;
	if (script && *script) {
		rc = script_open(&ui->script, script, err);
		if (rc < 0)
			return rc;
	}
	/* before the terminal is taken: a wrong theme is said in plain text */
	rc = settings_load_theme(&ui->theme, theme, THEME_256, err);
	if (rc < 0)
		return rc;
	/* before the terminal is taken: from then on no signal may end us without giving it back */
	rc = loop_init(ui, err);
	if (rc < 0)
		return rc;
	rc = screen_open(&ui->screen, opt->settings->mouse, err);
	if (rc < 0)
		return rc;
	rc = settings_load_theme(&ui->theme, theme, screen_depth(&ui->screen), err);
	if (rc < 0)
		return rc;
	draw_init(&ui->draw, &ui->theme, opt->ascii || opt->settings->ascii || !ui->screen.is_utf8,
		ui->screen.is_utf8);
	ui->wrap = opt->settings->wrap;
	ui->watch = watch_new();
	return 0;
}

static bool open_first(struct ui *ui, struct err *err)
{
	struct view *v = ui->opt->session ? view_push(ui, view_for_session(ui->opt->session), ui->opt->session) :
		view_push(ui, &view_sessions, NULL);

	if (!v)
		err_set(err, ERR_IO, "%s", ui->status.text);
	return v != NULL;
}

int ui_run(const struct ui_options *opt, struct err *err)
{
	struct ui ui = { .opt = opt, .store = opt->store };
	int rc = set_up(&ui, err);

	if (rc == 0 && !open_first(&ui, err))
		rc = err ? err->code : ERR_IO;
	if (rc == 0)
		loop_run(&ui);
	while (ui.top)
		view_pop(&ui);
	screen_close(&ui.screen);
	loop_release();
	if (rc == 0 && ui.script && ui.script->has_failed)
		rc = err_set(err, ERR_USAGE, "%s", ui.status.text);
	draw_release(&ui.draw);
	prompt_release(&ui.prompt);
	script_free(&ui.script);
	keymap_free(&ui.keys);
	watch_free(&ui.watch);
	done_release(&ui.last_trash);
	if (ui.last_words.n > 0)
		fprintf(stderr, "bough: %s\n", ui.last_words.p);
	buf_release(&ui.last_words);
	if (ui.end_signal)
		signals_end_by(ui.end_signal);
	return rc;
}
