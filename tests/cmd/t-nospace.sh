#!/bin/sh
# No room: under a limit for file sizes that falls anywhere in what is written,
# and on a full file system where this user may mount one. A command either
# does all of its work or says why not and leaves every file as it was.
. "${srcdir:-.}/tests/cmd/lib.sh"

text=$(printf '%3000s' '' | tr ' ' x)

# Files and contents; change times do not matter, half of a write may have been taken back.
content() { # directory
	(cd "$1" && find . -type f | sort && find . -type f -exec cksum {} + | sort)
}

done_all=0
refused=0
# Runs a command under a limit; 0 leaves it as done, else nothing may have changed.
attempt() { # blocks-of-512-bytes WORD...
	limit=$1
	shift
	content "$root" >"$tmp/before"
	ran="ulimit -f $limit; bough $1"
	(
		ulimit -f "$limit"
		exec "$BOUGH" "$@"
	) >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	content "$root" >"$tmp/after"
	checks=$((checks + 1))
	case $status in
	0) done_all=$((done_all + 1)) ;;
	3)
		refused=$((refused + 1))
		want_err 'File too large|No space left|larger than'
		want_same "$tmp/before" "$tmp/after"
		;;
	*) fail "exit status $status, neither done nor refused: $(cat "$tmp/err")" ;;
	esac
}

# ---- a limit for file sizes
for blocks in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	fresh
	attempt "$blocks" fork branches.jsonl tip -m "$text"
	attempt "$blocks" fork branches.jsonl tip --new -m "$text"
	attempt "$blocks" checkout branches.jsonl tip~1
	attempt "$blocks" label branches.jsonl tip 'a label'
	attempt "$blocks" rename branches.jsonl "Another title"
	run show branches.jsonl --json
	want 0
	want_line '"problems": \[\]'
done
checks=$((checks + 2))
[ "$refused" -ge 15 ] || fail "the limit was met only $refused times"
[ "$done_all" -ge 15 ] || fail "there was room only $done_all times"

# ---- a full file system
full=$tmp/full
mkdir "$full"
if mount -t tmpfs -o size=64k tmpfs "$full" 2>/dev/null; then
	trap 'cd /; umount "$full"; chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
	cp "$srcdir/tests/format/tree/branches.jsonl" "$full/"
	root=$full
	cd "$full" || exit 99
	dd if=/dev/zero of="$full/filler" bs=1k 2>/dev/null
	met=$refused
	attempt unlimited fork branches.jsonl tip -m "$text"
	attempt unlimited fork branches.jsonl tip --new -m "$text"
	attempt unlimited checkout branches.jsonl tip~1
	checks=$((checks + 1))
	[ $((refused - met)) -ge 2 ] || fail "the full file system was not met"
	rm "$full/filler"
	run fork branches.jsonl tip -m "$text"
	want 0
	cd /
else
	echo "not allowed to mount a small file system: only the limit was tried"
fi
echo "no room: $refused refused, $done_all done"
finish
