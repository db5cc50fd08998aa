#!/bin/sh
# Temporary files of killed writers: told as problems, as remarks of verify,
# and removed by a repair; nothing else goes, whatever it is called.
. "${srcdir:-.}/tests/cmd/lib.sh"

old='2026-06-28 09:00:00 UTC'
left() { # names...
	for name; do
		printf 'half' >"$name"
		touch -d "$old" "$name"
	done
}
there() { # names...
	for name; do
		checks=$((checks + 1))
		[ -e "$name" ] || [ -L "$name" ] || fail "$name is gone"
	done
}
gone() { # names...
	for name; do
		checks=$((checks + 1))
		[ ! -e "$name" ] || fail "$name is still there"
	done
}

fresh
ours='.linear.jsonl.0123456789ab.tmp .linear.meta.json.00ff00ff00ff.tmp
	.linear.reflog.torn-12.0123456789ab.tmp .linear.jsonl.torn-40.2.abcdefabcdef.tmp
	.linear.jsonl.before-1.abcdefabcdef.tmp'
strangers='.linear.jsonl.staging.tmp .linear.jsonl.0123456789abc.tmp .linear.jsonl.0123456789aZ.tmp
	linear.jsonl.0123456789ab.tmp .linear.jsonlx.0123456789ab.tmp .branches.jsonl.0123456789ab.tmp
	.linear.0123456789ab.tmp .linear.jsonl.torn-x.0123456789ab.tmp .linear.jsonl.tmp'
# shellcheck disable=SC2086 # lists of names
left $ours $strangers
ln -s linear.jsonl .linear.jsonl.aaaaaaaaaaaa.tmp
mkdir .linear.jsonl.bbbbbbbbbbbb.tmp

run problems linear.jsonl
want 0
want_line 'leftover'
want_line 'left \.linear\.jsonl\.0123456789ab\.tmp behind'
no_line 'staging|branches|aaaaaaaaaaaa'
run problems linear.jsonl --json
want 0
want_json problems# 5
want_json problems.0.kind leftover
run show linear.jsonl --json
want_json problems# 0
run list . --json
want 0
run verify linear.jsonl
want 0
want_line 'leftover: .*\.linear\.jsonl\.0123456789ab\.tmp'
want_line 'nothing found; 5 temporary files of writers that are gone$'
run verify linear.jsonl --json
want 0
want_json ok true
want_json leftovers 5
want_json remarks# 5
want_json remarks.0.kind leftover
snapshot . >"$tmp/before"
run repair linear.jsonl --dry-run
want 0
want_line 'would remove 5 temporary files of writers that are gone: '
snapshot . >"$tmp/after"
want_same "$tmp/before" "$tmp/after"

# One that somebody holds, and one that is young.
if command -v flock >/dev/null 2>&1; then
	mkfifo "$tmp/go" "$tmp/ready"
	flock .linear.jsonl.0123456789ab.tmp sh -c "echo >'$tmp/ready'; read -r _ <'$tmp/go'" &
	read -r _ <"$tmp/ready"
	run repair linear.jsonl
	want 0
	want_line 'removed 4 temporary files'
	there .linear.jsonl.0123456789ab.tmp
	run problems linear.jsonl
	no_line leftover
	echo >"$tmp/go"
	wait
fi
run repair linear.jsonl
want 0
want_line 'removed [15] temporary file'
# shellcheck disable=SC2086
gone $ours
# shellcheck disable=SC2086
there $strangers .linear.jsonl.aaaaaaaaaaaa.tmp .linear.jsonl.bbbbbbbbbbbb.tmp linear.jsonl
run repair linear.jsonl
want 0
want_out 'nothing to repair'

# With a torn tail: both are done, and both are said.
left .torn-tail.jsonl.0123456789ab.tmp
run repair torn-tail.jsonl
want 0
want_line 'set aside in .*; removed 1 temporary file of writers'
gone .torn-tail.jsonl.0123456789ab.tmp

# A publish that was killed behind its link: a second name of the session.
ln linear.jsonl .linear.jsonl.0123456789ab.tmp
run problems linear.jsonl
want 0
want_line leftover
run repair linear.jsonl
want 0
gone .linear.jsonl.0123456789ab.tmp
run verify linear.jsonl
want 0
want_line 'nothing found$'

# What a killed replacement took out of its place may be all that is left of it.
left .linear.meta.json.0123456789ab.old
run problems linear.jsonl
want 0
want_line 'leftover.* nothing removes it'
run verify linear.jsonl
want 0
want_line 'leftover: .*\.linear\.meta\.json\.0123456789ab\.old'
run repair linear.jsonl
want 0
want_out 'nothing to repair'
there .linear.meta.json.0123456789ab.old
rm .linear.meta.json.0123456789ab.old

# Of a session that did not come about: its neighbours tell of it. One of a session that is there is its own.
unborn=0f6f76c3-2ecd-4fb6-81c9-20ce8ce77f95
left .$unborn.jsonl.0123456789ab.tmp .$unborn.meta.json.0123456789ab.tmp .branches.jsonl.0123456789ab.tmp \
	.$unborn.other.0123456789ab.tmp
run problems linear.jsonl
want 0
want_line "leftover.*$unborn"
no_line branches
run repair linear.jsonl
want 0
gone .$unborn.jsonl.0123456789ab.tmp .$unborn.meta.json.0123456789ab.tmp
there .branches.jsonl.0123456789ab.tmp
there .$unborn.other.0123456789ab.tmp
rm .branches.jsonl.0123456789ab.tmp .$unborn.other.0123456789ab.tmp

# A log of events has a folder of its own; a conversion writes the other name.
mkdir -p "$tmp/dsh"
cp -R "$srcdir/data/demo/dsh/." "$tmp/dsh/"
chmod -R u+w "$tmp/dsh"
find "$tmp/dsh" -exec touch -d "$old" {} +
log=$(find "$tmp/dsh" -name 'session.jsonl.zstd' | sort | head -n 1)
cd "$(dirname "$log")" || exit 99
left .session.jsonl.zstd.0123456789ab.tmp .bough.reflog.torn-3.0123456789ab.tmp .session.jsonl.0123456789ab.tmp
run verify .
want_line '3 temporary files of writers that are gone'
run repair . --dry-run
want_line 'would remove 3 temporary files'
there .session.jsonl.zstd.0123456789ab.tmp
run repair .
want 0
gone .session.jsonl.zstd.0123456789ab.tmp .bough.reflog.torn-3.0123456789ab.tmp .session.jsonl.0123456789ab.tmp
finish
