/*
 * theme.c - the built-in schemes, the parser of styles and of theme files. It
 * knows no curses; draw.c makes colour pairs of what comes out here.
 */
#include "config.h"

#include "ui/theme.h"

#include <stdlib.h>
#include <string.h>

#include "json/doc.h"

struct scheme_row {
	const char *name;
	const char *dark[THEME_DEPTHS];
	const char *light256; /* a light terminal; 8 colours and mono are the same */
	const char *light8;
};

static const struct scheme_row scheme[ROLE_COUNT] = {
	[ROLE_NORMAL] = { "normal", { "", "", "" }, "", "" },
	[ROLE_TITLE] = { "title", { "bold 253 on 238", "bold white on blue", "reverse" },
		"bold 235 on 253", "bold white on blue" },
	[ROLE_STATUS] = { "status", { "250 on 236", "white on black", "" }, "238 on 254", "black on white" },
	[ROLE_ERROR] = { "error", { "bold 231 on 124", "bold white on red", "reverse bold" },
		"bold 231 on 124", "bold white on red" },
	[ROLE_CURSOR] = { "cursor", { "on 239 bold", "black on cyan", "reverse" }, "on 153 bold", "black on cyan" },
	[ROLE_CURSOR_IDLE] = { "cursor-idle", { "on 236", "underline", "underline" }, "on 254", "underline" },
	[ROLE_MATCH] = { "match", { "232 on 220", "black on yellow", "bold underline" },
		"232 on 220", "black on yellow" },
	[ROLE_BORDER] = { "border", { "240", "blue", "dim" }, "247", "blue" },
	[ROLE_GROUP] = { "group", { "bold 110", "bold cyan", "bold" }, "bold 24", "bold blue" },
	[ROLE_DIM] = { "dim", { "245", "white", "dim" }, "243", "black" },
	[ROLE_KEY] = { "key", { "bold 180", "bold yellow", "bold" }, "bold 94", "bold blue" },
	[ROLE_PROGRESS] = { "progress", { "75", "cyan", "" }, "25", "blue" },
	[ROLE_ON_BRANCH] = { "on-branch", { "bold 114", "bold green", "bold" }, "bold 28", "bold green" },
	[ROLE_OFF_BRANCH] = { "off-branch", { "243", "white", "" }, "245", "black" },
	[ROLE_TIP] = { "tip", { "bold 220", "bold yellow", "bold" }, "bold 130", "bold magenta" },
	[ROLE_LABEL] = { "label", { "bold 215", "bold yellow", "bold" }, "bold 130", "bold magenta" },
	[ROLE_NEW] = { "new", { "bold 120", "bold green", "bold" }, "bold 28", "bold green" },
	[ROLE_TIME] = { "time", { "109", "cyan", "" }, "30", "cyan" },
	[ROLE_ID] = { "id", { "244", "white", "dim" }, "243", "black" },
	[ROLE_SYSTEM] = { "system", { "139", "magenta", "" }, "96", "magenta" },
	[ROLE_USER] = { "user", { "bold 117", "bold cyan", "bold" }, "bold 25", "bold blue" },
	[ROLE_ASSISTANT] = { "assistant", { "151", "green", "" }, "22", "green" },
	[ROLE_TOOL] = { "tool", { "180", "yellow", "" }, "94", "red" },
	[ROLE_SUMMARY] = { "summary", { "italic 183", "magenta", "underline" }, "italic 91", "magenta" },
	[ROLE_EVENT] = { "event", { "103", "blue", "dim" }, "60", "blue" },
	[ROLE_DAMAGE] = { "damage", { "bold 203", "bold red", "bold" }, "bold 160", "bold red" },
	[ROLE_CONTROL] = { "control", { "reverse 173", "reverse red", "reverse" }, "reverse 130", "reverse red" },
	[ROLE_HEADING] = { "heading", { "bold 223", "bold white", "bold underline" }, "bold 88", "bold red" },
	[ROLE_EMPH] = { "emph", { "italic", "underline", "underline" }, "italic", "underline" },
	[ROLE_STRONG] = { "strong", { "bold", "bold", "bold" }, "bold", "bold" },
	[ROLE_STRIKE] = { "strike", { "dim", "dim", "dim" }, "dim", "dim" },
	[ROLE_QUOTE] = { "quote", { "246", "white", "dim" }, "242", "black" },
	[ROLE_LINK] = { "link", { "underline 75", "underline blue", "underline" },
		"underline 25", "underline blue" },
	[ROLE_RULE] = { "rule", { "242", "blue", "dim" }, "246", "blue" },
	[ROLE_CODE] = { "code", { "188", "white", "" }, "236", "black" },
	[ROLE_CODE_KEYWORD] = { "code-keyword", { "bold 174", "bold magenta", "bold" }, "bold 125", "bold magenta" },
	[ROLE_CODE_STRING] = { "code-string", { "150", "green", "" }, "28", "green" },
	[ROLE_CODE_COMMENT] = { "code-comment", { "italic 244", "blue", "dim" }, "italic 244", "blue" },
	[ROLE_CODE_NUMBER] = { "code-number", { "179", "yellow", "" }, "130", "red" },
	[ROLE_DIFF_ADD] = { "diff-add", { "114", "green", "bold" }, "28", "green" },
	[ROLE_DIFF_DEL] = { "diff-del", { "174", "red", "" }, "124", "red" },
	[ROLE_DIFF_HUNK] = { "diff-hunk", { "110", "cyan", "dim" }, "31", "cyan" },
	[ROLE_DIFF_FILE] = { "diff-file", { "bold 223", "bold white", "bold" }, "bold 88", "bold black" },
	[ROLE_JSON_KEY] = { "json-key", { "110", "cyan", "" }, "25", "blue" },
	[ROLE_JSON_STRING] = { "json-string", { "150", "green", "" }, "28", "green" },
	[ROLE_JSON_NUMBER] = { "json-number", { "179", "yellow", "" }, "130", "red" },
};

static const struct {
	const char *name;
	unsigned attr;
} attr_names[] = {
	{ "bold", STYLE_BOLD },
	{ "dim", STYLE_DIM },
	{ "italic", STYLE_ITALIC },
	{ "underline", STYLE_UNDERLINE },
	{ "reverse", STYLE_REVERSE },
};

static const char *const colour_names[] = {
	"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
};

static const char *const depth_names[THEME_DEPTHS] = { "256", "8", "mono" };

const char *role_name(enum role role)
{
	return scheme[role].name;
}

bool role_by_name(struct str name, enum role *out)
{
	for (int i = 0; i < ROLE_COUNT; i++) {
		if (str_eqs(name, scheme[i].name)) {
			*out = (enum role)i;
			return true;
		}
	}
	return false;
}

static int parse_colour(struct str word, short *out)
{
	int v = 0;

	for (size_t i = 0; i < sizeof(colour_names) / sizeof(*colour_names); i++) {
		if (str_eqs(word, colour_names[i])) {
			*out = (short)i;
			return 0;
		}
	}
	if (str_eqs(word, "default")) {
		*out = -1;
		return 0;
	}
	if (word.n == 0 || word.n > 3)
		return ERR_USAGE;
	for (size_t i = 0; i < word.n; i++) {
		if (word.p[i] < '0' || word.p[i] > '9')
			return ERR_USAGE;
		v = v * 10 + (word.p[i] - '0');
	}
	if (v > 255)
		return ERR_USAGE;
	*out = (short)v;
	return 0;
}

static struct str next_word(struct str *rest)
{
	struct str word;

	while (rest->n > 0 && *rest->p == ' ') {
		rest->p++;
		rest->n--;
	}
	word.p = rest->p;
	word.n = 0;
	while (word.n < rest->n && word.p[word.n] != ' ')
		word.n++;
	rest->p += word.n;
	rest->n -= word.n;
	return word;
}

static bool parse_attr(struct str word, unsigned *attrs)
{
	for (size_t i = 0; i < sizeof(attr_names) / sizeof(*attr_names); i++) {
		if (str_eqs(word, attr_names[i].name)) {
			*attrs |= attr_names[i].attr;
			return true;
		}
	}
	return false;
}

int style_parse(struct str text, struct style *out, struct err *err)
{
	struct style s = { -1, -1, 0 };
	struct str rest = text, word;
	bool background = false;

	while ((word = next_word(&rest)).n > 0) {
		if (str_eqs(word, "on")) {
			background = true;
			continue;
		}
		if (parse_attr(word, &s.attrs))
			continue;
		if (parse_colour(word, background ? &s.bg : &s.fg) < 0)
			return err_set(err, ERR_USAGE, "no such colour or attribute: '%.*s'",
				(int)word.n, word.p);
		background = false;
	}
	*out = s;
	return 0;
}

bool theme_is_builtin(const char *name)
{
	return strcmp(name, "dark") == 0 || strcmp(name, "light") == 0 || strcmp(name, "mono") == 0;
}

static const char *builtin_style(const char *name, enum role role, enum theme_depth depth)
{
	const struct scheme_row *row = &scheme[role];

	if (strcmp(name, "mono") == 0 || depth == THEME_MONO)
		return row->dark[THEME_MONO];
	if (strcmp(name, "light") == 0)
		return depth == THEME_256 ? row->light256 : row->light8;
	return row->dark[depth];
}

int theme_init(struct theme *t, const char *name, enum theme_depth depth, struct err *err)
{
	if (!theme_is_builtin(name))
		return err_set(err, ERR_NOTFOUND, "no theme '%s'", name);
	t->depth = depth;
	for (int i = 0; i < ROLE_COUNT; i++) {
		int rc = style_parse(str_of(builtin_style(name, (enum role)i, depth)), &t->style[i], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

struct theme_load {
	struct theme *t;
	struct err *err;
	int rc;
};

static bool load_role(struct str key, const json_doc *value, void *arg)
{
	struct theme_load *load = arg;
	enum role role;
	struct str text;
	const json_doc *style;

	if (!role_by_name(key, &role)) {
		load->rc = err_set(load->err, ERR_USAGE, "no such role: '%.*s'", (int)key.n, key.p);
		return false;
	}
	if (!json_doc_is_object(value)) {
		load->rc = err_set(load->err, ERR_USAGE, "role '%s' is not an object", role_name(role));
		return false;
	}
	style = json_doc_get(value, depth_names[load->t->depth]);
	if (!style)
		return true;
	if (!json_doc_get_string(style, &text)) {
		load->rc = err_set(load->err, ERR_USAGE, "a style of role '%s' is not a string",
			role_name(role));
		return false;
	}
	load->rc = style_parse(text, &load->t->style[role], load->err);
	return load->rc == 0;
}

int theme_parse(struct theme *t, struct str text, enum theme_depth depth, struct err *err)
{
	struct theme out;
	struct theme_load load = { &out, err, 0 };
	struct str base = str_of("dark");
	char name[16] = "";
	const json_doc *v;
	json_doc *doc = json_doc_parse(text, true, err);
	int rc = ERR_USAGE;

	if (!doc)
		return err && err->code ? err->code : ERR_CORRUPT;
	v = json_doc_get(doc, "base");
	if (v && !json_doc_get_string(v, &base)) {
		err_set(err, ERR_USAGE, "'base' is not a string");
		goto out;
	}
	if (base.n < sizeof(name))
		memcpy(name, base.p, base.n);
	rc = theme_init(&out, name, depth, err);
	if (rc < 0)
		goto out;
	v = json_doc_get(doc, "roles");
	if (v && json_doc_is_object(v))
		json_doc_each(v, load_role, &load);
	rc = load.rc;
	if (rc == 0)
		*t = out;
out:
	json_doc_free(&doc);
	return rc;
}

void theme_dump(const char *name, struct buf *out)
{
	buf_printf(out, "# bough theme: a style a role for 256 colours, 8 colours and mono.\n"
		"# A style is attributes (bold dim italic underline reverse) and colours by name\n"
		"# or number, \"on\" before the background. A role that is left out is the base's.\n"
		"{\n  \"base\": \"%s\",\n  \"roles\": {\n", name);
	for (int i = 0; i < ROLE_COUNT; i++) {
		buf_printf(out, "    \"%s\": {", scheme[i].name);
		for (int d = 0; d < THEME_DEPTHS; d++)
			buf_printf(out, "%s\"%s\": \"%s\"", d ? ", " : " ", depth_names[d],
				builtin_style(name, (enum role)i, (enum theme_depth)d));
		buf_printf(out, " }%s\n", i + 1 < ROLE_COUNT ? "," : "");
	}
	buf_adds(out, "  }\n}\n");
}

struct style theme_style(const struct theme *t, enum role role, enum under under)
{
	static const enum role bars[] = { [UNDER_CURSOR] = ROLE_CURSOR, [UNDER_IDLE] = ROLE_CURSOR_IDLE,
		[UNDER_TITLE] = ROLE_TITLE, [UNDER_STATUS] = ROLE_STATUS };
	struct style s = t->style[role];
	const struct style *bar;
	bool is_cursor = under == UNDER_CURSOR || under == UNDER_IDLE;

	if (under == UNDER_NONE)
		return s;
	bar = &t->style[bars[under]];
	if (role == ROLE_MATCH || role == ROLE_CONTROL || role == ROLE_ERROR) { /* stay visible inside it */
		s.attrs |= bar->attrs & ~(unsigned)STYLE_REVERSE;
		return s;
	}
	if (bar->fg >= 0 && (is_cursor || s.fg < 0))
		s.fg = bar->fg;
	if (bar->bg >= 0)
		s.bg = bar->bg;
	s.attrs |= bar->attrs;
	if (bar->attrs & STYLE_REVERSE)
		s.attrs &= ~(unsigned)STYLE_DIM;
	return s;
}
