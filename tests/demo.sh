#!/bin/sh
# The demo sessions are what their scripts make.
set -u
top=${srcdir:-.}
if ! command -v python3 >/dev/null 2>&1; then
	echo "python3 is missing (package python3)"
	exit 77
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/demo.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
python3 -B "$top/tools/demo/make-demo.py" "$tmp/tree" || exit 1
if ! diff -r "$top/data/demo/tree" "$tmp/tree"; then
	echo "data/demo is not what tools/demo/make-demo.py writes"
	exit 1
fi

# Conversations: the same, and only the chain that is meant to be broken is.
python3 -B "$top/tools/demo/make-flow.py" "$tmp/flow" || exit 1
if ! diff -r "$top/data/demo/flow" "$tmp/flow"; then
	echo "data/demo/flow is not what tools/demo/make-flow.py writes"
	exit 1
fi
# Logs of dsh: the same, and nothing is wrong with them.
python3 -B "$top/tools/demo/make-dsh.py" "$tmp/dsh" || exit 1
if ! diff -r "$top/data/demo/dsh" "$tmp/dsh"; then
	echo "data/demo/dsh is not what tools/demo/make-dsh.py writes"
	exit 1
fi
bough=${BOUGH:-./bough}
if ! "$bough" verify "$tmp/dsh" >"$tmp/said"; then
	cat "$tmp/said"
	echo "the logs of the demo have findings"
	exit 1
fi
if ! "$bough" verify "$tmp/flow/_conversations/letters-twice" >"$tmp/said"; then
	cat "$tmp/said"
	echo "the conversation of the demo has findings"
	exit 1
fi
"$bough" verify "$tmp/flow/_conversations/greenhouse-log" >"$tmp/said"
if test $? -ne 1 || ! grep -q 'round 3: digest-mismatch' "$tmp/said"; then
	cat "$tmp/said"
	echo "the broken chain of the demo is not found to be broken"
	exit 1
fi

# All roots at once in the browser, as `bootstrap run` opens them, and as its list.
cat >"$tmp/script" <<'KEYS'
:save-screen list
Q
KEYS
mkdir "$tmp/out" "$tmp/home"
HOME=$tmp/home BOUGH_NOW=1796040000000 TERM=xterm BOUGH_SCRIPT=$tmp/script BOUGH_SCRIPT_OUT=$tmp/out \
	BOUGH_HEADLESS=100x40 "$bough" "$tmp/tree" "$tmp/dsh" "$tmp/flow" </dev/null >"$tmp/said" 2>&1
status=$?
for title in 'Why does the router stall' 'Turn the pier lamp' 'Which plants were watered'; do
	if test $status -ne 0 || ! grep -q "$title" "$tmp/out/list"; then
		cat "$tmp/said" "$tmp/out/list"
		echo "the browser does not show all roots of the demo (status $status)"
		exit 1
	fi
done
