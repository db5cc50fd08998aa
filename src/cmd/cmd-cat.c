/*
 * cmd-cat.c - `bough cat`: stored records as they stand, line by line.
 *
 * A line of JSON keeps its values: what could steer a terminal is written as
 * an escape of JSON. Any other line is made safe like text.
 */
#include "config.h"

#include "cmd/internal.h"

#include <limits.h>
#include <string.h>

#include "base/utf8.h"
#include "json/scan.h"

enum { WINDOW = 256 << 10, MAX_LINE = 256 << 20 };

/* One or more JSON values and nothing else. */
static bool is_json(struct str s)
{
	struct json_scan scan;
	bool any = false;

	for (;;) {
		switch (json_scan_value(s.p, s.n, &scan)) {
		case JSON_OK:
			any = true;
			s.p += scan.end;
			s.n -= scan.end;
			break;
		case JSON_END:
			return any;
		default:
			return false;
		}
	}
}

void print_record(struct cmd *c, struct str line)
{
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	if (is_json(line))
		out_json(&c->out, line);
	else
		out_str(&c->out, line);
	out_puts(&c->out, "\n");
}

void print_records(struct cmd *c, struct str lines)
{
	while (lines.n > 0) {
		const char *end = memchr(lines.p, '\n', lines.n);
		size_t n = end ? (size_t)(end - lines.p) : lines.n;

		print_record(c, (struct str){ lines.p, n });
		lines.p += n + (end != NULL);
		lines.n -= n + (end != NULL);
	}
}

static void take_line(struct cmd *c, struct json_list *list, struct str line)
{
	if (list)
		json_list_add(c, list, json_doc_string(line));
	else
		print_record(c, line);
}

static void skip_mark(struct str *s)
{
	if (s->n >= 3 && !memcmp(s->p, "\xEF\xBB\xBF", 3)) {
		s->p += 3;
		s->n -= 3;
	}
}

/* All lines that are complete in b, from byte `seen` on looked at for newlines; they leave b. */
static void take_lines(
	struct cmd *c, struct json_list *list, struct buf *b, size_t seen, bool *first)
{
	size_t from = 0;
	const char *end;

	while ((end = memchr(b->p + seen, '\n', b->n - seen)) != NULL) {
		struct str line = { b->p + from, (size_t)(end - b->p) - from };

		if (*first)
			skip_mark(&line);
		*first = false;
		take_line(c, list, line);
		from = seen = (size_t)(end - b->p) + 1;
	}
	memmove(b->p, b->p + from, b->n - from);
	b->n -= from;
}

/* A line that is longer than any reader takes goes out in pieces. */
static void take_piece(struct cmd *c, struct json_list *list, struct buf *b)
{
	size_t n = utf8_cut(b->p, b->n);

	if (list)
		json_list_add(c, list, json_doc_string((struct str){ b->p, n }));
	else
		out_text(&c->out, b->p, n);
	memmove(b->p, b->p + n, b->n - n);
	b->n -= n;
}

static int cat_file(struct cmd *c, struct json_list *list)
{
	struct buf b = { 0 };
	uint64_t off = 0;
	bool first = true;
	size_t got;
	int rc = 0;

	while (out_is_alive(&c->out)) {
		size_t seen = b.n;

		buf_reserve(&b, WINDOW);
		rc = c->s->ops->peek(c->s, off, b.p + b.n, WINDOW, &got, &c->err);
		if (rc < 0 || got == 0)
			break;
		b.n += got;
		off += got;
		take_lines(c, list, &b, seen, &first);
		if (b.n > MAX_LINE)
			take_piece(c, list, &b);
	}
	if (rc == 0 && b.n > 0) {
		struct str line = { b.p, b.n };

		if (first)
			skip_mark(&line);
		take_line(c, list, line);
	}
	buf_release(&b);
	return rc;
}

static int cat_entry(struct cmd *c, uint32_t entry, struct json_list *list)
{
	struct buf record = { 0 };
	int rc = c->s->ops->record(c->s, entry, &record, &c->err);

	if (rc == 0 && c->s->entries[entry].flags & ENTRY_PROPOSED)
		cmd_complain(0, "cat: %s is not in the file: a repair would add it", c->args[1]);
	if (rc == 0 && list)
		json_list_add(c, list, json_doc_string((struct str){ record.p, record.n }));
	else if (rc == 0)
		print_records(c, (struct str){ record.p, record.n });
	buf_release(&record);
	return rc;
}

/* ---- logs that are no lines by themselves ---- */

struct events {
	struct cmd *c;
	struct json_list *list;
};

static bool put_events(struct str lines, void *arg)
{
	struct events *e = arg;

	if (!e->list && e->c->out.is_terminal) {
		print_records(e->c, lines);
		return out_is_alive(&e->c->out);
	}
	if (!e->list) {
		out_exact(&e->c->out, lines);
		return out_is_alive(&e->c->out);
	}
	while (lines.n > 0) {
		const char *end = memchr(lines.p, '\n', lines.n);
		size_t n = end ? (size_t)(end - lines.p) : lines.n;

		json_list_add(e->c, e->list, json_doc_string((struct str){ lines.p, n }));
		lines.p += n + (end != NULL);
		lines.n -= n + (end != NULL);
	}
	return out_is_alive(&e->c->out);
}

/* One that is no entry. */
static void cat_event(struct cmd *c, struct buf *event, struct json_list *list)
{
	struct events e = { c, list };

	buf_addc(event, '\n');
	put_events((struct str){ event->p, event->n }, &e);
}

static int cat_events(struct cmd *c, struct json_list *list)
{
	struct events e = { c, list };
	unsigned flags = (c->opt[OPT_BALANCED] ? EVENTS_BALANCED : 0) |
			 (c->opt[OPT_STORED] ? EVENTS_STORED : 0);
	long from = 0;

	if (c->opt[OPT_FROM] && !opts_number(c, OPT_FROM, 0, LONG_MAX, &from))
		return STATUS_USAGE;
	c->s->ops->events(c->s, flags, (uint64_t)from, put_events, &e, &c->err);
	return STATUS_DONE;
}

static int check_options(struct cmd *c)
{
	bool has_events = c->s->ops->events != NULL;

	if (!has_events && (c->opt[OPT_FROM] || c->opt[OPT_BALANCED]))
		return cmd_complain(STATUS_USAGE,
			"cat: --from and --balanced are for logs of events; "
			"this is a %s session",
			c->s->format);
	if (c->opt[OPT_STORED] && (c->opt[OPT_FROM] || c->opt[OPT_BALANCED]))
		return cmd_complain(
			STATUS_USAGE, "cat: --stored goes with neither --from nor --balanced");
	return STATUS_DONE;
}

int cmd_cat(struct cmd *c)
{
	struct json_list items = { 0 }, *list = c->json ? &items : NULL;
	struct buf event = { 0 };
	uint32_t entry;
	int status = cmd_open(c);

	if (status == STATUS_DONE)
		status = check_options(c);
	if (status == STATUS_DONE && c->nargs > 1)
		status = cmd_entry_or_event(c, c->args[1], &entry, &event);
	if (status != STATUS_DONE) {
		buf_release(&event);
		return status;
	}
	json_list_begin(&items);
	if (event.n)
		cat_event(c, &event, list);
	else if (c->nargs > 1)
		cat_entry(c, entry, list);
	else if (c->s->ops->events)
		status = cat_events(c, list);
	else
		cat_file(c, list);
	buf_release(&event);
	if (status != STATUS_DONE)
		return status;
	if (c->json)
		return json_list_end(c, list, STATUS_DONE);
	return c->err.code ? cmd_fail(c) : STATUS_DONE;
}
