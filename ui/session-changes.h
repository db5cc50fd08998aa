/*
 * session-changes.h - the commands of a session's screen that write, for its
 * table and for the screens on top of it.
 */
#ifndef BOUGH_UI_SESSION_CHANGES_H
#define BOUGH_UI_SESSION_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/command.h"

struct view;

enum effect alter_checkout(struct view *v, const char *arg);
enum effect alter_fork(struct view *v, const char *arg);
enum effect alter_fork_new(struct view *v, const char *arg);
enum effect alter_retry(struct view *v, const char *arg);
enum effect alter_label(struct view *v, const char *arg);
enum effect alter_undo(struct view *v, const char *arg);
enum effect alter_repair(struct view *v, const char *arg);
enum effect alter_rename(struct view *v, const char *arg);
enum effect alter_trash(struct view *v, const char *arg);

/* A step of what was asked for and waits for the log to rest. */
enum effect alter_awaited(struct view *v);
bool alter_cancel(struct view *v); /* gives it up; false: nothing waits */
/* Make an entry the tip; `v` is a session's view. */
enum effect alter_checkout_entry(struct view *v, uint32_t entry);

#endif
