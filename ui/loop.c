/*
 * loop.c - the loop: signals, keys, jobs, drawing, waiting. Signal handlers
 * only note the signal and wake the loop through a pipe; a second deadly
 * signal, for a loop that is stuck, ends the program at once.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "ui/internal.h"
#include "ui/view.h"

#define JOB_US 5000          /* for jobs in one turn */
#define PROGRESS_US 100000   /* the progress bar moves on */
#define COALESCE_US 10000    /* a writer's bursts are looked at once */
#define POLL_FILES_MS 2000   /* without inotify */
#define WAIT_MS 20           /* for a view that waits */
#define AGE_MS 30000         /* ages on the screen move on */

static int wake[2] = { -1, -1 };
static volatile sig_atomic_t got_winch, got_cont, got_int, got_tstp, got_end;

static void on_signal(int sig)
{
	int saved = errno;

	if (sig == SIGWINCH)
		got_winch = 1;
	else if (sig == SIGCONT)
		got_cont = 1;
	else if (sig == SIGINT)
		got_int = 1;
	else if (sig == SIGTSTP)
		got_tstp = 1;
	else if (got_end)
		abort(); /* asked twice: the loop is stuck; abort restores the terminal */
	else
		got_end = sig;
	ssize_t ignored = write(wake[1], "", 1);
	(void)ignored;
	errno = saved;
}

static const int handled[] = { SIGWINCH, SIGCONT, SIGINT, SIGTSTP, SIGTERM, SIGHUP, SIGQUIT };
#define NHANDLED (sizeof(handled) / sizeof(*handled))
static struct sigaction before[NHANDLED];

int loop_init(struct ui *ui, struct err *err)
{
	struct sigaction sa = { .sa_handler = on_signal };

	(void)ui;
	if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(err, "make a pipe");
	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < NHANDLED; i++)
		sigaction(handled[i], &sa, &before[i]);
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

void loop_release(void)
{
	for (size_t i = 0; i < NHANDLED && wake[0] >= 0; i++)
		sigaction(handled[i], &before[i], NULL);
	for (int i = 0; i < 2; i++) {
		if (wake[i] >= 0)
			close(wake[i]);
		wake[i] = -1;
	}
}

void loop_suspend(struct ui *ui)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL }, old;

	if (ui->screen.is_headless)
		return;
	screen_suspend(&ui->screen);
	sigemptyset(&dfl.sa_mask);
	sigaction(SIGTSTP, &dfl, &old);
	kill(0, SIGTSTP); /* the whole job, as a shell expects; we go on here after SIGCONT */
	sigaction(SIGTSTP, &old, NULL);
	screen_resume(&ui->screen);
	draw_all(&ui->draw);
	ui->dirty = true;
}

static void take_signals(struct ui *ui)
{
	char drop[64];

	while (read(wake[0], drop, sizeof(drop)) > 0)
		;
	if (got_end) {
		ui->end_signal = got_end;
		ui->quit = true;
		return;
	}
	if (got_tstp) {
		got_tstp = 0;
		loop_suspend(ui);
	}
	if (got_winch || got_cont) {
		got_winch = got_cont = 0;
		screen_resize(&ui->screen);
		draw_all(&ui->draw);
		ui->dirty = true;
	}
	if (got_int) {
		got_int = 0;
		ui_cancel(ui);
	}
}

static bool take_keys(struct ui *ui)
{
	uint32_t key;
	bool any = false;

	while (!ui->quit && screen_key(&ui->screen, &key)) {
		any = true;
		ui_key(ui, key);
	}
	return any;
}

/* Every unfinished job gets a share, the view on top first. */
static void run_jobs(struct ui *ui)
{
	uint64_t until = clock_mono_us() + JOB_US, now;

	if (ui->top->search.is_running) {
		if (!search_step(ui->top, JOB_US) || clock_mono_us() - ui->drawn_at >= PROGRESS_US)
			ui->dirty = true;
		return;
	}
	if (ui->top->search.is_counting && (!search_count_step(ui->top, JOB_US) ||
	    clock_mono_us() - ui->drawn_at >= PROGRESS_US))
		ui->dirty = true;
	for (struct view *v = ui->top; v; v = v->below) {
		now = clock_mono_us();
		if (now >= until && v != ui->top)
			break;
		if (v->busy && !v->stopped && v->ops->step)
			ui_apply(ui, v, v->ops->step(v, (unsigned)(until > now ? until - now : 1)));
		if (ui->quit)
			return;
	}
	if (!ui_is_idle(ui) && clock_mono_us() - ui->drawn_at >= PROGRESS_US)
		ui->dirty = true;
}

static void take_changes(struct ui *ui, bool timer)
{
	if (ui->watch && watch_drain(ui->watch) && ui->changed_at == 0)
		ui->changed_at = clock_mono_us();
	if (timer || (ui->changed_at && clock_mono_us() - ui->changed_at >= COALESCE_US)) {
		ui->changed_at = 0;
		ui_changed(ui);
	}
}

/* Is every unfinished job one that waits? */
static bool only_waits(const struct ui *ui)
{
	for (const struct view *v = ui->top; v; v = v->below) {
		if ((v->busy && !v->stopped && !v->waits) || v->search.is_running)
			return false;
	}
	return true;
}

/* How long poll may sleep, in ms. */
static int timeout(const struct ui *ui)
{
	if (ui->script && !ui->script->is_done)
		return ui->changed_at ? COALESCE_US / 1000 : 0;
	if (!ui_is_idle(ui))
		return ui->changed_at ? COALESCE_US / 1000 : only_waits(ui) ? WAIT_MS : 0;
	if (!ui->watch || watch_fd(ui->watch) < 0)
		return POLL_FILES_MS;
	return AGE_MS;
}

static void wait_for_input(struct ui *ui)
{
	struct pollfd p[3] = {
		{ .fd = wake[0], .events = POLLIN },
		{ .fd = ui->screen.fd, .events = POLLIN },
		{ .fd = ui->watch ? watch_fd(ui->watch) : -1, .events = POLLIN },
	};
	int ms = timeout(ui);
	int n = poll(p, 3, ms);

	if (n < 0)
		return; /* a signal; the pipe has its byte */
	if (n == 0 && ms == AGE_MS)
		ui->dirty = true;
	take_changes(ui, n == 0 && ms == POLL_FILES_MS);
	if (p[1].revents && !take_keys(ui) && screen_check_gone(&ui->screen, p[1].revents)) {
		ui->quit = true;
		ui->end_signal = SIGHUP;
	}
}

void loop_run(struct ui *ui)
{
	ui->dirty = true;
	while (!ui->quit) {
		take_signals(ui);
		if (!ui->quit)
			take_keys(ui);
		if (!ui->quit)
			run_jobs(ui);
		if (ui->script && !ui->script->is_done && !ui->quit && ui_is_idle(ui))
			script_step(ui);
		if (ui->script && ui->script->is_done && ui->screen.is_headless)
			break;
		if (ui->quit)
			break;
		if (ui->dirty)
			ui_draw(ui);
		wait_for_input(ui);
	}
}
