/*
 * publish.c - whole files that appear complete or not at all, and never in the
 * place of another. Owns temporary names; knows nothing of logs and lines.
 * Taking another file's place is replace.c's.
 */
#include "config.h"

#include "log/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "base/path.h"

enum { TEMP_TRIES = 16 };

static void remove_temp(struct log_pub *pub)
{
	if (pub->has_temp)
		sys->unlink(pub->temp);
	pub->has_temp = false;
}

/*
 * The lock says that somebody lives who will finish or remove the file. Whoever
 * removes leftovers (leftover.c) may have come before it; then the name is gone
 * or will be, and another one is taken. Where there are no locks the age of the
 * file must do.
 */
static bool lock_temp(struct log_pub *pub)
{
	struct stat st;
	bool is_ours = io_flock(pub->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;

	return is_ours && (io_fstat(pub->fd, &st) < 0 || st.st_nlink > 0);
}

/* ".<name>.<12 hex>.tmp" beside the target: rename and link stay in one file system. */
static int make_temp(struct log_pub *pub, struct err *err)
{
	const char *name = path_base(pub->path);
	size_t dir_n = (size_t)(name - pub->path);
	uint64_t random;
	int rc, tries = 0;

	do {
		remove_temp(pub);
		io_close(&pub->fd);
		sys->random(&random, sizeof(random));
		rc = io_printf_path(pub->temp, err, "%.*s.%s.%012" PRIx64 TEMP_END, (int)dir_n,
			pub->path, name, random & 0xffffffffffffu);
		if (rc < 0)
			return rc;
		pub->fd = io_open(pub->temp, O_WRONLY | O_CREAT | O_EXCL, 0600);
		pub->has_temp = pub->fd >= 0;
		if (pub->has_temp && lock_temp(pub))
			return 0;
	} while ((pub->has_temp || errno == EEXIST) && ++tries < TEMP_TRIES);
	if (!pub->has_temp)
		return err_sys(err, "create a file beside %s", pub->path);
	return err_set(err, ERR_LOCKED, "the files that are made beside %s are taken away", pub->path);
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
	remove_temp(*pub); /* before the lock goes */
	io_close(&(*pub)->fd);
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

int pub_finish(struct log_pub *pub, struct err *err)
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
	return log_pub_commit_id(handle, NULL, err);
}

int log_pub_commit_id(struct log_pub **handle, struct log_id *id, struct err *err)
{
	struct log_pub *pub = *handle;
	int rc = pub_finish(pub, err);

	if (id)
		*id = (struct log_id){ 0 };
	if (rc == 0)
		rc = name_exclusively(pub, err);
	if (rc == 0 && id)
		*id = pub->id;
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
