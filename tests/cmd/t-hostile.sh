#!/bin/sh
# Session text that tries to steer the terminal: no command lets it through,
# on a pipe or on stderr, and --json keeps the values exact.
. "${srcdir:-.}/tests/cmd/lib.sh"
fresh

# What comes out of a command, and what it says, must be safe.
safe() {
	run "$@"
	for stream in out err; do
		checks=$((checks + 1))
		said=$("$scan" <"$tmp/$stream") || {
			fail "std$stream: $said"
			head -c 2000 "$tmp/$stream" | cat -v | sed 's/^/    /'
		}
	done
	checks=$((checks + 1))
	[ "$status" -lt 126 ] || fail "exit status $status"
}

# A scanner that sees nothing would pass everything.
for bytes in '\033[31m' '\007' '\302\233' '\342\200\256' '\177' '\r' '\377' '\342\200\213' '\363\240\200\201'; do
	ran="scan-safe of $bytes"
	checks=$((checks + 1))
	# shellcheck disable=SC2059 # escapes
	! printf "ab${bytes}cd" | "$scan" >/dev/null || fail "it was not noticed"
done
ran="scan-safe of plain text"
checks=$((checks + 1))
printf 'gr\303\274n\t\360\237\221\251\342\200\215\360\237\221\247\n' | "$scan" >/dev/null ||
	fail "it was refused"

# More of it: ids, roles, labels, tool names, arguments, metadata, problems, file names.
esc='\u001b]0;owned\u0007\u001b[31m'
raw=$(printf '\302\2332J\342\200\256x\342\200\254\342\201\246\177')
cat >"$root/evil.jsonl" <<JSON
{"id":"e$esc$raw","role":"USER","content":"hello $esc $raw","timestamp":1782636400000,"metadata":{"k$esc":"v$esc$raw"}}
{"id":"e2","parentId":"e$esc$raw","role":"ROLE$esc$raw","content":"$esc","timestamp":9223372036854775807}
{"id":"e3","parentId":"e2","role":"ASSISTANT","content":"\`\`\`c\n$esc$raw\n\`\`\`","timestamp":-9223372036854775808,"metadata":{"toolCalls":"[{\"id\":\"c$raw\",\"name\":\"n$raw\",\"argumentsJson\":\"{\\\\\"a\\\\\":\\\\\"$raw\\\\\"}\"}]"}}
{"id":"e4","parentId":"e3","role":"TOOL_RESULT","content":"Error: $esc$raw","timestamp":3,"metadata":{"toolCallId":"c$raw","toolName":"n$raw"}}
{"id":"e5","parentId":"gone$esc$raw","role":"USER","content":"orphan","timestamp":4}
JSON
printf 'not json \033]0;owned\007 \302\233 \377\376 \r\n' >>"$root/evil.jsonl"
printf '{"id":"e6","parentId":"e2","role":"USER","content":"cut %s \033[1m' "$raw" >>"$root/evil.jsonl"
printf '{"title":"t%s%s","model":"m%s","x%s":"y"}' "$esc" "$raw" "$raw" "$raw" >"$root/evil.meta.json"
printf '{"v":1,"op":"label","entry":"e3","label":"l%s%s","at":1}\n' "$esc" "$raw" >"$root/evil.reflog"
printf '{"v":1,"op":"checkout","tip":"gone%s","from":"e3%s","entries":99,"at":2}\n' "$raw" "$esc" >>"$root/evil.reflog"
bad_dir=$tmp/$(printf 'dir \033[31m \302\233 \342\200\256')
mkdir "$bad_dir"
cp "$root/hostile-text.jsonl" "$root/hostile-text.meta.json" "$bad_dir"
cp "$root/torn-tail.jsonl" "$bad_dir"

for session in "$root/hostile-text.jsonl" "$root/evil.jsonl" "$bad_dir/hostile-text.jsonl" \
	"$bad_dir/torn-tail.jsonl"; do
	for command in show tree log branches reflog problems cat; do
		safe $command "$session"
		checks=$((checks + 1))
		[ "$status" -le 1 ] || fail "exit status $status"
		safe $command "$session" --json
		checks=$((checks + 1))
		"$get" '' <"$tmp/out" >/dev/null || fail "no JSON"
	done
	safe tree --ascii --fold "$session"
	safe log --reverse -n 2 "$session"
	for entry in tip tip~1 tip~2; do
		safe show "$session" "$entry"
		safe show "$session" "$entry" --json
		safe cat "$session" "$entry"
		safe label "$session" "$entry"
	done
	safe checkout "$session" tip~1 --dry-run
	safe label "$session" tip "$(printf 'l \033[31m \302\233')" --dry-run
	safe fork "$session" tip -m "$(printf 'm \033[31m \302\233')" --dry-run
	safe fork "$session" tip --retry -m x --new --dry-run
	safe fork "$session" tip --retry -m x --new --dry-run --json
	safe rename "$session" "$(printf 't \033[31m \302\233')" --dry-run
	safe repair "$session" --dry-run
	safe trash "$session" --dry-run
done
safe show "$root/evil.jsonl" e
safe show "$root/evil.jsonl" '@l'
for place in "$root" "$bad_dir"; do
	safe list "$place"
	safe list "$place" --json
	safe verify "$place"
	safe verify "$place" --json
done

# words of the user's own are echoed on stderr
evil=$(printf 'x\033]0;owned\007\302\233')
safe "$evil"
safe show "$evil"
safe show "./$evil"
safe -r "$evil" list
safe list "$evil"
safe show "$root/linear.jsonl" "$evil"
safe show "--$evil" "$root/linear.jsonl"
safe tree --show "$evil" "$root/linear.jsonl"
safe list --sort "$evil" "$root"
safe help "$evil"
safe fork "$root/linear.jsonl" tip -F "$evil"
safe fork "$root/linear.jsonl" tip --role "$evil" -m x

# a complaint is one line, whatever it quotes
run "$(printf 'first\nsecond')"
want 2
checks=$((checks + 1))
[ "$(wc -l <"$tmp/err")" -eq 1 ] || { fail "more than one line"; cat "$tmp/err"; }

# values are exact in JSON
run show "$root/hostile-text.jsonl" --json
want_json meta.title "$(printf '\033[2Jclear \033]52;c;ZXZpbA==\007 \342\200\256etitle\342\200\254\nsecond line')"
run show "$root/hostile-text.jsonl" tip~2 --json
want_json parts.0.text "$(printf 'rtl \342\200\256evil\342\200\254 zero\342\200\213width \342\201\246iso\342\201\251 del\177')"
run cat "$root/hostile-text.jsonl"
want 0
sed -n 2p "$tmp/out" >"$tmp/line"
cp "$tmp/line" "$tmp/out"
want_json content "$(printf 'rtl \342\200\256evil\342\200\254 zero\342\200\213width \342\201\246iso\342\201\251 del\177')"
finish
