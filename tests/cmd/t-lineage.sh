#!/bin/sh
# verify: sessions of a dsh root against those they came from.
. "${srcdir:-.}/tests/cmd/lib.sh"

header() { # id parent seed
	printf '{"type":"session","version":0,"id":"%s","createdAt":1,"cwd":"/p"%s%s,"delegationDepth":%s}\n' \
		"$1" "${2:+,\"parentSession\":\"$2\"}" "${3:+,\"seedLength\":$3}" "${4:-0}"
}
event() { # seq turn
	printf '{"type":"turn/start","seq":%s,"time":%s,"data":{"turn":%s}}\n' "$1" "$1" "$2"
	printf '{"type":"turn/end","seq":%s,"time":%s,"data":{"turn":%s,"reason":{"kind":"completed"}}}\n' \
		$(($1 + 1)) "$1" "$2"
}
put() { # id, the text from stdin
	mkdir -p "$tmp/logs/${project:---p--}/$1"
	cat >"$tmp/logs/${project:---p--}/$1/session.jsonl"
}
finds() { # id, text
	run verify "$tmp/logs/--p--/$1"
	want 1
	want_line "lineage: $2"
}

{ header parent; event 0 1; event 2 2; } | put parent
{ header child parent 2; event 0 1; } | put child
run verify "$tmp/logs"
want 0
want_line "2 sessions checked: nothing found"

# a flat log lies one level higher, in the same root
mv "$tmp/logs/--p--/child/session.jsonl" "$tmp/logs/--p--/child.jsonl"
run verify "$tmp/logs"
want 1
want_line flat-layout
no_line lineage
mkdir -p "$tmp/logs/--p--/child"
mv "$tmp/logs/--p--/child.jsonl" "$tmp/logs/--p--/child/session.jsonl"

{ header orphan gone 2; event 0 1; } | put orphan
finds orphan "its parent gone is not in the root"
{ header beyond parent 6; event 0 1; event 2 2; event 4 3; } | put beyond
finds beyond "its fork point lies beyond parent, which has 4 events"
{ header short parent 4; event 0 1; } | put short
finds short "it is to have inherited 4 events and has 2"
{ header other parent 4; event 0 1; event 2 7; } | put other
finds other "what it inherited is not what parent says, from event 2 on"
{ header ring-a ring-b; event 0 1; } | put ring-a
{ header ring-b ring-c; event 0 1; } | put ring-b
{ header ring-c ring-a; event 0 1; } | put ring-c
finds ring-b "it descends from itself, by way of ring-c"
{ header self self; event 0 1; } | put self
finds self "it descends from itself, by way of self"
{ printf '{"type":"session","version":0,"id":"agent","createdAt":1,"cwd":"/p","parentSession":"parent",'
	printf '"origin":"subagent","delegationDepth":3}\n'
	event 0 1; } | put agent
finds agent "a subagent of parent at delegation depth 3"
{ header child; event 0 1; } | project=--q-- put child
run verify "$tmp/logs/--p--/child"
want 1
want_line "duplicate-id: 2 sessions of the root have this id"
run list "$tmp/logs"
want 0
checks=$((checks + 1))
[ "$(grep -c '^ *child .* same id ' "$tmp/out")" -eq 2 ] || fail "not two rows with the same id"
checks=$((checks + 1))
[ "$(grep -c 'same id' "$tmp/out")" -eq 2 ] || fail "others are said to have the same id"
run list --json "$tmp/logs"
want 0
checks=$((checks + 1))
[ "$(grep -c '"kind": "duplicate-id"' "$tmp/out")" -eq 2 ] || fail "not two problems of the same id"
run -r "$tmp/logs" show child
want 2
want_err '"child" is the id of 2 sessions'

# ---- null is no parent
nulls=$tmp/nulls/--p--/nulls
mkdir -p "$nulls"
printf '{"type":"session","version":0,"id":"nulls","createdAt":1,"cwd":"/p","parentSession":null}\n' \
	>"$nulls/session.jsonl"
run list "$tmp/nulls"
want 0
want_line '^  nulls .* damaged +nulls$'
run show --json "$nulls"
want_json meta.parentSessionId '(none)'

# ---- the column of states is as wide as the longest
cp -R "$srcdir/tests/format/dsh/torn-raw/store" "$tmp/torn" || exit 99
find "$tmp/torn" -exec touch -d '2026-06-28 09:00:00 UTC' {} +
run list "$tmp/torn"
want 0
want_line '^  r-nonl .*  torn 96 B open turn  x$'
want_line '^  r-badtail .*  torn 80 B            x$'

# ---- many folders are looked into side by side: every log is a row, and so is what is no log
many=$tmp/many
for i in $(seq 100 399); do
	mkdir -p "$many/--p--/m$i"
	header "m$i" >"$many/--p--/m$i/session.jsonl"
done
mkfifo "$many/--p--/m100/session.jsonl.zstd"
mkdir "$many/--p--/m101/session.v3.jsonl" "$many/--p--/empty"
run list --headers "$many"
want 0
seq 100 399 | sed 's/^/m/' >"$tmp/ids"
checks=$((checks + 1))
grep -o '^ *m[0-9]*' "$tmp/out" | tr -d ' ' | sort | uniq -u >"$tmp/once"
grep -v m100 "$tmp/ids" | cmp -s - "$tmp/once" || fail "not one row for each log"
checks=$((checks + 1))
[ "$(grep -c 'm10[01].*cannot read: not a regular file' "$tmp/out")" -eq 2 ] ||
	fail "a fifo or a folder in a log's place is no row with the reason"
run list "$many"
want 0
checks=$((checks + 1))
[ "$(grep -c '^ *m[0-9][0-9][0-9] ' "$tmp/out")" -eq 301 ] || fail "not 301 rows"

# ---- a folder that cannot be read is a row with the reason; to root every folder opens
locked=$tmp/locked
mkdir -p "$locked/--open--/here" "$locked/--shut--/there" "$locked/--open--/shut"
header here >"$locked/--open--/here/session.jsonl"
header there >"$locked/--shut--/there/session.jsonl"
header shut >"$locked/--open--/shut/session.jsonl"
chmod 000 "$locked/--shut--" "$locked/--open--/shut"
other=
program=$BOUGH
if [ "$(id -u)" = 0 ]; then
	program=$tmp/bough
	cp "$BOUGH" "$program"
	chmod 711 "$tmp"
	chmod 755 "$program"
	chmod -R go+rX "$locked/--open--/here"
	chmod go+rx "$locked" "$locked/--open--"
	chown -R 65534 "$locked"
	other='setpriv --reuid=65534 --clear-groups'
fi
if $other true 2>/dev/null; then
	for command in list verify; do
		ran="bough $command, folders that cannot be read"
		# shellcheck disable=SC2086
		$other "$program" $command "$locked" >"$tmp/out" 2>"$tmp/err"
		status=$?
		if [ $command = list ]; then want 0; else want 3; fi
		checks=$((checks + 1))
		[ "$(grep -c 'cannot read: Permission denied' "$tmp/out")" -eq 2 ] || fail "not two rows with the reason"
	done
	want_line '^3 sessions checked: .* 2 could not be read$'
else
	echo "no other user to be: folders that cannot be read were not tried"
fi
chmod -R u+rwx "$locked"
finish
