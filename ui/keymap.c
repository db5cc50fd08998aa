/*
 * keymap.c - the tries of key sequences, the parser of keys.conf, and the way
 * back from a command to its keys.
 */
#include "config.h"

#include "ui/keymap.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "json/doc.h"

struct binding {
	struct key_seq seq;
	const struct command *command;
};

struct node {
	uint32_t key;
	uint32_t child, sibling; /* 0: none (the root is nobody's child) */
	const struct command *command;
};

struct map {
	struct binding *bindings; /* in the order of the tables */
	size_t nbindings, bindings_cap;
	struct node *nodes;       /* [0] is the root */
	size_t nnodes, nodes_cap;
};

struct keymap {
	struct map *maps;
	size_t nmaps;
};

static void unbind(struct map *m, const struct command *c)
{
	size_t n = 0;

	for (size_t i = 0; i < m->nbindings; i++) {
		if (m->bindings[i].command != c)
			m->bindings[n++] = m->bindings[i];
	}
	m->nbindings = n;
}

static bool seq_equal(const struct key_seq *a, const struct key_seq *b)
{
	return a->n == b->n && memcmp(a->key, b->key, a->n * sizeof(a->key[0])) == 0;
}

static void bind(struct map *m, const struct key_seq *seq, const struct command *c)
{
	for (size_t i = 0; i < m->nbindings; i++) {
		if (seq_equal(&m->bindings[i].seq, seq)) { /* the later one wins */
			m->bindings[i].command = c;
			return;
		}
	}
	m->bindings = xgrow(m->bindings, &m->bindings_cap, m->nbindings + 1, sizeof(*m->bindings));
	m->bindings[m->nbindings++] = (struct binding){ *seq, c };
}

static int bind_text(struct map *m, const struct command *c, struct str keys, struct err *err)
{
	struct key_seq seq;
	int rc;

	while ((rc = key_seq_parse(&keys, &seq, err)) == 1)
		bind(m, &seq, c);
	return rc;
}

static uint32_t add_node(struct map *m, uint32_t parent, uint32_t key)
{
	m->nodes = xgrow(m->nodes, &m->nodes_cap, m->nnodes + 1, sizeof(*m->nodes));
	m->nodes[m->nnodes] = (struct node){ .key = key, .sibling = m->nodes[parent].child };
	m->nodes[parent].child = (uint32_t)m->nnodes;
	return (uint32_t)m->nnodes++;
}

static uint32_t find_child(const struct map *m, uint32_t parent, uint32_t key)
{
	uint32_t at = m->nodes[parent].child;

	while (at && m->nodes[at].key != key)
		at = m->nodes[at].sibling;
	return at;
}

/* The trie from the bindings. A sequence that begins another one could never be finished: refused. */
static int build(struct map *m, const char *name, struct err *err)
{
	struct buf text = { 0 };
	int rc = 0;

	m->nnodes = 0;
	m->nodes = xgrow(m->nodes, &m->nodes_cap, 1, sizeof(*m->nodes));
	m->nodes[m->nnodes++] = (struct node){ 0 };
	for (size_t i = 0; i < m->nbindings && rc == 0; i++) {
		const struct binding *b = &m->bindings[i];
		uint32_t at = 0;
		bool shadowed = false;
		for (size_t k = 0; k < b->seq.n; k++) {
			uint32_t next = find_child(m, at, b->seq.key[k]);
			at = next ? next : add_node(m, at, b->seq.key[k]);
			shadowed |= k + 1 < b->seq.n && m->nodes[at].command;
		}
		if (shadowed || m->nodes[at].child) {
			buf_clear(&text);
			key_seq_name(&b->seq, &text);
			rc = err_set(err, ERR_USAGE, "%s: the keys '%s' of '%s' begin another "
				"sequence or continue one", name, text.p, b->command->name);
		}
		m->nodes[at].command = b->command;
	}
	buf_release(&text);
	return rc;
}

static void map_release(struct map *m)
{
	free(m->bindings);
	free(m->nodes);
	memset(m, 0, sizeof(*m));
}

static void map_copy(struct map *to, const struct map *from)
{
	memset(to, 0, sizeof(*to));
	to->bindings = xgrow(NULL, &to->bindings_cap, from->nbindings + 1, sizeof(*to->bindings));
	memcpy(to->bindings, from->bindings, from->nbindings * sizeof(*to->bindings));
	to->nbindings = from->nbindings;
}

struct keymap *keymap_new(void)
{
	struct keymap *km = xcalloc(1, sizeof(*km));
	struct err err = { 0 };

	km->nmaps = command_nmaps();
	km->maps = xcalloc(km->nmaps, sizeof(*km->maps));
	for (size_t i = 0; i < km->nmaps; i++) {
		const struct command_table *t = command_map(i);
		for (size_t k = 0; k < t->n; k++) {
			if (bind_text(&km->maps[i], &t->v[k], str_of(t->v[k].keys), &err) < 0)
				die("default keys of %s: %s", t->v[k].name, err.text);
		}
		if (build(&km->maps[i], command_map_name(i), &err) < 0)
			die("default keys: %s", err.text);
	}
	return km;
}

void keymap_free(struct keymap **km)
{
	if (!*km)
		return;
	for (size_t i = 0; i < (*km)->nmaps; i++)
		map_release(&(*km)->maps[i]);
	free((*km)->maps);
	free(*km);
	*km = NULL;
}

struct key_load {
	struct map *maps; /* copies under change */
	size_t nmaps, map;
	struct err *err;
	int rc;
};

static bool load_binding(struct str key, const json_doc *value, void *arg)
{
	struct key_load *load = arg;
	const struct command *c = command_find(load->map, key.p, key.n);
	struct err why = { 0 };
	struct str keys;

	if (!c) {
		load->rc = err_set(load->err, ERR_USAGE, "%s: no command '%.*s'",
			command_map_name(load->map), (int)key.n, key.p);
	} else if (!json_doc_get_string(value, &keys)) {
		load->rc = err_set(load->err, ERR_USAGE, "%s: the keys of '%s' are not a string",
			command_map_name(load->map), c->name);
	} else {
		unbind(&load->maps[load->map], c);
		load->rc = bind_text(&load->maps[load->map], c, keys, &why);
		if (load->rc < 0)
			err_set(load->err, load->rc, "%s: %s: %s", command_map_name(load->map), c->name,
				why.text);
	}
	return load->rc == 0;
}

static bool load_map(struct str key, const json_doc *value, void *arg)
{
	struct key_load *load = arg;

	for (load->map = 0; load->map < load->nmaps; load->map++) {
		if (str_eqs(key, command_map_name(load->map)))
			break;
	}
	if (load->map == load->nmaps)
		load->rc = err_set(load->err, ERR_USAGE, "no such screen: '%.*s'", (int)key.n, key.p);
	else if (!json_doc_is_object(value))
		load->rc = err_set(load->err, ERR_USAGE, "'%s' is not an object",
			command_map_name(load->map));
	else
		json_doc_each(value, load_binding, load);
	return load->rc == 0;
}

int keymap_load(struct keymap *km, struct str text, struct err *err)
{
	struct key_load load = { .nmaps = km->nmaps, .err = err };
	json_doc *doc = json_doc_parse(text, true, err);

	if (!doc)
		return ERR_CORRUPT;
	load.maps = xcalloc(km->nmaps, sizeof(*load.maps));
	for (size_t i = 0; i < km->nmaps; i++)
		map_copy(&load.maps[i], &km->maps[i]);
	if (json_doc_is_object(doc))
		json_doc_each(doc, load_map, &load);
	else
		load.rc = err_set(err, ERR_USAGE, "the document is not an object");
	for (size_t i = 0; i < km->nmaps && load.rc == 0; i++)
		load.rc = build(&load.maps[i], command_map_name(i), err);
	for (size_t i = 0; i < km->nmaps; i++) {
		struct map *old = load.rc == 0 ? &km->maps[i] : &load.maps[i];
		map_release(old);
		if (load.rc == 0)
			km->maps[i] = load.maps[i];
	}
	free(load.maps);
	json_doc_free(&doc);
	return load.rc;
}

static enum key_match find_in(const struct map *m, const uint32_t *keys, size_t n,
	const struct command **out)
{
	uint32_t at = 0;

	for (size_t i = 0; i < n; i++) {
		at = find_child(m, at, keys[i]);
		if (!at)
			return KEYS_NONE;
	}
	if (m->nodes[at].command) {
		*out = m->nodes[at].command;
		return KEYS_COMMAND;
	}
	return KEYS_PREFIX;
}

enum key_match keymap_find(const struct keymap *km, size_t map, const uint32_t *keys, size_t n,
	const struct command **out)
{
	enum key_match match = map > 0 ? find_in(&km->maps[map], keys, n, out) : KEYS_NONE;
	enum key_match generic;

	if (match == KEYS_COMMAND)
		return match;
	generic = find_in(&km->maps[0], keys, n, out);
	if (match == KEYS_PREFIX && generic == KEYS_COMMAND)
		return KEYS_PREFIX; /* the view's longer sequence goes before a generic key */
	return generic != KEYS_NONE ? generic : match;
}

void keymap_keys(const struct keymap *km, size_t map, const struct command *c, size_t max,
	struct buf *out)
{
	const struct command *found;
	size_t shown = 0;

	for (int pass = 0; pass < 2; pass++) {
		const struct map *m = &km->maps[pass == 0 ? map : 0];
		if (pass == 1 && map == 0)
			break;
		for (size_t i = 0; i < m->nbindings && (max == 0 || shown < max); i++) {
			const struct binding *b = &m->bindings[i];
			if (b->command != c || keymap_find(km, map, b->seq.key, b->seq.n, &found) !=
			    KEYS_COMMAND || found != c)
				continue;
			if (shown++ > 0)
				buf_adds(out, ", ");
			key_seq_name(&b->seq, out);
		}
	}
}

static void dump_key_string(struct buf *out, const char *keys)
{
	for (; *keys; keys++) {
		if (*keys == '"' || *keys == '\\')
			buf_addc(out, '\\');
		buf_addc(out, *keys);
	}
}

void keymap_dump(struct buf *out)
{
	buf_adds(out, "# bough keys: for each screen the commands and their keys.\n"
		"# Copy what you want to change to $XDG_CONFIG_HOME/bough/keys.conf; \"\" unbinds.\n"
		"# A sequence has spaces between its keys, alternatives have commas:\n"
		"# \"g g, <Home>\". ^d is a control key; names are in angle brackets (<Space>,\n"
		"# <Enter>, <F5>, <Comma>). A screen's own keys go before the generic ones.\n{\n");
	for (size_t i = 0; i < command_nmaps(); i++) {
		const struct command_table *t = command_map(i);
		const char *group = "";
		buf_printf(out, "  \"%s\": {\n", command_map_name(i));
		for (size_t k = 0; k < t->n; k++) {
			const struct command *c = &t->v[k];
			if (strcmp(group, c->group) != 0)
				buf_printf(out, "    # %s\n", c->group);
			group = c->group;
			buf_printf(out, "    \"%s\": \"", c->name);
			dump_key_string(out, c->keys);
			buf_printf(out, "\"%s\n", k + 1 < t->n ? "," : "");
		}
		buf_printf(out, "  }%s\n", i + 1 < command_nmaps() ? "," : "");
	}
	buf_adds(out, "}\n");
}
