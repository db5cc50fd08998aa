#!/bin/sh
# Standard output is full: a command that wrote says that it did, with the ids.
. "${srcdir:-.}/tests/cmd/lib.sh"
if [ ! -c /dev/full ]; then
	echo "/dev/full is missing"
	exit 77
fi

full() { # stdout goes where nothing fits
	ran="bough $* >/dev/full"
	"$BOUGH" "$@" >/dev/full 2>"$tmp/err" </dev/null
	status=$?
	: >"$tmp/out"
	want 3
}
said() { # a regular expression that a line of stderr fits
	checks=$((checks + 1))
	grep -qE -e "$1" "$tmp/err" && return
	fail "no line fits /$1/ in"
	sed 's/^/    err: /' "$tmp/err"
}
made() {
	said '^bough: this WAS done: .*; only standard output failed: '
}

for json in '' --json; do
	fresh
	# shellcheck disable=SC2086 # none, or one word
	full fork linear.jsonl tip -m more $json
	made
	id=$(tail -n 1 linear.jsonl | sed 's/.*"id":"\([^"]*\)".*/\1/')
	said "the entry is $id;"
	# shellcheck disable=SC2086
	full fork linear.jsonl tip --new $json
	made
	new=$(sed -n 's/.*the session is \([^;]*\);.*/\1/p' "$tmp/err")
	checks=$((checks + 1))
	[ -f "$new.jsonl" ] || fail "there is no session $new"
	# shellcheck disable=SC2086
	full checkout branches.jsonl b222 $json
	made
	# shellcheck disable=SC2086
	full label branches.jsonl b222 name $json
	made
	# shellcheck disable=SC2086
	full rename linear.jsonl 'a title' $json
	made
	# shellcheck disable=SC2086
	full repair torn-tail.jsonl $json
	made
	# shellcheck disable=SC2086
	full trash linear.jsonl $json
	made
	checks=$((checks + 1))
	[ ! -e linear.jsonl ] || fail "nothing is in the trash"
done

# Nothing was done, so nothing says it was.
full fork branches.jsonl tip -m more --dry-run
checks=$((checks + 1))
! grep -q 'WAS done' "$tmp/err" || fail "a dry run claims that it wrote"
full list .
checks=$((checks + 1))
! grep -q 'WAS done' "$tmp/err" || fail "a list claims that it wrote"

# And of a log of events.
mkdir -p "$tmp/dsh"
cp -R "$srcdir/data/demo/dsh/." "$tmp/dsh/"
chmod -R u+w "$tmp/dsh"
find "$tmp/dsh" -exec touch -d '2026-06-28 09:00:00 UTC' {} +
log=$(find "$tmp/dsh" -name 'session.jsonl.zstd' | sort | head -n 1)
full convert "$log" --compression none --force
made
full convert "$tmp/dsh" --compression none
made
finish
