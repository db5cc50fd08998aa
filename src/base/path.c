/*
 * path.c - path strings. It opens nothing; $HOME and $XDG_* are all it reads.
 */
#include "config.h"

#include "base/path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"

/* $HOME without the slashes at its end, or NULL; a home of "/" is none worth a "~". */
static const char *home(size_t *n)
{
	const char *h = getenv("HOME");

	*n = h ? strlen(h) : 0;
	while (*n && h[*n - 1] == '/')
		(*n)--;
	return *n ? h : NULL;
}

char *path_join(const char *dir, const char *name)
{
	size_t n = strlen(dir), size;
	char *path;

	if (n == 0)
		return xstrdup(name);
	while (n && dir[n - 1] == '/')
		n--;
	name += strspn(name, "/");
	size = strlen(name) + 1;
	path = xmalloc(n + 1 + size);
	memcpy(path, dir, n);
	path[n] = '/';
	memcpy(path + n + 1, name, size);
	return path;
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n;

	if (!slash)
		return xstrdup(".");
	n = (size_t)(slash - path);
	while (n && path[n - 1] == '/')
		n--;
	return n ? xstrndup(path, n) : xstrdup("/");
}

char *path_expand(const char *path)
{
	size_t n;
	const char *h = home(&n);

	if (!h || path[0] != '~' || (path[1] && path[1] != '/'))
		return xstrdup(path);
	return xasprintf("%.*s%s", (int)n, h, path + 1);
}

char *path_shorten(const char *path)
{
	size_t n;
	const char *h = home(&n);

	if (!h || strncmp(path, h, n) != 0 || (path[n] && path[n] != '/'))
		return xstrdup(path);
	return xasprintf("~%s", path + n);
}

/* Does a path begin there? Not in the middle of a longer one. */
static bool begins_path(const char *text, const char *at)
{
	return at == text || strchr(" \"'(,:", at[-1]) != NULL;
}

void path_forget_cwd(char *text)
{
	char *cwd = getcwd(NULL, 0), *short_cwd = cwd ? path_shorten(cwd) : NULL;
	const char *forms[] = { cwd, short_cwd };

	for (size_t i = 0; i < 2 && cwd; i++) {
		size_t n = strlen(forms[i]);
		char *at = text;

		while (n > 1 && (at = strstr(at, forms[i])) != NULL) {
			if (at[n] == '/' && begins_path(text, at))
				memmove(at, at + n + 1, strlen(at + n + 1) + 1);
			else
				at++;
		}
	}
	free(short_cwd);
	free(cwd);
}

char *path_xdg(const char *what, const char *fallback)
{
	char *name = xasprintf("XDG_%s_HOME", what);
	const char *dir = getenv(name);
	size_t n;

	free(name);
	/* The XDG rules: a relative path is to be ignored. */
	if (dir && dir[0] == '/')
		return path_join(dir, "bough");
	dir = getenv("HOME");
	n = dir ? strlen(dir) : 0;
	while (n && dir[n - 1] == '/')
		n--;
	if (!dir || !*dir)
		return NULL;
	return xasprintf("%.*s/%s/bough", (int)n, dir, fallback);
}

static bool keeps(const char *id, size_t n, size_t i)
{
	char c = id[i];

	if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
		return true;
	if (c == '.')
		return i > 0 && i < n - 1; /* no hidden files, no ".." */
	return c == '_' || c == '-';
}

char *path_escape(const char *id, size_t n)
{
	struct buf out = { 0 };
	size_t i;

	/* A lone '%' comes from no other id. */
	if (n == 0)
		buf_addc(&out, '%');
	for (i = 0; i < n; i++) {
		if (keeps(id, n, i))
			buf_addc(&out, id[i]);
		else
			buf_printf(&out, "%%%02X", (unsigned char)id[i]);
	}
	return buf_take(&out);
}
