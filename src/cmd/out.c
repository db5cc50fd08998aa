/*
 * out.c - the printer of the commands: owns the buffer in front of stdout and
 * the rule that session text is made safe before it gets there. It knows no
 * sessions and no layout beyond columns.
 */
#include "config.h"

#include "cmd/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"

enum { OUT_CHUNK = 64 << 10 };

static const char *const style_codes[] = {
	[STYLE_NONE] = "\033[0m",
	[STYLE_DIM] = "\033[2m",
	[STYLE_HEAD] = "\033[1m",
	[STYLE_ID] = "\033[33m",
	[STYLE_USER] = "\033[36m",
	[STYLE_ASSISTANT] = "\033[32m",
	[STYLE_TOOL] = "\033[35m",
	[STYLE_LABEL] = "\033[1;34m",
	[STYLE_TIP] = "\033[1;33m",
	[STYLE_DAMAGE] = "\033[1;31m",
};

static int terminal_columns(int fd)
{
	struct winsize ws;
	const char *env;
	long n;

	if (ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0)
		return ws.ws_col;
	env = getenv("COLUMNS");
	n = env ? strtol(env, NULL, 10) : 0;
	return n > 0 && n <= 10000 ? (int)n : 80;
}

void out_init(struct out *o, int fd, bool color)
{
	memset(o, 0, sizeof(*o));
	o->fd = fd;
	o->color = color;
	o->is_terminal = isatty(fd);
	o->columns = o->is_terminal ? terminal_columns(fd) : 0;
}

void out_flush(struct out *o)
{
	const char *p = o->buf.p;
	size_t left = o->buf.n;

	while (left > 0 && out_is_alive(o)) {
		ssize_t n = write(o->fd, p, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EPIPE) {
			o->is_closed = true;
		} else if (n < 0) {
			o->error = errno;
		} else {
			p += n;
			left -= n;
		}
	}
	buf_clear(&o->buf);
}

static void flush_full(struct out *o)
{
	if (o->buf.n >= OUT_CHUNK)
		out_flush(o);
}

bool out_is_alive(const struct out *o)
{
	return !o->is_closed && !o->error;
}

int out_close(struct out *o)
{
	out_flush(o);
	buf_release(&o->buf);
	buf_release(&o->scratch);
	return o->error;
}

void out_style(struct out *o, enum out_style style)
{
	if (o->color)
		buf_adds(&o->buf, style_codes[style]);
}

void out_text(struct out *o, const char *p, size_t n)
{
	text_safe(&o->buf, p, n, 0);
	flush_full(o);
}

void out_str(struct out *o, struct str s)
{
	out_text(o, s.p, s.n);
}

void out_puts(struct out *o, const char *s)
{
	out_text(o, s, strlen(s));
}

void out_own(struct out *o, const char *literal)
{
	buf_adds(&o->buf, literal);
	flush_full(o);
}

void out_printf(struct out *o, const char *fmt, ...)
{
	va_list ap;

	buf_clear(&o->scratch);
	va_start(ap, fmt);
	buf_vprintf(&o->scratch, fmt, ap);
	va_end(ap);
	out_text(o, o->scratch.p, o->scratch.n);
}

void out_words(struct out *o, struct str s)
{
	text_safe(&o->buf, s.p, s.n, TEXT_ONE_LINE);
	flush_full(o);
}

void out_words_in(struct out *o, enum out_style style, struct str s)
{
	out_style(o, style);
	out_words(o, s);
	out_style(o, STYLE_NONE);
}

int out_fit(struct out *o, struct str s, int cols)
{
	struct buf *b = &o->scratch;
	int used = 0;
	bool cut;
	size_t n;

	buf_clear(b);
	text_safe(b, s.p, s.n, TEXT_ONE_LINE);
	if (cols <= 0) {
		buf_add(&o->buf, b->p, b->n);
		flush_full(o);
		return text_width(b->p, b->n);
	}
	n = text_fit(b->p, b->n, cols, &used, &cut);
	if (cut)
		n = text_fit(b->p, b->n, cols - 1, &used, &cut);
	buf_add(&o->buf, b->p, n);
	if (n < b->n) {
		buf_addc(&o->buf, '~');
		used++;
	}
	flush_full(o);
	return used;
}

void out_block(struct out *o, struct str s, int indent)
{
	while (s.n > 0) {
		const char *end = memchr(s.p, '\n', s.n);
		size_t n = end ? (size_t)(end - s.p) : s.n;
		size_t shown = n > 0 && end && s.p[n - 1] == '\r' ? n - 1 : n;

		if (shown > 0)
			out_pad(o, indent);
		out_text(o, s.p, shown);
		buf_addc(&o->buf, '\n');
		s.p += n + (end != NULL);
		s.n -= n + (end != NULL);
	}
	flush_full(o);
}

void out_pad(struct out *o, int cols)
{
	while (cols-- > 0)
		buf_addc(&o->buf, ' ');
}

static void put_escape(struct buf *b, uint32_t cp)
{
	if (cp >= 0x10000) {
		cp -= 0x10000;
		buf_printf(b, "\\u%04x\\u%04x", 0xD800 + (cp >> 10), 0xDC00 + (cp & 0x3FF));
	} else {
		buf_printf(b, "\\u%04x", cp);
	}
}

/*
 * Alone it would be shown as a control. Combining marks, joiners and variation
 * selectors would too, but behind a letter they are part of it and harmless.
 */
static bool can_steer(const char *p, size_t n)
{
	struct text_cluster cl;
	char behind_letter[5] = "a";

	text_next(p, n, &cl);
	if (cl.kind != TEXT_CONTROL)
		return false;
	memcpy(behind_letter + 1, p, n);
	text_next(behind_letter, n + 1, &cl);
	return cl.kind != TEXT_PLAIN || cl.src_n != n + 1 || cl.n != n + 1;
}

void out_json(struct out *o, struct str json)
{
	size_t i = 0;

	while (i < json.n) {
		size_t from = i, len;
		uint32_t cp;

		while (i < json.n && json.p[i] >= ' ' && json.p[i] < 0x7F)
			i++;
		buf_add(&o->buf, json.p + from, i - from);
		if (i >= json.n)
			break;
		len = utf8_decode(json.p + i, json.n - i, &cp);
		if (cp < ' ') {
			/* white space between tokens: no string holds it unescaped */
			buf_addc(&o->buf, cp == '\n' ? '\n' : ' ');
		} else if (cp == UTF8_BAD) {
			buf_adds(&o->buf, "\xEF\xBF\xBD");
		} else if (can_steer(json.p + i, len)) {
			put_escape(&o->buf, cp);
		} else {
			buf_add(&o->buf, json.p + i, len);
		}
		i += len;
		flush_full(o);
	}
	flush_full(o);
}

void out_exact(struct out *o, struct str json)
{
	if (o->is_terminal) {
		out_json(o, json);
		return;
	}
	buf_add(&o->buf, json.p, json.n);
	flush_full(o);
}
