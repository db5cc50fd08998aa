#!/bin/sh
# Headers and status lines of every screen, at every width from 1 to 120. What a
# field says is taken from the widest screen: at every other width each field must
# be one of those, what stands before its ':', a short form that is listed here, or the
# beginning of one with '~' behind it; so two fields never touch and none lies on another.
set -u
LC_ALL=C.UTF-8
TZ=UTC
export LC_ALL TZ

top=$(cd "${srcdir:-.}" && pwd) || exit 99
bough=${BOUGH:-./bough}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/bough-widths.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

HOME=$tmp/home
XDG_STATE_HOME=$HOME/state
XDG_CONFIG_HOME=$HOME/config
TERM=xterm-256color
BOUGH_NOW=1796040000000
BOUGH_SEED=1
BOUGH_HEADLESS=300x24
export HOME XDG_STATE_HOME XDG_CONFIG_HOME TERM BOUGH_NOW BOUGH_SEED BOUGH_HEADLESS
mkdir -p "$HOME"
unset VISUAL BOUGH_ROOT DSH_HOME BOUGH_COPY

cp -r "$top/tests/format/flow/valid" "$tmp/flow"
cp -r "$top/tests/tui/roots/talks" "$tmp/talks"
cp -r "$top/data/demo/dsh" "$tmp/dsh"
chmod -R u+w "$tmp/flow" "$tmp/talks" "$tmp/dsh"
find "$tmp/talks" "$tmp/flow" "$tmp/dsh" -exec touch -d '2026-11-30 08:00:00' {} +
conversation=$tmp/flow/_conversations/8c1d2f60-4b7e-4f0a-8a55-5d1f3c9e7b01
dsh=$(find "$tmp/dsh" -name 'session*.jsonl*' | sort | head -n 1)

failed=0
screens=0

try() { # name, what to open, keys that lead to the screen
	rm -rf "$tmp/out"
	mkdir "$tmp/out"
	{
		printf '%s\n' "$3" | tr ';' '\n'
		printf ':resize 300x24\n:save-screen 300\n' # a command: what was said before is gone
		for width in $(seq 1 120); do
			printf ':resize %dx24\n:save-screen %d\n' "$width" "$width"
		done
	} >"$tmp/script"
	BOUGH_SCRIPT=$tmp/script BOUGH_SCRIPT_OUT=$tmp/out timeout 60 "$bough" "$2" \
		</dev/null >"$tmp/stdout" 2>"$tmp/stderr" || {
		echo "FAIL $1: the program failed"
		cat "$tmp/stderr"
		failed=$((failed + 1))
		return
	}
	(cd "$tmp/out" && awk -v where="$1" -v short="$4" -f "$tmp/check.awk" 300 $(seq 1 120)) ||
		failed=$((failed + 1))
	screens=$((screens + 1))
}

cat >"$tmp/check.awk" <<'END'
BEGIN {
	n = split(short, list, ";")
	for (i = 1; i <= n; i++)
		known[1, list[i]] = 1
}
FNR != 1 && FNR != 24 { next }
{
	sub(/^ +/, "")
	gsub(/[0-9]+\/[0-9]+/, "N/M") # where the cursor is: help has other rows at each width
	n = split($0, field, /  +/)
	if (FILENAME == "300" && $0 == "") {
		printf "FAIL %s: line %d has no fields\n", where, FNR
		bad = 1
	}
	for (i = 1; i <= n; i++) {
		if (FILENAME == "300") {
			known[FNR, field[i]] = 1
			continue
		}
		good = field[i] == "" || (FNR, field[i]) in known
		last = length(field[i])
		cut = substr(field[i], 1, last - 1)
		for (k in known)
			if (substr(field[i], last) == "~" && index(k, FNR SUBSEP cut) == 1 ||
			    index(k, FNR SUBSEP field[i] ":") == 1)
				good = 1
		if (!good) {
			printf "FAIL %s, line %d at %s columns: \"%s\"\n", where, FNR, FILENAME, field[i]
			bad = 1
		}
	}
}
END { exit bad }
END

try sessions "$tmp/talks" '' ''
try filtered "$tmp/talks" ':filter e' ''
try dsh-list "$tmp/dsh" '' ''
try session "$tmp/talks/ways.jsonl" '' ''
try checked-out "$tmp/talks/ways.jsonl" 'g g;c' ''
try dsh "$dsh" '' ''
try pane "$tmp/talks/ways.jsonl" '<Tab>' ''
try branches "$tmp/talks/ways.jsonl" 'g b' ''
try reflog "$tmp/talks/ways.jsonl" 'g h' ''
try problems "$tmp/talks/odd.jsonl" 'g p' ''
try help "$tmp/talks/ways.jsonl" '?' ''
try conversation "$conversation" '' 'N/M'
try talk-only "$conversation" '<;&' 'N/M'
try rounds "$conversation" 'g r' ''
try relations "$conversation" 'g l' ''
try unresolved "$conversation" 'g u' ''
try cards "$conversation" 'g c' ''
echo "widths: $screens screens, $failed failed"
[ "$failed" -eq 0 ]
