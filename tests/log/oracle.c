/*
 * oracle.c - a run of appends whose every content is known beforehand.
 */
#include "config.h"

#include "tests/log/oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "tests/lib/temp.h"

int appends_steps(const struct appends *a)
{
	int n = 0;

	while (a->record[n])
		n++;
	return n;
}

size_t appends_content(const struct appends *a, int k, char out[ORACLE_TEXT])
{
	const char *init = a->init ? a->init : "";
	size_t n;
	int i;

	if (k == 0)
		return (size_t)snprintf(out, ORACLE_TEXT, "%s", init);
	n = (size_t)snprintf(out, ORACLE_TEXT, "%.*s", (int)a->committed, init);
	if (n > 0 && out[n - 1] != '\n')
		out[n++] = '\n';
	for (i = 0; i < k; i++)
		n += (size_t)snprintf(out + n, ORACLE_TEXT - n, "%s", a->record[i]);
	return n;
}

bool appends_has_tail(const struct appends *a)
{
	return a->init && a->init[a->committed];
}

/* Where the records end that a reader of k of them accepts. */
static uint64_t committed_after(const struct appends *a, int k)
{
	char text[ORACLE_TEXT];

	return k ? appends_content(a, k, text) : a->committed;
}

int appends_run(const struct appends *a, const char *file, int from, int *acked, struct err *err)
{
	struct log *log;
	uint64_t committed = committed_after(a, from);
	int i, rc = log_open(&log, file, LOG_CREATE, err);

	*acked = from;
	for (i = from; rc == 0 && a->record[i]; i++) {
		struct log_append_info info;

		rc = log_append(log, committed, a->record[i], strlen(a->record[i]), &info, err);
		if (rc == 0) {
			committed = info.off + strlen(a->record[i]);
			*acked = i + 1;
		}
	}
	/* A log that says it is broken must go on saying so. */
	if (rc == ERR_BROKEN && log_append(log, committed, "x\n", 2, NULL, NULL) != ERR_BROKEN)
		abort();
	log_close(&log);
	return rc;
}

bool appends_tail_is_aside(const struct appends *a, const char *file)
{
	char name[2 * TEMP_PATH];

	snprintf(name, sizeof(name), "%s.torn-%zu", file, a->committed);
	return temp_is(name, a->init + a->committed);
}

int appends_present(const struct appends *a, const char *file, int acked)
{
	char want[ORACLE_TEXT];
	size_t n, want_n;
	char *have = temp_get(file, &n);

	if (have && a->record[acked]) {
		want_n = appends_content(a, acked + 1, want);
		if (n >= want_n && memcmp(have, want, want_n) == 0)
			acked++;
	}
	free(have);
	return acked;
}

const char *appends_after_crash(const struct appends *a, const char *file, int acked)
{
	char want[ORACLE_TEXT];
	size_t n, want_n = committed_after(a, acked);
	char *have = temp_get(file, &n);
	const char *wrong = NULL;

	appends_content(a, acked, want);
	if (!have && !a->init && acked == 0)
		return NULL;
	if (!have)
		wrong = "the file is gone";
	else if (n < want_n || memcmp(have, want, want_n) != 0)
		wrong = "what was acknowledged is not there";
	else if (acked == 0 && appends_has_tail(a) && !temp_is(file, a->init) &&
		 !appends_tail_is_aside(a, file))
		wrong = "the torn tail is lost";
	free(have);
	return wrong;
}

const char *appends_finish(const struct appends *a, const char *file, int acked, struct err *err)
{
	char want[ORACLE_TEXT];
	int k = appends_steps(a), from = appends_present(a, file, acked);

	if (appends_run(a, file, from, &acked, err) < 0 || acked != k)
		return "what is not there can not be appended";
	appends_content(a, k, want);
	if (!temp_is(file, want))
		return "appending the rest gives another content";
	if (appends_has_tail(a) && !appends_tail_is_aside(a, file))
		return "the torn tail is not in a copy of its own";
	return NULL;
}
