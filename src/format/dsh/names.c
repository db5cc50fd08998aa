/*
 * names.c - ids and working directories to the names of folders, and ids back.
 * Both work on UTF-16 code units, so they take JSON text, which can hold lone
 * surrogates.
 */
#include "config.h"

#include "format/dsh/internal.h"

#include <string.h>

#include "base/utf8.h"

enum { PROJECT_MAX = 251 };

static bool is_plain(unsigned unit)
{
	return (unit >= 'A' && unit <= 'Z') || (unit >= 'a' && unit <= 'z') ||
	       (unit >= '0' && unit <= '9') || (unit && unit < 0x80 && strchr("._-", (int)unit));
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* ---- the code units of a JSON string ---- */

struct units {
	const char *p, *end;
	unsigned low; /* the second unit of a pair, waiting */
};

static void units_init(struct units *u, struct str json)
{
	*u = (struct units){ json.p + 1, json.p + json.n - 1, 0 };
}

static unsigned split(struct units *u, uint32_t cp)
{
	if (cp < 0x10000)
		return cp;
	u->low = 0xDC00 + ((cp - 0x10000) & 0x3FF);
	return 0xD800 + ((cp - 0x10000) >> 10);
}

static unsigned escape_unit(struct units *u)
{
	static const char letters[] = "bfnrt", means[] = "\b\f\n\r\t";
	char c = u->p[1];
	const char *letter = strchr(letters, c);
	unsigned v = 0;

	u->p += 2;
	if (c != 'u')
		return c && letter ? (unsigned char)means[letter - letters] : (unsigned char)c;
	for (int i = 0; i < 4 && u->p < u->end; i++)
		v = v << 4 | (unsigned)(hex(*u->p++) & 15);
	return v;
}

static bool units_next(struct units *u, unsigned *unit)
{
	uint32_t cp;

	if (u->low) {
		*unit = u->low;
		u->low = 0;
		return true;
	}
	if (u->p >= u->end)
		return false;
	if (*u->p == '\\' && u->end - u->p >= 2) {
		*unit = escape_unit(u);
		return true;
	}
	u->p += utf8_decode(u->p, (size_t)(u->end - u->p), &cp);
	*unit = split(u, cp == UTF8_BAD ? 0xFFFD : cp);
	return true;
}

/* ---- names ---- */

static void put_unit(struct buf *out, unsigned unit)
{
	if (is_plain(unit))
		buf_addc(out, (char)unit);
	else
		buf_printf(out, "~%04X", unit);
}

bool dsh_put_session_name(struct buf *out, struct str id)
{
	struct units u;
	unsigned unit;

	if (id.n <= 2)
		return false;
	if (json_string_eq(id, ".") || json_string_eq(id, "..")) {
		buf_adds(out, json_string_eq(id, ".") ? "~002E" : "~002E~002E");
		return true;
	}
	units_init(&u, id);
	while (units_next(&u, &unit))
		put_unit(out, unit);
	return true;
}

bool dsh_put_project_name(struct buf *out, struct str cwd)
{
	struct buf name = { 0 };
	bool in_run = false;
	struct units u;
	unsigned unit;
	size_t skip = 0;

	if (!cwd.p) {
		buf_adds(out, "_no-cwd");
		return true;
	}
	if (cwd.n <= 2)
		return false;
	units_init(&u, cwd);
	while (units_next(&u, &unit)) {
		bool is_separator = unit == '/' || unit == '\\' || unit == ':';

		if (is_separator && !in_run)
			buf_addc(&name, '-');
		else if (!is_separator)
			put_unit(&name, unit);
		in_run = is_separator;
	}
	while (skip < name.n && name.p[skip] == '-')
		skip++;
	buf_adds(out, "--");
	if (skip == name.n)
		buf_adds(out, "root");
	else
		buf_add(out, name.p + skip,
			name.n - skip < PROJECT_MAX ? name.n - skip : PROJECT_MAX);
	buf_adds(out, "--");
	buf_release(&name);
	return true;
}

/* The unit of "~XXXX" with upper-case digits, or -1. */
static int32_t named_unit(const char *p)
{
	int32_t v = 0;

	for (int i = 1; i < 5; i++) {
		if (hex(p[i]) < 0 || p[i] >= 'a')
			return -1;
		v = v << 4 | hex(p[i]);
	}
	return v;
}

static bool decode_name(struct buf *out, const char *name)
{
	char bytes[4];

	while (*name) {
		int32_t unit = *name == '~' ? named_unit(name) : (unsigned char)*name;
		uint32_t cp = (uint32_t)unit;

		if (unit <= 0 || (*name != '~' && !is_plain(cp)))
			return false;
		name += *name == '~' ? 5 : 1;
		if (unit >= 0xD800 && unit < 0xE000) {
			int32_t low = *name == '~' ? named_unit(name) : -1;

			if (unit >= 0xDC00 || low < 0xDC00 || low > 0xDFFF)
				return false;
			cp = 0x10000 + ((uint32_t)(unit - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
			name += 5;
		}
		buf_add(out, bytes, utf8_encode(cp, bytes));
	}
	return true;
}

void dsh_put_id_of_name(struct buf *out, const char *name)
{
	size_t before = out->n;

	/* Without an escape the name is the id, whatever it is made of. */
	if (strchr(name, '~') && decode_name(out, name))
		return;
	out->n = before;
	buf_adds(out, name);
}
