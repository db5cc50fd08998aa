/*
 * cmd-convert.c - `bough convert`: which encoding is asked for, of which place,
 * and what became of each log. The work is the store's.
 */
#include "config.h"

#include "cmd/internal.h"

#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"

struct sum {
	size_t converted, already, failed;
	json_doc *list; /* with --json */
};

static bool parse_kind(const struct cmd *c, bool *to_zstd)
{
	const char *to = c->opt[OPT_COMPRESSION];

	*to_zstd = to && !strcmp(to, "zstd");
	if (*to_zstd || (to && !strcmp(to, "none")))
		return true;
	cmd_complain(0,
		to ? "convert: \"%s\" is neither zstd nor none"
		   : "convert: say --compression zstd or none",
		to);
	return false;
}

/* A folder stands for all that it holds; everything else is one session. */
static int find_place(struct cmd *c, const char **place)
{
	const char *name = c->args[0];
	struct stat st;
	int status = STATUS_DONE;

	*place = name;
	if (stat(name, &st) == 0 && S_ISDIR(st.st_mode) && (strchr(name, '/') || c->nroots == 0))
		return STATUS_DONE;
	status = cmd_open_for(c, WORK_CONVERT);
	if (status == STATUS_DONE)
		*place = c->s->path;
	return status;
}

static void complain_lines(const struct buf *list)
{
	const char *p = list->n ? list->p : "";

	while (*p) {
		size_t n = strcspn(p, "\n");

		cmd_complain(0, "%.*s", (int)n, p);
		p += n + (p[n] == '\n');
	}
}

static void tell_one(struct cmd *c, struct sum *sum, const struct done *d, const struct err *err)
{
	if (c->json) {
		json_doc *o = json_doc_object();

		json_doc_set(o, "session", *d->session ? json_cstr(d->session) : json_doc_null());
		json_doc_set(o, "path", *d->path ? json_cstr(d->path) : json_doc_null());
		json_doc_set(o, "said", err->code ? json_doc_null() : json_cstr(d->said));
		json_doc_set(o, "error", err->code ? json_cstr(err->text) : json_doc_null());
		json_doc_add(sum->list, o);
	} else if (err->code) {
		cmd_complain(0, "%s", err->text);
	} else {
		out_words(&c->out, str_of(d->said));
		out_puts(&c->out, "\n");
	}
}

static void convert_all(struct cmd *c, struct conversion *v, struct sum *sum)
{
	struct done d = { 0 };
	struct err err = { 0 };
	bool was_so;
	int rc;

	do {
		cmd_guard(true); /* a log is converted whole; between two of them ^C ends it */
		rc = conversion_step(v, c->dry, &d, &was_so, &err);
		cmd_guard(false);
		if (rc == 0)
			break;
		tell_one(c, sum, &d, &err);
		sum->failed += rc < 0;
		sum->already += rc > 0 && was_so;
		sum->converted += rc > 0 && !was_so;
		err_clear(&err);
	} while (out_is_alive(&c->out) && !cmd_was_interrupted());
	done_release(&d);
}

static void print_sum(struct cmd *c, const struct sum *sum)
{
	struct out *o = &c->out;

	out_printf(o, "%zu log%s %s", sum->converted, plural(sum->converted, "", "s"),
		c->dry ? "would be converted" : "converted");
	if (sum->already)
		out_printf(o, ", %zu %s so already", sum->already,
			plural(sum->already, "was", "were"));
	if (sum->failed)
		out_printf(o, ", %zu could not be converted", sum->failed);
	out_puts(o, "\n");
}

static json_doc *json_sum(const struct cmd *c, const struct sum *sum)
{
	json_doc *o = json_doc_object();

	json_doc_set(o, "dry_run", json_doc_bool(c->dry));
	json_doc_set(o, "converted", json_doc_uint(sum->converted));
	json_doc_set(o, "already", json_doc_uint(sum->already));
	json_doc_set(o, "failed", json_doc_uint(sum->failed));
	json_doc_set(o, "logs", sum->list);
	return o;
}

static int convert_root(struct cmd *c, struct conversion *v)
{
	struct sum sum = { .list = c->json ? json_doc_list() : NULL };
	int status;

	convert_all(c, v, &sum);
	status = sum.failed ? STATUS_IO : STATUS_DONE;
	if (sum.converted + sum.already + sum.failed < conversion_size(v))
		status = STATUS_CANCELLED;
	if (!c->dry && sum.converted)
		buf_printf(&c->made, "%zu log%s converted", sum.converted,
			plural(sum.converted, "", "s"));
	if (c->json)
		return json_print(c, json_sum(c, &sum), status);
	print_sum(c, &sum);
	if (status == STATUS_CANCELLED)
		cmd_complain(0, "convert: stopped; the same command goes on from here");
	return status;
}

static int convert_one(struct cmd *c, struct conversion *v)
{
	struct done d = { 0 };
	bool was_so;
	int rc, status;

	cmd_guard(true);
	rc = conversion_step(v, c->dry, &d, &was_so, &c->err);
	cmd_guard(false);
	status = rc < 0 ? cmd_fail(c) : cmd_done(c, &d, false);
	done_release(&d);
	return status;
}

int cmd_convert(struct cmd *c)
{
	struct conversion *v = NULL;
	struct buf list = { 0 };
	const char *place;
	bool to_zstd;
	int rc, status;

	if (!parse_kind(c, &to_zstd))
		return STATUS_USAGE;
	status = find_place(c, &place);
	if (status != STATUS_DONE)
		return status;
	do {
		cmd_guard(true);
		buf_clear(&list);
		rc = conversion_begin(&v, place, to_zstd, c->opt[OPT_FORCE], &list, &c->err);
	} while (cmd_again(c, rc));
	cmd_guard(false);
	if (rc < 0) {
		complain_lines(&list);
		status = cmd_fail(c);
	} else {
		status = conversion_size(v) == 1 ? convert_one(c, v) : convert_root(c, v);
	}
	conversion_end(&v);
	buf_release(&list);
	return status;
}
