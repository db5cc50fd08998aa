#!/bin/sh
# Who may include whom, and who may touch the disk.
#
# base <- json, log, model <- format <- store <- cmd, ui <- main; only src/json
# names jansson, only src/log makes the calls that write. The rules are applied
# to a source tree (default: $srcdir); first they are applied to a small tree
# that breaks each of them, so that a rule that sees nothing fails here.
set -u
LC_ALL=C
export LC_ALL

# What the files of a layer may include, as folders below src/ (ui is ui/).
allowed() {
	case $1 in
	base) echo base ;;
	json) echo json base ;;
	log) echo log base ;;
	model) echo model base ;;
	format) echo format model log json base ;;
	store) echo store format model log json base ;;
	cmd) echo cmd store format model json base ;;
	ui) echo ui store model json base ;;
	main) echo cmd ui store format model json base ;;
	esac
}

# Files that make a call of the table below outside src/log, and why.
exempt() {
	case $1 in
	ui/outside.c) return 0 ;;   # the text for the copy command, in memory
	ui/screen.c) return 0 ;;    # the terminal
	ui/loop.c) return 0 ;;      # the pipe that signal handlers wake the loop through
	ui/settings.c) return 0 ;;  # reads the person's own files
	ui/script.c) return 0 ;;    # screens saved by a test script
	src/cmd/editor.c) return 0 ;; # fork -F FILE
	src/base/compose.c) return 0 ;; # the file of a draft for $EDITOR
	src/base/job.c) return 0 ;; # /dev/null for the copy command, the pipe that brings its errno
	src/cmd/out.c) return 0 ;;    # stdout and stderr
	src/cmd/export.c) return 0 ;; # export -o FILE: a new file that the user names
	src/base/clock.c) return 0 ;; # reads /dev/urandom where getrandom is missing
	esac
	return 1
}

# Calls that change files or names, or open one (a descriptor may write).
calls='open|openat|open64|creat|fopen|freopen|fdopen|write|writev|pwrite|pwrite64|fsync|fdatasync|sync_file_range|link|linkat|symlink|symlinkat|rename|renameat|renameat2|unlink|unlinkat|remove|rmdir|truncate|ftruncate|mkdir|mkdirat|mkstemp|mkostemp|chmod|fchmod|utime|utimensat|futimens|copy_file_range|sendfile|fallocate'

# C without comments and the text of strings: what a grep for calls may see.
# Lines keep their numbers; #include lines keep their names.
strip() { # file
	awk '
	{
		line = $0; out = ""; quote = ""
		if (!in_comment && line ~ /^[ \t]*#[ \t]*include/) { print line; next }
		while (line != "") {
			if (in_comment) {
				at = index(line, "*/")
				if (at == 0) break
				in_comment = 0
				line = substr(line, at + 2)
			} else if (quote != "") {
				if (!match(line, "\\\\.|" quote)) break
				c = substr(line, RSTART, 1)
				line = substr(line, RSTART + RLENGTH)
				if (c == quote) { quote = ""; out = out c }
			} else {
				if (!match(line, /\/\*|\/\/|"|\047/)) { out = out line; break }
				out = out substr(line, 1, RSTART - 1)
				c = substr(line, RSTART, RLENGTH)
				line = substr(line, RSTART + RLENGTH)
				if (c == "/*") in_comment = 1
				else if (c == "//") break
				else { quote = c; out = out c }
			}
		}
		print out
	}' "$1"
}

layer_of() { # path relative to the tree
	case $1 in
	src/main.c) echo main ;;
	src/*/*) rest=${1#src/}; echo "${rest%%/*}" ;;
	ui/*) echo ui ;;
	esac
}

# Prints each violation of one tree; the count is the number of lines.
check_tree() { # top
	(cd "$1" && find src ui -name '*.[ch]' | sort) | while read -r file; do
		layer=$(layer_of "$file")
		may=$(allowed "$layer")
		if [ -z "$may" ]; then
			echo "$file: belongs to no known layer"
			continue
		fi
		strip "$1/$file" >"$tmp/stripped"
		grep -nE '^[ 	]*#[ 	]*include' "$tmp/stripped" >"$tmp/includes"
		while IFS=: read -r line text; do
			case $text in
			*'"'*'"'*)
				name=${text#*\"}
				name=${name%%\"*}
				case $name in
				config.h | */../* | ../*) into='' ;;
				*/*) into=${name%%/*} ;;
				*) into='' ;;
				esac
				if [ -z "$into" ]; then
					[ "$name" = config.h ] ||
						echo "$file:$line: \"$name\" is not written from src/ or the top"
					continue
				fi
				case " $may " in
				*" $into "*) ;;
				*) echo "$file:$line: $layer may not include $into ($name)" ;;
				esac ;;
			*'<jansson.h>'*)
				[ "$layer" = json ] || echo "$file:$line: jansson.h outside src/json" ;;
			*'<curses.h>'* | *'<ncurses'*)
				[ "$layer" = ui ] || echo "$file:$line: curses outside ui/" ;;
			esac
		done <"$tmp/includes"
		[ "$layer" = log ] || exempt "$file" ||
			grep -nE "(^|[^A-Za-z0-9_>.])($calls)[ 	]*\\(" "$tmp/stripped" |
			sed -E "s|^([0-9]+):[ 	]*(.*)|$file:\\1: opens or changes files outside src/log: \\2|"
	done
}

tmp=$(mktemp -d "${TMPDIR:-/tmp}/layers.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
status=0

# Each file breaks one rule; the words must come up in what is printed.
bad=$tmp/bad
while IFS='|' read -r file text words; do
	rm -rf "$bad"
	mkdir -p "$bad/src/base" "$bad/ui" "$bad/$(dirname "$file")"
	printf '#include "config.h"\n/* open( in a comment */\nstatic const char *s = "write(";\n%s\n' "$text" >"$bad/$file"
	check_tree "$bad" >"$tmp/said"
	if ! grep -qF "$words" "$tmp/said"; then
		echo "not noticed in $file: $text"
		status=1
	fi
	if [ "$(wc -l <"$tmp/said")" -ne 1 ]; then
		echo "expected one violation in $file, got:"
		cat "$tmp/said"
		status=1
	fi
done <<'CASES'
src/base/x.c|#include "json/scan.h"|base may not include json
src/json/x.c|#include "model/session.h"|json may not include model
src/log/x.h|#include "json/value.h"|log may not include json
src/log/x.c|#include "model/session.h"|log may not include model
src/model/x.c|#include "json/value.h"|model may not include json
src/model/x.c|#  include "log/log.h"|model may not include log
src/format/tree/x.c|#include "store/store.h"|format may not include store
src/store/x.c|#include "ui/page.h"|store may not include ui
src/cmd/x.c|#include "ui/page.h"|cmd may not include ui
src/cmd/x.c|#include "log/log.h"|cmd may not include log
ui/x.c|#include "log/log.h"|ui may not include log
ui/x.c|#include "format/format.h"|ui may not include format
src/format/x.c|#include <jansson.h>|jansson.h outside src/json
src/cmd/x.c|#include <curses.h>|curses outside ui/
src/other/x.c|int x;|belongs to no known layer
src/base/x.c|#include "x.h"|is not written from src/ or the top
src/store/x.c|	if (rename(a, b) < 0)|outside src/log
src/store/x.c|	n = write (fd, p, 1);|outside src/log
ui/x.c|	FILE *f = fopen(name, "r");|outside src/log
src/format/x.c|int fd = !open(path, 0);|outside src/log
CASES

# What must not be taken for a violation.
rm -rf "$bad"
mkdir -p "$bad/src/log" "$bad/src/store" "$bad/ui"
printf '#include "config.h"\n#include "base/err.h"\nint f(void) { return open("x", 0); }\n' >"$bad/src/log/sys.c"
printf '#include "store/store.h"\nint g(struct f *f) { format_open(); f->open(1); f.write(2); rewrite(3); return 0; }\n' >"$bad/src/store/x.c"
check_tree "$bad" >"$tmp/said"
if [ -s "$tmp/said" ]; then
	echo "taken for a violation:"
	cat "$tmp/said"
	status=1
fi

top=${1:-${srcdir:-.}}
check_tree "$top" >"$tmp/said"
if [ -s "$tmp/said" ]; then
	cat "$tmp/said"
	status=1
fi
[ $status -ne 0 ] || echo "layers: $(find "$top/src" "$top/ui" -name '*.[ch]' | wc -l) files follow the rules"
exit $status
