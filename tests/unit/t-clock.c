/* How times, ages and sizes are written, and the clock and random bytes fixed by the environment. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

#define SEC  INT64_C(1000)
#define MIN  (60 * SEC)
#define HOUR (60 * MIN)
#define DAY  (24 * HOUR)

static const char *age(int64_t ago)
{
	static char out[8];
	const int64_t now = INT64_C(1780000000000);

	time_age(now - ago, now, out);
	assert_true(strlen(out) <= 4);
	return out;
}

static void test_age(void **state)
{
	char out[8];

	assert_string_equal(age(0), "now");
	assert_string_equal(age(MIN - 1), "now");
	assert_string_equal(age(MIN), "1m");
	assert_string_equal(age(HOUR - 1), "59m");
	assert_string_equal(age(HOUR), "1h");
	assert_string_equal(age(DAY - 1), "23h");
	assert_string_equal(age(DAY), "1d");
	assert_string_equal(age(14 * DAY - 1), "13d");
	assert_string_equal(age(14 * DAY), "2w");
	assert_string_equal(age(365 * DAY - 1), "52w");
	assert_string_equal(age(365 * DAY), "1y");
	assert_string_equal(age(20 * 365 * DAY), "20y");
	/* A clock that is wrong is not hidden. */
	assert_string_equal(age(-59 * SEC), "now");
	assert_string_equal(age(-5 * MIN), "+5m");
	assert_string_equal(age(-52 * 7 * DAY), "+52w");
	assert_string_equal(age(-9000 * 365 * DAY), "+99y");
	time_age(0, 1780000000000, out);
	assert_string_equal(out, "-");
	time_age(INT64_MIN, INT64_MAX, out);
	assert_string_equal(out, "999y");
	time_age(INT64_MAX, INT64_MIN, out);
	assert_string_equal(out, "+99y");
}

static void check_time(int64_t ms, const char *full, const char *clock)
{
	char out[32];

	time_full(ms, out);
	assert_string_equal(out, full);
	time_clock(ms, out);
	assert_string_equal(out, clock);
}

static void test_time(void **state)
{
	setenv("TZ", "UTC", 1);
	tzset();
	check_time(0, "1970-01-01 00:00:00", "00:00:00");
	check_time(INT64_C(1796032872999), "2026-11-30 10:01:12", "10:01:12");
	check_time(-1, "1969-12-31 23:59:59", "23:59:59");
	check_time(-1000, "1969-12-31 23:59:59", "23:59:59");
	check_time(-1001, "1969-12-31 23:59:58", "23:59:58");
	check_time(INT64_C(253402300799999), "9999-12-31 23:59:59", "23:59:59");
	check_time(INT64_C(253402300800000), "-", "-");
	check_time(INT64_C(-30610224000000), "1000-01-01 00:00:00", "00:00:00");
	check_time(INT64_C(-30610224000001), "-", "-");
	check_time(INT64_MAX, "-", "-");
	check_time(INT64_MIN, "-", "-");
	setenv("TZ", "XXX-3", 1);
	tzset();
	check_time(0, "1970-01-01 03:00:00", "03:00:00");
	setenv("TZ", "UTC", 1);
	tzset();
}

static void check_size(uint64_t bytes, const char *want)
{
	char out[16];

	size_human(bytes, out);
	assert_string_equal(out, want);
}

static void test_size(void **state)
{
	uint64_t v;
	int bit;

	check_size(0, "0 B");
	check_size(60, "60 B");
	check_size(1023, "1023 B");
	check_size(1024, "1.0K");
	check_size(1229, "1.2K");
	check_size(10188, "9.9K");
	check_size(10189, "10K"); /* 9.95 */
	check_size(10239, "10K");
	check_size(10240, "10K");
	check_size(88 * 1024, "88K");
	check_size(1023 * 1024 + 511, "1023K");
	check_size(1023 * 1024 + 512, "1.0M");
	check_size(1 << 20, "1.0M");
	check_size(3250586, "3.1M");
	check_size(1 << 30, "1.0G");
	check_size(UINT64_C(1) << 40, "1.0T");
	check_size(UINT64_C(1) << 50, "1.0P");
	check_size(UINT64_MAX, "16E");
	for (bit = 0; bit < 64; bit++) {
		for (v = UINT64_C(1) << bit; v > (UINT64_C(1) << bit) - 3 && v; v--) {
			char out[16];

			size_human(v, out);
			assert_true(strlen(out) <= 6);
		}
	}
}

static void test_count(void **state)
{
	char out[32];

	count_human(0, out);
	assert_string_equal(out, "0");
	count_human(999, out);
	assert_string_equal(out, "999");
	count_human(1000, out);
	assert_string_equal(out, "1,000");
	count_human(12345, out);
	assert_string_equal(out, "12,345");
	count_human(UINT64_MAX, out);
	assert_string_equal(out, "18,446,744,073,709,551,615");
}

static void check_uuid(const char *u)
{
	size_t i;

	assert_int_equal(strlen(u), 36);
	for (i = 0; i < 36; i++) {
		if (i == 8 || i == 13 || i == 18 || i == 23)
			assert_int_equal(u[i], '-');
		else
			assert_non_null(strchr("0123456789abcdef", u[i]));
	}
	assert_int_equal(u[14], '4');
	assert_non_null(strchr("89ab", u[19]));
}

/* The environment is read once, so that what it does needs processes of its own. */
static void in_child(const char *now, const char *seed, char *out, size_t size)
{
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char text[2][37];
		int64_t at;

		if (now)
			setenv("BOUGH_NOW", now, 1);
		if (seed)
			setenv("BOUGH_SEED", seed, 1);
		random_uuid4(text[0]);
		random_uuid4(text[1]);
		at = clock_now_ms();
		if (write(fds[1], text, sizeof(text)) < 0 || write(fds[1], &at, sizeof(at)) < 0)
			_exit(1);
		_exit(0);
	}
	close(fds[1]);
	n = read(fds[0], out, size);
	while (n >= 0 && (size_t)n < size) {
		ssize_t more = read(fds[0], out + n, size - (size_t)n);

		if (more <= 0)
			break;
		n += more;
	}
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(n, size);
}

struct facts {
	char uuid[2][37];
	char now[sizeof(int64_t)];
};

static void test_fixed(void **state)
{
	struct facts a, b, c, d;
	int64_t now;

	unsetenv("BOUGH_NOW");
	unsetenv("BOUGH_SEED");
	in_child("1780000000123", "5", (char *)&a, sizeof(a));
	in_child("1780000000123", "5", (char *)&b, sizeof(b));
	in_child(NULL, "6", (char *)&c, sizeof(c));
	in_child(NULL, NULL, (char *)&d, sizeof(d));
	check_uuid(a.uuid[0]);
	check_uuid(a.uuid[1]);
	check_uuid(d.uuid[0]);
	assert_string_not_equal(a.uuid[0], a.uuid[1]);
	assert_string_equal(a.uuid[0], b.uuid[0]);
	assert_string_equal(a.uuid[1], b.uuid[1]);
	assert_string_not_equal(a.uuid[0], c.uuid[0]);
	assert_string_not_equal(d.uuid[0], d.uuid[1]);
	memcpy(&now, a.now, sizeof(now));
	assert_true(now == INT64_C(1780000000123));
	memcpy(&now, d.now, sizeof(now));
	assert_true(now / 1000 >= (int64_t)time(NULL) - 60 && now / 1000 <= (int64_t)time(NULL));
}

static void test_near(void **state)
{
	int64_t now = clock_now_ms();

	assert_true(clock_is_near(now, HOUR));
	assert_true(clock_is_near(now - 30 * MIN, HOUR));
	assert_true(clock_is_near(now + 30 * MIN, HOUR));
	assert_false(clock_is_near(now - 2 * HOUR, HOUR));
	assert_false(clock_is_near(now + 2 * HOUR, HOUR)); /* dated ahead: not of now */
	assert_false(clock_is_near(INT64_MIN, HOUR));
	assert_false(clock_is_near(INT64_MAX, HOUR));
}

static void test_monotonic(void **state)
{
	uint64_t before = clock_mono_us(), i;

	for (i = 0; i < 1000; i++) {
		uint64_t now = clock_mono_us();

		assert_true(now >= before);
		before = now;
	}
}

static void test_random(void **state)
{
	unsigned char seen[256] = { 0 }, bytes[8192];
	size_t i, kinds = 0;

	random_bytes(bytes, 0);
	random_bytes(bytes, sizeof(bytes));
	for (i = 0; i < sizeof(bytes); i++)
		kinds += !seen[bytes[i]]++;
	assert_int_equal(kinds, 256); /* fails by chance once in 10^11 runs */
}

static void test_plural(void **state)
{
	assert_string_equal(plural(0, "y", "ies"), "ies");
	assert_string_equal(plural(1, "y", "ies"), "y");
	assert_string_equal(plural(2, "y", "ies"), "ies");
	assert_string_equal(plural(UINT64_MAX, "", "s"), "s");
	assert_string_equal(plural((uint64_t)UINT32_MAX + 2, "", "s"), "s"); /* 1, cut to 32 bits */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plural),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_age),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_monotonic),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
