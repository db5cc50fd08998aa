/*
 * tree.h - tree sessions (SoPhi's FileSessionManager): what others need beside
 * the table entry: the lines that are written, and the sidecar.
 *
 * Format: doc/formats.md, "tree".
 */
#ifndef BOUGH_FORMAT_TREE_TREE_H
#define BOUGH_FORMAT_TREE_TREE_H

#include "format/format.h"

extern const struct format format_tree;

struct tree_entry {
	struct str id, parent;      /* parent.p NULL: a root (the key is left out) */
	struct str role, content;
	int64_t time;
	const struct meta *metadata; /* key order as given */
	size_t nmetadata;
};

/* The entry as SoPhi would write it, without a newline. */
void tree_write_entry(struct buf *out, const struct tree_entry *e);
bool tree_id_is_legal(const char *id); /* ^[A-Za-z0-9_-]{1,128}$ */
/* "<dir>/<id>.meta.json" for "<dir>/<id>.jsonl"; yours */
char *tree_sidecar_path(const char *session_path);
char *tree_reflog_path(const char *session_path); /* "<dir>/<id>.reflog"; yours */
/* Reads the sidecar into the session's metadata when it is another than before. */
void tree_sidecar_load(struct session *s);
/* Why it is not known what it says, although it is there; NULL when all is well. */
const char *tree_sidecar_trouble(const struct session *s);
/*
 * The sidecar's text with one string member set (or removed: value.p NULL),
 * other members kept as they are. Fails with ERR_CORRUPT when `old` is not
 * empty and is no JSON object: then nothing may be written over it.
 */
int tree_sidecar_set(struct str old, const char *key, struct str value, struct buf *out,
	struct err *err);

/* Fields of one entry in a form that can be written again (for retry and copies). */
struct tree_fields {
	struct buf id, parent, role, content;
	bool has_parent;
	int64_t time;
	struct meta *metadata; /* in the arena given */
	size_t nmetadata;
};
int tree_read_fields(struct session *s, uint32_t entry, struct arena *a, struct tree_fields *out,
	struct err *err);
void tree_fields_release(struct tree_fields *f);

#endif
