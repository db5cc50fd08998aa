/*
 * cmd-flow.h - what the commands for conversations share. Private to src/cmd.
 */
#ifndef BOUGH_CMD_CMD_FLOW_H
#define BOUGH_CMD_CMD_FLOW_H

#include "cmd/internal.h"
#include "cmd/progress.h"
#include "format/flow/flow.h"

/* What `bough verify` counts over many conversations. */
struct flow_checks {
	struct progress *progress;
	json_doc *list, *remarks;    /* with --json; else lines are printed */
	uint64_t findings, damaged;
	uint64_t unread;             /* conversations of which a part could not be read */
	uint64_t stopped;            /* conversations of which not all rounds are folded */
	void (*say)(void *arg, double part); /* how much of these rows is done */
	void (*unreadable)(void *arg, const struct session_row *row, const char *reason);
	void *arg;
};
/* Checks some of the rows, all of them conversations; how many. */
size_t cmd_flow_verify(
	struct cmd *c, const struct session_row *const *rows, size_t n, struct flow_checks *sum);
/* Opens args[0], which must be a conversation; STATUS_DONE or what to return. */
int cmd_flow_open(struct cmd *c, struct flow_conversation **out);
/* Says what stopped the fold: STATUS_FOUND, or STATUS_IO where that could not be read. */
int cmd_flow_status(const struct flow_conversation *f);
/* Says that a round could not be read where that stopped the fold, and then is STATUS_IO. */
int cmd_flow_reading(const struct flow_conversation *f);
/* Says that something was not read; STATUS_IO. */
int cmd_flow_unread(struct cmd *c);
/* Rounds that are on disk and not folded. */
uint64_t flow_nfolded_not(const struct flow_conversation *f);
/* A conversation for `list`: what its newest round's header says. */
json_doc *json_flow_row(struct cmd *c, const struct session_row *row, struct buf *title);
json_doc *json_flow_fault(const struct flow_fault *f);
json_doc *json_flow_counts(const struct flow_header *h);

#endif
