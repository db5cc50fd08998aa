/*
 * theme.h - from roles to colours and attributes.
 *
 * A scheme is a table with one style a role for 256 colours, 8 colours and
 * mono. A style is written as a short text: attributes (bold, dim, italic,
 * underline, reverse) and colours by name or number, "on" before the
 * background: "bold 214 on 236", "cyan", "reverse". The same texts stand in
 * *.theme files, which override a built-in scheme role by role.
 */
#ifndef BOUGH_UI_THEME_H
#define BOUGH_UI_THEME_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "ui/cell.h"
#include "ui/role.h"

enum theme_depth { THEME_256, THEME_8, THEME_MONO, THEME_DEPTHS };

struct style {
	short fg, bg;   /* -1: the terminal's own */
	unsigned attrs; /* enum style_attr */
};

enum style_attr {
	STYLE_BOLD = 1 << 0,
	STYLE_DIM = 1 << 1,
	STYLE_ITALIC = 1 << 2,
	STYLE_UNDERLINE = 1 << 3,
	STYLE_REVERSE = 1 << 4
};

struct theme {
	struct style style[ROLE_COUNT];
	enum theme_depth depth;
};

const char *role_name(enum role role);              /* "code-keyword" */
bool role_by_name(struct str name, enum role *out);
int style_parse(struct str text, struct style *out, struct err *err);

bool theme_is_builtin(const char *name);            /* "dark", "light", "mono" */
/* A built-in scheme; an unknown name is ERR_NOTFOUND. */
int theme_init(struct theme *t, const char *name, enum theme_depth depth, struct err *err);
/* The text of a .theme file over the scheme it names as its base. On failure t is unchanged. */
int theme_parse(struct theme *t, struct str text, enum theme_depth depth, struct err *err);
/* A built-in scheme as the text of a .theme file; data/themes/ holds what this gives. */
void theme_dump(const char *name, struct buf *out);
/* Role and the bar below it together. */
struct style theme_style(const struct theme *t, enum role role, enum under under);

#endif
