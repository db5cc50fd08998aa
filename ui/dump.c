/*
 * dump.c - prints built-in defaults; a test compares them with the files in data/.
 */
#include "config.h"

#include "ui/dump.h"

#include <string.h>

#include "ui/keymap.h"
#include "ui/settings.h"
#include "ui/theme.h"

int dump_defaults(const char *what, FILE *out)
{
	static const char theme[] = "theme-";
	struct buf text = { 0 };

	if (strcmp(what, "keys") == 0)
		keymap_dump(&text);
	else if (strcmp(what, "settings") == 0)
		settings_dump(&text);
	else if (strncmp(what, theme, strlen(theme)) == 0 && theme_is_builtin(what + strlen(theme)))
		theme_dump(what + strlen(theme), &text);
	else
		return ERR_USAGE;
	fwrite(text.p, 1, text.n, out);
	buf_release(&text);
	return 0;
}
