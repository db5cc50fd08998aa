/*
 * cmd-verify.c - `bough verify`: every session of the places given, every
 * check of its format, one line a finding.
 */
#include "config.h"

#include "cmd/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/xalloc.h"
#include "format/dsh/dsh.h"
#include "cmd/cmd-flow.h"

struct tally {
	struct cmd *c;
	uint64_t sessions, damaged, findings, unreadable, interrupted, stopped, leftovers;
	json_doc *list, *remarks; /* with --json */
	struct dsh_family *family;
	struct leftovers *folder; /* the names in the folder of the newest session */
	struct progress progress;
	uint64_t done, all, part; /* bytes of the sessions; part: of those at hand */
};

static void json_finding(struct tally *t, const struct session_row *row, json_doc *o_take)
{
	json_doc_set(o_take, "id", json_cstr(row->id));
	json_doc_set(o_take, "path", json_cstr(row->path));
	json_doc_add(t->list, o_take);
}

static void say_unreadable(struct cmd *c, struct tally *t, const struct session_row *row,
	const char *reason)
{
	progress_hide(&t->progress);
	t->unreadable++;
	if (c->json) {
		json_doc *o = json_doc_object();

		json_doc_set(o, "kind", json_cstr("unreadable"));
		json_doc_set(o, "message", json_cstr(reason));
		json_finding(t, row, o);
		return;
	}
	out_words(&c->out, str_of(row->path));
	out_puts(&c->out, ": cannot read: ");
	out_words(&c->out, str_of(reason));
	out_puts(&c->out, "\n");
}

static void say_problem(struct cmd *c, struct tally *t, const struct session_row *row,
	const struct problem *p)
{
	struct out *o = &c->out;

	if (c->json) {
		json_finding(t, row, json_problem(c->s, p));
		return;
	}
	out_words(o, str_of(row->path));
	if (p->line)
		out_printf(o, ": line %" PRIu64, p->line);
	out_printf(o, ": offset %" PRIu64 ": ", p->offset);
	out_style(o, STYLE_DAMAGE);
	out_puts(o, p->kind);
	out_style(o, STYLE_NONE);
	out_puts(o, ": ");
	out_words(o, str_of(p->message));
	out_puts(o, "\n");
}

static void say_problems(struct cmd *c, struct tally *t, const struct session_row *row)
{
	struct problem_list *list = &c->s->problems;

	progress_hide(&t->progress);
	problem_sort(list);
	for (size_t i = 0; i < list->n && out_is_alive(&c->out); i++)
		say_problem(c, t, row, &list->v[i]);
	if (list->more && !c->json) {
		out_words(&c->out, str_of(row->path));
		out_printf(&c->out, ": %" PRIu64 " more finding%s only counted\n", list->more,
			plural(list->more, " is", "s are"));
	}
	t->findings += list->n + list->more;
	t->damaged += list->n > 0;
}

static void say_remark(struct cmd *c, struct tally *t, const struct session_row *row,
	const char *kind, const char *said)
{
	if (c->json) {
		json_doc *o = json_doc_object();

		json_doc_set(o, "kind", json_cstr(kind));
		json_doc_set(o, "message", json_cstr(said));
		json_doc_set(o, "id", json_cstr(row->id));
		json_doc_set(o, "path", json_cstr(row->path));
		json_doc_add(t->remarks, o);
		return;
	}
	progress_hide(&t->progress);
	out_words(&c->out, str_of(row->path));
	out_printf(&c->out, ": %s: ", kind);
	out_words(&c->out, str_of(said));
	out_puts(&c->out, "\n");
}

/* They take nothing away from the session. */
static void say_leftovers(struct cmd *c, struct tally *t, const struct session_row *row)
{
	size_t n = work_look_leftovers(c->work, t->folder);

	t->leftovers += n;
	for (size_t i = 0; i < n; i++) {
		struct buf b = { 0 };

		buf_printf(&b, work_leftover_goes(c->work, i) ? LEFTOVER_GOES : LEFTOVER_STAYS,
			path_base(work_leftover(c->work, i)));
		say_remark(c, t, row, "leftover", b.p);
		buf_release(&b);
	}
}

static void verify_row(struct cmd *c, struct tally *t, const struct session_row *row)
{
	struct err err = { 0 };
	char open[200];

	t->sessions++;
	if (row->state == ROW_UNREADABLE) {
		say_unreadable(c, t, row, row->reason);
	} else if (work_open_row(&c->work, row, &err) < 0) {
		say_unreadable(c, t, row, err.text);
	} else if (work_load(c->work, &err) < 0) {
		say_unreadable(c, t, row, err.text);
	} else {
		c->s = work_session(c->work);
		if (!strcmp(c->s->format, format_dsh.name))
			dsh_family_check(t->family, c->s);
		say_problems(c, t, row);
		/* no finding: this is what a session looks like while it runs */
		if (work_interrupted(c->work, open)) {
			t->interrupted++;
			say_remark(c, t, row, "interrupted", open);
		}
		say_leftovers(c, t, row);
	}
	c->s = NULL;
	work_close(&c->work);
}

static void say_part(void *arg, double part)
{
	struct tally *t = arg;

	progress_show(&t->progress, t->done + (uint64_t)((double)t->part * part), t->all);
}

static void flow_unreadable(void *arg, const struct session_row *row, const char *reason)
{
	struct tally *t = arg;

	say_unreadable(t->c, t, row, reason);
}

static bool is_conversation(const struct session_row *row)
{
	return row->state != ROW_UNREADABLE && strcmp(row->format, "flow") == 0;
}

/* Conversations that stand side by side; how many were done. */
static size_t verify_flow(struct cmd *c, struct tally *t, const struct session_row *const *rows)
{
	struct flow_checks sum = { .progress = &t->progress, .list = t->list,
		.remarks = t->remarks, .say = say_part,
		.unreadable = flow_unreadable, .arg = t };
	size_t n = 0;

	for (t->part = 0; rows[n] && is_conversation(rows[n]); n++)
		t->part += rows[n]->size;
	n = cmd_flow_verify(c, rows, n, &sum);
	for (size_t i = 0; i < n; i++)
		t->done += rows[i]->size;
	t->sessions += n;
	t->findings += sum.findings;
	t->damaged += sum.damaged;
	t->unreadable += sum.unread;
	t->stopped += sum.stopped;
	return n;
}

/* How many of the rows are done. */
static size_t verify_some(struct cmd *c, struct tally *t, const struct session_row *const *rows)
{
	if (is_conversation(rows[0]))
		return verify_flow(c, t, rows);
	progress_show(&t->progress, t->done, t->all);
	verify_row(c, t, rows[0]);
	t->done += rows[0]->size;
	return 1;
}

static int by_path(const void *a, const void *b)
{
	return strcmp((*(const struct session_row *const *)a)->path,
		(*(const struct session_row *const *)b)->path);
}

/* NULL-terminated; folders list their names in no order. */
static const struct session_row **sorted_rows(struct cmd *c)
{
	size_t n = store_nrows(c->store);
	const struct session_row **rows = xcalloc(n + 1, sizeof(*rows));

	for (size_t i = 0; i < n; i++)
		rows[i] = store_row(c->store, i);
	qsort(rows, n, sizeof(*rows), by_path);
	return rows;
}

static void print_tally(struct cmd *c, const struct tally *t)
{
	out_printf(&c->out, "%" PRIu64 " session%s checked: ", t->sessions,
		plural(t->sessions, "", "s"));
	if (t->findings == 0 && t->unreadable == 0)
		out_puts(&c->out, "nothing found");
	else
		out_printf(&c->out, "%" PRIu64 " finding%s in %" PRIu64, t->findings,
			plural(t->findings, "", "s"), t->damaged);
	if (t->unreadable)
		out_printf(&c->out, ", %" PRIu64 " could not be read", t->unreadable);
	if (t->interrupted)
		out_printf(&c->out, "; %" PRIu64 " with an interrupted turn", t->interrupted);
	if (t->leftovers)
		out_printf(&c->out, "; %" PRIu64 " temporary file%s of writers that are gone",
			t->leftovers, plural(t->leftovers, "", "s"));
	if (t->stopped)
		out_printf(&c->out, "; %" PRIu64 " with rounds that are not folded", t->stopped);
	out_puts(&c->out, "\n");
}

static json_doc *json_tally(struct tally *t, bool is_ok)
{
	json_doc *o = json_doc_object();

	json_doc_set(o, "ok", json_doc_bool(is_ok));
	json_doc_set(o, "sessions", json_doc_uint(t->sessions));
	json_doc_set(o, "damaged", json_doc_uint(t->damaged));
	json_doc_set(o, "unreadable", json_doc_uint(t->unreadable));
	json_doc_set(o, "interrupted", json_doc_uint(t->interrupted));
	json_doc_set(o, "not_folded", json_doc_uint(t->stopped));
	json_doc_set(o, "leftovers", json_doc_uint(t->leftovers));
	json_doc_set(o, "problems", json_doc_uint(t->findings));
	json_doc_set(o, "findings", t->list);
	json_doc_set(o, "remarks", t->remarks);
	return o;
}

int cmd_verify(struct cmd *c)
{
	const struct session_row **rows;
	struct tally t = { .c = c };
	int status = cmd_paths(c);

	if (status != STATUS_DONE)
		return status;
	t.family = dsh_family_new();
	t.folder = leftovers_new();
	store_scan(c->store);
	status = cmd_root_notes(c);
	if (c->json) {
		t.list = json_doc_list();
		t.remarks = json_doc_list();
	}
	rows = sorted_rows(c);
	for (size_t i = 0; rows[i]; i++)
		t.all += rows[i]->size;
	progress_begin(&t.progress, "verifying");
	for (size_t i = 0; rows[i] && out_is_alive(&c->out);)
		i += verify_some(c, &t, &rows[i]);
	progress_hide(&t.progress);
	free(rows);
	dsh_family_free(&t.family);
	leftovers_free(&t.folder);
	if (t.unreadable)
		status = STATUS_IO;
	else if (t.findings && status == STATUS_DONE)
		status = STATUS_FOUND;
	if (c->json)
		status = json_print(c, json_tally(&t, status == STATUS_DONE), status);
	else
		print_tally(c, &t);
	if (t.unreadable)
		cmd_complain(0, "verify: %" PRIu64 " could not be read; the report says why", t.unreadable);
	return status;
}
