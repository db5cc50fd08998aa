/*
 * page-lang.c - the table of languages: names, comments, strings, keywords. Data
 * only; page-code.c reads it. A new language is a row here.
 */
#include "config.h"

#include "ui/page-lang.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const c_words[] = {
	"NULL", "_Atomic", "_Bool", "_Generic", "_Noreturn", "_Static_assert", "alignas",
	"alignof", "asm", "auto", "bool", "break", "case", "catch", "char", "class", "co_await",
	"co_return", "co_yield", "concept", "const", "const_cast", "consteval", "constexpr",
	"constinit", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast",
	"else", "enum", "explicit", "export", "extern", "false", "final", "float", "for",
	"friend", "goto", "if", "inline", "int", "int16_t", "int32_t", "int64_t", "int8_t",
	"long", "mutable", "namespace", "new", "noexcept", "nullptr", "operator", "override",
	"private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict",
	"return", "short", "signed", "size_t", "sizeof", "ssize_t", "static", "static_assert",
	"static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true",
	"try", "typedef", "typeid", "typename", "uint16_t", "uint32_t", "uint64_t", "uint8_t",
	"union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while",
};

static const char *const python_words[] = {
	"False", "None", "True", "and", "as", "assert", "async", "await", "break", "case",
	"class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from",
	"global", "if", "import", "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass",
	"raise", "return", "self", "try", "while", "with", "yield",
};

static const char *const js_words[] = {
	"abstract", "any", "as", "async", "await", "boolean", "break", "case", "catch", "class",
	"const", "continue", "debugger", "declare", "default", "delete", "do", "else", "enum",
	"export", "extends", "false", "finally", "for", "from", "function", "get", "if",
	"implements", "import", "in", "infer", "instanceof", "interface", "is", "keyof", "let",
	"namespace", "never", "new", "null", "number", "of", "override", "private", "protected",
	"public", "readonly", "return", "satisfies", "set", "static", "string", "super",
	"switch", "symbol", "this", "throw", "true", "try", "type", "typeof", "undefined",
	"unknown", "var", "void", "while", "with", "yield",
};

static const char *const go_words[] = {
	"any", "append", "bool", "break", "byte", "cap", "case", "chan", "const", "continue",
	"copy", "default", "defer", "delete", "else", "error", "fallthrough", "false", "float32",
	"float64", "for", "func", "go", "goto", "if", "import", "int", "int16", "int32", "int64",
	"int8", "interface", "iota", "len", "make", "map", "new", "nil", "package", "panic",
	"range", "recover", "return", "rune", "select", "string", "struct", "switch", "true",
	"type", "uint", "uint16", "uint32", "uint64", "uint8", "uintptr", "var",
};

static const char *const rust_words[] = {
	"Err", "None", "Ok", "Self", "Some", "as", "async", "await", "bool", "box", "break",
	"char", "const", "continue", "crate", "dyn", "else", "enum", "extern", "f32", "f64",
	"false", "fn", "for", "i128", "i16", "i32", "i64", "i8", "if", "impl", "in", "isize",
	"let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "self", "static",
	"str", "struct", "super", "trait", "true", "type", "u128", "u16", "u32", "u64", "u8",
	"union", "unsafe", "use", "usize", "where", "while",
};

static const char *const java_words[] = {
	"abstract", "assert", "boolean", "break", "byte", "case", "catch", "char", "class",
	"const", "continue", "default", "do", "double", "else", "enum", "extends", "false",
	"final", "finally", "float", "for", "if", "implements", "import", "instanceof", "int",
	"interface", "long", "native", "new", "null", "package", "permits", "private",
	"protected", "public", "record", "return", "sealed", "short", "static", "strictfp",
	"super", "switch", "synchronized", "this", "throw", "throws", "transient", "true", "try",
	"var", "void", "volatile", "while", "yield",
};

static const char *const sh_words[] = {
	"alias", "break", "case", "cd", "continue", "declare", "do", "done", "echo", "elif",
	"else", "esac", "eval", "exec", "exit", "export", "false", "fi", "for", "function", "if",
	"in", "local", "printf", "read", "readonly", "return", "select", "set", "shift",
	"source", "test", "then", "time", "trap", "true", "typeset", "umask", "unset", "until",
	"wait", "while",
};

static const char *const yaml_words[] = {
	"False", "No", "Null", "Off", "On", "True", "Yes", "false", "no", "null", "off", "on",
	"true", "yes",
};

static const char *const sql_words[] = {
	"add", "all", "alter", "and", "any", "as", "asc", "begin", "between", "by", "cascade",
	"case", "cast", "check", "column", "commit", "constraint", "create", "cross", "database",
	"default", "delete", "desc", "distinct", "drop", "else", "end", "except", "exists",
	"explain", "false", "foreign", "from", "full", "grant", "group", "having", "if", "in",
	"index", "inner", "insert", "intersect", "into", "is", "join", "key", "left", "like",
	"limit", "natural", "not", "null", "offset", "on", "or", "order", "outer", "primary",
	"references", "replace", "returning", "right", "rollback", "select", "set", "table",
	"temporary", "then", "transaction", "trigger", "true", "truncate", "union", "unique",
	"update", "using", "vacuum", "values", "view", "when", "where", "with",
};

#define WORDS(list) .words = list, .nwords = sizeof(list) / sizeof(list[0])

static const struct lang langs[] = {
	{ .names = " c h cpp c++ cc cxx hpp hh objc cuda ", .flags = LANG_PREPROC,
	  .line_comment = { "//" }, .open = "/*", .close = "*/", .quotes = "\"'",
	  WORDS(c_words) },
	{ .names = " python py python3 pyi ", .flags = LANG_TRIPLE,
	  .line_comment = { "#" }, .quotes = "\"'",
	  WORDS(python_words) },
	{ .names = " javascript js jsx mjs cjs node typescript ts tsx ", .flags = LANG_BACKTICK,
	  .line_comment = { "//" }, .open = "/*", .close = "*/", .quotes = "\"'",
	  WORDS(js_words) },
	{ .names = " go golang ", .flags = LANG_BACKTICK,
	  .line_comment = { "//" }, .open = "/*", .close = "*/", .quotes = "\"'",
	  WORDS(go_words) },
	{ .names = " rust rs ", .flags = LANG_CHAR,
	  .line_comment = { "//" }, .open = "/*", .close = "*/", .quotes = "\"'",
	  WORDS(rust_words) },
	{ .names = " java kotlin kt scala cs csharp ", .flags = LANG_TRIPLE,
	  .line_comment = { "//" }, .open = "/*", .close = "*/", .quotes = "\"'",
	  WORDS(java_words) },
	{ .names = " sh bash shell zsh ksh console shell-session dockerfile make makefile ",
	  .flags = LANG_HASH_WORD | LANG_DOLLAR,
	  .line_comment = { "#" }, .quotes = "\"'",
	  WORDS(sh_words) },
	{ .names = " yaml yml toml ini conf properties ", .flags = LANG_HASH_WORD | LANG_KEYS,
	  .line_comment = { "#", ";" }, .quotes = "\"'",
	  WORDS(yaml_words) },
	{ .names = " sql postgres postgresql mysql sqlite ", .flags = LANG_NOCASE,
	  .line_comment = { "--" }, .open = "/*", .close = "*/", .quotes = "\"'",
	  WORDS(sql_words) },
	{ .names = " json jsonc json5 jsonl ndjson ", .kind = LANG_JSON },
	{ .names = " diff patch udiff ", .kind = LANG_DIFF },
	{ .names = " html xml svg xhtml htm vue xsl xslt plist ", .kind = LANG_MARKUP },
};

const struct lang *lang_table(size_t *n)
{
	*n = sizeof(langs) / sizeof(langs[0]);
	return langs;
}

const struct lang *lang_find(struct str name)
{
	char key[24];

	if (!name.n || name.n > sizeof(key) - 3 || memchr(name.p, ' ', name.n))
		return NULL;
	key[0] = ' ';
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		key[i + 1] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
	}
	key[name.n + 1] = ' ';
	key[name.n + 2] = '\0';
	for (size_t i = 0; i < sizeof(langs) / sizeof(langs[0]); i++)
		if (strstr(langs[i].names, key))
			return &langs[i];
	return NULL;
}

bool lang_is_keyword(const struct lang *lang, const char *s, size_t n)
{
	size_t lo = 0, hi = lang->nwords;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const char *word = lang->words[mid];
		int order = lang->flags & LANG_NOCASE ? strncasecmp(s, word, n)
						      : strncmp(s, word, n);

		if (!order && word[n] == '\0')
			return true;
		if (order > 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}
