#!/bin/sh
# Wrong usage, help, names that are near, and the table behind them.
. "${srcdir:-.}/tests/cmd/lib.sh"
fresh

# ---- wrong usage: status 2, a word on stderr, nothing on stdout
while read -r args; do
	# shellcheck disable=SC2086 # words
	run $args
	want 2
	want_empty out
	want_err '^bough: '
done <<'CASES'
lsit
shwo linear.jsonl
show
show linear.jsonl tip more
show --no-such-option linear.jsonl
show -Z linear.jsonl
list --sort
list --sort colour .
tree --show nonsense linear.jsonl
tree --color sometimes linear.jsonl
log -n linear.jsonl
log -n x linear.jsonl
log -n -1 linear.jsonl
show linear.jsonl tip~x
checkout linear.jsonl
fork linear.jsonl tip
fork -m one -F two linear.jsonl tip
fork --retry --role USER -m x linear.jsonl tip
fork --role NONSENSE -m x linear.jsonl tip
help no-such-command
show linear.jsonl --dry-run
-r
--no-such-option
CASES
run lsit
want_err "did you mean 'list'"
run chekcout
want_err "did you mean 'checkout'"
run problem
want_err "did you mean 'problems'"
run xyzzy
want_err 'bough help'
run -r . show ''
want 2
run -r . show checkout-
want 2
want_err 'begins the ids of 3'
want_err '^  .*checkout-stale'
want_err '^  .*checkout-torn-reflog'
run show branches.jsonl b
want 2
want_err '^  b2221a58-008a-45a6-8464-7159c324c985$'
want_err '^  b9d179e0-6c0f-44f5-b813-0c4237730edf$'

# ---- nothing matched: status 1
run -r . show no-such-session
want 1
want_err 'no-such-session'
run show linear.jsonl ffff
want 1
run show linear.jsonl tip~9
want 1
run show linear.jsonl @nobody
want 1
run label linear.jsonl tip
want 1
want_empty out

# ---- could not read: status 3
run show ./no-such-file.jsonl
want 3
run show notes.txt
want 3
run -r ./no-such-root show linear
want 3
mkfifo pipe.jsonl
run show ./pipe.jsonl
want 3
rm pipe.jsonl
if [ -c /dev/full ]; then
	for args in 'list .' 'show linear.jsonl' 'cat linear.jsonl' 'help' 'show linear.jsonl --json'; do
		ran="bough $args >/dev/full"
		# shellcheck disable=SC2086
		"$BOUGH" $args >/dev/full 2>"$tmp/err"
		status=$?
		want 3
		want_err 'cannot write: No space left on device'
	done
fi

# ---- a path before the roots, and a session called like a folder
mkdir linear
run -r . show linear --json
want 0
want_json id linear
rmdir linear

# ---- several paths for the browser, and what is not among them
run . --theme=light
want 2
want_err '^bough: --theme=light: options stand before the paths$'
run tre abc
want 2
want_err 'tre'
run . ./no-such-place
want 3
want_err 'no-such-place: no such file or folder'

# ---- a conversation is only read
conversation=$srcdir/tests/format/flow/valid/_conversations/b7a0-old
snapshot "$HOME" >"$tmp/before"
run checkout "$conversation" talk/main/r1
want 3
want_err 'flow sessions are only read'
for wish in "checkout CONV nothing" "fork CONV nothing" "fork --new CONV nothing" \
	"fork -m text CONV nothing" "fork --edit CONV nothing" "convert --compression none CONV" \
	"rename CONV title" "trash CONV" "repair CONV" "label CONV nothing here"; do
	# shellcheck disable=SC2086 # words
	VISUAL='touch edited;' run ${wish%%CONV*} "$conversation" ${wish##*CONV}
	want 3
	want_empty out
	want_err 'flow sessions are only read'
done
ran="the editor"
[ ! -e edited ] || fail "was opened"
run label "$conversation" talk/main/r1 here
want 3
want_err 'flow sessions are only read'
snapshot "$HOME" >"$tmp/after"
want_same "$tmp/before" "$tmp/after"

# ---- help
run --help
want 0
want_empty err
cp "$tmp/out" "$tmp/overview"
run help
want 0
want_same "$tmp/overview" "$tmp/out"
for status_word in '0 done' '1 damage' '2 wrong usage' '3 could not read' '130 cancelled'; do
	ran='bough help'
	want_line "$status_word"
done
run --version
want 0
want_line '^bough [0-9]'
run --dump-commands
want 0
cp "$tmp/out" "$tmp/table"
run help --json
want 0
want_same "$tmp/table" "$tmp/out"
run help fork --json
want_json name fork
want_json writes true
n=$("$get" commands# <"$tmp/table") || n=0
ran="bough --dump-commands"
checks=$((checks + 1))
[ "$n" -ge 16 ] || fail "only $n commands"
i=0
while [ $i -lt "$n" ]; do
	name=$("$get" commands.$i.name <"$tmp/table")
	cp "$tmp/overview" "$tmp/out"
	ran="bough help"
	want_line "^  $name "
	run help "$name"
	want 0
	want_line "^usage: bough $name "
	cp "$tmp/out" "$tmp/help"
	run "$name" --help
	want 0
	want_same "$tmp/help" "$tmp/out"
	k=0
	while option=$("$get" commands.$i.options.$k.name <"$tmp/table"); do
		want_line "--$option\\b"
		k=$((k + 1))
	done
	want_line '--json\b'
	[ "$("$get" commands.$i.writes <"$tmp/table")" = false ] || want_line '--dry-run\b'
	i=$((i + 1))
done
for name in list tree log show branches problems reflog checkout label fork rename trash repair cat \
	verify help; do
	cp "$tmp/overview" "$tmp/out"
	want_line "^  $name "
done

# ---- global options before and behind the command
run -r . -r "$tmp" show linear --json
want 0
run show linear -r . --json
want 0
want_json id linear
run show --root=. linear --json
want 0
run show -- linear.jsonl
want 0
run --color=always show linear.jsonl
want 0
checks=$((checks + 1))
grep -q "$(printf '\033\\[')" "$tmp/out" || fail "--color=always gave no colour"
run show linear.jsonl
checks=$((checks + 1))
! grep -q "$(printf '\033')" "$tmp/out" || fail "colour on a pipe"

# ---- the browser without a terminal
run linear.jsonl
want 2
want_err 'bough show|bough tree|bough list|bough log'
want_empty out
finish
