/*
 * replay.c - runs a fuzz target over its corpus without a fuzzer.
 *
 * Linked with one fuzz-<target>.c in ordinary builds: every file of
 * tests/fuzz/corpus/<target>/ (the target from the program's own name) goes
 * through LLVMFuzzerTestOneInput whole, cut short, and with single bytes
 * changed. Cuts and changes come from a fixed seed, so a failure repeats.
 * Files or folders given as arguments are used instead, as they are.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	INPUT_CAP = 1 << 20,
	CUTS = 64,    /* most lengths tried of one file */
	CHANGES = 192 /* bytes changed of one file, one at a time */
};

static size_t ninputs, nfiles;

/* The bytes in a block of exactly their size: reading past it is seen by a sanitizer. */
static void run_one(const uint8_t *p, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);

	if (!copy)
		abort();
	if (n)
		memcpy(copy, p, n);
	LLVMFuzzerTestOneInput(copy, n);
	free(copy);
	ninputs++;
}

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void run_variants(uint8_t *p, size_t n, unsigned times)
{
	uint32_t seed = 2463534242u;
	size_t step = n / CUTS + 1;

	for (size_t cut = 0; cut < n; cut += step)
		run_one(p, cut);
	if (n == 0)
		return;
	for (unsigned i = 0; i < CHANGES * times; i++) {
		static const uint8_t telling[] = { 0, '"', '\\', '\n', '{', '}', 0x80, 0xff };
		size_t at = next_random(&seed) % n;
		uint32_t how = next_random(&seed);
		uint8_t was = p[at];

		if (how & 1)
			p[at] = telling[(how >> 1) % sizeof(telling)];
		else
			p[at] ^= 1u << (how >> 1) % 8;
		run_one(p, n);
		p[at] = was;
	}
}

static int run_file(const char *path, unsigned times)
{
	FILE *f = fopen(path, "rb");
	uint8_t *p = malloc(INPUT_CAP);
	size_t n;

	if (!f || !p) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		free(p);
		if (f)
			fclose(f);
		return -1;
	}
	n = fread(p, 1, INPUT_CAP, f);
	fclose(f);
	run_one(p, n);
	if (times)
		run_variants(p, n, times);
	free(p);
	nfiles++;
	return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int run_path(const char *path, unsigned times)
{
	struct dirent **names;
	struct stat st;
	int n, result = 0;

	if (stat(path, &st) < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	if (!S_ISDIR(st.st_mode))
		return run_file(path, times);
	n = scandir(path, &names, NULL, by_name);
	if (n < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	for (int i = 0; i < n; i++) {
		char file[4096];

		if (names[i]->d_name[0] != '.') {
			snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
			if (run_file(file, times) < 0)
				result = -1;
		}
		free(names[i]);
	}
	free(names);
	return result;
}

int main(int argc, char **argv)
{
	const char *srcdir = getenv("srcdir"), *longer = getenv("BOUGH_LONG");
	const char *name = strrchr(argv[0], '/');
	char corpus[4096];
	int result = 0;

	name = name ? name + 1 : argv[0];
	if (strncmp(name, "fuzz-", 5) == 0)
		name += 5;
	for (int i = 1; i < argc; i++)
		if (run_path(argv[i], 0) < 0)
			result = 1;
	if (argc < 2) {
		snprintf(corpus, sizeof(corpus), "%s/tests/fuzz/corpus/%s", srcdir ? srcdir : ".", name);
		if (run_path(corpus, longer ? 100 : 1) < 0)
			result = 1;
	}
	printf("%s: %zu inputs from %zu files\n", name, ninputs, nfiles);
	if (nfiles == 0)
		result = 1;
	return result;
}
