#!/bin/sh
# Conversations: what is said of a part that is broken, missing or can not be read.
. "${srcdir:-.}/tests/cmd/lib.sh"

id=3f6c0a10-77aa-4c1e-9d4e-0000000000aa
valid=8c1d2f60-4b7e-4f0a-8a55-5d1f3c9e7b01
root=$tmp/flow
conv=$root/_conversations/$id
second=transcript-20261005T090002.000000002Z-000002.sd
flow() { # NAME: a fresh copy of a conversation's root
	rm -rf "$root"
	cp -R "$srcdir/tests/format/flow/$1" "$root" && chmod -R u+w "$root" || exit 99
}

# Seals a file again behind a sed script.
seal() { # file, script
	sed -e "$2" -e '$d' "$1" >"$tmp/round"
	digest=$(sha256sum <"$tmp/round" | cut -d ' ' -f 1)
	tail -n 1 "$1" | sed "s/\"digest\":\"[0-9a-f]*\"/\"digest\":\"$digest\"/" >>"$tmp/round"
	cat "$tmp/round" >"$1"
}

# Changes round 2 of the clean conversation by a sed script.
change_round() {
	for file in "$conv"/rounds/r000002-*; do
		seal "$file" "$1"
	done
}

# ---- a session that leads out of its place: what lies there is not looked at
for session in else . .. a/b ../flow/else; do
	flow clean
	rm "$conv"/rounds/r000002-*
	mkdir -p "$root/$session/streams"
	mv "$root/$id/streams/main" "$root/$session/streams/"
	rm -r "${root:?}/$id"
	seal "$conv"/rounds/r000001-* "1s|\"session\":\"[^\"]*\"|\"session\":\"$session\"|"
	run verify "$conv"
	if [ "$session" = else ]; then
		want 0 # so it is the name that the others are refused for
	else
		want 1
		want_line ': round 1: sequence 1: missing-landed: '
		run log "$conv"
		want_line '^    missing: sequence 1$'
	fi
	rm -rf "$tmp/streams"
done

# ---- a round that reads and does not follow
for what in parser policy conversation; do
	flow clean
	change_round "1s/\"$what\":\"[^\"]*\"/\"$what\":\"else\"/"
	run show "$conv"
	want 0
	want_line "^verdict    round 1 verified; round 2 is not folded: its $what is \"else\", not \"[^\"]*\"$"
	want_line "^  r000002-af4ec5de5602.sf  line 1 .* fold-$what +round 2: its $what is"
	run verify "$conv"
	want 1
	want_line ": round 2: fold-$what: its $what is \"else\", .*; 1 round is not folded$"
	want_line "^$id: 2 rounds checked: 1 finding; not all of them are folded$"
	want_line "^1 session checked: 1 finding in 1; 1 with rounds that are not folded$"
	run verify --json "$conv"
	want 1
	want_json ok false
	want_json not_folded 1
	want_json findings.0.code "fold-$what"
	want_json findings.0.round 2
	run problems "$conv"
	want 1
done
flow clean
run show "$conv"
want_line '^verdict    verified$'
run verify --json "$conv"
want_json not_folded 0

# ---- nothing was checked
rm "$conv"/rounds/*
: >"$conv/rounds/r000001-111111111111.sf"
run show "$conv"
want 0
want_line '^rounds     0, and 1 reserved$'
want_line '^verdict    nothing to verify$'
run rounds "$conv"
want_out '     1  reserved: r000001-111111111111.sf'
rm -r "$conv/rounds"
run show "$conv"
want_line '^verdict    nothing to verify$'

# ---- landed files: problems says what show says, log says why there is no text
flow clean
landed=$root/$id/streams/main/$second
: >"$landed"
run problems "$conv"
want 1
want_line "^sd-header +sequence 2: $second has no header of sd/1$"
want_line '^r000002-af4ec5de5602.sf  input-digest +round 2, check 6: the landed files have'
want_line '^committed: 4717 bytes, 12 nodes\.$'
no_line offset
run problems --json "$conv"
want 1
want_json problems.0.kind sd-header
want_json problems.0.offset null
want_json problems.1.file r000002-af4ec5de5602.sf
run log "$conv"
want 0
want_line '^    missing: record 1 of sequence 2$'
rm "$landed"
run problems "$conv"
want 1
want_line '^r000002-af4ec5de5602.sf  missing-landed +round 2, check 5: sequence 2 is missing$'
run log "$conv"
want 0
want_line '^    missing: sequence 2$'
want_line '^    ask 1$'
run log --json "$conv"
want_json 1.label_missing 'missing: sequence 2'

# ---- words about the first round
flow clean
rm "$conv"/rounds/r000001-*
run verify "$conv"
want 1
want_line ': round 2: missing-round: it is round 2; no round before it could be read$'
want_line ': round 2: seq-gap: it begins at sequence 2; no round before it could be read$'
want_line ': round 1: fold-missing: it is missing; 1 round is not folded$'
run problems "$conv"
want 1
want_line '^fold-missing +round 1: round 1 is missing; 1 round is not folded$'
flow clean
rm "$conv"/rounds/r000002-*
for file in "$conv"/rounds/r000001-*; do
	sed '1s/"from_seq":1,/"from_seq":2,/' "$file" >"$tmp/round" && cat "$tmp/round" >"$file"
	sed '$d' "$file" >"$tmp/round"
	digest=$(sha256sum <"$tmp/round" | cut -d ' ' -f 1)
	sed -i "\$s/\"digest\":\"[0-9a-f]*\"/\"digest\":\"$digest\"/" "$file"
done
run verify "$conv"
want_line ': round 1: seq-gap: it begins at sequence 2; the first round begins at 1$'

# ---- lists for people leave nothing out
flow valid
conv=$root/_conversations/$valid
run relations "$conv"
want 0
want_line '^starts  tool/toolu_3 -> stream/agent01  exact_unique  via child sidecar  at 2:1 1:8$'
run unresolved "$conv"
want 0
want_line '^open  spawn_of_child  orphan9  no landed record names the call that started this stream$'
run list "$root"
want_line ' 68 steps '
: >"$conv/rounds/r000003-aaaaaaaaaaaa.sf"
: >"$conv/rounds/r000900-aaaaaaaaaaaa.sf"
run rounds "$conv"
want 0
want_line '^     3  reserved: r000003-aaaaaaaaaaaa.sf$'
want_line '^   900  reserved: r000900-aaaaaaaaaaaa.sf$'
checks=$((checks + 1))
[ "$(sed -n 3p "$tmp/out")" = '     3  reserved: r000003-aaaaaaaaaaaa.sf' ] || fail "not in its place"

# ---- what another user may not read
other=
program=$BOUGH
if [ "$(id -u)" -eq 0 ]; then
	program=$tmp/bough
	cp "$BOUGH" "$program"
	chmod 711 "$tmp"
	chmod 755 "$program"
	other='setpriv --reuid=65534 --clear-groups'
fi
# shellcheck disable=SC2086
if ! $other test -x "$program" 2>/dev/null; then
	echo "no other user to be: what cannot be read was not tried"
	finish
fi
as_other() {
	ran="bough $*, as another user"
	# shellcheck disable=SC2086
	HOME=$tmp/none XDG_STATE_HOME=$tmp/none $other "$program" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
}
flow valid
chmod -R a+rX "$root"
chmod 000 "$root/_conversations"
for command in show log cat problems rounds fold tree; do
	as_other -r "$root" "$command" "$valid"
	want 3
	want_err "no session \"$valid\" among 0 in 1 root"
	want_err "read $root/_conversations: Permission denied"
done
as_other show "$root"
want 3
want_err "read $root/_conversations: Permission denied"
chmod 755 "$root/_conversations"
as_other -r "$root" show nothing
want 1

third=$(echo "$conv"/rounds/r000003-*)
chmod 000 "$third"
for command in rounds fold log cards problems cat relations unresolved show tree verify; do
	as_other "$command" "$conv"
	want 3
done
as_other show --json "$conv"
want 3
as_other fold "$conv" --round 3
want 3
as_other problems "$conv"
want_line "^${third##*/}  unreadable +round 3: open $third: Permission denied; "
chmod 644 "$third"

landed=$(echo "$root/$valid"/streams/main/*-000001.sd)
chmod 000 "$landed"
as_other log "$conv"
want 3
want_line "^    cannot read: open $landed: Permission denied$"
as_other fold "$conv"
want 3
want_line "talk  cannot read: open $landed: Permission denied$"
as_other problems "$conv"
want 3
want_line "^sd-unreadable +sequence 1: open $landed: Permission denied$"
as_other show "$conv" talk/main/cycle1
want 3
want_line "^unread     cannot read: open $landed: Permission denied$"
chmod 644 "$landed"

body=$(echo "$root/$valid"/provider_body/*-000014.sd)
chmod 000 "$body"
as_other show --json "$conv" call/msg_7
want_json bodies.request.why "cannot read: open $body: Permission denied"

finish
