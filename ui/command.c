/*
 * command.c - finding and running commands: the list of tables, look-up by
 * name, the command line, and the sentence for a command that makes no sense
 * here. What commands do stands beside their tables.
 */
#include "config.h"

#include "ui/command.h"

#include <string.h>

#include "ui/internal.h"
#include "ui/view.h"

static const struct view_ops *const kinds[] = {
	&view_sessions, &view_session, &view_branches, &view_problems, &view_reflog,
	&view_conversation, &view_rounds, &view_relations, &view_unresolved, &view_cards, &view_help,
};
#define NKINDS (sizeof(kinds) / sizeof(*kinds))

size_t command_nmaps(void)
{
	return NKINDS + 1;
}

const char *command_map_name(size_t map)
{
	return map == 0 ? "generic" : kinds[map - 1]->name;
}

const struct command_table *command_map(size_t map)
{
	return map == 0 ? &generic_commands : kinds[map - 1]->commands;
}

size_t command_map_of(const struct view_ops *ops)
{
	for (size_t i = 0; i < NKINDS; i++) {
		if (kinds[i] == ops)
			return i + 1;
	}
	return 0;
}

static const struct command *find_in(size_t map, const char *name, size_t n)
{
	const struct command_table *t = command_map(map);

	for (size_t i = 0; i < t->n; i++) {
		if (strlen(t->v[i].name) == n && memcmp(t->v[i].name, name, n) == 0)
			return &t->v[i];
	}
	return NULL;
}

const struct command *command_find(size_t map, const char *name, size_t n)
{
	const struct command *c = map > 0 ? find_in(map, name, n) : NULL;

	return c ? c : find_in(0, name, n);
}

static const struct {
	unsigned when;
	const char *said;
} reasons[] = {
	{ WHEN_LOADED, "it is still being read" },
	{ WHEN_CARD, "no history was rewritten" },
	{ WHEN_ROW, "there is nothing under the cursor" },
	{ WHEN_TARGET, "this leads nowhere" },
	{ WHEN_CHILDREN, "nothing to fold here" },
	{ WHEN_PANE, "this screen has one pane" },
	{ WHEN_APPEND, "this session takes no new entries" },
	{ WHEN_FORK, "no new session can be made here" },
	{ WHEN_REPAIR, "this session can not be repaired here" },
	{ WHEN_TITLE, "this session takes no title" },
	{ WHEN_TIP, "this session has no tip to move and takes no labels" },
	{ WHEN_TRASH, "this session can not be moved to the trash" },
};

bool command_refuse(struct view *v, const struct command *c)
{
	struct ui *ui = v->ui;

	for (; c && v; v = v->below)
		for (unsigned bit = 1; v->ops->why && bit <= WHEN_WRITES; bit <<= 1) {
			const char *why = bit & c->when & WHEN_WRITES ? v->ops->why(v, bit) : NULL;

			if (why && *why) {
				ui_error(ui, "%s", why);
				return true;
			}
		}
	return false;
}

static bool is_warned(const struct view *v)
{
	const char *warning = v->ops->warning ? v->ops->warning(v) : NULL;

	return warning && *warning;
}

enum effect command_run(struct view *v, const struct command *c, const char *arg)
{
	unsigned missing;

	/* what was wrong at the newest look may be right by now */
	if (c->when & WHEN_WRITES && is_warned(v))
		ui_changed(v->ui);
	missing = c->when & ~(v->ops->state ? v->ops->state(v) : WHEN_ROW);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		if (missing & reasons[i].when) {
			const char *why = v->ops->why ? v->ops->why(v, reasons[i].when) : NULL;
			ui_error(v->ui, "%s", why ? why : reasons[i].said);
			return FX_REDRAW;
		}
	}
	if (!c->opens)
		return c->run(v, arg ? arg : "");
	view_push(v->ui, c->opens, v);
	return FX_REDRAW;
}

enum effect command_line(struct view *v, const char *line)
{
	const struct command *c;
	size_t n;

	line += strspn(line, " ");
	n = strcspn(line, " ");
	if (n == 0)
		return FX_NONE;
	c = command_find(command_map_of(v->ops), line, n);
	if (!c && command_refuse(v, command_find(command_map_of(&view_session), line, n)))
		return FX_REDRAW;
	if (!c) {
		ui_error(v->ui, "no command '%.*s' here", (int)(n > 60 ? 60 : n), line);
		return FX_REDRAW;
	}
	line += n;
	return command_run(v, c, line + strspn(line, " "));
}
