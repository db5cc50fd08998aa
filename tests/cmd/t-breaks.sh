#!/bin/sh
# What once broke it, played again with the built program beside other writers: each part ends with a
# verdict of its own. A writer acts when a state is reached, never after a time; strace holds bough up
# in the middle, or makes a call fail, where it is there.
. "${srcdir:-.}/tests/cmd/lib.sh"

has_strace=no
strace -o /dev/null true 2>/dev/null && has_strace=yes

verdict() { # name
	printf '%-58s %s\n' "$1" "$([ "$failures" -eq "$before" ] && echo good || echo BAD)"
	before=$failures
}
before=0

check() { # what, and the command that must succeed
	checks=$((checks + 1))
	what=$1
	shift
	"$@" || fail "$what"
}

# Waits for a command to succeed, at most ten seconds.
until_true() {
	tries=0
	while ! "$@" 2>/dev/null; do
		tries=$((tries + 1))
		[ "$tries" -lt 1000 ] || return 1
		sleep 0.01
	done
}

# Runs bough under strace in the background; $job is its process, the status goes to $tmp/status.
slowly() { # strace options, --, arguments of bough
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	ran="bough $* (held up)"
	# Leaks can not be looked for under strace; whoever tries ends with a status of his own.
	# shellcheck disable=SC2086 # the options are words
	(ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" strace -f -o /dev/null $options "$BOUGH" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
		echo $? >"$tmp/status") &
	job=$!
}

done_slowly() {
	wait "$job"
	status=$(cat "$tmp/status")
}

foreign='{"id":"foreign","role":"USER","content":"FOREIGN","timestamp":1}'
torn_bytes() { cat ./*.torn-* ./*.before-* 2>/dev/null; }
dsh() { # fixture: a fresh copy, old
	[ ! -d "$tmp/dsh" ] || chmod -R u+w "$tmp/dsh"
	rm -rf "$tmp/dsh"
	cp -R "$srcdir/tests/format/dsh/$1" "$tmp/dsh" || exit 99
	chmod -R u+w "$tmp/dsh"
	find "$tmp/dsh" -exec touch -d '2026-06-28 09:00:00 UTC' {} +
	cd "$tmp/dsh" || exit 99
}
log_of() { find "$tmp/dsh" -path "*/$1/session.jsonl*" -type f | head -n 1; }

# ---- links in the place of what stands beside a session
for kind in symbolic hard; do
	fresh
	second=b2221a58-008a-45a6-8464-7159c324c985
	printf 'alias ll="ls -l"\n' >bashrc
	cp -p bashrc "$tmp/bashrc"
	if [ $kind = symbolic ]; then ln -s bashrc branches.reflog; else ln bashrc branches.reflog; fi
	for command in "checkout branches.jsonl $second" "label branches.jsonl $second x" \
		"fork branches.jsonl $second -m x"; do
		# shellcheck disable=SC2086 # words
		run $command
		want 3
	done
	want_same "$tmp/bashrc" bashrc
done
dsh zstd-basic
log=$(log_of s-lamp)
printf 'alias ll="ls -l"\n' >bashrc
ln -s "$PWD/bashrc" "$(dirname "$log")/bough.reflog"
run label "$log" "$("$BOUGH" log "$log" --json | "$get" 0.id)" x
want 3
want_same "$tmp/bashrc" bashrc
verdict "B1 a planted link is neither followed nor cut"

# ---- a torn tail and who still writes it
fresh
size=$(wc -c <torn-tail.jsonl)
touch torn-tail.jsonl # its writer may be at it
BOUGH_NOW=$(($(date +%s) * 1000)) run repair torn-tail.jsonl
want 4
want_err 'may be in use'
check "the file was changed" [ "$(wc -c <torn-tail.jsonl)" -eq "$size" ]
(exec 9>>torn-tail.jsonl; echo >"$tmp/open"; until_true [ -e "$tmp/go" ]) &
until_true [ -e "$tmp/open" ]
run repair --force torn-tail.jsonl # silent, but it has the file open
want 4
run fork --force torn-tail.jsonl tip -m x
want 4
: >"$tmp/go"
wait
check "the file was changed" [ "$(wc -c <torn-tail.jsonl)" -eq "$size" ]
run repair --force torn-tail.jsonl
want 0
if [ $has_strace = yes ]; then
	fresh
	slowly -e trace=fsync,fdatasync -e inject=fsync,fdatasync:delay_enter=100000 -- \
		repair --force torn-tail.jsonl
	until_true sh -c 'ls -A | grep -q "torn-"' && printf 'REST-OF-IT"}\n' >>torn-tail.jsonl
	done_slowly
	check "what was written meanwhile is gone" \
		sh -c 'cat torn-tail.jsonl* | grep -q REST-OF-IT'
fi
verdict "B2 what comes while a tail is set aside stays"

# ---- the way back from a failed append
if [ $has_strace = yes ]; then
	fresh
	slowly -e trace=write,fsync,fdatasync -e inject=fsync:delay_enter=100000 \
		-e inject=write:error=ENOSPC:when=2 -- fork linear.jsonl tip -m "$(printf '%400s' x)"
	until_true [ -s linear.reflog ]
	printf '\n%s\n' "$foreign" >>linear.jsonl
	done_slowly
	want 3
	check "the other's record is gone" grep -q FOREIGN linear.jsonl
	run problems linear.jsonl
	want 0
	verdict "B3 a failed append takes nobody else's record with it"

	# ---- beside a writer whose record comes first
	fresh
	echo >>linear.jsonl
	slowly -e trace=fsync,fdatasync -e inject=fsync,fdatasync:delay_enter=100000 -- \
		fork linear.jsonl tip -m hello
	until_true [ -s linear.reflog ]
	printf '%s\n' "$foreign" >>linear.jsonl
	done_slowly
	want 0
	id=$(cat "$tmp/out")
	check "the other's record is gone" grep -q FOREIGN linear.jsonl
	check "ours is not there once" [ "$(grep -c "$id" linear.jsonl)" -eq 1 ]
	check "it has no reflog line" grep -q "$id" linear.reflog
	verdict "B13 an entry that is there is not called failed"

	# ---- a reader between the two appends
	fresh
	slowly -e trace=fsync,fdatasync -e inject=fsync,fdatasync:delay_enter=100000 -- \
		fork linear.jsonl tip -m hello
	until_true [ -s linear.reflog ]
	ran="bough problems (beside a fork)"
	"$BOUGH" problems linear.jsonl >"$tmp/problems" 2>&1
	check "an entry on its way is called lost" [ $? -eq 0 ]
	done_slowly
	want 0
	verdict "B7 an entry on its way is not called lost"

	# ---- one read that fails
	dsh torn-zstd
	log=$(log_of t-partial)
	cp -p "$log" "$tmp/log"
	run repair --force "$log"
	want 0
	cp "$log" "$tmp/good"
	for nth in 1 2 3 4 5 6 7 8 9 10 11 12; do
		cp -p "$tmp/log" "$log"
		rm -f "$log".torn-*
		slowly -e trace=pread64 -e inject=pread64:error=EIO:when=$nth -- repair --force "$log"
		done_slowly
		if [ "$status" -eq 0 ]; then
			check "read $nth: another result" cmp -s "$log" "$tmp/good"
		else
			check "read $nth: the log was changed" cmp -s "$log" "$tmp/log"
		fi
	done
	verdict "B9 a repair builds on no load that met a read error"
fi

# ---- state that can not be read
fresh
rm branches.reflog 2>/dev/null
mkdir branches.reflog
for form in tip tip~1 @proof; do
	run fork branches.jsonl $form -m x
	want 3
	want_err 'is not known'
done
run fork branches.jsonl b2221a58-008a-45a6-8464-7159c324c985 -m x
want 3
verdict "B8 an unknown tip is no entry to hang under"

fresh
mv branches.meta.json elsewhere.json
ln -s elsewhere.json branches.meta.json
names=$(ls | wc -l)
run fork branches.jsonl b2221a58-008a-45a6-8464-7159c324c985 --new
want 3
check "a session without its title was made" [ "$(ls | wc -l)" -eq "$names" ]
run problems branches.jsonl
want 1
want_line 'sidecar-unreadable'
verdict "B10 a copy does not lose the title in silence"

# ---- one place whatever the form of the path
dsh zstd-basic
folder=$(dirname "$(log_of s-lamp)")
project=$(dirname "$folder")
here=${folder#"$tmp/dsh/"}
mkdir away
ln -s "../$here" away/link
forks=0
for form in "$here/session.jsonl.zstd" "$here/./session.jsonl.zstd" "$here/../s-lamp/session.jsonl.zstd" \
	away/link/session.jsonl.zstd "$here/" "$here/." away/link "$PWD//$here//session.jsonl.zstd"; do
	run fork "$form" 0
	want 0
	forks=$((forks + 1))
	check "the fork of $form is not beside its session" \
		[ "$(find "$project" -name 'session-*' | wc -l)" -eq $forks ]
done
verdict "B11 a fork lands where lists look, whatever the path"

# ---- an open turn
dsh interrupted-raw
log=$(log_of i-tools)
cp -p "$log" "$tmp/log"
run repair "$log"
want 4
want_err 'a turn is open \(written .*--force'
check "the log was changed" cmp -s "$log" "$tmp/log"
(exec 9<>"$log"; echo >"$tmp/open2"; until_true [ -e "$tmp/go2" ]) &
until_true [ -e "$tmp/open2" ]
run repair --force "$log"
want 4
check "the log was changed" cmp -s "$log" "$tmp/log"
: >"$tmp/go2"
wait
run repair --force "$log"
want 0
verdict "B19 an open turn is not closed without being asked for"

# ---- somebody holds the lock
if command -v flock >/dev/null; then
	fresh
	(flock 9; echo >"$tmp/held"; until_true [ -e "$tmp/free" ]) 9>>linear.jsonl &
	until_true [ -e "$tmp/held" ]
	run fork linear.jsonl tip -m x
	want 4
	run fork --wait=0 linear.jsonl tip -m x
	want 4
	("$BOUGH" fork --wait linear.jsonl tip -m waited >"$tmp/waited" 2>&1; echo $? >>"$tmp/waited") &

	: >"$tmp/free"
	wait
	check "--wait did not get through" [ "$(tail -n 1 "$tmp/waited")" = 0 ]
	check "the entry is not there" grep -q waited linear.jsonl
	verdict "B17 what is in use has a status of its own, and is waited for"
fi

[ $has_strace = yes ] || echo "strace is not installed (package strace): B3, B7, B9, B13 were left out"
finish
