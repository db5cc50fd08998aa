/*
 * time.c - RFC 3339 times of records and headers, any offset, any fraction, to
 * milliseconds since 1970. Times are for people; nothing is ordered by them
 * within a stream.
 */
#include "config.h"

#include "format/flow/internal.h"

/* `n` digits at *s, which moves behind them. */
static bool digits(struct str *s, int n, int *out)
{
	*out = 0;
	if (s->n < (size_t)n)
		return false;
	for (int i = 0; i < n; i++) {
		if (s->p[i] < '0' || s->p[i] > '9')
			return false;
		*out = *out * 10 + (s->p[i] - '0');
	}
	s->p += n;
	s->n -= (size_t)n;
	return true;
}

static bool skip(struct str *s, const char *any)
{
	for (; s->n && *any; any++)
		if (*s->p == *any) {
			s->p++;
			s->n--;
			return true;
		}
	return false;
}

/* Days since 1970 of a day of the Gregorian calendar; years begin in March. */
static int64_t days(int year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
	int64_t of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int milliseconds(struct str *s)
{
	int ms = 0, scale = 100;

	while (s->n && *s->p >= '0' && *s->p <= '9') {
		ms += (*s->p - '0') * scale;
		scale /= 10;
		s->p++;
		s->n--;
	}
	return ms;
}

/* "Z" or "+01:30", in minutes. */
static bool offset(struct str *s, int *minutes)
{
	int sign, hour, minute;

	*minutes = 0;
	if (skip(s, "Zz"))
		return true;
	sign = s->n && *s->p == '-' ? -1 : 1;
	if (!skip(s, "+-") || !digits(s, 2, &hour) || !skip(s, ":") || !digits(s, 2, &minute))
		return false;
	*minutes = sign * (hour * 60 + minute);
	return true;
}

bool flow_time(struct str s, int64_t *ms)
{
	int year, month, day, hour, minute, second, fraction = 0, zone;

	if (!digits(&s, 4, &year) || !skip(&s, "-") || !digits(&s, 2, &month) || !skip(&s, "-") ||
		!digits(&s, 2, &day) || !skip(&s, "Tt ") || !digits(&s, 2, &hour) ||
		!skip(&s, ":") || !digits(&s, 2, &minute) || !skip(&s, ":") ||
		!digits(&s, 2, &second))
		return false;
	if (skip(&s, "."))
		fraction = milliseconds(&s);
	if (!offset(&s, &zone) || s.n || month < 1 || month > 12 || day < 1 || day > 31 ||
		hour > 23 || minute > 59 || second > 60)
		return false;
	*ms = ((days(year, month, day) * 24 + hour) * 60 + minute - zone) * 60000 + second * 1000 +
	      fraction;
	return true;
}
