/*
 * signals.h - the signals that end a process unless it does something about them.
 */
#ifndef BOUGH_BASE_SIGNALS_H
#define BOUGH_BASE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* All of them that can be caught, SIGINT and those of a fault among them. */
void signals_deadly(sigset_t *set);
/* Is it one that a fault of the program itself brings (SIGSEGV, SIGABRT, ...)? */
bool signals_is_fault(int sig);
/* Ends the process with `sig`, so that the caller's caller sees why. Safe in a handler. */
void signals_end_by(int sig);

#endif
