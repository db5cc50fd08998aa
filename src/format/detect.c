/*
 * detect.c - which format a place has. The signs are the formats' own; here
 * they are only asked in turn, and a place that fits none is explained.
 */
#include "config.h"

#include "format/format.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

static int nothing_fits(const char *path, struct err *err)
{
	struct buf looked = { 0 };
	int rc;

	for (size_t i = 0; formats[i]; i++)
		buf_printf(&looked, "%s%s: %s", i ? "; " : "", formats[i]->title, formats[i]->sign);
	rc = err_set(err, ERR_NOTFOUND, "no sessions in %s; looked for %s", path, looked.p);
	buf_release(&looked);
	return rc;
}

const struct format *format_detect(const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			err_set(err, ERR_NOTFOUND, "no such file or folder: %s", path);
		else
			err_sys(err, "look at %s", path);
		return NULL;
	}
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		err_set(err, ERR_UNSUPPORTED, "%s is neither a file nor a folder", path);
		return NULL;
	}
	if (access(path, S_ISDIR(st.st_mode) ? R_OK | X_OK : R_OK) < 0) {
		err_sys(err, "read %s", path);
		return NULL;
	}
	for (size_t i = 0; formats[i]; i++)
		if (formats[i]->detect(path, S_ISREG(st.st_mode)))
			return formats[i];
	nothing_fits(path, err);
	return NULL;
}
