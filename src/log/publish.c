/*
 * publish.c - whole files that appear complete or not at all: exclusive
 * publishing and the replacement of a sidecar. Owns temporary names; knows
 * nothing of logs and lines.
 */
#include "config.h"

#include "log/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

enum { TEMP_TRIES = 16, PUB_BUFFER = 64 << 10 };

struct log_pub {
	int fd;
	bool has_temp, has_failed;
	size_t n; /* bytes in `buffer` */
	struct log_id id;
	char path[IO_PATH], dir[IO_PATH], temp[IO_PATH];
	char buffer[PUB_BUFFER];
};

/* ".<name>.<12 hex>.tmp" beside the target: rename and link stay in one file system. */
static int make_temp(struct log_pub *pub, struct err *err)
{
	const char *name = path_base(pub->path);
	size_t dir_n = (size_t)(name - pub->path);
	uint64_t random;
	int rc, tries = 0;

	do {
		sys->random(&random, sizeof(random));
		rc = io_printf_path(pub->temp, err, "%.*s.%s.%012" PRIx64 ".tmp", (int)dir_n,
			pub->path, name, random & 0xffffffffffffu);
		if (rc < 0)
			return rc;
		pub->fd = io_open(pub->temp, O_WRONLY | O_CREAT | O_EXCL, 0600);
	} while (pub->fd < 0 && errno == EEXIST && ++tries < TEMP_TRIES);
	if (pub->fd < 0)
		return err_sys(err, "create a file beside %s", pub->path);
	pub->has_temp = true;
	return 0;
}

static void remove_temp(struct log_pub *pub)
{
	if (pub->has_temp)
		sys->unlink(pub->temp);
	pub->has_temp = false;
}

int log_pub_begin(struct log_pub **out, const char *path, struct err *err)
{
	struct log_pub *pub;
	int rc;

	*out = NULL;
	pub = sys->malloc(sizeof(*pub));
	if (!pub)
		return io_no_memory(err);
	pub->fd = -1;
	pub->has_temp = pub->has_failed = false;
	pub->n = 0;
	rc = io_path(pub->path, path, err);
	if (rc == 0) {
		io_dir(pub->dir, pub->path);
		rc = make_temp(pub, err);
	}
	if (rc < 0)
		log_pub_abort(&pub);
	*out = pub;
	return rc;
}

void log_pub_abort(struct log_pub **pub)
{
	if (!*pub)
		return;
	io_close(&(*pub)->fd);
	remove_temp(*pub);
	free(*pub);
	*pub = NULL;
}

static int write_out(struct log_pub *pub, const void *p, size_t n, struct err *err)
{
	if (io_write(pub->fd, p, n) == 0)
		return 0;
	pub->has_failed = true;
	return err_sys(err, "write %s", pub->temp);
}

int log_pub_write(struct log_pub *pub, const void *p, size_t n, struct err *err)
{
	int rc;

	if (pub->has_failed)
		return err_set(err, ERR_BROKEN, "%s could not be written", pub->temp);
	if (n > PUB_BUFFER - pub->n) {
		rc = write_out(pub, pub->buffer, pub->n, err);
		if (rc < 0)
			return rc;
		pub->n = 0;
	}
	if (n >= PUB_BUFFER)
		return write_out(pub, p, n, err);
	if (n)
		memcpy(pub->buffer + pub->n, p, n);
	pub->n += n;
	return 0;
}

/* The content is durable under the temporary name after this. */
static int finish_temp(struct log_pub *pub, struct err *err)
{
	struct stat st;
	int rc;

	if (pub->has_failed)
		return err_set(err, ERR_BROKEN, "%s could not be written", pub->temp);
	rc = write_out(pub, pub->buffer, pub->n, err);
	if (rc < 0)
		return rc;
	if (io_fsync(pub->fd) < 0)
		return err_sys(err, "sync %s", pub->temp);
	if (io_fstat(pub->fd, &st) < 0)
		return err_sys(err, "look at %s", pub->temp);
	io_id(&st, &pub->id);
	io_close(&pub->fd);
	return 0;
}

static bool has_no_links(int error)
{
	return error == EPERM || error == ENOTSUP || error == EOPNOTSUPP || error == ENOSYS ||
	       error == EMLINK;
}

/* A second name that takes no other file's place; a rename where there are no links. */
static int name_exclusively(struct log_pub *pub, struct err *err)
{
	if (sys->link(pub->temp, pub->path) == 0)
		return 0;
	if (has_no_links(errno) && sys->rename_noreplace(pub->temp, pub->path) == 0) {
		pub->has_temp = false;
		return 0;
	}
	if (errno == EEXIST)
		return err_set(err, ERR_EXISTS, "%s exists already", pub->path);
	return err_sys(err, "name %s", pub->path);
}

/* The name could not be made durable: it must not stay and look as if it were. */
static int take_name_back(struct log_pub *pub, struct err *err)
{
	struct log_id now;
	struct err why = { 0 };

	err_sys(&why, "sync the folder of %s", pub->path);
	if (log_stat(pub->path, &now, NULL) == 0 && now.exists && now.dev == pub->id.dev &&
		now.ino == pub->id.ino && sys->unlink(pub->path) == 0)
		return err_hand_over(err, &why);
	err_set(err, why.code, "%s is there but may not survive a power cut: %s", pub->path,
		why.text);
	if (err)
		err->sys = why.sys;
	return why.code;
}

int log_pub_commit(struct log_pub **handle, struct err *err)
{
	struct log_pub *pub = *handle;
	int rc = finish_temp(pub, err);

	if (rc == 0)
		rc = name_exclusively(pub, err);
	/* The folder after the link: the name is durable only now. */
	if (rc == 0 && io_sync_dir(pub->dir) < 0)
		rc = take_name_back(pub, err);
	if (rc == 0 && pub->has_temp) {
		/*
		 * Published. Should the temporary name survive a crash here it
		 * is a second name of a complete file, and nobody's session.
		 */
		remove_temp(pub);
		io_sync_dir(pub->dir);
	}
	log_pub_abort(handle);
	return rc;
}

/* ERR_CHANGED unless the path is still what `expected` says. */
static int check_expected(const char *path, const struct log_id *expected, struct err *err)
{
	struct log_id now;
	int rc;

	if (!expected)
		return 0;
	rc = log_stat(path, &now, err);
	if (rc < 0)
		return rc;
	if (io_same(expected, &now))
		return 0;
	return err_set(err, ERR_CHANGED, "%s was changed by another process", path);
}

/* The mode of the file whose place is taken; a missing one leaves 0600. */
static int copy_mode(struct log_pub *pub, struct err *err)
{
	struct stat st;
	int rc;

	if (io_lstat(pub->path, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "look at %s", pub->path);
	if (S_ISLNK(st.st_mode))
		return err_set(err, ERR_UNSUPPORTED, "%s is a symbolic link", pub->path);
	rc = io_regular(&st, pub->path, err);
	if (rc < 0 || (st.st_mode & 07777) == 0600)
		return rc;
	if (sys->fchmod(pub->fd, st.st_mode & 07777) < 0)
		return err_sys(err, "set the mode of %s", pub->temp);
	return 0;
}

static int rename_over(struct log_pub *pub, const struct log_id *expected, struct err *err)
{
	int rc = check_expected(pub->path, expected, err);

	if (rc < 0)
		return rc;
	if (sys->rename(pub->temp, pub->path) < 0)
		return err_sys(err, "rename to %s", pub->path);
	pub->has_temp = false;
	/* The old file is gone, so there is no way back: the new one stays. */
	if (io_sync_dir(pub->dir) < 0)
		return err_sys(err, "%s is new but may not survive a power cut", pub->path);
	return 0;
}

/* There was none: not over a file that appears just now either. */
static int publish_new(struct log_pub **pub, const char *path, struct err *err)
{
	struct err why = { 0 };
	int rc = log_pub_commit(pub, &why);

	if (rc == ERR_EXISTS)
		return err_set(err, ERR_CHANGED, "%s was made by another process", path);
	return rc < 0 ? err_hand_over(err, &why) : 0;
}

int log_replace(
	const char *path, const void *p, size_t n, const struct log_id *expected, struct err *err)
{
	struct log_pub *pub = NULL;
	int rc = check_expected(path, expected, err);

	if (rc == 0)
		rc = log_pub_begin(&pub, path, err);
	if (rc == 0)
		rc = copy_mode(pub, err);
	if (rc == 0)
		rc = log_pub_write(pub, p, n, err);
	if (rc == 0 && expected && !expected->exists)
		return publish_new(&pub, path, err);
	if (rc == 0)
		rc = finish_temp(pub, err);
	if (rc == 0)
		rc = rename_over(pub, expected, err);
	log_pub_abort(&pub);
	return rc;
}
