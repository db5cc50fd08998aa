#!/bin/sh
# Scripted screens: runs every *.test below this folder without a terminal and
# compares what it saved with the golden files beside the test.
#
# The first lines of a test are settings, then the script follows (ui/script.h):
#   # size: 80x24          of the screen at the start
#   # root: talks          a folder of roots/, else of the demo, copied; the program gets its name
#                          with a slash in it: a folder of tests/format instead
#   # open: ways.jsonl     open this file of the root instead
#   # do: COMMAND          run in the copied root before the program starts; may come
#                          several times
#   # args: --ascii        options
#   # env: NAME=VALUE      may come several times; no blanks in the value
#   # status: 2            expected exit status
# ":save-screen NAME.screen" is compared with TEST.NAME.screen, ":save-attrs
# NAME.attrs" with TEST.NAME.attrs. BOUGH_GOLDEN=write makes the golden files anew (look at
# the difference before you commit it); BOUGH_TEST_FILTER=session/* picks tests.
set -u
LC_ALL=C.UTF-8
TZ=UTC
export LC_ALL TZ

here=${srcdir:-.}/tests/tui
here=$(cd "$here" && pwd) || exit 99
bough=${BOUGH:-./bough}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/bough-tui.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

failed=0
ran=0
screens=0

complain() {
	echo "FAIL $name: $*"
	failed=$((failed + 1))
}

setting() { # key: the last value
	sed -n '/^#/!q; s/^# '"$1"': //p' "$test" | tail -n 1
}

run_one() {
	name=${test#"$here"/}
	name=${name%.test}
	root=$(setting root)
	open=$(setting open)
	rm -rf "$tmp/run" "$tmp/out"
	mkdir -p "$tmp/run/home" "$tmp/run/tmp" "$tmp/out"
	case $root in
	*/*) from=$here/../format/$root root=${root##*/} ;;
	*)	from=$here/roots/$root
		[ -d "$from" ] || from=$here/../../data/demo/$root ;;
	esac
	cp -R "$from" "$tmp/run/$root"
	chmod -R u+w "$tmp/run/$root"
	sed -n '/^#/!q; s/^# do: //p' "$test" >"$tmp/do"
	(cd "$tmp/run/$root" && sh -eu "$tmp/do") || complain "the commands before the start failed"
	find "$tmp/run/$root" -exec touch -d '2026-11-30 08:00:00' {} +
	cp "$here/editor.sh" "$tmp/run/editor.sh"
	chmod +x "$tmp/run/editor.sh"
	want=$(setting status)
	(
		cd "$tmp/run" || exit 99
		unset NO_COLOR VISUAL XDG_DATA_HOME BOUGH_ROOT DSH_HOME BOUGH_COPY LINES COLUMNS
		HOME=$tmp/run/home
		XDG_CONFIG_HOME=$HOME/config
		XDG_STATE_HOME=$HOME/state
		TMPDIR=$tmp/run/tmp
		EDITOR=$tmp/run/editor.sh
		TERM=xterm-256color
		BOUGH_NOW=1796040000000 # 2026-11-30 12:00:00
		BOUGH_SEED=1
		BOUGH_SCRIPT=$test
		BOUGH_SCRIPT_OUT=$tmp/out
		BOUGH_HEADLESS=$(setting size)
		export HOME XDG_CONFIG_HOME XDG_STATE_HOME TMPDIR EDITOR TERM BOUGH_NOW BOUGH_SEED
		export BOUGH_SCRIPT BOUGH_SCRIPT_OUT BOUGH_HEADLESS
		for pair in $(sed -n '/^#/!q; s/^# env: //p' "$test"); do
			export "${pair?}"
		done
		# shellcheck disable=SC2046
		timeout 60 "$bough" $(setting args) "$root${open:+/$open}" \
			</dev/null >"$tmp/stdout" 2>"$tmp/stderr"
	)
	status=$?
	ran=$((ran + 1))
	if [ "$status" -ne "${want:-0}" ]; then
		complain "status $status instead of ${want:-0}"
		sed 's/^/    /' "$tmp/stderr"
	fi
	[ -z "$(ls "$tmp/run/tmp")" ] || complain "left behind: $(ls "$tmp/run/tmp")"
	compare
}

compare() {
	base=${test%.test}
	for got in "$tmp"/out/*; do
		[ -f "$got" ] || continue
		screens=$((screens + 1))
		golden=$base.${got##*/}
		if [ "${BOUGH_GOLDEN:-}" = write ]; then
			cmp -s "$got" "$golden" || { cp "$got" "$golden" && echo "wrote $golden"; }
		elif [ ! -f "$golden" ]; then
			complain "no golden file ${golden##*/}"
		elif ! cmp -s "$golden" "$got"; then
			complain "${got##*/} differs (< golden, > now)"
			diff "$golden" "$got" | sed 's/^/    /'
		fi
	done
	for golden in "$base".*.screen "$base".*.attrs; do
		[ -f "$golden" ] || continue
		[ -f "$tmp/out/${golden#"$base".}" ] || complain "${golden##*/} was not made"
	done
}

for test in "$here"/*/*.test; do
	case ${test#"$here"/} in
	${BOUGH_TEST_FILTER:-*}) run_one ;;
	esac
done
echo "tui: $ran tests, $screens screens compared, $failed failed"
[ "$failed" -eq 0 ] && [ "$ran" -gt 0 ]
