/*
 * format.c - the table of formats, in the order in which they are tried.
 */
#include "config.h"

#include "format/format.h"

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
