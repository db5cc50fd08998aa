/*
 * tree.c - the table entry of tree sessions, and the names that the format
 * gives to its files.
 */
#include "config.h"

#include "format/tree/tree.h"

#include <string.h>

#include "base/path.h"
#include "base/xalloc.h"
#include "format/tree/internal.h"

enum { ID_MAX = 128 };

const char *const tree_keys[KEY_COUNT] = { "id", "parentId", "role", "content", "timestamp",
	"metadata" };

const struct format format_tree = {
	.name = "tree",
	.title = "tree sessions (SoPhi)",
	.sign = "<id>.jsonl with one entry (id, role, content, timestamp) a line",
	.can_write = FORMAT_APPEND | FORMAT_TITLE | FORMAT_REPAIR | FORMAT_FORK | FORMAT_REFLOG |
		FORMAT_TRASH,
	.detect = tree_detect,
	.scan = tree_scan,
	.open = tree_open,
	.step = tree_step,
	.refresh = tree_refresh,
	.file = tree_file,
	.reader = tree_reader,
};

bool tree_id_is_legal(const char *id)
{
	size_t n = strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");

	return n > 0 && n <= ID_MAX && id[n] == '\0';
}

/* Length of the path without ".jsonl"; all of it when it ends otherwise. */
static size_t stem_length(const char *path)
{
	const char *base = path_base(path);
	size_t n = strlen(path), base_n = strlen(base);

	return base_n > 6 && strcmp(base + base_n - 6, ".jsonl") == 0 ? n - 6 : n;
}

char *tree_id_of_path(const char *path)
{
	const char *base = path_base(path);

	return xstrndup(base, stem_length(path) - (size_t)(base - path));
}

char *tree_sidecar_path(const char *session_path)
{
	return xasprintf("%.*s.meta.json", (int)stem_length(session_path), session_path);
}

char *tree_reflog_path(const char *session_path)
{
	return xasprintf("%.*s.reflog", (int)stem_length(session_path), session_path);
}
