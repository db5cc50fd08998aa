/*
 * cmd-flow-verify.c - the part of `bough verify` that is about conversations:
 * some of them at a time are read on all processors, then their findings are
 * said one conversation behind the other.
 */
#include "config.h"

#include "base/clock.h"
#include "cmd/cmd-flow.h"

#include <inttypes.h>
#include <string.h>

enum { BATCH = 64 };

struct batch {
	struct cmd *c;
	struct flow_checks *sum;
	struct flow_conversation *f[BATCH];
	struct flow_verifier *v[BATCH];
	struct findings {
		struct batch *b;
		const struct flow_conversation *f;
		uint64_t n, unread;
		bool is_stopped;
	} findings[BATCH];
	size_t n;
};

static void json_finding(struct findings *fs, const struct flow_finding *found)
{
	json_doc *o = json_doc_object();

	json_doc_set(o, "code", json_cstr(found->code));
	json_doc_set(o, "message", json_cstr(found->message));
	json_doc_set(o, "seq", found->seq ? json_doc_uint(found->seq) : json_doc_null());
	json_doc_set(o, "conversation", json_cstr(flow_id(fs->f)));
	json_doc_set(o, "path", json_cstr(flow_path(fs->f)));
	json_doc_set(o, "check", json_doc_int(found->check));
	json_doc_set(o, "round", found->round ? json_doc_uint(found->round) : json_doc_null());
	json_doc_set(o, "unreadable", json_doc_bool(found->kind == FLOW_UNREADABLE));
	json_doc_add(found->kind == FLOW_REMARK ? fs->b->sum->remarks : fs->b->sum->list, o);
}

static const char *word_of(const struct flow_finding *found)
{
	if (found->kind == FLOW_UNREADABLE)
		return "cannot read";
	if (found->kind == FLOW_FOUND)
		return found->code;
	return found->is_stop ? "not folded" : "passed over";
}

static void print_finding(const struct findings *fs, const struct flow_finding *found)
{
	struct out *o = &fs->b->c->out;

	out_words(o, str_of(flow_path(fs->f)));
	if (found->round)
		out_printf(o, ": round %" PRIu64, found->round);
	if (found->seq)
		out_printf(o, ": sequence %" PRIu64, found->seq);
	out_puts(o, ": ");
	if (found->kind != FLOW_REMARK)
		out_style(o, STYLE_DAMAGE);
	out_puts(o, word_of(found));
	out_style(o, STYLE_NONE);
	out_puts(o, ": ");
	out_words(o, str_of(found->message));
	out_puts(o, "\n");
}

static void take_finding(void *arg, const struct flow_finding *found)
{
	struct findings *fs = arg;

	progress_hide(fs->b->sum->progress);
	fs->n += found->kind == FLOW_FOUND;
	fs->unread += found->kind == FLOW_UNREADABLE;
	fs->is_stopped |= found->is_stop;
	if (fs->b->sum->list)
		json_finding(fs, found);
	else
		print_finding(fs, found);
}

static void show_progress(void *arg)
{
	struct batch *b = arg;
	uint64_t done = 0, all = 0;

	for (size_t i = 0; i < b->n; i++) {
		uint64_t part, whole;

		flow_verify_progress(b->v[i], &part, &whole);
		done += part;
		all += whole;
	}
	b->sum->say(b->sum->arg, all ? (double)done / (double)all : 1);
}

static void print_sum(const struct findings *fs)
{
	struct out *o = &fs->b->c->out;
	size_t n;

	flow_rounds(fs->f, &n);
	out_words(o, str_of(flow_id(fs->f)));
	out_printf(o, ": %zu round%s checked: ", n, plural(n, "", "s"));
	if (fs->n)
		out_printf(o, "%" PRIu64 " finding%s", fs->n, plural(fs->n, "", "s"));
	else
		out_puts(o, fs->unread ? "no finding" : "nothing found");
	if (fs->unread)
		out_puts(o, ", but not all of it could be read");
	if (fs->is_stopped)
		out_puts(o, "; not all of them are folded");
	out_puts(o, "\n");
}

static void open_batch(struct batch *b, const struct session_row *const *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct err err = { 0 };

		if (flow_open(&b->f[b->n], rows[i]->path, &err) < 0) {
			b->sum->unreadable(b->sum->arg, rows[i], err.text);
			continue;
		}
		b->findings[b->n] = (struct findings){ .b = b, .f = b->f[b->n] };
		b->v[b->n] = flow_verify_new(b->f[b->n], take_finding, &b->findings[b->n]);
		b->n++;
	}
}

size_t cmd_flow_verify(
	struct cmd *c, const struct session_row *const *rows, size_t n, struct flow_checks *sum)
{
	struct batch b = { .c = c, .sum = sum };

	if (n > BATCH)
		n = BATCH;
	open_batch(&b, rows, n);
	flow_verify_read(b.v, b.n, show_progress, &b);
	for (size_t i = 0; i < b.n; i++) {
		flow_verify_judge(b.v[i]);
		progress_hide(sum->progress);
		if (!sum->list)
			print_sum(&b.findings[i]);
		sum->findings += b.findings[i].n;
		sum->damaged += b.findings[i].n > 0;
		sum->unread += b.findings[i].unread > 0;
		sum->stopped += b.findings[i].is_stopped;
		flow_verify_free(&b.v[i]);
		flow_close(&b.f[i]);
	}
	return n;
}
