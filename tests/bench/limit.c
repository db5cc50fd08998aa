/*
 * limit.c - loops that do nothing but what nobody can do without: decode the
 * frames of a log (`limit frames FILE`), or find the logs of a root and read
 * the beginning of each (`limit heads ROOT`). `make bench` runs bough against
 * them.
 */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { HEAD = 4096, ROOM = 8 << 20 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int frames(const char *path)
{
	ZSTD_DCtx *dctx = ZSTD_createDCtx();
	char *room = malloc(ROOM), *file;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t text = 0;
	struct stat st;
	size_t size, at = 0, n = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		die(path);
	size = (size_t)st.st_size;
	file = malloc(size + 1);
	if (!dctx || !room || !file)
		die("limit");
	while (at < size) {
		ssize_t got = pread(fd, file + at, size - at, (off_t)at);

		if (got <= 0)
			die(path);
		at += (size_t)got;
	}
	for (at = 0; at < size; at += n) {
		size_t got;

		n = ZSTD_findFrameCompressedSize(file + at, size - at);
		got = ZSTD_isError(n) ? n : ZSTD_decompressDCtx(dctx, room, ROOM, file + at, n);
		if (ZSTD_isError(got)) {
			fprintf(stderr, "limit: %s\n", ZSTD_getErrorName(got));
			return 1;
		}
		text += got;
	}
	printf("%llu\n", (unsigned long long)text);
	close(fd);
	free(file);
	free(room);
	ZSTD_freeDCtx(dctx);
	return 0;
}

static void head(int dir, const char *name, uint64_t *bytes)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	char text[HEAD];
	ssize_t n;

	if (fd < 0)
		die(name);
	n = pread(fd, text, sizeof(text), 0);
	*bytes += n > 0 ? (uint64_t)n : 0;
	close(fd);
}

/* The files below `parent`/`name`; folders are three deep. */
static void walk(int parent, const char *name, int depth, uint64_t *files, uint64_t *bytes)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *de;

	if (!dir)
		die(name);
	while ((de = readdir(dir))) {
		if (de->d_name[0] == '.')
			continue;
		if (depth > 1) {
			walk(fd, de->d_name, depth - 1, files, bytes);
		} else {
			head(fd, de->d_name, bytes);
			++*files;
		}
	}
	closedir(dir);
}

int main(int argc, char **argv)
{
	uint64_t files = 0, bytes = 0;

	if (argc == 3 && !strcmp(argv[1], "frames"))
		return frames(argv[2]);
	if (argc != 3 || strcmp(argv[1], "heads") != 0) {
		fputs("usage: limit frames FILE | limit heads ROOT\n", stderr);
		return 2;
	}
	walk(AT_FDCWD, argv[2], 3, &files, &bytes);
	printf("%llu files, %llu bytes\n", (unsigned long long)files, (unsigned long long)bytes);
	return 0;
}
