/*
 * job.c - process groups, the terminal's owner and waiting, for one program at
 * a time. It knows nothing of drafts and screens.
 *
 * All signals that matter are blocked from before the fork until the program
 * has ended, and taken one by one with sigwaitinfo(): so none comes between a
 * look and the wait after it.
 */
#include "config.h"

#include "base/job.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/signals.h"

#define GRACE_US 500000 /* for a program that was asked to end */

struct run {
	struct job *job;
	pid_t pid;
	int why[2];             /* brings errno when it could not be started */
	int tty;                /* -1: the program shares our group, and no terminal changes hands */
	bool is_given;          /* its group is the terminal's foreground */
	struct termios before;  /* the modes as they were */
	bool has_modes;
	sigset_t taken, mask;   /* signals taken while we wait; the mask from before */
	struct sigaction chld, cont;
};

static void no_op(int sig)
{
	(void)sig;
}

/* Standard input or output, where it is the terminal that this process belongs to. */
static int find_terminal(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (isatty(fd) && tcgetpgrp(fd) >= 0)
			return fd;
	}
	return -1;
}

static bool in_foreground(const struct run *r)
{
	return r->tty >= 0 && tcgetpgrp(r->tty) == getpgrp();
}

/* A signal that is ignored stays so. By default the last two would not be kept for us to take. */
static void take_signals(struct run *r)
{
	static const int others[] = { SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU };
	struct sigaction sa = { .sa_handler = no_op }, now;

	signals_deadly(&r->taken);
	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		if (sigismember(&r->taken, sig) == 1 && sigaction(sig, NULL, &now) == 0 &&
			now.sa_handler == SIG_IGN)
			sigdelset(&r->taken, sig);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		sigaddset(&r->taken, others[i]);
	sigprocmask(SIG_BLOCK, &r->taken, &r->mask);
	sigemptyset(&sa.sa_mask);
	sigaction(SIGCHLD, &sa, &r->chld);
	sigaction(SIGCONT, &sa, &r->cont);
}

/* What still waits and was about the program is dropped; what would end us is not. */
static void leave_signals(struct run *r)
{
	static const int dropped[] = { SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGINT };
	const struct timespec none = { 0 };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(dropped) / sizeof(*dropped); i++)
		sigaddset(&set, dropped[i]);
	while (sigtimedwait(&set, NULL, &none) > 0)
		;
	sigaction(SIGCHLD, &r->chld, NULL);
	sigaction(SIGCONT, &r->cont, NULL);
	if (!r->job->ended_by)
		sigprocmask(SIG_SETMASK, &r->mask, NULL);
}

/* In the child. Our handlers must not run here, and what we ignore it does not. */
static void start_program(const struct run *r)
{
	struct sigaction plain = { .sa_handler = SIG_DFL }, now;
	int null;

	if (r->tty >= 0)
		setpgid(0, 0);
	if (r->is_given)
		tcsetpgrp(r->tty, getpid()); /* the parent does the same: whoever comes first */
	if (r->job->has_input) {
		null = open("/dev/null", O_WRONLY);
		dup2(r->job->input, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	sigemptyset(&plain.sa_mask);
	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		if (sigaction(sig, NULL, &now) == 0 && (now.sa_handler != SIG_IGN ||
			sig == SIGPIPE || sig == SIGXFSZ))
			sigaction(sig, &plain, NULL);
	}
	sigprocmask(SIG_SETMASK, &r->mask, NULL);
	execvp(r->job->argv[0], r->job->argv);
	if (write(r->why[1], &errno, sizeof(errno)) < 0)
		_exit(126);
	_exit(127);
}

static void hand_over(struct run *r, const struct termios *modes)
{
	if (!in_foreground(r))
		return;
	if (modes)
		tcsetattr(r->tty, TCSANOW, modes);
	r->is_given = tcsetpgrp(r->tty, r->pid) == 0;
}

static void take_back(struct run *r)
{
	if (!r->is_given)
		return;
	tcsetpgrp(r->tty, getpgrp());
	if (r->has_modes)
		tcsetattr(r->tty, TCSANOW, &r->before);
	r->is_given = false;
}

/* To the program, and all that it has started where it has a group of its own. */
static void tell(const struct run *r, int sig)
{
	kill(r->tty >= 0 ? -r->pid : r->pid, sig);
}

/* Our whole job stops, as a shell expects; true when somebody has continued it. */
static bool stop_here(void)
{
	const struct timespec none = { 0 };
	struct sigaction plain = { .sa_handler = SIG_DFL }, old;
	sigset_t tstp, cont;

	sigemptyset(&plain.sa_mask);
	sigemptyset(&tstp);
	sigaddset(&tstp, SIGTSTP);
	sigemptyset(&cont);
	sigaddset(&cont, SIGCONT);
	sigaction(SIGTSTP, &plain, &old);
	kill(0, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &tstp, NULL); /* here it stops */
	sigprocmask(SIG_BLOCK, &tstp, NULL);
	sigaction(SIGTSTP, &old, NULL);
	return sigtimedwait(&cont, NULL, &none) == SIGCONT;
}

static void stopped(struct run *r, int sig)
{
	struct termios its;
	bool has_its;

	if (r->job->has_input) { /* nobody would continue it */
		tell(r, SIGKILL);
		return;
	}
	if ((sig == SIGTTIN || sig == SIGTTOU) && in_foreground(r)) { /* bg, and now fg */
		hand_over(r, NULL);
		tell(r, SIGCONT);
		return;
	}
	has_its = r->is_given && tcgetattr(r->tty, &its) == 0;
	take_back(r);
	/* Where there is no shell nothing has stopped here: then it goes on at once, if it can. */
	if (!stop_here() && !in_foreground(r))
		return;
	hand_over(r, has_its ? &its : NULL);
	tell(r, SIGCONT);
}

/* Somebody has stopped and continued us, not the program. */
static void continued(struct run *r)
{
	r->is_given = r->is_given && tcgetpgrp(r->tty) == r->pid;
	hand_over(r, NULL);
	tell(r, SIGCONT);
}

/* Is it one that shall end us? ^C is the program's, and ^\ where it shares our group. */
static bool is_ending(const struct run *r, int sig)
{
	static const int others[] = { SIGCHLD, SIGCONT, SIGINT, SIGTSTP, SIGTTIN, SIGTTOU };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (sig == others[i])
			return false;
	}
	return sig > 0 && (sig != SIGQUIT || r->tty >= 0);
}

/* One that came as the program ended shall not strike before the caller has said anything. */
static int came_last(const struct run *r)
{
	const struct timespec none = { 0 };
	int sig;

	do
		sig = sigtimedwait(&r->taken, NULL, &none);
	while (sig > 0 && !is_ending(r, sig));
	return sig > 0 ? sig : 0;
}

/* The program gets some time to save what it holds; one that hangs does not hold us up. */
static void ask_to_end(struct run *r, int sig)
{
	uint64_t until = clock_mono_us() + GRACE_US, now;
	struct timespec left = { 0 };
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	tell(r, sig == SIGTERM ? SIGTERM : SIGHUP);
	tell(r, SIGCONT);
	while (waitpid(r->pid, NULL, WNOHANG) == 0 && (now = clock_mono_us()) < until) {
		left.tv_nsec = (long)(until - now) * 1000;
		sigtimedwait(&chld, NULL, &left);
	}
}

/* 0: the program has ended, see *status. Else the signal that shall end us, or -1. */
static int wait_for_end(struct run *r, int *status)
{
	for (;;) {
		pid_t got = waitpid(r->pid, status, WNOHANG | WUNTRACED);
		int sig;

		if (got < 0 && errno != EINTR)
			return -1;
		if (got > 0 && !WIFSTOPPED(*status))
			return came_last(r);
		if (got > 0) {
			stopped(r, WSTOPSIG(*status));
			continue;
		}
		sig = sigwaitinfo(&r->taken, NULL);
		if (sig == SIGCONT) {
			continued(r);
		} else if (sig == SIGTSTP && r->tty >= 0) {
			tell(r, SIGTSTP);
		} else if (is_ending(r, sig)) {
			ask_to_end(r, sig);
			return sig;
		}
	}
}

static int say_end(const struct run *r, int status, struct err *err)
{
	const char *name = path_base(r->job->argv[0]);
	int why;

	if (read(r->why[0], &why, sizeof(why)) == sizeof(why)) {
		errno = why;
		return err_sys(err, "%s could not be started", name);
	}
	if (WIFSIGNALED(status))
		return err_set(err, ERR_IO, "%s was ended by signal %d", name, WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return err_set(err, ERR_IO, "%s ended with status %d", name, WEXITSTATUS(status));
	return 0;
}

static int started(struct run *r, struct err *err)
{
	const char *name = path_base(r->job->argv[0]);
	int status = 0, sig;

	close(r->why[1]);
	if (r->tty >= 0)
		setpgid(r->pid, r->pid);
	if (r->is_given)
		tcsetpgrp(r->tty, r->pid);
	sig = wait_for_end(r, &status);
	r->job->ended_by = sig > 0 ? sig : 0;
	take_back(r);
	if (sig < 0)
		return err_sys(err, "wait for %s", name);
	if (sig > 0)
		return err_set(err, ERR_CANCELLED, "signal %d came while %s was open", sig, name);
	return say_end(r, status, err);
}

int job_run(struct job *job, struct err *err)
{
	struct run r = { .job = job, .tty = job->has_input ? -1 : find_terminal() };
	int rc;

	job->ended_by = 0;
	if (pipe2(r.why, O_CLOEXEC) < 0)
		return err_sys(err, "make a pipe");
	r.is_given = in_foreground(&r);
	r.has_modes = r.tty >= 0 && tcgetattr(r.tty, &r.before) == 0;
	take_signals(&r);
	r.pid = fork();
	if (r.pid == 0)
		start_program(&r);
	if (r.pid < 0) {
		rc = err_sys(err, "start %s", path_base(job->argv[0]));
		close(r.why[1]);
	} else {
		rc = started(&r, err);
	}
	close(r.why[0]);
	leave_signals(&r);
	return rc;
}
