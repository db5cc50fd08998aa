/*
 * loop.c - the loop: signals, keys, jobs, drawing, waiting. Signal handlers
 * only note the signal and wake the loop through a pipe. Every signal that ends
 * a process, faults aside (screen.c), ends the loop first; one that comes when
 * the first is a second old finds a loop that is stuck, and ends it at once.
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
#include "base/signals.h"
#include "ui/internal.h"
#include "ui/view.h"

#define JOB_US 5000          /* for jobs in one turn */
#define PROGRESS_US 100000   /* the progress bar moves on */
#define COALESCE_US 10000    /* a writer's bursts are looked at once */
#define POLL_FILES_MS 2000   /* without inotify */
#define WAIT_MS 20           /* for a view that waits */
#define AGE_MS 30000         /* ages on the screen move on */
#define STUCK_US 1000000     /* a deadly signal that old should have been followed */

static int wake[2] = { -1, -1 };
static volatile sig_atomic_t got_winch, got_cont, got_int, got_stop, got_end;
static volatile uint64_t end_at; /* when got_end was set; handlers do not interrupt each other */

/* At log-out SIGTERM, SIGHUP and SIGHUP again come at once: these are one request. */
static void note_end(int sig)
{
	uint64_t now = clock_mono_us();

	if (!got_end) {
		end_at = now;
		got_end = sig;
	} else if (now - end_at >= STUCK_US) {
		screen_restore();
		signals_end_by(sig);
	}
}

static void on_signal(int sig)
{
	int saved = errno;

	if (sig == SIGWINCH)
		got_winch = 1;
	else if (sig == SIGCONT)
		got_cont = 1;
	else if (sig == SIGINT)
		got_int = 1;
	else if (sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)
		got_stop = 1;
	else
		note_end(sig);
	ssize_t ignored = write(wake[1], "", 1);
	(void)ignored;
	errno = saved;
}

static const int stops[] = { SIGTSTP, SIGTTIN, SIGTTOU };
#define NSTOPS (sizeof(stops) / sizeof(*stops))
static sigset_t handled;
static struct sigaction before[_NSIG];

static void choose_signals(void)
{
	struct sigaction now;

	signals_deadly(&handled);
	for (int sig = 1; sig < _NSIG; sig++) { /* what is ignored stays so, as under nohup */
		if (sigismember(&handled, sig) == 1 && (signals_is_fault(sig) ||
			sigaction(sig, NULL, &now) < 0 || now.sa_handler == SIG_IGN))
			sigdelset(&handled, sig);
	}
	for (size_t i = 0; i < NSTOPS; i++)
		sigaddset(&handled, stops[i]);
	sigaddset(&handled, SIGINT);
	sigaddset(&handled, SIGCONT);
	sigaddset(&handled, SIGWINCH);
}

int loop_init(struct ui *ui, struct err *err)
{
	struct sigaction sa = { .sa_handler = on_signal };

	(void)ui;
	if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(err, "make a pipe");
	signal(SIGPIPE, SIG_IGN);
	choose_signals();
	sigfillset(&sa.sa_mask);
	for (int sig = 1; sig < _NSIG; sig++) {
		if (sigismember(&handled, sig) == 1)
			sigaction(sig, &sa, &before[sig]);
	}
	return 0;
}

void loop_release(void)
{
	for (int sig = 1; sig < _NSIG && wake[0] >= 0; sig++) {
		if (sigismember(&handled, sig) == 1)
			sigaction(sig, &before[sig], NULL);
	}
	for (int i = 0; i < 2; i++) {
		if (wake[i] >= 0)
			close(wake[i]);
		wake[i] = -1;
	}
}

/* Stops the whole job where `is_asked`, and in any case until the terminal is ours. */
static void stop(struct ui *ui, bool is_asked)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL }, old[NSTOPS];

	sigemptyset(&dfl.sa_mask);
	for (size_t i = 0; i < NSTOPS; i++)
		sigaction(stops[i], &dfl, &old[i]);
	if (is_asked)
		kill(0, SIGTSTP); /* as a shell expects; we go on here after SIGCONT */
	screen_await(&ui->screen);
	for (size_t i = 0; i < NSTOPS; i++) /* before anything is drawn: a stop gives back first */
		sigaction(stops[i], &old[i], NULL);
	got_cont = 0;
	screen_retake(&ui->screen);
	draw_all(&ui->draw);
	ui->dirty = true;
}

void loop_suspend(struct ui *ui)
{
	if (ui->screen.is_headless)
		return;
	if (screen_is_ours(&ui->screen))
		screen_suspend(&ui->screen);
	stop(ui, true);
}

bool loop_suspends(const struct ui *ui, uint32_t key)
{
	const struct command *c = NULL;

	if (ui->prompt.is_open && key >= 32 && key < K_FIRST)
		return false; /* a character of the text */
	if (ui->prompt.is_open && key == key_ctrl('z'))
		return true;
	return keymap_find(ui->keys, command_map_of(ui->top->ops), &key, 1, &c) == KEYS_COMMAND &&
		strcmp(c->name, "suspend") == 0;
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
	if (got_stop) {
		got_stop = 0;
		loop_suspend(ui);
	}
	if (got_cont && !ui->screen.is_headless) /* the shell has set modes of its own meanwhile */
		stop(ui, false);
	if (got_winch) {
		got_winch = 0;
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
