/*
 * role.h - what a piece of the screen is. Code names roles, never colours;
 * theme.c turns a role into colours and attributes.
 */
#ifndef BOUGH_UI_ROLE_H
#define BOUGH_UI_ROLE_H

enum role {
	ROLE_NORMAL,
	ROLE_TITLE,       /* the header line */
	ROLE_STATUS,      /* the last line */
	ROLE_ERROR,       /* a failure in the status line */
	ROLE_CURSOR,      /* the row under the cursor */
	ROLE_CURSOR_IDLE, /* the same in a pane that has not the keys */
	ROLE_MATCH,       /* search hit */
	ROLE_BORDER,
	ROLE_GROUP,       /* project rows */
	ROLE_DIM,
	ROLE_KEY,         /* a key's name in the help */
	ROLE_PROGRESS,
	ROLE_ON_BRANCH,   /* tree: on the tip's branch */
	ROLE_OFF_BRANCH,
	ROLE_TIP,
	ROLE_LABEL,
	ROLE_NEW,
	ROLE_TIME,
	ROLE_ID,
	ROLE_SYSTEM,
	ROLE_USER,
	ROLE_ASSISTANT,
	ROLE_TOOL,
	ROLE_SUMMARY,
	ROLE_EVENT,
	ROLE_DAMAGE,
	ROLE_CONTROL,     /* a control character made visible */
	ROLE_HEADING,
	ROLE_EMPH,
	ROLE_STRONG,
	ROLE_STRIKE,
	ROLE_QUOTE,
	ROLE_LINK,
	ROLE_RULE,        /* lines of tables, thematic breaks, list bullets */
	ROLE_CODE,
	ROLE_CODE_KEYWORD,
	ROLE_CODE_STRING,
	ROLE_CODE_COMMENT,
	ROLE_CODE_NUMBER,
	ROLE_DIFF_ADD,
	ROLE_DIFF_DEL,
	ROLE_DIFF_HUNK,
	ROLE_DIFF_FILE,
	ROLE_JSON_KEY,
	ROLE_JSON_STRING,
	ROLE_JSON_NUMBER,
	ROLE_COUNT
};

#endif
