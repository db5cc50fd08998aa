/*
 * status.h - the last line: what just happened, else the keys that matter
 * here; progress of a job; the prompt while one is open.
 */
#ifndef BOUGH_UI_STATUS_H
#define BOUGH_UI_STATUS_H

#include <stdbool.h>

#include "ui/cell.h"

struct ui;
struct view;

struct status {
	char text[400];
	bool is_error;
};

void status_clear(struct ui *ui);
bool status_wants_line(const struct ui *ui); /* worth a line even on a screen of one row */
/* Rows that a long message takes from what stands above the line, this one included. */
int status_rows(const struct ui *ui);
/* Row `part` of them, at y. */
void status_draw(struct view *v, struct rowbuf *rb, int y, int part);

#endif
