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
want 3
want_line ": sequence 2: cannot read: .*000002.sd is a folder$"
want_line ": round 2: sequence 2: cannot read: its input digest can not be checked$"
want_line "^$id: 2 rounds checked: no finding, but not all of it could be read$"
want_line "^1 session checked: 0 findings in 0, 1 could not be read$"
no_line missing
run verify --json "$root"
want 3
want_json ok false
want_json findings.0.code sd-unreadable
want_json findings.0.unreadable true
want_json unreadable 1
rm -r "$root/$id/streams"
: >"$root/$id/streams"
run verify "$root"
want 3
want_line ": cannot read: read .*/streams: Not a directory$"
want_line ": round 1: cannot read: 1 of its sequences can not be looked for: read .*streams: Not a directory$"
no_line missing
if [ "$(id -u)" -ne 0 ]; then
	flow clean
	chmod 000 "$root/$id/streams/main"
	run verify "$root"
	want 3
	want_line ": cannot read: read .*/streams/main: Permission denied$"
	no_line missing
	chmod 700 "$root/$id/streams/main"
	chmod 000 "$conv/rounds"
	run verify "$root"
	want 3
	want_line ": cannot read: read .*/rounds: Permission denied$"
	run -r "$root" show "$id"
	want 3
	want_err "read .*/rounds: Permission denied"
	chmod 700 "$conv/rounds"
	chmod 600 "$root" # its names can be read, what they lead to can not
	run list "$root"
	want 3
	want_err "Permission denied"
	chmod 700 "$root"
fi

# ---- a folder of rounds that can not be listed
flow clean
mv "$conv/rounds" "$conv/aside"
: >"$conv/rounds"
run list "$root"
want_line "cannot read: read .*/rounds: Not a directory"
run verify "$root"
want 3
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
want 3
want_line ": cannot read: rounds/r000003-000000000000.sf: a fifo$"
run problems "$conv"
want 3
want_line "^odd-round +rounds/r000003-000000000000.sf: a fifo, so it is no round"
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
want 0
no_line odd-round

# ---- show, tree and branches speak of rounds and nodes, not of branches and a tip
flow valid
valid=8c1d2f60-4b7e-4f0a-8a55-5d1f3c9e7b01
run -r "$root" show "$valid"
want 0
want_out "id         $valid
title      Retry budget of the parcel tracker (2)
format     flow
path       $root/_conversations/$valid
rounds     8
newest     round 8, sequence 19, digest 50da4f0b25d1a4cdff1dd8e7182f462d3be03ef5e2a7084a82518b1afc45e787
parser     v1
policy     v1+idle=10m0s
landed     $valid
time       2026-10-05 08:00:00 to 2026-10-05 08:00:30
state      conversation.state agrees
nodes      109
relations  17
unresolved 7, 3 open
cards      1
verdict    verified
problems   none"
run -r "$root" show "$valid" call/msg_7
want 0
want_line "^kind       llm.call$"
want_line "^revision   round 4$"
want_line "^place      sequence 13, record 6$"
want_line "^relation   retries -> call/msg_syn  strong_inference$"
want_line "^tokens     in 12, out 34, cache_read 560, cache_write 78$"
run -r "$root" branches "$valid"
want 2
want_empty out
want_err "a conversation has rounds and no branches; .bough rounds $valid. lists them"
run -r "$root" tree b7a0
want 0
want_line 'Shell +.."command":"true".$'
no_line '@|tip'
run -r "$root" show "$valid" tip
want 1
want_err "the session has no tip"

# ---- rounds behind a break
broken=$root/_conversations/$valid/rounds
for file in "$broken"/r000004-*; do
	sed 's/"revision"/"revision" /' "$file" >"$tmp/round" && cat "$tmp/round" >"$file"
done
run -r "$root" fold "$valid" --round 3 --outline
want 1
want_err "round 4: digest-mismatch: .*; 5 of its rounds not folded"
want_line "^0 session/$valid$"
for round in 4 5 9; do
	run -r "$root" fold "$valid" --round "$round" --outline
	want 1
	want_empty out
	want_err "there is no fold as of round $round: rounds from 4 on are not folded; round 4: digest-mismatch: "
done
run -r "$root" fold "$valid" --round 0
want 2
run -r "$root" show "$valid"
want 0
want_line "^rounds     8, of which 3 could be folded$"
want_line "^newest     round 3, "
want_line "^verdict    mismatch; .bough verify. says what fails$"
want_line "digest-mismatch"
flow clean
run fold "$conv" --round 3
want 2
want_err "'3' is no number from 1 to 2"

# ---- a place in a round is one number wherever it is said
flow valid
conv=$root/_conversations/8c1d2f60-4b7e-4f0a-8a55-5d1f3c9e7b01
sed -i '3s/"revision":[0-9]*/"revision":99/' "$conv"/rounds/r000002-*.sf
run verify "$conv"
want 1
want_line 'round 2: revision: line 3, offset 1267: revision 99 in round 2$'
run problems "$conv"
want 1
want_line '^r000002-[0-9a-f]{12}.sf  line 3 +offset 1267 +revision '
run problems --json "$conv"
want_json problems.0.offset 1267

finish
