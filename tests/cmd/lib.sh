# lib.sh - what the scripts of the command line share. Source it first.
#
# Each script works in a directory of its own on copies of the fixtures, with
# a home, a state folder and a clock of its own. `run ARG...` runs the program
# and keeps $status, $tmp/out and $tmp/err; the check functions say what was
# expected and what came, and count. Call `finish` last.

set -u
srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
builddir=$(cd "${builddir:-.}" && pwd) || exit 99
BOUGH=${BOUGH:-$builddir/bough}
get=$builddir/tests/cmd/json-get
scan=$builddir/tests/cmd/scan-safe
tmp=$(mktemp -d "${TMPDIR:-/tmp}/bough-cmd.XXXXXX") || exit 99
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT

HOME=$tmp/home
XDG_STATE_HOME=$tmp/home/state
XDG_DATA_HOME=$tmp/home/data
XDG_CONFIG_HOME=$tmp/home/config
BOUGH_NOW=1782640000000 # an hour after the fixtures
TZ=UTC
LC_ALL=C.UTF-8
export HOME XDG_STATE_HOME XDG_DATA_HOME XDG_CONFIG_HOME BOUGH_NOW TZ LC_ALL
unset BOUGH_SEED BOUGH_ROOT DSH_HOME NO_COLOR VISUAL EDITOR COLUMNS
mkdir "$HOME"

checks=0
failures=0
root=$tmp/root

# A fresh, writable copy of the fixtures, older than a minute, to work in.
fresh() {
	[ ! -d "$root" ] || chmod -R u+w "$root"
	rm -rf "$root"
	cp -R "$srcdir/tests/format/tree" "$root" || exit 99
	chmod -R u+w "$root"
	find "$root" -exec touch -d '2026-06-28 09:00:00 UTC' {} +
	cd "$root" || exit 99
}

run() {
	ran="bough $*"
	"$BOUGH" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
}

fail() {
	failures=$((failures + 1))
	printf 'FAIL %s: %s\n' "$ran" "$*"
}

# The exit status, and nothing on stderr for 0.
want() { # status
	checks=$((checks + 1))
	if [ "$status" -ne "$1" ]; then
		fail "exit status $status, expected $1"
		sed 's/^/    err: /' "$tmp/err"
	elif [ "$1" -ge 2 ] && [ ! -s "$tmp/err" ]; then
		fail "status $1 without a word on stderr"
	fi
}

want_out() { # the whole of stdout
	checks=$((checks + 1))
	printf '%s\n' "$1" >"$tmp/wanted"
	cmp -s "$tmp/wanted" "$tmp/out" && return
	fail "other output than expected"
	diff "$tmp/wanted" "$tmp/out" | sed 's/^/    /'
}

want_line() { # a regular expression that some line of stdout fits
	checks=$((checks + 1))
	grep -qE -e "$1" "$tmp/out" && return
	fail "no line fits /$1/ in"
	sed 's/^/    out: /' "$tmp/out"
}

no_line() {
	checks=$((checks + 1))
	grep -qE -e "$1" "$tmp/out" || return
	fail "a line fits /$1/"
	grep -nE -e "$1" "$tmp/out" | sed 's/^/    out: /'
}

want_err() {
	checks=$((checks + 1))
	grep -qE -e "$1" "$tmp/err" && return
	fail "stderr does not fit /$1/"
	sed 's/^/    err: /' "$tmp/err"
}

want_empty() { # out | err
	checks=$((checks + 1))
	[ -s "$tmp/$1" ] || return
	fail "std$1 is not empty"
	sed 's/^/    /' "$tmp/$1"
}

want_json() { # path value
	checks=$((checks + 1))
	got=$("$get" "$1" <"$tmp/out") || got="(none)"
	[ "$got" = "$2" ] && return
	fail "json $1 is '$got', expected '$2'"
}

want_same() { # file file
	checks=$((checks + 1))
	cmp -s "$1" "$2" && return
	fail "$1 and $2 differ"
	diff "$1" "$2" | sed 's/^/    /'
}

# Names, kinds, sizes, change times to the nanosecond, and contents of a folder.
snapshot() { # directory
	(cd "$1" && find . -printf '%p %y %s %T@ %m\n' | sort && find . -type f -exec cksum {} + | sort)
}

finish() {
	echo "${0##*/}: $checks checks, $failures failed"
	[ "$failures" -eq 0 ]
	exit
}
