/*
 * settings.c - reads the person's own files. Nothing of a session is read here.
 */
#include "config.h"

#include "ui/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/xalloc.h"
#include "json/doc.h"
#include "ui/keymap.h"

#define FILE_MAX (4u << 20)

static const char *const sorts[] = { "activity", "created", "title", "size" };

void settings_init(struct settings *s)
{
	*s = (struct settings){ .theme = xstrdup("dark"), .sort = xstrdup("activity"), .wrap = true };
}

void settings_release(struct settings *s)
{
	for (size_t i = 0; i < s->nroots; i++)
		free(s->roots[i]);
	free(s->roots);
	free(s->theme);
	free(s->sort);
	memset(s, 0, sizeof(*s));
}

int settings_read_file(const char *path, struct buf *out, struct err *err)
{
	char chunk[16 * 1024];
	struct stat st;
	size_t n;
	int rc = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return err_sys(err, "open %s", path);
	if (fstat(fileno(f), &st) < 0) {
		rc = err_sys(err, "open %s", path);
		goto out;
	}
	if (S_ISDIR(st.st_mode)) {
		rc = err_set(err, ERR_UNSUPPORTED, "%s is a folder", path);
		goto out;
	}
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0) {
		if (out->n + n > FILE_MAX) {
			rc = err_set(err, ERR_LIMIT, "%s is larger than %u MB", path, FILE_MAX >> 20);
			goto out;
		}
		buf_add(out, chunk, n);
	}
	if (ferror(f))
		rc = err_sys(err, "read %s", path);
out:
	fclose(f);
	return rc;
}

static int set_roots(struct settings *s, const json_doc *value, struct err *err)
{
	size_t n = json_doc_count(value);
	struct str text;

	if (!json_doc_is_list(value))
		return err_set(err, ERR_USAGE, "'roots' is not a list");
	for (size_t i = 0; i < n; i++) {
		if (!json_doc_get_string(json_doc_at(value, i), &text) || text.n == 0 ||
		    memchr(text.p, '\0', text.n))
			return err_set(err, ERR_USAGE, "root %zu is not a path", i + 1);
	}
	for (size_t i = 0; i < s->nroots; i++)
		free(s->roots[i]);
	s->roots = xrealloc(s->roots, n + 1, sizeof(*s->roots));
	s->nroots = n;
	for (size_t i = 0; i < n; i++) {
		json_doc_get_string(json_doc_at(value, i), &text);
		s->roots[i] = xstrndup(text.p, text.n);
	}
	return 0;
}

static int set_string(char **to, const json_doc *value, const char *name, struct err *err)
{
	struct str text;

	if (!json_doc_get_string(value, &text))
		return err_set(err, ERR_USAGE, "'%s' is not a string", name);
	free(*to);
	*to = xstrndup(text.p, text.n);
	return 0;
}

static int set_sort(struct settings *s, const json_doc *value, struct err *err)
{
	int rc = set_string(&s->sort, value, "sort", err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < sizeof(sorts) / sizeof(*sorts); i++) {
		if (strcmp(s->sort, sorts[i]) == 0)
			return 0;
	}
	return err_set(err, ERR_USAGE, "'sort' is none of activity, created, title, size");
}

struct settings_load {
	struct settings *s;
	struct err *err;
	int rc;
};

static bool load_member(struct str key, const json_doc *value, void *arg)
{
	struct settings_load *load = arg;
	struct settings *s = load->s;
	bool *flag = str_eqs(key, "ascii") ? &s->ascii : str_eqs(key, "mouse") ? &s->mouse :
		str_eqs(key, "wrap") ? &s->wrap : NULL;

	if (flag) {
		if (!json_doc_get_bool(value, flag))
			load->rc = err_set(load->err, ERR_USAGE, "'%.*s' is not true or false",
				(int)key.n, key.p);
	} else if (str_eqs(key, "roots")) {
		load->rc = set_roots(s, value, load->err);
	} else if (str_eqs(key, "theme")) {
		load->rc = set_string(&s->theme, value, "theme", load->err);
	} else if (str_eqs(key, "sort")) {
		load->rc = set_sort(s, value, load->err);
	} else {
		load->rc = err_set(load->err, ERR_USAGE, "no setting '%.*s'", (int)key.n, key.p);
	}
	return load->rc == 0;
}

int settings_parse(struct settings *s, struct str text, struct err *err)
{
	struct settings_load load = { s, err, 0 };
	json_doc *doc = json_doc_parse(text, true, err);

	if (!doc)
		return ERR_CORRUPT;
	if (json_doc_is_object(doc))
		json_doc_each(doc, load_member, &load);
	else
		load.rc = err_set(err, ERR_USAGE, "the document is not an object");
	json_doc_free(&doc);
	return load.rc;
}

/* "<config folder>/<name>"; NULL without a home. */
static char *config_path(const char *name)
{
	char *dir = path_xdg("CONFIG", ".config");
	char *path = dir ? path_join(dir, name) : NULL;

	free(dir);
	return path;
}

/* 1: read; 0: there is none; < 0: err. */
static int read_config(const char *name, struct buf *out, char **path, struct err *err)
{
	struct err why = { 0 };
	int rc;

	*path = config_path(name);
	if (!*path)
		return 0;
	rc = settings_read_file(*path, out, &why);
	if (rc < 0 && why.code == ERR_IO && (why.sys == ENOENT || why.sys == ENOTDIR))
		return 0;
	if (rc < 0)
		return err_set(err, why.code, "%s", why.text);
	return 1;
}

int settings_load(struct settings *s, struct err *err)
{
	struct buf text = { 0 };
	struct err why = { 0 };
	char *path;
	int rc = read_config("bough.conf", &text, &path, err);

	if (rc == 1) {
		rc = settings_parse(s, (struct str){ text.n ? text.p : "", text.n }, &why);
		if (rc < 0)
			err_set(err, rc, "%s: %s", path, why.text);
	}
	buf_release(&text);
	free(path);
	return rc;
}

int settings_load_keys(struct keymap *km, struct err *err)
{
	struct buf text = { 0 };
	struct err why = { 0 };
	char *path;
	int rc = read_config("keys.conf", &text, &path, err);

	if (rc == 1) {
		rc = keymap_load(km, (struct str){ text.n ? text.p : "", text.n }, &why);
		if (rc < 0)
			err_set(err, rc, "%s: %s", path, why.text);
	}
	buf_release(&text);
	free(path);
	return rc;
}

int settings_load_theme(struct theme *t, const char *name, enum theme_depth depth, struct err *err)
{
	struct buf text = { 0 };
	struct err why = { 0 };
	char *file, *path = NULL, *dir;
	int rc;

	if (theme_is_builtin(name))
		return theme_init(t, name, depth, err);
	if (!*name || strchr(name, '/') || name[0] == '.')
		return err_set(err, ERR_USAGE, "not the name of a theme: '%s'", name);
	file = xasprintf("themes/%s.theme", name);
	rc = read_config(file, &text, &path, err);
	if (rc == 0) {
		free(path);
		path = path_join(PKGDATADIR, file);
		rc = settings_read_file(path, &text, &why) < 0 ? 0 : 1;
	}
	if (rc == 0) {
		dir = config_path("themes");
		rc = err_set(err, ERR_USAGE, "no theme '%s': it is none of dark, light, mono, and "
			"there is no %s.theme in %s", name, name, dir ? dir : PKGDATADIR);
		free(dir);
	} else if (rc == 1) {
		err_clear(&why);
		rc = theme_parse(t, (struct str){ text.n ? text.p : "", text.n }, depth, &why);
		if (rc < 0)
			err_set(err, rc, "%s: %s", path, why.text);
	}
	buf_release(&text);
	free(file);
	free(path);
	return rc;
}

void settings_dump(struct buf *out)
{
	struct settings s;

	settings_init(&s);
	buf_printf(out,
		"# bough settings; copy what you want to change to $XDG_CONFIG_HOME/bough/bough.conf.\n"
		"{\n"
		"  # Folders that hold sessions. Empty: the well-known places that exist.\n"
		"  \"roots\": [],\n"
		"  # dark, light, mono, or NAME for a file themes/NAME.theme beside this one.\n"
		"  \"theme\": \"%s\",\n"
		"  # Draw trees and borders with ASCII characters.\n"
		"  \"ascii\": %s,\n"
		"  # Take clicks and the wheel (the terminal's own selection then needs Shift).\n"
		"  \"mouse\": %s,\n"
		"  # Wrap long lines in the entry pane.\n"
		"  \"wrap\": %s,\n"
		"  # Order of the sessions: activity, created, title, size.\n"
		"  \"sort\": \"%s\"\n"
		"}\n", s.theme, s.ascii ? "true" : "false", s.mouse ? "true" : "false",
		s.wrap ? "true" : "false", s.sort);
	settings_release(&s);
}
