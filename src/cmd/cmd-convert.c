/*
 * cmd-convert.c - `bough convert`: which encoding is asked for. The work is the
 * store's.
 */
#include "config.h"

#include "cmd/internal.h"

#include <string.h>

int cmd_convert(struct cmd *c)
{
	const char *to = c->opt[OPT_COMPRESSION];
	struct done d = { 0 };
	bool to_zstd = to && !strcmp(to, "zstd");
	int rc, status;

	if (!to_zstd && (!to || strcmp(to, "none") != 0))
		return cmd_complain(STATUS_USAGE,
			to ? "convert: \"%s\" is neither zstd nor none"
			   : "convert: say --compression zstd or none",
			to);
	status = cmd_open_for(c, WORK_CONVERT);
	if (status != STATUS_DONE)
		return status;
	cmd_guard(true);
	rc = work_convert(c->work, to_zstd, c->dry, &d, &c->err);
	cmd_guard(false);
	status = rc < 0 ? cmd_fail(c) : cmd_done(c, &d, false);
	done_release(&d);
	return status;
}
