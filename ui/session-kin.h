/*
 * session-kin.h - forks and agents in the tree of the session they came from.
 */
#ifndef BOUGH_UI_SESSION_KIN_H
#define BOUGH_UI_SESSION_KIN_H

#include <stdbool.h>

struct view;

/* Hangs them in; before the tree is laid out, after every load. */
void session_adopt(struct view *v);
/* Opens the one under the cursor; false: there is none. */
bool session_open_kin(struct view *v);

#endif
