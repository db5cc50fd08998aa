/*
 * flow-root.c - see flow-root.h. Files are written in place, so that a run does
 * not make and remove names.
 */
#include "config.h"

#include "tests/fuzz/flow-root.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/temp.h"

#include <sys/stat.h>

static char dir[TEMP_PATH];
static char *conversation;

static void clean_up(void)
{
	temp_remove(dir);
	free(conversation);
}

const char *flow_root(void)
{
	static const char *const folders[] = { "_conversations", "_conversations/c",
		"_conversations/c/rounds", "s", "s/streams", "s/streams/main", "s/provider_body" };

	if (*dir)
		return dir;
	temp_make(dir);
	atexit(clean_up);
	conversation = xasprintf("%s/_conversations/c", dir);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char *path = xasprintf("%s/%s", dir, folders[i]);

		HOLDS(mkdir(path, 0700) == 0);
		free(path);
	}
	return dir;
}

void flow_root_put(const char *name, const void *p, size_t n)
{
	char *path = xasprintf("%s/%s", flow_root(), name);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	HOLDS(fd >= 0);
	HOLDS(write(fd, p, n) == (ssize_t)n);
	close(fd);
	free(path);
}

void flow_root_round(const void *p, size_t n)
{
	flow_root_put("_conversations/c/rounds/r000001-000000000000.sf", p, n);
}

const char *flow_root_conversation(void)
{
	flow_root();
	return conversation;
}
