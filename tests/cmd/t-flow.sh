#!/bin/sh
# Conversations: what can not be read is said, and is no damage.
. "${srcdir:-.}/tests/cmd/lib.sh"

id=3f6c0a10-77aa-4c1e-9d4e-0000000000aa
root=$tmp/flow
conv=$root/_conversations/$id
flow() { # NAME: a fresh copy of a conversation's root
	rm -rf "$root"
	cp -R "$srcdir/tests/format/flow/$1" "$root" && chmod -R u+w "$root" || exit 99
}

# ---- verify: a landed file that is something else, a folder that is none
flow clean
run verify "$root"
want 0
want_line "^$id: 2 rounds checked: nothing found$"
landed=$root/$id/streams/main/transcript-20261005T090002.000000002Z-000002.sd
rm "$landed"
run verify "$root"
want 1
want_line ": round 2: sequence 2: missing-landed: sequence 2 is missing$"
mkdir "$landed"
run verify "$root"
want_status_3_quiet() { # the reason stands in the list, as for a session that can not be read
	checks=$((checks + 1))
	[ "$status" -eq 3 ] || fail "exit status $status, expected 3"
}
want_status_3_quiet
want_line ": sequence 2: cannot read: .*000002.sd is a folder$"
want_line ": round 2: sequence 2: cannot read: its input digest can not be checked$"
want_line "^$id: 2 rounds checked: no finding, but not all of it could be read$"
want_line "^1 session checked: 0 findings in 0, 1 could not be read$"
no_line missing
run verify --json "$root"
want_status_3_quiet
want_json ok false
want_json findings.0.code sd-unreadable
want_json findings.0.unreadable true
want_json unreadable 1
rm -r "$root/$id/streams"
: >"$root/$id/streams"
run verify "$root"
want_status_3_quiet
want_line ": cannot read: read .*/streams: Not a directory$"
want_line ": round 1: cannot read: 1 of its sequences can not be looked for: read .*streams: Not a directory$"
no_line missing
if [ "$(id -u)" -ne 0 ]; then
	flow clean
	chmod 000 "$root/$id/streams/main"
	run verify "$root"
	want_status_3_quiet
	want_line ": cannot read: read .*/streams/main: Permission denied$"
	no_line missing
	chmod 700 "$root/$id/streams/main"
fi

# ---- a folder of rounds that can not be listed
flow clean
mv "$conv/rounds" "$conv/aside"
: >"$conv/rounds"
run list "$root"
want_line "cannot read: read .*/rounds: Not a directory"
run verify "$root"
want_status_3_quiet
want_line ": cannot read: read .*/rounds: Not a directory$"
run show "$conv"
want 3
want_err "read .*/rounds: Not a directory"
run -r "$root" show "$id"
want 3
want_err "read .*/rounds: Not a directory"

# ---- what has a round's name and is no file
flow clean
mkfifo "$conv/rounds/r000003-000000000000.sf"
run verify "$root"
want_status_3_quiet
want_line ": cannot read: rounds/r000003-000000000000.sf: a fifo$"
run problems "$conv"
want 1
want_line "odd-round.*rounds/r000003-000000000000.sf: a fifo, so it is no round"
run show "$conv"
want_line "odd-round.*a fifo, so it is no round"
run list --json "$root"
want_json 0.problems.0.code odd-round
rm "$conv/rounds/r000003-000000000000.sf"
mkdir "$conv/rounds/r000003-000000000000.sf"
run verify "$root"
want 0
want_line ": passed over: rounds/r000003-000000000000.sf: a folder$"
run problems "$conv"
want 1
want_line "odd-round.*a folder, so it is no round"

finish
