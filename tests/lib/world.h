/*
 * world.h - every file below a folder, as it is at one moment: what an
 * operation, and whoever was beside it, left on the disk.
 */
#ifndef BOUGH_TESTS_WORLD_H
#define BOUGH_TESTS_WORLD_H

#include <stdbool.h>
#include <stddef.h>

struct world {
	struct world_file {
		char *path, *p; /* p is NULL for what can not be read or is no regular file */
		size_t n;
	} *v;
	size_t n, cap;
};

void world_read(struct world *w, const char *dir); /* adds to it */
/*
 * The same of a run whose new ids, which no other run has, become "####", in names and in bytes;
 * logs in frames are there as text. So what two runs left can be compared.
 */
void world_read_plain(
	struct world *w, const char *dir, const char *new_entry, const char *new_session);
void world_release(struct world *w);
/* A file on its way to another name, that nobody reads. */
bool world_is_temp(const char *path);
/* How often these bytes stand in files whose path contains `part` (NULL: in all but such). */
size_t world_count(const struct world *w, const char *part, const char *p, size_t n);
size_t world_texts(const struct world *w, const char *part, const char *text);
/* The file of exactly that path, or NULL. */
const struct world_file *world_file(const struct world *w, const char *path);
/* The first file of a that is not the same in b, and not passed over; NULL: there is none. */
const char *world_difference(const struct world *a, const struct world *b,
	bool (*is_passed_over)(const struct world_file *f));

#endif
