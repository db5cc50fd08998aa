#!/bin/sh
# The longer runs of tests that have one (BOUGH_LONG=1), as many as fit into so many seconds, each of them
# whole. Which ones come first is chosen by the commit, so that a few commits see all of them. Run it from a
# build directory: sh ../tests/long.sh SECONDS PROGRAM...; without SECONDS ("") all are run.
set -u
limit=$1
shift
[ $# -gt 0 ] || exit 2
top=$(cd "$(dirname "$0")/.." && pwd)
seed=$(git -C "$top" rev-parse HEAD 2>/dev/null || echo 0)
turn=$(printf '%d' "0x$(printf '%s' "$seed" | cut -c1-6)" 2>/dev/null || echo 0)
turn=$((turn % $#))
while [ $turn -gt 0 ]; do # round the list
	first=$1
	shift
	set -- "$@" "$first"
	turn=$((turn - 1))
done
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
began=$(date +%s)
ran=0 failed=0 out=''
for program; do
	left=$((began + ${limit:-86400} - $(date +%s)))
	if [ "$left" -le 0 ]; then
		out="$out ${program##*/}"
		continue
	fi
	BOUGH_LONG=1 timeout "$left" "./$program" >"$log" 2>&1
	status=$?
	if [ $status -eq 124 ] && [ -n "$limit" ]; then
		out="$out ${program##*/}" # no time for all of it: it found nothing so far
	elif [ $status -eq 0 ] || [ $status -eq 77 ]; then
		ran=$((ran + 1))
		echo "long: ${program##*/}: $(grep -E 'cases|runs|inputs|flips' "$log" | tail -n 1)"
	else
		ran=$((ran + 1))
		failed=$((failed + 1))
		echo "long: ${program##*/} failed (status $status):"
		tail -n 40 "$log"
	fi
done
[ -z "$out" ] || echo "long: no time for$out"
echo "long: $ran run, $failed failed, $(($(date +%s) - began)) s"
[ $failed -eq 0 ]
