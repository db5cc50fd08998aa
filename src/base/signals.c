/*
 * signals.c - which signals end a process, and ending with one.
 */
#include "config.h"

#include "base/signals.h"

#include <unistd.h>

void signals_deadly(sigset_t *set)
{
	static const int others[] = { SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD,
		SIGURG, SIGWINCH };

	sigfillset(set);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		sigdelset(set, others[i]);
}

bool signals_is_fault(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGABRT || sig == SIGFPE || sig == SIGILL ||
		sig == SIGTRAP || sig == SIGSYS;
}

void signals_end_by(int sig)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t only;

	sigemptyset(&plain.sa_mask);
	sigaction(sig, &plain, NULL);
	sigemptyset(&only);
	sigaddset(&only, sig);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	raise(sig);
}
