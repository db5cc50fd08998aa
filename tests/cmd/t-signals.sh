#!/bin/sh
# ^C, a reader that goes away, and a big session on the way.
. "${srcdir:-.}/tests/cmd/lib.sh"
fresh

# ---- a reader that goes away is no error
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "{\"id\":\"n%d\",%s\"role\":\"USER\",\"content\":\"number %d\",\"timestamp\":%d}\n",
	i, i ? "\"parentId\":\"n" i - 1 "\"," : "", i, 1782636400000 + i }' >"$root/long.jsonl"
for command in log tree cat show; do
	ran="bough $command | head -1"
	{ "$BOUGH" $command "$root/long.jsonl" 2>"$tmp/err"; echo $? >"$tmp/status"; } | head -1 >"$tmp/out"
	status=$(cat "$tmp/status")
	want 0
	want_empty err
	checks=$((checks + 1))
	[ "$(wc -l <"$tmp/out")" -eq 1 ] || fail "no line came"
done
run log "$root/long.jsonl" -n 1
want 0
want_line 'number 19999'
run tree "$root/long.jsonl"
want 0
checks=$((checks + 1))
[ "$(wc -l <"$tmp/out")" -eq 20000 ] || fail "not all rows"

# ---- ^C: status 130, nothing written
if env --default-signal=INT true 2>/dev/null; then
	ran="bough fork -F - and ^C"
	mkfifo "$tmp/fifo"
	cp "$root/linear.jsonl" "$tmp/linear.before"
	env --default-signal=INT "$BOUGH" fork "$root/linear.jsonl" tip -F - <"$tmp/fifo" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	exec 3>"$tmp/fifo" # returns when the program has opened its end
	# it waits for the text once it has read the session
	tries=0
	while [ $tries -lt 500 ] && ! grep -q pipe "/proc/$pid/wchan" 2>/dev/null; do
		tries=$((tries + 1))
		[ -d /proc/$pid ] || break
	done
	kill -INT $pid
	wait $pid
	status=$?
	exec 3>&-
	checks=$((checks + 1))
	[ "$status" -eq 130 ] || fail "exit status $status, expected 130"
	want_same "$tmp/linear.before" "$root/linear.jsonl"
else
	echo "this env knows no --default-signal: ^C was not tried"
fi
finish
