/*
 * bench.c - runs bough against programs that mark the limit, and prints a table.
 *
 *   bench BOUGH DIR [ROUNDS]
 *
 * DIR holds the inputs that `make bench` generated. Every row runs bough and
 * its limit in turn (A B A B ...), once to warm up and then ROUNDS times, and
 * prints the times, the median of the paired ratios and the peak memory that
 * wait4() reported. A ratio on the same machine in the same minute says more
 * than seconds, so targets are ratios where that is possible. Peers that are
 * not installed say so; a peer that fails is a result too.
 */
#include "config.h"

#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ROUNDS = 51, MAX_ARGS = 8, MAX_FILES = 1000, SAID = 4096 };

struct sample {
	double ms;
	long rss_kb;
	int status;       /* of the program; 127: not installed */
	char said[SAID];  /* its standard output, the beginning */
};

static const char *bough;
static int rounds = 5;
static unsigned misses;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void run(const char *const *argv, struct sample *out)
{
	struct rusage usage;
	int pipes[2], wait_status;
	size_t n = 0;
	ssize_t got;
	double begin;
	pid_t pid;

	memset(out, 0, sizeof(*out));
	if (pipe(pipes) < 0) {
		perror("bench: pipe");
		exit(1);
	}
	begin = now_ms();
	pid = fork();
	if (pid < 0) {
		perror("bench: fork");
		exit(1);
	}
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(pipes[1], 1);
		dup2(null, 2);
		close(pipes[0]);
		close(pipes[1]);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(pipes[1]);
	do {
		char rest[1 << 16];

		got = n < SAID - 1 ? read(pipes[0], out->said + n, SAID - 1 - n)
			: read(pipes[0], rest, sizeof(rest));
		if (got > 0 && n < SAID - 1)
			n += (size_t)got;
	} while (got > 0);
	close(pipes[0]);
	wait4(pid, &wait_status, 0, &usage);
	out->ms = now_ms() - begin;
	out->rss_kb = usage.ru_maxrss;
	out->status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128;
}

/* A number of bough's JSON; -1 when it is not there. */
static double field(const struct sample *s, const char *key)
{
	char quoted[64];
	const char *p;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	p = strstr(s->said, quoted);
	return p ? strtod(p + strlen(quoted), NULL) : -1;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[n / 2];
}

static void verdict(bool pass)
{
	printf("  %s", pass ? "PASS" : "MISS");
	misses += !pass;
}

static void cold(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

struct row {
	const char *id, *what;
	const char *const *program, *const *limit;
	double ratio;         /* target; 0: no target */
	double rss_mb;        /* target; 0: none */
	const char *cold;     /* this file is thrown out of the page cache before each run */
};

/* The last sample of the program stays in `last`. Its median time, or -1. */
static double measure(const struct row *row, struct sample *last)
{
	double a[MAX_ROUNDS], b[MAX_ROUNDS], ratio[MAX_ROUNDS], first;
	long rss = 0;
	bool noisy;

	for (int i = -1; i < rounds; i++) {
		struct sample limit;

		if (row->cold)
			cold(row->cold);
		run(row->program, last);
		if (row->cold)
			cold(row->cold);
		run(row->limit, &limit);
		if (last->status != 0 || limit.status != 0) {
			printf("%-4s %-34s %s: status %d\n", row->id, row->what,
				last->status ? row->program[0] : row->limit[0],
				last->status ? last->status : limit.status);
			misses++;
			return -1;
		}
		if (i < 0)
			continue;
		a[i] = last->ms;
		b[i] = limit.ms;
		ratio[i] = last->ms / limit.ms;
		if (last->rss_kb > rss)
			rss = last->rss_kb;
	}
	first = median(a, rounds);
	noisy = a[rounds - 1] > a[0] * 1.3;
	median(b, rounds);
	printf("%-4s %-34s %8.1f %8.1f %8.1f  %-6s %8.1f %6.2fx", row->id, row->what, a[0], first,
		a[rounds - 1], row->limit[0], b[rounds / 2], median(ratio, rounds));
	if (row->ratio > 0)
		printf(" <= %.2f", row->ratio);
	else
		printf("        ");
	printf("  %5.1f MB", (double)rss / 1024);
	if (row->rss_mb > 0)
		printf(" <= %.0f", row->rss_mb);
	if (row->ratio > 0 || row->rss_mb > 0)
		verdict((row->ratio <= 0 || ratio[rounds / 2] <= row->ratio) &&
			(row->rss_mb <= 0 || (double)rss / 1024 <= row->rss_mb));
	printf("%s\n", noisy ? "  NOISY" : "");
	fflush(stdout);
	return first;
}

/* A peer's time beside ours, and how many times ours it is. */
static void peer(const char *name, const char *const *argv, double ours, double target)
{
	struct sample s;

	run(argv, &s);
	if (s.status == 127) {
		printf("     %-34s not installed\n", name);
		return;
	}
	printf("     %-34s %8s %8.1f %8s  %-6s %8s %6.1fx", name, "", s.ms, "", "", "", s.ms / ours);
	if (target > 0)
		printf(" >= %.0f  ", target);
	else
		printf("         ");
	printf(" %5.1f MB", (double)s.rss_kb / 1024);
	if (s.status != 0)
		printf("  failed: status %d", s.status);
	else if (target > 0)
		verdict(s.ms / ours >= target);
	puts("");
	fflush(stdout);
}

static void absolute(const char *id, const char *what, double ms, double target)
{
	printf("%-4s %-34s %8s %8.2f %8s  %-6s %8s %7s <= %.0f ms", id, what, "", ms, "", "", "", "", target);
	verdict(ms >= 0 && ms <= target);
	puts("");
	fflush(stdout);
}

/* How long after a write() a following bough has the new row. */
static double follow_once(const char *path)
{
	static const char line[] = "\n{\"id\":\"bench-%ld-%d\",\"role\":\"USER\",\"content\":\"one more\","
		"\"timestamp\":1790000000000}";
	static int number;
	const char *const argv[] = { bough, "--bench", "follow", path, NULL };
	char said[256] = "", text[256];
	double begin, seen = -1;
	int pipes[2], fd;
	FILE *from;
	pid_t pid;

	if (pipe(pipes) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(pipes[1], 1);
		close(pipes[0]);
		close(pipes[1]);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(pipes[1]);
	from = fdopen(pipes[0], "r");
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (from && fd >= 0 && fgets(said, sizeof(said), from) && !strcmp(said, "ready\n")) {
		int n = snprintf(text, sizeof(text), line, (long)getpid(), number++);

		begin = now_ms();
		if (write(fd, text, (size_t)n) == n && fgets(said, sizeof(said), from))
			seen = strtod(said, NULL) / 1e3 - begin;
	}
	if (fd >= 0)
		close(fd);
	if (from)
		fclose(from);
	waitpid(pid, NULL, 0);
	return seen;
}

static void bench_index(const char *dir)
{
	char file[4096], shorts[4096], python[512];
	const char *const index[] = { bough, "--bench", "index", file, NULL };
	const char *const index_short[] = { bough, "--bench", "index", shorts, NULL };
	const char *const wc[] = { "wc", "-l", file, NULL };
	const char *const wc_short[] = { "wc", "-l", shorts, NULL };
	const char *const cat[] = { "cat", file, NULL };
	const char *const jq[] = { "jq", "-c", "[.id,.parentId]", file, NULL };
	const char *const py[] = { "python3", "-c", python, file, NULL };
	struct sample s;
	struct stat st;
	double ours;

	snprintf(file, sizeof(file), "%s/agent.jsonl", dir);
	snprintf(shorts, sizeof(shorts), "%s/chat.jsonl", dir);
	snprintf(python, sizeof(python), "import json,sys\nkids={}\nfor l in open(sys.argv[1],'rb'):\n"
		" e=json.loads(l); kids.setdefault(e.get('parentId'),[]).append(e['id'])\n");

	printf("%s: %.1f MB\n", file, stat(file, &st) == 0 ? (double)st.st_size / 1e6 : 0);
#if defined(__x86_64__)
	bool avx2 = __builtin_cpu_supports("avx2");
#else
	bool avx2 = false;
#endif
	ours = measure(&(struct row){ "P1", "index, agent session", index, wc, avx2 ? 2.2 : 4.5, 32, NULL }, &s);
	if (ours > 0) {
		printf("     %.0f entries, %.0f MB/s, load %.1f ms, layout %.2f ms\n", field(&s, "entries"),
			(double)st.st_size / 1e3 / ours, field(&s, "load_us") / 1e3, field(&s, "layout_us") / 1e3);
		peer("jq '[.id,.parentId]'", jq, ours, 20);
		peer("python3 json, children map", py, ours, 0);
		absolute("P7", "first rows of it", field(&s, "first_screen_us") / 1e3, 50);
	}
	measure(&(struct row){ "", "the same against cat", index, cat, 0, 0, NULL }, &s);
	measure(&(struct row){ "P4", "index, not in the page cache", index, wc, 1.25, 0, file }, &s);

	printf("%s: %.1f MB\n", shorts, stat(shorts, &st) == 0 ? (double)st.st_size / 1e6 : 0);
	run(index_short, &s);
	ours = measure(&(struct row){ "P3", "index, short entries", index_short, wc_short, 5,
		8 + field(&s, "entries") * 80 / (1 << 20), NULL }, &s);
	if (ours > 0) {
		printf("     %.0f entries, %.0f MB/s, load %.1f ms, layout %.2f ms\n", field(&s, "entries"),
			(double)st.st_size / 1e3 / ours, field(&s, "load_us") / 1e3, field(&s, "layout_us") / 1e3);
		absolute("P7", "first rows of it", field(&s, "first_screen_us") / 1e3, 50);
	}
}

static void bench_live(const char *dir)
{
	char path[4096];
	double seen[MAX_ROUNDS];

	snprintf(path, sizeof(path), "%s/live.jsonl", dir);
	for (int i = 0; i < rounds; i++)
		seen[i] = follow_once(path);
	absolute("P8", "appended entry has its row", median(seen, rounds), 50);
}

static void bench_list(const char *dir)
{
	char root[4096], shell[4200];
	const char *const list[] = { bough, "--bench", "list", root, NULL };
	const char *const heads[] = { "sh", "-c", shell, NULL };
	struct sample s;

	snprintf(root, sizeof(root), "%s/many", dir);
	snprintf(shell, sizeof(shell), "cat '%s'/*.jsonl | wc -l", root);
	if (measure(&(struct row){ "P9", "list of many sessions", list, heads, 0, 0, NULL }, &s) > 0) {
		printf("     %.0f sessions\n", field(&s, "sessions"));
		absolute("P9", "first rows of it", field(&s, "first_rows_us") / 1e3, 50);
	}
}

/* limit.c, which stands beside this program. */
static const char *limit_program(const char *self)
{
	static char path[4096];
	const char *slash = strrchr(self, '/');

	snprintf(path, sizeof(path), "%.*slimit", slash ? (int)(slash + 1 - self) : 0, self);
	return path;
}

static void bench_dsh(const char *dir, const char *limit)
{
	static const struct {
		const char *name, *what;
	} logs[] = { { "packed", "dsh log, packed rows" }, { "plain", "dsh log, single chunks" } };
	char file[4096], root[4096];
	const char *const index[] = { bough, "--bench", "index", file, NULL };
	const char *const frames[] = { limit, "frames", file, NULL };
	const char *const headers[] = { bough, "--bench", "headers", root, NULL };
	const char *const heads[] = { limit, "heads", root, NULL };
	struct sample s;

	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		double text;

		snprintf(file, sizeof(file), "%s/%s.jsonl.zstd", dir, logs[i].name);
		run(frames, &s);
		text = strtod(s.said, NULL);
		printf("%s: %.1f MB of text\n", file, text / 1e6);
		if (measure(&(struct row){ "P6", logs[i].what, index, frames, 1.5, text / 3 / (1 << 20),
				    NULL }, &s) > 0)
			printf("     %.0f entries, load %.1f ms, first rows %.1f ms\n",
				field(&s, "entries"), field(&s, "load_us") / 1e3,
				field(&s, "first_screen_us") / 1e3);
	}
	snprintf(root, sizeof(root), "%s/dsh", dir);
	if (measure(&(struct row){ "P6", "headers of many dsh logs", headers, heads, 1.5, 0, NULL },
		    &s) > 0)
		printf("     %.0f sessions\n", field(&s, "sessions"));
}

/* All rounds of a root, for a program that takes files. */
static void bench_rounds(const char *dir)
{
	char root[4096], pattern[4200];
	const char *const all[] = { bough, "verify", root, NULL };
	const char *const one[] = { "taskset", "-c", "0", bough, "verify", root, NULL };
	const char *limit[MAX_FILES + 4] = { "openssl", "dgst", "-sha256" };
	struct sample s;
	glob_t files;

	snprintf(root, sizeof(root), "%s/flow", dir);
	snprintf(pattern, sizeof(pattern), "%s/_conversations/*/rounds/*.sf", root);
	if (glob(pattern, 0, NULL, &files) != 0)
		return;
	for (size_t i = 0; i < files.gl_pathc && i < MAX_FILES; i++)
		limit[3 + i] = files.gl_pathv[i];
	printf("%s: %zu rounds\n", root, files.gl_pathc);
	measure(&(struct row){ "P5", "verify, one processor", one, limit, 2.6, 0, NULL }, &s);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		measure(&(struct row){ "P5", "verify, all processors", all, limit, 1.5, 0, NULL }, &s);
	globfree(&files);
}

static void bench_conversation(const char *dir)
{
	char pattern[4200];
	struct sample s;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/flow-large/_conversations/*", dir);
	if (glob(pattern, 0, NULL, &found) != 0 || found.gl_pathc != 1)
		return;
	const char *const open[] = { bough, "--bench", "index", found.gl_pathv[0], NULL };
	const char *const step[] = { bough, "--bench", "rounds", found.gl_pathv[0], NULL };

	run(open, &s);
	printf("%s: %.0f nodes, %.1f MB at most\n", found.gl_pathv[0], field(&s, "entries"),
		field(&s, "peak_rss_kb") / 1024);
	absolute("", "open the conversation", field(&s, "load_us") / 1e3, 500);
	run(step, &s);
	absolute("", "one round back or forward", field(&s, "worst_us") / 1e3, 100);
	globfree(&found);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fputs("usage: bench BOUGH DIR [ROUNDS]\n", stderr);
		return 2;
	}
	bough = argv[1];
	if (argc > 3)
		rounds = atoi(argv[3]);
	if (rounds < 3 || rounds > MAX_ROUNDS)
		rounds = 5;
	printf("%-4s %-34s %8s %8s %8s  %-6s %8s %7s %s\n", "", "milliseconds, whole process", "min",
		"median", "max", "limit", "median", "ratio", "target, peak memory");
	bench_index(argv[2]);
	bench_live(argv[2]);
	bench_list(argv[2]);
	bench_rounds(argv[2]);
	bench_conversation(argv[2]);
	bench_dsh(argv[2], limit_program(argv[0]));
	printf("%u of the targets missed\n", misses);
	return 0;
}
