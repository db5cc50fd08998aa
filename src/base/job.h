/*
 * job.h - runs a program that the user named, as a shell runs a job.
 *
 * A program that gets the terminal stands in a process group of its own, in the
 * foreground. When it stops (^Z, or any other way), the terminal's modes from
 * before are put back and this process stops with its whole job, so that the
 * shell that has started it is there again; when it is continued the program
 * goes on with the terminal and the modes it had. Whatever way it ends, the
 * terminal and its modes are ours again.
 *
 * Signals that would end this process while it waits are taken: the program is
 * asked to end, and the caller gets the signal, to say what it has to say and
 * then end with it (base/signals.h). ^C is the program's alone.
 */
#ifndef BOUGH_BASE_JOB_H
#define BOUGH_BASE_JOB_H

#include <stdbool.h>

#include "base/err.h"

struct job {
	char *const *argv; /* ends with NULL; argv[0] is looked for in $PATH */
	bool has_input;    /* it gets `input` and no terminal, and what it prints is dropped */
	int input;
	/*
	 * Out: the signal that ended the wait, or 0. Signals that end a process stay
	 * blocked then, so that the caller comes to its last words.
	 */
	int ended_by;
};

/* 0 when it ended with status 0; else the sentence names the program and says how it ended. */
int job_run(struct job *job, struct err *err);

#endif
