/*
 * session.h - a conversation as a session of the model: its outline are the
 * entries. Private to src/format/flow.
 */
#ifndef BOUGH_FORMAT_FLOW_SESSION_H
#define BOUGH_FORMAT_FLOW_SESSION_H

#include "format/format.h"

int flow_session_open(const char *path, struct session **out, struct err *err);
int flow_session_step(struct session *s, unsigned budget_us, struct err *err);
int flow_session_refresh(struct session *s, enum log_change *change, struct err *err);
const struct log_id *flow_session_file(const struct session *s);
/*
 * The folder's inode, the newest change in it or of a round, the bytes of all
 * rounds; *names: a sum over their names.
 */
int flow_file_id(const char *path, struct log_id *id, uint64_t *names, struct err *err);

#endif
