/*
 * clock.c - time, random bytes, and how ages, times and sizes are written.
 * Both sources can be fixed by the environment, for scripted tests.
 */
#include "config.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/xalloc.h"

static struct {
	pthread_once_t once;
	pthread_mutex_t lock; /* of seed */
	bool has_now, has_seed;
	int64_t now;
	uint64_t seed;
} fixed = { .once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER };

static void read_environment(void)
{
	const char *now = getenv("BOUGH_NOW"), *seed = getenv("BOUGH_SEED");

	if (now && *now) {
		fixed.has_now = true;
		fixed.now = strtoll(now, NULL, 10);
	}
	if (seed && *seed) {
		fixed.has_seed = true;
		fixed.seed = strtoull(seed, NULL, 10);
	}
}

int64_t clock_now_ms(void)
{
	struct timespec ts;

	pthread_once(&fixed.once, read_environment);
	if (fixed.has_now)
		return fixed.now;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

uint64_t clock_mono_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

bool clock_is_near(int64_t at_ms, int64_t span_ms)
{
	int64_t now = clock_now_ms(), ago;

	return !__builtin_sub_overflow(now, at_ms, &ago) && ago > -span_ms && ago < span_ms;
}

/* A Weyl sequence through a mixer: repeatable, and good enough for ids in tests. */
static unsigned char next_seeded(void)
{
	uint64_t z = fixed.seed += 0x9E3779B97F4A7C15u;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return (unsigned char)(z >> 56);
}

void random_bytes(void *p, size_t n)
{
	unsigned char *out = p;
	size_t i;

	pthread_once(&fixed.once, read_environment);
	if (fixed.has_seed) {
		pthread_mutex_lock(&fixed.lock);
		for (i = 0; i < n; i++)
			out[i] = next_seeded();
		pthread_mutex_unlock(&fixed.lock);
		return;
	}
	while (n) {
#ifdef HAVE_GETRANDOM
		ssize_t got = getrandom(out, n, 0);
#else
		ssize_t got = n < 256 ? (ssize_t)n : 256;

		if (getentropy(out, (size_t)got) < 0)
			got = -1;
#endif
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			die("no random bytes: %s", strerror(errno));
		out += got;
		n -= (size_t)got;
	}
}

void random_uuid4(char out[37])
{
	static const char hex[] = "0123456789abcdef";
	unsigned char b[16];
	size_t i;

	random_bytes(b, sizeof(b));
	b[6] = (b[6] & 0x0F) | 0x40;
	b[8] = (b[8] & 0x3F) | 0x80;
	for (i = 0; i < sizeof(b); i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*out++ = '-';
		*out++ = hex[b[i] >> 4];
		*out++ = hex[b[i] & 15];
	}
	*out = '\0';
}

void time_age(int64_t at_ms, int64_t now_ms, char out[8])
{
	static const struct {
		uint64_t below, unit; /* seconds */
		char letter;
	} steps[] = {
		{ 3600, 60, 'm' },
		{ 86400, 3600, 'h' },
		{ 14 * 86400, 86400, 'd' },
		{ 365 * 86400, 7 * 86400, 'w' },
		{ UINT64_MAX, 365 * 86400, 'y' },
	};
	bool future = at_ms > now_ms;
	uint64_t s, v;
	size_t i = 0;

	/* Unsigned, because the difference of two int64 may not fit one. */
	s = future ? (uint64_t)at_ms - (uint64_t)now_ms : (uint64_t)now_ms - (uint64_t)at_ms;
	s /= 1000;
	if (at_ms == 0 || s < 60) {
		strcpy(out, at_ms == 0 ? "-" : "now");
		return;
	}
	while (s >= steps[i].below)
		i++;
	v = s / steps[i].unit;
	if (v > (future ? 99 : 999))
		v = future ? 99 : 999;
	snprintf(out, 8, "%s%u%c", future ? "+" : "", (unsigned)v, steps[i].letter);
}

static bool local_time(int64_t at_ms, struct tm *tm)
{
	time_t t = (time_t)(at_ms / 1000 - (at_ms % 1000 < 0));

	/* Years of four digits only: they are what the columns are made for. */
	return localtime_r(&t, tm) && tm->tm_year >= 1000 - 1900 && tm->tm_year <= 9999 - 1900;
}

void time_full(int64_t at_ms, char out[32])
{
	struct tm tm;

	if (!local_time(at_ms, &tm) || !strftime(out, 32, "%Y-%m-%d %H:%M:%S", &tm))
		strcpy(out, "-");
}

void time_clock(int64_t at_ms, char out[16])
{
	struct tm tm;

	if (!local_time(at_ms, &tm) || !strftime(out, 16, "%H:%M:%S", &tm))
		strcpy(out, "-");
}

void size_human(uint64_t bytes, char out[16])
{
	static const char units[] = "KMGTPE";
	unsigned whole = (unsigned)bytes, rest = 0, tenths, i;

	if (bytes < 1024) {
		snprintf(out, 16, "%u B", whole);
		return;
	}
	for (i = 0; i < sizeof(units) - 1; i++) {
		rest = bytes >> (10 * i) & 1023;
		whole = (unsigned)(bytes >> (10 * i) >> 10);
		/* 1023.5K is written 1.0M */
		if (bytes >> (10 * i) >> 10 < 1024 && whole + (rest >= 512) < 1024)
			break;
	}
	tenths = whole * 10 + (rest * 10 + 512) / 1024;
	if (tenths < 100)
		snprintf(out, 16, "%u.%u%c", tenths / 10, tenths % 10, units[i]);
	else
		snprintf(out, 16, "%u%c", whole + (rest >= 512), units[i]);
}

void count_human(uint64_t n, char out[32])
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n), i;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
}

const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}
