/*
 * format.c - the table of formats, in the order in which they are tried.
 */
#include "config.h"

#include "format/format.h"

#include <stdio.h>
#include <string.h>

#include "format/dsh/dsh.h"
#include "format/flow/flow.h"
#include "format/tree/tree.h"

/* tree comes last: it also takes a folder in which no line could be read. */
const struct format *const formats[] = { &format_dsh, &format_flow, &format_tree, NULL };

const struct format *format_by_name(const char *name)
{
	for (size_t i = 0; formats[i]; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

/* Of a format that writes something, what it does not. */
static const struct {
	unsigned what;
	const char *before, *behind; /* the format's name */
} refusals[] = {
	{ FORMAT_APPEND, "a ", " log takes no entry of bough's: fork into a new session" },
	{ FORMAT_TITLE, "bough gives ", " sessions no title" },
	{ FORMAT_TRASH, "bough moves no ", " session to the trash" },
	{ FORMAT_CONVERT, "", " sessions have one encoding only" },
};

bool format_can(const struct format *f, unsigned what, char why[FORMAT_WHY])
{
	unsigned missing = what & ~f->can_write;

	snprintf(why, FORMAT_WHY, "%s sessions are only read", f->name);
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals) && f->can_write; i++)
		if (missing & refusals[i].what) {
			snprintf(why, FORMAT_WHY, "%s%s%s", refusals[i].before, f->name,
				refusals[i].behind);
			break;
		}
	return missing == 0;
}
