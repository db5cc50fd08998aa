#!/bin/sh
# Every key of the table is pressed once on the list, on the tree of a session, on
# a conversation and on two of its screens: the program goes on after each of them
# and still draws. What each key does is the scripted tests' business; this finds
# the key that none tries.
set -u
LC_ALL=C.UTF-8
TZ=UTC
export LC_ALL TZ

top=$(cd "${srcdir:-.}" && pwd) || exit 99
bough=${BOUGH:-./bough}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/bough-keys.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

HOME=$tmp/home
XDG_STATE_HOME=$HOME/state
XDG_CONFIG_HOME=$HOME/config
EDITOR=true
TERM=xterm-256color
BOUGH_NOW=1796040000000
BOUGH_SEED=1
BOUGH_HEADLESS=80x24
export HOME XDG_STATE_HOME XDG_CONFIG_HOME EDITOR TERM BOUGH_NOW BOUGH_SEED BOUGH_HEADLESS
mkdir -p "$HOME"
unset VISUAL BOUGH_ROOT DSH_HOME BOUGH_COPY

failed=0
pressed=0

# The bindings: "name": "g g, <Home>", one a line; "" binds nothing.
"$bough" --dump-defaults keys | sed -n 's/^ *"[a-z-]*": "\(..*\)",\{0,1\}$/\1/p' |
	sed 's/, /\n/g' | sort -u >"$tmp/keys"
[ "$(wc -l <"$tmp/keys")" -ge 60 ] || { echo "FAIL only $(wc -l <"$tmp/keys") keys in the table"; exit 1; }

cp -r "$top/tests/format/flow/valid" "$tmp/flow"
chmod -R u+w "$tmp/flow"

try() { # what to open, key, what leads to the screen
	rm -rf "$tmp/talks" "$tmp/out"
	cp -r "$top/tests/tui/roots/talks" "$tmp/talks"
	chmod -R u+w "$tmp/talks"
	mkdir "$tmp/out"
	printf '%s\n%s\n<Esc>\n:save-screen after.screen\n' "${3:-}" "$2" >"$tmp/script"
	BOUGH_SCRIPT=$tmp/script BOUGH_SCRIPT_OUT=$tmp/out timeout 60 "$bough" "$1" \
		</dev/null >"$tmp/stdout" 2>"$tmp/stderr"
	status=$?
	pressed=$((pressed + 1))
	if [ "$status" -ne 0 ] || [ -s "$tmp/stderr" ]; then
		echo "FAIL key $2 on $1: status $status"
		cat "$tmp/stderr"
		failed=$((failed + 1))
	fi
	case $2 in
	q | Q | h) return ;; # they may end the program before the screen is saved
	esac
	[ -s "$tmp/out/after.screen" ] || {
		echo "FAIL key $2 on $1: no screen behind it"
		failed=$((failed + 1))
	}
}

while read -r key; do
	try "$tmp/talks" "$key"
	try "$tmp/talks/ways.jsonl" "$key"
	for screen in '' 'g l' 'g c'; do
		try "$tmp/flow/_conversations/8c1d2f60-4b7e-4f0a-8a55-5d1f3c9e7b01" "$key" "$screen"
	done
done <"$tmp/keys"
echo "keys: $(wc -l <"$tmp/keys") keys, $pressed times pressed, $failed failed"
[ "$failed" -eq 0 ]
