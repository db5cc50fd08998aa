/*
 * replace.c - a new file in the place of an old one, and the removal of a file,
 * beside others who may do the same. Nothing is destroyed before it has been
 * looked at: the two files change places in one step, and what was taken out
 * is looked at under a name that nobody else uses. If it is not what was
 * expected it goes back.
 */
#include "config.h"

#include "log/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/path.h"

enum { BEFORE_NAMES = 1000, SWAP_TRIES = 4 };

/* EINVAL: the file system can not exchange two names. */
static bool has_no_exchange(int error)
{
	return error == EINVAL || error == ENOSYS || error == ENOTSUP || error == EOPNOTSUPP;
}

static int changed(const char *path, struct err *err)
{
	return err_set(err, ERR_CHANGED, "%s was changed by another process", path);
}

/* ERR_CHANGED unless the path is still what `expected` says. */
static int check_expected(const char *path, const struct log_id *expected, struct err *err)
{
	struct log_id now;
	int rc;

	if (!expected)
		return 0;
	rc = log_stat_beside(path, &now, err);
	if (rc < 0)
		return rc;
	return io_same(expected, &now) ? 0 : changed(path, err);
}

int pub_copy_mode(struct log_pub *pub, struct err *err)
{
	struct stat st;
	int rc;

	if (io_lstat(pub->path, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "look at %s", pub->path);
	rc = io_regular(&st, pub->path, err);
	if (rc < 0 || (st.st_mode & 07777) == 0600)
		return rc;
	if (sys->fchmod(pub->fd, st.st_mode & 07777) < 0)
		return err_sys(err, "set the mode of %s", pub->temp);
	return 0;
}

/* `from` gets the first free name "<path>.before-<n>". */
static int name_before(const char *from, const char *path, char before[IO_PATH], struct err *err)
{
	for (unsigned i = 1; i < BEFORE_NAMES; i++) {
		int rc = io_printf_path(before, err, "%s.before-%u", path, i);

		if (rc < 0)
			return rc;
		if (sys->rename_noreplace(from, before) == 0)
			return 0;
		if (has_no_exchange(errno) && sys->link(from, before) == 0) {
			sys->unlink(from);
			return 0;
		}
		if (errno != EEXIST)
			return err_sys(err, "name %s", before);
	}
	return err_set(err, ERR_EXISTS, "every name for the old %s is taken", path);
}

/*
 * 0: the file is what is expected and nobody else can write to it any more;
 * ERR_CHANGED, ERR_LOCKED: it is not, or somebody has it open. Where the system
 * can not tell who has it open, what it holds must do.
 */
static int check_idle(const char *path, const struct log_id *expected, struct err *err)
{
	struct log_id now;
	int fd, rc = beside_open_read(path, &fd, &now, err);

	if (rc < 0)
		return rc;
	rc = lease_take(fd, path, err);
	if (rc == 0)
		lease_give(fd);
	if (rc == ERR_UNSUPPORTED) {
		err_clear(err);
		rc = 0;
	}
	io_close(&fd);
	if (rc == 0)
		rc = check_expected(path, expected, err);
	return rc;
}

/*
 * The temporary name holds what stood under the path: it goes back. When yet
 * another file came meanwhile, that one counts. False: ours could not be taken
 * away from the path again; what stood there is under pub->temp, or `before`,
 * and stays there.
 */
static bool swap_back(struct log_pub *pub, char before[IO_PATH])
{
	struct log_id id;
	bool is_back = false;

	for (int i = 0; i < SWAP_TRIES && !is_back; i++) {
		if (sys->rename_exchange(pub->temp, pub->path) < 0)
			break;
		is_back = log_stat_beside(pub->temp, &id, NULL) == 0 && id.ino == pub->id.ino &&
			  id.dev == pub->id.dev;
	}
	/* ours had the name for a moment: somebody else may have it open, and have written to it */
	io_close(&pub->fd);
	if (is_back && check_idle(pub->temp, &pub->id, NULL) == 0)
		return true;
	pub->has_temp = false; /* it is not ours to remove */
	if (name_before(pub->temp, pub->path, before, NULL) < 0)
		strcpy(before, pub->temp);
	return is_back;
}

/* The two have changed places: what is to become of the old one? */
static int settle_old(struct log_pub *pub, const struct log_id *expected, bool keeps_old,
	char before[IO_PATH], struct err *err)
{
	struct err why = { 0 }, cause = { 0 };
	int rc = check_expected(pub->temp, expected, &cause);

	if (rc == 0 && !keeps_old && check_idle(pub->temp, expected, &why) == 0)
		return 0; /* it goes with the temporary name */
	if (rc == 0)
		rc = name_before(pub->temp, pub->path, before, &cause);
	if (rc == 0) {
		pub->has_temp = false; /* that name is gone */
		return 0;
	}
	if (swap_back(pub, before))
		return rc == ERR_CHANGED ? changed(pub->path, err) : err_hand_over(err, &cause);
	return err_set(err, rc, "%.110s is new, and the file before it is now %.110s: %.60s", pub->path,
		before, cause.text);
}

/* Where names can not be exchanged: the old one gets its second name first. */
static int rename_over(struct log_pub *pub, const struct log_id *expected, bool keeps_old,
	char before[IO_PATH], struct err *err)
{
	int rc = check_expected(pub->path, expected, err);

	for (unsigned i = 1; rc == 0 && keeps_old && i < BEFORE_NAMES; i++) {
		rc = io_printf_path(before, err, "%s.before-%u", pub->path, i);
		if (rc == 0 && sys->link(pub->path, before) == 0)
			break;
		if (rc == 0 && errno != EEXIST)
			rc = err_sys(err, "name %s", before);
	}
	if (rc == 0 && sys->rename(pub->temp, pub->path) < 0)
		rc = err_sys(err, "rename to %s", pub->path);
	if (rc == 0)
		pub->has_temp = false;
	return rc;
}

/* From here on the name may hold the old file, and must not be taken for a leftover. */
static int prepare_swap(struct log_pub *pub)
{
	char old[IO_PATH];
	uint64_t random;

	for (int i = 0; i < SWAP_TRIES; i++) {
		sys->random(&random, sizeof(random));
		if (io_printf_path(old, NULL, "%.*s%012" PRIx64 OLD_END,
			    (int)(strlen(pub->temp) - strlen("0123456789ab" TEMP_END)), pub->temp,
			    random & 0xffffffffffffu) < 0)
			break;
		if (sys->rename_noreplace(pub->temp, old) == 0) {
			strcpy(pub->temp, old);
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return -1;
}

int pub_take_place(struct log_pub *pub, const struct log_id *expected, bool keeps_old,
	char before[IO_PATH], struct err *err)
{
	int rc = check_expected(pub->path, expected, err);

	before[0] = '\0';
	if (rc < 0)
		return rc;
	if (prepare_swap(pub) == 0 && sys->rename_exchange(pub->temp, pub->path) == 0)
		rc = settle_old(pub, expected, keeps_old, before, err);
	else if (errno == ENOENT)
		rc = changed(pub->path, err);
	else if (!has_no_exchange(errno))
		rc = err_sys(err, "rename to %s", pub->path);
	else
		rc = rename_over(pub, expected, keeps_old, before, err);
	if (rc < 0)
		return rc;
	/* The old file is gone or has another name, so there is no way back: the new one stays. */
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
	struct log_id now;
	char before[IO_PATH];
	int rc = check_expected(path, expected, err);

	if (rc == 0 && !expected) {
		rc = log_stat_beside(path, &now, err);
		expected = &now;
	}
	if (rc == 0)
		rc = log_pub_begin(&pub, path, err);
	if (rc == 0)
		rc = pub_copy_mode(pub, err);
	if (rc == 0)
		rc = log_pub_write(pub, p, n, err);
	if (rc == 0 && !expected->exists)
		return publish_new(&pub, path, err);
	if (rc == 0)
		rc = pub_finish(pub, err);
	if (rc == 0)
		rc = pub_take_place(pub, expected, false, before, err);
	log_pub_abort(&pub);
	return rc;
}

/* ---- removing ---- */

/* It goes back under its name; when that is taken by now it stays where it is, and that is said. */
static int put_name_back(const char *aside, const char *path, struct err *why)
{
	struct err cause = *why;

	if (sys->rename_noreplace(aside, path) == 0)
		return cause.code;
	err_clear(why);
	err_set(why, cause.code, "%.200s; it is now %s", cause.text, aside);
	return cause.code;
}

int log_remove(const char *path, const struct log_id *expected, struct err *err)
{
	char copy[IO_PATH], dir[IO_PATH], aside[IO_PATH];
	struct err why = { 0 };
	uint64_t random;
	int rc = io_path(copy, path, err);

	if (rc == 0)
		rc = check_expected(path, expected, err);
	sys->random(&random, sizeof(random));
	io_dir(dir, rc == 0 ? copy : ".");
	if (rc == 0)
		rc = io_printf_path(aside, err, "%s/.%s.%012" PRIx64 OLD_END, dir, path_base(path),
			random & 0xffffffffffffu);
	if (rc < 0)
		return rc;
	/* First out of the way of those who look for the name, then looked at, then removed. */
	if (sys->rename_noreplace(path, aside) < 0) {
		if (!has_no_exchange(errno))
			return err_sys(err, "remove %s", path);
		return log_unlink(path, err);
	}
	rc = check_idle(aside, expected, &why);
	if (rc == 0 && sys->unlink(aside) < 0)
		rc = err_sys(&why, "remove %s", path);
	if (rc < 0) {
		put_name_back(aside, path, &why);
		return err_hand_over(err, &why);
	}
	if (io_sync_dir(dir) < 0)
		return err_sys(err, "%s is removed but a power cut may bring it back", path);
	return 0;
}
