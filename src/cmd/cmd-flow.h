/*
 * cmd-flow.h - what the commands for conversations share. Private to src/cmd.
 */
#ifndef BOUGH_CMD_CMD_FLOW_H
#define BOUGH_CMD_CMD_FLOW_H

#include "cmd/internal.h"
#include "format/flow/flow.h"

/* Opens args[0], which must be a conversation; STATUS_DONE or what to return. */
int cmd_flow_open(struct cmd *c, struct flow_conversation **out);
/* Says what stopped the fold; STATUS_FOUND when something did. */
int cmd_flow_status(const struct flow_conversation *f);
/* Rounds that are on disk and not folded. */
uint64_t flow_nfolded_not(const struct flow_conversation *f);
json_doc *json_flow_fault(const struct flow_fault *f);
json_doc *json_flow_counts(const struct flow_header *h);

#endif
