/*
 * temp.c - files of tests.
 */
#include "config.h"

#include "tests/lib/temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void give_up(const char *what, const char *path)
{
	fprintf(stderr, "test files: %s %s: %s\n", what, path, strerror(errno));
	exit(1);
}

void temp_make(char dir[TEMP_PATH])
{
	const char *base = getenv("TMPDIR");

	if (access("/dev/shm", W_OK | X_OK) == 0)
		base = "/dev/shm";
	else if (!base || !*base)
		base = "/tmp";
	if (snprintf(dir, TEMP_PATH, "%s/bough-test-XXXXXX", base) >= TEMP_PATH || !mkdtemp(dir))
		give_up("make", base);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	if (walk->level == 0)
		return 0;
	return kind == FTW_DP ? rmdir(path) : unlink(path);
}

void temp_clear(const char *dir)
{
	if (nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
		give_up("clear", dir);
}

void temp_remove(const char *dir)
{
	temp_clear(dir);
	if (rmdir(dir) < 0)
		give_up("remove", dir);
}

static void put(const char *path, int flags, const void *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);

	if (fd < 0 || (n && write(fd, p, n) != (ssize_t)n) || close(fd) < 0)
		give_up("write", path);
}

void temp_put(const char *path, const void *p, size_t n)
{
	put(path, O_TRUNC, p, n);
}

void temp_puts(const char *path, const char *text)
{
	put(path, O_TRUNC, text, strlen(text));
}

void temp_adds(const char *path, const char *text)
{
	put(path, O_APPEND, text, strlen(text));
}

char *temp_get(const char *path, size_t *n)
{
	struct stat st;
	char *p;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0 || fstat(fd, &st) < 0)
		give_up("read", path);
	p = malloc((size_t)st.st_size + 1);
	if (!p || read(fd, p, (size_t)st.st_size) != st.st_size)
		give_up("read", path);
	close(fd);
	p[st.st_size] = '\0';
	*n = (size_t)st.st_size;
	return p;
}

bool temp_is(const char *path, const char *text)
{
	size_t n;
	char *p = temp_get(path, &n);
	bool same = p && text ? n == strlen(text) && memcmp(p, text, n) == 0 : !p && !text;

	free(p);
	return same;
}

int temp_count(const char *dir, const char *part, char out[TEMP_PATH])
{
	struct dirent *entry;
	int count = 0;
	DIR *d = opendir(dir);

	if (!d)
		give_up("list", dir);
	while ((entry = readdir(d))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
			!strstr(entry->d_name, part))
			continue;
		if (out && snprintf(out, TEMP_PATH, "%s/%s", dir, entry->d_name) >= TEMP_PATH)
			give_up("name", entry->d_name);
		count++;
	}
	closedir(d);
	return count;
}

int temp_open_files(void)
{
	return temp_count("/proc/self/fd", "", NULL);
}
