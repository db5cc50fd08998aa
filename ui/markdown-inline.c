/*
 * markdown-inline.c - what stands inside a block of Markdown: emphasis, code,
 * links with their target, images, HTML as text. Line breaks are kept as they
 * were written: in what people and models say to each other they mean something.
 */
#include "config.h"

#include "ui/markdown.h"

#include <string.h>

void md_push_role(struct md *m, enum role role)
{
	if (m->nroles < MD_ROLES_MAX)
		m->roles[m->nroles] = (uint8_t)role;
	m->nroles++;
}

void md_pop_role(struct md *m)
{
	if (m->nroles)
		m->nroles--;
}

static enum role role_now(const struct md *m)
{
	size_t n = m->nroles < MD_ROLES_MAX ? m->nroles : MD_ROLES_MAX;

	return n ? m->roles[n - 1] : ROLE_NORMAL;
}

/* ---------------------------------------------------------------- text with bare links */

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The next "http://", "https://" or "www." that begins a word, from `from` on; n: none. */
static size_t find_link(const char *s, size_t n, size_t from)
{
	static const char *const starts[] = { "http://", "https://", "www." };

	for (size_t i = from; i < n; i++) {
		if ((s[i] != 'h' && s[i] != 'w') || (i && is_alnum(s[i - 1])))
			continue;
		for (size_t k = 0; k < sizeof(starts) / sizeof(starts[0]); k++) {
			size_t len = strlen(starts[k]);

			if (n - i > len && memcmp(s + i, starts[k], len) == 0 &&
				is_alnum(s[i + len]))
				return i;
		}
	}
	return n;
}

/* Bytes of the link at s: to a space, quote or angle, without the marks that end a sentence. */
static size_t link_len(const char *s, size_t n)
{
	size_t len = 0, open = 0, close = 0;

	while (len < n && (unsigned char)s[len] > ' ' && !strchr("<>\"`", s[len])) {
		open += s[len] == '(';
		close += s[len] == ')';
		len++;
	}
	while (len && (strchr(".,;:!?'*_~", s[len - 1]) || (s[len - 1] == ')' && close > open))) {
		close -= s[len - 1] == ')';
		len--;
	}
	return len;
}

static void put_text(struct md *m, const char *s)
{
	enum role role = role_now(m);
	size_t n = strlen(s), i = 0;

	while (i < n) {
		size_t at = role == ROLE_LINK ? n : find_link(s, n, i), len;

		page_text(m->p, role, s + i, at - i);
		if (at == n)
			return;
		len = link_len(s + at, n - at);
		page_text(m->p, ROLE_LINK, s + at, len);
		i = at + len;
	}
}

/* ---------------------------------------------------------------- links */

/* The link's text is its target: nothing to add. */
static bool is_own_text(cmark_node *link, const char *url)
{
	cmark_node *child = cmark_node_first_child(link);
	const char *text;

	if (!child || cmark_node_next(child) || cmark_node_get_type(child) != CMARK_NODE_TEXT)
		return false;
	text = cmark_node_get_literal(child);
	if (strncmp(url, "mailto:", 7) == 0 && strncmp(text, "mailto:", 7) != 0)
		url += 7;
	return strcmp(text, url) == 0;
}

static void put_target(struct md *m, cmark_node *link)
{
	const char *url = cmark_node_get_url(link), *title = cmark_node_get_title(link);

	if (!*title && is_own_text(link, url))
		return;
	page_puts(m->p, ROLE_DIM, cmark_node_first_child(link) ? " (" : "(");
	page_puts(m->p, ROLE_DIM, url);
	if (*title) {
		page_puts(m->p, ROLE_DIM, " \"");
		page_puts(m->p, ROLE_DIM, title);
		page_puts(m->p, ROLE_DIM, "\"");
	}
	page_puts(m->p, ROLE_DIM, ")");
}

/* ---------------------------------------------------------------- events */

/* Emphasis and links: a role from ENTER to EXIT. */
static void put_container(struct md *m, bool is_enter, cmark_node *node)
{
	enum role role = role_now(m);

	switch (cmark_node_get_type(node)) {
	case CMARK_NODE_EMPH:
		role = ROLE_EMPH;
		break;
	case CMARK_NODE_STRONG:
		role = role == ROLE_HEADING ? role : ROLE_STRONG;
		break;
	case CMARK_NODE_LINK:
		role = ROLE_LINK;
		break;
	case CMARK_NODE_IMAGE:
		page_puts(m->p, ROLE_DIM, is_enter ? "[image: " : "]");
		break;
	default:
		if (strcmp(cmark_node_get_type_string(node), "strikethrough") != 0)
			return;
		role = ROLE_STRIKE;
	}
	if (is_enter) {
		md_push_role(m, role);
		return;
	}
	md_pop_role(m);
	if (role == ROLE_LINK || cmark_node_get_type(node) == CMARK_NODE_IMAGE)
		put_target(m, node);
}

void md_inline(struct md *m, cmark_event_type event, cmark_node *node)
{
	switch (cmark_node_get_type(node)) {
	case CMARK_NODE_TEXT:
		put_text(m, cmark_node_get_literal(node));
		break;
	case CMARK_NODE_CODE:
		page_puts(m->p, ROLE_CODE, cmark_node_get_literal(node));
		break;
	case CMARK_NODE_HTML_INLINE:
		page_puts(m->p, ROLE_DIM, cmark_node_get_literal(node));
		break;
	case CMARK_NODE_SOFTBREAK:
	case CMARK_NODE_LINEBREAK:
		page_text(m->p, ROLE_NORMAL, "\n", 1);
		break;
	default:
		put_container(m, event == CMARK_EVENT_ENTER, node);
	}
}

void md_inlines(struct md *m, cmark_node *block)
{
	cmark_iter *iter = cmark_iter_new(block);
	cmark_event_type event;

	while ((event = cmark_iter_next(iter)) != CMARK_EVENT_DONE)
		if (cmark_iter_get_node(iter) != block)
			md_inline(m, event, cmark_iter_get_node(iter));
	cmark_iter_free(iter);
}
